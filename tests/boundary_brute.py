"""Every boundary of a small grid, by enumeration: an oracle that shares nothing with the solvers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np


def boundaries(positives, totals):
    """Return the counts (true positives, selected) of every choice of top bins, as two arrays."""
    p, n = np.asarray(positives), np.asarray(totals)
    pairs = set()
    cumulative = [
        [(int(p[k, p.shape[1] - m :].sum()), int(n[k, n.shape[1] - m :].sum())) for m in range(p.shape[1] + 1)]
        for k in range(len(p))
    ]
    for choice in product(*(sorted(set(level)) for level in cumulative)):
        pairs.add((sum(c[0] for c in choice), sum(c[1] for c in choice)))
    return sorted(pairs)


def best_counts(pairs, query, total_positives):
    """Return the best counts for one query of the reference's form, or None where no boundary is feasible."""
    kind = query["type"]
    if "sigma" in query:
        a, b = query["sigma"]
        pairs = [(t, n) for t, n in pairs if t * b >= a * n]
    if "C" in query:
        pairs = [(t, n) for t, n in pairs if n <= query["C"]]
    if "R" in query:
        pairs = [(t, n) for t, n in pairs if t >= query["R"] and n > 0]
    if not pairs:
        return None
    keys = {
        "max_recall": lambda t, n: (t, -n),
        "capacity": lambda t, n: (t, -n),
        "max_recall_capacity": lambda t, n: (t, -n),
        "max_precision": lambda t, n: (Fraction(t, n), t),
        "min_fp": lambda t, n: (t - n, t),
        "fbeta": lambda t, n: f_beta(t, n, Fraction(*query["beta2"]), total_positives) if kind == "fbeta" else 0,
        "utility": lambda t, n: query["gain"] * t - query["cost"] * (n - t) if kind == "utility" else 0,
    }
    return max(pairs, key=lambda pair: keys[kind](*pair))


def f_beta(t, n, beta2, total_positives):
    base = n + beta2 * total_positives
    return (1 + beta2) * t / base if base else Fraction(0)
