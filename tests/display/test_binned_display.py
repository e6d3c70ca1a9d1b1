"""Calibration in bins is drawn where its numbers are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from stakes.curves import binned_reliability
from stakes.display import BinnedReliabilityDisplay, LossCalibrationDisplay


def test_points_are_scikit_learns_bins(rows):
    y, models = rows
    shown = BinnedReliabilityDisplay.from_predictions(y, models["sharp"], n_bins=5, binning="uniform")
    rates, scores = calibration_curve(y, models["sharp"], n_bins=5)
    x, height = shown.points_[0].lines[0].get_data()
    assert np.asarray(x) == pytest.approx(scores, abs=1e-12)
    assert np.asarray(height) == pytest.approx(rates, abs=1e-12)


def test_intervals_are_those_of_the_bins(rows):
    y, models = rows
    bins = binned_reliability(y, models["sharp"], n_bins=4)
    shown = bins.plot()
    (bars,) = shown.points_[0].lines[2]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert ends == pytest.approx(np.column_stack([bins.ci_low, bins.ci_high]), abs=1e-12)
    low, high = shown.ax_.get_ylim()
    assert low <= bins.ci_low.min()
    assert bins.ci_high.max() <= high


def test_several_models_have_colours_and_names(rows):
    y, models = rows
    shown = BinnedReliabilityDisplay.from_predictions(y, models)
    assert [points.get_label() for points in shown.points_] == list(models)
    assert len({points.lines[0].get_color() for points in shown.points_}) == len(models)


@pytest.mark.parametrize("turned", [False, True])
def test_second_display_in_the_same_axes_shows_every_point_of_both(turned, plt):
    scores = np.linspace(0.01, 0.99, 600)
    models = {"wide": (np.arange(600) % 7 < 7 * scores, scores), "low": (np.arange(600) % 50 == 0, 0.1 * scores)}
    _, ax = plt.subplots()
    drawn = [
        BinnedReliabilityDisplay.from_predictions(models[name][0], {name: models[name][1]}, n_bins=4, ax=ax)
        for name in sorted(models, reverse=turned)
    ]
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    for shown in drawn:
        ((bins,), (points,)) = shown.bins, shown.points_
        x, height = points.lines[0].get_data()
        assert np.array_equal([x, height], [bins.mean_score, bins.event_rate])
        assert left < x.min() < x.max() < right
        assert bottom < bins.ci_low.min() + 1e-9 < bins.ci_high.max() < top
    assert len({shown.points_[0].lines[0].get_color() for shown in drawn}) == 2
    assert [text.get_text() for text in ax.texts] == ["calibrated"]


def test_estimators_are_drawn(rows):
    y, models = rows
    X = np.column_stack(list(models.values()))
    shown = BinnedReliabilityDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, n_bins=3)
    assert shown.points_[0].get_label() == "LogisticRegression"


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="bins must hold at least one BinnedReliability"):
        BinnedReliabilityDisplay([])


@pytest.mark.parametrize(
    ("display", "options"),
    [(BinnedReliabilityDisplay, {"n_bins": 3}), (LossCalibrationDisplay, {"positive_share": 0.6})],
)
def test_a_name_is_of_one_model(display, options, rows):
    y, models = rows
    shown = display.from_predictions(y, models["sharp"], name="risk", **options)
    assert "risk" in shown.ax_.get_legend_handles_labels()[1]
    with pytest.raises(ValueError, match=f"name= is for one model, got 'risk' for {len(models)}: pass y_prob as a"):
        display.from_predictions(y, models, name="risk", **options)
