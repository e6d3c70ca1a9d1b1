"""Reading of kept JSON with every entry checked, and `DataError`."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.outputs.files import DataError

# The entries of a kept result are checked one by one, since the file may come from an untrusted source.

_LARGEST = 1e308
_LARGEST_COUNT = 2**63 - 1
_INFINITE = ("inf", "-inf")


@dataclass(frozen=True, eq=False, repr=False)
class JsonReader:
    """What was read, and what it should be a whole one of; every error names the entry that is damaged.

    ``path`` says where the entries lie in what was read, such as ``"tables.a."``; ``given`` names the argument.

    Examples
    --------
    >>> from stakes.outputs.serialization import JsonReader
    >>> JsonReader({"sums": {"rows": "many"}}, "score table").number("sums", "rows")
    Traceback (most recent call last):
    ValueError: text is no whole score table: sums.rows must be a number, got 'many'.
    """

    content: Any
    what: str
    path: str = ""
    given: str = "text"

    @classmethod
    def read(cls, text: str, what: str, form: str) -> JsonReader:
        """Parse JSON whose "format" entry must match.

        Examples
        --------
        >>> from stakes.outputs.serialization import JsonReader
        >>> JsonReader.read('{"format": "stakes-table-2"}', "score table", "stakes-table-2").content
        {'format': 'stakes-table-2'}
        """
        try:
            content = parse_json(text)
        except (ValueError, TypeError, RecursionError) as error:
            path = f"; of a file pass what it holds, Path({text!r}).read_text()" if str(text).endswith(".json") else ""
            raise ValueError(f"text must be a {what} in JSON: {str(error).removesuffix('.')}{path}.") from None
        found = content.get("format") if isinstance(content, dict) else None
        if found != form:
            raise ValueError(
                f"text must be a {what} of format {form!r}, got format {found!r}{_version_hint(found, form)}."
            )
        return cls(content, what)

    def inside(self, *path: str, form: str | None = None) -> JsonReader:
        """Return a reader of a nested object, with its format checked if one is passed."""
        content, name = self.at(*path), ".".join(path)
        if not isinstance(content, dict):
            raise self.broken(name, "an object with entries by name")
        found = replace(self, content=content, path=f"{self.path}{name}.")
        if form is not None and content.get("format") != form:
            raise self.broken(f"{name}.format", f"{form!r}, got {content.get('format')!r}")
        return found

    def broken(self, name: str, rule: str) -> ValueError:
        """Build the error for an invalid entry."""
        return ValueError(f"{self.given} is no whole {self.what}: {self.path}{name} must be {rule}.")

    def at(self, *path: str) -> Any:
        """Return an entry."""
        content = self.content
        for depth, name in enumerate(path, start=1):
            if not isinstance(content, dict) or name not in content:
                raise self.broken(".".join(path[:depth]), "there")
            content = content[name]
        return content

    def number(self, *path: str, infinite: bool = False) -> float:
        """Return a number; infinite ones only if allowed."""
        value = self.at(*path)
        if not (_is_finite(value) or (infinite and value in _INFINITE)):
            kind = "finite " if isinstance(value, str) and value in _INFINITE else ""
            raise self.broken(".".join(path), f"a {kind}number, got {_shown(value)}")
        return float(value)

    def number_or_none(self, *path: str) -> float | None:
        """Return a number, or None for null."""
        return None if self.at(*path) is None else self.number(*path)

    def count(self, *path: str) -> int:
        """Return a whole number >= 0 that fits 64 bits."""
        return int(self.counts(*path, shape=()))

    def count_or_none(self, *path: str) -> int | None:
        """Return a whole number >= 0, or None for null."""
        return None if self.at(*path) is None else self.count(*path)

    def flag(self, *path: str) -> bool:
        """Return true or false."""
        value = self.at(*path)
        if not isinstance(value, bool):
            raise self.broken(".".join(path), "true or false")
        return value

    def text(self, *path: str) -> str:
        """Return a text."""
        value = self.at(*path)
        if not isinstance(value, str):
            raise self.broken(".".join(path), "a text")
        return value

    def plain(self, *path: str) -> Any:
        """Return an entry of any type that contains no booleans."""
        entry = self.at(*path)
        inside = _find_boolean(entry, path)
        if inside is not None:
            raise self.broken(".".join(inside), "a number, a text or made of them, neither true nor false")
        return entry

    def label(self, *path: str) -> str | float:
        """Return the label of a class: a text or a finite number."""
        value = self.at(*path)
        if not (isinstance(value, str) or _is_finite(value)):
            raise self.broken(".".join(path), f"a label, a text or a finite number, got {_shown(value)}")
        return value if isinstance(value, (str, int)) else float(value)

    def numbers(self, *path: str, infinite: bool = False, undefined: bool = False) -> NDArray[np.float64]:
        """Return a list of numbers; infinite and ``undefined`` ones (null) only if allowed."""
        entry, name = self.at(*path), ".".join(path)
        if isinstance(entry, np.ndarray):
            values = entry.astype(np.float64) if entry.ndim == 1 and entry.dtype.kind in "fiu" else np.array(math.nan)
            entry = values.tolist()
        elif isinstance(entry, list):
            self._check_kinds(entry, name, infinite=infinite, undefined=undefined)
            values = np.array(entry, dtype=np.float64)
        else:
            values = np.array(math.nan)
        if values.ndim != 1:
            raise self.broken(name, "a list of numbers")
        for rule, bad in (("", np.isnan(values) & (not undefined)), ("finite ", np.isinf(values) & (not infinite))):
            if np.any(bad):
                place = int(np.argmax(bad))
                raise self.broken(name, f"a list of {rule}numbers, got {_shown(entry[place])} at place {place}")
        return values

    def counts(self, *path: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return whole numbers >= 0 whose sum fits 64 bits."""
        entry, name = self.at(*path), ".".join(path)
        rule = f"counts of shape {shape}, whole" if shape else "a whole"
        if not _has_shape(entry, shape):
            raise self.broken(name, f"{rule} number{'s' * bool(shape)} from 0 to 2^63 - 1")
        flat = _flatten(entry)
        bad = next((value for value in flat if type(value) is not int or not 0 <= value <= _LARGEST_COUNT), None)
        if bad is not None or None in flat:
            raise self.broken(name, f"{rule} number{'s' * bool(shape)} from 0 to 2^63 - 1, got {_shown(bad)}")
        if sum(flat) > _LARGEST_COUNT:
            raise self.broken(name, f"{rule} numbers whose sum is at most 2^63 - 1")
        return np.array(entry, dtype=np.int64)

    def _check_kinds(self, entry: list[Any], name: str, *, infinite: bool, undefined: bool) -> None:
        """Raise unless a list holds only numbers (no text, no booleans)."""
        if set(map(type, entry)) <= {float}:
            return
        for place, value in enumerate(entry):
            known = _is_finite(value) or (undefined and value is None) or (infinite and value in _INFINITE)
            if not known:
                kind = "finite " if isinstance(value, str) and value in _INFINITE else ""
                raise self.broken(name, f"a list of {kind}numbers, got {_shown(value)} at place {place}")


