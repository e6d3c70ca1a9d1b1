"""The likeliest mistakes in calls about uncertainty: each is refused by a message that names the argument."""

import numpy as np
import pytest

from stakes.uncertainty import (
    advise_uncertainty,
    beta_entropy,
    estimation_bias,
    from_bagging,
    from_ensemble,
    positivity_posterior,
)
from tests.mistakes import assert_named, table

NO_PRIOR = ["x", None, 3, (1,), (1, 2, 3), (0, 1), ("a", "b"), (-1, 1), ("1", "2")]


@pytest.mark.parametrize("value", NO_PRIOR, ids=repr)
def test_mistaken_priors_are_named(value):
    assert_named("true_prior", lambda: advise_uncertainty(true_prior=value, model_prior=(1, 1)))
    assert_named("model_prior", lambda: advise_uncertainty(true_prior=(1, 1), model_prior=value))
    assert_named("prior", lambda: positivity_posterior([1], [2], prior=value))
    assert_named("true_prior", lambda: estimation_bias([0.5], [2], true_prior=value, model_prior=(1, 1)))
    assert_named("model_prior", lambda: estimation_bias([0.5], [2], true_prior=(1, 1), model_prior=value))


@pytest.mark.parametrize("value", [90, "0.9", None, True, (0.1, 0.9)], ids=repr)
def test_a_mistaken_score_of_interest_is_named(value):
    assert_named("score", lambda: advise_uncertainty(true_prior=(1, 1), model_prior=(1, 1), score=value))


@pytest.mark.parametrize("value", ["x", None, -1, [1, 0], ["a"], [[1, 2], [1]], np.nan], ids=repr)
def test_mistaken_parameters_of_an_entropy_are_named(value):
    assert_named("alpha", lambda: beta_entropy(value, 1))
    assert_named("beta", lambda: beta_entropy(1, value))


@pytest.mark.parametrize(
    ("name", "value"),
    table(
        {
            "positives": ["x", None, -1, [1, 2, 3], ["a", "b"], [9, 9], np.nan],
            "n_examples": ["x", None, -1, ["a", "b"], np.nan],
            "undersampling": ["x", None, 0, True, (1, 2), np.inf],
        }
    ),
)
def test_mistaken_counts_are_named(name, value):
    given = {"positives": [1, 2], "n_examples": [2, 3], "prior": (1, 1)} | {name: value}
    assert_named(name, lambda: positivity_posterior(**given))


@pytest.mark.parametrize("value", ["x", None, 90, ["a", "b"], [0.1, 0.2, 0.3]], ids=repr)
def test_mistaken_scores_are_named(value):
    assert_named("score", lambda: estimation_bias(value, [2, 3], true_prior=(1, 1), model_prior=(1, 1)))


@pytest.mark.parametrize(
    "value",
    ["x", None, 3, [0.1, 0.2], [[0.1], [0.2, 0.3]], [["a"], ["b"]], [[50], [60]], [[0.1, np.nan], [0.1, 0.2]], [[0.1]]],
    ids=repr,
)
def test_mistaken_members_are_named(value):
    assert_named("member_probs", lambda: from_ensemble(value))


def test_mistakes_about_a_bag_are_named():
    ensemble, linear = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 2)), np.arange(60) % 2
    forest = ensemble.RandomForestClassifier(5, random_state=0).fit(X, y)
    for estimator in (linear.LogisticRegression(), None, ensemble.RandomForestClassifier, X):
        assert_named("estimator", lambda estimator=estimator: from_bagging(estimator, X))
    for rows in (X[:, :1], X[:, 0], None, "X"):
        assert_named("X must", lambda rows=rows: from_bagging(forest, rows))
    assert_named("out_of_bag", lambda: from_bagging(forest, X, out_of_bag="no"))
    assert_named("out_of_bag", lambda: from_bagging(forest, X[:5], out_of_bag=True))


def test_the_first_region_of_more_positives_than_examples_is_named():
    with pytest.raises(ValueError, match=r"got 4\.0 of 3\.0 at index 2"):
        positivity_posterior([2, 1, 4, 5], [2, 2, 3, 4], prior=(1, 1))


def test_a_mapping_of_members_is_refused_with_what_to_pass():
    members = {"first": [0.1, 0.6], "second": [0.3, 0.8]}
    with pytest.raises(
        ValueError, match=r"^member_probs must be an array .* mapping of .*list\(member_probs.values\(\)\)"
    ):
        from_ensemble(members)
    np.testing.assert_allclose(from_ensemble(list(members.values())).score, [0.2, 0.7])


def test_positivities_that_fit_no_region_are_named():
    posterior = positivity_posterior([3, 4], [10, 10], prior=(1, 1))
    assert_named("q", lambda: posterior.pdf([0.3, 0.5, 0.6]))
    assert_named("q", lambda: posterior.pdf([[0.3], [0.5]]))
    each = [positivity_posterior([s], [10], prior=(1, 1)).pdf([0.3, 0.5]) for s in (3, 4)]
    np.testing.assert_allclose(posterior.pdf([0.3, 0.5]), [each[0][0], each[1][1]])
    np.testing.assert_allclose(posterior.pdf(0.3), [each[0][0], each[1][0]])
