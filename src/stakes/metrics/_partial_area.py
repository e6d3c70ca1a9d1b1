"""Area under the ROC curve within bounds on either rate, and what each row adds to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.arrays import Floats
from stakes.base.validation import check_choice
from stakes.core.options import ranking_data, undefined
from stakes.core.score_table import ScoreTable
from stakes.costs import as_bounds

Scale = Literal["mcclish", "index", "raw"]
Bounds = tuple[float, float]


def partial_auc_score(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    fpr_bounds: Bounds = (0.0, 1.0),
    tpr_bounds: Bounds = (0.0, 1.0),
    scale: Scale = "mcclish",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
) -> float:
    """Area under the part of the ROC curve within bounds on the false and on the true positive rate.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    fpr_bounds : tuple of float, default (0, 1)
        False positive rates, 0 <= low < high <= 1.
    tpr_bounds : tuple of float, default (0, 1)
        True positive rates, 0 <= low < high <= 1. With both, the area is the two-way partial area.
    scale : {"mcclish", "index", "raw"}, default "mcclish"
        McClish's standardised area, 1/2 for chance and 1 for perfect; the share of the largest area within the bounds,
        which is the mean true positive rate for bounds on the false positive rate, and the mean specificity for
        bounds on the true positive rate; or the area itself.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Accepted for symmetry: the area does not depend on it.

    Returns
    -------
    float
        Higher is better; ``nan`` with a warning for one class only.

    Raises
    ------
    ValueError
        For invalid data, bounds or scale, and for McClish's scale where a score without information has the largest
        area too.

    Notes
    -----
    McClish (1989, doi:10.1177/0272989X8900900307); ``sklearn.metrics.roc_auc_score(max_fpr=f)`` is this with
    ``fpr_bounds=(0, f)``. For true positive rates from a least one up to 1, scale "index" is the partial area index of
    Jiang, Metz and Nishikawa (1996, doi:10.1148/radiology.201.3.8939225): the mean specificity of a test that must be
    that sensitive. The two-way area is that of Yang, Lu and Zhang (2019, doi:10.1177/0962280217718866). Its interval is
    ``metric_interval(..., "partial_auc_score", ...)``.

    Examples
    --------
    >>> from stakes.metrics import partial_auc_score
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> partial_auc_score(y_true, y_score, fpr_bounds=(0, 0.5), scale="raw")
    0.25
    >>> partial_auc_score(y_true, y_score, tpr_bounds=(0.5, 1), scale="index")
    0.5
    """
    window = RocWindow.of(fpr_bounds, tpr_bounds, scale)
    table = ranking_data(y_true, y_score, sample_weight, pos_label, prevalence).table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        return undefined("partial_auc_score", "only one class is present")
    return window.shift + window.factor * window.share_below(table)


@dataclass(frozen=True)
class RocWindow:
    """A rectangle of false and of true positive rates, and the scale on which the area within it is stated.

    A value on the scale is ``shift + factor * share``, where the share is that of the rectangle below the ROC curve.
    """

    fpr: Bounds
    tpr: Bounds
    shift: float
    factor: float

    @classmethod
    def of(
        cls, fpr_bounds: Bounds = (0.0, 1.0), tpr_bounds: Bounds = (0.0, 1.0), scale: Scale = "mcclish"
    ) -> RocWindow:
        """Check bounds and scale."""
        fpr, tpr = as_bounds(fpr_bounds, "fpr_bounds"), as_bounds(tpr_bounds, "tpr_bounds")
        check_choice(scale, "scale", ("mcclish", "index", "raw"))
        if scale != "mcclish":
            largest = (fpr[1] - fpr[0]) * (tpr[1] - tpr[0])
            return cls(fpr, tpr, 0.0, largest if scale == "raw" else 1.0)
        above = _mean_above(fpr[0], fpr[1], tpr[0]) - _mean_above(fpr[0], fpr[1], tpr[1])
        room = 1.0 - float(above) / (tpr[1] - tpr[0])  # of the rectangle, above the diagonal
        if tpr[1] <= fpr[0] or room <= 0.0:
            raise ValueError(
                f'scale must be "index" or "raw" for fpr_bounds={fpr} and tpr_bounds={tpr}, where a score without '
                f"information has the largest area too, got {scale!r}."
            )
        return cls(fpr, tpr, 1.0 - 0.5 / room, 0.5 / room)

    def share_below(self, table: ScoreTable) -> float:
        """Share of the rectangle that lies below the ROC curve, which joins tied scores by a straight line."""
        (left, right), (low, high) = self.fpr, self.tpr
        (f0, f1), (t0, t1) = _ends(table)
        bottom, top = np.clip(t0, low, high), np.clip(t1, low, high)
        rising = top > bottom
        (f0, f1, t0, t1, bottom, top) = (part[rising] for part in (f0, f1, t0, t1, bottom, top))
        slope = (f1 - f0) / (t1 - t0)
        start, end = f0 + slope * (bottom - t0), f1 - slope * (t1 - top)
        beside = right - _mean_within(start, np.maximum(start, end), left, right)
        return float(np.dot(top - bottom, beside)) / ((right - left) * (high - low))

    def placements(self, table: ScoreTable) -> tuple[Floats, Floats]:
        """Derivative of the share to a row of each class (negatives, positives) at each score, up to a constant.

        For the whole square, these are the placements of DeLong, DeLong and Clarke-Pearson (1988).
        """
        (left, right), (low, high) = self._crossed(table)
        (f0, f1), (t0, t1) = _ends(table)
        area = (self.fpr[1] - self.fpr[0]) * (self.tpr[1] - self.tpr[0])
        negatives = (_mean_within(t0, t1, low, high) - low) / area
        positives = (right - _mean_within(f0, f1, left, right)) / area
        return negatives[::-1], positives[::-1]

    def cuts_corner(self, table: ScoreTable) -> bool:
        """Whether the curve crosses two sides of the rectangle that meet, neither of which is a side of the square."""
        (left, right), (low, high) = self._crossed(table)
        lower_right = left > self.fpr[0] and right == self.fpr[1] < 1.0 and self.tpr[0] > 0.0
        upper_left = low > self.tpr[0] and high == self.tpr[1] < 1.0 and self.fpr[0] > 0.0
        return lower_right or upper_left

    def _crossed(self, table: ScoreTable) -> tuple[Bounds, Bounds]:
        """False and true positive rates where the curve enters and leaves the rectangle."""
        (f0, f1), (t0, t1) = _ends(table)
        fpr, tpr = np.append(f0, f1[-1]), np.append(t0, t1[-1])
        left = max(self.fpr[0], _height(tpr, fpr, self.tpr[0]))
        low = max(self.tpr[0], _height(fpr, tpr, self.fpr[0]))
        right = max(left, min(self.fpr[1], _height(tpr, fpr, self.tpr[1])))
        return (left, right), (low, max(low, min(self.tpr[1], _height(fpr, tpr, self.fpr[1]))))


def _ends(table: ScoreTable) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """False and true positive rates above and down to each score, from the highest score to the lowest."""
    fpr = table.false_positives[::-1] * (table.total / table.total_negatives)
    tpr = 1.0 - table.false_negatives[::-1] * (table.total / table.total_positives)
    return (fpr[:-1], fpr[1:]), (tpr[:-1], tpr[1:])


def _height(x: Floats, y: Floats, at: float) -> float:
    """Height of a rising polygon; on a vertical part, the middle of it."""
    first, last = int(np.searchsorted(x, at, side="left")), int(np.searchsorted(x, at, side="right"))
    if last > first:
        return 0.5 * float(y[first] + y[last - 1])
    if last in (0, len(x)):
        return float(y[min(last, len(x) - 1)])
    return float(y[last - 1] + (y[last] - y[last - 1]) * (at - x[last - 1]) / (x[last] - x[last - 1]))


def _mean_within(start: Floats, end: Floats, low: float, high: float) -> Floats:
    """Mean over each interval of a number that is moved to the nearer end where it lies outside [low, high]."""
    return low + _mean_above(start, end, low) - _mean_above(start, end, high)


def _mean_above(start: Floats | float, end: Floats | float, cut: float) -> Floats:
    """Mean over each interval of what a number exceeds a cut by."""
    start, end = np.asarray(start), np.asarray(end)
    width = np.where(end > start, end - start, 1.0)
    crossed = 0.5 * (end - cut) ** 2 / width
    return np.where(start >= cut, 0.5 * (start + end) - cut, np.where(end <= cut, 0.0, crossed))
