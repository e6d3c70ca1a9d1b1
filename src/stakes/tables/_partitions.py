"""Parquet files of one table that differ: which columns all of them have, and the type that holds each.

The first file says which columns there are, as in DuckDB, and what later ones have besides is left out. Numbers are
widened as in DuckDB's union by name; what has no type in common is refused where it is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from stakes.tables._errors import DataError, Origin
from stakes.tables._typed import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Schema = dict[str, Any]

_TEXTS = (nw.String, nw.Categorical, nw.Enum)


def scan_alike(
    files: list[str], scan: Callable[[list[str]], Any], columns: Iterable[str], models: Iterable[str] | None
) -> Any:
    """Scan files of one table, of which every one must have these columns and models, by default all numeric ones."""
    schemas = {file: _schema(file) for file in files} if len(files) > 1 else {}
    first = next(iter(schemas.values()), {})
    if all(schema == first for schema in schemas.values()):
        return scan(files)
    if models is None:
        models = [name for name, dtype in first.items() if dtype.is_numeric()]
    needed = dict.fromkeys([*columns, *models])
    types = _types(schemas, needed)
    groups: dict[tuple[tuple[str, Any], ...], list[str]] = {}
    for file, schema in schemas.items():
        groups.setdefault(tuple(sorted(schema.items(), key=lambda item: item[0])), []).append(file)
    frames = [nw.from_native(scan(group)).lazy() for group in groups.values()]
    known = {name for schema in schemas.values() for name in schema}
    keys = [{name: dtype for name, dtype in f.collect_schema().items() if name not in known} for f in frames]
    for name in keys[0]:  # the columns that folders make, of which each group of files has guessed the type
        of_all = {found[name] for found in keys if name in found}
        types[name] = of_all.pop() if len(of_all) == 1 else nw.String()
    alike = [frame.select(nw.col(name).cast(dtype) for name, dtype in types.items()) for frame in frames]
    return nw.concat(alike, how="vertical").to_native()


def _schema(file: str) -> Schema:
    try:
        import polars as pl
    except ModuleNotFoundError as error:
        raise ImportError("reading several files needs polars: pip install 'stakes[cli]'") from error
    with refused(Origin(file), "cannot be read as Parquet"), Path(file).open("rb") as stream:
        return dict(nw.from_native(pl.DataFrame(schema=pl.read_parquet_schema(stream))).schema)


def _types(schemas: dict[str, Schema], needed: Iterable[str]) -> Schema:
    """Return the columns that all files have with a type for each; refuse what is needed and is not among them."""
    found: Schema = {}
    for name in next(iter(schemas.values())):
        dtype = _common([schema.get(name) for schema in schemas.values()])
        if dtype is not None:
            found[name] = dtype
    for name in needed:
        having = {file: schema[name] for file, schema in schemas.items() if name in schema}
        if name in found or not having:  # one that no file has is refused where it is looked for
            continue
        without = next((file for file in schemas if file not in having), None)
        if without is not None:
            rule = f"there is no such column in this file, but in {next(iter(having))!r}"
            raise DataError(rule, file=without, column=name)
        files, types = list(having), list(having.values())
        at = next(i for i in range(1, len(files) + 1) if _common(types[: i + 1]) is None)
        here, there = _kind(types[at]), _kind(types[0])
        if here == there:
            here, there = str(types[at]), str(types[0])
        rule = f"must hold one kind of values in all files, got {here}, and {there} in {files[0]!r}"
        raise DataError(rule, file=files[at], column=name)
    return found


def _common(types: list[Any]) -> Any:
    """Return a type that holds the values of all of these, or None where a column is missing or there is none."""
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
    # no whole number has room for those of 64 bits with and without a sign
    signed = nw.Int64() if nw.UInt64 not in kinds else None
    return signed if any(not dtype.is_unsigned_integer() for dtype in kinds) else nw.UInt64()


def _kind(dtype: Any) -> str:
    """Name what a column holds."""
    if dtype == nw.Boolean:
        return "true and false"
    if dtype.is_numeric():
        return "numbers"
    return "text" if dtype in _TEXTS else str(dtype)
