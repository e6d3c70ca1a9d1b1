"""Copy a file with a column of decisions added, without holding the file in memory."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from stakes._validation import check_choice
from stakes.tables._content import Content
from stakes.tables._errors import DataError
from stakes.tables._odds import _check, _collect, _Column, _scan, _write
from stakes.tables._roles import require
from stakes.tables._rows import ON_MISSING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from stakes.tables._rows import OnMissing

    Floats = NDArray[np.float64]

_REMEDY = "--on-missing drop leaves incomplete rows without a decision."


@dataclass(frozen=True)
class Decided:
    """What was decided.

    Parameters
    ----------
    source : str
        Name of the file read.
    n_rows, n_undecided : int
        Rows of the file, and those of them that have no decision.
    """

    source: str
    n_rows: int
    n_undecided: int


def copy_with_decisions(
    path: str | os.PathLike[str],
    target: Path | None,
    *,
    columns: Sequence[str],
    decide: Callable[..., NDArray[np.int64]],
    name: str,
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (as read_predictions has it)
) -> Decided:
    """Write every column of a file and one with decisions about each row; without a target only decide.

    ``decide`` takes one array for each of ``columns``, finite numbers, piece by piece and perhaps in several threads.
    """
    check_choice(on_missing, "on_missing", ON_MISSING)
    if not find_spec("polars"):
        raise ImportError("reading files needs polars: pip install 'stakes[cli]'")
    import polars as pl

    content = Content.of(path)
    try:
        lazy, origin = _scan(content, content.kind(format), columns[0])
        schema = lazy.collect_schema()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(error, content) from None
    require(columns, schema.names(), content.name)
    if name in schema:
        raise origin.error("is there already: choose another --column", column=name)
    numbers = [_Column.of(column, schema, origin, probability=False) for column in columns]
    rows, missing = _check(lazy, numbers, origin, on_missing, _REMEDY)
    decision = _decision(numbers, decide)
    if target is None:
        _collect(lazy.select(decision.is_not_null().sum()))
    else:
        _write(lazy.with_columns(decision.alias(name)), target)
    return Decided(content.name, rows, missing)


def _unreadable(error: BaseException, content: Content) -> DataError:
    reason = str(error).strip().partition("\n")[0]
    return DataError(f"cannot be read: {reason}", file=content.name)


def _decision(numbers: Sequence[_Column], decide: Callable[..., NDArray[np.int64]]) -> pl.Expr:
    """Return the column to come, null where a number is missing."""
    import polars as pl

    def decided(piece: pl.Series) -> pl.Series:
        values = [part.to_numpy().astype(np.float64) for part in piece.struct.unnest().iter_columns()]
        whole = ~np.logical_or.reduce([np.isnan(part) for part in values])
        out = np.full(len(whole), -1, dtype=np.int64)
        if whole.any():
            out[whole] = decide(*(part[whole] for part in values))
        series = pl.Series(out)
        return series if whole.all() else series.set(pl.Series(~whole), None)

    struct = pl.struct([number.score().alias(str(k)) for k, number in enumerate(numbers)])
    return struct.map_batches(decided, return_dtype=pl.Int64, is_elementwise=True)
