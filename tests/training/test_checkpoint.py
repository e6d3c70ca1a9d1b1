"""Checkpoint folders: whole after any kill, of one writer, and deaf to a record that no checkpoint wrote."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from stakes.training import Checkpoint, EarlyStopping, MetricMonitor


def save(checkpoint, values):
    return [checkpoint.step(value, lambda path: path.write_text("model"), suffix=".txt") for value in values]


def test_folder_holds_the_last_and_the_best_epoch_and_nothing_else(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", min_delta=0.05)
    assert save(checkpoint, [0.5, 0.3, 0.29, 0.4]) == [True, True, False, False]
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"checkpoint.json", "epoch-0001.txt", "epoch-0003.txt"}
    assert (checkpoint.best_path.name, checkpoint.last_path.name) == ("epoch-0001.txt", "epoch-0003.txt")


def test_a_state_that_writes_elsewhere_is_named_and_leaves_the_run_as_it_was(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run")
    save(checkpoint, [0.5])
    for state in (lambda _: None, lambda path: Path(f"{path}.npy").write_text("model")):  # as numpy.save names it
        with pytest.raises(ValueError, match=r"^state must write a file to the path it is given, .* and wrote none\.$"):
            checkpoint.step(0.4, state, suffix=".txt")
    assert (checkpoint.epoch, Checkpoint(tmp_path / "run").epoch) == (1, 1)


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
        Checkpoint(tmp_path, MetricMonitor(penalty=1.0))


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
    names = [re.sub("[0-9a-f]{16}", "*", name) for name in names]
    assert names == [".stakes-*.txt", tmp_path.name, ".stakes-*.json", tmp_path.name]


KILLED = """
import os, signal, sys
from stakes.training import Checkpoint
from stakes.training._epochs import Record

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
    Record.written = die
if point == "before old files go":
    Record.remove_others = die
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
    # nothing that the killed process left behind is still there
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint.json", again.best_path.name}


