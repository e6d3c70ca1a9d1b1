"""The estimator behind most closed forms here: a sum over rows, its spread, and what so few rows can tell."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from stakes.inference._power_sums import NEEDED
from stakes.inference._student import half_width, p_value

if TYPE_CHECKING:
    from stakes.inference._power_sums import Spread

CLASSES = ("negative", "positive")
FEW_DEGREES = 26.0  # below, a 95% interval is more than 1.05 times as wide as the normal one


@dataclass(frozen=True)
class Moments:
    """An estimate that is a sum over rows, with the spread of its error and the rows that this rests on.

    Parameters
    ----------
    value : float
        The estimate.
    variance, degrees : float
        Variance of the estimate and its degrees of freedom.
    room : float
        Square of what one more row of the scarce classes may bring; infinite where their costs have no bound.
    carrying : tuple of float
        Effective rows (clusters) of the negative and of the positive class that carry the estimate.
    carriers : tuple of float
        Their plain number.
    scarce : tuple of bool
        Whether too few rows of the class carry the estimate, and those unseen matter.
    rows : tuple of int
        Rows (clusters) of each class.
    least : int
        Rows of each class below which there is no interval.
    reason : str
        Why there is no interval for another reason; empty otherwise.
    paired, clustered : bool
        Whether it is a difference between two models, and whether clusters stand for rows.
    names : tuple of str
        What to call a row of each class.
    least_value, most_value : float
        Between which the estimated value lies, whatever the rows: its interval ends there.

    Examples
    --------
    >>> from stakes.inference import Moments
    >>> [round(end, 4) for end in Moments(0.2, 0.0001, degrees=12.0).interval(0.95)]
    [0.1782, 0.2218]
    """

    value: float
    variance: float
    degrees: float = math.inf
    room: float = 0.0
    carrying: tuple[float, float] = (math.inf, math.inf)
    carriers: tuple[float, float] = (math.inf, math.inf)
    scarce: tuple[bool, bool] = (False, False)
    rows: tuple[int, ...] = (NEEDED, NEEDED)
    least: int = 0
    reason: str = ""
    paired: bool = False
    clustered: bool = False
    names: tuple[str, str] = CLASSES
    least_value: float = -math.inf
    most_value: float = math.inf

    @property
    def standard_error(self) -> float:
        """Square root of the variance; nan where it is."""
        return math.sqrt(self.variance)

    def scaled(self, factor: float) -> Moments:
        """Return the moments of factor times the estimate."""
        square = factor * factor
        found = replace(self, value=factor * self.value, variance=square * self.variance, room=square * self.room)
        return found.within(*sorted((factor * self.least_value, factor * self.most_value)))

    def within(self, least_value: float, most_value: float) -> Moments:
        """Return the moments of a value that lies between these."""
        return replace(self, least_value=least_value, most_value=most_value)

    def shifted(self, known: float) -> Moments:
        """Return the moments of the estimate and a known amount together."""
        return replace(self, value=self.value + known).within(self.least_value + known, self.most_value + known)

    def minus(self, other: Moments) -> Moments:
        """Return the moments of the difference from an estimate on other, independent rows."""
        variance = self.variance + other.variance
        # a part of one row has no spread, and so no degrees of freedom
        shares = sum(part.variance**2 / part.degrees if part.degrees > 0.0 else math.nan for part in (self, other))
        fewer = [self._scarcer(other, k) for k in (0, 1)]
        return replace(
            self,
            value=self.value - other.value,
            variance=variance,
            degrees=variance**2 / shares if shares > 0.0 else min(self.degrees, other.degrees),
            room=self.room + other.room,
            carrying=(fewer[0].carrying[0], fewer[1].carrying[1]),
            carriers=(fewer[0].carriers[0], fewer[1].carriers[1]),
            scarce=(fewer[0].scarce[0], fewer[1].scarce[1]),
            rows=(fewer[0].rows[0], fewer[1].rows[1]),
            least=max(self.least, other.least),
            least_value=self.least_value - other.most_value,
            most_value=self.most_value - other.least_value,
            reason=self.reason or other.reason or self._short or other._short,
        )

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided: Student's t, and the rule of three for what the scarce classes have not shown; nan without one.

        It does not leave the range of the value.
        """
        if self.reason or self._short or not math.isfinite(self.value):
            return math.nan, math.nan
        half = float(half_width(self.variance, self.degrees, self.room, 1.0 - confidence_level))
        low, high = (min(self.least_value, self.value), max(self.most_value, self.value))
        return max(self.value - half, low), min(self.value + half, high)

    def p_value(self, null: float = 0.0) -> float:
        """Two-sided p-value that agrees with :meth:`interval`."""
        if self.reason or self._short:
            return math.nan
        return float(p_value(self.value - null, self.variance, self.degrees, self.room))

    @property
    def note(self) -> str:
        """On how few rows the estimate rests, and of which class how many would do; empty where there are enough."""
        return self.scarcity or self._few_degrees

    @property
    def scarcity(self) -> str:
        """Of which class too few rows carry the estimate for those unseen not to matter; empty where enough do."""
        if self.reason or math.isnan(self.variance):
            return self.reason
        scarce = [k for k in (1, 0) if self.scarce[k]]
        return self._short or (self._rests_on(scarce[0]) if scarce else "")

    @property
    def _few_degrees(self) -> str:
        if not 0.0 < self.degrees < FEW_DEGREES or not self.variance > 0.0:
            return ""
        what, members = "difference" if self.paired else "estimate", "clusters" if self.clustered else "rows"
        free = f"about {self.degrees:.2g} degrees of freedom"
        return f"few {members} carry the error of the {what} ({free}): the interval is wider than a normal one"

    def _scarcer(self, other: Moments, k: int) -> Moments:
        mine, theirs = ((not part.scarce[k], part.carrying[k]) for part in (self, other))
        return self if mine <= theirs else other

    @property
    def _short(self) -> str:
        return too_few(self.rows, self.least, self.names)

    def _rests_on(self, k: int) -> str:
        name, unbounded = self.names[k], "" if math.isfinite(self.room) else "; there is no interval"
        if self.carriers[k] == 0:
            does = "tells the two apart" if self.paired else "carries a cost here"
            return f"no {name} {does}: at least {NEEDED} must{unbounded}"
        members = f"of {self.rows[k]:,} {name}s" if not self.clustered else f"of {self.rows[k]:,} clusters with {name}s"
        wanted = two_digits_up(self.rows[k] * NEEDED / max(self.carrying[k], 1.0))
        what = "the difference" if self.paired else "the estimate"
        done = "there is no interval" if unbounded else "the interval has room for costs not yet seen"
        enough = f"about {wanted:,} {'such clusters' if self.clustered else f'{name}s'} would do"
        return f"{what} rests on about {self.carrying[k]:.2g} {members}: {done}; {enough}"


def moments_of(value: float, spread: Spread, rows: tuple[int, ...], **about: Any) -> Moments:
    """Moments of one estimate from its spread; without a finite value there is none."""
    return Moments(
        value,
        float(spread.variance) if math.isfinite(value) else math.nan,
        float(spread.degrees),
        float(spread.room),
        (float(spread.carrying[0]), float(spread.carrying[1])),
        (float(spread.carriers[0]), float(spread.carriers[1])),
        (bool(spread.scarce[0]), bool(spread.scarce[1])),
        rows,
        **about,
    )


def too_few(rows: tuple[int, ...], least: int, names: tuple[str, str] = CLASSES) -> str:
    """Say which class has fewer rows than an interval needs; empty where both have enough."""
    for k in (1, 0):
        if rows[k] < least:
            return f"only {rows[k]} {names[k]}{'s' if rows[k] != 1 else ''}: an interval needs {least}"
    return ""


def two_digits_up(number: float) -> int:
    """Round up to two digits.

    Examples
    --------
    >>> two_digits_up(438.9), two_digits_up(25.0), two_digits_up(7.2)
    (440, 25, 8)
    """
    step = 10 ** max(len(str(math.ceil(number))) - 2, 0)
    return math.ceil(round(number / step, 9)) * step
