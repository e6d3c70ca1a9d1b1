"""Uncertainty from the members of ensembles, forests and Monte Carlo dropout."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base import validation
from stakes.base.formulas import refuse_positive_first
from stakes.base.validation import Bools, Floats, brief
from stakes.outputs.result_table import Tabular

# Disagreement among members and their shared uncertainty: variance, mutual information, expected and total entropy.


@dataclass(frozen=True, repr=False)
class EnsembleUncertainty(Tabular):
    """Score and uncertainties of every row, as ``from_ensemble``, ``from_bagging`` and ``mc_dropout`` return them.

    Attributes
    ----------
    score : ndarray of shape (n,)
        Mean probability of the positive class over the members.
    variance : ndarray of shape (n,)
        Variance of that probability between members (divided by their number, not by one less).
    mutual_information : ndarray of shape (n,)
        Total less expected entropy, in nats: what the members disagree about.
    expected_entropy : ndarray of shape (n,)
        Mean entropy of the members: noise that they agree on.
    total_entropy : ndarray of shape (n,)
        Entropy of the mean probability.
    n_members : ndarray of shape (n,)
        Members behind each row: fewer than all out of bag.
    evidence : ndarray of shape (n,) or None
        Mean weight of the training rows in the row's leaf, for ensembles of trees. Larger is more certain:
        ``1 / evidence`` is an uncertainty.

    Examples
    --------
    >>> from stakes.uncertainty import from_ensemble
    >>> from_ensemble([[0.9, 0.5], [0.1, 0.5]])
    EnsembleUncertainty(2 rows, 2 members, mean mutual information 0.184)
    """

    score: Floats
    variance: Floats
    mutual_information: Floats
    expected_entropy: Floats
    total_entropy: Floats
    n_members: NDArray[np.int64]
    evidence: Floats | None = None

    def _records(self) -> list[dict[str, Any]]:
        names = ("score", "variance", "mutual_information", "expected_entropy", "total_entropy", "n_members")
        columns = {name: getattr(self, name).tolist() for name in names}
        if self.evidence is not None:
            columns["evidence"] = self.evidence.tolist()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def __repr__(self) -> str:
        low, high = int(self.n_members.min()), int(self.n_members.max())
        members = f"{low}" if low == high else f"{low} to {high}"
        mean = float(self.mutual_information.mean())
        return f"EnsembleUncertainty({len(self.score)} rows, {members} members, mean mutual information {mean:.3g})"


def from_ensemble(member_probs: ArrayLike) -> EnsembleUncertainty:
    """How far the members of an ensemble disagree about each row.

    Parameters
    ----------
    member_probs : array_like of shape (n_members, n) or (n_members, n, 2)
        Probability of the positive class by each member, or the two columns of each ``predict_proba``. At least two
        members.

    Returns
    -------
    EnsembleUncertainty
        Score, variance, mutual information, expected and total entropy of each row.

    Raises
    ------
    ValueError
        If the shape is another, there are fewer than two members or no rows, or a probability is not in [0, 1]; and for
        a frame, of which it is not known whether its columns or its rows are members.

    Notes
    -----
    Total entropy = expected entropy + mutual information (Depeweg et al. 2018). Only the last is about what more data
    could settle, so it, or the variance, is the usual uncertainty of a boundary; measured on forests, neither helped
    significantly.

    Examples
    --------
    >>> from stakes.uncertainty import from_ensemble
    >>> found = from_ensemble([[0.9, 0.5], [0.1, 0.5]])
    >>> found.score.tolist(), found.variance.round(2).tolist()
    ([0.5, 0.5], [0.16, 0.0])
    >>> found.mutual_information.round(3).tolist()  # the members dispute the first row only
    [0.368, 0.0]
    """
    members = _member_array(member_probs)
    return _summarise(members, np.ones(members.shape, dtype=bool))


def _member_array(member_probs: ArrayLike) -> Floats:
    validation.check_same_order(member_probs=member_probs)
    _refuse_columns(member_probs)
    for k, member in enumerate(member_probs if isinstance(member_probs, list | tuple) else []):
        refuse_positive_first(
            validation.frame_names(member), f"member_probs[{k}]", "pass that of the positive class alone"
        )
    array = validation.to_floats(validation.to_array(member_probs, "member_probs"), "member_probs")
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 2):
        raise ValueError(f"member_probs must have shape (n_members, n) or (n_members, n, 2), got {array.shape}.")
    if len(array) < 2 or array.shape[1] == 0:
        raise ValueError(f"member_probs must hold at least two members and one row, got shape {array.shape}.")
    bad = ~((array >= 0.0) & (array <= 1.0))
    if np.any(bad):
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"member_probs must lie in [0, 1], got {array[place]} by member {place[0]} in row {place[1]} "
            f"({int(bad.sum())} of {array.size})."
        )
    if array.ndim == 2:
        return array
    off = np.abs(array.sum(axis=2) - 1.0) > 1e-4
    if np.any(off):
        member, row = (int(i) for i in np.argwhere(off)[0])
        raise ValueError(
            f"the two columns of member_probs must sum to 1, got {array[member, row].tolist()} by member {member} "
            f"in row {row}."
        )
    return array[:, :, 1]


def _refuse_columns(member_probs: Any) -> None:
    """Refuse a mapping and a frame, of which it is not known whether columns or rows are members."""
    if isinstance(member_probs, Mapping):
        raise ValueError(
            f"member_probs must be an array with a row for each member, got a mapping of {brief(list(member_probs))}: "
            "pass list(member_probs.values()) where these are the members."
        )
    names = validation.frame_names(member_probs, counted=True)
    if names:
        raise ValueError(
            f"member_probs must be an array with a row for each member, got a frame with the columns {brief(names)}: "
            "pass its .to_numpy().T where these are the members, or .to_numpy() where its rows are."
        )


def _summarise(members: Floats, used: NDArray[np.bool_], evidence: Floats | None = None) -> EnsembleUncertainty:
    """Average over the members used for each row."""
    count = used.sum(axis=0)
    score = np.clip(np.sum(members, axis=0, where=used) / count, 0.0, 1.0)  # rounding of the mean, not of the data
    variance = np.sum((members - score) ** 2, axis=0, where=used) / count
    expected = np.sum(_binary_entropy(members), axis=0, where=used) / count
    total = _binary_entropy(score)
    # nonnegative by concavity, up to rounding
    information = np.maximum(total - expected, 0.0)
    return EnsembleUncertainty(score, variance, information, expected, total, count.astype(np.int64), evidence)


def _binary_entropy(p: Floats) -> Floats:
    from scipy.special import entr

    return np.asarray(entr(p) + entr(1.0 - p))


# Members, leaf evidence and out-of-bag rows of scikit-learn's forests and bagging classifiers.


def from_bagging(
    estimator: Any, X: ArrayLike, *, out_of_bag: bool = False, pos_label: object = None
) -> EnsembleUncertainty:
    """How far the members of a fitted forest or bagging classifier disagree, and how much data each row's leaf held.

    Parameters
    ----------
    estimator : fitted RandomForestClassifier, ExtraTreesClassifier or BaggingClassifier
        Of two classes.
    X : array_like of shape (n, n_features)
        Rows.
    out_of_bag : bool, default False
        Use, for each row, only the members whose bootstrap sample left it out. ``X`` must then be the rows that the
        estimator was fitted to, in their order: scores and uncertainties are as if those rows were new, so that a
        boundary can be fitted and certified on the data that trained the ensemble.
    pos_label : object, optional
        The label of the positive class, whose probability is the score; by default 1 of 0 and 1 or of -1 and 1, and
        True. Other labels, such as texts, need it.

    Returns
    -------
    EnsembleUncertainty
        With ``evidence``, the mean over the members of the training weight in the row's leaf, where all members are
        decision trees. A row that a bootstrap sample drew twice counts twice; class weights count.

    Raises
    ------
    TypeError
        If the estimator is of another kind (its member probabilities go to ``from_ensemble``).
    ValueError
        If it has not two classes, or two of which none is known to be positive, or fewer than two members; or out of
        bag was asked for and it kept no bootstrap samples, ``X`` has another number of rows than the training set, or a
        row was in every member's sample.

    Notes
    -----
    In the simulations behind ``stakes.boundary`` no uncertainty of a forest gave a significant gain over a single
    threshold on its score; leaf evidence of a small bag of deep trees did (recall up by 26% and 67%).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from stakes.uncertainty import from_bagging
    >>> X, y = make_classification(300, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> found = from_bagging(forest, X, out_of_bag=True)
    >>> bool(found.n_members.max() < 50), bool(found.evidence.min() >= 1)
    (True, True)
    """
    _check_kind(estimator)
    validation.check_flag(out_of_bag, "out_of_bag")
    classes = estimator.classes_.tolist()
    positive = classes.index(validation.positive_label(classes, pos_label, "estimator was fitted to"))
    rows = _rows(estimator, X)
    members = estimator.estimators_
    # the features that each member was fitted to
    features = getattr(estimator, "estimators_features_", [np.arange(estimator.n_features_in_)] * len(members))
    pairs = zip(members, features, strict=True)
    probs = np.stack([_positive(member, rows[:, columns], positive) for member, columns in pairs])
    used = _out_of_bag(estimator, len(rows)) if out_of_bag else np.ones(probs.shape, dtype=bool)
    return _summarise(probs, used, _leaf_evidence(members, rows, features, used))


def _check_kind(estimator: Any) -> None:
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(estimator, (BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier)):
        raise TypeError(
            "estimator must be a RandomForestClassifier, ExtraTreesClassifier or BaggingClassifier, got "
            f"{type(estimator).__name__}: pass the probabilities of its members to from_ensemble."
        )
    check_is_fitted(estimator)
    if np.ndim(estimator.classes_[0]) or len(estimator.classes_) != 2:
        raise ValueError(f"estimator must have two classes, got classes_ = {estimator.classes_!r}.")
    if len(estimator.estimators_) < 2:
        raise ValueError(f"estimator must have at least two members, got {len(estimator.estimators_)}.")


def _rows(estimator: Any, X: Any) -> Any:
    """Check rows against the fitted columns and convert them to an array, as the members were fitted to."""
    from sklearn.utils import check_array

    wanted = getattr(estimator, "feature_names_in_", None)
    if wanted is not None and hasattr(X, "columns") and list(X.columns) != list(wanted):
        raise ValueError(f"X must have the columns of the fit, {list(wanted)}, got {list(X.columns)}.")
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    if len(shape) != 2:
        raise ValueError(f"X must have one row of features per case, got shape {tuple(shape)}.")
    renamed = "ensure_all_finite" in inspect.signature(check_array).parameters  # since 1.6
    rows = check_array(X, accept_sparse="csr", **{"ensure_all_finite" if renamed else "force_all_finite": "allow-nan"})
    if rows.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X must have {estimator.n_features_in_} columns, as in the fit, got {rows.shape[1]}.")
    return rows


def _positive(member: Any, rows: Any, positive: int) -> Floats:
    """Probability of one of the ensemble's classes; zero from a member whose sample lacked it."""
    found = np.flatnonzero(np.asarray(member.classes_) == positive)
    if len(found) == 0:
        return np.zeros(rows.shape[0])
    if not hasattr(member, "predict_proba"):
        raise ValueError(f"the members of estimator must have predict_proba, got {type(member).__name__}.")
    return np.asarray(member.predict_proba(rows)[:, found[0]], dtype=float)


def _leaf_evidence(members: Any, rows: Any, columns: Any, used: Bools) -> Floats | None:
    if not all(hasattr(member, "tree_") for member in members):
        return None
    total = np.zeros(rows.shape[0])
    for member, features, of_use in zip(members, columns, used, strict=True):
        weight = member.tree_.weighted_n_node_samples[member.apply(rows[:, features])]
        total += np.where(of_use, weight, 0.0)
    return np.asarray(total / used.sum(axis=0))


def _out_of_bag(estimator: Any, n: int) -> Bools:
    """Mark the rows that are out of bag for each member."""
    if not hasattr(estimator, "_n_samples"):  # balanced forests of imbalanced-learn, whose samples are of other rows
        raise ValueError(
            f"out_of_bag needs the rows that each member saw, which {type(estimator).__name__} does not keep: pass "
            "out_of_bag=False for rows that were held out."
        )
    if n != estimator._n_samples:
        raise ValueError(f"out_of_bag needs the {estimator._n_samples} rows of the fit, got {n} rows.")
    unseen = np.ones((len(estimator.estimators_), n), dtype=bool)
    for member, sample in zip(unseen, estimator.estimators_samples_, strict=True):
        member[sample] = False
    if not unseen.any():
        raise ValueError("out_of_bag needs members that did not see every row (bootstrap=True): each of these saw all.")
    missing = ~unseen.any(axis=0)
    if np.any(missing):
        raise ValueError(
            f"out_of_bag needs a member that did not see the row, got none for {int(missing.sum())} of {n} rows, "
            f"the first at index {int(np.argmax(missing))}: use more members."
        )
    return unseen


# PyTorch is imported only where it is used.


def import_torch(purpose: str) -> Any:
    """Import torch, or raise an error that says how to install it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{purpose} needs PyTorch: pip install 'stakes[torch]'") from error
    return torch


# Monte Carlo dropout: repeated predictions of a PyTorch module with dropout active.


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
        Rows; an array, or a tensor of floating-point numbers, is converted to the type of the module's parameters.
        Moved to the module's device.
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
    validation.check_choice(output, "output", ("logits", "probabilities"))
    n_samples, batch_size = (
        validation.check_whole(value, name, least)
        for name, value, least in (("n_samples", n_samples, 2), ("batch_size", batch_size, 1))
    )
    layers = [layer for layer in module.modules() if _is_dropout(layer)]
    if not layers:
        raise ValueError(f"module must have a dropout layer with p > 0, got {type(module).__name__} without one.")
    rows = _to_tensor(torch, module, X)
    modes = [(layer, layer.training) for layer in module.modules()]
    seed = int(validation.generator(random_state).integers(2**63 - 1))
    try:
        module.eval()
        for layer in layers:
            layer.train()
        devices = [rows.device] if rows.device.type == "cuda" else []
        with torch.no_grad(), torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            members = [_predict_once(torch, module, rows, output, batch_size) for _ in range(n_samples)]
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
        if like is not None and rows.is_floating_point():  # rows of an embedding stay whole numbers
            rows = rows.to(like.dtype)
    else:
        dtype = torch.get_default_dtype() if like is None else like.dtype
        rows = torch.as_tensor(np.require(X, requirements="W"), dtype=dtype, device=device)
    if rows.ndim == 0 or len(rows) == 0:
        raise ValueError(f"X must hold at least one row, got shape {tuple(rows.shape)}.")
    return rows


def _predict_once(torch: Any, module: Any, rows: Any, output: str, batch_size: int) -> Floats:
    """Predict the probability of the positive class with one draw of dropout."""
    found = torch.cat([module(part).double() for part in rows.split(batch_size)]).cpu()
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.shape not in {(len(rows),), (len(rows), 2)}:
        raise ValueError(f"module must return one or two values per row, got shape {tuple(found.shape)}.")
    if output == "logits":
        found = found.sigmoid() if found.ndim == 1 else found.softmax(1)
    return np.asarray((found if found.ndim == 1 else found[:, 1]).numpy())
