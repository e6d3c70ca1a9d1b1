"""Best by ratio or bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.validation import check_flag, check_kind, check_unit, check_whole, to_array, to_floats
from stakes.core.options import check_harm, check_rule
from stakes.core.score_table import Rule, ScoreTable
from stakes.costs import CostDistribution, CostsLike, LogOddsUniform, as_costs
from stakes.curves import error_pieces, lower_envelope, weighted_area
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import REFERENCES, percent

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Pieces = tuple[Floats, Floats, Floats]


# Which model has the lowest regret at each cost ratio: the lower envelope of their regret curves.


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
        For an invalid rule, no model, or one that has the name of a reference beside these.

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> from stakes.evaluation import best_by_cost
    >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
    >>> best_by_cost({"a": a}, references=True)
    BestByCost(a up to 0.4, treat all up to 0.5, a up to 1)
    """
    models = competitors(tables, rule, references=references, harm=harm)
    knots, best = lower_envelope(list(models.values()))
    return BestByCost(tuple(models), knots, best, tuple(models.values()))


def lc_index(a: ScoreTable, b: ScoreTable, *, costs: CostsLike | None = None, rule: Rule = "optimal") -> float:
    """How much more often the first model is the better one than the second, over the costs: Adams and Hand's index.

    Parameters
    ----------
    a, b : ScoreTable
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
    ahead = best_by_cost({"b": b, "a": a}, rule=rule).shares(costs)["a"]
    behind = best_by_cost({"a": a, "b": b}, rule=rule).shares(costs)["b"]
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
    rule = check_rule(rule, *tables.values())
    models = {name: error_pieces(table, rule) for name, table in tables.items()}
    if not (harm is None or isinstance(harm, Mapping)):
        raise ValueError(f"harm must be a mapping of names to numbers, got {harm!r}.")
    for name, more in (harm or {}).items():
        if name not in models:
            raise ValueError(f"harm must name models among {', '.join(map(repr, models))}, got {name!r}.")
        knots, alarms, misses = models[name]
        models[name] = knots, alarms, misses + check_harm(more)
    if check_flag(references, "references"):
        for name in REFERENCES:
            if name in models:
                raise ValueError(f"tables must not call a model {name!r}: that names a reference.")
        rate = next(iter(tables.values())).prevalence
        whole, zero = np.array([0.0, 1.0]), np.array([0.0])
        shares = (np.array([1.0 - rate]), zero), (zero, np.array([rate]))
        models |= {name: (whole, *share) for name, share in zip(REFERENCES, shares, strict=True)}
    return models


def _distribution(costs: CostDistribution, c: Floats) -> Floats:
    """Weight at or below each cost ratio, none at 0: c of what acting on a negative costs and 1 - c of the rest."""
    if not math.isfinite(costs.mass):
        raise ValueError(f"costs must have a finite mass, got {costs!r}.")
    below = costs.negative_loss(c) + (float(costs.positive_loss(-np.inf)) - costs.positive_loss(c))
    return np.concatenate([[0.0], below[1:]])


# How the choice of a model depends on the range of thresholds: the best one for every pair of bounds.
#
# The integral of regret over a range is the difference of two cumulative integrals, so one pass over each curve
# answers for every pair of bounds.

_ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True, eq=False, repr=False)
class BestByBounds(Tabular):
    """The model with the lowest mean regret for every range of thresholds between the edges.

    Parameters
    ----------
    models : tuple of str
        Names, in the order given.
    edges : ndarray of shape (k,)
        Ascending cost ratios: every pair of them is a range.
    best, runner_up : ndarray of shape (k, k)
        Index of the best and the second model for the range from ``edges[i]`` to ``edges[j]``; -1 unless i < j. Models
        that are equal keep the order given.
    margin : ndarray of shape (k, k)
        Mean regret of the second less that of the best; nan unless i < j.
    costs : CostDistribution
        What is restricted to each range.

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> from stakes.evaluation import best_by_bounds
    >>> y_true = [0, 1, 0, 1]
    >>> a = ScoreTable.from_predictions(y_true, [0.1, 0.8, 0.3, 0.6])
    >>> b = ScoreTable.from_predictions(y_true, [0.4, 0.6, 0.5, 0.4])
    >>> best_by_bounds({"a": a, "b": b}, edges=[0.0, 0.5, 1.0])
    BestByBounds(3 ranges between 0 and 1; best in most: a, 100%)
    """

    models: tuple[str, ...]
    edges: Floats
    best: Integers
    runner_up: Integers
    margin: Floats
    costs: CostDistribution
    pieces: tuple[Pieces, ...]

    def at(self, low: float, high: float) -> dict[str, float]:
        """Mean regret of every model over one range, exactly, from the lowest to the highest.

        Parameters
        ----------
        low, high : float
            Bounds with 0 <= low < high <= 1.

        Returns
        -------
        dict of str to float

        Raises
        ------
        ValueError
            For bounds out of order or outside the cost distribution.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> from stakes.evaluation import best_by_bounds
        >>> table = ScoreTable.from_predictions([0, 1], [0.25, 0.75])
        >>> best_by_bounds({"a": table}).at(0.0, 0.5)
        {'a': 0.03125}
        """
        part = self.costs.restrict(low, high)
        scores = [weighted_area(*pieces, part) / part.mass for pieces in self.pieces]
        order = sorted(range(len(scores)), key=scores.__getitem__)
        return {self.models[i]: scores[i] for i in order}

    def shares(self) -> dict[str, float]:
        """Share of the ranges in which each model is the best.

        Returns
        -------
        dict of str to float

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> from stakes.evaluation import best_by_bounds
        >>> best_by_bounds({"a": ScoreTable.from_predictions([0, 1], [0.2, 0.7])}).shares()
        {'a': 1.0}
        """
        won = self.best[self.best >= 0]
        return {name: float(np.mean(won == index)) for index, name in enumerate(self.models)}

    def frame(self, backend: Any = None) -> Any:
        """Return one row for each range as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``low``, ``high``, ``best``, ``runner_up`` (missing for one model), ``margin``.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> from stakes.evaluation import best_by_bounds
        >>> table = ScoreTable.from_predictions([0, 1], [0.2, 0.7])
        >>> best_by_bounds({"a": table}, edges=[0.0, 0.1, 0.3]).frame("polars").shape
        (3, 5)
        """
        return super().frame(backend)

    def _records(self) -> list[dict[str, Any]]:
        names = (*self.models, None)  # index -1: there is no second
        rows = zip(*np.nonzero(self.best >= 0), strict=True)
        return [
            {
                "low": float(self.edges[i]),
                "high": float(self.edges[j]),
                "best": names[self.best[i, j]],
                "runner_up": names[self.runner_up[i, j]],
                "margin": float(self.margin[i, j]),
            }
            for i, j in rows
        ]

    def __repr__(self) -> str:
        name, share = max(self.shares().items(), key=lambda item: item[1])
        count = int(np.count_nonzero(self.best >= 0))
        span = f"between {self.edges[0]:g} and {self.edges[-1]:g}"
        return f"BestByBounds({count} ranges {span}; best in most: {name}, {percent(share)})"


def best_by_bounds(
    tables: Mapping[str, ScoreTable],
    *,
    costs: CostsLike | None = None,
    edges: int | ArrayLike = 101,
    rule: Rule = "score",
    references: bool = False,
    harm: Mapping[str, float] | None = None,
) -> BestByBounds:
    """Which model has the lowest mean regret, for every range of plausible thresholds between some edges.

    Parameters
    ----------
    tables : mapping of str to ScoreTable
        Models by name, over the same rows.
    costs : CostDistribution, tuple of float, or float, optional
        How cost ratios count within each range, without atoms: ``costs.Uniform(0, 1)`` by default.
    edges : int or array_like, default 101
        Ends of the ranges, or how many of them between the ends of ``costs`` (evenly in log-odds for
        ``LogOddsUniform``). There are about half their square of ranges.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    references : bool, default False
        Whether "treat all" and "treat none" compete too.
    harm : mapping of str to float, optional
        What obtaining the score of some of the models costs each case, in true positives.

    Returns
    -------
    BestByBounds

    Raises
    ------
    ValueError
        For edges out of order or of infinite mass, costs with atoms, an invalid rule, or a model that has the name of a
        reference beside these.

    Notes
    -----
    arXiv:2504.04528, section 4.1. Point estimates on these rows: a small margin may be chance.

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> from stakes.evaluation import best_by_bounds
    >>> y_true = [0, 1, 0, 1]
    >>> a = ScoreTable.from_predictions(y_true, [0.1, 0.8, 0.3, 0.6])
    >>> b = ScoreTable.from_predictions(y_true, [0.4, 0.6, 0.5, 0.4])
    >>> best_by_bounds({"a": a, "b": b}, edges=[0.0, 0.5, 1.0]).margin[0].round(4).tolist()
    [nan, 0.105, 0.0788]
    """
    measure = as_costs((0.0, 1.0) if costs is None else costs)
    if len(measure.atoms[0]):
        raise ValueError(f"costs must have no atoms, which belong to both ranges that they divide, got {measure!r}.")
    ends = _check_edges(edges, measure)
    models = competitors(tables, rule, references=references, harm=harm)
    cells = [measure.restrict(float(low), float(high)) for low, high in pairwise(ends)]
    masses = _running([cell.mass for cell in cells])
    if not math.isfinite(masses[-1]):
        raise ValueError(f"edges must span a finite mass of {measure!r}, got edges from {ends[0]:g} to {ends[-1]:g}.")
    sums = np.array([_running([weighted_area(*pieces, cell) for cell in cells]) for pieces in models.values()])
    return BestByBounds(tuple(models), ends, *_ranked(sums, masses), measure, tuple(models.values()))


def _check_edges(edges: int | ArrayLike, costs: CostDistribution) -> Floats:
    if np.ndim(edges) == 0:
        count = check_whole(edges, "edges", 2)
        if not isinstance(costs, LogOddsUniform):
            return np.linspace(costs.low, costs.high, count)
        if not math.isfinite(costs.mass):
            raise ValueError(f"a number of edges needs costs of finite mass, got {costs!r}.")
        low, high = np.log([costs.low, costs.high]) - np.log1p([-costs.low, -costs.high])
        inner = 1.0 / (1.0 + np.exp(-np.linspace(low, high, count)[1:-1]))
        return np.concatenate([[costs.low], inner, [costs.high]])
    ends = to_floats(to_array(edges, "edges"), "edges")
    good = ends.ndim == 1 and len(ends) >= 2 and bool(np.all(np.diff(ends) > 0.0))
    if not (good and costs.low <= ends[0] and ends[-1] <= costs.high):
        raise ValueError(f"edges must ascend strictly within [{costs.low:g}, {costs.high:g}], got {ends.tolist()}.")
    return ends


def _running(values: list[float]) -> Floats:
    """Sums of the first 0, 1, 2, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _ranked(sums: Floats, masses: Floats) -> tuple[Integers, Integers, Floats]:
    """Best and second model of every range and the margin between them, from cumulative integrals."""
    integrals = sums[:, None, :] - sums[:, :, None]
    rounding = _ROUNDING * sums[:, -1].max()  # differences this small are none: the first model is taken
    best, lowest = _first_lowest(integrals, rounding)
    if len(sums) == 1:
        runner_up, margin = np.full_like(best, -1), np.full(best.shape, np.nan)
    else:
        np.put_along_axis(integrals, best[None], np.inf, axis=0)
        runner_up, second = _first_lowest(integrals, rounding)
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.where(second - lowest > rounding, second - lowest, 0.0) / (masses[None, :] - masses[:, None])
    outside = ~np.triu(np.ones(best.shape, dtype=bool), 1)
    best[outside] = runner_up[outside] = -1
    margin[outside] = np.nan
    return best, runner_up, margin


def _first_lowest(values: Floats, tolerance: float) -> tuple[Integers, Floats]:
    index = np.argmax(values <= values.min(axis=0) + tolerance, axis=0)
    return index, np.take_along_axis(values, index[None], axis=0)[0]
