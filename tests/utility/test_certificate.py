"""A choice is called certified only where it is: planted ties, exact ties, and bounds held against exact fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from utility_brute import DEFINITIONS, LOSSES, RATIONAL, best_of_all_decisions, exact_curve, linear
from utility_cases import MEASURES, golden, stress_batches

from stakes.utility import F1, ConfusionMeasure, FBeta, FractionalLinear, GMean, Jaccard, expected_utility
from stakes.utility._expected import choose, estimate_curve
from stakes.utility._exponential import (
    RELATIVE,
    ROUNDING,
    TAIL,
    Batch,
    UtilityEstimate,
    difference_error,
    expected_fbeta,
    nodes,
)
from stakes.utility._fourier import _none_chosen, _Ratio, _SplitSums, expected_linear, expected_matthews
from stakes.utility._summation import expected_by_algorithm1, expected_by_recursion

SIXTEENTHS = st.lists(st.integers(0, 16).map(lambda i: i / 16), min_size=1, max_size=7)
STEPPED = (
    *("f1", "f2", "f0.5", "jaccard", "recall", "am", "am_present"),
    *("q_mean", "precision", "accuracy", "sec", "kappa"),
)
CHANCES = np.array([0.875, 0.75, 0.5, 0.375, 0.125])
COEFFICIENTS = st.tuples(*[st.integers(-2, 3).map(float)] * 4)


@given(p=SIXTEENTHS, name=st.sampled_from(RATIONAL), fill=st.integers(0, 1))
@settings(max_examples=600)
def test_certified_choice_is_the_only_best_one_in_exact_arithmetic(p, name, fill):
    exact = exact_curve(p, DEFINITIONS[name], fill)
    best = min(exact) if name in LOSSES else max(exact)
    ties = [k for k, value in enumerate(exact) if value == best]
    result = expected_utility(p, MEASURES[name], zero_division=fill)
    assert set(ties) <= set(result.ties.tolist())
    if result.certified:
        assert ties == [result.best_k]


@given(p=SIXTEENTHS, name=st.sampled_from(STEPPED), fill=st.integers(0, 1))
@settings(max_examples=300)
def test_differences_of_neighbours_keep_their_bound(p, name, fill):
    estimate = estimate_curve(Batch.of(np.array(p)), MEASURES[name], fill, "auto")
    check_steps(estimate, exact_curve(p, DEFINITIONS[name], fill))


def check_steps(estimate, exact):
    """Hold every difference that is known against exact fractions."""
    first, last = estimate.steps_start, len(exact) - 1 if estimate.steps_end is None else estimate.steps_end
    if estimate.steps is None or last <= first:
        return
    rise, bound = estimate.steps(first, last)
    for k, (d, b) in enumerate(zip(rise, bound, strict=True), start=first):
        assert abs(Fraction(d) - (exact[k + 1] - exact[k])) <= Fraction(b) + Fraction(estimate.floor)
    middle = (first + last) // 2  # any stretch of them is the same as when all are asked for
    if first < middle < last:
        assert estimate.steps(middle, last)[0] == pytest.approx(rise[middle - first :], abs=1e-14)


# the largest error bound of values, and of differences of neighbours where a method knows them, in units of 1e-13
BOUNDS = {
    "f1": {
        "exponentials": (1.1058, 0.060849),
        "exact": (0.88287, 0.0),
        "gauss": (1.0, 0.0),
        "algorithm1": (0.88287, 0.0),
        "algorithm2": (0.85406, 0.0),
    },
    "f0.5": {"exponentials": (1.0503, 0.18683), "exact": (0.83853, 0.0), "gauss": (1.0, 0.0)},
    "jaccard": {"exponentials": (0.7306, 0.030022), "exact": (0.5833, 0.0), "algorithm2": (0.56426, 0.0)},
    "precision": {"closed_form": (0.013344, 0.012925), "exact": (1.3794, 0.0), "algorithm2": (1.3344, 0.0)},
    "recall": {
        "exponentials": (2.3, 0.028187),
        "fourier": (6.7626, 0.0),
        "exact": (1.8363, 0.0),
        "gauss": (1.0, 0.0),
        "algorithm1": (1.8363, 0.0),
        "algorithm2": (1.7764, 0.0),
    },
    "g_tp_pr": {"exponentials": (1.1865, 0.21053), "fourier": (9.144, 0.0), "exact": (0.9473, 0.0)},
    "am": {"exponentials": (1.5982, 0.015291), "fourier": (6.7096, 0.0), "exact": (1.276, 0.0), "gauss": (1.0, 0.0)},
    "am_present": {"exponentials": (1.5982, 0.015291), "fourier": (6.7096, 0.0), "exact": (1.276, 0.0)},
    "g_mean": {"exact": (1.2742, 0.0), "gauss": (1.0, 0.0), "algorithm1": (1.2742, 0.0)},
    "q_mean": {"exponentials": (1.16, 0.02796), "exact": (1.6614, 0.0)},
    "mcc": {"fourier": (0.5863, 0.11211), "exact": (0.58964, 0.0)},
    "accuracy": {"closed_form": (0.014275, 5.9212e-05), "exact": (1.4757, 0.0), "algorithm2": (3.9182, 0.0)},
    "kappa": {"exponentials": (7.8015, 4.6946), "exact": (0.57862, 0.0)},
    "sec": {"closed_form": (0.025834, 0.00014259), "exact": (1.1592, 0.0)},
}


@pytest.mark.parametrize(("name", "method"), [(name, method) for name, row in BOUNDS.items() for method in row])
def test_error_bounds_are_as_tight_as_they_were(name, method):
    # that they hold is tested beside exact fractions; wider ones would leave more decisions without a certificate
    estimate = estimate_curve(Batch.of(np.random.default_rng(0).beta(1, 4, 300)), MEASURES[name], 0, method)
    steps = 0.0
    from_none = name in {"accuracy", "sec", "recall", "am", "am_present", "q_mean"} and method in {
        "closed_form",
        "exponentials",
        "fourier",
    }
    assert estimate.steps_start == (0 if from_none else 1)
    if estimate.steps is not None:
        last = 300 if estimate.steps_end is None else estimate.steps_end
        steps = estimate.steps(estimate.steps_start, last)[1].max()
    assert (estimate.bound().max() / 1e-13, steps / 1e-13) == pytest.approx(BOUNDS[name][method], rel=1e-3)


def test_differences_past_the_middle_keep_the_bounds_of_the_mirror_image():
    p = np.random.default_rng(0).beta(1, 6, 60)
    left, right = (estimate_curve(Batch.of(each), MEASURES["kappa"], 0, "auto") for each in (p, 1 - p))
    assert (left.steps_start, left.steps_end, right.steps_start, right.steps_end) == (1, 29, 31, 59)
    (rise, bound), (fall, mirrored) = left.steps(1, 29), right.steps(31, 59)
    assert fall[::-1] == pytest.approx(-rise, abs=1e-15)
    assert mirrored[::-1] == pytest.approx(bound, rel=1e-9, abs=0.0)
    assert bound[-1] > 5 * bound[0]


@pytest.mark.parametrize("p", [CHANCES, 1.0 - CHANCES], ids=["more positives", "more negatives"])
def test_differences_of_matthews_correlation_are_those_of_its_values_over_all_labels(p):
    p, exact = np.sort(p)[::-1], np.zeros(6)
    for y, chance in all_labels(p):
        positives = y.sum()
        for k in range(1, 5):
            if 0 < positives < 5:
                root = np.sqrt(k * (5 - k) * positives * (5 - positives))
                exact[k] += chance * (5 * y[:k].sum() - k * positives) / root
    estimate, image = expected_matthews(Batch.of(p)), expected_matthews(Batch.of(p).mirrored())
    assert estimate.values == pytest.approx(exact, abs=1e-15)
    assert estimate.bound().tolist() == image.bound().tolist()  # both from the rarer class
    assert (estimate.steps_start, estimate.steps_end) == (1, 4)
    for first, last in ((1, 4), (1, 2), (2, 4), (3, 4)):
        rise, bound = estimate.steps(first, last)
        assert rise == pytest.approx(np.diff(exact[first : last + 1]), abs=1e-15)
        assert bound == pytest.approx(estimate.steps(1, 4)[1][first - 1 : last - 1], rel=1e-12, abs=0.0)


@pytest.mark.parametrize("p", [[], [0.3]])
def test_matthews_correlation_of_less_than_two_rows_is_zero_without_error(p):
    estimate = expected_matthews(Batch.of(np.array(p)))
    assert (estimate.values.tolist(), estimate.bound().tolist()) == ([0.0] * (len(p) + 1), [0.0] * (len(p) + 1))
    assert estimate.floor == 0.0


@pytest.mark.parametrize("n", [2, 10, 40])
@pytest.mark.parametrize("swap", [False, True])
def test_bound_of_matthews_correlation_of_all_but_sure_rows_is_what_counts_outside_the_window_may_add(n, swap):
    batch = Batch.of(np.full(n, 1e-200))
    # the mean of y / sqrt(P N) of a row may lack, and be given, TAIL times its largest value 1 / sqrt(n - 1)
    each = 2.0 * TAIL / np.sqrt(n - 1.0)
    most = max(k * np.sqrt((n - k) / k) + (n - k) * np.sqrt(k / (n - k)) for k in range(1, n)) * each
    estimate = expected_matthews(batch.mirrored() if swap else batch)
    assert estimate.bound() == pytest.approx(np.full(n + 1, most), rel=1e-12, abs=0.0)
    assert estimate.floor == pytest.approx(2.0 * most, rel=1e-12, abs=0.0)  # of either end of a stretch


@given(p=SIXTEENTHS, c=COEFFICIENTS, d=COEFFICIENTS, fill=st.integers(0, 1))
@example(p=[0.0, 1 / 16], c=(0.0, 0.0, 0.0, 0.0), d=(1.0, 0.0, 1.0, -1.0), fill=1)  # the law's rounding alone
@settings(max_examples=400)
def test_values_differences_and_certificate_of_any_ratio_hold(p, c, d, fill):
    try:
        measure = FractionalLinear(c, d)
    except ValueError:  # a denominator that may be negative
        return
    definition = linear(c, d)
    batch, falling = Batch.of(np.array(p)), not measure.ranking().descending
    if falling:  # the k least probable rows are the k most probable of the mirror image
        batch = batch.reversed()
        exact = exact_curve(p, lambda tp, fp, fn, tn, zd: definition(fn, tn, tp, fp, zd), fill)[::-1]
    else:
        exact = exact_curve(p, definition, fill)
    estimate = estimate_curve(batch, measure, fill, "auto")
    for value, bound, true in zip(estimate.values, estimate.bound(), exact, strict=True):
        assert abs(Fraction(value) - true) <= Fraction(bound)
    check_steps(estimate, exact)
    result = expected_utility(p, measure, zero_division=fill)
    if result.certified and len(p) <= 5:
        best = best_of_all_decisions(p, definition, fill)
        assert result.utility == pytest.approx(float(best), abs=1e-11 * (1.0 + abs(float(best))))


@pytest.mark.parametrize(
    ("d", "lowest"), [((-1, 3, 2, 3), -1), ((1, 3, -2, 0), -1), ((1, 3, 0, -3), -2), ((1, -4, 1, 1), -1)]
)
def test_a_denominator_that_is_negative_at_some_table_is_refused(d, lowest):
    # the extreme tables: no row is selected or positive, all are selected, all are positive, all are both
    with pytest.raises(ValueError, match=rf"the denominator must not be negative at any table, .* with {lowest}\."):
        FractionalLinear((1, 1, 1), d)


def test_ranking_is_left_open_where_the_denominator_vanishes_at_good_or_at_bad_tables():
    # TP / FP counts nothing where no false positive was made, so perfect decisions are worth less than others
    measure = FractionalLinear((0, 1, 0), (0, -1, 1, 0))
    assert measure.ranking().holds is None
    assert not expected_utility([0.9, 0.8, 0.1], measure).certified
    # here it vanishes where every decision is wrong; the three least probable rows were once called the best ones
    worst = FractionalLinear((1, 1, 3, 1), (2, 2, -2, -2))
    assert worst.ranking().holds is None
    p = (0.74, 0.18, 0.39, 0.06)
    assert float(best_of_all_decisions(p, linear(worst.c, worst.d), 0)) == pytest.approx(7.3414)
    assert not expected_utility(p, worst).certified


@pytest.mark.parametrize(
    "name",
    [
        "f1",
        "kappa",
        "mcc",
        *(pytest.param(n, marks=pytest.mark.thorough) for n in ("jaccard", "am", "g_tp_pr", "q_mean")),
    ],
)
def test_choice_among_a_million_rows_is_certified_by_differences(name):
    result = expected_utility(golden(10**6, 2), MEASURES[name])
    assert (result.certified, result.runner_up in {result.best_k - 1, result.best_k + 1}) == (True, True)
    if name == "kappa":
        assert result.gap < 2 * result.error_bound  # values could not have told


def test_ratio_of_linear_functions_is_certified_by_the_differences_that_f1_has():
    own, built_in = (expected_utility(golden(10**5, 2), m) for m in (FractionalLinear((0, 2, 0), (0, 0, 1, 1)), F1()))
    assert (own.best_k, own.runner_up, own.certified) == (built_in.best_k, built_in.runner_up, True)
    assert own.gap == pytest.approx(built_in.gap, rel=1e-6)


def test_own_measure_on_a_large_batch_is_not_proved_for_it_may_be_huge_where_nobody_looked():
    def jackpot(tp, fp, fn, tn):
        return 0.1 * tp - 0.03 * fp + np.where(fn + fp + tn == 0, 1e300, 0.0)

    small, large = (expected_utility(np.full(n, 0.4), ConfusionMeasure(jackpot, rises_with_tp=True)) for n in (40, 320))
    assert (small.best_k, small.proved) == (40, True)
    assert small.utility == pytest.approx(1e300 * 0.4**40, rel=1e-9)
    assert (large.proved, large.certified) == (False, False)


def planted(definition, first, low, high):
    """Second probability for which acting on one row and on both are worth the same, to the last bit of a float."""

    def gap(second):
        _, one, two = exact_curve([first, second], definition, 0)
        return two - one

    assert gap(low) < 0 < gap(high)
    while True:
        middle = (low + high) / 2
        if middle in {low, high}:
            return [(first, low), (first, high)]
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)


@pytest.mark.parametrize(
    ("name", "measure"), [("f1", F1()), ("jaccard", Jaccard()), ("f2", FBeta(2)), ("f0.5", FBeta(0.5))]
)
@pytest.mark.parametrize("first", [0.9, 0.6, 0.3])
def test_planted_second_choice_within_the_bound_is_never_certified_away(name, measure, first):
    for p in planted(DEFINITIONS[name], first, 1e-6, first):
        exact = exact_curve(p, DEFINITIONS[name], 0)
        assert abs(exact[2] - exact[1]) < 1e-15
        result = expected_utility(p, measure)
        assert not result.certified
        assert result.ties.tolist() == [1, 2]
        assert result.best_k == 1


@pytest.mark.parametrize("gap", [1e-11, 1e-9])
def test_second_choice_beyond_the_bound_leaves_the_choice_certified(gap):
    low, _ = planted(DEFINITIONS["f1"], 0.9, 1e-6, 0.9)
    p = (0.9, low[1] - gap)
    result = expected_utility(p, F1())
    assert (result.certified, result.best_k, result.runner_up) == (True, 1, 2)
    exact = exact_curve(p, DEFINITIONS["f1"], 0)
    assert result.gap == pytest.approx(float(exact[1] - exact[2]), rel=0.05)


def curve_with_steps(values, *, relative=0.0, absolute=0.0, noise=0.0):
    """A curve whose differences are known to within the noise."""
    rises = np.diff(values)
    return UtilityEstimate(
        np.asarray(values, float),
        relative,
        absolute,
        "made up",
        steps=lambda first, last: (rises[first:last], np.full(last - first, noise)),
    )


@given(
    heights=st.lists(st.integers(-3, 3).map(lambda i: i * 1e-15), min_size=3, max_size=12),
    noise=st.sampled_from([0.0, 0.4e-15, 1.1e-15]),
)
def test_no_member_within_the_summed_bounds_is_left_out(heights, noise):
    values = np.array([0.0, *(0.5 + h for h in heights)])
    choice = choose(curve_with_steps(values, absolute=1e-12, noise=noise), 1.0)
    top = 1 + int(np.argmax(heights))
    for k, height in enumerate(heights, start=1):
        reach = noise * abs(k - top)
        if heights[top - 1] - height <= reach * 0.99:
            assert k in choice.ties


def test_best_choice_without_a_row_competes_by_value():
    values = np.array([0.7, 0.3, 0.7 + 1e-13, 0.2])
    choice = choose(curve_with_steps(values, absolute=1e-12), 1.0)
    assert choice.ties.tolist() == [0, 2]
    choice = choose(curve_with_steps(values, absolute=1e-14), 1.0)
    assert choice.ties.tolist() == [2]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("last", "ties"), [(0.7, [2, 3]), (0.7 - 1e-13, [2, 3]), (0.7 - 1e-11, [2]), (0.7 + 1e-13, [1, 2, 3])]
)
def test_a_last_choice_without_differences_joins_those_that_they_tell_apart_unless_it_is_better(last, ties, sign):
    values = sign * np.array([0.3, 0.7 - 1e-15, 0.7, last])
    estimate = replace(curve_with_steps(values, absolute=1e-12), steps_end=2)
    assert choose(estimate, sign).ties.tolist() == ties


def test_runner_up_and_gap_come_from_differences_where_values_cannot_tell():
    values = np.array([0.0, 0.5, 0.5 + 3e-15, 0.5 + 5e-15, 0.4])
    choice = choose(curve_with_steps(values, absolute=1e-12, noise=1e-17), 1.0)
    assert (choice.ties.tolist(), choice.runner_up) == ([3], 2)
    assert choice.gap == pytest.approx(2e-15, rel=0.2)


def test_differences_overrule_values_that_rounding_has_put_in_another_order():
    rises = np.array([0.5, 3e-15, 2e-15, -4e-15])
    values = np.array([0.0, 0.5, 0.5 + 3e-15, 0.5 + 5e-15, 0.5 + 4.5e-15])  # the last one is rounded up
    estimate = UtilityEstimate(values, 0.0, 1e-12, "made up", steps=lambda a, b: (rises[a:b], np.full(b - a, 1e-18)))
    choice = choose(estimate, 1.0)
    assert (choice.ties.tolist(), choice.runner_up) == ([3], 2)
    assert choice.gap == pytest.approx(2e-15, rel=1e-6)


def test_estimated_errors_are_never_called_certified():
    p = golden(1000, 2)
    result = expected_utility(p, GMean())
    assert (result.method, result.proved, result.certified) == ("gauss", False, False)
    assert "estimated" in result.certificate
    assert not expected_utility(p, F1(), method="gauss").certified


def test_a_measure_without_the_ranking_principle_is_not_certified():
    result = expected_utility([0.9, 0.5, 0.2], FractionalLinear((4, 4, 4), (2, 3, 3, 2)))
    assert (result.certified, result.proved, len(result.ties)) == (False, True, 1)
    assert "ranking" not in result.certificate
    assert "better decisions" in result.certificate


def test_own_measure_is_certified_only_once_its_ranking_is_known():
    def hits(tp, fp, fn, tn):
        return tp / (tp + fp + fn + tn) - 0.4 * fp / (tp + fp + fn + tn)

    small, large = np.linspace(0.05, 0.9, 12), np.linspace(0.05, 0.95, 60)
    assert expected_utility(small, ConfusionMeasure(hits)).certified
    assert not expected_utility(large, ConfusionMeasure(hits)).certified
    assert expected_utility(large, ConfusionMeasure(hits, rises_with_tp=True)).certified


@pytest.mark.parametrize("batch", stress_batches(3, np.random.default_rng(0)))
def test_ties_of_stressed_batches_contain_every_exact_tie(batch):
    rng = np.random.default_rng(5)
    for n in (3, 6, 9):
        p = stress_batches(n, rng)[batch]
        for name in RATIONAL:
            exact = exact_curve(p, DEFINITIONS[name], 0)
            best = min(exact) if name in LOSSES else max(exact)
            result = expected_utility(p, MEASURES[name])
            assert {k for k, value in enumerate(exact) if value == best} <= set(result.ties.tolist())
            assert max(abs(Fraction(u) - e) for u, e in zip(result.curve, exact, strict=True)) <= result.error_bound


# -------------------------------------------------------------- bounds are no smaller than what they are made of
def all_labels(p=CHANCES):
    """Every vector of labels of the five rows with its probability."""
    for labels in product((0, 1), repeat=5):
        y = np.array(labels)
        yield y, float(np.prod(np.where(y == 1, p, 1.0 - p)))


@pytest.mark.parametrize("square", [0.25, 1.0, 4.0])
def test_error_of_a_step_of_f_beta_has_a_share_of_what_is_gained_and_of_what_is_lost(square):
    rise, error = expected_fbeta(Batch.of(CHANCES), square, 0.0).steps(1, 5)
    for k in range(1, 5):
        gained = sum(chance * y[k] / (k + 1 + square * y.sum()) for y, chance in all_labels()) * (1.0 + square)
        hits = [(chance, y[:k].sum(), square * y.sum()) for y, chance in all_labels()]
        lost = (1.0 + square) * sum(c * tp * (1 / (k + b) - 1 / (k + 1 + b)) for c, tp, b in hits)
        assert rise[k - 1] == pytest.approx(gained - lost, abs=1e-14)
        known = (RELATIVE + ROUNDING) * gained + (difference_error() + ROUNDING) * lost
        assert error[k - 1] == pytest.approx(known, rel=1e-9)


RATIOS = {
    "constant over rows acted on": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "positives over rows acted on": ((0, 0, 0, 1), (1, 0, 1, 0)),
    "acted on over positives": ((0, 1, 1, 0), (1, 0, 0, 1)),
    "opposites": ((0, 1, -1, 0), (1, 0, 0, 1)),
    "hits over rows acted on": ((0, 1, 0, 0), (1, 0, 1, 0)),
    "hits over hits": ((0, 2, 0, 0), (1, -0.5, 1, 1)),
    "all at once": ((1, 2, -1, 0.5), (2, 0.5, 0.25, 1)),
}


@pytest.mark.parametrize("name", RATIOS)
def test_error_of_a_step_of_a_ratio_covers_its_parts_and_the_tables_outside(name):
    c, d = (tuple(map(float, part)) for part in RATIOS[name])
    estimate = expected_linear(Batch.of(CHANCES), c, d, 0.0)
    rise, error = estimate.steps(1, 5)
    ratio, largest = _Ratio(Batch.of(CHANCES), None, c, d), []
    for k in range(1, 5):
        parts, steps = np.zeros(2), []
        for y, chance in all_labels():
            tp, positives = int(y[:k].sum()), int(y.sum())
            above = c[0] * 5 + c[1] * tp + c[2] * k + c[3] * positives
            below = d[0] * 5 + d[1] * tp + d[2] * k + d[3] * positives
            more, less = c[1] * y[k] + c[2], d[1] * y[k] + d[2]
            change = 1.0 / (below + less) - 1.0 / below
            steps.append((above + more) / (below + less) - above / below)
            parts += chance * np.array([abs(more / (below + less)), abs(change * above)])
            assert steps[-1] == pytest.approx(more / (below + less) + change * above, abs=1e-15)
            largest.append((k, abs(steps[-1])))
        assert rise[k - 1] == pytest.approx(
            sum(p * s for (_, p), s in zip(all_labels(), steps, strict=True)), abs=1e-13
        )
        known = (RELATIVE + ROUNDING) * parts[0] + (difference_error() + ROUNDING) * parts[1]
        assert error[k - 1] >= known * (1.0 - 1e-9)
        assert error[k - 1] < 1e-10
    sums = _SplitSums(ratio, *ratio.denominator(*ratio.window(), 1.0))
    for first in range(1, 5):
        assert sums._outside(first) >= TAIL * max(step for k, step in largest if k >= first)


def test_differences_are_known_of_rows_that_count_alike_only():
    batch, ratio = Batch.of(CHANCES), ((0.0, 2.0, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0))
    assert expected_linear(batch, *ratio, 0.0).steps is not None
    assert expected_linear(batch, *ratio, 0.0, np.array([1.0, 2.0, 1.0, 1.0, 3.0])).steps is None


def test_window_of_weighted_positives_misses_little():
    # the law of the weight of positives by enumeration; bounds of Bernstein and Chernoff are wider, yet not everything
    weight = np.array([1.0, 3.0, 0.5, 2.0, 1.5])
    low, high = _Ratio(Batch.of(CHANCES), weight, (0.0,) * 4, (1.0,) * 4).window()
    assert (low, high) == (0.0, 8.0)  # so few rows cannot be told from all
    chances = np.tile([0.25, 0.75, 0.5, 0.125], 4000)
    weight = np.tile([2.0, 1.0, 3.0, 0.5], 4000)
    low, high = _Ratio(Batch.of(np.sort(chances)[::-1]), weight, (0.0,) * 4, (1.0,) * 4).window()
    order = np.sort(chances)[::-1]
    mean = float(weight @ order)
    deviation = float(np.sqrt(weight**2 @ (order * (1.0 - order))))
    # outside of what a normal law misses with the same probability, and not far from it
    away = np.sqrt(2.0 * np.log(2.0 / TAIL))
    assert away * deviation < high - mean < 1.2 * away * deviation
    assert away * deviation < mean - low < 2.0 * away * deviation


def test_window_of_weighted_rows_spends_its_probability_in_the_inequalities_of_bernstein_and_chernoff():
    rng = np.random.default_rng(3)
    p, w = rng.uniform(0.2, 0.8, 2000), rng.uniform(0.5, 2.0, 2000)
    low, high = _Ratio(Batch(p, 1.0 - p), w, (0.0,) * 4, (0.0,) * 4).window()
    mean, variance = w @ p, w**2 @ (p * (1.0 - p))
    up, down = high - mean, mean - low
    bernstein = up**2 / 2.0 / (variance + w.max() * up / 3.0)
    chernoff = down**2 / 2.0 / (w**2 @ p)
    assert -np.log(TAIL / 2.0) == pytest.approx(min(bernstein, 1e9), rel=1e-12)
    assert -np.log(TAIL / 2.0) == pytest.approx(chernoff, rel=1e-12) or down == pytest.approx(up, rel=1e-12)


def test_bounds_on_rounding_count_the_roundings_that_they_are_derived_from():
    batch, unit = Batch.of(np.linspace(0.1, 0.9, 99)), 2.0**-53
    # three for each row of the two laws, the two sums over 20 standard deviations each, 60 for the rest
    assert expected_by_algorithm1(batch, lambda tp, _fp, fn, _tn: tp + 0 * fn).relative == (297 + 40 * 10 + 60) * unit
    assert expected_by_recursion(batch, (0, 1, 0, 0), (0, 0, 1, 0), 0.0).relative == (5 * 99 + 100) * unit
    sums = _SplitSums(_Ratio(batch, None, (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0)), 1.0, 198.0)
    rate = nodes(1.0, 198.0)[0]
    assert sums.rounding == pytest.approx(unit * (2 * (64 + 8) * rate * 99 * 2 + 64 + 50), rel=1e-15, abs=0.0)


def test_sums_of_exponentials_are_closed_where_the_steepest_node_grows_too_far():
    batch, d = Batch.of(np.array([0.4, 0.3])), (3.0, 0.0, 0.0, -1.0)
    seen = set()
    for high in np.linspace(1.0, 6.0, 300).tolist():
        steepest = float(nodes(0.068, high)[0].max())
        finite = _SplitSums(_Ratio(batch, None, (0.0, 1.0, 0.0, 0.0), d), 0.068, high).finite
        assert finite == (steepest < 600.0)
        seen.add((finite, 570.0 < steepest < 630.0))
    assert {(False, True), (True, True)} <= seen


def test_weighted_ratio_whose_denominator_vanishes_where_nobody_is_acted_on_is_left_to_others():
    batch, weight = Batch.of(np.array([0.6, 0.4])), np.array([2.0, 3.0])
    assert expected_linear(batch, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), 0.0, weight) is None
    assert expected_linear(batch, (1.0, 0.0, 0.0, 0.0), (0.5, 0.0, 1.0, 0.0), 0.0, weight) is not None


def test_value_of_acting_on_nobody_is_exact_where_it_is_certain():
    batch = Batch.of(np.array([0.6, 0.4]))
    precision = _Ratio(batch, None, (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))
    assert _none_chosen(precision, 1.0) == (1.0, 0.0)
    f1 = _Ratio(batch, None, (0.0, 2.0, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0))
    assert _none_chosen(f1, 1.0) == pytest.approx((0.24, ROUNDING * 0.24), rel=1e-15, abs=0.0)


def test_bound_of_sums_of_exponentials_covers_the_rounding_of_each_part_of_the_numerator():
    batch = Batch.of(np.linspace(0.9, 0.1, 30))
    for part in range(4):
        c = tuple(float(k == part) for k in range(4))
        found = expected_linear(batch, c, (1.0, 0.0, 1.0, 1.0), 0.0, np.ones(30))
        assert found.absolute >= RELATIVE * np.abs(found.values).max()


def test_what_lies_outside_the_window_is_bounded_by_the_slope_of_the_ratio():
    c, d = (1.0, 2.0, -3.0, 5.0), (5.0, 1.0, 2.0, 1.0)
    sums = _SplitSums(_Ratio(Batch.of(np.linspace(0.9, 0.1, 10)), None, c, d), 50.0, 90.0)
    counts = [
        (tp, fp, more) for tp in range(11) for fp in range(11 - tp) for more in range(11 - tp - fp) if tp + fp >= 2
    ]
    lowest = min(50 + tp + 2 * (tp + fp) + (tp + more) for tp, fp, more in counts)
    assert lowest == 54
    slope = 11 * 10 * 3 / lowest  # all coefficients of the numerator, times what one more row adds to the denominator
    assert sums._outside(2) == pytest.approx(6 * TAIL * (2 + 3 + slope) / lowest, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("beta", [1e8, 1e10, 1e100])
def test_a_number_of_rows_whose_value_is_worse_is_no_tie_however_large_beta_is(beta):
    p = [0.9, 0.2, 0.6, 0.1]
    found, exact = (expected_utility(p, FBeta(beta), method=method) for method in ("exponentials", "exact"))
    assert (found.best_k, found.ties.tolist(), found.certified) == (4, [4], True)
    assert found.best_k == exact.best_k  # F-beta is almost recall: all rows
    assert found.gap == pytest.approx(exact.gap, abs=1e-12)
