"""Errors with estimated weights: bands, clusters, groups, calibration, selection and the report's page."""

import math
from dataclasses import replace

import numpy as np
import pytest

from stakes import PartlyVerified, ScoreTable, TimeToEvent, compare, costs, evaluate, metric_interval
from stakes.base.validation import BinarySample
from stakes.core.options import EvaluationData, evaluation_data
from stakes.curves import binned_reliability
from stakes.inference import (
    calibration_summary,
    confidence_band,
    decomposition_interval,
    difference_band,
    metric_difference,
    select_best,
)
from stakes.metrics import METRICS
from stakes.report._any_range import spread_of
from stakes.variance.dependence import Design
from stakes.variance.influence import cells_of, gap_moments, loss_influence

N = 240
UP = math.sqrt(N / (N - 1))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    x = rng.normal(size=N)
    time, left = rng.exponential(np.exp(-x)), rng.exponential(1.5, N)
    risk = 1.0 - np.exp(-0.7 * np.exp(x))
    data = {"event": (time <= left).astype(int), "time": np.minimum(time, left).round(2), "horizon": 0.7}
    return data, risk, np.clip(risk + rng.normal(0, 0.2, N), 0, 1)


def jackknifed(data, estimate):
    """Derivative of an estimate to the weight of each row, by small steps either way."""
    step, found = 1e-5, np.empty(N)
    for i in range(N):
        weight = np.ones(N)
        weight[i] += step
        up = estimate(TimeToEvent(**data, sample_weight=weight))
        weight[i] -= 2 * step
        found[i] = (up - estimate(TimeToEvent(**data, sample_weight=weight))) / (2 * step)
    return found


def mean_cost(outcome, score, low, high):
    table = ScoreTable.from_predictions(outcome, score)
    weight = {name: getattr(table, name) / table.total for name in ("positives", "negatives")}
    cost = np.clip(table.scores, low, high)
    # integral over c in [low, high] of c for an alarm, 1 - c for a miss, over the width
    alarm, miss = (cost**2 - low**2) / 2, (high - cost) - (high**2 - cost**2) / 2
    return float(weight["negatives"] @ alarm + weight["positives"] @ miss) / (high - low)


def test_error_of_a_mean_cost_is_that_of_the_derivative(rows):
    data, score, other = rows
    found = evaluate(TimeToEvent(**data), {"a": score, "b": other}, costs=(0.2, 0.6))
    slopes = [jackknifed(data, lambda outcome, s=s: mean_cost(outcome, s, 0.2, 0.6)) for s in (score, other)]
    for result, slope in zip(found.results, slopes, strict=False):
        assert result.standard_error / UP == pytest.approx(math.sqrt(slope @ slope), rel=1e-5)
    gap = slopes[0] - slopes[1]
    assert found.compare("a", "b").standard_error / UP == pytest.approx(math.sqrt(gap @ gap), rel=1e-5)
    assert found.compare("a", "b").standard_error == pytest.approx(
        compare(TimeToEvent(**data), score, other, costs=(0.2, 0.6)).standard_error, rel=1e-12
    )
    clusters = np.arange(N) // 3
    clustered = compare(TimeToEvent(**data), score, other, costs=(0.2, 0.6), clusters=clusters)
    sums = np.bincount(clusters, gap)
    # a jackknife of clusters divides each sum by what is left of the weight
    assert clustered.standard_error == pytest.approx(math.sqrt(sums @ sums), rel=0.02)


@pytest.mark.parametrize("how", [{}, {"sample_weight": np.arange(N) % 4}, {"groups": np.arange(N) % 2}])
@pytest.mark.parametrize("kind", ["regret", "net_benefit"])
def test_bands_have_the_errors_of_the_single_thresholds(rows, kind, how):
    data, score, other = rows
    outcome, thresholds = TimeToEvent(**data, **how), np.array([0.2, 0.4])
    band = confidence_band(outcome, score, kind, thresholds=thresholds)
    gap = difference_band(outcome, score, other, kind, thresholds=thresholds)
    for k, t in enumerate(thresholds):
        unit = (1 - t) if kind == "regret" else 1.0
        if kind == "net_benefit":
            own = metric_interval(outcome, score, "net_benefit_score", threshold=t)
            assert band.standard_error[k] == pytest.approx(own.standard_error, rel=1e-9)
        both = metric_difference(outcome, score, other, "net_benefit_score", threshold=t)
        assert gap.standard_error[k] == pytest.approx(unit * both.standard_error, rel=1e-9)
    assert band.n_rows == outcome.present.sum()
    assert np.all(band.simultaneous_low <= band.low)


