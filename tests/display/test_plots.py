"""`Curve.plot` and `Evaluation.plot`; what drawing must leave alone; what is said without matplotlib."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from stakes import costs, evaluate, net_benefit_curve, regret_curve, reliability_curve
from stakes.display import (
    DecisionCurveDisplay,
    DecompositionDisplay,
    RegretCurveDisplay,
    ReliabilityDisplay,
    plot_curve,
)


@pytest.mark.parametrize(
    ("curve_of", "display"),
    [
        (regret_curve, RegretCurveDisplay),
        (net_benefit_curve, DecisionCurveDisplay),
        (reliability_curve, ReliabilityDisplay),
    ],
)
def test_curve_is_drawn_by_the_display_of_its_kind(rows, plt, curve_of, display):
    y, models = rows
    _, ax = plt.subplots()
    shown = curve_of(y, models["sharp"], name="sharp").plot(ax, bounds=(0.1, 0.3), legend=None)
    assert type(shown) is display
    assert (shown.ax_, shown.lines_[0].get_label(), ax.get_legend()) == (ax, "sharp", None)
    assert shown.bounds_ is not None


def test_options_that_nothing_uses_are_refused(rows):
    y, models = rows
    with pytest.raises(TypeError, match="colour"):
        regret_curve(y, models["sharp"]).plot(colour="red")
    with pytest.raises(TypeError, match="colour"):
        evaluate(y, models).plot(colour="red")


def test_kind_without_display_is_refused(rows):
    from dataclasses import replace

    y, models = rows
    with pytest.raises(ValueError, match=r"curve must be one of .*'regret', 'net benefit'"):
        plot_curve(replace(regret_curve(y, models["sharp"]), kind="unheard of"))


def test_evaluation_is_four_pictures_with_one_legend(rows):
    y, models = rows
    evaluation = evaluate(y, models, costs=(0.1, 0.3))
    figure = evaluation.plot()
    regret, decision, reliability, decomposition = figure.axes
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "Regret per decision",
        "Net benefit",
        "Observed event rate",
        "Discrimination (regret)",
    ]
    for ax in (regret, decision, reliability):
        extent = ax.patches[0].get_extents().transformed(ax.transData.inverted())
        assert (extent.x0, extent.x1) == pytest.approx((0.1, 0.3))
    assert [ax.get_legend() for ax in figure.axes] == [None] * 4
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*models, "plausible thresholds"]
    drawn = {line.get_label(): line for line in decomposition.lines}
    for name in models:
        assert drawn[name].get_xdata()[0] == evaluation[name].decomposition.miscalibration
    exact = evaluation.curves("regret")["coarse"]
    line = next(line for line in regret.lines if line.get_label() == "coarse")
    assert exact.at(line.get_xdata()[::2]) == pytest.approx(np.asarray(line.get_ydata())[::2], abs=1e-15)


def test_scores_of_the_decomposition_are_said_to_leave_out_the_harm(rows):
    y, models = rows
    titles = [axes.get_title() for axes in evaluate(y, models, costs=(0.1, 0.3), harm=0.02).plot().axes]
    assert titles.count("score: cost without the harm") == 1
    assert not any("harm" in axes.get_title() for axes in evaluate(y, models, costs=(0.1, 0.3)).plot().axes)


def test_a_fifth_picture_shows_the_difference_where_curves_cross():
    rng = np.random.default_rng(0)
    risk = rng.beta(0.5, 2.0, 3000)
    y = rng.random(3000) < risk
    evaluation = evaluate(y, {"timid": np.where(risk < 0.5, 0.01, risk)}, costs=(0.05, 0.8))
    figure = evaluation.plot()
    below = figure.axes[-1]
    assert below.get_ylabel() == "Difference in regret per decision"
    texts = [text.get_text() for text in below.get_legend().get_texts()]
    assert texts == ["timid - treat all", "95% simultaneous band", "95% interval at each threshold"]
    (line,) = [line for line in below.lines if line.get_label() == texts[0]]
    assert np.array_equal(line.get_ydata(), evaluation.crossing["treat all"].estimate)


def test_each_model_has_one_colour_in_all_four_pictures(ten):
    y, models = ten
    figure = evaluate(y, models, costs=(0.1, 0.3)).plot()
    for name in models:
        lines = [line for ax in figure.axes for line in ax.lines if line.get_label() == name]
        assert (len(lines), len({line.get_color() for line in lines})) == (4, 1)


@pytest.mark.parametrize("measure", [costs.Fixed(0.2), costs.LogOddsUniform(0.0, 1.0), costs.Beta(2.0, 5.0), None])
@pytest.mark.parametrize("x_scale", ["log-odds", pytest.param("linear", marks=pytest.mark.thorough)])
def test_every_kind_of_costs_is_drawn(rows, measure, x_scale):
    y, models = rows
    figure = evaluate(y, models, costs=measure).plot(x_scale=x_scale)
    figure.canvas.draw()
    threshold = {"linear": "linear", "log-odds": "logit"}[x_scale]
    assert [ax.get_xscale() for ax in figure.axes] == [threshold, threshold, "linear", "linear"]


def test_figure_size_is_that_of_the_pictures(rows):
    y, models = rows
    width, height = evaluate(y, models).plot(figsize=(7.0, 5.0)).get_size_inches()
    assert width == 7.0
    assert 5.0 < height < 5.5


def draw_all(y, models, ax=None):
    for display in (RegretCurveDisplay, DecisionCurveDisplay, ReliabilityDisplay):
        yield display.from_predictions(y, models, bounds=(0.1, 0.3), ax=ax)
    yield DecompositionDisplay.from_predictions(y, models, costs=(0.1, 0.3), ax=ax)


def test_settings_and_other_figures_are_left_alone(rows, plt, monkeypatch):
    y, models = rows
    monkeypatch.setattr(plt, "show", lambda *_a, **_k: pytest.fail("drawing must not show"))
    before = dict(plt.rcParams)
    other, ax = plt.subplots()
    state = [child for child in ax.get_children() if child.get_visible()]
    for count, shown in enumerate(draw_all(y, models), start=2):
        assert len(plt.get_fignums()) == count
        assert shown.figure_ is not other
    evaluate(y, models).plot()
    assert dict(plt.rcParams) == before
    assert [child for child in ax.get_children() if child.get_visible()] == state


def test_axes_of_the_caller_open_no_figure(rows, plt):
    y, models = rows
    figure, axes = plt.subplots(2, 2)
    size = tuple(figure.get_size_inches())
    for ax in axes.ravel():
        for shown in draw_all(y, models, ax=ax):
            assert (shown.ax_, shown.figure_) == (ax, figure)
            ax.clear()
    assert len(plt.get_fignums()) == 1
    assert tuple(figure.get_size_inches()) == size


def test_axes_in_a_part_of_a_figure_are_used(rows, plt):
    y, models = rows
    figure = plt.figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    for part in (left, right):
        for shown in draw_all(y, models, ax=part.subplots()):
            assert shown.figure_ is figure
    figure.canvas.draw()


def test_figures_can_be_stored(rows):
    y, models = rows
    figure = evaluate(y, models, costs=(0.1, 0.3)).plot(x_scale="log-odds")
    again = pickle.loads(pickle.dumps(figure))  # noqa: S301  (our own)
    assert [ax.get_ylabel() for ax in again.axes] == [ax.get_ylabel() for ax in figure.axes]


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import stakes, stakes.display\n"
        "try:\n    stakes.regret_curve([0, 1], [0.3, 0.6]).plot()\n"
        "except ImportError as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "drawing needs matplotlib: pip install 'stakes[plot]'"


def test_importing_the_displays_loads_no_matplotlib():
    code = "import stakes.display, sys; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
