"""Scorers: right sign, probabilities instead of labels, and at home in scikit-learn's searches."""

import pickle
from inspect import signature
from typing import ClassVar

import numpy as np
import pytest
import sklearn
from sklearn import model_selection as selection
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stakes import RowCosts, bounded_brier_loss, costs, expected_regret, money
from stakes.actions import DeferralClassifier
from stakes.boundary import UncertaintyBoundaryClassifier
from stakes.costs import churn_profit
from stakes.metrics import METRICS, Metric, get_scorer, metrics_table, register
from stakes.utility import ExpectedUtilityClassifier, PlugInThresholdClassifier

X, Y = load_breast_cancer(return_X_y=True)
MODEL = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X[:300], Y[:300])
BINARY = {name: entry for name, entry in METRICS.items() if entry.task == "binary"}


@pytest.mark.parametrize("name", BINARY)
def test_every_binary_metric_scores_probabilities_with_the_right_sign(name):
    metric = METRICS[name]
    scorer = get_scorer(name, **metric.parameters)
    prob = MODEL.predict_proba(X[300:])[:, 1]
    value = metric.function(Y[300:], prob, **metric.parameters)
    assert scorer(MODEL, X[300:], Y[300:]) == pytest.approx(value if metric.greater_is_better else -value, rel=1e-9)
    weight = np.arange(len(Y) - 300) % 3
    weighted = metric.function(Y[300:], prob, **metric.parameters, sample_weight=weight)
    ours = scorer(MODEL, X[300:], Y[300:], sample_weight=weight)
    assert ours == pytest.approx(weighted if metric.greater_is_better else -weighted, rel=1e-9)


@pytest.mark.parametrize("name", [name for name, entry in METRICS.items() if entry.task == "multiclass"])
def test_multiclass_metrics_score_all_columns(name):
    features, species = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(features, species)
    metric = METRICS[name]
    value = metric.function(species, model.predict_proba(features), **metric.parameters)
    assert get_scorer(name, **metric.parameters)(model, features, species) == pytest.approx(-value)


def test_grid_search_picks_what_the_brier_score_picks():
    grid = {"logisticregression__C": [1e-6, 1e-2, 1]}
    search = make_pipeline(StandardScaler(), LogisticRegression())
    ours = GridSearchCV(search, grid, scoring=get_scorer("bounded_brier_loss", bounds=(0, 1))).fit(X, Y)
    theirs = GridSearchCV(search, grid, scoring="neg_brier_score").fit(X, Y)
    assert ours.best_params_ == theirs.best_params_ == {"logisticregression__C": 1}
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_several_metrics_in_one_cross_validation():
    scoring = {
        "loss": get_scorer("bounded_log_loss", bounds=(0.05, 0.5)),
        "benefit": get_scorer("net_benefit_score", threshold=0.2),
        "auc": get_scorer("roc_auc_score"),
    }
    result = cross_validate(MODEL, X, Y, scoring=scoring, cv=3)
    assert (result["test_loss"] < 0).all()
    assert (result["test_benefit"] > 0).all()
    assert (result["test_auc"] > 0.9).all()


def test_text_labels_need_and_use_the_positive_label():
    text = np.where(Y == 1, "benign", "malignant")
    model = clone(MODEL).fit(X, text)
    prob = model.predict_proba(X)[:, list(model.classes_).index("malignant")]
    expected = -bounded_brier_loss(text == "malignant", prob, bounds=(0.05, 0.2))
    scorer = get_scorer("bounded_brier_loss", bounds=(0.05, 0.2), pos_label="malignant")
    assert scorer(model, X, text) == pytest.approx(expected)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), ("no", "yes")], ids=str)
def test_threshold_tuning_finds_the_cheapest_threshold(labels):
    selection = pytest.importorskip("sklearn.model_selection")
    if not hasattr(selection, "TunedThresholdClassifierCV"):
        pytest.skip("this scikit-learn has no threshold tuning")
    y = np.array(labels)[1 - Y]  # malignant is positive
    options = {} if isinstance(labels[0], int) else {"pos_label": labels[1]}
    scorer = get_scorer("expected_regret", costs=costs.Uniform(0.02, 0.1), **options)
    model = clone(MODEL).fit(X, y)
    tuned = selection.TunedThresholdClassifierCV(model, scoring=scorer, cv="prefit", refit=False, thresholds=200).fit(
        X, y
    )
    acting = (tuned.predict(X) == labels[1]).astype(float)
    cost = expected_regret(1 - Y, acting, costs=costs.Uniform(0.02, 0.1))
    prob = tuned.estimator_.predict_proba(X)[:, 1 if labels[1] == tuned.estimator_.classes_[1] else 0]
    grid = [expected_regret(1 - Y, prob, costs=costs.Uniform(0.02, 0.1), rule=t) for t in np.linspace(0, 1, 201)[1:-1]]
    assert cost <= min(grid) + 0.002


