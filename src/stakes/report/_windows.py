"""What part of the plane a figure shows: the surroundings of the plausible thresholds, and the whole range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stakes.costs import CostDistribution

# a range as wide as this needs no closer look
_WIDE = 0.5


@dataclass(frozen=True)
class Window:
    """A rectangle of the plane.

    Parameters
    ----------
    key : str
        "plausible" or "whole".
    low, high : float
        Of the horizontal axis.
    bottom, top : float
        Of the vertical axis.
    """

    key: str
    low: float
    high: float
    bottom: float
    top: float

    @property
    def height(self) -> float:
        """Of the vertical axis."""
        return self.top - self.bottom

    def holds(self, x: float) -> bool:
        """Whether a place on the horizontal axis is shown."""
        return self.low <= x <= self.high


def stretches(costs: CostDistribution) -> dict[str, tuple[float, float]]:
    """The stretches of the threshold axis to choose from, the first to be shown first.

    Examples
    --------
    >>> from stakes import costs
    >>> stretches(costs.Uniform(0.02, 0.1))
    {'plausible': (0.0, 0.14), 'whole': (0.0, 1.0)}
    """
    low, high = costs.low, costs.high
    whole = {"whole": (0.0, 1.0)}
    if high - low >= _WIDE:
        return whole
    margin = 0.5 * (high - low) or 0.5 * min(low, 1.0 - low) or 0.05
    return {"plausible": (max(0.0, low - margin), min(1.0, high + margin)), **whole}
