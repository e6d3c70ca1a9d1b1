"""Covariances, limits and critical values of simultaneous bands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stakes.base.validation import BinarySample, Bools, Floats, Integers, blocks
from stakes.core.options import EvaluationData, refuse_weighing
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import level_name
from stakes.variance.dependence import Design, PairedRows

Bins = NDArray[np.signedinteger[Any]]
Singles = NDArray[np.float32]


# Weight of each class above and below every threshold, from rows or a score table: the statistics of a band.
#
# Rows are put into bins between thresholds by binary search, so nothing is sorted; two models share one joint
# histogram.

_MANY, _MOST_CELLS = 1 << 12, 1 << 12
_AT_ONCE = 1 << 16


class Totals(NamedTuple):
    """Weight and squared weight of each class (negatives, positives), and whether the prevalence is fixed."""

    weight: Floats
    squared: Floats
    fixed_prevalence: bool
    n_rows: int


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Weight (``[0]``) and squared weight (``[1]``) of each class at or above and below each threshold."""

    above: Floats  # (2, class, threshold)
    below: Floats
    totals: Totals


@dataclass(frozen=True, eq=False, repr=False)
class PairCounts:
    """The same for rows at or above a threshold by one of two models and below it by the other."""

    only_first: Floats  # (2, class, threshold)
    only_second: Floats
    above: tuple[Floats, Floats]  # squared weight at or above each threshold, by model: (class, threshold)
    both: Floats  # squared weight at or above one threshold by the first, another by the second: (class, m, m)
    totals: Totals


def counts_of(data: EvaluationData, thresholds: Floats, *, fixed_prevalence: bool) -> Counts:
    """Counts of one model."""
    if data.sample is None:
        table = data.table
        refuse_weighing(table, "a band from a table")
        starts = np.searchsorted(table.scores, thresholds, side="left")
        edges = np.concatenate([[0], starts, [len(table.scores)]])
        columns = np.stack([table.negatives, table.positives, table.negatives_squared, table.positives_squared])
        sums = np.add.reduceat(np.pad(columns, [(0, 0), (0, 1)]), edges[:-1], axis=1)
        histogram = np.where(np.diff(edges) > 0, sums, 0.0).reshape(2, 2, -1)  # edges may be equal
        return _counts(histogram, fixed_prevalence=table.fixed_prevalence, n_rows=table.n_rows)
    rows = data.sample
    width = len(thresholds) + 1
    histogram = _histogram(reached(rows.score, thresholds) + width * rows.y, rows.weight, 2 * width)
    return _counts(histogram.reshape(2, 2, width), fixed_prevalence=fixed_prevalence, n_rows=len(rows.y))


def pair_counts_of(rows: BinarySample, second: Floats, thresholds: Floats, *, fixed_prevalence: bool) -> PairCounts:
    """Counts of two models on the same rows: the scores of ``rows``, and others."""
    bins = reached(rows.score, thresholds), reached(second, thresholds)
    return binned_pair(rows.y, bins, rows.weight, len(thresholds) + 1, fixed_prevalence=fixed_prevalence)


def binned_pair(
    y: NDArray[np.integer | np.bool_],
    bins: tuple[Bins, Bins],
    weight: Floats | None,
    width: int,
    *,
    fixed_prevalence: bool,
) -> PairCounts:
    """Counts of two models from the number of the ``width - 1`` thresholds that each score reaches."""
    pooled = np.zeros((2, 2 * width * width))
    for part in blocks(len(y), max(_AT_ONCE, 2 * width * width)):
        cell = np.asarray(y[part], dtype=np.intp) * width
        cell += bins[0][part]
        cell *= width
        cell += bins[1][part]
        pooled += _histogram(cell, None if weight is None else weight[part], 2 * width * width)
    joint = pooled.reshape(2, 2, width, width)
    by_first, by_second = joint.sum(axis=3), joint.sum(axis=2)
    one, two = (_counts(each, fixed_prevalence=fixed_prevalence, n_rows=len(y)) for each in (by_first, by_second))
    # summed from the side that is asked for, so that where there is no row the sum is zero and not rounding
    diagonal = (slice(None), slice(None), np.arange(width - 1), np.arange(width - 1))
    only_first = _suffix_sums(joint, 2)[:, :, 1:].cumsum(axis=3)[diagonal]
    only_second = _suffix_sums(joint, 3)[:, :, :, 1:].cumsum(axis=2)[diagonal]
    both = _suffix_sums(_suffix_sums(joint[1], 1), 2)[:, 1:, 1:]
    return PairCounts(only_first, only_second, (one.above[1], two.above[1]), both, one.totals)


