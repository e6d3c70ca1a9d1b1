"""The columns of a score table, counted from a frame: in memory, by batches of its rows, or by one group-by."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.numerics import CellSums, count_cells, count_sample, counting
from stakes.base.validation import SQUARED_WELL, BinarySample, check_whole
from stakes.outputs.hooks import nw
from stakes.tables._engines import GroupedScores, count_exactly, refuse
from stakes.tables._predictions import frame_columns, from_native, roles_in
from stakes.tables._streams import AT_ONCE, checked_batches, labels_in, streams

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from stakes.tables._streams import Batch


def group_scores(
    frame: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    pos_label: object = None,
    resolution: int | None = None,
) -> dict[str, Any]:
    """Count classes at each distinct score and return the arguments that build a ``ScoreTable``.

    Parameters
    ----------
    frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
        Frames in memory, and lazy ones of polars and DuckDB that fit there, are sorted here; others do one group-by
        in their engine. With up to 65,536 cells the rows that polars and DuckDB stream are counted batch by batch.
    label, score : str
        Names of the columns with the labels and the scores in [0, 1].
    weight : str, optional
        Name of the column with weights >= 0; a row of weight zero is as if absent.
    pos_label : object, optional
        The label of the positive class.
    resolution : int, optional
        Pool the scores into this many cells of equal width; None is exact.

    Returns
    -------
    dict

    Raises
    ------
    DataError
        For missing columns, missing or out-of-range values, or labels with more than two values.
    ValueError
        For a number of cells that is not a whole number >= 1.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import group_scores
    >>> frame = pl.LazyFrame({"cancer": [0, 1, 1], "risk": [0.1, 0.3, 0.3]})
    >>> group_scores(frame, label="cancer", score="risk")["positives"].tolist()
    [0.0, 2.0]
    """
    if resolution is not None:
        resolution = check_whole(resolution, "resolution", 1)
    native = from_native(frame)
    if isinstance(native, nw.LazyFrame):
        roles = roles_in(native, label=label, models=[score], weight=weight, groups=None)
        if resolution is None:
            return count_exactly(native, roles, pos_label)
        if in_cells(native, resolution):
            counted = CountedRows(
                native, label=label, models=[score], weight=weight, pos_label=pos_label, resolution=resolution
            )
            for _ in counted:
                pass
            return counted.columns()[0]
        return GroupedScores.collect(native, roles, resolution).table(pos_label, resolution)
    rows = frame_columns(frame, label=label, models=[score], weight=weight, pos_label=pos_label)
    columns = count_sample(BinarySample(rows.y, rows.scores[0], rows.weight)) | {"neg_label": rows.neg_label}
    if resolution is None:
        return columns
    scores, n_rows = columns["scores"], columns["n_rows"]
    sums = [columns[name] for name in ("positives", "negatives", "positives_squared", "negatives_squared")]
    spans = (scores, scores, (sums[0] + sums[1]) * scores)
    columns |= count_cells(np.floor(scores * resolution), spans, sums, n_rows=n_rows, resolution=resolution)
    return columns


def in_cells(frame: nw.LazyFrame[Any], resolution: int | None) -> bool:
    """Whether an engine streams its rows and there are few enough cells to count scores batch by batch.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.tables import in_cells
    >>> in_cells(nw.from_native(pl.LazyFrame({"a": [0.1]})), 1000)
    True
    """
    return resolution is not None and resolution <= AT_ONCE and streams(frame)


class CountedRows:
    """Batches of rows of an engine, whose scores are counted in cells in the same pass over the rows.

    Parameters
    ----------
    frame : narwhals LazyFrame
        The rows, of an engine that can stream (:func:`streams`).
    models : iterable of str
        Columns with scores in [0, 1].
    resolution : int
        How many cells.
    label, weight, pos_label
        As in :func:`group_scores`.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.tables import CountedRows
    >>> frame = nw.from_native(pl.LazyFrame({"y": [0, 1, 1], "a": [0.1, 0.8, 0.3], "b": [0.2, 0.7, 0.5]}))
    >>> rows = CountedRows(frame, label="y", models=["a", "b"], resolution=10)
    >>> sum(len(y) for y, scores, weight in rows)
    3
    >>> [columns["positives"].tolist() for columns in rows.columns()]
    [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """

    def __init__(
        self,
        frame: nw.LazyFrame[Any],
        *,
        label: str,
        models: Iterable[str],
        resolution: int,
        weight: str | None = None,
        pos_label: object = None,
    ) -> None:
        roles = roles_in(frame, label=label, models=models, weight=weight, groups=None)
        self._asked = frame, roles, pos_label
        self._labels, self._cells = labels_in(*self._asked), [CellSums(resolution) for _ in roles.models]

    def __iter__(self) -> Iterator[Batch]:
        return counting(self._batches(), self._cells)

    def _batches(self) -> Iterator[Batch]:
        frame, roles, pos_label = self._asked
        least, most = SQUARED_WELL
        with closing(checked_batches(frame, roles, self._labels, pos_label)) as batches:
            for (y, scores, weight), _ in batches:
                if weight is not None and (weight.min(initial=1.0) < least or weight.max(initial=1.0) > most):
                    break
                yield y, scores, weight
            else:
                return
        refuse(*self._asked)

    def columns(self) -> list[dict[str, Any]]:
        """Arguments that build the ``ScoreTable`` of each model, once all rows have passed."""
        return [cells.columns() | {"neg_label": self._labels.other} for cells in self._cells]


def group_scores_by(
    frame: Any,
    *,
    label: str,
    score: str,
    by: str,
    weight: str | None = None,
    pos_label: object = None,
    resolution: int | None = None,
) -> tuple[NDArray[Any], list[tuple[dict[str, Any], int]]]:
    """Count classes at each distinct score of every group by one group-by in the engine of a lazy frame.

    Parameters
    ----------
    frame : polars, DuckDB, Dask or Spark frame
        A lazy frame.
    label, score, weight, pos_label, resolution
        As in :func:`group_scores`.
    by : str
        Name of the column that divides the rows.

    Returns
    -------
    tuple of ndarray and list
        Its distinct values, and for each the arguments that build a ``ScoreTable`` and the number of positive rows.

    Raises
    ------
    DataError
        As :func:`group_scores` does, and for rows without a group.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import group_scores_by
    >>> frame = pl.LazyFrame({"cancer": [0, 1, 1], "risk": [0.1, 0.3, 0.3], "sex": ["f", "f", "m"]})
    >>> values, tables = group_scores_by(frame, label="cancer", score="risk", by="sex")
    >>> values.tolist(), tables[0][0]["positives"].tolist(), tables[0][1]
    (['f', 'm'], [0.0, 1.0], 1)
    """
    native: Any = from_native(frame)
    roles = roles_in(native, label=label, models=[score], weight=weight, groups=[by])
    return GroupedScores.collect(native, roles, resolution).tables_by_group(pos_label, resolution)
