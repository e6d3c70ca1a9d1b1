"""The measure under which the mean regret is money, where the amounts of one kind of mistake are held as stated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.costs._base import Weighted
from stakes.costs._continuous import NetBenefitUniform, Uniform
from stakes.costs._density import Density
from stakes.costs._discrete import Empirical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.costs._base import CostDistribution

    Floats = NDArray[np.float64]


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
        raise _no_mean(costs, scale)
    return measure


def _divided(part: CostDistribution, scale: str) -> Iterator[tuple[CostDistribution, float]]:
    """A measure divided by what is held, as measures with factors."""
    if scale == "sum":
        yield part, 2.0
        return
    at, weights = part.atoms
    if len(at):
        if np.any(_held(at, scale) == 0.0):
            raise _no_mean(part, scale)
        divided = weights / _held(at, scale)
        yield Empirical(at, divided, part.tie), float(divided.sum())
        return
    if type(part) is Uniform:
        bounds = part.low, part.high
        plain = scale == "false_negative"
        yield (NetBenefitUniform(*bounds) if plain else NetBenefitUniform(1 - bounds[1], 1 - bounds[0]).flip()), 1.0
        return
    try:
        if part.high == 1.0 and scale == "false_negative":  # 1 - c has too few digits there to see a divergence
            flipped = part.flip()
            Density(lambda c: flipped.density(c) / c, 0.0, flipped.high)
        yield Density(lambda c: part.density(c) / _held(c, scale), part.low, part.high), 1.0
    except ValueError as error:
        raise _no_mean(part, scale) from error


def _held(c: Floats, scale: str) -> Floats:
    return 1.0 - c if scale == "false_negative" else c


def _no_mean(costs: CostDistribution, scale: str) -> NoMeanError:
    kind, end = ("positives", "1") if scale == "false_negative" else ("negatives", "0")
    return NoMeanError(
        f'scale="{scale}" has no finite mean for {costs!r}: false {kind} cost infinitely more than stated towards a '
        f"cost ratio of {end}."
    )
