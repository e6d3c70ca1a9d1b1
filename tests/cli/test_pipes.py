"""What is a pipe is read once, from its start, by every command: /dev/stdin, <(...) of a shell, and named pipes."""

import gzip
import io
import json
import os
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import ROLES

pl = pytest.importorskip("polars")
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes.")

JUDGED = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3"]
COMMANDS = {
    "evaluate": [*JUDGED, "--json"],
    "compare": [*JUDGED, "--json"],
    "check": [*JUDGED, "--json"],
    "decide": ["--models", "sharp", "--measure", "f1", "--json"],
    "correct": ["--models", "sharp", "--scale-pos-weight", "3", "--label", "cancer", "--json"],
    "update": ["--label", "cancer", "--models", "sharp", "--json"],
}


def as_format(frame, kind, path):
    """Return the bytes of a file of some format."""
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc, "jsonl": frame.write_ndjson}[
        kind.removesuffix(".gz")
    ](path)
    data = path.read_bytes()
    return gzip.compress(data, mtime=0) if kind.endswith(".gz") else data


@pytest.fixture
def piped(tmp_path):
    """Return a function that makes a named pipe into which bytes are written once."""
    writers = []

    def make(data, name):
        path = tmp_path / name
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(data,), daemon=True)
        writer.start()
        writers.append(writer)
        return path

    yield make
    for writer in writers:
        writer.join(timeout=10)
        assert not writer.is_alive()


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "arrow", "jsonl"])
@pytest.mark.parametrize("command", ["evaluate", "decide"])
def test_named_pipe_is_read_as_the_file_would_be(command, kind, columns, cli, piped):
    folder = Path.cwd().parent
    data = as_format(pl.DataFrame(columns), kind, folder / "plain")
    file = folder / f"f.{kind}"
    file.write_bytes(data)
    known = cli(command, file, *COMMANDS[command])
    outcome = cli(command, piped(data, f"pipe.{kind}"), *COMMANDS[command])
    assert (outcome.code, known.code) == (0, 0), outcome.err
    assert outcome.out.replace("pipe.", "f.") == known.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_what_a_shell_substitutes(command, columns, cli, tmp_path):
    data = as_format(pl.DataFrame(columns), "csv", tmp_path / "plain.csv")
    end, start = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(start, data), os.close(start)))
    writer.start()
    try:
        outcome = cli(command, f"/dev/fd/{end}", *COMMANDS[command])
    finally:
        writer.join()
        os.close(end)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)


COPIED = {
    "correct": ["--models", "sharp", "--scale-pos-weight", "3", "--label", "cancer"],
    "update": ["--models", "sharp", "--label", "cancer"],
}


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "arrow", "jsonl"])
@pytest.mark.parametrize("command", COPIED)
def test_rows_are_tested_and_copied_in_one_reading(command, kind, columns, cli, piped):
    folder = Path.cwd().parent
    data = as_format(pl.DataFrame(columns), kind, folder / "plain")
    (folder / "rows").write_bytes(data)
    copies, files = ("file.csv", "pipe.csv", "input.csv"), (folder / "rows", piped(data, "pipe"), "-")
    asked = [*COPIED[command], "--format", kind.removesuffix(".gz")]
    done = [
        cli(command, file, *asked, "-o", copy, stdin=data if file == "-" else None)
        for file, copy in zip(files, copies, strict=True)
    ]
    assert [(each.code, each.out) for each in done] == [(0, done[0].out)] * 3, done[1].err
    assert len({Path(copy).read_bytes() for copy in copies}) == 1


def test_a_day_from_a_pipe_counts_once_as_its_file_does(columns, cli, piped):
    folder = Path.cwd().parent
    data = as_format(pl.DataFrame(columns), "csv", folder / "rows.csv")
    cli("evaluate", folder / "rows.csv", *JUDGED[:4], "--costs", "0.05:0.3", "--keep", "kept.json")
    known = None
    for file in (folder / "rows.csv", piped(data, "day.pipe"), "-"):
        Path("w.json").unlink(missing_ok=True)
        cli("watch", "start", "kept.json", "--label", "cancer", "--state", "w.json")
        asked = ["--state", "w.json", "--day"]
        added = cli("watch", "add", file, *asked, "1", "--json", stdin=data)
        assert (added.code, added.out) == (0, known or added.out), added.err
        known, again = added.out, cli("watch", "add", folder / "rows.csv", *asked, "2")
        assert (again.code, "was counted already, on day 1" in again.err) == (3, True)


