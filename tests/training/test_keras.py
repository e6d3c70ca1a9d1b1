"""Keras 3: training runs with early stopping, checkpoints and a killed process, on whatever backend is installed."""

import os
import sys

import numpy as np
import pytest
from killed_runs import killed_and_whole

from stakes import bounded_brier_loss, penalized_brier_loss
from stakes.training import Checkpoint, EarlyStopping, PenalizedScoreMonitor, keras_callback

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


def test_training_stops_and_ends_with_the_best_weights(tmp_path):
    model = classifier()
    stopping, checkpoint = EarlyStopping(patience=3), Checkpoint(tmp_path)
    callback = keras_callback((X[VALID], Y[VALID]), stopping=stopping, checkpoint=checkpoint, batch_size=32)
    history = model.fit(X[TRAIN], Y[TRAIN], epochs=60, batch_size=40, verbose=0, callbacks=[callback])
    assert len(stopping.history) == stopping.best_epoch + 4 < 60
    assert history.history["val_penalized_brier_loss"] == stopping.history == checkpoint.history
    ours = penalized_brier_loss(Y[VALID], model.predict(X[VALID], verbose=0))
    assert ours == pytest.approx(stopping.best_value, abs=1e-6)
    saved = keras.saving.load_model(checkpoint.best_path)
    assert penalized_brier_loss(Y[VALID], saved.predict(X[VALID], verbose=0)) == pytest.approx(ours, abs=1e-6)


def test_weighted_batches_of_a_binary_model():
    y, weight = (Y == 0).astype("float32")[:, None], RNG.integers(1, 4, 260).astype(float)
    monitor = PenalizedScoreMonitor("bounded_brier_loss", bounds=(0.1, 0.4))
    stopping = EarlyStopping(monitor, patience=2)
    batches = [(X[160:200], y[160:200], weight[160:200]), (X[200:], y[200:], weight[200:])]
    model = classifier(1, "sigmoid")
    callback = keras_callback(batches, stopping=stopping)
    model.fit(X[TRAIN], y[TRAIN], epochs=4, verbose=0, callbacks=[callback])
    prob = model.predict(X[VALID], verbose=0)[:, 0]
    once = bounded_brier_loss(y[VALID, 0], prob, bounds=(0.1, 0.4), sample_weight=weight[VALID])
    assert once == pytest.approx(stopping.best_value, abs=1e-6)


def test_validation_data_of_another_form_are_refused():
    callback = keras_callback((X[VALID],), stopping=EarlyStopping())
    with pytest.raises(ValueError, match="validation_data must hold"):
        classifier().fit(X[TRAIN], Y[TRAIN], verbose=0, callbacks=[callback])


PROGRAM = """
import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras, numpy as np
from stakes.training import Checkpoint, EarlyStopping, keras_callback

def run(folder, kill):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(260, 4)).astype("float32")
    y = (x @ rng.normal(size=(4, 3)) + rng.normal(size=(260, 3))).argmax(axis=1)
    checkpoint, stopping = Checkpoint(folder), EarlyStopping(patience=3)
    if checkpoint.last_path is None:
        keras.utils.set_random_seed(2)
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
        model.compile(optimizer=keras.optimizers.Adam(0.1), loss="sparse_categorical_crossentropy")
    else:
        model = keras.saving.load_model(checkpoint.last_path)

    class Kill(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if kill and stopping.wait == 2:  # past the best epoch, so that the best weights are those of the checkpoint
                die()

    callback = keras_callback((x[160:], y[160:]), stopping=stopping, checkpoint=checkpoint)
    begin = checkpoint.epoch
    model.fit(x[:160], y[:160], epochs=40, initial_epoch=begin, shuffle=False, verbose=0, callbacks=[callback, Kill()])
    value = checkpoint.monitor.evaluate(y[160:], model.predict(x[160:], verbose=0))
    return {"history": checkpoint.history, "best": stopping.best_epoch, "value": value, "begin": begin}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL.")
def test_killed_run_goes_on_from_its_checkpoint(tmp_path):
    resumed, whole = killed_and_whole(PROGRAM, tmp_path)
    assert resumed["begin"] > whole["best"] == resumed["best"] > 0
    assert resumed["history"] == pytest.approx(whole["history"], abs=1e-6)
    for run in (resumed, whole):
        assert run["value"] == pytest.approx(run["history"][run["best"]], abs=1e-6)
