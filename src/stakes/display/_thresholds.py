"""Displays over the threshold: regret, net benefit, cost curves, cost distributions, and rates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Floats, by_name, check_choice
from stakes.core.options import refuse_amounts
from stakes.core.score_table import Rule, ScoreTable
from stakes.costs import CostDistribution, CostsLike, PiecewiseLinear, Weighted
from stakes.curves import (
    BrierCurve,
    CostCurve,
    Curve,
    InterventionsCurve,
    ThresholdTable,
    brier_curve,
    cost_curve,
    interventions_avoided_curve,
    net_benefit_curve,
    regret_curve,
    threshold_table,
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
            The plausible thresholds (low, high), which are shaded; cost curves must have one prevalence then.
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
        places = self._places(_axes.check_bounds(bounds))
        with self._picture(ax, legend):
            shown = self._draw_axis()
            self.bounds_ = _axes.shade_bounds(self.ax_, places)
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
        curves = [curve for curve in self.curves if isinstance(curve, CostCurve)]
        if bounds is None or not curves:
            return bounds
        places = np.array([curve.probability_cost(bounds) for curve in curves])
        if np.ptp(places, axis=0).max() > 1e-9:
            rates = [curve.table.prevalence for curve in curves]
            raise ValueError(
                f"bounds={bounds} lie at other probability costs for each prevalence, and those of these curves are "
                f"{min(rates):.6g} to {max(rates):.6g}: leave bounds out, draw the curves of each prevalence by "
                "themselves, or make all curves with one prevalence=."
            )
        high, low = places[0].tolist()
        return (low, high) if low <= high else None  # nowhere with one class only

    def _top(self, heights: Floats, shown: Range) -> float:
        """Above the models and the better constant decision, but not far above the worse one."""
        grid = np.linspace(*shown, 201)[:-1]
        best = np.nanmax(self._best_constant(grid, lower=True))
        constants = [reference.at(grid) for curve in self.curves for reference in curve.references.values()]
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
_SEEN = 0.5  # but at most half of its area does
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
        bounds = [bound for measure in self.costs for bound in (measure.low, measure.high)]
        if scale != "log-odds":
            low, high = min(bounds), max(bounds)
            return (0.0, 1.0) if high - low > 0.6 else _axes.widened((low, high), scale)
        low, high = _axes.off_the_ends(bounds, _END)
        start, stop = _axes.widened((low, high), scale)
        return max(start, min(_END, 0.5 * low)), min(stop, 1.0 - min(_END, 0.5 * (1.0 - high)))

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
        if self.atom_ax_ is not self.ax_:  # the legend and the next display look at the axes of the densities
            self.ax_.plot([], [], **look, label=_axes.plain(label), gid=_axes.MODEL)
        heads.set_label(_axes.plain(label))
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
    between = np.sort(np.minimum(found[1:], found[:-1]))  # heights of even steps below the line
    seen = np.cumsum(between) + between * np.arange(len(between))[::-1]  # of their area where the picture ends there
    most = float(between[np.searchsorted(seen, _SEEN * seen[-1])])
    return float(min(positive.max(), max(most, _STEEP * float(np.quantile(positive, 0.75)))))


# Display of rates by threshold.

# Points of the steps that rates and values make over the threshold, from the counts of a threshold table.

RATES = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "PPV",
    "npv": "NPV",
    "share_flagged": "share flagged",
}
VALUES = {"net_benefit": "net benefit", "regret": "regret"}

_MOST_POINTS = 2000
_ALMOST_ONE = 1.0 - 1e-9  # net benefit has no value at a threshold of 1
_COUNTS = ("tp", "fp", "fn", "tn")


def thinned(table: ThresholdTable) -> ThresholdTable:
    """About 2,000 thresholds, evenly by rank and by value, ascending."""
    order = np.argsort(table.threshold, kind="stable")
    at = table.threshold[order]
    if len(at) > _MOST_POINTS:
        by_rank = np.linspace(0, len(at) - 1, _MOST_POINTS // 2)
        finite = at[np.isfinite(at)]
        even = np.linspace(finite[0], finite[-1], _MOST_POINTS // 2) if len(finite) else finite
        by_value = np.searchsorted(at, even)
        order = order[np.unique(np.concatenate([by_rank, by_value]).astype(np.intp))]
    columns = {name: getattr(table, name)[order] for name in ("threshold", *_COUNTS, "cost_ratio")}
    return ThresholdTable(**columns, flagged=None if table.flagged is None else table.flagged[order])


def to_the_ends(table: ThresholdTable, *, upwards: bool) -> ThresholdTable:
    """The same up to the ends of [0, 1]: below the lowest score everyone is flagged, above the highest no one is."""
    low, high = float(table.threshold[0]), float(table.threshold[-1])
    same = bool(np.array_equal(table.cost_ratio, table.threshold))
    below = int(low > 0.0 and table.fn[0] == 0.0 and table.tn[0] == 0.0)
    above = int(upwards and high < _ALMOST_ONE)
    rows = np.concatenate([[0] * below, np.arange(len(table.threshold)), [-1] * above]).astype(np.intp)
    threshold, cost, tp, fp, fn, tn = (getattr(table, name)[rows] for name in ("threshold", "cost_ratio", *_COUNTS))
    flagged = table.share_flagged[rows]
    if below:
        threshold[0], flagged[0] = 0.0, 1.0
    if above:
        threshold[-1] = _ALMOST_ONE
        fn[-1], tn[-1] = fn[-1] + tp[-1], tn[-1] + fp[-1]
        tp[-1] = fp[-1] = flagged[-1] = 0.0
    return ThresholdTable(threshold, tp, fp, fn, tn, threshold if same else cost, flagged=flagged)


def ends(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each point of a line of steps, the row whose rates hold there and the row whose threshold it stands at."""
    doubled = np.repeat(np.arange(count), 2)
    return doubled[1:], doubled[:-1]


