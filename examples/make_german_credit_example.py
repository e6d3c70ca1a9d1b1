"""Make the predictions of bad loans that `stakes demo` reads.

Three classifiers predict, by 10-fold cross-validation, whether a loan goes bad; every applicant is predicted by models
that were fitted to others. The data are the Statlog German Credit table as CSV: 20 attributes under the names of their
columns (`age` among them) and `bad`, 1 for a bad loan. Run from the repository root; without --table the table is
`data/german_credit/german_credit.csv.gz` in the folder that STAKES_REFERENCE_DIR names:

    python examples/make_german_credit_example.py [--table TABLE] [FILE]
"""

import argparse
import csv
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

SHIPPED = Path(__file__).resolve().parents[1] / "src" / "stakes" / "data" / "german_credit.csv"
TABLE = Path(os.environ.get("STAKES_REFERENCE_DIR", ".")) / "data" / "german_credit" / "german_credit.csv.gz"
LABEL = "bad"
GROUP = "age_group"
OLDEST_OF_THE_YOUNG = 25
SIGNIFICANT_DIGITS = 12  # as in the other shipped file


def models():
    """Return the classifiers by the name of their column, as somebody would first try them."""
    return {
        "logistic": LogisticRegression(solver="newton-cholesky", tol=1e-8),
        "forest": RandomForestClassifier(500, min_samples_leaf=5, class_weight="balanced", random_state=0),
        "boosting": HistGradientBoostingClassifier(random_state=0),
    }


def encoder():
    """Return the step before each model: standardised numbers, and one column for each category."""
    return make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude="number")),
    )


def cross_validated_columns(table):
    """Return the labels, the out-of-fold probability of a bad loan under each model, and the age group."""
    features = pd.read_csv(table)
    bad = features.pop(LABEL).to_numpy()
    folds = StratifiedKFold(n_splits=10, shuffle=True, random_state=0)
    columns = {LABEL: bad}
    with threadpool_limits(1):  # the order of sums, and with it the last digits, must not depend on the machine
        for name, model in models().items():
            steps = make_pipeline(encoder(), model)
            columns[name] = cross_val_predict(steps, features, bad, cv=folds, method="predict_proba")[:, 1]
    young = features["age"] <= OLDEST_OF_THE_YOUNG
    columns[GROUP] = np.where(young, f"up to {OLDEST_OF_THE_YOUNG}", f"over {OLDEST_OF_THE_YOUNG}")
    return columns


def write(columns, path):
    """Write the columns as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for label, *probabilities, group in zip(*columns.values(), strict=True):
            writer.writerow([int(label), *(f"{p:.{SIGNIFICANT_DIGITS}g}" for p in probabilities), group])


def main():
    """Write the file named on the command line, by default the shipped one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("file", nargs="?", type=Path, default=SHIPPED)
    given = parser.parse_args()
    columns = cross_validated_columns(given.table)
    write(columns, given.file)
    print(f"{given.file}: {len(columns[LABEL])} rows, {int(columns[LABEL].sum())} bad")


if __name__ == "__main__":
    main()
