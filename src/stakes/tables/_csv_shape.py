"""Whether every line of a CSV file holds as many fields as its header, checked at the speed of reading bytes.

polars fills short lines with nulls, and accepts long ones where it skips columns, so it cannot be asked.
"""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.tables._errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.tables._content import Content
    from stakes.tables._errors import Origin

_CHUNK = 1 << 22
_NEWLINE, _RETURN, _QUOTE = ord("\n"), ord("\r"), ord('"')


@dataclass(frozen=True)
class Shape:
    """Number of rows below the header, whether each is one line, and whether blank lines follow the last."""

    rows: int
    line_per_row: bool = False
    blank_end: bool = False


def measure(content: Content, separator: str, n_fields: int) -> Shape | None:
    """Count the rows if every line plainly holds ``n_fields``, else return None.

    Separators and line ends outside quotes must alternate as ``n_fields - 1`` to 1 throughout.
    """
    lines, quotes, marks = 0, _Quotes(ord(separator)), np.empty(0, dtype=np.uint8)
    with content.open() as stream:
        left, blank_end = _extent(stream)
        while left:
            chunk = stream.read(min(left, _CHUNK))
            left -= len(chunk)
            data = np.frombuffer(chunk, dtype=np.uint8)
            structural = (data == ord(separator)) | (data == _NEWLINE)
            if quotes.concern(chunk):
                structural &= ~quotes.inside_of(data)
            marks = np.concatenate([marks, data[structural]])
            whole = len(marks) // n_fields
            ends = marks[: whole * n_fields].reshape(whole, n_fields) == _NEWLINE
            if quotes.stray or not ends[:, -1].all() or ends[:, :-1].any():
                return None
            lines, marks = lines + whole, marks[whole * n_fields :]
    # what is left is the last line without its end: it makes up for the header, which is no row
    if quotes.inside or len(marks) != n_fields - 1 or np.any(marks == _NEWLINE):
        return None
    return Shape(lines, not quotes.around_newline, blank_end)


class _Quotes:
    """Follow quotation marks through the pieces of a file; a stray one is left to the csv module to judge."""

    def __init__(self, separator: int) -> None:
        self.inside = self.stray = self.around_newline = False
        self._is_edge = np.zeros(256, dtype=bool)
        self._is_edge[[separator, _NEWLINE, _RETURN, _QUOTE]] = True
        self._last, self._last_closes = _NEWLINE, False

    def concern(self, chunk: bytes) -> bool:
        """Say whether a piece needs a look; one without quotation marks and lone returns does not."""
        plain = not self.inside and not self._last_closes and b'"' not in chunk
        if plain and self._last != _RETURN and chunk.count(b"\r") == chunk.count(b"\r\n"):
            self._last = chunk[-1]
            return False
        return True

    def inside_of(self, data: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Mark the bytes inside quotes, the opening mark included."""
        is_quote = data == _QUOTE
        inside: NDArray[np.bool_] = np.bitwise_xor.accumulate(is_quote) ^ self.inside
        at = np.flatnonzero(is_quote)
        opens, closes, returns = at[inside[at]], at[~inside[at]], np.flatnonzero(data == _RETURN)
        around = np.concatenate([np.array([self._last], dtype=np.uint8), data])
        self.stray |= bool(
            not self._is_edge[around[opens]].all()
            or not self._is_edge[around[closes[closes < len(data) - 1] + 2]].all()
            or np.any(around[returns[returns < len(data) - 1] + 2] != _NEWLINE)
            or (self._last_closes and not self._is_edge[data[0]])
            or (self._last == _RETURN and data[0] != _NEWLINE)
        )
        self.around_newline |= bool(np.any(inside & (data == _NEWLINE)))
        self.inside, self._last = bool(inside[-1]), int(data[-1])
        self._last_closes = bool(is_quote[-1] and not inside[-1])
        return inside


def _extent(stream: io.BufferedReader | io.BytesIO) -> tuple[int, bool]:
    """Go to the start of the text; return its length without the line ends after it, and whether they are several."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - _CHUNK, 0))
    tail = stream.read()
    end = tail[len(tail.rstrip(b"\r\n")) :]
    stream.seek(0)
    start = len(codecs.BOM_UTF8) if stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0
    stream.seek(start)
    return size - start - len(end), end.count(b"\n") > 1


def rewrite(content: Content, separator: str, n_fields: int, origin: Origin) -> tuple[bytes, Shape]:
    """Read record by record, refuse the first one of another length, and write the rest plainly."""
    plain, rows, line = io.StringIO(newline=""), -1, 1
    writer = csv.writer(plain, lineterminator="\n")
    with open_text(content) as stream:
        reader = csv.reader(stream, delimiter=separator, strict=True)
        try:
            for record in reader:
                if not is_blank(record):
                    if len(record) != n_fields:
                        found = "1 field" if len(record) == 1 else f"{len(record)} fields"
                        rule = f"has {found} where the header has {n_fields}"
                        raise DataError(rule, file=origin.file, row=rows + 1, line=line)
                    writer.writerow(record)
                    rows += 1
                line = reader.line_num + 1
        except csv.Error as error:
            rule = "has a quotation mark that is never closed" if "end of data" in str(error) else f"is no CSV: {error}"
            raise DataError(rule, file=origin.file, line=line) from None
    return plain.getvalue().encode(), Shape(rows)


def open_text(content: Content) -> io.TextIOWrapper:
    """Open text as the csv module wants it, without a byte order mark."""
    return io.TextIOWrapper(content.open(), encoding="utf-8-sig", newline="")


def is_blank(record: list[str]) -> bool:
    """Say whether a record of the csv module comes from a blank line."""
    return not record or (len(record) == 1 and not record[0].strip())
