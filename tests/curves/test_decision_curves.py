"""Curves are exact: they equal the definition everywhere, and picture, table and integral agree."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import intervals, samples

from stakes import ScoreTable, bounded_brier_loss, net_benefit_curve, regret_curve


def brute_regret(y, s, w, c, threshold):
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    total = w.sum()
    alarms = sum(wi for yi, si, wi in zip(y, s, w, strict=True) if yi == 0 and si >= threshold)
    misses = sum(wi for yi, si, wi in zip(y, s, w, strict=True) if yi == 1 and si < threshold)
    return (c * alarms + (1 - c) * misses) / total


def curve_of(make, sample, **options):
    return make(sample.y, sample.score, sample_weight=sample.weight, **options)


@given(samples(), st.floats(0.0, 1.0))
def test_regret_curve_is_the_definition_at_any_cost_and_at_every_score(sample, anywhere):
    curve = curve_of(regret_curve, sample)
    for at in [anywhere, 0.0, 1.0, *sample.score]:
        c = float(at) + 0.0
        assert float(curve.at(c)) == pytest.approx(brute_regret(sample.y, sample.score, sample.weight, c, c), abs=1e-12)


@given(samples())
def test_right_limit_is_the_value_when_ties_no_longer_act(sample):
    curve = curve_of(regret_curve, sample)
    for c in sample.score:
        if c < 1.0:
            above = brute_regret(sample.y, sample.score, sample.weight, c, np.nextafter(c, 2.0))
            assert float(curve.at(c, side="right")) == pytest.approx(above, abs=1e-12)


@given(samples(), st.floats(0.0, 1.0))
def test_optimal_rule_is_the_lower_envelope_over_all_thresholds(sample, c):
    curve = curve_of(regret_curve, sample, rule="optimal")
    best = min(brute_regret(sample.y, sample.score, sample.weight, c, t) for t in [*sample.score, 2.0])
    assert float(curve.at(c)) == pytest.approx(best, abs=1e-12)


@given(samples(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_fixed_rule_acts_at_its_threshold_whatever_the_cost(sample, threshold, c):
    curve = curve_of(regret_curve, sample, rule=threshold)
    expected = brute_regret(sample.y, sample.score, sample.weight, c, threshold)
    assert float(curve.at(c)) == pytest.approx(expected, abs=1e-12)


@given(samples(), st.floats(0.0, 0.99))
def test_net_benefit_is_true_positives_less_weighted_false_positives(sample, t):
    w = np.ones(len(sample.y)) if sample.weight is None else np.asarray(sample.weight)
    acting = np.asarray(sample.score) >= t
    y = np.asarray(sample.y)
    expected = (w[acting & (y == 1)].sum() - w[acting & (y == 0)].sum() * t / (1 - t)) / w.sum()
    curve = curve_of(net_benefit_curve, sample)
    assert float(curve.at(t)) == pytest.approx(expected, abs=1e-10)
    everyone = (w[y == 1].sum() - w[y == 0].sum() * t / (1 - t)) / w.sum()
    assert float(curve.references["treat all"].at(t)) == pytest.approx(everyone, abs=1e-10)
    assert float(curve.references["treat none"].at(t)) == 0.0


@given(samples(), intervals())
def test_area_under_the_regret_curve_is_half_the_bounded_brier_loss(sample, bounds):
    area = curve_of(regret_curve, sample).integral(*bounds)
    loss = bounded_brier_loss(sample.y, sample.score, sample_weight=sample.weight, bounds=bounds)
    assert area == pytest.approx(loss / 2, abs=1e-13)


def test_area_under_the_decision_curve_agrees_with_quadrature():
    from scipy.integrate import quad

    y, s = [0, 1, 0, 0, 1], [0.1, 0.3, 0.3, 0.6, 0.8]
    curve = net_benefit_curve(y, s)

    def value(t):
        return sum((yi - (1 - yi) * t / (1 - t)) for yi, si in zip(y, s, strict=True) if si >= t) / 5

    expected = sum(quad(value, a, b)[0] for a, b in [(0.05, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 0.7)])
    assert curve.integral(0.05, 0.7) == pytest.approx(expected, abs=1e-12)


def test_area_under_a_decision_curve_that_dives_at_1_is_minus_infinity():
    assert net_benefit_curve([0, 1], [1.0, 0.5]).integral() == -np.inf
    assert np.isfinite(net_benefit_curve([0, 1], [0.4, 1.0]).integral())


@given(samples())
def test_frame_holds_every_knot_with_both_sides(sample):
    pl = pytest.importorskip("polars")
    curve = curve_of(regret_curve, sample)
    frame = curve.frame("polars")
    assert isinstance(frame, pl.DataFrame)
    knots = frame["threshold"].to_numpy()
    np.testing.assert_allclose(frame["left"].to_numpy(), curve.at(knots), atol=1e-14)
    np.testing.assert_allclose(frame["right"].to_numpy()[:-1], curve.at(knots[:-1], side="right"), atol=1e-14)


@pytest.mark.parametrize("x", [1.0, -0.1, 1.1, np.nan])
def test_net_benefit_exists_below_1_only(x):
    with pytest.raises(ValueError, match=r"net benefit exists for threshold in \[0, 1\)"):
        net_benefit_curve([0, 1], [0.2, 0.7]).at(x)


def test_integral_bounds_must_be_in_order_within_the_domain():
    with pytest.raises(ValueError, match=r"low, high must be in order within \[0, 1\], got \(0.5, 0.2\)"):
        regret_curve([0, 1], [0.2, 0.7]).integral(0.5, 0.2)


def test_thinned_picture_states_the_error_it_makes():
    rng = np.random.default_rng(5)
    s = rng.random(50_000)
    y = rng.random(50_000) < s
    curve = regret_curve(y, s)
    x, drawn, error = curve.thinned(1000)
    assert len(x) < 2500
    probe = rng.random(5000)
    line = np.interp(probe, x, drawn)
    assert np.max(np.abs(line - curve.at(probe))) <= error + 1e-12
    assert 0.0 < error < 1e-3


def test_thinned_picture_keeps_every_large_jump():
    rng = np.random.default_rng(6)
    s = np.concatenate([rng.random(20_000), np.full(20_000, 0.37)])
    y = np.concatenate([rng.random(20_000) < s[:20_000], np.zeros(20_000, dtype=bool)])
    x, drawn, _ = regret_curve(y, s).thinned(500)
    steps = np.abs(np.diff(drawn))[np.diff(x) == 0]
    assert steps.max() == pytest.approx(0.5 * 0.37, rel=1e-3)


def test_curves_come_from_a_table_too():
    table = ScoreTable.from_predictions([0, 1, 1], [0.2, 0.2, 0.9])
    assert float(regret_curve(table).at(0.3)) == float(regret_curve([0, 1, 1], [0.2, 0.2, 0.9]).at(0.3))
