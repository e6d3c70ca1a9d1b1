"""The value of deferral, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.actions import _deferral
from stakes.base.numerics import rows_within
from stakes.base.validation import (
    BinarySample,
    Bools,
    Floats,
    Integers,
    check_capacity,
    check_choice,
    check_same_order,
    check_whole,
    generator,
    settled_order,
)
from stakes.core.options import Options, refuse_weighing
from stakes.core.score_table import ScoreTable, row_losses, table_integral
from stakes.costs import CostDistribution, CostsLike, Deferral, Fixed, as_costs, as_deferral
from stakes.inference import CostRows, Estimate, Selection, few_carry, select
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import REFERENCES, level_name, number, percent, stated
from stakes.variance.dependence import clusters_of, settled_codes
from stakes.variance.sums import worst_losses

# What each row costs with and without the option to defer, and how often it is deferred, at one cost ratio or many.


@dataclass(frozen=True, eq=False, repr=False)
class DeferredRows:
    """Row costs with and without the option, of decided rows, and of mistakes on deferred rows.

    ``deferred`` and ``acted`` are the shares of the cost ratios at which each row is deferred and acted on.
    """

    total: Floats
    without: Floats
    decided: Floats
    errors: Floats
    deferred: Floats
    acted: Floats


def deferred_rows(
    sample: BinarySample, costs: CostDistribution, deferral: Deferral, capacity: int | Fraction | None
) -> DeferredRows:
    """Compute row costs by decisions from unchanged scores."""
    if not isinstance(costs, Fixed):
        return _over_costs(sample, costs, deferral)
    actions = _deferral.face_actions(sample.score, costs.c, deferral)
    if capacity is not None:
        price = _deferral.capacity_price(ScoreTable.from_sample(sample), costs.c, deferral, capacity)
        actions = _deferral.capped_actions(sample.score, costs.c, deferral, price)
    return _of_actions(sample, actions, row_losses(sample.y, sample.score, costs, "score"), costs.c, deferral)


def cross_fitted_rows(
    sample: BinarySample, costs: CostDistribution, deferral: Deferral, capacity: int | Fraction | None, folds: Integers
) -> DeferredRows:
    """Decide each fold by the recalibration, or the best pair of thresholds, of the other folds."""
    if capacity is None:
        score = sample.score.copy()
        for table, mine in _left_out(sample, folds):
            place = np.searchsorted(table.scores, sample.score[mine], side="right") - 1
            score[mine] = table.pav_by_score()[np.maximum(place, 0)]
        return deferred_rows(BinarySample(sample.y, score, sample.weight), costs, deferral, None)
    c = costs.low  # a capacity has one cost ratio
    actions, alone = np.empty((2, len(sample.y)), dtype=np.int8)
    for table, mine in _left_out(sample, folds):
        for column, cap in ((actions, capacity), (alone, 0)):
            pair = _deferral.best_pair(table, c, deferral, cap)
            column[mine] = _deferral.between(sample.score[mine], pair.low, pair.high)
    return _of_actions(sample, actions, _deferral.action_costs(sample.y, alone, c, deferral), c, deferral)


def _left_out(sample: BinarySample, folds: Integers) -> Iterator[tuple[ScoreTable, Bools]]:
    """Yield, for each fold, the table of the other rows and a mask of the rows left out."""
    for k in range(int(folds.max()) + 1):
        mine = folds == k
        yield ScoreTable.from_sample(_some(sample, np.flatnonzero(~mine))), mine


def _some(sample: BinarySample, rows: Integers) -> BinarySample:
    return replace(sample, origin=None).arranged(rows)


def _of_actions(
    sample: BinarySample, actions: _deferral.Actions, without: Floats, c: float, deferral: Deferral
) -> DeferredRows:
    total, deferred = _deferral.action_costs(sample.y, actions, c, deferral), actions == _deferral.DEFER
    decided, errors = np.where(deferred, 0.0, total), np.where(deferred, total - deferral.fee, 0.0)
    acted = (actions == _deferral.ACT).astype(np.float64)
    return DeferredRows(total, without, decided, errors, deferred.astype(np.float64), acted)


def _over_costs(sample: BinarySample, costs: CostDistribution, deferral: Deferral) -> DeferredRows:
    """Averages over the cost ratios, in closed form."""
    total, without = (
        row_losses(sample.y, sample.score, each, "score") / costs.mass for each in (deferral.applied_to(costs), costs)
    )
    rising, falling, acted = (part / costs.mass for part in deferral.where_deferred(costs, sample.score))
    share, a, b = rising + falling, deferral.false_positive_rate, deferral.false_negative_rate
    errors = np.where(sample.y, b * falling, a * rising)
    total = np.where(share > 0.0, total, without)  # rounding is no saving
    return DeferredRows(total, without, total - deferral.fee * share - errors, errors, share, acted)


# Widening of intervals for fitted thresholds, whose sampling variation the row costs do not include.
#
# The thresholds that are best on a sample move like n^(-1/3), and the costs under them vary more than those of the
# rows under one pair of thresholds, by a share of the error that shrinks slowly. Resamples tell how much: each has a
# cross-fitted mean of its own, and its own best thresholds judged by the sample that it was drawn from.

RESAMPLES = 60
MOST_ROWS, MOST_OF_ALL = 2_000, 20_000  # of more rows so many are drawn; of rare classes more
_FEW = 100
_TRIES = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Refitted:
    """Rows, their folds, and out-of-fold values of each row: one column for each quantity.

    ``codes`` are clusters; ``by_class`` says that the share of positives carries no error.
    """

    sample: BinarySample
    folds: Integers
    codes: Integers | None
    judged: Callable[[BinarySample, Integers], Floats]
    by_class: bool = False

    def widening(self, rng: np.random.Generator) -> Floats:
        """Ratio, at least 1, of the standard error with fitted thresholds to that with fixed ones, by quantity."""
        some = self._subsample(rng)
        shown = some._row_errors()
        gaps = np.array([some._gap(rng) for _ in range(RESAMPLES)])
        moved = gaps.std(axis=0, ddof=1)
        return np.maximum(np.divide(moved, shown, out=np.ones_like(moved), where=shown > 0.0), 1.0)

    def _gap(self, rng: np.random.Generator) -> Floats:
        """Cross-fitted means of a resample minus those of its best thresholds on these rows."""
        drawn = self._take(self._resampled(rng))
        own = np.average(self.judged(drawn.sample, drawn.folds), axis=0, weights=drawn.sample.weight)
        both = _joined(self.sample, drawn.sample)
        apart = np.repeat([0, 1], [len(self.folds), len(drawn.folds)])  # the first are judged by what fits the others
        here = self.judged(both, apart)[: len(self.folds)]
        return np.asarray(own - np.average(here, axis=0, weights=self.sample.weight))

    def _row_errors(self) -> Floats:
        """Standard errors of the means with fixed thresholds of each fold."""
        values, weight = self.judged(self.sample, self.folds), _weight(self.sample)
        groups = (self.sample.y, ~self.sample.y) if self.by_class else (np.ones(len(values), dtype=bool),)
        for mine in groups:
            values[mine] -= np.average(values[mine], axis=0, weights=weight[mine])
        terms = values * (weight / weight.sum())[:, None]
        if self.codes is not None:
            terms = np.stack([np.bincount(self.codes, column) for column in terms.T], axis=1)
        return np.asarray(np.sqrt((terms**2).sum(axis=0)))

    def _take(self, rows: Integers) -> Refitted:
        codes = None if self.codes is None else np.unique(self.codes[rows], return_inverse=True)[1].ravel()
        return replace(self, sample=_some(self.sample, rows), folds=self.folds[rows], codes=codes)

    def _subsample(self, rng: np.random.Generator) -> Refitted:
        """Subsample the rows if there are more than the resampling needs."""
        n, rarer = len(self.folds), int(min(self.sample.y.sum(), (~self.sample.y).sum()))
        most = min(max(MOST_ROWS, _FEW * n // max(rarer, 1)), MOST_OF_ALL)
        if n <= most:
            return self
        if self.codes is None:
            return self._take(np.sort(rng.permutation(n)[:most]))
        order = rng.permutation(int(self.codes.max()) + 1)
        enough = int(np.searchsorted(np.cumsum(np.bincount(self.codes)[order]), most)) + 1
        return self._take(np.flatnonzero(np.isin(self.codes, order[:enough])))

    def _resampled(self, rng: np.random.Generator) -> Integers:
        """Rows drawn with replacement until both classes and two folds are among them."""
        counted = _weight(self.sample) > 0.0
        for _ in range(_TRIES):
            rows = self._drawn(rng)
            here = rows[counted[rows]]
            if len(here) and np.ptp(self.sample.y[here].astype(int)) and np.ptp(self.folds[here]):
                return np.sort(rows)
        raise ValueError("y_true must hold enough rows of both classes to resample them.")

    def _drawn(self, rng: np.random.Generator) -> Integers:
        """Draw whole clusters, or rows stratified by class if the prevalence is fixed."""
        y = self.sample.y
        if self.codes is not None:
            members = np.split(np.argsort(self.codes, kind="stable"), np.cumsum(np.bincount(self.codes))[:-1])
            return np.concatenate([members[k] for k in rng.integers(len(members), size=len(members))])
        if self.by_class:
            return np.concatenate([rng.choice(np.flatnonzero(mine), int(mine.sum())) for mine in (y, ~y)])
        return np.asarray(rng.integers(len(y), size=len(y)))


def _weight(sample: BinarySample) -> Floats:
    return np.ones(len(sample.y)) if sample.weight is None else sample.weight


def _joined(first: BinarySample, second: BinarySample) -> BinarySample:
    y, score = (np.concatenate([getattr(first, key), getattr(second, key)]) for key in ("y", "score"))
    return BinarySample(y, score, None if first.weight is None else np.concatenate([first.weight, _weight(second)]))


# Means over rows with their intervals, for whatever the rows cost.


def mean_estimates(
    rows: CostRows,
    pairs: Mapping[str, tuple[int, int]],
    level: float,
    limits: tuple[ArrayLike, ArrayLike] = (-np.inf, np.inf),
    widening: Mapping[str, float] | None = None,
) -> dict[str, Estimate]:
    """Estimate the mean of one column minus that of another (-1: one column alone), by name.

    ``limits`` are the least and the largest value, for all or one by one; ``widening`` says how many times as large as
    the rows show the error of each is.
    """
    first, second = np.array(list(pairs.values()), dtype=np.intp).T
    means = rows.means
    value = means[first] - np.where(second < 0, 0.0, means[second])
    spread = rows.spread(first, second)
    times = np.array([1.0 if widening is None else widening[name] for name in pairs])
    reach = times * spread.reach(NormalDist().inv_cdf(0.5 + level / 2.0))
    ends = np.clip([value - reach, value + reach], *limits).T.tolist()
    errors, found = times * np.sqrt(spread.variance), {}
    for k, name in enumerate(pairs):
        note = few_carry("the estimate" if second[k] < 0 else "the difference", float(spread.scarce[k]))
        found[name] = Estimate(name, float(value[k]), float(errors[k]), tuple(ends[k]), level, note)
    return found


# The value of the option to defer on labelled rows, with intervals, on the total cost of all cases.

_COSTS = {"cost": (0, -1), "cost_without": (1, -1), "value": (1, 0), "cost_of_decided": (2, -1)}
_SHARES = {"deferred": (0, -1), "act": (1, -1), "do not act": (2, -1)}


@dataclass(frozen=True, eq=False, repr=False)
class Deferred(Tabular):
    """Answer of :func:`evaluate_deferral`.

    Parameters
    ----------
    estimates : dict of str to Estimate
        "cost" with the option, "cost_without", their difference "value", and "cost_of_decided", the part of the cost
        that is due to cases decided; then the shares "deferred", "act" and "do not act". All per case, costs times
        ``per``.
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
    p_value : float
        Two-sided, that the option is worth nothing; agrees with the interval of "value".
    by_amount : bool
        Whether rows have amounts: a case then counts by what is at stake in it, in costs and in shares.
    per : float
        Number of cases that costs are counted in.

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
    p_value: float = math.nan
    by_amount: bool = False
    per: float = 1.0

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
        """Saving by the option; negative if it does harm."""
        return self.estimates["value"].value

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the cost with the option."""
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
        cases = "a case costs" if self.per == 1.0 else f"{stated(self.per)} cases cost"
        costs, of = f"{cases} {number(self.cost)}", "cases"
        if self.by_amount:
            costs, of = f"the cost is {number(self.cost)} per unit at stake", "what is at stake"
        return (
            f"With the option {costs}, without it {number(self.cost_without)}: it {verb} "
            f"{number(value.value)} ({level_name(value.confidence_level)} interval {low} to {high}), with "
            f"{percent(self.estimates['deferred'].value)} of {of} deferred."
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
    cv: int = 10,
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
        How much each cost ratio counts; of finite mass. A score at a single cost ratio acts (``tie=1``).
    deferral : Deferral or float
        What deferring costs, or its fee alone.
    capacity : int or float, optional
        How many cases may be deferred at most (their weight, where rows are weighted), or which share of them in
        (0, 1); needs one cost ratio, and rows without amounts.
    rule : {"score", "optimal"}, default "score"
        Take the scores at face value, or decide each fold by what is best on the other folds.
    cv : int, default 10
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
    about: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    about |= {"logits": logits, "confidence_level": confidence_level, "unit_cost": unit_cost, "per": per}
    asked = Options(costs=check_deferred(as_costs(costs)), **about).checked()
    option = as_deferral(deferral)
    refuse_weighing(y_true, "evaluate_deferral")
    sample = asked.data(y_true, y_prob, amounts=True).rows
    cap = _checked(capacity, asked.costs, sample)
    codes = clusters_of(sample, clusters, sample_weight)
    if rule == "score":
        return deferred_of(asked, sample, option, cap, codes=codes)
    # folds and draws depend on the places of rows, so that these are sorted first
    columns = sample.score, sample.y, sample.weight
    codes = None if codes is None else settled_codes(codes, *columns)
    rng, order = generator(random_state), settled_order(*columns, codes)
    sample, codes = sample.arranged(order), None if codes is None else codes[order]
    folds = fold_codes(sample.y, check_whole(cv, "cv", 2), codes, rng)
    return deferred_of(asked, sample, option, cap, codes=codes, fitted=(folds, rng))


def deferred_of(
    asked: Options,
    sample: BinarySample,
    option: Deferral,
    capacity: int | Fraction | None = None,
    *,
    codes: Integers | None = None,
    fitted: tuple[Integers, np.random.Generator] | None = None,
) -> Deferred:
    """Evaluate clean rows: with unchanged scores, or cross-fitted with folds (and resampling for the errors)."""
    measure, rule, widening = asked.costs, "score" if fitted is None else "optimal", None
    if fitted is None:
        rows = deferred_rows(sample, measure, option, capacity)
    else:
        folds, rng = fitted
        if isinstance(capacity, int):  # of all rows; each fit sees some of them
            capacity = capacity / Fraction(float(_weight(sample).sum()))
        rows = cross_fitted_rows(sample, measure, option, capacity, folds)

        def judged(some: BinarySample, their_folds: Integers) -> Floats:
            return _quantities(cross_fitted_rows(some, measure, option, capacity, their_folds))

        widths = Refitted(sample, folds, codes, judged, asked.prevalence is not None).widening(rng)
        widening = dict(zip((*_COSTS, *_SHARES), widths.tolist(), strict=True))
    factor = asked.factor * measure.mass  # the rows are means over the costs already
    shared = {"y": sample.y, "weight": _weight(sample), "clusters": codes, "by_class": asked.prevalence is not None}
    estimates, p = _estimates(rows, asked, shared, widening)
    low, high = option.decided_zone(_most_unsure(measure))
    if low == high and np.allclose(rows.total, rows.without, rtol=1e-12, atol=0.0):  # and so for every row there is
        estimates["value"] = replace(estimates["value"], value=0.0, standard_error=0.0, interval=(0.0, 0.0), note="")
        p = 1.0
    errors = factor * float(np.average(rows.errors, weights=sample.weight))
    by_class = _by_class(factor * (rows.without - rows.total), sample)
    note = option.note_at(measure.c) if isinstance(measure, Fixed) else ""
    zone = _zone(sample, measure, option, capacity, rule)
    return Deferred(estimates, zone, errors, by_class, option, rule, note, p, _by_amount(sample), asked.per)


def check_deferred(costs: CostDistribution) -> CostDistribution:
    """Refuse costs of infinite mass, which have no mean, and a score at the cost ratio that does not act."""
    if not math.isfinite(costs.mass):
        raise ValueError(f"costs must have a finite mass for a cost per case, got {costs!r}.")
    if isinstance(costs, Fixed) and costs.tie != 1.0:
        raise ValueError(f"costs must have tie=1 beside an option to defer: a score at c acts, got {costs!r}.")
    return costs


def _by_amount(sample: BinarySample) -> bool:
    return sample.origin is not None and sample.origin.outcome.by_amount


def _checked(capacity: Any, costs: CostDistribution, sample: BinarySample) -> int | Fraction | None:
    if capacity is not None and _by_amount(sample):
        raise ValueError(f"capacity= does not fit amounts by row: it counts cases, not money, got {capacity!r}.")
    if capacity is not None and not isinstance(costs, Fixed):
        raise ValueError(f"capacity needs one cost ratio, such as costs=0.2, got {costs!r}.")
    return None if capacity is None else check_capacity(capacity)


def fold_codes(y: Bools, cv: int, clusters: Integers | None, random_state: Any) -> Integers:
    """Fold of each row, stratified by class; no cluster is divided."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    rarer = int(min(np.count_nonzero(y), np.count_nonzero(~y)))
    if rarer < cv:
        raise ValueError(f"cv must not exceed the rows of the rarer class, got {cv} for {rarer} rows.")
    seed = int(generator(random_state).integers(2**31))
    kind = StratifiedKFold if clusters is None else StratifiedGroupKFold
    folds, rows = np.empty(len(y), dtype=np.intp), np.zeros((len(y), 1))
    for k, (_, test) in enumerate(kind(cv, shuffle=True, random_state=seed).split(rows, y, clusters)):
        folds[test] = k
    return folds


