"""Evaluation of decisions with many classes and actions."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes import inference
from stakes.actions._deferral_value import mean_estimates
from stakes.base.multiclass import class_names, stated_labels
from stakes.base.numerics import ascending
from stakes.base.validation import (
    Bools,
    Floats,
    Integers,
    blocks,
    by_name,
    check_level,
    check_same_order,
    generator,
    settled_order,
    to_array,
)
from stakes.costs import CostDistribution, CostsLike
from stakes.metrics import (
    CostProblem,
    check_multiclass,
    check_problem,
    matrix_actions,
    refuse_unordered,
    same_in_any_order,
    walk,
)
from stakes.outputs.files import delivered, json_ready
from stakes.outputs.hooks import draw, report
from stakes.outputs.result_table import ResultTable, TableColumn, Tabular, build_frame
from stakes.outputs.text import decimals_for, number, p_value, percent, shown_name, with_short_names

# What is asked about many actions: clean rows of one or several models, the matrices, and the names of both.


@dataclass(frozen=True, eq=False, repr=False)
class ActionRows:
    """Class of each row, its probabilities by model, its weight and cluster; the matrices; names."""

    index: Integers
    probs: dict[str, Floats]
    weight: Floats
    clusters: Integers | None
    problem: CostProblem
    classes: tuple[Any, ...]
    actions: tuple[Any, ...]

    @property
    def class_share(self) -> Floats:
        """Weighted share of each class."""
        sums = np.bincount(self.index, self.weight, len(self.classes))
        return np.asarray(sums / self.weight.sum(), dtype=np.float64)

    def best(self) -> Floats:
        """Smallest cost of each class, as incurred by an oracle at each point of a segment."""
        own = np.arange(len(self.classes))
        return self.problem.losses(np.eye(len(own)), own)

    def constant(self) -> Floats:
        """Cost of each class under the best constant action, at each matrix."""
        share = np.tile(self.class_share, (len(self.classes), 1))
        return self.problem.losses(share, np.arange(len(self.classes)))

    def max_loss(self) -> Floats:
        """Largest cost of each class over the actions that some probabilities ask for, at each matrix."""
        own, matrices, taken = np.arange(len(self.classes)), self.problem.matrices, []
        for action in range(matrices.shape[2]):
            own_costs = matrices[:, :, [action]]
            less = np.all(matrices < own_costs, axis=(0, 1)).any()
            earlier = np.all(matrices[:, :, :action] <= own_costs, axis=(0, 1)).any()  # the first of equals is taken
            taken += [] if less or earlier else [action]
        return -replace(self.problem, matrices=-matrices[:, :, taken]).losses(np.eye(len(own)), own)

    def kinds(self, *, whole: bool = True) -> Integers:
        """Class of each class where two are given, else groups of those whose costs are about as large.

        Rows whose errors cost the same are one kind whatever their class: what is rare among them is seen in all.
        ``whole`` costs must be about as large too, with what even the best action costs.
        """
        best, max_loss = self.best(), self.max_loss()
        if len(best) == 2:
            return np.arange(2)
        most = np.stack([max_loss - best, max_loss - best.min()] if whole else [max_loss - best])
        some = most > _ROUNDING * np.abs([best, max_loss]).max()
        with np.errstate(divide="ignore", invalid="ignore"):
            # a margin for rounding: 0.4 - 0.1 is half of 0.7 - 0.1, as 4 - 1 is of 7 - 1
            halvings = np.floor(np.log2(most.max(axis=1, keepdims=True) / most) + 1e-9)
        halvings = np.where(some, halvings, -1.0)
        return np.asarray(np.unique(halvings, axis=1, return_inverse=True)[1]).reshape(-1)

    def cost_rows(self, columns: Floats, beyond: Floats, most: Floats, *, whole: bool = True) -> inference.CostRows:
        """Rows whose columns are averaged, of kinds that cost as much as each other.

        ``beyond`` is what each row costs beyond the best action for its class, and ``most`` (classes, columns) the most
        that can be. Small errors may hide that the large ones have not been seen: what lies above the fifth largest is
        judged on its own. Where classes differ in what the best action costs, a rare one may be costly although no row
        of it errs: ``whole`` costs allow for that too.
        """
        best, kinds = self.best(), self.kinds(whole=whole)
        least, kind = best - best.min(), kinds[self.index]
        places = range(int(kinds.max()) + 1)

        def of_kinds(values: Floats) -> Floats:
            return np.stack([values[kinds == each].max(axis=0) for each in places])

        largest = of_kinds(most)
        raw = [(beyond, largest)]
        if max(len(best), len(self.actions)) > 2:
            seen = np.stack([_fifth(beyond[kind == each]) for each in places])
            raw.append((np.maximum(beyond - seen[kind], 0.0), largest - seen))
        if whole and least.any():
            raw.append((beyond + least[self.index][:, None], of_kinds(most + least[:, None])))
        return inference.CostRows(columns, kind, self.weight, self.clusters, largest, raw=tuple(raw))


def read_rows(
    y_true: Any, y_prob: Any, *, actions: Any, labels: Any, sample_weight: Any, clusters: Any = None, **problem: Any
) -> ActionRows:
    """Check the arguments; drop rows of weight zero."""
    models = by_name(y_prob, "y_prob") if isinstance(y_prob, Mapping) else {"model": y_prob}
    if not models:
        raise ValueError("y_prob must hold at least one model, got none.")
    stated, labels = labels, _labels_of(y_true, models, labels)
    read = {name: check_multiclass(y_true, prob, labels, sample_weight) for name, prob in models.items()}
    index, first, weight = next(iter(read.values()))
    shapes = {prob.shape for _, prob, _ in read.values()}
    if len(shapes) > 1:
        raise ValueError(f"y_prob must have the same shape for every model, got {sorted(shapes)}.")
    classes = class_names(y_true, labels, first.shape[1])
    names = _action_names(actions, problem["matrices"], classes)
    asked = check_problem(classes=classes, actions=None if actions is None else names, **problem)
    if names is not None or not same_in_any_order(asked.matrices):
        refuse_unordered(problem["matrices"], classes, stated, y_true, *models.values())
    given = np.ones(len(index)) if weight is None else weight
    used = given > 0.0
    codes, _ = inference.check_dependence(clusters, None, int(np.count_nonzero(used)), sample_weight)
    names = _checked_actions(names, classes, asked.matrices.shape[2])
    if actions is None and set(names) == set(classes):
        _warn_if_transposed(asked.mean_matrix[:, [names.index(each) for each in classes]], classes)
    probs = {name: np.asarray(prob, dtype=np.float64)[used] for name, (_, prob, _) in read.items()}
    return ActionRows(index[used], probs, given[used], codes, asked, classes, names)


def _labels_of(y_true: Any, models: dict[str, Any], labels: Any) -> Any:
    """Labels as stated, or as the names of the columns state them: the same for every model."""
    if labels is not None:
        return labels
    stated = [each for prob in models.values() if (each := stated_labels(y_true, prob, None))]
    if any(each != stated[0] for each in stated):
        raise ValueError(f"y_prob must name the same classes for every model, got {stated}: pass labels=.")
    return stated[0] if stated else None


def _fifth(values: Floats) -> Floats:
    """The fifth largest value, reached by the number of rows that an interval needs (0 with fewer)."""
    if len(values) < inference.NEEDED:
        return np.zeros(values.shape[1])
    return np.asarray(np.partition(values, len(values) - inference.NEEDED, axis=0)[len(values) - inference.NEEDED])


def _action_names(actions: Any, matrices: Any, classes: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Names as stated, or those of the columns of the first matrix, or None."""
    if actions is None:
        return tuple(matrix_actions(matrices, classes)[0]) or None
    return tuple(actions if isinstance(actions, (list, tuple)) else to_array(actions, "actions").ravel().tolist())


