"""The cost distributions, in closed form or by quadrature."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import (
    Floats,
    as_costs_of,
    as_range,
    brief,
    check_choice,
    check_interval,
    check_number,
    check_unit,
    in_percent,
    summable,
    to_array,
    to_floats,
)
from stakes.costs._base import CostDistribution, clipped

_TINY = float(np.finfo(float).tiny)  # whose inverse floats can hold

# Discrete cost distributions: one known cost ratio, or a list of stated thresholds.


class _Atoms(CostDistribution):
    """A measure on finitely many cost ratios."""

    _values: Floats
    _weights: Floats

    def _set(self, values: Floats, weights: Floats, tie: float) -> None:
        if not 0.0 <= check_number(tie, "tie") <= 1.0:
            raise ValueError(f"tie must lie in [0, 1], got {tie}.")
        self._values, self._weights, self.tie = values + 0.0, weights, float(tie) + 0.0  # -0.0 becomes 0.0
        for array in (self._values, weights):
            array.setflags(write=False)
        self.low, self.high = float(self._values[0]), float(self._values[-1])
        self._acting = np.concatenate([[0.0], np.cumsum(values * weights)])
        missed = (1.0 - values) * weights
        self._waiting = np.concatenate([np.cumsum(missed[::-1])[::-1], [0.0]])

    @property
    def mass(self) -> float:
        return math.fsum(self._weights)

    @property
    def atoms(self) -> tuple[Floats, Floats]:
        return self._values, self._weights

    def negative_loss(self, score: ArrayLike) -> Floats:
        return self._summed(self._acting, score, ("left", "right"), self.tie)

    def positive_loss(self, score: ArrayLike) -> Floats:
        return self._summed(self._waiting, score, ("right", "left"), 1.0 - self.tie)

    def _summed(self, sums: Floats, score: ArrayLike, sides: tuple[Any, Any], share: float) -> Floats:
        """Sums over the atoms on one side of each score, with a share of the atom at the score."""
        s = np.asarray(score, dtype=float)
        beside = self._sums_at(sums, s, sides[0])
        if share == 0.0:
            return beside
        through = self._sums_at(sums, s, sides[1])
        return through if share == 1.0 else beside + share * (through - beside)

    def _sums_at(self, sums: Floats, s: Floats, side: Any) -> Floats:
        if len(self._values) > 1:
            return np.asarray(sums[np.searchsorted(self._values, s, side=side)])[()]
        # one comparison is a tenth of the work of a search; nan lies beyond every atom, as there
        before = s <= self._values[0] if side == "left" else s < self._values[0]
        # one of the sums is zero, and a product does not wait for each row's choice
        return np.asarray(before * sums[0] if sums[0] else ~before * sums[1])[()]

    def density(self, c: ArrayLike) -> Floats:
        return np.zeros_like(np.asarray(c, dtype=float))

    def _inside(self, low: float, high: float) -> NDArray[np.bool_]:
        if low != high:
            check_interval(low, high, "low, high")
        keep = (self._values >= low) & (self._values <= high)
        if not np.any(keep):
            raise ValueError(f"[low, high] must hold a cost ratio of {self!r}, got ({low}, {high}).")
        return keep

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.choice(self._values, size=size, p=self._weights / self._weights.sum())


class Fixed(_Atoms):
    """One known cost ratio: cost at a threshold, error rate at 1/2.

    Parameters
    ----------
    c : float
        The cost ratio, in [0, 1].
    tie : float, default 1
        Share of decisions to act when a score equals ``c`` exactly; 1/2 gives half credit.

    Raises
    ------
    ValueError
        If ``c`` or ``tie`` lies outside [0, 1].

    Notes
    -----
    Mass 1, loss factor 2, so that ``Fixed(1/2)`` has the error rate as its loss
    (arXiv:2504.04528 Proposition 2.3: accuracy = 1 - 2 R(1/2)).

    Examples
    --------
    >>> from stakes import costs
    >>> costs.Fixed(0.1).negative_loss([0.05, 0.1, 0.2]).tolist()  # acts from 0.1 on
    [0.0, 0.1, 0.1]
    """

    kind = "fixed"
    _names = ("c", "tie")

    def __init__(self, c: float, tie: float = 1.0) -> None:
        self.c = check_unit(c, "c")
        self._set(np.array([self.c]), np.ones(1), tie)

    def restrict(self, low: float, high: float) -> CostDistribution:
        self._inside(low, high)
        return self

    def flip(self) -> CostDistribution:
        return Fixed(1.0 - self.c, tie=1.0 - self.tie)


class Empirical(_Atoms):
    """The cost ratios (thresholds) that people stated, each with its weight.

    Parameters
    ----------
    values : array_like
        Cost ratios in [0, 1]; repeated values are pooled.
    weights : array_like, optional
        Non-negative weights, not all zero; by default every value counts once. Normalised to sum to 1.
    tie : float, default 1
        Share of decisions to act when a score equals a value exactly.

    Raises
    ------
    ValueError
        If a value lies outside [0, 1], a weight is negative or not finite, all are zero, or the lengths differ.

    Notes
    -----
    Mass 1, loss factor 2.

    Examples
    --------
    Five clinicians said at what risk they would treat.

    >>> from stakes import costs
    >>> stated = costs.Empirical([0.05, 0.05, 0.10, 0.10, 0.20])
    >>> round(stated.mean(), 12)
    0.1
    """

    kind = "empirical"

    def __init__(self, values: ArrayLike, weights: ArrayLike | None = None, tie: float = 1.0) -> None:
        at = np.atleast_1d(to_floats(to_array(values, "values"), "values"))
        mass = np.ones(at.shape)
        if weights is not None:
            mass = np.atleast_1d(to_floats(to_array(weights, "weights"), "weights"))
        if at.ndim != 1 or at.size == 0 or mass.shape != at.shape:
            raise ValueError(
                f"values and weights must be 1-D and of equal length > 0, got {at.shape} and {mass.shape}."
            )
        if not np.all((at >= 0.0) & (at <= 1.0)):
            first = int(np.argmin((at >= 0.0) & (at <= 1.0)))
            raise ValueError(f"values must lie in [0, 1], got {at[first]} at index {first}{in_percent(at[first])}.")
        good = np.isfinite(mass) & (mass >= 0.0)
        if not np.all(good):
            first = int(np.argmin(good))
            raise ValueError(f"weights must be finite and >= 0, got {mass[first]} at index {first}.")
        if not np.any(mass):
            raise ValueError(f"weights must not be all zero, got {len(mass)} zeros.")
        distinct, index = np.unique(at[mass > 0.0], return_inverse=True)
        pooled = np.bincount(index, summable(mass)[mass > 0.0])
        self._set(distinct, pooled / pooled.sum(), tie)

    def restrict(self, low: float, high: float) -> CostDistribution:
        keep = self._inside(low, high)
        if np.all(keep):
            return self
        share = float(self._weights[keep].sum())
        return share * Empirical(self._values[keep], self._weights[keep], self.tie)

    def flip(self) -> CostDistribution:
        return Empirical(1.0 - self._values, self._weights, 1.0 - self.tie)

    def _parameters(self) -> dict[str, Any]:
        return {"values": self._values.tolist(), "weights": self._weights.tolist(), "tie": self.tie}

    def __repr__(self) -> str:
        return f"Empirical({len(self._values)} values in [{self.low:g}, {self.high:g}], tie={self.tie!r})"


# Numerical helpers of the cost distributions: one stable remainder of the logarithm, and Gauss-Legendre rules.

_SERIES_TERMS = 15


def log_remainder(y: ArrayLike, complement: ArrayLike | None = None) -> Floats:
    """(-log(1 - y) - y) / y**2 for y < 1, without cancellation; 1/2 at y = 0, infinite at y = 1.

    ``complement`` is 1 - y, computed by the caller without the rounding of y: it matters where y is near 1.
    """
    y = np.asarray(y, dtype=float)
    complement = 1.0 - y if complement is None else np.asarray(complement, dtype=float)
    small = np.abs(y) <= 0.5
    if np.all(small):
        return _log_remainder_series(y)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of small y, which the series replaces
        direct = (-np.log(complement) - y) / y / y
    return np.where(small, _log_remainder_series(np.where(small, y, 0.0)), direct)


def _log_remainder_series(y: Floats) -> Floats:
    # -log(1-y) = 2 atanh(r) with r = y / (2-y); its series converges like 1/9 per term for |y| <= 1/2
    gap = 2.0 - y
    square = (y / gap) ** 2
    tail = np.full_like(y, 1.0 / (2 * _SERIES_TERMS + 3))
    for j in range(_SERIES_TERMS - 1, -1, -1):
        tail = tail * square + 1.0 / (2 * j + 3)
    return (1.0 + 2.0 * y * tail / (gap * gap)) / gap


@cache
def gauss_legendre_rule(nodes: int) -> tuple[Floats, Floats]:
    """Nodes in (0, 1) and weights of the Gauss-Legendre rule on the unit interval."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    return (x + 1.0) / 2.0, w / 2.0


