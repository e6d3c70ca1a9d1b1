"""Size and power of the tests of loss-calibration by simulation: 500 rows, level 5%.

The probabilities are logit-normal (mean -1.25, standard deviation 1). The corrected scores are right (size), come from
weight 0.9 corrected as 0.85, or are 1.5 times too steep in log-odds (power).
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from scipy.special import expit, logit

from stakes import ScoreTable
from stakes.correction import apply_class_weight, undo_class_weight
from stakes.correction._loss_calibration import bootstrap_table, recalibration_test, sequential_e_value, spiegelhalter

ROWS, LEVEL = 500, 0.05
CENTRE, SPREAD = -1.25, 1.0
COLUMNS = ("likelihood ratio", "Spiegelhalter z", "miscalibration", "e-value, any time", "e-value, at the end")
CASES = {
    "size": lambda g: g,
    "weight 0.9 corrected as 0.85": lambda g: undo_class_weight(
        apply_class_weight(g, positive_share=0.9), positive_share=0.85
    ),
    "slope 1.5": lambda g: expit(1.5 * logit(g)),
}
# 400 runs each, of scores whose distribution is not stated: likelihood ratio, z, miscalibration, e-value
STATED = {
    "size": (0.058, 0.058, 0.058, 0.033),
    "weight 0.9 corrected as 0.85": (0.975, 0.547, 0.810, 0.848),
    "slope 1.5": (0.998, 1.000, 0.845, 0.932),
}


def one_run(wrong, rng, repeats):
    """Return which tests reject."""
    g = expit(rng.normal(CENTRE, SPREAD, ROWS))
    y = rng.random(ROWS) < g
    scores = wrong(g)
    table = ScoreTable.from_predictions(y, scores)
    evidence = sequential_e_value(y, scores, None, LEVEL)
    return (
        recalibration_test(table).p_value <= LEVEL,
        spiegelhalter(table)[1] <= LEVEL,
        bootstrap_table(table, repeats, rng)[1] <= LEVEL,
        evidence.largest >= 1.0 / LEVEL,
        evidence.last >= 1.0 / LEVEL,
    )


def rates(case, runs, repeats, seed=5):
    rng = np.random.default_rng(seed)
    return np.mean([one_run(CASES[case], rng, repeats) for _ in range(runs)], axis=0)


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications calibration_tests")
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--bootstrap", type=int, default=199, help="draws for the miscalibration")
    options = parser.parse_args(arguments)
    print(
        f"{options.runs:,} runs of {ROWS} rows, level {LEVEL:.0%}; largest standard error "
        f"{0.5 / options.runs**0.5:.3f}\n"
    )
    print(f"| case | {' | '.join(COLUMNS)} |\n| --- |{' --- |' * len(COLUMNS)}")
    for case, stated in STATED.items():
        found = rates(case, options.runs, options.bootstrap)
        print(f"| {case} | {' | '.join(f'{rate:.4f}' for rate in found)} |", flush=True)
        print(f"| stated | {' | '.join(f'{rate:.3f}' for rate in stated)} | |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
