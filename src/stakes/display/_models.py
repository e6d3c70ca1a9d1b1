"""One or several models, as predictions, estimators or curves, become named curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.core.score_table import ScoreTable
from stakes.curves import Curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    from stakes.evaluation._evaluate import named_models

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
