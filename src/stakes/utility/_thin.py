"""Expected values along a stretch of rows that hardly differ from certain ones, where a count is too small for rules.

Let a block of rows follow the first k0, its labels turn out the rare way with a total probability of at most 1/2, and
let S and R be how many of them do so before and after a place j of it. With H(s, r, j) the expected value over the
other rows, Newton's series

    E H(S, R, j) = sum over m, m' of e_m e'_m' Delta_s^m Delta_r^m' H(0, 0, j)

has the elementary symmetric polynomials of the probabilities before and after j as weights. What is left out after M
terms is at most 1 / (M+1)! for a measure bounded by one. In j, H is interpolated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.core.sums import blocks
from stakes.utility._chords import chebyshev
from stakes.utility._gauss_rules import Cumulants, order
from stakes.utility._laws import Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._batch import Batch
    from stakes.utility._exact import CountValue

    Floats = NDArray[np.float64]

MASS = 0.5
# No cell that grows along a block holds less than so many times its rows.
ROOM = 8
# Fewer rows are worked out one by one.
FEW = 16
_REST = 1e-16
_MOST_TERMS = 20
_AT_ONCE = 256  # places of a block worked out together: the table over nodes and terms stays in the cache


@dataclass(frozen=True)
class Block:
    """Rows start..stop; ``rare`` are the probabilities of their rare label, which is the positive one or not."""

    start: int
    stop: int
    rare: Floats
    positive: bool

    @classmethod
    def of(cls, batch: Batch, start: int, stop: int) -> Block:
        """Look at some rows, which are all at most or all at least one half."""
        positive = bool(batch.yes[start] <= 0.5 and batch.yes[stop - 1] <= 0.5)
        return cls(start, stop, (batch.yes if positive else batch.no)[start:stop], positive)

    @cached_property
    def sums(self) -> Floats:
        """Elementary symmetric polynomials of its probabilities, as many as the series needs."""
        mass, count, left = 2.0 * float(self.rare.sum()), 0, 1.0
        while count < min(len(self.rare), _MOST_TERMS):
            left *= mass / (count + 1)
            if left <= _REST:
                break
            count += 1
        return elementary(self.rare, count)

    def added_to(self, law: Law, drop: float) -> Law:
        """The law with these rows as well."""
        mass = differences(len(self.sums) - 1).T @ self.sums
        size = len(self.rare)
        if not self.positive:
            mass = mass[::-1]
        low = law.low if self.positive else law.low + size - (len(mass) - 1)
        return Law(low, np.convolve(law.mass, mass), law.lost).trimmed(drop)


class Points(NamedTuple):
    """Where a count may lie once s = 0, 1, ... rare labels are added: rare and common labels, and a line for each s."""

    rare: Floats
    common: Floats
    weight: Floats


def points(side: Law | Cumulants, rows: int, most: int, *, positive: bool) -> Points:
    """Points of a count among so many rows, with up to ``most`` rare labels more."""
    if isinstance(side, Law):
        mass = side.mass if positive else side.mass[::-1]
        low = side.low if positive else rows - side.low - len(mass) + 1
        rare = low + np.arange(float(len(mass) + most))
        weight = np.zeros((most + 1, len(rare)))
        for s in range(most + 1):
            weight[s, s : s + len(mass)] = mass
        return Points(rare, rows - rare, weight)
    nodes = side.side(order(float(side.room()[0])))
    rare, common = (nodes.yes[0], nodes.no[0]) if positive else (nodes.no[0], nodes.yes[0])
    shift = np.arange(float(most + 1))[:, None]
    weight = np.zeros((most + 1, most + 1, len(rare)))
    weight[range(most + 1), range(most + 1)] = nodes.weight[0]
    return Points((rare + shift).ravel(), (common - shift).ravel(), weight.reshape(most + 1, -1))


def block_values(
    value: CountValue, block: Block, sides: tuple[Law | Cumulants, Law | Cumulants], total: int, room: float
) -> Floats:
    """Values of k = start..stop - 1, from TP before the block and FN after it; ``room`` is the least growing cell."""
    size, most = len(block.rare), len(block.sums) - 1
    one = points(sides[0], block.start, most, positive=block.positive)
    two = points(sides[1], total - block.stop, most, positive=block.positive)
    nodes, basis = _places(size, room)
    late = np.multiply.outer(size - nodes, np.ones(1))[:, :, None]
    grown = one.common[None, :, None] + nodes[:, None, None], two.common[None, None, :] + late
    cells = (one.rare[None, :, None], grown[0], two.rare[None, None, :], grown[1])
    table = value(*cells) if block.positive else value(cells[1], cells[0], cells[3], cells[2])
    step = differences(most)
    change = (step @ one.weight) @ table @ (step @ two.weight).T
    change = change[:, *_needed(np.abs(change).max(axis=0), block.sums)]
    before = symmetric(block.rare, change.shape[1] - 1)[:, :-1]
    after = symmetric(block.rare[::-1], change.shape[2] - 1)[:, :0:-1]
    lines = change.transpose(1, 0, 2).reshape(len(before), -1)
    out = np.empty(size)
    for part in blocks(size, _AT_ONCE):
        weight = basis[:, None, part] * after[None, :, part]
        np.einsum("mj,mj->j", before[:, part], lines @ weight.reshape(lines.shape[1], -1), out=out[part])
    return out


def _needed(change: Floats, e: Floats) -> tuple[slice, slice]:
    """Terms before and after that matter anywhere: e_m e'_m' is at most e_(m + m') of the whole block."""
    orders = np.add.outer(np.arange(len(e)), np.arange(len(e)))
    matters = change * np.append(e, np.zeros(len(e)))[orders] > _REST / len(e)
    one, two = (max(1, int(np.flatnonzero(np.append(True, matters.any(axis=axis)))[-1])) for axis in (1, 0))
    return slice(one), slice(two)


def elementary(chances: Floats, most: int) -> Floats:
    """Elementary symmetric polynomials 0 to ``most`` of some small numbers, from their power sums (Newton)."""
    power, sums, out = chances.copy(), np.empty(most), np.ones(most + 1)
    for m in range(most):
        sums[m] = (-1) ** m * power.sum()
        power *= chances
        out[m + 1] = (out[m::-1] @ sums[: m + 1]) / (m + 1)
    return out


def symmetric(chances: Floats, most: int) -> Floats:
    """Elementary symmetric polynomials 0 to ``most`` (lines) of the first 0, 1, ... numbers (columns)."""
    out = np.zeros((most + 1, len(chances) + 1))
    out[0] = 1.0
    for m in range(1, most + 1):
        np.cumsum(chances * out[m - 1, :-1], out=out[m, 1:])
    return out


@lru_cache
def differences(most: int) -> Floats:
    """Lines of signed binomials: the forward differences of the values at 0, 1, ..., ``most``."""
    return np.array([[(-1.0) ** (m - s) * math.comb(m, s) for s in range(most + 1)] for m in range(most + 1)])


def _places(size: int, room: float) -> tuple[Floats, Floats]:
    """Places in a block from which a function with no pole nearer than ``room`` is known, and what each counts."""
    z = 1.0 + 2.0 * room / size
    count = 1 + math.ceil(35.0 / math.log(z + math.sqrt(z * z - 1.0)))
    if size <= count:
        return np.arange(float(size)), np.eye(size)
    nodes, basis = chebyshev(count, size)
    return size * nodes, basis
