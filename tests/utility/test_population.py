"""The population approach: an exact scan of thresholds, its spread, and its difference from the batch."""

from __future__ import annotations

import contextlib
import math
import sqlite3
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import samples
from utility_brute import LOSSES
from utility_cases import MEASURES

from stakes.tables import sql_column
from stakes.utility import (
    F1,
    Accuracy,
    ConfusionMeasure,
    FractionalLinear,
    Precision,
    SquaredErrorInCounting,
    expected_utility,
    get_measure,
    population_threshold,
    utility_curve,
)


def counts_at(y, score, weight, threshold):
    acted = score >= threshold
    return [float(weight[(acted == a) & (y == t)].sum()) for a, t in ((1, 1), (1, 0), (0, 1), (0, 0))]


@given(sample=samples(), name=st.sampled_from(sorted(MEASURES)), fill=st.integers(0, 1))
def test_threshold_is_the_best_of_all(sample, name, fill):
    y, score = np.array(sample.y), np.array(sample.score)
    weight = np.ones(len(y)) if sample.weight is None else np.array(sample.weight)
    found = population_threshold(
        y, score, MEASURES[name], sample_weight=sample.weight, zero_division=fill, n_resamples=0
    )
    used = score[weight > 0]
    sign = -1 if name in LOSSES else 1
    values = {
        t: sign * float(MEASURES[name].value(*counts_at(y, score, weight, t), zero_division=fill))
        for t in [*used, math.inf]
    }
    assert sign * found.utility == pytest.approx(max(values.values()), abs=1e-12)
    assert values[found.threshold] == pytest.approx(max(values.values()), abs=1e-12)
    better = [t for t, value in values.items() if value > max(values.values()) - 1e-13]
    assert found.threshold <= max(better)


@given(sample=samples(), name=st.sampled_from(sorted(MEASURES)))
def test_curve_has_the_value_at_every_threshold(sample, name):
    y, score = np.array(sample.y), np.array(sample.score)
    weight = np.ones(len(y)) if sample.weight is None else np.array(sample.weight)
    exact = utility_curve(y, score, MEASURES[name], sample_weight=sample.weight)
    for t in [0.0, 0.3, 1.0, *score, *np.minimum(np.nextafter(score, 2), 1.0)]:
        expected = float(MEASURES[name].value(*counts_at(y, score, weight, t)))
        assert float(exact.at(t)) == pytest.approx(expected, abs=1e-12)


def test_scores_of_any_kind_can_be_scanned():
    y, score = [0, 1, 0, 1], [-3.0, 2.0, 5.0, 7.0]
    assert population_threshold(y, score, "f1", n_resamples=0).threshold == 2.0
    exact = utility_curve(y, score, "f1")
    assert (exact.knots[0], exact.knots[-1]) == (-3.0, 7.0)
    assert float(exact.at(2.0)) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("score", "knots"),
    [
        ([0.2, 0.4, 0.4], [0.0, 0.2, 0.4, 1.0]),
        ([0.0, 0.25, 1.0], [0.0, 0.25, 1.0]),
        ([-3.0, 2.0, 7.0], [-3.0, 2.0, 7.0]),
        ([-3.0, -2.0, -1.0], [-3.0, -2.0, -1.0, 1.0]),
        ([0.5, 2.0, 7.0], [0.0, 0.5, 2.0, 7.0]),
    ],
)
def test_curve_bends_once_at_every_score_and_spans_probabilities_and_scores(score, knots):
    assert utility_curve([0, 1, 1], score, "f1").knots.tolist() == knots


@pytest.mark.parametrize("measure", [F1(), FractionalLinear(c=(1, -1, 0.5), d=(1, 0, 0, 0))], ids=["high", "low"])
def test_decisions_on_scores_of_any_kind_are_the_same_in_a_database(measure):
    found = population_threshold([0, 1, 0, 1], [-3.0, 2.0, 5.0, 7.0], measure, n_resamples=0)
    score = [-3.5, -3.0, -2.5, 1.5, 2.0, 2.5, 5.0, 9.0]
    high = [int(s >= found.threshold) if measure == F1() else int(s <= found.threshold) for s in score]
    assert 0 < sum(high) < len(score)
    assert found.predict(score).tolist() == high
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE rows (x REAL)")
        base.executemany("INSERT INTO rows VALUES (?)", [(s,) for s in score])
        decided = base.execute(f"SELECT {found.predict(sql_column('x', 'sqlite'))} FROM rows ORDER BY rowid").fetchall()  # noqa: S608
    assert [d for (d,) in decided] == high


