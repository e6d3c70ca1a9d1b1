"""Joint limits of many estimates: the largest of jointly normal values, and intervals solved for all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Bools, Floats, Integers, blocks, generator, to_array, to_floats
from stakes.variance.sums import FEW_DEGREES, Moments, Variance, half_width, p_value

# The largest of several jointly normal values: its expectation, and how probable it is that each is the largest.
#
# With three values or fewer, and for any number whose pairs all have the same covariance, this is a closed form or
# one integral; otherwise draws. The expectation splits into the means weighted by the probabilities and the *gain* of
# choosing after the errors are seen, a sum over pairs: what selection adds to the observed mean of the one selected.

_DRAWS = (4_000, 20_000)  # fewer where there are many values
_MOST_DRAWN = 6_000_000
ROUNDING = 1e-12  # values whose difference varies by less than a millionth of their own errors are one value
_CLOSED = 3
_NODES = 32
_REACH = 12.0  # standard deviations beyond which a normal density counts nothing
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


@dataclass(frozen=True, eq=False, repr=False)
class Largest:
    """What is known of the largest of several normal values.

    Parameters
    ----------
    expected : float
        Expectation of the largest value.
    gain : float
        Its part beyond the means weighted by ``p_best``.
    p_best : ndarray of shape (k,)
        Probability that each value is the largest; values that are always equal share theirs.
    excess : float
        ``expected`` less the largest mean, worked out without their difference where possible.
    exact : bool
        Whether no draws were needed.

    Examples
    --------
    >>> from stakes.inference import largest_of
    >>> round(largest_of([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]).excess, 6)
    0.398942
    """

    expected: float
    gain: float
    p_best: Floats
    excess: float
    exact: bool


def pair_variances(covariance: Floats) -> Floats:
    """Variance of the difference of each pair; zero where it is rounding."""
    own = np.diag(covariance)
    scale = own[:, None] + own[None]
    variance = scale - 2.0 * covariance
    return np.where(variance <= ROUNDING * scale, 0.0, variance)


def same_values(means: Floats, covariance: Floats) -> NDArray[np.intp]:
    """For each value the first that is always equal to it: its own place where there is none before."""
    gap, scale = np.abs(means[:, None] - means[None]), np.abs(means[:, None]) + np.abs(means[None])
    return np.argmax((pair_variances(covariance) == 0.0) & (gap <= ROUNDING * scale), axis=1)


def normal_draws(covariance: Floats, rng: np.random.Generator, most: int | None = None) -> Floats:
    """Draws of the errors, one a column; the first ``most`` of them where fewer are needed."""
    values, vectors = np.linalg.eigh(covariance)
    # the symmetric root is the one that rounding in the covariance does not turn into another; nor do eigenvalues count
    # that are rounding, whose roots are not small: the two references leave one
    root = (vectors * np.sqrt(np.where(values > ROUNDING * values.max(), values, 0.0))) @ vectors.T
    return np.asarray(root @ rng.standard_normal((len(values), draws_of(len(values))))[:, :most])


def draws_of(count: int) -> int:
    """How many draws so many values get."""
    return min(max(_MOST_DRAWN // count, _DRAWS[0]), _DRAWS[1])


def largest_of(
    means: ArrayLike,
    covariance: ArrayLike,
    *,
    errors: Floats | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Largest:
    """Return expectation and place of the largest of jointly normal values.

    Parameters
    ----------
    means : array_like of shape (k,)
        Expected values.
    covariance : array_like of shape (k, k)
        Of the values.
    errors : ndarray of shape (k, m), optional
        Draws of the errors, for those who have them already.
    random_state : int, numpy Generator or None, default 0
        For the draws that more than three values with unequal covariances need.

    Returns
    -------
    Largest

    Notes
    -----
    For two values the expectation is m_2 + d Phi(d / s) + s phi(d / s), with d the difference of the means and s its
    standard deviation (Clark 1961). For more, it is the sum of means times probabilities plus, for each pair, s phi(d /
    s) times the probability that both are above all others given that they are equal.

    Examples
    --------
    >>> from stakes.inference import largest_of
    >>> largest_of([0.02, 0.05], [[0.001, 0.0005], [0.0005, 0.002]]).p_best.round(3).tolist()
    [0.251, 0.749]
    """
    given = {"means": means, "covariance": covariance}
    mean, cov = (to_floats(to_array(values, name), name) for name, values in given.items())
    if mean.ndim != 1 or not mean.size or not np.all(np.isfinite(mean)):
        raise ValueError(f"means must be a list of finite numbers, got {means!r}.")
    if cov.shape != (mean.size, mean.size) or not np.all(np.isfinite(cov)):
        raise ValueError(f"covariance must be finite and of shape {(mean.size, mean.size)}, got {covariance!r}.")
    first = same_values(mean, cov)
    kept = np.unique(first)
    found = _exact(mean[kept], cov[np.ix_(kept, kept)])
    if found is None:
        drawn = normal_draws(cov, generator(random_state)) if errors is None else errors
        found = largest_of_draws(mean[kept], drawn[kept])
    return Largest(found.expected, found.gain, found.p_best[np.searchsorted(kept, first)], found.excess, found.exact)


def largest_of_draws(means: Floats, errors: Floats) -> Largest:
    """The same from draws of the errors (columns) around the means."""
    largest, best = _largest_rows(mean + error for mean, error in zip(means, errors, strict=True))
    p_best = np.bincount(best, minlength=len(means)) / len(best)
    leader = int(means.argmax())
    # against the leader in the same draw: the leader's own error, which is most of the spread, drops out
    excess = float((largest - (means[leader] + errors[leader])).mean())
    gain = excess + float(means[leader] - p_best @ means)
    return Largest(float(means[leader]) + excess, max(gain, 0.0), p_best, excess, exact=False)


def _largest_rows(rows: Iterable[Floats]) -> tuple[Floats, Integers]:
    """The largest value of each column, and the first row that has it; row by row, so that all stays in cache."""
    each = iter(rows)
    largest = next(each).copy()
    place = np.zeros(len(largest), dtype=np.intp)
    for at, row in enumerate(each, start=1):
        ahead = np.flatnonzero(row > largest)
        largest[ahead], place[ahead] = row[ahead], at
    return largest, place


def _exact(means: Floats, covariance: Floats) -> Largest | None:
    count = len(means)
    if count == 1:
        return Largest(float(means[0]), 0.0, np.ones(1), 0.0, exact=True)
    if count <= _CLOSED:
        return _closed(means, covariance)
    shared = covariance[~np.eye(count, dtype=bool)]
    own = np.diag(covariance) - shared.mean()
    if np.ptp(shared) <= ROUNDING * float(np.diag(covariance).max()) and own.min() > 0.0:
        return _independent(means, np.sqrt(own))
    return None


def _closed(means: Floats, covariance: Floats) -> Largest:
    """Two or three values."""
    spread = np.sqrt(pair_variances(covariance))
    count = len(means)
    p_best, gain = np.zeros(count), 0.0
    for i in range(count):
        others = [j for j in range(count) if j != i]
        p_best[i] = _p_above(means, covariance, i, others)
        for j in (j for j in others if j > i):
            third = [k for k in others if k != j]
            both = _p_both_above(means, covariance, i, j, third[0]) if third else 1.0
            gain += both * float(spread[i, j]) * _density(float(means[i] - means[j]), float(spread[i, j]))
    p_best /= p_best.sum()
    expected = float(p_best @ means) + gain
    leader = float(means.max())
    return Largest(expected, gain, p_best, max(gain - float(p_best @ (leader - means)), 0.0), exact=True)


def _density(gap: float, spread: float) -> float:
    return math.exp(-0.5 * (gap / spread) ** 2) / _ROOT_TWO_PI if spread > 0.0 else 0.0


def _p_above(means: Floats, covariance: Floats, i: int, others: list[int]) -> float:
    """Probability that value i is above all others."""
    gaps = [float(means[i] - means[j]) for j in others]
    variances = [float(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j]) for j in others]
    spreads = [math.sqrt(max(v, 0.0)) for v in variances]
    heights = [_ratio(gap, spread) for gap, spread in zip(gaps, spreads, strict=True)]
    if len(others) == 1:
        return _phi(heights[0])
    j, k = others
    together = float(covariance[i, i] - covariance[i, j] - covariance[i, k] + covariance[j, k])
    correlation = together / (spreads[0] * spreads[1]) if min(spreads) > 0.0 else 0.0
    return _both_below(heights[0], heights[1], min(max(correlation, -1.0), 1.0))


def _p_both_above(means: Floats, covariance: Floats, i: int, j: int, k: int) -> float:
    """Probability that i and j are above k, given that i and j are equal."""
    variance = float(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j])
    if variance <= 0.0:
        return 0.0
    against = float(covariance[i, i] - covariance[i, j] - covariance[i, k] + covariance[j, k])
    centre = float(means[i] - means[k]) - against * float(means[i] - means[j]) / variance
    left = float(covariance[i, i] + covariance[k, k] - 2.0 * covariance[i, k]) - against**2 / variance
    return _phi(_ratio(centre, math.sqrt(max(left, 0.0))))


def _ratio(gap: float, spread: float) -> float:
    if spread > 0.0:
        return gap / spread
    return 0.0 if gap == 0.0 else math.copysign(math.inf, gap)


def _phi(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def _both_below(h: float, k: float, correlation: float) -> float:
    """P(X < h, Y < k) for standard normal values, by Owen's T function (Owen 1956)."""
    from scipy.special import owens_t

    if math.isinf(h) or math.isinf(k):
        return 0.0 if min(h, k) == -math.inf else _phi(min(h, k))
    if abs(correlation) == 1.0:
        return _phi(min(h, k)) if correlation > 0.0 else max(_phi(h) - _phi(-k), 0.0)
    if h == k == 0.0:
        return 0.25 + math.asin(correlation) / (2.0 * math.pi)
    root = math.sqrt((1.0 - correlation) * (1.0 + correlation))
    parts = [
        0.5 * _phi(x) - float(owens_t(x, (y / x - correlation) / root if x else math.copysign(math.inf, y)))
        for x, y in ((h, k), (k, h))
    ]
    apart = h * k < 0.0 or (h * k == 0.0 and h + k < 0.0)
    return min(max(sum(parts) - 0.5 * apart, 0.0), 1.0)


