"""XGBoost and LightGBM: our metrics in both their interfaces, and their own early stopping and checkpoints on them."""

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from killed_runs import killed_and_whole
from sklearn.base import clone

from stakes import RowCosts, bounded_brier_loss
from stakes.inference import money
from stakes.metrics import METRICS, penalized_log_loss, roc_auc_score
from stakes.training import MetricMonitor, lightgbm_metric, xgboost_metric

RNG = np.random.default_rng(8)
X = RNG.normal(size=(500, 5))
Y = (X @ RNG.normal(size=(5, 3)) + 2.0 * RNG.normal(size=(500, 3))).argmax(axis=1)
BINARY = (Y == 1).astype(int)
W = RNG.integers(1, 4, 500).astype(float)
TRAIN, VALID = slice(0, 300), slice(300, 500)
ROUNDS = 40
BOUNDS = (0.2, 0.4)


@pytest.fixture(name="xgboost")
def xgboost_library():
    return pytest.importorskip("xgboost", reason="needs XGBoost: pip install 'stakes[xgboost]'")


@pytest.fixture(name="lightgbm")
def lightgbm_library():
    return pytest.importorskip("lightgbm", reason="needs LightGBM: pip install 'stakes[lightgbm]'")


def xgboost_data(xgboost, y=Y):
    return (xgboost.DMatrix(X[part], y[part], weight=W[part]) for part in (TRAIN, VALID))


XGBOOST = {"eta": 0.5, "nthread": 1, "disable_default_eval_metric": 1}
CLASSES, TWO = {"objective": "multi:softprob", "num_class": 3}, {"objective": "binary:logistic"}
LIGHTGBM = {"learning_rate": 0.4, "num_threads": 1, "verbose": -1, "metric": "None", "deterministic": True}
LIGHTGBM |= {"min_data_in_leaf": 5}
# per metric: its settings, the labels, the values of rounds; the best round by numpy on the library's own predictions
CASES = {
    "penalized_log_loss": ({}, Y, lambda p: penalized_log_loss(Y[VALID], p, sample_weight=W[VALID])),
    "bounded_brier_loss": (
        {"bounds": BOUNDS},
        BINARY,
        lambda p: bounded_brier_loss(BINARY[VALID], p, bounds=BOUNDS, sample_weight=W[VALID]),
    ),
    "roc_auc_score": ({}, BINARY, lambda p: -roc_auc_score(BINARY[VALID], p, sample_weight=W[VALID])),
}


@pytest.mark.parametrize("name", CASES)
def test_xgboost_stops_by_our_metric_and_keeps_the_best_rounds(xgboost, name):
    params, y, by_hand = CASES[name]
    train, valid = xgboost_data(xgboost, y)
    metric, log = xgboost_metric(name, **params), {}
    stopping = xgboost.callback.EarlyStopping(rounds=4, metric_name=metric.__name__, data_name="valid", save_best=True)
    options = {"evals": [(train, "train"), (valid, "valid")], "custom_metric": metric, "verbose_eval": False}
    settings = XGBOOST | (CLASSES if y is Y else TWO)
    model = xgboost.train(settings, train, ROUNDS, callbacks=[stopping], evals_result=log, **options)
    values = log["valid"][metric.__name__]
    assert int(np.argmin(values)) == model.best_iteration == len(values) - 5
    assert 0 < model.best_iteration < ROUNDS - 5
    assert model.num_boosted_rounds() == model.best_iteration + 1
    assert by_hand(model.predict(valid)) == pytest.approx(min(values), abs=1e-5)  # the log holds single precision


@pytest.mark.parametrize("make", [lightgbm_metric, xgboost_metric])
@pytest.mark.parametrize("options", [{}, {"logits": True}, {"correct": {"class_weight": {0: 1, 1: 3}}}])
@pytest.mark.parametrize("name", ["expected_regret", "roc_auc_score", "money"])
def test_the_one_column_is_that_of_label_1_whatever_the_positive_label(make, name, options):
    y, p = BINARY, np.random.default_rng(0).uniform(0.01, 0.99, 500).astype(np.float32)
    undone = p / (p + 3.0 * (1.0 - p)) if "correct" in options else p
    q = 1.0 - np.asarray(undone, dtype=float)  # of the label 0
    wrong = np.where(q >= 0.3, 0.3 * (y == 1), 0.7 * (y == 0))
    values = {"expected_regret": np.mean(wrong), "money": 1000 * np.mean(wrong)}
    values["roc_auc_score"] = np.mean(q[y == 0][:, None] > q[y == 1])
    settings = {"expected_regret": {"costs": 0.3}, "money": {"false_positive": 0.3, "false_negative": 0.7}}
    metric = make(name, pos_label=0, **settings.get(name, {}), **options)
    found = metric(y, np.log(p / (1.0 - p)) if "logits" in options else p)
    found = found[1] if make is lightgbm_metric else abs(found)
    assert found == pytest.approx(values[name], rel=1e-5)


