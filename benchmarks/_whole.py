"""Measure whole processes and calls alone in a process: CPU seconds, peak memory, growth over three sizes."""

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks._child import _memory, _reset_peak
from benchmarks._run import ROOT, THREAD_VARIABLES
from benchmarks._table import _pipes, _short

CPU_LIMIT = 180  # seconds, after which a measurement is given up
REPEAT = 3  # runs of which the least counts, while they take no longer than this together
ENOUGH = 6.0
LOSS = 4 / 3  # a ratio that rose by more than a third is a loss
WRAPPER = """
import json, os, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
quiet = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_WRONLY, 0) for n in (1, 2)]
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=quiet)
status, used = os.wait4(pid, 0)[1:]
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""


@dataclass(frozen=True)
class Call:
    """A call of the library or of a peer; what `prepare(size, folder)` returns is passed in, and is not timed."""

    library: str
    call: str
    run: Callable[[Any], Any]
    prepare: Callable[[int, Path], Any]
    tiny: int = 200  # a first run at that size loads what is loaded at first use


@dataclass(frozen=True)
class Command:
    """A whole process; `prepare(size, folder)` writes its files."""

    library: str
    call: str
    arguments: Callable[[Path], list[str]]
    prepare: Callable[[int, Path], Any] = lambda _size, _folder: None


@dataclass(frozen=True)
class Cliff:
    """One question at three sizes, beside its peer or the least that any way has to do."""

    name: str
    ours: Call | Command
    limit: Call | Command
    sizes: tuple[int, ...]
    small: tuple[int, ...]

    @property
    def peers(self):
        return (self.limit,)


@dataclass(frozen=True)
class Pair:
    """CPU seconds and peak bytes of a question at one size, and of its limit."""

    name: str
    size: int
    cpu: float
    peak: float
    limit: str
    limit_cpu: float
    limit_peak: float

    @cached_property
    def ratio(self):
        return self.cpu / self.limit_cpu


def run_rows(suite, rows, *, small):
    """Measure every row at its sizes; what fails is noted."""
    pairs, notes = [], []
    for row in rows:
        found, error = (_commands if isinstance(row.ours, Command) else _calls)(suite, row, small)
        for size in sizes_of(row, small):
            if {("ours", size), ("limit", size)} <= found.keys():
                limit = f"{row.limit.library} {row.limit.call}"
                pairs.append(Pair(row.name, size, *found["ours", size], limit, *found["limit", size]))
                print(
                    f"{row.name}: {size:,} {pairs[-1].cpu:.3g} s, {pairs[-1].ratio:.3g} x", file=sys.stderr, flush=True
                )
            else:
                notes.append(f"{row.name!r} failed at {size:,}: {error}")
    return pairs, notes


def sizes_of(row, small):
    return row.small if small else row.sizes


def _environment():
    """One thread, and modules compiled once, as an installed program finds them."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | dict.fromkeys(THREAD_VARIABLES, "1")


def _commands(_suite, row, small):
    """CPU seconds and peak bytes of whole processes, started by a small one: a child's peak starts at its parent's."""
    found, error = {}, ""
    for size in sizes_of(row, small):
        for which, one in (("ours", row.ours), ("limit", row.limit)):
            with tempfile.TemporaryDirectory() as folder:
                one.prepare(size, Path(folder))
                command = [sys.executable, "-S", "-c", WRAPPER, str(CPU_LIMIT), *one.arguments(Path(folder))]
                runs = []
                while len(runs) < REPEAT and sum(run[1] for run in runs) < ENOUGH:
                    child = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, check=True)
                    runs.append(json.loads(child.stdout))
            if any(run[0] for run in runs):
                error = f"{one.call}: exit status {runs[-1][0]}"
            else:
                found[which, size] = min(run[1] for run in runs), min(run[2] for run in runs)
    return found, error


def _calls(suite, row, small):
    """CPU seconds and peak bytes of the calls of one row, all in one process."""
    arguments = [sys.executable, "-m", "benchmarks._whole", suite, row.name, "small" if small else "full"]
    child = subprocess.run(arguments, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
    error = (child.stderr.strip().splitlines() or [f"exit status {child.returncode}"])[-1]
    return {(which, size): (cpu, peak) for which, size, cpu, peak in lines}, error


def measure_here(one, size, folder):
    """In the child: CPU seconds of the call alone, and its peak memory above what was held, inputs included."""
    held = _reset_peak()
    ready = one.prepare(size, folder)
    times = [_batch(one, ready)]
    while len(times) < REPEAT and sum(times) < ENOUGH:
        times.append(_batch(one, ready))
    return min(times), math.nan if held is None else _memory("VmHWM") - held


def _batch(one, ready):
    """CPU seconds of a run, from as many as take a tenth of a second: the clock of a process may be coarse."""
    count, cpu, start = 0, time.process_time(), time.perf_counter()
    while (time.process_time() < cpu + 0.1 and time.perf_counter() < start + 1.0) or not count:
        one.run(ready)
        count += 1
    return max(time.process_time() - cpu, 1e-9) / count


def growth(pairs):
    """Exponent of the CPU time of one row over its sizes (least squares on logarithms); nan for one size."""
    x, y = ([math.log(value) for value in values] for values in zip(*((p.size, p.cpu) for p in pairs), strict=True))
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread if spread else math.nan


def to_table(pairs):
    """Return a Markdown table with a line for each row and size."""
    lines = [("row", "size", "CPU s", "peak MB", "limit", "CPU s", "peak MB", "ratio", "exponent"), ("---",) * 9]
    for pair in pairs:
        mine = [other for other in pairs if other.name == pair.name]
        exponent = f"{growth(mine):.2f}" if pair is mine[-1] and len(mine) > 1 else ""
        ours, limit = (
            (_short(c), _short(p / 1e6)) for c, p in ((pair.cpu, pair.peak), (pair.limit_cpu, pair.limit_peak))
        )
        lines.append((pair.name, f"{pair.size:,}", *ours, pair.limit, *limit, _short(pair.ratio), exponent))
    return _pipes(lines)


def losses(pairs, committed):
    """Say which ratios rose by more than a third against the committed table; rows that are new there are not told."""
    known = {(line["name"], line["size"]): line["ratio"] for line in committed}
    return [
        f"{pair.name} at {pair.size:,}: {pair.ratio:.3g} x its limit, {known[pair.name, pair.size]:.3g} x committed"
        for pair in pairs
        if pair.ratio > LOSS * known.get((pair.name, pair.size), math.inf)
    ]


def records(pairs):
    """Return what is committed."""
    return [asdict(pair) | {"ratio": pair.ratio} for pair in pairs]


def main(suite, name, which):
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    row = next(row for row in import_module(f"benchmarks.{suite}").ROWS if row.name == name)
    with tempfile.TemporaryDirectory() as folder:
        for part in ("ours", "limit"):
            one = getattr(row, part)
            one.run(one.prepare(one.tiny, Path(folder)))  # what is loaded at first use counts as imports
            for size in sizes_of(row, which == "small"):
                print(json.dumps([part, size, *measure_here(one, size, Path(folder))]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
