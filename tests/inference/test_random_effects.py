"""Random effects over centres: values published for the trials of BCG vaccine, and the likelihood itself."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import t as student

from stakes.inference import random_effects

# positive and negative of the vaccinated and of the others in 13 trials (Colditz et al. 1994)
BCG = np.array(
    [
        [4, 119, 11, 128],
        [6, 300, 29, 274],
        [3, 228, 11, 209],
        [62, 13536, 248, 12619],
        [33, 5036, 47, 5761],
        [180, 1361, 372, 1079],
        [8, 2537, 10, 619],
        [505, 87886, 499, 87892],
        [29, 7470, 45, 7232],
        [17, 1699, 65, 1600],
        [186, 50448, 141, 27197],
        [5, 2493, 3, 2338],
        [27, 16886, 29, 17825],
    ],
    dtype=float,
)


def log_risk_ratios():
    a, b, c, d = BCG.T
    return np.log(a / (a + b) / (c / (c + d))), np.sqrt(1.0 / a - 1.0 / (a + b) + 1.0 / c - 1.0 / (c + d))


def test_published_values_of_metafor():
    found = random_effects(*log_risk_ratios())
    # rma(yi, vi, data = dat.bcg, method = "REML", test = "adhoc") of metafor 3.8.1, and its predict()
    assert found.value == pytest.approx(-0.714532348365, abs=1e-7)
    assert found.standard_error == pytest.approx(0.180791745519, abs=1e-7)
    assert found.tau**2 == pytest.approx(0.313243325981, abs=1e-6)
    assert found.i_squared == pytest.approx(0.92221386075, abs=1e-7)
    assert found.q == pytest.approx(152.233008082, abs=1e-8)
    assert found.interval == pytest.approx((-1.108443723, -0.32062097373), abs=1e-6)
    low, high = found.prediction_interval  # metafor's, -1.996 to 0.567, takes the estimated variance for the true one
    assert -2.4 < low < -1.9
    assert 0.5 < high < 0.9
    assert found._records()[0]["centres"] == 13


def minus_log_likelihood(tau2, y, v):
    w = 1.0 / (v + tau2)
    mean = np.sum(w * y) / np.sum(w)
    return 0.5 * (np.sum(np.log(v + tau2)) + math.log(np.sum(w)) + np.sum(w * (y - mean) ** 2))


@pytest.mark.parametrize("seed", range(20))
def test_variance_between_centres_has_the_highest_restricted_likelihood(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 15))
    errors = rng.uniform(0.05, 0.4, k)
    y = rng.normal(0.0, rng.choice([0.0, 0.1, 0.5]), k) + rng.normal(0.0, errors)
    found = random_effects(y, errors, confidence_level=0.9)
    grid = np.concatenate([[0.0], np.geomspace(1e-8, 10.0, 4000)])
    heights = [minus_log_likelihood(tau2, y, errors**2) for tau2 in grid]
    best = int(np.argmin(heights))
    if best:
        around = (grid[best - 1], grid[min(best + 1, len(grid) - 1)])
        best_tau2 = minimize_scalar(minus_log_likelihood, around, args=(y, errors**2), bounds=around).x
    else:
        best_tau2 = 0.0
    assert found.tau**2 == pytest.approx(best_tau2, rel=1e-3, abs=2e-8)
    w = 1.0 / (errors**2 + found.tau**2)
    mean = np.average(y, weights=w)
    factor = max(1.0, np.sum(w * (y - mean) ** 2) / (k - 1))
    error = math.sqrt(factor / w.sum())
    half = student.ppf(0.95, k - 1)
    assert found.interval == pytest.approx((mean - half * error, mean + half * error))
    assert 0.0 <= found.i_squared < 1.0


@pytest.mark.parametrize("k", [3, 6, 15])
def test_another_centre_is_expected_over_all_variances_that_may_be_true(k):
    """The definition by simulation: Q at the true variance is chi-square, and given it everything is normal."""
    rng = np.random.default_rng(k)
    errors = rng.uniform(0.1, 0.4, k)
    y = rng.normal(0.0, 0.3, k) + rng.normal(0.0, errors)

    def estimated(tau2):
        w = 1.0 / (errors**2 + tau2[:, None])
        total = w.sum(axis=1)
        return w, total, (w * y).sum(axis=1) / total

    goal, low, high = rng.chisquare(k - 1, 4000), np.zeros(4000), np.full(4000, 1e6)
    for _ in range(80):  # Q falls in the variance: halve until no digit is left
        middle = 0.5 * (low + high)
        w, _, mean = estimated(middle)
        above = (w * (y - mean[:, None]) ** 2).sum(axis=1) > goal
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    _, total, mean = estimated(low)
    mean = rng.normal(mean, 1.0 / np.sqrt(total), (50, 4000))
    drawn = rng.normal(mean, np.sqrt(low))
    found = random_effects(y, errors, confidence_level=0.8).prediction_interval
    reached = [np.mean(drawn < end) for end in found]
    assert reached == pytest.approx([0.1, 0.9], abs=0.012)


def test_centres_that_agree_are_one():
    found = random_effects([0.3, 0.3, 0.3, 0.3], [0.1, 0.1, 0.1, 0.1])
    assert (found.value, found.tau, found.i_squared, found.q) == pytest.approx((0.3, 0.0, 0.0, 0.0))
    assert found.standard_error == pytest.approx(0.05)
    assert found.prediction_interval == found.interval


@pytest.mark.parametrize(
    ("values", "errors", "message"),
    [
        ([0.1, 0.2], [0.1, 0.1], "at least 3 of them"),
        ([0.1, 0.2, 0.3], [0.1, 0.1], "must pair"),
        ([[0.1, 0.2, 0.3]], [[0.1, 0.1, 0.2]], "must pair"),
        ([0.1, 0.2, math.nan], [0.1, 0.1, 0.1], "values must be finite"),
        ([0.1, 0.2, 0.3], [0.1, 0.1, 0.0], "standard_errors > 0"),
        ([0.1, 0.2, 0.3], [0.1, 0.1, math.inf], "standard_errors > 0"),
    ],
)
def test_what_cannot_be_pooled_is_refused(values, errors, message):
    with pytest.raises(ValueError, match=message):
        random_effects(values, errors)


@pytest.mark.parametrize("errors", [[1e-9, 1.0, 1.0], [1e-6, 3e-4, 2.0, 0.7], [0.3, 0.2, 0.4, 0.5, 0.1]])
def test_share_of_the_spread_between_centres_holds_where_one_weight_is_nearly_all(errors):
    """Higgins and Thompson's typical variance, in exact numbers."""
    w = [1 / Fraction(error) ** 2 for error in errors]
    typical = (len(w) - 1) * sum(w) / (sum(w) ** 2 - sum(each**2 for each in w))
    found = random_effects(np.linspace(0.1, 5.0, len(w)), errors)
    assert found.tau > 0.0
    assert found.i_squared == pytest.approx(found.tau**2 / (found.tau**2 + float(typical)), rel=1e-9)


