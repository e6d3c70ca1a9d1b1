"""Sums of exponentials for 1/x, 1/sqrt(x) and 1/x^2, with a proved relative error on a stated range.

    x^-a = integral over y in R of exp(a y - x e^y) dy / Gamma(a)

The trapezoidal rule with step h has a relative error of at most 2 sum_m |Gamma(a + 2 pi i m / h)| / Gamma(a) for every
x > 0 (Poisson summation). It is cut on the right where the incomplete gamma function says that nothing is left, and its
infinitely many small nodes on the left are replaced by the Gauss rule of the measure that they carry, whose error term
is known. All three errors are set equal to EPS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EPS = 1e-14
# Relative error of the sum on its range: aliasing on both sides, truncation and the Gauss rule from below.
RELATIVE = 3.0 * EPS
_MAX_GAUSS = 24


class Nodes(NamedTuple):
    """x^-a is close to sum(weight * exp(-rate * x)); rates ascend, weights are positive."""

    rate: Floats
    weight: Floats


@dataclass(frozen=True)
class _Rule:
    """What does not depend on the range: step, Gauss rule of the small nodes, and where both ends are cut."""

    power: float
    step: float
    gauss_rate: Floats
    gauss_weight: Floats
    reach: float  # the Gauss rule serves x up to reach / (its largest node)
    cut: float  # nodes beyond cut / x do not matter
    difference: float  # relative error of S(x) - S(x + 1), in units of EPS


def nodes(low: float, high: float, power: float = 1.0) -> Nodes:
    """Exponential sum for x^-power on [low, high], 0 < low <= high; the power is 1/2, 1 or 2.

    With S the sum: -3 EPS <= x^a S(x) - 1 <= EPS on the range, and 0 < S(x) <= (1 + EPS) x^-a for every x > 0.
    """
    rule = _rule(power)
    largest_gauss = rule.reach / high
    count = math.ceil(math.log(rule.cut / low / largest_gauss) / rule.step)
    right = largest_gauss * np.exp(rule.step * np.arange(1, count + 1))
    rate = np.concatenate([largest_gauss * rule.gauss_rate, right])
    weight = np.concatenate([largest_gauss**power * rule.gauss_weight, rule.step * right**power])
    return Nodes(rate, weight / math.gamma(power))


def difference_error(power: float = 1.0) -> float:
    """Relative error of S(x) - S(x + 1) as an estimate of x^-a - (x + 1)^-a on the range."""
    return _rule(power).difference * EPS


@lru_cache
def _rule(power: float) -> _Rule:
    step = 1.0 / _bisect(lambda x: _aliasing(power, 1.0 / x) - EPS, 1.0, 10.0)
    cut = _bisect(lambda x: _upper_gamma(power, x) - EPS, 1.0, 100.0)
    # the measure of the nodes e^0, e^-h, e^-2h, ...
    atoms = np.exp(-step * np.arange(int(60.0 / (power * step))))
    diagonal, beta = _jacobi(atoms, step * atoms**power)
    log_reach = [_log_reach(beta, m, power) for m in range(3, _MAX_GAUSS + 1)]
    m = 3 + int(np.argmin([m - x / step for m, x in enumerate(log_reach, start=3)]))
    matrix = np.diag(diagonal[:m]) + np.diag(np.sqrt(beta[1:m]), 1) + np.diag(np.sqrt(beta[1:m]), -1)
    rate, vectors = np.linalg.eigh(matrix)
    reach = math.exp(log_reach[m - 3])
    difference = _difference_factor(power, step, cut, max(2 * m, reach))
    return _Rule(power, step, rate, beta[0] * vectors[0] ** 2, reach, cut, difference)


def _bisect(falling: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falling(middle) > 0.0 else (low, middle)
    return high


def _aliasing(power: float, step: float) -> float:
    """Relative error of the trapezoidal rule: twice the sum of |Gamma(a + iy)| / Gamma(a) at multiples of 2 pi / h."""
    return 2.0 * sum(_gamma_ratio(power, 2.0 * math.pi * m / step) for m in (1, 2, 3))


def _gamma_ratio(power: float, y: float) -> float:
    """|Gamma(a + iy)| / Gamma(a) for large y, by the reflection formulas."""
    decay = math.exp(-0.5 * math.pi * y)
    if power == 0.5:
        return math.sqrt(2.0) * decay
    return math.sqrt(2.0 * math.pi * y) * decay * (math.hypot(1.0, y) if power == 2.0 else 1.0)


def _upper_gamma(power: float, x: float) -> float:
    """Gamma(a, x) / Gamma(a)."""
    if power == 0.5:
        return math.erfc(math.sqrt(x))
    return math.exp(-x) * (1.0 + x if power == 2.0 else 1.0)


def _difference_factor(power: float, step: float, cut: float, gauss: float) -> float:
    """The three errors again, for the derivative: each grows by what differentiating in x brings down."""
    aliasing = math.hypot(power, 2.0 * math.pi / step) / power
    truncation = 1.0 + cut**power * math.exp(-cut) / math.gamma(power + 1.0) / EPS
    return 1.01 * (aliasing + truncation + gauss / power)


def _log_reach(beta: Floats, m: int, power: float) -> float:
    """Logarithm of the largest x (times the largest node) that m Gauss points serve with relative error EPS."""
    scale = math.log(EPS * math.gamma(power)) + math.lgamma(2 * m + 1) - float(np.sum(np.log(beta[: m + 1])))
    return scale / (2 * m + power)


def _jacobi(atoms: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Recurrence coefficients of the orthogonal polynomials of a discrete measure (Lanczos, re-orthogonalised)."""
    size = _MAX_GAUSS + 1
    diagonal, beta = np.empty(size), np.empty(size)
    basis = np.zeros((size, len(atoms)))
    beta[0] = weights.sum()
    vector = np.sqrt(weights / beta[0])
    for j in range(size):
        basis[j] = vector
        image = atoms * vector
        diagonal[j] = image @ vector
        for _ in range(2):
            image -= (basis[: j + 1] @ image) @ basis[: j + 1]
        if j + 1 < size:
            beta[j + 1] = image @ image
            vector = image / math.sqrt(beta[j + 1])
    return diagonal, beta
