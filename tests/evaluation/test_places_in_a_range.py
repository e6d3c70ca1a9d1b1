"""Where decisions are compared within a range of thresholds: spaced as the costs are weighted, and above zero."""

import numpy as np
import pytest

from stakes import costs
from stakes.evaluation._standings import thresholds_of


@pytest.mark.parametrize(("low", "high"), [(0.05, 0.4), (0.2, 0.9), (0.001, 0.999)])
def test_places_are_even_in_the_weighting(low, high):
    plain, by_odds = thresholds_of(costs.Uniform(low, high)), thresholds_of(costs.LogOddsUniform(low, high))
    for found, place in ((plain, lambda c: c), (by_odds, lambda c: np.log(c / (1.0 - c)))):
        steps = np.diff(place(found))
        assert steps == pytest.approx(np.full(len(steps), steps.mean()), rel=1e-9)
        assert (found[0], found[-1]) == pytest.approx((low, high))


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.4), (0.2, 1.0), (0.0, 1.0)])
@pytest.mark.parametrize("kind", [costs.Uniform, costs.LogOddsUniform])
def test_places_are_finite_up_to_the_ends(kind, low, high):
    found = thresholds_of(kind(low, high))
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) > 0.0)
    assert 0.0 < found[0] < 0.05 + low
    assert found[-1] == high
