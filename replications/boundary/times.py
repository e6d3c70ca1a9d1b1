"""Table 4: processor seconds on grids of a million rows, 5% positive, bound 0.7, beside the printed figures."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

from benchmarks.boundary import MILLION, grid
from stakes.boundary import fit_boundary
from stakes.boundary._problem import BoundaryProblem
from stakes.boundary._solvers import equal_weight_dp, isotonic, solve_exact

BOUND = Fraction(7, 10)
# score bins x levels: EW-DPMT and MIST as printed (MIST works on rows there)
PRINTED = {
    (100, 3): (8, 92),
    (100, 7): (42, 154),
    (100, 11): (106, 233),
    (500, 3): (98, 99),
    (500, 7): (830, 146),
    (500, 11): (1976, 162),
    (1000, 3): (530, 80),
    (1000, 7): (3434, 99),
    (1000, 11): (11335, 99),
}


def best_of(call, repeats):
    """Shortest processor time of some runs on one thread, after one that does not count."""
    call()
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return min(spent)


def rows_of(n, seed=0):
    """Scores and uncertainties of rows of which 5% are positive; the uncertainty turns the slope of the score."""
    rng = np.random.default_rng(seed)
    z, uncertainty = rng.standard_normal(n), rng.random(n)
    truth = 1.0 / (1.0 + np.exp(3.95 - 1.5 * (1.0 + 0.4 * (1.0 - 2.0 * uncertainty)) * z))
    return rng.random(n) < truth, 1.0 / (1.0 + np.exp(3.95 - 1.5 * z)), uncertainty


def table(repeats=3, n=MILLION):
    """Lines of seconds: on the grid, and from a million rows with every score a threshold."""
    heads = ("EW-DPMT printed", "EW-DPMT", "exact", "MIST printed", "MIST, bins", "MIST, rows", "exact, rows")
    yield "| bins x levels | " + " | ".join(heads) + " |"
    yield "| --- " * (len(heads) + 1) + "|"
    y, score, uncertainty = rows_of(n)
    whole = {}
    for (bins, levels), (printed, printed_isotonic) in PRINTED.items():
        options = grid(bins, levels)
        calls = (
            lambda options=options: equal_weight_dp(options, BOUND),
            lambda options=options: solve_exact(options, BoundaryProblem("recall", BOUND)),
            lambda options=options: isotonic(options, BOUND),
        )
        ours, exact, mist = (best_of(call, repeats) for call in calls)
        if levels not in whole:
            whole[levels] = [
                best_of(
                    lambda solver=solver, levels=levels: fit_boundary(
                        y, score, uncertainty, min_precision=BOUND, solver=solver, levels=levels
                    ),
                    repeats,
                )
                for solver in ("isotonic", "exact")
            ]
        shown = (printed, ours, exact, printed_isotonic, mist, *whole[levels])
        yield (
            f"| {bins} x {levels} | "
            + " | ".join(f"{value:.2g}" if isinstance(value, float) else f"{value:,}" for value in shown)
            + " |"
        )
