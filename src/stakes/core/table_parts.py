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
_ROOM = 1.0 + 1e-9  # for the rounding of sums over many rows
_SQUARED_TO_ZERO = 1e-150  # smaller weights may have squares that are zero
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
    resolution, n_rows = entries.count_or_none("resolution"), entries.count("n_rows")
    names = ("scores", *COLUMNS, *(("lower", "upper") if "lower" in entries.content else ()))
    columns = {name: entries.numbers(name) for name in names}
    scores = columns["scores"]
    if not len(scores) or np.any(np.diff(scores) <= 0.0):
        raise entries.broken("scores", "one or more numbers, strictly increasing")
    _check_counts(entries, columns)
    _check_cells(entries, columns, resolution)
    _check_rows(entries, columns, n_rows)
    flags = {name: entries.flag(name) for name in ("fixed_prevalence", *MARKS[:2]) if name in entries.content}
    about = entries.text("about") if "about" in entries.content else ""
    known = {"n_rows": n_rows, "resolution": resolution, "pos_label": entries.label("pos_label")}
    return {**columns, **flags, **known, "about": about}


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
    for name in COLUMNS[:2]:
        weight, squared = columns[name], columns[f"{name}_squared"]
        with np.errstate(over="ignore"):
            larger = squared > weight**2 * _ROOM
        _refuse_first(entries, f"{name}_squared", larger, f"at most the square of {name}", squared)
        lost = (squared == 0.0) & (weight > _SQUARED_TO_ZERO)
        _refuse_first(entries, f"{name}_squared", lost, f"above zero where {name} is", squared)
    if np.any(columns["positives"] + columns["negatives"] <= 0.0):
        raise entries.broken("negatives", "positive where positives is zero")


def _refuse_first(entries: Entries, name: str, bad: NDArray[np.bool_], rule: str, values: Floats) -> None:
    if np.any(bad):
        place = int(np.argmax(bad))
        raise entries.broken(name, f"{rule}, got {values[place]:.10g} at place {place}")


def _check_rows(entries: Entries, columns: dict[str, Floats], n_rows: int) -> None:
    """Rows are at least what the sums of weights and of their squares need (Cauchy-Schwarz)."""
    fewest = 0.0
    for name in COLUMNS[:2]:
        weight, squared = columns[name], columns[f"{name}_squared"]
        with np.errstate(over="ignore"):
            fewest += float(np.sum(weight * (weight / np.where(squared > 0.0, squared, np.inf))))
    scores = len(columns["scores"])
    if max(fewest * (2.0 - _ROOM) - 0.5, scores) > n_rows:
        what = "the number of scores" if fewest <= scores else "as the weights and their squares need"
        raise entries.broken("n_rows", f"at least {max(fewest, scores):,.0f}, {what}, got {n_rows:,}")


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
