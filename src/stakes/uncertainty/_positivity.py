"""Posterior of the true positivity, entropy of Beta distributions, and advice on thresholds by uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.validation import Floats, check_number, check_same_order, check_unit, to_array, to_floats
from stakes.outputs.result_table import Tabular

# The true positivity behind a score with a given number of examples, and the bias of the score.
#
# Theorem 3.1 of the paper on decision boundaries over score and uncertainty, reconstructed: its symbols are
# lost in the text, and the direction of the undersampling was fixed by simulation.

_NODES = 301
_CHUNK = 4096
_DROP = 60.0  # e^-60 of the peak is negligible in double precision


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
            Positivity in (0, 1): one for each region, or any number of them for one region.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            For positivities outside (0, 1), and as many as fit no region.
        """
        at = to_floats(to_array(q, "q"), "q")
        if not np.all((at > 0.0) & (at < 1.0)):
            raise ValueError(f"q must lie in (0, 1), got {at[~((at > 0.0) & (at < 1.0))][0]}.")
        regions = len(self.mean)
        if at.ndim > 1 or (regions > 1 and at.shape not in {(), (1,), (regions,)}):
            raise ValueError(f"q must be a number or one for each of {regions} regions, got shape {at.shape}.")
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
    """Return two positive finite numbers, or raise."""
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


# Whether thresholds by uncertainty can pay, from the prior of the true positivity and that of the model.


@dataclass(frozen=True, repr=False)
class UncertaintyAdvice(Tabular):
    """What the theory of the estimation bias says about thresholds over score and uncertainty.

    Attributes
    ----------
    pays : bool
        Whether scores of little evidence are too high at the score of interest, and the model's prior is too weak.
    nu : float
        Strength of the true prior in that of the model's.
    bias_coefficient : float
        ``score (nu - 1) + xi - nu omega``: the bias is this times ``gamma / (1 + nu gamma)``.
    score : float
        Where the thresholds are expected.
    why : str
        One sentence.

    Examples
    --------
    >>> from stakes.uncertainty import advise_uncertainty
    >>> advise_uncertainty(true_prior=(0.1, 0.9), model_prior=(1, 1)).pays
    False
    """

    pays: bool
    nu: float
    bias_coefficient: float
    score: float
    why: str

    def _records(self) -> list[dict[str, Any]]:
        return [dict(vars(self))]

    def __repr__(self) -> str:
        return f"UncertaintyAdvice({'pays' if self.pays else 'does not pay'}: {self.why})"


def advise_uncertainty(
    *, true_prior: tuple[float, float], model_prior: tuple[float, float], score: float = 0.9
) -> UncertaintyAdvice:
    """Whether thresholds by level of uncertainty can beat a single threshold on the score.

    Parameters
    ----------
    true_prior : (a1, a0)
        Parameters of the Beta distribution that true positivities come from.
    model_prior : (b1, b0)
        Parameters of the model's prior: what the model says where it has no evidence.
    score : float, default 0.9
        Where the thresholds are expected; near the precision asked for.

    Returns
    -------
    UncertaintyAdvice

    Raises
    ------
    ValueError
        If a prior is not two positive numbers or the score not in [0, 1].

    Notes
    -----
    The bias of a score is ``(score (nu - 1) + xi - nu omega) gamma / (1 + nu gamma)`` (see ``estimation_bias``): with
    ``nu <= 1`` the model shrinks at least as much as it should and levels of uncertainty have nothing to repair. Above
    1 the gain depends on the coefficient and on how widely the evidence varies: in simulations of recall at precision
    0.7 to 0.9 three levels gained at most 3% over a single threshold with a coefficient of 0, and up to 502%, 29% and
    243% with coefficients of 1.35, 2.6 and 7.6. This is about Beta models trained on all rows: with one negative in
    twenty kept, scores of much evidence are the ones that are too high, and three levels gained up to 16% although nu
    was 0.5.
    ``Boundary.gain`` measures the gain on data.

    Examples
    --------
    >>> from stakes.uncertainty import advise_uncertainty
    >>> advise_uncertainty(true_prior=(1, 4), model_prior=(1, 1))
    UncertaintyAdvice(pays: nu = 2.5 > 1 and scores near 0.9 with little evidence are too high (coefficient 1.35).)
    """
    (a1, a0), (b1, b0) = check_prior(true_prior, "true_prior"), check_prior(model_prior, "model_prior")
    at = check_unit(score, "score")
    nu, xi, omega = (a1 + a0) / (b1 + b0), b1 / (b1 + b0), a1 / (a1 + a0)
    coefficient = at * (nu - 1.0) + xi - nu * omega
    pays = nu > 1.0 and coefficient > 0.0
    if pays:
        why = f"nu = {nu:.3g} > 1 and scores near {at:g} with little evidence are too high"
    elif nu > 1.0:
        why = f"nu = {nu:.3g} > 1, but scores near {at:g} with little evidence are not too high"
    else:
        why = f"nu = {nu:.3g} <= 1: the model already shrinks scores of little evidence"
    return UncertaintyAdvice(pays, nu, coefficient, at, f"{why} (coefficient {coefficient:.3g}).")


# Differential entropy of a Beta distribution, accurate for any number of counts behind it.

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
    # The logarithms of Stirling's formula are cancelled analytically: summed as written, ln B and the digamma terms of
    # large parameters leave nothing but rounding.
    total = a + b
    logs = 0.5 * (np.log(a) + np.log(b) - 3.0 * np.log(total) + math.log(2.0 * math.pi))
    rest = 0.5 - 0.5 / a - 0.5 / b + 1.0 / total
    (ra, da), (rb, db), (rt, dt) = _remainders(a), _remainders(b), _remainders(total)
    return np.asarray(logs + rest + ra - (a - 1.0) * da + rb - (b - 1.0) * db - rt + (total - 2.0) * dt)


def _remainders(x: Floats) -> tuple[Floats, Floats]:
    """Remainders of Stirling's formula for the log gamma and the digamma function."""
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