CODINGS = {"one": (Y, 1), "zero": (1 - Y, 0), "two": (2 - Y, 1), "false": (Y == 0, False)}
CODINGS["text"] = np.where(Y == 1, "a", "b"), "a"


@pytest.mark.parametrize(("labels", "pos_label"), CODINGS.values(), ids=CODINGS)
def test_every_coding_of_the_labels_tunes_the_same_threshold(labels, pos_label):
    selection = pytest.importorskip("sklearn.model_selection")
    if not hasattr(selection, "TunedThresholdClassifierCV"):
        pytest.skip("this scikit-learn has no threshold tuning")
    column = X[:, [3]] / 1000.0
    scorer = get_scorer("expected_regret", costs=0.8, pos_label=pos_label)
    tuned = selection.TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=3).fit(column, labels)
    decided = tuned.predict(column) == pos_label
    wrong = np.where(Y == 1, 0.2 * ~decided, 0.8 * decided)  # the costs of either mistake, by hand
    assert wrong.mean() < 0.08
    plain = get_scorer("expected_regret", costs=0.8)
    expected = selection.TunedThresholdClassifierCV(LogisticRegression(), scoring=plain, cv=3).fit(column, Y)
    assert tuned.best_threshold_ == pytest.approx(expected.best_threshold_)
    assert tuned.best_score_ == pytest.approx(expected.best_score_)


class Says(ClassifierMixin, BaseEstimator):
    """Predicts what it was given, as probabilities of the first class too."""

    def __init__(self, values=(), classes=(0, 1)):
        self.values, self.classes = values, classes

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.array(self.classes)
        return self

    def predict_proba(self, X):  # noqa: ARG002
        return np.column_stack([self.values, 1.0 - np.asarray(self.values)])


def test_probabilities_of_0_and_1_stay_probabilities_where_the_positive_label_is_0():
    scorer = get_scorer("expected_regret", costs=0.2, pos_label=0)
    sure = Says(values=[1.0, 1.0, 0.0]).fit(None, None)
    assert scorer(sure, np.zeros((3, 1)), [0, 1, 1]) == pytest.approx(-0.2 / 3)  # one false positive


def test_floats_that_may_be_labels_or_probabilities_are_refused():
    scorer = get_scorer("expected_regret", costs=0.2, pos_label=0.0)
    sure = Says(values=[1.0, 1.0, 0.0], classes=(0.0, 1.0)).fit(None, None)
    with pytest.raises(ValueError, match=r"floats within 0 and 1.*where pos_label is 0.0"):
        scorer(sure, np.zeros((3, 1)), [0.0, 1.0, 1.0])


def test_sample_weight_is_routed():
    class Recorder(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):  # noqa: ARG002
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, X):
            p = np.clip(np.asarray(X)[:, 0], 0, 1)
            return np.column_stack([1 - p, p])

    rng = np.random.default_rng(0)
    features, y, w = rng.random((60, 1)), rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("bounded_brier_loss", bounds=(0.1, 0.6)).set_score_request(sample_weight=True)
        result = cross_validate(
            Recorder(), features, y, scoring=scorer, cv=3, params={"sample_weight": w}, return_indices=True
        )
    for fold, rows in enumerate(result["indices"]["test"]):
        expected = -bounded_brier_loss(y[rows], features[rows, 0], bounds=(0.1, 0.6), sample_weight=w[rows])
        assert result["test_score"][fold] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("net_benefit_score", {"threshold": 0.1}),
        ("expected_regret", {"costs": churn_profit().costs, "rule": "optimal"}),
    ],
)
def test_scorers_can_be_sent_to_other_processes(name, params):
    scorer = pickle.loads(pickle.dumps(get_scorer(name, **params)))  # noqa: S301
    assert scorer(MODEL, X, Y) == get_scorer(name, **params)(MODEL, X, Y)


