"""The largest of normal values against quadrature by another program, simulation and published tables."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, stats

from stakes.inference import largest_of
from stakes.variance.largest import Leads, largest_quantile, normal_draws, pair_variances


def equal_correlation(count, rho):
    return np.full((count, count), rho) + (1.0 - rho) * np.eye(count)


@pytest.mark.parametrize("kind", ["normal2", "normal3"])
def test_values_of_the_oracle(actions_reference, kind):
    for case in actions_reference["voi"][kind]:
        found = largest_of(case["mean"], case["cov"])
        assert found.expected == pytest.approx(case["emax"], abs=1e-13)
        assert found.excess == pytest.approx(case["evpi"], abs=1e-13)
        assert found.exact


# actions_oracle.py, nested quadrature of the definition
@pytest.mark.parametrize(
    ("mean", "cov", "excess"),
    [
        ([0.02, 0.05], [[0.001, 0.0005], [0.0005, 0.002]], 0.006711496114869736),
        ([1.0, 0.0, -1.0], [[2, 0.3, -0.4], [0.3, 1, 0.2], [-0.4, 0.2, 3]], 0.41184478721767515),
    ],
)
def test_values_written_down(mean, cov, excess):
    assert largest_of(mean, cov).excess == pytest.approx(excess, abs=1e-13)


def test_expected_maximum_of_equal_values(actions_reference):
    for count, expected in actions_reference["selection"]["expected_maximum"]:
        found = largest_of(np.zeros(count), equal_correlation(count, 0.0))
        assert found.gain == pytest.approx(expected, abs=1e-12)
        # what the values share changes no order
        shared = largest_of(np.zeros(count), equal_correlation(count, 0.75))
        assert shared.gain == pytest.approx(0.5 * expected, abs=1e-12)


def test_independent_values_of_unlike_spread_by_quadrature():
    means, spreads = np.array([0.1, -0.3, 0.2, 0.0]), np.array([1.0, 0.3, 0.02, 0.6])

    def below(x):
        return np.prod(stats.norm.cdf(x, means, spreads))

    points = np.sort(np.concatenate([means, means + 5 * spreads, means - 5 * spreads]))
    high = integrate.quad(lambda x: 1.0 - below(x), 0, 15, points=points[points > 0], limit=500, epsabs=1e-13)[0]
    low = integrate.quad(below, -15, 0, points=points[points < 0], limit=500, epsabs=1e-13)[0]
    found = largest_of(means, np.diag(spreads**2))
    assert found.exact
    assert found.expected == pytest.approx(high - low, abs=1e-10)


@settings(max_examples=30)
@given(st.integers(2, 3), st.integers(0, 10_000))
def test_closed_forms_agree_with_draws(count, seed):
    rng = np.random.default_rng(seed)
    means, root = rng.normal(size=count), rng.normal(size=(count, count))
    covariance = root @ root.T
    values = means + rng.standard_normal((200_000, count)) @ root.T
    found = largest_of(means, covariance)
    draws = values.max(axis=1)
    assert found.expected == pytest.approx(draws.mean(), abs=5 * draws.std() / 200_000**0.5 + 1e-12)
    shares = np.bincount(values.argmax(axis=1), minlength=count) / 200_000
    assert found.p_best == pytest.approx(shares, abs=0.006)
    assert found.excess == pytest.approx(found.expected - means.max(), abs=1e-12)
    assert found.gain == pytest.approx(found.expected - found.p_best @ means, abs=1e-12)


@pytest.mark.parametrize("means", [[0, 0, -1], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
def test_shares_of_three_values_of_which_some_are_expected_alike(means):
    covariance = np.array([[1.0, 0.3, 0.1], [0.3, 2.0, 0.2], [0.1, 0.2, 1.5]])
    for i, share in enumerate(largest_of(means, covariance).p_best):
        ahead = np.delete(np.eye(3), i, axis=0) - np.eye(3)[i]
        behind = stats.multivariate_normal(ahead @ means, ahead @ covariance @ ahead.T).cdf([0.0, 0.0])
        assert share == pytest.approx(behind, abs=1e-9)


def test_more_values_by_draws():
    rng = np.random.default_rng(3)
    means, root = rng.normal(size=6), rng.normal(size=(6, 6))
    values = means + rng.standard_normal((1_000_000, 6)) @ root.T
    found = largest_of(means, root @ root.T)
    assert not found.exact
    assert found.excess == pytest.approx(values.max(axis=1).mean() - means.max(), rel=0.03)
    assert found.p_best == pytest.approx(np.bincount(values.argmax(axis=1)) / 1e6, abs=0.015)


def test_values_that_are_always_equal_count_once():
    covariance = np.array([[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]])
    found, once = largest_of([0.0, 0.0, 0.3], covariance), largest_of([0.0, 0.3], covariance[1:, 1:])
    assert found.expected == once.expected
    assert found.p_best.tolist() == [once.p_best[0], once.p_best[0], once.p_best[1]]


def test_quantiles_of_the_oracle(actions_reference):
    for key, two_sided in (("dunnett_one_sided", False), ("max_abs_two_sided", True)):
        for count, rho, quantile in actions_reference["selection"][key]:
            found = largest_quantile(equal_correlation(count, rho), np.zeros((count, 1)), 0.95, two_sided=two_sided)
            assert found == pytest.approx(quantile, abs=1e-12)


def test_quantiles_as_tabulated():
    # Dunnett 1955, one-sided, correlation 1/2, unlimited degrees of freedom: 1.92, 2.06, 2.16
    for count, tabulated in ((2, 1.92), (3, 2.06), (4, 2.16)):
        found = largest_quantile(equal_correlation(count, 0.5), np.zeros((count, 1)), 0.95, two_sided=False)
        assert found == pytest.approx(tabulated, abs=0.005)


@pytest.mark.parametrize("two_sided", [False, True])
def test_quantile_by_draws_is_near_that_by_quadrature(two_sided):
    correlation = equal_correlation(7, 0.6)
    errors = normal_draws(correlation, np.random.default_rng(0))
    exact = largest_quantile(correlation, errors, 0.95, two_sided=two_sided)
    correlation[0, 1] = correlation[1, 0] = 0.6001
    assert largest_quantile(correlation, errors, 0.95, two_sided=two_sided) == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize("count", [2, 5, 200, 1200])
@pytest.mark.parametrize("level", [0.2, 0.8, 0.95, 0.999])
def test_largest_of_independent_errors_has_a_quantile_in_closed_form(count, level):
    one = level ** (1.0 / count)
    for two_sided, exact in ((False, NormalDist().inv_cdf(one)), (True, NormalDist().inv_cdf(0.5 + one / 2.0))):
        found = largest_quantile(np.eye(count), np.zeros((count, 1)), level, two_sided=two_sided)
        assert found == pytest.approx(exact, abs=1e-11 if count <= 200 else 1e-10)


@pytest.mark.parametrize("count", [2, 5, 33, 90])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.975])
def test_quantile_of_the_largest_lead_is_that_of_every_pair_in_every_draw(count, level):
    rng = np.random.default_rng(count)
    root = rng.normal(size=(count, 3)) * rng.gamma(0.5, size=(count, 1)) + 0.3  # of small errors and large
    covariance = root @ root.T + np.diag(rng.gamma(0.2, size=count))
    errors = normal_draws(covariance, rng, 3000)
    variance = pair_variances(covariance) * (rng.random((count, count)) < 0.7)
    variance[:, -1] = 0.0  # compared with no one
    leads = Leads(errors, covariance)
    for behind in (np.arange(count), np.array([count - 1]), rng.permutation(count)[: count // 2 + 1]):
        gaps = [
            (errors[i] - errors[j]) / np.sqrt(variance[i, j]) for i in behind for j in np.flatnonzero(variance[i] > 0.0)
        ]
        expected = np.quantile(np.max([np.zeros(3000), *gaps], axis=0), level)
        assert leads.quantile(behind, variance[behind], level) == expected
