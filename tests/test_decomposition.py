"""S = MCB - DSC + UNC for every cost distribution, with both terms non-negative."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from strategies import samples

from stakes import RowCosts, costs, decompose, expected_regret
from stakes.metrics import h_measure_score

MEASURES = [
    costs.Uniform(0, 1),
    costs.Uniform(0.05, 0.2),
    costs.LogOddsUniform(0.02, 0.9),
    costs.NetBenefitUniform(0.1, 0.8),
    costs.Beta(2, 8),
    costs.Shifted(0.125),
    costs.Fixed(0.5, tie=0.5),
    costs.Empirical([0.1, 0.25, 0.5]),
    costs.Triangular(0.0, 0.1, 0.9),
    4 * costs.Uniform(0, 1) + costs.Fixed(0.5, tie=0.5),
]


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
@given(sample=samples())
def test_terms_are_non_negative_and_add_up(measure, sample):
    parts = decompose(sample.y, sample.score, sample_weight=sample.weight, costs=measure, scale="integral")
    assert parts.miscalibration >= 0.0
    assert parts.discrimination >= 0.0
    total = parts.miscalibration - parts.discrimination + parts.uncertainty
    assert parts.score == pytest.approx(total, abs=1e-12)
    direct = expected_regret(sample.y, sample.score, sample_weight=sample.weight, costs=measure, scale="integral")
    assert parts.score == pytest.approx(direct, abs=1e-13)


def test_infinite_log_score_is_all_miscalibration():
    parts = decompose([0, 1, 0, 1], [0.0, 0.0, 0.5, 0.9], costs=costs.LogOddsUniform(0, 1), scale="loss")
    assert parts.score == parts.miscalibration == math.inf
    assert math.isfinite(parts.discrimination)
    assert parts.uncertainty == pytest.approx(math.log(2))
    assert parts.skill == -math.inf


def test_scale_is_loss_where_the_mass_is_infinite_and_the_result_says_so():
    assert decompose([0, 1], [0.2, 0.6], costs=costs.LogOddsUniform(0, 1)).scale == "loss"
    assert decompose([0, 1], [0.2, 0.6], costs=costs.Uniform(0, 1)).scale == "regret"


def test_discrimination_is_the_mean_squared_distance_from_the_prevalence_but_miscalibration_is_not():
    # printed in arXiv:2504.04528 section 4.1: both are; true: only the discrimination (erratum E19)
    y, s = np.array([0, 1, 0, 0, 1, 1]), np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.8])
    recalibrated = np.array([0, 1 / 3, 1 / 3, 1 / 3, 1, 1])
    parts = decompose(y, s, costs=costs.Uniform(0, 1), scale="loss")
    assert parts.discrimination == pytest.approx(np.mean((recalibrated - y.mean()) ** 2))
    printed = np.mean((s - recalibrated) ** 2)
    true = printed + 2 * np.mean((recalibrated - y) * s)
    assert parts.miscalibration == pytest.approx(true)
    assert abs(true - printed) > 0.01


def test_h_measure_is_discrimination_over_uncertainty():
    y, s = [0, 1, 0, 1, 1, 0], [0.2, 0.1, 0.4, 0.9, 0.6, 0.6]
    parts = decompose(y, s, costs=costs.Beta(2, 2))
    assert h_measure_score(y, s, a=2, b=2) == pytest.approx(parts.discrimination / parts.uncertainty, rel=1e-13)


def test_h_measure_does_not_change_under_increasing_transforms():
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 80), rng.normal(size=80)
    assert h_measure_score(y, s) == pytest.approx(h_measure_score(y, np.exp(3 * s) - 7), rel=1e-13)


def test_terms_and_records_of_three_rows_by_hand():
    found = decompose([0, 1, 1], [0.1, 0.2, 0.2], costs=(0, 1))
    # half the Brier score is 1.29 / 6; recalibrated scores make no mistake, so DSC = UNC = (1/3) (2/3) / 2
    record = {"score": 0.215, "miscalibration": 0.215, "discrimination": 1 / 9, "uncertainty": 1 / 9, "skill": -0.935}
    (told,) = json.loads(found.to_json())
    assert told.pop("scale") == "regret"
    assert told == pytest.approx(record, abs=1e-15)


def test_skill_without_uncertainty_is_undefined():
    assert math.isnan(decompose([0, 0, 0], [0.1, 0.2, 0.2], costs=(0, 1)).skill)


def test_amounts_of_rows_are_decomposed_too():
    outcome = RowCosts([0, 1, 0, 1], false_positive=[1.0, 2.0, 3.0, 1.0], false_negative=[9.0, 5.0, 4.0, 8.0])
    parts = decompose(outcome, [0.1, 0.6, 0.4, 0.3], costs=(0.1, 0.5))
    assert parts.score == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty, abs=1e-15)
    assert parts.uncertainty > 0.0
