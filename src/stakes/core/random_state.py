"""Where chance comes from: one reading of ``random_state`` for every function that draws."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def settled_order(*columns: NDArray[Any] | None) -> NDArray[np.intp]:
    """An order of rows that does not depend on how they are given, so that neither do draws by the place of a row.

    Rows that are equal in all columns can stand for each other. Columns that are None are left out.
    """
    return np.lexsort([column for column in columns if column is not None][::-1])


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator that a seed, a generator or None stands for, or say which of these it must be."""
    if isinstance(random_state, np.random.RandomState):  # what scikit-learn passes around
        return np.random.default_rng(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, (bool, np.bool_))
    if whole and random_state < 0:
        raise ValueError(f"random_state must be a whole number >= 0, got {random_state}.")
    known = isinstance(random_state, (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence))
    if not (random_state is None or whole or known):
        raise ValueError(f"random_state must be a whole number, a numpy Generator or None, got {random_state!r}.")
    return np.random.default_rng(random_state)
