"""How a boundary is fitted to rows: solver, levels and bins, kept together so that it can be fitted again to others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._exact import solve_exact
from stakes.boundary._heuristics import HEURISTICS
from stakes.boundary._ranker import Ranker
from stakes.boundary._rows import level_cuts, rows_to_options
from stakes.boundary._rules import LevelRule, RankedRule, ShiftedRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from stakes.boundary._options import Floats, Ints, Options
    from stakes.boundary._problem import Problem
    from stakes.boundary._rows import Rows
    from stakes.boundary._rules import Rule

SOLVERS = ("exact", "ranker", "single_threshold", "heuristic_recalibration", *HEURISTICS)


@dataclass(frozen=True)
class Settings:
    """Everything but the rows; ``rivals`` are the settings that these were chosen from by cross-validation."""

    problem: Problem
    solver: str
    levels: int | Floats
    binning: str
    score_bins: int | None
    rivals: tuple[Settings, ...] = ()

    def alone(self) -> Settings:
        """The same with one threshold on the score."""
        return replace(self, solver="single_threshold", rivals=())

    def prepare(self, rows: Rows) -> Prepared:
        """Sort and bin rows once, to be solved for several targets."""
        cuts = np.empty(0) if self.solver in _WITHOUT_LEVELS else level_cuts(rows, self.levels, self.binning)
        if self.solver in _ON_ANOTHER_SCALE:
            rule, moved = _ON_ANOTHER_SCALE[self.solver](rows)
            options = rows_to_options(replace(rows, score=moved), np.empty(0), self.binning, self.score_bins)
            return Prepared(self, cuts, options, lambda thresholds: rule.at(float(thresholds[0])))
        options = rows_to_options(rows, cuts, self.binning, self.score_bins)
        return Prepared(self, cuts, options, partial(LevelRule, cuts))


def _shifted(rows: Rows) -> tuple[ShiftedRule, Floats]:
    """Score moved by its scaled uncertainty."""
    u = rows.uncertainty
    rule = ShiftedRule(float(u.min()), float(u.max()), 1.0, np.inf)
    return rule, rule.shifted(rows.score, u)


def _ranked(rows: Rows) -> tuple[RankedRule, Floats]:
    """Learned order of score and uncertainty."""
    ranker = Ranker.fit(rows.y, rows.score, rows.uncertainty, rows.weight)
    return RankedRule.of(ranker, np.inf), ranker.rank(rows.score, rows.uncertainty)


_ON_ANOTHER_SCALE: dict[str, Callable[[Rows], tuple[Any, Floats]]] = {
    "heuristic_recalibration": _shifted,
    "ranker": _ranked,
}
_WITHOUT_LEVELS = ("single_threshold", "heuristic_recalibration")


@dataclass(frozen=True)
class Prepared:
    """Options of some rows, ready to be solved, and the rule that thresholds on them make."""

    settings: Settings
    cuts: Floats
    options: Options
    rule: Callable[[Floats], Rule]

    def solve(self, precision: Fraction | None = None) -> tuple[Rule, Fraction | None] | None:
        """Rule and bound on the goal's value (None: not proved), aiming at another precision if one is given."""
        found = self._search(precision)
        if found is None:
            return None
        chosen, bound = found
        return self.rule(self.options.cuts[self.options.starts[:-1] + chosen]), bound

    def choose(self, precision: Fraction | None = None) -> Ints | None:
        """Return the chosen option of each level."""
        found = self._search(precision)
        return None if found is None else found[0]

    def _search(self, precision: Fraction | None) -> tuple[Ints, Fraction | None] | None:
        problem = self.settings.problem
        if precision is not None:
            problem = replace(problem, min_precision=precision)
        if self.settings.solver in HEURISTICS:
            return HEURISTICS[self.settings.solver](self.options, problem.min_precision or Fraction(0)), None
        found = solve_exact(self.options, problem)
        if found is None:
            return None
        return found.chosen, None if self.settings.solver == "ranker" else found.bound


def check_solver(solver: str, problem: Problem) -> None:
    """The heuristics know one goal only."""
    if solver in HEURISTICS and not problem.bounds_precision_alone:
        raise ValueError(
            f"solver={solver!r} finds the most recall under min_precision= only, got {problem.describe()!r}: "
            "use solver='exact'."
        )
