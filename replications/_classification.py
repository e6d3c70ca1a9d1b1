"""The classification tables of the reference data as numbers: categories one-hot, missing numbers by their median."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

# target, and columns that are not known when the model is used or that are no features
TARGETS = {
    "adult": ("income_gt_50k", ("split",)),
    "bank_marketing": ("y", ("duration",)),
    "credit_default": ("default_next_month", ()),
    "htru2_pulsar": ("pulsar", ()),
    "spambase": ("spam", ()),
    "telco_churn": ("Churn", ()),
}
_POSITIVE = {"1", "1.0", "yes", "True"}


def data_folder():
    """Return the folder that holds data/, or stop."""
    named = os.environ.get("STAKES_REFERENCE_DIR")
    if not named:
        sys.exit("the data are not in the repository: STAKES_REFERENCE_DIR must name the folder that holds data/.")
    return Path(named)


def read_classification(folder, name):
    """Return features, labels 0 or 1, and the excluded columns by name."""
    import pandas as pd

    frame = pd.read_csv(folder / "data" / name / f"{name}.csv.gz")
    target, excluded = TARGETS[name]
    y = frame[target].astype(str).isin(_POSITIVE).to_numpy().astype(int)
    features = pd.get_dummies(frame.drop(columns=[target, *excluded]), dummy_na=False, dtype=float)
    X = features.fillna(features.median()).to_numpy(dtype=float)
    return X, y, {column: np.asarray(frame[column]) for column in excluded}