def reached(score: Floats, thresholds: Floats, kind: type[np.signedinteger[Any]] = np.intp) -> Bins:
    """Number of thresholds that each score reaches."""
    find = _finder(thresholds) if len(score) > _MANY else None
    if find is None:
        return np.searchsorted(thresholds, score, side="right").astype(kind, copy=False)
    out = np.empty(len(score), dtype=kind)
    for part in blocks(len(score)):
        out[part] = find(score[part])
    return out


def _finder(thresholds: Floats) -> Callable[[Floats], Bins] | None:
    """Count by cells of equal width, at most one threshold in each; None where the cells would be too many.

    The cell of a number rises with it, whatever the rounding: in another cell than that of the threshold, the number
    lies on the same side as its cell; in the same cell the two are compared.
    """
    gap = float(np.diff(thresholds).min(initial=1.0))
    few = len(thresholds) and gap > 0.0 and 1.0 / gap < _MOST_CELLS
    if not (few and 0.0 <= thresholds[0] <= thresholds[-1] <= 1.0):
        return None
    scale = float(2 ** math.ceil(math.log2(2.0 / gap)))
    last = int(scale)
    below = np.searchsorted(np.floor(thresholds * scale), np.arange(last + 1.0), side="left")
    first = np.append(thresholds, np.inf)[below]

    def find(score: Floats) -> Bins:
        cell = np.clip(score, 0.0, 1.0)
        cell *= scale
        places = cell.astype(np.intp)
        found: Bins = below.take(places)
        found += score >= first.take(places)
        return found

    return find


def _histogram(cell: Bins, weight: Floats | None, cells: int) -> Floats:
    """Weight and squared weight in each cell."""
    if weight is None:
        count = np.bincount(cell, minlength=cells).astype(np.float64)
        return np.stack([count, count])
    return np.stack([np.bincount(cell, part, cells) for part in (weight, weight * weight)])


def _counts(histogram: Floats, *, fixed_prevalence: bool, n_rows: int) -> Counts:
    total = histogram.sum(axis=2)
    totals = Totals(total[0], total[1], fixed_prevalence, n_rows)
    return Counts(_suffix_sums(histogram, 2)[:, :, 1:], histogram.cumsum(axis=2)[:, :, :-1], totals)


def _suffix_sums(values: Floats, axis: int) -> Floats:
    """Suffix sums."""
    return np.flip(np.flip(values, axis).cumsum(axis=axis), axis)


# A curve at some thresholds as a sum of shares of rows, with the covariance of its errors in closed form.
#
# Regret, net benefit and interventions avoided are sums over two kinds of rows (false positives and misses, for
# example) of a coefficient times a share; their differences between two models over four, those that only one model
# acts on. Rows are independent and weights linearised; under a stated prevalence each class is centred on its own
# mean.

