"""Values of the measures: definitions, scikit-learn, 0/0, misprints, and when the ranking principle holds."""

from __future__ import annotations

import importlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from utility_brute import DEFINITIONS, LOSSES, curve
from utility_cases import MEASURES

from stakes.utility import (
    F1,
    ConfusionMeasure,
    FBeta,
    FractionalLinear,
    GMean,
    Jaccard,
    Measure,
    Precision,
    expected_utility,
    get_measure,
)
from stakes.utility._measures import counted_ranking

TABLES = [t for t in itertools.product(range(5), repeat=4) if sum(t) > 0]
COUNTS = st.integers(0, 30)


@pytest.mark.parametrize("fill", [0, 1])
@pytest.mark.parametrize("name", MEASURES)
def test_values_follow_the_definitions_on_every_small_table(name, fill):
    got = MEASURES[name].value(*np.array(TABLES).T, zero_division=fill)
    expected = [float(DEFINITIONS[name](*table, fill)) for table in TABLES]
    assert got == pytest.approx(expected, abs=2e-15)


SKLEARN = {
    "f1": {},
    "f2": {"beta": 2},
    "f0.5": {"beta": 0.5},
    "jaccard": {},
    "precision": {},
    "recall": {},
    "am_present": None,
    "mcc": None,
    "accuracy": None,
    "kappa": None,
}


@pytest.mark.parametrize("name", SKLEARN)
def test_values_agree_with_the_named_function_of_scikit_learn(name):
    measure = MEASURES[name]
    function = getattr(importlib.import_module("sklearn.metrics"), measure.sklearn_name)
    rng = np.random.default_rng(2)
    for _ in range(30):
        y, decision = (rng.permutation(np.append([0, 1], rng.integers(2, size=8))) for _ in range(2))
        counts = [int(np.sum((decision == d) & (y == t))) for d, t in ((1, 1), (1, 0), (0, 1), (0, 0))]
        options = SKLEARN[name]
        expected = function(y, decision) if options is None else function(y, decision, zero_division=0, **options)
        assert float(measure.value(*counts)) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("name", [name for name in MEASURES if name not in SKLEARN])
def test_measures_without_a_counterpart_name_none(name):
    if name != "am":  # scikit-learn leaves an absent class out
        assert MEASURES[name].sklearn_name is None


def test_geometric_mean_of_precision_and_recall_is_zero_where_one_of_them_is():
    assert MEASURES["g_tp_pr"].value([0, 0, 0], [2, 0, 0], [0, 3, 0], 5, zero_division=1).tolist() == [0, 0, 1]


# ------------------------------------------------------------------ arXiv:1505.01802, Table 1: printed and true
def shares(tp, fp, fn, tn):
    n = tp + fp + fn + tn
    return tp / n, (tp + fp) / n, (tp + fn) / n


PRINTED = {
    "am": lambda u, v, p: (u + p * (1 - v - p)) / (p * (1 - p)),
    "g_mean": lambda u, v, p: u * (1 - v - p + u) / (p * (1 - p)),
    "q_mean": lambda u, v, p: 1 - 0.5 * (((p - u) / 2) ** 2 + ((v - u) / 2) ** 2),
    "sec": lambda _u, v, p: v + p,
    "f2": lambda u, v, p: 5 / (4 / (u / v) + 1 / (u / p)),  # the column of definitions: F_{1/beta}
}
TRUE = {
    "am": lambda u, v, p: (u + p * (1 - v - p)) / (2 * p * (1 - p)),
    "g_mean": lambda u, v, p: math.sqrt(u * (1 - v - p + u) / (p * (1 - p))),
    "q_mean": lambda u, v, p: 1 - (((p - u) / p) ** 2 + ((v - u) / (1 - p)) ** 2) / 2,
    "sec": lambda _u, v, p: (v - p) ** 2,
    "f2": lambda u, v, p: 5 * u / (4 * p + v),
    "f1": lambda u, v, p: 2 * u / (p + v),
    "jaccard": lambda u, v, p: u / (p + v - u),
    "h_mean": lambda u, v, p: 2 * u * (1 - v - p + u) / (u + p * (1 - v - p)),
    "g_tp_pr": lambda u, v, p: u / math.sqrt(p * v),
    "mcc": lambda u, v, p: (u - v * p) / math.sqrt(v * (1 - v) * p * (1 - p)),
    "kappa": lambda u, v, p: 2 * (u - v * p) / (v + p - 2 * v * p),
}
TABLE = (6, 2, 4, 8)


