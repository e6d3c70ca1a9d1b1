"""Evidence that a mean cost exceeds a budget, valid at every look, and limits of the mean that hold at all looks.

Rows cost between 0 and ``largest``, and a day is known by its number of rows, their total cost and its squares. While
the expected cost keeps within the budget, a factor for each bet is not expected to grow, whatever happened before. The
capital of all bets, spread over every day on which a rise may have begun, exceeds 1 / alpha ever with probability alpha
at most (Ville 1939); the factor of independent rows is that of Fan, Grama and Liu (2015, Lemma 4.1).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BETS = np.array([0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])  # share of the budget at stake
_PSI = -np.log1p(-BETS) - BETS


def day_factors(mean: Floats | float, budget: float) -> Floats:
    """Log factor of each bet for a day's mean cost: valid whatever the rows of a day have in common."""
    return np.log1p(BETS / budget * (np.asarray(mean)[..., None] - budget))


def row_factors(rows: Floats | float, total: Floats | float, squares: Floats | float, budget: Floats | float) -> Floats:
    """Log factor of each bet for the sums of a day whose rows have nothing in common, a lower bound of the exact."""
    excess = np.asarray(total - budget * rows)[..., None]
    spread = np.asarray(squares - 2.0 * budget * total + rows * budget * budget)[..., None]
    return np.asarray(BETS / budget * excess - _PSI / budget**2 * spread)


def exact_factors(costs: Floats, budget: float) -> Floats:
    """Log factor of each bet for the costs of a day's rows that have nothing in common."""
    return np.array([np.log1p(bet / budget * (costs - budget)).sum() for bet in BETS])


def start_weight(day: int) -> float:
    """Stake on a rise that begins on a day, from 1: one half on the first; all days together make 1."""
    return 0.5 if day == 1 else 0.5 / (day * (day - 1.0))


def advance(log_capital: Floats, factors: Floats, day: int) -> Floats:
    """Add the stake of a day to the capital of each bet (last axis), and multiply by the day's factors."""
    return np.logaddexp(log_capital, math.log(start_weight(day))) + factors


def log_evidence(log_capital: Floats, day: int) -> Floats:
    """Log of the mean capital of all bets after a day, with what is not yet staked."""
    return np.logaddexp(_log_mean(log_capital), math.log(0.5 / day))


def by_start(factors: Floats) -> Floats:
    """Log evidence of a rise that began on each of some days (first axis), at the last of them."""
    return _log_mean(np.cumsum(factors[::-1], axis=0)[::-1])


def limits(
    rows: Floats, total: Floats, squares: Floats, *, centre: float, largest: float, alpha: float
) -> tuple[Floats, Floats]:
    """Lower and upper limits of the mean at each look, from the sums up to it; all hold at once at 1 - alpha.

    ``centre`` is any number in (0, largest) that was fixed beforehand: the nearer to the mean, the narrower they are.
    """
    low = _lower(rows, total, squares, centre, alpha)
    others = rows * largest - total, rows * largest**2 - 2.0 * largest * total + squares
    high = largest - _lower(rows, *others, largest - centre, alpha)
    return np.maximum(low, 0.0), np.minimum(high, largest)


def _lower(rows: Floats, total: Floats, squares: Floats, centre: float, alpha: float) -> Floats:
    spread = squares - 2.0 * centre * total + rows * centre * centre
    bet = BETS / centre
    price = _PSI / (bet * centre**2) * spread[..., None] + math.log(2 * len(BETS) / alpha) / bet
    return ((total[..., None] - price) / rows[..., None]).max(axis=-1)


def _log_mean(logs: Floats) -> Floats:
    return np.logaddexp.reduce(logs, axis=-1) - math.log(logs.shape[-1])
