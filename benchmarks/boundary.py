"""Thresholds over score and uncertainty: the exact boundary end to end, its goals, and the paper's grids and solvers.

Rows without peers measure the time from arrays to boundary. Grids of the paper's Table 4 are binned before the clock
starts, as there; the hard instances are subset sums in disguise, with even items and an odd target.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from benchmarks._data import SEED
from benchmarks._rows import Entry, Goal, Row
from stakes.boundary import fit_boundary, precision_recall_frontier
from stakes.boundary._problem import BoundaryProblem
from stakes.boundary._solvers import equal_weight_dp, isotonic, solve_exact, variable_weight_dp
from tests.boundary_options import options_of_grid

MILLION = 10**6
SIZES = (10**5, 10**6)


@dataclass(frozen=True)
class Held:
    """Rows of a hold-out set; the uncertainty turns the slope of the score."""

    y: np.ndarray
    score: np.ndarray
    uncertainty: np.ndarray


def hold_out(inputs):
    n = len(inputs.y)
    rng = np.random.default_rng(SEED)
    z, uncertainty = rng.standard_normal(n), rng.random(n)
    truth = 1.0 / (1.0 + np.exp(2.97 - 1.5 * (1.0 + 0.4 * (1.0 - 2.0 * uncertainty)) * z))
    return Held(rng.random(n) < truth, 1.0 / (1.0 + np.exp(2.97 - 1.5 * z)), uncertainty)


def rounded(inputs):
    held = hold_out(inputs)
    return Held(held.y, held.score.round(3), held.uncertainty)


def fit(held, **options):
    boundary = fit_boundary(held.y, held.score, held.uncertainty, **options)
    if options.get("confidence_level") is None and options.get("tune") is None and not boundary.optimal:
        raise RuntimeError(f"a cap was hit: {boundary!r}")
    return boundary


def seconds(limit, rows=MILLION):
    return Goal(f"at most {limit:g} s", lambda by: by["stakes"].best, limit, "s", rows=rows)


def end_to_end(name, limit=None, prepare=hold_out, **options):
    shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
    run = Entry("stakes", f"fit_boundary({shown})", partial(fit, **options), prepare, lambda b: [b.value])
    return Row(name, run, goals=() if limit is None else (seconds(limit),))


def grid(bins, levels):
    """Counts of a million rows, 5% positive, rates that rise with the score."""
    rng = np.random.default_rng(SEED)
    totals = rng.multinomial(MILLION, np.full(levels * bins, 1.0 / (levels * bins))).reshape(levels, bins)
    rates = np.sort(rng.random((levels, bins)) ** 19, axis=1)
    return options_of_grid(rng.binomial(totals, rates), totals)


def most_recall(options, precision=Fraction(7, 10)):
    solution = solve_exact(options, BoundaryProblem("recall", min_precision=precision))
    if not solution.optimal:
        raise RuntimeError(f"a cap was hit: {float(solution.value):.0f} of at most {float(solution.bound):.0f}")
    return int(solution.value)


def positives(solver, options):
    return options.counts(solver(options, Fraction(7, 10)))[0]


def integer_program(options):
    """HiGHS, one binary variable per option."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    owner = np.repeat(np.arange(options.n_levels), np.diff(options.starts))
    one_each = (owner == np.arange(options.n_levels)[:, None]).astype(float)
    slack = (10 * options.positives - 7 * options.selected)[None, :].astype(float)
    constraints = [LinearConstraint(one_each, 1, 1), LinearConstraint(slack, 0, np.inf)]
    setting = {"integrality": np.ones(len(owner)), "bounds": Bounds(0, 1), "options": {"mip_rel_gap": 0}}
    found = milp(-options.positives.astype(float), constraints=constraints, **setting)
    return round(-found.fun)


def grid_row(bins, levels, limit=None):
    def prepare(_):
        return grid(bins, levels)

    def entry(library, call, run):
        return Entry(library, call, run, prepare, lambda value: [value])

    rivals = (
        entry("scipy", "milp (HiGHS)", integer_program),
        # written with numpy, and measured as such; neither need reach the optimum
        Entry("numpy", "equal_weight_dp", partial(positives, equal_weight_dp), prepare),
        Entry("numpy", "isotonic", partial(positives, isotonic), prepare),
    )
    goals = () if limit is None else (seconds(limit, rows=SIZES[0]), seconds(limit))
    return Row(f"grid of {bins} bins and {levels} levels", entry("stakes", "exact", most_recall), rivals, goals=goals)


def subset_sum(n_items, largest):
    rng = np.random.default_rng(SEED)
    items = 2 * rng.integers(1, largest, n_items)
    target = int(items.sum() // 2) | 1
    ups, totals = np.zeros((n_items, 2), np.int64), np.zeros((n_items, 2), np.int64)
    ups[:, 0], totals[:, 0] = items, 3 * items
    ups[0, 1] = totals[0, 1] = target
    return options_of_grid(ups, totals)


def hard(n_items, largest):
    run = Entry(
        "stakes",
        f"exact, {n_items} items up to {2 * largest:.0e}",
        partial(most_recall, precision=Fraction(1, 2)),
        lambda _: subset_sum(n_items, largest),
        lambda value: [value],
    )
    return Row(f"subset sum of {n_items} items", run)


def small_grid_of_rows(_):
    return grid(50, 3)


FRONTIER = Entry(
    "stakes",
    "precision_recall_frontier",
    lambda held: precision_recall_frontier(held.y, held.score, held.uncertainty),
    hold_out,
    lambda found: [found.max_recall("0.8")],
)

ROWS = (
    end_to_end("exact, 3 levels", 1.0, min_precision=0.8),
    end_to_end("exact, 11 levels", 1.0, min_precision=0.8, levels=11),
    end_to_end("exact, 11 levels, tied scores", 1.0, rounded, min_precision=0.8, levels=11),
    end_to_end("capacity", 1.0, capacity=0.02, levels=11),
    end_to_end("dual", 1.5, goal="precision", min_recall=0.3, levels=11),
    end_to_end("F1", 1.0, goal="f_beta", f_beta=1, levels=11),
    end_to_end("certificate", min_precision=0.8, confidence_level=0.9, random_state=0),
    end_to_end("tuned by cross-validation", min_precision=0.8, tune="cv", random_state=0),
    Row("frontier", FRONTIER),
    *(grid_row(bins, levels) for bins, levels in ((100, 3), (100, 11), (500, 11))),
    grid_row(1000, 11, 0.01),
    Row(
        "dynamic programme over rows",
        Entry("stakes", "exact", most_recall, small_grid_of_rows, lambda value: [value]),
        (
            Entry(
                "numpy",
                "variable_weight_dp",
                partial(positives, variable_weight_dp),
                small_grid_of_rows,
                lambda value: [value],
            ),
        ),
    ),
    hard(30, 10**6),
    hard(36, 10**8),
    hard(40, 10**6),
)
