"""Names stand in pictures as they are: also those that begin with "_", or in which TeX would read a formula."""

import html
import io
import re

import numpy as np
import pytest

from stakes import costs, evaluate
from stakes.actions import evaluate_actions
from stakes.boundary import fit_boundary
from stakes.display import (
    BandDisplay,
    BinnedReliabilityDisplay,
    CostCurveDisplay,
    CostDistributionDisplay,
    DecisionCurveDisplay,
    DecompositionDisplay,
    GainsDisplay,
    InterventionsAvoidedDisplay,
    LossCalibrationDisplay,
    RegretCurveDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
    SmoothCalibrationDisplay,
    ThresholdDisplay,
    UtilityCurveDisplay,
)
from stakes.evaluation import evaluate_centres
from stakes.inference import confidence_band
from stakes.training import compare_monitors

NAMES = ("_score", "in $, out $", "a$_$b", "plain")
RNG = np.random.default_rng(4)
Z = RNG.normal(size=300)
P = 1.0 / (1.0 + np.exp(1.0 - Z))
Y = (RNG.random(300) < P).astype(int)
MODELS = {name: P ** (1.0 + 0.2 * k) for k, name in enumerate(NAMES)}
DRAWN_FROM_PREDICTIONS = (
    BinnedReliabilityDisplay, CostCurveDisplay, DecisionCurveDisplay, DecompositionDisplay, GainsDisplay,
    InterventionsAvoidedDisplay, LossCalibrationDisplay, RegretCurveDisplay, ReliabilityDisplay, RocCurveDisplay,
    SmoothCalibrationDisplay, ThresholdDisplay,
)  # fmt: skip


def texts(plt, figure):
    """What stands in the picture, from the file that a viewer opens; a formula stands there letter by letter."""
    with plt.rc_context({"svg.fonttype": "none"}):
        file = io.BytesIO()
        figure.savefig(file, format="svg")
    found = re.findall(r"<text[ >].*?</text>", file.getvalue().decode(), re.DOTALL)
    return [" ".join(html.unescape(re.sub("<[^>]*>", "", each)).split()) for each in found]


PICTURES = {
    each.__name__: lambda each=each: each.from_predictions(Y, MODELS).figure_ for each in DRAWN_FROM_PREDICTIONS
}
PICTURES |= {
    "overview": lambda: evaluate(Y, MODELS, costs=(0.1, 0.4)).plot(),
    "paper": lambda: evaluate(Y, MODELS, costs=(0.1, 0.4)).plot(kind="paper"),
    "utility": lambda: UtilityCurveDisplay.from_predictions(Y, MODELS, "f1").figure_,
    "costs": lambda: CostDistributionDisplay({name: costs.Uniform(0.1, 0.4) for name in NAMES}).plot().figure_,
    "bands": lambda: BandDisplay({name: confidence_band(Y, p, "regret") for name, p in MODELS.items()}).plot().figure_,
    "actions": lambda: evaluate_actions(
        Y, {name: np.column_stack([1.0 - p, p]) for name, p in MODELS.items()}, matrices=[[0, 1], [1, 0]]
    ).plot().figure_,
    "forest": lambda: evaluate_centres(Y, {"a": P}, np.array(NAMES)[np.arange(300) % 4]).plot().figure_,
    "monitors": lambda: compare_monitors(
        {"f1": [0.2, 0.5, 0.4], **{name: [0.5, 0.3, 0.4] for name in NAMES}}, criteria=dict.fromkeys(NAMES, "lower")
    ).plot().figure_,
    "features": lambda: fit_boundary(Y, P, Z, levels=2, min_precision=0.7).explain(
        dict.fromkeys(NAMES, Z)
    ).plot().figure_,
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_every_name_stands_in_the_picture_as_it_is(plt, name):
    shown = texts(plt, PICTURES[name]())
    assert [each for each in NAMES if not any(each in text for text in shown)] == []


def test_a_band_finds_its_curve_whatever_its_name(plt):
    for name in NAMES:
        curve = DecisionCurveDisplay.from_predictions(Y, {name: P})
        band = confidence_band(Y, P, "net_benefit", name=name).plot(curve.ax_)
        assert band.lines_ == curve.lines_
        plt.close("all")


@pytest.mark.parametrize("display", [DecisionCurveDisplay, RocCurveDisplay])
def test_a_very_long_name_leaves_the_others_in_the_picture(display):
    ends = ("January", "June")
    models = {"short": P, **{f"$ {'x' * 300} {end}": P ** (1.1 + k) for k, end in enumerate(ends)}}
    shown = display.from_predictions(Y, models)
    shown.figure_.canvas.draw()
    (legend,) = shown.figure_.legends
    assert all(shown.figure_.bbox.contains(*corner) for corner in legend.get_window_extent().get_points())
    names = [text.get_text() for text in legend.get_texts()]
    assert len({*names}) == 3
    assert [end for end in ("short", *ends) if not any(end in name for name in names)] == []


def test_characters_that_no_font_has_are_named():
    shown = DecisionCurveDisplay.from_predictions(Y, {"a\tb": P, "c\u202ed": P**2})
    assert [line.get_label() for line in shown.lines_] == [r"a\tb", r"c\u202ed"]
    shown.figure_.canvas.draw()


def test_a_very_long_name_leaves_axes_beside_others_their_width(plt):
    figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained")
    RocCurveDisplay.from_predictions(Y, {"x" * 200: P, "short": P**2}, ax=axes[0, 0])
    figure.canvas.draw()
    assert all(ax.get_position().width > 0.35 for ax in (axes[0, 1], axes[1, 0], axes[1, 1]))  # the first is square