def _estimates(
    rows: DeferredRows, asked: Options, shared: dict[str, Any], widening: dict[str, float] | None
) -> tuple[dict[str, Estimate], float]:
    """Costs and shares with their intervals, and the p-value of the option's value."""
    costs, shares = _columns(rows)
    factor, worst, level = (
        asked.factor * asked.costs.mass,
        asked.factor * worst_losses(asked.costs),
        asked.confidence_level,
    )
    largest, unpaid = np.tile(worst[:, None], 3), np.stack([rows.decided, rows.without, rows.decided], axis=1)
    # fees that most rows pay may hide that dear mistakes have not been seen
    raw = ((factor * costs, largest), (factor * unpaid, largest))
    priced = CostRows(factor * costs, largest=largest, raw=raw, **shared)
    counted = CostRows(shares, largest=np.ones((2, 3)), **shared)
    bound = float(worst.max())
    least = [0.0 if second < 0 else -bound for _, second in _COSTS.values()]
    found = mean_estimates(priced, _COSTS, level, (least, bound), widening)
    gap = found["value"].value / (1.0 if widening is None else widening["value"])
    p = 2.0 * float(priced.spread(*np.array(_COSTS["value"])[:, None]).tail(np.array([gap]))[0])
    return found | mean_estimates(counted, _SHARES, level, (0.0, 1.0), widening), p


