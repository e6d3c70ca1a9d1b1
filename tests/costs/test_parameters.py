"""Bad parameters are ValueErrors that name the argument, the rule and the value."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from stakes import costs

NAN, INF = float("nan"), float("inf")
BOUNDED = {
    "uniform": costs.Uniform,
    "log-odds": costs.LogOddsUniform,
    "net-benefit": costs.NetBenefitUniform,
    "beta": lambda low, high: costs.Beta(2, 2, low, high),
    "shifted": lambda low, high: costs.Shifted(0.1, low, high),
    "density": lambda low, high: costs.Density(lambda c: c, low, high),
}


@pytest.mark.parametrize(
    "bounds",
    [("x", 0.5), (0.1, None), (0.3, 0.1), (0.2, 0.2), (-0.1, 0.5), (0.5, 1.5), (NAN, 0.5), (0.1, NAN), (-INF, INF)],
)
@pytest.mark.parametrize("make", BOUNDED.values(), ids=BOUNDED)
def test_bounds_must_ascend_within_0_and_1(make, bounds):
    with pytest.raises(ValueError, match=r"^bounds must satisfy 0 <= low < high <= 1, got \(") as error:
        make(*bounds)
    assert str(bounds[0]) in str(error.value)
    assert str(bounds[1]) in str(error.value)


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 0), (-1, 2), (2, NAN), (INF, 2)])
def test_beta_shapes_must_be_positive(a, b):
    with pytest.raises(ValueError, match=rf"^a and b must be finite numbers > 0, got \({a}, {b}\)"):
        costs.Beta(a, b)


@pytest.mark.parametrize("median", [0, 1, -0.1, 1.5, NAN])
def test_shifted_median_must_lie_inside_0_and_1(median):
    with pytest.raises(ValueError, match=rf"^median must lie in \(0, 1\), got {median}"):
        costs.Shifted(median)


@pytest.mark.parametrize("c", [-0.1, 1.0001, NAN, Decimal("NaN")])
def test_fixed_cost_ratio_must_lie_in_0_and_1(c):
    with pytest.raises(ValueError, match=rf"^c must lie in \[0, 1\], got {c}"):
        costs.Fixed(c)


@pytest.mark.parametrize("tie", [-0.1, 1.1, NAN])
@pytest.mark.parametrize("make", [lambda t: costs.Fixed(0.5, t), lambda t: costs.Empirical([0.5], tie=t)])
def test_tie_must_lie_in_0_and_1(make, tie):
    with pytest.raises(ValueError, match=rf"^tie must lie in \[0, 1\], got {tie}"):
        make(tie)


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([0.1, 1.5], None, r"^values must lie in \[0, 1\], got 1.5 at index 1"),
        ([0.0, 1.0, 1.5], None, r"^values must lie in \[0, 1\], got 1.5 at index 2"),
        ([NAN], None, r"^values must lie in \[0, 1\], got nan at index 0"),
        ([], None, r"^values and weights must be 1-D and of equal length > 0, got \(0,\)"),
        ([[0.1, 0.2]], None, r"^values and weights must be 1-D"),
        ([0.1, 0.2], [1], r"^values and weights must be 1-D and of equal length > 0, got \(2,\) and \(1,\)"),
        ([0.1, 0.2], [1, -1], r"^weights must be finite and >= 0, got -1.0 at index 1"),
        ([0.1, 0.2], [1, NAN], r"^weights must be finite and >= 0, got nan at index 1"),
        ([0.1, 0.2], [0, 0], r"^weights must not be all zero"),
    ],
)
def test_empirical_values_and_weights(values, weights, message):
    with pytest.raises(ValueError, match=message):
        costs.Empirical(values, weights)


def test_empirical_weights_error_says_which_weight():
    with pytest.raises(ValueError, match=r"-1\.0 at index 1"):
        costs.Empirical([0.1, 0.2], [1, -1])


@pytest.mark.parametrize("corners", [(0.2, 0.1, 0.3), (0.1, 0.4, 0.3), (0.1, NAN, 0.3)])
def test_triangular_mode_must_lie_between_the_ends(corners):
    with pytest.raises(ValueError, match=r"^low, mode, high must be in order, got \(0"):
        costs.Triangular(*corners)


@pytest.mark.parametrize("corners", [(0.3, 0.3, 0.3), (-0.1, 0.2, 0.3), (0.1, 0.2, 1.3)])
def test_triangular_ends_must_ascend_within_0_and_1(corners):
    with pytest.raises(ValueError, match=r"^low, high must satisfy 0 <= low < high <= 1, got"):
        costs.Triangular(*corners)


def test_shifted_median_must_have_an_inverse():
    with pytest.raises(ValueError, match=r"^median must be at least 2\.23e-308, got 1e-310\."):
        costs.Shifted(1e-310)


def test_triangular_ends_must_leave_room_for_a_density():
    with pytest.raises(
        ValueError, match=r"^low and high must lie far enough apart for a density, got \(0\.0, 5e-324\)"
    ):
        costs.Triangular(0, 0, 5e-324)
    with pytest.raises(ValueError, match="must lie far enough apart for a density"):
        costs.Triangular(1e-300, 1e-300, np.nextafter(1e-300, 1.0))


@pytest.mark.parametrize(("height", "mass"), [(1.5e308, "inf"), (5e-324, "0")])
def test_a_piecewise_linear_density_has_a_mass_that_floats_hold(height, mass):
    with pytest.raises(
        ValueError, match=rf"^values must make a mass that floats can hold, got \[.*\] of mass {mass}\."
    ):
        costs.PiecewiseLinear([0, 0.5, 1], [height] * 3)


@pytest.mark.parametrize(
    ("knots", "values", "message"),
    [
        ([0.1], [1], r"^knots and values must be 1-D of equal length >= 2, got \(1,\) and \(1,\)"),
        ([0.1, 0.2], [1, 2, 3], r"^knots and values must be 1-D of equal length >= 2, got \(2,\) and \(3,\)"),
        ([0.2, 0.1], [1, 1], r"^knots must ascend strictly within \[0, 1\], got \[0.2, 0.1\]"),
        ([0.1, 0.1], [1, 1], r"^knots must ascend strictly"),
        ([-0.1, 0.1], [1, 1], r"^knots must ascend strictly"),
        ([0.1, 1.1], [1, 1], r"^knots must ascend strictly"),
        ([0.1, 0.5, 1.1], [1, 1, 1], r"^knots must ascend strictly"),
        ([0.1, NAN], [1, 1], r"^knots must ascend strictly"),
        ([0.1, 0.2], [1, -1], r"^values must be finite, >= 0 and not all zero, got \[1.0, -1.0\]"),
        ([0.1, 0.2], [1, INF], r"^values must be finite"),
        ([0.1, 0.2], [0, 0], r"^values must be finite, >= 0 and not all zero"),
    ],
)
def test_piecewise_linear_knots_and_values(knots, values, message):
    with pytest.raises(ValueError, match=message):
        costs.PiecewiseLinear(knots, values)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("c", lambda: costs.Fixed("0.5")),
        ("tie", lambda: costs.Fixed(0.5, tie="1")),
        ("values", lambda: costs.Empirical(["0.1", "0.2"])),
        ("weights", lambda: costs.Empirical([0.1, 0.2], [b"1", b"2"])),
        ("knots", lambda: costs.PiecewiseLinear(["0.1", "0.2"], [1, 2])),
        ("values", lambda: costs.PiecewiseLinear([0.1, 0.2], ["1", "2"])),
        ("factor", lambda: "0.5" * costs.Uniform(0, 1)),
    ],
)
def test_text_is_no_parameter(name, make):
    with pytest.raises(ValueError, match=rf"\b{name}\b.* must be (numeric|a number), got "):
        make()


@pytest.mark.parametrize(
    ("pdf", "message"),
    [
        (lambda c: c - 0.5, r"^pdf must be finite and >= 0, got -0.*at c = "),
        (lambda c: np.full_like(c, NAN), r"^pdf must be finite and >= 0, got nan at c = "),
        (lambda _: np.ones(3), r"^pdf must return one value for each cost ratio, got shape \(3,\)"),
        (lambda c: 1 + np.sin(1e9 * c), r"^pdf must be integrable on \[0.0, 1.0\]; the quadrature did not converge"),
    ],
    ids=["negative", "nan", "shape", "no-convergence"],
)
def test_density_must_be_integrable_and_not_negative(pdf, message):
    with pytest.raises(ValueError, match=message):
        costs.Density(pdf, 0, 1)


@pytest.mark.parametrize("pdf", [math.exp, lambda _: "a", lambda c: [c, c[:2]]])
def test_density_must_return_numbers_for_an_array(pdf):
    with pytest.raises(ValueError, match=r"^pdf must return a number for each of an array of cost ratios: "):
        costs.Density(pdf, 0.0, 1.0)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_density_that_is_not_integrable_is_called_so():
    with pytest.raises(ValueError, match=r"^pdf must be integrable on \[0.0, 1.0\]"):
        costs.Density(lambda c: 1 / c, 0, 1)


def test_integers_are_bounds_too():
    assert costs.Uniform(0, 1).to_dict() == {"kind": "uniform", "low": 0.0, "high": 1.0}
    assert isinstance(costs.Fixed(np.float32(0.5)).c, float)


def test_repeated_and_unweighted_values_are_pooled():
    people = costs.Empirical([0.2, 0.1, 0.2, 0.3], [1, 1, 2, 0])
    np.testing.assert_array_equal(people.atoms[0], [0.1, 0.2])
    np.testing.assert_allclose(people.atoms[1], [0.25, 0.75], rtol=1e-15)


def test_both_ends_of_a_range_are_looked_at():
    with pytest.raises(ValueError, match=r"bounds must satisfy 0 <= low < high <= 1, got \(-inf, <generator"):
        costs.LogOddsUniform(-np.inf, (end for end in [0.5]))


@pytest.mark.parametrize(
    "make",
    [
        lambda zero: costs.Uniform(zero, 0.3),
        lambda zero: costs.LogOddsUniform(zero, 0.3),
        lambda zero: costs.Beta(2, 8, zero, 0.3),
        lambda zero: costs.Fixed(zero, tie=zero),
        lambda zero: costs.Empirical([zero, 0.1]),
        lambda zero: costs.PiecewiseLinear([zero, 0.1], [1.0, zero]),
        lambda zero: costs.Triangular(zero, zero, 0.3),
        lambda zero: costs.Fixed(costs.from_odds(zero)),
        lambda zero: costs.Fixed(costs.from_harm_to_benefit(zero)),
        lambda zero: costs.as_bounds((zero, 0.3)),
        lambda zero: costs.Deferral(zero, zero, zero),
    ],
)
def test_a_bound_of_minus_zero_is_zero(make):
    minus, plain = make(-0.0), make(0.0)
    assert minus == plain
    assert hash(minus) == hash(plain)
    assert repr(minus) == repr(plain)
    assert "-" not in repr(minus)
