"""`Dependence`: rows into independent units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from stakes.base import validation
from stakes.base.outcome import Origin
from stakes.core.options import Options
from stakes.variance.sums import (
    NEEDED_CLUSTERS,
    Clusters,
    Raw,
    Sums,
    Variance,
    aligned,
    bessel,
    cluster_variance,
    is_constant,
    left_out_variance,
    mean_weights,
    members,
    pooled_variance,
    sparing_units,
    squares_and_fourths,
)

# Rows that are not independent: the variance of an estimate over clusters and over rows in order of time.

NEEDED_ROWS = 20
_MEANS, _DOUBLE = 4, 1 << 23  # means at a time; contributions that are kept in double precision


def check_dependence(
    clusters: Any, lags: Any, n: int, sample_weight: Any = None
) -> tuple[validation.Integers | None, int | Literal["auto"] | None]:
    """Codes of the clusters of the n rows of positive weight, and the kind of long-run variance, or raise."""
    if clusters is not None and lags is not None:
        raise ValueError("clusters= and lags= (rows in order) cannot both be given.")
    if clusters is not None:
        values = validation.to_array(clusters, "clusters")
        present = None if sample_weight is None else validation.to_array(sample_weight, "sample_weight") > 0.0
        given = n if present is None else len(present)
        if values.shape != (given,):
            wrong = validation.as_column(clusters, "clusters") if isinstance(clusters, str) else f"shape {values.shape}"
            raise ValueError(f"clusters must have one value for each of the {given} rows, got {wrong}.")
        _refuse_missing(values, present)
        values = values if present is None else values[present]
        count, codes = _coded(validation.plain_labels(values))
        if count < NEEDED_CLUSTERS:
            raise ValueError(f"clusters must hold at least {NEEDED_CLUSTERS} clusters, got {count}.")
        return codes, None
    if lags is None:
        return None, None
    whole = isinstance(lags, (int, np.integer)) and not isinstance(lags, bool) and 0 <= lags < n
    if not (whole or (isinstance(lags, str) and lags == "auto")):  # an array is compared with no text
        raise ValueError(f'lags must be "auto" or a whole number from 0 to {n - 1}, got {lags!r}.')
    if n < NEEDED_ROWS:
        raise ValueError(f"lags= needs at least {NEEDED_ROWS} rows in order, got {n}.")
    return None, cast("int | Literal['auto']", lags)


def count_clusters(clusters: Any, sample_weight: Any = None) -> int:
    """Number of checked clusters with a row of positive weight."""
    values = validation.to_array(clusters, "clusters")
    if sample_weight is not None:
        values = values[validation.to_array(sample_weight, "sample_weight") > 0.0]
    return _coded(validation.plain_labels(values))[0]


def _coded(values: NDArray[Any]) -> tuple[int, validation.Integers]:
    """Number of distinct values, and the place of each row's among them; whole numbers that lie close are counted."""
    whole = len(values) > 0 and values.dtype.kind in "iu" and values.dtype != np.uint64
    if whole and int(values.max()) - int(values.min()) < 4 * len(values):
        place = values.astype(np.intp) - int(values.min())
        seen = np.zeros(int(place.max()) + 1, dtype=bool)
        seen[place] = True
        return int(np.count_nonzero(seen)), (np.cumsum(seen) - 1)[place]
    names, codes = np.unique(values, return_inverse=True)
    return len(names), codes.reshape(-1)


def _refuse_missing(clusters: NDArray[Any], present: validation.Bools | None) -> None:
    """Raise where the cluster of a row that counts is not known: all such rows would be taken as one cluster."""
    if clusters.dtype.kind == "O":
        missing = np.array([validation.is_missing(value) for value in clusters.tolist()])
    elif clusters.dtype.kind in "fcmM":
        missing = np.isnan(clusters)
    else:
        return
    missing &= True if present is None else present
    if missing.any():
        raise ValueError(
            f"clusters must name the cluster of every row, got a missing one in row {int(missing.argmax())} "
            f"({int(missing.sum())} of {len(missing)}): leave such rows out, or make each a cluster of its own."
        )