def test_a_rule_from_a_pipe_is_exported_with_the_columns_that_it_names(kept, cli, piped):
    known = cli("export", kept, "--to", "sql")
    assert (known.code, "risk" in known.out, "spread" in known.out) == (0, True, True)
    for file, given in ((piped(kept.read_bytes(), "rule.pipe"), None), ("-", kept.read_bytes())):
        assert cli("export", file, "--to", "sql", stdin=given).out == known.out


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_standard_input_by_its_name_as_a_file(kind, columns, tmp_path, forker):
    data = as_format(pl.DataFrame(columns), kind, tmp_path / "plain")
    end, start = os.pipe()
    with os.fdopen(end, "rb") as pipe:
        writer = threading.Thread(target=lambda: (os.write(start, data), os.close(start)))
        writer.start()
        done = forker.run("check", "/dev/stdin", *COMMANDS["check"], given=pipe)
        writer.join()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["source"] == "/dev/stdin"


@pytest.mark.parametrize("names", [("-", "/dev/stdin"), ("/dev/stdin", "/dev/fd/0"), ("-", "-"), ("/dev/fd/0",) * 2])
@pytest.mark.parametrize("command", [["apply", "-o", "new.csv"], ["monitor", "--label", "y", "--min-precision", "0.5"]])
def test_two_names_of_one_stream_are_refused(command, names, kept, forker):
    end, start = os.pipe()
    with os.fdopen(end, "rb") as pipe:
        os.write(start, kept.read_bytes())
        os.close(start)
        done = forker.run("boundary", command[0], *names, *command[1:], given=pipe)
    assert done.returncode == 2, done.stderr
    one, other = map(repr, names)
    said = f"error: {one} and {other} name one stream, which is read once: name a file for one of them\n"
    assert done.stderr.decode() == said


def test_two_pipes_and_a_file_named_twice_are_read(rows, kept, cli, piped):
    data, asked = Path(rows).read_bytes(), ["--format", "csv", "-o", "-"]
    known = cli("boundary", "apply", kept, rows, *asked)
    two = cli("boundary", "apply", piped(kept.read_bytes(), "rule.pipe"), piped(data, "rows.pipe"), *asked)
    assert (two.code, two.out) == (0, known.out), two.err
    again = cli("compare", kept, kept)
    assert "stream" not in again.err


def test_pipe_is_watched_as_its_file_would_be(rows, kept, cli, piped):
    data = Path(rows).read_bytes()
    asked = [*ROLES[:2], "--min-precision", "0.5", "--json"]
    outcome, known = (cli("boundary", "monitor", kept, file, *asked) for file in (piped(data, "scored.pipe"), rows))
    assert (outcome.code, known.code) == (0, 0), outcome.err
    assert outcome.out.replace("scored.pipe", "scored.csv") == known.out


@pytest.mark.parametrize("name", ["day.parquet", "day*.parquet"])
def test_engine_refuses_a_pipe_before_it_waits_for_it(name, cli, tmp_path):
    os.mkfifo(tmp_path / "day.parquet")  # nobody writes into it
    outcome = cli("evaluate", tmp_path / name, *JUDGED, "--engine", "polars")
    assert outcome.code == 3
    assert "day.parquet: is a pipe, which can be read once and from its start only: name it alone" in outcome.err


class Terminal(io.TextIOWrapper):
    """A standard input that someone types into."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("file", "typed"), [("-", True), ("p.csv", False)])
def test_reading_from_the_terminal_is_said_and_from_a_file_is_not(cli, folder, monkeypatch, file, typed):
    frame = pl.DataFrame({"cancer": [0, 1] * 20, "sharp": [0.1, 0.6] * 20, "blurred": [0.2, 0.5] * 20})
    frame.write_csv(folder / "p.csv")
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO((folder / "p.csv").read_bytes())))
    found = cli("evaluate", file, *JUDGED)
    assert found.code == 0, found.err
    assert ("reading from the terminal; Ctrl-D ends it" in " ".join(found.err.split())) == typed
