"""A Posterior Network in the manner of scikit-learn: probabilities, and the evidence that they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from stakes.uncertainty._torch import import_torch

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


class PosteriorNetwork(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A neural network that says how many examples each of its predictions rests on.

    Parameters
    ----------
    hidden : tuple of int, default (64, 64)
        Widths of the encoder's layers.
    latent_dim : int, default 6
        Dimension in which the densities of the classes are fitted.
    n_flow_layers : int, default 8
        Radial layers of each flow.
    prior : float, default 1
        Pseudo-examples of each class where there is no evidence, > 0.
    entropy_weight : float, default 1e-5
        How much entropy of the posterior is rewarded in training, >= 0.
    likelihood_weight : float, default 0.1
        How much the flows, apart from the encoder, are trained to be densities of the classes, >= 0; 0 is the paper.
    dropout : float, default 0
        In the encoder, in training only.
    encoder : torch.nn.Module, optional
        Maps rows to ``latent_dim`` values, in place of the layers above. A copy is trained.
    standardize : bool, default True
        Bring every feature to mean 0 and variance 1 first.
    epochs, batch_size, patience : int, default 200, 256, 20
        Training ends after so many epochs, or when the log loss of held-out rows has not fallen for ``patience``.
    learning_rate : float, default 1e-3
        Of Adam.
    validation_fraction : float, default 0.1
        Share of the rows of each class held out of training, in (0, 1); at least one row of a class of two or more.
    device : str, default "cpu"
        Where PyTorch computes.
    random_state : int, numpy Generator or None
        For initial weights, held-out rows and batches. PyTorch's own generator is left as it was.

    Attributes
    ----------
    classes_ : ndarray
        Labels; of two, the second is positive.
    module_ : object
        Encoder and flows; ``module_.parts`` is the ``torch.nn.Module`` of everything trained.
    class_counts_ : ndarray
        Examples of each class that training used.
    history_ : list of float
        Log loss of the held-out rows after each epoch.

    Notes
    -----
    Charpentier, Zuegner and Guennemann (2020). The concentration of class k is ``prior + N_k p(z | k)``: examples of
    the class in training, spread over the latent space by a normalised density, so that evidence given in one place is
    taken from another and falls to the prior away from the data. The probability is the mean of that Dirichlet
    distribution (of two classes: Beta), and the loss is the expected cross entropy less ``entropy_weight`` times the
    entropy. As the uncertainty of a boundary use ``1 / evidence``, not the entropy (see ``beta_entropy``).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from stakes.uncertainty import PosteriorNetwork
    >>> X, y = make_moons(1000, noise=0.2, random_state=0)
    >>> model = PosteriorNetwork(latent_dim=2, epochs=50, random_state=0).fit(X, y)  # doctest: +SKIP
    >>> near, far = model.evidence([[0, 1], [30, 30]])  # doctest: +SKIP
    >>> near > 10 * far  # doctest: +SKIP
    True
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (64, 64),
        *,
        latent_dim: int = 6,
        n_flow_layers: int = 8,
        prior: float = 1.0,
        entropy_weight: float = 1e-5,
        likelihood_weight: float = 0.1,
        dropout: float = 0.0,
        encoder: Any = None,
        standardize: bool = True,
        epochs: int = 200,
        batch_size: int = 256,
        patience: int = 20,
        learning_rate: float = 1e-3,
        validation_fraction: float = 0.1,
        device: str = "cpu",
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.latent_dim = latent_dim
        self.n_flow_layers = n_flow_layers
        self.prior = prior
        self.entropy_weight = entropy_weight
        self.likelihood_weight = likelihood_weight
        self.dropout = dropout
        self.encoder = encoder
        self.standardize = standardize
        self.epochs = epochs
        self.batch_size = batch_size
        self.patience = patience
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.device = device
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> PosteriorNetwork:
        """Train encoder and flows together.

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
        torch = import_torch("PosteriorNetwork")
        self._check_parameters()
        rows, labels = self._check_rows(X, y=y)
        check_classification_targets(labels)
        self.classes_, index = np.unique(column_or_1d(labels, warn=True), return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least two classes, got one class only: {self.classes_[0]!r}.")
        self._centre, self._scale = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
        if self.standardize:
            spread = rows.std(axis=0)
            self._centre, self._scale = rows.mean(axis=0), np.where(spread > 0.0, spread, 1.0)
        rng = _generator(self.random_state)
        train, held_out = _split(index, self.validation_fraction, rng)
        devices = [torch.device(self.device)] if str(self.device).startswith("cuda") else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(int(rng.integers(2**63 - 1)))
            self._train(torch, rows, index, train, held_out)
        return self

    def _train(self, torch: Any, rows: Floats, index: Any, train: Any, held_out: Any) -> None:
        from copy import deepcopy

        from stakes.uncertainty import _flows

        self.class_counts_ = np.bincount(index[train], minlength=len(self.classes_))
        encoder = deepcopy(self.encoder)
        if encoder is None:
            encoder = _flows.make_encoder(rows.shape[1], tuple(self.hidden), self.latent_dim, self.dropout)
        counts = self.class_counts_.astype(float).tolist()
        module = _flows.PosteriorModule(encoder, self.latent_dim, counts, self.n_flow_layers, float(self.prior))
        module.parts.to(self.device)
        self.module_ = module
        x, target = self._tensor(torch, rows), torch.as_tensor(index, device=self.device)
        self.history_ = _flows.train(
            self.module_,
            x[train],
            target[train],
            (x[held_out], target[held_out]),
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            entropy_weight=self.entropy_weight,
            likelihood_weight=self.likelihood_weight,
            patience=self.patience,
        )

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
        from stakes.uncertainty import _flows

        rows = self._check_rows(X)
        return np.asarray(_flows.concentrations(self.module_, self._tensor(torch, rows), 4096).cpu().numpy())

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
        for name in ("latent_dim", "n_flow_layers", "epochs", "patience"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}.")
        if self.batch_size < 2:
            raise ValueError(f"batch_size must be at least 2, got {self.batch_size}.")
        for name in ("prior", "learning_rate"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be finite and > 0, got {getattr(self, name)}.")
        for name in ("entropy_weight", "likelihood_weight"):
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


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):  # what scikit-learn passes around
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def _split(index: NDArray[Any], share: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows to train on and rows to stop by; at least one of each class trains, and of two or more one is held out."""
    order = rng.permutation(len(index))
    held_out = np.zeros(len(index), dtype=bool)
    for label in range(int(index.max()) + 1):
        mine = order[index[order] == label]
        held_out[mine[: min(len(mine) - 1, max(1, round(share * len(mine))))]] = True
    if not held_out.any():
        raise ValueError(f"y must hold a class of at least two rows, got {len(index)} rows of as many classes.")
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
