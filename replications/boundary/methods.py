"""The solvers of the paper on one pair of hold-out and test rows: deployed precision, and recall at matched precision.

A boundary fitted to a bound falls below it on new rows, by more the more thresholds it has, so recall at the precision
that happens to be reached compares unlike things. Recall is matched by the best boundary of the method's own family,
found by aiming at other precisions on the hold-out rows, whose precision on the test rows is at least the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from stakes.boundary._problem import BoundaryProblem, BoundaryRows, level_cuts, level_of, make_options, sorted_levels
from stakes.boundary._solvers import HEURISTICS, solve_exact

BOUNDS = tuple(Fraction(k, 10) for k in (6, 7, 8, 9))
LEVELS = (3, 5, 7, 11)
BINNINGS = ("equal_weight", "equal_span")
BINS = 500
COARSE, FINE, LOWEST = Fraction(1, 100), Fraction(1, 500), Fraction(1, 2)
MOST_CELLS = 2 * 10**8  # of the dynamic programme over rows, which takes a second then


@dataclass(frozen=True)
class Method:
    """A solver on a grid: name as in the paper, levels, how the grid is cut, and score bins (None: every score)."""

    name: str
    solver: str
    levels: int = 1
    binning: str = "equal_weight"
    bins: int | None = None

    @property
    def label(self):
        return (self.name, self.levels, self.binning if self.levels > 1 else "", self.bins)


ST = Method("ST", "exact")
HR = Method("HR", "exact")
SOLVERS = (
    *(("GMT", "greedy", None), ("MIST", "isotonic", None), ("MIST", "isotonic", BINS)),
    *(("EW-DPMT", "equal_weight_dp", BINS), ("VW-DPMT", "variable_weight_dp", BINS)),
    *(("exact", "exact", BINS), ("exact", "exact", None)),
)


def methods(levels=LEVELS, binnings=BINNINGS):
    """Every method of the tables."""
    grid = [Method(n, s, k, cut, bins) for k in levels for cut in binnings for n, s, bins in SOLVERS]
    return (ST, HR, *grid)


class Judge:
    """True positives and selected rows of thresholds by level, on rows that are sorted once for each set of cuts."""

    def __init__(self, sample):
        self.sample = sample
        self._sorted = {}

    def counts(self, cuts, thresholds, score):
        """Counts for every row of thresholds on a score, one column for each level."""
        key = (cuts.tobytes(), id(score))
        if key not in self._sorted:
            self._sorted[key] = score, self._sort(cuts, score)  # the score is kept, and with it its identity
        tp, n = np.zeros(len(thresholds), np.int64), np.zeros(len(thresholds), np.int64)
        for k, (ascending, above) in enumerate(self._sorted[key][1]):
            first = np.searchsorted(ascending, thresholds[:, k], side="left")
            tp += above[first]
            n += len(ascending) - first
        return tp, n

    def _sort(self, cuts, score):
        level = level_of(cuts, self.sample.uncertainty)
        out = []
        for k in range(len(cuts) + 1):
            rows = np.flatnonzero(level == k)
            rows = rows[np.argsort(score[rows])]
            out.append((score[rows], np.append(np.cumsum(self.sample.y[rows][::-1])[::-1], 0)))
        return out


def matched(tp, n, bound):
    """Largest count of true positives among the pairs that keep a precision; 0 if none does."""
    keep = bound.denominator * tp >= bound.numerator * n
    return int(tp[keep].max(initial=0))


class Family:
    """Boundaries of one method on one hold-out set, by the precision aimed at, with their counts on test rows."""

    def __init__(self, method, hold_out, judge):
        self.method, self.judge = method, judge
        score, self.score = hold_out.score, judge.sample.score
        if method.name == "HR":  # the uncertainty, scaled by what the hold-out rows show, is added to the score
            low, high = hold_out.uncertainty.min(), hold_out.uncertainty.max()
            score, self.score = (one.score + (one.uncertainty - low) / (high - low) for one in (hold_out, judge.sample))
        rows = BoundaryRows(hold_out.y, score, hold_out.uncertainty, hold_out.weight)
        self.cuts = level_cuts(rows, method.levels, method.binning)
        self.sorted = sorted_levels(rows, self.cuts)
        self.options = make_options(self.sorted, method.binning, method.bins)
        self._found = {}

    def solve(self, target):
        """Lowest selected score of each level."""
        if self.method.solver == "exact":
            found = solve_exact(self.options, BoundaryProblem("recall", target))
            if not found.optimal:
                raise RuntimeError(f"a cap was hit: {float(found.value):.0f} of at most {float(found.bound):.0f}")
            chosen = found.chosen
        else:
            chosen = HEURISTICS[self.method.solver](self.options, target)
        return self.options.cuts[self.options.starts[:-1] + chosen]

    def at(self, target):
        """True positives and selected test rows of the boundary aimed at this precision."""
        if target not in self._found:
            tp, n = self.judge.counts(self.cuts, self.solve(target)[None, :], self.score)
            self._found[target] = int(tp[0]), int(n[0])
        return self._found[target]

    def matched(self, bound):
        """Aim in steps of a hundredth, then more finely around the best of those."""
        steps = [LOWEST + k * COARSE for k in range(int((1 - LOWEST) / COARSE) + 1)]
        best = self._best(steps, bound)
        if best is not None:
            steps += [best + k * FINE for k in range(-4, 5)]
        pairs = np.array([self.at(step) for step in steps if 0 < step <= 1])
        return matched(*pairs.T, bound)

    def _best(self, steps, bound):
        kept = [step for step in steps if bound.denominator * self.at(step)[0] >= bound.numerator * self.at(step)[1]]
        return max(kept, key=lambda step: self.at(step)[0]) if any(self.at(step)[0] for step in kept) else None


class SizeFamily(Family):
    """Boundaries of the dynamic programme over bins: one table answers for every precision."""

    def __init__(self, method, hold_out, judge):
        super().__init__(method, hold_out, judge)
        parts = [bin_counts(level, method.binning, method.bins) for level in self.sorted]
        chosen, self.tp, self.n = by_size([part[:2] for part in parts])
        thresholds = np.stack([part[2][m] for part, m in zip(parts, chosen.T, strict=True)], axis=1)
        self.on_test = np.stack(judge.counts(self.cuts, thresholds, self.score), axis=1)

    def at(self, target):
        keep = target.denominator * self.tp >= target.numerator * self.n
        return tuple(self.on_test[np.flatnonzero(keep)[-1]].tolist())


def bin_counts(level, binning, bins):
    """Positives, rows and lowest score of the top m bins of one level, m = 0, ..., bins; bins hold their upper edge."""
    n = len(level.score)
    if not n:
        return np.zeros(bins + 1, np.int64), np.zeros(bins + 1, np.int64), np.full(bins + 1, np.inf)
    ascending = level.score[::-1]
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    if binning == "equal_weight":
        below = np.cumsum(np.diff(level.totals, prepend=0)[::-1])
        edges = ascending[np.searchsorted(below, below[-1] * np.arange(1, bins) // bins)]
    above = np.r_[0, n - np.searchsorted(ascending, edges[::-1], side="right"), n]
    lowest = np.r_[np.inf, level.score][above]
    return np.r_[0, level.positives][above], np.r_[0, level.totals][above], lowest


def by_size(levels):
    """Bins of each level in the boundary with most positives, for every number of bins, and its counts."""
    total = sum(int(selected[-1]) for _, selected in levels) + 1
    parts = [positives * total - selected for positives, selected in levels]  # of equals the one with fewer rows
    best, picks = parts[0], []
    for gain in parts[1:]:
        sums = np.full((len(gain), len(best) + len(gain) - 1), np.iinfo(np.int64).min)
        for j, one in enumerate(gain.tolist()):
            sums[j, j : j + len(best)] = best + one
        picks.append(sums.argmax(axis=0))
        best = sums.max(axis=0)
    rest, chosen = np.arange(len(best)), []
    for pick in reversed(picks):
        chosen.append(pick[rest])
        rest = rest - chosen[-1]
    chosen = [rest, *reversed(chosen)]
    tp, n = (sum(level[i][m] for level, m in zip(levels, chosen, strict=True)) for i in (0, 1))
    return np.stack(chosen, axis=1), tp, n


def too_slow(method, hold_out):
    """Whether the dynamic programme over rows would visit too many cells."""
    rows = len(hold_out.y) if hold_out.weight is None else int(hold_out.weight.sum())
    return method.name == "VW-DPMT" and method.levels * (method.bins + 1) * rows > MOST_CELLS


def study(hold_out, test, chosen, bounds=BOUNDS):
    """One record for each method and bound: recall at matched precision, and what is deployed."""
    judge, total = Judge(test), int(np.count_nonzero(test.y))
    for method in chosen:
        if too_slow(method, hold_out):
            continue
        family, twin = Family, method
        if method.name == "EW-DPMT":
            family = SizeFamily
        elif method.name == "VW-DPMT":  # optimal, as "exact" is, so its family is the same but for ties
            twin = replace(method, solver="exact")
        found = family(twin, hold_out, judge)
        plain = found if twin is method else Family(method, hold_out, judge)
        for bound in bounds:
            tp, n = plain.at(bound)
            yield {
                **dict(zip(("method", "levels", "binning", "bins"), method.label, strict=True)),
                "bound": float(bound),
                "matched": found.matched(bound) / total,
                "precision": tp / n if n else np.nan,
                "recall": tp / total,
            }
