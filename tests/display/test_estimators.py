"""Displays from fitted classifiers show what displays from their probabilities show."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from stakes.display import DecisionCurveDisplay, DecompositionDisplay, RegretCurveDisplay, ReliabilityDisplay

DISPLAYS = [RegretCurveDisplay, DecisionCurveDisplay, ReliabilityDisplay, DecompositionDisplay]


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 2))
    return X, (X[:, 0] + rng.normal(size=120) > 0.5).astype(int)


def same(first, second):
    return all(
        np.array_equal(a.get_xydata(), b.get_xydata()) and a.get_label() == b.get_label()
        for a, b in zip(first.lines_, second.lines_, strict=True)
    )


@pytest.mark.parametrize("display", DISPLAYS)
def test_estimators_equal_their_predictions(display, data):
    X, y = data
    weight = np.linspace(0.5, 2.0, len(y))
    models = {"logistic": LogisticRegression().fit(X, y), "bayes": GaussianNB().fit(X, y)}
    scores = {name: model.predict_proba(X)[:, 1] for name, model in models.items()}
    shown = display.from_estimator(models, X, y, sample_weight=weight)
    assert same(shown, display.from_predictions(y, scores, sample_weight=weight))
    assert not same(shown, display.from_predictions(y, scores))


@pytest.mark.parametrize("display", DISPLAYS)
def test_positive_class_is_found_in_the_classes_of_the_estimator(display, data):
    X, y = data
    labels = np.where(y == 1, "a ill", "b well")  # the positive class comes first in classes_
    model = LogisticRegression().fit(X, labels)
    shown = display.from_estimator(model, X, labels, pos_label="a ill")
    assert model.classes_.tolist() == ["a ill", "b well"]
    assert same(shown, display.from_predictions(y, {"LogisticRegression": model.predict_proba(X)[:, 0]}))
    with pytest.raises(ValueError, match="pass pos_label="):
        display.from_estimator(model, X, labels)


def test_options_reach_the_picture(data, plt):
    X, y = data
    model = LogisticRegression().fit(X, y)
    _, ax = plt.subplots()
    shown = RegretCurveDisplay.from_estimator(model, X, y, bounds=(0.1, 0.3), x_scale="log-odds", legend=None, ax=ax)
    assert (shown.ax_, ax.get_xscale(), ax.get_legend()) == (ax, "logit", None)
    assert shown.bounds_ is not None


def test_classifier_without_probabilities_is_refused_with_a_way_out(data):
    X, y = data
    with pytest.raises(ValueError, match=r"got LinearSVC without it: wrap it in .*CalibratedClassifierCV"):
        RegretCurveDisplay.from_estimator(LinearSVC(dual=False).fit(X, y), X, y)


def test_classifier_of_three_classes_is_refused(data):
    X, _ = data
    three = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match="must know two classes, got GaussianNB with 3"):
        ReliabilityDisplay.from_estimator(GaussianNB().fit(X, three), X, three)


def test_unknown_positive_class_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="pos_label must be one of the classes"):
        DecompositionDisplay.from_estimator(GaussianNB().fit(X, y), X, y, pos_label=7)
