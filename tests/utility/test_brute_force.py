"""Fresh random batches against the sum over all vectors of labels, and over all vectors of decisions."""

from __future__ import annotations

import numpy as np
import pytest
from utility_brute import DEFINITIONS, LOSSES, best_of_all_decisions, count_laws, curve, linear
from utility_cases import MEASURES, TINY

from stakes.utility import FractionalLinear, expected_utility

CASES = 500
FOLDS = 10


def random_batch(rng, most):
    """Rows with ties, zeros, ones and tiny numbers among them."""
    n = int(rng.integers(1, most + 1))
    p = rng.random(n) ** rng.choice([0.2, 1.0, 4.0])
    kind = rng.integers(4)
    if kind == 1:
        p = p.round(1)
    elif kind == 2:
        p[rng.random(n) < 0.5] = rng.choice(TINY)
    elif kind == 3:
        p[:] = rng.choice(p, n)
    return p


@pytest.mark.parametrize(
    "fold", [pytest.param(fold, marks=() if fold % 5 == 0 else pytest.mark.thorough) for fold in range(FOLDS)]
)
def test_curves_agree_with_the_sum_over_all_labels(fold):
    rng = np.random.default_rng([17, fold])
    for _ in range(CASES // FOLDS):
        p = random_batch(rng, 12)
        laws = count_laws(p)
        for name, measure in MEASURES.items():
            fill = int(rng.integers(2))
            result = expected_utility(p, measure, zero_division=fill)
            error = np.max(np.abs(result.curve - curve(p, DEFINITIONS[name], fill, laws)))
            assert error < 5e-14, (name, p)
            assert error <= result.error_bound + 5e-16, (name, p)


@pytest.mark.parametrize("name", MEASURES)
def test_best_rows_are_best_among_all_decisions(name):
    rng = np.random.default_rng(8)
    sign = -1 if name in LOSSES else 1
    for n in (1, 2, 3, 5, 7, 8):
        p = rng.random(n).round(2)
        for fill in (0, 1):
            result = expected_utility(p, MEASURES[name], zero_division=fill)
            assert abs(result.utility - best_of_all_decisions(p, DEFINITIONS[name], fill, sign)) < 1e-13


RATIOS = {
    "with true negatives": ((1, 2, -1), (1, 0, 1, 1)),
    "counter-example": ((4, 4, 4), (2, 3, 3, 2)),
    "falls with TP": ((1, 0, 0), (1, 1, 0, 0)),
    "positives above": ((1, 1, -0.5, 0.25), (2, 0.5, 0.25, 1)),
    "smaller with more positives": ((0, 1, 1), (2, 0, 0.5, -1)),
    "smaller with more acted on": ((0, 1, 0), (2, 0, -1, 0.5)),
    "0/0 without positives": ((0, 2, -1), (0, 0, 0, 2)),
    "least where one acted on is negative": ((3, 2, -1, 2), (1, 2, 0, -1)),
    "least where one acted on is the only positive": ((1, 0, 2, 1), (0, -2, 2, 1)),
    "like F1": ((0, 2, 0), (0, 0, 1, 1)),
}


@pytest.mark.parametrize("name", RATIOS)
def test_any_ratio_of_linear_functions_agrees_with_the_sum_over_all_labels(name):
    rng = np.random.default_rng(3)
    c, d = RATIOS[name]
    measure = FractionalLinear(c, d)
    definition = linear(measure.c, d)
    for _ in range(12):
        p = random_batch(rng, 9)
        order = 1 if measure.ranking().descending else -1
        expected = curve(p, definition, 1) if order == 1 else ascending_curve(p, definition, 1)
        for method in ("auto", "exact", *(["algorithm2"] if integral(d) else [])):
            result = expected_utility(p, measure, zero_division=1, method=method)
            assert np.max(np.abs(result.curve - expected)) < 1e-13, (p, method)
            assert np.max(np.abs(result.curve - expected)) <= result.error_bound + 5e-16


def integral(d):
    return all(x == round(x) for x in d) and d[3] >= 0


def ascending_curve(p, definition, fill):
    """Expected value of acting on the k least probable rows: swap the classes of decisions, and of counts."""

    def swapped(tp, fp, fn, tn, zd):
        return definition(fn, tn, tp, fp, zd)

    return curve(p, swapped, fill)[::-1]