def _columns(rows: DeferredRows) -> tuple[Floats, Floats]:
    """Costs and shares of each row in the columns of ``_COSTS`` and ``_SHARES``."""
    waited = np.maximum(1.0 - rows.deferred - rows.acted, 0.0)
    costs = np.stack([rows.total, rows.without, rows.decided], axis=1)
    return costs, np.stack([rows.deferred, rows.acted, waited], axis=1)


def _quantities(rows: DeferredRows) -> Floats:
    """Contribution of each row to every estimate."""
    costs, shares = _columns(rows)
    first, second = np.array(list(_COSTS.values()), dtype=np.intp).T
    return np.concatenate([costs[:, first] - np.where(second < 0, 0.0, costs[:, second]), shares], axis=1)


def _by_class(value: Floats, sample: BinarySample) -> tuple[float, float]:
    """Contributions of negatives and of positives to a mean."""
    parts = (np.average(np.where(mine, value, 0.0), weights=sample.weight) for mine in (~sample.y, sample.y))
    negative, positive = map(float, parts)
    return negative, positive


def _zone(
    sample: BinarySample, costs: CostDistribution, deferral: Deferral, capacity: int | Fraction | None, rule: str
) -> tuple[float, float] | None:
    """Range of scores that are deferred, for a single cost ratio."""
    if not isinstance(costs, Fixed):
        return None
    if rule == "score" and capacity is None:
        return _deferral.decided_zone(costs.c, deferral)
    table = ScoreTable.from_sample(sample)
    if rule == "score":
        return _deferral.decided_zone(costs.c, _deferral.at_capacity(table, costs.c, deferral, capacity or 0))
    pair = _deferral.best_pair(table, costs.c, deferral, capacity)
    return None if pair.low == pair.high else (pair.low, pair.high)


