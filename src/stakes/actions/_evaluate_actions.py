"""What acting on class probabilities costs where there are many actions: by model, class and action, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.actions._dominance import ActionDominance, dominance_of
from stakes.actions._estimates import mean_estimates
from stakes.actions._problem import read_rows
from stakes.core.sums import blocks
from stakes.core.validation import check_unit
from stakes.inference import Comparison, Estimate
from stakes.shown.frames import build_frame
from stakes.shown.tabular import Tabular
from stakes.shown.words import number, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from stakes.actions._problem import ActionRows
    from stakes.costs import CostsLike
    from stakes.inference import CostRows

    Floats = NDArray[np.float64]

_BLOCK = 1 << 14


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
    cost: Estimate
    regret: Estimate
    oracle: float
    best_constant: float
    skill: float
    confusion: Floats
    action_costs: Floats
    class_costs: Floats

    def _records(self) -> list[dict[str, Any]]:
        ends = {"ci_low": self.cost.interval[0], "ci_high": self.cost.interval[1]}
        own = {"model": self.model, "cost": self.cost.value, "standard_error": self.cost.standard_error, **ends}
        return [own | {"regret": self.regret.value, "best_constant": self.best_constant, "skill": self.skill}]


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
    cost_rows: CostRows
    confidence_level: float

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
        return min(self.models, key=lambda each: each.cost.value)

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
        """What the best model costs beyond the oracle."""
        return self.best.regret.value

    @property
    def skill(self) -> float:
        """Of the best model against the best constant action; nan where that has no regret."""
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

    def compare(self, first: str, second: str) -> Comparison:
        """Say whether one model costs less than another, on the same rows.

        Parameters
        ----------
        first, second : str
            Names of models.

        Returns
        -------
        Comparison
            First less second: negative means that the first costs less.

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
        a, b = self._place(first), self._place(second)
        found = mean_estimates(self.cost_rows, {"difference": (a, b)}, self.confidence_level)["difference"]
        spread = self.cost_rows.spread(np.array([a]), np.array([b]))
        p_value = float(2.0 * spread.tail(np.array([abs(found.value)]))[0])
        rest = (found.value, found.standard_error, found.interval, min(p_value, 1.0), "cost", self.confidence_level)
        return Comparison(first, second, *rest)

    def dominance(self, first: str, second: str) -> ActionDominance:
        """Say where along the segment of matrices one model costs less than another on these rows.

        Parameters
        ----------
        first, second : str
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
        ActionDominance(a costs no more than b anywhere, less on 50% of the segment; difference -0.0975)
        """
        self._place(first), self._place(second)
        return dominance_of(self.rows, first, second)

    @property
    def sentence(self) -> str:
        """What a report says of it."""
        best, (low, high) = self.best, (number(end) for end in self.best.cost.interval)
        many = f"Of {len(self.models)} models, {best.model} costs least on these rows: a decision costs"
        start = many if len(self.models) > 1 else f"A decision by {best.model} costs"
        skill = "" if math.isnan(best.skill) else f", and {percent(best.skill)} of what lies between is saved"
        return (
            f"{start} {number(best.cost.value)} ({self.confidence_level:.0%} interval {low} to {high}); with perfect "
            f"knowledge it would cost {number(best.oracle)}, with the best single action "
            f"{number(best.best_constant)}{skill}."
        )

    def _records(self) -> list[dict[str, Any]]:
        return [each._records()[0] for each in self.models]

    def __repr__(self) -> str:
        costs = ", ".join(f"{each.model} {each.cost.value:.4g}" for each in self.models)
        return f"ActionEvaluation({costs}; oracle {self.oracle:.4g})"


def evaluate_actions(
    y_true: ArrayLike,
    y_probs: ArrayLike | Mapping[str, ArrayLike],
    *,
    matrices: ArrayLike,
    theta: CostsLike | None = None,
    weights: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> ActionEvaluation:
    """Say what acting on class probabilities costs where there are many actions.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_probs : array_like of shape (n, classes) or mapping of str to array_like
        Probabilities of one model, or by model; each row sums to 1.
    matrices : array_like of shape (classes, actions), (m, classes, actions) or (2, classes, actions)
        Cost of each action (column) where the class (row) is true: one matrix, a list, or the ends of a segment.
    theta : CostDistribution, tuple of float or float, optional
        How much each point of the segment counts: (1 - theta) * first + theta * second.
    weights : array_like of shape (m,), optional
        Plausibility of each matrix of a list.
    actions : array_like of str, optional
        Names of the columns of the matrices; by default the classes, where there are as many.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the errors.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients: only rows of different clusters are independent.
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
        Where actions are named like the classes and some class has a cheaper action than its own.

    Notes
    -----
    Each row takes the action with the lowest expected cost by its probabilities, the first of equals, at each matrix.
    Adding a constant to a row of a matrix changes no decision and no regret. The best of several models looks better
    than it is.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> y_true, y_prob = [0, 2, 2] * 9, [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0, 0.1, 0.9]] * 9
    >>> evaluate_actions(y_true, y_prob, matrices=[[0, 1, 2], [1, 0, 1], [5, 2, 0]])
    ActionEvaluation(model 0.6667; oracle 0)
    """
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    rows = read_rows(
        y_true,
        y_probs,
        matrices=matrices,
        theta=theta,
        weights=weights,
        actions=actions,
        labels=labels,
        sample_weight=sample_weight,
        clusters=clusters,
    )
    if len(rows.index) < 2:
        raise ValueError(f"y_true must hold at least two rows, got {len(rows.index)}.")
    best, constant, share = rows.best(), rows.constant(), rows.class_share
    costs = np.stack([rows.problem.losses(prob, rows.index) for prob in rows.probs.values()], axis=1)
    regret = np.maximum(costs - best[rows.index][:, None], 0.0)
    spread = np.array([rows.problem.matrices.max() - rows.problem.matrices.min()])
    pairs = {name: (k, -1) for k, name in enumerate(rows.probs)}
    regrets = mean_estimates(rows.cost_rows(regret, np.tile(spread, len(pairs))), pairs, level, (0.0, math.inf))
    cost_rows = rows.cost_rows(costs, np.tile(spread, len(pairs)))
    estimates = mean_estimates(cost_rows, pairs, level)
    oracle, single = float(share @ best), float(share @ constant)
    found = [
        ModelCosts(
            name,
            estimates[name],
            regrets[name],
            oracle,
            single,
            1.0 - regrets[name].value / (single - oracle) if single > oracle else math.nan,
            *_tables(rows, rows.probs[name]),
            _class_costs(rows, costs[:, k]),
        )
        for k, name in enumerate(pairs)
    ]
    return ActionEvaluation(tuple(found), rows, cost_rows, level)


def _tables(rows: ActionRows, prob: Floats) -> tuple[Floats, Floats]:
    """Share of the weight by class and action, and the part of the mean cost that each action makes."""
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
