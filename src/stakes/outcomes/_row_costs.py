"""What a wrong decision costs, row by row: an amount for each false positive and each false negative.

A row with amounts a and b is best acted on where p b >= k (1 - p) a, with k the factor by which false positives may
cost more or less than stated. That is the rule score >= c for c = k / (1 + k) and the score p b / (p b + (1 - p) a),
and each row counts by what is at stake in it. Scores and weights of this kind make the same table as any other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.outcome import Outcome
from stakes.core.remedies import as_labels, brief
from stakes.core.row_order import check_same_order, row_labels
from stakes.core.sums import blocks
from stakes.core.validation import (
    check_choice,
    check_labels,
    check_number,
    check_scores,
    check_weights,
    to_array,
    to_floats,
)
from stakes.shown.frames import build_frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

ON_DOMINATED = ("raise", "set_aside")


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
        self.inner = self._read_labels(y_true, sample_weight, pos_label)
        right = self._read_amounts(false_positive, false_negative, matrix)
        self.unit = str(unit)
        forced = dominated(self.false_positive, self.false_negative, self._counted, on_dominated)
        amount = np.where(self.y, self.false_negative, self.false_positive)
        self.weight: Floats = amount if self._counted.strides == (0,) else self._counted * amount
        self.decided = forced != 0
        self.n_set_aside = int(np.count_nonzero(forced))
        if self.n_set_aside:
            # what a forced decision costs beyond the right one
            beyond = np.where(forced > 0, self.false_positive, 0.0), np.where(forced < 0, self.false_negative, 0.0)
            right = right[0] + beyond[0], right[1] + beyond[1]
            self.weight = np.where(self.decided, 0.0, self.weight)
        self.right, one = right, right[0] is right[1]
        self.correct: Floats = right[0] if one else np.where(self.y, right[1], right[0])
        if not self.weight.any():
            raise ValueError("nothing is at stake: no row has a wrong decision that costs anything.")

    def _read_labels(self, y_true: Any, sample_weight: Any, pos_label: object) -> Outcome | None:
        if not isinstance(y_true, Outcome):
            labels = to_array(y_true, "y_true")
            if labels.ndim != 1:
                raise ValueError(f"y_true must be 1-D, got {as_labels(y_true, labels.shape)}.")
            self.y = check_labels(labels, pos_label)
            self.sample_weight = check_weights(sample_weight, len(self.y))
            ones: Floats = np.broadcast_to(1.0, self.y.shape)  # that take no memory
            self._counted = ones if self.sample_weight is None else self.sample_weight
            return None
        if isinstance(y_true, RowCosts):
            raise ValueError("y_true must be labels or an outcome without amounts, got a RowCosts: nest once.")
        if sample_weight is not None or pos_label is not None:
            raise ValueError(
                f"sample_weight= and pos_label= belong to {type(y_true).__name__}: pass them to it, not beside it."
            )
        self.y, self.sample_weight, self._counted = y_true.y, y_true.sample_weight, y_true.weight
        return y_true

    def _read_amounts(self, false_positive: Any, false_negative: Any, matrix: Any) -> tuple[Floats, Floats]:
        """Set the amounts, and return what the right decision costs in each row, as a negative and as a positive."""
        if (matrix is None) == (false_positive is None and false_negative is None):
            raise ValueError("pass either false_positive= and false_negative=, or matrix=(tn, fp, fn, tp).")
        if matrix is not None:
            if not isinstance(matrix, tuple | list) or len(matrix) != 4:
                raise ValueError(f"matrix must hold four entries, (tn, fp, fn, tp), got {_entries(matrix)}.")
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
        wrong = bad & (self._counted > 0.0)
        if wrong.any():
            first = int(np.argmax(wrong))
            raise ValueError(f"{name} must be finite, got {found[first]} at index {first} ({int(wrong.sum())} rows).")
        return np.where(bad, 0.0, found)  # of rows that do not count

    @property
    def counted(self) -> Floats:
        """Weight of each row before its amount: zero where its class is unknown."""
        return self._counted

    @property
    def base(self) -> float:
        """What the right decisions cost in all rows, and the only ones where rows are set aside."""
        return float(np.dot(self._counted, self.correct))

    @property
    def at_stake(self) -> float:
        """What wrong decisions would cost in all rows together."""
        return float(self.weight.sum())

    @property
    def estimated(self) -> bool:
        """Whether the weights were estimated from the rows."""
        return self.inner is not None and self.inner.estimated

    @property
    def reason(self) -> str:
        """Why estimates have no interval; empty where they have."""
        return "" if self.inner is None else self.inner.reason

    @property
    def one_class_hint(self) -> str:
        """What to look at where all rows are of one class: that of the outcome inside."""
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
            Share of a row's expected stake that lies on its being positive.

        Examples
        --------
        >>> from stakes import RowCosts
        >>> RowCosts([0, 1], false_positive=5, false_negative=[15, 45]).scores([0.5, 0.1]).tolist()
        [0.75, 0.5]
        """
        check_same_order(y_true=self, score=score)
        p = check_scores(to_array(score, "y_prob"), "y_prob")
        found = np.empty(len(p))
        with np.errstate(divide="ignore", invalid="ignore"):
            for part in blocks(len(p), 1 << 15):  # while they are near
                gain = p[part] * self.false_negative[part]
                whole = 1.0 - p[part]
                whole *= self.false_positive[part]
                whole += gain
                np.divide(gain, whole, out=found[part])
        if self.n_set_aside or not np.isfinite(found).all():  # nothing is at stake in rows without a number
            found[self.decided | ~np.isfinite(found)] = 0.0
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

    def money(self, act: Bools, factor: float = 1.0) -> Floats:
        """Return what decisions cost in each row.

        Parameters
        ----------
        act : ndarray of shape (n,)
            Which rows are acted on; those set aside are decided already.
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
        if factor != 1.0 and self.n_set_aside:
            raise ValueError(f"factor must be 1 where rows are set aside ({self.n_set_aside}), got {factor}.")
        return self.charged(np.where(act, factor, 0.0), np.where(act, 0.0, 1.0))

    def charged(self, negative: Floats, positive: Floats) -> Floats:
        """What each row costs where its mistake, as a negative or a positive, costs so many times the stated amount."""
        return self.correct + np.where(self.y, *reversed(self.mistakes(negative, positive)))

    def mistakes(self, negative: Floats, positive: Floats) -> tuple[Floats, Floats]:
        """What mistakes cost in each row were it a negative, and were it a positive."""
        each = negative * self.false_positive, positive * self.false_negative
        return np.where(self.decided, 0.0, each[0]), np.where(self.decided, 0.0, each[1])

    def parts(self, parts: Floats) -> Floats:
        """Parts of all rows in an error; amounts are part of a row, and not estimated."""
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
        """One line on the rows: how many, how many positives, and what is at stake."""
        if self.inner is not None:
            what = self.inner.summary
        else:
            what = f"{int(self.present.sum()):,} rows, {int((self.y & self.present).sum()):,} positives"
        unit = f" {self.unit}" if self.unit else ""
        aside = f", {self.n_set_aside:,} rows set aside" if self.n_set_aside else ""
        return f"{what}, {self.at_stake:,.6g}{unit} at stake{aside}"

    @property
    def about(self) -> str:
        """In what rows count by what is at stake in them."""
        inner = "" if self.inner is None else self.inner.about
        stake = f"by {self.unit or 'the amount'} at stake"
        return f"{inner} and {stake}" if " weighted " in inner else f"{inner}{', ' * bool(inner)}rows weighted {stake}"

    def __repr__(self) -> str:
        return f"RowCosts({self.summary})"


def check_factor(factor: Any) -> float:
    """Return a finite factor > 0, or raise."""
    number = check_number(factor, "factor")
    if not 0.0 < number < math.inf:
        raise ValueError(f"factor must be a finite number > 0, got {factor}.")
    return number


def _entries(matrix: Any) -> str:
    """What was given for a matrix, and how one of two rows and two columns is written."""
    if isinstance(matrix, list | tuple | np.ndarray) and np.shape(matrix) == (2, 2):
        (tn, fp), (fn, tp) = matrix
        return f"shape (2, 2): with labels in rows and decisions in columns it is matrix=({tn}, {fp}, {fn}, {tp})"
    return brief(matrix)


def dominated(a: Floats, b: Floats, weight: Floats, on_dominated: str) -> NDArray[np.int8]:
    """Rows in which one decision is never worse: 1 to act, -1 not to, 0 where there is a decision or no stake."""
    check_choice(on_dominated, "on_dominated", ON_DOMINATED)
    if min(float(part[0] if part.strides == (0,) else part.min()) for part in (a, b)) > 0.0:
        return np.zeros(len(weight), dtype=np.int8)
    counts = weight > 0.0
    swapped = counts & (a < 0.0) & (b < 0.0)
    if swapped.any():
        raise ValueError(
            f"right decisions cost more than wrong ones in {int(swapped.sum())} rows, the first at index "
            f"{int(np.argmax(swapped))}: the matrix is transposed or the labels are swapped."
        )
    stake = (a != 0.0) | (b != 0.0)
    act, leave = counts & stake & (a <= 0.0) & (b >= 0.0), counts & stake & (a >= 0.0) & (b <= 0.0)
    forced = np.where(act, 1, np.where(leave, -1, 0)).astype(np.int8)
    if on_dominated == "raise" and forced.any():
        first = int(np.argmax(forced != 0))
        raise ValueError(
            f"acting never hurts in {int(act.sum())} rows and never helps in {int(leave.sum())}, the first at index "
            f"{first} (false_positive {a[first]:g}, false_negative {b[first]:g}): there is no decision to take. "
            "Check the amounts, or pass on_dominated='set_aside' (command line: --on-dominated set_aside)."
        )
    return forced
