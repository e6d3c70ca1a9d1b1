"""What every picture shares, without matplotlib: colours, line styles, and ticks of the cost axis in percent and odds.

The palette is that of Okabe and Ito (2008, Color Universal Design), told apart by readers of every colour vision; its
yellow is left out, for it is lost on white paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from stakes.shown.words import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
REFERENCE_COLOUR = "#767676"  # the lightest grey that small text on white may have (contrast 4.5 to 1)
GUIDE_COLOUR = "#C8C8C8"
RANGE_COLOUR = "#EBEBEB"
EMPTY_COLOUR = "#F6F6F6"
LINE_STYLES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D")
BOUNDS_LABEL = "plausible thresholds"
ODDS_LABEL = "cost of a false alarm : of a miss"

_MANTISSAS = ((1,), (2, 5), (3, 4, 7), (1.5, 2.5, 6, 8))
_FINE_MANTISSAS = (np.arange(11, 100) / 10, np.arange(101, 1000) / 100)
_PERCENTS = (
    (50,),
    (1, 10, 90, 99),
    (0.1, 99.9),
    (2, 5, 20, 80, 95, 98),
    (0.2, 0.5, 99.5, 99.8),
    (30, 70),
)
_FINE_PERCENTS = (
    np.arange(5, 100, 5),
    np.arange(1, 100),
    np.arange(5, 1000, 5) / 10,
    np.arange(1, 1000) / 10,
    np.arange(1, 10000) / 100,
)
_FEW_TICKS = 3
_ROUNDING = 1e-12
_LARGEST_ODDS = 6  # as a power of ten


@dataclass(frozen=True)
class Style:
    """How one model looks in every picture."""

    color: str
    line: str
    marker: str


def model_style(index: int) -> Style:
    """Look of the model at this position: seven colours, then the same with another line and marker."""
    turn, place = divmod(index, len(PALETTE))
    return Style(PALETTE[place], LINE_STYLES[turn % len(LINE_STYLES)], MARKERS[turn % len(MARKERS)])


def format_percent(share: float, _position: float | None = None) -> str:
    """Write 0.025 as "2.5%"."""
    return percent(share, 6)


def format_odds(share: float, _position: float | None = None) -> str:
    """Write the cost ratio 1/51 as "1:50": a false positive costs 1 where a false negative costs 50."""
    if not 0.0 < share < 1.0:
        return "0:1" if share <= 0.0 else "1:0"
    odds = (1.0 - share) / share
    return f"1:{_short(odds)}" if odds >= 0.9995 else f"{_short(1.0 / odds)}:1"


def log_odds(share: float) -> float:
    """Map a cost ratio in (0, 1) to the logarithm of its odds."""
    return math.log(share) - math.log1p(-share)


def odds_ticks(low: float, high: float, gap: float, *, logarithmic: bool = False) -> list[float]:
    """Cost ratios with round odds in [low, high], no two closer than ``gap`` times the width of the axis."""
    coarse, fine = ([list(_with_mantissas(group)) for group in kind] for kind in (_MANTISSAS, _FINE_MANTISSAS))
    return _rounded(coarse, fine, low, high, gap, logarithmic=logarithmic)


def percent_ticks(low: float, high: float, gap: float) -> list[float]:
    """Round percentages in [low, high] for an axis in log-odds."""
    coarse, fine = ([[float(p) / 100.0 for p in group] for group in kind] for kind in (_PERCENTS, _FINE_PERCENTS))
    return _rounded(coarse, fine, low, high, gap, logarithmic=True)


def _rounded(
    coarse: list[list[float]], fine: list[list[float]], low: float, high: float, gap: float, *, logarithmic: bool
) -> list[float]:
    """Ticks from the coarse groups; from one fine group after the other only while there are too few."""
    ticks = _spread(coarse, low, high, gap, logarithmic=logarithmic)
    for more in range(1, len(fine) + 1):
        if len(ticks) >= _FEW_TICKS:
            break
        ticks = _spread([*coarse, *fine[:more]], low, high, gap, logarithmic=logarithmic)
    return ticks


def _spread(
    groups: Sequence[Sequence[float]], low: float, high: float, gap: float, *, logarithmic: bool
) -> list[float]:
    """Take the roundest numbers first, each if it keeps its distance from those taken."""
    place: Callable[[float], float] = log_odds if logarithmic else float
    distance = gap * (place(high) - place(low))
    taken: list[float] = []
    for number in chain.from_iterable(groups):
        inside = low - _ROUNDING <= number <= high + _ROUNDING and not (logarithmic and number in {0.0, 1.0})
        if inside and all(abs(place(number) - place(other)) >= distance for other in taken):
            taken.append(number)
    return sorted(taken)


def _with_mantissas(group: Iterable[float]) -> Iterable[float]:
    """Cost ratios whose odds are m * 10^k to 1, and 1 to that, the most even first."""
    for power in range(_LARGEST_ODDS):
        for mantissa in group:
            odds = float(mantissa) * 10.0**power
            yield 1.0 / (1.0 + odds)
            if odds > 1.0:
                yield odds / (1.0 + odds)


def _short(number: float) -> str:
    rounded = float(f"{number:.3g}")
    return f"{rounded:.10g}"