ABOVE, BELOW = True, False
_ROUNDING = 1e-11  # of a sum of squares: what is left of it where all rows are alike
# which rows of the negatives and of the positives a curve counts: those at or above the threshold, or below it
SIDES = {"regret": (ABOVE, BELOW), "net_benefit": (ABOVE, ABOVE), "interventions_avoided": (BELOW, BELOW)}


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """Estimate at m thresholds, its covariance, and the k shares of rows that it is made of.

    ``share``, ``size`` (effective number of rows behind the share) and ``coefficient`` are (k, m), ``correlation`` is
    (k, k, m); ``known`` marks shares that the definition fixes. ``row`` is what one row more would add to a share;
    ``degrees`` of freedom are those of the errors; ``ends`` are the least and the largest value that the sum can have.
    """

    coefficient: Floats
    share: Floats
    size: Floats
    correlation: Floats
    known: Bools
    row: Floats
    covariance: Floats
    degrees: float = math.inf
    ends: tuple[Floats | float, Floats | float] = (-math.inf, math.inf)

    @property
    def estimate(self) -> Floats:
        return np.asarray((self.coefficient * self.share).sum(axis=0))

    @property
    def standard_error(self) -> Floats:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


def side_by_side(each: Sequence[Pieces]) -> Pieces:
    """Several sums at thresholds of their own as one, without the covariance of its errors."""
    columns = ("coefficient", "share", "size", "correlation", "known")
    joined: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in each], axis=-1) for name in columns}
    low, high = (np.concatenate([np.broadcast_to(one.ends[k], one.share.shape[1:]) for one in each]) for k in (0, 1))
    return replace(each[0], **joined, covariance=np.empty((0, 0)), ends=(low, high))


def acting_gains(kind: str, thresholds: Floats, per: float) -> Floats:
    """Change of the curve by acting on a negative and on a positive row."""
    t = thresholds
    if kind == "regret":
        return np.stack([t, t - 1.0])
    if kind == "net_benefit":
        return np.stack([-t / (1.0 - t), np.ones_like(t)])
    return per * np.stack([-np.ones_like(t), (1.0 - t) / t])


def curve_pieces(kind: str, counts: Counts, thresholds: Floats, per: float, decided: Floats | None = None) -> Pieces:
    """Build the terms of one model's curve; ``decided`` are the thresholds of its decisions where costs have others."""
    gains, sides = acting_gains(kind, thresholds, per), SIDES[kind]
    coefficient = np.stack([gain if side else -gain for gain, side in zip(gains, sides, strict=True)])
    mass = np.stack([(counts.above if side else counts.below)[:, k] for k, side in enumerate(sides)], axis=1)
    order = np.arange(len(thresholds))
    overlaps = {ABOVE: np.maximum.outer(order, order), BELOW: np.minimum.outer(order, order)}
    shared = np.stack([mass[1, k][overlaps[side]] for k, side in enumerate(sides)])
    # every score is at or above a threshold of 0
    decided = thresholds if decided is None else decided
    known = (decided <= 0.0) & (np.array([[not side] for side in sides]) | counts.totals.fixed_prevalence)
    return _sum_of_shares(coefficient, mass, counts.totals, gains[:, :, None] * gains[:, None] * shared, known)


def difference_pieces(kind: str, counts: PairCounts, thresholds: Floats, per: float) -> Pieces:
    """Build the terms of a difference: rows on which only the first, then only the second, model acts."""
    gains = acting_gains(kind, thresholds, per)
    coefficient = np.concatenate([gains, -gains])
    mass = np.concatenate([counts.only_first, counts.only_second], axis=1)
    order = np.arange(len(thresholds))
    later = np.maximum.outer(order, order)
    first, second = counts.above
    shared = first[:, later] + second[:, later] - counts.both - counts.both.transpose(0, 2, 1)
    known = np.broadcast_to(thresholds <= 0.0, coefficient.shape)
    return _sum_of_shares(coefficient, mass, counts.totals, gains[:, :, None] * gains[:, None] * shared, known)


