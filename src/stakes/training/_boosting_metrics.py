"""Metrics of the library as evaluation metrics of XGBoost and LightGBM, in their own and their scikit-learn interface.

Both libraries call a metric with predictions and their data object, or, in the scikit-learn interface, with labels and
predictions. Their own early stopping then works on the value, so the direction must be the one that they expect.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import get_ident
from typing import TYPE_CHECKING, Any, Literal

from stakes.training._metric_monitor import MetricMonitor, as_monitor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stakes.training._metric_monitor import Criterion

# Without being told, XGBoost takes a metric whose name begins so as better when higher, and any other as a loss.
_MAXIMISED = ("auc", "map", "ndcg", "pre")
_UNBALANCED = ("is_unbalance", "unbalance", "unbalanced_sets")


def xgboost_metric(
    metric: Criterion = "penalized_brier_loss",
    *,
    correct: Mapping[str, Any] | None = None,
    logits: bool = False,
    **params: Any,
) -> XGBoostMetric:
    """Make a metric of the library an evaluation metric of XGBoost.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    correct : mapping, optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: undone before the metric is
        evaluated. XGBoost hands a metric no settings of the booster, so they are stated here.
    logits : bool, default False
        Whether scores are raw: log-odds, or logits of every class, as "binary:logitraw" and objectives of
        one's own give.
    **params
        What the metric takes, such as ``bounds=``.

    Returns
    -------
    callable
        For ``xgboost.train(custom_metric=...)`` and for ``XGBClassifier(eval_metric=...)``. XGBoost minimises what it
        does not know, so a score is reported with its sign changed, as ``neg_`` and its name; a loss whose name
        XGBoost would take for a score's, as ``loss_`` and its name.

    Raises
    ------
    ValueError
        For a metric that is not registered, or a correction that is not understood.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    Objectives "binary:logistic" and "multi:softprob" hand it probabilities. ``early_stopping_rounds=``,
    ``xgboost.callback.EarlyStopping`` and ``cv`` follow it.

    With ``scale_pos_weight`` the model's scores are above the probabilities, and a loss of bounded costs may then be
    least before the first tree: pass ``correct=``.

    Examples
    --------
    >>> from stakes.training import xgboost_metric
    >>> metric = xgboost_metric("bounded_brier_loss", bounds=(0.02, 0.1))
    >>> metric.__name__, round(metric([0, 1], [0.05, 0.05]), 6)
    ('bounded_brier_loss', 0.0473)
    >>> xgboost_metric("roc_auc_score").__name__
    'neg_roc_auc_score'
    """
    return XGBoostMetric(as_monitor(metric, params, correct=correct, logits=logits))


def lightgbm_metric(
    metric: Criterion = "penalized_brier_loss",
    *,
    correct: Mapping[str, Any] | Literal["auto"] | None = None,
    logits: bool = False,
    **params: Any,
) -> LightGBMMetric:
    """Make a metric of the library an evaluation metric of LightGBM.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    correct : mapping or "auto", optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: undone before the metric is
        evaluated. "auto" asks the booster for its ``scale_pos_weight``:
        list the metric's ``callbacks`` among those of the training.
    logits : bool, default False
        Whether scores are raw: log-odds, or logits of every class, as objectives of one's own give.
    **params
        What the metric takes, such as ``bounds=``.

    Returns
    -------
    callable
        For ``lightgbm.train(feval=...)`` and for ``LGBMClassifier().fit(eval_metric=...)``; it tells LightGBM the
        direction.

    Raises
    ------
    ValueError
        For a metric that is not registered, or a correction that is not understood.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    Built-in objectives hand it probabilities. ``lightgbm.early_stopping`` follows it, and every other metric too:
    ``metric="None"`` among the model's settings leaves this one alone.

    With ``scale_pos_weight`` the model's scores are above the probabilities, and a loss of bounded costs may then be
    least after the first tree: pass ``correct=``. ``is_unbalance``, weights of the training rows (such as those that
    ``class_weight`` makes) and other objectives than "binary" are refused by "auto", since the booster does not say
    what they amount to.

    Examples
    --------
    >>> from stakes.training import lightgbm_metric
    >>> name, value, greater_is_better = lightgbm_metric("bounded_brier_loss", bounds=(0.02, 0.1))([0, 1], [0.05, 0.05])
    >>> name, round(value, 6), greater_is_better
    ('bounded_brier_loss', 0.0473, False)
    """
    if not isinstance(correct, str) or correct != "auto":
        return LightGBMMetric(as_monitor(metric, params, correct=correct, logits=logits))
    monitor = as_monitor(metric, params, correct={"scale_pos_weight": 1.0}, logits=logits)
    return LightGBMMetric(monitor, BoosterWeight(monitor))


@dataclass(frozen=True)
class XGBoostMetric:
    """A metric under the name and with the sign that XGBoost expects; it can be pickled with a fitted model."""

    monitor: MetricMonitor

    @property
    def __name__(self) -> str:
        name = self.monitor.name
        if self.monitor.greater_is_better:
            return f"neg_{name}"
        return f"loss_{name}" if name.startswith(_MAXIMISED) else name

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        value = _evaluated(self.monitor, first, second, sample_weight)
        value = -value if self.monitor.greater_is_better else value
        return (self.__name__, value) if _is_data(second) else value


class BoosterWeight:
    """The class weight of LightGBM's booster, read before each iteration and used in the evaluation after it."""

    def __init__(self, monitor: MetricMonitor) -> None:
        self._plain = monitor
        self._read: dict[int, MetricMonitor] = {}  # by thread: trainings side by side may share a metric

    def __deepcopy__(self, memo: Any) -> BoosterWeight:
        """Stay one with the callbacks: LightGBM's classifier copies the metric, not them."""
        return self

    @property
    def monitor(self) -> MetricMonitor:
        """Monitor that undoes the weight of the iteration under way."""
        if get_ident() not in self._read:
            raise ValueError(
                'correct="auto" reads scale_pos_weight in a callback: pass callbacks=[*metric.callbacks, '
                "lightgbm.early_stopping(5)] to the training, or state the weight, such as "
                'correct={"scale_pos_weight": 58}.'
            )
        return self._read[get_ident()]

    def callbacks(self) -> list[Any]:
        """Make two for LightGBM: one reads the weight before an iteration, one drops it before others stop the run."""

        def read(env: Any) -> None:
            self._read[get_ident()] = self._plain.correcting({"scale_pos_weight": _weight_of_booster(env)})

        def drop(_env: Any) -> None:
            self._read.pop(get_ident(), None)

        read.before_iteration, drop.order = True, 0  # type: ignore[attr-defined]
        return [read, drop]


