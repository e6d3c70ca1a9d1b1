"""Monitors of scores as a model gives them in training: class weights and sampling undone, logits transformed."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from stakes import RowCosts
from stakes.metrics import METRICS, bounded_brier_loss, penalized_log_loss, roc_auc_score
from stakes.training import Checkpoint, MetricMonitor, lightgbm_metric, xgboost_metric

RNG = np.random.default_rng(4)
N = 400
LOG_ODDS = RNG.normal(-3.0, 1.5, N)
P = 1.0 / (1.0 + np.exp(-LOG_ODDS))
Y = (RNG.random(N) < P).astype(int)
W = RNG.integers(1, 4, N).astype(float)
BOUNDS = (0.02, 0.2)
RATIO = 58.0
BENT = RATIO * P / (RATIO * P + 1.0 - P)  # what a model learns whose positives count 58 times
LOSS = bounded_brier_loss(Y, P, bounds=BOUNDS, sample_weight=W)
LOGITS = RNG.normal(size=(N, 3))
ROWS = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
CLASS = RNG.integers(0, 3, N)


def value(scores, y=Y, metric="bounded_brier_loss", **options):
    bounds = {"bounds": BOUNDS} if metric == "bounded_brier_loss" else {}
    return MetricMonitor(metric, **bounds, **options).evaluate(y, scores, W)


@pytest.mark.parametrize(
    "correct",
    [
        {"scale_pos_weight": RATIO},
        {"positive_share": RATIO / (1.0 + RATIO)},
        {"class_weight": {0: 1.0, 1: RATIO}},
        {"class_weight": {1: 2 * RATIO}, "keep": {1: 0.5}},
        {"keep": {0: 1.0 / RATIO, 1: 1.0}},
        {"pos_weight": RATIO, "keep": None},
    ],
)
def test_weights_and_sampling_are_undone_before_the_metric(correct):
    assert value(BENT, correct=correct) == pytest.approx(LOSS, abs=1e-14)
    assert value(np.column_stack([1.0 - BENT, BENT]), correct=correct) == pytest.approx(LOSS, abs=1e-14)
    assert value(LOG_ODDS + np.log(RATIO), correct=correct, logits=True) == pytest.approx(LOSS, abs=1e-14)
    assert value(BENT) > 1.5 * LOSS


def test_balanced_weights_are_those_of_the_training_labels():
    trained = np.repeat([0, 1], [580, 10])
    assert value(BENT, correct={"class_weight": "balanced", "y_train": trained}) == pytest.approx(LOSS, abs=1e-14)


def test_scores_of_named_classes_are_undone_for_the_positive_one():
    named = np.where(Y == 1, "fraud", "ok")
    columns = np.column_stack([BENT, 1.0 - BENT])  # in the order of the labels, as predict_proba has them
    for weight in ({"fraud": RATIO, "ok": 1.0}, {"fraud": 1.0, "ok": 1.0 / RATIO}, {"ok": 1.0 / RATIO, "fraud": 1.0}):
        given = {"correct": {"class_weight": weight}, "pos_label": "fraud"}
        assert value(BENT, named, **given) == pytest.approx(LOSS, abs=1e-14)
        assert value(columns, named, **given) == pytest.approx(LOSS, abs=1e-14)


TRAINED = np.repeat([0, 1], [10, 580])


@pytest.mark.parametrize(
    "correct",
    [
        {"class_weight": {0: RATIO, 1: 1.0}},
        {"class_weight": {0: RATIO, 1: 1.0}, "labels": [0, 1]},
        {"class_weight": [RATIO, 1.0]},
        {"class_weight": [RATIO, 1.0], "labels": [0, 1]},
        {"class_weight": [1.0, RATIO], "labels": [1, 0]},
        {"keep": [1.0, 1.0 / RATIO]},
        {"repeat": [RATIO, 1.0], "labels": [0, 1]},
        {"class_weight": [2.0 * RATIO, 1.0], "keep": [0.5, 1.0]},
        {"class_weight": "balanced", "y_train": TRAINED},
    ],
)
def test_sequences_keep_the_order_of_two_columns_of_which_the_first_is_positive(correct):
    columns = np.column_stack([BENT, 1.0 - BENT])
    assert value(columns, 1 - Y, correct=correct, pos_label=0) == pytest.approx(LOSS, abs=1e-14)
    logits = np.column_stack([LOG_ODDS + np.log(RATIO), 0 * P])
    assert value(logits, 1 - Y, correct=correct, pos_label=0, logits=True) == pytest.approx(LOSS, abs=1e-14)
    if "labels" in correct:
        assert value(BENT, 1 - Y, correct=correct, pos_label=0) == pytest.approx(LOSS, abs=1e-14)


def test_labels_beside_amounts_by_row_are_those_of_the_weights():
    outcome = RowCosts(np.where(Y == 1, "bad", "ok"), false_positive=W, false_negative=5.0, pos_label="bad")
    columns, expected = np.column_stack([BENT, 1.0 - BENT]), MetricMonitor("money").evaluate(outcome, P)
    for labels, weight in ((["bad", "ok"], [RATIO, 1.0]), (["ok", "bad"], {"bad": RATIO})):
        monitor = MetricMonitor("money", correct={"class_weight": weight, "labels": labels})
        assert monitor.evaluate(outcome, columns) == pytest.approx(expected, rel=1e-12)
        assert monitor.evaluate(outcome, BENT) == pytest.approx(expected, rel=1e-12)


def test_sequences_whose_order_is_not_known_are_refused():
    for name in ("class_weight", "keep"):
        monitor = MetricMonitor("roc_auc_score", correct={name: [1.0, 0.5]}, pos_label="fraud")
        with pytest.raises(ValueError, match=f"{name} of correct must be a mapping of label to number beside one"):
            monitor.evaluate(["fraud", "ok"], [0.2, 0.4])
        with pytest.raises(ValueError, match="cannot be distinguished where all labels are alike"):
            monitor.update(["fraud", "fraud"], [0.2, 0.4])
    with pytest.raises(ValueError, match=r"labels of correct must hold pos_label=2, got \[0, 1\]"):
        MetricMonitor("roc_auc_score", correct={"class_weight": [1, 9], "labels": [0, 1]}, pos_label=2)


@pytest.mark.parametrize("shape", ["vector", "column", "two columns"])
def test_logits_are_evaluated_as_their_probabilities(shape):
    scores = {"vector": LOG_ODDS, "column": LOG_ODDS[:, None], "two columns": np.column_stack([0 * P, LOG_ODDS])}
    assert value(scores[shape], logits=True) == pytest.approx(LOSS, abs=1e-14)
    loss = penalized_log_loss(Y, np.column_stack([1.0 - P, P]), sample_weight=W)
    assert value(scores[shape], metric="penalized_log_loss", logits=True) == pytest.approx(loss, abs=1e-12)


def test_logits_of_two_columns_follow_the_labels():
    named = np.where(Y == 1, "fraud", "ok")
    columns = np.column_stack([LOG_ODDS, 0 * P])
    assert value(columns, named, logits=True, pos_label="fraud") == pytest.approx(LOSS, abs=1e-14)


@pytest.mark.parametrize(("name", "params"), [("money", {}), ("expected_regret", {"costs": (0.3, 0.6)})])
@pytest.mark.parametrize("options", [{"logits": True}, {"correct": {"scale_pos_weight": RATIO}}])
def test_two_columns_beside_amounts_by_row_follow_the_labels(name, params, options):
    outcome = RowCosts(np.where(Y == 1, "bad", "ok"), false_positive=W, false_negative=5.0, pos_label="bad")
    scores = np.column_stack([LOG_ODDS, 0 * P]) if "logits" in options else np.column_stack([BENT, 1.0 - BENT])
    expected = MetricMonitor(name, **params).evaluate(outcome, P)
    monitor = MetricMonitor(name, **params, **options)
    assert monitor.evaluate(outcome, scores) == pytest.approx(expected, rel=1e-12)
    assert monitor.update(outcome, scores).compute() == pytest.approx(expected, rel=1e-12)


def test_columns_beside_amounts_of_one_class_are_refused():
    outcome = RowCosts(["bad", "bad"], false_positive=1.0, false_negative=5.0, pos_label="bad")
    for options in ({}, {"logits": True}):
        with pytest.raises(ValueError, match="cannot be distinguished where all labels are alike"):
            MetricMonitor("money", **options).update(outcome, [[0.25, 0.75], [0.5, 0.5]])


def test_logits_of_several_classes_are_evaluated_as_their_probabilities():
    loss = penalized_log_loss(CLASS, ROWS, sample_weight=W)
    assert value(LOGITS, CLASS, "penalized_log_loss", logits=True) == pytest.approx(loss, abs=1e-13)
    weight = np.array([1.0, 5.0, 0.2])
    bent = ROWS * weight / (ROWS * weight).sum(axis=1, keepdims=True)
    for scores, logits in ((bent, False), (LOGITS + np.log(weight), True)):
        for given in (weight, dict(enumerate(weight))):
            options = {"correct": {"class_weight": given}, "logits": logits}
            assert value(scores, CLASS, "penalized_log_loss", **options) == pytest.approx(loss, abs=1e-13)
    named = np.array(["a", "b", "c"])[CLASS]
    options = {"correct": {"class_weight": {"b": 5.0, "c": 0.2}}, "labels": ["a", "b", "c"]}
    assert value(bent, named, "penalized_log_loss", **options) == pytest.approx(loss, abs=1e-13)


def test_log_odds_that_would_round_to_one_still_rank():
    scores = np.array([40.0, 41.0, 42.0, 43.0])  # probabilities 1 in double precision
    monitor = MetricMonitor("roc_auc_score", logits=True, correct={"scale_pos_weight": 9})
    assert monitor.evaluate([0, 0, 1, 1], scores) == 1.0
    assert value(LOG_ODDS, metric="roc_auc_score", logits=True) == roc_auc_score(Y, LOG_ODDS, sample_weight=W)


@pytest.mark.parametrize("weight", [None, {"scale_pos_weight": 9}])
def test_logits_of_two_columns_that_would_round_to_one_still_rank(weight):
    scores = np.array([40.0, 41.0, 42.0, 43.0])  # probabilities 1 in double precision
    monitor = MetricMonitor("roc_auc_score", logits=True, correct=weight)
    assert monitor.evaluate([0, 0, 1, 1], np.column_stack([0.0 * scores, scores])) == 1.0
    assert monitor.evaluate([1, 1, 0, 0], np.column_stack([scores, 0.0 * scores])) == 1.0


def test_every_metric_of_two_classes_takes_logits_and_a_correction():
    binary = {name: metric for name, metric in METRICS.items() if metric.task == "binary"}
    assert len(binary) > 10
    for name, metric in binary.items():
        plain = MetricMonitor(name, **metric.parameters).evaluate(Y, P)
        raw = {"correct": {"scale_pos_weight": RATIO}, "logits": True}
        bent = MetricMonitor(name, **raw, **metric.parameters).evaluate(Y, LOG_ODDS + np.log(RATIO))
        assert bent == pytest.approx(plain, abs=1e-10), name


def test_batches_are_merged_after_the_correction():
    options = {"bounds": BOUNDS, "correct": {"scale_pos_weight": RATIO}}
    first, second = (MetricMonitor("bounded_brier_loss", **options) for _ in range(2))
    first.update(Y[:150], BENT[:150], W[:150])
    second = pickle.loads(pickle.dumps(second)).update(Y[150:], BENT[150:], W[150:])  # noqa: S301
    assert first.merge(second).compute() == pytest.approx(LOSS, abs=1e-14)


@pytest.mark.parametrize("other", [{}, {"correct": {"scale_pos_weight": 9}}, {"logits": True}])
def test_monitors_of_other_corrections_are_not_merged(other):
    monitor = MetricMonitor("bounded_brier_loss", correct={"scale_pos_weight": RATIO})
    with pytest.raises(ValueError, match="monitors must be alike to be merged"):
        monitor.merge(MetricMonitor("bounded_brier_loss", **other))


def test_a_checkpoint_is_of_its_correction(tmp_path):
    monitor = MetricMonitor("bounded_brier_loss", correct={"scale_pos_weight": 9})
    Checkpoint(tmp_path, monitor).step(0.1, lambda path: Path(path).write_text("", encoding="utf-8"), suffix=".txt")
    with pytest.raises(ValueError, match="scale_pos_weight"):
        Checkpoint(tmp_path, "bounded_brier_loss")


@pytest.mark.parametrize("make", [xgboost_metric, lightgbm_metric, MetricMonitor])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correct": {"weight": 58}}, "correct must hold some of positive_share, class_weight, scale_pos_weight"),
        ({"correct": {}}, "correct must hold one of positive_share, class_weight, scale_pos_weight, pos_weight, keep"),
        ({"correct": {"y_train": [0, 1]}}, "correct must hold one of positive_share, class_weight"),
        ({"correct": 58}, "correct must be a mapping of what undo_class_weight and undo_sampling take"),
        ({"correct": "balanced"}, "correct must be a mapping of what undo_class_weight and undo_sampling take"),
        ({"correct": {"scale_pos_weight": 0}}, "scale_pos_weight must be > 0 and finite"),
        ({"correct": {"scale_pos_weight": 2, "positive_share": 0.5}}, "exactly one of positive_share, class_weight"),
        ({"correct": {"keep": {0: 0.1, 1: -1}}}, "keep must be > 0 and finite"),
        ({"correct": {"keep": {0: 0.1, 7: 1}}}, "keep names the classes 0, 7, and y_prob is of one class"),
        ({"logits": "yes"}, "logits must be True or False"),
    ],
)
def test_corrections_that_are_not_understood_are_refused_at_once(make, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make("bounded_brier_loss", **options)


@pytest.mark.parametrize("make", [xgboost_metric, MetricMonitor])
def test_auto_is_refused_where_no_booster_can_be_asked(make):
    with pytest.raises(ValueError, match=r'correct="auto" needs a booster .* only lightgbm_metric can ask: state it'):
        make("bounded_brier_loss", correct="auto")


@pytest.mark.parametrize("make", [xgboost_metric, lightgbm_metric])
@pytest.mark.parametrize("options", [{"correct": {"scale_pos_weight": 2}}, {"logits": True}])
def test_a_monitor_brings_its_own_correction(make, options):
    monitor = MetricMonitor("bounded_brier_loss", correct={"scale_pos_weight": RATIO}, bounds=BOUNDS)
    found = make(monitor)(Y, BENT)
    assert (found if make is xgboost_metric else found[1]) == pytest.approx(
        bounded_brier_loss(Y, P, bounds=BOUNDS), abs=1e-14
    )
    with pytest.raises(TypeError, match=f"carries its own settings, got {next(iter(options))}= beside it"):
        make(monitor, **options)


def test_auto_beside_a_monitor_is_refused():
    with pytest.raises(TypeError, match="carries its own settings, got correct= beside it"):
        lightgbm_metric(MetricMonitor("bounded_brier_loss"), correct="auto")


@pytest.mark.parametrize("key", ["Fraud", "OK", 1])
def test_a_name_that_no_class_of_the_rows_has_is_refused_by_the_batch_that_shows_it(key):
    names = np.where(Y, "fraud", "ok")
    monitor = MetricMonitor("bounded_brier_loss", bounds=BOUNDS, correct={"repeat": {key: RATIO}}, pos_label="fraud")
    refused = pytest.raises(ValueError, match=f"repeat names the class {key!r}, which is not among the labels")
    with refused:
        monitor.evaluate(names, BENT)
    with refused:
        monitor.update(["fraud"], [0.9]).update(["ok"], [0.1])
    money = MetricMonitor(
        "money", correct={"repeat": {key: RATIO}}, pos_label="fraud", false_positive=1, false_negative=9
    )
    with refused:
        money.update(names, BENT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"class_weight": {0: 1, 1: 9}}, {"class_weight": {1: 9, 0: 1}}),
        ({"class_weight": {"good": 1, "bad": 9}}, {"class_weight": {"bad": 9, "good": 1}}),
        ({"class_weight": {0: 1, 1: 9}}, {"class_weight": {np.int64(0): np.int64(1), 1: np.float64(9).astype(int)}}),
        ({"keep": {0: 0.5}, "scale_pos_weight": 3}, {"scale_pos_weight": 3, "keep": {0: 0.5}}),
    ],
)
def test_what_is_undone_may_be_stated_in_any_order(one, other, tmp_path):
    pos_label = "bad" if "good" in one.get("class_weight", ()) else 1
    first, second = (
        MetricMonitor("bounded_brier_loss", bounds=BOUNDS, correct=correct, pos_label=pos_label)
        for correct in (one, other)
    )
    assert first.settings() == second.settings()
    assert first.merge(second).n_rows == 0
    Checkpoint(tmp_path, first).step(0.5, lambda path: path.write_text("a model"), suffix=".txt")
    assert Checkpoint(tmp_path, second).epoch == 1
