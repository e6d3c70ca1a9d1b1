"""Parts of AUC and the regret behind it, against pairwise definitions and scikit-learn."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as sk
from strategies import intervals, samples

from stakes import ScoreTable
from stakes.metrics import METRICS, auc_regret, bounded_auc_score, partial_auc_score, roc_auc_score


def agrees(ours, reference):
    return math.isnan(ours) if reference is None else abs(ours - reference) <= 1e-12


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_bounded_auc_and_its_regrets_are_those_of_the_oracle(eval_reference):
    checked = 0
    for name, data in eval_reference["binary"].items():
        table = ScoreTable.from_predictions(data["y"], data["s"], sample_weight=data["w"])
        for interval in data["intervals"]:
            bounds, where = (interval["a"], interval["b"]), (name, interval["a"], interval["b"])
            assert agrees(bounded_auc_score(table, bounds=bounds), interval["baa"]), where
            assert agrees(auc_regret(table, bounds=bounds), interval["score_regrets"]["at_rate"]), where
            ours = auc_regret(table, bounds=bounds, cost="score")
            assert agrees(ours, interval["score_regrets"]["at_score"]), where
            checked += 1
    assert checked == 60


@given(
    samples().filter(
        lambda s: len({y for y, w in zip(s.y, s.weight or s.y, strict=True) if s.weight is None or w}) == 2
    )
)
def test_auc_is_one_minus_scaled_regret_at_the_local_event_rate(sample):
    table = ScoreTable.from_predictions(sample.y, sample.score, sample_weight=sample.weight)
    both = table.prevalence * table.total_negatives / table.total  # pi (1 - pi), without the cancellation of 1 - pi
    assert roc_auc_score(table) == pytest.approx(1 - auc_regret(table) / (2 * both), abs=1e-12)
    assert bounded_auc_score(table) == pytest.approx(roc_auc_score(table), abs=1e-12)


def test_reading_the_score_as_the_cost_needs_calibration():
    # printed (Hand's theorem): 1 - regret at c = s over 2 pi (1 - pi) is AUC; true only for a calibrated score
    y = np.array([0, 0, 1, 0, 1, 1, 0, 1])
    calibrated = np.repeat([0.25, 0.5, 0.75], [4, 2, 2])[: len(y)]
    y_cal = np.array([0, 1, 0, 0, 0, 1, 1, 1, 1, 0])
    s_cal = np.array([0.25] * 4 + [0.5] * 2 + [0.75] * 4)
    rate = y_cal.mean()
    assert 1 - auc_regret(y_cal, s_cal, cost="score") / (2 * rate * (1 - rate)) == pytest.approx(
        sk.roc_auc_score(y_cal, s_cal)
    )
    squared = calibrated**2
    assert auc_regret(y, squared, cost="score") != pytest.approx(auc_regret(y, squared), abs=1e-3)


@given(samples(), intervals())
def test_partial_area_agrees_with_integrating_the_polygon(sample, bounds):
    table = ScoreTable.from_predictions(sample.y, sample.score, sample_weight=sample.weight)
    if not (table.total_positives and table.total_negatives):
        return
    fpr, tpr, _ = sk.roc_curve(
        sample.y, np.asarray(sample.score) + 0.0, sample_weight=sample.weight, drop_intermediate=False
    )
    # the vertical parts of the polygon have no area: keep the last point at each false positive rate
    raw = partial_auc_score(table, fpr_bounds=bounds, scale="raw")
    grid = np.unique(np.concatenate([fpr[(fpr > bounds[0]) & (fpr < bounds[1])], bounds]))

    def value(x, upper):
        at = np.searchsorted(fpr, x, side="right" if upper else "left")
        if at < len(fpr) and fpr[min(at, len(fpr) - 1)] == x and not upper:
            return tpr[at]
        at = min(max(at, 1), len(fpr) - 1)
        if fpr[at - 1] == x:
            return tpr[at - 1]
        return tpr[at - 1] + (tpr[at] - tpr[at - 1]) * (x - fpr[at - 1]) / (fpr[at] - fpr[at - 1])

    expected = sum((b - a) * (value(a, upper=True) + value(b, upper=False)) / 2 for a, b in itertools.pairwise(grid))
    assert raw == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("max_fpr", [0.05, 0.2, 0.73, 1.0])
def test_mcclish_standardised_area_is_scikit_learns(max_fpr):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 300)
    s = np.round(y + rng.normal(size=300), 1)
    expected = sk.roc_auc_score(y, s, max_fpr=max_fpr)
    assert partial_auc_score(y, s, fpr_bounds=(0, max_fpr)) == pytest.approx(expected, rel=1e-12)


def test_raw_partial_areas_add_up_to_auc():
    rng = np.random.default_rng(5)
    y, s = rng.integers(0, 2, 100), rng.integers(0, 9, 100)
    cuts = [0, 0.11, 0.5, 0.93, 1]
    parts = [partial_auc_score(y, s, fpr_bounds=pair, scale="raw") for pair in itertools.pairwise(cuts)]
    assert sum(parts) == pytest.approx(sk.roc_auc_score(y, s), rel=1e-12)


@given(st.sampled_from([(0.5, 0.5), (0.9, 0.2), (-0.1, 0.5), (0.2, 1.1)]))
def test_bounds_out_of_order_are_refused(bounds):
    with pytest.raises(ValueError, match="0 <= low < high <= 1"):
        bounded_auc_score([0, 1], [0.2, 0.7], bounds=bounds)
    with pytest.raises(ValueError, match="fpr_bounds must satisfy"):
        partial_auc_score([0, 1], [0.2, 0.7], fpr_bounds=bounds)


def test_no_score_in_the_bounds_is_undefined():
    with pytest.warns(Warning, match="no score lies in"), warnings.catch_warnings():
        assert math.isnan(bounded_auc_score([0, 1], [0.2, 0.7], bounds=(0.3, 0.4)))


def test_the_regret_of_auc_within_bounds_may_be_nearly_one():
    # the one event has the lowest score: its event rate, 1, is the cost of acting on four of five in vain
    found = auc_regret([1, 0, 0, 0, 0], [0.1, 0.9, 0.9, 0.9, 0.9], bounds=(0, 0.2))
    assert found == pytest.approx(4 / 5, rel=1e-12)
    # at its score of one, a negative is acted on in vain at the whole cost
    assert auc_regret([0, 0, 0, 1], [1.0, 1.0, 1.0, 1.0], cost="score") == pytest.approx(3 / 4, rel=1e-12)
    assert METRICS["auc_regret"].high >= found
