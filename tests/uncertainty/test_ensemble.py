"""Uncertainty of ensembles against its definitions, and of scikit-learn's against what scikit-learn reports."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from stakes.uncertainty import from_bagging, from_ensemble

PROBS = arrays(float, st.tuples(st.integers(2, 6), st.integers(1, 5)), elements=st.floats(0, 1))
X, Y = make_classification(200, n_features=6, flip_y=0.2, random_state=0)


@given(PROBS)
def test_entropies_are_those_of_the_member_and_of_the_mean_distribution(members):
    found = from_ensemble(members)
    for row in range(members.shape[1]):
        p = members[:, row]
        total = entropy([p.mean(), 1 - p.mean()])
        expected = np.mean([entropy([v, 1 - v]) for v in p])
        assert found.total_entropy[row] == pytest.approx(total, abs=1e-12)
        assert found.expected_entropy[row] == pytest.approx(expected, abs=1e-12)
        # mutual information is the mean divergence of the members from the mean
        divergence = np.mean([entropy([v, 1 - v], [p.mean(), 1 - p.mean()]) for v in p if 0 < p.mean() < 1] or [0.0])
        assert found.mutual_information[row] == pytest.approx(divergence, abs=1e-9)
        assert found.variance[row] == pytest.approx(np.var(p), abs=1e-12)


def test_two_columns_mean_the_second():
    one = np.array([[0.2, 0.7], [0.4, 0.9], [0.1, 0.1]])
    both = np.stack([1 - one, one], axis=2)
    np.testing.assert_allclose(from_ensemble(both).score, from_ensemble(one).score)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("shape", [(40, 2), (40, 3), (2, 40), (3, 3)])  # two members, three, the other way, square
def test_a_frame_is_refused_for_its_columns_or_its_rows_may_be_the_members(library, shape):
    probs = np.random.default_rng(0).random(shape)
    frame = pytest.importorskip(library).DataFrame({f"m{k}": column for k, column in enumerate(probs.T)})
    with pytest.raises(ValueError, match=r"^member_probs must be an array .* \.to_numpy\(\)\.T where these"):
        from_ensemble(frame)
    np.testing.assert_allclose(from_ensemble(frame.to_numpy().T).score, probs.mean(axis=1))
    np.testing.assert_allclose(from_ensemble(frame.to_numpy()).score, probs.mean(axis=0))


def test_table_holds_one_record_for_each_row():
    assert [record["score"] for record in from_ensemble([[0.0, 0.5], [1.0, 0.5]])._records()] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([0.1, 0.2], r"shape \(n_members, n\)"),
        ([[0.1, 0.2]], "at least two members"),
        ([[0.1, 0.2], [0.3, 1.5]], "1.5 by member 1 in row 1"),
        ([[0.1], [np.nan]], "nan by member 1 in row 0"),
        ([[[0.5, 0.4]], [[0.5, 0.5]]], "sum to 1"),
    ],
)
def test_bad_members_are_refused(members, message):
    with pytest.raises(ValueError, match=message):
        from_ensemble(members)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(20, random_state=0),
        ExtraTreesClassifier(20, random_state=0, min_samples_leaf=5),
        BaggingClassifier(n_estimators=20, max_features=0.5, random_state=0),
        BaggingClassifier(LogisticRegression(), n_estimators=5, random_state=0),
    ],
    ids=["forest", "extra trees", "feature subsets", "no trees"],
)
def test_score_is_the_probability_that_scikit_learn_predicts(model):
    labels = np.where(Y == 1, "yes", "no")
    found = from_bagging(model.fit(X, labels), X, pos_label="yes")
    np.testing.assert_allclose(found.score, model.predict_proba(X)[:, 1], atol=1e-12)
    assert (found.evidence is None) == isinstance(getattr(model, "estimator", None), LogisticRegression)


def test_out_of_bag_score_is_that_of_scikit_learn():
    for model in (
        RandomForestClassifier(60, oob_score=True, random_state=0),
        BaggingClassifier(n_estimators=60, oob_score=True, random_state=0),
    ):
        model.fit(X, Y)
        found = from_bagging(model, X, out_of_bag=True)
        np.testing.assert_allclose(found.score, model.oob_decision_function_[:, 1], atol=1e-12)
        assert found.n_members.max() < 60
        assert found.n_members.mean() / 60 == pytest.approx(np.exp(-1), abs=0.03)


def test_members_that_drew_rows_without_replacement_left_rows_out_too():
    model = BaggingClassifier(n_estimators=30, max_samples=0.5, bootstrap=False, random_state=0).fit(X, Y)
    found = from_bagging(model, X, out_of_bag=True)
    unseen = np.array([~np.isin(np.arange(200), rows) for rows in model.estimators_samples_])
    np.testing.assert_array_equal(found.n_members, unseen.sum(axis=0))
    probs = np.array([tree.predict_proba(X)[:, 1] for tree in model.estimators_])
    np.testing.assert_allclose(found.score, np.where(unseen, probs, 0).sum(axis=0) / unseen.sum(axis=0))


def test_leaf_evidence_counts_the_training_rows_of_the_leaf():
    model = RandomForestClassifier(7, bootstrap=False, max_depth=2, random_state=0).fit(X, Y)
    leaves, trained = model.apply(X[:9]), model.apply(X)
    counts = [[np.sum(trained[:, t] == leaf) for t, leaf in enumerate(row)] for row in leaves]
    np.testing.assert_allclose(from_bagging(model, X[:9]).evidence, np.mean(counts, axis=1))


def test_out_of_bag_evidence_is_the_mean_over_the_same_members_as_the_score():
    model = RandomForestClassifier(40, max_depth=3, random_state=0).fit(X, Y)
    found = from_bagging(model, X, out_of_bag=True).evidence
    for row in (0, 7, 199):
        unseen = [t for t, rows in zip(model.estimators_, model.estimators_samples_, strict=True) if row not in rows]
        leaves = [t.tree_.weighted_n_node_samples[t.apply(X[[row]])[0]] for t in unseen]
        assert found[row] == pytest.approx(np.mean(leaves))


def test_member_whose_sample_lacked_the_positive_class_says_zero():
    y = np.zeros(200, dtype=int)
    y[:1] = 1
    model = BaggingClassifier(KNeighborsClassifier(1), n_estimators=8, random_state=0).fit(X, y)
    assert min(len(member.classes_) for member in model.estimators_) == 1
    np.testing.assert_allclose(from_bagging(model, X).score, model.predict_proba(X)[:, 1])


def test_columns_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = RandomForestClassifier(3, random_state=0).fit(frame, Y)
    np.testing.assert_allclose(from_bagging(model, frame).score, model.predict_proba(frame)[:, 1])
    with pytest.raises(ValueError, match="columns of the fit"):
        from_bagging(model, frame[list("fedcba")])


def test_what_cannot_be_answered_is_refused():
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="use more members"):
        from_bagging(forest, X, out_of_bag=True)
    with pytest.raises(ValueError, match="200 rows of the fit, got 10"):
        from_bagging(forest, X[:10], out_of_bag=True)
    with pytest.raises(ValueError, match="6 columns"):
        from_bagging(forest, X[:, :3])
    with pytest.raises(ValueError, match="bootstrap=True"):
        from_bagging(ExtraTreesClassifier(3).fit(X, Y), X, out_of_bag=True)
    del forest._n_samples  # as in BalancedRandomForestClassifier
    with pytest.raises(
        ValueError, match="each member saw, which RandomForestClassifier does not keep: pass out_of_bag=F"
    ):
        from_bagging(forest, X, out_of_bag=True)
    with pytest.raises(ValueError, match="two classes"):
        from_bagging(RandomForestClassifier(3).fit(X, np.arange(200) % 3), X)
    with pytest.raises(TypeError, match="from_ensemble"):
        from_bagging(GradientBoostingClassifier(n_estimators=3).fit(X, Y), X)
