"""What decisions cost where only the surest share of the cases is decided, and the areas under that curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.core.regret import losses_by_score
from stakes.core.validation import check_flag
from stakes.costs import Fixed, as_costs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution, CostsLike

    Floats = NDArray[np.float64]

_DECIMALS = 14  # two scores of equal confidence, one on either side, differ by rounding


def risk_coverage_score(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike | None = None,
    discrete: bool = False,
    generalized: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> float:
    """Area under the risk-coverage curve (AURC): the cost of a decided case, averaged over every share decided.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float, optional
        How much each cost ratio counts; by default the error rate of decisions at 1/2.
    discrete : bool, default False
        Average over the n shares k/n instead (Geifman and El-Yaniv 2018), in expectation over the order of ties. It
        depends on the number of rows, and takes no weights.
    generalized : bool, default False
        Average the cost of the decided as a share of all cases (AUGRC, Traub et al. 2024).
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
    float
        Lower is better, as of any area of risk, although the name it is known by ends in "score".

    Raises
    ------
    ValueError
        For invalid data or costs, and for weights with ``discrete=True``.

    Notes
    -----
    The surest decision is that of the lowest expected cost; cases as sure as each other are decided together, each in
    part. Nobody pays for coverage uniformly: ``deferral_curve`` over the fee says what a price per case costs. Geifman
    and El-Yaniv, arXiv:1805.08206; Traub et al., arXiv:2407.01032.

    Examples
    --------
    >>> from stakes.actions import risk_coverage_score
    >>> round(risk_coverage_score([0, 1, 0, 1], [0.1, 0.6, 0.7, 0.9]), 6)
    0.119188
    """
    if check_flag(discrete, "discrete") and (sample_weight is not None or prevalence is not None):
        raise ValueError("discrete=True counts rows and takes neither sample_weight nor prevalence.")
    if check_flag(generalized, "generalized") and discrete:
        raise ValueError("discrete and generalized cannot both be True.")
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    mass, loss = coverage_levels(data.table, costs)
    if discrete:
        return _discrete(mass, loss)
    return area(mass, loss, generalized=generalized)


def coverage_levels(table: ScoreTable, costs: CostsLike | None) -> tuple[Floats, Floats]:
    """Weight and cost of the cases at each level of confidence, the surest first."""
    measure: CostDistribution = 2.0 * Fixed(0.5) if costs is None else as_costs(costs)
    unit = 1.0 if costs is None else 1.0 / measure.mass
    negative, positive = (unit * each for each in losses_by_score(table.scores, measure, "score"))
    confidence = -((1.0 - table.scores) * negative + table.scores * positive)
    return by_confidence(
        confidence, table.negatives + table.positives, table.negatives * negative + table.positives * positive
    )


def by_confidence(confidence: Floats, mass: Floats, loss: Floats) -> tuple[Floats, Floats]:
    """Pool what is equally sure, the surest first."""
    _, place = np.unique(-np.round(confidence, _DECIMALS), return_inverse=True)
    pooled = [np.bincount(place.ravel(), part).astype(np.float64) for part in (mass, loss)]
    return pooled[0], pooled[1]


def area(mass: Floats, loss: Floats, *, generalized: bool) -> float:
    """Integral of the cost of the decided over the share decided, per case decided or per case."""
    total = mass.sum()
    m, s = mass / total, loss / total
    before, lost = (np.append(0.0, np.cumsum(part)[:-1]) for part in (m, s))  # a difference would lose a tiny first one
    if generalized:
        return float(np.sum(lost * m + 0.5 * s * m))
    rate = s / m
    with np.errstate(divide="ignore"):
        longer = np.log1p(m / before)
    longer[0] = 0.0  # the risk is constant on the first level
    return float(np.sum(s + (lost - before * rate) * longer))


def _discrete(mass: Floats, loss: Floats) -> float:
    """Mean cost of the k surest rows over k = 1 to n, in expectation over the order within levels."""
    from scipy.special import digamma

    before, lost, rate = np.cumsum(mass) - mass, np.cumsum(loss) - loss, loss / mass
    harmonic = digamma(before + mass + 1.0) - digamma(before + 1.0)
    return float(np.sum(loss + (lost - before * rate) * harmonic) / mass.sum())
