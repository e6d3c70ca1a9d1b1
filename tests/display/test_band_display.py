"""Pictures of bands: what is shaded, in which colour, beside which curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stakes import net_benefit_curve, regret_curve
from stakes.display import BandDisplay
from stakes.display._curves import show_bands
from stakes.inference import confidence_band, consistency_band, difference_band


def corners(area):
    return {tuple(corner) for corner in area.get_paths()[0].vertices}


def test_line_and_areas_are_the_estimate_and_its_bounds(rows):
    y, models = rows
    band = confidence_band(y, models["sharp"], "net_benefit", thresholds=[0.1, 0.2, 0.5])
    shown = band.plot()
    assert np.array_equal(shown.lines_[0].get_xydata().T, [band.thresholds, band.estimate])
    for area, low, high in (
        (shown.intervals_[0], band.low, band.high),
        (shown.bands_[0], band.simultaneous_low, band.simultaneous_high),
    ):
        assert corners(area) >= set(zip(band.thresholds, low, strict=True)) | set(
            zip(band.thresholds, high, strict=True)
        )
    assert shown.ax_.get_ylabel() == "Net benefit"
    assert [text.get_text() for text in shown.ax_.texts] == ["treat none"]


def test_band_of_a_curve_that_is_there_takes_its_colour_and_adds_no_line(rows):
    y, models = rows
    first = regret_curve(y, models["coarse"], name="coarse").plot()
    second = regret_curve(y, models["sharp"], name="sharp").plot(first.ax_)
    limits = second.ax_.get_ylim()
    band = confidence_band(y, models["sharp"], "regret", name="sharp").plot(second.ax_)
    assert band.lines_ == second.lines_
    assert len(second.ax_.lines) == len(
        {id(line) for line in [*first.lines_, *second.lines_, *second.reference_lines_]}
    )
    assert np.allclose(band.bands_[0].get_facecolor()[0][:3], plt_rgb(second.lines_[0].get_color()))
    assert second.ax_.get_ylim() == limits


def test_axes_of_a_curve_grow_until_they_hold_its_band(rows):
    y, models = rows
    curve = net_benefit_curve(y[:60], models["sharp"][:60], name="sharp").plot(bounds=(0.1, 0.4))
    band = confidence_band(y[:60], models["sharp"][:60], "net_benefit", name="sharp", thresholds=np.linspace(0.1, 0.4))
    assert band.simultaneous_low.min() < curve.ax_.get_ylim()[0]
    low, high = band.plot(curve.ax_).ax_.get_ylim()
    assert low < band.simultaneous_low.min() < band.simultaneous_high.max() < high


@pytest.mark.parametrize("bounds", [None, (0.2, 0.3)])
def test_bounds_of_a_band_set_the_range_shown_beside_a_curve_that_is_there(rows, bounds):
    y, models = rows
    curve = net_benefit_curve(y, models["sharp"], name="sharp").plot(bounds=(0.1, 0.4))
    before = curve.ax_.get_xlim()
    band = confidence_band(y, models["sharp"], "net_benefit", name="sharp", thresholds=np.linspace(0.1, 0.4))
    low, high = band.plot(curve.ax_, bounds=bounds).ax_.get_xlim()
    if bounds is None:
        assert (low, high) == before
    else:
        assert before[0] < low < bounds[0]
        assert bounds[1] < high < before[1]


def plt_rgb(color):
    from matplotlib.colors import to_rgb

    return to_rgb(color)


def test_difference_shows_no_difference_and_the_plausible_range(rows):
    y, models = rows
    band = difference_band(y, models["sharp"], models["coarse"], "regret", names=("sharp", "coarse"))
    shown = band.plot(bounds=(0.1, 0.3))
    assert shown.ax_.get_ylabel() == "Difference in regret per decision"
    assert [text.get_text() for text in shown.ax_.texts] == ["no difference"]
    assert shown.bounds_ is not None
    assert shown.ax_.get_xlim() == pytest.approx((0.0, 0.4))
    assert shown.lines_[0].get_label() == "sharp - coarse"


def test_isotonic_bounds_between_scores_are_the_outer_ones(rows):
    y, models = rows
    band = confidence_band(y, models["sharp"], "reliability", thresholds=[0.1, 0.3, 0.5])
    shown = corners(band.plot().bands_[0])
    assert {(0.3, band.simultaneous_low[0]), (0.1, band.simultaneous_high[1])} <= shown
    consistent = consistency_band(y, models["sharp"], thresholds=[0.1, 0.3, 0.5])
    assert (0.3, consistent.simultaneous_low[0]) not in corners(consistent.plot().bands_[0])


def test_avoided_interventions_say_their_unit_also_over_log_odds(rows):
    y, models = rows
    band = confidence_band(y, models["sharp"], "interventions_avoided", per=1000)
    shown = band.plot(x_scale="log-odds")
    assert shown.ax_.get_ylabel() == "Interventions avoided per 1,000"
    assert shown.ax_.get_xscale() == "logit"


def test_unbounded_ends_do_not_flatten_the_picture(rows):
    y, models = rows
    band = confidence_band(y, models["sharp"], "net_benefit")
    low, high = band.plot().ax_.get_ylim()
    assert low > band.simultaneous_low.min()
    assert low < band.estimate.min()
    assert high > band.estimate.max()


def test_bounds_beside_the_picture_do_not_flatten_it(rows):
    y, models = rows
    band = confidence_band(y, models["sharp"], "net_benefit")
    ax = band.plot(bounds=(0.1, 0.3)).ax_
    (first, last), (low, high) = ax.get_xlim(), ax.get_ylim()
    inside = (band.thresholds >= first) & (band.thresholds <= last)
    least, most = min(band.simultaneous_low[inside].min(), 0.0), band.simultaneous_high[inside].max()
    assert band.simultaneous_low.min() < least - (most - least)  # of all thresholds
    assert least - 0.1 * (most - least) < low < high < most + 0.1 * (most - least)


@pytest.mark.parametrize("metric", ["regret", "net_benefit"])
def test_one_bound_in_twenty_may_leave_the_picture_on_either_side(rows, metric):
    y, models = rows
    band = confidence_band(y, models["sharp"], metric)
    ax = band.plot().ax_
    (first, last), (low, high) = ax.get_xlim(), ax.get_ylim()
    inside = (band.thresholds >= first) & (band.thresholds <= last)
    assert np.mean(band.simultaneous_high[inside] > high) <= 0.05 + 1 / inside.sum()
    assert np.mean(band.simultaneous_low[inside] < low) <= 0.05 + 1 / inside.sum()
    assert low < band.estimate[inside].max() < high


def test_several_bands_have_their_own_colours_and_names(rows):
    y, models = rows
    bands = {name: confidence_band(y, p, "regret") for name, p in models.items()}
    shown = BandDisplay(bands).plot()
    assert [line.get_label() for line in shown.lines_] == list(models)
    assert len({line.get_color() for line in shown.lines_}) == 3


def test_one_threshold_is_a_point(rows):
    y, models = rows
    shown = confidence_band(y, models["sharp"], "regret", thresholds=[0.2]).plot()
    assert shown.lines_[0].get_marker() == "o"


def test_an_interval_over_one_threshold_can_be_seen(rows):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    y, models = rows
    band = confidence_band(y, models["sharp"], "regret", thresholds=[0.2])
    ax = (figure := Figure(figsize=(3.0, 3.0))).add_subplot()
    band.plot(ax, legend=None)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())[::-1, :, :3]
    gap = 0.25 * (band.high[0] - band.low[0])

    def coloured(height):
        x, place = ax.transData.transform((0.2, height)).astype(int)
        return [bool((image[place, x + away] < 250).any()) for away in (-2, 2, 12)]

    assert coloured(band.low[0] + gap) == coloured(band.high[0] - gap) == [True, True, False]
    assert coloured(band.simultaneous_low[0] - gap) == [False] * 3


def test_bands_of_different_kinds_are_refused(rows):
    y, models = rows
    one, two = (confidence_band(y, models["sharp"], kind) for kind in ("regret", "net_benefit"))
    with pytest.raises(ValueError, match="of one kind"):
        BandDisplay([one, two])
    with pytest.raises(ValueError, match="at least one band"):
        BandDisplay([])
    with pytest.raises(ValueError, match="must be Band"):
        BandDisplay([3])


def test_legend_says_what_each_shading_is():
    bands = {
        "a": confidence_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], "regret", confidence_level=0.9),
        "b": confidence_band([0, 1, 0, 1], [0.2, 0.7, 0.3, 0.6], "regret", confidence_level=0.9),
    }
    (legend,) = BandDisplay(bands).plot().figure_.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert sorted(names) == ["90% interval at each threshold", "90% simultaneous band", "a", "b"]


@pytest.mark.parametrize("thresholds", [[0.2], [0.03], [0.98], [1e-5], [1e-6, 1e-5], [0.0], [1.0], [0.1, 0.3]])
def test_few_thresholds_on_log_odds_have_their_surroundings(rows, thresholds):
    from matplotlib.figure import Figure

    y, models = rows
    band = confidence_band(y, models["sharp"], "regret", thresholds=thresholds)
    shown = np.array(band.plot(Figure().add_subplot(), x_scale="log-odds").ax_.get_xlim())
    first, last = np.log(shown) - np.log1p(-shown)
    assert last - first < 6.0
    if 0.0 < thresholds[0] < 1.0:
        assert shown[0] <= thresholds[0] <= thresholds[-1] <= shown[1]
        assert min(thresholds[0] - shown[0], shown[1] - thresholds[-1]) > 0.0 or len(thresholds) > 1


@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.2, 0.99, 1.0])
def test_one_threshold_has_its_surroundings(rows, threshold):
    from matplotlib.figure import Figure

    y, models = rows
    band = confidence_band(y, models["sharp"], "regret", thresholds=[threshold])
    first, last = band.plot(Figure().add_subplot()).ax_.get_xlim()
    assert 0.0 <= first <= threshold <= last <= 1.0
    assert first < threshold or threshold == 0.0
    assert threshold < last or threshold == 1.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_band_on_one_side_of_zero_is_seen_from_zero(sign):
    from matplotlib.figure import Figure

    y = np.arange(40) >= 20
    band = difference_band(y, np.linspace(0.2, 0.8, 40), np.linspace(0.3, 0.7, 40), "regret", thresholds=[0.2, 0.4])
    near, far = sign * np.array([0.3, 0.4]), sign * np.array([0.6, 0.5])
    band = replace(
        band,
        estimate=0.5 * (near + far),
        simultaneous_low=np.minimum(near, far),
        simultaneous_high=np.maximum(near, far),
    )
    ax = Figure().add_subplot()
    show_bands(ax, [band], (0.2, 0.4), band.estimate)
    ends = np.sort(sign * np.array(ax.get_ylim()))
    assert ends[0] == 0.0 if sign > 0.0 else -0.1 < ends[0] < 0.0  # 0 is drawn as a line, and no room left below it
    assert 0.6 < ends[1] < 0.7


def test_a_band_without_height_is_a_line_near_the_bottom():
    from matplotlib.figure import Figure

    y, score = np.arange(40) >= 20, np.linspace(0.2, 0.8, 40)
    band = difference_band(y, score, score, "regret", thresholds=[0.2, 0.4])
    ax = Figure().add_subplot()
    show_bands(ax, [band], (0.2, 0.4), band.estimate)
    assert ax.get_ylim() == (0.0, 0.05)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_wide_bound_of_many_does_not_flatten_the_others(sign):
    from matplotlib.figure import Figure

    y, at = np.arange(40) >= 20, np.linspace(0.1, 0.9, 100)
    band = difference_band(y, np.linspace(0.2, 0.8, 40), np.linspace(0.3, 0.7, 40), "regret", thresholds=at)
    far = np.where(at == at[50], 0.9, 0.1) * sign
    near = -0.1 * sign * np.ones(100)
    ends = {"simultaneous_low": np.minimum(near, far), "simultaneous_high": np.maximum(near, far)}
    band, ax = replace(band, estimate=np.zeros(100), **ends), Figure().add_subplot()
    show_bands(ax, [band], (0.1, 0.9), band.estimate)
    ends = np.sort(sign * np.array(ax.get_ylim()))
    assert -0.2 < ends[0] < -0.1
    assert 0.1 < ends[1] < 0.5


def test_a_band_reaches_as_far_on_log_odds_as_its_curve(rows):
    from matplotlib.figure import Figure

    y, models = rows
    p = np.r_[1e-7, 1.0 - 1e-7, models["sharp"][2:]]
    curve = regret_curve(y, p).plot(Figure().add_subplot(), x_scale="log-odds")
    band = confidence_band(y, p, "regret", thresholds=[0.0, 0.3, 1.0])
    shown = band.plot(Figure().add_subplot(), x_scale="log-odds").ax_.get_xlim()
    assert shown == pytest.approx(curve.ax_.get_xlim(), rel=1e-9)
    assert 1.0 - shown[1] == pytest.approx(1.0 - curve.ax_.get_xlim()[1], rel=1e-9)


@pytest.mark.parametrize("difference", [False, True])
@pytest.mark.parametrize("kind", ["net_benefit", "interventions_avoided"])
def test_only_the_plunge_of_net_benefit_is_cut_off_as_far_below_zero_as_is_above(kind, difference):
    from matplotlib.figure import Figure

    y, thresholds = np.arange(40) >= 20, np.array([0.05, 0.3, 0.9])
    limits = np.array([[-3.0, -2.0, -2.5], [0.2, 0.3, 0.1]])
    band = confidence_band(y, np.linspace(0.2, 0.8, 40), "net_benefit", thresholds=thresholds)
    ends = dict(zip(("simultaneous_low", "simultaneous_high"), limits, strict=True))
    band = replace(band, kind=kind, is_difference=difference, estimate=np.array([0.1, 0.2, -0.1]), **ends)
    ax = Figure().add_subplot()
    show_bands(ax, [band], (0.0, 1.0), band.estimate)
    low, high = ax.get_ylim()
    assert 0.3 <= high < 0.6
    if kind == "net_benefit" and not difference:
        assert low == -high
    else:
        assert low < -2.5
