"""What the cells of a Parquet or Arrow file take once they are read, seen to before they are.

A few bytes can say that a text of ten megabytes stands in thousands of rows, or one number in billions. Numbers take
their width times the rows; a text that stands in a dictionary is counted as often as rows name it.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from stakes.tables._content import check_unpacked
from stakes.tables._pages import as_data_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from stakes.tables._errors import Origin
    from stakes.tables._pages import Column

_TEXT = 16  # bytes of the place of a text, beside its own
_LOOKS = 4096  # at the rows of a column, at most


def check_widths(schema: Mapping[str, Any], n_rows: int, most: int | None, origin: Origin) -> None:
    """Refuse a file whose cells, each of the width of its type, take more than they may."""
    check_unpacked(n_rows * sum(map(_width, schema.values())), most, str(origin.file))


def check_declared(size: int, most: int | None, origin: Origin) -> None:
    """Refuse a file that declares that it unpacks to more than it may."""
    check_unpacked(size, most, str(origin.file))


def check_texts(lazy: pl.LazyFrame | None, columns: Mapping[str, Column], most: int | None, origin: Origin) -> None:
    """Refuse a Parquet file whose texts, each as often as rows name it, take more than they may.

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
            bound = _measured(lazy, name, max([*longest, *column.begun]), most - size)
        size += bound
        check_unpacked(size, most, str(origin.file), name)


def check_views(lazy: pl.LazyFrame, declared: int, most: int | None, origin: Origin) -> None:
    """Refuse an Arrow file whose texts, each as often as rows point to it, take more than they may."""
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
            size += n_rows * longest if n_rows * longest <= most - size else _measured(lazy, name, longest, most - size)
        check_unpacked(size, most, str(origin.file), name)


def _longest(count: int, packed: Any, codec: int, unpacked: int) -> int:
    """Bytes of the longest text of a dictionary, which is read as the page of a file of its own."""
    import polars as pl

    found = pl.read_parquet(io.BytesIO(as_data_page(count, packed, codec, unpacked)))
    return max(_lengths(found["texts"], text=False).to_list(), default=0)


def _lengths(column: Any, *, text: bool) -> Any:
    """Bytes of each value of a column of texts or of bytes, which the first versions of polars count as digits."""
    import polars as pl

    if text:
        found = column.str.len_bytes()
    else:
        found = column.bin.size() if hasattr(column.bin, "size") else column.bin.encode("hex").str.len_bytes() // 2
    return found.cast(pl.Int64)


def _measured(lazy: pl.LazyFrame | None, name: str, longest: int, most: int) -> int:
    """Bytes of the texts of a column, looked at as few rows at a time as take at most ``most``; or one byte more.

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
    """Bytes of a cell of a type, without what a text or a list holds."""
    import polars as pl

    if isinstance(dtype, pl.Struct):
        return sum(_width(inner.dtype) for inner in dtype.fields)
    if isinstance(dtype, pl.Array):
        return _width(dtype.inner) * max(dtype.size, 1)
    by_name = {"Int": 8, "UInt": 8, "Float": 8, "Boolean": 1, "Null": 1, "Date": 4, "Categorical": 4, "Enum": 4}
    text = str(dtype.base_type())
    digits = text.lstrip("UIntFloa")
    if text.startswith(("Int", "UInt", "Float")) and digits.isdecimal():
        return int(digits) // 8
    return by_name.get(text, _TEXT if text in {"String", "Binary", "Decimal"} else 8)
