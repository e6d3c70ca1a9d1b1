"""Averaging then correcting is not correcting then averaging: which is right when, in exact small populations.

The population is a list of equally likely cases with known probabilities, so every statement is a finite sum.
"""

import numpy as np
import pytest
from scipy.special import expit, logit

from stakes.correction import apply_class_weight, undo_class_weight

SHARE = 0.9
TRUTH = np.array([0.02, 0.05, 0.1, 0.3, 0.6])  # P(y = 1) of five equally likely cases
PREVALENCE = TRUTH.mean()


def weigh(p):
    return apply_class_weight(p, positive_share=SHARE)


def undo(a):
    return undo_class_weight(a, positive_share=SHARE)


def test_the_two_orders_differ_and_in_which_direction():
    members = np.array([weigh(TRUTH), weigh(np.full(5, PREVALENCE))])
    first_average = undo(members.mean(axis=0))
    first_correct = np.array([undo(a) for a in members]).mean(axis=0)
    # the inverse map is convex where positives weigh more, so Jensen's inequality orders them
    assert np.all(first_correct > first_average)
    lighter = np.array([apply_class_weight(a, positive_share=0.1) for a in (TRUTH, np.full(5, PREVALENCE))])
    average, correct = (
        undo_class_weight(lighter.mean(axis=0), positive_share=0.1),
        np.array([undo_class_weight(a, positive_share=0.1) for a in lighter]).mean(axis=0),
    )
    assert np.all(correct < average)


def test_members_that_are_each_loss_calibrated_must_be_corrected_first():
    # one member knows each case, one knows nothing: both are loss-calibrated
    members = [weigh(TRUTH), weigh(np.full(5, PREVALENCE))]
    first_correct = np.mean([undo(a) for a in members], axis=0)
    first_average = undo(np.mean(members, axis=0))
    assert first_correct.mean() == pytest.approx(PREVALENCE, abs=1e-15)
    assert first_average.mean() < 0.9 * PREVALENCE
    # right in the mean is not calibrated: an average of calibrated forecasts lacks sharpness (Ranjan, Gneiting 2010)
    slope = np.polyfit(logit(first_correct), logit(TRUTH), 1)[0]
    assert slope > 1.2


def test_members_that_err_around_the_right_score_must_be_averaged_first():
    # the average is loss-calibrated, no member is: as bagged members are, and the networks of the paper
    rng = np.random.default_rng(0)
    right = weigh(TRUTH)
    noise = rng.uniform(-1, 1, (5000, 5)) * 0.9 * np.minimum(right, 1 - right)
    noise -= noise.mean(axis=0)
    members = right + noise
    assert undo(members.mean(axis=0)) == pytest.approx(TRUTH, abs=1e-12)
    first_correct = np.mean([undo(a) for a in members], axis=0)
    assert np.all(first_correct > 1.02 * TRUTH)


def test_averages_of_log_odds_are_the_same_in_either_order():
    rng = np.random.default_rng(1)
    members = logit(weigh(TRUTH)) + rng.normal(size=(7, 5))
    first_average = undo_class_weight(members.mean(axis=0), positive_share=SHARE, logits=True)
    first_correct = np.mean([undo_class_weight(a, positive_share=SHARE, logits=True) for a in members], axis=0)
    assert first_average == pytest.approx(first_correct, abs=1e-12)
    assert expit(first_average) == pytest.approx(undo(expit(members.mean(axis=0))), abs=1e-12)


def test_test_tells_which_order_to_take():
    from stakes.correction import loss_calibration_test

    rng = np.random.default_rng(2)
    p = rng.beta(1, 4, 20_000)
    y = rng.random(20_000) < p
    right = weigh(p)
    members = [np.clip(right + s * np.minimum(right, 1 - right), 0, 1) for s in (-0.9, 0.9)]  # they err in pairs
    averaged = np.mean(members, axis=0)
    assert loss_calibration_test(y, averaged, positive_share=SHARE, n_resamples=0).loss_calibrated
    corrected = np.mean([undo(a) for a in members], axis=0)
    assert not loss_calibration_test(y, corrected, n_resamples=0).loss_calibrated