def dependence_of(
    sample: validation.BinarySample, clusters: Any, lags: Any, sample_weight: Any = None
) -> tuple[validation.Integers | None, int | Literal["auto"] | None]:
    """Check the dependence of a sample's rows; where an outcome knows some rows only, that of all its rows."""
    if sample.origin is None and sample.given_weight is None:
        return check_dependence(clusters, lags, len(sample.y), sample_weight)
    n, weight = len(sample.y), sample.given_weight
    if sample.origin is not None:
        n, weight = sample.origin.n_rows, sample.origin.outcome.sample_weight
    # clusters may be those of the rows that count alone
    counted = clusters is not None and validation.to_array(clusters, "clusters").shape[:1] == (n,)
    return check_dependence(clusters, lags, n, None if counted else weight)


def clusters_of(
    sample: validation.BinarySample, clusters: Any, sample_weight: Any = None
) -> validation.Integers | None:
    """Codes of the clusters of a sample's own rows, given for these or for all rows of the outcome that they are of."""
    if clusters is not None and validation.to_array(clusters, "clusters").shape[:1] == (len(sample.y),):
        return check_dependence(clusters, None, len(sample.y))[0]
    codes, _ = dependence_of(sample, clusters, None, sample_weight)
    return codes if codes is None or sample.origin is None else _coded(codes[sample.origin.among_present])[1]


