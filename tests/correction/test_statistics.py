"""Likelihood ratio, z, miscalibration and e-value: general optimisers, naive loops and the core as oracles."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import chi2, norm

from stakes import ScoreTable, costs, decompose
from stakes.correction import _loss_calibration as statistics, loss_calibration_test
from stakes.correction._loss_calibration import (
    SHIFTS,
    SLOPES,
    bootstrap_rows,
    bootstrap_table,
    brier_miscalibration,
    free_fit,
    recalibration_test,
    sequential_e_value,
    spiegelhalter,
)
from stakes.outputs.hooks import listening


def sample(seed, n=200, *, weighted=False):
    rng = np.random.default_rng(seed)
    g = rng.uniform(0.05, 0.95, n)
    y = rng.random(n) < g
    return (y, g, rng.uniform(0.2, 3.0, n)) if weighted else (y, g)


def log_likelihood(y, g):
    return float(np.sum(np.where(y, np.log(g), np.log1p(-g))))


@pytest.mark.parametrize("seed", range(5))
def test_likelihood_ratio_by_a_general_optimiser(seed):
    y, g = sample(seed)
    best = minimize(lambda t: -log_likelihood(y, expit(t[0] + t[1] * logit(g))), [0.0, 1.0], tol=1e-12)
    found = recalibration_test(ScoreTable.from_predictions(y, g))
    assert found.statistic == pytest.approx(2 * (-best.fun - log_likelihood(y, g)), abs=1e-8)
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, 2), rel=1e-12)


def test_separated_classes_give_the_ratio_that_the_fit_approaches():
    y, g = np.array([0, 0, 0, 1, 1]), np.array([0.1, 0.2, 0.3, 0.6, 0.9])
    found = recalibration_test(ScoreTable.from_predictions(y, g))
    assert found.statistic == pytest.approx(-2 * log_likelihood(y == 1, g))
    assert found.fit.slope == math.inf
    # one score holds both classes: the likelihood approaches that of its own rate, not one
    y, g = np.array([0, 0, 1, 0, 1]), np.array([0.1, 0.3, 0.3, 0.3, 0.9])
    found = recalibration_test(ScoreTable.from_predictions(y, g))
    limit = math.log(1 / 3) + 2 * math.log(2 / 3)
    assert found.statistic == pytest.approx(2 * (limit - log_likelihood(y == 1, g)))


@pytest.mark.parametrize("certain", [[0], [1], [0, 0, 1]])
def test_certain_scores_that_are_right_are_left_aside(certain):
    y, g = sample(1)
    y, g = np.append(y, [1, 0]), np.append(g, [0.5 * g.min(), 0.5 + 0.5 * g.max()])  # the ends are the least likely
    more_y, more_g = np.append(y, certain), np.append(g, certain)
    plain, extended = (recalibration_test(ScoreTable.from_predictions(*rows)) for rows in ((y, g), (more_y, more_g)))
    assert extended.statistic == pytest.approx(plain.statistic, abs=1e-10)


@pytest.mark.parametrize(("label", "score"), [(1, 0.0), (0, 1.0)])
def test_one_certain_score_that_is_wrong_rejects(label, score):
    y, g = sample(1)
    y, g = np.append(y, label), np.append(g, score)
    found = loss_calibration_test(y, g, n_resamples=9)
    assert (found.likelihood_ratio, found.p_value) == (math.inf, 0.0)
    assert found.largest_e_value == math.inf
    assert found.crossed_at == len(y) - 1
    assert not found.loss_calibrated
    assert "was wrong" in found.status


def test_scores_of_0_and_1_alone():
    found = loss_calibration_test([0, 1, 1], [0.0, 1.0, 1.0], n_resamples=9)
    assert (found.p_value, found.e_value) == (1.0, 1.0)
    assert np.isnan(found.z)


def test_scores_of_0_and_1_that_are_right_show_nothing_and_that_are_wrong_everything():
    for y, known in (([0, 1], (0.0, 1.0)), ([0, 0], (math.inf, 0.0)), ([1, 1], (math.inf, 0.0))):
        found = recalibration_test(ScoreTable.from_predictions(y, [0.0, 1.0]))
        assert (found.statistic, found.p_value) == known
        assert found.status == ("every score is 0 or 1, and right" if y == [0, 1] else "a score of 0 or 1 was wrong")
    # every draw is the data themselves, which is as far as the data
    certain = ScoreTable.from_predictions([0, 1], [0.0, 1.0])
    assert bootstrap_table(certain, 19, np.random.default_rng(0)) == (0.0, 1.0)
    rows = np.array([0.0, 1.0, 1.0]), np.array([False, True, True]), np.array([1.0, 2.0, 0.5])
    assert bootstrap_rows(*rows, 19, np.random.default_rng(0)) == (0.0, 1.0)
    # scores of which no draw is as bad as the data
    wrong = np.full(40, 0.01), np.arange(40) < 20, np.ones(40)
    assert bootstrap_rows(*wrong, 19, np.random.default_rng(0))[1] == 1 / 20


def test_bets_shift_as_far_up_as_down():
    assert list(SHIFTS) == [-shift for shift in SHIFTS[::-1]]
    assert 0.0 in SHIFTS


def test_bets_flatten_about_as_far_as_they_steepen():
    assert list(SLOPES) == pytest.approx([1.0 / slope for slope in SLOPES[::-1]], rel=0.02)
    assert 1.0 in SLOPES


@pytest.mark.parametrize("constant", [None, 3.0])
def test_spiegelhalter_is_the_printed_sum(constant):
    y, g = sample(2)
    z = np.sum((y - g) * (1 - 2 * g)) / math.sqrt(np.sum((1 - 2 * g) ** 2 * g * (1 - g)))
    weight = None if constant is None else np.full(len(y), constant)
    found = spiegelhalter(ScoreTable.from_predictions(y, g, sample_weight=weight))
    assert found == pytest.approx((z, 2 * norm.sf(abs(z))), rel=1e-10)


@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_weighted_spiegelhalter_is_the_sum_whose_variance_is_that_of_the_recalibrated_scores(unit, certain):
    y, g, weight = sampled_by_outcome(1, (1.0, 0.1), 400)
    if certain:  # right, and so of no part in it
        y, g, weight = np.append(y, [True, False]), np.append(g, [1.0, 0.0]), np.append(weight, [2.0, 3.0])
    inner = (g > 0.0) & (g < 1.0)
    x, w = logit(g[inner]), weight[inner]

    def minus_log_likelihood(line):
        return np.sum(w * np.logaddexp(0.0, np.where(y[inner], -1.0, 1.0) * (line[0] + line[1] * x)))

    p = expit(np.column_stack([np.ones_like(x), x]) @ minimize(minus_log_likelihood, [0.0, 1.0], tol=1e-12).x)
    lever = (1 - 2 * g) ** 2
    inflation = np.sum(w**2 * lever[inner] * (y[inner] - p) ** 2) / np.sum(w * lever[inner] * p * (1 - p))
    z = np.sum(weight * (y - g) * (1 - 2 * g)) / math.sqrt(np.sum(weight * lever * g * (1 - g)) * inflation)
    found = spiegelhalter(ScoreTable.from_predictions(y, g, sample_weight=unit * weight))
    assert found == pytest.approx((z, 2 * norm.sf(abs(z))), rel=1e-5)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize(
    ("y", "g"),
    [
        ([0, 0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8, 0.9]),
        ([1, 1, 1, 1, 1], [0.1, 0.2, 0.7, 0.8, 1.0]),
        ([0, 1, 0, 1, 1], [0.3] * 5),
    ],
    ids=["separated", "one class", "one score"],
)
def test_weighted_spiegelhalter_without_a_fit_takes_the_scores_at_their_word(y, g, unit):
    y, g, weight = np.array(y), np.array(g), np.array([1.0, 3.0, 2.0, 5.0, 0.5])
    z = np.sum(weight * (y - g) * (1 - 2 * g)) / math.sqrt(np.sum((weight * (1 - 2 * g)) ** 2 * g * (1 - g)))
    found = spiegelhalter(ScoreTable.from_predictions(y, g, sample_weight=unit * weight))
    assert found == pytest.approx((z, 2 * norm.sf(abs(z))), rel=1e-9)


@pytest.mark.parametrize("unit", [2.0, 1e-9, 1e9])
@pytest.mark.parametrize("separated", [False, True])
def test_equal_weights_are_as_none_and_the_unit_of_others_counts_for_nothing(unit, separated):
    y, g = sample(7)
    y = g > 0.5 if separated else y
    for weight in (None, np.where(np.arange(200) % 3, 1.0, 4.0)):
        plain = ScoreTable.from_predictions(y, g, sample_weight=weight)
        table = ScoreTable.from_predictions(y, g, sample_weight=unit * (np.ones(200) if weight is None else weight))
        found, known = recalibration_test(table), recalibration_test(plain)
        assert (found.statistic, found.p_value) == pytest.approx((known.statistic, known.p_value), rel=1e-9)
        found, known = (loss_calibration_test(each, n_resamples=0).implied for each in (table, plain))
        ends = [
            (each.ci_low, each.ci_high, each.slope_ci_low, each.slope_ci_high, each.p_value) for each in (found, known)
        ]
        assert ends[0] == pytest.approx(ends[1], rel=1e-9, nan_ok=True)


def test_equal_weights_of_several_classes_are_as_none():
    rng = np.random.default_rng(3)
    prob = rng.dirichlet([1.0, 2.0, 1.5], 150)
    y = (rng.random((150, 1)) > prob.cumsum(axis=1)).sum(axis=1)
    plain, weighed = (loss_calibration_test(y, prob, sample_weight=w).to_json() for w in (None, np.full(150, 2.0)))
    numbers = [np.array(re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text), dtype=float) for text in (plain, weighed)]
    assert numbers[1] == pytest.approx(numbers[0], rel=1e-7)


def sampled_by_outcome(seed, kept, n=4000):
    """Rows of which a share of each class is kept, by their weights one row of the population each."""
    rng = np.random.default_rng(seed)
    g = rng.beta(1, 4, n)
    y = rng.random(n) < g
    share = np.where(y, kept[1], kept[0])
    seen = rng.random(n) < share
    return y[seen], g[seen], 1.0 / share[seen]


@pytest.mark.parametrize("kept", [(1.0, 0.1), (0.1, 1.0), "by the score"])
def test_weighted_spiegelhalter_has_the_spread_of_the_jackknife(kept):
    if kept == "by the score":
        y, g = sample(2, 6000)
        weight = np.where(g > 0.3, 1.0, 6.0)
    else:
        y, g, weight = sampled_by_outcome(1, kept, 12000)
    parts = weight * (y - g) * (1 - 2 * g)
    spread = math.sqrt(len(y) / (len(y) - 1)) * math.sqrt(np.sum((parts - parts.mean()) ** 2))  # of sums without a row
    z, p = spiegelhalter(ScoreTable.from_predictions(y, g, sample_weight=weight))
    assert z == pytest.approx(parts.sum() / spread, rel=0.12)
    assert p == pytest.approx(2 * norm.sf(abs(z)), rel=1e-10)


def test_few_positives_do_not_shrink_the_variance_of_weighted_rows():
    g, weight = np.full(200, 0.01), np.where(np.arange(200) % 2, 1.0, 2.0)
    for count, least in ((0, 0.1), (1, 0.3)):  # of 2 expected
        assert spiegelhalter(ScoreTable.from_predictions(np.arange(200) < count, g, sample_weight=weight))[1] > least


@pytest.mark.parametrize("kept", [(1.0, 0.1), (0.1, 1.0)])
def test_labels_of_rows_sampled_by_their_outcome_are_drawn_as_they_were(kept, monkeypatch):
    y, g, weight = sampled_by_outcome(4, kept)
    seen = []

    def kept_draw(scores, ups, downs):
        seen.append((ups.sum(), downs.sum()))
        return brier_miscalibration(scores, ups, downs)

    monkeypatch.setattr(statistics, "brier_miscalibration", kept_draw)
    bootstrap_rows(g, y, weight, 199, np.random.default_rng(0))
    (ups, downs), draws = seen[0], np.array(seen[1:])
    assert (ups, downs) == pytest.approx((weight[y].sum(), weight[~y].sum()), rel=1e-12)
    # exactly: a row is positive with odds g / (1 - g) kept[1] / kept[0], and brings 1 / kept of its class
    rate = g * kept[1] / (g * kept[1] + (1 - g) * kept[0])
    for column, share, chance in ((0, kept[1], rate), (1, kept[0], 1 - rate)):
        assert draws[:, column].mean() == pytest.approx(chance.sum() / share, rel=0.01)
        assert draws[:, column].std() == pytest.approx(np.sqrt((rate * (1 - rate)).sum()) / share, rel=0.2)


@pytest.mark.simulation
@pytest.mark.parametrize("kept", [(1.0, 0.1), (0.1, 1.0)])
def test_rates_of_rejection_on_rows_sampled_by_their_outcome(kept):
    rejected, spread = np.zeros(2), []
    for seed in range(300):
        y, g, weight = sampled_by_outcome(seed, kept)
        found = loss_calibration_test(y, g, sample_weight=weight, n_resamples=39, random_state=seed)
        rejected += [found.z_p_value <= 0.05, found.miscalibration_p_value <= 0.05]
        spread.append(found.z)
    assert np.all((rejected >= 4) & (rejected <= 30))  # 15 expected; with the old weights 92 and 135, or 0 and 4
    assert np.std(spread) == pytest.approx(1.0, abs=0.12)


def test_spiegelhalter_is_blind_at_one_half():
    assert np.isnan(spiegelhalter(ScoreTable.from_predictions([0, 1, 1], [0.5, 0.5, 0.5]))).all()


@given(st.integers(0, 10**6), st.booleans())
def test_miscalibration_is_that_of_the_decomposition(seed, weighted):
    rng = np.random.default_rng(seed)
    y, g = rng.random(30) < 0.4, rng.choice([0.0, 0.1, 0.3, 0.5, 0.9, 1.0, 0.25, 0.75], 30)
    table = ScoreTable.from_predictions(y, g, sample_weight=rng.uniform(0.1, 2, 30) if weighted else None)
    found = brier_miscalibration(table.scores, table.positives, table.negatives)
    assert found == pytest.approx(decompose(table, costs=costs.Uniform(0, 1), scale="loss").miscalibration, abs=1e-13)


def test_bootstrap_draws_labels_from_the_scores():
    y, g = sample(3, 150)
    table = ScoreTable.from_predictions(y, g)
    observed, p = bootstrap_table(table, 400, np.random.default_rng(0))
    rng = np.random.default_rng(9)
    drawn = []
    for _ in range(400):
        other = ScoreTable.from_predictions(rng.random(150) < g, g)
        drawn.append(decompose(other, costs=costs.Uniform(0, 1), scale="loss").miscalibration)
    assert p == pytest.approx((1 + np.sum(np.array(drawn) >= observed)) / 401, abs=0.1)
    rows = bootstrap_rows(g, y, np.ones(150), 400, np.random.default_rng(1))
    assert rows == pytest.approx((observed, p), abs=0.1)
    assert rows[0] == pytest.approx(observed, abs=1e-14)


def test_tied_scores_are_drawn_as_binomial_counts():
    rng = np.random.default_rng(4)
    g = rng.choice([0.2, 0.5, 0.7], 3000)
    y = rng.random(3000) < g
    tied = bootstrap_table(ScoreTable.from_predictions(y, g), 300, np.random.default_rng(0))
    rows = bootstrap_rows(g, y, np.ones(3000), 300, np.random.default_rng(1))
    assert tied[0] == pytest.approx(rows[0], abs=1e-14)
    assert tied[1] == pytest.approx(rows[1], abs=0.12)


@pytest.mark.parametrize("weighted", [False, True])
def test_drawing_ends_where_no_other_draw_would_reach_the_observed(weighted, monkeypatch):
    y, g = sample(7, 4000)
    g, weight = g**0.25, np.random.default_rng(1).uniform(0.5, 1.0, 4000) if weighted else None

    def found():
        rng, steps = np.random.default_rng(0), []
        with listening(lambda done, of: steps.append((done, of))):
            if weight is None:
                return bootstrap_table(ScoreTable.from_predictions(y, g), 199, rng), steps
            return bootstrap_rows(g, y, weight, 199, rng), steps

    early, told = found()
    monkeypatch.setattr(statistics, "_CLEAR", math.inf)
    assert found()[0] == early == (early[0], 1 / 200)
    assert told[-1] == (40, 199)
    assert len(found()[1]) == 199


def test_drawing_ends_at_the_same_draw_whatever_the_unit_of_the_weights():
    y, g = sample(7, 4000)
    weight, told = np.random.default_rng(1).uniform(0.5, 1.0, 4000), []
    for unit in (1e-6, 1.0, 1e6):
        with listening(lambda done, of: told.append((done, of))):
            bootstrap_rows(g**0.25, y, unit * weight, 199, np.random.default_rng(0))
        assert told.pop() == (40, 199)


def test_labels_are_drawn_each_with_its_own_probability():
    chance = np.array([0.0, 1e-5, 1 / 65536, 0.001, 0.02, 0.02, 0.3, 0.5, 0.9, 1 - 1e-5, 1.0])
    labels, drawn = statistics._bernoulli(chance, np.random.default_rng(0)), np.zeros((60_000, len(chance)), bool)
    for row in drawn:
        row[:] = labels()
    assert np.all(np.abs(drawn.mean(axis=0) - chance) <= 4.5 * np.sqrt(chance * (1 - chance) / len(drawn)))
    between = np.cov(drawn[:, chance % 1 > 0], rowvar=False)  # independent
    spread = np.sqrt(chance * (1 - chance))[chance % 1 > 0]
    np.fill_diagonal(between, 0.0)
    assert np.all(np.abs(between) <= 4.5 * np.outer(spread, spread) / math.sqrt(len(drawn)))


@pytest.mark.parametrize("seed", [3, 8])
def test_many_scores_are_drawn_until_fifty_reach_the_observed(seed, monkeypatch):
    y, g = sample(seed, 150)
    table = ScoreTable.from_predictions(y, g)
    _, all_of_them = bootstrap_table(table, 2000, np.random.default_rng(0))
    monkeypatch.setattr(statistics, "_MANY", 100)
    _, p = bootstrap_table(table, 2000, np.random.default_rng(0))
    assert (50 / p) == pytest.approx(round(50 / p))
    assert p == pytest.approx(all_of_them, rel=4 / math.sqrt(50))


def test_labels_of_many_scores_are_drawn_in_narrow_cells(monkeypatch):
    rng, p, in_cells = np.random.default_rng(11), [], []
    for spread in (2.0, 2.0, 0.02, 0.02):  # log-odds; with little spread, cells of ranks are narrower
        g = expit(rng.normal(-1.5, spread, 8000))
        table = ScoreTable.from_predictions(rng.random(8000) < g, g)
        monkeypatch.setattr(statistics, "_MANY", 10**9)
        every, chance = bootstrap_table(table, 300, np.random.default_rng(0))
        monkeypatch.setattr(statistics, "_MANY", 1000)
        monkeypatch.setattr(statistics, "_ENOUGH", 10**9)
        observed, found = bootstrap_table(table, 300, np.random.default_rng(1))
        assert observed == every  # of every score
        p, in_cells = [*p, chance], [*in_cells, found]
    assert np.ptp(p) > 0.2
    assert in_cells == pytest.approx(p, abs=0.12)  # 300 draws: a standard error of at most .04 of the difference


@pytest.mark.parametrize("rows_at_once", [64, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_e_value_is_the_mean_of_the_bets(weighted, rows_at_once, monkeypatch):
    monkeypatch.setattr(statistics, "_BET_ROWS", rows_at_once)
    y, g, *w = sample(5, 300, weighted=weighted)
    power = w[0] / w[0].max() if w else np.ones(300)
    course = np.zeros(300)
    for shift in SHIFTS:
        for slope in SLOPES:
            q = expit(shift + slope * logit(g))
            course += np.cumprod((np.where(y, q, 1 - q) / np.where(y, g, 1 - g)) ** power)
    course /= len(SHIFTS) * len(SLOPES)
    found = sequential_e_value(y, g, w[0] if w else None, 0.05)
    assert found.last == pytest.approx(course[-1], rel=1e-9)
    assert found.largest == pytest.approx(course.max(), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_e_value_leaves_certain_scores_that_are_right_aside(weighted):
    y, g, *w = sample(5, 300, weighted=weighted)
    at = np.array([0, 7, 150, 300])
    more_y, more_g = np.insert(y, at, [True, False, True, False]), np.insert(g, at, [1.0, 0.0, 1.0, 0.0])
    plain = sequential_e_value(y, g, w[0] if w else None, 0.05)
    found = sequential_e_value(more_y, more_g, np.insert(w[0], at, w[0].max()) if w else None, 0.05)
    assert found.last == pytest.approx(plain.last, rel=1e-12)
    assert found.largest == pytest.approx(plain.largest, rel=1e-12)


def test_e_value_crosses_where_the_evidence_first_suffices():
    rng = np.random.default_rng(6)
    g = rng.uniform(0.1, 0.9, 9000)
    y = rng.random(9000) < expit(logit(g) - 0.15)
    found = sequential_e_value(y, g, None, 0.01)
    assert found.crossed_at is not None
    assert sequential_e_value(y[: found.crossed_at], g[: found.crossed_at], None, 0.01).largest < 100.0
    assert sequential_e_value(y[: found.crossed_at + 1], g[: found.crossed_at + 1], None, 0.01).last >= 100.0


def test_the_row_where_the_evidence_suffices_is_that_of_the_rows_as_they_were_passed():
    y, g = sample(1)
    worse, weight = g**3, np.ones(len(y))
    found = loss_calibration_test(y, worse, n_resamples=0)
    absent = np.arange(0, len(y) + 1, 2)  # a row of weight zero before every second one, and one at the end
    kept = np.flatnonzero(np.insert(weight, absent, 0.0))
    rows = np.insert(y, absent, 1), np.insert(worse, absent, 0.2)
    weighted = loss_calibration_test(*rows, sample_weight=np.insert(weight, absent, 0.0), n_resamples=0)
    assert weighted.crossed_at == kept[found.crossed_at]
    assert loss_calibration_test(*rows, sample_weight=np.insert(weight, absent, 1.0), n_resamples=0).crossed_at < len(
        kept
    )


def test_labels_are_drawn_the_same_whatever_the_order_of_weighted_rows():
    rng = np.random.default_rng(3)
    g = rng.choice([0.2, 0.4, 0.6, 0.8], 60)
    y, weight = rng.random(60) < g, rng.choice([0.5, 1.0, 3.0], 60)
    values = set()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(60)
        found = loss_calibration_test(y[order], g[order], sample_weight=weight[order], n_resamples=199)
        values.add(found.miscalibration_p_value)
    assert len(values) == 1


def test_expectation_of_one_step_of_the_bets_is_one():
    # exactly, by summing over both outcomes: a product of such steps is a martingale
    for g in (0.01, 0.3, 0.5, 0.98):
        values = [sequential_e_value(np.array([label]), np.array([g]), None, 0.05).last for label in (False, True)]
        assert (1 - g) * values[0] + g * values[1] == pytest.approx(1.0, abs=1e-12)


def test_a_constant_weight_changes_no_test():
    y, g = sample(7)
    plain = loss_calibration_test(y, g, n_resamples=0)
    tripled = loss_calibration_test(y, g, sample_weight=np.full(len(y), 3.0), n_resamples=0)
    assert tripled.z == pytest.approx(plain.z, rel=1e-12)
    assert tripled.largest_e_value == pytest.approx(plain.largest_e_value, rel=1e-12)
    # the robust design effect stands in for the model's variance: alike, not the same
    assert tripled.likelihood_ratio == pytest.approx(plain.likelihood_ratio, rel=0.25)


def test_weighted_likelihood_ratio_keeps_its_size():
    rng = np.random.default_rng(8)
    rejected = 0
    for _ in range(400):
        g = rng.uniform(0.1, 0.9, 400)
        table = ScoreTable.from_predictions(rng.random(400) < g, g, sample_weight=rng.exponential(1.0, 400) + 0.01)
        rejected += recalibration_test(table).p_value <= 0.05
    assert 6 <= rejected <= 38  # 20 expected; without the design effect about 80


@pytest.mark.simulation
def test_rates_of_rejection_on_right_scores():
    rng = np.random.default_rng(9)
    rejected = np.zeros(4)
    for _ in range(400):
        g = expit(rng.normal(-1.25, 1.0, 300))
        y = rng.random(300) < g
        found = loss_calibration_test(y, g, n_resamples=39, random_state=rng)
        rejected += [
            found.p_value <= 0.05,
            found.z_p_value <= 0.05,
            found.miscalibration_p_value <= 0.05,
            found.largest_e_value >= 20,
        ]
    assert np.all(rejected <= 38)
    assert np.all(rejected[:3] >= 6)


def test_score_shared_at_the_cut_keeps_its_likelihood_where_the_slope_is_infinite():
    for y in ([0, 0, 1, 1], [0, 1, 0, 1]):
        table = ScoreTable.from_predictions(y, [0.2, 0.3, 0.3, 0.4])
        assert free_fit(table).log_likelihood == pytest.approx(2.0 * math.log(0.5))


@pytest.mark.parametrize(("y", "score"), [([0, 1], [1.0, 1.0]), ([1, 1], [0.0, 1.0]), ([0, 1, 1], [1.0, 0.5, 0.5])])
def test_certain_scores_that_are_wrong_are_infinitely_far_from_chance(y, score):
    assert spiegelhalter(ScoreTable.from_predictions(y, score)) == (math.inf, 0.0)


@pytest.mark.parametrize(("y", "status"), [([0, 1], "every score is 0 or 1, and right"), ([1, 0], "a score of 0 or 1")])
def test_certain_scores_have_no_fit_of_two_numbers(y, status):
    found = recalibration_test(ScoreTable.from_predictions(y, [0.0, 1.0]))
    assert found.status.startswith(status)
    assert found.fit.covariance.shape == (2, 2)
    assert np.isnan(found.fit.covariance).all()
