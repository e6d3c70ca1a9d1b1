"""A Posterior Network in the manner of scikit-learn: probabilities, and the evidence that they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from stakes.core.estimators import keep_arguments
from stakes.core.exact import as_fraction
from stakes.core.random_state import generator
from stakes.core.row_order import check_same_order
from stakes.core.validation import check_choice
from stakes.uncertainty._import_torch import import_torch

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


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

    def __init__(
        self,
        hidden: tuple[int, ...] = (64, 64),
        *,
        latent_dim: int = 3,
        residual: bool = True,
        density: Literal["mixture", "radial"] = "mixture",
        n_components: int | None = None,
        n_flow_layers: int = 8,
        prior: ArrayLike = 1.0,
        bandwidth: float = 0.0,
        certainty_budget: float | None = None,
        training: Literal["sequential", "joint"] = "sequential",
        entropy_weight: float = 1e-5,
        dropout: float = 0.0,
        encoder: Any = None,
        standardize: bool = True,
        epochs: int = 200,
        batch_size: int = 256,
        patience: int = 20,
        learning_rate: float = 1e-3,
        validation_fraction: float = 0.1,
        device: str = "cpu",
        random_state: Any = 0,
    ) -> None:
        keep_arguments(self, locals())

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
        rows, labels = self._check_rows(X, y=y)
        check_classification_targets(labels)
        self.classes_, index = np.unique(column_or_1d(labels, warn=True), return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least two classes, got one class only: {self.classes_[0]!r}.")
        prior = _prior(self.prior, len(self.classes_))
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
        from stakes.uncertainty import _training

        self.class_counts_ = np.bincount(index)
        x, target = self._tensor(torch, rows), torch.as_tensor(index, device=self.device)
        data = _training.Examples(x, target, *(torch.as_tensor(part, device=self.device) for part in split))
        self.module_ = self._module(x, prior)
        how: dict[str, Any] = {
            "bandwidth": float(self.bandwidth),
            "epochs": self.epochs,
            "batch_size": self.batch_size,
            "learning_rate": self.learning_rate,
            "patience": self.patience,
        }
        if self.training == "joint":
            self.history_ = _training.train_jointly(self.module_, data, entropy_weight=self.entropy_weight, **how)
        else:
            self.history_ = _training.train_sequentially(self.module_, data, **how)
        self.module_.parts.eval()

    def _module(self, x: Any, prior: list[float]) -> Any:
        """Encoder and densities, not yet trained."""
        from copy import deepcopy

        from stakes.uncertainty import _training
        from stakes.uncertainty._flows import RadialFlows
        from stakes.uncertainty._mixture import NormalMixture

        encoder = deepcopy(self.encoder)
        if encoder is None:
            encoder = _training.make_encoder(x.shape[1], tuple(self.hidden), self.latent_dim, self.dropout)
        n_classes = len(self.classes_)
        density: Any
        if self.density == "radial":
            density = RadialFlows(n_classes, self.latent_dim, self.n_flow_layers)
        else:
            components = max(2, round(0.5 * np.sqrt(len(x)))) if self.n_components is None else self.n_components
            density = NormalMixture(n_classes, self.latent_dim, components)
        module = _training.PosteriorModule(
            encoder,
            _training.make_shortcut(x, self.latent_dim) if self.residual else None,
            density,
            self.latent_dim,
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
        from stakes.uncertainty import _training

        rows = self._check_rows(X)
        return np.asarray(_training.concentrations(self.module_, self._tensor(torch, rows)).cpu().numpy())

    def evidence(self, X: ArrayLike) -> Floats:
        """How many examples, those of the prior included, each prediction rests on: the sum of the concentrations.

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
        for name in ("latent_dim", "n_components", "n_flow_layers", "epochs", "patience"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}.")
        if self.batch_size < 2:
            raise ValueError(f"batch_size must be at least 2, got {self.batch_size}.")
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
        """Rows as float64 and, in fitting, labels, checked as scikit-learn does in its different versions."""
        arguments = {"dtype": np.float64, **(target or {"reset": False})}
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:  # before 1.6
            return self._validate_data(X, **arguments)
        return validate_data(self, X, **arguments)


def _prior(prior: ArrayLike, n_classes: int) -> list[float]:
    """Pseudo-examples of every class."""
    values = np.asarray(prior, dtype=float)
    if values.shape not in {(), (n_classes,)} or not np.all(np.isfinite(values) & (values > 0.0)):
        raise ValueError(
            f"prior must be finite and > 0, one number or one for each of {n_classes} classes, got {prior!r}."
        )
    return [float(value) for value in np.broadcast_to(values, n_classes)]


def _split(index: NDArray[Any], share: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows to train on and rows to stop by; at least one of each class trains, and of two or more one is held out."""
    order = rng.permutation(len(index))
    held_out = np.zeros(len(index), dtype=bool)
    written = as_fraction(share, "validation_fraction")
    for label in range(int(index.max()) + 1):
        mine = order[index[order] == label]
        held_out[mine[: min(len(mine) - 1, max(1, round(written * len(mine))))]] = True
    if not held_out.any():
        raise ValueError(f"y must hold a class of at least two rows, got {len(index)} rows of as many classes.")
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
