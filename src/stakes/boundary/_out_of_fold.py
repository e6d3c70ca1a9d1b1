"""Boundaries on rows that did not choose them: chosen levels, and gain and optimism out of fold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stakes.base.numerics import next_fraction
from stakes.base.validation import Bools, Floats, as_fraction, check_level, check_whole, generator
from stakes.boundary._problem import (
    BoundaryProblem,
    BoundaryRows,
    FitOptions,
    Ints,
    level_cuts,
    level_of,
    rows_to_options,
)
from stakes.boundary._rules import LevelRule, RankedRule, Ranker, Rule, ShiftedRule, joined
from stakes.boundary._solvers import HEURISTICS, goal_formula, rate_around, relaxed, solve_exact, undominated_levels
from stakes.outputs.result_table import Tabular

if TYPE_CHECKING:
    from numpy.random import Generator

# The settings of a fit (solver, levels and bins), so that it can be repeated on other rows.

SOLVERS = ("exact", "ranker", "single_threshold", "heuristic_recalibration", *HEURISTICS)


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """All settings of a fit; ``rivals`` are the candidates from which cross-validation chose."""

    problem: BoundaryProblem
    solver: str
    levels: int | Floats
    binning: str
    score_bins: int | None
    rivals: tuple[Settings, ...] = ()

    def alone(self) -> Settings:
        """Return the settings for a single threshold on the score."""
        return replace(self, solver="single_threshold", rivals=())

    def for_part_of(self, total: int) -> Settings:
        """Return the settings for a part of so many rows: a capacity that counts them becomes a share."""
        most = self.problem.capacity
        if not isinstance(most, int):
            return self
        return replace(self, problem=replace(self.problem, capacity=Fraction(most, total)))

    def prepare(self, rows: BoundaryRows) -> Prepared:
        """Sort and bin rows once, for solutions at several target precisions."""
        cuts = np.empty(0) if self.solver in _WITHOUT_LEVELS else level_cuts(rows, self.levels, self.binning)
        if self.solver in _ON_ANOTHER_SCALE:
            rule, transformed = _ON_ANOTHER_SCALE[self.solver](rows)
            options = rows_to_options(replace(rows, score=transformed), np.empty(0), self.binning, self.score_bins)
            return Prepared(self, cuts, options, lambda thresholds: rule.at(float(thresholds[0])))
        options = rows_to_options(rows, cuts, self.binning, self.score_bins)
        return Prepared(self, cuts, options, partial(LevelRule, cuts))


def _shifted(rows: BoundaryRows) -> tuple[ShiftedRule, Floats]:
    """Shift scores by their scaled uncertainty."""
    u = rows.uncertainty
    rule = ShiftedRule(float(u.min()), float(u.max()), 1.0, np.inf)
    return rule, rule.shifted(rows.score, u)


def _ranked(rows: BoundaryRows) -> tuple[RankedRule, Floats]:
    """Replace scores by a learned ranking of score and uncertainty."""
    ranker = Ranker.fit(rows.y, rows.score, rows.uncertainty, rows.weight)
    return RankedRule.of(ranker, np.inf), joined(ranker.rank(rows.score, rows.uncertainty))


_ON_ANOTHER_SCALE: dict[str, Callable[[BoundaryRows], tuple[Any, Floats]]] = {
    "heuristic_recalibration": _shifted,
    "ranker": _ranked,
}
_WITHOUT_LEVELS = ("single_threshold", "heuristic_recalibration")


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """Options of some rows, and how a solution's thresholds become a rule."""

    settings: Settings
    cuts: Floats
    options: FitOptions
    rule: Callable[[Floats], Rule]

    def solve(self, precision: Fraction | None = None) -> tuple[Rule, Fraction | None] | None:
        """Return rule and bound on the goal's value (None: not proved), for a target precision if one is passed."""
        found = self.search(precision)
        if found is None:
            return None
        chosen, bound = found
        return self.rule(self.options.cuts[self.options.starts[:-1] + chosen]), bound

    def search(self, precision: Fraction | None = None) -> tuple[Ints, Fraction | None] | None:
        """Return the chosen option of each level and the bound."""
        problem = self.settings.problem
        if precision is not None:
            problem = replace(problem, min_precision=precision)
        if self.settings.solver in HEURISTICS:
            return HEURISTICS[self.settings.solver](self.options, problem.min_precision or Fraction(0)), None
        found = solve_exact(self.options, problem)
        if found is None:
            return None
        return found.chosen, None if self.settings.solver in _ON_ANOTHER_SCALE else found.bound


