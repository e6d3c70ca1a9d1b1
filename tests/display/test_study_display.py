"""Figures of a validation study."""

from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from stakes import RowCosts, TimeToEvent, evaluate
from stakes.display import ForestDisplay, HorizonDisplay, _axes, _plot, plot_study
from stakes.evaluation import Evaluation, evaluate_centres, evaluate_horizons

pytest.importorskip("matplotlib")
to_hex = pytest.importorskip("matplotlib.colors").to_hex

RNG = np.random.default_rng(8)
X = RNG.normal(size=200)
TIME, LEFT = RNG.exponential(np.exp(1.5 - X)), RNG.uniform(0.0, 9.0, 200)
HORIZONS = [1.0, 3.0]
RISK = np.stack([1.0 - np.exp(-h * np.exp(X - 1.5)) for h in HORIZONS], axis=1)
OUTCOME = TimeToEvent(event=TIME <= LEFT, time=np.minimum(TIME, LEFT), horizon=3.0)
MODELS = {"a": RISK, "b": RISK**0.5}


@pytest.fixture(scope="module")
def horizons():
    return evaluate_horizons(OUTCOME, MODELS, horizons=HORIZONS, threshold=0.2).plot()


@pytest.mark.parametrize(
    ("measure", "label"), [("auc", "AUC"), ("o_e_ratio", "O:E"), ("net_benefit", "Net benefit at 20%")]
)
def test_a_panel_shows_each_number_with_its_interval(horizons, measure, label):
    ax = horizons.axes_[measure]
    assert (ax.get_ylabel(), ax.get_xlabel()) == (label, "Horizon")
    for place, (name, bars) in enumerate(zip("ab", horizons.bars_[measure], strict=True)):
        found = [at[measure] for at in horizons.evaluation.estimates[name]]
        np.testing.assert_allclose(bars.lines[0].get_ydata(), [each.value for each in found])
        drawn = [segment[:, 1] for segment in bars.lines[2][0].get_segments()]
        np.testing.assert_allclose(drawn, [each.interval for each in found])
        apart = bars.lines[0].get_xdata() - HORIZONS
        assert np.all((apart < 0.0) if place == 0 else (apart > 0.0))


def test_lines_of_a_panel_stand_where_a_model_says_nothing_or_what_is_observed(horizons):
    lines = {
        name: [line for line in ax.lines if len(set(line.get_ydata())) == 1] for name, ax in horizons.axes_.items()
    }
    found = {name: {float(line.get_ydata()[0]) for line in flat} for name, flat in lines.items()}
    assert found == {"auc": {0.5}, "brier_loss": set(), "ipa": {0.0}, "o_e_ratio": {1.0}, "net_benefit": {0.0}}


def test_models_have_one_legend_below_and_one_model_has_none(horizons):
    assert [text.get_text() for text in horizons.figure_.legends[0].get_texts()] == ["a", "b"]
    alone = HorizonDisplay(evaluate_horizons(OUTCOME, {"a": RISK}, horizons=HORIZONS)).plot()
    assert list(alone.axes_) == ["auc", "brier_loss", "ipa", "o_e_ratio"]
    assert not alone.figure_.legends
    inside = HorizonDisplay(alone.evaluation).plot(alone.figure_.subfigures(1, 1))
    assert len(inside.axes_) == 4
    with pytest.raises(ValueError, match="evaluation must be what evaluate_horizons returned, got TimeToEvent"):
        HorizonDisplay(OUTCOME)


@pytest.mark.parametrize("x_scale", ["linear", "log-odds"])
def test_figure_of_a_paper_shows_bands_scores_and_table(x_scale):
    result = evaluate(OUTCOME, {name: risk[:, 1] for name, risk in MODELS.items()}, costs=(0.1, 0.4))
    figure = result.plot(kind="paper", thresholds=[0.1, 0.2, 0.4], x_scale=x_scale)
    curves, strip, table = figure.axes[:3]
    assert curves.get_xscale() == strip.get_xscale()
    assert curves.get_xlim() == strip.get_xlim()
    places = [ax.get_position() for ax in (curves, strip, table)]
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(places))
    band = result.bands("net_benefit")["b"]
    shaded = curves.collections[-1].get_paths()[0].vertices
    assert shaded[:, 1].min() == pytest.approx(band.simultaneous_low.min())
    assert shaded[:, 1].max() == pytest.approx(band.simultaneous_high.max())
    cells = table.tables[0].get_celld()
    expected = result.clinical_table([0.1, 0.2, 0.4])._cells()
    shown = [[cells[row, column].get_text().get_text() for column in range(5)] for row in range(4)]
    assert [[text.replace("\n", " ") for text in row] for row in shown] == expected
    low, high = strip.get_xlim()
    counts = [patch.get_data() for patch in strip.patches]
    assert [data.baseline for data in counts] == [1, 0]  # the first model on top
    for data, risk in zip(counts, MODELS.values(), strict=True):
        weight = OUTCOME.weight * ((risk[:, 1] >= low) & (risk[:, 1] <= high))
        per_bar = (data.values - data.baseline) / 0.85
        inside = (risk[:, 1] >= data.edges[0]) & (risk[:, 1] <= data.edges[1])
        assert per_bar[0] * max(_bars(risk[:, 1], data.edges)) == pytest.approx(weight[inside].sum(), abs=1e-9)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["a", "b", "95% band, at all thresholds at once", "plausible thresholds"]


