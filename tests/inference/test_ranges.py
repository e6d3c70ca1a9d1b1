"""No interval leaves the values that its metric can have, however few or one-sided the rows are."""

import itertools

import numpy as np
import pytest

from stakes import compare, costs, evaluate
from stakes.actions import evaluate_actions, evaluate_deferral
from stakes.inference import (
    bootstrap,
    confidence_band,
    decomposition_interval,
    difference_band,
    metric_difference,
    metric_interval,
    select_best,
    threshold_intervals,
)
from stakes.metrics import METRICS

SLACK = 1e-12
SAMPLES = {
    "two rows, both wrong": ([0, 1], [0.9, 0.2]),
    "three rows": ([0, 0, 1], [0.9, 0.1, 0.8]),
    "all wrong": ([0, 0, 0, 1, 1, 1], [0.9, 0.8, 0.95, 0.1, 0.05, 0.2]),
    "all right": ([0, 0, 0, 1, 1, 1], [0.1, 0.05, 0.2, 0.9, 0.8, 0.95]),
    "one event in ten, missed": ([0] * 9 + [1], [0.6] * 5 + [0.01] * 5),
    "nine events in ten": ([0] + [1] * 9, [0.3] * 4 + [0.02] * 6),
    "certain and wrong": ([0, 1, 0, 1, 1], [1.0, 0.0, 0.0, 1.0, 0.0]),
    "one score": ([0, 1, 0, 1, 1, 0, 0, 0], [0.3] * 8),
    "half of each decision": ([0, 1] * 6, [0.26, 0.24] * 6),
}
MEANS = sorted(
    name
    for name, metric in METRICS.items()
    if metric.task == "binary" and (metric.per_sample or name == "net_benefit_score")
)
OTHERS = ["auc_regret", "bounded_brier_skill_score", "bounded_log_skill_score", "partial_auc_score"]
OTHERS += ["regret_skill_score", "roc_auc_score"]
samples = pytest.mark.parametrize("rows", SAMPLES.values(), ids=SAMPLES)
LIKE = {"net_benefit_score": {"threshold": 0.25}, "average_net_benefit_score": {"bounds": (0.2, 0.6)}}


def parameters(name):
    return LIKE.get(name, METRICS[name].parameters)


def row_range(name, share=None):
    """Least and largest value of a mean over rows, from a row of each class decided rightly and wrongly."""
    function, options = METRICS[name].function, parameters(name)
    ends = [[float(function([y], [p], pos_label=1, **options)) for p in (0.0, 1.0)] for y in (0, 1)]
    if share is None:
        return min(map(min, ends)), max(map(max, ends))
    return tuple((1 - share) * f(ends[0]) + share * f(ends[1]) for f in (min, max))


def inside(interval, low, high):
    ends = np.asarray(interval, dtype=float)
    known = ends[np.isfinite(ends)]
    return bool(np.all((known >= low - SLACK) & (known <= high + SLACK)))


