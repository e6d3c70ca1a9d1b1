"""Whether the entries of a kept boundary, certificate or monitor agree with each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.boundary._exact import goal_value, scaled_value
from stakes.boundary._rows import level_of
from stakes.boundary._rules import LevelRule, RankedRule, ShiftedRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._cells import Cells
    from stakes.boundary._certificate import Certificate
    from stakes.boundary._options import Floats, Ints
    from stakes.boundary._problem import Problem
    from stakes.boundary._rules import Rule
    from stakes.shown.entries import Entries

_ROUNDING = 1e-9


def check_counts(content: Entries, counts: dict[str, Ints], cells: Cells) -> None:
    """Refuse counts of levels and of cells that cannot be those of the same rows."""
    rows, positives, selected, found = counts.values()
    _refuse(content, "levels.positives", positives > rows, "at most levels.rows", positives)
    _refuse(content, "levels.selected", selected > rows, "at most levels.rows", selected)
    most = np.minimum(selected, positives)
    _refuse(content, "levels.true_positives", found > most, "at most levels.selected and levels.positives", found)
    spare = selected - found > rows - positives
    _refuse(content, "levels.true_positives", spare, "such that the negatives selected are at most all", found)
    if len(cells.edges) < 2 or np.any(np.diff(cells.edges) <= 0.0):
        raise content.broken("cells.edges", "two or more numbers, strictly increasing")
    even = np.linspace(cells.edges[0], cells.edges[-1], len(cells.edges))
    if not np.allclose(cells.edges, even, rtol=0.0, atol=_ROUNDING * float(even[-1] - even[0])):
        raise content.broken("cells.edges", "numbers at equal distances")
    _check_span(content, cells, rows)
    _refuse(content, "cells.positives", np.any(cells.positives > cells.totals, axis=1), "at most cells.totals", None)
    for name, of, inside in (("totals", "rows", cells.totals), ("positives", "positives", cells.positives)):
        sums = inside.sum(axis=1)
        _refuse(content, f"cells.{name}", sums != counts[of], f"counts that add up to levels.{of}", sums)


def _check_span(content: Entries, cells: Cells, rows: Ints) -> None:
    """The range of the uncertainty begins in the first level that has rows, and ends in the last."""
    if cells.span.shape != (2,) or cells.span[0] > cells.span[1]:
        raise content.broken("cells.span", "two numbers in order")
    filled = np.flatnonzero(rows)
    levels = level_of(content.numbers("levels", "cuts"), cells.span)
    if not len(filled) or levels.tolist() != [filled[0], filled[-1]]:
        got = ", ".join(f"{end:.10g}" for end in cells.span)
        raise content.broken(
            "cells.span and levels.cuts", f"such that the range ends in levels that have rows, got {got}"
        )


def check_value(content: Entries, problem: Problem, counts: dict[str, Ints]) -> None:
    """Refuse a value or a bound that does not follow from the goal and the counts."""
    total, ups, chosen, found = (int(count.sum()) for count in counts.values())
    wanted = scaled_value(problem, goal_value(problem, found, chosen, ups), ups, total)
    value = content.number_or_none("value")
    if not _same(value, wanted):
        raise content.broken("value", f"{wanted}, as the counts say, got {value}")
    bound = content.number_or_none("upper_bound")
    best = {"recall": 1.0, "precision": 1.0, "f_beta": 1.0}.get(problem.goal, 0.0)
    if bound is not None and not (value is not None and value <= bound <= best):
        raise content.broken("upper_bound", f"from value to {best:g}, got {bound}")
    tuned = content.number_or_none("tuned_precision")
    if tuned is not None and not 0.0 < tuned <= 1.0:
        raise content.broken("tuned_precision", f"in (0, 1], got {tuned}")


def check_constraints(content: Entries, problem: Problem, counts: dict[str, Ints]) -> None:
    """Refuse constraints that the rows which the boundary was fitted to do not keep."""
    total, ups, chosen, found = (int(count.sum()) for count in counts.values())
    most = problem.capacity(total)
    if most is not None and chosen > most:
        raise content.broken("problem.max_selected", f"at least what levels.selected adds up to, {chosen}, got {most}")
    least = problem.min_precision
    if chosen and least is not None and content.at("tuned_precision") is None and found < least * chosen:
        raise content.broken("problem.min_precision", f"at most the precision of the levels, {found} of {chosen}")
    if chosen and found < problem.least_positives(ups):
        raise content.broken("problem.min_recall", f"at most the recall of the levels, {found} of {ups}")


def check_rule(content: Entries, rule: Rule, cells: Cells, counts: dict[str, Ints], *, certified: bool) -> None:
    """Refuse a region that cannot select what is counted in the cells."""
    if isinstance(rule, LevelRule):
        cuts = content.numbers("levels", "cuts")
        if len(rule.cuts) and not np.array_equal(rule.cuts, cuts):
            raise content.broken("rule.cuts", "levels.cuts, or none")
        thresholds = rule.thresholds if len(rule.cuts) else np.repeat(rule.thresholds, len(cuts) + 1)
        moves = 0.0, 0.0
    elif isinstance(rule, ShiftedRule):
        if not certified and not np.array_equal(cells.span, [rule.low, rule.high]):
            raise content.broken("rule.low and rule.high", "cells.span, the range of the uncertainty")
        thresholds = np.full(len(cells.totals), rule.threshold)
        moves = min(0.0, rule.weight), max(0.0, rule.weight)
    else:
        knots = rule.ranker.knots
        if not certified and not np.array_equal(cells.span, knots[[0, -1]]):
            raise content.broken("rule.ranker.knots", "numbers from the least to the largest of cells.span")
        _check_ranked(content, rule, counts)
        return
    width = _ROUNDING * float(cells.edges[-1] - cells.edges[0])
    whole = cells.edges[:-1] + moves[0] - width >= thresholds[:, None]
    some = cells.edges[1:] + moves[1] + width >= thresholds[:, None]
    for name, inside in (("selected", cells.totals), ("true_positives", cells.positives)):
        least, most = ((inside * mask).sum(axis=1) for mask in (whole, some))
        bad = (counts[name] < least) | (counts[name] > most)
        _refuse(content, f"levels.{name}", bad, "what the rule selects of the cells", counts[name])


def _check_ranked(content: Entries, rule: RankedRule, counts: dict[str, Ints]) -> None:
    """A learned order gives values between 0 and 1, so that a threshold beyond them selects all or nothing."""
    ranks = rule.ranker.ranks
    if np.any(np.diff(ranks) < 0.0) or not 0.0 <= ranks[0] <= ranks[-1] <= 1.0:
        raise content.broken("rule.ranker.ranks", "numbers in order, from 0 to 1")
    if rule.threshold > 1.0:
        selected = counts["selected"]
        _refuse(content, "levels.selected", selected > 0, "0, as rule.threshold is above every value", selected)
    elif rule.threshold <= 0.0:
        raise content.broken("rule.threshold", f"above 0, the least value, got {rule.threshold}")


def check_threshold(content: Entries, cells: Cells, *, certified: bool) -> None:
    """Refuse a single threshold beyond the scores of the rows."""
    threshold = content.number("threshold", infinite=True)
    inside = float(cells.edges[0]) <= threshold <= float(cells.edges[-1])
    if not (threshold == math.inf or inside or (certified and math.isfinite(threshold))):
        edges = f"{cells.edges[0]:.10g} to {cells.edges[-1]:.10g}"
        raise content.broken("threshold", f'a score of the rows ({edges}) or "inf", got {threshold}')


def check_certified(content: Entries, certificate: Certificate, problem: Problem, counts: dict[str, Ints]) -> None:
    """Refuse a certificate of other rows, of another promise or of another region."""
    total, _, chosen, found = (int(count.sum()) for count in counts.values())
    promise = float(problem.min_precision or 0)
    expected: dict[str, float] = {"min_precision": promise, "tested_rows": total}
    if not certificate.abstained:
        expected |= {"selected": chosen, "true_positives": found}
    elif chosen:
        raise content.broken("levels.selected", "0 where the certificate abstained")
    for name, wanted in expected.items():
        got = getattr(certificate, name)
        if got != wanted:
            raise content.broken(f"certificate.{name}", f"{wanted}, as problem and levels say, got {got}")


def _same(one: float | None, other: float | None) -> bool:
    """Whether two numbers agree to rounding; nan is kept as nothing."""
    missing = [value is None or math.isnan(value) for value in (one, other)]
    if any(missing):
        return all(missing)
    return math.isclose(one or 0.0, other or 0.0, rel_tol=_ROUNDING)


def _refuse(content: Entries, name: str, bad: NDArray[np.bool_], rule: str, values: Floats | Ints | None) -> None:
    if np.any(bad):
        level = int(np.argmax(bad))
        got = "" if values is None else f", got {values[level]}"
        raise content.broken(name, f"{rule} in level {level}{got}")
