"""The reliability curve is isotonic regression of the labels on the scores, ties pooled first."""

import numpy as np
import pytest
from hypothesis import given
from sklearn.isotonic import IsotonicRegression
from strategies import samples

from stakes import reliability_curve


@given(samples())
def test_curve_passes_through_the_isotonic_fit_at_every_score(sample):
    weight = np.ones(len(sample.y)) if sample.weight is None else np.asarray(sample.weight)
    keep = weight > 0
    s, y, weight = np.asarray(sample.score)[keep] + 0.0, np.asarray(sample.y)[keep], weight[keep]
    curve = reliability_curve(sample.y, sample.score, sample_weight=sample.weight)
    levels, index = np.unique(s, return_inverse=True)
    mass = np.bincount(index, weight)
    rate = np.bincount(index, weight * y) / mass
    # another implementation, on levels pooled by hand (ranks as x: it cannot tell subnormal scores apart)
    fit = IsotonicRegression().fit(np.arange(len(levels)), rate, sample_weight=mass)
    np.testing.assert_allclose(curve.at(levels), fit.predict(np.arange(len(levels))), atol=1e-12)


def test_curve_is_linear_between_blocks_and_flat_within():
    curve = reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8])
    assert curve.at([0.1, 0.2, 0.3, 0.35, 0.4, 0.6, 0.8]).tolist() == pytest.approx([0, 0.25, 0.5, 0.5, 0.5, 0.75, 1])


def test_curve_ends_at_the_observed_scores():
    with pytest.raises(ValueError, match=r"reliability exists for score in \[0.1, 0.8\], got 0.9"):
        reliability_curve([0, 1], [0.1, 0.8]).at(0.9)


def test_one_score_gives_one_point():
    curve = reliability_curve([0, 1, 1, 1], [0.4] * 4)
    assert float(curve.at(0.4)) == 0.75
    assert curve.block_weight.tolist() == [4.0]


def test_steep_steps_between_nearly_equal_scores_stay_exact():
    low, high = 0.5, np.nextafter(0.5, 1.0)
    curve = reliability_curve([0, 0, 1, 1, 0, 1], [low, low, high, high, low, high])
    assert curve.at([low, high]).tolist() == [0.0, 1.0]


def test_blocks_hold_their_weight_and_range():
    curve = reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8], sample_weight=[1, 2, 2, 4])
    assert curve.block_low.tolist() == [0.1, 0.3, 0.8]
    assert curve.block_high.tolist() == [0.1, 0.4, 0.8]
    assert curve.block_rate.tolist() == [0.0, 0.5, 1.0]
    assert curve.block_weight.tolist() == [1.0, 4.0, 4.0]
