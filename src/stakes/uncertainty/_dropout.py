"""Monte Carlo dropout: a PyTorch module asked many times, its dropout left on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.core.random_state import generator
from stakes.core.validation import check_choice
from stakes.uncertainty._ensemble import from_ensemble
from stakes.uncertainty._import_torch import import_torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.uncertainty._ensemble import EnsembleUncertainty

    Floats = NDArray[np.float64]


def mc_dropout(
    module: Any,
    X: Any,
    *,
    n_samples: int = 50,
    output: Literal["logits", "probabilities"] = "logits",
    batch_size: int = 4096,
    random_state: int | np.random.Generator | None = 0,
) -> EnsembleUncertainty:
    """How far the predictions of a PyTorch module vary with its dropout left on.

    Parameters
    ----------
    module : torch.nn.Module
        With dropout layers. Maps rows to one value per row, shape (n,) or (n, 1), or to two, shape (n, 2).
    X : tensor or array_like of shape (n, ...)
        Rows; an array is converted to the type of the module's parameters. Moved to the module's device.
    n_samples : int, default 50
        Passes, at least 2.
    output : {"logits", "probabilities"}, default "logits"
        What the module returns: log odds (one value) or unnormalised log probabilities (two), or probabilities.
    batch_size : int, default 4096
        Rows in one call of the module.
    random_state : int, numpy Generator or None, default 0
        Seed of the dropout masks. PyTorch's own generator is left as it was.

    Returns
    -------
    EnsembleUncertainty
        Each pass is a member.

    Raises
    ------
    ImportError
        If PyTorch is not installed (``pip install 'stakes[torch]'``).
    ValueError
        If the module has no dropout layer with p > 0, or its output has another shape.

    Notes
    -----
    Gal and Ghahramani (2016). Dropout layers alone are switched on; batch normalisation keeps its running statistics,
    and the mode of every layer is restored. Dropout inside a recurrent or attention layer, or called as a function, is
    not found.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from stakes.uncertainty import mc_dropout
    >>> net = torch.nn.Sequential(
    ...     torch.nn.Linear(4, 64), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(64, 1)
    ... )
    ... # doctest: +SKIP
    >>> mc_dropout(net, torch.randn(10, 4), random_state=0)  # doctest: +SKIP
    EnsembleUncertainty(10 rows, 50 members, mean mutual information 0.00512)
    """
    torch = import_torch("mc_dropout")
    check_choice(output, "output", ("logits", "probabilities"))
    for name, value, least in (("n_samples", n_samples, 2), ("batch_size", batch_size, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}.")
    layers = [layer for layer in module.modules() if _is_dropout(layer)]
    if not layers:
        raise ValueError(f"module must have a dropout layer with p > 0, got {type(module).__name__} without one.")
    rows = _to_tensor(torch, module, X)
    modes = [(layer, layer.training) for layer in module.modules()]
    seed = int(generator(random_state).integers(2**63 - 1))
    try:
        module.eval()
        for layer in layers:
            layer.train()
        devices = [rows.device] if rows.device.type == "cuda" else []
        with torch.no_grad(), torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            members = [_pass(torch, module, rows, output, batch_size) for _ in range(n_samples)]
    finally:
        for layer, mode in modes:
            layer.training = mode
    return from_ensemble(np.stack(members))


def _is_dropout(layer: Any) -> bool:
    from torch.nn.modules.dropout import _DropoutNd

    return isinstance(layer, _DropoutNd) and layer.p > 0.0


def _to_tensor(torch: Any, module: Any, X: Any) -> Any:
    like = next(module.parameters(), None)
    device = None if like is None else like.device
    if isinstance(X, torch.Tensor):
        rows = X.to(device)
    else:
        dtype = torch.get_default_dtype() if like is None else like.dtype
        rows = torch.as_tensor(np.asarray(X), dtype=dtype, device=device)
    if rows.ndim == 0 or len(rows) == 0:
        raise ValueError(f"X must hold at least one row, got shape {tuple(rows.shape)}.")
    return rows


def _pass(torch: Any, module: Any, rows: Any, output: str, batch_size: int) -> Floats:
    """Probability of the positive class, once."""
    found = torch.cat([module(part).double() for part in rows.split(batch_size)]).cpu()
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.shape not in {(len(rows),), (len(rows), 2)}:
        raise ValueError(f"module must return one or two values per row, got shape {tuple(found.shape)}.")
    if output == "logits":
        found = found.sigmoid() if found.ndim == 1 else found.softmax(1)
    return np.asarray((found if found.ndim == 1 else found[:, 1]).numpy())