def _independent(means: Floats, spreads: Floats) -> Largest:
    """Values whose errors share one part, which changes no order, and have a part each of their own: one integral."""
    from scipy.special import ndtr

    x, weight = _panels(means, spreads)
    z = (x[:, None] - means) / spreads
    below = ndtr(z)
    with np.errstate(divide="ignore"):
        logs = np.log(below)
    others = np.exp(np.maximum(logs.sum(axis=1)[:, None], -1e4) - np.maximum(logs, -1e4))
    density = weight[:, None] * np.exp(-0.5 * z * z) / (_ROOT_TWO_PI * spreads) * others
    p_best = density.sum(axis=0)
    gain = float(((x[:, None] - means) * density).sum())
    p_best = p_best / p_best.sum()
    leader = float(means.max())
    excess = float(max(gain - float(p_best @ (leader - means)), 0.0))
    return Largest(leader + excess, gain, p_best, excess, exact=True)


def _panels(means: Floats, spreads: Floats) -> tuple[Floats, Floats]:
    """Nodes and weights of an integral over all real numbers, finer where a density is steep."""
    steps = np.array([0.0, 1.0, 2.0, 4.0, 6.0, 8.0, _REACH])
    steps = np.concatenate([-steps[:0:-1], steps])
    edges = np.unique(means[:, None] + spreads[:, None] * steps)
    # below this the largest of them never is
    edges = edges[edges >= float((means - _REACH * spreads).max())]
    closest = 1e-9 * float(spreads.min())
    edges = edges[np.append(True, np.diff(edges) > closest)]
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)
    x = (0.5 * (edges[1:] + edges[:-1]))[:, None] + half[:, None] * nodes
    return x.ravel(), (half[:, None] * weights).ravel()


