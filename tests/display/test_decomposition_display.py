"""Miscalibration against discrimination, lines of equal score, and a margin for what is infinite."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stakes import costs, decompose
from stakes.display import DecompositionDisplay, _axes
from stakes.metrics._losses import Decomposition


def point(line):
    return float(line.get_xdata()[0]), float(line.get_ydata()[0])


def test_each_model_is_the_point_of_its_terms(rows):
    y, models = rows
    measure = costs.Uniform(0.1, 0.4)
    shown = DecompositionDisplay.from_predictions(y, models, costs=measure, scale="loss")
    for line, (name, scores) in zip(shown.lines_, models.items(), strict=True):
        terms = decompose(y, scores, costs=measure, scale="loss")
        assert line.get_label() == name
        assert point(line) == (terms.miscalibration, terms.discrimination)
    assert shown.ax_.get_ylabel() == "Discrimination (loss)"


def test_bounds_stand_for_uniform_costs(rows):
    y, models = rows
    pair = DecompositionDisplay.from_predictions(y, models, costs=(0.1, 0.4))
    measure = DecompositionDisplay.from_predictions(y, models, costs=costs.Uniform(0.1, 0.4))
    assert [point(line) for line in pair.lines_] == [point(line) for line in measure.lines_]


def test_score_is_equal_along_each_line_and_written_beside_it(rows):
    y, models = rows
    shown = DecompositionDisplay.from_predictions(y, models, costs=(0.1, 0.4))
    uncertainty = shown.decompositions["sharp"].uncertainty
    starts = [line.get_xy1()[1] for line in shown.score_lines_]
    assert starts[0] == 0.0
    assert {line.get_xy1()[0] for line in shown.score_lines_} == {0.0}  # where nothing is miscalibrated
    assert {line.get_slope() for line in shown.score_lines_} == {1.0}
    named = {text.get_text(): text.xy for text in shown.ax_.texts}
    assert named.pop("no skill")[0] == pytest.approx(shown.ax_.texts[0].xy[1])
    assert sum(text.startswith("score ") for text in named) == 1
    for text, (miscalibration, discrimination) in named.items():
        assert miscalibration - discrimination + uncertainty == pytest.approx(
            float(text.removeprefix("score ")), rel=1e-3
        )


@pytest.mark.parametrize(("miscalibration", "discrimination"), [(0.3, 0.05), (0.02, 0.15), (0.12, 0.1)])
@pytest.mark.parametrize("uncertainty", [0.21, 0.248])
def test_round_scores_have_lines_all_over_the_picture_but_beside_that_of_no_skill(
    uncertainty, miscalibration, discrimination
):
    score = miscalibration - discrimination + uncertainty
    shown = DecompositionDisplay(
        {"a": Decomposition(score, miscalibration, discrimination, uncertainty, "loss")}
    ).plot()
    ax, (no_skill, *others) = shown.ax_, shown.score_lines_
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert left < 0.0 < miscalibration < right
    assert bottom < 0.0 < discrimination < top
    assert no_skill.get_xy1() == (0.0, 0.0)
    assert {line.get_color() for line in others} == {_axes.GUIDE_COLOUR}
    assert no_skill.get_color() == _axes.REFERENCE_COLOUR
    assert [text.xy[0] == pytest.approx(text.xy[1]) for text in ax.texts if text.get_text() == "no skill"] == [True]
    levels = np.array([uncertainty - line.get_xy1()[1] for line in others])
    step = np.diff(levels).min()
    assert np.round(levels / step) == pytest.approx(levels / step)
    assert levels.min() >= 0.0

    def apart(level):  # in points, at right angles to the line of no skill
        start, end = ax.transData.transform([(0.0, 0.0), (right, right)])
        along = (end - start) / np.hypot(*(end - start))
        away = ax.transData.transform((0.0, uncertainty - level)) - start
        return abs(float(along[0] * away[1] - along[1] * away[0])) * 72.0 / ax.figure.dpi

    assert min(map(apart, levels)) > 10.0
    crossing = np.arange(math.ceil((uncertainty - top) / step), math.floor((uncertainty + right) / step) + 1) * step
    missing = [level for level in crossing if level >= 0.0 and np.abs(levels - level).min() > 0.1 * step]
    assert all(apart(level) < 20.0 for level in missing)


def test_infinite_miscalibration_stands_in_a_margin_that_says_so(rows):
    y, models = rows
    hasty = np.where(y == 1, 0.0, models["sharp"])
    measure = costs.LogOddsUniform(0.0, 1.0)
    shown = DecompositionDisplay.from_predictions(y, {"shifted": models["shifted"], "hasty": hasty}, costs=measure)
    assert shown.decompositions["hasty"].miscalibration == math.inf
    x, height = point(shown.lines_[-1])
    low, high = shown.ax_.get_xlim()
    assert low < x < high
    assert height == shown.decompositions["hasty"].discrimination
    assert x > max(point(line)[0] for line in shown.lines_[:-1])
    assert "infinite" in [text.get_text() for text in shown.ax_.texts]
    finite = DecompositionDisplay.from_predictions(y, {"shifted": models["shifted"]}, costs=(0.1, 0.4))
    assert "infinite" not in [text.get_text() for text in finite.ax_.texts]


def test_infinite_miscalibration_alone_is_drawn(rows):
    y, models = rows
    hasty = np.where(y == 1, 0.0, models["sharp"])
    shown = DecompositionDisplay.from_predictions(y, hasty, costs=costs.LogOddsUniform(0.0, 1.0))
    shown.figure_.canvas.draw()
    assert np.isfinite(point(shown.lines_[0])).all()


def test_scale_without_meaning_is_said(rows):
    y, models = rows
    shown = DecompositionDisplay.from_predictions(y, models, costs=costs.LogOddsUniform(0.0, 1.0), scale="regret")
    shown.figure_.canvas.draw()
    assert [text.get_text() for text in shown.ax_.texts] == ["undefined: infinite mass of costs"]
    assert shown.ax_.texts[0].get_position() == (0.5, 0.5)  # of the axes: in the middle


def test_one_class_only_is_drawn():
    shown = DecompositionDisplay.from_predictions([0, 0, 0], [0.1, 0.3, 0.8], costs=(0.2, 0.5))
    shown.figure_.canvas.draw()
    x, height = point(shown.lines_[0])
    assert (x > 0.0, height) == (True, 0.0)


def test_ten_models_look_different(ten):
    y, models = ten
    shown = DecompositionDisplay.from_predictions(y, models)
    assert len({(line.get_color(), line.get_marker()) for line in shown.lines_}) == 10
    assert [text.get_text() for text in shown.figure_.legends[0].get_texts()] == list(models)


def test_terms_of_unlike_rows_or_scales_are_refused():
    terms = Decomposition(0.2, 0.1, 0.1, 0.2, "loss")
    with pytest.raises(ValueError, match="share one scale"):
        DecompositionDisplay({"a": terms, "b": Decomposition(0.1, 0.05, 0.05, 0.1, "regret")})
    with pytest.raises(ValueError, match="same rows"):
        DecompositionDisplay({"a": terms, "b": Decomposition(0.3, 0.1, 0.1, 0.3, "loss")})
    with pytest.raises(ValueError, match="at least one"):
        DecompositionDisplay({})


def test_axes_of_the_caller_are_used(rows, plt):
    y, models = rows
    _, ax = plt.subplots()
    shown = DecompositionDisplay.from_predictions(y, models, costs=(0.1, 0.4), ax=ax)
    assert (shown.ax_, shown.figure_) == (ax, ax.figure)
    assert plt.get_fignums() == [1]


@pytest.mark.parametrize("turned", [False, True])
def test_second_display_in_the_same_axes_shows_every_point_of_both(rows, turned, plt):
    y, models = rows
    measure = costs.LogOddsUniform(0.0, 1.0)
    scores = {**models, "hasty": np.where(models["sharp"] > 0.3, 1.0, 0.3), "poor": 0.5 * models["sharp"] ** 3 + 1e-9}
    together = DecompositionDisplay.from_predictions(y, scores, costs=measure)
    _, ax = plt.subplots()
    ax.figure.set_layout_engine("constrained")
    order = sorted(scores, reverse=turned)
    drawn = [
        DecompositionDisplay.from_predictions(y, {name: scores[name] for name in names}, costs=measure, ax=ax)
        for names in (order[:2], order[2:])
    ]
    assert [*ax.get_xlim(), *ax.get_ylim()] == pytest.approx([*together.ax_.get_xlim(), *together.ax_.get_ylim()])
    found = {line.get_label(): point(line) for shown in drawn for line in shown.lines_}
    for line in together.lines_:
        assert found[line.get_label()] == pytest.approx(point(line))
    assert len({line.get_color() for shown in drawn for line in shown.lines_}) == len(scores)
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("no skill") == texts.count("infinite") == 1
    assert sum(text.startswith("score ") for text in texts) <= 1


def test_other_rows_or_another_scale_are_refused_beside_an_earlier_display(rows):
    y, models = rows
    ax = DecompositionDisplay.from_predictions(y, models["sharp"], costs=(0.1, 0.4)).ax_
    for rows_of, scale in ((1 - y, "regret"), (y, "loss")):
        with pytest.raises(ValueError, match="ax shows decompositions of other rows or on another scale"):
            DecompositionDisplay.from_predictions(rows_of, models["sharp"], costs=(0.1, 0.4), scale=scale, ax=ax)
    assert len(_axes.drawn(ax, _axes.MODEL)) == 1
