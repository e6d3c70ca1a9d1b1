"""The logistic function and the one maximum-likelihood fit of it, by Newton's method on pooled rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.sums import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_MAX_STEPS = 100
_MAX_HALVINGS = 60
_TOLERANCE = 1e-12
_FLAT = 1e-14
# of what the slope promises; a full step near the top gains half of that, and one that lands where every probability is
# 0 or 1, from where no step leads back, next to nothing
_LEAST_GAIN = 0.25
# of a logit in one step: about as far as the logits of all numbers above 0 reach. Rows whose probabilities are next to
# 0 or 1 hold almost no information, and ask for a step so long that no number of halvings leads back
_FARTHEST = 800.0
_TOTAL = 60  # power of two to which weights are brought, which changes no digit: none of their products vanishes


def sigmoid(logit: Any) -> Any:
    """Probability 1 / (1 + exp(-logit)); any logit, without a warning.

    Examples
    --------
    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-logit))


def logit(share: Any) -> Any:
    """Logarithm of the odds; minus infinity at 0 and infinity at 1, without a warning.

    Examples
    --------
    >>> logit(np.array([0.0, 0.5, 1.0])).tolist()
    [-inf, 0.0, inf]
    """
    with np.errstate(divide="ignore"):
        return np.log(share) - np.log1p(-np.asarray(share))


@dataclass(frozen=True)
class LogisticSolution:
    """Coefficients, the (penalised) log likelihood there, and its information matrix."""

    coefficients: Floats
    log_likelihood: float
    information: Floats


def _newton_step(information: Floats, gradient: Floats) -> Floats:
    """The step to the maximum of the quadratic; the shortest one where rows so far off say nothing of a direction."""
    try:
        return np.asarray(np.linalg.solve(information, gradient))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(information, gradient, rcond=None)[0])


def _within_reach(step: Floats, gradient: Floats, design: Floats) -> Floats:
    """Shorten a step that would move a logit too far; one that is no number goes where the likelihood rises."""
    if not np.all(np.isfinite(step)) or not np.any(step):
        step = gradient
    size = float(np.abs(step).max())
    if size == 0.0:
        return step
    moved = float(np.abs(design @ (step / size)).max())
    return step if moved * size <= _FARTHEST else step / size * (_FARTHEST / moved)


def fit_logistic(
    design: Floats,
    positives: Floats,
    negatives: Floats,
    *,
    offset: Floats | float = 0.0,
    start: Floats | None = None,
    ridge: float = 0.0,
) -> LogisticSolution:
    """Maximise the likelihood of positives and negatives at each row of the design, less ridge / 2 * |beta|^2."""
    total = float(positives.sum() + negatives.sum())
    scale = math.ldexp(1.0, _TOTAL - math.frexp(total)[1])
    total, ridge = total * scale, ridge * scale
    shifts = np.broadcast_to(offset, positives.shape)

    def likelihood(beta: Floats) -> tuple[float, Floats, Floats]:
        value, gradient = -0.5 * ridge * float(beta @ beta), -ridge * beta
        information = ridge * np.eye(len(beta))
        for part in blocks(len(positives)):
            counts = positives[part] * scale, negatives[part] * scale
            own = _likelihood(design[part], *counts, design[part] @ beta + shifts[part])
            value, gradient, information = value + own[0], gradient + own[1], information + own[2]
        return value, gradient, information

    beta = np.zeros(design.shape[1]) if start is None else start
    value, gradient, information = likelihood(beta)
    for _ in range(_MAX_STEPS):
        step = _within_reach(_newton_step(information, gradient), gradient, design)
        if float(gradient @ step) <= _TOLERANCE**2 * total:
            beta = beta + step  # convergence is quadratic: this one settles the last digits
            break
        for _ in range(_MAX_HALVINGS):  # halve a step that overshoots; the likelihood is concave
            trial = likelihood(beta + step)
            if trial[0] >= value + _LEAST_GAIN * float(gradient @ step) - _FLAT * abs(value):
                break
            step = step / 2.0
        else:
            break  # to the last digit there is nowhere higher
        beta = beta + step
        value, gradient, information = trial
    return LogisticSolution(beta, value / scale, information / scale)


def _likelihood(design: Floats, positives: Floats, negatives: Floats, eta: Floats) -> tuple[float, Floats, Floats]:
    """Log likelihood of some rows, its gradient and its information; one exponential serves all three."""
    small = np.exp(-np.abs(eta))
    one_more = 1.0 + small
    rare = small / one_more  # probability of the class that is the less likely one
    weight = positives + negatives
    low = eta < 0.0
    p = np.where(low, rare, 1.0 / one_more)
    value = positives @ np.minimum(eta, 0.0) - negatives @ np.maximum(eta, 0.0) - weight @ np.log1p(small)
    return float(value), design.T @ (positives - weight * p), design.T @ (design * (weight * rare / one_more)[:, None])