# How far the largest of several correlated studentised errors reaches: critical values that hold for all at once.
#
# One error has the normal quantile; errors that are all equally correlated, and two of any correlation, need one
# integral; otherwise the quantile comes from draws.

_NEARLY_ONE = 1e-3  # beyond this correlation the integrand is a step and draws do as well
_QUANTILE_REACH = 9.0
_PANELS, _PANEL_NODES = 90, 20
_CLOSE = 1e-14
_GROUP = 32  # errors
_ROUNDED = 1e-9  # more than rounding takes from a bound
_MOST_STEPS = 100  # far more than halving needs: rounding may keep Newton's steps from settling


def largest_quantile(correlation: Floats, errors: Iterable[Floats], level: float, *, two_sided: bool) -> float:
    """Quantile of the largest error, or of the largest in size; ``errors`` holds the standardised draws of each."""
    closed = closed_quantile(correlation, level, two_sided=two_sided)
    if closed is not None:
        return closed
    largest, _ = _largest_rows(map(np.abs, errors) if two_sided else errors)
    return max(float(np.quantile(largest, level)), _least(level, two_sided=two_sided))


def closed_quantile(correlation: Floats, level: float, *, two_sided: bool) -> float | None:
    """The same without draws; None where there is no closed form."""
    count = len(correlation)
    if count <= 1:
        return _least(level, two_sided=two_sided) if count else 0.0
    shared = correlation[~np.eye(count, dtype=bool)]
    mean = float(shared.mean())
    if two_sided and count == 2:
        mean = abs(mean)  # the sign of an error does not count
    if np.ptp(shared) <= ROUNDING and 0.0 <= mean <= 1.0 - _NEARLY_ONE:
        return _equal_correlation(count, mean, level, two_sided=two_sided)
    return None


