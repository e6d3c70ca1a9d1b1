"""The paired difference between two models on the same rows, with its interval and p-value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stakes._inputs import evaluation_data
from stakes._kernel import check_rule, check_scale
from stakes._results import Tabular
from stakes._validation import check_unit
from stakes.inference._loss_moments import LossMoments, PairedRows, loss_moments, normal_interval, normal_p_value
from stakes.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes._kernel import Rule, Scale
    from stakes.costs import CostDistribution

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

    Examples
    --------
    >>> from stakes import compare, costs
    >>> compare([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], [0.4, 0.6, 0.5, 0.4], costs=costs.Uniform(0, 1), scale="loss")
    Comparison(a - b = -0.1575, 95% interval [-0.1899, -0.1251], p = 1.52e-21, scale='loss')
    """

    first: str
    second: str
    difference: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    scale: str
    confidence_level: float

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
            }
        ]

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Comparison({self.first} - {self.second} = {self.difference:.4g}, {self.confidence_level:.0%} interval "
            f"[{low:.4g}, {high:.4g}], p = {self.p_value:.3g}, scale={self.scale!r})"
        )


def comparison_from_moments(
    moments: LossMoments,
    pair: tuple[int, int],
    names: tuple[str, str],
    *,
    scale: str,
    factor: float,
    confidence_level: float,
) -> Comparison:
    """Scale the paired difference of two rules and attach its interval."""
    difference, error = moments.difference(*pair)
    difference, error = factor * difference, factor * error
    interval = normal_interval(difference, error, confidence_level)
    p_value = normal_p_value(difference, error)
    return Comparison(*names, difference, error, interval, p_value, scale, confidence_level)


def compare(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    costs: CostDistribution,
    rule: Rule = "score",
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
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
    costs : CostDistribution
        How much each cost ratio counts.
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
    names : tuple of str, default ("a", "b")
        What to call the models.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).

    Returns
    -------
    Comparison
        ``difference`` is a minus b: negative means that a is better. Where a loss is infinite, so is the
        difference, and its interval is nan.

    Raises
    ------
    ValueError
        For invalid data, two score tables, or ``rule="optimal"``.

    Notes
    -----
    Rows are taken as independent. The interval is normal, from the variance of the per-row loss differences.

    Examples
    --------
    >>> from stakes import compare, costs
    >>> result = compare([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], [0.4, 0.6, 0.5, 0.4], costs=costs.Uniform(0, 1))
    >>> result.significant
    True
    """
    if any(isinstance(value, ScoreTable) for value in (y_true, a, b)):
        raise ValueError(PAIRED_NEEDS_ROWS)
    rule = check_rule(rule)
    if rule == "optimal":
        raise ValueError(
            'rule="optimal" is fitted to the same rows and has no closed-form interval; compare by "score".'
        )
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    scale, factor = check_scale(scale, costs)
    data = [
        evaluation_data(
            y_true,
            scores,
            sample_weight=sample_weight,
            pos_label=pos_label,
            prevalence=prevalence,
            logits=logits,
        ).rows
        for scores in (a, b)
    ]
    rows = PairedRows(
        data[0].y, [sample.score for sample in data], data[0].weight, fixed_prevalence=prevalence is not None
    )
    moments = loss_moments(rows, costs, rule)
    if math.isnan(factor):
        raise ValueError(
            f'scale="regret" is undefined for {costs!r}, whose mass is infinite; use "loss" or "integral".'
        )
    return comparison_from_moments(moments, (0, 1), names, scale=scale, factor=factor, confidence_level=level)
