"""`Moments`, `Estimate`, Student, Holm."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.validation import to_array, to_floats
from stakes.outputs.result_table import Tabular
from stakes.variance.sums import NEEDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from stakes.variance.sums import Variance

    Floats = NDArray[np.float64]


# Student's t, widened for rows not seen: half-widths and p-values, for one estimate or for many at once.
#
# ``variance`` has ``degrees`` of freedom; ``unseen`` is the square of what one more row of the scarce classes might
# bring. With the rule of three (none seen in n rows, at most 3 / n at 95%) the half-width at level alpha is
#
#     h(alpha)^2 = t(degrees, alpha / 2)^2 variance + log(alpha)^2 unseen
#
# and the p-value is the alpha at which the interval just reaches the null. Every argument is an array or a number.

_NEAR = 4.0 * np.finfo(float).eps
_MOST_STEPS = 64  # as many halvings of a bracket whose ends differ by a factor of two and a half at most are enough


def t_quantile(alpha: ArrayLike, degrees: ArrayLike) -> Floats:
    """Return the t that Student's variable exceeds, either way, with probability alpha."""
    from scipy.special import stdtr, stdtrit

    tail, degrees = 0.5 * np.asarray(alpha, dtype=np.float64), np.asarray(degrees, dtype=np.float64)
    t = np.asarray(stdtrit(degrees, tail))
    # a step of Newton: older versions of scipy stop at eight digits
    density = _density(t, degrees)
    step = np.divide(stdtr(degrees, t) - tail, density, out=np.zeros_like(t), where=density > 0.0)
    return step - t


def two_sided(t: ArrayLike, degrees: ArrayLike) -> Floats:
    """Probability that Student's variable lies further from zero than t."""
    from scipy.special import stdtr

    return 2.0 * np.asarray(stdtr(degrees, -np.abs(t)), dtype=np.float64)


def half_width(variance: ArrayLike, degrees: ArrayLike, unseen: ArrayLike, alpha: float) -> Floats:
    """Half of the interval's width; nan where the variance is unknown or the allowance for unseen rows is infinite."""
    variance, unseen = np.asarray(variance, dtype=np.float64), np.asarray(unseen, dtype=np.float64)
    # without spread there is no row that could have degrees of freedom
    t = np.where(variance > 0.0, t_quantile(alpha, np.where(variance > 0.0, degrees, np.inf)), 0.0)
    wide = np.sqrt(t * t * variance + np.log(alpha) ** 2 * unseen)
    return np.where(np.isfinite(wide), wide, np.nan)


def p_value(gap: ArrayLike, variance: ArrayLike, degrees: ArrayLike, unseen: ArrayLike) -> Floats:
    """Two-sided p-value of an estimate that differs from the null by ``gap``; agrees with :func:`half_width`."""
    given: list[Floats] = [np.asarray(part, dtype=np.float64) for part in (gap, variance, degrees, unseen)]
    parts = np.broadcast_arrays(*given)
    away, spread, free, unseen = np.abs(parts[0]), parts[1], parts[2], parts[3]
    with np.errstate(divide="ignore", invalid="ignore"):
        most = away / np.sqrt(spread)
    found = np.where(away == 0.0, 1.0, np.where(spread == 0.0, 0.0, two_sided(most, free)))
    known = np.isfinite(away) & np.isfinite(spread) & np.isfinite(unseen)
    widened = known & (unseen > 0.0) & (away > 0.0)
    if widened.any():
        found[widened] = _with_unseen(away[widened], spread[widened], free[widened], unseen[widened])
    return np.where(known, found, np.nan)


