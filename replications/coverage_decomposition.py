"""How often the intervals of decomposition_interval and metric_interval (H-measure, hull AUC) cover the truth.

A true risk q is drawn from a Beta distribution, the event with probability q, and the score is a function of q. The
true terms follow by quadrature of losses written down here from their definitions, not by the library. Designs:
calibrated scores (MCB = 0, a boundary), overconfident, biased and hardly discriminating ones, scores rounded to a few
values (calibrated and biased), scores in the wrong order for some values, and useless scores (DSC = 0, a boundary).
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special, stats

from stakes import costs, decompose
from stakes.core.options import evaluation_data
from stakes.inference import decomposition_interval
from stakes.inference._cross_fitting import cross_fit_rows, estimate_h_measure, estimate_hull_auc, estimate_terms

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (300, 1000, 5000)
SHAPES = {0.3: (0.9, 2.1), 0.03: (0.6, 19.4)}
BOUNDS = {0.3: (0.1, 0.5), 0.03: (0.01, 0.1)}
STEP = {0.3: 0.1, 0.03: 0.02}
TERMS = ("score", "miscalibration", "discrimination", "uncertainty", "recalibrated", "skill", "potential_skill")
SHORT = ("S", "MCB", "DSC", "UNC", "S - MCB", "skill", "DSC/UNC")
COLUMNS = (*SHORT, "MCB bounded", "DSC bounded", "H", "hull AUC")
NODES = 20_000


def brier(score, event, bounds=(0.0, 1.0)):
    """Integral of the cost over cost ratios, uniform on the bounds."""
    low, high = bounds
    cut = np.clip(score, low, high)
    return np.where(event, ((1 - cut) ** 2 - (1 - high) ** 2) / 2, (cut**2 - low**2) / 2)


def hand(score, event, prevalence):
    """Integral of the cost over Beta(2, 1 / prevalence) cost ratios."""
    b = 1 / prevalence
    alarm = 2 / (2 + b) * special.betainc(3, b, score)
    miss = b / (2 + b) * (1 - special.betainc(2, b + 1, score))
    return np.where(event, miss, alarm)


@dataclass(frozen=True)
class Population:
    """Scores with their weights and event rates: a fine quadrature of the Beta distribution, or the few true values."""

    score: np.ndarray
    rate: np.ndarray
    weight: np.ndarray

    def best(self):
        """Event rates pooled until they rise with the score."""
        pools = []
        for rate, weight in zip(self.rate, self.weight, strict=True):
            pools.append([rate * weight, weight, 1])
            while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
                last = pools.pop()
                pools[-1] = [x + y for x, y in zip(pools[-1], last, strict=True)]
        return np.concatenate([np.full(count, mass / weight) for mass, weight, count in pools])

    def mean(self, loss, forecast):
        return float(self.weight @ (self.rate * loss(forecast, True) + (1 - self.rate) * loss(forecast, False)))  # noqa: FBT003

    def terms(self, loss):
        prevalence = float(self.weight @ self.rate)
        s = self.mean(loss, self.score)
        u = self.mean(loss, np.full(len(self.rate), prevalence))
        r = self.mean(loss, self.best())
        return [s, s - r, u - r, u, r, 1 - s / u, 1 - r / u]

    def hull_auc(self):
        fitted, at = np.unique(self.best(), return_inverse=True)
        ups, downs = (np.bincount(at, self.weight * r, len(fitted)) for r in (self.rate, 1 - self.rate))
        return float(ups @ (np.cumsum(downs) - downs / 2) / (ups.sum() * downs.sum()))


@dataclass(frozen=True)
class Design:
    """How risks are spread and how a score is made of them."""

    shape: tuple[float, float]
    distort: Callable
    step: float | None = None

    def sample(self, n, rng):
        q = rng.beta(*self.shape, n)
        return rng.random(n) < q, self.distort(q if self.step is None else self.cells()[0][self.cell(q)])

    def cell(self, q):
        return np.floor(q / self.step + 0.5).astype(int)

    def cells(self):
        """Mean risk and probability of each cell that risks are rounded to."""
        a, b = self.shape
        edges = np.clip((np.arange(round(1 / self.step) + 2) - 0.5) * self.step, 0, 1)
        weight = np.diff(stats.beta.cdf(edges, a, b))
        mass = np.diff(stats.beta.cdf(edges, a + 1, b)) * a / (a + b)
        middle = (edges[:-1] + edges[1:]) / 2
        return np.divide(mass, weight, out=middle, where=weight > 1e-12), weight

    def population(self):
        if self.step is not None:
            rate, weight = self.cells()
        else:
            # Gauss-Jacobi panels would be finer, but midpoints of equal probability are exact enough and never negative
            rate, weight = stats.beta.ppf((np.arange(NODES) + 0.5) / NODES, *self.shape), np.full(NODES, 1 / NODES)
        score = self.distort(rate)
        order = np.argsort(score, kind="stable")
        return Population(score[order], rate[order], weight[order])


def shifted(shift, slope=1.0, centre=0.0):
    def distort(q):
        return special.expit(shift + centre + slope * (special.logit(np.clip(q, 1e-12, 1 - 1e-12)) - centre))

    return distort


def designs(prevalence):
    a, b = SHAPES[prevalence]
    step, centre = STEP[prevalence], float(special.logit(prevalence))

    def exchanged(q):
        return np.where((q > 1.5 * step) & (q < 3.5 * step), 5 * step - q, q)

    def useless(q):
        return special.ndtr((q - prevalence) / np.sqrt(prevalence * (1 - prevalence) / (4000 * (a + b) + 1)))

    return {
        "calibrated": Design((a, b), np.positive),
        "overconfident": Design((a, b), shifted(0.5, 1.6)),
        "underconfident": Design((a, b), shifted(0.3, 0.5, centre)),
        "biased": Design((a, b), shifted(0.25)),
        "calibrated, weak": Design((15 * a, 15 * b), np.positive),
        "calibrated, tied": Design((a, b), np.positive, step),
        "biased, tied": Design((a, b), lambda q: np.minimum(1.4 * q, 1), step),
        "two values exchanged, tied": Design((a, b), exchanged, step),
        "useless": Design((4000 * a, 4000 * b), lambda q: 2 * prevalence * useless(q)),
    }


def truth(design, prevalence):
    population = design.population()
    bounded = population.terms(lambda s, y: brier(s, y, BOUNDS[prevalence]))
    rate = float(population.weight @ population.rate)
    by_hand = population.terms(lambda s, y: hand(s, y, rate))
    return np.array([*population.terms(brier), bounded[1], bounded[2], by_hand[6], population.hull_auc()])


def intervals(y, score, prevalence, seed):
    """Lower ends, values and upper ends of every column, as the three functions give them, from one cross-fit."""
    rows = cross_fit_rows(evaluation_data(y, score), fixed_prevalence=False, cv=10, random_state=seed)
    plain, bounded = (
        estimate_terms(rows, costs.Uniform(*bounds), 1.0, "integral", 0.95) for bounds in ((0, 1), BOUNDS[prevalence])
    )
    found = [getattr(plain, term) for term in TERMS]
    found += [bounded.miscalibration, bounded.discrimination]
    found += [estimate_h_measure(rows, None).estimate(0.95), estimate_hull_auc(rows).estimate(0.95)]
    return [(e.interval[0], e.value, e.interval[1]) for e in found]


def simulate(design, prevalence, n, runs, seed=1):
    """Coverage of every column, bias in standard deviations, and the share of refusals."""
    true = truth(design, prevalence)
    rng = np.random.default_rng(seed)
    rows, refused = [], 0
    for run in range(runs):
        y, score = design.sample(n, rng)
        try:
            rows.append(intervals(y, score, prevalence, run))
        except ValueError as error:
            assert "at least" in str(error)  # noqa: PT017  (any other error is a mistake)
            refused += 1
    if len(rows) < runs / 20:
        return None, None, refused / runs
    low, value, high = np.array(rows).transpose(2, 0, 1)
    slack = 1e-9 * np.maximum(np.abs(true), 1e-3)
    covered = ((low <= true + slack) & (true - slack <= high)).mean(axis=0)
    return covered, (value.mean(axis=0) - true) / value.std(axis=0), refused / runs


def alternatives(design, prevalence, n, runs, *, seed=1, resamples=200):
    """Coverage and mean length of intervals of MCB and DSC by other methods, and by decomposition_interval."""
    true = truth(design, prevalence)[1:3]
    rng = np.random.default_rng(seed)
    smaller = int(n ** (2 / 3))
    hits = {name: [] for name in ("percentile bootstrap", "m out of n", "decomposition_interval")}

    def both(rows, y, score):
        parts = decompose(y[rows], score[rows], costs=costs.Uniform(0, 1), scale="integral")
        return parts.miscalibration, parts.discrimination

    for run in range(runs):
        y, score = design.sample(n, rng)
        whole = np.array(both(slice(None), y, score))
        full = np.array([both(rng.integers(0, n, n), y, score) for _ in range(resamples)])
        part = np.array([both(rng.choice(n, smaller, replace=False), y, score) for _ in range(resamples)])
        around = np.quantile(np.sqrt(smaller / n) * (part - whole), [0.975, 0.025], axis=0)
        ours = decomposition_interval(y, score, costs=costs.Uniform(0, 1), scale="integral", random_state=run)
        ends = {
            "percentile bootstrap": np.quantile(full, [0.025, 0.975], axis=0),
            "m out of n": whole - around,
            "decomposition_interval": np.transpose([ours.miscalibration.interval, ours.discrimination.interval]),
        }
        for name, (low, high) in ends.items():
            covers = (low <= true + 1e-12) & (true <= high + 1e-12)
            hits[name].append([*covers, *(high - np.maximum(low, 0.0))])
    return {name: np.mean(rows, axis=0) for name, rows in hits.items()}


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications coverage_decomposition")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--prevalence", type=float, nargs="+", default=tuple(SHAPES), choices=tuple(SHAPES))
    parser.add_argument("--only", default="", help="only designs whose name contains this")
    parser.add_argument("--bias", action="store_true", help="print the bias in standard deviations too")
    parser.add_argument("--alternatives", action="store_true", help="compare methods at n = 1,000 instead")
    options = parser.parse_args(arguments)
    if options.alternatives:
        print("| design | method | MCB | DSC | length MCB | length DSC |\n| --- | --- | --- | --- | --- | --- |")
        for name, design in designs(0.3).items():
            if options.only in name:
                for method, rates in alternatives(design, 0.3, 1000, options.runs).items():
                    cells = [f"{100 * v:.1f}" for v in rates[:2]] + [f"{v:.5f}" for v in rates[2:]]
                    print(f"| {name} | {method} | " + " | ".join(cells) + " |", flush=True)
        return
    print(f"coverage in % of nominal 95% intervals, {options.runs:,} runs\n")
    print("| prevalence | n | design | refused | " + " | ".join(COLUMNS) + " |")
    print("| --- | --- | --- | --- | " + " | ".join("---" for _ in COLUMNS) + " |")
    for prevalence in options.prevalence:
        for n in options.sizes:
            for name, design in designs(prevalence).items():
                if options.only not in name:
                    continue
                start = time.perf_counter()
                covered, bias, refused = simulate(design, prevalence, n, options.runs)
                head = f"| {prevalence} | {n:,} | {name} | {100 * refused:.1f} | "
                cells = ["" for _ in COLUMNS] if covered is None else [f"{100 * v:.1f}" for v in covered]
                print(head + " | ".join(cells) + " |", flush=True)
                if options.bias and bias is not None:
                    print("| | | bias / sd | | " + " | ".join(f"{v:.2f}" for v in bias) + " |", flush=True)
                print(f"{prevalence} {n} {name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
