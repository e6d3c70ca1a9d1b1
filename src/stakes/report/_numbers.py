"""Numbers as the report writes them: one precision for a column, infinite and undefined ones named."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stakes.evaluation import Evaluation

_MINUS = "\N{MINUS SIGN}"
_MOST_DECIMALS = 12


def decimals_for(errors: Iterable[float], values: Iterable[float] = ()) -> int:
    """Decimals that show the smallest standard error with two digits, or else the smallest value with three.

    Examples
    --------
    >>> decimals_for([0.0123, 0.5]), decimals_for([], [0.00123])
    (3, 5)
    """
    for numbers, digits in ((errors, 2), (values, 3)):
        sizes = [abs(number) for number in numbers if math.isfinite(number) and number != 0.0]
        if sizes:
            return min(max(digits - 1 - math.floor(math.log10(min(sizes))), 0), _MOST_DECIMALS)
    return 3


def fixed(value: float, decimals: int, *, sign: bool = False) -> str:
    """Write a number with a fixed count of decimals; infinite and undefined ones are named.

    Examples
    --------
    >>> fixed(0.01234, 4), fixed(float("inf"), 4), fixed(float("nan"), 4)
    ('0.0123', '∞', 'undefined')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0.0 else f"{_MINUS}∞"
    text = f"{abs(value):,.{decimals}f}"
    if not text.strip("0."):
        return text
    return (_MINUS if value < 0.0 else "+" if sign else "") + text


def percent(share: float, digits: int = 3) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.0163), percent(0.25), percent(1e-8)
    ('1.63%', '25%', '0.000001%')
    """
    if not math.isfinite(share):
        return fixed(share, 0)
    text = np.format_float_positional(float(f"{100.0 * share:.{digits}g}"), trim="-")
    return f"{text}%".replace("-", _MINUS)


def skill_percent(skill: float) -> str:
    """Write a skill as a percentage with one decimal; infinite and undefined ones are named.

    Examples
    --------
    >>> skill_percent(0.0827), skill_percent(float("nan"))
    ('8.3%', 'undefined')
    """
    return fixed(100.0 * skill, 1) + "%" * math.isfinite(skill)


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


def p_value(value: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_value(0.0001), p_value(0.0321)
    ('< 0.001', '0.032')
    """
    if math.isnan(value):
        return "undefined"
    return "< 0.001" if value < 0.001 else f"{value:.2g}"


def count(number: float) -> str:
    """Write a count with its thousands marked.

    Examples
    --------
    >>> count(10732), count(1234.56)
    ('10,732', '1,234.6')
    """
    return f"{number:,.1f}".removesuffix(".0")


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


def decisions(evaluation: Evaluation) -> str:
    """What regret is counted per."""
    return "decision" if evaluation.per == 1.0 else f"{evaluation.per:,g} decisions"


def unit_words(evaluation: Evaluation) -> str:
    """In which unit regret is."""
    return f"per {decisions(evaluation)}" + ("" if evaluation.unit_cost == 1.0 else " in units of cost")


def regret_words(evaluation: Evaluation) -> str:
    """What mean regret is called, with its unit where it is not plain."""
    plain = evaluation.per == evaluation.unit_cost == 1.0
    return "mean regret" if plain else f"mean regret {unit_words(evaluation)}"
