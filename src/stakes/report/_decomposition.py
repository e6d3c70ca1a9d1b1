"""The decomposition chart: miscalibration against discrimination, with lines of equal score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.report._assets import filled
from stakes.report._html import table
from stakes.report._numbers import decimals_for, fixed, skill_percent
from stakes.report._ranking import cost_words
from stakes.report._spec import Figure, axis, base_layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.decomposition import Decomposition
    from stakes.evaluation import Evaluation
    from stakes.report._models import Model
    from stakes.report._spec import Spec

_ROOM = 1.15
_LINES = 6
# how close, as a share of the chart, two points may be before their numbers are set on different sides
_CLOSE = 0.04
_SIDES = (
    "middle right",
    "middle left",
    "top center",
    "bottom center",
    "top right",
    "bottom left",
    "top left",
    "bottom right",
)


def decomposition_figure(evaluation: Evaluation, models: Sequence[Model]) -> Figure:
    """Where each model's cost comes from."""
    parts = {model: model.result.decomposition for model in models}
    shown = {model: p for model, p in parts.items() if p is not None and _finite(p)}
    missing = [model.html for model in models if model not in shown]
    note = f"Not drawn, because a term is infinite or undefined: {', '.join(missing)}." if missing else ""
    return Figure(
        "decomposition",
        "discrimination DSC (more is better)",
        _label(models, cost_words(evaluation)),
        filled("caption_decomposition.html", missing=note),
        _spec(shown) if shown else None,
    )


def decomposition_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The terms of every model."""
    parts = {model: model.result.decomposition for model in models}
    known = {model: p for model, p in parts.items() if p is not None}
    errors = [model.result.standard_error for model in known]
    decimals = decimals_for(errors, [term for p in known.values() for term in _terms(p)])
    rows = [
        [f"{model.rank}", model.sample, *(fixed(term, decimals) for term in _terms(p)), skill_percent(p.skill)]
        for model, p in known.items()
    ]
    heads = ["#", "Model", f"Cost<br><small>{cost_words(evaluation)}</small>", "MCB", "DSC", "UNC", "Skill"]
    return table("Decomposition of the expected cost, in-sample", heads, rows)


def _terms(parts: Decomposition) -> tuple[float, float, float, float]:
    return parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty


def _finite(parts: Decomposition) -> bool:
    return all(math.isfinite(term) for term in _terms(parts))


def _spec(shown: dict[Model, Decomposition]) -> Spec:
    any_parts = next(iter(shown.values()))
    least = 0.02 * any_parts.uncertainty or 1e-3
    right = _ROOM * max(*(p.miscalibration for p in shown.values()), least)
    top = _ROOM * max(*(p.discrimination for p in shown.values()), least)
    left, bottom = -0.06 * right, -0.06 * top
    box = (left, right, bottom, top)
    sides = _sides(shown, right - left, top - bottom)
    points = [_point(model, parts, sides[model]) for model, parts in reversed(shown.items())]
    lines, labels = _equal_cost(any_parts.uncertainty, box)
    layout = base_layout() | {
        "xaxis": axis("miscalibration MCB (less is better)") | {"range": [left, right], "tickformat": "~g"},
        "yaxis": axis() | {"range": [bottom, top], "tickformat": "~g"},
        "shapes": lines,
        "annotations": labels,
        "hovermode": "closest",
        # room for the costs that the lines stand for
        "margin": {"l": 60, "r": 48, "t": 22, "b": 62},
    }
    view = {"whole": {"xaxis.range": [left, right], "yaxis.range": [bottom, top]}}
    return {"data": points, "owners": [m.rank for m in reversed(shown)], "layout": layout, "views": view, "odds": False}


def _point(model: Model, parts: Decomposition, side: str) -> Spec:
    values = f"cost {parts.score:.4g}<br>MCB %{{x:.3~g}}, DSC %{{y:.3~g}}"
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [parts.miscalibration],
        "y": [parts.discrimination],
        "text": [str(model.rank)],
        "textposition": side,
        "textfont": {"size": 14, "color": "--ink"},
        "marker": {"size": 12, "color": f"--model-{model.colour}", "line": {"color": "--page", "width": 1}},
        "name": model.figure_name,
        "cliponaxis": False,
        "hovertemplate": f"%{{fullData.name}}<br>{values}<extra></extra>",
    }


def _sides(shown: dict[Model, Decomposition], width: float, height: float) -> dict[Model, str]:
    """Set the numbers of points that lie close together on different sides."""
    sides: dict[Model, str] = {}
    for model, parts in shown.items():
        close = sum(
            abs(parts.miscalibration - shown[other].miscalibration) < _CLOSE * width
            and abs(parts.discrimination - shown[other].discrimination) < _CLOSE * height
            for other in sides
        )
        sides[model] = _SIDES[close % len(_SIDES)]
    return sides


def _equal_cost(uncertainty: float, box: tuple[float, float, float, float]) -> tuple[list[Spec], list[Spec]]:
    """Lines DSC = MCB + UNC - S for round costs S, each with its cost where it leaves the chart."""
    left, right, bottom, top = box
    levels = _round_levels(uncertainty + left - top, uncertainty + right - bottom)
    lines, labels = [], []
    for level in [*levels, uncertainty]:
        rise = uncertainty - level
        x0, x1 = max(left, bottom - rise), min(right, top - rise)
        if x1 <= x0:
            continue
        thick = level == uncertainty
        line = {"color": "--reference" if thick else "--grid-strong", "width": 1.6 if thick else 1}
        lines.append(
            {"type": "line", "x0": x0, "x1": x1, "y0": x0 + rise, "y1": x1 + rise, "line": line, "layer": "below"}
        )
        if not thick:
            labels.append(_cost_label(level, x1, x1 + rise, at_top=x1 < right))
    return lines, labels


def _cost_label(level: float, x: float, y: float, *, at_top: bool) -> Spec:
    place = {"xanchor": "center", "yanchor": "bottom"} if at_top else {"xanchor": "left", "yanchor": "middle"}
    font = {"size": 11, "color": "--muted"}
    return {"x": x, "y": y, "text": f"{level:.6g}", "showarrow": False, "font": font, "borderpad": 1} | place


def _round_levels(low: float, high: float) -> list[float]:
    """About six round numbers between two values."""
    raw = (high - low) / _LINES
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= 0.7 * raw)
    return [float(k * step) for k in np.arange(math.ceil(low / step), math.floor(high / step) + 1)]


def _label(models: Sequence[Model], scale: str) -> str:
    parts = models[0].result.decomposition
    best = models[0].short
    if parts is None:
        return "Chart of miscalibration against discrimination."
    return (
        f"Chart of miscalibration against discrimination for {len(models)} models, cost as {scale}. {best}: cost "
        f"{parts.score:.3g}, miscalibration {parts.miscalibration:.3g}, discrimination {parts.discrimination:.3g}, "
        f"uncertainty {parts.uncertainty:.3g}. The table below has every model."
    )
