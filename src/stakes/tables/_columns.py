"""Columns and labels of any data frame, the roles of columns, and the calls of data engines."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from stakes.base.outcome import OutcomeFromColumns
from stakes.base.validation import Bools, Floats, as_written, blocks, check_labels, match_label
from stakes.outputs.hooks import nw, report_progress
from stakes.outputs.serialization import DataError, Location
from stakes.outputs.text import nearest, shorten, visible

if TYPE_CHECKING:
    import polars as pl


Codes = NDArray[np.signedinteger[Any]]
_Found = TypeVar("_Found")
Cells = Any  # a series of polars or, where a format has no types, a list


# Run a data engine, and convert its failures to one error.


class EngineError(RuntimeError):
    """A data engine failed: its workers died, its disk is full, or a file cannot be read.

    Examples
    --------
    >>> from stakes.tables import EngineError
    >>> issubclass(EngineError, RuntimeError)
    True
    """


def collected(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Collect the rows of a lazy frame."""
    return worked(frame, frame.collect)


def run(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Run the engine, streaming if possible, and collect the result."""
    if not frame.implementation.is_polars():
        return collected(frame)

    def stream() -> nw.DataFrame[Any]:
        try:
            return frame.collect(engine="streaming")
        except (TypeError, ValueError):  # older polars knows no streaming engine by this name
            return frame.collect()

    return worked(frame, stream)


def worked(frame: nw.LazyFrame[Any], work: Callable[[], _Found]) -> _Found:
    """Have the engine of a frame work; what it raises becomes an ``EngineError``."""
    try:
        return work()
    except (DataError, MemoryError):
        raise
    # engines have their own exception classes: any other exception means failure
    except BaseException as error:
        kind = type(error).__name__
        if kind == "InterruptException":  # raised by DuckDB on Ctrl-C
            raise KeyboardInterrupt from error
        if not isinstance(error, Exception) and kind != "PanicException":
            raise
        said = visible(str(error).strip().partition("\n")[0]) or kind
        raise EngineError(
            f"{frame.implementation.name.lower()} failed while it worked on the rows: {shorten(said, 300)}"
        ) from error


# One column of an in-memory frame, of any library and type, as an array.

_AT_ONCE = 1 << 14
_MANY_LABELS = 1000
_SHOWN_LABELS = 5
_LARGEST_INTEGER = 2**63


def to_floats(series: nw.Series[Any], origin: Location, *, hint: str | None = None) -> Floats:
    """Convert a numeric or boolean column to float64, missing values to NaN; text is refused, never parsed."""
    dtype = series.dtype
    if dtype == nw.Object:
        return _objects_to_floats(series, origin, hint)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        present = ~series.is_null().to_numpy()
        if not present.any():
            return np.full(len(series), np.nan)
        first = int(np.argmax(present))
        raise origin.error("must hold numbers", column=series.name, row=first, value=series[first], hint=hint)
    of_no_array = dtype.is_decimal() or dtype in (nw.Boolean, nw.Int128)
    if not dtype.is_float() and (of_no_array or series.null_count()):
        series = series.cast(nw.Float64)
    return np.asarray(series.to_numpy(), dtype=np.float64)


def _objects_to_floats(series: nw.Series[Any], origin: Location, hint: str | None) -> Floats:
    values = series.to_list()
    missing = series.is_null().to_numpy()
    bad = np.array([not (gone or isinstance(v, Number)) for v, gone in zip(values, missing, strict=True)], dtype=bool)
    if bad.any():
        raise origin.broken("must hold numbers", bad, values, column=series.name, hint=hint)
    return np.array([math.nan if gone else v for v, gone in zip(values, missing, strict=True)], dtype=np.float64)


def check_flat(name: str, dtype: Any, origin: Location) -> None:
    """Refuse labels and groups that are lists or structures."""
    if dtype.is_nested():
        raise origin.error(f"must hold text, numbers or true and false, not {dtype}", column=name)


def encode(series: nw.Series[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values in ascending order and, for each row, the index of its value, -1 where missing."""
    series = series.alias("value")  # polars reads some names as patterns of columns
    if series.dtype == nw.Boolean:
        places = _codes(series.cast(nw.Float64).to_numpy())
        values = [value for value in (False, True) if np.any(places == value)]
        return values, np.minimum(places, len(values) - 1)
    series = _sortable(series)
    present = series.drop_nulls()
    if series.dtype.is_numeric():
        values = sorted(v for v in present.unique().to_list() if v == v)  # noqa: PLR0124  (NaN differs from itself)
        array = present.to_numpy()  # in its own type: as floats, integers of 17 digits would be merged
        found = np.where(np.isnan(array), -1, np.searchsorted(np.array(values, dtype=array.dtype), array))
        places = np.full(len(series), -1, dtype=np.int64)
        places[~series.is_null().to_numpy()] = found
        return values, places
    if series.dtype == nw.Object:
        return _encode_objects(series)
    if series.dtype in (nw.Datetime, nw.Duration) or (series.dtype == nw.Time and series.implementation.is_polars()):
        return _encode_moments(series)
    values = sorted(present.unique().to_list())
    codes = np.full(len(series), np.nan)
    if values:
        numbers = present.replace_strict(values, list(range(len(values))), return_dtype=nw.Int64).to_numpy()
        codes[~series.is_null().to_numpy()] = numbers
    return values, _codes(codes)


def _encode_moments(series: nw.Series[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Encode moments and durations by the integers that they are: Python has those of whole microseconds only."""
    present = series.drop_nulls()
    numbers, first, found = np.unique(
        present.cast(nw.Int64).to_numpy().astype(np.int64), return_index=True, return_inverse=True
    )
    values = present[first.tolist()].to_list() if len(first) else []
    if len(set(values)) < len(values):  # within a microsecond, or in the hour that clocks show twice
        unit, zone = (getattr(series.dtype, key, None) for key in ("time_unit", "time_zone"))
        moments = numbers.astype(f"{'datetime64' if series.dtype == nw.Datetime else 'timedelta64'}[{unit or 'ns'}]")
        values = [f"{moment}{'Z' if zone else ''}" for moment in moments]
    codes = np.full(len(series), -1, dtype=np.int64)
    codes[~series.is_null().to_numpy()] = found
    return values, codes


def _sortable(series: nw.Series[Any]) -> nw.Series[Any]:
    """Cast decimals and integers of 128 bits to a type that keeps their values distinct, and categories to text."""
    if series.dtype.is_decimal() or series.dtype == nw.Int128:
        distinct = set(series.drop_nulls().to_list())  # not every polars finds the distinct ones of decimals
        if all(value == int(value) and abs(value) < _LARGEST_INTEGER for value in distinct):
            return series.cast(nw.Int64)
        exact = len(set(map(float, distinct))) == len(distinct)
        return series.cast(nw.Float64 if exact else nw.String)
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
    """Build an array of distinct values of one kind: numbers and booleans natively, all else as objects."""
    plain = all(isinstance(v, float) or (isinstance(v, int) and v < _LARGEST_INTEGER) for v in values)
    return np.array(values, dtype=None if plain else object)


def encode_labels(series: nw.Series[Any], origin: Location) -> tuple[list[Any], Codes]:
    """Encode a label column; refuse a column of very many values early."""
    series = _sortable(series)
    if series.dtype.is_numeric() and not series.null_count():
        found = encode_two_numbers(*_chunks(series))
        if found is not None:
            return found
    distinct = series.alias("value").drop_nulls().unique()  # as in encode
    if len(distinct) > _MANY_LABELS:
        raise _too_many(distinct.head(_SHOWN_LABELS).to_list(), len(distinct), origin, series.name)
    return encode(series)


def _chunks(series: nw.Series[Any]) -> list[NDArray[Any]]:
    """Yield the chunks in which polars keeps a column, since joining them would copy it."""
    native = series.to_native()
    return [part.to_numpy() for part in (native.get_chunks() if hasattr(native, "get_chunks") else [series])]


def encode_two_numbers(*parts: NDArray[Any]) -> tuple[list[Any], Codes] | None:
    """Encode a column of one or two distinct numbers without sorting; None for others."""
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


def positive_labels(values: list[Any], codes: Codes, pos_label: object, origin: Location, column: str) -> Bools:
    """Convert encoded labels without missing ones to booleans, True for the positive class."""
    counts = np.zeros(len(values), dtype=np.intp)
    for part in blocks(len(codes), max(_AT_ONCE, len(values))):
        counts += np.bincount(codes[part], minlength=len(values))
    present = np.flatnonzero(counts)
    labels = [values[i] for i in present]
    if len(labels) > 2 and not origin.ordered:  # which label is the third depends on the order
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


def _positive(labels: list[Any], pos_label: object, origin: Location, column: str) -> Bools:
    try:
        return check_labels(np.array(labels, dtype=object), match_label(pos_label, labels))
    except ValueError as error:
        hint = "The command line's option is --pos-label." if pos_label is None else None
        raise origin.error(str(error).removeprefix("y_true ").removesuffix("."), column=column, hint=hint) from None


def _too_many(labels: list[Any], count: int, origin: Location, column: str, **where: Any) -> DataError:
    shown = ", ".join(map(repr, labels[:_SHOWN_LABELS])) + (", ..." if count > _SHOWN_LABELS else "")
    return origin.error(f"labels must take two values, not {count} ({shown})", column=column, **where)


# Text columns are converted to numbers, booleans or labels; other values are refused with their row, never guessed.

MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")
_NEARLY_A_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|[.,]\d+)\s*%?")  # unambiguous decimal notation


def looks_numeric(cells: Sequence[str]) -> bool:
    """Whether at least half of the present cells are meant as numbers (including 12% and 0,5)."""
    if _all_numbers(cells):  # the usual case, without a test of each cell
        return True
    present = [c for cell in cells if (c := cell.strip()) and c not in MISSING]
    return 2 * sum(map(is_meant_as_number, present)) >= len(present)


def _all_numbers(cells: Sequence[str]) -> bool:
    try:
        list(map(float, cells))
    except ValueError:
        return False
    return True


def is_meant_as_number(cell: str) -> bool:
    """Whether a cell is a number or nearly one, so that an unreadable one deserves an error."""
    return is_number(cell) or _NEARLY_A_NUMBER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Whether a cell can be read as a number."""
    return _all_numbers([cell])


def numbers_from_text(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Read numbers from text (null for missing cells), and mark the cells that are not numbers."""
    import polars as pl

    cells = text.str.strip_chars()
    numbers = cells.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & cells.is_not_null() & ~cells.is_in(["", *MISSING])


def tidy_label(text: pl.Series) -> pl.Series:
    """Convert labels that are all numbers or all true and false; return others unchanged. Blank ones are missing."""
    import polars as pl

    blank = text.str.strip_chars() == ""
    text = text.set(blank, None) if blank.any() else text
    distinct = text.drop_nulls().unique()
    cells = distinct.str.strip_chars()
    numbers = cells.cast(pl.Float64, strict=False)
    if len(distinct) and not numbers.null_count():
        numbers = numbers.fill_nan(None)
        for kind in (pl.Int64, pl.UInt64):  # not by way of floats, which merge integers of 17 digits
            if (cells.cast(kind, strict=False).is_null() == numbers.is_null()).all():
                return text.str.strip_chars().cast(kind, strict=False)
        numbers = numbers.drop_nulls()
        whole = (numbers == numbers.round()).all() and (numbers.abs() < 2**53).all()
        return text.str.strip_chars().cast(pl.Float64).fill_nan(None).cast(pl.Int64 if whole else pl.Float64)
    if len(distinct) and distinct.str.to_lowercase().is_in(["true", "false"]).all():
        return text.str.to_lowercase() == "true"
    return text


_TRUE_AND_FALSE = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))


def tidy_group(text: pl.Series) -> pl.Series:
    """Convert groups that are all plain integers, so that they sort, or true and false; 007 stays text."""
    import polars as pl

    text = _without_empty(text)
    distinct = set(text.drop_nulls().unique())
    spelling = next((pair for pair in _TRUE_AND_FALSE if distinct and distinct <= set(pair)), None)
    if spelling is not None:
        return text == spelling[0]
    numbers = text.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(text) else text


def types_that_hold(text: pl.Series) -> set[Any]:
    """Return the types, of booleans, integers and floats, that hold every present cell unchanged; 007 stays text."""
    import polars as pl

    cells = present_cells(text).drop_nulls()
    numbers, whole = cells.cast(pl.Float64, strict=False), cells.cast(pl.Int64, strict=False)
    padded, integers = cells.str.contains(r"^[+-]?0\d"), cells.str.contains(r"^[+-]?\d+$")
    exact = ~integers | whole.is_between(-(2**53), 2**53).fill_null(value=False)
    held = {
        pl.Boolean: cells.str.to_lowercase().is_in(["true", "false"]),
        pl.Int64: (whole.cast(pl.String) == cells).fill_null(value=False),
        pl.Float64: numbers.is_finite().fill_null(value=False) & exact & ~padded,
    }
    return {kind for kind, good in held.items() if good.all()}


def in_type(text: pl.Series, kind: Any) -> pl.Series:
    """Convert the cells of a column to a type that holds them; as text only the empty ones are missing."""
    import polars as pl

    if kind == pl.String:
        return _without_empty(text)
    cells = present_cells(text)
    return cells.str.to_lowercase() == "true" if kind == pl.Boolean else cells.cast(kind)


def present_cells(text: pl.Series) -> pl.Series:
    """Strip the cells, null where they are missing."""
    cells = text.str.strip_chars()
    return cells.set(cells.is_in(["", *MISSING]), None)


def _without_empty(text: pl.Series) -> pl.Series:
    return text.set(text == "", None) if (text == "").any() else text


# The interface of files of rows in any format: column names, and iteration over pieces of rows.

_NUMBER_TYPES = {int, float, type(None)}


@dataclass(frozen=True, eq=False, repr=False)
class Piece:
    """Consecutive rows: the requested columns and, for text files, the rows' text with new columns.

    ``extended`` takes the new columns and which rows to keep.
    """

    n_rows: int
    cells: Any  # by name, as of a frame
    extended: Callable[[Sequence[pl.Series], Bools | None], str] | None = None


class Table(Protocol):
    """A file whose rows can be iterated repeatedly in bounded memory."""

    @property
    def kind(self) -> str:
        """Name of the format."""

    @property
    def origin(self) -> Location:
        """Where the rows come from; after a full iteration it includes whether each row is one line."""

    @property
    def names(self) -> Sequence[str]:
        """Names of all columns."""

    @property
    def numeric(self) -> Collection[str]:
        """Names of the numeric columns, judged by the first rows."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known before an iteration."""

    def pieces(
        self, columns: Collection[str], numbers: Collection[str] = (), label: str | None = None
    ) -> Iterator[Piece]:
        """Iterate over the rows, and raise at the first broken one."""

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series | None:
        """Join the pieces of a label or group column; None if they must be read again as text."""

    def head(self, names: Sequence[str]) -> str:
        """Return the header, extended by more names."""

    def schema(self, numbers: Collection[str]) -> dict[str, Any]:
        """Return the type of each column of a frame; some are known to hold numbers."""

    def frames(self, schema: Mapping[str, Any]) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Yield the rows with every column in its type, as lossless frames."""


@dataclass
class Numbers:
    """Numbers of one column, checked piece by piece; keeps the first invalid cell until all are counted.

    ``probability`` asks for the range [0, 1], or else for finite numbers; None leaves that to others.
    """

    name: str
    from_text: bool
    probability: bool | None = None
    n_rows: int = 0
    n_broken: int = 0
    broken: dict[str, Any] = field(default_factory=dict)

    def take(self, cells: Cells, origin: Location) -> Floats:
        """Return the numbers of the next cells, nan for missing ones."""
        values, bad, rule = self._read(cells, origin)
        wrong = bad
        if self.probability is not None:
            outside = (values < 0.0) | (values > 1.0) if self.probability else np.isinf(values)
            wrong = bad | outside
        if wrong.any():
            first = int(np.argmax(wrong))
            if not self.broken:
                limit = "must lie in [0, 1]" if self.probability else "must be finite"
                rule, value = (rule, cells[first]) if bad[first] else (limit, values[first])
                self.broken = {"rule": rule, "row": self.n_rows + first, "value": value}
            self.n_broken += int(np.count_nonzero(wrong))
        self.n_rows += len(values)
        return values

    def refuse(self, origin: Location, hint: str | None) -> None:
        """Raise for the first invalid cell, with the number of invalid cells."""
        if self.n_broken:
            value = self.broken["value"]
            if written := as_written(value):
                hint = f"{hint or ''} {written[2:].capitalize()}.".strip()
            raise origin.error(**self.broken, column=self.name, count=self.n_broken, total=self.n_rows, hint=hint)

    def _read(self, cells: Cells, origin: Location) -> tuple[Floats, Bools, str]:
        """Return the numbers, a mask of the cells that are not numbers, and the rule that these break."""
        if isinstance(cells, list):
            others = {kind for kind in set(map(type, cells)) if not (kind in _NUMBER_TYPES or issubclass(kind, float))}
            bad = np.array([type(cell) in others for cell in cells] if others else [False] * len(cells), dtype=bool)
            plain = [None if wrong else cell for cell, wrong in zip(cells, bad, strict=True)] if others else cells
            return np.array(plain, dtype=np.float64), bad, "must be a number"
        if self.from_text and str(cells.dtype) == "String":
            numbers, wrong = numbers_from_text(cells)
            return numbers.to_numpy().astype(np.float64), wrong.to_numpy(), "must be a number"
        series = nw.from_native(cells, series_only=True)
        if series.dtype.is_nested():
            raise origin.error(f"must hold numbers, not {cells.dtype}", column=self.name)
        if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
            return np.full(len(cells), np.nan), cells.is_not_null().to_numpy(), "must hold numbers"
        return to_floats(series, origin), np.zeros(len(cells), dtype=bool), ""


class Stacked:
    """Numbers of one column, collected piece by piece, in memory of the column's length if that is known."""

    def __init__(self, n_rows: int | None) -> None:
        self._known = None if n_rows is None else np.empty(n_rows)
        self._chunks: list[Floats] = []
        self._filled = 0

    def add(self, part: Floats) -> None:
        """Append a piece."""
        if self._known is None:
            self._chunks.append(part)
        else:
            self._known[self._filled : self._filled + len(part)] = part
            self._filled += len(part)

    def whole(self) -> Floats:
        """Return all numbers."""
        return np.concatenate(self._chunks) if self._known is None else self._known[: self._filled]


@dataclass(frozen=True, eq=False, repr=False)
class Gathered:
    """Columns of a file or frame in memory: numbers as arrays (nan where missing), labels and groups as series."""

    numbers: dict[str, Floats]
    others: dict[str, nw.Series[Any]]
    origin: Location

    @classmethod
    def from_frame(cls, frame: nw.DataFrame[Any], roles: Roles, origin: Location) -> Gathered:
        """Take the columns of a frame in memory."""
        numbers = {name: to_floats(frame[name], origin, hint=hint) for name, hint in roles.hints.items()}
        return cls(numbers, {name: frame[name] for name in (roles.label, *roles.groups)}, origin)

    @classmethod
    def of(cls, table: Table, hints: Mapping[str, str | None], groups: Sequence[str], label: str | None) -> Gathered:
        """Read numeric columns, each with a hint for error messages, the label and the groups."""
        others = list(dict.fromkeys([*groups, *([] if label is None else [label])]))
        found = cls._read(table, hints, others, label) or cls._read(table, hints, others, label, typed=False)
        assert found is not None  # noqa: S101  (as text every cell can be read)
        return found

    @classmethod
    def _read(
        cls, table: Table, hints: Mapping[str, str | None], others: list[str], label: str | None, *, typed: bool = True
    ) -> Gathered | None:
        columns = [Numbers(name, from_text=table.kind == "csv") for name in hints]
        values = [Stacked(table.n_rows) for _ in hints]
        parts: dict[str, list[Cells]] = {name: [] for name in others}
        read = 0
        for piece in table.pieces([*hints, *others], hints, label if typed else None):
            for column, found in zip(columns, values, strict=True):
                found.add(column.take(piece.cells[column.name], table.origin))
            for name, cells in parts.items():
                cells.append(piece.cells[name])
            read += piece.n_rows
            if table.n_rows is not None:
                report_progress(read, table.n_rows)
        for column in columns:
            column.refuse(table.origin, hints[column.name])
        series: dict[str, nw.Series[Any]] = {}
        for name in others:
            whole = table.joined(name, parts.pop(name), label=name == label)
            if whole is None:
                return None
            series[name] = nw.from_native(whole, series_only=True)
        return cls({name: values.pop(0).whole() for name in hints}, series, table.origin)


# The roles of columns (label, models and others), and errors for missing names.

_SHOWN = 10
_MOST_UNNAMED = 100  # limit on automatic models: a wide file probably holds features, and every pair would be compared
NAME_MODELS = (
    "Every other numeric column was taken as a model: name the model columns with models= (command line: --models)."
)


@dataclass(frozen=True, eq=False, repr=False)
class Roles:
    """Names of the columns used, whether the models were selected automatically, and whether they are probabilities.

    ``outcome`` names those that say, beside the label, what happened.
    """

    label: str
    models: tuple[str, ...]
    weight: str | None
    groups: tuple[str, ...]
    automatic: bool
    probability: bool = True
    outcome: OutcomeFromColumns | None = None

    @property
    def measured(self) -> dict[str, float]:
        """Numeric columns of the outcome, with their smallest allowed values."""
        return {} if self.outcome is None else dict(self.outcome.numbers)

    @property
    def used(self) -> tuple[str, ...]:
        """Every needed column, without repetition."""
        weight = () if self.weight is None else (self.weight,)
        return tuple(dict.fromkeys((self.label, *self.models, *weight, *self.measured, *self.groups)))

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every numeric column, without repetition."""
        return (*self.models, *([] if self.weight is None else [self.weight]), *self.measured)

    @property
    def hints(self) -> dict[str, str | None]:
        """Every numeric column, with a hint for error messages about its values."""
        return {name: self.hint if name in self.models else None for name in self.numbers}

    @property
    def hint(self) -> str | None:
        """A hint for error messages about a model's values."""
        return NAME_MODELS if self.automatic else None


_INDEX = re.compile(r"(__index_level_\d+__)?")


def holds_row_numbers(name: str) -> bool:
    """Whether a column is one that R and pandas add: it has no name in CSV, and one of its own in Parquet."""
    return _INDEX.fullmatch(name) is not None


def choose_roles(
    names: Sequence[str],
    numeric: Collection[str],
    *,
    label: str,
    models: Iterable[str] | None,
    weight: str | None,
    groups: Iterable[str] | None,
    file: str | None = None,
    probability: bool = True,
    outcome: OutcomeFromColumns | None = None,
) -> Roles:
    """Assign roles to columns; without ``models`` every other numeric column with a name is a model."""
    reject_duplicates(names, file)
    told = () if outcome is None else tuple(outcome.numbers)
    by = tuple(dict.fromkeys([*as_tuple(groups), *(() if outcome is None else outcome.groups)]))
    require([label, *as_tuple(models), *([] if weight is None else [weight]), *told, *by], names, file)
    taken = {label, weight, *told, *by}
    automatic = models is None
    free = (name for name in names if name in numeric and name not in taken and not holds_row_numbers(name))
    chosen = tuple(free) if automatic else as_tuple(models)
    if not chosen:
        others = [name for name in names if name not in taken]
        hint = f"Not numeric: {', '.join(map(repr, others[:_SHOWN]))}." if others else None
        raise DataError("no numeric column is left to be a model", file=file, hint=hint)
    if automatic and len(chosen) > _MOST_UNNAMED:
        raise DataError(
            f"{len(chosen):,} numeric columns would be models, from {chosen[0]!r} to {chosen[-1]!r}",
            file=file,
            hint=f"More than {_MOST_UNNAMED} must be named. {NAME_MODELS}",
        )
    named_once(chosen, file)
    roles = [(label, "the label"), (weight, "the weight"), *((name, "part of the outcome") for name in told)]
    once = [name for name, _ in roles]
    for name, role in roles:
        if name in chosen or (name is not None and once.count(name) > 1):
            raise DataError(f"is {role} and can be nothing else", file=file, column=name)
    return Roles(label, chosen, weight, by, automatic, probability, outcome)


def named_once(wanted: Iterable[str], file: str | None = None, where: str = "among the models") -> None:
    """Refuse a column that is named twice."""
    twice = [name for name, count in Counter(wanted).items() if count > 1]
    if twice:
        raise DataError(f"must be named once {where}", file=file, column=twice[0])


def reject_duplicates(names: Iterable[str], file: str | None = None) -> None:
    """Refuse duplicate column names."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError("column names must be distinct, this one occurs more than once", file=file, column=twice[0])


def is_pattern(name: str, engine: str) -> bool:
    """Whether an engine reads the name of a column as a pattern of several."""
    return name == "*" or (engine == "polars" and name.startswith("^") and name.endswith("$"))


OF_ANOTHER_COLUMN = "{} takes this name, in upper or lower case, for that of another column: rename the column"


def refuse_patterns(names: Iterable[str], engine: str, file: str | None = None) -> None:
    """Refuse names of columns that an engine reads as patterns of several."""
    for name in names:
        if is_pattern(name, engine):
            rule = f"{engine} reads this name as a pattern of several columns: rename the column"
            raise DataError(rule, file=file, column=name)


def in_lower_case(name: str) -> str:
    """Return the name that DuckDB takes for the same: of all letters, it knows the case of those from A to Z alone."""
    return name.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def refuse_hidden(names: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse names that DuckDB, to which a and A are one name, takes for that of an earlier column."""
    first = {in_lower_case(name): name for name in reversed(columns)}
    for name in names:
        if first[in_lower_case(name)] != name:
            raise DataError(OF_ANOTHER_COLUMN.format("duckdb"), column=name)


def require(wanted: Iterable[str], names: Sequence[str], file: str | None = None) -> None:
    """Raise for a missing column name, listing the existing ones."""
    missing = next((name for name in wanted if name not in names), None)
    if missing is None:
        return
    text = [str(name) for name in names]
    close = nearest(str(missing), text)
    guess = "" if close is None else f"Did you mean {close!r}? "
    rest = f", ... ({len(text)} in all)" if len(text) > _SHOWN else ""
    hint = f"{guess}The columns are {', '.join(map(repr, text[:_SHOWN]))}{rest}."
    raise DataError("there is no such column", file=file, column=missing, hint=hint)


def as_tuple(names: Iterable[str] | None) -> tuple[str, ...]:
    """Names given as a list, as one alone or not at all."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)
