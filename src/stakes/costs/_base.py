"""The base class of distributions over cost ratios, and weighted sums of them.

A cost distribution is a non-negative measure W on [0, 1]. All that a metric needs of it are the two partial
moments ``negative_loss`` and ``positive_loss``: what a negative and a positive row with score ``s`` cost on
average when every cost ratio ``c`` acts on the row exactly if ``s >= c``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import (
    Floats,
    check_interval,
    check_number,
    check_whole,
    generator,
    summable,
    to_array,
    to_floats,
)
from stakes.outputs.hooks import draw

_REGISTRY: dict[str, type[CostDistribution]] = {}


class CostDistribution(ABC):
    """A non-negative measure on cost ratios in [0, 1]: how much each decision threshold counts.

    A cost ratio ``c`` is what a false positive costs when a false negative costs ``1 - c``. Acting on a
    calibrated score, the best threshold is ``c`` itself, so the same axis carries cost ratios and thresholds.
    Subclasses are immutable; ``k * W`` and ``W1 + W2`` build new measures.

    Attributes
    ----------
    low, high : float
        Smallest and largest cost ratio that counts, 0 <= low <= high <= 1.
    mass : float
        Total weight W([0, 1]); may be infinite.
    loss_factor : float or None
        What turns the integral of regret into the customary loss (2 for the Brier family, 1 for the log family);
        None for a sum of measures whose factors differ.
    tie : float
        Share in [0, 1] of decisions to act when the score equals the cost ratio of an atom. It matters for atoms only;
        nan for a sum whose atoms have unlike shares.

    Notes
    -----
    The expected regret of scores ``s`` acted on at threshold ``c`` is, integrated over W, the mean of
    ``negative_loss(s)`` over negatives and ``positive_loss(s)`` over positives (Flores et al., arXiv:2504.04528,
    Theorems 2.4, 3.4 and 3.7 with their factors and signs corrected).

    Examples
    --------
    >>> from stakes import costs
    >>> isinstance(costs.Uniform(0.02, 0.10), costs.CostDistribution)
    True
    """

    __array_ufunc__ = None  # so that an array of factors is refused, not multiplied one by one

    kind: ClassVar[str]
    _names: ClassVar[tuple[str, ...]]  # of the constructor's arguments, where they are attributes too
    low: float
    high: float
    tie: float = 1.0
    loss_factor: float | None = 2.0

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            if cls.kind in _REGISTRY:
                raise TypeError(f"a cost distribution of kind {cls.kind!r} exists already.")
            _REGISTRY[cls.kind] = cls

    @property
    @abstractmethod
    def mass(self) -> float:
        """Total weight, possibly infinite."""

    @property
    def atoms(self) -> tuple[Floats, Floats]:
        """Cost ratios with positive point mass, ascending, and their masses."""
        return np.empty(0), np.empty(0)

    @abstractmethod
    def negative_loss(self, score: ArrayLike) -> Floats:
        """Integrated cost of a negative row: c over all c < score, atoms at the score counted ``tie`` times.

        ``negative_loss(inf)`` is the cost of always acting on a negative.
        """

    @abstractmethod
    def positive_loss(self, score: ArrayLike) -> Floats:
        """Integrated cost of a positive row: 1 - c over all c > score, atoms at it counted ``1 - tie`` times.

        ``positive_loss(-inf)`` is the cost of never acting on a positive.
        """

    def row_loss(self, positive: NDArray[np.bool_], score: Floats) -> Floats:
        """Integrated cost of each row: ``positive_loss`` where it is positive, else ``negative_loss``."""
        loss = np.empty(len(score))
        # by places, as masks of irregular truth values take four times as long
        for mine, of_class in ((~positive, self.negative_loss), (positive, self.positive_loss)):
            places = np.flatnonzero(mine)
            loss[places] = of_class(score.take(places))
        return loss

    @abstractmethod
    def density(self, c: ArrayLike) -> Floats:
        """Density of the continuous part at cost ratio ``c`` (0 outside [low, high]; atoms not included)."""

    @abstractmethod
    def restrict(self, low: float, high: float) -> CostDistribution:
        """The same measure on the closed interval [low, high] only, not renormalised."""

    @abstractmethod
    def flip(self) -> CostDistribution:
        """The measure of ``1 - c``, which applies when labels are swapped (to rounding of ``1 - c``)."""

    def _parameters(self) -> dict[str, Any]:
        """Constructor arguments, as JSON-ready values."""
        return {name: getattr(self, name) for name in self._names}

    @abstractmethod
    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        """Cost ratios drawn from the normalised measure."""

    def mean(self) -> float:
        """Mean cost ratio. Raises ``ValueError`` unless 0 < mass < inf.

        Examples
        --------
        >>> from stakes import costs
        >>> round(costs.Uniform(0.02, 0.10).mean(), 12)
        0.06
        """
        self._require_proper("mean")
        return float(self.negative_loss(np.inf)) / self.mass

    def sample(self, size: int, random_state: int | np.random.Generator | np.random.RandomState | None = 0) -> Floats:
        """Draw ``size`` cost ratios, the same at every call unless ``random_state`` is another or None.

        Raises ``ValueError`` unless 0 < mass < inf.

        Examples
        --------
        >>> from stakes import costs
        >>> costs.Fixed(0.1).sample(3, random_state=0).tolist()
        [0.1, 0.1, 0.1]
        """
        self._require_proper("sample")
        if isinstance(random_state, np.random.RandomState):
            random_state = int(random_state.randint(2**31))
        return self._draw(check_whole(size, "size"), generator(random_state))

    def normalized(self) -> CostDistribution:
        """The same measure with mass 1. Raises ``ValueError`` unless 0 < mass < inf.

        Examples
        --------
        >>> from stakes import costs
        >>> costs.Uniform(0.02, 0.10).normalized().mass
        1.0
        """
        self._require_proper("normalized")
        return self if self.mass == 1.0 else (1.0 / self.mass) * self

    def plot(self, ax: Any = None, *, scale: Literal["linear", "log-odds"] = "linear", **options: Any) -> Any:
        """Draw how much each cost ratio counts, with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        scale : {"linear", "log-odds"}, default "linear"
            The axis: the cost ratio c, or its log-odds, where the density is multiplied by c (1-c).
        **options
            Passed to the display, such as ``legend=None``.

        Returns
        -------
        CostDistributionDisplay
            With ``ax_``, ``figure_`` and ``lines_``.

        Raises
        ------
        ValueError
            For invalid options.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import costs
        >>> display = costs.Uniform(0.02, 0.10).plot(scale="log-odds")
        >>> display.ax_.get_ylabel()
        'Density of the log-odds'
        """
        return draw(self, ax, scale=scale, **options)

    def to_dict(self) -> dict[str, Any]:
        """Describe the distribution by JSON-ready values that :meth:`from_dict` reads.

        Examples
        --------
        >>> from stakes import costs
        >>> costs.Uniform(0.02, 0.10).to_dict()
        {'kind': 'uniform', 'low': 0.02, 'high': 0.1}
        """
        return {"kind": self.kind, **self._parameters()}

    @staticmethod
    def from_dict(description: Mapping[str, Any]) -> CostDistribution:
        """Rebuild a distribution from :meth:`to_dict`. Raises ``ValueError`` for an unknown kind.

        Examples
        --------
        >>> from stakes import costs
        >>> costs.CostDistribution.from_dict({"kind": "fixed", "c": 0.1, "tie": 1.0})
        Fixed(c=0.1, tie=1.0)
        """
        if not isinstance(description, Mapping):
            raise ValueError(f"description must be a mapping that to_dict returned, got {description!r}.")
        arguments = dict(description)
        kind = arguments.pop("kind", None)
        if not isinstance(kind, str) or kind not in _REGISTRY:
            known = ", ".join(sorted(_REGISTRY))
            raise ValueError(f"kind must name a cost distribution ({known}), got {kind!r} in description.")
        try:
            return _REGISTRY[kind]._build(arguments)
        except (TypeError, KeyError, AttributeError) as error:
            why = str(error).rstrip(".")
            raise ValueError(
                f"{sorted(arguments)} do not describe a cost distribution of kind {kind!r}: {why}."
            ) from None

    @classmethod
    def _build(cls, arguments: dict[str, Any]) -> Self:
        return cls(**arguments)

    def _require_proper(self, what: str) -> None:
        if not 0.0 < self.mass < math.inf:
            raise ValueError(
                f"{what} needs a cost distribution with mass in (0, inf), got {self!r} of mass {self.mass}."
            )

    def __mul__(self, factor: float) -> CostDistribution:
        return Weighted([self], [factor])

    __rmul__ = __mul__

    def __add__(self, other: CostDistribution) -> CostDistribution:
        if not isinstance(other, CostDistribution):
            return NotImplemented
        return Weighted([self, other], [1.0, 1.0])

    def __radd__(self, other: object) -> CostDistribution:
        return self if other == 0 else NotImplemented  # the start value of sum()

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self._parameters().items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CostDistribution):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        """Values by which two distributions are compared and hashed."""
        return (self.kind, repr(self._parameters()))


class Weighted(CostDistribution):
    """A weighted sum of cost measures, taken raw: what ``k * W`` and ``W1 + W2`` return.

    Parameters
    ----------
    parts : sequence of CostDistribution
        The measures to add.
    factors : sequence of float
        One finite factor > 0 for each part.

    Raises
    ------
    ValueError
        If a factor is not a finite number > 0, or the lengths differ.

    Examples
    --------
    >>> from stakes import costs
    >>> penalized_brier = 4 * costs.Uniform(0, 1) + costs.Fixed(0.5, tie=0.5)
    >>> penalized_brier.mass
    5.0
    """

    kind = "weighted"
    parts: tuple[CostDistribution, ...]
    factors: tuple[float, ...]

    def __init__(self, parts: Sequence[CostDistribution], factors: Sequence[float]) -> None:
        if len(parts) != len(factors) or not parts:
            raise ValueError(f"factors must hold one number for each part, got {len(factors)} for {len(parts)} parts.")
        flat: list[tuple[CostDistribution, float]] = []
        for part, factor in zip(parts, factors, strict=True):
            number = check_number(factor, "the factor of a cost distribution")
            if not 0.0 < number < math.inf:
                raise ValueError(f"the factor of a cost distribution must be a finite number > 0, got {factor!r}.")
            if isinstance(part, Weighted):
                flat += [(p, number * f) for p, f in zip(part.parts, part.factors, strict=True)]
            else:
                flat.append((part, number))
            if not all(0.0 < product < math.inf for _, product in flat):
                raise ValueError(
                    f"the factors of a cost distribution must multiply to a float, got {factor!r} of {part!r}."
                )
        self.parts = tuple(p for p, _ in flat)
        self.factors = tuple(f for _, f in flat)
        self.low = min(p.low for p in self.parts)
        self.high = max(p.high for p in self.parts)
        ties = {p.tie for p in self.parts if len(p.atoms[0])}
        self.tie = ties.pop() if len(ties) == 1 else (math.nan if ties else 1.0)

    @property
    def mass(self) -> float:
        try:
            return math.fsum(f * p.mass for p, f in zip(self.parts, self.factors, strict=True))
        except OverflowError:
            return math.inf

    @property
    def loss_factor(self) -> float | None:  # type: ignore[override]
        factors = {p.loss_factor for p in self.parts}
        return factors.pop() if len(factors) == 1 else None

    @property
    def atoms(self) -> tuple[Floats, Floats]:
        values = np.concatenate([p.atoms[0] for p in self.parts])
        weights = np.concatenate([f * p.atoms[1] for p, f in zip(self.parts, self.factors, strict=True)])
        distinct, index = np.unique(values, return_inverse=True)
        return distinct, np.bincount(index, weights, minlength=len(distinct)).astype(np.float64)

    def negative_loss(self, score: ArrayLike) -> Floats:
        terms = [f * p.negative_loss(score) for p, f in zip(self.parts, self.factors, strict=True)]
        return np.add.reduce(terms)

    def positive_loss(self, score: ArrayLike) -> Floats:
        terms = [f * p.positive_loss(score) for p, f in zip(self.parts, self.factors, strict=True)]
        return np.add.reduce(terms)

    def density(self, c: ArrayLike) -> Floats:
        return np.add.reduce([f * p.density(c) for p, f in zip(self.parts, self.factors, strict=True)])

    def restrict(self, low: float, high: float) -> CostDistribution:
        if low != high:  # a single point may hold atoms
            check_interval(low, high, "low, high")
        inside = [
            (p.restrict(low, high), f) for p, f in zip(self.parts, self.factors, strict=True) if overlaps(p, low, high)
        ]
        if not inside:
            raise ValueError(f"[low, high] must overlap the support of {self!r}, got ({low}, {high}).")
        return Weighted([p for p, _ in inside], [f for _, f in inside])

    def flip(self) -> CostDistribution:
        return Weighted([p.flip() for p in self.parts], self.factors)

    def _parameters(self) -> dict[str, Any]:
        return {"parts": [p.to_dict() for p in self.parts], "factors": list(self.factors)}

    def _key(self) -> tuple[Any, ...]:
        return (self.kind, tuple(part._key() for part in self.parts), self.factors)

    @classmethod
    def _build(cls, arguments: dict[str, Any]) -> Self:
        return cls([CostDistribution.from_dict(p) for p in arguments["parts"]], arguments["factors"])

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        masses = np.array([f * p.mass for p, f in zip(self.parts, self.factors, strict=True)])
        choice = rng.choice(len(masses), size=size, p=masses / masses.sum())
        drawn = np.empty(size)
        for index, part in enumerate(self.parts):
            mine = choice == index
            drawn[mine] = part._draw(int(mine.sum()), rng)
        return drawn

    def __repr__(self) -> str:
        terms = (f"{p!r}" if f == 1.0 else f"{f:g} * {p!r}" for p, f in zip(self.parts, self.factors, strict=True))
        return " + ".join(terms)


def Mixture(parts: Sequence[CostDistribution], weights: Sequence[float]) -> CostDistribution:  # noqa: N802  (reads as a family)
    """Mix cost distributions: each part is normalised first, so the weights are probabilities.

    Parameters
    ----------
    parts : sequence of CostDistribution
        Measures with mass in (0, inf).
    weights : sequence of float
        One weight > 0 for each part; they are normalised to sum to 1.

    Returns
    -------
    CostDistribution
        A measure of mass 1.

    Raises
    ------
    ValueError
        If a part has infinite mass, a weight is not a finite number > 0, or the lengths differ.

    Examples
    --------
    Two groups of users: two thirds act at 2 to 10%, one third at exactly 20%.

    >>> from stakes import costs
    >>> mixed = costs.Mixture([costs.Uniform(0.02, 0.10), costs.Fixed(0.2)], weights=[2, 1])
    >>> round(mixed.mean(), 6)
    0.106667
    """
    if (
        not isinstance(parts, (list, tuple))
        or not parts
        or not all(isinstance(part, CostDistribution) for part in parts)
    ):
        raise ValueError(f"parts must be a list of one or more cost distributions, got {parts!r}.")
    shares = to_floats(to_array(weights, "weights"), "weights")
    if shares.shape != (len(parts),) or not np.all((shares > 0) & np.isfinite(shares)):
        raise ValueError(f"weights must hold one finite number > 0 for each part, got {weights!r}.")
    for part in parts:
        part._require_proper("Mixture")
    shares = summable(shares)
    return Weighted(parts, [float(w) / p.mass for w, p in zip(shares / shares.sum(), parts, strict=True)])


def overlaps(part: CostDistribution, low: float, high: float) -> bool:
    """Whether restricting ``part`` to [low, high] leaves any of it."""
    at, _ = part.atoms
    if at.size:  # a measure here has atoms or a density, never both
        return bool(np.any((at >= low) & (at <= high)))
    return max(low, part.low) < min(high, part.high)


def clipped(low: float, high: float, part: CostDistribution) -> tuple[float, float]:
    """The interval [low, high] cut to the support of a part without atoms, or an error if nothing is left."""
    check_interval(low, high, "low, high")
    lo, hi = max(low, part.low), min(high, part.high)
    if not lo < hi:
        raise ValueError(f"[low, high] must overlap the support of {part!r}, got ({low}, {high}).")
    return lo, hi
