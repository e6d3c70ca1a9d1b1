"""Numbers of a long curve that are worked out where they are read: a table of ten million scores is stored once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Combination:
    """constant + first_factor * first + second_factor * second, elementwise, over arrays that others own.

    Parameters
    ----------
    first, second : ndarray of shape (m,)
        What is combined; the second may be left out.
    first_factor, second_factor, constant : float
        How.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.curves._combination import Combination
    >>> Combination(np.array([1.0, 2.0]), first_factor=-1.0, constant=5.0)[1:]
    array([3.])
    """

    first: Floats
    second: Floats | None = None
    first_factor: float = 1.0
    second_factor: float = 1.0
    constant: float = 0.0

    def __getitem__(self, index: Any) -> Floats:
        value: Floats = self.first[index] * self.first_factor + self.constant
        if self.second is not None:
            value = value + self.second[index] * self.second_factor
        return value

    def __len__(self) -> int:
        return len(self.first)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:  # noqa: FBT001  (the protocol of numpy)
        if copy is False:
            raise ValueError("a combination is worked out anew and cannot be shared.")
        return np.asarray(self[:], dtype=dtype)
