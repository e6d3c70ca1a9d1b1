"""Probabilities on which findings of calibration rest: how likely calibrated scores are as far off as these."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from stakes import ScoreTable, costs
from stakes.evaluation._checks_models import _upper_tail, count_tail, excess_tail


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (2, 3))])
@pytest.mark.parametrize("bounds", [(0.05, 0.2), (0.2, 0.6)])
def test_tail_probability_equals_simulation(bounds, seed):
    rng = np.random.default_rng(seed)
    n, measure = 120, costs.Uniform(*bounds)
    scores = rng.beta(1.0, 6.0, n)
    constant = 0.12
    gap = [
        np.array([float(loss(s)) for s in scores]) - float(loss(constant))
        for loss in (measure.negative_loss, measure.positive_loss)
    ]
    draws = rng.random((200_000, n)) < scores
    excess = draws @ (gap[1] - gap[0])
    for share in (0.97, 0.8, 0.2, 0.03, 0.003):
        row = np.argsort(excess)[int((1 - share) * len(excess))]
        simulated = np.mean(excess >= excess[row] - 1e-12)
        table = ScoreTable.from_predictions(draws[row], scores)
        assert excess_tail(table, measure, constant) == pytest.approx(simulated, rel=0.15)


def test_tail_probability_of_the_worst_outcome_is_exact():
    scores = np.array([0.2, 0.3, 0.35])
    table = ScoreTable.from_predictions([0, 0, 0], scores)
    # acting on all three where the constant never would: no event is the worst that can happen
    assert excess_tail(table, costs.Uniform(0.1, 0.15), 0.05) == pytest.approx(np.prod(1 - scores), rel=1e-12)
    assert excess_tail(table, costs.Uniform(0.5, 0.6), 0.05) == 1.0
    sure = ScoreTable.from_predictions([0, 0, 0, 0], [*scores, 0.0])  # as it says
    assert excess_tail(sure, costs.Uniform(0.1, 0.15), 0.05) == pytest.approx(np.prod(1 - scores), rel=1e-12)
    for label, surely in ((1, 0.0), (0, 1.0)):  # what its own scores rule out, even where they lose less than before
        impossible = ScoreTable.from_predictions([0, 1, 1, 1, label], [0.2, 0.3, 0.5, 0.9, surely])
        for constant in (0.05, 0.2, 0.95):
            assert excess_tail(impossible, costs.Uniform(0.1, 0.3), constant) == 0.0


def test_rows_that_are_sure_of_their_outcome_hide_no_others():
    """11 events of 20 rows at .3, beside 10^10 that are sure: the tail is that of the 20 (binomial, mid-p)."""
    columns = np.array([[0.3, 1.0 - 1e-13], [11.0, 1e10], [9.0, 0.0]])
    table = ScoreTable(*columns, *columns[1:], n_rows=10**10 + 20)
    few = 2.0 * (binom.sf(11, 20, 0.3) + 0.5 * binom.pmf(11, 20, 0.3))
    assert count_tail(table) == pytest.approx(few, rel=0.1)


def test_tail_probability_takes_weights_as_repetition():
    rng = np.random.default_rng(3)
    scores = rng.beta(1.0, 4.0, 80)
    y = rng.random(80) < 0.7 * scores
    once = ScoreTable.from_predictions(np.repeat(y, 2), np.repeat(scores, 2))
    tripled = ScoreTable.from_predictions(np.repeat(y, 2), np.repeat(scores, 2), sample_weight=np.full(160, 3.0))
    measure = costs.Uniform(0.1, 0.4)
    assert excess_tail(tripled, measure, 0.2) == pytest.approx(excess_tail(once, measure, 0.2), rel=1e-9)


def test_tail_probability_of_the_number_of_events_equals_simulation():
    rng = np.random.default_rng(4)
    scores = rng.beta(1.0, 6.0, 150)
    counts = (rng.random((200_000, 150)) < scores).sum(axis=1)
    for events in (10, 14, 30, 34):
        table = ScoreTable.from_predictions(np.arange(150) < events, scores)
        beyond = [counts >= events, counts > events] if events > scores.sum() else [counts <= events, counts < events]
        # the formula knows no steps: it lies between "as many" and "more"
        many, more = (2 * np.mean(which) for which in beyond)
        assert 0.95 * more < count_tail(table) < 1.05 * many


@pytest.mark.parametrize("share", [0.9, 0.3, 0.1, 0.02])
@pytest.mark.parametrize("tail", ["count", "excess"])
def test_tail_probabilities_draw_weights_anew_with_the_labels(tail, share):
    """A tenth of the negatives is kept, and weighs ten times as much: labels of the rows kept are drawn by Bayes."""
    rng, measure, constant = np.random.default_rng(4), costs.Uniform(0.05, 0.2), 0.12
    scores = rng.beta(1.0, 6.0, 150)
    draws = rng.random((60_000, 150)) < scores / (scores + 0.1 * (1.0 - scores))
    negative, positive = -scores, 1.0 - scores
    if tail == "excess":
        losses = measure.negative_loss, measure.positive_loss
        negative, positive = (np.array([float(loss(s) - loss(constant)) for s in scores]) for loss in losses)
    sums = draws @ (positive - 10.0 * negative) + 10.0 * negative.sum()
    row = np.argsort(sums)[int((1.0 - share) * len(sums))]
    table = ScoreTable.from_predictions(draws[row], scores, sample_weight=np.where(draws[row], 1.0, 10.0))
    above, below = np.mean(sums >= sums[row]), np.mean(sums <= sums[row])
    if tail == "count":
        assert count_tail(table) == pytest.approx(2.0 * min(above, below), rel=0.1)
    else:
        assert excess_tail(table, measure, constant) == pytest.approx(above, rel=0.1)


@pytest.mark.parametrize("score", [1e-9, 1e-30, 1e-100, 1e-300, 1e-320])
@pytest.mark.parametrize("events", [1, 3, 10])
def test_tail_probability_next_to_zero_lies_between_the_binomial_ones(score, events):
    table = ScoreTable.from_predictions(np.arange(20) < events, np.full(20, score))
    more, many = (2.0 * float(binom.sf(count, 20, score)) for count in (events, events - 1))
    assert 0.9 * more <= count_tail(table) <= 1.1 * many
    light = ScoreTable.from_predictions(np.arange(20) < events, np.full(20, score), sample_weight=np.full(20, 0.01))
    assert 0.9 * more <= count_tail(light) <= 1.1 * many


@pytest.mark.parametrize("rows", [1e7, 1e8, 1e9, 1e10])
@pytest.mark.parametrize("errors", [-0.01, 0.0, 1e-4, 2e-3, 0.03, 0.04, 0.06, 0.1, 1.0, 3.0])
def test_tail_probability_of_very_many_rows_is_the_normal_one(rows, errors):
    for first, second in ((0.1, 0.6), (0.3, 0.31), (0.02, 0.97)):
        prob, many = np.array([first, second]), np.array([rows, rows / 3.0])
        seen = many @ prob + errors * np.sqrt(many @ (prob * (1.0 - prob)))
        assert _upper_tail(prob, np.ones(2), many, seen) == pytest.approx(norm.sf(errors), rel=0.02)


@pytest.mark.parametrize(
    ("open_", "at_zero", "not_at_one"),
    [(12, 0, 0), (12, 9, 0), (12, 4, 4), (12, 1, 8), (20, 0, 19), (1, 30, 0), (12, 29, 0)],
)
@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_events_that_scores_of_0_or_1_exclude_count_among_the_events(open_, at_zero, not_at_one, weight):
    """40 rows at .3, 30 at 0 and 20 at 1: the number of events is binomial of the 40, and 20 more."""
    y = np.concatenate([np.arange(40) < open_, np.arange(30) < at_zero, np.arange(20) >= not_at_one])
    table = ScoreTable.from_predictions(y, np.repeat([0.3, 0.0, 1.0], [40, 30, 20]), sample_weight=np.full(90, weight))
    events = open_ + at_zero - not_at_one  # beyond the 20
    mine = binom.sf if events > 12 else binom.cdf
    many, more = 2.0 * mine(events - (events > 12), 40, 0.3), 2.0 * mine(events - (events <= 12), 40, 0.3)
    assert more * 0.99 <= count_tail(table) <= min(1.0, many * 1.01)


@pytest.mark.parametrize("measure", [costs.LogOddsUniform(0.0, 1.0), costs.Uniform(0.2, 0.7)])
def test_scores_of_0_and_1_that_were_right_say_nothing_of_the_others(measure):
    """Were they wrong, they would cost infinitely much by log-odds."""
    y = np.repeat([True, False, False, True], [14, 26, 30, 20])
    table = ScoreTable.from_predictions(y, np.repeat([0.3, 0.3, 0.0, 1.0], [14, 26, 30, 20]))
    others = ScoreTable.from_predictions(y[:40], np.full(40, 0.3))
    assert 0.0 < excess_tail(others, measure, 0.5) < 1.0
    assert excess_tail(table, measure, 0.5) == pytest.approx(excess_tail(others, measure, 0.5), rel=1e-12)
    assert count_tail(table) == pytest.approx(count_tail(others), rel=1e-12)


@pytest.mark.parametrize("tiny", [1e-16, 1e-30, 1e-100, 1e-320])
@pytest.mark.parametrize(("score", "rows"), [(0.1, 4), (0.3, 8), (0.5, 3)])
@pytest.mark.parametrize("weight", [1e-60, 1.0, 1e60])
def test_scores_next_to_zero_say_of_the_others_what_zeros_say(tiny, score, rows, weight):
    y = np.arange(1000 + rows) < rows
    table = ScoreTable.from_predictions(y, np.where(y, score, tiny), sample_weight=np.full(len(y), weight))
    assert count_tail(table) == pytest.approx(2.0 * score**rows, rel=1e-5)
    # acting on none where the constant acts on all: the more events, the worse
    assert excess_tail(table, costs.Uniform(0.55, 0.6), 0.9) == pytest.approx(score**rows, rel=1e-5)


def test_a_billion_rows_that_are_all_but_certain_do_not_hide_twenty_others():
    prob, rows = np.array([0.5, 1.0 - 1e-12]), np.array([20.0, 1e9])
    tail = _upper_tail(prob, np.ones(2), rows, float(np.dot(rows, prob)) + 2.0)
    assert tail == pytest.approx(norm.sf(2.0 / 5.0**0.5), abs=0.01)  # the variance is that of the twenty