def test_bars_of_scores_in_the_figure_of_a_paper_are_as_high_as_their_rows_are_many():
    scores = {"low": RNG.beta(2, 9, 600), "wide": RNG.random(600)}
    figure = evaluate(np.arange(600) % 2, scores, costs=(0.1, 0.4)).plot(kind="paper")
    for patch, score in zip(figure.axes[1].patches, scores.values(), strict=True):
        data = patch.get_data()
        counts = np.histogram(score, data.edges)[0]
        np.testing.assert_allclose(data.values - data.baseline, 0.85 * counts / counts.max(), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("costs", "columns", "legend"), [
    ((0.0, 1.0), ["25%", "50%", "75%"], ["a", "b", "95% band, at all thresholds at once"]),
    (0.2, ["20%"], ["a", "b", "plausible thresholds"]),
])  # fmt: skip
def test_figure_of_a_paper_takes_the_whole_range_and_one_threshold(costs, columns, legend):
    figure = evaluate(np.arange(200) % 2, {"a": RISK[:, 1], "b": RISK[:, 0]}, costs=costs).plot(kind="paper")
    cells = figure.axes[2].tables[0].get_celld()
    heads = [cells[0, place].get_text().get_text() for place in range(2, 2 + len(columns))]
    assert heads == [f"Net benefit\nat {share}" for share in columns]
    assert (0, 2 + len(columns)) not in cells
    assert [text.get_text() for text in figure.legends[0].get_texts()] == legend


def test_figure_of_a_paper_holds_its_bands_but_for_a_plunge_below_as_much_as_is_above():
    few = (RNG.random(500) < 1.0 / (1.0 + np.exp(3.2 - (z := RNG.normal(size=500))))).astype(int)  # about 20 events
    wild = 1.0 / (1.0 + np.exp(1.0 - 4.0 * z))
    for scores, (low, high), plunges in (
        (1.0 / (1.0 + np.exp(3.2 - z)), (0.02, 0.2), False),
        (wild, (0.02, 0.95), True),
    ):
        curves = evaluate(few, scores, costs=(low, high)).plot(kind="paper").axes[0]
        bottom, top = curves.get_ylim()
        shaded = curves.collections[-1].get_paths()[0].vertices[:, 1]
        assert shaded.max() < top
        assert (bottom == pytest.approx(-top) and shaded.min() < bottom) if plunges else shaded.min() > bottom


def _bars(score, edges):
    """Weight between each two edges, the last one included."""
    places = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    inside = (score >= edges[0]) & (score <= edges[-1])
    return np.bincount(places[inside], OUTCOME.weight[inside], len(edges) - 1)


def test_what_it_cannot_draw_is_refused():
    y = np.arange(200) % 2
    with pytest.raises(ValueError, match="kind must be one of"):
        evaluate(y, RISK[:, 0]).plot(kind="poster")
    with pytest.raises(ValueError, match="amounts"):
        plot_study(evaluate(RowCosts(y, false_positive=1.0, false_negative=np.linspace(2, 9, 200)), RISK[:, 0]))
    with pytest.raises(ValueError, match="evaluation must be what evaluate returned, got ndarray"):
        plot_study(y)


