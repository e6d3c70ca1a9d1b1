"""The test with more than two classes: every coordinate with Holm's adjustment, and the whole vector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.score_table import ScoreTable
from stakes.core.validation import BinarySample
from stakes.correction._multinomial import MultinomialData, fit_multinomial
from stakes.correction._shift import shift_rows
from stakes.correction._statistics import (
    bootstrap_rows,
    bootstrap_table,
    chi2_tail,
    recalibration_test,
    spiegelhalter,
)
from stakes.metrics import check_multiclass
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_ROWS_PER_PARAMETER = 5


@dataclass(frozen=True, repr=False, eq=False)
class MulticlassLossCalibrationTest(Tabular):
    """Answers of :func:`loss_calibration_test` for more than two classes.

    Parameters
    ----------
    classes : tuple
        Labels in the order of the columns.
    likelihood_ratio, p_value, holm_p_value : ndarray of shape (K,)
        Logistic recalibration of each corrected coordinate, and its p-value after Holm's adjustment.
    z_p_value, miscalibration, miscalibration_p_value : ndarray of shape (K,)
        Spiegelhalter's test and CORP miscalibration of each corrected coordinate, not adjusted.
    vector_statistic, vector_p_value : float
        Likelihood ratio of multinomial recalibration on the log ratios of the corrected vector.
    vector_degrees : int
        Its degrees of freedom, K (K - 1).
    class_weight, ci_low, ci_high : ndarray of shape (K,)
        Weights that fit the scores best, relative to the first class, with intervals.
    confidence_level : float
        Of the intervals.
    status : str
        What could not be tested, and why.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.correction import apply_class_weight, loss_calibration_test
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2, 2, 2], 4000)
    >>> y = (rng.random((4000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> scores = apply_class_weight(p, class_weight=[1, 2, 5])
    >>> found = loss_calibration_test(y, scores, class_weight=[1, 2, 5], n_bootstrap=0)
    >>> found.vector_p_value > 0.05, found.class_weight.round(1).tolist()
    (True, [1.0, 1.9, 5.0])
    """

    classes: tuple[Any, ...]
    likelihood_ratio: Floats
    p_value: Floats
    holm_p_value: Floats
    z_p_value: Floats
    miscalibration: Floats
    miscalibration_p_value: Floats
    vector_statistic: float
    vector_degrees: int
    vector_p_value: float
    class_weight: Floats
    ci_low: Floats
    ci_high: Floats
    confidence_level: float
    status: str = ""

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Interval of ``class_weight``, by class."""
        return self.ci_low, self.ci_high

    def _records(self) -> list[dict[str, Any]]:
        names = (
            *("likelihood_ratio", "p_value", "holm_p_value", "z_p_value", "miscalibration"),
            *("miscalibration_p_value", "class_weight", "ci_low", "ci_high"),
        )
        return [
            {"class": label} | {name: float(getattr(self, name)[k]) for name in names}
            for k, label in enumerate(self.classes)
        ]

    def __repr__(self) -> str:
        weights = ", ".join(f"{w:.4g}" for w in self.class_weight)
        return (
            f"MulticlassLossCalibrationTest(vector: {self.vector_statistic:.4g} on {self.vector_degrees} degrees, "
            f"p = {self.vector_p_value:.3g}; smallest Holm p = {np.nanmin(self.holm_p_value):.3g}; "
            f"weights that fit best: {weights})"
        )


@dataclass(frozen=True)
class Rows:
    """Clean rows of several classes: class indices, raw and corrected scores, weights, and the labels."""

    index: NDArray[np.intp]
    raw: Floats
    corrected: Floats
    weight: Floats | None
    classes: tuple[Any, ...]


def read_rows(
    y_true: Any, y_prob: Any, factors: Floats, labels: ArrayLike | None, sample_weight: ArrayLike | None
) -> Rows:
    """Validate, correct, and leave out rows of weight zero."""
    index, prob, weight = check_multiclass(y_true, y_prob, labels, sample_weight)
    raw = np.asarray(prob, dtype=np.float64)
    if weight is not None and not np.all(weight):
        index, raw, weight = index[weight > 0.0], raw[weight > 0.0], weight[weight > 0.0]
    names = range(len(factors)) if labels is None else np.asarray(labels).tolist()
    return Rows(index, raw, shift_rows(raw, 1.0 / factors), weight, tuple(names))


def multiclass_test(rows: Rows, level: float, repeats: int, rng: np.random.Generator) -> MulticlassLossCalibrationTest:
    """Test every coordinate and the vector."""
    found = [_coordinate(rows, k, repeats, rng) for k in range(len(rows.classes))]
    ratio, p, z_p, mcb, mcb_p = map(np.array, zip(*found, strict=True))
    statistic, degrees, vector_p, status = _vector(rows.corrected, rows.index, rows.weight)
    weights, low, high = _implied(rows.raw, rows.index, rows.weight, level)
    return MulticlassLossCalibrationTest(
        rows.classes,
        ratio,
        p,
        holm(p),
        z_p,
        mcb,
        mcb_p,
        statistic,
        degrees,
        vector_p,
        weights,
        low,
        high,
        level,
        status,
    )


def _coordinate(rows: Rows, k: int, repeats: int, rng: np.random.Generator) -> tuple[float, ...]:
    g, hit = rows.corrected[:, k], rows.index == k
    table = ScoreTable.from_sample(BinarySample(hit, g, rows.weight))
    ratio = recalibration_test(table)
    if rows.weight is None:
        mcb = bootstrap_table(table, repeats, rng)
    else:
        mcb = bootstrap_rows(g, hit, rows.weight, repeats, rng)
    return ratio.statistic, ratio.p_value, spiegelhalter(table)[1], *mcb


def holm(p_values: Floats) -> Floats:
    """Holm's step-down adjustment; undefined tests do not count."""
    out = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")
    order = order[np.isfinite(p_values[order])]
    factor = np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(p_values[order] * factor), 1.0)
    return out


def _multinomial_data(prob: Floats, index: NDArray[np.intp], weight: Floats | None) -> MultinomialData:
    """Rows without zeros, with the log ratios to the first class as offset."""
    ratios = np.log(prob[:, 1:]) - np.log(prob[:, :1])
    hits = (index[:, None] == np.arange(1, prob.shape[1])).astype(float)
    return MultinomialData(np.ones((len(prob), 1)), ratios, hits, np.ones(len(prob)) if weight is None else weight)


def _vector(g: Floats, index: NDArray[np.intp], weight: Floats | None) -> tuple[float, int, float, str]:
    n_classes = g.shape[1]
    degrees = n_classes * (n_classes - 1)
    if np.any(g[np.arange(len(g)), index] <= 0.0):
        return math.inf, degrees, 0.0, "a class of probability 0 happened"
    used = np.all(g > 0.0, axis=1)
    status = "" if used.all() else f"{int((~used).sum())} rows with a probability of 0 are left out of the vector test"
    if used.sum() < _ROWS_PER_PARAMETER * degrees:
        return math.nan, degrees, math.nan, f"too few rows ({int(used.sum())}) for {degrees} parameters of the vector"
    plain = _multinomial_data(g[used], index[used], None if weight is None else weight[used])
    design = np.column_stack([plain.design, plain.offset])
    data = MultinomialData(design, np.zeros_like(plain.offset), plain.hits, plain.weight)
    null = np.column_stack([np.zeros(n_classes - 1), np.eye(n_classes - 1)])
    fit = fit_multinomial(data, null)
    statistic = 2.0 * (fit.log_likelihood - plain.log_likelihood(plain.offset)) / data.design_effect(fit)
    if not fit.converged:
        status = "; ".join(filter(None, (status, "the vector's fit has no finite maximum: classes are separated")))
    return max(statistic, 0.0), degrees, chi2_tail(statistic, degrees), status


def _implied(
    prob: Floats, index: NDArray[np.intp], weight: Floats | None, level: float
) -> tuple[Floats, Floats, Floats]:
    """Weights that fit best, relative to the first class, from intercepts alone."""
    used = np.all(prob > 0.0, axis=1)
    nothing = np.full(prob.shape[1], np.nan)
    if len(np.unique(index[used])) < prob.shape[1]:
        return nothing, nothing, nothing
    data = _multinomial_data(prob[used], index[used], None if weight is None else weight[used])
    fit = fit_multinomial(data, np.zeros((prob.shape[1] - 1, 1)))
    spread = np.sqrt(np.diag(np.linalg.inv(fit.information)) * data.design_effect(fit))
    half = NormalDist().inv_cdf(0.5 + level / 2.0) * spread
    centre = -fit.coefficients[:, 0]
    weights, low, high = (np.exp(np.concatenate([[0.0], centre + move])) for move in (0.0, -half, half))
    return weights, low, high
