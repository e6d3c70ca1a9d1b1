"""LossCorrectedClassifier: the contract of scikit-learn, what it reads, what it refuses, searches, routing."""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, NuSVC
from sklearn.utils import estimator_checks

import stakes.correction
from stakes.correction import LossCorrectedClassifier, correct_probabilities, shift_prior, undo_class_weight

# scikit-learn takes a parameter of this name for a weight to fit with; here it says what to undo
OTHER_MEANING = {"check_class_weight_classifiers": "class_weight says what to undo, not how to fit"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [LossCorrectedClassifier(), LossCorrectedClassifier(GaussianNB())])
def test_classifier_keeps_the_contract_of_scikit_learn(model):
    if not hasattr(sklearn.utils, "get_tags"):
        estimator_checks.check_estimator(model)  # before 1.6 a tag names the check that cannot pass
        return
    results = estimator_checks.check_estimator(model, expected_failed_checks=OTHER_MEANING, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(OTHER_MEANING)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(1200, 6, n_informative=4, weights=[0.85], flip_y=0.1, random_state=3)
    return X[:800], y[:800], X[800:], y[800:]


@pytest.fixture(scope="module")
def three():
    X, y = make_classification(900, 6, n_informative=4, n_classes=3, weights=[0.7, 0.2], random_state=4)
    return X[:600], y[:600], X[600:]


def corrected_by_hand(model, X, **stated):
    return undo_class_weight(model.predict_proba(X), **stated)


@pytest.mark.parametrize("weight", [{0: 1, 1: 9}, {1: 9}, "balanced"])
def test_class_weight_is_read(data, weight):
    X, y, other, truth = data
    plain = LogisticRegression(class_weight=weight).fit(X, y)
    model = LossCorrectedClassifier(LogisticRegression(class_weight=weight)).fit(X, y)
    expected = corrected_by_hand(plain, other, class_weight=weight, y_train=y)
    assert model.predict_proba(other) == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(model.predict(other), (expected[:, 1] > 0.5).astype(int))
    assert model.sources_ == [f"LogisticRegression: class_weight={weight!r}"]
    before, after = (m.predict_proba(other)[:, 1] for m in (plain, model))
    assert roc_auc_score(truth, after) == roc_auc_score(truth, before)


def test_corrected_model_is_close_to_the_unweighted_one(data):
    X, y, other, _ = data
    unweighted = LogisticRegression().fit(X, y).predict_proba(other)[:, 1]
    weighted = LogisticRegression(class_weight={1: 9})
    raw = clone(weighted).fit(X, y).predict_proba(other)[:, 1]
    corrected = LossCorrectedClassifier(weighted).fit(X, y).predict_proba(other)[:, 1]
    assert np.abs(corrected - unweighted).mean() < 0.1 * np.abs(raw - unweighted).mean()


def test_weights_of_the_samples_that_are_class_weights_are_undone(data):
    X, y, other, _ = data
    weight = np.where(y == 1, 9.0, 1.0)
    model = LossCorrectedClassifier().fit(X, y, sample_weight=weight)
    expected = LossCorrectedClassifier(LogisticRegression(class_weight={1: 9})).fit(X, y)
    assert model.predict_proba(other) == pytest.approx(expected.predict_proba(other), abs=1e-6)
    assert model.class_weight_[1] / model.class_weight_[0] == pytest.approx(9.0)


def test_weights_that_vary_within_classes_describe_the_population(data):
    X, y, other, _ = data
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    model = LossCorrectedClassifier().fit(X, y, sample_weight=weight)
    plain = LogisticRegression().fit(X, y, sample_weight=weight)
    assert model.predict_proba(other) == pytest.approx(plain.predict_proba(other), abs=1e-12)
    with pytest.warns(UserWarning, match="taken to describe the population"):
        LossCorrectedClassifier().fit(X, y, sample_weight=weight * np.where(y == 1, 9.0, 1.0))


def test_statement_stands_above_what_could_be_read(data):
    X, y, other, _ = data
    weighted = LogisticRegression(class_weight={1: 9}).fit(X, y)
    for stated, expected in (
        (None, weighted.predict_proba(other)),
        ({1: 4}, corrected_by_hand(weighted, other, class_weight={1: 4})),
        ([1, 4], corrected_by_hand(weighted, other, class_weight={1: 4})),
        ("balanced", corrected_by_hand(weighted, other, class_weight="balanced", y_train=y)),
    ):
        model = LossCorrectedClassifier(LogisticRegression(class_weight={1: 9}), stated).fit(X, y)
        assert model.predict_proba(other) == pytest.approx(expected, abs=1e-12)
        assert model.sources_ == []


def test_sampling_and_prior_enter_the_one_formula(data):
    X, y, other, _ = data
    model = LossCorrectedClassifier(LogisticRegression(class_weight={1: 9}), keep={0: 0.2}, prior=0.01).fit(X, y)
    raw = LogisticRegression(class_weight={1: 9}).fit(X, y).predict_proba(other)
    expected = correct_probabilities(raw, class_weight={1: 9}, keep={0: 0.2}, training_prior=y.mean(), prior=0.01)
    assert model.predict_proba(other) == pytest.approx(expected, abs=1e-12)


def test_prior_counts_weights_only_where_they_describe_the_population(data):
    X, y, other, _ = data
    weight = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    model = LossCorrectedClassifier(prior=0.3).fit(X, y, sample_weight=weight)
    raw = LogisticRegression().fit(X, y, sample_weight=weight).predict_proba(other)
    expected = shift_prior(raw, training_prior=np.average(y, weights=weight), prior=0.3)
    assert model.predict_proba(other) == pytest.approx(expected, abs=1e-12)
    weight = np.where(y == 1, 9.0, 1.0)
    model = LossCorrectedClassifier(prior=0.3).fit(X, y, sample_weight=weight)
    raw = LogisticRegression().fit(X, y, sample_weight=weight).predict_proba(other)
    expected = correct_probabilities(raw, class_weight={1: 9}, training_prior=y.mean(), prior=0.3)
    assert model.predict_proba(other) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("per_class", [(1.0, 1.0), (1.0, 9.0)])
def test_prior_does_not_count_rows_of_weight_zero(data, per_class):
    X, y, _, _ = data
    kept = (y == 1) | (np.arange(len(y)) % 3 == 0)  # two thirds of the negatives are absent
    weight = np.where(y == 1, per_class[1], per_class[0])
    found = LossCorrectedClassifier(prior=0.3).fit(X, y, sample_weight=weight * kept)
    expected = LossCorrectedClassifier(prior=0.3).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert found.factors_ == pytest.approx(expected.factors_, rel=1e-12)
    assert found.factors_[1] / found.factors_[0] == pytest.approx(
        0.3 / 0.7 * (y[kept] == 0).sum() / (y[kept] == 1).sum() * per_class[0] / per_class[1], rel=1e-12
    )


def test_several_classes_and_labels_that_are_words(three):
    X, y, other = three
    words = np.array(["c", "a", "b"])[y]
    weight = {"a": 5.0, "b": 2.0, "c": 1.0}
    model = LossCorrectedClassifier(LogisticRegression(class_weight=weight)).fit(X, words)
    raw = LogisticRegression(class_weight=weight).fit(X, words).predict_proba(other)
    expected = raw / [5.0, 2.0, 1.0]
    expected /= expected.sum(axis=1, keepdims=True)
    assert model.predict_proba(other) == pytest.approx(expected, abs=1e-12)
    assert set(model.predict(other)) <= {"a", "b", "c"}


def test_pipelines_and_searches_are_followed(data):
    X, y, other, _ = data
    inner = make_pipeline(StandardScaler(), LogisticRegression(class_weight={1: 9}))
    expected = corrected_by_hand(clone(inner).fit(X, y), other, class_weight={1: 9})
    assert LossCorrectedClassifier(inner).fit(X, y).predict_proba(other) == pytest.approx(expected, abs=1e-12)
    search = GridSearchCV(inner, {"logisticregression__class_weight": [{1: 9}]}, cv=2)
    assert LossCorrectedClassifier(search).fit(X, y).predict_proba(other) == pytest.approx(expected, abs=1e-12)
    weight = np.where(y == 1, 9.0, 1.0)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    model = LossCorrectedClassifier(pipeline).fit(X, y, sample_weight=weight)
    assert model.predict_proba(other) == pytest.approx(expected, abs=1e-6)


def test_it_works_inside_a_pipeline_and_a_search(data):
    X, y, other, _ = data
    whole = make_pipeline(StandardScaler(), LossCorrectedClassifier(LogisticRegression(class_weight={1: 9})))
    search = GridSearchCV(
        whole,
        {
            "losscorrectedclassifier__estimator__C": [0.1, 1.0],
            "losscorrectedclassifier__class_weight": ["auto", None],
        },
        scoring="neg_log_loss",
        cv=3,
    ).fit(X, y)
    assert search.best_params_["losscorrectedclassifier__class_weight"] == "auto"
    assert search.predict_proba(other).shape == (len(other), 2)
    held_out = cross_val_predict(whole, X, y, cv=3, method="predict_proba")
    assert held_out[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)


def test_weights_are_routed(data):
    X, y, _, _ = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = LossCorrectedClassifier(LogisticRegression().set_fit_request(sample_weight=True))
        model = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"estimator__C": [0.1, 1.0]}, cv=2)
        search.fit(X, y, sample_weight=np.where(y == 1, 4.0, 1.0))
        assert search.best_estimator_.sources_ == ["sample_weight, constant within classes"]
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, LogisticRegression().set_fit_request(sample_weight=True))
        inner = LossCorrectedClassifier(pipeline).fit(X, y, sample_weight=np.where(y == 1, 4.0, 1.0))
    assert inner.class_weight_[1] / inner.class_weight_[0] == pytest.approx(4.0)


