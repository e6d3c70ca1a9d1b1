"""Intervals of the area under the ROC curve and of the difference of two areas on the same rows.

The variance is that of DeLong, DeLong and Clarke-Pearson (1988, doi:10.2307/2531595), with the degrees of freedom of a
sum over two classes. Few rows of a class say little of those that no score finds, so it is never taken below that of
Hanley and McNeil (1982) with Newcombe's N (2006); the interval of one area has Wilson's form (Mee 1990), that of a
difference joins the two where few rows tell the models apart (Zou 2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Protocol

import numpy as np

from stakes.inference._power_sums import class_variance, effective
from stakes.inference._student import t_quantile, two_sided

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._central_sums import CentralSums

    Floats = NDArray[np.float64]

NEEDED_FOR_AREA = 3  # of each class; and effective rows that tell two areas apart
_HALVINGS = 80
_FURTHEST = 38.0  # beyond so many standard errors a p-value is zero to a double
_CLASSES = ("negatives", "positives")


class Limited(Protocol):
    """Anything with an interval at every level."""

    def limits(self, alpha: float) -> tuple[float, float]:
        """Two-sided interval that misses with probability alpha."""
        ...


@dataclass(frozen=True)
class Area:
    """An area under the ROC curve.

    Parameters
    ----------
    value, variance, degrees : float
        The area, DeLong's variance and its degrees of freedom.
    floor : float
        Hanley and McNeil's variance over value (1 - value).
    rows : tuple of int
        Negatives and positives.
    reason : str
        Why there is no interval for another reason; empty otherwise.
    between, rubin : float
        Where scores were imputed: what the spread between the completed data sets adds to the variance, and Rubin's
        degrees of freedom.
    """

    value: float
    variance: float
    degrees: float
    floor: float
    rows: tuple[int, int]
    reason: str = ""
    between: float = 0.0
    rubin: float = math.inf

    @property
    def total(self) -> float:
        """Variance within completed data sets and between them."""
        return self.variance + self.between

    @property
    def standard_error(self) -> float:
        """DeLong's."""
        return math.sqrt(self.total)

    @property
    def note(self) -> str:
        """Which class has too few rows; empty where there are enough."""
        return self.reason or too_few(self.rows, NEEDED_FOR_AREA)

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided interval."""
        return self.limits(1.0 - confidence_level)

    def limits(self, alpha: float) -> tuple[float, float]:
        """Wilson's form: never beyond 0 and 1."""
        if self.note or math.isnan(self.value):
            return math.nan, math.nan
        k = float(t_quantile(alpha, self.degrees)) ** 2 * self._unit
        spread = self.value * (1.0 - self.value)
        middle, reach = self.value + 0.5 * k, math.sqrt(k * spread + 0.25 * k * k)
        return (middle - reach) / (1.0 + k), (middle + reach) / (1.0 + k)

    def delong(self, confidence_level: float) -> tuple[float, float]:
        """Normal interval of DeLong's variance, without a floor, cut to [0, 1], as pROC's ``ci.auc`` has it."""
        half = _normal(confidence_level, self.rubin) * self.standard_error
        return max(self.value - half, 0.0), min(self.value + half, 1.0)

    def p_value(self, null: float) -> float:
        """Two-sided, for an area of ``null``: the level at which the interval ends there."""
        if self.note or math.isnan(self.value):
            return math.nan
        gap, spread = abs(self.value - null), null * (1.0 - null)
        if gap == 0.0 or spread <= 0.0:
            return float(gap == 0.0)
        return float(two_sided(gap / math.sqrt(spread * self._unit), self.degrees))

    @property
    def _unit(self) -> float:
        spread = self.value * (1.0 - self.value)
        return max(self.variance / spread, self.floor) + self.between / spread if spread > 0.0 else self.floor