@pytest.mark.parametrize("name", METRICS)
def test_metrics_can_be_sent_to_other_processes(name):
    metric = pickle.loads(pickle.dumps(METRICS[name]))  # noqa: S301
    if metric.costs is not None:
        assert metric.costs(**metric.parameters) == METRICS[name].costs(**metric.parameters)


def test_wrong_names_and_parameters_are_refused_before_any_fit():
    with pytest.raises(ValueError, match=r"registered metric.*got 'brier'"):
        get_scorer("brier")
    with pytest.raises(TypeError, match="takes no parameter 'threshold'"):
        get_scorer("bounded_brier_loss", threshold=0.1)
    with pytest.raises(TypeError, match="needs threshold="):
        get_scorer("net_benefit_score")


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("bounded_brier_loss", {"logits": True}, r"^logits must be left out or False, .* probabilities, not log-odds"),
        ("penalized_brier_loss", {"per_sample": True}, r"^per_sample must be left out or False, .* got True\.$"),
        (
            "roc_auc_score",
            {"sample_weight": np.ones(4)},
            r"^sample_weight must go with the rows to each fold, by set_sc",
        ),
        ("bounded_log_skill_score", {"reference": [0.1, 0.2]}, r"^reference must be one probability .* got \[0\.1, 0"),
    ],
)
def test_what_belongs_to_rows_or_to_other_scores_is_refused_before_any_fit(name, given, message):
    with pytest.raises(ValueError, match=message):
        get_scorer(name, **given)
    get_scorer(name, **dict.fromkeys(given, None))


@pytest.mark.parametrize("name", ["y_true", "y_prob"])
def test_labels_and_scores_are_no_parameters_of_a_scorer(name):
    with pytest.raises(TypeError, match=f"^bounded_brier_loss takes no parameter '{name}'"):
        get_scorer("bounded_brier_loss", **{name: [0, 1]})


def test_a_newly_registered_metric_appears_everywhere():
    def dummy_loss(y_true, y_prob, *, sample_weight=None, pos_label=None):  # noqa: ARG001
        return float(np.mean(y_prob))

    entry = Metric(dummy_loss, "a dummy", greater_is_better=False, low=0.0, high=1.0, propriety="none")
    register(entry)
    try:
        assert get_scorer("dummy_loss")(MODEL, X, Y) == pytest.approx(-MODEL.predict_proba(X)[:, 1].mean())
        assert "| `dummy_loss` | a dummy | lower |" in metrics_table()
        with pytest.raises(ValueError, match="registered already"):
            register(entry)
    finally:
        del METRICS["dummy_loss"]


def test_scikit_learn_reads_the_arguments_of_a_metric_as_they_are_called():
    scored = get_scorer("bounded_brier_loss", bounds=(0.1, 0.5))._score_func
    called = signature(type(scored).__call__)
    assert [*signature(scored).parameters.values()] == [*called.parameters.values()][1:]
    assert signature(scored).parameters["pos_label"].default is None


def test_a_third_label_is_no_prediction_of_a_scorer_of_two_classes():
    scored = get_scorer("bounded_brier_loss", bounds=(0.1, 0.5))._score_func
    assert scored(np.array([1, 2, 2]), np.array([1, 2, 2]), pos_label=2) == 0.0
    with pytest.raises(ValueError, match=r"y_prob must lie in \[0, 1\], got 2"):
        scored(np.array([1, 2, 2]), np.array([1, 2, 3]), pos_label=2)


def paid(n=200, seed=5):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 2))
    y = (rng.random(n) < 1 / (1 + np.exp(1.5 - features[:, 0]))).astype(int)
    return features, y, rng.lognormal(4, 1, n), rng.uniform(5, 60, n)


def money_of_rows(model, features, y, loss, check, *, per=1000.0):
    total = 0.0
    for p, label, miss, alarm in zip(model.predict_proba(features)[:, 1], y, loss, check, strict=True):
        act = p * miss >= (1 - p) * alarm
        total += alarm if act and not label else miss if label and not act else 0.0
    return per * total / len(y)