def fewest_of_best(positives, negatives):
    """Return the most balanced accuracy, and the fewest top levels that reach it, in exact fractions."""
    total = [sum(positives), sum(negatives)]
    value = [
        (Fraction(int(sum(positives[:k])), int(total[0])) + 1 - Fraction(int(sum(negatives[:k])), int(total[1]))) / 2
        for k in range(len(positives) + 1)
    ]
    return max(value), value.index(max(value))


@pytest.mark.parametrize("seed", range(12))
def test_exact_ties_of_rates_that_are_added_go_to_the_fewest_rows(seed):
    rng = np.random.default_rng(seed)
    odds, lead, middle = rng.integers(1, 4), rng.integers(1, 9), rng.integers(0, 4, 28)  # middle levels add nothing
    positives, negatives = [lead, *middle, 0], [0, *(odds * middle), odds * lead]
    score = np.linspace(0.99, 0.01, 30)
    y = np.repeat(np.tile([1, 0], 30), np.ravel([positives, negatives], order="F"))
    rows = np.repeat(np.repeat(score, 2), np.ravel([positives, negatives], order="F"))
    value, levels = fewest_of_best(positives, negatives)
    found = population_threshold(y, rows, "balanced_accuracy", n_resamples=0)
    assert found.utility == pytest.approx(float(value), rel=1e-15)
    assert np.sum(score >= found.threshold) == levels


def test_a_tie_of_three_and_nine_tenths_with_four_and_eight_acts_on_four_rows():
    y = [1] * 3 + [0] + [1] + [0] + [0] * 8 + [1] * 6
    score = [0.9] * 4 + [0.8] * 2 + [0.1] * 14
    assert population_threshold(y, score, "balanced_accuracy", n_resamples=0).threshold == 0.9


def test_of_equal_thresholds_the_one_that_acts_least_is_taken():
    assert population_threshold([1, 0, 1], [0.9, 0.5, 0.7], Precision(), n_resamples=0).threshold == 0.9


def test_acting_on_no_row_may_be_best():
    found = population_threshold([0, 0], [0.2, 0.4], Accuracy(), n_resamples=0)
    assert (found.threshold, found.predict([0.9]).tolist()) == (math.inf, [0])


def test_losses_are_minimised():
    found = population_threshold([0, 1, 1, 0], [0.2, 0.6, 0.7, 0.8], SquaredErrorInCounting(), n_resamples=0)
    assert (found.threshold, found.utility) == (0.7, 0.0)


def test_measure_that_falls_with_true_positives_takes_low_scores():
    measure = FractionalLinear(c=(1, -1, 0.5), d=(1, 0, 0, 0))
    found = population_threshold([0, 1, 0, 1], [0.1, 0.4, 0.3, 0.8], measure, n_resamples=0)
    assert (found.threshold, found.predict([0.1, 0.3, 0.31]).tolist()) == (0.3, [1, 1, 0])


def test_acting_on_no_row_may_be_best_for_a_measure_that_takes_low_scores():
    found = population_threshold([1, 1], [0.2, 0.4], FractionalLinear(c=(1, -1, 0.5), d=(1, 0, 0, 0)), n_resamples=0)
    assert (found.threshold, found.utility, found.predict([0.1]).tolist()) == (-math.inf, 1.0, [0])


