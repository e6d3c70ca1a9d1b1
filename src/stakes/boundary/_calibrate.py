"""Isotonic calibration in each level of uncertainty: equal scores, unequal certainty, unequal rates of positives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.boundary._rows import (
    check_binning,
    check_covariates,
    check_levels,
    check_rows,
    level_cuts,
    level_of,
    sorted_levels,
)
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes.boundary._options import Floats
    from stakes.boundary._rows import SortedLevel


@dataclass(frozen=True, eq=False, repr=False)
class UncertaintyCalibration(Tabular):
    """Calibrated probabilities by level of uncertainty.

    Made by :func:`uncertainty_calibrate`.

    Parameters
    ----------
    cuts : ndarray
        Between the levels; a level includes its upper cut.
    scores, values : tuple of ndarray
        For each level the lowest score of each block, ascending, and the rate of positives of the block. A score below
        the first takes the first value.

    Examples
    --------
    >>> from stakes.boundary import uncertainty_calibrate
    >>> calibration = uncertainty_calibrate([0, 1, 0, 0], [0.2, 0.9, 0.2, 0.9], [0, 0, 1, 1], levels=2)
    >>> calibration.predict([0.9, 0.9], [0, 1]).tolist()
    [1.0, 0.0]
    """

    cuts: Floats
    scores: tuple[Floats, ...]
    values: tuple[Floats, ...]

    def predict(self, score: ArrayLike, uncertainty: ArrayLike) -> Floats:
        """Probability of a positive.

        Parameters
        ----------
        score, uncertainty : array_like of shape (n,)
            Rows.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            For unequal lengths and values that are not finite.

        Examples
        --------
        >>> from stakes.boundary import uncertainty_calibrate
        >>> uncertainty_calibrate([0, 1], [0.3, 0.6], [1, 1]).predict([0.1, 0.7], [1, 1]).tolist()
        [0.0, 1.0]
        """
        clean, u = check_covariates(score, uncertainty)
        out = np.full(len(clean), math.nan)
        level = level_of(self.cuts, u)
        for k, (scores, values) in enumerate(zip(self.scores, self.values, strict=True)):
            rows = level == k
            if len(scores):
                out[rows] = values[np.maximum(np.searchsorted(scores, clean[rows], side="right") - 1, 0)]
        return out

    def _records(self) -> list[dict[str, Any]]:
        ends = np.r_[self.cuts, np.inf]
        return [
            {"level": k, "uncertainty_up_to": float(ends[k]), "score": score, "probability": value}
            for k, (scores, values) in enumerate(zip(self.scores, self.values, strict=True))
            for score, value in zip(scores.tolist(), values.tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        return f"UncertaintyCalibration({len(self.scores)} levels, {sum(map(len, self.scores))} blocks)"


def uncertainty_calibrate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    uncertainty: ArrayLike,
    *,
    levels: int | ArrayLike = 3,
    binning: Literal["equal_weight", "equal_span"] = "equal_weight",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> UncertaintyCalibration:
    """Estimate how probable a positive is at each score, given how uncertain the score is.

    Parameters
    ----------
    y_true, y_score, uncertainty : array_like of shape (n,)
        As in :func:`fit_boundary`.
    levels, sample_weight, pos_label
        As in :func:`fit_boundary`.
    binning : {"equal_weight", "equal_span"}, default "equal_weight"
        How the uncertainty is cut into levels.

    Returns
    -------
    UncertaintyCalibration

    Raises
    ------
    ValueError
        For invalid arguments, and where given cuts leave a level without rows.

    Notes
    -----
    The isotonic fit of each level, ties pooled first: the calibrator within the boundary solver "isotonic".

    Examples
    --------
    >>> from stakes.boundary import uncertainty_calibrate
    >>> uncertainty_calibrate([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], [1, 1, 1, 1]).values[0].tolist()
    [0.0, 0.5, 1.0]
    """
    check_binning(binning, None)
    clean = check_levels(levels)
    rows = check_rows(y_true, y_score, uncertainty, sample_weight=sample_weight, pos_label=pos_label)
    cuts = level_cuts(rows, clean, binning)
    fits = [_fit_level(level, k) for k, level in enumerate(sorted_levels(rows, cuts))]
    return UncertaintyCalibration(cuts, tuple(fit[0] for fit in fits), tuple(fit[1] for fit in fits))


def _fit_level(level: SortedLevel, k: int) -> tuple[Floats, Floats]:
    from scipy.optimize import isotonic_regression

    if not len(level.score):
        raise ValueError(f"every level must hold rows, got none in level {k}: pass other cuts in levels=.")
    last = np.append(np.flatnonzero(level.score[1:] != level.score[:-1]), len(level.score) - 1)
    ups = np.diff(level.positives[last], prepend=0)[::-1]
    totals = np.diff(level.totals[last], prepend=0)[::-1]
    scores = level.score[last][::-1]
    fit = isotonic_regression(ups / totals, weights=totals.astype(np.float64))
    starts = np.asarray(fit.blocks[:-1])
    return scores[starts], np.add.reduceat(ups, starts) / np.add.reduceat(totals, starts)
