"""How often 95% intervals hold the mean over centres, and prediction intervals the truth of another centre.

Scores have normal log-odds x (mean -1, standard deviation 1); in a centre the event's log-odds are u + s x, where u and
s are normal with means 0 and 1 and standard deviations 0 (centres that are alike), or .4 and .2. The truth of a centre
is computed by a grid of x, and the mean over centres, on the scale on which they are pooled, by 4,000 of them.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from stakes.evaluation import evaluate_centres

THRESHOLD = 0.25
MEASURES = ("auc", "o_e_ratio", "slope", "net_benefit")
GRID = np.linspace(-6.0, 4.0, 801)
DENSITY = norm.pdf(GRID, -1.0, 1.0)
DENSITY /= DENSITY.sum()
SPREADS = {"alike": (0.0, 0.0), "unlike": (0.4, 0.2)}


def truth(shift, slope):
    """The four measures of a centre, on the scales on which centres are pooled."""
    risk = expit(shift + slope * GRID)
    ill, well = DENSITY * risk, DENSITY * (1.0 - risk)
    below = np.cumsum(well) - 0.5 * well
    area = float(ill @ below / (ill.sum() * well.sum()))
    acted = expit(GRID) >= THRESHOLD
    benefit = float(ill[acted].sum() - THRESHOLD / (1.0 - THRESHOLD) * well[acted].sum())
    ratio = float(ill.sum() / (DENSITY @ expit(GRID)))
    return np.array([logit(area), np.log(ratio), slope, benefit])


def run(centres, rows, spread, rng, mean):
    """Whether each interval held the mean, and each prediction interval another centre; nan where none was made."""
    u, s = rng.normal(0.0, spread[0], centres), rng.normal(1.0, spread[1], centres)
    of = np.repeat(np.arange(centres), rows)
    x = rng.normal(-1.0, 1.0, centres * rows)
    y = rng.random(len(x)) < expit(u[of] + s[of] * x)
    found = evaluate_centres(y, {"model": expit(x)}, of, threshold=THRESHOLD).pooled["model"]
    another = truth(rng.normal(0.0, spread[0]), rng.normal(1.0, spread[1]))
    held = np.full((2, len(MEASURES)), np.nan)
    for k, measure in enumerate(MEASURES):
        if measure in found:
            there = {"auc": logit, "o_e_ratio": np.log}.get(measure, np.asarray)
            for row, (value, ends) in enumerate(
                ((mean[k], found[measure].interval), (another[k], found[measure].prediction_interval))
            ):
                low, high = there(np.array(ends))
                held[row, k] = low <= value <= high
    return held


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications centres", description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--centres", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500])
    options = parser.parse_args(arguments)
    error = np.sqrt(0.05 * 0.95 / options.runs)
    print(f"{options.runs:,} runs, a standard error of {error:.3f} where 95% hold it; share of intervals of the mean")
    print("and of prediction intervals that held the truth\n")
    print("| centres | rows each | they are | AUC | O:E | slope | net benefit |\n| --- |" + " --- |" * 6)
    for name, spread in SPREADS.items():
        draws = np.random.default_rng(0).normal(size=(4000, 2))
        mean = np.mean([truth(spread[0] * a, 1.0 + spread[1] * b) for a, b in draws], axis=0)
        for rows in options.sizes:
            for centres in options.centres:
                rng = np.random.default_rng([centres, rows])
                held = np.array([run(centres, rows, spread, rng, mean) for _ in range(options.runs)])
                shares = np.nanmean(held, axis=0).T
                cells = " | ".join(f"{a:.3f} / {b:.3f}" for a, b in shares)
                print(f"| {centres} | {rows} | {name} | {cells} |", flush=True)
