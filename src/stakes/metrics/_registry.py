"""The registry of metrics, its scikit-learn scorers, and its table in the documentation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import Signature, signature
from typing import Any, Literal

import numpy as np

from stakes import costs
from stakes.base.validation import brief, check_kind, check_name, check_same_order, near, to_array
from stakes.core.options import evaluation_data
from stakes.metrics import _losses, _multiclass, _ranking
from stakes.outcomes import MONEY_PER, RowCosts, check_factor, check_money_per, rows_for_money
from stakes.outputs.result_table import markdown_table
from stakes.outputs.text import guess

# The list of metrics, from which common tests, scorers, command line and documentation are generated.

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
    costs: Callable[..., costs.CostDistribution] | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return str(self.function.__name__)

    @property
    def bounded(self) -> bool:
        """Whether it takes ``bounds=`` on the plausible thresholds."""
        return "bounds" in signature(self.function).parameters


METRICS: dict[str, Metric] = {}
# names of the same or the closest metric in other libraries
_ELSEWHERE = {
    **dict.fromkeys(("auc", "auroc", "roc_auc", "rocauc", "c_statistic", "c_index"), "roc_auc_score"),
    **dict.fromkeys(("brier_score", "brier_score_loss", "neg_brier_score"), "bounded_brier_loss"),
    **dict.fromkeys(("logloss", "neg_log_loss", "cross_entropy"), "bounded_log_loss"),
}


def guess_metric(name: str, among: Iterable[str], mark: str = "'") -> str:
    """Return "; did you mean NAME?" for a misspelt metric, or "" if none is similar."""
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


_INF = float("inf")
_BOUNDS = {"bounds": (0.05, 0.2)}
_loss = partial(Metric, greater_is_better=False, low=0.0, high=_INF, propriety="strict", per_sample=True)
_classes_loss = partial(_loss, task="multiclass")
_score = partial(Metric, greater_is_better=True, low=0.0, high=1.0, propriety="none", one_class=False)
_skill_score = partial(_score, low=-_INF, propriety="strict")


def _over_bounds(family: Callable[..., costs.CostDistribution]) -> dict[str, Any]:
    return {"parameters": _BOUNDS, "costs": partial(_over, family=family)}


def _over(bounds: tuple[float, float], *, family: Callable[..., costs.CostDistribution]) -> costs.CostDistribution:
    return family(*bounds)


def _fixed(threshold: float) -> costs.CostDistribution:
    return costs.Fixed(threshold)


for _metric in (
    _loss(
        _losses.expected_regret,
        "what acting on the scores costs per decision, over the plausible cost ratios",
        propriety="proper",
        parameters={"costs": costs.Uniform(0.05, 0.2)},
        costs=costs.as_costs,
    ),
    _loss(
        _losses.bounded_brier_loss,
        "regret, uniform over cost ratios in the bounds; the Brier score at (0, 1)",
        high=1.0,
        **_over_bounds(costs.Uniform),
    ),
    _loss(
        _losses.bounded_log_loss,
        "regret, uniform over log-odds in the bounds; the log loss at (0, 1)",
        **_over_bounds(costs.LogOddsUniform),
    ),
    _loss(
        _losses.beta_loss,
        "regret over Beta-distributed cost ratios",
        high=2.0,
        parameters={"a": 2.0, "b": 8.0},
        costs=costs.Beta,
    ),
    _loss(
        _losses.shifted_brier_loss,
        "Brier score moved to a typical threshold",
        high=2.0,
        parameters={"median": 0.125},
        costs=costs.Shifted,
    ),
    _skill_score(
        _losses.bounded_brier_skill_score,
        "share of the reference's bounded Brier loss that is saved",
        **_over_bounds(costs.Uniform),
    ),
    _skill_score(
        _losses.bounded_log_skill_score,
        "share of the reference's bounded log loss that is saved",
        **_over_bounds(costs.LogOddsUniform),
    ),
    _score(
        _losses.net_benefit_score,
        "true positives per case, less false positives at the threshold's exchange rate",
        low=-_INF,
        propriety="proper",
        parameters={"threshold": 0.1},
        one_class=True,
        costs=_fixed,
    ),
    _score(
        _losses.average_net_benefit_score,
        "mean height of the decision curve over the bounds",
        low=-_INF,
        propriety="strict",
        per_sample=True,
        one_class=True,
        **_over_bounds(costs.NetBenefitUniform),
    ),
    _score(
        _losses.h_measure_score,
        "what the ranking saves with the best threshold for each cost",
        propriety="rank",
        response="score",
    ),
    _score(
        _ranking.roc_auc_score,
        "probability that a positive is ranked above a negative",
        propriety="rank",
        response="score",
    ),
    _skill_score(
        _losses.regret_skill_score,
        "share of the reference's expected regret that is saved, over any costs",
        propriety="proper",
        parameters={"costs": costs.Beta(2.0, 8.0)},
        costs=costs.as_costs,
    ),
    _score(
        _ranking.bounded_auc_score,
        "balanced average accuracy over the thresholds that cases in the bounds would set; AUC at (0, 1)",
        parameters={"bounds": (0.01, 0.99)},
    ),
    _loss(
        _ranking.auc_regret,
        "the mean regret that AUC implies: each case's event rate is the cost ratio",
        high=1.0,
        propriety="rank",
        per_sample=False,
    ),
    _score(
        _ranking.partial_auc_score,
        "area under the part of the ROC curve within bounds on either rate",
        low=-_INF,
        parameters={"fpr_bounds": (0.0, 0.2)},
        response="score",
    ),
    _classes_loss(
        _multiclass.penalized_brier_loss, "multi-class Brier score plus a penalty for a wrong top class", high=3.0
    ),
    _classes_loss(_multiclass.penalized_log_loss, "multi-class log loss plus a penalty for a wrong top class"),
    _classes_loss(
        _multiclass.one_vs_rest_bounded_loss,
        "sum over classes of the bounded loss of the class against the rest",
        parameters={"bounds": (0.05, 0.9)},
    ),
    _classes_loss(
        _multiclass.cost_matrix_loss,
        "cost of the best action by the stated probabilities, over plausible cost matrices",
        low=-_INF,
        propriety="proper",
        parameters={"matrices": ((0.0, 1.0, 4.0), (1.0, 0.0, 1.0), (6.0, 2.0, 0.0))},
    ),
    _classes_loss(
        _multiclass.ordinal_loss,
        "ranked probability score of ordered classes, over plausible costs of a step too high or too low",
    ),
):
    register(_metric)


# The table of metrics that the documentation shows, made from the registry.

_PROPRIETY = {"strict": "strictly proper", "proper": "proper", "rank": "ranking only", "none": "no"}


def metrics_table() -> str:
    """Return the registered metrics as a Markdown table: direction, range, propriety, what it needs.

    Returns
    -------
    str
        One line for each metric, in alphabetical order.

    Examples
    --------
    >>> from stakes.metrics import metrics_table
    >>> print(metrics_table().splitlines()[0])
    | metric | what it answers | better | range | proper | task | needs | bounds | one class |
    """
    header = ["metric", "what it answers", "better", "range", "proper", "task", "needs", "bounds", "one class"]
    rows = []
    for name, metric in sorted(METRICS.items()):
        cells = [
            f"`{name}`",
            metric.summary,
            "higher" if metric.greater_is_better else "lower",
            _interval(metric.low, metric.high),
            _PROPRIETY[metric.propriety],
            "multi-class" if metric.task == "multiclass" else "binary",
            "probabilities" if metric.response == "probability" else "any ranking score",
            "yes" if metric.bounded else "",
            "defined" if metric.one_class else "nan",
        ]
        rows.append(cells)
    return markdown_table(header, rows)


def _interval(low: float, high: float) -> str:
    left, right = "(" if math.isinf(low) else "[", ")" if math.isinf(high) else "]"
    return f"{left}{low:g}, {high:g}{right}"


# scikit-learn scorers for every registered metric: right sign, probabilities instead of labels.

_RESPONSES = {"probability": "predict_proba", "score": ("decision_function", "predict_proba")}


def get_scorer(name: str, **params: Any) -> Any:
    """Make a scikit-learn scorer, for ``scoring=`` in ``GridSearchCV``, ``cross_validate`` and the like.

    Parameters
    ----------
    name : str
        A registered metric, such as "bounded_brier_loss"; a loss is negated, so that higher is better. Or "money":
        what decisions cost where each row has amounts of its own, per 1,000 rows unless ``per=`` says otherwise, as in
        :func:`stakes.money`, negated.
    **params
        What the metric needs: ``bounds=``, ``costs=``, ``pos_label=``, ``labels=`` ... "money" takes
        ``false_positive=``, ``false_negative=``, ``factor=``, ``per=`` and ``pos_label=``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``. Request weights by ``set_score_request(sample_weight=True)``
        under metadata routing, without which scikit-learn passes no amounts by row: these are requested likewise, by
        ``set_score_request(false_negative=True)``.

    Raises
    ------
    ValueError
        For a name that is not registered, ``logits`` or ``per_sample``, and for weights or a reference by row.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    Metrics of several classes take each column of ``predict_proba`` for the class that ``classes_`` of the model names.
    ``labels=`` states the order of the classes for what is given by class, such as the rows of ``matrices=``, and for
    "ordinal_loss"; else it is that of ``y`` where this is an ordered Categorical of pandas. Other texts are refused
    where their order matters. A class of ``labels=`` that a model does not know has probability 0.

    Inside ``TunedThresholdClassifierCV`` the metric sees hard labels, which it takes as decisions: the threshold that
    is cheapest over the costs is chosen. Labels that are floats, such as 0.0 and 1.0, cannot be told from probabilities
    there and are refused unless the positive one is 1, and so are probabilities of 0 and 1 alone.

    "money" of a classifier that decides by a rule of its own (those of :mod:`stakes.utility` and
    :mod:`stakes.boundary`, scikit-learn's ``FixedThresholdClassifier`` and ``TunedThresholdClassifierCV``; in pipelines
    and searches too) is what the decisions of its ``predict`` cost. Any other is taken to decide each row by its
    probability and its amounts. All other metrics judge probabilities.

    ``cross_validate`` over several of these scorers asks each model for its probabilities once per fold; scorers that
    only rank ask for ``decision_function`` first, where the model has one.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from stakes.metrics import get_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> scorer = get_scorer("bounded_brier_loss", bounds=(0.1, 0.5))
    >>> -0.1 < scorer(LogisticRegression().fit(X, y), X, y) < 0
    True

    Amounts by row: a call to each customer costs 2, and one who is lost what that customer brings.

    >>> import sklearn
    >>> scorer = get_scorer("money", false_positive=2)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scorer(LogisticRegression().fit(X, y), X, [0, 0, 0, 1], false_negative=[90, 80, 70, 60])
    -1500.0
    """
    from sklearn.metrics import make_scorer

    metric = MONEY if name == MONEY.name else METRICS.get(check_name(name, "name"))
    if metric is None:
        near = guess_metric(name, METRICS) or "."
        raise ValueError(f"name must be a registered metric ({', '.join(sorted(METRICS))}), got {name!r}{near}")
    check_parameters(metric, params)
    _check_for_scorer(params)
    if metric is MONEY:
        _check_amounts(params)
    function: Callable[..., Any] = metric.function
    if metric.task == "binary":
        function = _BinaryScore(metric.function)
    by_class = metric.response == "probability" and "labels" in signature(function).parameters
    if metric is MONEY or by_class:
        from stakes.base.estimators import ClassesScorer, DecisionScorer

        if params.get("labels", ()) is None:  # as left out, for then the scorer finds the order itself
            del params["labels"]
        kind = ClassesScorer if by_class else DecisionScorer
        return kind(function, 1 if metric.greater_is_better else -1, params, "predict_proba")
    return make_scorer(
        function, greater_is_better=metric.greater_is_better, response_method=_RESPONSES[metric.response], **params
    )


def money(
    y_true: Any,
    y_prob: Any,
    *,
    false_positive: Any = None,
    false_negative: Any = None,
    factor: float = 1.0,
    per: float | Literal["total"] = MONEY_PER,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Cost of decisions where rows have amounts, for ``per`` rows; a RowCosts may stand for what is said of rows."""
    beside = {"false_positive": false_positive, "false_negative": false_negative}
    beside |= {"sample_weight": sample_weight, "pos_label": pos_label}
    whole = isinstance(y_true, RowCosts) and all(value is None for value in beside.values())
    outcome = y_true if whole else RowCosts(y_true, **beside)
    k = check_factor(factor)
    checked: Any = evaluation_data(outcome, y_prob, amounts=True).rows.origin
    cost = outcome.money(checked.score >= k / (1.0 + k), k)
    rows = float(outcome.counted.sum())
    return rows_for_money(check_money_per(per), rows) * float(np.dot(outcome.counted, cost)) / rows


