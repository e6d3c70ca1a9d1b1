"""What was probably meant by a value that is refused: how a message names it, and the remedy that ends the message."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.shown.nearest import guess
from stakes.shown.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

_LONGEST = 80
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_PERCENT = re.compile(r"([+-]?[0-9.]+)\s*%")
_ODDS = re.compile(r"\s*[0-9]+\s*[:/]\s*[0-9]+\s*")


def brief(value: Any) -> str:
    """Return how a message names a value: a long column or a table by its type, since its values would fill a page.

    Examples
    --------
    >>> brief("Old"), brief([0, 1] * 100), brief(np.zeros(99))
    ("'Old'", 'list of 200', 'ndarray')
    """
    text = " ".join(repr(value).split()) if hasattr(value, "shape") else repr(value)
    if len(text) <= _LONGEST:
        return text
    if isinstance(value, list | tuple):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__ if hasattr(value, "shape") else shorten(text, _LONGEST)


def one_of(known: Iterable[str], value: object) -> str:
    """Return "one of 'NAME', ..., got VALUE.", with the name that was probably meant.

    Examples
    --------
    >>> one_of(["new", "old"], "Old")
    "one of 'new', 'old', got 'Old'; did you mean 'old'?"
    """
    names = tuple(known)
    return f"one of {', '.join(map(repr, names))}, got {brief(value)}{near(value, names)}"


def near(value: object, known: Iterable[str]) -> str:
    """Return "; did you mean 'NAME'?" for what is nearly one of the names, or a full stop.

    Examples
    --------
    >>> near("Old", ["new", "old"])
    "; did you mean 'old'?"
    >>> near(3, ["new", "old"])
    '.'
    """
    return (guess(value, known, mark="'") if isinstance(value, str) else "") or "."


def in_percent(number: float | Fraction) -> str:
    """Return "; 30% is 0.3" for a share that was probably written in percent, or nothing.

    Examples
    --------
    >>> in_percent(30)
    '; 30% is 0.3'
    >>> in_percent(-1)
    ''
    """
    share = float(number) if 2 <= number <= 100 else None
    return "" if share is None else f"; {share:g}% is {share / 100.0:g}"


def as_range(low: float, high: float) -> str:
    """Return how a range of thresholds is written that was given in percent, reversed, without width or as money.

    Examples
    --------
    >>> as_range(5, 30)
    '; 5 to 30% is (0.05, 0.3)'
    """
    if 0.0 <= low < high <= 100.0:
        return f"; {low:g} to {high:g}% is ({low / 100.0:g}, {high / 100.0:g})"
    if 0.0 <= high < low <= 1.0:
        return "; the smaller one comes first"
    if low == high and 0.0 <= low <= 1.0:
        return "; one threshold alone is no range"
    if min(low, high) > 1.0:
        return "; of what mistakes cost in money costs.from_cost_matrix(tn, fp, fn, tp) makes a threshold"
    return ""


def as_costs_of(given: Any) -> str:
    """Return how cost ratios are made of what they were given as: odds, other text, a matrix or a mapping."""
    if isinstance(given, type):
        return "; call it with its parameters"
    if isinstance(given, str):
        odds = given.strip().replace("/", ":")
        if _ODDS.fullmatch(given):
            return f"; the cost ratio of odds is costs.from_odds({odds!r})"
        return "; pass numbers, not text, such as (0.02, 0.10)"
    if isinstance(given, Mapping) or _is_table(given):
        return "; of a table of costs costs.from_cost_matrix(tn, fp, fn, tp) makes a cost ratio"
    return ""


def as_number(value: object) -> str:
    """Return how numbers are made of text or dates that stand in their place.

    Examples
    --------
    >>> as_number("0,1")
    ': with a decimal comma it is text; as a number it is 0.1'
    """
    if isinstance(value, dt.date | dt.timedelta):
        return ": count time in numbers, such as days since a first day"
    if not isinstance(value, str):
        return ""
    text = ": turn text into numbers first, such as with astype(float)" if re.search("[0-9]", value) else ""
    return as_written(value) or text


def as_written(value: object) -> str:
    """Return how a number is written that stands there with a decimal comma or a percent sign, or nothing.

    Examples
    --------
    >>> as_written("30%")
    ': with its sign it is text; as a number 30% is 0.3'
    """
    if not isinstance(value, str):
        return ""
    if _DECIMAL_COMMA.fullmatch(value):
        return f": with a decimal comma it is text; as a number it is {value.replace(',', '.')}"
    if found := _PERCENT.fullmatch(value.strip()):
        return f": with its sign it is text; as a number {value} is {float(found[1]) / 100.0:g}"
    return ""


def as_column(given: Any, name: str) -> str:
    """Return what stands in the place of a column of scores, and how the column is had from it."""
    if isinstance(given, np.ndarray | np.generic):
        given = given.item()
    if isinstance(given, str):
        return f"{given!r}: columns by their names are for evaluate_frame"
    kind = type(given).__name__
    if isinstance(given, Mapping):
        first = next(iter(given), "name")
        return f"{kind}: this takes one model at a time, such as {name}[{first!r}]"
    if hasattr(given, "predict_proba"):
        return f"{kind}: pass its probabilities, such as predict_proba(X)[:, 1]"
    return f"{kind}: call it, and pass what it returns" if callable(given) else "shape ()"


def as_labels(given: Any, shape: tuple[int, ...]) -> str:
    """Return what stands in the place of a column of labels, and how the column is had from it."""
    if isinstance(given, str):
        return f"{given!r}: columns by their names are for evaluate_frame(frame, label={given!r})"
    return f"shape {shape}" + (": pass one column of labels" if len(shape) == 2 else "")


def as_models(columns: Any, rows: int) -> str:
    """Return how several models are passed where a list of their columns, or one column each, was given."""
    if np.ndim(columns) == 2 and columns.shape[1] == rows:
        return ": several models are passed as a mapping, {'name': probabilities, ...}"
    return ""


def _is_table(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(row, list | tuple) and len(row) == 2 for row in given)
