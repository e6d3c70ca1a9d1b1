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
from stakes.core.inputs import evaluation_data
from stakes.core.recalibration import fit_recalibration
from stakes.inference._calibration import calibration_estimates
from stakes.inference._influence import cells_of

SHAPES = {0.03: (0.6, 19.4), 0.3: (1.2, 2.8)}
SIZES = (300, 1000, 5000)
LEAST = 0.93
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
        return dict.fromkeys(true, (np.nan, np.nan))
    cells = cells_of(evaluation_data(y, score(q)), fixed_prevalence=False)
    found, _ = calibration_estimates(cells, cells.design(), smoother=smoother, level=0.95, rng=rng)
    ends = {estimate.metric: estimate.interval for estimate in found}
    return {
        name: (float(low <= true[name] <= high) if low <= high else np.nan, high - low)
        for name, (low, high) in ends.items()
    }


def simulate(prevalence, name, n, *, smoother, samples, seed=0):
    """Share of intervals that cover, their mean width, and the share of samples without one."""
    rng = np.random.default_rng([seed, n, int(100 * prevalence), list(SCORES).index(name)])
    true = truth(SCORES[name], nodes_of(SHAPES[prevalence]))
    runs = [covered(SHAPES[prevalence], SCORES[name], n, smoother=smoother, rng=rng, true=true) for _ in range(samples)]
    found = {}
    for number in true:
        hit, width = np.array([run[number] for run in runs]).T
        found[number] = float(np.nanmean(hit)), float(np.nanmean(width)), float(np.mean(np.isnan(hit)))
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m replications coverage_calibration", description=__doc__)
    parser.add_argument("--samples", type=int, default=1000, help="for each design")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--scores", choices=SCORES, nargs="+", default=list(SCORES))
    parser.add_argument("--smoother", choices=["lowess", "loess"], default="lowess")
    options = parser.parse_args(argv)
    started, failing = time.perf_counter(), []
    for prevalence in SHAPES:
        for name in options.scores:
            for n in options.sizes:
                found = simulate(prevalence, name, n, smoother=options.smoother, samples=options.samples)
                shown = "  ".join(f"{number[:5]} {share:.3f}" for number, (share, _, _) in found.items())
                none = max(missing for *_, missing in found.values())
                print(f"{prevalence:4.0%} {name:10} n={n:<5} {shown}  none {none:.1%}", flush=True)
                design = f"{prevalence:.0%} {name} n={n}"
                failing += [f"{design}: {number} {hit[0]:.3f}" for number, hit in found.items() if hit[0] < LEAST]
    print(f"{options.samples} samples of each design, {time.perf_counter() - started:.0f} s")
    print(f"below {LEAST}: " + ("; ".join(failing) if failing else "none"))


if __name__ == "__main__":
    main()
