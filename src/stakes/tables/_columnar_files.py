"""Parquet and Arrow files, and scans of files by data engines."""

from __future__ import annotations

import glob
import io
import mmap
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from pathlib import Path
from struct import Struct, error
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from stakes.base.validation import blocks
from stakes.outputs.hooks import import_optional, nw
from stakes.outputs.serialization import DataError, Location
from stakes.tables._columns import (
    OF_ANOTHER_COLUMN,
    Cells,
    Piece,
    check_flat,
    collected,
    holds_row_numbers,
    in_lower_case,
    is_pattern,
    refuse_patterns,
)
from stakes.tables._text_files import ENDINGS, Content, check_unpacked, is_pipe, most_unpacked, refuse_address

if TYPE_CHECKING:
    import polars as pl


Bytes = Any  # bytes, or a map of a file
Schema = dict[str, Any]
# how to scan files, of a pattern or not, with some of the columns from folder names as text; and what that may raise
_Scanner = tuple[Callable[[list[str], bool, Collection[str]], Any], tuple[type[Exception], ...]]


# The declared and unpacked sizes of the pages of a Parquet file, checked before polars reserves memory for them.
#
# A damaged count ends in an allocation that fails, which no exception follows: the process is gone. Only as much is
# read here as tells where pages begin: the footer and the head of each page, in the compact protocol of Thrift
# (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_WHOLE = (4, 5, 6)
# fields of the structures of Parquet, by their numbers
_ROW_GROUPS, _COLUMNS, _META = 4, 1, 3
_PATH, _N_VALUES, _DATA_PAGE, _DICTIONARY_PAGE = 3, 5, 9, 11
_UNPACKED_SIZE, _PACKED_SIZE, _DATA, _DICTIONARY, _DATA_V2 = 2, 3, 5, 7, 8
_TYPE, _CODEC, _BYTE_ARRAY = 1, 4, 6
_ENCODING, _BY_DICTIONARY = {_DATA: 2, _DATA_V2: 4}, (2, 8)
_BY_PREFIX = 7
_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 8, 4: 4, 5: 8}  # bytes of a value by its type; 16 of a text's place, and of a decimal
_MOST_ITEMS = 1 << 20  # row groups, or columns


@dataclass
class Column:
    """What the chunks of a column unpack to, by what they declare.

    ``size`` is the bytes of its pages or of its values, whichever is more. ``repeated`` values stand in a dictionary of
    texts, which its data pages name as often as they like: each dictionary is its count of texts, its bytes in the
    file, its codec, its bytes unpacked, and how many values name it. ``begun`` are values that may begin as the one
    before them does, by the bytes of their page: it may be as long.
    """

    size: int = 0
    begun: dict[int, int] = field(default_factory=dict)
    repeated: list[tuple[int, Bytes, int, int, int]] = field(default_factory=list)

    @property
    def most(self) -> int:
        """Upper bound on the bytes of all repeated values: each may be as long as the dictionary."""
        named = sum(unpacked * values for *_, unpacked, values in self.repeated)
        return named + sum(unpacked * values for unpacked, values in self.begun.items())


