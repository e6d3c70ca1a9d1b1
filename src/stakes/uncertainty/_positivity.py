"""The true positivity behind a score of so many examples, and by how much the score misses it.

Mathematics: Theorem 3.1 of the paper on decision boundaries over score and uncertainty, restored: its symbols are lost
in the text, and the direction of the undersampling was fixed by simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.core.validation import check_number, to_array, to_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_NODES = 301
_CHUNK = 4096
_DROP = 60.0  # e^-60 of the peak is nothing in double precision


@dataclass(frozen=True, repr=False)
class PositivityPosterior:
    """What is known of the true positivity of regions of which some examples were seen.

    Attributes
    ----------
    mean, variance : ndarray of shape (n,)
        Of the true positivity in each region.
    log_normaliser : ndarray of shape (n,)
        Logarithm of the integral of the density as :meth:`pdf` writes it before it is divided.
    positives, n_examples : ndarray of shape (n,)
        Examples kept for training.
    prior : tuple of two float
        Beta parameters of the true positivity, positive first.
    undersampling : float
        Negatives were kept with probability ``1 / undersampling``.

    Examples
    --------
    >>> from stakes.uncertainty import positivity_posterior
    >>> found = positivity_posterior(18, 20, prior=(0.5, 4.5), undersampling=3)
    >>> round(float(found.mean[0]), 4)
    0.5607
    >>> found.pdf(0.5).round(3).tolist()
    [3.045]
    """

    mean: Floats
    variance: Floats
    log_normaliser: Floats
    positives: Floats
    n_examples: Floats
    prior: tuple[float, float]
    undersampling: float

    def pdf(self, q: ArrayLike) -> Floats:
        """Density at ``q``, proportional to ``q**(a1-1+S) (1-q)**(a0-1+N-S) / (1+(tau-1)q)**N``.

        Parameters
        ----------
        q : array_like of shape (n,), or a number
            Positivity in (0, 1).

        Returns
        -------
        ndarray of shape (n,)
        """
        at = to_floats(to_array(q, "q"), "q")
        if not np.all((at > 0.0) & (at < 1.0)):
            raise ValueError(f"q must lie in (0, 1), got {at[~((at > 0.0) & (at < 1.0))][0]}.")
        a, b = self.prior[0] + self.positives, self.prior[1] + self.n_examples - self.positives
        thinned = self.n_examples * np.log1p((self.undersampling - 1.0) * at)
        return np.asarray(np.exp((a - 1.0) * np.log(at) + (b - 1.0) * np.log1p(-at) - thinned - self.log_normaliser))

    def __repr__(self) -> str:
        return f"PositivityPosterior({len(self.mean)} regions, mean {float(np.mean(self.mean)):.4g})"


def positivity_posterior(
    positives: ArrayLike, n_examples: ArrayLike, *, prior: tuple[float, float], undersampling: float = 1.0
) -> PositivityPosterior:
    """What the true positivity of a region is, given the examples of it that were kept for training.

    Parameters
    ----------
    positives : array_like of shape (n,), or a number
        Positive examples S, 0 <= S <= N (pseudo-counts need not be whole).
    n_examples : array_like of shape (n,), or a number
        Examples N kept for training.
    prior : (a1, a0)
        Parameters of the Beta distribution that true positivities come from, > 0.
    undersampling : float, default 1
        tau > 0: a negative was kept with probability ``1 / tau``, so tau > 1 means fewer negatives.

    Returns
    -------
    PositivityPosterior

    Raises
    ------
    ValueError
        If counts are negative or not finite, S > N, or a parameter is not positive.

    Notes
    -----
    Theorem 3.1: the density is ``q^(a1-1+S) (1-q)^(a0-1+N-S) / (1+(tau-1)q)^N``. The text has no closed form; with
    ``a = a1+S``, ``b = a0+N-S``, ``x = 1-1/tau`` the mean is
    ``a/(a+b)/tau * 2F1(a+1, a1+a0+1; a+b+1; x) / 2F1(a, a1+a0; a+b; x)``. It is evaluated by Euler's integral of 2F1 on
    the logit scale, where the integrand is log-concave and the trapezoidal rule converges exponentially:
    ``scipy.special.hyp2f1`` returns nan for many counts above a hundred.

    N must say nothing about q (fixed by design, say). Where M originals are fixed and their negatives are thinned, the
    posterior is Beta(a1+S, a0+M-S) instead.

    Examples
    --------
    >>> from stakes.uncertainty import positivity_posterior
    >>> positivity_posterior([5, 10, 18], 20, prior=(0.5, 4.5), undersampling=3).mean.round(4).tolist()
    [0.1029, 0.233, 0.5607]
    """
    check_same_order(positives=positives, n_examples=n_examples)
    s, n = _paired(_counts(positives, "positives"), _counts(n_examples, "n_examples"), "positives")
    a1, a0 = check_prior(prior, "prior")
    if not (np.isfinite(check_number(undersampling, "undersampling")) and undersampling > 0.0):
        raise ValueError(f"undersampling must be finite and > 0, got {undersampling}.")
    if np.any(s > n):
        first = int(np.argmax(s > n))
        raise ValueError(f"positives must be at most n_examples, got {s[first]} of {n[first]} at index {first}.")
    moments = [
        _moments(s[i : i + _CHUNK], n[i : i + _CHUNK], (a1, a0), float(undersampling)) for i in range(0, len(s), _CHUNK)
    ]
    log_integral, mean, variance = np.concatenate(moments, axis=1)
    return PositivityPosterior(mean, variance, log_integral, s, n, (a1, a0), float(undersampling))


def _moments(s: Floats, n: Floats, prior: tuple[float, float], tau: float) -> Floats:
    """Logarithm of the integral, mean and variance of each row, by the trapezoidal rule in a sinh of the log odds."""
    a, b, c = prior[0] + s, prior[1] + n - s, prior[0] + prior[1]
    mode, width = _peak(a, b, n, c, tau)
    reach = np.arcsinh(_DROP * np.maximum(1.0 / np.minimum(a, b), 1.0) / width)
    t = reach[:, None] * np.linspace(-1.0, 1.0, _NODES)
    z = mode[:, None] + width[:, None] * np.sinh(t)

    def log_density(at: Floats) -> Floats:
        tail = c * np.logaddexp(0.0, at) + n[:, None] * np.logaddexp(0.0, at + np.log(tau))
        return np.asarray(a[:, None] * at - tail)

    log = log_density(z)
    top = log.max(axis=1, keepdims=True)
    weight = np.exp(log - top) * np.cosh(t)
    total = weight.sum(axis=1)
    q = np.exp(-np.logaddexp(0.0, -z))
    mean = (weight * q).sum(axis=1) / total
    variance = (weight * (q - mean[:, None]) ** 2).sum(axis=1) / total
    step = 2.0 * reach / (_NODES - 1) * width
    return np.stack([top[:, 0] + np.log(total * step), mean, variance])


def _peak(a: Floats, b: Floats, n: Floats, c: float, tau: float) -> tuple[Floats, Floats]:
    """Mode on the logit scale, a root of a quadratic in the odds, and the width from the curvature there."""
    middle = a * (1.0 + tau) - c - n * tau
    root = np.hypot(middle, 2.0 * np.sqrt(a * b * tau))
    odds = np.where(middle > 0.0, (root + np.abs(middle)) / (2.0 * b * tau), 2.0 * a / (root + np.abs(middle)))
    curvature = c * odds / (1.0 + odds) ** 2 + n * tau * odds / (1.0 + tau * odds) ** 2
    # not wider than 1: poles lie at a distance of pi from the real line
    return np.log(odds), 1.0 / np.sqrt(np.maximum(curvature, 1.0))


def estimation_bias(
    score: ArrayLike,
    n_examples: ArrayLike,
    *,
    true_prior: tuple[float, float],
    model_prior: tuple[float, float],
    undersampling: float = 1.0,
) -> Floats:
    """By how much a score built on so many examples exceeds the true positivity, on average.

    Parameters
    ----------
    score : array_like of shape (n,), or a number
        Score of a model with Beta posterior, ``(b1 + S) / (b1 + b0 + N)``.
    n_examples : array_like of shape (n,), or a number
        Examples N behind the score, > 0: the evidence without the model's prior.
    true_prior : (a1, a0)
        Parameters of the Beta distribution that true positivities come from.
    model_prior : (b1, b0)
        Parameters of the model's prior.
    undersampling : float, default 1
        Negatives were kept for training with probability ``1 / undersampling``.

    Returns
    -------
    ndarray of shape (n,)
        Score less expected true positivity: positive where the score is too high.

    Raises
    ------
    ValueError
        If a score cannot come from so many examples with this prior, or a parameter is out of range.

    Notes
    -----
    Without undersampling the bias is ``(score (nu - 1) + xi - nu omega) gamma / (1 + nu gamma)`` with
    ``nu = (a1+a0)/(b1+b0)``, ``xi = b1/(b1+b0)``, ``omega = a1/(a1+a0)``, ``gamma = (b1+b0)/N``; it is zero for
    ``nu = 1``, ``xi = omega`` and otherwise grows as evidence falls. With undersampling see ``positivity_posterior``.
    Undersampling does not push every score up: few examples without a positive can leave the score too low.

    Examples
    --------
    >>> from stakes.uncertainty import estimation_bias
    >>> estimation_bias(0.8, [5, 50, 500], true_prior=(1, 4), model_prior=(1, 1)).round(3).tolist()
    [0.24, 0.044, 0.005]
    """
    check_same_order(score=score, n_examples=n_examples)
    value, n = _paired(_counts(score, "score"), _counts(n_examples, "n_examples"), "score")
    b1, b0 = check_prior(model_prior, "model_prior")
    prior = check_prior(true_prior, "true_prior")
    if np.any(n == 0.0):
        raise ValueError(f"n_examples must be > 0, got 0 at index {int(np.argmax(n == 0.0))}.")
    # within rounding of 0 and N, as the score was rounded when it was made
    slack = 1e-9 * (b1 + b0 + n)
    positives = value * (b1 + b0 + n) - b1
    bad = (positives < -slack) | (positives > n + slack)
    if np.any(bad):
        i = int(np.argmax(bad))
        low, high = b1 / (b1 + b0 + n[i]), (b1 + n[i]) / (b1 + b0 + n[i])
        raise ValueError(
            f"score must lie in [{low:.6g}, {high:.6g}] for {n[i]:g} examples and this model_prior, got {value[i]} "
            f"at index {i} ({int(bad.sum())} of {len(value)})."
        )
    kept = np.clip(positives, 0.0, n)
    return np.asarray(value - positivity_posterior(kept, n, prior=prior, undersampling=undersampling).mean)


def check_prior(prior: tuple[float, float], name: str) -> tuple[float, float]:
    """Two positive finite numbers, or raise."""
    given = to_array(prior, name)
    values = np.array([check_number(value, name) for value in np.atleast_1d(given).tolist()] if given.ndim < 2 else [])
    if values.shape != (2,) or not np.all(np.isfinite(values) & (values > 0.0)):
        raise ValueError(f"{name} must be two finite numbers > 0, got {prior!r}.")
    return float(values[0]), float(values[1])


def _paired(values: Floats, n: Floats, name: str) -> tuple[Floats, Floats]:
    if len(values) != len(n) and 1 not in {len(values), len(n)}:
        raise ValueError(f"{name} and n_examples must have the same length, got {len(values)} and {len(n)}.")
    first, second = np.broadcast_arrays(values, n)
    return first, second


def _counts(values: ArrayLike, name: str) -> Floats:
    array = np.atleast_1d(to_floats(np.atleast_1d(to_array(values, name)), name))
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be 1-D with at least one value, got shape {array.shape}.")
    bad = ~(np.isfinite(array) & (array >= 0.0))
    if np.any(bad):
        raise ValueError(f"{name} must be finite and >= 0, got {array[bad][0]} at index {int(np.argmax(bad))}.")
    return array
