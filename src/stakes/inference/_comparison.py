"""The paired difference between two models on the same rows, with its interval and p-value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stakes._inputs import as_costs, evaluation_data
from stakes._kernel import check_rule, check_scale
from stakes._results import Tabular
from stakes._validation import check_unit
from stakes.inference._dependence import check_dependence
from stakes.inference._dominance import Dominance, dominance
from stakes.inference._loss_moments import LossMoments, PairedRows, loss_moments
from stakes.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes._kernel import Rule, Scale
    from stakes.costs import CostDistribution
    from stakes.inference._moments import Moments

PAIRED_NEEDS_ROWS = (
    "a paired difference needs the rows of both models: two separate ScoreTables do not say which scores belong "
    "together. Pass y_true and the scores."
)


@dataclass(frozen=True)
class Comparison(Tabular):
    """How much lower the expected cost of one model is than that of another, and how sure that is.

    Parameters
    ----------
    first, second : str
        Names of the models.
    difference : float
        Score of the first minus score of the second: negative means that the first is better.
    standard_error : float
        Of the paired difference.
    interval : tuple of float
        Two-sided normal confidence interval.
    p_value : float
        Two-sided, for no difference.
    scale : str
        "regret", "integral" or "loss".
    confidence_level : float
        Of the interval.
    note : str
        Which class has too few rows for the interval, and how many are needed; empty otherwise.
    dominance : Dominance or None
        Whether one of the two costs less at every cost ratio of the range, where it was asked for.

    Examples
    --------
    >>> from stakes import compare, costs
    >>> y_true = [0, 1, 0, 1] * 5
    >>> compare(y_true, [0.1, 0.8, 0.3, 0.6] * 5, [0.4, 0.6, 0.5, 0.4] * 5, costs=costs.Uniform(0, 1), scale="loss")
    Comparison(a - b = -0.1575, 95% interval [-0.1709, -0.1451], p = 1.14e-274, scale='loss')
    """

    first: str
    second: str
    difference: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    scale: str
    confidence_level: float
    note: str = ""
    dominance: Dominance | None = None

    @property
    def significant(self) -> bool:
        """Whether the interval excludes zero."""
        return self.interval[0] > 0.0 or self.interval[1] < 0.0

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "first": self.first,
                "second": self.second,
                "difference": self.difference,
                "standard_error": self.standard_error,
                "ci_low": self.interval[0],
                "ci_high": self.interval[1],
                "p_value": self.p_value,
                "scale": self.scale,
                "confidence_level": self.confidence_level,
                "note": self.note,
                "dominance": "" if self.dominance is None else str(self.dominance),
            }
        ]

    def __repr__(self) -> str:
        low, high = self.interval
        sure = f"{self.confidence_level:.0%} interval [{low:.4g}, {high:.4g}], p = {self.p_value:.3g}"
        return (
            f"Comparison({self.first} - {self.second} = {self.difference:.4g}, {sure}, "
            f"scale={self.scale!r}{', ' + self.note if self.note else ''})"
        )


def comparison_from_moments(
    moments: LossMoments,
    pair: tuple[int, int],
    names: tuple[str, str],
    *,
    scale: str,
    factor: float,
    confidence_level: float,
    dominance: Dominance | None = None,
) -> Comparison:
    """Scale the paired difference of two rules and attach its interval."""
    return _comparison(moments.difference(*pair).scaled(factor), names, scale, confidence_level, dominance=dominance)


def _comparison(moments: Moments, names: tuple[str, str], scale: str, level: float, **further: Any) -> Comparison:
    error, interval = moments.standard_error, moments.interval(level)
    return Comparison(
        *names, moments.value, error, interval, moments.p_value(), scale, level, note=moments.note, **further
    )


def compare(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    costs: CostDistribution | tuple[float, float],
    rule: Rule = "score",
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    names: tuple[str, str] = ("a", "b"),
    confidence_level: float = 0.95,
) -> Comparison:
    """Say whether one model's expected cost is really lower than another's on the same rows.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values.
    a, b : array_like of shape (n,) or (n, 2)
        Probabilities of the positive class from the two models.
    costs : CostDistribution or tuple of float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``.
    rule : "score" or float, default "score"
        How scores become decisions. ``"optimal"`` has no closed-form interval and is refused.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients or states: only rows of different clusters are independent.
    lags : int or "auto", optional
        For rows in order of time (the test of Diebold and Mariano). "auto" estimates the long-run variance by slow
        cosines, with Student t intervals; a number of lags is Newey and West's estimate.
    names : tuple of str, default ("a", "b")
        What to call the models.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).

    Returns
    -------
    Comparison
        ``difference`` is a minus b: negative means that a is better. ``dominance`` says whether one of them is better
        at every cost ratio of the range on these rows. Where a loss is infinite, so is the difference, and its interval
        is nan; it is widened where too few rows carry the difference, and ``note`` says how many are needed.

    Raises
    ------
    ValueError
        For invalid data, two score tables, or ``rule="optimal"``.

    Notes
    -----
    Rows are independent unless ``clusters`` or ``lags`` says otherwise. The interval rests on the per-row loss
    differences, corrected for their skewness after Hall (1992, doi:10.1111/j.2517-6161.1992.tb01869.x).

    Examples
    --------
    >>> from stakes import compare, costs
    >>> y_true = [0, 1, 0, 1] * 5
    >>> result = compare(y_true, [0.1, 0.8, 0.3, 0.6] * 5, [0.4, 0.6, 0.5, 0.4] * 5, costs=costs.Uniform(0, 1))
    >>> result.significant
    True
    >>> print(result.dominance)
    a costs no more than b at every cost ratio from 0 to 1, and less at some
    """
    if any(isinstance(value, ScoreTable) for value in (y_true, a, b)):
        raise ValueError(PAIRED_NEEDS_ROWS)
    rule = check_rule(rule)
    if rule == "optimal":
        raise ValueError(
            'rule="optimal" is fitted to the same rows and has no closed-form interval; compare by "score".'
        )
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    costs = as_costs(costs)
    scale, factor = check_scale(scale, costs)
    if math.isnan(factor):
        raise ValueError(
            f'scale="regret" is undefined for {costs!r}, whose mass is infinite; use "loss" or "integral".'
        )
    data = [
        evaluation_data(
            y_true, scores, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
        )
        for scores in (a, b)
    ]
    first, second = (item.rows for item in data)
    clusters, lags = check_dependence(clusters, lags, len(first.y), sample_weight)
    rows = PairedRows(
        first.y,
        [first.score, second.score],
        first.weight,
        fixed_prevalence=prevalence is not None,
        clusters=clusters,
        lags=lags,
    )
    moments = loss_moments(rows, costs, rule).difference(0, 1)
    verdict = dominance(data[0].table, data[1].table, low=costs.low, high=costs.high, rule=rule, names=names)
    return _comparison(moments.scaled(factor), names, scale, level, dominance=verdict)
