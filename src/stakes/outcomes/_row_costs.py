"""Costs of wrong decisions by row, and decisions by them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.formulas import (
    BELOW_HALF,
    Dialect,
    Missing,
    at_least,
    at_most,
    check_missing,
    choose,
    column_of,
    decide_present,
    decided,
    is_expression,
    onnx_column,
    sql_column,
    widened,
)
from stakes.base.outcome import Outcome
from stakes.base.validation import (
    Bools,
    Floats,
    as_labels,
    blocks,
    brief,
    check_choice,
    check_labels,
    check_name,
    check_number,
    check_same_order,
    check_scores,
    check_size,
    check_weights,
    labels_seen,
    positive_is_first,
    row_labels,
    to_array,
    to_floats,
)
from stakes.outputs.files import delivered, json_ready
from stakes.outputs.result_table import build_frame
from stakes.outputs.serialization import JsonReader

if TYPE_CHECKING:
    from onnx import ModelProto


# Costs of wrong decisions by row: an amount for a false positive and one for a false negative.
#
# A row with amounts a and b is best acted on where p b >= k (1 - p) a, with k the factor by which false positives may
# cost more or less than stated. That is the rule score >= c for c = k / (1 + k) and the score p b / (p b + (1 - p)
# a), and each row counts by what is at stake in it. Scores and weights of this kind make the same table as any other.

ON_DOMINATED = ("raise", "set_aside")
MONEY_PER = 1000.0  # rows that costs are for, where nothing else is asked


class RowCosts(Outcome):
    """Labels, and what a wrong decision costs in each row; stands where ``y_true`` stands.

    Parameters
    ----------
    y_true : array_like of shape (n,), TimeToEvent or PartlyVerified
        Labels with two values, or another outcome.
    false_positive, false_negative : float or array_like of shape (n,), optional
        What acting on a negative costs more than not acting, and what not acting on a positive costs more than acting.
    matrix : tuple of four floats or array_likes, optional
        In their place, what each case costs in full: true negatives, false positives, false negatives, true positives.
        Gains are costs below zero.
    unit : str, default ""
        What costs are counted in, such as "EUR".
    sample_weight : array_like of shape (n,), optional
        Weights >= 0; give those of another outcome to it.
    pos_label : object, optional
        The label of the positive class.
    on_dominated : {"raise", "set_aside"}, default "raise"
        What to do with rows in which one decision is never worse: refuse them, or leave them out of the table and add
        what that decision costs there to ``base``.

    Attributes
    ----------
    false_positive, false_negative : ndarray of shape (n,)
        The amounts.
    weight : ndarray of shape (n,)
        What is at stake in each row, times its weight.
    base : float
        What the right decision costs in all rows.
    n_set_aside : int
        Rows in which there is no decision to take.

    Raises
    ------
    ValueError
        For invalid data, rows with a dominated decision unless set aside, or right decisions that cost more than wrong
        ones.

    Notes
    -----
    At the cost ratio c (1/2: amounts as stated) the decisions cost ``base + at_stake * regret / (1 - c)``, and net
    benefit times ``at_stake`` is what they save over acting on nobody. A cost distribution says how sure the ratio of
    the amounts is: ``costs.LogOddsUniform(1/3, 2/3)`` is half to double the stated false-positive amounts.

    The mapped scores are no probabilities: what ranks rows or compares scores with event rates refuses them.

    Examples
    --------
    >>> from stakes import RowCosts, expected_regret
    >>> outcome = RowCosts([0, 1, 0, 1], false_positive=5, false_negative=[100, 200, 50, 20], unit="EUR")
    >>> outcome
    RowCosts(4 rows, 2 positives, 230 EUR at stake)
    >>> regret = expected_regret(outcome, [0.02, 0.3, 0.2, 0.1], costs=0.5)
    >>> outcome.base + outcome.at_stake * regret / (1 - 0.5)  # one false alarm and one miss
    25.0
    """

    by_amount = True

    def __init__(
        self,
        y_true: ArrayLike | Outcome,
        *,
        false_positive: float | ArrayLike | None = None,
        false_negative: float | ArrayLike | None = None,
        matrix: tuple[Any, Any, Any, Any] | None = None,
        unit: str = "",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        on_dominated: str = "raise",
    ) -> None:
        self.row_labels = row_labels(
            y_true=y_true,
            false_positive=false_positive,
            false_negative=false_negative,
            matrix=dict(enumerate(matrix)) if isinstance(matrix, tuple | list) else None,
            sample_weight=sample_weight,
        )
        # ``counted`` is the weight of each row before its amount: zero where its class is unknown
        self._unpriced: Bools | bool = False
        self.inner = self._read_labels(y_true, sample_weight, pos_label)
        right = self._read_amounts(false_positive, false_negative, matrix)
        self.unit = check_name(unit, "unit")
        weight = self.counted if self.inner is None else np.where(self._unpriced, 0.0, self.inner.present)
        forced = dominated(self.false_positive, self.false_negative, weight, on_dominated)
        amount = np.where(self.y, self.false_negative, self.false_positive)
        self.weight: Floats = amount if self.counted.strides == (0,) else self.counted * amount
        self.forced, self.decided = forced, forced != 0
        self.n_set_aside = int(np.count_nonzero(forced))
        if self.n_set_aside:
            # excess cost of a forced decision over the right one
            beyond = np.where(forced > 0, self.false_positive, 0.0), np.where(forced < 0, self.false_negative, 0.0)
            right = right[0] + beyond[0], right[1] + beyond[1]
            self.weight = np.where(self.decided, 0.0, self.weight)
        self.right, one = right, right[0] is right[1]
        self.correct: Floats = right[0] if one else np.where(self.y, right[1], right[0])
        self._check_stakes()

    def _check_stakes(self) -> None:
        if not self.weight.any():
            raise ValueError(_NOTHING_AT_STAKE)

    def _read_labels(self, y_true: Any, sample_weight: Any, pos_label: object) -> Outcome | None:
        if not isinstance(y_true, Outcome):
            labels = to_array(y_true, "y_true")
            if labels.ndim != 1:
                raise ValueError(f"y_true must be 1-D, got {as_labels(y_true, labels.shape)}.")
            self.y = check_labels(labels, pos_label)
            self.positive_first = positive_is_first(labels, self.y, pos_label)
            self.labels = labels_seen(labels, self.y, pos_label)
            self.sample_weight = check_weights(sample_weight, len(self.y))
            ones: Floats = np.broadcast_to(1.0, self.y.shape)  # that take no memory
            self.counted = ones if self.sample_weight is None else self.sample_weight
            return None
        if isinstance(y_true, RowCosts):
            raise ValueError("y_true must be labels or an outcome without amounts, got a RowCosts: nest once.")
        if sample_weight is not None or pos_label is not None:
            raise ValueError(
                f"sample_weight= and pos_label= belong to {type(y_true).__name__}: pass them to it, not beside it."
            )
        self.y, self.sample_weight, self.counted = y_true.y, y_true.sample_weight, y_true.weight
        self.positive_first, self.labels = y_true.positive_first, y_true.labels
        return y_true

    def _read_amounts(self, false_positive: Any, false_negative: Any, matrix: Any) -> tuple[Floats, Floats]:
        """Set the amounts; return the cost of the right decision in each row, as a negative and as a positive."""
        if (matrix is None) == (false_positive is None and false_negative is None):
            raise ValueError("pass either false_positive= and false_negative=, or matrix=(tn, fp, fn, tp).")
        if matrix is not None:
            if not isinstance(matrix, tuple | list) or len(matrix) != 4:
                raise ValueError(f"matrix must hold four entries, (tn, fp, fn, tp), got {_describe_matrix(matrix)}.")
            names = ("true negative", "false positive", "false negative", "true positive")
            tn, fp, fn, tp = (self._amounts(part, f"matrix ({n})") for part, n in zip(matrix, names, strict=True))
            self.false_positive, self.false_negative = fp - tn, fn - tp
            return tn, tp
        if false_positive is None or false_negative is None:
            raise ValueError("false_positive= and false_negative= belong together, got one of them.")
        self.false_positive = self._amounts(false_positive, "false_positive")
        self.false_negative = self._amounts(false_negative, "false_negative")
        nothing: Floats = np.broadcast_to(0.0, self.y.shape)
        return nothing, nothing

    def _amounts(self, values: Any, name: str) -> Floats:
        found = to_floats(to_array(values, name), name)
        if found.ndim and found.shape != self.y.shape:
            raise ValueError(f"{name} must be a number or one for each of the {len(self.y)} rows, got {found.shape}.")
        found, bad = np.broadcast_to(found, self.y.shape), ~np.isfinite(found)
        if not bad.any():
            return found
        wrong = bad & (self.counted > 0.0)
        if wrong.any():
            first = int(np.argmax(wrong))
            raise ValueError(f"{name} must be finite, got {found[first]} at index {first} ({int(wrong.sum())} rows).")
        self._unpriced |= bad
        return np.where(bad, 0.0, found)  # rows of weight zero

    @property
    def base(self) -> float:
        """Total cost of the right decisions; includes the forced ones of rows set aside."""
        return float(np.dot(self.counted, self.correct))

    @property
    def at_stake(self) -> float:
        """Total cost of wrong decisions over all rows."""
        return float(self.weight.sum())

    @property
    def estimated(self) -> bool:
        """Whether the weights were estimated from the rows."""
        return self.inner is not None and self.inner.estimated

    @property
    def reason(self) -> str:
        """Why estimates have no interval; empty if they have one."""
        return "" if self.inner is None else self.inner.reason

    @property
    def one_class_hint(self) -> str:
        """What to check if all rows are of one class, from the wrapped outcome."""
        return "" if self.inner is None else self.inner.one_class_hint

    def scores(self, score: ArrayLike) -> Floats:
        """Map probabilities to the scores whose threshold is the cost ratio.

        Parameters
        ----------
        score : array_like of shape (n,)
            Probability of the positive class.

        Returns
        -------
        ndarray of shape (n,)
            Share of a row's expected stake that lies on its being positive; in rows set aside 1 where acting
            never hurts, else 0.

        Examples
        --------
        >>> from stakes import RowCosts
        >>> RowCosts([0, 1], false_positive=5, false_negative=[15, 45]).scores([0.5, 0.1]).tolist()
        [0.75, 0.5]
        """
        check_same_order(y_true=self, score=score)
        p = check_scores(to_array(score, "y_prob"), "y_prob")
        if len(p) != len(self.y):
            raise ValueError(f"y_true and y_prob must have the same length, got {len(self.y)} and {len(p)}.")
        found = np.empty(len(p))
        with np.errstate(divide="ignore", invalid="ignore"):
            for part in blocks(len(p), 1 << 15):  # blocks that fit the cache
                a, b = self.false_positive[part], self.false_negative[part]
                gain = p[part] * b
                stake = 1.0 - p[part]
                stake *= a
                stake += gain
                np.divide(gain, stake, out=found[part])
                # at amounts as stated a row is acted on from its threshold on: rounding decides no tie
                from_half = p[part] >= a / (a + b)
                off = np.flatnonzero(from_half != (found[part] >= 0.5))
                found[part][off] = np.where(from_half[off], 0.5, BELOW_HALF)
        if self.n_set_aside or not np.isfinite(found).all():  # nothing is at stake in rows without a number
            found[self.decided | ~np.isfinite(found)] = 0.0
            found[self.forced > 0] = 1.0
        return found

    def thresholds(self, factor: float = 1.0) -> Floats:
        """Return the probability from which each row is worth acting on.

        Parameters
        ----------
        factor : float, default 1
            By how much false positives cost more than stated.

        Returns
        -------
        ndarray of shape (n,)
            nan in rows that are set aside.

        Examples
        --------
        >>> from stakes import RowCosts
        >>> RowCosts([0, 1], false_positive=5, false_negative=[15, 45]).thresholds().tolist()
        [0.25, 0.1]
        """
        a = check_factor(factor) * self.false_positive
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.decided, np.nan, a / (a + self.false_negative))

    def money(self, act: ArrayLike, factor: float = 1.0) -> Floats:
        """Return what decisions cost in each row.

        Parameters
        ----------
        act : array_like of shape (n,)
            Which rows are acted on, True or False; those set aside are decided already.
        factor : float, default 1
            By how much false positives cost more than stated.

        Returns
        -------
        ndarray of shape (n,)
            Before weights.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import RowCosts
        >>> outcome = RowCosts([0, 1], false_positive=5, false_negative=[15, 45])
        >>> outcome.money(np.array([True, False])).tolist()
        [5.0, 45.0]
        """
        check_same_order(y_true=self, act=act)
        chosen, times = self._read_act(act), check_factor(factor)
        if times != 1.0 and self.n_set_aside:
            raise ValueError(f"factor must be 1 where rows are set aside ({self.n_set_aside}), got {factor}.")
        return self.charged(np.where(chosen, times, 0.0), np.where(chosen, 0.0, 1.0))

    def _read_act(self, act: ArrayLike) -> Bools:
        """Return a decision of each row, or raise: probabilities are none."""
        found = to_array(act, "act")
        if found.shape != self.y.shape:
            raise ValueError(
                f"act must hold True or False for each of the {len(self.y)} rows, got shape {found.shape}."
            )
        if found.dtype == bool:
            return found
        values = to_floats(found, "act")
        odd = np.flatnonzero((values != 0.0) & (values != 1.0))
        if len(odd):
            remedy = "compare probabilities with thresholds(), or take the decisions of decide_rows"
            raise ValueError(f"act must hold True or False, got {values[odd[0]]:g} at index {odd[0]}: {remedy}.")
        return values == 1.0

    def charged(self, negative: Floats, positive: Floats) -> Floats:
        """Cost of each row if mistakes on negatives and positives cost these multiples of the stated amounts."""
        return self.correct + np.where(self.y, *reversed(self.mistakes(negative, positive)))

    def mistakes(self, negative: Floats, positive: Floats) -> tuple[Floats, Floats]:
        """Cost of a mistake in each row, if it were a negative and if it were a positive."""
        each = negative * self.false_positive, positive * self.false_negative
        if not self.n_set_aside:
            return each
        return np.where(self.decided, 0.0, each[0]), np.where(self.decided, 0.0, each[1])

    def parts(self, parts: Floats) -> Floats:
        """Contributions of all rows to an error; amounts are data and not estimated."""
        return parts if self.inner is None or self.inner.plain else self.inner.parts(parts)

    def frame(self, backend: Any = None) -> Any:
        """Return the rows as a data frame with columns positive, false_positive, false_negative, weight, threshold.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from stakes import RowCosts
        >>> RowCosts([0, 1], false_positive=5, false_negative=[15, 45]).frame("polars").shape
        (2, 5)
        """
        amounts = {"false_positive": self.false_positive, "false_negative": self.false_negative}
        return build_frame(
            {"positive": self.y, **amounts, "weight": self.weight, "threshold": self.thresholds()}, backend
        )

    @property
    def summary(self) -> str:
        """One line that describes the rows: their number, the positives, and the total at stake."""
        if self.inner is not None:
            what = self.inner.summary
        else:
            what = f"{int(self.present.sum()):,} rows, {int((self.y & self.present).sum()):,} positives"
        return _summary(what, self.at_stake, self.unit, self.n_set_aside)

    @property
    def methods(self) -> tuple[str, ...]:
        """Sentences on the amounts, and on the outcome that they belong to; [names] cite the papers."""
        inner = () if self.inner is None else self.inner.methods
        return *inner, _method(self.unit, self.n_set_aside)

    @property
    def about(self) -> str:
        """A note for figures on the weighting by amounts."""
        inner = "" if self.inner is None else self.inner.about
        stake = f"by {self.unit or 'the amount'} at stake"
        return f"{inner} and {stake}" if " weighted " in inner else f"{inner}{', ' * bool(inner)}rows weighted {stake}"


def reweighed(amounts: RowCosts, inner: Outcome) -> RowCosts:
    """Return the same amounts of the same rows where these are weighed otherwise."""
    found, amount = copy(amounts), np.where(amounts.y, amounts.false_negative, amounts.false_positive)
    found.inner, found.counted = inner, inner.weight
    found.weight = np.where(amounts.decided, 0.0, inner.weight * amount)
    return found


def check_money_per(per: Any) -> float | Literal["total"]:
    """Return for how many rows money is, a finite number > 0 or "total", or raise."""
    if isinstance(per, str) and per == "total":
        return "total"
    size = np.nan if isinstance(per, str) else check_number(per, "per")
    if not 0.0 < size < np.inf:
        raise ValueError(f'per must be "total" or a finite number > 0, got {per!r}.')
    return size


def rows_for_money(per: float | Literal["total"], total: float) -> float:
    """Number of rows that money is for; with "total" that of all of them, as they are weighed."""
    return total if per == "total" else per


_NOTHING_AT_STAKE = "nothing is at stake: no row has a wrong decision that costs anything."


def _summary(what: str, at_stake: float, unit: str, n_set_aside: int) -> str:
    aside = f", {n_set_aside:,} rows set aside" if n_set_aside else ""
    return f"{what}, {at_stake:,.6g}{f' {unit}' if unit else ''} at stake{aside}"


def _method(unit: str, n_set_aside: int) -> str:
    aside = f" {n_set_aside:,} cases whose best decision does not depend on the label were set aside."
    return (
        f"Each mistake costs what its case has at stake{f' ({unit})' if unit else ''} [bahnsen]; the amounts are taken "
        f"as known when it is decided.{aside if n_set_aside else ''}"
    )


class RowCostsPart(RowCosts):
    """Some of the rows of a whole, in which one decision may be better or nothing be at stake."""

    def _check_stakes(self) -> None:
        """Leave it to the whole."""


@dataclass
class AmountTotals:
    """What is known of rows with amounts that are looked at part by part, and why they would be refused.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.outcomes import AmountTotals
    >>> totals = AmountTotals("EUR", "raise")
    >>> part = totals.add(np.array([False, True]), None, [5.0, np.array([15.0, 45.0])])
    >>> totals.summary
    '2 rows, 1 positives, 50 EUR at stake'
    """

    unit: str
    on_dominated: str
    rows: int = 0
    positives: int = 0
    at_stake: float = 0.0
    set_aside: int = 0
    dominated: tuple[int, int] = (0, 0)  # rows in which acting never hurts, and never helps
    swapped: int = 0
    broken: tuple[int, int] = (0, 0)  # false-positive and false-negative amounts that are no finite number

    def add(self, y: Bools, weight: Floats | None, amounts: Sequence[Floats | float]) -> RowCosts | None:
        """Count a part, and return it; None from the first part on that is refused."""
        a, b = (np.broadcast_to(amount, y.shape) for amount in amounts)
        broken = [int(np.count_nonzero(~np.isfinite(amount))) for amount in (a, b)]
        swapped, act, leave = _without_decision(a, b, np.broadcast_to(1.0, y.shape))
        self.rows, self.positives = self.rows + len(y), self.positives + int(np.count_nonzero(y))
        self.swapped += int(np.count_nonzero(swapped))
        self.broken = self.broken[0] + broken[0], self.broken[1] + broken[1]
        found = int(np.count_nonzero(act)), int(np.count_nonzero(leave))
        self.dominated = self.dominated[0] + found[0], self.dominated[1] + found[1]
        if any(self.broken) or self.swapped or (self.on_dominated == "raise" and any(self.dominated)):
            return None
        part = self.part(y, weight, amounts)
        self.at_stake += part.at_stake
        self.set_aside += part.n_set_aside
        return part

    @staticmethod
    def part(y: Bools, weight: Floats | None, amounts: Sequence[Floats | float]) -> RowCosts:
        """Outcome of some rows that are fine."""
        given: dict[str, Any] = {"sample_weight": weight, "on_dominated": "set_aside"}
        return RowCostsPart(y, false_positive=amounts[0], false_negative=amounts[1], **given)

    def check(self) -> None:
        """Raise as :class:`RowCosts` does where the rows are refused."""
        if self.swapped:
            raise ValueError(f"right decisions cost more than wrong ones in {self.swapped:,} rows: {_SWAPPED}")
        if self.on_dominated == "raise" and any(self.dominated):
            act, leave = self.dominated
            raise ValueError(f"acting never hurts in {act:,} rows and never helps in {leave:,}: {_NO_DECISION}")
        if not self.at_stake:
            raise ValueError(_NOTHING_AT_STAKE)

    @property
    def summary(self) -> str:
        """One line that describes the rows."""
        return _summary(f"{self.rows:,} rows, {self.positives:,} positives", self.at_stake, self.unit, self.set_aside)

    @property
    def methods(self) -> tuple[str, ...]:
        """A sentence on the amounts."""
        return (_method(self.unit, self.set_aside),)

    @property
    def about(self) -> str:
        """A note for figures."""
        return f"rows weighted by {self.unit or 'the amount'} at stake"


def check_factor(factor: Any) -> float:
    """Return a finite factor > 0, or raise."""
    return check_size(factor, "factor")


def _describe_matrix(matrix: Any) -> str:
    """Describe an invalid matrix, and how to write one of shape (2, 2)."""
    try:
        (tn, fp), (fn, tp) = matrix if isinstance(matrix, list | tuple | np.ndarray) else ()
    except (TypeError, ValueError):
        return brief(matrix)
    entries = ", ".join(str(entry) if np.isscalar(entry) else brief(entry) for entry in (tn, fp, fn, tp))
    return f"shape (2, 2): with labels in rows and decisions in columns it is matrix=({entries})"


def dominated(a: Floats, b: Floats, weight: Floats, on_dominated: str) -> NDArray[np.int8]:
    """Find rows in which one decision is never worse: 1 to act, -1 not to act, 0 for all other rows."""
    check_choice(on_dominated, "on_dominated", ON_DOMINATED)
    if min(float(part[0] if part.strides == (0,) else part.min()) for part in (a, b)) > 0.0:
        return np.zeros(len(weight), dtype=np.int8)
    swapped, act, leave = _without_decision(a, b, weight)
    if swapped.any():
        raise ValueError(
            f"right decisions cost more than wrong ones in {int(swapped.sum())} rows, the first at index "
            f"{int(np.argmax(swapped))}: {_SWAPPED}"
        )
    forced = np.where(act, 1, np.where(leave, -1, 0)).astype(np.int8)
    if on_dominated == "raise" and forced.any():
        first = int(np.argmax(forced != 0))
        raise ValueError(
            f"acting never hurts in {int(act.sum())} rows and never helps in {int(leave.sum())}, the first at index "
            f"{first} (false_positive {a[first]:g}, false_negative {b[first]:g}): {_NO_DECISION}"
        )
    return forced


_SWAPPED = "the matrix is transposed or the labels are swapped."
_NO_DECISION = (
    "there is no decision to take. Check the amounts, or pass on_dominated='set_aside' (command line: --on-dominated "
    "set_aside)."
)


def _without_decision(a: Floats, b: Floats, weight: Floats) -> tuple[Bools, Bools, Bools]:
    """Rows in which right decisions cost more than wrong ones, acting never hurts, and acting never helps."""
    counts, stake = weight > 0.0, (a != 0.0) | (b != 0.0)
    act, leave = counts & stake & (a <= 0.0) & (b >= 0.0), counts & stake & (a >= 0.0) & (b <= 0.0)
    return counts & (a < 0.0) & (b < 0.0), act, leave


# Which rows to act on, with amounts by row; labels are not needed.

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
            amounts = widened(false_positive), widened(false_negative)
            return self._expression(widened(y_prob), *amounts, check_missing(missing))
        columns = _columns(y_prob, false_positive, false_negative)
        return self._acting(columns, missing).astype(np.int64)

    def _acting(self, columns: dict[str, Floats], missing: str) -> NDArray[Any]:
        return decide_present(columns, missing, lambda **clean: self._choose(**clean).act, probability=True)

    def _choose(self, y_prob: Floats, false_positive: Floats, false_negative: Floats) -> _Choice:
        p = check_scores(y_prob, "y_prob")
        a = self.factor * _finite(false_positive, "false_positive")
        b = _finite(false_negative, "false_negative")
        forced = dominated(a, b, np.broadcast_to(1.0, p.shape), self.on_dominated)
        threshold = np.divide(a, a + b, out=np.full(len(p), np.nan), where=(forced == 0) & (a + b > 0.0))
        act = np.where(forced == 0, p >= threshold, forced > 0)
        return _Choice(act, threshold, (1.0 - p) * a, p * b, forced != 0)

    def _expression(self, p: Any, false_positive: Any, false_negative: Any, missing: str) -> Any:
        """Build the decision about each row as an expression; NULL for a missing decision."""
        b = false_negative
        a = false_positive if self.factor == 1.0 else self.factor * false_positive
        set_aside = self.on_dominated == "set_aside"
        act, wait = (1, 0) if set_aside else (None, None)
        free = choose(at_least(a, 0.0), choose(at_most(b, 0.0), 0, act), act)  # acting costs nothing, or less
        missed = choose(at_least(a, 0.0), wait, None)  # if both are gains, no decision follows
        # 1.0 times, as SQLite would compare texts, and divide whole numbers, as such, and as a sum may leave their type
        total = 1.0 * a + 1.0 * b
        threshold = 1.0 * a / total if is_expression(total) or total != 0.0 else 0.0
        found = choose(
            at_most(a, 0.0),
            choose(at_least(b, 0.0), free, missed),
            choose(at_most(b, 0.0), wait, choose(at_least(1.0 * p, threshold), 1, 0)),
        )
        if found is None:
            raise _undecided(false_positive, false_negative)
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
            For another ``missing``, and amounts that are neither a name nor a finite number, or leave no decision.

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
        return self._build(column_of, score, false_positive, false_negative, missing)

    def to_sql(
        self,
        score: str,
        false_positive: str | float,
        false_negative: str | float,
        path: str | os.PathLike[str] | None = None,
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
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
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
            For an unknown dialect, another value of ``missing``, and amounts that are neither names nor finite numbers,
            or leave no decision.

        Examples
        --------
        >>> from stakes.outcomes import decide_rows
        >>> rule = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
        >>> print(rule.to_sql("risk", 5, 15))
        CASE WHEN ... THEN CASE WHEN ((... * "risk") >= CAST('0.25' AS DOUBLE)) THEN 1 ELSE 0 END END
        """
        rule = self._build(lambda name: sql_column(name, dialect), score, false_positive, false_negative, missing)
        return delivered(str(rule), path)

    def to_onnx(
        self,
        score: str = "score",
        false_positive: str | float = "false_positive",
        false_negative: str | float = "false_negative",
        path: str | os.PathLike[str] | None = None,
        *,
        missing: Missing = "refuse",
    ) -> bytes:
        """Return :meth:`predict` as a model of ONNX.

        Parameters
        ----------
        score : str, default "score"
            Name of the input of probabilities, of doubles.
        false_positive, false_negative : str or float
            Name of the input of amounts, of doubles, or one amount for all rows.
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where a value is NaN: -1, 1 or 0.

        Returns
        -------
        bytes of an onnx.ModelProto
            Its output ``decision`` is 1 to act, 0 not to, as :meth:`predict` says to the last bit; -1 where it would
            raise.

        Raises
        ------
        ValueError
            For another ``missing``, and amounts that are neither a name nor a finite number, or leave no decision.
        ImportError
            If onnx is not installed (``pip install 'stakes[onnx]'``).

        Examples
        --------
        >>> from stakes.outcomes import decide_rows
        >>> rule = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
        >>> model = rule.to_onnx("risk", 5, "loss", "rule.onnx")  # doctest: +SKIP
        """
        model: ModelProto = self._build(onnx_column, score, false_positive, false_negative, missing).model()
        return delivered(model.SerializeToString(), path)

    def _build(
        self, column: Callable[[str], Any], score: str, false_positive: Any, false_negative: Any, missing: Missing
    ) -> Any:
        """Build the rule as an expression of named columns; amounts may be numbers."""
        amounts = {"false_positive": false_positive, "false_negative": false_negative}
        given = {
            name: column(value) if isinstance(value, str) else _amount(value, name) for name, value in amounts.items()
        }
        return self.predict(column(score), **given, missing=missing)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return rule and decisions as JSON that :meth:`from_json` reads.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

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
        return delivered(json.dumps(json_ready({"format": _FORMAT, **content})), path)

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
        content = JsonReader.read(text, "set of decisions", _FORMAT)
        threshold = content.numbers("threshold", undefined=True)
        act = content.counts("act", shape=threshold.shape)
        if np.any(act > 1):
            raise content.broken("act", "made of 0 and 1")
        aside, missing = (int(content.counts(name, shape=())) for name in ("n_set_aside", "n_missing"))
        if aside + missing > len(act):
            raise content.broken("n_set_aside", f"at most {len(act)} rows, with n_missing")
        expected, none, every = (content.number(name) for name in ("expected_cost", "none", "all"))
        factor = content.number("factor")
        if not 0.0 < factor < np.inf:
            raise content.broken("factor", "a number > 0")
        if content.text("on_dominated") not in ON_DOMINATED:
            raise content.broken("on_dominated", f"one of {', '.join(ON_DOMINATED)}")
        how = content.text("on_dominated")
        return cls(act == 1, threshold, expected, none, every, aside, missing, factor, how)


