"""A contest from moments that are at hand: of rows, of a table, of clusters, or of rows in order of time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.inference._selection_rows import Contest, Spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._loss_moments import LossMoments

    Integers = NDArray[np.intp]


def contest_from_moments(
    moments: LossMoments,
    names: tuple[str, ...],
    n_models: int,
    n_rows: int,
    *,
    factor: float = 1.0,
    highest: float = math.inf,
) -> Contest | None:
    """Let decisions compete by their means and the spread of every pair; None where that spread is unknown.

    Parameters
    ----------
    moments : LossMoments
        Of the decisions, in the order of ``names``.
    names : tuple of str
        Models first, then references.
    n_models, n_rows : int
        How many are models, and the rows that the moments rest on.
    factor : float, default 1
        From the moments to the scale of the costs.
    highest : float, default inf
        The most that a mean can be on that scale.

    Returns
    -------
    Contest or None

    Examples
    --------
    >>> from stakes import ScoreTable, costs
    >>> from stakes.inference import contest_from_moments, select, table_moments
    >>> table = ScoreTable.from_predictions([0, 1] * 50, [0.1, 0.8] * 50)
    >>> moments = table_moments(table, costs.Uniform(0.2, 0.6), "score")
    >>> select(contest_from_moments(moments, ("a", "treat all", "treat none"), 1, 100)).chosen
    'a'
    """
    means, covariance = factor * moments.means, factor**2 * moments.covariance
    finite = np.flatnonzero(np.isfinite(means))
    if moments.reason or not len(finite) or not np.isfinite(covariance[np.ix_(finite, finite)]).all():
        return None

    def spread_of(first: Integers, second: Integers) -> Spread:
        # the last row and column of every matrix, which -1 means, is no cost at all
        spread = moments.spread_at(first, second)
        scarce = np.where(spread.scarce, spread.carrying, math.inf).min(axis=0)
        return Spread(factor**2 * spread.variance, spread.degrees, factor**2 * spread.room, scarce)

    return Contest(names, n_models, means, covariance, n_rows, spread_of, highest)
