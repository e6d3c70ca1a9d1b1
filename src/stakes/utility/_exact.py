"""Expected value of any measure by summing over both counts: the paper's Algorithms 1 and 2, corrected, and windows.

Algorithm 1 sums over all k, TP and FN: O(n^3) evaluations. Windows cut the two laws where they fall below 1e-20, which
leaves about 145 sigma_TP sigma_FN evaluations for each k. Algorithm 2 replaces one of the sums by a recursion, for
ratios of linear functions: O(n^2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from stakes.utility._estimate import UNIT, Estimate
from stakes.utility._laws import first_laws, other_laws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._batch import Batch

    Floats = NDArray[np.float64]
    Coefficients = tuple[float, float, float, float]


class CountValue(Protocol):
    """Value of a measure at tables of counts."""

    def __call__(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats: ...


WINDOW = 1e-20
# Up to so many rows nothing is cut off, for it would not pay.
WHOLE_UP_TO = 300


def expected_by_windows(batch: Batch, value: CountValue, *, bounded: bool) -> Estimate:
    """Curve by the double sum over what two windows leave.

    The bound takes |value| outside the windows to be no larger than inside: it is proved for measures that are
    ``bounded`` by one, and where nothing was cut off.
    """
    drop = WINDOW if len(batch) > WHOLE_UP_TO else 0.0
    estimate, lost, largest = _double_sum(batch, value, drop)
    largest = max(largest, 1.0) if bounded else largest
    return replace(estimate, absolute=largest * lost, method="exact", proved=bounded or lost == 0.0)


def expected_by_algorithm1(batch: Batch, value: CountValue) -> Estimate:
    """Curve by the paper's Algorithm 1: the whole double sum (with k = 0, which it leaves out)."""
    return _double_sum(batch, value, 0.0)[0]


def _double_sum(batch: Batch, value: CountValue, drop: float) -> tuple[Estimate, float, float]:
    """Curve, largest probability that was cut off, and largest |value| that was met."""
    n = len(batch)
    values, sizes, lost, largest = np.empty(n + 1), np.empty(n + 1), 0.0, 0.0
    for k, (first, rest) in enumerate(zip(first_laws(batch, n, drop), other_laws(batch, 0, drop), strict=True)):
        tp, fn = first.counts()[:, None], rest.counts()[None, :]
        table = np.broadcast_to(value(tp, k - tp, fn, n - k - fn), (tp.size, fn.size))
        values[k] = first.mass @ (table @ rest.mass)
        sizes[k] = first.mass @ (np.abs(table) @ rest.mass)
        lost, largest = max(lost, first.lost + rest.lost), max(largest, float(np.abs(table).max()))
    # each row of the two laws rounds three times, the sums once per entry
    rounding = (3.0 * n + 2.0 * (n + 1.0) ** 0.5 * 20.0 + 60.0) * UNIT
    return Estimate(values, rounding, 0.0, "algorithm1", scale=sizes), lost, largest


def expected_by_recursion(batch: Batch, c: Coefficients, d: Coefficients, zero_division: float) -> Estimate:
    """Curve by the paper's Algorithm 2, corrected; the coefficients d must be integers, d3 not negative.

    S_k[i] = E[1 / (i + d3 FN_k)] runs from k = n down to 0. As printed, the algorithm starts its recursion at i = 1,
    stops at k = 1, and drops the factor n of c0 and d0 in its analysis.
    """
    steps = _Recursion(batch, d)
    n, hits = len(batch), _all_first_laws(batch)
    values, sizes = np.empty(n + 1), np.empty(n + 1)
    for k in range(n, -1, -1):
        tp = np.arange(k + 1.0)
        inverse, missed, absent = steps.at(k)
        known = (c[0] * n + c[2] * k + (c[1] + c[3]) * tp) * inverse
        parts = [known, c[3] * missed, zero_division * absent]
        values[k] = sum(hits[k] @ part for part in parts)
        sizes[k] = abs(c[3] / (d[3] or 1.0)) + sum(hits[k] @ np.abs(part) for part in parts)
        if k:
            steps.take(k)
    return Estimate(values, (5.0 * n + 100.0) * UNIT, 0.0, "algorithm2", scale=sizes)


class _Recursion:
    """E[1 / (i + d3 FN_k)] and Pr(i + d3 FN_k = 0) for every index i, for k = n, n - 1, ..., 0."""

    def __init__(self, batch: Batch, d: Coefficients) -> None:
        self._batch, self._d, n = batch, tuple(map(_integer, d)), len(batch)
        d0, d1, d2, d3 = self._d
        # the index d0 n + d2 k + (d1 + d3) TP is largest and smallest at a corner of 0 <= TP <= k <= n
        corners = [d0 * n, (d0 + d2) * n, (d0 + d1 + d2 + d3) * n]
        if d3 < 0 or min(corners) < 0:
            raise ValueError(
                f"method='algorithm2' needs d3 >= 0 and a denominator that is never negative, got d = {d}."
            )
        size = max(corners) + d3 * n + 1
        self._lines = np.zeros((2, size))
        self._lines[0, 1:] = 1.0 / np.arange(1.0, size)
        self._lines[1, 0] = 1.0

    def at(self, k: int) -> tuple[Floats, Floats, Floats]:
        """E[1/D], E[FN/D] and Pr(D = 0) for TP = 0..k; where D = 0 the first two count nothing."""
        d0, d1, d2, d3 = self._d
        index = d0 * len(self._batch) + d2 * k + (d1 + d3) * np.arange(k + 1)
        inverse, absent = self._lines[:, index]
        if d3:
            return inverse, (1.0 - absent - index * inverse) / d3, absent
        return inverse, inverse * self._batch.yes[k:].sum(), absent

    def take(self, k: int) -> None:
        """Let row k join the rows that are not acted on."""
        d3 = self._d[3]
        moved = np.zeros_like(self._lines)
        moved[:, : moved.shape[1] - d3] = self._lines[:, d3:]
        self._lines *= self._batch.no[k - 1]
        self._lines += self._batch.yes[k - 1] * moved


def _all_first_laws(batch: Batch) -> list[Floats]:
    """Law of the positives among the first k rows, over 0..k, for every k: O(n^2) memory."""
    laws = [np.ones(1)]
    for yes, no in zip(batch.yes, batch.no, strict=True):
        law = np.zeros(len(laws[-1]) + 1)
        law[:-1] = laws[-1] * no
        law[1:] += laws[-1] * yes
        laws.append(law)
    return laws


def _integer(value: float) -> int:
    if value != round(value):
        raise ValueError(f"method='algorithm2' needs integer coefficients d (scale the ratio), got {value}.")
    return round(value)
