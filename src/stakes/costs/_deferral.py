"""The option to defer: a third action with a price, which turns a cost distribution into another one.

At cost ratio c the expected costs of acting, waiting and deferring are three lines in the probability, so the decisions
are two thresholds, low and high. What the three actions cost a row is what two thresholds of their own would: ``low``
with weight (1 - c) (1 - b) + c a and ``high`` with weight c (1 - a) + (1 - c) b, which add up to one and have mean c.
The option is therefore a mean-preserving spread of the costs, and whatever takes costs takes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Floats, check_number, check_size, check_unit
from stakes.costs._base import CostDistribution, Weighted
from stakes.costs._distributions import Empirical

_ROUNDED = 1.0 - 8.0 * np.finfo(float).eps  # a fee equal to the possible saving, up to rounding, saves nothing
_ROUNDING = 1e-14  # what deferring must gain, so that rounding defers no score at an end of the zone


@dataclass(frozen=True)
class Deferral:
    """What it costs not to decide by the score, but to leave a case to someone or something else.

    Parameters
    ----------
    fee : float, default 0
        Price of each case deferred, >= 0, where a false positive and a false negative cost 1 together.
    false_positive_rate, false_negative_rate : float, default 0
        How often whoever decides then is wrong about negatives and about positives, in [0, 1].

    Raises
    ------
    ValueError
        For a fee that is negative or not finite, and for rates outside [0, 1].

    Notes
    -----
    Deferring a negative costs ``fee + false_positive_rate * c``, a positive
    ``fee + false_negative_rate * (1 - c)`` (Chow 1970, doi:10.1109/TIT.1970.1054406, for a fee alone). It can pay only
    at cost ratios where ``fee < c (1 - c) (1 - false_positive_rate - false_negative_rate)``.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.Deferral(fee=0.05).most_at(0.2)
    0.16000000000000003
    """

    fee: float = 0.0
    false_positive_rate: float = 0.0
    false_negative_rate: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "fee", check_size(check_number(self.fee, "fee"), "fee", zero=True))
        for name in ("false_positive_rate", "false_negative_rate"):
            object.__setattr__(self, name, check_unit(getattr(self, name), name))

    @classmethod
    def from_error_fraction(cls, fraction: float) -> Self:
        """Deferring costs this fraction of what the error would: no fee, and both rates equal to it.

        Parameters
        ----------
        fraction : float
            In [0, 1]; from 1/2 on it never pays.

        Returns
        -------
        Deferral

        Raises
        ------
        ValueError
            If the fraction lies outside [0, 1].

        Examples
        --------
        >>> from stakes import costs
        >>> costs.Deferral.from_error_fraction(0.25)
        Deferral(fee=0.0, false_positive_rate=0.25, false_negative_rate=0.25)
        """
        share = check_unit(fraction, "fraction")
        return cls(0.0, share, share)

    @classmethod
    def from_cost(
        cls, amount: float, *, fp: float, fn: float, false_positive_rate: float = 0.0, false_negative_rate: float = 0.0
    ) -> Self:
        """Turn an amount of money for each case deferred into a fee.

        Parameters
        ----------
        amount : float
            Price of deferring one case.
        fp, fn : float
            What a false positive and a false negative cost, in the same unit.
        false_positive_rate, false_negative_rate : float, default 0
            How often whoever decides then is wrong.

        Returns
        -------
        Deferral
            With fee ``amount / (fp + fn)``.

        Raises
        ------
        ValueError
            If fp and fn are not finite numbers >= 0 with a positive sum.

        Examples
        --------
        >>> from stakes import costs
        >>> costs.Deferral.from_cost(50, fp=200, fn=800)
        Deferral(fee=0.05, false_positive_rate=0.0, false_negative_rate=0.0)
        """
        total = check_number(fp, "fp") + check_number(fn, "fn")
        if not (fp >= 0.0 and fn >= 0.0 and 0.0 < total < math.inf):
            raise ValueError(f"fp and fn must be finite numbers >= 0, not both zero, got {fp} and {fn}.")
        return cls(check_number(amount, "amount") / total, false_positive_rate, false_negative_rate)

    @property
    def _youden_index(self) -> float:
        """Youden's index of the deferred decision: 1 minus both error rates, at least 0."""
        return max(1.0 - self.false_positive_rate - self.false_negative_rate, 0.0)

    def most_at(self, threshold: float) -> float:
        """Return the fee from which on no case is worth deferring at a cost ratio.

        Parameters
        ----------
        threshold : float
            The cost ratio c, in [0, 1].

        Returns
        -------
        float
            c (1 - c) (1 - false_positive_rate - false_negative_rate), or 0 where no fee is low enough.

        Raises
        ------
        ValueError
            If the threshold lies outside [0, 1].

        Examples
        --------
        >>> from stakes import costs
        >>> costs.Deferral(false_positive_rate=0.2, false_negative_rate=0.3).most_at(0.5)
        0.125
        """
        c = check_unit(threshold, "threshold")
        return c * (1.0 - c) * self._youden_index

    def note_at(self, threshold: float) -> str:
        """Say where deferring is useless or free at a cost ratio; empty where it has a price that may pay.

        Parameters
        ----------
        threshold : float
            The cost ratio c, in [0, 1].

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If the threshold lies outside [0, 1].

        Examples
        --------
        >>> from stakes import costs
        >>> costs.Deferral(fee=0.2).note_at(0.2)
        'deferring never pays: at threshold 0.2 the fee would have to be below 0.16, and it is 0.2'
        """
        most = self.most_at(threshold)
        if self.fee < most * _ROUNDED:
            free = not any((self.fee, self.false_positive_rate, self.false_negative_rate))
            everyone = "every case with a probability between 0 and 1 is deferred"
            return f"deferring is free and never wrong: {everyone}" if free else ""
        if threshold in {0.0, 1.0}:
            return f"deferring never pays at threshold {threshold:g}: one of the two mistakes costs nothing there"
        if most == 0.0:
            return f"deferring never pays at threshold {threshold:g}: who decides then is wrong too often, at any fee"
        return (
            f"deferring never pays: at threshold {threshold:g} the fee would have to be below {most:g}, "
            f"and it is {self.fee:g}"
        )

    def zone(self, c: ArrayLike) -> tuple[Floats, Floats]:
        """Return the two ends of the probabilities that are deferred at each cost ratio; both are c where none is.

        Parameters
        ----------
        c : array_like
            Cost ratios in [0, 1].

        Returns
        -------
        low, high : ndarray
            Defer where low < p < high.

        Examples
        --------
        >>> from stakes import costs
        >>> low, high = costs.Deferral(fee=0.05).zone([0.2, 0.01])
        >>> low.tolist(), high.round(12).tolist()
        ([0.0625, 0.01], [0.75, 0.01])
        """
        c = np.asarray(c, dtype=np.float64)
        a, b = self.false_positive_rate, self.false_negative_rate
        open_ = self.fee < c * (1.0 - c) * (self._youden_index * _ROUNDED)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            low = (self.fee + a * c) / ((1.0 - c) * (1.0 - b) + a * c)
            high = (c * (1.0 - a) - self.fee) / (c * (1.0 - a) + b * (1.0 - c))
        return np.where(open_, low, c), np.where(open_, high, c)

    def decided_zone(self, c: ArrayLike) -> tuple[Floats, Floats]:
        """Return the two ends as decisions take them: where deferring gains more than rounding.

        Parameters
        ----------
        c : array_like
            Cost ratios in [0, 1].

        Returns
        -------
        low, high : ndarray
            Defer where low < p < high; both are c where none is.

        Examples
        --------
        >>> from stakes import costs
        >>> low, high = costs.Deferral(fee=0.05).decided_zone(0.2)
        >>> bool(high <= 0.75)  # where acting costs as much
        True
        """
        low, high = self.zone(c)
        within = replace(self, fee=self.fee + _ROUNDING).zone(c)
        open_ = within[0] < within[1]
        return np.where(open_ & (low == 0.0), low, within[0]), np.where(open_ & (high == 1.0), high, within[1])

    def deferred_between(self, score: ArrayLike) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return the two ends of the cost ratios at which each probability is deferred, and whether there are any.

        Parameters
        ----------
        score : array_like
            Probabilities; beyond [0, 1] nothing is deferred.

        Returns
        -------
        low, high : ndarray
            Defer where low < c < high; both are the probability where it never is.
        deferred : ndarray of bool

        Examples
        --------
        >>> from stakes import costs
        >>> low, high, _ = costs.Deferral(fee=0.05).deferred_between([0.5])
        >>> low.tolist(), high.tolist()
        ([0.1], [0.9])
        """
        p = np.asarray(score, dtype=np.float64)
        a, b = self.false_positive_rate, self.false_negative_rate
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            open_ = self.fee < p * (1.0 - p) * (self._youden_index * _ROUNDED)
            low = (self.fee + p * b) / ((1.0 - p) * (1.0 - a) + p * b)
            high = (p * (1.0 - b) - self.fee) / (p * (1.0 - b) + (1.0 - p) * a)
        return np.where(open_, low, p), np.where(open_, high, p), open_

    def where_deferred(self, costs: CostDistribution, score: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Integrate over the cost ratios at which each probability is deferred, and at which it is acted on.

        Parameters
        ----------
        costs : CostDistribution
            How much each cost ratio counts.
        score : array_like
            Probabilities.

        Returns
        -------
        rising, falling : ndarray
            Integrals of c and of 1 - c over the cost ratios at which each is deferred; their sum is the mass of these.
        acted : ndarray
            Mass of the cost ratios at which each is acted on.

        Examples
        --------
        >>> from stakes import costs
        >>> rising, falling, acted = costs.Deferral(fee=0.05).where_deferred(costs.Uniform(0, 1), [0.5])
        >>> (rising + falling).round(12).tolist(), acted.round(12).tolist()
        ([0.8], [0.1])
        """
        s = np.asarray(score, dtype=np.float64)
        if isinstance(costs, Weighted):
            found = [self.where_deferred(part, s) for part in costs.parts]
            columns = zip(*found, strict=True)
            rising, falling, acted = (np.tensordot(costs.factors, np.stack(each), 1) for each in columns)
            return rising, falling, acted
        values, weights = costs.atoms
        if len(values):
            low, high = self.decided_zone(values)
            last = np.searchsorted(high, s, side="right")
            first = np.maximum(np.searchsorted(low, s, side="left"), last)
            sums = np.concatenate([np.zeros((2, 1)), np.cumsum([values * weights, (1.0 - values) * weights], 1)], 1)
            rising, falling = sums[:, first] - sums[:, last]
            at = np.maximum(last - 1, 0)
            tied = (s == values[at]) & (low[at] == high[at])  # where a score equals a cost ratio that is never deferred
            return rising, falling, sums[:, last].sum(axis=0) - (1.0 - costs.tie) * np.where(tied, weights[at], 0.0)
        low, high, open_ = self.deferred_between(s)
        rising, falling = np.zeros(s.shape), np.zeros(s.shape)
        rising[open_] = costs.negative_loss(high[open_]) - costs.negative_loss(low[open_])
        falling[open_] = costs.positive_loss(low[open_]) - costs.positive_loss(high[open_])
        with np.errstate(invalid="ignore"):  # an infinite mass
            acted = costs.negative_loss(low) + (costs.positive_loss(-np.inf) - costs.positive_loss(low))
        return rising, falling, acted

    def applied_to(self, costs: CostDistribution) -> CostDistribution:
        """Return the cost distribution of those who may defer: its thresholds cost what the three actions do.

        Parameters
        ----------
        costs : CostDistribution
            How much each cost ratio counts.

        Returns
        -------
        CostDistribution
            Of the same mass and mean: each cost ratio c is spread over the two ends of what is deferred at c.

        Examples
        --------
        >>> from stakes import costs, expected_regret
        >>> spread = costs.Deferral(fee=0.05).applied_to(costs.Fixed(0.2))
        >>> round(expected_regret([1], [0.5], costs=spread), 12)  # deferred: the fee
        0.05
        """
        if isinstance(costs, Weighted):
            return Weighted([self.applied_to(part) for part in costs.parts], costs.factors)
        values, weights = costs.atoms
        if not len(values):
            return _Deferring(costs, self)
        low, high = self.decided_zone(values)
        kept, parts = low == high, []
        above = values * (1.0 - self.false_positive_rate) + (1.0 - values) * self.false_negative_rate
        for place, share, tie in ((low, 1.0 - above, 0.0), (high, above, 1.0)):
            parts.append((place[~kept], (share * weights)[~kept], tie))
        parts.append((values[kept], weights[kept], costs.tie))
        found = [(Empirical(*part), float(part[1].sum())) for part in parts if np.any(part[1])]
        return Weighted([part for part, _ in found], [mass for _, mass in found])


