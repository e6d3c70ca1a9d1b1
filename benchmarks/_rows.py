"""What a benchmark consists of: rows of a table, each one question put to stakes and to its peers."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks._data import Inputs

GOAL_ROWS = 10**7  # the size that the goals speak of
PEER_ROWS = 10**6  # most peers are slow: beyond this size they are left out


@dataclass(frozen=True)
class Entry:
    """One library's way to the row's answer. Only `run` is timed; memory covers `prepare` too."""

    library: str  # as pip knows it
    call: str  # as the table shows it
    run: Callable[[Any], Any]
    prepare: Callable[[Inputs], Any] = lambda inputs: inputs
    answer: Callable[[Any], Any] | None = None  # numbers, out of what `run` returns, that can be compared
    max_rows: float = math.inf


@dataclass
class Measured:
    """What the child process of one entry sends back: seconds, bytes, and the numbers to compare."""

    best: float  # of the processor, as is the median
    median: float
    clock: float
    runs: int
    inputs: int
    peak: int | None
    answer: list[float] | None


@dataclass(frozen=True)
class Goal:
    """A bound on one quantity of a row, at `rows` rows."""

    text: str
    value: Callable[[dict[str, Measured]], float]  # from the measurements by library, and by call
    limit: float
    unit: str = ""
    at_least: bool = False
    rows: int = GOAL_ROWS

    def met_by(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit


@dataclass(frozen=True)
class Row:
    """One question, on one kind of data, with the goals that its speed must meet."""

    name: str
    ours: Entry
    peers: tuple[Entry, ...] = ()
    tied: bool = False
    weighted: bool = False
    goals: tuple[Goal, ...] = field(default=())

    @property
    def entries(self) -> tuple[Entry, ...]:
        return (self.ours, *self.peers)


def within_seconds(limit: float) -> Goal:
    return Goal(f"at most {limit:g} s", lambda by: by["stakes"].best, limit, "s")


def within_memory(limit: float) -> Goal:
    def multiple(by):
        one = by["stakes"]
        return float("nan") if one.peak is None else one.peak / one.inputs

    return Goal(f"peak memory at most {limit:g} x the inputs", multiple, limit, "x")


def faster_than(library: str, factor: float, rows: int = GOAL_ROWS) -> Goal:
    text = f"at least {factor:g} x faster than {library}"
    return Goal(text, lambda by: by[library].best / by["stakes"].best, factor, "x", at_least=True, rows=rows)


def at_most_times(library: str, call: str, factor: float) -> Goal:
    return Goal(f"at most {factor:g} x {call}", lambda by: by["stakes"].best / by[library].best, factor, "x")
