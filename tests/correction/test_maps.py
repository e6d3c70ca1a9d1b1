"""Class weights, sampling and prior shift: exact arithmetic and minimised losses as oracles, tails, logits, errors."""

import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize, minimize_scalar

from stakes.correction import (
    apply_class_weight,
    apply_sampling,
    correct_probabilities,
    estimate_prior,
    loss_calibration_curve,
    loss_calibration_test,
    shift_prior,
    undo_class_weight,
    undo_sampling,
)
from stakes.training import MetricMonitor

RATIOS = st.floats(1e-3, 1e3)
SCORES = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-300, 5e-324, 1 - 2**-53]), st.floats(0.0, 1.0))


def exact_odds(prob, factor):
    """Rational arithmetic: no rounding until the end."""
    p, f = Fraction(prob), Fraction(factor)
    return p * f / (p * f + (1 - p))


@given(st.lists(SCORES, min_size=1, max_size=20), RATIOS)
def test_undoing_a_ratio_is_exact_to_rounding(scores, ratio):
    found = undo_class_weight(scores, scale_pos_weight=ratio)
    for prob, value in zip(scores, found, strict=True):
        true = float(exact_odds(prob, 1 / Fraction(ratio)))
        assert abs(value - true) <= 4e-16 * true + 1e-323


@given(st.lists(SCORES, min_size=1, max_size=20), st.floats(1 / 30, 30))
def test_inverse_after_forward_is_the_identity(probabilities, ratio):
    prob = np.array(probabilities)
    back = undo_class_weight(apply_class_weight(prob, pos_weight=ratio), pos_weight=ratio)
    assert np.abs(back - prob).max() <= 1e-12
    sampling = {"keep" if ratio <= 1.0 else "repeat": {0: ratio}}
    back = undo_sampling(apply_sampling(prob, **sampling), **sampling)
    assert np.abs(back - prob).max() <= 1e-12
    assert np.array_equal(back[(prob == 0) | (prob == 1)], prob[(prob == 0) | (prob == 1)])


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=20), RATIOS)
def test_logits_move_by_the_log_of_the_ratio_however_far_out(logits, ratio):
    found = undo_class_weight(logits, scale_pos_weight=ratio, logits=True)
    assert np.abs(found - (np.array(logits) - np.log(ratio))).max() <= 1e-12
    back = apply_class_weight(found, scale_pos_weight=ratio, logits=True)
    assert np.abs(back - logits).max() <= 1e-12


def test_probabilities_in_the_far_tails_keep_their_digits():
    assert undo_class_weight([1e-12, 1e-300], scale_pos_weight=1e6) == pytest.approx([1e-18, 1e-306], rel=1e-11)
    assert apply_class_weight([1e-300], scale_pos_weight=1e100)[0] == pytest.approx(1e-200, rel=1e-14)


@pytest.mark.parametrize("loss", ["log", "brier", "boosting"])
@pytest.mark.parametrize("share", [0.2, 0.9, 0.99])
def test_forward_map_is_what_minimises_the_weighted_loss(loss, share):
    losses = {
        "log": (lambda a: -np.log1p(-a), lambda a: -np.log(a)),
        "brier": (lambda a: a**2, lambda a: (1 - a) ** 2),
        "boosting": (lambda a: np.sqrt(a / (1 - a)), lambda a: np.sqrt((1 - a) / a)),
    }
    negative, positive = losses[loss]
    for g in (0.03, 0.4, 0.9):
        best = minimize_scalar(
            lambda a, g=g: (1 - share) * (1 - g) * negative(a) + share * g * positive(a),
            bounds=(1e-9, 1 - 1e-9),
            method="bounded",
            options={"xatol": 1e-11},
        ).x
        assert apply_class_weight([g], positive_share=share)[0] == pytest.approx(best, abs=2e-6)


def test_forward_map_of_several_classes_minimises_the_weighted_cross_entropy():
    g, weights = np.array([0.6, 0.3, 0.1]), np.array([1.0, 2.5, 6.0])

    def loss(x):
        logits = np.append(x, 0.0)
        return -(g * weights) @ (logits - np.log(np.exp(logits).sum()))

    x = np.append(minimize(loss, np.zeros(2), tol=1e-12).x, 0.0)
    best = np.exp(x) / np.exp(x).sum()
    assert apply_class_weight([g], class_weight=weights)[0] == pytest.approx(best, abs=1e-6)


