"""Which model has the lowest regret at each cost ratio: the lower envelope of their regret curves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.regret import check_harm, check_rule
from stakes.core.score_table import ScoreTable
from stakes.core.validation import check_flag, check_kind, check_unit
from stakes.costs import as_costs
from stakes.curves._decision import error_pieces
from stakes.curves._envelope import lower_envelope
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.regret import Rule
    from stakes.costs import CostDistribution, CostsLike

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Pieces = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class BestByCost(Tabular):
    """The model with the lowest regret at every cost ratio: the lower envelope of the regret curves.

    Parameters
    ----------
    models : tuple of str
        Names, in the order given.
    knots : ndarray of shape (k + 1,)
        Cost ratios from 0 to 1 at which the best model changes.
    best : ndarray of shape (k,)
        Index of the best model for ``knots[j] < c <= knots[j + 1]``. Models that are equal keep the order given.

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> from stakes.evaluation import best_by_cost
    >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
    >>> b = ScoreTable.from_predictions([0, 1], [0.6, 0.8])
    >>> best_by_cost({"a": a, "b": b})
    BestByCost(a up to 0.4, b up to 0.5, a up to 0.6, b up to 0.8, a up to 1)
    """

    models: tuple[str, ...]
    knots: Floats
    best: Integers
    pieces: tuple[Pieces, ...]

    def at(self, c: float) -> dict[str, float]:
        """Regret of every model at one cost ratio, from the lowest to the highest.

        Parameters
        ----------
        c : float
            In [0, 1].

        Returns
        -------
        dict of str to float

        Raises
        ------
        ValueError
            If the cost ratio lies outside [0, 1].

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> from stakes.evaluation import best_by_cost
        >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
        >>> b = ScoreTable.from_predictions([0, 1], [0.6, 0.8])
        >>> best_by_cost({"a": a, "b": b}).at(0.5)
        {'a': 0.25, 'b': 0.25}
        """
        c = check_unit(c, "c")
        scores = []
        for knots, alarms, misses in self.pieces:
            piece = max(int(np.searchsorted(knots, c, side="left")) - 1, 0)
            scores.append(float(c * alarms[piece] + (1.0 - c) * misses[piece]))
        order = sorted(range(len(scores)), key=scores.__getitem__)
        return {self.models[i]: scores[i] for i in order}

    def shares(self, costs: CostsLike | None = None) -> dict[str, float]:
        """Probability that each model is the best when the cost ratio is drawn from a distribution.

        Parameters
        ----------
        costs : CostDistribution, tuple of float, or float, optional
            With a finite mass; by default every cost ratio counts the same.

        Returns
        -------
        dict of str to float

        Raises
        ------
        ValueError
            If the mass of ``costs`` is infinite.

        Examples
        --------
        >>> from stakes import ScoreTable, costs
        >>> from stakes.evaluation import best_by_cost
        >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
        >>> b = ScoreTable.from_predictions([0, 1], [0.6, 0.8])
        >>> best_by_cost({"a": a, "b": b}).shares(costs.Uniform(0.3, 0.5))
        {'a': 0.5, 'b': 0.5}
        """
        mass = np.diff(_distribution(as_costs((0.0, 1.0) if costs is None else costs), self.knots))
        held = np.bincount(self.best, mass, minlength=len(self.models)) / mass.sum()
        return dict(zip(self.models, held.tolist(), strict=True))

    def frame(self, backend: Any = None) -> Any:
        """Return one row for each stretch of cost ratios as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``low``, ``high``, ``best``; each stretch holds its upper end.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> from stakes.evaluation import best_by_cost
        >>> best_by_cost({"a": ScoreTable.from_predictions([0, 1], [0.2, 0.7])}).frame("polars").rows()
        [(0.0, 1.0, 'a')]
        """
        return super().frame(backend)

    def _records(self) -> list[dict[str, Any]]:
        ends = zip(self.knots[:-1].tolist(), self.knots[1:].tolist(), self.best.tolist(), strict=True)
        return [{"low": low, "high": high, "best": self.models[index]} for low, high, index in ends]

    def __repr__(self) -> str:
        stretches = [f"{self.models[i]} up to {c:g}" for c, i in zip(self.knots[1:], self.best, strict=True)]
        return f"BestByCost({', '.join(stretches[:5])}{', ...' if len(stretches) > 5 else ''})"


def best_by_cost(
    tables: Mapping[str, ScoreTable],
    *,
    rule: Rule = "score",
    references: bool = False,
    harm: Mapping[str, float] | None = None,
) -> BestByCost:
    """At which cost ratios each model has the lowest regret, exactly.

    Parameters
    ----------
    tables : mapping of str to ScoreTable
        Models by name, over the same rows.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    references : bool, default False
        Whether "treat all" and "treat none" compete too.
    harm : mapping of str to float, optional
        What obtaining the score of some of the models costs each case, in true positives.

    Returns
    -------
    BestByCost
        ``shares(costs)`` is the probability that each model is the best.

    Raises
    ------
    ValueError
        For an invalid rule or no model.

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> from stakes.evaluation import best_by_cost
    >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
    >>> best_by_cost({"a": a}, references=True)
    BestByCost(a up to 0.4, treat all up to 0.5, a up to 1)
    """
    models = competitors(tables, check_rule(rule), references=references, harm=harm)
    knots, best = lower_envelope(list(models.values()))
    return BestByCost(tuple(models), knots, best, tuple(models.values()))


def lc_index(first: ScoreTable, second: ScoreTable, *, costs: CostsLike | None = None, rule: Rule = "optimal") -> float:
    """How much more often the first model is the better one than the second, over the costs: Adams and Hand's index.

    Parameters
    ----------
    first, second : ScoreTable
        Two models over the same rows.
    costs : CostDistribution, tuple of float, or float, optional
        With a finite mass; by default every cost ratio counts the same. Adams and Hand use ``costs.Triangular``.
    rule : {"optimal", "score"} or float, default "optimal"
        How scores become decisions; "optimal", the original, is in-sample.

    Returns
    -------
    float
        From -1 (the second is better at every cost) to 1; where the two are equal neither counts. It says how often,
        not by how much.

    Raises
    ------
    ValueError
        For an invalid rule, or costs of infinite mass.

    Notes
    -----
    Adams and Hand (1999), doi:10.1016/S0031-3203(98)00154-X.

    Examples
    --------
    >>> from stakes import ScoreTable, costs
    >>> from stakes.evaluation import lc_index
    >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
    >>> b = ScoreTable.from_predictions([0, 1], [0.6, 0.8])
    >>> round(lc_index(a, b, costs=costs.Triangular(0.1, 0.2, 0.5), rule="score"), 6)
    0.583333
    """
    # equal regret goes to the model named first, so each wins strictly only where it is named second
    ahead = best_by_cost({"second": second, "first": first}, rule=rule).shares(costs)["first"]
    behind = best_by_cost({"first": first, "second": second}, rule=rule).shares(costs)["second"]
    return ahead - behind


def competitors(
    tables: Mapping[str, ScoreTable], rule: Rule, *, references: bool, harm: Mapping[str, float] | None = None
) -> dict[str, Pieces]:
    """Knots and shares of false positives and false negatives of every competitor; a harm is more of the latter."""
    if not isinstance(tables, Mapping):
        raise ValueError(f"tables must be a mapping of names to score tables, got {type(tables).__name__}.")
    for name, table in tables.items():
        check_kind(table, f"tables[{name!r}]", ScoreTable)
    if not tables:
        raise ValueError("tables must hold at least one model, got none.")
    models = {name: error_pieces(table, rule) for name, table in tables.items()}
    if not (harm is None or isinstance(harm, Mapping)):
        raise ValueError(f"harm must be a mapping of names to numbers, got {harm!r}.")
    for name, more in (harm or {}).items():
        if name not in models:
            raise ValueError(f"harm must name models among {', '.join(map(repr, models))}, got {name!r}.")
        knots, alarms, misses = models[name]
        models[name] = knots, alarms, misses + check_harm(more)
    if check_flag(references, "references"):
        rate = next(iter(tables.values())).prevalence
        whole, zero = np.array([0.0, 1.0]), np.array([0.0])
        models["treat all"] = whole, np.array([1.0 - rate]), zero
        models["treat none"] = whole, zero, np.array([rate])
    return models


def _distribution(costs: CostDistribution, c: Floats) -> Floats:
    """Weight at or below each cost ratio, none at 0: c of what acting on a negative costs and 1 - c of the rest."""
    if not math.isfinite(costs.mass):
        raise ValueError(f"costs must have a finite mass, got {costs!r}.")
    below = costs.negative_loss(c) + (float(costs.positive_loss(-np.inf)) - costs.positive_loss(c))
    return np.concatenate([[0.0], below[1:]])