def test_prefit_model_is_left_alone(data):
    X, y, other, _ = data
    fitted = LogisticRegression(class_weight={1: 9}).fit(X, y)
    model = LossCorrectedClassifier(fitted, prefit=True).fit(X[:50], y[:50])
    assert model.estimator_ is fitted
    assert model.predict_proba(other) == pytest.approx(corrected_by_hand(fitted, other, class_weight={1: 9}))


def test_frozen_estimator_is_left_alone(data):
    frozen = pytest.importorskip("sklearn.frozen", reason="FrozenEstimator came with scikit-learn 1.6")
    X, y, other, _ = data
    fitted = LogisticRegression(class_weight={1: 9}).fit(X, y)
    model = LossCorrectedClassifier(frozen.FrozenEstimator(fitted)).fit(X[:50], y[:50])
    assert model.predict_proba(other) == pytest.approx(corrected_by_hand(fitted, other, class_weight={1: 9}))
    with pytest.raises(ValueError, match="how the prefit LogisticRegression was trained cannot be seen"):
        LossCorrectedClassifier(frozen.FrozenEstimator(LogisticRegression().fit(X, y))).fit(X, y)


class Silent(ClassifierMixin, BaseEstimator):
    """A classifier of unknown make, which says nothing of weights."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


class Spoken(Silent):
    """One that takes a ratio."""

    def __init__(self, scale_pos_weight=None):
        self.scale_pos_weight = scale_pos_weight


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (Silent(), "whether Silent weights or resamples the classes cannot be seen"),
        (GaussianNB(priors=[0.5, 0.5]), "GaussianNB was given priors"),
        (BernoulliNB(fit_prior=False), "BernoulliNB was given fit_prior=False"),
        (
            BaggingClassifier(GaussianNB(priors=[0.5, 0.5]), 2, random_state=0),
            "BaggingClassifier was given estimator__priors",
        ),
        (make_pipeline(MinMaxScaler(), ComplementNB()), "ComplementNB in ComplementNB takes no account of the shares"),
        (
            VotingClassifier([("a", make_pipeline(MinMaxScaler(), ComplementNB()))], voting="soft"),
            "ComplementNB in Voting",
        ),
        (
            CalibratedClassifierCV(LogisticRegression(class_weight="balanced")),
            "what CalibratedClassifierCV makes of estimator__class_weight='balanced'",
        ),
    ],
)
def test_what_cannot_be_known_is_refused_with_what_to_pass(data, estimator, message):
    X, y, other, _ = data
    with pytest.raises(ValueError, match=message) as caught:
        LossCorrectedClassifier(estimator).fit(X, y)
    assert "Pass class_weight={label: weight}" in str(caught.value)
    stated = LossCorrectedClassifier(estimator, {0: 1, 1: 3}).fit(X, y)
    raw = clone(estimator).fit(X, y).predict_proba(other)
    assert stated.predict_proba(other) == pytest.approx(undo_class_weight(raw, scale_pos_weight=3))


@pytest.fixture(scope="module")
def weighted():
    """Rows whose events have a known probability, and weights that are constant within the classes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 2))
    y = (rng.random(800) < 1.0 / (1.0 + np.exp(2.2 - X.sum(axis=1)))).astype(int)
    return X, y, np.where(y == 1, 8.0, 1.0)


