"""CSV and JSON lines files."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import mmap
import os
import re
import stat
import string
import sys
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from stakes.base.validation import check_choice
from stakes.outputs.files import LIFTED
from stakes.outputs.serialization import DataError, Location
from stakes.tables._columns import (
    MISSING,
    Cells,
    Piece,
    in_type,
    is_meant_as_number,
    is_number,
    looks_numeric,
    reject_duplicates,
    tidy_group,
    tidy_label,
    types_that_hold,
)

if TYPE_CHECKING:
    import polars as pl


# The bytes of a file or of standard input, decompressed if necessary, and the format of their table.

STANDARD_INPUT = "-"
FORMATS = ("csv", "parquet", "arrow", "jsonl")
ENDINGS = {
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson"),
}
_SUFFIXES = {ending: kind for kind, endings in ENDINGS.items() for ending in endings} | {".json": "jsonl"}
# the last is the start of an Arrow stream
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_GZIP = b"\x1f\x8b"
_HEAD = 64
# larger unpacked sizes, at larger ratios to the packed size, are decompression bombs
_MOST_UNPACKED, _MOST_TIMES = 1 << 28, 100
LIFT = "To read it all the same: --any-size, or in Python `with stakes.tables.any_size():`."
# polars would read these as patterns for several files
_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, eq=False, repr=False)
class Content(os.PathLike[str]):
    """A readable file: its name in messages, and either its path or its decompressed bytes."""

    name: str
    path: Path | None
    data: bytes = b""

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Content:
        """Open a path or, for "-", standard input; raise ``DataError`` if it cannot be read."""
        if isinstance(path, Content):
            return path
        if os.fspath(path) == STANDARD_INPUT:
            return cls("standard input", None, _unpacked(sys.stdin.buffer.read(), "standard input"))
        name, file = os.fspath(path), Path(path)
        with _readable(file, name) as stream:
            if is_pipe(name):  # a pipe can be read only once, as standard input
                return cls(name, None, _unpacked(stream.read(), name))
            head = stream.read(len(_GZIP))
            # engines require a name that is valid UTF-8
            if head != _GZIP and not _WILDCARDS & set(name) and not any("\ud800" <= sign <= "\udfff" for sign in name):
                content = cls(name, file)
            else:
                content = cls(name, None, _unpacked(head + stream.read(), name))
        if not content.head():
            raise DataError("the file is empty", file=name)
        return content

    def __fspath__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        """Size in bytes, decompressed."""
        return len(self.data) if self.path is None else self.path.stat().st_size

    def open(self) -> io.BufferedReader | io.BytesIO:
        """Open the decompressed bytes for reading."""
        return io.BytesIO(self.data) if self.path is None else self.path.open("rb")

    def mapped(self) -> bytes | mmap.mmap:
        """Return the decompressed bytes, memory-mapped for a file."""
        if self.path is None:
            return self.data
        with self.path.open("rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)

    def head(self) -> bytes:
        """Return the first bytes."""
        with self.open() as stream:
            return stream.read(_HEAD)

    @property
    def native(self) -> Path | io.BytesIO:
        """The source for polars: a path or bytes."""
        return io.BytesIO(self.data) if self.path is None else self.path

    def kind(self, stated: str | None) -> str:
        """Return the format: as stated, or by the first bytes, or by the file's suffix."""
        if stated is not None:
            return check_choice(stated, "format", FORMATS)
        head = self.head()
        for magic, kind in _MAGIC.items():
            if head.startswith(magic):
                return kind
        suffixes = [s.lower() for s in Path(self.name).suffixes if s.lower() != ".gz"]
        if suffixes and suffixes[-1] in _SUFFIXES:
            return _SUFFIXES[suffixes[-1]]
        return "jsonl" if head.removeprefix(codecs.BOM_UTF8).lstrip().startswith((b"{", b"[{")) else "csv"


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 digest of a file in hexadecimal, read in blocks.

    Parameters
    ----------
    path : str or path
        The file; of one that was read already, as a pipe, the digest is that of its decompressed bytes.

    Returns
    -------
    str

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import file_digest
    >>> len(file_digest(resources.files("stakes") / "py.typed"))
    64
    """
    with path.open() if isinstance(path, Content) else _readable(Path(path), os.fspath(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_pipe(name: str) -> bool:
    """Whether a name is that of a pipe, as from a shell's <(...), a terminal or another device."""
    try:
        mode = os.stat(name).st_mode  # noqa: PTH116  (as it is named, for engines too)
    except (OSError, ValueError):  # reported by the reader
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _readable(file: Path, name: str) -> io.BufferedReader:
    try:
        return file.open("rb")
    except FileNotFoundError:
        refuse_address(name)
        raise DataError("there is no such file", file=name) from None
    except IsADirectoryError:
        pattern = os.path.join(name, "*.parquet")  # noqa: PTH118  (as the name is written)
        takers = "evaluate, check and compare"
        hint = f"Name a file in it; {takers} take its Parquet files by a pattern in quotes: {pattern!r}."
        raise DataError("is a folder, not a file", file=name, hint=hint) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot be read: {reason}", file=name) from None


