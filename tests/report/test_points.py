"""What is drawn is the curve, to within the bound that the page states."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import costs, net_benefit_curve, regret_curve, reliability_curve
from stakes.report import _points
from stakes.report._points import drawn, encoded, reach, sampled
from stakes.report._windows import Window, stretches

CURVES = {"regret": regret_curve, "net benefit": net_benefit_curve, "reliability": reliability_curve}


def windows_of(curve, *, low=0.05, high=0.2, last=1.0):
    bottom, top = reach([sampled(curve, [0.0, last])], 0.0, last)
    return [
        Window("plausible", low, high, bottom, bottom + 0.3 * (top - bottom) + 1e-6),
        Window("whole", 0.0, last, bottom, top + 1e-6),
    ]


def distance(curve, points, window):
    """Largest vertical distance between the curve and the line through the points, at and beside every knot."""
    low, high = max(window.low, curve.knots[0]), min(window.high, curve.knots[-1])
    inside = (curve.knots > low) & (curve.knots < high)
    at = np.unique(np.concatenate([curve.knots[inside], np.linspace(low, high, 997)[1:-1]]))
    floor = window.bottom
    worst = 0.0
    steps = [(a, b) for a, b in pairwise(range(len(points.x))) if points.x[b] > points.x[a]]
    starts = np.array([points.x[a] for a, _ in steps])
    piece_right = np.searchsorted(starts, at, side="right") - 1
    piece_left = np.searchsorted(starts, at, side="left") - 1
    for pieces, side in ((piece_left, "left"), (piece_right, "right")):
        a, b = np.array(steps)[pieces].T
        share = (at - points.x[a]) / (points.x[b] - points.x[a])
        line = points.y[a] + share * (points.y[b] - points.y[a])
        exact = np.maximum(curve.at(at, side=side), floor)
        worst = max(worst, float(np.max(np.abs(np.maximum(line, floor) - exact))))
    return worst


@pytest.mark.parametrize("kind", CURVES)
@pytest.mark.parametrize("n", [2, 50, 20_000])
@pytest.mark.parametrize("budget", [40, 100_000])
def test_drawn_line_stays_within_the_stated_error(kind, n, budget):
    rng = np.random.default_rng(n)
    scores = rng.beta(1, 6, size=n)
    y = rng.random(n) < scores
    y[:2] = [True, False]
    curve = CURVES[kind](y, scores)
    last = 0.99 if kind == "net benefit" else 1.0
    windows = windows_of(curve, last=last)
    line = sampled(curve, [0.0, 0.05, 0.2, last])
    (points,) = drawn([line], windows, budget)
    assert len(points.x) <= budget
    for window in windows:
        assert distance(curve, points, window) <= points.errors[window.key] * (1 + 1e-9) + 1e-12


def test_bend_of_a_long_piece_is_in_the_stated_error(monkeypatch):
    monkeypatch.setattr(_points, "_BENDS", 4)
    curve = net_benefit_curve([1, 0, 0, 0], [0.9, 0.95, 0.95, 0.95])
    windows = windows_of(curve, last=0.85)
    (points,) = drawn([sampled(curve, [0.0, 0.05, 0.2, 0.85])], windows, 10_000)
    assert points.errors["whole"] > 0.01
    for window in windows:
        assert distance(curve, points, window) <= points.errors[window.key] * (1 + 1e-9)


def test_with_points_enough_the_error_cannot_be_seen():
    rng = np.random.default_rng(1)
    scores = rng.random(20_000)
    curve = regret_curve(rng.random(20_000) < scores, scores)
    windows = windows_of(curve)
    (points,) = drawn([sampled(curve, [0.0, 0.05, 0.2, 1.0])], windows, 100_000)
    for window in windows:
        assert points.errors[window.key] < window.height / 500


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.05, 0.1, 0.1001, 0.2, 0.5, 1.0])), min_size=1),
    st.sampled_from(list(CURVES)),
)
def test_every_small_curve_is_drawn(rows, kind):
    curve = CURVES[kind]([y for y, _ in rows], [score for _, score in rows], pos_label=True)
    last = 0.99 if kind == "net benefit" else 1.0
    (points,) = drawn([sampled(curve, [0.0, 0.05, 0.2, last])], windows_of(curve, last=last), 10_000)
    assert np.all(np.isfinite(points.x))
    assert np.all(np.isfinite(points.y))
    assert np.all(np.diff(points.x) >= 0.0)


def test_encoded_numbers_are_single_precision():
    assert encoded(np.array([0.5, 1.0])) == {"dtype": "f4", "bdata": "AAAAPwAAgD8="}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (costs.Uniform(0.02, 0.10), (0.0, 0.14)),
        (costs.Fixed(0.2), (0.1, 0.3)),
        (costs.Fixed(0.9), (0.85, 0.95)),
        (costs.Fixed(0.0), (0.0, 0.05)),
        (costs.Uniform(0.9, 1.0), (0.85, 1.0)),
    ],
)
def test_narrow_range_is_shown_from_near_by(measure, expected):
    assert stretches(measure)["plausible"] == pytest.approx(expected)
    assert next(iter(stretches(measure))) == "plausible"


def test_wide_range_is_shown_as_a_whole():
    assert stretches(costs.Uniform(0.1, 0.9)) == {"whole": (0.0, 1.0)}
