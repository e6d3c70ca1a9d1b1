"""Boundaries as JSON: a fixed schema, checked when it is read, for the file may come from anywhere."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._cells import Cells
from stakes.boundary._certificate import Certificate
from stakes.boundary._problem import GOALS, Problem
from stakes.boundary._ranker import N_COEFFICIENTS
from stakes.boundary._rules import LevelRule, ShiftedRule, rule_from_dict
from stakes.core.exact import as_fraction
from stakes.shown.entries import Entries
from stakes.shown.tabular import json_ready

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._rules import Rule

FORMAT = "stakes-boundary-1"
COUNTS = ("rows", "positives", "selected", "true_positives")


def to_text(
    facts: dict[str, Any],
    levels: dict[str, NDArray[Any]],
    problem: Problem,
    rule: Rule,
    *,
    cells: Cells,
    certificate: Certificate | None,
) -> str:
    """Write everything but the rows it was fitted to."""
    content = {
        "format": FORMAT,
        **facts,
        "problem": {field.name: _written(getattr(problem, field.name)) for field in fields(problem)},
        "rule": rule.to_dict(),
        "levels": {name: values.tolist() for name, values in levels.items()},
        "cells": {field.name: getattr(cells, field.name).tolist() for field in fields(cells)},
        "certificate": None if certificate is None else certificate.to_dict(),
    }
    return json.dumps(json_ready(content), indent=1)


def from_text(text: str) -> dict[str, Any]:
    """Check, and return what a boundary is made of; a ValueError names the first entry that is damaged."""
    content = Entries.read(text, "boundary", FORMAT)
    cuts = content.numbers("levels", "cuts")
    counts = {name: content.counts("levels", name, shape=(len(cuts) + 1,)) for name in COUNTS}
    if np.any(np.diff(cuts) <= 0.0):
        raise content.broken("levels.cuts", "strictly increasing numbers")
    edges = content.numbers("cells", "edges")
    cells = [content.counts("cells", name, shape=(len(cuts) + 1, len(edges) - 1)) for name in ("positives", "totals")]
    value = content.at("value")
    return {
        **{name: str(content.at(name)) for name in ("goal", "solver")},
        **{name: content.number_or_none(name) for name in ("upper_bound", "tuned_precision")},
        "value": math.nan if value is None else content.number("value"),
        "threshold": content.number("threshold"),
        "cuts": cuts,
        **counts,
        "certificate": _certificate(content),
        "_rule": _rule(content),
        "_problem": _problem(content),
        "_counts": Cells(edges, cells[0], cells[1], content.numbers("cells", "span")),
    }


def _written(value: Any) -> Any:
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def _problem(content: Entries) -> Problem:
    goal = content.at("problem", "goal")
    if goal not in GOALS:
        raise content.broken("problem.goal", f"one of {', '.join(GOALS)}")
    shares = {name: _share(content, name) for name in ("min_precision", "min_recall")}
    most = content.at("problem", "max_selected")
    if not (most is None or (isinstance(most, int) and not isinstance(most, bool) and most >= 0)):
        most = _share(content, "max_selected")
    beta2, cost = (_fraction(content, name) for name in ("beta2", "cost"))
    if beta2 <= 0 or not 0 <= cost <= 1:
        raise content.broken("problem", "made of beta2 > 0 and a cost in [0, 1]")
    return Problem(goal, **shares, max_selected=most, beta2=beta2, cost=cost)


def _share(content: Entries, name: str) -> Fraction | None:
    if content.at("problem", name) is None:
        return None
    share = _fraction(content, name)
    if not 0 < share <= 1:
        raise content.broken(f"problem.{name}", "a fraction in (0, 1]")
    return share


def _fraction(content: Entries, name: str) -> Fraction:
    value = content.at("problem", name)
    try:
        if isinstance(value, str):
            return as_fraction(value, name)
    except ValueError:
        pass
    raise content.broken(f"problem.{name}", 'a fraction such as "9/10"')


def _rule(content: Entries) -> Rule:
    described = content.at("rule")
    if not isinstance(described, dict):
        raise content.broken("rule", "there")
    try:
        rule = rule_from_dict(described)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise content.broken("rule", f"a whole rule ({error})") from None
    if isinstance(rule, LevelRule):
        whole = rule.cuts.ndim == 1 and rule.thresholds.shape == (len(rule.cuts) + 1,)
        whole = whole and not np.any(np.isnan(rule.thresholds)) and bool(np.all(np.diff(rule.cuts) > 0.0))
    elif isinstance(rule, ShiftedRule):
        whole = not any(map(math.isnan, (rule.low, rule.high, rule.weight, rule.threshold)))
    else:
        model = rule.ranker
        arrays = (model.coefficients, model.knots, model.ranks, np.array([model.centre, model.scale]))
        whole = all(array.ndim == 1 and np.all(np.isfinite(array)) for array in arrays)
        whole = whole and len(model.coefficients) == N_COEFFICIENTS and 0 < len(model.knots) == len(model.ranks)
        whole = whole and model.scale > 0.0 and bool(np.all(np.diff(model.knots) > 0.0))
        whole = whole and not math.isnan(rule.threshold)
    if not whole:
        raise content.broken("rule", "made of numbers that belong together")
    return rule


def _certificate(content: Entries) -> Certificate | None:
    if content.at("certificate") is None:
        return None
    read: dict[str, Any] = {}
    for field in fields(Certificate):
        if field.name == "abstained":
            read[field.name] = content.flag("certificate", field.name)
        elif field.name == "rows_needed" and content.at("certificate", field.name) is None:
            read[field.name] = None
        elif "int" in str(field.type):
            read[field.name] = int(content.counts("certificate", field.name, shape=()))
        else:
            read[field.name] = content.number("certificate", field.name)
    return Certificate(**read)