@pytest.mark.parametrize("name", TRUE)
def test_values_are_the_corrected_formulas_of_the_paper(name):
    assert float(MEASURES[name].value(*TABLE)) == pytest.approx(TRUE[name](*shares(*TABLE)), abs=1e-15)


@pytest.mark.parametrize("name", PRINTED)
def test_printed_formulas_say_something_else(name):
    assert abs(float(MEASURES[name].value(*TABLE)) - PRINTED[name](*shares(*TABLE))) > 0.01


def test_printed_balanced_accuracy_is_twice_the_definition():
    assert PRINTED["am"](*shares(*TABLE)) == pytest.approx(2 * float(MEASURES["am"].value(*TABLE)))


# ------------------------------------------------------------------ the ranking principle
@pytest.mark.parametrize("name", MEASURES)
def test_all_named_measures_are_monotone_in_true_positives(name):
    measure = MEASURES[name]
    assert (measure.ranking().holds, measure.ranking().descending) == (True, True)
    sign = -1.0 if name in LOSSES else 1.0
    for n in (1, 4, 9):
        checked = counted_ranking(measure.value, n, sign)
        assert (checked.holds, checked.descending) == (True, True)


def test_c1_above_d1_does_not_make_the_ranking_principle_hold():
    measure = FractionalLinear(c=(4, 4, 4), d=(2, 3, 3, 2))
    assert measure.ranking().holds is False
    labels = {}
    for acted in itertools.product((0, 1), repeat=3):
        p = (0.9, 0.5, 0.2)
        chance = {
            y: math.prod(a if b else 1 - a for a, b in zip(p, y, strict=True))
            for y in itertools.product((0, 1), repeat=3)
        }
        labels[acted] = sum(c * float(measure.value(*count(acted, y))) for y, c in chance.items())
    assert max(labels, key=labels.get) == (0, 1, 0)
    assert round(labels[0, 1, 0], 5) == 1.33971
    result = expected_utility(p, measure)
    assert round(result.utility, 5) == 1.33700
    assert not result.certified


def count(acted, labels):
    pairs = list(zip(acted, labels, strict=True))
    return [pairs.count(pair) for pair in ((1, 1), (1, 0), (0, 1), (0, 0))]


def test_c1_above_d1_is_not_necessary_either():
    measure = FractionalLinear(c=(0, 0.5, 0), d=(1, 1, 0, 0))
    assert (measure.ranking().holds, measure.ranking().descending) == (True, True)


def test_measure_that_falls_with_true_positives_acts_on_the_least_probable_rows():
    measure = FractionalLinear(c=(1, -1, 1), d=(1, 0, 0, 0))  # 1 + false positives
    result = expected_utility([0.9, 0.2, 0.6], measure)
    assert (result.ranking.descending, result.best_k) == (False, 3)
    assert result.curve.tolist() == pytest.approx([1, 1 + 0.8 / 3, 1 + 1.2 / 3, 1 + 1.3 / 3], abs=1e-12)
    some = expected_utility([0.9, 0.2, 0.6], FractionalLinear(c=(1, -1, 0.5), d=(1, 0, 0, 0)))
    assert (some.best_k, some.threshold, some.predict().tolist()) == (1, 0.2, [0, 1, 0])


@given(
    c=st.tuples(*[st.integers(-3, 3)] * 4),
    d=st.tuples(*[st.integers(0, 3)] * 4).filter(any),
)
def test_linear_test_of_monotonicity_agrees_with_every_small_table(c, d):
    measure = FractionalLinear(c, d)
    stated = measure.ranking()
    n = 12
    # only tables at which the denominator is not zero
    rises, falls = 0, 0
    for k, positives in itertools.product(range(n + 1), repeat=2):
        tp = np.arange(max(0, k + positives - n), min(k, positives) + 1)
        value = measure.value(tp, k - tp, positives - tp, n - k - positives + tp, zero_division=np.nan)
        steps = np.diff(value[~np.isnan(value)])
        rises, falls = rises + np.sum(steps > 1e-12), falls + np.sum(steps < -1e-12)
    if stated.holds:
        assert (falls if stated.descending else rises) == 0
        for fill in (0, 1):  # what the value is where the denominator is zero may not break the order either
            for k, positives in itertools.product(range(1, n + 1), repeat=2):
                tp = np.arange(max(0, k + positives - n), min(k, positives) + 1)
                value = measure.value(tp, k - tp, positives - tp, n - k - positives + tp, zero_division=fill)
                assert np.all(np.diff(value) * (1 if stated.descending else -1) >= -1e-12)
    if rises and falls:
        assert not stated.holds


