"""XGBoost and LightGBM: our metric in their training log, early stopping, checkpoints, and a killed process."""

import sys

import numpy as np
import pytest
from killed_runs import killed_and_whole

from stakes import bounded_brier_loss, penalized_log_loss
from stakes.training import (
    Checkpoint,
    EarlyStopping,
    PenalizedScoreMonitor,
    lightgbm_callback,
    lightgbm_metric,
    xgboost_callback,
    xgboost_metric,
)

RNG = np.random.default_rng(8)
X = RNG.normal(size=(500, 5))
Y = (X @ RNG.normal(size=(5, 3)) + 2.0 * RNG.normal(size=(500, 3))).argmax(axis=1)
W = RNG.integers(1, 4, 500).astype(float)
TRAIN, VALID = slice(0, 300), slice(300, 500)
ROUNDS = 40


@pytest.fixture(name="xgboost")
def xgboost_library():
    return pytest.importorskip("xgboost", reason="needs XGBoost: pip install 'stakes[xgboost]'")


@pytest.fixture(name="lightgbm")
def lightgbm_library():
    return pytest.importorskip("lightgbm", reason="needs LightGBM: pip install 'stakes[lightgbm]'")


def xgboost_data(xgboost, y=Y):
    return (xgboost.DMatrix(X[part], y[part], weight=W[part]) for part in (TRAIN, VALID))


XGBOOST = {"objective": "multi:softprob", "num_class": 3, "eta": 0.5, "nthread": 1, "disable_default_eval_metric": 1}
LIGHTGBM = {"objective": "multiclass", "num_class": 3, "learning_rate": 0.4, "num_threads": 1, "verbose": -1}
LIGHTGBM |= {"metric": "None", "deterministic": True, "min_data_in_leaf": 5}


def test_xgboost_stops_and_returns_the_best_rounds(xgboost, tmp_path):
    train, valid = xgboost_data(xgboost)
    stopping, log = EarlyStopping("penalized_log_loss", patience=4), {}
    checkpoint = Checkpoint(tmp_path, "penalized_log_loss")
    model = xgboost.train(
        XGBOOST,
        train,
        num_boost_round=ROUNDS,
        evals=[(train, "train"), (valid, "valid")],
        custom_metric=xgboost_metric("penalized_log_loss"),
        callbacks=[xgboost_callback("valid", stopping=stopping, checkpoint=checkpoint)],
        evals_result=log,
        verbose_eval=False,
    )
    assert len(stopping.history) == stopping.best_epoch + 5 < ROUNDS
    assert model.num_boosted_rounds() == stopping.best_epoch + 1
    once = penalized_log_loss(Y[VALID], model.predict(valid), sample_weight=W[VALID])
    assert once == pytest.approx(stopping.best_value, abs=1e-5)  # the log holds single precision
    assert log["valid"]["penalized_log_loss"] == pytest.approx(stopping.history)
    best = xgboost.Booster(model_file=checkpoint.best_path)
    np.testing.assert_array_equal(best.predict(valid), model.predict(valid))


def test_xgboost_binary_metric_and_missing_metric(xgboost):
    y = (Y == 1).astype(int)
    train, valid = xgboost_data(xgboost, y)
    monitor = PenalizedScoreMonitor("bounded_brier_loss", bounds=(0.2, 0.4))
    stopping = EarlyStopping(monitor, patience=3, restore_best=False)
    settings = {"objective": "binary:logistic", "eta": 0.5, "nthread": 1}
    evals = [(valid, "valid")]
    metric, callback = xgboost_metric(monitor), xgboost_callback("valid", stopping=stopping)
    options = {"evals": evals, "custom_metric": metric, "callbacks": [callback], "verbose_eval": False}
    model = xgboost.train(settings, train, 30, **options)
    assert model.num_boosted_rounds() == len(stopping.history) == stopping.best_epoch + 4
    best = model.predict(valid, iteration_range=(0, stopping.best_epoch + 1))
    once = bounded_brier_loss(y[VALID], best, bounds=(0.2, 0.4), sample_weight=W[VALID])
    assert once == pytest.approx(stopping.best_value, abs=1e-5)
    with pytest.raises(ValueError, match="was not evaluated on 'test'"):
        xgboost.train(settings, train, 2, evals=evals, callbacks=[xgboost_callback("test", stopping=EarlyStopping())])


def test_lightgbm_stops_and_predicts_with_the_best_rounds(lightgbm, tmp_path):
    train = lightgbm.Dataset(X[TRAIN], Y[TRAIN], weight=W[TRAIN])
    valid = lightgbm.Dataset(X[VALID], Y[VALID], weight=W[VALID], reference=train)
    stopping, log = EarlyStopping("penalized_log_loss", patience=4), {}
    checkpoint = Checkpoint(tmp_path, "penalized_log_loss")
    model = lightgbm.train(
        LIGHTGBM,
        train,
        num_boost_round=ROUNDS,
        valid_sets=[valid],
        valid_names=["valid"],
        feval=lightgbm_metric("penalized_log_loss"),
        callbacks=[
            lightgbm.record_evaluation(log),
            lightgbm_callback("valid", stopping=stopping, checkpoint=checkpoint),
        ],
    )
    assert len(stopping.history) == stopping.best_epoch + 5 < ROUNDS
    assert model.best_iteration == stopping.best_epoch + 1
    once = penalized_log_loss(Y[VALID], model.predict(X[VALID]), sample_weight=W[VALID])
    assert once == pytest.approx(stopping.best_value, abs=1e-12)
    assert log["valid"]["penalized_log_loss"] == pytest.approx(stopping.history)
    best = lightgbm.Booster(model_file=checkpoint.best_path)
    np.testing.assert_allclose(best.predict(X[VALID]), model.predict(X[VALID]), atol=1e-12)


