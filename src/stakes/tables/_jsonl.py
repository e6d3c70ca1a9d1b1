"""JSON lines: one object per line, read by the standard library.

Engines differ, by version too, in what they make of mixed types (text taken for numbers, 0.5 cut to 0 among whole
numbers, true taken for 1), so none of them is asked.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.tables._content import reject_other_encodings
from stakes.tables._errors import DataError, Origin
from stakes.tables._roles import Roles, choose_roles
from stakes.tables._text import is_meant_as_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

    from stakes.tables._content import Content

_SAMPLE = 1000
_BLOCK = 1 << 16
_MOST_DIGITS = 18  # fits 64 bits; more becomes a float, in the end infinity
_NUMBERS = (int, float)
_KINDS = {int: "number", float: "number", str: "text", bool: "boolean"}


def read_jsonl(content: Content, **columns: Any) -> tuple[pl.DataFrame, Roles, Origin]:
    """Read the needed columns of a JSON lines file; ``columns`` are the names that ``choose_roles`` takes."""
    import polars as pl

    origin = Origin(content.name)
    reject_other_encodings(content, origin)
    sample = list(islice(_objects(content), _SAMPLE))
    names = list(dict.fromkeys(name for record in sample for name in record))
    numeric = [name for name in names if _is_numeric([record.get(name) for record in sample])]
    roles = choose_roles(names, numeric, file=content.name, **columns)
    numbers = {*roles.models, *filter(None, [roles.weight])}
    parts: dict[str, list[Any]] = {name: [] for name in roles.used}
    records = _objects(content)
    while block := list(islice(records, _BLOCK)):
        for name, found in parts.items():
            values = [record.get(name) for record in block]
            if name in numbers:
                hint = roles.hint if name in roles.models else None
                found.append(_numbers(name, values, origin, len(found) * _BLOCK, hint))
            else:
                found.extend(sys.intern(v) if type(v) is str else v for v in values)
    series = {
        name: pl.Series(name, np.concatenate(found)) if name in numbers else _one_kind(name, found, origin)
        for name, found in parts.items()
    }
    return pl.DataFrame(series), roles, origin


def read_records(content: Content) -> tuple[list[dict[str, Any]], Origin]:
    """Read every object of a JSON lines file."""
    origin = Origin(content.name)
    reject_other_encodings(content, origin)
    return list(_objects(content)), origin


def record_numbers(records: list[dict[str, Any]], name: str, origin: Origin) -> NDArray[np.float64]:
    """Return what the records say under a name as numbers, nan where they are missing."""
    return _numbers(name, [record.get(name) for record in records], origin, 0, None)


def record_group(records: list[dict[str, Any]], name: str, origin: Origin) -> pl.Series:
    """Return what the records say under a name as text, numbers or booleans."""
    return _one_kind(name, [record.get(name) for record in records], origin)


def _objects(content: Content) -> Iterator[dict[str, Any]]:
    """Yield the object of each line that is not blank; constants such as NaN are read as missing."""
    decoder = json.JSONDecoder(parse_int=_whole, parse_constant=lambda _: None, object_pairs_hook=_distinct)
    row = 0
    for number, text in _lines(content):
        row += 1
        try:
            record = decoder.decode(text.decode())
            problem = None if isinstance(record, dict) else "this line holds something else"
        except ValueError as error:
            problem = str(error)
        if problem is not None:
            rule = f"must be one JSON object per line: {problem}"
            raise DataError(rule, file=content.name, row=row, line=number)
        yield record
    if row == 0:
        raise DataError("there are no rows", file=content.name)


def _lines(content: Content) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each line that is not blank."""
    with content.open() as stream:
        for number, line in enumerate(stream, start=1):
            text = line.strip().removeprefix(codecs.BOM_UTF8)
            if text:
                yield number, text


def record_texts(content: Content) -> Iterator[str]:
    """Yield each object as it is written in the file."""
    for _, text in _lines(content):
        yield text.decode()


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the name {twice!r} occurs more than once")
    return record


def _is_numeric(values: list[Any]) -> bool:
    present = [v for v in values if v is not None]
    meant = [type(v) in _NUMBERS or (type(v) is str and is_meant_as_number(v)) for v in present]
    return 2 * sum(meant) >= len(present)


def _numbers(name: str, values: list[Any], origin: Origin, start: int, hint: str | None) -> NDArray[np.float64]:
    for i, value in enumerate(values):
        if value is not None and type(value) not in _NUMBERS:
            raise origin.error("must be a number", column=name, row=start + i, value=value, hint=hint)
    return np.array(values, dtype=np.float64)


def _one_kind(name: str, values: list[Any], origin: Origin) -> pl.Series:
    """Make a column of text, of numbers or of booleans; 1 and "1" in one column are two kinds."""
    import polars as pl

    first: Any = None
    for row, value in enumerate(values):
        if value is None:
            continue
        kind = _KINDS.get(type(value))
        first = first or kind
        if kind is None or kind != first:
            raise origin.error("must be all text, all numbers or all true and false", column=name, row=row, value=value)
    if first == "number" and any(type(v) is float for v in values):
        return pl.Series(name, np.array(values, dtype=np.float64))
    return pl.Series(name, values)
