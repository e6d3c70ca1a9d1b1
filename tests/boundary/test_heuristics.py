"""The published solvers, against the reference's own versions of them and against enumeration."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from boundary_brute import best_counts, boundaries
from boundary_options import options_of_grid
from hypothesis import given, strategies as st

from stakes.boundary import fit_boundary
from stakes.boundary._problem import BoundaryProblem, FitOptions
from stakes.boundary._solvers import HEURISTICS, greedy, isotonic, solve_exact, variable_weight_dp

TRAP = ([[0, 9], [890, 0], [0, 31]], [[1, 9], [1000, 0], [0, 35]])


def grid(seed):
    rng = np.random.default_rng(seed)
    totals = rng.integers(0, 25, (int(rng.integers(1, 5)), int(rng.integers(1, 6))))
    return rng.binomial(totals, rng.random(totals.shape)), totals


def found_positives(solver, options, sigma):
    return options.counts(HEURISTICS[solver](options, Fraction(*sigma)))[0]


def test_reference_values_of_greedy_isotonic_and_the_common_threshold(reference_dir):
    path = Path(reference_dir) / "reference" / "boundary_reference.json"
    checked = 0
    for instance in json.loads(path.read_text(encoding="utf-8"))["instances"]:
        options = options_of_grid(instance["p"], instance["n"])
        pooled = options_of_grid(*(np.sum(instance[name], axis=0)[None, :] for name in "pn"))
        for key, values in instance["heuristics"].items():
            sigma = Fraction(key)
            assert options.counts(greedy(options, sigma))[0] == values["gmt_TP"], instance["name"]
            assert options.counts(isotonic(options, sigma))[0] == values["mist_TP"], instance["name"]
            single = solve_exact(pooled, BoundaryProblem("recall", min_precision=sigma))
            assert single.value == values["st_common_index_TP"], instance["name"]
            checked += 1
    assert checked > 80


@pytest.mark.parametrize(("solver", "positives"), [("isotonic", 9), ("isotonic_completed", 40)])
def test_isotonic_blocks_stop_before_a_block_that_would_fit(solver, positives):
    # boundary.md, section 4: instance mist_trap, 9 against 40
    assert found_positives(solver, options_of_grid(*TRAP), (9, 10)) == positives


def test_greedy_levels_cannot_share_slack():
    # instance gmt_trap: 110 against 180
    options = options_of_grid([[70, 10], [0, 100]], [[100, 10], [1, 100]])
    assert found_positives("greedy", options, (8, 10)) == 110
    assert found_positives("variable_weight_dp", options, (8, 10)) == 180


def test_counting_bins_misleads_where_they_are_unequal():
    # instance ew_trap: 0 against 9
    options = options_of_grid([[0, 10], [0, 9]], [[20, 20], [9, 9]])
    assert found_positives("equal_weight_dp", options, (8, 10)) == 0
    assert found_positives("variable_weight_dp", options, (8, 10)) == 9


@given(st.integers(0, 10**9), st.sampled_from([(1, 2), (7, 10), (9, 10), (1, 1), (1, 3)]))
def test_no_solver_breaks_the_bound_or_beats_the_optimum(seed, sigma):
    positives, totals = grid(seed)
    options = options_of_grid(positives, totals)
    best = best_counts(boundaries(positives, totals), {"type": "max_recall", "sigma": sigma}, None)[0]
    found = {}
    for name, solver in HEURISTICS.items():
        tp, n = options.counts(solver(options, Fraction(*sigma)))
        assert sigma[1] * tp >= sigma[0] * n, name
        found[name] = tp
    assert max(found.values()) <= best
    assert found["variable_weight_dp"] == best
    assert found["isotonic_completed"] >= found["isotonic"]


@given(st.integers(0, 10**9), st.sampled_from([(1, 2), (7, 10), (9, 10)]))
def test_counting_bins_is_optimal_where_all_bins_are_equal(seed, sigma):
    rng = np.random.default_rng(seed)
    totals = np.full((int(rng.integers(1, 4)), int(rng.integers(1, 7))), int(rng.integers(1, 40)))
    positives = rng.binomial(totals, rng.random(totals.shape))
    options = options_of_grid(positives, totals)
    best = best_counts(boundaries(positives, totals), {"type": "max_recall", "sigma": sigma}, None)[0]
    assert found_positives("equal_weight_dp", options, sigma) == best


@pytest.mark.parametrize("binning", ["equal_weight", "equal_span"])
def test_empty_bins_of_tied_scores_count_as_bins(binning):
    rng = np.random.default_rng(0)
    for _ in range(60):
        n, bins = 30, 6
        score, u = rng.choice([0.1, 0.2, 0.75, 0.9], n), rng.integers(0, 2, n)
        y = rng.random(n) < score
        counts = []
        for level in (0, 1):
            mine, hits = score[u == level], y[u == level]
            edges = np.linspace(0, 1, bins + 1)[1:-1]
            if binning == "equal_weight":
                ranks = len(mine) * np.arange(1, bins) // bins
                edges = np.sort(mine)[ranks[ranks > 0] - 1]
            tops = [mine > edge for edge in edges[::-1]]
            masks = [mine > 9, *tops, mine > -9]
            counts.append([(int(hits[top].sum()), int(top.sum())) for top in masks])
        expected = 0
        for size in range(len(counts[0]) + len(counts[1]) - 1):
            pairs = [(i, size - i) for i in range(len(counts[0])) if 0 <= size - i < len(counts[1])]
            sums = [(a[0] + b[0], -a[1] - b[1]) for a, b in ((counts[0][i], counts[1][j]) for i, j in pairs)]
            tp, fewer = max(sums)
            expected = tp if 10 * tp >= -7 * fewer else expected
        fitted = fit_boundary(
            y, score, u, min_precision=0.7, levels=[0.5], solver="equal_weight_dp", score_bins=bins, binning=binning
        )
        assert int(fitted.true_positives.sum()) == expected


def test_dynamic_programme_over_rows_refuses_what_it_cannot_finish():
    many = np.arange(200_001)
    options = FitOptions(np.array([0, 200_001]), many, many, many.astype(float))
    with pytest.raises(ValueError, match="pass a smaller score_bins, or solver='exact'"):
        variable_weight_dp(options, Fraction(1, 2))
