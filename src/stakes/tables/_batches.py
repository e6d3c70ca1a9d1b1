"""What the batches of an Arrow file claim to unpack to, seen to before polars, which reserves memory for it.

Only the heads of the messages are read, as FlatBuffers lay them out, and the eight bytes before each packed buffer that
say how long it is unpacked (https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc).
"""

from __future__ import annotations

from struct import Struct, error
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stakes.tables._errors import Origin

    Bytes = Any  # bytes, or a map of a file

_MAGIC, _CONTINUED = b"ARROW1", b"\xff\xff\xff\xff"
_SHORT, _UNSIGNED, _WHOLE, _LONG, _BUFFER = (Struct(form) for form in ("<H", "<I", "<i", "<q", "<qq"))
# places of fields in the tables of Arrow's messages
_KIND, _HEAD, _BODY_LENGTH = 1, 2, 3
_BUFFERS, _PACKING, _DATA = 2, 3, 1
_DICTIONARY, _BATCH = 2, 3


def declared_size(data: Bytes, origin: Origin) -> int:
    """Say how many bytes the buffers of an Arrow file, or of its streaming form, unpack to."""
    try:
        return sum(_unpacked(data, *message) for message in _messages(data))
    except (error, IndexError, ValueError):
        raise origin.error("cannot be read as Arrow: the head of a batch is damaged") from None


def _messages(data: Bytes) -> Iterator[tuple[int, int]]:
    """Yield where the head of each message lies, and where its body begins."""
    at = 8 if data[: len(_MAGIC)] == _MAGIC else 0
    while data[at : at + 4] == _CONTINUED:
        size = _read(_WHOLE, data, at + 4)
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


def _unpacked(data: Bytes, head: int, body: int) -> int:
    """Bytes of the buffers of a message once they are unpacked."""
    kind, batch = _field(data, head, _KIND), _below(data, head, _HEAD)
    if kind is None or batch is None or data[kind] not in {_DICTIONARY, _BATCH}:
        return 0
    if data[kind] == _DICTIONARY:
        batch = _below(data, batch, _DATA)
    buffers = None if batch is None else _below(data, batch, _BUFFERS)
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
    """Where a field of a table lies, None where it is left out."""
    layout = table - _read(_WHOLE, data, table)
    place = 4 + 2 * number
    if layout < 0 or place >= _read(_SHORT, data, layout):
        return None
    offset = _read(_SHORT, data, layout + place)
    return table + offset if offset else None


def _below(data: Bytes, table: int, number: int) -> int | None:
    """Where the table or list that a field points to lies."""
    place = _field(data, table, number)
    return None if place is None else place + _read(_UNSIGNED, data, place)
