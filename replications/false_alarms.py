"""How often the findings are raised where nothing is wrong: simulated forecasts that are calibrated and useful.

Each design draws risks, gives the models honest probabilities of what they know, and draws the outcomes; the share of
simulations in which a code is raised is its false-alarm rate. In three designs everything is right, for two models each
of which is clearly better than a constant decision; in "groups" for one model in three groups alike. Three more stand
at the edge of one statement, where a test is most easily wrong: "twins" holds two models that are equally good, so that
neither AUC nor cost prefers one; "useless" a calibrated model that discriminates hardly at all on few rows; "seldom"
one whose calibrated scores seldom reach the range, so that a handful of cases decides. That such a model is no better
than a constant decision, and that few rows carry its cost, is then true and no false alarm, as are statements of
severity "info" about the range that was chosen.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from stakes import evaluate
from stakes.evaluation import FINDINGS


@dataclass(frozen=True)
class Design:
    """Rows, share of positives, spread of the risks in log-odds that each model knows of, range, shares of groups."""

    rows: int
    prevalence: float
    spreads: tuple[float, ...]
    bounds: tuple[float, float]
    true_codes: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()


DESIGNS = {
    "common outcome": Design(1000, 0.3, (1.6, 1.2), (0.1, 0.5)),
    "rare outcome": Design(5000, 0.03, (1.6, 1.2), (0.01, 0.1)),
    "many rows": Design(50_000, 0.1, (1.6, 1.2), (0.05, 0.6)),
    "twins": Design(2000, 0.2, (1.2, 1.2), (0.1, 0.4)),
    "groups": Design(3000, 0.2, (1.6,), (0.1, 0.4), shares=(0.5, 0.35, 0.15)),
    "useless": Design(500, 0.04, (0.3,), (0.02, 0.08), ("acts-like-constant", "not-better", "few-events")),
    "seldom": Design(1000, 0.03, (0.5,), (0.08, 0.2), ("acts-like-constant", "not-better", "few-events")),
}
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


def intercept(design):
    """Log-odds at the middle of the risks, for the prevalence asked for."""
    whole = np.sqrt(sum(spread**2 for spread in design.spreads))
    weights = _WEIGHTS / _WEIGHTS.sum()
    return brentq(lambda b: weights @ expit(b + whole * _NODES) - design.prevalence, -20.0, 20.0)


def simulate(design, middle, rng):
    """Labels, and for each model the probability of the positive class given what it knows.

    The log-odds of the risk are a sum of independent parts; each model sees one of them, and its probability is the
    mean risk over the others, so that it is calibrated.
    """
    seen = rng.normal(size=(len(design.spreads), design.rows)) * np.array(design.spreads)[:, None]
    y = rng.random(design.rows) < expit(middle + seen.sum(axis=0))
    scores = {}
    for i, own in enumerate(seen):
        rest = np.sqrt(sum(spread**2 for k, spread in enumerate(design.spreads) if k != i))
        scores[f"model {i + 1}"] = mean_risk(middle + own, rest)
    return y, scores


def mean_risk(log_odds, spread):
    """Mean of the logistic function over normal log-odds, tabulated and interpolated to about 1e-8."""
    if spread == 0.0:
        return expit(log_odds)
    grid = np.linspace(log_odds.min(), log_odds.max(), 2000)
    weights = _WEIGHTS / _WEIGHTS.sum()
    means = expit(grid[:, None] + spread * _NODES) @ weights
    return np.interp(log_odds, grid, means)


def alarms(design, runs, rng):
    """Count in how many simulations each code is raised, and in how many any warning or error that is false."""
    middle = intercept(design)
    counts, any_false = dict.fromkeys(FINDINGS, 0), 0
    for _ in range(runs):
        groups = rng.choice(len(design.shares), design.rows, p=design.shares) if design.shares else None
        codes = evaluate(*simulate(design, middle, rng), costs=design.bounds, groups=groups).findings.codes
        for code in codes:
            counts[code] += 1
        any_false += any(FINDINGS[code].severity != "info" and code not in design.true_codes for code in codes)
    return counts, any_false


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications false_alarms")
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args(arguments).runs
    rng = np.random.default_rng(2019)
    columns, totals, started = {}, {}, time.perf_counter()
    for name, design in DESIGNS.items():
        print(f"\r{name:<20}", end="", file=sys.stderr, flush=True)
        columns[name], totals[name] = alarms(design, runs, rng)
    print("\r", end="", file=sys.stderr)
    print(f"share of {runs:,} simulations in which each finding is raised; '(true)' where the design makes it so\n")
    print("| code | " + " | ".join(DESIGNS) + " |")
    print("| --- | " + " | ".join("---" for _ in DESIGNS) + " |")
    for code, check in FINDINGS.items():
        cells = [
            "(true)" if code in design.true_codes or check.severity == "info" else f"{columns[name][code] / runs:.3f}"
            for name, design in DESIGNS.items()
        ]
        print(f"| {code} | " + " | ".join(cells) + " |")
    print("| any false one | " + " | ".join(f"{totals[name] / runs:.3f}" for name in DESIGNS) + " |")
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