@dataclass(frozen=True)
class AreaDifference:
    """The first area less the second, on the same rows.

    Parameters
    ----------
    first, second : Area
        The two areas.
    variance, degrees : float
        Of the difference.
    carrying : float
        Effective rows that tell the two apart, in the class that has fewer.
    same : bool
        Whether the two rank every row alike.
    between, rubin : float
        Where scores were imputed, as for :class:`Area`.
    """

    first: Area
    second: Area
    variance: float
    degrees: float
    carrying: float
    same: bool = False
    between: float = 0.0
    rubin: float = math.inf

    @property
    def value(self) -> float:
        """Difference of the areas."""
        return self.first.value - self.second.value

    @property
    def standard_error(self) -> float:
        """DeLong's, paired."""
        return math.sqrt(self.variance + self.between)

    @property
    def note(self) -> str:
        """Which class has too few rows for an interval; empty where there are enough."""
        return self.first.note or self.second.note

    @property
    def correlation(self) -> float:
        """Of the two areas."""
        return _correlation(self.first.total, self.second.total, self.variance + self.between)

    @property
    def least(self) -> float:
        """Variance of the difference if both areas had that of Hanley and McNeil."""
        one, two = (area.floor * area.value * (1.0 - area.value) for area in (self.first, self.second))
        r = _correlation(self.first.variance, self.second.variance, self.variance)
        return one + two - 2.0 * r * math.sqrt(one * two)

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided interval."""
        return self.limits(1.0 - confidence_level)

    def limits(self, alpha: float) -> tuple[float, float]:
        """Two-sided interval that misses with probability alpha."""
        if self.note or math.isnan(self.value):
            return math.nan, math.nan
        if self.same:
            return 0.0, 0.0
        if self.carrying >= NEEDED_FOR_AREA:
            sides = [(self.variance, self.degrees), (self.least, math.inf), (self.between, self.degrees)]
            half = [float(t_quantile(alpha, df)) * math.sqrt(v) if v > 0.0 else 0.0 for v, df in sides]
            h = math.hypot(max(half[:2]), half[2])
            return max(self.value - h, -1.0), min(self.value + h, 1.0)
        return self._joined(alpha)

    def p_value(self) -> float:
        """Two-sided, for equal areas; agrees with :meth:`interval`."""
        if self.note or math.isnan(self.value):
            return math.nan
        if self.same or self.value == 0.0:
            return 1.0
        if self.carrying < NEEDED_FOR_AREA or self.between > 0.0:
            return level_reached(self, 0.0)
        tails = [(self.variance, self.degrees), (self.least, math.inf)]
        return max(float(two_sided(self.value / math.sqrt(v), df)) if v > 0.0 else 0.0 for v, df in tails)

    def delong(self, confidence_level: float) -> tuple[tuple[float, float], float]:
        """Interval and p-value of DeLong's test: normal, without a floor, as pROC has it."""
        half, gap = _normal(confidence_level, self.rubin) * self.standard_error, abs(self.value)
        if not self.standard_error > 0.0:
            p = float(gap == 0.0)
        elif math.isinf(self.rubin):
            p = math.erfc(gap / self.standard_error / math.sqrt(2.0))
        else:
            p = float(two_sided(gap / self.standard_error, self.rubin))
        return (self.value - half, self.value + half), p

    def _joined(self, alpha: float) -> tuple[float, float]:
        """The limits of the two areas joined as variances are."""
        (l1, u1), (l2, u2) = self.first.limits(alpha), self.second.limits(alpha)
        a, b, r = self.first.value, self.second.value, self.correlation

        def reach(x: float, y: float) -> float:
            return math.sqrt(max(x * x + y * y - 2.0 * r * x * y, 0.0))

        return self.value - reach(a - l1, u2 - b), self.value + reach(u1 - a, b - l2)


def _normal(confidence_level: float, degrees: float) -> float:
    """Quantile of the normal distribution, or of Student's t where there are degrees of freedom."""
    if math.isinf(degrees):
        return NormalDist().inv_cdf(0.5 + 0.5 * confidence_level)
    return float(t_quantile(1.0 - confidence_level, degrees))


def _correlation(first: float, second: float, difference: float) -> float:
    """Of two estimates with these variances, and this one of their difference."""
    both = first * second
    if both == 0.0:
        return 0.0
    return max(-1.0, min(1.0, (first + second - difference) / (2.0 * math.sqrt(both))))


