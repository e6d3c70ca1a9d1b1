"""`ScoreTable`, its recalibration, the regret of rows and of tables, and how results are kept in files."""

from __future__ import annotations

import io
import json
import math
import os
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.numerics import (
    count_cells,
    count_groups,
    count_sample,
    fit_logistic,
    logit,
    pav_starts,
    sigmoid,
    weighted_sum,
)
from stakes.base.outcome import Outcome
from stakes.base.validation import (
    BinarySample,
    Floats,
    blocks,
    check_choice,
    check_kind,
    check_number,
    check_prevalence,
    check_sample,
    plain_label,
    to_array,
)
from stakes.costs import CostDistribution, CostsLike, as_costs
from stakes.outputs.files import delivered, json_ready
from stakes.outputs.result_table import build_frame
from stakes.outputs.serialization import JsonReader

Columns = dict[str, NDArray[np.float64]]


class Serializable:
    """Base of results that can be saved and loaded; ``_what`` names them, ``_form`` is the format with its version."""

    _what: ClassVar[str]
    _form: ClassVar[str]

    @abstractmethod
    def _kept(self) -> tuple[dict[str, Any], Columns]:
        """Return the facts and columns to write."""

    @classmethod
    @abstractmethod
    def _from_entries(cls, entries: JsonReader) -> Self:
        """Check the entries and rebuild the object."""

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return everything as JSON that :meth:`from_json` reads.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str
            With the format and its version.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions([0, 1], [0.1, 0.8]).to_json()[:28]
        '{"format": "stakes-table-2",'
        """
        facts, columns = self._kept()
        lists = {name: values.tolist() for name, values in columns.items()}
        return delivered(json.dumps(json_ready({"format": self._form, **facts, **lists})), path)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        Self

        Raises
        ------
        ValueError
            For another format, or a damaged text, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_json(ScoreTable.from_predictions([0, 1], [0.1, 0.8]).to_json()).scores.tolist()
        [0.1, 0.8]
        """
        return cls._from_entries(JsonReader.read(text, cls._what, cls._form))

    def to_parquet(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Return everything as a Parquet file that :meth:`from_parquet` reads: compact where there are many rows.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        bytes

        Raises
        ------
        ImportError
            If pyarrow is not installed (``pip install 'stakes[engines]'``).

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from stakes import ScoreTable
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "a.parquet"
        ...     _ = ScoreTable.from_predictions([0, 1], [0.1, 0.8]).to_parquet(file)
        ...     ScoreTable.from_parquet(file).n_rows
        2
        """
        from stakes.tables import write_columns

        facts, columns = self._kept()
        buffer = io.BytesIO()
        write_columns(buffer, columns, json.dumps(json_ready({"format": self._form, **facts})))
        return delivered(buffer.getvalue(), path)

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`to_parquet` wrote.

        Parameters
        ----------
        path : str or path
            The file, which may come from anywhere.

        Returns
        -------
        Self

        Raises
        ------
        ValueError
            For another format, or a damaged file, naming the first entry that is wrong.
        ImportError
            If pyarrow is not installed (``pip install 'stakes[engines]'``).

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from stakes import ScoreTable
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "a.parquet"
        ...     _ = ScoreTable.from_predictions([0, 1], [0.1, 0.8]).to_parquet(file)
        ...     ScoreTable.from_parquet(file).scores.tolist()
        [0.1, 0.8]
        """
        from stakes.tables import read_columns

        columns, text = read_columns(Path(path), cls._what)
        entries = JsonReader.read(text, cls._what, cls._form)
        return cls._from_entries(JsonReader({**entries.content, **columns}, cls._what))


# The columns of score tables: addition, and checks on reading.

PREVALENCE_OF_AMOUNTS = (
    "prevalence= does not fit amounts by row: weigh the rows instead, by sample_weight= of RowCosts."
)
MARKS = ("estimated_weights", "by_amount", "about")  # stored only if true or not empty
_ROOM = 1.0 + 1e-9  # for the rounding of sums over many rows
_SQUARED_TO_ZERO = 1e-150  # smaller weights may have squares that are zero
_MANY, _PER_LOG_ODDS, _RANKS = 1 << 19, 512, 4096  # of narrow cells
COLUMNS = ("positives", "negatives", "positives_squared", "negatives_squared")


def class_factors(prevalence: float, total_positives: float, total_negatives: float) -> tuple[float, float]:
    """Return the factors of the classes' weights for a stated prevalence; the total weight is unchanged."""
    total = total_positives + total_negatives
    return prevalence * total / total_positives, (1.0 - prevalence) * total / total_negatives


def weigh_classes(table: Any, up: float, down: float) -> dict[str, Any]:
    """Multiply the weights of positives and of negatives in the columns of a table."""
    return {name: getattr(table, name) * by for name, by in zip(COLUMNS, (up, down, up**2, down**2), strict=True)}


def check_columns(entries: JsonReader) -> dict[str, Any]:
    """Check the entries of a kept table, and return the arguments to rebuild it."""
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
    known["neg_label"] = entries.label("neg_label") if "neg_label" in entries.content else None
    if known["neg_label"] == known["pos_label"]:
        raise entries.broken("neg_label", f"another label than the positive one, {known['pos_label']!r}")
    return {**columns, **flags, **known, "about": about}


def _check_counts(entries: JsonReader, columns: dict[str, Floats]) -> None:
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


def _refuse_first(entries: JsonReader, name: str, bad: NDArray[np.bool_], rule: str, values: Floats) -> None:
    if np.any(bad):
        place = int(np.argmax(bad))
        raise entries.broken(name, f"{rule}, got {values[place]:.10g} at place {place}")


def _check_rows(entries: JsonReader, columns: dict[str, Floats], n_rows: int) -> None:
    """Check that there are enough rows for the sums of weights and of their squares (Cauchy-Schwarz)."""
    fewest = 0.0
    for name in COLUMNS[:2]:
        weight, squared = columns[name], columns[f"{name}_squared"]
        with np.errstate(over="ignore"):
            fewest += float(np.sum(weight * (weight / np.where(squared > 0.0, squared, np.inf))))
    scores = len(columns["scores"])
    if max(fewest * (2.0 - _ROOM) - 0.5, scores) > n_rows:
        what = "the number of scores" if fewest <= scores else "as the weights and their squares need"
        raise entries.broken("n_rows", f"at least {max(fewest, scores):,.0f}, {what}, got {n_rows:,}")


def _check_cells(entries: JsonReader, columns: dict[str, Floats], resolution: int | None) -> None:
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


def negative_label(y_true: Any, sample: BinarySample, sample_weight: Any) -> str | float | None:
    """Return the label beside the positive one of the rows that count; None where there is none, or an outcome."""
    if isinstance(y_true, Outcome) or sample.y.all():
        return None
    labels = to_array(y_true, "y_true")
    if sample_weight is not None:
        labels = labels[to_array(sample_weight, "sample_weight") > 0.0]
    return plain_label(labels[np.argmin(sample.y)])


def outcome_of(table: ScoreTable) -> str:
    """The outcome and the amounts of a table; not what weights were estimated for, which not every part needs."""
    known = re.sub(r"for (censoring|labels not looked up)( and )?", "", table.about)
    return known.removesuffix("rows weighted ").removesuffix(", ") or "labels"


def common_label(
    pos_label: str | float, mine: str | float | None, its: str | float | None, what: str
) -> str | float | None:
    """Return the label beside the positive one of both, or raise where they are two; 0 and -1 may both be beside 1."""
    if mine is None or its is None or mine == its:
        return its if mine is None else mine
    if pos_label == 1 and {mine, its} == {0, -1}:
        return None
    raise ValueError(f"{what} of the same labels, got {pos_label!r} beside {mine!r} and beside {its!r}.")


# The sufficient statistics of one binary classifier on independent rows: class counts at its distinct scores.
#
# Every metric, curve and closed-form interval is a sum over this table. It is built by one sort, merges by addition,
# and comes as well from arrays as from the group-by of a data engine.


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Serializable):
    """Distinct scores in ascending order, with the weight of positives and of negatives at each.

    Build it with :meth:`from_predictions` or :meth:`from_frame`; pass it wherever ``(y_true, y_prob)`` is asked for.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Distinct scores, strictly ascending.
    positives, negatives : ndarray of shape (m,)
        Total weight of positive and of negative rows at each score.
    positives_squared, negatives_squared : ndarray of shape (m,)
        Sums of squared weights, for standard errors.
    n_rows : int
        Number of rows counted (rows of weight zero are not).
    fixed_prevalence : bool, default False
        Whether the class totals were set by :meth:`with_prevalence`, so that they carry no sampling error.
    lower, upper : ndarray of shape (m,), optional
        Smallest and largest score pooled in each cell of a binned table.
    resolution : int, optional
        Into how many cells of equal width the scores were pooled.
    estimated_weights : bool, default False
        Whether an outcome estimated the weights from the rows: errors from the table alone take them as known.
    by_amount : bool, default False
        Whether rows count by what is at stake in them, so that scores are no probabilities.
    about : str, default ""
        What pictures of the rows must say: the horizon, what weighs them.
    pos_label : str, int or float, default 1
        The label of the positive class. Tables of other classes are not merged.
    neg_label : str, int, float or None
        The label beside it, where that is known; tables of two such labels are not merged.

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> table = ScoreTable.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    >>> table
    ScoreTable(4 rows, 3 distinct scores in [0.1, 0.8], prevalence 0.5)
    >>> table.positives.tolist()
    [0.0, 1.0, 1.0]
    """

    scores: Floats
    positives: Floats
    negatives: Floats
    positives_squared: Floats
    negatives_squared: Floats
    n_rows: int
    fixed_prevalence: bool = False
    lower: Floats | None = field(default=None)
    upper: Floats | None = field(default=None)
    resolution: int | None = None
    estimated_weights: bool = False
    by_amount: bool = False
    about: str = ""
    pos_label: str | float = 1
    neg_label: str | float | None = None

    _what: ClassVar[str] = "score table"
    _form: ClassVar[str] = "stakes-table-2"

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        logits: bool = False,
        probability: bool = True,
        weight_kind: str = "sampling",
    ) -> Self:
        """Build the table from labels and scores by one sort.

        Parameters
        ----------
        y_true : array_like of shape (n,) or Outcome
            Labels with two values: 0/1, -1/1, booleans, or anything with ``pos_label``; or an outcome of
            :mod:`stakes.outcomes`.
        y_prob : array_like of shape (n,) or (n, 2)
            Probability of the positive class.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0; a row of weight zero is as if absent.
        pos_label : object, optional
            The label of the positive class.
        logits : bool, default False
            Whether the scores are log-odds.
        probability : bool, default True
            Whether scores must lie in [0, 1]; False for scores that only rank.
        weight_kind : {"sampling", "frequency"}, default "sampling"
            Whether a weight k is one row that stands for others, or k equal rows: the estimates are the same, the
            standard errors are not.

        Returns
        -------
        ScoreTable

        Raises
        ------
        ValueError
            For missing, non-finite or out-of-range values, labels with more than two values, or unequal lengths.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions(["no", "yes"], [0.2, 0.7], pos_label="yes").prevalence
        0.5
        """
        sample = check_sample(y_true, y_prob, sample_weight, pos_label, logits=logits, probability=probability)
        labels: dict[str, Any] = {"pos_label": plain_label(pos_label)}
        labels["neg_label"] = negative_label(y_true, sample, sample_weight)
        if check_choice(weight_kind, "weight_kind", ("sampling", "frequency")) == "sampling" or sample.weight is None:
            return replace(cls.from_sample(sample), **labels)
        if sample.origin is not None or np.any(sample.weight != np.round(sample.weight)):
            raise ValueError('weight_kind="frequency" needs whole weights of labels: k stands for k equal rows.')
        weight = sample.weight
        columns = count_groups(sample.score, sample.y, weight, weight, int(weight.sum()))
        return cls(**columns, **labels)

    @classmethod
    def from_sample(cls, sample: BinarySample) -> Self:
        """Build the table from rows that are checked already."""
        columns = count_sample(sample) | {"about": sample.about}
        if sample.origin is not None:
            columns |= {"n_rows": sample.origin.n_rows, "estimated_weights": sample.origin.outcome.estimated}
            columns["by_amount"] = sample.origin.outcome.by_amount
        return cls(**columns)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        pos_label: object = None,
        resolution: int | None = None,
    ) -> Self:
        """Build the table inside a data engine by one group-by.

        Parameters
        ----------
        frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
            Anything narwhals understands, eager or lazy.
        label, score : str
            Names of the columns with the labels and the scores in [0, 1].
        weight : str, optional
            Name of the column with weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        resolution : int, optional
            Pool the scores into this many cells of equal width and keep each cell's mean;
            :meth:`error_bound` then bounds what this changes. None is exact.

        Returns
        -------
        ScoreTable

        Raises
        ------
        ValueError
            For a missing column, missing or out-of-range values, or labels with more than two values.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import ScoreTable
        >>> frame = pl.LazyFrame({"cancer": [0, 1, 1], "risk": [0.1, 0.3, 0.3]})
        >>> ScoreTable.from_frame(frame, label="cancer", score="risk")
        ScoreTable(3 rows, 2 distinct scores in [0.1, 0.3], prevalence 0.666667)
        """
        from stakes.tables import group_scores

        columns = group_scores(
            frame, label=label, score=score, weight=weight, pos_label=pos_label, resolution=resolution
        )
        return cls(**columns, resolution=resolution, pos_label=plain_label(pos_label))

    @cached_property
    def total_positives(self) -> float:
        """Total weight of positives."""
        return float(self.positives.sum())

    @cached_property
    def total_negatives(self) -> float:
        """Total weight of negatives."""
        return float(self.negatives.sum())

    @property
    def total(self) -> float:
        """Total weight."""
        return self.total_positives + self.total_negatives

    @property
    def prevalence(self) -> float:
        """Weighted share of positives."""
        return self.total_positives / self.total

    @property
    def shares(self) -> tuple[float, float]:
        """Weighted shares of negatives and of positives."""
        return self.total_negatives / self.total, self.total_positives / self.total

    @cached_property
    def false_negatives(self) -> Floats:
        """Share of missed positives with each score as the threshold, and then above all scores."""
        share = np.zeros(len(self.scores) + 1)
        np.add.accumulate(self.positives, out=share[1:])
        share /= self.total
        return share

    @cached_property
    def false_positives(self) -> Floats:
        """Share of false alarms with each score as the threshold, and then above all scores."""
        share = np.zeros(len(self.scores) + 1)
        np.add.accumulate(self.negatives[::-1], out=share[-2::-1])  # np.cumsum would copy the reversed view
        share /= self.total
        return share

    @cached_property
    def knots(self) -> Floats:
        """The distinct scores inside (0, 1), between 0 and 1: where decisions change."""
        first, last = int(self.scores[0] <= 0.0), len(self.scores) - int(self.scores[-1] >= 1.0)
        framed, size = self.scores.base, len(self.scores)
        if isinstance(framed, np.ndarray) and framed.dtype == float and framed.ndim == 1 and len(framed) > size + 1:
            same_place = framed[1:].ctypes.data == self.scores.ctypes.data
            found: Floats = framed[first : last + 2]
            if same_place and (framed[0], framed[size + 1]) == (found[0], found[-1]) == (0.0, 1.0):
                return found
        return np.concatenate([[0.0], self.scores[first:last], [1.0]]) if first < last else np.array([0.0, 1.0])

    @cached_property
    def _narrow_cells(self) -> ScoreTable:
        """The scores pooled into narrow cells, each at the mean of its own.

        A cell is at most 1/512 wide in log-odds, and of several scores holds at most a 4,096th of the weight: so it is
        narrow too where all scores lie close together.
        """
        scores, weight = self.scores, self.positives + self.negatives
        first, last = np.searchsorted(scores, [np.nextafter(0.0, 1.0), 1.0])  # 0 and 1 are cells of their own
        low, high = np.floor(_PER_LOG_ODDS * logit(scores[[first, last - 1]]))
        edges = np.searchsorted(scores, sigmoid(np.arange(low + 1.0, high + 1.0) / _PER_LOG_ODDS))
        ranks = np.searchsorted(np.cumsum(weight, out=weight), np.arange(1, _RANKS) * (self.total / _RANKS))
        starts = np.unique(np.concatenate([[0, first, last], edges, ranks]))
        starts = starts[starts < len(scores)]
        columns: dict[str, Any] = {name: np.add.reduceat(getattr(self, name), starts) for name in COLUMNS}
        weighed = np.add(self.positives, self.negatives, out=weight)  # in the same memory, which long tables fill
        weighed *= scores
        mean = np.add.reduceat(weighed, starts) / (columns["positives"] + columns["negatives"])
        ends = np.append(starts[1:], len(scores)) - 1
        return replace(self, scores=np.clip(mean, scores[starts], scores[ends]), **columns)

    @cached_property
    def pav_starts(self) -> NDArray[np.intp]:
        """Index of the first score of each block of the pool-adjacent-violators fit, and the number of scores."""
        return np.append(pav_starts(self.positives, self.negatives), len(self.scores))

    @cached_property
    def pav_values(self) -> Floats:
        """Recalibrated score (pool-adjacent-violators event rate) of each block."""
        starts = self.pav_starts[:-1]
        positives = np.add.reduceat(self.positives, starts)
        return positives / (positives + np.add.reduceat(self.negatives, starts))

    def pav_by_score(self) -> Floats:
        """Recalibrated score of each distinct score.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions([1, 0, 1], [0.1, 0.2, 0.9]).pav_by_score().tolist()
        [0.5, 0.5, 1.0]
        """
        return np.repeat(self.pav_values, np.diff(self.pav_starts))

    def recalibrated(self) -> Self:
        """Replace the scores by isotonic (pool-adjacent-violators) event rates: the best threshold rule in hindsight.

        Returns
        -------
        ScoreTable
            Optimistic on the data that it was fitted to.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions([1, 0, 1], [0.1, 0.2, 0.9]).recalibrated().scores.tolist()
        [0.5, 1.0]
        """
        starts = self.pav_starts[:-1]
        return self.pooled(self.pav_values, starts)

    def at_threshold(self, threshold: float) -> Self:
        """Turn the scores into hard labels: 1 where score >= threshold, else 0.

        Parameters
        ----------
        threshold : float
            A finite decision cut.

        Returns
        -------
        ScoreTable
            With scores 0 and 1 (or one of them).

        Raises
        ------
        ValueError
            If the threshold is not finite.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions([0, 1, 1], [0.1, 0.4, 0.8]).at_threshold(0.4).positives.tolist()
        [0.0, 2.0]
        """
        threshold = check_number(threshold, "threshold")
        if not math.isfinite(threshold):
            raise ValueError(f"threshold must be finite, got {threshold}.")
        cut = int(np.searchsorted(self.scores, threshold, side="left"))
        starts = np.array([i for i in dict.fromkeys((0, cut)) if i < len(self.scores)], dtype=np.intp)
        hard = self.pooled(np.where(starts >= cut, 1.0, 0.0), starts)
        if self.lower is None or self.upper is None:
            return hard
        # a cell containing the threshold may hold rows of the other decision
        split = np.maximum.reduceat((self.lower < threshold) & (threshold <= self.upper), starts)
        return replace(hard, lower=np.where(split, 0.0, hard.scores), upper=np.where(split, 1.0, hard.scores))

    def pooled(self, scores: Floats, starts: NDArray[np.intp]) -> Self:
        """Pool runs of scores, which start at these indices, into one score each."""
        sums: dict[str, Any] = {name: np.add.reduceat(getattr(self, name), starts) for name in COLUMNS}
        edges = (None, None) if self.lower is None else (np.zeros(len(scores)), np.ones(len(scores)))
        return replace(self, scores=scores, **sums, lower=edges[0], upper=edges[1], resolution=None)

    def within(self, low: float, high: float) -> Self:
        """Return the table of the rows whose score lies between two ends, both included.

        Parameters
        ----------
        low, high : float
            The ends.

        Returns
        -------
        ScoreTable
            Its prevalence is its own, even where that of the whole table was set. Where rows of unlike weights share a
            score, the table does not know how many lie there: ``n_rows`` is then their effective number.

        Raises
        ------
        ValueError
            If no score lies there.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).within(0.2, 0.8)
        ScoreTable(3 rows, 2 distinct scores in [0.4, 0.8], prevalence 0.666667)
        """
        check_number(low, "low"), check_number(high, "high")
        inside = slice(np.searchsorted(self.scores, low, side="left"), np.searchsorted(self.scores, high, side="right"))
        parts = {name: getattr(self, name)[inside] for name in ("scores", *COLUMNS)}
        if not len(parts["scores"]):
            raise ValueError(f"low and high must hold scores of the table, got ({low!r}, {high!r}) for {self!r}.")
        lower, upper = (None if ends is None else ends[inside] for ends in (self.lower, self.upper))
        rows = 0.0
        for name in ("positives", "negatives"):
            squared = parts[f"{name}_squared"]
            rows += float(np.sum(parts[name] ** 2 / np.where(squared > 0.0, squared, 1.0)))
        return replace(self, **parts, lower=lower, upper=upper, n_rows=round(rows), fixed_prevalence=False)

    def with_prevalence(self, prevalence: float) -> Self:
        """Reweight the classes to a stated prevalence, as for case-control data.

        Parameters
        ----------
        prevalence : float
            Share of positives in the population, in (0, 1).

        Returns
        -------
        ScoreTable
            The same scores with each class's weight scaled; the total weight is kept.

        Raises
        ------
        ValueError
            If the prevalence is not in (0, 1), only one class is present, or rows are weighted by amounts.

        Notes
        -----
        The scores are not moved: correct scores fitted to the sampled data first.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions([0, 1], [0.1, 0.8]).with_prevalence(0.15).prevalence
        0.15
        """
        target = check_prevalence(prevalence)
        if self.by_amount:
            raise ValueError(PREVALENCE_OF_AMOUNTS)
        if not (self.total_positives > 0.0 and self.total_negatives > 0.0):
            raise ValueError("prevalence= needs rows of both classes, got one class only.")
        by = class_factors(target, self.total_positives, self.total_negatives)
        return replace(self, **weigh_classes(self, *by), fixed_prevalence=True)

    def merge(self, other: ScoreTable) -> Self:
        """Add the rows of another table of the same classifier.

        Parameters
        ----------
        other : ScoreTable
            A table over other rows. Where one of the two is binned, so is the sum, into the same cells.

        Returns
        -------
        ScoreTable
            Counts are those of all rows to the last bit; the mean scores of cells to rounding.

        Raises
        ------
        ValueError
            If ``other`` is no table, the tables differ in their labels, in their outcome (such as its horizon), in what
            weighs rows (such as the currency of amounts) or in their cells, or one was reweighted to a prevalence.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> first = ScoreTable.from_predictions([0, 1], [0.1, 0.8])
        >>> first.merge(ScoreTable.from_predictions([1], [0.8])).positives.tolist()
        [0.0, 2.0]
        """
        check_kind(other, "other", ScoreTable, remedy="build one by ScoreTable.from_predictions(y_true, y_prob)")
        if any(t.fixed_prevalence or (t.lower is not None and t.resolution is None) for t in (self, other)):
            raise ValueError("merge needs tables as they were counted: merge first, then pool or set the prevalence.")
        if self.pos_label != other.pos_label:
            raise ValueError(
                f"merge needs tables of the same positive class, got pos_label={self.pos_label!r} and "
                f"{other.pos_label!r}."
            )
        mine, its = outcome_of(self), outcome_of(other)
        if self.by_amount != other.by_amount or mine != its:
            raise ValueError(f"merge needs tables of the same outcome and unit of amounts, got {mine!r} and {its!r}.")
        cells = {t.resolution for t in (self, other)} - {None}
        if len(cells) > 1:
            raise ValueError(f"merge needs tables of one resolution, got {self.resolution} and {other.resolution}.")
        both, n_rows = [table._kept()[1] for table in (self, other)], self.n_rows + other.n_rows
        marks: dict[str, Any] = {name: getattr(self, name) for name in (*MARKS, "pos_label")}
        marks["estimated_weights"] |= other.estimated_weights
        marks["about"] = max(self.about, other.about, key=len)  # with what weights were estimated for
        marks["neg_label"] = common_label(self.pos_label, self.neg_label, other.neg_label, "merge needs tables")
        scores, *sums = (np.concatenate([part[name] for part in both]) for name in ("scores", *COLUMNS))
        resolution = next(iter(cells), None)
        if resolution is not None:
            ends = [np.concatenate([part.get(name, part["scores"]) for part in both]) for name in ("lower", "upper")]
            columns = _in_cells(scores, ends, sums, n_rows, resolution)
            return type(self)(**columns, resolution=resolution, **marks)
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        counts: dict[str, Any] = {
            name: np.add.reduceat(part[order], starts) for name, part in zip(COLUMNS, sums, strict=True)
        }
        return type(self)(ordered[starts], **counts, n_rows=n_rows, **marks)

    def error_bound(self, costs: CostsLike, rule: float | str = "score") -> float:
        """Bound what binning the scores can have changed in the integral of regret over a cost distribution.

        Parameters
        ----------
        costs : CostDistribution, tuple of float, or float
            How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for
            ``costs.Fixed(c)``.
        rule : {"score", "optimal"} or float, default "score"
            How scores become decisions; see :func:`expected_regret`.

        Returns
        -------
        float
            0 for an exact table; may be infinite where the loss is.

        Raises
        ------
        ValueError
            For invalid costs or another rule.

        Examples
        --------
        >>> from stakes import ScoreTable, costs
        >>> ScoreTable.from_predictions([0, 1], [0.1, 0.8]).error_bound(costs.Uniform(0, 1))
        0.0
        """
        costs = as_costs(costs)
        if isinstance(rule, str) and rule not in {"score", "optimal"}:
            raise ValueError(f'rule must be "score", "optimal" or a threshold, got {rule!r}.')
        rule = rule if isinstance(rule, str) else check_number(rule, "rule")
        if self.lower is None or self.upper is None:
            return 0.0
        wide = self.upper > self.lower
        lower, upper = self.lower[wide], self.upper[wide]
        negatives, positives = self.negatives[wide] / self.total, self.positives[wide] / self.total
        always, never = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
        if rule == "optimal":  # for each cost the best threshold splits at most one cell, at best by class
            harmonic = negatives * positives / (negatives + positives)
            tops = [float(column.max(initial=0.0)) for column in (negatives, positives, harmonic)]
            return min(_cost(top, unit) for top, unit in zip(tops, (always, never, costs.mass), strict=True))
        if not isinstance(rule, str):
            split = (lower < rule) & (rule <= upper)
            return _cost(float(negatives[split].sum()), always) + _cost(float(positives[split].sum()), never)
        with np.errstate(invalid="ignore"):
            spread0 = costs.negative_loss(upper) - costs.negative_loss(lower)
            spread1 = costs.positive_loss(lower) - costs.positive_loss(upper)
        return weighted_sum(negatives, spread0) + weighted_sum(positives, spread1)

    def frame(self, backend: Any = None) -> Any:
        """Return the table as a data frame with columns score, positives, negatives.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions([0, 1], [0.1, 0.8]).frame("polars").shape
        (2, 3)
        """
        return build_frame({"score": self.scores, "positives": self.positives, "negatives": self.negatives}, backend)

    def _kept(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        facts = {name: getattr(self, name) for name in ("n_rows", "fixed_prevalence", "resolution", "pos_label")}
        facts |= {name: mark for name in MARKS if (mark := getattr(self, name))}
        facts |= {} if self.neg_label is None else {"neg_label": self.neg_label}
        columns = {name: getattr(self, name) for name in ("scores", *COLUMNS, "lower", "upper")}
        return facts, {name: values for name, values in columns.items() if values is not None}

    @classmethod
    def _from_entries(cls, entries: JsonReader) -> Self:
        return cls(**check_columns(entries))

    def __repr__(self) -> str:
        span = f"[{self.scores[0]:g}, {self.scores[-1]:g}]"
        plural = "score" if len(self.scores) == 1 else "scores"
        size = f"{self.n_rows} rows, {len(self.scores)} distinct {plural} in {span}"
        return f"ScoreTable({size}, prevalence {self.prevalence:.6g})"


def in_cells(table: ScoreTable, resolution: int) -> ScoreTable:
    """Pool the scores of a table into cells of equal width; a table of cells must divide them without rest.

    Powers of two divide one another to the last bit.
    """
    if table.lower is not None and (table.resolution is None or table.resolution % resolution):
        raise ValueError(f"resolution must divide that of the table, {table.resolution}, got {resolution}.")
    columns = table._kept()[1]
    ends = [columns.get(name, table.scores) for name in ("lower", "upper")]
    found = _in_cells(table.scores, ends, [columns[name] for name in COLUMNS], table.n_rows, resolution)
    return replace(table, **found, resolution=resolution)


def _in_cells(
    scores: Floats, ends: Sequence[Floats], sums: Sequence[Floats], n_rows: int, resolution: int
) -> dict[str, Any]:
    spans = (*ends, scores * (sums[0] + sums[1]))
    return count_cells(np.floor(ends[0] * resolution), spans, sums, n_rows=n_rows, resolution=resolution)


def in_narrow_cells(table: ScoreTable, most: int | None = None, *, like: ScoreTable | None = None) -> ScoreTable:
    """Pool scores into narrow cells where they are more than half a million, or more than ``most``.

    ``like`` is the table whose scores are counted, by default this one. Scores in cells already stay there.
    """
    few = len((like or table).scores) <= (_MANY if most is None else most)
    return table if few or table.resolution is not None else table._narrow_cells


def area_under_roc(table: ScoreTable) -> float:
    """AUC of a table that holds both classes."""
    pairs, below = [], 0.0
    for part in blocks(len(table.scores)):
        positives, negatives = table.positives[part], table.negatives[part]
        ranked = np.cumsum(negatives)
        pairs.append(float(np.dot(positives, ranked + (below - 0.5 * negatives))))
        below += float(ranked[-1])
    return math.fsum(pairs) / (table.total_positives * table.total_negatives)


def _cost(share: float, unit: float) -> float:
    """Multiply share and cost, where a share of zero makes even an infinite cost zero."""
    return share * unit if share > 0.0 else 0.0


# Logistic recalibration of a score: logit P(y = 1) = intercept + slope * logit(score), by Newton's method.
#
# Works on a score table, so that millions of tied rows cost no more than their distinct scores.

_CELLS, _MIXED = 1000, 100
_STEEPEST = 20.0  # change of the log-odds where the fit begins


@dataclass(frozen=True, eq=False, repr=False)
class LogisticFit:
    """Intercept, slope and their covariance; ``status`` says why they may be infinite or undefined."""

    intercept: float
    slope: float
    log_likelihood: float
    covariance: Floats
    status: str = ""


def fit_recalibration(table: ScoreTable, *, slope: float | None = None) -> LogisticFit:
    """Fit intercept and slope by maximum likelihood, or the intercept alone with a fixed slope."""
    status = _undefined(table)
    free = 2 if slope is None else 1
    nothing = np.full((free, free), np.nan)
    if status:
        return LogisticFit(math.nan, math.nan if slope is None else slope, math.nan, nothing, status)
    x = logit(table.scores)
    if slope is None:
        if len(x) == 1:
            return LogisticFit(math.nan, math.nan, math.nan, nothing, "all scores are equal")
        positive, negative = table.scores[table.positives > 0.0], table.scores[table.negatives > 0.0]
        if positive[0] >= negative[-1] or negative[0] >= positive[-1]:  # a cut of the scores separates the classes
            steep = math.inf if positive[0] >= negative[-1] else -math.inf
            return LogisticFit(math.nan, steep, 0.0, nothing, "the scores separate the classes")
    # less their mean, for log-odds far from 0 tell the intercept hardly from the slope
    middle = float((table.positives + table.negatives) @ x) / table.total
    x = x - middle
    design = np.column_stack([np.ones_like(x), x])[:, :free]
    offset = np.zeros_like(x) if slope is None else slope * x
    # so flat that no probability rounds to 0 or 1, of which a step of Newton's method would know nothing
    flat = _STEEPEST / max(_STEEPEST, float(np.abs(x).max()))
    start = np.array([math.log(table.total_positives / table.total_negatives), flat])[:free]
    if len(x) > 2 * _CELLS:
        start = _near(design, table.positives, table.negatives, offset, start)
    found = fit_logistic(design, table.positives, table.negatives, offset=offset, start=start)
    fitted = float(found.coefficients[1]) if slope is None else slope
    back = np.array([[1.0, -middle], [0.0, 1.0]])[:free, :free]
    covariance = np.asarray(back @ np.linalg.inv(found.information) @ back.T)
    return LogisticFit(float(found.coefficients[0]) - fitted * middle, fitted, found.log_likelihood, covariance)


def _near(design: Floats, positives: Floats, negatives: Floats, offset: Floats, start: Floats) -> Floats:
    """Approximate the maximum from pooled neighbouring scores; return the start if few of them mix classes."""
    starts = np.linspace(0, len(offset), _CELLS, endpoint=False).astype(np.intp)
    ups, downs = np.add.reduceat(positives, starts), np.add.reduceat(negatives, starts)
    if np.count_nonzero(ups * downs) < _MIXED:
        return start  # numerically the log-odds may separate classes that the scores do not
    size = np.diff(starts, append=len(offset))
    means = np.add.reduceat(design, starts) / size[:, None], np.add.reduceat(offset, starts) / size
    return fit_logistic(means[0], ups, downs, offset=means[1], start=start).coefficients


def _undefined(table: ScoreTable) -> str:
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        return "only one class is present"
    if table.scores[0] <= 0.0 or table.scores[-1] >= 1.0:
        return "a score is exactly 0 or 1, where its logit is infinite"
    return ""


def class_ratio(table: ScoreTable) -> float:
    """How many times the weight of a negative a positive has at the same score, as a geometric mean.

    Labels less their rate at the score are uncorrelated with all that depends on the score alone.
    """
    inside = (table.scores > 0.0) & (table.scores < 1.0)
    weight = np.stack([table.negatives, table.positives])[:, inside]
    squared = np.stack([table.negatives_squared, table.positives_squared])[:, inside]
    present = weight > 0.0
    each = np.divide(squared, weight, out=np.ones_like(weight), where=present)  # what a row weighs
    if np.all(each[present] == each[present][:1]):
        return 1.0
    rows, log_weight = weight / each, np.log(each)
    inner = ScoreTable(table.scores[inside], rows[1], rows[0], rows[1], rows[0], n_rows=table.n_rows)
    fit = fit_recalibration(inner, slope=0.0 if len(inner.scores) == 1 else None)
    if fit.status:
        return 1.0
    p = sigmoid(fit.intercept + fit.slope * logit(inner.scores))
    left = rows * np.stack([-p, 1.0 - p])
    return math.exp(float((left * (log_weight - log_weight[present].mean())).sum() / left[1].sum()))


def mean_table(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Table whose curves are the means of those of tables of the same rows: a row has a share of its weight in each."""
    first, count = tables[0], len(tables)
    merged = reduce(ScoreTable.merge, [replace(table, fixed_prevalence=False) for table in tables])
    columns = {name: getattr(merged, name) / count for name in COLUMNS}
    return replace(merged, **columns, n_rows=first.n_rows, fixed_prevalence=first.fixed_prevalence)


Rule = float | Literal["score", "optimal"]


def losses_by_score(score: Floats, costs: CostDistribution, rule: Rule) -> tuple[Floats, Floats]:
    """Integrated cost of a negative and of a positive at each score ("score" or a number; not "optimal")."""
    if isinstance(rule, str):
        return costs.negative_loss(score), costs.positive_loss(score)
    acting = score >= rule
    always, never = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
    return np.where(acting, always, 0.0), np.where(acting, 0.0, never)


def class_losses(kind: int, score: Floats, costs: CostDistribution, rule: Rule) -> Floats:
    """Integrated cost of rows of one class (0: negatives, 1: positives) at their scores, not for "optimal"."""
    if isinstance(rule, str):
        return costs.positive_loss(score) if kind else costs.negative_loss(score)
    return losses_by_score(score, costs, rule)[kind]


def table_integral(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Integral of regret over the cost distribution, from a table."""
    if rule == "optimal":
        starts = table.pav_starts[:-1]
        columns = np.add.reduceat(table.negatives, starts), np.add.reduceat(table.positives, starts)
        losses = losses_by_score(table.pav_values, costs, "score")
        return math.fsum(weighted_sum(w, v) for w, v in zip(columns, losses, strict=True)) / table.total
    terms = []
    for part in blocks(len(table.scores)):
        negative, positive = losses_by_score(table.scores[part], costs, rule)
        terms += [weighted_sum(table.negatives[part], negative), weighted_sum(table.positives[part], positive)]
    return math.fsum(terms) / table.total


def row_integral(sample: BinarySample, costs: CostDistribution, rule: Rule) -> float:
    """Integral of regret from rows, in one pass without a sort ("score" or a number)."""
    terms, masses = [], []
    for part in blocks(len(sample.score)):
        loss = row_losses(sample.y[part], sample.score[part], costs, rule)
        if sample.weight is None:
            terms.append(float(loss.sum()))
        else:
            terms.append(float(np.dot(sample.weight[part], loss)))
            masses.append(float(sample.weight[part].sum()))
    return math.fsum(terms) / (len(sample.score) if sample.weight is None else math.fsum(masses))


def row_losses(y: NDArray[np.bool_], score: Floats, costs: CostDistribution, rule: Rule) -> Floats:
    """Integrated cost of each row ("score" or a number)."""
    if isinstance(rule, str):
        return costs.row_loss(y, score)
    acting = score >= rule
    loss = np.zeros(len(score))
    loss[~y & acting] = float(costs.negative_loss(np.inf))
    loss[y & ~acting] = float(costs.positive_loss(-np.inf))
    return loss


def promised_losses(score: Floats, costs: CostDistribution, rule: Rule = "score") -> Floats:
    """Integrated cost that each row's own score expects, where it is the probability of the positive class."""
    negative, positive = losses_by_score(score, costs, rule)
    with np.errstate(invalid="ignore"):  # what cannot happen costs nothing, however much it would
        expected = np.where(score > 0.0, score * positive, 0.0) + np.where(score < 1.0, (1.0 - score) * negative, 0.0)
    return np.asarray(expected)


def regret_at(table: ScoreTable, c: Floats, rule: Rule) -> Floats:
    """Regret at each cost ratio: c * false positives + (1 - c) * false negatives, as shares of all weight."""
    c = np.asarray(c, dtype=np.float64)
    scores = table.pav_values if rule == "optimal" else table.scores
    cut = np.searchsorted(scores, c if isinstance(rule, str) else np.full(c.shape, float(rule)), side="left")
    if rule == "optimal":
        cut = table.pav_starts[cut]
    regret: Floats = c * table.false_positives[cut] + (1.0 - c) * table.false_negatives[cut]
    return regret
