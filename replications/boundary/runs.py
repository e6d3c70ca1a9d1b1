"""Records of every method on simulated designs and on real models, one set for each seed."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from functools import cache

import numpy as np

from replications.boundary import positivity
from replications.boundary.calibration import compare
from replications.boundary.designs import DESIGNS, TEST_ROWS
from replications.boundary.methods import ST, study

ORACLE = "posterior mean"
CALIBRATED_LEVELS = (3, 11)


def drawn(name, seed):
    """Hold-out and test rows of a design."""
    design, rng = DESIGNS[name], np.random.default_rng([seed, ord(name)])
    return design.draw(design.hold_out, rng), design.draw(TEST_ROWS, rng)


@cache  # several parts look at the same model
def trained(name, source, tau, seed):
    """Name, hold-out and test rows of each uncertainty of one trained model."""
    from replications.boundary.models import SOURCES, Parts

    start = time.perf_counter()
    found = list(SOURCES[source](Parts(name, tau, seed)))
    print(f"{name}, {source}, seed {seed}: trained in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return found


def simulated(name, seed, chosen):
    """All methods on fresh rows of a design, and the ranking that knows where the truth comes from."""
    pair = drawn(name, seed)
    yield from labelled(study(*pair, chosen), name, "", seed)
    ranked = [replace(one, score=DESIGNS[name].posterior_mean(one)) for one in pair]
    for record in labelled(study(*ranked, [ST]), name, "", seed):
        yield {**record, "method": ORACLE}


def real(name, source, tau, seed, chosen):
    """All methods on the scores of one trained model, with each of its uncertainties."""
    for what, hold_out, test in trained(name, source, tau, seed):
        yield from labelled(study(hold_out, test, chosen), name, what, seed)


def labelled(records, data, source, seed):
    for record in records:
        yield {"data": data, "source": source, "seed": seed, **record}


def calibrations(pair, name, seed):
    """One record for each number of levels and calibrator."""
    for levels in CALIBRATED_LEVELS:
        for calibrator, errors in compare(*pair, levels).items():
            yield {"data": name, "levels": levels, "calibrator": calibrator, "seed": seed, **errors}


def theory_lines(designs, folder):
    """How near the simulated rates of a score and size are to the closed form."""
    yield "| design | nu | cells | mean squared deviation, in variances | largest deviation, in standard errors |"
    yield "| --- " * 5 + "|"
    for name in designs:
        found = list(positivity.slices(DESIGNS[name], 0))
        rows, observed, expected = (np.concatenate([one[k] for one in found]) for k in (2, 3, 4))
        cells, squared, largest = positivity.agreement(rows, observed, expected)
        yield f"| {name} | {DESIGNS[name].nu:.3g} | {cells} | {squared:.2f} | {largest:.1f} |"
        if folder:
            from replications.boundary.figures import draw_theory

            draw_theory(DESIGNS[name], name, folder)


def evidence_lines(name, source, tau, folder):
    """The theorem on real scores that rest on counts: the prior fitted to held-out rows, judged on test rows."""
    for what, hold_out, test in trained(name, source, tau, 0):
        if test.seen is None or hold_out.weight is not None:
            continue
        prior = positivity.fit_prior(hold_out, tau)
        found = positivity.cells(test, positivity.expected(test, prior, tau), 3, np.linspace(0.0, 1.0, 13))
        losses = positivity.losses(hold_out, test, prior, tau)
        yield f"{what}: prior Beta({prior[0]:.3g}, {prior[1]:.3g}); log loss on test rows: {losses}"
        if folder:
            from replications.boundary.figures import draw_cells

            title = f"{name}, {what}\npoints: test rows; lines: the theorem"
            draw_cells(found, title, f"positivity_{name}_{source}", folder)
