"""Curves closed on the left, vertical steps, and the axis of inverse odds."""

from itertools import pairwise

import numpy as np
import pytest

from stakes.curves import Curve, _curve, interventions_avoided_curve, lift_curve, net_benefit_curve
from stakes.curves._curve import straight, through


def steps(closed):
    knots = np.array([0.0, 0.5, 1.0])
    return Curve("steps", knots, np.array([1.0, 2.0]), np.zeros(2), 9.0, closed=closed)


def test_knot_belongs_to_the_piece_on_the_closed_side():
    assert steps("right").at([0.0, 0.5, 1.0]).tolist() == [9.0, 1.0, 2.0]
    assert steps("left").at([0.0, 0.5, 1.0]).tolist() == [1.0, 2.0, 9.0]


@pytest.mark.parametrize("closed", ["left", "right"])
def test_limits_do_not_depend_on_the_closed_side(closed):
    curve = steps(closed)
    assert float(curve.at(0.5, side="left")) == 1.0
    assert float(curve.at(0.5, side="right")) == 2.0
    assert curve.integral() == 1.5


def test_frame_holds_both_sides_of_every_knot():
    pytest.importorskip("polars")
    right, left = (steps(closed).frame("polars") for closed in ("right", "left"))
    assert right["left"].to_list() == [9.0, 1.0, 2.0]
    assert right["right"].to_list()[:2] == [1.0, 2.0]
    assert np.isnan(right["right"][2])
    assert left["left"].to_list()[1:] == [1.0, 2.0]
    assert np.isnan(left["left"][0])
    assert left["right"].to_list() == [1.0, 2.0, 9.0]


@pytest.mark.parametrize("closed", ["left", "right"])
def test_vertical_step_has_both_ends_and_no_area(closed):
    line = through(np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.5, 1.0, 1.0]))
    curve = Curve("path", start=0.0 if closed == "right" else 1.0, closed=closed, **line)
    assert float(curve.at(0.5, side="left")) == 0.5
    assert float(curve.at(0.5, side="right")) == 1.0
    assert curve.integral() == 0.125 + 0.5
    assert curve.integral(0.5, 0.5) == 0.0
    x, y, error = curve.thinned()
    assert (x.tolist(), y.tolist()) == ([0, 0, 0.5, 0.5, 1, 1], [0, 0, 0.5, 1, 1, 1])
    assert error == 0.0


@pytest.mark.parametrize("ends", [(0, 1200), (200, 1000)])
@pytest.mark.parametrize("most", [2, 7, 100, 800, 801, 1200, 1201])
def test_thinned_picture_keeps_points_even_by_value_and_by_rank_and_the_largest_jumps(most, ends):
    rng = np.random.default_rng(3)
    knots, levels, slope = (np.arange(1201) / 1200.0) ** 2.5, rng.normal(size=1200), rng.normal(size=1200)
    curve = Curve("steps", knots, levels, slope, start=levels[0])
    some = slice(ends[0], ends[1] + 1)
    left = np.append(levels[0], levels + slope * knots[1:])[some]
    right = np.append(levels + slope * knots[:-1], 0.0)[some]
    right[-1], knots = left[-1], knots[some]
    x, y, error = curve.thinned(most, low=knots[0], high=knots[-1])
    last, parts = len(knots) - 1, max(most // 4, 2) - 1
    kept = {*np.argsort(-np.abs(right - left))[: most // 2], *(last * j // parts for j in range(parts + 1))}
    for value in np.linspace(knots[0], knots[-1], parts + 1):
        kept.add(np.flatnonzero(knots >= value)[0])
    kept = sorted(kept if most <= last else range(last + 1))
    assert x.tolist() == np.repeat(knots[kept], 2).tolist()
    assert y == pytest.approx(np.column_stack([left[kept], right[kept]]).ravel(), rel=1e-12)
    gaps = [0.0]
    for a, b in pairwise(kept):
        line = np.interp(knots[a + 1 : b], knots[[a, b]], [right[a], left[b]])
        gaps += [*np.abs(left[a + 1 : b] - line), *np.abs(right[a + 1 : b] - line)]
    assert error == pytest.approx(max(gaps), rel=1e-9)


def test_part_of_a_picture_has_its_ends_in_order_within_the_domain():
    curve = net_benefit_curve([0, 1, 1], [0.2, 0.4, 0.7])
    with pytest.raises(ValueError, match=r"low, high must be in order within \[0, 1\], got \(0\.6, 0\.2\)"):
        curve.thinned(low=0.6, high=0.2)
    with pytest.raises(ValueError, match=r"low, high must be in order within \[0, 1\], got \(1\.5, None\)"):
        curve.thinned(low=1.5)
    x, y, error = curve.thinned(low=0.4, high=0.4)
    assert (x.tolist(), error) == ([0.4, 0.4], 0.0)
    assert y[1] == curve.at(0.4)


@pytest.mark.parametrize("curve", [net_benefit_curve, lift_curve])
@pytest.mark.parametrize("wrong", ["0.2", True, [0.2]])
def test_bounds_of_an_area_are_numbers(curve, wrong):
    found = curve([0, 1, 1], [0.2, 0.4, 0.7])
    for place, name in enumerate(("low", "high")):
        bounds = [0.1, 0.3]
        bounds[place] = wrong
        with pytest.raises(ValueError, match=f"^{name} must be a number, got "):
            found.integral(*bounds)
    assert found.integral(0.3, 0.3) == 0.0


def test_straight_line_keeps_its_ends():
    line = straight("line", "name", "x", (0.2, 0.6), (0.0, 0.5))
    assert line.at([0.0, 0.25, 0.5]).tolist() == [0.2, 0.4, 0.6]


def test_inverse_odds_have_an_exact_area():
    curve = Curve("falling", np.array([0.0, 1.0]), np.array([3.0]), np.array([-1.0]), np.nan, "inverse odds")
    assert float(curve.at(0.25)) == 0.0
    assert curve.integral(0.2, 0.5) == pytest.approx(3 * 0.3 - (np.log(0.5 / 0.2) - 0.3), abs=1e-15)
    assert curve.integral() == -np.inf


def test_combination_becomes_an_array_of_its_own_and_cannot_be_shared():
    found = _curve.Combination(np.array([1.0, 2.0]), np.array([3.0, 5.0]), 2.0, -1.0, 0.5)
    assert np.asarray(found.__array__(copy=True)).tolist() == [-0.5, -0.5]
    with pytest.raises(ValueError, match="cannot be shared"):
        found.__array__(copy=False)


@pytest.mark.parametrize(
    "scores",
    [[0.1, 0.6, 0.7, 0.9], [0.0, 0.2, 0.999, 1.0], [0.001, 0.2, 0.3, 0.3], [0, 0, 1, 1], [0.0, 0.0, 0.999, 0.999]],
)
def test_curves_without_a_value_at_an_end_are_drawn_to_all_of_their_knots(scores):
    for curve in (f([0, 1, 0, 1], scores) for f in (net_benefit_curve, interventions_avoided_curve)):
        for each in (curve, *curve.references.values()):
            x, y, error = each.thinned()
            assert error == 0.0
            assert np.isfinite(y).all()
            assert set(each.knots[(each.knots > 0.0) & (each.knots < 1.0)]) <= set(x.tolist())
            assert x[-1] >= 0.99
            assert x[0] == 0.0 or (0.0 < x[0] <= 0.01 and each.basis == "inverse odds")
            assert y[::2][1:] == pytest.approx(each.at(x[::2][1:], side="left"))
        late, _, _ = curve.thinned(low=0.9995)
        assert late[0] == 0.9995 < late[-1] < 1.0
