"""The paired difference between two models on the same rows, with its interval and p-value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from stakes.core.options import Options, check_options
from stakes.core.row_order import check_same_order
from stakes.core.score_table import ScoreTable
from stakes.core.validation import check_names
from stakes.inference._dependence import dependence_of
from stakes.inference._dominance import dominance
from stakes.inference._loss_moments import LossMoments, loss_moments
from stakes.inference._paired_rows import PairedRows
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from stakes.core.inputs import EvaluationData
    from stakes.core.regret import Rule
    from stakes.core.scale import Scale
    from stakes.core.validation import BinarySample
    from stakes.costs import CostsLike
    from stakes.inference._dominance import Dominance
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
        Two-sided confidence interval.
    p_value : float
        Two-sided, for no difference.
    scale : str
        "regret", "integral" or "loss"; "regret per EUR at stake" for amounts by row in euros.
    confidence_level : float
        Of the interval.
    note : str
        On how few rows of which class the difference rests, and how many would do; empty where there are enough.
    judge : callable, optional
        Gives ``dominance``, which is worked out when it is first asked for.

    Examples
    --------
    >>> from stakes import compare, costs
    >>> y_true = [0, 1, 0, 1] * 9
    >>> compare(y_true, [0.1, 0.8, 0.3, 0.6] * 9, [0.4, 0.6, 0.5, 0.4] * 9, costs=costs.Uniform(0, 1), scale="loss")
    Comparison(a - b = -0.1575, 95% interval [-0.1673, -0.1477], p = 9.16e-28, scale='loss')
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
    judge: Callable[[], Dominance] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def dominance(self) -> Dominance | None:
        """Whether one of the two costs less at every cost ratio of the range; None where the tables are not known."""
        return None if self.judge is None else self.judge()

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
    moments: LossMoments, pair: tuple[int, int], names: tuple[str, str], options: Options
) -> Comparison:
    """Scale the paired difference of two rules and attach its interval."""
    return _comparison(moments.difference(*pair), names, options)


def _comparison(difference: Moments, names: tuple[str, str], options: Options) -> Comparison:
    found, level = difference.scaled(options.factor), options.confidence_level
    return Comparison(
        *names,
        found.value,
        found.standard_error,
        found.interval(level),
        found.p_value(),
        options.scale_words,
        level,
        note=found.note,
    )


def paired_rows(samples: Sequence[BinarySample], options: Options) -> PairedRows:
    """Rows that several models share, with what makes them depend on each other."""
    first = samples[0]
    clusters, lags = dependence_of(first, options.clusters, options.lags, options.sample_weight)
    return PairedRows(
        first.y,
        [sample.score for sample in samples],
        first.weight,
        fixed_prevalence=options.prevalence is not None,
        clusters=clusters,
        lags=lags,
        origin=first.origin,
        every_score=[sample.origin.score for sample in samples if sample.origin is not None],
    )


def check_paired(y_true: Any, a: Any, b: Any, **beside: Any) -> None:
    """Refuse tables where rows are needed, and rows of two models in different orders."""
    check_same_order(y_true=y_true, a=a, b=b, **beside)
    if any(isinstance(value, ScoreTable) for value in (y_true, a, b)):
        raise ValueError(PAIRED_NEEDS_ROWS)


def compare(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    costs: CostsLike,
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
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
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
        is nan. Where too few rows carry the difference, the interval has room for costs not yet seen, and ``note``
        says how many rows would do.

    Raises
    ------
    ValueError
        For invalid data, two score tables, or ``rule="optimal"``.

    Notes
    -----
    Rows are independent unless ``clusters`` or ``lags`` says otherwise. The interval is Student's t of the per-row loss
    differences, with as many degrees of freedom as rows carry the spread; where fewer than five do, with the rule of
    three for what was not seen.

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
    check_paired(y_true, a, b, sample_weight=sample_weight, clusters=clusters)
    options = check_options(
        costs=costs,
        rule=rule,
        scale=scale,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        clusters=clusters,
        lags=lags,
        confidence_level=confidence_level,
    ).of_amounts(y_true)
    if options.rule == "optimal":
        raise ValueError(
            'rule="optimal" is fitted to the same rows and has no closed-form interval; compare by "score".'
        )
    data = [options.data(y_true, scores, name=argument, amounts=True) for argument, scores in (("a", a), ("b", b))]
    moments = loss_moments(paired_rows([item.rows for item in data], options), options.costs, options.rule)
    names = check_names(names)
    found = _comparison(moments.difference(0, 1), names, options)
    return replace(found, judge=partial(_dominance_of, data[0], data[1], options, names))


def _dominance_of(first: EvaluationData, second: EvaluationData, options: Options, names: tuple[str, str]) -> Dominance:
    low, high = options.costs.low, options.costs.high
    return dominance(first.table, second.table, low=low, high=high, rule=options.rule, names=names)
