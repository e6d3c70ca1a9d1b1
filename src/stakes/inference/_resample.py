"""Resampled score tables: counts are drawn anew, scores keep their order, so nothing is sorted twice.

Rows are drawn independently, as whole clusters, or in blocks of consecutive rows; several models share each draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stakes.core.validation import BinarySample

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Draw = Callable[[np.random.Generator], Integers]

_TIED = 4  # rows for each cell of a table from which on it is faster to draw cells than to draw rows
_EQUAL = 1e-9


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, of Python or numpy, and no boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def draw_rows(strata: Sequence[Integers], n: int) -> Draw:
    """Say how often each of n rows is drawn, independently: from each stratum as many rows as it holds."""

    def draw(rng: np.random.Generator) -> Integers:
        counts = np.zeros(n, dtype=np.intp)
        for rows in strata:
            if len(rows):
                counts += np.bincount(rows[rng.integers(0, len(rows), len(rows))], minlength=n)
        return counts

    return draw


def draw_clusters(codes: Integers) -> Draw:
    """Say how often each row is drawn with its cluster: as many clusters as there are."""
    clusters = int(codes.max()) + 1

    def draw(rng: np.random.Generator) -> Integers:
        return np.bincount(rng.integers(0, clusters, clusters), minlength=clusters)[codes]

    return draw


def draw_blocks(n: int, length: int) -> Draw:
    """Say how often each row is drawn with its block; blocks wrap around the end, so no row is drawn more often."""
    lengths = np.full(math.ceil(n / length), length)
    lengths[-1] = n - length * (len(lengths) - 1)

    def draw(rng: np.random.Generator) -> Integers:
        starts = rng.integers(0, n, len(lengths))
        steps = np.bincount(starts, minlength=2 * n) - np.bincount(starts + lengths, minlength=2 * n)
        counts = np.cumsum(steps)
        return counts[:n] + counts[n:]

    return draw


def draw_counts(counts: Integers) -> Draw:
    """Say how many of n equal rows are drawn from each cell of a table; the answer holds until the next draw."""
    n = int(counts.sum())
    if n > _TIED * len(counts):
        shares = counts / n
        return lambda rng: rng.multinomial(n, shares)
    used = np.flatnonzero(counts)
    starts = np.cumsum(counts[used]) - counts[used]
    # written anew by every draw: fresh memory of this size would cost more than the draw
    rows, found = np.empty(n, dtype=np.intp), np.zeros(len(counts), dtype=np.intp)

    def draw(rng: np.random.Generator) -> Integers:
        rows[:] = rng.integers(0, n, n)
        drawn = np.bincount(rows, minlength=n)
        found[used] = drawn if len(used) == n else np.add.reduceat(drawn, starts)
        return found

    return draw


@dataclass(frozen=True)
class TableSource:
    """Resamples of one table whose rows weigh the same; class by class where the prevalence is fixed."""

    table: ScoreTable
    units: tuple[float, float]
    draws: tuple[Draw, ...]

    @classmethod
    def of(cls, table: ScoreTable) -> TableSource:
        counts, units = row_counts(table)
        if table.fixed_prevalence:
            return cls(table, units, tuple(draw_counts(column) for column in counts))
        return cls(table, units, (draw_counts(np.concatenate(counts)),))

    def tables(self, rng: np.random.Generator, room: Room | None = None) -> list[ScoreTable]:
        """One resampled table; with ``room`` it holds until the next one is made there."""
        negatives, positives = self._counts(rng)
        seen = np.flatnonzero(np.logical_or(negatives, positives))
        room = Room() if room is None else room
        old, weights = self.table, []
        for name, unit, counts in zip(("down", "up"), self.units, (negatives, positives), strict=True):
            weight = room.floats(name, room.taken("count", counts, seen))
            weights.append((weight, weight) if unit == 1.0 else (unit * weight, unit * (unit * weight)))
        (downs, down_squares), (ups, up_squares) = weights
        lower, upper = (None if edge is None else edge.take(seen) for edge in (old.lower, old.upper))
        columns = room.taken("scores", old.scores, seen), ups, downs, up_squares, down_squares
        return [ScoreTable(*columns, old.n_rows, old.fixed_prevalence, lower, upper)]

    def area(self, rng: np.random.Generator) -> float:
        """AUC of one resampled table, without the table: it needs whole numbers only, whatever a row weighs."""
        negatives, positives = self._counts(rng)
        below, found = self._room
        np.cumsum(negatives, out=below)
        positives = positives[found]
        pairs = 2 * int(below[-1]) * int(positives.sum())
        return int(np.dot(positives, 2 * below[found] - negatives[found])) / pairs if pairs else math.nan

    @cached_property
    def _room(self) -> tuple[Integers, Integers]:
        """Memory for the negatives up to each score, and the scores that positives have."""
        return np.empty(len(self.table.scores), dtype=np.intp), np.flatnonzero(self.table.positives)

    def _counts(self, rng: np.random.Generator) -> Sequence[Integers]:
        """Rows of each class that are drawn from each cell; they hold until the next draw."""
        drawn = [draw(rng) for draw in self.draws]
        return np.split(drawn[0], 2) if len(drawn) == 1 else drawn


class Room:
    """Memory that one resample after the other is written to."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[Any]] = {}

    def taken(self, name: str, values: NDArray[Any], places: Integers) -> NDArray[Any]:
        """Some entries of an array."""
        return values.take(places, out=self._of(name, len(places), values), mode="clip")

    def floats(self, name: str, values: NDArray[Any]) -> Floats:
        """Numbers as floats."""
        out: Floats = self._of(name, len(values), np.empty(0))
        out[:] = values
        return out

    def _of(self, name: str, size: int, like: NDArray[Any]) -> NDArray[Any]:
        if name not in self._held or len(self._held[name]) < size:
            self._held[name] = np.empty(size + size // 8, like.dtype)
        return self._held[name][:size]


def row_counts(table: ScoreTable) -> tuple[tuple[Integers, Integers], tuple[float, float]]:
    """Rows of each class in each cell of a table, and what one row weighs; raise where weights differ."""
    counts, units = [], []
    for name in ("negatives", "positives"):
        weight, square = getattr(table, name), getattr(table, f"{name}_squared")
        unit = float(square.sum() / weight.sum()) if weight.any() else 1.0
        rows = np.rint(weight / unit)
        if np.any(np.abs(rows * unit - weight) > _EQUAL * weight.max()) or not np.allclose(
            square, rows * unit**2, rtol=_EQUAL, atol=_EQUAL * unit**2
        ):
            raise ValueError(
                f"the {name} of the table must weigh the same: a table does not keep the weights of single rows. "
                "Pass y_true, y_prob and sample_weight."
            )
        counts.append(rows.astype(np.intp))
        units.append(unit)
    return (counts[0], counts[1]), (units[0], units[1])


@dataclass(frozen=True)
class RowSource:
    """Resampled tables of several models on the same rows, from how often each row is drawn."""

    models: Sequence[tuple[Floats, Integers]]
    weight: Floats | None
    draw: Draw
    prevalence: float | None = None

    @classmethod
    def of(cls, samples: Sequence[BinarySample], draw: Draw, prevalence: float | None) -> RowSource:
        models = []
        for sample in samples:
            scores, level = np.unique(sample.score + 0.0, return_inverse=True)
            models.append((scores, 2 * level.reshape(-1) + sample.y))
        return cls(models, samples[0].weight, draw, prevalence)

    def tables(self, rng: np.random.Generator, _room: Room | None = None) -> list[ScoreTable]:
        """One resampled table for each model, all from the same rows."""
        counts = self.draw(rng)
        drawn = int(counts.sum())
        columns = [counts.astype(np.float64)]
        if self.weight is not None:
            columns = [columns[0] * self.weight, columns[0] * self.weight**2]
        tables = [self._table(scores, code, columns, drawn) for scores, code in self.models]
        return tables if self.prevalence is None else [table.with_prevalence(self.prevalence) for table in tables]

    def _table(self, scores: Floats, code: Integers, columns: list[Floats], drawn: int) -> ScoreTable:
        return ScoreTable(*sums_by_cell(scores, code, columns), n_rows=drawn)


def sums_by_cell(
    scores: Floats, code: Integers, columns: list[Floats]
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Columns of a table from weights, and squared weights if they differ: its scores that have any weight first."""
    cells = [np.bincount(code, column, minlength=2 * len(scores)).reshape(-1, 2) for column in columns]
    seen = cells[0].sum(axis=1) > 0.0
    downs, ups, down_squares, up_squares = (
        np.ascontiguousarray(cell[seen, k]) for cell in (cells[0], cells[-1]) for k in (0, 1)
    )
    return scores[seen], ups, downs, up_squares, down_squares
