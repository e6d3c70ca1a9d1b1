"""Which rows to act on where each has amounts of its own: labels are not needed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.core.expressions import (
    at_least,
    at_most,
    check_missing,
    choose,
    column_of,
    decided,
    is_expression,
    sql_column,
)
from stakes.core.onnx import onnx_column
from stakes.core.row_order import check_same_order
from stakes.core.rules import decide_present
from stakes.core.validation import check_choice, check_number, check_scores, to_array, to_floats
from stakes.outcomes._row_costs import ON_DOMINATED, check_factor, dominated
from stakes.shown.entries import Entries
from stakes.shown.tabular import json_ready

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray
    from onnx import ModelProto

    from stakes.core.expressions import Dialect, Missing

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_FORMAT = "stakes-row-decisions-1"


@dataclass(frozen=True, eq=False)
class RowDecisions:
    """Which rows to act on, and what that is expected to cost.

    Parameters
    ----------
    act : ndarray of bool
        Whether acting is expected to cost no more than not acting.
    threshold : ndarray of float
        The probability from which the row is worth acting on; nan where one decision is never worse, or
        a value is missing.
    expected_cost, none, all : float
        Expected cost of these decisions, of acting on nobody and of acting on all, if the probabilities are calibrated;
        of the rows in which nothing is missing.
    n_set_aside : int
        Rows in which one decision is never worse.
    n_missing : int, default 0
        Rows in which the probability or an amount is missing.
    factor : float, default 1
        By how much false positives cost more than stated.
    on_dominated : str, default "raise"
        Whether rows in which one decision is never worse are refused or get that decision.

    Examples
    --------
    >>> from stakes.outcomes import decide_rows
    >>> decided = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
    >>> decided.act.tolist()
    [True, False]
    >>> decided.predict([0.3, 0.2], false_positive=5, false_negative=[15, 15]).tolist()
    [1, 0]
    """

    act: Bools
    threshold: Floats
    expected_cost: float
    none: float
    all: float
    n_set_aside: int
    n_missing: int = 0
    factor: float = 1.0
    on_dominated: str = "raise"

    def predict(
        self, y_prob: ArrayLike, *, false_positive: Any, false_negative: Any, missing: Missing = "refuse"
    ) -> NDArray[np.int64]:
        """Decide about other rows by the same rule.

        Parameters
        ----------
        y_prob : array_like of shape (n,)
            Calibrated probabilities. An expression of narwhals, polars, SQL (:func:`stakes.tables.sql_column`) or ONNX
            gives an expression.
        false_positive, false_negative : float or array_like of shape (n,)
            What acting on a negative, and not acting on a positive, costs in each row; or expressions like ``y_prob``.
        missing : {"refuse", "act", "wait"}, default "refuse"
            Raise where a probability or an amount is missing (nan), decide 1 there, or 0; an expression is NULL where
            this would raise.

        Returns
        -------
        ndarray of int, shape (n,)
            1 to act, 0 not to.

        Raises
        ------
        ValueError
            For invalid probabilities or amounts.

        Examples
        --------
        >>> from stakes.outcomes import decide_rows
        >>> from stakes.tables import sql_column
        >>> rule = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
        >>> rule.predict([0.3], false_positive=5, false_negative=20).tolist()
        [1]
        """
        if is_expression(y_prob):
            return self._expression(y_prob, false_positive, false_negative, check_missing(missing))
        columns = _columns(y_prob, false_positive, false_negative)
        return self._acting(columns, missing).astype(np.int64)

    def _acting(self, columns: dict[str, Floats], missing: str) -> NDArray[Any]:
        return decide_present(columns, missing, lambda **clean: self._choose(**clean).act, probability=True)

    def _choose(self, y_prob: Floats, false_positive: Floats, false_negative: Floats) -> _Choice:
        p = check_scores(y_prob, "y_prob")
        a = self.factor * _finite(false_positive, "false_positive")
        b = _finite(false_negative, "false_negative")
        forced = dominated(a, b, np.broadcast_to(1.0, p.shape), self.on_dominated)
        acting, leaving = (1.0 - p) * a, p * b
        act = np.where(forced == 0, leaving >= acting, forced > 0) & ((a != 0.0) | (b != 0.0))
        threshold = np.divide(a, a + b, out=np.full(len(p), np.nan), where=(forced == 0) & (a + b > 0.0))
        return _Choice(act, threshold, acting, leaving, forced != 0)

    def _expression(self, p: Any, false_positive: Any, false_negative: Any, missing: str) -> Any:
        """The decision about each row as an expression; NULL where there is none to take."""
        b = false_negative
        a = false_positive if self.factor == 1.0 else self.factor * false_positive
        set_aside = self.on_dominated == "set_aside"
        act, wait = (1, 0) if set_aside else (None, None)
        free = choose(at_least(a, 0.0), choose(at_most(b, 0.0), 0, act), act)  # acting costs nothing, or less
        missed = choose(at_least(a, 0.0), wait, None)  # nor do misses: where both are gains, nothing can be said
        found = choose(
            at_most(a, 0.0),
            choose(at_least(b, 0.0), free, missed),
            choose(at_most(b, 0.0), wait, choose(at_least(p * b, (1.0 - p) * a), 1, 0)),
        )
        inputs = [p, *(value for value in (false_positive, false_negative) if is_expression(value))]
        return decided(found, inputs, missing, within=(0.0, 1.0))

    def to_expression(
        self, score: str, false_positive: str | float, false_negative: str | float, *, missing: Missing = "refuse"
    ) -> Any:
        """Return :meth:`predict` as an expression of narwhals, for a frame that stays in its engine.

        Parameters
        ----------
        score : str
            Name of the column of probabilities, of doubles.
        false_positive, false_negative : str or float
            Name of the column of amounts, of doubles, or one amount for all rows.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where a value is NULL or NaN: NULL, 1 or 0.

        Returns
        -------
        narwhals.Expr
            1 to act, 0 not to, as :meth:`predict` says to the last bit; NULL where it would raise.

        Raises
        ------
        ValueError
            For another value of ``missing``, and amounts that are neither a name nor a finite number.

        Examples
        --------
        >>> import narwhals.stable.v2 as nw
        >>> import polars as pl
        >>> from stakes.outcomes import decide_rows
        >>> rule = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
        >>> frame = nw.from_native(pl.LazyFrame({"risk": [0.5, 0.1, None], "loss": [15.0, 20.0, 30.0]}))
        >>> frame.with_columns(treat=rule.to_expression("risk", 5, "loss")).collect()["treat"].to_list()
        [1, 0, None]
        """
        return self._named(column_of, score, false_positive, false_negative, missing)

    def to_sql(
        self,
        score: str,
        false_positive: str | float,
        false_negative: str | float,
        *,
        dialect: Dialect = "duckdb",
        missing: Missing = "refuse",
    ) -> str:
        """Return :meth:`predict` as an expression of plain SQL.

        Parameters
        ----------
        score : str
            Name of the column of probabilities, of doubles.
        false_positive, false_negative : str or float
            Name of the column of amounts, of doubles, or one amount for all rows.
        dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"}, default "duckdb"
            Of the SQL.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where a value is NULL or NaN: NULL, 1 or 0.

        Returns
        -------
        str
            1 to act, 0 not to, as :meth:`predict` says to the last bit; NULL where it would raise.

        Raises
        ------
        ValueError
            For an unknown dialect, another value of ``missing``, and amounts that are neither names nor finite numbers.

        Examples
        --------
        >>> from stakes.outcomes import decide_rows
        >>> rule = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
        >>> print(rule.to_sql("risk", 5, 15))
        CASE WHEN ... THEN CASE WHEN (("risk" * CAST('15.0' AS DOUBLE)) >= ((... - "risk") * ... END END
        """
        return str(self._named(lambda name: sql_column(name, dialect), score, false_positive, false_negative, missing))

    def to_onnx(
        self,
        score: str = "score",
        false_positive: str | float = "false_positive",
        false_negative: str | float = "false_negative",
        *,
        missing: Missing = "refuse",
    ) -> ModelProto:
        """Return :meth:`predict` as a model of ONNX.

        Parameters
        ----------
        score : str, default "score"
            Name of the input of probabilities, of doubles.
        false_positive, false_negative : str or float
            Name of the input of amounts, of doubles, or one amount for all rows.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where a value is NaN: -1, 1 or 0.

        Returns
        -------
        onnx.ModelProto
            Its output ``decision`` is 1 to act, 0 not to, as :meth:`predict` says to the last bit; -1 where it would
            raise.

        Raises
        ------
        ValueError
            For another value of ``missing``, and amounts that are neither a name nor a finite number.
        ImportError
            If onnx is not installed (``pip install 'stakes[onnx]'``).

        Examples
        --------
        >>> from stakes.outcomes import decide_rows
        >>> rule = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
        >>> [column.name for column in rule.to_onnx("risk", 5, "loss").graph.input]  # doctest: +SKIP
        ['risk', 'loss']
        """
        model: ModelProto = self._named(onnx_column, score, false_positive, false_negative, missing).model()
        return model

    def _named(
        self, column: Callable[[str], Any], score: str, false_positive: Any, false_negative: Any, missing: Missing
    ) -> Any:
        """The rule of columns by name; amounts may be numbers."""
        amounts = {"false_positive": false_positive, "false_negative": false_negative}
        given = {
            name: column(value) if isinstance(value, str) else _amount(value, name) for name, value in amounts.items()
        }
        return self.predict(column(score), **given, missing=missing)

    def to_json(self) -> str:
        """Return rule and decisions as JSON that :meth:`from_json` reads.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes.outcomes import RowDecisions, decide_rows
        >>> rule = RowDecisions.from_json(decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20]).to_json())
        >>> rule.predict([0.3], false_positive=5, false_negative=20).tolist()
        [1]
        """
        content = {**vars(self), "act": self.act.astype(int).tolist(), "threshold": self.threshold.tolist()}
        return json.dumps(json_ready({"format": _FORMAT, **content}))

    @classmethod
    def from_json(cls, text: str) -> RowDecisions:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        RowDecisions

        Raises
        ------
        ValueError
            For another format, or a damaged text, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes.outcomes import RowDecisions
        >>> RowDecisions.from_json("{}")
        Traceback (most recent call last):
        ...
        ValueError: text must be a set of decisions of format 'stakes-row-decisions-1', got format None.
        """
        content = Entries.read(text, "set of decisions", _FORMAT)
        threshold = content.numbers("threshold", undefined=True)
        act = content.counts("act", shape=threshold.shape)
        if np.any(act > 1):
            raise content.broken("act", "made of 0 and 1")
        aside, missing = (int(content.counts(name, shape=())) for name in ("n_set_aside", "n_missing"))
        if aside + missing > len(act):
            raise content.broken("n_set_aside", f"at most {len(act)} rows, with n_missing")
        own, none, every = (content.number(name) for name in ("expected_cost", "none", "all"))
        factor = content.number("factor")
        if not 0.0 < factor < np.inf:
            raise content.broken("factor", "a number > 0")
        if content.text("on_dominated") not in ON_DOMINATED:
            raise content.broken("on_dominated", f"one of {', '.join(ON_DOMINATED)}")
        how = content.text("on_dominated")
        return cls(act == 1, threshold, own, none, every, aside, missing, factor, how)


