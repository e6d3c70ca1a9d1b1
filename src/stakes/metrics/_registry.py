"""The one list of metrics: the common tests, the scorers, the command line and the documentation all read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from stakes import costs as _costs
from stakes.core.validation import check_kind
from stakes.metrics import _cost_matrix, _losses, _net_benefit, _one_vs_rest, _partial_auc, _penalized, _rank, _skill
from stakes.shown.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Claim = Literal["strict", "proper", "rank", "none"]
Task = Literal["binary", "multiclass"]
Response = Literal["probability", "score"]


@dataclass(frozen=True)
class Metric:
    """What is known of one metric.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_prob, **parameters)``.
    summary : str
        The question that it answers, in one line.
    greater_is_better : bool
        The direction.
    low, high : float
        The range of its values.
    propriety : {"strict", "proper", "rank", "none"}
        Whether honest probabilities are its only best report, one of several, whether only the ranking counts, or
        none of these.
    parameters : mapping
        Arguments that it needs beyond the data, with values that tests, scorers and examples can use.
    task : {"binary", "multiclass"}, default "binary"
        What it evaluates.
    response : {"probability", "score"}, default "probability"
        Whether it needs probabilities, or any score that ranks.
    per_sample : bool
        Whether it is a mean of per-row values that ``per_sample=True`` returns.
    one_class : bool
        Whether it is defined when only one class is present.
    costs : callable, optional
        The cost distribution behind it, from the same parameters.

    Examples
    --------
    >>> from stakes.metrics import METRICS
    >>> METRICS["bounded_brier_loss"].costs(bounds=(0.05, 0.2))
    Uniform(low=0.05, high=0.2)
    """

    function: Callable[..., Any]
    summary: str
    greater_is_better: bool
    low: float
    high: float
    propriety: Claim
    parameters: Mapping[str, Any] = field(default_factory=dict)
    task: Task = "binary"
    response: Response = "probability"
    per_sample: bool = False
    one_class: bool = True
    costs: Callable[..., _costs.CostDistribution] | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return str(self.function.__name__)

    @property
    def bounded(self) -> bool:
        """Whether it takes ``bounds=`` on the plausible thresholds."""
        return "bounds" in signature(self.function).parameters


METRICS: dict[str, Metric] = {}
# what other libraries call the same or the nearest thing
_ELSEWHERE = {
    **dict.fromkeys(("auc", "auroc", "roc_auc", "rocauc", "c_statistic", "c_index"), "roc_auc_score"),
    **dict.fromkeys(("brier_score", "brier_score_loss", "neg_brier_score"), "bounded_brier_loss"),
    **dict.fromkeys(("logloss", "neg_log_loss", "cross_entropy"), "bounded_log_loss"),
}


def guess_metric(name: str, among: Iterable[str], mark: str = "'") -> str:
    """Return "; did you mean NAME?" for what is no name of these metrics, or nothing where none is near."""
    return guess(name, sorted(among), _ELSEWHERE, mark)


def register(metric: Metric) -> Metric:
    """Add a metric to the registry.

    Parameters
    ----------
    metric : Metric
        Its function's name is the key.

    Returns
    -------
    Metric
        The same metric.

    Raises
    ------
    ValueError
        If the name is taken.

    Examples
    --------
    >>> from stakes.metrics import METRICS
    >>> METRICS["net_benefit_score"].greater_is_better
    True
    """
    check_kind(metric, "metric", Metric, "a Metric")
    if metric.name in METRICS:
        raise ValueError(f"a metric named {metric.name!r} is registered already.")
    METRICS[metric.name] = metric
    return metric


def _fixed(threshold: float) -> _costs.CostDistribution:
    return _costs.Fixed(threshold)


_INF = float("inf")
_BOUNDS = {"bounds": (0.05, 0.2)}

for _metric in (
    Metric(
        _losses.expected_regret,
        "what acting on the scores costs per decision, over the plausible cost ratios",
        greater_is_better=False,
        low=0.0,
        high=_INF,
        propriety="proper",
        parameters={"costs": _costs.Uniform(0.05, 0.2)},
        per_sample=True,
        costs=_costs.as_costs,
    ),
    Metric(
        _losses.bounded_brier_loss,
        "regret, uniform over cost ratios in the bounds; the Brier score at (0, 1)",
        greater_is_better=False,
        low=0.0,
        high=1.0,
        propriety="strict",
        parameters=_BOUNDS,
        per_sample=True,
        costs=lambda bounds: _costs.Uniform(*bounds),
    ),
    Metric(
        _losses.bounded_log_loss,
        "regret, uniform over log-odds in the bounds; the log loss at (0, 1)",
        greater_is_better=False,
        low=0.0,
        high=_INF,
        propriety="strict",
        parameters=_BOUNDS,
        per_sample=True,
        costs=lambda bounds: _costs.LogOddsUniform(*bounds),
    ),
    Metric(
        _losses.beta_loss,
        "regret over Beta-distributed cost ratios",
        greater_is_better=False,
        low=0.0,
        high=2.0,
        propriety="strict",
        parameters={"a": 2.0, "b": 8.0},
        per_sample=True,
        costs=_costs.Beta,
    ),
    Metric(
        _losses.shifted_brier_loss,
        "Brier score moved to a typical threshold",
        greater_is_better=False,
        low=0.0,
        high=2.0,
        propriety="strict",
        parameters={"median": 0.125},
        per_sample=True,
        costs=_costs.Shifted,
    ),
    Metric(
        _skill.bounded_brier_skill_score,
        "share of the reference's bounded Brier loss that is saved",
        greater_is_better=True,
        low=-_INF,
        high=1.0,
        propriety="strict",
        parameters=_BOUNDS,
        one_class=False,
        costs=lambda bounds: _costs.Uniform(*bounds),
    ),
    Metric(
        _skill.bounded_log_skill_score,
        "share of the reference's bounded log loss that is saved",
        greater_is_better=True,
        low=-_INF,
        high=1.0,
        propriety="strict",
        parameters=_BOUNDS,
        one_class=False,
        costs=lambda bounds: _costs.LogOddsUniform(*bounds),
    ),
    Metric(
        _net_benefit.net_benefit_score,
        "true positives per case, less false positives at the threshold's exchange rate",
        greater_is_better=True,
        low=-_INF,
        high=1.0,
        propriety="proper",
        parameters={"threshold": 0.1},
        costs=_fixed,
    ),
    Metric(
        _net_benefit.average_net_benefit_score,
        "mean height of the decision curve over the bounds",
        greater_is_better=True,
        low=-_INF,
        high=1.0,
        propriety="strict",
        parameters=_BOUNDS,
        per_sample=True,
        costs=lambda bounds: _costs.NetBenefitUniform(*bounds),
    ),
    Metric(
        _skill.h_measure_score,
        "what the ranking saves with the best threshold for each cost",
        greater_is_better=True,
        low=0.0,
        high=1.0,
        propriety="rank",
        response="score",
        one_class=False,
    ),
    Metric(
        _rank.roc_auc_score,
        "probability that a positive is ranked above a negative",
        greater_is_better=True,
        low=0.0,
        high=1.0,
        propriety="rank",
        response="score",
        one_class=False,
    ),
    Metric(
        _skill.regret_skill_score,
        "share of the reference's expected regret that is saved, over any costs",
        greater_is_better=True,
        low=-_INF,
        high=1.0,
        propriety="proper",
        parameters={"costs": _costs.Beta(2.0, 8.0)},
        one_class=False,
        costs=_costs.as_costs,
    ),
    Metric(
        _partial_auc.bounded_auc_score,
        "balanced average accuracy over the thresholds that cases in the bounds would set; AUC at (0, 1)",
        greater_is_better=True,
        low=0.0,
        high=1.0,
        propriety="none",
        parameters={"bounds": (0.01, 0.99)},
        one_class=False,
    ),
    Metric(
        _partial_auc.auc_regret,
        "the mean regret that AUC stands for: each case's event rate is the cost ratio",
        greater_is_better=False,
        low=0.0,
        high=0.5,
        propriety="rank",
    ),
    Metric(
        _partial_auc.partial_auc_score,
        "area under the part of the ROC curve between two false positive rates",
        greater_is_better=True,
        low=0.0,
        high=1.0,
        propriety="none",
        parameters={"fpr_bounds": (0.0, 0.2)},
        response="score",
        one_class=False,
    ),
    Metric(
        _penalized.penalized_brier_loss,
        "multi-class Brier score plus a penalty for a wrong top class",
        greater_is_better=False,
        low=0.0,
        high=3.0,
        propriety="strict",
        task="multiclass",
        per_sample=True,
    ),
    Metric(
        _penalized.penalized_log_loss,
        "multi-class log loss plus a penalty for a wrong top class",
        greater_is_better=False,
        low=0.0,
        high=_INF,
        propriety="strict",
        task="multiclass",
        per_sample=True,
    ),
    Metric(
        _one_vs_rest.one_vs_rest_bounded_loss,
        "sum over classes of the bounded loss of the class against the rest",
        greater_is_better=False,
        low=0.0,
        high=_INF,
        propriety="strict",
        parameters={"bounds": (0.05, 0.9)},
        task="multiclass",
        per_sample=True,
    ),
    Metric(
        _cost_matrix.cost_matrix_loss,
        "cost of the best action by the stated probabilities, over plausible cost matrices",
        greater_is_better=False,
        low=-_INF,
        high=_INF,
        propriety="proper",
        parameters={"matrices": ((0.0, 1.0, 4.0), (1.0, 0.0, 1.0), (6.0, 2.0, 0.0))},
        task="multiclass",
        per_sample=True,
    ),
    Metric(
        _cost_matrix.ordinal_loss,
        "ranked probability score of ordered classes, over plausible costs of a step too high or too low",
        greater_is_better=False,
        low=0.0,
        high=_INF,
        propriety="strict",
        task="multiclass",
        per_sample=True,
    ),
):
    register(_metric)
