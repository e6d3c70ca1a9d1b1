"""Regret and decision curves: exact lines, a shaded range, references by name, axes in percent and odds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from stakes import ScoreTable, evaluate, net_benefit_curve, regret_curve
from stakes.curves import threshold_table
from stakes.display import CostCurveDisplay, DecisionCurveDisplay, RegretCurveDisplay, ThresholdDisplay, _axes
from stakes.display._thresholds import thinned

KINDS = [(RegretCurveDisplay, regret_curve), (DecisionCurveDisplay, net_benefit_curve)]


def values_at(line, x):
    """Drawn heights at one place, in drawing order."""
    xs, ys = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    return ys[xs == x]


def odds_labels(display):
    display.figure_.canvas.draw()
    (odds,) = display.ax_.child_axes
    return [label.get_text() for label in odds.get_xticklabels()]


@pytest.mark.parametrize(("display", "curve_of"), KINDS)
@pytest.mark.parametrize("bounds", [None, (0.1, 0.3)])
@pytest.mark.parametrize("x_scale", ["linear", "log-odds"])
def test_line_passes_through_both_sides_of_every_knot(rows, display, curve_of, bounds, x_scale):
    y, models = rows
    shown = display.from_predictions(y, models, bounds=bounds, x_scale=x_scale)
    for line, (name, scores) in zip(shown.lines_, models.items(), strict=True):
        curve = curve_of(y, scores)
        assert line.get_label() == name
        for knot in curve.knots[1:-1]:
            drawn = values_at(line, knot)
            assert (drawn[0], drawn[-1]) == (curve.at(knot), curve.at(knot, side="right"))


@pytest.mark.parametrize(("display", "curve_of"), KINDS)
@pytest.mark.parametrize(("x_scale", "bounds"), [("linear", (0.1, 0.6)), ("log-odds", (0.001, 0.6))])
def test_bent_pieces_follow_the_curve_between_knots(display, curve_of, x_scale, bounds):
    """A model of one piece, seen as a straight line on neither axis: what the eye sees must be the curve."""
    curve = curve_of([0, 1, 0, 1, 0, 0], [0.0, 0.9, 0.9, 0.9, 0.9, 0.0])
    shown = display(curve).plot(x_scale=x_scale, bounds=bounds)
    low, high = shown.ax_.get_xlim()
    x = np.geomspace(max(low, 1e-4), min(high, 0.85), 100)
    transform = shown.ax_.transScale.transform
    for line, exact in [(shown.lines_[0], curve), (shown.reference_lines_[0], curve.references["treat all"])]:
        seen = transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
        at = transform(np.column_stack([x, exact.at(x)]))
        inside = np.isfinite(seen).all(axis=1)
        assert np.interp(at[:, 0], *seen[inside].T) == pytest.approx(at[:, 1], abs=2e-4)


@pytest.mark.parametrize("display", [RegretCurveDisplay, DecisionCurveDisplay])
def test_bounds_are_shaded_and_framed_by_their_surroundings(rows, display):
    y, models = rows
    shown = display.from_predictions(y, models, bounds=(0.1, 0.3))
    extent = shown.bounds_.get_extents().transformed(shown.ax_.transData.inverted())
    assert (extent.x0, extent.x1) == pytest.approx((0.1, 0.3))
    assert extent.y1 - extent.y0 >= np.ptp(shown.ax_.get_ylim()) * (1.0 - 1e-9)
    assert shown.ax_.get_xlim() == pytest.approx((0.0, 0.4))
    assert shown.bounds_ in shown.ax_.patches


@pytest.mark.parametrize(("bounds", "inside", "outside"), [((0.0, 0.2), 0.01, 0.4), ((0.3, 1.0), 0.6, 0.1)])
@pytest.mark.parametrize("kind", ["curve", "rates", "brier", "evaluation"])
def test_a_range_from_an_end_is_shaded_from_the_edge_on_log_odds(rows, kind, bounds, inside, outside):
    y, models = rows
    p = models["sharp"]
    if kind == "brier":
        ax = CostCurveDisplay.from_predictions(y, p, bounds=bounds, axis="log-odds").ax_
    elif kind == "evaluation":
        ax = evaluate(y, p, costs=bounds).plot(x_scale="log-odds").axes[0]
    else:
        display = {"curve": RegretCurveDisplay, "rates": ThresholdDisplay}[kind]
        ax = display.from_predictions(y, p, bounds=bounds, x_scale="log-odds").ax_
    ax.figure.canvas.draw()
    image = np.asarray(ax.figure.canvas.buffer_rgba())[::-1, :, :3]
    colour = np.round(255 * np.array(pytest.importorskip("matplotlib.colors").to_rgb(_axes.RANGE_COLOUR)))

    def shaded(threshold):  # most of the pixels above a threshold, where lines and letters hide a few
        x, box = int(ax.transData.transform((threshold, 0.0))[0]), ax.get_window_extent()
        column = image[int(box.y0) + 2 : int(box.y1) - 2, x]
        return np.mean(np.abs(column - colour).max(axis=-1) < 2) > 0.5

    assert shaded(inside)
    assert not shaded(outside)


@pytest.mark.parametrize(
    "bounds", [(1e-6, 1e-5), (1e-5, 1e-5), (0.0, 1e-5), (1.0 - 1e-5, 1.0 - 1e-6), (1e-6, 0.5), (1e-12, 1.0 - 1e-12)]
)
def test_a_range_near_an_end_is_in_the_picture_on_log_odds(bounds):
    from matplotlib.figure import Figure

    curve = regret_curve([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6])
    shown = curve.plot(Figure().add_subplot(), bounds=bounds, x_scale="log-odds").ax_.get_xlim()
    assert 0.0 < shown[0] < (bounds[0] or 0.1 * bounds[1])
    assert bounds[1] < shown[1] < 1.0
    ends, (low, high) = (
        [_axes.log_odds(min(max(each, shown[0]), shown[1])) for each in pair] for pair in (shown, bounds)
    )
    assert high - low >= 0.4 * (ends[1] - ends[0]) or low == high


@pytest.mark.parametrize("bounds", [(1e-300, 1.0), (0.0, 1e-300), (1e-300, 1e-300), (1.0, 1.0), (0.0, 1.0)])
def test_a_range_is_never_drawn_up_to_an_end_on_log_odds(bounds):
    low, high = _axes.widened(bounds, "log-odds")
    assert 0.0 < low < high < 1.0


def test_without_bounds_nothing_is_shaded(rows):
    y, models = rows
    assert RegretCurveDisplay.from_predictions(y, models).bounds_ is None
    assert RegretCurveDisplay.from_predictions(y, models, bounds=(0.0, 1.0)).bounds_ is None


def test_one_threshold_is_a_line_with_its_surroundings(rows):
    y, models = rows
    shown = RegretCurveDisplay.from_predictions(y, models, bounds=(0.2, 0.2))
    assert shown.bounds_.get_linewidth() > 0.0
    assert shown.ax_.get_xlim() == pytest.approx((0.1, 0.3))


@pytest.mark.parametrize("bounds", [(0.3, 0.1), (-0.1, 0.2), (0.2, 1.2), (0.1, 0.2, 0.3), 0.2])
def test_wrong_bounds_are_refused_before_anything_is_drawn(rows, plt, bounds):
    y, models = rows
    with pytest.raises(ValueError, match="bounds must"):
        RegretCurveDisplay.from_predictions(y, models, bounds=bounds)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("option", [{"x_scale": "log"}, {"legend": "left"}])
def test_unknown_choices_are_refused(rows, option):
    y, models = rows
    with pytest.raises(ValueError, match=f"{next(iter(option))} must be one of"):
        RegretCurveDisplay.from_predictions(y, models, **option)


@pytest.mark.parametrize(("display", "curve_of"), KINDS)
def test_references_are_drawn_thin_and_named_beside_the_line(rows, display, curve_of):
    y, models = rows
    shown = display.from_predictions(y, models["sharp"], bounds=(0.1, 0.3))
    names = [text.get_text() for text in shown.ax_.texts]
    assert sorted(names) == ["treat all", "treat none"]
    exact = curve_of(y, models["sharp"]).references
    for line, name in zip(shown.reference_lines_, ["treat all", "treat none"], strict=True):
        assert line.get_linewidth() < shown.lines_[0].get_linewidth()
        assert np.asarray(line.get_ydata()) == pytest.approx(exact[name].at(line.get_xdata()), rel=1e-12)
    legend = [text.get_text() for text in shown.figure_.legends[0].get_texts()]
    assert not {"treat all", "treat none"} & set(legend)


def test_references_can_be_left_out(rows):
    y, models = rows
    shown = DecisionCurveDisplay.from_predictions(y, models, references=False)
    assert (shown.reference_lines_, list(shown.ax_.texts)) == ([], [])


def test_names_of_references_stand_clear_of_the_curves(rows):
    y, models = rows
    shown = DecisionCurveDisplay.from_predictions(y, models["sharp"], bounds=(0.1, 0.3))
    shown.figure_.canvas.draw()
    line = shown.lines_[0]
    drawn = shown.ax_.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
    for text in shown.ax_.texts:
        box = text.get_window_extent()
        inside = (drawn >= box.min).all(axis=1) & (drawn <= box.max).all(axis=1)
        assert not inside.any(), text.get_text()


def test_axis_reads_in_percent_below_and_in_odds_above(rows):
    y, models = rows
    shown = RegretCurveDisplay.from_predictions(y, models, bounds=(1 / 51, 1 / 11))
    odds = odds_labels(shown)
    percent = [label.get_text() for label in shown.ax_.get_xticklabels()]
    assert "1:10" in odds
    assert all(label.startswith("1:") for label in odds)
    assert all(label.endswith("%") for label in percent)


@pytest.mark.parametrize("x_scale", ["linear", "log-odds"])
def test_odds_stand_above_their_percentages_and_follow_a_zoom(rows, x_scale):
    y, models = rows
    shown = RegretCurveDisplay.from_predictions(y, models, x_scale=x_scale)
    shown.ax_.set_xlim(0.01, 0.04)
    assert "1:50" in odds_labels(shown)
    (odds,) = shown.ax_.child_axes
    for tick in odds.get_xticks():
        above = odds.transData.transform((tick, 0.0))[0]
        assert above == pytest.approx(shown.ax_.transData.transform((tick, 0.0))[0])


def test_regret_is_seen_from_zero_to_its_top_within_the_range(rows):
    y, models = rows
    shown = RegretCurveDisplay.from_predictions(y, models["sharp"], bounds=(0.05, 0.1))
    bottom, top = shown.ax_.get_ylim()
    x = np.linspace(*shown.ax_.get_xlim(), 500)
    curve = regret_curve(y, models["sharp"])
    best_constant = np.min([reference.at(x) for reference in curve.references.values()], axis=0)
    assert bottom == 0.0
    assert top == pytest.approx(1.08 * max(curve.at(x).max(), best_constant.max()), rel=1e-2)
    assert top < 0.55 * curve.references["treat none"].at(0.0)


def test_plunge_of_treating_everyone_does_not_squash_the_decision_curve(rows):
    y, models = rows
    shown = DecisionCurveDisplay.from_predictions(y, models)
    bottom, top = shown.ax_.get_ylim()
    assert np.asarray(shown.reference_lines_[0].get_ydata()).min() < -5.0
    assert top == pytest.approx(1.08 * np.mean(y))
    assert -0.4 * np.mean(y) <= bottom < 0.0


def test_harm_of_a_model_is_seen(rows):
    y, _ = rows
    alarmist = np.full(len(y), 0.9)
    bottom, _ = DecisionCurveDisplay.from_predictions(y, alarmist, bounds=(0.1, 0.25)).ax_.get_ylim()
    worst = net_benefit_curve(y, alarmist).at(np.linspace(0.025, 0.325, 50)).min()
    assert worst < 0.0
    assert bottom < max(worst, -0.3 * np.mean(y))
    bottom, _ = DecisionCurveDisplay.from_predictions(y, alarmist).ax_.get_ylim()
    assert bottom == pytest.approx(-0.35 * np.mean(y))


@pytest.mark.parametrize(("display", "curve_of"), KINDS)
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only_is_drawn(display, curve_of, label):
    y, scores = np.full(4, label), np.array([0.1, 0.3, 0.3, 0.8])
    shown = display.from_predictions(y, scores, bounds=(0.2, 0.5))
    shown.figure_.canvas.draw()
    bottom, top = shown.ax_.get_ylim()
    heights = curve_of(y, scores).at([0.2, 0.3, 0.5])
    assert np.isfinite([bottom, top]).all()
    assert bottom <= heights.min()
    assert heights.max() <= top


@pytest.mark.parametrize(("display", "curve_of"), KINDS)
def test_rare_scores_are_shown_where_they_are(display, curve_of):
    y, scores = [0, 0, 0, 1], [0.001, 0.002, 0.002, 0.005]
    assert display(curve_of(y, scores)).plot().ax_.get_xlim() == pytest.approx((0.0, 0.006))
    low, high = display(curve_of(y, scores)).plot(x_scale="log-odds").ax_.get_xlim()
    assert 0.0 < low < 0.001
    assert 0.005 < high < 1.0
    ends = display(curve_of(y, [1e-6, 0.3, 0.5, 1.0 - 1e-6])).plot(x_scale="log-odds").ax_.get_xlim()
    assert ends == pytest.approx((1e-4, 1.0 - 1e-4), abs=1e-12)


def test_ten_models_look_different_and_are_all_in_the_legend(ten):
    y, models = ten
    shown = RegretCurveDisplay.from_predictions(y, models, bounds=(0.1, 0.3))
    assert len({(line.get_color(), line.get_linestyle()) for line in shown.lines_}) == 10
    names = [text.get_text() for text in shown.figure_.legends[0].get_texts()]
    assert names == [*models, "plausible thresholds"]


@pytest.mark.parametrize("width", [3.4, 6.4])
def test_legend_below_hides_nothing_and_is_not_cut(ten, plt, width):
    y, models = ten
    with plt.rc_context({"figure.figsize": (width, 2.6)}):
        shown = DecisionCurveDisplay.from_predictions(y, models, bounds=(0.1, 0.3))
    shown.figure_.canvas.draw()
    box = shown.figure_.legends[0].get_window_extent()
    axes, page = shown.ax_.get_tightbbox(), shown.figure_.bbox
    assert box.y1 <= axes.y0 + 1.0
    assert (box.y0 >= page.y0, box.x0 >= page.x0, box.x1 <= page.x1) == (True, True, True)
    assert shown.ax_.get_window_extent().height > 1.2 * shown.figure_.dpi


@pytest.mark.parametrize(("inches", "columns"), [(2.6, 1), (5.2, 2), (11.0, 4)])
def test_a_legend_below_has_as_many_columns_as_there_is_room_for(inches, columns):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(inches, 2.0), layout="constrained")
    labels = [f"a model whose name is long, {k}" for k in range(4)]
    lines = figure.add_subplot().plot(np.eye(4))
    _axes.legend_under(figure, lines, labels)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.legends[0].get_texts()]
    assert len({round(box.x0) for box in boxes}) == columns
    assert all(box.x0 > 0.0 and box.x1 < figure.bbox.x1 and box.y0 > 0.0 for box in boxes)


def test_legend_goes_where_it_is_told(rows, plt):
    y, models = rows
    _, plain = plt.subplots()
    assert RegretCurveDisplay.from_predictions(y, models, ax=plain).ax_.get_legend() is not None
    _, axes = plt.subplots()
    assert RegretCurveDisplay.from_predictions(y, models, ax=axes, legend=None).ax_.get_legend() is None
    figure, roomy = plt.subplots(layout="constrained")
    RegretCurveDisplay.from_predictions(y, models, ax=roomy)
    figure.canvas.draw()
    assert roomy.get_legend().get_window_extent().y1 <= roomy.xaxis.get_tightbbox().y0 + 1.0


def test_one_unnamed_model_needs_no_legend(rows):
    y, models = rows
    shown = RegretCurveDisplay.from_predictions(y, models["sharp"])
    assert (shown.figure_.legends, shown.ax_.get_legend()) == ([], None)


def test_second_display_in_the_same_axes_takes_the_next_colour_and_keeps_the_view(rows, plt):
    y, models = rows
    _, ax = plt.subplots()
    first = regret_curve(y, models["sharp"], name="sharp").plot(ax, bounds=(0.1, 0.3))
    view = ax.get_xlim()
    second = regret_curve(y, models["shifted"], name="shifted").plot(ax)
    assert second.ax_ is ax
    assert second.figure_ is ax.figure
    assert ax.get_xlim() == view
    assert first.lines_[0].get_color() != second.lines_[0].get_color()
    assert len(ax.child_axes) == 1
    assert sorted(text.get_text() for text in ax.texts) == ["treat all", "treat none"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["sharp", "shifted", "plausible thresholds"]
    assert second.reference_lines_ == first.reference_lines_


def test_title_of_the_caller_stands_above_the_odds(rows, plt):
    y, models = rows
    figure, ax = plt.subplots(layout="constrained")
    RegretCurveDisplay.from_predictions(y, models, ax=ax)
    assert ax.get_title() == ""
    title = ax.set_title("Mine")
    figure.canvas.draw()
    assert title.get_window_extent().y0 >= ax.child_axes[0].get_tightbbox().y1


def test_curves_come_alone_in_a_list_or_by_name(rows):
    y, models = rows
    curve = regret_curve(y, models["sharp"], name="own name")
    assert RegretCurveDisplay(curve).plot().lines_[0].get_label() == "own name"
    assert [line.get_label() for line in RegretCurveDisplay([curve, curve]).plot().lines_] == ["own name"] * 2
    assert RegretCurveDisplay({"given": curve}).plot().lines_[0].get_label() == "given"


@pytest.mark.parametrize("wrong", [[], {}, [1.0]])
def test_what_is_no_curve_is_refused(wrong):
    with pytest.raises(ValueError, match="curves must"):
        RegretCurveDisplay(wrong)


def test_curve_of_another_kind_is_refused(rows):
    y, models = rows
    with pytest.raises(ValueError, match="must be net benefit curves"):
        DecisionCurveDisplay(regret_curve(y, models["sharp"]))


def test_settings_of_the_curve_reach_it(rows):
    y, models = rows
    labels = np.where(y == 1, "ill", "well")
    weight = np.linspace(0.5, 2.0, len(y))
    settings = {"rule": 0.3, "sample_weight": weight, "prevalence": 0.4}
    line = RegretCurveDisplay.from_predictions(labels, models["sharp"], pos_label="ill", **settings).lines_[0]
    curve = regret_curve(y, models["sharp"], **settings)
    assert np.asarray(line.get_ydata()) == pytest.approx(curve.at(line.get_xdata()), rel=1e-12)
    logits = np.log(0.2 / 0.8) * np.ones(len(y))
    assert RegretCurveDisplay.from_predictions(y, logits, logits=True).curves[0].knots[1] == pytest.approx(0.2)


def test_table_stands_for_labels_and_scores(rows):
    y, models = rows
    table = ScoreTable.from_predictions(y, models["sharp"])
    one = RegretCurveDisplay.from_predictions(table).lines_[0].get_xydata()
    assert np.array_equal(one, RegretCurveDisplay.from_predictions(y, models["sharp"]).lines_[0].get_xydata())


def test_columns_of_a_frame_are_models(rows):
    pandas = pytest.importorskip("pandas")
    y, models = rows
    shown = DecisionCurveDisplay.from_predictions(y, pandas.DataFrame(models))
    assert [line.get_label() for line in shown.lines_] == list(models)


def test_many_scores_are_thinned_within_the_stated_number():
    rng = np.random.default_rng(0)
    y = rng.random(50_000) < 0.3
    line = RegretCurveDisplay.from_predictions(y, rng.random(50_000), bounds=(0.1, 0.2)).lines_[0]
    x = np.asarray(line.get_xdata())
    inside = (x >= 0.05) & (x <= 0.25)
    assert len(x) < 13_000
    assert 1_000 < inside.sum() < 5_000


def test_thresholds_stretched_by_areas_are_found_again():
    thresholds = np.linspace(0.0, 1.0, 11)
    assert _axes._unquadratic(_axes._quadratic(thresholds)) == pytest.approx(thresholds, abs=1e-15)


@pytest.fixture
def two_groups():
    """Return labels and probabilities of two groups of rows, one with a fifth of the other's positives."""
    rng = np.random.default_rng(3)
    truth, men = rng.random(400), rng.random(400) < 0.5
    y = rng.random(400) < np.where(men, 0.2 * truth, truth)
    return {name: (y[mine], truth[mine]) for name, mine in (("men", men), ("women", ~men))}


