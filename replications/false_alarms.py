"""How often the findings are raised where nothing is wrong: simulated forecasts that are calibrated and useful.

Each design draws risks, gives the models honest probabilities of what they know, and draws the outcomes; the share of
simulations in which a code is raised is its false-alarm rate. In three designs everything is right, for two models each
of which is clearly better than a constant decision; in "groups" for one model in three groups alike. Three more stand
at the edge of one statement, where a test is most easily wrong: "twins" holds two models that are equally good, so that
neither AUC nor cost prefers one; "useless" a calibrated model that discriminates hardly at all on few rows; "seldom"
one whose calibrated scores seldom reach the range, so that a handful of cases decides. That such a model is no better
than a constant decision, and that few rows carry its cost, is then true and no false alarm, as are statements of
severity "info" about the range that was chosen. "ten" holds ten equally good models: that one of them costs less at
every threshold than another is counted there and among the twins as "every threshold", and is false.

With ``--real NAME``, of samples of a table of ``shared/data``: how often each model, fitted without class weights to a
third of its rows, is told that its risks are off on average, beside what the other rows say of it.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from replications.ledger.populations import fitted
from stakes import evaluate
from stakes.evaluation import FINDINGS

EVERY = "every threshold"
OFF = "calibration-in-the-large"


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
    "ten": Design(1000, 0.2, (0.8,) * 10, (0.1, 0.4)),
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
    counts, any_false = dict.fromkeys((*FINDINGS, EVERY), 0), 0
    equal = len(set(design.spreads)) < len(design.spreads)
    for _ in range(runs):
        groups = rng.choice(len(design.shares), design.rows, p=design.shares) if design.shares else None
        found = evaluate(*simulate(design, middle, rng), costs=design.bounds, groups=groups)
        codes = {code for code in found.findings.codes if FINDINGS[code].severity != "info"}
        if equal and not set(found.models).isdisjoint(found.by_threshold.everywhere):
            codes.add(EVERY)
        for code in codes:
            counts[code] += 1
        any_false += not codes <= set(design.true_codes)
    return counts, any_false


def off_on_real_rows(name, rows, runs, rng):
    """By model fitted without weights: observed to expected events in the population, share of samples told so."""
    whole = fitted(name)
    kept = [i for i, model in enumerate(whole.names) if model != "balanced"]
    told = dict.fromkeys((whole.names[i] for i in kept), 0)
    share = whole.y.mean()
    for _ in range(runs):
        drawn = rng.choice(len(whole.y), rows, replace=False)
        models = {whole.names[i]: whole.risks[drawn, i] for i in kept}
        for found in evaluate(whole.y[drawn], models, costs=(share / 2, min(2 * share, 0.9))).findings:
            for model in found.models if found.code == OFF else ():
                told[model] += 1
    return {whole.names[i]: (share / whole.risks[:, i].mean(), told[whole.names[i]] / runs) for i in kept}


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications false_alarms")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--real", action="append", default=[], metavar="NAME")
    asked = parser.parse_args(arguments)
    runs = asked.runs
    if asked.real:
        print("| table | rows | model | observed to expected of all rows | told that its risks are off on average |")
        print("| --- | --- | --- | --- | --- |")
        for name, rows in product(asked.real, (300, 2000)):
            for model, (ratio, told) in off_on_real_rows(name, rows, runs, np.random.default_rng(2019)).items():
                print(f"| {name} | {rows:,} | {model} | {ratio:.2f} | {told:.3f} |", flush=True)
        return
    rng = np.random.default_rng(2019)
    columns, totals, started = {}, {}, time.perf_counter()
    for name, design in DESIGNS.items():
        print(f"\r{name:<20}", end="", file=sys.stderr, flush=True)
        columns[name], totals[name] = alarms(design, runs, rng)
    print("\r", end="", file=sys.stderr)
    print(f"share of {runs:,} simulations in which each finding is raised; '(true)' where the design makes it so\n")
    print("| code | " + " | ".join(DESIGNS) + " |")
    print("| --- | " + " | ".join("---" for _ in DESIGNS) + " |")
    for code in [*(code for code, check in FINDINGS.items() if check.severity != "info"), EVERY]:
        cells = [
            "(true)" if code in design.true_codes else f"{columns[name][code] / runs:.3f}"
            for name, design in DESIGNS.items()
        ]
        print(f"| {code} | " + " | ".join(cells) + " |")
    print("| any false one | " + " | ".join(f"{totals[name] / runs:.3f}" for name in DESIGNS) + " |")
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