# Several models with the option to defer: costs with and without it, and the best model.

_FEES = 41
DEFER_ALL = "deferring all"


@dataclass(frozen=True, eq=False, repr=False)
class DeferredModels(Tabular):
    """What several models cost with the option to defer; made by :meth:`stakes.evaluation.Evaluation.with_deferral`.

    Parameters
    ----------
    models : dict of str to Deferred
        By name.
    deferral : Deferral
        What deferring costs.
    capacity : int, float or None
        How many cases may be deferred at most, or which share of them.
    selection : Selection
        Which decision is best with the option, on total cost: models, treating all, no one, and deferring all unless
        the capacity forbids it.
    fees : ndarray
        From 0 to where no case is worth its fee.
    over_fees : dict of str to ndarray
        Cost of each model at these fees, without a limit to the share.

    Examples
    --------
    >>> from stakes import evaluate
    >>> result = evaluate([0, 1, 0, 1] * 20, {"a": [0.1, 0.6, 0.3, 0.9] * 20}, costs=0.2).with_deferral(0.02)
    >>> result.deferral["a"].shares["deferred"]
    0.75
    """

    models: dict[str, Deferred]
    deferral: Deferral
    capacity: float | None
    selection: Selection
    fees: Floats
    over_fees: dict[str, Floats]

    def __getitem__(self, name: str) -> Deferred:
        return self.models[name]

    @property
    def conclusion(self) -> list[str]:
        """The conclusion: the best decision with the option, and the option's value for each model."""
        lead, *others = self.selection.sentences
        worth = [f"{name}: {found.sentence[0].lower()}{found.sentence[1:]}" for name, found in self.models.items()]
        return [lead, *worth, *others]

    def record(self) -> dict[str, Any]:
        """Everything as plain values."""
        curves = {"fee": self.fees.tolist()} | {name: line.tolist() for name, line in self.over_fees.items()}
        found = {"models": self._records(), "over_fees": curves, "conclusion": self.conclusion}
        return {**vars(self.deferral), "capacity": self.capacity, **found}

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for name, found in self.models.items():
            (low, high), (start, end) = found.estimates["value"].interval, found.zone or (None, None)
            costs = {key: found.estimates[key].value for key in ("cost", "cost_without", "value")}
            shares = {key.replace(" ", "_"): share for key, share in found.shares.items()}
            records.append({"model": name, **costs, "ci_low": low, "ci_high": high, **shares})
            records[-1] |= {"defer_from": start, "defer_to": end}
        return records

    def __repr__(self) -> str:
        each = self.models.items()
        parts = (f"{name} {found.cost:.4g}, {percent(found.shares['deferred'])} deferred" for name, found in each)
        return f"DeferredModels({'; '.join(parts)})"


