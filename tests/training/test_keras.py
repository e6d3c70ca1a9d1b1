"""Keras 3: our metrics in its logs, where its own early stopping and checkpoints follow them, on any backend."""

import os
import sys

import numpy as np
import pytest
from killed_runs import killed_and_whole

from stakes import RowCosts, bounded_brier_loss
from stakes.metrics import penalized_brier_loss
from stakes.training import keras_metric

if "keras" not in sys.modules and "KERAS_BACKEND" not in os.environ:
    os.environ["KERAS_BACKEND"] = "torch"
keras = pytest.importorskip("keras", reason="needs Keras: pip install 'stakes[keras]'")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:keras", "ignore::FutureWarning:keras")

RNG = np.random.default_rng(5)
X = RNG.normal(size=(260, 4)).astype("float32")
Y = (X @ RNG.normal(size=(4, 3)) + RNG.normal(size=(260, 3))).argmax(axis=1)
TRAIN, VALID = slice(0, 160), slice(160, 260)


def classifier(outputs=3, activation="softmax", rate=0.3):
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(outputs, activation=activation)])
    loss = "sparse_categorical_crossentropy" if outputs > 1 else "binary_crossentropy"
    model.compile(optimizer=keras.optimizers.Adam(rate), loss=loss)
    return model


def test_keras_stops_saves_and_restores_by_our_metric(tmp_path):
    model, best = classifier(), tmp_path / "best.keras"
    ours = keras_metric(validation_data=(X[VALID], Y[VALID]), batch_size=32)
    stopping = keras.callbacks.EarlyStopping(ours.name, mode=ours.mode, patience=3, restore_best_weights=True)
    saving = keras.callbacks.ModelCheckpoint(best, ours.name, mode=ours.mode, save_best_only=True)
    calls = [ours, stopping, saving]
    log = model.fit(X[TRAIN], Y[TRAIN], epochs=60, batch_size=40, verbose=0, callbacks=calls).history
    values = log["val_penalized_brier_loss"]
    assert len(values) == np.argmin(values) + 4 < 60
    for ended in (model, keras.saving.load_model(best)):
        once = penalized_brier_loss(Y[VALID], ended.predict(X[VALID], verbose=0))
        assert once == pytest.approx(min(values), abs=1e-6)


def test_scores_are_followed_upwards():
    y = (Y == 0).astype("float32")[:, None]
    ours = keras_metric("roc_auc_score", validation_data=(X[VALID], y[VALID]))
    stopping = keras.callbacks.EarlyStopping(ours.name, mode=ours.mode, patience=2)
    log = classifier(1, "sigmoid").fit(X[TRAIN], y[TRAIN], epochs=60, verbose=0, callbacks=[ours, stopping]).history
    values = log["val_roc_auc_score"]
    assert len(values) == np.argmax(values) + 3 < 60


def test_weighted_batches_of_a_binary_model_with_the_settings_of_the_metric():
    y, weight = (Y == 0).astype("float32")[:, None], RNG.integers(1, 4, 260).astype(float)
    batches = [(X[160:200], y[160:200], weight[160:200]), (X[200:], y[200:], weight[200:])]
    model = classifier(1, "sigmoid")
    ours = keras_metric("bounded_brier_loss", validation_data=batches, bounds=(0.1, 0.4))
    log = model.fit(X[TRAIN], y[TRAIN], epochs=4, verbose=0, callbacks=[ours]).history
    prob = model.predict(X[VALID], verbose=0)[:, 0]
    once = bounded_brier_loss(y[VALID, 0], prob, bounds=(0.1, 0.4), sample_weight=weight[VALID])
    assert once == pytest.approx(log["val_bounded_brier_loss"][-1], abs=1e-6)


def test_a_generator_that_was_gone_through_is_refused_with_the_remedy():
    batches = ((X[part], Y[part]) for part in (slice(160, 200), slice(200, 260)))
    with pytest.raises(ValueError, match="got none: a generator can be gone through once only, so pass a list"):
        classifier().fit(X[TRAIN], Y[TRAIN], epochs=2, verbose=0, callbacks=[keras_metric(validation_data=batches)])


def test_a_sigmoid_is_of_label_1_where_label_0_is_positive():
    y = (Y == 0).astype("float32")[:, None]
    model = classifier(1, "sigmoid")
    ours = keras_metric("bounded_brier_loss", validation_data=(X[VALID], y[VALID]), bounds=(0.1, 0.4), pos_label=0)
    log = model.fit(X[TRAIN], y[TRAIN], epochs=2, verbose=0, callbacks=[ours]).history
    other = 1.0 - model.predict(X[VALID], verbose=0)[:, 0].astype(float)
    once = bounded_brier_loss(1.0 - y[VALID, 0], other, bounds=(0.1, 0.4))
    assert once == pytest.approx(log["val_bounded_brier_loss"][-1], abs=1e-6)


