"""Multinomial logistic recalibration of class probabilities on their log ratios, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_MAX_STEPS = 100
_HALVINGS = 60
_TOLERANCE = 1e-10


@dataclass(frozen=True)
class MultinomialFit:
    """Coefficients (K - 1, q), their information, the log likelihood, and whether the maximum was reached."""

    coefficients: Floats
    information: Floats
    log_likelihood: float
    converged: bool


@dataclass(frozen=True)
class MultinomialData:
    """Rows as the model needs them; class 0 is the reference."""

    design: Floats  # (n, q)
    offset: Floats  # (n, K - 1)
    hits: Floats  # (n, K - 1), one where that class happened
    weight: Floats

    def predictor(self, coefficients: Floats) -> Floats:
        return self.offset + self.design @ coefficients.T

    def log_likelihood(self, predictor: Floats) -> float:
        top = np.maximum(predictor.max(axis=1), 0.0)
        normaliser = top + np.log(np.exp(-top) + np.exp(predictor - top[:, None]).sum(axis=1))
        return float(self.weight @ ((self.hits * predictor).sum(axis=1) - normaliser))

    def probabilities(self, predictor: Floats) -> Floats:
        top = np.maximum(predictor.max(axis=1, keepdims=True), 0.0)
        odds = np.exp(predictor - top)
        return odds / (np.exp(-top) + odds.sum(axis=1, keepdims=True))

    def information(self, prob: Floats) -> Floats:
        classes, width = prob.shape[1], self.design.shape[1]
        out = np.empty((classes, width, classes, width))
        for k in range(classes):
            for j in range(k + 1):
                spread = self.weight * prob[:, k] * ((k == j) - prob[:, j])
                out[k, :, j, :] = self.design.T @ (self.design * spread[:, None])
                out[j, :, k, :] = out[k, :, j, :].T
        return out.reshape(classes * width, classes * width)

    def design_effect(self, fit: MultinomialFit) -> float:
        """Mean factor by which weights inflate the variances (Rao and Scott 1984); 1 where all are equal to 1."""
        if np.all(self.weight == 1.0):
            return 1.0
        residual = self.hits - self.probabilities(self.predictor(fit.coefficients))
        rows = (residual * self.weight[:, None])[:, :, None] * self.design[:, None, :]
        flat = rows.reshape(len(rows), -1)
        return float(np.trace(np.linalg.solve(fit.information, flat.T @ flat))) / flat.shape[1]


def fit_multinomial(data: MultinomialData, start: Floats) -> MultinomialFit:
    """Maximise the concave likelihood."""
    coefficients = start
    predictor = data.predictor(coefficients)
    value = data.log_likelihood(predictor)
    for _ in range(_MAX_STEPS):
        prob = data.probabilities(predictor)
        information = data.information(prob)
        gradient = ((data.hits - prob) * data.weight[:, None]).T @ data.design
        step = np.linalg.lstsq(information, gradient.ravel(), rcond=None)[0]
        if float(gradient.ravel() @ step) <= _TOLERANCE:
            return MultinomialFit(coefficients, information, value, converged=True)
        step = step.reshape(coefficients.shape)
        for _ in range(_HALVINGS):
            predictor = data.predictor(coefficients + step)
            after = data.log_likelihood(predictor)
            if after >= value:
                break
            step = step / 2.0
        coefficients, value = coefficients + step, after
    return MultinomialFit(coefficients, information, value, converged=False)
