"""Scorers of several classes: each column of ``predict_proba`` is of its class in ``classes_``, whatever the order."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from stakes.metrics import METRICS, get_scorer

ORDER = ["mild", "moderate", "grave"]  # sorted: grave, mild, moderate
MATRIX = [[0, 1, 2], [4, 0, 1], [20, 10, 0]]
X, Y = make_classification(300, n_classes=3, n_informative=5, weights=[0.6, 0.3, 0.1], random_state=1)
TEXT = np.array(ORDER)[Y]
GIVEN = [
    ("ordinal_loss", {}),
    ("ordinal_loss", {"costs": (0.6, 0.9)}),
    ("cost_matrix_loss", {"matrices": MATRIX}),
    ("one_vs_rest_bounded_loss", {"class_weight": [1, 2, 20]}),
    ("one_vs_rest_bounded_loss", {"bounds": [(0.1, 0.2), (0.2, 0.5), (0.01, 0.1)]}),
    ("penalized_brier_loss", {}),
    ("penalized_log_loss", {"ties": "first"}),
]


def ordered():
    pd = pytest.importorskip("pandas")
    return pd.Series(pd.Categorical(TEXT, categories=ORDER, ordered=True))


@pytest.mark.parametrize(("name", "given"), GIVEN, ids=str)
def test_texts_in_a_stated_order_score_as_their_numbers_do(name, given):
    def scores(y, **labels):
        return cross_val_score(GaussianNB(), X, y, cv=3, scoring=get_scorer(name, **given, **labels))

    wanted = scores(Y)
    for y in (TEXT, TEXT.astype(object), TEXT.tolist()):
        assert scores(y, labels=ORDER) == pytest.approx(wanted, rel=1e-9)
    assert scores(ordered()) == pytest.approx(wanted, rel=1e-9)
    assert scores(7 - Y, labels=[7, 6, 5]) == pytest.approx(wanted, rel=1e-9)
    assert scores(ordered().cat.set_categories(["none", *ORDER, "deadly"])) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "given"), GIVEN, ids=str)
def test_labels_of_none_are_labels_left_out(name, given):
    model = GaussianNB().fit(X, Y)
    assert get_scorer(name, labels=None, **given)(model, X, Y) == get_scorer(name, **given)(model, X, Y)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_search_over_ordered_texts_chooses_what_one_over_their_numbers_does(seed):
    pd = pytest.importorskip("pandas")
    features, y = make_classification(600, n_classes=3, n_informative=5, weights=[0.6, 0.3, 0.1], random_state=seed)
    texts = pd.Series(pd.Categorical(np.array(ORDER)[y], categories=ORDER, ordered=True))
    found = [
        GridSearchCV(LogisticRegression(), {"C": [1e-5, 1e-3, 1e-1, 10]}, scoring=get_scorer("ordinal_loss"), cv=3)
        .fit(features, each)
        .cv_results_["mean_test_score"]
        for each in (y, texts)
    ]
    assert found[1] == pytest.approx(found[0], rel=1e-3)


@pytest.mark.filterwarnings("ignore:The y_pred values do not sum to one")  # to the last digit, in older versions
def test_they_agree_with_the_log_loss_of_scikit_learn_and_with_costs_counted_by_hand():
    model, places = GaussianNB(), np.array([1, 2, 0])  # of mild, moderate, grave among the sorted
    prob = cross_val_predict(model, X, TEXT, cv=KFold(3), method="predict_proba")[:, places]
    matrix = np.array(MATRIX)
    taken = (prob @ matrix).argmin(axis=1)
    passed = (np.cumsum(prob, axis=1) - (np.arange(3) >= Y[:, None]))[:, :-1]
    scoring = {
        "log": get_scorer("penalized_log_loss", penalty=0, labels=ORDER),
        "costs": get_scorer("cost_matrix_loss", matrices=MATRIX, labels=ORDER),
        "ranks": get_scorer("ordinal_loss", labels=ORDER),
        "theirs": "neg_log_loss",
    }
    found = cross_validate(model, X, TEXT, scoring=scoring, cv=KFold(3))
    assert found["test_log"] == pytest.approx(found["test_theirs"], rel=1e-9)
    assert found["test_log"].mean() == pytest.approx(-log_loss(TEXT, prob[:, [2, 0, 1]]), rel=1e-9)
    assert found["test_costs"].mean() == pytest.approx(-matrix[Y, taken].mean(), rel=1e-9)
    assert found["test_ranks"].mean() == pytest.approx(-(passed**2).sum(axis=1).mean(), rel=1e-9)


@pytest.mark.parametrize(("name", "given"), GIVEN, ids=str)
def test_weights_copies_and_pipelines_keep_the_order(name, given):
    model = make_pipeline(StandardScaler(), GaussianNB()).fit(X, TEXT)
    weight = np.arange(len(Y)) % 4
    scorer = get_scorer(name, **given, labels=ORDER)
    number = make_pipeline(StandardScaler(), GaussianNB()).fit(X, Y)
    wanted = get_scorer(name, **given)(number, X, Y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = scorer.set_score_request(sample_weight=True)
    repeated = np.repeat(np.arange(len(Y)), weight)
    assert scorer(model, X[repeated], TEXT[repeated]) == pytest.approx(wanted, rel=1e-9)
    for each in (scorer, clone(scorer, safe=False), pickle.loads(pickle.dumps(scorer)), routed):  # noqa: S301
        assert each(model, X, TEXT, sample_weight=weight) == pytest.approx(wanted, rel=1e-9)


def test_an_order_that_nobody_states_is_still_refused():
    model = GaussianNB().fit(X, TEXT)
    for name, given in GIVEN[:5]:
        with pytest.raises(ValueError, match="pass labels="):
            get_scorer(name, **given)(model, X, TEXT)
    pd = pytest.importorskip("pandas")
    named = pd.DataFrame(MATRIX, index=ORDER)
    wanted = get_scorer("cost_matrix_loss", matrices=MATRIX)(GaussianNB().fit(X, Y), X, Y)
    assert get_scorer("cost_matrix_loss", matrices=named)(model, X, TEXT) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("name", "given"), GIVEN, ids=str)
def test_rows_or_a_model_may_lack_a_class(name, given):
    some = Y < 2
    number, text = GaussianNB().fit(X, Y), GaussianNB().fit(X, TEXT)
    wanted = METRICS[name].function(Y[some], number.predict_proba(X[some]), labels=[0, 1, 2], **given)
    scorer = get_scorer(name, **given, labels=ORDER)
    assert scorer(text, X[some], TEXT[some]) == pytest.approx(-wanted, rel=1e-9)
    narrow = GaussianNB().fit(X[some], TEXT[some])  # gives the class that it does not know no probability
    prob = np.column_stack([narrow.predict_proba(X[some]), np.zeros(some.sum())])
    wanted = METRICS[name].function(Y[some], prob, labels=[0, 1, 2], **given)
    assert scorer(narrow, X[some], TEXT[some]) == pytest.approx(-wanted, rel=1e-9)
    with pytest.raises(ValueError, match=r"labels must hold the classes of the estimator, \['grave', .* got \['mild'"):
        get_scorer(name, **given, labels=["mild", "moderate", "severe"])(text, X, TEXT)


def test_two_classes_are_taken_by_name_beside_scorers_of_the_other_one():
    y = np.where(Y == 0, "well", "ill")
    matrices = [[0, 1], [9, 0]]  # of the well and the ill
    scoring = {
        "well": get_scorer("bounded_brier_loss", bounds=(0.1, 0.5), pos_label="well"),
        "costs": get_scorer("cost_matrix_loss", matrices=matrices, labels=["well", "ill"]),
    }
    found = cross_validate(GaussianNB(), X, y, scoring=scoring, cv=3)["test_costs"]
    wanted = cross_val_score(
        GaussianNB(), X, (Y > 0).astype(int), cv=3, scoring=get_scorer("cost_matrix_loss", matrices=matrices)
    )
    assert found == pytest.approx(wanted, rel=1e-9)


def test_a_model_without_probabilities_is_refused_by_what_it_lacks():
    for model in (LinearSVC(dual="auto"), LinearRegression()):
        with pytest.raises((AttributeError, ValueError), match="predict_proba"):
            get_scorer("penalized_brier_loss")(model.fit(X, Y), X, Y)
