"""Coverage of the 95% intervals and bands of curves by simulation, against the truth by quadrature.

Event probabilities q are Beta distributed. Scores are q itself (calibrated), q ** 1.3 (miscalibrated) and q rounded to
a grid (tied); differences are between q and a noisy copy of it. The truth is the definition integrated over q. "Band"
is the share of runs in which the simultaneous band holds the whole true curve; "intervals" is the lowest and the
highest share, over the thresholds, in which the pointwise interval does: first over thresholds at which five rows or
more of each kind that counts are to be expected, then the lowest over all thresholds.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from stakes import reliability_curve
from stakes.inference import confidence_band, consistency_band, difference_band

SIZES = (300, 1000, 5000)
KINDS = ("regret", "net_benefit", "interventions_avoided")
NOISE = 0.5  # of the second model, in log-odds
ENOUGH = 5
DRAWS = 4000  # of the supremum; the default of 10,000 takes longer and covers the same
SLACK = 1e-12
LABELS_PER_SCORES = 50  # for consistency bands


@dataclass(frozen=True)
class Design:
    """Distribution of q, thresholds to look at, and the grid of the tied forecast."""

    shape: tuple[float, float]
    thresholds: np.ndarray
    grid: float


DESIGNS = {
    0.03: Design((0.6, 19.4), np.arange(1, 51) / 200, 0.02),
    0.3: Design((1.2, 2.8), np.arange(1, 50) / 50, 0.1),
}


def forecasts(q, grid):
    return {
        "calibrated": q,
        "miscalibrated": q**1.3,
        "tied": np.clip(np.round(q / grid) * grid, grid / 4, 1 - grid / 4),
    }


def nodes_of(shape, number=50_000):
    return stats.beta.ppf((np.arange(number) + 0.5) / number, *shape)


def curve(kind, t, share):
    """A curve from the shares of true and false positives and negatives, as it is defined."""
    tp, fp, tn, fn = share
    if kind == "regret":
        return t * fp + (1 - t) * fn
    if kind == "net_benefit":
        return tp - fp * t / (1 - t)
    return 100 * (tn - fn * (1 - t) / t)


def shares(q, acting):
    """Shares of true and false positives, true and false negatives, given P(acting | q)."""
    return np.array([f.mean() for f in (q * acting, (1 - q) * acting, (1 - q) * (1 - acting), q * (1 - acting))])


def true_shares(design, q):
    """By forecast, the shares at each threshold: (4, m)."""
    found = {
        name: np.array([shares(q, score >= t) for t in design.thresholds]).T
        for name, score in forecasts(q, design.grid).items()
    }
    noisy = [shares(q, stats.norm.cdf((logit(q) - logit(t)) / NOISE)) for t in design.thresholds]
    return found | {"noisy": np.array(noisy).T}


def expected_rows(kind, share, n):
    """Expected number of rows of the rarer kind that counts, at each threshold."""
    tp, fp, tn, fn = share
    used = {"regret": (fp, fn), "net_benefit": (tp, fp), "interventions_avoided": (tn, fn)}[kind]
    return n * np.minimum(*used)


def expected_discordant(design, q, n):
    """Expected number of rows that only one of the two models acts on, of the rarest kind, at each threshold."""
    rows = []
    for t in design.thresholds:
        noisy = stats.norm.cdf((logit(q) - logit(t)) / NOISE)
        alone = ((q >= t) * (1 - noisy), (q < t) * noisy)
        rows.append(min(float((label * part).mean()) for label in (q, 1 - q) for part in alone))
    return n * np.array(rows)


def reliability_truth(design, name):
    """Event rate given the score, as a function of scores that occur."""
    if name == "calibrated":
        return lambda s: s
    if name == "miscalibrated":
        return lambda s: s ** (1 / 1.3)
    a, b = design.shape
    centres = np.arange(round(1 / design.grid) + 1) * design.grid
    edges = np.clip(np.append(centres - design.grid / 2, 1.0), 0.0, 1.0)
    # from above: differences of survival functions keep their digits where next to no one is
    part, whole = (-np.diff(stats.beta.sf(edges, *shape)) for shape in ((a + 1, b), (a, b)))
    rate = np.divide(a / (a + b) * part, whole, out=centres.copy(), where=whole > 0.0)
    return lambda s: rate[np.rint(s / design.grid - 1e-6).astype(int)]


class Tally:
    """How often bands and intervals hold, for one curve of one forecast."""

    def __init__(self, enough=None):
        self.runs, self.whole, self.each, self.enough = 0, 0, 0.0, enough

    def add(self, band, truth):
        held = (band.low - SLACK <= truth) & (truth <= band.high + SLACK)
        outer = (band.simultaneous_low - SLACK <= truth) & (truth <= band.simultaneous_high + SLACK)
        self.runs += 1
        self.whole += bool(outer.all())
        # scores differ from run to run: reliability is averaged over its points
        self.each = self.each + (held if self.enough is not None else held.mean())

    def record(self):
        share = np.atleast_1d(self.each / self.runs)
        often = share if self.enough is None or not self.enough.any() else share[self.enough]
        none = self.enough is not None and not self.enough.any()
        return {
            "band": self.whole / self.runs,
            "low": None if none else float(often.min()),
            "high": None if none else float(often.max()),
            "lowest": float(share.min()),
        }


def simulate(prevalence, n, runs, seed, kinds=(*KINDS, "difference", "reliability", "consistency")):
    """Share of runs in which bands and intervals hold the truth, by curve and forecast."""
    design = DESIGNS[prevalence]
    nodes = nodes_of(design.shape)
    truth, t = true_shares(design, nodes), design.thresholds
    rates = {name: reliability_truth(design, name) for name in ("calibrated", "miscalibrated", "tied")}
    together = expected_discordant(design, nodes, n) >= ENOUGH
    # differences in regret and in interventions avoided are the same but for a factor at each threshold
    gap = curve("net_benefit", t, truth["calibrated"]) - curve("net_benefit", t, truth["noisy"])
    tallies = {}
    rng = np.random.default_rng(seed)
    for run in range(runs):
        q = rng.beta(*design.shape, n)
        y = rng.random(n) < q
        scores = forecasts(q, design.grid)
        noisy = expit(logit(q) + NOISE * rng.standard_normal(n))
        for kind in (kind for kind in KINDS if kind in kinds):
            for name, score in scores.items():
                enough = expected_rows(kind, truth[name], n) >= ENOUGH
                tally = tallies.setdefault((kind, name), Tally(enough))
                band = confidence_band(y, score, kind, thresholds=t, n_resamples=DRAWS)
                tally.add(band, curve(kind, t, truth[name]))
        if "difference" in kinds:
            band = difference_band(y, q, noisy, "net_benefit", thresholds=t, n_resamples=DRAWS)
            tallies.setdefault(("difference", "calibrated - noisy"), Tally(together)).add(band, gap)
        if "reliability" in kinds:
            for name, score in scores.items():
                points = np.unique(score) if name == "tied" else None
                band = confidence_band(y, score, "reliability", thresholds=points)
                tallies.setdefault(("reliability", name), Tally()).add(band, rates[name](band.thresholds))
        if "consistency" in kinds:
            if run % LABELS_PER_SCORES == 0:  # the band depends on the scores alone
                drawn, consistent = q, consistency_band(y, q, random_state=rng)
            truth_like = reliability_curve(rng.random(n) < drawn, drawn).at(consistent.thresholds)
            tallies.setdefault(("consistency", "calibrated"), Tally()).add(consistent, truth_like)
    return [
        {"prevalence": prevalence, "n": n, "curve": kind, "forecast": name, **tally.record()}
        for (kind, name), tally in tallies.items()
    ]


def cell(row):
    if row["low"] is None:
        return f"{row['band']:.3f}; -; {row['lowest']:.3f}"
    span = f"{row['low']:.3f}" if row["low"] == row["high"] else f"{row['low']:.3f} to {row['high']:.3f}"
    alone = "" if row["low"] == row["high"] == row["lowest"] else f"; {row['lowest']:.3f}"
    return f"{row['band']:.3f}; {span}{alone}"


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m replications coverage_bands", description=__doc__)
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
            if asked.json:
                asked.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    settings = [(p, n) for p in asked.prevalences for n in asked.sizes]
    print("\nband; intervals where five rows or more are to be expected; lowest of all intervals\n")
    print(f"| curve | forecast | {' | '.join(f'{p:.0%}, n = {n}' for p, n in settings)} |")
    print("| --- | --- |" + " --- |" * len(settings))
    for kind, name in dict.fromkeys((row["curve"], row["forecast"]) for row in rows):
        mine = {(row["prevalence"], row["n"]): row for row in rows if (row["curve"], row["forecast"]) == (kind, name)}
        print(f"| {kind} | {name} | {' | '.join(cell(mine[key]) for key in settings)} |")
