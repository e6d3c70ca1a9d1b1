"""Two readings of the decision curve: net benefit as a share of its maximum, and net interventions avoided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.curves import Curve, InterventionsCurve, interventions_avoided_curve, net_benefit_curve
from stakes.display._threshold import DecisionCurveDisplay, ThresholdCurvesDisplay

if TYPE_CHECKING:
    from stakes.display._axes import Floats, Range

_HARM_SHOWN = 0.3  # of the height above zero


class StandardizedDecisionCurveDisplay(DecisionCurveDisplay):
    """Net benefit over the threshold as a share of its maximum, the prevalence; 100% is perfect.

    Parameters
    ----------
    curves : Curve, sequence of Curve, or mapping of str to Curve
        ``net_benefit_curve(..., standardized=True)``.

    Examples
    --------
    >>> from stakes import net_benefit_curve
    >>> curve = net_benefit_curve([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], standardized=True)
    >>> curve.plot().ax_.get_ylabel()
    'Standardized net benefit'
    """

    kind = "standardized net benefit"
    y_label = "Standardized net benefit"

    @staticmethod
    def _curve(*data: Any, **options: Any) -> Curve:
        return net_benefit_curve(*data, standardized=True, **options)

    def _y_limits(self, heights: Floats, thresholds: Floats) -> Range:
        if np.isnan(heights).any():  # without positives there is no unit
            return -0.05, 1.05
        return super()._y_limits(heights, thresholds)


class InterventionsAvoidedDisplay(ThresholdCurvesDisplay):
    r"""Unnecessary interventions avoided against treating everyone, net of positives missed; higher is better.

    Parameters
    ----------
    curves : InterventionsCurve, sequence of InterventionsCurve, or mapping of str to InterventionsCurve
        Counted per the same number of cases.

    Examples
    --------
    >>> from stakes.curves import interventions_avoided_curve
    >>> interventions_avoided_curve([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], per=1000).plot().ax_.get_ylabel()
    'Net interventions\navoided per 1,000'
    """

    kind = "interventions avoided"
    _curve = staticmethod(interventions_avoided_curve)

    def __init__(self, curves: Any) -> None:
        super().__init__(curves)
        per = {curve.per for curve in self.curves if isinstance(curve, InterventionsCurve)}
        if len(per) != 1:
            raise ValueError(f"curves must count per the same number of cases, got {sorted(per)}.")
        self.y_label = f"Net interventions\navoided per {per.pop():,.6g}"  # type: ignore[misc]

    def _y_limits(self, heights: Floats, thresholds: Floats) -> Range:
        inner = thresholds[(thresholds > 0.0) & (thresholds < 1.0)]
        best_constant = float(self._best_constant(inner, lower=False).max())
        finite = heights[np.isfinite(heights)]
        bottom, top = finite.min(initial=0.0), max(finite.max(initial=0.0), best_constant)
        unit = float(top) or -float(bottom) or 1.0
        lowest = max(float(bottom), -_HARM_SHOWN * unit) if top > 0.0 else float(bottom)
        return lowest - 0.05 * unit, float(top) + 0.08 * unit