def test_a_forest_plot_shows_centres_their_mean_and_another_one():
    rng = np.random.default_rng(4)
    p = rng.uniform(0.05, 0.9, 600)
    centre, y = np.repeat(["Graz", "Lyon", "Oslo", "Turin"], 150), rng.random(600) < p
    found = evaluate_centres(y, {"a": p, "b": p**2}, centre, costs=(0.1, 0.4))
    display = found.plot("o_e_ratio", model="b")
    titles = ["Graz", "Lyon", "Oslo", "Turin", "all centres", "another centre"]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == titles
    assert (display.ax_.get_xlabel(), display.ax_.get_xscale()) == ("O:E of b", "log")
    each = [of["o_e_ratio"] for of in found.estimates["b"].values()]
    np.testing.assert_allclose(display.bars_.lines[0].get_xdata(), [e.value for e in each])
    drawn = [segment[:, 0] for segment in display.bars_.lines[2][0].get_segments()]
    np.testing.assert_allclose(drawn, [e.interval for e in each])
    diamond, line = display.pooled_
    over = found.pooled["b"]["o_e_ratio"]
    corners = diamond.get_path().vertices[:4]
    assert corners[:, 0] == pytest.approx([over.interval[0], over.value, over.interval[1], over.value])
    assert corners[:, 1] == pytest.approx([4.0, 3.7, 4.0, 4.3])
    assert tuple(line.get_xdata()) == pytest.approx(over.prediction_interval)
    assert tuple(line.get_ydata()) == (5.0, 5.0)  # at the height of its name
    assert to_hex(line.get_color()) == to_hex(diamond.get_facecolor()) != to_hex(display.bars_.lines[0].get_color())
    bottom, top = display.ax_.get_ylim()
    assert bottom - 5.0 == -top  # as far below the last row as above the first
    gaps = found.plot("regret", model="a - b")
    assert [guide.get_xdata()[0] for guide in gaps.ax_.lines if guide.get_linewidth() == 0.8] == [0.0]
    best = found.plot()
    assert best.ax_.get_xlabel() == "AUC of a"
    assert [guide.get_xdata()[0] for guide in best.ax_.lines if guide.get_linewidth() == 0.8] == [0.5]
    with pytest.raises(ValueError, match="measure must be one of"):
        found.plot("slope", model="a - b")
    with pytest.raises(ValueError, match="model must be one of"):
        found.plot("auc", model="c")
    two = evaluate_centres(y, {"a": p}, np.repeat(["Graz", "Lyon"], 300)).plot("slope")
    assert not two.pooled_
    assert len(two.ax_.get_yticklabels()) == 2
    with pytest.raises(ValueError, match="evaluation must be what evaluate_centres returned"):
        ForestDisplay(y)


@pytest.mark.parametrize("thresholds", [[0.2], [0.1, 0.2, 0.4], np.linspace(0.1, 0.4, 6)])
@pytest.mark.parametrize("name", ["", "logistic regression with splines", "site effects, " * 6 + "second", "x" * 70])
def test_no_words_of_the_table_in_the_figure_of_a_paper_overlap(name, thresholds):
    found = evaluate(np.arange(200) % 2, {name: RISK[:, 1], "b $1$ of $2$": RISK[:, 0]}, costs=(0.1, 0.4))
    figure = found.plot(kind="paper", thresholds=thresholds)
    figure.canvas.draw()
    cells = [cell.get_text() for cell in figure.axes[2].tables[0].get_celld().values()]
    boxes = [text.get_window_extent() for text in cells if text.get_text()]
    assert all(figure.bbox.x0 < box.x0 and box.x1 < figure.bbox.x1 for box in boxes)
    assert [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)] == []


@pytest.mark.parametrize("spread", [0.02, 0.3, 1.0, 2.5, 6.0])
def test_labels_of_a_ratio_axis_can_be_read_and_follow_a_zoom(spread):
    rng = np.random.default_rng(4)
    z, k = rng.normal(size=3000), np.arange(3000) % 4
    p = 1.0 / (1.0 + np.exp(2.0 - z))
    y = rng.random(3000) < 1.0 / (1.0 + np.exp(2.0 - z - spread * np.array([-1.0, -0.6, 0.2, 0.3])[k]))
    y[:4] = True
    display = evaluate_centres(y, {"a": p}, np.array(list("GLOT"))[k]).plot("o_e_ratio")
    for shown in (display.ax_.get_xlim(), (0.7, 1.6), (0.001, 500.0)):
        display.ax_.set_xlim(shown)
        display.figure_.canvas.draw()
        low, high = display.ax_.get_xlim()
        every = [each for each in display.ax_.get_xticklabels(which="both") if each.get_text()]
        found = [each for each in every if low <= each.get_position()[0] <= high]
        boxes = sorted((each.get_window_extent().x0, each.get_window_extent().x1) for each in found)
        assert len(boxes) > 2
        assert all(first[1] < second[0] for first, second in pairwise(boxes))
        numbers = [float(each.get_text().replace("\N{MINUS SIGN}", "-")) for each in found]
        assert numbers == pytest.approx([each.get_position()[0] for each in found])


@pytest.mark.parametrize("inches", [2.0, 3.5, 6.5])
@pytest.mark.parametrize("shown", [(0.6, 1.45), (1.3, 0.55), (0.8, 1.25), (0.97, 1.04), (0.3, 4.0), (0.999, 1.001),
                                   (0.001, 1000.0), (0.005, 20.0), (400.0, 0.0005)])  # fmt: skip
