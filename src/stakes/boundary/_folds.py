"""Decisions for rows that the boundary was not fitted to, and the precision to aim at so that they keep a bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from stakes.boundary._rows import Bools, Rows
    from stakes.boundary._settings import Prepared, Settings

_STEPS = (0, 1, 2, 4, 6, 8, 11, 15, 20, 26, 33, 42, 53, 66, 82)  # per cent of the way from the bound to 1
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
    if not 2 <= cv <= n:
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


def chosen_out_of_fold(
    rows: Rows, choices: Sequence[Settings], folds: list[NDArray[np.intp]], bound: Fraction, rng: Generator
) -> Bools:
    """Decision for every row by what was chosen and aimed on the other folds alone."""
    out = np.zeros(len(rows), dtype=bool)
    for fold in folds:
        others = np.ones(len(rows), dtype=bool)
        others[fold] = False
        rest = rows.take(others)
        settings, tuned = choose_settings(rest, choices, split_rows(len(rest), min(FOLDS, len(rest)), rng), bound)
        found = None if tuned.target is None else settings.prepare(rest).solve(tuned.target)
        if found is not None:
            out[fold] = found[0].select(rows.score[fold], rows.uncertainty[fold])
    return out