@pytest.mark.parametrize("correct", [{"scale_pos_weight": 3.0}, {"positive_share": 0.7}, "auto"])
def test_what_was_done_to_label_1_is_not_undone_for_label_0(correct):
    with pytest.raises(ValueError, match=r"is that of the label 1 in training, got pos_label=0 .*class_weight=\{0: 1"):
        lightgbm_metric("expected_regret", costs=0.3, pos_label=0, correct=correct)
    if correct != "auto":
        with pytest.raises(ValueError, match="is that of the label 1 in training, got pos_label=0"):
            xgboost_metric("expected_regret", costs=0.3, pos_label=0, correct=correct)
        lightgbm_metric("expected_regret", costs=0.3, pos_label=1, correct=correct)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")  # older versions know no other
def test_lightgbm_classifier_of_texts_stops_by_the_label_it_codes_as_0(lightgbm):
    texts = np.where(BINARY == 1, "bad", "good")  # coded as 0 and 1
    metric = lightgbm_metric("bounded_brier_loss", bounds=BOUNDS, pos_label=0)
    model = lightgbm.LGBMClassifier(n_estimators=ROUNDS, **LIGHTGBM)
    model.fit(X[TRAIN], texts[TRAIN], eval_set=[(X[VALID], texts[VALID])], eval_metric=metric)
    for rounds in (1, ROUNDS):
        bad = model.predict_proba(X[VALID], num_iteration=rounds)[:, 0]
        value = bounded_brier_loss(BINARY[VALID], bad, bounds=BOUNDS)
        assert model.evals_result_["valid_0"][metric.__name__][rounds - 1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_xgboost_classifier_stops_by_our_metric(xgboost, name):
    params, y, by_hand = CASES[name]
    metric = xgboost_metric(name, **params)
    model = xgboost.XGBClassifier(
        n_estimators=ROUNDS, learning_rate=0.5, n_jobs=1, eval_metric=metric, early_stopping_rounds=4
    )
    model = clone(model).fit(
        X[TRAIN],
        y[TRAIN],
        sample_weight=W[TRAIN],
        eval_set=[(X[VALID], y[VALID])],
        sample_weight_eval_set=[W[VALID]],
        verbose=False,
    )
    values = model.evals_result()["validation_0"][metric.__name__]
    assert int(np.argmin(values)) == model.best_iteration == len(values) - 5
    best = model.predict_proba(X[VALID])
    assert by_hand(best if y is Y else best[:, 1]) == pytest.approx(min(values), abs=1e-5)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict_proba(X[VALID]), best)


def test_xgboost_improves_every_metric_in_the_right_direction(xgboost):
    # what XGBoost itself makes of the names: a value that falls must be an improvement for each
    for name, metric in METRICS.items():
        logged = xgboost_metric(name, **metric.parameters).__name__
        for values, stops in (([0.5, 0.4], False), ([0.5, 0.6], True)):
            stopping = xgboost.callback.EarlyStopping(rounds=1, metric_name=logged)
            model = xgboost.Booster()
            given = {"name": "valid", "metric": logged, "model": model, "epoch": 0}
            history = [stopping._update_rounds(score=value, **given) for value in values]
            assert history == [False, stops], name


@pytest.mark.parametrize("name", CASES)
def test_lightgbm_stops_by_our_metric_and_predicts_with_the_best_rounds(lightgbm, name):
    params, y, by_hand = CASES[name]
    train = lightgbm.Dataset(X[TRAIN], y[TRAIN], weight=W[TRAIN])
    valid = lightgbm.Dataset(X[VALID], y[VALID], weight=W[VALID], reference=train)
    log, settings = {}, {"objective": "multiclass", "num_class": 3} if y is Y else {"objective": "binary"}
    model = lightgbm.train(
        LIGHTGBM | settings,
        train,
        ROUNDS,
        valid_sets=[valid],
        valid_names=["valid"],
        feval=lightgbm_metric(name, **params),
        callbacks=[lightgbm.record_evaluation(log), lightgbm.early_stopping(4, verbose=False)],
    )
    sign = -1.0 if METRICS[name].greater_is_better else 1.0
    values = sign * np.array(log["valid"][name])
    assert int(np.argmin(values)) == model.best_iteration - 1 == len(values) - 5
    assert 1 < model.best_iteration < ROUNDS - 5
    assert by_hand(model.predict(X[VALID])) == pytest.approx(min(values), abs=1e-12)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")  # older versions know no other
@pytest.mark.parametrize("name", CASES)
def test_lightgbm_classifier_stops_by_our_metric(lightgbm, name):
    params, y, by_hand = CASES[name]
    model = lightgbm.LGBMClassifier(n_estimators=ROUNDS, **LIGHTGBM).fit(
        X[TRAIN],
        y[TRAIN],
        sample_weight=W[TRAIN],
        eval_set=[(X[VALID], y[VALID])],
        eval_sample_weight=[W[VALID]],
        eval_metric=lightgbm_metric(name, **params),
        callbacks=[lightgbm.early_stopping(4, verbose=False)],
    )
    sign = -1.0 if METRICS[name].greater_is_better else 1.0
    values = sign * np.array(model.evals_result_["valid_0"][name])
    assert int(np.argmin(values)) == model.best_iteration_ - 1 == len(values) - 5
    best = model.predict_proba(X[VALID])
    assert by_hand(best if y is Y else best[:, 1]) == pytest.approx(min(values), abs=1e-12)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict_proba(X[VALID]), best)


