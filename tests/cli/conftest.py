"""Run the command line in this process, in an empty folder, and see what it leaves."""

import contextlib
import io
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from stakes.cli import main
from tests.cli import schemas


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    """Let the tests see the same text whatever terminal they are started from."""
    for variable in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # an unbuffered stdout fails at another moment


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder that is the current one."""
    path = tmp_path / "work"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def cli(folder, capsys, monkeypatch):  # noqa: ARG001  (it makes the folder the current one)
    """Return a function that runs `stakes` with arguments in the empty folder."""
    for library in ("click", "rich", "polars"):
        pytest.importorskip(library)

    def call(*argv, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main([str(argument) for argument in argv])
        captured = capsys.readouterr()
        if captured.out and "--json" in argv:
            schemas.check(captured.out)
        return Outcome(code, captured.out, captured.err)

    return call


def predictions(rows=400, seed=3):
    """Return columns of an outcome, two models and weights."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(1.0, 6.0, rows)
    cancer = (rng.random(rows) < risk).astype(int)
    blurred = np.clip(risk + rng.normal(0.0, 0.08, rows), 0.0, 1.0)
    return {
        "cancer": cancer.tolist(),
        "sharp": risk.round(6).tolist(),
        "blurred": blurred.round(6).tolist(),
        "weight": rng.integers(1, 4, rows).astype(float).tolist(),
    }


@pytest.fixture(scope="session")
def columns():
    return predictions()


@pytest.fixture
def data(tmp_path, columns):
    """Return a CSV file of predictions, outside the folder that must stay empty."""
    return write_csv(tmp_path / "predictions.csv", columns)


def scored(rows=1500, seed=4):
    """Return columns of an outcome, a score from few or many examples, and an uncertainty that says how many."""
    rng = np.random.default_rng(seed)
    evidence = np.exp(rng.uniform(0.0, np.log(300.0), rows)).astype(int)
    truth = rng.beta(0.5, 1.0, rows)
    return {
        "outcome": (rng.random(rows) < truth).astype(int).tolist(),
        "risk": ((rng.binomial(evidence, truth) + 0.1) / (evidence + 0.2)).round(6).tolist(),
        "spread": (1.0 / np.sqrt(evidence)).round(6).tolist(),
    }


# What every command about boundaries is told of such columns.
ROLES = ["--label", "outcome", "--score", "risk", "--uncertainty", "spread"]


@pytest.fixture(scope="session")
def scores():
    return scored()


@pytest.fixture
def rows(tmp_path, scores):
    """Return a CSV file of labelled rows with score and uncertainty, outside the folder that must stay empty."""
    return write_csv(tmp_path / "scored.csv", scores)


@pytest.fixture(scope="session")
def boundary(tmp_path_factory, scores):
    """Return the text of the boundary that was fitted to them, once."""
    for library in ("click", "rich", "polars"):
        pytest.importorskip(library)
    folder = tmp_path_factory.mktemp("boundary")
    rows, path = write_csv(folder / "scored.csv", scores), folder / "boundary.json"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = main(["boundary", "fit", str(rows), *ROLES, "--min-precision", "0.6", "-o", str(path)])
    assert code == 0, said.getvalue()
    return path.read_text(encoding="utf-8")


@pytest.fixture
def kept(tmp_path, boundary):
    """Return a file of that boundary."""
    path = tmp_path / "boundary.json"
    path.write_text(boundary, encoding="utf-8")
    return path


def write_csv(path, columns):
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
