"""Coverage of the closed-form 95% intervals by simulation, against the truth by quadrature.

Event probabilities q are Beta distributed. Three forecasts are scored: q itself (calibrated), q ** 1.3 (miscalibrated)
and q rounded to a grid (tied). Truths are integrals of the definitions over q, not computed by the library.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy import stats

from stakes.inference import metric_difference, metric_interval, threshold_intervals
from stakes.inference._thresholds import MEASURES

SIZES = (300, 1000, 5000)
MOSTLY = 0.9  # with so many refused, the few data sets left are odd ones
DESIGNS = {0.03: ((0.6, 19.4), (0.01, 0.1), (0.02, 0.05), 0.02), 0.3: ((1.2, 2.8), (0.05, 0.4), (0.1, 0.3), 0.1)}


def forecasts(q, grid):
    """Scores of the three forecasts for event probabilities."""
    return {
        "calibrated": q,
        "miscalibrated": q**1.3,
        "tied": np.clip(np.round(q / grid) * grid, grid / 4, 1 - grid / 4),
    }


class Truth:
    """Expected values over the population by a midpoint rule in the quantiles of q."""

    def __init__(self, shape, nodes=200_000):
        self.q = stats.beta.ppf((np.arange(nodes) + 0.5) / nodes, *shape)
        self.rate = shape[0] / sum(shape)

    def mean(self, loss, score):
        return float(np.mean(self.q * loss(score, 1.0) + (1 - self.q) * loss(score, 0.0)))

    def rates(self, t):
        """Entries of the threshold table of q itself."""
        act = self.q >= t
        tp, fp = float(np.mean(self.q * act)), float(np.mean((1 - self.q) * act))
        fn, tn = self.rate - tp, 1 - self.rate - fp
        sensitivity, specificity = tp / (tp + fn), tn / (tn + fp)
        return {
            "sensitivity": sensitivity,
            "specificity": specificity,
            "ppv": tp / (tp + fp),
            "npv": tn / (tn + fn),
            "lr_positive": sensitivity / (1 - specificity),
            "lr_negative": (1 - sensitivity) / specificity,
            "share_flagged": tp + fp,
        }

    def auc(self, score):
        levels, place = np.unique(score, return_inverse=True)
        ups = np.bincount(place, self.q) / self.q.sum()
        downs = np.bincount(place, 1 - self.q) / (1 - self.q).sum()
        assert len(levels) == len(ups)
        return float(np.sum(ups * (np.cumsum(downs) - downs / 2)))


def brier(low, high):
    return lambda s, y: (np.clip(s, low, high) - y) ** 2 - (np.clip(y, low, high) - y) ** 2


def log(low, high):
    def loss(s, y):
        t = np.clip(s, low, high)
        return np.log(high / t) if y else np.log((1 - low) / (1 - t))

    return loss


def benefit(t):
    return lambda s, y: np.where(s >= t, y - (1 - y) * t / (1 - t), 0.0)


def mean_benefit(low, high):
    """Average of the net benefit over thresholds: act up to the score."""

    def value(s, y):
        t = np.clip(s, low, high)
        odds = np.log((1 - low) / (1 - t)) - (t - low)  # integral of c / (1 - c)
        return (y * (t - low) - (1 - y) * odds) / (high - low)

    return value


def estimates(bounds, thresholds, truth):
    """Name, library metric, its options and the truth of a score."""
    low, high = bounds
    found = {
        "Brier score": ("bounded_brier_loss", {}, lambda s: truth.mean(brier(0, 1), s)),
        "bounded Brier": ("bounded_brier_loss", {"bounds": bounds}, lambda s: truth.mean(brier(low, high), s)),
        "log loss": ("bounded_log_loss", {}, lambda s: truth.mean(log(0, 1), s)),
        "bounded log": ("bounded_log_loss", {"bounds": bounds}, lambda s: truth.mean(log(low, high), s)),
        "mean net benefit": (
            "average_net_benefit_score",
            {"bounds": bounds},
            lambda s: truth.mean(mean_benefit(low, high), s),
        ),
        "Brier skill": (
            "bounded_brier_skill_score",
            {},
            lambda s: 1 - truth.mean(brier(0, 1), s) / (truth.rate * (1 - truth.rate)),
        ),
        "AUC": ("roc_auc_score", {}, truth.auc),
    }
    for t in thresholds:
        found[f"net benefit at {t}"] = ("net_benefit_score", {"threshold": t}, lambda s, t=t: truth.mean(benefit(t), s))
    return found


DIFFERENCES = (
    ("Brier score", "miscalibrated"),
    ("bounded Brier", "miscalibrated"),
    ("bounded log", "miscalibrated"),
    ("AUC", "tied"),
    ("Brier skill", "miscalibrated"),
)


def simulate(prevalence, n, runs, seed):
    """Share of intervals that hold the truth, by estimate, and share that came with a note."""
    shape, bounds, thresholds, grid = DESIGNS[prevalence]
    truth = Truth(shape)
    wanted = estimates(bounds, thresholds, truth)
    true = {
        (name, model): function(score)
        for model, score in forecasts(truth.q, grid).items()
        for name, (_, _, function) in wanted.items()
    }
    rates = {t: truth.rates(t) for t in thresholds}
    rng = np.random.default_rng(seed)
    held = {}
    for _ in range(runs):
        q = rng.beta(*shape, n)
        y = rng.random(n) < q
        scores = forecasts(q, grid)
        for model, score in scores.items():
            for name, (metric, options, _) in wanted.items():
                result = metric_interval(y, score, metric, **options)
                note(held, (name, model), result, true[name, model])
        entries = threshold_intervals(y, scores["calibrated"], thresholds=thresholds)
        for k, t in enumerate(thresholds):
            for name in MEASURES[:-2]:  # regret and net benefit are above
                if not np.isnan(entries.estimate[name][k]):
                    ends = entries.low[name][k], entries.high[name][k]
                    held.setdefault((f"{name} at {t}", "calibrated"), []).append(
                        (ends[0] <= rates[t][name] <= ends[1], False)
                    )
        for name, model in DIFFERENCES:
            metric, options, _ = wanted[name]
            result = metric_difference(y, scores["calibrated"], scores[model], metric, **options)
            note(held, (name, f"calibrated - {model}"), result, true[name, "calibrated"] - true[name, model])
    return [
        {
            "prevalence": prevalence,
            "n": n,
            "estimate": name,
            "forecast": model,
            "coverage": float(np.mean([c for c, _ in rows])),
            "widened": float(np.mean([w for _, w in rows])),
            "refused": 1 - len(rows) / runs,
        }
        for (name, model), rows in held.items()
    ]


def note(held, key, result, truth):
    if not np.isnan(result.interval[0]):  # refused, with a note that says how many rows are needed
        held.setdefault(key, []).append((result.interval[0] <= truth <= result.interval[1], bool(result.note)))


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m replications coverage_intervals", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--prevalences", type=float, nargs="+", default=tuple(DESIGNS), choices=tuple(DESIGNS))
    parser.add_argument("--json", type=Path, help="also write the rows here")
    asked = parser.parse_args(options)
    rows = []
    for prevalence in asked.prevalences:
        for n in asked.sizes:
            start = time.perf_counter()
            rows += simulate(prevalence, n, asked.runs, seed=n)
            print(f"prevalence {prevalence}, n {n}: {time.perf_counter() - start:.0f} s", flush=True)
    print(f"\n| estimate | forecast | {' | '.join(f'{p:.0%}, {n}' for p in asked.prevalences for n in asked.sizes)} |")
    print("| --- | --- |" + " --- |" * (len(asked.prevalences) * len(asked.sizes)))
    for name, model in dict.fromkeys((row["estimate"], row["forecast"]) for row in rows):
        mine = {
            (row["prevalence"], row["n"]): "refused" if row["refused"] > MOSTLY else f"{row['coverage']:.3f}"
            for row in rows
            if (row["estimate"], row["forecast"]) == (name, model)
        }
        cells = [mine.get((p, n), "") for p in asked.prevalences for n in asked.sizes]
        print(f"| {name} | {model} | {' | '.join(cells)} |")
    if asked.json:
        asked.json.write_text(json.dumps(rows))