def _sum_of_shares(coefficient: Floats, mass: Floats, totals: Totals, products: Floats, known: Bools) -> Pieces:
    """Sum coefficients times weighted shares of disjoint sets of rows, alternating negatives and positives.

    ``products`` are cross products of row values at two thresholds, by class.
    """
    owner, fixed, n = np.arange(len(coefficient)) % 2, totals.fixed_prevalence, totals.n_rows
    # what each share is a share of: all rows, or those of its class where the class totals are known
    domain, domain_squared = (
        (part[owner] if fixed else np.full(len(owner), part.sum()))[:, None] for part in (totals.weight, totals.squared)
    )
    share, squared, row = mass[0] / domain, mass[1], domain_squared / domain**2
    variance = (squared * (1.0 - 2.0 * share) + share**2 * domain_squared) / domain**2
    size = effective_sizes(share, variance, np.broadcast_to(1.0 / row, share.shape))
    cross = share[:, None] * squared[None] + share[None] * squared[:, None]
    joint = share[:, None] * share[None] * domain_squared[:, None] - cross
    if fixed:  # the classes are independent
        joint[owner[:, None] != owner[None]] = 0.0
    scale = np.sqrt(np.maximum(variance[:, None] * variance[None], 0.0)) * domain[:, None] ** 2
    correlation = _correlations(joint, scale)
    covariance = _covariance(coefficient * mass, totals, products) * (n / (n - 1) if n > 1 else np.nan)
    terms = coefficient * domain / float(totals.weight.sum())
    # the smallest and largest possible value have all rows of one kind, or of one kind in each class
    low, high = (end(_by_class(terms), axis=0, initial=0.0) for end in (np.min, np.max))
    ends = (low.sum(axis=0), high.sum(axis=0)) if fixed else (low.min(axis=0), high.max(axis=0))
    return Pieces(terms, share, size, correlation, known, row[:, 0], covariance, ends=ends)


def _covariance(values: Floats, totals: Totals, products: Floats) -> Floats:
    """Covariance between thresholds, with values centred on the mean of all rows or of the class."""
    linear, squares = (_by_class(part).sum(axis=0) for part in values)
    weight, squared, whole = totals.weight, totals.squared, float(totals.weight.sum())
    if totals.fixed_prevalence:
        centre = linear / weight[:, None]
        parts = [_centred(products[k], squares[k], centre[k], squared[k]) for k in (0, 1)]
        return np.asarray((parts[0] + parts[1]) / whole**2)
    centre = linear.sum(axis=0) / whole
    return _centred(products.sum(axis=0), squares.sum(axis=0), centre, squared.sum()) / whole**2


def _by_class(terms: Floats) -> Floats:
    """Terms of negatives and of positives, which alternate, along a second axis."""
    return terms.reshape(-1, 2, terms.shape[-1])


def effective_sizes(share: Floats, variance: Floats, otherwise: Floats) -> Floats:
    """Number of rows of which binomial shares have such a variance; something else where there is no spread."""
    found, spread = otherwise.copy(), share * (1.0 - share)
    return np.divide(spread, variance, out=found, where=(spread > 0.0) & (variance > 0.0))


def _correlations(products: Floats, scale: Floats) -> Floats:
    """Cross products over their scale; 1 on the diagonal of the first two axes."""
    found = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0.0)
    found[np.diag_indices(len(found))] = 1.0
    return np.clip(found, -1.0, 1.0)


def _centred(products: Floats, linear: Floats, centre: Floats, total: float) -> Floats:
    """Centred cross products from raw sums."""
    cross = np.outer(centre, linear)
    found = products - cross - cross.T + total * np.outer(centre, centre)
    rounding = np.diag(found) <= _ROUNDING * np.diag(products)
    found[rounding] = found[:, rounding] = 0.0
    return found


# Limits for sums of shares of rows: mid-p limits of every share, combined; and simultaneous critical values.
#
# Few rows beyond a threshold make normal bounds too narrow, and none at all would make them a point. Mid-p limits of
# a binomial share (Lancaster 1961) stay wide there; the distances from the estimate to them are combined as standard
# errors would be (method of variance estimates recovery: Zou and Donner 2008, doi:10.1002/sim.3095).

_MAX_STEPS = 50
_CLOSE = 1e-10
_FEW_HITS = 10.0
# a supremum that rests on the rows seen is too low where few are: one row more at every stretch between rows mends it
_UNSEEN_ROWS = 1.0