def settled_codes(codes: validation.Integers, *columns: NDArray[Any] | None) -> validation.Integers:
    """Number clusters by the rows that they hold, so that draws do not depend on what the clusters are called.

    Clusters that hold equal rows can stand for each other. Columns that are None are left out.
    """
    known = [column for column in columns if column is not None]
    order = validation.settled_order(*known)
    apart = np.any([np.diff(column[order], prepend=column[order[:1]]) != 0 for column in known], axis=0)
    kind = np.empty(len(codes), dtype=np.intp)
    kind[order] = np.cumsum(apart)
    by_cluster = np.lexsort([kind, codes])
    held = np.split(kind[by_cluster], np.cumsum(np.bincount(codes))[:-1])
    place = np.empty(len(held), dtype=np.intp)
    place[sorted(range(len(held)), key=lambda k: held[k].tolist())] = np.arange(len(held))
    return place[codes]


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """Rows, or the cells of a table: their classes and weights, what is known of the classes, and what depends on what.

    ``square`` are the squared weights of cells; ``fixed`` says that the class totals are known; ``codes`` are those of
    the clusters, ``lags`` is for rows in order. ``origin`` is that of rows whose weights were estimated: their errors
    rest on all rows of the outcome, whose clusters ``codes`` then are. ``y`` says positive or not, or which of
    ``kinds`` kinds of rows it is. ``by_class`` is for estimates that are made of means of the classes whatever is known
    of their totals, such as areas.
    """

    y: validation.Bools | validation.Integers
    weight: validation.Floats
    square: validation.Floats | None = None
    fixed: bool = False
    codes: validation.Integers | None = None
    lags: int | str | None = None
    origin: Origin | None = None
    kinds: int = 2
    by_class: bool = False

    @property
    def dependent(self) -> bool:
        """Whether rows depend on each other, if only by weights that were estimated from all of them."""
        return self.codes is not None or self.lags is not None or self.origin is not None

    @property
    def share(self) -> validation.Floats:
        """Part of each row in all weight."""
        return self.weight / float(self.weight.sum())

    def centred(self, values: validation.Floats) -> validation.Floats:
        """Values (rows are the last axis) less their mean, or less that of the class where the totals are known."""
        if not self.fixed:
            return values - np.expand_dims(values @ self.weight / float(self.weight.sum()), -1)
        found = np.empty(values.shape)
        for mine in self._members:
            if mine.any():
                weight = self.weight[mine] / float(self.weight[mine].sum())
                found[..., mine] = values[..., mine] - np.expand_dims(values[..., mine] @ weight, -1)
        return found

    def units(self, values: validation.Floats) -> validation.Floats:
        """Independent contributions to the errors of the means (last axis): their products sum to the covariances."""
        contributions = self.contributions(self.centred(values))
        if self.dependent:
            return self.independent_units(contributions)
        for mine in self._members if self.fixed else (np.ones(len(self.y), dtype=bool),):
            # a single row shows no spread: the allowance for unseen rows replaces it
            contributions[..., mine] *= np.sqrt(bessel(max(int(np.count_nonzero(mine)), 2)))
        return contributions

    def covariances(self, values: Callable[[slice], validation.Floats], count: int) -> validation.Floats:
        """Covariances of several means of the rows, whose values are made for a few means at a time.

        Contributions of many rows are kept in single precision, so that a million rows take 160 MB for 40 means.
        """
        n = len(self.y) if self.origin is None else self.origin.n_rows
        kind = np.float64 if count * n <= _DOUBLE else np.float32
        units = np.concatenate([self.units(values(part)).astype(kind) for part in validation.blocks(count, _MEANS)])
        return np.asarray(units @ units.T, dtype=np.float64)

    def contributions(self, centred: validation.Floats) -> validation.Floats:
        """Contributions of the rows to the error of a mean, with what estimating their weights adds."""
        return self.with_weight_estimation(self.share * centred)

    def with_weight_estimation(self, contributions: validation.Floats) -> validation.Floats:
        """Contributions of all rows to an error, from those that hold if the weights are known."""
        return contributions if self.origin is None else self.origin.spread(contributions)

    def independent_units(self, contributions: validation.Floats) -> validation.Floats:
        """Sum the rows' contributions over independent units: clusters, cosine coefficients or windows."""
        n = contributions.shape[-1]
        if self.codes is not None:
            return self.clusters.left_out(contributions) / np.sqrt(bessel(len(self.clusters)))
        if self.lags == "auto":
            count = waves(n)
            return cosine_sums(contributions, count) * np.sqrt(n / count)
        if self.lags is None:
            return contributions * np.sqrt(bessel(n))
        last = int(self.lags)
        sums = np.cumsum(np.pad(contributions, [(0, 0)] * (contributions.ndim - 1) + [(last + 1, last)]), axis=-1)
        return (sums[..., last + 1 :] - sums[..., : -last - 1]) * np.sqrt(bessel(n) / (last + 1))

    def variance_of(self, contributions: validation.Floats) -> tuple[validation.Floats, validation.Floats, str]:
        """Variance of an estimate from the contributions of all rows, its degrees of freedom, and why it is unknown."""
        if self.codes is not None:
            clusters = self.clusters
            variance, degrees = left_out_variance(clusters.left_out(contributions), len(clusters), clusters.degrees())
            return (variance * np.nan if clusters.reason() else variance), degrees, self.unsure
        if self.lags is not None:
            variance, degrees, reason = ordered_variance(contributions, self.lags)
            return variance, degrees, reason or self.reason
        return *independent_variance(contributions), self.reason

    @cached_property
    def clusters(self) -> Clusters:
        """The clusters of the rows that the errors rest on."""
        if self.codes is None:
            raise ValueError("these rows have no clusters.")
        return Clusters(self.codes, self._own(self.share), self.own_members if self.fixed or self.by_class else ())

    @cached_property
    def own_members(self) -> tuple[validation.Bools, ...]:
        """Which of the rows that the errors rest on are of each class; those of unknown class are negatives."""
        y = self._own(self.y.astype(float))
        return members(y > 0.0 if self.y.dtype == np.bool_ else y.astype(np.intp), self.kinds)

    def _own(self, values: validation.Floats) -> validation.Floats:
        """Values of the rows among all that the errors rest on."""
        return values if self.origin is None else self.origin.scattered(values)[..., self.origin.outcome.present]

    @property
    def _members(self) -> tuple[validation.Bools, ...]:
        return members(self.y, self.kinds)

    @property
    def reason(self) -> str:
        """Why the outcome that weighs the rows allows no interval; empty where it does."""
        return "" if self.origin is None else self.origin.outcome.reason

    @property
    def unsure(self) -> str:
        """Why the outcome or the clusters allow no interval; empty where both do."""
        return (self.clusters.reason() if self.codes is not None else "") or self.reason

    def variance(
        self, values: validation.Floats, max_loss: validation.Floats, slope: validation.Floats | None = None
    ) -> tuple[Variance, tuple[int, ...], str]:
        """Variance of a mean of the rows' values, rows (clusters) of each class, and why there is no interval, if so.

        Rows are the last axis. ``max_loss`` is the largest value of a row of each class, ``slope`` the influence of the
        rows on the estimate where it is not their values less the mean.
        """
        if self.codes is not None:
            return self._cluster_variance(values, max_loss, slope)
        by = self.y, self.weight, self.square, self.kinds
        raw = Sums.from_units(values, *by)
        sums = raw if slope is None else Sums.from_units(slope, *by)
        rows = tuple(round(float(count)) for count in raw.count.reshape(self.kinds, -1)[:, 0])
        if not self.dependent:
            return sums.variance(max_loss, fixed=self.fixed, raw=raw), rows, ""
        contributions = self.contributions(self.centred(values) if slope is None else slope)
        variance, degrees, reason = self.variance_of(contributions)
        second, carried = sums.about(sums.mean if self.fixed else sums.value)[0], raw.raw
        variance = np.where(is_constant(second.sum(axis=0), carried[2].sum(axis=0)), 0.0, variance)
        return raw.add_unseen(variance, degrees, max_loss, fixed=self.fixed), rows, reason

    def _cluster_variance(
        self, values: validation.Floats, max_loss: validation.Floats, slope: validation.Floats | None
    ) -> tuple[Variance, tuple[int, ...], str]:
        """The same over clusters."""
        clusters, classes, (counts, masses, rows) = self.clusters, self.own_members, self._by_class
        sums = clusters.by_class(self._own(self.share * values), classes)
        if slope is None and self.origin is None and not clusters.classes:
            centred = sums.sum(axis=0) - np.expand_dims(sums.sum(axis=(0, -1)), -1) * clusters.shares
            changes = centred / clusters.rest[0]
        else:
            changes = clusters.left_out(self.contributions(self.centred(values) if slope is None else slope))
        powers, seen = squares_and_fourths(changes), np.count_nonzero(sums, axis=-1) * 1.0
        own: Raw = seen, sums.sum(axis=-1), *squares_and_fourths(sums)
        shift = aligned(mean_weights(masses, counts) / masses.sum(), max_loss.ndim) * max_loss
        own = (*own, self._sparing(sums, max_loss)) if self.fixed else own
        found = cluster_variance(clusters, powers, own, self.rates, shift)
        return found, rows, self.unsure

    def _sparing(self, sums: validation.Floats, max_loss: validation.Floats) -> validation.Floats:
        """Effective clusters with rows of each class that fall short of its largest value, as of single rows."""
        mass = self.clusters.by_class(self._own(self.share), self.own_members)
        most = np.copysign(aligned(max_loss, sums.ndim - 1), sums.sum(axis=-1))[..., None]
        largest = most * np.expand_dims(mass, tuple(range(1, sums.ndim - 1)))
        lacking = largest - sums
        return sparing_units(lacking.sum(axis=-1), (lacking**2).sum(axis=-1), (largest**2).sum(axis=-1))

    @property
    def rates(self) -> validation.Floats:
        """Share of each class in the rows, which are in clusters."""
        counts = self._by_class[0]
        return counts / counts.sum()

    @property
    def units_by_class(self) -> tuple[int, ...]:
        """Rows of each class, or clusters that have some."""
        if self.codes is not None:
            return self._by_class[2]
        return tuple(int(np.count_nonzero(mine)) for mine in self._members)

    @cached_property
    def _by_class(self) -> tuple[validation.Floats, validation.Floats, tuple[int, ...]]:
        """Rows of each class, their weight, and the clusters that have it."""
        units = Sums.from_units(np.zeros(len(self.y)), self.y, self.weight, self.square, self.kinds)
        seen = (self.clusters.sums(self._own(np.where(mine, 1.0, 0.0))) for mine in self._members)
        return units.count, units.weight, tuple(int(np.count_nonzero(each)) for each in seen)