# rare events that a class weight makes common: scores of the model are far above the probabilities
RATIO = 58.0
RARE_BOUNDS = (0.01, 0.1)
RARE_X = np.random.default_rng(0).normal(size=(6000, 6))
RARE_ODDS = -5.6 + 1.2 * RARE_X[:, 0] + 0.8 * RARE_X[:, 1] * RARE_X[:, 2] + 0.6 * np.abs(RARE_X[:, 3])
RARE = (np.random.default_rng(1).random(6000) < 1.0 / (1.0 + np.exp(-RARE_ODDS))).astype(int)
FIT, STOP = slice(0, 3000), slice(3000, 6000)
SLOW = {"learning_rate": 0.03, "max_depth": 3, "n_estimators": 400, "scale_pos_weight": RATIO, "n_jobs": 1}
WEIGHT = {"scale_pos_weight": RATIO}


def undone_loss(prob):
    """Loss of the probabilities once the odds are divided by the weight."""
    odds = prob / (1.0 - prob) / RATIO
    return bounded_brier_loss(RARE[STOP], odds / (1.0 + odds), bounds=RARE_BOUNDS)


def lightgbm_stopped(lightgbm, correct, patience=20, **settings):
    ours = lightgbm_metric("bounded_brier_loss", bounds=RARE_BOUNDS, correct=correct)
    settings = SLOW | {"metric": "None", "verbose": -1, "deterministic": True} | settings
    return lightgbm.LGBMClassifier(**settings).fit(
        RARE_X[FIT],
        RARE[FIT],
        eval_set=[(RARE_X[STOP], RARE[STOP])],
        eval_metric=ours,
        callbacks=[*ours.callbacks, lightgbm.early_stopping(patience, verbose=False)],
    )


def xgboost_stopped(xgboost, correct):
    ours = xgboost_metric("bounded_brier_loss", bounds=RARE_BOUNDS, correct=correct)
    model = xgboost.XGBClassifier(eval_metric=ours, early_stopping_rounds=20, **SLOW)
    return clone(model).fit(RARE_X[FIT], RARE[FIT], eval_set=[(RARE_X[STOP], RARE[STOP])], verbose=False)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize("correct", [WEIGHT, {"class_weight": {0: 1, 1: RATIO}}, "auto"])
def test_lightgbm_with_a_class_weight_stops_by_the_corrected_scores(lightgbm, correct):
    plain, ours = lightgbm_stopped(lightgbm, None), lightgbm_stopped(lightgbm, correct)
    assert plain.best_iteration_ == 1
    assert 30 < ours.best_iteration_ < 380
    losses = [undone_loss(model.predict_proba(RARE_X[STOP])[:, 1]) for model in (plain, ours)]
    assert losses[1] < 0.95 * losses[0]
    values = ours.evals_result_["valid_0"]["bounded_brier_loss"]
    rounds = (1, 20, ours.best_iteration_)
    by_hand = [undone_loss(ours.predict_proba(RARE_X[STOP], num_iteration=k)[:, 1]) for k in rounds]
    assert [values[k - 1] for k in rounds] == pytest.approx(by_hand, abs=1e-12)
    assert int(np.argmin(values)) == ours.best_iteration_ - 1


def test_xgboost_with_a_class_weight_stops_by_the_corrected_scores(xgboost):
    plain, ours = xgboost_stopped(xgboost, None), xgboost_stopped(xgboost, WEIGHT)
    assert plain.best_iteration == 0
    assert 30 < ours.best_iteration < 380
    losses = [undone_loss(model.predict_proba(RARE_X[STOP])[:, 1].astype(float)) for model in (plain, ours)]
    assert losses[1] < 0.95 * losses[0]
    values = ours.evals_result()["validation_0"]["bounded_brier_loss"]
    assert int(np.argmin(values)) == ours.best_iteration
    assert losses[1] == pytest.approx(min(values), abs=1e-6)  # scores in single precision


def rare_data(lightgbm, **options):
    train = lightgbm.Dataset(RARE_X[FIT], RARE[FIT], **options)
    return train, lightgbm.Dataset(RARE_X[STOP], RARE[STOP], reference=train)


def trained(lightgbm, ours, data, callbacks=(), **settings):
    log, settings = {}, LIGHTGBM | {"objective": "binary"} | settings
    options = {"feval": ours, "callbacks": [*callbacks, lightgbm.record_evaluation(log)]}
    lightgbm.train(settings, data[0], 4, valid_sets=[data[1]], valid_names=["valid"], **options)
    return log["valid"]["bounded_brier_loss"]


