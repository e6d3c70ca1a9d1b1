"""Rows with their cross-fitted recalibration, and the intervals that suit quantities which cannot be negative."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import refuse_weighing
from stakes.core.random_state import generator
from stakes.core.validation import BinarySample
from stakes.inference._crossfit import CrossFit, cross_fit
from stakes.inference._dependence import Design
from stakes.inference._moments import Moments
from stakes.inference._power_sums import freed
from stakes.inference._resample import is_whole, row_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.inputs import EvaluationData
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]

NEEDED = 20  # rows of each class: with fewer, the simulated coverage of a 95% interval falls below 92%
LEAST_FOLDS = 2


@dataclass(frozen=True)
class CrossFitRows:
    """Rows with their recalibration; ``fixed`` says that the class totals carry no sampling error."""

    sample: BinarySample
    fit: CrossFit
    fixed: bool

    def mean(self, values: Floats) -> float:
        return float(np.average(values, weights=self.sample.weight))

    def moments(self, value: float, values: Floats) -> Moments:
        """Moments of an estimate whose influence is that of the mean of some row values."""
        design = self.design
        terms, reason = design.parts(design.centred(values)), design.reason
        return Moments(value, float(freed(len(terms))) * float(np.dot(terms, terms)), self.degrees, reason=reason)

    @property
    def design(self) -> Design:
        """How the rows weigh."""
        weight = np.ones(len(self.sample.y)) if self.sample.weight is None else self.sample.weight
        return Design(self.sample.y, weight, fixed=self.fixed, origin=self.sample.origin)

    @property
    def degrees(self) -> int:
        """Degrees of freedom: the rarer class carries most of the variance."""
        positives = int(np.count_nonzero(self.sample.y))
        return min(positives, len(self.sample.y) - positives) - 1

    @property
    def prevalence(self) -> float:
        return self.mean(self.sample.y.astype(np.float64))

    def constant(self, costs: CostDistribution) -> Floats:
        """Losses of the prevalence as forecast."""
        at = np.array([self.prevalence])
        return np.where(self.sample.y, costs.positive_loss(at), costs.negative_loss(at))


def cross_fit_rows(data: EvaluationData, *, fixed_prevalence: bool, n_folds: int, random_state: Any) -> CrossFitRows:
    """Recalibrate the rows, or the equal rows that a table stands for; raise where there are too few."""
    if not (is_whole(n_folds) and LEAST_FOLDS <= n_folds <= NEEDED):
        raise ValueError(f"n_folds must be a whole number from {LEAST_FOLDS} to {NEEDED}, got {n_folds!r}.")
    sample = _expanded(data) if data.sample is None else data.sample
    sample = replace(sample, score=sample.score + 0.0)
    positives = int(np.count_nonzero(sample.y))
    for name, rows in (("positives", positives), ("negatives", len(sample.y) - positives)):
        if rows < NEEDED:
            raise ValueError(
                f"y_true must hold at least {NEEDED} {name} for an interval of a recalibrated quantity, got {rows} of "
                f"{len(sample.y)} rows."
            )
    fixed = fixed_prevalence or (data.sample is None and data.table.fixed_prevalence)
    return CrossFitRows(sample, cross_fit(sample, int(n_folds), generator(random_state)), fixed)


def _expanded(data: EvaluationData) -> BinarySample:
    refuse_weighing(data.table, "an interval from a table")
    counts, units = row_counts(data.table)
    both = np.concatenate(counts)
    y = np.repeat(np.arange(len(both)) >= len(counts[0]), both)
    score = np.repeat(np.tile(data.table.scores, 2), both)
    return BinarySample(y, score, None if units == (1.0, 1.0) else np.where(y, units[1], units[0]))


def non_negative_interval(
    moments: Moments, in_sample: float, level: float, high: float = math.inf
) -> tuple[float, float]:
    """Interval of a quantity in [0, high] whose variance grows with it, on the scale of its square root.

    The centre moves by z^2 / 4 times the variance over the estimate: the delta method for the root, squared back.
    Near zero, where this would explode, the optimism of the in-sample value stands in for the estimate. Zero is left
    out only if the plain interval leaves it out, and the upper end never lies below that of an estimate of zero.
    """
    from scipy.special import stdtrit

    z = float(stdtrit(moments.degrees, 0.5 + level / 2.0))
    size = max(moments.value, in_sample - moments.value)
    shift = z * z * moments.variance / (4.0 * size) if size > 0.0 else 0.0
    half = z * moments.standard_error
    low = moments.value + shift - half if moments.value > half else 0.0
    return min(low, high), min(max(moments.value, 0.0) + shift + half, high)
