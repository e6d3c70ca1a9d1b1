"""Calibration in bins is drawn where its numbers are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from stakes.curves import binned_reliability
from stakes.display import BinnedReliabilityDisplay


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


def test_estimators_are_drawn(rows):
    y, models = rows
    X = np.column_stack(list(models.values()))
    shown = BinnedReliabilityDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, n_bins=3)
    assert shown.points_[0].get_label() == "LogisticRegression"


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="bins must hold at least one BinnedReliability"):
        BinnedReliabilityDisplay([])
