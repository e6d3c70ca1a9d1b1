"""Whether the precision that a boundary promises is kept, on data whose true rates are known, and at what recall.

"useful" turns the slope of the score by the uncertainty, "useless" does not, "evidence" draws scores from few or many
examples with undersampled negatives (the second figure of the paper on boundaries over score and uncertainty). The same
with 3, 1 or 0.3% of positives: "3% useful", and so on. In "worst case" every row lies just below the promise, so that
every certificate is wrong. Precision and recall of a region are those of the population, by weighted points.

Beside it, one threshold under the same promise on all rows: the first threshold, or the last that passes an exact
binomial test in a fixed sequence, of 100 evenly spaced ones or of 100 numbers of rows selected, the least of which
could pass. MAPIE's controllers (as they come, and with a fixed sequence) take part where MAPIE is installed.

At 5% the share of broken promises has a standard error of .007 from 1,000 data sets.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import time
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri
from scipy.stats import binom, qmc

from replications.boundary.designs import Design
from stakes.boundary import fit_boundary

POINTS = 16  # 2^16 points of the population
N_THRESHOLDS = 100
FEWEST = 30  # data sets from which recalls are judged


class Population(NamedTuple):
    """Score, uncertainty and true rate of points, with the share of the population at each."""

    score: np.ndarray
    uncertainty: np.ndarray
    rate: np.ndarray
    share: np.ndarray


class Logistic:
    """Scores that are calibrated but for the turn of their slope by the uncertainty."""

    def __init__(self, slope, turn, prevalence=0.1):
        self.slope, self.turn = slope, turn
        z, u, share = _normal_points()
        self.level = brentq(lambda a: share @ self._row(z, u, a)[2] - prevalence, -60, 0)

    def _row(self, z, u, level):
        return expit(level + self.slope * z), u, expit(level + self.slope * (1 + self.turn * (1 - 2 * u)) * z)

    def draw(self, n, rng):
        return self._row(rng.standard_normal(n), rng.random(n), self.level)

    def population(self):
        z, u, share = _normal_points()
        return Population(*self._row(z, u, self.level), share)


def _normal_points():
    """Points of a normal and a uniform variable, most of them in the upper tail, and their shares."""
    place, u = qmc.Sobol(2, seed=0).random_base2(POINTS).T
    z = -ndtri(10.0 ** (-9 * place) * (1 - 1e-9))  # upper tail probabilities from 1e-9 to 1, evenly on their logarithm
    share = 10.0 ** (-9 * place)
    return z, u, share / share.sum()


class Evidence:
    """Scores of little or much evidence, of which one negative in five was kept."""

    process = Design((0.3, 0.7), 5.0, (0.1, 0.1), 1, 199, 20_000)

    def draw(self, n, rng):
        sample = self.process.draw(n, rng)
        return sample.score, sample.uncertainty, sample.truth

    def population(self):
        share, score, rate = self.process.population()
        sizes = np.arange(self.process.fewest, self.process.most + 1)
        seen = np.repeat(sizes, sizes + 1)
        return Population(score, 1 / (sum(self.process.model_prior) + seen), rate, share)


class WorstCase:
    """Every row just below the promise."""

    def draw(self, n, rng):
        return rng.random(n), rng.random(n), np.full(n, 0.8 - 1e-6)

    def population(self):
        n = 1 << POINTS
        return Population(*self.draw(n, np.random.default_rng(5)), np.full(n, 1 / n))


# design, rows, promised precision, confidence
DESIGNS = {
    "useful": (Logistic(1.55, 0.42), 40_000, 0.8, 0.9),
    "useless": (Logistic(1.73, 0.0), 40_000, 0.8, 0.9),
    "evidence": (Evidence(), 20_000, 0.9, 0.9),
    "worst case": (WorstCase(), 20_000, 0.8, 0.9),
    **{
        f"{share:g}% {name}": (Logistic(slope, turn, share / 100), 200_000, 0.8, 0.95)
        for share, slope in ((3, 4.5), (1, 5.0), (0.3, 6.0))
        for name, turn in (("useful", 0.1), ("useless", 0.0))
    },
}


def fitted(**options):
    """Fit a boundary; with ``confidence_level=True``, that of the design."""

    def method(y, score, u, promise, turn):
        bound, level = promise
        asked = {**options, "confidence_level": level} if options.get("confidence_level") else options
        return fit_boundary(y, score, u, min_precision=bound, random_state=turn, **asked).predict

    return method


def above(threshold):
    return lambda score, _: score >= threshold


def sequence(thresholds):
    """Return the last of descending thresholds up to which all pass an exact binomial test."""

    def method(y, score, _, promise, __):
        bound, level = promise
        tried = thresholds(score, bound, level)
        first = np.searchsorted(-tried, -score)  # the first threshold that selects the row
        selected, found = (np.cumsum(np.bincount(some, minlength=len(tried) + 1)[:-1]) for some in (first, first[y]))
        failed = np.append(binom.sf(found - 1, selected, bound) > 1 - level, True)
        passed = int(np.argmax(failed))
        return above(tried[passed - 1] if passed else np.inf)

    return method


def even(*_):
    return np.linspace(0.99, 0, N_THRESHOLDS)


def by_size(score, bound, level):
    least = math.ceil(math.log(1 - level) / math.log(bound))  # so many could pass, were all positive
    sizes = np.geomspace(least, len(score), N_THRESHOLDS).astype(int)
    return np.unique(np.sort(score)[::-1][sizes - 1])[::-1]


def mapie(**options):
    """One threshold by MAPIE's controller of the precision; ``options`` are its own."""

    def method(y, score, _, promise, __):
        bound, level = promise
        from mapie.risk_control import BinaryClassificationController

        def probabilities(rows):
            return np.column_stack([1 - rows[:, 0], rows[:, 0]])

        settings = {"target_level": bound, "confidence_level": level, **options}
        if "fwer_method" in options:
            settings["list_predict_params"] = even()
        controller = BinaryClassificationController(probabilities, "precision", **settings)
        controller.calibrate(score[:, None], y.astype(int))
        best = controller.best_predict_param
        return above(np.inf if best is None else best)

    return method


