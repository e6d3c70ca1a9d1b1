"""Blockwise sums, bounds on ratios, counts by score, isotonic regression (PAV), `sigmoid`, logistic regression."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.base.validation import BinarySample, Bools, Floats, Integers, blocks

# Which values are the lowest where some differ by rounding alone.

EQUAL = 64 * np.finfo(float).eps  # of values: what two equal ones leave is rounding, not a difference


def ascending(values: Sequence[float] | Floats) -> list[int]:
    """Return the places of values from the lowest up; those that rounding alone tells apart keep their order.

    Examples
    --------
    >>> from stakes.base.numerics import ascending
    >>> ascending([0.5, 0.1 + 0.2, 0.3, 0.1])
    [3, 1, 2, 0]
    """
    groups: list[list[int]] = []
    lowest = math.nan  # of the group
    for value, place in sorted((float(value), place) for place, value in enumerate(values)):
        if value - lowest <= EQUAL * abs(lowest):
            groups[-1].append(place)
        else:
            groups.append([place])
            lowest = value
    return [place for group in groups for place in sorted(group)]


# Sums over long arrays, block by block, with infinite values of weight zero.


def weighted_sum(weights: Floats, values: Floats) -> float:
    """Sum weights * values, ignoring infinite values of weight zero."""
    finite = np.isfinite(values)
    if np.all(finite):
        return float(np.dot(weights, values))
    used = weights > 0.0
    return float(np.dot(weights[used], values[used]))


# Bounds on ratios of counts that keep their meaning.


def rows_within(capacity: int | Fraction, total: float) -> float:
    """Return the largest number of rows, or weight, within a count or a share of all rows.

    Examples
    --------
    >>> from stakes.base.numerics import rows_within
    >>> rows_within(Fraction(29, 100), 100.0), 0.29 * 100.0
    (29.0, 28.999999999999996)
    """
    exact = Fraction(capacity) if isinstance(capacity, int) else capacity * Fraction(total)
    found = float(exact)
    return found if Fraction(found) <= exact else math.nextafter(found, -math.inf)


def next_fraction(value: Fraction, largest: int) -> Fraction:
    """Return the smallest fraction >= value with a denominator of at most ``largest``.

    No ratio of counts up to ``largest`` lies between the two, so that a precision bound may be replaced by it. The
    neighbours in the Farey sequence are the last convergent of the continued fraction and the semiconvergent after it.
    """
    if value.denominator <= largest:
        return value
    p0, q0, p1, q1 = 0, 1, 1, 0
    n, d = value.numerator, value.denominator
    while True:
        a = n // d
        if q0 + a * q1 > largest:
            break
        p0, q0, p1, q1 = p1, q1, p0 + a * p1, q0 + a * q1
        n, d = d, n - a * d
    k = (largest - q0) // q1
    return max(Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1))


# Positives and negatives at each distinct score, from rows or from groups of rows, by one sort.

_WORTH_PACKING = 1 << 12
_NAMES = ("scores", "positives", "negatives", "positives_squared", "negatives_squared", "n_rows")


def count_sample(sample: BinarySample) -> dict[str, Any]:
    """Count positives and negatives at each distinct score: the columns of a score table."""
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
    """Pool rows, or groups with a total weight and a total squared weight each, by score."""
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
    """Return an order that sorts finite scores, and the sorted scores.

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


