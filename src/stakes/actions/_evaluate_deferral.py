"""What the option to defer is worth on labelled rows, with intervals; on total cost, and never on the decided alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.actions._deferred_rows import cross_fitted_rows, deferred_rows
from stakes.actions._estimates import mean_estimates
from stakes.actions._pair import best_pair
from stakes.actions._widening import Refitted
from stakes.actions._zone import capacity_price, deferral_zone
from stakes.core.inputs import refuse_weighing
from stakes.core.options import check_options
from stakes.core.random_state import generator, settled_order
from stakes.core.row_order import check_same_order
from stakes.core.score_table import ScoreTable
from stakes.core.validation import check_choice, check_unit, check_whole
from stakes.costs import CostDistribution, Deferral, Fixed, as_costs, as_deferral
from stakes.inference import CostRows, Estimate, check_dependence
from stakes.shown.tabular import Tabular
from stakes.shown.words import number, percent

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.actions._deferred_rows import DeferredRows
    from stakes.core.options import Options
    from stakes.core.validation import BinarySample
    from stakes.costs import CostsLike

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

_COSTS = {"cost": (0, -1), "cost_without": (1, -1), "value": (1, 0), "cost_of_decided": (2, -1)}
_SHARES = {"deferred": (0, -1), "act": (1, -1), "do not act": (2, -1)}


@dataclass(frozen=True, eq=False, repr=False)
class Deferred(Tabular):
    """Answer of :func:`evaluate_deferral`.

    Parameters
    ----------
    estimates : dict of str to Estimate
        "cost" with the option, "cost_without", their difference "value", and "cost_of_decided", the part of the cost
        that is due to cases decided; then the shares "deferred", "act" and "do not act". All per case.
    zone : tuple of float or None
        Defer where low < p < high at face value, and where low <= p < high for a fitted pair; None where nothing is
        deferred, and over many cost ratios.
    errors_on_deferred : float
        What mistakes about deferred cases cost, per case; the fees are the rest of what deferring costs.
    value_by_class : tuple of float
        Parts of the value that come from negatives and from positives.
    deferral : Deferral
        What deferring costs.
    rule : str
        "score", or "optimal": fitted to other folds.
    note : str
        Where deferring is free or useless; empty otherwise.

    Examples
    --------
    >>> from stakes.actions import evaluate_deferral
    >>> found = evaluate_deferral([0, 1, 0, 1] * 20, [0.1, 0.6, 0.3, 0.9] * 20, costs=0.2, deferral=0.02)
    >>> print(found.sentence)
    With the option a case costs 0.0150, without it 0.0500: it is worth 0.0350 (95% interval 0.0162 to 0.0538), with 75%
    of cases deferred.
    """

    estimates: dict[str, Estimate]
    zone: tuple[float, float] | None
    errors_on_deferred: float
    value_by_class: tuple[float, float]
    deferral: Deferral
    rule: str
    note: str = ""

    @property
    def cost(self) -> float:
        """Mean cost of a case with the option."""
        return self.estimates["cost"].value

    @property
    def cost_without(self) -> float:
        """Mean cost of a case without it."""
        return self.estimates["cost_without"].value

    @property
    def value(self) -> float:
        """How much the option saves; negative where it does harm."""
        return self.estimates["value"].value

    @property
    def interval(self) -> tuple[float, float]:
        """Of the cost with the option."""
        return self.estimates["cost"].interval

    @property
    def shares(self) -> dict[str, float]:
        """Shares of cases deferred, acted on and not."""
        return {name: self.estimates[name].value for name in _SHARES}

    @property
    def cost_per_decided(self) -> float:
        """Mean cost of a case that is decided; not comparable between models that decide different cases."""
        left = 1.0 - self.estimates["deferred"].value
        return self.estimates["cost_of_decided"].value / left if left > 0.0 else math.nan

    @property
    def sentence(self) -> str:
        """What a report says of it."""
        value = self.estimates["value"]
        low, high = (number(end) for end in value.interval)
        verb = "is worth" if value.value >= 0.0 else "does harm, it is worth"
        return (
            f"With the option a case costs {number(self.cost)}, without it {number(self.cost_without)}: it {verb} "
            f"{number(value.value)} ({value.confidence_level:.0%} interval {low} to {high}), with "
            f"{percent(self.estimates['deferred'].value)} of cases deferred."
        )

    def _records(self) -> list[dict[str, Any]]:
        return [{"quantity": each.pop("metric"), **each} for e in self.estimates.values() for each in e._records()]

    def __repr__(self) -> str:
        shared = percent(self.estimates["deferred"].value)
        return f"Deferred(cost {self.cost:.4g}, {self.cost_without:.4g} without, {shared} deferred)"


def evaluate_deferral(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    costs: CostsLike,
    deferral: Deferral | float,
    capacity: float | None = None,
    rule: str = "score",
    n_folds: int = 10,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    unit_cost: float = 1.0,
    per: float = 1.0,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Deferred:
    """Say what leaving unsure cases to someone else saves, and how many cases that takes.

    Parameters
    ----------
    y_true : array_like of shape (n,) or RowCosts
        Labels with two values, or amounts by row: costs are then per unit of money at stake, at ``costs=0.5`` and
        ``unit_cost=2`` in money, and the fee is a share of twice what is at stake in the row.
    y_prob : array_like of shape (n,) or (n, 2)
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; of finite mass.
    deferral : Deferral or float
        What deferring costs, or its fee alone.
    capacity : float, optional
        Largest share of cases that may be deferred, in [0, 1]; needs one cost ratio.
    rule : {"score", "optimal"}, default "score"
        Take the scores at face value, or decide each fold by what is best on the other folds.
    n_folds : int, default 10
        Folds of ``rule="optimal"``.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the errors.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients: only rows of different clusters are independent; no fold divides one.
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units.
    per : float, default 1
        Number of cases that costs are counted in.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For the folds.

    Returns
    -------
    Deferred

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    Costs are means over rows, so their intervals are those of any mean. A pair of thresholds that is fitted to the rows
    it is judged by looks too good: ``rule="optimal"`` judges every fold by what was fitted to the others, and so is
    the cost of a rule fitted to nine tenths of the rows. ``zone`` is then the pair that is best on all rows, and the
    intervals are about it: they are widened by how much more than their rows show the estimates vary in 60 resamples,
    each with thresholds of its own; of more than 2,000 rows these are drawn from so many (``docs/actions.md``).

    Examples
    --------
    >>> from stakes.actions import evaluate_deferral
    >>> y_true, y_prob = [0, 1, 0, 1] * 20, [0.1, 0.6, 0.3, 0.9] * 20
    >>> found = evaluate_deferral(y_true, y_prob, costs=(0.1, 0.3), deferral=0.02)
    >>> round(found.value, 4), round(found.shares["deferred"], 4)
    (0.0325, 0.875)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    check_choice(rule, "rule", ("score", "optimal"))
    asked = check_options(
        costs=check_finite(as_costs(costs)),
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        confidence_level=confidence_level,
        unit_cost=unit_cost,
        per=per,
    )
    option, cap = as_deferral(deferral), check_capacity(capacity, asked.costs)
    refuse_weighing(y_true, "evaluate_deferral")
    sample = asked.data(y_true, y_prob, amounts=True).rows
    codes, _ = check_dependence(clusters, None, len(sample.y), sample_weight)
    if rule == "score":
        return deferred_of(asked, sample, option, cap, codes=codes)
    rng, (sample, codes) = generator(random_state), _settled(sample, codes)
    folds = fold_codes(sample.y, check_whole(n_folds, "n_folds", 2), codes, rng)
    return deferred_of(asked, sample, option, cap, codes=codes, fitted=(folds, rng))


