"""Expected ratios of linear functions for rows of different weights: the curve, without any claim of optimality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._batch import Batch
from stakes.utility._linear import expected_linear
from stakes.utility._measure import LinearRatio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._estimate import Estimate
    from stakes.utility._measure import Measure

    Floats = NDArray[np.float64]


def estimate_weighted_curve(
    prob: Floats, weight: Floats, measure: Measure, zero_division: float, method: str
) -> tuple[Batch, Estimate]:
    """Curve over the rows of positive weight (the others have probability nan), in descending order."""
    rows = np.flatnonzero(weight > 0.0)
    order = rows[np.argsort(-prob[rows], kind="stable")]
    batch = Batch(prob[order], 1.0 - prob[order])
    estimate = None
    if isinstance(measure, LinearRatio) and method in {"auto", "exponentials"}:
        c, d = measure.coefficients
        estimate = expected_linear(batch, c, d, zero_division, weight[order])
    if estimate is None:
        raise ValueError(
            "sample_weight needs method='auto' or 'exponentials' and F-beta, Jaccard, precision, accuracy or a "
            f"FractionalLinear measure with a positive denominator, got {measure!r} and method={method!r}."
        )
    return batch, estimate