def test_band_without_unknown_rows_is_that_of_plain_labels(rows):
    _, score, _ = rows
    y = score > 0.5
    outcome = TimeToEvent(event=y, time=np.where(y, 0.5, 1.0), horizon=1)
    ours, theirs = (confidence_band(labels, score, "regret", thresholds=[0.3]) for labels in (outcome, y))
    assert (ours.low, ours.simultaneous_high) == (theirs.low, theirs.simultaneous_high)


def test_groups_share_the_error_of_their_weights(rows):
    data, score, _ = rows
    group = np.arange(N) % 3 == 0
    whole = TimeToEvent(**data, groups=np.zeros(N))  # one group, whose weights those of the evaluation keep
    found = evaluate(whole, {"a": score}, costs=(0.2, 0.6), groups=group)

    def gap(outcome):
        means = []
        for mine in (~group, group):
            sample = evaluation_data(outcome, score).rows
            keep = mine[sample.origin.places]
            losses = _losses(sample.y[keep], sample.score[keep], 0.2, 0.6)
            means.append(np.average(losses, weights=sample.weight[keep]))
        return means[0] - means[1]

    slope = jackknifed(data, gap)
    one = found.groups[0]
    assert one.difference == pytest.approx(gap(TimeToEvent(**data)), rel=1e-9)
    sample = evaluation_data(TimeToEvent(**data), score).rows
    chosen = (~group)[sample.origin.places]
    parts = []
    for mine in (chosen, ~chosen):
        origin = replace(sample.origin, places=sample.origin.places[mine])
        rest = BinarySample(sample.y[mine], sample.score[mine], sample.weight[mine], origin)
        cells = cells_of(EvaluationData(rest, None), fixed_prevalence=False)
        parts.append((cells, loss_influence(cells, costs.Uniform(0.2, 0.6), "score")))
    moments = gap_moments(*parts, chosen, None, None)
    assert moments.standard_error / 0.4 / UP == pytest.approx(math.sqrt(slope @ slope), rel=1e-5)
    assert one.p_value == pytest.approx(moments.p_value(), rel=1e-9)


def in_clusters(clusters, seed=2):
    """Scores, labels and follow-up of rows in clusters that differ; cluster 0 has far fewer events than promised."""
    rng = np.random.default_rng(seed)
    n = len(clusters)
    odds = rng.normal(-0.5, 1, n)
    shift = rng.normal(0, 0.5, clusters.max() + 1)[clusters] - 0.9 * (clusters == 0)
    y = rng.random(n) < 1 / (1 + np.exp(-odds - shift))
    return 1 / (1 + np.exp(-odds)), y.astype(int), np.where(y, rng.uniform(0, 1, n), 2.0)


def test_groups_in_clusters_have_the_jackknife_of_these():
    """Group "A" has rows in 15 of 60 clusters, and one cluster holds 44% of them."""
    clusters = np.repeat(np.arange(60), np.where(np.arange(60) == 0, 440, 40))
    score, y, time = in_clusters(clusters)
    group = np.where(clusters < 15, "A", "B")
    few = np.flatnonzero((y == 0) & (clusters == 50))[:1]
    some = np.random.default_rng(0).random(len(y)) < 0.2
    asked = {"costs": (0.1, 0.7), "groups": group, "clusters": clusters}

    def censored(where):
        cut = np.random.default_rng(1).uniform(0.2, 1.4, len(y))
        return TimeToEvent(
            event=y * ~(where & (cut < time)), time=np.where(where, np.minimum(time, cut), time), horizon=1.5
        )

    def gap(outcome, keep):
        found = evaluate(outcome.take(np.flatnonzero(keep)), {"m": score[keep]}, costs=(0.1, 0.7), groups=group[keep])
        return found.groups[0].difference

    outcome = censored(some)
    rows = evaluate(outcome, {"m": score}, **asked).rows
    changes = np.array([gap(outcome, clusters != k) for k in range(60)]) - gap(outcome, clusters >= 0)
    chosen = group[rows.origin.places] == "A"
    parts = []
    for mine in (chosen, ~chosen):
        cells = cells_of(EvaluationData(rows.taken(mine).sample(0), None), fixed_prevalence=False)
        parts.append((cells, loss_influence(cells, costs.Uniform(0.1, 0.7), "score")))
    moments = gap_moments(*parts, chosen, rows.clusters, None)
    assert moments.standard_error / 0.6 == pytest.approx(math.sqrt(59 / 60 * (changes @ changes)), rel=0.03)
    assert moments.degrees < 2.0  # one cluster has nearly all of the error
    # with hardly anyone censored everything about a group is as with labels
    one, plain = (
        evaluate(out, {"m": score}, **asked).groups[0] for out in (censored(np.isin(np.arange(len(y)), few)), y)
    )
    assert (one.p_value, one.skill_p_value) == pytest.approx((plain.p_value, plain.skill_p_value), rel=0.01)
    assert one.interval == pytest.approx(plain.interval, rel=0.01)
    assert one.note == plain.note


