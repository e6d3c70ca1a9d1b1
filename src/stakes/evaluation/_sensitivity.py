"""How the choice of a model depends on the range of thresholds: the best one for every pair of bounds.

The integral of regret over a range is the difference of two cumulative integrals, so one pass over each curve answers
for every pair of bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.regret import check_rule
from stakes.core.validation import check_whole, to_array, to_floats
from stakes.costs import CostDistribution, CostsLike, LogOddsUniform, as_costs
from stakes.curves._brier import weighted_area
from stakes.evaluation._best_by_cost import competitors
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.evaluation._best_by_cost import Pieces

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

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
        return f"BestByBounds({count} ranges {span}; best in most: {name}, {100 * share:.3g}%)"


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
        For edges out of order or of infinite mass, costs with atoms, or an invalid rule.

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
    models = competitors(tables, check_rule(rule), references=references, harm=harm)
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
