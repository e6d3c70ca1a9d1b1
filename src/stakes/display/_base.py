"""Display classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from stakes.base.validation import check_same_order
from stakes.core.score_table import ScoreTable
from stakes.curves import Curve
from stakes.display._axes import (
    axes_for,
    draw_legend,
    draw_models,
    draw_references,
    figure_of,
    heights_of_models,
    label_references,
    name_rows,
    settle,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from stakes.display._axes import Floats, Legend, Range


# One or several models, as predictions, estimators or curves, become named curves.

C = TypeVar("C", bound=Curve)


def named_curves(curves: C | Sequence[C] | Mapping[str, C], kind: str) -> list[C]:
    """Return curves of one kind as a list, renamed where a mapping names them."""
    found = several(curves, "curves", Curve, "curve")
    for curve in found:
        if getattr(curve, "kind", None) != kind:
            raise ValueError(f"curves must be {kind} curves, got {curve!r}.")
    return renamed(found, curves)


def several(given: Any, name: str, kind: type, what: str) -> list[Any]:
    """Return one thing of a kind, or those of a sequence or of a mapping, as a list."""
    if isinstance(given, kind):
        return [given]
    found = given.values() if isinstance(given, Mapping) else given
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise ValueError(f"{name} must be one {what}, or a sequence or mapping of them, got {given!r}.")
    found = list(found)
    if not found:
        raise ValueError(f"{name} must hold at least one {what}, got none.")
    return found


def renamed(found: list[Any], given: Any) -> list[Any]:
    """Give what a mapping named its names."""
    if not isinstance(given, Mapping):
        return found
    from dataclasses import replace

    return [replace(each, name=name) for name, each in zip(given, found, strict=True)]


def named_predictions(y_true: Any, y_prob: Any, sample_weight: Any = None) -> dict[str, Any]:
    """Return the predictions of each model by name; a score table stands for the labels and scores of one."""
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    if isinstance(y_true, ScoreTable):
        return {"model": y_prob}
    from stakes.evaluation import named_models

    return named_models(y_prob)[0]


def estimator_predictions(estimators: Any, X: Any, pos_label: object) -> dict[str, NDArray[np.float64]]:
    """Return the probability of the positive class from each fitted classifier, by name."""
    models = estimators if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
    return {str(name): _positive_column(str(name), model, X, pos_label) for name, model in models.items()}


def _positive_column(name: str, estimator: Any, X: Any, pos_label: object) -> NDArray[np.float64]:
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must have predict_proba, got {name} without it: wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or pass probabilities to from_predictions."
        )
    columns = np.asarray(estimator.predict_proba(X), dtype=float)
    classes = np.asarray(estimator.classes_).tolist()
    if len(classes) != 2:
        raise ValueError(f"estimator must know two classes, got {name} with {len(classes)}: {classes[:5]}.")
    if pos_label is None:
        if not (set(classes) <= {0, 1} or set(classes) <= {-1, 1}):
            raise ValueError(f"{name} knows the classes {classes}: pass pos_label= to say which is positive.")
        pos_label = 1
    if pos_label not in classes:
        raise ValueError(f"pos_label must be one of the classes {classes} of {name}, got {pos_label!r}.")
    column: NDArray[np.float64] = columns[:, classes.index(pos_label)]
    return column


# What the displays share: axes that are laid out once all is drawn, curves of one kind, estimators as predictions.


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