class _Choice(NamedTuple):
    """Decisions about rows, the probability from which they would act, what acting and leaving cost, what is forced."""

    act: Bools
    threshold: Floats
    acting: Floats
    leaving: Floats
    forced: Bools


def decide_rows(
    y_prob: ArrayLike,
    *,
    false_positive: ArrayLike,
    false_negative: ArrayLike,
    factor: float = 1.0,
    on_dominated: str = "raise",
    missing: Missing = "refuse",
) -> RowDecisions:
    """Act on each row where that is expected to cost no more than not acting (Elkan 2001).

    Parameters
    ----------
    y_prob : array_like of shape (n,)
        Calibrated probability of the positive class.
    false_positive, false_negative : float or array_like of shape (n,)
        What acting on a negative, and not acting on a positive, costs in each row.
    factor : float, default 1
        By how much false positives cost more than stated.
    on_dominated : {"raise", "set_aside"}, default "raise"
        Whether rows in which one decision is never worse are an error, or simply get that decision.
    missing : {"refuse", "act", "wait"}, default "refuse"
        Raise where a probability or an amount is missing (nan), act on such rows, or do not.

    Returns
    -------
    RowDecisions

    Raises
    ------
    ValueError
        For invalid probabilities or amounts.

    Examples
    --------
    >>> from stakes.outcomes import decide_rows
    >>> found = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
    >>> found.threshold.tolist(), found.expected_cost
    ([0.25, 0.2], 4.5)
    """
    check_choice(on_dominated, "on_dominated", ON_DOMINATED)
    columns = _columns(y_prob, false_positive, false_negative)
    nobody = np.zeros(0, dtype=bool), np.empty(0)
    rule = RowDecisions(*nobody, 0.0, 0.0, 0.0, 0, factor=check_factor(factor), on_dominated=on_dominated)
    act = rule._acting(columns, missing) > 0
    known = ~np.logical_or.reduce([np.isnan(column) for column in columns.values()])
    threshold = np.full(len(known), np.nan)
    if not known.any():
        return replace(rule, act=act, threshold=threshold, n_missing=len(known))
    found = rule._choose(**{name: column[known] for name, column in columns.items()})
    threshold[known] = found.threshold
    return replace(
        rule,
        act=act,
        threshold=threshold,
        expected_cost=float(np.where(found.act, found.acting, found.leaving).sum()),
        none=float(found.leaving.sum()),
        all=float(found.acting.sum()),
        n_set_aside=int(np.count_nonzero(found.forced)),
        n_missing=int(np.count_nonzero(~known)),
    )