def clustered(y):
    """Two rows in each cluster, where there are clusters enough for an interval."""
    return [{"clusters": np.arange(len(y)) // 2}] if len(y) >= 9 else []


def test_every_metric_with_an_interval_in_closed_form_is_looked_at():
    y, p = [0, 1] * 25, [0.2, 0.7] * 25
    looked_at = {*MEANS, *OTHERS, "h_measure_score"}
    for name in METRICS.keys() - looked_at - {m for m, metric in METRICS.items() if metric.task == "multiclass"}:
        with pytest.raises(ValueError, match="closed-form interval"):
            metric_interval(y, p, name, **parameters(name))


@samples
@pytest.mark.parametrize("name", MEANS)
def test_intervals_of_means_stay_within_what_rows_can_cost(name, rows):
    y, p = rows
    low, high = row_range(name)
    for about in ({}, *clustered(y), {"confidence_level": 0.999}):
        found = metric_interval(y, p, name, **about, **parameters(name))
        assert inside(found.interval, low, high), (about, found, low, high)
    stated = metric_interval(y, p, name, prevalence=0.1, **parameters(name))
    assert inside(stated.interval, *row_range(name, 0.1)), stated


@samples
@pytest.mark.parametrize("name", MEANS)
def test_differences_of_means_stay_within_what_they_can_differ_by(name, rows):
    y, p = rows
    low, high = row_range(name)
    q = 1 - np.asarray(p)
    for about in ({}, *clustered(y)):
        found = metric_difference(y, p, q, name, **about, **parameters(name))
        assert inside(found.interval, low - high, high - low), (about, found)


@samples
@pytest.mark.parametrize("name", OTHERS)
def test_intervals_of_other_metrics_stay_within_their_range(name, rows):
    y, p = rows
    found = metric_interval(y, p, name, **parameters(name))
    gap = metric_difference(y, p, 1 - np.asarray(p), name, **parameters(name))
    low, high = METRICS[name].low, METRICS[name].high
    assert inside(found.interval, low, high), found
    assert inside(gap.interval, low - high, high - low), gap


def test_net_benefit_is_never_worse_than_acting_on_negatives_alone():
    """At 25% a false positive costs a third of a true positive: -.33 is the least, and 1 the most."""
    y, p = [0, 0, 0, 1], [0.9, 0.8, 0.7, 0.9]
    low, high = metric_interval(y, p, "net_benefit_score", threshold=0.25).interval
    assert -1 / 3 <= low < high <= 1.0
    # acting from another score on it is a mean like any other, cut off at its range
    assert metric_interval(y, p, "net_benefit_score", threshold=0.25, rule=0.3).interval[0] == pytest.approx(
        -1 / 3, abs=1e-15
    )


@samples
def test_intervals_at_thresholds_stay_within_their_ranges(rows):
    y, p = rows
    t = np.array([0.0, 0.05, 0.25, 0.5, 0.9])
    worst, odds = np.maximum(t, 1 - t), t / (1 - t)
    for about, ends in (
        ({}, {"regret": (0 * t, worst), "net_benefit": (-odds, 1 + 0 * t)}),
        ({"prevalence": 0.1}, {"regret": (0 * t, 0.9 * t + 0.1 * (1 - t)), "net_benefit": (-0.9 * odds, 0.1 + 0 * t)}),
    ):
        found = threshold_intervals(y, p, thresholds=t, confidence_level=0.99, **about)
        shares = dict.fromkeys(("sensitivity", "specificity", "ppv", "npv", "share_flagged"), (0 * t, 1 + 0 * t))
        for name, (low, high) in (ends | shares).items():
            assert inside(np.fmax(low - found.low[name], 0), 0, 0), (about, name, found.low[name])
            assert inside(np.fmax(found.high[name] - high, 0), 0, 0), (about, name, found.high[name])
        band = confidence_band(y, p, "net_benefit", thresholds=t, n_resamples=1000, **about)
        for name in ("low", "simultaneous_low"):
            assert inside(np.fmax(ends["net_benefit"][0] - getattr(band, name), 0), 0, 0), name
        for name in ("high", "simultaneous_high"):
            assert inside(np.fmax(getattr(band, name) - ends["net_benefit"][1], 0), 0, 0), name


@samples
def test_bands_of_curves_and_differences_stay_within_their_ranges(rows):
    y, p = rows
    t = np.array([0.05, 0.25, 0.5, 0.9])
    odds, q = t / (1 - t), 1 - np.asarray(p)
    least = {"regret": 0 * t, "net_benefit": -odds, "interventions_avoided": -100 / odds}
    most = {"regret": np.maximum(t, 1 - t), "net_benefit": 1 + 0 * t, "interventions_avoided": 100 + 0 * t}
    for kind, harm in itertools.product(least, (0.0, 0.02)):
        band = confidence_band(y, p, kind, thresholds=t, n_resamples=1000, harm=harm)
        moved = {"regret": harm * (1 - t), "net_benefit": -harm, "interventions_avoided": -100 * harm / odds}[kind]
        for low, high in ((band.low, band.high), (band.simultaneous_low, band.simultaneous_high)):
            assert np.all(low >= least[kind] + moved - SLACK), (kind, low)
            assert np.all(high <= most[kind] + moved + SLACK), (kind, high)
        gap = difference_band(y, p, q, kind, thresholds=t, n_resamples=1000)
        wide = most[kind] - least[kind]
        assert np.all(gap.simultaneous_low >= -wide - SLACK)
        assert np.all(gap.simultaneous_high <= wide + SLACK)


@samples
@pytest.mark.parametrize("measure", [costs.Uniform(0.05, 0.3), costs.Fixed(0.25), costs.Beta(2, 8)])
def test_costs_of_an_evaluation_stay_within_what_can_be_lost(rows, measure):
    y, p = rows
    y, p = np.array(y), np.array(p)
    most = max(float(measure.negative_loss(np.inf)), float(measure.positive_loss(-np.inf))) / measure.mass
    groups = np.arange(len(y)) % 2
    for harm in (0.0, 0.2):
        found = evaluate(y, {"a": p, "b": 1 - p}, costs=measure, groups={"half": groups}, harm=harm)
        paid = harm * float(measure.positive_loss(-np.inf)) / measure.mass
        for result in found.results:
            mine = paid if result.name in ("a", "b") else 0.0
            assert inside(result.interval, mine, most + mine), result
        for row in found.groups:
            assert inside(row.interval, paid, most + paid), row
            assert inside(row.skill_interval, -np.inf, 1.0), row
        for interval in found.selection.intervals.values():
            assert inside(interval, 0.0, most + paid), interval
        assert inside(found.compare("a", "b").interval, -most, most)
    assert inside(compare(y, p, 1 - p, costs=measure).interval, -most, most)
    chosen = select_best(y, {"a": p, "b": 1 - p}, costs=measure)
    assert all(inside(interval, 0.0, most) for interval in chosen.intervals.values())


@pytest.mark.parametrize("turned", [False, True])
def test_terms_of_a_decomposition_stay_within_their_ranges(turned):
    rng = np.random.default_rng(5)
    p = rng.random(60)
    y = rng.random(60) < p
    y[:20], y[20:40] = True, False
    found = decomposition_interval(y, 1 - p if turned else p, costs=costs.Uniform(0.05, 0.3), confidence_level=0.999)
    most = float(costs.Uniform(0.05, 0.3).positive_loss(-np.inf)) / 0.25
    for term in ("score", "miscalibration", "discrimination", "uncertainty", "recalibrated"):
        assert inside(getattr(found, term).interval, 0.0, most), term
    for term in ("skill", "potential_skill"):
        assert getattr(found, term).interval[1] <= 1.0


def test_the_interval_of_a_skill_near_1_ends_at_1():
    y = np.repeat([False, True], 100)
    score = np.where(y, 0.99, 0.01)
    score[[3, 150]] = 0.6, 0.4
    found = decomposition_interval(y, score, costs=costs.Uniform(0.0, 1.0))
    for skill in (found.skill, found.potential_skill):
        assert skill.value > 0.9
        assert skill.interval[1] == 1.0


def test_costs_of_actions_and_deferral_stay_within_what_they_can_be():
    matrix = np.array([[-1.0, 1.0, 4.0], [1.0, 0.0, 1.0], [6.0, 2.0, 0.5]])
    y = np.array([0, 1, 2, 0, 2])
    wrong, right = np.roll(np.eye(3), 1, axis=1)[y], np.eye(3)[y]
    found = evaluate_actions(y, {"wrong": wrong, "right": right}, matrices=matrix)
    for model in found.models:
        assert inside(model.cost.interval, -1.0, 6.0), model.cost
        assert inside(model.regret.interval, 0.0, 6.0), model.regret
    assert inside(found.compare("wrong", "right").interval, -6.0, 6.0)
    deferred = evaluate_deferral([0, 1, 0, 1], [0.9, 0.1, 0.8, 0.2], costs=0.3, deferral=0.05)
    for name in ("cost", "cost_without", "cost_of_decided"):
        assert inside(deferred.estimates[name].interval, 0.0, 0.7), name
    assert inside(deferred.estimates["value"].interval, -0.7, 0.7)


@pytest.mark.parametrize("kind", ["percentile", "basic", "normal"])
def test_bootstrap_intervals_stay_within_the_range_of_the_metric(kind):
    y, p = [0, 1, 0, 1, 0, 1] * 2, [0.1, 0.9, 0.2, 0.95, 0.6, 0.55] * 2
    for name in (*MEANS, "roc_auc_score", "bounded_brier_skill_score"):
        found = bootstrap(y, p, name, n_resamples=100, random_state=0, **parameters(name))
        low, high = row_range(name) if name in MEANS else (METRICS[name].low, METRICS[name].high)
        assert inside(found.intervals(kind), low, high), (name, found.intervals(kind))
