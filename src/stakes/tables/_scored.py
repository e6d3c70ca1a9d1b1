"""Whole files with scores and without labels, read to be written again with what was decided about each row.

Everything that was in the file is written as it was: the columns of a CSV file stay the text that they are.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np

from stakes._validation import check_choice
from stakes.tables._content import Content
from stakes.tables._csv import read_csv_text
from stakes.tables._errors import DataError, Origin
from stakes.tables._jsonl import read_records, record_group, record_numbers, record_texts
from stakes.tables._roles import Roles, reject_duplicates, require
from stakes.tables._rows import ON_MISSING, check_numbers, leave_out_incomplete
from stakes.tables._text import MISSING, numbers_from_text, tidy_group
from stakes.tables._values import as_array, encode, to_floats

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from stakes.tables._rows import OnMissing

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

FORMAT_ENDINGS = {
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson"),
}


class _Table(Protocol):
    """All columns of a file."""

    names: list[str]

    def numbers(self, name: str, origin: Origin) -> Floats:
        """Return a column of numbers, nan where it is missing."""

    def group(self, name: str, origin: Origin) -> tuple[list[Any], Integers]:
        """Return the distinct values of a column and the index of each row's, -1 where it is missing."""

    def write(self, path: Path, columns: Mapping[str, list[int | None]]) -> None:
        """Write the file again with more columns."""


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
    _table: _Table

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return self._table.names

    def write(self, path: str | os.PathLike[str], columns: Mapping[str, Integers]) -> None:
        """Write the file again with more columns at its end.

        Parameters
        ----------
        path : str or path
            Where to.
        columns : mapping of str to ndarray of int
            One value for each complete row; the others get a missing value.
        """
        full = {}
        for name, values in columns.items():
            cells: list[int | None] = [None] * (len(self.rows) + self.n_dropped)
            for row, value in zip(self.rows.tolist(), values.tolist(), strict=True):
                cells[row] = value
            full[name] = cells
        self._table.write(Path(path), full)

    def __repr__(self) -> str:
        return f"ScoredFile({len(self.rows)} rows, models {', '.join(map(repr, self.models))})"


def read_scores(
    path: str | os.PathLike[str],
    *,
    models: Iterable[str],
    groups: Iterable[str] = (),
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (the name that users of every data library know)
) -> ScoredFile:
    """Read the scores of one or many models from a file that needs no labels, and keep the whole file.

    Parameters
    ----------
    path : str or path
        A CSV, Parquet, Arrow or JSON lines file, or "-" for standard input.
    models : iterable of str
        Names of the columns with the models' probabilities.
    groups : iterable of str, optional
        Names of the columns that divide the rows into groups.
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
    if not find_spec("polars"):
        raise ImportError("reading files needs polars: pip install 'stakes[cli]'")
    content = Content.of(path)
    kind, wanted, by = content.kind(format), tuple(models), tuple(groups)
    table, origin = _read(content, kind, wanted[0])
    reject_duplicates(table.names, content.name)
    require([*wanted, *by], table.names, content.name)
    twice = [name for name, count in Counter([*wanted, *by]).items() if count > 1]
    if twice:
        raise DataError("must be named once among models and groups", file=content.name, column=twice[0])
    scores = {name: table.numbers(name, origin) for name in wanted}
    codes = {name: table.group(name, origin) for name in by}
    keep = np.ones(len(scores[wanted[0]]), dtype=bool)
    missing = {name: np.isnan(values) for name, values in scores.items()}
    missing |= {name: found < 0 for name, (_, found) in codes.items()}
    roles = Roles("", wanted, None, by, automatic=False)  # there is no label
    dropped = leave_out_incomplete(keep, missing, roles, origin, on_missing)
    rows = np.flatnonzero(keep)
    kept = {name: values[rows] for name, values in scores.items()}
    check_numbers(kept, None, roles, replace(origin, rows=rows))
    in_groups = {name: as_array(values)[found[rows]] for name, (values, found) in codes.items()}
    return ScoredFile(wanted, tuple(kept.values()), in_groups, rows, dropped, content.name, FORMAT_ENDINGS[kind], table)


def _read(content: Content, kind: str, column: str) -> tuple[_Table, Origin]:
    if kind == "jsonl":
        records, origin = read_records(content)
        return _Records(content, records), origin
    if kind == "csv":
        frame, separator, origin = read_csv_text(content, column)
        return _Frame(frame, kind, separator), origin
    return _Frame(_read_binary(content, kind), kind), Origin(content.name)


def _read_binary(content: Content, kind: str) -> pl.DataFrame:
    import polars as pl

    title = {"parquet": "Parquet", "arrow": "Arrow"}[kind]
    try:
        if kind == "parquet":
            frame = pl.read_parquet(content.native)
        elif content.head().startswith(b"ARROW1"):
            frame = pl.read_ipc(content.native)
        else:
            frame = pl.read_ipc_stream(content.native)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"cannot be read as {title}: {reason}", file=content.name) from None
    if len(frame) == 0:
        raise DataError("there are no rows", file=content.name)
    return frame


class _Frame:
    """A data frame; one from a CSV file holds text."""

    def __init__(self, frame: pl.DataFrame, kind: str, separator: str = ",") -> None:
        self._frame, self._kind, self._separator = frame, kind, separator
        self.names = list(frame.columns)

    def numbers(self, name: str, origin: Origin) -> Floats:
        """Return a column of numbers, nan where it is missing."""
        series = self._frame[name]
        if self._kind == "csv":
            series = numbers_from_text(series, origin, None)
        return to_floats(nw.from_native(series, series_only=True), origin)

    def group(self, name: str, origin: Origin) -> tuple[list[Any], Integers]:  # noqa: ARG002
        """Return the distinct values of a column and the index of each row's, -1 where it is missing."""
        series = self._frame[name]
        if self._kind == "csv":
            series = tidy_group(series.set(series.is_in(list(MISSING)).fill_null(value=False), None))
        return encode(nw.from_native(series, series_only=True))

    def write(self, path: Path, columns: Mapping[str, list[int | None]]) -> None:
        """Write the file again with more columns."""
        import polars as pl

        frame = self._frame.with_columns([pl.Series(name, cells, pl.Int64) for name, cells in columns.items()])
        if self._kind == "csv":
            frame.write_csv(path, separator=self._separator)
        elif self._kind == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc(path)


class _Records:
    """The objects of a JSON lines file."""

    def __init__(self, content: Content, records: list[dict[str, Any]]) -> None:
        self._content, self._records = content, records
        self.names = list(dict.fromkeys(name for record in records for name in record))

    def numbers(self, name: str, origin: Origin) -> Floats:
        """Return a column of numbers, nan where it is missing."""
        return record_numbers(self._records, name, origin)

    def group(self, name: str, origin: Origin) -> tuple[list[Any], Integers]:
        """Return the distinct values of a column and the index of each row's, -1 where it is missing."""
        return encode(nw.from_native(record_group(self._records, name, origin), series_only=True))

    def write(self, path: Path, columns: Mapping[str, list[int | None]]) -> None:
        """Write the file again with more columns: the text of each object, and then what is new."""
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            for row, text in enumerate(record_texts(self._content)):
                more = json.dumps({name: cells[row] for name, cells in columns.items()}, ensure_ascii=False)
                stream.write(text[:-1].rstrip() + (", " if self._records[row] else "") + more[1:] + "\n")
