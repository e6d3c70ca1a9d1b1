"""Early stopping, without any training library."""

import math

import pytest
from hypothesis import given, strategies as st

from stakes.training import EarlyStopping

VALUES = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, math.inf, math.nan]), min_size=1, max_size=25)


def by_hand(values, patience, min_delta):
    """Epoch of the best value and whether training has ended, by looking at the whole past at each epoch."""
    best, stopped = None, False
    for epoch, value in enumerate(values):
        if not math.isnan(value) and (best is None or value < values[best] - min_delta):
            best = epoch
        last = -1 if best is None else best
        stopped = epoch - last >= patience
    return best, stopped


@given(VALUES, st.integers(1, 5), st.sampled_from([0.0, 0.15]))
def test_best_epoch_and_end_of_training(values, patience, min_delta):
    stopping = EarlyStopping(patience=patience, min_delta=min_delta)
    stops = [stopping.step(value) for value in values]
    assert stops == [by_hand(values[: n + 1], patience, min_delta)[1] for n in range(len(values))]
    assert stopping.best_epoch == by_hand(values, patience, min_delta)[0]
    # continued from what an earlier process recorded
    again = EarlyStopping(patience=patience, min_delta=min_delta, history=values[: len(values) // 2])
    assert [again.step(value) for value in values[len(values) // 2 :]] == stops[len(values) // 2 :]


def test_scores_are_followed_upwards_and_losses_downwards():
    up, down = EarlyStopping("roc_auc_score", patience=2), EarlyStopping("bounded_brier_loss", patience=2)
    for value in (0.6, 0.7, 0.65):
        up.step(value)
        down.step(value)
    assert (up.best_epoch, down.best_epoch) == (1, 0)
    assert (up.should_stop, down.should_stop) == (False, True)


def test_best_weights_are_a_copy():
    import numpy as np

    weights, stopping = {"w": np.zeros(2)}, EarlyStopping(patience=3)
    stopping.step(0.5, weights)
    weights["w"] += 1.0
    stopping.step(0.7, weights)
    assert stopping.best_weights["w"].tolist() == [0.0, 0.0]
    keeps_none = EarlyStopping(restore_best=False)
    keeps_none.step(0.5, weights)
    assert keeps_none.best_weights is None


@pytest.mark.parametrize("options", [{"patience": 0}, {"patience": 1.5}, {"min_delta": -0.1}, {"min_delta": math.nan}])
def test_invalid_settings_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        EarlyStopping(**options)
