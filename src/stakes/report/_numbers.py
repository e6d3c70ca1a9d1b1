"""Numbers as the report writes them: with a minus sign, infinite and undefined ones named."""

from __future__ import annotations

import math

from stakes.shown import words


def fixed(value: float, decimals: int, *, sign: bool = False) -> str:
    """Write a number with a fixed count of decimals.

    Examples
    --------
    >>> fixed(0.01234, 4), fixed(float("inf"), 4), fixed(float("nan"), 4)
    ('0.0123', '∞', 'undefined')
    """
    return words.fixed(value, decimals, sign=sign, minus=words.MINUS, missing="undefined").replace("inf", "∞")


def percent(share: float, digits: int = 3) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.0163), percent(1e-8), percent(float("nan"))
    ('1.63%', '0.000001%', 'undefined')
    """
    return words.percent(share, digits).replace("-", words.MINUS) if math.isfinite(share) else fixed(share, 0)


def skill_percent(skill: float) -> str:
    """Write a skill as a percentage with one decimal; infinite and undefined ones are named.

    Examples
    --------
    >>> skill_percent(0.0827), skill_percent(float("nan"))
    ('8.3%', 'undefined')
    """
    return fixed(100.0 * skill, 1) + "%" * math.isfinite(skill)


def interval(ends: tuple[float, float], decimals: int, *, sign: bool = False) -> str:
    """Write an interval, or say that there is none.

    Examples
    --------
    >>> interval((0.1, 0.25), 2)
    '0.10 to 0.25'
    """
    if math.isnan(ends[0]) or math.isnan(ends[1]):
        return "no interval"
    return f"{fixed(ends[0], decimals, sign=sign)} to {fixed(ends[1], decimals, sign=sign)}"


def at_most(bound: float) -> str:
    """Write a bound with two digits, rounded up.

    Examples
    --------
    >>> at_most(0.000961), at_most(1.23e-5)
    ('0.00097', '0.000013')
    """
    if bound <= 0.0:
        return "0"
    decimals = 1 - math.floor(math.log10(bound))
    return f"{math.ceil(bound * 10.0**decimals) / 10.0**decimals:.{max(decimals, 0)}f}"
