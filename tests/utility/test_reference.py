"""Curves, best numbers of rows and ties, against the reference values and values written down here."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from utility_brute import DEFINITIONS, exact_curve
from utility_cases import MEASURES, golden

from stakes.utility import F1, Jaccard, expected_utility

REFERENCE_CASES = [
    *["n1", "n2", "n3_ties", "n4_zero_one", "n5_mixed", "n8_uniform", "n10_rare", "n12_uniform", "n12_tiny"],
    *["n50_uniform", "n50_rare", "n200_beta", "n1000_rare"],
]
LARGE_CASES = [
    "n=10000 power=2 scale=1",
    "n=100000 power=2 scale=1",
    "n=100000 power=8 scale=0.5",
    pytest.param("n=1000000 power=2 scale=1", marks=pytest.mark.thorough),
]
TOLERANCE = 1e-12


def reference_values(reference, case):
    """Yield (measure, zero_division, value) of a case."""
    for key, value in reference["cases"][case]["metrics"].items():
        name, fill = key.split("|zd=")
        yield name, int(fill), value


def agrees(result, value):
    assert (result.best_k, result.ties.tolist()) == (value["k"], value["ties"])
    assert abs(result.utility - value["U"]) < TOLERANCE
    if "curve" in value:
        assert np.max(np.abs(result.curve - value["curve"])) < TOLERANCE
        assert np.max(np.abs(result.curve - value["curve"])) < result.error_bound + 2e-15  # 15 digits are given


@pytest.mark.parametrize("case", REFERENCE_CASES)
def test_curves_best_k_and_ties_agree_with_the_reference(utility_reference, case):
    p = utility_reference["cases"][case]["eta"]
    for name, fill, value in reference_values(utility_reference, case):
        agrees(expected_utility(p, MEASURES[name], zero_division=fill), value)


@pytest.mark.parametrize("method", ["exact", "algorithm1"])
@pytest.mark.parametrize("case", REFERENCE_CASES[:-2])
def test_sums_over_both_counts_agree_with_the_reference(utility_reference, case, method):
    p = utility_reference["cases"][case]["eta"]
    for name, fill, value in reference_values(utility_reference, case):
        agrees(expected_utility(p, MEASURES[name], zero_division=fill, method=method), value)


@pytest.mark.parametrize("case", REFERENCE_CASES[:-1])
def test_corrected_algorithm_2_agrees_with_the_reference(utility_reference, case):
    p = utility_reference["cases"][case]["eta"]
    for name, fill, value in reference_values(utility_reference, case):
        if name in {"f1", "f2", "jaccard", "precision", "recall", "accuracy"}:
            agrees(expected_utility(p, MEASURES[name], zero_division=fill, method="algorithm2"), value)


@pytest.mark.parametrize("case", REFERENCE_CASES)
def test_untied_choices_are_certified_and_tied_ones_are_not(utility_reference, case):
    p = utility_reference["cases"][case]["eta"]
    for name, fill, value in reference_values(utility_reference, case):
        result = expected_utility(p, MEASURES[name], zero_division=fill)
        assert result.certified == (result.proved and len(value["ties"]) == 1), (name, fill)


@pytest.mark.parametrize("case", LARGE_CASES)
def test_large_batches_agree_with_the_reference(utility_reference, case):
    data = utility_reference["large"]["sets"][case]
    p = golden(data["n"], data["power"], data["scale"])
    for name, value in data["metrics"].items():
        result = expected_utility(p, MEASURES[name])
        given = value["curve_at"]
        assert np.max(np.abs(result.curve[[int(k) for k in given]] - list(given.values()))) < TOLERANCE, name
        assert abs(result.utility - value["U"]) < TOLERANCE, name
        if value["gap_to_neighbour"] > 1e-17:  # below, the reference cannot tell k apart
            assert result.best_k == value["k"], name
        if result.certified:
            assert result.gap == pytest.approx(value["gap_to_neighbour"], rel=0.05, abs=5e-14), name


def test_f_beta_and_jaccard_are_certified_on_large_batches():
    for name in ("f1", "f2", "f0.5", "jaccard"):
        assert expected_utility(golden(10**6, 2), MEASURES[name]).certified


# ------------------------------------------------------------------ written down, for machines without the reference
# expected_utility.md, section 7: exact rationals of batches whose curve has a dip.
DIPS = {
    (0.9, 0.39, 0.38): [0, 0.69123, 0.67908, 0.68010],
    (0.9, 0.4, 0.4): [0, 0.684, 0.6792, 0.6884],
}
# expected_utility_reference.json, case n50_uniform is random; these are of golden(10^4, 2), to twelve decimals.
LARGE_VALUES = {
    "f1": (4031, 0.712667028406),
    "f2": (5982, 0.806845500042),
    "f0.5": (2395, 0.722884599353),
    "jaccard": (4030, 0.553626741569),
    "am": (4226, 0.788670714662),
    "g_tp_pr": (4418, 0.717479378657),
}


@pytest.mark.parametrize("p", DIPS)
def test_curve_of_f1_may_dip_before_its_best_value(p):
    result = expected_utility(p, F1())
    assert result.curve.round(5).tolist() == DIPS[p]
    exact = exact_curve([Fraction(str(x)) for x in p], DEFINITIONS["f1"], 0)
    assert result.curve == pytest.approx([float(x) for x in exact], abs=1e-15 + result.error_bound)


def test_best_choice_behind_a_dip_is_found():
    assert expected_utility([0.9, 0.4, 0.4], F1()).best_k == 3


@pytest.mark.parametrize("name", LARGE_VALUES)
def test_large_batch_agrees_with_written_values(name):
    result = expected_utility(golden(10**4, 2), MEASURES[name])
    k, value = LARGE_VALUES[name]
    assert (result.best_k, round(result.utility, 12)) == (k, value)


def test_f1_and_jaccard_may_choose_differently():
    p = (0.95, 0.7, 0.45)
    assert (expected_utility(p, F1()).best_k, expected_utility(p, Jaccard()).best_k) == (3, 2)


def test_zero_division_decides_whether_acting_on_nothing_is_best():
    without, with_one = (expected_utility([0.3], F1(), zero_division=fill) for fill in (0, 1))
    assert (without.best_k, without.utility) == (1, pytest.approx(0.3, abs=1e-13))
    assert (with_one.best_k, with_one.utility) == (0, pytest.approx(0.7, abs=1e-15))
