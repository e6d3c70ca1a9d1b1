"""The test of loss calibration, and the loss-calibration curve."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base import validation
from stakes.base.arrays import Floats
from stakes.base.numerics import weighted_sum
from stakes.core.options import EvaluationData, evaluation_data, refuse_weighing
from stakes.core.score_table import ScoreTable
from stakes.correction._implied_weight import (
    Evidence,
    ImpliedWeight,
    bootstrap_rows,
    bootstrap_table,
    brier_miscalibration,
    chi2_tail,
    implied_weight_of,
    is_weighted,
    recalibration_test,
    sequential_e_value,
    spiegelhalter,
)
from stakes.correction._weights import Stated, class_weights, sampling_factors, shift_odds, shift_rows, training_labels
from stakes.curves import BinnedReliability, ReliabilityCurve, binned_reliability_of, reliability_curve_of
from stakes.metrics import check_multiclass
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import Tabular
from stakes.variance.sums import holm

Draws = tuple[int, np.random.Generator]


# Multinomial logistic recalibration of class probabilities on their log ratios, by Newton's method.

_MAX_STEPS = 100
_HALVINGS = 60
_TOLERANCE = 1e-10


@dataclass(frozen=True)
class MultinomialFit:
    """Coefficients (K - 1, q), their information, the log likelihood, and whether the fit converged."""

    coefficients: Floats
    information: Floats
    log_likelihood: float
    converged: bool


@dataclass(frozen=True)
class MultinomialData:
    """The data of the multinomial model; class 0 is the reference."""

    design: Floats  # (n, q)
    offset: Floats  # (n, K - 1)
    hits: Floats  # (n, K - 1), one where that class happened
    weight: Floats

    def predictor(self, coefficients: Floats) -> Floats:
        return self.offset + self.design @ coefficients.T

    def log_likelihood(self, predictor: Floats) -> float:
        top = np.maximum(predictor.max(axis=1), 0.0)
        normaliser = top + np.log(np.exp(-top) + np.exp(predictor - top[:, None]).sum(axis=1))
        return float(self.weight @ ((self.hits * predictor).sum(axis=1) - normaliser))

    def probabilities(self, predictor: Floats) -> Floats:
        top = np.maximum(predictor.max(axis=1, keepdims=True), 0.0)
        odds = np.exp(predictor - top)
        return odds / (np.exp(-top) + odds.sum(axis=1, keepdims=True))

    def information(self, prob: Floats) -> Floats:
        classes, width = prob.shape[1], self.design.shape[1]
        out = np.empty((classes, width, classes, width))
        for k in range(classes):
            for j in range(k + 1):
                spread = self.weight * prob[:, k] * ((k == j) - prob[:, j])
                out[k, :, j, :] = self.design.T @ (self.design * spread[:, None])
                out[j, :, k, :] = out[k, :, j, :].T
        return out.reshape(classes * width, classes * width)

    def design_effect(self, fit: MultinomialFit) -> float:
        """Mean factor by which weights inflate the variances (Rao and Scott 1984); 1 where all are equal to 1."""
        if np.all(self.weight == 1.0):
            return 1.0
        residual = self.hits - self.probabilities(self.predictor(fit.coefficients))
        rows = (residual * self.weight[:, None])[:, :, None] * self.design[:, None, :]
        flat = rows.reshape(len(rows), -1)
        return float(np.trace(np.linalg.solve(fit.information, flat.T @ flat))) / flat.shape[1]


def fit_multinomial(data: MultinomialData, start: Floats) -> MultinomialFit:
    """Fit by maximum likelihood, which is concave."""
    coefficients = start
    predictor = data.predictor(coefficients)
    value = data.log_likelihood(predictor)
    for _ in range(_MAX_STEPS):
        prob = data.probabilities(predictor)
        information = data.information(prob)
        gradient = ((data.hits - prob) * data.weight[:, None]).T @ data.design
        step = np.linalg.lstsq(information, gradient.ravel(), rcond=None)[0]
        if float(gradient.ravel() @ step) <= _TOLERANCE:
            return MultinomialFit(coefficients, information, value, converged=True)
        step = step.reshape(coefficients.shape)
        for _ in range(_HALVINGS):
            predictor = data.predictor(coefficients + step)
            after = data.log_likelihood(predictor)
            if after >= value:
                break
            step = step / 2.0
        coefficients, value = coefficients + step, after
    return MultinomialFit(coefficients, information, value, converged=False)


# The test with more than two classes: every coordinate with Holm's adjustment, and the whole vector.

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
    >>> found = loss_calibration_test(y, scores, class_weight=[1, 2, 5], n_resamples=0)
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


def _multiclass_test(
    y_true: Any, y_prob: Any, factors: Floats, labels: Any, sample_weight: Any, *, level: float, draws: Draws
) -> MulticlassLossCalibrationTest:
    """Validate and correct rows, drop those of weight zero, and test every coordinate and the vector."""
    index, prob, weight = check_multiclass(y_true, y_prob, labels, sample_weight)
    raw = np.asarray(prob, dtype=np.float64)
    if weight is not None and not np.all(weight):
        index, raw, weight = index[weight > 0.0], raw[weight > 0.0], weight[weight > 0.0]
    corrected = shift_rows(raw, 1.0 / factors)
    classes = range(len(factors)) if labels is None else np.asarray(labels).tolist()
    found = [_coordinate(corrected[:, k], index == k, weight, draws) for k in range(len(classes))]
    ratio, p, z_p, mcb, mcb_p = map(np.array, zip(*found, strict=True))
    coordinates = (ratio, p, holm(p), z_p, mcb, mcb_p)
    statistic, degrees, vector_p, status = _vector(corrected, index, weight)
    vector = (statistic, degrees, vector_p, *_implied(raw, index, weight, level))
    return MulticlassLossCalibrationTest(tuple(classes), *coordinates, *vector, level, status)


def _coordinate(g: Floats, hit: NDArray[np.bool_], weight: Floats | None, draws: Draws) -> tuple[float, ...]:
    table = ScoreTable.from_sample(validation.BinarySample(hit, g, weight))
    ratio = recalibration_test(table)
    mcb = bootstrap_table(table, *draws) if weight is None else bootstrap_rows(g, hit, weight, *draws)
    return ratio.statistic, ratio.p_value, spiegelhalter(table)[1], *mcb


def _multinomial_data(prob: Floats, index: NDArray[np.intp], weight: Floats | None) -> MultinomialData:
    """Build the model's data: rows without zero scores, with log ratios to the first class as the offset."""
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
    """Estimate class weights relative to the first class, from intercepts alone."""
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


