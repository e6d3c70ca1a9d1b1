"""Blocks of rows give the curve that one row after the other would: exact sums and exponential sums are the oracles."""

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from stakes.utility import F1, MCC, FBeta, GMean, HMean, expected_utility
from stakes.utility._summation import elementary, terms

RNG = np.random.default_rng(11)


def batches(n):
    u = RNG.random(n)
    return {
        "uniform": u,
        "rare": u * 1e-5,
        "a few positives": u * 10.0 / n,
        "fifty positives": u * 100.0 / n,
        "nearly certain": np.where(RNG.random(n) < 0.5, u * 20.0 / n, 1.0 - u * 20.0 / n),
        "certain": (u < 0.3).astype(float),
        "certain but for a tenth": np.where(u < 0.45, 0.0, np.where(u < 0.9, 1.0, RNG.random(n))),
        "five levels": RNG.choice([0.1, 0.2, 0.45, 0.8, 0.97], n),
        "one level": np.full(n, 0.5),
    }


def one_in_two(n, first):
    """Every second batch; the others with the long tests."""
    marks = [(), pytest.mark.thorough]
    return [pytest.param(*case, marks=marks[(place + first) % 2]) for place, case in enumerate(batches(n).items())]


@pytest.mark.parametrize(("name", "p"), one_in_two(1200, first=0))
def test_blocks_agree_with_the_sum_over_both_counts(name, p):
    for measure in (GMean(), HMean()):
        found, exact = (expected_utility(p, measure, zero_division=1, method=way) for way in ("gauss", "exact"))
        error = np.abs(found.curve - exact.curve).max()
        assert error <= min(1e-13, found.error_bound + exact.error_bound), name


@pytest.mark.parametrize(("name", "p"), one_in_two(20_000, first=1))
def test_blocks_agree_with_sums_of_exponentials_and_fourier_frequencies(name, p):
    for measure in (F1(), FBeta(0.5), MCC()):
        found, other = (expected_utility(p, measure, method=way) for way in ("gauss", "auto"))
        error = np.abs(found.curve - other.curve).max()
        assert error <= min(2e-13, found.error_bound + other.error_bound), (name, measure)


def test_long_blocks_of_many_rows_agree_with_sums_of_exponentials():
    u = np.random.default_rng(12).random(200_000)
    for p in (u * 5e-4, u * 1e-6, u**20, np.where(u < 0.5, 0.0, 1.0 - u * 1e-4)):
        found, other = (expected_utility(p, F1(), method=way) for way in ("gauss", "auto"))
        assert np.abs(found.curve - other.curve).max() <= min(2e-13, found.error_bound + other.error_bound)


def test_power_sums_give_elementary_symmetric_polynomials():
    chances = RNG.random(9) * 0.05
    brute = [sum(math.prod(some) for some in combinations(chances, m)) for m in range(10)]
    np.testing.assert_allclose(elementary(chances, 9), brute, rtol=0.0, atol=1e-17)


def test_mirror_image_has_the_mirrored_curve():
    p = np.where(RNG.random(5000) < 0.5, RNG.random(5000) * 1e-3, RNG.random(5000))
    for measure in (GMean(), HMean()):
        one, two = (expected_utility(x, measure).curve for x in (p, 1.0 - p))
        np.testing.assert_allclose(one, two[::-1], rtol=0.0, atol=1e-13)


def test_sure_rows_cost_no_more_than_others(monkeypatch):
    from stakes.utility._summation import ThinBlock

    blocks = []
    added = ThinBlock.added_to
    monkeypatch.setattr(ThinBlock, "added_to", lambda *a: blocks.append(a[0]) or added(*a))
    for n in (10**4, 10**5):
        blocks.clear()
        expected_utility((np.arange(n) % 3 == 0).astype(float), GMean())
        assert len(blocks) < 500 + n / 1000


def test_cumulants_of_a_row_follow_by_their_recursion():
    p = np.array([0.02, 0.3, 0.5, 0.91])
    cumulant, found = Polynomial([0.0, 1.0]), terms(p, 1.0 - p)
    assert found[1] == pytest.approx(1.0 - p)
    for row in [found[0], *found[2:]]:  # the next is p (1 - p) times the derivative
        assert row == pytest.approx(cumulant(p), rel=1e-10)
        cumulant = Polynomial([0.0, 1.0, -1.0]) * cumulant.deriv()