def check_solver(solver: str, problem: BoundaryProblem) -> None:
    """Refuse goals that a heuristic does not support."""
    if solver in HEURISTICS and not problem.bounds_precision_alone:
        raise ValueError(
            f"solver={solver!r} finds the most recall under min_precision= only, got {problem.describe()!r}: "
            "use solver='exact'."
        )


# Out-of-fold decisions, and the target precision at which they keep a bound.

_STEPS = (0, 1, 2, 4, 6, 8, 11, 15, 20, 26, 33, 42, 53, 66, 82)  # per cent of the way from the bound to 1
_LOWER = (60, 40, 25, 15, 8, 4, 2)  # per cent below the bound
_BETWEEN = 4
FOLDS = 5


@dataclass(frozen=True, eq=False, repr=False)
class OutOfFold:
    """The rows of each fold, and the options of the rows outside it."""

    rows: BoundaryRows
    folds: list[NDArray[np.intp]]
    prepared: list[Prepared]

    def selected(self, precision: Fraction | None = None) -> Bools:
        """Decide for every row by the boundary fitted to the other folds (select nothing if infeasible)."""
        out = np.zeros(len(self.rows), dtype=bool)
        for fold, prepared in zip(self.folds, self.prepared, strict=True):
            found = prepared.solve(precision)
            if found is not None:
                out[fold] = found[0].select(self.rows.score[fold], self.rows.uncertainty[fold])
        return out


@dataclass(frozen=True, eq=False, repr=False)
class Tuned:
    """Target precision (None: no target keeps the bound out of fold), with the out-of-fold decisions."""

    target: Fraction | None
    selected: Bools


def split_rows(n: int, cv: int, rng: Generator) -> list[NDArray[np.intp]]:
    """Assign the rows to folds at random."""
    if not 2 <= check_whole(cv, "cv") <= n:
        raise ValueError(f"cv must be a number of folds from 2 to the number of rows ({n}), got {cv}.")
    return [np.sort(part) for part in np.array_split(rng.permutation(n), cv)]


def out_of_fold(rows: BoundaryRows, settings: Settings, folds: list[NDArray[np.intp]]) -> OutOfFold:
    """Prepare the options of all rows outside each fold; a capacity is scaled to their number."""
    settings = settings.for_part_of(len(rows))
    prepared = []
    for fold in folds:
        others = np.ones(len(rows), dtype=bool)
        others[fold] = False
        prepared.append(settings.prepare(rows.take(others)))
    return OutOfFold(rows, folds, prepared)


def tune_precision(held: OutOfFold, bound: Fraction) -> Tuned:
    """Find the target with the largest out-of-fold recall among those whose out-of-fold precision keeps the bound."""
    tried: dict[Fraction, tuple[int, Bools]] = {}

    def attempt(target: Fraction) -> None:
        selected = held.selected(target)
        tp, n = held.rows.count(selected & held.rows.y), held.rows.count(selected)
        if tp >= bound * n and tp > 0:
            tried[target] = (tp, selected)

    steps = [bound + (1 - bound) * Fraction(step, 100) for step in _STEPS]
    for target in steps:
        attempt(target)
    if not tried:
        return Tuned(None, np.zeros(len(held.rows), dtype=bool))
    best = max(tried, key=lambda target: (tried[target][0], target))
    if best > steps[0]:
        before = steps[steps.index(best) - 1]
        for part in range(1, _BETWEEN):
            attempt(before + (best - before) * Fraction(part, _BETWEEN))
        best = max(tried, key=lambda target: (tried[target][0], target))
    return Tuned(best, tried[best][1])


def choose_settings(
    rows: BoundaryRows, choices: Sequence[Settings], folds: list[NDArray[np.intp]], bound: Fraction
) -> tuple[Settings, Tuned]:
    """Choose the settings, each with its target, of the largest out-of-fold recall; the first of ties."""
    tuned = [tune_precision(out_of_fold(rows, one, folds), bound) for one in choices]
    reached = [rows.count(one.selected & rows.y) for one in tuned]
    best = int(np.argmax(reached))
    return choices[best], tuned[best]


