"""Make the predictions of malignant breast masses that come with the package.

Three classifiers predict, by 10-fold cross-validation, whether a breast mass is malignant; every row is
predicted by models that never saw it. The data come with scikit-learn. Run from the repository root:

    python examples/make_breast_cancer_example.py [FILE]
"""

import argparse
import csv
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SHIPPED = Path(__file__).resolve().parents[1] / "src" / "stakes" / "data" / "breast_cancer.csv"
LABEL = "malignant"
SIGNIFICANT_DIGITS = 12  # six decimals would turn 4e-12 into an impossible 0


def models():
    """Return the classifiers by the name of their column."""
    return {
        "logistic_regression": make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=10_000)),
        "random_forest": RandomForestClassifier(n_estimators=500, random_state=0),
        "naive_bayes": GaussianNB(),
    }


def cross_validated_columns():
    """Return the labels and the out-of-fold probability of malignancy under each model."""
    features, target = load_breast_cancer(return_X_y=True)
    malignant = 1 - target  # scikit-learn codes benign as 1
    folds = StratifiedKFold(n_splits=10, shuffle=True, random_state=0)
    columns = {LABEL: malignant}
    for name, model in models().items():
        both = cross_val_predict(model, features, malignant, cv=folds, method="predict_proba")
        columns[name] = both[:, 1]
    return columns


def write(columns, path):
    """Write the columns as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for label, *probabilities in zip(*columns.values(), strict=True):
            writer.writerow([int(label), *(f"{p:.{SIGNIFICANT_DIGITS}g}" for p in probabilities)])


def main():
    """Write the file named on the command line, by default the shipped one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=SHIPPED)
    path = parser.parse_args().file
    columns = cross_validated_columns()
    write(columns, path)
    print(f"{path}: {len(columns[LABEL])} rows, {int(columns[LABEL].sum())} malignant")


if __name__ == "__main__":
    main()