CERTIFIED = "certified"
SEQUENCES = {"one threshold, evenly spaced": sequence(even), "one threshold, by size": sequence(by_size)}
MAPIE = {"MAPIE": mapie(), "MAPIE, fixed sequence": mapie(fwer_method="fixed_sequence")}
WITHOUT_PROMISE = {
    "tuned": fitted(tune="cv"),
    "plain, 3 levels": fitted(),
    "plain, 11 levels": fitted(levels=11),
    "plain, one threshold": fitted(solver="single_threshold"),
}
METHODS = {CERTIFIED: fitted(confidence_level=True), **SEQUENCES, **WITHOUT_PROMISE}
if importlib.util.find_spec("mapie"):
    METHODS |= MAPIE


def simulate(name, method, repeats, seed):
    """Return recall and true precision (nan where nothing is selected) of the region from each data set."""
    design, n, *promise = DESIGNS[name]
    score, u, rate, share = design.population()
    rng = np.random.default_rng(seed)
    recall, precision = np.zeros(repeats), np.full(repeats, np.nan)
    for turn in range(repeats):
        drawn, uncertainty, truth = design.draw(n, rng)
        y = rng.random(n) < truth
        select = METHODS[method](y, drawn, uncertainty, promise, turn)
        inside = select(score, u).astype(bool)
        recall[turn] = share[inside] @ rate[inside] / (share @ rate)
        if inside.any():
            precision[turn] = share[inside] @ rate[inside] / share[inside].sum()
    return recall, precision


def methods_for(name, repeats, rare, others, few):
    """Return the methods to run on a design, with the numbers of data sets."""
    if name == "worst case":
        return {CERTIFIED: repeats}
    certified = rare if "%" in name else repeats
    counts = {CERTIFIED: certified, **dict.fromkeys(SEQUENCES, others), **dict.fromkeys(MAPIE, few)}
    if "%" not in name:
        counts |= dict.fromkeys(WITHOUT_PROMISE, few)
    return {method: count for method, count in counts.items() if method in METHODS and count}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m replications boundary_promise", description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="data sets of each design, certified (default 1000)")
    parser.add_argument(
        "--rare", type=int, default=1000, help="where positives are rare, of 200,000 rows (default 1000)"
    )
    parser.add_argument(
        "--others", type=int, default=200, help="data sets for one threshold in a sequence (default 200)"
    )
    parser.add_argument("--few", type=int, default=50, help="data sets for all other methods (default 50)")
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    options = parser.parse_args(arguments)
    print("| design | method | data sets | promise broken | nothing selected | recall | precision | bound | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.designs:
        _, _, bound, level = DESIGNS[name]
        recalls = {}
        for method, repeats in methods_for(name, options.repeats, options.rare, options.others, options.few).items():
            start = time.process_time()
            recalls[method], precision = simulate(name, method, repeats, seed=7)
            broken = np.mean(precision < bound)
            error = np.sqrt(broken * (1 - broken) / repeats)
            mean = np.nanmean(precision) if np.any(precision >= 0) else np.nan
            shown = f"{np.mean(np.isnan(precision)):.3f} | {np.mean(recalls[method]):.4f} | {mean:.4f}"
            spent = time.process_time() - start
            print(
                f"| {name} | {method} | {repeats} | {broken:.4f} +- {error:.4f} | {shown} | {bound} | {spent:.0f} |",
                flush=True,
            )
            if method == CERTIFIED:
                assert broken <= 1 - level + 2 * error, f"{name}: the promise is broken too often"
        for method in filter(recalls.__contains__, SEQUENCES):  # on the same data sets
            both = min(map(len, (recalls[method], recalls[CERTIFIED])))
            gain = recalls[CERTIFIED][:both] - recalls[method][:both]
            error = np.std(gain) / np.sqrt(both)
            print(f"{name}: recall {gain.mean():+.4f} +- {error:.4f} beside {method}", flush=True)
            assert both < FEWEST or gain.mean() >= -2 * error, f"{name}: less recall than {method}"


if __name__ == "__main__":
    main()