def test_auto_reads_the_weight_of_the_booster_that_is_trained(lightgbm):
    # the data object keeps the settings of the first training, so that the booster itself must be asked
    data, auto = rare_data(lightgbm), lightgbm_metric("bounded_brier_loss", bounds=RARE_BOUNDS, correct="auto")
    for given in ({"scale_pos_weight": 9.0}, {"scale_pos_weight": RATIO}, {}):
        stated = {"scale_pos_weight": given.get("scale_pos_weight", 1.0)}
        ours = lightgbm_metric("bounded_brier_loss", bounds=RARE_BOUNDS, correct=stated)
        assert trained(lightgbm, auto, data, auto.callbacks, **given) == trained(lightgbm, ours, data, **given)
    with pytest.raises(ValueError, match=r'correct="auto" reads scale_pos_weight in a callback: pass callbacks='):
        trained(lightgbm, auto, data, scale_pos_weight=9.0)


def test_auto_reads_the_weight_in_cross_validation(lightgbm):
    settings = LIGHTGBM | {"objective": "binary", "scale_pos_weight": RATIO}
    found = []
    for correct in ("auto", WEIGHT):
        ours = lightgbm_metric("bounded_brier_loss", bounds=RARE_BOUNDS, correct=correct)
        train = lightgbm.Dataset(RARE_X, RARE)
        found.append(lightgbm.cv(settings, train, 3, nfold=2, feval=ours, callbacks=ours.callbacks, seed=1))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ({"is_unbalance": True}, {}, "what is_unbalance=True of LightGBM amounts to"),
        (
            {"neg_bagging_fraction": 0.1, "bagging_freq": 1},
            {},
            "what neg_bagging_fraction=0.1 of LightGBM amounts to",
        ),
        ({}, {"weight": np.where(RARE[FIT], 9.0, 1.0)}, "whether the weights of the training rows are those of"),
        ({"objective": "cross_entropy"}, {}, "what the class weights of the objective 'cross_entropy' amount to"),
    ],
)
def test_auto_is_refused_where_the_booster_does_not_say_all(lightgbm, settings, options, message):
    auto = lightgbm_metric("bounded_brier_loss", bounds=RARE_BOUNDS, correct="auto")
    with pytest.raises(ValueError, match=message + r'.*correct="auto" cannot know: state it'):
        trained(lightgbm, auto, rare_data(lightgbm, **options), auto.callbacks, **settings)


def weighted_objective(prob_of, weight):
    def gradients(scores, data):
        labels = data.get_label()
        factor, prob = np.where(labels == 1, weight, 1.0), prob_of(scores)
        return factor * (prob - labels), factor * prob * (1.0 - prob)

    return gradients


def sigmoid(scores):
    return 1.0 / (1.0 + np.exp(-scores))


def test_raw_scores_of_xgboost_are_log_odds(xgboost):
    train, valid = (xgboost.DMatrix(RARE_X[part], RARE[part]) for part in (FIT, STOP))
    ours = xgboost_metric("bounded_brier_loss", bounds=RARE_BOUNDS, correct=WEIGHT, logits=True)
    cases = [{"params": {"objective": "binary:logitraw"} | WEIGHT}]
    cases += [{"params": {}, "obj": weighted_objective(sigmoid, RATIO)}]
    for case in cases:
        log, settings = {}, XGBOOST | case.pop("params")
        evals = {"evals": [(valid, "valid")], "custom_metric": ours, "evals_result": log, "verbose_eval": False}
        model = xgboost.train(settings, train, 5, **evals, **case)
        prob = sigmoid(model.predict(valid, output_margin=True).astype(float))
        assert log["valid"]["bounded_brier_loss"][-1] == pytest.approx(undone_loss(prob), abs=1e-6)


def test_raw_scores_of_lightgbm_are_log_odds(lightgbm):
    ours = lightgbm_metric("bounded_brier_loss", bounds=RARE_BOUNDS, correct=WEIGHT, logits=True)
    train, valid = rare_data(lightgbm)
    log, settings = {}, LIGHTGBM | {"objective": weighted_objective(sigmoid, RATIO)}
    options = {"valid_sets": [valid], "valid_names": ["valid"], "feval": ours}
    model = lightgbm.train(settings, train, 5, callbacks=[lightgbm.record_evaluation(log)], **options)
    prob = sigmoid(model.predict(RARE_X[STOP], raw_score=True))
    assert log["valid"]["bounded_brier_loss"][-1] == pytest.approx(undone_loss(prob), abs=1e-12)


