"""The likeliest mistakes in calls about boundaries: each is refused by a message that names the argument."""

import numpy as np
import pytest

from stakes.boundary import Boundary, PrecisionMonitor, fit_boundary, precision_recall_frontier, uncertainty_calibrate
from tests.mistakes import assert_named, table

RNG = np.random.default_rng(0)
SCORE, UNCERTAINTY = RNG.random(60), RNG.random(60)
Y = (RNG.random(60) < SCORE).astype(int)
GAP = np.where(np.arange(60) == 3, np.nan, SCORE)
TEXT = [str(value) for value in SCORE]
THREE = np.full((60, 3), 1 / 3)
NO_SHARE = [80, "80%", "high", True, b"0.5", (0.5, 0.9), 0, -1, float("nan"), "1e-20000000", 10**400, [0.9]]
NO_LEVEL = ["half", 95, True, (0.9, 0.95), 0, 1, "0.95"]
NO_SEED = ["x", -1, 1.5]

ROWS = {
    "y_true": [SCORE, np.arange(60) % 3, None, 1],
    "y_score": [TEXT, GAP, SCORE[:-1], THREE],
    "uncertainty": [GAP, UNCERTAINTY[:-1], None, 0.3, TEXT],
    "levels": ["three", 2.5, True, [0.6, 0.3], None],
    "binning": ["quantile", None, ["equal_weight"]],
    "sample_weight": [UNCERTAINTY, "balanced", np.ones(59), -np.ones(60)],
    "pos_label": ["yes"],
}
BINS = {"score_bins": ["ten", 0, 2.5, True]}


def rows(**changed):
    return {"y_true": Y, "y_score": SCORE, "uncertainty": UNCERTAINTY} | changed


@pytest.mark.parametrize(("name", "value"), table(ROWS))
@pytest.mark.parametrize("function", [fit_boundary, precision_recall_frontier, uncertainty_calibrate])
def test_mistaken_rows_are_named(function, name, value):
    bound = {"min_precision": 0.6} if function is fit_boundary else {}
    assert_named(name, lambda: function(**rows(**{name: value}), **bound))


@pytest.mark.parametrize(("name", "value"), table(BINS))
@pytest.mark.parametrize("function", [fit_boundary, precision_recall_frontier])
def test_mistaken_bins_are_named(function, name, value):
    bound = {"min_precision": 0.6} if function is fit_boundary else {}
    assert_named(name, lambda: function(**rows(), score_bins=value, **bound))


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "min_precision": [*NO_SHARE, None, "1e-20000000", "1e-2_0_0_0_0_0_0_0"],
            "capacity": [2.5, "many", True, (1, 2), -1],
            "confidence_level": NO_LEVEL,
            "goal": ["auc", None, ["recall"]],
            "solver": ["fast", None],
            "tune": [True, 5],
        }
    ),
)
def test_mistaken_settings_are_named(name, value):
    assert_named(name, lambda: fit_boundary(**rows(), **({"min_precision": 0.6} | {name: value})))


@pytest.mark.parametrize(
    ("goal", "name", "values"),
    [
        ("precision", "min_recall", [80, "high", True, (0.1, 0.2), -1]),
        ("cost", "costs", ["low", (0.5, 0.1), (2, 10), 25, [0.1, 0.2, 0.3], True, "0.1:0.3"]),
        ("f_beta", "f_beta", ["one", -1, 0, True, (1, 2)]),
    ],
)
def test_mistaken_goals_are_named(goal, name, values):
    for value in values:
        assert_named(name, lambda value=value: fit_boundary(**rows(), goal=goal, **{name: value}))


@pytest.mark.parametrize("value", NO_SEED)
def test_mistaken_seeds_are_named(value):
    boundary = fit_boundary(**rows(), min_precision=0.6)
    assert_named("random_state", lambda: boundary.gain(random_state=value))
    assert_named(
        "random_state", lambda: fit_boundary(**rows(), min_precision=0.6, confidence_level=0.9, random_state=value)
    )


@pytest.mark.parametrize(
    ("name", "value"), table({"confidence_level": NO_LEVEL, "cv": ["five", 1, 2.5, True, 61, None]})
)
def test_mistakes_about_the_gain_are_named(name, value):
    assert_named(name, lambda: fit_boundary(**rows(), min_precision=0.6).gain(**{name: value}))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("uncertainty", (SCORE, UNCERTAINTY[:-1])),
        ("uncertainty", (SCORE, None)),
        ("score", ("a", UNCERTAINTY)),
        ("score", (GAP, UNCERTAINTY)),
        ("score", (THREE, UNCERTAINTY)),
        ("score", (0.5, 0.5)),
    ],
)
def test_mistaken_rows_to_decide_about_are_named(name, given):
    assert_named(name, lambda: fit_boundary(**rows(), min_precision=0.6).predict(*given))
    assert_named(name, lambda: uncertainty_calibrate(**rows()).predict(*given))
    assert_named(name, lambda: precision_recall_frontier(**rows()).predict(*given, min_precision=0.5))


@pytest.mark.parametrize("value", NO_SHARE)
def test_mistaken_promises_are_named(value):
    assert_named("min_precision", lambda: precision_recall_frontier(**rows()).max_recall(value))
    assert_named("min_precision", lambda: PrecisionMonitor(value))


@pytest.mark.parametrize("value", NO_LEVEL)
def test_mistaken_levels_of_a_monitor_are_named(value):
    assert_named("confidence_level", lambda: PrecisionMonitor(0.9, confidence_level=value))


@pytest.mark.parametrize("value", [SCORE, 1, "1", None, [1, 0, None], [[1, 0]], [0, 1, 2]], ids=repr)
def test_mistaken_labels_of_a_monitor_are_named(value):
    assert_named("y_true", lambda: PrecisionMonitor(0.9).update(value))


def test_what_is_no_boundary_or_state_is_named():
    assert_named("boundary", lambda: PrecisionMonitor.from_boundary("boundary.json"))
    for content in (None, "x", 3, {}):
        assert_named("content", lambda content=content: PrecisionMonitor.from_dict(content))
    for text in (None, {}, "[1]", "[" * 200_000):
        assert_named("text", lambda text=text: Boundary.from_json(text))
