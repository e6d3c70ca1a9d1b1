"""Every registered curve keeps the common promises."""

import numpy as np
import pytest

from stakes import ScoreTable
from stakes.curves import CURVES, Curve

RNG = np.random.default_rng(11)
Y, P, W = RNG.integers(0, 2, 80), np.round(RNG.uniform(0.05, 0.95, 80), 2), RNG.integers(0, 4, 80)
curve = pytest.mark.parametrize("entry", CURVES.values(), ids=CURVES)


def inner_points(made):
    low, high = float(made.knots[0]), float(made.knots[-1])
    return low + (high - low) * np.linspace(0.05, 0.95, 31)


@curve
def test_weights_are_repetition_and_tables_stand_for_rows(entry):
    weighted = entry.function(Y, P, sample_weight=W)
    repeated = entry.function(np.repeat(Y, W), np.repeat(P, W))
    by_table = entry.function(ScoreTable.from_predictions(Y, P, sample_weight=W))
    at = inner_points(weighted)
    np.testing.assert_allclose(weighted.at(at), repeated.at(at), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weighted.at(at), by_table.at(at), rtol=1e-12)


@curve
def test_values_lie_in_the_stated_range(entry):
    made = entry.function(Y, P)
    assert isinstance(made, Curve)
    values = made.at(inner_points(made))
    assert np.all((values >= entry.low - 1e-12) & (values <= entry.high + 1e-12))


@curve
def test_perfect_scores_lie_on_the_better_side(entry):
    if entry.better == "diagonal":
        pytest.skip("calibration is no ranking")
    perfect, worst = entry.function(Y, 0.02 + 0.96 * Y), entry.function(Y, 0.98 - 0.96 * Y)
    at = inner_points(perfect)
    gain = perfect.at(at) - worst.at(at)
    assert np.all(gain >= -1e-12) if entry.better == "higher" else np.all(gain <= 1e-12)


@curve
def test_probabilities_outside_0_1_are_refused_unless_only_their_rank_counts(entry):
    if entry.response == "score":
        assert len(entry.function(Y, P - 3.0).knots) > 2
        return
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        entry.function(Y, P - 3.0)
