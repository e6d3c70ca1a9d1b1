"""Evaluations, curves, bands, calibration and reports of scores from several completed data sets."""

import json
import math
import re

import numpy as np
import pytest
from scipy import stats

from stakes import RowCosts, TimeToEvent, evaluate, metric_interval
from stakes.curves import interventions_avoided_curve, net_benefit_curve, regret_curve, roc_curve
from stakes.evaluation import KeptEvaluation
from stakes.evaluation._calibration import event_ratio, promise_of
from stakes.inference import Estimate, calibration_summary, confidence_band, pool
from stakes.inference._imputation import pooled_estimate
from stakes.outcomes import Imputed

N, M = 400, 5
COSTS = (0.1, 0.4)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    p = rng.beta(1, 3, N)
    columns = [np.clip(p * rng.lognormal(0, 0.4, N), 0.002, 0.998) for _ in range(M)]
    return rng.random(N) < p, columns, np.clip(p + rng.normal(0, 0.15, N), 0.002, 0.998)


@pytest.fixture(scope="module")
def found(rows):
    y, columns, other = rows
    return evaluate(y, {"imputed": Imputed(columns), "plain": other}, costs=COSTS)


def losses(y, p):
    """What each row costs on average over the thresholds, which count alike, by a sum over many of them."""
    low, high = COSTS
    t = low + (high - low) * (np.arange(20_000) + 0.5) / 20_000
    acts = np.searchsorted(t, p, side="right") / len(t)  # share of the thresholds that a score reaches
    upto = np.append(0.0, np.cumsum(t)) / len(t)
    mean_t = upto[np.searchsorted(t, p, side="right")]
    return np.where(y, (1.0 - t.mean()) - (acts - mean_t), mean_t)


def by_rubin(values, variances, n):
    """Value, variance and degrees of freedom (Barnard and Rubin), from their formulas."""
    m, q, u = len(values), np.mean(values), np.mean(variances)
    b = (1 + 1 / m) * np.var(values, ddof=1)
    t, share = u + b, b / (u + b)
    seen = n / (n + 2) * (n - 1) * (1 - share)
    return q, t, 1 / (share**2 / (m - 1) + 1 / seen)


def test_costs_and_differences_are_pooled_by_rubins_rules(rows, found):
    y, columns, other = rows
    each = [losses(y, p) for p in columns]
    value, variance, _ = by_rubin([e.mean() for e in each], [e.var(ddof=1) / N for e in each], N)
    mine = found["imputed"]
    assert mine.score == pytest.approx(value, rel=1e-4)
    assert mine.standard_error == pytest.approx(math.sqrt(variance), rel=1e-3)
    gaps = [e - losses(y, other) for e in each]
    value, variance, degrees = by_rubin([g.mean() for g in gaps], [g.var(ddof=1) / N for g in gaps], N)
    gap = found.compare("imputed", "plain")
    assert gap.difference == pytest.approx(value, rel=1e-3)
    assert gap.standard_error == pytest.approx(math.sqrt(variance), rel=1e-3)
    assert gap.interval[1] - gap.difference >= stats.t.isf(0.025, degrees) * math.sqrt(variance) * 0.999


def test_the_spread_between_data_sets_widens(rows, found):
    y, columns, other = rows
    alone = evaluate(y, {"imputed": np.mean(columns, axis=0), "plain": other}, costs=COSTS)
    assert found["imputed"].standard_error > 1.0005 * np.mean(
        [evaluate(y, {"imputed": p}, costs=COSTS)["imputed"].standard_error for p in columns]
    )
    assert found["plain"].score == pytest.approx(alone["plain"].score, rel=1e-12)
    assert found["plain"].interval == pytest.approx(alone["plain"].interval, rel=1e-12)


def test_data_sets_that_agree_have_the_answer_of_one(rows):
    y, columns, other = rows
    one = evaluate(y, {"a": columns[0], "b": other}, costs=COSTS)
    same = evaluate(y, {"a": Imputed([columns[0]] * 3), "b": other}, costs=COSTS)
    for name in ("a", "b", "treat all", "treat none"):
        assert same[name].score == pytest.approx(one[name].score, rel=1e-12)
        assert same[name].interval == pytest.approx(one[name].interval, rel=1e-12)
    assert same.compare("a", "b").interval == pytest.approx(one.compare("a", "b").interval, rel=1e-12)
    assert same.auc("a").interval == pytest.approx(one.auc("a").interval, rel=1e-12)
    assert same.selection.possible == one.selection.possible
    for name, band in one.bands("net_benefit", [0.1, 0.2, 0.4]).items():
        other_band = same.bands("net_benefit", [0.1, 0.2, 0.4])[name]
        for ends in ("low", "high", "simultaneous_low", "simultaneous_high", "estimate"):
            assert getattr(other_band, ends) == pytest.approx(getattr(band, ends), rel=1e-12)
    mine, its = (each.calibration.of("a").overall for each in (same, one))
    for measure in ("o_e_ratio", "calibration_in_the_large", "slope", "ici"):
        assert mine.interval(measure) == pytest.approx(its.interval(measure), rel=1e-9)
    assert same.bands("regret")["a"].estimate == pytest.approx(
        one.curves()["a"].at(one.bands("regret")["a"].thresholds)
    )