def _least(level: float, *, two_sided: bool) -> float:
    """The quantile of one error."""
    return NormalDist().inv_cdf(0.5 + level / 2.0 if two_sided else level)


class Leads:
    """Studentised differences between errors, in draws of them (columns).

    The largest numerator over the smallest standard error bounds all differences of an error from a group of others in
    a draw. Only draws in which that reaches a lower bound of the quantile, from one pair for each, are looked at.
    """

    def __init__(self, errors: Floats, covariance: Floats) -> None:
        self.order = np.argsort(np.diag(covariance), kind="stable")  # errors of a group should be alike
        self.errors = errors[self.order]
        self.groups = list(blocks(len(errors), _GROUP))

    @cached_property
    def lowest(self) -> tuple[Floats, Integers]:
        """The lowest error of each group, and the place of the lowest of all, in each draw."""
        found = [_largest_rows(-each for each in self.errors[group]) for group in self.groups]
        lowest = -np.array([highest for highest, _ in found])
        places = [place + group.start for (_, place), group in zip(found, self.groups, strict=True)]
        return lowest, np.choose(lowest.argmin(axis=0), places)

    def quantile(self, behind: Integers, variance: Floats, level: float) -> float:
        """Quantile of the largest difference of the errors ``behind`` from others, 0 where they lead; 0 without any.

        ``variance`` has a row for each of them: those of its differences, 0 where the two are not compared.
        """
        scale = np.sqrt(np.where(variance > 0.0, variance, np.inf))[:, self.order]
        rows = [self.errors[k] for k in np.argsort(self.order)[behind]]
        largest = self._largest(rows, scale, level) if len(self.groups) > 1 else np.zeros(len(rows[0]))
        if len(self.groups) == 1:
            for row, scales in zip(rows, scale, strict=True):
                for k in np.flatnonzero(np.isfinite(scales)):
                    np.maximum(largest, (row - self.errors[k]) / scales[k], out=largest)
        return float(np.quantile(largest, level))

    def _largest(self, rows: Sequence[Floats], scale: Floats, level: float) -> Floats:
        """The largest difference in each draw, where it may count for the quantile."""
        (lowest, first), (highest, last) = self.lowest, _largest_rows(rows)
        largest = np.maximum((highest - lowest.min(axis=0)) / scale[last, first], 0.0)
        below = max(int((len(largest) - 1) * level) - 1, 0)  # the quantile lies between later order statistics
        for row, scales in zip(rows, scale, strict=True):
            least = np.partition(largest, below)[below]
            nearest = np.array([scales[group].min() for group in self.groups])
            bound = (row - lowest) * ((1.0 + _ROUNDED) / nearest)[:, None]
            for group, most in zip(self.groups, bound, strict=True):
                some = np.flatnonzero((most > largest) & (most >= least))
                if len(some):
                    leads = self.errors[group].take(some, axis=1)
                    np.subtract(row[some], leads, out=leads)
                    leads /= scales[group, None]
                    largest[some] = np.maximum(largest[some], leads.max(axis=0))
        return largest


