"""The whole trade-off between precision and recall over score and uncertainty, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.boundary._frontier import NEVER, frontier_of, trace
from stakes.boundary._rows import check_binning, check_levels, check_rows, level_cuts, rows_to_options
from stakes.boundary._rules import LevelRule
from stakes.core.exact import as_fraction
from stakes.core.remedies import in_percent
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from stakes.boundary._frontier import Node
    from stakes.boundary._options import Floats, Ints, Options
    from stakes.core.expressions import Missing


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallFrontier(Tabular):
    """Every pair of true and false positives that no boundary of the same levels and cuts improves on.

    Made by :func:`precision_recall_frontier`.

    Parameters
    ----------
    true_positives, false_positives : ndarray of int
        Both strictly increasing, from (0, 0) on or from the first positives that cost nothing.
    total_positives, total : int
        Positives and rows in all.
    cuts : ndarray
        Between the uncertainty levels.

    Examples
    --------
    >>> from stakes.boundary import precision_recall_frontier
    >>> frontier = precision_recall_frontier([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6], [1, 1, 1, 2], levels=2)
    >>> frontier
    PrecisionRecallFrontier(1 undominated points, 3 positives among 4 rows)
    >>> frontier.max_recall(1)
    1.0
    """

    true_positives: Ints
    false_positives: Ints
    total_positives: int
    total: int
    cuts: Floats
    _node: Node
    _options: Options

    @property
    def recall(self) -> Floats:
        """Recall at each point (nan without positives)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.true_positives / np.float64(self.total_positives))

    @property
    def precision(self) -> Floats:
        """Precision at each point (nan where nothing is selected)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.true_positives / (self.true_positives + self.false_positives))

    def max_recall(self, min_precision: float | Fraction | str) -> float:
        """Largest recall with at least this precision.

        Parameters
        ----------
        min_precision : float, Fraction or str
            In (0, 1], read as written.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            For a bound outside (0, 1].

        Examples
        --------
        >>> from stakes.boundary import precision_recall_frontier
        >>> precision_recall_frontier([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1, 1, 1, 1]).max_recall(0.6)
        1.0
        """
        return self._recall_at(self._best(min_precision))

    def predict(
        self,
        score: ArrayLike,
        uncertainty: ArrayLike,
        *,
        min_precision: float | Fraction | str,
        missing: Missing = "refuse",
    ) -> NDArray[np.int64]:
        """Label rows by the boundary of largest recall with at least this precision.

        Parameters
        ----------
        score, uncertainty : array_like of shape (n,)
            Rows to decide about. Expressions of narwhals, polars, SQL or ONNX give an expression.
        min_precision : float, Fraction or str
            In (0, 1], read as written.
        missing : {"refuse", "act", "wait"}, default "refuse"
            Raise where a score or an uncertainty is missing (nan), label such rows 1, or 0; an expression is NULL where
            this would raise.

        Returns
        -------
        ndarray of int, shape (n,)

        Raises
        ------
        ValueError
            For invalid rows, and a bound outside (0, 1].

        Examples
        --------
        >>> from stakes.boundary import precision_recall_frontier
        >>> frontier = precision_recall_frontier([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1, 1, 1, 1])
        >>> frontier.predict([0.65, 0.75], [1, 1], min_precision=0.6).tolist()
        [0, 1]
        """
        chosen = trace(self._node, self._best(min_precision), self._options)
        rule = LevelRule(self.cuts, self._options.cuts[self._options.starts[:-1] + chosen])
        return rule.decide(score, uncertainty, missing)

    def _best(self, min_precision: float | Fraction | str) -> int:
        bound = as_fraction(min_precision, "min_precision")
        if not 0 < bound <= 1:
            raise ValueError(f"min_precision must lie in (0, 1], got {min_precision}{in_percent(bound)}.")
        a, b = bound.numerator, bound.denominator
        for tp, fp in zip(self.true_positives[::-1].tolist(), self.false_positives[::-1].tolist(), strict=True):
            if b * tp >= a * (tp + fp):
                return int(tp)
        return 0

    def _recall_at(self, tp: int) -> float:
        return tp / self.total_positives if self.total_positives else math.nan

    def _records(self) -> list[dict[str, Any]]:
        columns = [self.true_positives, self.false_positives, self.precision, self.recall]
        names = ("true_positives", "false_positives", "precision", "recall")
        return [dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in columns), strict=True)]

    def __repr__(self) -> str:
        return (
            f"PrecisionRecallFrontier({len(self.true_positives)} undominated points, {self.total_positives} positives "
            f"among {self.total} rows)"
        )


def precision_recall_frontier(
    y_true: ArrayLike,
    y_score: ArrayLike,
    uncertainty: ArrayLike,
    *,
    levels: int | ArrayLike = 3,
    score_bins: int | None = None,
    binning: Literal["equal_weight", "equal_span", "equal_positive", "unbinned"] = "equal_weight",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> PrecisionRecallFrontier:
    """Find every precision and recall within reach of thresholds by uncertainty level.

    Parameters
    ----------
    y_true, y_score, uncertainty : array_like of shape (n,)
        As in :func:`fit_boundary`.
    levels, score_bins, binning, sample_weight, pos_label
        As in :func:`fit_boundary`.

    Returns
    -------
    PrecisionRecallFrontier
        Every undominated pair, not only those on the convex hull.

    Raises
    ------
    ValueError
        For invalid arguments.

    Notes
    -----
    The (min, +) convolution of the levels' own curves, merged pairwise; large merges walk from the minimiser of the
    convex minorants and stop where these leave no room for less. Time grows with the square of the number of positives
    at worst, a few per cent of that on real data.

    Examples
    --------
    >>> from stakes.boundary import precision_recall_frontier
    >>> y = [1, 1, 0, 1, 0, 0, 1, 0]
    >>> score = [0.9, 0.8, 0.7, 0.6, 0.9, 0.8, 0.7, 0.6]
    >>> precision_recall_frontier(y, score, [1, 1, 1, 1, 2, 2, 2, 2], levels=2).recall.tolist()
    [0.5, 0.75, 1.0]
    """
    check_binning(binning, score_bins)
    cuts = check_levels(levels)
    rows = check_rows(y_true, y_score, uncertainty, sample_weight=sample_weight, pos_label=pos_label)
    cuts = level_cuts(rows, cuts, binning)
    options = rows_to_options(rows, cuts, binning, score_bins)
    node = frontier_of(options)
    later = np.minimum.accumulate(node.fewest[::-1])[::-1]
    kept = np.flatnonzero((node.fewest < NEVER) & np.append(node.fewest[:-1] < later[1:], True))
    return PrecisionRecallFrontier(kept, node.fewest[kept], options.total_positives, options.total, cuts, node, options)
