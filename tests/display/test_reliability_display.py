"""Reliability diagram: the isotonic curve, the diagonal, and where the scores lie."""

from __future__ import annotations

import numpy as np
import pytest

from stakes import ScoreTable, reliability_curve
from stakes.curves import smooth_calibration_curve
from stakes.display import ReliabilityDisplay


@pytest.mark.parametrize("bounds", [None, (0.1, 0.3)])
def test_line_passes_through_every_block(rows, bounds):
    y, models = rows
    shown = ReliabilityDisplay.from_predictions(y, models, bounds=bounds)
    for line, scores in zip(shown.lines_, models.values(), strict=True):
        curve = reliability_curve(y, scores)
        points = {tuple(point) for point in line.get_xydata()}
        for low, high, rate in zip(curve.block_low, curve.block_high, curve.block_rate, strict=True):
            assert {(low, rate), (high, rate)} <= points
        assert np.asarray(line.get_xdata())[[0, -1]].tolist() == [scores.min(), scores.max()]


def test_diagonal_is_perfect_calibration_and_says_so(rows):
    y, models = rows
    shown = ReliabilityDisplay.from_predictions(y, models)
    assert np.array_equal(*shown.diagonal_.get_data())
    assert [text.get_text() for text in shown.ax_.texts] == ["calibrated"]


def test_model_of_one_score_is_a_point():
    shown = ReliabilityDisplay.from_predictions(
        [0, 0, 1, 0], {"constant": np.full(4, 0.3), "other": [0.1, 0.2, 0.6, 0.4]}
    )
    constant, other = shown.lines_
    assert set(map(tuple, constant.get_xydata())) == {(0.3, 0.25)}
    assert (constant.get_marker(), other.get_marker()) == ("o", "None")


def test_histogram_of_one_model_counts_the_weight_of_its_scores(rows):
    y, models = rows
    weight = np.where(y == 1, 3.0, 1.0)
    shown = ReliabilityDisplay.from_predictions(y, models["sharp"], sample_weight=weight)
    (steps,) = shown.scores_ax_.patches
    assert steps.get_data().values.sum() == pytest.approx(weight.sum())
    assert steps.get_data().edges[np.argmax(steps.get_data().values)] == pytest.approx(0.0, abs=0.05)


def test_each_of_several_models_has_a_row_that_is_dark_where_its_scores_are(ten):
    y, models = ten
    models["constant"] = np.full(len(y), 0.5)
    shown = ReliabilityDisplay.from_predictions(y, models)
    rows = shown.scores_ax_.collections
    assert len(rows) == len(models)
    filled = rows[-1].get_array().compressed()
    assert filled.tolist() == [1.0]
    assert [row.get_array().count() > 10 for row in rows[:-1]] == [True] * 10


def test_rows_of_scores_lie_above_the_diagram_within_the_figure(ten):
    y, models = ten
    shown = ReliabilityDisplay.from_predictions(y, models, bounds=(0.1, 0.3))
    shown.figure_.canvas.draw()
    strip, axes = shown.scores_ax_.get_window_extent(), shown.ax_.get_window_extent()
    assert strip.y0 >= axes.y1
    assert strip.y1 <= shown.figure_.bbox.y1
    assert (strip.x0, strip.x1) == pytest.approx((axes.x0, axes.x1))
    alone = ReliabilityDisplay(shown.curves).plot(bounds=(0.1, 0.3)).figure_
    assert shown.figure_.get_figheight() - alone.get_figheight() == pytest.approx(strip.height / shown.figure_.dpi)
    shown.ax_.set_xlim(0.2, 0.4)
    assert shown.scores_ax_.get_xlim() == (0.2, 0.4)


def test_curve_alone_has_no_row_of_scores(rows):
    y, models = rows
    shown = reliability_curve(y, models["sharp"]).plot(bounds=(0.1, 0.3))
    assert shown.scores_ax_ is None
    assert shown.ax_.get_xlim() == pytest.approx((0.0, 0.4))


def test_bounds_are_shaded(rows):
    y, models = rows
    shown = ReliabilityDisplay.from_predictions(y, models, bounds=(0.1, 0.3))
    extent = shown.bounds_.get_extents().transformed(shown.ax_.transData.inverted())
    assert (extent.x0, extent.x1) == pytest.approx((0.1, 0.3))


def test_low_scores_fill_the_diagram():
    y, scores = np.array([0, 0, 1, 0, 0]), np.array([0.01, 0.02, 0.02, 0.03, 0.04])
    shown = ReliabilityDisplay.from_predictions(y, scores)
    assert shown.ax_.get_xlim() == pytest.approx((0.0, 0.042))
    assert shown.ax_.get_ylim()[1] < 0.12


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only_is_drawn(label):
    shown = ReliabilityDisplay.from_predictions(np.full(4, label), [0.1, 0.3, 0.3, 0.8])
    shown.figure_.canvas.draw()
    bottom, top = shown.ax_.get_ylim()
    assert set(np.asarray(shown.lines_[0].get_ydata())) == {float(label)}
    assert bottom < label < top


def test_second_display_in_the_same_axes_keeps_one_diagonal(rows, plt):
    y, models = rows
    _, ax = plt.subplots()
    reliability_curve(y, models["sharp"], name="a").plot(ax)
    second = reliability_curve(y, models["coarse"], name="b").plot(ax)
    assert second.diagonal_ in ax.lines
    assert len(ax.lines) == 3
    assert len(ax.texts) == 1


def test_tables_must_match_the_curves(rows):
    y, models = rows
    table = ScoreTable.from_predictions(y, models["sharp"])
    curve = reliability_curve(table)
    with pytest.raises(ValueError, match="tables must be as many as curves, got 2 for 1"):
        ReliabilityDisplay(curve, [table, table])
    assert ReliabilityDisplay.from_predictions(table).lines_[0].get_label() == "model"


@pytest.mark.parametrize("shape", ["smooth", "both"])
def test_smooth_curve_is_drawn_with_its_band_on_request(shape):
    rng = np.random.default_rng(1)
    q = rng.beta(1, 3, 500)
    y = rng.random(500) < q
    display = ReliabilityDisplay.from_predictions(y, {"a": q, "b": q**1.5}, shape=shape)
    curve = smooth_calibration_curve(y, q, axis="log-odds")
    heights = [np.interp(0.3, *line.get_data()) for line in display.ax_.get_lines() if line is not display.diagonal_]
    assert min(abs(height - curve.at(0.3)) for height in heights) < 1e-3
    steps = abs(np.interp(0.3, *display.lines_[0].get_data()) - reliability_curve(y, q).at(0.3))
    assert (steps < 1e-6) == (shape == "both")
    assert len(display.ax_.collections) == 2
    labels = [text.get_text() for legend in display.figure_.legends for text in legend.get_texts()]
    assert labels.count("95% interval at each score") == 1


def test_smooth_shape_needs_the_tables():
    display = ReliabilityDisplay(reliability_curve([0, 1], [0.3, 0.6]))
    with pytest.raises(ValueError, match='shape="smooth" needs tables'):
        display.plot(shape="smooth")
    with pytest.raises(ValueError, match="shape must be"):
        display.plot(shape="round")
