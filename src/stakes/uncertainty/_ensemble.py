"""Members of an ensemble disagree, or agree to be unsure: variance, mutual information, expected and total entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.core.validation import to_array, to_floats
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


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
        If the shape is another, there are fewer than two members or no rows, or a probability is not in [0, 1].

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
    check_same_order(member_probs=member_probs)
    array = to_floats(to_array(member_probs, "member_probs"), "member_probs")
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


def _summarise(members: Floats, used: NDArray[np.bool_], evidence: Floats | None = None) -> EnsembleUncertainty:
    """Means over the members used for each row; what the others say does not matter."""
    count = used.sum(axis=0)
    score = np.clip(np.sum(members, axis=0, where=used) / count, 0.0, 1.0)  # rounding of the mean, not of the data
    variance = np.sum((members - score) ** 2, axis=0, where=used) / count
    expected = np.sum(_binary_entropy(members), axis=0, where=used) / count
    total = _binary_entropy(score)
    # concave, so never negative but by rounding
    information = np.maximum(total - expected, 0.0)
    return EnsembleUncertainty(score, variance, information, expected, total, count.astype(np.int64), evidence)


def _binary_entropy(p: Floats) -> Floats:
    from scipy.special import entr

    return np.asarray(entr(p) + entr(1.0 - p))
