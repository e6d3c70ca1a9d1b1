"""A boundary in a notebook: what was found, its levels, and how far to trust it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from stakes.shown.html import plain, table
from stakes.shown.tabular import cell_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.boundary._options import Floats

_COUNTS = ("rows", "positives", "selected")
Line = tuple[str, str, list[int], float, float]  # level, threshold, counts, precision, recall


def level_names(cuts: Floats) -> list[str]:
    """Name the levels of uncertainty by the cuts between them."""
    shown = [f"{cut:.4g}" for cut in cuts]
    if not shown:
        return ["all"]
    return [f"up to {shown[0]}", *(f"{low} to {high}" for low, high in pairwise(shown)), f"above {shown[-1]}"]


def boundary_html(caption: str, lines: Sequence[Line], trust: str) -> str:
    """Return what a notebook shows in the place of a boundary; without thresholds, no level has a text for one."""
    thresholds = any(line[1] for line in lines)
    header = ["uncertainty", *(["from score"] if thresholds else []), *_COUNTS, "precision", "recall"]
    rows = [
        [level, *([start] if thresholds else []), *map(str, counts), cell_text(precision), cell_text(recall)]
        for level, start, counts, precision, recall in lines
    ]
    return table(header, rows, inner(caption)) + f"<p>{trust}</p>"


def inner(representation: str) -> str:
    """Take the words out of the representation of a result."""
    return representation.partition("(")[2].removesuffix(")")


def start(threshold: float) -> str:
    """Write a threshold; an infinite one selects nothing."""
    return "nothing" if threshold == float("inf") else f"{threshold:.6g}"


def trust(certificate: Any, threshold: float, *, fitted_here: bool) -> str:
    """Say what the counts rest on, and where it is said whether uncertainty helps."""
    if certificate is not None:
        return plain(f"Certificate: {inner(repr(certificate))}.")
    single = f"Best single threshold on the score: {start(threshold)}. "
    counts = "Counts of the rows that it was fitted to, where they are optimistic"
    if not fitted_here:
        return plain(f"{single}{counts}.")
    return f"{plain(single)}{counts}; whether uncertainty helps at all: <code>.report()</code>."
