# ruff: noqa: ARG001, ARG005  (every definition takes all four counts and what 0/0 is)
"""Slow oracles that only use definitions: every vector of labels, in exact fractions or in long doubles.

Nothing here imports the package. A measure is a function of whole counts (tp, fp, fn, tn) and of what 0/0 is.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np


def over(above, below, fill):
    """Exact quotient, or the fill for 0/0."""
    return Fraction(above) / Fraction(below) if below else Fraction(fill)


def root(value):
    """Square root in long double; exact fractions end here."""
    return np.sqrt(np.longdouble(value.numerator) / np.longdouble(value.denominator))


def fbeta(beta):
    square = Fraction(beta) ** 2
    return lambda tp, fp, fn, tn, zd: over((1 + square) * tp, (1 + square) * tp + square * fn + fp, zd)


def rates(tp, fp, fn, tn, zd):
    return over(tp, tp + fn, zd), over(tn, tn + fp, zd)


def g_tp_pr(tp, fp, fn, tn, zd):
    if tp + fp == 0 and tp + fn == 0:
        return np.longdouble(zd)
    return root(over(tp, tp + fp, 0) * over(tp, tp + fn, 0))


def h_mean(tp, fp, fn, tn, zd):
    up, down = rates(tp, fp, fn, tn, zd)
    return 2 / (1 / up + 1 / down) if up and down else Fraction(0)


def q_mean(tp, fp, fn, tn, zd):
    up, down = rates(tp, fp, fn, tn, zd)
    return 1 - ((1 - up) ** 2 + (1 - down) ** 2) / 2


def g_mean(tp, fp, fn, tn, zd):
    up, down = rates(tp, fp, fn, tn, zd)
    return root(up * down)


def balanced_accuracy(tp, fp, fn, tn, zd):
    return sum(rates(tp, fp, fn, tn, zd)) / 2


def balanced_accuracy_of_present(tp, fp, fn, tn, zd):
    present = [over(a, a + b, 0) for a, b in ((tp, fn), (tn, fp)) if a + b]
    return sum(present) / len(present)


def mcc(tp, fp, fn, tn, zd):
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return np.longdouble(tp * tn - fp * fn) / np.sqrt(np.longdouble(product)) if product else np.longdouble(0)


def kappa(tp, fp, fn, tn, zd):
    n = tp + fp + fn + tn
    agreement = Fraction(tp + tn, n)
    chance = Fraction((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn), n * n)
    return (agreement - chance) / (1 - chance) if chance != 1 else Fraction(0)


DEFINITIONS = {
    "f1": fbeta(1),
    "f2": fbeta(2),
    "f0.5": fbeta(Fraction(1, 2)),
    "jaccard": lambda tp, fp, fn, tn, zd: over(tp, tp + fp + fn, zd),
    "precision": lambda tp, fp, fn, tn, zd: over(tp, tp + fp, zd),
    "recall": lambda tp, fp, fn, tn, zd: over(tp, tp + fn, zd),
    "g_tp_pr": g_tp_pr,
    "am": balanced_accuracy,
    "am_present": balanced_accuracy_of_present,
    "g_mean": g_mean,
    "h_mean": h_mean,
    "q_mean": q_mean,
    "mcc": mcc,
    "accuracy": lambda tp, fp, fn, tn, zd: Fraction(tp + tn, tp + fp + fn + tn),
    "kappa": kappa,
    "sec": lambda tp, fp, fn, tn, zd: Fraction(fn - fp, tp + fp + fn + tn) ** 2,
}
RATIONAL = tuple(name for name in DEFINITIONS if name not in {"g_tp_pr", "g_mean", "mcc"})
LOSSES = {"sec"}


def linear(c, d):
    """A ratio of linear functions by its definition in u = TP/n, v = k/n, p = P/n."""

    def value(tp, fp, fn, tn, zd):
        n = tp + fp + fn + tn
        shares = (1, Fraction(tp, n), Fraction(tp + fp, n), Fraction(tp + fn, n))
        above, below = (sum(Fraction(x) * share for x, share in zip(f, shares, strict=True)) for f in (c, d))
        return over(above, below, zd)

    return value


@cache
def tables(definition, n, k, zd):
    """Values at every (tp, fn) with k acted on, in long double."""
    out = np.empty((k + 1, n - k + 1), np.longdouble)
    for tp, fn in itertools.product(range(k + 1), range(n - k + 1)):
        value = definition(tp, k - tp, fn, n - k - fn, zd)
        out[tp, fn] = (
            np.longdouble(value.numerator) / np.longdouble(value.denominator) if isinstance(value, Fraction) else value
        )
    return out


def label_vectors(n):
    return np.array(list(itertools.product((0, 1), repeat=n)), dtype=np.int8).reshape(2**n, n)


def label_probabilities(p):
    p = np.asarray(p, np.longdouble)
    labels = label_vectors(len(p))
    return labels, np.prod(np.where(labels == 1, p, 1 - p), axis=1, dtype=np.longdouble)


def count_laws(p):
    """Law of (TP, FN) for every k, the most probable rows first, summed over all 2^n vectors of labels."""
    ordered = np.sort(np.asarray(p, float))[::-1]
    labels, chance = label_probabilities(ordered)
    n = len(ordered)
    laws = []
    for k in range(n + 1):
        law = np.zeros((k + 1, n - k + 1), np.longdouble)
        np.add.at(law, (labels[:, :k].sum(axis=1), labels[:, k:].sum(axis=1)), chance)
        laws.append(law)
    return laws


def curve(p, definition, zd, laws=None):
    """Expected value of acting on the k most probable rows, k = 0..n."""
    laws = count_laws(p) if laws is None else laws
    return np.array([(law * tables(definition, len(laws) - 1, k, zd)).sum() for k, law in enumerate(laws)])


def best_of_all_decisions(p, definition, zd, sign=1):
    """Best expected value over all 2^n vectors of decisions."""
    labels, chance = label_probabilities(np.sort(np.asarray(p, float))[::-1])
    n = labels.shape[1]
    best = -np.inf
    for decision in label_vectors(n):
        tp = labels @ decision.astype(int)
        fn = labels.sum(axis=1) - tp
        best = max(best, sign * (chance * tables(definition, n, int(decision.sum()), zd)[tp, fn]).sum())
    return sign * best


def exact_curve(p, definition, zd):
    """The curve in exact fractions, for measures with rational values."""
    ordered = sorted(map(Fraction, p), reverse=True)
    n = len(ordered)
    out = []
    for k in range(n + 1):
        first, rest = _law(ordered[:k]), _law(ordered[k:])
        out.append(
            sum(
                first[tp] * rest[fn] * definition(tp, k - tp, fn, n - k - fn, zd)
                for tp, fn in itertools.product(range(k + 1), range(n - k + 1))
                if first[tp] and rest[fn]
            )
        )
    return out


def _law(p):
    law = [Fraction(1)]
    for chance in p:
        law = [(1 - chance) * a + chance * b for a, b in zip([*law, Fraction(0)], [Fraction(0), *law], strict=True)]
    return law
