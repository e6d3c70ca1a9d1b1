"""The columns of score tables: two tables added up, and those of a kept table checked as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.counting import count_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.shown.entries import Entries

    Floats = NDArray[np.float64]

MARKS = ("estimated_weights", "by_amount", "about")  # kept where they are true, or not empty
COLUMNS = ("positives", "negatives", "positives_squared", "negatives_squared")


def class_factors(prevalence: float, total_positives: float, total_negatives: float) -> tuple[float, float]:
    """What positives and negatives are weighted by at a stated prevalence; the total weight is kept."""
    total = total_positives + total_negatives
    return prevalence * total / total_positives, (1.0 - prevalence) * total / total_negatives


def weigh_classes(table: Any, up: float, down: float) -> dict[str, Any]:
    """The columns of a table whose positives and negatives count so much more."""
    return {name: getattr(table, name) * by for name, by in zip(COLUMNS, (up, down, up**2, down**2), strict=True)}


def add_columns(
    first: dict[str, Floats], second: dict[str, Floats], n_rows: int, resolution: int | None
) -> dict[str, Any]:
    """Add the counts of two tables at each score or, where one of them is binned, in each cell."""
    both = first, second
    scores, *sums = (np.concatenate([part[name] for part in both]) for name in ("scores", *COLUMNS))
    if resolution is not None:
        ends = [np.concatenate([part.get(name, part["scores"]) for part in both]) for name in ("lower", "upper")]
        spans = ends[0], ends[1], scores * (sums[0] + sums[1])
        cell = np.floor(ends[0] * resolution)
        columns = count_cells(cell, spans, (sums[0], sums[1], sums[2], sums[3]), n_rows=n_rows, resolution=resolution)
        return {**columns, "resolution": resolution}
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    counts = {name: np.add.reduceat(part[order], starts) for name, part in zip(COLUMNS, sums, strict=True)}
    return {"scores": ordered[starts], **counts, "n_rows": n_rows}


def check_columns(entries: Entries) -> dict[str, Any]:
    """Check the entries of a kept table, and return what builds it."""
    resolution, n_rows = entries.at("resolution"), int(entries.counts("n_rows", shape=()))
    if resolution is not None:
        resolution = int(entries.counts("resolution", shape=()))
    names = ("scores", *COLUMNS, *(("lower", "upper") if "lower" in entries.content else ()))
    columns = {name: _finite(entries, name) for name in names}
    scores = columns["scores"]
    if not len(scores) or np.any(np.diff(scores) <= 0.0):
        raise entries.broken("scores", "one or more numbers, strictly increasing")
    _check_counts(entries, columns)
    _check_cells(entries, columns, resolution)
    if n_rows < len(scores):
        raise entries.broken("n_rows", f"at least {len(scores):,}, the number of scores")
    flags = {name: entries.flag(name) for name in ("fixed_prevalence", *MARKS[:2]) if name in entries.content}
    about = entries.text("about") if "about" in entries.content else ""
    return {**columns, **flags, "n_rows": n_rows, "resolution": resolution, "about": about}


def _check_counts(entries: Entries, columns: dict[str, Floats]) -> None:
    scores = columns["scores"]
    for name, values in columns.items():
        if len(values) != len(scores):
            raise entries.broken(name, f"{len(scores):,} numbers like scores, not {len(values):,}")
    for name in COLUMNS:
        if np.any(columns[name] < 0.0):
            raise entries.broken(name, "made of numbers >= 0")
    for name in COLUMNS[:2]:
        if np.any((columns[name] == 0.0) & (columns[f"{name}_squared"] > 0.0)):
            raise entries.broken(f"{name}_squared", f"zero where {name} is")
    if np.any(columns["positives"] + columns["negatives"] <= 0.0):
        raise entries.broken("negatives", "positive where positives is zero")


def _check_cells(entries: Entries, columns: dict[str, Floats], resolution: int | None) -> None:
    if "lower" not in columns:
        if resolution is not None:
            raise entries.broken("lower", "there, as resolution is")
        return
    for name, sign in (("lower", 1.0), ("upper", -1.0)):
        if np.any(sign * columns[name] > sign * columns["scores"]):
            raise entries.broken(name, f"at {'most' if sign > 0.0 else 'least'} scores")
    if resolution is not None:
        cells = [np.minimum(np.floor(columns[name] * resolution), resolution - 1) for name in ("lower", "upper")]
        if not resolution or np.any(cells[0] != cells[1]) or np.any(np.diff(cells[0]) <= 0.0):
            raise entries.broken("resolution", "the number of cells of which lower and upper are ends")


def _finite(entries: Entries, name: str) -> Floats:
    values = entries.numbers(name)
    if not np.all(np.isfinite(values)):
        raise entries.broken(name, "a list of finite numbers")
    return values
