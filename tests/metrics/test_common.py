"""Every registered metric keeps the promises of the conventions."""

import math
import warnings
from inspect import signature

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from stakes import ScoreTable, costs
from stakes.metrics import METRICS, Metric, register

RNG = np.random.default_rng(20)
N = 60
Y = RNG.integers(0, 2, N)
# tied scores, and some exactly on the bounds that the registry's example parameters use
P = np.round(np.clip(0.15 + 0.25 * Y + 0.2 * RNG.normal(size=N), 0.01, 0.99), 2)
W = RNG.integers(0, 4, N)


def binary_metrics():
    return {name: entry for name, entry in METRICS.items() if entry.task == "binary"}


BINARY = binary_metrics()
metric = pytest.mark.parametrize("metric", BINARY.values(), ids=BINARY)


def value(metric, *data, **options):
    return metric.function(*data, **metric.parameters, **options)


@metric
def test_value_is_a_plain_float_within_its_range(metric):
    result = value(metric, Y, P)
    assert type(result) is float
    assert metric.low <= result <= metric.high


@metric
def test_order_of_rows_does_not_matter(metric):
    order = RNG.permutation(N)
    shuffled = value(metric, Y[order], P[order], sample_weight=W[order])
    assert shuffled == pytest.approx(value(metric, Y, P, sample_weight=W), rel=1e-13)


@metric
def test_integer_weight_equals_repeated_rows(metric):
    repeated = value(metric, np.repeat(Y, W), np.repeat(P, W))
    assert value(metric, Y, P, sample_weight=W) == pytest.approx(repeated, rel=1e-13)


@metric
def test_scaled_weights_change_nothing(metric):
    assert value(metric, Y, P, sample_weight=0.37 * W) == pytest.approx(value(metric, Y, P, sample_weight=W), rel=1e-13)


@metric
def test_table_stands_for_the_rows(metric):
    table = ScoreTable.from_predictions(Y, P, sample_weight=W)
    assert value(metric, table) == pytest.approx(value(metric, Y, P, sample_weight=W), rel=1e-13)
    with pytest.raises(ValueError, match="ScoreTable"):
        value(metric, table, P)


@metric
@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [(Y.astype(bool), None), (2 * Y - 1, None), (Y.astype(float), None), (np.where(Y, "yes", "no"), "yes")],
    ids=["bool", "-1/1", "float", "text"],
)
def test_labels_may_be_any_two_values(metric, labels, pos_label):
    assert value(metric, labels, P, pos_label=pos_label) == value(metric, Y, P)


@metric
def test_naming_the_other_class_positive_flips_it(metric):
    flipped = value(metric, Y, 1.0 - P, pos_label=0)
    assert flipped == pytest.approx(value(metric, 1 - Y, 1.0 - P), rel=1e-13)


@metric
def test_containers_and_dtypes_do_not_matter(metric):
    expected = value(metric, Y, P)
    assert value(metric, Y.tolist(), P.tolist()) == expected
    assert value(metric, Y.astype(np.int8), P) == expected
    assert value(metric, Y, np.column_stack([1.0 - P, P])) == expected
    exact = np.float32(P)
    assert value(metric, Y, exact) == value(metric, Y, exact.astype(float))


@metric
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_data_frames_are_taken(metric, library):
    module = pytest.importorskip(library)
    column = {"pandas": "Series", "polars": "Series", "pyarrow": "chunked_array"}[library]
    wrap = (lambda v: module.chunked_array([v])) if library == "pyarrow" else getattr(module, column)
    assert value(metric, wrap(Y), wrap(P), sample_weight=wrap(W)) == value(metric, Y, P, sample_weight=W)


@metric
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_non_finite_scores_are_refused_with_their_place(metric, bad):
    scores = P.copy()
    scores[7] = bad
    with pytest.raises(ValueError, match=r"must be finite, got .* at index 7 \(1 of 60"):
        value(metric, Y, scores)


@metric
def test_scores_outside_0_1_are_refused_unless_only_their_rank_counts(metric):
    scores = P.copy()
    scores[3] = 1.2
    if metric.response == "score":
        assert math.isfinite(value(metric, Y, scores - 5.0))
        return
    with pytest.raises(ValueError, match=r"\[0, 1\], got 1.2 at index 3") as error:
        value(metric, Y, scores)
    assert "h_measure_score" in str(error.value)


@metric
def test_logits_are_turned_into_probabilities(metric):
    if metric.response == "score":
        pytest.skip("ranks need no probabilities")
    assert value(metric, Y, np.log(P / (1.0 - P)), logits=True) == pytest.approx(value(metric, Y, P), rel=1e-9)


@metric
def test_invalid_rows_are_refused(metric):
    with pytest.raises(ValueError, match="same length, got 59 and 60"):
        value(metric, Y[:-1], P)
    with pytest.raises(ValueError, match="two values, got 3"):
        value(metric, np.where(np.arange(N) == 4, 2, Y), P)
    with pytest.raises(ValueError, match=r"sample_weight must be finite and >= 0, got -1.0 at index 2"):
        value(metric, Y, P, sample_weight=np.where(np.arange(N) == 2, -1, W))
    with pytest.raises(ValueError, match="not be all zero"):
        value(metric, Y, P, sample_weight=np.zeros(N))
    with pytest.raises(ValueError, match="at least one row"):
        value(metric, [], [])
    with pytest.raises(ValueError, match=r"y_(prob|score) is missing"):
        value(metric, Y)