def as_deferral(deferral: Deferral | float) -> Deferral:
    """Convert the argument ``deferral=`` to an option to defer: a number is a fee.

    Parameters
    ----------
    deferral : Deferral or float
        The option, or its fee.

    Returns
    -------
    Deferral

    Raises
    ------
    ValueError
        For anything else.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.as_deferral(0.05)
    Deferral(fee=0.05, false_positive_rate=0.0, false_negative_rate=0.0)
    """
    if isinstance(deferral, Deferral):
        return deferral
    fee = check_number(deferral, "deferral")
    if not 0.0 <= fee < math.inf:
        raise ValueError(f"deferral must be a Deferral or a finite fee >= 0, got {deferral}.")
    return Deferral(fee)


def _multiply_price(price: float, amount: Floats) -> Floats | float:
    """Multiply price and amount, where a price of zero makes even an infinite amount zero."""
    return price * amount if price else 0.0


class _Deferring(CostDistribution):
    """A measure without atoms, spread by the option to defer."""

    kind = "deferring"

    def __init__(self, costs: CostDistribution, deferral: Deferral) -> None:
        self.costs, self.deferral = costs, deferral
        low, high = deferral.zone([costs.low, costs.high])
        self.low, self.high = float(low[0]), float(high[1])

    @property
    def mass(self) -> float:
        return self.costs.mass

    @property
    def loss_factor(self) -> float | None:  # type: ignore[override]
        return self.costs.loss_factor

    def negative_loss(self, score: ArrayLike) -> Floats:
        rising, falling, _ = self.deferral.where_deferred(self.costs, score)
        early, _, _ = self.deferral.deferred_between(score)
        fee, error = self.deferral.fee, self.deferral.false_positive_rate
        return self.costs.negative_loss(early) + _multiply_price(fee, rising + falling) + _multiply_price(error, rising)

    def positive_loss(self, score: ArrayLike) -> Floats:
        rising, falling, _ = self.deferral.where_deferred(self.costs, score)
        _, late, _ = self.deferral.deferred_between(score)
        fee, error = self.deferral.fee, self.deferral.false_negative_rate
        return self.costs.positive_loss(late) + _multiply_price(fee, rising + falling) + _multiply_price(error, falling)

    def density(self, c: ArrayLike) -> Floats:
        s = np.asarray(c, dtype=np.float64)
        low, high, open_ = self.deferral.deferred_between(s)
        a, b, fee = self.deferral.false_positive_rate, self.deferral.false_negative_rate, self.deferral.fee
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rise_low = (b * (1.0 - a) + fee * self.deferral._youden_index) / ((1.0 - s) * (1.0 - a) + s * b) ** 2
            rise_high = (a * (1.0 - b) + fee * self.deferral._youden_index) / (s * (1.0 - b) + (1.0 - s) * a) ** 2
            above = (1.0 - low) * b + low * (1.0 - a)
            below = (1.0 - high) * (1.0 - b) + high * a
            spread = above * rise_low * self.costs.density(low) + below * rise_high * self.costs.density(high)
        return np.where(open_, spread, self.costs.density(s))

    def restrict(self, low: float, high: float) -> CostDistribution:
        raise ValueError(f"costs with an option to defer cannot be restricted to ({low}, {high}): restrict them first.")

    def flip(self) -> CostDistribution:
        swapped = Deferral(self.deferral.fee, self.deferral.false_negative_rate, self.deferral.false_positive_rate)
        return _Deferring(self.costs.flip(), swapped)

    def _parameters(self) -> dict[str, Any]:
        return {"costs": self.costs.to_dict(), "deferral": vars(self.deferral)}

    @classmethod
    def _build(cls, arguments: dict[str, Any]) -> Self:
        return cls(CostDistribution.from_dict(arguments["costs"]), Deferral(**arguments["deferral"]))

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        c = self.costs._draw(size, rng)
        low, high = self.deferral.zone(c)
        above = c * (1.0 - self.deferral.false_positive_rate) + (1.0 - c) * self.deferral.false_negative_rate
        return np.where(rng.random(size) < above, high, low)
