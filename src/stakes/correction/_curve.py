"""Reliability of scores that were trained with class weights, beside what the stated weight says it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.validation import check_scores, check_whole, to_array
from stakes.correction._calibration_test import corrected_table, stated_factors
from stakes.correction._shift import shift_odds
from stakes.curves._bins import binned_reliability_of
from stakes.curves._reliability import reliability_curve_of
from stakes.shown.faces import draw
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.curves import BinnedReliability, ReliabilityCurve

    Floats = NDArray[np.float64]


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
        return shift_odds(check_scores(to_array(score, "score"), "score"), (1.0 - share) / share)

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
        columns = {
            "mean_score": bins.mean_score,
            "expected_rate": self.expected_rate(bins.mean_score),
            "event_rate": bins.event_rate,
            "ci_low": bins.ci_low,
            "ci_high": bins.ci_high,
            "weight": bins.weight,
        }
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
    n_bins = check_whole(n_bins, "n_bins", 1)
    stated: dict[str, Any] = {"positive_share": positive_share, "class_weight": class_weight}
    stated |= {"scale_pos_weight": scale_pos_weight, "pos_weight": pos_weight}
    stated |= {"y_train": y_train, "labels": labels, "pos_label": pos_label}
    factors = stated_factors(2, keep=keep, repeat=repeat, **stated)
    refuse_weighing(y_true, "loss_calibration_curve")
    table = evaluation_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, logits=logits).table
    after = corrected_table(table, float(factors[0] / factors[1]))
    return LossCalibrationCurve(
        float(factors[1] / factors.sum()),
        reliability_curve_of(table, name),
        reliability_curve_of(after, name),
        binned_reliability_of(table, name, n_bins=n_bins),
        binned_reliability_of(after, name, n_bins=n_bins),
        name,
    )
