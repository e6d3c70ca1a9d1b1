"""Was the model loss-calibrated to the weight that is stated, which weight fits best, and what is left afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import EvaluationData, evaluation_data, refuse_weighing
from stakes.core.random_state import generator
from stakes.core.score_table import ScoreTable
from stakes.core.sums import weighted_sum
from stakes.core.validation import check_level, check_whole, positive_last, to_array
from stakes.correction._implied import ImpliedWeight, implied_weight_of
from stakes.correction._inputs import class_weights, sampling_factors
from stakes.correction._multiclass import MulticlassLossCalibrationTest, multiclass_test, read_rows
from stakes.correction._shift import shift_odds
from stakes.correction._statistics import (
    Evidence,
    bootstrap_rows,
    bootstrap_table,
    brier_miscalibration,
    is_weighted,
    recalibration_test,
    sequential_e_value,
    spiegelhalter,
)
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


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
    >>> found = loss_calibration_test([0, 1, 0, 1], [0.2, 0.6, 0.5, 0.9], n_bootstrap=0)
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
    >>> found = loss_calibration_test(y, scores, positive_share=0.8, n_bootstrap=99, random_state=0)
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
        """Whether the likelihood ratio leaves the stated weight standing."""
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
            ("e-value", self.largest_e_value, _at_most_one(self.largest_e_value)),
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
    n_bootstrap: int = 999,
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
    n_bootstrap : int, default 999
        Draws of the parametric bootstrap of the miscalibration; 0 for none.
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
    >>> loss_calibration_test(y, scores, positive_share=0.8, n_bootstrap=99, random_state=0)
    LossCalibrationTest(
      positive_share 0.8 is rejected by the labels (likelihood ratio 312, p = 1.92e-68)
      positive_share 0.9033 fits best (95% interval 0.8943 to 0.9117)
      Brier miscalibration 0.168 before, 0.0231 after correction, 0.00217 with the best weight
    )
    """
    n_bootstrap = check_whole(n_bootstrap, "n_bootstrap")
    level = check_level(confidence_level)
    n_classes = _n_classes(y_true, y_prob)
    stated: dict[str, Any] = {"positive_share": positive_share, "class_weight": class_weight}
    stated |= {"scale_pos_weight": scale_pos_weight, "pos_weight": pos_weight}
    stated |= {"y_train": y_train, "labels": labels, "pos_label": pos_label}
    factors = stated_factors(n_classes, keep=keep, repeat=repeat, **stated)
    rng = generator(random_state)
    if n_classes > 2:
        if logits:
            raise ValueError("logits=True is for two classes: pass the softmax of the logits.")
        rows = read_rows(y_true, y_prob, factors, labels, sample_weight)
        return multiclass_test(rows, level, n_bootstrap, rng)
    refuse_weighing(y_true, "loss_calibration_test")
    data = evaluation_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, logits=logits)
    return _binary_test(data, factors, n_bootstrap, level, rng)


def stated_factors(
    n_classes: int,
    *,
    keep: Any,
    repeat: Any,
    labels: ArrayLike | None,
    y_train: ArrayLike | None,
    pos_label: object = None,
    **stated: Any,
) -> Floats:
    """What each class counts in the training, weights and sampling together; all ones if nothing is stated."""
    factors, one_column = np.ones(n_classes), n_classes == 2
    if pos_label is not None and one_column:
        labels = _labels_of(labels, pos_label, (keep, repeat), y_train, stated)
    options: dict[str, Any] = {"labels": labels, "one_column": one_column}
    if any(value is not None for value in stated.values()):
        factors = factors * class_weights(n_classes, y_train=y_train, **options, **stated)
    return factors * sampling_factors(keep, repeat, n_classes, **options)


def _labels_of(
    labels: Any, pos_label: object, sampling: tuple[Any, Any], y_train: Any, stated: dict[str, Any]
) -> list[Any] | None:
    """The two classes, the positive one last, as labels= says or what else is given names them."""
    if labels is not None:
        order = np.atleast_1d(to_array(labels, "labels")).tolist()
        if order[-1:] != [pos_label]:
            raise ValueError(f"labels must end with the positive class, pos_label={pos_label!r}, got {order}.")
        return order
    given = (*sampling, stated.get("class_weight"))
    named = {label for value in given if isinstance(value, Mapping) for label in value}
    return positive_last(
        pos_label, named | set([] if y_train is None else np.atleast_1d(to_array(y_train, "y_train")).tolist())
    )


