"""The likeliest mistakes in calls about corrections: each is refused by a message that names the argument."""

from ast import literal_eval

import numpy as np
import pytest

from stakes.correction import (
    apply_class_weight,
    apply_loss_matrix,
    apply_sampling,
    correct_probabilities,
    estimate_prior,
    implied_weight,
    loss_calibration_curve,
    loss_calibration_test,
    shift_prior,
    undo_class_weight,
    undo_loss_matrix,
    undo_sampling,
)
from tests.mistakes import assert_named, table

RNG = np.random.default_rng(0)
PROB, WEIGHT = RNG.random(60), RNG.random(60)
Y = (RNG.random(60) < PROB).astype(int)
GAP = np.where(np.arange(60) == 3, np.nan, PROB)
TEXT = [str(value) for value in PROB]
BOTH, THREE = np.column_stack([1 - PROB, PROB]), np.full((60, 3), 1 / 3)
NO_PROB = [100 * PROB, GAP, TEXT, "a", None]
NO_LEVEL = [95, "0.9", None, True]
NO_COUNT = ["many", -1, 2.5, None, True, np.inf]
NO_PRIOR = [50, "half", True, 0, 1, [0.2, 0.2], {0: 0.5}, {0: "a", 1: 0.5}, None, (0.1, 0.2, 0.7)]


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "positive_share": [90, "0.9", True, (0.1, 0.2), 0, None],
            "scale_pos_weight": ["nine", True, -1, (1, 2), np.nan],
            "pos_weight": ["nine", True, -1],
            "class_weight": ["balance", {0: "a"}, {"x": 1}, [1, 2, 3], 3.0, {0: -1}],
        }
    ),
)
@pytest.mark.parametrize("function", [undo_class_weight, apply_class_weight])
def test_mistaken_weights_are_named(function, name, value):
    assert_named(name, lambda: function(PROB, **{name: value}))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *(("y_prob", {"y_prob": value, "positive_share": 0.2}) for value in NO_PROB),
        ("y_prob", {"pos_weight": (1, 2)}),
        ("positive_share", {"positive_share": 0.2, "scale_pos_weight": 3}),
        ("positive_share", {"y_prob": THREE, "positive_share": 0.2}),
        ("logits", {"positive_share": 0.2, "logits": "no"}),
        ("labels", {"class_weight": {0: 1}, "labels": [0, 1, 2]}),
        ("labels", {"class_weight": {0: 1}, "labels": 3}),
        ("y_train", {"class_weight": "balanced"}),
        ("y_train", {"class_weight": "balanced", "y_train": 3}),
    ],
)
@pytest.mark.parametrize("function", [undo_class_weight, apply_class_weight])
def test_mistakes_beside_the_weight_are_named(function, name, options):
    assert_named(name, lambda: function(**({"y_prob": PROB} | options)))


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "keep": [0.1, "half", {0: "x"}, {0: -1}, {5: 0.1}, [0.1, 0.2, 0.3], None, {0: None}, True],
            "y_prob": NO_PROB,
            "logits": ["no", 1],
        }
    ),
)
@pytest.mark.parametrize("function", [undo_sampling, apply_sampling])
def test_mistaken_sampling_is_named(function, name, value):
    assert_named(name, lambda: function(**({"y_prob": PROB, "keep": {0: 0.1}} | {name: value})))


@pytest.mark.parametrize("value", NO_PRIOR, ids=repr)
def test_mistaken_shares_are_named(value):
    assert_named("training_prior", lambda: shift_prior(PROB, training_prior=value, prior=0.1))
    assert_named("prior", lambda: shift_prior(PROB, training_prior=0.1, prior=value))
    assert_named("training_prior", lambda: estimate_prior(PROB, training_prior=value, n_resamples=0))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("class_weight", {}),
        ("training_prior", {"training_prior": 0.1}),
        ("class_weight", {"class_weight": "balanced"}),
        ("keep", {"keep": 3}),
        ("y_prob", {"y_prob": 100 * PROB, "keep": {0: 1}}),
        ("logits", {"keep": {0: 0.5}, "logits": "no"}),
    ],
)
def test_mistaken_corrections_are_named(name, options):
    assert_named(name, lambda: correct_probabilities(**({"y_prob": PROB} | options)))


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "y_prob": NO_PROB,
            "n_resamples": NO_COUNT,
            "max_iterations": NO_COUNT,
            "confidence_level": NO_LEVEL,
            "tolerance": ["x", None, 0, True],
            "sample_weight": [WEIGHT[:-1], "balanced"],
        }
    ),
)
def test_mistakes_about_a_new_population_are_named(name, value):
    assert_named(name, lambda: estimate_prior(**({"y_prob": PROB, "training_prior": 0.5} | {name: value})))


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "y_true": [PROB, np.arange(60) % 3],
            "y_prob": [100 * PROB, PROB[:-1], GAP, None, TEXT],
            "logits": ["no"],
            "sample_weight": [WEIGHT[:-1]],
            "pos_label": ["a"],
        }
    ),
)
@pytest.mark.parametrize("function", [implied_weight, loss_calibration_test, loss_calibration_curve])
def test_mistaken_rows_are_named(function, name, value):
    stated = {} if function is implied_weight else {"positive_share": 0.5}
    assert_named(name, lambda: function(**({"y_true": Y, "y_prob": PROB} | stated | {name: value})))