# Tests of the stated weight, the best-fitting weight, and the remaining miscalibration.


@dataclass(frozen=True)
class Remainder:
    """How good scores are: log loss, Brier score, and its part that recalibration would save.

    Parameters
    ----------
    log_loss, brier : float
        Of the scores.
    miscalibration : float
        CORP miscalibration of the Brier score, in-sample.

    Examples
    --------
    >>> from stakes.correction import loss_calibration_test
    >>> found = loss_calibration_test([0, 1, 0, 1], [0.2, 0.6, 0.5, 0.9], n_resamples=0)
    >>> round(found.before.brier, 3)
    0.115
    """

    log_loss: float
    brier: float
    miscalibration: float


@dataclass(frozen=True, repr=False)
class LossCalibrationTest(Tabular):
    """Answers of :func:`loss_calibration_test`.

    Parameters
    ----------
    positive_share : float
        The stated relative weight of the positive class; 1/2 is none.
    likelihood_ratio, p_value : float
        Logistic recalibration of the corrected scores: intercept 0 and slope 1 against any.
    z, z_p_value : float
        Spiegelhalter's test of the corrected scores.
    miscalibration, miscalibration_p_value : float
        CORP miscalibration of the Brier score of the corrected scores, and its parametric bootstrap.
    e_value, largest_e_value : float
        Sequential evidence against the corrected scores after the last row, and at its highest.
    crossed_at : int or None
        Row at which the evidence first reached 1 / (1 - confidence_level).
    implied : ImpliedWeight
        The weight that fits the scores best.
    before, after, best : Remainder
        What the scores are worth as they are, corrected as stated, and corrected by the best-fitting weight.
    confidence_level : float
        Of the verdict and the intervals.
    status : str
        What could not be tested, and why.

    Examples
    --------
    >>> from stakes.correction import loss_calibration_test
    >>> y, scores = [0, 0, 1, 0, 0, 1, 1, 0], [0.3, 0.6, 0.7, 0.5, 0.4, 0.9, 0.8, 0.7]
    >>> found = loss_calibration_test(y, scores, positive_share=0.8, n_resamples=99, random_state=0)
    >>> found.loss_calibrated
    True
    >>> found.frame("polars").columns
    ['test', 'statistic', 'p_value']
    """

    positive_share: float
    likelihood_ratio: float
    p_value: float
    z: float
    z_p_value: float
    miscalibration: float
    miscalibration_p_value: float
    e_value: float
    largest_e_value: float
    crossed_at: int | None
    implied: ImpliedWeight
    before: Remainder
    after: Remainder
    best: Remainder
    confidence_level: float
    status: str = ""

    @property
    def loss_calibrated(self) -> bool:
        """Whether the likelihood ratio test does not reject the stated weight."""
        return bool(self.p_value > 1.0 - self.confidence_level)

    @property
    def answers(self) -> tuple[str, str, str]:
        """The three answers in words."""
        verdict = "is compatible with" if self.loss_calibrated else "is rejected by"
        share, low, high = self.implied.positive_share, self.implied.ci_low, self.implied.ci_high
        fits = f"positive_share {share:.4g} fits best ({self.confidence_level:.0%} interval {low:.4g} to {high:.4g})"
        if self.implied.slope_p_value <= 1.0 - self.confidence_level:
            fits += f", but no weight alone explains the scores: their slope is {self.implied.slope:.3g}"
        left = [f"{part.miscalibration:.3g}" for part in (self.before, self.after, self.best)]
        ratio = f"likelihood ratio {self.likelihood_ratio:.3g}, p = {self.p_value:.3g}"
        return (
            f"positive_share {self.positive_share:.4g} {verdict} the labels ({ratio})",
            fits if math.isfinite(share) else f"no weight fits: {self.implied.status}",
            f"Brier miscalibration {left[0]} before, {left[1]} after correction, {left[2]} with the best weight",
        )

    def _records(self) -> list[dict[str, Any]]:
        rows = (
            ("likelihood ratio", self.likelihood_ratio, self.p_value),
            ("Spiegelhalter z", self.z, self.z_p_value),
            ("CORP miscalibration", self.miscalibration, self.miscalibration_p_value),
            ("e-value", self.largest_e_value, 1.0 / max(self.largest_e_value, 1.0)),
        )
        return [{"test": test, "statistic": statistic, "p_value": p} for test, statistic, p in rows]

    def __repr__(self) -> str:
        return "LossCalibrationTest(\n" + "".join(f"  {answer}\n" for answer in self.answers) + ")"


