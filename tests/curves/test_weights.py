"""Weight k equals k repeated rows, and order changes nothing, for every curve."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import samples

from stakes import curves

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

CURVES = {
    "regret": curves.regret_curve,
    "regret, optimal": lambda y, s, **w: curves.regret_curve(y, s, rule="optimal", **w),
    "net benefit": curves.net_benefit_curve,
    "standardized net benefit": lambda y, s, **w: curves.net_benefit_curve(y, s, standardized=True, harm=0.01, **w),
    "interventions avoided": curves.interventions_avoided_curve,
    "cost": curves.cost_curve,
    "cost, score": lambda y, s, **w: curves.cost_curve(y, s, rule="score", **w),
    "brier": curves.brier_curve,
    "brier, quadratic": lambda y, s, **w: curves.brier_curve(y, s, axis="quadratic", **w),
    "roc": curves.roc_curve,
    "precision-recall": curves.precision_recall_curve,
    "lift": curves.lift_curve,
    "gains": lambda y, s, **w: curves.lift_curve(y, s, **w).gains,
    "reliability": curves.reliability_curve,
}


def check_same(first, second):
    np.testing.assert_allclose(first.knots, second.knots, atol=1e-12)
    low, high = float(first.knots[0]), float(first.knots[-1])
    ends = low + (high - low) * np.array([0.03, 0.31, 0.77, 0.98])
    areas = [[curve.integral(a, b) for a, b in pairwise(ends)] for curve in (first, second)]
    np.testing.assert_allclose(*areas, rtol=1e-9, atol=1e-11)


def one_in_two(first):
    """Every second curve; the others with the long tests."""
    marks = [(), pytest.mark.thorough]
    return [pytest.param(kind, marks=marks[(place + first) % 2]) for place, kind in enumerate(CURVES)]


@pytest.mark.parametrize("kind", one_in_two(first=0))
@given(sample=samples(weight=st.integers(0, 3)))
def test_weight_k_equals_k_repeated_rows(kind, sample):
    w = [1] * len(sample.y) if sample.weight is None else sample.weight
    weighted = CURVES[kind](sample.y, sample.score, sample_weight=w)
    check_same(weighted, CURVES[kind](np.repeat(sample.y, w), np.repeat(sample.score, w)))


@pytest.mark.parametrize("kind", one_in_two(first=1))
@given(sample=samples(), seed=st.integers(0, 5))
def test_order_of_rows_changes_nothing(kind, sample, seed):
    order = np.random.default_rng(seed).permutation(len(sample.y))
    weight = None if sample.weight is None else np.asarray(sample.weight)[order]
    plain = CURVES[kind](sample.y, sample.score, sample_weight=sample.weight)
    shuffled = CURVES[kind](np.asarray(sample.y)[order], np.asarray(sample.score)[order], sample_weight=weight)
    check_same(plain, shuffled)