def _settled(sample: BinarySample, codes: Integers | None) -> tuple[BinarySample, Integers | None]:
    """The rows and their clusters in an order of their own, since folds and draws go by the place of a row."""
    order = settled_order(sample.score, sample.y, sample.weight, codes)
    return sample.arranged(order), None if codes is None else codes[order]


def deferred_of(
    asked: Options,
    sample: BinarySample,
    option: Deferral,
    capacity: float | None = None,
    *,
    codes: Integers | None = None,
    fitted: tuple[Integers, np.random.Generator] | None = None,
) -> Deferred:
    """Judge clean rows: at face value, or with folds by what is best on the others (and draws for the errors)."""
    measure, rule, widening = asked.costs, "score" if fitted is None else "optimal", None
    if fitted is None:
        rows = deferred_rows(sample, measure, option, capacity)
    else:
        folds, rng = fitted
        rows = cross_fitted_rows(sample, measure, option, capacity, folds)

        def judged(some: BinarySample, their_folds: Integers) -> Floats:
            return _quantities(cross_fitted_rows(some, measure, option, capacity, their_folds))

        widths = Refitted(sample, folds, codes, judged, asked.prevalence is not None).widening(rng)
        widening = dict(zip((*_COSTS, *_SHARES), widths.tolist(), strict=True))
    factor = asked.factor * measure.mass  # the rows are means over the costs already
    shared: dict[str, Any] = {"y": sample.y, "clusters": codes, "by_class": asked.prevalence is not None}
    shared["weight"] = np.ones(len(sample.y)) if sample.weight is None else sample.weight
    return Deferred(
        _estimates(rows, _worst(measure), factor, shared, asked.confidence_level, widening),
        _zone(sample, measure, option, capacity, rule),
        factor * float(np.average(rows.errors, weights=sample.weight)),
        _by_class(factor * (rows.without - rows.total), sample),
        option,
        rule,
        option.note_at(measure.c) if isinstance(measure, Fixed) else "",
    )