def order_of_codes(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the order that sorts whole numbers >= 0 stably, sixteen bits at a time: so short, they sort by radix."""
    order = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    for shift in range(16, int(codes.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((codes[order] >> shift & 0xFFFF).astype(np.uint16), kind="stable")]
    return order


def count_cells(
    cell: Floats, lower_upper_moment: Sequence[Floats], sums: Sequence[Floats], *, n_rows: int, resolution: int
) -> dict[str, Any]:
    """Pool groups by cell: mean, smallest and largest score of each cell."""
    cell = np.minimum(cell, resolution - 1)
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1.0))
    lower, upper, moment = (values[order] for values in lower_upper_moment)
    low, high = np.minimum.reduceat(lower, starts), np.maximum.reduceat(upper, starts)
    positives, negatives, *squares = (np.add.reduceat(values[order], starts) for values in sums)
    mean = np.clip(np.add.reduceat(moment, starts) / (positives + negatives), low, high)
    return {**_columns(mean, (positives, negatives), squares, n_rows), "lower": low, "upper": high}


class CellSums:
    """Sums over batches of rows, in cells of scores of equal width: the columns of a score table.

    Examples
    --------
    >>> from stakes.base.numerics import CellSums
    >>> cells = CellSums(10)
    >>> for y, score in (([True, False], [0.31, 0.35]), ([True], [1.0])):
    ...     cells.add(np.array(y), np.array(score))
    >>> {name: found.tolist() for name, found in cells.columns().items() if name in {"positives", "lower", "upper"}}
    {'positives': [1.0, 1.0], 'lower': [0.31, 1.0], 'upper': [0.35, 1.0]}
    """

    def __init__(self, resolution: int) -> None:
        size = resolution + 1  # the last one is for the score 1
        self.resolution, self.n_rows, self.moment = resolution, 0, np.zeros(size)
        self.lower, self.upper = np.full(size, np.inf), np.full(size, -np.inf)
        self.mass = self.squares = np.zeros(2 * size)  # by cell and class

    def add(self, y: Bools, score: Floats, weight: Floats | None = None) -> None:
        """Add rows of positive weight, whose scores lie in [0, 1]."""
        cell = (score * self.resolution).astype(np.intp)
        self.n_rows += len(y)
        np.minimum.at(self.lower, cell, score)
        np.maximum.at(self.upper, cell, score)
        self.moment += np.bincount(cell, score if weight is None else weight * score, len(self.moment))
        by_class = 2 * cell + y
        if weight is not None:
            self.squares = self.squares + np.bincount(by_class, weight**2, len(self.squares))
        self.mass = self.mass + np.bincount(by_class, weight, len(self.mass))
        if weight is None:
            self.squares = self.mass

    def columns(self) -> dict[str, Any]:
        """Pool them into the columns of a score table."""
        used = np.flatnonzero(self.upper >= 0.0)
        spans = [values[used] + 0.0 for values in (self.lower, self.upper, self.moment)]  # -0.0 becomes 0.0
        sums = [by_class[2 * used + k] for by_class in (self.mass, self.squares) for k in (1, 0)]
        return count_cells(used.astype(np.float64), spans, sums, n_rows=self.n_rows, resolution=self.resolution)


def counting(
    batches: Iterable[tuple[Bools, list[Floats], Floats | None]], cells: Sequence[CellSums]
) -> Iterator[tuple[Bools, list[Floats], Floats | None]]:
    """Pass batches of rows on, and count the scores of each model in its cells; without cells nothing is counted.

    Examples
    --------
    >>> from stakes.base.numerics import CellSums, counting
    >>> cells = CellSums(10)
    >>> len(list(counting([(np.array([True, False]), [np.array([0.31, 0.35])], None)], [cells])))
    1
    >>> cells.columns()["n_rows"]
    2
    """
    for y, scores, weight in batches:
        for one, score in zip(cells, scores if cells else (), strict=True):
            one.add(y, score, weight)
        yield y, scores, weight


def _columns(scores: Floats, weights: Sequence[Floats], squares: Sequence[Floats], n_rows: int) -> dict[str, Any]:
    return dict(zip(_NAMES, (scores, *weights, *squares, n_rows), strict=True))


def _by_class(weight: Floats, positive: NDArray[np.bool_]) -> list[Floats]:
    """Split weights into those of positives and of negatives, zero elsewhere; overwrites its argument."""
    mine = weight * positive
    weight -= mine
    return [mine, weight]


def _count_sorted(y: NDArray[np.bool_], score: Floats) -> tuple[Floats, Floats, Floats]:
    """Count classes at each distinct non-negative score without an index sort.

    The sign bit of a non-negative float is free: its bit pattern, shifted left by one, carries the label in the
    lowest bit and still sorts like the number. Scores that were float32 sort as such, in half the time.
    """
    half = is_single(score)
    real: Any = np.float32 if half else np.float64
    whole: Any = np.uint32 if half else np.uint64
    memory = np.empty(0 if half else len(score) + 2)
    key: NDArray[Any] = np.empty(len(score), whole) if half else _pad_with_ends(memory).view(np.uint64)
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
        # where few scores are tied, reuse their memory: a new array costs as much as the work
        here = not half and 2 * count > len(ordered)
        frame = memory[: count + 2] if here else np.empty(count + 2)
        for part in blocks(len(ordered)):
            found = ordered[part] if new[part].all() else ordered[part][new[part]]
            frame[at + 1 : at + 1 + len(found)] = found
            at += len(found)
        distinct = _pad_with_ends(frame)
    del key, bits, ordered, memory  # before the counts take memory
    return distinct, *_counts(label, new, len(distinct))


def is_single(score: Floats) -> bool:
    """Whether every score is exactly a float32; usually decided by the first block.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.base.numerics import is_single
    >>> is_single(np.array([0.5, 0.7])), is_single(np.array([0.5, np.float32(0.7)]))
    (False, True)
    """
    with np.errstate(over="ignore"):
        return all(np.array_equal(score[part].astype(np.float32), score[part]) for part in blocks(len(score)))


def _counts(label: NDArray[np.bool_], new: NDArray[np.bool_], length: int) -> tuple[Floats, Floats]:
    """Count positives and negatives of each run of tied rows; a run starts where ``new`` is true."""
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


def _pad_with_ends(memory: Floats) -> Floats:
    """Write 0 and 1 into the ends of an array and return the view between them: curves use all of it as knots."""
    memory[0], memory[-1] = 0.0, 1.0
    return memory[1:-1]


# Pool adjacent violators on a table of positives and negatives, whole decreasing runs at a time.

_SHRINK = 0.7
# Up to this many blocks take less time here than the import of scipy.optimize.
_FEW = 1 << 14
_SAFE = (1e-100, 1e100)


def pav_starts(positives: Floats, negatives: Floats) -> NDArray[np.intp]:
    """Return the first index of each block of the weighted isotonic regression, blocks of equal rate merged."""
    peak = max(float(positives.max()), float(negatives.max()))
    if not _SAFE[0] < peak < _SAFE[1]:  # rates are compared by products, which must neither overflow nor vanish
        positives, negatives = positives / peak, negatives / peak
    starts = np.flatnonzero(_rising(positives, negatives))
    while True:
        # pooling whole decreasing runs shrinks long tables fast; the sequential algorithm finishes
        pooled = [np.add.reduceat(column, starts) for column in (positives, negatives)]
        fewer = starts[_rising(*pooled)]
        if len(fewer) == len(starts):
            return _merge_equal(starts, *pooled)
        if len(fewer) > _SHRINK * len(starts):
            pooled = [np.add.reduceat(column, fewer) for column in (positives, negatives)]
            fewer = fewer[_isotonic_blocks(*pooled)]
        starts = fewer


def _merge_equal(starts: NDArray[np.intp], positives: Floats, negatives: Floats) -> NDArray[np.intp]:
    """Merge blocks whose event rate, rounded, does not exceed that of the previous block."""
    while True:
        rates = positives / (positives + negatives)
        rising = np.concatenate([[True], rates[1:] > rates[:-1]])
        if rising.all():
            return starts
        groups = np.flatnonzero(rising)
        starts = starts[rising]
        positives, negatives = (np.add.reduceat(column, groups) for column in (positives, negatives))


def _rising(positives: Floats, negatives: Floats) -> NDArray[np.bool_]:
    """Whether each event rate exceeds the previous one (compared by cross-multiplication); True for the first."""
    rising = np.ones(len(positives), dtype=bool)
    for part in blocks(len(positives) - 1):
        after = slice(part.start + 1, part.stop + 1)
        np.greater(positives[after] * negatives[part], positives[part] * negatives[after], out=rising[after])
    return rising


def _isotonic_blocks(positives: Floats, negatives: Floats) -> NDArray[np.intp]:
    if len(positives) <= _FEW:
        return _pooled_blocks(positives, negatives)
    from scipy.optimize import isotonic_regression

    weight = positives + negatives
    found: NDArray[np.intp] = isotonic_regression(positives / weight, weights=weight).blocks[:-1]
    return found


def _pooled_blocks(positives: Floats, negatives: Floats) -> NDArray[np.intp]:
    """Pool adjacent violators sequentially: each score merges with previous blocks whose rate is not lower."""
    starts: list[int] = []
    hits: list[float] = []
    misses: list[float] = []
    for place, (own_hits, own_misses) in enumerate(zip(positives.tolist(), negatives.tolist(), strict=True)):
        start, hit, miss = place, own_hits, own_misses
        while starts and hits[-1] * miss >= hit * misses[-1]:
            start = starts.pop()
            hit, miss = hit + hits.pop(), miss + misses.pop()
        starts.append(start)
        hits.append(hit)
        misses.append(miss)
    return np.array(starts, dtype=np.intp)


# The logistic function and the one maximum-likelihood fit of it, by Newton's method on pooled rows.

_MAX_STEPS = 100
_MAX_HALVINGS = 60
_TOLERANCE = 1e-12
_FLAT = 1e-14
# of what the slope promises; a full step near the top gains half of that, and one that lands where every probability is
# 0 or 1, from where no step leads back, next to nothing
_LEAST_GAIN = 0.25
# of a logit in one step: about as far as the logits of all numbers above 0 reach. Rows whose probabilities are next to
# 0 or 1 hold almost no information, and ask for a step so long that no number of halvings leads back
_FARTHEST = 800.0
_TOTAL = 60  # weights are scaled to this power of two, which is exact, so that no product underflows


def sigmoid(logit: Any) -> Any:
    """Probability 1 / (1 + exp(-logit)); any logit, without a warning.

    Examples
    --------
    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-logit))


