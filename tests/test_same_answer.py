"""The same rows give the same answer: in another order, under other names of clusters, and laid out otherwise."""

import datetime as dt
import itertools
import json
import math

import numpy as np
import pytest

from stakes import TimeToEvent, compare, costs, evaluate, expected_regret, value_of_information
from stakes.actions import decision_calibration_test, evaluate_actions, evaluate_deferral
from stakes.boundary import fit_boundary
from stakes.correction import estimate_prior, loss_calibration_test
from stakes.inference import (
    best_models,
    bootstrap,
    calibration_summary,
    confidence_band,
    consistency_band,
    decomposition_interval,
    difference_band,
    metric_difference,
    metric_interval,
    select_best,
)
from stakes.metrics import bounded_brier_loss
from stakes.utility import population_threshold

RNG = np.random.default_rng(5)
N = 240
P = RNG.beta(1, 3, N)
Y = (RNG.random(N) < P).astype(int)
Q = np.clip(P + RNG.normal(0.0, 0.1, N), 0.01, 0.99).round(1)  # with many ties
W = RNG.random(N) + 0.5
FEW = np.where(RNG.random(N) < 0.5, 1.0, 2.0)
TIME = RNG.exponential(3.0, N) + 0.1
OWNER = RNG.integers(0, 40, N)
MODELS = {"a": P, "b": Q}
THREE = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5], [0.1, 0.6, 0.3], [0.05, 0.05, 0.9]])
FORECAST = THREE[RNG.integers(0, 5, N)]
KIND = np.array([RNG.choice(3, p=row) for row in FORECAST])
MATRIX = [[0, 5, 9], [4, 0, 3], [30, 6, 0]]


def of_models(rows):
    return {name: scores[rows] for name, scores in MODELS.items()}


IN_ANY_ORDER = {
    "decomposition": lambda r: decomposition_interval(Y[r], P[r], costs=(0.1, 0.5)),
    "decomposition of ties": lambda r: decomposition_interval(Y[r], Q[r], costs=(0.1, 0.5)),
    "decomposition of weights": lambda r: decomposition_interval(Y[r], Q[r], costs=(0.1, 0.5), sample_weight=FEW[r]),
    "decomposition of times": lambda r: decomposition_interval(
        TimeToEvent(event=Y[r], time=TIME[r], horizon=2.0), P[r], costs=(0.1, 0.5)
    ),
    "cross-fitted metric": lambda r: metric_interval(Y[r], Q[r], "h_measure_score"),
    "information from rows": lambda r: value_of_information(Y[r], of_models(r), costs=(0.5, 0.9)),
    "information from weights": lambda r: value_of_information(
        Y[r], of_models(r), costs=(0.5, 0.9), sample_weight=W[r]
    ),
    "information at a threshold": lambda r: value_of_information(Y[r], of_models(r), threshold=0.2),
    "decisions of few rows": lambda r: decision_calibration_test(KIND[r][r < 20], FORECAST[r][r < 20], matrices=MATRIX),
    "decisions of weights": lambda r: decision_calibration_test(
        KIND[r], FORECAST[r], matrices=MATRIX, sample_weight=FEW[r] ** 6
    ),
    "bootstrap": lambda r: bootstrap(Y[r], P[r], "bounded_brier_loss", n_resamples=50),
    "bootstrap of models": lambda r: bootstrap(Y[r], of_models(r), "bounded_brier_loss", n_resamples=50),
    "bootstrap of weights": lambda r: bootstrap(Y[r], Q[r], "roc_auc_score", n_resamples=50, sample_weight=W[r]),
    "bootstrap of classes": lambda r: bootstrap(Y[r], of_models(r), "roc_auc_score", n_resamples=50, prevalence=0.2),
    "bootstrap of clusters": lambda r: bootstrap(Y[r], P[r], "roc_auc_score", n_resamples=50, clusters=OWNER[r]),
    "prior": lambda r: estimate_prior(P[r], training_prior=0.3, n_resamples=20),
    "prior of weights": lambda r: estimate_prior(Q[r], training_prior=0.3, n_resamples=20, sample_weight=W[r]),
    "calibration": lambda r: calibration_summary(Y[r], P[r]),
    "best of few": lambda r: select_best(Y[r], of_models(r), costs=(0.1, 0.5)),
    "best": lambda r: best_models(Y[r], of_models(r)),
    "band": lambda r: confidence_band(Y[r], P[r], "regret", thresholds=[0.1, 0.3], n_resamples=1000),
    "band of a difference": lambda r: difference_band(
        Y[r], P[r], Q[r], "regret", thresholds=[0.1, 0.3], n_resamples=1000
    ),
    "band of calibration": lambda r: consistency_band(Y[r], Q[r], n_resamples=6000),
    "threshold": lambda r: population_threshold(Y[r], P[r], "f1", n_resamples=20),
    "boundary": lambda r: fit_boundary(Y[r], P[r], Q[r], min_precision=0.4),
    "deferral of recalibrated scores": lambda r: evaluate_deferral(
        Y[r], P[r], costs=(0.1, 0.5), deferral=0.05, rule="optimal"
    ),
    "deferral of clusters": lambda r: evaluate_deferral(
        Y[r], P[r], costs=(0.1, 0.5), deferral=0.05, rule="optimal", clusters=OWNER[r]
    ),
    "actions": lambda r: evaluate_actions(KIND[r], {"a": FORECAST[r]}, matrices=MATRIX),
    "evaluation": lambda r: evaluate(Y[r], of_models(r), costs=(0.1, 0.5)),
}


