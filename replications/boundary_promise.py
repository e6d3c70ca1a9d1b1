"""Whether the precision that a boundary promises is kept, on data whose true rates are known.

Three designs: "useful" turns the slope of the score by the uncertainty, "useless" does not, "evidence" draws scores
from few or many examples with undersampled negatives (the second figure of the paper on boundaries over score and
uncertainty). In "worst case" every row lies just below the promise, so that every certificate is wrong. The precision
of a region is the mean true rate of fresh rows in it.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from stakes.boundary import fit_boundary

CONFIDENCE = 0.9
FRESH = 200_000


def logistic(slope, turn):
    """Scores that are calibrated but for the turn of their slope by the uncertainty; one row in ten is positive."""
    rng = np.random.default_rng(99)
    z, u = rng.standard_normal(FRESH), rng.random(FRESH)
    level = brentq(lambda a: expit(a + slope * (1 + turn * (1 - 2 * u)) * z).mean() - 0.1, -15, 0)

    def draw(n, rng):
        z, u = rng.standard_normal(n), rng.random(n)
        return expit(level + slope * z), u, expit(level + slope * (1 + turn * (1 - 2 * u)) * z)

    return draw


def evidence(n, rng):
    seen = np.exp(rng.uniform(0, np.log(200), n)).astype(int)
    truth = rng.beta(0.3, 0.7, n)
    kept = 5 * truth / (5 * truth + 1 - truth)  # one negative in five is trained on
    return (0.1 + rng.binomial(seen, kept)) / (0.2 + seen), 1 / (0.2 + seen), truth


def worst_case(n, rng):
    return rng.random(n), rng.random(n), np.full(n, 0.8 - 1e-6)


DESIGNS = {
    "useful": (logistic(1.55, 0.42), 40_000, 0.8),
    "useless": (logistic(1.73, 0.0), 40_000, 0.8),
    "evidence": (evidence, 20_000, 0.9),
    "worst case": (worst_case, 20_000, 0.8),
}
METHODS = {
    "certified": {"confidence_level": CONFIDENCE},
    "tuned": {"tune": "cv"},
    "plain, 3 levels": {},
    "plain, 11 levels": {"levels": 11},
    "plain, one threshold": {"solver": "single_threshold"},
}


def simulate(name, method, repeats, seed):
    """Return shares of broken promises and of abstentions, mean recall, and mean true precision of regions."""
    draw, n, bound = DESIGNS[name]
    fresh_score, fresh_u, fresh_rate = draw(FRESH, np.random.default_rng(5))
    rng = np.random.default_rng(seed)
    recall, precision = [], []
    for turn in range(repeats):
        score, u, rate = draw(n, rng)
        y = rng.random(n) < rate
        boundary = fit_boundary(y, score, u, min_precision=bound, random_state=turn, **METHODS[method])
        inside = boundary.predict(fresh_score, fresh_u) == 1
        recall.append(fresh_rate[inside].sum() / fresh_rate.sum())
        if inside.any():
            precision.append(fresh_rate[inside].mean())
    broken = np.sum(np.array(precision) < bound) / repeats
    return broken, 1 - len(precision) / repeats, np.mean(recall), np.mean(precision) if precision else np.nan


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m replications boundary_promise", description=__doc__)
    parser.add_argument("--repeats", type=int, default=2400, help="data sets of each design, certified (default 2400)")
    parser.add_argument("--others", type=int, default=300, help="data sets for the other methods (default 300)")
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    options = parser.parse_args(arguments)
    print("| design | method | data sets | promise broken | nothing selected | recall | precision | bound | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.designs:
        for method in METHODS:
            if name == "worst case" and method != "certified":
                continue
            repeats = options.repeats if method == "certified" else options.others
            if not repeats:
                continue
            start = time.perf_counter()
            broken, abstained, recall, precision = simulate(name, method, repeats, seed=7)
            error = np.sqrt(broken * (1 - broken) / repeats)
            shown = f"{broken:.4f} +- {error:.4f} | {abstained:.3f} | {recall:.4f} | {precision:.4f}"
            bound, spent = DESIGNS[name][2], time.perf_counter() - start
            print(f"| {name} | {method} | {repeats} | {shown} | {bound} | {spent:.0f} |", flush=True)
            if method == "certified":
                assert broken <= 1 - CONFIDENCE + 2 * error, f"{name}: the promise is broken too often"


if __name__ == "__main__":
    main()
