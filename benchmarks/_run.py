"""Run the rows of a benchmark, each measurement in a process of its own, one after the other, on one thread."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

from benchmarks._data import save_columns
from benchmarks._rows import Entry, Measured, Row
from tools.every import ROOT, version_of

THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"),
)


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    row: Row
    rows: int
    entry: Entry
    measured: Measured

    def record(self):
        about = {"row": self.row.name, "rows": self.rows, "library": self.entry.library, "call": self.entry.call}
        return {**about, **asdict(self.measured)}


def run_rows(suite, rows, sizes, *, repeat):
    """Measure, and return the lines of the table with notes on what was left out and why."""
    absent = {entry.library for row in rows for entry in row.peers if version_of(entry.library) is None}
    notes = [f"{name} is not installed: its lines are left out (see benchmarks/README.md)." for name in sorted(absent)]
    notes += _size_notes(rows, sizes, absent)
    lines = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            # a benchmark whose inputs are files writes them itself
            getattr(import_module(f"benchmarks.{suite}"), "save", save_columns)(size, Path(folder))
            task = {"suite": suite, "folder": folder, "repeat": repeat}
            for row in rows:
                lines += _run_row(task, row, size, absent, notes)
    return sorted(lines, key=lambda line: rows.index(line.row)), notes


def _run_row(task, row, size, absent, notes):
    """Measure stakes and its peers; what fails gets a note, and without our own time there is no race."""
    lines = []
    for index, entry in enumerate(row.entries):
        if entry.library in absent or size > entry.max_rows:
            continue
        try:
            measured = _in_child(task | {"row": row.name, "entry": index})
        except RuntimeError as error:
            notes.append(f"{entry.library} failed on {row.name!r} at {size:,} rows: {error}")
            if entry is row.ours:
                break
            continue
        print(f"{size:>12,} rows {1e3 * measured.best:11.3f} ms  {row.name}: {entry.library}", file=sys.stderr)
        lines.append(Line(row, size, entry, measured))
    return lines


def _size_notes(rows, sizes, absent):
    peers = [entry for row in rows for entry in row.peers if entry.library not in absent]
    limits = sorted({entry.max_rows for entry in peers if entry.max_rows < max(sizes)})
    return [f"Peers whose lines end there are measured up to {limit:,} rows." for limit in limits]


def _in_child(task):
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
    command = [sys.executable, "-m", "benchmarks._child"]
    child = subprocess.run(
        command, input=json.dumps(task), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if child.returncode != 0:
        raise RuntimeError((child.stderr.strip().splitlines() or [f"exit status {child.returncode}"])[-1])
    return Measured(**json.loads(child.stdout.splitlines()[-1]))
