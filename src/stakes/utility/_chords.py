"""Expected values along a stretch of rows from a few places of it, where both counts are large.

The expected value depends on k through k itself and the cumulants of the two counts, and smoothly so. Between the ends
of a block of rows these go almost straight: along the chord the value is interpolated from Chebyshev nodes, and how far
the mean, the variance and the third cumulant stray from the chord enters by derivatives. Two rows of every block, the
one that strays most and one between the nodes, are worked out in full: where they differ, so is the whole block.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.utility._gauss_rules import Cumulants, expectations, terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._batch import Batch
    from stakes.utility._exact import CountValue

    Floats = NDArray[np.float64]

# Rows of a block, largest first; no cell of the table changes by more than a quarter along it.
SIZES = (512, 128)
ROOM = 4
# An even number of slopes leaves the middle of a block, where it strays most, to be checked.
_NODES, _SLOPE_NODES = 12, 6
_AGREEMENT = 2e-14
_AT_ONCE = 64
# Lines of the cumulants that a deviation of the mean, of the variance and of the third cumulant moves, and their signs.
_MOVES = (np.array([1.0, -1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))


class Stretch(NamedTuple):
    """Blocks of equally many rows: TP before each, what each adds, FN after each, a column per block."""

    starts: NDArray[np.intp]
    size: int
    first: Floats
    total: Floats
    rest: Floats


def fill_blocks(values: Floats, batch: Batch, value: CountValue, blocks: Stretch) -> float:
    """Write the values of the rows of all blocks, and return how much two more nodes change them."""
    difference = 0.0
    for low in range(0, len(blocks.starts), _AT_ONCE):
        part = slice(low, low + _AT_ONCE)
        sums = (line[:, part] for line in (blocks.first, blocks.total, blocks.rest))
        some = Stretch(blocks.starts[part], blocks.size, *sums)
        if blocks.size in SIZES:
            found, sure, error = _by_chords(batch, value, some)
            difference = max(difference, error)
        else:
            found, sure = np.empty((len(some.starts), some.size)), np.zeros(len(some.starts), dtype=bool)
        for j in np.flatnonzero(~sure).tolist():
            found[j], error = _row_by_row(batch, value, some, j)
            difference = max(difference, error)
        values[some.starts[:, None] + np.arange(some.size)] = found
    return difference


def _row_by_row(batch: Batch, value: CountValue, blocks: Stretch, j: int) -> tuple[Floats, float]:
    """Gauss rules for every row of one block."""
    rows = slice(int(blocks.starts[j]), int(blocks.starts[j]) + blocks.size)
    own = terms(batch.yes[rows], batch.no[rows])
    hits = Cumulants(np.cumsum(own, axis=1) - own + blocks.first[:, j, None])
    misses = Cumulants(np.cumsum(own[:, ::-1], axis=1)[:, ::-1] + blocks.rest[:, j, None])
    found = expectations(value, hits, misses)
    one = slice(0, 1)
    return found, float(abs(expectations(value, hits.part(one), misses.part(one), further=2)[0] - found[0]))


def _by_chords(batch: Batch, value: CountValue, blocks: Stretch) -> tuple[Floats, NDArray[np.bool_], float]:
    """Values, a line per block; which blocks may be trusted; and what two more nodes change."""
    rows = blocks.starts[:, None] + np.arange(blocks.size)
    yes, no = batch.yes[rows], batch.no[rows]
    spread = yes * no
    strays = [_stray(line) for line in (yes, spread, spread * (no - yes))]
    widths = [np.abs(stray).max(axis=1) for stray in strays]
    widths = [np.where(width > 0.0, width, 1.0) for width in widths]
    nodes, basis = chebyshev(_NODES, blocks.size)
    slope_nodes, slope_basis = chebyshev(_SLOPE_NODES, blocks.size)
    moves = [np.multiply.outer(m, sign * w) for m, w in zip(_MOVES, widths, strict=True) for sign in (1.0, -1.0)]
    unmoved = np.zeros_like(moves[0])
    places = [(nodes, unmoved), (slope_nodes, unmoved), *((slope_nodes, move) for move in moves)]
    on_chord, middle, *moved = _at(value, blocks, places)
    found = on_chord @ basis
    for stray, width, up, down in zip(strays, widths, moved[::2], moved[1::2], strict=True):
        unit = stray / width[:, None]
        found += unit * ((0.5 * (up - down)) @ slope_basis)
        if stray is strays[0]:
            found += unit**2 * ((0.5 * (up + down) - middle) @ slope_basis)
    sure = np.ones(len(found), dtype=bool)
    for worst in (np.argmax(np.abs(strays[0]), axis=1), np.full(len(found), blocks.size // 4)):
        line = np.arange(len(worst))
        off = sum(np.multiply.outer(move, s[line, worst]) for move, s in zip(_MOVES, strays, strict=True))
        truth = _at(value, blocks, [(worst[:, None] / blocks.size, off)])[0][:, 0]
        sure &= np.abs(truth - found[line, worst]) <= _AGREEMENT * np.maximum(np.abs(truth), 1.0)
    error = np.abs(_at(value, blocks, [(nodes[:1], unmoved)], further=2)[0] - on_chord[:, :1]).max()
    return found, sure, float(error)


def _stray(lines: Floats) -> Floats:
    """How far the sum before each row is from the chord."""
    sums = np.cumsum(lines, axis=1)
    share = np.arange(lines.shape[1]) / lines.shape[1]
    out: Floats = sums - lines - np.multiply.outer(sums[:, -1], share)
    return out


def _at(value: CountValue, blocks: Stretch, places: list[tuple[Floats, Floats]], further: int = 0) -> list[Floats]:
    """Expected values at shares of the way along each chord (a line per block), with the cumulants moved off it."""
    hits, misses = [], []
    for share, move in places:
        along = blocks.first[:, :, None] + blocks.total[:, :, None] * share
        against = blocks.rest[:, :, None] + blocks.total[:, :, None] * (1.0 - share)
        along[:4] += move[:, :, None]
        against[:4] -= move[:, :, None]
        hits.append(along.reshape(len(along), -1))
        misses.append(against.reshape(len(against), -1))
    one, two = (Cumulants(np.concatenate(x, axis=1)) for x in (hits, misses))
    flat = expectations(value, one, two, further)
    ends = np.cumsum([x.shape[1] for x in hits])[:-1]
    return [found.reshape(len(blocks.starts), -1) for found in np.split(flat, ends)]


@lru_cache(maxsize=32)
def chebyshev(count: int, size: int) -> tuple[Floats, Floats]:
    """Nodes on [0, 1], and what each counts at 0, 1/size, ..., a line per node."""
    nodes = 0.5 - 0.5 * np.cos(np.pi * (np.arange(count) + 0.5) / count)
    return nodes, _lagrange(nodes, np.arange(size) / size)


def _lagrange(nodes: Floats, places: Floats) -> Floats:
    """Lagrange's polynomials of the nodes at some places, a line per node."""
    gaps = places - nodes[:, None]
    out = np.ones_like(gaps)
    np.cumprod(gaps[:-1], axis=0, out=out[1:])
    out[:-1] *= np.cumprod(gaps[:0:-1], axis=0)[::-1]
    apart = nodes[:, None] - nodes
    np.fill_diagonal(apart, 1.0)
    return out / apart.prod(axis=1)[:, None]