def test_raw_outputs_of_a_weighted_model_are_corrected():
    y, weight = (Y == 0).astype("float32")[:, None], 6.0
    model = classifier(1, "linear")
    model.compile(optimizer="adam", loss=keras.losses.BinaryCrossentropy(from_logits=True))
    settings = {"bounds": (0.1, 0.4), "correct": {"class_weight": {0: 1.0, 1: weight}}, "logits": True}
    ours = keras_metric("bounded_brier_loss", validation_data=(X[VALID], y[VALID]), **settings)
    log = model.fit(X[TRAIN], y[TRAIN], epochs=4, verbose=0, callbacks=[ours], class_weight={0: 1.0, 1: weight}).history
    odds = np.exp(model.predict(X[VALID], verbose=0)[:, 0].astype(float)) / weight
    once = bounded_brier_loss(y[VALID, 0], odds / (1.0 + odds), bounds=(0.1, 0.4))
    assert once == pytest.approx(log["val_bounded_brier_loss"][-1], abs=1e-6)


def test_logits_of_several_outputs_are_evaluated_as_their_probabilities():
    model = classifier(3, "linear")
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ours = keras_metric(validation_data=(X[VALID], Y[VALID]), logits=True)
    log = model.fit(X[TRAIN], Y[TRAIN], epochs=2, verbose=0, callbacks=[ours]).history
    raw = np.exp(model.predict(X[VALID], verbose=0).astype(float))
    once = penalized_brier_loss(Y[VALID], raw / raw.sum(axis=1, keepdims=True))
    assert once == pytest.approx(log["val_penalized_brier_loss"][-1], abs=1e-6)


def test_validation_data_of_another_form_are_refused():
    ours = keras_metric(validation_data=(X[VALID],))
    with pytest.raises(ValueError, match="validation_data must hold"):
        classifier().fit(X[TRAIN], Y[TRAIN], verbose=0, callbacks=[ours])


PROGRAM = """
import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras, numpy as np
from stakes.training import MetricMonitor, keras_metric

def run(folder, kill):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(260, 4)).astype("float32")
    y = (x @ rng.normal(size=(4, 3)) + rng.normal(size=(260, 3))).argmax(axis=1)
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
    model.compile(optimizer=keras.optimizers.Adam(0.1), loss="sparse_categorical_crossentropy")

    class Kill(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if kill and epoch == 6:
                die()

    ours = keras_metric(validation_data=(x[160:], y[160:]))
    saving = keras.callbacks.BackupAndRestore(folder, delete_checkpoint=False)
    log = model.fit(x[:160], y[:160], epochs=12, shuffle=False, verbose=0, callbacks=[ours, saving, Kill()])
    value = MetricMonitor().evaluate(y[160:], model.predict(x[160:], verbose=0))
    return {"values": log.history[ours.name], "value": value}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL.")
def test_killed_run_goes_on_from_its_backup(tmp_path):
    resumed, whole = killed_and_whole(PROGRAM, tmp_path)
    assert (len(whole["values"]), 5 <= len(resumed["values"]) <= 6) == (12, True)
    assert resumed["values"] == pytest.approx(whole["values"][-len(resumed["values"]) :], abs=1e-6)
    for run in (resumed, whole):
        assert run["value"] == pytest.approx(run["values"][-1], abs=1e-6)


@pytest.mark.parametrize("batched", [False, True])
def test_keras_stops_by_money_with_amounts_in_the_validation_data(batched):
    y, amount = (Y == 0).astype("float32"), np.random.default_rng(1).lognormal(3, 0.5, 260)
    parts = [slice(160, 200), slice(200, 260)] if batched else [VALID]
    data = [(X[part], RowCosts(y[part], false_positive=9, false_negative=amount[part])) for part in parts]
    ours = keras_metric("money", validation_data=data if batched else data[0])
    weighed = keras_metric(
        "money", validation_data=(X[VALID], y[VALID], amount[VALID]), false_positive=9, false_negative="weight"
    )
    stopping = keras.callbacks.EarlyStopping(ours.name, mode=ours.mode, patience=4, restore_best_weights=True)
    model = classifier(1, "sigmoid")
    log = model.fit(X[TRAIN], y[TRAIN], epochs=60, verbose=0, callbacks=[weighed, ours, stopping]).history
    values = log["val_money"]
    assert len(values) == np.argmin(values) + 5 < 60
    p = model.predict(X[VALID], verbose=0)[:, 0].astype(float)
    act = p * amount[VALID] >= (1 - p) * 9
    cost = np.where(y[VALID] == 1, np.where(act, 0, amount[VALID]), np.where(act, 9, 0)).mean()
    assert min(values) == pytest.approx(1000 * cost, rel=1e-6)
    weighed.set_model(model)
    weighed.on_epoch_end(0, last := {})
    assert last["val_money"] == pytest.approx(1000 * cost, rel=1e-12)
