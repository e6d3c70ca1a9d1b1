"""Random-effects pooling of estimates from several centres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.arrays import Floats
from stakes.base.validation import check_level, to_floats
from stakes.outputs.result_table import Tabular

_LEAST = 3  # estimates that a variance between them needs
_TOLERANCE = 1e-14
_VARIANCES = 400  # points of the confidence distribution of the variance between centres
_HALVINGS = 60
_FAR = 9.0  # standard deviations beyond which nothing is


@dataclass(frozen=True)
class RandomEffects(Tabular):
    """The mean of what centres truly have, how much they differ, and what to expect in another one.

    Parameters
    ----------
    value, standard_error : float
        Estimated mean over centres.
    interval : tuple of float
        Of the mean.
    prediction_interval : tuple of float
        In which the true value of another such centre is expected.
    tau : float
        Standard deviation of the true values between centres, by restricted maximum likelihood.
    i_squared : float
        Share of the variation of the estimates that is not noise, in [0, 1).
    q : float
        Cochran's Q, chi-square with one degree of freedom less than centres where all are truly alike.
    centres : int
        How many.
    confidence_level : float
        Of both intervals.

    Examples
    --------
    >>> from stakes.inference import random_effects
    >>> random_effects([0.1, 0.3, 0.08, 0.11], [0.01, 0.02, 0.015, 0.01])
    RandomEffects(0.1466 [-0.01532, 0.3085], another centre [-0.2155, 0.51], I2 98%, 4 centres)
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    prediction_interval: tuple[float, float]
    tau: float
    i_squared: float
    q: float
    centres: int
    confidence_level: float

    def _records(self) -> list[dict[str, Any]]:
        ends = {"ci_low": self.interval[0], "ci_high": self.interval[1]}
        ends |= {"prediction_low": self.prediction_interval[0], "prediction_high": self.prediction_interval[1]}
        spread = {"tau": self.tau, "i_squared": self.i_squared, "q": self.q, "centres": self.centres}
        return [{"value": self.value, "standard_error": self.standard_error, **ends, **spread}]

    def __repr__(self) -> str:
        mean, another = ("[{:.4g}, {:.4g}]".format(*ends) for ends in (self.interval, self.prediction_interval))
        return (
            f"RandomEffects({self.value:.4g} {mean}, another centre {another}, I2 {self.i_squared:.0%}, "
            f"{self.centres} centres)"
        )