def test_the_variance_between_centres_is_the_highest_of_several_maxima():
    """Where centres are of very unequal sizes, the likelihood may fall at 0 and be highest far from it."""

    def likelihood(tau2, y, v):
        w = 1.0 / (v + tau2[:, None])
        mean = (w * y).sum(axis=1) / w.sum(axis=1)
        return 0.5 * (np.log(w).sum(axis=1) - np.log(w.sum(axis=1)) - (w * (y - mean[:, None]) ** 2).sum(axis=1))

    grid = np.concatenate([[0.0], np.geomspace(1e-6, 1e5, 2_001)])
    two_peaks = (
        [0.001, 0.246, 0.785, 0.241, 0.058, -90.4, 392.0, -9.63],
        [0.0449, 0.225, 0.579, 2.92, 0.0541, 11.4, 9.27, 0.919],
    )
    rng = np.random.default_rng(3)
    others = [(rng.standard_t(2, 6) * (errors := np.exp(rng.normal(0, 2, 6))), errors) for _ in range(20)]
    for values, errors in (two_peaks, *others):
        y, v = np.array(values), np.square(errors)
        found = random_effects(y, errors).tau
        best = likelihood(grid, y, v).max()
        assert likelihood(np.array([found**2]), y, v)[0] >= best - 1e-9
