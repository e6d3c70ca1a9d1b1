"""Intervals of the AUC and of partial areas: DeLong, perfect rankings, rare classes, clusters."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from stakes import ScoreTable, evaluate
from stakes.inference import metric_difference, metric_interval
from stakes.inference._area import table_area


@given(st.integers(0, 10**6))
def test_delong_from_its_definition(seed):
    """Placement values by comparing every positive with every negative: DeLong et al. (1988), equations 4 to 7."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    y = np.arange(n) < rng.integers(3, n - 3)
    scores = np.round(rng.random((2, n)), 1) + 0.3 * y
    placements = []
    for score in scores:
        wins = (score[y][:, None] > score[~y][None, :]) + 0.5 * (score[y][:, None] == score[~y][None, :])
        placements.append((wins.mean(axis=1), wins.mean(axis=0)))
    up = np.cov(np.array([p[0] for p in placements])) / y.sum()
    down = np.cov(np.array([p[1] for p in placements])) / (~y).sum()
    covariance = up + down
    single = metric_interval(y, scores[0], "roc_auc_score")
    assert single.value == pytest.approx(placements[0][0].mean(), abs=1e-12)
    assert single.standard_error == pytest.approx(math.sqrt(covariance[0, 0]), abs=1e-12)
    pair = metric_difference(y, *scores, "roc_auc_score")
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert pair.standard_error == pytest.approx(math.sqrt(max(variance, 0.0)), abs=1e-8)
    assert pair.standard_error**2 == pytest.approx(max(variance, 0.0), abs=1e-12)


def test_delongs_interval_and_test_from_their_definition():
    """As pROC defines them: normal, by DeLong's variance from all pairs; the interval cut to [0, 1]."""
    rng = np.random.default_rng(3)
    y = np.arange(40) < 15
    scores = np.round(rng.random((2, 40)), 1) + 0.5 * y
    up, down = [], []
    for score in scores:
        wins = (score[y][:, None] > score[~y][None, :]) + 0.5 * (score[y][:, None] == score[~y][None, :])
        up.append(wins.mean(axis=1))
        down.append(wins.mean(axis=0))
    covariance = np.cov(np.array(up)) / 15 + np.cov(np.array(down)) / 25
    value, half = np.mean(up[0]), stats.norm.ppf(0.975) * math.sqrt(covariance[0, 0])
    single = metric_interval(y, scores[0], "roc_auc_score", method="delong")
    assert single.interval == pytest.approx((value - half, min(value + half, 1.0)), abs=1e-12)
    gap = value - np.mean(up[1])
    error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    pair = metric_difference(y, *scores, "roc_auc_score", method="delong")
    assert pair.p_value == pytest.approx(2 * stats.norm.sf(abs(gap) / error), abs=1e-12)
    assert pair.interval == pytest.approx(gap + stats.norm.ppf([0.025, 0.975]) * error, abs=1e-12)
    with pytest.raises(ValueError, match=r'method must be "student", or "delong" for "roc_auc_score"'):
        metric_interval(y, scores[0] / 2, "bounded_brier_loss", bounds=(0.1, 0.2), method="delong")


def test_delong_of_a_published_example():
    """The ratings of Hanley and McNeil (1982, table I): AUC 0.893, standard error about 0.032 by their formula."""
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    y = np.repeat([0, 1], [58, 51])
    score = np.concatenate([np.repeat(np.arange(5.0), normal), np.repeat(np.arange(5.0), abnormal)])
    result = metric_interval(y, score, "roc_auc_score")
    assert result.value == pytest.approx(0.8932, abs=5e-5)
    assert result.standard_error == pytest.approx(0.032, abs=3e-3)


