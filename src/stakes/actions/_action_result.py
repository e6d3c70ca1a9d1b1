"""What acting on class probabilities costs, by model, class and action: the answer of ``evaluate_actions``."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.actions._decision_calibration import DecisionCalibration, calibration_of
from stakes.actions._dominance import ActionDominance, dominance_of
from stakes.actions._estimates import mean_estimates
from stakes.core.random_state import generator
from stakes.inference import Comparison, Contest, Estimate, select
from stakes.shown.faces import draw, report
from stakes.shown.frames import build_frame
from stakes.shown.tabular import Tabular, json_ready
from stakes.shown.text import LONGEST_NAME
from stakes.shown.words import number, percent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from stakes.actions._problem import ActionRows
    from stakes.inference import CostRows, Selection

    Floats = NDArray[np.float64]


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
        rest = {"regret": self.regret.value, "best_constant": self.best_constant, "skill": self.skill}
        return [own | rest | {"note": self.cost.note}]


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
    cost_rows: CostRows
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
        level, most = self.confidence_level, float(self.cost_rows.largest.max())
        found = mean_estimates(self.cost_rows, {"difference": (a, b)}, level, (-most, most))["difference"]
        spread = self.cost_rows.spread(np.array([a]), np.array([b]))
        p_value = float(2.0 * spread.tail(np.array([abs(found.value)]))[0])
        rest = (found.value, found.standard_error, found.interval, min(p_value, 1.0), "cost", self.confidence_level)
        return Comparison(first, second, *rest, found.note)

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
        ActionDominance(a costs no more than b anywhere, less on 50% of the segment of matrices; on average ...)
        """
        self._place(first), self._place(second)
        return dominance_of(self.rows, first, second)

    @cached_property
    def selection(self) -> Selection:
        """Which model or single action is best, and what may be said of it although it was picked for that.

        The same as :func:`stakes.select_best`, with each action taken for all rows ("always ...") in place of treating
        all and no one. Where a cost is negative, of regrets.

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
            raise ValueError(f"y_probs must not call a model {taken!r}: that names an action for all rows.")
        costs = np.concatenate([self.cost_rows.costs, rows.problem.mean_matrix[rows.index]], axis=1)
        scale = "cost" if rows.problem.matrices.min() >= 0.0 else "regret"
        best, worst = rows.best()[:, None], rows.worst()[:, None]
        beyond = np.maximum(costs - best[rows.index], 0.0)
        ends = np.concatenate([np.tile(worst, len(names)), rows.problem.mean_matrix], axis=1) - best
        found = rows.cost_rows(costs if scale == "cost" else beyond, beyond, ends, whole=scale == "cost")
        most = float(rows.problem.matrices.max() - min(rows.problem.matrices.min(), 0.0))
        contest = Contest(
            (*names, *single), len(names), found.means, found.covariance(), len(costs), found.spread, most
        )
        return select(
            contest,
            incumbent=self.incumbent,
            n_tried=self.n_tried,
            confidence_level=self.confidence_level,
            scale=scale,
        )

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
        saved = "" if math.isnan(best.skill) else f": {best.model} saves {percent(best.skill)} of what lies between"
        bill = self.calibration().sentence
        mine = bill if len(self.models) == 1 else f"{best.model}: {bill[0].lower()}{bill[1:]}"
        return [*self.selection.sentences, f"{left}{number(best.best_constant)}{saved}.", mine, *self._along()]

    def told(self, show: Callable[[str], str]) -> list[str]:
        """The conclusion with every long name of a model or action as ``show`` writes it."""
        long = [each.model for each in self.models] + [f"always {action}" for action in self.rows.actions]
        found = self.conclusion
        for name in sorted(long, key=len, reverse=True):
            if len(name) > LONGEST_NAME:
                found = [sentence.replace(name, show(name)) for sentence in found]
        return found

    def _along(self) -> list[str]:
        """Where along a segment of matrices the best model costs less than each other one."""
        if self.rows.problem.theta is None:
            return []
        others = [each.model for each in self.models if each.model != self.best.model]
        return [f"On these rows, {self.dominance(self.best.model, other).sentence}" for other in others]

    def _records(self) -> list[dict[str, Any]]:
        return [each._records()[0] for each in self.models]

    def to_json(self) -> str:
        """Return models, tables by class and action, comparisons with the best, and the conclusion as JSON.

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
        return json.dumps(json_ready(content), indent=2)

    def class_records(self, model: str) -> list[dict[str, Any]]:
        """Share, mean cost, least cost, and shares of the actions taken for each class, as plain values."""
        found, actions = self[model], list(map(str, self.rows.actions))
        columns = zip(self.rows.classes, self.rows.class_share, found.class_costs, self.rows.best(), strict=True)
        return [
            {
                "class": str(name),
                "share": float(share),
                "cost": float(cost),
                "oracle": float(least),
                "taken": dict(zip(actions, taken.tolist(), strict=True)),
            }
            for (name, share, cost, least), taken in zip(columns, found.confusion, strict=True)
        ]

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

    def to_html(self, path: str | Path) -> Path:
        """Write the report: one HTML file that needs no network.

        Parameters
        ----------
        path : str or Path
            Where to write; written beside and renamed, so that no half-written file is left.

        Returns
        -------
        Path
            The file written.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = found.to_html(pathlib.Path(folder) / "report.html")
        """
        return report(self, path)

    def __repr__(self) -> str:
        costs = ", ".join(f"{each.model} {each.cost.value:.4g}" for each in self.models)
        return f"ActionEvaluation({costs}; oracle {self.oracle:.4g})"
