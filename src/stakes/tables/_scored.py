"""Copies of files with new columns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stakes.base.validation import Floats, check_choice
from stakes.outputs.serialization import Location
from stakes.tables._columnar_files import TITLES
from stakes.tables._columns import Gathered, Numbers, Piece, Roles, Table, as_array, encode, named_once, require
from stakes.tables._predictions import ON_MISSING, PROBABILITY_HINT, OnMissing, check_numbers, complete, open_table
from stakes.tables._text_files import ENDINGS

if TYPE_CHECKING:
    import polars as pl

    Added = tuple[Sequence[pl.Series], NDArray[np.bool_] | None]


Integers = NDArray[np.int64]


# Copies of files of rows with new columns: records are unchanged, or the copy is refused with a reason.

_SINKS = {"csv": "csv", "parquet": "parquet", "arrow": "ipc", "jsonl": "ndjson"}
_ERRNO = re.compile(r"\(os error (\d+)\)")


def write_rows(
    table: Table, target: Path, add: Callable[[Piece], Added], needed: Sequence[str], new: Mapping[str, Any]
) -> None:
    """Copy a file in the format of the target's suffix, with new columns of these types.

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
    """Write piece by piece with the engine."""
    import polars as pl

    schema = table.schema()
    never = {"csv": {"Binary", "Object"}, "jsonl": {"Binary", "Object", "Decimal", "Duration"}}.get(kind, {"Object"})
    for name, dtype in schema.items():
        if str(dtype.base_type()) in never or (kind == "csv" and dtype.is_nested()):
            raise table.origin.error(f"cannot stand in a {TITLES[kind]} file, its type is {dtype}", column=name)

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

    # given a path, a thread of the engine might open it only after the copy has failed
    with target.open("wb") as stream:
        try:
            from polars.io.plugins import register_io_source

            getattr(register_io_source(frames, schema=schema), f"sink_{form}")(stream)
        except (ImportError, AttributeError, TypeError, pl.exceptions.InvalidOperationError):  # older polars
            getattr(pl.concat(frames()), f"write_{form}")(stream)


def _check_finite(frame: pl.DataFrame, row: int, origin: Location) -> None:
    """Refuse infinite numbers and NaN, which JSON cannot represent."""
    for series in frame:
        bad = _not_finite(series)
        if bad is not None and bad.any():
            first = bad.arg_max() or 0
            value = series[first]
            rule = "must be finite to stand in a JSON lines file"
            raise origin.error(rule, column=series.name, row=row + first, value=value)


def _not_finite(series: pl.Series) -> pl.Series | None:
    """Mark non-finite numbers, also within lists and records."""
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


# Files with scores and without labels, copied with the values computed for each row.


@dataclass(frozen=True, eq=False, repr=False)
class ScoredFile:
    """Scores of the complete rows of a file, and the file itself.

    Parameters
    ----------
    models : tuple of str
        Names of the columns with scores.
    scores : tuple of ndarray
        Scores in [0, 1] of each model, complete rows only.
    groups : dict of str to ndarray
        Columns that say which group each complete row belongs to.
    rows : ndarray of int
        Places of the complete rows in the file.
    n_dropped : int
        Number of incomplete rows.
    source : str
        Name of the file.
    endings : tuple of str
        How the name of a file of this format may end.
    numbers : dict of str to ndarray
        Further columns of numbers, complete rows only.

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import read_scores
    >>> path = resources.files("stakes") / "data" / "breast_cancer.csv"
    >>> read_scores(path, models=["naive_bayes"])
    ScoredFile(569 rows, models 'naive_bayes')
    """

    models: tuple[str, ...]
    scores: tuple[Floats, ...]
    groups: dict[str, NDArray[Any]]
    rows: NDArray[np.intp]
    n_dropped: int
    source: str
    endings: tuple[str, ...]
    numbers: dict[str, Floats]
    _table: Table

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return list(self._table.names)

    def write(self, path: str | os.PathLike[str], columns: Mapping[str, Integers | Floats]) -> None:
        """Copy the file with more columns at its end.

        Parameters
        ----------
        path : str or path
            Where to.
        columns : mapping of str to ndarray
            One value for each complete row; the others get a missing value, as nan does.
        """
        import polars as pl

        n_rows, start = len(self.rows) + self.n_dropped, 0
        whole, kinds = [], {}
        for name, values in columns.items():
            kinds[name] = pl.Float64 if values.dtype.kind == "f" else pl.Int64
            full, missing = np.zeros(n_rows, dtype=values.dtype), np.ones(n_rows, dtype=bool)
            full[self.rows], missing[self.rows] = values, np.isnan(values)
            whole.append(pl.Series(name, full).set(pl.Series(missing), None))

        def add(piece: Piece) -> Added:
            nonlocal start
            start += piece.n_rows
            return [series.slice(start - piece.n_rows, piece.n_rows) for series in whole], None

        write_rows(self._table, Path(path), add, (), kinds)

    def __repr__(self) -> str:
        return f"ScoredFile({len(self.rows)} rows, models {', '.join(map(repr, self.models))})"