def value_points(table: ThresholdTable, value: str) -> tuple[Floats, Floats]:
    """Both ends of each piece: its counts are those of the higher threshold, its costs those along it."""
    piece, place = ends(len(table.threshold))
    tp, fp, fn, tn = (getattr(table, name)[piece] for name in _COUNTS)
    drawn = ThresholdTable(table.threshold[place], tp, fp, fn, tn, table.cost_ratio[place])
    return drawn.threshold, np.asarray(getattr(drawn, value))


# What acting at each threshold does: sensitivity, specificity, predictive values, share flagged, and its worth.

Value = Literal["net_benefit", "regret"] | None

_VALUE_COLOUR = _axes.PALETTE[-1]
_VALUE_AXIS = "stakes value"
_DASHES = ((), (5, 1.5), (1.5, 1), (6, 1.5, 1.5, 1.5), (3, 1))
_PANEL = (3.2, 2.4)  # inches


class ThresholdDisplay(_axes.PredictionsDisplay):
    """Sensitivity, specificity, predictive values and share flagged over the threshold, and what acting there is worth.

    One model fills one picture; several get one small picture each.

    Parameters
    ----------
    tables : ThresholdTable or mapping of str to ThresholdTable
        Threshold tables. Between two thresholds the rates of the higher one are drawn: exact for the tables of every
        distinct score.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn; the first of several.
    axes_ : list of matplotlib axes
        One for each model.
    value_axes_ : list of matplotlib axes
        The axes at the right for net benefit or regret, one for each model unless ``value=None``.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        For each model the five rates, then net benefit or regret.
    bounds_ : matplotlib patch or None
        The shaded range, in the first axes.

    Examples
    --------
    >>> from stakes.display import ThresholdDisplay
    >>> display = ThresholdDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], bounds=(0.2, 0.5))
    >>> [line.get_label() for line in display.lines_]
    ['sensitivity', 'specificity', 'PPV', 'NPV', 'share flagged', 'net benefit (right)']
    """

    axes_: list[Axes]
    value_axes_: list[Axes]

    _every_score = False  # then it is known what happens above the highest threshold too

    def __init__(self, tables: ThresholdTable | Mapping[str, ThresholdTable]) -> None:
        self.tables = by_name(tables, "tables") if isinstance(tables, Mapping) else {"model": tables}
        if not self.tables:
            raise ValueError("tables must hold at least one model, got none.")
        for table in self.tables.values():
            if not isinstance(table, ThresholdTable):
                raise ValueError(f"tables must be threshold tables, got {table!r}.")

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        bounds: Range | None = None,
        value: Value = "net_benefit",
        costs: CostsLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        logits: bool = False,
        x_scale: XScale = "linear",
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
        value : {"net_benefit", "regret"} or None, default "net_benefit"
            What is drawn on the axis at the right.
        costs : CostDistribution, tuple of float, or float, optional
            The cost ratio of net benefit and regret; by default each threshold itself.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        logits : bool, default False
            Whether the scores are log-odds.
        x_scale, legend, ax
            As in :meth:`plot`.

        Returns
        -------
        ThresholdDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import ThresholdDisplay
        >>> display = ThresholdDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], value="regret")
        >>> display.value_axes_[0].get_ylabel()
        'Regret'
        """
        refuse_amounts(y_true)
        options: Any = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
        tables = {
            name: threshold_table(y_true, scores, costs=costs, logits=logits, **options)
            for name, scores in _axes.named_predictions(y_true, y_prob, sample_weight).items()
        }
        display = cls(tables)
        display._every_score = True
        return display.plot(ax, bounds=bounds, value=value, x_scale=x_scale, legend=legend)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bounds: Range | None = None,
        value: Value = "net_benefit",
        x_scale: XScale = "linear",
        legend: Legend = "auto",
    ) -> Self:
        """Draw the rates of each model, each jump where it is.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw one model; by default a new figure.
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        value : {"net_benefit", "regret"} or None, default "net_benefit"
            What is drawn on the axis at the right.
        x_scale : {"linear", "log-odds"}, default "linear"
            Scale of the threshold axis.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        ThresholdDisplay
            This object, with its attributes.

        Raises
        ------
        ValueError
            For invalid settings, and for axes given for several models.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.curves import threshold_table
        >>> from stakes.display import ThresholdDisplay
        >>> table = threshold_table([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6])
        >>> ThresholdDisplay(table).plot(value=None).value_axes_
        []
        """
        bounds = _axes.check_bounds(bounds)
        if value is not None:
            check_choice(value, "value", tuple(VALUES))
        check_choice(x_scale, "x_scale", ("linear", "log-odds"))
        if ax is not None and len(self.tables) > 1:
            raise ValueError(f"ax holds one model, got {len(self.tables)}: leave it out for one picture for each.")
        shown = self._shown(bounds, x_scale)
        self.axes_, new = ([ax], False) if ax is not None else self._new_axes()
        self.ax_, self.figure_ = self.axes_[0], _axes.figure_of(self.axes_[0])
        self.lines_, self.value_axes_ = [], []
        for panel, table in zip(self.axes_, self.tables.values(), strict=True):
            self._draw_axis(panel, table, shown, x_scale)
            drawn = thinned(table)
            if self._probabilities:
                drawn = to_the_ends(drawn, upwards=self._every_score)
            self._draw_rates(panel, drawn)
            if value is not None:
                self._draw_value(panel, drawn, value, shown)
        self.bounds_, *_ = (_axes.shade_bounds(panel, bounds) for panel in self.axes_)
        self._share_value_limits(shown)
        if len(self.tables) == 1:
            _axes.name_rows(self.ax_, self.tables.values())
            self._draw_legend(legend, new=new)
        else:
            self.figure_.suptitle(_axes.about_rows(self.tables.values()), fontsize="medium")
            self._tidy()
            if legend is not None:
                self._draw_common_legend()
        if new:
            _axes.settle(self.figure_)
        return self

    def _draw_common_legend(self) -> None:
        """One legend for all panels: the lines of the first, and the shaded range."""
        handles: list[Any] = self.lines_[: len(RATES) + bool(self.value_axes_)]
        if self.bounds_ is not None:
            handles = [*handles, self.bounds_]
        _axes.legend_under(self.figure_, handles, [str(handle.get_label()) for handle in handles])

    def _new_axes(self) -> tuple[list[Axes], bool]:
        count = len(self.tables)
        if count == 1:
            ax, new = _axes.axes_for(None)
            return [ax], new
        columns = min(math.ceil(math.sqrt(count)), 3)
        rows = math.ceil(count / columns)
        size = (_PANEL[0] * columns, _PANEL[1] * rows)
        figure, grid = _axes.pyplot().subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        panels = list(grid.ravel())
        for spare in panels[count:]:
            figure.delaxes(spare)
        for panel, name in zip(panels, self.tables, strict=False):
            panel.set_title(_axes.plain(name), fontsize="medium")
        return panels[:count], True

    def _shown(self, bounds: Range | None, x_scale: XScale) -> Range:
        every = np.concatenate([table.threshold[np.isfinite(table.threshold)] for table in self.tables.values()])
        if self._probabilities or bounds not in {None, (0.0, 1.0)}:
            return _axes.shown_thresholds(every, bounds, x_scale)
        low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 0.0)
        return low, high if high > low else low + 1.0

    @property
    def _probabilities(self) -> bool:
        every = np.concatenate([table.threshold for table in self.tables.values()])
        return bool(np.all((every >= 0.0) & (every <= 1.0)))

    def _draw_axis(self, ax: Axes, table: ThresholdTable, shown: Range, x_scale: XScale) -> None:
        if self._probabilities:
            _axes.draw_cost_axis(ax, shown, x_scale)
            if not np.array_equal(table.cost_ratio, table.threshold):
                _axes.remove_odds_axis(ax)  # they are those of thresholds that are the cost ratios
        else:
            ax.set_xlim(shown)
            ax.xaxis.set_major_locator(_axes.few_ticks(ax))
        ax.set(xlabel="Threshold", ylabel="Rate", ylim=(-0.02, 1.02))
        ax.yaxis.set_major_formatter(_axes.format_percent)

    def _draw_rates(self, ax: Axes, table: ThresholdTable) -> None:
        piece, place = ends(len(table.threshold))
        x = table.threshold[place]
        for (name, label), color, dashes in zip(RATES.items(), _axes.PALETTE, _DASHES, strict=False):
            y = getattr(table, name)[piece]
            (line,) = ax.plot(x, y, color=color, linewidth=1.4, label=label, gid=f"rate {name}", zorder=2.5)
            if dashes:
                line.set_dashes(dashes)
            self.lines_.append(line)

    def _draw_value(self, ax: Axes, table: ThresholdTable, value: str, shown: Range) -> None:
        right = ax.twinx()
        right.set_label(_VALUE_AXIS)
        right.set_xlim(shown)
        x, y = value_points(table, value)
        name = VALUES[value]
        (line,) = right.plot(x, y, color=_VALUE_COLOUR, linewidth=1.8, label=f"{name} (right)", gid=f"value {value}")
        right.set_ylabel(name.capitalize())
        right.yaxis.set_major_formatter("{x:.6g}")
        self.lines_.append(line)
        self.value_axes_.append(right)

    def _share_value_limits(self, shown: Range) -> None:
        if not self.value_axes_:
            return
        heights = []
        for line in self.lines_:
            if str(line.get_gid()).startswith("value"):
                x, y = (np.asarray(column, dtype=float) for column in line.get_data())
                heights.append(y[(x >= shown[0]) & (x <= shown[1]) & np.isfinite(y)])
        found = np.concatenate(heights)
        top = float(found.max(initial=0.0))
        lowest, unit = _axes.shown_worth(float(found.min(initial=0.0)), top)
        for ax in self.value_axes_:
            ax.set_ylim(lowest - 0.02 * unit, top + 0.06 * unit)

    def _tidy(self) -> None:
        """Keep axis labels only at the edges of a grid of panels."""
        columns = self.ax_.get_subplotspec().get_gridspec().ncols  # type: ignore[union-attr]
        last = len(self.axes_) - 1
        for index, ax in enumerate(self.axes_):
            if index % columns:
                ax.set_ylabel("")
                ax.tick_params(labelleft=False)
            if index + columns <= last:
                ax.set_xlabel("")
            for child in ax.child_axes:
                child.xaxis.label.set_fontsize(0.9 * _axes.small_font())
                if index >= columns:
                    child.set_xlabel("")
        for index, right in enumerate(self.value_axes_):
            if index % columns != columns - 1 and index != last:
                right.set_ylabel("")
                right.tick_params(labelright=False)

    def _draw_legend(self, legend: Legend, *, new: bool) -> None:
        for right in self.value_axes_:  # its line is named with the others, in the axes at the left
            line = right.lines[0]
            self.ax_.plot([], [], color=line.get_color(), linewidth=line.get_linewidth(), label=line.get_label())
        _axes.draw_legend(self.ax_, legend, new=new)
