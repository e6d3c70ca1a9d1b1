"""Columns, roles, labels of any frame; running engines."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np

from stakes.base.validation import as_written, blocks, check_labels, match_label
from stakes.outputs.hooks import report_progress
from stakes.outputs.serialization import DataError
from stakes.outputs.text import nearest, shorten, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from stakes.base.outcome import OutcomeFromColumns
    from stakes.outputs.serialization import Location

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Codes = NDArray[np.signedinteger[Any]]
    Cells = Any  # a series of polars or, where a format has no types, a list


# Let a data engine work, and say in one sentence that it could not.


class EngineError(RuntimeError):
    """A data engine stopped in the middle of its work: its workers died, its disk is full, a file cannot be read.

    Examples
    --------
    >>> from stakes.tables import EngineError
    >>> issubclass(EngineError, RuntimeError)
    True
    """


def collected(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Take the rows of a lazy frame."""
    return _worked(frame, frame.collect)


def run(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Let the engine work, in a stream where it can, and take what it found."""
    if not frame.implementation.is_polars():
        return collected(frame)

    def stream() -> nw.DataFrame[Any]:
        try:
            return frame.collect(engine="streaming")
        except (TypeError, ValueError):  # older polars knows no streaming engine by this name
            return frame.collect()

    return _worked(frame, stream)


def _worked(frame: nw.LazyFrame[Any], work: Callable[[], nw.DataFrame[Any]]) -> nw.DataFrame[Any]:
    try:
        return work()
    except (DataError, MemoryError):
        raise
    # whatever else comes out of an engine, of which every one has errors of its own, is that it failed
    except BaseException as error:
        kind = type(error).__name__
        if kind == "InterruptException":  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from error
        if not isinstance(error, Exception) and kind != "PanicException":
            raise
        said = visible(str(error).strip().partition("\n")[0]) or kind
        raise EngineError(
            f"{frame.implementation.name.lower()} failed while it worked on the rows: {shorten(said, 300)}"
        ) from error


# One column of an in-memory frame, of whatever library and type, becomes an array.

_AT_ONCE = 1 << 14
_MANY_LABELS = 1000
_SHOWN_LABELS = 5


def to_floats(series: nw.Series[Any], origin: Location, *, hint: str | None = None) -> Floats:
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


def _objects_to_floats(series: nw.Series[Any], origin: Location, hint: str | None) -> Floats:
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


def encode_labels(series: nw.Series[Any], origin: Location) -> tuple[list[Any], Codes]:
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


def positive_labels(values: list[Any], codes: Codes, pos_label: object, origin: Location, column: str) -> Bools:
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


def _positive(labels: list[Any], pos_label: object, origin: Location, column: str) -> Bools:
    try:
        return check_labels(np.array(labels, dtype=object), match_label(pos_label, labels))
    except ValueError as error:
        hint = "The command line's option is --pos-label." if pos_label is None else None
        raise origin.error(str(error).removeprefix("y_true ").removesuffix("."), column=column, hint=hint) from None


def _too_many(labels: list[Any], count: int, origin: Location, column: str, **where: Any) -> DataError:
    shown = ", ".join(map(repr, labels[:_SHOWN_LABELS])) + (", ..." if count > _SHOWN_LABELS else "")
    return origin.error(f"labels must take two values, not {count} ({shown})", column=column, **where)


# Columns of text become numbers, booleans or labels; what is neither is refused with its row, never guessed at.

MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")
_NEARLY_A_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|[.,]\d+)\s*%?")  # in which no digit can be read in two ways


def looks_numeric(cells: Sequence[str]) -> bool:
    """Say whether at least half of the cells that are not missing are meant as numbers (12% and 0,5 too)."""
    if _all_numbers(cells):  # the usual case, without a look at each cell
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
    """Say whether a cell is a number or nearly one, so that it is worth an error when it cannot be read."""
    return is_number(cell) or _NEARLY_A_NUMBER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Say whether a cell reads as a number."""
    return _all_numbers([cell])


def numbers_from_text(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Read numbers, spaces around them allowed, null where they are missing, and mark the cells that hold none."""
    import polars as pl

    cells = text.str.strip_chars()
    numbers = cells.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & cells.is_not_null() & ~cells.is_in(["", *MISSING])


def tidy_label(text: pl.Series) -> pl.Series:
    """Read labels that all spell numbers, or all true and false, as such; leave others as they are."""
    import polars as pl

    text = _without_empty(text)
    distinct = text.drop_nulls().unique()
    numbers = distinct.str.strip_chars().cast(pl.Float64, strict=False)
    if len(distinct) and not numbers.null_count():
        whole = (numbers == numbers.round()).all() and numbers.abs().max() < 2**53  # type: ignore[operator]
        return text.str.strip_chars().cast(pl.Float64).cast(pl.Int64 if whole else pl.Float64)
    if len(distinct) and distinct.str.to_lowercase().is_in(["true", "false"]).all():
        return text.str.to_lowercase() == "true"
    return text


def tidy_group(text: pl.Series) -> pl.Series:
    """Read groups that are all plain whole numbers as such, so that they sort; 007 stays text."""
    import polars as pl

    text = _without_empty(text)
    numbers = text.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(text) else text


def _without_empty(text: pl.Series) -> pl.Series:
    return text.set(text == "", None) if (text == "").any() else text


# What every file of rows can do, whatever its format: name its columns, and pass through its rows piece by piece.

_NUMBER_TYPES = {int, float, type(None)}


@dataclass(frozen=True)
class Piece:
    """Some rows in order: the cells of the columns asked for, and where the rows are text, that text with new columns.

    ``extended`` takes the new columns and which rows to keep.
    """

    n_rows: int
    cells: Any  # by name, as of a frame
    extended: Callable[[Sequence[pl.Series], Bools | None], str] | None = None


class Table(Protocol):
    """A file whose rows can be passed through any number of times, in bounded memory."""

    @property
    def kind(self) -> str:
        """Name of the format."""

    @property
    def origin(self) -> Location:
        """Where the rows come from; after a pass it knows whether each is one line."""

    @property
    def names(self) -> Sequence[str]:
        """Names of all columns."""

    @property
    def numeric(self) -> Collection[str]:
        """Names of the columns that hold numbers, as far as the first rows tell."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known before a pass."""

    def pieces(
        self, columns: Collection[str], numbers: Collection[str] = (), label: str | None = None
    ) -> Iterator[Piece]:
        """Pass through the rows, and refuse the first that is broken."""

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series | None:
        """Make a label or a group of all its cells; None where they must be read again as text."""

    def head(self, names: Sequence[str]) -> str:
        """Return what stands above the rows, with more names at its end."""

    def schema(self) -> dict[str, Any]:
        """Return the type of each column of a frame."""

    def frames(self) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Pass through the rows with every column, as frames that lose nothing."""


@dataclass
class Numbers:
    """Numbers of one column, checked piece by piece; the first cell that breaks a rule is kept until all are counted.

    ``probability`` asks for the range [0, 1], or else for finite numbers; None leaves that to others.
    """

    name: str
    from_text: bool
    probability: bool | None = None
    n_rows: int = 0
    n_broken: int = 0
    broken: dict[str, Any] = field(default_factory=dict)

    def take(self, cells: Cells, origin: Location) -> Floats:
        """Return the numbers of the next cells, nan where they are missing."""
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
        """Raise for the first broken cell, with the number of them."""
        if self.n_broken:
            value = self.broken["value"]
            if written := as_written(value):
                hint = f"{hint or ''} {written[2:].capitalize()}.".strip()
            raise origin.error(**self.broken, column=self.name, count=self.n_broken, total=self.n_rows, hint=hint)

    def _read(self, cells: Cells, origin: Location) -> tuple[Floats, Bools, str]:
        """Return the numbers, which cells hold none though they hold something, and the rule that these break."""
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
    """Numbers of one column, piece by piece, in memory that is as long as the column where that is known."""

    def __init__(self, n_rows: int | None) -> None:
        self._known = None if n_rows is None else np.empty(n_rows)
        self._parts: list[Floats] = []
        self._filled = 0

    def add(self, part: Floats) -> None:
        """Put a piece behind the others."""
        if self._known is None:
            self._parts.append(part)
        else:
            self._known[self._filled : self._filled + len(part)] = part
            self._filled += len(part)

    def whole(self) -> Floats:
        """All of them."""
        return np.concatenate(self._parts) if self._known is None else self._known[: self._filled]


@dataclass(frozen=True)
class Gathered:
    """Columns of a file in memory: numbers as arrays, labels and groups as series."""

    numbers: dict[str, Floats]
    others: dict[str, nw.Series[Any]]
    origin: Location

    @classmethod
    def of(cls, table: Table, hints: Mapping[str, str | None], groups: Sequence[str], label: str | None) -> Gathered:
        """Read columns of numbers, each with what to add to an error about them, the label and the groups."""
        found = cls._read(table, hints, groups, label, typed=True) or cls._read(table, hints, groups, label)
        assert found is not None  # noqa: S101  (as text every cell can be read)
        return found

    @classmethod
    def _read(
        cls,
        table: Table,
        hints: Mapping[str, str | None],
        groups: Sequence[str],
        label: str | None,
        *,
        typed: bool = False,
    ) -> Gathered | None:
        others = list(dict.fromkeys([*groups, *([] if label is None else [label])]))
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

    def series(self, name: str) -> nw.Series[Any]:
        """Return a label or a group."""
        return self.others[name]

    def floats(self, name: str, hint: str | None = None) -> Floats:  # noqa: ARG002  (they are read already)
        """Return a column of numbers, nan where it is missing."""
        return self.numbers[name]

    def labels(self, name: str) -> tuple[list[Any], NDArray[np.signedinteger[Any]]]:
        """Return the distinct values of the label and the index of each row's, -1 where it is missing."""
        return encode_labels(self.others[name], self.origin)


# Which column is the label, which are models, and what to say where a name is not there.

_SHOWN = 10
_MOST_UNNAMED = 100  # models that nobody named: a wide file holds features, and every pair would be compared
NAME_MODELS = (
    "Every other numeric column was taken as a model: name the model columns with models= (command line: --models)."
)


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are used, whether the models were taken automatically and give probabilities.

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
        """Columns of numbers that say what happened, with the least that is possible."""
        return {} if self.outcome is None else dict(self.outcome.numbers)

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that is needed, once each."""
        weight = () if self.weight is None else (self.weight,)
        return tuple(dict.fromkeys((self.label, *self.models, *weight, *self.measured, *self.groups)))

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every column of numbers, once each."""
        return (*self.models, *([] if self.weight is None else [self.weight]), *self.measured)

    @property
    def hint(self) -> str | None:
        """What to add to an error about a model's values."""
        return NAME_MODELS if self.automatic else None


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
    """Give each column its role; without ``models`` every other numeric column that has a name is one."""
    reject_duplicates(names, file)
    told = () if outcome is None else tuple(outcome.numbers)
    by = tuple(dict.fromkeys([*_as_tuple(groups), *(() if outcome is None else outcome.groups)]))
    require([label, *_as_tuple(models), *([] if weight is None else [weight]), *told, *by], names, file)
    taken = {label, weight, *told, *by}
    automatic = models is None
    # a column without a name holds row numbers, as R and pandas write them
    chosen = tuple(n for n in names if n in numeric and n not in taken and n != "") if automatic else _as_tuple(models)
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


def named_once(wanted: Iterable[str], file: str | None = None) -> None:
    """Refuse a column that is asked for twice."""
    twice = [name for name, count in Counter(wanted).items() if count > 1]
    if twice:
        raise DataError("must be named once among the models", file=file, column=twice[0])


def reject_duplicates(names: Iterable[str], file: str | None = None) -> None:
    """Refuse columns that share a name: nobody could tell which one is meant."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError("column names must be distinct, this one occurs more than once", file=file, column=twice[0])


def require(wanted: Iterable[str], names: Sequence[str], file: str | None = None) -> None:
    """Refuse a name that is not there, and say which ones are."""
    missing = next((name for name in wanted if name not in names), None)
    if missing is None:
        return
    text = [str(name) for name in names]
    close = nearest(str(missing), text)
    guess = "" if close is None else f"Did you mean {close!r}? "
    rest = f", ... ({len(text)} in all)" if len(text) > _SHOWN else ""
    hint = f"{guess}The columns are {', '.join(map(repr, text[:_SHOWN]))}{rest}."
    raise DataError("there is no such column", file=file, column=missing, hint=hint)


def _as_tuple(names: Iterable[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)
