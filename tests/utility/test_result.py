"""The result: decisions with ties, empty batches, containers, tables, corrections, weights, sensitivity."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from utility_brute import DEFINITIONS, curve
from utility_cases import MEASURES

from stakes.utility import (
    F1,
    MCC,
    FBeta,
    FractionalLinear,
    GMean,
    Jaccard,
    Precision,
    Recall,
    SquaredErrorInCounting,
    expected_utility,
    optimal_decisions,
)


# ------------------------------------------------------------------ decisions
def test_exactly_best_k_rows_are_acted_on_though_they_tie():
    p = np.array([0.4, 0.9, 0.4, 0.4, 0.4])
    result = expected_utility(p, GMean())
    assert (result.best_k, result.threshold) == (2, 0.4)
    for order in itertools.permutations(range(5)):
        decision = result.predict(p[list(order)])
        assert decision.sum() == 2
        assert decision[order.index(1)] == 1
    assert result.predict().tolist() == [1, 1, 0, 0, 0]


def test_other_rows_get_the_threshold_of_the_batch():
    result = expected_utility([0.9, 0.6, 0.1, 0.05], F1())
    assert result.threshold == 0.6
    assert result.predict([0.61, 0.6, 0.59, 0.6]).tolist() == [1, 1, 0, 0]


def test_acting_on_no_row_has_an_infinite_threshold():
    result = expected_utility([0.1, 0.05], F1(), zero_division=1)
    assert (result.best_k, result.threshold, result.predict().tolist()) == (0, math.inf, [0, 0])


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("fill", [0, 1])
def test_empty_batch_has_the_value_of_the_empty_table_and_no_decisions(name, fill):
    result = expected_utility([], MEASURES[name], zero_division=fill)
    expected = {"mcc": 0, "kappa": 0, "q_mean": 1 - (1 - fill) ** 2, "h_mean": fill}.get(name, fill)
    assert result.curve.tolist() == [expected]
    assert (result.best_k, result.ties.tolist(), result.runner_up) == (0, [0], None)
    assert (result.error_bound, result.proved) == (0.0, True)
    assert result.predict().tolist() == []


def test_optimal_decisions_are_the_decisions_of_the_result():
    p = np.random.default_rng(0).random(50)
    for measure in (F1(), MCC(), "balanced_accuracy"):
        assert np.array_equal(optimal_decisions(p, measure), expected_utility(p, measure).predict())


def test_ties_and_runner_up_are_told_apart():
    result = expected_utility([0.5, 0.5, 0.2], Precision())
    assert (result.ties.tolist(), result.best_k, result.certified) == ([1, 2], 1, False)
    assert (result.runner_up, result.gap) == (3, pytest.approx(0.1))
    assert "2 numbers of rows cannot be distinguished" in result.certificate


# ------------------------------------------------------------------ inputs
@pytest.mark.parametrize("container", ["list", "tuple", "float32", "pandas", "polars", "two columns"])
def test_containers_and_types_give_the_same_answer(container):
    p = [0.75, 0.25, 0.5]
    given = {
        "list": lambda: p,
        "tuple": lambda: tuple(p),
        "float32": lambda: np.array(p, np.float32),
        "pandas": lambda: pytest.importorskip("pandas").Series(p),
        "polars": lambda: pytest.importorskip("polars").Series(p),
        "two columns": lambda: np.array([[1 - x, x] for x in p]),
    }[container]()
    assert expected_utility(given, "f1").curve.tolist() == expected_utility(p, "f1").curve.tolist()


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 1.5], r"y_prob must lie in \[0, 1\], got 1.5 at index 1"),
        ([0.5, math.nan], "y_prob must be finite, got nan at index 1"),
        ([[0.1, 0.2, 0.7]], "two columns of predict_proba"),
        (["a"], "y_prob must be numeric"),
    ],
)
def test_invalid_probabilities_are_refused_with_their_place(p, message):
    with pytest.raises(ValueError, match=message):
        expected_utility(p, F1())


@pytest.mark.parametrize("fill", [-0.1, 1.1, math.nan])
def test_zero_division_outside_the_unit_interval_is_refused(fill):
    with pytest.raises(ValueError, match=r"zero_division must lie in \[0, 1\]"):
        expected_utility([0.5], F1(), zero_division=fill)


def test_probabilities_are_not_changed():
    p = np.array([0.1, 0.9, 0.3])
    before = p.copy()
    expected_utility(p, F1()).sensitivity()
    assert np.array_equal(p, before)


# ------------------------------------------------------------------ correction
def test_correction_is_applied_first_and_to_new_rows():
    def halve_the_odds(p):
        return p / (2 - p)

    p = np.array([0.9, 0.5, 0.3])
    result = expected_utility(p, F1(), correction=halve_the_odds)
    plain = expected_utility(halve_the_odds(p), F1())
    assert np.array_equal(result.curve, plain.curve)
    assert np.array_equal(result.predict(p), plain.predict())


def test_correction_that_leaves_the_unit_interval_is_refused():
    with pytest.raises(ValueError, match=r"what correction returns must lie in \[0, 1\], got 1.5 at index 1"):
        expected_utility([0.1, 0.5], F1(), correction=lambda p: p + np.arange(2))
    with pytest.raises(ValueError, match="correction must keep the shape"):
        expected_utility([0.1, 0.5], F1(), correction=lambda p: p[:1])


# ------------------------------------------------------------------ weights
def weighted_curve(p, weight, value):
    """Expected value over all labels when rows count by their weights, the lightest of equally probable ones first."""
    order = np.lexsort([weight, -np.asarray(p)])
    p, weight = np.asarray(p)[order], np.asarray(weight)[order]
    out = np.zeros(len(p) + 1)
    for labels in itertools.product((0, 1), repeat=len(p)):
        y = np.array(labels)
        chance = np.prod(np.where(y, p, 1 - p))
        for k in range(len(p) + 1):
            acted = np.arange(len(p)) < k
            cells = [weight[acted == a][y[acted == a] == t].sum() for a, t in ((1, 1), (1, 0), (0, 1), (0, 0))]
            out[k] += chance * value(*cells)
    return out


@pytest.mark.parametrize("fill", [0, 1])
def test_weighted_ratio_agrees_where_its_denominator_is_least_between_none_and_all_positive(fill):
    # n D = 2 FP + TP + FN is least where the one row acted on is the only positive one, not where all or none are
    measure = FractionalLinear((0, 1, 1), (0, -2, 2, 1))
    rng = np.random.default_rng(4)
    for n in (2, 4, 6):
        p, weight = rng.random(n), rng.uniform(0.5, 2, n)
        for w in (np.ones(n), weight):
            result = expected_utility(p, measure, sample_weight=w, zero_division=fill)
            expected = weighted_curve(p, w, lambda *t: float(measure.value(*t, zero_division=fill)))
            assert np.max(np.abs(result.curve - expected)) <= result.error_bound + 1e-14
            assert result.error_bound < 1e-9


@pytest.mark.parametrize("name", ["f1", "f2", "jaccard", "precision", "accuracy"])
@pytest.mark.parametrize("fill", [0, 1])
def test_weighted_curve_agrees_with_the_sum_over_all_labels(name, fill):
    rng = np.random.default_rng(9)
    for n in (1, 2, 5, 7):
        p, weight = rng.random(n).round(1), rng.uniform(0.2, 5, n)
        result = expected_utility(p, MEASURES[name], sample_weight=weight, zero_division=fill)
        expected = weighted_curve(p, weight, lambda *t: float(MEASURES[name].value(*t, zero_division=fill)))
        assert np.max(np.abs(result.curve - expected)) < 1e-13
        assert np.max(np.abs(result.curve - expected)) <= result.error_bound + 1e-15
        assert not result.certified


def test_equal_weights_change_nothing_and_weightless_rows_are_absent():
    p = np.array([0.9, 0.2, 0.6, 0.4])
    plain = expected_utility(p, F1())
    same = expected_utility(p, F1(), sample_weight=[3, 3, 3, 3])
    assert same.curve == pytest.approx(plain.curve, abs=1e-13)
    fewer = expected_utility(p, F1(), sample_weight=[1, 0, 1, 1])
    assert fewer.curve == pytest.approx(expected_utility(p[[0, 2, 3]], F1()).curve, abs=1e-13)
    assert fewer.predict().tolist() == [1, 0, 1, 0]


def test_with_weights_a_light_row_may_be_worth_more_so_nothing_is_certified():
    result = expected_utility([0.9, 0.5], F1(), sample_weight=[1, 2])
    assert (result.certified, result.ranking.holds) == (False, False)
    with pytest.raises(ValueError, match="without sample_weight"):
        result.sensitivity()


@pytest.mark.parametrize("measure", [MCC(), GMean(), Recall(), FractionalLinear((0, 1, 0), (0, 0, 0, 1))])
def test_weights_are_refused_where_they_break_the_mathematics(measure):
    with pytest.raises(ValueError, match="sample_weight needs method='auto' or 'exponentials' and F-beta, Jaccard"):
        expected_utility([0.5, 0.3], measure, sample_weight=[1, 2])


# ------------------------------------------------------------------ sensitivity
def test_sensitivity_is_nothing_where_the_probabilities_are_right():
    result = expected_utility([0.9, 0.2, 0.6, 0.1], F1())
    table = result.sensitivity(shifts=(0,), slopes=(1,))
    assert table.best_k.tolist() == [result.best_k]
    assert table.loss.tolist() == pytest.approx([0], abs=1e-12)


def test_sensitivity_solves_the_shifted_batch():
    p = np.array([0.9, 0.2, 0.6, 0.1])
    result = expected_utility(p, F1())
    table = result.sensitivity(shifts=(-1, 2), slopes=(0.5, 1))
    assert (table.slope.tolist(), table.shift.tolist()) == ([0.5, 0.5, 1, 1], [-1, 2, -1, 2])
    odds = np.exp(2.0) * p / (1 - p)
    true = curve(odds / (1 + odds), DEFINITIONS["f1"], 0)
    assert table.best_k[3] == int(np.argmax(true))
    assert table.best_utility[3] == pytest.approx(float(true.max()), abs=1e-13)
    assert table.utility[3] == pytest.approx(float(true[result.best_k]), abs=1e-13)
    assert np.all(table.loss >= -1e-13)


def test_sensitivity_of_an_error_finds_where_it_is_least():
    # E (positives - k)^2 is least for the k nearest to the expected positives
    p = np.array([0.9, 0.2, 0.6, 0.1, 0.3, 0.55])
    table = expected_utility(p, SquaredErrorInCounting()).sensitivity(shifts=(-2, 0, 2), slopes=(1,))
    odds = np.exp([[-2.0], [0.0], [2.0]]) * p / (1 - p)
    assert table.best_k.tolist() == np.round((odds / (1 + odds)).sum(axis=1)).tolist()


def test_sensitivity_leaves_certain_rows_certain():
    table = expected_utility([1.0, 0.4, 0.0], F1()).sensitivity(shifts=(3,), slopes=(2,))
    assert table.best_k.tolist() == [2]


@pytest.mark.parametrize(("shifts", "slopes"), [((), (1,)), ((0,), (0,)), ((0,), (-1,)), ((math.nan,), (1,))])
def test_invalid_scenarios_are_refused(shifts, slopes):
    with pytest.raises(ValueError, match="slopes must be > 0 and shifts finite"):
        expected_utility([0.5], F1()).sensitivity(shifts=shifts, slopes=slopes)


# ------------------------------------------------------------------ how it shows itself
def test_result_answers_in_one_line():
    text = repr(expected_utility([0.9, 0.2, 0.6, 0.1], F1()))
    assert text.startswith("ExpectedUtility(F1() on 4 rows: act on 2, from probability 0.6; 0.76788 +- ")
    assert text.endswith(", certified)")
    assert "act on 0;" in repr(expected_utility([0.1], F1(), zero_division=1))
    assert "+- about" in repr(expected_utility(np.full(400, 0.3), GMean()))


def test_result_and_sensitivity_are_tables():
    pytest.importorskip("polars")
    result = expected_utility([0.9, 0.2, 0.6, 0.1], F1())
    assert result.frame("polars").select("best_k", "certified").rows() == [(2, True)]
    assert result.sensitivity().frame("polars").shape == (15, 7)
    assert "best_k" in result.to_markdown()
    assert "If the probabilities are wrong" in result._repr_html_()
    assert "wrong" not in expected_utility([0.9, 0.2], F1(), sample_weight=[1, 2])._repr_html_()


def test_curve_knows_the_best_choice_and_its_rivals():
    exact = expected_utility([0.5, 0.5, 0.2], Precision()).as_curve()
    assert (exact.kind, exact.measure, exact.best, exact.ties, exact.runner_up) == (
        *("expected utility", "Precision()"),
        *(1, (1, 2), 3),
    )
    assert (exact.threshold, exact.gap, exact.best_value) == (0.5, pytest.approx(0.1), 0.5)


def test_sensitivity_of_a_large_batch_is_shown_only_when_asked_for():
    text = expected_utility(np.full(20_001, 0.3), F1())._repr_html_()
    assert "ask sensitivity()" in text
    assert text.count("<table>") == 1


def test_empty_batch_has_no_weights():
    assert expected_utility([], F1(), sample_weight=[]).best_k == 0
    with pytest.raises(ValueError, match="sample_weight must have one value per row"):
        expected_utility([], F1(), sample_weight=[1.0])


def test_curve_can_be_looked_up_and_integrated():
    result = expected_utility([0.9, 0.2, 0.6, 0.1], Jaccard())
    exact = result.as_curve()
    assert exact.at(np.arange(5.0)) == pytest.approx(result.curve, abs=1e-15)
    assert float(exact.at(0.5)) == pytest.approx(result.curve[:2].mean())
    with pytest.raises(ValueError, match="a curve needs at least one row"):
        expected_utility([], F1()).as_curve()


def test_curve_is_drawn_by_the_display_of_expected_utility(monkeypatch):
    drawn = []
    monkeypatch.setattr("stakes.curves._curve.draw", lambda curve, ax, **options: drawn.append((curve, ax, options)))
    expected_utility([0.9, 0.2, 0.6, 0.1], F1()).plot("axes", colour="red")
    (curve, ax, options), *_ = drawn
    assert (curve.kind, curve.name, ax, options) == ("expected utility", "F1()", "axes", {"colour": "red"})


def test_weights_leave_the_end_of_the_rows_that_a_falling_measure_acts_on():
    falling, p = FractionalLinear((0, -1, 1), (1, 0, 1, 1)), [0.9, 0.6, 0.3, 0.1]
    plain, equal = (expected_utility(p, falling, sample_weight=weight) for weight in (None, [2, 2, 2, 2]))
    np.testing.assert_allclose(equal.curve, plain.curve, atol=1e-12)
    assert equal.predict().tolist() == plain.predict().tolist() == [0, 1, 1, 1]
    twice = expected_utility(p, falling, sample_weight=[1, 3, 0, 2])
    values = {}
    for acted in itertools.product((0, 1), repeat=3):
        total = 0.0
        for labels in itertools.product((0, 1), repeat=3):
            rows = list(zip(acted, labels, (1, 3, 2), (0.9, 0.6, 0.1), strict=True))
            counts = (sum(w for a, y, w, _ in rows if (a, y) == cell) for cell in ((1, 1), (1, 0), (0, 1), (0, 0)))
            total += math.prod(q if y else 1 - q for _, y, _, q in rows) * float(falling.value(*counts))
        values[acted] = total
    assert tuple(twice.predict()[[0, 1, 3]]) == max(values, key=values.get)
    assert twice.utility == pytest.approx(max(values.values()), abs=1e-12)


def weighted_f1(p, weight, acted):
    values = []
    for labels in itertools.product((0, 1), repeat=len(p)):
        hits = sum(w for w, y, a in zip(weight, labels, acted, strict=True) if y and a)
        either = sum(w * (y + a) for w, y, a in zip(weight, labels, acted, strict=True))
        values.append(math.prod(q if y else 1 - q for q, y in zip(p, labels, strict=True)) * 2 * hits / (either or 1))
    return math.fsum(values)


@pytest.mark.parametrize("power", [12, 15, 40, 100])
def test_weights_of_unequal_size_leave_the_choice_to_the_values_where_no_bound_tells(power):
    p, weight = np.array([0.7, 0.6, 0.4, 0.3]), np.array([10.0**-power, 1.0, 3.0, 2.0])
    result = expected_utility(p, F1(), sample_weight=weight)
    best = max(weighted_f1(p, weight, np.arange(4) < k) for k in range(5))
    assert weighted_f1(p, weight, result.predict()) == pytest.approx(best, abs=1e-11)
    assert not result.certified


def test_the_order_of_weighted_rows_of_one_probability_changes_neither_value_nor_decisions():
    p, weight = np.array([0.25, 0.25, 0.25, 1.0]), np.array([0.18, 0.68, 0.4, 0.56])
    orders = [list(order) for order in itertools.permutations(range(4))]
    results = [expected_utility(p[order], FBeta(2), sample_weight=weight[order], zero_division=1) for order in orders]
    for order, result in zip(orders, results, strict=True):
        np.testing.assert_allclose(result.curve, results[0].curve, atol=1e-13)
        assert result.predict()[np.argsort(order)].tolist() == results[0].predict().tolist()
        assert result.predict().sum() == result.best_k


def test_of_values_around_zero_that_differ_by_rounding_the_smallest_number_of_rows_is_taken():
    """Rows of one probability tell nothing apart: the expected correlation is 0 whichever are acted on."""
    result = expected_utility([0.5, 0.5, 0.5], MCC())
    assert result.curve == pytest.approx(0.0, abs=1e-15)
    assert (result.best_k, result.ties.tolist()) == (0, [0, 1, 2, 3])
