"""The bootstrap, and resampled score tables."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import signature
from itertools import product
from statistics import NormalDist
from time import monotonic
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base import validation
from stakes.core.options import EvaluationData, evaluation_data, refuse_weighing
from stakes.core.score_table import ScoreTable
from stakes.inference._area import metric_range
from stakes.metrics import METRICS, guess_metric
from stakes.outcomes import BeyondFollowUpError, TimeToEvent
from stakes.outputs.hooks import time_left
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import guess, level_name
from stakes.variance.dependence import clusters_of, dependence_of
from stakes.variance.sums import NEEDED_CLUSTERS, Clusters, members

Draw = Callable[[np.random.Generator], validation.Integers]
Statistic = Callable[[ScoreTable], float | Mapping[str, float]]
Kind = Literal["percentile", "basic", "normal"]


# Resampled score tables: only counts are drawn, and scores stay sorted.
#
# Rows are drawn independently, as whole clusters, or in blocks of consecutive rows; several models share each draw.

_TIED = 4  # rows per cell above which drawing counts by cell is faster than drawing rows
_EQUAL = 1e-9


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, of Python or numpy, and no boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def draw_rows(strata: Sequence[validation.Integers], n: int) -> Draw:
    """Build a function that draws how often each of n rows is resampled, independently within strata."""

    def draw(rng: np.random.Generator) -> validation.Integers:
        counts = np.zeros(n, dtype=np.intp)
        for rows in strata:
            if len(rows):
                counts += np.bincount(rows[rng.integers(0, len(rows), len(rows))], minlength=n)
        return counts

    return draw


def draw_clusters(codes: validation.Integers) -> Draw:
    """Build a function that draws how often each row is resampled with its cluster."""
    clusters = int(codes.max()) + 1

    def draw(rng: np.random.Generator) -> validation.Integers:
        return np.bincount(rng.integers(0, clusters, clusters), minlength=clusters)[codes]

    return draw


def draw_blocks(n: int, length: int) -> Draw:
    """Build a function that draws how often each row is resampled with its block (circular block bootstrap)."""
    lengths = np.full(math.ceil(n / length), length)
    lengths[-1] = n - length * (len(lengths) - 1)

    def draw(rng: np.random.Generator) -> validation.Integers:
        starts = rng.integers(0, n, len(lengths))
        steps = np.bincount(starts, minlength=2 * n) - np.bincount(starts + lengths, minlength=2 * n)
        counts = np.cumsum(steps)
        return counts[:n] + counts[n:]

    return draw


def draw_counts(counts: validation.Integers) -> Draw:
    """Build a function that draws how many of n equal rows each cell gets; its array is reused by the next draw."""
    n = int(counts.sum())
    if n > _TIED * len(counts):
        shares = counts / n
        return lambda rng: rng.multinomial(n, shares)
    used = np.flatnonzero(counts)
    starts = np.cumsum(counts[used]) - counts[used]
    # written anew by every draw: fresh memory of this size would cost more than the draw
    rows, found = np.empty(n, dtype=np.intp), np.zeros(len(counts), dtype=np.intp)

    def draw(rng: np.random.Generator) -> validation.Integers:
        rows[:] = rng.integers(0, n, n)
        drawn = np.bincount(rows, minlength=n)
        found[used] = drawn if len(used) == n else np.add.reduceat(drawn, starts)
        return found

    return draw


@dataclass(frozen=True, eq=False, repr=False)
class TableSource:
    """Resamples of one table with equal weights; stratified by class if the prevalence is fixed."""

    table: ScoreTable
    units: tuple[float, float]
    draws: tuple[Draw, ...]

    @classmethod
    def of(cls, table: ScoreTable) -> TableSource:
        counts, units = row_counts(table)
        if table.fixed_prevalence:
            return cls(table, units, tuple(draw_counts(column) for column in counts))
        return cls(table, units, (draw_counts(np.concatenate(counts)),))

    def tables(self, rng: np.random.Generator, workspace: Workspace | None = None) -> list[ScoreTable]:
        """Draw one resampled table; one in a ``workspace`` is overwritten by the next."""
        negatives, positives = self._counts(rng)
        seen = np.flatnonzero(np.logical_or(negatives, positives))
        workspace = Workspace() if workspace is None else workspace
        old, weights = self.table, []
        for name, unit, counts in zip(("down", "up"), self.units, (negatives, positives), strict=True):
            weight = workspace.floats(name, workspace.taken("count", counts, seen))
            weights.append((weight, weight) if unit == 1.0 else (unit * weight, unit * (unit * weight)))
        (downs, down_squares), (ups, up_squares) = weights
        lower, upper = (None if edge is None else edge.take(seen) for edge in (old.lower, old.upper))
        columns = workspace.taken("scores", old.scores, seen), ups, downs, up_squares, down_squares
        return [ScoreTable(*columns, old.n_rows, old.fixed_prevalence, lower, upper)]

    def area(self, rng: np.random.Generator) -> float:
        """AUC of one resample, from counts alone, without building the table."""
        negatives, positives = self._counts(rng)
        below, found = self._area_buffers
        np.cumsum(negatives, out=below)
        positives = positives[found]
        pairs = 2 * int(below[-1]) * int(positives.sum())
        return int(np.dot(positives, 2 * below[found] - negatives[found])) / pairs if pairs else math.nan

    @cached_property
    def _area_buffers(self) -> tuple[validation.Integers, validation.Integers]:
        """A buffer for cumulative negatives, and the indices of the scores of positives."""
        return np.empty(len(self.table.scores), dtype=np.intp), np.flatnonzero(self.table.positives)

    def _counts(self, rng: np.random.Generator) -> Sequence[validation.Integers]:
        """Draw the rows of each class in each cell; the arrays are reused by the next draw."""
        drawn = [draw(rng) for draw in self.draws]
        return np.split(drawn[0], 2) if len(drawn) == 1 else drawn


class Workspace:
    """Memory that successive resamples reuse."""

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[Any]] = {}

    def taken(self, name: str, values: NDArray[Any], places: validation.Integers) -> NDArray[Any]:
        """Copy some entries of an array into the buffer of this name."""
        return values.take(places, out=self._buffer(name, len(places), values), mode="clip")

    def floats(self, name: str, values: NDArray[Any]) -> validation.Floats:
        """Copy numbers as floats into the buffer of this name."""
        out: validation.Floats = self._buffer(name, len(values), np.empty(0))
        out[:] = values
        return out

    def _buffer(self, name: str, size: int, like: NDArray[Any]) -> NDArray[Any]:
        if name not in self._buffers or len(self._buffers[name]) < size:
            self._buffers[name] = np.empty(size + size // 8, like.dtype)
        return self._buffers[name][:size]


def row_counts(table: ScoreTable) -> tuple[tuple[validation.Integers, validation.Integers], tuple[float, float]]:
    """Return the rows of each class in each cell, and the weight of a row; raise if weights differ."""
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


@dataclass(frozen=True, eq=False, repr=False)
class RowSource:
    """Resampled tables of several models on the same rows."""

    models: Sequence[tuple[validation.Floats, validation.Integers]]
    weight: validation.Floats | None
    draw: Draw
    prevalence: float | None = None

    @classmethod
    def of(cls, samples: Sequence[validation.BinarySample], draw: Draw, prevalence: float | None) -> RowSource:
        return cls([cells_by_score(each.score, each.y) for each in samples], samples[0].weight, draw, prevalence)

    def tables(self, rng: np.random.Generator, _workspace: Workspace | None = None) -> list[ScoreTable]:
        """Draw one resampled table for each model, all from the same rows; none if a prevalence lacks a class."""
        counts = self.draw(rng)
        drawn = int(counts.sum())
        columns = [counts.astype(np.float64)]
        if self.weight is not None:
            columns = [columns[0] * self.weight, columns[0] * self.weight**2]
        tables = [ScoreTable(*sums_by_cell(*model, columns), n_rows=drawn) for model in self.models]
        if self.prevalence is None:
            return tables
        complete = min(tables[0].total_negatives, tables[0].total_positives) > 0.0
        return [table.with_prevalence(self.prevalence) for table in tables] if complete else []


def cells_by_score(score: validation.Floats, y: validation.Bools) -> tuple[validation.Floats, validation.Integers]:
    """Distinct scores, and the cell of each row: two for each score, by class."""
    scores, level = np.unique(score + 0.0, return_inverse=True)
    return scores, 2 * level.reshape(-1) + y


def sums_by_cell(
    scores: validation.Floats, code: validation.Integers, columns: list[validation.Floats]
) -> tuple[validation.Floats, validation.Floats, validation.Floats, validation.Floats, validation.Floats]:
    """Sum weights, and squared weights if they differ, into the columns of a table of the scores with weight."""
    cells = [np.bincount(code, column, minlength=2 * len(scores)).reshape(-1, 2) for column in columns]
    seen = cells[0].sum(axis=1) > 0.0
    downs, ups, down_squares, up_squares = (
        np.ascontiguousarray(cell[seen, k]) for cell in (cells[0], cells[-1]) for k in (0, 1)
    )
    return scores[seen], ups, downs, up_squares, down_squares


# Resampled tables of rows with censored follow-up: rows are drawn, known or not, and censoring is estimated anew.

_MOST_REDRAWN = 100  # consecutive redraws: then nearly all resamples end before the horizon


@dataclass
class OutcomeSource:
    """Resampled tables of several models; ``redrawn`` counts resamples without follow-up to the horizon."""

    outcome: TimeToEvent
    models: Sequence[tuple[validation.Floats, validation.Integers]]
    draw: Draw
    redrawn: int = 0

    @classmethod
    def of(cls, outcome: TimeToEvent, samples: Sequence[validation.BinarySample], draw: Draw) -> Self:
        """Build the source from all rows of the outcome that have a weight."""
        models, use = [], outcome.present
        for sample in samples:
            if sample.origin is None:
                raise TypeError("rows with the status of some unknown come from a TimeToEvent")
            models.append(cells_by_score(sample.origin.score[use], outcome.y[use]))
        return cls(outcome if use.all() else outcome.take(use), models, draw)

    def tables(self, rng: np.random.Generator, _workspace: Workspace | None = None) -> list[ScoreTable]:
        """Draw one resampled table for each model, all from the same rows."""
        counts, outcome = self._drawn(rng)
        weight = outcome.weight
        # a row that is drawn k times is k rows of a k-th of the weight
        squared = np.divide(weight * weight, counts, out=np.zeros(len(weight)), where=counts > 0)
        told: dict[str, Any] = {"n_rows": int(counts.sum()), "about": outcome.about}
        return [ScoreTable(*sums_by_cell(*model, [weight, squared]), **told) for model in self.models]

    def _drawn(self, rng: np.random.Generator) -> tuple[validation.Integers, TimeToEvent]:
        for _ in range(_MOST_REDRAWN):
            counts = self.draw(rng)
            try:
                return counts, self.outcome.repeated(counts)
            except BeyondFollowUpError:
                self.redrawn += 1
        raise ValueError(
            f"{_MOST_REDRAWN} resamples in a row end before the horizon {self.outcome.horizon:g}: too few rows were "
            f"followed to it ({self.outcome.at_risk})."
        )


# The bootstrap for statistics without a closed form: any function of a score table.

KINDS = ("percentile", "basic", "normal")
_LEAST = 2
_BIASED = 0.25
_NOISE = 3.0
_REST = 24  # columns, so that a shorter estimate covers a longer one
_TOO_FEW = 100  # resamples, to tell a bias from noise
_CHOSEN_ON_THE_ROWS = (
    'decomposition_interval, and metric_interval of "h_measure_score" and "hull_auc", correct it for MCB, DSC, H, hulls'
)


@dataclass(frozen=True)
class Bootstrap(Tabular):
    """Values of a statistic on resampled data, for one or several models that share each resample.

    Parameters
    ----------
    models, terms : tuple of str
        Names of the models and of the numbers that the statistic returns.
    values : ndarray of shape (models, terms)
        On the data themselves.
    replicates : ndarray of shape (n_resamples, models, terms)
        On the resamples; nan where the statistic is undefined there.
    scheme : str
        "rows", "clusters" or "blocks".
    confidence_level : float
        Of the intervals.
    redrawn : int, default 0
        Resamples that ended before the horizon of a :class:`TimeToEvent`, and were drawn again.
    ends : tuple of float, default (-inf, inf)
        Least and largest value that the statistic can have, which no interval leaves.
    note : str, default ""
        Why there is no interval; empty where there is one.

    Examples
    --------
    >>> from stakes.inference import bootstrap
    >>> bootstrap([0, 1, 0, 1] * 10, [0.1, 0.8, 0.6, 0.5] * 10, "roc_auc_score", n_resamples=200, random_state=1)
    Bootstrap(roc_auc_score = 0.75, 95% interval [0.5865, 0.8907], 200 resamples of rows)
    """

    models: tuple[str, ...]
    terms: tuple[str, ...]
    values: validation.Floats
    replicates: validation.Floats
    scheme: str
    confidence_level: float
    redrawn: int = 0
    ends: tuple[float, float] = (-math.inf, math.inf)
    note: str = ""

    @property
    def standard_errors(self) -> validation.Floats:
        """Standard deviation of the replicates, shape (models, terms)."""
        return _quietly(lambda: np.nanstd(self.replicates, axis=0, ddof=1))

    @property
    def biases(self) -> validation.Floats:
        """Mean of the replicates minus the value, shape (models, terms)."""
        return _quietly(lambda: np.nanmean(self.replicates, axis=0) - self.values)

    def intervals(self, kind: Kind = "percentile") -> validation.Floats:
        """Lower and upper ends, shape (2, models, terms); nan where there are none, for the reason in ``note``.

        Parameters
        ----------
        kind : {"percentile", "basic", "normal"}, default "percentile"
            Quantiles of the replicates; these mirrored at the value; or the value and a multiple of the standard error.

        Returns
        -------
        ndarray

        Raises
        ------
        ValueError
            For another kind.

        Examples
        --------
        >>> from stakes.inference import bootstrap
        >>> y_true, y_prob = [0, 1, 0, 1] * 10, [0.1, 0.8, 0.6, 0.5] * 10
        >>> bootstrap(y_true, y_prob, "roc_auc_score", n_resamples=50, random_state=0).intervals("basic").shape
        (2, 1, 1)
        """
        validation.check_choice(kind, "kind", KINDS)
        if self.note:
            return np.full((2, *self.values.shape), math.nan)
        tail = 0.5 - self.confidence_level / 2.0
        if kind == "normal":
            half = NormalDist().inv_cdf(1.0 - tail) * self.standard_errors
            return self._within(np.stack([self.values - half, self.values + half]))
        ends = _quietly(lambda: np.nanquantile(self.replicates, [tail, 1.0 - tail], axis=0))
        return ends if kind == "percentile" else self._within(2.0 * self.values - ends[::-1])

    def _within(self, intervals: validation.Floats) -> validation.Floats:
        """Clip intervals to the range of the statistic."""
        low, high = np.minimum(self.ends[0], self.values), np.maximum(self.ends[1], self.values)
        return np.asarray(np.clip(intervals, low, high))

    def difference(self, a: str, b: str) -> Bootstrap:
        """Paired difference between two models: the first less the second, resample by resample.

        Parameters
        ----------
        a, b : str
            Names of models.

        Returns
        -------
        Bootstrap

        Raises
        ------
        ValueError
            For an unknown name.

        Examples
        --------
        >>> from stakes.inference import bootstrap
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 10, "b": [0.4, 0.6, 0.5, 0.4] * 10}
        >>> both = bootstrap([0, 1, 0, 1] * 10, models, "roc_auc_score", n_resamples=50, random_state=0)
        >>> both.difference("a", "b").models
        ('a - b',)
        """
        for name in (a, b):
            validation.check_choice(name, "the model", self.models)
        one, two = [self.models.index(a)], [self.models.index(b)]
        values, replicates = self.values[one] - self.values[two], self.replicates[:, one] - self.replicates[:, two]
        ends = self.ends[0] - self.ends[1], self.ends[1] - self.ends[0]
        return replace(self, models=(f"{a} - {b}",), values=values, replicates=replicates, ends=ends)

    def _records(self) -> list[dict[str, Any]]:
        columns = [self.values, self.standard_errors, self.biases, *self.intervals()]
        names = ("value", "standard_error", "bias", "ci_low", "ci_high")
        told = {"scheme": self.scheme, "n_resamples": len(self.replicates), "confidence_level": self.confidence_level}
        told["note"] = self.note
        return [
            {"model": model, "statistic": term, **dict(zip(names, map(float, numbers), strict=True)), **told}
            for (model, term), *numbers in zip(product(self.models, self.terms), *map(np.ravel, columns), strict=True)
        ]

    def __repr__(self) -> str:
        several = len(self.models) > 1 or " - " in self.models[0]
        parts = []
        for row in self._records():
            model, ends = f"{row['model']} " if several else "", f"[{row['ci_low']:.4g}, {row['ci_high']:.4g}]"
            value = f"{model}{row['statistic']} = {row['value']:.4g}"
            parts.append(f"{value}, {level_name(self.confidence_level)} interval {ends}")
        again = f", {self.redrawn:,} drawn again" if self.redrawn else ""
        note = f", {self.note}" if self.note else ""
        return f"Bootstrap({'; '.join(parts)}, {len(self.replicates):,} resamples of {self.scheme}{again}{note})"


def bootstrap(
    y_true: ArrayLike | TimeToEvent | ScoreTable,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
    metric: str | Statistic | None = None,
    *,
    n_resamples: int = 2000,
    clusters: ArrayLike | None = None,
    block_length: int | Literal["auto"] | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    probability: bool = True,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Callable[[int, int], object] = False,
    **options: Any,
) -> Bootstrap:
    """Say how sure any function of a score table is, by resampling rows, clusters or blocks without a new sort.

    Parameters
    ----------
    y_true : array_like of shape (n,), TimeToEvent or ScoreTable
        Labels with two values, or a table that stands for labels and scores. Of a :class:`TimeToEvent` all rows are
        drawn, followed to the horizon or not, and censoring is estimated anew from each resample.
    y_prob : array_like of shape (n,) or (n, 2), or mapping of names to such, optional
        Scores of one model, or of several that are to share each resample.
    metric : str or callable
        Name of a metric, or a function of a :class:`ScoreTable` that returns a number or a mapping of names to numbers.
    n_resamples : int, default 2000
        How many resamples.
    clusters : array_like of shape (n,), optional
        Such as patients or states: whole clusters are drawn.
    block_length : int or "auto", optional
        For rows in order of time: blocks of so many consecutive rows are drawn, at most a fifth of the rows. "auto" is
        the cube root of n, rounded up.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0. Rows are drawn, each with its weight.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data. Independent rows are then drawn
        class by class.
    logits : bool, default False
        Whether the scores are log-odds.
    probability : bool, default True
        Whether scores must lie in [0, 1]; False for scores that only rank.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        The same resamples at every call; None draws others each time. The order of the rows does not matter, but for
        blocks, and for a :class:`TimeToEvent`, of which rows are drawn by their place.
    progress : bool or callable, default False
        True to count on standard error, or a function of the number done and the number of all.
    **options
        Arguments of the metric where it is a name, such as ``bounds=``.

    Returns
    -------
    Bootstrap

    Raises
    ------
    ValueError
        For invalid data or options, an unknown metric, or a table of rows with different weights.

    Warns
    -----
    UserWarning
        Where the mean of the replicates is more than a quarter of a standard error off, beyond the resampling noise
        (Efron and Tibshirani 1993, section 10.3), or where the statistic is undefined on some resamples, which are left
        out; and where one cluster holds more than half of all weight or, where a metric takes a ranking or a prevalence
        is stated, of that of a class.

    Notes
    -----
    Independent rows are multinomial counts on the table. Blocks wrap around the end (circular block bootstrap, Politis
    and Romano 1992); their default length has the order n^(1/3) that is best for variances (Hall, Horowitz and Jing
    1995, doi:10.1093/biomet/82.3.561). A percentile interval of MCB, DSC, the H-measure or anything else that is fitted
    to the same rows does not cover: see :func:`decomposition_interval`.

    Examples
    --------
    >>> from stakes.inference import bootstrap
    >>> y_true, y_prob = [0, 1, 0, 1] * 10, [0.1, 0.8, 0.6, 0.5] * 10
    >>> bootstrap(y_true, y_prob, "net_benefit_score", threshold=0.5, n_resamples=200, random_state=1)
    Bootstrap(net_benefit_score = 0.25, 95% interval [0.025, 0.475], 200 resamples of rows)
    """
    validation.check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    level, draws = validation.check_level(confidence_level), validation.check_whole(n_resamples, "n_resamples", _LEAST)
    rng, (name, function, scores_only) = validation.generator(random_state), _statistic(metric, options)
    named = validation.by_name(y_prob, "y_prob") if isinstance(y_prob, Mapping) else {"": y_prob}
    if not named:
        raise ValueError("y_prob must hold at least one model, got an empty mapping.")
    data: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "logits": logits}
    data["probability"] = validation.check_flag(probability, "probability") and not scores_only
    source, whole, scheme = _source(
        y_true, list(named.values()), data, prevalence=prevalence, clusters=clusters, block_length=block_length
    )
    first = [_as_mapping(function(table), name) for table in whole]
    terms = tuple(first[0])
    values = np.array([[float(row[term]) for term in terms] for row in first])
    into, report = np.empty((draws, *values.shape)), _reporter(progress=progress)
    # a metric by name returns numbers, while a function may keep the table that it is given
    workspace = None if callable(metric) else Workspace()

    def resampled() -> Any:
        found = [_as_mapping(function(table), name) for table in source.tables(rng, workspace)]
        return [[row[term] for term in terms] for row in found] or math.nan

    areas = partial(source.area, rng) if isinstance(source, TableSource) and name == "roc_auc_score" else None
    replicates = _replicates(areas or resampled, into, report)
    redrawn, note = (source.redrawn, source.outcome.reason) if isinstance(source, OutcomeSource) else (0, "")
    ends = (-math.inf, math.inf) if callable(metric) else metric_range(name, options)
    found = Bootstrap(tuple(named), terms, values, replicates, scheme, level, redrawn, ends, note)
    _warn_of_undefined(found)
    _warn_of_bias(found)
    return found


def _replicates(
    resampled: Callable[[], Any], into: validation.Floats, report: Callable[[int, int], object]
) -> validation.Floats:
    from sklearn.exceptions import UndefinedMetricWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # they are counted and reported once, at the end
        for i in range(len(into)):
            into[i] = resampled()
            report(i + 1, len(into))
    return into


def _statistic(metric: str | Statistic | None, options: dict[str, Any]) -> tuple[str, Statistic, bool]:
    """Return name and function of the statistic, and whether it uses only the ranking of scores."""
    if callable(metric):
        if options:
            raise ValueError(f"options are for metrics by name, got {', '.join(options)} beside a function.")
        return "statistic", metric, False
    binary = [name for name, entry in METRICS.items() if entry.task == "binary"]
    if not isinstance(metric, str) or metric not in binary:
        near = guess_metric(str(metric), binary) or "."
        raise ValueError(f"metric must be one of {', '.join(map(repr, binary))}, got {metric!r}{near}")
    entry = METRICS[metric]
    known = [*signature(bootstrap).parameters, *signature(entry.function).parameters]
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        meant = guess(unknown, known, _AS_ELSEWHERE, "'") or "."
        raise TypeError(f"bootstrap and {entry.name} take no parameter {unknown!r}{meant}")
    return entry.name, lambda table: entry.function(table, **options), entry.response == "score"


_RESAMPLES_ELSEWHERE = ("n_boot", "n_bootstrap", "n_iterations", "n", "b")
_AS_ELSEWHERE = dict.fromkeys(_RESAMPLES_ELSEWHERE, "n_resamples") | {"seed": "random_state"}


def _source(
    y_true: Any, scores: list[Any], data: dict[str, Any], *, prevalence: float | None, clusters: Any, block_length: Any
) -> tuple[RowSource | TableSource | OutcomeSource, list[ScoreTable], str]:
    """Return the source of resamples, the tables of all rows, and the resampling scheme."""
    if clusters is not None and block_length is not None:
        raise ValueError("clusters= and block_length= (rows in order) cannot both be given.")
    if isinstance(y_true, TimeToEvent) and not y_true.plain:
        if prevalence is not None:
            raise ValueError("prevalence= cannot be given beside a TimeToEvent: the class of some rows is not known.")
        samples = [evaluation_data(y_true, values, **data).rows for values in scores]
        codes, _ = dependence_of(samples[0], clusters, None)
        draw, scheme = _rows_drawn(int(np.count_nonzero(y_true.present)), codes, block_length)
        tables = [EvaluationData(sample, None).table for sample in samples]
        return OutcomeSource.of(y_true, samples, draw), tables, scheme
    refuse_weighing(y_true, "bootstrap")
    given = isinstance(y_true, ScoreTable)
    if clusters is None and block_length is None and (given or (len(scores) == 1 and data["sample_weight"] is None)):
        table = evaluation_data(y_true, scores[0], **data).table
        table = table if prevalence is None else table.with_prevalence(prevalence)
        return TableSource.of(table), [table], "rows"
    if given:
        raise ValueError("clusters= and block_length= need the rows: pass y_true and y_prob instead of a ScoreTable.")
    samples = [evaluation_data(y_true, values, **data).rows for values in scores]
    codes = clusters_of(samples[0], clusters, data["sample_weight"])
    draw, scheme = _rows_drawn(len(samples[0].y), codes, block_length)
    if codes is not None:
        _warn_of_a_large_cluster(codes, samples[0], by_class=prevalence is not None or not data["probability"])
    if scheme == "rows":
        order = validation.settled_order(*(sample.score for sample in samples), samples[0].y, samples[0].weight)
        samples = [sample.arranged(order) for sample in samples]
    tables = [ScoreTable.from_sample(sample) for sample in samples]
    if prevalence is not None:
        tables = [table.with_prevalence(prevalence) for table in tables]
        if scheme == "rows":
            y = samples[0].y
            draw = draw_rows([np.flatnonzero(~y), np.flatnonzero(y)], len(y))
    return RowSource.of(samples, draw, prevalence), tables, scheme


def _rows_drawn(n: int, codes: validation.Integers | None, block_length: Any) -> tuple[Draw, str]:
    """Return the function that draws rows, and the name of the scheme."""
    if codes is not None:
        return draw_clusters(codes), "clusters"
    if block_length is not None:
        return draw_blocks(n, _block_length(block_length, n)), "blocks"
    return draw_rows([np.arange(n)], n), "rows"


def _block_length(given: Any, n: int) -> int:
    most = max(n // NEEDED_CLUSTERS, 1)
    if isinstance(given, str) and given == "auto":
        return min(math.ceil(round(n ** (1.0 / 3.0), 9)), most)  # the cube root of 1000 is 10, not a hair above
    if not (is_whole(given) and 1 <= given <= most):
        raise ValueError(
            f'block_length must be "auto" or a whole number from 1 to {most}, with which a resample of {n} rows has at '
            f"least {NEEDED_CLUSTERS} blocks, got {given!r}."
        )
    return int(given)


def _as_mapping(value: float | Mapping[str, float], name: str) -> Mapping[str, float]:
    return value if isinstance(value, Mapping) else {name: value}


def _quietly(result: Callable[[], validation.Floats]) -> validation.Floats:
    """Suppress numpy's warnings on infinite or undefined replicates."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(result())