def _with_unseen(gap: Floats, variance: Floats, degrees: Floats, unseen: Floats) -> Floats:
    """Where the half-width equals the gap: it falls as alpha grows, and so grows in t with alpha = 2 P(T > t)."""
    found = np.exp(-gap / np.sqrt(unseen))  # of the unseen rows alone
    both = variance > 0.0
    gap, variance, degrees, unseen = (part[both] for part in (gap, variance, degrees, unseen))
    # one of the two terms makes half of the square at least
    high = gap / np.sqrt(variance)
    by_unseen = -gap / np.sqrt(unseen)
    with np.errstate(under="ignore"):
        shared = np.exp(by_unseen)
    with np.errstate(over="ignore", invalid="ignore"):
        there = t_quantile(np.maximum(shared, np.finfo(float).tiny), degrees)
    high = np.where((shared > 0.0) & (there > 0.0), np.fmin(high, there), high)  # so far out there may be none
    low, middle = np.zeros_like(high), high
    for _ in range(_MOST_STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            tail = two_sided(middle, degrees)
            alone = np.log(tail)
            reach = middle * middle * variance + alone * alone * unseen - gap * gap
            slope = 2.0 * (middle * variance - alone * unseen * 2.0 * _density(middle, degrees) / tail)
            newton = middle - reach / slope
        low, high = np.where(reach > 0.0, low, middle), np.where(reach > 0.0, middle, high)
        last, middle = middle, np.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high))
        if np.all(np.abs(middle - last) <= _NEAR * middle):
            break
    found[both] = two_sided(middle, degrees)
    return found


def _density(t: Floats, degrees: Floats) -> Floats:
    from scipy.special import gammaln

    finite = np.where(np.isfinite(degrees), degrees, 1.0)
    log_scale = gammaln(0.5 * (finite + 1.0)) - gammaln(0.5 * finite) - 0.5 * np.log(np.pi * finite)
    with np.errstate(over="ignore"):  # so far out the density is zero
        square = t * t
    student = log_scale - 0.5 * (finite + 1.0) * np.log1p(square / finite)
    return np.exp(np.where(np.isfinite(degrees), student, -0.5 * (square + np.log(2.0 * np.pi))))


# The estimator behind most closed forms here: a sum over rows, its variance, and on how few rows it rests.

CLASSES = ("negative", "positive")
FEW_DEGREES = 26.0  # below, a 95% interval is more than 1.05 times as wide as the normal one


