"""Blocks of the isotonic fit against its definition in exact fractions, whoever finds them."""

import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from stakes.base import numerics as pav


def fitted(positives, negatives):
    """Isotonic rates by the min-max formula."""
    n = len(positives)
    sums = [[Fraction(0)] for _ in range(2)]
    for line, column in zip(sums, (positives, negatives), strict=True):
        for value in column:
            line.append(line[-1] + Fraction(value))

    def rate(start, stop):
        hits, misses = (line[stop] - line[start] for line in sums)
        return hits / (hits + misses)

    return [max(min(rate(s, t + 1) for t in range(i, n)) for s in range(i + 1)) for i in range(n)]


cells = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=1, max_size=25)


@pytest.mark.parametrize("few", [0, 1 << 14], ids=["the library", "one after the other"])
@given(cells=cells)
def test_blocks_are_the_levels_of_the_isotonic_fit(few, cells):
    positives, negatives = (np.array(column, dtype=float) for column in zip(*cells, strict=True))
    rates = fitted(*zip(*cells, strict=True))
    expected = [0, *(i + 1 for i, (one, two) in enumerate(pairwise(rates)) if two > one)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pav, "_FEW", few)
        assert pav.pav_starts(positives, negatives).tolist() == expected


def test_a_few_blocks_need_no_optimiser():
    rng = np.random.default_rng(1)
    positives = rng.integers(0, 3, 5000).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "scipy.optimize", None)  # an import of it would fail
        assert len(pav.pav_starts(positives, 3.0 - positives + 1.0)) > 1


def test_neighbours_of_one_rate_are_one_block():
    hits, misses = np.array([1.0, 2.0, 1.0, 3.0, 3.0]), np.array([3.0, 6.0, 1.0, 3.0, 1.0])
    assert pav.pav_starts(hits, misses).tolist() == [0, 2, 4]
