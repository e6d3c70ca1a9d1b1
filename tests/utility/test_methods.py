"""Independent ways to one curve agree, errors stay within their bounds, and the chooser says what it does."""

from __future__ import annotations

import functools
import tracemalloc

import numpy as np
import pytest
from utility_brute import DEFINITIONS
from utility_cases import MEASURES, PROVED, golden, stress_batches

from stakes.utility import (
    F1,
    MCC,
    ConfusionMeasure,
    FBeta,
    FractionalLinear,
    GMean,
    HMean,
    Jaccard,
    Recall,
    expected_utility,
)
from stakes.utility._exponential import Batch
from stakes.utility._fourier import Spectrum

AUTO = {
    "f1": "exponentials",
    "f2": "exponentials",
    "jaccard": "exponentials",
    "recall": "exponentials",
    "am": "exponentials",
    "am_present": "exponentials",
    "g_tp_pr": "exponentials",
    "q_mean": "exponentials",
    "kappa": "exponentials",
    "mcc": "fourier",
    "precision": "closed_form",
    "accuracy": "closed_form",
    "sec": "closed_form",
}


@pytest.mark.parametrize("name", AUTO)
def test_chooser_takes_the_fast_way_with_a_proved_bound(name):
    for p in ([0.4, 0.2], golden(2000, 2)):
        result = expected_utility(p, MEASURES[name])
        assert (result.method, result.proved) == (AUTO[name], True)


def test_chooser_sums_exactly_on_small_batches_where_nothing_faster_is_proved():
    for measure in (GMean(), HMean()):
        assert [expected_utility(golden(n, 2), measure).method for n in (300, 301)] == ["exact", "gauss"]
    rough = ConfusionMeasure(lambda tp, fp, fn, tn: np.sign(tp - fp) + 0 * fn + 0 * tn)
    assert expected_utility(golden(301, 2), rough).method == "exact"


def test_every_way_is_off_by_no_more_than_its_bound_says():
    p = golden(150, 2)
    ways = ("exponentials", "fourier", "exact", "gauss", "algorithm1", "algorithm2", "closed_form")
    for name, measure in MEASURES.items():
        exact = expected_utility(p, measure, zero_division=1, method="exact")
        tried = 0
        for method in ways:
            try:
                result = expected_utility(p, measure, zero_division=1, method=method)
            except ValueError:
                continue
            tried += 1
            error = np.max(np.abs(result.curve - exact.curve))
            assert result.method == method
            assert error < 3e-14, (name, method)
            assert error <= result.error_bound + exact.error_bound
        assert tried >= 3


@pytest.mark.parametrize("name", PROVED)
def test_two_unrelated_algorithms_agree_on_ten_thousand_rows(name):
    p = golden(10**4, 2)
    result, other = (expected_utility(p, MEASURES[name], method=method) for method in ("auto", "gauss"))
    assert np.max(np.abs(result.curve - other.curve)) < 5e-14
    assert result.best_k == other.best_k


@pytest.mark.parametrize("name", ["recall", "am", "g_tp_pr"])
def test_fourier_frequencies_agree_with_exponentials(name):
    for p in (golden(3000, 3), golden(50, 1), 1 - golden(400, 4)):
        for fill in (0, 1):
            one, two = (
                expected_utility(p, MEASURES[name], zero_division=fill, method=method)
                for method in ("exponentials", "fourier")
            )
            assert np.max(np.abs(one.curve - two.curve)) <= one.error_bound + two.error_bound
            assert np.max(np.abs(one.curve - two.curve)) < 3e-14


@functools.lru_cache(8)
def laws(p, k):
    """Laws of the positives among the first k rows and among the others, by Fourier frequencies; rows as bytes."""
    ordered, found = np.sort(np.frombuffer(p))[::-1], []
    for part in (ordered[:k], ordered[k:]):
        if len(part) == 0:
            found.append((np.zeros(1), np.ones(1)))
        else:
            spectrum = Spectrum.of(Batch.of(part))
            inside = spectrum.counts <= len(part)
            found.append((spectrum.counts[inside], spectrum.law()[inside]))
    return found