@dataclass(frozen=True, eq=False, repr=False)
class Decided:
    """Out-of-fold selection probability of each row, and the rate of positives at the margin."""

    share: Floats
    rate: float


def chosen_out_of_fold(
    rows: BoundaryRows, choices: Sequence[Settings], folds: list[NDArray[np.intp]], rng: Generator
) -> OutOfFold:
    """Prepare every fold with settings chosen on the other folds only; a capacity is scaled to their rows."""
    choices = [one.for_part_of(len(rows)) for one in choices]
    prepared = []
    for fold in folds:
        rest = rows.take(np.delete(np.arange(len(rows)), fold))
        bound = choices[0].problem.min_precision or Fraction(0)
        inner = split_rows(len(rest), min(FOLDS, len(rest)), rng)
        prepared.append(choose_settings(rest, choices, inner, bound)[0].prepare(rest))
    return OutOfFold(rows, folds, prepared)


def decide_out_of_fold(
    rows: BoundaryRows, choices: Sequence[Settings], folds: list[NDArray[np.intp]], rng: Generator
) -> Decided:
    """Decide for every fold with the settings and boundary of the others; meet a precision bound out of fold."""
    held = out_of_fold(rows, choices[0], folds) if len(choices) == 1 else chosen_out_of_fold(rows, choices, folds, rng)
    bound = choices[0].problem.min_precision
    if bound is not None and choices[0].problem.goal == "recall":
        return _meet_bound(held, bound)
    margins = [
        rate_around(one.options, one.options.counts(found[0])[1])
        for one in held.prepared
        if (found := one.search()) is not None
    ]
    return Decided(held.selected().astype(np.float64), float(np.mean(margins)) if margins else 0.0)


def _meet_bound(held: OutOfFold, bound: Fraction) -> Decided:
    """Mix the decisions of two target precisions so that the out-of-fold precision equals the bound.

    The target with the most true positives among those that keep the bound, and the next lower one that does not.
    """
    aims = [bound * (1 - Fraction(step, 100)) for step in _LOWER] + [
        bound + (1 - bound) * Fraction(step, 100) for step in _STEPS
    ]
    masks = np.array([held.selected(aim) for aim in aims])
    tp, n = masks[:, held.rows.y].sum(axis=1), masks.sum(axis=1)
    spare = np.array([float(found - bound * chosen) for found, chosen in zip(tp.tolist(), n.tolist(), strict=True)])
    good = np.flatnonzero(spare >= 0.0)
    if not len(good):
        return Decided(np.zeros(len(held.rows)), 0.0)
    best = int(good[np.argmax(tp[good])])
    worse = np.flatnonzero(spare[:best] < 0.0)
    share = masks[best].astype(np.float64)
    if len(worse):
        other = int(worse[-1])
        part = spare[best] / (spare[best] - spare[other])
        share = (1.0 - part) * share + part * masks[other]
    # slope of true positives per selected row over the target precisions, between 2/3 and 3/2 of the rows
    fewer, more = (int(np.argmin(np.abs(n - factor * share.sum()))) for factor in (2.0 / 3.0, 1.5))
    rises = n[fewer] < n[more]
    return Decided(share, float(np.clip((tp[more] - tp[fewer]) / (n[more] - n[fewer]), 0.0, 1.0)) if rises else 0.0)


# The gain from uncertainty over a single threshold, out of fold.

