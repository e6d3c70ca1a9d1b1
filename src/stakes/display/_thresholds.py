"""Displays over the threshold: regret, net benefit, cost curves, and cost distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.arrays import Floats
from stakes.base.validation import check_choice
from stakes.core.regret import Rule
from stakes.core.score_table import ScoreTable
from stakes.costs import CostDistribution, PiecewiseLinear, Weighted
from stakes.curves import (
    BrierCurve,
    CostCurve,
    Curve,
    InterventionsCurve,
    brier_curve,
    cost_curve,
    interventions_avoided_curve,
    net_benefit_curve,
    regret_curve,
)
from stakes.display import _axes
from stakes.display._axes import Legend, Range, XScale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


# Curves over the decision threshold: regret, and net benefit (the decision curve).

_HEADROOM = 1.08


class ThresholdCurvesDisplay(_axes.CurvesDisplay):
    """Base of the displays over the decision threshold."""

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
        bounds = _axes.check_bounds(bounds)
        with self._picture(ax, legend):
            shown = self._shown(bounds, x_scale)
            _axes.draw_cost_axis(self.ax_, shown, x_scale)
            self.bounds_ = _axes.shade_bounds(self.ax_, bounds)
            heights = self._draw_curves(shown, references=references)
            self.ax_.set_ylim(self._y_limits(heights, np.linspace(*shown, 201)))
            self.ax_.set(xlabel=self.x_label, ylabel=self.y_label)
            _axes.name_amounts(self.ax_, self.curves)
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        return self

    def _shown(self, bounds: Range | None, x_scale: XScale) -> Range:
        if bounds is None and _axes.drawn(self.ax_, _axes.MODEL):  # beside what an earlier display drew
            return self.ax_.get_xlim()
        inner = np.concatenate([curve.knots[(curve.knots > 0.0) & (curve.knots < 1.0)] for curve in self.curves])
        return _axes.shown_thresholds(inner, bounds, x_scale)

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
        # a model that does harm is seen to; the plunge of treating everyone does not squash the rest
        lowest, unit = _axes.shown_worth(bottom, top)
        return min(lowest, 0.0) - 0.05 * unit, top + (_HEADROOM - 1.0) * unit


# Two readings of the decision curve: net benefit as a share of its maximum, and net interventions avoided.


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
        top = max(float(finite.max(initial=0.0)), best_constant)
        lowest, unit = _axes.shown_worth(float(finite.min(initial=0.0)), top)
        return lowest - 0.05 * unit, top + 0.08 * unit


# Cost curves: normalised expected cost over the weight of the positive class, and Brier curves on stretched axes.

CostAxis = Literal["probability cost", "linear", "log-odds", "quadratic", "log"]

AXES = ("probability cost", "linear", "log-odds", "quadratic", "log")
_Y_LABELS = {
    "normalized expected cost": "Normalized expected cost",
    "regret": "Regret per decision",
    "net benefit lost": "Net benefit lost",
}


class CostCurveDisplay(_axes.CurvesDisplay):
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

    kind = "normalized expected cost"

    def __init__(self, curves: Curve | Sequence[Curve] | Mapping[str, Curve]) -> None:
        first = _axes.several(curves, "curves", Curve, "curve")[0]
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
        self, ax: Axes | None = None, *, bounds: Range | None = None, references: bool = True, legend: Legend = "auto"
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
        bounds = _axes.check_bounds(bounds)
        with self._picture(ax, legend):
            shown = self._draw_axis()
            self.bounds_ = _axes.shade_bounds(self.ax_, self._places(bounds))
            heights = self._draw_curves(shown, references=references)
            self.ax_.set_ylim(0.0, self._top(heights, shown))
            self.ax_.set_ylabel(_Y_LABELS[self.kind])
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        return self

    def _draw_axis(self) -> Range:
        if self.axis != "probability cost":
            return _axes.draw_brier_axis(self.ax_, self.curves, self.axis)
        rates = {curve.table.prevalence for curve in self.curves if isinstance(curve, CostCurve)}
        return _axes.draw_probability_cost_axis(self.ax_, rates.pop() if len(rates) == 1 else None)

    def _places(self, bounds: Range | None) -> Range | None:
        """Positions of the plausible thresholds on the axis."""
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


# Pictures of cost distributions: how much each cost ratio counts, on the axis of c or of its log-odds.

_POINTS = 1001
_END = 2e-3  # where an axis of log-odds starts for costs down to 0
_STEP = 1e-9  # beside a jump, relative to its distance from the end
_END_POINTS = 10  # so near an end a peak counts as a spike
_ATOM_AXIS = "stakes weights"
_STEEP = 6.0  # a density that rises to more than so many times its upper quartile leaves the picture
_LONGEST_NAME = 44
_INFINITE = " (infinite mass, not normalized)"


class PlotShape(NamedTuple):
    """The drawn elements of one distribution."""

    x: Floats
    density: Floats
    atoms: Floats
    weights: Floats


class CostDistributionDisplay(_axes.Display):
    """How much each cost ratio counts: densities as lines, single cost ratios as stems.

    Each distribution is drawn with mass 1, so that areas compare; one of infinite mass is drawn as it is, and its name
    says so. On the log-odds axis the density is that of the log-odds, density times c (1-c): areas stay shares.

    Parameters
    ----------
    costs : CostDistribution, sequence of CostDistribution, or mapping of str to CostDistribution
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    atom_ax_ : matplotlib axes or None
        Where the stems are drawn: ``ax_`` itself where there is no density, else an axis at its right.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One for each distribution: its density, or the heads of its stems where it has none.

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.display import CostDistributionDisplay
    >>> named = {"screening": costs.Uniform(0.01, 0.05), "referral": costs.Triangular(0.02, 0.05, 0.2)}
    >>> display = CostDistributionDisplay(named).plot(scale="log-odds")
    >>> [line.get_label() for line in display.lines_]
    ['screening', 'referral']
    """

    atom_ax_: Axes | None

    def __init__(self, costs: CostDistribution | Sequence[CostDistribution] | Mapping[str, CostDistribution]) -> None:
        if isinstance(costs, Mapping):
            named = [(str(name), measure) for name, measure in costs.items()]
        else:
            found = _axes.several(costs, "costs", CostDistribution, "cost distribution")
            named = [(_name(measure), measure) for measure in found]
        if not named:
            raise ValueError("costs must hold at least one cost distribution, got none.")
        for name, measure in named:
            if not isinstance(measure, CostDistribution):
                raise ValueError(f"costs must be cost distributions, got {measure!r} for {name}.")
        self.names = [name for name, _ in named]
        self.costs = [measure for _, measure in named]

    def plot(self, ax: Axes | None = None, *, scale: XScale = "linear", legend: Legend = "auto") -> Self:
        """Draw the distributions.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        scale : {"linear", "log-odds"}, default "linear"
            The axis: the cost ratio c, or its log-odds.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        CostDistributionDisplay
            This object, with ``ax_``, ``atom_ax_``, ``figure_`` and ``lines_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import costs
        >>> from stakes.display import CostDistributionDisplay
        >>> CostDistributionDisplay(costs.Fixed(0.1)).plot().ax_.get_ylabel()
        'Weight'
        """
        with self._picture(ax, legend):
            shown = self._shown(scale)
            if _axes.drawn(self.ax_, _axes.MODEL):
                low, high = self.ax_.get_xlim()
                shown = min(low, shown[0]), max(high, shown[1])
            _axes.draw_cost_axis(self.ax_, shown, scale, "scale")
            shapes = [_shape(measure, shown, scale) for measure in self.costs]
            self.atom_ax_ = self._axes_of_atoms(shapes)
            before = len(_axes.drawn(self.ax_, _axes.MODEL))
            labels = [
                name + _INFINITE * (measure.mass == math.inf)
                for name, measure in zip(self.names, self.costs, strict=True)
            ]
            named = enumerate(zip(labels, shapes, strict=True), start=before)
            self.lines_ = [self._draw(shape, name, index) for index, (name, shape) in named]
            self._set_heights()
            self.ax_.set_xlabel("Cost ratio c (threshold)")
        return self

    def _shown(self, scale: XScale) -> Range:
        low, high = min(measure.low for measure in self.costs), max(measure.high for measure in self.costs)
        if scale == "log-odds":
            low, high = min(max(low, _END), 1.0 - _END), max(min(high, 1.0 - _END), _END)
        if high - low > 0.6 and scale == "linear":
            return 0.0, 1.0
        start, stop = _axes.widened((low, high), scale)
        if scale == "log-odds":
            return max(start, min(_END, 0.5 * low)), min(stop, 1.0 - min(_END, 0.5 * (1.0 - high)))
        return start, stop

    def _axes_of_atoms(self, shapes: list[PlotShape]) -> Axes | None:
        named = [ax for ax in self.figure_.axes if ax.get_label() == _ATOM_AXIS and ax is not self.ax_]
        twin = next((ax for ax in named if ax.get_shared_x_axes().joined(ax, self.ax_)), None)
        if twin is not None or not any(len(shape.atoms) for shape in shapes):
            return twin
        if not any(len(shape.x) for shape in shapes) and not _axes.drawn(self.ax_, f"{_axes.MODEL} density"):
            return self.ax_
        twin = self.ax_.twinx()
        twin.set_label(_ATOM_AXIS)
        return twin

    def _draw(self, shape: PlotShape, label: str, index: int) -> Line2D:
        style = _axes.model_style(index)
        line: Line2D | None = None
        if len(shape.x):
            look: dict[str, Any] = {"linewidth": 1.6, "gid": f"{_axes.MODEL} density"}
            line = _axes.draw_line(self.ax_, (shape.x, shape.density), style, label, **look)
            finite = np.where(np.isfinite(shape.density), shape.density, 0.0)
            self.ax_.fill_between(shape.x, finite, color=style.color, alpha=0.12, linewidth=0.0, zorder=1.5)
        if line is not None and (not len(shape.atoms) or self.atom_ax_ is None):
            return line
        if self.atom_ax_ is None:
            raise AssertionError("a measure has a density or atoms")
        self.atom_ax_.vlines(shape.atoms, 0.0, shape.weights, color=style.color, linewidth=1.4, zorder=2.5)
        look = {"color": style.color, "linestyle": "none", "marker": style.marker, "markersize": 5.0}
        gid = _axes.MODEL if line is None else f"atoms of {_axes.MODEL}"
        (heads,) = self.atom_ax_.plot(shape.atoms, shape.weights, **look, gid=gid, zorder=2.6)
        if line is not None:
            return line
        if self.atom_ax_ is self.ax_:
            heads.set_label(label)
        else:  # the legend and the next display look at the axes of the densities
            self.ax_.plot([], [], **look, label=label, gid=_axes.MODEL)
        heads.set_label(label)
        return heads

    def _set_heights(self) -> None:
        densities = _axes.drawn(self.ax_, f"{_axes.MODEL} density")
        if densities:
            top = max(_visible_top(np.asarray(line.get_ydata(), dtype=float)) for line in densities)
            self.ax_.set_ylim(0.0, 1.08 * top or 1.0)
            logit = self.ax_.get_xscale() == "logit"
            self.ax_.set_ylabel("Density of the log-odds" if logit else "Density")
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        if self.atom_ax_ is None:
            return
        heads = [line for line in self.atom_ax_.lines if _axes.MODEL in str(line.get_gid() or "")]
        weights = [np.asarray(line.get_ydata(), dtype=float).max(initial=0.0) for line in heads if line.get_marker()]
        self.atom_ax_.set_ylim(0.0, 1.08 * max(weights, default=1.0))
        self.atom_ax_.set_ylabel("Weight" if not densities else "Weight (stems)")
        self.atom_ax_.yaxis.set_major_formatter("{x:.6g}")


def _name(measure: CostDistribution) -> str:
    name = repr(measure)
    if len(name) <= _LONGEST_NAME:
        return name
    return "weighted sum" if isinstance(measure, Weighted) else type(measure).__name__


def _shape(measure: CostDistribution, shown: Range, scale: XScale) -> PlotShape:
    """Points of the density, both sides of each jump, and the atoms; of mass 1 where the mass is finite."""
    unit = measure.mass if 0.0 < measure.mass < math.inf else 1.0
    at, weights = measure.atoms
    parts = measure.parts if isinstance(measure, Weighted) else [measure]
    smooth = [part for part in parts if not len(part.atoms[0])]
    if not smooth:
        return PlotShape(np.empty(0), np.empty(0), at, weights / unit)
    edges: list[Any] = [part._edges if isinstance(part, PiecewiseLinear) else [] for part in smooth]
    jumps = np.concatenate([*edges, [end for part in smooth for end in (part.low, part.high)]])
    x = _grid(shown, jumps, scale)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        density = np.asarray(measure.density(x), dtype=float) / unit
        if scale == "log-odds":
            density = density * x * (1.0 - x)
    return PlotShape(x, np.where(np.isfinite(density), density, np.nan), at, weights / unit)


def _grid(shown: Range, jumps: Floats, scale: XScale) -> Floats:
    low, high = shown
    if scale == "log-odds":
        even = 1.0 / (1.0 + np.exp(-np.linspace(_axes.log_odds(low), _axes.log_odds(high), _POINTS)))
    else:
        even = np.linspace(low, high, _POINTS)
    beside = np.concatenate([jumps, jumps * (1.0 - _STEP), jumps + (1.0 - jumps) * _STEP])
    points = np.unique(np.concatenate([even, beside[(beside >= low) & (beside <= high)]]))
    return points[(points > 0.0) & (points < 1.0)] if scale == "log-odds" else points


def _visible_top(density: Floats) -> float:
    """The highest density, unless it is that of a spike at one end."""
    found = density[np.isfinite(density)]
    positive = found[found > 0.0]
    if not len(positive):
        return 1.0
    peak = int(np.argmax(found))
    if min(peak, len(found) - 1 - peak) > _END_POINTS:
        return float(found[peak])
    return float(min(positive.max(), _STEEP * float(np.quantile(positive, 0.75))))
