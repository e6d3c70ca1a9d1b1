"""Estimators judged by fitting them again: the oracle's pooled and averaged values, .632+, refusal, and simulation."""

import re

import numpy as np
import pytest
import sklearn
from scipy.stats import norm
from sklearn import model_selection
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from replications import refitting
from stakes import costs, expected_regret
from stakes.actions import DeferralClassifier
from stakes.base.estimators import part_with_folds
from stakes.boundary import UncertaintyBoundaryClassifier
from stakes.correction import LossCorrectedClassifier
from stakes.evaluation import _refit, evaluate, evaluate_estimator, select_estimator
from stakes.evaluation._refit import plus632
from stakes.inference import select_best
from stakes.training import HBlockSplit
from stakes.utility import ExpectedUtilityClassifier, PlugInThresholdClassifier


class Given(ClassifierMixin, BaseEstimator):
    """The only feature is the score."""

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - np.asarray(X)[:, 0], np.asarray(X)[:, 0]])


class Folds:
    """Three folds, each written in a form of its own."""

    def __init__(self, form):
        self.form = form

    def split(self, X, y=None, groups=None):  # noqa: ARG002
        for k in range(3):
            inside = np.arange(len(X)) % 3 == k
            yield self.form(~inside), self.form(inside)

    def get_n_splits(self, X=None, y=None, groups=None):  # noqa: ARG002
        return 3