def test_raw_scores_of_several_classes(xgboost, lightgbm):
    def gradients(scores, data):
        prob = np.exp(scores - scores.max(axis=1, keepdims=True))
        prob /= prob.sum(axis=1, keepdims=True)
        return prob - np.eye(3)[data.get_label().astype(int)], 2.0 * prob * (1.0 - prob)

    def loss(raw):
        prob = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
        return penalized_log_loss(Y[VALID], prob)

    train, valid = (xgboost.DMatrix(X[part], Y[part]) for part in (TRAIN, VALID))
    log, ours = {}, xgboost_metric("penalized_log_loss", logits=True)
    evals = {"evals": [(valid, "valid")], "custom_metric": ours, "evals_result": log, "verbose_eval": False}
    model = xgboost.train(XGBOOST | {"num_class": 3}, train, 5, obj=gradients, **evals)
    by_hand = loss(model.predict(valid, output_margin=True).astype(float))
    assert log["valid"]["penalized_log_loss"][-1] == pytest.approx(by_hand, abs=1e-5)
    data = lightgbm.Dataset(X[TRAIN], Y[TRAIN])
    log, ours = {}, lightgbm_metric("penalized_log_loss", logits=True)
    valid = [lightgbm.Dataset(X[VALID], Y[VALID], reference=data)]
    options = {"valid_sets": valid, "valid_names": ["valid"], "feval": ours}
    settings = LIGHTGBM | {"objective": gradients, "num_class": 3}
    model = lightgbm.train(settings, data, 5, callbacks=[lightgbm.record_evaluation(log)], **options)
    by_hand = loss(model.predict(X[VALID], raw_score=True))
    assert log["valid"]["penalized_log_loss"][-1] == pytest.approx(by_hand, abs=1e-12)


def test_predictions_that_are_no_probabilities_are_refused(xgboost):
    train, valid = xgboost_data(xgboost, BINARY)
    options = {"evals": [(valid, "valid")], "custom_metric": xgboost_metric("bounded_brier_loss"), "verbose_eval": 0}
    with pytest.raises(ValueError, match=r"y_prob must lie in \[0, 1\]"):
        xgboost.train(XGBOOST | {"objective": "binary:logitraw"}, train, 2, **options)


@pytest.mark.parametrize("make", [xgboost_metric, lightgbm_metric])
def test_a_monitor_brings_its_own_settings(make):
    monitor = MetricMonitor("bounded_brier_loss", bounds=BOUNDS)
    assert make(monitor).monitor is monitor
    with pytest.raises(TypeError, match="carries its own settings, got bounds= beside it"):
        make(monitor, bounds=BOUNDS)
    with pytest.raises(TypeError, match="takes no parameter 'bound'"):
        make("bounded_brier_loss", bound=BOUNDS)


COMMON = """
import numpy as np

rng = np.random.default_rng(8)
x = rng.normal(size=(500, 5))
y = (x @ rng.normal(size=(5, 3)) + 2.0 * rng.normal(size=(500, 3))).argmax(axis=1)
"""
PROGRAMS = {
    "xgboost": """
import os
from pathlib import Path
import xgboost
from stakes.training import xgboost_metric

def run(folder, kill):
    class Kill(xgboost.callback.TrainingCallback):
        def before_iteration(self, model, epoch, evals_log):
            if kill and epoch == 8:
                die()

    os.makedirs(folder, exist_ok=True)
    saved = sorted(Path(folder).iterdir(), key=lambda path: int(path.stem.split("_")[1]))
    begin = xgboost.Booster(model_file=saved[-1]).num_boosted_rounds() if saved else 0
    train, valid = xgboost.DMatrix(x[:300], y[:300]), xgboost.DMatrix(x[300:], y[300:])
    settings = {"objective": "multi:softprob", "num_class": 3, "eta": 0.3, "nthread": 1}
    log = {}
    model = xgboost.train(
        settings, train, 20 - begin, evals=[(valid, "valid")], custom_metric=xgboost_metric(), evals_result=log,
        callbacks=[xgboost.callback.TrainingCheckPoint(folder, interval=1), Kill()], verbose_eval=False,
        xgb_model=saved[-1] if saved else None,
    )
    return {"begin": begin, "values": log["valid"]["penalized_brier_loss"], "rounds": model.num_boosted_rounds()}
""",
    # LightGBM saves nothing while it trains: a checkpoint for plain loops does
    "lightgbm": """
import lightgbm
from stakes.training import Checkpoint, lightgbm_metric

def run(folder, kill):
    checkpoint = Checkpoint(folder)
    begin = checkpoint.epoch

    def save(env):
        checkpoint.step(env.evaluation_result_list[0][2], env.model.save_model, suffix=".txt")
        if kill and checkpoint.epoch == 8:
            die()

    settings = {"objective": "multiclass", "num_class": 3, "learning_rate": 0.3, "num_threads": 1, "verbose": -1}
    settings |= {"metric": "None", "deterministic": True, "min_data_in_leaf": 5, "boost_from_average": False}
    train = lightgbm.Dataset(x[:300], y[:300])
    model = lightgbm.train(
        settings, train, 20 - begin, valid_sets=[lightgbm.Dataset(x[300:], y[300:], reference=train)],
        valid_names=["valid"], feval=lightgbm_metric(), init_model=checkpoint.last_path, callbacks=[save],
    )
    best = lightgbm.Booster(model_file=checkpoint.best_path)
    value = checkpoint.monitor.evaluate(y[300:], best.predict(x[300:]))
    assert abs(value - checkpoint.best_value) < 1e-9, (value, checkpoint.best_value)
    return {"begin": begin, "values": checkpoint.history[begin:], "rounds": model.num_trees() // 3}
""",
}


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL.")
@pytest.mark.parametrize("library", PROGRAMS)
def test_killed_run_goes_on_from_its_checkpoint(library, tmp_path):
    pytest.importorskip(library, reason=f"needs {library}: pip install 'stakes[{library}]'")
    resumed, whole = killed_and_whole(COMMON + PROGRAMS[library], tmp_path)
    assert (resumed["begin"] >= 7, whole["begin"]) == (True, 0)
    assert resumed["values"] == pytest.approx(whole["values"][resumed["begin"] :], abs=1e-5)
    assert resumed["rounds"] == whole["rounds"] == 20


