"""Early stopping and checkpoint files, without any training library."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes.training import Checkpoint, EarlyStopping, PenalizedScoreMonitor
from stakes.training._atomic import replacing
from stakes.training._callbacks import Watch

VALUES = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, math.inf, math.nan]), min_size=1, max_size=25)


def by_hand(values, patience, min_delta):
    """Epoch of the best value and whether training has ended, by looking at the whole past at each epoch."""
    best, stopped = None, False
    for epoch, value in enumerate(values):
        if not math.isnan(value) and (best is None or value < values[best] - min_delta):
            best = epoch
        last = -1 if best is None else best
        stopped = epoch - last >= patience
    return best, stopped


@given(VALUES, st.integers(1, 5), st.sampled_from([0.0, 0.15]))
def test_best_epoch_and_end_of_training(values, patience, min_delta):
    stopping = EarlyStopping(patience=patience, min_delta=min_delta)
    stops = [stopping.step(value) for value in values]
    assert stops == [by_hand(values[: n + 1], patience, min_delta)[1] for n in range(len(values))]
    assert stopping.best_epoch == by_hand(values, patience, min_delta)[0]
    # continued from what an earlier process recorded
    again = EarlyStopping(patience=patience, min_delta=min_delta, history=values[: len(values) // 2])
    assert [again.step(value) for value in values[len(values) // 2 :]] == stops[len(values) // 2 :]


def test_scores_are_followed_upwards_and_losses_downwards():
    up, down = EarlyStopping("roc_auc_score", patience=2), EarlyStopping("bounded_brier_loss", patience=2)
    for value in (0.6, 0.7, 0.65):
        up.step(value)
        down.step(value)
    assert (up.best_epoch, down.best_epoch) == (1, 0)
    assert (up.should_stop, down.should_stop) == (False, True)


def test_best_weights_are_a_copy():
    import numpy as np

    weights, stopping = [np.zeros(2)], EarlyStopping(patience=3)
    stopping.step(0.5, weights)
    weights[0] += 1.0
    stopping.step(0.7, weights)
    assert stopping.best_weights[0].tolist() == [0.0, 0.0]
    keeps_none = EarlyStopping(restore_best=False)
    keeps_none.step(0.5, weights)
    assert keeps_none.best_weights is None


@pytest.mark.parametrize("options", [{"patience": 0}, {"patience": 1.5}, {"min_delta": -0.1}, {"min_delta": math.nan}])
def test_invalid_settings_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        EarlyStopping(**options)


def save(checkpoint, values):
    return [checkpoint.step(value, lambda path: path.write_text("model"), suffix=".txt") for value in values]


def test_folder_holds_the_last_and_the_best_epoch_and_nothing_else(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", min_delta=0.05)
    assert save(checkpoint, [0.5, 0.3, 0.29, 0.4]) == [True, True, False, False]
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"checkpoint.json", "epoch-0001.txt", "epoch-0003.txt"}
    assert (checkpoint.best_path.name, checkpoint.last_path.name) == ("epoch-0001.txt", "epoch-0003.txt")


def test_run_goes_on_where_its_folder_ends(tmp_path):
    save(Checkpoint(tmp_path), [0.5, math.inf, math.nan, 0.3])
    again = Checkpoint(tmp_path)
    assert (again.epoch, again.best_epoch, again.best_value) == (4, 3, 0.3)
    assert again.history[:2] == [0.5, math.inf]
    assert math.isnan(again.history[2])
    assert save(again, [0.31, 0.2]) == [False, True]
    json.loads((tmp_path / "checkpoint.json").read_text(), parse_constant=pytest.fail)  # plain JSON, no Infinity


def test_best_epoch_of_a_continued_run_is_that_of_its_file(tmp_path):
    save(Checkpoint(tmp_path), [0.5, 0.4])
    stricter = Checkpoint(tmp_path, min_delta=0.2)
    assert (stricter.best_epoch, stricter.best_path.name) == (1, "epoch-0001.txt")
    assert save(stricter, [0.3, 0.1]) == [False, True]


def test_folder_of_another_monitor_is_refused(tmp_path):
    save(Checkpoint(tmp_path), [0.5])
    with pytest.raises(ValueError, match=r"holds a checkpoint by .*penalized_brier_loss.*another folder"):
        Checkpoint(tmp_path, "penalized_log_loss")
    with pytest.raises(ValueError, match="another folder"):
        Checkpoint(tmp_path, PenalizedScoreMonitor(penalty=1.0))


def test_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "state.txt"
    target.write_text("old")

    def write_and_fail():
        with replacing(target) as path:
            path.write_text("half of the n")
            assert target.read_text() == "old"
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_and_fail()
    assert [path.name for path in tmp_path.iterdir()] == ["state.txt"]
    assert target.read_text() == "old"


def test_failed_save_leaves_the_epoch_before(tmp_path):
    checkpoint = Checkpoint(tmp_path)
    save(checkpoint, [0.5])
    with pytest.raises(ZeroDivisionError):
        checkpoint.step(0.1, lambda _path: 1 / 0, suffix=".txt")
    again = Checkpoint(tmp_path)
    assert (again.epoch, again.best_path.read_text()) == (1, "model")


def test_model_is_on_the_disk_before_the_record_names_it(tmp_path, monkeypatch):
    handles, names = Path("/proc/self/fd"), []
    if not handles.is_dir():
        pytest.skip("needs /proc to see which file is flushed.")
    monkeypatch.setattr(os, "fsync", lambda handle: names.append((handles / str(handle)).readlink().name))
    save(Checkpoint(tmp_path), [0.5])
    assert names == [".partial-epoch-0000.txt", tmp_path.name, ".partial-checkpoint.json", tmp_path.name]


KILLED = """
import os, signal, sys
from stakes.training import Checkpoint

