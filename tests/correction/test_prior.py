"""Estimated class shares: the printed iteration and direct maximisation as oracles, the bound, the interval."""

from inspect import signature

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from stakes.correction import estimate_prior, shift_prior


def saerens(prob, old, steps=200_000):
    """The iteration as printed."""
    new = old.copy()
    for _ in range(steps):
        g = prob * new / old
        after = (g / g.sum(axis=1, keepdims=True)).mean(axis=0)
        if np.abs(after - new).max() < 1e-15:
            break
        new = after
    return new


def statistic(prob, old, weight, k, fixed):
    """Likelihood ratio of one share: the others by the printed iteration, the effect of weights by matrices."""
    density, best = prob / old, estimate_prior(prob, training_prior=old, sample_weight=weight, n_resamples=0).prior
    new, others = np.full(prob.shape[1], (1 - fixed) / (prob.shape[1] - 1)), np.arange(prob.shape[1]) != k
    new[k] = fixed
    for _ in range(20_000):
        after = weight @ (density * new / (density @ new)[:, None])
        after[others] *= (1 - fixed) / after[others].sum()
        after[k] = fixed
        if np.abs(after - new).max() < 1e-15:
            break
        new = after
    order = [k, *np.flatnonzero(others & (new > 1e-9))]  # the last absorbs what the first and the others gain
    slope = (density[:, order[:-1]] - density[:, order[-1:]]) / (density @ new)[:, None]
    inverse = np.linalg.inv((slope * weight[:, None]).T @ slope)
    effect = (inverse @ (slope * weight[:, None] ** 2).T @ slope @ inverse)[0, 0] / inverse[0, 0]
    return 2 * weight @ np.log((density @ best) / (density @ new)) / effect


def shifted_population(rng, old, new, n):
    """Rows of a population with share ``new``, with probabilities right for ``old``; labels as well."""
    y = rng.random(n) < new
    x = rng.normal(1.5 * y, 1.0)
    odds = np.exp(1.5 * x - 1.125) * old / (1 - old)
    return odds / (1 + odds), y


