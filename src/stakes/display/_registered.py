"""Which display draws which kind of result: ``.plot()`` of every result arrives here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.actions import ActionEvaluation
from stakes.boundary import Boundary
from stakes.correction import LossCalibrationCurve
from stakes.costs import CostDistribution
from stakes.curves import BinnedReliability, Curve
from stakes.display._actions import ActionCostsDisplay
from stakes.display._band import BandDisplay
from stakes.display._bins import BinnedReliabilityDisplay
from stakes.display._boundary import BoundaryDisplay
from stakes.display._information import ValueOfInformationDisplay
from stakes.display._plot import plot_costs, plot_curve, plot_evaluation
from stakes.display._training import MonitorDisplay
from stakes.evaluation import Evaluation
from stakes.inference import Band
from stakes.information import ValueOfInformation
from stakes.shown.faces import draw
from stakes.training import MonitorComparison

if TYPE_CHECKING:
    from collections.abc import Callable


def _drawn_by(display: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda result, ax=None, **options: display(result).plot(ax, **options)


draw.register(Curve, plot_curve)
draw.register(LossCalibrationCurve, plot_curve)
draw.register(CostDistribution, plot_costs)
draw.register(Evaluation, plot_evaluation)
draw.register(Band, _drawn_by(BandDisplay))
draw.register(BinnedReliability, _drawn_by(BinnedReliabilityDisplay))
draw.register(ActionEvaluation, _drawn_by(ActionCostsDisplay))
draw.register(Boundary, _drawn_by(BoundaryDisplay))
draw.register(ValueOfInformation, _drawn_by(ValueOfInformationDisplay))


@draw.register(MonitorComparison)
def _monitors(comparison: MonitorComparison, figure: Any = None, *, run: Any = None) -> MonitorDisplay:
    return MonitorDisplay(comparison, run=run).plot(figure)
