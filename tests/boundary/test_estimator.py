"""The scikit-learn classifier: held-out scores, prefit, uncertainties, the common checks."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks

from stakes.boundary import UncertaintyBoundaryClassifier, fit_boundary


def distance(estimator, X):
    """Tell how far from the centre a row is."""
    assert hasattr(estimator, "predict_proba")
    return np.asarray(abs(X if hasattr(X, "sum") else np.asarray(X)).sum(axis=1)).ravel()


@pytest.fixture(scope="module")
def data():
    return make_classification(800, n_features=6, weights=[0.7], flip_y=0.1, random_state=1)


def test_boundary_is_fitted_to_held_out_scores(data):
    X, y = data
    folds = StratifiedKFold(4)
    model = UncertaintyBoundaryClassifier(LogisticRegression(), distance, min_precision=0.85, cv=folds).fit(X, y)
    score = np.empty(len(y))
    for train, test in folds.split(X, y):
        score[test] = LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    expected = fit_boundary(y, score, distance(model, X), min_precision=0.85)
    assert model.boundary_.to_json() == expected.to_json()
    labels = expected.predict(model.estimator_.predict_proba(X)[:, 1], distance(model, X))
    assert np.array_equal(model.predict(X), labels)


def test_prefit_estimator_is_left_alone(data):
    X, y = data
    inner = LogisticRegression().fit(X[:400], y[:400])
    model = UncertaintyBoundaryClassifier(
        inner, distance, min_precision=0.8, cv="prefit", confidence_level=0.8, random_state=0
    ).fit(X[400:], y[400:])
    assert model.estimator_ is inner
    assert model.boundary_.certificate.tested_rows == 320


@pytest.mark.parametrize(
    "inner", [RandomForestClassifier(20, random_state=0), BaggingClassifier(DecisionTreeClassifier(), 8)]
)
def test_spread_of_the_members_is_the_default_uncertainty(data, inner):
    X, y = data
    names = np.array(["no", "yes"])
    model = UncertaintyBoundaryClassifier(inner, goal="f_beta", f_beta=1, pos_label="yes").fit(X, names[y])
    members = np.array([tree.predict_proba(X)[:, 1] for tree in model.estimator_.estimators_])
    labels = model.boundary_.predict(model.predict_proba(X), members.std(axis=0))
    assert np.array_equal(model.predict(X), names[labels])


def test_frames_are_accepted(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = UncertaintyBoundaryClassifier(RandomForestClassifier(5, random_state=0), min_precision=0.8).fit(frame, y)
    assert list(model.feature_names_in_) == list("abcdef")
    assert set(model.predict(frame)) <= {0, 1}


def boundary_of(model, X):
    return model.boundary_.predict(model.estimator_.predict_proba(X)[:, 1], spread_by_hand(model.estimator_, X))


def spread_by_hand(estimator, X):
    """Standard deviation between members, each asked about the features that it was given."""
    everything = [np.arange(X.shape[1])] * len(estimator.estimators_)
    features = getattr(estimator, "estimators_features_", everything)
    pairs = zip(estimator.estimators_, features, strict=True)
    return np.array([member.predict_proba(X[:, columns])[:, 1] for member, columns in pairs]).std(axis=0)


@pytest.mark.parametrize(
    "inner",
    [
        BaggingClassifier(DecisionTreeClassifier(max_depth=3), 8, max_features=3, random_state=0),
        VotingClassifier([("line", LogisticRegression()), ("bayes", GaussianNB())], voting="soft"),
        VotingClassifier([(str(k), RandomForestClassifier(4, random_state=k)) for k in range(3)], voting="soft"),
    ],
)
@pytest.mark.parametrize("prefit", [False, True])
def test_members_of_other_ensembles_and_of_some_features(data, inner, prefit):
    X, y = data
    options = {"min_precision": 0.8, "cv": "prefit" if prefit else 3}
    fitted = inner.fit(X[:300], y[:300]) if prefit else inner
    model = UncertaintyBoundaryClassifier(fitted, **options).fit(X[300:], y[300:])
    assert model.predict(X).any()
    assert np.array_equal(model.predict(X), boundary_of(model, X))


def test_members_that_know_the_names_of_columns_get_them(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    inner = VotingClassifier([("line", LogisticRegression()), ("bayes", GaussianNB())], voting="soft")
    model = UncertaintyBoundaryClassifier(inner, min_precision=0.8).fit(frame, y)
    assert np.array_equal(
        model.predict(frame), UncertaintyBoundaryClassifier(inner, min_precision=0.8).fit(X, y).predict(X)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"estimator": LogisticRegression()},
            "needs an ensemble of at least two classifiers .* got LogisticRegression",
        ),
        ({"estimator": GradientBoostingClassifier(n_estimators=3)}, "got GradientBoostingClassifier"),
        ({"estimator": VotingClassifier([("a", GaussianNB())], voting="soft")}, "got VotingClassifier"),
        ({"estimator": RandomForestClassifier(1)}, "at least two members"),
        ({"uncertainty": "entropy"}, "uncertainty must be a function"),
        ({"cv": "prefitted"}, "cv must be a number of folds"),
        ({"estimator": RandomForestClassifier(2), "min_precision": 2}, "min_precision must lie in"),
    ],
)
def test_bad_parameters_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        UncertaintyBoundaryClassifier(**options).fit(*data)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "inner",
    [
        (LogisticRegression(), distance),
        pytest.param((RandomForestClassifier(3, random_state=0),), marks=pytest.mark.thorough),
    ],
)
def test_classifier_keeps_the_contract_of_scikit_learn(inner):
    if not hasattr(sklearn.utils, "get_tags"):
        pytest.skip("the checks that may be expected to fail came with scikit-learn 1.6.")
    model = UncertaintyBoundaryClassifier(*inner)
    expected = {
        "check_classifiers_train": "it asks for decisions at probability one half.",
        "check_classifiers_classes": "texts name no positive class, and pos_label is left out.",
    }
    results = estimator_checks.check_estimator(model, expected_failed_checks=expected, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} <= set(expected)


def test_prefit_estimator_of_other_classes_is_refused(data):
    X, y = data
    inner = RandomForestClassifier(10, random_state=0).fit(X[:300], y[:300])
    named = np.where(y == 1, "yes", "no")
    with pytest.raises(ValueError, match=r"must hold the classes that the estimator was fitted to, \[0, 1\], got"):
        UncertaintyBoundaryClassifier(inner, cv="prefit", min_precision=0.8, pos_label="yes").fit(X[300:], named[300:])


def test_prefit_without_an_estimator_is_refused(data):
    with pytest.raises(ValueError, match=r"^estimator must be fitted for cv='prefit', got None\."):
        UncertaintyBoundaryClassifier(cv="prefit", min_precision=0.8).fit(*data)


@pytest.mark.parametrize("cv", [5, "prefit"])
def test_an_uncertainty_of_the_wrong_axis_is_refused(data, cv):
    X, y = data
    inner = LogisticRegression() if cv == 5 else LogisticRegression().fit(X, y)
    rows = 160 if cv == 5 else 800
    with pytest.raises(ValueError, match=f"^uncertainty must give one value per row, got 2 for {rows} rows"):
        UncertaintyBoundaryClassifier(
            inner, lambda model, X: model.predict_proba(X).std(axis=0), min_precision=0.8, cv=cv
        ).fit(X, y)
    model = UncertaintyBoundaryClassifier(
        inner, lambda model, X: distance(model, X) if len(X) > 3 else [0.1, 0.2], min_precision=0.8, cv=cv
    ).fit(X, y)
    with pytest.raises(ValueError, match="got 2 for 3 rows"):
        model.predict(X[:3])