def check_finite(costs: CostDistribution) -> CostDistribution:
    """Refuse costs of infinite mass, which have no mean."""
    if not math.isfinite(costs.mass):
        raise ValueError(f"costs must have a finite mass for a cost per case, got {costs!r}.")
    return costs


def check_capacity(capacity: Any, costs: CostDistribution) -> float | None:
    if capacity is not None and not isinstance(costs, Fixed):
        raise ValueError(f"capacity needs one cost ratio, such as costs=0.2, got {costs!r}.")
    return None if capacity is None else check_unit(capacity, "capacity")


def fold_codes(y: NDArray[np.bool_], n_folds: int, clusters: Integers | None, random_state: Any) -> Integers:
    """Fold of each row, stratified by class; no cluster is divided."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    rarer = int(min(np.count_nonzero(y), np.count_nonzero(~y)))
    if rarer < n_folds:
        raise ValueError(f"n_folds must not exceed the rows of the rarer class, got {n_folds} for {rarer} rows.")
    seed = int(generator(random_state).integers(2**31))
    kind = StratifiedKFold if clusters is None else StratifiedGroupKFold
    folds, rows = np.empty(len(y), dtype=np.intp), np.zeros((len(y), 1))
    for k, (_, test) in enumerate(kind(n_folds, shuffle=True, random_state=seed).split(rows, y, clusters)):
        folds[test] = k
    return folds


def _worst(costs: CostDistribution) -> Floats:
    """What a negative and a positive cost at most."""
    return np.array([[float(costs.negative_loss(np.inf))], [float(costs.positive_loss(-np.inf))]]) / costs.mass


def _estimates(  # noqa: PLR0917  (one number each)
    rows: DeferredRows,
    worst: Floats,
    factor: float,
    shared: dict[str, Any],
    level: float,
    widening: dict[str, float] | None,
) -> dict[str, Estimate]:
    """Costs and shares with their intervals."""
    costs, shares = _columns(rows)
    priced = CostRows(factor * costs, largest=factor * np.tile(worst, 3), **shared)
    counted = CostRows(shares, largest=np.ones((2, 3)), **shared)
    most = factor * float(worst.max())
    least = [0.0 if second < 0 else -most for _, second in _COSTS.values()]
    found = mean_estimates(priced, _COSTS, level, (least, most), widening)
    return found | mean_estimates(counted, _SHARES, level, (0.0, 1.0), widening)


def _columns(rows: DeferredRows) -> tuple[Floats, Floats]:
    """Costs and shares of each row, as ``_COSTS`` and ``_SHARES`` name their places."""
    waited = np.maximum(1.0 - rows.deferred - rows.acted, 0.0)
    return (
        np.stack([rows.total, rows.without, rows.decided], axis=1),
        np.stack([rows.deferred, rows.acted, waited], axis=1),
    )


def _quantities(rows: DeferredRows) -> Floats:
    """What each row adds to every estimate."""
    costs, shares = _columns(rows)
    first, second = np.array(list(_COSTS.values()), dtype=np.intp).T
    return np.concatenate([costs[:, first] - np.where(second < 0, 0.0, costs[:, second]), shares], axis=1)


def _by_class(value: Floats, sample: BinarySample) -> tuple[float, float]:
    """Parts of a mean that come from negatives and from positives."""
    parts = (np.average(np.where(mine, value, 0.0), weights=sample.weight) for mine in (~sample.y, sample.y))
    negative, positive = map(float, parts)
    return negative, positive


def _zone(
    sample: BinarySample, costs: CostDistribution, deferral: Deferral, capacity: float | None, rule: str
) -> tuple[float, float] | None:
    """Between which scores cases are deferred, where there is one cost ratio."""
    if not isinstance(costs, Fixed):
        return None
    if rule == "score" and capacity is None:
        return deferral_zone(costs.c, deferral)
    table = ScoreTable.from_sample(sample)
    if rule == "score":
        price = capacity_price(table, costs.c, deferral, capacity or 0.0)
        return deferral_zone(costs.c, replace(deferral, fee=deferral.fee + price))
    pair = best_pair(table, costs.c, deferral, capacity)
    return None if pair.low == pair.high else (pair.low, pair.high)