def loss_calibration_test(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    positive_share: float | None = None,
    class_weight: Mapping[Any, float] | ArrayLike | str | None = None,
    scale_pos_weight: float | None = None,
    pos_weight: float | None = None,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    logits: bool = False,
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> LossCalibrationTest | MulticlassLossCalibrationTest:
    """Test that a model's scores are what the stated class weight or sampling makes of calibrated probabilities.

    It answers three questions: was the model loss-calibrated to the weight you state; if not, which weight fits best;
    and what is left after the correction.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels that the model was not trained on, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, K), optional
        Scores as the model gives them, not corrected.
    positive_share, class_weight, scale_pos_weight, pos_weight, y_train
        The weight, in one of the ways of :func:`undo_class_weight`; none means an unweighted model.
    keep, repeat : mapping of label to number, or array_like of shape (K,), optional
        The sampling, as in :func:`undo_sampling`.
    labels : array_like of shape (K,), optional
        The classes in the order of the columns.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, taken for sampling weights and not for repeated rows.
    pos_label : object, optional
        The label of the positive class of two.
    logits : bool, default False
        Whether the scores are log-odds (two classes only).
    n_resamples : int, default 999
        Draws of the parametric bootstrap of the miscalibration, at most; 0 for none. It ends where no further draw
        would reach what was observed, and, with over 65,536 distinct scores, when 50 draws have.
    confidence_level : float, default 0.95
        Of the verdict and the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For the bootstrap.

    Returns
    -------
    LossCalibrationTest, or MulticlassLossCalibrationTest for more than two classes
        With several classes each corrected coordinate is tested, with Holm's adjustment, and the vector by
        multinomial recalibration.

    Raises
    ------
    ValueError
        For invalid data, more than one way to state the weight, and for a weighted table with a bootstrap, which
        needs the rows.

    Notes
    -----
    Testing loss-calibration is testing calibration of the corrected scores. The likelihood ratio (Cox 1958; two
    degrees of freedom) is the main test; with weights it is divided by the mean design effect. Spiegelhalter's z (1986)
    is blind where probabilities are 1/2. The miscalibration is omnibus and needs no bins (Dimitriadis, Gneiting and
    Jordan 2021). The e-value is a mixture of 63 bets on shifts and slopes of the log-odds: it may be watched row by
    row, and exceeds 1/alpha at any time with probability at most alpha (Ville); rows must be in the order of time.
    A table has no order, so its e-value is nan. Scores of exactly 0 and 1 that are right are left aside by the
    likelihood ratio; one that is wrong rejects at once.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.correction import apply_class_weight, loss_calibration_test
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 4, 3000)
    >>> y = rng.random(3000) < p
    >>> scores = apply_class_weight(p, positive_share=0.9)
    >>> loss_calibration_test(y, scores, positive_share=0.8, n_resamples=99, random_state=0)
    LossCalibrationTest(
      positive_share 0.8 is rejected by the labels (likelihood ratio 312, p = 1.92e-68)
      positive_share 0.9033 fits best (95% interval 0.8943 to 0.9117)
      Brier miscalibration 0.168 before, 0.0231 after correction, 0.00217 with the best weight
    )
    """
    n_resamples = validation.check_whole(n_resamples, "n_resamples")
    level = validation.check_level(confidence_level)
    n_classes = _n_classes(y_true, y_prob)
    stated = Stated(positive_share, class_weight, scale_pos_weight, pos_weight)
    factors = _stated_factors(n_classes, stated, (keep, repeat), y_train, labels, pos_label=pos_label)
    draws = n_resamples, validation.generator(random_state)
    if n_classes > 2:
        if logits:
            raise ValueError("logits=True is for two classes: pass the softmax of the logits.")
        return _multiclass_test(y_true, y_prob, factors, labels, sample_weight, level=level, draws=draws)
    refuse_weighing(y_true, "loss_calibration_test")
    data = evaluation_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, logits=logits)
    return _binary_test(data, float(factors[1] / factors[0]), level, draws)