def test_area_and_metrics_are_those_of_metric_interval(rows, found):
    y, columns, _ = rows
    alone = metric_interval(y, Imputed(columns), "roc_auc_score")
    assert found.auc("imputed").value == pytest.approx(alone.value, rel=1e-12)
    assert found.auc("imputed").interval == pytest.approx(alone.interval, rel=1e-12)
    assert found["imputed"].auc == pytest.approx(alone.value, rel=1e-12)


def test_curves_are_the_means_of_those_of_the_data_sets(rows, found):
    y, columns, _ = rows
    at = np.linspace(0.05, 0.6, 23)
    for curve in (net_benefit_curve, regret_curve, interventions_avoided_curve):
        mean = np.mean([curve(y, p).at(at) for p in columns], axis=0)
        assert curve(y, Imputed(columns)).at(at) == pytest.approx(mean, rel=1e-12, abs=1e-14)
    mean = np.mean([regret_curve(y, p).at(at) for p in columns], axis=0)
    assert found.curves("regret")["imputed"].at(at) == pytest.approx(mean, rel=1e-12)
    with pytest.raises(ValueError, match="optimal"):
        net_benefit_curve(y, Imputed(columns), rule="optimal")
    with pytest.raises(ValueError, match="Imputed"):
        roc_curve(y, Imputed(columns))


def test_bands_have_the_spread_between_data_sets(rows):
    y, columns, _ = rows
    at = [0.1, 0.25, 0.4]
    each = [confidence_band(y, p, "net_benefit", thresholds=at) for p in columns]
    pooled = confidence_band(y, Imputed(columns), "net_benefit", thresholds=at)
    for k in range(3):
        want = pool([b.estimate[k] for b in each], [b.standard_error[k] for b in each], n_rows=N)
        assert pooled.estimate[k] == pytest.approx(want.value, rel=1e-12)
        assert pooled.standard_error[k] == pytest.approx(want.standard_error, rel=1e-12)
        half = stats.t.isf(0.025, want.degrees) * want.standard_error
        assert pooled.high[k] - pooled.estimate[k] >= 0.999 * half
        assert pooled.high[k] - pooled.estimate[k] <= 1.2 * half
        assert pooled.simultaneous_high[k] > pooled.high[k]
    with pytest.raises(ValueError, match="kind must be one of regret, net_benefit"):
        confidence_band(y, Imputed(columns), "smooth")


def test_calibration_is_pooled_and_distances_have_no_interval(rows, found):
    y, columns, _ = rows
    each = [calibration_summary(y, p) for p in columns]
    pooled = calibration_summary(y, Imputed(columns))
    slopes = [e.slope for e in each]
    errors = [next(x for x in e.estimates if x.metric == "slope").standard_error for e in each]
    want = pool(slopes, errors, n_rows=N)
    low, high = pooled.interval("slope")
    assert pooled.slope == pytest.approx(want.value, rel=1e-12)
    half = stats.t.isf(0.025, want.degrees) * want.standard_error
    assert (want.value - low, high - want.value) == pytest.approx((half, half), rel=0.1)
    ratio = np.exp(np.mean(np.log([e.o_e_ratio for e in each])))
    assert pooled.o_e_ratio == pytest.approx(ratio, rel=1e-12)
    assert pooled.ici == pytest.approx(np.mean([e.ici for e in each]), rel=1e-12)
    assert math.isnan(pooled.interval("ici")[0])
    assert "no rule to pool" in next(e.note for e in pooled.estimates if e.metric == "ici")
    assert found.calibration.of("imputed").overall.interval("slope") == pytest.approx((low, high), rel=1e-9)


def test_what_is_said_names_the_imputation(found):
    assert "pooled over 5 completed data sets" in found.answer.read
    assert "Rubin" in found.methods()
    assert "missing at random" in found.methods()
    assert json.loads(found.to_json())["data"]["completed_data_sets"] == M
    page = found.to_html()
    assert "<script" not in page
    assert "pooled over 5 completed data sets" in page
    assert "Net benefit at single thresholds" in page


