"""When people left: the Kaplan-Meier estimate of censoring, and what estimating it does to the error of an estimate.

Events come before censorings at equal times, so that whoever is censored exactly at the horizon is known to be free of
the event. Within each stratum the rows stand in order of time, and every sum over those still followed is a suffix sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]


@dataclass(frozen=True)
class Stratum:
    """Rows of one stratum in order of time, and the distinct times at which some of them left before the horizon.

    ``gone``, ``later`` and ``risk`` are the weight of those who leave at each such time, of those followed for longer,
    and of both; ``after`` is the place of the first row followed for longer, ``left`` the rows that leave, ``at`` at
    which time, and ``seen`` how many times each row is at risk of leaving.
    """

    rows: Integers
    gone: Floats
    later: Floats
    after: Integers
    left: Integers
    at: Integers
    seen: Integers
    last: float
    beyond: bool

    @classmethod
    def of(cls, rows: Integers, time: Floats, censored: Bools, weight: Floats, horizon: float) -> Stratum:
        """Work out the sums of rows that stand in order of time."""
        t, v = time[rows], weight[rows]
        leaves = censored[rows] & (t < horizon)
        left = np.flatnonzero(leaves)
        new = np.append(True, np.diff(t[left]) > 0.0)[: len(left)]
        times, at = t[left[new]], np.cumsum(new) - 1
        gone = np.bincount(at, weights=v[left], minlength=len(times)).astype(np.float64)
        after = np.searchsorted(t, times, side="right")
        later = _suffix_sums(v)[after]
        seen = np.cumsum(np.bincount(after, minlength=len(t) + 1)[: len(t)])  # times before that of each row
        seen[left] = at + 1
        held = t[v > 0.0]
        last = float(held[-1]) if len(held) else math.inf
        beyond = bool(np.any(leaves[v > 0.0] & (held == last)))
        return cls(rows, gone, later, after, left, at, seen, last, beyond)

    @property
    def risk(self) -> Floats:
        return self.later + self.gone

    @cached_property
    def hazard(self) -> Floats:
        """Share of those at risk who are censored at each time."""
        return np.divide(self.gone, self.risk, out=np.zeros_like(self.gone), where=self.risk > 0.0)

    @cached_property
    def places(self) -> Integers:
        """Place in the order of time of each of the rows, where they are all there are."""
        places = np.empty(len(self.rows), dtype=np.intp)
        places[self.rows] = np.arange(len(self.rows))
        return places

    def weights(self) -> Floats:
        """One over the share not censored just before the end of each row, or the horizon."""
        stay = np.divide(self.later, self.risk, out=np.ones_like(self.later), where=self.risk > 0.0)
        free = np.concatenate([[1.0], np.cumprod(stay)])
        return np.divide(1.0, free[self.seen], out=np.zeros(len(self.rows)), where=free[self.seen] > 0.0)

    def estimated(self, parts: Floats) -> Floats:
        """What the estimated weights add to each row's part, per unit of its sample weight."""
        borne = np.take(_suffix_sums(parts), self.after, axis=-1)
        mean = np.divide(borne, self.later, out=np.zeros_like(borne), where=self.later > 0.0)
        cumulated = np.zeros((*parts.shape[:-1], len(self.gone) + 1))
        np.cumsum(mean * self.hazard, axis=-1, out=cumulated[..., 1:])
        found = np.take(np.negative(cumulated, out=cumulated), self.seen, axis=-1)
        found[..., self.left] += mean[..., self.at]
        return found


@dataclass(frozen=True)
class Censoring:
    """Censoring in each stratum of some rows."""

    strata: tuple[Stratum, ...]
    weight: Floats

    @classmethod
    def of(cls, time: Floats, censored: Bools, weight: Floats, codes: Integers | None, horizon: float) -> Censoring:
        """Estimate it, by one sort of the times."""
        strata = (Stratum.of(rows, time, censored, weight, horizon) for rows in _in_order(time, codes))
        return cls(tuple(strata), weight)

    @cached_property
    def _sorted(self) -> bool:
        """Whether the rows stand in order of time as they are."""
        rows = self.strata[0].rows
        return len(self.strata) == 1 and bool(np.array_equal(rows, np.arange(len(rows))))

    def weights(self) -> Floats:
        """Inverse-probability weight of each row, were its status known."""
        found = np.empty(len(self.weight))
        for stratum in self.strata:
            found[stratum.rows] = stratum.weights()
        return found

    def estimated(self, parts: Floats) -> Floats:
        """What the estimated weights add to each row's part (the last axis), per unit of its sample weight."""
        if self._sorted:
            return self.strata[0].estimated(parts)
        if len(self.strata) == 1:  # np.take is several times faster than an index
            found = self.strata[0].estimated(np.take(parts, self.strata[0].rows, axis=-1))
            return np.take(found, self.strata[0].places, axis=-1)
        found = np.empty_like(parts)
        for stratum in self.strata:
            found[..., stratum.rows] = stratum.estimated(np.take(parts, stratum.rows, axis=-1))
        return found


def _in_order(time: Floats, codes: Integers | None) -> Iterator[Integers]:
    """Rows of each stratum in order of time."""
    if codes is None:
        yield np.arange(len(time)) if np.all(time[1:] >= time[:-1]) else np.argsort(time)
        return
    order = np.lexsort((time, codes))
    yield from np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _suffix_sums(values: Floats) -> Floats:
    """Sums of each entry and those after it (last axis), and zero after the last."""
    found = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values[..., ::-1], axis=-1, out=found[..., -2::-1])
    return found