def _stated_factors(
    n_classes: int,
    stated: Stated,
    sampling: tuple[Any, Any],
    y_train: ArrayLike | None,
    labels: ArrayLike | None,
    *,
    pos_label: object,
) -> Floats:
    """Combined factor of weight and sampling of each class in training; ones if nothing is stated."""
    factors, one_column = np.ones(n_classes), n_classes == 2
    if pos_label is not None and one_column:
        labels = _labels_of(labels, validation.one_label(pos_label), (*sampling, stated.class_weight), y_train)
    if any(value is not None for value in stated):
        factors = class_weights(n_classes, stated, y_train, labels, one_column=one_column)
    return factors * sampling_factors(*sampling, n_classes, labels, one_column=one_column)


def _labels_of(labels: Any, pos_label: object, given: tuple[Any, ...], y_train: Any) -> list[Any] | None:
    """Return the two classes, the positive one last, from labels= or the other arguments."""
    if labels is not None:
        order = np.atleast_1d(validation.to_array(labels, "labels")).tolist()
        if order[-1:] != [pos_label]:
            raise ValueError(f"labels must end with the positive class, pos_label={pos_label!r}, got {order}.")
        return order
    named = {label for value in given if isinstance(value, Mapping) for label in value}
    trained = [] if y_train is None else training_labels(y_train).tolist()
    return validation.positive_last(pos_label, named | set(trained))