def logit(share: Any) -> Any:
    """Logarithm of the odds; minus infinity at 0 and infinity at 1, without a warning.

    Examples
    --------
    >>> logit(np.array([0.0, 0.5, 1.0])).tolist()
    [-inf, 0.0, inf]
    """
    with np.errstate(divide="ignore"):
        return np.log(share) - np.log1p(-np.asarray(share))


@dataclass(frozen=True, eq=False, repr=False)
class LogisticSolution:
    """Coefficients, the (penalised) log likelihood at them, and its information matrix."""

    coefficients: Floats
    log_likelihood: float
    information: Floats


def _newton_step(information: Floats, gradient: Floats) -> Floats:
    """Compute the Newton step; the shortest one where the information matrix is singular."""
    try:
        return np.asarray(np.linalg.solve(information, gradient))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(information, gradient, rcond=None)[0])


def _within_reach(step: Floats, gradient: Floats, design: Floats) -> Floats:
    """Shorten a step that would change a logit too much; replace one that is not finite by the gradient's direction."""
    if not np.all(np.isfinite(step)) or not np.any(step):
        step = gradient
    size = float(np.abs(step).max())
    if size == 0.0:
        return step
    change = float(np.abs(design @ (step / size)).max())
    return step if change * size <= _FARTHEST else step / size * (_FARTHEST / change)


