"""Sums over rows from which the paired difference of any two models follows: they add up, and can be kept.

For every pair of decisions and each class there are sums of the powers of the difference d of their losses, weighted:
w d, and w^2 d^j and w^4 d^j up to j = 2 and 4. The moments about any centre follow by the binomial theorem, so that
one pass over the rows is enough, wherever they are. Among the decisions are "treat all", "treat none" and, last,
"nothing", whose loss is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from stakes.core.inputs import refuse_weighing
from stakes.core.kept import Kept
from stakes.core.options import check_options
from stakes.core.row_order import check_same_order
from stakes.core.validation import BinarySample, check_kind, plain_label
from stakes.costs import CostDistribution
from stakes.inference._cluster_pairs import ClusterSums
from stakes.inference._loss_moments import LossMoments, moments_of_sums, without_room_for_copies
from stakes.inference._loss_sums import Rules, block_size, row_parts
from stakes.inference._pair_checks import check_columns
from stakes.inference._paired_rows import PairedRows
from stakes.inference._power_sums import PowerSums, Spread, moved

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from stakes.core.regret import Rule
    from stakes.costs import CostsLike
    from stakes.shown.entries import Entries

    Floats = NDArray[np.float64]

# the power of the weight and of the difference in each sum
POWERS = ((1, 1), *((2, j) for j in range(3)), *((4, j) for j in range(5)))
_COLUMNS = tuple(f"w{a}_d{b}" for a, b in POWERS)
_SECOND, _FOURTH = slice(1, 4), slice(4, 9)
# what is left of the second powers of a constant, as a share of them
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class PairSums(Kept):
    """Sums over rows that say how sure the differences between models are.

    Build them with :meth:`from_predictions` or :meth:`from_frame`, add those of other rows with :meth:`merge`, and
    pass them with the tables of the models to :func:`evaluate`.

    Parameters
    ----------
    models : tuple of str
        Names.
    costs : CostDistribution
        How much each cost ratio counts.
    rule : "score" or float
        How scores become decisions.
    rows, mass : ndarray of shape (2,)
        Rows of each class (negatives, positives) and their weight.
    powers : ndarray of shape (9, 2, p)
        Sums for each class and pair of decisions, of ``w d``, ``w^2 d^j`` up to j = 2, and
        ``w^4 d^j`` up to j = 4.
    carriers : ndarray of shape (2, p)
        Rows with d != 0.
    apart : ndarray of shape (2, p)
        Rows that two models score differently; of the other decisions, the carriers.
    clusters : ClusterSums, optional
        Sums over clusters, where only rows of different clusters are independent. Such sums are not merged or kept.
    pos_label : str, int or float, default 1
        The label of the positive class. Sums of other classes are not merged.

    Examples
    --------
    >>> from stakes.inference import PairSums
    >>> PairSums.from_predictions([0, 1] * 9, {"a": [0.1, 0.8] * 9, "b": [0.3, 0.6] * 9}, costs=(0.2, 0.5))
    PairSums(2 models, 18 rows, costs=Uniform(low=0.2, high=0.5))
    """

    models: tuple[str, ...]
    costs: CostDistribution
    rule: Rule
    rows: Floats
    mass: Floats
    powers: Floats
    carriers: Floats
    apart: Floats
    clusters: ClusterSums | None = None
    pos_label: str | float = 1

    _what: ClassVar[str] = "set of pair sums"
    _form: ClassVar[str] = "stakes-pairs-2"

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_probs: Mapping[str, ArrayLike],
        *,
        costs: CostsLike,
        rule: Rule = "score",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        logits: bool = False,
    ) -> Self:
        """Sum over rows in memory.

        Parameters
        ----------
        y_true : array_like of shape (n,)
            Labels with two values.
        y_probs : mapping of str to array_like of shape (n,)
            Probabilities of the positive class, by model.
        costs : CostDistribution, tuple of float, or float
            How much each cost ratio counts.
        rule : "score" or float, default "score"
            How scores become decisions.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        logits : bool, default False
            Whether the scores are log-odds.

        Returns
        -------
        PairSums

        Raises
        ------
        ValueError
            For invalid data or ``rule="optimal"``.

        Examples
        --------
        >>> from stakes.inference import PairSums
        >>> PairSums.from_predictions([0, 1], {"a": [0.1, 0.8]}, costs=0.5).rows.tolist()
        [1.0, 1.0]
        """
        check_same_order(y_true=y_true, y_probs=y_probs, sample_weight=sample_weight)
        options = check_options(costs=costs, rule=rule, sample_weight=sample_weight, pos_label=pos_label, logits=logits)
        if not (hasattr(y_probs, "items") and len(y_probs)):
            raise ValueError(f"y_probs must map the names of models to probabilities, got {y_probs!r}.")
        refuse_weighing(y_true, "PairSums")
        samples = {str(n): options.data(y_true, p, f"y_probs[{n!r}]").rows for n, p in y_probs.items()}
        found = cls.from_samples(samples, options.costs, _check_rule(options.rule))
        return replace(found, pos_label=plain_label(pos_label))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        models: Iterable[str],
        costs: CostsLike,
        rule: Rule = "score",
        weight: str | None = None,
        pos_label: object = None,
        clusters: str | None = None,
        prevalence: float | None = None,
    ) -> Self:
        """Sum over the rows of a data frame; those of a lazy one stay in its engine, which sums them in one pass.

        Parameters
        ----------
        frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
            Anything narwhals understands, eager or lazy.
        label : str
            Column with the labels.
        models : iterable of str
            Columns with probabilities.
        costs : CostDistribution, tuple of float, or float
            How much each cost ratio counts. In an engine: ``Fixed``, ``Empirical``, ``Uniform``, ``LogOddsUniform`` and
            sums of them.
        rule : "score" or float, default "score"
            How scores become decisions.
        weight : str, optional
            Column with weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        clusters : str, optional
            Column of what only differs independently, such as patients: another pass sums over its values.
        prevalence : float, optional
            The stated share of positives that sums over clusters are for.

        Returns
        -------
        PairSums

        Raises
        ------
        ValueError
            For missing columns, invalid values, fewer than five clusters, or costs whose losses an engine cannot
            compute.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes.inference import PairSums
        >>> frame = pl.LazyFrame({"y": [0, 1], "a": [0.1, 0.8], "b": [0.3, 0.6]})
        >>> PairSums.from_frame(frame, label="y", models=["a", "b"], costs=(0.2, 0.5)).models
        ('a', 'b')
        """
        import narwhals.stable.v2 as nw

        from stakes.tables import frame_columns, sum_clusters, sum_pairs

        options, names = check_options(costs=costs, rule=rule, prevalence=prevalence), tuple(models)
        what: dict[str, Any] = {"label": label, "models": names, "weight": weight, "pos_label": pos_label}
        native: Any = nw.from_native(frame)
        asked: dict[str, Any] = {"costs": options.costs, "rule": _check_rule(options.rule)}
        if isinstance(native, nw.LazyFrame):
            found = cls(models=names, **asked, **sum_pairs(native, **what, **asked, powers=POWERS))
        else:
            rows = frame_columns(frame, **what, groups=None if clusters is None else [clusters])
            samples = [BinarySample(rows.y, score, rows.weight) for score in rows.scores]
            found = cls.from_samples(dict(zip(names, samples, strict=True)), **asked)
        found = replace(found, pos_label=plain_label(pos_label))
        if clusters is None:
            return found
        by, _, centres = found._centred(prevalence)
        shares = by / (by * found.mass).sum()
        sums = sum_clusters(native.lazy(), **what, **asked, clusters=clusters, centres=centres, shares=shares)
        return replace(found, clusters=ClusterSums.of(sums, shares, prevalence))

    @classmethod
    def from_samples(cls, samples: Mapping[str, BinarySample], costs: CostDistribution, rule: Rule) -> Self:
        """Sum over rows that are checked already and share labels and weights."""
        first, names = next(iter(samples.values())), tuple(samples)
        rows = PairedRows(first.y, [sample.score for sample in samples.values()], first.weight).used
        rules = Rules(costs, rule, len(names), constants=True)
        pairs = _pairs(len(names))
        counts, mass, powers = np.zeros(2), np.zeros(2), np.zeros((len(POWERS), 2, len(pairs)))
        carriers = np.zeros((2, len(pairs)))
        for k, found, weight, _ in row_parts(rows, rules, range(rules.models), block_size(rules.count)):
            lines = rules.completed(found, k)
            ones = np.ones(lines.shape[1]) if weight is None else weight
            counts[k] += len(ones)
            mass[k] += ones.sum()
            for at, (i, j) in enumerate(pairs):
                with np.errstate(invalid="ignore"):  # infinite losses have no spread
                    gap = lines[i] - lines[j]
                    powers[:, k, at] += _powers(ones, gap)
                carriers[k, at] += np.count_nonzero(gap)
        apart = carriers.copy()
        for at, (i, j) in enumerate(pairs):
            if j < len(names):
                differ = rows.scores[i] != rows.scores[j]
                apart[:, at] = np.count_nonzero(differ & ~rows.y), np.count_nonzero(differ & rows.y)
        return cls(names, costs, rule, counts, mass, powers, carriers, apart)

    def merge(self, other: PairSums) -> Self:
        """Add the sums over other rows.

        Parameters
        ----------
        other : PairSums
            Of the same models, costs, rule and positive class.

        Returns
        -------
        PairSums

        Raises
        ------
        ValueError
            If ``other`` holds no sums, models, costs, rule or ``pos_label`` differ, or there are clusters, which may
            have rows in both.

        Examples
        --------
        >>> from stakes.inference import PairSums
        >>> one = PairSums.from_predictions([0, 1], {"a": [0.1, 0.8]}, costs=0.5)
        >>> one.merge(one).rows.tolist()
        [2.0, 2.0]
        """
        check_kind(other, "other", PairSums, remedy="build one by PairSums.from_predictions")
        self._refuse_clusters("merged")
        other._refuse_clusters("merged")
        for name in ("models", "costs", "rule", "pos_label"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise ValueError(f"merge needs sums of the same {name}, got {mine!r} and {its!r}.")
        sums = ("rows", "mass", "powers", "carriers", "apart")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in sums})

    def moments(self, prevalence: float | None = None) -> LossMoments:
        """Means and the spread of all differences, the classes weighted to a stated prevalence."""
        n, pairs = len(self.models), _pairs(len(self.models))
        by, powers, centres = self._centred(prevalence)
        mass = by * self.mass
        alone = [pairs.index((i, n + 2)) for i in range(n + 2)]
        means, fixed = powers[0][:, alone].sum(axis=0) / mass.sum(), prevalence is not None
        rules = Rules(self.costs, self.rule, n, constants=True)
        if self.clusters is not None:
            found = self._over_clusters(self.clusters, means, mass, rules, prevalence)
        else:
            with np.errstate(invalid="ignore"):  # infinite losses have no interval
                second, fourth = (moved(powers[part], -centres) for part in (_SECOND, _FOURTH))
                constant = second <= _ROUNDING * (powers[3] + centres**2 * powers[1])
                second, fourth = (np.where(constant, 0.0, np.maximum(part, 0.0)) for part in (second, fourth))
            rows = np.broadcast_to(self.rows[:, None], self.carriers.shape)
            parts = (rows, second, fourth, self.carriers, powers[3], powers[8])
            sums = PowerSums(*(_square(part, n) for part in parts))
            found = moments_of_sums(means, sums, mass, rules, fixed=fixed)
        return without_room_for_copies(found, _square(self.apart.any(axis=0), n)[:n, :n])

    def _centred(self, prevalence: float | None) -> tuple[Floats, Floats, Floats]:
        """What each class is weighted by, sums of powers, and what differences are centred on, at a prevalence."""
        if prevalence is None:
            with np.errstate(invalid="ignore"):  # infinite losses have no interval
                return np.ones(2), self.powers, np.tile(self.powers[0].sum(axis=0) / self.mass.sum(), (2, 1))
        if not self.mass.all():
            raise ValueError("prevalence= needs rows of both classes, got one class only.")
        by = np.array([1.0 - prevalence, prevalence]) * self.mass.sum() / self.mass
        powers = self.powers * np.stack([by**a for a, _ in POWERS])[:, :, None]
        with np.errstate(invalid="ignore"):
            return by, powers, powers[0] / (by * self.mass)[:, None]

    def _over_clusters(
        self, clusters: ClusterSums, means: Floats, mass: Floats, rules: Rules, prevalence: float | None
    ) -> LossMoments:
        stated = clusters.prevalence
        if (stated is None) != (prevalence is None) or not math.isclose(stated or 1.0, prevalence or 1.0, rel_tol=1e-9):
            raise ValueError(f"these sums over clusters are for prevalence={stated}, got {prevalence}.")
        n = len(self.models)
        first, second = np.array(_pairs(n)).T
        spread = clusters.spread(rules.most(fixed=prevalence is not None)[:, first, second], mass)
        matrices = Spread(*(_square(part, n) for part in vars(spread).values()))
        have = tuple(round(float(count)) for count in clusters.have)
        highest = rules.highest(mass, fixed=prevalence is not None)
        return LossMoments(means, matrices, have, len(clusters.shape), clusters.shape.reason(), highest=highest)

    def _refuse_clusters(self, what: str) -> None:
        if self.clusters is not None:
            raise ValueError(f"sums over clusters cannot be {what}: a cluster may have rows elsewhere. Sum all rows.")

    def _kept(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        self._refuse_clusters("kept")
        facts: dict[str, Any] = {"models": list(self.models), "costs": self.costs.to_dict(), "rule": self.rule}
        facts["pos_label"] = self.pos_label
        size = self.carriers.shape[1]
        columns = {"rows": self.rows.repeat(size), "mass": self.mass.repeat(size)}
        columns |= dict(zip(_COLUMNS, self.powers.reshape(len(POWERS), -1), strict=True))
        return facts, {**columns, "carriers": self.carriers.ravel(), "apart": self.apart.ravel()}

    @classmethod
    def _from_entries(cls, entries: Entries) -> Self:
        models = entries.at("models")
        if not (isinstance(models, list) and models and all(isinstance(name, str) for name in models)):
            raise entries.broken("models", "a list of names")
        if len(set(models)) < len(models):
            raise entries.broken("models", "a list of names that differ")
        described = entries.plain("costs")
        try:
            costs = CostDistribution.from_dict(described)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise entries.broken("costs", f"a cost distribution ({error})") from None
        shape = 2, len(_pairs(len(models)))
        taken: Rule = "score" if entries.at("rule") == "score" else entries.number("rule")
        columns = {}
        for name in ("rows", "mass", *_COLUMNS, "carriers", "apart"):
            power = name in _COLUMNS
            columns[name] = entries.numbers(name, undefined=power, infinite=power)
            if columns[name].size != shape[0] * shape[1]:
                raise entries.broken(name, f"{shape[0] * shape[1]:,} numbers, two for each pair")
            if not power and not np.all(columns[name] >= 0.0):
                raise entries.broken(name, "made of finite numbers >= 0")
            columns[name] = columns[name].reshape(shape)
        check_columns(columns, tuple(models), Rules(costs, taken, len(models), constants=True).worst, entries.broken)
        powers = np.stack([columns[name] for name in _COLUMNS])
        rows, mass = columns["rows"][:, 0], columns["mass"][:, 0]
        counts, label = (columns["carriers"], columns["apart"]), entries.label("pos_label")
        return cls(tuple(models), costs, taken, rows, mass, powers, *counts, pos_label=label)

    def __repr__(self) -> str:
        plural = "model" if len(self.models) == 1 else "models"
        return f"PairSums({len(self.models)} {plural}, {int(self.rows.sum())} rows, costs={self.costs!r})"


def _pairs(models: int) -> list[tuple[int, int]]:
    """Every pair of models, "treat all", "treat none" and "nothing"."""
    return list(combinations(range(models + 3), 2))


def _square(values: Any, models: int) -> Any:
    """Values of all pairs (last axis) as matrices, whose diagonals are zero."""
    first, second = np.array(_pairs(models)).T
    found = np.zeros((*values.shape[:-1], models + 3, models + 3), dtype=values.dtype)
    found[..., first, second] = found[..., second, first] = values
    return found


def _powers(weight: Floats, gap: Floats) -> list[float]:
    squares = weight * weight, gap * gap
    weights = {1: weight, 2: squares[0], 4: squares[0] * squares[0]}
    gaps = np.ones(len(gap)), gap, squares[1], squares[1] * gap, squares[1] * squares[1]
    return [float(np.dot(weights[a], gaps[b])) for a, b in POWERS]


def _check_rule(rule: Rule) -> Rule:
    if rule == "optimal":
        raise ValueError('rule="optimal" is fitted to the same rows and has no sums of pairs; use "score".')
    return rule