_HIGHEST_RATE = 0.95  # of the bound: the price of precision diverges as the margin approaches it
_NAMES = {"recall": "recall", "precision": "precision", "false_positives": "minus the false positive rate",
          "f_beta": "F-beta", "cost": "minus the cost per row"}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Gain(Tabular):
    """Value of a goal with and without uncertainty, out of fold, and the paired interval of the difference.

    Parameters
    ----------
    measure : str
        What is compared, larger is better.
    value, single : float
        With uncertainty, and by one threshold on the score, out of fold, each at the point where its constraint just
        holds, or at the best there is, such as a recall of 1, where that comes first.
    difference, low, high : float
        ``value - single`` and its interval, nan where both decide alike about every row out of fold or are as good as
        can be, which does not tell them apart (0 where both are a single threshold).
    confidence_level : float
        Of the interval.
    precision, single_precision : float
        Precision of both out of fold, nan where nothing is selected; a precision bound is met exactly, by mixing two
        neighbouring aims.

    Examples
    --------
    >>> from stakes.boundary import Gain
    >>> gain = Gain("recall", 0.42, 0.35, 0.07, 0.05, 0.09, 0.95, 0.8, 0.8)
    >>> print(gain.verdict)
    Uncertainty helps on these data: recall 0.42 with it, 0.35 by a single threshold on the score (difference ...).
    """

    measure: str
    value: float
    single: float
    difference: float
    low: float
    high: float
    confidence_level: float
    precision: float
    single_precision: float

    @property
    def helps(self) -> bool:
        """Whether the interval lies above zero."""
        return self.low > 0.0

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        if math.isnan(self.low):
            return f"Whether uncertainty helps is not known: {self._why_unknown}."
        said = (
            f"{self.measure} {self.value:.4g} with it, {self.single:.4g} by a single threshold on the score "
            f"(difference {self.difference:+.4g}, {self.confidence_level:.4g} interval {self.low:+.4g} to "
            f"{self.high:+.4g})"
        )
        if self.helps:
            return f"Uncertainty helps on these data: {said}."
        if self.high < 0.0:
            return f"Uncertainty does not help on these data, it harms: {said}."
        return f"Uncertainty does not help on these data as far as they can tell: {said}."

    @property
    def _why_unknown(self) -> str:
        if math.isnan(self.value):
            return f"without a positive there is no {self.measure}"
        if math.isnan(self.precision) and math.isnan(self.single_precision):
            return "out of fold neither it nor a single threshold on the score selects a row"
        if self.value == self.single and abs(self.value) in {0.0, 1.0}:
            end = "best" if self.value == (0.0 if self.measure.startswith("minus ") else 1.0) else "worst"
            return f"out of fold {self.measure} is {self.value:.4g}, the {end} there is, with it and without it"
        return "out of fold it and a single threshold on the score decide alike about every row"

    def _records(self) -> list[dict[str, Any]]:
        names = ("measure", "value", "single", "difference", "low", "high", "confidence_level")
        return [{name: getattr(self, name) for name in (*names, "precision", "single_precision")}]

    def __repr__(self) -> str:
        found = f"[{self.low:+.4g}, {self.high:+.4g}] at {self.confidence_level:g}"
        return (
            f"Gain({self.measure} {self.value:.4g} against {self.single:.4g}, difference {self.difference:+.4g} "
            f"{'of an unknown interval' if math.isnan(self.low) else found}, out of fold)"
        )


def estimate_gain(
    rows: BoundaryRows, settings: Settings, *, confidence_level: float, cv: int, random_state: Any
) -> Gain:
    """Fit both out of fold, and compare their goals at the same constraint."""
    from scipy.special import ndtri

    check_level(confidence_level)
    if rows.weight is not None:
        raise ValueError("gain needs rows without weights: repeated rows are not independent.")
    rng = generator(random_state)
    folds = split_rows(len(rows), cv, rng)
    problem = settings.problem
    with_u = settings.rivals or (settings,)
    both = [decide_out_of_fold(rows, choices, folds, rng) for choices in (with_u, (settings.alone(),))]
    results = [_estimate(problem, rows, one) for one in both]
    difference = results[0][0] - results[1][0]
    influence = results[0][1] - results[1][1]
    # Nadeau and Bengio's correction, since folds share training rows
    refitted = 1.0 + cv / (cv - 1.0)
    alike = np.array_equal(both[0].share, both[1].share) or not np.ptp(influence) > 0.0  # or at the same end
    alike &= settings.solver != "single_threshold"
    spread = math.nan if alike else math.sqrt(refitted * len(rows) * float(np.var(influence)))
    half = -float(ndtri(0.5 * (1.0 - confidence_level))) * spread
    low, high = difference - half, difference + half
    precisions = [float(one.share[rows.y].sum() / one.share.sum()) if one.share.any() else math.nan for one in both]
    measure = _NAMES[problem.goal]
    return Gain(measure, results[0][0], results[1][0], difference, low, high, confidence_level, *precisions)


