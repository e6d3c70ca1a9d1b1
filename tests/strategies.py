"""Hypothesis strategies shared by the tests: labelled scores with ties, ends, zero weights and single classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from stakes import costs

# Sixteenths tie often, and 1 - score, sums of weights and their products are exact.
GRID = st.sampled_from([i / 16 for i in range(17)])
EXTREME = st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1e-310, 1e-17, 0.1, 0.30000000000000004, 1 - 2**-53])


def scores():
    """Scores in [0, 1]: tied, at 0 and 1, subnormal, or anything."""
    return st.one_of(GRID, EXTREME, st.floats(0.0, 1.0))


def weights():
    """Weights with zeros; all but one in ten are small dyadic numbers, whose sums are exact."""
    return st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 3.0]), st.floats(1e-3, 1e3))


@dataclass(frozen=True)
class Sample:
    y: list
    score: list
    weight: list | None

    @property
    def total(self):
        return float(len(self.y)) if self.weight is None else float(np.sum(self.weight))


@st.composite
def samples(draw, score=None, weight=None, max_size=12):
    """Rows of one classifier; often one class only, often without weights, never of weight zero altogether."""
    rows = draw(st.integers(1, max_size))
    labels = draw(st.sampled_from([(0,), (1,), (0, 1), (0, 1), (0, 1)]))
    y = draw(st.lists(st.sampled_from(labels), min_size=rows, max_size=rows))
    s = draw(st.lists(scores() if score is None else score, min_size=rows, max_size=rows))
    w = None
    if draw(st.booleans()):
        w = draw(st.lists(weights() if weight is None else weight, min_size=rows, max_size=rows).filter(any))
    return Sample(y, s, w)


def intervals(least=2**-10):
    """Bounds 0 <= low < high <= 1 on the grid or anywhere (0 or a normal number)."""
    bound = st.one_of(GRID, st.floats(0.0, 1.0, allow_subnormal=False))
    pair = st.tuples(bound, bound)
    return pair.map(sorted).filter(lambda ends: ends[1] - ends[0] >= least).map(tuple)


def atoms():
    """Measures with weight on single cost ratios, off and on the grid, with any tie rule."""
    tie = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    fixed = st.builds(costs.Fixed, GRID, tie)
    stated = st.lists(st.one_of(GRID, st.floats(0.0, 1.0)), min_size=1, max_size=5)
    return st.one_of(fixed, st.builds(costs.Empirical, stated, tie=tie))


def continuous():
    """Measures with a density: every family, whole or bounded."""
    bounded = [
        intervals().map(lambda ends: costs.Uniform(*ends)),
        intervals().map(lambda ends: costs.LogOddsUniform(*ends)),
        intervals().map(lambda ends: costs.NetBenefitUniform(*ends)),
        intervals().map(lambda ends: costs.NetBenefitUniform(*ends).flip()),
        st.builds(
            lambda a, b, ends: costs.Beta(a, b, *ends), st.floats(0.25, 12), st.floats(0.25, 12), intervals(0.125)
        ),
        st.builds(lambda m, ends: costs.Shifted(m, *ends), st.floats(0.01, 0.99), intervals()),
        st.builds(lambda share, ends: _triangular(share, *ends), st.floats(0.0, 1.0), intervals()),
    ]
    return st.one_of(bounded)


def _triangular(share, low, high):
    return costs.Triangular(low, min(max(low + share * (high - low), low), high), high)


def distributions():
    """Any cost distribution, sums of unlike ones among them."""
    single = st.one_of(continuous(), atoms())
    factor = st.sampled_from([0.25, 1.0, 3.0])
    return st.one_of(single, st.builds(lambda k, first, second: k * first + second, factor, single, single))