def drawn(n, seed):
    """Ten features of which five count, and an outcome of prevalence about 0.2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    logit = -1.9 + X[:, :5] @ np.array([0.8, -0.6, 0.5, 0.4, 0.3])
    return X, (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)


def test_pooled_costs_and_averaged_area_of_the_oracle(actions_reference):
    case = actions_reference["refit"]
    X, y = np.array(case["scores"])[:, None], np.array(case["y"])
    splitter = PredefinedSplit(case["fold"])
    found = evaluate_estimator(Given(), X, y, costs=(0, 1), scale="loss", cv=splitter, repeats=1)
    assert found.cost == pytest.approx(case["brier_pooled"], abs=1e-14)
    if not np.isnan(case["auc_averaged"]):  # the oracle has none where a fold holds one class only
        assert found.auc == pytest.approx(case["auc_averaged"], abs=1e-14)
    assert found.optimism == pytest.approx(0.0, abs=1e-14)
    assert found.note == f"the interval is approximate: the rarer class has {min(y.sum(), (1 - y).sum())} rows"


def test_632_plus_of_the_oracle(actions_reference):
    for apparent, out_of_bag, gamma, *stated in actions_reference["refit"]["plus"]:
        assert list(plus632(apparent, out_of_bag, gamma)) == pytest.approx(stated, abs=1e-15)


@pytest.mark.parametrize("method", ["cv", "632+"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_certain_prediction_that_is_wrong_costs_infinitely_much(method):
    X, y = drawn(120, 0)
    asked = {"costs": costs.LogOddsUniform(0.0, 1.0), "repeats": 1, "n_resamples": 5, "method": method}
    found = evaluate_estimator(DecisionTreeClassifier(random_state=0), X, y, **asked)
    prob = cross_val_predict(DecisionTreeClassifier(random_state=0), X, y, method="predict_proba")[:, 1]
    with np.errstate(divide="ignore"):
        assert found.cost == -np.log(np.where(y, prob, 1.0 - prob)).mean() == np.inf
    assert np.isnan(found.interval).all()
    assert found.note == "there is no interval: a probability of 0 or 1 was wrong, which costs infinitely much"
    assert "cost infinite, no interval" in repr(found)
    with pytest.raises(ValueError, match=r"is refused: the estimator overfits .relative overfitting 1\.00"):
        evaluate_estimator(DecisionTreeClassifier(random_state=0), X, y, **asked | {"method": "harrell"})
    plain = evaluate_estimator(LogisticRegression(), X, y, **asked | {"method": "cv"})
    assert np.isfinite(plain.cost)
    if method == "cv":
        assert select_estimator({"tree": found, "plain": plain}, references=False).possible == ("plain",)


def test_cross_validation_is_that_of_scikit_learn():
    X, y = drawn(300, 0)
    splitter = PredefinedSplit(np.arange(300) % 6)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = evaluate_estimator(model, X, np.where(y, "yes", "no"), pos_label="yes", costs=(0.1, 0.3), cv=splitter)
    prob = cross_val_predict(model, X, y, cv=splitter, method="predict_proba")[:, 1]
    assert found.cost == pytest.approx(expected_regret(y, prob, costs=(0.1, 0.3)), abs=1e-12)
    rows = expected_regret(y, prob, costs=(0.1, 0.3), per_sample=True)
    assert found.standard_error == pytest.approx(rows.std(ddof=1) / 300**0.5, rel=1e-12)


def test_harrell_and_632_plus_by_their_definitions():
    X, y = drawn(300, 1)
    found = evaluate_estimator(
        LogisticRegression(), X, y, costs=(0.1, 0.3), method="harrell", n_resamples=40, repeats=1
    )
    plus = evaluate_estimator(LogisticRegression(), X, y, costs=(0.1, 0.3), method="632+", n_resamples=40, repeats=1)
    assert found.apparent < found.cost
    assert found.overfitting == plus.overfitting < 0.5
    assert found.apparent == pytest.approx(
        expected_regret(y, LogisticRegression().fit(X, y).predict_proba(X)[:, 1], costs=(0.1, 0.3))
    )
    assert plus.cost == pytest.approx(found.cost, rel=0.1)
    assert found.standard_error == plus.standard_error


def test_harrell_is_refused_where_the_fit_interpolates():
    X, y = drawn(250, 2)
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0)
    with pytest.raises(
        ValueError, match=r'method="harrell" is refused: the estimator overfits .relative overfitting 0\.[5-9]'
    ):
        evaluate_estimator(tree, X, y, costs=(0.1, 0.3), method="harrell", n_resamples=20, repeats=1)


TREE = DecisionTreeClassifier(random_state=0)
SEARCH = GridSearchCV(TREE, {"max_depth": [2, None]}, scoring="neg_brier_score")
MEMBERS = [("tree", TREE), ("calibrated", CalibratedClassifierCV(TREE, cv=3))]
DIVIDING = [
    ("GridSearchCV", SEARCH),
    ("CalibratedClassifierCV", CalibratedClassifierCV(TREE)),
    ("StackingClassifier", StackingClassifier([("tree", TREE)], LogisticRegression(), cv=KFold(3))),
    ("LogisticRegressionCV", LogisticRegressionCV(cv=3)),
    ("PlugInThresholdClassifier", BaggingClassifier(PlugInThresholdClassifier(TREE))),
    ("CalibratedClassifierCV", VotingClassifier(MEMBERS, voting="soft")),
    ("RFECV", make_pipeline(StandardScaler(), RFECV(LogisticRegression(), cv=3), LogisticRegression())),
    ("GridSearchCV", LossCorrectedClassifier(SEARCH)),
]


@pytest.mark.parametrize("method", ["harrell", "632+"])
@pytest.mark.parametrize(("part", "estimator"), DIVIDING)
def test_resampling_is_refused_where_folds_inside_would_divide_copies_of_a_row(method, part, estimator):
    X, y = drawn(100, 0)
    with pytest.raises(ValueError, match=rf'method="{re.escape(method)}" is refused: .* folds within {part} would'):
        evaluate_estimator(estimator, X, y, costs=(0.1, 0.3), method=method, n_resamples=2, repeats=1)


def test_resampling_goes_on_where_no_part_divides_its_rows():
    X, y = drawn(100, 0)
    plain = make_pipeline(
        StandardScaler(), VotingClassifier([("a", LogisticRegression()), ("b", Given())], voting="soft")
    )
    assert part_with_folds(plain) is None
    assert part_with_folds(CalibratedClassifierCV(TREE, cv="prefit")) is None
    if hasattr(sklearn, "frozen"):
        frozen = sklearn.frozen.FrozenEstimator(LogisticRegression().fit(*drawn(100, 1)))
        found = evaluate_estimator(
            CalibratedClassifierCV(frozen, cv=3), X, y, costs=(0.1, 0.3), method="632+", n_resamples=2, repeats=1
        )
        assert found.cost > 0.0


def test_a_search_within_resamples_takes_what_memorises_rows():
    """Why it is refused: of the two trees of the search, the one that costs less on new rows is taken from samples."""
    taken = []
    for seed in range(8):
        X, y = drawn(250, seed)
        rows = np.random.default_rng(seed).integers(250, size=250)
        taken.append([clone(SEARCH).fit(X[each], y[each]).best_params_["max_depth"] for each in (slice(None), rows)])
    of_samples, of_resamples = zip(*taken, strict=True)
    assert of_samples.count(2) == 8
    assert of_resamples.count(None) >= 4


@pytest.mark.simulation
def test_cross_validation_has_little_bias_and_apparent_cost_much():
    """Section 5 of the reference: 250 rows, apparent 15% too low, cross-validation within 1%."""
    fresh, outcome = drawn(20_000, 99)
    gaps = []
    for seed in range(30):
        X, y = drawn(250, 200 + seed)
        found = evaluate_estimator(LogisticRegression(), X, y, costs=(0.1, 0.3), repeats=1)
        truth = expected_regret(outcome, LogisticRegression().fit(X, y).predict_proba(fresh)[:, 1], costs=(0.1, 0.3))
        gaps.append([found.apparent - truth, found.cost - truth])
    mean, error = np.mean(gaps, axis=0), np.std(gaps, axis=0) / 30**0.5
    assert mean[0] < -3 * error[0]
    assert abs(mean[1]) < 3 * error[1]


def test_clusters_are_not_divided():
    X, y = drawn(200, 3)
    X, y, clusters = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(np.arange(200), 3)
    tree = DecisionTreeClassifier(random_state=0)
    leaked = evaluate_estimator(tree, X, y, costs=0.2, repeats=1)
    honest = evaluate_estimator(tree, X, y, costs=0.2, repeats=1, clusters=clusters)
    assert leaked.cost < 0.5 * honest.cost
    evaluate_estimator(tree, X, y, costs=0.2, repeats=1, clusters=clusters, method="632+", n_resamples=5)


PATIENTS = np.repeat(np.arange(60), 6)


def noise_of_patients():
    """Visits of patients, alike within each of them, and outcomes of patients that have nothing to do with these."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 3)), 6, axis=0) + 0.01 * rng.normal(size=(360, 3))
    return X, np.repeat(rng.random(60) < 0.3, 6)


