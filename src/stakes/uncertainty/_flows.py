"""Encoder, flows and training of a Posterior Network. PyTorch is imported only where something is made or trained."""

from __future__ import annotations

import math
from typing import Any


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


class PosteriorModule:
    """Encoder, one flow for each class, and the parameters of the Dirichlet posterior.

    Not a ``torch.nn.Module`` itself, so that this file can be read without PyTorch and the trained network pickled;
    ``parts`` is one and holds everything that is trained.
    """

    def __init__(self, encoder: Any, dim: int, counts: list[float], n_layers: int, prior: float) -> None:
        import torch
        from torch import nn

        scale = 1.0 / math.sqrt(dim)
        flows = {
            "centre": torch.empty(len(counts), n_layers, dim).uniform_(-scale, scale),
            "raw_alpha": torch.empty(len(counts), n_layers).uniform_(-scale, scale),
            "raw_beta": torch.empty(len(counts), n_layers).uniform_(-scale, scale),
        }
        self.parts = nn.ModuleDict(
            {
                "encoder": encoder,
                # keeps the latent space at the scale of the flows, so that density cannot be won by shrinking it
                "normalise": nn.BatchNorm1d(dim),
                "flows": nn.ParameterDict({name: nn.Parameter(value) for name, value in flows.items()}),
            }
        )
        self.counts = counts
        self.prior = prior

    def latent(self, x: Any) -> Any:
        """Where the flows see the rows."""
        return self.parts["normalise"](self.parts["encoder"](x))

    def log_density(self, z: Any) -> Any:
        """Logarithm of the density of every class, as columns."""
        import torch

        flows = self.parts["flows"]
        parameters = zip(flows["centre"], flows["raw_alpha"], flows["raw_beta"], strict=True)
        return torch.stack([radial_log_density(z, *of_class) for of_class in parameters], 1)

    def place_flows(self, x: Any, index: Any) -> None:
        """Start the layers of each flow, as good as without effect, at rows of its class."""
        import torch

        flows = self.parts["flows"]
        with torch.no_grad():
            # statistics of the rows themselves: normalisation has seen none yet
            z = self.latent(x)
            for label, (centre, raw_alpha, raw_beta) in enumerate(
                zip(flows["centre"], flows["raw_alpha"], flows["raw_beta"], strict=True)
            ):
                mine = torch.nonzero(index == label)[:, 0]
                centre.copy_(z[mine[torch.randint(len(mine), (len(centre),)).to(mine.device)]])
                raw_beta.copy_(raw_alpha)

    def concentration(self, log_density: Any) -> Any:
        """Prior plus the examples of each class, spread by its density."""
        density = log_density.double().exp()
        return self.prior + density.new_tensor(self.counts) * density


def make_encoder(n_features: int, hidden: tuple[int, ...], dim: int, dropout: float) -> Any:
    """Fully connected layers with ReLU between them."""
    from torch import nn

    layers: list[Any] = []
    for before, after in zip((n_features, *hidden), hidden, strict=False):
        layers += [nn.Linear(before, after), nn.ReLU()]
        if dropout > 0.0:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers, nn.Linear(hidden[-1] if hidden else n_features, dim))


def uncertain_loss(concentration: Any, index: Any, entropy_weight: float) -> Any:
    """Expected cross entropy under the posterior, less its entropy (Charpentier et al. 2020, equation 8)."""
    import torch

    total = concentration.sum(1)
    own = concentration.gather(1, index[:, None])[:, 0]
    loss = torch.digamma(total) - torch.digamma(own)
    if entropy_weight > 0.0:
        loss = loss - entropy_weight * torch.distributions.Dirichlet(concentration).entropy()
    return loss.mean()


def train(
    module: PosteriorModule,
    x: Any,
    index: Any,
    held_out: tuple[Any, Any],
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    entropy_weight: float,
    likelihood_weight: float,
    patience: int,
) -> list[float]:
    """Adam until the log loss of the held-out rows has not fallen for ``patience`` epochs; the best weights stay."""
    import torch

    optimizer = torch.optim.Adam(module.parts.parameters(), lr=learning_rate)
    module.parts.train()
    module.place_flows(x, index)
    history: list[float] = []
    best: dict[str, Any] = {}
    for _ in range(epochs):
        module.parts.train()
        for part in torch.randperm(len(x)).to(x.device).split(batch_size):
            if len(part) < 2:  # batch normalisation needs two rows
                continue
            optimizer.zero_grad()
            z = module.latent(x[part])
            loss = uncertain_loss(module.concentration(module.log_density(z)), index[part], entropy_weight)
            if likelihood_weight > 0.0:
                # for the flows alone: the encoder would win density by crowding the classes
                own = module.log_density(z.detach()).gather(1, index[part][:, None])
                loss = loss - likelihood_weight * own.mean()
            loss.backward()
            optimizer.step()
        history.append(_log_loss(module, *held_out, batch_size=4096))
        if history[-1] == min(history):
            best = {name: value.clone() for name, value in module.parts.state_dict().items()}
        if len(history) - history.index(min(history)) > patience:
            break
    module.parts.load_state_dict(best)
    module.parts.eval()
    return history


def concentrations(module: PosteriorModule, x: Any, batch_size: int) -> Any:
    """Concentrations of all rows, without gradients."""
    import torch

    module.parts.eval()
    with torch.no_grad():
        parts = [module.concentration(module.log_density(module.latent(part))) for part in x.split(batch_size)]
        return torch.cat(parts)


def _log_loss(module: PosteriorModule, x: Any, index: Any, *, batch_size: int) -> float:
    found = concentrations(module, x, batch_size)
    own = found.gather(1, index[:, None])[:, 0]
    return float((found.sum(1).log() - own.log()).mean())