def random_effects(values: ArrayLike, standard_errors: ArrayLike, *, confidence_level: float = 0.95) -> RandomEffects:
    """Pool estimates of several centres whose true values differ.

    Parameters
    ----------
    values, standard_errors : array_like of shape (k,)
        One of each for every centre, at least three, on a scale on which they are about normal: the log-odds of an
        AUC, the log of a ratio.
    confidence_level : float, default 0.95
        Of both intervals, in (0, 1).

    Returns
    -------
    RandomEffects

    Raises
    ------
    ValueError
        For fewer than three estimates, numbers that do not pair, or errors that are not above 0.

    Notes
    -----
    The variance between centres is the restricted maximum-likelihood estimate, the interval of the mean that of Hartung
    and Knapp (2001, doi:10.1002/sim.1009), never narrower than one that takes the centres to be alike (Rover et al.
    2015, doi:10.1186/s12874-015-0091-1), with Student's t of one degree of freedom less than centres: as
    ``rma(method="REML", test="adhoc")`` of R's metafor.

    The prediction interval does not take the estimated variance for the true one, which with few centres is 0 too
    often. It mixes the normal distributions that follow from each variance over its confidence distribution, from the
    generalised Q (Nagashima, Noma and Furukawa 2019, doi:10.1177/0962280218773520), and holds the interval of the mean.

    Examples
    --------
    >>> from stakes.inference import random_effects
    >>> found = random_effects([-0.4, -0.2, -0.9, -0.5, -0.1], [0.2, 0.1, 0.3, 0.2, 0.1])
    >>> round(found.value, 3), round(found.tau, 3)
    (-0.326, 0.185)
    """
    from scipy.special import stdtrit

    level = check_level(confidence_level)
    y, errors = to_floats(np.asarray(values), "values"), to_floats(np.asarray(standard_errors), "standard_errors")
    if y.ndim != 1 or y.shape != errors.shape or len(y) < _LEAST:
        raise ValueError(
            f"values and standard_errors must pair, at least {_LEAST} of them, got shapes {y.shape} and {errors.shape}."
        )
    if not (np.isfinite(y).all() and np.isfinite(errors).all() and errors.min() > 0.0):
        raise ValueError(f"values must be finite and standard_errors > 0, got {y.tolist()} and {errors.tolist()}.")
    k, v = len(y), np.square(errors)
    tau2 = _variance_between(y, v)
    w = 1.0 / (v + tau2)
    mean = float(w @ y / w.sum())
    scale = max(1.0, float(w @ np.square(y - mean)) / (k - 1))
    error = math.sqrt(scale / float(w.sum()))
    t = float(stdtrit(k - 1, 0.5 + 0.5 * level))
    least, most = _expected_elsewhere(y, v, 0.5 * (1.0 - level))
    alike = 1.0 / v
    common = float(alike @ y / alike.sum())
    typical = (k - 1) * float(alike.sum()) / float(alike.sum() ** 2 - np.square(alike).sum())  # Higgins and Thompson
    return RandomEffects(
        mean,
        error,
        (mean - t * error, mean + t * error),
        (min(least, mean - t * error), max(most, mean + t * error)),
        math.sqrt(tau2),
        tau2 / (tau2 + typical),
        float(alike @ np.square(y - common)),
        k,
        level,
    )


def _variance_between(y: Floats, v: Floats) -> float:
    """Where the restricted log-likelihood is highest: its slope falls through 0, or is negative at 0 already."""
    from scipy.optimize import brentq

    def slope(tau2: float) -> float:
        w = 1.0 / (v + tau2)
        total, square = float(w.sum()), float(w @ w)
        gap = y - float(w @ y) / total
        return float(np.square(w * gap).sum()) - total + square / total

    if slope(0.0) <= 0.0:
        return 0.0
    high = float(np.var(y, ddof=1))
    while slope(high) > 0.0:
        high *= 2.0
    return float(brentq(slope, 0.0, high, xtol=_TOLERANCE * high, rtol=_TOLERANCE))


def _expected_elsewhere(y: Floats, v: Floats, tail: float) -> tuple[float, float]:
    """Quantiles of another centre's true value, over the confidence distribution of the variance between centres."""
    from scipy.optimize import brentq
    from scipy.special import chdtri, ndtr

    tau2 = _solve_q(y, v, chdtri(len(y) - 1, (np.arange(_VARIANCES) + 0.5) / _VARIANCES))
    w = 1.0 / (v + tau2[:, None])
    total = w.sum(axis=1)
    mean, spread = w @ y / total, np.sqrt(tau2 + 1.0 / total)

    def below(x: float) -> float:
        return float(ndtr((x - mean) / spread).mean())

    low, high = float((mean - _FAR * spread).min()), float((mean + _FAR * spread).max())
    first, last = (float(brentq(lambda x, p=p: below(x) - p, low, high)) for p in (tail, 1.0 - tail))
    return first, last


def _solve_q(y: Floats, v: Floats, goal: Floats) -> Floats:
    """The variances at which the generalised Q, which falls in them, has these values; 0 where it starts below."""

    def q(tau2: Floats) -> Floats:
        w = 1.0 / (v + tau2[:, None])
        gap = y - (w @ y / w.sum(axis=1))[:, None]
        return np.asarray((w * np.square(gap)).sum(axis=1))

    low, high = np.zeros(len(goal)), np.full(len(goal), float(np.var(y)) + float(v.max()))
    while np.any(behind := q(high) > goal):
        high = np.where(behind, 4.0 * high, high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = q(middle) > goal
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(q(np.zeros(len(goal))) > goal, 0.5 * (low + high), 0.0)
