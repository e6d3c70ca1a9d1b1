"""Sums of exponentials keep the errors that are claimed for them, and so do the sums that they are built with."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special

from stakes.utility._exponential import (
    EPS,
    RELATIVE,
    Carry,
    _rule,
    accurate_cumsum,
    accurate_sum,
    difference_error,
    log_products,
    nodes,
)

POWERS = [0.5, 1.0, 2.0]
ROUNDING = 6e-15  # of the nodes, which are eigenvalues: it differs among versions of LAPACK


def relative_error(low, high, power, x):
    rate, weight = nodes(low, high, power)
    exact = x.astype(np.longdouble)
    sums = (np.exp(-np.multiply.outer(exact, rate)) * weight).sum(axis=1)
    return (sums * exact**power - 1.0).astype(float)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("ratio", [1.0, 1.5, 10.0, 1e4, 1e8])
def test_sum_is_as_close_as_claimed_on_its_range(power, ratio):
    error = relative_error(3.0, 3.0 * ratio, power, np.geomspace(3.0, 3.0 * ratio, 2001))
    assert error.min() >= -RELATIVE - ROUNDING
    assert error.max() <= EPS + ROUNDING


@pytest.mark.parametrize("power", POWERS)
def test_sum_never_exceeds_the_power_beyond_its_range(power):
    error = relative_error(3.0, 300.0, power, np.geomspace(1e-6, 1e6, 2001))
    assert error.min() >= -1.0
    assert error.max() <= EPS + ROUNDING


@pytest.mark.parametrize("power", POWERS)
def test_differences_are_as_close_as_claimed(power):
    x = np.geomspace(2.0, 1e6, 2001)
    rate, weight = nodes(2.0, 1e6 + 1.0, power)
    estimate = np.exp(-np.multiply.outer(x, rate)) @ (-weight * np.expm1(-rate))
    true = np.array([float(_power_difference(v, power)) for v in x])
    assert np.max(np.abs(estimate / true - 1.0)) <= difference_error(power) + ROUNDING


@pytest.mark.parametrize("power", POWERS)
def test_error_of_differences_covers_that_of_each_part_of_the_derivative(power):
    """The derivative is the sum for the next power: aliasing and what is cut off are those of its gamma function."""
    rule = _rule(power)
    height = 2j * math.pi * np.arange(1, 5) / rule.step
    aliasing = 2.0 * np.abs(np.exp(special.loggamma(power + 1.0 + height) - special.loggamma(power + 1.0))).sum()
    cut_off = special.gammaincc(power + 1.0, rule.cut)
    gauss = EPS * max(2 * len(rule.gauss_rate), rule.reach) / power
    least = aliasing + cut_off + gauss
    assert least <= difference_error(power) <= 1.02 * least


@pytest.mark.parametrize("power", POWERS)
def test_sum_is_cut_off_where_the_gamma_function_leaves_what_is_tolerated(power):
    assert special.gammaincc(power, _rule(power).cut) / EPS == pytest.approx(1.0)


def _power_difference(x, power):
    """x^-a - (x + 1)^-a without cancellation."""
    if power == 0.5:
        return 1.0 / (math.sqrt(x) * math.sqrt(x + 1.0) * (math.sqrt(x) + math.sqrt(x + 1.0)))
    exact = Fraction(x)
    return exact ** -int(power) - (exact + 1) ** -int(power)


def test_few_nodes_serve_ten_million_rows():
    assert len(nodes(1.0, 1e7).rate) <= 73
    assert len(nodes(2.5e6, 1.25e7).rate) <= 21


@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([1e-300, 5e-324, 1e-17])), min_size=1, max_size=60))
def test_cumulative_sums_are_right_to_the_last_digits(values):
    array = np.array(values)
    exact = [math.fsum(values[: i + 1]) for i in range(len(values))]
    total = exact[-1]
    assert np.max(np.abs(accurate_cumsum(array) - exact)) <= 2.0**-51 * total
    assert abs(accurate_sum(array) - total) <= 2.0**-51 * total


def test_long_sums_do_not_drift():
    values = np.random.default_rng(0).random(10**6)
    assert abs(accurate_cumsum(values)[-1] - math.fsum(values)) <= 2e-10 * 2.0**-10
    carry = Carry(1)
    for value in [1e16, *([1.0] * 1000), -1e16]:
        carry.add(np.array([value]))
    assert carry.value()[0] == 1000.0


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 0.05, 1.0])
def test_logarithms_of_products_are_right_near_zero_and_one(scale):
    rng = np.random.default_rng(1)
    yes = np.sort(np.append(rng.random(40) * scale, [0.0, 1e-300, scale]))[::-1]
    rate = np.array([1e-9, 1e-3, 0.5, 5.0, 34.0])
    got = log_products(yes, 1.0 - yes, rate, 16).sum(axis=0)
    for value, r in zip(got, rate, strict=True):
        kept = Fraction(float(np.exp(-r)))
        loss = Fraction(float(-np.expm1(-r)))
        small = [-math.log1p(-float(Fraction(y) * loss)) for y in yes if y * float(loss) < 0.5]
        large = [-math.log(float(1 - Fraction(y) + Fraction(y) * kept)) for y in yes if y * float(loss) >= 0.5]
        assert -value == pytest.approx(math.fsum(small + large), rel=2e-15)