@pytest.mark.filterwarnings("ignore")  # scikit-learn 1.8 deprecates probability=
@pytest.mark.parametrize(
    "estimator",
    [
        SVC(probability=True),
        NuSVC(nu=0.2, probability=True),
        GridSearchCV(SVC(probability=True), {"C": [1.0]}, cv=2),
        VotingClassifier([("a", SVC(probability=True)), ("b", LogisticRegression())], voting="soft"),
        StackingClassifier([("a", LogisticRegression())], SVC(probability=True), cv=2),
        VotingClassifier(
            [("a", StackingClassifier([("b", LogisticRegression())], SVC(probability=True), cv=2))], voting="soft"
        ),
    ],
)
def test_probabilities_that_are_refitted_without_weights_are_refused(weighted, estimator):
    X, y, weight = weighted
    with pytest.raises(ValueError, match="SVC fits its probabilities afresh, without sample_weight"):
        LossCorrectedClassifier(estimator).fit(X, y, sample_weight=weight)
    same = np.full(len(y), 0.1)  # weighs no class more than another
    assert LossCorrectedClassifier(estimator).fit(X, y, sample_weight=same).factors_.tolist() == [1.0, 1.0]
    stated = LossCorrectedClassifier(estimator, class_weight=None).fit(X, y, sample_weight=weight)
    assert stated.predict_proba(X) == pytest.approx(stated.estimator_.predict_proba(X), abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_named_weights_that_refitted_probabilities_never_had_are_refused(weighted):
    X, y, _ = weighted
    with pytest.raises(ValueError, match="SVC fits its probabilities afresh, without class_weight='balanced'"):
        LossCorrectedClassifier(SVC(probability=True, class_weight="balanced")).fit(X[:200], y[:200])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        CalibratedClassifierCV(SVC(), cv=3),
        CalibratedClassifierCV(SVC(probability=True), cv=3),
        StackingClassifier([("a", SVC(probability=True))], LogisticRegression(), cv=3),
        VotingClassifier([("a", CalibratedClassifierCV(SVC(probability=True), cv=3))], voting="soft"),
        VotingClassifier([("a", StackingClassifier([("b", SVC(probability=True))], cv=3))], voting="soft"),
    ],
)
def test_weights_that_the_last_fit_has_are_undone(weighted, estimator):
    X, y, weight = weighted
    model = LossCorrectedClassifier(estimator).fit(X, y, sample_weight=weight)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)
    assert model.estimator_.predict_proba(X)[:, 1].mean() > 2 * y.mean()


