"""One or several models, as predictions, estimators or curves, become named curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    if isinstance(curves, Curve):
        found = [curves]
    elif isinstance(curves, Mapping):
        from dataclasses import replace

        found = [replace(curve, name=name) for name, curve in curves.items()]
    else:
        found = list(curves)
    if not found:
        raise ValueError("curves must hold at least one curve, got none.")
    for curve in found:
        if getattr(curve, "kind", None) != kind:
            raise ValueError(f"curves must be {kind} curves, got {curve!r}.")
    return found


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
