"""Posterior Network: encoder, densities and training."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from stakes.base.estimators import read_classes
from stakes.base.multiclass import in_class_order
from stakes.base.validation import Floats, as_fraction, check_choice, check_same_order, check_whole, generator
from stakes.uncertainty._ensembles import import_torch

# A Posterior Network with scikit-learn's interface: probabilities, and the evidence behind them.


@dataclass(eq=False, repr=False)
class PosteriorNetwork(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A neural network that says how many examples each of its predictions rests on.

    Parameters
    ----------
    hidden : tuple of int, default (64, 64)
        Widths of the encoder's layers.
    latent_dim : int, default 3
        Dimension in which the densities of the classes are fitted. More dimensions tell more places apart, and spread
        the examples thinner: far rows then rest on the prior alone.
    residual : bool, default True
        Add the rows themselves to what the encoder returns, or their first principal components where they have more
        features than ``latent_dim``, so that places of the same positivity are not mapped to one.
    density : {"mixture", "radial"}, default "mixture"
        Of each class: a mixture of normal distributions, or radial flows as in the paper.
    n_components : int, optional
        Of a mixture, at most. By default half the square root of the number of rows; take about twice the number of
        places where places are to be told apart.
    n_flow_layers : int, default 8
        Radial layers of each flow.
    prior : float or array_like of shape (n_classes,), default 1
        Pseudo-examples of each class, in the order of ``classes_``, where there is no evidence, > 0.
    bandwidth : float, default 0
        Rows nearer than this in the latent space, where each dimension has variance 1, count as the same place:
        densities are those of the latents with normal noise of this standard deviation.
    certainty_budget : float, optional
        Volume of latent space in which examples count as one place. 1 is the paper. By default that in which the rows
        of a component have, on average, all examples of the component as their evidence; of radial flows, that of a
        standard normal component.
    training : {"sequential", "joint"}, default "sequential"
        First the encoder, under a softmax layer, and then the densities by likelihood; or both at once by the expected
        cross entropy, as in the paper.
    entropy_weight : float, default 1e-5
        How much entropy of the posterior is rewarded in joint training, >= 0.
    dropout : float, default 0
        In the encoder, in training only.
    encoder : torch.nn.Module, optional
        Maps rows to ``latent_dim`` values, in place of the layers above; ``residual`` adds to it too. A copy is
        trained.
    standardize : bool, default True
        Bring every feature to mean 0 and variance 1 first.
    epochs, batch_size, patience : int, default 200, 256, 20
        Training ends after so many epochs, or when the log loss of held-out rows has not fallen for ``patience``.
    learning_rate : float, default 1e-3
        Of Adam.
    validation_fraction : float, default 0.1
        Share of the rows of each class that decide when training stops, in (0, 1); at least one row of a class of two
        or more. A mixture is fitted to them too.
    device : str, default "cpu"
        Where PyTorch computes.
    random_state : int, numpy Generator or None, default 0
        For initial weights, held-out rows and batches. PyTorch's own generator is left as it was.

    Attributes
    ----------
    classes_ : ndarray
        Labels; of two, the second is positive.
    module_ : object
        Encoder and densities; ``module_.parts`` is the ``torch.nn.Module`` of everything trained.
    class_counts_ : ndarray
        Examples of each class.
    history_ : list of float
        Log loss of the held-out rows after each epoch; in sequential training, under the softmax layer.

    Notes
    -----
    Charpentier, Zuegner and Guennemann (2020). The concentration of class k is ``prior + N_k V p(z | k)``: examples of
    the class, spread over the latent space by a normalised density, so that evidence given in one place is taken from
    another and falls to the prior away from the data. The probability is the mean of that Dirichlet distribution (of
    two classes: Beta). As the uncertainty of a boundary use ``1 / evidence``, not the entropy (see ``beta_entropy``).

    ``density="radial", training="joint", residual=False, certainty_budget=1`` is the network of the paper. The defaults
    depart from it (the documentation has the measurements):

    * The expected cross entropy of a place is above its entropy by about ``(n_classes - 1) / (2 evidence)``. Densities
      trained by it, as in the paper, share out the evidence in proportion to the square root of the numbers of
      examples; densities fitted by likelihood, to the numbers. (The sequential training of the authors' program
      trains the densities by the expected cross entropy too; their later network refits them by likelihood.)
    * A radial layer makes one hill or hollow, so that 8 of them cannot describe a dozen places. The mixture is also
      offered by the authors' program; here its components are round, of one size, and common to the classes.
    * ``V`` is 1 in the paper, and the meaning of evidence then changes with every dimension of the latent space. The
      default is the "normal" budget of the authors' later network (Charpentier et al. 2022), at the size of the
      components instead of size 1.
    * The held-out rows count as examples.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from stakes.uncertainty import PosteriorNetwork
    >>> X, y = make_moons(1000, noise=0.2, random_state=0)
    >>> model = PosteriorNetwork(latent_dim=2, random_state=0).fit(X, y)  # doctest: +SKIP
    >>> near, far = model.evidence([[0, 1], [30, 30]])  # doctest: +SKIP
    >>> bool(near > 10 * far)  # doctest: +SKIP
    True
    """

    hidden: tuple[int, ...] = (64, 64)
    _: KW_ONLY
    latent_dim: int = 3
    residual: bool = True
    density: Literal["mixture", "radial"] = "mixture"
    n_components: int | None = None
    n_flow_layers: int = 8
    prior: ArrayLike = 1.0
    bandwidth: float = 0.0
    certainty_budget: float | None = None
    training: Literal["sequential", "joint"] = "sequential"
    entropy_weight: float = 1e-5
    dropout: float = 0.0
    encoder: Any = None
    standardize: bool = True
    epochs: int = 200
    batch_size: int = 256
    patience: int = 20
    learning_rate: float = 1e-3
    validation_fraction: float = 0.1
    device: str = "cpu"
    random_state: Any = 0

    def fit(self, X: ArrayLike, y: ArrayLike) -> PosteriorNetwork:
        """Train the encoder and the densities.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.
        y : array_like of shape (n,)
            Labels of at least two classes.

        Returns
        -------
        self

        Raises
        ------
        ImportError
            If PyTorch is not installed (``pip install 'stakes[torch]'``).
        ValueError
            For one class only, or invalid parameters or rows.
        """
        check_same_order(X=X, y=y)
        torch = import_torch("PosteriorNetwork")
        self._check_parameters()
        rows, labels = self._check_rows(X, y=read_classes(self, y))
        self.classes_, index = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least two classes, got one class only: {self.classes_[0]!r}.")
        prior = _prior(self.prior, self.classes_.tolist())
        self._centre, self._scale = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
        if self.standardize:
            spread = rows.std(axis=0)
            self._centre, self._scale = rows.mean(axis=0), np.where(spread > 0.0, spread, 1.0)
        rng = generator(self.random_state)
        train, held_out = _split(index, self.validation_fraction, rng)
        devices = [torch.device(self.device)] if str(self.device).startswith("cuda") else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(int(rng.integers(2**63 - 1)))
            self._train(torch, rows, index, prior, (train, held_out))
        return self

    def _train(self, torch: Any, rows: Floats, index: Any, prior: list[float], split: tuple[Any, Any]) -> None:

        self.class_counts_ = np.bincount(index)
        x, target = self._tensor(torch, rows), torch.as_tensor(index, device=self.device)
        data = Examples(x, target, *(torch.as_tensor(part, device=self.device) for part in split))
        self.module_ = self._module(x, prior)
        how: dict[str, Any] = {name: int(getattr(self, name)) for name in ("epochs", "batch_size", "patience")}
        how |= {"learning_rate": self.learning_rate, "bandwidth": float(self.bandwidth)}
        if self.training == "joint":
            self.history_ = train_jointly(self.module_, data, entropy_weight=self.entropy_weight, **how)
        else:
            self.history_ = train_sequentially(self.module_, data, **how)
        self.module_.parts.eval()

    def _module(self, x: Any, prior: list[float]) -> Any:
        """Encoder and densities, not yet trained."""
        from copy import deepcopy

        encoder, dim = deepcopy(self.encoder), int(self.latent_dim)
        if encoder is None:
            encoder = make_encoder(x.shape[1], tuple(map(int, self.hidden)), dim, self.dropout)
        n_classes = len(self.classes_)
        density: Any
        if self.density == "radial":
            density = RadialFlows(n_classes, dim, int(self.n_flow_layers))
        else:
            components = max(2, round(0.5 * np.sqrt(len(x)))) if self.n_components is None else self.n_components
            density = NormalMixture(n_classes, dim, int(components))
        module = PosteriorModule(
            encoder,
            make_shortcut(x, dim) if self.residual else None,
            density,
            dim,
            counts=self.class_counts_.astype(float).tolist(),
            prior=prior,
            log_budget=None if self.certainty_budget is None else float(np.log(self.certainty_budget)),
        )
        module.parts.to(self.device)
        return module

    def concentration(self, X: ArrayLike) -> Floats:
        """Parameters of the Dirichlet posterior; of two classes, of the Beta posterior, negative first.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        check_is_fitted(self)
        torch = import_torch("PosteriorNetwork")

        rows = self._check_rows(X)
        return np.asarray(concentrations(self.module_, self._tensor(torch, rows)).cpu().numpy())

    def evidence(self, X: ArrayLike) -> Floats:
        """Number of examples behind each prediction, those of the prior included: the sum of the concentrations.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            At least ``prior`` times the number of classes. ``1 / evidence`` is the uncertainty for a boundary.
        """
        return np.asarray(self.concentration(X).sum(axis=1))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Mean of the posterior.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        found = self.concentration(X)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Most probable class.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        found = self.concentration(X)
        return np.asarray(self.classes_[found.argmax(axis=1)])

    def _tensor(self, torch: Any, rows: Floats) -> Any:
        return torch.as_tensor((rows - self._centre) / self._scale, dtype=torch.float32, device=self.device)

    def _check_parameters(self) -> None:
        check_choice(self.density, "density", ("mixture", "radial"))
        check_choice(self.training, "training", ("sequential", "joint"))
        for name in ("latent_dim", "n_flow_layers", "epochs", "patience"):
            check_whole(getattr(self, name), name, 1)
        check_whole(self.batch_size, "batch_size", 2)
        for size in self.hidden:
            check_whole(size, "hidden", 1)
        if self.n_components is not None:
            check_whole(self.n_components, "n_components", 1)
        for name in ("learning_rate", "certainty_budget"):
            if getattr(self, name) is not None and not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be finite and > 0, got {getattr(self, name)}.")
        for name in ("entropy_weight", "bandwidth"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be finite and >= 0, got {getattr(self, name)}.")
        if not 0.0 <= self.dropout < 1.0:
            raise ValueError(f"dropout must lie in [0, 1), got {self.dropout}.")
        if not 0.0 < self.validation_fraction < 1.0:
            raise ValueError(f"validation_fraction must lie in (0, 1), got {self.validation_fraction}.")

    def _check_rows(self, X: Any, **target: Any) -> Any:
        """Return rows as float64 and, in fitting, labels, checked by any version of scikit-learn."""
        arguments = {"dtype": np.float64, **(target or {"reset": False})}
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:  # before 1.6
            return self._validate_data(X, **arguments)
        return validate_data(self, X, **arguments)


def _prior(prior: ArrayLike, classes: list[Any]) -> list[float]:
    """Pseudo-examples of every class."""
    n_classes = len(classes)
    values = np.asarray(in_class_order(prior, classes, "prior"), dtype=float)
    if values.shape not in {(), (n_classes,)} or not np.all(np.isfinite(values) & (values > 0.0)):
        raise ValueError(
            f"prior must be finite and > 0, one number or one for each of {n_classes} classes, got {prior!r}."
        )
    return [float(value) for value in np.broadcast_to(values, n_classes)]


def _split(index: NDArray[Any], share: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Split rows into training and early stopping; every class trains, and one of two or more rows is held out."""
    order = rng.permutation(len(index))
    held_out = np.zeros(len(index), dtype=bool)
    written = as_fraction(share, "validation_fraction")
    for label in range(int(index.max()) + 1):
        mine = order[index[order] == label]
        held_out[mine[: min(len(mine) - 1, max(1, round(written * len(mine))))]] = True
    if not held_out.any():
        raise ValueError(f"y must hold a class of at least two rows, got {len(index)} rows of as many classes.")
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