# not registered, for it is no function of scores and labels alone
MONEY = _loss(money, "What do the decisions cost in money?", low=-_INF, propriety="proper", per_sample=False)


def _check_for_scorer(params: dict[str, Any]) -> None:
    """Refuse what is of the rows, or of scores that a scorer does not ask for."""
    for name, kind in (("logits", "probabilities, not log-odds"), ("per_sample", "one number, not one for each row")):
        if params.get(name):
            raise ValueError(f"{name} must be left out or False, for a scorer works with {kind}, got {params[name]!r}.")
    if params.get("sample_weight") is not None:
        raise ValueError(
            "sample_weight must go with the rows to each fold, by set_score_request(sample_weight=True) and "
            f"cross_validate(params={{'sample_weight': ...}}), got {brief(params['sample_weight'])}."
        )
    reference: Any = params.get("reference")
    if np.ndim(reference):
        raise ValueError(f"reference must be one probability for all rows, got {brief(reference)}.")


def _check_amounts(params: dict[str, Any]) -> None:
    """Refuse columns of amounts in a scorer before any fit."""
    for name in ("false_positive", "false_negative"):
        if params.get(name) is not None and np.ndim(params[name]):
            raise ValueError(
                f"{name} must be one amount for all rows: amounts by row go with the rows to each fold, by "
                f"set_score_request({name}=True) and cross_validate(params={{{name!r}: ...}})."
            )