@cache
def end_extrapolation(nodes: int) -> Floats:
    """Weights, in two rows, of the polynomial extrapolation from the nodes to the ends 0 and 1."""
    x, _ = gauss_legendre_rule(nodes)
    gaps = x[:, None] - x[None, :]
    np.fill_diagonal(gaps, 1.0)
    rows = [np.prod(np.where(np.eye(nodes, dtype=bool), 1.0, end - x[None, :]), axis=1) for end in (0.0, 1.0)]
    return np.stack(rows) / np.prod(gaps, axis=1)


def gauss_legendre(function: Callable[[Floats], Floats], low: ArrayLike, high: ArrayLike, nodes: int = 30) -> Floats:
    """Integrate a smooth vectorised function over [low, high], elementwise."""
    lo, hi = np.broadcast_arrays(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    result = np.zeros(lo.shape)
    wide = hi > lo  # at a point the integral is 0, and the function may be infinite there
    left, width = lo[wide], hi[wide] - lo[wide]
    total = np.zeros(left.shape)
    for x, w in zip(*gauss_legendre_rule(nodes), strict=True):
        total += w * function(left + x * width)
    result[wide] = total * width
    return result


# Cost distributions with closed-form partial moments: uniform, log-odds, net benefit, Beta, shifted.
#
# Every formula is written as a sum of non-negative terms, so that narrow intervals lose no digits.


class _Bounded(CostDistribution):
    """Base of the families with support on one interval [low, high]."""

    _names: ClassVar[tuple[str, ...]] = ("low", "high")

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        check_interval(low, high)
        self.low, self.high = float(low) + 0.0, float(high)  # -0.0 becomes 0.0

    def flip(self) -> CostDistribution:
        return type(self)(1.0 - self.high, 1.0 - self.low)

    def restrict(self, low: float, high: float) -> CostDistribution:
        lo, hi = clipped(low, high, self)
        return type(self)(**{**self._parameters(), "low": lo, "high": hi})

    def _clip(self, score: ArrayLike) -> Floats:
        return np.clip(np.asarray(score, dtype=float), self.low, self.high)

    def density(self, c: ArrayLike) -> Floats:
        at = np.asarray(c, dtype=float)
        inside = (at >= self.low) & (at <= self.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(inside, self._pdf(at), 0.0)

    @abstractmethod
    def _pdf(self, c: Floats) -> Floats:
        """Density at a cost ratio inside [low, high]."""


class Uniform(_Bounded):
    """Every cost ratio in [low, high] counts the same: the (bounded) Brier score.

    Parameters
    ----------
    low, high : float, default 0 and 1
        Bounds with 0 <= low < high <= 1.

    Raises
    ------
    ValueError
        If the bounds do not satisfy 0 <= low < high <= 1.

    Notes
    -----
    Density 1 on [low, high], mass ``high - low``, loss factor 2. arXiv:2504.04528 Theorem 2.4, whose printed form
    lacks the factor 2.

    Examples
    --------
    >>> from stakes import costs
    >>> float(costs.Uniform(0, 1).negative_loss(0.4))  # half of (0 - 0.4) ** 2
    0.08000000000000002
    """

    kind = "uniform"

    @property
    def mass(self) -> float:
        return self.high - self.low

    def negative_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score)
        return (t - self.low) * (t + self.low) * 0.5

    def positive_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score)
        return (self.high - t) * ((1.0 - self.high) + (1.0 - t)) * 0.5

    def row_loss(self, positive: NDArray[np.bool_], score: Floats) -> Floats:
        # both classes: half of (t - y)**2 - (best - y)**2, as (best - t) ((y - best) + (y - t)) / 2
        t = np.clip(score, self.low, self.high)
        y = positive.astype(np.float64)
        best = y * self.high + (1.0 - y) * self.low  # products do not wait for each row's choice
        loss = y - best
        best -= t
        y -= t
        loss += y
        loss *= best
        loss *= 0.5
        return loss

    def _pdf(self, c: Floats) -> Floats:
        return np.ones_like(c)

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.uniform(self.low, self.high, size)


