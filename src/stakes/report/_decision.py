"""The two figures over the thresholds: regret, and net benefit (the decision curve)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.report._assets import filled
from stakes.report._html import table
from stakes.report._numbers import fixed, odds, percent
from stakes.report._points import drawn, reach, sampled, worst
from stakes.report._spec import (
    BUDGET,
    Figure,
    error_note,
    model_line,
    reference_line,
    threshold_layout,
    views,
)
from stakes.report._windows import Window, stretches

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from stakes.curves import Curve
    from stakes.evaluation import Evaluation
    from stakes.report._models import Model
    from stakes.report._points import Stretch
    from stakes.report._spec import Spec

    Lines = Sequence[Sequence[Stretch]]
    WindowMaker = Callable[[str, tuple[float, float], Lines, Sequence[Curve]], Window]

_X_TITLE = "threshold, and as odds"
# net benefit falls without bound towards a threshold of 1
_LAST_THRESHOLD = 0.99
_HEADROOM = 0.06
# how far below zero net benefit is shown, as a multiple of how far above, over the whole range and near by
_DEPTH, _DEEPER = 0.4, 3.0


def regret_figure(evaluation: Evaluation, models: Sequence[Model]) -> Figure:
    """Cost per decision in excess of an oracle's, at every threshold."""
    curves = evaluation.curves("regret")
    shown = {model: curves[model.name] for model in models}
    spec, errors = _spec(evaluation, shown, _regret_window)
    return Figure(
        "regret",
        "regret per decision (lower is better)",
        _label(evaluation, shown, "regret"),
        filled("caption_regret.html", range=_note(evaluation, shown), precision=error_note(errors)),
        spec,
        tuple(shown[models[0]].references),
        _numbers(evaluation, shown, "Regret per decision at thresholds of the range"),
    )


def decision_figure(evaluation: Evaluation, models: Sequence[Model]) -> Figure:
    """Net benefit at every threshold: the decision curve."""
    curves = evaluation.curves("net_benefit")
    shown = {model: curves[model.name] for model in models}
    spec, errors = _spec(evaluation, shown, _benefit_window, _LAST_THRESHOLD)
    return Figure(
        "decision",
        "net benefit per case (higher is better)",
        _label(evaluation, shown, "net benefit"),
        filled("caption_decision.html", range=_note(evaluation, shown), precision=error_note(errors)),
        spec,
        tuple(shown[models[0]].references),
        _numbers(evaluation, shown, "Net benefit at thresholds of the range"),
    )


def _spec(
    evaluation: Evaluation, curves: Mapping[Model, Curve], window: WindowMaker, last: float = 1.0
) -> tuple[Spec, dict[str, float]]:
    """Lines of the models and the references up to the last threshold, in the windows that the maker frames."""
    ends = {key: (low, min(high, last)) for key, (low, high) in stretches(evaluation.costs).items() if low < last}
    cuts = [cut for pair in ends.values() for cut in pair]
    references = next(iter(curves.values())).references
    lines = [sampled(curve, cuts) for curve in [*curves.values(), *references.values()]]
    windows = [window(key, pair, lines[: len(curves)], list(references.values())) for key, pair in ends.items()]
    points = drawn(lines, windows, BUDGET)
    data = [reference_line(name, p, ".4~g") for name, p in zip(references, points[len(curves) :], strict=True)]
    # the best model last, so that it lies on top
    ranked = list(zip(curves, points[: len(curves)], strict=True))[::-1]
    data += [model_line(model, p, ".4~g") for model, p in ranked]
    spec = {
        "data": data,
        "owners": [None] * len(references) + [model.rank for model, _ in ranked],
        "layout": threshold_layout(evaluation.costs, _X_TITLE),
        "views": views(windows),
        "odds": True,
    }
    return spec, worst(points)


def _regret_window(key: str, ends: tuple[float, float], lines: Lines, references: Sequence[Curve]) -> Window:
    _, highest = reach(lines, *ends)
    cheaper = float(_on_grid(references, ends).min(axis=0).max())
    return Window(key, *ends, 0.0, (1.0 + _HEADROOM) * max(highest, cheaper) or 1.0)


def _benefit_window(key: str, ends: tuple[float, float], lines: Lines, references: Sequence[Curve]) -> Window:
    lowest, highest = reach(lines, *ends)
    better = _on_grid(references, ends).max(axis=0)
    lowest, highest = min(lowest, float(better.min())), max(highest, float(better.max()))
    depth = _DEPTH if key == "whole" else _DEEPER
    lowest = max(lowest, -depth * (highest or 0.25))
    pad = _HEADROOM * (highest - lowest) or 0.05
    return Window(key, *ends, lowest - pad, highest + pad)


def _on_grid(references: Sequence[Curve], ends: tuple[float, float]) -> NDArray[np.float64]:
    grid = np.linspace(*ends, 201)
    return np.array([curve.at(grid) for curve in references])


def _label(evaluation: Evaluation, curves: Mapping[Model, Curve], what: str) -> str:
    best, curve = next(iter(curves.items()))
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    return (
        f"Line chart of {what} against the threshold, for {len(curves)} of {len(evaluation.models)} models and for "
        f"treating all and treating none. Plausible thresholds, {low} to {high}, are shaded. "
        f"{_at_the_middle(evaluation, best.short, curve)} The numbers are in the tables of this page."
    )


def _note(evaluation: Evaluation, curves: Mapping[Model, Curve]) -> str:
    """What is shaded, and the main numbers."""
    best, curve = next(iter(curves.items()))
    low, high = evaluation.costs.low, evaluation.costs.high
    shaded = f"Shaded: the plausible thresholds, {percent(low)} to {percent(high)} (odds {odds(low)} to {odds(high)})."
    if low == high:
        shaded = f"The line marks the threshold {percent(low)} (odds {odds(low)})."
    return f"{shaded} {_at_the_middle(evaluation, best.html, curve)}"


def _at_the_middle(evaluation: Evaluation, best: str, curve: Curve) -> str:
    """The best model and the references in the middle of the range, in words."""
    at, decimals = min(0.5 * (evaluation.costs.low + evaluation.costs.high), _LAST_THRESHOLD), _decimals(evaluation)
    lines = {best: curve, **curve.references}
    values = ", ".join(f"{name} {fixed(float(line.at(at)), decimals)}" for name, line in lines.items())
    return f"At a threshold of {percent(at)}: {values}."


def _numbers(evaluation: Evaluation, curves: Mapping[Model, Curve], caption: str) -> str:
    low, high = evaluation.costs.low, evaluation.costs.high
    at = [float(x) for x in np.unique(np.linspace(low, high, 5)) if x < 1.0] or [_LAST_THRESHOLD]
    decimals = _decimals(evaluation)
    rows = [[f"{model.rank}", model.sample, *_values(curve, at, decimals)] for model, curve in curves.items()]
    references = next(iter(curves.values())).references
    rows += [["", name, *_values(curve, at, decimals)] for name, curve in references.items()]
    heads = [f"{percent(x)}<br><small>{odds(x)}</small>" for x in at]
    return table(caption, ["#", "Model", *heads], rows)


def _decimals(evaluation: Evaluation) -> int:
    """Decimals that show what one row contributes."""
    return min(max(len(str(evaluation.n_rows)) + 1, 3), 6)


def _values(curve: Curve, at: Sequence[float], decimals: int) -> list[str]:
    return [fixed(float(value), decimals) for value in curve.at(at)]