def test_curve_of_a_measure_that_falls_with_true_positives_is_that_of_its_threshold():
    measure, y, score = FractionalLinear(c=(1, -1, 0.5), d=(1, 0, 0, 0)), np.array([0, 1, 0, 1]), [0.1, 0.4, 0.3, 0.8]
    exact, found = utility_curve(y, score, measure), population_threshold(y, score, measure, n_resamples=0)
    assert (float(exact.at(found.threshold)), exact.best, exact.best_value) == (found.utility, 0.3, found.utility)
    for t in (0.0, 0.05, *score, 0.5, 1.0):
        acted = np.array(score) <= t
        cells = [
            np.sum(acted & (y == 1)),
            np.sum(acted & (y == 0)),
            np.sum(~acted & (y == 1)),
            np.sum(~acted & (y == 0)),
        ]
        assert float(exact.at(t)) == pytest.approx(float(measure.value(*cells)), abs=1e-12)


def test_curve_knows_the_best_threshold():
    exact = utility_curve([0, 1, 0, 1], [0.1, 0.4, 0.45, 0.8], F1())
    assert (exact.kind, exact.measure, exact.best, exact.best_value) == ("utility", "F1()", 0.4, pytest.approx(0.8))


def test_bootstrap_is_repeatable_and_spreads_around_the_threshold():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, 2000)
    y = rng.random(2000) < p
    one, two = (population_threshold(y, p, F1(), random_state=7) for _ in range(2))
    assert np.array_equal(one.bootstrap_thresholds, two.bootstrap_thresholds)
    assert one.interval[0] < one.threshold < one.interval[1]
    assert one.interval[1] - one.interval[0] < 0.2
    assert one.utility_interval[0] < one.utility < one.utility_interval[1]
    narrow = population_threshold(y, p, F1(), random_state=7, confidence_level=0.5)
    assert narrow.interval[1] - narrow.interval[0] < one.interval[1] - one.interval[0]


def plain_f1(y, score, threshold):
    acted = score >= threshold
    return 2 * np.sum(acted & y) / (np.sum(acted) + np.sum(y))


def test_interval_of_the_value_is_that_of_the_threshold_found_less_the_optimism_of_resamples():
    rng = np.random.default_rng(3)
    score = rng.random(40).round(2)
    y = rng.random(40) < score
    found = population_threshold(y, score, F1(), n_resamples=30, random_state=5)
    again, values, optimism = np.random.default_rng(5), [], []
    order = np.lexsort((y, score))
    for _ in range(30):
        rows = order[again.integers(40, size=40)]
        best = max([*score[rows], math.inf], key=lambda t, rows=rows: (plain_f1(y[rows], score[rows], t), t))
        optimism.append(plain_f1(y[rows], score[rows], best) - plain_f1(y, score, best))
        values.append(plain_f1(y[rows], score[rows], found.threshold))
    assert found.bootstrap_utilities == pytest.approx(np.array(values) - np.mean(optimism), abs=1e-12)
    assert np.mean(found.bootstrap_utilities) < found.utility


@pytest.mark.simulation
def test_interval_of_the_value_holds_for_new_rows():
    held = above = 0
    new = 1 / (1 + np.exp(3.5 - 1.2 * np.random.default_rng(0).normal(size=100_000)))
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = 1 / (1 + np.exp(3.5 - 1.2 * rng.normal(size=500)))
        found = population_threshold(rng.random(500) < p, p, F1())
        acted = new >= found.threshold
        true = 2 * new[acted].sum() / (acted.sum() + new.sum())  # the probabilities of new rows are known
        low, high = found.utility_interval
        held, above = held + (low <= true <= high), above + (true < low)
    assert held >= 53
    assert above <= 5


def test_no_resamples_means_no_interval():
    found = population_threshold([0, 1], [0.2, 0.7], "f1", n_resamples=0)
    assert all(math.isnan(x) for x in (*found.interval, *found.utility_interval))
    assert "[" not in repr(found)


def test_one_resample_is_the_first_of_many_and_both_ends_of_its_interval():
    score = np.random.default_rng(8).random(30)
    y = np.random.default_rng(9).random(30) < score
    one, many = (population_threshold(y, score, "f1", n_resamples=n, random_state=4) for n in (1, 20))
    assert one.bootstrap_thresholds.tolist() == many.bootstrap_thresholds[:1].tolist()
    assert one.interval == (many.bootstrap_thresholds[0],) * 2
    assert one.interval[0] != one.threshold
    assert one.utility_interval == (one.bootstrap_utilities[0],) * 2


