"""Decisions for rows that the boundary was not fitted to, and the precision to aim at so that they keep a bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from stakes.boundary._heuristics import rate_around
from stakes.core.validation import check_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from stakes.boundary._options import Floats
    from stakes.boundary._rows import Bools, Rows
    from stakes.boundary._settings import Prepared, Settings

_STEPS = (0, 1, 2, 4, 6, 8, 11, 15, 20, 26, 33, 42, 53, 66, 82)  # per cent of the way from the bound to 1
_LOWER = (60, 40, 25, 15, 8, 4, 2)  # per cent below the bound
_BETWEEN = 4
FOLDS = 5


@dataclass(frozen=True)
class OutOfFold:
    """The rows of each fold, and the options of the others."""

    rows: Rows
    folds: list[NDArray[np.intp]]
    prepared: list[Prepared]

    def selected(self, precision: Fraction | None = None) -> Bools:
        """Decision for every row by the boundary fitted to the other folds (infeasible: nothing is selected)."""
        out = np.zeros(len(self.rows), dtype=bool)
        for fold, prepared in zip(self.folds, self.prepared, strict=True):
            found = prepared.solve(precision)
            if found is not None:
                out[fold] = found[0].select(self.rows.score[fold], self.rows.uncertainty[fold])
        return out


@dataclass(frozen=True)
class Tuned:
    """Precision to aim at (None: no aim keeps the bound out of fold), with the decisions out of fold."""

    target: Fraction | None
    selected: Bools


def split_rows(n: int, cv: int, rng: Generator) -> list[NDArray[np.intp]]:
    """Deal the rows to folds at random."""
    if not 2 <= check_whole(cv, "cv") <= n:
        raise ValueError(f"cv must be a number of folds from 2 to the number of rows ({n}), got {cv}.")
    return [np.sort(part) for part in np.array_split(rng.permutation(n), cv)]


def out_of_fold(rows: Rows, settings: Settings, folds: list[NDArray[np.intp]]) -> OutOfFold:
    """Prepare the options of all rows but one fold, for every fold; a capacity shrinks with the rows."""
    most = settings.problem.max_selected
    if isinstance(most, int):
        settings = replace(settings, problem=replace(settings.problem, max_selected=Fraction(most, len(rows))))
    prepared = []
    for fold in folds:
        others = np.ones(len(rows), dtype=bool)
        others[fold] = False
        prepared.append(settings.prepare(rows.take(others)))
    return OutOfFold(rows, folds, prepared)


def tune_precision(held: OutOfFold, bound: Fraction) -> Tuned:
    """Aim with the largest recall out of fold among those whose precision out of fold keeps the bound."""
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
    rows: Rows, choices: Sequence[Settings], folds: list[NDArray[np.intp]], bound: Fraction
) -> tuple[Settings, Tuned]:
    """Of several ways to fit, each with its aim, the one with the largest recall out of fold; the first of equals."""
    tuned = [tune_precision(out_of_fold(rows, one, folds), bound) for one in choices]
    reached = [rows.count(one.selected & rows.y) for one in tuned]
    best = int(np.argmax(reached))
    return choices[best], tuned[best]


@dataclass(frozen=True)
class Decided:
    """Share of each row that is selected out of fold, and the rate of positives at the margin."""

    share: Floats
    rate: float


def chosen_out_of_fold(
    rows: Rows, choices: Sequence[Settings], folds: list[NDArray[np.intp]], rng: Generator
) -> OutOfFold:
    """Prepare every fold by what was chosen on the others alone: a choice made on all rows would have seen it."""
    prepared = []
    for fold in folds:
        rest = rows.take(np.delete(np.arange(len(rows)), fold))
        bound = choices[0].problem.min_precision or Fraction(0)
        inner = split_rows(len(rest), min(FOLDS, len(rest)), rng)
        prepared.append(choose_settings(rest, choices, inner, bound)[0].prepare(rest))
    return OutOfFold(rows, folds, prepared)


def decide_out_of_fold(
    rows: Rows, choices: Sequence[Settings], folds: list[NDArray[np.intp]], rng: Generator
) -> Decided:
    """Decide about every fold by the others, which also make the choice; a precision bound is met out of fold."""
    held = out_of_fold(rows, choices[0], folds) if len(choices) == 1 else chosen_out_of_fold(rows, choices, folds, rng)
    bound = choices[0].problem.min_precision
    if bound is not None and choices[0].problem.goal == "recall":
        return _meet(held, bound)
    margins = [
        rate_around(one.options, one.options.counts(found)[1])
        for one in held.prepared
        if (found := one.choose()) is not None
    ]
    return Decided(held.selected().astype(np.float64), float(np.mean(margins)) if margins else 0.0)


def _meet(held: OutOfFold, bound: Fraction) -> Decided:
    """Mix the decisions of two neighbouring aims so that the precision out of fold is the bound.

    The aim with the most true positives among those that keep the bound, and the next lower one that does not.
    """
    aims = [bound * (1 - Fraction(step, 100)) for step in _LOWER] + [
        bound + (1 - bound) * Fraction(step, 100) for step in _STEPS
    ]
    masks = np.array([held.selected(aim) for aim in aims])
    tp, n = masks[:, held.rows.y].sum(axis=1), masks.sum(axis=1)
    spare = tp - float(bound) * n
    good = np.flatnonzero((spare >= 0.0) & (tp > 0))
    if not len(good):
        return Decided(np.zeros(len(held.rows)), 0.0)
    best = int(good[np.argmax(tp[good])])
    worse = np.flatnonzero(spare[:best] < 0.0)
    share = masks[best].astype(np.float64)
    if len(worse):
        other = int(worse[-1])
        part = spare[best] / (spare[best] - spare[other])
        share = (1.0 - part) * share + part * masks[other]
    return Decided(share, _slope_near(tp, n, float(share.sum())))


def _slope_near(tp: NDArray[np.intp], n: NDArray[np.intp], selected: float) -> float:
    """True positives per further row along the path of the aims, from two thirds to one and a half of the rows."""
    fewer, more = (int(np.argmin(np.abs(n - factor * selected))) for factor in (2.0 / 3.0, 1.5))
    if n[fewer] >= n[more]:
        return 0.0
    return float(np.clip((tp[more] - tp[fewer]) / (n[more] - n[fewer]), 0.0, 1.0))