def numbers(result):
    """Every number of a result, by name."""
    found = {}
    for key, column in result.frame("pandas").to_dict("list").items():
        for place, value in enumerate(column):
            found[f"{key} {place}"] = value
    return found


@pytest.mark.parametrize("name", IN_ANY_ORDER)
def test_rows_in_another_order_give_the_same_draws(name):
    pytest.importorskip("pandas")
    plain, moved = (IN_ANY_ORDER[name](rows) for rows in (np.arange(N), np.random.default_rng(1).permutation(N)))
    if not hasattr(plain, "frame"):
        assert repr(plain) == repr(moved)
        return
    plain, moved = numbers(plain), numbers(moved)
    assert plain.keys() == moved.keys()
    for key, value in plain.items():
        if isinstance(value, float):
            assert math.isclose(value, moved[key], rel_tol=1e-9, abs_tol=1e-11) or value != value, (key, moved[key])  # noqa: PLR0124
        else:
            assert value == moved[key], key


def chance_of_as_far(action, label, forecast, matrix):
    """Probability, over all classes that the rows of one action could have, of a gap as far from zero as was seen."""
    taken = (forecast @ matrix).argmin(axis=1)
    costs_of, odds = matrix[:, taken[taken == action]].T, forecast[taken == action]
    expected = (odds * costs_of).sum()
    rows = np.arange(len(odds))
    seen = costs_of[rows, label[taken == action]].sum() - expected
    chance = 0.0
    for classes in itertools.product((0, 1), repeat=len(odds)):
        if abs(costs_of[rows, list(classes)].sum() - expected) >= abs(seen) - 1e-9:
            chance += odds[rows, list(classes)].prod()
    return chance


@pytest.mark.parametrize("seed", [7, 12, 16, 26, 39])
def test_draws_that_are_exactly_as_far_as_what_was_seen_are_counted(seed):
    rng, matrix = np.random.default_rng(seed), np.array([[0.0, 5.0], [4.0, 0.0]])
    q = np.array([0.3, 0.4, 0.7, 0.2, 0.1])[rng.integers(0, 5, 9)]
    label = (rng.random(9) < q).astype(int)
    forecast = np.column_stack([1.0 - q, q])
    found = decision_calibration_test(label, forecast, matrices=matrix).by_action
    for each in found:
        exact = chance_of_as_far(int(each["action"]), label, forecast, matrix)
        assert each["p_value"] == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("draw", ["gain", "report"])
def test_a_boundary_says_the_same_at_every_call(draw):
    boundary = fit_boundary(Y, P, Q, min_precision=0.4)
    assert str(getattr(boundary, draw)()) == str(getattr(boundary, draw)())
    assert str(getattr(boundary, draw)()) == str(getattr(boundary, draw)(random_state=0))