def _n_classes(y_true: Any, y_prob: Any) -> int:
    if isinstance(y_true, ScoreTable) or y_prob is None:
        return 2
    shape = validation.to_array(y_prob, "y_prob").shape
    return max(shape[1], 2) if len(shape) == 2 else 2


def _binary_test(data: EvaluationData, ratio: float, level: float, draws: Draws) -> LossCalibrationTest:
    raw, table = data.table, corrected_table(data.table, 1.0 / ratio)
    recalibration = recalibration_test(table)
    miscalibration = _miscalibration(data, table, ratio, draws)
    evidence, remark = Evidence(math.nan, math.nan, None), "a table has no order of rows, which the e-value needs"
    if data.sample is not None:
        corrected = shift_odds(data.sample.score, 1.0 / ratio)
        evidence, remark = sequential_e_value(data.sample.y, corrected, data.sample.weight, 1.0 - level), ""
    implied = implied_weight_of(raw, level)
    best = implied.scale_pos_weight
    left = Remainder(math.nan, math.nan, math.nan)
    if 0.0 < best < math.inf:
        left = _remainder(corrected_table(raw, 1.0 / best))
    return LossCalibrationTest(
        ratio / (1.0 + ratio),
        *(recalibration.statistic, recalibration.p_value, *spiegelhalter(table), *miscalibration, *evidence),
        implied,
        *(_remainder(raw), _remainder(table), left),
        level,
        "; ".join(filter(None, (recalibration.status, remark))),
    )


def corrected_table(table: ScoreTable, factor: float) -> ScoreTable:
    """Multiply the odds of every score of a table; pool scores that become equal."""
    shifted = shift_odds(table.scores, factor)
    new = np.concatenate([[True], shifted[1:] > shifted[:-1]])
    if table.lower is not None and table.upper is not None:
        table = replace(
            table, lower=shift_odds(table.lower, factor), upper=shift_odds(table.upper, factor), resolution=None
        )
    if new.all():
        return replace(table, scores=shifted)
    starts = np.flatnonzero(new)
    return table.pooled(shifted[starts], starts)


def _miscalibration(data: EvaluationData, table: ScoreTable, ratio: float, draws: Draws) -> tuple[float, float]:
    if not is_weighted(table):
        return bootstrap_table(table, *draws)
    if data.sample is None or data.sample.weight is None:
        if draws[0]:
            raise ValueError("the bootstrap of a weighted table needs its rows: pass them, or n_resamples=0.")
        return brier_miscalibration(table.scores, table.positives, table.negatives), math.nan
    rows = data.sample
    return bootstrap_rows(shift_odds(rows.score, 1.0 / ratio), rows.y, data.sample.weight, *draws)


def _remainder(table: ScoreTable) -> Remainder:
    with np.errstate(divide="ignore"):
        logs = -np.log(table.scores), -np.log1p(-table.scores)
    squares = (1.0 - table.scores) ** 2, table.scores**2
    log_loss, brier = (
        (weighted_sum(table.positives, up) + weighted_sum(table.negatives, down)) / table.total
        for up, down in (logs, squares)
    )
    return Remainder(log_loss, brier, brier_miscalibration(table.scores, table.positives, table.negatives))


# Reliability of scores trained with class weights, and the curve that the stated weight predicts.


