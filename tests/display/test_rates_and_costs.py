"""Rates at each threshold, and pictures of cost distributions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score

from stakes import costs, net_benefit_curve
from stakes.curves import threshold_table
from stakes.display import CostDistributionDisplay, ThresholdDisplay, _axes
from stakes.display._thresholds import _visible_top


def value_at(line, t):
    """Height of a line of steps just below t, from its points alone."""
    x, y = np.asarray(line.get_data())
    piece = np.searchsorted(x, t, side="left")
    return y[piece - 1] + (y[piece] - y[piece - 1]) * (t - x[piece - 1]) / (x[piece] - x[piece - 1])


def named(shown):
    return {line.get_label(): line for line in shown.lines_}


@pytest.mark.parametrize("t", [0.055, 0.15, 0.2, 0.405])
def test_rates_are_those_of_acting_at_the_threshold(rows, t):
    y, models = rows
    lines = named(ThresholdDisplay.from_predictions(y, models["coarse"]))
    act = models["coarse"] >= t
    assert value_at(lines["sensitivity"], t) == pytest.approx(recall_score(y, act))
    assert value_at(lines["specificity"], t) == pytest.approx(recall_score(1 - y, ~act))
    assert value_at(lines["PPV"], t) == pytest.approx(precision_score(y, act))
    assert value_at(lines["NPV"], t) == pytest.approx(precision_score(1 - y, ~act, zero_division=np.nan), nan_ok=True)
    assert value_at(lines["share flagged"], t) == pytest.approx(act.mean())


@pytest.mark.parametrize("value", ["net_benefit", "regret"])
def test_value_passes_through_the_table_at_every_score(rows, value):
    y, models = rows
    shown = ThresholdDisplay.from_predictions(y, models["sharp"], value=value)
    drawn = {tuple(point) for point in np.round(shown.lines_[-1].get_xydata(), 9)}
    table = threshold_table(y, models["sharp"])
    assert {tuple(p) for p in np.round(np.column_stack([table.threshold, getattr(table, value)]), 9)} <= drawn
    assert shown.value_axes_[0].get_ylabel() == value.replace("_", " ").capitalize()


def test_net_benefit_is_known_beyond_the_scores():
    shown = ThresholdDisplay.from_predictions([0, 1, 0, 0], [0.2, 0.3, 0.3, 0.4], bounds=(0.1, 0.6))
    line = shown.lines_[-1]
    curve = net_benefit_curve([0, 1, 0, 0], [0.2, 0.3, 0.3, 0.4])
    x, y = np.asarray(line.get_data())
    assert (x[0], y[0]) == (0.0, 0.25)
    assert float(curve.at(0.9)) == 0.0
    assert y[x > 0.41].tolist() == pytest.approx([0.0])
    assert value_at(named(shown)["sensitivity"], 0.1) == 1.0
    assert value_at(named(shown)["specificity"], 0.5) == 1.0


def test_rates_of_one_score_are_known_on_either_side_of_it():
    y = np.repeat([0, 1], [6, 2])
    shown = ThresholdDisplay.from_predictions(y, np.full(8, 0.3), value=None, legend=None)
    lines = named(shown)
    for t, acts in ((0.01, 1.0), (0.29, 1.0), (0.31, 0.0), (0.99, 0.0)):
        assert [value_at(lines[name], t) for name in ("sensitivity", "share flagged")] == [acts, acts]
        assert value_at(lines["specificity"], t) == 1.0 - acts
        assert value_at(lines["PPV" if acts else "NPV"], t) == (2 / 8 if acts else 6 / 8)


def test_chosen_thresholds_are_not_drawn_beyond_the_highest():
    table = threshold_table([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.9], thresholds=[0.1, 0.5])
    shown = ThresholdDisplay(table).plot()
    x = np.asarray(shown.lines_[0].get_xdata())
    assert (x.min(), x.max()) == (0.0, 0.5)


def test_constant_cost_ratio_makes_steps_of_the_value(rows):
    y, models = rows
    shown = ThresholdDisplay.from_predictions(y, models["coarse"], costs=0.2)
    act = models["coarse"] >= 0.3
    expected = np.mean(act & (y == 1)) - 0.25 * np.mean(act & (y == 0))
    assert value_at(shown.lines_[-1], 0.3) == pytest.approx(expected)


def test_each_of_several_models_has_a_picture_with_one_legend(ten):
    y, models = ten
    shown = ThresholdDisplay.from_predictions(y, models, bounds=(0.1, 0.3))
    assert [ax.get_title() for ax in shown.axes_] == list(models)
    assert len(shown.lines_) == 60
    assert len({ax.get_ylim() for ax in shown.value_axes_}) == 1
    (legend,) = shown.figure_.legends
    assert [text.get_text() for text in legend.get_texts()][-2:] == ["net benefit (right)", "plausible thresholds"]
    for ax in shown.axes_:
        extent = ax.patches[0].get_extents().transformed(ax.transData.inverted())
        assert (extent.x0, extent.x1) == pytest.approx((0.1, 0.3))


def test_axes_hold_one_model(rows, plt):
    y, models = rows
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax holds one model, got 3"):
        ThresholdDisplay.from_predictions(y, models, ax=ax)
    shown = ThresholdDisplay.from_predictions(y, models["sharp"], ax=ax, value=None)
    assert (shown.ax_, shown.axes_, shown.value_axes_, len(shown.lines_)) == (ax, [ax], [], 5)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_rates_of_one_class_are_drawn(label):
    shown = ThresholdDisplay.from_predictions(np.full(4, label), [0.1, 0.3, 0.3, 0.8], x_scale="log-odds")
    shown.figure_.canvas.draw()


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("stated", "drawn"), [(None, 1), (0.1, 0), ((0.1, 0.3), 0)])
def test_odds_are_above_the_thresholds_only_where_these_are_the_cost_ratios(rows, several, stated, drawn):
    y, models = rows
    shown = ThresholdDisplay.from_predictions(y, models if several else models["coarse"], costs=stated)
    for ax in shown.axes_:
        ax.set_xlim(0.1, 0.4)  # zoomed
        ax.figure.canvas.draw()
        assert len(ax.child_axes) == drawn


def test_scores_that_only_rank_are_drawn_without_odds():
    shown = ThresholdDisplay.from_predictions([0, 1, 0, 1], [-3.0, 2.0, 1.0, 7.0], costs=0.2)
    assert shown.ax_.get_xlim() == (-3.0, 7.0)
    assert shown.ax_.child_axes == []


@pytest.mark.parametrize(("thresholds", "bounds", "shown"), [
    (None, (0.0, 1.0), (-3.0, 7.0)),  # all thresholds are plausible: none is left out
    (None, (0.2, 0.4), (0.1, 0.5)),  # these and their surroundings
    ([4.0], None, (4.0, 5.0)),
    ([-np.inf, 1.0, 2.0, np.inf], None, (1.0, 2.0)),
    ([np.inf], None, (0.0, 1.0)),
])  # fmt: skip
def test_scores_that_only_rank_are_seen_from_the_lowest_to_the_highest(thresholds, bounds, shown):
    table = threshold_table([0, 1, 0, 1], [-3.0, 2.0, 1.0, 7.0], thresholds=thresholds, costs=0.2)
    display = ThresholdDisplay(table).plot(bounds=bounds, value=None, legend=None)
    assert display.ax_.get_xlim() == pytest.approx(shown)


def test_estimator_is_drawn(rows):
    y, models = rows
    X = models["sharp"][:, None]
    shown = ThresholdDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, bounds=(0.1, 0.3))
    assert len(shown.lines_) == 6


def test_wrong_settings_are_refused(rows):
    y, models = rows
    with pytest.raises(ValueError, match="value must be one of"):
        ThresholdDisplay.from_predictions(y, models["sharp"], value="accuracy")
    with pytest.raises(ValueError, match="tables must be threshold tables"):
        ThresholdDisplay({"a": 3})
    with pytest.raises(ValueError, match="at least one model"):
        ThresholdDisplay({})
    with pytest.raises(ValueError, match="costs must be cost distributions"):
        CostDistributionDisplay([0.3])
    with pytest.raises(ValueError, match="at least one cost distribution"):
        CostDistributionDisplay({})
    with pytest.raises(ValueError, match=r"^scale must be"):
        costs.Fixed(0.1).plot(scale="log")


PROPER = {
    "uniform": costs.Uniform(0.02, 0.1),
    "beta": costs.Beta(2.0, 5.0),
    "triangular": costs.Triangular(0.02, 0.05, 0.2),
    "pieces": costs.PiecewiseLinear([0.0, 0.1, 0.3], [0.0, 5.0, 0.0]),
    "sum": costs.Uniform(0.0, 0.2) + 3.0 * costs.Uniform(0.1, 0.3),
    "density": costs.Density(lambda c: np.exp(-(((c - 0.1) / 0.02) ** 2)), 0.0, 0.5),
}


@pytest.mark.parametrize("name", PROPER)
@pytest.mark.parametrize("scale", ["linear", "log-odds"])
def test_area_of_a_density_is_one_on_both_axes(name, scale):
    shown = PROPER[name].plot(scale=scale)
    x, height = np.asarray(shown.lines_[0].get_data())
    place = np.log(x / (1.0 - x)) if scale == "log-odds" else x
    assert np.sum(np.diff(place) * 0.5 * (height[1:] + height[:-1])) == pytest.approx(1.0, abs=3e-3)


@pytest.mark.parametrize("scale", ["linear", "log-odds"])
def test_a_density_reaches_from_one_side_to_the_other(scale):
    shown = costs.Beta(2.0, 3.0).plot(scale=scale)
    x = np.asarray(shown.lines_[0].get_xdata())
    assert (x[0], x[-1]) == pytest.approx(shown.ax_.get_xlim(), rel=1e-12)


def test_jumps_of_a_density_are_upright():
    x, height = np.asarray(costs.Uniform(0.02, 0.1).plot().lines_[0].get_data())
    assert height[(x >= 0.02) & (x <= 0.1)] == pytest.approx(12.5)
    assert set(height[(x < 0.02) | (x > 0.1)]) == {0.0}
    assert np.diff(x)[np.abs(np.diff(height)) > 1.0].max() < 1e-8


def test_infinite_mass_is_drawn_as_it_is_and_said():
    line = costs.LogOddsUniform(0.0, 1.0).plot(scale="log-odds").lines_[0]
    assert np.asarray(line.get_ydata()) == pytest.approx(1.0)
    assert line.get_label().endswith("(infinite mass, not normalized)")
    linear = costs.LogOddsUniform(0.0, 1.0).plot()
    x, height = np.asarray(linear.lines_[0].get_data())
    middle = (x > 0.1) & (x < 0.9)
    assert height[middle] == pytest.approx(1.0 / (x[middle] * (1.0 - x[middle])))
    assert np.isfinite(linear.ax_.get_ylim()).all()
    linear.figure_.canvas.draw()


def test_shifted_costs_peak_at_their_median_on_the_log_odds_axis_only():
    # errata section on Figure 6: density mu (1-mu) / (mu + c (1-2 mu))**2, monotone in c
    logit, linear = (costs.Shifted(0.125).plot(scale=scale).lines_[0] for scale in ("log-odds", "linear"))
    x, height = np.asarray(logit.get_data())
    assert x[np.argmax(height)] == pytest.approx(0.125, rel=0.02)
    assert height.max() == pytest.approx(0.25, rel=1e-3)
    x, height = np.asarray(linear.get_data())
    assert height == pytest.approx(0.125 * 0.875 / (0.125 + 0.75 * x) ** 2)


def test_single_cost_ratios_are_stems_with_their_weights():
    shown = costs.Empirical([0.05, 0.2, 0.2]).plot()
    assert shown.atom_ax_ is shown.ax_
    assert shown.lines_[0].get_xydata().ravel().tolist() == pytest.approx([0.05, 1 / 3, 0.2, 2 / 3])
    (stems,) = shown.ax_.collections
    assert [path.vertices.ravel().tolist() for path in stems.get_paths()] == [
        pytest.approx([0.05, 0.0, 0.05, 1 / 3]),
        pytest.approx([0.2, 0.0, 0.2, 2 / 3]),
    ]


def test_stems_of_a_sum_have_their_shares_of_its_mass():
    shown = (3.0 * costs.Fixed(0.1) + costs.Fixed(0.3)).plot()
    assert shown.lines_[0].get_xydata().ravel().tolist() == pytest.approx([0.1, 0.75, 0.3, 0.25])
    assert shown.atom_ax_.get_ylim() == pytest.approx((0.0, 1.08 * 0.75))


def test_densities_and_stems_share_a_picture_with_an_axis_each():
    penalized = 4.0 * costs.Uniform(0.0, 1.0) + costs.Fixed(0.5, tie=0.5)
    shown = CostDistributionDisplay({"penalized": penalized, "one": costs.Fixed(0.1)}).plot()
    assert shown.atom_ax_ is not shown.ax_
    assert shown.atom_ax_.get_ylabel() == "Weight (stems)"
    assert np.asarray(shown.lines_[0].get_ydata()) == pytest.approx(0.8)
    heights = [path.vertices[:, 1].max() for stems in shown.atom_ax_.collections for path in stems.get_paths()]
    assert heights == pytest.approx([0.2, 1.0])
    assert [text.get_text() for text in shown.figure_.legends[0].get_texts()] == ["penalized", "one"]


def test_interior_peaks_stay_in_the_picture_and_spikes_at_an_end_leave_it():
    peaked = costs.Beta(60.0, 60.0).plot()
    assert peaked.ax_.get_ylim()[1] > np.max(peaked.lines_[0].get_ydata())
    spiked = costs.Beta(0.5, 4.0).plot()
    assert spiked.ax_.get_ylim()[1] < np.nanmax(spiked.lines_[0].get_ydata())


def test_second_display_in_the_same_axes_has_another_colour(plt):
    figure, ax = plt.subplots()
    first = costs.Uniform(0.02, 0.1).plot(ax)
    second = costs.Fixed(0.3).plot(ax)
    third = costs.Fixed(0.2).plot(ax)
    assert third.atom_ax_ is second.atom_ax_
    assert len({shown.lines_[0].get_color() for shown in (first, second, third)}) == 3
    assert ax.get_xlim()[1] >= 0.3
    assert len(figure.axes) == 2
    figure.canvas.draw()


@pytest.mark.parametrize(("classes", "clear"), [([-1, 1], True), ([0, 1], True), ([-1, 2], False)])
def test_the_positive_class_is_one_where_the_other_is_zero_or_minus_one(classes, clear):
    prob = np.array([[0.9, 0.1], [0.4, 0.6]])
    model = SimpleNamespace(classes_=np.array(classes), predict_proba=lambda _: prob)
    if clear:
        (found,) = _axes.estimator_predictions(model, None, None).values()
        assert found.tolist() == [0.1, 0.6]
    else:
        with pytest.raises(ValueError, match="pass pos_label= to say which is positive"):
            _axes.estimator_predictions(model, None, None)


@pytest.mark.parametrize(
    ("place", "inside"), [(3, False), (10, False), (11, True), (88, True), (89, False), (97, False)]
)
def test_a_peak_within_the_range_is_shown_and_one_near_an_end_is_a_spike(place, inside):
    density = np.ones(100)
    density[place] = 50.0
    assert _visible_top(density) == (50.0 if inside else 6.0)
    scarce = np.where(np.arange(100) < 20, density, 0.0)  # where no score lies, nothing shows how high the others reach
    assert _visible_top(scarce) == (1.0 if place >= 20 else 50.0 if inside else 6.0)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        *((0.7, 0.8), (0.1, 0.9), (0.02, 0.02), (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)),
        *((1e-5, 1e-4), (1e-9, 1e-9), (0.0, 1e-4), (1.0 - 1e-5, 1.0 - 1e-5), (0.9999, 1.0), (1e-5, 0.2)),
    ],
)
def test_all_cost_ratios_of_a_distribution_are_in_the_picture_and_fill_it(low, high):
    from matplotlib.figure import Figure

    measure = costs.Fixed(low) if low == high else costs.Uniform(low, high)
    first, last = measure.plot(Figure().add_subplot()).ax_.get_xlim()
    assert 0.0 <= first <= low <= high <= last <= 1.0
    assert first < last
    assert high - low > 0.4 * (last - first) or low == high
    shown = np.array(measure.plot(Figure().add_subplot(), scale="log-odds").ax_.get_xlim())
    assert 0.0 < shown[0] < shown[1] < 1.0
    first, last = np.log(shown) - np.log1p(-shown)
    if 0.0 < low < 1.0:
        assert first < np.log(low) - np.log1p(-low)
    if 0.0 < high < 1.0:
        assert np.log(high) - np.log1p(-high) < last
    seen = np.clip([low, high], *shown)
    seen = np.log(seen) - np.log1p(-seen)
    assert seen[1] - seen[0] > 0.4 * (last - first) or low == high


@pytest.mark.parametrize(("low", "high"), [(0.02, 0.02), (0.2, 0.3), (0.0, 0.0), (0.0, 0.4), (0.0, 1.0), (1e-5, 1e-3)])
@pytest.mark.parametrize("scale", ["linear", "log-odds"])
def test_costs_from_the_other_side_have_the_mirror_image_and_what_ends_at_zero_shows_no_long_tail(low, high, scale):
    from matplotlib.figure import Figure

    ends = []
    for first, last in ((low, high), (1.0 - high, 1.0 - low)):
        measure = costs.Fixed(first) if first == last else costs.Uniform(first, last)
        ends.append(np.array(measure.plot(Figure().add_subplot(), scale=scale).ax_.get_xlim()))
    assert ends[0] == pytest.approx(1.0 - ends[1][::-1], rel=1e-6)
    if scale == "log-odds" and low == 0.0:
        assert 1e-4 < ends[0][0] < 0.01
        assert high < 1.0 or 0.99 < ends[0][1] < 1.0 - 1e-4


def test_a_rare_cost_ratio_is_in_the_picture_beside_a_distribution_down_to_zero():
    from matplotlib.figure import Figure

    both = CostDistributionDisplay([costs.Fixed(1e-5), costs.Beta(2, 20), costs.Fixed(1.0 - 1e-6)])
    first, last = both.plot(Figure().add_subplot(), scale="log-odds").ax_.get_xlim()
    assert 0.0 < first < 1e-5
    assert 1.0 - 1e-6 < last < 1.0


@pytest.mark.parametrize("measure", [costs.Beta(1, 50), costs.Beta(50, 1), costs.Beta(1, 100), costs.Beta(0.5, 4)])
def test_at_most_half_of_a_density_leaves_the_picture_with_its_spike(measure):
    from matplotlib.figure import Figure

    top = measure.plot(Figure().add_subplot()).ax_.get_ylim()[1]
    law = stats.beta(measure.a, measure.b)
    outside = np.mean(1.0 - np.minimum(top / law.pdf(law.ppf((np.arange(1000) + 0.5) / 1000)), 1.0))
    assert outside < 0.5
    if max(measure.a, measure.b) > 4:  # the rest is so low that it would fill the picture with nothing else
        assert outside > 0.35