def check_pages(data: Bytes, origin: Location) -> dict[str, Column]:
    """Return the unpacked size of each column of a Parquet file, from the sizes that it declares.

    A page that claims to hold more values than are due, or fewer than none, is refused.
    """
    name, found = None, dict[str, Column]()
    try:
        footer, _ = _struct(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
        for group in footer[_ROW_GROUPS]:
            for chunk in group[_COLUMNS]:
                path = [str(part, "utf-8") for part in chunk[_META][_PATH]]
                name = path[0]
                _walk(data, chunk[_META], found.setdefault(".".join(path), Column()))
    except (LookupError, TypeError, ValueError, RecursionError):
        what = "its end, which says where the pages are," if name is None else "the head of a page"
        text = bytes(data[:4]) != b"PAR1"
        hint = 'If it is text, say so by format="csv" (command line: --format csv).' if text else None
        raise origin.error(f"cannot be read as Parquet: {what} is damaged", column=name, hint=hint) from None
    return found


def _walk(data: Bytes, chunk: dict[int, Any], column: Column) -> None:
    """Read page after page until all values are found, and sum the unpacked sizes."""
    due, at, values = chunk[_N_VALUES], chunk[_DATA_PAGE], chunk[_N_VALUES]
    if 0 < chunk.get(_DICTIONARY_PAGE, 0) < at:
        at = chunk[_DICTIONARY_PAGE]
    pages, named, texts = 0, 0, None
    while due > 0:
        page, at = _struct(data, at)
        kind = next((kind for kind in (_DATA, _DATA_V2) if kind in page), None)
        held = 0 if kind is None else page[kind][1]
        if not 0 <= held <= due or page.get(_DICTIONARY, {1: 0})[1] < 0 or page[_PACKED_SIZE] < 0:
            raise ValueError(page)
        pages += max(page[_UNPACKED_SIZE], 0)
        if _DICTIONARY in page:
            texts = page[_DICTIONARY][1], data[at : at + page[_PACKED_SIZE]], chunk[_CODEC], page[_UNPACKED_SIZE]
        elif kind is not None and page[kind][_ENCODING[kind]] in _BY_DICTIONARY:
            named += held
        elif kind is not None and page[kind][_ENCODING[kind]] == _BY_PREFIX:
            column.begun[page[_UNPACKED_SIZE]] = column.begun.get(page[_UNPACKED_SIZE], 0) + held
        due, at = due - held, at + page[_PACKED_SIZE]
    column.size += max(pages, values * _WIDTHS.get(chunk[_TYPE], 16))
    if texts is not None and named and chunk[_TYPE] == _BYTE_ARRAY:
        column.repeated.append((*texts, named))


class _Long(int):
    """An integer written with 64 bits."""


_KIND_OF = {int: _WHOLE[1], _Long: _WHOLE[2], bytes: _BINARY, list: _LIST, dict: _STRUCT}


def as_data_page(count: int, packed: Bytes, codec: int, unpacked: int) -> bytes:
    """Build a Parquet file with one column, ``texts``, that holds each text of a dictionary once."""
    kind = {1: _BYTE_ARRAY, 3: 0, 4: b"texts"}  # required
    page = _encode_struct({1: 0, 2: unpacked, 3: len(packed), 5: {1: count, 2: 0, 3: 3, 4: 3}})
    rows, size, start = _Long(count), _Long(len(page) + len(packed)), _Long(4)
    meta = {1: _BYTE_ARRAY, 2: [0], 3: [b"texts"], 4: codec, 5: rows, 6: _Long(len(page) + unpacked), 7: size, 9: start}
    group = {1: [{2: start, 3: meta}], 2: size, 3: rows}
    footer = _encode_struct({1: 1, 2: [{4: b"schema", 5: 1}, kind], 3: rows, 4: [group]})
    return b"PAR1" + page + bytes(packed) + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def _encode_struct(fields: dict[int, Any]) -> bytes:
    """Encode a Thrift structure."""
    found, last = bytearray(), 0
    for number, value in fields.items():
        found.append((number - last) << 4 | _KIND_OF[type(value)])
        found += _encode_value(value)
        last = number
    return bytes(found) + b"\0"


def _encode_value(value: Any) -> bytes:
    if isinstance(value, int):
        return _encode_varint(value << 1)
    if isinstance(value, bytes):
        return _encode_varint(len(value)) + value
    if isinstance(value, list):
        return bytes([len(value) << 4 | _KIND_OF[type(value[0])]]) + b"".join(map(_encode_value, value))
    return _encode_struct(value)


def _encode_varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _struct(data: Bytes, at: int) -> tuple[dict[int, Any], int]:
    """Read a structure as its fields by number; also return its end."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        step, at = head >> 4, at + 1
        if step:
            number += step
        else:
            number, at = _integer(data, at)
        fields[number], at = _value(data, at, head & 15)
    return fields, at + 1


def _value(data: Bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind in _WHOLE:
        return _integer(data, at)
    if kind == _BINARY:
        size, at = _varint(data, at)
        return data[at : at + size], at + size
    if kind == _STRUCT:
        return _struct(data, at)
    if kind in (_LIST, _SET):
        return _items(data, at)
    if kind in (_BYTE, _DOUBLE):
        return None, at + (1 if kind == _BYTE else 8)
    raise TypeError(kind)


def _items(data: Bytes, at: int) -> tuple[list[Any], int]:
    size, kind = data[at] >> 4, data[at] & 15
    size, at = _varint(data, at + 1) if size == 15 else (size, at + 1)
    if size > _MOST_ITEMS:
        raise ValueError(size)
    items = []
    for _ in range(size):
        item, at = _value(data, at, _BYTE if kind in (_TRUE, _FALSE) else kind)
        items.append(item)
    return items, at


def _integer(data: Bytes, at: int) -> tuple[int, int]:
    number, at = _varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _varint(data: Bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while (byte := data[at]) > 127:
        if shift > 63:
            raise ValueError(number)
        number |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
    return number | byte << shift, at + 1


# The declared unpacked sizes of the batches of an Arrow file, checked before polars reserves memory for them.
#
# Only the heads of the messages are read, as FlatBuffers lay them out, and the eight bytes before each packed buffer
# that say how long it is unpacked (https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-
# communication-ipc).

_MAGIC, _CONTINUED = b"ARROW1", b"\xff\xff\xff\xff"
_SHORT, _UNSIGNED, _WHOLE_CODES, _LONG, _BUFFER = (Struct(form) for form in ("<H", "<I", "<i", "<q", "<qq"))
# places of fields in the tables of Arrow's messages
_KIND, _HEAD, _BODY_LENGTH = 1, 2, 3
_BUFFERS, _PACKING, _DATA_FIELD = 2, 3, 1
_DICTIONARY_BATCH, _BATCH = 2, 3


def declared_size(data: Bytes, origin: Location) -> int:
    """Return the unpacked size of the buffers of an Arrow file or stream."""
    try:
        return sum(_unpacked_size(data, *message) for message in _messages(data))
    except (error, IndexError, ValueError):
        raise origin.error("cannot be read as Arrow: the head of a batch is damaged") from None


def _messages(data: Bytes) -> Iterator[tuple[int, int]]:
    """Yield the position of the head and of the body of each message."""
    at = 8 if data[: len(_MAGIC)] == _MAGIC else 0
    while data[at : at + 4] == _CONTINUED:
        size = _read(_WHOLE_CODES, data, at + 4)
        if size == 0:  # the end of the stream
            return
        if size < 0:
            raise ValueError(size)
        head, body = at + 8 + _read(_UNSIGNED, data, at + 8), at + 8 + size
        yield head, body
        place = _field(data, head, _BODY_LENGTH)
        length = 0 if place is None else _read(_LONG, data, place)
        if length < 0:
            raise ValueError(length)
        at = body + length


def _unpacked_size(data: Bytes, head: int, body: int) -> int:
    """Return the unpacked size of the buffers of a message."""
    kind, batch = _field(data, head, _KIND), _child(data, head, _HEAD)
    if kind is None or batch is None or data[kind] not in {_DICTIONARY_BATCH, _BATCH}:
        return 0
    if data[kind] == _DICTIONARY_BATCH:
        batch = _child(data, batch, _DATA_FIELD)
    buffers = None if batch is None else _child(data, batch, _BUFFERS)
    if batch is None or buffers is None:
        return 0
    packed, size = _field(data, batch, _PACKING) is not None, 0
    for number in range(_read(_UNSIGNED, data, buffers)):
        start = buffers + 4 + number * _BUFFER.size
        offset, length = _BUFFER.unpack(data[start : start + _BUFFER.size])
        if offset < 0 or length < 0:
            raise ValueError(length)
        said = _read(_LONG, data, body + offset) if packed and length >= _LONG.size else -1
        size += length if said < 0 else said
    return size


def _read(form: Struct, data: Bytes, at: int) -> int:
    return int(form.unpack(data[at : at + form.size])[0])


def _field(data: Bytes, table: int, number: int) -> int | None:
    """Return the position of a field of a table, or None if it is absent."""
    layout = table - _read(_WHOLE_CODES, data, table)
    place = 4 + 2 * number
    if layout < 0 or place >= _read(_SHORT, data, layout):
        return None
    offset = _read(_SHORT, data, layout + place)
    return table + offset if offset else None


def _child(data: Bytes, table: int, number: int) -> int | None:
    """Return the position of the table or list that a field points to, or None."""
    place = _field(data, table, number)
    return None if place is None else place + _read(_UNSIGNED, data, place)


# The memory that the cells of a Parquet or Arrow file need, checked before they are read.
#
# A few bytes can repeat a text of ten megabytes in thousands of rows, or a number in billions. Numbers take their
# width times the rows; a text in a dictionary is counted once for each row that refers to it.

_TEXT = 16  # bytes of the reference to a text
_LOOKS = 4096  # queries of a column, at most


def check_texts(lazy: pl.LazyFrame | None, columns: Mapping[str, Column], most: int | None, origin: Location) -> None:
    """Refuse a Parquet file whose texts, counted once for each row, exceed the limit.

    Without a lazy frame, of which a few rows can be looked at, the longest text counts for every row.
    """
    size = sum(column.size for column in columns.values())
    if most is None or size + sum(column.most for column in columns.values()) <= most:
        return
    for name, column in columns.items():
        if column.most <= most - size:
            size += column.most
            continue
        longest = [_longest(*dictionary) for *dictionary, _ in column.repeated]
        bound = sum(unpacked * values for unpacked, values in column.begun.items())
        bound += sum(length * rows for length, (*_, rows) in zip(longest, column.repeated, strict=True))
        if bound > most - size:
            bound = _measure(lazy, name, max([*longest, *column.begun]), most - size)
        size += bound
        check_unpacked(size, most, str(origin.file), name)


def check_views(lazy: pl.LazyFrame, declared: int, most: int | None, origin: Location) -> None:
    """Refuse an Arrow file whose texts, counted once for each row, exceed the limit."""
    import polars as pl

    n_rows, size = int(lazy.select(pl.len()).collect()["len"][0]), declared
    if most is None or declared * (1 + n_rows) <= most:
        return
    for name, dtype in lazy.collect_schema().items():
        if dtype in (pl.String, pl.Binary):
            lengths = _lengths(pl.col(name), text=dtype == pl.String).sum()
            size += int(lazy.select(lengths.alias("size")).collect()["size"][0])
        elif dtype in (pl.Categorical, pl.Enum):
            names = lazy.select(pl.col(name).unique().cast(pl.String)).collect()[name].drop_nulls()
            longest = max(names.str.len_bytes().cast(pl.Int64).to_list(), default=0)
            size += n_rows * longest if n_rows * longest <= most - size else _measure(lazy, name, longest, most - size)
        check_unpacked(size, most, str(origin.file), name)


def _longest(count: int, packed: Any, codec: int, unpacked: int) -> int:
    """Return the size of the longest text of a dictionary, which is read as the page of a separate file."""
    import polars as pl

    found = pl.read_parquet(io.BytesIO(as_data_page(count, packed, codec, unpacked)))
    return max(_lengths(found["texts"], text=False).to_list(), default=0)


def _lengths(column: Any, *, text: bool) -> Any:
    """Return the size in bytes of each text or binary value, also for the first versions of polars."""
    import polars as pl

    if text:
        found = column.str.len_bytes()
    else:
        found = column.bin.size() if hasattr(column.bin, "size") else column.bin.encode("hex").str.len_bytes() // 2
    return found.cast(pl.Int64)


def _measure(lazy: pl.LazyFrame | None, name: str, longest: int, most: int) -> int:
    """Sum the bytes of the texts of a column, in slices that take at most ``most``; or return ``most`` + 1.

    The first versions of polars unpack all rows to look at a few, so that there the longest text counts for every row.
    """
    import polars as pl

    if lazy is None or not hasattr(pl.Series([b""]).bin, "size"):
        return most + 1
    step, schema = max(most // max(longest, 1), 1), lazy.collect_schema()
    n_rows = int(lazy.select(pl.len()).collect()["len"][0])
    if n_rows > _LOOKS * step or name not in schema or schema[name].is_nested():
        return most + 1
    size, is_text = 0, schema[name] != pl.Binary
    lengths = _lengths(pl.col(name).cast(pl.String) if is_text else pl.col(name), text=is_text)
    for start in range(0, n_rows, step):
        part = lazy.slice(start, step).select(lengths.sum().alias("size")).collect()
        size += int(part["size"][0])
        if size > most:
            break
    return size


def _width(dtype: Any) -> int:
    """Return the bytes of a cell of a type, without the content of a text or a list."""
    import polars as pl

    if isinstance(dtype, pl.Struct):
        return sum(_width(inner.dtype) for inner in dtype.fields)
    if isinstance(dtype, pl.Array):
        return _width(dtype.inner) * max(dtype.size, 1)
    by_name = {"Boolean": 1, "Null": 1, "Date": 4, "Categorical": 4, "Enum": 4}
    text = str(dtype.base_type())
    digits = text.lstrip("UIntFloa")
    if text.startswith(("Int", "UInt", "Float")) and digits.isdecimal():
        return int(digits) // 8
    return by_name.get(text, _TEXT if text in {"String", "Binary", "Decimal"} else 8)


# Parquet and Arrow: typed columns, read in blocks of rows.

TITLES = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow", "jsonl": "JSON lines"}
# rows read at once: few, for what a part is decoded from stays in memory, but not so few that parts are many
_PART, _MOST_PARTS = 1 << 17, 64


class TypedFile:
    """A file whose columns have types."""

    def __init__(self, content: Content, kind: str) -> None:
        import polars as pl

        self.kind, self.origin = kind, Location(content.name)
        most, columns, declared = most_unpacked(content.size), dict[str, Column](), 0
        if kind == "parquet":
            columns = check_pages(content.mapped(), self.origin)
            check_unpacked(sum(column.size for column in columns.values()), most, content.name)
            if content.path is None:  # polars reads it whole below
                with refused(self.origin, f"cannot be read as {TITLES[kind]}"):
                    check_texts(_scanned(content), columns, most, self.origin)
        else:
            declared = declared_size(content.mapped(), self.origin)
            check_unpacked(declared, most, content.name)
        with refused(self.origin, f"cannot be read as {TITLES[kind]}"):
            if kind == "arrow" and not content.head().startswith(b"ARROW1"):
                # the streaming form can only be read as a whole
                self._lazy = pl.read_ipc_stream(content.native).lazy()
            elif content.path is None:
                self._lazy = (pl.read_parquet if kind == "parquet" else pl.read_ipc)(content.native).lazy()
            else:
                self._lazy = (pl.scan_parquet if kind == "parquet" else pl.scan_ipc)(content.path)
            self._schema = dict(self._lazy.collect_schema())
            self.n_rows = int(self._lazy.select(pl.len()).collect().item())
        if self.n_rows == 0:
            raise self.origin.error("there are no rows")
        check_unpacked(self.n_rows * sum(map(_width, self._schema.values())), most, content.name)
        with refused(self.origin, f"cannot be read as {TITLES[kind]}"):
            if kind == "parquet":
                check_texts(self._lazy, columns, most, self.origin)
            else:
                check_views(self._lazy, declared, most, self.origin)
        self.names = list(self._schema)
        self.numeric = [name for name, dtype in self._schema.items() if dtype.is_numeric()]

    def pieces(
        self, columns: Collection[str], numbers: Collection[str] = (), label: str | None = None
    ) -> Iterator[Piece]:
        """Yield the rows in pieces."""
        del numbers, label  # the types say what is a number
        refuse_patterns(columns, "polars", self.origin.file)
        chosen = self._lazy.select(list(dict.fromkeys(columns)))
        for part in blocks(self.n_rows, max(_PART, self.n_rows // _MOST_PARTS)):
            length = part.stop - part.start
            with refused(self.origin, f"cannot be read as {TITLES[self.kind]}"):
                frame = chosen.slice(part.start, length).collect()
            if columns and len(frame) != length:
                raise self.origin.error(f"cannot be read as {TITLES[self.kind]}: rows are missing")
            yield Piece(length, frame)

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series:  # noqa: ARG002
        """Join the pieces of a label or group column."""
        import polars as pl

        check_flat(name, self._schema[name], self.origin)
        return pl.concat(parts)

    def head(self, names: Sequence[str]) -> str:
        """Return nothing, as the format has no text."""
        raise NotImplementedError(names)

    def schema(self, numbers: Collection[str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the type of each column."""
        return dict(self._schema)

    def frames(self, schema: Mapping[str, Any]) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Yield the rows with every column."""
        for piece in self.pieces(schema):
            yield piece, piece.cells


def _scanned(content: Content) -> pl.LazyFrame | None:
    """Scan bytes lazily if polars is new enough; else read them."""
    import polars as pl

    try:
        return pl.scan_parquet(content.native)
    except TypeError:
        return None


@contextmanager
def refused(origin: Location, what: str) -> Iterator[None]:
    """Convert the errors of polars on a broken file, including its panics, to a ``DataError``."""
    import polars as pl

    try:
        yield
    except pl.exceptions.DuplicateError:
        raise origin.error("column names must be distinct, one occurs more than once") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise origin.error(f"{what}: {reason}") from None


# Parquet files of one table with different schemas: their common columns, and a common type of each.
#
# The first file determines the columns, as in DuckDB; further columns of later files are ignored. Numbers are widened
# as in DuckDB's union by name; a needed column without a common type is refused.


_NULL = "__HIVE_DEFAULT_PARTITION__"
_KINDS: tuple[Callable[[str], Any], ...] = (np.int64, float, date.fromisoformat)


def scan_alike(
    files: list[str],
    scan: Callable[[list[str], Collection[str]], Any],
    columns: Iterable[str],
    models: Iterable[str] | None,
) -> Any:
    """Scan the files of one table; each must have these columns and models (by default all numeric columns).

    ``scan`` takes files of one schema, and which columns from folder names to read as text.
    """
    schemas = {file: _schema(file) for file in files} if len(files) > 1 else {}
    first, texts = next(iter(schemas.values()), {}), _kept_as_text(files)
    folders = {file: frozenset(name for name, _ in _named_by_folders(file)) for file in schemas}
    if len({(_told_apart(schema), folders[file]) for file, schema in schemas.items()}) <= 1:
        return scan(files, texts)
    if models is None:
        models = [name for name, dtype in first.items() if dtype.is_numeric() and not holds_row_numbers(name)]
    needed = dict.fromkeys([*columns, *models])
    types = _types(schemas, needed)
    groups: dict[tuple[Any, ...], list[str]] = {}
    for file, schema in schemas.items():
        groups.setdefault((folders[file], _told_apart(schema)), []).append(file)
    for group in groups.values():
        _refuse_rounded(group, schemas[group[0]], [name for name in columns if types.get(name) == nw.Float64])
    frames = [nw.from_native(scan(group, texts)).lazy() for group in groups.values()]
    known, read = {name for schema in schemas.values() for name in schema}, [f.collect_schema() for f in frames]
    engine = frames[0].implementation.name.lower()
    refuse_patterns(needed, engine)
    for name in [name for name in types if is_pattern(name, engine) or any(name not in schema for schema in read)]:
        if name in needed:  # DuckDB, to which a and A are one name
            raise DataError(OF_ANOTHER_COLUMN.format(engine), column=name)
        del types[name]
    keys = [{name: dtype for name, dtype in schema.items() if name not in known} for schema in read]
    _refuse_missing(needed, {group[0]: found for group, found in zip(groups.values(), keys, strict=True)})
    shared = [name for name in keys[0] if all(name in found for found in keys)]
    types |= {name: _common([found[name] for found in keys]) or nw.String() for name in shared}
    alike = [frame.select(nw.col(name).cast(dtype) for name, dtype in types.items()) for frame in frames]
    return nw.concat(alike, how="vertical").to_native()


def _told_apart(schema: Schema) -> tuple[Any, ...]:
    """Columns in the order of their names, or in their own where a and A are two of them: DuckDB takes the first."""
    alike = len(set(map(in_lower_case, schema))) < len(schema)
    return tuple(schema.items() if alike else sorted(schema.items(), key=lambda item: item[0]))


def _named_by_folders(file: str) -> list[tuple[str, str]]:
    """Columns that the folders of a file name, with their values."""
    parts = (part.partition("=") for part in Path(file).parent.parts)
    return [(name, value) for name, equals, value in parts if equals]


def _kept_as_text(files: list[str]) -> list[str]:
    """Columns from folder names whose values a type would change, and could make alike, such as 07 and 7."""
    found: dict[str, set[str]] = {}
    for name, value in chain.from_iterable(map(_named_by_folders, files)):
        if value != _NULL:
            found.setdefault(name, set()).add(unquote(value))
    return [name for name, texts in found.items() if not any(_unchanged(texts, kind) for kind in _KINDS)]


def _unchanged(texts: set[str], kind: Callable[[str], Any]) -> bool:
    """Whether every text is how its value is written."""
    try:
        return all(str(kind(text)) == text for text in texts)
    except (ValueError, OverflowError):
        return False


def _schema(file: str) -> Schema:
    pl = import_optional("polars", "reading several files needs polars: pip install 'stakes[cli]'")
    with refused(Location(file), "cannot be read as Parquet"), Path(file).open("rb") as stream:
        return dict(nw.from_native(pl.DataFrame(schema=pl.read_parquet_schema(stream))).schema)


def _types(schemas: dict[str, Schema], needed: Iterable[str]) -> Schema:
    """Return the common columns of all files with their types; refuse if a needed one is missing."""
    found: Schema = {}
    for name in next(iter(schemas.values())):
        dtype = _common([schema.get(name) for schema in schemas.values()])
        if dtype is not None:
            found[name] = dtype
    _refuse_missing(needed, schemas)
    for name in needed:
        having = {file: schema[name] for file, schema in schemas.items() if name in schema}
        if name in found or not having:  # a column that no file has is refused when it is selected
            continue
        files, types = list(having), list(having.values())
        at = next(i for i in range(1, len(files) + 1) if _common(types[: i + 1]) is None)
        here, there = _kind(types[at]), _kind(types[0])
        if here == there:
            here, there = str(types[at]), str(types[0])
        rule = f"must hold one kind of values in all files, got {here}, and {there} in {files[0]!r}"
        raise DataError(rule, file=files[at], column=name)
    return found


def _refuse_missing(needed: Iterable[str], schemas: Mapping[str, Schema]) -> None:
    """Refuse a needed column that some files have and others lack."""
    for name in needed:
        having = [file for file, schema in schemas.items() if name in schema]
        if 0 < len(having) < len(schemas):
            without = next(file for file in schemas if file not in having)
            rule = f"there is no such column in this file, but in {having[0]!r}"
            raise DataError(rule, file=without, column=name)


def _common(types: list[Any]) -> Any:
    """Return a type that holds the values of all these types, or None if a column is missing or there is none."""
    if None in types:
        return None
    kinds = dict.fromkeys(dtype for dtype in types if dtype != nw.Unknown)  # a column of nulls alone has no type
    if len(kinds) <= 1:
        return next(iter(kinds), types[0])
    if {_kind(dtype) for dtype in kinds} == {"text"}:
        return nw.String()
    if not {_kind(dtype) for dtype in kinds} <= {"numbers", "true and false"}:
        return None
    if not all(dtype.is_integer() or dtype == nw.Boolean for dtype in kinds):
        return nw.Float64()
    # no integer type holds both signed and unsigned 64-bit integers
    signed = nw.Int64() if nw.UInt64 not in kinds else None
    return signed if any(not dtype.is_unsigned_integer() for dtype in kinds) else nw.UInt64()


_LARGEST_EXACT = 1 << 53


def _refuse_rounded(files: list[str], schema: Schema, floats: Iterable[str]) -> None:
    """Refuse integers that the floats of other files would make alike, such as long identifiers of clusters."""
    pl = import_optional("polars", "reading several files needs polars: pip install 'stakes[cli]'")
    for name in floats:
        dtype = schema.get(name)
        if dtype not in (nw.Int64, nw.UInt64, nw.Int128):
            continue
        value, signed = pl.col(name), dtype != nw.UInt64
        large = (value > _LARGEST_EXACT) | (value < -_LARGEST_EXACT) if signed else value > _LARGEST_EXACT
        each = ((file, pl.scan_parquet(file, glob=False, hive_partitioning=False)) for file in files)
        rows = pl.concat([rows.filter(large).select(pl.lit(file).alias("\0file"), name).head(1) for file, rows in each])
        with refused(Location(files[0]), "cannot be read as Parquet"):
            found = rows.head(1).collect().rows()
        for file, number in found:
            rule = f"must lie within 2^53, beyond which the floats of other files are not exact, got {number}"
            raise DataError(rule, file=file, column=name, hint="Write integers in all files.")


def _kind(dtype: Any) -> str:
    """Name the kind of values in a column."""
    if dtype == nw.Boolean:
        return "true and false"
    if dtype.is_numeric():
        return "numbers"
    return "text" if dtype in (nw.String, nw.Categorical, nw.Enum) else str(dtype)


# Parquet files scanned on disk: several by a pattern, a large one, or by a chosen engine.

_WILDCARDS = frozenset("*?[")
_LARGE = 1 << 30  # bytes; larger files are not read into memory


def scan_parquet(
    path: str,
    *,
    large: int = _LARGE,
    engine: str = "auto",
    columns: Iterable[str] = (),
    models: Iterable[str] | None = None,
) -> Any:
    """Scan the Parquet files that a pattern names, or a large one; None for a file that is to be read.

    Parameters
    ----------
    path : str
        A file, or a pattern such as ``day=*/*.parquet``: folders named ``column=value`` make columns.
    large : int, default 1 GiB
        From how many bytes on a single file is scanned.
    engine : {"auto", "memory", "polars", "duckdb", "spark"}, default "auto"
        What scans the files, large or not; "auto" is polars where one is to be scanned, and "memory" scans none but
        those of a pattern, by polars, to be collected.
    columns : iterable of str, optional
        Columns that every file of a pattern must have, in types that one type holds. The first file says which columns
        there are; what later ones have besides is left out, and so is what some lack or hold in another kind of type.
    models : iterable of str, optional
        Further columns that every file must have; by default every numeric one of the first file.

    Returns
    -------
    lazy frame or None
        Of the engine.

    Raises
    ------
    DataError
        If no file, or one that is not Parquet, has a name like the pattern, or a file lacks a column that it must have.
    ImportError
        If the engine is not installed.

    Examples
    --------
    >>> from stakes.tables import scan_parquet
    >>> scan_parquet("predictions.csv") is None
    True
    """
    file = Path(path)
    is_pattern = bool(_WILDCARDS & set(path)) and not file.exists()
    if not is_pattern and engine in {"auto", "memory"}:
        is_large = path.lower().endswith(ENDINGS["parquet"]) and file.is_file() and file.stat().st_size >= large
        if engine == "memory" or not is_large:
            return None
    files = _files(path, is_pattern=is_pattern)
    scan, own = _SCANS.get(engine, _polars)()
    failures: tuple[type[Exception], ...] = (*own, nw.exceptions.NarwhalsError, OSError)
    try:
        frame = scan_alike(files, lambda group, texts: scan(group, is_pattern, texts), columns, models)
        nw.from_native(frame).lazy().collect_schema()
    except failures as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"cannot be read as Parquet: {reason}", file=path) from None
    return in_memory(frame) if engine == "memory" else frame


def in_memory(frame: Any) -> Any:
    """Collect the rows of a lazy frame.

    Parameters
    ----------
    frame : lazy frame
        Of any engine.

    Returns
    -------
    frame
        In memory.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import in_memory
    >>> in_memory(pl.LazyFrame({"y": [0, 1]})).shape
    (2, 1)
    """
    return collected(nw.from_native(frame).lazy()).to_native()


def _files(path: str, *, is_pattern: bool) -> list[str]:
    files = sorted(glob.glob(path, recursive=True)) if is_pattern else [path]  # noqa: PTH207  (of any root)
    if not files:
        refuse_address(path)
        raise DataError("no file has a name like this", file=path)
    pipe = next((name for name in files if is_pipe(name)), None)
    if pipe is not None:
        remedy = "is a pipe, which can be read once and from its start only: name it alone, without --engine"
        raise DataError(remedy, file=pipe)
    other = next((name for name in files if not name.lower().endswith(ENDINGS["parquet"])), None)
    if other is not None and Path(other).is_dir():
        files_in_it = os.path.join(path, "*.parquet")  # noqa: PTH118  (as the name is written)
        raise DataError("is a folder, not a file", file=other, hint=f"Name the files in it: {files_in_it!r}.")
    if other is not None:
        by = "as a pattern names them" if is_pattern else "as --engine looks at them"
        raise DataError(f"must be a Parquet file, {by}", file=other)
    return files


def _polars() -> _Scanner:
    import polars as pl

    def scan(files: list[str], partitioned: bool, texts: Collection[str]) -> Any:  # noqa: FBT001  (one for all)
        found = pl.scan_parquet(files, hive_partitioning=partitioned, glob=False)
        if not (partitioned and texts):
            return found
        # polars wants every column that a folder names, which the files may hold too, and ignores further ones
        types = {name: pl.String if name in texts else kind for name, kind in found.collect_schema().items()}
        return pl.scan_parquet(files, hive_partitioning=True, hive_schema=types, glob=False)

    return scan, (pl.exceptions.PolarsError,)


def _duckdb() -> _Scanner:
    duckdb = import_optional("duckdb", "--engine duckdb needs DuckDB: pip install 'stakes[engines]'")

    # which infers a type only where that changes no name
    def scan(files: list[str], partitioned: bool, texts: Collection[str]) -> Any:  # noqa: ARG001, FBT001
        return duckdb.read_parquet([glob.escape(name) for name in files], hive_partitioning=partitioned)

    return scan, (duckdb.Error,)


def _spark() -> _Scanner:
    remedy = "--engine spark needs Spark: pip install 'stakes[spark]'"
    errors, sql = import_optional("pyspark.errors", remedy), import_optional("pyspark.sql", remedy)

    def scan(files: list[str], partitioned: bool, texts: Collection[str]) -> Any:  # noqa: FBT001
        reader = sql.SparkSession.builder.appName("stakes").getOrCreate().read
        files = [str(Path(name).absolute()) for name in files]  # a session may have begun in another folder
        if partitioned:
            reader = reader.option("basePath", _common_folder(files))
        found = reader.parquet(*files)
        if not (partitioned and texts):
            return found
        text, kinds = sql.types.StringType(), {field.name: field.dataType for field in found.schema}
        fields = [sql.types.StructField(name, text if name in texts else kind) for name, kind in kinds.items()]
        return reader.schema(sql.types.StructType(fields)).parquet(*files)

    return scan, (errors.PySparkException,)


def _common_folder(files: list[str]) -> str:
    """Return the folder below which folder names may be hive partitions (column=value)."""
    parts = [Path(name).parent.parts for name in files]
    alike = [part for part, *others in zip(*parts, strict=False) if set(others) <= {part} and "=" not in part]
    return str(Path(*alike))


_SCANS: dict[str, Callable[[], _Scanner]] = {"duckdb": _duckdb, "spark": _spark}


# Numeric columns in a Parquet file, with a text in its metadata that describes them.

_KEY = b"stakes"
_NEEDED = "Parquet files need pyarrow: pip install 'stakes[engines]'"


def write_columns(path: Path | BinaryIO, columns: Mapping[str, NDArray[np.float64]], text: str) -> None:
    """Write columns of one length, and a text among the file's metadata.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from stakes.tables import read_columns, write_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "a.parquet"
    ...     write_columns(file, {"x": np.array([0.5])}, "half")
    ...     read_columns(file, "column")
    ({'x': array([0.5])}, 'half')
    """
    pa, parquet = (import_optional(name, _NEEDED) for name in ("pyarrow", "pyarrow.parquet"))
    parquet.write_table(pa.table(dict(columns)).replace_schema_metadata({_KEY: text.encode()}), path)


def read_columns(path: Path, what: str) -> tuple[dict[str, NDArray[np.float64]], str]:
    """Read the columns that :func:`write_columns` wrote, and their text.

    Examples
    --------
    >>> import pathlib
    >>> from stakes.tables import read_columns
    >>> read_columns(pathlib.Path("none.parquet"), "score table")
    Traceback (most recent call last):
    stakes.outputs.files.DataError: none.parquet: there is no such file
    """
    pa, parquet = (import_optional(name, _NEEDED) for name in ("pyarrow", "pyarrow.parquet"))
    try:
        # its numbers must not exceed the limit; texts, which kept columns never are, count in full
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            size = sum(column.size + column.most for column in check_pages(data, Location(str(path))).values())
            check_unpacked(size, most_unpacked(len(data)), str(path))
        # one file, without columns from folder names
        found = parquet.ParquetFile(path).read()
    except FileNotFoundError:
        raise DataError("there is no such file", file=str(path)) from None
    except ValueError as error:
        if isinstance(error, DataError) and "cannot be read as Parquet" not in error.rule:
            raise
        raise DataError(f"must be a {what} in Parquet: {error}", file=str(path)) from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"must be a {what} in Parquet: {reason}", file=str(path)) from None
    text = (found.schema.metadata or {}).get(_KEY)
    if text is None:
        raise DataError(f"must be a {what} in Parquet, this file was not written as one", file=str(path))
    columns = {name: found[name].to_numpy() for name in found.column_names}
    return columns, text.decode(errors="replace")