def _reporter(*, progress: bool | Callable[[int, int], object]) -> Callable[[int, int], object]:
    if callable(progress):
        return progress
    if not validation.check_flag(progress, "progress"):
        return lambda _done, _all: None

    begun = monotonic()

    def write(done: int, of: int) -> None:
        if done == of or 100 * done // of > 100 * (done - 1) // of:
            left = time_left(done, of, monotonic() - begun)
            rest = f", {left}" if left else ""
            sys.stderr.write(f"\rbootstrap: {done:,} of {of:,}{rest:<{_REST}}" + ("\n" if done == of else ""))
            sys.stderr.flush()

    return write


def _warn_of_a_large_cluster(codes: validation.Integers, sample: validation.BinarySample, *, by_class: bool) -> None:
    weight = np.ones(len(sample.y)) if sample.weight is None else sample.weight
    reason = Clusters(codes, weight / weight.sum(), members(sample.y) if by_class else ()).reason()
    if reason:
        warnings.warn(f"{reason}, and these are too short.", stacklevel=4)


def _warn_of_undefined(result: Bootstrap) -> None:
    missing: validation.Bools = np.any(np.isnan(result.replicates), axis=(1, 2))
    if missing.any() and not np.isnan(result.values).any():
        warnings.warn(
            f"{int(missing.sum()):,} of {len(missing):,} resamples leave the statistic undefined, mostly for want of "
            "one class, and are left out: the intervals are too short.",
            stacklevel=3,
        )


def _warn_of_bias(result: Bootstrap) -> None:
    if len(result.replicates) < _TOO_FEW:
        return
    error = result.standard_errors
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.where(error > 0.0, result.biases / error, 0.0)
    allowed = _BIASED + _NOISE / math.sqrt(len(result.replicates))
    for (i, j), ratio in np.ndenumerate(off):
        if abs(ratio) > allowed:
            label = f"{result.models[i]} {result.terms[j]}".strip()
            side = "above" if ratio > 0 else "below"
            warnings.warn(
                f"the resampled values of {label} lie {abs(ratio):.2g} standard errors {side} its value on average: "
                f"its interval does not cover. Choices made on the same rows cause this; {_CHOSEN_ON_THE_ROWS}.",
                stacklevel=3,
            )
