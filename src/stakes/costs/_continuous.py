"""Cost distributions with closed-form partial moments: uniform, log-odds, net benefit, Beta, shifted.

Every formula is written as a sum of non-negative terms, so that narrow intervals lose no digits.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import check_number
from stakes.costs._base import CostDistribution, check_interval, clipped
from stakes.costs._quadrature import gauss_legendre, log_remainder

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


class _Bounded(CostDistribution):
    """What the families on one interval [low, high] share."""

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        check_interval(low, high)
        self.low, self.high = float(low), float(high)

    def restrict(self, low: float, high: float) -> CostDistribution:
        lo, hi = clipped(low, high, self)
        return type(self)(**{**self._parameters(), "low": lo, "high": hi})

    def _parameters(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

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
        # one expression for both classes: half of (t - y)**2 - (best - y)**2, as (best - t) ((y - best) + (y - t)) / 2
        t = np.clip(score, self.low, self.high)
        y = positive.astype(np.float64)
        best = np.where(positive, self.high, self.low)
        loss = y - best
        best -= t
        y -= t
        loss += y
        loss *= best
        loss *= 0.5
        return loss

    def flip(self) -> CostDistribution:
        return Uniform(1.0 - self.high, 1.0 - self.low)

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

    @property
    def loss_factor(self) -> float | None:
        return 1.0

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

    def flip(self) -> CostDistribution:
        return LogOddsUniform(1.0 - self.high, 1.0 - self.low)

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

    @property
    def loss_factor(self) -> float | None:
        return 1.0

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

    @property
    def loss_factor(self) -> float | None:
        return 1.0

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

    def _parameters(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, **super()._parameters()}

    def _pdf(self, c: Floats) -> Floats:
        from scipy.special import betaln, xlog1py, xlogy

        return np.exp(xlogy(self.a - 1.0, c) + xlog1py(self.b - 1.0, -c) - betaln(self.a, self.b))

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        from scipy.special import betainc, betaincinv

        at = betainc(self.a, self.b, self.low) + self.mass * rng.uniform(size=size)
        return np.clip(betaincinv(self.a, self.b, at), self.low, self.high)


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

    def __init__(self, median: float, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__(low, high)
        if not 0.0 < check_number(median, "median") < 1.0:
            raise ValueError(f"median must lie in (0, 1), got {median}.")
        self.median = float(median)

    @property
    def mass(self) -> float:
        # M(high) - M(low) for the distribution function M(c) = c (1 - median) / D(c)
        at_low, at_high = float(self._scale(self.low)), float(self._scale(self.high))
        return self.median * (1.0 - self.median) * (self.high - self.low) / (at_low * at_high)

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

    def _parameters(self) -> dict[str, Any]:
        return {"median": self.median, **super()._parameters()}

    def _pdf(self, c: Floats) -> Floats:
        return self.median * (1.0 - self.median) / self._scale(c) ** 2

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        at_low, at_high = (c * (1.0 - self.median) / float(self._scale(c)) for c in (self.low, self.high))
        u = rng.uniform(at_low, at_high, size)
        return np.clip(u * self.median / (u * self.median + (1.0 - u) * (1.0 - self.median)), self.low, self.high)
