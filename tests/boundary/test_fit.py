"""The entrance and its answer: goals on rows, deployment, JSON, honest precision, what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import optimize

from stakes import costs
from stakes.boundary import Boundary, Optimism, fit_boundary, precision_recall_frontier
from stakes.boundary._rules import Ranker, joined, steps_of
from stakes.outputs.serialization import JsonReader

N = 3000


@pytest.fixture(scope="module")
def rows():
    """Return labels, scores and an uncertainty that rotates the slope of the score."""
    rng = np.random.default_rng(1)
    z, u = rng.standard_normal(N), rng.random(N)
    eta = 1 / (1 + np.exp(1.5 - 2.0 * (1.6 - 1.2 * u) * z))
    return rng.random(N) < eta, 1 / (1 + np.exp(1.5 - 2.0 * z)), u


@pytest.fixture(scope="module")
def noise():
    """Return labels, calibrated scores and an uncertainty that says nothing."""
    rng = np.random.default_rng(2)
    score = rng.random(N)
    return rng.random(N) < score, score, rng.random(N)


def counts(boundary, rows):
    y, score, uncertainty = rows
    inside = boundary.predict(score, uncertainty) == 1
    return int(np.sum(inside & y)), int(np.sum(inside))


GOALS = {
    "precision bound": {"min_precision": 0.9},
    "capacity": {"capacity": 200},
    "share": {"capacity": 0.05},
    "both": {"min_precision": 0.9, "capacity": 300},
    "dual": {"goal": "precision", "min_recall": 0.5},
    "fewest": {"goal": "false_positives", "min_recall": 0.5},
    "f": {"goal": "f_beta", "f_beta": 0.5},
    "f with capacity": {"goal": "f_beta", "f_beta": 2, "capacity": 400},
    "cost": {"goal": "cost", "costs": costs.Uniform(0.2, 0.4)},
    "cost with precision": {"goal": "cost", "costs": costs.Fixed(0.3), "min_precision": 0.8},
}


@pytest.mark.parametrize("name", GOALS)
def test_decisions_on_the_same_rows_reproduce_the_counts(rows, name):
    boundary = fit_boundary(*rows, levels=4, **GOALS[name])
    assert counts(boundary, rows) == (boundary.true_positives.sum(), boundary.selected.sum())
    assert boundary.optimal
    assert boundary.rows.sum() == N
    assert boundary.positives.sum() == rows[0].sum()


def test_constraints_are_kept(rows):
    both = fit_boundary(*rows, min_precision=0.9, capacity=300)
    assert both.selected.sum() <= 300
    assert 10 * both.true_positives.sum() >= 9 * both.selected.sum()
    assert fit_boundary(*rows, capacity=0.05).selected.sum() <= 0.05 * N
    dual = fit_boundary(*rows, goal="precision", min_recall=0.5)
    assert 2 * dual.true_positives.sum() >= rows[0].sum()
    assert dual.precision >= fit_boundary(*rows, goal="precision", min_recall=0.5, levels=1).precision


def test_a_tighter_goal_is_never_worth_more(rows):
    recalls = [fit_boundary(*rows, min_precision=p).recall for p in (0.6, 0.7, 0.8, 0.9, 0.95)]
    assert recalls == sorted(recalls, reverse=True)
    nested = [fit_boundary(*rows, min_precision=0.9, levels=k).recall for k in (1, 2, 4, 8)]
    assert nested == sorted(nested)


def test_value_is_on_the_scale_of_its_goal(rows):
    y = rows[0]
    f = fit_boundary(*rows, goal="f_beta", f_beta=2)
    tp, n = counts(f, rows)
    assert f.value == pytest.approx(5 * tp / (n + 4 * y.sum()))
    cost = fit_boundary(*rows, goal="cost", costs=costs.Uniform(0.2, 0.4))
    tp, n = counts(cost, rows)
    assert cost.value == pytest.approx(-(0.3 * (n - tp) + 0.7 * (y.sum() - tp)) / N)
    fewest = fit_boundary(*rows, goal="false_positives", min_recall=0.5)
    tp, n = counts(fewest, rows)
    assert fewest.value == tp - n


def test_least_cost_of_one_level_is_that_of_the_score_table(rows):
    y, score, uncertainty = rows
    boundary = fit_boundary(y, score, uncertainty, goal="cost", costs=costs.Fixed(0.3), levels=1)
    every = [0.3 * np.sum(~y & (score >= t)) + 0.7 * np.sum(y & (score < t)) for t in [*np.unique(score), np.inf]]
    assert -boundary.value * N == pytest.approx(min(every))


def test_solvers_agree_on_what_they_share(rows):
    recall = {
        solver: fit_boundary(*rows, min_precision=0.9, solver=solver, score_bins=40).recall
        for solver in (
            *("exact", "variable_weight_dp", "greedy", "isotonic", "isotonic_completed", "equal_weight_dp"),
            *("single_threshold", "heuristic_recalibration"),
        )
    }
    assert recall["variable_weight_dp"] == recall["exact"]
    assert (
        max(recall[name] for name in ("greedy", "isotonic", "isotonic_completed", "equal_weight_dp")) <= recall["exact"]
    )
    single = fit_boundary(*rows, min_precision=0.9, levels=1, score_bins=40)
    assert recall["single_threshold"] == single.recall


def test_heuristic_recalibration_thresholds_score_plus_scaled_uncertainty(rows):
    y, score, uncertainty = rows
    boundary = fit_boundary(*rows, min_precision=0.5, solver="heuristic_recalibration")
    moved = score + (uncertainty - uncertainty.min()) / np.ptp(uncertainty)
    inside = boundary.predict(score, uncertainty) == 1
    assert moved[inside].min() > moved[~inside].max()
    feasible = [t for t in moved if 2 * np.sum(y & (moved >= t)) >= np.sum(moved >= t)]
    assert np.sum(inside & y) == max(np.sum(y & (moved >= t)) for t in feasible)


@pytest.mark.parametrize(
    "options",
    [{"solver": "heuristic_recalibration"}, {"tune": "cv", "levels": 2}, {"tune": "cv", "solver": "single_threshold"}],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_boundary_of_the_same_cuts_exceeds_an_upper_bound(options, seed):
    rng = np.random.default_rng(seed)
    score = rng.random(120)
    y, noise = rng.random(120) < score, rng.random(120)
    found = fit_boundary(y, score, noise, min_precision=0.8, **options)
    levels = [np.flatnonzero(np.searchsorted(found.cuts, noise) == k) for k in range(len(found.cuts) + 1)]
    tops = [np.array([(y[in_it & (score >= t)].sum(), (in_it & (score >= t)).sum()) for t in [*score[in_it], np.inf]])
            for in_it in (np.isin(np.arange(120), level) for level in levels)]  # fmt: skip
    every = (np.sum(choice, axis=0) for choice in product(*tops))
    best = max(int(tp) for tp, n in every if 5 * tp >= 4 * n) / int(y.sum())
    assert best >= found.recall
    assert found.optimal <= (found.recall == best)
    assert found.upper_bound is None or found.upper_bound >= best


def test_new_rows_take_the_threshold_of_their_level():
    boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
    assert boundary.cuts.tolist() == [0.0]
    assert boundary.thresholds.tolist() == [0.9, 0.6]
    assert boundary.predict([0.9, 0.89, 0.6, 0.59], [-5, 0.0, 0.1, 99]).tolist() == [1, 0, 1, 0]


def test_integer_weights_count_as_repeated_rows(rows):
    y, score, uncertainty = (part[:400] for part in rows)
    weight = np.random.default_rng(3).integers(0, 4, 400)
    repeated = fit_boundary(*(np.repeat(part, weight) for part in (y, score, uncertainty)), min_precision=0.8)
    weighted = fit_boundary(y, score, uncertainty, min_precision=0.8, sample_weight=weight)
    assert json.loads(weighted.to_json()) == json.loads(repeated.to_json())


def test_weights_of_more_positives_than_fit_in_memory_are_refused_where_each_takes_some():
    rows, weight = ([1, 0, 1], [0.9, 0.5, 0.3], [1, 1, 2]), [10**12] * 3
    said = r"sample_weight must add up to at most 500,000,000 positives .* got 2,000,000,000,000: divide"
    for goal in ({"min_precision": 0.5, "capacity": 0.5}, {"goal": "precision", "min_recall": 0.5, "capacity": 0.5}):
        with pytest.raises(ValueError, match=said):
            fit_boundary(*rows, **goal, sample_weight=weight)
    with pytest.raises(ValueError, match=said):
        precision_recall_frontier(*rows, sample_weight=weight)
    assert fit_boundary(*rows, min_precision=0.5, sample_weight=weight).true_positives.sum() == 2 * 10**12


@pytest.mark.parametrize("name", [*GOALS, "shifted", "certified", "tuned"])
def test_json_gives_the_same_boundary_back(rows, name):
    others = {
        "shifted": {"min_precision": 0.5, "solver": "heuristic_recalibration"},
        "certified": {"min_precision": 0.7, "confidence_level": 0.9, "random_state": 0},
        "tuned": {"min_precision": 0.8, "tune": "cv", "random_state": 0},
    }
    boundary = fit_boundary(*rows, **(GOALS | others)[name])
    text = boundary.to_json()
    again = Boundary.from_json(text)
    assert again.to_json() == text
    assert repr(again) == repr(boundary)
    assert np.array_equal(again.predict(*rows[1:]), boundary.predict(*rows[1:]))
    with pytest.raises(ValueError, match="holds no rows"):
        again.gain()


def test_infinite_thresholds_survive_json():
    boundary = fit_boundary([0, 0], [0.9, 0.4], [0, 1], min_precision=1, levels=2)
    assert Boundary.from_json(boundary.to_json()).thresholds.tolist() == [np.inf, np.inf]
    assert "no row of 2 selected" in repr(boundary)


def test_table_has_one_row_per_level(rows):
    pytest.importorskip("pandas")
    boundary = fit_boundary(*rows, min_precision=0.9, levels=4)
    assert len(boundary.frame("pandas")) == 4
    assert boundary.to_markdown().count("\n") == 5


def test_frontier_contains_the_answer_to_every_bound(rows):
    frontier = precision_recall_frontier(*rows)
    assert np.all(np.diff(frontier.true_positives) > 0)
    assert np.all(np.diff(frontier.false_positives) > 0)
    for bound in (0.5, 0.7, 0.9, Fraction(2, 3), 1):
        boundary = fit_boundary(*rows, min_precision=bound)
        assert frontier.max_recall(bound) == boundary.recall
        labels = frontier.predict(*rows[1:], min_precision=bound)
        assert (labels @ rows[0], labels.sum()) == (boundary.true_positives.sum(), boundary.selected.sum())


def test_uncertainty_that_says_nothing_is_reported_in_the_first_line(noise):
    boundary = fit_boundary(*noise, min_precision=0.9)
    first, *rest = boundary.report(random_state=0).splitlines()
    assert first.startswith("Uncertainty does not help on these data")
    assert "new ones" in rest[-1]


def test_uncertainty_that_helps_is_reported_with_both_values(rows):
    gain = fit_boundary(*rows, min_precision=0.9).gain(random_state=0)
    assert gain.helps
    assert gain.verdict.startswith("Uncertainty helps on these data: recall")
    assert gain.low < gain.difference < gain.high
    assert (gain.precision, gain.single_precision) == pytest.approx((0.9, 0.9))


@pytest.mark.parametrize("name", ["capacity", "dual", "fewest", "f", "cost"])
def test_gain_is_on_the_scale_of_the_goal(rows, name):
    gain = fit_boundary(*rows, **GOALS[name]).gain(random_state=0)
    assert gain.difference == pytest.approx(gain.value - gain.single)
    assert gain.low <= gain.difference <= gain.high


def test_capacity_of_a_fold_is_its_share(rows):
    gain = fit_boundary(*rows, capacity=300).gain(random_state=0)
    y = rows[0]
    assert gain.value * y.sum() / gain.precision == pytest.approx(300, rel=0.1)


@pytest.mark.parametrize("n", [1, 3, 4])
def test_few_rows_are_reported_without_folds(n):
    boundary = fit_boundary([1, 0, 1, 1][:n], [0.4, 0.1, 0.2, 0.3][:n], [1, 2, 3, 4][:n], min_precision=0.5)
    few = f"Whether uncertainty helps is not known: {'1 row is' if n == 1 else f'{n} rows are'} too few for 5 folds."
    assert boundary.report().splitlines() == [few, repr(boundary)]


@pytest.mark.parametrize("score", [20240101120000123, -9.1e15, 1e300])
def test_scores_that_are_all_the_same_large_number_are_fitted(score):
    boundary = fit_boundary([0, 1, 1], [score] * 3, [1, 2, 3], min_precision=0.5)
    assert boundary.true_positives.sum() == 2
    assert Boundary.from_json(boundary.to_json()).predict([score] * 3, [1, 2, 3]).sum() == boundary.selected.sum()


def test_weighted_rows_are_not_resampled(rows):
    boundary = fit_boundary(*rows, min_precision=0.9, sample_weight=np.full(N, 2))
    assert boundary.report().startswith("Whether uncertainty helps is not known")
    for method in (boundary.gain, boundary.optimism):
        with pytest.raises(ValueError, match="without weights"):
            method()


def test_single_threshold_gains_nothing_over_itself(rows):
    gain = fit_boundary(*rows, min_precision=0.9, solver="single_threshold").gain(random_state=0)
    assert (gain.difference, gain.low, gain.high) == (0.0, 0.0, 0.0)


def replicate(seed, bound, levels, **options):
    """Precision on these rows and the true one, of a boundary on fresh rows without use for uncertainty."""
    rng = np.random.default_rng(seed)
    score, uncertainty = rng.random(6000) ** 2, rng.random(6000)
    y = rng.random(6000) < score
    boundary = fit_boundary(y, score, uncertainty, min_precision=bound, levels=levels, **options)
    inside = boundary.predict(score, uncertainty) == 1
    return boundary, float(score[inside].mean()) if inside.any() else np.nan


@pytest.mark.parametrize(("bound", "levels"), [(0.8, 4), (0.8, 8), (0.7, 4)])
def test_optimism_of_known_rates_is_the_cube_root_law(bound, levels):
    """The rate is the score, a uniform number squared; of the rows above t, those selected, the mean is the bound."""
    t = optimize.brentq(lambda t: (1 - t**1.5) / (3 * (1 - t**0.5)) - bound, 0.01, 0.99)
    slope = 2 * t**0.5  # of the rate over the share of rows above
    each = 1.328 * ((t * (1 - t)) ** 2 * (6000 / levels) / slope) ** (1 / 3)
    boundary, _ = replicate(0, bound, levels)
    found = boundary.optimism()
    assert found.captured == pytest.approx((levels - 1) * each, rel=0.05)
    assert found.expected_precision == pytest.approx(boundary.precision - found.captured / boundary.selected.sum())


@pytest.mark.simulation
def test_optimism_is_what_new_rows_take_back():
    # the truth is known here: the rate of positives is the score
    promised, expected, true = [], [], []
    for seed in range(40):
        boundary, precision = replicate(seed, 0.8, 8)
        promised.append(boundary.precision)
        expected.append(boundary.optimism().expected_precision)
        true.append(precision)
    loss = np.mean(promised) - np.mean(true)
    assert loss > 0.01
    assert np.mean(promised) - np.mean(expected) == pytest.approx(loss, rel=0.35)


@pytest.mark.simulation
def test_optimism_of_two_levels_is_half_of_what_they_capture_apart():
    # one level's worth of noise is lost to the constraint: half is left of two
    results = [replicate(seed, 0.8, 2) for seed in range(60)]
    expected = [boundary.optimism().captured for boundary, _ in results]
    true = [(boundary.precision - precision) * boundary.selected.sum() for boundary, precision in results]
    assert np.mean(expected) == pytest.approx(np.mean(true), rel=0.35)


@pytest.mark.parametrize(
    ("intercept", "rows", "bound", "below"), [(-5.0, 2000, 0.3, 0.2), (-1.5, 150, 0.5, 0.05), (-1.5, 1000, 0.6, 0.03)]
)
def test_optimism_of_one_threshold_is_what_new_rows_take_back(intercept, rows, bound, below):
    """The probability of each row is known: 1.3%, 25% and 25% are positive, and some 8, 45 and 160 are selected.

    Boundaries of fewer rows choose worse: what is said is too little rather than too much.
    """
    found = []
    new = np.random.default_rng(0).normal(size=100_000)
    chance = 1 / (1 + np.exp(-intercept - 1.3 * new))
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=rows)
        y = rng.random(rows) < 1 / (1 + np.exp(-intercept - 1.3 * x))
        boundary = fit_boundary(y, x, rng.random(rows), min_precision=bound, levels=1)
        inside = boundary.predict(new, np.full(len(new), 0.5)) == 1
        said = boundary.optimism().expected_precision
        if boundary.selected.sum() and inside.any() and not math.isnan(said):
            found.append((said, chance[inside].mean(), boundary.precision))
    said, true, _ = np.mean(found, axis=0)
    assert true - below < said < true + 0.02
    assert np.mean([one[0] > one[1] for one in found]) < 0.65


def test_optimism_of_one_threshold_is_the_precision_of_rows_outside_each_fold():
    rng = np.random.default_rng(4)
    x = rng.normal(size=300)
    y = rng.random(300) < 1 / (1 + np.exp(2 - 1.3 * x))
    hits = chosen = 0
    for fold in np.array_split(np.random.default_rng(0).permutation(300), 5):
        rest = np.delete(np.arange(300), fold)
        good = [t for t in x[rest] if np.mean(y[rest][x[rest] >= t]) >= 0.5]
        chosen += np.sum(x[fold] >= min(good))
        hits += np.sum(y[fold][x[fold] >= min(good)])
    found = fit_boundary(y, x, rng.random(300), min_precision=0.5, levels=1).optimism()
    assert found.expected_precision == pytest.approx(hits / chosen)
    assert found.expected_precision < found.precision


def test_optimism_says_that_a_few_rows_are_a_guess_or_none():
    assert repr(Optimism(1.6, 0.5, 0.3)).endswith("about 0.3 on new ones, a guess from fewer than 30 rows)")
    assert repr(Optimism(math.nan, 0.5, math.nan)) == "Optimism(precision 0.5 on these rows, unknown on new ones)"
    assert not Optimism(8.0, 0.5, 0.3).rough


@pytest.mark.simulation
def test_tuning_brings_the_true_precision_near_the_bound():
    true = [replicate(seed, 0.8, 8, tune="cv", random_state=seed)[1] for seed in range(25)]
    plain = [replicate(seed, 0.8, 8)[1] for seed in range(25)]
    assert abs(np.mean(true) - 0.8) < abs(np.mean(plain) - 0.8)
    assert abs(np.mean(true) - 0.8) < 0.02


def test_levels_are_chosen_out_of_fold(rows, noise):
    useful = fit_boundary(*rows, min_precision=0.9, tune="cv", levels="cv", random_state=0)
    assert len(useful.rows) > 1
    assert useful.tuned_precision is not None
    useless = fit_boundary(*noise, min_precision=0.9, tune="cv", levels="cv", random_state=0)
    assert len(useless.rows) <= 3


def test_tuning_that_finds_no_aim_selects_nothing():
    rng = np.random.default_rng(0)
    boundary = fit_boundary(
        rng.random(200) < 0.1, rng.random(200), rng.random(200), min_precision=0.99, tune="cv", random_state=0
    )
    assert boundary.tuned_precision is None
    assert boundary.selected.sum() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, 'goal="recall" needs min_precision= or capacity='),
        ({"goal": "most"}, "goal must be one of"),
        ({"goal": "precision"}, "needs min_recall="),
        ({"min_precision": 0}, r"min_precision must lie in \(0, 1\], got 0"),
        ({"min_precision": 1.1}, r"min_precision must lie in \(0, 1\], got 1.1"),
        ({"min_precision": float("nan")}, "min_precision must be a finite number"),
        ({"min_precision": "high"}, "min_precision must be a finite number"),
        ({"capacity": -1}, "capacity must be a count"),
        ({"capacity": 2.5}, "capacity must be a count"),
        ({"capacity": True}, "capacity must be a count"),
        (
            {"capacity": 1.0},
            r"capacity=1\.0 can mean one row, or a share of 1, which is all rows: pass the",
        ),
        ({"capacity": "1.0"}, r"capacity=1\.0 can mean one row"),
        ({"capacity": Fraction(1)}, "capacity=1 can mean one row"),
        ({"min_precision": 0.9, "f_beta": 1}, "f_beta= and goal="),
        ({"goal": "f_beta", "f_beta": 0}, "f_beta must be > 0"),
        ({"goal": "f_beta", "f_beta": 1e300}, r"f_beta must be at most 1e\+140, got 1e\+300: so large a beta asks for"),
        ({"goal": "cost"}, "costs= and goal="),
        ({"min_precision": 0.9, "solver": "magic"}, "solver must be one of"),
        ({"capacity": 9, "solver": "greedy"}, "finds the most recall under min_precision= only"),
        ({"min_precision": 0.9, "binning": "odd"}, "binning must be one of"),
        ({"min_precision": 0.9, "binning": "unbinned", "score_bins": 9}, "score_bins must be None"),
        ({"min_precision": 0.9, "score_bins": 0}, "score_bins must be a whole number"),
        ({"min_precision": 0.9, "tune": "yes"}, "tune must be one of"),
        ({"min_precision": 0.9, "levels": "cv"}, 'levels must be a number, cuts, or "cv" with tune="cv"'),
        ({"capacity": 9, "tune": "cv"}, 'tune= needs goal="recall" and min_precision='),
        ({"min_precision": 0.9, "confidence_level": 1.0}, r"confidence_level must lie in \(0, 1\)"),
        ({"min_precision": 0.9, "confidence_level": 0.9, "tune": "cv"}, "exclude each other"),
        ({"min_precision": 0.9, "confidence_level": 0.9, "solver": "greedy"}, "takes no solver"),
        ({"min_precision": 0.9, "confidence_level": 0.9, "capacity": 5}, "promises precision alone"),
        ({"min_precision": 0.9, "confidence_level": 0.9, "sample_weight": [1, 1, 1]}, "takes no sample_weight="),
        ({"min_precision": 0.9, "capacity": 1, "min_recall": 1}, "no boundary keeps every constraint"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fit_boundary([0, 1, 1], [0.2, 0.7, 0.8], [1, 2, 3], **options)


def test_one_row_cannot_be_left_out_to_tune():
    for solver in ("exact", "cv"):
        with pytest.raises(ValueError, match='tune="cv" needs two rows or more'):
            fit_boundary([1], [0.5], [1.0], min_precision=0.5, tune="cv", solver=solver)
    assert fit_boundary([1, 1], [0.5, 0.6], [1.0, 1.0], min_precision=0.5, tune="cv").recall > 0.0


@pytest.mark.parametrize(
    "options",
    [
        {"capacity": 9},
        {"min_precision": 0.9, "capacity": 9},
        {"min_precision": 0.9, "solver": "greedy"},
        {"min_precision": 0.9, "confidence_level": 0.9},
    ],
)
def test_optimism_is_for_exact_boundaries_under_a_precision_bound_alone(noise, options):
    boundary = fit_boundary(*noise, **options)
    with pytest.raises(ValueError, match="optimis"):
        boundary.optimism()
    assert len(boundary.report(random_state=0).splitlines()) >= 3


@pytest.mark.parametrize("text", ["{}", "[]", '{"format": "stakes-boundary-0"}'])
def test_other_json_is_refused(text):
    with pytest.raises(ValueError, match="text must be a boundary of format"):
        Boundary.from_json(text)


def _damaged(content, path=()):
    """Every copy of nested JSON with one entry left out or replaced by something else."""
    for key in list(content) if isinstance(content, dict) else range(min(len(content), 2)):
        inner = content[key]
        rest = content.copy()
        rest.pop(key)
        yield (*path, key, "out"), rest
        for odd in ("junk", None, -1, [], {}, [1.0], float("nan"), 10**400):
            yield (
                (*path, key, odd),
                [*content[:key], odd, *content[key + 1 :]]
                if isinstance(content, list)
                else {
                    **content,
                    key: odd,
                },
            )
        if isinstance(inner, (dict, list)):
            for where, changed in _damaged(inner, (*path, key)):
                copied = content.copy()
                copied[key] = changed
                yield where, copied


@pytest.mark.parametrize("options", [{}, {"confidence_level": 0.9}, {"solver": "heuristic_recalibration"}])
def test_damaged_json_is_refused_or_still_decides(rows, options):
    whole = json.loads(fit_boundary(*rows, min_precision=0.7, random_state=0, **options).to_json())
    refused = 0
    for _, content in _damaged(whole):
        try:
            boundary = Boundary.from_json(json.dumps(content))
        except ValueError:
            refused += 1
            continue
        assert boundary.predict(*rows[1:]).shape == rows[0].shape
        assert repr(boundary)
        assert boundary.to_json()
    assert refused > 100
    with pytest.raises(ValueError, match="must be a boundary in JSON"):
        Boundary.from_json("nonsense")
    with pytest.raises(ValueError, match=r"levels\.rows must be there"):
        Boundary.from_json(json.dumps({**whole, "levels": {"cuts": []}}))


@pytest.mark.parametrize(
    ("asked", "path", "value", "message"),
    [
        ("exact", ["upper_bound"], 1.01, r"upper_bound must be from value to 1, got 1\.01"),
        ("exact", ["upper_bound"], 0.3, r"upper_bound must be from value to 1, got 0\.3"),
        ("f_beta", ["upper_bound"], 1.01, r"upper_bound must be from value to 1, got 1\.01"),
        ("cost", ["upper_bound"], 0.01, r"upper_bound must be from value to 0, got 0\.01"),
        ("exact", ["tuned_precision"], 0.0, r"tuned_precision must be in \(0, 1\], got 0\.0"),
        ("exact", ["tuned_precision"], 1.01, r"tuned_precision must be in \(0, 1\], got 1\.01"),
        ("exact", ["problem", "min_precision"], "3/4", "problem.min_precision must be at most the precision"),
        ("exact", ["problem", "min_recall"], "1/1", "problem.min_recall must be at most the recall"),
        ("exact", ["problem", "capacity"], 1, "problem.capacity must be at least what levels.selected adds"),
        ("exact", ["cells", "edges", 7], 0.3501, "cells.edges must be numbers at equal distances"),
        ("exact", ["cells", "span"], [3.0, 1.0], "cells.span must be two numbers in order"),
        ("exact", ["cells", "span"], [1.0, 2.0, 3.0], "cells.span must be two numbers in order"),
        ("exact", ["cells", "span"], [2.5, 3.0], "such that the range ends in levels that have rows"),
        ("exact", ["cells", "span"], [1.0, 1.5], "such that the range ends in levels that have rows"),
        ("exact", ["threshold"], 1.001, r"threshold must be a score of the rows \(0 to 1\)"),
        ("exact", ["threshold"], -0.001, r"threshold must be a score of the rows \(0 to 1\)"),
        ("exact", ["threshold"], "-inf", r"threshold must be a score of the rows \(0 to 1\)"),
        ("certified", ["certificate", "tested_rows"], 97, r"certificate\.tested_rows must be"),
    ],
)
def test_entries_of_a_kept_boundary_just_beyond_what_the_others_allow_are_refused(asked, path, value, message):
    rng = np.random.default_rng(0)
    uncertainty, score = rng.choice([1.0, 2.0, 3.0], 120), np.linspace(0.0, 1.0, 120).round(2)
    y = rng.random(120) < np.clip(score + (uncertainty - 2.0) * 0.1, 0.0, 1.0)
    options = {
        "exact": {"min_precision": 0.7, "levels": 2},
        "f_beta": {"goal": "f_beta", "f_beta": 2},
        "cost": {"goal": "cost", "costs": 0.3},
        "certified": {"min_precision": 0.7, "confidence_level": 0.8, "random_state": 0},
    }[asked]
    content = inside = json.loads(fit_boundary(y, score, uncertainty, **options).to_json())
    Boundary.from_json(json.dumps(content))
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        Boundary.from_json(json.dumps(content))


@pytest.mark.parametrize(("weight", "low", "unit"), [(1.0, 0.0, 1.0), (0.0, -1e-6, 1e-6), (-0.5, 0.0, 1.0)])
def test_a_kept_shifted_rule_may_select_what_the_bins_of_the_score_leave_open_and_no_more(weight, low, unit):
    """Rows are in 20 bins of the score, their uncertainty anywhere from 0 to 2: each may lie at a corner of these."""
    rng = np.random.default_rng(0)
    uncertainty, share = rng.choice([0.0, 1.0, 2.0], 200), np.linspace(0.0, 1.0, 200)
    y = rng.random(200) < share
    rows = y, low + unit * share, uncertainty
    content = json.loads(fit_boundary(*rows, min_precision="1/100", solver="heuristic_recalibration").to_json())
    bins = np.minimum(np.floor(20.0 * share), 19.0)
    corners = np.stack([(bins + side) / 20.0 + weight * certain for side in (0, 1) for certain in (0.0, 1.0)])
    for threshold in (-0.43, 0.33, 0.58, 1.17):
        content["rule"] |= {"weight": unit * weight, "threshold": low + unit * threshold}
        sure, open_to = corners.min(axis=0) >= threshold, corners.max(axis=0) >= threshold
        inside = share + weight * uncertainty / 2.0 >= threshold
        for some, more in product((inside, sure, open_to), (-1, 0, 1)):
            selected, found = int(some.sum()) + more, int((some & y).sum())
            if 0 < found <= selected <= found + (~y).sum():
                content["levels"] |= {"selected": [selected], "true_positives": [found]}
                content["value"] = found / int(y.sum())
                if sure.sum() <= selected <= open_to.sum():
                    assert Boundary.from_json(json.dumps(content)).selected.sum() == selected
                else:
                    with pytest.raises(ValueError, match=r"levels\.selected must be what the rule selects of the"):
                        Boundary.from_json(json.dumps(content))


def with_rank(text, place, value):
    """Change a rank of a kept ranking, and the steps that follow from it."""
    content = json.loads(text)
    rule = content["rule"]
    rule["ranker"]["ranks"][place] = value
    steps = steps_of(Ranker.read(JsonReader(rule["ranker"], "ranker")), rule["threshold"]).T
    for name, column in zip(rule["steps"], steps, strict=True):
        rule["steps"][name] = [x if np.isfinite(x) else {np.inf: "inf", -np.inf: "-inf"}[x] for x in column.tolist()]
    return json.dumps(content)


@pytest.mark.parametrize(("place", "value"), [(0, -0.001), (-1, 1.001), (0, 0.99)])
def test_ranks_outside_their_range_or_order_are_refused_even_with_the_steps_that_follow_from_them(rows, place, value):
    text = fit_boundary(*rows, min_precision=0.7, solver="ranker").to_json()
    for end, rank in ((0, 0.0), (-1, 1.0)):
        assert Boundary.from_json(with_rank(text, end, rank)).selected.sum() > 0
    same = json.loads(text)["rule"]["ranker"]["ranks"][1]
    assert Boundary.from_json(with_rank(text, 0, same)).selected.sum() > 0
    with pytest.raises(ValueError, match=r"rule\.ranker\.ranks must be numbers in order, from 0 to 1"):
        Boundary.from_json(with_rank(text, place, value))


def test_values_that_rounding_alone_tells_apart_are_one_value_however_many_they_are():
    one, other = 1.0 - 1e-13 * np.arange(5), 0.2 * (1.0 - 1e-13 * np.arange(3))
    order = np.random.default_rng(0).permutation(9)
    values, wanted = np.concatenate([one, other, [0.0]]), np.repeat([one[-1], other[-1], 0.0], [5, 3, 1])
    assert joined(values[order]).tolist() == wanted[order].tolist()
    assert joined(np.array([0.3, 0.3 + 1e-9])).tolist() == [0.3, 0.3 + 1e-9]


def test_a_learned_ranking_keeps_its_constraint_and_comes_back_where_its_values_reach_0_or_1():
    """Values that rounding alone tells apart, of rows that are all but certain, are selected together or not at all."""
    score = np.append(np.linspace(-3.0, 3.0, 7999), 15.0)
    near, thresholds = np.abs(score) < 1.0, set()
    for y, capacities in ((near | (score > 10.0), (8000,)), (~near, (4700, 5000))):
        for most in capacities:
            boundary = fit_boundary(y, score, np.zeros(8000), capacity=most, solver="ranker")
            assert 0 <= counts(boundary, (y, score, np.zeros(8000)))[1] == boundary.selected.sum() <= most
            assert Boundary.from_json(boundary.to_json()).to_json() == boundary.to_json()
            thresholds.add(boundary._rule.threshold)
    assert 0.0 in thresholds
    assert any(1.0 - 1e-6 < threshold <= 1.0 for threshold in thresholds)


@pytest.mark.parametrize(
    ("threshold", "selected", "message"),
    [
        (1.0, 60, None),
        (1.01, 0, None),
        (1.01, 1, "levels.selected must be 0, as rule.threshold is above every value in level 0, got 1"),
        (0.0, 60, None),
        (0.0, 59, "levels.selected must be levels.rows, as no value is below rule.threshold in level 0, got 59"),
        (-0.5, 59, "levels.selected must be levels.rows, as no value is below rule.threshold in level 0, got 59"),
    ],
)
def test_a_kept_ranking_selects_none_above_every_value_and_all_from_the_least(rows, threshold, selected, message):
    y, score, uncertainty = (column[:60] for column in rows)
    content = json.loads(
        fit_boundary(y, score, uncertainty, min_precision="1/100", solver="ranker", levels=1).to_json()
    )
    found = max(0, selected - int(np.sum(~y)))
    content["levels"] |= {"selected": [selected], "true_positives": [found]}
    content["value"], content["upper_bound"] = found / int(y.sum()), None
    content["problem"]["min_precision"] = None
    content["rule"]["threshold"] = threshold
    content["rule"]["ranker"]["coefficients"] = [100.0, 0.0, 0.0, 0.0, 0.0, 0.0]  # every value is 1 to the last bit
    text = with_rank(json.dumps(content), 0, content["rule"]["ranker"]["ranks"][0])
    if message is None:
        assert Boundary.from_json(text).predict(score, uncertainty).sum() == selected
    else:
        with pytest.raises(ValueError, match=message):
            Boundary.from_json(text)


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("first", range(4))
def test_a_row_just_below_a_threshold_in_one_bin_of_the_score_is_kept(first, size):
    score = size * np.array([0.0, 0.5, 0.5 + 1e-10, 1.0])
    boundary = fit_boundary(np.arange(4) >= first, score, np.zeros(4), min_precision=1)
    again = Boundary.from_json(boundary.to_json())
    assert again.threshold == score[first]
    assert again.predict(score, np.zeros(4)).tolist() == [int(row >= first) for row in range(4)]


def test_a_certificate_without_a_promised_precision_is_refused():
    rng = np.random.default_rng(0)
    y, score = rng.random(100) < 0.5, rng.random(100)
    content = json.loads(fit_boundary(y, score, score, min_precision=1, confidence_level=0.9).to_json())
    assert Boundary.from_json(json.dumps(content)).certificate.min_precision == 1.0
    content["problem"]["min_precision"] = None
    with pytest.raises(
        ValueError, match=r"certificate\.min_precision must be 0\.0, as problem and levels say, got 1\.0"
    ):
        Boundary.from_json(json.dumps(content))


def test_products_of_large_weights_do_not_overflow():
    rng = np.random.default_rng(0)
    for seed in range(20):
        y, score, level = rng.integers(0, 2, 9), rng.integers(1, 4, 9) / 4, rng.integers(0, 3, 9)
        weight = rng.integers(1, 10**12, 9)
        bound = Fraction(int(rng.integers(4 * 10**8, 9 * 10**8)), 10**9)
        best = 0
        for cuts in product((0.25, 0.5, 0.75, 9.0), repeat=3):
            chosen = score >= np.array(cuts)[level]
            tp, n = int(weight[chosen & (y == 1)].sum()), int(weight[chosen].sum())
            best = max(best, tp if tp >= bound * n else 0)
        boundary = fit_boundary(
            y, score, level, min_precision=bound, levels=[0.5, 1.5], sample_weight=weight, pos_label=1
        )
        assert int(boundary.true_positives.sum()) == best, seed


def test_products_of_large_counts_do_not_overflow_on_the_frontier():
    rng = np.random.default_rng(1)
    for seed in range(20):
        y, score, level = rng.integers(0, 2, 9), rng.integers(1, 4, 9) / 4, rng.integers(0, 3, 9)
        weight = np.where(y == 1, rng.integers(1, 6, 9), rng.integers(1, 10**12, 9))
        bound, most = Fraction(int(rng.integers(1, 10**13)), 10**13 + 1), int(rng.integers(1, 4 * 10**12))
        best = 0
        for cuts in product((0.25, 0.5, 0.75, 9.0), repeat=3):
            chosen = score >= np.array(cuts)[level]
            tp, n = int(weight[chosen & (y == 1)].sum()), int(weight[chosen].sum())
            best = max(best, tp if tp >= bound * n and n <= most else 0)
        boundary = fit_boundary(
            y,
            score,
            level,
            min_precision=bound,
            capacity=most,
            levels=[0.5, 1.5],
            sample_weight=weight,
            pos_label=1,
        )
        assert int(boundary.true_positives.sum()) == best, seed


def test_tuning_tries_aims_between_the_coarse_ones(rows):
    coarse = [0.8 + 0.002 * step for step in (0, 1, 2, 4, 6, 8, 11, 15, 20, 26, 33, 42, 53, 66, 82)]
    aims = (fit_boundary(*rows, min_precision=0.8, tune="cv", random_state=seed).tuned_precision for seed in range(8))
    assert any(min(abs(aim - step) for step in coarse) > 1e-6 for aim in aims if aim is not None)


def test_weights_too_large_to_count_are_refused():
    with pytest.raises(ValueError, match=r"add up to at most 2\^53 rows"):
        fit_boundary([1, 0], [0.9, 0.4], [0, 1], min_precision=0.5, sample_weight=[1e30, 1.0])


def test_one_class_is_no_error():
    assert fit_boundary([1, 1], [0.2, 0.7], [1, 2], min_precision=0.9).recall == 1.0
    assert np.isnan(fit_boundary([0, 0], [0.2, 0.7], [1, 2], min_precision=0.9).recall)
    with pytest.raises(ValueError, match='goal="precision" needs positives in y_true, got none'):
        fit_boundary([0, 0], [0.2, 0.7], [1, 2], goal="precision", min_recall=0.5)


@pytest.mark.parametrize("cost", [1e-10, 3e-10, 1e-300, 1 - 1e-10])
def test_cost_ratios_near_the_ends_are_taken_as_they_are(cost):
    """One positive at the bottom among 999 negatives: missing it costs 1 - c, finding it 999 c."""
    y, score = np.arange(1000) == 0, np.arange(1000.0)
    boundary = fit_boundary(y, score, np.ones(1000), goal="cost", costs=cost, levels=1)
    everything, nothing = 999 * Fraction(repr(cost)), 1 - Fraction(repr(cost))
    assert boundary.selected.sum() == (1000 if everything < nothing else 0)
    assert boundary.value == pytest.approx(-float(min(everything, nothing) / 1000), rel=1e-15)
    assert boundary.optimal


@pytest.mark.parametrize("given", [costs.Uniform(0.1, 0.3), (0.1, 0.3), 0.2])
def test_costs_are_a_distribution_a_pair_or_a_number(rows, given):
    assert fit_boundary(*rows, goal="cost", costs=given).goal == "least cost at cost ratio 0.2"


def test_huge_exponents_are_refused_at_once():
    for text in ("1e-20000000", "1e20000000", "1E+0020000000"):
        with pytest.raises(ValueError, match="min_precision must have an exponent of at most 400"):
            fit_boundary([0, 1], [0.2, 0.7], [1, 2], min_precision=text)
    text = fit_boundary([0, 1], [0.2, 0.7], [1, 2], capacity=1).to_json()
    with pytest.raises(ValueError, match=r"problem\.beta2 must be a fraction"):
        Boundary.from_json(text.replace('"beta2": "1/1"', '"beta2": "1e20000000"'))


def test_a_whole_number_of_bins_may_be_a_float():
    y, score, uncertainty = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1, 2, 1, 2]
    for bins in (2, 2.0, np.float32(2)):
        # an upper level without rows
        found = fit_boundary(
            y, score, uncertainty, min_precision=0.5, levels=[0, 3], score_bins=bins, binning="equal_span"
        )
        assert found.recall == 1.0


def test_a_region_of_nothing_has_a_threshold_for_each_level():
    rng = np.random.default_rng(0)
    y, score, spread = np.arange(60) % 10 == 0, rng.random(60), rng.random(60)
    score[y] = 0.0
    found = fit_boundary(y, score, spread, min_precision=0.99, tune="cv", levels=3, solver="exact", random_state=0)
    content = json.loads(found.to_json())
    assert content["levels"]["selected"] == [0, 0, 0]
    assert content["rule"]["thresholds"] == ["inf"] * 3
    assert not Boundary.from_json(json.dumps(content)).predict(score, spread).any()
    content["rule"] |= {"cuts": [], "thresholds": ["inf"]}
    with pytest.raises(ValueError, match=r"rule.cuts must be levels.cuts"):
        Boundary.from_json(json.dumps(content))
