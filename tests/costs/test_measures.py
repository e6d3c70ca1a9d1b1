"""Restricting, flipping, scaling, adding and mixing cost distributions: what each makes of the measure."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cost_cases import BY_NAME, CASES, PROPER, scores_that_matter
from hypothesis import assume, given, strategies as st
from scipy import integrate, special
from strategies import GRID, atoms, continuous, distributions, intervals, scores

from stakes import costs
from stakes.metrics import cost_matrix_loss

AT = np.array([0.0, 1 / 16, 0.1, 1 / 8, 0.3, 1 / 2, 0.8, 15 / 16, 1.0])
all_cases = pytest.mark.parametrize("case", CASES, ids=str)

# 1 - c is exact for these, so that nothing but the swap of the classes can show
DYADIC = [
    costs.Uniform(0.0625, 0.25),
    costs.LogOddsUniform(0.125, 0.5),
    costs.LogOddsUniform(0, 1),
    costs.NetBenefitUniform(0.125, 0.5),
    costs.NetBenefitUniform(0, 1),
    costs.Beta(2, 8, 0.0625, 0.5),
    costs.Beta(0.5, 1.5),
    costs.Shifted(0.125),
    costs.Shifted(0.75, 0.25, 0.5),
    costs.Fixed(0.25),
    costs.Fixed(0.5, tie=0.25),
    costs.Fixed(0.0, tie=0.5),
    costs.Empirical([0.125, 0.25, 0.75], [1, 2, 5], tie=0.0),
    costs.Empirical([0.0, 0.5, 1.0], tie=0.75),
    costs.Triangular(0.125, 0.25, 0.75),
    costs.PiecewiseLinear([0, 0.125, 1], [3, 0, 2]),
    costs.Density(lambda c: np.exp(-8 * c), 0.0, 0.75),
    4 * costs.Uniform() + costs.Fixed(0.5, tie=0.5),
    0.5 * costs.LogOddsUniform(0.125, 0.5) + costs.Fixed(0.25, tie=0),
]
dyadic = pytest.mark.parametrize("made", DYADIC, ids=lambda made: made.kind)


def same_measure(one, other, at=AT, rtol=1e-12):
    np.testing.assert_allclose(one.negative_loss(at), other.negative_loss(at), rtol=rtol, atol=1e-15)
    np.testing.assert_allclose(one.positive_loss(at), other.positive_loss(at), rtol=rtol, atol=1e-15)


# --------------------------------------------------------------------------------------------------- restricting
@all_cases
def test_restricting_keeps_what_lies_in_the_closed_interval(case):
    low = 0.5 * (case.costs.low + case.costs.high) if case.costs.low < case.costs.high else case.costs.low
    for ends in ((low, 1.0), (0.0, low)):
        if case.measure.mass(*ends) == 0:
            continue
        part = case.costs.restrict(*ends)
        assert part.mass == pytest.approx(case.measure.mass(*ends), rel=1e-12)
        assert ends[0] <= part.low <= part.high <= ends[1]
    if np.isfinite(case.costs.mass) and not part.atoms[0].size:  # part lies below `low`
        below = case.measure.negative_loss(low)
        assert float(part.negative_loss(np.inf)) == pytest.approx(below, rel=1e-12)


@given(distributions(), intervals(), st.floats(0.05, 0.95))
def test_two_parts_cost_as_much_as_the_whole(made, ends, share):
    low, high = ends
    cut = low + (high - low) * share
    assume(low < cut < high and cut not in made.atoms[0])

    def loss(*bounds):
        try:
            part = made.restrict(*bounds)
        except ValueError as error:  # there is nothing in that part
            assert "must overlap" in str(error) or "must hold a cost ratio" in str(error)  # noqa: PT017
            return np.zeros(2 * len(AT))
        return np.concatenate([part.negative_loss(AT), part.positive_loss(AT)])

    np.testing.assert_allclose(loss(low, cut) + loss(cut, high), loss(low, high), rtol=1e-11, atol=1e-14)


def test_an_atom_on_the_cut_belongs_to_both_closed_parts():
    people = costs.Empirical([0.1, 0.2, 0.3], [1, 2, 1])
    assert (people.restrict(0.0, 0.2).mass, people.restrict(0.2, 1.0).mass) == (0.75, 0.75)
    np.testing.assert_array_equal(people.restrict(0.2, 1.0).atoms[0], [0.2, 0.3])
    assert people.restrict(0.2, 0.2).mass == 0.5
    assert costs.Fixed(0.2).restrict(0.2, 0.2) == costs.Fixed(0.2)


@given(distributions(), intervals())
def test_restricting_is_not_renormalising(made, ends):
    try:
        part = made.restrict(*ends)
    except ValueError:
        assume(False)  # noqa: FBT003
    inside = np.linspace(*ends, 7)
    gained = np.diff(part.negative_loss(inside)), -np.diff(part.positive_loss(inside))
    whole = np.diff(made.negative_loss(inside)), -np.diff(made.positive_loss(inside))
    for some, total in zip(gained, whole, strict=True):
        both = np.isfinite(some) & np.isfinite(total)
        np.testing.assert_allclose(some[both], total[both], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(
    ("made", "ends"),
    [
        (costs.Uniform(0.2, 0.4), (0.5, 0.6)),
        (costs.Uniform(0.2, 0.4), (0.4, 0.6)),
        (costs.Beta(2, 8, 0.0, 0.1), (0.2, 0.3)),
        (costs.Triangular(0.2, 0.3, 0.4), (0.0, 0.1)),
        (costs.NetBenefitUniform(0.2, 0.4).flip(), (0.1, 0.2)),
        (costs.Fixed(0.1), (0.2, 0.3)),
        (costs.Empirical([0.1, 0.5]), (0.2, 0.3)),
        (costs.Fixed(0.1) + costs.Uniform(0.5, 0.75), (0.2, 0.3)),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_restricting_to_nothing_is_an_error_that_names_the_interval(made, ends):
    with pytest.raises(ValueError, match=rf"\[low, high\] must (overlap|hold).*, got \({ends[0]}, {ends[1]}\)"):
        made.restrict(*ends)


@pytest.mark.parametrize("ends", [(0.3, 0.2), (-0.1, 0.5), (0.5, 1.1), (float("nan"), 0.5), (0.1, float("nan"))])
@pytest.mark.parametrize("made", [costs.Uniform(), costs.Empirical([0.1, 0.4]), 2 * costs.Uniform()], ids=repr)
def test_restricting_to_bad_bounds_is_an_error(made, ends):
    with pytest.raises(ValueError, match=r"low, high must satisfy 0 <= low < high <= 1, got"):
        made.restrict(*ends)


def test_restricting_a_sum_drops_the_parts_outside():
    both = costs.Uniform(0.1, 0.2) + costs.Fixed(0.5) + 2 * costs.Fixed(0.2)
    part = both.restrict(0.0, 0.2)
    assert part.mass == pytest.approx(2.1)
    assert part.high == 0.2
    assert both.restrict(0.2, 0.4).mass == 2.0  # one point of a density weighs nothing


def test_restricting_a_sum_between_two_stated_thresholds_drops_them():
    both = costs.Uniform(0, 1) + costs.Empirical([0.1, 0.9])
    assert both.restrict(0.25, 0.75) == 1.0 * costs.Uniform(0.25, 0.75)


def test_restricting_a_sum_to_one_of_its_atoms():
    assert (costs.Fixed(0.1) + costs.Fixed(0.2)).restrict(0.1, 0.1).mass == 1.0


def test_restricting_stated_thresholds_to_everything_changes_nothing():
    rng = np.random.default_rng(0)
    for _ in range(20):
        people = costs.Empirical(rng.random(7), rng.random(7))
        assert people.restrict(0, 1) == people


# ------------------------------------------------------------------------------------------------------ flipping
@dyadic
def test_flipping_swaps_the_classes(made):
    flipped = made.flip()
    at = np.arange(65) / 64
    np.testing.assert_allclose(flipped.negative_loss(1 - at), made.positive_loss(at), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(flipped.positive_loss(1 - at), made.negative_loss(at), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(flipped.density(1 - at[1:-1]), made.density(at[1:-1]), rtol=1e-13)
    assert flipped.mass == pytest.approx(made.mass, rel=1e-14)
    assert (flipped.low, flipped.high) == (1 - made.high, 1 - made.low)


@dyadic
def test_flipping_twice_changes_nothing(made):
    twice = made.flip().flip()
    same_measure(twice, made, at=np.arange(65) / 64, rtol=1e-14)
    assert isinstance(made, costs.Density) or twice == made


@given(continuous(), GRID)
def test_flipping_a_density_swaps_the_classes_at_any_bounds(made, score):
    assume(made.low == 0 or made.low > 1e-3)
    flipped = made.flip()
    assert float(flipped.negative_loss(1 - score)) == pytest.approx(float(made.positive_loss(score)), rel=1e-9)
    assert float(flipped.positive_loss(1 - score)) == pytest.approx(float(made.negative_loss(score)), rel=1e-9)


@given(atoms(), st.floats(0, 1))
def test_flipping_atoms_swaps_the_classes_at_the_atoms_themselves(made, score):
    at = np.append(made.atoms[0], score)
    others = np.setdiff1d(1 - made.atoms[0], 1 - at)
    assume(others.size == 0 and np.unique(1 - made.atoms[0]).size == made.atoms[0].size)
    assume(score in made.atoms[0] or 1 - score not in 1 - made.atoms[0])
    flipped = made.flip()
    np.testing.assert_allclose(flipped.negative_loss(1 - at), made.positive_loss(at), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(flipped.positive_loss(1 - at), made.negative_loss(at), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("tie", "flipped"), [(1.0, 0.0), (0.25, 0.75), (0.5, 0.5)])
def test_flipping_turns_the_tie_rule_round(tie, flipped):
    assert costs.Fixed(0.25, tie).flip() == costs.Fixed(0.75, flipped)
    assert costs.Empirical([0.25], tie=tie).flip().tie == flipped


def test_flipped_sums_and_restrictions_stay_flipped():
    both = (costs.NetBenefitUniform(0.125, 0.5) + costs.Fixed(0.25)).flip()
    part = both.restrict(0.5, 0.625)
    assert part.mass == pytest.approx(np.log(0.625 / 0.5), rel=1e-14)
    np.testing.assert_array_equal(both.atoms[0], [0.75])
    assert both.restrict(0.75, 0.875).mass == pytest.approx(np.log(0.875 / 0.75) + 1, rel=1e-14)


# -------------------------------------------------------------------------------------- scaling, adding, mixing
@given(distributions(), st.sampled_from([0.25, 1.0, 2.0, 8.0]), scores())
def test_scaling_multiplies_every_moment_and_keeps_the_factor(made, factor, score):
    scaled = factor * made
    assert scaled.negative_loss(score) == pytest.approx(factor * made.negative_loss(score), rel=1e-14)
    assert scaled.positive_loss(score) == pytest.approx(factor * made.positive_loss(score), rel=1e-14)
    assert scaled.mass == pytest.approx(factor * made.mass, rel=1e-14)
    assert scaled.loss_factor == made.loss_factor
    assert (scaled.low, scaled.high) == (made.low, made.high)
    assert scaled == made * factor
    assert (made.mass == np.inf) or scaled.mean() == pytest.approx(made.mean(), rel=1e-12)


@given(distributions(), distributions(), scores())
def test_adding_adds_every_moment(one, other, score):
    both = one + other
    for total, first, second in (
        (both.negative_loss(score), one.negative_loss(score), other.negative_loss(score)),
        (both.positive_loss(score), one.positive_loss(score), other.positive_loss(score)),
        (both.mass, one.mass, other.mass),
        (both.density(0.3), one.density(0.3), other.density(0.3)),
    ):
        assert float(total) == pytest.approx(float(first) + float(second), rel=1e-13)
    assert (both.low, both.high) == (min(one.low, other.low), max(one.high, other.high))
    alike = one.loss_factor == other.loss_factor
    assert both.loss_factor == (one.loss_factor if alike else None)


def test_atoms_of_a_sum_are_pooled_and_sorted():
    both = 2 * costs.Empirical([0.1, 0.5]) + costs.Fixed(0.1) + costs.Uniform() + 3 * costs.Fixed(0.05)
    values, weights = both.atoms
    np.testing.assert_array_equal(values, [0.05, 0.1, 0.5])
    np.testing.assert_allclose(weights, [3.0, 2.0, 1.0])
    assert costs.Uniform().atoms[0].size == 0


@pytest.mark.parametrize("factor", [0, -1.0, float("inf"), float("nan")])
def test_a_factor_must_be_finite_and_positive(factor):
    with pytest.raises(ValueError, match=rf"factor of a cost distribution must be a finite number > 0, got {factor}"):
        factor * costs.Uniform()


@pytest.mark.parametrize("factor", [2.0**600, 1e-200])
def test_factors_whose_product_no_float_holds_are_refused(factor):
    with pytest.raises(
        ValueError, match=rf"^the factors of a cost distribution must multiply to a float, got {re.escape(str(factor))}"
    ):
        factor * (factor * costs.Fixed(0.1))


def test_a_mass_that_no_float_holds_is_infinite():
    assert (1e308 * costs.Fixed(0.1) + 1e308 * costs.Fixed(0.2)).mass == float("inf")


@pytest.mark.parametrize("size", [1.0, 2.0**-1070, 2.0**1023])
def test_weights_of_which_only_the_proportions_count_may_be_of_any_size(size):
    weights = np.array([0.5, 1.0, 0.5]) * size
    stated = costs.Empirical([0.1, 0.2, 0.1], weights)
    np.testing.assert_array_equal(stated.atoms, [[0.1, 0.2], [0.5, 0.5]])
    mixed = costs.Mixture([costs.Fixed(0.1), costs.Fixed(0.2), costs.Fixed(0.3)], weights)
    np.testing.assert_array_equal(mixed.atoms[1], [0.25, 0.5, 0.25])
    matrices = [[[0.0, 1.0], [1.0, 0.0]], [[0.0, 3.0], [1.0, 0.0]], [[0.0, 5.0], [1.0, 0.0]]]
    assert cost_matrix_loss([0], [[0.1, 0.9]], matrices=matrices, matrix_weights=weights) == 3.0


@pytest.mark.parametrize("several", [np.array([1.0, 2.0]), np.array([3.0])])
def test_an_array_of_factors_is_refused_from_either_side(several):
    for product in (lambda: several * costs.Fixed(0.1), lambda: costs.Fixed(0.1) * several):
        with pytest.raises(ValueError, match=r"^the factor of a cost distribution must be a number, got array"):
            product()
    for factor in (np.float64(2.0), np.float32(2.0), np.int8(2), np.array(2.0)):
        assert factor * costs.Fixed(0.1) == costs.Fixed(0.1) * factor == 2 * costs.Fixed(0.1)


def test_adding_something_else_is_a_type_error():
    with pytest.raises(TypeError):
        costs.Uniform() + 1.0


def test_mixture_weighs_parts_by_probability_whatever_their_mass():
    mixed = costs.Mixture([costs.Uniform(0.02, 0.10), costs.Fixed(0.2), costs.Beta(2, 2, 0, 0.5)], [2, 1, 1])
    assert mixed.mass == pytest.approx(1.0, rel=1e-14)
    middle = costs.Beta(2, 2, 0, 0.5).mean()
    assert mixed.mean() == pytest.approx(0.5 * 0.06 + 0.25 * 0.2 + 0.25 * middle, rel=1e-14)
    assert mixed.restrict(0.15, 0.25).mass == pytest.approx(0.25 + 0.25 * (0.15625 - 0.06075) / 0.5)
    scaled = costs.Mixture([7 * costs.Uniform(0.02, 0.10), costs.Fixed(0.2)], [2, 1])
    same_measure(scaled, costs.Mixture([costs.Uniform(0.02, 0.10), costs.Fixed(0.2)], [4, 2]))


def test_mixture_of_a_mixture_keeps_the_inner_shares():
    inner = costs.Mixture([costs.Fixed(0.1), costs.Fixed(0.2)], [1, 3])
    values, weights = costs.Mixture([inner, costs.Fixed(0.5)], [1, 1]).atoms
    np.testing.assert_array_equal(values, [0.1, 0.2, 0.5])
    np.testing.assert_allclose(weights, [0.125, 0.375, 0.5], rtol=1e-14)


@pytest.mark.parametrize("parts", [[], (), costs.Fixed(0.1), [costs.Fixed(0.1), 0.2]])
def test_mixture_needs_a_list_of_parts(parts):
    with pytest.raises(ValueError, match=r"^parts must be a list of one or more cost distributions, got "):
        costs.Mixture(parts, np.ones(2))


@pytest.mark.parametrize(
    "improper",
    [costs.LogOddsUniform(), costs.NetBenefitUniform(0.5, 1), costs.Fixed(0.1) + costs.LogOddsUniform(0, 0.5)],
)
def test_mixture_refuses_a_part_of_infinite_mass(improper):
    with pytest.raises(
        ValueError, match=r"Mixture needs a cost distribution with mass in \(0, inf\), got .* of mass inf"
    ):
        costs.Mixture([costs.Uniform(), improper], [1, 1])


@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [1, 0], [1, -2], [1, float("nan")], [1, float("inf")]])
def test_mixture_needs_one_positive_weight_for_each_part(weights):
    with pytest.raises(ValueError, match=r"weights must hold one finite number > 0 for each part, got \["):
        costs.Mixture([costs.Uniform(), costs.Fixed(0.1)], weights)


@pytest.mark.parametrize("case", PROPER, ids=str)
def test_mixture_of_one_part_is_its_normal_form(case):
    at = [s for s in scores_that_matter(case) if s > 0]
    same_measure(costs.Mixture([case.costs], [5.0]), case.costs.normalized(), at=at)


# ------------------------------------------------------------------------------------------------------ equality
def test_equal_measures_of_one_family_are_equal_and_hash_alike():
    assert costs.Uniform(0, 1) == costs.Uniform(0.0, 1.0)
    assert hash(costs.Beta(2, 8)) == hash(costs.Beta(2.0, 8.0, 0, 1))
    assert costs.Fixed(0.1) != costs.Fixed(0.1, tie=0.5)
    assert costs.Uniform() != costs.LogOddsUniform()
    assert costs.Uniform() != "uniform"
    assert costs.Empirical([0.2, 0.1, 0.2]) == costs.Empirical([0.1, 0.2], [1, 2])
    pdf = BY_NAME["density-bell"].costs.pdf
    assert costs.Density(pdf, 0, 0.5) == costs.Density(pdf, 0, 0.5) != costs.Density(pdf, 0, 0.25)
    assert len({costs.Density(pdf, 0, 0.5), costs.Density(pdf, 0, 0.5)}) == 1


def test_measures_do_not_change_with_the_arrays_around_them():
    knots, heights = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    linear, people = costs.PiecewiseLinear(knots, heights), costs.Empirical([0.1, 0.2])
    heights[0] = 99.0
    assert linear.to_dict()["values"] == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        people.atoms[1][0] = 99.0


@pytest.mark.parametrize("use", [lambda d: costs.Uniform() == d, lambda d: 2 * d == 3 * d, lambda d: hash(2 * d)])
def test_density_can_be_compared_and_hashed_inside_sums(use):
    use(costs.Density(lambda _: 1.0, 0, 1))


def test_a_mirrored_density_is_restricted_in_its_own_cost_ratios():
    # the mirror image of 2 c is 2 (1 - c), which is a Beta density
    mirrored, known = costs.Density(lambda c: 2 * c, 0.0, 1.0).flip(), costs.Beta(1, 2)
    same_measure(mirrored, known)
    for ends in ((0.25, 0.625), (0.0, 0.5), (0.75, 1.0)):
        part = mirrored.restrict(*ends)
        assert (part.low, part.high) == ends
        same_measure(part, known.restrict(*ends))
        same_measure(part.flip(), known.flip().restrict(1.0 - ends[1], 1.0 - ends[0]))
    assert mirrored.density([0.25, 0.5]) == pytest.approx([1.5, 1.0], rel=1e-12)


def test_what_is_held_at_one_cost_ratio_costs_the_odds():
    for c in (0.0, 0.25, 0.5, 1.0):
        for scale, of in (("false_negative", 1.0 - c), ("false_positive", c), ("sum", 0.5)):
            if of == 0.0:
                end = "positives cost infinitely more than stated towards a cost ratio of 1"
                end = end if c else end.replace("positives", "negatives").replace("of 1", "of 0")
                with pytest.raises(costs.NoMeanError, match=f"no finite mean .* false {end}"):
                    costs.held(costs.Fixed(c), scale)
            else:
                found = costs.held(costs.Fixed(c, tie=1.0), scale)
                assert found.mass == pytest.approx(1.0 / of)
                assert float(found.negative_loss(np.inf)) == pytest.approx(c / of)
                assert float(found.positive_loss(-np.inf)) == pytest.approx((1.0 - c) / of)


@pytest.mark.parametrize("scale", ["false_negative", "false_positive", "sum"])
def test_what_is_held_does_not_depend_on_the_mass(scale):
    for law in (costs.Uniform(0.2, 0.6), costs.Empirical([0.2, 0.7], [1.0, 3.0])):
        one, five = costs.held(law * (1.0 / law.mass), scale), costs.held(law * 5.0, scale)
        for s in (0.1, 0.3, 0.65, 1.0):
            assert float(one.negative_loss(s)) == pytest.approx(float(five.negative_loss(s)), rel=1e-12)
            assert float(one.positive_loss(s)) == pytest.approx(float(five.positive_loss(s)), rel=1e-12)


@pytest.mark.parametrize("b", [1.003, 1.05, 1.2, 2.0])
def test_what_is_held_is_right_where_the_density_vanishes_slowly(b):
    # E[c / (1 - c)] = a / (b - 1) for a Beta density; up to s by quadrature for algebraic ends (QUADPACK's QAWS)
    a, s = 2.0, 0.875
    law = costs.Beta(a, b)
    until, _ = integrate.quad(lambda c: (1 - c) ** (b - 2), 0.0, s, weight="alg", wvar=(a, 0))
    until /= special.beta(a, b)
    for found in (costs.held(law, "false_negative"), costs.held(law.flip(), "false_positive").flip()):
        assert found.negative_loss(np.inf) == pytest.approx(a / (b - 1.0), rel=1e-12)
        assert found.negative_loss(s) == pytest.approx(until, rel=1e-12)
        assert found.positive_loss(s) == pytest.approx(special.betaincc(a, b, s), rel=1e-12)


def test_a_mirrored_density_that_vanishes_slowly_is_held_in_its_own_cost_ratios():
    # the density of 1 - c is c**k, so that false positives cost the integral of (1 - c) c**(k - 1)
    for k in (0.05, 0.5):
        found = costs.held(costs.Density(lambda c, k=k: c**k, 0.0, 1.0).flip() * 2.0, "false_negative")
        assert found.negative_loss(np.inf) == pytest.approx((k + 1.0) * (1.0 / k - 1.0 / (k + 1.0)), rel=1e-9)
        assert found.positive_loss(0.5) == pytest.approx(0.5 ** (k + 1.0), rel=1e-12)


def test_measures_are_summed_by_sum_and_by_nothing_else():
    parts = [costs.Uniform(0.1, 0.4), costs.Fixed(0.3), costs.Beta(2, 5)]
    assert sum(parts).mass == pytest.approx(sum(part.mass for part in parts))
    for other in (1, None, 0.5):
        with pytest.raises(TypeError):
            other + parts[0]
        with pytest.raises(TypeError):
            parts[0] + other