def test_findings_are_those_of_every_data_set(rows):
    y, columns, _ = rows
    high = [np.clip(3 * p, 0, 1) for p in columns]
    assert "calibration-in-the-large" in evaluate(y, {"a": Imputed(high)}, costs=COSTS).findings.codes
    mixed = [high[0], *columns[1:]]
    assert "calibration-in-the-large" in evaluate(y, {"a": mixed[0]}, costs=COSTS).findings.codes
    assert "calibration-in-the-large" not in evaluate(y, {"a": Imputed(mixed)}, costs=COSTS).findings.codes


def test_follow_up_and_clusters_are_pooled_too(rows):
    y, columns, other = rows
    rng = np.random.default_rng(2)
    outcome = TimeToEvent(event=y.astype(int), time=np.where(y, rng.uniform(0, 5, N), rng.uniform(0, 8, N)), horizon=4)
    found = evaluate(outcome, {"a": Imputed(columns), "b": other}, costs=COSTS)
    each = [evaluate(outcome, {"a": p, "b": other}, costs=COSTS).compare("a", "b") for p in columns]
    want = pool([e.difference for e in each], [e.standard_error for e in each], n_rows=N)
    gap = found.compare("a", "b")
    assert (gap.difference, gap.standard_error) == pytest.approx((want.value, want.standard_error), rel=1e-9)
    assert "horizon 4" in found.answer.read
    assert "censoring" in found.methods()
    codes = np.arange(N) // 4
    clustered = evaluate(y, {"a": Imputed(columns)}, costs=COSTS, clusters=codes)
    each = [evaluate(y, {"a": p}, costs=COSTS, clusters=codes)["a"] for p in columns]
    want = pool([e.score for e in each], [e.standard_error for e in each], n_rows=N // 4)
    assert clustered["a"].standard_error == pytest.approx(want.standard_error, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "shown"),
    [({}, True), ({"rule": 0.2}, False), ({"lags": 2}, False), ({"costs": 0.2}, True), ({"costs": 0.995}, False)],
)
def test_report_has_net_benefit_where_it_has_an_interval(rows, options, shown):
    y, columns, _ = rows
    page = evaluate(y, {"a": Imputed(columns)}, **{"costs": COSTS, **options}).to_html()
    assert ("Net benefit at single thresholds" in page) is shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "optimal"}, 'rule must be "score" or a threshold for Imputed scores'),
        ({"groups": ["a", "b"] * (N // 2)}, "groups must be None for Imputed scores"),
    ],
)
def test_what_is_not_pooled_is_refused(rows, options, words):
    y, columns, _ = rows
    with pytest.raises(ValueError, match=re.escape(words)):
        evaluate(y, {"a": Imputed(columns)}, costs=COSTS, **options)


def test_other_refusals(rows, found):
    y, columns, _ = rows
    with pytest.raises(ValueError, match=re.escape("5 of y_prob['a'] and 2 of y_prob['b']")):
        evaluate(y, {"a": Imputed(columns), "b": Imputed(columns[:2])}, costs=COSTS)
    with pytest.raises(ValueError, match=re.escape("y_prob['a'].scores[1]")):
        evaluate(y, {"a": Imputed([columns[0], columns[1] * 3])}, costs=COSTS)
    amounts = RowCosts(y, false_positive=1.0, false_negative=4.0)
    with pytest.raises(ValueError, match="no amounts for Imputed"):
        evaluate(amounts, {"a": Imputed(columns)})
    with pytest.raises(ValueError, match="Imputed ones are not kept"):
        KeptEvaluation.of(found)
    with pytest.raises(ValueError, match="no pooled form"):
        found.with_information()
    assert evaluate(y, Imputed(columns), costs=COSTS).models == ("model",)


def test_limits_reach_at_least_as_far_as_rubins_degrees_of_freedom_ask_for():
    values, errors = [0.0, 0.3, 0.9], [1.0, 0.8, 1.2]
    near = [Estimate("slope", v, e, (v - 0.1, v + 0.1), 0.95) for v, e in zip(values, errors, strict=True)]
    want, found = pool(values, errors, n_rows=50), pooled_estimate(near, 50)
    half = stats.t.isf(0.025, want.degrees) * want.standard_error
    assert found.interval == pytest.approx((want.value - half, want.value + half), rel=1e-12)
    far = [Estimate("slope", v, e, (v - 5, v + 7), 0.95) for v, e in zip(values, errors, strict=True)]
    spread = stats.t.isf(0.025, want.degrees) ** 2 * (4 / 3) * np.var(values, ddof=1)
    low, high = pooled_estimate(far, 50).interval
    assert (0.4 - low, high - 0.4) == pytest.approx((math.sqrt(25 + spread), math.sqrt(49 + spread)), rel=1e-12)


def test_the_fewest_rows_of_any_data_set_carry_a_pooled_cost():
    y = np.arange(60) % 2
    near = np.where(y == 1, 0.3, 0.05)
    far = near.copy()
    far[0:24:2] = 0.3  # rows that are acted on in vain: twelve here, none there
    each = [evaluate(y, {"a": p}, costs=COSTS).moments.variance(0, -1) for p in (near, far)]
    found = evaluate(y, {"a": Imputed([near, far])}, costs=COSTS).moments.variance(0, -1)
    assert not np.array_equal(each[0].carrying, each[1].carrying)
    assert not np.array_equal(each[0].scarce, each[1].scarce)
    for name in ("carrying", "carriers"):
        assert np.array_equal(getattr(found, name), np.minimum(*(getattr(one, name) for one in each)))
    assert np.array_equal(found.scarce, each[0].scarce | each[1].scarce)


def test_facts_beside_the_costs_are_means_over_the_data_sets(rows, found):
    y, columns, _ = rows
    table = found.score_table("imputed")
    assert (table.total, table.n_rows) == (pytest.approx(N, rel=1e-12), N)
    assert (table.positives_squared + table.negatives_squared).sum() == pytest.approx(N, rel=1e-12)
    every, labels = np.concatenate(columns), np.tile(y, M)
    inside = (every >= COSTS[0]) & (every <= COSTS[1])
    assert found["imputed"].in_range == pytest.approx((inside.mean(), every[inside].mean(), labels[inside].mean()))
    acted = np.clip((every - COSTS[0]) / (COSTS[1] - COSTS[0]), 0, 1).mean()  # the share of thresholds reached
    assert found["imputed"].share_acted_on == pytest.approx(acted, rel=1e-12)


def test_what_lies_in_the_range_in_some_data_sets_only_is_averaged_over_the_scores_there():
    y, outside, inside = np.arange(100) % 4 == 0, np.full(100, 0.05), np.where(np.arange(100) < 30, 0.3, 0.05)
    found = evaluate(y, {"a": Imputed([outside, inside, outside])}, costs=COSTS)["a"]
    assert found.in_range == pytest.approx((0.3 / 3, 0.3, y[:30].mean()))
    nowhere = evaluate(y, {"a": Imputed([outside, outside])}, costs=COSTS)["a"].in_range
    assert nowhere == pytest.approx((0.0, math.nan, math.nan), nan_ok=True)


def test_a_model_acts_like_a_constant_where_it_does_in_every_data_set():
    y = np.arange(100) % 4 == 0
    nobody, somebody = np.full(100, 0.05), np.where(np.arange(100) < 30, 0.3, 0.05)
    assert evaluate(y, {"a": Imputed([nobody, nobody])}, costs=COSTS)["a"].acts_like == "treat none"
    assert evaluate(y, {"a": Imputed([nobody, somebody])}, costs=COSTS)["a"].acts_like == ""


def test_promise_and_event_ratio_are_pooled(rows, found):
    y, columns, _ = rows
    each = [promise_of(evaluate(y, {"imputed": p}, costs=COSTS), "imputed") for p in columns]
    want = pool([e.value for e in each], [e.standard_error for e in each], n_rows=N)
    mine = promise_of(found, "imputed")
    assert (mine.value, mine.standard_error) == pytest.approx((want.value, want.standard_error), rel=1e-12)
    assert want.standard_error > 1.0001 * math.sqrt(np.mean([e.variance for e in each]))
    ratio = event_ratio(found, "imputed", 0.95)
    assert ratio.value == pytest.approx(np.exp(np.mean([np.log(y.mean() / p.mean()) for p in columns])), rel=1e-12)
    assert ratio.interval == pytest.approx(calibration_summary(y, Imputed(columns)).interval("o_e_ratio"), rel=1e-12)


def test_degrees_of_freedom_count_clusters(rows):
    y, columns, _ = rows
    codes = np.arange(N) // 20
    found = evaluate(y, {"a": Imputed(columns)}, costs=COSTS, clusters=codes)
    assert found.units == N // 20
    known = metric_interval(y, Imputed(columns), "roc_auc_score", clusters=codes)
    assert found.auc("a").interval == pytest.approx(known.interval, rel=1e-12)
