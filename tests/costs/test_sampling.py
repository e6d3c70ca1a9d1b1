"""Drawn cost ratios follow the normalised measure (fixed seeds)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from cost_cases import PROPER
from scipy.stats import chisquare, ks_1samp

from stakes import costs

DRAWS, CELLS, UNLIKELY = 4000, 25, 1e-4


def cell_probabilities(measure, edges):
    """Probability of each half-open cell [edge, next edge), from quadrature and the atoms."""
    inside = [measure.mass(a, b) for a, b in pairwise(edges)]
    return np.array(inside) / sum(inside)


@pytest.mark.parametrize("case", [c for c in PROPER if not c.costs.atoms[0].size], ids=str)
def test_draws_fill_cells_in_proportion_to_their_weight(case):
    drawn = case.costs.sample(DRAWS, random_state=7)
    assert drawn.shape == (DRAWS,)
    assert case.costs.low <= drawn.min() < drawn.max() <= case.costs.high
    edges = np.unique(np.quantile(drawn, np.linspace(0, 1, CELLS + 1)).round(6))
    edges[0], edges[-1] = case.costs.low, case.costs.high
    expected = DRAWS * cell_probabilities(case.measure, edges.tolist())
    found = np.histogram(case.costs.sample(DRAWS, random_state=8), edges)[0]
    assert chisquare(found, expected).pvalue > UNLIKELY
    spread = drawn.std() / np.sqrt(DRAWS)
    assert drawn.mean() == pytest.approx(case.costs.mean(), abs=4 * spread)


@pytest.mark.parametrize(
    ("made", "cdf"),
    [
        (costs.Uniform(0.02, 0.1), lambda c: (c - 0.02) / 0.08),
        (costs.LogOddsUniform(0.1, 0.5), lambda c: np.log(9 * c / (1 - c)) / np.log(9)),
        (costs.NetBenefitUniform(0.2, 0.6), lambda c: np.log(0.8 / (1 - c)) / np.log(2)),
        (costs.NetBenefitUniform(0.2, 0.6).flip(), lambda c: np.log(c / 0.4) / np.log(2)),
        (costs.Shifted(0.125), lambda c: c * 0.875 / (0.125 + 0.75 * c)),
        (costs.Beta(2, 2), lambda c: c * c * (3 - 2 * c)),
        (costs.Beta(2, 2, 0, 0.5), lambda c: 2 * c * c * (3 - 2 * c)),
        # a tail of 6 x 10^-19 of the mass on either side
        (costs.Beta(1, 60, 0.5, 0.51), lambda c: (1 - (2 - 2 * c) ** 60) / (1 - 0.98**60)),
        (costs.Beta(60, 1, 0.49, 0.5), lambda c: (c**60 - 0.49**60) / (0.5**60 - 0.49**60)),
        (costs.Triangular(0.0, 0.5, 1.0), lambda c: np.where(c < 0.5, 2 * c * c, 1 - 2 * (1 - c) ** 2)),
        (costs.Density(lambda c: 2 * c, 0, 1), lambda c: c * c),
        (costs.Density(lambda c: 2 * c, 0, 1).flip(), lambda c: 1 - (1 - c) ** 2),
        (
            costs.Mixture([costs.Uniform(0, 0.5), costs.Uniform(0.5, 1)], [1, 3]),
            lambda c: np.maximum(c / 2, 1.5 * c - 0.5),
        ),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_draws_pass_kolmogorov_and_smirnov_against_the_distribution_function(made, cdf):
    assert ks_1samp(made.sample(DRAWS, random_state=3), cdf).pvalue > UNLIKELY


@pytest.mark.parametrize("case", [c for c in PROPER if c.costs.atoms[0].size], ids=str)
def test_atoms_are_drawn_in_proportion_to_their_weight(case):
    drawn = case.costs.sample(DRAWS, random_state=5)
    values, weights = case.costs.atoms
    expected = np.array([case.measure.mass(v, v) for v in values]) / case.measure.mass()
    np.testing.assert_allclose(weights / case.costs.mass, expected, rtol=1e-12)
    found = np.array([np.count_nonzero(drawn == v) for v in values])
    counts, shares = np.append(found, DRAWS - found.sum()), np.append(expected, max(1 - expected.sum(), 0.0))
    used = shares > 1e-12
    assert counts[~used].sum() == 0
    if used.sum() > 1:
        assert chisquare(counts[used], DRAWS * shares[used] / shares[used].sum()).pvalue > UNLIKELY


@pytest.mark.parametrize("case", PROPER, ids=str)
def test_the_same_seed_draws_the_same(case):
    first = case.costs.sample(50, random_state=1)
    np.testing.assert_array_equal(first, case.costs.sample(50, random_state=np.random.default_rng(1)))
    if case.costs.low < case.costs.high:
        assert not np.array_equal(first, case.costs.sample(50, random_state=2))


def test_a_generator_and_a_random_state_move_on_between_draws():
    for state in (np.random.default_rng(0), np.random.RandomState(0)):
        assert not np.array_equal(costs.Uniform().sample(5, state), costs.Uniform().sample(5, state))
    old = [costs.Uniform().sample(5, np.random.RandomState(3)) for _ in range(2)]
    np.testing.assert_array_equal(*old)


def test_no_draws_are_no_draws():
    assert costs.Mixture([costs.Uniform(), costs.Fixed(0.1)], [1, 1]).sample(0, 1).shape == (0,)


@pytest.mark.parametrize("size", [-1, 2.5, "3", None, True, (2, 3)])
def test_how_many_to_draw_is_a_whole_number(size):
    with pytest.raises(ValueError, match=r"^size must be a (whole )?number"):
        costs.Uniform().sample(size)


@pytest.mark.parametrize("state", [-1, 1.5, "x", True])
def test_what_seeds_draws_is_named(state):
    with pytest.raises(ValueError, match=r"^random_state must be a whole number"):
        costs.Fixed(0.1).sample(1, random_state=state)
