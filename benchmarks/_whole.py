"""Measure whole processes and calls alone in a process: CPU seconds, peak memory, growth over three sizes."""

import json
import math
import os
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

from benchmarks._child import PROCESS, _memory, _reset_peak
from benchmarks._run import ROOT, THREAD_VARIABLES
from benchmarks._table import _pipes, _short

CPU_LIMIT = 180  # seconds, after which a measurement is given up
REPEAT = 3
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


def measure(suite, row, entry, size, folder):
    """Return CPU seconds (least of some runs) and peak bytes of one entry."""
    one = row.ours if entry == "ours" else row.limit
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
    if isinstance(one, Command):
        one.prepare(size, folder)
        arguments = one.arguments(folder)
    else:
        arguments = [sys.executable, "-m", "benchmarks._whole", suite, row.name, entry, str(size), str(folder)]
    found = []
    for _ in range(REPEAT):
        if isinstance(one, Command):
            command = [sys.executable, "-S", "-c", WRAPPER, str(CPU_LIMIT), *arguments]
        else:
            command = arguments
        child = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        answer = json.loads(child.stdout.splitlines()[-1]) if child.returncode == 0 else [child.returncode, 0.0, 0.0]
        if answer[0]:
            last = (child.stderr.strip().splitlines() or [""])[-1]
            raise RuntimeError(f"{one.call}: exit status {answer[0]} {last}".strip())
        found.append(answer[1:])
        if not isinstance(one, Command) or answer[1] > 5.0:
            break
    return tuple(map(min, zip(*found, strict=True)))


def measure_here(one, size, folder):
    """In the child: CPU seconds of the call alone, and its peak memory above what was held, inputs included."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    one.run(one.prepare(one.tiny, folder))
    held = _reset_peak()
    ready = one.prepare(size, folder)
    start, times = time.perf_counter(), []
    while not times or (len(times) < REPEAT and time.perf_counter() < start + 5.0):
        cpu = time.process_time()
        result = one.run(ready)
        times.append(time.process_time() - cpu)
        del result
    return [0, min(times), _memory("VmHWM") - held if held is not None and PROCESS.exists() else math.nan]


def run_rows(suite, rows, *, small):
    """Measure every row at its sizes; what fails is noted."""
    pairs, notes = [], []
    for row in rows:
        for size in row.small if small else row.sizes:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    ours, limit = (measure(suite, row, entry, size, Path(folder)) for entry in ("ours", "limit"))
                except RuntimeError as error:
                    notes.append(f"{row.name!r} failed at {size:,}: {error}")
                    continue
            pairs.append(Pair(row.name, size, *ours, f"{row.limit.library} {row.limit.call}", *limit))
            print(f"{row.name}: {size:,} {ours[0]:.3f} s, limit {limit[0]:.3f} s", file=sys.stderr)
    return pairs, notes


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


if __name__ == "__main__":
    suite, name, which, size, folder = sys.argv[1:]
    row = next(row for row in import_module(f"benchmarks.{suite}").ROWS if row.name == name)
    print(json.dumps(measure_here(getattr(row, which), int(size), Path(folder))))