@pytest.mark.parametrize("k", [2, 3, 5])
def test_same_limit_as_the_printed_iteration(k):
    rng = np.random.default_rng(k)
    prob, old = rng.dirichlet(np.ones(k), 300), rng.dirichlet(np.full(k, 8.0))
    found = estimate_prior(prob, training_prior=old, n_resamples=0)
    assert found.converged
    assert found.prior == pytest.approx(saerens(prob, old), abs=2e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_first_steps_are_those_of_the_printed_iteration(steps, weighted):
    rng = np.random.default_rng(1)
    prob, old = rng.dirichlet([0.5, 2.0, 1.0], 50), np.array([0.7, 0.2, 0.1])
    weight = rng.integers(1, 4, 50) if weighted else np.ones(50, dtype=int)
    found = estimate_prior(prob, training_prior=old, sample_weight=weight, n_resamples=0, max_iterations=steps)
    assert found.prior == pytest.approx(saerens(np.repeat(prob, weight, axis=0), old, steps), rel=1e-12)
    assert (found.n_iterations, found.converged, np.isinf(found.gap)) == (steps, False, steps == 0)


@pytest.mark.parametrize("rare", [0.3, 1e-4, 1e-8])
def test_classes_that_no_probability_tells_apart_share_what_they_have_as_one(rare):
    p = np.random.default_rng(0).beta(0.3, 0.3 / np.sqrt(rare), 300)
    one = estimate_prior(p, training_prior=rare)
    old = np.array([1 - rare, 0.3 * rare, 0.7 * rare])
    two = estimate_prior(np.column_stack([1 - p, 0.3 * p, 0.7 * p]), training_prior=old)
    assert one.converged
    assert two.converged
    assert two.prior[1:].sum() == pytest.approx(one.prior, rel=1e-7)
    assert two.log_likelihood_gain == pytest.approx(one.log_likelihood_gain, rel=1e-9)
    low, high = one.interval
    # either may have none, or all
    assert two.ci_low == pytest.approx([1 - high, 0.0, 0.0], rel=1e-5)
    assert two.ci_high == pytest.approx([1 - low, high, high], rel=1e-5)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_rare_classes_that_no_probability_tells_apart_are_found_in_two_rows_of_thousands(seed):
    rng = np.random.default_rng(seed)
    p = np.concatenate([rng.beta(1, 300, 1998), rng.beta(50, 1, 2)])
    parts = rng.dirichlet(np.ones(3))
    several = {"training_prior": [0.5, *0.5 * parts], "n_resamples": 0}
    found = estimate_prior(np.column_stack([1 - p, np.outer(p, parts)]), **several)
    assert found.converged
    assert found.prior[0] == pytest.approx(1 - estimate_prior(p, training_prior=0.5, n_resamples=0).prior, rel=1e-7)


@given(st.integers(0, 10**6))
def test_maximises_the_likelihood_directly(seed):
    rng = np.random.default_rng(seed)
    g, old = rng.random(12), rng.uniform(0.1, 0.9)

    def loss(t):
        return -np.log(t * g / old + (1 - t) * (1 - g) / (1 - old)).sum()

    found = estimate_prior(g, training_prior=old, n_resamples=0)
    best = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    assert loss(found.prior) <= best.fun + 1e-8
    assert loss(old) - loss(found.prior) == pytest.approx(found.log_likelihood_gain, abs=1e-9)
    assert found.p_value == pytest.approx(chi2.sf(2 * found.log_likelihood_gain, 1), abs=1e-12)


def test_gap_bounds_what_is_left_to_gain():
    rng = np.random.default_rng(3)
    prob, old = rng.dirichlet(np.ones(4), 200), np.full(4, 0.25)
    best = estimate_prior(prob, training_prior=old, n_resamples=0)
    for steps in (1, 2, 5, 10):
        early = estimate_prior(prob, training_prior=old, n_resamples=0, max_iterations=steps, tolerance=1e-14)
        assert not early.converged
        assert "NOT converged" in repr(early)
        assert best.log_likelihood_gain - early.log_likelihood_gain <= len(prob) * early.gap + 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_interval_ends_where_the_likelihood_ratio_test_rejects(k, weighted):
    rng = np.random.default_rng(k)
    prob, old = rng.dirichlet(np.full(k, 0.7), 200), np.full(k, 1 / k)
    prob[:, -1] *= 0.2  # rarer
    prob /= prob.sum(axis=1, keepdims=True)
    weight = 5.0 * (prob[:, 0] < 0.2) + rng.exponential(1.0, 200) if weighted else np.ones(200)
    found = estimate_prior(prob, training_prior=old, sample_weight=weight, confidence_level=0.9)
    for j in range(k):
        low, high = found.ci_low[j], found.ci_high[j]
        assert 0 <= low <= found.prior[j] <= high < 1
        for end in (low, high):
            if end > 0:
                assert statistic(prob, old, weight, j, end) == pytest.approx(chi2.ppf(0.9, 1), rel=1e-5)
        if low == 0:
            assert statistic(prob, old, weight, j, 1e-9) <= chi2.ppf(0.9, 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_interval_of_two_classes_agrees_with_the_p_value(weighted):
    prob, _ = shifted_population(np.random.default_rng(9), 0.5, 0.3, 400)
    weight = 1.0 + 3.0 * prob if weighted else None
    low, high = estimate_prior(prob, training_prior=0.5, sample_weight=weight).interval
    for end in (low, high):
        moved = shift_prior(prob, training_prior=0.5, prior=end)
        p_value = estimate_prior(moved, training_prior=end, sample_weight=weight, n_resamples=0).p_value
        assert p_value == pytest.approx(0.05, abs=1e-7)


def test_interval_of_two_classes_needs_no_step_of_its_own():
    prob, _ = shifted_population(np.random.default_rng(9), 0.5, 0.3, 400)
    known = estimate_prior(prob, training_prior=0.5)
    moved = shift_prior(prob, training_prior=0.5, prior=known.prior)
    found = estimate_prior(moved, training_prior=known.prior, max_iterations=0)
    assert (found.prior, *found.interval) == pytest.approx((known.prior, *known.interval), rel=1e-7)


def test_interval_of_an_estimate_of_0_or_1_has_a_width():
    logit = np.log(0.02 / 0.98) + 3 * np.linspace(-2, 2, 100) - 4.5
    none = estimate_prior(1 / (1 + np.exp(-logit)), training_prior=0.02)
    assert none.prior == none.ci_low == 0
    assert none.p_value > 0.05
    assert 0.02 < none.ci_high < 0.05
    one = estimate_prior([0.3], training_prior=0.2)
    assert (one.prior, *one.interval) == (1, 0, 1)
    absent = estimate_prior([[0.5, 0.5, 0.0]] * 100, training_prior=[0.4, 0.3, 0.3])
    assert absent.ci_high[2] == pytest.approx(1 - np.exp(-chi2.ppf(0.95, 1) / 200), rel=1e-6)
    alone = estimate_prior([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], training_prior=[0.5, 0.5])
    tiny = estimate_prior([5e-324, 1e-200, 0.5, 0.9], training_prior=0.5, sample_weight=[1, 2, 1, 1])
    assert tiny.ci_low < tiny.prior < tiny.ci_high < 1
    assert 0 < alone.ci_low[0] < alone.prior[0] < alone.ci_high[0] < 1


@pytest.mark.simulation
@pytest.mark.parametrize(("n", "old", "share"), [(100, 0.02, 0.02), (200, 0.3, 0.05), (400, 0.5, 0.15)])
def test_share_of_a_shifted_population_is_covered(n, old, share):
    rng, covered = np.random.default_rng(4), 0
    for _ in range(200):
        y = rng.random(n) < share
        prob = 1 / (1 + (1 - old) / old * np.exp(4.5 - 3 * rng.normal(3.0 * y, 1.0)))
        found = estimate_prior(prob, training_prior=old)
        covered += found.ci_low <= share <= found.ci_high
    assert covered >= 181  # 190 expected, three standard errors


def test_probabilities_moved_to_the_estimate_average_to_it():
    prob, _ = shifted_population(np.random.default_rng(5), 0.4, 0.1, 2000)
    share = estimate_prior(prob, training_prior=0.4, n_resamples=0).prior
    assert shift_prior(prob, training_prior=0.4, prior=share).mean() == pytest.approx(share, abs=1e-9)


def test_weights_are_repeated_rows_for_the_estimate():
    rng = np.random.default_rng(6)
    prob, weight = rng.random(50), rng.integers(0, 4, 50)
    weighted = estimate_prior(prob, training_prior=0.3, sample_weight=weight, n_resamples=0)
    repeated = estimate_prior(np.repeat(prob, weight), training_prior=0.3, n_resamples=0)
    assert weighted.prior == pytest.approx(repeated.prior, abs=1e-10)


@pytest.mark.parametrize("k", [2, 3])
def test_weights_that_go_with_the_score_inflate_the_gain_by_their_own_effect(k):
    rng = np.random.default_rng(6)
    prob = rng.dirichlet(np.ones(k), 400)
    weight = 5.0 * (prob[:, 0] < 0.2) + rng.exponential(1.0, 400)
    old = np.average(prob, axis=0, weights=weight) + 0.01 * (np.arange(k) == 0) - 0.01 / k  # close to the estimate
    found = estimate_prior(prob, training_prior=old, sample_weight=weight, n_resamples=0)
    mixture = (prob / old) @ found.prior
    u = (prob / old)[:, 1:] - (prob / old)[:, :1]
    inverse = np.linalg.inv((u * weight[:, None]).T @ u)
    effect = np.trace(inverse @ ((u * weight[:, None] ** 2).T @ u)) / (k - 1)
    assert found.log_likelihood_gain == pytest.approx(np.dot(weight, np.log(mixture)) / effect, rel=1e-6)
    assert found.p_value == pytest.approx(chi2.sf(2 * found.log_likelihood_gain, k - 1), rel=1e-10)


@pytest.mark.simulation
def test_weights_that_go_with_the_score_keep_the_rate_of_rejection():
    rejected = {2: 0, 3: 0}
    for seed in range(300):
        rng = np.random.default_rng(seed)
        for k in rejected:
            prob = rng.dirichlet(np.full(k, 0.8), 3000)
            kept = np.where(prob[:, 0] > 0.7, 0.15, 1.0)
            seen = rng.random(3000) < kept
            found = estimate_prior(
                prob[seen], training_prior=np.full(k, 1 / k), sample_weight=1 / kept[seen], n_resamples=0
            )
            rejected[k] += found.p_value <= 0.05
    assert all(4 <= count <= 30 for count in rejected.values()), rejected  # 15 expected; by Kish's size 24 and 33


def test_rows_of_weight_zero_are_absent():
    prob = [[0.9, 0.1, 0.0], [0.6, 0.4, 0.0], [0.0, 0.0, 1.0]]
    found = estimate_prior(prob, training_prior=[0.4, 0.3, 0.3], sample_weight=[1, 1, 0], n_resamples=5)
    assert found.prior[2] == 0.0
    same = estimate_prior(prob[:2], training_prior=[0.4, 0.3, 0.3], n_resamples=5)
    assert found.to_json() == same.to_json()


@pytest.mark.parametrize("tolerance", [1e-10, 1e-2])
@pytest.mark.parametrize("old", [[0.4, 0.3, 0.3], [0.75, 0.249, 0.001]])
def test_class_without_support_gets_share_zero(old, tolerance):
    rows = [[0.9, 0.1, 0.0], [0.6, 0.4, 0.0]]
    found = estimate_prior(rows, training_prior=old, n_resamples=0, tolerance=tolerance)
    assert found.prior[2] == 0.0
    assert found.at_boundary
    assert found.gap <= tolerance


def test_interval_draws_nothing_and_is_optional():
    prob = np.random.default_rng(7).random(100)
    one, two = (estimate_prior(prob, training_prior=0.5, n_resamples=30 * k) for k in (1, 2))
    assert "random_state" not in signature(estimate_prior).parameters
    assert (one.ci_low, one.ci_high) == (two.ci_low, two.ci_high)
    assert np.isnan(estimate_prior(prob, training_prior=0.5, n_resamples=0).ci_low)


def test_the_interval_reaches_as_far_above_a_share_of_many_rows_as_below():
    prob, _ = shifted_population(np.random.default_rng(8), 0.5, 0.4, 2000)
    found = estimate_prior(prob, training_prior=0.5)
    assert 0.6 < (found.ci_high - found.prior) / (found.prior - found.ci_low) < 1.6


def test_table_has_a_row_for_each_class():
    binary = estimate_prior([0.2, 0.6], training_prior=0.5, n_resamples=0)
    assert [row["class"] for row in binary._records()] == [1]
    several = estimate_prior([[0.2, 0.3, 0.5]], training_prior={0: 0.2, 1: 0.3, 2: 0.5}, n_resamples=0)
    assert [row["class"] for row in several._records()] == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"training_prior": 0.0}, r"training_prior must lie in \(0, 1\)"),
        ({"training_prior": 0.5, "n_resamples": -1}, "n_resamples must be a whole number >= 0"),
        ({"training_prior": 0.5, "tolerance": 5e-324}, "tolerance must be 1e-14 or more"),
        ({"training_prior": 0.5, "confidence_level": 1.0}, "confidence_level must lie in"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        estimate_prior([0.2, 0.6], **options)


def test_maximum_is_reached_where_a_step_adds_less_than_rounding():
    prob = np.repeat([0.0, 0.25, 0.5, 0.75], [3, 8, 2, 1])
    for rows in range(200):
        drawn = np.random.default_rng(rows).choice(prob, 14)
        found = estimate_prior(drawn, training_prior=np.float16(0.1), n_resamples=0)
        assert found.converged, rows
        assert found.n_iterations < 60


def test_a_shift_that_was_found_is_not_shown_as_none():
    found = estimate_prior([0.9] * 40, training_prior=0.2)
    assert found.p_value < 0.05
    assert f", test of no shift: p = {found.p_value:.3g})" in repr(found)
