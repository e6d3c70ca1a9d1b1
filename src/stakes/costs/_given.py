"""What ``costs=`` and ``bounds=`` accept, in one place: every function that takes either reads it here."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from stakes.core.remedies import as_costs_of, as_range, brief, in_percent
from stakes.core.validation import check_number
from stakes.costs._base import CostDistribution
from stakes.costs._continuous import Uniform
from stakes.costs._discrete import Fixed

CostsLike = CostDistribution | tuple[float, float] | float


def as_costs(costs: CostsLike, name: str = "costs") -> CostDistribution:
    """Make a cost distribution of what ``costs=`` was given.

    Parameters
    ----------
    costs : CostDistribution, tuple of float, or float
        A distribution, as it is; a pair (low, high), for a uniform distribution; or one cost ratio.
    name : str, default "costs"
        What the argument is called in error messages.

    Returns
    -------
    CostDistribution
        The distribution itself, ``Uniform(low, high)`` or ``Fixed(c)``.

    Raises
    ------
    ValueError
        For anything else, such as text, percentages, a reversed pair or three numbers.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.as_costs((0.02, 0.10))
    Uniform(low=0.02, high=0.1)
    >>> costs.as_costs(0.1)
    Fixed(c=0.1, tie=1.0)
    """
    given: object = costs
    if isinstance(given, CostDistribution):
        return given
    if _is_number(given):
        return Fixed(_share(given, name))
    if _pair(given, name) is None:
        raise ValueError(
            f"{name} must be a cost distribution, a pair (low, high) or one number in [0, 1], got {brief(given)}"
            f"{as_costs_of(given)}."
        )
    return Uniform(*as_bounds(given, name))


def as_bounds(bounds: Any, name: str = "bounds") -> tuple[float, float]:
    """Return a pair with 0 <= low < high <= 1 as two floats.

    Parameters
    ----------
    bounds : tuple of float
        Smallest and largest plausible threshold.
    name : str, default "bounds"
        What the argument is called in error messages.

    Returns
    -------
    tuple of float
        The pair (low, high).

    Raises
    ------
    ValueError
        For anything else, such as text, percentages, a reversed pair or three numbers.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.as_bounds([0, 0.2])
    (0.0, 0.2)
    """
    pair = _pair(bounds, name)
    if pair is None:
        text = as_costs_of(bounds) if isinstance(bounds, str) else ""
        raise ValueError(f"{name} must be a pair of numbers (low, high), got {brief(bounds)}{text}.")
    low, high = pair
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"{name} must satisfy 0 <= low < high <= 1, got ({low:g}, {high:g}){as_range(low, high)}.")
    return low, high


def _share(value: Any, name: str) -> float:
    number = check_number(value, name)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must lie in [0, 1], got {number:g}{in_percent(number)}.")
    return number


def _is_number(value: Any) -> bool:
    """Whether this is one real number, of Python or numpy; a truth value is none."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _pair(values: Any, name: str) -> tuple[float, float] | None:
    """A list, tuple or array of two real numbers as floats, or None for anything else."""
    if not isinstance(values, (list, tuple)) and not (isinstance(values, np.ndarray) and values.ndim == 1):
        return None
    if len(values) != 2:
        return None
    low, high = values
    if not (_is_number(low) and _is_number(high)):
        return None
    return check_number(low, f"the first of {name}"), check_number(high, f"the second of {name}")
