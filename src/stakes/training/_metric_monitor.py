"""The value of one metric over batches: updated where the model is evaluated, merged across processes, exact."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.core.score_table import ScoreTable
from stakes.core.validation import positive_last, to_array
from stakes.metrics import METRICS, Metric, guess_metric
from stakes.metrics._scorers import check_parameters
from stakes.metrics._tensor_inputs import is_tensor, to_host
from stakes.training._training_scores import TrainingScores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_RESERVED = ("sample_weight", "per_sample")
_ON_DEVICE = ("penalized_brier_loss", "penalized_log_loss")


class MetricMonitor:
    """Streaming value of any registered metric on validation data, by default of the penalized Brier loss.

    Parameters
    ----------
    metric : str or Metric, default "penalized_brier_loss"
        A registered metric, binary or multi-class.
    correct : mapping, optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: it is undone before the metric is
        evaluated. ``labels`` among it are by default those of the metric.
    logits : bool, default False
        Whether scores are log-odds of the positive class, or logits of every class.
    **params
        What the metric takes: ``labels=``, ``penalty=``, ``ties=``, ``bounds=``, ``costs=``, ``pos_label=`` ...

    Attributes
    ----------
    metric : Metric
        What is monitored.
    params : dict
        Its settings.

    Raises
    ------
    ValueError
        For a name that is not registered, or a setting that the metric refuses.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    A multi-class loss is a mean, kept as a compensated sum of losses and the sum of weights; a binary metric is a
    function of the score table, which merges by addition. Either way the value is that of all rows at once, whatever
    the batches: nothing is binned or averaged over batches. Monitors can be pickled and sent to another process.

    Batches need not show every class, so labels that are not column numbers or one-hot rows need ``labels=``.

    Examples
    --------
    >>> from stakes.training import MetricMonitor
    >>> monitor = MetricMonitor()
    >>> monitor.update([1, 0], [[0.33, 0.34, 0.33], [0.6, 0.2, 0.2]]).update([1], [[0.51, 0.49, 0.0]])
    MetricMonitor(penalized_brier_loss of 3 rows: 0.6934)
    >>> round(monitor.compute(), 4)
    0.6934
    """

    def __init__(
        self,
        metric: str | Metric = "penalized_brier_loss",
        *,
        correct: Mapping[str, Any] | None = None,
        logits: bool = False,
        **params: Any,
    ) -> None:
        metric = _registered(metric)
        check_parameters(metric, params)
        for name in _RESERVED:
            if name in params:
                raise TypeError(f"{name} is no setting of a monitor: rows and weights go to update().")
        if metric.task == "multiclass" and not metric.per_sample:
            raise ValueError(f"a multi-class metric must give per-row values to be monitored, got {metric.name}.")
        self.metric = metric
        self.params = params
        self._scores = TrainingScores(correct, logits=logits, labels=_labels_to_undo(params, correct))
        self._try_settings()
        self.reset()

    @property
    def name(self) -> str:
        """Name of the metric."""
        return self.metric.name

    @property
    def greater_is_better(self) -> bool:
        """Direction of the metric."""
        return self.metric.greater_is_better

    @property
    def correct(self) -> dict[str, Any] | None:
        """What is undone before the metric is evaluated."""
        return self._scores.correct

    def correcting(self, correct: Mapping[str, Any]) -> MetricMonitor:
        """Make a monitor of the same metric, without rows, that undoes other weights.

        Parameters
        ----------
        correct : mapping
            As of the class.

        Returns
        -------
        MetricMonitor
            A new one.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> monitor = MetricMonitor("bounded_brier_loss").correcting({"scale_pos_weight": 9})
        >>> round(monitor.evaluate([0], [0.9]), 4)  # 0.9 was 0.5 before the positives counted nine times
        0.25
        """
        return MetricMonitor(self.metric, correct=correct, logits=self._scores.logits, **self.params)

    @property
    def n_rows(self) -> int:
        """Rows seen since the last reset."""
        return self._rows

    def reset(self) -> Self:
        """Forget the rows.

        Returns
        -------
        MetricMonitor
            This object.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> MetricMonitor().update([0], [[0.6, 0.4]]).reset().n_rows
        0
        """
        self._rows = 0
        self._loss = _Sum()
        self._weight = _Sum()
        self._tables: list[ScoreTable] = []
        return self

    def update(self, y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of rows.

        Parameters
        ----------
        y_true : array_like of shape (n,) or (n, classes)
            Labels, or one-hot rows for a multi-class metric.
        y_prob : array_like or PyTorch tensor
            Of shape (n, classes) for a multi-class metric; of shape (n,) or (n, 2) for a binary one. Probabilities,
            unless the monitor was made with ``logits=True``.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.

        Returns
        -------
        MetricMonitor
            This object.

        Raises
        ------
        ValueError
            For rows that the metric refuses; the monitor then keeps what it had.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> auc = MetricMonitor("roc_auc_score").update([0, 1], [0.2, 0.4]).update([0, 1], [0.3, 0.1])
        >>> auc.compute()
        0.5
        """
        check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
        if self.metric.task == "binary":
            self._tables.append(self._table(y_true, y_prob, sample_weight))
            self._rows += self._tables[-1].n_rows
            return self
        if not (is_tensor(y_prob) and self.name in _ON_DEVICE and self._scores.as_given):
            y_true, y_prob, sample_weight = to_host(y_true), to_host(y_prob), to_host(sample_weight)
        if not self._scores.as_given:
            y_prob = self._scores.of_classes(y_prob)
        options = self.params | {"labels": self._labels(y_true, y_prob)}
        losses = self.metric.function(y_true, y_prob, per_sample=True, sample_weight=sample_weight, **options)
        loss, weight = _totals(losses, sample_weight)
        self._loss.add(loss)
        self._weight.add(weight)
        self._rows += len(losses)
        return self

    def merge(self, other: MetricMonitor) -> MetricMonitor:
        """Add what another monitor of the same metric has seen, on other rows.

        Parameters
        ----------
        other : MetricMonitor
            With the same metric and settings.

        Returns
        -------
        MetricMonitor
            A new one.

        Raises
        ------
        ValueError
            If the metric or a setting differs.
        TypeError
            If it is no monitor.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> one = MetricMonitor().update([0], [[0.6, 0.4]])
        >>> other = MetricMonitor().update([0], [[0.4, 0.6]])
        >>> round(one.merge(other).compute(), 4)
        0.77
        """
        if not isinstance(other, MetricMonitor):
            raise TypeError(f"other must be a MetricMonitor, got {other!r}.")
        if self.settings() != other.settings():
            raise ValueError(f"monitors must be alike to be merged, got {self.settings()} and {other.settings()}.")
        both = copy(self)
        both._rows = self._rows + other._rows
        both._loss, both._weight = self._loss.plus(other._loss), self._weight.plus(other._weight)
        both._tables = [*self._tables, *other._tables]
        return both

    def compute(self) -> float:
        """Value of the metric on all rows since the last reset.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there was no row.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> MetricMonitor("bounded_brier_loss").update([0, 1], [0.0, 0.5]).compute()
        0.125
        """
        if self._rows == 0:
            raise ValueError("the monitor has seen no row of positive weight: call update() first.")
        if self.metric.task == "multiclass":
            return self._loss.value() / self._weight.value()
        self._tables = [_merged(self._tables)]
        return self._of_table(self._tables[0])

    def evaluate(self, y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Value of the metric on these rows alone; what was seen before is neither used nor changed.

        Parameters
        ----------
        y_true, y_prob, sample_weight : array_like
            As in :meth:`update`.

        Returns
        -------
        float

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> MetricMonitor(penalty=0).evaluate([0], [[0.6, 0.4]])
        0.32...
        """
        return copy(self).reset().update(y_true, y_prob, sample_weight).compute()

    def settings(self) -> dict[str, Any]:
        """Name of the metric and its parameters as text, to tell whether two monitors measure the same.

        Returns
        -------
        dict

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> MetricMonitor("bounded_brier_loss", bounds=(0.1, 0.2)).settings()
        {'metric': 'bounded_brier_loss', 'bounds': '(0.1, 0.2)'}
        """
        given = self.params | self._scores.settings()
        plain = {name: getattr(value, "tolist", lambda value=value: value)() for name, value in given.items()}
        return {"metric": self.name, **{name: repr(value) for name, value in sorted(plain.items())}}

    def __getstate__(self) -> dict[str, Any]:
        """A registered metric travels by its name: pickle does not take every function that it holds."""
        registered = METRICS.get(self.name) is self.metric
        return self.__dict__ | {"metric": self.name if registered else self.metric}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, metric=_registered(state["metric"]))

    def __repr__(self) -> str:
        seen = f"{self._rows} rows: {self.compute():.4g}" if self._rows else "no rows yet"
        return f"MetricMonitor({self.name} of {seen})"

    def _try_settings(self) -> None:
        """Refuse settings such as reversed bounds now, not after the first epoch; two rows are enough to meet them."""
        if self.metric.task == "binary":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a warning is for the rows of the user
                self._of_table(ScoreTable.from_predictions([0, 1], [0.25, 0.75]))
            if not self._scores.as_given:
                self._scores.of_classes([0.25, 0.75])

    def _of_table(self, table: ScoreTable) -> float:
        given = {name: value for name, value in self.params.items() if name != "pos_label"}
        return float(self.metric.function(table, None, **given))

    def _labels(self, y_true: Any, y_prob: Any) -> Any:
        """Labels in column order; without them y_true holds column numbers, for a batch may lack a class."""
        given = self.params.get("labels")
        if given is not None or np.ndim(y_true) == 2:
            return given
        shape = np.shape(y_prob)
        return list(range(shape[1] if len(shape) == 2 else 2))

    def _table(self, y_true: Any, y_prob: Any, sample_weight: Any) -> ScoreTable:
        probability = self.metric.response == "probability"
        labels, scores, positive = to_host(y_true), to_host(y_prob), self.params.get("pos_label")
        if not self._scores.as_given:
            scores = self._scores.of_positive(scores, labels, pos_label=positive, probability=probability)
        weight = to_host(sample_weight)
        return ScoreTable.from_predictions(
            labels, scores, sample_weight=weight, pos_label=positive, probability=probability
        )


Criterion = str | Metric | MetricMonitor


def as_monitor(
    metric: Criterion,
    params: Mapping[str, Any] | None = None,
    *,
    correct: Mapping[str, Any] | None = None,
    logits: bool = False,
) -> MetricMonitor:
    """A monitor from a metric's name or a metric with its settings, or the monitor that was given."""
    if not isinstance(metric, MetricMonitor):
        return MetricMonitor(metric, correct=correct, logits=logits, **(params or {}))
    beside = [*(params or {}), *(["correct"] if correct is not None else []), *(["logits"] if logits else [])]
    if beside:
        raise TypeError(f"a MetricMonitor carries its own settings, got {beside[0]}= beside it.")
    return metric


def _labels_to_undo(params: Mapping[str, Any], correct: Any) -> Any:
    """Labels in the order of the columns that are undone: those of the metric, or of two the positive one last."""
    positive = params.get("pos_label")
    if positive is None or not isinstance(correct, Mapping):
        return params.get("labels")
    return positive_last(positive, {label for v in correct.values() if isinstance(v, Mapping) for label in v})


def _registered(metric: object) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if not isinstance(metric, str) or metric not in METRICS:
        names, near = ", ".join(sorted(METRICS)), guess_metric(str(metric), METRICS) or "."
        raise ValueError(f"metric must be the name of a registered metric ({names}) or a Metric, got {metric!r}{near}")
    return METRICS[metric]


class _Sum:
    """A running sum with the rounding error of every addition carried along (Neumaier)."""

    def __init__(self, high: float = 0.0, low: float = 0.0) -> None:
        self.high, self.low = high, low

    def add(self, value: float) -> None:
        total = self.high + value
        if np.isfinite(total):
            self.low += (self.high - total) + value if abs(self.high) >= abs(value) else (value - total) + self.high
        self.high = total

    def plus(self, other: _Sum) -> _Sum:
        both = _Sum(self.high, self.low + other.low)
        both.add(other.high)
        return both

    def value(self) -> float:
        return self.high + self.low


def _totals(losses: Any, sample_weight: Any) -> tuple[float, float]:
    """Weighted sum of the losses of a batch, and its weight; an infinite loss of weight zero is absent."""
    if is_tensor(losses):
        losses = losses.detach()
    if sample_weight is None:
        return float(losses.sum()), float(len(losses))
    if is_tensor(losses):
        weight = losses.new_tensor(np.asarray(to_host(sample_weight), dtype=np.float64))
    else:
        weight = np.asarray(to_array(sample_weight, "sample_weight"), dtype=np.float64)
    keep = weight > 0
    return float((losses[keep] * weight[keep]).sum()), float(weight.sum())


def _merged(tables: list[ScoreTable]) -> ScoreTable:
    """Merge in pairs, so that each row is touched log(batches) times."""
    while len(tables) > 1:
        pairs = [first.merge(second) for first, second in zip(tables[::2], tables[1::2], strict=False)]
        tables = pairs + ([tables[-1]] if len(tables) % 2 else [])
    return tables[0]
