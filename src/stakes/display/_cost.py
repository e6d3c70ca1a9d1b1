"""Cost curves: normalised expected cost over the weight of the positive class, and Brier curves on stretched axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from stakes.core.validation import check_choice
from stakes.curves import BrierCurve, CostCurve, Curve, brier_curve, cost_curve
from stakes.display._axes import check_bounds, shade_bounds
from stakes.display._base import CurvesDisplay
from stakes.display._cost_axes import draw_brier_axis, draw_probability_cost_axis
from stakes.display._models import several

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.display._axes import Floats, Legend, Range

CostAxis = Literal["probability cost", "linear", "log-odds", "quadratic", "log"]

AXES = ("probability cost", "linear", "log-odds", "quadratic", "log")
_Y_LABELS = {
    "normalized expected cost": "Normalized expected cost",
    "regret": "Regret per decision",
    "net benefit lost": "Net benefit lost",
}
_HEADROOM = 1.08


class CostCurveDisplay(CurvesDisplay):
    """Expected cost of the decisions over the cost ratio, beside treating everyone and no one; lower is better.

    Cost curves are drawn over the probability cost PC(+), with the cost ratios as odds above; Brier curves over the
    threshold, on the axis that makes their areas the scores.

    Parameters
    ----------
    curves : CostCurve or BrierCurve, sequence of them, or mapping of str to them
        Curves of one kind and one axis.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One for each model.
    reference_lines_ : list of matplotlib lines
        Treating everyone and no one.
    bounds_ : matplotlib patch or None
        The shaded range.

    Examples
    --------
    >>> from stakes.display import CostCurveDisplay
    >>> display = CostCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.2], bounds=(0.2, 0.5))
    >>> display.ax_.get_xlabel()
    'Probability cost PC(+)'
    """

    def __init__(self, curves: Curve | Sequence[Curve] | Mapping[str, Curve]) -> None:
        first = _first(curves)
        if not isinstance(first, CostCurve | BrierCurve):
            raise ValueError(f"curves must be cost curves or Brier curves, got {first!r}.")
        self.kind = first.kind  # type: ignore[misc]
        super().__init__(curves)
        axes = {getattr(curve, "axis", "probability cost") for curve in self.curves}
        if len(axes) > 1:
            raise ValueError(f"curves must share one axis, got {sorted(axes)}.")
        self.axis = axes.pop()

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        axis: CostAxis = "probability cost",
        bounds: Range | None = None,
        rule: Rule | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        logits: bool = False,
        references: bool = True,
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw from labels and predicted probabilities.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Probabilities of the positive class: one model, or several by name (the columns of a data frame).
        axis : {"probability cost", "linear", "log-odds", "quadratic", "log"}, default "probability cost"
            Drummond and Holte's cost curve, or a Brier curve on one of the axes of :func:`brier_curve`.
        bounds : tuple of float, optional
            The plausible thresholds (low, high), which are shaded.
        rule : {"score", "optimal"} or float, optional
            How scores become decisions; by default "optimal" (in-sample) for cost curves, "score" for Brier curves.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        logits : bool, default False
            Whether the scores are log-odds.
        references, legend, ax
            As in :meth:`plot`.

        Returns
        -------
        CostCurveDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import CostCurveDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> CostCurveDisplay.from_predictions([0, 1, 0, 1], models, axis="quadratic").ax_.get_ylabel()
        'Net benefit lost'
        """
        check_choice(axis, "axis", AXES)
        options = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence, "logits": logits}
        display = cls._of(y_true, y_prob, axis=axis, rule=rule, **options)
        return display.plot(ax, bounds=bounds, references=references, legend=legend)

    @staticmethod
    def _curve(*data: Any, axis: Any, rule: Rule | None, **options: Any) -> Curve:
        if rule is not None:
            options["rule"] = rule
        return cost_curve(*data, **options) if axis == AXES[0] else brier_curve(*data, axis=axis, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bounds: Range | None = None,
        references: bool = True,
        legend: Legend = "auto",
    ) -> Self:
        """Draw the curves, each jump where it is.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        bounds : tuple of float, optional
            The plausible thresholds (low, high), which are shaded.
        references : bool, default True
            Whether to draw treating everyone and no one.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        CostCurveDisplay
            This object, with ``ax_``, ``figure_``, ``lines_``, ``reference_lines_`` and ``bounds_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.curves import brier_curve
        >>> display = brier_curve([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.2], axis="log-odds").plot(bounds=(0.2, 0.5))
        >>> display.ax_.get_ylabel()
        'Regret per decision'
        """
        bounds = check_bounds(bounds)
        with self._picture(ax, legend):
            shown = self._draw_axis()
            self.bounds_ = shade_bounds(self.ax_, self._places(bounds))
            heights = self._draw_curves(shown, references=references)
            self.ax_.set_ylim(0.0, self._top(heights, shown))
            self.ax_.set_ylabel(_Y_LABELS[self.kind])
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        return self

    def _draw_axis(self) -> Range:
        if self.axis != "probability cost":
            return draw_brier_axis(self.ax_, self.curves, self.axis)
        rates = {curve.table.prevalence for curve in self.curves if isinstance(curve, CostCurve)}
        return draw_probability_cost_axis(self.ax_, rates.pop() if len(rates) == 1 else None)

    def _places(self, bounds: Range | None) -> Range | None:
        """Where the plausible thresholds lie on the axis."""
        first = self.curves[0]
        if bounds is None or not isinstance(first, CostCurve):
            return bounds
        high, low = first.probability_cost(bounds).tolist()
        return (low, high) if low <= high else None  # nowhere with one class only

    def _top(self, heights: Floats, shown: Range) -> float:
        """Above the models and the better constant decision, but not far above the worse one."""
        grid = np.linspace(*shown, 201)[:-1]
        constants = [reference.at(grid) for reference in self.curves[0].references.values()]
        best = np.nanmax(np.min(constants, axis=0)) if constants else 0.0
        worst = max((np.nanmax(constant[grid <= 0.9]) for constant in constants), default=np.inf)
        highest = float(np.max(heights, initial=0.0, where=np.isfinite(heights)))
        return _HEADROOM * max(min(highest, 1.5 * float(worst)), float(best)) or 1.0


def _first(curves: Any) -> Any:
    return several(curves, "curves", Curve, "curve")[0]