def share(above, below):
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0)


RATES = {  # the first count's share of both
    "true positive rate": ("tp", "fn"),
    "true negative rate": ("tn", "fp"),
    "precision": ("tp", "fp"),
    "negative predictive value": ("tn", "fn"),
}
# arXiv:1505.01802, Propositions 9 to 11 and Remark 12: measures that rise with such rates rise with true positives.
RISING = {
    "arithmetic": lambda a, b, w: w * a + (1 - w) * b,
    "geometric": lambda a, b, w: a**w * b ** (1 - w),
    "harmonic": lambda a, b, w: share(a * b, w * b + (1 - w) * a),
    "quadratic": lambda a, b, w: 1 - np.sqrt(w * (1 - a) ** 2 + (1 - w) * (1 - b) ** 2),
    "worse of the two": lambda a, b, w: np.minimum(w * a, (1 - w) * b),
    "steps": lambda a, b, w: np.floor(7 * w * a) + np.floor(5 * (1 - w) * b),
}


@given(
    pair=st.sampled_from(list(itertools.combinations(RATES, 2))),
    mean=st.sampled_from(sorted(RISING)),
    w=st.floats(0.05, 0.95),
    n=st.integers(1, 9),
)
def test_whatever_rises_with_two_rates_rises_with_true_positives(pair, mean, w, n):
    def value(tp, fp, fn, tn):
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        return RISING[mean](*(share(counts[a], counts[a] + counts[b]) for a, b in map(RATES.get, pair)), w)

    upward, downward = (counted_ranking(value, n, sign) for sign in (1.0, -1.0))
    assert (upward.holds, upward.descending) == (True, True)
    assert downward.holds
    assert counted_ranking(lambda tp, *_: -tp, n + 1, 1.0).descending is False
    p = np.linspace(0.1, 0.9, n) ** 1.5
    assert expected_utility(p, ConfusionMeasure(value)).ranking.holds


@given(w=st.floats(0.05, 0.95), n=st.integers(3, 9))
def test_a_measure_that_rises_with_one_rate_and_falls_with_another_is_not_called_monotone(w, n):
    def value(tp, fp, fn, tn):
        return np.sin(6 * share(tp, tp + fn)) + w * share(tp, tp + fp) + 0 * tn

    table = [
        (tp, k - tp, positives - tp, n - k - positives + tp)
        for k, positives in itertools.product(range(n + 1), repeat=2)
        for tp in range(max(0, k + positives - n), min(k, positives) + 1)
    ]
    values = {cells: float(value(*np.array(cells, float))) for cells in table}
    steps = [values[tp + 1, fp - 1, fn - 1, tn + 1] - v for (tp, fp, fn, tn), v in values.items() if min(fp, fn) > 0]
    found = counted_ranking(value, n, 1.0)
    assert found.holds == (not (min(steps) < -1e-9 and max(steps) > 1e-9))


# ------------------------------------------------------------------ names, parameters, your own
@pytest.mark.parametrize(
    ("name", "measure"), [("f1", F1()), ("fbeta:2", FBeta(2)), ("fbeta:0.5", FBeta(0.5)), ("jaccard", Jaccard())]
)
def test_measures_are_found_by_name(name, measure):
    assert get_measure(name) == measure
    assert get_measure(measure) is measure
    assert get_measure(type(F1())) == F1()


@pytest.mark.parametrize("name", ["f3", "fbeta", "fbeta:", "", "F1", None, 3])
def test_unknown_names_are_refused_with_the_choices(name):
    with pytest.raises(ValueError, match="measure must be a measure of stakes"):
        get_measure(name)


def test_fbeta_by_name_needs_a_number():
    with pytest.raises(ValueError, match="must have a number after 'fbeta:', got 'fbeta:two'"):
        get_measure("fbeta:two")


@pytest.mark.parametrize("beta", [0.0, -1.0, math.inf, math.nan])
def test_beta_must_be_positive_and_finite(beta):
    with pytest.raises(ValueError, match="beta must be finite and > 0"):
        FBeta(beta)


