"""Which model a grid search picks: by our scorer, by scikit-learn's Brier score, and by briertools' scorer.

briertools (in the extra `bench`) wraps its loss with greater_is_better=True and hands it hard labels, so that a search
prefers the worst model. The three searches run side by side on scikit-learn's breast-cancer data.
"""

from __future__ import annotations

from importlib.util import find_spec

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stakes.metrics import get_scorer

GRID = {"logisticregression__C": [1e-6, 1e-2, 1]}


def scorers():
    found = {
        "stakes bounded_brier_loss, bounds (0, 1)": get_scorer("bounded_brier_loss", bounds=(0, 1)),
        "scikit-learn neg_brier_score": "neg_brier_score",
    }
    if find_spec("briertools"):
        from briertools.scorers import BrierScorer

        found["briertools BrierScorer().scorer"] = BrierScorer().scorer
    return found


def search(scorer):
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return GridSearchCV(model, GRID, scoring=scorer, cv=5).fit(X, y)


def main(arguments=()):  # noqa: ARG001
    print("| scorer | C = 1e-6 | C = 0.01 | C = 1 | picks C |")
    print("| --- | --- | --- | --- | --- |")
    for name, scorer in scorers().items():
        found = search(scorer)
        scores = " | ".join(f"{v:.5f}" for v in found.cv_results_["mean_test_score"])
        print(f"| {name} | {scores} | {found.best_params_['logisticregression__C']:g} |")
    if not find_spec("briertools"):
        print("\nbriertools is not installed: pip install 'stakes[bench]' in an environment of its own.")