@pytest.mark.parametrize(
    "cv",
    [HBlockSplit(6), StratifiedKFold(5), PredefinedSplit(np.arange(360) % 6), Folds(np.flatnonzero), Folds(np.array)],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.filterwarnings("error")
def test_folds_that_divide_clusters_are_refused(cv):
    X, y = noise_of_patients()
    with pytest.raises(
        ValueError, match=rf"cv must not divide clusters .* got a fold of {type(cv).__name__} with rows of"
    ):
        evaluate_estimator(KNeighborsClassifier(3), X, y, costs=(0.1, 0.5), cv=cv, repeats=1, clusters=PATIENTS)


@pytest.mark.parametrize(
    "cv",
    [5, GroupKFold(5), StratifiedGroupKFold(5), PredefinedSplit(PATIENTS % 5)],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.filterwarnings("error")
def test_nothing_is_learnt_from_noise_where_clusters_stay_whole(cv):
    X, y = noise_of_patients()
    asked = {"costs": (0.1, 0.5), "cv": cv, "repeats": 1, "clusters": PATIENTS}
    found = evaluate_estimator(KNeighborsClassifier(3), X, y, **asked)
    references = [expected_regret(y, np.full(360, score), costs=(0.1, 0.5)) for score in (0.0, 1.0)]
    assert found.cost > min(references)  # of treating no one and everyone, which no model of noise beats


def test_two_estimators_are_compared_on_their_rows():
    X, y = drawn(400, 4)
    models = LogisticRegression(), DecisionTreeClassifier(random_state=0)
    a, b = (evaluate_estimator(model, X, y, costs=costs.Uniform(0.1, 0.3), repeats=2) for model in models)
    found = a.compare(b, ("logistic", "tree"))
    assert found.difference == pytest.approx(a.cost - b.cost)
    assert found.significant
    gap = a.rows.costs[:, 0] - b.rows.costs[:, 0]
    # Nadeau and Bengio 2003: 1 / J + test / fit rows in place of 1 / J, for J = 10 folds of 40 rows and fits to 360
    corrected = (1 / 10 + 40 / 360) / (1 / 10) * gap.var(ddof=1) / 400
    assert found.standard_error == pytest.approx(corrected**0.5)
    assert found.interval[1] - found.difference >= 1.96 * found.standard_error
    assert sum(found.interval) == pytest.approx(2 * found.difference)
    ratio = abs(found.difference) / found.standard_error
    assert found.p_value == pytest.approx(2 * norm.sf(ratio), rel=0.5)
    assert found.p_value < 0.05
    assert a.compare(evaluate_estimator(models[1], X, y, costs=(0.1, 0.3), cv=2)).standard_error > 1.1 * corrected**0.5
    other = evaluate_estimator(models[0], X, 1 - y, costs=0.2, repeats=1)
    with pytest.raises(ValueError, match="other must be of the same rows: the labels differ"):
        a.compare(other)
    with pytest.raises(ValueError, match="other must be judged by the same costs, got Fixed"):
        a.compare(evaluate_estimator(models[0], X, y, costs=0.2, repeats=1))
    with pytest.raises(ValueError, match="the clusters differ"):
        other.compare(evaluate_estimator(models[0], X, 1 - y, costs=0.2, repeats=1, clusters=np.arange(400) // 2))


def judged(models, X, y, **options):
    return {name: evaluate_estimator(model, X, y, costs=(0.1, 0.3), **options) for name, model in models.items()}


def test_the_best_estimator_is_chosen_as_by_select_best_from_its_held_out_scores():
    X, y = drawn(300, 5)
    models = {"all": LogisticRegression(), "two": make_pipeline(FirstTwo(), LogisticRegression())}
    splitter = PredefinedSplit(np.arange(300) % 6)
    found = select_estimator(judged(models, X, y, cv=splitter), incumbent="two", n_tried=4)
    held_out = {
        name: cross_val_predict(m, X, y, cv=splitter, method="predict_proba")[:, 1] for name, m in models.items()
    }
    by_hand = select_best(y, held_out, costs=(0.1, 0.3), incumbent="two", n_tried=4)
    assert (found.chosen, found.possible, found.references) == (by_hand.chosen, by_hand.possible, by_hand.references)
    assert found.costs == pytest.approx(by_hand.costs, abs=1e-12)
    half, by_rows = (np.ptp(each.interval) / 2 for each in (found, by_hand))
    assert np.mean(found.interval) == pytest.approx(found.cost, abs=1e-12)
    assert 1.0 <= half / by_rows < 1.05  # errors of rows, which go together less where fits vary
    assert found.corrected_cost > by_hand.corrected_cost
    longer = (1 + 300 / 250) ** 0.5  # fits to 250 rows each: what beats what was named must hold for other fits
    for name, limit in by_hand.against.items():
        gap = found.costs[found.chosen] - found.costs[name]
        assert found.against[name].limit - gap == pytest.approx(longer * (limit.limit - gap), rel=0.02)  # by draws
    assert found.sentence.startswith("Fitted to all rows, as judged by cross-validation, all costs least on these 300")
    assert select_estimator(judged(models, X, y, cv=splitter), references=False).references == ()
    rows = _refit._together(list(judged(models, X, y, cv=splitter).values()), references=True)
    for k, of_class in enumerate((y == 0, y == 1)):  # what treating all or no one costs in every row is the most it can
        assert rows.largest[k, 2:] == pytest.approx(rows.costs[of_class, 2:].max(axis=0))


def test_probabilities_of_being_best_allow_for_other_fits_as_comparisons_do():
    X, y = drawn(300, 5)
    found = judged({"all": LogisticRegression(), "tight": LogisticRegression(C=0.02)}, X, y, repeats=1)
    gap = found["all"].compare(found["tight"])
    choice = select_estimator(found, references=False)
    other = next(name for name in found if name != choice.chosen)
    error, z = gap.standard_error, abs(gap.difference) / gap.standard_error
    assert 0.5 < norm.cdf(z) < 0.95
    assert choice.p_best == pytest.approx({choice.chosen: norm.cdf(z), other: norm.sf(z)}, abs=1e-9)
    assert choice.expected_regret == pytest.approx(error * (norm.pdf(z) - z * norm.sf(z)), rel=1e-7)
    assert choice.corrected_cost - choice.cost == pytest.approx(error * norm.pdf(z), rel=1e-7)
    beside = select_estimator(found).p_best  # the same where the references, which hardly ever lead, compete
    assert beside == pytest.approx({**choice.p_best, "treat all": 0.0, "treat none": 0.0}, abs=0.01)


class FirstTwo(BaseEstimator):
    """Keep two features."""

    def fit(self, X, y=None):  # noqa: ARG002
        return self

    def transform(self, X):
        return X[:, :2]

    def __sklearn_is_fitted__(self):
        return True


@pytest.mark.simulation
@pytest.mark.parametrize("world", refitting.WORLDS)
def test_estimators_that_cost_the_same_are_seldom_told_apart(world):
    """120 data sets of 250 rows, nominal 5%, 5% and 2.5%: they differ, one is left out, or the incumbent is beaten."""
    found = refitting.selection(world, 2, 250, 120)
    assert found["two differ"] <= 0.05 + 2 * (0.05 * 0.95 / 120) ** 0.5
    assert found["a given one left out"] <= 0.05 + 2 * (0.05 * 0.95 / 120) ** 0.5
    assert found["incumbent beaten"] <= 0.025 + 2 * (0.025 * 0.975 / 120) ** 0.5


def test_estimators_that_cannot_be_selected_among_are_refused():
    X, y = drawn(100, 6)
    cv = evaluate_estimator(LogisticRegression(), X, y, costs=0.2, repeats=1)
    plus = evaluate_estimator(LogisticRegression(), X, y, costs=0.2, repeats=1, method="632+", n_resamples=5)
    for given, message in (
        ({}, "estimators must map at least one name to a Refit"),
        ({"a": 0.2}, r"estimators\['a'\] must be what evaluate_estimator returns, got float"),
        ({"treat all": cv}, "that names a reference"),
        ({"a": cv, "b": plus}, r"""estimators\['b'\] must be judged by method="cv", .* got '632\+'"""),
    ):
        with pytest.raises(ValueError, match=message):
            select_estimator(given)
    with pytest.raises(ValueError, match="incumbent must be one of 'a', got 'z'"):
        select_estimator({"a": cv}, incumbent="z")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "boot"}, "method must be one of"),
        ({"cv": 1}, "cv must be a whole number >= 2"),
        ({"repeats": 0}, "repeats must be a whole number >= 1"),
        ({"method": "632+", "n_resamples": 0}, "n_resamples must be a whole number >= 1"),
    ],
)
def test_refusals(options, message):
    X, y = make_classification(60, random_state=0)
    with pytest.raises(ValueError, match=message):
        evaluate_estimator(LogisticRegression(), X, y, costs=0.2, **options)


