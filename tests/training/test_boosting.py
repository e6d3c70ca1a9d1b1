"""XGBoost and LightGBM: our metrics in both their interfaces, and their own early stopping and checkpoints on them."""

import pickle
import sys

import numpy as np
import pytest
from killed_runs import killed_and_whole
from sklearn.base import clone

from stakes import bounded_brier_loss
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