def two_dimensional_sum(p, measure, k, fill):
    """The definition with both laws from their Fourier transforms: independent of the methods for curves."""
    (tp, first), (fn, rest) = laws(np.asarray(p, dtype=np.float64).tobytes(), k)
    table = measure.value(tp[:, None], k - tp[:, None], fn, len(p) - k - fn, zero_division=fill)
    return float(first @ table @ rest)


STRESSED = [
    pytest.param(batch, n, marks=pytest.mark.thorough if n == 20_000 and place % 2 else ())
    for n in (3, 40, 700, 20_000)
    for place, batch in enumerate(stress_batches(3, np.random.default_rng(0)))
]


@pytest.mark.parametrize(("batch", "n"), STRESSED)
def test_stressed_batches_stay_within_the_bound_of_an_independent_sum(batch, n):
    p = stress_batches(n, np.random.default_rng(n))[batch]
    for name in PROVED:
        for fill in (0, 1):
            result = expected_utility(p, MEASURES[name], zero_division=fill)
            assert result.error_bound < 3e-12
            for k in {0, 1, n // 50, n // 3, n - 1, n}:
                error = abs(result.curve[k] - two_dimensional_sum(p, MEASURES[name], k, fill))
                assert error < 5e-13, (name, k)
                assert error <= result.error_bound + 1e-14 * np.sqrt(n), (name, k)


@pytest.mark.parametrize("batch", ["halves", "ends", "two levels", "common"])
def test_gauss_rules_on_stressed_batches_stay_within_their_estimate(batch):
    n = 2000
    p = stress_batches(n, np.random.default_rng(n))[batch]
    for measure in (GMean(), HMean()):
        result = expected_utility(p, measure, zero_division=1, method="gauss")
        for k in {0, 1, n // 50, n // 3, n - 1, n}:
            assert abs(result.curve[k] - two_dimensional_sum(p, measure, k, 1)) <= result.error_bound + 1e-12


@pytest.mark.parametrize("positives", [60, 85, 100, 160])
def test_gauss_nodes_never_leave_the_table(positives):
    # two orders more than needed, for the estimate of the error, reach 8.3 standard deviations
    p = np.random.default_rng(positives).random(4000) * 2.0 * positives / 4000
    for q in (p, 1 - p):
        result = expected_utility(q, GMean())
        assert result.error_bound < 1e-12
        for k in (1, 90, 1500, 2500, 3900):
            assert abs(result.curve[k] - two_dimensional_sum(q, GMean(), k, 0)) <= result.error_bound + 1e-13


def test_gauss_rules_keep_a_few_arrays_of_the_length_of_the_batch_and_no_more():
    p = golden(300_000, 2)
    tracemalloc.start()
    result = expected_utility(p, GMean())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.method == "gauss"
    assert peak < 16 * p.nbytes  # half of that is one block; the cumulants of every k would take thirty


def test_cumulants_from_blocks_are_those_of_the_whole_batch():
    for n in (301, 2048, 2049, 5000):
        p = golden(n, 2)
        result = expected_utility(p, GMean(), method="gauss")
        for k in (0, 1, 100, 2047, 2048, n // 2, n - 1, n):
            if k <= n:
                assert abs(result.curve[k] - two_dimensional_sum(p, GMean(), k, 0)) < 1e-13


@pytest.mark.parametrize(
    "name",
    [*("f1", "mcc"), *(pytest.param(n, marks=pytest.mark.thorough) for n in ("jaccard", "recall", "am", "g_tp_pr"))],
)
def test_twenty_four_positives_in_a_million_rows(name):
    p = np.random.default_rng(0).random(10**6) * 48.0 / 10**6
    result = expected_utility(p, MEASURES[name])
    for k in (1, 100, result.best_k, 10**6):
        error = abs(result.curve[k] - two_dimensional_sum(p, MEASURES[name], k, 0))
        assert error <= result.error_bound + 1e-13, k


def test_millions_of_sparse_rows_are_certified():
    p = np.random.default_rng(1).random(1_100_000) * 48.0 / 1_100_000
    result = expected_utility(p, F1())
    assert (result.certified, result.error_bound < 1e-12) == (True, True)
    for k in (1000, result.best_k):
        exact = two_dimensional_sum(p, F1(), k, 0)
        assert abs(result.curve[k] - exact) <= result.error_bound + 1e-10 * exact


def test_law_of_the_number_of_positives_is_right():
    rng = np.random.default_rng(6)
    for n in (1, 2, 30, 500):
        for p in (rng.random(n), rng.random(n) ** 20, 1 - rng.random(n) ** 20):
            exact = np.ones(1)
            for x in p:
                exact = np.append(exact * (1 - x), 0.0) + np.append(0.0, exact * x)
            spectrum = Spectrum.of(Batch.of(p))
            got = np.zeros(n + 1)
            inside = spectrum.counts <= n
            got[spectrum.counts[inside].astype(int)] = spectrum.law()[inside]
            assert np.max(np.abs(got - exact)) < 2e-15


def test_window_holds_all_but_a_negligible_part_of_the_law():
    rng = np.random.default_rng(7)
    for n in (5, 60, 400):
        for p in (rng.random(n), rng.random(n) ** 9, np.append(1 - rng.random(n - 1) ** 9, 1.0)):
            low, high = Batch.of(p).window
            exact = np.ones(1)
            for x in p:
                exact = np.append(exact * (1 - x), 0.0) + np.append(0.0, exact * x)
            assert exact[:low].sum() + exact[high + 1 :].sum() <= 1e-20


def test_swapping_the_classes_turns_symmetric_curves_round():
    p = golden(500, 2)
    for name in ("am", "q_mean", "mcc", "kappa", "g_mean", "h_mean", "accuracy"):
        one, two = (expected_utility(x, MEASURES[name]).curve for x in (p, 1 - p))
        assert np.max(np.abs(one - two[::-1])) < 1e-13, name


def test_order_of_the_rows_does_not_matter():
    p = np.random.default_rng(1).random(300)
    for measure in (F1(), MCC(), GMean()):
        assert np.array_equal(expected_utility(p, measure).curve, expected_utility(p[::-1], measure).curve)


def test_zero_division_adds_the_probability_of_the_undefined_table():
    p = np.array([0.3, 0.1, 0.05, 0.6])
    none = np.prod(1 - p)
    for measure in (F1(), FBeta(3), Jaccard()):
        without, with_one = (expected_utility(p, measure, zero_division=fill).curve for fill in (0, 1))
        assert with_one - without == pytest.approx([none, 0, 0, 0, 0], abs=1e-15)
    without, with_one = (expected_utility(p, Recall(), zero_division=fill).curve for fill in (0, 1))
    assert with_one - without == pytest.approx([none] * 5, abs=1e-15)


@pytest.mark.parametrize(
    ("measure", "method", "message"),
    [
        (F1(), "fourier", r"one of 'auto', 'exponentials', .* for F1\(\), got 'fourier'"),
        (MCC(), "algorithm2", r"for MCC\(\), got 'algorithm2'"),
        (GMean(), "closed_form", r"one of 'auto', 'exact', 'gauss', 'algorithm1' for GMean\(\)"),
        (F1(), "fast", "method must be one of 'auto', 'closed_form', .*, got 'fast'"),
        (FractionalLinear((0, 1, 0), (0, 0, 0, 1)), "exponentials", "needs a denominator that is positive"),
        (FBeta(0.3), "algorithm2", "needs integer coefficients d"),
        (FractionalLinear((0, 1, 0), (2, 0, 0, -1)), "algorithm2", "needs d3 >= 0"),
    ],
)
def test_methods_that_do_not_apply_are_refused_with_the_choices(measure, method, message):
    with pytest.raises(ValueError, match=message):
        expected_utility([0.5, 0.2], measure, method=method)


def test_rough_measures_have_no_gauss_rule():
    with pytest.raises(ValueError, match="method must be one of 'auto', 'exact', 'algorithm1'"):
        expected_utility([0.5], ConfusionMeasure(lambda tp, fp, fn, tn: tp + 0 * fp + 0 * fn + 0 * tn), method="gauss")


def test_large_ratio_of_linear_functions_agrees_with_f1():
    p = golden(20_000, 2)
    own, built_in = (expected_utility(p, m) for m in (FractionalLinear((0, 2, 0), (0, 0, 1, 1)), F1()))
    assert np.max(np.abs(own.curve - built_in.curve)) < 3e-14
    assert (own.best_k, own.certified) == (built_in.best_k, True)


def test_definitions_of_the_tests_are_those_of_the_package():
    assert set(DEFINITIONS) == set(MEASURES)
