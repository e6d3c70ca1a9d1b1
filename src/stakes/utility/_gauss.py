"""Expected value of a smooth measure, one k after the other: Gauss rules where both counts are large, laws elsewhere.

Where a count has a variance below 80 its exact law is kept. The error is estimated by raising the order, not proved:
nothing that comes from here is ever called certified.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._chords import ROOM, SIZES, Stretch, fill_blocks
from stakes.utility._estimate import Estimate
from stakes.utility._exact import WINDOW
from stakes.utility._gauss_rules import Cumulants, Side, order, product_sum, terms
from stakes.utility._laws import CERTAIN_ZERO, Law
from stakes.utility._sums import accurate_cumsum
from stakes.utility._thin import FEW, MASS, Block, block_values
from stakes.utility._thin import ROOM as THIN_ROOM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch
    from stakes.utility._exact import CountValue

    Floats = NDArray[np.float64]

# The outermost of 23 nodes is 8.3 standard deviations out; the mean is at least sqrt(80) from an empty cell.
SMALL_VARIANCE = 80.0
_ROUNDING = 1e-13
_MOST_ROWS = 4096
_LONG = 512  # beyond it, rows cost more than blocks, and less mass is better
_STEP = 128  # of longer blocks: few sizes, whose polynomials are kept
_ROWS_AT_ONCE = 1 << 15
_LAWS_AT_ONCE = 16
_FAR = math.log(2.0 / WINDOW)


def expected_by_gauss(batch: Batch, value: CountValue) -> Estimate:
    """Curve by the product of two rules, with an error that is estimated in every block of rows."""
    plan = _Plan(batch)
    values = np.empty(len(batch) + 1)
    lost = _fill_thin(values, batch, value, plan)
    difference = 0.0
    for size in np.unique(plan.sizes[plan.large]).tolist():
        chosen = np.flatnonzero(plan.large & (plan.sizes == size))
        sums = plan.first[:, chosen], plan.total[:, chosen], plan.rest[:, chosen + 1]
        blocks = Stretch(plan.marks[chosen], size, *sums)
        difference = max(difference, fill_blocks(values, batch, value, blocks))
    absolute = 2.0 * difference + lost + _ROUNDING * max(1.0, float(np.abs(values).max()))
    return Estimate(values, 0.0, absolute, "gauss", proved=False)


class _Plan:
    """The rows in blocks, each with one way: ``marks`` are their ends, ``large`` says where rules serve both counts."""

    def __init__(self, batch: Batch) -> None:
        self._chances, spread = batch.yes, batch.yes * batch.no
        self._yes = np.cumsum(batch.yes)
        self._spread = accurate_cumsum(spread)
        self._rare = np.cumsum(np.minimum(batch.yes, batch.no))
        self.n = n = len(batch)
        # TP is exact for k < start, FN for k >= stop
        self.start = 1 + int(np.searchsorted(self._spread, SMALL_VARIANCE))
        self.stop = n - int(np.searchsorted(accurate_cumsum(spread[::-1]), SMALL_VARIANCE))
        rare_last = batch.yes[0] > 0.5
        self._turn = int(np.count_nonzero((batch.yes > 0.5) == rare_last))
        self._made: dict[int, Block] = {}
        marks, rooms = [0], []
        for mark, room in self._blocks():
            marks.append(mark)
            rooms.append(room)
        self.marks, self.rooms = np.array(marks), rooms
        self.sizes = np.diff(self.marks)
        self.large = (self.marks[:-1] >= self.start) & (self.marks[1:] <= self.stop)
        self.total = _block_sums(batch, self.marks)
        self.first, self.rest = _sums_before(self.total), _sums_before(self.total[:, ::-1])[:, ::-1]

    def block(self, batch: Batch, j: int) -> Block:
        """A thin block, made once: both laws and its values need the same sums."""
        if j not in self._made:
            self._made[j] = Block.of(batch, int(self.marks[j]), int(self.marks[j + 1]))
        return self._made[j]

    def _blocks(self) -> Iterator[tuple[int, float]]:
        """Yield the end of each block, and the least growing cell of a thin one."""
        k = 0
        while k < self.n:
            if self.start <= k < self.stop:
                size, room = self._large_size(k), 0.0
            else:
                size, room = self._thin_size(k)
            k += size
            yield k, room

    def _cells(self, k: int) -> tuple[float, float, float, float]:
        """Mean TP, FP, FN and TN of acting on k rows."""
        yes = float(self._yes[k - 1]) if k else 0.0
        rest = float(self._yes[-1]) - yes
        return yes, k - yes, rest, self.n - k - rest

    def _large_size(self, k: int) -> int:
        left = min(self.stop, self.n) - k
        for size in SIZES:
            if size <= left:
                ends = zip(self._cells(k), self._cells(k + size), strict=True)
                if all(min(a, b) >= ROOM * abs(a - b) for a, b in ends):
                    return size
        return min(left, SIZES[0] - 1)

    def _thin_size(self, k: int) -> tuple[int, float]:
        """Rows of like label, of little mass, and few beside the cells that grow along them."""
        ends = [end for end in (self.start, self.stop, self._turn) if k < end < self.n] + [self.n]
        mass = float(self._rare[k - 1]) if k else 0.0
        few, many = np.searchsorted(self._rare, [mass + MASS / 2.0, mass + MASS], side="right").tolist()
        size = min(min(ends) - k, _MOST_ROWS, max(few - k, min(many - k, _LONG)))
        if size < FEW:
            return 1, 0.0
        hit, alarm, miss, rejected = self._cells(k)
        spread = float(self._spread[k - 1]) if k else 0.0
        before, after = (alarm, rejected) if self._chances[k] <= 0.5 else (hit, miss)
        before, after = before - _reach(spread), after - _reach(float(self._spread[-1]) - spread)
        size = min(size, int(before / THIN_ROOM), int(after / (THIN_ROOM + 1)))
        size -= size % _STEP if size > _LONG else 0
        return (size, min(before, after - size)) if size >= FEW else (1, 0.0)


def _reach(variance: float) -> float:
    """How far a count may lie from its mean, but for a probability of WINDOW (Bernstein)."""
    return _FAR / 3.0 + math.sqrt(_FAR * _FAR / 9.0 + 2.0 * max(variance, 0.0) * _FAR)


def _block_sums(batch: Batch, marks: NDArray[np.intp]) -> Floats:
    """Cumulants of the number of positives in each block."""
    out = np.empty((9, len(marks) - 1))
    low = 0
    while low < len(marks) - 1:
        high = max(low + 1, int(np.searchsorted(marks, marks[low] + _ROWS_AT_ONCE, side="right")) - 1)
        rows = slice(int(marks[low]), int(marks[high]))
        own = terms(batch.yes[rows], batch.no[rows])
        out[:, low:high] = np.add.reduceat(own, marks[low:high] - marks[low], axis=1)
        low = high
    return out


def _sums_before(total: Floats) -> Floats:
    """Running sums from zero; means and variances, which are not negative, keep their last digits."""
    sums = np.concatenate([accurate_cumsum(total[:3]), np.cumsum(total[3:], axis=1)])
    return np.concatenate([np.zeros((len(total), 1)), sums], axis=1)


def _fill_thin(values: Floats, batch: Batch, value: CountValue, plan: _Plan) -> float:
    """Write the values outside the large blocks, and return the largest probability that was cut off."""
    n, count = plan.n, len(plan.sizes)
    laws = _laws(batch, plan, range(count), plan.start)
    ends = _laws(batch, plan, range(count - 1, -1, -1), plan.stop)

    def side(known: dict[int, Law], sums: Floats, mark: int) -> Law | Cumulants:
        return known[mark] if mark in known else Cumulants(sums[:, mark : mark + 1])

    for j in np.flatnonzero(~plan.large & (plan.sizes > 1)).tolist():
        start, stop = int(plan.marks[j]), int(plan.marks[j + 1])
        block, first, rest = plan.block(batch, j), side(laws, plan.first, j), side(ends, plan.rest, j + 1)
        values[start:stop] = block_values(value, block, (first, rest), n, plan.rooms[j])
    single = np.append(np.flatnonzero(~plan.large & (plan.sizes == 1)), count)
    kind = np.array([(j in laws) + 2 * (j in ends) for j in single.tolist()])
    for run in np.split(single, np.flatnonzero(np.diff(kind)) + 1):
        for low in range(0, len(run), _LAWS_AT_ONCE):
            some = run[low : low + _LAWS_AT_ONCE]
            hits = _rules(laws, plan.first, plan.marks, some)
            values[plan.marks[some]] = product_sum(value, hits, _rules(ends, plan.rest, n - plan.marks, some))
    return max(law.lost for law in laws.values()) + max(law.lost for law in ends.values())


def _rules(known: dict[int, Law], sums: Floats, rows: NDArray[np.intp], some: NDArray[np.intp]) -> Side:
    """Nodes of a count of so many rows: Gauss rules, or its exact laws, padded to one width with a weight of zero."""
    if int(some[0]) not in known:
        cumulants = Cumulants(sums[:, some])
        return cumulants.side(order(float(cumulants.room().min())))
    laws = [known[j] for j in some.tolist()]
    width = max(len(law.mass) for law in laws)
    yes, weight = np.empty((len(laws), width)), np.zeros((len(laws), width))
    for line, law in enumerate(laws):
        yes[line] = law.low + np.minimum(np.arange(width), len(law.mass) - 1)
        weight[line, : len(law.mass)] = law.mass
    return Side(yes, rows[some, None] - yes, weight)


def _laws(batch: Batch, plan: _Plan, blocks: range, last: int) -> dict[int, Law]:
    """Exact laws at the marks, from one end of the rows up to ``last``."""
    up = blocks.step > 0
    law, out = CERTAIN_ZERO, {0 if up else len(blocks): CERTAIN_ZERO}
    for j in blocks:
        start, stop = int(plan.marks[j]), int(plan.marks[j + 1])
        if (stop > last) if up else (start < last):
            break
        if stop - start == 1:
            law = law.with_row(float(batch.yes[start]), float(batch.no[start]), WINDOW)
        else:
            law = plan.block(batch, j).added_to(law, WINDOW)
        out[j + 1 if up else j] = law
    return out