def _estimate(problem: BoundaryProblem, rows: BoundaryRows, one: Decided) -> tuple[float, Floats]:
    """Value of the goal, and its influence function at each row."""
    counts = np.array([one.share[rows.y].sum(), one.share.sum(), rows.y.sum(), len(rows)])
    steps = np.diag(1e-4 * (1.0 + counts))[:3]  # the number of rows is fixed
    slope = [
        (_value(problem, one.rate, counts + step) - _value(problem, one.rate, counts - step)) / (2.0 * step.sum())
        for step in steps
    ]
    influence = (slope[0] * rows.y + slope[1]) * one.share + slope[2] * rows.y
    return _value(problem, one.rate, counts), influence


def _value(problem: BoundaryProblem, rate: float, counts: Floats) -> float:
    """Value of the goal for a boundary, extrapolated to the point where its constraint holds with equality.

    ``counts``: true positives, selected rows, positives, rows.

    Two boundaries with different slack in a constraint are not comparable: the slack is converted to the goal at the
    rate of positives at the boundary's margin. There the goal is stationary in the boundary, so that the noise of
    fitting enters the comparison at second order only. No value beyond the best or the worst is extrapolated to.
    """
    tp, n, ups, total = counts.tolist()
    if problem.goal == "recall":
        extrapolated = tp + _spare_positives(problem, rate, tp, n, total)
        return min(max(extrapolated, 0.0), ups) / ups if ups > 0.0 else math.nan
    if problem.goal in {"f_beta", "cost"}:
        value = float(goal_formula(problem.goal, tp, n, ups, float(problem.beta2), float(problem.cost)))
        return value / total + 0.0 if problem.goal == "cost" else value
    least = float(problem.min_recall or 0) * ups
    fewer = (tp - least) / rate if rate > 0.0 else 0.0  # rows that can be dropped at the margin
    if problem.goal == "precision":
        found = tp - rate * fewer
        return found / max(n - fewer, found, 1e-300)
    negatives = total - ups
    return 0.0 - min(max(n - tp - (1.0 - rate) * fewer, 0.0), negatives) / max(negatives, 1e-300)


def _spare_positives(problem: BoundaryProblem, rate: float, tp: float, n: float, total: float) -> float:
    """True positives that the slack of the constraint is worth at the margin (negative if it is violated)."""
    spare = math.inf
    if problem.min_precision is not None:
        bound = float(problem.min_precision)
        rate = min(rate, _HIGHEST_RATE * bound)
        if 0.0 < n < 0.999 * total:
            spare = (tp - bound * n) * rate / (bound - rate)
    if problem.capacity is not None:
        cap = float(problem.capacity) * (1.0 if isinstance(problem.capacity, int) else total)
        spare = min(spare, rate * (cap - n))
    return spare if math.isfinite(spare) else 0.0


# The optimism of an optimal boundary: the cube-root law; of one threshold, of which it says nothing, out of fold.
#
# Near the optimum the Lagrangian of a level is a two-sided random walk minus a parabola; the height of its maximum
# scales with the cube root of the rows. 1.328 is four times E[T^2] times the cube root of 2, T the place of the
# maximum of a two-sided Brownian motion minus t^2 (E[T^2] = 0.2636).

_CONSTANT = 1.328
_MOST_ROWS = 200_000  # enough for the slopes
_FEW_ROWS = 30
_WINDOW = 0.5  # of the selected rows of a level, on both sides of its threshold


@dataclass(frozen=True, repr=False)
class Optimism:
    """Noise captured by a boundary, and the precision to expect on new rows.

    Parameters
    ----------
    captured : float
        Expected number of positives among the selected rows beyond what new rows would hold. Where one level alone has
        selected rows, it is found out of fold.
    precision : float
        On the rows the boundary was fitted to.
    expected_precision : float
        On new rows: ``precision`` less ``captured`` divided by the selected rows; nan where nothing is selected out of
        fold.

    Examples
    --------
    >>> from stakes.boundary import Optimism
    >>> Optimism(12.0, 0.8, 0.77)
    Optimism(precision 0.8 on these rows, about 0.77 on new ones)
    """

    captured: float
    precision: float
    expected_precision: float

    def __repr__(self) -> str:
        new = "unknown" if math.isnan(self.expected_precision) else f"about {self.expected_precision:.4g}"
        few = f", a guess from fewer than {_FEW_ROWS} rows" if self.rough else ""
        return f"Optimism(precision {self.precision:.4g} on these rows, {new} on new ones{few})"

    @property
    def rough(self) -> bool:
        """Whether fewer than 30 rows are selected, which say little of new ones."""
        return self.captured < _FEW_ROWS * (self.precision - self.expected_precision)