@pytest.mark.parametrize(
    ("function", "name", "values"),
    [
        (implied_weight, "confidence_level", NO_LEVEL),
        (implied_weight, "prevalence", [30, "0.3", True]),
        (loss_calibration_test, "confidence_level", NO_LEVEL),
        (loss_calibration_test, "n_resamples", NO_COUNT),
        (loss_calibration_test, "random_state", ["x", -1, 1.5]),
        (loss_calibration_test, "positive_share", [90, "0.9", True]),
        (loss_calibration_curve, "n_bins", ["x", 0, 2.5, None, True]),
        (loss_calibration_curve, "keep", ["x", 3]),
    ],
)
def test_mistaken_settings_are_named(function, name, values):
    stated = (
        {"positive_share": 0.5} if function is not implied_weight and name not in {"positive_share", "keep"} else {}
    )
    for value in values:
        assert_named(name, lambda value=value: function(Y, PROB, **stated, **{name: value}))


@pytest.mark.parametrize(
    "value",
    ["x", None, 3, [[1, 2]], [[1, 0], [0, "a"]], [[1, 0, 0]], np.full((2, 2), np.nan), np.ones((3, 3)), [[1, 2], [1]]],
    ids=repr,
)
@pytest.mark.parametrize("function", [undo_loss_matrix, apply_loss_matrix])
def test_mistaken_matrices_are_named(function, value):
    assert_named("beta", lambda: function(BOTH, value))


@pytest.mark.parametrize("value", [100 * BOTH, None, "a"], ids=["per cent", "none", "text"])
@pytest.mark.parametrize("function", [undo_loss_matrix, apply_loss_matrix])
def test_mistaken_probabilities_for_a_matrix_are_named(function, value):
    assert_named("y_prob", lambda: function(value, np.ones((2, 2))))


@pytest.mark.parametrize("keep", [0.05, [0.05], (1 / 3,)])
def test_one_number_for_two_classes_is_met_with_what_is_taken(keep):
    with pytest.raises(ValueError, match="for the first class alone pass ") as refused:
        undo_sampling([0.5], keep=keep)
    advice = str(refused.value).partition("alone pass keep=")[2].removesuffix(".")
    kept = np.ravel(keep)[0]  # scores are odds over the share that was kept
    assert undo_sampling([0.5], keep=literal_eval(advice))[0] == pytest.approx(kept / (1 + kept))


@pytest.mark.parametrize(
    ("labels", "positive", "key"),
    [(("ok", "fraud"), "fraud", "Fraud"), ((0, 1), 1, "1"), ((0, 1), 1, 2), ((False, True), True, "True")],
)
@pytest.mark.parametrize("name", ["class_weight", "repeat"])
@pytest.mark.parametrize("judge", [loss_calibration_test, loss_calibration_curve])
def test_a_name_that_no_class_of_the_rows_has_is_refused(judge, name, labels, positive, key):
    truth = np.array(labels)[Y]
    judge(truth, PROB, pos_label=positive, **{name: {positive: 30}})
    with pytest.raises(ValueError, match=f"{name} names the class {key!r}, which is not among the labels"):
        judge(truth, PROB, pos_label=positive, **{name: {key: 30}})


def test_what_is_said_of_one_pos_weight_for_several_columns_can_be_passed():
    prob = [[0.7, 0.3], [0.4, 0.6]]
    with pytest.raises(ValueError, match=r"pass pos_weight=\[3.0, 3.0\], for two classes scale_pos_weight=3\.$"):
        undo_class_weight(prob, pos_weight=[3])
    assert undo_class_weight(prob, pos_weight=[3.0, 3.0]).shape == undo_class_weight(prob, scale_pos_weight=3).shape
    with pytest.raises(ValueError, match=r"for 3 separate questions pass pos_weight=\[2.5, 2.5, 2.5\]\.$"):
        undo_class_weight([[0.7, 0.3, 0.9]], pos_weight=[2.5])


@pytest.mark.parametrize("prob", [[0.3], [[0.7, 0.3]], [[0.2, 0.3, 0.5]]])
def test_a_mapping_is_a_class_weight_and_no_pos_weight(prob):
    with pytest.raises(ValueError, match=r"^pos_weight must be a number, or hold one for each column of y_prob"):
        undo_class_weight(prob, pos_weight={1: 3})
