"""Every family of cost distributions beside its definition: the package's object and the oracle's measure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import oracles
from oracles import Measure

from stakes import costs


@dataclass(frozen=True)
class Case:
    name: str
    costs: costs.CostDistribution
    measure: Measure
    loss_factor: float | None = 2.0

    @property
    def proper(self):
        return np.isfinite(self.costs.mass)

    def __str__(self):
        return self.name


def _uniform(low, high):
    return Case(f"uniform-{low}-{high}", costs.Uniform(low, high), Measure(oracles.uniform, low, high))


def _log_odds(low, high):
    measure = Measure(oracles.log_odds_uniform, low, high, open_low=low == 0, open_high=high == 1)
    return Case(f"log-odds-{low}-{high}", costs.LogOddsUniform(low, high), measure, 1.0)


def _net_benefit(low, high):
    measure = Measure(oracles.net_benefit_uniform, low, high, open_high=high == 1)
    return Case(f"net-benefit-{low}-{high}", costs.NetBenefitUniform(low, high), measure, 1.0)


def _net_benefit_flipped(low, high):
    measure = Measure(oracles.net_benefit_uniform_flipped, low, high, open_low=low == 0)
    flipped = costs.NetBenefitUniform(1 - high, 1 - low).flip()
    return Case(f"net-benefit-flipped-{low}-{high}", flipped, measure, 1.0)


def _beta(a, b, low=0.0, high=1.0):
    return Case(f"beta-{a}-{b}-{low}-{high}", costs.Beta(a, b, low, high), Measure(oracles.beta(a, b), low, high))


def _shifted(median, low=0.0, high=1.0):
    measure = Measure(oracles.shifted(median), low, high)
    return Case(f"shifted-{median}-{low}-{high}", costs.Shifted(median, low, high), measure)


def _fixed(c, tie=1.0):
    return Case(f"fixed-{c}-tie-{tie}", costs.Fixed(c, tie), Measure(low=c, high=c, atoms=((c, 1.0),), tie=tie))


def _empirical(values, weights, tie=1.0):
    total = sum(weights)
    pooled = {v: sum(w for x, w in zip(values, weights, strict=True) if x == v) / total for v in sorted(set(values))}
    measure = Measure(low=min(pooled), high=max(pooled), atoms=tuple(pooled.items()), tie=tie)
    return Case(f"empirical-{len(values)}-tie-{tie}", costs.Empirical(values, weights, tie), measure)


def _triangular(low, mode, high):
    peak = 2 / (high - low)
    corners = sorted({low: 0.0, high: 0.0, mode: peak}.items())
    measure = Measure(oracles.piecewise_linear(*zip(*corners, strict=True)), low, high, breaks=(mode,))
    return Case(f"triangular-{low}-{mode}-{high}", costs.Triangular(low, mode, high), measure)


def _piecewise(knots, values):
    density = oracles.piecewise_linear(knots, values)
    measure = Measure(density, knots[0], knots[-1], breaks=tuple(knots[1:-1]))
    return Case(f"piecewise-{len(knots)}", costs.PiecewiseLinear(knots, values), measure)


def _bell():
    made = costs.Density(lambda c: np.exp(-(((c - 0.125) / 0.0625) ** 2)), 0.0, 0.5)
    breaks = (0.03125, 0.0625, 0.125, 0.1875, 0.25, 0.375)
    return Case("density-bell", made, Measure(oracles.bell(0.125, 0.0625), 0.0, 0.5, breaks=breaks))


def _arcsine_half():
    made = costs.Density(lambda c: 1.0 / np.sqrt(c), 0.0, 0.75)
    return Case("density-singular-at-0", made, Measure(lambda c, _k: 1 / c.sqrt(), 0.0, 0.75))


def _sum(name, made, *parts, loss_factor=2.0):
    measures = tuple((factor, case.measure) for factor, case in parts)
    low = min(case.measure.low for _, case in parts)
    high = max(case.measure.high for _, case in parts)
    return Case(name, made, Measure(low=low, high=high, parts=measures), loss_factor)


def _sums():
    brier, half = _uniform(0.0, 1.0), _fixed(0.5, 0.5)
    people, narrow = _empirical([0.125, 0.25, 0.125], [1.0, 2.0, 1.0]), _uniform(0.0625, 0.25)
    logs = _log_odds(0.125, 0.5)
    return [
        _sum("penalized-brier", 4 * brier.costs + half.costs, (4.0, brier), (1.0, half)),
        _sum("unlike-factors", 0.5 * logs.costs + people.costs, (0.5, logs), (1.0, people), loss_factor=None),
        _sum("triple-log", 3 * logs.costs, (3.0, logs), loss_factor=1.0),
        _sum(
            "mixture",
            costs.Mixture([narrow.costs, people.costs], [3.0, 1.0]),
            (0.75 / narrow.measure.mass(), narrow),
            (0.25, people),
        ),
    ]


CASES = [
    _uniform(0.0, 1.0),
    _uniform(0.05, 0.2),
    _log_odds(0.0, 1.0),
    _log_odds(0.0, 0.3),
    _log_odds(0.05, 0.2),
    _net_benefit(0.0, 1.0),
    _net_benefit(0.05, 0.2),
    _net_benefit_flipped(0.0, 1.0),
    _net_benefit_flipped(0.125, 0.5),
    _beta(2.0, 8.0),
    _beta(0.5, 0.5),
    _beta(2.0, 2.0, 0.05, 0.2),
    _beta(1.3, 1.7, 0.2, 0.8),
    _shifted(0.125),
    _shifted(0.5, 0.05, 0.2),
    _shifted(0.47, 0.0, 0.3),
    _shifted(0.9, 0.2, 0.8),
    _fixed(0.25),
    _fixed(0.5, 0.5),
    _fixed(0.0, 0.25),
    _fixed(1.0, 0.0),
    _empirical([0.05, 0.05, 0.1, 0.1, 0.2], [1.0] * 5),
    _empirical([0.5, 0.125, 0.25, 0.125, 0.75], [1.0, 2.0, 0.5, 0.0, 4.5], tie=0.25),
    _triangular(0.02, 0.05, 0.2),
    _triangular(0.25, 0.25, 0.5),
    _triangular(0.25, 0.5, 0.5),
    _piecewise((0.0, 0.125, 0.5, 1.0), (3.0, 0.0, 2.0, 1.0)),
    _bell(),
    _arcsine_half(),
    *_sums(),
]
BY_NAME = {case.name: case for case in CASES}
assert len(BY_NAME) == len(CASES)
PROPER = [case for case in CASES if case.proper]


def scores_that_matter(case):
    """0, 1, the ends, the atoms and their neighbours, points between and beyond."""
    low, high = case.costs.low, case.costs.high
    inside = [low + (high - low) * share for share in (0.0, 0.1, 0.37, 0.5, 0.93, 1.0)]
    atoms = [at for c in case.costs.atoms[0] for at in (np.nextafter(c, 0), c, np.nextafter(c, 1))]
    return sorted({0.0, 0.01, 0.5, 0.99, 1.0, *inside, *map(float, atoms)})