def test_weights_are_repetition():
    rng = np.random.default_rng(1)
    y, score, weight = rng.integers(2, size=30), rng.random(30).round(1), rng.integers(4, size=30)
    weighted = population_threshold(y, score, "f1", sample_weight=weight, n_resamples=0)
    repeated = population_threshold(np.repeat(y, weight), np.repeat(score, weight), "f1", n_resamples=0)
    assert (weighted.threshold, weighted.utility) == (repeated.threshold, pytest.approx(repeated.utility))


def test_difference_on_a_batch_is_never_negative_and_vanishes_on_large_ones():
    rng = np.random.default_rng(2)
    p = rng.beta(1, 3, 20_000)
    found = population_threshold(rng.random(20_000) < p, p, F1(), n_resamples=0)
    small = [found.on_batch(rng.beta(1, 3, 15)).loss for _ in range(20)]
    large = found.on_batch(rng.beta(1, 3, 20_000)).loss
    assert min(small) >= 0
    assert 0 <= large < np.mean(small) / 10
    result = expected_utility([0.9, 0.2], F1())
    difference = found.on_batch([0.9, 0.2])
    assert (difference.best_k, difference.best_utility) == (result.best_k, result.utility)
    assert difference.population_utility == result.curve[difference.population_k]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": -1}, "n_resamples must be a whole number >= 0"),
        ({"confidence_level": 1.0}, "confidence_level must lie in"),
        ({"sample_weight": [0, 0]}, "must not be all zero"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        population_threshold([0, 1], [0.2, 0.3], "f1", **options)


def test_tables_of_the_population_approach():
    pytest.importorskip("polars")
    found = population_threshold([0, 1, 1], [0.2, 0.3, 0.8], "f1", n_resamples=5, random_state=0)
    assert found.frame("polars").columns[:2] == ["measure", "threshold"]
    assert found.on_batch([0.4, 0.1]).frame("polars").shape == (1, 6)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_scan_in_pieces_finds_what_one_over_all_thresholds_would(weighted):
    rng = np.random.default_rng(5)
    score = rng.random(20_000)
    y, weight = rng.random(20_000) < score, rng.uniform(0.5, 2.0, 20_000) if weighted else np.ones(20_000)
    order = np.argsort(score)
    mine, all_weights = (weight * y)[order], weight[order]
    for name in ("f1", "g_mean", "mcc"):
        found = population_threshold(y, score, name, sample_weight=weight if weighted else None, n_resamples=0)
        tp = np.append(np.cumsum(mine[::-1])[::-1], 0.0)
        acted = np.append(np.cumsum(all_weights[::-1])[::-1], 0.0)
        values = get_measure(name).value(tp, acted - tp, tp[0] - tp, np.maximum(acted[0] - acted - tp[0] + tp, 0.0))
        best = int(np.argmax(values))
        assert found.threshold == score[order][best]
        assert found.utility == pytest.approx(values[best], abs=1e-12)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_the_unit_of_the_weights_changes_no_threshold(name):
    rng = np.random.default_rng(0)
    score = rng.random(60)
    y = rng.random(60) < score
    plain = population_threshold(y, score, MEASURES[name], n_resamples=0)
    assert 0.0 < plain.threshold < 1.0 or name == "recall"
    for weight in (2.0**-460, 2.0**-280, 2.0**300, 2.0**450):
        found = population_threshold(y, score, MEASURES[name], sample_weight=np.full(60, weight), n_resamples=0)
        assert (found.threshold, found.utility) == (plain.threshold, plain.utility)


def test_resampled_thresholds_are_those_of_the_repeated_rows():
    rng = np.random.default_rng(5)
    score, y = rng.permutation(40) / 40, rng.integers(0, 2, 40)
    found = population_threshold(y, score, "g_mean", n_resamples=20, random_state=6)
    draws, order = np.random.default_rng(6), np.argsort(score)
    for threshold in found.bootstrap_thresholds:
        rows = order[draws.integers(40, size=40)]
        again = population_threshold(y[rows], score[rows], "g_mean", n_resamples=0)
        value = get_measure("g_mean").value(*counts_at(y[rows], score[rows], np.ones(40), threshold))
        assert float(value) == pytest.approx(again.utility, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_do_not_depend_on_the_order_of_rows_of_equal_scores(weighted):
    rng = np.random.default_rng(0)
    score, weight = rng.integers(0, 6, 60) / 6, rng.random(60) if weighted else None
    y = rng.random(60) < score
    found = set()
    for order in (np.arange(60), np.arange(60)[::-1], rng.permutation(60)):
        mine = None if weight is None else weight[order]
        again = population_threshold(y[order], score[order], "f1", sample_weight=mine, n_resamples=40)
        found.add((again.interval, again.bootstrap_thresholds.tobytes(), tuple(again.utility_interval)))
    assert len({(interval, drawn) for interval, drawn, _ in found}) == 1
    ends = np.array([each for _, _, each in found])
    assert np.ptp(ends, axis=0) == pytest.approx(0.0, abs=1e-12)


FALLING = FractionalLinear(c=(1, -1, 0.5), d=(1, 0, 0, 0))  # it takes the lowest scores


PROFIT = ConfusionMeasure(lambda tp, fp, fn, tn: 5.0 * tp - 2.0 * fp + 0.0 * (fn + tn))  # twice the rows, twice as much


@pytest.mark.parametrize(
    "measure", [F1(), SquaredErrorInCounting(), FALLING, PROFIT], ids=["gain", "loss", "lowest scores", "profit"]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_resamples_are_what_counting_their_rows_at_every_threshold_finds(measure, weighted):
    rng = np.random.default_rng(12)
    score, y = rng.integers(1, 6, 9) / 8, np.array([1, 0, 0, 0, 0, 1, 0, 0, 0])
    weight = 2.0 ** rng.integers(-1, 3, 9) if weighted else np.ones(9)
    up = -1 if measure is FALLING else 1  # which way the scores acted on lie
    thresholds = [*sorted(set(up * score)), math.inf]
    sign = 1 if measure.higher_is_better else -1

    def value(weight, threshold):
        return float(measure.value(*counts_at(y, up * score, weight, threshold)))

    def best(weight):
        return max(thresholds, key=lambda t: (sign * value(weight, t), t))

    options = {"sample_weight": weight if weighted else None, "n_resamples": 22, "confidence_level": 0.5}
    found = population_threshold(y, score, measure, random_state=2, **options)
    assert up * found.threshold == best(weight)
    draws, order = np.random.default_rng(2), np.lexsort((weight, y, score))
    chosen, values, optimism = [], [], []
    for _ in range(22):
        counts = np.zeros(9)
        np.add.at(counts, order[draws.integers(9, size=9)], 1.0)
        chosen.append(best(counts * weight))
        values.append(value(counts * weight, best(weight)))
        optimism.append(value(counts * weight, chosen[-1]) - value(weight, chosen[-1]))
    assert (up * found.bootstrap_thresholds).tolist() == chosen
    met = [*values, *(value(weight, t) for t in thresholds)]
    less = np.array(values) - np.mean(optimism)
    assert found.bootstrap_utilities == pytest.approx(np.clip(less, min(met), max(met)), abs=1e-12)
    assert less.min() < min(met) or measure not in (F1(), FALLING)  # some would fall below every value that there is
    for drawn, interval in (
        (up * np.array(chosen), found.interval),
        (found.bootstrap_utilities, found.utility_interval),
    ):
        ordered = np.sort(drawn)
        assert interval == (ordered[5], ordered[16])  # the first that a quarter, and three quarters, do not exceed


def test_a_threshold_on_a_batch_that_is_best_from_its_other_end_is_worth_what_it_acts_on():
    wrong = ConfusionMeasure(lambda tp, fp, fn, tn: 2.0 * fp - tp + 0.0 * (fn + tn), name="wrong")
    found = population_threshold([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9], wrong, n_resamples=0)
    difference = found.on_batch([0.9, 0.6, 0.3, 0.1])
    assert (found.threshold, difference.population_k, difference.best_k) == (0.8, 1, 3)
    assert difference.population_utility == pytest.approx(2 * 0.1 - 0.9, abs=1e-12)
    assert difference.best_utility == pytest.approx(2 * 2.0 - 1.0, abs=1e-12)
