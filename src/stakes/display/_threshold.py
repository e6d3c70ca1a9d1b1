"""Curves over the decision threshold: regret, and net benefit (the decision curve)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.curves import net_benefit_curve, regret_curve
from stakes.display._axes import check_bounds, draw_cost_axis, name_amounts, shade_bounds, shown_thresholds
from stakes.display._base import CurvesDisplay
from stakes.display._lines import MODEL, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.display._axes import Floats, Legend, Range, XScale

_HEADROOM = 1.08
_HARM_SHOWN = 0.3  # of the height above zero


class ThresholdCurvesDisplay(CurvesDisplay):
    """What the displays over the decision threshold share."""

    x_label = "Threshold"

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        bounds: Range | None = None,
        rule: Rule = "score",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        logits: bool = False,
        x_scale: XScale = "linear",
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
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        rule : {"score", "optimal"} or float, default "score"
            How scores become decisions; see :func:`expected_regret`.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        logits : bool, default False
            Whether the scores are log-odds.
        x_scale, references, legend, ax
            As in :meth:`plot`.

        Returns
        -------
        display

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import DecisionCurveDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> display = DecisionCurveDisplay.from_predictions([0, 1, 0, 1], models, bounds=(0.2, 0.5))
        >>> [line.get_label() for line in display.lines_]
        ['a', 'b']
        """
        options = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence, "logits": logits}
        display = cls._of(y_true, y_prob, rule=rule, **options)
        return display.plot(ax, bounds=bounds, x_scale=x_scale, references=references, legend=legend)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bounds: Range | None = None,
        x_scale: XScale = "linear",
        references: bool = True,
        legend: Legend = "auto",
    ) -> Self:
        """Draw the curves, each jump where it is.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        x_scale : {"linear", "log-odds"}, default "linear"
            Scale of the threshold axis.
        references : bool, default True
            Whether to draw treating everyone and no one.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        display
            This object, with ``ax_``, ``figure_``, ``lines_``, ``reference_lines_`` and ``bounds_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import regret_curve
        >>> from stakes.display import RegretCurveDisplay
        >>> display = RegretCurveDisplay(regret_curve([0, 1], [0.3, 0.6])).plot(bounds=(0.2, 0.4))
        >>> display.ax_.get_ylabel()
        'Regret per decision'
        """
        bounds = check_bounds(bounds)
        with self._picture(ax, legend):
            shown = self._shown(bounds, x_scale)
            draw_cost_axis(self.ax_, shown, x_scale)
            self.bounds_ = shade_bounds(self.ax_, bounds)
            heights = self._draw_curves(shown, references=references)
            self.ax_.set_ylim(self._y_limits(heights, np.linspace(*shown, 201)))
            self.ax_.set(xlabel=self.x_label, ylabel=self.y_label)
            name_amounts(self.ax_, self.curves)
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        return self

    def _shown(self, bounds: Range | None, x_scale: XScale) -> Range:
        if bounds is None and drawn(self.ax_, MODEL):  # beside what an earlier display drew
            return self.ax_.get_xlim()
        inner = np.concatenate([curve.knots[(curve.knots > 0.0) & (curve.knots < 1.0)] for curve in self.curves])
        return shown_thresholds(inner, bounds, x_scale)

    def _y_limits(self, heights: Floats, thresholds: Floats) -> Range:
        raise NotImplementedError


class RegretCurveDisplay(ThresholdCurvesDisplay):
    """Regret per decision over the threshold: what acting on a model costs beyond a perfect oracle; lower is better.

    Parameters
    ----------
    curves : Curve, sequence of Curve, or mapping of str to Curve
        Regret curves.

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
    >>> from stakes.display import RegretCurveDisplay
    >>> display = RegretCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], bounds=(0.2, 0.5))
    >>> display.ax_.get_xlabel()
    'Threshold'
    """

    kind = "regret"
    y_label = "Regret per decision"
    _curve = staticmethod(regret_curve)

    def _y_limits(self, heights: Floats, thresholds: Floats) -> Range:
        best_constant = float(self._best_constant(thresholds, lower=True).max())
        return 0.0, _HEADROOM * max(float(heights.max()), best_constant) or 1.0


class DecisionCurveDisplay(ThresholdCurvesDisplay):
    """Decision curve: net benefit over the threshold, beside treating everyone and no one; higher is better.

    Parameters
    ----------
    curves : Curve, sequence of Curve, or mapping of str to Curve
        Net-benefit curves.

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
    >>> from stakes import net_benefit_curve
    >>> from stakes.display import DecisionCurveDisplay
    >>> curve = net_benefit_curve([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], name="risk score")
    >>> DecisionCurveDisplay(curve).plot().lines_[0].get_label()
    'risk score'
    """

    kind = "net benefit"
    y_label = "Net benefit"
    _curve = staticmethod(net_benefit_curve)

    def _y_limits(self, heights: Floats, thresholds: Floats) -> Range:
        best_constant = float(self._best_constant(thresholds[thresholds < 1.0], lower=False).max())
        bottom, top = float(heights.min()), max(float(heights.max()), best_constant)
        unit = top or -bottom or 1.0
        # a model that does harm is seen to; the plunge of treating everyone does not squash the rest
        lowest = max(bottom, -_HARM_SHOWN * unit) if top > 0.0 else bottom
        return min(lowest, 0.0) - 0.05 * unit, top + (_HEADROOM - 1.0) * unit
