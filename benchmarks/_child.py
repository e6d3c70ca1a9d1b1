"""Measure one entry, alone in this process: its answer, its time, its peak memory. Talks JSON with `_run`.

Everything runs once on a few rows first, so that libraries loaded at first use count as imports. Memory is what the
process holds at most above that point: inputs, preparation and results. Time is that of the processor (all threads) for
the entry's `run` alone, after one warm-up at full size; freeing the result is not timed.
"""

import json
import statistics
import sys
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks._data import load_inputs, make_inputs
from benchmarks._rows import Measured

TINY_ROWS = 1000
MIN_TOTAL_SECONDS = 0.5  # short runs are repeated at least this long
PROCESS = Path("/proc/self")


def measure(entry, load, *, repeat, tiny, at_least=MIN_TOTAL_SECONDS):
    """Return the measurements of an entry on the inputs that `load()` returns, from `repeat` runs or more."""
    entry.run(entry.prepare(tiny))
    held = _reset_peak()
    inputs = load()
    ready = entry.prepare(inputs)
    answer = _answer(entry, ready)
    times = _times(entry, ready, repeat, at_least)
    peak = None if held is None else _memory("VmHWM") - held
    clock, best = (min(values) for values in zip(*times, strict=True))
    median = statistics.median(cpu for _, cpu in times)
    return Measured(best, median, clock, len(times), inputs.nbytes, peak, answer)


def _answer(entry, ready):
    result = entry.run(ready)
    if entry.answer is None:
        return None
    return np.atleast_1d(np.asarray(entry.answer(result), dtype=float)).tolist()


def _times(entry, ready, repeat, at_least):
    times, end = [], time.perf_counter() + at_least
    while len(times) < repeat or time.perf_counter() < end:
        times.append(_once(entry, ready))
    return times


def _once(entry, ready):
    """Return the seconds on the clock and those of the processor (all threads)."""
    cpu, start = time.process_time(), time.perf_counter()
    result = entry.run(ready)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    del result
    return seconds, cpu


def _reset_peak():
    """Start a new peak and return what is held now; None where the system does not tell (Linux does)."""
    if not (PROCESS / "clear_refs").exists():
        return None
    (PROCESS / "clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def _memory(field):
    # not ru_maxrss: a child process starts with its parent's
    lines = (PROCESS / "status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def main():
    task = json.load(sys.stdin)
    suite = import_module(f"benchmarks.{task['suite']}")
    row = next(row for row in suite.ROWS if row.name == task["row"])
    kind = {"tied": row.tied, "weighted": row.weighted}
    # a benchmark whose inputs are files makes and finds them itself
    load, make = getattr(suite, "load", load_inputs), getattr(suite, "make", make_inputs)
    measured = measure(
        row.entries[task["entry"]],
        lambda: load(Path(task["folder"]), **kind),
        repeat=task["repeat"],
        tiny=make(TINY_ROWS, **kind),
    )
    print(json.dumps(asdict(measured)))


if __name__ == "__main__":
    main()
