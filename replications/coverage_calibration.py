"""Coverage of the 95% intervals of a calibration summary by simulation, against the truth by quadrature.

Event probabilities q are Beta distributed. Scores are q itself (calibrated), too extreme (slope 2/3), too high in odds
by a half (shifted), or q ** 1.3 (bent, which logistic recalibration does not mend: its truth is the best that it can
do). Intercepts and slope of the population are those fitted to many quantiles of q; ICI, E50, E90 and Emax are those of
the true event rates, so the bias of smoothing counts against the intervals.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from stakes import ScoreTable
from stakes.core.options import evaluation_data
from stakes.core.score_table import fit_recalibration
from stakes.inference._calibration import calibration_estimates, recalibration_estimates
from stakes.variance.influence import cells_of

SHAPES = {0.03: (0.6, 19.4), 0.3: (1.2, 2.8)}
SIZES = (300, 1000, 5000)
LEAST = 0.93
CLOSED = {"o_e_ratio": "O:E", "calibration_in_the_large": "in the large", "slope": "slope"}
CLOSED |= {"joint_intercept": "joint intercept"}
CURVE = {"ici": "ICI", "e90": "E90"}  # E50 and Emax have no interval
SHOWN = CLOSED | CURVE
SCORES = {
    "calibrated": lambda q: q,
    "extreme": lambda q: expit(1.5 * logit(q) + 0.5 * logit(0.1)),
    "shifted": lambda q: expit(logit(q) + np.log(1.5)),
    "bent": lambda q: q**1.3,
}


def nodes_of(shape, number=20_000):
    return stats.beta.ppf((np.arange(number) + 0.5) / number, *shape)


def truth(score, q):
    """Population values of everything that has an interval; q are equally likely event probabilities."""
    s = score(q)
    labels = np.repeat([0, 1], len(q))
    table = ScoreTable.from_predictions(labels, np.tile(s, 2), sample_weight=np.concatenate([1 - q, q]))
    both, shift = fit_recalibration(table), fit_recalibration(table, slope=1.0)
    gap = np.abs(q - s)
    return {
        "o_e_ratio": q.mean() / s.mean(),
        "calibration_in_the_large": shift.intercept,
        "slope": both.slope,
        "joint_intercept": both.intercept,
        "ici": gap.mean(),
        "e50": np.quantile(gap, 0.5),
        "e90": np.quantile(gap, 0.9),
        "emax": gap.max(),
    }


def covered(shape, score, n, *, smoother, rng, true):
    """For each number: whether its interval holds the truth (nan without one), and its width."""
    q = rng.beta(*shape, n)
    y = rng.random(n) < q
    if not 0 < y.sum() < n:
        return {}
    cells = cells_of(evaluation_data(y, score(q)), fixed_prevalence=False)
    if smoother is None:
        found, _ = recalibration_estimates(cells, cells.design(), 0.95)
    else:
        found, _ = calibration_estimates(cells, cells.design(), smoother=smoother, level=0.95, rng=rng)
    ends = {estimate.metric: estimate.interval for estimate in found}
    return {
        name: (float(low <= true[name] <= high) if low <= high else np.nan, high - low)
        for name, (low, high) in ends.items()
    }


def simulate(prevalence, name, n, *, smoother, samples, curves, seed=0):
    """Share of intervals that cover, their mean width, and the share of samples without one.

    The first samples have all numbers, the rest those in closed form.
    """
    rng = np.random.default_rng([seed, n, int(100 * prevalence), list(SCORES).index(name)])
    true = truth(SCORES[name], nodes_of(SHAPES[prevalence]))
    asked = [smoother if k < curves else None for k in range(max(samples, curves))]
    runs = [covered(SHAPES[prevalence], SCORES[name], n, smoother=each, rng=rng, true=true) for each in asked]
    found = {}
    for number in SHOWN:
        size = curves if number in CURVE else len(runs)
        hit, width = np.array([run.get(number, (np.nan, np.nan)) for run in runs[:size]]).T
        missing = np.isnan(hit)
        found[number] = (
            *((np.nan, np.nan) if missing.all() else (float(np.nanmean(hit)), float(np.nanmean(width)))),
            float(missing.mean()),
        )
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m replications coverage_calibration", description=__doc__)
    parser.add_argument("--samples", type=int, default=2000, help="of each design, for what has a closed form")
    parser.add_argument("--curves", type=int, default=300, help="of each design, for ICI and E90")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--prevalences", type=float, choices=SHAPES, nargs="+", default=list(SHAPES))
    parser.add_argument("--scores", choices=SCORES, nargs="+", default=list(SCORES))
    parser.add_argument("--smoother", choices=["lowess", "loess"], default="lowess")
    options = parser.parse_args(argv)
    started, failing = time.process_time(), []
    print(f"| prevalence | score | rows | {' | '.join(SHOWN.values())} | no interval |")
    print("| --- " * (len(SHOWN) + 4) + "|")
    for prevalence in options.prevalences:
        for name in options.scores:
            for n in options.sizes:
                how = {"smoother": options.smoother, "samples": options.samples, "curves": options.curves}
                found = simulate(prevalence, name, n, **how)
                shown = " | ".join("none" if np.isnan(share) else f"{share:.3f}" for share, _, _ in found.values())
                none = max(found[number][2] for number in CLOSED)
                print(f"| {prevalence:.0%} | {name} | {n} | {shown} | {none:.1%} |", flush=True)
                design = f"{prevalence:.0%} {name} {n}"
                failing += [
                    f"{design}: {SHOWN[number]} {hit[0]:.3f}" for number, hit in found.items() if hit[0] < LEAST
                ]
    took = time.process_time() - started
    print(f"{options.samples} samples, {options.curves} for ICI and E90; {took:.0f} s of one core")
    print(f"below {LEAST}: " + ("; ".join(failing) if failing else "none"))


if __name__ == "__main__":
    main()
