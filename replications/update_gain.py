"""How often 95% intervals hold what an update of a model saves in the population, and what the closed test chooses.

Scores have normal log-odds x (mean -1.5, standard deviation 1.2); the event's log-odds are another line in x. The gain
is that of the update as it was fitted, in log loss and Brier score, by a fine grid of x.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from stakes.correction import update

CENTRE, SPREAD = -1.5, 1.2
CASES = {"x": (0.0, 1.0), "0.3 + x": (0.3, 1.0), "0.8 + x": (0.8, 1.0), "0.6 x": (0.0, 0.6)}
METHODS = ("intercept", "logistic", "beta", "isotonic", "auto")
GRID = np.linspace(CENTRE - 6.0 * SPREAD, CENTRE + 6.0 * SPREAD, 4001)
DENSITY = norm.pdf(GRID, CENTRE, SPREAD)


def true_gains(found, line):
    """What an update saves per row: log loss (infinite where it is wrong for sure) and Brier score."""
    old, risk = expit(GRID), expit(line[0] + line[1] * GRID)
    new = found.predict(old)
    with np.errstate(divide="ignore"):
        logs = risk * (np.log(new) - np.log(old)) + (1.0 - risk) * (np.log1p(-new) - np.log1p(-old))
    squares = risk * ((1.0 - old) ** 2 - (1.0 - new) ** 2) + (1.0 - risk) * (old**2 - new**2)
    return [float(np.average(each, weights=DENSITY)) for each in (logs, squares)]


def fitted(case, method, rows, seed):
    """Draw rows and update them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(CENTRE, SPREAD, rows)
    shift, slope = CASES[case]
    return update(rng.random(rows) < expit(shift + slope * x), expit(x), method=method, random_state=seed)


def covered(case, method, rows, runs):
    """Whether each interval of an update held the gain (by loss), and how often each method was chosen."""
    chosen, held = Counter(), []
    for seed in range(runs):
        found = fitted(case, method, rows, seed)
        chosen[found.method] += 1
        if found.method != "none":
            truth = true_gains(found, CASES[case])
            held.append([g.interval[0] <= t <= g.interval[1] for g, t in zip(found.gains, truth, strict=True)])
    return np.array(held).reshape(-1, 2), chosen


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications update_gain", description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000])
    options = parser.parse_args(arguments)
    print(f"{options.runs:,} runs; share of intervals that held the gain in log loss, and in Brier score\n")
    print("| rows | log-odds | method | updated | log loss | Brier score | chosen |\n| --- |" + " --- |" * 6)
    for rows in options.sizes:
        for case in CASES:
            for method in METHODS:
                held, chosen = covered(case, method, rows, options.runs)
                logs, squares = (f"{share:.3f}" for share in held.mean(axis=0)) if len(held) else ("-", "-")
                logs = "-" if method == "isotonic" else logs  # steps of 0 or 1 have no finite log loss
                said = ", ".join(f"{name} {count}" for name, count in sorted(chosen.items()))
                print(f"| {rows} | {case} | {method} | {len(held)} | {logs} | {squares} | {said} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
