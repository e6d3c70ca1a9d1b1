"""What all classifiers in the manner of scikit-learn share: which class is the positive one."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import estimator_checks

from stakes import expected_regret, get_scorer
from stakes.actions import DeferralClassifier
from stakes.boundary import UncertaintyBoundaryClassifier
from stakes.correction import LossCorrectedClassifier
from stakes.uncertainty import from_bagging
from stakes.utility import ExpectedUtilityClassifier, PlugInThresholdClassifier


def far(_estimator, X):
    """Tell how far from the centre a row is."""
    return np.abs(X).sum(axis=1)


INNER = LogisticRegression()
MODELS = {
    "defer": DeferralClassifier(INNER, costs=0.1, deferral=0.01),
    "defer, within a capacity": DeferralClassifier(INNER, costs=0.1, deferral=0.01, capacity=0.05),
    "defer, fitted": DeferralClassifier(INNER, costs=0.3, deferral=0.05, method="fit"),
    "batch": ExpectedUtilityClassifier(INNER),
    "batch, few rows": ExpectedUtilityClassifier(INNER, batch_size=70),
    "frozen": ExpectedUtilityClassifier(INNER, mode="frozen"),
    "calibrated": ExpectedUtilityClassifier(INNER, calibrate="sigmoid", cv=3),
    "plug-in": PlugInThresholdClassifier(INNER),
    "boundary": UncertaintyBoundaryClassifier(INNER, far, min_precision=0.6),
    "boundary of members": UncertaintyBoundaryClassifier(
        BaggingClassifier(GaussianNB(), 5, random_state=0), min_precision=0.6
    ),
    "corrected": LossCorrectedClassifier(INNER, prior=0.4),  # a number, the share of the positive class
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(900, 6, n_informative=4, weights=[0.85], flip_y=0.1, class_sep=0.8, random_state=3)
    return X[:500], y[:500], X[500:]


@every_model
@pytest.mark.parametrize(("negative", "positive"), [("ok", "fraud"), ("fine", "fraud"), (2, 1), (False, True)])
def test_classifiers_act_on_the_class_that_pos_label_names(data, name, negative, positive):
    X, y, other = data
    numbered = clone(MODELS[name]).fit(X, y).predict(other)
    model = clone(MODELS[name]).set_params(pos_label=positive).fit(X, np.where(y == 1, positive, negative))
    found = model.predict(other)
    assert 0 < np.count_nonzero(numbered == 1) < len(other)
    assert np.array_equal(found == positive, numbered == 1)
    assert np.array_equal(found == negative, numbered == 0)
    assert getattr(model, "pos_label_", positive) == positive
    assert model.classes_.tolist() == sorted([negative, positive])


@every_model
def test_labels_that_name_no_positive_class_are_refused(data, name):
    X, y, _ = data
    for labels in (np.array(["ok", "fraud"])[y], np.array(["ok", "fraud"], dtype=object)[y]):
        with pytest.raises(ValueError, match=re.escape("y holds 'fraud', 'ok': pass pos_label= to say which")):
            clone(MODELS[name]).fit(X, labels)


@every_model
def test_the_larger_of_two_other_numbers_is_taken_as_positive_with_a_warning(data, name):
    X, y, other = data
    numbered = clone(MODELS[name]).fit(X, y).predict(other)
    with pytest.warns(UserWarning, match=re.escape("y holds 1, 2: 2, the larger, is taken as the positive class")):
        model = clone(MODELS[name]).fit(X, y + 1)
    assert np.array_equal(model.predict(other) == 2, numbered == 1)


@every_model
def test_a_positive_class_that_is_not_among_the_labels_is_refused(data, name):
    X, y, _ = data
    with pytest.raises(ValueError, match=re.escape("pos_label must be one of the labels ('fraud', 'ok'), got 'Fraud'")):
        clone(MODELS[name]).set_params(pos_label="Fraud").fit(X, np.array(["ok", "fraud"])[y])
    with pytest.raises(ValueError, match=re.escape("pos_label must be one of the labels (0, 1), got 'fraud'")):
        clone(MODELS[name]).set_params(pos_label="fraud").fit(X, y)


@every_model
def test_a_positive_class_of_zero_turns_the_decisions_round(data, name):
    X, y, other = data
    numbered = clone(MODELS[name]).fit(X, y).predict(other)
    turned = clone(MODELS[name]).set_params(pos_label=0).fit(X, 1 - y).predict(other)
    assert np.array_equal(turned == 0, numbered == 1)


def test_corrected_probabilities_need_a_positive_class_for_the_share_of_one_class_only(data):
    X, y, other = data
    named = np.array(["ok", "fraud"])[y]
    inner = LogisticRegression(class_weight="balanced")
    plain = LossCorrectedClassifier(inner).fit(X, y).predict_proba(other)
    assert LossCorrectedClassifier(inner).fit(X, named).predict_proba(other) == pytest.approx(plain[:, ::-1], abs=1e-9)
    stated = LossCorrectedClassifier(inner, prior={"fraud": 0.01, "ok": 0.99}).fit(X, named).predict_proba(other)
    share = LossCorrectedClassifier(inner, prior=0.01, pos_label="fraud").fit(X, named).predict_proba(other)
    assert share == pytest.approx(stated, abs=1e-15)


def test_a_positive_class_of_several_is_refused(data):
    X, y, _ = data
    three = np.array(["a", "b", "c"])[(y + np.arange(len(y))) % 3]
    assert LossCorrectedClassifier().fit(X, three).classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"pos_label is for two classes, y holds 3 \('a', 'b', 'c'\)"):
        LossCorrectedClassifier(pos_label="a").fit(X, three)


def test_score_of_an_ensemble_is_of_the_class_that_pos_label_names(data):
    X, y, other = data
    model = BaggingClassifier(GaussianNB(), 5, random_state=0).fit(X, np.array(["ok", "fraud"])[y])
    columns = model.predict_proba(other)
    for column, label in enumerate(["fraud", "ok"]):
        assert from_bagging(model, other, pos_label=label).score == pytest.approx(columns[:, column], abs=1e-12)
    with pytest.raises(ValueError, match=r"estimator was fitted to 'fraud', 'ok': pass pos_label= to say which"):
        from_bagging(model, other)
    with pytest.raises(ValueError, match=r"pos_label must be one of the labels \('fraud', 'ok'\), got 'OK'"):
        from_bagging(model, other, pos_label="OK")


# what scikit-learn's check_classifiers_classes asks of two texts, once the model knows which of them is positive
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["batch", "frozen", "plug-in", "boundary"])
@pytest.mark.parametrize("kind", ["U", "O"])
@pytest.mark.parametrize("positive", ["one", "two"])
def test_classes_that_are_texts_pass_the_check_of_scikit_learn(name, kind, positive):
    X, y = make_blobs(n_samples=30, random_state=0, cluster_std=0.1)
    X, y = StandardScaler().fit_transform(X)[y != 2], np.take(["one", "two"], y[y != 2]).astype(kind)
    model = clone(MODELS[name]).set_params(pos_label=positive)
    estimator_checks.check_classifiers_predictions(X, y, type(model).__name__, model)


def test_held_out_folds_of_texts_are_those_of_the_positive_class(data):
    X, y, _ = data
    named = np.array(["ok", "fraud"])[y]
    model = PlugInThresholdClassifier(INNER, pos_label="fraud").fit(X, named)
    held_out = cross_val_predict(INNER, X, named, method="predict_proba")[:, 0]
    best = max(2 * np.sum(y[held_out >= t]) / (np.sum(held_out >= t) + y.sum()) for t in held_out)  # F1
    taken = held_out >= model.threshold_
    assert 2 * np.sum(y[taken]) / (taken.sum() + y.sum()) == pytest.approx(best, abs=1e-12)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("name", ["defer, fitted", "frozen", "plug-in", "boundary", "calibrated"])
@pytest.mark.parametrize(("negative", "positive"), [("ok", "bad"), (0, 1)])  # the positive class sorts first, or last
def test_folds_whose_training_lacks_a_class_are_refused(data, name, negative, positive):
    X, y, _ = data
    model = clone(MODELS[name]).set_params(pos_label=positive)
    single = np.where(np.arange(500) == 0, positive, negative)  # in the first of the default folds
    start = f"cv must leave rows of both classes to fit on, got none of {positive!r} in the "
    for inner in (INNER, GaussianNB()):  # the one refuses a single class itself, the other learns it
        model.set_params(estimator=inner, cv=5)
        message = f"{start}400 training rows of fold 1 (1 of 500 rows): folds cannot divide a single row"
        with pytest.raises(ValueError, match=re.escape(message)):
            model.fit(X, single)
        site = np.where(y == 1, 0, np.arange(500) % 2)
        model.set_params(cv=PredefinedSplit(site))
        held = f"{start}{site.sum()} training rows of fold 1 ({y.sum()} of 500 rows): pass stratified folds, such as"
        with pytest.raises(ValueError, match=re.escape(held)):
            model.fit(X, np.where(y == 1, positive, negative))
        with pytest.raises(ValueError, match=re.escape(f"got none of {negative!r} in the {site.sum()} training rows")):
            model.fit(X, np.where(y == 0, positive, negative))


def test_a_frozen_model_knows_both_classes_whatever_a_fold_holds(data):
    frozen = pytest.importorskip("sklearn.frozen", reason="scikit-learn 1.6 or later")
    X, y, _ = data
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)  # the second of two folds leaves negatives only
    named = np.array(["ok", "bad"])[y]
    fitted = GaussianNB().fit(X, named)
    model = PlugInThresholdClassifier(frozen.FrozenEstimator(fitted), cv=KFold(2), pos_label="bad").fit(X, named)
    prob = fitted.predict_proba(X)[:, 0]
    best = max(2 * np.sum(y[prob >= t]) / (np.sum(prob >= t) + y.sum()) for t in prob)  # F1
    taken = prob >= model.threshold_
    assert 2 * np.sum(y[taken]) / (taken.sum() + y.sum()) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(
    "name", ["defer, within a capacity", "defer, fitted", "frozen", "plug-in", "boundary", "calibrated"]
)
def test_a_generator_of_folds_that_is_used_up_is_refused_by_name(data, name):
    X, y, other = data
    folds = list(KFold(3).split(X, y))
    model = clone(MODELS[name]).set_params(cv=(fold for fold in folds)).fit(X, y)  # the first time they are there
    listed = clone(MODELS[name]).set_params(cv=folds).fit(X, y)
    assert np.array_equal(model.predict(other), listed.predict(other))
    for used_up in (model, model.set_params(cv=[])):
        with pytest.raises(ValueError, match="cv must give at least one fold, got none: a generator can be gone throu"):
            used_up.fit(X, y)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
def test_folds_of_a_calibration_within_a_fold_are_looked_at(data, calibrate):
    X, _, _ = data
    two = (np.arange(500) % 250 == 0).astype(int)  # of which each of five folds leaves one or both
    model = ExpectedUtilityClassifier(INNER, calibrate=calibrate).fit(X, two)  # one is enough to fit to
    assert 0.0 < model.predict_proba(X)[:, 1].mean() < 0.05
    message = "got none of 1 in the 320 training rows of fold 5 (1 of 400 rows): folds cannot divide a single row"
    with pytest.raises(ValueError, match=re.escape(message)):
        model.set_params(mode="frozen").fit(X, two)


def test_folds_of_a_calibrated_frozen_model_may_lack_a_class(data):
    frozen = pytest.importorskip("sklearn.frozen", reason="scikit-learn 1.6 or later")
    X, y, other = data
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)  # the second of two folds leaves negatives only
    inner = frozen.FrozenEstimator(GaussianNB().fit(X, y))
    model = ExpectedUtilityClassifier(inner, calibrate="sigmoid", cv=KFold(2)).fit(X, y)
    direct = CalibratedClassifierCV(inner, cv=KFold(2)).fit(X, y)
    assert model.predict_proba(other) == pytest.approx(direct.predict_proba(other), abs=1e-12)


@pytest.mark.parametrize("cv", [None, 3, lambda X, y: KFold(4).split(X, y)])
def test_a_calibration_has_the_folds_of_cv(data, cv):
    X, y, other = data
    given, alike = (cv(X, y) if callable(cv) else cv for _ in range(2))
    model = ExpectedUtilityClassifier(GaussianNB(), calibrate="isotonic", cv=given).fit(X, y)
    direct = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=alike).fit(X, y)
    assert model.predict_proba(other) == pytest.approx(direct.predict_proba(other), abs=1e-12)


def test_tags_of_older_scikit_learn_say_who_takes_several_classes():
    y = np.arange(6) % 3
    for model in (DeferralClassifier(costs=0.2, deferral=0.05), LossCorrectedClassifier()):
        try:
            model.fit(np.arange(12.0).reshape(6, 2), y)
            several = True
        except ValueError:
            several = False
        assert model._more_tags()["binary_only"] is not several


@every_model
def test_classifiers_know_their_features_and_can_be_pickled_and_cloned(data, name):
    pandas = pytest.importorskip("pandas")
    X, y, other = (pandas.DataFrame(part, columns=list("abcdef")) if part.ndim == 2 else part for part in data)
    model = clone(MODELS[name]).fit(X, y)
    assert list(model.feature_names_in_) == list("abcdef")
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(other), model.predict(other))  # noqa: S301
    assert np.array_equal(clone(model).fit(X, y).predict(other), model.predict(other))
    framed = make_pipeline(StandardScaler(), clone(MODELS[name])).set_output(transform="pandas").fit(X, y)
    assert list(framed[-1].feature_names_in_) == list("abcdef")


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("boundary")])
def test_weights_are_routed_to_the_last_step_of_a_pipeline(data, name):
    X, y, other = data
    weight = 1.0 + np.arange(len(y)) % 4
    scaled = StandardScaler().fit(X)
    plain = clone(MODELS[name]).fit(scaled.transform(X), y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)  # for calibration, which routes too
        last = clone(MODELS[name]).set_params(estimator=inner).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), last)
        found = pipe.fit(X, y, sample_weight=weight).predict(other)
    assert np.array_equal(found, plain.predict(scaled.transform(other)))
    unweighted = clone(MODELS[name]).fit(scaled.transform(X), y)
    assert not np.array_equal(
        unweighted.predict_proba(scaled.transform(other)), plain.predict_proba(scaled.transform(other))
    )


weighing = pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("boundary")])


@weighing
def test_weights_reach_the_last_step_of_a_pipeline_inside_without_routing(data, name):
    X, y, other = data
    weight = 1.0 + np.arange(len(y)) % 4
    plain = clone(MODELS[name]).fit(X, y, sample_weight=weight)
    one = make_pipeline(FunctionTransformer(), INNER)
    several = [
        one,
        make_pipeline(FunctionTransformer(), one),
        GridSearchCV(one, {"logisticregression__C": [1.0]}, cv=2),
    ]
    if name != "calibrated":  # which warns that it hands a search no weights
        several.append(GridSearchCV(INNER, {"C": [1.0]}, cv=2))
    for inner in several:
        found = clone(MODELS[name]).set_params(estimator=inner).fit(X, y, sample_weight=weight)
        assert found.predict_proba(other) == pytest.approx(plain.predict_proba(other), abs=1e-12), inner
        assert np.array_equal(found.predict(other), plain.predict(other))
    assert found.predict_proba(other) != pytest.approx(clone(MODELS[name]).fit(X, y).predict_proba(other), abs=1e-6)


def test_weights_that_reach_the_map_of_a_calibration_alone_are_still_warned_of(data):
    X, y, _ = data
    weight = np.where(y == 1, 2.0, 1.0)
    model = CalibratedClassifierCV(KNeighborsClassifier(), cv=3)
    with pytest.warns(UserWarning, match="KNeighborsClassifier does not appear to accept sample_weight"):
        LossCorrectedClassifier(model).fit(X, y, sample_weight=weight)


def test_weights_reach_a_pipeline_inside_a_calibration_and_its_maps(data):
    X, y, other = data
    weight = np.where(y == 1, 8.0, 1.0)
    piped, plain = (
        LossCorrectedClassifier(CalibratedClassifierCV(inner, cv=3)).fit(X, y, sample_weight=weight)
        for inner in (make_pipeline(FunctionTransformer(), INNER), INNER)
    )
    assert piped.predict_proba(other) == pytest.approx(plain.predict_proba(other), abs=1e-12)


@weighing
def test_an_estimator_that_takes_no_weights_is_refused_by_name(data, name):
    X, y, _ = data
    nearest = KNeighborsClassifier()
    for inner in (nearest, make_pipeline(StandardScaler(), nearest), GridSearchCV(nearest, {"n_neighbors": [3]})):
        model = clone(MODELS[name]).set_params(estimator=inner)
        if name == "calibrated":  # calibration warns, and weighs its maps alone
            model.set_params(calibrate=None)
        with pytest.raises(ValueError, match=r"must take sample_weight in fit, which .*KNeighborsClassifier\(.* not: "):
            model.fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.filterwarnings("ignore:The SAMME.R algorithm")  # of older versions of scikit-learn
@weighing
@pytest.mark.parametrize("routed", [False, True])
def test_a_member_that_takes_no_weights_is_refused_by_name_and_so_is_one_under_routing(data, name, routed):
    X, y, _ = data
    nearest = KNeighborsClassifier()
    vote = VotingClassifier([("a", INNER), ("b", nearest)], voting="soft")
    piped = make_pipeline(StandardScaler(), vote)
    members = (vote, piped, StackingClassifier([("a", nearest)], INNER), AdaBoostClassifier(nearest))
    for inner in [nearest] if routed else members:
        model = clone(MODELS[name]).set_params(estimator=inner)
        if name == "calibrated":
            model.set_params(calibrate=None)
        refused = pytest.raises(ValueError, match=r"must take sample_weight in fit, which KNeighborsClassifier\(\) ")
        with sklearn.config_context(enable_metadata_routing=routed), refused:
            model.fit(X, y, sample_weight=np.ones(len(y)))


class Elsewhere(LogisticRegression):
    """A classifier whose own code goes wrong, with words that are much like those of an estimator without weights."""

    def fit(self, X, y, sample_weight=None):
        def prepare(X, y):
            return X, y

        return prepare(X, y, sample_weight=sample_weight)


def test_errors_from_elsewhere_in_fit_stay_as_they_are(data):
    X, y, _ = data
    said = (
        "does not support sample weights|got an unexpected keyword argument 'sample_weight'"  # or as scikit-learn does
    )
    for inner in (Elsewhere(), VotingClassifier([("a", Elsewhere()), ("b", KNeighborsClassifier())], voting="soft")):
        with pytest.raises(TypeError, match=said) as caught:
            PlugInThresholdClassifier(inner).fit(X, y, sample_weight=np.ones(len(y)))
        assert "prepare()" in str(caught.value.__cause__ or caught.value)


class Halves(BaseEstimator):
    """A sampler as those of imbalanced-learn are."""

    def fit_resample(self, X, y):
        return X[::2], y[::2]


@weighing
def test_weights_beside_a_sampler_are_refused(data, name):
    X, y, _ = data
    model = clone(MODELS[name])
    for sampler, pipeline in samplers():
        model.set_params(estimator=pipeline)
        with pytest.raises(ValueError, match=f"sample_weight cannot follow the rows that {sampler} drops or repeats"):
            model.fit(X, y, sample_weight=np.ones(len(y)))


def samplers():
    """Pipelines with a sampler, and its name."""
    yield "Halves", Pipeline([("halves", Halves()), ("last", INNER)])
    try:
        from imblearn.pipeline import make_pipeline as make_sampling_pipeline
        from imblearn.under_sampling import RandomUnderSampler
    except ImportError:
        return
    yield "RandomUnderSampler", make_sampling_pipeline(StandardScaler(), RandomUnderSampler(), INNER)


def test_weights_pass_by_a_frozen_model_without_any(data):
    frozen = pytest.importorskip("sklearn.frozen", reason="scikit-learn 1.6 or later")
    X, y, _ = data
    weight, fitted = 1.0 + np.arange(len(y)) % 4, KNeighborsClassifier(30).fit(X, y)
    model = PlugInThresholdClassifier(frozen.FrozenEstimator(fitted)).fit(X, y, sample_weight=weight)
    prob = fitted.predict_proba(X)[:, 1]
    best = max(
        2 * weight[(prob >= t) & (y == 1)].sum() / (weight[prob >= t].sum() + weight[y == 1].sum()) for t in prob
    )
    taken = prob >= model.threshold_
    assert 2 * weight[taken & (y == 1)].sum() / (weight[taken].sum() + weight[y == 1].sum()) == pytest.approx(best)


def priced(data):
    """Rows of training with amounts, and how much thresholds cost them in a mean row."""
    X, y, other = data
    rng = np.random.default_rng(0)
    amounts = {"false_positive": rng.uniform(1, 5, len(y)), "false_negative": rng.lognormal(2, 0.8, len(y))}

    def cost(p, t, rows=slice(None), weight=None):
        act, label = p >= t, y[rows] == 1
        lost = np.where(label & ~act, amounts["false_negative"][rows], 0.0)
        lost += np.where(~label & act, amounts["false_positive"][rows], 0.0)
        return np.average(lost, weights=weight)

    return X, y, other, amounts, cost


@pytest.mark.parametrize("weighted", [False, True])
def test_the_threshold_of_money_is_the_cheapest_on_held_out_folds(data, weighted):
    X, y, _, amounts, cost = priced(data)
    weight = 1.0 + np.arange(len(y)) % 3 if weighted else None
    model = PlugInThresholdClassifier(INNER, "money").fit(X, y, sample_weight=weight, **amounts)
    fitted = {"params": {"sample_weight": weight}} if weighted else {}
    with sklearn.config_context(enable_metadata_routing=True):
        inner = clone(INNER).set_fit_request(sample_weight=weighted)
        p = cross_val_predict(inner, X, y, method="predict_proba", **fitted)[:, 1]
    least = min(cost(p, t, weight=weight) for t in [*p, 2.0])
    assert cost(p, model.threshold_, weight=weight) == pytest.approx(least, rel=1e-12)
    assert cost(p, 0.5, weight=weight) > 1.2 * least
    at_stake = np.average(np.where(y == 1, amounts["false_negative"], amounts["false_positive"]), weights=weight)
    assert model.population_threshold_.utility == pytest.approx(1 - least / at_stake, rel=1e-12)
    plain = clone(INNER).fit(X, y, sample_weight=weight)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))  # amounts do not bend the probabilities
    assert np.array_equal(model.predict(X), plain.predict_proba(X)[:, 1] >= model.threshold_)
    named = PlugInThresholdClassifier(INNER, "money", pos_label="fraud")
    named.fit(X, np.where(y, "fraud", "ok"), sample_weight=weight, **amounts)
    assert named.threshold_ == pytest.approx(model.threshold_, abs=1e-9)


def test_one_amount_for_all_rows_gives_the_threshold_of_its_cost_ratio(data):
    X, y, _ = data
    model = PlugInThresholdClassifier(INNER, "money").fit(X, y, false_positive=1, false_negative=4)
    p = cross_val_predict(INNER, X, y, method="predict_proba")[:, 1]
    regret = [expected_regret(y, (p >= t).astype(float), costs=0.2) for t in [*p, 2.0]]
    assert expected_regret(y, (p >= model.threshold_).astype(float), costs=0.2) == pytest.approx(min(regret), rel=1e-12)


def test_amounts_without_money_and_money_without_amounts_are_refused(data):
    X, y, _, amounts, _ = priced(data)
    with pytest.raises(ValueError, match="pass either false_positive= and false_negative="):
        PlugInThresholdClassifier(INNER, "money").fit(X, y)
    with pytest.raises(ValueError, match="false_positive= and false_negative= belong together"):
        PlugInThresholdClassifier(INNER, "money").fit(X, y, false_positive=1)
    with pytest.raises(ValueError, match=r'are for measure="money", got \'f1\''):
        PlugInThresholdClassifier(INNER).fit(X, y, **amounts)
    for one in ("false_positive", "false_negative"):
        with pytest.raises(ValueError, match=r'are for measure="money", got \'f1\''):
            PlugInThresholdClassifier(INNER).fit(X, y, **{one: 1})
    with pytest.raises(ValueError, match="false_negative must be a number or one for each of the 500 rows"):
        PlugInThresholdClassifier(INNER, "money").fit(X, y, false_positive=1, false_negative=[1.0, 2.0])


@pytest.mark.parametrize("labels", [(0, 1), ("ok", "fraud"), ("fine", "fraud"), (1, 0)])
def test_corrected_probabilities_decide_by_the_amounts_of_each_row(data, labels):
    X, y, other = data
    inner = LogisticRegression(class_weight="balanced")
    positive = {} if labels == (0, 1) else {"pos_label": labels[1]}
    model = LossCorrectedClassifier(inner, **positive).fit(X, np.where(y == 1, labels[1], labels[0]))
    rng = np.random.default_rng(1)
    a, b = rng.uniform(1, 5, len(other)), rng.lognormal(2, 0.8, len(other))
    p = model.predict_proba(other)[:, model.classes_.tolist().index(labels[1])]
    rows = zip(p, a, b, strict=True)
    wanted = [labels[int(score * miss >= (1 - score) * alarm)] for score, alarm, miss in rows]
    found = model.predict(other, false_positive=a, false_negative=b)
    assert found.tolist() == wanted
    assert 0 < np.count_nonzero(found == labels[1]) < len(other)
    assert not np.array_equal(found, model.predict(other))
    assert found.dtype == model.classes_.dtype


def test_amounts_in_decisions_are_checked(data):
    X, y, other = data
    model = LossCorrectedClassifier(INNER).fit(X, y)
    with pytest.raises(ValueError, match="false_positive= and false_negative= belong together, got one of them"):
        model.predict(other, false_positive=1)
    with pytest.raises(ValueError, match="acting never hurts in"):
        model.predict(other, false_positive=-1, false_negative=1)
    three = LossCorrectedClassifier(INNER).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="are for two classes, got 3"):
        three.predict(other, false_positive=1, false_negative=1)
    named = LossCorrectedClassifier(INNER).fit(X, np.array(["ok", "fraud"])[y])
    with pytest.raises(ValueError, match="pass pos_label= to say which"):
        named.predict(other, false_positive=1, false_negative=1)


def test_amounts_are_routed_through_a_pipeline_and_validation(data):
    X, y, other, amounts, cost = priced(data)

    def mean_cost(labels, acted, **given):
        wrong = labels != acted
        return np.mean(wrong * np.where(labels == 1, given["false_negative"], given["false_positive"]))

    with sklearn.config_context(enable_metadata_routing=True):
        asked = dict.fromkeys(amounts, True)
        plug_in = PlugInThresholdClassifier(INNER, "money").set_fit_request(**asked)
        pipe = make_pipeline(StandardScaler(), plug_in)
        scorer = make_scorer(mean_cost, greater_is_better=False).set_score_request(**asked)
        shown = {"cost": scorer, "money": get_scorer("money").set_score_request(**asked)}
        kept = {"return_estimator": True, "return_indices": True}
        found = cross_validate(pipe, X, y, scoring=shown, cv=4, params=amounts, **kept)
        search = GridSearchCV(pipe, {"pluginthresholdclassifier__cv": [3, 5]}, scoring=scorer, cv=3)
        assert np.isfinite(search.fit(X, y, **amounts).best_score_)
        decider = LossCorrectedClassifier(INNER).set_predict_request(**asked)
        line = make_pipeline(StandardScaler(), decider).fit(X, y)
        other_amounts = {name: values[:400] for name, values in amounts.items()}
        decided = line.predict(other, **other_amounts)
    for k in range(4):
        train, test = (found["indices"][part][k] for part in ("train", "test"))
        scaled = StandardScaler().fit(X[train])
        each = {name: values[train] for name, values in amounts.items()}
        alone = PlugInThresholdClassifier(INNER, "money").fit(scaled.transform(X[train]), y[train], **each)
        assert found["estimator"][k][-1].threshold_ == alone.threshold_
        p = alone.predict_proba(scaled.transform(X[test]))[:, 1]
        assert found["test_cost"][k] == pytest.approx(-cost(p, alone.threshold_, test), rel=1e-12)
        assert found["test_money"][k] == pytest.approx(1000.0 * found["test_cost"][k], rel=1e-12)
    p = line.predict_proba(other)[:, 1]
    wanted = p * other_amounts["false_negative"] >= (1 - p) * other_amounts["false_positive"]
    assert np.array_equal(decided, wanted)


def test_a_classifier_of_money_keeps_its_requests_its_features_and_its_threshold(data):
    pandas = pytest.importorskip("pandas")
    X, y, other, amounts, _ = priced(data)
    X, other = (pandas.DataFrame(part, columns=list("abcdef")) for part in (X, other))
    amounts = {name: pandas.Series(values) for name, values in amounts.items()}
    with sklearn.config_context(enable_metadata_routing=True):
        asked = PlugInThresholdClassifier(INNER, "money").set_fit_request(false_positive=True, false_negative=True)
        pipe = make_pipeline(StandardScaler(), clone(asked)).set_output(transform="pandas").fit(X, y, **amounts)
        again = clone(pipe).fit(X, y, **amounts)
    model = pipe[-1]
    assert list(model.feature_names_in_) == list("abcdef")
    assert again[-1].threshold_ == model.threshold_
    assert np.array_equal(pickle.loads(pickle.dumps(pipe)).predict(other), pipe.predict(other))  # noqa: S301
    assert np.array_equal(again.predict(other), pipe.predict(other))
    shuffled = {name: values[::-1] for name, values in amounts.items()}
    with pytest.raises(ValueError, match="X and false_positive hold the same index labels in another order"):
        clone(asked).fit(X, y, **shuffled)


class GivesLogOdds(LogisticRegression):
    """A classifier whose probabilities are none, as those of XGBoost with ``binary:logitraw``."""

    def predict_proba(self, X):
        log_odds = self.decision_function(X)
        return np.column_stack((1.0 - log_odds, log_odds))


@every_model
def test_scores_that_are_no_probabilities_are_refused(data, name):
    X, y, other = data
    inner = GivesLogOdds()
    members = {"estimator": BaggingClassifier(inner, 5, random_state=0)} if "members" in name else {"estimator": inner}
    model = clone(MODELS[name]).set_params(**members)
    if name == "calibrated":  # a map of the scores, whatever they are
        prob = model.fit(X, y).predict_proba(other)
        assert prob.min() >= 0.0
        assert prob[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)
        return
    with pytest.raises(ValueError, match=r"must give probabilities in \[0, 1\], got .* from predict_proba of "):
        model.fit(X, y).predict(other)


def test_probabilities_of_single_precision_are_taken(data):
    X, y, other = data

    class Rounded(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X).astype(np.float32) * np.float32(1.0 + 2e-7)

    found, exact = (
        LossCorrectedClassifier(inner).fit(100.0 * X, y).predict_proba(other) for inner in (Rounded(), INNER)
    )
    assert found == pytest.approx(exact, abs=1e-6)


def test_log_odds_of_xgboost_are_refused(data):
    xgboost = pytest.importorskip("xgboost", reason="needs XGBoost: pip install 'stakes[xgboost]'")
    X, y, other = data
    booster = xgboost.XGBClassifier(objective="binary:logitraw", n_estimators=30, max_depth=2)
    assert booster.fit(X, y).predict_proba(other).min() < 0.0
    model = LossCorrectedClassifier(booster, class_weight={0: 1, 1: 8}).fit(X, y)
    with pytest.raises(ValueError, match="from predict_proba of XGBClassifier"):
        model.predict(other)
    calibrated = LossCorrectedClassifier(CalibratedClassifierCV(booster), class_weight=None).fit(X, y)
    assert calibrated.predict_proba(other)[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)


def stacked(final=None):
    return StackingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], final, cv=2)


AROUND = {
    "alone": lambda inner: inner,
    "in a pipeline": lambda inner: make_pipeline(StandardScaler(), inner),
    "in a search": lambda inner: GridSearchCV(inner, {"passthrough": [False]}, cv=2),
    "in a search in a pipeline": lambda inner: make_pipeline(
        StandardScaler(), GridSearchCV(inner, {"passthrough": [False]}, cv=2)
    ),
    "in a calibration": lambda inner: CalibratedClassifierCV(inner, cv=2),
    "in stacking": lambda inner: StackingClassifier([("a", inner)], cv=2),
}


@pytest.mark.parametrize(
    "model",
    [
        PlugInThresholdClassifier(cv=2),
        ExpectedUtilityClassifier(calibrate="sigmoid", cv=2),
        LossCorrectedClassifier(class_weight=None),
        UncertaintyBoundaryClassifier(uncertainty=far, min_precision=0.6, cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_stacking_whose_last_estimator_is_left_to_scikit_learn_gives_probabilities(data, model, around):
    X, y, other = data
    given = around(stacked())
    found, stated = (
        clone(model).set_params(estimator=each).fit(X, y).predict_proba(other)
        for each in (given, around(stacked(LogisticRegression())))
    )
    assert np.array_equal(found, stated)
    assert "final_estimator=LogisticRegression()" not in repr(given)  # the caller's own stays as it is


SCORES = {
    "scores": SVC(),
    "no scores": KMeans(2),
    "pipeline": make_pipeline(StandardScaler(), RidgeClassifier()),
    "search": GridSearchCV(SVC(), {"C": [1.0]}, cv=2),
    "stacking": stacked(SVC()),
    "search of stacking": GridSearchCV(stacked(SVC()), {"passthrough": [False]}, cv=2),
    "class": LogisticRegression,
    "number": 1,
}


@every_model
@pytest.mark.parametrize("inner", SCORES.values(), ids=SCORES)
def test_an_estimator_without_probabilities_is_refused_in_fit(data, name, inner):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"^estimator must be a classifier with fit and predict_proba"):
        clone(MODELS[name]).set_params(estimator=inner).fit(X, y)


@pytest.mark.parametrize("inner", ["scores", "no scores", "pipeline", "search", "stacking"])
def test_a_fitted_estimator_without_probabilities_is_refused_in_fit(data, inner):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"^estimator must be a classifier with fit and predict_proba"):
        LossCorrectedClassifier(clone(SCORES[inner]).fit(X, y), class_weight=None, prefit=True).fit(X, y)


def test_fitted_stacking_is_left_as_it_is(data):
    frozen = pytest.importorskip("sklearn.frozen", reason="scikit-learn 1.6 or later")
    X, y, other = data
    fitted = stacked().fit(X, y)
    model = PlugInThresholdClassifier(make_pipeline(FunctionTransformer(), frozen.FrozenEstimator(fitted))).fit(X, y)
    assert np.array_equal(model.predict_proba(other), fitted.predict_proba(other))
    assert fitted.final_estimator is None


class Undefined(LogisticRegression):
    """A classifier that gives nan for some rows."""

    def predict_proba(self, X):
        return np.where(np.arange(len(X))[:, None] == 3, np.nan, super().predict_proba(X))


def test_probabilities_that_are_not_numbers_are_refused(data):
    X, y, other = data
    with pytest.raises(ValueError, match=r"must give probabilities in \[0, 1\], got nan from"):
        LossCorrectedClassifier(Undefined(), class_weight={0: 1, 1: 2}).fit(X, y).predict_proba(other)