def _columns(y_prob: ArrayLike, false_positive: ArrayLike, false_negative: ArrayLike) -> dict[str, Floats]:
    """Probabilities and amounts of as many rows, as floats that may be nan."""
    check_same_order(y_prob=y_prob, false_positive=false_positive, false_negative=false_negative)
    p = to_floats(to_array(y_prob, "y_prob"), "y_prob")
    amounts = {"false_positive": false_positive, "false_negative": false_negative}
    return {"y_prob": p, **{name: _amounts(values, name, p) for name, values in amounts.items()}}


def _amounts(values: ArrayLike, name: str, like: Floats) -> Floats:
    found = to_floats(to_array(values, name), name)
    if found.ndim and found.shape != like.shape:
        raise ValueError(f"{name} must be a number or one for each of the {len(like)} rows, got shape {found.shape}.")
    return np.broadcast_to(found, like.shape)


def _finite(found: Floats, name: str) -> Floats:
    if not np.isfinite(found).all():
        first = int(np.argmin(np.isfinite(found)))
        raise ValueError(f"{name} must be finite, got {found[first]} at index {first}.")
    return found


def _amount(value: Any, name: str) -> float:
    """One amount for all rows."""
    amount = check_number(value, name)
    if not np.isfinite(amount):
        raise ValueError(f"{name} must be finite or the name of a column, got {value!r}.")
    return amount