@pytest.mark.parametrize("restore", [True, False])
def test_lightgbm_uses_up_its_rounds(lightgbm, restore):
    y = (Y == 1).astype(int)
    train = lightgbm.Dataset(X[TRAIN], y[TRAIN])
    valid = lightgbm.Dataset(X[VALID], y[VALID], reference=train)
    stopping = EarlyStopping("roc_auc_score", patience=50, restore_best=restore)
    model = lightgbm.train(
        LIGHTGBM | {"objective": "binary", "num_class": 1},
        train,
        num_boost_round=12,
        valid_sets=[valid],
        valid_names=["valid"],
        feval=lightgbm_metric("roc_auc_score"),
        callbacks=[lightgbm_callback("valid", stopping=stopping)],
    )
    assert len(stopping.history) == 12
    assert stopping.best_value == max(stopping.history)
    assert (model.best_iteration == stopping.best_epoch + 1) if restore else (model.best_iteration in {-1, 0})
    with pytest.raises(ValueError, match="was not evaluated on 'test'"):
        lightgbm.train(
            LIGHTGBM, lightgbm.Dataset(X, Y), 2, callbacks=[lightgbm_callback("test", stopping=EarlyStopping())]
        )


COMMON = """
import numpy as np
from stakes.training import *

rng = np.random.default_rng(8)
x = rng.normal(size=(500, 5))
y = (x @ rng.normal(size=(5, 3)) + 2.0 * rng.normal(size=(500, 3))).argmax(axis=1)

def run(folder, kill):
    checkpoint, stopping = Checkpoint(folder), EarlyStopping(patience=6)
    begin = checkpoint.epoch
    model, prob, kept = train(checkpoint, stopping, 40 - begin, kill)
    value = checkpoint.monitor.evaluate(y[300:], prob)
    return {"history": checkpoint.history, "best": stopping.best_epoch, "value": value, "kept": kept, "begin": begin}
"""
PROGRAMS = {
    "xgboost": """
import xgboost

def train(checkpoint, stopping, rounds, kill):
    class Kill(xgboost.callback.TrainingCallback):
        def before_iteration(self, model, epoch, evals_log):
            if kill and stopping.wait == 3:
                die()

    train, valid = xgboost.DMatrix(x[:300], y[:300]), xgboost.DMatrix(x[300:], y[300:])
    settings = {"objective": "multi:softprob", "num_class": 3, "eta": 0.3, "nthread": 1}
    callback = xgboost_callback("valid", stopping=stopping, checkpoint=checkpoint)
    model = xgboost.train(
        settings, train, rounds, evals=[(valid, "valid")], custom_metric=xgboost_metric(),
        callbacks=[callback, Kill()], xgb_model=checkpoint.last_path, verbose_eval=False,
    )
    return model, model.predict(valid), model.num_boosted_rounds()
""",
    "lightgbm": """
import lightgbm

def train(checkpoint, stopping, rounds, kill):
    def killer(env):
        if kill and stopping.wait == 3:
            die()

    killer.before_iteration = True
    settings = {"objective": "multiclass", "num_class": 3, "learning_rate": 0.3, "num_threads": 1, "verbose": -1}
    settings |= {"metric": "None", "deterministic": True, "min_data_in_leaf": 5, "boost_from_average": False}
    train = lightgbm.Dataset(x[:300], y[:300])
    model = lightgbm.train(
        settings, train, rounds, valid_sets=[lightgbm.Dataset(x[300:], y[300:], reference=train)],
        valid_names=["valid"], feval=lightgbm_metric(), init_model=checkpoint.last_path,
        callbacks=[lightgbm_callback("valid", stopping=stopping, checkpoint=checkpoint), killer],
    )
    return model, model.predict(x[300:]), model.best_iteration
""",
}


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL.")
@pytest.mark.parametrize("library", PROGRAMS)
def test_killed_run_goes_on_from_its_checkpoint(library, tmp_path):
    pytest.importorskip(library, reason=f"needs {library}: pip install 'stakes[{library}]'")
    resumed, whole = killed_and_whole(PROGRAMS[library] + COMMON, tmp_path)
    assert resumed["history"] == pytest.approx(whole["history"], abs=1e-5)
    assert resumed["begin"] > whole["best"] == resumed["best"] > 0
    assert resumed["kept"] == whole["kept"] == whole["best"] + 1
    for run in (resumed, whole):
        assert run["value"] == pytest.approx(run["history"][run["best"]], abs=1e-5)