def test_an_estimator_gives_an_evaluation_of_its_cross_validated_probabilities():
    X, y = drawn(300, 3)
    folds = PredefinedSplit(np.arange(300) % 5)
    estimator = LogisticRegression()
    asked = {"cv": folds, "repeats": 2, "costs": (0.1, 0.5)}
    result = evaluate_estimator(estimator, X, y, **asked).evaluation("logistic")
    prob = cross_val_predict(estimator, X, y, cv=folds, method="predict_proba")[:, 1]
    assert result["logistic"].score == pytest.approx(expected_regret(y, prob, costs=(0.1, 0.5)), rel=1e-12)
    assert "logistic" in result.to_html()


def test_fits_say_how_far_they_are(capfd):
    X, y = drawn(100, 3)
    evaluate_estimator(Given(), np.abs(X[:, :1]) % 1.0, y, costs=0.3, cv=3, repeats=1)
    assert capfd.readouterr() == ("", "")
    evaluate_estimator(Given(), np.abs(X[:, :1]) % 1.0, y, costs=0.3, cv=3, repeats=1, verbose=11)
    told = capfd.readouterr()
    assert "Done" in told.out + told.err


OWN_RULES = [
    PlugInThresholdClassifier(LogisticRegression()),
    ExpectedUtilityClassifier(LogisticRegression()),
    DeferralClassifier(LogisticRegression()),
    UncertaintyBoundaryClassifier(LogisticRegression()),
]
if hasattr(model_selection, "FixedThresholdClassifier"):  # from scikit-learn 1.5 on
    OWN_RULES += [
        model_selection.FixedThresholdClassifier(LogisticRegression(), threshold=0.999),
        model_selection.TunedThresholdClassifierCV(LogisticRegression(), cv=3),
    ]