def test_every_way_to_say_one_weight_is_the_same():
    scores = np.linspace(0, 1, 11)
    same = [
        undo_class_weight(scores, scale_pos_weight=9),
        undo_class_weight(scores, pos_weight=9.0),
        undo_class_weight(scores, positive_share=0.9),
        undo_class_weight(scores, class_weight={0: 1, 1: 9}),
        undo_class_weight(scores, class_weight={1: 9}),
        undo_class_weight(scores, class_weight=[0.5, 4.5]),
        undo_class_weight(scores, class_weight={-1: 1, 1: 9}),
        undo_class_weight(scores, class_weight={"sick": 9}, labels=["healthy", "sick"]),
        undo_class_weight(scores, class_weight="balanced", y_train=[0] * 9 + [1]),
        undo_sampling(scores, keep={0: 1 / 9}),
        undo_sampling(scores, repeat={1: 9}),
        undo_sampling(scores, repeat=[1, 9]),
        undo_sampling(scores, keep={0: 1 / 3}, repeat={1: 3}),
        apply_sampling(scores, keep={1: 1 / 9}),
        undo_sampling(scores, keep=[1 / 9, 1]),
        shift_prior(scores, training_prior=0.9, prior=0.5),
        correct_probabilities(scores, class_weight={1: 3}, keep={0: 1 / 3}),
        correct_probabilities(scores, class_weight={1: 3}, repeat={1: 3}),
    ]
    for other in same[1:]:
        assert other == pytest.approx(same[0], abs=1e-15)


@pytest.mark.parametrize("call", [undo_class_weight, apply_class_weight])
def test_two_columns_are_the_probabilities_of_both_classes(call):
    second = np.array([0.0, 1e-9, 0.3, 1.0])
    both = call(np.column_stack([1 - second, second]), scale_pos_weight=7)
    assert both[:, 1] == pytest.approx(call(second, scale_pos_weight=7), rel=1e-9)
    assert both.sum(axis=1) == pytest.approx(1.0)


def test_column_weights_are_separate_questions():
    prob = np.array([[0.2, 0.9, 1.0], [0.0, 0.5, 0.5]])
    weights = [2.0, 5.0, 0.1]
    found = undo_class_weight(prob, pos_weight=weights)
    for k, weight in enumerate(weights):
        assert found[:, k] == pytest.approx(undo_class_weight(prob[:, k], pos_weight=weight), abs=1e-15)
    assert apply_class_weight(found, pos_weight=weights) == pytest.approx(prob, abs=1e-15)
    logits = undo_class_weight([[2.0, -3.0]], pos_weight=[2.0, 4.0], logits=True)
    assert logits == pytest.approx(np.array([[2.0, -3.0]]) - np.log([2.0, 4.0]))


@given(st.data())
def test_unified_formula_is_the_three_steps_in_any_order(data):
    k = data.draw(st.integers(2, 5))
    numbers = partial(st.lists, min_size=k, max_size=k)
    prob, old, new = (np.array(data.draw(numbers(st.floats(0.01, 1.0)))) for _ in range(3))
    prob, old, new = prob / prob.sum(), old / old.sum(), new / new.sum()
    weights = np.array(data.draw(numbers(st.floats(0.1, 10.0))))
    sampling = {
        "keep": np.array(data.draw(numbers(st.floats(0.1, 1.0)))),
        "repeat": np.array(data.draw(numbers(st.floats(1.0, 10.0)))),
    }
    whole = correct_probabilities([prob], class_weight=weights, **sampling, training_prior=old, prior=new)[0]
    by_hand = prob * new / (weights * sampling["keep"] * sampling["repeat"] * old)
    assert whole == pytest.approx(by_hand / by_hand.sum(), abs=1e-13)
    steps = shift_prior(
        undo_sampling(undo_class_weight([prob], class_weight=weights), **sampling), training_prior=old, prior=new
    )
    other = undo_class_weight(
        undo_sampling(shift_prior([prob], training_prior=old, prior=new), **sampling), class_weight=weights
    )
    assert steps[0] == pytest.approx(whole, abs=1e-12)
    assert other[0] == pytest.approx(whole, abs=1e-12)


def test_logits_of_several_classes_are_corrected_up_to_a_constant():
    logits = np.array([[900.0, 2.0, -3.0], [0.0, 1.0, 2.0]])
    found = undo_class_weight(logits, class_weight=[1, 2, 5], logits=True)
    assert found == pytest.approx(logits - np.log([1, 2, 5]))


