"""JSON lines: one object per line, read by the standard library.

Engines differ, by version too, in what they make of mixed types (text taken for numbers, 0.5 cut to 0 among whole
numbers, true taken for 1), so none of them is asked.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections import Counter
from functools import partial
from itertools import chain, compress, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.tables._content import Content, reject_other_encodings
from stakes.tables._errors import DataError, Origin
from stakes.tables._table import Piece
from stakes.tables._text import is_meant_as_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import polars as pl

    from stakes.tables._table import Cells

_SAMPLE = 1000
_BLOCK = 1 << 16
_MOST_DIGITS = 18  # fits 64 bits; more becomes a float, in the end infinity


class _Huge(float):
    """A whole number of too many digits for 64 bits."""


_KINDS = {int: "number", float: "number", _Huge: "number", str: "text", bool: "boolean"}


class JsonFile:
    """A JSON lines file."""

    kind = "jsonl"
    n_rows: int | None = None

    def __init__(self, content: Content) -> None:
        self.origin = Origin(content.name)
        reject_other_encodings(content, self.origin)
        self._content = content
        self._sample = [record for _, record in islice(self._records(), _SAMPLE)]
        self.names = list(dict.fromkeys(chain.from_iterable(self._sample)))
        self._kinds: dict[str, set[type]] = {}

    @property
    def numeric(self) -> list[str]:
        """Names of the columns that hold numbers, as far as the first rows tell."""
        return [name for name in self.names if _is_numeric([record.get(name) for record in self._sample])]

    def survey(self) -> None:
        """Pass through the file once for the names and kinds of all columns: some may first appear in its last row."""
        for _, record in self._records():
            for name, value in record.items():
                self._kinds.setdefault(name, set()).add(type(value))
        self.names = list(self._kinds)

    def pieces(
        self,
        columns: Collection[str],
        numbers: Collection[str] = (),  # noqa: ARG002  (JSON says itself what is a number)
        label: str | None = None,  # noqa: ARG002
    ) -> Iterator[Piece]:
        """Pass through the rows."""
        records = self._records()
        while block := list(islice(records, _BLOCK)):
            cells = {
                name: [sys.intern(v) if type(v) is str else v for _, record in block for v in (record.get(name),)]
                for name in columns
            }
            yield Piece(len(block), cells, partial(_extended, block))

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series:  # noqa: ARG002
        """Make a column of text, of numbers or of booleans; 1 and "1" in one column are two kinds."""
        first: Any = None
        values = list(chain.from_iterable(parts))
        for row, value in enumerate(values):
            if value is None:
                continue
            kind = _KINDS.get(type(value))
            first = first or kind
            if kind is None or kind != first:
                rule = "must be all text, all numbers or all true and false"
                raise self.origin.error(rule, column=name, row=row, value=value)
        if first == "number" and any(isinstance(v, float) for v in values):
            return self._series(name, np.array(values, dtype=np.float64))
        return self._series(name, values)

    def head(self, names: Sequence[str]) -> str:  # noqa: ARG002
        """Return nothing: each row names its columns itself."""
        return ""

    def schema(self) -> dict[str, Any]:
        """Return the type of each column of a frame, or refuse a column that has none."""
        return {name: self._type(name, frozenset(kinds - {type(None)})) for name, kinds in self._kinds.items()}

    def frames(self) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Pass through the rows with every column, null where a row does not name it."""
        import polars as pl

        schema, row = self.schema(), 0
        for piece in self.pieces(self.names):
            series = []
            for name, dtype in schema.items():
                values = piece.cells[name]
                if dtype == pl.Float64:
                    self._refuse_rounding(name, values, row)
                    values = np.array(values, dtype=np.float64)
                column = self._series(name, values, dtype)
                series.append(column.fill_nan(None) if dtype == pl.Float64 else column)
            row += piece.n_rows
            yield piece, pl.DataFrame(series)

    def _type(self, name: str, kinds: frozenset[type]) -> Any:
        import polars as pl

        alone = {frozenset({str}): pl.String, frozenset({bool}): pl.Boolean, frozenset({int}): pl.Int64}
        if not kinds or kinds in alone:
            return alone.get(frozenset(kinds), pl.String)
        if float in kinds and kinds <= {int, float}:
            return pl.Float64
        rule = "must be all text, all true and false, or all numbers of at most 18 digits to stand in another format"
        raise self.origin.error(rule, column=name, hint="A file that ends in .jsonl can hold it.")

    def _refuse_rounding(self, name: str, values: Cells, row: int) -> None:
        """Refuse a whole number that a column of floats cannot hold."""
        for at, value in enumerate(values):
            if type(value) is int and float(value) != value:
                raise self.origin.error("cannot stand in another format", column=name, row=row + at, value=value)

    def _series(self, name: str, values: Any, dtype: Any = None) -> pl.Series:
        import polars as pl

        try:
            return pl.Series(name, values, dtype=dtype)
        except UnicodeEncodeError:
            raise self.origin.error("must be text that UTF-8 can hold, without half of a pair", column=name) from None

    def _records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the text and the object of each line that is not blank; constants such as NaN are read as missing."""
        decoder = json.JSONDecoder(parse_int=_whole, parse_constant=lambda _: None, object_pairs_hook=_distinct)
        row = 0
        with self._content.open() as stream:
            for number, line in enumerate(stream, start=1):
                text = line.strip().removeprefix(codecs.BOM_UTF8)
                if not text:
                    continue
                row += 1
                problem = "this line holds something else"
                try:
                    shown = text.decode()
                    record = decoder.decode(shown)
                except ValueError as error:
                    problem, record = str(error), None
                except RecursionError:
                    problem, record = "it is nested too deeply", None
                if not isinstance(record, dict):
                    rule = f"must be one JSON object per line: {problem}"
                    raise DataError(rule, file=self._content.name, row=row, line=number)
                yield shown, record
        if row == 0:
            raise DataError("there are no rows", file=self._content.name)


def _extended(block: Sequence[tuple[str, dict[str, Any]]], new: Sequence[pl.Series], keep: Any) -> str:
    """Return the text of each object, and then what is new."""
    names = [json.dumps(series.name, ensure_ascii=False) for series in new]
    rows = zip(block, *(series.to_list() for series in new), strict=True)
    lines = (
        text[:-1].rstrip()
        + (", " if record else "")
        + ", ".join(f"{name}: {json.dumps(cell)}" for name, cell in zip(names, cells, strict=True))
        + "}\n"
        for (text, record), *cells in rows
    )
    return "".join(lines if keep is None else compress(lines, keep))


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else _Huge(digits)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the name {twice!r} occurs more than once")
    return record


def _is_numeric(values: list[Any]) -> bool:
    present = [v for v in values if v is not None]
    meant = [_KINDS.get(type(v)) == "number" or (type(v) is str and is_meant_as_number(v)) for v in present]
    return 2 * sum(meant) >= len(present)