def _equal_correlation(count: int, correlation: float, level: float, *, two_sided: bool) -> float:
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_PANEL_NODES)
    edges = np.linspace(-_QUANTILE_REACH, _QUANTILE_REACH, _PANELS + 1)
    half = 0.5 * (edges[1] - edges[0])
    shared = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * nodes).ravel()
    density = np.tile(half * weights, _PANELS) * np.exp(-0.5 * shared**2) / math.sqrt(2.0 * math.pi)
    shift, own = math.sqrt(correlation) * shared, math.sqrt(1.0 - correlation)

    def missed(q: float) -> tuple[float, float]:
        ends = ((q + shift) / own, (-q + shift) / own)
        inside, rise = ndtr(ends[0]), np.exp(-0.5 * ends[0] ** 2)
        if two_sided:
            inside, rise = inside - ndtr(ends[1]), rise + np.exp(-0.5 * ends[1] ** 2)
        slope = count / (own * math.sqrt(2.0 * math.pi)) * (density @ (rise * inside ** (count - 1)))
        return float(density @ inside**count) - level, float(slope)

    return _root(missed, 0.0 if two_sided else -_QUANTILE_REACH, _QUANTILE_REACH)


def _root(rising: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where a rising function, given with its slope, is zero: Newton's steps, halves where they leave the bracket."""
    place = 0.5 * (low + high)
    for _ in range(_MOST_STEPS):
        value, slope = rising(place)
        low, high = (place, high) if value < 0.0 else (low, place)
        step = value / slope if slope > 0.0 else math.inf
        after = place - step if low < place - step < high else 0.5 * (low + high)
        if abs(after - place) <= _CLOSE * max(1.0, abs(place)) or not low < after < high:
            return after
        place = after
    return place


# `ManyMoments`: the moments of many estimates as arrays, whose intervals and p-values are solved for all at once.


@dataclass(frozen=True, eq=False, repr=False)
class ManyMoments:
    """The fields of :class:`Moments` as arrays; ``notes`` writes the notes of the estimates that it is asked for."""

    value: Floats
    variance: Floats
    degrees: Floats
    room: Floats
    least_value: Floats
    most_value: Floats
    refused: Bools
    notes: Callable[[Bools], list[str]] = lambda _among: []

    @classmethod
    def of(cls, each: Sequence[Moments]) -> ManyMoments:
        """Put the moments of single estimates side by side."""
        rows = [(m.value, m.variance, m.degrees, m.room, m.least_value, m.most_value) for m in each]
        value, variance, degrees, room, low, high = np.array(rows, dtype=np.float64).T
        refused = np.array([one.refused for one in each])
        return cls(value, variance, degrees, room, low, high, refused, partial(_written, each))

    @classmethod
    def from_variance(
        cls,
        value: Floats,
        found: Variance,
        rows: Floats,
        least: Integers | int = 0,
        ends: tuple[float, float] = (-math.inf, math.inf),
    ) -> ManyMoments:
        """Moments of estimates of independent rows from their variances; each class has so many rows."""
        variance = np.where(np.isfinite(value), found.variance, np.nan)
        few = np.asarray((rows < least).any(axis=0))
        low, high = (np.full(len(value), end) for end in ends)
        take_notes = partial(_notes, replace(found, variance=variance), rows, np.broadcast_to(least, few.shape), few)
        return cls(value, variance, found.degrees, found.unseen_variance, low, high, few, take_notes)

    def scaled(self, factor: float) -> ManyMoments:
        """Return the moments of a factor > 0 times the estimates."""
        square = factor * factor
        found = replace(self, value=factor * self.value, variance=square * self.variance, room=square * self.room)
        return replace(found, least_value=factor * self.least_value, most_value=factor * self.most_value)

    def shifted(self, known: float) -> ManyMoments:
        """Return the moments of the estimates and a known amount together."""
        low, high = self.least_value + known, self.most_value + known
        return replace(self, value=self.value + known, least_value=low, most_value=high)

    def minus(self, other: ManyMoments) -> ManyMoments:
        """Return the moments of the differences from estimates on other, independent rows, as :class:`Moments` do."""
        with np.errstate(all="ignore"):  # infinite losses, and parts of one row
            variance = self.variance + other.variance
            parts = [np.where(one.degrees > 0.0, one.variance**2 / one.degrees, np.nan) for one in (self, other)]
            shares = parts[0] + parts[1]
            fewest = np.where(other.degrees < self.degrees, other.degrees, self.degrees)
            degrees = np.where(shares > 0.0, variance**2 / shares, fewest)
            value, room = self.value - other.value, self.room + other.room
            ends = self.least_value - other.most_value, self.most_value - other.least_value
        return ManyMoments(value, variance, degrees, room, *ends, self.refused | other.refused)

    def intervals(self, confidence_level: float) -> list[tuple[float, float]]:
        """Two-sided, as :meth:`Moments.interval` gives them."""
        known = ~self.refused & np.isfinite(self.value)
        half = half_width(self.variance, self.degrees, self.room, 1.0 - confidence_level)
        with np.errstate(invalid="ignore"):
            low = np.maximum(self.value - half, np.minimum(self.least_value, self.value))
            high = np.minimum(self.value + half, np.maximum(self.most_value, self.value))
        return pairs(*(np.where(known, end, np.nan) for end in (low, high)))

    def p_values(self) -> Floats:
        """Two-sided, as :meth:`Moments.p_value` gives them."""
        return np.where(self.refused, np.nan, p_value(self.value, self.variance, self.degrees, self.room))


def pairs(low: Floats, high: Floats) -> list[tuple[float, float]]:
    """Both ends of each interval."""
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _written(each: Sequence[Moments], among: Bools) -> list[str]:
    return [one.note if wanted else "" for one, wanted in zip(each, among.tolist(), strict=True)]


def _notes(found: Variance, rows: Floats, least: Integers, few: Bools, among: Bools) -> list[str]:
    """The notes of some estimates of independent rows; nearly all are empty where groups are large."""
    noted = few | found.scarce.any(axis=0) | ((found.degrees > 0.0) & (found.degrees < FEW_DEGREES))
    noted &= among & ~np.isnan(found.variance)
    carrying, carriers, short = (
        np.where(found.scarce[1], part[1], part[0]) for part in (found.carrying, found.carriers, found.short)
    )
    all_alike, none_carries = short & (carrying == 0.0), carriers == 0.0
    # of the scarcer class all rows or none: then nothing else is in the words, which many small groups share
    shared = noted & ~few & found.scarce.any(axis=0) & (all_alike | none_carries)
    kind = found.scarce[1] + 2 * all_alike + 4 * np.isfinite(found.unseen_variance)
    same = [np.flatnonzero(shared & (kind == each)) for each in np.unique(kind[shared])]
    at = np.concatenate([np.flatnonzero(noted & ~shared), *(places[:1] for places in same)])
    notes = [""] * len(few)
    known = (part[..., at].T.tolist() for part in (*vars(found).values(), rows.astype(np.int64), least))
    names = ("variance", "degrees", "room", "carrying", "carriers", "scarce", "equal", "short", "rows", "least")
    for g, *about in zip(at.tolist(), *known, strict=True):
        one = object.__new__(Moments)  # of thousands: to set frozen fields one by one takes half of the time
        vars(one).update(zip(names, about, strict=True))
        notes[g] = one.note
    for places in same:
        for g in places[1:].tolist():
            notes[g] = notes[places[0]]
    return notes
