"""Value of a confusion measure over the number of rows acted on or over the threshold, with the best choice marked."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.display._axes import few_ticks
from stakes.display._base import CurvesDisplay
from stakes.display._lines import MODEL, drawn
from stakes.display._models import estimator_predictions
from stakes.display._style import format_percent
from stakes.utility import UtilityCurve, expected_utility, utility_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from stakes.display._axes import Legend, Range
    from stakes.utility import Measure

_BESIDE = 0.05  # of the height of the curves, above and below them


class _UtilityCurvesDisplay(CurvesDisplay):
    """What the two displays share."""

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
            self.ax_.set(xlabel=self.x_label, ylabel=self._y_label())
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        self._format_x()
        return self

    def _shown(self) -> Range:
        low = min(float(curve.knots[0]) for curve in self.curves)
        high = max(float(curve.knots[-1]) for curve in self.curves)
        if drawn(self.ax_, MODEL):  # beside what an earlier display drew
            before = self.ax_.dataLim.intervalx
            low, high = min(low, float(before[0])), max(high, float(before[1]))
        return low, high

    def _y_label(self) -> str:
        measures = {curve.measure.removesuffix("()") for curve in self.curves}
        return measures.pop() if len(measures) == 1 else "Value of the measure"

    def _named(self, curve: UtilityCurve, text: str) -> str:
        """Put the curve's name in front of a remark where there are several."""
        return text if len(self.curves) == 1 else f"{curve.name}, {text}"

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
    ['2 numbers of rows that cannot be told apart', 'runner-up: 3 rows, 0.1 worse']
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
        return cls.from_predictions(estimator_predictions(estimator, X, pos_label), *measure, **options)

    def _y_label(self) -> str:
        return f"Expected {super()._y_label()}".replace("Value", "value")

    def _mark(self, curve: UtilityCurve, line: Line2D) -> None:
        where = f", {'from' if curve.descending else 'up to'} probability {curve.threshold:.4g}" if curve.best else ""
        label = self._named(curve, f"best: {curve.best:,.0f} rows{where}: {curve.best_value:.4g}")
        self.best_.append(self._points(curve.best, curve.best_value, line, label, marker="o", markersize=5.0))
        others = np.array([k for k in curve.ties if k != curve.best], dtype=float)
        if len(others):
            label = self._named(curve, f"{len(curve.ties):,} numbers of rows that cannot be told apart")
            self.rivals_.append(self._points(others, curve.at(others), line, label, marker="|", markersize=9.0))
        if curve.runner_up is not None:
            label = self._named(curve, f"runner-up: {curve.runner_up:,} rows, {abs(curve.gap):.2g} worse")
            look = {"marker": "o", "markersize": 9.0, "markerfacecolor": "none"}
            self.rivals_.append(self._points(curve.runner_up, curve.at(curve.runner_up), line, label, **look))

    def _format_x(self) -> None:
        locator = few_ticks(self.ax_, room=60.0)
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
        self.ax_.xaxis.set_major_locator(few_ticks(self.ax_))
        low, high = self._shown()
        if low >= 0.0 and high <= 1.0:
            self.ax_.xaxis.set_major_formatter(format_percent)
