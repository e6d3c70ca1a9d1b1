"""Count what a region selects, level by level, and put the result together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.boundary._boundary import Boundary
from stakes.boundary._cells import count_cells
from stakes.boundary._exact import goal_value, scaled_value
from stakes.boundary._rows import level_of

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from stakes.boundary._certificate import Certificate
    from stakes.boundary._options import Floats, Ints
    from stakes.boundary._rows import Rows
    from stakes.boundary._rules import LevelRule, Rule
    from stakes.boundary._settings import Settings


def describe_region(
    rows: Rows,
    settings: Settings,
    cuts: Floats,
    rule: Rule,
    single: LevelRule,
    *,
    bound: Fraction | None = None,
    tuned: Fraction | None = None,
    certificate: Certificate | None = None,
    data: Rows | None = None,
) -> Boundary:
    """Say what a rule selects of these rows, beside the best single threshold; a certificate has its own solver."""
    problem = settings.problem
    inside = rule.select(rows.score, rows.uncertainty)
    counts = [_by_level(rows, cuts, mask) for mask in (None, rows.y, inside, inside & rows.y)]
    total, ups, chosen, found = (int(count.sum()) for count in counts)
    value = goal_value(problem, found, chosen, ups)
    if bound is not None:  # a solution at its bound stays there whatever the rounding
        bound = max(bound, value)
    shown, limit = (scaled_value(problem, one, ups, total) for one in (value, bound))
    return Boundary(
        goal=problem.describe(),
        solver=settings.solver if certificate is None else "ranker",
        value=math.nan if shown is None else shown,
        upper_bound=None if limit is None or math.isnan(limit) else limit,
        cuts=cuts,
        rows=counts[0],
        positives=counts[1],
        selected=counts[2],
        true_positives=counts[3],
        threshold=float(single.thresholds[0]),
        tuned_precision=None if tuned is None else float(tuned),
        certificate=certificate,
        _rule=rule,
        _problem=problem,
        _counts=count_cells(rows, cuts),
        _data=rows if data is None else data,
        _settings=settings,
    )


def _by_level(rows: Rows, cuts: Floats, mask: NDArray[np.bool_] | None) -> Ints:
    """Weight of the rows of a mask in each level."""
    some = rows if mask is None else rows.take(mask)
    weight = None if some.weight is None else some.weight.astype(np.float64)  # exact below 2^53
    level = level_of(cuts, some.uncertainty)
    return np.bincount(level, weights=weight, minlength=len(cuts) + 1).astype(np.int64)