@dataclass(frozen=True, eq=False, repr=False)
class LossCalibrationCurve(Tabular):
    """Observed event rates against the scores, before and after correction, and the theoretical curve between them.

    Parameters
    ----------
    positive_share : float
        The stated relative weight of the positive class.
    before, after : ReliabilityCurve
        Isotonic reliability of the scores as they are, and corrected.
    bins_before, bins_after : BinnedReliability
        Event rates in bins of about equal weight, with intervals.
    name : str
        The model.

    Examples
    --------
    >>> from stakes.correction import loss_calibration_curve
    >>> y, scores = [0, 0, 1, 0, 0, 1, 1, 0], [0.3, 0.6, 0.7, 0.5, 0.4, 0.9, 0.8, 0.7]
    >>> curve = loss_calibration_curve(y, scores, positive_share=0.8, n_bins=2)
    >>> curve.expected_rate([0.5, 0.8]).round(6).tolist()
    [0.2, 0.5]
    >>> curve.frame("polars").columns[:4]
    ['mean_score', 'expected_rate', 'event_rate', 'ci_low']
    """

    kind: ClassVar[str] = "loss calibration"

    positive_share: float
    before: ReliabilityCurve
    after: ReliabilityCurve
    bins_before: BinnedReliability
    bins_after: BinnedReliability
    name: str = "model"

    def expected_rate(self, score: ArrayLike) -> Floats:
        """Event rate at a score of a model that is loss-calibrated to the stated weight.

        Parameters
        ----------
        score : array_like of shape (n,)
            Scores in [0, 1].

        Returns
        -------
        ndarray of shape (n,)

        Examples
        --------
        >>> from stakes.correction import loss_calibration_curve
        >>> loss_calibration_curve([0, 1], [0.3, 0.9], scale_pos_weight=9).expected_rate([0.9]).round(6).tolist()
        [0.5]
        """
        share = self.positive_share
        return shift_odds(validation.check_scores(validation.to_array(score, "score"), "score"), (1.0 - share) / share)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to :meth:`LossCalibrationDisplay.plot`, such as ``scale="log"``.

        Returns
        -------
        LossCalibrationDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.correction import loss_calibration_curve
        >>> display = loss_calibration_curve([0, 1, 0, 1], [0.3, 0.9, 0.6, 0.7], scale_pos_weight=2).plot()
        """
        return draw(self, ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        bins = self.bins_before
        columns = {"mean_score": bins.mean_score, "expected_rate": self.expected_rate(bins.mean_score)}
        columns |= {name: getattr(bins, name) for name in ("event_rate", "ci_low", "ci_high", "weight")}
        return [dict(zip(columns, row, strict=True)) for row in np.column_stack(list(columns.values())).tolist()]

    def __repr__(self) -> str:
        return f"LossCalibrationCurve({self.name}, positive_share {self.positive_share:.4g})"


def loss_calibration_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    positive_share: float | None = None,
    class_weight: Mapping[Any, float] | ArrayLike | str | None = None,
    scale_pos_weight: float | None = None,
    pos_weight: float | None = None,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_bins: int = 20,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    logits: bool = False,
    name: str = "model",
) -> LossCalibrationCurve:
    """Event rate against the score, with the curve that the stated class weight or sampling predicts.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Scores as the model gives them, not corrected.
    positive_share, class_weight, scale_pos_weight, pos_weight, y_train
        The weight, in one of the ways of :func:`undo_class_weight`; none means an unweighted model.
    keep, repeat : mapping of label to number, or array_like of shape (2,), optional
        The sampling, as in :func:`undo_sampling`.
    labels : array_like of shape (2,), optional
        The classes, the positive one last.
    n_bins : int, default 20
        Number of bins of about equal weight for the event rates with intervals.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    LossCalibrationCurve

    Raises
    ------
    ValueError
        For invalid data, or more than one way to state the weight.

    Notes
    -----
    Caplin, Martin and Marx (2022), Figures 1 to 4. The theoretical curve is the inverse of the map from posterior to
    score: the diagonal for a model without weights.

    Examples
    --------
    >>> from stakes.correction import loss_calibration_curve
    >>> loss_calibration_curve([0, 1, 0, 1], [0.3, 0.9, 0.6, 0.7], scale_pos_weight=4)
    LossCalibrationCurve(model, positive_share 0.8)
    """
    n_bins = validation.check_whole(n_bins, "n_bins", 1)
    stated = Stated(positive_share, class_weight, scale_pos_weight, pos_weight)
    factors = _stated_factors(2, stated, (keep, repeat), y_train, labels, pos_label=pos_label)
    refuse_weighing(y_true, "loss_calibration_curve")
    table = evaluation_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, logits=logits).table
    after = corrected_table(table, float(factors[0] / factors[1]))
    curves = reliability_curve_of(table, name), reliability_curve_of(after, name)
    bins = [binned_reliability_of(each, name, n_bins=n_bins) for each in (table, after)]
    return LossCalibrationCurve(float(factors[1] / factors.sum()), *curves, bins[0], bins[1], name)