checkpoint, point = Checkpoint(sys.argv[1]), sys.argv[2]

def die(*_args, **_options):
    os.kill(os.getpid(), signal.SIGKILL)

def half(path):
    path.write_bytes(b"half")
    die()

for value in (0.5, 0.3):
    checkpoint.step(value, lambda path: path.write_bytes(b"whole"), suffix=".bin")
if point == "while writing the model":
    checkpoint.step(0.2, half, suffix=".bin")
if point == "before the record":
    checkpoint._write = die
if point == "before old files go":
    type(checkpoint.folder).unlink = die
checkpoint.step(0.2, lambda path: path.write_bytes(b"whole"), suffix=".bin")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL.")
@pytest.mark.parametrize(
    ("point", "epochs"), [("while writing the model", 2), ("before the record", 2), ("before old files go", 3)]
)
def test_process_killed_at_any_moment_leaves_a_whole_epoch(tmp_path, point, epochs):
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), point], capture_output=True, check=False)
    assert run.returncode == -9, run.stderr
    again = Checkpoint(tmp_path)
    assert again.epoch == epochs
    assert again.last_path.read_bytes() == again.best_path.read_bytes() == b"whole"
    assert again.step(0.1, lambda path: path.write_bytes(b"next"), suffix=".bin")
    assert again.best_path.read_bytes() == b"next"


def test_stopping_and_checkpoint_share_one_monitor(tmp_path):
    with pytest.raises(ValueError, match="same monitor"):
        Watch(EarlyStopping("roc_auc_score"), Checkpoint(tmp_path))
    with pytest.raises(ValueError, match=r"same min_delta, got 0\.1 and 0\.0"):
        Watch(EarlyStopping(min_delta=0.1), Checkpoint(tmp_path))
    with pytest.raises(ValueError, match="needs stopping=, checkpoint= or both"):
        Watch(None, None)


def test_best_weights_that_nobody_has_are_missed_aloud():
    watch = Watch(EarlyStopping(history=[0.5, 0.6]), None)
    with pytest.warns(UserWarning, match="best epoch, 0, was before this process, and no checkpoint holds it"):
        assert watch.best_file() is None


def test_callback_goes_on_with_the_patience_of_the_earlier_process(tmp_path):
    save(Checkpoint(tmp_path), [0.5, 0.6])
    stopping = EarlyStopping(patience=3)
    watch = Watch(stopping, Checkpoint(tmp_path))
    assert stopping.wait == 1
    assert watch.best_file().name == "epoch-0000.txt"
    assert not watch.step(0.7, lambda path: path.write_text("model"), ".txt")
    assert watch.step(0.7, lambda path: path.write_text("model"), ".txt")
