"""Corrections of scores for class weights and sampling, and the tests of the result.

No peer offers them; numpy's lines are the same formulas written out.
"""

import numpy as np

from benchmarks._rows import Entry, Row, within_seconds
from stakes.correction import (
    correct_probabilities,
    implied_weight,
    loss_calibration_test,
    undo_class_weight,
    undo_loss_matrix,
)

RATIO = 30.0
BETA = np.array([[2.0, 0.5, 1.0], [1.5, 3.0, 0.25], [1.0, 1.0, 4.0]])


def checked(result):
    return [float(np.mean(result)), float(np.max(result))]


def by_hand(inputs):
    return inputs.score / (inputs.score + RATIO * (1.0 - inputs.score))


def by_logits(inputs):
    with np.errstate(divide="ignore"):
        return 1.0 / (1.0 + np.exp(-(np.log(inputs.score / (1.0 - inputs.score)) - np.log(RATIO))))


def two_columns(inputs):
    return np.column_stack([1.0 - inputs.score, inputs.score])


def three_columns(inputs):
    s = inputs.score[::10]
    return np.column_stack([0.9 * s + 0.05, 0.9 - 0.8 * s, np.full(len(s), 0.3)])


BINARY = Entry(
    "stakes",
    "undo_class_weight(scale_pos_weight=30)",
    lambda inputs: undo_class_weight(inputs.score, scale_pos_weight=RATIO),
    answer=checked,
)
ROWS = (
    Row(
        "binary class weight",
        BINARY,
        (
            Entry("numpy", "s / (s + r (1 - s))", by_hand),
            Entry("numpy", "through logits", by_logits),
        ),
        goals=(within_seconds(0.5),),
    ),
    Row(
        "weights, sampling and prior, two columns",
        Entry(
            "stakes",
            "correct_probabilities(class_weight=, keep=, training_prior=, prior=)",
            lambda prob: correct_probabilities(
                prob, class_weight=[1, 3], keep=[0.1, 1], training_prior=0.1, prior=0.05
            ),
            prepare=two_columns,
            answer=checked,
        ),
    ),
    Row(
        "loss matrix, three classes, a tenth of the rows",
        Entry(
            "stakes",
            "undo_loss_matrix(beta)",
            lambda scores: undo_loss_matrix(scores, BETA),
            prepare=three_columns,
            answer=checked,
        ),
    ),
    Row(
        "implied weight",
        Entry(
            "stakes",
            "implied_weight",
            lambda inputs: implied_weight(inputs.y, inputs.score),
            answer=lambda found: [found.positive_share, found.slope],
        ),
    ),
    Row(
        "loss-calibration test without bootstrap, a tenth of the rows",
        Entry(
            "stakes",
            "loss_calibration_test(n_resamples=0)",
            lambda rows: loss_calibration_test(*rows, scale_pos_weight=RATIO, n_resamples=0),
            prepare=lambda inputs: (inputs.y[::10], inputs.score[::10]),
            answer=lambda found: [found.likelihood_ratio, found.z],
        ),
    ),
)
