"""One column of an in-memory frame, of whatever library and type, becomes an array."""

from __future__ import annotations

import math
from numbers import Number
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from stakes.core.sums import blocks
from stakes.core.validation import check_labels, match_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.tables._errors import DataError, Origin

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Codes = NDArray[np.signedinteger[Any]]

_AT_ONCE = 1 << 14
_MANY_LABELS = 1000
_SHOWN_LABELS = 5


def to_floats(series: nw.Series[Any], origin: Origin, *, hint: str | None = None) -> Floats:
    """Turn a numeric or boolean column into float64, missing values into NaN; text is refused, never parsed."""
    dtype = series.dtype
    if dtype == nw.Object:
        return _objects_to_floats(series, origin, hint)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        present = ~series.is_null().to_numpy()
        if not present.any():
            return np.full(len(series), np.nan)
        first = int(np.argmax(present))
        raise origin.error("must hold numbers", column=series.name, row=first, value=series[first], hint=hint)
    if not dtype.is_float() and (dtype.is_decimal() or dtype == nw.Boolean or series.null_count()):
        series = series.cast(nw.Float64)
    return np.asarray(series.to_numpy(), dtype=np.float64)


def _objects_to_floats(series: nw.Series[Any], origin: Origin, hint: str | None) -> Floats:
    values = series.to_list()
    missing = series.is_null().to_numpy()
    bad = np.array([not (gone or isinstance(v, Number)) for v, gone in zip(values, missing, strict=True)], dtype=bool)
    if bad.any():
        raise origin.broken("must hold numbers", bad, values, column=series.name, hint=hint)
    return np.array([math.nan if gone else v for v, gone in zip(values, missing, strict=True)], dtype=np.float64)


def encode(series: nw.Series[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values in ascending order and, for each row, the index of its value, -1 where missing."""
    if series.dtype == nw.Boolean:
        return [False, True], _codes(series.cast(nw.Float64).to_numpy())
    series = _sortable(series)
    present = series.drop_nulls()
    if series.dtype.is_numeric():
        values = sorted(v for v in present.unique().to_list() if v == v)  # noqa: PLR0124  (NaN differs from itself)
        array = series.cast(nw.Float64).to_numpy() if len(present) < len(series) else series.to_numpy()
        found = np.searchsorted(np.array(values, dtype=array.dtype), array).astype(np.int64)
        return values, np.where(np.isnan(array), -1, found)
    if series.dtype == nw.Object:
        return _encode_objects(series)
    values = sorted(present.unique().to_list())
    codes = np.full(len(series), np.nan)
    if values:
        numbers = present.replace_strict(values, list(range(len(values))), return_dtype=nw.Int64).to_numpy()
        codes[~series.is_null().to_numpy()] = numbers
    return values, _codes(codes)


def _sortable(series: nw.Series[Any]) -> nw.Series[Any]:
    if series.dtype.is_decimal():
        return series.cast(nw.Float64)
    return series.cast(nw.String) if series.dtype in (nw.Categorical, nw.Enum) else series


def _codes(numbers: Floats) -> NDArray[np.int64]:
    return np.nan_to_num(numbers, nan=-1.0).astype(np.int64)


def _encode_objects(series: nw.Series[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    missing = series.is_null().to_numpy()
    rows = series.to_list()
    seen = {v for v, gone in zip(rows, missing, strict=True) if not gone}
    try:
        values = sorted(seen)
    except TypeError:
        values = sorted(seen, key=repr)
    index = {value: i for i, value in enumerate(values)}
    codes = [-1 if gone else index[v] for v, gone in zip(rows, missing, strict=True)]
    return values, np.array(codes, dtype=np.int64)


def as_array(values: list[Any]) -> NDArray[Any]:
    """Make an array of distinct values of one kind: numbers and booleans as such, all else as objects."""
    plain = all(isinstance(v, bool | int | float) for v in values)
    return np.array(values, dtype=None if plain else object)


def encode_labels(series: nw.Series[Any], origin: Origin) -> tuple[list[Any], Codes]:
    """Encode a label column; a column of very many values is refused before any work is spent on it."""
    series = _sortable(series)
    if series.dtype.is_numeric() and not series.null_count():
        found = encode_two_numbers(*_parts(series))
        if found is not None:
            return found
    distinct = series.drop_nulls().unique()
    if len(distinct) > _MANY_LABELS:
        raise _too_many(distinct.head(_SHOWN_LABELS).to_list(), len(distinct), origin, series.name)
    return encode(series)


def _parts(series: nw.Series[Any]) -> list[NDArray[Any]]:
    """A column in the pieces that polars keeps it in, as joining them would copy it."""
    native = series.to_native()
    return [part.to_numpy() for part in (native.get_chunks() if hasattr(native, "get_chunks") else [series])]


def encode_two_numbers(*parts: NDArray[Any]) -> tuple[list[Any], Codes] | None:
    """Encode one or two numbers without the tables and sorts that more would need; None for others."""
    parts = tuple(part for part in parts if len(part))
    if not parts:
        return None
    low, high = np.min([part.min() for part in parts]), np.max([part.max() for part in parts])
    codes, at = np.empty(sum(map(len, parts)), dtype=np.int8), 0
    for part in parts:
        upper = part == high
        if not np.all(upper | (part == low)):
            return None
        codes[at : at + len(part)] = upper & (low != high)
        at += len(part)
    return sorted({low.item(), high.item()}), codes


def positive_labels(values: list[Any], codes: Codes, pos_label: object, origin: Origin, column: str) -> Bools:
    """Turn encoded labels without missing ones into booleans, True for the positive class."""
    counts = np.zeros(len(values), dtype=np.intp)
    for part in blocks(len(codes), max(_AT_ONCE, len(values))):
        counts += np.bincount(codes[part], minlength=len(values))
    present = np.flatnonzero(counts)
    labels = [values[i] for i in present]
    if len(labels) > 2 and not origin.ordered:  # which of them comes third is chance
        raise _too_many(labels, len(labels), origin, column)
    if len(labels) > 2:
        others = (codes != codes[0]) & (codes != codes[np.argmax(codes != codes[0])])
        third = int(np.argmax(others))
        raise _too_many(labels, len(labels), origin, column, row=third, value=values[codes[third]])
    positive = np.zeros(len(values), dtype=bool)
    positive[present] = _positive(labels, pos_label, origin, column)
    out = np.empty(len(codes), dtype=bool)
    for part in blocks(len(codes), _AT_ONCE):
        out[part] = positive[codes[part]]
    return out


def _positive(labels: list[Any], pos_label: object, origin: Origin, column: str) -> Bools:
    try:
        return check_labels(np.array(labels, dtype=object), match_label(pos_label, labels))
    except ValueError as error:
        hint = "The command line's option is --pos-label." if pos_label is None else None
        raise origin.error(str(error).removeprefix("y_true ").removesuffix("."), column=column, hint=hint) from None


def _too_many(labels: list[Any], count: int, origin: Origin, column: str, **where: Any) -> DataError:
    shown = ", ".join(map(repr, labels[:_SHOWN_LABELS])) + (", ..." if count > _SHOWN_LABELS else "")
    return origin.error(f"labels must take two values, not {count} ({shown})", column=column, **where)