class LogOddsUniform(_Bounded):
    """Every log-odds of the cost ratio in [logit low, logit high] counts the same: the (bounded) log loss.

    Parameters
    ----------
    low, high : float, default 0 and 1
        Bounds with 0 <= low < high <= 1. With low = 0 or high = 1 the mass is infinite.

    Raises
    ------
    ValueError
        If the bounds do not satisfy 0 <= low < high <= 1.

    Notes
    -----
    Density 1/(c(1-c)), loss factor 1. arXiv:2504.04528 Theorem 3.4, whose printed sign is reversed.

    Examples
    --------
    >>> from stakes import costs
    >>> float(costs.LogOddsUniform(0, 1).positive_loss(0.25))  # -log(0.25)
    1.3862943611198906
    """

    kind = "log_odds_uniform"

    @property
    def mass(self) -> float:
        if self.low == 0.0 or self.high == 1.0:
            return math.inf
        ratio = (self.high - self.low) / self.low
        rise = math.log1p(ratio) if ratio < math.inf else math.log(self.high) - math.log(self.low)
        return rise + math.log1p((self.high - self.low) / (1.0 - self.high))

    loss_factor = 1.0

    def negative_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score)
        rest = 1.0 - t
        with np.errstate(divide="ignore", over="ignore"):
            return np.log1p((t - self.low) / rest)

    def positive_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score) + 0.0  # -0.0 becomes 0.0, whose loss is inf and not nan
        with np.errstate(divide="ignore", over="ignore"):
            loss = np.log1p((self.high - t) / t)
            tiny = np.isinf(loss)
            if np.any(tiny):  # the quotient overflows for subnormal scores; the difference of logarithms does not
                loss = np.where(tiny, math.log(self.high) - np.log(t), loss)
        return loss

    def row_loss(self, positive: NDArray[np.bool_], score: Floats) -> Floats:
        # one logarithm for both classes: log(high / t) for positives, log((1 - low) / (1 - t)) for negatives
        t = self._clip(score) + 0.0  # a score of -0.0 is 0.0
        loss = np.where(positive, self.high - t, t - self.low)
        with np.errstate(divide="ignore", over="ignore"):
            loss /= np.where(positive, t, 1.0 - t)
            np.log1p(loss, out=loss)
        if np.isinf(loss.max(initial=0.0)):  # subnormal scores overflow the quotient
            return super().row_loss(positive, score)
        return loss

    def _pdf(self, c: Floats) -> Floats:
        return 1.0 / (c * (1.0 - c))

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        logits = rng.uniform(
            math.log(self.low) - math.log1p(-self.low), math.log(self.high) - math.log1p(-self.high), size
        )
        return np.clip(1.0 / (1.0 + np.exp(-logits)), self.low, self.high)


