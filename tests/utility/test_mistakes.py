"""The likeliest mistakes in calls about measures: each is refused by a message that names the argument."""

import numpy as np
import pytest

from stakes.correction import undo_class_weight
from stakes.metrics import bounded_brier_loss, promised_regret
from stakes.utility import (
    BalancedAccuracy,
    ConfusionMeasure,
    FBeta,
    FractionalLinear,
    expected_utility,
    get_measure,
    optimal_decisions,
    population_threshold,
    utility_curve,
)
from tests.mistakes import assert_named, table

RNG = np.random.default_rng(0)
PROB, WEIGHT = RNG.random(60), RNG.random(60)
Y = (RNG.random(60) < PROB).astype(int)
GAP = np.where(np.arange(60) == 3, np.nan, PROB)
TEXT = [str(value) for value in PROB]
THREE = np.full((60, 3), 1 / 3)
NO_MEASURE = ["f_one", np.mean, None, PROB, "fbeta:x", 3, ""]
NO_FILL = ["nan", "warn", 2, None, True, (0, 1)]


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "y_prob": [100 * PROB, "abc", TEXT, GAP, None, 0.5, THREE],
            "measure": NO_MEASURE,
            "zero_division": NO_FILL,
            "method": ["fast", None, "closed_form"],
        }
    ),
)
@pytest.mark.parametrize("function", [expected_utility, optimal_decisions])
def test_mistakes_about_decisions_are_named(function, name, value):
    assert_named(name, lambda: function(**({"y_prob": PROB, "measure": "f1"} | {name: value})))


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "sample_weight": [WEIGHT[:-1], "balanced", -WEIGHT],
            "correction": [0.5, "isotonic", lambda p: p[:-1]],
            "corrected": [lambda p: 3 * p],
        }
    ),
)
def test_mistaken_weights_and_corrections_are_named(name, value):
    argument = "correction" if name == "corrected" else name
    assert_named(argument, lambda: expected_utility(PROB, "f1", **{argument: value}))


@pytest.mark.parametrize(
    ("name", "value"), table({"slopes": [1, (-1,), ("a",), None, ()], "shifts": [0, ("a",), None, (np.inf,)]})
)
def test_mistaken_scenarios_are_named(name, value):
    assert_named(name, lambda: expected_utility(PROB, "f1").sensitivity(**{name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "y_true": [PROB, np.arange(60) % 3, None],
            "y_score": [GAP, PROB[:-1], TEXT, None, THREE],
            "measure": NO_MEASURE,
            "sample_weight": [-WEIGHT, WEIGHT[:-1], "balanced"],
            "pos_label": [3],
            "zero_division": NO_FILL,
        }
    ),
)
@pytest.mark.parametrize("function", [population_threshold, utility_curve])
def test_mistakes_about_populations_are_named(function, name, value):
    assert_named(name, lambda: function(**({"y_true": Y, "y_score": PROB, "measure": "f1"} | {name: value})))


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "n_resamples": ["many", -1, 2.5, None, True, np.inf],
            "confidence_level": [95, "0.9", None, True],
            "random_state": ["x", -1, 1.5],
        }
    ),
)
def test_mistaken_resampling_is_named(name, value):
    assert_named(name, lambda: population_threshold(Y, PROB, "f1", **{name: value}))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        *(("beta", lambda value=value: FBeta(value)) for value in ("two", None, (1, 2), -1, True, np.inf)),
        ("c", lambda: FractionalLinear((1, 2), (1, 2, 3, 4))),
        ("c", lambda: FractionalLinear("abc", (1, 2, 3, 4))),
        ("c", lambda: FractionalLinear(1, (1, 2, 3, 4))),
        ("d", lambda: FractionalLinear((1, 2, 3), None)),
        ("d", lambda: FractionalLinear((1, 2, 3), (1, 2, 3))),
        ("f must", lambda: ConfusionMeasure("profit")),
        ("f must", lambda: ConfusionMeasure(lambda tp: tp)),
        ("absent", lambda: BalancedAccuracy(absent="zero")),
        ("measure", lambda: get_measure(3)),
        ("measure", lambda: get_measure(["f1"])),
    ],
)
def test_mistaken_measures_are_named(name, make):
    assert_named(name, make)


@pytest.mark.parametrize(
    ("call", "takes_logits"),
    [
        (lambda x, **o: expected_utility(x, "f1", **o).utility, False),
        (lambda x, **o: optimal_decisions(x, "f1", **o).tolist(), False),
        (lambda x, **o: promised_regret(x, costs=0.2, **o), False),
        (lambda x, **o: bounded_brier_loss(Y, x, bounds=(0.1, 0.5), **o), True),
        (lambda x, **o: undo_class_weight(x, scale_pos_weight=3.0, **o).tolist(), True),
    ],
)
def test_the_remedy_for_log_odds_is_one_that_the_function_takes(call, takes_logits):
    log_odds = np.log(PROB / (1 - PROB))
    with pytest.raises(ValueError, match=r"log-odds x: logits=True where .* argument, else 1 / \(1 \+ exp\(-x\)\)"):
        call(log_odds)
    assert call(1 / (1 + np.exp(-log_odds))) == pytest.approx(call(PROB))
    if takes_logits:
        call(log_odds, logits=True)
    else:
        with pytest.raises(TypeError, match="logits"):
            call(log_odds, logits=True)
