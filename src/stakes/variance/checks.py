"""Whether kept sums over pairs of models agree with each other.

Most of the sums follow from others: the difference of two losses has the difference of their sums, and treating all and
treating none cost every row of a class the same. What follows must agree to rounding; for the rest there are
inequalities (Cauchy-Schwarz, moments of one distribution, the largest loss).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from stakes.base.validation import Bools, Floats, Integers

Broken = Callable[[str, str], ValueError]

ROUNDING = 1e-9  # of sums over many rows, in any order
FLOOR = 1e-12  # of the largest that the sum could be, where what is summed is itself a small difference
_SCALED = 1e-6  # of inequalities between moments, scaled to 1
_TINY = 1e-300  # squares of smaller numbers are zero
_UNWEIGHTED = 1e-6  # how far sums of different powers of weights that are all 1 may lie apart
EVERY_ORDER = ((1, 1), *((2, b) for b in range(3)), *((4, b) for b in range(5)))  # of the weight, of the difference
_ORDERS = tuple((a, b) for a, b in EVERY_ORDER if b)
CLASSES = ("negatives", "positives")


def check_columns(columns: Mapping[str, Floats], models: tuple[str, ...], max_loss: Floats, broken: Broken) -> None:
    """Refuse columns of kept sums, of shape (2, pairs), that contradict each other."""
    names = (*models, "treat all", "treat none", "nothing")
    pairs = list(combinations(range(len(names)), 2))
    for k in (0, 1):
        mine = {name: values[k] for name, values in columns.items()}
        sums = _CheckedSums(mine, names, pairs, float(max_loss[k]), k, broken)
        with np.errstate(over="ignore"):  # an infinite square fails the comparison that it is in
            sums.check_counts()
            sums.check_weights()
            sums.check_constants()
            sums.check_differences()
            sums.check_shifts()
            sums.check_infinite()
            sums.check_moments()


@dataclass(frozen=True, eq=False, repr=False)
class _CheckedSums:
    """The sums of one class, over the rows of which the difference of every pair was summed."""

    columns: Mapping[str, Floats]
    names: tuple[str, ...]
    pairs: list[tuple[int, int]]
    max_loss: float
    k: int
    broken: Broken

    @property
    def models(self) -> int:
        """Number of models."""
        return len(self.names) - 3

    @property
    def nothing(self) -> Integers:
        """Place of each decision's pair with "nothing", which has none itself."""
        kinds = len(self.names)
        return place_of_pair(np.arange(kinds - 1), kinds - 1, kinds)

    def power(self, a: int, b: int) -> Floats:
        """Sums of w^a d^b for every pair."""
        return self.columns[f"w{a}_d{b}"] if b or a > 1 else self.columns["mass"]

    def largest(self, a: int, b: int) -> float:
        """The most that a sum of w^a |d|^b can be, where the largest loss is finite."""
        max_loss = self.max_loss if np.isfinite(self.max_loss) else 1.0
        return float(self.power(a, 0)[0]) * max_loss**b

    def require(self, good: Bools, name: str, rule: str, than: Floats | None = None) -> None:
        """Raise for the first pair for which a condition does not hold, with the value that it speaks of."""
        if not np.all(good):
            at = int(np.argmin(good))
            i, j = (self.names[place] for place in self.pairs[at])
            value = "" if than is None else f" ({digits(than[at])})"
            found = digits(self.columns[name][at])
            raise self.broken(name, f"{rule}{value} for {i!r} less {j!r} among {CLASSES[self.k]}, got {found}")

    def equal(self, name: str, wanted: Floats, allowed: Floats, where: Bools, why: str) -> None:
        """Raise unless a sum is what it must be, to rounding; the same infinity is the same."""
        found = self.columns[name]
        with np.errstate(invalid="ignore"):
            good = (np.abs(found - wanted) <= allowed) | (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        self.require(good | ~where, name, why, wanted)

    def check_counts(self) -> None:
        """Rows, and those that carry a difference, are whole numbers in order."""
        rows, carriers, apart = (self.columns[name] for name in ("rows", "carriers", "apart"))
        for name, values in (("rows", rows), ("carriers", carriers), ("apart", apart)):
            self.require((values == np.round(values)) & (values < 2**63), name, "a whole number")
        self.require(rows == rows[0], "rows", "the same for every pair", np.full(len(rows), rows[0]))
        both = np.array([j < self.models for _, j in self.pairs])
        self.require(carriers <= rows, "carriers", "at most the rows", rows)
        self.require(apart <= rows, "apart", "at most the rows", rows)
        self.require((apart >= carriers) | ~both, "apart", "at least the carriers", carriers)
        self.require((apart == carriers) | both, "apart", "equal to the carriers", carriers)
        own = np.append(carriers[self.nothing], 0.0)
        first, second = (own[side] for side in np.array(self.pairs).T)
        self.require(carriers <= first + second, "carriers", "at most those of both alone", first + second)
        gap = np.abs(first - second)
        self.require((carriers >= gap) | ~both, "carriers", "at least what those of both alone differ by", gap)

    def check_weights(self) -> None:
        """Sums of powers of weights are the same for every pair, and those of weights >= 0."""
        rows, mass = self.columns["rows"], self.columns["mass"]
        second, fourth = self.power(2, 0), self.power(4, 0)
        for name, values in (("mass", mass), ("w2_d0", second), ("w4_d0", fourth)):
            self.require(np.isfinite(values) & (values == values[0]), name, "one number for every pair")
        for name, low, high, what in (
            ("w2_d0", mass, second, "the square of mass"),
            ("w4_d0", second, fourth, "the square of w2_d0"),
        ):
            self.require(high <= low**2 * (1.0 + ROUNDING) + _TINY, name, f"at most {what}", low**2)
            self.require(low**2 <= rows * high * (1.0 + ROUNDING) + _TINY, name, f"at least {what} / rows")

    def check_constants(self) -> None:
        """Treating all costs every negative the most, treating none every positive, and the other class nothing."""
        always, never = self.models, self.models + 1
        costs = np.zeros(len(self.names))
        costs[always if self.k == 0 else never] = self.max_loss
        where = np.array([i >= self.models for i, _ in self.pairs])
        gaps = np.array([costs[i] - costs[j] if i >= self.models else 0.0 for i, j in self.pairs])
        for a, b in _ORDERS:
            weight = self.power(a, 0)
            wanted = np.zeros(len(gaps)) if not weight[0] else weight * np.where(gaps == 0.0, 0.0, gaps**b)
            self.equal(f"w{a}_d{b}", wanted, ROUNDING * np.abs(wanted), where, "the weights times what each row costs")
        wanted = np.where(gaps != 0.0, self.columns["rows"], 0.0)
        self.equal("carriers", wanted, np.zeros(len(gaps)), where, "the rows that cost something")

    def check_differences(self) -> None:
        """The sum of a difference is the difference of the sums."""
        first, second = np.array(self.pairs).T
        for a in (1, 2, 4):
            own = np.append(self.power(a, 1)[self.nothing], 0.0)
            with np.errstate(invalid="ignore"):
                wanted = own[first] - own[second]
                allowed = ROUNDING * (np.abs(own[first]) + np.abs(own[second])) + FLOOR * self.largest(a, 1)
            every = np.ones(len(wanted), dtype=bool)
            self.equal(f"w{a}_d1", wanted, allowed, every, "the difference of the sums of the two")

    def check_shifts(self) -> None:
        """Against a rule that costs every row of the class the same, the powers are those of the model, shifted."""
        costly, own = self.models + self.k, self.nothing
        for j in (self.models, self.models + 1):
            by = self.max_loss if j == costly else 0.0
            for i in range(self.models):
                self._check_shift(place_of_pair(i, j, len(self.names)), int(own[i]), by)

    def _check_shift(self, at: int, own: int, by: float) -> None:
        where = np.arange(len(self.pairs)) == at
        for a, b in _ORDERS:
            powers = [float(self.power(a, r)[own]) for r in range(b + 1)]
            terms = [comb(b, r) * powers[r] * (-by) ** (b - r) for r in range(b + 1) if by or r == b]
            if not np.isfinite(terms).all():
                continue
            wanted, scale = np.full(len(where), sum(terms)), sum(map(abs, terms))
            allowed = np.full(len(where), ROUNDING * scale + FLOOR * self.largest(a, b))
            self.equal(f"w{a}_d{b}", wanted, allowed, where, "what follows from the sums of the model alone")
        if not by:
            wanted = np.full(len(where), self.columns["carriers"][own])
            self.equal("carriers", wanted, np.zeros(len(where)), where, "what the model has alone")

    def check_infinite(self) -> None:
        """A sum is infinite or undefined only where the losses are infinite, and then every higher power is."""
        for a in (2, 4):
            lower = np.isfinite(self.power(a, 1))
            for b in range(2, a + 1):
                name = f"w{a}_d{b}"
                self.require(np.isfinite(self.columns[name]) == lower, name, "finite where lower powers are")
        if np.isfinite(self.max_loss):
            for a, b in _ORDERS:
                name = f"w{a}_d{b}"
                self.require(np.isfinite(self.columns[name]), name, "finite, as the costs are")

    def check_moments(self) -> None:
        """What moments of bounded differences can be: Cauchy-Schwarz, and powers that are those of one distribution."""
        finite = np.isfinite(self.power(2, 2)) & np.isfinite(self.power(4, 4))
        carriers, second, fourth = self.columns["carriers"], self.power(2, 2), self.power(4, 4)
        for name, values in (("w2_d2", second), ("w4_d2", self.power(4, 2)), ("w4_d4", fourth)):
            self.require((values >= 0.0) | ~finite, name, ">= 0")
        floor = [FLOOR * self.largest(a, b) for a, b in ((1, 1), (2, 2), (4, 4))]
        limits = (
            ("w2_d2", self.power(1, 1) ** 2, carriers * second, floor[0] ** 2, "(w1_d1)^2 / carriers"),
            ("w4_d4", second**2, carriers * fourth, floor[1] ** 2, "(w2_d2)^2 / carriers"),
            ("w2_d2", fourth, second**2, floor[2], "the root of w4_d4"),
        )
        for name, low, high, least, what in limits:
            good = low <= high * (1.0 + _SCALED) + least
            self.require(good | ~finite, name, f"at least {what}")
        if np.isfinite(self.max_loss):
            for a, b in ((2, 2), (4, 2), (4, 4)):
                below = self.power(a, b - 2) * self.max_loss**2 * (1.0 + _SCALED) + FLOOR * self.largest(a, b)
                self.require(self.power(a, b) <= below, f"w{a}_d{b}", "at most what the largest loss allows")
            most = self.max_loss * self.power(4, 2) * (1.0 + _SCALED) + FLOOR * self.largest(4, 3)
            self.require(np.abs(self.power(4, 3)) <= most, "w4_d3", "at most what the largest loss allows")
        for name, orders in (("w2_d2", (0, 1)), ("w4_d3", (0, 1, 2))):
            a = int(name[1])
            matrices = np.array([[self.power(a, r + s) for r in orders] for s in orders])
            matrices = np.moveaxis(np.where(finite, matrices, 0.0), -1, 0)
            self.require(_possible(matrices), name, "a power of the same differences as the other powers")
        self._check_unweighted(finite)
        self._check_products(finite)

    def _check_unweighted(self, finite: Bools) -> None:
        """Where the weights are all 1, their powers make no difference."""
        rows = self.columns["rows"][0]
        if not all(float(self.power(a, 0)[0]) == rows for a in (1, 2, 4)):
            return
        for name, like in (("w2_d1", "w1_d1"), ("w4_d1", "w1_d1"), ("w4_d2", "w2_d2")):
            wanted = self.columns[like]
            allowed = _UNWEIGHTED * np.abs(wanted) + FLOOR * self.largest(1, int(name[-1]))
            self.equal(name, wanted, np.where(finite, allowed, 0.0), finite, f"{like}, as no row is weighted")

    def _check_products(self, finite: Bools) -> None:
        """Squares of differences are those of losses whose sums of products form a matrix that is not negative."""
        count = self.models
        if not count or not finite.all():
            return
        square, linear = self.power(2, 2), self.power(2, 1)
        own = self.nothing[:count]
        gram = np.zeros((count + 1, count + 1))
        gram[0, 0] = self.power(2, 0)[0]
        gram[0, 1:] = gram[1:, 0] = linear[own]
        rounding = ROUNDING * square[own].max()  # of products, which are differences of the squares
        gram[range(1, count + 1), range(1, count + 1)] = square[own] + rounding
        i, j = np.triu_indices(count, 1)
        at = place_of_pair(i, j, len(self.names))
        gram[i + 1, j + 1] = gram[j + 1, i + 1] = (square[own[i]] + square[own[j]] - square[at]) / 2.0
        three = np.stack([np.zeros_like(i), i + 1, j + 1], axis=-1)
        good = np.ones(len(self.pairs), dtype=bool)
        good[at] = _possible(gram[three[:, :, None], three[:, None, :]])
        self.require(good, "w2_d2", "what products of two losses allow")
        if not _possible(gram):
            raise self.broken("w2_d2", f"what products of losses among {CLASSES[self.k]} allow")


def place_of_pair(i: Any, j: Any, kinds: int) -> Any:
    """Place of the pair (i, j), i < j, among all pairs of ``kinds`` decisions, in the order of ``combinations``."""
    return i * kinds - i * (i + 1) // 2 + j - i - 1


def _possible(matrices: Floats) -> Bools:
    """Whether symmetric matrices (last two axes) have no negative eigenvalue, once their diagonals are scaled to 1."""
    diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = matrices / scale[..., :, None] / scale[..., None, :]
    lowest: Bools = np.asarray(np.linalg.eigvalsh(scaled)[..., 0] >= -_SCALED)
    return lowest


def digits(value: float) -> str:
    """Write a number of a message with up to ten digits."""
    return f"{value:,.10g}"
