"""Net interventions avoided: what a decision curve says to those who would otherwise treat everyone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.core.regret import check_harm, check_rule
from stakes.core.validation import check_number
from stakes.curves._curve import Curve
from stakes.curves._decision import error_pieces

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable


@dataclass(frozen=True, eq=False, repr=False)
class InterventionsCurve(Curve):
    """Net interventions avoided over the threshold.

    Parameters
    ----------
    per : float
        Number of cases that they are counted in.

    Examples
    --------
    >>> from stakes.curves import interventions_avoided_curve
    >>> interventions_avoided_curve([0, 1], [0.2, 0.7], per=1000).per
    1000.0
    """

    per: float = 100.0


def interventions_avoided_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "score",
    per: float = 100.0,
    harm: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> InterventionsCurve:
    """Unnecessary interventions avoided against treating everyone, net of the positives missed, at every threshold.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    per : float, default 100
        Number of cases that the avoided interventions are counted in.
    harm : float, default 0
        What obtaining the score costs each case, in true positives; see :func:`net_benefit_curve`.
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
    InterventionsCurve
        Defined for thresholds in (0, 1); ``references`` holds "treat all" (zero) and "treat none". Never smoothed.

    Raises
    ------
    ValueError
        For invalid data, rule, ``per`` or ``harm``.

    Notes
    -----
    (NB(t) - NB of treating all) / odds(t) = TN - (FN + harm) (1-t)/t, as shares of all cases, times ``per``:
    Vickers et al. (2008), doi:10.1186/1472-6947-8-53.

    Examples
    --------
    >>> from stakes.curves import interventions_avoided_curve
    >>> curve = interventions_avoided_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6])
    >>> float(curve.at(0.2))  # two of four are spared, and no one is missed
    50.0
    """
    per = check_number(per, "per")
    if not 0.0 < per < math.inf:
        raise ValueError(f"per must be a finite number > 0, got {per}.")
    harm = check_harm(harm)
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    return interventions_avoided_curve_of(data.table, check_rule(rule), name, per=per, harm=harm)


def interventions_avoided_curve_of(
    table: ScoreTable, rule: Rule = "score", name: str = "model", *, per: float = 100.0, harm: float = 0.0
) -> InterventionsCurve:
    """Net interventions avoided from a clean table."""
    knots, alarms, misses = error_pieces(table, rule)
    spared = 1.0 - table.prevalence
    curve = InterventionsCurve(
        "interventions avoided",
        knots,
        per * (spared - alarms),
        -per * (misses + harm),
        math.nan,  # no value at a threshold of 0
        "inverse odds",
        name,
        per=per,
    )
    whole, zero = np.array([0.0, 1.0]), np.array([0.0])
    none = np.array([per * spared]), np.array([-per * table.prevalence])
    references = {
        "treat all": replace(curve, knots=whole, intercept=zero, slope=zero, name="treat all"),
        "treat none": replace(curve, knots=whole, intercept=none[0], slope=none[1], name="treat none"),
    }
    return replace(curve, references=references, about=table.about)
