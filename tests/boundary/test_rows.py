"""Levels and bins: where the cuts fall, ties, weights, and what the options count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import expit

from stakes.boundary._problem import (
    BoundaryRows,
    check_levels,
    check_rows,
    finite_covariates,
    level_cuts,
    level_of,
    read_covariates,
    rows_to_options,
)
from stakes.boundary._rules import LevelRule, RankedRule, Ranker, ShiftedRule, read_rule
from stakes.outputs.serialization import JsonReader

BINNINGS = ["equal_weight", "equal_span", "equal_positive"]


def some_rows(seed, n=60, *, ties=False, weighted=False):
    rng = np.random.default_rng(seed)
    score, uncertainty = rng.random(n), rng.exponential(size=n)
    if ties:
        score, uncertainty = score.round(1), uncertainty.round(1)
    weight = rng.integers(1, 4, n) if weighted else None
    return BoundaryRows(rng.random(n) < score, score, uncertainty, weight)


def repeated(rows):
    return BoundaryRows(*(np.repeat(part, rows.weight) for part in (rows.y, rows.score, rows.uncertainty)))


@pytest.mark.parametrize("levels", [1, 2, 3, 7])
def test_levels_of_equal_weight_hold_equally_many_rows(levels):
    rows = some_rows(0, n=84)
    sizes = np.bincount(level_of(level_cuts(rows, levels, "equal_weight"), rows.uncertainty))
    assert sizes.tolist() == [84 // levels] * levels


def test_levels_of_equal_span_are_equally_wide_and_include_their_upper_cut():
    rows = BoundaryRows(np.ones(5, bool), np.ones(5), np.array([0.0, 1.0, 2.0, 3.0, 4.0]))
    cuts = level_cuts(rows, 4, "equal_span")
    assert cuts.tolist() == [1.0, 2.0, 3.0]
    assert level_of(cuts, rows.uncertainty).tolist() == [0, 0, 1, 2, 3]


def test_ties_share_a_level_even_if_fewer_levels_remain():
    rows = BoundaryRows(np.ones(6, bool), np.ones(6), np.array([1.0, 1, 1, 1, 1, 2]))
    assert level_cuts(rows, 3, "equal_weight").tolist() == [1.0]
    assert level_cuts(BoundaryRows(rows.y, rows.score, np.ones(6)), 3, "equal_weight").tolist() == []


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(BINNINGS), st.sampled_from([None, 1, 2, 5, 100]))
def test_options_count_the_rows_at_or_above_their_cut(seed, ties, binning, bins):
    rows = some_rows(seed, ties=ties)
    cuts = level_cuts(rows, 3, binning)
    options = rows_to_options(rows, cuts, binning, bins)
    level = level_of(cuts, rows.uncertainty)
    for k, part in enumerate(options.slices()):
        assert np.all(np.diff(options.selected[part]) > 0)
        for p, n, cut in zip(options.positives[part], options.selected[part], options.cuts[part], strict=True):
            inside = (level == k) & (rows.score >= cut)
            assert (p, n) == (np.sum(inside & rows.y), np.sum(inside))
    if bins is None:
        assert len(options.cuts) == sum(len(np.unique(rows.score[level == k])) + 1 for k in range(options.n_levels))
    else:
        assert np.all(np.diff(options.starts) <= bins + 1)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(BINNINGS), st.sampled_from([None, 4]))
def test_weight_k_equals_k_repeated_rows(seed, ties, binning, bins):
    rows = some_rows(seed, ties=ties, weighted=True)
    twice = repeated(rows)
    cuts = level_cuts(rows, 3, binning)
    assert cuts.tolist() == level_cuts(twice, 3, binning).tolist()
    one, two = (rows_to_options(part, cuts, binning, bins) for part in (rows, twice))
    for name in ("starts", "positives", "selected", "cuts"):
        assert getattr(one, name).tolist() == getattr(two, name).tolist()


def test_score_bins_of_equal_weight_without_ties_hold_equally_many_rows():
    rows = some_rows(3, n=90)
    options = rows_to_options(rows, level_cuts(rows, 3, "equal_weight"), "equal_weight", 5)
    for part in options.slices():
        assert np.diff(options.selected[part]).tolist() == [6] * 5


def test_score_bins_of_equal_positives_hold_equally_many_positives():
    rng = np.random.default_rng(4)
    rows = BoundaryRows(np.arange(100) % 5 == 0, rng.random(100), np.ones(100))
    options = rows_to_options(rows, np.empty(0), "equal_positive", 4)
    assert np.diff(options.positives).tolist() == [5] * 4
    lowest = np.sort(rows.score[rows.y])[::-1][[4, 9, 14, 19]]
    assert options.cuts[1:].tolist() == lowest.tolist()


def test_equal_spans_cover_the_unit_interval_or_the_scores():
    score = np.array([0.05, 0.15, 0.55, 0.95])
    rows = BoundaryRows(np.ones(4, bool), score, np.ones(4))
    assert rows_to_options(rows, np.empty(0), "equal_span", 2).cuts.tolist() == [np.inf, 0.55, 0.05]
    rows = BoundaryRows(np.ones(4, bool), score * 10, np.ones(4))  # bins (0.5, 5] and (5, 9.5]
    assert rows_to_options(rows, np.empty(0), "equal_span", 2).cuts.tolist() == [np.inf, 5.5, 0.5]


def test_given_cuts_may_leave_a_level_empty():
    rows = BoundaryRows(np.array([True, False]), np.array([0.7, 0.3]), np.array([1.0, 1.0]))
    options = rows_to_options(rows, np.array([0.0, 5.0]), "equal_weight", None)
    assert options.starts.tolist() == [0, 1, 4, 5]


def test_rows_of_weight_zero_are_as_if_absent():
    rows = check_rows([1, 0, 1], [0.9, 0.5, np.nan], [1, 2, np.nan], sample_weight=[1, 2, 0])
    assert rows.uncertainty.tolist() == [1, 2]
    assert rows.weight.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.2, 0.4], [1.0]), r"uncertainty must have one value per row, got shape \(1,\) for 2 rows"),
        (([0, 1], [0.2, 0.4], [1.0, np.nan]), "uncertainty.*index 1"),
        (([0, 1], [0.2, np.inf], [1.0, 2.0]), "y_score.*index 1"),
        (([0, 2, 1], [0.2, 0.4, 0.5], [1, 2, 3]), "y_true must hold two values"),
        (([0, 2, 1, 3, 4], [0.2] * 5, [1] * 5), r"y_true must hold two values, got 5 \(0, 1, 2, 3, 4\)"),
        (([0, 2, 1, 3, 4, 5], [0.2] * 6, [1] * 6), r"y_true must hold two values, got 6 \(0, 1, 2, 3, 4, \.\.\.\)"),
    ],
)
def test_bad_rows_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        check_rows(*arguments)


def test_fractional_weights_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight must be whole numbers.*got 0\.5 at index 1"):
        check_rows([0, 1], [0.2, 0.4], [1, 2], sample_weight=[1, 0.5])


def test_rows_to_decide_about_must_agree_in_length():
    with pytest.raises(ValueError, match="score and uncertainty must have the same length, got 2 and 1"):
        finite_covariates(**read_covariates([0.2, 0.3], [1]))


@pytest.mark.parametrize("levels", [0, -1, 10**6, [2.0, 1.0], [1.0, 1.0], True, 2.5, "three"])
def test_bad_levels_are_refused(levels):
    with pytest.raises(ValueError, match="levels"):
        check_levels(levels)


def test_shifted_rule_moves_the_score_by_the_share_of_the_uncertainty_between_its_ends():
    rule = ShiftedRule(low=0.5, high=2.5, weight=-0.25, threshold=0.4)
    # 0.5 less a quarter of (u - 0.5) / 2: 0.4 is reached down to u = 1.3
    uncertainty = np.array([0.5, 1.25, 1.3125, 2.5, 4.5])
    assert rule.shifted(0.5, uncertainty).tolist() == [0.5, 0.40625, 0.3984375, 0.25, 0.0]
    assert rule.select(np.full(5, 0.5), uncertainty).tolist() == [True, True, False, False, False]
    # where all uncertainties were the same, there is nothing to move by
    flat = ShiftedRule(low=2.0, high=2.0, weight=5.0, threshold=0.4)
    assert flat.select(np.array([0.4, 0.39]), np.array([1.0, 9.0])).tolist() == [True, False]
    for each in (rule, flat):
        assert read_rule(JsonReader(each.to_dict(), "rule")) == each


@pytest.mark.parametrize("log_odds", [False, True])
@pytest.mark.parametrize("vertex", [0.0, 1.0, -1.5])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_region_of_a_ranking_ends_where_its_quadratic_crosses_the_threshold(sign, vertex, log_odds):
    # log-odds of sign * ((z - vertex)^2 + 2 v) against sign: a distance of sqrt(1 - 2 v) from the vertex
    coefficients = sign * np.array([vertex**2, -2.0 * vertex, 1.0, 2.0, 0.0, 0.0])
    scale = 1.0 if log_odds else 5.0
    ranker = Ranker(coefficients, log_odds, 0.0, scale, np.arange(4.0), np.array([0.0, 0.25, 0.375, 1.0]))
    rule = RankedRule.of(ranker, float(expit(sign)))
    for level, rank in enumerate(ranker.ranks):
        reach = np.sqrt(np.maximum(1.0 - 2.0 * rank, 0.0))
        z = vertex + np.array([-9.0, -reach - 1e-4, -reach + 1e-4, 0.0, reach - 1e-4, reach + 1e-4, 9.0])
        inside = (sign * ((z - vertex) ** 2 + 2.0 * rank) >= sign).tolist()
        assert inside == ([sign > 0.0] * 7 if rank == 1.0 else [sign > 0.0] * 2 + [sign < 0.0] * 3 + [sign > 0.0] * 2)
        score = expit(z) if log_odds else scale * z
        assert rule.select(score, np.full(7, float(level))).tolist() == inside


def test_rules_say_1_and_0_in_an_expression():
    pl = pytest.importorskip("polars")
    nw = pytest.importorskip("narwhals")
    frame = nw.from_native(pl.DataFrame({"s": [0.2, 0.4, 0.6, 0.9], "u": [0.1, 0.3, 0.3, 0.8]}))
    score, uncertainty = frame["s"].to_numpy(), frame["u"].to_numpy()
    for rule in (
        LevelRule(np.array([0.25, 0.5]), np.array([0.2, 0.5, np.inf])),
        LevelRule(np.array([0.25, 0.5]), np.array([0.3, -np.inf, 0.9])),
        ShiftedRule(0.1, 0.8, 0.5, 0.6),
    ):
        found = frame.select(
            nw.all_horizontal(nw.col("s") > 0, ignore_nulls=False), x=rule.expression(nw.col("s"), nw.col("u"))
        )
        assert found["x"].to_list() == rule.select(score, uncertainty).astype(int).tolist()
