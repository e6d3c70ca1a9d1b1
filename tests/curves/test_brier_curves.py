"""Areas under the Brier curve are the scores, on every stretched axis."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from strategies import intervals, samples

from stakes import bounded_brier_loss, bounded_log_loss, costs, expected_regret, net_benefit_curve, regret_curve
from stakes.curves import brier_curve

AXES = {
    "linear": costs.Uniform,
    "quadratic": costs.Uniform,
    "log-odds": costs.LogOddsUniform,
    "log": costs.LogOddsUniform,
}
rules = st.one_of(st.sampled_from(["score", "optimal"]), st.floats(0.0, 1.0))


def curve_of(sample, **options):
    return brier_curve(sample.y, sample.score, sample_weight=sample.weight, **options)


@pytest.mark.parametrize("axis", AXES)
@given(sample=samples(), bounds=intervals(), rule=rules)
def test_area_between_two_costs_is_the_expected_regret(axis, sample, bounds, rule):
    area = curve_of(sample, axis=axis, rule=rule).integral(*bounds)
    weights = {"sample_weight": sample.weight}
    expected = expected_regret(
        sample.y, sample.score, costs=AXES[axis](*bounds), rule=rule, scale="integral", **weights
    )
    assert area == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("axis", AXES)
@given(sample=samples(), bounds=intervals(0.05))
def test_area_is_that_of_the_picture(axis, sample, bounds):
    # on the stretched axis itself: height against position, by quadrature between the knots
    low, high = np.clip(bounds, 0.02, 0.98)
    if not low < high:
        return
    curve = curve_of(sample, axis=axis)
    inverse = {
        "linear": lambda x: x,
        "quadratic": lambda x: 1 - np.sqrt(-2 * x),
        "log-odds": lambda x: 1 / (1 + np.exp(-x)),
        "log": np.exp,
    }[axis]
    edges = curve.position(np.unique(np.clip([low, *curve.knots, high], low, high)))
    area = sum(quad(lambda x: float(curve.at(np.clip(inverse(x), low, high))), a, b)[0] for a, b in pairwise(edges))
    assert curve.integral(low, high) == pytest.approx(area, abs=1e-6)


@given(samples(), st.floats(0.001, 0.999))
def test_heights_are_regret_or_the_net_benefit_that_is_lost(sample, c):
    arguments = {"sample_weight": sample.weight}
    regret = float(regret_curve(sample.y, sample.score, **arguments).at(c))
    benefit = net_benefit_curve(sample.y, sample.score, **arguments)
    lost = float(benefit.references["treat all"].at(0.0) - benefit.at(c))
    for axis in AXES:
        height = regret if axis in {"linear", "log-odds"} else lost
        assert float(curve_of(sample, axis=axis).at(c)) == pytest.approx(height, abs=1e-9)


@given(samples(score=st.floats(0.01, 0.99)))
def test_whole_areas_are_half_the_brier_score_and_the_log_loss(sample):
    arguments = {"sample_weight": sample.weight}
    brier = bounded_brier_loss(sample.y, sample.score, **arguments)
    log = bounded_log_loss(sample.y, sample.score, **arguments)
    for axis, area in {"linear": brier / 2, "quadratic": brier / 2, "log-odds": log, "log": log}.items():
        assert curve_of(sample, axis=axis).integral() == pytest.approx(area, abs=1e-12)


def test_infinite_log_loss_is_an_infinite_area():
    assert brier_curve([0, 1], [0.2, 0.0], axis="log-odds").integral() == np.inf
    assert brier_curve([0, 1], [1.0, 0.5], axis="log").integral() == np.inf
    assert np.isfinite(brier_curve([0, 1], [0.0, 1.0], axis="log").integral())


@pytest.mark.parametrize("axis", AXES)
def test_references_are_the_constant_decisions(axis):
    curve = brier_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6], axis=axis)
    measure = AXES[axis](0.1, 0.4)
    for name, score in (("treat all", 1.0), ("treat none", 0.0)):
        expected = expected_regret([0, 0, 0, 1], [score] * 4, costs=measure, scale="integral")
        assert curve.references[name].integral(0.1, 0.4) == pytest.approx(expected, abs=1e-14)
        assert curve.references[name].axis == axis


def test_unknown_axis_and_bounds_out_of_order_are_named():
    with pytest.raises(ValueError, match="axis must be one of 'linear', 'log-odds', 'quadratic', 'log', got 'cubic'"):
        brier_curve([0, 1], [0.2, 0.7], axis="cubic")
    with pytest.raises(ValueError, match=r"low, high must be in order within \[0, 1\], got \(0.5, 0.2\)"):
        brier_curve([0, 1], [0.2, 0.7]).integral(0.5, 0.2)


def test_frame_holds_the_position_of_every_knot():
    pytest.importorskip("polars")
    frame = brier_curve([0, 1], [0.25, 0.75], axis="log-odds").frame("polars")
    assert frame.columns == ["threshold", "position", "left", "right"]
    assert frame["position"].to_list() == pytest.approx([-np.inf, -np.log(3), np.log(3), np.inf])