def test_a_ratio_of_one_has_a_tick_and_no_two_ticks_are_too_near_to_be_named(inches, shown):
    from matplotlib.figure import Figure

    ax = Figure(figsize=(inches, 2.0)).add_subplot()
    ax.set_xlim(shown)
    _axes.draw_ratio_axis(ax)
    ticks = ax.get_xticks()
    assert any(ticks == 1.0)
    assert min(shown) <= ticks.min() <= ticks.max() <= max(shown)
    places = np.sort(ax.transData.transform([(tick, 0.5) for tick in ticks])[:, 0]) * 72.0 / ax.figure.dpi
    assert np.all(np.diff(places) > 36.0)  # points: six letters of the size of a tick's name


@pytest.mark.parametrize("inches", [3.5, 6.5])
@pytest.mark.parametrize("shown", [(0.3, 4.0), (70.0, 0.02), (30.0, 400.0), (0.001, 500.0)])
def test_ratios_of_several_orders_have_ticks_of_one_digit(inches, shown):
    from matplotlib.figure import Figure

    ax = Figure(figsize=(inches, 2.0)).add_subplot()
    ax.set_xlim(shown)
    _axes.draw_ratio_axis(ax)
    assert len(ax.get_xticks()) >= 3
    assert {f"{tick:.6e}"[:8] for tick in ax.get_xticks()} <= {"1.000000", "2.000000", "5.000000"}


@pytest.mark.parametrize(("costs", "shares"), [
    ((0.2, 1.0), ["40%", "60%", "80%"]), ((0.0, 0.4), ["10%", "20%", "30%"]), ((0.2, 0.4), ["20%", "30%", "40%"]),
])  # fmt: skip
def test_figure_of_a_paper_leaves_out_thresholds_of_zero_and_one(costs, shares, monkeypatch):
    asked = []

    def stop(_, thresholds):
        asked.extend(thresholds)
        raise InterruptedError

    result = evaluate(np.arange(200) % 2, RISK[:, 1], costs=costs)
    monkeypatch.setattr(type(result), "clinical_table", stop)
    with pytest.raises(InterruptedError):
        plot_study(result)
    assert [f"{share:.0%}" for share in asked] == shares


def test_scores_and_table_in_the_figure_of_a_paper_have_room_for_every_model(plt, monkeypatch):
    def stop(_):
        raise InterruptedError

    monkeypatch.setattr(_plot, "DecisionCurveDisplay", stop)
    heights = {}
    monkeypatch.setattr(Evaluation, "bands", lambda *_: {})
    for count in (1, 2, 4, 16):
        lines = SimpleNamespace(_cells=lambda count=count: [[]] * (count + 2))
        monkeypatch.setattr(Evaluation, "clinical_table", lambda *_, lines=lines: lines)
        models = {f"model {k}": RISK[:, 0] ** (1 + k) for k in range(count)}
        with pytest.raises(InterruptedError):
            plot_study(evaluate(np.arange(200) % 2, models, costs=(0.1, 0.4)), thresholds=[0.2])
        curves, *others = plt.gcf().axes[0].get_gridspec().get_height_ratios()
        heights[count] = np.divide(others, curves)
        rows = (count + 2) * (curves + sum(others)) / others[1]  # of the height of one that the whole figure has
        assert 72.0 * 0.85 * plt.gcf().get_size_inches()[1] / rows > 2.0 * 1.4 * _plot._TABLE_POINTS  # two lines each
    (one, of_one), (two, of_two), (four, of_four), _ = heights.values()
    assert four - two == pytest.approx(2.0 * (two - one))  # as much for each further model
    assert min(one, two / 2.0, four / 4.0) > 0.05  # no row of bars is too low to be seen beside the curves
    # lines of equal height: one for each model, treating everyone, and the heads
    assert [of_two / 4.0, of_four / 6.0] == pytest.approx([of_one / 3.0] * 2)
    assert one < of_one < 0.5


@pytest.mark.parametrize(("inches", "smaller"), [(4.0, False), (2.3, False), (1.5, True)])
def test_letters_of_a_table_have_one_size_and_are_smaller_only_where_words_would_overlap(inches, smaller):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(inches, 1.0))
    ax = figure.add_subplot()
    _plot._draw_table(ax, [["model", "a column of many words"], ["a", "0.123456789 and more"]])
    figure.draw_without_rendering()
    (size,) = {cell.get_fontsize() for cell in ax.tables[0].get_celld().values()}
    assert size < _plot._TABLE_POINTS if smaller else size == _plot._TABLE_POINTS
