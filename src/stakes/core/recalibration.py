"""Logistic recalibration of a score: logit P(y = 1) = intercept + slope * logit(score), by Newton's method.

Works on a score table, so that millions of tied rows cost no more than their distinct scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.logistic import fit_logistic, logit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]


_CELLS, _MIXED = 1000, 100


@dataclass(frozen=True)
class LogisticFit:
    """Intercept, slope and their covariance; ``status`` says why they may be infinite or undefined."""

    intercept: float
    slope: float
    log_likelihood: float
    covariance: Floats
    status: str = ""


def fit_recalibration(table: ScoreTable, *, slope: float | None = None) -> LogisticFit:
    """Maximise the likelihood over intercept and slope, or over the intercept with the slope held fixed."""
    status = _undefined(table)
    free = 2 if slope is None else 1
    nothing = np.full((free, free), np.nan)
    if status:
        return LogisticFit(math.nan, math.nan if slope is None else slope, math.nan, nothing, status)
    x = logit(table.scores)
    if slope is None:
        if len(x) == 1:
            return LogisticFit(math.nan, math.nan, math.nan, nothing, "all scores are equal")
        if _separated(table):
            return LogisticFit(math.nan, math.inf, 0.0, nothing, "the scores separate the classes")
    design = np.column_stack([np.ones_like(x), x])[:, :free]
    offset = np.zeros_like(x) if slope is None else slope * x
    start = np.array([0.0, 1.0])[:free]
    if len(x) > 2 * _CELLS:
        start = _near(design, table.positives, table.negatives, offset, start)
    found = fit_logistic(design, table.positives, table.negatives, offset=offset, start=start)
    beta = found.coefficients
    covariance = np.asarray(np.linalg.inv(found.information))
    return LogisticFit(float(beta[0]), float(beta[1]) if slope is None else slope, found.log_likelihood, covariance)


def _near(design: Floats, positives: Floats, negatives: Floats, offset: Floats, start: Floats) -> Floats:
    """Where the maximum nearly lies, from neighbours taken together; the start itself where few of them mix classes."""
    starts = np.linspace(0, len(offset), _CELLS, endpoint=False).astype(np.intp)
    ups, downs = np.add.reduceat(positives, starts), np.add.reduceat(negatives, starts)
    if np.count_nonzero(ups * downs) < _MIXED:
        return start  # a line could tell them apart that does not tell the scores apart
    size = np.diff(starts, append=len(offset))
    means = np.add.reduceat(design, starts) / size[:, None], np.add.reduceat(offset, starts) / size
    return fit_logistic(means[0], ups, downs, offset=means[1], start=start).coefficients


def _undefined(table: ScoreTable) -> str:
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        return "only one class is present"
    if table.scores[0] <= 0.0 or table.scores[-1] >= 1.0:
        return "a score is exactly 0 or 1, where its logit is infinite"
    return ""


def _separated(table: ScoreTable) -> bool:
    """Whether one score cut tells the classes apart, so that the best slope is infinite."""
    positive, negative = table.scores[table.positives > 0.0], table.scores[table.negatives > 0.0]
    return bool(positive[0] >= negative[-1] or negative[0] >= positive[-1])