@pytest.mark.parametrize("own", OWN_RULES, ids=lambda own: type(own).__name__)
@pytest.mark.parametrize("around", ["nothing", "pipeline", "search"])
def test_a_classifier_whose_own_decisions_would_not_be_judged_is_refused(own, around):
    X, y = make_classification(100, random_state=0)
    wrapped = {
        "nothing": own,
        "pipeline": make_pipeline(StandardScaler(), own),
        "search": GridSearchCV(own, {"estimator__C": [0.1, 1.0]}),
    }
    message = f"estimator must leave decisions to its .* got {type(own).__name__}, whose own rule would not be judged"
    with pytest.raises(ValueError, match=message):
        evaluate_estimator(wrapped[around], X, y, costs=0.2, cv=5, repeats=1)


def test_own_decisions_are_judged_as_scores_of_0_and_1():
    """As the refusal of a classifier with a threshold of its own advises: one of 0.999 costs twice as much."""
    X, y = make_classification(300, weights=[0.8], flip_y=0.1, random_state=0)
    acts = cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")[:, 1] >= 0.999
    by_hand = np.where(y == 1, 0.8 * ~acts, 0.2 * acts).mean()
    assert evaluate(y, {"own": acts}, costs=0.2)["own"].score == pytest.approx(by_hand, abs=1e-15)
    found = evaluate_estimator(LogisticRegression(), X, y, costs=0.2, cv=5, repeats=1)
    assert found.cost < 0.5 * by_hand
    corrected = LossCorrectedClassifier(LogisticRegression())  # which changes probabilities, and has no rule of its own
    assert evaluate_estimator(corrected, X, y, costs=0.2, cv=5, repeats=1).cost == found.cost


