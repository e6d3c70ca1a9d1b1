"""More than two actions: the best pair of thresholds, curves over a fee, and cost matrices beside plain numpy."""

from dataclasses import replace

import numpy as np

from benchmarks._rows import Entry, Row, within_seconds
from stakes import ScoreTable, costs, value_of_information
from stakes.actions import deferral_curve, evaluate_actions, fit_deferral
from stakes.costs import Deferral

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


def plain_fees(inputs):
    """Chow's rule row by row, fee by fee."""
    found = []
    for fee in FEES:
        low, high = fee / 0.8, 1.0 - fee / 0.2
        own = np.where(inputs.score >= 0.2, 0.2 * ~inputs.y, 0.8 * inputs.y)
        defer = (inputs.score > low) & (inputs.score < high) & (low < high)
        found.append(float(np.where(defer, fee, own).mean()))
    return found


def boolean(inputs):
    return replace(inputs, y=np.asarray(inputs.y) == 1)


ROWS = (
    Row(
        "best pair after the sort",
        Entry(
            "stakes",
            "fit_deferral(table, threshold=, deferral=)",
            lambda found: fit_deferral(found, threshold=0.2, deferral=Deferral(0.05)),
            prepare=table,
            answer=lambda pair: [pair.cost, pair.share],
        ),
        goals=(within(0.3),),
    ),
    Row(
        "cost over 100 fees",
        Entry(
            "stakes",
            "deferral_curve(table).at(fees)",
            lambda found: deferral_curve(found, threshold=0.2).at(FEES),
            prepare=table,
            answer=lambda values: values[1:-1:10].tolist(),
        ),
        (
            Entry(
                "numpy",
                "a loop over the fees",
                plain_fees,
                prepare=boolean,
                answer=lambda values: values[1:-1:10],
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
        (Entry("numpy", "the mean cost alone", plain_matrix, prepare=ten_classes, answer=lambda value: [value]),),
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
        goals=(within(1.0),),
    ),
)
