"""Mean costs of several decisions on the same rows, their covariance, and how far the difference of two may be off.

Only here does selection see rows: what decides needs the means, one covariance matrix (one matrix product over the
rows) and, for the few pairs that a verdict rests on, the degrees of freedom and the room for rows not yet seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.regret import row_losses
from stakes.inference._dependence import Design
from stakes.inference._student import half_width, p_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stakes.core.outcome import Origin
    from stakes.core.regret import Rule
    from stakes.core.validation import BinarySample
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]

_COLUMNS = 32


@dataclass(frozen=True)
class Spread:
    """Variance, degrees of freedom and squared room for unseen rows of some estimates; ``scarce`` rests on few rows.

    Parameters
    ----------
    variance, degrees, room : ndarray of shape (p,)
        Of each estimate.
    scarce : ndarray of shape (p,)
        Effective number of rows that carry the scarcest class, where it is scarce; else inf.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import Spread
    >>> Spread.normal(np.array([0.01])).reach(1.96).round(3).tolist()
    [0.196]
    """

    variance: Floats
    degrees: Floats
    room: Floats
    scarce: Floats

    @classmethod
    def normal(cls, variance: Floats) -> Spread:
        """Return estimates with normal errors of known variance."""
        size = np.shape(variance)
        return cls(variance, np.full(size, np.inf), np.zeros(size), np.full(size, np.inf))

    def reach(self, critical: float) -> Floats:
        """How far an interval reaches that would be ``critical`` standard errors long if the errors were normal."""
        alpha = math.erfc(critical / math.sqrt(2.0))
        return half_width(self.variance, self.degrees, self.room, alpha)

    def tail(self, gap: Floats) -> Floats:
        """One-sided p-value of differences >= 0: below the level exactly where the interval leaves zero out."""
        return 0.5 * p_value(gap, self.variance, self.degrees, self.room)


@dataclass(frozen=True)
class Contest:
    """Decisions that compete on the same rows.

    Parameters
    ----------
    names : tuple of str
        Models first, then references.
    n_models : int
        How many are models.
    means : ndarray of shape (k,)
        Mean cost of each.
    covariance : ndarray of shape (k, k)
        Of the means.
    n_rows : int
        Rows they rest on.
    spread : callable, optional
        Spread of the differences of first and second decisions, given by places; a second of -1 is no cost at all. By
        default normal, from the covariance.
    highest : float, default inf
        The most that a mean can be.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import Contest, select
    >>> select(Contest(("a", "b"), 2, np.array([0.1, 0.2]), 0.0001 * np.eye(2), 500)).chosen
    'a'
    """

    names: tuple[str, ...]
    n_models: int
    means: Floats
    covariance: Floats
    n_rows: int
    spread: Callable[[Integers, Integers], Spread] | None = None
    highest: float = math.inf

    def spread_of(self, first: Integers, second: Integers) -> Spread:
        """Spread of the differences of pairs."""
        if self.spread is not None:
            return self.spread(first, second)
        own = np.diag(self.covariance)
        pair = own[first] + own[second] - 2.0 * self.covariance[first, second]
        return Spread.normal(np.maximum(np.where(second < 0, own[first], pair), 0.0))


@dataclass(frozen=True)
class CostRows:
    """Costs of each row (n) under each decision (k), and what makes rows unequal or dependent.

    ``y`` says which rows are positive, or of which kind each one is; ``largest`` holds the most that a row of each kind
    may cost under each decision: first negatives, then positives. Where a kind costs something whatever is decided,
    ``carried`` holds what rows cost beyond some least, and the most of that: what is rare must show in one of them.
    ``unsteady`` is how many times as large as the rows show the variance of a difference is, for decisions by fits that
    would be others with other rows.
    """

    costs: Floats
    y: Bools | Integers
    weight: Floats
    clusters: Integers | None
    largest: Floats
    by_class: bool = False
    origin: Origin | None = None
    carried: tuple[tuple[Floats, Floats], ...] = ()
    unsteady: float = 1.0

    @classmethod
    def of(
        cls,
        samples: Sequence[BinarySample],
        costs: CostDistribution,
        rule: Rule = "score",
        factor: float = 1.0,
        *,
        references: bool = True,
        clusters: Integers | None = None,
        by_class: bool = False,
    ) -> CostRows:
        """Costs of each row under each model, then under treating all and no one, all times a factor."""
        y, weight, count = samples[0].y, samples[0].weight, len(samples)
        always, never = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
        lines = [row_losses(y, sample.score, costs, rule) for sample in samples]
        largest = np.full((2, count + 2 * references), [[always], [never]])
        if references:
            lines += [np.where(y, 0.0, always), np.where(y, never, 0.0)]
            largest[1, count] = largest[0, count + 1] = 0.0
        weight = np.ones(len(y)) if weight is None else weight
        origin = samples[0].origin
        return cls(factor * np.stack(lines, axis=1), y, weight, clusters, factor * largest, by_class, origin)

    @property
    def means(self) -> Floats:
        return np.asarray(self.weight @ self.costs / self.weight.sum())

    def covariance(self) -> Floats:
        """Covariance of the means."""
        units = self._design.units(self.costs.T)
        return np.asarray(units @ units.T)

    def spread(self, first: Integers, second: Integers) -> Spread:
        """Spread of first less second, worked out from the rows; -1 is no cost at all."""
        parts = [
            self._spread(first[k : k + _COLUMNS], second[k : k + _COLUMNS]) for k in range(0, len(first), _COLUMNS)
        ]
        columns = zip(*((p.variance, p.degrees, p.room, p.scarce) for p in parts), strict=True)
        return Spread(*(np.concatenate(column) for column in columns))

    @property
    def _design(self) -> Design:
        return Design(
            self.y,
            self.weight,
            fixed=self.by_class,
            codes=self.clusters,
            origin=self.origin,
            kinds=len(self.largest),
        )

    def _spread(self, first: Integers, second: Integers) -> Spread:
        alone = second < 0
        gap = (self.costs[:, first] - np.where(alone, 0.0, self.costs[:, second])).T
        centred, every = self._design.centred(gap), self.largest.max(axis=1)[:, None]
        parts = []
        for values, largest in (self.carried if alone.any() else ()) or ((self.costs, self.largest),):
            carried = gap if values is self.costs else np.where(alone[:, None], values[:, first].T, gap)
            found, _, _ = self._design.spread(centred, carried, np.where(alone, largest[:, first], every))
            parts.append(found)
        room = np.max([part.room for part in parts], axis=0)
        scarcest = [np.where(part.scarce, part.carrying, np.inf).min(axis=0) for part in parts]
        variance = found.variance * np.where(alone, 1.0, self.unsteady)
        return Spread(variance, found.degrees, room, np.min(scarcest, axis=0))