def test_calibrator_around_an_unweighted_model_needs_nothing(data):
    X, y, other, _ = data
    inner = CalibratedClassifierCV(LogisticRegression(), cv=2)
    model = LossCorrectedClassifier(inner).fit(X, y)
    assert model.predict_proba(other) == pytest.approx(clone(inner).fit(X, y).predict_proba(other), abs=1e-12)


@pytest.mark.parametrize("ratio", [None, 1, 7.0])
def test_ratio_of_any_make_is_read(data, ratio):
    X, y, other, _ = data
    found = LossCorrectedClassifier(Spoken(ratio)).fit(X, y).predict_proba(other)[0, 1]
    assert found == pytest.approx(1 / (1 + (ratio or 1)))


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (LogisticRegression(), {}, "how the prefit LogisticRegression was trained cannot be seen"),
        (LogisticRegression(class_weight="balanced"), {}, "depends on the labels of the training"),
    ],
)
def test_prefit_model_whose_weight_cannot_be_seen_is_refused(data, estimator, options, message):
    X, y, other, _ = data
    fitted = clone(estimator).fit(X, y)
    with pytest.raises(ValueError, match=message):
        LossCorrectedClassifier(fitted, prefit=True, **options).fit(X, y)
    model = LossCorrectedClassifier(fitted, {1: 2}, prefit=True).fit(X, y)
    assert model.predict_proba(other) == pytest.approx(corrected_by_hand(fitted, other, class_weight={1: 2}))


def test_prefit_model_takes_no_weights(data):
    X, y, _, _ = data
    fitted = LogisticRegression(class_weight={1: 9}).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight cannot reach an estimator that is fitted already"):
        LossCorrectedClassifier(fitted, prefit=True).fit(X, y, sample_weight=np.ones(len(y)))


def test_prefit_model_with_stated_sampling(data):
    X, y, other, _ = data
    fitted = LogisticRegression().fit(X, y)
    model = LossCorrectedClassifier(fitted, keep={0: 0.1}, prefit=True).fit(X, y)
    assert model.predict_proba(other) == pytest.approx(corrected_by_hand(fitted, other, scale_pos_weight=10))
    balanced = LogisticRegression(class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="depends on the labels of the training"):
        LossCorrectedClassifier(balanced, keep={0: 0.1}, prefit=True).fit(X, y)