def estimate_optimism(
    rows: BoundaryRows, settings: Settings, cuts: Floats, selected: Ints, *, precision: float, tuned: float | None
) -> Optimism:
    """Sum the optimism over the levels, less one level's for the constraint; of one level it is found out of fold."""
    bound = settings.problem.min_precision
    if bound is None or settings.solver != "exact" or not settings.problem.bounds_precision_alone:
        raise ValueError('optimism needs solver="exact" and goal="recall" under min_precision= alone.')
    if rows.weight is not None:
        raise ValueError("optimism needs rows without weights: repeated rows are not independent.")
    chosen = int(selected.sum())
    if not chosen or rows.y.all() or not rows.y.any():
        return Optimism(0.0, precision, precision)
    target = bound if tuned is None else as_fraction(tuned, "tuned_precision")
    levels = int(np.count_nonzero(selected))
    if levels == 1:  # the law leaves nothing: the constraint takes the only level
        expected = min(_precision_out_of_fold(rows, settings, target), precision)
        return Optimism((precision - expected) * chosen, precision, expected)
    rate = marginal_rate(settings.prepare(rows).options, target)
    terms = _noise_by_level(rows, cuts, selected, (rate * (1.0 - rate)) ** 2)
    captured = _CONSTANT * float(np.sum(terms)) * (levels - 1) / levels
    return Optimism(captured, precision, precision - captured / chosen)


def _precision_out_of_fold(rows: BoundaryRows, settings: Settings, target: Fraction) -> float:
    """Precision of the rows that the boundaries of the other folds select; nan where they select none."""
    folds = split_rows(len(rows), min(FOLDS, len(rows)), generator(0))
    chosen = out_of_fold(rows, settings, folds).selected(target)
    return float(rows.y[chosen].mean()) if chosen.any() else math.nan


def _noise_by_level(rows: BoundaryRows, cuts: Floats, selected: Ints, spread: float) -> list[float]:
    """Cube-root term of each level with selected rows."""
    size = np.bincount(level_of(cuts, rows.uncertainty), minlength=len(cuts) + 1)
    some = rows.take(np.arange(0, len(rows), max(1, len(rows) // _MOST_ROWS)))
    ranked = Ranker.fit(some.y, some.score, some.uncertainty).rank(some.score, some.uncertainty)
    level = level_of(cuts, some.uncertainty)
    terms = []
    for k in np.flatnonzero(selected):
        inside = np.flatnonzero(level == k)
        by_score = ranked[inside[np.argsort(-some.score[inside], kind="stable")]]
        slope = _slope(by_score, selected[k] / size[k])
        terms.append((spread * size[k] / slope) ** (1.0 / 3.0) if slope > 0.0 else 0.0)
    return terms


def marginal_rate(options: FitOptions, precision: Fraction) -> float:
    """Rate of positives at which a row's contribution to the Lagrangian is zero."""
    bound = next_fraction(precision, max(options.total, 1))
    slack = options.slack(bound)
    levels, capacity = undominated_levels(options.starts, options.positives, slack)
    if sum(int(level.cost[-1]) for level in levels) <= capacity:
        return options.total_positives / max(options.total, 1)
    _, rise, cost = relaxed(levels, capacity)
    mu = bound.denominator * rise / cost
    return float(mu * bound / (1.0 + mu))


def _slope(rates: np.ndarray, share: float) -> float:
    """Least-squares slope of the fitted rate per unit of rank around a share of the rows, negated."""
    n = len(rates)
    if n < 3:
        return 0.0
    half = max(_WINDOW * share, 2.0 / n)
    low, high = max(0, int((share - half) * n)), min(n, int((share + half) * n) + 2)
    x = np.arange(low, high) / n
    x = x - x.mean()
    y = rates[low:high]
    return float(-(x @ (y - y.mean())) / (x @ x))