def independent_variance(contributions: validation.Floats) -> tuple[validation.Floats, validation.Floats]:
    """Variance of a sum over independent rows (the last axis), and its degrees of freedom."""
    rows = np.full((1, *contributions.shape[:-1]), float(contributions.shape[-1]))
    second, fourth = squares_and_fourths(contributions)
    return pooled_variance(rows, second[None], fourth[None])


def ordered_variance(terms: validation.Floats, lags: int | str) -> tuple[validation.Floats, validation.Floats, str]:
    """Long-run variance of a sum over rows in order (the last axis), its degrees of freedom, and why there is none.

    "auto" projects the terms on slow cosines (Lazarus, Lewis, Stock and Watson 2018,
    doi:10.1080/07350015.2018.1506926), whose Student t intervals keep their level where kernel estimates are too short;
    a number of lags is Newey and West's estimate.
    """
    n = terms.shape[-1]
    if n < NEEDED_ROWS:
        nothing = np.full(terms.shape[:-1], np.nan)
        return nothing, nothing, f"only {n} rows in order: an interval needs {NEEDED_ROWS}"
    if lags == "auto":
        count = waves(n)
        variance = n * np.mean(cosine_sums(terms, count) ** 2, axis=-1)
        return np.asarray(variance), np.full(terms.shape[:-1], float(count)), ""
    last = int(lags)
    variance = (terms * terms).sum(axis=-1)
    for lag in range(1, last + 1):
        weight = 2.0 * (1.0 - lag / (last + 1.0))
        variance = variance + weight * (terms[..., lag:] * terms[..., :-lag]).sum(axis=-1)
    return np.maximum(variance, 0.0) * bessel(n), np.full(terms.shape[:-1], n - 1.0), ""


