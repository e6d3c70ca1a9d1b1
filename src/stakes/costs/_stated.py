"""Cost distributions from stated ranges, odds, profits and amounts of money."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from stakes.base.validation import Floats, check_number, check_size
from stakes.costs._base import CostDistribution, Weighted
from stakes.costs._distributions import Beta, Density, Empirical, Fixed, NetBenefitUniform, Uniform

# Cost ratios from stated costs of mistakes.


def from_odds(odds: str | float) -> float:
    """Turn odds of false-positive to false-negative cost into a cost ratio: "1:50" is 1/51.

    Parameters
    ----------
    odds : str or float
        "1:50" or "1/50" (one missed positive is as bad as 50 false alarms), or the quotient 0.02.

    Returns
    -------
    float
        The cost ratio odds / (1 + odds), in [0, 1].

    Raises
    ------
    ValueError
        If the odds are not two non-negative numbers (or one), not both zero.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.from_odds("1:50") == 1 / 51
    True
    """
    try:
        parts = (
            [float(p) for p in odds.replace("/", ":").split(":")]
            if isinstance(odds, str)
            else [check_number(odds, "odds")]
        )
    except ValueError:
        raise ValueError(f'odds must look like "1:50", got {odds!r}.') from None
    for_acting, against = parts if len(parts) == 2 else (parts[0], 1.0)
    good = len(parts) <= 2 and for_acting >= 0.0 and against >= 0.0
    if not (good and 0.0 < for_acting + against < math.inf):
        raise ValueError(f'odds must be two non-negative finite numbers such as "1:50", not both zero, got {odds!r}.')
    return for_acting / (for_acting + against) + 0.0


def from_false_alarms_per_miss(false_alarms: float) -> float:
    """Cost ratio at which one missed positive is as bad as this many false alarms: 50 gives 1/51.

    Parameters
    ----------
    false_alarms : float
        False alarms that weigh as much as one miss, >= 0.

    Returns
    -------
    float
        1 / (1 + false_alarms), in (0, 1].

    Raises
    ------
    ValueError
        If the number is negative or not finite.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.from_false_alarms_per_miss(9)
    0.1
    """
    return 1.0 / (1.0 + check_size(false_alarms, "false_alarms", zero=True))


def from_harm_to_benefit(ratio: float) -> float:
    """Cost ratio from the ratio of an intervention's harm to its benefit: h gives h / (1 + h).

    Parameters
    ----------
    ratio : float
        Harm of acting on a negative divided by benefit of acting on a positive, >= 0.

    Returns
    -------
    float
        The cost ratio, in [0, 1).

    Raises
    ------
    ValueError
        If the ratio is negative or not finite.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.from_harm_to_benefit(0.25)
    0.2
    """
    number = check_size(ratio, "ratio", zero=True)
    return number / (1.0 + number)


def from_cost_matrix(tn: float, fp: float, fn: float, tp: float) -> float:
    """Cost ratio (best threshold) of a 2 x 2 cost matrix.

    Parameters
    ----------
    tn, fp, fn, tp : float
        Cost of a true negative, false positive, false negative and true positive; any finite numbers for which
        mistakes cost more than correct decisions.

    Returns
    -------
    float
        (fp - tn) / ((fp - tn) + (fn - tp)), correctly rounded: 0 or 1 only where no double lies between.

    Raises
    ------
    ValueError
        If fp <= tn or fn <= tp, or a cost is not finite: then one decision is never worse and no threshold is needed.

    Notes
    -----
    C. Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI 2001.

    Examples
    --------
    A missed bad loan costs 5, a refused good one 1.

    >>> from stakes import costs
    >>> round(costs.from_cost_matrix(tn=0, fp=1, fn=5, tp=0), 6)
    0.166667
    """
    given = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    a, b, c, d = (check_number(value, name) for name, value in given.items())
    if not all(map(math.isfinite, (a, b, c, d))) or not (b > a and c > d):
        raise ValueError(f"costs must be finite with fp > tn and fn > tp, got tn={tn}, fp={fp}, fn={fn}, tp={tp}.")
    acting, waiting = Fraction(b) - Fraction(a), Fraction(c) - Fraction(d)  # whose doubles may be infinite
    return float(acting / (acting + waiting))


# The measure that makes mean regret an amount of money, with the cost of one kind of mistake fixed as stated.


class NoMeanError(ValueError):
    """Costs over which a mistake has no finite mean in money."""


SCALES = ("false_negative", "false_positive", "sum")


def held(costs: CostDistribution, scale: str) -> CostDistribution:
    """Measure of mass-one ``costs`` divided by 1 - c, by c, or by 1/2: a mistake of the kind held then costs 1.

    With amounts of false negatives held, a cost ratio c says that false positives cost c / (1 - c) times the stated
    amount; with those of false positives held, that false negatives cost (1 - c) / c times theirs; else the two
    together cost what they cost as stated.

    Raises
    ------
    NoMeanError
        Where the factor has no finite mean.

    Examples
    --------
    >>> from stakes import costs
    >>> held(costs.Fixed(0.75), "false_negative").negative_loss(1.0)  # three times the stated amount
    np.float64(3.0)
    """
    if not 0.0 < costs.mass < math.inf:
        raise NoMeanError(f"costs must have a finite mass for a mean in money, got {costs!r}.")
    parts = costs.parts if isinstance(costs, Weighted) else (costs,)
    factors = costs.factors if isinstance(costs, Weighted) else (1.0,)
    found = [
        (each, times * factor / costs.mass)
        for part, factor in zip(parts, factors, strict=True)
        for each, times in _divided(part, scale)
    ]
    measure = Weighted([each for each, _ in found], [factor for _, factor in found])
    if not math.isfinite(measure.mass):
        raise _infinite_mean_error(costs, scale)
    return measure


def _divided(part: CostDistribution, scale: str) -> Iterator[tuple[CostDistribution, float]]:
    """Divide a measure by the cost that is fixed at its stated amount; yield measures with factors."""
    if scale == "sum":
        yield part, 2.0
        return
    at, weights = part.atoms
    if len(at):
        if np.any(_fixed_cost(at, scale) == 0.0):
            raise _infinite_mean_error(part, scale)
        divided = weights / _fixed_cost(at, scale)
        yield Empirical(at, divided, part.tie), float(divided.sum())
        return
    if type(part) is Uniform:
        bounds = part.low, part.high
        plain = scale == "false_negative"
        yield (NetBenefitUniform(*bounds) if plain else NetBenefitUniform(1 - bounds[1], 1 - bounds[0]).flip()), 1.0
        return
    if type(part) is Beta:
        a, b = (part.a, part.b - 1.0) if scale == "false_negative" else (part.a - 1.0, part.b)
        if min(a, b) > 0.0:  # the next Beta: their complete beta functions differ by a quotient
            yield Beta(a, b, part.low, part.high), (a + b) / (b if scale == "false_negative" else a)
            return
    try:
        if part.high == 1.0 and scale == "false_negative":  # 1 - c has too few digits next to 1, its mirror image not
            flipped = part.flip()
            yield Density(_Divided(flipped, "false_positive"), flipped.low, flipped.high).flip(), 1.0
        else:
            yield Density(_Divided(part, scale), part.low, part.high), 1.0
    except ValueError as error:
        raise _infinite_mean_error(part, scale) from error


@dataclass(frozen=True)
class _Divided:
    """Density of a measure divided by the cost that is fixed."""

    part: CostDistribution
    scale: str

    def __call__(self, c: Floats) -> Floats:
        return self.part.density(c) / _fixed_cost(c, self.scale)


def _fixed_cost(c: Floats, scale: str) -> Floats:
    return 1.0 - c if scale == "false_negative" else c


def _infinite_mean_error(costs: CostDistribution, scale: str) -> NoMeanError:
    kind, end = ("positives", "1") if scale == "false_negative" else ("negatives", "0")
    return NoMeanError(
        f'scale="{scale}" has no finite mean for {costs!r}: false {kind} cost infinitely more than stated towards a '
        f"cost ratio of {end}."
    )


# Maximum profit measures as cost distributions: the profit of the best threshold under an uncertain benefit.


class Profit(NamedTuple):
    """The maximum profit is ``factor * (prevalence * offset - integral of optimal regret over costs)``.

    Parameters
    ----------
    costs : CostDistribution
        How much each cost ratio counts.
    offset : float
        What acting on a positive brings on average, where it brings anything.
    factor : float
        From there to money.

    Examples
    --------
    >>> from stakes import costs, expected_regret
    >>> y_true, y_prob = [0, 1, 0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9]
    >>> law, offset, factor = costs.churn_profit()
    >>> regret = expected_regret(y_true, y_prob, costs=law, rule="optimal", scale="integral")
    >>> round(factor * (0.5 * offset - regret), 6)
    23.875593
    """

    costs: CostDistribution
    offset: float
    factor: float


def churn_profit(
    *, a: float = 6.0, b: float = 14.0, clv: float = 200.0, incentive: float = 10.0, contact: float = 1.0
) -> Profit:
    """Expected maximum profit of a retention campaign: contact those likely to leave, some of whom accept an offer.

    Parameters
    ----------
    a, b : float, default 6 and 14
        Beta distribution of the share that accepts.
    clv : float, default 200
        Lifetime value of a customer.
    incentive, contact : float, default 10 and 1
        What the offer and contacting someone cost.

    Returns
    -------
    Profit
        With ``rule="optimal"``; customers' own values are the ``sample_weight`` where costs are fractions of them.

    Raises
    ------
    ValueError
        For values that are not positive, or an offer that costs as much as a customer is worth.

    Notes
    -----
    Verbraken, Verbeke and Baesens (2013), doi:10.1109/TKDE.2012.50.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.churn_profit().costs.low, 3)
    0.055
    """
    from scipy.special import betainc

    given = {"a": a, "b": b, "clv": clv, "incentive": incentive, "contact": contact}
    a, b, clv, incentive, contact = (check_number(value, name) for name, value in given.items())
    if not (a > 0.0 and b > 0.0 and clv > 0.0 and incentive >= 0.0 and contact >= 0.0 and incentive + contact > 0.0):
        raise ValueError(
            "a, b, clv and the cost of an offer, incentive + contact, must be > 0, got "
            f"{(a, b, clv, incentive, contact)}."
        )
    if incentive + contact >= clv:
        raise ValueError(f"incentive + contact must be less than clv, got {incentive + contact} and {clv}.")
    delta, phi = incentive / clv, contact / clv
    low, scale = delta + phi, 1.0 - delta

    least = phi / scale  # share that must accept for contacting to pay
    gained = a / (a + b) * (1.0 - betainc(a + 1.0, b, least))
    offset = scale * gained - phi * (1.0 - betainc(a, b, least))
    return Profit(_density_above(_ChurnDensity(a, b, delta, phi), low, given), float(offset), float(clv))


@dataclass(frozen=True)
class _ChurnDensity:
    """Density of the cost ratio where the share that accepts an offer is Beta(a, b)."""

    a: float
    b: float
    delta: float
    phi: float

    def __call__(self, c: Floats) -> Floats:
        from scipy.special import betaln

        low, scale = self.delta + self.phi, 1.0 - self.delta
        share = (low / c - self.delta) / scale
        with np.errstate(divide="ignore"):
            logs = (self.a - 1.0) * np.log(share) + (self.b - 1.0) * np.log1p(-share) - betaln(self.a, self.b)
        return np.asarray(low * low / (c**3 * scale) * np.exp(logs))


def credit_profit(*, p_no_loss: float = 0.55, p_full_loss: float = 0.1, roi: float = 0.2644) -> Profit:
    """Expected maximum profit of refusing loans, where a defaulter loses nothing, all, or some share of the loan.

    Parameters
    ----------
    p_no_loss, p_full_loss : float, default 0.55 and 0.1
        Probability that a default loses nothing, and that it loses all; otherwise the share is uniform.
    roi : float, default 0.2644
        Return on a loan that is paid back, as a share of it.

    Returns
    -------
    Profit
        Per unit lent, with ``rule="optimal"``; the loans are the ``sample_weight``.

    Raises
    ------
    ValueError
        For probabilities that do not fit together, or a return that is not positive.

    Notes
    -----
    Verbraken, Bravo, Weber and Baesens (2014), doi:10.1016/j.ejor.2014.04.001.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.credit_profit().offset, 3)
    0.275
    """
    given = {"p_no_loss": p_no_loss, "p_full_loss": p_full_loss, "roi": roi}
    p_no_loss, p_full_loss, roi = (check_number(value, name) for name, value in given.items())
    rest = 1.0 - p_no_loss - p_full_loss
    if not (min(p_no_loss, p_full_loss) >= 0.0 and rest >= -1e-12 and rest + p_full_loss > 0.0 and 0.0 < roi < np.inf):
        raise ValueError(
            f"p_no_loss and p_full_loss must be shares that leave a loss, and roi > 0, got "
            f"{(p_no_loss, p_full_loss, roi)}."
        )
    low = roi / (1.0 + roi)
    parts: list[CostDistribution] = []
    if rest > 1e-12:
        parts.append(_density_above(_LossDensity(rest, roi), low, given))
    if p_full_loss > 0.0:
        parts.append(Fixed(low) * (p_full_loss * (1.0 + roi)))
    law = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return Profit(law, p_full_loss + 0.5 * max(rest, 0.0), 1.0)


@dataclass(frozen=True)
class _LossDensity:
    """Density of the cost ratio where the share of a loan that is lost is uniform with probability ``rest``."""

    rest: float
    roi: float

    def __call__(self, c: Floats) -> Floats:
        return np.asarray(self.rest * self.roi**2 / c**3)


def _density_above(density: Callable[[Floats], Floats], low: float, given: dict[str, Any]) -> Density:
    """Build a density on [low, 1]; an error for one that floats cannot hold names the arguments."""
    try:
        return Density(density, low, 1.0)
    except ValueError as error:
        raise ValueError(f"{', '.join(given)} must make a density that floats can hold, got {given}: {error}") from None
