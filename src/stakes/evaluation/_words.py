"""Numbers and lists as sentences write them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN = (1e-4, 1e3)  # sizes that are written with three significant digits


def number(value: float) -> str:
    """Write a number with three significant digits."""
    if math.isinf(value):
        return "infinite"
    if value == 0.0 or not _PLAIN[0] <= abs(value) < _PLAIN[1]:
        return f"{value:,.0f}" if abs(value) >= _PLAIN[1] else f"{value:.3g}"
    return f"{value:#.3g}".rstrip(".")


def p_value(value: float) -> str:
    """Write a p-value with its sign of equality."""
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{100.0 * share:.3g}%"


def join(names: Sequence[str]) -> str:
    """List names, with "and" before the last."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def slots(count: int) -> str:
    """List the places of so many names in a template."""
    return join([f"{{{i}}}" for i in range(count)])
