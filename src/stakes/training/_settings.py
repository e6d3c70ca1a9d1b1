"""Settings of a monitor as plain values, by whose text two monitors are compared, also by a checkpoint on the disk."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from stakes.base import validation
from stakes.base.multiclass import index_names, named_values
from stakes.costs import CostDistribution


def settled(value: Any) -> Any:
    """Plain values, those of a mapping in the order of its labels."""
    if isinstance(value, Mapping):
        return _by_name({name: np.asarray(number).tolist() for name, number in value.items()})
    return value if isinstance(value, str) else np.asarray(value).tolist()


def in_full(value: Any) -> Any:
    """Plain values whose text is that of no other setting: with names, and nothing rounded or left out."""
    value = named_values(value, "a setting")
    if isinstance(value, Mapping):
        return _by_name({name: in_full(each) for name, each in value.items()})
    if isinstance(value, CostDistribution) and type(value).__repr__ is not CostDistribution.__repr__:
        return {"costs": value, "sha256": sha256(repr(value._key()).encode()).hexdigest()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(in_full, value)) if type(value) in (list, tuple) else value
    names = index_names(value), validation.frame_names(value)
    if np.ndim(value) == 2:
        plain = validation.to_array(value, "a setting").tolist()
        return {"rows": names[0], "columns": names[1], "values": plain} if any(names) else plain
    return value.tolist() if hasattr(value, "tolist") else value


def _by_name(values: Mapping[Any, Any]) -> dict[Any, Any]:
    plain = {name.item() if isinstance(name, np.generic) else name: value for name, value in values.items()}
    return dict(sorted(plain.items(), key=lambda item: (str(type(item[0])), item[0])))