def combined_limits(pieces: Pieces, critical: float) -> tuple[Floats, Floats]:
    """Limits of the estimate at each threshold, at a normal critical value."""
    low, high = mid_p_limits(pieces.share * pieces.size, pieces.size, critical)
    low, high = (np.where(pieces.known, pieces.share, limit) for limit in (low, high))
    rising = pieces.coefficient > 0.0
    down = pieces.coefficient * np.where(rising, pieces.share - low, pieces.share - high)
    up = pieces.coefficient * np.where(rising, high - pieces.share, low - pieces.share)
    sign = np.sign(pieces.coefficient)
    together = pieces.correlation * sign[:, None] * sign[None]
    estimate = pieces.estimate
    low, high = estimate - _quadratic_norm(down, together), estimate + _quadratic_norm(up, together)
    ends = np.minimum(pieces.ends[0], estimate), np.maximum(pieces.ends[1], estimate)
    return np.maximum(low, ends[0]), np.minimum(high, ends[1])


def _quadratic_norm(distance: Floats, correlation: Floats) -> Floats:
    """Root of the quadratic form of distances under the shares' correlation."""
    return np.sqrt(np.maximum(np.einsum("im,ijm,jm->m", distance, correlation, distance), 0.0))


def mid_p_limits(hits: Floats, size: Floats, critical: float) -> tuple[Floats, Floats]:
    """Two-sided mid-p limits of binomial shares; ``critical`` is the normal quantile of their level.

    Numbers of hits and of trials may be fractions, as effective numbers are.
    """
    from scipy.special import ndtr

    tail = float(ndtr(-critical))
    return _lower(hits, size - hits, tail), 1.0 - _lower(size - hits, hits, tail)


def _lower(hits: Floats, rest: Floats, tail: float) -> Floats:
    """Lower mid-p limit of a share: at least this many hits (half of exactly this many) have probability ``tail``.

    Newton's steps on the logarithm of that probability, which is nearly concave, from the score limit (Wilson 1927)
    where many hits were seen and from the Clopper-Pearson limit below where few were.
    """
    from scipy.special import betainc, betaincinv, betaln, ndtri

    some = hits > 0.5 * _CLOSE
    found, both = np.zeros(hits.shape), np.empty(np.count_nonzero(some), dtype=np.complex128)
    both.real, both.imag = hits[some], np.maximum(rest[some], 0.0)
    distinct, places = np.unique(both, return_inverse=True)  # of whole numbers of rows there are few
    a, b = distinct.real, distinct.imag.copy()
    full = b <= _CLOSE  # no other outcome seen: "more than all" has probability zero
    b[full] = 0.0
    beyond = np.where(full, 1.0, b)
    n, z = a + b, -float(ndtri(tail))
    share = (a + 0.5 * z * z - z * np.sqrt(a * b / n + 0.25 * z * z)) / (n + z * z)
    few = (a < _FEW_HITS) | (b < _FEW_HITS)
    share[few] = betaincinv(a[few], b[few] + 1.0, tail)
    log_scale = -betaln(a + 1.0, b + 1.0) - np.log(a + b + 1.0)
    for _ in range(_MAX_STEPS):
        with np.errstate(divide="ignore"):
            exactly = np.exp(log_scale + a * np.log(share) + b * np.log1p(-share))
        value = np.where(full, 0.0, betainc(a + 1.0, beyond, share)) + 0.5 * exactly
        slope = 0.5 * exactly * (a / share + b / (1.0 - share))
        step = np.log(tail / value) * value / slope
        share = np.clip(share + step, 0.5 * share, 0.5 * (1.0 + share))
        if np.all(np.abs(step) <= _CLOSE * share):
            break
    found[some] = share[places]
    return found


