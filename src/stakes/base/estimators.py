"""What the classifiers in the manner of scikit-learn share."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.validation import one_is_positive, positive_label
from stakes.outputs.text import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_LONGEST = 80


def keep_arguments(estimator: Any, arguments: Mapping[str, Any]) -> None:
    """Set every argument of ``__init__`` as the attribute of its name, as scikit-learn asks; pass ``locals()``."""
    for name in inspect.signature(type(estimator)).parameters:
        setattr(estimator, name, arguments[name])


def check_gives_probabilities(estimator: Any) -> None:
    """Refuse what cannot be fitted, or gives no probabilities."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict_proba")):
        scored = not isinstance(estimator, type) and hasattr(estimator, "decision_function")
        remedy = "; CalibratedClassifierCV of scikit-learn makes probabilities of its scores" if scored else ""
        raise ValueError(
            "estimator must be a classifier with fit and predict_proba, such as LogisticRegression(), "
            f"got {shorten(repr(estimator), _LONGEST)}{remedy}."
        )


def read_two_classes(estimator: Any, y: Any) -> NDArray[Any]:
    """Return the labels as an array, and set ``classes_`` and ``pos_label_``, the label of the positive class."""
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets, type_of_target

    if estimator.estimator is not None:
        check_gives_probabilities(estimator.estimator)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    labels = column_or_1d(y, warn=True)
    if len(labels) == 0:
        raise ValueError("y must hold at least one row, got none.")
    check_classification_targets(labels)
    kind = type_of_target(labels)
    estimator.classes_ = np.unique(labels)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    if len(estimator.classes_) < 2:
        raise ValueError(f"y must hold two classes, got one class only: {estimator.classes_[0]!r}.")
    estimator.pos_label_ = find_positive_label(estimator.classes_.tolist(), estimator.pos_label)
    return np.asarray(labels)


def find_positive_label(classes: list[Any], pos_label: object) -> Any:
    """Return the label that was named, or 1 of 0 and 1 or -1 and 1, or with a warning the larger of other numbers.

    Functions refuse such numbers; a classifier must accept 1 and 2 to pass ``check_estimator`` of scikit-learn.
    """
    if pos_label is None and not one_is_positive(classes) and all(isinstance(v, (int, float)) for v in classes):
        warnings.warn(
            f"y holds {classes[0]!r}, {classes[1]!r}: {classes[1]!r}, the larger, is taken as the positive class. "
            "Pass pos_label= to say which it is.",
            stacklevel=4,
        )
        return classes[1]
    return classes[classes.index(positive_label(classes, pos_label, "y holds"))]


def positive_column(estimator: Any, prob: Any) -> Floats:
    """Probability of the positive class, out of those of the two ``classes_``."""
    return np.asarray(prob, dtype=float)[:, estimator.classes_.tolist().index(estimator.pos_label_)]


def negative_and_positive(estimator: Any) -> NDArray[Any]:
    """The two ``classes_``, the positive one last."""
    classes: NDArray[Any] = estimator.classes_
    return classes if classes.tolist()[1] == estimator.pos_label_ else classes[::-1]