@pytest.mark.parametrize("by_row", [("false_negative",), ("false_positive", "false_negative")])
def test_amounts_by_row_are_routed_to_the_scorer_of_money(by_row):
    features, y, loss, check = paid()
    amounts = {"false_positive": check, "false_negative": loss}
    constant = {name: 15.0 for name in amounts if name not in by_row}
    routed = {name: amounts[name] for name in by_row}
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("money", **constant).set_score_request(**dict.fromkeys(by_row, True))
        options = {"return_indices": True, "return_estimator": True, "cv": 4}
        found = cross_validate(LogisticRegression(), features, y, scoring=scorer, params=routed, **options)
        search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=scorer, cv=3).fit(features, y, **routed)
    assert np.isfinite(search.best_score_)
    for score, rows, model in zip(found["test_score"], found["indices"]["test"], found["estimator"], strict=True):
        each = [np.broadcast_to(routed.get(name, 15.0), len(y))[rows] for name in ("false_negative", "false_positive")]
        assert score == pytest.approx(-money_of_rows(model, features[rows], y[rows], *each), rel=1e-12)


def test_the_scorer_of_money_agrees_with_money_and_weighs_rows():
    features, y, loss, check = paid()
    model = LogisticRegression().fit(features, y)
    weight = np.arange(len(y)) % 3
    outcome = RowCosts(y, false_positive=check, false_negative=loss, sample_weight=weight)
    scorer = get_scorer("money", factor=2.0)
    with sklearn.config_context(enable_metadata_routing=True):
        score = scorer(model, features, y, sample_weight=weight, false_positive=check, false_negative=loss)
    assert score == pytest.approx(-money(outcome, model.predict_proba(features)[:, 1], factor=2.0).cost.value)
    text = np.where(y == 1, "fraud", "ok")
    named = LogisticRegression().fit(features, text)
    by_name = get_scorer("money", pos_label="fraud", per=1, false_positive=15)
    wanted = -money_of_rows(model, features, y, loss, np.full(len(y), 15.0), per=1)
    with sklearn.config_context(enable_metadata_routing=True):
        assert by_name(named, features, text, false_negative=loss) == pytest.approx(wanted, rel=1e-9)
        total = get_scorer("money", pos_label="fraud", per="total", false_positive=15)
        assert total(named, features, text, false_negative=loss) == pytest.approx(len(y) * wanted, rel=1e-9)


def test_the_scorer_of_money_refuses_what_it_cannot_use():
    with pytest.raises(TypeError, match=r"money takes no parameter 'costs'"):
        get_scorer("money", costs=0.1)
    with pytest.raises(ValueError, match=r"false_negative must be one amount for all rows.*set_score_request"):
        get_scorer("money", false_positive=15, false_negative=[1.0, 2.0])
    with pytest.raises(ValueError, match="belong together"):
        get_scorer("money", false_positive=15)(MODEL, X, Y)


def deciding():
    """Classifiers whose decisions follow a rule of their own."""
    weighed = LogisticRegression(class_weight="balanced")
    with sklearn.config_context(enable_metadata_routing=True):
        plug_in = PlugInThresholdClassifier(weighed, "f1", pos_label="fraud")
        plug_in.set_fit_request(false_positive=False, false_negative=False)  # these are the scorer's
    found = {
        "plug-in": plug_in,
        "batch": ExpectedUtilityClassifier(weighed, "f1", pos_label="fraud"),
        "boundary": UncertaintyBoundaryClassifier(RandomForestClassifier(20, random_state=0), pos_label="fraud"),
    }
    if hasattr(selection, "FixedThresholdClassifier"):  # scikit-learn 1.5
        found["fixed"] = selection.FixedThresholdClassifier(weighed, threshold=0.8, pos_label="fraud")
        f1 = make_scorer(f1_score, pos_label="fraud")
        found["tuned"] = selection.TunedThresholdClassifierCV(weighed, scoring=f1, cv=3)
    found["pipeline"] = make_pipeline(StandardScaler(), plug_in)
    found["search"] = GridSearchCV(found["pipeline"], {"pluginthresholdclassifier__cv": [3]}, cv=3)
    return found


