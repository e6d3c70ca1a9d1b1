"""Gains and lift: the expected share of positives found when a share of the cases is selected, best scores first."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from sklearn.exceptions import UndefinedMetricWarning
from strategies import samples

from stakes.curves import lift_curve
from stakes.metrics import roc_auc_score


def weights_of(sample):
    return np.ones(len(sample.y)) if sample.weight is None else np.asarray(sample.weight, dtype=float)


def has_positives(sample):
    return bool(weights_of(sample)[np.asarray(sample.y) == 1].sum() > 0)


with_positives = samples().filter(has_positives)
ends = st.one_of(st.just(0.0), st.floats(1e-4, 1.0))  # closer to 0, quadrature sees nothing


def curve_of(sample):
    return lift_curve(sample.y, sample.score, sample_weight=sample.weight)


def found(sample, share):
    """Positives found within a budget, level by level, the last level in part."""
    y, s, w = np.asarray(sample.y), np.asarray(sample.score) + 0.0, weights_of(sample)
    budget, hits = share * w.sum(), 0.0
    for t in sorted(set(s[w > 0].tolist()), reverse=True):
        level = w[s == t].sum()
        taken = min(budget, level)
        hits += w[(s == t) & (y == 1)].sum() * taken / level
        budget -= taken
    return hits / w[y == 1].sum()


@given(with_positives, st.floats(0.0, 1.0))
def test_gains_are_what_a_budget_finds(sample, share):
    assert float(curve_of(sample).gains.at(share)) == pytest.approx(found(sample, share), abs=1e-9)


@given(with_positives, st.floats(1e-6, 1.0))
def test_lift_is_the_gain_over_the_share_selected(sample, share):
    assert float(curve_of(sample).at(share)) == pytest.approx(found(sample, share) / share, rel=1e-6)


@given(with_positives)
def test_area_under_the_gains_is_affine_in_auc(sample):
    # errata E17: half the prevalence and the rest times AUC
    y, w = np.asarray(sample.y), weights_of(sample)
    rate = w[y == 1].sum() / w.sum()
    auc = roc_auc_score(y, sample.score, sample_weight=sample.weight) if rate < 1.0 else 0.0
    assert curve_of(sample).gains.integral() == pytest.approx(rate / 2 + (1 - rate) * auc, abs=1e-12)


@given(with_positives, ends, ends)
def test_area_under_the_lift_agrees_with_quadrature(sample, a, b):
    low, high = sorted((a, b))
    curve = curve_of(sample)
    edges = np.unique(np.clip([low, *curve.knots, high], low, high))
    pieces = [quad(lambda q: float(curve.at(q)), u, v)[0] for u, v in pairwise(edges)]
    assert curve.integral(low, high) == pytest.approx(sum(pieces), abs=1e-6)


def test_lift_starts_at_the_rate_of_the_highest_score():
    curve = lift_curve([0, 1, 0, 0, 1], [0.1, 0.8, 0.8, 0.2, 0.3])
    assert np.isnan(curve.at(0.0))
    assert float(curve.at(0.0, side="right")) == 0.5 / 0.4
    assert float(curve.at(1.0)) == 1.0


def test_perfect_and_chance_frame_the_gains():
    gains = lift_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).gains
    assert gains.references["perfect"].at([0.25, 0.5, 0.8]).tolist() == [0.5, 1.0, 1.0]
    assert gains.references["chance"].at([0.25, 0.5, 0.8]).tolist() == [0.25, 0.5, 0.8]


def test_prevalence_moves_the_shares():
    curve = lift_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], prevalence=0.1)
    assert float(curve.at(0.05)) == pytest.approx(10.0)
    assert float(curve.gains.at(0.05 + 0.45)) == pytest.approx(0.5)


def test_without_positives_it_is_undefined_with_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="lift_curve is undefined: there are no positives"):
        curve = lift_curve([0, 0], [0.1, 0.5])
    assert np.isnan(curve.at(0.5))
    assert np.isnan(curve.gains.integral())


def test_frame_holds_every_threshold():
    pytest.importorskip("polars")
    frame = lift_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).frame("polars")
    assert frame.columns == ["threshold", "share_selected", "gain", "lift"]
    assert frame.row(2) == (0.4, 0.5, 0.5, 1.0)


def test_perfect_gains_among_positives_alone_are_those_of_chance():
    curve = lift_curve([1, 1, 1], [0.1, 0.5, 0.7])
    assert curve.gains.references["perfect"].at([0.25, 0.5, 1.0]).tolist() == [0.25, 0.5, 1.0]


def test_integral_of_a_lift_curve_longer_than_a_block_is_that_of_each_piece():
    rng = np.random.default_rng(0)
    p = rng.random(40_000)
    y = rng.random(40_000) < p
    share, captured = np.arange(40_001) / 40_000, np.append(0.0, np.cumsum(y[np.argsort(-p)]) / y.sum())
    slope = np.diff(captured) * 40_000
    intercept = captured[:-1] - slope * share[:-1]  # of the first piece 0
    pieces = slope / 40_000
    pieces[1:] += intercept[1:] * np.log(share[2:] / share[1:-1])
    assert lift_curve(y, p).integral(0.0, 1.0) == pytest.approx(pieces.sum(), rel=1e-12)