def test_costs_draw_the_same_at_every_call_unless_asked_for_others():
    for measure in (costs.Uniform(0.1, 0.3), costs.Beta(2, 8), costs.Empirical([0.1, 0.2])):
        np.testing.assert_array_equal(measure.sample(20), measure.sample(20, random_state=0))
        assert not np.array_equal(measure.sample(20, random_state=None), measure.sample(20, random_state=None))


BY_CLUSTER = {
    "evaluate": lambda c: evaluate(Y, MODELS, costs=(0.1, 0.5), clusters=c),
    "compare": lambda c: compare(Y, P, Q, costs=(0.1, 0.5), clusters=c),
    "select_best": lambda c: select_best(Y, MODELS, costs=(0.1, 0.5), clusters=c),
    "metric_interval": lambda c: metric_interval(Y, P, "bounded_brier_loss", clusters=c),
    "bootstrap": lambda c: bootstrap(Y, P, "bounded_brier_loss", n_resamples=50, clusters=c),
    "confidence_band": lambda c: confidence_band(Y, P, "regret", thresholds=[0.1], n_resamples=1000, clusters=c),
    "evaluate_deferral": lambda c: evaluate_deferral(Y, P, costs=0.2, deferral=0.05, clusters=c),
    "evaluate_actions": lambda c: evaluate_actions(KIND, {"a": FORECAST}, matrices=MATRIX, clusters=c),
    "censoring": lambda c: compare(TimeToEvent(event=Y, time=TIME, horizon=1.0, groups=c % 3), P, Q, costs=(0.1, 0.5)),
}


def bits(result):
    return repr({key: value.hex() if isinstance(value, float) else value for key, value in numbers(result).items()})


@pytest.mark.parametrize("name", BY_CLUSTER)
def test_clusters_as_python_objects_give_the_same_bits(name):
    pytest.importorskip("pandas")
    expected = bits(BY_CLUSTER[name](OWNER))
    for same in (OWNER.astype(object), OWNER.astype(float), OWNER.astype(float).astype(object)):
        assert bits(BY_CLUSTER[name](same)) == expected


def test_clusters_of_other_types_are_told_apart_as_they_are_written():
    pytest.importorskip("pandas")
    expected = bits(compare(Y, P, Q, costs=(0.1, 0.5), clusters=np.array([f"{c:02}" for c in OWNER])))
    texts = np.array([f"{c:02}" for c in OWNER], dtype=object)
    days = np.array([dt.date(2024, 1, 1) + dt.timedelta(days=int(c)) for c in OWNER], dtype=object)
    wide = np.array([2**60 + int(c) - (2**61 if c else 0) for c in OWNER], dtype=object)  # floats would merge them
    for same in (texts, days):
        assert bits(compare(Y, P, Q, costs=(0.1, 0.5), clusters=same)) == expected
    counts = [compare(Y, P, Q, costs=(0.1, 0.5), clusters=c).standard_error for c in (wide, wide.astype(np.int64))]
    assert counts[0] == pytest.approx(counts[1], rel=1e-12)


WEIGHED = {
    "bounded_brier_loss": lambda w: bounded_brier_loss(Y, P, sample_weight=w),
    "expected_regret": lambda w: expected_regret(Y, P, costs=(0.1, 0.5), sample_weight=w),
    "calibration_summary": lambda w: calibration_summary(Y, P, sample_weight=w),
    "decomposition_interval": lambda w: decomposition_interval(Y, P, costs=(0.1, 0.5), sample_weight=w),
    "confidence_band": lambda w: confidence_band(Y, P, "regret", thresholds=[0.1], n_resamples=1000, sample_weight=w),
    "compare": lambda w: compare(Y, P, Q, costs=(0.1, 0.5), sample_weight=w),
    "metric_interval": lambda w: metric_interval(Y, P, "h_measure_score", sample_weight=w),
    "estimate_prior": lambda w: estimate_prior(P, training_prior=0.3, n_resamples=20, sample_weight=w),
    "value_of_information": lambda w: value_of_information(Y, MODELS, costs=(0.5, 0.9), sample_weight=w),
    "evaluate_deferral": lambda w: evaluate_deferral(Y, P, costs=0.2, deferral=0.05, sample_weight=w),
    "evaluate": lambda w: evaluate(Y, MODELS, costs=(0.1, 0.5), sample_weight=w),
    "loss_calibration_test": lambda w: loss_calibration_test(Y, P, scale_pos_weight=2, n_resamples=5, sample_weight=w),
    "loss_calibration_test, classes": lambda w: loss_calibration_test(KIND, FORECAST, n_resamples=5, sample_weight=w),
    "times": lambda w: evaluate(
        TimeToEvent(event=Y, time=TIME, horizon=2.0, sample_weight=w), MODELS, costs=(0.1, 0.5)
    ),
    "forecasts": lambda w: evaluate_actions(KIND, {"a": FORECAST}, matrices=MATRIX, sample_weight=w),
}


