"""Print measurements as Markdown, with what they were made on and whether the goals are met."""

import math
import os
import platform
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import stakes
from benchmarks._data import DESCRIPTION
from benchmarks._run import ROOT, version_of

TIMES = ("best ms", "median ms", "cpu ms")
COLUMNS = ("row", "rows", "library", "call", *TIMES, "x stakes", "peak MB", "x inputs", "answer")
AGREEMENT = 1e-9
MIN_INPUT_BYTES = 10**6  # below this, memory is page noise
LEGEND = """\
One thread, each line in a process of its own; time is that of the call alone after one warm-up. "cpu" is the least
processor time of a run: less than the clock's where other processes took turns, more where threads shared the work.
"x stakes" is the best time divided by that of stakes on the same rows. "peak" is memory above the imports: inputs,
preparation and results; "x inputs" divides it by the arrays passed in. "answer" is the largest difference from stakes'
numbers, relative to the largest of them."""


def describe_run(libraries):
    """Return what a reader needs to judge the numbers: date, machine, load, versions, data."""
    versions = {name: version_of(name) for name in sorted(set(libraries))}
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": f"{_cpu_model()}, {os.cpu_count()} CPUs",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items() if version),
        "stakes": "working tree" if Path(stakes.__file__).is_relative_to(ROOT) else "an installed copy",
        "data": DESCRIPTION,
    }


def _cpu_model():
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    models = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def to_markdown(title, about, lines, notes):
    """Return the whole page."""
    facts = [f"- {name}: {value}" for name, value in about.items()]
    table = [COLUMNS, tuple("---" for _ in COLUMNS)]
    for _, group in groupby(lines, key=lambda line: (line.row.name, line.rows)):
        table += _cells(list(group))
    parts = [f"## {title}", "\n".join(facts), _pipes(table), LEGEND, _goal_table(lines)]
    parts += ["\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(part for part in parts if part)


def _cells(group):
    """Yield the table lines of one row at one size; the first is ours."""
    ours = group[0].measured
    for line in group:
        one = line.measured
        memory = ("-", "-")
        if one.peak is not None and one.inputs >= MIN_INPUT_BYTES:
            memory = f"{one.peak / 1e6:,.0f}", f"{one.peak / one.inputs:.2f}"
        times = [_short(1e3 * value) for value in (one.best, one.median, one.cpu)]
        ratio = _short(one.best / ours.best)
        answer = "" if line is group[0] else _agreement(ours.answer, one.answer)
        yield line.row.name, f"{line.rows:,}", line.entry.library, line.entry.call, *times, ratio, *memory, answer


def _agreement(ours, theirs):
    if ours is None or theirs is None:
        return ""
    gap = largest_difference(ours, theirs)
    if gap == 0.0:
        return "the same"
    return f"agrees to {gap:.0e}" if gap <= AGREEMENT else f"DIFFERS by {gap:.2g}"


def largest_difference(ours, theirs):
    """Return the largest difference between two lists of numbers, relative to the largest of ours."""
    scale = max(abs(value) for value in ours) or 1.0
    gaps = [abs(a - b) / scale for a, b in zip(ours, theirs, strict=True)]
    return math.nan if any(math.isnan(gap) for gap in gaps) else max(gaps)


def goal_records(lines):
    """Return (row, goal, measured value, met) for every goal whose size and peer were measured."""
    records = []
    for (row, rows), group in groupby(lines, key=lambda line: (line.row, line.rows)):
        # ours comes first, and is what "stakes" means beside other calls of it
        measured = {
            key: line.measured for line in reversed(list(group)) for key in (line.entry.call, line.entry.library)
        }
        for goal in row.goals:
            if goal.rows == rows:
                try:
                    value = goal.value(measured)
                except KeyError:  # the peer was left out
                    continue
                records.append({"row": row.name, "goal": goal, "value": value, "met": goal.met_by(value)})
    return records


def _goal_table(lines):
    table = [("row", "rows", "goal", "measured", "met"), ("---",) * 5]
    for record in goal_records(lines):
        goal, value = record["goal"], record["value"]
        measured = f"{_short(value)} {goal.unit}".strip()
        table.append((record["row"], f"{goal.rows:,}", goal.text, measured, "yes" if record["met"] else "NO"))
    return _pipes(table) if len(table) > 2 else ""


def _pipes(table):
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


def _short(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
