"""What the displays share: axes that are laid out once all is drawn, curves of one kind, estimators as predictions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.display._axes import axes_for, draw_legend, figure_of, name_rows, settle
from stakes.display._labels import label_references
from stakes.display._lines import draw_models, draw_references, heights_of_models
from stakes.display._models import estimator_predictions, named_curves, named_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from stakes.curves import Curve
    from stakes.display._axes import Floats, Legend, Range


class Display:
    """A picture in axes of its own or the caller's."""

    ax_: Axes
    figure_: Figure
    lines_: list[Line2D]
    bounds_: Any

    def _results(self) -> Iterable[Any]:
        """What is drawn, each with what it is about."""
        return ()

    @contextmanager
    def _picture(self, ax: Axes | None, legend: Legend) -> Iterator[bool]:
        """Axes to draw in, and whether they are new; afterwards come the legend, the layout, the reference names."""
        self.ax_, new = axes_for(ax)
        self.figure_ = figure_of(self.ax_)
        yield new
        name_rows(self.ax_, self._results())
        draw_legend(self.ax_, legend, new=new)
        if new:
            settle(self.figure_)
        label_references(self.ax_)


class PredictionsDisplay(Display):
    """A display that can be drawn from predictions, and so from the estimators that make them."""

    @classmethod
    def from_predictions(cls, *data: Any, **options: Any) -> Self:
        """Draw from labels and predictions."""
        raise NotImplementedError

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *data: Any, **options: Any) -> Self:
        """Draw from one or several fitted classifiers and data to try them on.

        Parameters
        ----------
        estimator : classifier or mapping of str to classifier
            Fitted, with ``predict_proba``; the positive class is found in ``classes_``.
        X : array_like of shape (n, n_features)
            Rows that the classifiers have not seen.
        y : array_like of shape (n,)
            Their labels.
        *data, **options
            What else :meth:`from_predictions` takes, such as ``pos_label``; ``logits`` makes no sense here.

        Returns
        -------
        display

        Raises
        ------
        ValueError
            For a classifier without ``predict_proba`` or with other than two classes, and for invalid data.
        TypeError
            For options that :meth:`from_predictions` does not take.
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
        check_same_order(X=X, y=y, sample_weight=options.get("sample_weight"))
        if "logits" in options:
            raise TypeError("from_estimator() takes no logits: predict_proba gives probabilities.")
        predictions = estimator_predictions(estimator, X, options.get("pos_label"))
        return cls.from_predictions(y, predictions, *data, **options)


class CurvesDisplay(PredictionsDisplay):
    """A display of curves of one kind, beside what to compare them with."""

    kind: ClassVar[str]
    x_label: ClassVar[str]
    y_label: ClassVar[str]
    _curve: ClassVar[Callable[..., Curve]]

    curves: list[Any]
    reference_lines_: list[Line2D]

    def __init__(self, curves: Curve | Sequence[Curve] | Mapping[str, Curve]) -> None:
        self.curves = named_curves(curves, self.kind)

    @classmethod
    def _of(cls, y_true: Any, y_prob: Any, *data: Any, **options: Any) -> Self:
        """The display of the curves that the predictions of each model give."""
        named = named_predictions(y_true, y_prob, options.get("sample_weight")).items()
        return cls([cls._curve(y_true, scores, *data, name=name, **options) for name, scores in named])

    def _draw_curves(self, shown: Range, *, references: bool = True) -> Floats:
        """Draw models and references; return the heights of all models in these axes within the range shown."""
        self.lines_ = draw_models(self.ax_, self.curves, shown)
        compared = self.curves[0].references.values() if references else ()
        self.reference_lines_ = draw_references(self.ax_, compared, shown)
        return heights_of_models(self.ax_, shown)

    def _results(self) -> Iterable[Any]:
        return self.curves

    def _best_constant(self, thresholds: Floats, *, lower: bool) -> Floats:
        """The better of the references at each threshold; nothing where there are none."""
        constants = [reference.at(thresholds) for reference in self.curves[0].references.values()]
        return (np.min if lower else np.max)(constants, axis=0) if constants else np.zeros(1)
