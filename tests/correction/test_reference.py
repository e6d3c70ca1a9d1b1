"""Corrections and tests against the 34-digit oracle, which minimises weighted losses and knows no formula of ours."""

import numpy as np
import pytest

from stakes import ScoreTable
from stakes.correction import (
    apply_class_weight,
    apply_loss_matrix,
    estimate_prior,
    loss_calibration_test,
    undo_class_weight,
    undo_loss_matrix,
)
from stakes.correction._loss_calibration import free_fit, recalibration_test, spiegelhalter

TOLERANCE = 1e-12
RATIO_OF_TEN_ROWS = 0.11735636210028317
Z_OF_TEN_ROWS = -0.2537075117918967


def test_binary_scores_and_posteriors(eval_reference):
    rows = eval_reference["loss_calibration"]["binary"]
    assert len(rows) == 27
    for row in rows:
        share = row["beta"]
        assert abs(apply_class_weight([row["gamma"]], positive_share=share)[0] - row["score"]) <= TOLERANCE
        posterior = undo_class_weight([0.7], positive_share=share)[0]
        assert abs(posterior - row["posterior_of_score_0.7"]) <= TOLERANCE


def test_loss_matrices(eval_reference):
    rows = eval_reference["loss_calibration"]["multi"]
    assert {row["kind"] for row in rows} == {"general", "row_constant", "pos_weight"}
    for row in rows:
        scores = apply_loss_matrix([row["gamma"]], row["beta"])
        assert np.abs(scores - row["score_log"]).max() <= TOLERANCE
        assert np.abs(scores - row["score_brier"]).max() <= TOLERANCE
        found, misfit = undo_loss_matrix([row["score_log"]], row["beta"], return_misfit=True)
        assert np.abs(found - row["posterior"]).max() <= TOLERANCE
        assert misfit[0] <= TOLERANCE


def test_weighted_softmax(eval_reference):
    row = eval_reference["loss_calibration"]["softmax_weighted"]
    assert np.abs(apply_class_weight([row["gamma"]], class_weight=row["w"]) - row["score"]).max() <= TOLERANCE
    assert np.abs(undo_class_weight([row["score"]], class_weight=row["w"]) - row["gamma"]).max() <= TOLERANCE


def test_statistics(eval_reference):
    stated = eval_reference["loss_calibration"]["tests"]
    table = ScoreTable.from_predictions(stated["y"], stated["s"])
    fit = free_fit(table)
    assert abs(fit.intercept - stated["recalibration"]["a0"]) <= TOLERANCE
    assert abs(fit.slope - stated["recalibration"]["a1"]) <= TOLERANCE
    assert abs(recalibration_test(table).statistic - stated["recalibration"]["lr"]) <= TOLERANCE
    assert abs(spiegelhalter(table)[0] - stated["spiegelhalter_z"]) <= TOLERANCE
    found = loss_calibration_test(stated["y"], stated["s"], n_resamples=0)
    assert abs(found.likelihood_ratio - stated["recalibration"]["lr"]) <= TOLERANCE


def test_prior_shift(eval_reference):
    for row in eval_reference["loss_calibration"]["prior_shift"]:
        found = estimate_prior(row["posterior"], training_prior=row["train_prior"], n_resamples=0)
        assert abs(found.prior - row["target_prior"]) <= TOLERANCE
        assert found.at_boundary == (row["target_prior"] == 1.0)


# From the same oracle (reference values of errata section 4, "loss_calibration"), so that this bites everywhere.
@pytest.mark.parametrize(
    ("gamma", "share", "score"),
    [(0.02, 0.1, 0.0022624434389140274), (0.5, 0.99, 0.99), (0.9, 0.1, 0.5)],
)
def test_sample_of_binary_values(gamma, share, score):
    assert abs(apply_class_weight([gamma], positive_share=share)[0] - score) <= TOLERANCE
    assert abs(undo_class_weight([score], positive_share=share)[0] - gamma) <= TOLERANCE


def test_sample_of_matrix_values():
    beta = [[2.0, 0.5, 1.0], [1.5, 3.0, 0.25], [1.0, 1.0, 4.0]]
    scores = [0.6857142857142857, 0.6923076923076923, 0.37209302325581395]
    assert np.abs(apply_loss_matrix([[0.6, 0.3, 0.1]], beta)[0] - scores).max() <= TOLERANCE
    assert np.abs(undo_loss_matrix([scores], beta)[0] - [0.6, 0.3, 0.1]).max() <= TOLERANCE


def test_sample_of_statistics():
    y = [0, 0, 1, 0, 1, 1, 1, 1, 0, 0]
    s = [0.264, 0.383, 0.613, 0.062, 0.283, 0.946, 0.803, 0.625, 0.621, 0.521]
    table = ScoreTable.from_predictions(y, s)
    # by mpmath at 30 digits: the maximised likelihood by findroot on its gradient, and the sums of z
    assert abs(recalibration_test(table).statistic - RATIO_OF_TEN_ROWS) <= TOLERANCE
    assert abs(spiegelhalter(table)[0] - Z_OF_TEN_ROWS) <= TOLERANCE
