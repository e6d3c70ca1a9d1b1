"""Decision-curve extras: test harm, standardised net benefit, net interventions avoided, as dcurves has them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from sklearn.exceptions import UndefinedMetricWarning
from strategies import samples

from stakes import net_benefit_curve
from stakes.curves import interventions_avoided_curve

rules = st.one_of(st.sampled_from(["score", "optimal"]), st.floats(0.0, 1.0))


@given(samples(), rules, st.floats(0.001, 0.999), st.sampled_from([0.0, 0.02]))
def test_interventions_avoided_are_the_gain_in_net_benefit_over_the_odds(sample, rule, t, harm):
    options = {"sample_weight": sample.weight, "rule": rule, "harm": harm}
    avoided = interventions_avoided_curve(sample.y, sample.score, per=1.0, **options)
    benefit = net_benefit_curve(sample.y, sample.score, **options)
    for side in ("left", "right"):
        gain = benefit.at(t, side=side) - benefit.references["treat all"].at(t)
        assert float(avoided.at(t, side=side)) == pytest.approx(float(gain) * (1 - t) / t, abs=1e-8)
    nothing = -benefit.references["treat all"].at(t) * (1 - t) / t
    assert float(avoided.references["treat none"].at(t)) == pytest.approx(float(nothing), abs=1e-8)
    assert float(avoided.references["treat all"].at(t)) == 0.0


def test_spot_values_of_the_dcurves_tests(load_data):
    # R package dcurves, df_binary at threshold 0.25: treat-all 0, treat-none 0.44, cancerpredmarker 0.632
    data = load_data("dcurves/df_binary")
    curve = interventions_avoided_curve(data["cancer"], data["cancerpredmarker"], per=1)
    assert float(curve.at(0.25)) == pytest.approx(0.632, abs=1e-12)
    assert float(curve.references["treat none"].at(0.25)) == pytest.approx(0.44, abs=1e-12)
    assert float(curve.references["treat all"].at(0.25)) == 0.0


def published(load_data, name, variable):
    """Rows of one variable, and the factor that its interventions are counted in (R's ``nper``)."""
    frame = load_data(f"dcurves/expected/{name}")
    rows = frame[(frame["variable"] == variable) & (frame["threshold"] > 0)].dropna(subset="net_intervention_avoided")
    everyone = frame[frame["variable"] == "all"].set_index("threshold")["net_benefit"].loc[rows["threshold"]]
    t = rows["threshold"].to_numpy()
    by_hand = (rows["net_benefit"].to_numpy() - everyone.to_numpy()) * (1 - t) / t
    factor = np.median(rows["net_intervention_avoided"].to_numpy() / by_hand)
    return rows, float(np.round(factor))


def test_interventions_avoided_of_the_r_package_dcurves(load_data):
    rows, per = published(load_data, "r_case1_results", "famhistory")
    assert len(rows) == 99
    data = load_data("dcurves/df_binary")
    curve = interventions_avoided_curve(data["cancer"], data["famhistory"].astype(float), per=per)
    np.testing.assert_allclose(curve.at(rows["threshold"]), rows["net_intervention_avoided"], atol=1e-10 * per)


def test_interventions_avoided_with_test_harm_of_the_r_package_dcurves(load_data):
    rows, per = published(load_data, "r_case3_results", "marker")
    assert len(rows) == 35
    y = load_data("dcurves/df_cancer_dx")["cancer"]
    risk = load_data("dcurves/expected/dca_tut_bin_int_marker_risks").iloc[:, 0]
    avoided = interventions_avoided_curve(y, risk, per=per, harm=0.0333)
    np.testing.assert_allclose(avoided.at(rows["threshold"]), rows["net_intervention_avoided"], atol=1e-10 * per)
    benefit = net_benefit_curve(y, risk, harm=0.0333)
    np.testing.assert_allclose(benefit.at(rows["threshold"]), rows["net_benefit"], atol=1e-10)


@given(samples(), st.floats(0.01, 0.9), st.floats(0.01, 0.9))
def test_area_agrees_with_quadrature(sample, a, b):
    low, high = sorted((a, b))
    curve = interventions_avoided_curve(sample.y, sample.score, sample_weight=sample.weight, per=1)
    edges = np.unique(np.clip([low, *curve.knots, high], low, high))
    area = sum(quad(lambda t: float(curve.at(t)), u, v)[0] for u, v in pairwise(edges))
    assert curve.integral(low, high) == pytest.approx(area, abs=1e-6)


def test_area_down_to_zero_diverges_only_if_a_positive_is_missed_there():
    assert interventions_avoided_curve([0, 1], [0.2, 0.0]).integral() == -np.inf
    assert np.isfinite(interventions_avoided_curve([0, 1], [0.2, 0.1]).integral())


@pytest.mark.parametrize("t", [0.0, 1.0, -0.1, np.nan])
def test_interventions_avoided_exist_strictly_between_0_and_1(t):
    with pytest.raises(ValueError, match=r"interventions avoided exists for threshold in \(0, 1\), got"):
        interventions_avoided_curve([0, 1], [0.2, 0.7]).at(t)


@given(samples(), rules, st.floats(0.0, 0.99))
def test_harm_is_subtracted_before_standardising_and_spares_the_references(sample, rule, t):
    options = {"sample_weight": sample.weight, "rule": rule}
    plain = net_benefit_curve(sample.y, sample.score, **options)
    rate = float(plain.references["treat all"].at(0.0))
    harmed = net_benefit_curve(sample.y, sample.score, harm=0.05, **options)
    assert float(harmed.at(t)) == pytest.approx(float(plain.at(t)) - 0.05, abs=1e-9)
    assert float(harmed.references["treat all"].at(t)) == float(plain.references["treat all"].at(t))
    if rate > 0.0:
        shares = net_benefit_curve(sample.y, sample.score, harm=0.05, standardized=True, **options)
        assert float(shares.at(t)) == pytest.approx((float(plain.at(t)) - 0.05) / rate, rel=1e-9, abs=1e-9)
        expected = float(plain.references["treat all"].at(t)) / rate
        assert float(shares.references["treat all"].at(t)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_standardised_net_benefit_of_a_perfect_score_is_one():
    curve = net_benefit_curve([0, 0, 0, 1], [0.0, 0.0, 0.0, 1.0], standardized=True)
    assert curve.at([0.1, 0.5, 0.9]).tolist() == [1.0, 1.0, 1.0]
    assert curve.kind == "standardized net benefit"


def test_standardised_net_benefit_without_positives_is_undefined_with_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="standardized net benefit is undefined: there are no positives"):
        curve = net_benefit_curve([0, 0], [0.2, 0.7], standardized=True)
    assert np.isnan(curve.at(0.3))


@pytest.mark.parametrize("curve", [net_benefit_curve, interventions_avoided_curve])
@pytest.mark.parametrize("harm", [-0.1, np.nan, np.inf])
def test_harm_must_be_a_cost(curve, harm):
    with pytest.raises(ValueError, match="harm must be a finite number >= 0"):
        curve([0, 1], [0.2, 0.7], harm=harm)


def test_frame_has_no_value_at_a_threshold_of_zero():
    pytest.importorskip("polars")
    frame = interventions_avoided_curve([0, 1], [0.2, 0.7]).frame("polars")
    assert frame.columns == ["threshold", "left", "right"]
    assert np.isnan(frame["left"][0])
    assert frame["right"][0] == 0.0
