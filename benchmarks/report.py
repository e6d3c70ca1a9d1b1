"""From a file of predictions to the interactive report: reading, evaluating, writing the page.

The file is Parquet with a label and 4 models at a million rows, 2 at ten million; another process writes it. Time is of
runs after a warm-up. Memory is that of the first report of a process, above its imports, held against the columns of
the file as float64: what a data-frame library keeps of freed memory is not counted against a second report.
"""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._child import TINY_ROWS, _memory, _reset_peak
from benchmarks._data import SEED, make_columns
from benchmarks._rows import Entry, Goal, Row

SIZES = (10**6, 10**7)
COSTS = (0.02, 0.10)
CALL = "read_predictions, evaluate, to_html"


@dataclass(frozen=True)
class File:
    """A file of predictions, and where to write the report."""

    folder: str
    rows: int
    models: int
    kept: tempfile.TemporaryDirectory | None = None  # deleted with this

    @property
    def predictions(self):
        return Path(self.folder) / "predictions.parquet"

    @property
    def report(self):
        return Path(self.folder) / "report.html"


def write_predictions(path, rows, models, *, amounts=False):
    import polars as pl

    columns, rng = make_columns(rows), np.random.default_rng(SEED)
    scores = {}
    for k in range(models):
        noise = 0.01 * (k + 1) * rng.normal(size=rows)
        scores[f"model {k}"] = np.clip(columns["score"] + noise, 0.0, 1.0)
    stakes = {"amount": rng.lognormal(4.0, 1.0, rows)} if amounts else {}
    pl.DataFrame({"y": columns["y"].astype(np.float64), **scores, **stakes}).write_parquet(path)


def saved(inputs, models):
    folder = tempfile.TemporaryDirectory()
    file = File(folder.name, len(inputs.y), models, folder)
    in_process("write", file)
    return file


def in_process(task, file):
    """Do a task in a process of its own and return what it prints."""
    command = [sys.executable, "-m", "benchmarks.report", task, file.folder, str(file.rows), str(file.models)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def to_report(file):
    from stakes.core.options import Options
    from stakes.costs import as_costs
    from stakes.evaluation._evaluate import evaluate_predictions
    from stakes.tables import read_predictions

    options = Options(costs=as_costs(COSTS)).checked()
    evaluation = evaluate_predictions(read_predictions(file.predictions, label="y"), options)
    evaluation.to_html(file.report)
    return file.report


def memory_of_the_first(file):
    """Peak memory above the imports, by the size of the columns; nan where the system does not tell."""
    with tempfile.TemporaryDirectory() as folder:
        tiny = File(folder, TINY_ROWS, file.models)
        write_predictions(tiny.predictions, TINY_ROWS, file.models)
        to_report(tiny)
    held = _reset_peak()
    to_report(file)
    return float("nan") if held is None else (_memory("VmHWM") - held) / (8 * (file.models + 1) * file.rows)


def row(models, rows, seconds):
    prepare = partial(saved, models=models)
    goal = Goal(f"at most {seconds} s", lambda by: by["stakes"].best, seconds, "s", rows=rows)
    return Row(f"{models} models", Entry("stakes", CALL, to_report, prepare=prepare, max_rows=rows), goals=(goal,))


def memory_row(models, rows):
    def measured(file):
        return float(in_process("measure", file))

    entry = Entry("stakes", CALL, measured, partial(saved, models=models), answer=lambda share: [share], max_rows=rows)
    goal = Goal("memory at most 4 x the columns", lambda by: by["stakes"].answer[0], 4.0, "x", rows=rows)
    return Row(f"{models} models, memory", entry, goals=(goal,))


ROWS = (row(4, 10**6, 6), row(2, 10**7, 25), memory_row(4, 10**6), memory_row(2, 10**7))

if __name__ == "__main__":
    task, folder, rows, models = sys.argv[1:]
    file = File(folder, int(rows), int(models))
    if task == "write":
        write_predictions(file.predictions, file.rows, file.models)
    else:
        sys.stdout.write(f"{memory_of_the_first(file)}\n")
