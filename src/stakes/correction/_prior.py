"""The shares of the classes in a new population, estimated from unlabelled probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base import validation
from stakes.base.arrays import Floats
from stakes.correction._loss_calibration import chi2_tail
from stakes.correction._weights import read_prior, read_scores
from stakes.outputs.result_table import Tabular

_EM_STEPS = 20
_RIDGE = 1e-13
_HALVINGS = 60
_LEAST_GAP = 1e-14


@dataclass(frozen=True, eq=False, repr=False)
class PriorEstimate(Tabular):
    """Estimated shares of the classes, and how far they are to be believed.

    Parameters
    ----------
    prior : float or ndarray of shape (K,)
        Share of positives, or of every class.
    ci_low, ci_high : float or ndarray of shape (K,)
        Bootstrap percentile interval; nan without a bootstrap.
    log_likelihood_gain : float
        By how much the log likelihood exceeds that of the old shares.
    p_value : float
        Likelihood-ratio test that the shares have not changed.
    gap : float
        Bound on what a better optimum could add to the mean log likelihood, 1e-14 or more.
    converged : bool
        Whether the gap fell below the tolerance.
    n_iterations : int
        Steps taken, of expectation-maximisation and of Newton's method together.
    at_boundary : bool
        Whether a class has share zero: the interval and p-value are then doubtful.
    confidence_level : float
        Of the interval.
    n_resamples : int
        Number of resamples.

    Examples
    --------
    >>> from stakes.correction import estimate_prior
    >>> estimate_prior([0.2, 0.4, 0.7, 0.9, 0.6], training_prior=0.3, n_resamples=0).converged
    True
    """

    prior: Any
    ci_low: Any
    ci_high: Any
    log_likelihood_gain: float
    p_value: float
    gap: float
    converged: bool
    n_iterations: int
    at_boundary: bool
    confidence_level: float
    n_resamples: int

    @property
    def interval(self) -> tuple[Any, Any]:
        """Interval of ``prior``: two numbers, or two arrays by class."""
        return self.ci_low, self.ci_high

    def _records(self) -> list[dict[str, Any]]:
        columns = (np.atleast_1d(value).tolist() for value in (self.prior, self.ci_low, self.ci_high))
        rows = list(zip(*columns, strict=True))
        first = 1 if len(rows) == 1 else 0
        return [
            {"class": k, "prior": prior, "ci_low": low, "ci_high": high}
            for k, (prior, low, high) in enumerate(rows, start=first)
        ]

    def __repr__(self) -> str:
        shown = np.array2string(np.asarray(self.prior), precision=4, separator=", ")
        state = "converged" if self.converged else f"NOT converged, gap {self.gap:.2g}"
        span = ""
        if self.n_resamples and np.ndim(self.prior) == 0:
            span = f", {self.confidence_level:.0%} interval {self.ci_low:.4g} to {self.ci_high:.4g}"
        return f"PriorEstimate({shown}{span}, {state}, no shift: p = {self.p_value:.3g})"


def estimate_prior(
    y_prob: ArrayLike,
    *,
    training_prior: float | Mapping[Any, float] | ArrayLike,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_resamples: int = 200,
    confidence_level: float = 0.95,
    tolerance: float = 1e-10,
    max_iterations: int = 500,
    random_state: int | np.random.Generator | None = 0,
) -> PriorEstimate:
    """Estimate the shares of the classes in a new population from probabilities alone, without labels.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Probabilities for rows of the new population, right where the classes have the shares ``training_prior``. Undo
        class weights and sampling first.
    training_prior : float, mapping of label to share, or array_like of shape (K,)
        Share of positives, or of every class, in the population that the probabilities are right for.
    labels : array_like of shape (K,), optional
        The classes in the order of the columns, where ``training_prior`` is a mapping.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    n_resamples : int, default 200
        Resamples of the rows for the interval; 0 for none. The interval holds the model's errors fixed: it does not
        cover probabilities that are wrong.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).
    tolerance : float, default 1e-10
        Bound on what a better optimum could add to the mean log likelihood, 1e-14 or more.
    max_iterations : int, default 500
        Steps at most; ``converged`` says whether they sufficed.
    random_state : int, numpy Generator or None, default 0
        For the bootstrap.

    Returns
    -------
    PriorEstimate

    Raises
    ------
    ValueError
        For invalid probabilities, shares or settings.

    Notes
    -----
    Saerens, Latinne and Decaestecker (2002): expectation-maximisation of the concave likelihood
    sum_i log sum_y g_iy prior_y / training_prior_y. Its first steps are followed by sequential quadratic programming
    (Kim, Carbonetto, Stephens and Anitescu 2020), which ends in the same maximum and does not creep. A class may get
    share 0.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.correction import estimate_prior
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(2, 5, 4000)  # right where 2/7 of the cases are positive
    >>> y = rng.random(4000) < p
    >>> fewer = rng.random(4000) < np.where(y, 0.3, 1.0)  # positives are rarer here, and not otherwise different
    >>> estimate = estimate_prior(p[fewer], training_prior=2 / 7, random_state=0)
    >>> bool(estimate.ci_low < y[fewer].mean() < estimate.ci_high)
    True
    """
    validation.check_same_order(y_prob=y_prob, sample_weight=sample_weight)
    n_resamples = validation.check_whole(n_resamples, "n_resamples")
    stop = validation.check_number(tolerance, "tolerance"), validation.check_whole(max_iterations, "max_iterations")
    if not stop[0] >= _LEAST_GAP:
        raise ValueError(f"tolerance must be {_LEAST_GAP:g} or more, as rounding hides a smaller gap, got {tolerance}.")
    level = validation.check_level(confidence_level)
    scores = read_scores(y_prob)
    binary = scores.values.ndim == 1
    rows = np.column_stack([1.0 - scores.values, scores.values]) if binary else scores.values
    before = read_prior(training_prior, scores.n_classes, labels, "training_prior", one_column=scores.one_column)
    if before.min() < validation.SQUARED_WELL[0]:  # rows are divided by it
        rule = f"training_prior must give every class a share of at least {validation.SQUARED_WELL[0]:g}"
        raise ValueError(f"{rule}, got {training_prior!r}.")
    weight = validation.check_weights(sample_weight, len(rows))
    if weight is not None:
        rows, weight = rows[weight > 0.0], weight[weight > 0.0]
    order = validation.settled_order(*rows.T, weight)
    density, share = rows[order] / before, np.ones(len(rows)) if weight is None else weight[order]
    best, gap, steps = _maximise(density, share, before, stop)
    draws = _bootstrap(density, share, best, stop, validation.generator(random_state).spawn(n_resamples))
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    low, high = np.quantile(draws, tails, axis=0) if n_resamples else np.full((2, len(before)), np.nan)
    prior, low, high = (float(values[1]) if binary else values for values in (best, low, high))
    # a weighted sample is worth as many rows as Kish's formula says
    size = float(share.sum() ** 2 / np.dot(share, share))
    gain = size * (_mean_log(density @ best, share) - _mean_log(density @ before, share))
    p_value, at_boundary = chi2_tail(2.0 * gain, len(before) - 1), bool(np.any(best <= 0.0))
    fit = (gain, p_value, gap, gap <= stop[0], steps, at_boundary)
    return PriorEstimate(prior, low, high, *fit, level, n_resamples)


def _maximise(
    density: Floats, share: Floats, start: Floats, stop: tuple[float, int], *, em_steps: int = _EM_STEPS
) -> tuple[Floats, float, int]:
    """Maximise the mean log of the mixture over the shares of its components; return them, their gap and the steps."""
    tolerance, max_steps = stop
    share = share / share.sum()
    prior = start / start.sum()
    gap, steps, settled = math.inf, 0, False
    while steps < max_steps:
        mixture = density @ prior
        gradient = (share / mixture) @ density
        # by concavity no share can gain more than this
        gap = float(gradient.max()) - 1.0
        if gap <= tolerance and settled:
            break
        # expectation-maximisation never reaches a share of exactly zero, Newton's step does
        settled = steps >= em_steps or gap <= tolerance
        prior = _newton(density, share, prior, mixture, gradient) if settled else prior * gradient
        prior = prior / prior.sum()
        steps += 1
    return prior, max(gap, 0.0), steps


def _newton(density: Floats, share: Floats, prior: Floats, mixture: Floats, gradient: Floats) -> Floats:
    """One Newton step under non-negativity, halved until the likelihood increases."""
    from scipy.optimize import nnls

    scaled = density * (np.sqrt(share) / mixture)[:, None]
    hessian = scaled.T @ scaled
    hessian[np.diag_indices_from(hessian)] += _RIDGE * np.trace(hessian)
    root = np.linalg.cholesky(hessian)
    # the total share enters through its multiplier, which is 1
    target, _ = nnls(root.T, np.linalg.solve(root, hessian @ prior + gradient - 1.0))
    # near the maximum a step adds less than rounding takes away
    before = _mean_log(mixture, share) - prior.sum() - _LEAST_GAP
    for _ in range(_HALVINGS):
        if target.sum() > 0.0:
            after = density @ target
            if np.all(after > 0.0) and _mean_log(after, share) - target.sum() >= before:
                return np.asarray(target)
        target = 0.5 * (target + prior)
    return prior * gradient


def _mean_log(mixture: Floats, share: Floats) -> float:
    return float(np.dot(np.log(mixture), share) / share.sum())


def _bootstrap(
    density: Floats, share: Floats, start: Floats, stop: tuple[float, int], generators: Sequence[np.random.Generator]
) -> Floats:
    """Bootstrap estimates, each started near the first estimate within the simplex."""
    inside = np.maximum(start, 1e-3)
    draws = np.empty((len(generators), density.shape[1]))
    for draw, rng in zip(draws, generators, strict=True):
        drawn = rng.multinomial(len(share), np.full(len(share), 1.0 / len(share)))
        seen = drawn > 0
        draw[:] = _maximise(density[seen], (share * drawn)[seen], inside, stop, em_steps=0)[0]
    return draws