@dataclass(frozen=True)
class Moments:
    """An estimate that is a sum over rows, with the spread of its error and the rows that this rests on.

    Parameters
    ----------
    value : float
        The estimate.
    variance, degrees : float
        Variance of the estimate and its degrees of freedom.
    room : float
        Square of what one more row of the scarce classes may bring; infinite where their costs have no bound.
    carrying : tuple of float
        Effective rows (clusters) of the negative and of the positive class that carry the estimate.
    carriers : tuple of float
        Their plain number.
    scarce : tuple of bool
        Whether too few rows of the class carry the estimate, and those unseen matter.
    rows : tuple of int
        Rows (clusters) of each class.
    least : int
        Rows of each class below which there is no interval.
    reason : str
        Why there is no interval for another reason; empty otherwise.
    paired, clustered : bool
        Whether it is a difference between two models, and whether ``rows`` count clusters.
    names : tuple of str
        What to call a row of each class.
    least_value, most_value : float
        Between which the estimated value lies, whatever the rows: its interval ends there.

    Examples
    --------
    >>> from stakes.inference import Moments
    >>> [round(end, 4) for end in Moments(0.2, 0.0001, degrees=12.0).interval(0.95)]
    [0.1782, 0.2218]
    """

    value: float
    variance: float
    degrees: float = math.inf
    room: float = 0.0
    carrying: tuple[float, float] = (math.inf, math.inf)
    carriers: tuple[float, float] = (math.inf, math.inf)
    scarce: tuple[bool, bool] = (False, False)
    rows: tuple[int, ...] = (NEEDED, NEEDED)
    least: int = 0
    reason: str = ""
    paired: bool = False
    clustered: bool = False
    names: tuple[str, str] = CLASSES
    least_value: float = -math.inf
    most_value: float = math.inf

    @property
    def standard_error(self) -> float:
        """Square root of the variance; nan where it is."""
        return math.sqrt(self.variance)

    def scaled(self, factor: float) -> Moments:
        """Return the moments of factor times the estimate."""
        square = factor * factor
        found = replace(self, value=factor * self.value, variance=square * self.variance, room=square * self.room)
        return found.within(*sorted((factor * self.least_value, factor * self.most_value)))

    def within(self, least_value: float, most_value: float) -> Moments:
        """Return the moments of a value that lies between these."""
        return replace(self, least_value=least_value, most_value=most_value)

    def shifted(self, known: float) -> Moments:
        """Return the moments of the estimate and a known amount together."""
        return replace(self, value=self.value + known).within(self.least_value + known, self.most_value + known)

    def minus(self, other: Moments) -> Moments:
        """Return the moments of the difference from an estimate on other, independent rows."""
        variance = self.variance + other.variance
        # a part of one row has no spread, and so no degrees of freedom
        shares = sum(part.variance**2 / part.degrees if part.degrees > 0.0 else math.nan for part in (self, other))
        fewer = [self._scarcer(other, k) for k in (0, 1)]
        return replace(
            self,
            value=self.value - other.value,
            variance=variance,
            degrees=variance**2 / shares if shares > 0.0 else min(self.degrees, other.degrees),
            room=self.room + other.room,
            carrying=(fewer[0].carrying[0], fewer[1].carrying[1]),
            carriers=(fewer[0].carriers[0], fewer[1].carriers[1]),
            scarce=(fewer[0].scarce[0], fewer[1].scarce[1]),
            rows=(fewer[0].rows[0], fewer[1].rows[1]),
            least=max(self.least, other.least),
            least_value=self.least_value - other.most_value,
            most_value=self.most_value - other.least_value,
            reason=self.reason or other.reason or self._short or other._short,
        )

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided: Student's t, and the rule of three for what the scarce classes have not shown; nan without one.

        It does not leave the range of the value.
        """
        if self.reason or self._short or not math.isfinite(self.value):
            return math.nan, math.nan
        half = float(half_width(self.variance, self.degrees, self.room, 1.0 - confidence_level))
        low, high = (min(self.least_value, self.value), max(self.most_value, self.value))
        return max(self.value - half, low), min(self.value + half, high)

    def p_value(self, null: float = 0.0) -> float:
        """Two-sided p-value that agrees with :meth:`interval`."""
        if self.reason or self._short:
            return math.nan
        return float(p_value(self.value - null, self.variance, self.degrees, self.room))

    @property
    def note(self) -> str:
        """On how few rows the estimate rests, and of which class how many would do; empty where there are enough."""
        return self.scarcity or self._few_degrees

    @property
    def scarcity(self) -> str:
        """Of which class too few rows carry the estimate for those unseen not to matter; empty where enough do."""
        if self.reason or math.isnan(self.variance):
            return self.reason
        scarce = [k for k in (1, 0) if self.scarce[k]]
        return self._short or (self._rests_on(scarce[0]) if scarce else "")

    @property
    def _few_degrees(self) -> str:
        if not 0.0 < self.degrees < FEW_DEGREES or not self.variance > 0.0:
            return ""
        what, members = "difference" if self.paired else "estimate", "clusters" if self.clustered else "rows"
        free = f"about {self.degrees:.2g} degrees of freedom"
        return f"few {members} carry the error of the {what} ({free}): the interval is wider than a normal one"

    def _scarcer(self, other: Moments, k: int) -> Moments:
        mine, theirs = ((not part.scarce[k], part.carrying[k]) for part in (self, other))
        return self if mine <= theirs else other

    @property
    def _short(self) -> str:
        return too_few(self.rows, self.least, self.names)

    def _rests_on(self, k: int) -> str:
        name, unbounded = self.names[k], "" if math.isfinite(self.room) else "; there is no interval"
        if self.carriers[k] == 0:
            does = "tells the two apart" if self.paired else "carries a cost here"
            return f"no {name} {does}: at least {NEEDED} must{unbounded}"
        members = f"of {self.rows[k]:,} {name}s" if not self.clustered else f"of {self.rows[k]:,} clusters with {name}s"
        wanted = two_digits_up(self.rows[k] * NEEDED / max(self.carrying[k], 1.0))
        what = "the difference" if self.paired else "the estimate"
        done = "there is no interval" if unbounded else "the interval has room for costs not yet seen"
        enough = f"about {wanted:,} {'such clusters' if self.clustered else f'{name}s'} would do"
        return f"{what} rests on about {self.carrying[k]:.2g} {members}: {done}; {enough}"


def moments_of(value: float, found: Variance, rows: tuple[int, ...], **about: Any) -> Moments:
    """Moments of one estimate from its variance; without a finite value there is none."""
    return Moments(
        value,
        float(found.variance) if math.isfinite(value) else math.nan,
        float(found.degrees),
        float(found.unseen_variance),
        (float(found.carrying[0]), float(found.carrying[1])),
        (float(found.carriers[0]), float(found.carriers[1])),
        (bool(found.scarce[0]), bool(found.scarce[1])),
        rows,
        **about,
    )


def too_few(rows: tuple[int, ...], least: int, names: tuple[str, str] = CLASSES) -> str:
    """Say which class has fewer rows than an interval needs; empty where both have enough."""
    for k in (1, 0):
        if rows[k] < least:
            return f"only {rows[k]} {names[k]}{'s' if rows[k] != 1 else ''}: an interval needs {least}"
    return ""


def two_digits_up(number: float) -> int:
    """Round up to two digits.

    Examples
    --------
    >>> two_digits_up(438.9), two_digits_up(25.0), two_digits_up(7.2)
    (440, 25, 8)
    """
    step = 10 ** max(len(str(math.ceil(number))) - 2, 0)
    return math.ceil(round(number / step, 9)) * step


# The value of a metric with its standard error and interval.


@dataclass(frozen=True)
class Estimate(Tabular):
    """The value of a metric with its standard error and interval.

    Parameters
    ----------
    metric : str
        Name of the metric.
    value : float
        On these rows.
    standard_error : float
        Of the value; nan where it is infinite or undefined.
    interval : tuple of float
        Two-sided; nan where it is infinite or undefined.
    confidence_level : float
        Of the interval.
    note : str
        On how few rows of which class the value rests, and how many would do; empty where there are enough.

    Examples
    --------
    >>> from stakes.inference import metric_interval
    >>> y_true = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5
    >>> metric_interval(y_true, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5, "roc_auc_score")
    Estimate(roc_auc_score = 0.9, 95% interval [0.771, 0.9601])
    """

    metric: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence_level: float
    note: str = ""

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "metric": self.metric,
                "value": self.value,
                "standard_error": self.standard_error,
                "ci_low": self.interval[0],
                "ci_high": self.interval[1],
                "confidence_level": self.confidence_level,
                "note": self.note,
            }
        ]

    def __repr__(self) -> str:
        low, high = self.interval
        sure = f"{self.confidence_level:.0%} interval [{low:.4g}, {high:.4g}]"
        return f"Estimate({self.metric} = {self.value:.4g}, {sure}{', ' + self.note if self.note else ''})"


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Adjust p-values so that none of the true hypotheses is rejected with more than the stated probability.

    Parameters
    ----------
    p_values : array_like of shape (m,)
        In [0, 1]; nan for what was not tested, which does not count.

    Returns
    -------
    ndarray of shape (m,)
        Holm's step-down adjustment, valid under any dependence.

    Notes
    -----
    Holm (1979), Scandinavian Journal of Statistics 6:65-70.

    Examples
    --------
    >>> from stakes.inference import holm
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p = to_floats(to_array(p_values, "p_values"), "p_values")
    if p.ndim != 1 or np.any((p < 0.0) | (p > 1.0)):
        raise ValueError(f"p_values must be a list of numbers in [0, 1], got {p_values!r}.")
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
