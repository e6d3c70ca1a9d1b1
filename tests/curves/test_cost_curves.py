"""Cost curves: regret over its worst, the lower envelope of the thresholds' lines, areas that are scores."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from sklearn.exceptions import UndefinedMetricWarning
from strategies import samples

from stakes import regret_curve
from stakes.curves import cost_curve, roc_curve


def rate_of(sample):
    weight = np.ones(len(sample.y)) if sample.weight is None else np.asarray(sample.weight)
    return float(weight[np.asarray(sample.y) == 1].sum() / weight.sum())


both = samples().filter(lambda sample: 0.0 < rate_of(sample) < 1.0)
rules = st.one_of(st.sampled_from(["score", "optimal"]), st.floats(0.0, 1.0))


def curve_of(make, sample, **options):
    return make(sample.y, sample.score, sample_weight=sample.weight, **options)


@given(both, rules, st.floats(1e-6, 1 - 1e-6))
def test_height_is_regret_over_the_cost_of_deciding_everything_wrong(sample, rule, c):
    curve, regret = curve_of(cost_curve, sample, rule=rule), curve_of(regret_curve, sample, rule=rule)
    rate = rate_of(sample)
    worst = rate * (1 - c) + (1 - rate) * c
    x = float(curve.probability_cost(c))
    assert x == pytest.approx(rate * (1 - c) / worst)
    # the place of a score on the axis is rounded: compare where no score is close
    if rule != "score" or np.min(np.abs(np.asarray(sample.score) - c)) > 1e-9:
        assert float(curve.at(x)) == pytest.approx(float(regret.at(c)) / worst, abs=1e-9)


@given(both)
def test_score_driven_curve_acts_on_the_score_at_its_own_cost(sample):
    curve, regret = curve_of(cost_curve, sample, rule="score"), curve_of(regret_curve, sample)
    rate = rate_of(sample)
    for c in {s + 0.0 for s in sample.score if 1e-9 < s < 1 - 1e-9}:
        worst = rate * (1 - c) + (1 - rate) * c
        x = float(curve.probability_cost(c))
        if x in curve.knots:
            assert float(curve.at(x)) == pytest.approx(float(regret.at(c)) / worst, abs=1e-9)
            # the cost ratio falls along this axis, so its limit from above is on the left
            above = float(regret.at(c, side="right")) / worst
            assert float(curve.at(x, side="left")) == pytest.approx(above, abs=1e-9)


@given(both, st.floats(0.0, 1.0))
def test_optimal_curve_is_the_lowest_of_all_lines(sample, x):
    curve = curve_of(cost_curve, sample)
    _, at_zero, at_one = curve.lines()
    assert float(curve.at(x)) == pytest.approx(np.min(at_zero * (1 - x) + at_one * x), abs=1e-12)


@given(both)
def test_lines_are_the_points_of_the_roc_curve(sample):
    thresholds, at_zero, at_one = curve_of(cost_curve, sample).lines()
    roc = curve_of(roc_curve, sample)
    assert thresholds.tolist() == roc.thresholds[::-1].tolist()
    np.testing.assert_allclose(at_zero, roc.false_positive_rate[::-1], atol=1e-12)
    np.testing.assert_allclose(at_one, 1 - roc.true_positive_rate[::-1], atol=1e-12)


@given(both)
def test_area_is_half_the_class_weighted_squared_error_of_the_score_without_its_prior(sample):
    # errata E13: E[M^2 | 0] + E[(1-M)^2 | 1] is proper with density 2 pi (1-pi) / D^3, D the worst cost at c
    y, s = np.asarray(sample.y), np.asarray(sample.score)
    w = np.ones(len(y)) if sample.weight is None else np.asarray(sample.weight, dtype=float)
    rate = rate_of(sample)
    moved = s * (1 - rate) / (s * (1 - rate) + (1 - s) * rate)
    loss = np.average(moved[y == 0] ** 2, weights=w[y == 0]) + np.average((1 - moved[y == 1]) ** 2, weights=w[y == 1])
    assert curve_of(cost_curve, sample, rule="score").integral() == pytest.approx(loss / 2, abs=1e-9)


def test_area_is_regret_under_the_density_that_is_stated():
    y, s = [0, 1, 0, 0, 1], [0.1, 0.3, 0.3, 0.6, 0.8]
    regret, rate = regret_curve(y, s, rule="optimal"), 0.4

    def weighted(c):
        return float(regret.at(c)) * rate * (1 - rate) / (rate * (1 - c) + (1 - rate) * c) ** 3

    area = sum(quad(weighted, a, b)[0] for a, b in zip(regret.knots[:-1], regret.knots[1:], strict=True))
    assert cost_curve(y, s).integral() == pytest.approx(area, abs=1e-12)


def test_envelope_does_not_depend_on_the_prevalence():
    y, s = [0, 1, 0, 0, 1], [0.1, 0.3, 0.3, 0.6, 0.8]
    x = np.linspace(0, 1, 9)
    np.testing.assert_allclose(cost_curve(y, s).at(x), cost_curve(y, s, prevalence=0.01).at(x), atol=1e-14)
    assert float(cost_curve(y, s, prevalence=0.01).probability_cost(0.01)) == pytest.approx(0.5)


def test_references_are_the_constant_decisions():
    references = cost_curve([0, 1], [0.2, 0.7]).references
    assert references["treat all"].at([0.0, 0.3, 1.0]).tolist() == pytest.approx([1.0, 0.7, 0.0])
    assert references["treat none"].at([0.0, 0.3, 1.0]).tolist() == pytest.approx([0.0, 0.3, 1.0])


def test_scores_that_only_rank_do_for_the_envelope_but_not_at_face_value():
    assert float(cost_curve([0, 1, 0, 1], [-1.0, 2.0, 2.0, 9.0]).at(0.5)) == 0.25
    with pytest.raises(ValueError, match=r"y_prob must lie in \[0, 1\]"):
        cost_curve([0, 1], [-1.0, 2.0], rule="score")


@pytest.mark.parametrize("rule", ["score", "optimal", 0.5])
def test_one_class_only_is_undefined_with_a_warning(rule):
    with pytest.warns(UndefinedMetricWarning, match="cost_curve is undefined: only one class is present"):
        curve = cost_curve([1, 1], [0.0, 0.6], rule=rule)
    assert np.isnan(curve.at(0.4))
    assert np.isnan(curve.integral())


@pytest.mark.parametrize("label", [0, 1])
def test_a_cost_curve_of_one_class_is_undefined(label):
    with pytest.warns(UndefinedMetricWarning, match="cost_curve is undefined: only one class is present"):
        cost_curve([label] * 3, [0.1, 0.2, 0.6])


def test_regret_of_scores_that_separate_the_classes_is_zero_up_to_1():
    regret = regret_curve([0, 0, 1], [0.2, 0.3, 0.8], rule="optimal")
    assert regret.knots.tolist() == [0.0, 1.0]
    assert regret.at([0.0, 0.5, 1.0]).tolist() == [0.0, 0.0, 0.0]
