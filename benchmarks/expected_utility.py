"""Decisions that maximise an expected measure: the whole curve and its certificate, beside the paper's algorithms.

Our time includes sorting the probabilities and certifying the best number of rows. `--sizes 1e2 1e3 1e4 1e5 1e6 1e7`
shows how the ways grow.
"""

from functools import partial

import numpy as np

from benchmarks._rows import GOAL_ROWS, PEER_ROWS, Entry, Goal, Row
from stakes.utility import (
    F1,
    MCC,
    BalancedAccuracy,
    FBeta,
    FowlkesMallows,
    GMean,
    HMean,
    Jaccard,
    Kappa,
    QMean,
    Recall,
    expected_utility,
    population_threshold,
)

MILLION = 10**6
CUBIC, QUADRATIC = 10**3, 10**4  # rows that the paper's algorithms end at


def solve(measure, inputs, **options):
    result = expected_utility(inputs.score, measure, **options)
    if isinstance(measure, FBeta | Jaccard) and not options and not result.certified:
        raise RuntimeError(f"not certified: {result.certificate}")
    return result


def best_value(result):
    return [result.utility, result.best_k / max(result.n_rows, 1)]


def entry(library, measure, call, max_rows=float("inf"), **options):
    return Entry(library, call, partial(solve, measure, **options), answer=best_value, max_rows=max_rows)


def ours(measure):
    return entry("stakes", measure, f"expected_utility({measure!r})")


SORT = Entry("numpy", "np.sort of the probabilities", lambda inputs: np.sort(inputs.score))


def algorithm(number, measure, max_rows):
    # written with numpy, and measured as such
    return entry("numpy", measure, f"Algorithm {number} of the paper, corrected", max_rows, method=f"algorithm{number}")


def at_a_million(seconds):
    return Goal(f"at most {seconds:g} s", lambda by: by["stakes"].best, seconds, "s", rows=MILLION)


def at_ten_million(seconds):
    return Goal(f"at most {seconds:g} s", lambda by: by["stakes"].best, seconds, "s", rows=GOAL_ROWS)


def beyond_the_input(by):
    one = by["stakes"]
    return float("nan") if one.peak is None else (one.peak - one.inputs) / 1e9


MEMORY = Goal("at most 1 GB beyond the input", beyond_the_input, 1.0, "GB")


def plug_in(inputs):
    return population_threshold(inputs.y, inputs.score, F1(), n_resamples=0)


def sklearn_scan(inputs):
    from sklearn.metrics import precision_recall_curve

    precision, recall, thresholds = precision_recall_curve(inputs.y, inputs.score)
    f1 = 2 * precision[:-1] * recall[:-1] / np.maximum(precision[:-1] + recall[:-1], 1e-300)
    best = np.argmax(f1)
    return f1[best], thresholds[best]


SCAN = Entry("stakes", "population_threshold(F1())", plug_in, answer=lambda found: [found.utility, found.threshold])
SKLEARN_SCAN = Entry("scikit-learn", "precision_recall_curve, best F1", sklearn_scan, answer=list, max_rows=PEER_ROWS)

ROWS = (
    Row(
        "F1",
        ours(F1()),
        (SORT, algorithm(1, F1(), CUBIC), algorithm(2, F1(), QUADRATIC)),
        goals=(at_a_million(0.4), at_ten_million(4.0), MEMORY),
    ),
    Row("F2", ours(FBeta(2)), (SORT,), goals=(at_a_million(0.4),)),
    Row("Jaccard", ours(Jaccard()), (SORT, algorithm(2, Jaccard(), QUADRATIC)), goals=(at_a_million(0.4),)),
    Row("balanced accuracy", ours(BalancedAccuracy()), (SORT,), goals=(at_a_million(0.5),)),
    Row("recall", ours(Recall()), (SORT,), goals=(at_a_million(0.5),)),
    Row("G-TP/PR", ours(FowlkesMallows()), (SORT,), goals=(at_a_million(0.5),)),
    Row("MCC", ours(MCC()), (SORT,), goals=(at_a_million(1.0),)),
    Row("quadratic mean", ours(QMean()), (SORT,), goals=(at_a_million(1.0),)),
    Row("kappa", ours(Kappa()), (SORT,)),
    Row("G-mean", ours(GMean()), (SORT, algorithm(1, GMean(), CUBIC)), goals=(at_a_million(3.0), MEMORY)),
    Row("H-mean", ours(HMean()), (SORT,), goals=(at_a_million(3.0), MEMORY)),
    Row("plug-in threshold for F1", SCAN, (SORT, SKLEARN_SCAN)),
)
