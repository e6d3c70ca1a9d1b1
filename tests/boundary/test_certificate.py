"""The promise about precision: its error rate by simulation, the exact binomial parts, abstention."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom, binomtest

from stakes.boundary import Boundary, Certificate, _certificate, fit_boundary
from stakes.boundary._certificate import (
    binomial_tail,
    certify,
    estimate_chances,
    lower_limit,
    predicted_statistics,
    region_sizes,
    rows_needed,
    values_at,
)
from stakes.boundary._problem import BoundaryRows
from stakes.boundary._rules import Ranker
from stakes.outputs.serialization import JsonReader


@pytest.mark.parametrize(("tp", "n", "p"), [(0, 0, 0.8), (0, 5, 0.8), (5, 5, 0.8), (83, 100, 0.8), (900, 1000, 0.9)])
def test_tail_and_limit_are_those_of_the_binomial(tp, n, p):
    assert binomial_tail(tp, n, p) == pytest.approx(float(binom.sf(tp - 1, n, p)), rel=1e-12)
    if n:
        exact = binomtest(tp, n, alternative="greater").proportion_ci(0.95, method="exact")
        assert lower_limit(tp, n, 0.05) == pytest.approx(exact.low, abs=1e-12)


def worst_case(seed, n=1500, sigma=0.8, delta=0.1):
    """Every row just below the promise: whatever is certified breaks it."""
    rng = np.random.default_rng(seed)
    rows = BoundaryRows(rng.random(n) < sigma - 1e-6, rng.random(n), rng.random(n))
    return not certify(rows, sigma, 1 - delta, rng)[1].abstained


@pytest.mark.simulation
def test_least_favourable_rows_are_certified_at_most_delta_of_the_time():
    broken = np.mean([worst_case(seed) for seed in range(600)])
    assert 0.04 < broken < 0.1 + 2.6 * np.sqrt(0.09 / 600)  # 99.5 per cent of a rate of 0.1


def informative(seed, n=8000):
    rng = np.random.default_rng(seed)
    score, uncertainty = rng.random(n) ** 2, rng.random(n)
    truth = score ** (0.5 + 2 * uncertainty)
    return rng.random(n) < truth, score, uncertainty, truth


@pytest.mark.simulation
def test_certified_precision_holds_for_the_true_rates():
    broken = certified = 0
    for seed in range(60):
        y, score, uncertainty, _ = informative(seed)
        boundary = fit_boundary(y, score, uncertainty, min_precision=0.8, confidence_level=0.9, random_state=seed)
        *fresh, truth = informative(10_000 + seed)
        inside = boundary.predict(*fresh[1:]) == 1
        certified += not boundary.certificate.abstained
        broken += bool(inside.any()) and truth[inside].mean() < 0.8
    assert certified >= 55
    assert broken <= 12  # binomial(60, 0.1) exceeds 12 with probability 0.007


def test_counts_of_a_certified_boundary_are_of_the_rows_set_aside():
    y, score, uncertainty, _ = informative(1)
    boundary = fit_boundary(y, score, uncertainty, min_precision=0.8, confidence_level=0.9, random_state=1)
    certificate = boundary.certificate
    assert certificate.tested_rows == boundary.rows.sum() >= 0.8 * len(y)
    assert (boundary.selected.sum(), boundary.true_positives.sum()) == (
        certificate.selected,
        certificate.true_positives,
    )
    assert certificate.lower_bound >= 0.8
    assert certificate.p_value <= 0.1
    assert "certified at 0.9" in repr(boundary)
    assert boundary.report(random_state=0).splitlines()[-1] == str(certificate)


def test_ties_with_the_threshold_are_inside():
    rng = np.random.default_rng(0)
    score = rng.integers(1, 4, 3000) / 4
    y = rng.random(3000) < np.where(score == 0.75, 0.95, 0.2)
    boundary = fit_boundary(y, score, np.ones(3000), min_precision=0.8, confidence_level=0.9, random_state=0)
    assert boundary.certificate.selected == boundary.selected.sum() > 500
    assert boundary.certificate.true_positives == boundary.true_positives.sum()
    assert boundary.predict([0.25, 0.5, 0.75], [1, 1, 1]).tolist() == [0, 0, 1]


def test_the_same_seed_gives_the_same_certificate():
    y, score, uncertainty, _ = informative(2)
    one, two = (
        fit_boundary(y, score, uncertainty, min_precision=0.8, confidence_level=0.9, random_state=5) for _ in "ab"
    )
    assert one.to_json() == two.to_json()


def test_too_few_rows_abstain_and_say_how_many_would_do():
    y, score, uncertainty, _ = (part[:60] for part in informative(1))
    boundary = fit_boundary(y, score, uncertainty, min_precision=0.8, confidence_level=0.99, random_state=0)
    assert boundary.certificate.abstained
    assert boundary.selected.sum() == 0
    assert boundary.certificate.rows_needed > 60
    y, score, uncertainty, _ = informative(1, n=3 * boundary.certificate.rows_needed)
    again = fit_boundary(y, score, uncertainty, min_precision=0.8, confidence_level=0.99, random_state=0)
    assert not again.certificate.abstained


@pytest.mark.parametrize("n", [2, 4, 30])
def test_one_class_or_a_handful_of_rows_abstain(n):
    y = np.zeros(n, bool)
    y[:1] = n < 10
    boundary = fit_boundary(y, np.linspace(0.1, 0.9, n), np.ones(n), min_precision=0.8, confidence_level=0.9)
    assert boundary.certificate.abstained
    assert "abstained" in repr(boundary)
    assert (boundary.certificate.rows_needed is None) == (not y.any())  # without a positive no number would do


def test_a_handful_of_rows_is_told_the_fewest_that_can_do():
    # five rows to learn from are a fifth of 25; 44 pure positives (ln 0.01 / ln 0.9 = 43.7) are four fifths of 55
    # and however many positives there are, they never show that the precision is 1
    for bound, level, fewest in ((0.8, 0.9, 25), (0.9, 0.99, 55), (1.0, 0.9, None)):
        boundary = fit_boundary(
            [1, 0] * 5, np.linspace(0.1, 0.9, 10), np.ones(10), min_precision=bound, confidence_level=level
        )
        assert boundary.certificate.rows_needed == fewest


def test_rows_that_would_do_are_counted_from_what_was_seen_where_the_model_hoped_too_much():
    def small(seed, n=600):
        rng = np.random.default_rng(seed)
        score = rng.random(n)
        return rng.random(n) < 0.2 + 0.65 * (score > 0.8), score, np.ones(n)

    options = {"min_precision": 0.8, "confidence_level": 0.95, "random_state": 0}
    certificates = [fit_boundary(*small(seed), **options).certificate for seed in range(40)]
    known = [c for c in certificates if c.abstained and c.rows_needed is not None]
    assert all(c.rows_needed > 600 for c in known)
    assert any(c.abstained and c.rows_needed is None for c in certificates)


@pytest.mark.parametrize("n", [30, 60])
def test_few_positives_that_teach_nothing_are_told_no_number_of_rows_that_is_there_already(n):
    needed = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y, score = rng.permutation(n) < 2, rng.random(n)
        boundary = fit_boundary(y, score, np.ones(n), min_precision=0.8, confidence_level=0.9, random_state=seed)
        needed.append(boundary.certificate.rows_needed)
    assert None in needed
    assert all(rows is None or rows > n for rows in needed)


@pytest.mark.parametrize("hoped", [1, 29, 30, 31, 500])
def test_a_model_that_hopes_for_no_more_rows_than_there_were_is_not_believed(hoped, monkeypatch):
    rng = np.random.default_rng(700)
    score = rng.random(30)
    y = rng.random(30) < score**2
    monkeypatch.setattr(_certificate, "rows_needed", lambda *_: hoped)
    options = {"min_precision": 0.8, "confidence_level": 0.9, "random_state": 0}
    found = fit_boundary(y, score, np.ones(30), **options).certificate
    assert (found.abstained, found.tested_rows, found.selected, found.true_positives) == (True, 24, 1, 1)
    seen = rows_needed(np.arange(24) < 1.0, 0.8, 0.1)  # one of 24 rows is a positive, and no other is selected
    assert found.rows_needed == (hoped if hoped > 30 else seen)


def test_needed_rows_give_a_power_of_four_fifths():
    learned = np.r_[np.full(100, 0.87), np.full(900, 0.05)]
    n = round(0.8 * 0.1 * rows_needed(learned, 0.8, 0.05))
    least = next(k for k in range(n + 1) if stats.binom.sf(k - 1, n, 0.8) <= 0.05)
    assert stats.binom.sf(least - 1, n, 0.87) == pytest.approx(0.8, abs=0.05)


def rows_that_do(promise, precision, delta, most=700):
    """The first number of rows of a region at which its test passes in four fifths, and the last at which not."""
    n = np.arange(1, most)
    least = binom.isf(delta, n, promise).astype(int) + 1
    passes = binom.sf(least - 1, n, precision) >= 0.8
    return int(n[np.argmax(passes)]), int(n[~passes][-1])


@pytest.mark.parametrize(
    ("promise", "precision", "delta"),
    [(0.3, 0.4, 0.05), (0.5, 0.6, 0.05), (0.7, 0.9, 0.01), (0.8, 0.87, 0.01), (0.9, 0.93, 0.1), (0.95, 0.98, 0.05)],
)
def test_needed_rows_are_those_of_a_search_over_the_tails_of_the_binomial(promise, precision, delta):
    first, last = rows_that_do(promise, precision, delta)
    # a quarter of the rows has the precision, and four fifths of them are tested
    needed = rows_needed(np.r_[np.full(100, precision), np.zeros(300)], promise, delta)
    assert 0.94 * first <= 0.8 * 0.25 * needed <= 1.02 * last
    # a tenth of them that is purer, and all together, are regions too: the one that takes the fewest rows counts
    mixed = np.r_[np.full(40, (1.0 + 3.0 * precision) / 4.0), np.full(360, precision)]
    regions = [(mixed[:size].mean(), size / 400) for size in (40, 400)]
    ends = [np.array(rows_that_do(promise, rate, delta)) / share for rate, share in regions]
    assert (
        0.9 * min(end[0] for end in ends)
        <= 0.8 * rows_needed(mixed, promise, delta)
        <= 1.02 * min(end[1] for end in ends)
    )


@pytest.mark.parametrize("delta", [0.2, 0.001])
def test_no_number_of_rows_shows_that_a_precision_equal_to_the_promise_keeps_it(delta):
    for learned in (np.full(8, 0.75), np.array([0.75, 0.5, 0.25]), np.full(3, 0.5)):
        assert rows_needed(learned, 0.75, delta) is None
    assert rows_needed(np.full(8, 0.7501), 0.75, delta) > 1e6
    assert rows_needed(np.ones(3), 1.0, delta) is None


def test_positives_alone_are_certified_as_far_as_their_number_goes():
    def certify(n):
        score = np.random.default_rng(0).random(n)
        return fit_boundary(np.ones(n), score, score, min_precision=0.8, confidence_level=0.9, random_state=0)

    assert certify(1000).recall > 0.9
    assert certify(40).certificate.p_value == pytest.approx(0.8 ** certify(40).certificate.selected)


def test_where_most_rows_keep_the_promise_most_are_selected():
    rng = np.random.default_rng(0)
    truth = 1.0 / (1.0 + np.exp(-3.0 * rng.normal(size=20_000)))
    data = rng.random(20_000) < truth, truth, rng.random(20_000)
    certified = fit_boundary(*data, min_precision=0.8, confidence_level=0.9, random_state=0)
    assert certified.recall > 0.9 * fit_boundary(*data, min_precision=0.8).recall > 0.75


def test_predicted_statistic_is_that_of_the_expected_counts():
    chance = np.array([0.9, 0.9, 0.8, 0.8, 0.6, 0.2])
    z = predicted_statistics(chance, n_test=600, min_precision=0.7)
    selected, found = 500, 100 * chance[:5].sum()  # 100 test rows for each row learned from
    assert z[4] == pytest.approx((found - 0.7 * selected) / np.sqrt(0.21 * selected))
    assert np.all(np.isinf(z[:3]))


def test_sizes_grow_by_half_a_per_cent_to_every_row():
    sizes = region_sizes(7, 5000)
    assert (sizes[0], sizes[-1]) == (7, 5000)
    assert np.all(np.diff(sizes) > 0)
    assert np.max(np.diff(np.log(sizes))) <= 0.005
    assert len(sizes) <= _certificate._most_regions(5000)
    assert region_sizes(9, 9).tolist() == [9, 9]


def test_values_between_rows_are_linear_and_distinct():
    values = np.array([0.9, 0.8, 0.8, 0.1])
    assert values_at(values, np.array([1.0, 1.5, 2.0, 2.5, 3.0, 3.25, 4.0])) == pytest.approx(
        [0.9, 0.85, 0.8, 0.625, 0.1]
    )


def test_chances_of_probable_rows_do_not_depend_on_the_many_improbable_ones():
    rng = np.random.default_rng(0)
    log_odds = np.r_[np.linspace(3, 0, 400), np.full(20_000, -6.0)]
    truth = 1 / (1 + np.exp(-np.r_[2 * log_odds[:400] - 1, np.full(20_000, -3.0)]))  # far more positives than -6 says
    chance = estimate_chances(rng.random(len(truth)) < truth, log_odds, floor=0.3)
    assert np.abs(chance[:400] - truth[:400]).max() < 0.1


def test_needed_rows_grow_with_the_promise():
    learned = np.linspace(0.99, 0.01, 500)
    needed = [rows_needed(learned, bound, 0.05) for bound in (0.7, 0.8, 0.9, 0.95)]
    assert needed == sorted(needed)
    assert rows_needed(learned, 0.999, 0.05) is None
    assert rows_needed(learned, 1.0, 0.05) is None
    # eleven pure positives at 0.8 and 0.9 (ln 0.1 / ln 0.8 = 10.3), here every row is one
    assert rows_needed(np.ones(500), 0.8, 0.1) == pytest.approx(10.3 / 0.8, abs=1.3)


def test_ranker_learns_the_order_of_the_true_rates():
    y, score, uncertainty, truth = informative(4, n=30_000)
    ranked = Ranker.fit(y, score, uncertainty).rank(score, uncertainty)
    assert np.corrcoef(np.argsort(np.argsort(ranked)), np.argsort(np.argsort(truth)))[0, 1] > 0.99
    again = Ranker.read(JsonReader(Ranker.fit(y, score * 50 - 9, uncertainty).to_dict(), "ranker"))
    assert np.all(np.isfinite(again.rank(np.array([-1e6, 0.0, 1e6]), np.array([-1e9, 0.5, 1e9]))))


def test_rank_of_a_row_does_not_depend_on_its_batch():
    y, score, uncertainty, _ = informative(5, n=1003)
    ranker = Ranker.fit(y, score, uncertainty)
    whole = ranker.rank(score, uncertainty)
    single = [float(ranker.rank(score[i : i + 1], uncertainty[i : i + 1])[0]) for i in range(1003)]
    assert whole.tolist() == single


@pytest.mark.parametrize("power", [-900, 600, 1000])
def test_the_unit_of_the_scores_changes_no_rank(power):
    y, score, uncertainty, _ = informative(6, n=200)
    spread = 4.0 * score - 2.0
    large = np.ldexp(spread, power)
    assert Ranker.fit(y, large, uncertainty).rank(large, uncertainty).tolist() == (
        Ranker.fit(y, spread, uncertainty).rank(spread, uncertainty).tolist()
    )
    boundary = fit_boundary(y, large, uncertainty, min_precision=0.5, solver="ranker")
    assert np.array_equal(
        Boundary.from_json(boundary.to_json()).predict(large, uncertainty),
        fit_boundary(y, spread, uncertainty, min_precision=0.5, solver="ranker").predict(spread, uncertainty),
    )


@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_a_standardised_score_leads_back_to_the_score(spread):
    y, score, uncertainty, _ = informative(4, n=200)
    score = spread * score - (spread > 1.0)  # probabilities, and scores of any size
    ranker = Ranker.fit(y, score, uncertainty)
    assert ranker.score_at(ranker.standardised(score)) == pytest.approx(score, rel=1e-12, abs=1e-12)


def test_separated_rows_leave_the_ranker_finite():
    score = np.linspace(0, 1, 50)
    ranker = Ranker.fit(score > 0.5, score, np.ones(50))
    assert np.all(np.isfinite(ranker.coefficients))
    assert np.all((ranker.rank(score, np.ones(50)) > 0.5) == (score > 0.5))


def test_abstention_is_told_apart_in_words():
    values = {"tested_rows": 80, "selected": 10, "true_positives": 7, "lower_bound": lower_limit(7, 10, 0.05)}
    values["p_value"] = float(binomial_tail(7, 10, 0.9))
    abstained = Certificate(0.9, 0.95, abstained=True, **values, regions_tested=1, rows_needed=None)
    assert repr(abstained).endswith("abstained, no region is predicted to reach it)")
    assert Certificate.from_dict(abstained.to_dict()) == abstained


def by_score(y, score):
    """Plan regions by the score from the first thousand rows, and test them on the others."""
    rows = BoundaryRows(y, score, np.zeros(len(y)))
    learn, test = rows.take(np.arange(1000)), rows.take(np.arange(1000, len(y)))
    ranker = Ranker.fit(learn.y, learn.score, learn.uncertainty)
    promise = _certificate._Target(0.8, 0.9, len(test))
    plan = _certificate._RegionSequence.of(_certificate._Order.by_score(ranker), learn, promise)
    return plan.thresholds(), test, _certificate._test_regions(plan, test, promise)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gap", [False, True])
def test_sequence_ends_at_the_first_failure_of_an_exact_test(seed, gap):
    rng = np.random.default_rng(seed)
    score = rng.random(9000)
    y = rng.random(9000) < score**0.3
    if gap:  # negatives that fail the promise, and below them positives with which all rows together would keep it
        y[1000:] = (score[1000:] < 0.42) | (y[1000:] & (score[1000:] > 0.5))
    thresholds, test, (rule, region, tested) = by_score(y, score)
    passed, p_values = [], []
    for threshold in thresholds:
        inside = test.score >= threshold
        found, selected = int(np.sum(test.y & inside)), int(np.sum(inside))
        p_values.append(binomtest(found, max(selected, 1), 0.8, alternative="greater").pvalue)
        passed.append(p_values[-1] <= 0.1 + 1e-12)
    failed = passed.index(False) if False in passed else len(passed)
    last = max(failed - 1, 0)
    assert (tested, rule.thresholds.tolist()) == (min(failed + 1, len(passed)), [thresholds[last]])
    assert bool(passed[-1]) is gap
    assert region.p_value == pytest.approx(p_values[last])
    assert region.selected == np.sum(test.score >= thresholds[last])


@pytest.mark.parametrize("learned", [False, True])
def test_regions_and_rows_set_aside_do_not_depend_on_the_labels_tested(learned):
    rng = np.random.default_rng(8)
    score, uncertainty = rng.random(8000) ** 2, rng.random(8000)
    y = rng.random(8000) < score ** (0.5 + 2 * uncertainty * learned)
    n = len(_certificate._split(BoundaryRows(y, score, uncertainty), np.random.default_rng(3))[0])
    later = np.random.default_rng(3).permutation(8000)[n:]
    assert 0.05 * 8000 <= n <= 0.2 * 8000
    other = y.copy()
    other[later] = rng.random(len(later)) < 0.5
    plans = []
    for labels in (y, other):
        learn, test, ranker, sign = _certificate._split(
            BoundaryRows(labels, score, uncertainty), np.random.default_rng(3)
        )
        promise = _certificate._Target(0.8, 0.9, len(test))
        order = (_certificate._Order.learned if learned else _certificate._Order.by_score)(ranker)
        plans.append((len(learn), sign, _certificate._RegionSequence.of(order, learn, promise).thresholds().tolist()))
        assert np.array_equal(test.score, score[later])
    assert plans[0] == plans[1]
    assert (plans[0][1] > _certificate._BEARING) is learned


def test_more_rows_teach_where_positives_are_few_and_the_uncertainty_has_a_bearing():
    def taught(prevalence, strength, n=20_000):
        rng = np.random.default_rng(1)
        uncertainty = rng.random(n)
        y = rng.random(n) < prevalence
        score = rng.normal(y * 3.0 * (1 + strength * (1 - 2 * uncertainty)))
        learn = _certificate._split(BoundaryRows(y, score, uncertainty), np.random.default_rng(0))[0]
        return len(learn), int(learn.y.sum())

    assert taught(0.3, 0.0)[0] == 1000
    assert taught(0.02, 0.0)[1] == 50
    assert taught(0.1, 0.9)[1] == 300
    assert taught(0.01, 0.9)[0] == 4000


def test_of_many_rows_more_teach_and_most_are_tested():
    rng, taught = np.random.default_rng(0), []
    for n in (500, 4000, 40_000, 80_000):
        rows = BoundaryRows(rng.random(n) < 0.5, rng.random(n), rng.random(n))
        learn, test, *_ = _certificate._split(rows, np.random.default_rng(1))
        assert len(learn) + len(test) == n
        assert len(learn) <= n / 5
        taught.append(len(learn))
    assert taught[0] == 100
    assert taught[1] < taught[2] < 0.1 * 40_000
    assert taught[3] == 2 * taught[2]


def test_one_threshold_is_certified_where_the_uncertainty_tells_nothing():
    rng = np.random.default_rng(0)
    score, noise = rng.random(20_000), rng.random(20_000)
    options = {"min_precision": 0.8, "confidence_level": 0.95, "random_state": 0}
    alone = fit_boundary(rng.random(20_000) < score**2, score, noise, **options)
    assert alone.solver == "single_threshold"
    assert len(set(alone.thresholds.tolist())) == 1 < len(alone.thresholds) == len(alone.rows)
    assert np.array_equal(alone.predict(score, noise), score >= alone.thresholds[0])
    y, score, uncertainty, _ = informative(7)
    assert fit_boundary(y, score, uncertainty, **options).solver == "ranker"


def test_uncertainty_that_repeats_the_score_costs_no_recall():
    rng = np.random.default_rng(0)
    score = rng.beta(0.3, 1, 60_000)
    y = rng.random(60_000) < score**1.5
    options = {"min_precision": 0.7, "confidence_level": 0.95, "random_state": 0}
    one, other = (fit_boundary(y, score, u, **options) for u in (np.zeros(60_000), score * (1 - score)))
    assert other.recall > 0.95 * one.recall > 0.1


@pytest.mark.parametrize("bound", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_fewest_rows_of_a_pure_region_pass_the_exact_test(bound, level):
    def passes(rows):
        return binom.sf(rows - round(0.2 * rows) - 1, rows - round(0.2 * rows), bound) <= 1.0 - level + 1e-12

    fewest = next(n for n in range(1, 1000) if passes(n))
    assert rows_needed(np.ones(10), bound, 1.0 - level) >= fewest
    assert passes(rows_needed(np.ones(10), bound, 1.0 - level))
    assert _certificate._fewest_rows(bound, 1.0 - level) == max(fewest, 25)  # of 25, five rows to learn from
