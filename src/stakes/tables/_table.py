"""What every file of rows can do, whatever its format: name its columns, and pass through its rows piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np

from stakes.core.remedies import as_written
from stakes.shown.progress import tell
from stakes.tables._text import numbers_from_text
from stakes.tables._values import encode_labels, to_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from stakes.tables._errors import Origin

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Cells = Any  # a series of polars or, where a format has no types, a list

_NUMBER_TYPES = {int, float, type(None)}


@dataclass(frozen=True)
class Piece:
    """Some rows in order: the cells of the columns asked for, and where the rows are text, that text with new columns.

    ``extended`` takes the new columns and which rows to keep.
    """

    n_rows: int
    cells: Any  # by name, as of a frame
    extended: Callable[[Sequence[pl.Series], Bools | None], str] | None = None


class Table(Protocol):
    """A file whose rows can be passed through any number of times, in bounded memory."""

    @property
    def kind(self) -> str:
        """Name of the format."""

    @property
    def origin(self) -> Origin:
        """Where the rows come from; after a pass it knows whether each is one line."""

    @property
    def names(self) -> Sequence[str]:
        """Names of all columns."""

    @property
    def numeric(self) -> Collection[str]:
        """Names of the columns that hold numbers, as far as the first rows tell."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known before a pass."""

    def pieces(
        self, columns: Collection[str], numbers: Collection[str] = (), label: str | None = None
    ) -> Iterator[Piece]:
        """Pass through the rows, and refuse the first that is broken."""

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series | None:
        """Make a label or a group of all its cells; None where they must be read again as text."""

    def head(self, names: Sequence[str]) -> str:
        """Return what stands above the rows, with more names at its end."""

    def schema(self) -> dict[str, Any]:
        """Return the type of each column of a frame."""

    def frames(self) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Pass through the rows with every column, as frames that lose nothing."""


@dataclass
class Numbers:
    """Numbers of one column, checked piece by piece; the first cell that breaks a rule is kept until all are counted.

    ``probability`` asks for the range [0, 1], or else for finite numbers; None leaves that to others.
    """

    name: str
    from_text: bool
    probability: bool | None = None
    n_rows: int = 0
    n_broken: int = 0
    broken: dict[str, Any] = field(default_factory=dict)

    def take(self, cells: Cells, origin: Origin) -> Floats:
        """Return the numbers of the next cells, nan where they are missing."""
        values, bad, rule = self._read(cells, origin)
        wrong = bad
        if self.probability is not None:
            outside = (values < 0.0) | (values > 1.0) if self.probability else np.isinf(values)
            wrong = bad | outside
        if wrong.any():
            first = int(np.argmax(wrong))
            if not self.broken:
                limit = "must lie in [0, 1]" if self.probability else "must be finite"
                rule, value = (rule, cells[first]) if bad[first] else (limit, values[first])
                self.broken = {"rule": rule, "row": self.n_rows + first, "value": value}
            self.n_broken += int(np.count_nonzero(wrong))
        self.n_rows += len(values)
        return values

    def refuse(self, origin: Origin, hint: str | None) -> None:
        """Raise for the first broken cell, with the number of them."""
        if self.n_broken:
            value = self.broken["value"]
            if written := as_written(value):
                hint = f"{hint or ''} {written[2:].capitalize()}.".strip()
            raise origin.error(**self.broken, column=self.name, count=self.n_broken, total=self.n_rows, hint=hint)

    def _read(self, cells: Cells, origin: Origin) -> tuple[Floats, Bools, str]:
        """Return the numbers, which cells hold none though they hold something, and the rule that these break."""
        if isinstance(cells, list):
            others = {kind for kind in set(map(type, cells)) if not (kind in _NUMBER_TYPES or issubclass(kind, float))}
            bad = np.array([type(cell) in others for cell in cells] if others else [False] * len(cells), dtype=bool)
            plain = [None if wrong else cell for cell, wrong in zip(cells, bad, strict=True)] if others else cells
            return np.array(plain, dtype=np.float64), bad, "must be a number"
        if self.from_text and str(cells.dtype) == "String":
            numbers, wrong = numbers_from_text(cells)
            return numbers.to_numpy().astype(np.float64), wrong.to_numpy(), "must be a number"
        series = nw.from_native(cells, series_only=True)
        if series.dtype.is_nested():
            raise origin.error(f"must hold numbers, not {cells.dtype}", column=self.name)
        if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
            return np.full(len(cells), np.nan), cells.is_not_null().to_numpy(), "must hold numbers"
        return to_floats(series, origin), np.zeros(len(cells), dtype=bool), ""


class Stacked:
    """Numbers of one column, piece by piece, in memory that is as long as the column where that is known."""

    def __init__(self, n_rows: int | None) -> None:
        self._known = None if n_rows is None else np.empty(n_rows)
        self._parts: list[Floats] = []
        self._filled = 0

    def add(self, part: Floats) -> None:
        """Put a piece behind the others."""
        if self._known is None:
            self._parts.append(part)
        else:
            self._known[self._filled : self._filled + len(part)] = part
            self._filled += len(part)

    def whole(self) -> Floats:
        """All of them."""
        return np.concatenate(self._parts) if self._known is None else self._known[: self._filled]


@dataclass(frozen=True)
class Gathered:
    """Columns of a file in memory: numbers as arrays, labels and groups as series."""

    numbers: dict[str, Floats]
    others: dict[str, nw.Series[Any]]
    origin: Origin

    @classmethod
    def of(cls, table: Table, hints: Mapping[str, str | None], groups: Sequence[str], label: str | None) -> Gathered:
        """Read columns of numbers, each with what to add to an error about them, the label and the groups."""
        found = cls._read(table, hints, groups, label, typed=True) or cls._read(table, hints, groups, label)
        assert found is not None  # noqa: S101  (as text every cell can be read)
        return found

    @classmethod
    def _read(
        cls,
        table: Table,
        hints: Mapping[str, str | None],
        groups: Sequence[str],
        label: str | None,
        *,
        typed: bool = False,
    ) -> Gathered | None:
        others = list(dict.fromkeys([*groups, *([] if label is None else [label])]))
        columns = [Numbers(name, from_text=table.kind == "csv") for name in hints]
        values = [Stacked(table.n_rows) for _ in hints]
        parts: dict[str, list[Cells]] = {name: [] for name in others}
        read = 0
        for piece in table.pieces([*hints, *others], hints, label if typed else None):
            for column, found in zip(columns, values, strict=True):
                found.add(column.take(piece.cells[column.name], table.origin))
            for name, cells in parts.items():
                cells.append(piece.cells[name])
            read += piece.n_rows
            if table.n_rows is not None:
                tell(read, table.n_rows)
        for column in columns:
            column.refuse(table.origin, hints[column.name])
        series: dict[str, nw.Series[Any]] = {}
        for name in others:
            whole = table.joined(name, parts.pop(name), label=name == label)
            if whole is None:
                return None
            series[name] = nw.from_native(whole, series_only=True)
        return cls({name: values.pop(0).whole() for name in hints}, series, table.origin)

    def series(self, name: str) -> nw.Series[Any]:
        """Return a label or a group."""
        return self.others[name]

    def floats(self, name: str, hint: str | None = None) -> Floats:  # noqa: ARG002  (they are read already)
        """Return a column of numbers, nan where it is missing."""
        return self.numbers[name]

    def labels(self, name: str) -> tuple[list[Any], NDArray[np.signedinteger[Any]]]:
        """Return the distinct values of the label and the index of each row's, -1 where it is missing."""
        return encode_labels(self.others[name], self.origin)