def test_balanced_that_is_stated_is_ambiguous_with_weights_of_unlike_totals(data):
    x, y = data[0][:400], data[1][:400]
    balanced, weight = (
        LogisticRegression(class_weight="balanced", C=1e6),
        np.where(y == 1, 1.0 + np.arange(400) % 3, 1.0),
    )
    with pytest.raises(
        ValueError, match=r'^whether class_weight="balanced" counts rows or sample_weight cannot be seen'
    ):
        LossCorrectedClassifier(balanced, class_weight="balanced").fit(x, y, sample_weight=weight)
    # of equal weights both are one
    found = LossCorrectedClassifier(balanced, class_weight="balanced").fit(x, y, sample_weight=np.full(400, 2.0))
    np.testing.assert_allclose(found.class_weight_, 400 / (2.0 * np.bincount(y.astype(int))))


def test_one_class_is_refused_before_the_estimator_is_fitted():
    with pytest.raises(ValueError, match=r"^y must hold two classes or more, got one class only: "):
        LossCorrectedClassifier(LogisticRegression()).fit([[1.0], [2.0]], ["good", "good"])


def test_balanced_with_weights_of_unlike_totals_is_ambiguous(data):
    X, y, _, _ = data
    with pytest.raises(ValueError, match="counts rows or sample_weight cannot be seen"):
        LossCorrectedClassifier(LogisticRegression(class_weight="balanced")).fit(
            X, y, sample_weight=np.where(y == 1, 2.0, 1.0)
        )