class NetBenefitUniform(_Bounded):
    """Every threshold in [low, high] counts the same in *net benefit*: the average net benefit.

    Parameters
    ----------
    low, high : float, default 0 and 1
        Bounds with 0 <= low < high <= 1. With high = 1 the mass is infinite.

    Raises
    ------
    ValueError
        If the bounds do not satisfy 0 <= low < high <= 1.

    Notes
    -----
    Density 1/(1-c), loss factor 1. Average net benefit is prevalence - integral / (high - low);
    arXiv:2504.04528 Theorem 3.7, whose printed sign for positives is reversed.

    Examples
    --------
    >>> from stakes import costs
    >>> round(float(costs.NetBenefitUniform(0.05, 0.2).positive_loss(0.1)), 12)  # 0.2 - 0.1
    0.1
    """

    kind = "net_benefit_uniform"

    @property
    def mass(self) -> float:
        return math.inf if self.high == 1.0 else math.log1p((self.high - self.low) / (1.0 - self.high))

    loss_factor = 1.0

    def negative_loss(self, score: ArrayLike) -> Floats:
        t, room = self._clip(score), 1.0 - self.low
        x = (t - self.low) / room
        return x * (x * log_remainder(x, (1.0 - t) / room) + self.low)

    def positive_loss(self, score: ArrayLike) -> Floats:
        return self.high - self._clip(score)

    def flip(self) -> CostDistribution:
        return _FlippedNetBenefit(1.0 - self.high, 1.0 - self.low)

    def _pdf(self, c: Floats) -> Floats:
        return 1.0 / (1.0 - c)

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        drawn = -np.expm1(math.log1p(-self.low) - self.mass * rng.uniform(size=size))
        return np.clip(drawn, self.low, self.high)


class _FlippedNetBenefit(_Bounded):
    """The measure of 1 - c under a net-benefit distribution: density 1/c."""

    kind = "flipped_net_benefit_uniform"

    @property
    def mass(self) -> float:
        return math.inf if self.low == 0.0 else math.log1p((self.high - self.low) / self.low)

    loss_factor = 1.0

    def negative_loss(self, score: ArrayLike) -> Floats:
        return self._clip(score) - self.low

    def positive_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score)
        x = (self.high - t) / self.high
        return x * (x * log_remainder(x, t / self.high) + (1.0 - self.high))

    def flip(self) -> CostDistribution:
        return NetBenefitUniform(1.0 - self.high, 1.0 - self.low)

    def _pdf(self, c: Floats) -> Floats:
        return 1.0 / c

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        return np.clip(self.high * np.exp(-self.mass * rng.uniform(size=size)), self.low, self.high)

    def __repr__(self) -> str:
        return f"{self.flip()!r}.flip()"


class Beta(_Bounded):
    """Beta-distributed cost ratios, optionally on [low, high] only: Hand's H-measure and the beta losses.

    Parameters
    ----------
    a, b : float
        Shape parameters > 0; the density is c**(a-1) (1-c)**(b-1) / B(a, b).
    low, high : float, default 0 and 1
        Bounds with 0 <= low < high <= 1; the density is not renormalised on them.

    Raises
    ------
    ValueError
        If a shape parameter is not a finite number > 0 or the bounds are not 0 <= low < high <= 1.

    Notes
    -----
    Beta(2, 2) is Hand (2009); Beta(1+pi, 2-pi) Hand and Anagnostopoulos (2014). Loss factor 2.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.Beta(2, 8).mean(), 12)
    0.2
    """

    kind = "beta"
    _names = ("a", "b", "low", "high")

    def __init__(self, a: float, b: float, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__(low, high)
        if not (0.0 < check_number(a, "a") < math.inf and 0.0 < check_number(b, "b") < math.inf):
            raise ValueError(f"a and b must be finite numbers > 0, got ({a}, {b}).")
        self.a, self.b = float(a), float(b)
        # on an interval that is narrow and away from 0 and 1, differences of the incomplete beta function cancel
        self._narrow = self.high - self.low < 0.2 * min(self.low, 1.0 - self.high) / max(self.a, self.b, 1.0)

    @property
    def mass(self) -> float:
        if self._narrow:
            return float(gauss_legendre(self._pdf, self.low, self.high))
        return float(_incomplete_beta_between(self.a, self.b, self.low, self.high))

    def negative_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score)
        if self._narrow:
            return gauss_legendre(lambda c: c * self._pdf(c), self.low, t)
        return self.a / (self.a + self.b) * _incomplete_beta_between(self.a + 1.0, self.b, self.low, t)

    def positive_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score)
        if self._narrow:
            return gauss_legendre(lambda c: (1.0 - c) * self._pdf(c), t, self.high)
        return self.b / (self.a + self.b) * _incomplete_beta_between(self.a, self.b + 1.0, t, self.high)

    def flip(self) -> CostDistribution:
        return Beta(self.b, self.a, 1.0 - self.high, 1.0 - self.low)

    def _pdf(self, c: Floats) -> Floats:
        from scipy.special import betaln, xlog1py, xlogy

        return np.exp(xlogy(self.a - 1.0, c) + xlog1py(self.b - 1.0, -c) - betaln(self.a, self.b))

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        from scipy.special import betainc, betaincc, betainccinv, betaincinv

        below, within = betainc(self.a, self.b, self.low), self.mass * rng.uniform(size=size)
        if below > 0.5:
            drawn = betainccinv(self.a, self.b, betaincc(self.a, self.b, self.low) - within)
        else:
            drawn = betaincinv(self.a, self.b, below + within)
        return np.clip(drawn, self.low, self.high)


