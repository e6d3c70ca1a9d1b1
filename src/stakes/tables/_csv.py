"""CSV: the columns that are needed are read as numbers at full speed; only what fails is looked at as text.

That every line has its fields is seen to in ``_csv_blocks``.
"""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, islice
from typing import TYPE_CHECKING, Any

from stakes.tables._content import Content, reject_other_encodings
from stakes.tables._csv_blocks import Block, Reader, count_lines, is_blank, long_fields, split_records
from stakes.tables._errors import Origin
from stakes.tables._roles import reject_duplicates
from stakes.tables._table import Piece
from stakes.tables._text import MISSING, is_number, looks_numeric, tidy_group, tidy_label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import BinaryIO

    import polars as pl

    from stakes.tables._table import Cells

_SEPARATORS = ",;\t"
_SAMPLE = 1000


@dataclass
class CsvFile:
    """A CSV file whose header was read: where its rows begin, and the first of them as text."""

    content: Content
    origin: Origin
    separator: str
    header: str
    names: list[str]
    sample: list[list[str]]
    start: int
    kind: str = "csv"
    n_rows: int | None = None

    @classmethod
    def open(cls, content: Content, wanted: str) -> CsvFile:
        """Read the header; the name of one column helps to tell the separator."""
        origin = Origin(content.name)
        reject_other_encodings(content, origin)
        with content.open() as stream, long_fields():
            mark = len(codecs.BOM_UTF8) if stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0
            stream.seek(mark)
            first = next((line for line in stream if line.strip()), b"").decode("utf-8", "replace")
            separator = max(_SEPARATORS, key=lambda s: _promise(first, s, wanted))
            stream.seek(mark)
            header, names = _read_header(stream, separator, origin)
            if not names:
                raise origin.error("the file is empty")
            stream.seek(mark)
            text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
            records = (r for r in csv.reader(text, delimiter=separator) if not is_blank("".join(r), r))
            sample = [row for row in islice(records, 1, _SAMPLE + 1) if len(row) == len(names)]
        reject_duplicates(names, content.name)
        return cls(content, origin, separator, header, names, sample, mark + len(header.encode()))

    @property
    def numeric(self) -> list[str]:
        """Names of the columns that hold numbers, as far as the first rows tell."""
        return [name for i, name in enumerate(self.names) if looks_numeric([row[i] for row in self.sample])]

    def pieces(
        self, columns: Collection[str], numbers: Collection[str] = (), label: str | None = None
    ) -> Iterator[Piece]:
        """Pass through the rows; columns of numbers, and of labels that are numbers, are text where they are not."""
        import polars as pl

        types = dict.fromkeys(numbers, pl.Float64) | ({} if label is None else {label: self._label_type(label)})
        for block in self._blocks():
            cells = self._parsed(block, columns, types) if columns else pl.DataFrame()
            yield Piece(block.n_rows, cells, partial(self._extended, block))

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series | None:  # noqa: ARG002
        """Make a label or a group of all its cells; None where some were read as numbers and some as text."""
        import polars as pl

        if len({str(part.dtype) for part in parts}) > 1:
            return None
        series = pl.concat(parts)
        if series.dtype != pl.String:
            return series
        return tidy_label(series) if label else tidy_group(series)

    def head(self, names: Sequence[str]) -> str:
        """Return the header with more names at its end, and the byte order mark if there was one."""
        more = io.StringIO(newline="")
        csv.writer(more, delimiter=self.separator, lineterminator="").writerow(names)
        mark = "\ufeff" if self.start > len(self.header.encode()) else ""
        return mark + self.header.rstrip("\r\n") + self.separator + more.getvalue() + self._end

    def schema(self) -> dict[str, Any]:
        """Return the type of each column of a frame, which is text."""
        import polars as pl

        return dict.fromkeys(self.names, pl.String)

    def frames(self) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Pass through the rows with every column as the text that it is, null where that is empty."""
        import polars as pl

        for block in self._blocks():
            frame = self._parsed(block, self.names, {}, missing=())
            frame = frame.with_columns(pl.when(pl.all() != "").then(pl.all()))
            yield Piece(block.n_rows, frame), frame

    @property
    def _end(self) -> str:
        return self.header[len(self.header.rstrip("\r\n")) :] or "\n"

    def _blocks(self) -> Iterator[Block]:
        """Pass through the records below the header; in the end it is known whether each is one line."""
        first = 1 + count_lines(self.header)
        reader = Reader(self.separator, len(self.names), self.origin, line=first)
        with self.content.open() as stream:
            stream.seek(self.start)
            yield from reader.blocks(stream)
        if reader.row == 0:
            raise self.origin.error("there is a header and no rows")
        self.origin = replace(self.origin, first_line=first if reader.line_per_row else None)

    def _parsed(
        self, block: Block, columns: Collection[str], types: dict[str, Any], missing: Sequence[str] = MISSING
    ) -> pl.DataFrame:
        """Read columns of some records as the types say or, where that fails, as text."""
        import polars as pl

        wanted = [i for i, name in enumerate(self.names) if name in columns]
        for given in (types, {}) if block.plain else ():
            # by position, under names of our own: polars has its own mind about repeated and empty names
            kinds = {f"c{i}": given.get(name, pl.String) for i, name in enumerate(self.names)}
            options: dict[str, Any] = {"separator": self.separator, "has_header": False, "null_values": list(missing)}
            try:
                frame = pl.read_csv(io.BytesIO(block.plain), columns=wanted, schema=kinds, **options)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
                continue
            if len(frame) == block.n_rows:
                return frame.rename({f"c{i}": self.names[i] for i in wanted})
        records = block.records or split_records(block.plain, io.BytesIO(), self.separator, 1, self.origin)
        rows = [record for _, record in records]
        texts = {self.names[i]: pl.Series([row[i] for row in rows], dtype=pl.String) for i in wanted}
        return pl.DataFrame(texts).with_columns(pl.all().replace(dict.fromkeys(missing)))

    def _extended(self, block: Block, new: Sequence[pl.Series], keep: Any) -> str:
        """Return the text of the records with new cells at the end of those that are kept."""
        import polars as pl

        texts = [series.cast(pl.String).fill_null("").to_list() for series in new]
        rows = zip(block.texts(self._end), *texts, strict=True)
        lines = (self.separator.join((body, *cells)) + end for (body, end), *cells in rows)
        return "".join(lines if keep is None else compress(lines, keep))

    def _label_type(self, label: str) -> Any:
        """Return the type of labels that all spell numbers, as far as the first rows tell."""
        import polars as pl

        at = self.names.index(label)
        present = [c for row in self.sample if (c := row[at].strip()) and c not in MISSING]
        if not present or not all(map(is_number, present)):
            return pl.String
        return pl.Int64 if all(c.lstrip("+-").isdecimal() for c in present) else pl.Float64


def _read_header(stream: BinaryIO, separator: str, origin: Origin) -> tuple[str, list[str]]:
    """Return the text down to the header's end, and the names; none where there is no header."""
    above, line = "", 1
    while data := stream.readline():
        for text, record in split_records(data, stream, separator, line, origin):
            above += text
            if not is_blank(text, record):
                return above, record
        line += 1
    return above, []


def _promise(header: str, separator: str, wanted: str) -> tuple[bool, int]:
    fields = next(csv.reader(io.StringIO(header, newline=""), delimiter=separator), [])
    return wanted in fields, len(fields)