def read_scores(
    path: str | os.PathLike[str],
    *,
    models: Iterable[str],
    groups: Iterable[str] = (),
    numbers: Iterable[str] = (),
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (the name that users of every data library know)
) -> ScoredFile:
    """Read the scores of one or many models from a file that needs no labels.

    Parameters
    ----------
    path : str or path
        A CSV, Parquet, Arrow or JSON lines file, or "-" for standard input.
    models : iterable of str
        Names of the columns with the models' probabilities.
    groups : iterable of str, optional
        Names of the columns that divide the rows into groups.
    numbers : iterable of str, optional
        Names of further columns, of any finite numbers.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed value is missing; "drop" leaves them in the file.
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        What the file holds; by default its first bytes, then its name, tell.

    Returns
    -------
    ScoredFile

    Raises
    ------
    DataError
        For anything in the file that cannot be used, with the column, row and value.
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import read_scores
    >>> path = resources.files("stakes") / "data" / "breast_cancer.csv"
    >>> read_scores(path, models=["naive_bayes", "random_forest"]).scores[1][:2].tolist()
    [0.818, 0.984]
    """
    check_choice(on_missing, "on_missing", ON_MISSING)
    wanted, by, further = tuple(models), tuple(groups), tuple(numbers)
    table = _open(path, format, [*wanted, *by, *further])
    found = Gathered.of(table, dict.fromkeys([*wanted, *further]), by, None)
    origin, roles = found.origin, Roles("", wanted, None, by, automatic=False)  # there is no label
    codes = {name: encode(found.others[name]) for name in by}
    missing = {name: np.isnan(found.numbers[name]) for name in (*wanted, *further)}
    missing |= {name: values < 0 for name, (_, values) in codes.items()}
    keep, dropped = complete(missing, None, roles, origin, on_missing)
    rows = np.flatnonzero(keep)
    kept = {name: found.numbers[name][rows] for name in wanted}
    check_numbers(kept, None, roles, replace(origin, rows=rows))
    others = {name: found.numbers[name][rows] for name in further}
    check_numbers(others, None, replace(roles, probability=False), replace(origin, rows=rows))
    in_groups = {name: as_array(values)[places[rows]] for name, (values, places) in codes.items()}
    return ScoredFile(
        wanted, tuple(kept.values()), in_groups, rows, dropped, str(origin.file), ENDINGS[table.kind], others, table
    )


def _open(path: str | os.PathLike[str], stated: str | None, columns: Sequence[str]) -> Table:
    table = open_table(path, stated, columns[0], survey=True)
    named_once(columns, table.origin.file)
    require(columns, table.names, table.origin.file)
    return table


@dataclass(frozen=True, eq=False, repr=False)
class Copied:
    """Counts of the rows read, and the target if one was written.

    Parameters
    ----------
    source : str
        Name of the file read.
    n_rows, n_incomplete : int
        Rows of the file, and those of them in which a needed number is missing.
    """

    source: str
    n_rows: int
    n_incomplete: int


@dataclass(frozen=True, eq=False, repr=False)
class NewColumns:
    """Columns to add: what they are computed from, their names, and by which function of arrays of complete rows.

    Parameters
    ----------
    needed : sequence of str
        Names of columns of numbers; ``compute`` takes one array for each.
    names : sequence of str
        Names of the new columns; ``compute`` returns one array for each, of whole numbers if ``whole``.
    compute : callable
    option : str
        What names the new columns on the command line.
    remedy : str
        What to say where a number is missing.
    probability : bool
        Whether the numbers must lie in [0, 1], and not only be finite.
    whole : bool
    drop : bool
        Whether incomplete rows are left out; else their new cells are missing.
    """

    needed: Sequence[str]
    names: Sequence[str]
    compute: Callable[..., Sequence[NDArray[Any]]]
    option: str
    remedy: str
    probability: bool = True
    whole: bool = False
    drop: bool = False


