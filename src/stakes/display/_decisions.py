"""Displays of action costs, deferral, value of information, utility curves and boundaries."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from stakes.actions import ActionEvaluation, deferral_curve
from stakes.base.validation import Floats, check_kind
from stakes.boundary import Boundary, fit_boundary
from stakes.core.score_table import ScoreTable
from stakes.costs import CostsLike, Deferral
from stakes.display import _axes
from stakes.display._axes import Legend, Range
from stakes.display._curves import ShareCurvesDisplay
from stakes.information import ValueOfInformation, unit_of
from stakes.outputs.text import level_name
from stakes.utility import Measure, UtilityCurve, expected_utility, utility_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.lines import Line2D


# What each model costs where there are many actions, and which classes the cost comes from.

_HATCHES = ("", "//", "..", "xx")  # a colour that comes again has another pattern
_ACTION_COLOURS = 7


class ActionCostsDisplay(_axes.Display):
    """Cost of each model beyond perfect knowledge, made of the parts of the classes, below the best single action.

    Parameters
    ----------
    evaluation : ActionEvaluation
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        The best single action.
    bars_ : list of matplotlib containers
        One for each class.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.6, 0.4]] * 9, matrices=[[0, 1], [1, 0]])
    >>> [round(float(bars[0].get_width()), 3) for bars in found.plot().bars_]
    [0.0, 0.5]
    """

    def __init__(self, evaluation: ActionEvaluation) -> None:
        check_kind(evaluation, "evaluation", ActionEvaluation, "what evaluate_actions returned")
        self.evaluation = evaluation

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes.

        Returns
        -------
        display
            This object, with ``ax_``, ``figure_``, ``lines_`` and ``bars_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.6, 0.4]] * 9, matrices=[[0, 1], [1, 0]])
        >>> found.plot(legend=None).ax_.get_legend() is None
        True
        """
        found, rows = self.evaluation, self.evaluation.rows
        ranked = sorted(found.models, key=lambda each: -each.cost.value)
        places = np.arange(len(ranked))
        parts = np.array([np.nan_to_num(each.class_costs - rows.best()) * rows.class_share for each in ranked])
        with self._picture(ax, legend):
            starts, self.bars_ = np.zeros(len(ranked)), []
            for k, name in enumerate(rows.classes):
                look: Any = {"color": _axes.model_style(k).color, "edgecolor": _axes.EMPTY_COLOUR}
                look |= {"hatch": _HATCHES[k // _ACTION_COLOURS % len(_HATCHES)], "label": _axes.plain(f"class {name}")}
                bars = self.ax_.barh(places, parts[:, k], left=starts, **look)
                self.bars_.append(bars)
                starts = starts + parts[:, k]
            ends = np.array([each.regret.interval for each in ranked]).T
            reach = np.abs(ends - starts)
            interval_label = f"pointwise {level_name(ranked[0].regret.confidence_level)} interval"
            line: Any = {"fmt": "none", "ecolor": "0.15", "elinewidth": 1.2, "capsize": 3, "label": interval_label}
            self.ax_.errorbar(starts, places, xerr=reach, **line)
            single = ranked[0].best_constant - ranked[0].oracle
            self.lines_ = [
                self.ax_.axvline(single, color=_axes.REFERENCE_COLOUR, linestyle="--", label="best single action")
            ]
            self.ax_.set_yticks(places, [_axes.plain(each.model) for each in ranked])
            self.ax_.set_ylim(-0.6, len(ranked) - 0.4)
            self.ax_.set_xlim(left=0.0)
            known = "" if ranked[0].oracle == 0.0 else " beyond perfect knowledge"
            self.ax_.set_xlabel(f"Cost per decision{known}")
            self.ax_.xaxis.set_major_formatter("{x:.6g}")
        return self


# Cost with the option to defer: over its fee, over the largest share deferred, or over the share decided.


class DeferralDisplay(ShareCurvesDisplay):
    """What a case costs with the option to defer, over the fee, the largest share deferred or the share decided.

    Parameters
    ----------
    curves : Curve, sequence of Curve, or mapping of str to Curve
        ``deferral_curve(...)``, all over the same axis.

    Raises
    ------
    ValueError
        For curves of another kind, or over different axes.

    Examples
    --------
    >>> from stakes.actions import deferral_curve
    >>> from stakes.display import DeferralDisplay
    >>> DeferralDisplay(deferral_curve([0, 1, 0, 1], [0.1, 0.6, 0.3, 0.9], costs=0.2)).plot().ax_.get_xlabel()
    'Fee'
    """

    kind = "cost with deferral"
    _curve = staticmethod(deferral_curve)

    def __init__(self, curves: Any) -> None:
        super().__init__(curves)
        axes = {curve.x_label for curve in self.curves}
        if len(axes) > 1:
            raise ValueError(f"curves must be over the same axis, got {' and '.join(sorted(axes))}.")
        self.x_label = axes.pop().capitalize()  # type: ignore[misc]
        decided = self.x_label == "Share decided"
        self.y_label = "Cost per case decided" if decided else "Cost per case"  # type: ignore[misc]

    @classmethod
    def from_predictions(  # type: ignore[override]
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        costs: CostsLike,
        deferral: Deferral | float = 0.0,
        over: str = "fee",
        rule: str = "score",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
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
        costs, deferral, over, rule
            As in :func:`stakes.actions.deferral_curve`.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        references, legend, ax
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
        >>> from stakes.display import DeferralDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> display = DeferralDisplay.from_predictions([0, 1, 0, 1], models, costs=0.2, over="coverage")
        >>> [line.get_label() for line in display.lines_], display.ax_.get_ylabel()
        (['a', 'b'], 'Cost per case decided')
        """
        data = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
        display = cls._of(y_true, y_prob, costs=costs, deferral=deferral, over=over, rule=rule, **data)
        return display.plot(ax, references=references, legend=legend)

    def _shown(self) -> Range:
        return 0.0, max(float(curve.knots[-1]) for curve in self.curves)

    def _y_limits(self, heights: Floats, shown: Range) -> Range:  # noqa: ARG002
        constant = [curve.references["decide all"] for curve in self.curves if "decide all" in curve.references]
        alone = [float(line.at(0.0)) for line in constant]
        highest = float(np.max([*heights[np.isfinite(heights)], *alone], initial=0.0))
        return 0.0, 1.08 * highest or 1.0

    def _format_heights(self) -> None:
        self.ax_.yaxis.set_major_formatter("{x:.6g}")
        if self.x_label == "Fee":
            self.ax_.xaxis.set_major_formatter("{x:.6g}")


# What further rows are expected to save, over their number, below what perfect information would.


class ValueOfInformationDisplay(_axes.Display):
    """Expected saving of each number of further rows, and the value of perfect information as the line above.

    Parameters
    ----------
    value : ValueOfInformation
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        The saving, and the value of perfect information.

    Examples
    --------
    >>> from stakes import value_of_information
    >>> y_true, y_prob = [0] * 147 + [1] * 2 + [0] * 310 + [1] * 41, [0.01] * 149 + [0.03] * 351
    >>> found = value_of_information(y_true, y_prob, threshold=0.02, more_rows=(100, 1000, 10_000))
    >>> found.plot().ax_.get_ylabel()
    'Net benefit per decision'
    """

    def __init__(self, value: ValueOfInformation) -> None:
        check_kind(value, "value", ValueOfInformation, "what value_of_information returned")
        self.value = value

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes.

        Returns
        -------
        display
            This object, with ``ax_``, ``figure_`` and ``lines_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import value_of_information
        >>> from stakes.display import ValueOfInformationDisplay
        >>> found = value_of_information([0, 1] * 40, [0.3, 0.4] * 40, threshold=0.35)
        >>> len(ValueOfInformationDisplay(found).plot().lines_)
        2
        """
        with self._picture(ax, legend):
            sizes = sorted(self.value.evsi)
            saved = [self.value.evsi[m] for m in sizes]
            self.lines_ = self.ax_.plot(sizes, saved, marker="o", label="expected saving")
            line = self.ax_.axhline(self.value.evpi, color="0.5", linewidth=1.0, label="perfect information")
            self.lines_.append(line)
            self.ax_.set_xscale("log")
            self.ax_.xaxis.set_major_formatter("{x:,g}")
            self.ax_.xaxis.set_minor_formatter("")
            self.ax_.set_ylim(bottom=0.0)
            self.ax_.set(xlabel="Further rows", ylabel=unit_of(self.value).capitalize())
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        return self


# Value of a confusion measure over the number of rows acted on or over the threshold, with the best choice marked.

_BESIDE = 0.05  # of the height of the curves, above and below them


class _UtilityCurvesDisplay(_axes.CurvesDisplay):
    """Base of the two displays of utility curves."""

    best_: list[Line2D]
    rivals_: list[Line2D]

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw the curves, the best choice of each, and what rivals it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        display
            This object, with its attributes.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.utility import F1, expected_utility
        >>> expected_utility([0.9, 0.2, 0.6, 0.1], F1()).plot().best_[0].get_label()
        'best: 2 rows, from probability 0.6: 0.7679'
        """
        with self._picture(ax, legend):
            shown = self._shown()
            heights = self._draw_curves(shown, references=False)
            self.best_, self.rivals_ = [], []
            for curve, line in zip(self.curves, self.lines_, strict=True):
                self._mark(curve, line)
            low, high = float(heights.min()), float(heights.max())
            beside = _BESIDE * (high - low) or _BESIDE
            margin = 0.02 * (shown[1] - shown[0])
            self.ax_.set_xlim(shown[0] - margin, shown[1] + margin)
            self.ax_.set_ylim(low - beside, high + beside)
            self.ax_.set(xlabel=self.x_label, ylabel=_axes.plain(self._y_label()))
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        self._format_x()
        return self

    def _shown(self) -> Range:
        low = min(float(curve.knots[0]) for curve in self.curves)
        high = max(float(curve.knots[-1]) for curve in self.curves)
        if _axes.drawn(self.ax_, _axes.MODEL):  # beside what an earlier display drew
            before = self.ax_.dataLim.intervalx
            low, high = min(low, float(before[0])), max(high, float(before[1]))
        return low, high

    def _y_label(self) -> str:
        measures = {curve.measure.removesuffix("()") for curve in self.curves}
        return measures.pop() if len(measures) == 1 else "Value of the measure"

    def _named(self, curve: UtilityCurve, text: str) -> str:
        """Put the curve's name in front of a remark where there are several."""
        return text if len(self.curves) == 1 else _axes.plain(f"{curve.name}, {text}")

    def _mark(self, curve: UtilityCurve, line: Line2D) -> None:
        raise NotImplementedError

    def _format_x(self) -> None:
        raise NotImplementedError

    def _points(self, x: Any, y: Any, line: Line2D, label: str, **look: Any) -> Line2D:
        """Draw markers in the colour of their curve, above it."""
        (points,) = self.ax_.plot(x, y, color=line.get_color(), linestyle="none", label=label, zorder=3.0, **look)
        return points


class ExpectedUtilityDisplay(_UtilityCurvesDisplay):
    """Expected value of a measure over the number of rows acted on: the best number, its ties and the runner-up.

    Parameters
    ----------
    curves : UtilityCurve, sequence of UtilityCurve, or mapping of str to UtilityCurve
        ``expected_utility(...).as_curve()``.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One for each curve.
    best_ : list of matplotlib lines
        The marker of the best number of rows of each curve.
    rivals_ : list of matplotlib lines
        Markers of ties and runners-up.

    Examples
    --------
    >>> from stakes.display import ExpectedUtilityDisplay
    >>> display = ExpectedUtilityDisplay.from_predictions([0.5, 0.5, 0.2], "precision")
    >>> [line.get_label() for line in display.rivals_]
    ['2 numbers of rows that cannot be distinguished', 'runner-up: 3 rows, 0.1 worse']
    """

    kind = "expected utility"
    x_label = "Rows acted on"

    @classmethod
    def from_predictions(
        cls,
        y_prob: Any,
        measure: Measure | type[Measure] | str,
        *,
        zero_division: float = 0.0,
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw from probabilities; no labels are needed.

        Parameters
        ----------
        y_prob : array_like, mapping of str to array_like, or data frame
            Calibrated probabilities of the positive class: one model, or several by name.
        measure : Measure or str
            For example ``F1()`` or "f1".
        zero_division : float, default 0
            Value of the measure in place of 0/0.
        legend, ax
            As in :meth:`plot`.

        Returns
        -------
        ExpectedUtilityDisplay

        Raises
        ------
        ValueError
            For invalid probabilities.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import ExpectedUtilityDisplay
        >>> ExpectedUtilityDisplay.from_predictions([0.9, 0.2, 0.6], "f1").ax_.get_ylabel()
        'Expected F1'
        """
        return cls._of(None, y_prob, measure, zero_division=zero_division).plot(ax, legend=legend)

    @staticmethod
    def _curve(_y_true: None, y_prob: Any, measure: Any, *, name: str, zero_division: float) -> UtilityCurve:
        return replace(expected_utility(y_prob, measure, zero_division=zero_division).as_curve(), name=name)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *measure: Any, pos_label: object = None, **options: Any) -> Self:
        """Draw from one or several fitted classifiers and the rows to decide about.

        Parameters
        ----------
        estimator : classifier or mapping of str to classifier
            Fitted, with ``predict_proba``; the positive class is found in ``classes_``.
        X : array_like of shape (n, n_features)
            The batch.
        *measure, **options
            What else :meth:`from_predictions` takes.
        pos_label : object, optional
            The label of the positive class.

        Returns
        -------
        ExpectedUtilityDisplay

        Raises
        ------
        ValueError
            For a classifier without ``predict_proba`` or with other than two classes.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from stakes.display import ExpectedUtilityDisplay
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> ExpectedUtilityDisplay.from_estimator(LogisticRegression().fit(X, y), X, "f1").lines_[0].get_label()
        'LogisticRegression'
        """
        return cls.from_predictions(_axes.estimator_predictions(estimator, X, pos_label), *measure, **options)

    def _y_label(self) -> str:
        return f"Expected {super()._y_label()}".replace("Value", "value")

    def _mark(self, curve: UtilityCurve, line: Line2D) -> None:
        where = f", {'from' if curve.descending else 'up to'} probability {curve.threshold:.4g}" if curve.best else ""
        label = self._named(curve, f"best: {curve.best:,.0f} rows{where}: {curve.best_value:.4g}")
        self.best_.append(self._points(curve.best, curve.best_value, line, label, marker="o", markersize=5.0))
        others = np.array([k for k in curve.ties if k != curve.best], dtype=float)
        if len(others):
            label = self._named(curve, f"{len(curve.ties):,} numbers of rows that cannot be distinguished")
            self.rivals_.append(self._points(others, curve.at(others), line, label, marker="|", markersize=9.0))
        if curve.runner_up is not None:
            label = self._named(curve, f"runner-up: {curve.runner_up:,} rows, {abs(curve.gap):.2g} worse")
            look = {"marker": "o", "markersize": 9.0, "markerfacecolor": "none"}
            self.rivals_.append(self._points(curve.runner_up, curve.at(curve.runner_up), line, label, **look))

    def _format_x(self) -> None:
        locator = _axes.few_ticks(self.ax_, room=60.0)
        locator.set_params(integer=True)
        self.ax_.xaxis.set_major_locator(locator)
        self.ax_.xaxis.set_major_formatter("{x:,.0f}")


class UtilityCurveDisplay(_UtilityCurvesDisplay):
    """Value of a measure over the threshold on labelled data, with the best threshold.

    Parameters
    ----------
    curves : UtilityCurve, sequence of UtilityCurve, or mapping of str to UtilityCurve
        ``utility_curve(...)``.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One for each curve.
    best_ : list of matplotlib lines
        The marker of the best threshold of each curve.
    rivals_ : list
        Empty.

    Examples
    --------
    >>> from stakes.display import UtilityCurveDisplay
    >>> display = UtilityCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.45, 0.8], "f1")
    >>> display.best_[0].get_label()
    'best: threshold 0.4: 0.8'
    """

    kind = "utility"
    x_label = "Threshold"
    _curve = staticmethod(utility_curve)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        measure: Measure | type[Measure] | str,
        *,
        zero_division: float = 0.0,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw from labels and scores.

        Parameters
        ----------
        y_true : array_like of shape (n,)
            Labels with two values.
        y_score : array_like, mapping of str to array_like, or data frame
            Scores of any kind that rise with the probability: one model, or several by name.
        measure : Measure or str
            For example ``F1()`` or "f1".
        zero_division : float, default 0
            Value of the measure in place of 0/0.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        legend, ax
            As in :meth:`plot`.

        Returns
        -------
        UtilityCurveDisplay

        Raises
        ------
        ValueError
            For invalid data.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import UtilityCurveDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> [line.get_label() for line in UtilityCurveDisplay.from_predictions([0, 1, 0, 1], models, "f1").best_]
        ['a, best: threshold 0.6: 1', 'b, best: threshold 0.6: 0.6667']
        """
        options = {"zero_division": zero_division, "sample_weight": sample_weight, "pos_label": pos_label}
        return cls._of(y_true, y_score, measure, **options).plot(ax, legend=legend)

    def _mark(self, curve: UtilityCurve, line: Line2D) -> None:
        # acting on no row is a threshold beyond the last score, and may have no place on the axis
        place = min(max(curve.best, float(curve.knots[0])), float(curve.knots[-1]))
        what = f"threshold {curve.best:.4g}" if math.isfinite(curve.best) else "act on no row"
        label = self._named(curve, f"best: {what}: {curve.best_value:.4g}")
        self.best_.append(self._points(place, curve.best_value, line, label, marker="o", markersize=5.0))

    def _format_x(self) -> None:
        self.ax_.xaxis.set_major_locator(_axes.few_ticks(self.ax_))
        low, high = self._shown()
        if low >= 0.0 and high <= 1.0:
            self.ax_.xaxis.set_major_formatter(_axes.format_percent)


# Thresholds over score and uncertainty, on the observed rates of positives, beside a single threshold.

_COLOUR_MAP = "Blues"
_DARKEST = 0.75  # of the colours, so that the lines stand out everywhere
_MESH = 400
_BETWEEN_LEVELS = 24  # lines of the mesh within one level


class BoundaryDisplay(_axes.Display):
    """Levels of uncertainty from the most certain below, thresholds, and the rate of positives among the rows.

    Every level is equally high, however many uncertainties it spans. Inside the boundary, to the right of the line,
    rows are labelled positive. Cells without rows are grey.

    Parameters
    ----------
    boundary : Boundary
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    cells_ : matplotlib mesh
        Observed rates of positives.
    boundary_ : matplotlib line
        The boundary (of a region that is no threshold in each level: its first outline).
    single_ : matplotlib line or None
        The best single threshold, if it selects anything.

    Examples
    --------
    >>> from stakes.display import BoundaryDisplay
    >>> y, score, noise = [1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1]
    >>> display = BoundaryDisplay.from_predictions(y, score, noise, min_precision=1, levels=2)
    >>> display.ax_.get_ylabel()
    'Uncertainty'
    """

    cells_: QuadMesh
    boundary_: Line2D
    single_: Line2D | None

    def __init__(self, boundary: Boundary) -> None:
        if not isinstance(boundary, Boundary):
            raise ValueError(f"boundary must be a Boundary, got {boundary!r}.")
        self.boundary = boundary

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        uncertainty: ArrayLike,
        *,
        legend: Legend = "auto",
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Fit a boundary and draw it.

        Parameters
        ----------
        y_true, y_score, uncertainty : array_like of shape (n,)
            As in :func:`stakes.boundary.fit_boundary`.
        legend, ax
            As in :meth:`plot`.
        **options
            Arguments of :func:`stakes.boundary.fit_boundary`, such as ``min_precision=0.9``.

        Returns
        -------
        BoundaryDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import BoundaryDisplay
        >>> BoundaryDisplay.from_predictions([0, 1], [0.2, 0.7], [1, 1], capacity=1).ax_.get_xlabel()
        'Score'
        """
        return cls(fit_boundary(y_true, y_score, uncertainty, **options)).plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw cells, boundary and single threshold.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes.

        Returns
        -------
        BoundaryDisplay
            This object, with its attributes.

        Raises
        ------
        ValueError
            For an unknown legend.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> from stakes.display import BoundaryDisplay
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> BoundaryDisplay(boundary).plot().boundary_.get_label()
        'boundary: most recall, precision >= 1'
        """
        with self._picture(ax, legend):
            self._draw_cells()
            self._draw_boundary()
            self.single_ = None
            threshold = self.boundary.threshold
            if np.isfinite(threshold) and self.boundary.solver != "single_threshold":
                look: Any = {"color": "black", "linestyle": "--", "linewidth": 1.5, "zorder": 2.5}
                self.single_ = self.ax_.axvline(threshold, label=f"single threshold: {threshold:.3g}", **look)
            self._label_levels()
        return self

    def _draw_cells(self) -> None:
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap

        cells = self.boundary._counts
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.ma.masked_invalid(cells.positives / cells.totals)
        colours = ListedColormap(colormaps[_COLOUR_MAP](np.linspace(0.0, _DARKEST, 256)))
        self.ax_.set_facecolor(_axes.EMPTY_COLOUR)
        rows = np.arange(len(rates) + 1.0)
        self.cells_ = self.ax_.pcolormesh(cells.edges, rows, rates, cmap=colours, vmin=0.0, vmax=1.0)
        bar = self.figure_.colorbar(self.cells_, ax=self.ax_, format=_axes.format_percent)
        bar.set_label("Observed rate of positives")
        for level in rows[1:-1]:
            self.ax_.axhline(level, color="white", linewidth=1.5)
        self.ax_.set_xlim(cells.edges[0], cells.edges[-1])
        self.ax_.set_ylim(0.0, rows[-1])

    def _draw_boundary(self) -> None:
        look: Any = {"color": _axes.PALETTE[1], "linewidth": 2.5, "zorder": 3.0}
        label = f"boundary: {self.boundary.goal}"
        thresholds = self.boundary.thresholds
        if thresholds is not None:
            beyond = self.boundary._counts.edges[-1]
            x = np.repeat(np.where(np.isfinite(thresholds), thresholds, beyond), 2)
            y = np.repeat(np.arange(len(self.boundary.rows) + 1.0), 2)[1:-1]
            (self.boundary_,) = self.ax_.plot(x, y, label=label, clip_on=False, **look)
            return
        outlines = self._outlines()
        for number, (x, y) in enumerate(outlines or [(np.empty(0), np.empty(0))]):
            (line,) = self.ax_.plot(x, y, label=label if number == 0 else None, **look)
            if number == 0:
                self.boundary_ = line

    def _outlines(self) -> list[tuple[Floats, Floats]]:
        """Where a region that is no threshold in each level begins: its lowest score at each height."""
        edges, levels = self.boundary._counts.edges, len(self.boundary.rows)
        heights = np.linspace(0.0, levels, levels * _BETWEEN_LEVELS)
        scores = np.linspace(edges[0], edges[-1], _MESH)
        low, high = self.boundary._counts.span
        cuts = self.boundary.cuts
        bounds = np.r_[min(low, *cuts[:1], low), cuts, max(high, *cuts[-1:], high)]
        uncertainty = np.interp(heights, np.arange(levels + 1.0), bounds)
        mesh = np.meshgrid(scores, uncertainty)
        inside = self.boundary._rule.select(mesh[0].ravel(), mesh[1].ravel()).reshape(mesh[0].shape)
        turns = np.diff(inside.astype(int), axis=1) != 0
        most = int(turns.sum(axis=1).max(initial=0))
        out = []
        from_right = np.cumsum(turns[:, ::-1], axis=1)[:, ::-1]  # the highest scores are selected at every height
        for turn in range(most):  # regions seldom begin or end more than once along a row
            place = (from_right == turn + 1) & turns
            x = np.where(place.any(axis=1), scores[np.argmax(place, axis=1)], np.nan)
            out.append((x, heights))
        return out

    def _label_levels(self) -> None:
        cuts = [f"{cut:.3g}" for cut in self.boundary.cuts]
        between = [f"{low} to {high}" for low, high in pairwise(cuts)]
        names = [f"up to {cuts[0]}", *between, f"above {cuts[-1]}"] if cuts else ["all"]
        self.ax_.set_yticks(np.arange(len(names)) + 0.5, names)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set(xlabel="Score", ylabel="Uncertainty")
