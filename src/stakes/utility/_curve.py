"""A curve of a measure with its best place marked, so that a picture can show the choice and its rivals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stakes.curves import Curve


@dataclass(frozen=True, eq=False, repr=False)
class UtilityCurve(Curve):
    """Value of a measure over the number of rows acted on, or over the threshold, with the best choice.

    Parameters
    ----------
    measure : str
        Name of the measure.
    best : float
        Where the curve is best: a number of rows, or a threshold (infinite where acting on no row is best).
    best_value : float
        The value there.
    ties : tuple of int
        Numbers of rows that cannot be told from the best one, that one included; empty over thresholds.
    runner_up : int or None
        Best number of rows outside ``ties``.
    gap : float
        By how much the runner-up is worse.
    threshold : float
        Probability of the last row acted on, or the best threshold itself.
    descending : bool
        Whether the rows that are acted on are those from the threshold up.

    Examples
    --------
    >>> from stakes.utility import F1, expected_utility
    >>> curve = expected_utility([0.9, 0.2, 0.6, 0.1], F1()).as_curve()
    >>> curve.kind, curve.best, round(curve.best_value, 4), curve.threshold
    ('expected utility', 2, 0.7679, 0.6)
    """

    measure: str = ""
    best: float = math.nan
    best_value: float = math.nan
    ties: tuple[int, ...] = ()
    runner_up: int | None = None
    gap: float = math.nan
    threshold: float = math.nan
    descending: bool = True
