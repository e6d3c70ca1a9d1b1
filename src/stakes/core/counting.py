"""Positives and negatives at each distinct score, from rows or from groups of rows, by one sort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.sums import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.validation import BinarySample

    Floats = NDArray[np.float64]

_WORTH_PACKING = 1 << 12


def count_sample(sample: BinarySample) -> dict[str, Any]:
    """Count rows at each distinct score: the columns of a score table."""
    if sample.weight is not None:
        return count_groups(sample.score, sample.y, sample.weight, None, len(sample.y))
    if len(sample.score) and sample.score.min() < 0.0:
        below = sample.score < 0.0
        low = _count_sorted(sample.y[below], -sample.score[below])
        high = _count_sorted(sample.y[~below], sample.score[~below])
        scores = np.concatenate([-low[0][::-1], high[0]])
        positives = np.concatenate([low[1][::-1], high[1]])
        negatives = np.concatenate([low[2][::-1], high[2]])
    else:
        scores, positives, negatives = _count_sorted(sample.y, sample.score)
    return _columns(scores, (positives, negatives), (positives, negatives), len(sample.y))


def count_groups(
    score: Floats, positive: NDArray[np.bool_], weight: Floats, squared: Floats | None, n_rows: int
) -> dict[str, Any]:
    """Pool rows, or groups of rows that carry a total weight and a total squared weight each."""
    order, ordered = order_of(score)
    ordered += 0.0  # -0.0 and 0.0 are one score
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts = None if new.all() else np.flatnonzero(new)
    is_positive = np.take(positive, order)
    columns = _by_class(np.take(weight, order), is_positive)
    squares = [c * c for c in columns] if squared is None else _by_class(np.take(squared, order), is_positive)
    if starts is not None:
        ordered = ordered[starts]
        columns, squares = ([np.add.reduceat(c, starts) for c in pair] for pair in (columns, squares))
    return _columns(ordered, columns, squares, n_rows)


def order_of(score: Floats) -> tuple[NDArray[np.intp], Floats]:
    """An order in which finite scores rise, and the scores in it.

    Where none is below zero the lowest bits of each score give way to the row's place, so that plain numbers are sorted
    in half the time of an index sort; the few rows whose scores differ in those bits alone are put in order after it.
    """
    if len(score) < _WORTH_PACKING or score.min() < 0.0:
        order = np.argsort(score)
        return order, np.take(score, order)
    low = np.uint64((1 << len(score).bit_length()) - 1)
    key = np.add(score, 0.0, dtype=np.float64).view(np.uint64)  # -0.0 becomes 0.0
    for part in blocks(len(key)):
        key[part] &= ~low
        key[part] |= np.arange(part.start, part.stop, dtype=np.uint64)
    key.sort()
    close = np.empty(len(key) - 1, dtype=bool)
    for part in blocks(len(close)):
        np.less_equal(key[part.start + 1 : part.stop + 1] ^ key[part], low, out=close[part])
    key &= low
    order = key.view(np.intp)
    ordered = np.take(score, order)
    if np.any(close & (ordered[1:] < ordered[:-1])):
        mine = np.flatnonzero(np.append(close, False) | np.append(False, close))
        order[mine] = order[mine][np.argsort(ordered[mine], kind="stable")]
        ordered[mine] = score[order[mine]]
    return order, ordered


def count_cells(
    cell: Floats,
    lower_upper_moment: tuple[Floats, Floats, Floats],
    sums: tuple[Floats, Floats, Floats, Floats],
    *,
    n_rows: int,
    resolution: int,
) -> dict[str, Any]:
    """Pool groups by cell: the mean score of each, and the smallest and largest score that it stands for."""
    cell = np.minimum(cell, resolution - 1)
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1.0))
    lower, upper, moment = (values[order] for values in lower_upper_moment)
    low, high = np.minimum.reduceat(lower, starts), np.maximum.reduceat(upper, starts)
    positives, negatives, *squares = (np.add.reduceat(values[order], starts) for values in sums)
    mean = np.clip(np.add.reduceat(moment, starts) / (positives + negatives), low, high)
    return {**_columns(mean, (positives, negatives), squares, n_rows), "lower": low, "upper": high}


def _columns(
    scores: Floats, weights: tuple[Floats, Floats] | list[Floats], squares: Any, n_rows: int
) -> dict[str, Any]:
    return {
        "scores": scores,
        "positives": weights[0],
        "negatives": weights[1],
        "positives_squared": squares[0],
        "negatives_squared": squares[1],
        "n_rows": n_rows,
    }


def _by_class(weight: Floats, positive: NDArray[np.bool_]) -> list[Floats]:
    """Weights of the positives and of the negatives, zero elsewhere; the array passed in is used up."""
    mine = weight * positive
    weight -= mine
    return [mine, weight]


def _count_sorted(y: NDArray[np.bool_], score: Floats) -> tuple[Floats, Floats, Floats]:
    """Count classes at each distinct non-negative score without an index sort.

    The sign bit of a non-negative float is free: its bit pattern, shifted left by one, carries the label in the
    lowest bit and still sorts like the number. Scores that were float32 sort as such, in half the time.
    """
    half = _is_single(score)
    real: Any = np.float32 if half else np.float64
    whole: Any = np.uint32 if half else np.uint64
    memory = np.empty(0 if half else len(score) + 2)
    key: NDArray[Any] = np.empty(len(score), whole) if half else _framed(memory).view(np.uint64)
    label, new = np.empty(len(score), dtype=bool), np.empty(len(score), dtype=bool)
    for part in blocks(len(score)):
        bits = key[part]
        np.add(score[part], 0.0, out=bits.view(real), casting="same_kind")  # -0.0 becomes 0.0
        np.left_shift(bits, 1, out=bits)
        np.bitwise_or(bits, y[part], out=bits)
    key.sort()
    previous, bits = whole(0), key[:0]
    for part in blocks(len(score)):
        bits = key[part]
        label[part] = bits & whole(1)
        np.right_shift(bits, 1, out=bits)
        new[part.start] = bits[0] != previous
        np.not_equal(bits[1:], bits[:-1], out=new[part.start + 1 : part.stop])
        previous = bits[-1]
    new[:1] = True
    ordered = key.view(real)
    distinct: Floats = ordered
    if half or not new.all():
        count, at = int(np.count_nonzero(new)), 0
        # where few are equal, they take the place of all: fresh memory costs as much as the work
        here = not half and 2 * count > len(ordered)
        frame = memory[: count + 2] if here else np.empty(count + 2)
        for part in blocks(len(ordered)):
            found = ordered[part] if new[part].all() else ordered[part][new[part]]
            frame[at + 1 : at + 1 + len(found)] = found
            at += len(found)
        distinct = _framed(frame)
    del key, bits, ordered, memory  # before the counts take memory
    return distinct, *_counts(label, new, len(distinct))


def _is_single(score: Floats) -> bool:
    """Whether every score is a float32: the first block tells nearly always."""
    with np.errstate(over="ignore"):
        return all(np.array_equal(score[part].astype(np.float32), score[part]) for part in blocks(len(score)))


def _counts(label: NDArray[np.bool_], new: NDArray[np.bool_], length: int) -> tuple[Floats, Floats]:
    """Positives and negatives of each run of rows; a run begins where ``new`` is true, and may cross two blocks."""
    positives, negatives = np.empty(length), np.empty(length)
    below = np.zeros(next(blocks(len(label)), slice(0)).stop + 1, dtype=np.int32)
    at = 0
    for part in blocks(len(label)):
        own, size, count = label[part], part.stop - part.start, int(np.count_nonzero(new[part]))
        mine = slice(at, at + count)
        if count == size:  # nothing is tied
            positives[mine] = own
            np.subtract(1.0, positives[mine], out=negatives[mine])
        else:
            starts = np.flatnonzero(new[part])
            first = int(starts[0]) if count else size
            if first:
                ups = np.count_nonzero(own[:first])
                positives[at - 1] += ups
                negatives[at - 1] += first - ups
            ends = np.append(starts[1:], size)[:count]
            np.cumsum(own, out=below[1 : 1 + size])  # np.add.reduceat would convert each label
            positives[mine] = below[ends] - below[starts]
            np.subtract(ends - starts, positives[mine], out=negatives[mine])
        at = mine.stop
    return positives, negatives


def _framed(memory: Floats) -> Floats:
    """An array in memory that has 0 before it and 1 behind it: the knots of curves then cost nothing."""
    memory[0], memory[-1] = 0.0, 1.0
    return memory[1:-1]