def deferred_models(
    samples: Mapping[str, BinarySample],
    asked: Options,
    deferral: Deferral | float,
    capacity: float | None,
    codes: Integers | None,
) -> DeferredModels:
    """Evaluate clean rows of several models with unchanged scores."""
    option, measure = as_deferral(deferral), check_deferred(asked.costs)
    sample = next(iter(samples.values()))
    cap = _checked(capacity, measure, sample)
    found = {name: deferred_of(asked, sample, option, cap, codes=codes) for name, sample in samples.items()}
    rows = {name: deferred_rows(sample, measure, option, cap) for name, sample in samples.items()}
    fees = np.linspace(0.0, _highest_fee(asked, option), _FEES)
    tables = {name: ScoreTable.from_sample(sample) for name, sample in samples.items()}
    measures = [replace(option, fee=fee).applied_to(asked.costs) for fee in fees.tolist()]
    curves = {
        name: np.array([asked.factor * table_integral(table, each, "score") for each in measures])
        for name, table in tables.items()
    }
    total = float(_weight(sample).sum())
    all_fit = cap is None or rows_within(cap, total) >= total
    chosen = _chosen(sample, rows, asked, option, codes, all_fit=all_fit)
    return DeferredModels(found, option, float(cap) if isinstance(cap, Fraction) else cap, chosen, fees, curves)


