"""What the classifiers in the manner of scikit-learn share."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def keep_arguments(estimator: Any, arguments: Mapping[str, Any]) -> None:
    """Set every argument of ``__init__`` as the attribute of its name, as scikit-learn asks; pass ``locals()``."""
    for name in inspect.signature(type(estimator)).parameters:
        setattr(estimator, name, arguments[name])
