"""Intervals from one pass over blocks of rows are those of the influence of every row, over however many blocks."""

import tracemalloc

import numpy as np
import pytest

from stakes import ScoreTable, costs
from stakes.core.options import evaluation_data
from stakes.inference import metric_difference, metric_interval
from stakes.inference._area import area_of, placements, row_mean
from stakes.variance.influence import cells_of, influence_moments
from stakes.variance.sums import BLOCK, Sums

CLOSE = {"rel": 1e-12, "abs": 1e-13, "nan_ok": True}
METRICS = {
    "bounded_brier_loss": {"bounds": (0.05, 0.4)},
    "expected_regret": {"costs": costs.Triangular(0.1, 0.2, 0.6), "rule": 0.3},
    "net_benefit_score": {"threshold": 0.2, "rule": 0.3},
    "bounded_log_skill_score": {"reference": 0.3},
    "regret_skill_score": {"costs": costs.Beta(2, 8)},
}


def rows(n=3 * BLOCK + 17):
    """Rows in order of their scores, so that no block is like another; the last block has no negatives."""
    rng = np.random.default_rng(3)
    a = np.sort(np.clip(np.round(rng.beta(1, 3, n), 4), 0.01, 0.99))
    y = rng.random(n) < a
    y[-BLOCK:] = True
    return y, a, np.clip(a + 0.1 * rng.normal(size=n), 0.01, 0.99), rng.gamma(1.0, size=n)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("given", [{}, {"sample_weight": True}, {"prevalence": 0.1}])
def test_blocks_agree_with_the_influence_of_every_row(name, given):
    y, a, b, w = rows()
    given = {"sample_weight": w} if "sample_weight" in given else given
    fixed, mean = "prevalence" in given, row_mean(name, METRICS[name])
    first, second = (cells_of(evaluation_data(y, scores, **given), fixed_prevalence=fixed) for scores in (a, b))
    own, gap = mean.influence(first), mean.influence(first).minus(mean.influence(second))
    for found, influence in (
        (metric_interval(y, a, name, **given, **METRICS[name]), own),
        (metric_difference(y, a, b, name, **given, **METRICS[name]), gap),
    ):
        known = influence_moments(first, influence)
        value = getattr(found, "value", None) if influence is own else found.difference
        assert (value, found.standard_error) == pytest.approx((known.value, known.standard_error), **CLOSE)
        assert found.interval == pytest.approx(known.interval(0.95), **CLOSE)


def test_area_of_a_table_is_that_of_the_placements_of_its_rows():
    y, a, _, _ = rows()
    y[-BLOCK:] = np.arange(BLOCK) % 2 == 0
    cells = cells_of(evaluation_data(y, a), fixed_prevalence=False)
    known = area_of(Sums.from_units(placements(cells), cells.y))
    found = metric_interval(y, a, "roc_auc_score")
    assert (found.value, found.standard_error) == pytest.approx((known.value, known.standard_error), **CLOSE)
    assert found.interval == pytest.approx(known.interval(0.95), **CLOSE)


def test_a_mean_needs_neither_ranks_nor_copies_of_the_rows(monkeypatch):
    y, a, b, _ = rows(40 * BLOCK)
    monkeypatch.setattr(ScoreTable, "from_sample", None)
    tracemalloc.start()
    try:
        metric_interval(y, a, "bounded_brier_loss")
        metric_difference(y, a, b, "bounded_brier_loss")
        assert tracemalloc.get_traced_memory()[1] < 0.5 * (y.nbytes + a.nbytes)
    finally:
        tracemalloc.stop()
