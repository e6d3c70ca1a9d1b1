"""Partial moments, mass, density and mean of every family against 40-digit quadrature of its definition."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import oracles
import pytest
from cost_cases import BY_NAME, CASES, PROPER, scores_that_matter
from hypothesis import given, strategies as st
from oracles import Measure
from strategies import distributions, scores

from stakes import costs

EXACT = 5e-15
QUADRATURE = 1e-12  # Density promises about 1e-13 of its mass

all_cases = pytest.mark.parametrize("case", CASES, ids=str)
proper_cases = pytest.mark.parametrize("case", PROPER, ids=str)


def short(value):
    """Name parameters without the address of a function."""
    return type(value).__name__ if isinstance(value, costs.CostDistribution) else None


def tolerance(case):
    return QUADRATURE if isinstance(case.costs, costs.Density) else EXACT


@all_cases
def test_negative_loss_is_the_integral_of_c_below_the_score(case):
    at = scores_that_matter(case)
    if case.name == "density-singular-at-0":
        at.remove(0.0)  # has its own test
    expected = [case.measure.negative_loss(s) for s in at]
    np.testing.assert_allclose(case.costs.negative_loss(at), expected, rtol=tolerance(case), atol=0)


@all_cases
def test_positive_loss_is_the_integral_of_one_minus_c_above_the_score(case):
    at = scores_that_matter(case)
    expected = [case.measure.positive_loss(s) for s in at]
    np.testing.assert_allclose(case.costs.positive_loss(at), expected, rtol=tolerance(case), atol=0)


def test_density_that_is_infinite_at_its_end_costs_nothing_there():
    assert BY_NAME["density-singular-at-0"].costs.negative_loss(0.0) == 0.0


@all_cases
def test_mass_is_the_weight_of_the_unit_interval(case):
    assert case.costs.mass == pytest.approx(case.measure.mass(), rel=1e-12, abs=0)
    assert (case.costs.low, case.costs.high) == (case.measure.low, case.measure.high)


@all_cases
def test_density_is_the_definition_inside_and_zero_outside(case):
    low, high = case.costs.low, case.costs.high
    at = [s for s in (low + (high - low) * np.array([0.1, 0.37, 0.71, 0.93])) if 0 < s < 1]
    at += [s for s in (low / 2, (1 + high) / 2) if (s < low or s > high)]
    np.testing.assert_allclose(case.costs.density(at), [case.measure.density_at(s) for s in at], rtol=1e-12, atol=0)


@all_cases
def test_loss_factor_is_2_for_the_brier_family_and_1_for_the_log_family(case):
    assert case.costs.loss_factor == case.loss_factor
    if case.name != "density-singular-at-0":  # its flip has a test of its own
        assert case.costs.flip().loss_factor == case.loss_factor


@proper_cases
def test_mean_is_the_first_moment_over_the_mass(case):
    expected = case.measure.negative_loss(2.0) / case.measure.mass()
    assert case.costs.mean() == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("what", ["mean", "sample", "normalized"])
@pytest.mark.parametrize("name", ["log-odds-0.0-1.0", "net-benefit-0.0-1.0", "net-benefit-flipped-0.0-1.0"])
def test_infinite_mass_has_no_mean_sample_or_normal_form(name, what):
    arguments = (3,) if what == "sample" else ()
    with pytest.raises(ValueError, match=rf"{what} needs a cost distribution with mass in \(0, inf\), got .*inf"):
        getattr(BY_NAME[name].costs, what)(*arguments)


@proper_cases
def test_normalized_has_mass_one_and_the_same_shape(case):
    unit = case.costs.normalized()
    assert unit.mass == pytest.approx(1.0, rel=1e-12)
    at = 0.4 * case.costs.low + 0.6 * case.costs.high
    assert unit.negative_loss(at) * case.costs.mass == pytest.approx(float(case.costs.negative_loss(at)), rel=1e-12)


@all_cases
def test_row_loss_takes_the_loss_of_each_rows_class(case):
    at = np.array([s for s in scores_that_matter(case) if s > 0])
    for positive in (np.zeros(len(at), dtype=bool), np.ones(len(at), dtype=bool), np.arange(len(at)) % 2 == 0):
        expected = np.where(positive, case.costs.positive_loss(at), case.costs.negative_loss(at))
        np.testing.assert_allclose(case.costs.row_loss(positive, at), expected, rtol=1e-12, atol=1e-17)


@all_cases
def test_losses_keep_the_shape_and_take_float32_lists_and_integers(case):
    grid = np.array([[0.25, 0.5], [0.75, 1.0]])
    for loss in (case.costs.negative_loss, case.costs.positive_loss):
        assert loss(grid).shape == (2, 2)
        np.testing.assert_array_equal(loss(grid.astype(np.float32)), loss(grid))
        np.testing.assert_array_equal(loss(grid.tolist()), loss(grid))
        assert float(loss(1)) == float(loss(1.0))
        assert np.shape(loss(0.25)) == ()


# ---------------------------------------------------------------------------------------------- infinite losses
@pytest.mark.parametrize(
    ("made", "negative_at_1", "positive_at_0"),
    [
        (costs.LogOddsUniform(0, 1), True, True),
        (costs.LogOddsUniform(0, 0.5), False, True),
        (costs.LogOddsUniform(0.5, 1), True, False),
        (costs.LogOddsUniform(0.1, 0.5), False, False),
        (costs.NetBenefitUniform(0, 1), True, False),
        (costs.NetBenefitUniform(0.5, 1), True, False),
        (costs.NetBenefitUniform(0, 0.5), False, False),
        (costs.NetBenefitUniform(0, 1).flip(), False, True),
        (costs.Beta(0.25, 0.25), False, False),
        (costs.Uniform(0, 1), False, False),
        (costs.Shifted(0.125), False, False),
        (2 * costs.LogOddsUniform(0, 1) + costs.Fixed(0.5), True, True),
    ],
    ids=short,
)
def test_loss_is_infinite_only_where_certainty_was_wrong_at_an_open_end(made, negative_at_1, positive_at_0):
    for acting in (1.0, np.inf):
        assert np.isinf(made.negative_loss(acting)) == negative_at_1
    for waiting in (0.0, -0.0, -np.inf):
        assert np.isinf(made.positive_loss(waiting)) == positive_at_0
    inside = [5e-324, 1e-310, 1e-17, 0.5, 1 - 2**-53]
    assert np.all(np.isfinite(made.negative_loss([0.0, *inside])))
    if made != costs.NetBenefitUniform(0, 1).flip():  # has its own test
        assert np.all(np.isfinite(made.positive_loss([*inside, 1.0])))
    assert np.isinf(made.mass) == (negative_at_1 or positive_at_0)


def test_minus_zero_is_the_score_zero_for_every_family():
    for case in CASES:
        assert float(case.costs.positive_loss(-0.0)) == float(case.costs.positive_loss(0.0))


@pytest.mark.parametrize("score", [5e-324, 1e-310, 2.2e-308, 1e-300, 1e-17])
def test_log_loss_of_subnormal_scores_keeps_all_digits(score):
    measure = Measure(oracles.log_odds_uniform, 0.0, 0.75)
    # the integral of (1 - c) / (c (1 - c)) = 1/c, cut where the oracle's nodes follow it
    cuts = [score, *(10.0**-k for k in range(323, 0, -1) if 10.0**-k > score), 0.75]
    expected = sum(measure.over("k", a, b) for a, b in pairwise(cuts))
    assert costs.LogOddsUniform(0, 0.75).positive_loss(score) == pytest.approx(float(expected), rel=1e-14, abs=0)
    assert costs.LogOddsUniform(0, 0.75).negative_loss(score) == score


@pytest.mark.parametrize("score", [1e-20, 1e-12])
def test_flipped_net_benefit_is_finite_and_exact_at_small_scores(score):
    expected = np.log(1 / score) - (1 - score)  # the integral of (1 - c) / c from the score to 1
    assert costs.NetBenefitUniform(0, 1).flip().positive_loss(score) == pytest.approx(expected, rel=1e-13, abs=0)


def test_log_odds_mass_of_a_subnormal_bound_is_finite():
    assert costs.LogOddsUniform(5e-324, 0.5).mass == pytest.approx(744.4400719213812, rel=1e-14)


# --------------------------------------------------------------------------------------------- narrow intervals
PLACES = [0.0, 1e-9, 1e-4, 0.02, 0.3, 0.5, 0.9, 0.999, 1 - 2e-6]
WIDTHS = [1e-6, 1e-9]
NARROW = {
    "uniform": (costs.Uniform, oracles.uniform),
    "log-odds": (costs.LogOddsUniform, oracles.log_odds_uniform),
    "net-benefit": (costs.NetBenefitUniform, oracles.net_benefit_uniform),
    "beta-2-2": (lambda *ends: costs.Beta(2, 2, *ends), oracles.beta(2, 2)),
    "beta-2-8": (lambda *ends: costs.Beta(2, 8, *ends), oracles.beta(2, 8)),
    "beta-half": (lambda *ends: costs.Beta(0.5, 0.5, *ends), oracles.beta(0.5, 0.5)),
    "shifted-0.125": (lambda *ends: costs.Shifted(0.125, *ends), oracles.shifted(0.125)),
    "shifted-0.47": (lambda *ends: costs.Shifted(0.47, *ends), oracles.shifted(0.47)),
    "shifted-0.9": (lambda *ends: costs.Shifted(0.9, *ends), oracles.shifted(0.9)),
}


# integrals of Beta densities are slow by quadrature: at each place one width of the two, the other with the long tests
NARROW_CASES = [
    pytest.param(family, low, width, marks=pytest.mark.thorough if slow and (place + k) % 2 else ())
    for family, slow in ((family, family.startswith("beta")) for family in NARROW)
    for place, low in enumerate(PLACES)
    for k, width in enumerate(WIDTHS)
]


@pytest.mark.parametrize(("family", "low", "width"), NARROW_CASES)
def test_narrow_intervals_lose_no_digits(family, low, width):
    make, density = NARROW[family]
    high = low + width
    made = make(low, high)
    measure = Measure(density, low, high, open_low=low == 0 and family == "log-odds")
    at = [low + (high - low) * share for share in (1e-3, 0.1, 0.5, 0.93, 0.999)]
    for loss, exact in ((made.negative_loss, measure.negative_loss), (made.positive_loss, measure.positive_loss)):
        expected = np.array([exact(s) for s in at])
        # next to the far end a difference of incomplete beta functions keeps the digits of the whole, not of the rest
        slack = 4e-15 * expected.max() if family.startswith("beta") else 0.0
        np.testing.assert_allclose(loss(at), expected, rtol=1e-13, atol=slack)
    assert made.mass == pytest.approx(measure.mass(), rel=1e-13, abs=0)


@pytest.mark.parametrize("low", [pytest.param(0.3, id="middle"), pytest.param(1e-9, id="near-0")])
def test_uniform_row_loss_keeps_the_digits_of_narrow_intervals(low):
    made, at = costs.Uniform(low, low + 1e-6), low + 1e-6 * np.array([1e-3, 0.1, 0.5, 0.93])
    np.testing.assert_allclose(made.row_loss(np.ones(4, dtype=bool), at), made.positive_loss(at), rtol=1e-12, atol=0)
    np.testing.assert_allclose(made.row_loss(np.zeros(4, dtype=bool), at), made.negative_loss(at), rtol=1e-12, atol=0)


def test_uniform_row_loss_keeps_the_digits_next_to_1():
    made, at = costs.Uniform(1 - 2e-6, 1 - 1e-6), 1 - 1e-6 * np.array([1.9, 1.5, 1.1])
    np.testing.assert_allclose(made.row_loss(np.ones(3, dtype=bool), at), made.positive_loss(at), rtol=1e-13, atol=0)


@pytest.mark.parametrize("mode", [0.02, 0.05])
def test_triangular_keeps_the_digits_next_to_its_lower_end(mode):
    made, measure = costs.Triangular(0.02, mode, 0.2), BY_NAME["triangular-0.02-0.05-0.2"].measure
    if mode == 0.05:
        at = 0.02 + np.array([1e-9, 1e-6])
        np.testing.assert_allclose(made.negative_loss(at), [measure.negative_loss(s) for s in at], rtol=1e-13, atol=0)
    assert made.negative_loss(0.02) == 0.0


def test_triangular_keeps_the_digits_next_to_its_upper_end():
    made, measure = costs.Triangular(0.02, 0.05, 0.2), BY_NAME["triangular-0.02-0.05-0.2"].measure
    at = 0.2 - np.array([1e-9, 1e-6])
    np.testing.assert_allclose(made.positive_loss(at), [measure.positive_loss(s) for s in at], rtol=1e-13, atol=0)


@pytest.mark.parametrize("median", [1e-6, 1 - 1e-6])
def test_shifted_keeps_its_digits_for_medians_near_0_and_1(median):
    measure = Measure(oracles.shifted(median))
    made, at = costs.Shifted(median), [1e-7, 1e-6, 0.5, 1 - 1e-6, 1 - 1e-7]
    np.testing.assert_allclose(made.negative_loss(at), [measure.negative_loss(s) for s in at], rtol=1e-13, atol=0)
    np.testing.assert_allclose(made.positive_loss(at), [measure.positive_loss(s) for s in at], rtol=1e-13, atol=0)


@pytest.mark.parametrize("median", [1e-200, 1e-300, 2.3e-308])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.0, 0.3), (1e-310, 1e-200)])
def test_shifted_keeps_its_digits_for_medians_whose_squares_vanish(median, low, high):
    made = costs.Shifted(median, low, high)
    with localcontext(prec=700):  # the distribution function, and the antiderivative of c times the density
        m, first, last = Decimal(median), Decimal(low), Decimal(high)
        k = 1 - 2 * m
        below = [c * (1 - m) / (m + k * c) for c in (first, last)]
        inner = [m * (1 - m) / k**2 * ((m + k * c).ln() + m / (m + k * c)) for c in (first, last)]
        mass, moment = below[1] - below[0], inner[1] - inner[0]
    np.testing.assert_allclose(made.mass, float(mass), rtol=1e-14, atol=0)
    np.testing.assert_allclose(made.negative_loss(1.0), float(moment), rtol=1e-14, atol=1e-307)
    np.testing.assert_allclose(made.positive_loss(0.0), float(mass - moment), rtol=1e-14, atol=1e-307)


@pytest.mark.parametrize(("a", "b", "low", "high"), [(30, 300, 0.3, 0.301), (1, 50, 0.4, 0.45)])
def test_beta_keeps_its_digits_in_an_interval_beyond_its_bulk(a, b, low, high):
    measure = Measure(oracles.beta(a, b), low, high)
    assert costs.Beta(a, b, low, high).mass == pytest.approx(measure.mass(), rel=1e-11, abs=0)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_density_that_is_infinite_at_its_end_can_be_flipped():
    case = BY_NAME["density-singular-at-0"]
    assert case.costs.flip().mass == pytest.approx(case.measure.mass(), rel=1e-7)


def test_density_finds_a_bell_of_a_hundred_thousandth_of_the_range():
    made = costs.Density(lambda c: np.exp(-(((c - 0.1234) / 1e-5) ** 2)), 0, 1)
    assert made.mass == pytest.approx(1e-5 * np.sqrt(np.pi), rel=1e-9)


def test_density_that_vanishes_is_refused():
    with pytest.raises(ValueError, match="pdf"):
        costs.Density(lambda c: 0.0 * c, 0, 1)


def test_density_finds_a_bell_of_a_thousandth_of_the_range():
    made = costs.Density(lambda c: np.exp(-(((c - 0.1234) / 1e-3) ** 2)), 0, 1)
    assert made.mass == pytest.approx(1e-3 * np.sqrt(np.pi), rel=1e-12)


def test_density_integrates_a_step_exactly():
    made = costs.Density(lambda c: np.where(c < 1 / 3, 3.0, 0.0), 0.0, 1.0)
    assert made.mass == pytest.approx(1.0, rel=1e-12)
    assert made.negative_loss(0.5) == pytest.approx(1 / 6, rel=1e-12)


@pytest.mark.parametrize("jump", [0.5 + 1e-7, 0.5 - 1e-9, 0.5 + 1 / 8192 + 1e-8, 0.25 + 1e-12, 1e-7, 1 - 1e-8])
def test_density_sees_a_jump_that_falls_between_the_end_of_a_panel_and_its_first_node(jump):
    made = costs.Density(lambda c: np.where(c < jump, 1.0, 3.0), 0.0, 1.0)
    at = np.clip(jump + np.array([-1.0, -1e-3, -1e-7, -1e-9, 0.0, 1e-9, 1e-7, 1e-3, 1.0]), 0.0, 1.0)
    exact = 0.5 * np.minimum(at, jump) ** 2 + 1.5 * (np.maximum(at, jump) ** 2 - jump**2)
    np.testing.assert_allclose(made.negative_loss(at), exact, rtol=0, atol=1e-12 * made.mass)


def test_density_that_is_infinite_at_0_has_losses_down_to_the_smallest_number():
    made = costs.Density(lambda c: c**-0.5, 0.0, 1.0)
    assert made.negative_loss(5e-324) == 0.0  # (2/3) c^(3/2) = 7e-486
    assert made.negative_loss(1e-10) == pytest.approx(2 / 3 * 1e-15, rel=1e-9)
    assert made.positive_loss([0.0, 5e-324]) == pytest.approx(4 / 3, abs=1e-12)


# -------------------------------------------------------------------------------------- identities between rows
@given(distributions(), scores(), scores())
def test_losses_are_monotone_and_never_negative(made, first, second):
    low, high = sorted([first, second])
    assert 0.0 <= made.negative_loss(low) <= made.negative_loss(high) * (1 + 1e-13)
    assert 0.0 <= made.positive_loss(high) <= made.positive_loss(low) * (1 + 1e-13)


@given(distributions())
def test_acting_on_all_negatives_and_waiting_on_all_positives_costs_the_mass(made):
    total = float(made.negative_loss(np.inf)) + float(made.positive_loss(-np.inf))
    assert total == pytest.approx(made.mass, rel=1e-12)


@given(distributions(), st.lists(scores(), min_size=1, max_size=5))
def test_scores_outside_the_bounds_cost_what_the_bounds_cost(made, at):
    below, above = np.minimum(at, made.low), np.maximum(at, made.high)
    if made.atoms[0].size == 0:
        np.testing.assert_allclose(made.negative_loss(below), 0.0, atol=1e-16)
        np.testing.assert_allclose(made.positive_loss(above), 0.0, atol=1e-16)
    always, never = made.negative_loss(np.inf), made.positive_loss(-np.inf)
    np.testing.assert_allclose(made.negative_loss(np.nextafter(above, 2)), always, rtol=1e-13)
    np.testing.assert_allclose(made.positive_loss(np.nextafter(below, -1)), never, rtol=1e-13)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (costs.Beta(1, 1, 0.05, 0.2), costs.Uniform(0.05, 0.2)),
        (costs.Beta(1, 1), costs.Uniform()),
        (costs.Shifted(0.5, 0.05, 0.2), costs.Uniform(0.05, 0.2)),
        (costs.PiecewiseLinear([0.05, 0.1, 0.2], [1, 1, 1]), costs.Uniform(0.05, 0.2)),
        (costs.Density(lambda _: 1.0, 0.05, 0.2), costs.Uniform(0.05, 0.2)),
        (costs.Empirical([0.25], tie=0.5), costs.Fixed(0.25, tie=0.5)),
        (costs.Beta(1, 1).flip(), costs.Uniform()),
    ],
    ids=short,
)
def test_families_meet_where_they_describe_the_same_measure(one, other):
    at = np.linspace(0, 1, 41)
    np.testing.assert_allclose(one.negative_loss(at), other.negative_loss(at), rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(one.positive_loss(at), other.positive_loss(at), rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize(
    ("made", "score", "negative", "positive"),
    [
        # Brier and log loss of one forecast, halved where the factor is 2
        (costs.Uniform(), 0.3, 0.3**2 / 2, 0.7**2 / 2),
        (costs.LogOddsUniform(), 0.3, -np.log(0.7), -np.log(0.3)),
        # arXiv:2504.04528 Theorem 3.7: L(s, 0) = -log(1 - s) - s; L(s, 1) printed s, true 1 - s (its sign)
        (costs.NetBenefitUniform(), 0.3, -np.log(0.7) - 0.3, 0.7),
        # accuracy is 1 - 2 R(1/2), Proposition 2.3
        (costs.Fixed(0.5), 0.5, 0.5, 0.0),
        (costs.Fixed(0.5, tie=0.5), 0.5, 0.25, 0.25),
        (costs.Fixed(0.5, tie=0.0), 0.5, 0.0, 0.5),
        # Hand (2009), Beta(2, 2): 6 c (1 - c), moments by hand
        (costs.Beta(2, 2), 0.5, 6 * (1 / 24 - 1 / 64), 6 * (1 / 24 - 1 / 64)),
    ],
    ids=short,
)
def test_published_losses_of_one_row(made, score, negative, positive):
    assert float(made.negative_loss(score)) == pytest.approx(negative, rel=1e-14, abs=0)
    assert float(made.positive_loss(score)) == pytest.approx(positive, rel=1e-14, abs=0)


def test_shifted_mean_is_the_closed_form_of_the_corrected_theorem():
    # errata E13: mu (1 - mu) / (1 - 2 mu)^2 [log((1 - mu) / mu) + mu / (1 - mu) - 1] = 0.212 for mu = 1/8
    expected = 7 / 36 * (np.log(7) + 1 / 7 - 1)
    assert costs.Shifted(1 / 8).mean() == pytest.approx(expected, rel=1e-14)
