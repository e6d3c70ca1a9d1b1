"""What scores promise where rows were sampled by their outcome: the error of the difference, and what is said."""

import math

import numpy as np
import pytest
from scipy.special import expit

from stakes import evaluate
from stakes.evaluation._calibration import promise_of
from stakes.variance.influence import relabelled


@pytest.mark.parametrize("how", ["sample_weight", "prevalence"])
def test_the_error_of_a_promise_is_that_of_further_samples_where_weights_go_with_the_outcome(how):
    """A tenth of the negatives is kept: 2,000 samples of 3,000 rows, with scores that are right."""
    rng = np.random.default_rng(0)
    risk = expit(rng.normal(-3.4, 1.0, 3000))
    y = rng.random((2000, 3000)) < risk
    kept = y | (rng.random(y.shape) < 0.1)
    s = np.clip(risk, 0.03, 0.2)
    false_alarm, miss = (s**2 - 0.03**2) / 0.34, ((0.2 - 0.02) - (s - s**2 / 2.0)) / 0.17
    beyond = np.where(y, (1.0 - risk) * (miss - false_alarm), -risk * (miss - false_alarm))
    if how == "sample_weight":
        weight = kept * np.where(y, 1.0, 10.0)
        wanted = (np.sum(weight * beyond, axis=1) / weight.sum(axis=1)).std()
    else:
        means = [np.sum(beyond * mine, axis=1) / mine.sum(axis=1) for mine in (y, kept & ~y)]
        wanted = (risk.mean() * means[0] + (1.0 - risk.mean()) * means[1]).std()
    errors = []
    for labels, mine in zip(y[:20], kept, strict=False):
        options = {how: np.where(labels, 1.0, 10.0)[mine] if how == "sample_weight" else risk.mean()}
        found = promise_of(evaluate(labels[mine], risk[mine], costs=(0.03, 0.2), **options), "model")
        errors.append(found.standard_error)
    assert np.mean(errors) == pytest.approx(wanted, rel=0.1)


def test_a_broken_promise_is_said_of_rows_weighed_by_their_outcome():
    """Odds 1.5 times too high: for 300 bootstrap samples of these rows the mean varies by 1.5 per 1,000."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=8000)
    risk = expit(x - 3.4)
    y = rng.random(8000) < risk
    kept = y | (rng.random(8000) < 0.1)
    scores, weight = expit(x - 3.4 + math.log(1.5))[kept], np.where(y, 1.0, 10.0)[kept]
    ones = np.zeros(kept.sum(), int)
    result = evaluate(y[kept], scores, costs=(0.03, 0.2), sample_weight=weight, groups=ones)
    low, high = (1000.0 * end for end in result.groups[0].more_than_promised_interval)
    assert (high - low) / 2.0 == pytest.approx(1.96 * 1.5, rel=0.3)
    assert "group-not-as-promised" in result.findings.codes
    assert "promise" in result.answer.calibration


def test_a_row_with_the_other_label_would_weigh_what_rows_of_that_class_weigh():
    count, weight = np.array([100.0, 10.0]), np.array([50.0, 50.0])  # .5 each, and 5 each
    assert relabelled(count, weight, weight**2 / count) == pytest.approx([10.0, 0.1])
    assert relabelled(count, weight, 1.5 * weight**2 / count).tolist() == [1.0, 1.0]  # weights vary within a class