BAD = [
    ({"last": "../victim.txt"}, "last in .* must be the name of a file of epoch 1, got '../victim.txt'"),
    ({"last": "epoch-0001.txt/../../victim.txt"}, "last in"),
    ({"last": "epoch-0000.txt"}, "last in"),
    ({"last": None}, "last in"),
    ({"last": 1}, "last in"),
    ({"best": "../victim.txt"}, "best in .* must be the name of a file of epoch 1"),
    ({"best": "/etc/passwd"}, "best in"),
    ({"best": None}, "best in"),
    ({"best_epoch": 7}, "best_epoch in .* must be an epoch of its history, got 7"),
    ({"best_epoch": True}, "best_epoch in"),
    ({"best_epoch": "1"}, "best_epoch in"),
    ({"history": {"0": 0.5}}, "is no record of a checkpoint"),
    ({"history": [0.5, "many"]}, "history in .* must hold numbers, got 'many'"),
    ({"history": [0.5, [0.4]]}, "history in"),
    ({"monitor": None}, "holds a checkpoint by None"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_crafted_record_is_refused_and_touches_no_file_outside(tmp_path, change, message):
    folder, victim = tmp_path / "run", tmp_path / "victim.txt"
    victim.write_text("mine")
    save(Checkpoint(folder), [0.5, 0.4])
    record = folder / "checkpoint.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | change))
    with pytest.raises(ValueError, match=message):
        save(Checkpoint(folder), [0.3, 0.2])
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"last": null}', "[" * 100_000, "\xff"])
def test_file_that_is_no_record_is_refused(tmp_path, text):
    (tmp_path / "checkpoint.json").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match="is no record of a checkpoint"):
        Checkpoint(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there.")
@pytest.mark.parametrize("name", ["epoch-0000.txt", "checkpoint.json"])
def test_link_in_the_folder_does_not_lead_the_writer_out_of_it(tmp_path, name):
    folder, victim = tmp_path / "run", tmp_path / "victim.txt"
    folder.mkdir()
    (folder / name).symlink_to(victim)
    checkpoint = Checkpoint(folder)
    victim.write_text("mine")
    if name == "checkpoint.json":  # the link led nowhere when the record was read, and now does
        with pytest.raises(RuntimeError, match="another process has changed"):
            save(checkpoint, [0.5])
    else:
        save(checkpoint, [0.5])
        assert not checkpoint.last_path.is_symlink()
    assert victim.read_text() == "mine"


def test_second_writer_of_a_folder_is_refused_and_changes_nothing(tmp_path):
    first, second = Checkpoint(tmp_path), Checkpoint(tmp_path)

    def both(path):  # the second writer saves the same epoch while the first is still writing it
        path.write_text("first")
        second.step(0.4, lambda other: other.write_text("second"), suffix=".txt")

    with pytest.raises(RuntimeError, match=r"another process has changed .*checkpoint.json.* folder of its own"):
        first.step(0.5, both, suffix=".txt")
    again = Checkpoint(tmp_path)
    assert (again.history, again.last_path.read_text()) == ([0.4], "second")
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint.json", "epoch-0000.txt"}
    assert (first.epoch, first.last_path) == (0, None)


def test_files_that_are_no_epochs_stay_and_unknown_epochs_are_not_taken_over(tmp_path):
    for name in ("notes.txt", "epoch-notes.txt", "epoch-1.txt", ".stakes-mine.txt"):
        (tmp_path / name).write_text("mine")
    save(Checkpoint(tmp_path), [0.5, 0.4, 0.3])
    assert {path.name for path in tmp_path.iterdir() if path.read_text() == "mine"} == {
        "notes.txt",
        "epoch-notes.txt",
        "epoch-1.txt",
        ".stakes-mine.txt",
    }
    (tmp_path / "epoch-0007.txt").write_text("of another tool")
    with pytest.raises(ValueError, match=r"holds 'epoch-0007\.txt', of which no record knows: take another folder"):
        Checkpoint(tmp_path)


def test_record_that_cannot_be_written_leaves_the_checkpoint_as_it_was(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path)
    save(checkpoint, [0.5])
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", lambda *_args, **_options: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            checkpoint.step(0.4, lambda path: path.write_bytes(b"model"), suffix=".txt")
    assert (checkpoint.history, checkpoint.last_path.name) == ([0.5], "epoch-0000.txt")
    assert save(checkpoint, [0.3]) == [True]
    assert Checkpoint(tmp_path).history == [0.5, 0.3]


@pytest.mark.parametrize("suffix", ["/../victim.txt", "/x", "..", "pt", ".a b", 3, None])
def test_suffix_stays_a_suffix(tmp_path, suffix):
    with pytest.raises(ValueError, match="suffix must be that of a file"):
        Checkpoint(tmp_path / "run").step(0.5, lambda path: path.write_text("model"), suffix=suffix)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", ["2.9.1", "2.5.1+cu121", "1.13.0", "unknown"])
def test_old_pytorch_reads_no_checkpoint(tmp_path, monkeypatch, version):
    def load(*_, **__):
        raise AssertionError("a file was read")

    checkpoint = Checkpoint(tmp_path)
    checkpoint.step(0.5, lambda path: path.write_bytes(b"crafted"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__=version, load=load))
    message = f"read with PyTorch 2.10 or newer, got {re.escape(version)}: .*CVE-2026-24747.*pip install 'torch>=2.10'"
    with pytest.raises(ImportError, match=message):
        checkpoint.load()


@pytest.mark.parametrize("version", ["2.10.0", "2.13.0+cpu", "3.0.0a0+git1234"])
def test_newer_pytorch_reads_weights_only(tmp_path, monkeypatch, version):
    def load(path, *, map_location, weights_only):
        return path.name, map_location, weights_only

    checkpoint = Checkpoint(tmp_path)
    checkpoint.step(0.5, lambda path: path.write_bytes(b"weights"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__=version, load=load))
    assert checkpoint.load("best", map_location="cpu") == ("epoch-0000.pt", "cpu", True)


def test_state_of_pytorch_comes_back(tmp_path):
    torch = pytest.importorskip("torch")
    checkpoint = Checkpoint(tmp_path)
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    checkpoint.step(0.5, {"model": layer.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3})
    again = Checkpoint(tmp_path).load()
    assert again["epoch"] == 3
    assert torch.equal(again["model"]["weight"], layer.weight)
    assert again["optimizer"]["state"][0]["step"] == 1


def test_pytorch_file_that_holds_code_is_refused(tmp_path):
    pytest.importorskip("torch")
    checkpoint = Checkpoint(tmp_path)
    marker = tmp_path / "ran"
    # what pickle.dumps gives for an object whose __reduce__ is (open, (marker, "w"))
    text = f"cbuiltins\nopen\n(V{marker}\nVw\ntR.".encode()
    checkpoint.step(0.5, lambda path: path.write_bytes(text))
    with pytest.raises(Exception, match=r"weights_only|Unsupported"):
        checkpoint.load()
    assert not marker.exists()


def test_early_stopping_says_its_best_epoch_once_there_is_one():
    assert ", no epoch yet, wait 0 of 4)" in repr(EarlyStopping(patience=4))
    assert ", best 0.3 at epoch 1, wait 1 of 4)" in repr(EarlyStopping(patience=4, history=[0.5, 0.3, 0.4]))
