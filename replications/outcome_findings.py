"""How often the findings on outcomes are raised where they should not be, and where they should.

Censored follow-up: exponential times with a normal log-hazard x, the score its risk by the horizon; censoring with a
hazard proportional to exp(k x), independent of the score where k = 0. Turned scores are one less the risk. Thin
follow-up: a horizon that 8 or 60 rows reach. Amounts: 10% positives, a false negative costs a lognormal amount.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from stakes import RowCosts, TimeToEvent, evaluate

HORIZON, RATE, LEAVING = 1.0, 0.3, 0.35
FOLLOW_UP = ("censoring-follows-score", "thin-follow-up", "heavy-weights", "looks-like-survival")
AMOUNTS = ("few-amounts-decide",)


def followed(rng, n, k=0.0, *, turned=False, reach=None):
    """Codes of the findings for one sample of follow-up."""
    x = rng.normal(size=n)
    event, left = rng.exponential(np.exp(-x) / RATE), rng.exponential(np.exp(-k * x) / LEAVING)
    seen = np.minimum(event, left)
    horizon = HORIZON if reach is None else float(np.sort(seen)[-reach])
    risk = -np.expm1(-RATE * np.exp(x) * horizon)
    outcome = TimeToEvent(event=event <= left, time=seen, horizon=horizon)
    return evaluate(outcome, {"model": 1.0 - risk if turned else risk}, costs=(0.05, 0.3)).findings.codes


def priced(rng, n, sigma):
    """The same for amounts."""
    p, amount = rng.beta(1.0, 9.0, n), 10.0 * rng.lognormal(0.0, sigma, n)
    outcome = RowCosts(rng.random(n) < p, false_positive=1.0, false_negative=amount)
    return evaluate(outcome, {"model": p}).findings.codes


DESIGNS = {
    "follow-up, nothing wrong, 300 rows": (followed, FOLLOW_UP, {"n": 300}),
    "follow-up, nothing wrong, 1,000 rows": (followed, FOLLOW_UP, {"n": 1000}),
    "people with higher scores leave earlier, k = 0.15": (followed, FOLLOW_UP, {"n": 1000, "k": 0.15}),
    "people with higher scores leave earlier, k = 0.3": (followed, FOLLOW_UP, {"n": 1000, "k": 0.3}),
    "people with higher scores leave earlier, k = 0.8": (followed, FOLLOW_UP, {"n": 1000, "k": 0.8}),
    "people with higher scores leave later, k = -0.8": (followed, FOLLOW_UP, {"n": 1000, "k": -0.8}),
    "scores are those of no event": (followed, FOLLOW_UP, {"n": 300, "turned": True}),
    "8 of 300 rows followed to the horizon": (followed, FOLLOW_UP, {"n": 300, "reach": 8}),
    "8 of 100 rows followed to the horizon": (followed, FOLLOW_UP, {"n": 100, "reach": 8}),
    "60 of 300 rows followed to the horizon": (followed, FOLLOW_UP, {"n": 300, "reach": 60}),
    "amounts, sigma 0.5, 10,000 rows": (priced, AMOUNTS, {"n": 10_000, "sigma": 0.5}),
    "amounts, sigma 1, 10,000 rows": (priced, AMOUNTS, {"n": 10_000, "sigma": 1.0}),
    "amounts, sigma 1, 1,000 rows": (priced, AMOUNTS, {"n": 1000, "sigma": 1.0}),
    "amounts, sigma 2, 1,000 rows": (priced, AMOUNTS, {"n": 1000, "sigma": 2.0}),
}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m replications outcome_findings", description=__doc__)
    parser.add_argument("--samples", type=int, default=1000, help="of each design")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    started = time.process_time()
    print(f"| design | {' | '.join((*FOLLOW_UP, *AMOUNTS))} |\n{'| --- ' * (len(FOLLOW_UP) + len(AMOUNTS) + 1)}|")
    for label, (sample, codes, design) in DESIGNS.items():
        rng = np.random.default_rng([options.seed, *label.encode()])
        raised = [set(sample(rng, **design)) for _ in range(options.samples)]
        each = [f"{np.mean([code in found for found in raised]):.1%}" if code in codes else "" for code in FOLLOW_UP]
        each += [f"{np.mean([code in found for found in raised]):.1%}" if code in codes else "" for code in AMOUNTS]
        print(f"| {label} | {' | '.join(each)} |", flush=True)
    print(f"\n{options.samples} samples of each design; {time.process_time() - started:.0f} s of one core")


if __name__ == "__main__":
    main()
