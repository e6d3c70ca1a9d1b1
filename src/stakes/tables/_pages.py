"""How many values the pages of a Parquet file claim to hold, seen to before polars, which reserves memory for them.

A damaged count ends in an allocation that fails, which no exception follows: the process is gone. Only as much is read
here as tells where pages begin: the footer and the head of each page, in the compact protocol of Thrift
(https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stakes.tables._errors import Origin

    Bytes = Any  # bytes, or a map of a file

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_WHOLE = (4, 5, 6)
# fields of the structures of Parquet, by their numbers
_ROW_GROUPS, _COLUMNS, _META = 4, 1, 3
_PATH, _N_VALUES, _DATA_PAGE, _DICTIONARY_PAGE = 3, 5, 9, 11
_PACKED_SIZE, _DATA, _DICTIONARY, _DATA_V2 = 3, 5, 7, 8
_MOST_ITEMS = 1 << 20  # row groups, or columns


def check_pages(data: Bytes, origin: Origin) -> None:
    """Refuse a Parquet file with a page that claims to hold more values than are due, or fewer than none."""
    name = None
    try:
        footer, _ = _struct(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
        for group in footer[_ROW_GROUPS]:
            for chunk in group[_COLUMNS]:
                name = str(chunk[_META][_PATH][0], "utf-8")
                _walk(data, chunk[_META])
    except (LookupError, TypeError, ValueError, RecursionError):
        what = "its end, which says where the pages are," if name is None else "the head of a page"
        raise origin.error(f"cannot be read as Parquet: {what} is damaged", column=name) from None


def _walk(data: Bytes, chunk: dict[int, Any]) -> None:
    """Go from page to page as long as values are due."""
    due, at = chunk[_N_VALUES], chunk[_DATA_PAGE]
    if 0 < chunk.get(_DICTIONARY_PAGE, 0) < at:
        at = chunk[_DICTIONARY_PAGE]
    while due > 0:
        page, at = _struct(data, at)
        held = next((page[kind][1] for kind in (_DATA, _DATA_V2) if kind in page), 0)
        if not 0 <= held <= due or page.get(_DICTIONARY, {1: 0})[1] < 0 or page[_PACKED_SIZE] < 0:
            raise ValueError(page)
        due, at = due - held, at + page[_PACKED_SIZE]


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