def _checked_actions(names: tuple[Any, ...] | None, classes: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Return one name for each action: as given, or the classes where there are as many, or numbers."""
    if names is None:
        return classes if count == len(classes) else tuple(range(count))
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"actions must name the {count} columns of the matrices once each, got {list(names)}.")
    return names


def _warn_if_transposed(matrix: Floats, classes: tuple[Any, ...]) -> None:
    """Warn if the action named like a class is costlier for it than another action."""
    k = int(np.argmax(np.diag(matrix) - matrix.min(axis=1)))
    best = int(np.argmin(matrix[k]))
    if matrix[k, k] > matrix[k, best]:
        own, other = (shown_name(str(classes[each])) for each in (k, best))
        costs = f"the action {own} costs {matrix[k, k]:g}, the action {other} {matrix[k, best]:g}"
        remedy = "is the matrix transposed? If it is meant, name actions=."
        message = f"matrices: for class {own} {costs}. Rows are true classes and columns actions: {remedy}"
        warnings.warn(message, stacklevel=4)


# Along a segment of cost matrices, where one model costs less than another: exact knots and straight lines between.

_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class ActionDominance(Tabular):
    """Mean cost of one model less that of another along a segment of matrices, on these rows; no test.

    Parameters
    ----------
    a, b : str
        Names of the models.
    low, high : ndarray of shape (m,)
        Ends of the pieces, which cover [0, 1]; every sign change within a piece is an end.
    left, right : ndarray of shape (m,)
        Difference just after the start and just before the end of each piece; straight in between.
    a_better, b_better : float
        Shares of the measure of theta where each costs less.
    difference : float
        Averaged over theta.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> models = {"a": [[0.7, 0.3], [0.2, 0.8]] * 9, "b": [[0.6, 0.4], [0.6, 0.4]] * 9}
    >>> found = evaluate_actions([0, 1] * 9, models, matrices=[[[0, 0], [1, 0]], [[0, 1], [0, 0]]], theta=(0, 1))
    >>> found.dominance("a", "b").intervals()
    [(0.0, 0.3, 'same'), (0.3, 0.8, 'a'), (0.8, 1.0, 'same')]
    """

    a: str
    b: str
    low: Floats
    high: Floats
    left: Floats
    right: Floats
    a_better: float
    b_better: float
    difference: float

    def intervals(self) -> list[tuple[float, float, str]]:
        """Return the stretches of theta with who costs less there: a name, or "same".

        Returns
        -------
        list of tuple

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> models = {"a": [[0.7, 0.3], [0.2, 0.8]] * 9, "b": [[0.6, 0.4], [0.6, 0.4]] * 9}
        >>> found = evaluate_actions([0, 1] * 9, models, matrices=[[[0, 0], [1, 0]], [[0, 1], [0, 0]]], theta=(0, 1))
        >>> found.dominance("a", "b").intervals()[-1]
        (0.8, 1.0, 'same')
        """
        sign = np.sign(self.left + self.right).astype(int)
        starts = np.flatnonzero(np.append(True, sign[1:] != sign[:-1]))
        ends = np.append(starts[1:], len(sign)) - 1
        who = {-1: self.a, 0: "same", 1: self.b}
        pieces = zip(starts, ends, strict=True)
        return [(float(self.low[start]), float(self.high[end]), who[int(sign[start])]) for start, end in pieces]

    def _records(self) -> list[dict[str, Any]]:
        return [{"low": low, "high": high, "lower_cost": who} for low, high, who in self.intervals()]

    @property
    def sentence(self) -> str:
        """The conclusion for a report, on these rows."""
        parts = {self.a: self.a_better, self.b: self.b_better}
        if min(parts.values()) > 0.0:
            shares = ", ".join(f"{name} costs less on {percent(share)}" for name, share in parts.items())
            return f"{shares} of the segment of matrices; on average over it {self._mean}."
        better = max(parts, key=lambda name: parts[name])
        other = self.b if better == self.a else self.a
        where = {who for _, _, who in self.intervals()} - {"same"}  # theta may not count all of it
        if parts[better] == 0.0:
            counted = " that theta counts" if where else ""
            return f"{self.a} and {self.b} cost the same on all of the segment of matrices{counted}."
        anywhere = "wherever theta counts" if other in where else "anywhere"
        less = f"less on {percent(parts[better])} of the segment of matrices"
        return f"{better} costs no more than {other} {anywhere}, {less}; on average over it {self._mean}."

    @property
    def _mean(self) -> str:
        if self.difference == 0.0:
            return "both cost the same"
        return f"{self.a} costs {number(abs(self.difference))} {'less' if self.difference < 0.0 else 'more'}"

    def __repr__(self) -> str:
        return f"ActionDominance({self.sentence.removesuffix('.')})"


def dominance_of(rows: ActionRows, a: str, b: str) -> ActionDominance:
    """Compute the difference of two models on every piece, cut where it changes sign."""
    theta = rows.problem.theta
    if theta is None:
        raise ValueError("dominance needs a segment of matrices: pass the two ends and theta, a range such as (0, 1).")
    knots, level, slope = _difference(rows, rows.probs[a], rows.probs[b])
    low, high = knots[:-1], knots[1:]
    left, right = level + slope * low, level + slope * high
    scale = _ROUNDING * float(np.abs(rows.problem.matrices).max())
    left, right = (np.where(np.abs(side) <= scale, 0.0, side) for side in (left, right))
    crossing = left * right < 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = np.where(crossing, low + (high - low) * left / (left - right), np.nan)[crossing]
    place = np.flatnonzero(crossing) + 1
    low, high = np.insert(low, place, zero), np.insert(high, place - 1, zero)
    left, right = np.insert(left, place, 0.0), np.insert(right, place - 1, 0.0)
    weight = _masses(theta, low, high)
    sign = np.sign(left + right)
    costs = [np.average(rows.problem.losses(rows.probs[name], rows.index), weights=rows.weight) for name in (a, b)]
    better, difference = (float(weight[sign < 0.0].sum()), float(weight[sign > 0.0].sum())), float(costs[0] - costs[1])
    return ActionDominance(a, b, low, high, left, right, *better, difference if abs(difference) > scale else 0.0)


def _difference(rows: ActionRows, first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """Knots from 0 to 1, and intercept and slope between them of the first model's mean cost minus the second's."""
    ends, weight = rows.problem.matrices, rows.weight / rows.weight.sum()
    places, levels, slopes = [], [], []
    for sign, prob in ((1.0, first), (-1.0, second)):
        for part, action, low, high in walk(prob, ends):
            index = rows.index[part]
            level = sign * weight[part] * ends[0][index, action]
            slope = sign * weight[part] * (ends[1] - ends[0])[index, action]
            left = high < 1.0
            places += [low, high[left]]
            levels += [level, -level[left]]
            slopes += [slope, -slope[left]]
    place = np.concatenate(places)
    knots, index = np.unique(place, return_inverse=True)
    sums = [np.cumsum(np.bincount(index.ravel(), np.concatenate(part), len(knots))) for part in (levels, slopes)]
    return np.append(knots, 1.0).astype(np.float64), sums[0].astype(np.float64), sums[1].astype(np.float64)


def _masses(theta: CostDistribution, low: Floats, high: Floats) -> Floats:
    """Mass of the measure on each piece."""
    negative, positive = ([part(end) for end in (low, high)] for part in (theta.negative_loss, theta.positive_loss))
    return np.asarray((negative[1] - negative[0] + positive[0] - positive[1]) / theta.mass)


# Decision calibration: incurred against expected costs for stated matrices, over all rows and by action.

_LARGE = 20.0**-0.5  # in standard errors of what is drawn with it: one of 20 equal changes of cost
_DRAWS, _ROUNDED = 4999, 1e-12
_DECIMALS = 9  # of standard errors, beyond which two changes of cost differ by rounding


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCalibration(Tabular):
    """Costs incurred beside those announced.

    Parameters
    ----------
    announced, incurred : float
        Mean expected cost of the actions taken, by the probabilities, and their mean cost.
    gap : Estimate
        Incurred less announced.
    z, p_value : float
        Test that the gap is zero, by the variance that the probabilities imply; with clusters, the larger p-value of
        that and of the interval of the gap. Infinite and 0 where a class of probability 0 occurred at a cost that was
        not announced, and nan where the probabilities leave no doubt else or the gap has no interval.
    by_action : tuple of dict
        For each action taken: its share, announced and incurred mean cost, gap, z, p-value and Holm's p-value.
    picked : int, default 1
        Among how many models this one was picked on these rows: the p-value and Holm's are multiplied by it.

    Examples
    --------
    >>> from stakes.actions import decision_calibration_test
    >>> y_true, y_prob = [0, 1, 0, 0] * 25, [[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.9, 0.1]] * 25
    >>> decision_calibration_test(y_true, y_prob, matrices=[[0, 1], [4, 0]]).sentence
    'Decisions cost 0.250 and were announced to cost 0.450, a difference beyond chance (p = 0.032).'
    """

    announced: float
    incurred: float
    gap: inference.Estimate
    z: float
    p_value: float
    by_action: tuple[dict[str, Any], ...]
    picked: int = 1

    @property
    def sentence(self) -> str:
        """What a report says of it."""
        costs = f"Decisions cost {number(self.incurred)} and were announced to cost {number(self.announced)}"
        if math.isinf(self.z):
            return f"{costs}; a class of probability 0 occurred, beyond chance (p {p_value(self.p_value)})."
        if math.isnan(self.gap.interval[0]):
            return f"{costs}; one cluster holds too much of the weight to test the difference."
        if math.isnan(self.p_value):
            return f"{costs}; the probabilities leave no doubt to test."
        verdict = "beyond chance" if self.p_value < 1.0 - self.gap.confidence_level else "not beyond chance"
        among = "" if self.picked == 1 else f", corrected for selection among {self.picked:,}"
        return f"{costs}, a difference {verdict} (p {p_value(self.p_value)}{among})."

    def _records(self) -> list[dict[str, Any]]:
        return list(self.by_action)

    def __repr__(self) -> str:
        return f"DecisionCalibration(gap {self.gap.value:.4g}, z {self.z:.3g}, p {p_value(self.p_value)})"


def decision_calibration_test(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    matrices: ArrayLike,
    theta: CostsLike | None = None,
    matrix_weights: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> DecisionCalibration:
    """Test whether the actions that the probabilities ask for cost what these announce.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_prob : array_like of shape (n, classes)
        Probabilities; each row sums to 1.
    matrices, theta, matrix_weights, actions, labels
        As in :func:`evaluate_actions`.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    confidence_level : float, default 0.95
        Of the interval of the gap, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For draws of the classes where few rows, or a rare class, carry the costs.

    Returns
    -------
    DecisionCalibration

    Raises
    ------
    ValueError
        For rows that are not probabilities, unknown labels, or matrices of another shape.

    Notes
    -----
    Zhao, Kim, Sahoo, Ma and Ermon (2021), arXiv:2107.05719. Calibration for one matrix says nothing of another. The
    variance is that under the probabilities: with that of the sample, one test in ten of 100 rows is wrong at 5%.

    Examples
    --------
    >>> from stakes.actions import decision_calibration_test
    >>> y_true, y_prob = [0, 1, 0, 0] * 25, [[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.9, 0.1]] * 25
    >>> decision_calibration_test(y_true, y_prob, matrices=[[0, 1], [4, 0]])
    DecisionCalibration(gap -0.2, z -2.18, p = 0.032)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    level = check_level(confidence_level)
    rng = generator(random_state)
    problem = {"matrices": matrices, "theta": theta, "matrix_weights": matrix_weights}
    about = {"actions": actions, "labels": labels, "sample_weight": sample_weight}
    rows = read_rows(y_true, {"y_prob": y_prob}, **about, **problem)
    return calibration_of(rows, rows.probs["y_prob"], level, rng)


def calibration_of(
    rows: ActionRows, prob: Floats, level: float, rng: np.random.Generator, *, picked: int = 1
) -> DecisionCalibration:
    """Test the decisions of one model on clean rows, corrected for its selection among ``n_models``."""
    weight = rows.weight / rows.weight.sum()
    every = _Gap.of(prob, rows.problem.class_costs(prob), rows.index, weight)
    best = rows.best()
    beyond = np.maximum(every.announced + every.difference - best[rows.index], 0.0)  # what a class hides is incurred
    gaps = rows.cost_rows(every.difference[:, None], beyond[:, None], (rows.max_loss() - best)[:, None])
    gap = mean_estimates(gaps, {"gap": (0, -1)}, level)["gap"]
    z, p = _with_clusters(every, every.p_value(rng), gaps)
    found = [_by_action(rows, prob, a, beyond, rng) for a in range(len(rows.actions))]
    taken = [each for each in found if each is not None]
    adjusted = inference.holm(np.array([each["p_value"] for each in taken]))
    table = tuple(each | {"holm_p_value": min(picked * float(p), 1.0)} for each, p in zip(taken, adjusted, strict=True))
    announced = float(weight @ every.announced)
    return DecisionCalibration(announced, announced + gap.value, gap, z, min(picked * p, 1.0), table, picked)


@dataclass(frozen=True, eq=False, repr=False)
class _Gap:
    """Difference of incurred and expected cost of each row, and its variance under the probabilities."""

    prob: Floats
    difference: Floats
    announced: Floats
    deviation: Floats
    weight: Floats
    variance: Floats
    refuted: bool

    @classmethod
    def of(cls, prob: Floats, costs: Floats, index: Integers, weight: Floats) -> _Gap:
        # from the first class on: an action that costs the same whatever the class leaves no rounding to be tested
        beyond = costs - costs[:, :1]
        more = np.einsum("nk,nk->n", prob, beyond)
        announced, deviation = costs[:, 0] + more, beyond - more[:, None]
        variance = np.einsum("nk,nk,nk->n", prob, deviation, deviation)
        occurred = np.arange(len(index)), index
        difference, rounding = deviation[occurred], 1e-12 * np.abs(beyond).max(axis=1)
        refuted = bool(np.any((prob[occurred] == 0.0) & (np.abs(difference) > rounding)))
        return cls(prob, difference, announced, deviation, weight, weight**2 * variance, refuted)

    @property
    def total(self) -> float:
        return float(self.weight @ self.difference)

    @property
    def z(self) -> float:
        if self.refuted:
            return math.copysign(math.inf, self.total)
        spread = float(self.variance.sum())
        return self.total / math.sqrt(spread) if spread > 0.0 else math.nan

    def p_value(self, rng: np.random.Generator) -> float:
        """How often a gap would be as large by the probabilities: normal, but for large changes, which are drawn.

        A row costs what its most probable class does, and jumps where it is of another class. Large is a jump beyond
        what the smaller ones vary by, for these are all that varies in the draws without it. Such jumps are few: at
        each size 20 at most are expected, times the number of classes.
        """
        spread, normal = float(self.variance.sum()), math.erfc(abs(self.z) / math.sqrt(2.0))
        error, most = math.sqrt(spread), float(self.weight.max() * np.abs(self.deviation).max())
        if self.refuted or not 2.0 * most * math.sqrt(self.prob.shape[1]) > _LARGE * error > 0.0:
            return normal
        weight = self.weight / error  # all in standard errors
        usual = np.take_along_axis(self.deviation, self.prob.argmax(axis=1)[:, None], axis=1)
        jump = weight[:, None] * (self.deviation - usual)
        size = np.where(self.prob > 0.0, np.abs(jump), 0.0)
        large = size > _largest_small(size, self.prob)
        some = np.flatnonzero(large.any(axis=1))
        if not len(some):
            return normal
        centre, variance = _drawn(jump[some], self.prob[some], large[some], rng)
        centre += float(weight[some] @ usual[some, 0])
        variance += max(1.0 - float(self.variance[some].sum()) / spread, 0.0)
        far = max(abs(self.z) - _ROUNDED, 0.0)
        most = float(np.where(self.prob > 0.0, weight[:, None] * np.abs(self.deviation), 0.0).max())
        return min(_mean_tail(far, centre, variance), _bound(far, most))


def _largest_small(size: Floats, prob: Floats) -> float:
    """Largest jump that is no more than one of 20 equal ones that vary as much as it and all smaller ones."""
    variance = prob.max(axis=1)[:, None] * prob * size**2  # at least; by the inequality of Cauchy and Schwarz
    order = np.argsort(size, axis=None)
    sizes, until = size.ravel()[order], np.cumsum(variance.ravel()[order])
    return float(sizes[sizes <= _LARGE * np.sqrt(until)].max())  # of 0 at least, for the most probable class


def _drawn(jump: Floats, prob: Floats, large: Bools, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Mean and variance of the sum of all jumps, given the large ones of each draw."""
    small, share = np.where(large, 0.0, prob), np.where(large, prob, 0.0).sum(axis=1)
    left = small.sum(axis=1)
    mean = np.einsum("nk,nk->n", small, jump) / left
    variance = np.maximum(np.einsum("nk,nk,nk->n", small, jump, jump) / left - mean**2, 0.0)
    row, kind = np.nonzero(large)
    rate = np.log1p(share / left)[row] * prob[row, kind] / share[row]  # at least one event has that share
    more = jump[row, kind] - mean[row]
    order = settled_order(np.round(more, _DECIMALS), rate, variance[row])
    row, more, until = row[order], more[order], np.cumsum(rate[order])
    count = rng.poisson(_DRAWS * until[-1])
    event, draw = np.searchsorted(until[:-1], until[-1] * rng.random(count)), rng.integers(_DRAWS, size=count)
    first = np.unique(draw * len(jump) + row[event], return_index=True)[1]  # a row is of one class
    event, draw = event[first], draw[first]
    gone = np.bincount(draw, variance[row[event]], _DRAWS)
    return mean.sum() + np.bincount(draw, more[event], _DRAWS), np.maximum(variance.sum() - gone, 0.0)


def _mean_tail(far: float, centre: Floats, variance: Floats) -> float:
    """Mean probability that a normal number lies as far from 0, as by one more draw that does."""
    from scipy.special import ndtr

    error = np.sqrt(np.where(variance > _ROUNDED, variance, _ROUNDED**3))
    tails = ndtr((centre - far) / error) + ndtr((-centre - far) / error)
    return float(1.0 + tails.sum()) / (len(centre) + 1)


def _bound(far: float, largest: float) -> float:
    """Most that the probability of a sum so far from 0 can be: Bennett's inequality, on both sides."""
    more = largest * far
    return 2.0 * math.exp(-((1.0 + more) * math.log1p(more) - more) / largest / largest)


def _with_clusters(found: _Gap, p_value: float, gaps: inference.CostRows) -> tuple[float, float]:
    """Return z and the p-value; where rows are in clusters, by their errors if these are larger."""
    if gaps.clusters is None or not math.isfinite(found.z):
        return found.z, p_value
    spread = gaps.spread(np.array([0]), np.array([-1]))
    clustered = float(2.0 * spread.tail(np.array([abs(found.total)]))[0])
    error = np.sqrt(np.maximum(spread.variance[0], found.variance.sum()))
    return found.total / float(error), float(np.maximum(p_value, clustered))


def _by_action(
    rows: ActionRows, prob: Floats, action: int, beyond: Floats, rng: np.random.Generator
) -> dict[str, Any] | None:
    """Incurred and expected cost of one action, where rows cost ``beyond`` the least; None if it is never taken."""
    weight, taken = rows.weight / rows.weight.sum(), np.zeros(len(rows.index))
    for part, actions, counts in rows.problem.pieces(prob):
        taken[part] += sum(np.where(actions == action, count, 0.0) for _, count in counts)
    share = float(weight @ taken)
    if share == 0.0:
        return None
    found = _Gap.of(prob, rows.problem.class_costs(prob, action), rows.index, weight)
    announced, gap = float(weight @ found.announced) / share, found.total / share
    costs = {"announced": announced, "incurred": announced + gap, "gap": gap}
    most = (rows.max_loss() - rows.best())[:, None]
    gaps = rows.cost_rows(found.difference[:, None], (taken * beyond)[:, None], most)
    z, p = _with_clusters(found, found.p_value(rng), gaps)
    return {"action": rows.actions[action], "share": share, **costs, "z": z, "p_value": p}


# What acting on class probabilities costs, by model, class and action: the answer of ``evaluate_actions``.


@dataclass(frozen=True, eq=False, repr=False)
class ModelCosts(Tabular):
    """What acting on one model costs.

    Parameters
    ----------
    model : str
        Its name.
    cost, regret : Estimate
        Mean cost of a decision, and what it exceeds that of an oracle by.
    oracle : float
        Mean cost of the best action for each true class.
    best_constant : float
        Mean cost of the one action that is best for all rows in hindsight.
    skill : float
        1 - regret / regret of that action; nan where that has none.
    confusion : ndarray of shape (classes, actions)
        Share of the weight of each class that each action takes; over many matrices, their mean.
    action_costs : ndarray of shape (actions,)
        Part of the mean cost that each action makes.
    class_costs : ndarray of shape (classes,)
        Mean cost of a row of each class; nan for a class without rows.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> found = evaluate_actions(
    ...     [0, 2, 2] * 9,
    ...     [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0, 0.1, 0.9]] * 9,
    ...     matrices=[[0, 1, 2], [1, 0, 1], [5, 2, 0]],
    ... )
    >>> found["model"].confusion.round(3).tolist()
    [[0.333, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.333, 0.333]]
    """

    model: str
    cost: inference.Estimate
    regret: inference.Estimate
    oracle: float
    best_constant: float
    skill: float
    confusion: Floats
    action_costs: Floats
    class_costs: Floats

    def _records(self) -> list[dict[str, Any]]:
        ends = {"ci_low": self.cost.interval[0], "ci_high": self.cost.interval[1]}
        own = {"model": self.model, "cost": self.cost.value, "standard_error": self.cost.standard_error, **ends}
        rest = {"regret": self.regret.value, "best_constant": self.best_constant, "skill": self.skill}
        return [own | rest | {"note": self.cost.note}]


_RANKING = (
    *(TableColumn("rank", "#", "rank"), TableColumn("model", "model", "text")),
    TableColumn("cost", "cost", interval="cost"),
    TableColumn("gap", "vs best", "difference", interval="gap"),
    *(TableColumn("skill", "skill", "skill", 3), TableColumn("p_best", "is best", "probability")),
)
_CLASSES = (
    *(TableColumn("class", "class", "text"), TableColumn("share", "share", "share")),
    *(TableColumn("cost", "cost", "significant"), TableColumn("oracle", "least", "significant")),
)
_ACTIONS = (
    *(TableColumn("action", "action", "text"), TableColumn("share", "share", "share")),
    *(TableColumn("incurred", "cost", "significant"), TableColumn("announced", "announced", "significant")),
    TableColumn("holm_p_value", "p", "p"),
)


@dataclass(frozen=True, eq=False, repr=False)
class ActionEvaluation(Tabular):
    """Answer of :func:`evaluate_actions`; ``evaluation[name]`` holds what one model costs.

    Parameters
    ----------
    models : tuple of ModelCosts
        In the order given.
    rows : object
        The rows and matrices, for comparisons.
    confidence_level : float
        Of the intervals.
    incumbent : str or None
        The model named beforehand.
    n_tried : int or None
        How many models were tried on these rows.
    source : str
        Where the rows came from, for the report.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> found = evaluate_actions(
    ...     [0, 2, 2] * 9,
    ...     [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0, 0.1, 0.9]] * 9,
    ...     matrices=[[0, 1, 2], [1, 0, 1], [5, 2, 0]],
    ... )
    >>> round(found.cost, 6), found.oracle, round(found.regret, 6)
    (0.666667, 0.0, 0.666667)
    """

    models: tuple[ModelCosts, ...]
    rows: ActionRows
    cost_rows: inference.CostRows
    confidence_level: float
    incumbent: str | None = None
    n_tried: int | None = None
    source: str = ""

    def __getitem__(self, name: str) -> ModelCosts:
        return self.models[self._place(name)]

    def _place(self, name: str) -> int:
        names = [each.model for each in self.models]
        if name not in names:
            raise ValueError(f"model must be one of {', '.join(map(repr, names))}, got {name!r}.")
        return names.index(name)

    @property
    def best(self) -> ModelCosts:
        """The model of lowest mean cost, the first of equals."""
        return self._ranked[0]

    @property
    def _ranked(self) -> list[ModelCosts]:
        return [self.models[place] for place in ascending([each.cost.value for each in self.models])]

    @property
    def cost(self) -> float:
        """Mean cost of a decision by the best model."""
        return self.best.cost.value

    @property
    def oracle(self) -> float:
        """Mean cost of the best action for each true class."""
        return self.best.oracle

    @property
    def regret(self) -> float:
        """Cost of the best model minus that of the oracle."""
        return self.best.regret.value

    @property
    def skill(self) -> float:
        """Skill of the best model relative to the best constant action; nan if that has no regret."""
        return self.best.skill

    def confusion(self, model: str | None = None, backend: Any = None) -> Any:
        """Return the share of the weight of each class that each action takes, as a data frame.

        Parameters
        ----------
        model : str, optional
            By default the best.
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
        >>> found.confusion(backend="polars").columns
        ['class', '0', '1']
        """
        found = self.best if model is None else self[model]
        columns = {str(action): found.confusion[:, a] for a, action in enumerate(self.rows.actions)}
        return build_frame({"class": list(self.rows.classes), **columns}, backend)

    def by_class(self, model: str | None = None, backend: Any = None) -> Any:
        """Return share, mean cost and least cost of each class, as a data frame.

        Parameters
        ----------
        model : str, optional
            By default the best.
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
        >>> found.by_class(backend="polars")["cost"].to_list()
        [0.0, 0.0]
        """
        found = self.best if model is None else self[model]
        columns = {"share": self.rows.class_share, "cost": found.class_costs, "oracle": self.rows.best()}
        return build_frame({"class": list(self.rows.classes), **columns}, backend)

    def by_action(self, model: str | None = None, backend: Any = None) -> Any:
        """Return share of the decisions and mean cost of each action, as a data frame.

        Parameters
        ----------
        model : str, optional
            By default the best.
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            An action that is never taken has no cost (nan).

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
        >>> found.by_action(backend="polars")["share"].round(6).to_list()
        [0.5, 0.5]
        """
        found = self.best if model is None else self[model]
        share = found.confusion.sum(axis=0)
        with np.errstate(invalid="ignore"):
            columns = {"share": share, "cost": found.action_costs / share}
        return build_frame({"action": list(self.rows.actions), **columns}, backend)

    def compare(self, a: str, b: str) -> inference.Comparison:
        """Say whether one model costs less than another, on the same rows.

        Parameters
        ----------
        a, b : str
            Names of models.

        Returns
        -------
        Comparison
            a less b: negative means that a costs less.

        Raises
        ------
        ValueError
            If there is no such model.

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> models = {"a": [[0.7, 0.3], [0.2, 0.8]] * 9, "b": [[0.6, 0.4], [0.6, 0.4]] * 9}
        >>> evaluate_actions([0, 1] * 9, models, matrices=[[0, 1], [1, 0]]).compare("a", "b").difference
        -0.5
        """
        one, two = self._place(a), self._place(b)
        level, most = self.confidence_level, float(self.cost_rows.largest.max())
        found = mean_estimates(self._differences, {"difference": (one, two)}, level, (-most, most))["difference"]
        alike = np.array_equal(self.rows.probs[a], self.rows.probs[b])
        if alike and not math.isnan(found.interval[0]):  # no unseen row will tell them apart
            found = replace(found, interval=(0.0, 0.0), note="")
        spread = self._differences.spread(np.array([one]), np.array([two]))
        p_value = float(2.0 * spread.tail(np.array([abs(found.value)]))[0])
        rest = (found.value, found.standard_error, found.interval, min(p_value, 1.0), "cost", self.confidence_level)
        return inference.Comparison(a, b, *rest, found.note)

    @cached_property
    def _differences(self) -> inference.CostRows:
        """Costs to be compared with each other, for which what even the best action costs does not matter."""
        best, costs = self.rows.best(), self.cost_rows.costs
        beyond = np.maximum(costs - best[self.rows.index][:, None], 0.0)
        most = np.tile((self.rows.max_loss() - best)[:, None], len(self.models))
        return self.rows.cost_rows(costs, beyond, most, whole=False)

    def dominance(self, a: str, b: str) -> ActionDominance:
        """Say where along the segment of matrices one model costs less than another on these rows.

        Parameters
        ----------
        a, b : str
            Names of models.

        Returns
        -------
        ActionDominance

        Raises
        ------
        ValueError
            If there is no such model, or the matrices are no segment.

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> models = {"a": [[0.7, 0.3], [0.2, 0.8]] * 9, "b": [[0.6, 0.4], [0.6, 0.4]] * 9}
        >>> ends = [[[0, 0], [1, 0]], [[0, 1], [0, 0]]]
        >>> evaluate_actions([0, 1] * 9, models, matrices=ends, theta=(0, 1)).dominance("a", "b")
        ActionDominance(a costs no more than b anywhere, less on 50% of the segment of matrices; on average ...)
        """
        self._place(a), self._place(b)
        return dominance_of(self.rows, a, b)

    @cached_property
    def selection(self) -> inference.Selection:
        """Which model or single action is best, and what may be said of it although it was picked for that.

        The same as :func:`stakes.inference.select_best`, with each action taken for all rows ("always ...") in place of
        treating all and no one. Gains are negative costs.

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> models = {"a": [[0.7, 0.3], [0.2, 0.8]] * 9, "b": [[0.6, 0.4], [0.6, 0.4]] * 9}
        >>> evaluate_actions([0, 1] * 9, models, matrices=[[0, 1], [1, 0]]).selection.possible
        ('a',)
        """
        rows, names = self.rows, [each.model for each in self.models]
        single = [f"always {action}" for action in rows.actions]
        taken = next((name for name in names if name in single), None)
        if taken is not None:
            raise ValueError(f"y_prob must not call a model {taken!r}: that names an action for all rows.")
        costs = np.concatenate([self.cost_rows.costs, rows.problem.mean_matrix[rows.index]], axis=1)
        best, max_loss = rows.best()[:, None], rows.max_loss()[:, None]
        beyond = np.maximum(costs - best[rows.index], 0.0)
        ends = np.concatenate([np.tile(max_loss, len(names)), rows.problem.mean_matrix], axis=1) - best
        alone, apart = (rows.cost_rows(costs, beyond, ends, whole=whole) for whole in (True, False))
        contest = alone.contest((*names, *single), len(names))
        matrices = rows.problem.matrices
        limits: dict[str, Any] = {"lowest": float(matrices.min()), "highest": float(matrices.max())}
        contest = replace(contest, spread=partial(_spread, alone, apart), **limits)
        asked: dict[str, Any] = {"incumbent": self.incumbent, "n_tried": self.n_tried}
        return inference.select(contest, **asked, confidence_level=self.confidence_level, scale="cost")

    def calibration(self, model: str | None = None) -> DecisionCalibration:
        """Test whether the decisions by a model cost what its probabilities announce.

        Parameters
        ----------
        model : str, optional
            By default the best: as it was picked on these rows, its p-values are multiplied by the number of models
            tried.

        Returns
        -------
        DecisionCalibration

        Raises
        ------
        ValueError
            If there is no such model.

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 50, [[0.7, 0.3], [0.2, 0.8]] * 50, matrices=[[0, 1], [1, 0]])
        >>> found.calibration()
        DecisionCalibration(gap -0.25, z -5.81, p < 0.001)
        """
        name = self.best.model if model is None else self[model].model
        picked = max(len(self.models), self.n_tried or 1) if model is None else 1
        return calibration_of(self.rows, self.rows.probs[name], self.confidence_level, generator(0), picked=picked)

    @cached_property
    def conclusion(self) -> list[str]:
        """Plain sentences: which model to act on, how sure that is, what is left, whether costs are as announced.

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 50, [[0.7, 0.3], [0.2, 0.8]] * 50, matrices=[[0, 1], [1, 0]])
        >>> found.conclusion[-2]
        'With perfect knowledge a decision would cost 0, by the best single action 0.500: model saves 100% of what ...'
        """
        best = self.best
        each = "" if len(self.rows.problem.matrices) == 1 else "at each matrix "
        left = f"With perfect knowledge a decision would cost {number(best.oracle)}, by the best single action {each}"
        saved = f"saves {percent(best.skill)} of" if best.skill >= 0.0 else f"costs more, by {percent(-best.skill)} of"
        gained = "" if math.isnan(best.skill) else f": {best.model} {saved} what lies between"
        bill = self.calibration().sentence
        mine = bill if len(self.models) == 1 else f"{best.model}: {bill[0].lower()}{bill[1:]}"
        return [*self.selection.sentences, f"{left}{number(best.best_constant)}{gained}.", mine, *self._along()]

    def told(self) -> list[str]:
        """The conclusion with every long name of a model or action shortened."""
        long = [each.model for each in self.models] + [f"always {action}" for action in self.rows.actions]
        return [with_short_names(sentence, long) for sentence in self.conclusion]

    def _along(self) -> list[str]:
        """Sentence on where along a segment of matrices the best model is cheaper than each other model."""
        if self.rows.problem.theta is None:
            return []
        others = [each.model for each in self.models if each.model != self.best.model]
        return [f"On these rows, {self.dominance(self.best.model, other).sentence}" for other in others]

    def _records(self) -> list[dict[str, Any]]:
        return [each._records()[0] for each in self.models]

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return models, tables by class and action, comparisons with the best, and the conclusion as JSON.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str
            Infinite numbers stand as "inf" and "-inf", undefined ones as null.

        Examples
        --------
        >>> import json
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
        >>> sorted(json.loads(found.to_json())["by_class"]["model"][1]["taken"])
        ['0', '1']
        """
        best, names = self.best.model, [each.model for each in self.models]
        content = {
            "source": self.source,
            "rows": len(self.rows.index),
            "classes": list(map(str, self.rows.classes)),
            "actions": list(map(str, self.rows.actions)),
            "matrices": self.rows.problem.matrices.tolist(),
            "confidence_level": self.confidence_level,
            "models": self._records(),
            "by_class": {name: self.class_records(name) for name in names},
            "by_action": {name: self.calibration(name)._records() for name in names},
            "compared_with_best": [self.compare(name, best)._records()[0] for name in names if name != best],
            "selection": self.selection._records(),
            "conclusion": self.conclusion,
        }
        return delivered(json.dumps(json_ready(content), indent=2), path)

    def class_records(self, model: str) -> list[dict[str, Any]]:
        """Share, mean cost, least cost, and shares of the actions taken for each class, as plain values."""
        found, actions = self[model], list(map(str, self.rows.actions))
        columns = self.rows.class_share, found.class_costs, self.rows.best(), found.confusion
        records = []
        for name, share, cost, least, shares in zip(self.rows.classes, *columns, strict=True):
            taken = dict(zip(actions, shares.tolist(), strict=True))
            numbers = {"share": float(share), "cost": float(cost), "oracle": float(least)}
            records.append({"class": str(name), **numbers, "taken": taken})
        return records

    def tables(self, model: str | None = None) -> dict[str, ResultTable]:
        """Return the tables that the terminal and the report show, as raw numbers.

        Parameters
        ----------
        model : str, optional
            Whose classes and actions; by default the best, as in :meth:`calibration`.

        Returns
        -------
        dict of str to ResultTable
            "ranking" of models and single actions, "classes" and "actions". Their ``rows`` are computed at first use.

        Raises
        ------
        ValueError
            If there is no such model.

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
        >>> [(row["model"], row["cost"]) for row in found.tables()["ranking"].rows]
        [('model', 0.0), ('always 0', 0.5), ('always 1', 0.5)]
        """
        own, actions = (self.best if model is None else self[model]).model, list(map(str, self.rows.actions))
        taken = tuple(TableColumn(f"taken {action}", action, "share") for action in actions)
        decimals = decimals_for([each.cost.standard_error for each in self.models])
        ranking = tuple(replace(each, decimals=decimals if each.interval else each.decimals) for each in _RANKING)
        classes = f"By true class, decided by {own}"
        return {
            "ranking": ResultTable("Models by mean cost", ranking, self._ranking_rows),
            "classes": ResultTable(classes, (*_CLASSES, *taken), partial(self._class_rows, own)),
            "actions": ResultTable(f"By action of {own}", _ACTIONS, lambda: self.calibration(model)._records()),
        }

    def _ranking_rows(self) -> list[dict[str, Any]]:
        chosen, best, rows = self.selection, self.best.model, []
        ranked = [each.model for each in self._ranked]
        for rank, name in enumerate((*ranked, *chosen.references), start=1):
            low, high = chosen.intervals[name]
            row = {"rank": None, "model": name, "cost": chosen.costs[name], "cost_low": low, "cost_high": high}
            row |= {"p_best": chosen.p_best[name], "skill": None, "gap": None}
            if name in ranked:
                row |= {"rank": rank, "skill": self[name].skill}
            if name in ranked and name != best:
                gap = self.compare(name, best)
                row |= {"gap": gap.difference, "gap_low": gap.interval[0], "gap_high": gap.interval[1]}
            rows.append(row)
        return rows

    def _class_rows(self, model: str) -> list[dict[str, Any]]:
        rows = []
        for row in self.class_records(model):
            share, taken = row["share"], row.pop("taken")
            shares = {f"taken {action}": part / share if share else None for action, part in taken.items()}
            rows.append(row | shares | ({} if share else {"cost": None}))
        return rows

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw what each model costs by class, with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to the display, such as ``legend=None``.

        Returns
        -------
        ActionCostsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
        >>> found.plot().ax_.get_xlabel()
        'Cost per decision'
        """
        return draw(self, ax, **options)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report: one HTML file that needs no network.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
        >>> found.to_html()[:15]
        '<!doctype html>'
        """
        page: str = report(self, path)
        return page

    def __repr__(self) -> str:
        costs = ", ".join(f"{each.model} {each.cost.value:.4g}" for each in self.models)
        return f"ActionEvaluation({costs}; oracle {self.oracle:.4g})"


def _spread(alone: inference.CostRows, apart: inference.CostRows, a: Integers, b: Integers) -> Any:
    """Spread of differences, for which what even the best action costs does not matter, or of costs (b = -1)."""
    return (alone if np.any(b < 0) else apart).spread(a, b)


# Costs of acting on class probabilities with many actions: by model, class and action, with intervals.

_BLOCK = 1 << 14


def evaluate_actions(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike],
    *,
    matrices: ArrayLike,
    theta: CostsLike | None = None,
    matrix_weights: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    incumbent: str | None = None,
    n_tried: int | None = None,
    confidence_level: float = 0.95,
) -> ActionEvaluation:
    """Say what acting on class probabilities costs where there are many actions.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_prob : array_like of shape (n, classes) or mapping of str to array_like
        Probabilities of one model, or by model; each row sums to 1.
    matrices : array_like of shape (classes, actions), (m, classes, actions) or (2, classes, actions)
        Cost of each action (column) where the class (row) is true: one matrix, a list, or the ends of a segment. Rows
        are in the order of ``labels``; frames of pandas whose index names the classes are taken by name.
    theta : CostDistribution, tuple of float or float, optional
        How much each point of the segment counts: (1 - theta) * first + theta * second.
    matrix_weights : array_like of shape (m,), optional
        Plausibility of each matrix of a list.
    actions : array_like of str, optional
        Names of the columns of the matrices; by default those of a frame, or, where there are as many, the classes in
        the order of the rows as written.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order, which an
        ordered Categorical must have too. Whole numbers below the number of columns are column numbers, unless a frame
        names its columns by other whole numbers that hold all labels. More rows than columns, none of class 0, need
        it, for they may count from 1.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the errors.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients: only rows of different clusters are independent.
    incumbent : str, optional
        A model that was named before these rows were seen, such as the one in use.
    n_tried : int, optional
        How many models were tried on these rows, those not shown included.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).

    Returns
    -------
    ActionEvaluation

    Raises
    ------
    ValueError
        For rows that are not probabilities, unknown labels, or matrices of another shape.

    Warns
    -----
    UserWarning
        Where actions are not named, and some class has a cheaper action than its own.

    Notes
    -----
    Each row takes the action with the lowest expected cost by its probabilities, the first of equals, at each matrix.
    Adding a constant to a row of a matrix changes no decision and no regret. The best of several models looks better
    than it is: ``.selection`` and ``.conclusion`` allow for that. Where few rows of a class show what is dear there,
    intervals are widened for costs that were not seen, and their notes say so.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> y_true, y_prob = [0, 2, 2] * 9, [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0, 0.1, 0.9]] * 9
    >>> evaluate_actions(y_true, y_prob, matrices=[[0, 1, 2], [1, 0, 1], [5, 2, 0]])
    ActionEvaluation(model 0.6667; oracle 0)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    level = check_level(confidence_level)
    problem = {"matrices": matrices, "theta": theta, "matrix_weights": matrix_weights}
    about = {"actions": actions, "labels": labels, "sample_weight": sample_weight, "clusters": clusters}
    rows = read_rows(y_true, y_prob, **about, **problem)
    if len(rows.index) < 2:
        raise ValueError(f"y_true must hold at least two rows, got {len(rows.index)}.")
    inference.check_contest(tuple(rows.probs), incumbent, n_tried)
    return replace(_evaluated(rows, level), incumbent=incumbent, n_tried=n_tried)


