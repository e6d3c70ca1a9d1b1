"""Does acting on the probabilities cost what they announce? For stated matrices, over all rows and action by action."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.actions._estimates import mean_estimates
from stakes.actions._problem import read_rows
from stakes.core.random_state import generator, settled_order
from stakes.core.row_order import check_same_order
from stakes.core.validation import check_level
from stakes.inference import holm
from stakes.shown.tabular import Tabular
from stakes.shown.words import number, p_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.actions._problem import ActionRows
    from stakes.costs import CostsLike
    from stakes.inference import Estimate

    Floats = NDArray[np.float64]

_ENOUGH = 20.0  # equal rows that carry the variance, from which on the test is normal
_DRAWS, _MOST_DRAWN = 1999, 200


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
        Test that the gap is zero, by the variance that the probabilities imply; nan where they leave no doubt.
    by_action : tuple of dict
        For each action taken: its share, announced and incurred mean cost, gap, z, p-value and Holm's p-value.
    picked : int, default 1
        Among how many models this one was picked on these rows: the p-value and Holm's are multiplied by it.

    Examples
    --------
    >>> from stakes.actions import decision_calibration_test
    >>> y_true, y_prob = [0, 1, 0, 0] * 25, [[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.9, 0.1]] * 25
    >>> decision_calibration_test(y_true, y_prob, matrices=[[0, 1], [4, 0]]).sentence
    'Decisions cost 0.250 and were announced to cost 0.450, a difference beyond chance (p = 0.03).'
    """

    announced: float
    incurred: float
    gap: Estimate
    z: float
    p_value: float
    by_action: tuple[dict[str, Any], ...]
    picked: int = 1

    @property
    def sentence(self) -> str:
        """What a report says of it."""
        costs = f"Decisions cost {number(self.incurred)} and were announced to cost {number(self.announced)}"
        if math.isnan(self.p_value):
            return f"{costs}; the probabilities leave no doubt to test."
        verdict = "beyond chance" if self.p_value < 1.0 - self.gap.confidence_level else "not beyond chance"
        among = "" if self.picked == 1 else f", as it was picked among {self.picked:,}"
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
    weights: ArrayLike | None = None,
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
    matrices, theta, weights, actions, labels
        As in :func:`evaluate_actions`.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    confidence_level : float, default 0.95
        Of the interval of the gap, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For draws of the classes where few rows carry the costs of an action.

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
    DecisionCalibration(gap -0.2, z -2.18, p = 0.03)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    level = check_level(confidence_level)
    rng = generator(random_state)
    rows = read_rows(
        y_true,
        {"y_prob": y_prob},
        matrices=matrices,
        theta=theta,
        weights=weights,
        actions=actions,
        labels=labels,
        sample_weight=sample_weight,
    )
    return calibration_of(rows, rows.probs["y_prob"], level, rng)


def calibration_of(
    rows: ActionRows, prob: Floats, level: float, rng: np.random.Generator, *, picked: int = 1
) -> DecisionCalibration:
    """Test the decisions of one model on clean rows, where it was picked on these among so many."""
    weight = rows.weight / rows.weight.sum()
    every = _Gap.of(prob, rows.problem.class_costs(prob), rows.index, weight)
    best = rows.best()
    beyond = np.maximum(every.announced + every.difference - best[rows.index], 0.0)  # what a class hides is incurred
    gaps = rows.cost_rows(every.difference[:, None], beyond[:, None], (rows.worst() - best)[:, None])
    gap = mean_estimates(gaps, {"gap": (0, -1)}, level)["gap"]
    found = [_by_action(rows, prob, a, rng) for a in range(len(rows.actions))]
    taken = [each for each in found if each is not None]
    adjusted = holm(np.array([each["p_value"] for each in taken]))
    table = tuple(each | {"holm_p_value": min(picked * float(p), 1.0)} for each, p in zip(taken, adjusted, strict=True))
    announced = float(weight @ every.announced)
    p = min(picked * every.p_value, 1.0)
    return DecisionCalibration(announced, announced + gap.value, gap, every.z, p, table, picked)


@dataclass(frozen=True, eq=False)
class _Gap:
    """Difference of incurred and announced cost of each row, and its spread under the probabilities."""

    difference: Floats
    announced: Floats
    deviation: Floats
    weight: Floats
    variance: Floats

    @classmethod
    def of(cls, prob: Floats, costs: Floats, index: NDArray[np.intp], weight: Floats) -> _Gap:
        # from the first class on: an action that costs the same whatever the class leaves no rounding to be tested
        beyond = costs - costs[:, :1]
        more = np.einsum("nk,nk->n", prob, beyond)
        announced, deviation = costs[:, 0] + more, beyond - more[:, None]
        variance = np.einsum("nk,nk,nk->n", prob, deviation, deviation)
        return cls(deviation[np.arange(len(index)), index], announced, deviation, weight, weight**2 * variance)

    @property
    def total(self) -> float:
        return float(self.weight @ self.difference)

    @property
    def z(self) -> float:
        spread = float(self.variance.sum())
        return self.total / math.sqrt(spread) if spread > 0.0 else math.nan

    @property
    def p_value(self) -> float:
        return math.erfc(abs(self.z) / math.sqrt(2.0)) if math.isfinite(self.z) else math.nan

    def small_p(self, prob: Floats, rng: np.random.Generator) -> float:
        """The same where few rows carry the variance: their classes are drawn, the rest is taken as normal."""
        largest = float(self.variance.max(initial=0.0))
        if not 0.0 < float(self.variance.sum()) < _ENOUGH * largest:
            return self.p_value
        order = settled_order(-self.variance, *prob.T, self.weight)
        top, rest = order[:_MOST_DRAWN], order[_MOST_DRAWN:]
        drawn = math.sqrt(float(self.variance[rest].sum())) * rng.standard_normal(_DRAWS)
        for i in top[self.variance[top] > 0.0]:
            share = prob[i] / prob[i].sum()
            drawn += self.weight[i] * self.deviation[i][rng.choice(len(share), _DRAWS, p=share)]
        as_far = np.abs(drawn) >= abs(self.total) - 1e-12 * math.sqrt(float(self.variance.sum()))  # rounding apart
        return float(1 + np.count_nonzero(as_far)) / (_DRAWS + 1)


def _by_action(rows: ActionRows, prob: Floats, action: int, rng: np.random.Generator) -> dict[str, Any] | None:
    """What one action costs and was announced to; nothing where it is never taken."""
    weight = rows.weight / rows.weight.sum()
    share = sum(
        float(weight[part] @ np.where(taken == action, count, 0.0))
        for part, taken, counts in rows.problem.pieces(prob)
        for _, count in counts
    )
    if share == 0.0:
        return None
    found = _Gap.of(prob, rows.problem.class_costs(prob, action), rows.index, weight)
    announced, gap = float(weight @ found.announced) / share, found.total / share
    costs = {"announced": announced, "incurred": announced + gap, "gap": gap}
    return {"action": rows.actions[action], "share": share, **costs, "z": found.z, "p_value": found.small_p(prob, rng)}
