"""Reliability: what share of cases were positive among those given each score, by isotonic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.curves._curve import Curve, through

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityCurve(Curve):
    """A reliability curve and the isotonic blocks behind it.

    Parameters
    ----------
    block_low, block_high : ndarray
        Smallest and largest score of each block.
    block_rate : ndarray
        Observed event rate of each block.
    block_weight : ndarray
        Total weight of each block.

    Examples
    --------
    >>> from stakes import reliability_curve
    >>> reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).block_rate.tolist()
    [0.0, 0.5, 1.0]
    """

    block_low: Floats = None  # type: ignore[assignment]
    block_high: Floats = None  # type: ignore[assignment]
    block_rate: Floats = None  # type: ignore[assignment]
    block_weight: Floats = None  # type: ignore[assignment]

    def frame(self, backend: Any = None) -> Any:
        """Return one row for each isotonic block as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``score_low``, ``score_high``, ``event_rate``, ``weight``.

        Examples
        --------
        >>> from stakes import reliability_curve
        >>> reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).frame("polars").shape
        (3, 4)
        """
        from stakes.shown.frames import build_frame

        columns = {
            "score_low": self.block_low,
            "score_high": self.block_high,
            "event_rate": self.block_rate,
            "weight": self.block_weight,
        }
        return build_frame(columns, backend)


def reliability_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> ReliabilityCurve:
    """Observed event rate against the score, without bins: the diagonal is perfect calibration.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    ReliabilityCurve
        Defined from the smallest to the largest score, linear between isotonic blocks.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    CORP: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118. Tied scores are pooled first.

    Examples
    --------
    >>> from stakes import reliability_curve
    >>> reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).at([0.35, 0.6]).tolist()
    [0.5, 0.75]
    """
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    return reliability_curve_of(data.table, name)


def reliability_curve_of(table: ScoreTable, name: str = "model") -> ReliabilityCurve:
    """Reliability curve from a clean table."""
    starts = table.pav_starts
    low, high = table.scores[starts[:-1]], table.scores[starts[1:] - 1]
    rate = table.pav_values
    weight = np.add.reduceat(table.positives, starts[:-1]) + np.add.reduceat(table.negatives, starts[:-1])
    wide = high > low
    x = np.column_stack([low, high]).ravel()[np.column_stack([np.ones_like(wide), wide]).ravel()]
    y = np.repeat(rate, 1 + wide)
    return ReliabilityCurve(
        "reliability",
        start=float(y[0]),
        name=name,
        x_label="score",
        **through(x, y),
        block_low=low,
        block_high=high,
        block_rate=rate,
        block_weight=weight,
        about=table.about,
    )
