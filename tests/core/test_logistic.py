"""The logistic fit against its definition, in blocks as in one piece."""

import numpy as np
import pytest

from stakes.core.logistic import fit_logistic


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