def parse_json(text: str | bytes) -> Any:
    """Parse JSON without repeated keys and without NaN or Infinity.

    Examples
    --------
    >>> from stakes.outputs.serialization import parse_json
    >>> parse_json('{"rows": 3, "rows": 4}')
    Traceback (most recent call last):
    ValueError: the entry 'rows' is there twice.
    """
    return json.loads(text, object_pairs_hook=_without_repeated_keys, parse_constant=_refuse_constant)


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the entry {_shown(twice)} is there twice.")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON.")


def _version_hint(found: object, form: str) -> str:
    """Return what to do about a file of an earlier version of the format, else ""."""
    name, _, version = form.rpartition("-")
    known = isinstance(found, str) and found.rpartition("-")[0] == name and found.rpartition("-")[2].isdecimal()
    if not known or int(str(found).rpartition("-")[2]) >= int(version):
        return ""
    return ": it is of an earlier version and must be made anew"


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST


def _has_shape(entry: Any, shape: tuple[int, ...]) -> bool:
    if not shape:
        return not isinstance(entry, list)
    return isinstance(entry, list) and len(entry) == shape[0] and all(_has_shape(part, shape[1:]) for part in entry)


def _flatten(entry: Any) -> list[Any]:
    return [value for part in entry for value in _flatten(part)] if isinstance(entry, list) else [entry]


def _find_boolean(entry: Any, path: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the path to the first boolean in an entry."""
    if isinstance(entry, bool):
        return path
    inside = entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else ()
    found = (_find_boolean(value, (*path, str(key))) for key, value in inside)
    return next((found_path for found_path in found if found_path is not None), None)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# Where rows come from, and the errors that name it.


@dataclass(frozen=True, eq=False, repr=False)
class Location:
    """Where rows come from: file, whether row numbers are meaningful, line of row 0, indices of the rows kept."""

    file: str | None = None
    ordered: bool = True
    first_line: int | None = None
    rows: NDArray[np.intp] | None = None

    def error(self, rule: str, *, row: int | None = None, **details: Any) -> DataError:
        """Build the error for a row counted from 0, with row and line number if the rows are ordered."""
        if row is None or not self.ordered:
            return DataError(rule, file=self.file, **details)
        if self.rows is not None:
            row = int(self.rows[row])
        line = None if self.first_line is None else self.first_line + row
        return DataError(rule, file=self.file, row=row + 1, line=line, **details)

    def of_arrays(self, error: ValueError) -> DataError:
        """Build the error of arrays of the kept rows: an index in its text becomes the number of the row."""

        def numbered(found: re.Match[str]) -> str:
            kept = int(found[1])
            return f"in row {1 + (kept if self.rows is None else int(self.rows[kept]))}"

        said = str(error).removesuffix(".")
        return self.error(re.sub(r"at index (\d+)", numbered, said) if self.ordered else said)

    def broken(self, rule: str, bad: NDArray[np.bool_], values: Any, **details: Any) -> DataError:
        """Build the error for the rows marked bad, naming the first and its value."""
        first = int(np.argmax(bad))
        count = int(np.count_nonzero(bad))
        value = None if values is None else values[first]
        return self.error(rule, row=first, value=value, count=count, total=len(bad), **details)