CHECK, LOSS = RNG.uniform(5, 25, 500), RNG.lognormal(4, 0.8, 500)


def lost(p, part=VALID, check=CHECK, loss=LOSS, weight=W):
    """What decisions by probabilities cost per 1,000 rows."""
    total = 0.0
    for score, y, a, b, w in zip(p.astype(float), BINARY[part], check[part], loss[part], weight[part], strict=True):
        act = score * b >= (1.0 - score) * a
        total += w * (a if act and not y else b if y and not act else 0.0)
    return 1000.0 * total / weight[part].sum()


def costs_of(part):
    amounts = {"false_positive": CHECK[part], "false_negative": LOSS[part]}
    return RowCosts(BINARY[part], **amounts, sample_weight=W[part], unit="EUR")


def test_xgboost_stops_by_money_and_knows_the_amounts_of_every_set(xgboost):
    train, valid = xgboost_data(xgboost, BINARY)
    metric, log = xgboost_metric("money", outcome=[costs_of(TRAIN), costs_of(VALID)]), {}
    stopping = xgboost.callback.EarlyStopping(rounds=6, metric_name="money", data_name="valid")
    options = {"evals": [(train, "train"), (valid, "valid")], "custom_metric": metric, "verbose_eval": False}
    model = xgboost.train(XGBOOST | TWO, train, ROUNDS, callbacks=[stopping], evals_result=log, **options)
    for name, data, part in (("train", train, TRAIN), ("valid", valid, VALID)):
        by_hand = [lost(model.predict(data, iteration_range=(0, k + 1)), part) for k in range(len(log[name]["money"]))]
        assert log[name]["money"] == pytest.approx(by_hand, rel=1e-5)  # the log holds single precision
    assert model.best_iteration == int(np.argmin(by_hand)) == len(by_hand) - 7
    assert 0 < model.best_iteration < ROUNDS - 7
    last = model.predict(valid)
    assert metric(last, valid) == ("money", pytest.approx(lost(last), rel=1e-12))
    assert metric(last, valid)[1] == pytest.approx(money(costs_of(VALID), last).cost.value, rel=1e-12)


def test_xgboost_classifier_takes_amounts_as_weights_or_as_an_outcome(xgboost):
    settings = {"n_estimators": ROUNDS, "learning_rate": 0.5, "n_jobs": 1, "early_stopping_rounds": 6}
    sets = {"eval_set": [(X[VALID], BINARY[VALID])], "verbose": False}
    weighed = xgboost_metric("money", false_positive=15, false_negative="weight")
    model = xgboost.XGBClassifier(eval_metric=weighed, **settings)
    model.fit(X[TRAIN], BINARY[TRAIN], sample_weight_eval_set=[LOSS[VALID]], **sets)
    values = model.evals_result()["validation_0"]["money"]
    fixed, plain = np.full(500, 15.0), np.ones(500)
    best = model.predict_proba(X[VALID])[:, 1]
    assert int(np.argmin(values)) == model.best_iteration == len(values) - 7
    assert min(values) == pytest.approx(lost(best, check=fixed, weight=plain), rel=1e-5)
    outcome = RowCosts(BINARY[VALID], false_positive=15, false_negative=LOSS[VALID])
    same = xgboost.XGBClassifier(eval_metric=xgboost_metric("money", outcome=outcome), **settings)
    same = clone(same).fit(X[TRAIN], BINARY[TRAIN], **sets)
    assert same.evals_result()["validation_0"]["money"] == pytest.approx(values, rel=1e-5)
    again = pickle.loads(pickle.dumps(same))  # noqa: S301
    np.testing.assert_array_equal(again.predict_proba(X[VALID])[:, 1], best)


def test_lightgbm_stops_by_money_and_knows_the_amounts_of_every_set(lightgbm):
    train = lightgbm.Dataset(X[TRAIN], BINARY[TRAIN], weight=W[TRAIN])
    valid = lightgbm.Dataset(X[VALID], BINARY[VALID], weight=W[VALID], reference=train)
    metric, log = lightgbm_metric("money", outcome=(costs_of(VALID), costs_of(TRAIN))), {}
    model = lightgbm.train(
        LIGHTGBM | {"objective": "binary"},
        train,
        ROUNDS,
        valid_sets=[train, valid],
        valid_names=["training", "valid"],
        feval=metric,
        callbacks=[lightgbm.record_evaluation(log), lightgbm.early_stopping(6, verbose=False)],
    )
    assert model.best_iteration == int(np.argmin(log["valid"]["money"])) + 1 == len(log["valid"]["money"]) - 6
    rounds = range(1, model.best_iteration + 1)  # beyond which the model is cut
    for name, part in (("training", TRAIN), ("valid", VALID)):
        by_hand = [lost(model.predict(X[part], num_iteration=k), part) for k in rounds]
        assert log[name]["money"][: len(rounds)] == pytest.approx(by_hand, rel=1e-9)
    last = model.predict(X[VALID])
    assert metric(last, valid) == ("money", pytest.approx(lost(last), rel=1e-12), False)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize("by", ["weight", "outcome"])
