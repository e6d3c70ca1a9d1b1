"""Curves over the decision threshold: regret, and net benefit (the decision curve)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from stakes.curves import Curve, net_benefit_curve, regret_curve
from stakes.display._axes import (
    axes_for,
    check_bounds,
    draw_cost_axis,
    draw_legend,
    figure_of,
    settle,
    shade_bounds,
    widened,
)
from stakes.display._labels import label_references
from stakes.display._lines import (
    MODEL,
    draw_models,
    draw_references,
    drawn,
    heights_within,
)
from stakes.display._models import estimator_predictions, named_curves, named_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from stakes._kernel import Rule
    from stakes.display._axes import Legend, Range, XScale
    from stakes.score_table import ScoreTable

_HEADROOM = 1.08
_HARM_SHOWN = 0.3  # of the height above zero
_NEARLY_ALL = 0.7  # scores that reach this far make the whole axis worth showing


class ThresholdCurvesDisplay:
    """What the displays over the decision threshold share."""

    kind: ClassVar[str]
    y_label: ClassVar[str]
    _curve: ClassVar[Callable[..., Curve]]

    curves: list[Curve]
    ax_: Axes
    figure_: Figure
    lines_: list[Line2D]
    reference_lines_: list[Line2D]
    bounds_: Any

    def __init__(self, curves: Curve | Sequence[Curve] | Mapping[str, Curve]) -> None:
        self.curves = named_curves(curves, self.kind)

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
        curves = [
            cls._curve(
                y_true,
                scores,
                rule=rule,
                sample_weight=sample_weight,
                pos_label=pos_label,
                prevalence=prevalence,
                logits=logits,
                name=name,
            )
            for name, scores in named_predictions(y_true, y_prob).items()
        ]
        return cls(curves).plot(ax, bounds=bounds, x_scale=x_scale, references=references, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        bounds: Range | None = None,
        rule: Rule = "score",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        x_scale: XScale = "linear",
        references: bool = True,
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw from one or several fitted classifiers and data to try them on.

        Parameters
        ----------
        estimator : classifier or mapping of str to classifier
            Fitted, with ``predict_proba``; the positive class is found in ``classes_``.
        X : array_like of shape (n, n_features)
            Rows that the classifiers have not seen.
        y : array_like of shape (n,)
            Their labels.
        bounds, rule, sample_weight, pos_label, prevalence
            As in :meth:`from_predictions`.
        x_scale, references, legend, ax
            As in :meth:`plot`.

        Returns
        -------
        display

        Raises
        ------
        ValueError
            For a classifier without ``predict_proba`` or with other than two classes, and for invalid data.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from stakes.display import RegretCurveDisplay
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> RegretCurveDisplay.from_estimator(LogisticRegression().fit(X, y), X, y).lines_[0].get_label()
        'LogisticRegression'
        """
        return cls.from_predictions(
            y,
            estimator_predictions(estimator, X, pos_label),
            bounds=bounds,
            rule=rule,
            sample_weight=sample_weight,
            pos_label=pos_label,
            prevalence=prevalence,
            x_scale=x_scale,
            references=references,
            legend=legend,
            ax=ax,
        )

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
        self.ax_, new = axes_for(ax)
        self.figure_ = figure_of(self.ax_)
        earlier = drawn(self.ax_, MODEL)
        shown = self._shown(bounds, x_scale)
        if earlier and bounds is None:
            low, high = self.ax_.get_xlim()
            shown = low, high
        draw_cost_axis(self.ax_, shown, x_scale)
        self.bounds_ = shade_bounds(self.ax_, bounds)
        self.lines_ = draw_models(self.ax_, self.curves, shown)
        compared = self.curves[0].references.values() if references else ()
        self.reference_lines_ = draw_references(self.ax_, compared, shown)
        heights = np.concatenate([heights_within(line, shown) for line in drawn(self.ax_, MODEL)])
        self.ax_.set_ylim(*self._y_limits(heights, np.linspace(*shown, 201)))
        self.ax_.set(xlabel="Threshold", ylabel=self.y_label)
        self.ax_.yaxis.set_major_formatter("{x:.6g}")
        draw_legend(self.ax_, legend, new=new)
        if new:
            settle(self.figure_)
        label_references(self.ax_)
        return self

    def _shown(self, bounds: Range | None, x_scale: XScale) -> Range:
        if bounds is not None and bounds != (0.0, 1.0):
            return widened(bounds, x_scale)
        inner = np.concatenate([curve.knots[(curve.knots > 0.0) & (curve.knots < 1.0)] for curve in self.curves])
        if x_scale == "log-odds":
            ends = (float(inner.min()), float(inner.max())) if len(inner) else (0.01, 0.99)
            return max(0.8 * ends[0], 1e-4), min(0.2 + 0.8 * ends[1], 1.0 - 1e-4)
        reach = float(inner.max(initial=0.0)) or 1.0
        return 0.0, 1.0 if reach > _NEARLY_ALL or bounds is not None else 1.2 * reach

    def _y_limits(self, heights: NDArray[np.float64], thresholds: NDArray[np.float64]) -> Range:
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

    def _y_limits(self, heights: NDArray[np.float64], thresholds: NDArray[np.float64]) -> Range:
        constants = [reference.at(thresholds) for reference in self.curves[0].references.values()]
        best_constant = np.min(constants, axis=0).max() if constants else 0.0
        return 0.0, _HEADROOM * max(float(heights.max()), float(best_constant)) or 1.0


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

    def _y_limits(self, heights: NDArray[np.float64], thresholds: NDArray[np.float64]) -> Range:
        thresholds = thresholds[thresholds < 1.0]
        constants = [reference.at(thresholds) for reference in self.curves[0].references.values()]
        best_constant = np.max(constants, axis=0).max() if constants else 0.0
        bottom, top = float(heights.min()), max(float(heights.max()), float(best_constant))
        unit = top or -bottom or 1.0
        # a model that does harm is seen to; the plunge of treating everyone does not squash the rest
        lowest = max(bottom, -_HARM_SHOWN * unit) if top > 0.0 else bottom
        return min(lowest, 0.0) - 0.05 * unit, top + (_HEADROOM - 1.0) * unit
