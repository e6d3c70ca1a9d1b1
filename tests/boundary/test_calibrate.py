"""Isotonic calibration by uncertainty level, against scikit-learn's regression on the rows of each level."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from stakes.boundary import uncertainty_calibrate


@pytest.mark.parametrize("weighted", [False, True])
def test_each_level_is_the_isotonic_regression_of_its_rows(weighted):
    rng = np.random.default_rng(0)
    score, uncertainty = rng.random(600).round(2), rng.random(600)
    y = rng.random(600) < score ** (0.5 + uncertainty)
    weight = rng.integers(1, 4, 600) if weighted else None
    calibration = uncertainty_calibrate(y, score, uncertainty, levels=[0.3, 0.7], sample_weight=weight)
    found = calibration.predict(score, uncertainty)
    for low, high in ((-1, 0.3), (0.3, 0.7), (0.7, 2)):
        level = (uncertainty > low) & (uncertainty <= high)
        oracle = IsotonicRegression().fit(
            score[level], y[level], sample_weight=None if weight is None else weight[level]
        )
        assert found[level] == pytest.approx(oracle.predict(score[level]), abs=1e-12)


def test_scores_beyond_those_seen_take_the_nearest_value():
    calibration = uncertainty_calibrate([0, 0, 1, 1], [0.2, 0.3, 0.6, 0.7], [1, 1, 1, 1])
    assert calibration.predict([-3, 0.4, 0.6, 9], [0, 1, 2, 3]).tolist() == [0.0, 0.0, 1.0, 1.0]


def test_table_lists_the_blocks_of_every_level():
    pytest.importorskip("pandas")
    calibration = uncertainty_calibrate([0, 1, 0, 1], [0.2, 0.9, 0.3, 0.8], [0, 0, 1, 1], levels=2)
    assert calibration.frame("pandas")["level"].tolist() == [0, 0, 1, 1]


def test_level_without_rows_is_refused():
    with pytest.raises(ValueError, match="every level must hold rows, got none in level 1"):
        uncertainty_calibrate([0, 1], [0.2, 0.9], [0, 9], levels=[1, 5])
