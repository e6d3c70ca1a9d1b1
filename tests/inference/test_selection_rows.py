"""Spread of means and differences from rows, against the row-by-row oracle of 20 digits."""

import numpy as np
import pytest

from stakes import costs
from stakes.core.score_table import row_losses
from stakes.variance.decisions import CostRows, Spread

PAIR, SINGLE = (np.array([0]), np.array([1])), (np.array([0]), np.array([-1]))


def rows_of(case, *, weighted=False, by_class=False, codes=None):
    y = np.array(case["y"], dtype=bool)
    low, high = case["low"], case["high"]
    distribution = costs.Fixed(low) if low == high else costs.Uniform(low, high)
    lines = np.stack([row_losses(y, np.array(case[key]), distribution, "score") for key in ("a", "b")], axis=1)
    lines /= distribution.mass
    most = np.array([(case["low"] + case["high"]) / 2, (2 - case["low"] - case["high"]) / 2])
    weight = np.array(case["weights"]) if weighted else np.ones(len(y))
    return CostRows(lines, y, weight, codes, np.repeat(most[:, None], 2, axis=1), by_class)


def check(found, stated, level=0.95):
    from scipy.special import ndtri

    assert found.variance[0] == pytest.approx(float(stated["variance"]), rel=1e-12, abs=1e-18)
    assert found.degrees[0] == pytest.approx(float(stated["df"]), rel=1e-11)
    assert found.room[0] == pytest.approx(float(stated["room2"]), rel=1e-12, abs=1e-18)
    half = (float(stated["high"]) - float(stated["low"])) / 2
    assert found.reach(float(-ndtri((1 - level) / 2)))[0] == pytest.approx(half, rel=1e-10, abs=1e-14)
    gap = abs(float(stated["value"]))
    if found.variance[0] > 0.0:
        assert 2 * found.tail(np.array([gap]))[0] == pytest.approx(float(stated["p_value"]), rel=1e-8)


def test_rows_of_the_oracle(intervals_reference):
    for case in intervals_reference["rows"]:
        plain, weighted = rows_of(case), rows_of(case, weighted=True)
        check(plain.spread(*SINGLE), case["single"])
        check(plain.spread(*SINGLE), case["single_90"], 0.9)
        check(plain.spread(*PAIR), case["difference"])
        check(plain.spread(*PAIR), case["difference_99"], 0.99)
        check(weighted.spread(*PAIR), case["difference_weighted"])
        if "difference_by_class" in case:
            check(rows_of(case, weighted=True, by_class=True).spread(*PAIR), case["difference_by_class"])


def test_clusters_of_the_oracle(intervals_reference):
    for case in intervals_reference["clusters"]:
        own, codes = intervals_reference["rows"][case["case"]], np.unique(case["codes"], return_inverse=True)[1]
        check(rows_of(own, codes=codes).spread(*SINGLE), case["single"])
        check(rows_of(own, codes=codes).spread(*PAIR), case["difference"])
        check(rows_of(own, weighted=True, codes=codes).spread(*PAIR), case["difference_weighted"])


@pytest.mark.parametrize("by_class", [False, True])
def test_covariance_holds_every_variance(by_class):
    rng = np.random.default_rng(1)
    y, codes = rng.random(300) < 0.3, rng.integers(0, 40, 300)
    lines, weight = rng.random((300, 4)), rng.random(300)
    for clusters in (None, codes):
        rows = CostRows(lines, y, weight, clusters, np.ones((2, 4)), by_class)
        covariance = rows.covariance()
        own = rows.spread(np.arange(4), np.full(4, -1)).variance
        assert np.diag(covariance) == pytest.approx(own, rel=1e-12)
        pair = rows.spread(np.array([0, 2]), np.array([1, 3])).variance
        expected = [covariance[i, i] + covariance[j, j] - 2 * covariance[i, j] for i, j in ((0, 1), (2, 3))]
        assert pair == pytest.approx(expected, rel=1e-10)


def test_normal_spread_reaches_as_many_standard_errors():
    found = Spread.normal(np.array([4.0, 0.0]))
    assert found.reach(2.5) == pytest.approx([5.0, 0.0], rel=1e-14)
    assert found.tail(np.array([3.919927969080108, 0.0])) == pytest.approx([0.025, 0.5])