def heights_at(lines, x):
    """Heights of lines at one place, by the name on them and their model's."""
    return {
        (line.get_gid().removeprefix("reference "), line.get_label()[1:]): np.interp(x, *line.get_data())
        for line in lines
    }


def treating_all(threshold, y):
    return float(np.mean(y) - threshold / (1.0 - threshold) * np.mean(~y))


def test_each_population_has_references_of_its_own(two_groups):
    curves = {name: net_benefit_curve(*data) for name, data in two_groups.items()}
    shown = DecisionCurveDisplay(curves).plot()
    expected = {("treat all", name): treating_all(0.1, y) for name, (y, _) in two_groups.items()}
    found = heights_at(shown.reference_lines_, 0.1)
    assert found == pytest.approx({**expected, ("treat none", "men"): 0.0}, abs=1e-3)
    written = [text.get_text() for text in shown.ax_.texts]
    assert sorted(written) == ["treat all (men)", "treat all (women)", "treat none"]
    assert [line.get_label() for line in shown.lines_] == ["men", "women"]
    assert shown.ax_.get_ylim()[1] > max(expected.values())


def test_a_later_display_adds_the_references_of_its_own_rows(two_groups):
    (y, p), (other, q) = two_groups.values()
    first = regret_curve(y, p, name="men").plot()
    second = regret_curve(other, q, name="women").plot(first.ax_)
    found = heights_at(second.reference_lines_, 0.1)
    expected = {("treat all", "men"): 0.1 * np.mean(~y), ("treat none", "men"): 0.9 * np.mean(y)}
    expected |= {("treat all", "women"): 0.1 * np.mean(~other), ("treat none", "women"): 0.9 * np.mean(other)}
    assert found == pytest.approx(expected, abs=1e-9)