def refuse_address(name: str) -> None:
    """Refuse a remote address such as s3://bucket/day.parquet, once no local file of that name was found."""
    scheme, sign, path = name.partition("://")
    if not (sign and scheme.isalnum()):
        return
    if scheme == "file":
        raise DataError(f"is an address: write the path alone, {unquote(path.removeprefix('localhost'))}", file=name)
    rule = "is an address, and only files of this machine are read"
    raise DataError(f"{rule}: copy it here first, or pipe it into this command with - as its file", file=name)


def _unpacked(data: bytes, name: str) -> bytes:
    if not data:
        raise DataError("the file is empty", file=name)
    if not data.startswith(_GZIP):
        return data
    most = most_unpacked(len(data))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(-1 if most is None else most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot be unpacked as gzip: {error}", file=name) from None
    check_unpacked(len(unpacked), most, name)
    return unpacked


def most_unpacked(size: int) -> int | None:
    """Return the limit on the unpacked size for a packed size; None if the limit is lifted."""
    return None if LIFTED.get() else max(_MOST_UNPACKED, _MOST_TIMES * size)


def check_unpacked(size: int, most: int | None, name: str, column: str | None = None) -> None:
    """Raise if the unpacked size exceeds the limit."""
    if most is not None and size > most:
        rule = f"unpacks to more than {_MOST_TIMES} times its size and {_MOST_UNPACKED >> 20} MiB"
        raise DataError(rule, file=name, column=column, hint=LIFT)


def reject_other_encodings(content: Content, origin: Location) -> None:
    """Refuse text in another encoding than UTF-8, detected from its first bytes."""
    head = content.head()
    if head.startswith(b"PK\x03\x04"):
        raise origin.error("is a workbook of a spreadsheet or another zip archive, not text: save the sheet as CSV")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        rule = "must be UTF-8 text, this looks like UTF-16 or a binary format"
        raise origin.error(rule, hint="Save it as UTF-8, such as by iconv -f UTF-16 -t UTF-8.")
    if b"\x00" in head:
        raise origin.error("must be UTF-8 text, this looks like UTF-16 or a binary format")


# A CSV file in blocks of complete records, each checked against the header.
#
# Plain lines are checked as bytes, all others by the csv module. polars fills short lines with nulls and accepts long
# ones if it skips columns, so it does not detect them. DuckDB and pyarrow do, in half the time and three times the
# memory, but they report neither the row nor the text of a record.

_PIECE = 1 << 21
_FOR_EXCEL = re.compile("sep=.?", re.IGNORECASE)
_NEWLINE, _QUOTE = ord("\n"), ord('"')
_BLANK_ENDS = (b"\n\n", b"\n\r\n")


@dataclass(frozen=True, eq=False, repr=False)
class TextBlock:
    """Complete records: as bytes if each is a line, else as the text and the fields of each."""

    n_rows: int
    plain: bytes = b""
    records: tuple[tuple[str, list[str]], ...] = ()

    def texts(self, end: str) -> Iterator[tuple[str, str]]:
        """Yield each record and its line end, which the last of a file may lack."""
        lines = (text for text, _ in self.records) if self.records else _lines(self.plain.decode())
        for line in lines:
            body = line.rstrip("\r\n")
            yield body, line[len(body) :] or end


def _lines(text: str) -> Iterator[str]:
    return iter(io.StringIO(text, newline=""))


def _n_lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n"))


def count_lines(text: str) -> int:
    """Count the lines of a text with any line ends."""
    return sum(1 for _ in _lines(text))


@dataclass
class Reader:
    """Reads the records below the header, and determines whether each row is one line."""

    separator: str
    n_fields: int
    origin: Location
    row: int = 0
    line: int = 1
    line_per_row: bool = True
    _blank: bool = False

    def blocks(self, stream: BinaryIO) -> Iterator[TextBlock]:
        """Yield the records of a stream, and raise at the first with a wrong number of fields."""
        while data := stream.read(_PIECE):
            data += stream.readline()
            filled = data[: data.index(b"\n", len(data.rstrip(b"\r\n"))) + 1] if data.endswith(_BLANK_ENDS) else data
            if is_plain(filled, self.separator, self.n_fields) and _is_utf8(filled):
                block = TextBlock(_n_lines(filled), filled)
                self.row += block.n_rows
                self.line += _n_lines(data)
                self.line_per_row &= not self._blank
                self._blank |= filled is not data
            else:
                records = tuple(self._records(data, stream))
                block = TextBlock(len(records), records=records)
            if block.n_rows:
                yield block

    def _records(self, data: bytes, stream: BinaryIO) -> Iterator[tuple[str, list[str]]]:
        for text, record in split_records(data, stream, self.separator, self.line, self.origin):
            n_lines = count_lines(text)
            if is_blank(text, record):
                self._blank = True
            elif len(record) != self.n_fields:
                found = "1 field" if len(record) == 1 else f"{len(record)} fields"
                rule = f"has {found} where the header has {self.n_fields}"
                raise DataError(rule, file=self.origin.file, row=self.row + 1, line=self.line)
            else:
                self.row += 1
                self.line_per_row &= n_lines == 1 and not self._blank
                yield text, record
            self.line += n_lines


def is_plain(data: bytes, separator: str, n_fields: int) -> bool:
    """Whether all lines are plain: the right number of fields, and quotes around complete cells only.

    Separators and line ends outside quotes must then alternate as ``n_fields - 1`` to 1 throughout.
    """
    if data.count(b"\r") != data.count(b"\r\n"):
        return False
    if n_fields == 1 and not all(map(bytes.strip, data.removesuffix(b"\n").split(b"\n"))):
        return False
    found = np.frombuffer(data if data.endswith(b"\n") else data + b"\n", dtype=np.uint8)
    newline = found == _NEWLINE
    structural = (found == ord(separator)) | newline
    if b'"' in data:
        quote = found == _QUOTE
        inside: NDArray[np.bool_] = np.bitwise_xor.accumulate(quote)
        if inside[-1] or np.any(inside & newline) or not _at_edges(found, quote, separator):
            return False
        structural &= ~inside
    marks = found[structural]
    if len(marks) % n_fields:
        return False
    ends = marks.reshape(-1, n_fields) == _NEWLINE
    return bool(ends[:, -1].all() and not ends[:, :-1].any())


def _at_edges(found: NDArray[np.uint8], quote: NDArray[np.bool_], separator: str) -> bool:
    """Whether every quotation mark opens or closes a cell, or is doubled."""
    is_edge = np.zeros(256, dtype=bool)
    is_edge[[ord(separator), _NEWLINE, ord("\r"), _QUOTE]] = True
    at = np.flatnonzero(quote)
    before = np.where(at[::2] > 0, found[at[::2] - 1], _NEWLINE)
    return bool(is_edge[before].all() and is_edge[found[at[1::2] + 1]].all())


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def split_records(
    data: bytes, stream: BinaryIO, separator: str, line: int, origin: Location
) -> Iterator[tuple[str, list[str]]]:
    """Yield the text and the fields of each record by the csv module, across blocks."""
    taken: list[str] = []

    def lines() -> Iterator[str]:
        part = data
        while part:
            for text in _lines(_decoded(part, line + reader.line_num, origin)):
                taken.append(text)
                yield text
            part = stream.readline() if taken else b""

    start = line
    with long_fields():
        reader = csv.reader(lines(), delimiter=separator, strict=True)
        try:
            for record in reader:
                text = "".join(taken)
                taken.clear()
                yield text, record
                start = line + reader.line_num
        except csv.Error as error:
            rule = "has a quotation mark that is never closed" if "end of data" in str(error) else f"is no CSV: {error}"
            raise DataError(rule, file=origin.file, line=start) from None


def _decoded(part: bytes, line: int, origin: Location) -> str:
    try:
        return part.decode()
    except UnicodeDecodeError as error:
        line += part.count(b"\n", 0, error.start)
        rule = f"must be UTF-8 text, this line holds the byte 0x{part[error.start]:02x}"
        raise DataError(rule, file=origin.file, line=line) from None


def is_blank(text: str, record: list[str]) -> bool:
    """Whether a record of the csv module is from a blank line."""
    return not record or (len(record) == 1 and not text.strip(string.whitespace))


@contextmanager
def long_fields() -> Iterator[None]:
    """Lift the csv module's limit on the length of fields."""
    before = csv.field_size_limit((1 << 31) - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


# CSV: needed columns are read as numbers; only if that fails are they read as text.
#
# That every line has its fields is seen to in ``_csv_blocks``.

_SEPARATORS = ",;\t"
_SAMPLE = 1000


@dataclass
class CsvFile:
    """A CSV file with its header, the position of its first row, and a sample of rows as text."""

    content: Content
    origin: Location
    separator: str
    header: str
    names: list[str]
    sample: list[list[str]]
    start: int
    kind: str = "csv"
    n_rows: int | None = None

    @classmethod
    def open(cls, content: Content, wanted: str) -> CsvFile:
        """Read the header; the name of one column helps to detect the separator."""
        origin = Location(content.name)
        reject_other_encodings(content, origin)
        with content.open() as stream, long_fields():
            mark = len(codecs.BOM_UTF8) if stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0
            stream.seek(mark)
            first = next((line for line in stream if line.strip()), b"").decode("utf-8", "replace")
            if _FOR_EXCEL.fullmatch(first.strip()):
                raise origin.error(f"begins with {first.strip()!r}, a line for Excel alone: delete it")
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
        """Yield the rows; numeric columns and labels are text in pieces where not all cells are numbers."""
        import polars as pl

        types = dict.fromkeys(numbers, pl.Float64) | ({} if label is None else {label: self._label_type(label)})
        for block in self._blocks():
            cells = self._parsed(block, columns, types) if columns else pl.DataFrame()
            yield Piece(block.n_rows, cells, partial(self._extended, block))

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series | None:  # noqa: ARG002
        """Join the pieces of a label or group column; None if some were read as numbers and some as text."""
        import polars as pl

        if len({str(part.dtype) for part in parts}) > 1:
            return None
        series = pl.concat(parts)
        if series.dtype != pl.String:
            return series
        return tidy_label(series) if label else tidy_group(series)

    def head(self, names: Sequence[str]) -> str:
        """Return the header extended by more names, with its byte order mark if there was one."""
        more = io.StringIO(newline="")
        csv.writer(more, delimiter=self.separator, lineterminator="").writerow(names)
        mark = "\ufeff" if self.start > len(self.header.encode()) else ""
        return mark + self.header.rstrip("\r\n") + self.separator + more.getvalue() + self._end

    def schema(self, numbers: Collection[str]) -> dict[str, Any]:
        """Return the type that holds every cell of each column unchanged, from a pass through the rows; else text."""
        import polars as pl

        every = (pl.Boolean, pl.Int64, pl.Float64)
        found: dict[str, set[Any]] = {name: set(every) for name in self.names}
        for block in self._blocks():
            frame = self._parsed(block, [name for name, kinds in found.items() if kinds], {}, missing=())
            for series in frame:
                found[series.name] &= types_that_hold(series)
        # all types hold a column without cells
        held = {name: kinds if len(kinds) < len(every) else () for name, kinds in found.items()}
        types = {name: next((kind for kind in every if kind in kinds), pl.String) for name, kinds in held.items()}
        return types | dict.fromkeys(numbers, pl.Float64)

    def frames(self, schema: Mapping[str, Any]) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Yield the rows with every column in its type."""
        for block in self._blocks():
            frame = self._parsed(block, self.names, {}, missing=())
            frame = frame.with_columns(in_type(frame[name], kind) for name, kind in schema.items())
            yield Piece(block.n_rows, frame), frame

    @property
    def _end(self) -> str:
        return self.header[len(self.header.rstrip("\r\n")) :] or "\n"

    def _blocks(self) -> Iterator[TextBlock]:
        """Yield the records below the header; then set whether each is one line."""
        first = 1 + count_lines(self.header)
        reader = Reader(self.separator, len(self.names), self.origin, line=first)
        with self.content.open() as stream:
            stream.seek(self.start)
            yield from reader.blocks(stream)
        if reader.row == 0:
            raise self.origin.error("there is a header and no rows")
        self.origin = replace(self.origin, first_line=first if reader.line_per_row else None)

    def _parsed(
        self, block: TextBlock, columns: Collection[str], types: dict[str, Any], missing: Sequence[str] = MISSING
    ) -> pl.DataFrame:
        """Read columns of a block of records in their types or, if that fails, as text."""
        import polars as pl

        wanted = [i for i, name in enumerate(self.names) if name in columns]
        # polars would leave out a byte order mark at the start of a block, where it is part of a cell
        for given in (types, {}) if block.plain and not block.plain.startswith(codecs.BOM_UTF8) else ():
            # by position, under internal names: polars renames repeated and empty names
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

    def _extended(self, block: TextBlock, new: Sequence[pl.Series], keep: Any) -> str:
        """Return the text of the kept records, extended by new cells."""
        import polars as pl

        texts = [series.cast(pl.String).fill_null("").to_list() for series in new]
        rows = zip(block.texts(self._end), *texts, strict=True)
        lines = (self.separator.join((body, *cells)) + end for (body, end), *cells in rows)
        return "".join(lines if keep is None else compress(lines, keep))

    def _label_type(self, label: str) -> Any:
        """Return the type of the labels, numeric if those of the first rows are."""
        import polars as pl

        at = self.names.index(label)
        present = [c for row in self.sample if (c := row[at].strip()) and c not in MISSING]
        if not present or not all(map(is_number, present)):
            return pl.String
        return pl.Int64 if all(c.lstrip("+-").isdecimal() for c in present) else pl.Float64


def _read_header(stream: BinaryIO, separator: str, origin: Location) -> tuple[str, list[str]]:
    """Return the text up to the end of the header, and the names; no names if there is no header."""
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


# JSON lines: one object per line, read by the standard library.
#
# Engines and their versions differ in how they convert mixed types (text to numbers, 0.5 to 0 among integers, true
# to 1), so none of them is used.

_BLOCK = 1 << 16
_MOST_DIGITS = 18  # fits 64 bits; more becomes a float, in the end infinity
_MOST_DIGITS_64 = 20  # an integer with more, its sign included, does not fit


class _Huge(float):
    """An integer with more digits than surely fit 64 bits, as a float, and its digits."""

    digits: str

    def __new__(cls, digits: str) -> Self:
        found = super().__new__(cls, digits)
        found.digits = digits
        return found


_KINDS = {int: "number", float: "number", _Huge: "number", str: "text", bool: "boolean"}


class JsonFile:
    """A JSON lines file."""

    kind = "jsonl"
    n_rows: int | None = None

    def __init__(self, content: Content) -> None:
        self.origin = Location(content.name)
        reject_other_encodings(content, self.origin)
        self._content = content
        self._sample = [record for _, record in islice(self._records(), _SAMPLE)]
        self.names = list(dict.fromkeys(chain.from_iterable(self._sample)))
        self._kinds: dict[str, set[type]] = {}

    @property
    def numeric(self) -> list[str]:
        """Names of the columns that hold numbers, as far as the first rows tell."""
        return [name for name in self.names if self._is_numeric(name)]

    def _is_numeric(self, name: str) -> bool:
        present = [value for record in self._sample if (value := record.get(name)) is not None]
        if not present:  # a survey found it in late rows, or it is missing in all
            return {_KINDS.get(kind) for kind in self._kinds.get(name, set()) - {type(None)}} <= {"number"}
        meant = [_KINDS.get(type(v)) == "number" or (type(v) is str and is_meant_as_number(v)) for v in present]
        return 2 * sum(meant) >= len(present)

    def survey(self) -> None:
        """Read the file once for the names and types of all columns: some may first appear in the last row."""
        for _, record in self._records():
            for name, value in record.items():
                self._kinds.setdefault(name, set()).add(type(value))
        self.names = list(self._kinds)

    def pieces(
        self, columns: Collection[str], numbers: Collection[str] = (), label: str | None = None
    ) -> Iterator[Piece]:
        """Pass through the rows."""
        del numbers, label  # JSON says itself what is a number
        records = self._records()
        while block := list(islice(records, _BLOCK)):
            cells = {
                name: [sys.intern(v) if type(v) is str else v for _, record in block for v in (record.get(name),)]
                for name in columns
            }
            yield Piece(len(block), cells, partial(_extended, block))

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series:  # noqa: ARG002
        """Join the pieces of a column of texts, numbers or booleans; 1 and "1" are different types."""
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
            return self._numbers(name, values)
        return self._series(name, values)

    def _numbers(self, name: str, values: Cells) -> pl.Series:
        """Join numbers that tell rows apart; an integer that the column's type would round is refused."""
        import polars as pl

        whole = [int(v.digits) if type(v) is _Huge and len(v.digits) <= _MOST_DIGITS_64 else v for v in values]
        fractions = any(type(v) is float for v in whole)
        signed = not fractions and min(v for v in whole if v is not None) < 0
        fits = range(-(2**63), 2**63) if signed else range(2**64)
        for row, v in enumerate(whole):
            if type(v) is _Huge or (type(v) is int and (float(v) != v if fractions else v not in fits)):
                rule = "must be exact as a float, for the column holds fractions" if fractions else "must fit 64 bits"
                raise self.origin.error(f"{rule}: write it as text", column=name, row=row, value=v)
        if fractions:
            return self._series(name, np.array(values, dtype=np.float64))
        return self._series(name, whole, pl.Int64 if signed else pl.UInt64)

    def head(self, names: Sequence[str]) -> str:  # noqa: ARG002
        """Return nothing: the format has no header."""
        return ""

    def schema(self, numbers: Collection[str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the type of each column of a frame, or refuse a column without a common type."""
        return {name: self._type(name, frozenset(kinds - {type(None)})) for name, kinds in self._kinds.items()}

    def frames(self, schema: Mapping[str, Any]) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Yield the rows with every column, null where a row lacks it."""
        import polars as pl

        row = 0
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
        """Refuse an integer that a float column cannot represent exactly."""
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
        """Yield the text and the object of each line that is not blank; NaN is read as missing."""
        decoder = json.JSONDecoder(parse_int=_parse_int, parse_constant=_parse_constant, object_pairs_hook=_unique)
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
    """Return the text of each object, extended by new entries."""
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


def _parse_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else _Huge(digits)


def _parse_constant(text: str) -> float | None:
    return None if text == "NaN" else float(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the name {twice!r} occurs more than once")
    return record