def _n_classes(y_true: Any, y_prob: Any) -> int:
    if isinstance(y_true, ScoreTable) or y_prob is None:
        return 2
    shape = to_array(y_prob, "y_prob").shape
    return max(shape[1], 2) if len(shape) == 2 else 2


def _binary_test(
    data: EvaluationData, factors: Floats, repeats: int, level: float, rng: np.random.Generator
) -> LossCalibrationTest:
    raw = data.table
    ratio = float(factors[1] / factors[0])
    table = corrected_table(raw, 1.0 / ratio)
    recalibration = recalibration_test(table)
    z, z_p = spiegelhalter(table)
    mcb, mcb_p = _miscalibration(data, table, ratio, repeats, rng)
    evidence, remark = _evidence(data, ratio, level)
    implied = implied_weight_of(raw, level)
    best = implied.scale_pos_weight
    fitted = corrected_table(raw, 1.0 / best) if 0.0 < best < math.inf else None
    return LossCalibrationTest(
        ratio / (1.0 + ratio),
        recalibration.statistic,
        recalibration.p_value,
        z,
        z_p,
        mcb,
        mcb_p,
        evidence.last,
        evidence.largest,
        evidence.crossed_at,
        implied,
        _remainder(raw),
        _remainder(table),
        Remainder(math.nan, math.nan, math.nan) if fitted is None else _remainder(fitted),
        level,
        "; ".join(filter(None, (recalibration.status, remark))),
    )


def corrected_table(table: ScoreTable, factor: float) -> ScoreTable:
    """The same rows with the odds of every score multiplied; scores that become equal are pooled."""
    moved = shift_odds(table.scores, factor)
    new = np.concatenate([[True], moved[1:] > moved[:-1]])
    if table.lower is not None and table.upper is not None:
        table = replace(
            table, lower=shift_odds(table.lower, factor), upper=shift_odds(table.upper, factor), resolution=None
        )
    if new.all():
        return replace(table, scores=moved)
    starts = np.flatnonzero(new)
    return table.pooled(moved[starts], starts)


def _miscalibration(
    data: EvaluationData, table: ScoreTable, ratio: float, repeats: int, rng: np.random.Generator
) -> tuple[float, float]:
    if not is_weighted(table):
        return bootstrap_table(table, repeats, rng)
    if data.sample is None or data.sample.weight is None:
        if repeats:
            raise ValueError("the bootstrap of a weighted table needs its rows: pass them, or n_bootstrap=0.")
        return brier_miscalibration(table.scores, table.positives, table.negatives), math.nan
    rows = data.sample
    return bootstrap_rows(shift_odds(rows.score, 1.0 / ratio), rows.y, data.sample.weight, repeats, rng)


def _evidence(data: EvaluationData, ratio: float, level: float) -> tuple[Evidence, str]:
    if data.sample is None:
        return Evidence(math.nan, math.nan, None), "a table has no order of rows, which the e-value needs"
    rows = data.sample
    return sequential_e_value(rows.y, shift_odds(rows.score, 1.0 / ratio), rows.weight, 1.0 - level), ""


def _at_most_one(e_value: float) -> float:
    """The p-value that an e-value bounds."""
    return math.nan if math.isnan(e_value) else 1.0 / max(e_value, 1.0)


def _remainder(table: ScoreTable) -> Remainder:
    with np.errstate(divide="ignore"):
        logs = -np.log(table.scores), -np.log1p(-table.scores)
    squares = (1.0 - table.scores) ** 2, table.scores**2
    log_loss, brier = (
        (weighted_sum(table.positives, up) + weighted_sum(table.negatives, down)) / table.total
        for up, down in (logs, squares)
    )
    return Remainder(log_loss, brier, brier_miscalibration(table.scores, table.positives, table.negatives))
