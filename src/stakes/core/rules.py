"""What rules have in common: rows in which a value is missing, and the rule as an expression, as SQL and as ONNX."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stakes.core.expressions import CODES, MISSING, check_missing, column_of, is_expression, sql_column
from stakes.core.onnx import onnx_column
from stakes.core.validation import check_scores, pick_positive_column, to_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from onnx import ModelProto

    from stakes.core.expressions import Dialect

    Floats = NDArray[np.float64]


def decide_present(
    columns: Mapping[str, Floats],
    missing: str,
    decide: Callable[..., NDArray[Any]],
    choices: tuple[str, ...] = MISSING,
    *,
    probability: bool = False,
) -> NDArray[Any]:
    """Decide by columns, the first of them perhaps probabilities, and as ``missing`` says where one is nan.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.core.rules import decide_present
    >>> decide_present({"score": np.array([0.9, np.nan])}, "wait", lambda score: (score >= 0.5).astype(int)).tolist()
    [1, 0]
    """
    check_missing(missing, choices)
    if len({column.shape for column in columns.values()}) > 1 or next(iter(columns.values())).ndim != 1:
        return decide(**columns)  # which says what is wrong
    gone = {name: np.isnan(column) for name, column in columns.items()}
    absent = np.logical_or.reduce(list(gone.values()))
    if not absent.any():
        return decide(**columns)
    if missing == "refuse":
        name = next(name for name, mine in gone.items() if mine.any())
        first, others = int(np.argmax(gone[name])), " or ".join(f'"{choice}"' for choice in choices[1:])
        raise ValueError(
            f"{name} must be finite, got nan at index {first} ({int(gone[name].sum())} of {len(absent)} are missing): "
            f"say missing={others} to decide about rows without it."
        )
    for place, (name, column) in enumerate(columns.items()):  # what else is wrong is refused in these rows too
        check_scores(np.where(gone[name], 0.0, column), name, probability=probability and place == 0)
    if absent.all():
        return np.full(len(absent), CODES[missing], dtype=np.int64)
    stand_in = {name: np.where(absent, column[np.argmin(absent)], column) for name, column in columns.items()}
    return np.where(absent, CODES[missing], decide(**stand_in))


class DecidesByScore:
    """A rule that decides about a row by its score alone; ``_choices`` is what can be said of a missing one."""

    _choices: ClassVar[tuple[str, ...]] = MISSING

    @abstractmethod
    def _decide(self, score: Floats) -> NDArray[Any]:
        """Check scores, none of which is missing, and decide."""

    @abstractmethod
    def _expression(self, score: Any, missing: str) -> Any:
        """The same of an expression."""

    def _predicted(self, name: str, scores: Any, missing: str) -> Any:
        """Decide about scores, or make an expression of one."""
        if is_expression(scores):
            return self._expression(scores, check_missing(missing, self._choices))
        column = to_floats(pick_positive_column(scores, np.empty(0), None, name), name)
        return decide_present({name: column}, missing, lambda **clean: self._decide(clean[name]), self._choices)

    def to_expression(self, score: str, *, missing: Any = "refuse") -> Any:
        """Return the rule as an expression of narwhals, for a frame that stays in its engine.

        Parameters
        ----------
        score : str
            Name of the column, of doubles.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score is NULL or NaN: NULL, 1 or 0; where the rule defers also "defer", which is -1.

        Returns
        -------
        narwhals.Expr
            The decisions of ``predict`` to the last bit; NULL where it would raise.

        Raises
        ------
        ValueError
            For another value of ``missing``.

        Examples
        --------
        >>> import narwhals.stable.v2 as nw
        >>> import polars as pl
        >>> from stakes.utility import population_threshold
        >>> rule = population_threshold([0, 1], [0.2, 0.6], "f1", n_bootstrap=0)
        >>> frame = nw.from_native(pl.LazyFrame({"risk": [0.7, 0.5, None]}))
        >>> frame.with_columns(treat=rule.to_expression("risk")).collect()["treat"].to_list()
        [1, 0, None]
        """
        return self._predicted("score", column_of(score), missing)

    def to_sql(self, score: str, *, dialect: Dialect = "duckdb", missing: Any = "refuse") -> str:
        """Return the rule as an expression of plain SQL.

        Parameters
        ----------
        score : str
            Name of the column, of doubles.
        dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"}, default "duckdb"
            Of the SQL.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score is NULL or NaN: NULL, 1 or 0; where the rule defers also "defer", which is -1.

        Returns
        -------
        str
            The decisions of ``predict`` to the last bit; NULL where it would raise.

        Raises
        ------
        ValueError
            For an unknown dialect or another value of ``missing``.

        Examples
        --------
        >>> from stakes.utility import population_threshold
        >>> rule = population_threshold([0, 1], [0.2, 0.6], "f1", n_bootstrap=0)
        >>> print(rule.to_sql("p"))
        CASE WHEN (("p" - "p") <= CAST('0.0' AS DOUBLE)) THEN CASE WHEN ("p" >= CAST('0.6' AS DOUBLE)) THEN ... END END
        """
        return str(self._predicted("score", sql_column(score, dialect), missing))

    def to_onnx(self, score: str = "score", *, missing: Any = "refuse") -> ModelProto:
        """Return the rule as a model of ONNX.

        Parameters
        ----------
        score : str, default "score"
            Name of the input, of doubles.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score is NaN: what they get where ``predict`` would raise, 1 or 0; where the rule
            defers also "defer", which is -1.

        Returns
        -------
        onnx.ModelProto
            Its output ``decision`` holds the decisions of ``predict`` to the last bit. Where that would raise it is -1;
            of a rule that defers, for which -1 is a decision, the output is of doubles, and NaN there.

        Raises
        ------
        ValueError
            For another value of ``missing``.
        ImportError
            If onnx is not installed (``pip install 'stakes[onnx]'``).

        Examples
        --------
        >>> from stakes.utility import population_threshold
        >>> rule = population_threshold([0, 1], [0.2, 0.6], "f1", n_bootstrap=0)
        >>> [column.name for column in rule.to_onnx("risk").graph.input]  # doctest: +SKIP
        ['risk']
        """
        model: ModelProto = self._predicted("score", onnx_column(score), missing).model()
        return model
