"""Rows with a score and an uncertainty: clean arrays, uncertainty levels, score bins, and the options they make.

Cuts are by value, so that ties stay together and the same cut can be applied to new rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._options import Options
from stakes.core.row_order import check_same_order
from stakes.core.validation import (
    check_choice,
    check_sample,
    check_scores,
    check_weights,
    check_whole,
    pick_positive_column,
    to_array,
    to_floats,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.boundary._options import Floats, Ints

    Bools = NDArray[np.bool_]

BINNINGS = ("equal_weight", "equal_span", "equal_positive", "unbinned")
_MAX_LEVELS = 65_535
_MOST_ROWS = 2**53


@dataclass(frozen=True)
class Rows:
    """Labels, scores, uncertainties (larger is less certain) and integer weights (None: one each)."""

    y: Bools
    score: Floats
    uncertainty: Floats
    weight: Ints | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, keep: NDArray[Any]) -> Rows:
        """Some of the rows, by index or mask."""
        weight = None if self.weight is None else self.weight[keep]
        return Rows(self.y[keep], self.score[keep], self.uncertainty[keep], weight)

    def count(self, mask: Bools) -> int:
        """Total weight of the rows of a mask."""
        return int(np.count_nonzero(mask)) if self.weight is None else int(self.weight[mask].sum())


def check_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: Any = None,
    pos_label: object = None,
) -> Rows:
    """Validate labels, scores, uncertainties and integer weights; rows of weight zero are as if absent."""
    check_same_order(y_true=y_true, y_score=y_score, uncertainty=uncertainty, sample_weight=sample_weight)
    sample = check_sample(
        y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, probability=False, name="y_score"
    )
    level = to_array(uncertainty, "uncertainty")
    length = len(to_array(y_true, "y_true"))
    if level.shape != (length,):
        raise ValueError(f"uncertainty must have one value per row, got shape {level.shape} for {length} rows.")
    weight = check_weights(sample_weight, length)
    if weight is None:
        return Rows(sample.y, sample.score, check_scores(level, "uncertainty", probability=False))
    odd = weight != np.round(weight)
    if np.any(odd):
        first = int(np.argmax(odd))
        raise ValueError(
            f"sample_weight must be whole numbers, for a boundary counts rows, got {weight[first]} at index {first}."
        )
    total = float(weight.sum())
    if total > _MOST_ROWS:
        raise ValueError(f"sample_weight must add up to at most 2^53 rows, counted exactly, got {total:g}.")
    present = weight > 0.0
    level = np.where(present, level, level[np.argmax(present)])
    clean = check_scores(level, "uncertainty", probability=False)[present]
    counts = weight[present].astype(np.int64)
    return Rows(sample.y, sample.score, clean, None if np.all(counts == 1) else counts)


def read_covariates(score: ArrayLike, uncertainty: ArrayLike) -> dict[str, Floats]:
    """Scores, of the second of two columns, and uncertainties as floats; not checked but for the order of rows."""
    check_same_order(score=score, uncertainty=uncertainty)
    columns = to_array(score, "score")
    if columns.ndim == 2 and columns.shape[1] == 2:
        columns = pick_positive_column(columns, columns, None, "score")
    level = to_array(uncertainty, "uncertainty")
    return {"score": to_floats(columns, "score"), "uncertainty": to_floats(level, "uncertainty")}


def check_covariates(score: ArrayLike, uncertainty: ArrayLike) -> tuple[Floats, Floats]:
    """Read and validate the rows to decide about."""
    return finite_covariates(**read_covariates(score, uncertainty))


def finite_covariates(score: Floats, uncertainty: Floats) -> tuple[Floats, Floats]:
    """Validate the rows to decide about."""
    if score.ndim == uncertainty.ndim == 1 and len(score) != len(uncertainty):
        raise ValueError(f"score and uncertainty must have the same length, got {len(score)} and {len(uncertainty)}.")
    clean = check_scores(score, "score", probability=False)
    return clean, check_scores(uncertainty, "uncertainty", probability=False)


def check_levels(levels: Any) -> int | Floats:
    """A number of levels, or the cuts between them."""
    if isinstance(levels, (int, np.integer)) and not isinstance(levels, bool):
        if not 1 <= levels <= _MAX_LEVELS:
            raise ValueError(f"levels must be a number from 1 to {_MAX_LEVELS} or a list of cuts, got {levels}.")
        return int(levels)
    given = to_array(levels, "levels")
    if given.ndim == 0:
        raise ValueError(f"levels must be a whole number or a list of cuts, got {levels!r}.")
    cuts = check_scores(given, "levels", probability=False)
    if np.any(np.diff(cuts) <= 0.0):
        raise ValueError(f"levels must be a number or strictly increasing cuts, got {cuts.tolist()}.")
    return cuts


def check_binning(binning: str, score_bins: int | None) -> None:
    """Score bins go with every binning but "unbinned"."""
    check_choice(binning, "binning", BINNINGS)
    if score_bins is None:
        return
    if binning == "unbinned":
        raise ValueError(f'score_bins must be None with binning="unbinned", got {score_bins}.')
    check_whole(score_bins, "score_bins", 1)


def level_cuts(rows: Rows, levels: int | Floats, binning: str) -> Floats:
    """Cuts c_1 < c_2 < ...: level k holds the uncertainties in (c_k, c_{k+1}]. Ties may leave fewer than asked for."""
    u = rows.uncertainty
    if not isinstance(levels, int):
        return levels
    if levels == 1:
        return np.empty(0)
    if binning == "equal_span":
        cuts = np.linspace(u.min(), u.max(), levels + 1)[1:-1]
    elif rows.weight is None:
        ranks = len(u) * np.arange(1, levels) // levels - 1
        ranks = np.unique(ranks[ranks >= 0])
        cuts = np.partition(u, ranks)[ranks] if len(ranks) else np.empty(0)
    else:
        order = np.argsort(u)
        cuts = u[order][_at_ranks(np.cumsum(rows.weight[order]), levels)]
    cuts = np.unique(cuts)
    return cuts[cuts < u.max()]


def _at_ranks(cumulative: Ints, parts: int) -> NDArray[np.intp]:
    """Places of the values at ranks floor(n * j / parts), each row repeated as often as its weight says."""
    ranks = int(cumulative[-1]) * np.arange(1, parts) // parts
    return np.searchsorted(cumulative, ranks[ranks > 0], side="left")


def level_of(cuts: Floats, uncertainty: Floats) -> NDArray[np.intp]:
    """Level of each row."""
    return np.searchsorted(cuts, uncertainty, side="left")


@dataclass(frozen=True)
class SortedLevel:
    """Rows of one level from the highest score down, with cumulative counts."""

    score: Floats
    positives: Ints
    totals: Ints


def sorted_levels(rows: Rows, cuts: Floats) -> list[SortedLevel]:
    """Sort the rows of each level by descending score; every level between the cuts is there, if need be empty."""
    level = level_of(cuts, rows.uncertainty)
    small = level.astype(np.uint8 if len(cuts) < 256 else np.uint16)
    by_level = np.argsort(small, kind="stable") if len(cuts) else np.arange(len(rows))
    ends = np.cumsum(np.bincount(small, minlength=len(cuts) + 1))
    out = []
    for part in np.split(by_level, ends[:-1]):
        order = part[np.argsort(rows.score[part])[::-1]]
        if rows.weight is None:
            positives, totals = np.cumsum(rows.y[order], dtype=np.int64), np.arange(1, len(order) + 1)
        else:
            weight = rows.weight[order]
            positives, totals = np.cumsum(weight * rows.y[order]), np.cumsum(weight)
        out.append(SortedLevel(rows.score[order], positives, totals))
    return out


def make_options(levels: list[SortedLevel], binning: str, score_bins: int | None) -> Options:
    """Options of each level: every distinct score, or the cuts between bins."""
    filled = [level.score for level in levels if len(level.score)]
    low, high = min(float(s[-1]) for s in filled), max(float(s[0]) for s in filled)
    span = (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)
    parts, by_bins = [], []
    for level in levels:
        ends = _distinct(level) if score_bins is None else _ends_of_bins(level, binning, score_bins, span)
        last = ends - 1
        if score_bins is not None:
            last = np.unique(ends[ends > 0]) - 1
            by_bins.append(np.r_[0, np.searchsorted(last, ends - 1, side="right")])
        parts.append((level.positives[last], level.totals[last], level.score[last]))
    return replace(Options.from_levels(parts, np.inf), by_bins=tuple(by_bins) or None)


def _distinct(level: SortedLevel) -> NDArray[np.intp]:
    """How many rows the top 1, 2, ... distinct scores hold."""
    n = len(level.score)
    return np.append(np.flatnonzero(level.score[1:] != level.score[:-1]) + 1, n) if n else np.zeros(0, dtype=np.intp)


def _ends_of_bins(level: SortedLevel, binning: str, score_bins: int, span: tuple[float, float]) -> NDArray[np.intp]:
    """How many rows the top 1, 2, ... bins hold; bins hold their upper edge, and whole groups of ties."""
    n = len(level.score)
    if not n:
        return np.zeros(score_bins, dtype=np.intp)
    if binning == "equal_positive":
        found = level.positives[-1] * np.arange(1, score_bins + 1) / score_bins
        places = np.searchsorted(level.positives, np.ceil(found), side="left")
        ends = _distinct(level)
        return ends[np.searchsorted(ends, np.minimum(places, n - 1), side="right")]
    ascending = level.score[::-1]
    if binning == "equal_span":
        edges = np.linspace(*span, score_bins + 1)[1:-1]
    else:
        counts = np.diff(level.totals, prepend=0)[::-1]
        edges = ascending[_at_ranks(np.cumsum(counts), score_bins)]
    above = n - np.searchsorted(ascending, edges[::-1], side="right")
    return np.append(above, n)


def rows_to_options(rows: Rows, cuts: Floats, binning: str, score_bins: int | None) -> Options:
    """Options of rows under given level cuts."""
    return make_options(sorted_levels(rows, cuts), binning, score_bins)
