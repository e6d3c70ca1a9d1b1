"""The one list of curves, which the common tests and the documentation read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from stakes.curves._curve import Curve
from stakes.curves._decision import (
    brier_curve,
    cost_curve,
    interventions_avoided_curve,
    net_benefit_curve,
    regret_curve,
)
from stakes.curves._ranking import lift_curve, precision_recall_curve, roc_curve
from stakes.curves._reliability import reliability_curve, smooth_calibration_curve

Better = Literal["higher", "lower", "diagonal"]


@dataclass(frozen=True)
class CurveEntry:
    """What is known of one curve.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_prob)`` returns a :class:`Curve`; weights are respected.
    summary : str
        The question that it answers, in one line.
    x, y : str
        What the axes are.
    better : {"higher", "lower", "diagonal"}
        Where a good curve lies.
    low, high : float
        The range of its values.
    area : str
        What its integral is.
    response : {"probability", "score"}
        Whether it needs probabilities, or any score that ranks.

    Examples
    --------
    >>> from stakes.curves import CURVES
    >>> CURVES["regret_curve"].better
    'lower'
    """

    function: Callable[..., Any]
    summary: str
    x: str
    y: str
    better: Better
    low: float
    high: float
    area: str
    response: Literal["probability", "score"] = "probability"

    @property
    def name(self) -> str:
        """The function's name."""
        return str(self.function.__name__)


# what each curve shows, and its axes: x, y, better, low, high, area, response
_CURVES: dict[Callable[..., Curve], tuple[str, tuple[Any, ...]]] = {
    regret_curve: (
        "cost per decision at every cost ratio",
        ("threshold", "regret", "lower", 0.0, 1.0, "half the bounded Brier loss"),
    ),
    net_benefit_curve: (
        "net benefit at every threshold",
        ("threshold", "net benefit", "higher", -math.inf, 1.0, "average net benefit times the width"),
    ),
    interventions_avoided_curve: (
        "interventions avoided at every threshold",
        ("threshold", "net interventions avoided per 100", "higher", -math.inf, 100.0, ""),
    ),
    brier_curve: (
        "regret on an axis whose areas are scores",
        ("threshold", "regret", "lower", 0.0, math.inf, "expected regret under the axis's costs"),
    ),
    cost_curve: (
        "normalised expected cost against the probability-cost",
        (
            "probability-cost PC(+)",
            "normalised expected cost",
            "lower",
            0.0,
            1.0,
            "expected cost, uniform in PC(+)",
            "score",
        ),
    ),
    roc_curve: (
        "true against false positive rate",
        ("false positive rate", "true positive rate", "higher", 0.0, 1.0, "AUC, or its part", "score"),
    ),
    precision_recall_curve: (
        "precision against recall",
        ("recall", "precision", "higher", 0.0, 1.0, "area by exact interpolation", "score"),
    ),
    lift_curve: (
        "precision over prevalence against the share selected",
        ("share selected", "lift", "higher", 0.0, math.inf, "", "score"),
    ),
    reliability_curve: (
        "event rate against the score, by isotonic regression",
        ("score", "event rate", "diagonal", 0.0, 1.0, ""),
    ),
    smooth_calibration_curve: (
        "event rate against the score, by local linear regression",
        ("score", "event rate", "diagonal", 0.0, 1.0, ""),
    ),
}
CURVES = {entry.name: entry for entry in (CurveEntry(f, summary, *axes) for f, (summary, axes) in _CURVES.items())}