@metric
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_gives_a_loss_but_no_ranking(metric, label):
    labels = np.full(N, label)
    if metric.one_class:
        assert math.isfinite(value(metric, labels, P))
        return
    with pytest.warns(UndefinedMetricWarning, match=metric.name):
        assert math.isnan(value(metric, labels, P))


@metric
def test_prevalence_reweights_the_classes(metric):
    target = 0.2
    share = Y.mean()
    weight = np.where(Y, target / share, (1 - target) / (1 - share))
    expected = value(metric, Y, P, sample_weight=weight)
    assert value(metric, Y, P, prevalence=target) == pytest.approx(expected, rel=1e-13)
    assert value(metric, ScoreTable.from_predictions(Y, P), prevalence=target) == pytest.approx(expected, rel=1e-13)
    with pytest.raises(ValueError, match="both classes"):
        value(metric, np.ones(N), P, prevalence=target)


@metric
def test_per_row_values_average_to_the_metric(metric):
    if not metric.per_sample:
        pytest.skip("not a mean over rows")
    rows = value(metric, Y, P, sample_weight=W, per_sample=True)
    assert rows.shape == (N,)
    assert np.average(rows, weights=W) == pytest.approx(value(metric, Y, P, sample_weight=W), rel=1e-13)
    with pytest.raises(ValueError, match="ScoreTable"):
        value(metric, ScoreTable.from_predictions(Y, P), per_sample=True)


@metric
def test_better_scores_move_it_in_its_direction(metric):
    perfect, worst = Y.astype(float) * 0.98 + 0.01, 0.99 - Y * 0.98
    gain = value(metric, Y, perfect) - value(metric, Y, worst)
    assert gain > 0 if metric.greater_is_better else gain < 0


@metric
def test_honest_probabilities_are_the_best_report(metric):
    if metric.propriety == "none":
        pytest.skip("not claimed to be proper")
    # a population of two kinds of rows with rates 0.1 and 0.15, and every pair of reports on a grid
    rates, grid = np.array([0.1, 0.15]), np.linspace(0.02, 0.3, 29)
    labels = np.array([0, 1, 0, 1])
    weight = np.array([1 - rates[0], rates[0], 1 - rates[1], rates[1]])

    def expected(report):
        return value(metric, labels, np.repeat(report, 2), sample_weight=weight)

    honest = expected(rates)
    reports = [expected(np.array([a, b])) for a in grid for b in grid]
    best = max(reports) if metric.greater_is_better else min(reports)
    assert honest == pytest.approx(best, rel=1e-12)


@metric
def test_unknown_keywords_are_refused(metric):
    with pytest.raises(TypeError, match="thresholds"):
        value(metric, Y, P, thresholds=[0.1])


@metric
def test_costs_of_the_registry_are_those_of_the_metric(metric):
    if metric.costs is None:
        pytest.skip("not regret over one cost distribution")
    distribution = metric.costs(**metric.parameters)
    integral = METRICS["expected_regret"].function(Y, P, costs=distribution, scale="integral")
    if metric.name == "net_benefit_score":
        expected = Y.mean() - integral / (1 - distribution.low)
    elif metric.name == "average_net_benefit_score":
        expected = Y.mean() - integral / (distribution.high - distribution.low)
    elif metric.name.endswith("_skill_score"):
        constant = np.full(N, Y.mean())
        expected = 1 - integral / METRICS["expected_regret"].function(Y, constant, costs=distribution, scale="integral")
    else:
        factor = 1 / distribution.mass if metric.name == "expected_regret" else distribution.loss_factor
        expected = factor * integral
    assert value(metric, Y, P) == pytest.approx(expected, rel=1e-12)


def test_no_metric_warns_on_good_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for entry in BINARY.values():
            value(entry, Y, P)


LOSSES = [name for name in BINARY if "unit_cost" in signature(BINARY[name].function).parameters]


@pytest.mark.parametrize("name", LOSSES)
def test_real_units_scale_regret_and_need_that_scale(name):
    metric = BINARY[name]
    plain = value(metric, Y, P, scale="regret")
    assert value(metric, Y, P, scale="regret", unit_cost=300, per=1000) == pytest.approx(300_000 * plain)
    with pytest.raises(ValueError, match='need scale="regret"'):
        value(metric, Y, P, scale="loss", unit_cost=300)
    with pytest.raises(ValueError, match="per must be a finite number > 0, got -1"):
        value(metric, Y, P, scale="regret", per=-1)


def test_real_units_are_the_cost_of_the_decisions():
    # thresholds at 0.2 cost 20 for a false alarm and 80 for a miss: 100 together
    total = 20 * np.sum((P >= 0.2) & (Y == 0)) + 80 * np.sum((P < 0.2) & (Y == 1))
    ours = METRICS["expected_regret"].function(Y, P, costs=costs.Fixed(0.2), unit_cost=100, per=N)
    assert ours == pytest.approx(total)


def test_a_newly_registered_metric_is_put_to_these_tests():
    def dummy_loss(y_true, y_prob=None, *, sample_weight=None, pos_label=None):  # noqa: ARG001
        return float(np.mean(y_prob))

    entry = Metric(dummy_loss, "a dummy", greater_is_better=False, low=0.0, high=1.0, propriety="none")
    register(entry)
    try:
        assert binary_metrics()["dummy_loss"] is entry
        test_value_is_a_plain_float_within_its_range(entry)
        with pytest.raises(AssertionError):  # it ignores weights, and the common test says so
            test_integer_weight_equals_repeated_rows(entry)
    finally:
        del METRICS["dummy_loss"]