@pytest.mark.parametrize("make", [FBeta, lambda beta: get_measure(f"fbeta:{beta}")])
def test_beta_whose_square_is_no_number_is_refused(make):
    with pytest.raises(ValueError, match=r"beta must be at most 1e\+140, got 1e\+300; so large a beta asks for Recall"):
        make(1e300)


@pytest.mark.parametrize(
    ("c", "d", "message"),
    [
        ((1, 2), (1, 0, 0, 0), "c must hold 3 or 4 numbers and d 4, got 2 and 4"),
        ((1, 2, 3), (1, 0, 0), "got 3 and 3"),
        ((1, 2, math.nan), (1, 0, 0, 0), "finite"),
        ((1, 2, 3), (0, 0, 0, 0), "not all zero"),
        ((1, 2, 3), (1, 0, -2, 0), "must not be negative at any table"),
    ],
)
def test_ratio_coefficients_are_checked(c, d, message):
    with pytest.raises(ValueError, match=message):
        FractionalLinear(c, d)


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_function_of_counts_has_the_ranking_that_is_stated(higher_is_better):
    def ranking(rises):
        return ConfusionMeasure(max, higher_is_better=higher_is_better, rises_with_tp=rises).ranking()

    assert ranking(None).holds is None
    for rises in (True, False):
        assert ranking(rises).holds is True
        assert ranking(rises).descending is (rises is higher_is_better)


def test_measures_are_values():
    assert F1() == F1()
    assert hash(FBeta(2)) == hash(FBeta(2.0))
    assert F1() != FBeta(2)
    assert [repr(m) for m in (F1(), FBeta(2), Precision(), GMean())] == [
        "F1()",
        "FBeta(beta=2)",
        "Precision()",
        "GMean()",
    ]
    assert all(isinstance(measure, Measure) for measure in MEASURES.values())


def test_own_measure_equals_the_built_in_one():
    def g_mean(tp, fp, fn, tn):
        return np.sqrt(tp / (tp + fn) * (tn / (tn + fp)))

    p = np.random.default_rng(4).random(11)
    own = ConfusionMeasure(g_mean)
    for fill in (0, 1):
        assert expected_utility(p, own, zero_division=fill).curve == pytest.approx(
            np.array(
                curve(p, lambda tp, fp, fn, tn, zd: np.longdouble(own.value(tp, fp, fn, tn, zero_division=zd)), fill),
                float,
            ),
            abs=1e-14,
        )


def test_smooth_own_measure_takes_gauss_rules_on_large_batches():
    def g_mean(tp, fp, fn, tn):
        return np.sqrt(tp / (tp + fn) * (tn / (tn + fp)))

    p = np.random.default_rng(4).random(1500)
    own, built_in = (expected_utility(p, m) for m in (ConfusionMeasure(g_mean, smooth=True), GMean()))
    assert own.method == built_in.method == "gauss"
    assert np.max(np.abs(own.curve - built_in.curve)) < 1e-14


def test_own_loss_is_minimised():
    def cost(tp, fp, fn, tn):
        return (fp + 4 * fn + 0 * tp) / (tp + fp + fn + tn)

    result = expected_utility([0.9, 0.3, 0.15, 0.1], ConfusionMeasure(cost, higher_is_better=False))
    assert (result.best_k, result.threshold, result.certified) == (2, 0.3, True)


def test_own_measure_is_refused_where_it_is_infinite_or_of_the_wrong_shape():
    with pytest.raises(ValueError, match="f must be finite or nan at every table, got inf"):
        expected_utility([0.5], ConfusionMeasure(lambda tp, fp, fn, tn: (1 + tp + fn + tn) / fp))
    with pytest.raises(ValueError, match="f must broadcast over counts of shape"):
        expected_utility([0.5], ConfusionMeasure(lambda *_: np.zeros((7, 7))))


def test_own_measure_that_returns_nothing_is_refused():
    for nothing in (lambda *_: None, np.vectorize(lambda tp, *_: None if tp == 0 else 1.0, otypes=[object])):
        with pytest.raises(ValueError, match=r"^f must return a number or nan at every table, got None"):
            expected_utility([0.5, 0.3], ConfusionMeasure(nothing))
    with pytest.raises(ValueError, match=r"^f must be numeric, got 'much'"):
        ConfusionMeasure(lambda *_: "much").value(1, 2, 3, 4)
    exact = ConfusionMeasure(lambda *_: Fraction(1, 2))
    assert exact.value(1, 2, 3, 4) == 0.5
