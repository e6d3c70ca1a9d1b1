"""Coverage of 95% intervals with censored follow-up by simulation, against the truth of a large uncensored sample.

Times are exponential with a normal log-hazard; score A is calibrated, B noisy. A second cause, where there is one, has
a hazard of its own. Censoring is exponential, at a rate that leaves the stated share of statuses unknown.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from stakes import TimeToEvent, metric_difference, metric_interval
from stakes.metrics import METRICS

HORIZON, RATE, OTHER = 1.0, 0.2, 0.15
DESIGNS = [(causes, unknown, n) for causes in (1, 2) for unknown in (0.2, 0.4, 0.6) for n in (300, 1000)]
SINGLE = {
    "NB(.1)": ("net_benefit_score", {"threshold": 0.1}),
    "Brier": ("bounded_brier_loss", {}),
    "AUC": ("roc_auc_score", {}),
}
LARGE = 2_000_000


def population(rng, n, causes):
    """Times, causes and both scores, without censoring."""
    x = rng.normal(size=n)
    own, other = RATE * np.exp(x), np.full(n, OTHER if causes == 2 else 0.0)
    hazard = own + other
    event_time = rng.exponential(1.0 / hazard)
    cause = np.where(rng.random(n) < own / hazard, 1, 2)
    risk = own / hazard * -np.expm1(-hazard * HORIZON)
    noisy = expit(logit(np.clip(risk, 1e-9, 1 - 1e-9)) + 0.7 * rng.normal(size=n))
    return event_time, cause, risk, noisy


def censoring_rate(event_time, unknown):
    """Rate at which this share of the statuses at the horizon is unknown."""
    end = np.minimum(event_time, HORIZON)
    return brentq(lambda rate: np.mean(-np.expm1(-rate * end)) - unknown, 1e-6, 100.0)


def truths(causes):
    event_time, cause, risk, noisy = population(np.random.default_rng(1), LARGE, causes)
    y = (event_time <= HORIZON) & (cause == 1)
    found = {}
    for label, (name, options) in SINGLE.items():
        a, b = (METRICS[name].function(y, score, **options) for score in (risk, noisy))
        found[label], found[f"d{label}"] = a, a - b
    return found, event_time[:200_000]


def covered(rng, n, causes, rate, true):
    """Whether each interval holds the truth; nan without one."""
    event_time, cause, risk, noisy = population(rng, n, causes)
    left = rng.exponential(1.0 / rate, n)
    event = np.where(event_time <= left, cause, 0)
    outcome = TimeToEvent(event=event, time=np.minimum(event_time, left), horizon=HORIZON, cause=1)
    found = []
    for label, (name, options) in SINGLE.items():
        own = metric_interval(outcome, risk, name, **options)
        gap = metric_difference(outcome, risk, noisy, name, **options)
        for key, (low, high) in ((label, own.interval), (f"d{label}", gap.interval)):
            found.append(float(low <= true[key] <= high) if low <= high else np.nan)
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m replications coverage_outcomes", description=__doc__)
    parser.add_argument("--samples", type=int, default=2000, help="of each design")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    started = time.process_time()
    names = [key for label in SINGLE for key in (label, f"d{label}")]
    print(f"| causes, unknown | n | {' | '.join(names)} | no interval |")
    print("| --- " * (len(names) + 3) + "|")
    known = {causes: truths(causes) for causes in (1, 2)}
    for causes, unknown, n in DESIGNS:
        true, event_time = known[causes]
        rng = np.random.default_rng([options.seed, causes, int(100 * unknown), n])
        rate = censoring_rate(event_time, unknown)
        hits = np.array([covered(rng, n, causes, rate, true) for _ in range(options.samples)])
        shown = " | ".join(f"{100 * share:.1f}" for share in np.nanmean(hits, axis=0))
        print(f"| {causes}, {unknown:.0%} | {n} | {shown} | {np.isnan(hits).any(axis=1).mean():.1%} |", flush=True)
    print(f"{options.samples} samples of each design; {time.process_time() - started:.0f} s of one core")


if __name__ == "__main__":
    main()
