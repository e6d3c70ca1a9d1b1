"""Standard errors, intervals and bands, from a million rows."""

import numpy as np

import stakes
from benchmarks._rows import Entry, Goal, Row

SIZES = (10**5, 10**6)
THRESHOLDS = np.arange(1, 201) / 201
SECOND_MODEL_SEED = 20250409


def two_models(inputs):
    """The inputs with the scores of a second model, which errs a little in log-odds."""
    noise = 0.3 * np.random.default_rng(SECOND_MODEL_SEED).standard_normal(len(inputs.y))
    odds = inputs.score / (1.0 - inputs.score) * np.exp(noise)
    return inputs, odds / (1.0 + odds)


def difference(ready):
    inputs, second = ready
    return stakes.inference.difference_band(
        inputs.y,
        inputs.score,
        second,
        "net_benefit",
        thresholds=THRESHOLDS,
        sample_weight=inputs.weight,
    )


def one_model(inputs):
    return stakes.inference.confidence_band(inputs.y, inputs.score, "net_benefit", thresholds=THRESHOLDS)


def within(limit, rows=10**6):
    return Goal(f"at most {limit:g} s", lambda by: by["stakes"].best, limit, "s", rows=rows)


def ours(call, run, **options):
    return Entry("stakes", call, run, **options)


BAND_ROWS = (
    Row(
        "difference band of two models at 200 thresholds",
        ours("difference_band", difference, prepare=two_models),
        goals=(within(1.0),),
    ),
    Row(
        "difference band of two models at 200 thresholds, weighted",
        ours("difference_band(sample_weight)", difference, prepare=two_models),
        weighted=True,
        goals=(within(1.0),),
    ),
    Row("band of one model at 200 thresholds", ours("confidence_band", one_model), goals=(within(1.0),)),
    Row(
        "isotonic bounds of the event rate, from a table",
        ours(
            "confidence_band('reliability')",
            lambda table: stakes.inference.confidence_band(table, kind="reliability"),
            prepare=lambda inputs: stakes.ScoreTable.from_predictions(inputs.y, inputs.score),
        ),
    ),
    Row(
        "consistency band of 5,000 draws, from a table",
        ours(
            "consistency_band",
            stakes.inference.consistency_band,
            prepare=lambda inputs: stakes.ScoreTable.from_predictions(inputs.y, inputs.score),
        ),
    ),
)
ROWS = BAND_ROWS
