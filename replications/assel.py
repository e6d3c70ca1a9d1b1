"""Assel et al.'s comparison of eight diagnostic tests, as corrected.

The table in arXiv:2504.04528, Appendix F, has twice the mean regret in its column "Brier 5%-20%", and its four
models are not the calibrated, over- and underestimating models of Assel, Sjoberg and Vickers (2017): the one called
"underestimating" overestimates. Both versions are computed here: exactly, by integrating the pointwise losses of the
library over the binormal population, and on one million simulated patients.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtr

from stakes import ScoreTable, bounded_brier_loss, costs, expected_regret, net_benefit_score
from stakes.metrics import average_net_benefit_score

PREVALENCE = 0.2
SEPARATION = 0.95
BOUNDS = (0.05, 0.2)
THRESHOLDS = (0.05, 0.10, 0.20)
CALIBRATED = float(logit(PREVALENCE)) - SEPARATION**2 / 2
COLUMNS = ("Brier", "NB 5%", "NB 10%", "NB 20%", "2E[R] 5-20", "mean NB 5-20")


@dataclass(frozen=True)
class Binormal:
    """logit of the score = intercept + slope * z, with z ~ N(0, 1) in negatives and N(0.95, 1) in positives."""

    intercept: float
    slope: float

    def score(self, z):
        return expit(self.intercept + self.slope * z)

    def place(self, c):
        return (logit(c) - self.intercept) / self.slope

    def errors(self, c):
        z = self.place(c)
        return (1 - PREVALENCE) * ndtr(-z), PREVALENCE * ndtr(z - SEPARATION)

    def integral(self, measure):
        """Integral of regret over a cost distribution, by Gauss-Legendre panels between the kinks."""
        kinks = [self.place(c) for c in (measure.low, measure.high) if 0 < c < 1]
        edges = np.unique(np.clip([*np.linspace(-14, 15, 117), *kinks], -14, 15))
        x, w = np.polynomial.legendre.leggauss(24)
        half = np.diff(edges)[:, None] / 2
        z = edges[:-1, None] + half * (1 + x)
        s = self.score(z)
        density = [np.exp(-((z - m) ** 2) / 2) / np.sqrt(2 * np.pi) for m in (0.0, SEPARATION)]
        row = (1 - PREVALENCE) * density[0] * measure.negative_loss(s) + PREVALENCE * density[
            1
        ] * measure.positive_loss(s)
        return float(np.sum(row * w * half))

    def mean_score(self):
        z = np.linspace(-14, 15, 200_001)
        mixture = (1 - PREVALENCE) * np.exp(-(z**2) / 2) + PREVALENCE * np.exp(-((z - SEPARATION) ** 2) / 2)
        return float(np.sum(mixture * self.score(z)) * (z[1] - z[0]) / np.sqrt(2 * np.pi))

    def simulate(self, y, rng):
        return self.score(rng.normal(size=len(y)) + SEPARATION * y)


@dataclass(frozen=True)
class HardTest:
    """A test with hard results, of known sensitivity and specificity."""

    sensitivity: float
    specificity: float

    def errors(self, c):  # noqa: ARG002  (hard results do not depend on the threshold)
        return (1 - PREVALENCE) * (1 - self.specificity), PREVALENCE * (1 - self.sensitivity)

    def integral(self, measure):
        alarms, misses = self.errors(None)
        return alarms * float(measure.negative_loss(1.0)) + misses * float(measure.positive_loss(0.0))

    def simulate(self, y, rng):
        u = rng.random(len(y))
        return np.where(y, u < self.sensitivity, u >= self.specificity).astype(float)


ROWS = {
    "highly sensitive": HardTest(0.95, 0.5),
    "calibrated binormal d=0.95": Binormal(CALIBRATED, SEPARATION),
    "same, intercept +1.021 (over)": Binormal(CALIBRATED + 1.021, SEPARATION),
    "all positive": HardTest(1.0, 0.0),
    "same, intercept -1.047 (under)": Binormal(CALIBRATED - 1.047, SEPARATION),
    "highly specific": HardTest(0.5, 0.95),
    "same, intercept -2.046 (severe)": Binormal(CALIBRATED - 2.046, SEPARATION),
    "all negative": HardTest(0.0, 1.0),
    "as tabulated: well calibrated": Binormal(-0.9, 1.0),
    "as tabulated: overestimating": Binormal(-0.9 + 0.361, 1.0),
    "as tabulated: underestimating": Binormal(-0.9 - 0.285, 1.0),
    "as tabulated: severely underestimating": Binormal(-0.9 - 3.04, 1.0),
}


def exact(row):
    """Brier, net benefit at the thresholds, twice the mean regret, mean net benefit: population values."""
    benefits = [
        PREVALENCE - sum(e * k for e, k in zip(row.errors(c), (c, 1 - c), strict=True)) / (1 - c) for c in THRESHOLDS
    ]
    width = BOUNDS[1] - BOUNDS[0]
    regret = row.integral(costs.Uniform(*BOUNDS)) / width
    average = PREVALENCE - row.integral(costs.NetBenefitUniform(*BOUNDS)) / width
    return [2 * row.integral(costs.Uniform(0, 1)), *benefits, 2 * regret, average]


def simulated(row, n, rng):
    """The same from simulated patients, by the library's metrics, with the standard error of the Brier score."""
    y = rng.random(n) < PREVALENCE
    table = ScoreTable.from_predictions(y, row.simulate(y, rng))
    return [
        bounded_brier_loss(table),
        *[net_benefit_score(table, threshold=c) for c in THRESHOLDS],
        2 * expected_regret(table, costs=costs.Uniform(*BOUNDS)),
        average_net_benefit_score(table, bounds=BOUNDS),
    ]


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications assel")
    parser.add_argument("--patients", type=int, default=1_000_000)
    n = parser.parse_args(arguments).patients
    rng = np.random.default_rng(2017)
    print(f"prevalence {PREVALENCE}; exact integration, and {n:,} simulated patients\n")
    print("| row | how | " + " | ".join(COLUMNS) + " | mean score |")
    print("| --- | --- | " + " | ".join("---" for _ in COLUMNS) + " | --- |")
    for name, row in ROWS.items():
        mean = f"{row.mean_score():.3f}" if isinstance(row, Binormal) else ""
        print(f"| {name} | exact | " + " | ".join(f"{round(v, 4) + 0.0:.4f}" for v in exact(row)) + f" | {mean} |")
        print("| | simulated | " + " | ".join(f"{round(v, 4) + 0.0:.4f}" for v in simulated(row, n, rng)) + " | |")