def fit_logistic(
    design: Floats,
    positives: Floats,
    negatives: Floats,
    *,
    offset: Floats | float = 0.0,
    start: Floats | None = None,
    ridge: float = 0.0,
) -> LogisticSolution:
    """Fit a ridge-penalised logistic regression to counts of positives and negatives at each row of the design."""
    total = float(positives.sum() + negatives.sum())
    scale = math.ldexp(1.0, _TOTAL - math.frexp(total)[1])
    total, ridge = total * scale, ridge * scale
    shifts = np.broadcast_to(offset, positives.shape)

    def likelihood(beta: Floats) -> tuple[float, Floats, Floats]:
        value, gradient = -0.5 * ridge * float(beta @ beta), -ridge * beta
        information = ridge * np.eye(len(beta))
        for part in blocks(len(positives)):
            counts = positives[part] * scale, negatives[part] * scale
            own = _likelihood(design[part], *counts, design[part] @ beta + shifts[part])
            value, gradient, information = value + own[0], gradient + own[1], information + own[2]
        return value, gradient, information

    beta = np.zeros(design.shape[1]) if start is None else start
    value, gradient, information = likelihood(beta)
    for _ in range(_MAX_STEPS):
        step = _within_reach(_newton_step(information, gradient), gradient, design)
        if float(gradient @ step) <= _TOLERANCE**2 * total:
            beta = beta + step  # convergence is quadratic: this one settles the last digits
            break
        for _ in range(_MAX_HALVINGS):  # halve a step that overshoots; the likelihood is concave
            trial = likelihood(beta + step)
            if trial[0] >= value + _LEAST_GAIN * float(gradient @ step) - _FLAT * abs(value):
                break
            step = step / 2.0
        else:
            break  # no further increase in double precision
        beta = beta + step
        value, gradient, information = trial
    return LogisticSolution(beta, value / scale, information / scale)


def _likelihood(design: Floats, positives: Floats, negatives: Floats, eta: Floats) -> tuple[float, Floats, Floats]:
    """Return log likelihood, gradient and information of a block of rows."""
    small = np.exp(-np.abs(eta))
    one_more = 1.0 + small
    rare = small / one_more  # probability of the less likely class
    weight = positives + negatives
    low = eta < 0.0
    p = np.where(low, rare, 1.0 / one_more)
    value = positives @ np.minimum(eta, 0.0) - negatives @ np.maximum(eta, 0.0) - weight @ np.log1p(small)
    return float(value), design.T @ (positives - weight * p), design.T @ (design * (weight * rare / one_more)[:, None])


# Folds for cross-fitting.


def stratified_folds(y: Bools, cv: int, rng: np.random.Generator) -> Integers:
    """Assign stratified folds whose sizes differ by at most one row, overall and by class."""
    fold = np.empty(len(y), dtype=np.intp)
    positives = int(np.count_nonzero(y))
    fold[y] = rng.permutation(positives) % cv
    fold[~y] = (positives + rng.permutation(len(y) - positives)) % cv
    return fold