class _Choice(NamedTuple):
    """Decisions about rows, their thresholds, expected costs of acting and not acting, and which are forced."""

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
    taken = np.where(found.act, found.acting, found.leaving)
    cost, none, every = (float(each.sum()) for each in (taken, found.leaving, found.acting))
    aside, n_missing = (int(np.count_nonzero(each)) for each in (found.forced, ~known))
    return RowDecisions(act, threshold, cost, none, every, aside, n_missing, rule.factor, on_dominated)


def _columns(y_prob: ArrayLike, false_positive: ArrayLike, false_negative: ArrayLike) -> dict[str, Floats]:
    """Read probabilities and amounts of equal length as floats that may be nan."""
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


def _undecided(*amounts: Any) -> ValueError:
    """Say that no decision follows from these amounts, whatever the rows are."""
    a, b = ("(a column)" if is_expression(each) else f"{each:g}" for each in amounts)
    remedy = "check the amounts, or make the rule by decide_rows(on_dominated='set_aside')."
    if all(not is_expression(each) and each < 0.0 for each in amounts):
        remedy = f"right decisions cost more than wrong ones; {_SWAPPED}"
    return ValueError(f"false_positive {a} and false_negative {b} leave no decision to take: {remedy}")


def _amount(value: Any, name: str) -> float:
    """Check one amount for all rows."""
    amount = check_number(value, name)
    if not np.isfinite(amount):
        raise ValueError(f"{name} must be finite or the name of a column, got {value!r}.")
    return amount
