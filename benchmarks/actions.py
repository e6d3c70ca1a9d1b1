"""More than two actions: thresholds, fees, certificates, matrices, value of information; beside scikit-learn and MAPIE.

MAPIE's controller tests a grid of 100 thresholds with Holm's correction, `certify_decided` every score in turn: both
promise the same, at thresholds of their own, so that only times are compared.
"""

from dataclasses import replace

import numpy as np

from benchmarks._rows import Entry, Row, within_seconds
from stakes import ScoreTable, costs, value_of_information
from stakes.actions import certify_decided, deferral_curve, evaluate_actions, fit_deferral
from stakes.costs import Deferral

SIZES = (10**4, 10**5, 10**6)
FEES = np.linspace(0.0, 0.16, 100)
_RNG = np.random.default_rng(0)
MATRIX, DEARER = 1.0 - np.eye(10), (1.0 - np.eye(10)) * (1.0 + 4.0 * _RNG.random((10, 10)))


def within(limit):
    """A goal at a million rows."""
    return replace(within_seconds(limit), rows=10**6)


def table(inputs):
    return ScoreTable.from_predictions(inputs.y, inputs.score)


def ten_classes(inputs):
    """Classes and probabilities made of the score: the true class has the larger ones."""
    rng, n = np.random.default_rng(1), len(inputs.y)
    prob = rng.random((n, 10)) ** 3
    y = rng.integers(0, 10, n)
    prob[np.arange(n), y] += inputs.score
    return y, prob / prob.sum(axis=1, keepdims=True)


def five_models(inputs):
    rng = np.random.default_rng(2)
    return inputs.y, {
        f"m{k}": np.clip(inputs.score + 0.02 * k * rng.normal(size=len(inputs.y)), 0, 1) for k in range(5)
    }


def plain_matrix(data):
    y, prob = data
    return float(MATRIX[y, np.argmin(prob @ MATRIX, axis=1)].mean())


def sklearn_matrix(data):
    """The same from a confusion matrix."""
    from sklearn.metrics import confusion_matrix

    y, prob = data
    counts = confusion_matrix(y, np.argmin(prob @ MATRIX, axis=1), labels=range(10))
    return float((counts * MATRIX).sum() / len(y))


def plain_segment(data):
    """The mean over 101 matrices of the segment, each decided by itself."""
    y, prob = data
    values = []
    for theta in np.linspace(0.0, 1.0, 101):
        matrix = (1.0 - theta) * MATRIX + theta * DEARER
        values.append(matrix[y, np.argmin(prob @ matrix, axis=1)].mean())
    return float(np.mean(values))


def plain_information(data):
    """Twenty draws of the Bayesian bootstrap of the rows' losses; thousands are needed."""
    y, models = data
    spread = costs.Uniform(0.1, 0.3)
    columns = [spread.row_loss(y == 1, np.asarray(p)) / spread.mass for p in models.values()]
    losses = np.column_stack([*columns, np.where(y == 1, 0.0, 0.2), np.where(y == 1, 0.8, 0.0)])
    rng, found = np.random.default_rng(0), []
    for _ in range(20):
        weight = rng.standard_exponential(len(y))
        found.append(weight @ losses / weight.sum())
    found = np.array(found)
    return float((found[:, losses.mean(axis=0).argmin()] - found.min(axis=1)).mean())


def _fees(inputs, mean_cost):
    """Chow's rule row by row, fee by fee: decisions 0, 1, and 2 for deferred."""
    found = []
    for fee in FEES:
        low, high = fee / 0.8, 1.0 - fee / 0.2
        decision = np.where(inputs.score >= 0.2, 1, 0)
        if low < high:
            decision[(inputs.score > low) & (inputs.score < high)] = 2
        found.append(mean_cost(decision, np.array([[0.0, 0.2, fee], [0.8, 0.0, fee]])))
    return found


def plain_fees(inputs):
    return _fees(inputs, lambda decision, matrix: float(matrix[inputs.y, decision].mean()))


def sklearn_fees(inputs):
    from sklearn.metrics import confusion_matrix

    def mean_cost(decision, matrix):
        counts = confusion_matrix(inputs.y, decision, labels=[0, 1, 2])[:2]
        return float((counts * matrix).sum() / len(decision))

    return _fees(inputs, mean_cost)