def _incomplete_beta_between(a: float, b: float, low: ArrayLike, high: ArrayLike) -> Floats:
    """I_high(a, b) - I_low(a, b), from the complementary function in the upper half of the mass."""
    from scipy.special import betainc, betaincc

    lo, hi = np.broadcast_arrays(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    at_low = betainc(a, b, low)
    between = betainc(a, b, high) - at_low
    upper = np.broadcast_to(at_low > 0.5, lo.shape)
    if np.any(upper):
        between = np.broadcast_to(between, lo.shape).copy()
        between[upper] = betaincc(a, b, lo[upper]) - betaincc(a, b, hi[upper])
    return between


class Shifted(_Bounded):
    """Cost ratios whose log-odds are logistic around logit(median): the proper shifted Brier score.

    Parameters
    ----------
    median : float
        Median cost ratio, in (0, 1).
    low, high : float, default 0 and 1
        Bounds with 0 <= low < high <= 1; the density is not renormalised on them.

    Raises
    ------
    ValueError
        If the median is not in (0, 1) or the bounds are not 0 <= low < high <= 1.

    Notes
    -----
    Density median (1-median) / (median + c (1 - 2 median))**2; median 1/2 is the uniform distribution. The squared
    error of a *shifted score*, as printed in arXiv:2504.04528 Theorem D.10, is improper; this is its proper form.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.Shifted(1 / 8).mean(), 3)
    0.212
    """

    kind = "shifted"
    _names = ("median", "low", "high")

    def __init__(self, median: float, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__(low, high)
        if not 0.0 < check_number(median, "median") < 1.0:
            raise ValueError(f"median must lie in (0, 1), got {median}.")
        if median < _TINY:
            raise ValueError(f"median must be at least {_TINY:.3g}, got {median}.")
        self.median = float(median)

    @property
    def mass(self) -> float:
        # M(high) - M(low) for the distribution function M(c) = c (1 - median) / D(c)
        at_low, at_high = float(self._scale(self.low)), float(self._scale(self.high))
        return (self.median / at_low) * ((1.0 - self.median) * (self.high - self.low) / at_high)

    def negative_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score)
        start = self._scale(self.low)
        return self._moment(t - self.low, self._scale(t), start, 1.0 - 2.0 * self.median, self.low / start)

    def positive_loss(self, score: ArrayLike) -> Floats:
        t = self._clip(score)
        start = self._scale(self.high)
        return self._moment(self.high - t, self._scale(t), start, 2.0 * self.median - 1.0, (1.0 - self.high) / start)

    def _moment(self, width: Floats, scale: Floats, start: float, k: float, edge: float) -> Floats:
        z = width / scale
        # 1 - k z is the ratio of the scales at the two ends
        return self.median * (1.0 - self.median) * z * (z * log_remainder(k * z, start / scale) + edge)

    def _scale(self, c: ArrayLike) -> Any:
        at = np.asarray(c, dtype=float)
        return self.median * (1.0 - at) + (1.0 - self.median) * at

    def flip(self) -> CostDistribution:
        return Shifted(1.0 - self.median, 1.0 - self.high, 1.0 - self.low)

    def _pdf(self, c: Floats) -> Floats:
        return self.median * (1.0 - self.median) / self._scale(c) ** 2

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        at_low, at_high = (c * (1.0 - self.median) / float(self._scale(c)) for c in (self.low, self.high))
        u = rng.uniform(at_low, at_high, size)
        return np.clip(u * self.median / (u * self.median + (1.0 - u) * (1.0 - self.median)), self.low, self.high)


# Cost distributions given by a density: piecewise linear (triangular) in closed form, anything else by quadrature.

_PANEL_NODES = 16
_FIRST_PANELS = 4096
_MAX_PANELS = 100_000
_NARROWEST = 1e-200
_TOLERANCE = 1e-13
_DIVERGES = 1e-6
_BISECTIONS = 60


class _Panels(CostDistribution):
    """A continuous measure cut into panels: full panels are summed once, the panel with the score is integrated."""

    _edges: Floats

    def _set(self, edges: Floats) -> None:
        self._edges = edges
        self.low, self.high = float(edges[0]), float(edges[-1])
        index = np.arange(len(edges) - 1)
        acting = self._panel_moment(index, edges[:-1], edges[1:], negative=True)
        waiting = self._panel_moment(index, edges[:-1], edges[1:], negative=False)
        self._acting = np.concatenate([[0.0], np.cumsum(acting)])
        self._waiting = np.concatenate([np.cumsum(waiting[::-1])[::-1], [0.0]])

    @abstractmethod
    def _panel_moment(self, panel: NDArray[np.intp], low: Floats, high: Floats, *, negative: bool) -> Floats:
        """Integral of c (negative) or 1 - c (positive) times the density over [low, high] inside the panel."""

    @property
    def mass(self) -> float:
        return float(self._acting[-1] + self._waiting[0])

    def negative_loss(self, score: ArrayLike) -> Floats:
        t, panel = self._locate(score)
        return self._acting[panel] + self._panel_moment(panel, self._edges[panel], t, negative=True)

    def positive_loss(self, score: ArrayLike) -> Floats:
        t, panel = self._locate(score)
        return self._waiting[panel + 1] + self._panel_moment(panel, t, self._edges[panel + 1], negative=False)

    def _locate(self, score: ArrayLike) -> tuple[Floats, NDArray[np.intp]]:
        t = np.clip(np.asarray(score, dtype=float), self.low, self.high)
        panel = np.searchsorted(self._edges, t, side="right") - 1
        return t, np.minimum(panel, len(self._edges) - 2)

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        goal = self.mass * rng.uniform(size=size)
        lo, hi = np.full(size, self.low), np.full(size, self.high)
        for _ in range(_BISECTIONS):
            middle = (lo + hi) / 2.0
            below = self.negative_loss(middle) + self._waiting[0] - self.positive_loss(middle) < goal
            lo, hi = np.where(below, middle, lo), np.where(below, hi, middle)
        return (lo + hi) / 2.0


class PiecewiseLinear(_Panels):
    """A density that is linear between knots, zero outside them.

    Parameters
    ----------
    knots : array_like
        Strictly ascending cost ratios in [0, 1], at least two.
    values : array_like
        Density >= 0 at the knots, not all zero. It is taken as it is, not normalised.

    Raises
    ------
    ValueError
        If the knots do not ascend within [0, 1], or a value is negative, not finite, or all are zero.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.PiecewiseLinear([0.0, 0.1, 0.3], [0.0, 5.0, 0.0]).mass, 12)
    0.75
    """

    kind = "piecewise_linear"

    def __init__(self, knots: ArrayLike, values: ArrayLike) -> None:
        at, height = (
            to_floats(to_array(given, name), name) + 0.0 for given, name in ((knots, "knots"), (values, "values"))
        )
        if at.ndim != 1 or at.size < 2 or height.shape != at.shape:
            raise ValueError(f"knots and values must be 1-D of equal length >= 2, got {at.shape} and {height.shape}.")
        if not (np.all(np.diff(at) > 0) and at[0] >= 0.0 and at[-1] <= 1.0):
            raise ValueError(f"knots must ascend strictly within [0, 1], got {at.tolist()}.")
        if not (np.all(np.isfinite(height) & (height >= 0.0)) and np.any(height > 0.0)):
            raise ValueError(f"values must be finite, >= 0 and not all zero, got {height.tolist()}.")
        self._heights = height
        with np.errstate(over="ignore"):
            self._set(at)
        if not 0.0 < self.mass < math.inf:
            raise ValueError(
                f"values must make a mass that floats can hold, got {height.tolist()} of mass {self.mass:g}."
            )

    def _panel_moment(self, panel: NDArray[np.intp], low: Floats, high: Floats, *, negative: bool) -> Floats:
        # Simpson's rule is exact for the quadratic c * density; distances to the ends keep their digits
        left, right = self._edges[panel], self._edges[panel + 1]
        width, before, after = high - low, low - left, right - high
        total: Floats = np.zeros(np.broadcast_shapes(np.shape(low), np.shape(high)))
        for share, weight in ((0.0, 1.0), (0.5, 4.0), (1.0, 1.0)):
            step, rest = share * width, (1.0 - share) * width
            height = self._heights[panel] * (after + rest) + self._heights[panel + 1] * (before + step)
            at = low + step if negative else (1.0 - high) + rest
            total = total + weight * at * height
        return total * width / (6.0 * (right - left))

    def density(self, c: ArrayLike) -> Floats:
        return np.interp(np.asarray(c, dtype=float), self._edges, self._heights, left=0.0, right=0.0)

    def restrict(self, low: float, high: float) -> CostDistribution:
        lo, hi = clipped(low, high, self)
        inner = self._edges[(self._edges > lo) & (self._edges < hi)]
        knots = np.concatenate([[lo], inner, [hi]])
        return PiecewiseLinear(knots, np.interp(knots, self._edges, self._heights))

    def flip(self) -> CostDistribution:
        return PiecewiseLinear((1.0 - self._edges)[::-1], self._heights[::-1])

    def _parameters(self) -> dict[str, Any]:
        return {"knots": self._edges.tolist(), "values": self._heights.tolist()}


class Triangular(PiecewiseLinear):
    """Cost ratios between low and high, most likely the mode: what an expert can state in three numbers.

    Parameters
    ----------
    low, mode, high : float
        0 <= low <= mode <= high <= 1 with low < high.

    Raises
    ------
    ValueError
        If the three numbers are not in order within [0, 1].

    Notes
    -----
    Mass 1, loss factor 2. Restricting it gives a :class:`PiecewiseLinear`.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.Triangular(0.02, 0.05, 0.20).mean(), 12)
    0.09
    """

    kind = "triangular"

    def __init__(self, low: float, mode: float, high: float) -> None:
        check_interval(low, high, "low, high")
        if not low <= check_number(mode, "mode") <= high:
            raise ValueError(f"low, mode, high must be in order, got ({low}, {mode}, {high}).")
        low, self.mode, high = float(low) + 0.0, float(mode) + 0.0, float(high)
        if not math.isfinite(2.0 / (high - low)):
            raise ValueError(f"low and high must lie far enough apart for a density, got ({low}, {high}).")
        corners = {low: 0.0, high: 0.0, self.mode: 2.0 / (high - low)}
        knots = sorted(corners)
        super().__init__(knots, [corners[k] for k in knots])

    def flip(self) -> CostDistribution:
        return Triangular(1.0 - self.high, 1.0 - self.mode, 1.0 - self.low)

    def _parameters(self) -> dict[str, Any]:
        return {"low": self.low, "mode": self.mode, "high": self.high}


class Density(_Panels):
    """Any integrable density on [low, high], integrated by adaptive Gauss-Legendre panels.

    Parameters
    ----------
    pdf : callable
        Vectorised density, finite and >= 0 inside (low, high). It is taken as it is, not normalised.
    low, high : float
        Bounds with 0 <= low < high <= 1.

    Raises
    ------
    ValueError
        If the bounds are out of order, the density is negative or not finite, or it is not integrable.

    Notes
    -----
    Loss factor 2. Partial moments of a bounded density are accurate to 1e-12 of the mass, jumps included, and to 1e-10
    where it is infinite at 0. Next to 1 numbers lie 1e-16 apart, too wide for an infinity there: give its mirror image
    and ``flip()`` it. A peak narrower than about 1e-5 of the range may be missed. A function cannot be written to JSON,
    so ``to_dict`` raises.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import costs
    >>> bell = costs.Density(lambda c: np.exp(-(((c - 0.1) / 0.02) ** 2)), 0.0, 0.5)
    >>> round(bell.mean(), 9)
    0.1
    """

    kind = "density"
    _names = ("pdf", "low", "high")

    def __init__(self, pdf: Callable[[Floats], Floats], low: float, high: float) -> None:
        check_interval(low, high)
        if not callable(pdf):
            raise TypeError(f"pdf must be a function of cost ratios, got {pdf!r}.")
        self.pdf, self.low, self.high = pdf, float(low) + 0.0, float(high)
        self._set(self._refine(self.low, self.high))

    def _refine(self, low: float, high: float) -> Floats:
        """Halve panels until each agrees with its two halves."""
        waiting = np.linspace(low, high, _FIRST_PANELS + 1)
        lo, hi = waiting[:-1], waiting[1:]
        done: list[Floats] = [np.array([high])]
        settled = 0.0
        while lo.size:
            whole, _ = self._mass_with_error(lo, hi)
            middle = (lo + hi) / 2.0
            (left, off_left), (right, off_right) = self._mass_with_error(lo, middle), self._mass_with_error(middle, hi)
            halves = left + right
            total = max(settled + float(halves.sum()), np.finfo(float).tiny)
            off = np.maximum(np.abs(whole - halves), off_left + off_right)
            rough = (off > _TOLERANCE * total) & (hi - lo > 4.0 * np.spacing(hi))
            stuck = rough & (hi - lo < _NARROWEST)
            if np.any(off[stuck] > _DIVERGES * total):
                raise ValueError(f"pdf must be integrable on [{low}, {high}]; its mass near {lo[stuck][0]} diverges.")
            rough &= ~stuck
            settled += float(halves[~rough].sum())
            done.append(lo[~rough])
            lo, hi = np.concatenate([lo[rough], middle[rough]]), np.concatenate([middle[rough], hi[rough]])
            if lo.size > _MAX_PANELS or not math.isfinite(total):
                raise ValueError(f"pdf must be integrable on [{low}, {high}]; the quadrature did not converge.")
        if settled == 0.0:
            raise ValueError(f"pdf must not vanish on [{low}, {high}], got 0 everywhere it was evaluated.")
        return np.unique(np.concatenate(done))

    def _mass_with_error(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return each panel's mass and a bound on the mass missed near its ends, as by a jump."""
        nodes, weights = gauss_legendre_rule(_PANEL_NODES)
        width = high - low
        inside = self._evaluate_pdf(low + nodes[:, None] * width)
        gap, beside = nodes[0] * width, _TOLERANCE * (self.high - self.low)
        close = np.minimum(beside, gap)
        ends = self._evaluate_pdf(np.stack([low + close, high - close]))
        hidden = np.abs(end_extrapolation(_PANEL_NODES) @ inside - ends).sum(axis=0) * gap
        return (weights @ inside) * width, np.where(gap > beside, hidden, 0.0)

    def _clip_inside(self, c: Floats) -> Floats:
        """Clip cost ratios to the open interval of the bounds, where the density must be finite."""
        return np.clip(c, np.nextafter(self.low, 1.0), np.nextafter(self.high, 0.0))

    def _evaluate_pdf(self, c: Floats) -> Floats:
        c = self._clip_inside(c)
        try:
            value = np.asarray(self.pdf(c), dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"pdf must return a number for each of an array of cost ratios: {error}") from error
        if value.shape not in {(), c.shape}:
            raise ValueError(f"pdf must return one value for each cost ratio, got shape {value.shape} for {c.shape}.")
        value = np.broadcast_to(value, c.shape)
        good = np.isfinite(value) & (value >= 0.0)
        if not np.all(good):
            first = np.unravel_index(int(np.argmin(good)), c.shape)
            raise ValueError(f"pdf must be finite and >= 0, got {value[first]} at c = {c[first]}.")
        return value

    def _panel_moment(self, panel: NDArray[np.intp], low: Floats, high: Floats, *, negative: bool) -> Floats:  # noqa: ARG002  (the density is one function)
        def moment(c: Floats) -> Floats:
            c = self._clip_inside(c)
            return (c if negative else 1.0 - c) * self.pdf(c)

        return gauss_legendre(moment, low, high, _PANEL_NODES)

    def density(self, c: ArrayLike) -> Floats:
        at = np.asarray(c, dtype=float)
        inside = (at >= self.low) & (at <= self.high)
        return np.where(inside, self.pdf(np.clip(at, self.low, self.high)), 0.0)

    def restrict(self, low: float, high: float) -> CostDistribution:
        return Density(self.pdf, *clipped(low, high, self))

    def flip(self) -> CostDistribution:
        return _FlippedDensity(self)

    def to_dict(self) -> dict[str, Any]:
        raise ValueError("a Density holds a function and cannot be written to JSON; use PiecewiseLinear instead.")

    def _key(self) -> tuple[Any, ...]:
        return (self.kind, self.pdf, self.low, self.high)


class _FlippedDensity(CostDistribution):
    """The measure of 1 - c under a density, which is evaluated where the caller defined it."""

    kind = "flipped_density"
    _names = ("base",)

    def __init__(self, base: Density) -> None:
        self.base = base
        self.low, self.high = 1.0 - base.high, 1.0 - base.low

    @property
    def mass(self) -> float:
        return self.base.mass

    def negative_loss(self, score: ArrayLike) -> Floats:
        return self.base.positive_loss(1.0 - np.asarray(score, dtype=float))

    def positive_loss(self, score: ArrayLike) -> Floats:
        return self.base.negative_loss(1.0 - np.asarray(score, dtype=float))

    def density(self, c: ArrayLike) -> Floats:
        return self.base.density(1.0 - np.asarray(c, dtype=float))

    def restrict(self, low: float, high: float) -> CostDistribution:
        lo, hi = clipped(low, high, self)
        return self.base.restrict(1.0 - hi, 1.0 - lo).flip()

    def flip(self) -> CostDistribution:
        return self.base

    def to_dict(self) -> dict[str, Any]:
        return self.base.to_dict()

    def _key(self) -> tuple[Any, ...]:
        return (self.kind, *self.base._key())

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        return 1.0 - self.base._draw(size, rng)


# The values that ``costs=`` and ``bounds=`` accept, for every function that takes either.

CostsLike = CostDistribution | tuple[float, float] | float


def as_costs(costs: CostsLike, name: str = "costs") -> CostDistribution:
    """Make a cost distribution of what ``costs=`` was given.

    Parameters
    ----------
    costs : CostDistribution, tuple of float, or float
        A distribution, as it is; a pair (low, high), for a uniform distribution; or one cost ratio.
    name : str, default "costs"
        What the argument is called in error messages.

    Returns
    -------
    CostDistribution
        The distribution itself, ``Uniform(low, high)`` or ``Fixed(c)``.

    Raises
    ------
    ValueError
        For anything else, such as text, percentages, a reversed pair or three numbers.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.as_costs((0.02, 0.10))
    Uniform(low=0.02, high=0.1)
    >>> costs.as_costs(0.1)
    Fixed(c=0.1, tie=1.0)
    """
    given: object = costs
    if isinstance(given, CostDistribution):
        return given
    if _is_number(given):
        return Fixed(check_share(given, name))
    if _pair(given, name) is None:
        raise ValueError(
            f"{name} must be a cost distribution, a pair (low, high) or one number in [0, 1], got {brief(given)}"
            f"{as_costs_of(given)}."
        )
    return Uniform(*as_bounds(given, name))


def as_bounds(bounds: Any, name: str = "bounds") -> tuple[float, float]:
    """Return a pair with 0 <= low < high <= 1 as two floats.

    Parameters
    ----------
    bounds : tuple of float
        Smallest and largest plausible threshold.
    name : str, default "bounds"
        What the argument is called in error messages.

    Returns
    -------
    tuple of float
        The pair (low, high).

    Raises
    ------
    ValueError
        For anything else, such as text, percentages, a reversed pair or three numbers.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.as_bounds([0, 0.2])
    (0.0, 0.2)
    """
    pair = _pair(bounds, name)
    if pair is None:
        text = as_costs_of(bounds) if isinstance(bounds, str) else ""
        raise ValueError(f"{name} must be a pair of numbers (low, high), got {brief(bounds)}{text}.")
    low, high = pair
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"{name} must satisfy 0 <= low < high <= 1, got ({low:g}, {high:g}){as_range(low, high)}.")
    return low + 0.0, high


def check_share(value: Any, name: str) -> float:
    """Return a number in [0, 1] or raise."""
    number = check_number(value, name)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must lie in [0, 1], got {number:g}{in_percent(number)}.")
    return number


def _is_number(value: Any) -> bool:
    """Whether a value is one real number of Python or numpy, a decimal included, and not a boolean."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return isinstance(value, Real | Decimal) and not isinstance(value, (bool, np.bool_))


def _pair(values: Any, name: str) -> tuple[float, float] | None:
    """A list, tuple or array of two real numbers as floats, or None for anything else."""
    if not isinstance(values, (list, tuple)) and not (isinstance(values, np.ndarray) and values.ndim == 1):
        return None
    if len(values) != 2:
        return None
    low, high = values
    if not (_is_number(low) and _is_number(high)):
        return None
    return check_number(low, f"the first of {name}"), check_number(high, f"the second of {name}")


# Three scales of one integral over cost ratios: mean regret per decision, the integral itself, the customary loss.

Scale = Literal["regret", "integral", "loss"]
REGRET_SCALES = ("regret", "integral", "loss")


def check_scale(scale: Scale | None, costs: CostDistribution) -> tuple[Scale, float]:
    """Return the scale and the factor from the integral to it; None picks the scale that is defined."""
    if scale is None:
        scale = "regret" if math.isfinite(costs.mass) else "integral" if costs.loss_factor is None else "loss"
    check_choice(scale, "scale", REGRET_SCALES)
    if scale == "integral":
        return scale, 1.0
    if scale == "regret":
        if costs.mass < _TINY:
            raise ValueError(
                f'scale="regret" divides by the mass of costs, which must be at least {_TINY:.3g}, got {costs!r} '
                f"of mass {costs.mass:.3g}."
            )
        return scale, 1.0 / costs.mass if costs.mass < math.inf else math.nan
    if costs.loss_factor is None:
        raise ValueError(f'scale="loss" is not defined for {costs!r}, whose parts have unlike loss factors.')
    return scale, costs.loss_factor