def test_long_arrays_are_corrected_block_by_block_alike():
    scores = np.random.default_rng(0).random(50_000)
    found = undo_class_weight(scores, scale_pos_weight=3)
    assert np.array_equal(found[::997], undo_class_weight(scores[::997], scale_pos_weight=3))
    rows = np.column_stack([scores / 2, scores / 2, 1 - scores])
    found = undo_class_weight(rows, class_weight=[1, 2, 3])
    assert np.array_equal(found[::997], undo_class_weight(rows[::997], class_weight=[1, 2, 3]))


def test_corrections_suit_the_hook_of_expected_utility():
    from stakes.utility import F1, expected_utility

    scores = np.random.default_rng(1).random(200)
    undo = partial(undo_class_weight, positive_share=0.9)
    assert np.array_equal(
        expected_utility(scores, F1(), correction=undo).curve, expected_utility(undo(scores), F1()).curve
    )


def test_undersampling_a_population_gives_the_map():
    # counts, not a formula: 1,000 rows at one score, of which 30% are positive, negatives thinned to a tenth
    positives, negatives = 300.0, 700.0
    seen = positives / (positives + 0.1 * negatives)
    assert undo_sampling([seen], keep={0: 0.1})[0] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: undo_class_weight([0.5]), "exactly one of .* got none"),
        (lambda: undo_class_weight([0.5], positive_share=0.9, pos_weight=9), "got positive_share and pos_weight"),
        (lambda: undo_class_weight([0.5], positive_share=1.0), r"positive_share must lie in \(0, 1\)"),
        (lambda: undo_class_weight([0.5], positive_share=0.0), r"positive_share must lie in \(0, 1\)"),
        (lambda: undo_class_weight([0.5], scale_pos_weight=0), "scale_pos_weight must be > 0"),
        (lambda: undo_class_weight([0.5], scale_pos_weight=float("inf")), "scale_pos_weight must be > 0 and finite"),
        (lambda: undo_class_weight([0.5, 1.5], pos_weight=2), r"y_prob must lie in \[0, 1\], got 1.5 at index 1"),
        (lambda: undo_class_weight([0.5, np.nan], pos_weight=2), "y_prob must be finite"),
        (lambda: undo_class_weight([[0.5, 0.6]], pos_weight=2), "must sum to 1"),
        (lambda: undo_class_weight([[0.2, 0.3, 0.5]], positive_share=0.9), "is for two classes, y_prob has 3"),
        (lambda: undo_class_weight([0.5], class_weight="balanced"), "pass y_train="),
        (lambda: undo_class_weight([0.5], class_weight="even"), 'class_weight must be "balanced"'),
        (lambda: undo_class_weight([0.5], class_weight="balanced", y_train=[1, 1]), "y_train holds 1 classes"),
        (lambda: undo_class_weight([0.5], class_weight={"sick": 9}), "pass labels="),
        (lambda: undo_class_weight([0.5], class_weight={"ok": 1, "fraud": 9}), "names the classes 'ok', 'fraud', and"),
        (lambda: undo_class_weight([0.5], class_weight={1: 1, 2: 9}), "names the classes 1, 2, and y_prob is of one"),
        (lambda: undo_class_weight([[0.5], [0.5]], class_weight={0: 9}), r"shape \(n,\) or \(n, classes\)"),
        (
            lambda: undo_class_weight([0.5], class_weight="balanced", y_train=["ok", "fraud"]),
            "y_train holds 'fraud', 'ok', and y_prob is of one class: pass labels= with the negative class first",
        ),
        (
            lambda: undo_sampling([0.5], keep={"ok": 0.1, "fraud": 1}),
            "keep names the classes 'ok', 'fraud', and y_prob",
        ),
        (
            lambda: shift_prior([0.5], training_prior={"ok": 0.9, "fraud": 0.1}, prior=0.5),
            "training_prior names the classes 'ok', 'fraud', and",
        ),
        (
            lambda: correct_probabilities([0.5], keep={"ok": 0.1, "fraud": 1}),
            "keep names the classes 'ok', 'fraud', and y_prob is of one class",
        ),
        (lambda: undo_class_weight([0.5], class_weight={2: 9}, labels=[0, 1]), "names the class 2"),
        (lambda: undo_class_weight([0.5], class_weight=[1, 2, 3]), "one number for each of 2 classes"),
        (lambda: undo_class_weight([0.5], class_weight={0: 1, 1: -1}), "class_weight must be > 0"),
        (lambda: undo_class_weight([0.5], pos_weight=[1.0, 2.0]), "one column for each pos_weight"),
        (lambda: undo_class_weight([[0.5]], pos_weight=2), r"shape \(n,\) or \(n, classes\)"),
        (lambda: undo_sampling([0.5], keep={0: 0}), "keep must be > 0"),
        (
            lambda: undo_sampling([0.5], keep={0: 10}),
            r"^keep must hold .* got 10 for class 0: if one row in 10 .* keep=\{0: 1/10\}; if .* repeat=\{0: 10\}\.$",
        ),
        (lambda: apply_sampling([0.5], keep=[1, 2.5]), r"^keep must .* got 2\.5 for class 1: .* repeat=\{1: 2\.5\}"),
        (lambda: undo_sampling([0.5], keep={"ill": 4}, labels=["ok", "ill"]), r"4 for class 'ill': .*\{'ill': 1/4\}"),
        (lambda: correct_probabilities([0.5], keep={1: 3}), "keep must hold fractions <= 1, got 3 for class 1"),
        (
            lambda: undo_sampling([0.5], repeat={1: 0.1}),
            r"^repeat must hold numbers >= 1, got 0\.1 for class 1: if that fraction .* pass keep=\{1: 0\.1\}\.$",
        ),
        (lambda: undo_sampling([0.5]), "^keep or repeat must be given"),
        (lambda: shift_prior([0.5], training_prior=0.5, prior=1.0), r"prior must lie in \(0, 1\)"),
        (lambda: shift_prior([[0.2, 0.3, 0.5]], training_prior=0.5, prior=[0.2, 0.3, 0.5]), "the shares of 3 classes"),
        (lambda: shift_prior([0.5], training_prior=[0.5, 0.6], prior=0.5), "training_prior must sum to 1"),
        (lambda: shift_prior([0.5], training_prior={0: 1}, prior=0.5), "training_prior must name every class"),
        (lambda: correct_probabilities([0.5]), "nothing to correct"),
        (lambda: correct_probabilities([0.5], training_prior=0.5), "training_prior and prior must be given together"),
    ],
)
def test_bad_input_is_refused_with_the_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("size", [1e-99, 1.0, 1e99])
def test_only_ratios_of_weights_count_however_large_they_are(size):
    rows = [[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]
    known = apply_class_weight(rows, class_weight=[1.0, 2.0, 4.0])
    np.testing.assert_allclose(apply_class_weight(rows, class_weight=[size, 2 * size, 4 * size]), known, rtol=1e-12)
    np.testing.assert_allclose(known, [np.divide([0.2, 0.6, 2.0], 2.8), np.divide([0.6, 0.8, 0.0], 1.4)], rtol=1e-12)


def test_classes_with_names_follow_the_columns_or_what_labels_says():
    p, weight = np.array([0.2, 0.9]), {"fraud": 9.0, "ok": 1.0}
    expected = p / (p + 9.0 * (1.0 - p))
    found = undo_class_weight(p, class_weight=weight, labels=["ok", "fraud"])
    assert found == pytest.approx(expected, abs=1e-15)
    columns = np.column_stack([p, 1.0 - p])  # of the sorted labels, as predict_proba has them
    assert undo_class_weight(columns, class_weight=weight)[:, 0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "correct",
    [
        lambda x, **o: undo_class_weight(x, class_weight={"fraud": 9.0, "ok": 1.0}, **o),
        lambda x, **o: undo_class_weight(x, class_weight="balanced", y_train=["ok"] * 9 + ["fraud"], **o),
        lambda x, **o: undo_sampling(x, keep={"fraud": 1.0, "ok": 1 / 9}, **o),
        lambda x, **o: shift_prior(
            x, training_prior={"fraud": 0.5, "ok": 0.5}, prior={"fraud": 0.1, "ok": 0.9}, logits=False, **o
        ),
    ],
)
def test_columns_that_are_named_by_the_classes_are_of_these_and_must_stand_as_labels_do(library, correct):
    p = np.array([0.2, 0.9])
    expected = p / (p + 9.0 * (1.0 - p))
    frame = pytest.importorskip(library).DataFrame({"fraud": p, "ok": 1.0 - p})
    turned = frame[["ok", "fraud"]]
    assert correct(frame)[:, 0] == pytest.approx(expected, abs=1e-15)
    for options in ({}, {"labels": ["ok", "fraud"]}):
        assert correct(turned, **options)[:, 1] == pytest.approx(expected, abs=1e-15)
    with pytest.raises(ValueError, match=r"^the columns of y_prob must be in the order of the labels, \["):
        correct(frame, labels=["ok", "fraud"])


def test_a_share_beside_named_columns_is_of_the_label_that_stands_last():
    frame = pytest.importorskip("pandas").DataFrame({"fraud": [0.2], "ok": [0.8]})
    with pytest.raises(ValueError, match=r"in the order of the labels, \['ok', 'fraud'\], got \['fraud', 'ok'\]"):
        shift_prior(frame, training_prior=0.5, prior=0.1, labels=["ok", "fraud"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("pair", [("1", "0"), ("True", "False"), ("1", "-1")])
@pytest.mark.parametrize(
    "correct",
    [
        lambda x, **o: undo_class_weight(x, positive_share=0.9, **o),
        lambda x, **o: undo_class_weight(x, scale_pos_weight=9.0, **o),
        lambda x, **o: undo_class_weight(x, pos_weight=9.0, **o),
        lambda x, **o: shift_prior(x, training_prior=0.5, prior=0.1, **o),
        lambda x, **o: correct_probabilities(x, training_prior=0.5, prior=0.1, **o),
    ],
)
def test_one_number_beside_columns_that_put_the_positive_class_first_is_refused(library, pair, correct):
    p = np.array([0.2, 0.9])
    frame = pytest.importorskip(library).DataFrame({pair[0]: p, pair[1]: 1.0 - p})
    order = f"the columns of y_prob must be {[pair[1], pair[0]]} where {pair[0]!r} is the positive class, got {[*pair]}"
    with pytest.raises(ValueError, match=f"^{re.escape(order)}: order them so, or pass labels= "):
        correct(frame)
    with pytest.raises(ValueError, match=f"^{re.escape(order)}"):
        estimate_prior(frame, training_prior=0.3, n_resamples=0)
    expected = p / (p + 9.0 * (1.0 - p))
    assert correct(frame[[pair[1], pair[0]]])[:, 1] == pytest.approx(expected, abs=1e-15)
    turned = [{"1": 1, "0": 0, "-1": -1}.get(name, name == "True") for name in pair]  # where 0 is the positive class
    assert correct(frame, labels=turned)[:, 1] == pytest.approx((1 - p) / (1 - p + 9.0 * p), abs=1e-15)


@pytest.mark.parametrize("names", [["1", "2", "3"], ["1", "2"], ["9", "10", "11"]])
def test_a_mapping_is_of_the_columns_that_are_named_by_its_numbers(names):
    prob = np.random.default_rng(0).dirichlet([1.0] * len(names), 5)
    frame = pytest.importorskip("polars").DataFrame(dict(zip(names, prob.T, strict=True)))
    weighted = prob / np.array([5.0, *[1.0] * (len(names) - 1)])
    expected = weighted / weighted.sum(axis=1, keepdims=True)
    assert undo_class_weight(frame, class_weight={int(names[0]): 5.0}) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("weight", [[20.0], np.array([20.0]), (20,)], ids=str)
def test_one_positive_weight_in_a_list_is_that_of_one_column(weight):
    p, y = np.array([0.01, 0.2, 0.7, 0.4]), [0, 0, 1, 1]
    scores = 20.0 * p / (20.0 * p + 1.0 - p)
    assert apply_class_weight(p, pos_weight=weight) == pytest.approx(scores, rel=1e-12)
    assert undo_class_weight(scores, pos_weight=weight) == pytest.approx(p, rel=1e-12)
    assert undo_class_weight(np.log(scores / (1.0 - scores)), pos_weight=weight, logits=True) == pytest.approx(
        np.log(p / (1.0 - p)), rel=1e-12
    )
    monitor = MetricMonitor("bounded_brier_loss", correct={"pos_weight": weight})
    assert monitor.evaluate(y, scores) == pytest.approx(np.mean((p - y) ** 2), rel=1e-12)
    assert monitor.evaluate(y, np.column_stack([1.0 - scores, scores])) == pytest.approx(np.mean((p - y) ** 2))
    assert loss_calibration_test(y, scores, pos_weight=weight, n_resamples=0).positive_share == pytest.approx(20 / 21)
    assert loss_calibration_curve(y, scores, pos_weight=weight).positive_share == pytest.approx(20 / 21)
    with pytest.raises(ValueError, match=r"y_prob must have one column for each pos_weight, got shape \(4,\)"):
        undo_class_weight(scores, pos_weight=[20.0, 3.0])