def copy_with_columns(
    path: str | os.PathLike[str],
    target: Path | None,
    columns: NewColumns,
    *,
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (as read_predictions has it)
) -> Copied:
    r"""Write a file again with new columns, in bounded memory; without a target only compute them.

    The file is passed twice: to check every row, and to write.

    Parameters
    ----------
    path : str or path
        A CSV, Parquet, Arrow or JSON lines file, or "-" for standard input.
    target : path or None
        Where to; the ending names the format.
    columns : NewColumns
        The columns to add.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed number is missing.
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        What the file holds; by default its first bytes, then its name, tell.

    Returns
    -------
    Copied

    Raises
    ------
    DataError
        For anything in the file that cannot be used or cannot stand in the target, with the column, row and value.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stakes.tables import NewColumns, copy_with_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
    ...     _ = source.write_text("p\n0.25\n")
    ...     twice = NewColumns(["p"], ["q"], lambda p: [2 * p], "names=", "")
    ...     _ = copy_with_columns(source, target, twice)
    ...     target.read_text()
    'p,q\n0.25,0.5\n'
    """
    import polars as pl

    check_choice(on_missing, "on_missing", ON_MISSING)
    table = _open(path, format, columns.needed)
    taken = next((name for name in columns.names if name in table.names), None)
    if taken is not None:
        raise table.origin.error(f"is there already: choose another {columns.option}", column=taken)
    foreign = next((name for name in columns.names if any("\ud800" <= sign <= "\udfff" for sign in name)), None)
    if foreign is not None:
        raise table.origin.error(f"cannot be written as UTF-8: choose another {columns.option}", column=foreign)
    counts = _check(table, columns, on_missing)
    if target is None:
        for piece in table.pieces(columns.needed, columns.needed):
            _added(piece, table, columns)
    else:
        kinds = dict.fromkeys(columns.names, pl.Int64 if columns.whole else pl.Float64)
        write_rows(table, target, lambda piece: _added(piece, table, columns), columns.needed, kinds)
    return Copied(str(table.origin.file), *counts)


def _check(table: Table, new: NewColumns, on_missing: OnMissing) -> tuple[int, int]:
    """Count rows and incomplete rows, or raise for the first invalid number."""
    columns = [Numbers(name, from_text=True, probability=new.probability) for name in new.needed]
    n_rows, n_incomplete, first = 0, 0, (0, "")
    for piece in table.pieces(new.needed, new.needed):
        missing = {c.name: np.isnan(c.take(piece.cells[c.name], table.origin)) for c in columns}
        incomplete = np.logical_or.reduce(list(missing.values()))
        if incomplete.any() and not n_incomplete:
            at = int(np.argmax(incomplete))
            first = n_rows + at, next(name for name, gone in missing.items() if gone[at])
        n_incomplete += int(np.count_nonzero(incomplete))
        n_rows += piece.n_rows
    for column in columns:
        column.refuse(table.origin, PROBABILITY_HINT if new.probability else None)
    if n_incomplete and (on_missing == "raise" or n_incomplete == n_rows):
        hint = new.remedy if on_missing == "raise" else "No complete row is left."
        details: dict[str, Any] = {"row": first[0], "column": first[1], "count": n_incomplete, "total": n_rows}
        raise table.origin.error("must not be missing", **details, hint=hint)
    return n_rows, n_incomplete


def _added(piece: Piece, table: Table, new: NewColumns) -> Added:
    """Compute the new columns of a piece of rows; incomplete rows are dropped or get missing values."""
    import polars as pl

    values = [Numbers(name, from_text=True).take(piece.cells[name], table.origin) for name in new.needed]
    complete = ~np.logical_or.reduce([np.isnan(array) for array in values])
    found = new.compute(*(array[complete] for array in values)) if complete.any() else [np.empty(0)] * len(new.names)
    series = []
    for name, result in zip(new.names, found, strict=True):
        cells = np.zeros(piece.n_rows, dtype=np.int64 if new.whole else np.float64)
        cells[complete] = result
        column = pl.Series(name, cells)
        series.append(column if complete.all() else column.set(pl.Series(~complete), None))
    return series, complete if new.drop else None
