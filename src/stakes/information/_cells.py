"""Value of information at one threshold, exactly: a model, treating all and treating no one on four cells of rows.

The rows acted on (TP, FP) and not acted on (FN, TN) carry independent Beta posteriors of their event rates, which is
the Bayesian bootstrap of the rows when nothing is added to the cells. Values are net benefits, per decision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PRIORS = ("indifference", "haldane", "uniform")
_OPEN = 1e-14  # both doubts matter only where both are open
_PANELS, _NODES = 24, 24


@dataclass(frozen=True)
class CellValue:
    """Expected value of perfect information, and probabilities that each of the three is best."""

    evpi: float
    p_model: float
    p_all: float
    p_none: float


def pseudo_rows(prior: str, t: float) -> tuple[float, float]:
    """Positives and negatives added to the rows acted on, and to those not acted on."""
    return {"haldane": (0.0, 0.0), "indifference": (t, 1.0 - t), "uniform": (1.0, 1.0)}[prior]


def cell_value(cells: tuple[float, float, float, float], t: float) -> CellValue:
    """Exact values for TP, FP, FN, TN with the prior already added."""
    tp, fp, fn, tn = cells
    odds, total = t / (1.0 - t), sum(cells)
    # gains in rows: acting on the model over no one, and on everyone over the model
    model, everyone = tp - odds * fp, fn - odds * tn
    everyone_up = (fn + tn) * _positive_part(fn, tn, t) / (1.0 - t)
    model_down = (tp + fp) * _positive_part(tp, fp, t) / (1.0 - t) - model
    p_over_none, p_over_all = 1.0 - _below(tp, fp, t), _below(fn, tn, t)
    both = negative = 0.0
    if (1.0 - p_over_none) * (1.0 - p_over_all) > _OPEN:
        both, negative = _overlap(cells, odds)
    now = max(0.0, model, model + everyone)
    evpi = (model + everyone_up + model_down - both - now) / total
    p_none = (1.0 - p_over_none) * p_over_all + negative
    p_model = p_over_none * p_over_all
    return CellValue(max(evpi, 0.0), p_model, max(1.0 - p_model - p_none, 0.0), p_none)


def _positive_part(a: float, b: float, t: float) -> float:
    """E (v - t)+ for v ~ Beta(a, b)."""
    if a == 0.0 or b == 0.0:
        return 0.0 if a == 0.0 else 1.0 - t
    return a / (a + b) * (1.0 - _below(a + 1.0, b, t)) - t * (1.0 - _below(a, b, t))


def _below(a: float, b: float, t: float) -> float:
    """P(v < t) for v ~ Beta(a, b); with no rows at all the two sides cost the same."""
    from scipy.special import betainc

    if a == 0.0 or b == 0.0:
        return 1.0 if a == 0.0 else 0.0
    return float(betainc(a, b, t))


def _overlap(cells: tuple[float, float, float, float], odds: float) -> tuple[float, float]:
    """Where the model loses to no one and everyone gains on the model, by X = G(TP) - o G(FP), Z = G(FN) - o G(TN).

    The integral of P(Z > z) P(X < -z), and the probability that X < 0 < Z and X + Z < 0.
    """
    from scipy.special import gammaincc, gammaln

    tp, fp, fn, tn = cells
    if fn == 0.0 or fp == 0.0:
        return 0.0, 0.0
    top = min(60.0 + 14.0 * math.sqrt(fn) + fn, odds * (60.0 + 14.0 * math.sqrt(fp) + fp))
    z, weight = _legendre(np.concatenate([[0.0], np.geomspace(1e-6, 1.0, _PANELS) * top]))
    by_tn, by_tp = _gamma_nodes(tn), _gamma_nodes(tp)
    up = gammaincc(fn, z[:, None] + odds * by_tn[0]) @ by_tn[1]
    down = gammaincc(fp, (z[:, None] + by_tp[0]) / odds) @ by_tp[1]
    places = z[:, None] + odds * by_tn[0]
    density = np.exp((fn - 1.0) * np.log(places) - places - gammaln(fn)) @ by_tn[1]
    return float(weight @ (up * down)), float(weight @ (density * down))


def _gamma_nodes(shape: float) -> tuple[Floats, Floats]:
    """Nodes and weights of the expectation over a gamma variable."""
    from scipy.special import gammaln

    if shape == 0.0:
        return np.zeros(1), np.ones(1)
    spread = math.sqrt(shape)
    edges = np.linspace(max(0.0, shape - 14.0 * spread - 30.0), shape + 14.0 * spread + 60.0, _PANELS + 1)
    if shape >= 1.0:
        g, weight = _legendre(edges)
        return g, weight * np.exp((shape - 1.0) * np.log(g) - g - gammaln(shape))
    # below one the density is infinite at zero: integrate over v = g ** shape
    v, weight = _legendre(np.concatenate([[0.0], np.geomspace(1e-12, edges[-1], 4 * _PANELS) ** shape]))
    g = v ** (1.0 / shape)
    return g, weight * np.exp(-g - gammaln(shape + 1.0))


def _legendre(edges: Floats) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)[:, None]
    x = 0.5 * (edges[1:] + edges[:-1])[:, None] + half * nodes
    return x.ravel(), (half * weights).ravel()
