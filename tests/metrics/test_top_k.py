"""A budget of K decisions: expected, best and worst values under ties, against enumeration."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from stakes import costs
from stakes.metrics import roc_auc_score, top_k_scores


def test_values_of_the_oracle(eval_reference):
    for row in eval_reference["top_k"]:
        data = eval_reference["binary"][row["data"]]
        ours = top_k_scores(data["y"], data["s"], capacity=row["K"], costs=row["c"])
        found = {
            "tp": ours.true_positives,
            "tp_worst": ours.true_positives_worst,
            "tp_best": ours.true_positives_best,
            "precision": ours.precision,
            "recall": ours.recall,
            "cost": ours.cost,
            "net_benefit": ours.net_benefit,
        }
        for name, value in found.items():
            assert value[0] == pytest.approx(row[name], abs=1e-12), (row, name)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=8), st.data())
def test_ties_are_broken_in_every_way(rows, data):
    y, s = zip(*rows, strict=True)
    k = data.draw(st.integers(0, len(y)))
    counts = [
        sum(y[i] for i in chosen)
        for chosen in itertools.combinations(range(len(y)), k)
        if all(s[i] >= s[j] for i in chosen for j in range(len(y)) if j not in chosen)
    ]
    ours = top_k_scores(y, s, capacity=k)
    assert ours.true_positives[0] == pytest.approx(np.mean(counts))
    assert ours.true_positives_worst[0] == min(counts)
    assert ours.true_positives_best[0] == max(counts)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 3)), min_size=1).filter(
        lambda r: any(w for *_, w in r)
    )
)
def test_weights_are_repetition(rows):
    y, s, w = map(np.array, zip(*rows, strict=True))
    budgets = np.arange(w.sum() + 1)
    weighted = top_k_scores(y, s, capacity=budgets, sample_weight=w, costs=0.3)
    repeated = top_k_scores(np.repeat(y, w), np.repeat(s, w), capacity=budgets, costs=0.3)
    for name in ("true_positives", "precision", "recall", "cost", "net_benefit"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-12)


def test_recall_averaged_over_all_budgets_is_affine_in_auc():
    # erratum E17: the mean over K = 1..n is pi/2 + (1 - pi) AUC + 1/(2n)
    rng = np.random.default_rng(8)
    y, s = rng.integers(0, 2, 50), rng.integers(0, 9, 50)
    recall = top_k_scores(y, s, capacity=np.arange(1, 51)).recall
    assert recall.mean() == pytest.approx(y.mean() / 2 + (1 - y.mean()) * roc_auc_score(y, s) + 1 / 100, abs=1e-12)


def test_cost_over_a_distribution_is_the_mean_over_its_cost_ratios():
    y, s = [0, 1, 1, 0, 1], [0.9, 0.8, 0.3, 0.3, 0.1]
    stated = [0.05, 0.1, 0.3]
    single = [top_k_scores(y, s, capacity=3, costs=c).cost[0] for c in stated]
    assert top_k_scores(y, s, capacity=3, costs=costs.Empirical(stated)).cost[0] == pytest.approx(np.mean(single))


def test_a_share_of_the_rows_is_that_many_rows():
    rng = np.random.default_rng(3)
    y, s = rng.integers(0, 2, 100), rng.random(100)
    for share, count in ((0.1, 10), (0.29, 29), (0.57, 57), (Fraction(1, 3), 33), (0.999, 99)):
        found = top_k_scores(y, s, capacity=share)
        assert found.capacity.tolist() == [count]
        assert found.true_positives[0] == y[np.argsort(-s)[:count]].sum()
    assert top_k_scores(y, s, capacity=[0.1, 1, 5.0]).capacity.tolist() == [10, 1, 5]
    assert top_k_scores(y, s, capacity=np.array([0.0, 0.5, 3.0])).capacity.tolist() == [0, 50, 3]


def test_a_share_of_weighted_rows_is_that_share_of_their_weight():
    found = top_k_scores([0, 1, 1, 0], [0.9, 0.8, 0.3, 0.2], capacity=0.25, sample_weight=[2.0, 3.0, 0.5, 4.5])
    assert found.capacity.tolist() == [2.5]
    assert found.true_positives.tolist() == [0.5]


@pytest.mark.parametrize("k", [1.0, [0.5, 1.0], np.linspace(0.0, 1.0, 3)])
def test_one_that_may_be_a_row_or_all_rows_is_refused(k):
    message = r"^capacity=1\.0 can mean one row, or a share of 1, .* for one row; for all rows pass capacity=5\.$"
    with pytest.raises(ValueError, match=message):
        top_k_scores([0, 1, 1, 0, 1], [0.9, 0.8, 0.3, 0.3, 0.1], capacity=k)
    assert top_k_scores([0, 1, 1, 0, 1], [0.9, 0.8, 0.3, 0.3, 0.1], capacity=1).capacity.tolist() == [1]


def test_one_is_all_rows_where_their_weights_sum_to_one():
    y, s = [0, 1, 1, 0], [0.9, 0.8, 0.3, 0.2]
    found = top_k_scores(y, s, capacity=[0.5, 1.0], sample_weight=[0.25, 0.25, 0.375, 0.125])
    assert found.capacity.tolist() == [0.5, 1.0]
    assert found.true_positives.tolist() == [0.25, 0.625]
    for factor in (1.5, 2.0):
        with pytest.raises(ValueError, match=f"for all rows pass capacity={factor:g}"):
            top_k_scores(y, s, capacity=1.0, sample_weight=factor * np.array([0.25, 0.25, 0.375, 0.125]))


def test_a_share_of_less_than_one_row_is_refused():
    with pytest.raises(
        ValueError, match=r"^capacity=0\.1 is a share, here of less than one of 5 rows: pass a larger share"
    ):
        top_k_scores([0, 1, 1, 0, 1], [0.9, 0.8, 0.3, 0.3, 0.1], capacity=[3, 0.1])


@pytest.mark.parametrize("k", [True, np.True_, [2, True], np.array([False, True])])
def test_truth_values_are_no_budgets(k):
    with pytest.raises(ValueError, match=r"^capacity must be a count of rows or a share of them, got (True|False)\.$"):
        top_k_scores([0, 1, 1, 0, 1], [0.9, 0.8, 0.3, 0.3, 0.1], capacity=k)


@pytest.mark.parametrize("k", [-1, 6, np.nan, [2, 7]])
def test_budgets_beyond_the_rows_are_refused(k):
    with pytest.raises(ValueError, match="capacity must lie between 0 and the total weight 5"):
        top_k_scores([0, 1, 1, 0, 1], [0.9, 0.8, 0.3, 0.3, 0.1], capacity=k)