@pytest.mark.simulation
def test_auc_of_a_rare_class_is_covered():
    """Nine positives in 300 on average; truth by integrating the ranks over q."""
    q = stats.beta.ppf((np.arange(20_000) + 0.5) / 20_000, 0.6, 19.4)
    downs = np.cumsum(1 - q) / np.sum(1 - q)
    truth = np.sum(q * downs) / q.sum()
    rng = np.random.default_rng(12)
    held = []
    for _ in range(1500):
        p = rng.beta(0.6, 19.4, 300)
        y = rng.random(300) < p
        if y.sum() > 1:
            low, high = metric_interval(y, p, "roc_auc_score").interval
            held.append(low <= truth <= high)
    assert np.mean(held) > 0.935


def test_a_perfect_ranking_is_not_certain():
    y = np.repeat([0, 1], [30, 20])
    result = metric_interval(y, y + 0.0, "roc_auc_score")
    assert result.value == 1.0
    assert result.interval[0] < 0.95
    assert result.interval[1] == 1.0
    assert result.note == ""


@pytest.mark.parametrize("blocks_of", [7, 1 << 13])
@pytest.mark.parametrize("unit", [1.0, 0.7, 1e-3, None])
def test_a_perfect_ranking_has_area_one_and_its_turn_zero_whatever_rows_weigh(unit, blocks_of, monkeypatch):
    monkeypatch.setattr("stakes.inference._area.BLOCK", blocks_of)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [37, 13])[rng.permutation(50)]
        weight = rng.uniform(0.1, 10.0, 50) if unit is None else np.full(50, unit)
        score, half = np.where(y, 0.6, 0.1) + 0.3 * rng.random(50), np.arange(50)[np.argsort(np.argsort(y))] % 2
        found = evaluate(y, {"a": score}, costs=0.3, sample_weight=weight, groups={"half": half}).groups
        told = [(group.auc, group.auc_interval, half == k) for k, group in enumerate(found)]
        whole = metric_interval(y, score, "roc_auc_score", sample_weight=weight)
        area = table_area(ScoreTable.from_predictions(y, score, sample_weight=weight))
        everyone = np.ones(50, dtype=bool)
        told += [(whole.value, whole.interval, everyone), (area.value, area.interval(0.95), everyone)]
        for value, interval, mine in told:
            n, p = (weight[mine & (y == k)].sum() ** 2 / (weight[mine & (y == k)] ** 2).sum() for k in (0, 1))
            error = (1.0 + (0.5 * (n + p) - 1.0) / 2.0) / (n * p)  # Hanley and McNeil's, over A (1 - A), at A = 1
            k = stats.t.isf(0.025, np.count_nonzero(mine & (y == 1)) - 1) ** 2 * error
            assert value == interval[1] == 1.0
            assert interval[0] == pytest.approx(1.0 / (1.0 + k), rel=1e-9)
        turned = metric_interval(y, 1 - score, "roc_auc_score", sample_weight=weight)
        low = table_area(ScoreTable.from_predictions(y, 1 - score, sample_weight=weight))
        for value, interval in ((turned.value, turned.interval), (low.value, low.interval(0.95))):
            assert value == interval[0] == 0.0
            assert interval[1] == pytest.approx(1.0 - whole.interval[0], rel=1e-9)


@pytest.mark.parametrize("name", ["roc_auc_score", "auc_regret", "partial_auc_score"])
@pytest.mark.parametrize(("rare", "of"), [(0, "negative"), (1, "positive")])
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_say_which_class_has_fewer_than_three_rows(name, rare, of, weighted):
    a, b = np.random.default_rng(3).uniform(0.01, 0.99, (2, 48))
    for few in range(4):
        y, weight = np.repeat([rare, 1 - rare, rare], [few, 40, 5]), np.repeat([1.0, 0.0], [few + 40, 5])
        known = {"pos_label": 1, "sample_weight": weight if weighted else None}
        n = len(y) if weighted else few + 40  # the last rows weigh nothing
        found = metric_interval(y[:n], a[:n], name, **known)
        gap = metric_difference(y[:n], a[:n], b[:n], name, **known)
        for value, one in ((found.value, found), (gap.difference, gap)):
            assert math.isnan(value) == (few == 0)
            said = f"only {few} {of}{'s' if few != 1 else ''}: an interval needs 3"
            assert (one.note == said) == (few < 3)
            assert math.isnan(one.interval[0]) or few == 3


