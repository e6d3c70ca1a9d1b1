"""Every binary metric takes an outcome as it takes the weighted rows that it stands for."""

import numpy as np
import pytest

from stakes import PartlyVerified, ScoreTable, TimeToEvent
from stakes.metrics import METRICS

RNG = np.random.default_rng(21)
N = 80
P = np.round(RNG.uniform(0.02, 0.98, N), 2)
TIME = np.round(RNG.exponential(2.0 * (1.2 - P)), 1)
LEFT = np.round(RNG.exponential(2.0, N), 1)
ROWS = {"event": np.where(TIME <= LEFT, 1 + (RNG.random(N) < 0.2), 0), "time": np.minimum(TIME, LEFT)}
ASKED = {"horizon": 1.5, "cause": 1}
BINARY = {name: entry for name, entry in METRICS.items() if entry.task == "binary"}
metric = pytest.mark.parametrize("metric", BINARY.values(), ids=BINARY)


def value(metric, *data, **options):
    return metric.function(*data, **metric.parameters, **options)


@metric
def test_outcome_stands_for_its_weighted_rows(metric):
    outcome = TimeToEvent(**ROWS, **ASKED)
    known = outcome.weight > 0
    rows = value(metric, outcome.y[known], P[known], sample_weight=outcome.weight[known])
    assert value(metric, outcome, P) == pytest.approx(rows, rel=1e-13)
    assert value(metric, ScoreTable.from_predictions(outcome, P)) == pytest.approx(rows, rel=1e-13)


@metric
def test_order_of_rows_does_not_matter(metric):
    order = RNG.permutation(N)
    shuffled = TimeToEvent(**{name: part[order] for name, part in ROWS.items()}, **ASKED)
    assert value(metric, shuffled, P[order]) == pytest.approx(value(metric, TimeToEvent(**ROWS, **ASKED), P), rel=1e-12)


@metric
def test_integer_weight_equals_repeated_rows(metric):
    count = RNG.integers(0, 4, N)
    weighted = TimeToEvent(**ROWS, **ASKED, sample_weight=count)
    repeated = TimeToEvent(**{name: np.repeat(part, count) for name, part in ROWS.items()}, **ASKED)
    assert value(metric, weighted, P) == pytest.approx(value(metric, repeated, np.repeat(P, count)), rel=1e-12)


@metric
def test_outcome_that_knows_every_row_is_plain_labels(metric):
    y = P + RNG.normal(0, 0.2, N) > 0.5
    seen = TimeToEvent(event=y, time=np.where(y, 1.0, 3.0), horizon=2)
    assert value(metric, seen, P) == value(metric, y, P)
    assert value(metric, PartlyVerified(y.astype(int), groups=np.arange(N) % 3), P) == value(metric, y, P)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_data_frames_are_taken(library):
    module = pytest.importorskip(library)
    column = {"pandas": "Series", "polars": "Series", "pyarrow": "chunked_array"}[library]
    wrap = (lambda v: module.chunked_array([v])) if library == "pyarrow" else getattr(module, column)
    expected = TimeToEvent(**ROWS, **ASKED)
    found = TimeToEvent(**{name: wrap(part) for name, part in ROWS.items()}, **ASKED)
    assert np.array_equal(found.weight, expected.weight)
    labels = np.where(ROWS["event"] == 0, "censored", np.where(ROWS["event"] == 1, "relapse", "death"))
    named = TimeToEvent(event=wrap(labels), time=ROWS["time"], horizon=1.5, cause="relapse", censored="censored")
    assert np.array_equal(named.weight, expected.weight)


def test_shorter_types_of_numbers_are_taken():
    narrow = TimeToEvent(event=ROWS["event"].astype(np.int8), time=ROWS["time"].tolist(), **ASKED)
    assert np.array_equal(narrow.weight, TimeToEvent(**ROWS, **ASKED).weight)