def test_lightgbm_classifier_takes_amounts_as_weights_or_as_an_outcome(lightgbm, by):
    outcome = RowCosts(BINARY[VALID], false_positive=15, false_negative=LOSS[VALID])
    given = {"outcome": outcome} if by == "outcome" else {"false_positive": 15, "false_negative": "weight"}
    metric = lightgbm_metric("money", correct="auto", **given)
    model = lightgbm.LGBMClassifier(
        n_estimators=ROUNDS,
        learning_rate=0.4,
        n_jobs=1,
        verbose=-1,
        metric="None",
        min_child_samples=5,
        scale_pos_weight=4,
    )
    model.fit(
        X[TRAIN],
        BINARY[TRAIN],
        eval_set=[(X[VALID], BINARY[VALID])],
        eval_sample_weight=[LOSS[VALID]] if by == "weight" else None,
        eval_metric=metric,
        callbacks=[*metric.callbacks, lightgbm.early_stopping(6, verbose=False)],
    )
    fixed, plain = np.full(500, 15.0), np.ones(500)
    raised = model.predict_proba(X[VALID])[:, 1]
    right = raised / (raised + 4.0 * (1.0 - raised))
    assert 1 < model.best_iteration_ < ROUNDS
    found = model.best_score_["valid_0"]["money"]
    assert found == pytest.approx(lost(right, check=fixed, weight=plain), rel=1e-6)  # weights in single precision


@pytest.mark.parametrize("library", [xgboost_metric, lightgbm_metric])
def test_amounts_of_other_rows_are_refused(library):
    class Data:
        def __init__(self, y, weight=None):
            self.y, self.weight = y, weight

        def get_label(self):
            return self.y

        def get_weight(self):
            return self.weight

    p, valid = np.full(200, 0.2), costs_of(VALID)
    metric = library("money", outcome=valid)
    metric(p, Data(BINARY[VALID].astype(np.float32), W[VALID].astype(np.float32)))
    for y in (BINARY[TRAIN], BINARY[VALID][::-1], 1 - BINARY[VALID]):
        with pytest.raises(ValueError, match=r"labels of every evaluation set.*none has those of the set of"):
            metric(np.full(len(y), 0.2), Data(y))
    with pytest.raises(ValueError, match=r"belong to RowCosts\(sample_weight=\): the library passes others"):
        metric(p, Data(BINARY[VALID], np.ones(200)))
    with pytest.raises(ValueError, match="their labels tell apart"):
        library("money", outcome=[valid, valid])
    with pytest.raises(ValueError, match="outcome must be a RowCosts, or one for each evaluation set"):
        library("money", outcome=[BINARY])


ORDER = np.array(["low", "medium", "high"])  # sorted: high, low, medium
COSTS = [[0, 1, 2], [4, 0, 1], [20, 10, 0]]
BY_CLASS = [
    ("ordinal_loss", {}),
    ("cost_matrix_loss", {"matrices": COSTS}),
    ("one_vs_rest_bounded_loss", {"class_weight": [1, 2, 20]}),
    ("penalized_brier_loss", {}),
]


def by_label(name, given, labels, y, prob, **weight):
    """Value of the metric with the columns of sorted labels put into the order of the labels."""
    places = [sorted(labels).index(each) for each in labels]
    return METRICS[name].function(y, prob[:, places], labels=labels, **given, **weight)


@pytest.mark.parametrize(("name", "given"), BY_CLASS, ids=str)
@pytest.mark.parametrize("labels", [ORDER.tolist(), [3, 2, 1], [0, 1, 2], [2, 1, 0]], ids=str)
def test_labels_name_the_classes_that_the_classifier_of_lightgbm_codes(name, given, labels):
    y, prob = np.array(labels)[Y[VALID]], RNG.dirichlet([1, 2, 3], 200)
    metric = lightgbm_metric(name, **given, labels=labels)
    coded = np.unique(y, return_inverse=True)[1].astype(np.float32)
    wanted = by_label(name, given, labels, y, prob)
    assert metric(coded, prob) == (name, pytest.approx(wanted, rel=1e-12), False)
    weighted = by_label(name, given, labels, y, prob, sample_weight=W[VALID])
    assert pickle.loads(pickle.dumps(metric))(coded, prob, W[VALID])[1] == pytest.approx(weighted)  # noqa: S301


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")  # older versions know no other
@pytest.mark.parametrize(("name", "given"), BY_CLASS, ids=str)
def test_lightgbm_classifier_of_texts_follows_the_loss_of_their_stated_order(lightgbm, name, given):
    y = ORDER[Y]
    model = lightgbm.LGBMClassifier(n_estimators=5, **LIGHTGBM).fit(
        X[TRAIN], y[TRAIN], eval_set=[(X[VALID], y[VALID])], eval_metric=lightgbm_metric(name, **given, labels=ORDER)
    )
    wanted = by_label(name, given, ORDER.tolist(), y[VALID], model.predict_proba(X[VALID]))
    assert model.best_score_["valid_0"][name] == pytest.approx(wanted, rel=1e-6)
    numbered = lightgbm.LGBMClassifier(n_estimators=5, **LIGHTGBM).fit(
        X[TRAIN], Y[TRAIN], eval_set=[(X[VALID], Y[VALID])], eval_metric=lightgbm_metric(name, **given)
    )
    assert model.best_score_["valid_0"][name] == pytest.approx(numbered.best_score_["valid_0"][name], rel=1e-6)