def _weight_of_booster(env: Any) -> float:
    """``scale_pos_weight`` of a booster, where it is all that weighs the classes."""
    instead = 'correct="auto" cannot know: state it, such as correct={"scale_pos_weight": 58}.'
    objective = env.params.get("objective")
    if objective != "binary":
        raise ValueError(f"what the class weights of the objective {objective!r} amount to, {instead}")
    for name in _UNBALANCED:
        if env.params.get(name) not in (None, False, "false"):
            raise ValueError(f"what {name}={env.params[name]!r} of LightGBM amounts to, {instead}")
    for booster in getattr(env.model, "boosters", [env.model]):
        if booster.train_set.get_weight() is not None:
            raise ValueError(f"whether the weights of the training rows are those of their classes, {instead}")
    return float(env.params.get("scale_pos_weight", 1.0))


@dataclass(frozen=True)
class LightGBMMetric:
    """A metric with its name and direction, as LightGBM expects them; it can be pickled with a fitted model."""

    monitor: MetricMonitor
    weight: BoosterWeight | None = None

    @property
    def __name__(self) -> str:
        return self.monitor.name

    @property
    def callbacks(self) -> list[Any]:
        """What to list among the callbacks of the training, where ``correct="auto"``."""
        return [] if self.weight is None else self.weight.callbacks()

    # LightGBM counts the parameters: with three of them the scikit-learn interface passes the weights
    def __call__(self, first: Any, second: Any, weight: Any = None) -> tuple[str, float, bool]:
        monitor = self.monitor if self.weight is None else self.weight.monitor
        value = _evaluated(monitor, first, second, weight)
        return monitor.name, value, monitor.greater_is_better


def _is_data(values: Any) -> bool:
    """Whether this is the data object of a library's own interface, not an array."""
    return hasattr(values, "get_label")


def _evaluated(monitor: MetricMonitor, first: Any, second: Any, weight: Any) -> float:
    """Value for (predictions, data object) or for (labels, predictions, weights)."""
    if not _is_data(second):
        return monitor.evaluate(first, second, weight)
    weight = second.get_weight()
    return monitor.evaluate(second.get_label(), first, weight if weight is not None and len(weight) else None)
