"""Early stopping and checkpoints in Lightning, merged over all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.training._callbacks import Watch

if TYPE_CHECKING:
    from stakes.training._checkpoint import Checkpoint
    from stakes.training._early_stopping import EarlyStopping
    from stakes.training._monitor import PenalizedScoreMonitor


def lightning_callback(*, stopping: EarlyStopping | None = None, checkpoint: Checkpoint | None = None) -> Any:
    """Make a callback for ``lightning.Trainer``.

    Parameters
    ----------
    stopping : EarlyStopping, optional
        When to stop; the best weights are put back when training ends.
    checkpoint : Checkpoint, optional
        Where to save; the files are Lightning's checkpoints, from which ``trainer.fit(..., ckpt_path=...)`` goes on.

    Returns
    -------
    lightning.Callback
        The module's ``validation_step`` must return a dict with "y_true" and "y_prob" (probabilities), and may add
        "sample_weight". The value of each epoch is logged as ``val_`` and the metric's name.

    Raises
    ------
    ValueError
        If neither object is given, or their monitors or ``min_delta`` differ.
    ImportError
        If Lightning is not installed (``pip install 'stakes[lightning]'``).

    Notes
    -----
    In distributed training every process sees a part of the validation rows; their monitors are merged, so the value
    is that of all rows. Lightning pads the parts to equal lengths by repeated rows unless its sampler is replaced.

    Examples
    --------
    >>> from stakes.training import EarlyStopping, lightning_callback
    >>> callback = lightning_callback(stopping=EarlyStopping(patience=5))  # doctest: +SKIP
    >>> lightning.Trainer(callbacks=[callback]).fit(model, train, validation)  # doctest: +SKIP
    """
    try:
        import lightning
    except ImportError as error:
        raise ImportError("a Lightning callback needs Lightning: pip install 'stakes[lightning]'") from error

    made = type("StakesCallback", (_Hooks, lightning.Callback), {"__doc__": _Hooks.__doc__})
    return made(Watch(stopping, checkpoint))


class _Hooks:
    """Collect during validation; save and stop at the end of the epoch; put the best weights back."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.value: float | None = None  # of this epoch, if it had a validation

    def on_validation_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        *batch: Any,  # and its number, and that of its loader
    ) -> None:
        del pl_module, batch
        if trainer.sanity_checking:
            return
        if not isinstance(outputs, dict) or not {"y_true", "y_prob"} <= set(outputs):
            raise ValueError(f'validation_step must return a dict with "y_true" and "y_prob", got {outputs!r}.')
        self.watch.monitor.update(outputs["y_true"], outputs["y_prob"], outputs.get("sample_weight"))

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if trainer.sanity_checking:
            return
        monitor = self.watch.monitor
        self.value = gathered(monitor).compute()
        monitor.reset()
        pl_module.log(f"val_{monitor.name}", self.value)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if self.value is None:
            return
        watch, value, self.value = self.watch, self.value, None
        if watch.stopping is not None:
            trainer.should_stop |= watch.stopping.step(value, pl_module.state_dict() if watch.restores else None)
        if watch.checkpoint is not None:
            _save(watch.checkpoint, trainer, value)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        del trainer
        watch = self.watch
        if not watch.restores or watch.stopping is None:
            return
        if watch.stopping.best_weights is not None:
            watch.stopping.restore(pl_module)
        elif (best := watch.best_file()) is not None:
            import torch

            state = torch.load(best, map_location=pl_module.device, weights_only=True)
            pl_module.load_state_dict(state["state_dict"])


def _save(checkpoint: Checkpoint, trainer: Any, value: float) -> None:
    """Save on every process, as Lightning demands; only the first one keeps the record and the files."""
    if trainer.is_global_zero:
        checkpoint.step(value, trainer.save_checkpoint, suffix=".ckpt")
    else:
        trainer.save_checkpoint(checkpoint.folder / ".unused")


def gathered(monitor: PenalizedScoreMonitor) -> PenalizedScoreMonitor:
    """The monitors of all processes of ``torch.distributed`` merged, in the order of their ranks."""
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
        return monitor
    parts: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(parts, monitor)
    merged, *others = parts
    for other in others:
        merged = merged.merge(other)
    return merged