def test_a_group_in_few_clusters_has_no_interval_whoever_is_censored():
    clusters = np.repeat(np.arange(40), 30)
    score, y, time = in_clusters(clusters)
    last = np.arange(len(y)) == np.flatnonzero(y == 0)[-1]
    followed = TimeToEvent(event=y, time=np.where(last, 0.5, time), horizon=1.5)
    verified = PartlyVerified(np.where(last, np.nan, y), groups=np.zeros(len(y)))
    asked = {"costs": (0.1, 0.7), "groups": np.where(clusters < 3, "A", "B"), "clusters": clusters}
    for outcome in (y, followed, verified):
        few, many = evaluate(outcome, {"m": score}, **asked).groups
        assert np.isnan([*few.interval, *few.auc_interval, few.p_value, many.p_value]).all()
        assert few.note == "only 3 clusters: an interval needs 5"
        assert np.isfinite(many.interval).all()


def _losses(y, score, low, high):
    cost = np.clip(score, low, high)
    alarm, miss = (cost**2 - low**2) / 2, (high - cost) - (high**2 - cost**2) / 2
    return np.where(y, miss, alarm) / (high - low)


def test_observed_to_expected_takes_the_scores_of_all_rows(rows):
    data, score, _ = rows
    outcome = TimeToEvent(**data)
    found = calibration_summary(outcome, score)
    assert found.expected == pytest.approx(score.mean(), rel=1e-12)
    assert found.o_e_ratio == pytest.approx(outcome.prevalence / score.mean(), rel=1e-12)

    def log_ratio(outcome):
        weight = outcome.sample_weight
        return math.log(outcome.prevalence / np.average(score, weights=weight))

    slope = jackknifed(data, log_ratio)
    estimate = next(each for each in found.estimates if each.metric == "o_e_ratio")
    assert estimate.standard_error / found.o_e_ratio / UP == pytest.approx(math.sqrt(slope @ slope), rel=1e-5)


def test_share_acted_on_is_that_of_all_rows(load_data):
    data = load_data("dcurves/df_surv")
    outcome = TimeToEvent(event=data.cancer, time=data.ttcancer, horizon=1.5)
    found = evaluate(outcome, data.cancerpredmarker, costs=0.2)
    assert found.results[0].share_acted_on == pytest.approx(0.2307, abs=5e-5)
    assert found.calibration[0].overall.o_e_ratio == pytest.approx(1.5722, abs=5e-5)


def test_selection_and_decomposition_follow(rows):
    data, score, other = rows
    outcome = TimeToEvent(**data)
    found = select_best(outcome, {"a": score, "b": other}, costs=(0.2, 0.6), references=False)
    known = compare(outcome, score, other, costs=(0.2, 0.6))
    assert found.possible[0] == ("a" if known.difference < 0 else "b")
    terms = decomposition_interval(outcome, score, costs=(0.2, 0.6), random_state=0)
    own = evaluate(outcome, score, costs=(0.2, 0.6)).results[0]
    assert terms.score.standard_error == pytest.approx(own.standard_error, rel=1e-9)


