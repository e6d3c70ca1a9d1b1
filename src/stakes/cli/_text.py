"""Text from strangers made harmless for a terminal, and numbers made readable."""

from __future__ import annotations

import math
import unicodedata

LONGEST_NAME = 40
MISSING = "-"
# Controls, formats (bidirectional overrides, zero-width signs), surrogates, private use and unassigned code points,
# line and paragraph separators.
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str) -> str:
    r"""Write every character that moves the cursor, hides or reorders text as an escape such as ``\x1b``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if unicodedata.category(char) in _INVISIBLE else char for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def shorten(text: str, longest: int = LONGEST_NAME) -> str:
    """Keep the beginning and the end of a text that is too long to read."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def name(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a column, model or file name as it may be printed."""
    return shorten(visible(text), longest)


def percent(share: float) -> str:
    """Write a share as a percentage with three significant digits."""
    return f"{100.0 * share:.3g}%"


def fixed(value: float, decimals: int) -> str:
    """Write a number with so many decimals; never minus zero."""
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "inf" if value > 0.0 else "-inf"
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def with_margin(value: float, interval: tuple[float, float], decimals: int, sign: str = " ±") -> str:
    """Write a number with half the width of its interval, where it has one."""
    half = (interval[1] - interval[0]) / 2.0
    text = fixed(value, decimals)
    return text if not math.isfinite(half) else f"{text}{sign}{fixed(half, decimals)}"


def decimals_needed(value: float, digits: int) -> int:
    """Count the decimals that show so many significant digits of a number; 0 if it is zero or not finite."""
    if not math.isfinite(value) or value == 0.0:
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))
