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
from stakes.shown.tabular import json_ready

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._rules import Rule

FORMAT = "stakes-boundary-1"
_LARGEST = 1e308
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
    try:
        content = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"text must be a boundary in JSON: {error}.") from None
    form = content.get("format") if isinstance(content, dict) else None
    if form != FORMAT:
        raise ValueError(f"text must be a boundary of format {FORMAT!r}, got format {form!r}.")
    cuts = _numbers(content, "levels", "cuts")
    counts = {name: _counts(content, "levels", name, shape=(len(cuts) + 1,)) for name in COUNTS}
    if np.any(np.diff(cuts) <= 0.0):
        raise _broken("levels.cuts", "strictly increasing numbers")
    edges = _numbers(content, "cells", "edges")
    cells = [_counts(content, "cells", name, shape=(len(cuts) + 1, len(edges) - 1)) for name in ("positives", "totals")]
    value = _entry(content, "value")
    return {
        **{name: str(_entry(content, name)) for name in ("goal", "solver")},
        **{name: _number_or_none(content, name) for name in ("upper_bound", "tuned_precision")},
        "value": math.nan if value is None else _number(content, "value"),
        "threshold": _number(content, "threshold"),
        "cuts": cuts,
        **counts,
        "certificate": _certificate(_entry(content, "certificate")),
        "_rule": _rule(_entry(content, "rule")),
        "_problem": _problem(content),
        "_counts": Cells(edges, cells[0], cells[1], _numbers(content, "cells", "span")),
    }


def _written(value: Any) -> Any:
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def _broken(name: str, rule: str) -> ValueError:
    return ValueError(f"text is no whole boundary: {name} must be {rule}.")


def _entry(content: Any, *path: str) -> Any:
    for depth, name in enumerate(path, start=1):
        if not isinstance(content, dict) or name not in content:
            raise _broken(".".join(path[:depth]), "there")
        content = content[name]
    return content


def _number(content: Any, *path: str) -> float:
    value = _entry(content, *path)
    finite = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST
    if not (finite or (isinstance(value, str) and value in {"inf", "-inf"})):
        raise _broken(".".join(path), "a number")
    return float(value)


def _number_or_none(content: Any, *path: str) -> float | None:
    return None if _entry(content, *path) is None else _number(content, *path)


def _numbers(content: Any, *path: str) -> NDArray[np.float64]:
    entry = _entry(content, *path)
    try:
        values = np.array(entry, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.array(math.nan)
    if values.ndim != 1 or np.any(np.isnan(values)):
        raise _broken(".".join(path), "a list of numbers")
    return values


def _counts(content: Any, *path: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
    entry = _entry(content, *path)
    try:
        values = np.array(entry)
    except (ValueError, OverflowError):
        values = np.array("")
    if values.dtype.kind not in "iu" or values.shape != shape or np.any(values < 0):
        raise _broken(".".join(path), f"counts of shape {shape}")
    return values.astype(np.int64)


def _problem(content: Any) -> Problem:
    goal = _entry(content, "problem", "goal")
    if goal not in GOALS:
        raise _broken("problem.goal", f"one of {', '.join(GOALS)}")
    shares = {name: _share(content, name) for name in ("min_precision", "min_recall")}
    most = _entry(content, "problem", "max_selected")
    if not (most is None or (isinstance(most, int) and not isinstance(most, bool) and most >= 0)):
        most = _share(content, "max_selected")
    beta2, cost = (_fraction(content, name) for name in ("beta2", "cost"))
    if beta2 <= 0 or not 0 <= cost <= 1:
        raise _broken("problem", "made of beta2 > 0 and a cost in [0, 1]")
    return Problem(goal, **shares, max_selected=most, beta2=beta2, cost=cost)


def _share(content: Any, name: str) -> Fraction | None:
    if _entry(content, "problem", name) is None:
        return None
    share = _fraction(content, name)
    if not 0 < share <= 1:
        raise _broken(f"problem.{name}", "a fraction in (0, 1]")
    return share


def _fraction(content: Any, name: str) -> Fraction:
    value = _entry(content, "problem", name)
    try:
        if isinstance(value, str):
            return as_fraction(value, name)
    except ValueError:
        pass
    raise _broken(f"problem.{name}", 'a fraction such as "9/10"')


def _rule(content: Any) -> Rule:
    if not isinstance(content, dict):
        raise _broken("rule", "there")
    try:
        rule = rule_from_dict(content)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _broken("rule", f"a whole rule ({error})") from None
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
        raise _broken("rule", "made of numbers that belong together")
    return rule


def _certificate(content: Any) -> Certificate | None:
    if content is None:
        return None
    path = {"certificate": content}
    read: dict[str, Any] = {}
    for field in fields(Certificate):
        value = _entry(path, "certificate", field.name)
        if field.name == "abstained":
            if not isinstance(value, bool):
                raise _broken("certificate.abstained", "true or false")
            read[field.name] = value
        elif field.name == "rows_needed" and value is None:
            read[field.name] = None
        elif "int" in str(field.type):
            read[field.name] = int(_counts(path, "certificate", field.name, shape=()))
        else:
            read[field.name] = _number(path, "certificate", field.name)
    return Certificate(**read)