ROWS = np.arange(20.0)[:, None]
MISTAKES = {
    "X a number": ({"X": 1.0}, "X must hold one row per label, as an array or a data frame, got 1.0"),
    "X without dimensions": ({"X": np.array(1.0)}, r"X must hold one row per label.* got array\(1.\)"),
    "X a text": ({"X": "rows"}, "X must hold one row per label.* got 'rows'"),
    "X a mapping": ({"X": {1: 2}}, "X must hold one row per label"),
    "X an iterator": ({"X": iter(ROWS)}, "X must hold one row per label"),
    "X one row short": ({"X": ROWS[1:]}, "X must hold one row per label of y, got 19 rows for 20 labels"),
    "y a number": ({"y": 1}, r"y must be 1-D, one label per row of X, got shape \(\)"),
    "y of one class": ({"y": [1] * 20}, "y must hold both classes, got 20 rows of one class"),
    "one positive": ({"y": [0] * 19 + [1]}, "cv must leave both classes to fit on"),
    "estimator a class": ({"estimator": LogisticRegression}, "estimator must be a classifier with fit and"),
    "estimator nothing": ({"estimator": None}, r"estimator must be a classifier .* got None\.$"),
    "estimator of scores": (
        {"estimator": LinearSVC()},
        "estimator must be .* got LinearSVC.*; CalibratedClassifierCV of",
    ),
    "a class of scores": ({"estimator": LinearSVC}, r"estimator must be a classifier .* got <class '[a-zA-Z_.]*'>\.$"),
    "folds a text": ({"cv": "ten"}, "cv must be a number, got 'ten'"),
    "folds beyond rows": ({"cv": 11}, "cv must be at most the 10 rows of the commoner class, got 11"),
}


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(("changed", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_names_the_argument(changed, message):
    given = {"estimator": LogisticRegression(), "X": ROWS, "y": [0, 1] * 10, "costs": 0.2} | changed
    with pytest.raises(ValueError, match=message):
        evaluate_estimator(given.pop("estimator"), given.pop("X"), given.pop("y"), **given)


def test_rows_of_lists_and_frames_give_the_costs_of_an_array():
    pandas = pytest.importorskip("pandas")
    forms = ROWS, ROWS.tolist(), pandas.DataFrame(ROWS)
    first, *others = (evaluate_estimator(LogisticRegression(), X, [0, 1] * 10, costs=0.2, repeats=1) for X in forms)
    assert {each.cost for each in others} == {first.cost}


@pytest.mark.parametrize(
    ("cv", "counts"),
    [
        (RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=1), "got 0 rows in none and 60 in several"),
        (ShuffleSplit(n_splits=1, test_size=0.5, random_state=0), "got 30 rows in none and 0 in several"),
    ],
    ids=str,
)
def test_folds_that_test_a_row_several_times_or_never_are_refused(cv, counts):
    X, y = np.linspace(0.1, 0.9, 60)[:, None], np.arange(60) % 2
    with pytest.raises(ValueError, match=f"cv must put every row into a test fold once, {counts}"):
        evaluate_estimator(Given(), X, y, costs=(0.1, 0.5), cv=cv, repeats=1)


@pytest.mark.parametrize("form", [lambda mask: mask, lambda mask: np.flatnonzero(mask) - 60], ids=["masks", "negative"])
def test_folds_may_be_masks_or_places_from_the_end(form):
    X, y = np.linspace(0.1, 0.9, 60)[:, None], np.arange(60) % 2
    plain, other = (
        evaluate_estimator(Given(), X, y, costs=(0.1, 0.5), cv=Folds(each), repeats=1)
        for each in (np.flatnonzero, form)
    )
    assert plain.cost == other.cost
    assert plain.rows.inflation == other.rows.inflation == 1 + 60 / 40


def test_a_list_of_folds_is_that_of_its_splitter():
    X, y = drawn(120, 0)
    asked = {"costs": (0.1, 0.5), "repeats": 2}
    splitter = StratifiedKFold(5)
    first = evaluate_estimator(LogisticRegression(), X, y, cv=splitter, **asked)
    assert evaluate_estimator(LogisticRegression(), X, y, cv=list(splitter.split(X, y)), **asked).cost == first.cost


def test_folds_by_clusters_need_these():
    X, y = drawn(120, 0)
    with pytest.raises(
        ValueError, match=r"clusters must be given for cv=GroupKFold\(n_splits=5.*which divides by them"
    ):
        evaluate_estimator(LogisticRegression(), X, y, costs=(0.1, 0.5), cv=GroupKFold(5))


def few_rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def test_an_estimator_beside_itself_has_no_difference():
    """Its scores are the same in every row: no other rows could show a difference."""
    X, y = few_rows()
    found = evaluate_estimator(LogisticRegression(), X, y, costs=(0.1, 0.5), repeats=1, cv=4)
    itself = found.compare(found)
    assert (itself.difference, itself.interval, itself.p_value) == (0.0, (0.0, 0.0), 1.0)


def test_the_interval_ends_at_the_highest_cost():
    """No decision costs more than a false positive or a miss, 1/2 each at this cost ratio."""
    X, y = few_rows()
    found = evaluate_estimator(LogisticRegression(), X[:12], y[:12], costs=0.5, repeats=1, cv=2, confidence_level=0.999)
    assert found.cost < found.interval[1] == 0.5


@pytest.mark.parametrize(
    ("cv", "clusters", "message"),
    [
        (10, np.arange(40) % 6, "cv must be at most the 6 clusters, none of which is divided, got 10"),
        (
            [(range(20, 40), range(20)), (range(20), range(20, 41))],
            None,
            "cv must hold folds of row numbers from 0 to 39",
        ),
    ],
)
def test_folds_that_the_rows_do_not_have_are_refused_by_the_name_of_cv(cv, clusters, message):
    X, y = few_rows()
    with pytest.raises(ValueError, match=message):
        evaluate_estimator(LogisticRegression(), X, y, costs=0.5, cv=cv, clusters=clusters)


def test_clusters_may_be_called_otherwise_where_two_estimators_are_compared():
    X, y = make_classification(200, random_state=0)
    patients = np.arange(len(y)) % 50
    renamed = np.random.default_rng(0).permutation(50)[patients]
    one, other = (
        evaluate_estimator(LogisticRegression(), X, y, costs=0.2, cv=3, repeats=1, clusters=each)
        for each in (patients, renamed)
    )
    assert one.compare(other).standard_error >= 0.0
    apart = evaluate_estimator(LogisticRegression(), X, y, costs=0.2, cv=3, repeats=1, clusters=patients // 2)
    with pytest.raises(ValueError, match="the clusters differ"):
        one.compare(apart)


def test_a_difference_of_two_estimators_is_at_most_the_largest_cost():
    """Of two constant scores, one costs every negative and one every positive: nothing differs by more."""
    y = np.repeat([0, 1], [26, 4])
    X = np.zeros((30, 1))
    never, always = (
        evaluate_estimator(DummyClassifier(strategy="constant", constant=k), X, y, costs=0.9, cv=3, repeats=1)
        for k in (0, 1)
    )
    found = always.compare(never)
    assert found.difference == pytest.approx((0.9 * 26 - 0.1 * 4) / 30)
    assert found.interval[1] == pytest.approx(0.9)


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_folds_may_be_lists_tuples_or_come_one_by_one(kind):
    X, y = make_classification(200, random_state=0)
    pairs = list(StratifiedKFold(4).split(X, y))
    asked = {"costs": 0.2, "repeats": 2}
    expected = evaluate_estimator(LogisticRegression(), X, y, cv=pairs, **asked)
    folds = kind([[fit.tolist(), judge.tolist()] for fit, judge in pairs])
    assert evaluate_estimator(LogisticRegression(), X, y, cv=folds, **asked).cost == expected.cost
