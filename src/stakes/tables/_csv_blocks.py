"""A CSV file in blocks of whole records, each of which is held against the header.

Plain lines are checked at the speed of reading bytes, all others by the csv module. polars fills short lines with
nulls, and accepts long ones where it skips columns, so it cannot be asked. DuckDB and pyarrow can: they took half the
time and three times the memory, do not say which row it is, and do not give back the text of a record.
"""

from __future__ import annotations

import csv
import io
import string
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.tables._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from numpy.typing import NDArray

    from stakes.tables._errors import Origin

_PIECE = 1 << 21
_NEWLINE, _QUOTE = ord("\n"), ord('"')
_BLANK_ENDS = (b"\n\n", b"\n\r\n")


@dataclass(frozen=True)
class Block:
    """Whole records: as bytes where each is a line, else as the text and the fields of each."""

    n_rows: int
    plain: bytes = b""
    records: tuple[tuple[str, list[str]], ...] = ()

    def texts(self, end: str) -> Iterator[tuple[str, str]]:
        """Yield each record without its line end, and that; the last of a file may have none."""
        lines = (text for text, _ in self.records) if self.records else _lines(self.plain.decode())
        for line in lines:
            body = line.rstrip("\r\n")
            yield body, line[len(body) :] or end


def _lines(text: str) -> Iterator[str]:
    return iter(io.StringIO(text, newline=""))


def _n_lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n"))


def count_lines(text: str) -> int:
    """Count the lines of a text, whatever ends them."""
    return sum(1 for _ in _lines(text))


@dataclass
class Reader:
    """Read the records below the header, and learn whether each row is one line."""

    separator: str
    n_fields: int
    origin: Origin
    row: int = 0
    line: int = 1
    line_per_row: bool = True
    _blank: bool = False

    def blocks(self, stream: BinaryIO) -> Iterator[Block]:
        """Yield the records of a stream, and refuse the first of another length."""
        while data := stream.read(_PIECE):
            data += stream.readline()
            filled = data[: data.index(b"\n", len(data.rstrip(b"\r\n"))) + 1] if data.endswith(_BLANK_ENDS) else data
            if is_plain(filled, self.separator, self.n_fields) and _is_text(filled):
                block = Block(_n_lines(filled), filled)
                self.row += block.n_rows
                self.line += _n_lines(data)
                self.line_per_row &= not self._blank
                self._blank |= filled is not data
            else:
                records = tuple(self._records(data, stream))
                block = Block(len(records), records=records)
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
    """Say whether each line plainly holds the fields: quotes around whole cells only, no line end inside them.

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
    """Say whether every quotation mark opens or closes a cell, or stands beside another."""
    is_edge = np.zeros(256, dtype=bool)
    is_edge[[ord(separator), _NEWLINE, ord("\r"), _QUOTE]] = True
    at = np.flatnonzero(quote)
    before = np.where(at[::2] > 0, found[at[::2] - 1], _NEWLINE)
    return bool(is_edge[before].all() and is_edge[found[at[1::2] + 1]].all())


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def split_records(
    data: bytes, stream: BinaryIO, separator: str, line: int, origin: Origin
) -> Iterator[tuple[str, list[str]]]:
    """Yield the text and the fields of each record by the csv module; one that the data cut is read on."""
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


def _decoded(part: bytes, line: int, origin: Origin) -> str:
    try:
        return part.decode()
    except UnicodeDecodeError as error:
        line += part.count(b"\n", 0, error.start)
        rule = f"must be UTF-8 text, this line holds the byte 0x{part[error.start]:02x}"
        raise DataError(rule, file=origin.file, line=line) from None


def is_blank(text: str, record: list[str]) -> bool:
    """Say whether a record of the csv module comes from a blank line."""
    return not record or (len(record) == 1 and not text.strip(string.whitespace))


@contextmanager
def long_fields() -> Iterator[None]:
    """Let the csv module read fields of any length."""
    before = csv.field_size_limit((1 << 31) - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)
