"""Standard errors and paired differences: closed forms against definitions, and coverage by simulation."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from stakes import ScoreTable, bounded_brier_loss, compare, costs, evaluate
from stakes.inference import metric_interval, select_best, table_standard_error

COSTS = costs.Uniform(0.05, 0.4)


def rows(n=400, seed=1):
    rng = np.random.default_rng(seed)
    q = rng.beta(1, 4, n)
    y = rng.random(n) < q
    return y, q, np.clip(q + 0.05 * rng.normal(size=n), 0, 1), rng.integers(1, 4, n)


def test_unweighted_difference_is_the_paired_t_statistic():
    y, a, b, _ = rows()
    difference = bounded_brier_loss(y, a, bounds=(0.05, 0.4), per_sample=True) - bounded_brier_loss(
        y, b, bounds=(0.05, 0.4), per_sample=True
    )
    result = compare(y, a, b, costs=COSTS, scale="loss")
    assert result.difference == pytest.approx(difference.mean(), rel=1e-10)
    assert result.standard_error == pytest.approx(difference.std(ddof=1) / math.sqrt(len(y)), rel=1e-8)
    # fewer degrees of freedom than rows, for few rows carry most of the spread
    d = difference - difference.mean()
    degrees = 2 * np.sum(d**2) ** 2 / (np.sum(d**4) - np.sum(d**2) ** 2 / len(y))
    assert result.p_value == pytest.approx(
        2 * stats.t.sf(abs(result.difference / result.standard_error), degrees), rel=1e-8
    )
    half = stats.t.ppf(0.975, degrees) * result.standard_error
    assert result.interval == pytest.approx((result.difference - half, result.difference + half), rel=1e-8)


def test_weighted_standard_error_is_that_of_a_ratio_of_sums():
    # jackknife of the weighted mean, an independent linearisation
    y, a, _, w = rows(120)
    loss = bounded_brier_loss(y, a, bounds=(0.05, 0.4), per_sample=True)
    means = np.array([np.average(np.delete(loss, i), weights=np.delete(w, i)) for i in range(len(y))])
    jackknife = math.sqrt((len(y) - 1) / len(y) * np.sum((means - means.mean()) ** 2))
    result = evaluate(y, a, costs=COSTS, scale="loss", sample_weight=w)
    assert result.results[0].standard_error == pytest.approx(jackknife, rel=0.02)


def test_table_and_rows_have_the_same_standard_error():
    y, a, _, w = rows()
    table = ScoreTable.from_predictions(y, np.round(a, 2), sample_weight=w)
    by_rows = evaluate(y, np.round(a, 2), costs=COSTS, sample_weight=w).results[0].standard_error
    assert evaluate(table, costs=COSTS).results[0].standard_error == pytest.approx(by_rows, rel=1e-10)
    assert table_standard_error(table, COSTS, "score") / COSTS.mass == pytest.approx(by_rows, rel=1e-10)
    target = 0.1
    stratified = evaluate(y, np.round(a, 2), costs=COSTS, sample_weight=w, prevalence=target).results[0].standard_error
    of_table = table_standard_error(table.with_prevalence(target), COSTS, "score") / COSTS.mass
    # a weighted table does not say how many rows each class has, only how many there are effectively
    assert of_table == pytest.approx(stratified, rel=1e-4)


def test_stated_prevalence_centres_each_class_on_its_own_mean():
    y, a, _, _ = rows()
    loss = bounded_brier_loss(y, a, bounds=(0.05, 0.4), per_sample=True)
    p = 0.03
    by_class = [loss[~y].var() / (~y).sum(), loss[y].var() / y.sum()]
    expected = math.sqrt((1 - p) ** 2 * by_class[0] + p**2 * by_class[1])
    result = evaluate(y, a, costs=COSTS, scale="loss", prevalence=p)
    assert result.results[0].standard_error == pytest.approx(expected, rel=0.005)


def one_of_ten(found, negatives):
    """Labels and scores: so many of ten positives are found at 0.3, and every twentieth negative is a false alarm."""
    y, score = np.repeat([1, 0], [10, negatives]), np.full(10 + negatives, 0.1)
    score[:found] = score[10::20] = 0.6
    return y, score


@pytest.mark.parametrize("found", [0, 1, 4])
@pytest.mark.parametrize("negatives", [40, 500])
def test_an_interval_is_as_wide_where_few_positives_are_found_as_where_few_are_missed(found, negatives):
    """At a stated prevalence the spread of 0 or 1 is that of 1 or 0, so that what is scarce on one side is on both."""
    y, low = one_of_ten(found, negatives)
    high = one_of_ten(10 - found, negatives)[1]
    widths, notes = [], []
    for score in (low, high):
        estimate = metric_interval(y, score, "expected_regret", costs=0.3, prevalence=0.4)
        # further than the range of the cost an interval does not go
        widths.append(max(np.abs(np.subtract(estimate.interval, estimate.value))))
        notes.append(estimate.note)
    assert widths[0] == pytest.approx(widths[1], rel=1e-9)
    assert all(notes)


@pytest.mark.parametrize("prevalence", [0.02, 0.1, 0.4])
def test_an_interval_without_a_positive_found_reaches_to_the_sensitivity_that_may_be(prevalence):
    """Clopper and Pearson: none of 10 is compatible with a sensitivity of 1 - 0.025 ** (1 / 10)."""
    y, score = one_of_ten(0, 500)
    result = evaluate(y, {"a": score}, costs=0.3, prevalence=prevalence)
    low = result["a"].score - 0.7 * prevalence * (1.0 - 0.025**0.1)
    assert result["a"].interval[0] < low + 0.03 * prevalence
    assert result["a"].note == "every positive costs the most here: at least 5 must not"
    assert result["treat all"].interval == pytest.approx([0.3 * (1.0 - prevalence)] * 2)
    assert result["treat none"].interval == pytest.approx([0.7 * prevalence] * 2)


def test_models_that_differ_in_every_positive_alike_may_not_in_the_next():
    y, low = one_of_ten(0, 500)
    result = evaluate(y, {"a": low, "b": one_of_ten(10, 500)[1]}, costs=0.3, prevalence=0.1)
    found = result.compare("a", "b")
    # none of 10 is compatible with a share of 1 - 0.025 ** (1 / 10)
    assert np.subtract(found.interval, found.difference)[1] > 0.07 * (1.0 - 0.025**0.1) - 0.003
    assert found.note == "every positive tells the two apart: at least 5 must not"
    chosen = select_best(y, {"a": low, "b": one_of_ten(10, 500)[1]}, costs=0.3, prevalence=0.1)
    assert chosen.chosen == "b"


@pytest.mark.simulation
@pytest.mark.parametrize(("counts", "hits"), [((6, 300), 0.15), ((10, 300), 0.15), ((15, 300), 0.15), ((200, 10), 0.9)])
def test_a_cost_at_a_stated_prevalence_is_covered_where_few_rows_decide_rightly(counts, hits):
    rng, alarms = np.random.default_rng(1), 0.05 if counts[1] == 300 else 0.85
    true, held, y = 0.3 * 0.9 * alarms + 0.7 * 0.1 * (1.0 - hits), [], np.repeat([1, 0], counts)
    for _ in range(300):
        score = np.where(rng.random(len(y)) < np.where(y, hits, alarms), 0.5, 0.1)
        low, high = metric_interval(y, score, "expected_regret", costs=0.3, prevalence=0.1).interval
        held.append(low <= true <= high)
    assert np.mean(held) > 0.93


@pytest.mark.simulation
def test_interval_of_the_bounded_brier_difference_covers_the_truth():
    # q ~ Beta(1, 4), one model reports q, the other a distorted q; the truth by quadrature of the definition
    low, high = 0.05, 0.4

    def distorted(q):
        return q**1.3

    def brier(s, y):
        return (np.clip(s, low, high) - y) ** 2 - (np.clip(y, low, high) - y) ** 2

    def expected(q, s):
        return q * brier(s, 1.0) + (1 - q) * brier(s, 0.0)

    def density(q):
        return (expected(q, q) - expected(q, distorted(q))) * stats.beta.pdf(q, 1, 4)

    kinks = [0.05, 0.4, 0.05 ** (1 / 1.3), 0.4 ** (1 / 1.3)]
    truth, _ = integrate.quad(density, 0, 1, points=kinks)
    rng = np.random.default_rng(2026)
    covered = 0
    for _ in range(800):
        q = rng.beta(1, 4, 500)
        y = rng.random(500) < q
        interval = compare(y, q, distorted(q), costs=costs.Uniform(low, high), scale="loss").interval
        covered += interval[0] <= truth <= interval[1]
    assert 0.925 <= covered / 800 <= 0.975


def test_equal_models_have_no_difference():
    y, a, _, _ = rows()
    result = compare(y, a, a, costs=COSTS)
    assert (result.difference, result.standard_error, result.p_value) == (0.0, 0.0, 1.0)
    assert not result.significant


def test_models_that_decide_alike_in_the_range_have_no_difference():
    y = np.array([0, 1, 0, 1])
    result = compare(y, [0.01, 0.02, 0.6, 0.9], [0.04, 0.03, 0.5, 0.99], costs=COSTS)
    assert (result.difference, result.p_value) == (0.0, 1.0)


def test_infinite_loss_makes_an_infinite_difference_without_interval():
    result = compare([0, 1], [0.2, 0.6], [0.2, 0.0], costs=costs.LogOddsUniform(0, 1))
    assert result.difference == -math.inf
    assert math.isnan(result.interval[0])
    assert math.isnan(result.p_value)


def test_two_separate_tables_are_refused():
    table = ScoreTable.from_predictions([0, 1], [0.2, 0.6])
    for call in (
        lambda: compare(table, table, table, costs=COSTS),
        lambda: compare([0, 1], table, table, costs=COSTS),
        lambda: evaluate([0, 1], {"a": table, "b": table}),
        lambda: evaluate(table, {"a": [0.1, 0.2]}),
    ):
        with pytest.raises(ValueError, match="needs the rows of both models"):
            call()


def test_optimal_rule_has_no_plug_in_interval():
    y, a, b, _ = rows()
    with pytest.raises(ValueError, match='rule="optimal"'):
        compare(y, a, b, costs=COSTS, rule="optimal")
    assert math.isnan(evaluate(y, a, costs=COSTS, rule="optimal").results[0].standard_error)


def test_confidence_level_must_be_a_share():
    with pytest.raises(ValueError, match=r"confidence_level must lie in \(0, 1\), got 95"):
        compare([0, 1], [0.2, 0.6], [0.3, 0.4], costs=COSTS, confidence_level=95)


def test_scores_at_the_ends_without_their_class_cost_nothing_under_log_loss():
    # a score of exactly 0 is infinite for a positive only, and there is none at 0
    y, s = [0, 0, 1, 1], [0.0, 0.3, 0.4, 0.8]
    table = ScoreTable.from_predictions(y, s)
    by_table = evaluate(table, costs=costs.LogOddsUniform(0, 1))
    by_rows = evaluate(y, s, costs=costs.LogOddsUniform(0, 1))
    assert by_table.results[0].score == pytest.approx(-np.log([1.0, 0.7, 0.4, 0.8]).mean())
    assert by_table.results[0].standard_error == pytest.approx(by_rows.results[0].standard_error)


def test_table_and_rows_agree_on_the_references_too():
    y, a, _, w = rows()
    table = ScoreTable.from_predictions(y, np.round(a, 2), sample_weight=w)
    by_table, by_rows = evaluate(table, costs=COSTS), evaluate(y, np.round(a, 2), costs=COSTS, sample_weight=w)
    for reference in ("treat all", "treat none"):
        ours, theirs = by_table.compare("model", reference), by_rows.compare("model", reference)
        assert ours.difference == pytest.approx(theirs.difference, rel=1e-10)
        assert ours.standard_error == pytest.approx(theirs.standard_error, rel=1e-8)


def test_a_pair_of_bounds_stands_for_a_uniform_range():
    y, a, b, _ = rows()
    assert compare(y, a, b, costs=(0.05, 0.4)) == compare(y, a, b, costs=COSTS)
    with pytest.raises(ValueError, match="costs must be a cost distribution, a pair"):
        compare(y, a, b, costs="0.05:0.4")


def _of_groups(y, p, w):
    return evaluate(y, p, costs=(0.1, 0.3), sample_weight=w, groups=np.arange(60) % 3).groups[1].interval


WEIGHED = {
    "evaluate": lambda y, p, w: evaluate(y, p, costs=(0.1, 0.3), sample_weight=w).best.interval,
    "compare": lambda y, p, w: compare(y, p, p**2, costs=(0.1, 0.3), sample_weight=w).interval,
    "select_best": lambda y, p, w: select_best(y, {"a": p, "b": p**2}, costs=0.2, sample_weight=w).interval,
    "metric": lambda y, p, w: metric_interval(y, p, "bounded_brier_loss", sample_weight=w).interval,
    "table": lambda y, p, w: (
        metric_interval(ScoreTable.from_predictions(y, p, sample_weight=w), metric="bounded_brier_loss").interval
    ),
    "groups": _of_groups,
}


@pytest.mark.parametrize("call", WEIGHED.values(), ids=WEIGHED)
def test_weights_of_any_size_give_the_same_interval_or_are_refused_with_the_remedy(call):
    rng = np.random.default_rng(0)
    y, p, weight = rng.random(60) < 0.3, rng.random(60), rng.random(60) + 0.5
    plain = call(y, p, weight)
    for power in (-190, -100, 100, 190):  # powers of two change no digit
        assert call(y, p, weight * 2.0**power) == plain
    for scale in (1e-130, 1e-100, 1e100, 1e130):
        with pytest.raises(ValueError, match=r"sample_weight must have a largest value of each class .* divide all"):
            call(y, p, weight * scale)
    some = weight * np.where(np.arange(60) % 7 == 3, 1e-100, 1.0)  # beside others these are next to nothing
    assert call(y, p, some) == pytest.approx(call(y, p, np.where(some < 1e-90, 1e-45, some)), rel=1e-12)
