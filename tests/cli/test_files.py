"""Files appear complete or not at all."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stakes.evaluation import Evaluation

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

RANGE = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3"]


@pytest.fixture
def plain_report(monkeypatch):
    """Stand in for the report, which has tests of its own."""
    monkeypatch.setattr("stakes.cli._deliver.require", lambda *_: None)
    monkeypatch.setattr(Evaluation, "to_html", lambda _, path: Path(path).write_text("<html></html>", encoding="utf-8"))


@pytest.mark.parametrize("name", ["r.json", "r.csv", "r.md", "r.txt", "R.JSON"])
def test_output_is_written_in_the_format_of_its_name(name, data, cli, folder):
    outcome = cli("evaluate", data, *RANGE, "--output", name)
    assert (outcome.code, outcome.out) == (0, ""), outcome.err
    assert "result written to" in outcome.err
    assert [path.name for path in folder.iterdir()] == [name]
    text = (folder / name).read_text(encoding="utf-8")
    if name.lower() == "r.json":
        assert text == cli("evaluate", data, *RANGE, "--json").out
    elif name == "r.csv":
        assert pl.read_csv(folder / name)["model"].to_list() == ["sharp", "blurred", "treat all", "treat none"]
    elif name == "r.md":
        assert text.startswith("| model |")
    else:
        assert "vs treat none" in text
        assert "\x1b" not in text


@pytest.mark.usefixtures("plain_report")
def test_report_and_output_replace_older_files(data, cli, folder):
    for name in ("r.html", "r.json"):
        (folder / name).write_text("old", encoding="utf-8")
    outcome = cli("evaluate", data, *RANGE, "--report", "r.html", "--output", "r.json")
    assert outcome.code == 0, outcome.err
    assert (folder / "r.html").read_text(encoding="utf-8") == "<html></html>"
    assert json.loads((folder / "r.json").read_text(encoding="utf-8"))["models"]
    assert sorted(path.name for path in folder.iterdir()) == ["r.html", "r.json"]


def test_link_to_a_file_stays_a_link(data, cli, folder, tmp_path):
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (folder / "r.json").symlink_to(tmp_path / "real.json")
    assert cli("evaluate", data, *RANGE, "--output", "r.json").code == 0
    assert (folder / "r.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text(encoding="utf-8"))["models"]


@pytest.mark.parametrize(
    "failure",
    [
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyError("score"), 1, "--debug"),
        (MemoryError(), 1, "memory"),
        (ImportError("the report needs plotly: pip install 'stakes[report]'"), 1, "stakes[report]"),
    ],
)
@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.usefixtures("plain_report")
def test_failure_while_writing_leaves_the_folder_as_it_was(failure, before, data, cli, monkeypatch):
    error, code, part = failure
    folder = Path.cwd()

    def fail(_, path):
        Path(path).write_text("<html>", encoding="utf-8")
        raise error

    if before is not None:
        (folder / "r.html").write_text(before, encoding="utf-8")
    monkeypatch.setattr(Evaluation, "to_html", fail)
    outcome = cli("evaluate", data, *RANGE, "--report", "r.html", "--output", "r.json")
    assert (outcome.code, outcome.out) == (code, "")
    assert part in outcome.err
    assert "Traceback" not in outcome.err
    left = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert left == ({} if before is None else {"r.html": "old"})


def test_missing_report_library_is_told_before_the_work(data, cli, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    outcome = cli("evaluate", data, *RANGE, "--report", "r.html")
    assert outcome.code == 1
    assert "pip install 'stakes[report]'" in outcome.err
    assert list(folder.iterdir()) == []


def test_folder_is_no_target(data, cli, folder):
    (folder / "r.json").mkdir()
    outcome = cli("evaluate", data, *RANGE, "--output", "r.json")
    assert outcome.code == 2
    assert "folder" in outcome.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full.")
def test_full_disk_behind_stdout_is_one_message_and_no_report(data, folder):
    pytest.importorskip("plotly")
    command = [sys.executable, "-m", "stakes", "evaluate", data, *RANGE, "--report", "r.html"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("error: No space left on device")
    assert len(run.stderr.splitlines()) == 2
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals.")
def test_interruption_leaves_nothing_and_exits_with_130(folder):
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a shell may have it ignored
        "from stakes.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", program, "evaluate", "-", *RANGE, "--output", "r.json"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"cancer,sharp,blurred\n" + b"0,0.5,0.5\n" * 50_000)  # more than a pipe holds: it is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.decode()) == (130, "interrupted\n")
    assert list(folder.iterdir()) == []