def test_lightgbm_trains_on_codes_whose_order_labels_state(lightgbm):
    log, turned = {}, np.array([2, 0, 1])  # the code of each class, in order
    train = lightgbm.Dataset(X[TRAIN], turned[Y[TRAIN]])
    valid = lightgbm.Dataset(X[VALID], turned[Y[VALID]], reference=train)
    settings = {**LIGHTGBM, "objective": "multiclass", "num_class": 3}

    def trained(labels):
        model = lightgbm.train(
            settings,
            train,
            3,
            valid_sets=[valid],
            feval=lightgbm_metric("ordinal_loss", labels=labels),
            callbacks=[lightgbm.record_evaluation(log)],
        )
        return model.predict(X[VALID])

    wanted = by_label("ordinal_loss", {}, turned.tolist(), turned[Y[VALID]], trained(turned))
    assert log["valid_0"]["ordinal_loss"][-1] == pytest.approx(wanted, rel=1e-6)
    with pytest.raises(ValueError, match=r"y_true must hold only the labels \['low'"):  # it codes none itself
        trained(ORDER.tolist())


@pytest.mark.parametrize("make", [xgboost_metric, lightgbm_metric])
def test_columns_of_the_boosters_are_those_of_numbered_classes_whatever_the_order_of_labels(make):
    y, prob = RNG.integers(0, 3, 50), RNG.dirichlet(np.ones(3), 50)
    given = {"correct": {"class_weight": {0: 1, 1: 2, 2: 5}}}
    wanted, found = (make("penalized_brier_loss", labels=labels, **given) for labels in ([0, 1, 2], [2, 0, 1]))
    assert value_of(found(y, prob)) == pytest.approx(value_of(wanted(y, prob)), rel=1e-14)
    swapped = make("ordinal_loss", labels=[1, 0, 2])(y, prob)
    numbered = make("ordinal_loss", labels=[0, 1, 2])(np.array([1, 0, 2])[y], prob[:, [1, 0, 2]])
    assert value_of(swapped) == pytest.approx(value_of(numbered), rel=1e-14)


def value_of(answer):
    """The number in an answer to XGBoost, or to LightGBM, which has a name and a direction beside it."""
    return answer[1] if isinstance(answer, tuple) else answer


def test_auto_takes_a_weight_that_is_not_set_for_one():
    metric, y, prob = lightgbm_metric("bounded_brier_loss", bounds=(0.1, 0.3), correct="auto"), [0, 1], [0.2, 0.15]
    booster = SimpleNamespace(train_set=SimpleNamespace(get_weight=lambda: None))
    env = SimpleNamespace(params={"objective": "binary", "scale_pos_weight": None}, model=booster)
    metric.callbacks[0](env)
    assert metric(y, prob) == lightgbm_metric("bounded_brier_loss", bounds=(0.1, 0.3))(y, prob)


@pytest.mark.parametrize(("fraction", "taken"), [(1, True), (1.0, True), (2, False), (0.5, False)])
def test_auto_takes_rows_of_both_classes_in_equal_shares_alone(fraction, taken):
    metric = lightgbm_metric("bounded_brier_loss", bounds=(0.1, 0.3), correct="auto")
    booster = SimpleNamespace(train_set=SimpleNamespace(get_weight=lambda: None))
    env = SimpleNamespace(params={"objective": "binary", "pos_bagging_fraction": fraction}, model=booster)
    if taken:
        metric.callbacks[0](env)
    else:
        with pytest.raises(ValueError, match=f"what pos_bagging_fraction={fraction} of LightGBM amounts to"):
            metric.callbacks[0](env)


@pytest.mark.parametrize("logits", [False, True])
def test_one_column_of_lightgbm_is_of_the_second_of_two_sorted_labels(logits):
    prob = RNG.uniform(size=300)
    scores = np.log(prob / (1 - prob)) if logits else prob
    metric = lightgbm_metric("cost_matrix_loss", matrices=[[0, 1], [9, 0]], labels=["well", "ill"], logits=logits)
    ill = BINARY[TRAIN] == 0  # coded as 0
    wanted = np.where(ill, 9 * ((1 - prob) * 9 < prob), (1 - prob) * 9 >= prob).mean()
    assert metric(BINARY[TRAIN].astype(float), scores)[1] == pytest.approx(wanted)
