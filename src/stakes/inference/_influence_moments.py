"""Moments of an estimate from the influence of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.inference._moments import Moments, moments_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._influence import Cells, Influence


def influence_moments(
    cells: Cells,
    influence: Influence,
    codes: NDArray[np.intp] | None = None,
    lags: int | str | None = None,
    *,
    paired: bool = False,
) -> Moments:
    """Moments of an estimate from its influence, for rows that are independent, clustered or in order."""
    spread, rows, reason = cells.design(codes, lags).spread(
        influence.slope, influence.carried, np.array(influence.most)
    )
    return moments_of(
        influence.value,
        spread,
        rows,
        least=influence.least,
        reason=reason,
        paired=paired,
        clustered=codes is not None,
        least_value=influence.ends[0],
        most_value=influence.ends[1],
    )
