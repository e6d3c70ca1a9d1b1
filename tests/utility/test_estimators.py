"""The scikit-learn classifiers: contract, transduction, frozen thresholds, calibration, weights, routing, laziness."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.utils import estimator_checks

import stakes.utility
from stakes.utility import (
    F1,
    Accuracy,
    ConfusionMeasure,
    ExpectedUtilityClassifier,
    FractionalLinear,
    PlugInThresholdClassifier,
    expected_utility,
    population_threshold,
)

HALF = "asks for decisions at probability one half"
TEXTS = "texts name no positive class, and pos_label is left out"
BATCH = "a decision about a batch depends on all its rows"
CHECKED = {
    "batch": (
        ExpectedUtilityClassifier(LogisticRegression()),
        {"check_classifiers_train": HALF, "check_methods_subset_invariance": BATCH, "check_classifiers_classes": TEXTS},
    ),
    "batch, accuracy": (
        ExpectedUtilityClassifier(LogisticRegression(), Accuracy()),
        {"check_classifiers_classes": TEXTS},
    ),
    "calibrated": (
        ExpectedUtilityClassifier(LogisticRegression(), calibrate="sigmoid"),
        {"check_classifiers_train": HALF, "check_methods_subset_invariance": BATCH, "check_classifiers_classes": TEXTS},
    ),
    "frozen": (
        ExpectedUtilityClassifier(LogisticRegression(), mode="frozen"),
        {"check_classifiers_train": HALF, "check_classifiers_classes": TEXTS},
    ),
    "plug-in": (
        PlugInThresholdClassifier(LogisticRegression()),
        {"check_classifiers_train": HALF, "check_classifiers_classes": TEXTS},
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        "batch",
        "frozen",
        "plug-in",
        *(pytest.param(n, marks=pytest.mark.thorough) for n in ("batch, accuracy", "calibrated")),
    ],
)
def test_classifiers_keep_the_contract_of_scikit_learn(name):
    model, expected = CHECKED[name]
    if not hasattr(sklearn.utils, "get_tags"):
        pytest.skip("the checks that may be expected to fail came with scikit-learn 1.6.")
    results = estimator_checks.check_estimator(model, expected_failed_checks=expected, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(expected)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(600, 8, weights=[0.8], flip_y=0.1, random_state=3)
    return X[:300], y[:300], X[300:], y[300:]


def test_predict_maximises_the_expected_value_of_the_batch(data):
    X, y, other, _ = data
    model = ExpectedUtilityClassifier(measure="f1").fit(X, y)
    p = LogisticRegression().fit(X, y).predict_proba(other)[:, 1]
    assert np.array_equal(model.predict(other), expected_utility(p, F1()).predict())
    assert model.expected_utility(other).certified
    assert np.array_equal(model.predict_proba(other)[:, 1], p)


def test_decision_for_a_row_depends_on_its_batch(data):
    X, y, other, _ = data
    model = ExpectedUtilityClassifier(measure="f1").fit(X, y)
    alone = np.concatenate([model.predict(row[None]) for row in other])
    assert not np.array_equal(alone, model.predict(other))
    assert np.array_equal(model.set_params(batch_size=1).predict(other), alone)


def test_batches_are_decided_one_after_the_other(data):
    X, y, other, _ = data
    model = ExpectedUtilityClassifier(measure="f1", batch_size=70.0).fit(X, y)
    parts = [model.predict(other[start : start + 70]) for start in range(0, 300, 70)]
    assert np.array_equal(model.predict(other), np.concatenate(parts))


def test_frozen_threshold_decides_row_by_row(data):
    X, y, other, _ = data
    model = ExpectedUtilityClassifier(measure="f1", mode="frozen").fit(X, y)
    held_out = cross_val_predict(LogisticRegression(), X, y, method="predict_proba")[:, 1]
    assert model.threshold_ == expected_utility(held_out, F1()).threshold
    alone = np.concatenate([model.predict(row[None]) for row in other])
    assert np.array_equal(alone, model.predict(other))
    assert np.array_equal(alone, (model.predict_proba(other)[:, 1] >= model.threshold_).astype(int))


def test_frozen_threshold_of_a_measure_that_falls_with_true_positives_acts_below_it(data):
    X, y, other, _ = data
    measure = FractionalLinear(c=(1, -1, 0.5), d=(1, 0, 0, 0))
    model = ExpectedUtilityClassifier(measure=measure, mode="frozen").fit(X, y)
    p = model.predict_proba(other)[:, 1]
    assert np.array_equal(model.predict(other), (p <= model.threshold_).astype(int))


def test_plug_in_takes_the_threshold_of_the_held_out_folds(data):
    X, y, other, _ = data
    model = PlugInThresholdClassifier(measure="f1", cv=4).fit(X, y)
    held_out = cross_val_predict(LogisticRegression(), X, y, cv=4, method="predict_proba")[:, 1]
    assert model.threshold_ == population_threshold(y, held_out, F1(), n_resamples=0).threshold
    assert np.array_equal(model.predict(other), (model.predict_proba(other)[:, 1] >= model.threshold_).astype(int))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_comes_first(data, method):
    X, y, other, _ = data
    model = ExpectedUtilityClassifier(measure="f1", calibrate=method, cv=3).fit(X, y)
    calibrated = CalibratedClassifierCV(LogisticRegression(), method=method, cv=3).fit(X, y)
    assert np.array_equal(model.predict_proba(other), calibrated.predict_proba(other))


def test_correction_moves_the_decisions(data):
    X, y, other, _ = data

    def rarer(p):
        return p / (p + 5 * (1 - p))

    plain, corrected = (ExpectedUtilityClassifier(measure="f1", correction=c).fit(X, y) for c in (None, rarer))
    p = plain.predict_proba(other)[:, 1]
    assert np.array_equal(corrected.predict(other), expected_utility(rarer(p), F1()).predict())
    frozen = ExpectedUtilityClassifier(measure="f1", correction=rarer, mode="frozen").fit(X, y)
    assert np.array_equal(frozen.predict(other), (rarer(p) >= frozen.threshold_).astype(int))


@pytest.mark.parametrize(
    "model", [ExpectedUtilityClassifier(), ExpectedUtilityClassifier(mode="frozen"), PlugInThresholdClassifier()]
)
def test_weights_reach_the_estimator(data, model):
    X, y, other, _ = data
    weight = np.where(y == 1, 4.0, 1.0)
    fitted = clone(model).fit(X, y, sample_weight=weight)
    expected = LogisticRegression().fit(X, y, sample_weight=weight)
    assert np.array_equal(fitted.predict_proba(other), expected.predict_proba(other))


def test_weights_enter_the_threshold_of_the_plug_in(data):
    X, y, _, _ = data
    weight = np.where(y == 1, 4.0, 1.0)
    model = PlugInThresholdClassifier(measure="f1", cv=StratifiedKFold(3)).fit(X, y, sample_weight=weight)
    held_out = np.empty(len(y))
    for train, test in StratifiedKFold(3).split(X, y):
        fold = LogisticRegression().fit(X[train], y[train], sample_weight=weight[train])
        held_out[test] = fold.predict_proba(X[test])[:, 1]
    scan = population_threshold(y, held_out, F1(), sample_weight=weight, n_resamples=0)
    assert model.threshold_ == scan.threshold


def test_weights_are_routed_through_a_search(data):
    X, y, _, _ = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = (
            PlugInThresholdClassifier(LogisticRegression())
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=False)
        )
        search = GridSearchCV(model, {"measure": ["f1", "jaccard"]}, cv=2)
        search.fit(X, y, sample_weight=np.where(y == 1, 4.0, 1.0))
    assert search.best_estimator_.measure in {"f1", "jaccard"}


def test_parameters_of_the_estimator_can_be_searched(data):
    X, y, _, _ = data
    search = GridSearchCV(
        ExpectedUtilityClassifier(LogisticRegression()),
        {"estimator__C": [0.01, 1.0]},
        scoring=make_scorer(f1_score),
        cv=2,
    )
    assert search.fit(X, y).best_params_["estimator__C"] in {0.01, 1.0}


def test_labels_may_be_words(data):
    X, y, other, _ = data
    words = np.where(y == 1, "sick", "healthy")
    for model in (ExpectedUtilityClassifier(), ExpectedUtilityClassifier(mode="frozen"), PlugInThresholdClassifier()):
        named = clone(model).set_params(pos_label="sick").fit(X, words).predict(other)
        numbered = clone(model).fit(X, y).predict(other)
        assert np.array_equal(named == "sick", numbered == 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "frosted"}, "mode must be one of 'batch', 'frozen'"),
        ({"batch_size": 0}, "batch_size must be a whole number >= 1, got 0"),
        ({"batch_size": 2.5}, "batch_size must be a whole number >= 1, got 2.5"),
        ({"batch_size": "5"}, "batch_size must be a number, got '5'"),
        ({"batch_size": True}, "batch_size must be a number, got True"),
        ({"measure": "f9"}, "measure must be"),
    ],
)
def test_invalid_parameters_are_refused_when_fitting(data, options, message):
    X, y, _, _ = data
    with pytest.raises(ValueError, match=message):
        ExpectedUtilityClassifier(**options).fit(X, y)


def test_an_invalid_batch_size_set_after_fitting_is_refused_too(data):
    X, y, other, _ = data
    model = ExpectedUtilityClassifier().fit(X, y).set_params(batch_size=2.5)
    with pytest.raises(ValueError, match=r"batch_size must be a whole number >= 1, got 2\.5"):
        model.predict(other)


def test_folds_that_leave_rows_out_are_refused(data):
    X, y, _, _ = data
    rows = np.arange(len(y))
    with pytest.raises(ValueError, match="cv must put every row into a test fold"):
        PlugInThresholdClassifier(cv=[(rows[:200], rows[200:])]).fit(X, y)


def test_scikit_learn_is_loaded_only_with_the_classifiers():
    code = (
        "import sys, stakes.utility as u; u.expected_utility([0.5, 0.2], u.F1()); u.expected_utility([0.5], u.MCC()); "
        "print([n for n in ('sklearn', 'scipy.stats', 'pandas') if n in sys.modules]); "
        "u.PlugInThresholdClassifier; print('sklearn' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "True"]


def test_every_public_name_can_be_reached():
    assert all(hasattr(stakes.utility, name) for name in stakes.utility.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = stakes.utility.nothing


@pytest.mark.parametrize(
    "model",
    [
        PlugInThresholdClassifier(),
        ExpectedUtilityClassifier(mode="frozen"),
        ExpectedUtilityClassifier(calibrate="sigmoid"),
    ],
    ids=["plug-in", "frozen", "calibrated"],
)
def test_folds_by_groups_are_passed_as_a_list(model):
    X, y = make_classification(60, random_state=0)
    folds = GroupKFold(3)
    with pytest.raises(
        ValueError, match=r"^cv must split rows without groups, .* got GroupKFold.*cv\.split\(X, y, groups\)"
    ):
        clone(model).set_params(cv=folds).fit(X, y)
    listed = list(folds.split(X, y, np.arange(60) // 2))
    assert clone(model).set_params(cv=listed).fit(X, y).predict(X).shape == (60,)


def test_frozen_decisions_act_on_the_end_of_the_training_rows_that_is_best():
    wrong = ConfusionMeasure(lambda tp, fp, fn, tn: 2.0 * fp - tp + 0.0 * (fn + tn), name="wrong")
    X = np.linspace(-2.0, 2.0, 30)[:, None]
    y = (X[:, 0] + np.sin(40.0 * X[:, 0]) > 0.0).astype(int)
    model = ExpectedUtilityClassifier(measure=wrong, mode="frozen").fit(X, y)
    acted, prob = model.predict(X) == 1, model.estimator_.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(acted, prob <= model.threshold_)
    gains = 2.0 * (1.0 - prob) - prob  # each row on its own
    assert gains[acted].sum() > 0.9 * gains[gains > 0.0].sum()
