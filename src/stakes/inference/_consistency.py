"""Where a reliability curve would lie if the scores were calibrated: curves of labels drawn from the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.random_state import generator
from stakes.core.validation import check_level, check_whole
from stakes.inference._band_result import Band
from stakes.inference._bands import check_scores_asked

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

_CELLS = 1000
_LEAST_RESAMPLES = 1000


def consistency_band(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    logits: bool = False,
    name: str = "model",
    confidence_level: float = 0.95,
    n_resamples: int = 5000,
    random_state: int | np.random.Generator | None = 0,
) -> Band:
    """Show where the reliability curve would lie if the scores were calibrated: outside, they are not.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    thresholds : array_like of shape (m,), optional
        Scores at which to read the curve, ascending, between the smallest and the largest; by default 101 of them.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0. Rows of one score count as an effective number of equal rows.
    pos_label : object, optional
        The label of the positive class.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        What to call the model.
    confidence_level : float, default 0.95
        Of the band, in (0, 1).
    n_resamples : int, default 5000
        How often labels are drawn, at least 1,000.
    random_state : int, numpy Generator or None, default 0
        For these draws.

    Returns
    -------
    Band
        ``estimate`` is the reliability curve itself, ``standard_error`` the spread of the curves of drawn labels.
        ``low`` and ``high`` hold a calibrated score's curve at one score, ``simultaneous_low`` and
        ``simultaneous_high`` at all of them, each with probability ``confidence_level``.

    Raises
    ------
    ValueError
        For invalid data or settings, and for tables reweighted to a prevalence, which rows drawn from the scores would
        not have.

    Notes
    -----
    Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118: y is drawn from Bernoulli(score) and the
    isotonic curve fitted anew. The simultaneous band is a global rank envelope (Myllymäki et al. 2017,
    doi:10.1111/rssb.12172). Beyond 2,000 distinct scores, neighbouring ones are pooled for the drawing into about 1,000
    cells of equal weight and 1,000 of equal width, smaller at the ends.

    Examples
    --------
    >>> from stakes.inference import consistency_band
    >>> band = consistency_band([0, 0, 0, 1] * 50, [0.1, 0.4, 0.6, 0.8] * 50, thresholds=[0.1, 0.4, 0.6])
    >>> band.excludes(band.thresholds).any(), (band.estimate < band.simultaneous_low).tolist()
    (np.False_, [True, True, True])
    """
    level = check_level(confidence_level)
    n_resamples = check_whole(n_resamples, "n_resamples", _LEAST_RESAMPLES)
    refuse_weighing(y_true, "consistency_band")
    table = evaluation_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, logits=logits).table
    if table.fixed_prevalence:
        raise ValueError("consistency_band needs the rows as they were sampled, got a table with a set prevalence.")
    points = check_scores_asked(thresholds, table)
    rng = generator(random_state)
    curves = drawn_curves(table, points, n_resamples, rng)
    low, high = np.quantile(curves, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    outer = rank_envelope(curves, level)
    ends = low, high, np.minimum(outer[0], low), np.maximum(outer[1], high)
    return Band(
        "reliability",
        points,
        np.interp(points, table.scores, table.pav_by_score()),
        curves.std(axis=0, ddof=1),
        *ends,
        float("nan"),
        level,
        table.n_rows,
        _effective_positives(table),
        name,
        is_consistency=True,
        about=table.about,
    )


def _effective_positives(table: ScoreTable) -> float:
    squared = float(table.positives_squared.sum())
    return table.total_positives**2 / squared if squared > 0.0 else 0.0


def drawn_curves(table: ScoreTable, points: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Isotonic curves at some points of labels drawn from the scores: one line for each draw."""
    curves = np.empty((n_resamples, len(points)))
    from scipy.optimize import isotonic_regression

    score, weight, size = _cells(table)
    for line in curves:
        rates = isotonic_regression(rng.binomial(size, score) / size, weights=weight).x
        line[:] = np.interp(points, score, rates)
    return curves


def rank_envelope(curves: Floats, level: float) -> tuple[Floats, Floats]:
    """Narrowest bounds, alike in rank at every point, that hold one curve more with this probability.

    A curve that others are held against counts itself among those not beyond it, one that is new does not: its rank is
    lower by one.
    """
    ordered = np.sort(curves, axis=0)
    ranks = np.empty(curves.shape, dtype=np.intp)
    for column in range(curves.shape[1]):
        values = curves[:, column]
        below = np.searchsorted(ordered[:, column], values, side="right")
        above = len(values) - np.searchsorted(ordered[:, column], values, side="left")
        ranks[:, column] = np.minimum(below, above)
    extreme = np.sort(ranks.min(axis=1))
    rank = int(extreme[min(int(np.floor((1.0 - level) * len(extreme))), len(extreme) - 1)]) - 1
    if rank < 1:
        raise ValueError(
            f"n_resamples must be larger: {len(extreme)} are too few to tell a {level:.6g} band over "
            f"{curves.shape[1]} thresholds. Ask for more of the ones, fewer of the others, or a lower confidence_level."
        )
    return ordered[rank - 1], ordered[-rank]


def _cells(table: ScoreTable) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean score, weight and effective number of rows of each score, or of cells of neighbouring scores."""
    score, weight = table.scores, table.positives + table.negatives
    squared = table.positives_squared + table.negatives_squared
    if len(score) > 2 * _CELLS:
        before = np.concatenate([[0.0], np.cumsum(weight)])
        by_rank = np.searchsorted(before, np.linspace(0.0, before[-1], _CELLS + 1)[1:-1])
        by_score = np.searchsorted(score, np.linspace(score[0], score[-1], _CELLS + 1)[1:-1])
        # the first and last blocks of an isotonic curve are short: cells grow from single scores at either end
        ends = np.unique(np.geomspace(1.0, len(score), _CELLS // 5).astype(np.intp))
        starts = np.unique(np.concatenate([[0], by_rank, by_score, ends, len(score) - ends]))
        starts = starts[starts < len(score)]
        score = np.add.reduceat(weight * score, starts) / np.add.reduceat(weight, starts)
        weight, squared = np.add.reduceat(weight, starts), np.add.reduceat(squared, starts)
    size = np.maximum(np.rint(weight**2 / squared), 1.0).astype(np.int64)
    return np.clip(score, 0.0, 1.0), weight, size
