"""The logistic fit against its definition, in blocks as in one piece."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from stakes import ScoreTable
from stakes.base.numerics import fit_logistic, logit
from stakes.core.score_table import fit_recalibration
from stakes.correction import implied_weight


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("n", [50, 20_000])
def test_solution_has_no_slope_and_the_curvature_of_the_likelihood(n, ridge):
    rng = np.random.default_rng(7)
    x = rng.normal(0.0, 3.0, n)
    design, offset = np.column_stack([np.ones(n), x]), 0.1 * x
    positives, negatives = rng.integers(0, 4, n).astype(float), rng.random(n)
    found = fit_logistic(design, positives, negatives, offset=offset, ridge=ridge)

    def value(beta):
        eta = design @ beta + offset
        rows = positives * np.logaddexp(0.0, -eta) + negatives * np.logaddexp(0.0, eta)
        return -rows.sum() - 0.5 * ridge * beta @ beta

    assert found.log_likelihood == pytest.approx(value(found.coefficients), rel=1e-12)
    p = 1.0 / (1.0 + np.exp(-(design @ found.coefficients + offset)))
    slope = design.T @ (positives * (1.0 - p) - negatives * p) - ridge * found.coefficients
    np.testing.assert_allclose(slope, 0.0, atol=1e-9 * n)
    weight = (positives + negatives) * p * (1.0 - p)
    np.testing.assert_allclose(found.information, (design.T * weight) @ design + ridge * np.eye(2), rtol=1e-9)


def test_rows_far_off_neither_overflow_nor_warn():
    design = np.array([[1.0, -900.0], [1.0, 900.0], [1.0, 0.5], [1.0, -0.5]])
    found = fit_logistic(design, np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0]), ridge=1e-3)
    assert np.all(np.isfinite(found.coefficients))
    assert np.all(np.isfinite(found.information))


def test_a_positive_of_score_next_to_zero_leaves_a_fit_that_is_the_best():
    p = np.array([0.971498797, 0.0304287589, 0.425879751, 5e-324, 0.937236012, 0.0738037647, 0.954906417])
    y = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    x = logit(p)
    found = fit_logistic(np.column_stack([np.ones_like(x), x]), y, 1.0 - y, start=np.array([0.0, 1.0]))

    def unlikely(beta):
        eta = beta[0] + beta[1] * x
        return float(y @ np.logaddexp(0.0, -eta) + (1.0 - y) @ np.logaddexp(0.0, eta))

    known = minimize(unlikely, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
    assert found.coefficients == pytest.approx(known.x, rel=1e-5)
    assert found.log_likelihood == pytest.approx(-known.fun, rel=1e-12)


@pytest.mark.parametrize(
    ("y", "score", "slope", "status"),
    [
        ([1, 1], [0.2, 0.4], math.nan, "only one class is present"),
        ([0, 0], [0.2, 0.4], math.nan, "only one class is present"),
        ([0, 1, 0, 1], [0.2, 0.3, 0.4, 1.0], math.nan, "a score is exactly 0 or 1, where its logit is infinite"),
        ([0, 1, 0, 1], [0.0, 0.3, 0.4, 0.5], math.nan, "a score is exactly 0 or 1, where its logit is infinite"),
        ([0, 1, 0, 1], [0.3] * 4, math.nan, "all scores are equal"),
        ([0, 0, 1, 1], [0.2, 0.3, 0.3, 0.4], math.inf, "the scores separate the classes"),
        ([1, 1, 0, 0], [0.2, 0.3, 0.3, 0.4], -math.inf, "the scores separate the classes"),
    ],
)
def test_recalibration_that_does_not_exist_says_why(y, score, slope, status):
    found = fit_recalibration(ScoreTable.from_predictions(y, score))
    assert (found.status, found.covariance.shape) == (status, (2, 2))
    assert math.isnan(found.intercept)
    assert found.slope == pytest.approx(slope, nan_ok=True)
    assert np.isnan(found.covariance).all()
    fixed = fit_recalibration(ScoreTable.from_predictions(y, score), slope=0.75)
    assert fixed.covariance.shape == (1, 1)
    assert fixed.slope == 0.75
    # with the slope given the intercept exists wherever both classes and finite logits do
    assert fixed.status == (status if math.isnan(slope) and "equal" not in status else "")


@pytest.mark.parametrize("given", [None, 0.6])
def test_recalibration_has_no_slope_left_and_the_inverse_curvature_as_covariance(given):
    y, score = np.array([0, 1, 0, 1, 1, 0, 1, 0]), np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.7, 0.9, 0.2])
    weight = np.array([1.0, 2, 1, 3, 1, 1, 2, 4])
    found = fit_recalibration(ScoreTable.from_predictions(y, score, sample_weight=weight), slope=given)
    x = np.log(score / (1 - score))
    p = 1 / (1 + np.exp(-(found.intercept + found.slope * x)))
    assert found.status == ""
    design = np.stack([np.ones(8), x])[: 2 if given is None else 1]
    assert design @ (weight * (y - p)) == pytest.approx(0.0, abs=1e-9)
    information = (design * (weight * p * (1 - p))) @ design.T
    np.testing.assert_allclose(found.covariance, np.linalg.inv(information), rtol=1e-7)
    assert found.log_likelihood == pytest.approx(weight @ np.log(np.where(y == 1, p, 1 - p)), rel=1e-12)


@pytest.mark.parametrize("y", [[0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 1, 0, 1, 1], [1, 1, 0, 1, 0, 0]])
def test_scores_that_overlap_by_one_row_have_a_finite_slope(y):
    found = fit_recalibration(ScoreTable.from_predictions(y, np.linspace(0.2, 0.8, len(y))))
    assert found.status == ""
    assert math.isfinite(found.slope)


@pytest.mark.parametrize("slope", [None, 1.0])
@pytest.mark.parametrize("mixed", [8, 40, 5000])
def test_recalibration_of_many_scores_solves_the_equations_of_the_likelihood(mixed, slope):
    # long tables start from a fit to cells, which must not lead astray where few scores lie among the other class
    rng = np.random.default_rng(mixed)
    score = np.sort(rng.uniform(0.01, 0.99, 5000))
    y = score > 0.5 if mixed < len(score) else rng.random(5000) < score**1.5
    y[2500 - mixed // 2 : 2500 + mixed // 2 : 2] ^= mixed < len(score)
    found = fit_recalibration(ScoreTable.from_predictions(y, score), slope=slope)
    x = np.log(score / (1.0 - score))
    rest = y - expit(found.intercept + found.slope * x)
    assert abs(rest.sum()) < 1e-9
    if slope is None:
        assert abs(rest @ x) < 1e-9


@pytest.mark.parametrize("score", [1e-17, 1e-25, 1e-100, 1e-300, 1e-320])
def test_intercept_of_one_score_next_to_an_end_gives_it_the_share_of_positives(score):
    y = np.array([0, 1, 1, 0, 1] * 4)
    found = fit_recalibration(ScoreTable.from_predictions(y, np.full(20, score)), slope=1.0)
    assert found.intercept == pytest.approx(math.log(1.5) - math.log(score), rel=1e-9)
    assert found.covariance == pytest.approx(np.array([[1.0 / 12.0 + 1.0 / 8.0]]), rel=1e-9)
    far = fit_logistic(np.ones((1, 1)), np.array([12.0]), np.array([8.0]), offset=np.array([-math.log(score)]))
    assert far.coefficients[0] == pytest.approx(math.log(1.5) + math.log(score), rel=1e-9)


def test_two_scores_next_to_zero_are_fitted_by_the_line_through_their_shares():
    y, score = np.array([0, 1, 1, 0, 1, 0, 0, 1, 0, 0]), np.repeat([1e-30, 1e-200], 5)
    found = fit_recalibration(ScoreTable.from_predictions(y, score))
    slope = (math.log(1.5) - math.log(0.25)) / (200 - 30) / math.log(10)
    assert found.slope == pytest.approx(slope, rel=1e-9)
    assert found.intercept == pytest.approx(math.log(1.5) + slope * 30 * math.log(10), rel=1e-9)


def test_weights_of_any_size_and_scores_next_to_zero_give_the_same_line():
    y, score = np.array([0, 1, 1, 0, 1, 0, 0, 1, 0, 0]), np.repeat([1e-30, 1e-200], 5)
    plain = fit_recalibration(ScoreTable.from_predictions(y, score))
    for weight in (2.0**-465, 2.0**465):
        found = fit_recalibration(ScoreTable.from_predictions(y, score, sample_weight=np.full(10, weight)))
        assert (found.intercept, found.slope) == (plain.intercept, plain.slope)
        assert np.array_equal(found.covariance, plain.covariance / weight)


def test_rows_beyond_all_numbers_are_brought_back():
    found = fit_logistic(np.ones((2, 1)), np.array([3.0, 3.0]), np.array([7.0, 7.0]), offset=np.array([-1e4, -1e4]))
    assert found.coefficients[0] == pytest.approx(1e4 + math.log(3 / 7), rel=1e-12)


def test_a_column_given_twice_fits_as_if_given_once():
    x = np.arange(-2.0, 3.0)
    positives, negatives = np.array([1.0, 2.0, 3.0, 4.0, 6.0]), np.array([7.0, 5.0, 3.0, 2.0, 1.0])
    once, twice = (
        fit_logistic(np.column_stack([np.ones(5), *columns]), positives, negatives) for columns in ([x], [x, x])
    )
    a, b, c = twice.coefficients
    assert [a, b + c] == pytest.approx(once.coefficients.tolist(), abs=1e-9)
    assert twice.log_likelihood == pytest.approx(once.log_likelihood, abs=1e-12)


@pytest.mark.parametrize("seed", [1, 15, 17])
def test_a_slope_is_found_beside_scores_that_are_all_but_0(seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-5.0, 36.0, 30)
    y = rng.random(30) < expit((x - 18.0) / 3.0)
    score, label = np.r_[np.full(8, 1e-300), expit(x)], np.r_[np.zeros(8, bool), y]
    fit = fit_recalibration(ScoreTable.from_predictions(label, score))
    residual = label - expit(fit.intercept + fit.slope * logit(score))
    # what is left of the labels has no sum and no slope; those of the 8 rows are settled whatever the fit
    assert (residual.sum(), residual[8:] @ logit(score[8:])) == pytest.approx((0.0, 0.0), abs=1e-5)
    near = fit_recalibration(ScoreTable.from_predictions(y, expit(x)))
    assert (fit.intercept, fit.slope) == pytest.approx((near.intercept, near.slope), rel=1e-6)
    assert implied_weight(label, score).slope == pytest.approx(fit.slope)
