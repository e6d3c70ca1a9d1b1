"""The reliability diagram, and below it where each model's scores lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.curves import Curve
from stakes.report._assets import filled
from stakes.report._html import table
from stakes.report._numbers import percent
from stakes.report._points import Points, drawn, reach, sampled, worst
from stakes.report._spec import (
    BUDGET,
    Figure,
    axis,
    error_note,
    model_line,
    reference_line,
    shading,
    threshold_layout,
    views,
)
from stakes.report._windows import Window, stretches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation
    from stakes.report._models import Model
    from stakes.report._points import Stretch
    from stakes.report._spec import Spec
    from stakes.score_table import ScoreTable

    Lines = Sequence[Sequence[Stretch]]

_HEADROOM = 0.04
_IDEAL = "perfect calibration"


def reliability_figure(evaluation: Evaluation, models: Sequence[Model]) -> Figure:
    """Observed event rate against the score, with the distribution of the scores."""
    curves = evaluation.curves("reliability")
    tables = dict(zip(evaluation.models, evaluation.tables, strict=True))
    cuts = [cut for ends in stretches(evaluation.costs).values() for cut in ends]
    rates = [sampled(curves[model.name], cuts) for model in models]
    shares = [sampled(_share_below(tables[model.name]), cuts) for model in models]
    spec, errors = _spec(evaluation, models, rates, shares)
    return Figure(
        "reliability",
        "observed share of positives (above), share of cases scored lower (below)",
        _label(evaluation, models),
        filled("caption_reliability.html", precision=error_note(errors)),
        spec,
        (),
        _in_range_table(evaluation, models),
    )


def _share_below(scores: ScoreTable) -> Curve:
    """Share of cases whose score is lower: a step at every score."""
    below = np.cumsum(scores.positives + scores.negatives) / scores.total
    first, last = np.searchsorted(scores.scores, 0.0, side="right"), np.searchsorted(scores.scores, 1.0)
    knots = np.concatenate([[0.0], scores.scores[first:last], [1.0]])
    steps = np.concatenate([[below[first - 1] if first else 0.0], below[first:last]])
    return Curve("share below", knots, steps, np.zeros(len(steps)), 0.0)


def _spec(
    evaluation: Evaluation, models: Sequence[Model], rates: Lines, shares: Lines
) -> tuple[Spec, dict[str, float]]:
    upper, lower = _windows(evaluation, rates, shares)
    above, below = drawn(rates, upper, BUDGET // 2), drawn(shares, lower, BUDGET // 2)
    corners = Points(np.array([0.0, 1.0]), np.array([0.0, 1.0]), {})
    ideal = reference_line(_IDEAL, corners, ".3~p")
    ideal["line"] = {"color": "--reference", "width": 1.2, "dash": "solid"}
    data = [ideal | {"hoverinfo": "skip", "hovertemplate": None}]
    data += [model_line(model, p, ".3~p") for model, p in zip(models[::-1], above[::-1], strict=True)]
    data += [model_line(model, p, ".3~p", rows=2) for model, p in zip(models[::-1], below[::-1], strict=True)]
    both = views(upper)
    for window in lower:
        both[window.key]["yaxis2.range"] = [window.bottom, window.top]
    ranks = [model.rank for model in models[::-1]]
    spec = {"data": data, "owners": [None, *ranks, *ranks], "layout": _layout(evaluation), "views": both, "odds": True}
    return spec, worst([*above, *below])


def _windows(evaluation: Evaluation, rates: Lines, shares: Lines) -> tuple[list[Window], list[Window]]:
    upper: list[Window] = []
    lower: list[Window] = []
    for key, (low, high) in stretches(evaluation.costs).items():
        least, most = reach(rates, low, high)
        upper.append(_framed(key, low, high, (min(least, low), max(most, high))))
        lower.append(_framed(key, low, high, reach(shares, low, high)))
    return upper, lower


def _framed(key: str, low: float, high: float, reached: tuple[float, float]) -> Window:
    bottom, top = reached
    pad = _HEADROOM * (top - bottom) or _HEADROOM
    return Window(key, low, high, bottom - pad, top + pad)


def _layout(evaluation: Evaluation) -> Spec:
    layout = threshold_layout(evaluation.costs, "score, and as odds")
    layout["yaxis"] |= {"domain": [0.34, 1.0], "tickformat": ".3~p"}
    layout["yaxis2"] = axis() | {"domain": [0.0, 0.26], "tickformat": ".3~p", "nticks": 4}
    layout["xaxis"] |= {"anchor": "y2"}
    layout["shapes"] = shading(evaluation.costs, ("y", "y2"))
    return layout


def _label(evaluation: Evaluation, models: Sequence[Model]) -> str:
    best = models[0]
    share, mean_score, rate = best.result.in_range
    return (
        f"Reliability diagram of {len(models)} of {len(evaluation.models)} models, with the distribution of their "
        f"scores. {percent(share)} of cases have a score of {best.short} within the shaded range; their mean score is "
        f"{percent(mean_score)}, and {percent(rate)} of them were positive. The table beside it has every model."
    )


def _in_range_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    rows = [[f"{model.rank}", model.sample, *(percent(value) for value in model.result.in_range)] for model in models]
    heads = ["#", "Model", "Share of cases", "Mean score", "Observed positives"]
    return table(f"Cases with a score between {low} and {high}", heads, rows)