def one_large_cluster(seed=0, n=400):
    """Labels, two scores that two positives tell apart, and clusters of which one holds 45% of the rows."""
    rng = np.random.default_rng(seed)
    y, clusters = (rng.random(n) < 0.2).astype(int), np.append(np.zeros(180, int), np.arange(1, n - 179))
    a = 1 / (1 + np.exp(-rng.normal(size=n) - y))
    b = a.copy()
    b[np.flatnonzero(y)[-2:]] **= 3
    return y, a, b, clusters


def test_p_value_of_areas_is_the_level_whose_interval_ends_at_zero_with_one_degree_of_freedom():
    y, a, b, clusters = one_large_cluster()

    def found(level):
        return metric_difference(y, a, b, "roc_auc_score", clusters=clusters, confidence_level=level)

    low, high = 0.001, 0.999  # of the levels of intervals, by bisection
    for _ in range(50):
        middle = 0.5 * (low + high)
        inside = found(middle).interval[0] <= 0.0 <= found(middle).interval[1]
        low, high = (low, middle) if inside else (middle, high)
    assert found(0.95).p_value == pytest.approx(1.0 - low, abs=1e-9)
    assert 0.3 < found(0.95).p_value < 0.5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["roc_auc_score", "partial_auc_score"])
def test_difference_from_a_perfect_ranking_is_the_same_at_every_prevalence(name, seed):
    """Areas are made of ranks within classes, so that a stated prevalence changes nothing but rounding."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        y = rng.random(60) < 0.3
        perfect, other = np.where(y, 0.9, 0.1), np.clip(np.round(0.6 * rng.random(60) + 0.3 * y, 2), 0, 1)
        options = {"fpr_bounds": (0.0, 0.9)} if name == "partial_auc_score" else {}
        plain = metric_difference(y, perfect, other, name, **options)
        for prevalence in (0.1, 0.2, 0.37):
            stated = metric_difference(y, perfect, other, name, prevalence=prevalence, **options)
            assert stated.difference == pytest.approx(plain.difference, abs=1e-12)
            assert stated.interval == pytest.approx(plain.interval, abs=1e-9)
            assert stated.p_value == pytest.approx(plain.p_value, abs=1e-9)
            assert metric_interval(y, perfect, name, prevalence=prevalence, **options).value <= 1.0


def test_the_limit_of_a_perfect_ranking_depends_on_how_wide_the_window_is_not_where_it_lies():
    y, p = np.arange(80) >= 40, np.linspace(0.0, 1.0, 80)
    for bounds in ("fpr_bounds", "tpr_bounds"):
        low, high = (
            metric_interval(y, p, "partial_auc_score", **{bounds: window, "scale": "index"}).interval
            for window in ((0.0, 0.5), (0.5, 1.0))
        )
        assert low == pytest.approx(high)
    narrow = metric_interval(y, p, "partial_auc_score", tpr_bounds=(0.5, 0.6), scale="index").interval
    assert narrow[0] < low[0] < narrow[1] == low[1] == 1.0


def test_two_names_of_the_same_scores_do_not_differ_by_delong():
    y, p = np.arange(80) >= 40, np.linspace(0.0, 1.0, 80)
    found = metric_difference(y, p, p, "roc_auc_score", method="delong")
    assert (found.difference, found.interval, found.p_value) == (0.0, (0.0, 0.0), 1.0)
    blurred = np.where(y, 0.9, 0.1)
    alike = metric_difference(y, p, blurred, "roc_auc_score", method="delong")  # both rank perfectly
    assert (alike.difference, alike.p_value) == (0.0, 1.0)
