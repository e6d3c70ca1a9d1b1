"""A boundary in a notebook: what was found, its levels, and how far to trust it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from stakes._html import plain, table
from stakes._results import cell_text

if TYPE_CHECKING:
    from stakes.boundary._boundary import Boundary

_COUNTS = ("rows", "positives", "selected")


def boundary_html(boundary: Boundary) -> str:
    """Return what a notebook shows in the place of a boundary."""
    records = boundary._records()
    thresholds = boundary.thresholds is not None
    header = ["uncertainty", *(["from score"] if thresholds else []), *_COUNTS, "precision", "recall"]
    rows = []
    for level, record in zip(level_names(boundary), records, strict=True):
        start = [_start(record["threshold"])] if thresholds else []
        counts = [str(record[name]) for name in _COUNTS]
        rows.append([level, *start, *counts, cell_text(record["precision"]), cell_text(record["recall"])])
    if len(rows) > 1:
        totals = [str(int(getattr(boundary, name).sum())) for name in _COUNTS]
        values = [cell_text(boundary.precision), cell_text(boundary.recall)]
        rows.append(["all levels", *([""] if thresholds else []), *totals, *values])
    return table(header, rows, _inner(boundary)) + f"<p>{_trust(boundary)}</p>"


def level_names(boundary: Boundary) -> list[str]:
    """Name the levels of uncertainty by the cuts between them."""
    cuts = [f"{cut:.4g}" for cut in boundary.cuts]
    if not cuts:
        return ["all"]
    return [f"up to {cuts[0]}", *(f"{low} to {high}" for low, high in pairwise(cuts)), f"above {cuts[-1]}"]


def _inner(result: object) -> str:
    """Take the words out of the representation of a result."""
    return repr(result).partition("(")[2].removesuffix(")")


def _start(threshold: float) -> str:
    return "nothing" if threshold == float("inf") else f"{threshold:.6g}"


def _trust(boundary: Boundary) -> str:
    """Say what the counts rest on, and where it is said whether uncertainty helps."""
    if boundary.certificate is not None:
        return plain(f"Certificate: {_inner(boundary.certificate)}.")
    single = f"Best single threshold on the score: {_start(boundary.threshold)}. "
    if boundary._data is None:
        return plain(f"{single}Counts of the rows that it was fitted to, where they are optimistic.")
    return (
        f"{plain(single)}Counts of the rows that it was fitted to, where they are optimistic; whether uncertainty "
        "helps at all: <code>.report()</code>."
    )