def check_parameters(metric: Metric, params: dict[str, Any]) -> None:
    """Refuse invalid parameters early, before a model is fitted."""
    from inspect import Parameter, signature

    listed = signature(metric.function).parameters
    known = {name: each for name, each in listed.items() if each.kind is Parameter.KEYWORD_ONLY}
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise TypeError(f"{metric.name} takes no parameter {unknown[0]!r}{near(unknown[0], known)}")
    # only amounts by row may lack costs, and arrays of labels have none
    unstated = ("costs",) if metric.function is _losses.expected_regret else ()
    missing = [
        name
        for name, parameter in known.items()
        if (parameter.default is Parameter.empty or name in unstated) and name not in params
    ]
    if missing:
        raise TypeError(f"{metric.name} needs {missing[0]}=.")


@dataclass(frozen=True, eq=False, repr=False)
class _BinaryScore:
    """A metric that also accepts predicted labels, as scikit-learn's threshold tuning passes them."""

    function: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return str(self.function.__name__)

    @property
    def __signature__(self) -> Signature:
        return _BINARY  # scikit-learn looks for `pos_label` at each call

    def __call__(self, y_true: Any, y_pred: Any, *, pos_label: Any = None, **options: Any) -> float:
        check_same_order(y_true=y_true, y_pred=y_pred, sample_weight=options.get("sample_weight"))
        labels, predicted = to_array(y_true, "y_true"), to_array(y_pred, "y_pred")
        extension = not isinstance(getattr(y_true, "dtype", labels.dtype), np.dtype)  # scikit-learn predicts in floats
        if predicted.ndim == 1 and _are_labels(predicted, labels, pos_label, floats_too=extension):
            predicted = (predicted == (1 if pos_label is None else pos_label)).astype(np.float64)
        return float(self.function(labels, predicted, pos_label=pos_label, **options))


_BINARY = signature(_BinaryScore(_losses.bounded_brier_loss).__call__)


def _are_labels(predicted: Any, labels: Any, pos_label: Any, *, floats_too: bool) -> bool:
    """Whether predictions are labels in place of probabilities; raise where floats may be either."""
    may_be_scores = predicted.dtype.kind in "buif" and bool(np.all((predicted >= 0) & (predicted <= 1)))
    floats = predicted.dtype.kind == "f"
    if may_be_scores and (
        pos_label is None or pos_label == 1 or (floats and labels.dtype.kind != "f" and not floats_too)
    ):
        return False  # where 1 is the positive label, both mean the same
    if len({*labels.ravel().tolist(), *predicted.tolist()}) > 2:
        return False
    if may_be_scores and floats:
        raise ValueError(
            "y_pred must not be labels that are floats within 0 and 1, which may be probabilities of the positive "
            f"class as well, where pos_label is {pos_label!r}: make them whole numbers or text."
        )
    return True
