"""Looking at the batch against one threshold for the population, where it pays and where it does not.

Both maximise F1 (or another measure), from the same scores. The batch-optimal choice maximises the expectation over
the batch at hand, and needs calibrated probabilities; the plug-in threshold is the best one on labelled rows of the
same model, and needs none. Simulated outcomes of many batches; the difference is paired batch by batch.

arXiv:1505.01802 calls them the decision-theoretic and the empirical approach, and compares them on single test sets.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from stakes.utility import get_measure, optimal_decisions, population_threshold

if TYPE_CHECKING:
    from collections.abc import Callable

LEVEL = 0.95
LABELLED = 200_000  # one sample of these for a setting: the intervals are for its threshold
ROWS_IN_ALL = 200_000  # of each setting, in FEWEST to MOST batches
FEWEST, MOST = 200, 4_000
TINY = 1e-9


def same(p):
    return p


def overconfident(p):
    """Log-odds of twice the size."""
    return expit(2.0 * logit(p))


def too_low(p):
    """Log-odds lower by two."""
    return expit(logit(p) - 2.0)


@dataclass(frozen=True)
class Setting:
    """How a batch arises, and how the model's scores differ from the true probabilities."""

    name: str
    expected: str  # who should win, and why
    size: int
    score: Callable = same
    labelled: int = LABELLED
    drift: float = 0.0  # standard deviation of a shift of the log-odds that all rows of a batch share

    def batch(self, rng):
        p = rng.beta(0.5, 1.5, self.size)
        return np.clip(expit(logit(p) + self.drift * rng.normal()), TINY, 1.0 - TINY)


SETTINGS = (
    Setting("12 rows, calibrated", "batch: luck of the draw is seen in the probabilities", 12),
    Setting("50 rows, calibrated", "batch, but by too little to see", 50),
    Setting("500 rows, calibrated", "nearly alike", 500),
    Setting("5,000 rows, calibrated", "alike: the batch is the population", 5_000),
    Setting("500 rows, batches differ, calibrated", "batch: its threshold moves with it", 500, drift=1.0),
    Setting("500 rows, threshold from 100 labels", "batch: few labels make a poor threshold", 500, labelled=100),
    Setting("12 rows, log-odds too low by 2", "open: both effects meet", 12, too_low),
    Setting("500 rows, log-odds too low by 2", "plug-in: the labels have seen the error", 500, too_low),
    Setting("500 rows, log-odds doubled", "plug-in, where overconfidence moves the choice", 500, overconfident),
)


def value(measure, decision, y):
    pairs = [np.sum((decision == d) & (y == t)) for d, t in ((1, True), (1, False), (0, True), (0, False))]
    return float(measure.value(*pairs))


def simulate(setting, measure, batches, rng):
    """Return the measure of each approach on each batch: batches by (batch-optimal, plug-in)."""
    out = np.empty((batches, 2))
    for number in range(batches):
        if number == 0 or setting.labelled < LABELLED:  # few labels are drawn anew, for they are part of the chance
            p = np.concatenate([setting.batch(rng) for _ in range(-(-setting.labelled // setting.size))])
            y = rng.random(len(p)) < p
            y[:2] = True, False
            plug_in = population_threshold(y, setting.score(p), measure, n_resamples=0)
        p = setting.batch(rng)
        y, score = rng.random(setting.size) < p, setting.score(p)
        chosen = optimal_decisions(score, measure), plug_in.predict(score)
        out[number] = [value(measure, decision, y) for decision in chosen]
    return out


def interval(difference):
    """Return the mean and the half width of its interval."""
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return float(difference.mean()), float(norm.ppf(0.5 + LEVEL / 2) * error)


def verdict(mean, half):
    if mean > half:
        return "batch"
    return "plug-in" if mean < -half else "no difference seen"


def run(setting, measure, scale=1.0):
    """Return the means of both, and the difference with half its interval."""
    batches = max(20, int(scale * min(MOST, max(FEWEST, ROWS_IN_ALL // setting.size))))
    values = simulate(setting, measure, batches, np.random.default_rng([1505, SETTINGS.index(setting)]))
    return batches, values.mean(axis=0), *interval(values[:, 0] - values[:, 1])


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications batch_effect")
    parser.add_argument("--measure", default="f1", help="as stakes.utility.get_measure knows it (default f1)")
    parser.add_argument("--scale", type=float, default=1.0, help="times as many batches (default 1)")
    options = parser.parse_args(arguments)
    measure = get_measure(options.measure)
    print(f"{measure!r} of simulated batches; +- is half of a paired {LEVEL:.0%} interval.\n")
    print("| batches of | what should win | batches | batch-optimal | plug-in | difference | wins |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for setting in SETTINGS:
        batches, (ours, theirs), mean, half = run(setting, measure, options.scale)
        cells = [setting.name, setting.expected, f"{batches:,}", f"{ours:.4f}", f"{theirs:.4f}"]
        print(f"| {' | '.join(cells)} | {mean:+.4f} +- {half:.4f} | {verdict(mean, half)} |", flush=True)


if __name__ == "__main__":
    main()
