"""The tables in the page stand for those of all rows within the bound that is stated, and its covariances are right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from stakes import ScoreTable, costs, evaluate, expected_regret, regret_curve
from stakes.inference import confidence_band
from stakes.report import _any_range as _spread_dependent
from stakes.report._any_range import _quantiles, cut_points, payload, spread_of, thinned
from stakes.report._page import models_of
from tests.report.conftest import simulated
from tests.report.pages import numbers

RANGES = ((0.0, 1.0), (0.013, 0.031), (0.1, 0.3), (0.0, 0.4), (0.45, 1.0), (0.777, 0.7771))


def as_table(found):
    ups, downs = found.positives, found.negatives
    return ScoreTable(found.scores, ups, downs, ups, downs, 1)


def skewed(n, seed=0, *, weighted=False):
    rng = np.random.default_rng(seed)
    scores = rng.beta(0.4, 3.0, size=n)
    weight = rng.exponential(size=n) if weighted else None
    return ScoreTable.from_predictions(rng.random(n) < scores**1.3, scores, sample_weight=weight)


@pytest.mark.parametrize("limit", [10, 200, 4000])
@pytest.mark.parametrize("weighted", [False, True])
def test_integral_over_any_range_stays_within_the_bound(limit, weighted):
    table = skewed(20_000, weighted=weighted)
    found = thinned(table, limit, (0.1, 0.3))
    assert len(found.scores) <= 1.2 * limit + 10
    for low, high in RANGES:
        measure = costs.Uniform(low, high)
        exact = expected_regret(table, costs=measure, scale="integral")
        assert abs(expected_regret(as_table(found), costs=measure, scale="integral") - exact) <= found.integral_bound
    assert found.integral_bound < 20.0 / limit**1.5


@pytest.mark.parametrize("limit", [10, 200])
def test_regret_at_any_threshold_stays_within_the_bound(limit):
    table = skewed(5000)
    found = thinned(table, limit, (0.1, 0.3))
    grid = np.linspace(0.0, 1.0, 2003)
    gap = np.abs(regret_curve(table).at(grid) - regret_curve(as_table(found)).at(grid))
    assert gap.max() <= found.share_bound
    assert found.share_bound <= 0.9


@pytest.mark.parametrize("positive", [False, True])
def test_regret_of_one_class_stays_within_the_bound(positive):
    scores = np.random.default_rng(0).random(5000)
    table = ScoreTable.from_predictions(np.full(5000, positive), scores, pos_label=True)
    found = thinned(table, 10, (0.1, 0.3))
    # by counting: a cell may act on all of its rows or on none
    grid = np.linspace(0.0, 1.0, 2003)[:, None]
    share = [(np.asarray(each)[None] >= grid) for each in (scores, found.scores)]
    rows = [np.ones(5000), found.positives if positive else found.negatives]
    acted = [(each * mine).sum(axis=1) / 5000 for each, mine in zip(share, rows, strict=True)]
    gap = np.abs(acted[0] - acted[1]) * (1.0 - grid[:, 0] if positive else grid[:, 0])
    assert 0.01 < gap.max() <= found.share_bound


@pytest.mark.parametrize("positive", [False, True])
def test_bounds_are_not_far_above_what_pooling_changes(positive):
    scores = np.random.default_rng(0).beta(8.0, 1.0, 5000)
    certain = np.ones(5000)  # equal scores lose nothing, however many they are
    scores = np.concatenate([scores, 1.0 - certain] if positive else [1.0 - scores, certain])
    table = ScoreTable.from_predictions(np.full(10_000, positive), scores, pos_label=True)
    found = thinned(table, 200, (0.1, 0.3))
    at = np.linspace(0.0, 1.0, 4001)[:, None]
    held = np.ones(10_000), found.positives if positive else found.negatives
    regret, integral = [], []  # a row costs its side of the threshold where it is on the wrong side
    for each, weight in zip((scores, found.scores), held, strict=True):
        reach = 1.0 - each if positive else each
        regret.append(((at <= reach) * at) @ weight / 10_000)
        integral.append((0.5 * np.minimum(at, reach) ** 2) @ weight / 10_000)
    apart = float(np.abs(regret[0] - regret[1]).max())
    assert apart <= found.share_bound <= 3.0 * apart
    furthest = float(np.ptp(integral[0] - integral[1]))
    assert furthest <= found.integral_bound <= 20.0 * furthest


def log_odds(scores):
    return np.log(scores) - np.log1p(-scores)


def test_thinned_scores_are_fine_by_weight_by_score_by_log_odds_and_within_the_focus():
    rng = np.random.default_rng(3)
    tail = 1.0 / (1.0 + np.exp(rng.uniform(5.0, 11.0, 800)))  # few rows, near 0 and near 1
    narrow = rng.uniform(0.5, 0.5001, 12_000)  # nearly all positives
    scores = np.concatenate([rng.uniform(0.4, 0.6, 4000), narrow, tail, 1.0 - tail, rng.uniform(0.01, 0.99, 1500)])
    crowd = rng.uniform(0.3, 0.3001, 12_000)  # nearly all negatives
    table = ScoreTable.from_predictions(
        np.repeat([False, True, False], [2000, 17_100, 12_000]), np.concatenate([scores, crowd])
    )
    found = thinned(table, 500, (0.7, 0.72))
    assert len(found.scores) <= 600
    inside = found.scores[(found.scores > 0.02) & (found.scores < 0.98)]
    assert np.diff(inside).max() < 0.06
    for end in (found.scores[found.scores < 0.01], 1.0 - found.scores[found.scores > 0.99]):
        assert np.abs(np.diff(log_odds(end))).max() < 1.5
        assert log_odds(end.min()) < -9.0
    focus = found.scores[(found.scores >= 0.7) & (found.scores <= 0.72)]
    assert np.diff(focus).max() < 0.004
    assert found.positives.max() < 0.05 * table.total_positives
    assert found.negatives.max() < 0.05 * table.total_negatives


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_both_classes_hold_at_every_threshold_and_between_any_two(seed):
    rng = np.random.default_rng(seed)
    scores = rng.beta(*((0.3, 0.6), (2.0, 8.0), (1.0, 1.0), (0.2, 0.2))[seed], 600)
    y, weight = rng.random(600) < scores, rng.exponential(size=600)
    table = ScoreTable.from_predictions(y, scores, sample_weight=weight)
    found = thinned(table, 40, (0.1, 0.3))
    rows = scores, weight * y, weight * ~y
    every = np.unique(np.concatenate([scores, found.scores, [0.0, 1.0]]))
    # by counting: a row acted on at a threshold c costs c if it is negative, one that is not costs 1 - c if positive
    at = np.concatenate([every, np.nextafter(every, 2.0), np.linspace(0.0, 1.0, 500)])[:, None]
    regret, integral = [], []
    for each, ups, downs in (rows, (found.scores, found.positives, found.negatives)):
        acted = each >= at
        regret.append(((acted * at) @ downs + (~acted * (1.0 - at)) @ ups) / weight.sum())
        lost = 0.5 * np.minimum(at, each) ** 2 @ downs
        lost += 0.5 * (np.maximum(1.0 - each, 0.0) ** 2 - np.maximum(1.0 - np.maximum(at, each), 0.0) ** 2) @ ups
        integral.append(lost / weight.sum())
    apart = float(np.abs(regret[0] - regret[1]).max())
    assert 0.2 * found.share_bound <= apart <= found.share_bound
    furthest = float(np.ptp(integral[0] - integral[1]))
    assert 0.01 * found.integral_bound <= furthest <= found.integral_bound


@pytest.mark.parametrize("positive", [False, True])
def test_bounds_hold_where_nearly_all_of_a_cell_lies_at_its_costly_end(positive):
    scores, weight = [0.2, 0.8], [99.0, 1.0] if positive else [1.0, 99.0]
    table = ScoreTable.from_predictions([positive] * 2, scores, sample_weight=weight, pos_label=True)
    found = thinned(table, 1, (0.1, 0.3))
    assert len(found.scores) == 1
    # next to that end, pooled they are on one side of the threshold, and by themselves nearly all on the other
    assert 0.8 * 0.99 <= found.share_bound <= 0.8 + 1e-9
    centre = np.average(scores, weights=weight)
    far, near = (1.0 - scores[0], 1.0 - centre) if positive else (scores[1], centre)
    lost = 0.99 * 0.5 * (far**2 - near**2)  # what the pooled ones no longer cost between the two
    assert lost <= found.integral_bound <= 0.8 * 0.6 * 2.0 + 0.05


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([0.0, 1e-9, 0.1, 0.2, 0.25, 0.5, 0.75, 1.0]), st.integers(1, 3)),
        min_size=1,
    ),
    st.integers(2, 12),
)
def test_small_tables_keep_their_weights_and_stay_within_the_bound(rows, limit):
    y, scores, weight = (list(column) for column in zip(*rows, strict=True))
    table = ScoreTable.from_predictions(y, scores, sample_weight=weight, pos_label=True)
    found = thinned(table, limit, (0.1, 0.3))
    assert np.all(np.diff(found.scores) > 0.0)
    assert found.positives.sum() == pytest.approx(table.total_positives)
    assert found.negatives.sum() == pytest.approx(table.total_negatives)
    # a score of 0 or 1 makes a log loss infinite: it is never pooled with others
    for edge in (0.0, 1.0):
        for column in ("positives", "negatives"):
            mine = getattr(found, column)[found.scores == edge].sum()
            assert mine == getattr(table, column)[table.scores == edge].sum()
    for low, high in RANGES:
        measure = costs.Uniform(low, high)
        gap = expected_regret(as_table(found), costs=measure, scale="integral") - expected_regret(
            table, costs=measure, scale="integral"
        )
        assert abs(gap) <= found.integral_bound + 1e-15


def test_table_that_fits_is_exact():
    table = skewed(300)
    found = thinned(table, 300, (0.1, 0.3))
    assert (found.integral_bound, found.share_bound) == (0.0, 0.0)
    assert np.array_equal(found.scores, table.scores)


def standard_errors(spread, weights):
    rows, columns = np.triu_indices(len(spread.cuts) - 1)
    form = np.where(rows == columns, 1.0, 2.0) * weights[rows] * weights[columns]
    return np.sqrt(np.maximum(spread.covariances @ form, 0.0))


DEPENDENCE = {
    "independent": {},
    "clusters": {"clusters": np.random.default_rng(2).geometric(0.1, 3000)},
    "no lags": {"lags": 0},
    "lags": {"lags": 7},
    "all lags": {"lags": 2999},
    "auto": {"lags": "auto"},
}


@pytest.mark.parametrize("dependence", DEPENDENCE)
@pytest.mark.parametrize("kind", ["plain", "weighted", "prevalence", "threshold"])
def test_standard_errors_over_whole_stretches_are_the_librarys(kind, dependence, monkeypatch):
    # so that clusters and windows are summed in several parts
    monkeypatch.setattr(_spread_dependent, "_DEPENDENT_BLOCK", 500)
    y, scores = simulated(["a", "b", "c"], n=3000)
    options = {
        "plain": {},
        "weighted": {"sample_weight": np.random.default_rng(1).exponential(size=len(y))},
        "prevalence": {"prevalence": 0.02},
        "threshold": {"rule": 0.25},
    }[kind]
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), scale="integral", **options, **DEPENDENCE[dependence])
    spread = spread_of(evaluation, range(3))
    inside = (spread.cuts[:-1] >= 0.1 - 1e-12) & (spread.cuts[1:] <= 0.3 + 1e-12)
    found = standard_errors(spread, inside.astype(float))
    assert len(found) == 5
    for i, error in enumerate(found):
        assert error == pytest.approx(evaluation.moments.of(i).standard_error, rel=1e-9, abs=1e-12)


def test_covariances_are_those_of_the_rows():
    y, scores = simulated(["a", "b"], n=300)
    evaluation = evaluate(y, scores, costs=(0.1, 0.3))
    spread = spread_of(evaluation, [0, 1])
    low, high = spread.cuts[:-1], spread.cuts[1:]

    def losses(score):
        t = np.clip(score[:, None], low, high)
        negative, positive = 0.5 * (t**2 - low**2), 0.5 * ((1 - t) ** 2 - (1 - high) ** 2)
        return np.where(y[:, None], positive, negative)

    for place, score in enumerate((scores["a"], scores["b"], np.ones(len(y)), np.zeros(len(y)))):
        matrix = np.cov(losses(score), rowvar=False) / len(y)
        assert spread.covariances[place] == pytest.approx(matrix[np.triu_indices(len(low))], abs=1e-15)


def test_one_table_has_the_errors_of_its_rows():
    y, scores = simulated(["a"], n=500)
    rows = spread_of(evaluate(y, scores, costs=(0.1, 0.3)), [0])
    table = spread_of(evaluate(ScoreTable.from_predictions(y, scores["a"]), costs=(0.1, 0.3)), [0])
    assert table.covariances == pytest.approx(rows.covariances, rel=1e-9, abs=1e-18)


@pytest.mark.parametrize("measure", [costs.Uniform(0.0163, 0.0291), costs.Fixed(0.2), costs.Uniform(0, 1)], ids=repr)
def test_cut_points_hold_the_ends_of_the_range(measure):
    cuts = cut_points(measure)
    assert {0.0, measure.low, measure.high, 1.0} <= set(cuts.tolist())
    assert np.all(np.diff(cuts) > 0.0)
    assert len(cuts) <= 40


def test_page_of_many_models_holds_few_numbers():
    y, scores = simulated([f"m{k}" for k in range(25)], n=3000)
    evaluation = evaluate(y, scores, costs=(0.1, 0.3))
    content = payload(evaluation, models_of(evaluation))
    assert len(numbers(content["spread"]["quantiles"])) == 22
    assert sum(len(model["scores"]["scores"]["f8"]) for model in content["models"]) < 600_000


@pytest.mark.parametrize("dependence", [{}, {"clusters": np.arange(400) % 10}], ids=["independent", "clusters"])
def test_every_interval_has_the_degrees_of_freedom_of_the_library(dependence):
    y, scores = simulated(["a", "b"], n=400)
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), **dependence)
    found = numbers(payload(evaluation, models_of(evaluation))["spread"]["quantiles"])
    for name, quantile in zip([*evaluation.ranking, "treat all", "treat none"], found, strict=True):
        free = evaluation.moments.of(evaluation.place(name)).degrees
        assert quantile == pytest.approx(stats.t.ppf(0.975, free), rel=1e-9)
        assert free < 400


@pytest.mark.parametrize("rule", ["score", 0.3])
def test_bands_are_the_librarys(rule):
    y, scores = simulated(["a", "b"], n=500)
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), rule=rule)
    content = payload(evaluation, models_of(evaluation))
    thresholds = numbers(content["bands"])
    assert (thresholds[0], thresholds[-1]) == (0.1, 0.3)
    for model in content["models"]:
        acted = scores[model["name"]] if rule == "score" else (scores[model["name"]] >= rule).astype(float)
        for kind, ends in model["band"].items():
            band = confidence_band(y, acted, kind, thresholds=thresholds, n_resamples=2000)
            expected = np.concatenate([band.simultaneous_low, band.simultaneous_high])
            assert numbers(ends) == pytest.approx(expected, abs=1e-6)


def test_band_of_a_deployed_threshold_holds_at_a_threshold_of_zero():
    y, scores = simulated(["a"], n=500)
    evaluation = evaluate(y, scores, costs=(0.0, 0.3), rule=0.2)
    (model,) = payload(evaluation, models_of(evaluation))["models"]
    low, high = np.split(numbers(model["band"]["regret"]), 2)
    missed = np.mean(y & (scores["a"] < 0.2))
    assert low[0] < missed < high[0]


@pytest.mark.parametrize("n", [1, 8192, 30_000])
def test_quantiles_found_in_pieces_are_those_of_the_whole_sums(n):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=n).astype(float) + (np.arange(n) == 0)
    shares = np.concatenate([np.linspace(0.01, 0.99, 50), rng.random(200)])
    expected = np.searchsorted(np.cumsum(weight), shares * weight.sum())
    assert np.array_equal(_quantiles(weight, shares), expected)


def test_no_cell_holds_more_than_its_step_of_either_class():
    n = 4000
    table = ScoreTable.from_predictions(np.arange(n) % 2, (np.arange(n) + 0.5) / n)
    starts = _spread_dependent._starts(table, 50, (0.4, 0.6))  # ten steps of each kind
    for weight in (table.positives, table.negatives):
        assert np.add.reduceat(weight, starts).max() <= 0.1 * weight.sum() + 1.0
