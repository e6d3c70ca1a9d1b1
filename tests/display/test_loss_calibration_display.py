"""Loss-calibration diagram: event rates, theoretical curves, scales, several models."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from stakes.correction import apply_class_weight, loss_calibration_curve, undo_class_weight
from stakes.display import LossCalibrationDisplay, plot_curve


@pytest.fixture(scope="module")
def curves():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 6, 3000)
    y = rng.random(3000) < p
    return {
        f"share {share}": loss_calibration_curve(y, apply_class_weight(p, positive_share=share), positive_share=share)
        for share in (0.5, 0.9, 0.99)
    }


@pytest.mark.parametrize("scale", ["logit", "log", "linear"])
@pytest.mark.parametrize("corrected", [False, True])
def test_points_are_the_bins_within_the_picture(curves, scale, corrected):
    shown = LossCalibrationDisplay(curves).plot(scale=scale, corrected=corrected)
    assert shown.ax_.get_xscale() == shown.ax_.get_yscale() == scale
    shown.figure_.canvas.draw()
    for points, curve in zip(shown.points_, curves.values(), strict=True):
        bins = curve.bins_after if corrected else curve.bins_before
        finite = (bins.event_rate > 0) | (scale == "linear")
        assert points.lines[0].get_xdata() == pytest.approx(bins.mean_score[finite])
        assert points.lines[0].get_ydata() == pytest.approx(bins.event_rate[finite])
        for values, limits in ((bins.mean_score, shown.ax_.get_xlim()), (bins.event_rate, shown.ax_.get_ylim())):
            assert np.all((values[finite] >= limits[0]) & (values[finite] <= limits[1]))


def test_lines_are_the_inverse_map_of_each_weight(curves):
    shown = LossCalibrationDisplay(curves).plot()
    for line, share in zip(shown.lines_, (0.5, 0.9, 0.99), strict=True):
        x, y = line.get_data()
        assert y == pytest.approx(undo_class_weight(x, positive_share=share), abs=1e-12)
    assert LossCalibrationDisplay(curves).plot(corrected=True).lines_ == []


def test_diagonal_is_drawn_once_and_named(curves):
    shown = LossCalibrationDisplay(curves).plot()
    again = LossCalibrationDisplay(curves).plot(shown.ax_)
    assert len([line for line in again.ax_.lines if str(line.get_gid()).startswith("reference")]) == 1
    assert "calibrated" in [text.get_text() for text in again.ax_.texts]
    assert np.array_equal(*again.diagonal_.get_data())


def test_rates_of_0_lie_hollow_on_the_edge_of_a_logarithmic_axis():
    y = np.array([0] * 50 + [1, 0] * 25)
    scores = np.concatenate([np.linspace(0.01, 0.1, 50), np.linspace(0.4, 0.9, 50)])
    shown = LossCalibrationDisplay.from_predictions(y, scores, positive_share=0.9, n_bins=4, scale="log")
    low = shown.ax_.get_ylim()[0]
    hollow = [line for line in shown.ax_.lines if line.get_markerfacecolor() == "none"]
    assert [value for line in hollow for value in line.get_ydata()] == pytest.approx([low, low])
    assert not any(line.get_clip_on() for line in hollow)  # all of each is seen
    linear = LossCalibrationDisplay.from_predictions(y, scores, positive_share=0.9, n_bins=4, scale="linear")
    assert not [line for line in linear.ax_.lines if line.get_markerfacecolor() == "none"]


@pytest.mark.parametrize("scale", ["logit", "log", "linear"])
@pytest.mark.parametrize("turned", [False, True])
def test_second_display_in_the_same_axes_shows_every_point_of_both(turned, scale, plt):
    scores = np.linspace(0.02, 0.9, 600)
    models = {"wide": (np.arange(600) % 7 < 7 * scores, scores), "low": (np.arange(600) % 55 == 54, 0.1 * scores)}
    _, ax = plt.subplots()
    drawn = [
        LossCalibrationDisplay.from_predictions(
            models[name][0], {name: models[name][1]}, positive_share=0.7, n_bins=12, scale=scale, ax=ax
        )
        for name in sorted(models, reverse=turned)
    ]
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    for shown in drawn:
        ((curve,), (points,)) = shown.curves.values(), shown.points_
        bins = curve.bins_before
        seen = (bins.event_rate > 0.0) & (bins.event_rate < 1.0) | (scale == "linear")
        x, height = points.lines[0].get_data()
        assert np.array_equal([x, height], [bins.mean_score[seen], bins.event_rate[seen]])
        assert left < x.min() < x.max() < right
        assert bottom < height.min() <= height.max() < top
        whiskers = np.array(points.lines[2][0].get_segments())[:, :, 1]
        expected = np.clip([bins.ci_low, bins.ci_high], bottom, top)[:, seen].T
        np.testing.assert_allclose(whiskers, expected, rtol=1e-12)
        assert points.lines[0].get_color() == shown.lines_[0].get_color()
    assert len({shown.points_[0].lines[0].get_color() for shown in drawn}) == 2
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert bool(hollow) == (scale != "linear")
    assert {value for line in hollow for value in line.get_ydata()} <= {bottom, top}


def test_estimator_and_curve_reach_the_same_picture():
    X = np.random.default_rng(1).normal(size=(400, 2))
    y = np.where(X[:, 0] > 0.8, "yes", "no")
    y[::7] = "no"
    model = LogisticRegression(class_weight={"no": 1, "yes": 5}).fit(X, y)
    stated = {"class_weight": {"no": 1, "yes": 5}, "pos_label": "yes"}
    one = LossCalibrationDisplay.from_estimator(model, X, y, **stated)
    two = plot_curve(loss_calibration_curve(y, model.predict_proba(X)[:, 1], **stated))
    assert isinstance(two, LossCalibrationDisplay)
    assert np.array_equal(one.points_[0].lines[0].get_ydata(), two.points_[0].lines[0].get_ydata())


def test_legend_names_the_models(curves):
    shown = LossCalibrationDisplay(curves).plot()
    (legend,) = shown.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == list(curves)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: LossCalibrationDisplay([]), "at least one curve"),
        (lambda _: LossCalibrationDisplay(["curve"]), "curves must be loss-calibration curves"),
        (lambda _: LossCalibrationDisplay({"a": 1}), "curves must be loss-calibration curves"),
        (lambda c: LossCalibrationDisplay(list(c.values())), "distinct names"),
        (lambda c: LossCalibrationDisplay(c).plot(scale="probit"), "scale must be one of"),
    ],
)
def test_bad_input_is_refused(call, message, curves):
    with pytest.raises(ValueError, match=message):
        call(curves)
