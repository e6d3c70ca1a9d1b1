"""The parts of a Posterior Network and their training. PyTorch is imported only where something is made or trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST_VARIANCE = 1e-6  # of a principal component: directions without any are left at nothing


@dataclass(frozen=True)
class Examples:
    """Rows and the number of their class, as tensors, and which of them train and which decide when to stop."""

    x: Any
    index: Any
    train: Any
    held_out: Any


class PosteriorModule:
    """Encoder, densities of the classes in its latent space, and the parameters of the Dirichlet posterior.

    Parameters
    ----------
    encoder, shortcut : torch.nn.Module, the second may be None
        Rows to ``dim`` values; their sum is normalised.
    density : NormalMixture or RadialFlows
        Of the latents of each class.
    dim : int
        Of the latent space.
    counts, prior : list of float
        Examples and pseudo-examples of each class.
    log_budget : float or None
        Logarithm of the volume that a density is multiplied by; None for the density's own.
    """

    def __init__(
        self,
        encoder: Any,
        shortcut: Any,
        density: Any,
        dim: int,
        *,
        counts: list[float],
        prior: list[float],
        log_budget: float | None = None,
    ) -> None:
        from torch import nn

        self.density = density
        # keeps the latent space at one scale, so that density cannot be won by shrinking it
        parts = {"encoder": encoder, "normalise": nn.BatchNorm1d(dim), "density": density.parts}
        self.parts = nn.ModuleDict(parts if shortcut is None else {**parts, "shortcut": shortcut})
        self.counts, self.prior, self.log_budget = counts, prior, log_budget

    def latent(self, x: Any) -> Any:
        """Where the densities see the rows."""
        z = self.parts["encoder"](x)
        return self.parts["normalise"](z + self.parts["shortcut"](x) if "shortcut" in self.parts else z)

    def concentration(self, log_density: Any) -> Any:
        """Prior plus the examples of each class, spread by its density."""
        log_budget = self.density.log_volume if self.log_budget is None else self.log_budget
        density = (log_density.double() + log_budget).exp()
        return density.new_tensor(self.prior) + density.new_tensor(self.counts) * density


def make_encoder(n_features: int, hidden: tuple[int, ...], dim: int, dropout: float) -> Any:
    """Fully connected layers with ReLU between them."""
    from torch import nn

    layers: list[Any] = []
    for before, after in zip((n_features, *hidden), hidden, strict=False):
        layers += [nn.Linear(before, after), nn.ReLU()]
        if dropout > 0.0:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers, nn.Linear(hidden[-1] if hidden else n_features, dim))


def make_shortcut(x: Any, dim: int) -> Any:
    """The rows themselves, or the first principal components of more features, each of variance 1; never trained."""
    import torch

    weight = torch.eye(dim, x.shape[1])
    if x.shape[1] > dim:
        covariance = torch.cov(x.double().T).cpu()
        variances, directions = torch.linalg.eigh(covariance)
        first = directions[:, -dim:] / variances[-dim:].clamp_min(_LEAST_VARIANCE).sqrt()
        weight = first.T.float().contiguous()
    shortcut = torch.nn.Linear(x.shape[1], dim, bias=False)
    shortcut.weight = torch.nn.Parameter(weight, requires_grad=False)
    return shortcut


def uncertain_loss(concentration: Any, index: Any, entropy_weight: float) -> Any:
    """Expected cross entropy under the posterior, less its entropy (Charpentier et al. 2020, equation 8)."""
    import torch

    total = concentration.sum(1)
    own = concentration.gather(1, index[:, None])[:, 0]
    loss = torch.digamma(total) - torch.digamma(own)
    if entropy_weight > 0.0:
        loss = loss - entropy_weight * torch.distributions.Dirichlet(concentration).entropy()
    return loss.mean()


def descend(
    parts: Any,
    loss: Callable[[Any], Any],
    score: Callable[[], float],
    train: Any,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    patience: int,
) -> list[float]:
    """Adam until the score of the held-out rows has not fallen for ``patience`` epochs; the best weights stay."""
    import torch

    optimizer = torch.optim.Adam(parts.parameters(), lr=learning_rate)
    history: list[float] = []
    best: dict[str, Any] = {}
    for _ in range(epochs):
        parts.train()
        for batch in train[torch.randperm(len(train)).to(train.device)].split(batch_size):
            if len(batch) < 2:  # batch normalisation needs two rows
                continue
            optimizer.zero_grad()
            loss(batch).backward()
            optimizer.step()
        parts.eval()
        history.append(score())
        if history[-1] == min(history):
            best = {name: value.clone() for name, value in parts.state_dict().items()}
        if len(history) - history.index(min(history)) > patience:
            break
    parts.load_state_dict(best)
    return history


def train_sequentially(module: PosteriorModule, data: Examples, *, bandwidth: float, **how: Any) -> list[float]:
    """Encoder under a softmax layer by cross entropy; then the densities by likelihood, where it puts the rows."""
    import torch
    from torch.nn.functional import cross_entropy

    x, index, held_out = data.x, data.index, data.held_out
    normalise = module.parts["normalise"]
    head = torch.nn.Linear(normalise.num_features, len(module.counts)).to(x.device)
    parts = torch.nn.ModuleList([module.parts["encoder"], normalise, head])

    def score() -> float:
        with torch.no_grad():
            return float(cross_entropy(head(latents(module, x[held_out])).double(), index[held_out]))

    history = descend(parts, lambda b: cross_entropy(head(module.latent(x[b])), index[b]), score, data.train, **how)
    module.density.fit(latents(module, x), data, bandwidth, **how)
    return history


def train_jointly(
    module: PosteriorModule, data: Examples, *, bandwidth: float, entropy_weight: float, **how: Any
) -> list[float]:
    """Everything at once by the expected cross entropy, as in the paper."""
    import torch

    x, index, held_out = data.x, data.index, data.held_out

    def loss(batch: Any) -> Any:
        z = module.latent(x[batch])
        z = z + bandwidth * torch.randn_like(z)
        return uncertain_loss(module.concentration(module.density.log_density(z)), index[batch], entropy_weight)

    def score() -> float:
        found = concentrations(module, x[held_out])
        return float((found.sum(1) / found.gather(1, index[held_out][:, None])[:, 0]).log().mean())

    module.parts.train()
    with torch.no_grad():
        # statistics of the rows themselves: normalisation has seen none yet
        module.density.place(module.latent(x[data.train]), index[data.train])
    return descend(module.parts, loss, score, data.train, **how)


def latents(module: PosteriorModule, x: Any) -> Any:
    """Of all rows, without gradients."""
    import torch

    module.parts.eval()
    with torch.no_grad():
        return torch.cat([module.latent(part) for part in x.split(4096)])


def concentrations(module: PosteriorModule, x: Any) -> Any:
    """Of all rows, without gradients."""
    import torch

    with torch.no_grad():
        z = latents(module, x)
        return torch.cat([module.concentration(module.density.log_density(part)) for part in z.split(4096)])