def waves(n: int) -> int:
    """Number of cosine coefficients of the long-run variance of n rows."""
    return max(int(0.4 * n ** (2.0 / 3.0)), 1)


def cosine_sums(terms: validation.Floats, count: int) -> validation.Floats:
    """sqrt(2 / n) * sum of the terms times cos(pi j (t - 1/2) / n), for j = 1 to count."""
    from scipy.fft import dct

    return np.asarray(dct(terms, type=2)[..., 1 : count + 1]) * (0.5 * math.sqrt(2.0 / terms.shape[-1]))


# Rows that several models share: labels, the scores of each, weights, and how rows depend on each other.


@dataclass(frozen=True, eq=False, repr=False)
class PairedRows:
    """Rows of positive weight that several models share.

    ``clusters`` are codes of what is independent, ``lags`` is for rows in order.

    Where an outcome weighs the rows, ``origin`` is where they come from and ``every_score`` the scores of all rows.
    """

    y: validation.Bools
    scores: Sequence[validation.Floats]
    weight: validation.Floats | None
    fixed_prevalence: bool = False
    clusters: validation.Integers | None = None
    lags: int | str | None = None
    origin: Origin | None = None
    every_score: Sequence[validation.Floats] = ()

    @classmethod
    def of(cls, samples: Sequence[validation.BinarySample], options: Options) -> PairedRows:
        """Read the rows that several models share, and their dependence."""
        first = samples[0]
        clusters, lags = dependence_of(first, options.clusters, options.lags, options.sample_weight)
        scores, fixed = [sample.score for sample in samples], options.prevalence is not None
        every = [sample.origin.score for sample in samples if sample.origin is not None]
        return cls(first.y, scores, first.weight, fixed, clusters, lags, first.origin, every)

    def taken(self, part: validation.Bools | validation.Integers | slice) -> PairedRows:
        """Some of the rows; where an outcome weighs them, their errors and clusters stay those of all its rows."""
        weight = None if self.weight is None else self.weight[part]
        clusters, origin = self.clusters, self.origin
        if origin is not None:
            origin = replace(origin, places=origin.places[part])
        elif clusters is not None:
            clusters = clusters[part]
        scores = [s[part] for s in self.scores]
        return replace(self, y=self.y[part], scores=scores, weight=weight, clusters=clusters, origin=origin)

    def arguments(
        self, first: int, second: int
    ) -> tuple[Any, validation.Floats, validation.Floats, validation.Floats | None]:
        """Labels, scores of two models and weights as a public function takes them."""
        if self.origin is None:
            return self.y, self.scores[first], self.scores[second], self.weight
        scattered = self.origin.scattered
        return self.origin.outcome, scattered(self.scores[first]), scattered(self.scores[second]), None

    def sample(self, index: int) -> validation.BinarySample:
        """The rows of one model."""
        origin = self.origin and replace(self.origin, score=self.every_score[index])
        return validation.BinarySample(self.y, self.scores[index], self.weight, origin)

    @property
    def dependent(self) -> bool:
        """Whether rows depend on each other, in clusters, in order of time or by weights estimated from all of them."""
        by_outcome = self.origin is not None and not self.origin.as_weights
        return self.clusters is not None or self.lags is not None or by_outcome
