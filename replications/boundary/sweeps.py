"""Figure 5: gain in recall over one threshold against the number of bins, of levels, and the negatives kept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from replications.boundary.designs import DESIGNS, TEST_ROWS
from replications.boundary.methods import BINS, ST, Method, study
from replications.boundary.tables import paired, relative

BOUND = Fraction(4, 5)
BIN_COUNTS = (20, 50, 100, 200, 500, 1000)
LEVEL_COUNTS = (2, 3, 5, 7, 11, 15, 21)
RATIOS = (1, 2, 5, 10, 20)
WHAT = ("bins", "levels", "undersampling")
REAL = (
    ("adult", "forest", "forest, mutual information"),
    ("adult", "posterior_network", "Posterior Network, evidence"),
)
SOLVERS = {"EW-DPMT": "equal_weight_dp", "MIST": "isotonic", "exact, same bins": "exact"}
EVERY = "exact, every score"


def grid_methods(levels, bins):
    """The three solvers on one grid, and the exact one on every score."""
    on_bins = [Method(name, solver, levels, "equal_weight", bins) for name, solver in SOLVERS.items()]
    return [*on_bins, Method(EVERY, "exact", levels)]


def points():
    """The sweeps that refit one pair of samples: {(what, value): methods}."""
    bins = {("bins", bins): grid_methods(3, bins) for bins in BIN_COUNTS}
    return bins | {("levels", levels): grid_methods(levels, BINS) for levels in LEVEL_COUNTS}


def simulated(name, seed):
    """Records of all three sweeps on a design."""
    rng = np.random.default_rng([seed, ord(name), 5])
    design = DESIGNS[name]
    pair = design.draw(design.hold_out, rng), design.draw(TEST_ROWS, rng)
    yield from swept(pair, points(), name, seed)
    for ratio in RATIOS:
        other = design.with_undersampling(ratio)
        pair = other.draw(design.hold_out, rng), other.draw(TEST_ROWS, rng)
        yield from swept(pair, {("undersampling", ratio): grid_methods(3, BINS)}, name, seed)


def real(name, source, what, seed):
    """Records of all three sweeps on one uncertainty of a real model, trained anew for each share of negatives."""
    from replications.boundary.models import SOURCES, Parts

    for ratio in RATIOS[:-1]:
        for label, *pair in SOURCES[source](Parts(name, ratio, seed)):
            if label == what:
                todo = {("undersampling", ratio): grid_methods(3, BINS)} | (points() if ratio == 5 else {})
                yield from swept(pair, todo, f"{name}, {what}", seed)


def swept(pair, todo, name, seed):
    single = next(study(*pair, [ST], (BOUND,)))["matched"]
    for (sweep, value), methods in todo.items():
        for record in study(*pair, methods, (BOUND,)):
            found = {"method": record["method"], "matched": record["matched"], "single": single}
            yield {"data": name, "sweep": sweep, "value": value, "seed": seed, **found}


def columns(records, name, sweep):
    """{method: {value: (recalls, single)}} in the order of the seeds."""
    out = {}
    for record in sorted(records, key=lambda record: record["seed"]):
        if (record["data"], record["sweep"]) == (name, sweep):
            cell = out.setdefault(record["method"], {}).setdefault(record["value"], ([], []))
            cell[0].append(record["matched"])
            cell[1].append(record["single"])
    return out


def lines(records, name, sweep):
    """Recall at matched precision, its change from one threshold and the p-value of the paired t test."""
    by_method = columns(records, name, sweep)
    values = list(next(iter(by_method.values())))
    yield f"| {name}: {sweep} | " + " | ".join(map(str, values)) + " |"
    yield "| --- " * (len(values) + 1) + "|"
    singles = [f"{np.mean(single):.4f}" for _, single in next(iter(by_method.values())).values()]
    yield "| one threshold | " + " | ".join(singles) + " |"
    for method, cells in by_method.items():
        yield f"| {method} | " + " | ".join(cell_text(*cell) for cell in cells.values()) + " |"


def cell_text(recalls, single):
    _, p, _ = paired(recalls, single)
    return f"{np.mean(recalls):.4f} {relative(np.mean(recalls), np.mean(single))} ({p:.2g})"
