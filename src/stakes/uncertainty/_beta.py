"""Differential entropy of a Beta distribution, accurate for any number of counts behind it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.validation import to_array, to_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_SERIES_FROM = 20.0  # from here on five terms of Stirling's series are exact in double precision


def beta_entropy(alpha: ArrayLike, beta: ArrayLike) -> Floats:
    """How spread out a Beta distribution is: its differential entropy.

    Parameters
    ----------
    alpha, beta : array_like of the same shape, or a number
        Parameters of the distribution, > 0: pseudo-counts of positives and of negatives.

    Returns
    -------
    ndarray
        Entropy in nats, at most 0 (the uniform distribution, ``alpha = beta = 1``).

    Raises
    ------
    ValueError
        If a parameter is not finite or not positive, or the shapes do not broadcast.

    Notes
    -----
    The entropy is no ranking of evidence. At a fixed mean it is largest where the smaller parameter is about 0.93 and
    falls for more *and for less* evidence ``alpha + beta``: at mean 0.9 the maximum is at 9.271. (The claim of the
    paper on two-dimensional boundaries that less evidence at the same score always means more entropy is an error.)
    Levels of entropy therefore mix rows of little and of much evidence; order rows by ``1 / (alpha + beta)``.

    Examples
    --------
    >>> from stakes.uncertainty import beta_entropy
    >>> beta_entropy([0.9, 9, 90], [0.1, 1, 10]).round(3).tolist()  # mean 0.9; evidence 1, 10, 100
    [-6.561, -1.308, -2.117]
    """
    a, b = _positive(alpha, "alpha"), _positive(beta, "beta")
    try:
        a, b = np.broadcast_arrays(a, b)
    except ValueError:
        raise ValueError(f"alpha and beta must have the same shape, got {a.shape} and {b.shape}.") from None
    return _entropy(a, b)


def _positive(values: ArrayLike, name: str) -> Floats:
    array = to_floats(to_array(values, name), name)
    bad = ~(np.isfinite(array) & (array > 0.0))
    if np.any(bad):
        raise ValueError(
            f"{name} must be finite and > 0, got {array[bad][0]} at index {int(np.argmax(bad))} "
            f"({int(bad.sum())} of {array.size})."
        )
    return array


def _entropy(a: Floats, b: Floats) -> Floats:
    # The logarithms of Stirling's formula are cancelled by hand: summed as written, ln B and the digamma terms of
    # large parameters leave nothing but rounding.
    total = a + b
    logs = 0.5 * (np.log(a) + np.log(b) - 3.0 * np.log(total) + math.log(2.0 * math.pi))
    rest = 0.5 - 0.5 / a - 0.5 / b + 1.0 / total
    (ra, da), (rb, db), (rt, dt) = _remainders(a), _remainders(b), _remainders(total)
    return np.asarray(logs + rest + ra - (a - 1.0) * da + rb - (b - 1.0) * db - rt + (total - 2.0) * dt)


def _remainders(x: Floats) -> tuple[Floats, Floats]:
    """What Stirling's leading terms leave of the log gamma and of the digamma function."""
    from scipy.special import digamma, gammaln

    small = x < _SERIES_FROM
    u, v = np.where(small, _SERIES_FROM, x), np.where(small, x, 1.0)
    w = 1.0 / (u * u)
    r = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / u
    d = -w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w / 132))))
    log = np.log(v)
    return (
        np.where(small, gammaln(v) - (v - 0.5) * log + v - 0.5 * math.log(2.0 * math.pi), r),
        np.where(small, digamma(v) - log + 0.5 / v, d),
    )
