"""The optimisation problem: goal, constraints, rows, uncertainty levels and score cuts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base import formulas, validation
from stakes.base.validation import Bools, Floats
from stakes.costs import CostsLike, as_costs

Ints = NDArray[np.int64]


# The goal and constraints of a boundary, as integers and exact fractions.

Goal = Literal["recall", "precision", "false_positives", "f_beta", "cost"]
GOALS = ("recall", "precision", "false_positives", "f_beta", "cost")


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryProblem:
    """A goal with its constraints; None for no constraint.

    ``beta2`` is the square of beta; ``cost`` is the cost ratio c of goal "cost" (false positives cost c, misses 1 - c).
    ``min_recall`` and ``capacity`` (a share) are turned into counts for the data at hand.
    """

    goal: str
    min_precision: Fraction | None = None
    min_recall: Fraction | None = None
    capacity: Fraction | int | None = None
    beta2: Fraction = Fraction(1)
    cost: Fraction = Fraction(1, 2)

    @property
    def bounds_precision_alone(self) -> bool:
        """Whether the goal is recall under a precision bound only."""
        others = self.min_recall is not None or self.capacity is not None
        return self.goal == "recall" and self.min_precision is not None and not others

    def least_positives(self, total_positives: int) -> int:
        """Number of true positives that the recall bound requires."""
        return 0 if self.min_recall is None else math.ceil(self.min_recall * total_positives)

    def rows_selected(self, total: int) -> int | None:
        """Number of rows that may be selected."""
        if self.capacity is None or isinstance(self.capacity, int):
            return self.capacity
        return math.floor(self.capacity * total)

    def describe(self) -> str:
        """Describe the goal in words."""
        words = {
            "recall": "most recall",
            "precision": "most precision",
            "false_positives": "fewest false positives",
            "f_beta": f"best F-beta, beta = {math.sqrt(self.beta2):g}",
            "cost": f"least cost at cost ratio {float(self.cost):g}",
        }
        bounds = []
        if self.min_precision is not None:
            bounds.append(f"precision >= {float(self.min_precision):g}")
        if self.min_recall is not None:
            bounds.append(f"recall >= {float(self.min_recall):g}")
        if isinstance(self.capacity, int):
            bounds.append(f"at most {self.capacity} rows selected")
        elif self.capacity is not None:
            bounds.append(f"at most {float(self.capacity):.4g} of the rows selected")
        return words[self.goal] + (", " + " and ".join(bounds) if bounds else "")


def check_problem(
    goal: str,
    *,
    min_precision: Any = None,
    min_recall: Any = None,
    capacity: Any = None,
    f_beta: Any = None,
    costs: CostsLike | None = None,
) -> BoundaryProblem:
    """Validate goal and constraints."""
    validation.check_choice(goal, "goal", GOALS)
    if (f_beta is not None) != (goal == "f_beta"):
        raise ValueError(f'f_beta= and goal="f_beta" go together, got goal={goal!r} and f_beta={f_beta!r}.')
    if (costs is not None) != (goal == "cost"):
        raise ValueError(f'costs= and goal="cost" go together, got goal={goal!r} and costs={costs!r}.')
    precision, recall = _share(min_precision, "min_precision"), _share(min_recall, "min_recall")
    most = None if capacity is None else validation.check_capacity(capacity)
    if goal == "recall" and precision is None and most is None:
        raise ValueError('goal="recall" needs min_precision= or capacity=: without, selecting every row is best.')
    if goal in {"precision", "false_positives"} and recall is None:
        raise ValueError(f"goal={goal!r} needs min_recall=: without, selecting next to nothing is best.")
    beta2 = Fraction(1) if f_beta is None else _positive(f_beta) ** 2
    cost = Fraction(1, 2) if costs is None else validation.as_fraction(as_costs(costs).mean(), "costs")
    return BoundaryProblem(goal, precision, recall, most, beta2, cost)


def _share(value: Any, name: str) -> Fraction | None:
    if value is None:
        return None
    share = validation.as_fraction(value, name)
    if not 0 < share <= 1:
        raise ValueError(f"{name} must lie in (0, 1], got {value}{validation.in_percent(share)}.")
    return share


def _positive(value: Any) -> Fraction:
    number = validation.as_fraction(value, "f_beta")
    if number <= 0:
        raise ValueError(f"f_beta must be > 0, got {value}.")
    if number > validation.SQUARED_WELL[1]:
        raise ValueError(
            f"f_beta must be at most {validation.SQUARED_WELL[1]:g}, got {value}: so large a beta asks for recall."
        )
    return number


# The candidate cuts: for each uncertainty level, the positives and rows that each score cut selects.
#
# Clean integer counts only. Option 0 of every level selects nothing; each further option selects strictly more rows.

INT64_SAFE = 2**62


@dataclass(frozen=True, eq=False, repr=False)
class FitOptions:
    """Options of level k at ``starts[k]:starts[k + 1]``, from the shallowest to the deepest.

    ``positives`` and ``selected`` are cumulative counts; ``cuts`` says what the option is: a lowest selected score, or
    on a grid the number of top bins. ``by_bins`` says for each level which option the top 0, 1, 2, ... bins are: empty
    bins are no options of their own. Without it every option is one more bin.
    """

    starts: Ints
    positives: Ints
    selected: Ints
    cuts: Floats
    by_bins: tuple[Ints, ...] | None = None

    @classmethod
    def from_levels(
        cls, levels: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]], nothing: float
    ) -> FitOptions:
        """Concatenate the counts and cuts of the levels, each preceded by the option of selecting nothing."""
        parts = [(np.r_[0, p], np.r_[0, n], np.r_[nothing, cut]) for p, n, cut in levels]
        starts = np.cumsum([0] + [len(part[0]) for part in parts])
        positives, selected, cuts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return cls(starts.astype(np.int64), positives.astype(np.int64), selected.astype(np.int64), cuts)

    @property
    def n_levels(self) -> int:
        return len(self.starts) - 1

    @property
    def total_positives(self) -> int:
        return int(self.positives[self.starts[1:] - 1].sum())

    @property
    def total(self) -> int:
        return int(self.selected[self.starts[1:] - 1].sum())

    def slices(self) -> Iterator[slice]:
        """The slice of the options of each level."""
        return (slice(a, b) for a, b in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True))

    def counts(self, chosen: Ints) -> tuple[int, int]:
        """Sum true positives and selected rows of one option per level."""
        place = self.starts[:-1] + chosen
        return int(self.positives[place].sum()), int(self.selected[place].sum())

    def slack(self, precision: Fraction) -> NDArray[Any]:
        """Return g = B * positives - A * selected for a precision A/B: a boundary keeps it iff its g add up to >= 0."""
        return self.combine(precision.denominator, precision.numerator)

    def combine(self, gain: int, price: int) -> NDArray[Any]:
        """Return gain * positives - price * selected, in Python integers where int64 could overflow."""
        return combine(self.positives, self.selected, gain, price, self.total)


def combine(positives: Ints, selected: Ints, gain: int, price: int, most: int) -> NDArray[Any]:
    """Return gain * positives - price * selected of counts up to ``most``, in Python integers beyond int64."""
    if (abs(gain) + abs(price)) * max(most, 1) >= INT64_SAFE:
        positives, selected = positives.astype(object), selected.astype(object)
    return gain * positives - price * selected


# Rows with a score and an uncertainty: clean arrays, uncertainty levels, score bins, and the options they make.
#
# Cuts are by value, so that ties stay together and the same cut can be applied to new rows.

BINNINGS = ("equal_weight", "equal_span", "equal_positive", "unbinned")
_MAX_LEVELS = 65_535
_MOST_ROWS = 2**53


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryRows:
    """Labels, scores, uncertainties (larger is less certain) and integer weights (None: one each)."""

    y: Bools
    score: Floats
    uncertainty: Floats
    weight: Ints | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, keep: NDArray[Any]) -> BoundaryRows:
        """Select rows by index or mask."""
        weight = None if self.weight is None else self.weight[keep]
        return BoundaryRows(self.y[keep], self.score[keep], self.uncertainty[keep], weight)

    def count(self, mask: Bools) -> int:
        """Sum the weight of the rows of a mask."""
        return int(np.count_nonzero(mask)) if self.weight is None else int(self.weight[mask].sum())


def check_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: Any = None,
    pos_label: object = None,
) -> BoundaryRows:
    """Validate labels, scores, uncertainties and integer weights; drop rows of weight zero."""
    validation.check_same_order(y_true=y_true, y_score=y_score, uncertainty=uncertainty, sample_weight=sample_weight)
    formulas.refuse_first_column(y_true, y_score, pos_label, "y_score")
    sample = validation.check_sample(
        y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, probability=False, name="y_score"
    )
    level = validation.to_array(uncertainty, "uncertainty")
    length = len(validation.to_array(y_true, "y_true"))
    if level.shape != (length,):
        raise ValueError(f"uncertainty must have one value per row, got shape {level.shape} for {length} rows.")
    weight = validation.check_weights(sample_weight, length)
    if weight is None:
        return BoundaryRows(sample.y, sample.score, validation.check_scores(level, "uncertainty", probability=False))
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
    clean = validation.check_scores(level, "uncertainty", probability=False)[present]
    counts = weight[present].astype(np.int64)
    return BoundaryRows(sample.y, sample.score, clean, None if np.all(counts == 1) else counts)


def read_covariates(score: ArrayLike, uncertainty: ArrayLike) -> dict[str, NDArray[Any]]:
    """Read scores (the second of two columns) and uncertainties; check the order of rows only."""
    validation.check_same_order(score=score, uncertainty=uncertainty)
    columns = validation.to_array(score, "score")
    if columns.ndim == 2 and columns.shape[1] == 2:
        columns = formulas.positive_scores(score, "score")
    return {"score": columns, "uncertainty": validation.to_array(uncertainty, "uncertainty")}


def finite_covariates(score: NDArray[Any], uncertainty: NDArray[Any]) -> tuple[Floats, Floats]:
    """Validate the rows to decide about."""
    if score.ndim == uncertainty.ndim == 1 and len(score) != len(uncertainty):
        raise ValueError(f"score and uncertainty must have the same length, got {len(score)} and {len(uncertainty)}.")
    clean = validation.check_scores(score, "score", probability=False)
    return clean, validation.check_scores(uncertainty, "uncertainty", probability=False)


def check_levels(levels: Any) -> int | Floats:
    """Check a number of levels, or the cuts between them."""
    if isinstance(levels, (int, np.integer)) and not isinstance(levels, bool):
        if not 1 <= levels <= _MAX_LEVELS:
            raise ValueError(f"levels must be a number from 1 to {_MAX_LEVELS} or a list of cuts, got {levels}.")
        return int(levels)
    given = validation.to_array(levels, "levels")
    if given.ndim == 0:
        raise ValueError(f"levels must be a whole number or a list of cuts, got {levels!r}.")
    cuts = validation.check_scores(given, "levels", probability=False)
    if np.any(np.diff(cuts) <= 0.0):
        raise ValueError(f"levels must be a number or strictly increasing cuts, got {cuts.tolist()}.")
    return cuts


def check_binning(binning: str, score_bins: int | None) -> int | None:
    """Return the number of score bins, which goes with every binning except "unbinned"."""
    validation.check_choice(binning, "binning", BINNINGS)
    if score_bins is None:
        return None
    if binning == "unbinned":
        raise ValueError(f'score_bins must be None with binning="unbinned", got {score_bins}.')
    return validation.check_whole(score_bins, "score_bins", 1)


def level_cuts(rows: BoundaryRows, levels: int | Floats, binning: str) -> Floats:
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
    """Positions of the values at ranks floor(n * j / parts), with rows repeated by weight."""
    ranks = int(cumulative[-1]) * np.arange(1, parts) // parts
    return np.searchsorted(cumulative, ranks[ranks > 0], side="left")


def level_of(cuts: Floats, uncertainty: Floats) -> NDArray[np.intp]:
    """Return the level of each row."""
    return np.searchsorted(cuts, uncertainty, side="left")


@dataclass(frozen=True, eq=False, repr=False)
class SortedLevel:
    """Rows of one level in descending score order, with cumulative counts."""

    score: Floats
    positives: Ints
    totals: Ints


def sorted_levels(rows: BoundaryRows, cuts: Floats) -> list[SortedLevel]:
    """Sort the rows of each level by descending score; levels may be empty."""
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


def make_options(levels: list[SortedLevel], binning: str, score_bins: int | None) -> FitOptions:
    """Build the options of each level: every distinct score, or the edges of bins."""
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
    return replace(FitOptions.from_levels(parts, np.inf), by_bins=tuple(by_bins) or None)


def _distinct(level: SortedLevel) -> NDArray[np.intp]:
    """Cumulative rows of the highest 1, 2, ... distinct scores."""
    n = len(level.score)
    return np.append(np.flatnonzero(level.score[1:] != level.score[:-1]) + 1, n) if n else np.zeros(0, dtype=np.intp)


def _ends_of_bins(level: SortedLevel, binning: str, score_bins: int, span: tuple[float, float]) -> NDArray[np.intp]:
    """Cumulative rows of the highest 1, 2, ... bins, which include their upper edge and do not split ties."""
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


def rows_to_options(rows: BoundaryRows, cuts: Floats, binning: str, score_bins: int | None) -> FitOptions:
    """Build the options of rows under given level cuts."""
    return make_options(sorted_levels(rows, cuts), binning, score_bins)


# Counts by uncertainty level and score interval, for the picture of a boundary.

_CELLS = 20


@dataclass(frozen=True, eq=False, repr=False)
class BinCounts:
    """Counts by uncertainty level and score interval, and the range of the uncertainty."""

    edges: Floats
    positives: Ints
    totals: Ints
    span: Floats


def count_cells(rows: BoundaryRows, cuts: Floats) -> BinCounts:
    """Count rows and positives by level in equal intervals of the score."""
    low, high = float(rows.score.min()), float(rows.score.max())
    low, high = (
        (0.0, 1.0)
        if low >= 0.0 and high <= 1.0
        else (low, high if high > low else low + max(1.0, _CELLS * np.spacing(abs(low))))
    )
    edges = np.linspace(low, high, _CELLS + 1)
    column = np.clip(((rows.score - low) * (_CELLS / (high - low))).astype(np.int64), 0, _CELLS - 1)
    place = level_of(cuts, rows.uncertainty) * _CELLS + column
    weight = None if rows.weight is None else rows.weight.astype(np.float64)
    size = (len(cuts) + 1) * _CELLS
    totals = np.bincount(place, weights=weight, minlength=size)
    ups = np.bincount(place[rows.y], weights=None if weight is None else weight[rows.y], minlength=size)
    shape = (len(cuts) + 1, _CELLS)
    span = np.array([rows.uncertainty.min(), rows.uncertainty.max()])
    return BinCounts(edges, ups.astype(np.int64).reshape(shape), totals.astype(np.int64).reshape(shape), span)
