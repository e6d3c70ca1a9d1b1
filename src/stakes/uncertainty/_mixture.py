"""Mixtures of normal distributions with common components: what each class adds is its share of every component."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stakes.uncertainty._training import Examples

_CHUNK = 2048
_ITERATIONS = 100
_TOLERANCE = 1e-4  # of the mean log-likelihood
_LEAST_VARIANCE = 1e-6  # of latents of variance 1: equal rows have a density all the same
_FIRST_VARIANCE = 0.1  # where gradients train the components
_LEAST_ROWS = 1e-3  # a component of fewer rows is dropped


class NormalMixture:
    """Round components of one size, shared by the classes; of each class only its weights are its own.

    Attributes
    ----------
    parts : torch.nn.ParameterDict
        ``centre`` (n_components, dim), ``log_weight`` (n_classes, n_components) up to a constant for each class, and
        ``log_variance``.
    log_volume : float
        Logarithm of the volume of latent space in which examples count as one place.
    """

    def __init__(self, n_classes: int, dim: int, n_components: int) -> None:
        import torch
        from torch import nn

        self.n_components = n_components
        self.log_volume = 0.5 * dim * math.log(4.0 * math.pi)
        self.parts = nn.ParameterDict()
        self._set(torch.randn(n_components, dim), torch.zeros(n_classes, n_components), torch.zeros(()))

    def _set(self, centre: Any, log_weight: Any, log_variance: Any) -> None:
        from torch import nn

        values = {"centre": centre, "log_weight": log_weight, "log_variance": log_variance}
        for name, value in values.items():
            self.parts[name] = nn.Parameter(value.float())

    def _components(self, z: Any, index: Any, bandwidth: float) -> tuple[Any, Any, Any]:
        return fit_components(
            z.double(), index, self.n_components, len(self.parts["log_weight"]), within=2.0 * bandwidth
        )

    def log_density(self, z: Any) -> Any:
        """Logarithm of the density of every class, as columns."""
        # in double precision: squares of far rows cancel in the distances of near ones
        centre, log_weight, log_variance = (self.parts[n].double() for n in ("centre", "log_weight", "log_variance"))
        log_kernel = -0.5 * square_distances(z.double(), centre) / log_variance.exp()
        top = log_kernel.max(1, keepdim=True).values
        share = (log_kernel - top).exp() @ log_weight.softmax(1).T
        return share.log() + top - 0.5 * z.shape[1] * (math.log(2.0 * math.pi) + log_variance)

    def place(self, z: Any, index: Any) -> None:
        """Start where maximum likelihood would end, but wide and with no weight of zero, so that gradients reach."""
        centre, variance, counts = self._components(z, index, 0.0)
        self._set(centre, (counts + 0.5).log(), variance.clamp_min(_FIRST_VARIANCE).log())

    def fit(self, z: Any, data: Examples, bandwidth: float, **_how: Any) -> None:
        """Maximum likelihood of the latents ``z`` of all rows, then smoothed by the bandwidth.

        A mixture with noise added to its rows is the mixture with the variance of the noise added to its components.
        The volume is that in which rows of a component have, on average, the rows of the component as their evidence.
        """
        centre, variance, counts = self._components(z, data.index, bandwidth)
        self._set(centre, counts.log(), (variance + bandwidth**2).log())
        self.log_volume = 0.5 * z.shape[1] * math.log(2.0 * math.pi * (2.0 * float(variance) + bandwidth**2))


def square_distances(z: Any, centre: Any) -> Any:
    """Of every row to every centre."""
    return (z.square().sum(1, keepdim=True) - 2.0 * z @ centre.T + centre.square().sum(1)).clamp_min(0.0)


def spread_rows(z: Any, number: int, within: float) -> Any:
    """Rows far from each other, as k-means++ draws its first centres; fewer where all others lie ``within`` of one.

    Squares of distances count from ``within`` on: else the many rows of a large place hide a small one.
    """
    import torch

    chosen = [int(torch.randint(len(z), ()))]
    away = ((z - z[chosen[0]]).square().sum(1) - within**2).clamp_min(0.0)
    for _ in range(number - 1):
        upto = away.cumsum(0)
        if not float(upto[-1]) > 0.0:
            break
        drawn = torch.searchsorted(upto, torch.rand((), dtype=z.dtype, device=z.device) * upto[-1], right=True)
        chosen.append(min(int(drawn), len(z) - 1))
        away = torch.minimum(away, ((z - z[chosen[-1]]).square().sum(1) - within**2).clamp_min(0.0))
    return z[chosen]


def fit_components(z: Any, index: Any, n_components: int, n_classes: int, within: float) -> tuple[Any, Any, Any]:
    """Centres, their common variance, and the rows of each class behind each centre."""
    import torch

    centre = spread_rows(z, n_components, within)
    nearest = torch.cat([square_distances(part, centre).min(1).values for part in z.split(_CHUNK)])
    variance = (nearest.mean() / z.shape[1]).clamp_min(_LEAST_VARIANCE)
    rows = z.new_full((len(centre),), len(z) / len(centre))
    classes = torch.nn.functional.one_hot(index, n_classes).to(z.dtype)
    before = -math.inf
    for _ in range(_ITERATIONS):
        likelihood, counts, sums = _expect(z, classes, centre, variance, rows)
        if likelihood - before < _TOLERANCE:
            break
        before = likelihood
        kept = counts.sum(0) > _LEAST_ROWS
        rows, sums = counts.sum(0)[kept], sums[kept]
        centre = sums / rows[:, None]
        # rows scatter around the centre of their component by what the centres do not explain of all squares
        scattered = z.square().sum() - (rows * centre.square().sum(1)).sum()
        variance = (scattered / z.numel()).clamp_min(_LEAST_VARIANCE)
    return centre, variance, counts


def _expect(z: Any, classes: Any, centre: Any, variance: Any, rows: Any) -> tuple[float, Any, Any]:
    """Mean log-likelihood, rows of each class that belong to each component, and their sums."""
    import torch

    counts, sums, likelihood = classes.new_zeros(classes.shape[1], len(centre)), torch.zeros_like(centre), 0.0
    log_weight = (rows / len(z)).log()
    for part, of_class in zip(z.split(_CHUNK), classes.split(_CHUNK), strict=True):
        log_joint = log_weight - 0.5 * square_distances(part, centre) / variance
        log_total = log_joint.logsumexp(1)
        belongs = (log_joint - log_total[:, None]).exp()
        likelihood += float(log_total.sum())
        counts += of_class.T @ belongs
        sums += belongs.T @ part
    return likelihood / len(z) - 0.5 * z.shape[1] * math.log(2.0 * math.pi * float(variance)), counts, sums