def _evaluated(rows: ActionRows, level: float) -> ActionEvaluation:
    best, share = rows.best(), rows.class_share
    costs = np.stack([rows.problem.losses(prob, rows.index) for prob in rows.probs.values()], axis=1)
    regret = np.maximum(costs - best[rows.index][:, None], 0.0)
    pairs = {name: (k, -1) for k, name in enumerate(rows.probs)}
    most = np.tile((rows.max_loss() - best)[:, None], len(pairs))
    regrets = mean_estimates(rows.cost_rows(regret, regret, most, whole=False), pairs, level, (0.0, most.max()))
    cost_rows = rows.cost_rows(costs, regret, most)
    estimates = mean_estimates(cost_rows, pairs, level, (best.min(), rows.max_loss().max()))
    oracle, single = float(share @ best), float(share @ rows.constant())
    some = single - oracle > _ROUNDING * float(np.abs(rows.problem.matrices).max())
    found = []
    for k, (name, prob) in enumerate(rows.probs.items()):
        skill = 1.0 - regrets[name].value / (single - oracle) if some else math.nan
        compared, tables = (oracle, single, skill), (*_tables(rows, prob), _class_costs(rows, costs[:, k]))
        found.append(ModelCosts(name, estimates[name], regrets[name], *compared, *tables))
    return ActionEvaluation(tuple(found), rows, cost_rows, level)


def _tables(rows: ActionRows, prob: Floats) -> tuple[Floats, Floats]:
    """Share of the weight by class and action, and the contribution of each action to the mean cost."""
    k, a = rows.problem.matrices.shape[1:]
    weight = rows.weight / rows.weight.sum()
    shares, costs = np.zeros(k * a), np.zeros(a)
    for part in blocks(len(weight), _BLOCK):
        for some, action, counts in rows.problem.pieces(prob[part]):
            index, mine = rows.index[part][some], weight[part][some]
            for m, count in counts:
                shares += np.bincount(index * a + action, mine * count, k * a)
                costs += np.bincount(action, mine * count * rows.problem.matrices[m][index, action], a)
    return shares.reshape(k, a), costs


def _class_costs(rows: ActionRows, costs: Floats) -> Floats:
    sums = [np.bincount(rows.index, part, len(rows.classes)) for part in (rows.weight * costs, rows.weight)]
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[0] / sums[1], dtype=np.float64)
