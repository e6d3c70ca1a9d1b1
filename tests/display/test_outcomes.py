"""Every picture of rows that an outcome weighs says so: the horizon, the unit of money, what the weights are."""

from functools import partial

import numpy as np
import pytest

from stakes import PartlyVerified, RowCosts, ScoreTable, TimeToEvent, decompose, evaluate, net_benefit_curve
from stakes.inference import confidence_band, difference_band

plt = pytest.importorskip("matplotlib.pyplot")
display = pytest.importorskip("stakes.display")

RNG = np.random.default_rng(3)
N = 200
P = RNG.beta(2, 5, N)
MODELS = {"a": P, "b": np.sqrt(P)}
TIME, LEFT = RNG.exponential(2.0 * (1.2 - P)), RNG.exponential(2.0, N)
ILL = RNG.random(N) < P
FOLLOWED = TimeToEvent(event=TIME <= LEFT, time=np.minimum(TIME, LEFT), horizon=1.5)
AMOUNTS = RowCosts(ILL, false_positive=5.0, false_negative=RNG.lognormal(3, 0.5, N), unit="EUR")
SEEN = np.where((P > 0.3) | (RNG.random(N) < 0.4), ILL, np.nan)
OUTCOMES = {
    "followed": (FOLLOWED, "event by horizon 1.5, rows weighted for censoring"),
    "to the end": (TimeToEvent(event=TIME < 9, time=np.minimum(TIME, 9), horizon=1.5), "event by horizon 1.5"),
    "amounts": (AMOUNTS, "rows weighted by EUR at stake"),
    "amounts, followed": (
        RowCosts(FOLLOWED, false_positive=5.0, false_negative=20.0, unit="EUR"),
        "event by horizon 1.5, rows weighted for censoring and by EUR at stake",
    ),
    "verified": (PartlyVerified(SEEN, groups=P > 0.3), "rows weighted for labels not looked up"),
    "verified by design": (
        PartlyVerified(SEEN, probability=np.where(P > 0.3, 1.0, 0.4)),
        "rows weighted for labels not looked up",
    ),
}
EVERY = {name: found for name in display.__all__ if hasattr(found := getattr(display, name), "from_predictions")}
# from what no outcome stands in
NOT_OF_OUTCOMES = {"BoundaryDisplay", "ExpectedUtilityDisplay"}
OF_KNOWN_WEIGHTS = {"BinnedReliabilityDisplay", "LossCalibrationDisplay", "SmoothCalibrationDisplay"}
OF_AMOUNTS = {"DecisionCurveDisplay", "DecompositionDisplay", "RegretCurveDisplay", "StandardizedDecisionCurveDisplay"}
NOT_OF_AMOUNTS = EVERY.keys() - NOT_OF_OUTCOMES - OF_AMOUNTS
REFUSED = {
    "followed": OF_KNOWN_WEIGHTS - {"BinnedReliabilityDisplay"},  # each bin has its own estimate of censoring
    "verified": OF_KNOWN_WEIGHTS,
    "amounts": NOT_OF_AMOUNTS,
    "amounts, followed": NOT_OF_AMOUNTS,
}
MORE = {"UtilityCurveDisplay": {"measure": "f1"}, "DeferralDisplay": {"costs": 0.3}}


@pytest.fixture
def unplaced(monkeypatch):
    """Leave out the layout, which takes longer than the picture and moves no word."""
    monkeypatch.setattr("stakes.display._axes.settle", lambda _: None)


def words(figure):
    """All that is written along the axes and above them."""
    parts = [text.get_text() for text in (figure.texts if figure is not None else ())]
    for ax in figure.axes:
        parts += [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()]
    return " | ".join(parts)


@pytest.mark.usefixtures("unplaced")
@pytest.mark.parametrize("kind", OUTCOMES)
@pytest.mark.parametrize("name", sorted(EVERY.keys() - NOT_OF_OUTCOMES))
def test_displays_name_the_outcome_or_refuse_it(name, kind):
    outcome, told = OUTCOMES[kind]
    draw = partial(EVERY[name].from_predictions, outcome, MODELS, **MORE.get(name, {}))
    if name in REFUSED.get(kind, ()):
        with pytest.raises(ValueError, match=r"order these rows|weights as known"):
            draw()
        return
    drawn = draw()
    assert told in words(drawn.figure_)
    plt.close("all")


@pytest.mark.usefixtures("unplaced")
@pytest.mark.parametrize("kind", OUTCOMES)
def test_results_keep_what_they_are_about(kind):
    outcome, told = OUTCOMES[kind]
    table = ScoreTable.from_predictions(outcome, P)
    again = ScoreTable.from_json(table.to_json())
    assert again.about == again.merge(table).about == told
    if not table.by_amount:  # of which the share that is positive cannot be stated
        assert table.with_prevalence(0.3).about == told
    band = confidence_band(outcome, P, "regret", thresholds=[0.2, 0.4], n_resamples=1000)
    gap = difference_band(outcome, P, np.sqrt(P), "net_benefit", thresholds=[0.2, 0.4], n_resamples=1000)
    for result in (net_benefit_curve(again), band, gap):
        assert told in words(result.plot().figure_)
    assert decompose(table, costs=(0.2, 0.6)).about == told
    plt.close("all")


@pytest.mark.usefixtures("unplaced")
@pytest.mark.parametrize(("kind", "named"), [("followed", "horizon 1.5"), ("amounts", "EUR at stake")])
def test_an_evaluation_says_it_once_and_its_curves_each(kind, named):
    outcome, told = OUTCOMES[kind]
    result = evaluate(outcome, MODELS, costs=(0.2, 0.6))
    figure = result.plot()
    assert named in figure.get_suptitle()
    assert told not in words(figure)
    assert told in words(result.curves("regret")["a"].plot().figure_)
    plt.close("all")


def test_axes_of_amounts_are_cost_ratios_per_unit_at_stake():
    drawn = display.RegretCurveDisplay.from_predictions(AMOUNTS, MODELS)
    assert drawn.ax_.get_ylabel() == "Regret per unit at stake"
    assert drawn.ax_.get_xlabel().startswith("Cost ratio (1/2: amounts as stated)")


def test_labels_are_drawn_as_they_were():
    drawn = display.RegretCurveDisplay.from_predictions(ILL, MODELS)
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("Threshold", "Regret per decision")


def test_a_legend_below_keeps_clear_of_the_second_line():
    figure, ax = plt.subplots(layout="constrained")
    display.DecisionCurveDisplay.from_predictions(FOLLOWED, MODELS, ax=ax, legend="below")
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    label = ax.xaxis.label.get_window_extent(renderer)
    assert ax.get_legend().get_window_extent(renderer).y1 <= label.y0
