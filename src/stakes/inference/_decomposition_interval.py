"""Honest intervals for miscalibration and discrimination, whose in-sample values are too good.

The estimand is the population's: what its own isotonic recalibration would save. In-sample recalibration fits the noise
as well, so MCB and DSC come out too large, and a bootstrap doubles the error instead of measuring it. The recalibrated
loss here mixes in-sample and cross-fitted values so that the leading bias cancels; standard errors are those of mean
row losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.core.regret import row_losses
from stakes.core.scale import check_scale
from stakes.core.validation import check_level
from stakes.costs import as_costs
from stakes.inference._crossfit_rows import CrossFitRows, cross_fit_rows, non_negative_interval
from stakes.inference._estimate import Estimate
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.scale import Scale
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution, CostsLike
    from stakes.inference._moments import Moments

    Floats = NDArray[np.float64]

_TERMS = ("score", "miscalibration", "discrimination", "uncertainty", "recalibrated", "skill", "potential_skill")


@dataclass(frozen=True)
class DecompositionInterval(Tabular):
    """The terms of S = MCB - DSC + UNC for the population, each with its interval.

    Parameters
    ----------
    score, miscalibration, discrimination, uncertainty : Estimate
        The terms. The values of MCB and DSC have no leading bias, so they can fall slightly below zero where the truth
        is zero; their intervals do not.
    recalibrated : Estimate
        S - MCB, the loss with the best threshold for each cost: what ``rule="optimal"`` aims at.
    skill : Estimate
        (DSC - MCB) / UNC.
    potential_skill : Estimate
        DSC / UNC, the skill after recalibration; the H-measure if ``costs`` are those of the H-measure.
    in_sample : dict
        The values of :func:`decompose`, whose recalibration is fitted to the same rows.
    scale : str
        "regret", "integral" or "loss".

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.inference import decomposition_interval
    >>> y_true, y_prob = [0, 1, 0, 1] * 10, [0.2, 0.3, 0.4, 0.9] * 10
    >>> decomposition_interval(y_true, y_prob, costs=costs.Uniform(0, 1), random_state=0).uncertainty.value
    0.125
    """

    score: Estimate
    miscalibration: Estimate
    discrimination: Estimate
    uncertainty: Estimate
    recalibrated: Estimate
    skill: Estimate
    potential_skill: Estimate
    in_sample: dict[str, float]
    scale: str

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for term in _TERMS:
            row: Estimate = getattr(self, term)
            low, high = row.interval
            records.append(
                {
                    "term": term,
                    "value": row.value,
                    "standard_error": row.standard_error,
                    "ci_low": low,
                    "ci_high": high,
                    "in_sample": self.in_sample[term],
                    "scale": self.scale,
                    "confidence_level": row.confidence_level,
                }
            )
        return records

    def __repr__(self) -> str:
        shown = {"MCB": self.miscalibration, "DSC": self.discrimination, "UNC": self.uncertainty}
        parts = [f"{k} {e.value:.4g} [{e.interval[0]:.4g}, {e.interval[1]:.4g}]" for k, e in shown.items()]
        level = self.score.confidence_level
        return f"DecompositionInterval({', '.join(parts)}, {level:.0%} intervals, scale={self.scale!r})"


def decomposition_interval(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike,
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    n_folds: int = 10,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> DecompositionInterval:
    """Say how large miscalibration and discrimination are in the population, without the optimism of the same rows.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table of rows of equal weight.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution or tuple of float
        How much each cost ratio counts, without weight on single ones; (low, high) stands for
        ``costs.Uniform(low, high)``. The loss of a probability of 0 or 1 must be finite.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard errors.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data: class totals are then known.
    logits : bool, default False
        Whether the scores are log-odds.
    n_folds : int, default 10
        Folds of the cross-fit, 2 to 20.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        The same folds at every call; None draws others each time.

    Returns
    -------
    DecompositionInterval

    Raises
    ------
    ValueError
        For invalid data or options, fewer than 20 positives or 20 negatives, or costs with an infinite loss or with
        weight on single cost ratios.

    Notes
    -----
    Estimand: MCB = E L(S, Y) - E L(p(S), Y) and DSC = E L(pi, Y) - E L(p(S), Y), where p is the isotonic recalibration
    of the population, pi its prevalence and L the loss of ``costs``. Recalibration fitted and judged on the same rows
    is too good by three parts of order n^(-2/3), on fresh rows too bad by one: they are mixed 1 : 3 (1 : 1 for scores
    that are never pooled). Rows are independent. Intervals of MCB, DSC and DSC / UNC are built on the scale of the
    square root and cut at zero; all have Student's t with one degree of freedom less than the rarer class has rows.
    Where MCB or DSC is zero, or within two standard errors of it, they cover more often than stated. Weight on single
    cost ratios is refused: intervals there covered 72 to 97% in simulation.

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.inference import decomposition_interval
    >>> y_true, y_prob = [0, 1, 0, 1] * 10, [0.2, 0.3, 0.4, 0.9] * 10
    >>> result = decomposition_interval(y_true, y_prob, costs=costs.Uniform(0, 1), scale="loss", random_state=0)
    >>> result.discrimination
    Estimate(discrimination = 0.1195, 95% interval [0.07956, 0.1675])
    """
    level = check_level(confidence_level)
    costs = as_costs(costs)
    name, factor = check_scale(scale, costs)
    if math.isnan(factor):
        raise ValueError(
            f'scale="regret" is undefined for {costs!r}, whose mass is infinite; use "loss" or "integral".'
        )
    check_spread_out(costs)
    data = evaluation_data(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        amounts=True,
    )
    rows = cross_fit_rows(data, fixed_prevalence=prevalence is not None, n_folds=n_folds, random_state=random_state)
    return estimate_terms(rows, costs, factor, name, level)


def check_spread_out(costs: CostDistribution) -> None:
    """Raise for weight on single cost ratios, and where a probability of 0 or 1 can cost infinitely much."""
    if len(costs.atoms[0]):
        raise ValueError(
            f"costs must have no weight on single cost ratios, got {costs!r}: there the error of recalibration is not "
            "normal, and intervals would be too short. Pass a range around them."
        )
    if not math.isfinite(float(costs.positive_loss(0.0)) + float(costs.negative_loss(1.0))):
        raise ValueError(
            f"costs must have a finite loss at the probabilities 0 and 1, which recalibration gives, got {costs!r}: "
            "restrict the range, for example costs.restrict(0.001, 0.999)."
        )


def estimate_terms(
    rows: CrossFitRows, costs: CostDistribution, factor: float, scale: str, level: float
) -> DecompositionInterval:
    """Terms of cross-fitted rows, the integrals times a factor."""
    score, constant = (factor * loss for loss in (_row_losses(rows, costs), rows.constant(costs)))
    fair, fitted = (factor * loss for loss in rows.fit.losses(costs))
    s, u, r = rows.mean(score), rows.mean(constant), rows.mean(fair)
    in_sample = _in_sample(s, u, rows.mean(fitted))
    discrimination = rows.moments(u - r, constant - fair)
    most = factor * max(float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf)))
    ends = {"discrimination": non_negative_interval(discrimination, in_sample["discrimination"], level, most)}
    # the error of the recalibration is part of either difference, mixed or in-sample: the larger one holds; where the
    # scores are not shown to rank at all, the best recalibration may be constant
    against = [fair, fitted] if ends["discrimination"][0] > 0.0 else [fair, fitted, constant]
    miscalibration = max((rows.moments(s - r, score - other) for other in against), key=lambda found: found.variance)
    ends["miscalibration"] = non_negative_interval(miscalibration, in_sample["miscalibration"], level, most)
    found: dict[str, Moments] = {
        "score": rows.moments(s, score).within(0.0, most),
        "miscalibration": miscalibration,
        "discrimination": discrimination,
        "uncertainty": rows.moments(u, constant).within(0.0, most),
        "recalibrated": rows.moments(r, fair).within(0.0, most),
    }
    if u > 0.0:
        found["skill"] = rows.moments(1.0 - s / u, (s / u * constant - score) / u).within(-math.inf, 1.0)
        found["potential_skill"] = rows.moments(1.0 - r / u, (r / u * constant - fair) / u)
        ends["potential_skill"] = non_negative_interval(
            found["potential_skill"], in_sample["potential_skill"], level, 1.0
        )
    return DecompositionInterval(
        **{term: _estimate(term, found.get(term), ends.get(term), level) for term in _TERMS},
        in_sample=in_sample,
        scale=scale,
    )


def _row_losses(rows: CrossFitRows, costs: CostDistribution) -> Floats:
    return row_losses(rows.sample.y, rows.sample.score, costs, "score")


def _in_sample(score: float, constant: float, fitted: float) -> dict[str, float]:
    return {
        "score": score,
        "miscalibration": max(score - fitted, 0.0),
        "discrimination": max(constant - fitted, 0.0),
        "uncertainty": constant,
        "recalibrated": fitted,
        "skill": 1.0 - score / constant if constant > 0.0 else math.nan,
        "potential_skill": max(1.0 - fitted / constant, 0.0) if constant > 0.0 else math.nan,
    }


def _estimate(term: str, moments: Moments | None, interval: tuple[float, float] | None, level: float) -> Estimate:
    if moments is None:
        return Estimate(term, math.nan, math.nan, (math.nan, math.nan), level, "the prevalence forecast has no loss")
    return Estimate(term, moments.value, moments.standard_error, interval or moments.interval(level), level)
