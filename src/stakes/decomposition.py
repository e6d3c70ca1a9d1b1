"""Why a score is as high as it is: miscalibration, discrimination and uncertainty, for any cost distribution.

S = MCB - DSC + UNC, where S is the loss of the scores, UNC that of the best constant (the prevalence), and the
recalibrated (isotonic) scores stand between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stakes.core.inputs import evaluation_data
from stakes.core.regret import table_integral
from stakes.core.scale import check_scale
from stakes.costs import as_costs
from stakes.metrics._skill import constant_integral
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes.core.scale import Scale
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution, CostsLike


@dataclass(frozen=True)
class Decomposition(Tabular):
    """A score and its three terms, S = MCB - DSC + UNC.

    Parameters
    ----------
    score : float
        The loss of the scores at face value.
    miscalibration : float
        MCB >= 0: what isotonic recalibration would save.
    discrimination : float
        DSC >= 0: what the recalibrated scores save over the prevalence as forecast.
    uncertainty : float
        UNC: the loss of the prevalence as forecast.
    scale : str
        "regret", "integral" or "loss".
    about : str, default ""
        What a picture must say of the rows: the horizon, what weighs them.

    Examples
    --------
    >>> from stakes import costs, decompose
    >>> decompose([0, 1, 0, 1], [0.2, 0.1, 0.4, 0.9], costs=costs.Uniform(0, 1), scale="loss")
    Decomposition(score=0.255 = MCB 0.08833 - DSC 0.08333 + UNC 0.25, scale='loss', in-sample)
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    scale: str
    about: str = ""

    @property
    def skill(self) -> float:
        """(DSC - MCB) / UNC: the share of the prevalence forecast's loss that the scores save."""
        return (self.discrimination - self.miscalibration) / self.uncertainty if self.uncertainty > 0.0 else math.nan

    def _records(self) -> list[dict[str, Any]]:
        names = ("score", "miscalibration", "discrimination", "uncertainty", "skill", "scale")
        return [{name: getattr(self, name) for name in names}]

    def __repr__(self) -> str:
        return (
            f"Decomposition(score={self.score:.4g} = MCB {self.miscalibration:.4g} - DSC {self.discrimination:.4g}"
            f" + UNC {self.uncertainty:.4g}, scale={self.scale!r}, in-sample)"
        )


def decompose(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike,
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> Decomposition:
    """Split the expected regret of a score into miscalibration, discrimination and uncertainty.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    Decomposition
        MCB is infinite where the score is. The terms are in-sample: recalibration is fitted to the same rows.

    Raises
    ------
    ValueError
        For invalid data or scale.

    Notes
    -----
    CORP of Dimitriadis, Gneiting and Jordan (2021), extended to every cost distribution: the isotonic fit is optimal
    for each cost ratio at once, so MCB and DSC are non-negative. With it MCB is *not* the mean squared distance
    between the scores and their recalibration, as arXiv:2504.04528, section 4.1, has it.

    Examples
    --------
    >>> from stakes import costs, decompose
    >>> decompose([0, 1, 0, 1], [0.2, 0.1, 0.4, 0.9], costs=costs.Uniform(0, 1), scale="loss").uncertainty
    0.25
    """
    data = evaluation_data(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        amounts=True,
    )
    return decompose_table(data.table, as_costs(costs), scale)


def decompose_table(
    table: ScoreTable, costs: CostDistribution, scale: Scale | None = None, factor: float | None = None
) -> Decomposition:
    """Decompose from a clean table; a factor in place of the scale's own gives real units."""
    name, own = check_scale(scale, costs)
    factor = own if factor is None else factor
    score = factor * table_integral(table, costs, "score")
    recalibrated = factor * table_integral(table, costs, "optimal")
    uncertainty = factor * constant_integral(table.shares, costs, table.prevalence)
    # both terms are non-negative by theory; rounding may leave them a few units of the last place below zero
    miscalibration = _at_least_zero(score - recalibrated)
    discrimination = _at_least_zero(uncertainty - recalibrated)
    return Decomposition(score, miscalibration, discrimination, uncertainty, name, table.about)


def _at_least_zero(value: float) -> float:
    return value if math.isnan(value) else max(value, 0.0)
