"""Boundaries as JSON: a fixed schema, checked when it is read, for the file may come from anywhere."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._cells import Cells
from stakes.boundary._certificate import read_certificate
from stakes.boundary._kept_checks import (
    check_certified,
    check_constraints,
    check_counts,
    check_rule,
    check_threshold,
    check_value,
)
from stakes.boundary._problem import GOALS, Problem
from stakes.boundary._rules import read_rule
from stakes.core.exact import as_fraction
from stakes.shown.entries import Entries
from stakes.shown.tabular import json_ready

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._certificate import Certificate
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
    inside = [content.counts("cells", name, shape=(len(cuts) + 1, len(edges) - 1)) for name in ("positives", "totals")]
    cells = Cells(edges, inside[0], inside[1], content.numbers("cells", "span"))
    certificate = None
    if content.at("certificate") is not None:
        certificate = read_certificate(content.inside("certificate"))
    problem, rule = _problem(content), read_rule(content.inside("rule"))
    check_counts(content, counts, cells)
    check_value(content, problem, counts)
    if certificate is None:
        check_constraints(content, problem, counts)
    check_threshold(content, cells, certified=certificate is not None)
    check_rule(content, rule, cells, counts, certified=certificate is not None)
    if certificate is not None:
        check_certified(content, certificate, problem, counts)
    value = content.number_or_none("value")
    return {
        **{name: content.text(name) for name in ("goal", "solver")},
        **{name: content.number_or_none(name) for name in ("upper_bound", "tuned_precision")},
        "value": math.nan if value is None else value,
        "threshold": content.number("threshold", infinite=True),
        "cuts": cuts,
        **counts,
        "certificate": certificate,
        "_rule": rule,
        "_problem": problem,
        "_counts": cells,
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