# The components of a Posterior Network and their training. PyTorch is imported only where it is used.

_LEAST_COMPONENT = 1e-6  # smallest variance of a principal component; others are set to zero


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """Rows and class indices as tensors, and which rows train and which decide when to stop."""

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
        """Encode rows in the latent space of the densities."""
        z = self.parts["encoder"](x)
        return self.parts["normalise"](z + self.parts["shortcut"](x) if "shortcut" in self.parts else z)

    def concentration(self, log_density: Any) -> Any:
        """Dirichlet concentration: the prior plus each class's count times its density."""
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
        first = directions[:, -dim:] / variances[-dim:].clamp_min(_LEAST_COMPONENT).sqrt()
        weight = first.T.float().contiguous()
    shortcut = torch.nn.Linear(x.shape[1], dim, bias=False)
    shortcut.weight = torch.nn.Parameter(weight, requires_grad=False)
    return shortcut


def uncertain_loss(concentration: Any, index: Any, entropy_weight: float) -> Any:
    """Expected cross entropy under the posterior, less its entropy (Charpentier et al. 2020, equation 8)."""
    import torch

    total = concentration.sum(1)
    true_class = concentration.gather(1, index[:, None])[:, 0]
    loss = torch.digamma(total) - torch.digamma(true_class)
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
    """Run Adam until the held-out score has not fallen for ``patience`` epochs; keep the best weights."""
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
    """Fit the encoder with a softmax layer by cross entropy, then the densities to its latents by likelihood."""
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
    """Train encoder and densities together by the expected cross entropy, as in the paper."""
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
    """Compute the latents of all rows, without gradients."""
    import torch

    module.parts.eval()
    with torch.no_grad():
        return torch.cat([module.latent(part) for part in x.split(4096)])


