"""What the pages of a Parquet file claim to hold and to unpack to, seen to before polars, which reserves memory for it.

A damaged count ends in an allocation that fails, which no exception follows: the process is gone. Only as much is read
here as tells where pages begin: the footer and the head of each page, in the compact protocol of Thrift
(https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stakes.tables._errors import Origin

    Bytes = Any  # bytes, or a map of a file

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
        """The bytes that all repeated values have at most: each may be nearly the whole dictionary."""
        named = sum(unpacked * values for *_, unpacked, values in self.repeated)
        return named + sum(unpacked * values for unpacked, values in self.begun.items())


def check_pages(data: Bytes, origin: Origin) -> dict[str, Column]:
    """Say what each column of a Parquet file unpacks to, by the sizes that it declares.

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
    """Go from page to page as long as values are due, and add up what they unpack to."""
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
    """A whole number of 64 bits."""


def as_data_page(count: int, packed: Bytes, codec: int, unpacked: int) -> bytes:
    """Return a Parquet file whose one column, ``texts``, holds the texts of a dictionary, each once."""
    kind = {1: _BYTE_ARRAY, 3: 0, 4: b"texts"}  # required
    page = _written({1: 0, 2: unpacked, 3: len(packed), 5: {1: count, 2: 0, 3: 3, 4: 3}})
    rows, size, start = _Long(count), _Long(len(page) + len(packed)), _Long(4)
    meta = {1: _BYTE_ARRAY, 2: [0], 3: [b"texts"], 4: codec, 5: rows, 6: _Long(len(page) + unpacked), 7: size, 9: start}
    group = {1: [{2: start, 3: meta}], 2: size, 3: rows}
    footer = _written({1: 1, 2: [{4: b"schema", 5: 1}, kind], 3: rows, 4: [group]})
    return b"PAR1" + page + bytes(packed) + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def _written(fields: dict[int, Any]) -> bytes:
    """Write a structure."""
    found, last = bytearray(), 0
    for number, value in fields.items():
        found.append((number - last) << 4 | _kind_of(value))
        found += _body(value)
        last = number
    return bytes(found) + b"\0"


def _kind_of(value: Any) -> int:
    return {int: _WHOLE[1], _Long: _WHOLE[2], bytes: _BINARY, list: _LIST, dict: _STRUCT}[type(value)]


def _body(value: Any) -> bytes:
    if isinstance(value, int):
        return _varied(value << 1)
    if isinstance(value, bytes):
        return _varied(len(value)) + value
    if isinstance(value, list):
        return bytes([len(value) << 4 | _kind_of(value[0])]) + b"".join(map(_body, value))
    return _written(value)


def _varied(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _struct(data: Bytes, at: int) -> tuple[dict[int, Any], int]:
    """Read a structure as its fields by number, and say where it ends."""
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
