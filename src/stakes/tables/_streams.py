"""Rows of an engine on this machine, streamed from it as arrays in batches that fit the cache."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from stakes.base.formulas import LARGEST
from stakes.base.validation import Bools, Floats
from stakes.outputs.files import import_optional
from stakes.outputs.serialization import Location
from stakes.tables._columns import NAME_MODELS, Roles, choose_roles, encode_labels, positive_labels, run, worked
from stakes.tables._engines import is_positive, refuse, renamed, weighing
from stakes.tables._predictions import column_names, from_native

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

Batch = tuple[Bools, list[Floats], Floats | None]

AT_ONCE = 1 << 16  # rows of a batch


def stream_rows(
    frame: nw.LazyFrame[Any],
    *,
    label: str,
    models: Iterable[str],
    weight: str | None = None,
    pos_label: object = None,
) -> Iterator[Batch] | None:
    """Stream the classes, scores and positive weights of a lazy frame's rows, checked batch by batch.

    Parameters
    ----------
    frame : narwhals LazyFrame
        The rows.
    label : str
        Column with the labels.
    models : iterable of str
        Columns with probabilities.
    weight : str, optional
        Column with weights; rows of weight zero are left out.
    pos_label : object, optional
        The label of the positive class.

    Returns
    -------
    iterator of tuple, or None
        Which rows are positive, the scores of each model, and the weights or None, in no order; None where the engine
        cannot stream (:func:`streams`).

    Raises
    ------
    DataError
        For invalid values, those of the scores and weights when their batch is due.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.tables import stream_rows
    >>> frame = nw.from_native(pl.LazyFrame({"y": [0, 1], "a": [0.1, 0.8]}))
    >>> [(y.tolist(), scores[0].tolist()) for y, scores, _ in stream_rows(frame, label="y", models=["a"])]
    [([False, True], [0.1, 0.8])]
    """
    if not streams(frame):
        return None
    roles = choose_roles(column_names(frame), (), label=label, models=models, weight=weight, groups=None)
    (negative, positive), label_of = _labels(frame, roles, pos_label)
    batches = _batches(renamed(weighing(frame, roles), roles, label_of))
    names = [f"s{i}" for i in range(len(roles.models))]

    def checked(batch: dict[str, Any]) -> Batch | None:
        y, scores, by = batch["y"], [batch[name] for name in names], batch.get("w")
        ups = y == positive
        fine = np.count_nonzero(ups) + np.count_nonzero(y == negative) == len(y)
        fine = fine and all(_within(score, 1.0) for score in scores) and (by is None or _within(by, LARGEST))
        return (ups, scores, by) if fine else None

    def rows() -> Iterator[Batch]:
        with closing(batches):  # an engine takes no other query while one has rows left
            while (batch := worked(frame, lambda: next(batches, None))) is not None:
                found = checked(batch)
                if found is None:
                    break
                yield found
            else:
                return
        refuse(frame, roles, pos_label)

    return rows()


def _labels(frame: nw.LazyFrame[Any], roles: Roles, pos_label: object) -> tuple[tuple[float, float], nw.Expr]:
    """Numbers of the negative and the positive label, and the column that holds them.

    The first rows usually show both labels; that no other follows is checked in each batch. Else, and where labels
    are no numbers, the engine looks for all.
    """
    label, rows = nw.col(roles.label), weighing(frame, roles)
    dtype = frame.collect_schema()[roles.label]
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        first = run(rows.select(label.cast(nw.Float64).alias(roles.label)).head(AT_ONCE))[roles.label]
        values, codes = encode_labels(first, Location(ordered=False))
        if len(values) == 2 and codes.min() >= 0:
            ups = positive_labels(values, codes, pos_label, Location(ordered=False), roles.label)
            positive = int(codes[np.argmax(ups)])
            return (values[1 - positive], values[positive]), label.cast(nw.Float64)
    found = is_positive(rows, roles, pos_label, partial(refuse, frame, roles, pos_label))
    return (0.0, 1.0), nw.when(found).then(nw.lit(1.0)).otherwise(nw.lit(0.0))


def _within(values: Floats, most: float) -> bool:
    # of values among which is NaN, neither is
    return bool(values.min(initial=0.0) >= 0.0 and values.max(initial=0.0) <= most)


def as_lazy(frame: Any) -> Any:
    """Have polars or DuckDB look at the rows of a frame in memory.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import as_lazy
    >>> as_lazy(pl.DataFrame({"y": [0, 1]})).collect().height
    2
    """
    native: Any = from_native(frame)
    if not native.implementation.is_polars() and find_spec("polars") is None:
        import_optional("duckdb", "resolution= needs polars or DuckDB: pip install 'stakes[engines]'")
        return native.lazy(backend="duckdb").to_native()
    return native.lazy(backend="polars").to_native()


def count_rows(frame: Any) -> tuple[int, int]:
    """Count the rows and the columns of a lazy frame, whose files mostly say how many there are.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import count_rows
    >>> count_rows(pl.LazyFrame({"y": [0, 1, 1]}))
    (3, 1)
    """
    native: Any = from_native(frame)
    names = column_names(native)
    # counted by a column: polars 1.0 loses the name of a bare count over several files
    return int(run(native.lazy().select(nw.col(names[0]).len().alias("rows")))["rows"][0]), len(names)


def check_first_rows(frame: Any, roles: Roles) -> None:
    """Refuse columns that were taken as models and, by their first rows, cannot be scores: before all are read.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import check_first_rows, model_columns
    >>> frame = pl.LazyFrame({"y": [0, 1], "age": [41.0, 52.0]})
    >>> check_first_rows(frame, model_columns(frame, label="y", models=None, weight=None, groups=None))
    Traceback (most recent call last):
    stakes.outputs.serialization.DataError: column 'age': must lie in [0, 1], got 41.0. Every other numeric column ...
    """
    native: Any = from_native(frame)
    first = run(native.lazy().select(*(nw.col(name).cast(nw.Float64) for name in roles.models)).head(AT_ONCE))
    for name in roles.models:
        values = first[name].to_numpy()
        outside = (values < 0.0) | (values > 1.0)
        if outside.any():
            value = float(values[np.argmax(outside)])
            raise Location(ordered=False).error("must lie in [0, 1]", column=name, value=value, hint=NAME_MODELS)


def streams(frame: nw.LazyFrame[Any]) -> bool:
    """Whether the rows of a lazy frame can be streamed: those of DuckDB with pyarrow, and of polars since it can.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.tables import streams
    >>> streams(nw.from_native(pl.LazyFrame({"y": [0, 1]})))
    True
    """
    if frame.implementation.is_duckdb():
        return find_spec("pyarrow") is not None
    return frame.implementation.is_polars() and hasattr(frame.to_native(), "collect_batches")


def _batches(rows: nw.LazyFrame[Any]) -> Generator[dict[str, Any]]:
    native: Any = rows.to_native()
    if rows.implementation.is_polars():
        for batch in native.collect_batches(chunk_size=AT_ONCE, maintain_order=False, engine="streaming"):
            yield {name: batch[name].to_numpy() for name in batch.columns}
        return
    # a relation streams, where the result of execute() would be held whole; older versions name it otherwise
    read = native.to_arrow_reader if hasattr(native, "to_arrow_reader") else native.fetch_arrow_reader
    with closing(read(AT_ONCE)) as reader:
        for batch in reader:
            yield {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}
