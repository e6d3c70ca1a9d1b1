"""How a boundary is fitted to rows: solver, levels and bins, kept together so that it can be fitted again to others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from stakes.boundary._exact import solve_exact
from stakes.boundary._heuristics import HEURISTICS
from stakes.boundary._rows import level_cuts, rows_to_options
from stakes.boundary._rules import LevelRule, ShiftedRule

if TYPE_CHECKING:
    from stakes.boundary._options import Floats, Options
    from stakes.boundary._problem import Problem
    from stakes.boundary._rows import Rows
    from stakes.boundary._rules import Rule

SOLVERS = ("exact", "single_threshold", "heuristic_recalibration", *HEURISTICS)


@dataclass(frozen=True)
class Settings:
    """Everything but the rows."""

    problem: Problem
    solver: str
    levels: int | Floats
    binning: str
    score_bins: int | None

    def alone(self) -> Settings:
        """The same with one threshold on the score."""
        return replace(self, solver="single_threshold")

    def prepare(self, rows: Rows) -> Prepared:
        """Sort and bin rows once, to be solved for several targets."""
        shift = None
        if self.solver == "heuristic_recalibration":
            u = rows.uncertainty
            shift = ShiftedRule(float(u.min()), float(u.max()), 1.0, np.inf)
            rows = replace(rows, score=shift.shifted(rows.score, u))
        one = self.solver in {"single_threshold", "heuristic_recalibration"}
        cuts = np.empty(0) if one else level_cuts(rows, self.levels, self.binning)
        return Prepared(self, cuts, rows_to_options(rows, cuts, self.binning, self.score_bins), shift)


@dataclass(frozen=True)
class Prepared:
    """Options of some rows, ready to be solved."""

    settings: Settings
    cuts: Floats
    options: Options
    shift: ShiftedRule | None

    def solve(self, precision: Fraction | None = None) -> tuple[Rule, Fraction | None] | None:
        """Rule and bound on the goal's value (None: not proved), aiming at another precision if one is given."""
        problem = self.settings.problem
        if precision is not None:
            problem = replace(problem, min_precision=precision)
        bound = None
        if self.settings.solver in HEURISTICS:
            chosen = HEURISTICS[self.settings.solver](self.options, problem.min_precision or Fraction(0))
        else:
            found = solve_exact(self.options, problem)
            if found is None:
                return None
            chosen, bound = found.chosen, found.bound
        thresholds = self.options.cuts[self.options.starts[:-1] + chosen]
        if self.shift is not None:
            return replace(self.shift, threshold=float(thresholds[0])), bound
        return LevelRule(self.cuts, thresholds), bound


def check_solver(solver: str, problem: Problem) -> None:
    """The heuristics know one goal only."""
    if solver in HEURISTICS and not problem.bounds_precision_alone:
        raise ValueError(
            f"solver={solver!r} finds the most recall under min_precision= only, got {problem.describe()!r}: "
            "use solver='exact'."
        )
