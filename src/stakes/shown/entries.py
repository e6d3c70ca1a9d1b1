"""The entries of a kept result, checked one by one as they are read, for the file may come from anywhere."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST = 1e308


@dataclass(frozen=True)
class Entries:
    """What was read, and what it should be a whole one of; every error names the entry that is damaged.

    Examples
    --------
    >>> from stakes.shown.entries import Entries
    >>> Entries({"sums": {"rows": "many"}}, "score table").number("sums", "rows")
    Traceback (most recent call last):
    ValueError: text is no whole score table: sums.rows must be a number.
    """

    content: Any
    what: str

    @classmethod
    def read(cls, text: str, what: str, form: str) -> Entries:
        """Parse JSON that must say that it has this format.

        Examples
        --------
        >>> from stakes.shown.entries import Entries
        >>> Entries.read('{"format": "stakes-table-1"}', "score table", "stakes-table-1").content
        {'format': 'stakes-table-1'}
        """
        try:
            content = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"text must be a {what} in JSON: {error}.") from None
        found = content.get("format") if isinstance(content, dict) else None
        if found != form:
            raise ValueError(f"text must be a {what} of format {form!r}, got format {found!r}.")
        return cls(content, what)

    def broken(self, name: str, rule: str) -> ValueError:
        """Return the error for an entry that is not what it must be."""
        return ValueError(f"text is no whole {self.what}: {name} must be {rule}.")

    def at(self, *path: str) -> Any:
        """Return an entry."""
        content = self.content
        for depth, name in enumerate(path, start=1):
            if not isinstance(content, dict) or name not in content:
                raise self.broken(".".join(path[:depth]), "there")
            content = content[name]
        return content

    def number(self, *path: str) -> float:
        """Return a number, which may be infinite."""
        value = self.at(*path)
        finite = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST
        if not (finite or (isinstance(value, str) and value in {"inf", "-inf"})):
            raise self.broken(".".join(path), "a number")
        return float(value)

    def number_or_none(self, *path: str) -> float | None:
        """Return a number, or None where null stands."""
        return None if self.at(*path) is None else self.number(*path)

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

    def numbers(self, *path: str, undefined: bool = False) -> NDArray[np.float64]:
        """Return a list of numbers; ``undefined`` ones, null, only where asked for."""
        entry = self.at(*path)
        try:
            values = np.array(entry, dtype=float)
        except (TypeError, ValueError, OverflowError):
            values = np.array(math.nan)
        if values.ndim != 1 or (np.any(np.isnan(values)) and not undefined):
            raise self.broken(".".join(path), "a list of numbers")
        return values

    def counts(self, *path: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return whole numbers >= 0."""
        entry = self.at(*path)
        try:
            values = np.array(entry)
        except (ValueError, OverflowError):
            values = np.array("")
        if values.dtype.kind not in "iu" or values.shape != shape or np.any(values < 0):
            raise self.broken(".".join(path), f"counts of shape {shape}")
        return values.astype(np.int64)