def critical_value(pieces: Pieces, confidence_level: float, normals: Callable[[int], Singles]) -> float:
    """Quantile of the largest studentised error over the thresholds, from draws of a Gaussian process.

    Its covariance is that of the estimate, in closed form: what a Gaussian multiplier bootstrap of the rows has given
    the data, without its passes over the rows. ``normals`` gives draws in rows, for so many thresholds.
    """
    covariance = pieces.covariance + _unseen_covariance(pieces)
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    moving = scale > 0.0
    least = pointwise_value(pieces, confidence_level)
    if not moving.any():
        return least
    correlation = covariance[np.ix_(moving, moving)] / np.outer(scale[moving], scale[moving])
    values, vectors = np.linalg.eigh(correlation)
    # the symmetric root is the one that rounding in the covariance does not turn into another
    root = ((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T).astype(np.float32)
    # single precision: the error of the draws themselves is a hundred thousand times larger
    drawn = normals(len(values))
    largest = np.abs(drawn @ root).max(axis=1) * _scales(pieces.degrees, len(drawn))
    return max(float(np.quantile(largest, confidence_level)), least)


def _unseen_covariance(pieces: Pieces) -> Floats:
    """Covariance of additional pseudo-rows in every interval of thresholds without rows."""
    change = np.any(np.diff(pieces.share, axis=1) != 0.0, axis=0)
    stretch = np.concatenate([[0], np.cumsum(change)])
    weight = np.where(pieces.known, 0.0, pieces.coefficient) * np.sqrt(_UNSEEN_ROWS) * pieces.row[:, None]
    return np.where(stretch[:, None] == stretch[None], weight.T @ weight, 0.0)


def pointwise_value(pieces: Pieces, confidence_level: float, count: int = 1) -> float:
    """Bonferroni quantile of Student's t; normal without clusters."""
    from scipy.special import ndtri, stdtrit

    tail = (1.0 - confidence_level) / (2.0 * count)
    return -float(ndtri(tail) if math.isinf(pieces.degrees) else stdtrit(pieces.degrees, tail))


def _scales(degrees: float, draws: int) -> Floats:
    """Scale factors from normal to Student draws, at even quantiles of the chi-squared divisor."""
    from scipy.special import gammaincinv

    if math.isinf(degrees):
        return np.ones(draws)
    even = (np.arange(draws) + 0.5) / draws
    return np.asarray(np.sqrt(0.5 * degrees / gammaincinv(0.5 * degrees, even)))


# Pieces of a curve whose rows depend on each other: in clusters, or by weights estimated from all of them.

_CONTRIBUTIONS_AT_ONCE = 1 << 19  # contributions of rows to shares: more of them leave the cache


def dependent_pieces(
    pieces: Pieces,
    kind: str,
    rows: BinarySample | PairedRows,
    bins: Sequence[Integers],
    *,
    fixed_prevalence: bool,
    codes: Integers | None = None,
) -> Pieces:
    """The terms of one model, or of a difference, with errors from independent units.

    ``bins`` say how many of the thresholds each score reaches, for each model; ``codes`` are those of the clusters.
    """
    weight = np.broadcast_to(1.0, len(rows.y)) if rows.weight is None else rows.weight  # rarely needed
    design = Design(rows.y, weight, fixed=fixed_prevalence, codes=codes, origin=rows.origin)
    if not design.dependent:
        return pieces
    if design.reason:
        raise ValueError(f"there is no band: {design.reason}.")
    arranged = None if design.origin is None or codes is not None else design.origin.arranged()
    if arranged is not None:  # sums over rows are the same in any order
        origin, order = arranged
        design = Design(design.y[order], design.weight[order], origin=origin)
        bins = [reached[order] for reached in bins]
    y, weight = design.y, design.weight
    classes = ~y, y
    whole = [weight[mine].sum() if fixed_prevalence else weight.sum() for mine in classes]
    domain = [mine if fixed_prevalence else np.ones(len(y), dtype=bool) for mine in classes]
    share, (count, size) = pieces.share, pieces.share.shape
    errors, cross = [], np.empty((count, count, size))
    for part in blocks(size, max(_CONTRIBUTIONS_AT_ONCE // (count * len(y)), 1)):
        held = _held(kind, bins, np.arange(part.start, part.stop))
        terms = [(held[k] & classes[k % 2]) - share[k, part, None] * domain[k % 2] for k in range(count)]
        parts = (design.with_weight_estimation(term * (weight / whole[k % 2])) for k, term in enumerate(terms))
        units = np.stack([design.independent_units(each) for each in parts])
        cross[:, :, part] = np.einsum("ibn,jbn->ijb", units, units)
        errors.append(np.einsum("kb,kbn->bn", pieces.coefficient[:, part], units))
    found = _with_errors(pieces, np.concatenate(errors), cross)
    return found if codes is None else _clustered(found, design)


def _with_errors(pieces: Pieces, errors: Floats, cross: Floats) -> Pieces:
    variance = np.einsum("kkb->kb", cross)
    size = effective_sizes(pieces.share, variance, pieces.size)
    correlation = _correlations(cross, np.sqrt(variance[:, None] * variance[None]))
    return replace(pieces, size=size, correlation=correlation, covariance=errors @ errors.T)


def _clustered(pieces: Pieces, design: Design) -> Pieces:
    """A row not yet seen brings others of its cluster; the errors have as many degrees of freedom as clusters allow."""
    clusters = design.clusters
    if clusters.reason():
        raise ValueError(f"there is no band: {clusters.reason()}.")
    more = np.resize(clusters.rows_at_once(design.rates), len(pieces.row))
    size = np.where(pieces.share * (1.0 - pieces.share) > 0.0, pieces.size, pieces.size / more[:, None])
    return replace(pieces, size=size, row=pieces.row * more, degrees=clusters.degrees())


def _held(kind: str, bins: Sequence[Integers], places: Integers) -> list[Bools]:
    """Indicator of the rows in each term at some thresholds, ignoring class: shape (thresholds, rows)."""
    acted = [reached > places[:, None] for reached in bins]
    if len(acted) == 1:
        return [acted[0] if above else ~acted[0] for above in SIDES[kind]]
    only = acted[0] & ~acted[1], ~acted[0] & acted[1]
    return [only[0], only[0], only[1], only[1]]


# A curve with its pointwise intervals and its simultaneous band.

_COLUMNS = {"estimate": "estimate", "standard_error": "standard_error", "ci_low": "low", "ci_high": "high"}
_COLUMNS |= {"simultaneous_low": "simultaneous_low", "simultaneous_high": "simultaneous_high"}


@dataclass(frozen=True, eq=False, repr=False)
class Band(Tabular):
    """A curve at some thresholds, with an interval at each and a band around all of them.

    Parameters
    ----------
    kind : str
        "regret", "net_benefit", "interventions_avoided", "reliability" or "smooth".
    thresholds : ndarray of shape (m,)
        Where the curve is read; scores for "reliability" and "smooth".
    estimate, standard_error : ndarray of shape (m,)
        Value of the curve, and its standard error (nan for isotonic event rates, which have none).
    low, high : ndarray of shape (m,)
        Pointwise interval: right about one threshold chosen beforehand.
    simultaneous_low, simultaneous_high : ndarray of shape (m,)
        Band: right about all the thresholds at once.
    critical_value : float
        How many standard errors the band reaches, as 1.96 is for a 95% interval.
    confidence_level : float
        Of the intervals and of the band.
    n_rows : int
        Number of rows.
    n_positives : float
        Number of positive rows; the effective number (squared total weight over total of squares) where weights differ.
    name : str, default "model"
        The model, or "a - b" for a difference.
    is_difference : bool, default False
        Whether this is the first model's curve less the second's.
    is_consistency : bool, default False
        Whether the band shows where the curve would lie if the scores were calibrated.
    per : float, optional
        Number of cases that avoided interventions are counted in.
    about : str, default ""
        What a picture must say of the rows: the horizon, what weighs them.

    Examples
    --------
    >>> from stakes.inference import confidence_band
    >>> band = confidence_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], "net_benefit", thresholds=[0.2, 0.5])
    >>> band
    Band(net_benefit of model at 2 thresholds in [0.2, 0.5], 95%, 4 rows with 2 positives)
    >>> band.low.round(2).tolist(), band.simultaneous_low.round(2).tolist()
    ([-0.05, -0.17], [-0.09, -0.24])
    """

    kind: str
    thresholds: Floats
    estimate: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    critical_value: float
    confidence_level: float
    n_rows: int
    n_positives: float
    name: str = "model"
    is_difference: bool = False
    is_consistency: bool = False
    per: float | None = None
    about: str = ""

    @property
    def of_rates(self) -> bool:
        """Whether the curve is the event rate over the score."""
        return self.kind in {"reliability", "smooth"}

    @property
    def x_label(self) -> str:
        """Label of the horizontal axis: "threshold" or "score"."""
        return "score" if self.of_rates else "threshold"

    def excludes(self, value: float = 0.0) -> Bools:
        """Say at which thresholds the simultaneous band leaves a value out.

        Parameters
        ----------
        value : float, default 0
            Zero in a difference: no difference.

        Returns
        -------
        ndarray of bool of shape (m,)

        Examples
        --------
        >>> from stakes.inference import difference_band
        >>> y, a, b = [0, 1] * 50, [0.1, 0.9] * 50, [0.5, 0.5] * 50
        >>> difference_band(y, a, b, "regret", thresholds=[0.05, 0.3, 0.7]).excludes().tolist()
        [False, True, True]
        """
        return np.asarray((self.simultaneous_low > value) | (self.simultaneous_high < value))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve, the pointwise intervals and the band with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to :meth:`stakes.display.BandDisplay.plot`, such as ``bounds=(low, high)``.

        Returns
        -------
        BandDisplay
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.inference import confidence_band
        >>> display = confidence_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], "regret").plot()
        """
        return draw(self, ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        columns = {self.x_label: self.thresholds} | {name: getattr(self, of) for name, of in _COLUMNS.items()}
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def __repr__(self) -> str:
        span = f"[{self.thresholds[0]:g}, {self.thresholds[-1]:g}]"
        plural = "" if len(self.thresholds) == 1 else "s"
        what = f"consistency of {self.name}" if self.is_consistency else f"{self.kind} of {self.name}"
        where = f"at {len(self.thresholds)} {self.x_label}{plural} in {span}"
        found = ""
        if self.is_difference:
            below, above = (self.simultaneous_high < 0.0).sum(), (self.simultaneous_low > 0.0).sum()
            found = f", below zero at {below}, above at {above}"
        rows = f"{self.n_rows} rows with {self.n_positives:.6g} positives"
        return f"Band({what} {where}, {level_name(self.confidence_level)}{found}, {rows})"


def band_of(
    pieces: Pieces, totals: Totals, critical: float, *, kind: str, thresholds: Floats, level: float, **told: Any
) -> Band:
    """Build the band of a curve: intervals at ``level``, and simultaneous limits at ``critical``.

    Parameters
    ----------
    pieces : Pieces
        The shares of rows that the curve is made of.
    totals : Totals
        Of the rows.
    critical : float
        Critical value of the band.
    kind, thresholds, level, **told
        What the band says of itself.

    Returns
    -------
    Band
    """
    squared = float(totals.squared[1])
    positives = float(totals.weight[1]) ** 2 / squared if squared > 0.0 else 0.0
    pointwise, together = (combined_limits(pieces, each) for each in (pointwise_value(pieces, level), critical))
    columns = pieces.estimate, pieces.standard_error, *pointwise, *together
    return Band(kind, thresholds, *columns, critical, level, totals.n_rows, positives, **told)


def shifted(band: Band, more: Floats | float) -> Band:
    """Shift a band by a known amount at each threshold."""
    names = ("estimate", "low", "high", "simultaneous_low", "simultaneous_high")
    return replace(band, **{name: getattr(band, name) + more for name in names})
