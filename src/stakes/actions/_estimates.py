"""Means over rows with their intervals, for whatever the rows cost."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from stakes.inference import Estimate, few_carry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from stakes.inference import CostRows


def mean_estimates(
    rows: CostRows,
    pairs: Mapping[str, tuple[int, int]],
    level: float,
    limits: tuple[ArrayLike, ArrayLike] = (-np.inf, np.inf),
    widening: Mapping[str, float] | None = None,
) -> dict[str, Estimate]:
    """Estimate the mean of one column less that of another (-1: of a column alone), by name.

    ``limits`` are the least and the largest value, for all or one by one; ``widening`` says how many times as large as
    the rows show the error of each is.
    """
    first, second = np.array(list(pairs.values()), dtype=np.intp).T
    means = rows.means
    value = means[first] - np.where(second < 0, 0.0, means[second])
    spread = rows.spread(first, second)
    times = np.array([1.0 if widening is None else widening[name] for name in pairs])
    reach = times * spread.reach(NormalDist().inv_cdf(0.5 + level / 2.0))
    ends = np.clip([value - reach, value + reach], *limits).T.tolist()
    notes = [
        few_carry("the estimate" if k < 0 else "the difference", float(rows))
        for k, rows in zip(second, spread.scarce, strict=True)
    ]
    errors = (times * np.sqrt(spread.variance)).tolist()
    return {
        name: Estimate(name, v, error, (low, high), level, note)
        for name, v, error, (low, high), note in zip(pairs, value.tolist(), errors, ends, notes, strict=True)
    }