def _highest_fee(asked: Options, option: Deferral) -> float:
    """The smallest fee at which no case is deferred, at any cost ratio with weight."""
    return option.most_at(_most_unsure(asked.costs))


def _most_unsure(costs: CostDistribution) -> float:
    """The cost ratio, of those with weight, at which deferring may save most."""
    return min(max(0.5, costs.low), costs.high)


def _chosen(
    sample: BinarySample,
    models: dict[str, DeferredRows],
    asked: Options,
    option: Deferral,
    codes: Integers | None,
    *,
    all_fit: bool,
) -> Selection:
    """Choose among the models with the option, treating all, treating no one and, if all fit, deferring all."""
    measure, y = asked.costs, sample.y
    worst = asked.factor * worst_losses(measure)
    factor = asked.factor * measure.mass
    deferred = factor * option.fee + worst * (option.false_positive_rate, option.false_negative_rate)
    references = dict(zip(REFERENCES, (np.where(y, 0.0, worst[0]), np.where(y, worst[1], 0.0)), strict=True))
    if all_fit:
        references[DEFER_ALL] = np.where(y, deferred[1], deferred[0])
    costs, unpaid = (
        np.stack([*(factor * each for each in columns), *references.values()], axis=1)
        for columns in ([rows.total for rows in models.values()], [rows.decided for rows in models.values()])
    )
    largest = np.tile(np.maximum(worst, deferred)[:, None], costs.shape[1])
    fixed = asked.prevalence is not None
    if fixed:  # what the references cost each class is known
        largest[:, len(models) :] = 0.0
    raw = (costs, largest), (unpaid, largest)
    rows = CostRows(costs, y, _weight(sample), codes, largest, fixed, sample.origin, raw)
    contest = rows.contest((*models, *references), len(models))
    options = {"incumbent": asked.incumbent, "n_tried": asked.n_tried, "confidence_level": asked.confidence_level}
    return select(contest, scale=asked.scale, per=asked.per, where="With the option to defer, ", **options)  # type: ignore[arg-type]