def sklearn_pair(inputs):
    """Chow's rule on isotonic scores, which is the best pair."""
    from sklearn.isotonic import IsotonicRegression

    p = IsotonicRegression().fit_transform(inputs.score, inputs.y)
    defer = (p > 0.0625) & (p < 0.75)
    cost = np.where(defer, 0.05, np.where(p >= 0.75, 0.2 * (1 - inputs.y), 0.8 * inputs.y))
    return [float(cost.mean()), float(defer.mean())]


def confident(inputs):
    """How sure each decision at one half is, and whether it is right."""
    score = np.maximum(inputs.score, 1.0 - inputs.score)
    return np.where(inputs.score >= 0.5, inputs.y == 1, inputs.y == 0).astype(int), score


def mapie_controller(data):
    from mapie.risk_control import BinaryClassificationController

    right, score = data
    both = np.column_stack([1.0 - score, score])
    controller = BinaryClassificationController(
        lambda rows: rows, risk="precision", target_level=0.95, confidence_level=0.95
    )
    return controller.calibrate(both, right)


ROWS = (
    Row(
        "best pair after the sort",
        Entry(
            "stakes",
            "fit_deferral(table, costs=, deferral=)",
            lambda found: fit_deferral(found, costs=0.2, deferral=Deferral(0.05)),
            prepare=table,
            answer=lambda pair: [pair.cost, pair.share],
        ),
        (
            Entry(
                "scikit-learn",
                "IsotonicRegression, then Chow's rule (with the sort)",
                sklearn_pair,
                answer=lambda value: value,
            ),
        ),
        goals=(within(0.3),),
    ),
    Row(
        "cost over 100 fees",
        Entry(
            "stakes",
            "deferral_curve(table).at(fees)",
            lambda found: deferral_curve(found, costs=0.2).at(FEES),
            prepare=table,
            answer=lambda values: values[1:-1:10].tolist(),
        ),
        (
            Entry(
                "numpy",
                "a loop over the fees",
                plain_fees,
                answer=lambda values: values[1:-1:10],
            ),
            Entry(
                "scikit-learn",
                "confusion_matrix in a loop over the fees",
                sklearn_fees,
                answer=lambda values: values[1:-1:10],
                max_rows=10**5,
            ),
        ),
        goals=(within(0.5),),
    ),
    Row(
        "ten classes, ten actions, with intervals and tables",
        Entry(
            "stakes",
            "evaluate_actions(matrices=)",
            lambda data: evaluate_actions(*data, matrices=MATRIX),
            prepare=ten_classes,
            answer=lambda found: [found.cost],
        ),
        (
            Entry("numpy", "the mean cost alone", plain_matrix, prepare=ten_classes, answer=lambda value: [value]),
            Entry(
                "scikit-learn", "confusion_matrix", sklearn_matrix, prepare=ten_classes, answer=lambda value: [value]
            ),
        ),
        goals=(within(2.0),),
    ),
    Row(
        "a segment of matrices with exact knots",
        Entry(
            "stakes",
            "evaluate_actions(matrices=, theta=(0, 1))",
            lambda data: evaluate_actions(*data, matrices=[MATRIX, DEARER], theta=costs.Uniform(0, 1)),
            prepare=ten_classes,
            answer=lambda found: [found.cost],
        ),
        (Entry("numpy", "a loop over 101 matrices", plain_segment, prepare=ten_classes),),
        goals=(within(5.0),),
    ),
    Row(
        "value of information over a range, five models",
        Entry(
            "stakes",
            "value_of_information(costs=)",
            lambda data: value_of_information(*data, costs=(0.1, 0.3)),
            prepare=five_models,
            answer=lambda found: [found.evpi],
        ),
        (Entry("numpy", "20 draws of the Bayesian bootstrap", plain_information, prepare=five_models),),
        goals=(within(1.0),),
    ),
    Row(
        "certificate of 5% mistakes among the decided",
        Entry(
            "stakes",
            "certify_decided(max_error=)",
            lambda data: certify_decided(*data, threshold=0.01, max_error=0.05),
            prepare=confident,
        ),
        (
            Entry(
                "mapie",
                'BinaryClassificationController(risk="precision")',
                mapie_controller,
                prepare=confident,
                max_rows=10**5,
            ),
        ),
    ),
)