def test_the_height_leaves_room_for_the_best_constant_of_every_population(two_groups):
    curves = [(name, net_benefit_curve(*data)) for name, data in two_groups.items()]
    tops = [DecisionCurveDisplay(dict(order)).plot().ax_.get_ylim() for order in (curves, curves[::-1])]
    assert tops[0] == tops[1]


def test_very_many_thresholds_are_thinned_evenly_by_rank_and_by_value():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.uniform(0.0, 0.01, 19_000), rng.uniform(0.01, 1.0, 1000)])
    few = thinned(threshold_table(rng.random(20_000) < score, score))
    assert 1000 < len(few.threshold) <= 2000
    assert np.all(np.diff(few.threshold) > 0.0)
    assert np.diff(few.threshold).max() < 0.02  # by rank alone a twentieth of the points would share 0.99
    assert np.count_nonzero(few.threshold > 0.01) > 400


@pytest.mark.parametrize("ends", [(), (-np.inf,), (np.inf,), (-np.inf, np.inf)])
def test_very_many_thresholds_are_thinned_between_those_that_are_infinite(ends):
    rng = np.random.default_rng(0)
    score = rng.normal(size=50)
    asked = np.sort(np.append(np.linspace(-3.0, 3.0, 2500), ends))
    table = threshold_table(rng.random(50) < 0.4, score, thresholds=asked, costs=0.2)
    few = thinned(table)
    assert len(few.threshold) < 2000
    assert tuple(few.threshold[[0, -1]]) == tuple(asked[[0, -1]])  # nothing is cut off at either end
    assert np.diff(few.threshold[np.isfinite(few.threshold)]).max() < 0.02
    assert ThresholdDisplay(table).plot(value=None, legend=None).ax_.get_xlim() == (-3.0, 3.0)


@pytest.mark.parametrize("inches", [3.5, 6.5])
@pytest.mark.parametrize(
    "bounds", [(3e-5, 4e-5), (1e-9, 2e-9), (2.1e-4, 2.15e-4), (0.999965, 0.999975), (0.5, 0.50001)]
)
def test_thresholds_in_a_narrow_range_of_log_odds_are_named(bounds, inches):
    from matplotlib.figure import Figure

    ax = Figure(figsize=(inches, 2.5)).add_subplot()
    regret_curve([0, 1], [0.3, 0.6]).plot(ax, bounds=bounds, x_scale="log-odds")
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    named = [label for label in ax.get_xticklabels() if low <= label.get_position()[0] <= high]
    assert len(named) >= 2
    for label in named:
        assert float(label.get_text().removesuffix("%")) / 100.0 == pytest.approx(label.get_position()[0], rel=1e-12)
    boxes = sorted((label.get_window_extent().x0, label.get_window_extent().x1) for label in named)
    assert all(first[1] < second[0] for first, second in pairwise(boxes))
