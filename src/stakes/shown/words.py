"""Numbers and lists as sentences and tables write them; faces that set a typographic minus pass it as ``minus``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MINUS = "\N{MINUS SIGN}"
MISSING = "-"
_PLAIN = (1e-4, 1e3)  # sizes that are written with three significant digits
_MOST_DECIMALS = 12


def number(value: float) -> str:
    """Write a number with three significant digits.

    Examples
    --------
    >>> number(0.01234), number(12345.6), number(float("inf"))
    ('0.0123', '12,346', 'infinite')
    """
    if math.isinf(value):
        return "infinite"
    if value == 0.0 or not _PLAIN[0] <= abs(value) < _PLAIN[1]:
        return f"{value:,.0f}" if abs(value) >= _PLAIN[1] else f"{value:.3g}"
    return f"{value:#.3g}".rstrip(".")


def fixed(value: float, decimals: int, *, sign: bool = False, minus: str = "-", missing: str = MISSING) -> str:
    """Write a number with a fixed count of decimals, never as minus zero.

    Examples
    --------
    >>> fixed(0.01234, 4), fixed(-1e-9, 4), fixed(1234.5, 1, sign=True), fixed(float("nan"), 2)
    ('0.0123', '0.0000', '+1,234.5', '-')
    """
    if math.isnan(value):
        return missing
    text = "inf" if math.isinf(value) else f"{abs(value):,.{decimals}f}"
    if not text.strip("0."):
        return text
    return (minus if value < 0.0 else "+" if sign else "") + text


def percent(share: float, digits: int = 3) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.0163), percent(0.25), percent(1e-8), percent(float("nan"))
    ('1.63%', '25%', '0.000001%', '-')
    """
    if not math.isfinite(share):
        return fixed(share, 0)
    import numpy as np

    return np.format_float_positional(float(f"{100.0 * share:.{digits}g}"), trim="-") + "%"


def p_value(value: float) -> str:
    """Write a p-value with its sign of equality.

    Examples
    --------
    >>> p_value(0.0001), p_value(0.0321)
    ('< 0.001', '= 0.032')
    """
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"


def odds(threshold: float) -> str:
    """Write a threshold as odds of a false alarm to a miss.

    Examples
    --------
    >>> odds(1 / 51), odds(0.4), odds(0.8)
    ('1:50', '1:1.5', '4:1')
    """
    if threshold in {0.0, 1.0}:
        return "0:1" if threshold == 0.0 else "1:0"
    ratio = (1.0 - threshold) / threshold
    return f"1:{times(ratio)}" if ratio >= 1.0 else f"{times(1.0 / ratio)}:1"


def times(ratio: float) -> str:
    """Write how many times: whole from ten on, three digits from a thousand on.

    Examples
    --------
    >>> times(2.333), times(60.3), times(123456)
    ('2.3', '60', '123,000')
    """
    return f"{float(f'{round(ratio):.3g}'):,.0f}" if ratio >= 10.0 else f"{ratio:.2g}"


def count(value: float) -> str:
    """Write a count with its thousands marked.

    Examples
    --------
    >>> count(10732), count(1234.56)
    ('10,732', '1,234.6')
    """
    return f"{value:,.1f}".removesuffix(".0")


def decimals_needed(value: float, digits: int) -> int:
    """Count the decimals that show so many significant digits of a number; 0 if it is zero or not finite.

    Examples
    --------
    >>> decimals_needed(0.0123, 2), decimals_needed(123.0, 2)
    (3, 0)
    """
    if not math.isfinite(value) or value == 0.0:
        return 0
    return min(max(digits - 1 - math.floor(math.log10(abs(value))), 0), _MOST_DECIMALS)


def decimals_for(errors: Iterable[float], values: Iterable[float] = ()) -> int:
    """Decimals that show the smallest standard error with two digits, or else the smallest value with three.

    Examples
    --------
    >>> decimals_for([0.0123, 0.5]), decimals_for([], [0.00123])
    (3, 5)
    """
    for numbers, digits in ((errors, 2), (values, 3)):
        sizes = [abs(each) for each in numbers if math.isfinite(each) and each != 0.0]
        if sizes:
            return decimals_needed(min(sizes), digits)
    return 3


def join(names: Sequence[str]) -> str:
    """List names, with "and" before the last.

    Examples
    --------
    >>> join(["a"]), join(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
