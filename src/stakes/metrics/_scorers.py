"""scikit-learn scorers for every registered metric: right sign, probabilities instead of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.remedies import near
from stakes.core.row_order import check_same_order
from stakes.core.validation import check_name, to_array
from stakes.metrics._registry import METRICS, Metric, guess_metric

if TYPE_CHECKING:
    from collections.abc import Callable

_RESPONSES = {"probability": "predict_proba", "score": ("decision_function", "predict_proba")}


def get_scorer(name: str, **params: Any) -> Any:
    """Make a scikit-learn scorer, for ``scoring=`` in ``GridSearchCV``, ``cross_validate`` and the like.

    Parameters
    ----------
    name : str
        A registered metric, such as "bounded_brier_loss"; a loss is negated, so that higher is better.
    **params
        What the metric needs: ``bounds=``, ``costs=``, ``pos_label=``, ``labels=`` ...

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``. Request weights by ``set_score_request(sample_weight=True)``
        under metadata routing.

    Raises
    ------
    ValueError
        For a name that is not registered.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    Inside ``TunedThresholdClassifierCV`` the metric sees hard labels, which it takes as decisions: the threshold that
    is cheapest over the costs is chosen.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from stakes.metrics import get_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> scorer = get_scorer("bounded_brier_loss", bounds=(0.1, 0.5))
    >>> -0.1 < scorer(LogisticRegression().fit(X, y), X, y) < 0
    True
    """
    from sklearn.metrics import make_scorer

    if check_name(name, "name") not in METRICS:
        near = guess_metric(name, METRICS) or "."
        raise ValueError(f"name must be a registered metric ({', '.join(sorted(METRICS))}), got {name!r}{near}")
    metric = METRICS[name]
    check_parameters(metric, params)
    function: Callable[..., Any] = metric.function
    if metric.task == "binary":
        function = _BinaryScore(metric.function)
    return make_scorer(
        function, greater_is_better=metric.greater_is_better, response_method=_RESPONSES[metric.response], **params
    )


def check_parameters(metric: Metric, params: dict[str, Any]) -> None:
    """Refuse what the metric does not take now, not after the first model has been fitted."""
    from inspect import Parameter, signature

    known = signature(metric.function).parameters
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise TypeError(f"{metric.name} takes no parameter {unknown[0]!r}{near(unknown[0], known)}")
    missing = [
        name
        for name, parameter in known.items()
        if parameter.kind is Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty and name not in params
    ]
    if missing:
        raise TypeError(f"{metric.name} needs {missing[0]}=.")


@dataclass(frozen=True)
class _BinaryScore:
    """A metric that also takes hard labels in the vocabulary of ``y_true``, as threshold tuning passes them."""

    function: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return str(self.function.__name__)

    def __call__(self, y_true: Any, y_pred: Any, *, pos_label: Any = None, **options: Any) -> float:
        check_same_order(y_true=y_true, y_pred=y_pred, sample_weight=options.get("sample_weight"))
        labels, predicted = to_array(y_true, "y_true"), to_array(y_pred, "y_pred")
        if predicted.ndim == 1 and not _numbers_in_0_1(predicted) and np.all(np.isin(predicted, labels)):
            predicted = (predicted == (1 if pos_label is None else pos_label)).astype(np.float64)
        return float(self.function(labels, predicted, pos_label=pos_label, **options))


def _numbers_in_0_1(values: Any) -> bool:
    return values.dtype.kind in "buif" and bool(np.all((values >= 0) & (values <= 1)))
