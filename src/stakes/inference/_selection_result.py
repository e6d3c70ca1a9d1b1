"""What may be said of the best of many decisions, as numbers and as sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stakes.shown.tabular import Tabular


@dataclass(frozen=True)
class Against:
    """The chosen decision beside one that was named beforehand.

    Parameters
    ----------
    difference : float
        Cost of the chosen one less that of the other: negative means that the chosen one costs less.
    limit : float
        Upper limit of the difference, valid for everything named beforehand and although the chosen one was picked.

    Examples
    --------
    >>> from stakes.inference import Against
    >>> Against(-0.02, -0.01).shown
    True
    """

    difference: float
    limit: float

    @property
    def shown(self) -> bool:
        """Whether the chosen decision is shown to cost less."""
        return self.limit < 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Tabular):
    """Which decision is best on these rows, and what may be said of it although it was picked for that.

    Parameters
    ----------
    chosen : str
        The decision with the lowest cost: a model, "treat all" or "treat none", which come first where costs are equal.
    tied : tuple of str
        All decisions with that same lowest cost, the chosen one among them.
    best_model : str
        The model with the lowest cost.
    cost : float
        Of the chosen decision on these rows.
    corrected_cost : float
        The same after allowing for its having been picked.
    interval : tuple of float
        For the cost of the chosen decision, simultaneous and so valid after selection: around ``cost``, not around
        ``corrected_cost``.
    possible : tuple of str
        The best decision is among these with the stated confidence.
    p_best : dict of str to float
        Probability that each decision is the best, by a flat prior; identical decisions share theirs.
    expected_regret : float
        What choosing now is expected to cost more than the truly best decision would.
    against : dict of str to Against
        The chosen decision against the incumbent, "treat all" and "treat none".
    costs, intervals, p_values : dict of str
        Of each decision: cost, simultaneous interval (all of them hold at once), and one-sided p-value for costing more
        than the chosen one, adjusted by Holm.
    pointwise : dict of str
        Interval of the cost of each decision alone, which does not allow for the choice.
    n_models, n_rows : int
        Models shown, and rows.
    n_tried : int or None
        Models tried on these rows, where it was said.
    incumbent : str or None
        The model named beforehand.
    critical_value : float
        How many standard errors the interval reaches.
    confidence_level : float
        Of the set and of the intervals.
    scale : str
        "regret", "integral" or "loss".
    per : float
        Number of decisions that costs are counted in.
    unit : str
        What costs are counted per: a decision, or money at stake.
    note : str
        Where few rows carry the interval; empty otherwise.
    sentences : tuple of str
        What a report says of it.

    Examples
    --------
    >>> from stakes import select_best
    >>> y_true = [0, 1, 0, 1] * 50
    >>> found = select_best(y_true, {"a": [0.1, 0.8, 0.3, 0.6] * 50, "b": [0.4, 0.6, 0.5, 0.4] * 50}, costs=(0.2, 0.6))
    >>> found
    Selection(a, the only possible best of 4 decisions, cost 0.01562 [0.004002, 0.02725])
    """

    chosen: str
    tied: tuple[str, ...]
    best_model: str
    cost: float
    corrected_cost: float
    interval: tuple[float, float]
    possible: tuple[str, ...]
    p_best: dict[str, float]
    expected_regret: float
    against: dict[str, Against]
    costs: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    p_values: dict[str, float]
    pointwise: dict[str, tuple[float, float]]
    n_models: int
    n_rows: int
    n_tried: int | None
    incumbent: str | None
    critical_value: float
    confidence_level: float
    scale: str = "regret"
    per: float = 1.0
    unit: str = "decision"
    note: str = ""
    sentences: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The headline of a report."""
        return " ".join(self.sentences)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.costs)[: self.n_models]

    @property
    def references(self) -> tuple[str, ...]:
        """Names of the references that compete."""
        return tuple(self.costs)[self.n_models :]

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "decision": name,
                "cost": cost,
                "ci_low": self.pointwise[name][0],
                "ci_high": self.pointwise[name][1],
                "simultaneous_low": self.intervals[name][0],
                "simultaneous_high": self.intervals[name][1],
                "may_be_best": name in self.possible,
                "p_best": self.p_best[name],
                "p_value_vs_chosen": self.p_values[name],
            }
            for name, cost in sorted(self.costs.items(), key=lambda item: item[1])
        ]

    def __repr__(self) -> str:
        count = len(self.costs)
        place = f"the only possible best of {count} decisions"
        if len(self.possible) > 1:
            place = f"one of {len(self.possible)} that may be the best of {count} decisions"
        return (
            f"Selection({self.chosen}, {place}, cost {self.cost:.4g} [{self.interval[0]:.4g}, {self.interval[1]:.4g}])"
        )