def area_of(sums: CentralSums) -> Area:
    """Area from the sums of the placements of each class.

    The placement of a positive is the share of the negatives that it outranks, that of a negative the share of the
    positives that outrank it.
    """
    value = float(sums.means[1])
    variance, degrees = class_variance(*_in_shares(sums, *sums.about(np.full(2, value))))
    counts = round(float(sums.rows[0])), round(float(sums.rows[1]))
    alike = sums.masses**2 / sums.second[0]
    return Area(value, float(variance), float(degrees), _floor(value, float(alike[0]), float(alike[1])), counts)


def area_difference(areas: tuple[Area, Area], sums: CentralSums) -> AreaDifference:
    """Difference of two areas from the sums of the differences of both placements."""
    centre = areas[0].value - areas[1].value
    variance, degrees = class_variance(*_in_shares(sums, *sums.about(np.full(2, centre))))
    carrying = float(effective(*sums.carried).min())
    return AreaDifference(*areas, float(variance), float(degrees), carrying)


@dataclass(frozen=True)
class AreaRegret:
    """Expected regret of thresholds drawn like the scores, 2 rate (1 - rate) (1 - AUC), or a difference of two.

    Parameters
    ----------
    area : Area or AreaDifference
        What it is made of.
    factor : float
        2 rate (1 - rate).
    shift : float
        Derivative of the regret to the prevalence times the standard error of that; 0 where the prevalence is stated.
    standard_error : float
        Of the regret.
    """

    area: Area | AreaDifference
    factor: float
    shift: float
    standard_error: float

    @property
    def value(self) -> float:
        """The regret."""
        paired = isinstance(self.area, AreaDifference)
        return 0.0 - self.factor * self.area.value if paired else self.factor * (1.0 - self.area.value)

    @property
    def note(self) -> str:
        """Which class has too few rows for an interval; empty where there are enough."""
        return self.area.note

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided interval."""
        return self.limits(1.0 - confidence_level)

    def limits(self, alpha: float) -> tuple[float, float]:
        """The limits of the area, and the error of the prevalence beside them."""
        low, high = self.area.limits(alpha)
        rate = self.shift * float(t_quantile(alpha, self.area.degrees))
        below, above = (math.hypot(self.factor * abs(end - self.area.value), rate) for end in (high, low))
        least = -0.5 if isinstance(self.area, AreaDifference) else 0.0
        return max(self.value - below, least), min(self.value + above, 0.5)

    def p_value(self) -> float:
        """Two-sided, for no regret or no difference; agrees with :meth:`interval`."""
        return 1.0 if self.value == 0.0 else level_reached(self, 0.0)


def level_reached(estimate: Limited, null: float) -> float:
    """The p-value: one less the confidence at which the interval just reaches the null; nan without an interval."""
    if math.isnan(estimate.limits(0.5)[0]):
        return math.nan
    inside, outside = _FURTHEST, 0.0
    for _ in range(_HALVINGS):
        z = 0.5 * (inside + outside)
        low, high = estimate.limits(math.erfc(z / math.sqrt(2.0)))
        inside, outside = (z, outside) if low <= null <= high else (inside, z)
    return math.erfc(inside / math.sqrt(2.0))


def too_few(rows: tuple[int, int], least: int) -> str:
    """Say which class has fewer rows than an interval needs; empty where both have enough."""
    short = [
        f"only {count} {name}: an interval needs {least}"
        for count, name in zip(rows, _CLASSES, strict=True)
        if count < least
    ]
    return short[-1] if short else ""


def _floor(area: float, negatives: float, positives: float) -> float:
    """Hanley and McNeil's variance over area (1 - area)."""
    count = 0.5 * (positives + negatives) - 1.0
    return (1.0 + count * (1.0 - area) / (2.0 - area) + count * area / (1.0 + area)) / (positives * negatives)


def _in_shares(sums: CentralSums, second: Floats, fourth: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows, and powers of their parts in the error: placements times their share in the weight of their class."""
    return sums.rows, second / sums.masses**2, fourth / sums.masses**4
