"""The calibration summary against scikit-learn's unpenalised regression, definitions by hand, and simulated truth."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression

from stakes import ScoreTable, calibration_summary

RNG = np.random.default_rng(7)
Q = RNG.beta(2, 6, 4000)
Y = (RNG.random(4000) < Q).astype(int)
DISTORTED = 1 / (1 + np.exp(-(0.7 + 1.6 * np.log(Q / (1 - Q)))))
W = RNG.integers(1, 4, 4000)


@pytest.mark.parametrize("weight", [None, W], ids=["plain", "weighted"])
def test_slope_and_intercept_are_those_of_an_unpenalised_logistic_regression(weight):
    x = np.log(DISTORTED / (1 - DISTORTED))
    model = LogisticRegression(C=1e14, tol=1e-12, solver="newton-cholesky").fit(x[:, None], Y, sample_weight=weight)
    summary = calibration_summary(Y, DISTORTED, sample_weight=weight)
    assert summary.slope == pytest.approx(model.coef_[0, 0], rel=1e-6)
    w = np.ones(len(Y)) if weight is None else weight
    intercept = brentq(lambda a: np.sum(w * (Y - 1 / (1 + np.exp(-(a + x))))), -5, 5, xtol=1e-13)
    assert summary.intercept == pytest.approx(intercept, abs=1e-9)
    assert summary.o_e_ratio == pytest.approx(np.average(Y, weights=w) / np.average(DISTORTED, weights=w))


def test_calibrated_scores_have_slope_1_intercept_0_and_small_errors():
    summary = calibration_summary(Y, Q)
    assert summary.slope == pytest.approx(1, abs=0.1)
    assert summary.intercept == pytest.approx(0, abs=0.1)
    assert summary.ici < 0.02
    assert summary.ece < 0.03


def test_index_of_distorted_scores_is_their_true_mean_distance():
    summary = calibration_summary(Y, DISTORTED)
    gaps = np.abs(DISTORTED - Q)
    assert summary.ici == pytest.approx(gaps.mean(), abs=0.01)
    assert summary.e50 == pytest.approx(np.median(gaps), abs=0.02)
    assert summary.e90 == pytest.approx(np.quantile(gaps, 0.9), abs=0.02)


def test_expected_calibration_error_by_hand():
    y, s = np.array([0, 0, 1, 1, 0, 1]), np.array([0.1, 0.3, 0.4, 0.8, 0.6, 0.9])
    by_width = calibration_summary(y, s, n_bins=2, binning="uniform")  # [0, 0.5), [0.5, 1]
    assert by_width.ece == pytest.approx((3 * abs(1 / 3 - 0.8 / 3) + 3 * abs(2 / 3 - 2.3 / 3)) / 6)
    by_weight = calibration_summary(y, s, n_bins=3)
    assert by_weight.ece == pytest.approx((abs(0 - 0.2) + abs(0.5 - 0.5) + abs(1 - 0.85)) / 3)
    assert by_weight.n_bins == 3


def test_weights_are_repetition():
    table = ScoreTable.from_predictions(Y, np.clip(np.round(DISTORTED, 2), 0.01, 0.99), sample_weight=W)
    weighted, repeated = (
        calibration_summary(table),
        calibration_summary(np.repeat(Y, W), np.repeat(np.clip(np.round(DISTORTED, 2), 0.01, 0.99), W)),
    )
    for name in ("o_e_ratio", "intercept", "slope", "ece", "ici", "e50", "e90"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-8), name


@pytest.mark.parametrize(
    ("y", "s", "status"),
    [
        ([0, 1, 0], [0.0, 0.5, 0.6], "exactly 0 or 1"),
        ([1, 1, 1], [0.2, 0.5, 0.6], "only one class"),
        ([0, 1], [0.4, 0.4], "all scores are equal"),
    ],
)
def test_undefined_recalibration_is_nan_with_a_warning(y, s, status):
    with pytest.warns(Warning, match=status):
        summary = calibration_summary(y, s)
    assert math.isnan(summary.slope)
    assert math.isfinite(summary.ece)


def test_separated_classes_have_an_infinite_slope():
    with pytest.warns(Warning, match="separate the classes"):
        assert calibration_summary([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9]).slope == math.inf


def test_number_of_bins_must_be_whole():
    with pytest.raises(ValueError, match=r"n_bins must be a whole number >= 1, got 0"):
        calibration_summary(Y, Q, n_bins=0)