def concentrations(module: PosteriorModule, x: Any) -> Any:
    """Compute the Dirichlet concentrations of all rows, without gradients."""
    import torch

    with torch.no_grad():
        z = latents(module, x)
        return torch.cat([module.concentration(module.density.log_density(part)) for part in z.split(4096)])


# Radial flows: one normalised density for each class.


def radial_log_density(z: Any, centre: Any, raw_alpha: Any, raw_beta: Any) -> Any:
    """Log density at the rows of ``z``, which radial layers transform to a standard normal distribution.

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
        self.parts = nn.ParameterDict()
        for name, shape in (("centre", (n_layers, dim)), ("raw_alpha", (n_layers,)), ("raw_beta", (n_layers,))):
            self.parts[name] = nn.Parameter(torch.empty(n_classes, *shape).uniform_(-scale, scale))
        self.log_volume = 0.5 * dim * math.log(4.0 * math.pi)

    def log_density(self, z: Any) -> Any:
        """Logarithm of the density of every class, as columns."""
        import torch

        parameters = zip(self.parts["centre"], self.parts["raw_alpha"], self.parts["raw_beta"], strict=True)
        return torch.stack([radial_log_density(z, *of_class) for of_class in parameters], 1)

    def place(self, z: Any, index: Any) -> None:
        """Initialise each flow near the identity, centred at rows of its class."""
        import torch

        parameters = zip(self.parts["centre"], self.parts["raw_alpha"], self.parts["raw_beta"], strict=True)
        with torch.no_grad():
            for label, (centre, raw_alpha, raw_beta) in enumerate(parameters):
                mine = torch.nonzero(index == label)[:, 0]
                centre.copy_(z[mine[torch.randint(len(mine), (len(centre),)).to(mine.device)]])
                raw_beta.copy_(raw_alpha)

    def fit(self, z: Any, data: Examples, bandwidth: float, **how: Any) -> None:
        """Maximise the likelihood of the latents ``z`` by Adam, with early stopping on the held-out rows."""
        import torch

        def loss(part: Any) -> Any:
            at = z[part] + bandwidth * torch.randn_like(z[part])
            return -self.log_density(at).gather(1, data.index[part][:, None]).mean()

        def score() -> float:
            with torch.no_grad():
                return float(loss(data.held_out))

        self.place(z[data.train], data.index[data.train])
        descend(self.parts, loss, score, data.train, **how)


# Mixtures of normal distributions with components common to all classes; each class has its own weights.

_CHUNK = 2048
_ITERATIONS = 100
_TOLERANCE = 1e-4  # of the mean log-likelihood
_LEAST_VARIANCE = 1e-6  # of latents of variance 1: equal rows have a density all the same
_FIRST_VARIANCE = 0.1  # where gradients train the components
_LEAST_ROWS = 1e-3  # a component of fewer rows is dropped


class NormalMixture:
    """Spherical normal components of one variance, shared by the classes; each class has its own weights.

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

        for name, value in (("centre", centre), ("log_weight", log_weight), ("log_variance", log_variance)):
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
        """Initialise near the maximum likelihood fit, but wide and with positive weights for gradients to act on."""
        centre, variance, counts = self._components(z, index, 0.0)
        self._set(centre, (counts + 0.5).log(), variance.clamp_min(_FIRST_VARIANCE).log())

    def fit(self, z: Any, data: Examples, bandwidth: float, **_how: Any) -> None:
        """Fit to the latents ``z`` of all rows by maximum likelihood, then smooth by the bandwidth.

        A mixture with noise added to its rows is the mixture with the variance of the noise added to its components.
        The volume is that in which rows of a component have, on average, the rows of the component as their evidence.
        """
        centre, variance, counts = self._components(z, data.index, bandwidth)
        self._set(centre, counts.log(), (variance + bandwidth**2).log())
        self.log_volume = 0.5 * z.shape[1] * math.log(2.0 * math.pi * (2.0 * float(variance) + bandwidth**2))


def square_distances(z: Any, centre: Any) -> Any:
    """Squared distance of every row to every centre."""
    return (z.square().sum(1, keepdim=True) - 2.0 * z @ centre.T + centre.square().sum(1)).clamp_min(0.0)


def spread_rows(z: Any, number: int, within: float) -> Any:
    """Draw distant rows as k-means++ does; fewer if all others lie ``within`` a distance of one.

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
    """Fit centres, their common variance, and the weight of each class at each centre by EM."""
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
        counts, sums = counts[:, kept], sums[kept]
        rows = counts.sum(0)
        centre = sums / rows[:, None]
        # total sum of squares less that between the centres
        scattered = z.square().sum() - (rows * centre.square().sum(1)).sum()
        variance = (scattered / z.numel()).clamp_min(_LEAST_VARIANCE)
    return centre, variance, counts


def _expect(z: Any, classes: Any, centre: Any, variance: Any, rows: Any) -> tuple[float, Any, Any]:
    """E step: mean log-likelihood, expected rows of each class in each component, and their sums."""
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
