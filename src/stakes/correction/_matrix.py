"""Scores fitted one coordinate at a time with a matrix of weights: the posterior is a Perron vector.

The score of class k minimises the loss in which a case of class y counts ``beta[y, k]``; so
a_k (beta^T g)_k = beta_kk g_k, that is T g = g with T_kj = a_k beta_jk / beta_kk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from stakes.core.sums import blocks
from stakes.core.validation import check_flag, to_array, to_floats
from stakes.correction._inputs import read_columns
from stakes.metrics import check_probability_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_RANGE = (1e-100, 1e100)
_CELLS = 1 << 18  # numbers in the matrices of one block of rows
_SHIFT = 1e-13  # keeps the linear systems of inverse iteration solvable
_STILL = 4.0 * np.finfo(float).eps


@overload
def undo_loss_matrix(y_prob: ArrayLike, beta: ArrayLike, *, return_misfit: Literal[False] = False) -> Floats: ...
@overload
def undo_loss_matrix(y_prob: ArrayLike, beta: ArrayLike, *, return_misfit: Literal[True]) -> tuple[Floats, Floats]: ...
def undo_loss_matrix(
    y_prob: ArrayLike, beta: ArrayLike, *, return_misfit: bool = False
) -> Floats | tuple[Floats, Floats]:
    """Turn scores fitted with a matrix of weights, class by class, into the probabilities behind them.

    Parameters
    ----------
    y_prob : array_like of shape (n, K)
        Score of each class in [0, 1], fitted one class at a time; rows need not sum to 1.
    beta : array_like of shape (K, K)
        ``beta[y, k]`` > 0 is the weight of a case of class y in the loss of the score of class k.
    return_misfit : bool, default False
        Whether to return the misfit of each row as well.

    Returns
    -------
    posterior : ndarray of shape (n, K)
        Rows that sum to 1.
    misfit : ndarray of shape (n,)
        Distance of the Perron root from 1: zero where the scores are those of some posterior. Only with
        ``return_misfit``.

    Raises
    ------
    ValueError
        For scores outside [0, 1], a row of zeros, or weights that are not positive.

    Notes
    -----
    Inverts equation (10) of Caplin, Martin and Marx (2022), which has no inverse there. The matrix T is positive, so
    by Perron and Frobenius its positive eigenvector is unique; its root is 1 exactly for scores that some posterior
    has. For other scores a the answer belongs to a divided by the root. A score of 0 means probability 0. The vector
    is found by Noda's iteration (1971), quadratic and monotone. It is not for softmax outputs trained with class
    weights, a different loss: those need :func:`undo_class_weight`.

    Examples
    --------
    >>> from stakes.correction import apply_loss_matrix, undo_loss_matrix
    >>> beta = [[2.0, 0.5, 1.0], [1.5, 3.0, 0.25], [1.0, 1.0, 4.0]]
    >>> scores = apply_loss_matrix([[0.6, 0.3, 0.1]], beta)
    >>> scores.round(6).tolist()
    [[0.685714, 0.692308, 0.372093]]
    >>> undo_loss_matrix(scores, beta).round(12).tolist()
    [[0.6, 0.3, 0.1]]
    """
    scores = read_columns(y_prob).values
    weights = _read_matrix(beta, scores.shape[1])
    empty = ~np.any(scores > 0.0, axis=1)
    if np.any(empty):
        raise ValueError(f"y_prob must hold a positive score in every row, got zeros in row {int(np.argmax(empty))}.")
    scale = weights.T / np.diag(weights)[:, None]
    posterior, root = np.empty(scores.shape), np.empty(len(scores))
    for part in blocks(len(scores), max(1, _CELLS // scale.size)):
        posterior[part], root[part] = _perron(scores[part][:, :, None] * scale)
    return (posterior, np.abs(root - 1.0)) if check_flag(return_misfit, "return_misfit") else posterior


def apply_loss_matrix(y_prob: ArrayLike, beta: ArrayLike) -> Floats:
    """Say which scores a model gives that is fitted with a matrix of weights, where the probabilities are known.

    Parameters
    ----------
    y_prob : array_like of shape (n, K)
        Probabilities, rows that sum to 1.
    beta : array_like of shape (K, K)
        As in :func:`undo_loss_matrix`, whose inverse this is.

    Returns
    -------
    ndarray of shape (n, K)
        Scores in [0, 1]; rows need not sum to 1.

    Raises
    ------
    ValueError
        For invalid probabilities or weights.

    Notes
    -----
    Equation (10) of Caplin, Martin and Marx (2022): a_k = beta_kk g_k / sum_y beta_yk g_y.

    Examples
    --------
    >>> from stakes.correction import apply_loss_matrix
    >>> apply_loss_matrix([[0.6, 0.4]], [[1.0, 1.0], [1.0, 3.0]]).round(6).tolist()
    [[0.6, 0.666667]]
    """
    prob = np.asarray(check_probability_rows(y_prob), dtype=np.float64)
    weights = _read_matrix(beta, prob.shape[1])
    return prob * np.diag(weights) / (prob @ weights)


def _read_matrix(beta: ArrayLike, n_classes: int) -> Floats:
    weights = to_floats(to_array(beta, "beta"), "beta")
    if weights.shape != (n_classes, n_classes):
        raise ValueError(f"beta must have shape ({n_classes}, {n_classes}), got {weights.shape}.")
    good = (weights >= _RANGE[0]) & (weights <= _RANGE[1])
    if not np.all(good):
        row, column = np.argwhere(~good)[0]
        raise ValueError(
            f"beta must be > 0 and finite ({_RANGE[0]:g} to {_RANGE[1]:g}), got {weights[row, column]:g} "
            f"at [{row}, {column}]."
        )
    return weights


def _perron(matrices: Floats) -> tuple[Floats, Floats]:
    """Perron vectors, summing to 1, and roots of matrices whose rows are positive or zero."""
    vector = matrices.sum(axis=2)
    root = np.full(len(matrices), np.inf)
    active = np.arange(len(matrices))
    while len(active):
        scaled, bound = _in_units_of(vector[active], matrices[active])
        falling = bound < root[active] * (1.0 - _STILL)
        root[active] = np.minimum(root[active], bound)
        vector[active] *= _inverse_step(scaled, bound)
        vector[active] /= vector[active].sum(axis=1, keepdims=True)
        active = active[falling]
    return vector, root


def _in_units_of(vector: Floats, matrices: Floats) -> tuple[Floats, Floats]:
    """The matrix where the vector is all ones, so that its tiny entries keep their digits, and the bound on its root.

    The largest row sum is Collatz's bound. A score of 0 leaves a row of zeros.
    """
    column = vector[:, :, None]
    scaled = np.divide(matrices, column, out=np.zeros_like(matrices), where=column > 0.0)
    scaled *= vector[:, None, :]
    return scaled, scaled.sum(axis=2).max(axis=1)


def _inverse_step(scaled: Floats, bound: Floats) -> Floats:
    """Solve with the matrix shifted just above the bound on its root, against a right-hand side of ones."""
    systems = -scaled
    index = np.arange(scaled.shape[1])
    systems[:, index, index] += (bound * (1.0 + _SHIFT))[:, None]
    solved = np.linalg.solve(systems, np.ones((*scaled.shape[:2], 1)))[:, :, 0]
    # the inverse is positive: a sign can only come from rounding at the last step
    return np.abs(solved) / np.abs(solved).max(axis=1, keepdims=True)