@pytest.mark.parametrize("name", deciding())
def test_a_classifier_that_decides_by_itself_is_scored_by_what_its_decisions_cost(name):
    features, y, loss, check = paid()
    text = np.where(y == 1, "fraud", "ok")
    scorer, weight = get_scorer("money", pos_label="fraud", per=1), np.arange(len(y)) % 3 + 1.0
    model = deciding()[name].fit(features, text)
    mistakes = np.where(y == 1, loss, check) * (model.predict(features) != text)
    amounts = {"false_positive": check, "false_negative": loss}
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = pickle.loads(pickle.dumps(scorer.set_score_request(**dict.fromkeys(amounts, True))))  # noqa: S301
        assert scorer(model, features, text, **amounts) == pytest.approx(-mistakes.mean(), rel=1e-12)
        weighed = scorer(model, features, text, sample_weight=weight, **amounts)
        asked = {"scoring": {"money": scorer, "right": "accuracy"}, "params": amounts, "cv": 2}
        found = cross_validate(model, features, text, **asked, return_estimator=True, return_indices=True)
    assert weighed == pytest.approx(-np.average(mistakes, weights=weight), rel=1e-12)
    for k, rows in enumerate(found["indices"]["test"]):
        wrong = found["estimator"][k].predict(features[rows]) != text[rows]
        assert found["test_right"][k] == pytest.approx(1.0 - wrong.mean(), rel=1e-12)
        each = np.where(y == 1, loss, check)[rows] * wrong
        assert found["test_money"][k] == pytest.approx(-each.mean(), rel=1e-12)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), (0.0, 1.0)], ids=str)
def test_the_decisions_of_every_kind_of_labels_are_charged(labels):
    features, y, _, _ = paid()
    y = np.array(labels)[y]
    model = PlugInThresholdClassifier(measure="f1").fit(features, y)
    wrong = model.predict(features) != y
    charged = np.where(y == 1, 50.0, 5.0) * wrong
    scorer = get_scorer("money", false_positive=5.0, false_negative=50.0, per="total")
    assert scorer(model, features, y) == pytest.approx(-charged.sum(), rel=1e-12)
    assert charged.sum() != pytest.approx(-scorer(model.estimator_, features, y), rel=1e-3)


def test_a_search_for_money_sees_the_threshold():
    if not hasattr(selection, "FixedThresholdClassifier"):
        pytest.skip("fixed thresholds came with scikit-learn 1.5")
    features, y, _, _ = paid()
    costs_of = {"false_positive": 5.0, "false_negative": 50.0}
    grid = {"threshold": [0.1, 0.3, 0.5, 0.9]}
    model = selection.FixedThresholdClassifier(LogisticRegression())
    search = GridSearchCV(model, grid, scoring=get_scorer("money", **costs_of), cv=4).fit(features, y)

    def mistakes(labels, acted):
        return 1000.0 * np.mean(np.where(labels == 1, 50.0, 5.0) * (labels != acted))

    plain = GridSearchCV(model, grid, scoring=make_scorer(mistakes, greater_is_better=False), cv=4).fit(features, y)
    assert search.cv_results_["mean_test_score"] == pytest.approx(plain.cv_results_["mean_test_score"], rel=1e-12)
    assert len(set(plain.cv_results_["mean_test_score"])) == 4


def test_money_of_a_classifier_that_defers_is_refused():
    features, y, _, _ = paid()
    model = make_pipeline(StandardScaler(), DeferralClassifier(costs=0.3)).fit(features, y)
    with pytest.raises(ValueError, match="money says nothing of rows that DeferralClassifier leaves to someone else"):
        get_scorer("money", false_positive=5, false_negative=50)(model, features, y)


class Counting(LogisticRegression):
    """Count how often probabilities are asked for."""

    calls: ClassVar[list[int]] = []

    def predict_proba(self, X):
        self.calls.append(len(X))
        return super().predict_proba(X)


def test_several_scorers_ask_for_the_probabilities_once_per_fold():
    features, y, loss, _ = paid()
    Counting.calls.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = {
            "brier": get_scorer("bounded_brier_loss", bounds=(0.1, 0.5)),
            "benefit": get_scorer("net_benefit_score", threshold=0.2),
            "area": get_scorer("roc_auc_score"),  # by decision_function
            "money": get_scorer("money", false_positive=15).set_score_request(false_negative=True),
        }
        result = cross_validate(Counting(), features, y, scoring=scoring, cv=4, params={"false_negative": loss})
    assert {f"test_{name}" for name in scoring} <= result.keys()
    assert Counting.calls == [50] * 4