@pytest.mark.parametrize("dependence", [{}, {"clusters": np.arange(N) // 3}, {"lags": "auto"}, {"lags": 3}])
def test_the_pages_covariances_are_those_of_the_library(rows, dependence):
    data, score, other = rows
    found = evaluate(TimeToEvent(**data), {"a": score, "b": other}, costs=(0.2, 0.6), **dependence)
    page = spread_of(found, [0, 1])
    cuts = np.asarray(page.cuts)
    inside = (cuts[:-1] >= 0.2 - 1e-9) & (cuts[1:] <= 0.6 + 1e-9)
    above = np.triu_indices(len(cuts) - 1)
    matrix = np.zeros((len(cuts) - 1,) * 2)
    matrix[above] = page.covariances[1]
    matrix = matrix + np.triu(matrix, 1).T
    variance = matrix[np.ix_(inside, inside)].sum() / 0.4**2
    assert math.sqrt(variance) == pytest.approx(found["b"].standard_error, rel=1e-6)


def test_independent_parts_add_up_to_the_variance(rows):
    data, score, _ = rows
    sample = evaluation_data(TimeToEvent(**data), score).rows
    for dependence in ({}, {"codes": np.arange(N) // 3}, {"lags": "auto"}, {"lags": 3}):
        design = Design(sample.y, sample.weight, origin=sample.origin, **dependence)
        units = design.units(sample.score[None])
        variance, _, _ = design.variance_of(design.contributions(design.centred(sample.score)))
        assert (units @ units.T).item() == pytest.approx(float(variance), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bounded_brier_loss", {"prevalence": 0.1}),
        ("roc_auc_score", {}),
        ("bounded_brier_skill_score", {}),
    ],
)
def test_error_of_every_metric_is_that_of_the_derivative(rows, name, options):
    data, score, _ = rows
    slope = jackknifed(data, lambda outcome: METRICS[name].function(outcome, score, **options))
    found = metric_interval(TimeToEvent(**data), score, name, **options)
    assert found.standard_error / UP == pytest.approx(math.sqrt(slope @ slope), rel=1e-6)


def test_table_keeps_that_its_weights_are_estimated(rows):
    data, score, _ = rows
    table = ScoreTable.from_predictions(TimeToEvent(**data), score)
    known = TimeToEvent(event=[0, 1], time=[2.0, 0.5], horizon=data["horizon"])  # nobody is censored before it
    whole = ScoreTable.from_predictions(known, [0.2, 0.3])
    for kept in (ScoreTable.from_json(table.to_json()), whole.merge(table), table.recalibrated()):
        assert kept.estimated_weights
    assert not ScoreTable.from_json(whole.to_json()).estimated_weights
    with pytest.raises(ValueError, match="merge needs tables of the same outcome"):
        ScoreTable.from_predictions([0, 1], [0.2, 0.3]).merge(table)


@pytest.mark.parametrize(
    "ask",
    [
        lambda y, p: confidence_band(y, p, "reliability"),
        lambda y, p: evaluate(ScoreTable.from_predictions(y, p)),
    ],
)
def test_what_takes_weights_as_known_refuses_estimated_ones(rows, ask):
    data, score, _ = rows
    with pytest.raises(ValueError, match="takes weights as known, and those of"):
        ask(TimeToEvent(**data), score)


@pytest.mark.parametrize("name", ["bounded_brier_loss", "roc_auc_score"])
def test_a_table_alone_takes_its_weights_as_known_and_says_so(rows, name):
    data, score, _ = rows
    outcome = TimeToEvent(**data)
    known, table = outcome.weight > 0, ScoreTable.from_predictions(outcome, score)
    found = metric_interval(ScoreTable.from_json(table.to_json()), metric=name)
    plain = ScoreTable.from_predictions(outcome.y[known], score[known], sample_weight=outcome.weight[known])
    assert found.standard_error == pytest.approx(metric_interval(plain, metric=name).standard_error, rel=0.02)
    assert found.standard_error > 0.98 * metric_interval(outcome, score, name).standard_error
    assert found.note.endswith("weights treated as known (errors a little too large)")
    band, own = confidence_band(table, kind="regret", thresholds=[0.3]), metric_interval(table, metric=name)
    assert (
        band.about
        == "event by horizon 0.7, rows weighted for censoring, weights treated as known (errors a little too large)"
    )
    assert own == found
    assert "known" not in metric_interval(plain, metric=name).note


# Distances of the smoothed calibration curve.


def followed(n, seed, last, horizon=2.0):
    """Rows whose score is their risk, followed until a time that is uniform up to ``last``."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    time, left = rng.exponential(np.exp(1.3 - x)), rng.uniform(0.0, last, n)
    follow_up = {"event": time <= left, "time": np.minimum(time, left), "horizon": horizon}
    return follow_up, 1.0 - np.exp(-horizon * np.exp(x - 1.3))


def test_distances_of_a_few_censored_rows_have_nearly_the_interval_of_labels():
    follow_up, risk = followed(600, 3, 400.0)
    outcome, score = TimeToEvent(**follow_up), risk**0.7
    assert 0 < np.count_nonzero(~outcome.known) < 6
    labels = calibration_summary(outcome.y, score)
    weighted = calibration_summary(outcome, score)
    for name in ("ici", "e90"):
        np.testing.assert_allclose(weighted.interval(name), labels.interval(name), rtol=0.1)


@pytest.mark.simulation
@pytest.mark.parametrize(("last", "power"), [(8.0, 1.0), (8.0, 0.7), (4.0, 1.0), (4.0, 0.7)])
def test_intervals_of_distances_hold_with_censoring(last, power):
    x = np.linspace(-4.5, 4.5, 2001)
    risk, density = 1.0 - np.exp(-2.0 * np.exp(x - 1.3)), np.exp(-0.5 * x * x)
    truth = np.average(np.abs(risk**power - risk), weights=density)
    held = []
    for seed in range(60):
        follow_up, score = followed(400, seed, last)
        low, high = calibration_summary(TimeToEvent(**follow_up), score**power).interval("ici")
        held.append(low <= truth <= high)
    assert np.mean(held) >= 0.88  # 57 of 60 expected at least; .88 is 2.5 standard errors below .95


# Bins of the score.


def test_each_bin_has_its_own_kaplan_meier_estimate():
    follow_up, risk = followed(500, 7, 5.0)
    found = binned_reliability(TimeToEvent(**follow_up), risk, n_bins=4, confidence_level=0.9)
    place = np.searchsorted(found.score_low, risk, side="right") - 1
    assert np.bincount(place).tolist() == [125] * 4
    for k in range(4):
        time, event = follow_up["time"][place == k], follow_up["event"][place == k]
        free, greenwood = 1.0, 0.0
        for t in np.sort(time[event & (time <= 2.0)]):
            at_risk = np.count_nonzero(time >= t)
            free, greenwood = free * (1.0 - 1.0 / at_risk), greenwood + 1.0 / (at_risk * (at_risk - 1.0))
        assert found.event_rate[k] == pytest.approx(1.0 - free, abs=1e-12)
        assert found.mean_score[k] == pytest.approx(risk[place == k].mean())
        size = (1.0 - free) * free / (free**2 * greenwood)
        assert found.effective_n[k] == pytest.approx(
            size, rel=0.02
        )  # Greenwood's variance, but for the size of a sample
        low, high = proportion(1.0 - free, found.effective_n[k], 1.6448536269514722)
        assert (found.ci_low[k], found.ci_high[k]) == pytest.approx((low, high))


def proportion(rate, n, z):
    """Wilson's interval, from its definition: where the rate is z standard errors away."""
    p = np.linspace(0.0, 1.0, 2_000_001)
    inside = p[np.abs(rate - p) <= z * np.sqrt(p * (1.0 - p) / n)]
    return pytest.approx(inside[0], abs=1e-6), pytest.approx(inside[-1], abs=1e-6)


def test_bins_without_censoring_are_those_of_labels_and_bins_of_nobody_followed_are_refused():
    follow_up, risk = followed(300, 8, 1e6)
    outcome = TimeToEvent(**follow_up)
    bins, labels = binned_reliability(outcome, risk), binned_reliability(outcome.y, risk)
    np.testing.assert_allclose(bins.event_rate, labels.event_rate)
    np.testing.assert_allclose(bins.ci_high, labels.ci_high)
    follow_up["time"] = np.where(risk > 0.6, np.minimum(follow_up["time"], 0.5), follow_up["time"])
    follow_up["event"] = follow_up["event"] & (follow_up["time"] < 0.4)
    with pytest.raises(
        ValueError, match="n_bins must leave somebody followed to the horizon in each bin: horizon 2 lies"
    ):
        binned_reliability(TimeToEvent(**follow_up), risk)


def test_bins_of_follow_up_have_no_other_prevalence():
    follow_up, risk = followed(300, 8, 5.0)
    with pytest.raises(ValueError, match=r"prevalence must be None for a TimeToEvent, whose rates it has, got 0\.2"):
        binned_reliability(TimeToEvent(**follow_up), risk, prevalence=0.2)


def test_errors_of_many_rows_are_kept_in_single_precision_and_are_the_same(monkeypatch):
    follow_up, risk = followed(400, 9, 5.0)
    outcome = TimeToEvent(**follow_up)
    double = calibration_summary(outcome, risk), confidence_band(outcome, risk, "smooth", thresholds=[0.2, 0.4])
    monkeypatch.setattr("stakes.variance.dependence._DOUBLE", 0)
    single = calibration_summary(outcome, risk), confidence_band(outcome, risk, "smooth", thresholds=[0.2, 0.4])
    np.testing.assert_allclose(single[0].interval("ici"), double[0].interval("ici"), rtol=1e-4, atol=1e-6)
    ends = [found.simultaneous_low for _, found in (single, double)]
    np.testing.assert_allclose(*ends, rtol=1e-4)
    assert ends[0].tolist() != ends[1].tolist()
