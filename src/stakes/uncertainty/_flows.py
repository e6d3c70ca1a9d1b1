"""Radial flows: one normalised density for each class. PyTorch is imported only where something is made or trained."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stakes.uncertainty._training import Examples


def radial_log_density(z: Any, centre: Any, raw_alpha: Any, raw_beta: Any) -> Any:
    """Logarithm of a density at the rows of ``z``: radial layers take it to a standard normal distribution.

    Rezende and Mohamed (2015), equation 14, with the parametrisation of their appendix, by which every layer is
    invertible: so the density integrates to 1.
    """
    from torch.nn.functional import softplus

    dim = z.shape[1]
    log_jacobian = z.new_zeros(len(z))
    for middle, raw_a, raw_b in zip(centre, raw_alpha, raw_beta, strict=True):
        alpha = softplus(raw_a)
        beta = softplus(raw_b) - alpha
        away = z - middle
        # the norm has no gradient at the centre itself
        radius = (away.square().sum(1) + 1e-12).sqrt()
        h = 1.0 / (alpha + radius)
        log_jacobian = log_jacobian + (dim - 1) * (beta * h).log1p() + (beta * alpha * h.square()).log1p()
        z = z + beta * h[:, None] * away
    return log_jacobian - 0.5 * z.square().sum(1) - 0.5 * dim * math.log(2.0 * math.pi)


class RadialFlows:
    """A stack of radial layers for each class.

    Like ``NormalMixture`` no ``torch.nn.Module`` itself, so that this file can be read without PyTorch and the trained
    network pickled; ``parts`` is one and holds everything that is trained.
    """

    def __init__(self, n_classes: int, dim: int, n_layers: int) -> None:
        import torch
        from torch import nn

        scale = 1.0 / math.sqrt(dim)
        values = {
            "centre": torch.empty(n_classes, n_layers, dim).uniform_(-scale, scale),
            "raw_alpha": torch.empty(n_classes, n_layers).uniform_(-scale, scale),
            "raw_beta": torch.empty(n_classes, n_layers).uniform_(-scale, scale),
        }
        self.parts = nn.ParameterDict({name: nn.Parameter(value) for name, value in values.items()})
        self.log_volume = 0.5 * dim * math.log(4.0 * math.pi)

    def log_density(self, z: Any) -> Any:
        """Logarithm of the density of every class, as columns."""
        import torch

        parameters = zip(self.parts["centre"], self.parts["raw_alpha"], self.parts["raw_beta"], strict=True)
        return torch.stack([radial_log_density(z, *of_class) for of_class in parameters], 1)

    def place(self, z: Any, index: Any) -> None:
        """Start the layers of each flow, as good as without effect, at rows of its class."""
        import torch

        parameters = zip(self.parts["centre"], self.parts["raw_alpha"], self.parts["raw_beta"], strict=True)
        with torch.no_grad():
            for label, (centre, raw_alpha, raw_beta) in enumerate(parameters):
                mine = torch.nonzero(index == label)[:, 0]
                centre.copy_(z[mine[torch.randint(len(mine), (len(centre),)).to(mine.device)]])
                raw_beta.copy_(raw_alpha)

    def fit(self, z: Any, data: Examples, bandwidth: float, **how: Any) -> None:
        """Maximum likelihood of the latents ``z`` by Adam, stopped by that of the held-out rows."""
        import torch

        from stakes.uncertainty._training import descend

        def loss(part: Any) -> Any:
            at = z[part] + bandwidth * torch.randn_like(z[part])
            return -self.log_density(at).gather(1, data.index[part][:, None]).mean()

        def score() -> float:
            with torch.no_grad():
                return float(loss(data.held_out))

        self.place(z[data.train], data.index[data.train])
        descend(self.parts, loss, score, data.train, **how)
