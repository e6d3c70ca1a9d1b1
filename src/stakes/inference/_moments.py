"""The estimator behind every closed form here: a sum of independent rows, its spread, skewness and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

# with fewer rows of a class that carry a cost, the spread of those seen says too little of those unseen
NEEDED = 5
_ROOM = 4.0  # the 97.5% bound of a Poisson count of which none was seen is 3.7, and 1.96 * sqrt(4) is 3.9
_NOTICED = 0.1  # a class is left alone if one more of its rows moves the estimate by less than this share of its error
_CLASSES = ("negatives", "positives")
_SYMMETRIC = 1e-6  # skewness below this changes no digit of an interval that anyone reads


@dataclass(frozen=True)
class Moments:
    """An estimate that is a sum over independent rows, with the second and third moment of its error.

    Parameters
    ----------
    value : float
        The estimate.
    variance, third : float
        Variance and third central moment of the estimate.
    carriers : tuple of int
        Rows of the negative and of the positive class whose contribution is not zero.
    rows : tuple of int
        Rows of each class.
    unseen : tuple of float
        How far one more row of each class could move the estimate at most.
    degrees : float
        Degrees of freedom of the variance: inf for means over rows, fewer for clusters, ordered rows and ratios.
    least : int
        Rows of each class below which there is no interval.
    reason : str
        Why there is no interval for another reason; empty otherwise.

    Examples
    --------
    >>> from stakes.inference import Moments
    >>> [round(end, 4) for end in Moments(0.2, 0.0001, 0.0).interval(0.95)]
    [0.1804, 0.2196]
    """

    value: float
    variance: float
    third: float
    carriers: tuple[int, int] = (NEEDED, NEEDED)
    rows: tuple[int, int] = (NEEDED, NEEDED)
    unseen: tuple[float, float] = (0.0, 0.0)
    degrees: float = math.inf
    least: int = 0
    reason: str = ""

    @property
    def standard_error(self) -> float:
        """Square root of the variance; nan where it is."""
        return math.sqrt(self.variance)

    def scaled(self, factor: float) -> Moments:
        """Return the moments of factor times the estimate."""
        return replace(
            self,
            value=factor * self.value,
            variance=factor**2 * self.variance,
            third=factor**3 * self.third,
            unseen=(abs(factor) * self.unseen[0], abs(factor) * self.unseen[1]),
        )

    def minus(self, other: Moments) -> Moments:
        """Return the moments of the difference from an estimate on other, independent rows."""
        scarcer = min(self, other, key=lambda item: item.carriers[1])
        return Moments(
            self.value - other.value,
            self.variance + other.variance,
            self.third - other.third,
            scarcer.carriers,
            scarcer.rows,
            scarcer.unseen,
            min(self.degrees, other.degrees),
            max(self.least, other.least),
            self.reason or other.reason,
        )

    @property
    def note(self) -> str:
        """Which class has too few rows that carry a cost, and how many are needed; empty where there are enough."""
        if self.reason or math.isnan(self.variance):
            return self.reason
        if min(self.rows) < self.least:
            k = int(self.rows[1] < self.least)
            return f"only {self.rows[k]} {_CLASSES[k]}: an interval needs {self.least}"
        for k in self._scarce:
            carrying, rows = self.carriers[k], self.rows[k]
            wanted = max(math.ceil(rows * NEEDED / max(carrying, 1)), NEEDED)
            done = "the interval is widened" if math.isfinite(self.unseen[k]) else "there is no interval"
            return f"only {carrying} of {rows} {_CLASSES[k]} carry a cost here: {done}, about {wanted:,} are needed"
        return ""

    @property
    def _scarce(self) -> list[int]:
        """Classes whose unseen rows matter: few carry a cost, and one more at its greatest would be noticed."""
        noticed = _NOTICED * math.sqrt(self.variance)
        return [k for k in (1, 0) if self.carriers[k] < NEEDED and self.unseen[k] > noticed]

    @property
    def _spread(self) -> float:
        """Standard error, with room for costs that no row has shown: seen no event, there may be nearly four."""
        if math.isnan(self.variance) or min(self.rows) < self.least:
            return math.nan
        return math.sqrt(self.variance + sum(_ROOM * self.unseen[k] ** 2 for k in self._scarce))

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided interval, corrected for skewness and for unseen costs; nan where these may be infinite."""
        error = self._spread
        if not math.isfinite(error):
            return math.nan, math.nan
        z = self._quantile(0.5 + confidence_level / 2.0)
        return self.value - error * self._untransformed(z), self.value - error * self._untransformed(-z)

    def p_value(self, null: float = 0.0) -> float:
        """Two-sided p-value that agrees with :meth:`interval`."""
        error, gap = self._spread, self.value - null
        if not (math.isfinite(error) and math.isfinite(gap)):
            return math.nan
        if error == 0.0:
            return 1.0 if gap == 0.0 else 0.0
        t, g = gap / error, self._skewness
        # monotone in t: never a p-value that turns back in the tail
        return self._two_sided(t + g * (t * t / 3.0 + 1.0 / 6.0) + g * g * t**3 / 27.0)

    def _quantile(self, probability: float) -> float:
        if math.isinf(self.degrees):
            return NormalDist().inv_cdf(probability)
        from scipy.special import stdtrit

        return float(stdtrit(self.degrees, probability))

    def _two_sided(self, z: float) -> float:
        if math.isinf(self.degrees):
            return math.erfc(abs(z) / math.sqrt(2.0))
        from scipy.special import stdtr

        return 2.0 * float(stdtr(self.degrees, -abs(z)))

    @property
    def _skewness(self) -> float:
        """Of the estimate itself, so already divided by the root of the number of rows."""
        return self.third / self._spread**3 if self.third else 0.0

    def _untransformed(self, z: float) -> float:
        """Studentised value whose skewness-corrected transform is z (Hall 1992)."""
        g = self._skewness
        if abs(g) < _SYMMETRIC:
            return z
        return 3.0 / g * (float(np.cbrt(1.0 + g * (z - g / 6.0))) - 1.0)


def freed(n: int) -> float:
    """What a mean square about the mean is multiplied by; one row alone has no spread, and none adds nothing."""
    return n / (n - 1) if n > 1 else math.nan if n == 1 else 0.0
