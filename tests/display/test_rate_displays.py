"""ROC, precision-recall, lift, gains, smooth calibration, cost and Brier curves; every kind of curve can be drawn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve as sklearn_roc_curve

from stakes import curves, net_benefit_curve, regret_curve
from stakes.display import (
    CostCurveDisplay,
    GainsDisplay,
    InterventionsAvoidedDisplay,
    LiftCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    SmoothCalibrationDisplay,
    StandardizedDecisionCurveDisplay,
    _axes,
)

RANK = [RocCurveDisplay, PrecisionRecallDisplay, LiftCurveDisplay, GainsDisplay, SmoothCalibrationDisplay]


def points(line):
    return {tuple(point) for point in np.round(np.asarray(line.get_xydata(), dtype=float), 9)}


def every_curve(y, p):
    options = {"name": "sharp"}
    yield regret_curve(y, p, **options)
    yield net_benefit_curve(y, p, **options)
    yield net_benefit_curve(y, p, standardized=True, **options)
    yield curves.interventions_avoided_curve(y, p, **options)
    yield curves.cost_curve(y, p, **options)
    for axis in ("linear", "log-odds", "quadratic", "log"):
        yield curves.brier_curve(y, p, axis=axis, **options)
    yield curves.roc_curve(y, p, **options)
    yield curves.precision_recall_curve(y, p, **options)
    lift = curves.lift_curve(y, p, **options)
    yield lift
    yield lift.gains
    yield curves.reliability_curve(y, p, **options)
    yield curves.smooth_calibration_curve(y, p, **options)


def test_every_curve_is_drawn_into_the_axes_given_and_passes_through_its_knots(rows, plt):
    y, models = rows
    for curve in every_curve(y, models["sharp"]):
        figure, ax = plt.subplots()
        shown = curve.plot(ax, legend=None)
        assert (shown.ax_, shown.figure_, len(shown.lines_)) == (ax, figure, 1), curve
        assert ax.get_xlabel(), curve
        assert ax.get_ylabel(), curve
        inner = curve.knots[(curve.knots > 0.01) & (curve.knots < 0.99)]
        drawn = points(shown.lines_[0])
        assert len(inner), curve
        for side in ("left", "right"):
            expected = np.column_stack([inner, curve.at(inner, side=side)])
            last = curve.knots[-1]
            assert {tuple(point) for point in np.round(expected[inner < last], 9)} <= drawn, (curve, side)
        figure.canvas.draw()
    assert len(plt.get_fignums()) == 15


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_one_class_only_is_drawn(label):
    for curve in every_curve(np.full(5, label), np.array([0.1, 0.3, 0.3, 0.8, 0.9])):
        figure = curve.plot().figure_
        figure.set_layout_engine("none")  # it has its layout
        figure.canvas.draw()


@pytest.mark.parametrize("display", RANK)
def test_ten_models_and_a_constant_one_are_drawn_in_colours_or_styles_of_their_own(ten, display):
    y, models = ten
    shown = display.from_predictions(y, models | {"constant": np.full(len(y), 0.2)})
    assert len({(line.get_color(), line.get_linestyle()) for line in shown.lines_}) == 11
    shown.figure_.canvas.draw()


def test_roc_line_is_that_of_scikit_learn_and_its_label_says_the_auc(rows):
    y, models = rows
    shown = RocCurveDisplay.from_predictions(y, models)
    for (name, scores), line in zip(models.items(), shown.lines_, strict=True):
        x, height = np.round(np.asarray(line.get_data()), 9)
        corners = np.round(np.column_stack(sklearn_roc_curve(y, scores)[:2]), 9)
        assert {tuple(point) for point in corners} <= points(line)
        for alarms, hits in np.round(np.column_stack(sklearn_roc_curve(y, scores, drop_intermediate=False)[:2]), 9):
            assert height[x == alarms].min() <= hits <= height[x == alarms].max()
        assert line.get_label() == f"{name} (AUC {roc_auc_score(y, scores):.3f})"


def test_roc_is_square_with_equal_scales_and_a_hull_for_each_model(rows):
    y, models = rows
    shown = RocCurveDisplay.from_predictions(y, models)
    shown.figure_.canvas.draw()
    box = shown.ax_.get_window_extent()
    assert box.width == pytest.approx(box.height, rel=1e-6)
    for hull, line in zip(shown.hull_lines_, shown.lines_, strict=True):
        x, height = np.asarray(hull.get_data())
        assert hull.get_color() == line.get_color()
        slopes = np.diff(height) / np.maximum(np.diff(x), 1e-300)
        assert np.all(np.diff(slopes[np.diff(x) > 1e-12]) <= 1e-9)
        assert np.all(np.interp(line.get_xdata(), x, height) >= np.asarray(line.get_ydata()) - 1e-12)


def test_only_a_curve_of_one_point_has_a_marker():
    y = [0, 0, 1, 1]
    step = RocCurveDisplay.from_predictions(y, [0.1, 0.4, 0.35, 0.8])  # its line begins upright
    point = SmoothCalibrationDisplay.from_predictions(y, np.full(4, 0.5))
    assert [shown.lines_[0].get_marker() for shown in (step, point)] == ["None", "o"]


def test_unnamed_model_is_called_by_its_auc():
    shown = RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    assert shown.lines_[0].get_label() == "AUC 0.750"


@pytest.mark.parametrize("display", [*RANK, CostCurveDisplay, StandardizedDecisionCurveDisplay])
def test_estimators_are_drawn_as_their_predictions(rows, display):
    y, models = rows
    X = models["sharp"][:, None]
    fitted = LogisticRegression().fit(X, y)
    by_hand = display.from_predictions(y, {"a": fitted.predict_proba(X)[:, 1]})
    shown = display.from_estimator({"a": fitted}, X, y)
    assert np.array_equal(shown.lines_[0].get_xydata(), by_hand.lines_[0].get_xydata(), equal_nan=True)


def test_cost_curve_lies_at_the_best_threshold_of_each_cost(rows):
    y, models = rows
    shown = CostCurveDisplay.from_predictions(y, models["coarse"])
    x, height = np.asarray(shown.lines_[0].get_data())
    _, at_zero, at_one = curves.cost_curve(y, models["coarse"]).lines()
    every = at_zero[:, None] * (1.0 - x) + at_one[:, None] * x
    assert height == pytest.approx(every.min(axis=0), abs=1e-12)


@pytest.mark.parametrize("axis", [None, "linear", "quadratic"])
def test_cost_curves_reach_from_one_side_to_the_other(axis):
    y, p = np.repeat([0, 1], [90, 10]), np.linspace(0.0, 0.9, 100)
    curve = curves.cost_curve(y, p) if axis is None else curves.brier_curve(y, p, axis=axis)
    assert CostCurveDisplay(curve).plot().ax_.get_xlim() == (0.0, 1.0)


def test_bounds_of_a_cost_curve_are_shaded_where_they_lie_as_probability_costs(rows):
    y, models = rows
    shown = CostCurveDisplay.from_predictions(y, models, bounds=(0.1, 0.3))
    rate = y.mean()
    expected = [rate * (1 - c) / (rate * (1 - c) + (1 - rate) * c) for c in (0.3, 0.1)]
    extent = shown.bounds_.get_extents().transformed(shown.ax_.transData.inverted())
    assert (extent.x0, extent.x1) == pytest.approx(expected)


@pytest.mark.parametrize("order", [("even", "rare"), ("rare", "even")])
def test_bounds_are_refused_where_they_lie_elsewhere_for_each_cost_curve(order):
    sites = {"even": np.repeat([0, 1], [50, 50]), "rare": np.repeat([0, 1], [90, 10])}
    found = {name: curves.cost_curve(sites[name], np.linspace(0.0, 1.0, 100)) for name in order}
    said = r"bounds=\(0.1, 0.3\) lie at other probability costs for each prevalence, .* 0.1 to 0.5: .* one prevalence="
    with pytest.raises(ValueError, match=said):
        CostCurveDisplay(found).plot(bounds=(0.1, 0.3))
    assert CostCurveDisplay(found).plot().bounds_ is None
    assert CostCurveDisplay(found).plot(bounds=(0.0, 1.0)).bounds_ is None


def test_bounds_of_cost_curves_of_one_prevalence_but_for_rounding_are_shaded():
    y, weight = np.repeat([0, 1], [70, 30]), np.full(100, 0.1)
    found = [curves.cost_curve(y, np.linspace(0.0, 1.0, 100), sample_weight=w) for w in (None, weight)]
    assert found[0].table.prevalence != found[1].table.prevalence
    assert CostCurveDisplay(found).plot(bounds=(0.1, 0.3)).bounds_ is not None


def test_odds_above_a_cost_curve_stand_at_their_probability_costs():
    y = np.repeat([0, 1], [90, 10])
    shown = CostCurveDisplay.from_predictions(y, np.linspace(0.0, 1.0, 100))
    (odds,) = shown.ax_.child_axes
    ticks = {text.get_text(): place for text, place in zip(odds.get_xticklabels(), odds.get_xticks(), strict=True)}
    assert {"1:1", "1:10"} <= set(ticks)
    # at odds of 1 to k the negatives weigh 90 and the positives 10 k
    assert ticks["1:1"] == pytest.approx(10 / 100)
    assert ticks["1:10"] == pytest.approx(100 / 190)


@pytest.mark.parametrize("axis", ["linear", "log-odds", "quadratic", "log"])
def test_brier_axes_have_readable_odds_at_the_thresholds_they_name(rows, axis):
    y, models = rows
    shown = CostCurveDisplay.from_predictions(y, models, axis=axis, bounds=(0.1, 0.3))
    shown.figure_.canvas.draw()
    (odds,) = shown.ax_.child_axes
    names = [text.get_text() for text in odds.get_xticklabels()]
    assert len(names) >= 3
    for name, place in zip(names, odds.get_xticks(), strict=True):
        alarm, miss = map(float, name.split(":"))
        assert place == pytest.approx(alarm / (alarm + miss), rel=2e-3)
    boxes = [text.get_window_extent() for text in odds.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_the_roundest_odds_are_named_first_and_the_most_even_of_these():
    names = [_axes.format_odds(c) for c in _axes._roundest()]
    sides = [tuple(map(float, name.split(":"))) for name in names]
    larger = [max(pair) for pair in sides]
    digit = [float(f"{side:e}".split("e")[0]) for side in larger]
    roundness = [0 if first == 1.0 else 1 if first in {2.0, 5.0} else 2 for first in digit]
    assert (names[0], set(names[1:3]), set(names[3:5])) == ("1:1", {"1:10", "10:1"}, {"1:100", "100:1"})
    assert roundness == sorted(roundness)
    assert set(roundness) == {0, 1, 2}
    for kind in (0, 1, 2):
        uneven = [side for side, of in zip(larger, roundness, strict=True) if of == kind]
        assert uneven == sorted(uneven)
    assert {a / b for a, b in sides} == {b / a for a, b in sides}  # on either side alike


def test_areas_on_a_stretched_axis_look_like_the_scores(rows):
    y, models = rows
    shown = CostCurveDisplay.from_predictions(y, models["sharp"], axis="quadratic")
    x, height = np.asarray(shown.lines_[0].get_data())
    keep = np.isfinite(height)
    stretched = -0.5 * (1.0 - x[keep]) ** 2
    area = np.sum(np.diff(stretched) * 0.5 * (height[keep][1:] + height[keep][:-1]))
    assert 2.0 * area == pytest.approx(np.mean((y - models["sharp"]) ** 2), rel=2e-3)


def test_curves_of_other_kinds_or_several_axes_are_refused(rows):
    y, models = rows
    with pytest.raises(ValueError, match="curves must be cost curves or Brier curves"):
        CostCurveDisplay(regret_curve(y, models["sharp"]))
    with pytest.raises(ValueError, match="curves must share one axis"):
        CostCurveDisplay([curves.brier_curve(y, models["sharp"], axis=axis) for axis in ("linear", "log-odds")])
    with pytest.raises(ValueError, match="at least one curve"):
        CostCurveDisplay([])
    with pytest.raises(ValueError, match="curves must be true positive rate curves"):
        RocCurveDisplay(regret_curve(y, models["sharp"]))
    with pytest.raises(ValueError, match="axis must be one of"):
        CostCurveDisplay.from_predictions(y, models, axis="cubic")


def test_interventions_avoided_follow_their_definition(rows):
    y, models = rows
    p = models["coarse"]
    shown = InterventionsAvoidedDisplay.from_predictions(y, p, bounds=(0.1, 0.3))
    x, height = np.asarray(shown.lines_[0].get_data())
    at = x.searchsorted(0.25)
    t = x[at]
    expected = 100 * (np.mean((p < t) & (y == 0)) - np.mean((p < t) & (y == 1)) * (1 - t) / t)
    assert height[at] == pytest.approx(expected)
    one, thousand = (curves.interventions_avoided_curve(y, p, per=per) for per in (1, 1000))
    with pytest.raises(ValueError, match="per the same number of cases"):
        InterventionsAvoidedDisplay([one, thousand])


def test_zero_interventions_avoided_are_in_the_picture_where_all_curves_lie_above():
    y = np.arange(200) >= 160
    curve = curves.interventions_avoided_curve(y, np.where(y, 0.9, 0.01), per=1)  # 0.8 at every threshold shown
    shown = InterventionsAvoidedDisplay(curve).plot(bounds=(0.3, 0.45), references=False)
    bottom, top = shown.ax_.get_ylim()
    assert bottom < 0.0
    assert top > 0.8


def test_the_height_of_interventions_avoided_leaves_room_for_treating_no_one_of_every_population():
    p = np.linspace(0.95, 0.05, 40)  # worse than chance, so that no model is as high as treating no one
    found = {
        name: curves.interventions_avoided_curve(np.arange(40) >= first, p) for name, first in (("a", 32), ("b", 20))
    }
    shown = InterventionsAvoidedDisplay(found).plot(bounds=(0.5, 0.7), legend=None)
    t = shown.ax_.get_xlim()[1]
    # by definition: 32 of 40 are spared, and 8 are missed, each of which counts as the odds say
    assert 100 * (32 - 8 * (1 - t) / t) / 40 < shown.ax_.get_ylim()[1] < 100
    assert shown.ax_.get_ylim()[0] < 0.0


def test_precision_of_a_rare_class_fills_the_picture():
    y = np.r_[1, np.zeros(960, int), np.tile([0] * 39 + [1], 1)]
    shown = PrecisionRecallDisplay.from_predictions(y, np.linspace(1.0, 0.0, 1001)[: len(y)])
    bottom, top = shown.ax_.get_ylim()
    assert bottom <= 0.0 < top <= 1.02


def test_smooth_calibration_has_a_band_that_holds_the_line(rows):
    y, models = rows
    shown = SmoothCalibrationDisplay.from_predictions(y, models["sharp"])
    (band,) = shown.ax_.collections
    curve = curves.smooth_calibration_curve(y, models["sharp"])
    low, high = curve.band()
    vertices = {tuple(v) for v in np.round(band.get_paths()[0].vertices, 9)}
    assert {tuple(v) for v in np.round(np.column_stack([curve.knots, low]), 9)} <= vertices
    assert {tuple(v) for v in np.round(np.column_stack([curve.knots, high]), 9)} <= vertices


@pytest.mark.parametrize(("reach", "end"), [(0.45, 1.05 * 0.45), (0.7, 1.0), (0.85, 1.0)])
def test_smooth_calibration_is_drawn_as_far_as_scores_reach_or_to_1_if_that_is_near(reach, end):
    p = np.linspace(0.0, reach, 400)
    shown = SmoothCalibrationDisplay.from_predictions(np.random.default_rng(0).random(400) < p, p)
    assert shown.ax_.get_xlim()[1] == pytest.approx(1.02 * end)


def test_display_settings_are_left_alone_and_nothing_is_shown(rows, plt, monkeypatch):
    y, models = rows
    monkeypatch.setattr(plt, "show", lambda *_a, **_k: pytest.fail("drawing must not show"))
    before = dict(plt.rcParams)
    for display in (*RANK, CostCurveDisplay):
        _, ax = plt.subplots()
        size = tuple(ax.figure.get_size_inches())
        display.from_predictions(y, models, ax=ax)
        assert tuple(ax.figure.get_size_inches()) == size
        second = display.from_predictions(y, {"again": models["sharp"]}, ax=ax)
        assert second.lines_[0].get_color() not in {"#0072B2", "#D55E00", "#009E73"}
    assert dict(plt.rcParams) == before


def test_chance_is_drawn_for_each_share_of_positives():
    labels = {"rare": [0, 0, 0, 1], "even": [0, 1, 0, 1]}
    found = {name: curves.precision_recall_curve(y, [0.1, 0.8, 0.3, 0.6]) for name, y in labels.items()}
    display = PrecisionRecallDisplay(found).plot()
    assert [set(line.get_ydata()) for line in display.reference_lines_] == [{0.25}, {0.5}]
    assert [text.get_text() for text in display.ax_.texts] == ["treat all (rare)", "treat all (even)"]


def test_the_height_of_brier_curves_leaves_room_for_the_constants_of_every_population():
    p = np.linspace(0.05, 0.95, 40)
    found = {name: curves.brier_curve(np.arange(40) >= first, p) for name, first in (("rare", 38), ("even", 20))}
    tops = [CostCurveDisplay(dict(order)).plot().ax_.get_ylim() for order in (found.items(), [*found.items()][::-1])]
    assert tops[0] == tops[1]
