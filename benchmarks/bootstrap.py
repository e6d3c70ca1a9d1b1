"""1,000 bootstrap replicates of MCB and DSC, and honest intervals of them, beside a new isotonic fit for each."""

import numpy as np

import stakes
from benchmarks._rows import Entry, Goal, Row
from benchmarks.core import ours
from stakes.metrics._losses import decompose_table

SIZES = (10**4, 10**5)
GOAL_SIZE = 10**5
RESAMPLES = 1000
BRIER = stakes.costs.Uniform(0, 1)


def parts_of(table):
    terms = decompose_table(table, BRIER, "loss")
    return {"MCB": terms.miscalibration, "DSC": terms.discrimination}


def replicates(inputs):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the bias, which is the point of the other row
        return stakes.inference.bootstrap(inputs.y, inputs.score, parts_of, n_resamples=RESAMPLES, random_state=1)


def by_isotonic_regression(inputs):
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(1)
    found = np.empty((RESAMPLES, 2))
    for i in range(RESAMPLES):
        rows = rng.integers(0, len(inputs.y), len(inputs.y))
        y, score = inputs.y[rows], inputs.score[rows]
        fitted = IsotonicRegression().fit_transform(score, y)
        recalibrated, rate = np.mean((fitted - y) ** 2), y.mean()
        found[i] = np.mean((score - y) ** 2) - recalibrated, rate * (1 - rate) - recalibrated
    return found


def cross_fitted(inputs):
    return stakes.inference.decomposition_interval(inputs.y, inputs.score, costs=BRIER, scale="loss", random_state=1)


ROWS = (
    Row(
        "1,000 bootstrap replicates of MCB and DSC",
        ours("bootstrap", replicates),
        (Entry("scikit-learn", "IsotonicRegression on drawn rows", by_isotonic_regression, max_rows=GOAL_SIZE),),
        goals=(Goal("at most 20 s", lambda by: by["stakes"].best, 20.0, "s", rows=GOAL_SIZE),),
    ),
    Row("intervals of MCB and DSC", ours("decomposition_interval", cross_fitted)),
)
