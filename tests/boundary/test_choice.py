"""A learned order instead of levels, and choices made by cross-validation, judged on rows that made no choice."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from stakes.boundary import fit_boundary
from stakes.boundary._out_of_fold import Settings, chosen_out_of_fold, split_rows, tune_precision
from stakes.boundary._problem import BoundaryRows, check_problem, check_rows
from stakes.boundary._rules import RankedRule, Ranker


def smooth(n, seed):
    """Uncertainty flattens the slope of the score: the true order is logistic in score and uncertainty."""
    rng = np.random.default_rng(seed)
    z, u = rng.normal(size=n), rng.random(n)
    truth = 1.0 / (1.0 + np.exp(3.2 - (0.2 + 2.5 * (1.0 - u)) * z))
    return rng.random(n) < truth, 1.0 / (1.0 + np.exp(2.5 - 1.3 * z)), u


def turned(n, seed):
    """Among uncertain rows a low score means a positive: thresholds from below cannot say so."""
    rng = np.random.default_rng(seed)
    z, u = rng.normal(size=n), rng.random(n)
    truth = 1.0 / (1.0 + np.exp(2.0 - (4.0 - 8.0 * u) * z))
    return rng.random(n) < truth, 1.0 / (1.0 + np.exp(-z)), u


def stepped(n, seed):
    """Positives in two islands of score and uncertainty that no quadratic order can hold together."""
    rng = np.random.default_rng(seed)
    s, u = rng.random(n), rng.random(n)
    inside = ((u <= 0.2) & (s > 0.5)) | ((u > 0.4) & (u <= 0.6) & (s > 0.9)) | ((u > 0.8) & (s > 0.5))
    return rng.random(n) < np.where(inside, 0.95, 0.3), s, u


def test_ranker_takes_the_best_threshold_on_its_order():
    y, score, u = smooth(4000, 0)
    boundary = fit_boundary(y, score, u, min_precision="3/4", solver="ranker")
    order = boundary._rule.ranker.rank(score, u)
    kept = [order >= cut for cut in np.unique(order)]
    best = max(int(np.sum(y[chosen])) for chosen in kept if 4 * np.sum(y[chosen]) >= 3 * np.sum(chosen))
    assert int(boundary.true_positives.sum()) == best > 50
    assert boundary.upper_bound is None
    assert boundary.thresholds is None
    assert len(boundary.rows) == 3
    assert np.array_equal(boundary.predict(score, u), order >= boundary._rule.threshold)


def test_ranker_knows_the_uncertainty_by_its_ranks_alone():
    y, score, u = smooth(3000, 8)
    u = u.round(2)  # ranks between knots are interpolated: as many knots as values
    one, two = (fit_boundary(y, score, v, min_precision=0.7, solver="ranker") for v in (u, np.exp(9.0 * u)))
    assert one.selected.sum() > 50
    assert np.array_equal(one.predict(score, u), two.predict(score, np.exp(9.0 * u)))


@pytest.mark.simulation
def test_ranker_beats_levels_where_the_truth_is_smooth_and_rows_are_few():
    new_y, *new = smooth(200_000, 1)
    recall = {"exact": [], "ranker": [], "single_threshold": []}
    for solver, found in recall.items():
        for seed in range(6):
            boundary = fit_boundary(
                *smooth(8000, 10 + seed), min_precision=0.8, tune="cv", solver=solver, random_state=0
            )
            found.append(np.mean(boundary.predict(*new)[new_y]))
    assert np.mean(recall["ranker"]) > np.mean(recall["exact"]) > 3.0 * np.mean(recall["single_threshold"])


def test_weights_count_rows_in_the_ranker():
    y, score, u = smooth(1500, 2)
    w = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = fit_boundary(y, score, u, min_precision=0.7, solver="ranker", sample_weight=w)
    repeated = fit_boundary(*(np.repeat(column, w) for column in (y, score, u)), min_precision=0.7, solver="ranker")
    one, two = weighted._rule.ranker, repeated._rule.ranker
    assert np.allclose(one.coefficients, two.coefficients, atol=1e-9)
    assert np.array_equal(one.knots, two.knots)
    assert np.allclose(one.ranks, two.ranks, atol=1e-12)
    assert weighted.selected.tolist() == repeated.selected.tolist()


@pytest.mark.parametrize(("make", "solver"), [(turned, "ranker"), (stepped, "exact")])
def test_cross_validation_chooses_what_suits_the_data(make, solver):
    boundary = fit_boundary(*make(10_000, 4), min_precision=0.8, solver="cv", levels="cv", tune="cv", random_state=0)
    assert boundary.solver == solver
    assert solver != "ranker" or len(boundary.rows) == 3  # levels only arrange its table: as many as by default
    y, score, u = make(100_000, 5)
    chosen = boundary.predict(score, u) == 1
    assert abs(np.mean(y[chosen]) - 0.8) < 0.03


def test_choices_need_tuning():
    with pytest.raises(ValueError, match='solver="cv" goes with tune="cv"'):
        fit_boundary(*smooth(100, 0), min_precision=0.8, solver="cv")


def test_what_is_chosen_for_a_fold_does_not_depend_on_its_labels():
    y, score, u = smooth(1000, 6)
    problem = check_problem("recall", min_precision=0.6)
    choices = [Settings(problem, solver, 3, "equal_weight", None) for solver in ("single_threshold", "exact", "ranker")]
    folds = split_rows(len(y), 2, np.random.default_rng(0))

    def decide(labels):
        held = chosen_out_of_fold(check_rows(labels, score, u), choices, folds, np.random.default_rng(1))
        return held.selected(problem.min_precision)

    before = decide(y)
    changed = y.copy()
    changed[folds[0]] = ~changed[folds[0]]
    after = decide(changed)
    assert np.array_equal(before[folds[0]], after[folds[0]])
    assert np.any(before[folds[0]])
    assert not np.array_equal(before, after)


def test_an_aim_within_one_per_cent_of_the_bound_is_refined():
    bound = Fraction(4, 5)
    least = bound + (1 - bound) * Fraction(1, 200)  # half a per cent of the way from the bound to 1 keeps it
    y = np.repeat([True, False], [100, 50])

    def selected(aim):
        """All positives, less some by how high the aim is, and too many negatives for an aim that is too low."""
        return np.arange(150) < (150 if aim < least else 100 - int(10_000 * (aim - least)))

    rows = BoundaryRows(y, np.zeros(150), np.zeros(150))
    found = tune_precision(SimpleNamespace(rows=rows, selected=selected), bound)
    assert found.target == least
    assert found.selected.sum() == 100


def test_gain_of_a_choice_chooses_again():
    boundary = fit_boundary(*turned(4000, 7), min_precision=0.8, solver="cv", tune="cv", random_state=0)
    gain = boundary.gain(cv=2, random_state=0)
    assert gain.helps
    assert gain.single < gain.value


@pytest.mark.parametrize("choice", [{"solver": "cv", "levels": 2}, {"levels": "cv"}])
def test_gain_of_a_choice_is_the_same_for_a_capacity_as_count_and_as_share(choice):
    rng = np.random.default_rng(5)
    p = rng.beta(0.5, 1.5, 400)
    y, noise = rng.random(400) < p, rng.random(400)
    count, share = (
        fit_boundary(y, p, noise, min_precision=0.3, capacity=most, tune="cv", **choice).gain(cv=2)
        for most in (20, "20/400")
    )
    assert (count.value, count.low) == (share.value, share.low)
    assert not count.helps


@pytest.mark.parametrize("make", [smooth, turned])
@pytest.mark.parametrize("spread", [1.0, 1e9])
def test_a_learned_order_is_cut_at_the_scores_where_it_crosses_the_threshold(make, spread):
    y, score, u = make(2000, 7)
    ranker = Ranker.fit(y, spread * score - (spread > 1.0), u)  # probabilities, and scores of any size
    low, high = (0.0, 1.0) if ranker.log_odds else (-2.0 * spread, 2.0 * spread)
    grid, levels = np.meshgrid(np.linspace(low, high, 4001), ranker.knots)
    value = ranker.rank(grid.ravel(), levels.ravel())
    shapes = set()
    for threshold in np.quantile(value, [0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999]):
        rule = RankedRule.of(ranker, float(threshold))
        clear = np.abs(value / threshold - 1.0) > 1e-9
        inside = rule.select(grid.ravel(), levels.ravel())
        assert np.array_equal(inside[clear], (value >= threshold)[clear])
        changes = np.diff(inside.reshape(grid.shape).astype(int), axis=1)
        shapes |= {tuple(row[row != 0]) for row in changes}
        for place in (0, 1, 2):  # on both sides of each score, to the last bit
            ends = rule.steps[:, place]
            known = np.isfinite(ends) & (ends > low) & (ends <= high)
            at, below = ends[known], np.nextafter(ends[known], -np.inf)
            knots = ranker.knots[known]
            assert np.all(rule.select(at, knots) != rule.select(below, knots))
            # a step of the score is finer than rounding leaves the order, which need not be monotone there
            assert np.all(np.abs(ranker.rank(at, knots) / threshold - 1.0) < 1e-9)
    assert {(1,), ()} <= shapes
    assert make is not turned or {(-1,), (1, -1)} & shapes


def test_rows_between_two_quantiles_of_the_uncertainty_are_decided_as_at_the_upper_one():
    y, score, u = smooth(3000, 8)
    rule = fit_boundary(y, score, u, min_precision=0.7, solver="ranker")._rule
    knots = rule.ranker.knots
    inside = rule.select(np.tile(score[:50], len(knots)), np.repeat(knots, 50))
    below = np.repeat(np.r_[knots[0] - 1.0, 0.5 * (knots[1:] + knots[:-1])], 50)
    assert np.array_equal(rule.select(np.tile(score[:50], len(knots)), below), inside)
    assert np.array_equal(
        rule.select(score, np.full(len(score), 9.0)), rule.select(score, np.full(len(score), knots[-1]))
    )
