"""Numbers read as they are written, and bounds on ratios of counts that keep their meaning."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

_EXPONENT = re.compile(r"e[+-]?([\d_]+)\s*$", re.IGNORECASE)
_LARGEST_EXPONENT = 400  # beyond any float; a larger one would only fill the memory with zeros
_LARGEST = 10**300


def as_fraction(value: Any, name: str) -> Fraction:
    """Read a number as it is written: 0.9 is 9/10, not the nearest binary number."""
    number = value if isinstance(value, Fraction) else _parsed(value, name)
    if abs(number) > _LARGEST:
        raise ValueError(f"{name} must be at most 1e300 in size, got a larger number.")
    return number


def refuse_one(value: Any, name: str, every: str) -> None:
    """Raise where a budget is 1 but not written as a whole number: one row, or the share of all rows.

    ``every`` says what to do where all rows are meant.
    """
    whole = isinstance(value, (int, np.integer)) or (isinstance(value, str) and value.strip().isdecimal())
    if not whole and as_fraction(value, name) == 1:
        raise ValueError(
            f"{name}={value} can mean one row, or a share of 1, which is all rows: "
            f"pass the whole number 1 for one row; for all rows {every}."
        )


def _parsed(value: Any, name: str) -> Fraction:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return Fraction(int(value))
    text = value if isinstance(value, str) else ""
    if not isinstance(value, str):
        if not isinstance(value, (float, np.floating, Decimal)) or not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number or a fraction, got {value!r}.")
        text = repr(float(value))
    exponent = _EXPONENT.search(text)
    digits = "" if exponent is None else exponent[1].replace("_", "").lstrip("0")
    if len(digits) > 3 or int(digits or 0) > _LARGEST_EXPONENT:
        raise ValueError(f"{name} must have an exponent of at most {_LARGEST_EXPONENT}, got {text[:60]!r}.")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name} must be a finite number or a fraction, got {text[:60]!r}.") from None


def rows_within(share: float, total: float) -> float:
    """Largest number of rows, or weight, that is at most a share of all, the share read as it is written.

    Examples
    --------
    >>> from stakes.core.exact import rows_within
    >>> rows_within(0.29, 100.0), 0.29 * 100.0
    (29.0, 28.999999999999996)
    """
    exact = as_fraction(share, "share") * Fraction(total)
    found = float(exact)
    return found if Fraction(found) <= exact else math.nextafter(found, -math.inf)


def next_fraction(value: Fraction, largest: int) -> Fraction:
    """Smallest fraction >= value whose denominator is at most ``largest``.

    No ratio of counts up to ``largest`` lies between the two, so that a precision bound may be replaced by it. The
    neighbours in the Farey sequence are the last convergent of the continued fraction and the semiconvergent after it.
    """
    if value.denominator <= largest:
        return value
    p0, q0, p1, q1 = 0, 1, 1, 0
    n, d = value.numerator, value.denominator
    while True:
        a = n // d
        if q0 + a * q1 > largest:
            break
        p0, q0, p1, q1 = p1, q1, p0 + a * p1, q0 + a * q1
        n, d = d, n - a * d
    k = (largest - q0) // q1
    return max(Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1))
