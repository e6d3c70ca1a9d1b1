"""Print measurements as Markdown, with what they were made on and whether the goals are met."""

import math
from itertools import groupby

TIMES = ("best ms", "median ms", "clock ms")
RATIOS = ("x stakes", "spread", "growth")
COLUMNS = ("row", "rows", "library", "call", *TIMES, *RATIOS, "peak MB", "x inputs", "answer")
AGREEMENT = 1e-9
MIN_INPUT_BYTES = 10**6  # below this, memory is page noise
LEGEND = """\
One thread, each line in a process of its own; time is that of the processor for the call alone, after one warm-up.
"clock" is the least time on the clock: more where other processes took turns, less where threads shared the work.
"x stakes" is the best time divided by that of stakes on the same rows, "spread" the same with the median of either and
the best of the other. "growth" is the exponent of the time between the size before and this one (1: linear). "peak" is
memory above the imports: inputs, preparation and results; "x inputs" divides it by the arrays passed in. "answer" is
the largest difference from stakes' numbers, relative to the largest of them."""


def to_markdown(title, about, lines, notes):
    """Return the whole page."""
    facts = [f"- {name}: {value}" for name, value in about.items()]
    table = [COLUMNS, tuple("---" for _ in COLUMNS)]
    grown = growth(lines)
    for _, group in groupby(lines, key=lambda line: (line.row.name, line.rows)):
        table += _cells(list(group), grown)
    parts = [f"## {title}", "\n".join(facts), _pipes(table), LEGEND, _goal_table(lines)]
    parts += ["\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(part for part in parts if part)


def _cells(group, grown):
    """Yield the table lines of one row at one size; the first is ours."""
    ours = group[0].measured
    for line in group:
        one = line.measured
        memory = ("-", "-")
        if one.peak is not None and one.inputs >= MIN_INPUT_BYTES:
            memory = f"{one.peak / 1e6:,.0f}", f"{one.peak / one.inputs:.2f}"
        times = [_short(1e3 * value) for value in (one.best, one.median, one.clock)]
        between = "" if line is group[0] else " to ".join(_short(value) for value in spread(ours, one))
        ratios = _short(one.best / ours.best), between, grown.get(_key(line), "")
        answer = "" if line is group[0] else _agreement(ours.answer, one.answer)
        yield line.row.name, f"{line.rows:,}", line.entry.library, line.entry.call, *times, *ratios, *memory, answer


def spread(ours, one):
    """Return how many times as long as ours it takes: our median beside its best, our best beside its median."""
    return one.best / ours.median, one.median / ours.best


def growth(lines):
    """Return the exponent of the time since the next smaller size of the same call, for each line that has one."""
    times = {_key(line): line.measured.best for line in lines}
    found = {}
    for key, time in times.items():
        *call, rows = key
        smaller = max((other[-1] for other in times if list(other[:-1]) == call and other[-1] < rows), default=None)
        if smaller:
            found[key] = f"{math.log(time / times[*call, smaller]) / math.log(rows / smaller):.2f}"
    return found


def _key(line):
    return line.row.name, line.entry.library, line.entry.call, line.rows


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
