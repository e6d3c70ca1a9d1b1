"""Rows are put in order of their scores, however close these are."""

import numpy as np
import pytest

from stakes import ScoreTable
from stakes.base.numerics import order_of

N = 20_000
RNG = np.random.default_rng(12)
U = RNG.random(N)
SCORES = {
    "spread": U,
    "tied": np.round(U, 2),
    "apart in the last bits": 0.5 + np.floor(U * 64) * 2.0**-52,
    "near zero": U * 5e-324 * 1e3,
    "zeros of both signs": np.where(U < 0.5, 0.0, -0.0),
    "close and spread": np.where(U < 0.1, 0.25 + np.floor(U * 1e4) * 2.0**-54, U),
    "below zero": U - 0.5,
    "few": U[:10],
}


@pytest.mark.parametrize("kind", SCORES)
def test_order_holds_each_row_once_and_rises(kind):
    score = SCORES[kind]
    order, ordered = order_of(score)
    assert np.array_equal(ordered, np.sort(score))
    assert np.array_equal(np.sort(order), np.arange(len(score)))
    assert np.array_equal(score[order], np.sort(score))


@pytest.mark.parametrize("kind", SCORES)
def test_weighted_rows_are_counted_at_each_distinct_score(kind):
    score = SCORES[kind]
    y, weight = RNG.integers(0, 2, len(score)), RNG.integers(1, 9, len(score)).astype(float)
    if score.min() < 0:
        score = score + 0.5
    table = ScoreTable.from_predictions(y, score, sample_weight=weight)
    distinct, place = np.unique(score, return_inverse=True)
    assert np.array_equal(table.scores, distinct)
    assert np.array_equal(table.positives, np.bincount(place, weights=weight * y))
    assert np.array_equal(table.negatives, np.bincount(place, weights=weight * (1 - y)))
    assert np.array_equal(table.positives_squared, np.bincount(place, weights=weight**2 * y))
