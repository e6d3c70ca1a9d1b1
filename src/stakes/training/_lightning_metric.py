"""Metrics of the library as torchmetrics, which Lightning logs, follows and merges over all processes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stakes.training._metric_monitor import as_monitor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stakes.training._metric_monitor import Criterion


def lightning_metric(
    metric: Criterion = "penalized_brier_loss",
    *,
    correct: Mapping[str, Any] | None = None,
    logits: bool = False,
    **params: Any,
) -> Any:
    """Make a metric of the library a ``torchmetrics.Metric``, for ``LightningModule.log``.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    correct : mapping, optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: undone before the metric is
        evaluated.
    logits : bool, default False
        Whether scores are raw, the output of a last layer without sigmoid or softmax.
    **params
        What the metric takes, such as ``bounds=``.

    Returns
    -------
    torchmetrics.Metric
        ``update(preds, target, weight=None)`` takes probabilities or logits first, as every torchmetric does.
        Lightning's ``EarlyStopping`` and ``ModelCheckpoint`` follow it by the name it is logged under; give them
        ``mode="max"`` where its ``higher_is_better`` is true.

    Raises
    ------
    ValueError
        For a metric that is not registered, for a correction that is not understood.
    TypeError
        For a parameter that the metric does not take, or a missing one.
    ImportError
        If torchmetrics, which comes with Lightning, is not installed (``pip install 'stakes[lightning]'``).

    Notes
    -----
    It keeps the rows of an epoch, so that the value is that of all rows at once. In distributed training those of
    every process are gathered; Lightning pads the parts to equal lengths by repeated rows unless its sampler is
    replaced.

    Examples
    --------
    >>> from stakes.training import lightning_metric
    >>> self.brier = lightning_metric("bounded_brier_loss", bounds=(0.02, 0.1))  # doctest: +SKIP
    >>> self.brier.update(y_prob, y)  # doctest: +SKIP
    >>> self.log("val_brier", self.brier)  # doctest: +SKIP
    """
    return _metric_class()(as_monitor(metric, params, correct=correct, logits=logits))


@cache
def _metric_class() -> Any:
    try:
        import torch
        import torchmetrics
    except ImportError as error:
        raise ImportError("a Lightning metric needs Lightning: pip install 'stakes[lightning]'") from error

    class LightningMetric(torchmetrics.Metric):  # type: ignore[misc]  # a class of an optional library
        """Collect the rows, and evaluate them all."""

        full_state_update = False

        def __init__(self, monitor: Any) -> None:
            super().__init__()
            self.monitor = monitor
            for name in ("preds", "target", "weight"):
                self.add_state(name, default=[], dist_reduce_fx="cat")

        @property
        def higher_is_better(self) -> bool:
            return self.monitor.greater_is_better

        def __reduce__(self) -> Any:  # this class is made in a function, where pickle does not find it
            return lightning_metric, (self.monitor,), self.__getstate__()

        def update(self, preds: Any, target: Any, weight: Any = None) -> None:
            weight = torch.ones(len(target), device=preds.device) if weight is None else weight
            if not len(preds) == len(target) == len(weight):
                lengths = f"{len(preds)}, {len(target)} and {len(weight)}"
                raise ValueError(f"preds, target and weight must have the same length, got {lengths}.")
            self.preds.append(preds.detach())
            self.target.append(target.detach())
            self.weight.append(weight.detach())

        def compute(self) -> Any:
            preds, target, weight = map(torchmetrics.utilities.dim_zero_cat, (self.preds, self.target, self.weight))
            wide = torch.float32 if preds.device.type == "mps" else torch.float64
            return torch.tensor(self.monitor.evaluate(target, preds, weight), dtype=wide, device=preds.device)

    return LightningMetric
