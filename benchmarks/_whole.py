"""Measure whole processes and calls alone in a process: CPU seconds, peak memory, growth over three sizes."""

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks._child import _memory, _reset_peak
from benchmarks._run import ROOT, THREAD_VARIABLES
from benchmarks._table import _pipes, _short

CPU_LIMIT = 180  # seconds, after which a measurement is given up
REPEAT = 5  # pairs of runs, the question and its limit by turns, while they take no longer than this together
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
    """One question at three sizes, beside its peer or the least that any way has to do.

    ``most`` are the CPU seconds and bytes that the largest may take.
    """

    name: str
    ours: Call | Command
    limit: Call | Command
    sizes: tuple[int, ...]
    small: tuple[int, ...]
    most: tuple[float, float] = (math.inf, math.inf)

    @property
    def peers(self):
        return (self.limit,)


@dataclass(frozen=True)
class Pair:
    """Least CPU seconds and peak bytes of a question at one size and of its limit; the middle one of their ratios."""

    name: str
    size: int
    cpu: float
    peak: float
    limit: str
    limit_cpu: float
    limit_peak: float
    ratio: float


def run_rows(suite, rows, *, small):
    """Measure every row at its sizes; what fails is noted."""
    pairs, notes = [], []
    for row in rows:
        found, error = (_commands if isinstance(row.ours, Command) else _calls)(suite, row, small)
        for size in sizes_of(row, small):
            if size in found:
                cpu, peak, limit_cpu, limit_peak, ratio = found[size]
                limit = f"{row.limit.library} {row.limit.call}"
                pairs.append(Pair(row.name, size, cpu, peak, limit, limit_cpu, limit_peak, ratio))
                if cpu > row.most[0] or peak > row.most[1]:
                    most = f"{row.most[0]:g} s and {row.most[1] / 1e6:g} MB"
                    notes.append(f"{row.name!r} took {cpu:.3g} s and {peak / 1e6:.3g} MB at {size:,}, more than {most}")
                print(f"{row.name}: {size:,} {cpu:.3g} s, {ratio:.3g} x", file=sys.stderr, flush=True)
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
        with ExitStack() as folders:
            both = [(one, Path(folders.enter_context(tempfile.TemporaryDirectory()))) for one in (row.ours, row.limit)]
            for one, folder in both:
                one.prepare(size, folder)
            runs = [[], []]
            for mine, (one, folder) in _by_turns(runs, both):
                command = [sys.executable, "-S", "-c", WRAPPER, str(CPU_LIMIT), *one.arguments(folder)]
                child = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, check=True)
                status, cpu, peak = json.loads(child.stdout)
                error = f"{one.call}: exit status {status}" if status else error
                mine.append((cpu, peak))
        if not error:
            found[size] = _summary(*runs)
    return found, error


def _by_turns(runs, both):
    """Yield where the next run is noted and what to run: by turns, so that what else is going on meets both alike."""
    while len(runs[0]) < REPEAT and sum(cpu for mine in runs for cpu, _ in mine) < ENOUGH:
        yield from zip(runs, both, strict=True)


def _summary(ours, limit):
    """Least CPU seconds and peak of both, and the middle one of the ratios of neighbouring runs."""
    ratios = [one / other for (one, _), (other, _) in zip(ours, limit, strict=True)]
    least = [min(values) for runs in (ours, limit) for values in zip(*runs, strict=True)]
    return (*least, statistics.median(ratios))


def _calls(suite, row, small):
    """CPU seconds and peak bytes of the calls of one row, all in one process."""
    arguments = [sys.executable, "-m", "benchmarks._whole", suite, row.name, "small" if small else "full"]
    child = subprocess.run(arguments, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
    error = (child.stderr.strip().splitlines() or [f"exit status {child.returncode}"])[-1]
    return {size: tuple(numbers) for size, *numbers in lines}, error


def measure_here(both, size, folder):
    """In the child: CPU seconds of the calls alone, by turns, and the peak memory of each above what was held before.

    The inputs of each are part of its peak.
    """
    ready, peaks = [], []
    for one in both:
        held = _reset_peak()
        ready.append((one, one.prepare(size, folder)))
        _batch(*ready[-1])
        peaks.append(math.nan if held is None else _memory("VmHWM") - held)
    runs = [[], []]
    for mine, ((one, inputs), peak) in _by_turns(runs, list(zip(ready, peaks, strict=True))):
        mine.append((_batch(one, inputs), peak))
    return _summary(*runs)


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
    return [asdict(pair) for pair in pairs]


def main(suite, name, which):
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    row = next(row for row in import_module(f"benchmarks.{suite}").ROWS if row.name == name)
    with tempfile.TemporaryDirectory() as folder:
        both = row.ours, row.limit
        for one in both:
            one.run(one.prepare(one.tiny, Path(folder)))  # what is loaded at first use counts as imports
        for size in sizes_of(row, which == "small"):
            print(json.dumps([size, *measure_here(both, size, Path(folder))]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