def test_parameters_are_checked(data):
    X, y, _, _ = data
    with pytest.raises(ValueError, match='class_weight must be "auto", "balanced"'):
        LossCorrectedClassifier(class_weight="none").fit(X, y)
    with pytest.raises(ValueError, match="keep names the class 3"):
        LossCorrectedClassifier(keep={3: 1.0}).fit(X, y)
    with pytest.raises(ValueError, match=r"^keep must hold fractions <= 1, got 10 for class 0: .*repeat=\{0: 10\}"):
        LossCorrectedClassifier(keep={0: 10}).fit(X, y)
    with pytest.raises(ValueError, match=r"prior must lie in \(0, 1\)"):
        LossCorrectedClassifier(prior=0.0).fit(X, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        LossCorrectedClassifier().fit(X, None)


def test_boosting_libraries(data):
    X, y, other, _ = data
    cases = []
    if (xgboost := optional("xgboost")) is not None:
        cases.append(xgboost.XGBClassifier(n_estimators=5, scale_pos_weight=9))
    if (lightgbm := optional("lightgbm")) is not None:
        cases += [
            lightgbm.LGBMClassifier(n_estimators=5, scale_pos_weight=9, verbose=-1),
            lightgbm.LGBMClassifier(n_estimators=5, class_weight={0: 1, 1: 9}, verbose=-1),
        ]
    if (catboost := optional("catboost")) is not None:
        plain = {"n_estimators": 5, "verbose": False, "allow_writing_files": False}
        cases += [
            catboost.CatBoostClassifier(scale_pos_weight=9, **plain),
            catboost.CatBoostClassifier(class_weights=[1, 9], **plain),  # scikit-learn cannot clone this one
        ]
    if not cases:
        pytest.skip("needs xgboost, lightgbm or catboost.")
    for estimator in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            listed = isinstance(estimator.get_params().get("class_weights"), list)
            raw = estimator.fit(X, y).predict_proba(other)
            model = LossCorrectedClassifier(estimator, prefit=listed).fit(X, y)
            found = model.predict_proba(other)
        assert found == pytest.approx(undo_class_weight(raw, scale_pos_weight=9), abs=1e-6), estimator
        assert len(model.sources_) == 1


@pytest.mark.parametrize("names", [("lightgbm", "is_unbalance", True), ("catboost", "auto_class_weights", "Balanced")])
def test_weights_that_a_library_takes_from_the_labels(data, names):
    library, key, value = names
    module = optional(library)
    if module is None:
        pytest.skip(f"needs {library}.")
    X, y, _, _ = data
    build = {
        "lightgbm": lambda **o: module.LGBMClassifier(n_estimators=5, verbose=-1, **o),
        "catboost": lambda **o: module.CatBoostClassifier(
            n_estimators=5, verbose=False, allow_writing_files=False, **o
        ),
    }[library]
    ratio = (y == 0).sum() / (y == 1).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LossCorrectedClassifier(build(**{key: value})).fit(X, y)
        same = build(scale_pos_weight=ratio).fit(X, y).predict_proba(X)[:, 1]
        assert model.estimator_.predict_proba(X)[:, 1] == pytest.approx(same, abs=1e-3)  # the library does as we read
    assert model.class_weight_[1] / model.class_weight_[0] == pytest.approx(ratio)


class SquareRoot(LogisticRegression):
    """Weights that CatBoost takes from the labels by this name."""

    def __init__(self, auto_class_weights=None):
        super().__init__()
        self.auto_class_weights = auto_class_weights

    def fit(self, X, y):
        weight = np.sqrt((y == 0).sum() / (y == 1).sum())
        return super().fit(X, y, np.where(y == 1, weight, 1.0))


def test_weights_that_catboost_names_are_read_and_others_refused(data):
    X, y, other, _ = data
    found = LossCorrectedClassifier(SquareRoot("SqrtBalanced")).fit(X, y)
    ratio = np.sqrt((y == 0).sum() / (y == 1).sum())
    expected = undo_class_weight(found.estimator_.predict_proba(other), scale_pos_weight=ratio)
    assert found.predict_proba(other) == pytest.approx(expected)
    for unknown in ("Sqrt", "Cubed"):
        with pytest.raises(ValueError, match=f"auto_class_weights='{unknown}' is not understood"):
            LossCorrectedClassifier(SquareRoot(unknown)).fit(X, y)


def boosters():
    """Boosters with weights and samples that no formula counts, and what is said of them."""
    if (lightgbm := optional("lightgbm")) is not None:
        make = partial(lightgbm.LGBMClassifier, n_estimators=3, verbose=-1)
        yield make(objective="cross_entropy", scale_pos_weight=9), "scale_pos_weight=9 amounts to with objective="
        yield make(application="cross_entropy", scale_pos_weight=9), "scale_pos_weight=9 amounts to with application="
        yield (
            make(objective="multiclass", num_class=2, is_unbalance=True),
            "is_unbalance=True amounts to with objective=",
        )
        yield make(neg_bagging_fraction=0.1, bagging_freq=1), "samples of neg_bagging_fraction=0.1 cannot be seen"
        yield make(neg_sub_row=0.1, subsample_freq=1), "samples of neg_sub_row=0.1 cannot be seen"
    if (xgboost := optional("xgboost")) is not None:
        make = partial(xgboost.XGBClassifier, n_estimators=3, scale_pos_weight=9)
        yield make(objective="multi:softprob", num_class=2), "scale_pos_weight=9 amounts to with objective="
        yield make(objective=log_loss), "scale_pos_weight=9 amounts to with objective="


def objectives():
    """Boosters by their objective: whether the weights of rows multiply its odds, and the booster."""
    if (lightgbm := optional("lightgbm")) is not None:
        make = partial(lightgbm.LGBMClassifier, n_estimators=60, num_leaves=4, verbose=-1)
        yield False, make(objective="cross_entropy_lambda")
        yield False, make(app="cross_entropy_lambda")
        for objective in (None, "binary", "cross_entropy", "xentropy"):
            yield True, make(objective=objective)
        for objective in ("multiclass", "softmax", "multiclassova", "ova"):
            yield True, make(objective=objective, num_class=2)
    if (xgboost := optional("xgboost")) is not None:
        make = partial(xgboost.XGBClassifier, n_estimators=30, max_depth=2)
        for objective in ("binary:hinge", "binary:logitraw"):
            yield False, make(objective=objective)
        yield True, make()
        for objective in ("binary:logistic", "reg:logistic"):
            yield True, make(objective=objective)
        yield True, make(objective="multi:softprob", num_class=2)


@pytest.mark.filterwarnings("ignore")
def test_weights_of_rows_are_undone_only_where_the_objective_multiplies_odds_by_them(weighted):
    X, y, weight = weighted
    cases = list(objectives())
    if not cases:
        pytest.skip("needs xgboost or lightgbm.")
    for undone, estimator in cases:
        inside = VotingClassifier([("a", estimator)], voting="soft")
        if undone:
            for model in (estimator, inside):
                found = LossCorrectedClassifier(model).fit(X, y, sample_weight=weight).predict_proba(X)[:, 1]
                assert found.mean() == pytest.approx(y.mean(), abs=0.03), estimator
            continue
        for model in (estimator, inside):
            with pytest.raises(ValueError, match=r"what sample_weight amounts to with (objective|app)="):
                LossCorrectedClassifier(model).fit(X, y, sample_weight=weight)
        if hasattr(estimator, "class_weight"):  # LightGBM makes weights of rows of it
            with pytest.raises(ValueError, match=r"class_weight=\{1: 8\} amounts to with (objective|app)="):
                LossCorrectedClassifier(clone(estimator).set_params(class_weight={1: 8})).fit(X, y)


def log_loss(y_true, score):
    p = 1.0 / (1.0 + np.exp(-score))
    return p - y_true, p * (1.0 - p)


@pytest.mark.filterwarnings("ignore")
def test_weights_of_boosters_that_never_act_are_not_undone(data):
    X, y, other, _ = data
    cases = list(boosters())
    if not cases:
        pytest.skip("needs xgboost or lightgbm.")
    for estimator, message in cases:
        with pytest.raises(ValueError, match=message):
            LossCorrectedClassifier(estimator).fit(X, y)
        stated = LossCorrectedClassifier(estimator, class_weight=None, keep={0: 0.1}).fit(X, y)
        raw = clone(estimator).fit(X, y).predict_proba(other)
        assert stated.predict_proba(other) == pytest.approx(undo_class_weight(raw, scale_pos_weight=10), abs=1e-6)


def test_samplers_inside_ensembles_are_refused(data):
    if optional("imblearn") is None:
        pytest.skip("needs imbalanced-learn.")
    from imblearn.ensemble import BalancedRandomForestClassifier
    from imblearn.pipeline import make_pipeline as make_sampling_pipeline
    from imblearn.under_sampling import RandomUnderSampler

    X, y, other, _ = data
    pipeline = make_sampling_pipeline(RandomUnderSampler(random_state=0), LogisticRegression())
    for estimator in (
        BaggingClassifier(pipeline, 3, random_state=0),
        VotingClassifier([("a", pipeline), ("b", LogisticRegression())], voting="soft"),
        CalibratedClassifierCV(BalancedRandomForestClassifier(n_estimators=3)),
    ):
        with pytest.raises(ValueError, match="makes of the samples of"):
            LossCorrectedClassifier(estimator).fit(X, y)
        stated = LossCorrectedClassifier(estimator, keep={0: 0.2}).fit(X, y)
        assert stated.predict_proba(other).shape == (len(other), 2)
    plain = BaggingClassifier(make_sampling_pipeline(StandardScaler(), LogisticRegression()), 3, random_state=0)
    assert LossCorrectedClassifier(plain).fit(X, y).sources_ == []


def test_samplers_of_imbalanced_learn(data):
    imblearn = optional("imblearn")
    if imblearn is None:
        pytest.skip("needs imbalanced-learn.")
    from imblearn.over_sampling import SMOTE, RandomOverSampler
    from imblearn.pipeline import make_pipeline as make_sampling_pipeline
    from imblearn.under_sampling import RandomUnderSampler

    X, y, other, _ = data
    count = [(y == k).sum() for k in (0, 1)]
    for sampler, keep in (
        (RandomUnderSampler(random_state=0), [count[1] / count[0], 1.0]),
        (RandomOverSampler(random_state=0), [1.0, count[0] / count[1]]),
        (RandomUnderSampler(sampling_strategy=0.5, random_state=0), [2 * count[1] / count[0], 1.0]),
    ):
        pipeline = make_sampling_pipeline(StandardScaler(), sampler, LogisticRegression())
        model = LossCorrectedClassifier(pipeline).fit(X, y)
        assert model.sampling_ == pytest.approx(keep, rel=0.02)
        assert model.predict_proba(other)[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)
        assert model.sources_ == [type(sampler).__name__]
    pipeline = make_sampling_pipeline(SMOTE(random_state=0), LogisticRegression())
    with pytest.raises(ValueError, match="SMOTE does not drop or repeat rows at random"):
        LossCorrectedClassifier(pipeline).fit(X, y)
    model = LossCorrectedClassifier(pipeline, repeat={1: count[0] / count[1]}).fit(X, y)
    assert model.predict_proba(other)[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)
    # weights that balance count the rows that the sampler left
    balanced = LogisticRegression(class_weight="balanced")
    pipeline = make_sampling_pipeline(RandomUnderSampler(sampling_strategy=0.5, random_state=0), balanced)
    model = LossCorrectedClassifier(pipeline).fit(X, y)
    assert model.class_weight_[1] / model.class_weight_[0] == pytest.approx(2.0, rel=0.02)
    assert model.predict_proba(other)[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)
    with pytest.raises(ValueError, match="depends on the labels of the training"):
        LossCorrectedClassifier(pipeline, keep={0: 0.3}).fit(X, y)
    from imblearn.ensemble import BalancedRandomForestClassifier

    with pytest.raises(ValueError, match="BalancedRandomForestClassifier resamples inside"):
        LossCorrectedClassifier(BalancedRandomForestClassifier(n_estimators=3)).fit(X, y)
    model = LossCorrectedClassifier(BalancedRandomForestClassifier(n_estimators=3), keep={0: count[1] / count[0]})
    assert model.fit(X, y).predict_proba(other).shape == (len(other), 2)


def optional(name):
    """Import a library that may be missing; some warn when they are imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return __import__(name)
        except ImportError:
            return None


def test_scikit_learn_is_loaded_only_with_the_classifier():
    code = (
        "import sys, stakes.correction as c; c.undo_class_weight([0.5], pos_weight=2); "
        "c.loss_calibration_test([0, 1, 0], [0.5, 0.6, 0.7], n_resamples=0); "
        "print([n for n in ('sklearn', 'scipy.stats', 'pandas') if n in sys.modules]); "
        "c.LossCorrectedClassifier; print('sklearn' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "True"]


def test_every_public_name_can_be_reached():
    assert all(hasattr(stakes.correction, name) for name in stakes.correction.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = stakes.correction.nothing


@pytest.mark.parametrize(("size", "apart", "constant"), [(1e6, 1e-10, True), (1e-6, 0.5, False)])
def test_weights_are_constant_within_classes_whatever_their_unit(size, apart, constant):
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 2))
    weight = size * (1.0 + y) * (1.0 + apart * (np.arange(40) // 2 % 2))
    assert bool(LossCorrectedClassifier().fit(X, y, sample_weight=weight).sources_) == constant


@pytest.mark.parametrize(("labels", "weights"), [([1, 2], {1: 5.0}), ([1, 2, 3], {1: 5.0, 2: 2.0}), ([0, 2], {0: 2.0})])
def test_weights_that_boosting_gives_to_places_of_labels_are_not_undone_by_label(three, labels, weights):
    X, y, other = three[0][:, :1], three[1], three[2][:, :1]
    names = np.array(labels)[np.minimum(y, len(labels) - 1)]
    model = HistGradientBoostingClassifier(class_weight=weights, max_iter=1, max_leaf_nodes=2, max_bins=4)
    by_place = np.array([weights.get(k, 1.0) for k in range(len(labels))])
    if labels == [0, 2]:  # the same by label and by place
        found = LossCorrectedClassifier(model).fit(X, names)
        assert found.class_weight_.tolist() == by_place.tolist() == [2.0, 1.0]
        return
    with pytest.raises(ValueError, match=r"numbers these before it weighs them.* Pass class_weight="):
        LossCorrectedClassifier(model).fit(X, names)
    model.set_params(class_weight=None)
    rows = by_place[np.searchsorted(labels, names)]
    found = LossCorrectedClassifier(model).fit(X, names, sample_weight=rows)
    assert found.predict_proba(other) == pytest.approx(
        undo_class_weight(found.estimator_.predict_proba(other), class_weight=by_place)
    )


@pytest.mark.parametrize("weights", [{0: 1.0, 1: 4.0, 2: 2.0}, "balanced"])
def test_weights_of_one_class_against_the_others_are_not_undone(three, weights):
    X, y, _ = three
    model = SGDClassifier(loss="log_loss", class_weight=weights, random_state=0)
    with pytest.raises(ValueError, match=r"fits each class against the others.* Pass class_weight="):
        LossCorrectedClassifier(model).fit(X, y)
    model.set_params(class_weight=weights if weights == "balanced" else {1: 4.0})
    two = LossCorrectedClassifier(model).fit(X, np.minimum(y, 1))
    assert two.class_weight_[1] > two.class_weight_[0]


def test_weights_of_rows_are_undone_where_each_class_is_fitted_against_the_others():
    # each cell of rows is its own population: one indicator for each, so that the fit is the weighted share
    counts, weights = np.array([[60, 30, 10], [20, 50, 30]]), np.array([1.0, 4.0, 2.0])
    cell, label = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    X = np.eye(2)[cell]
    model = OneVsRestClassifier(LogisticRegression(C=1e9, fit_intercept=False, max_iter=10_000, tol=1e-12))
    share = np.array([model.fit(X, label).predict_proba(np.eye(2)), counts / counts.sum(axis=1, keepdims=True)])
    assert share[0] == pytest.approx(share[1], abs=1e-4)
    alone = np.array(
        [
            LogisticRegression(C=1e9, fit_intercept=False, tol=1e-12, class_weight={True: weights[k]})
            .fit(X, label == k)
            .predict_proba(np.eye(2))[:, 1]
            for k in range(3)
        ]
    ).T
    undone = undo_class_weight(alone / alone.sum(axis=1, keepdims=True), class_weight=weights)
    assert np.abs(undone - share[1]).max() > 0.03  # which is why they are refused
