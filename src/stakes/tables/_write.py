"""A file of rows written again with new columns: a record comes out as it went in, or the reason why not is given."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from stakes.tables._typed import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from stakes.tables._errors import Origin
    from stakes.tables._table import Piece, Table

    # What a piece of rows gets: its new columns, and which rows are kept (None: all).
    Added = tuple[Sequence[pl.Series], NDArray[np.bool_] | None]

ENDINGS = {
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson"),
}
_SINKS = {"csv": "csv", "parquet": "parquet", "arrow": "ipc", "jsonl": "ndjson"}
_ERRNO = re.compile(r"\(os error (\d+)\)")


def write_rows(
    table: Table, target: Path, add: Callable[[Piece], Added], needed: Sequence[str], new: Mapping[str, Any]
) -> None:
    """Write a file again in the format that the target's name says, with new columns of the given types.

    ``add`` gets pieces in order, with at least the columns needed.
    """
    kind = next(kind for kind, endings in ENDINGS.items() if target.suffix.lower() in endings)
    if kind != table.kind or kind not in {"csv", "jsonl"}:
        _sink(table, target, kind, add, new)
        return
    with target.open("w", encoding="utf-8", newline="") as stream:
        stream.write(table.head(list(new)))
        for piece in table.pieces(needed, needed):
            series, keep = add(piece)
            assert piece.extended is not None  # noqa: S101  (both formats are text)
            stream.write(piece.extended(series, keep))


def _sink(table: Table, target: Path, kind: str, add: Callable[[Piece], Added], new: Mapping[str, Any]) -> None:
    """Let the engine write, piece by piece."""
    import polars as pl

    schema = table.schema()
    _check_types(schema, kind, table.origin)

    def frames(*_: Any) -> Iterator[pl.DataFrame]:
        row = 0
        for piece, frame in table.frames():
            if kind == "jsonl":
                _check_finite(frame, row, table.origin)
            series, keep = add(piece)
            row += piece.n_rows
            extended = frame.with_columns(series)
            yield extended if keep is None else extended.filter(pl.Series(keep))

    try:
        _run(frames, {**schema, **new}, _SINKS[kind], target)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).strip().partition("\n")[0]
        if number := _ERRNO.search(reason):  # the disk is full, or gone
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from None
        raise table.origin.error(f"cannot be written as {TITLES[kind]}: {reason}") from None


def _run(frames: Callable[..., Iterator[pl.DataFrame]], schema: dict[str, Any], form: str, target: Path) -> None:
    import polars as pl

    # a path would be opened by a thread of the engine, sometimes only after the copy has failed
    with target.open("wb") as stream:
        try:
            from polars.io.plugins import register_io_source

            getattr(register_io_source(frames, schema=schema), f"sink_{form}")(stream)
        except (ImportError, AttributeError, TypeError, pl.exceptions.InvalidOperationError):  # older polars
            getattr(pl.concat(frames()), f"write_{form}")(stream)


def _check_types(schema: Mapping[str, Any], kind: str, origin: Origin) -> None:
    """Refuse columns that the format of the target cannot hold."""
    never = {"csv": {"Binary", "Object"}, "jsonl": {"Binary", "Object", "Decimal", "Duration"}}.get(kind, {"Object"})
    for name, dtype in schema.items():
        if str(dtype.base_type()) in never or (kind == "csv" and dtype.is_nested()):
            raise origin.error(f"cannot stand in a {TITLES[kind]} file, its type is {dtype}", column=name)


def _check_finite(frame: pl.DataFrame, row: int, origin: Origin) -> None:
    """Refuse numbers that JSON has no word for."""
    for series in frame:
        bad = _not_finite(series)
        if bad is not None and bad.any():
            first = bad.arg_max() or 0
            value = series[first]
            rule = "must be finite to stand in a JSON lines file"
            raise origin.error(rule, column=series.name, row=row + first, value=value)


def _not_finite(series: pl.Series) -> pl.Series | None:
    """Mark the numbers that are not finite, within lists and records too (where the place is not told)."""
    import polars as pl

    if series.dtype.is_float():
        return (~series.is_finite()).fill_null(value=False)
    parts: list[pl.Series] = []
    if isinstance(series.dtype, pl.Struct):
        parts = series.struct.unnest().get_columns()
    elif series.dtype.is_nested():
        parts = [series.explode()]
    marked = [found for part in parts if (found := _not_finite(part)) is not None and found.any()]
    return marked[0] if marked else None
