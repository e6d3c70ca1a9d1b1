"""Long work tells how far it is, and the command line says how long the rest takes."""

import io
import time

import numpy as np
import pytest

from stakes import evaluate
from stakes.outputs.hooks import listening, report_progress, time_left


def test_the_rest_takes_as_long_as_what_was_done():
    assert time_left(1, 4, 20.0) == "about 60 s left"
    assert time_left(0, 4, 20.0) == time_left(4, 4, 20.0) == ""


def test_only_the_listener_hears_and_only_of_what_is_inside():
    heard = []
    report_progress(1, 2)
    with listening(lambda *steps: heard.append(steps)):
        report_progress(1, 2)
    report_progress(2, 2)
    assert heard == [(1, 2)]


def test_evaluation_and_reading_tell_to_their_end(tmp_path):
    polars = pytest.importorskip("polars")
    from stakes.tables import read_predictions

    rng = np.random.default_rng(0)
    columns = {"y": rng.integers(0, 2, 200_000), "a": rng.random(200_000), "b": rng.random(200_000)}
    polars.DataFrame(columns).write_parquet(tmp_path / "p.parquet")
    heard = []
    with listening(lambda *steps: heard.append(steps)):
        read_predictions(tmp_path / "p.parquet", label="y")
    assert heard == [(131_072, 200_000), (200_000, 200_000)]
    heard.clear()
    with listening(lambda *steps: heard.append(steps)):
        evaluate(columns.pop("y"), columns, costs=(0.2, 0.4))
    assert heard == [(k, 4) for k in range(1, 5)]


def test_a_terminal_shows_how_long_the_rest_takes(monkeypatch):
    rich_console = pytest.importorskip("rich.console")
    from stakes.cli import console as _console

    page = io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    shown = rich_console.Console(file=page, force_terminal=True, width=100)
    monkeypatch.setattr(_console, "console", lambda _stream: shown)
    with _console.working("Counting"):
        time.sleep(0.2)
        assert "left" not in page.getvalue()
        report_progress(1, 1000)
        time.sleep(0.5)
    assert "Counting" in page.getvalue()
    assert "s left" in page.getvalue()