@pytest.mark.parametrize("name", WEIGHED)
def test_weights_from_a_column_of_an_array_give_the_same_bits(name):
    pytest.importorskip("pandas")
    column, backwards = np.column_stack([W, W, W])[:, 1], W[::-1].copy()[::-1]
    assert not column.flags.c_contiguous
    shown = [WEIGHED[name](weight) for weight in (W, column, backwards)]
    found = [one.hex() if isinstance(one, float) else bits(one) for one in shown]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", [name for name in WEIGHED if name != "value_of_information"])  # which draws
def test_the_unit_of_weights_changes_nothing(name):
    pytest.importorskip("pandas")
    plain, *others = (WEIGHED[name](unit * W) for unit in (1.0, 1e-12, 1e9))
    if isinstance(plain, float):
        assert others == pytest.approx([plain] * 2, rel=1e-9)
        return
    plain, *others = map(numbers, (plain, *others))
    for found in others:
        for key, value in plain.items():
            same = pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True) if isinstance(value, float) else value
            assert found[key] == same, key


def leaves(found, path=""):
    """Every number and word of an answer by where it stands."""
    if isinstance(found, dict | list):
        items = found.items() if isinstance(found, dict) else enumerate(found)
        return {place: leaf for key, part in items for place, leaf in leaves(part, f"{path}.{key}").items()}
    return {path: found}


def all_told(y, models, costs, weight):
    found = evaluate(y, models, costs=costs, sample_weight=weight, groups={"half": np.arange(len(y)) % 2})
    score = models["a"]
    skills = metric_interval(y, score, "regret_skill_score", costs=costs, sample_weight=weight)
    apart = metric_difference(y, score, models["b"], "regret_skill_score", costs=costs, sample_weight=weight)
    pairs = {"clusters": np.arange(len(y)) // 2, "sample_weight": weight}
    clustered = metric_interval(y, score, "regret_skill_score", costs=costs, **pairs)
    told = {
        "skill": skills.interval,
        "apart": apart.interval,
        "clustered": clustered.interval,
        "json": json.loads(found.to_json()),
    }
    return leaves(json.loads(json.dumps(told)))


@pytest.mark.parametrize("unit", [3.0, 0.1, 0.7, 1e-3])
@pytest.mark.parametrize(("negatives", "positives", "costs"), [(70, 30, 0.3), (90, 10, 0.1), (63, 27, 0.3)])
def test_the_unit_of_weights_decides_no_tie(negatives, positives, costs, unit):
    """Acting on everybody and on nobody cost the same, and so do models with as many mistakes."""
    rng, rows = np.random.default_rng(negatives), negatives + positives
    y = rng.permutation(np.repeat([0, 1], [negatives, positives]))
    models = {name: np.clip(0.5 * y + 0.5 * rng.random(rows), 0.0, 1.0) for name in "ab"}
    models["rate"] = np.full(rows, positives / rows)
    plain, other = (all_told(y, models, costs, np.full(rows, each)) for each in (1.0, unit))
    assert other.keys() == plain.keys()
    for place, value in plain.items():
        same = pytest.approx(value, rel=1e-7, abs=1e-12, nan_ok=True) if isinstance(value, float) else value
        assert other[place] == same, place
