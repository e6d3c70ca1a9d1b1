"""Loss matrices: identity with the forward map, eigenvectors, minimised losses, zeros, misfit."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from stakes.correction import apply_loss_matrix, undo_class_weight, undo_loss_matrix


def random_case(rng, rows=4):
    k = int(rng.integers(2, 8))
    beta = np.exp(rng.uniform(-3, 3, (k, k)))
    g = rng.dirichlet(np.full(k, rng.choice([0.1, 1.0, 5.0])), rows)
    g[0] = np.eye(k)[rng.integers(k)]
    if k > 2:
        g[1, rng.integers(k)] = 0.0
    return beta, g / g.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("count", [500, pytest.param(5000, marks=pytest.mark.thorough)])
def test_inverse_after_forward_is_the_identity_for_random_matrices(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        beta, g = random_case(rng)
        back, misfit = undo_loss_matrix(apply_loss_matrix(g, beta), beta, return_misfit=True)
        assert np.abs(back - g).max() <= 1e-12
        assert misfit.max() <= 1e-12
        assert np.array_equal(back == 0.0, g == 0.0)


def test_scores_that_no_posterior_has_give_the_eigenvector_and_the_root():
    rng = np.random.default_rng(1)
    for _ in range(200):
        k = int(rng.integers(2, 6))
        beta, scores = np.exp(rng.normal(size=(k, k))), rng.uniform(0.05, 1.0, (1, k))
        found, misfit = undo_loss_matrix(scores, beta, return_misfit=True)
        matrix = scores.T * beta.T / np.diag(beta)[:, None]
        values, vectors = np.linalg.eig(matrix)
        top = np.argmax(values.real)
        vector = np.abs(vectors[:, top].real)
        assert found[0] == pytest.approx(vector / vector.sum(), abs=1e-11)
        assert misfit[0] == pytest.approx(abs(values[top].real - 1.0), abs=1e-12)


def test_scores_off_the_image_are_divided_by_the_root():
    rng = np.random.default_rng(2)
    beta = np.exp(rng.normal(size=(3, 3)))
    scores = np.array([[0.5, 0.2, 0.4]])
    matrix = scores.T * beta.T / np.diag(beta)[:, None]
    root = np.max(np.linalg.eigvals(matrix).real)
    found = undo_loss_matrix(scores, beta)
    assert apply_loss_matrix(found, beta) == pytest.approx(scores / root, abs=1e-12)


def test_forward_map_minimises_each_coordinates_loss():
    beta, g = np.array([[2.0, 0.5, 1.0], [1.5, 3.0, 0.25], [1.0, 1.0, 4.0]]), np.array([0.6, 0.3, 0.1])
    for k in range(3):
        others = sum(g[y] * beta[y, k] for y in range(3) if y != k)
        best = minimize_scalar(
            lambda a, k=k, others=others: -g[k] * beta[k, k] * np.log(a) - others * np.log1p(-a),
            bounds=(1e-9, 1 - 1e-9),
            method="bounded",
            options={"xatol": 1e-11},
        ).x
        assert apply_loss_matrix([g], beta)[0, k] == pytest.approx(best, abs=1e-6)


def test_row_constant_weights_are_class_weights():
    rng = np.random.default_rng(3)
    weights = np.array([1.0, 2.5, 6.0, 0.3])
    scores = rng.dirichlet(np.ones(4), 50)
    beta = np.repeat(weights[:, None], 4, axis=1)
    assert undo_loss_matrix(scores, beta) == pytest.approx(undo_class_weight(scores, class_weight=weights), abs=1e-13)
    # scores 0.9 times as large have the same posterior, and the misfit says so
    found, misfit = undo_loss_matrix(0.9 * scores, beta, return_misfit=True)
    assert found == pytest.approx(undo_class_weight(scores, class_weight=weights), abs=1e-13)
    assert misfit == pytest.approx(0.1, abs=1e-13)


def test_column_constant_weights_distort_nothing():
    scores = np.random.default_rng(4).dirichlet(np.ones(3), 20)
    beta = np.repeat([[1.0, 7.0, 0.2]], 3, axis=0)
    assert undo_loss_matrix(scores, beta) == pytest.approx(scores, abs=1e-14)


def test_one_vs_rest_weights_have_the_closed_form_of_separate_columns():
    weights = np.array([1.0, 3.0, 5.0])
    beta = np.ones((3, 3))
    beta[np.diag_indices(3)] = weights
    g = np.random.default_rng(5).dirichlet(np.ones(3), 50)
    scores = apply_loss_matrix(g, beta)
    assert undo_class_weight(scores, pos_weight=weights) == pytest.approx(g, abs=1e-14)
    assert undo_loss_matrix(scores, beta) == pytest.approx(g, abs=1e-13)


def test_zeros_drop_out_and_tiny_scores_keep_their_digits():
    beta = np.exp(np.random.default_rng(6).normal(size=(4, 4)))
    g = np.array([[0.7, 0.3 - 1e-200, 0.0, 1e-200], [1.0, 0.0, 0.0, 0.0]])
    found = undo_loss_matrix(apply_loss_matrix(g, beta), beta)
    assert found[0, 3] == pytest.approx(1e-200, rel=1e-11)
    assert found[0, 2] == 0.0
    assert found[1].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert undo_loss_matrix([[5e-324, 0.5, 0.0, 0.2]], beta)[0].sum() == pytest.approx(1.0)


def test_every_block_of_rows_is_solved():
    rng = np.random.default_rng(7)
    beta = np.exp(rng.normal(size=(10, 10)))
    g = rng.dirichlet(np.ones(10), 6000)
    assert undo_loss_matrix(apply_loss_matrix(g, beta), beta) == pytest.approx(g, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "beta", "message"),
    [
        ([[0.5, 0.5]], [[1.0, 0.0], [1.0, 1.0]], r"beta must be > 0 and finite .* got 0 at \[0, 1\]"),
        ([[0.5, 0.5]], [[1.0, 2.0]], r"beta must have shape \(2, 2\)"),
        ([[0.5, 0.5], [0.0, 0.0]], np.ones((2, 2)), "a positive score in every row, got zeros in row 1"),
        ([[0.5, 1.5]], np.ones((2, 2)), r"y_prob must lie in \[0, 1\]"),
        ([0.5, 0.5], np.ones((2, 2)), r"y_prob must have shape \(n, classes\)"),
    ],
)
def test_bad_input_is_refused(scores, beta, message):
    with pytest.raises(ValueError, match=message):
        undo_loss_matrix(scores, beta)
