"""What an estimator is judged by, checked before it is fitted: it, its rows and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stakes.core.estimators import check_gives_probabilities
from stakes.core.validation import to_array
from stakes.shown.text import shorten

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Bools = NDArray[np.bool_]

_LONGEST = 80


def check_fittable(estimator: Any, X: Any, y: ArrayLike) -> NDArray[Any]:
    """Return the labels, or raise where the estimator cannot be fitted to the rows and them."""
    check_gives_probabilities(estimator)
    target = _check_target(y)
    _check_rows(X, len(target))
    return target


def _check_target(y: ArrayLike) -> NDArray[Any]:
    """Labels, one for each row of X, or raise."""
    target = to_array(y, "y")
    if target.ndim != 1:
        raise ValueError(f"y must be 1-D, one label per row of X, got shape {target.shape}.")
    return target


def both_classes(y: Bools) -> Bools:
    """Return the labels, or raise where one class is all there is."""
    if y.all() or not y.any():
        raise ValueError(f"y must hold both classes, got {len(y)} rows of one class: nothing can be fitted to them.")
    return y


def _check_rows(X: Any, length: int) -> None:
    """Refuse rows of which there is not one for each label."""
    shape = getattr(X, "shape", None)
    rows = None
    if isinstance(shape, tuple):
        rows = int(shape[0]) if shape else None
    elif isinstance(X, Sequence) and not isinstance(X, (str, bytes)):
        rows = len(X)
    if rows is None:
        shown = shorten(repr(X), _LONGEST)
        raise ValueError(f"X must hold one row per label, as an array or a data frame, got {shown}.")
    if rows != length:
        raise ValueError(f"X must hold one row per label of y, got {rows} rows for {length} labels.")
