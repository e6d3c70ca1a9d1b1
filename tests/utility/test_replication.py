"""The benchmark and the replication of expected utility run, and their parts say what they claim."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import expected_utility as benchmark
from benchmarks._child import measure
from benchmarks._data import make_inputs
from benchmarks._table import AGREEMENT, largest_difference
from replications import expected_utility as replication

ROWS = 300


def measured(entry):
    inputs = make_inputs(ROWS, tied=False, weighted=False)
    return measure(entry, lambda: inputs, repeat=1, tiny=inputs, at_least=0.0)


@pytest.mark.parametrize("row", benchmark.ROWS, ids=lambda row: row.name)
def test_every_row_runs_and_its_peers_agree(row):
    ours = measured(row.ours)
    assert ours.best > 0.0
    for peer in row.peers:
        theirs = measured(peer).answer
        assert theirs is None or largest_difference(ours.answer, theirs) <= AGREEMENT


def test_goals_are_those_of_the_specification():
    limits = {row.name: row.goals[0].limit for row in benchmark.ROWS if row.goals}
    assert limits == {
        "F1": 0.4,
        "F2": 0.4,
        "Jaccard": 0.4,
        "balanced accuracy": 0.5,
        "recall": 0.5,
        "G-TP/PR": 0.5,
        "MCC": 1.0,
        "quadratic mean": 1.0,
        "G-mean": 3.0,
        "H-mean": 3.0,
    }
    assert [goal.limit for goal in benchmark.ROWS[0].goals] == [0.4, 4.0, 1.0]


@pytest.mark.parametrize(
    ("name", "rows", "dropped", "problems"),
    [
        ("spambase", 4601, "", 1),
        ("breast_cancer_wisconsin", 683, ", 16 incomplete rows left out", 1),
        ("letter", 20_000, "", 26),
        ("image_segmentation", 2310, "", 7),
    ],
)
def test_data_are_read_whole(reference_dir, name, rows, dropped, problems):
    X, labels, left_out = replication.read(reference_dir, name)
    assert (len(X), left_out, len(labels)) == (rows, dropped, problems)
    assert np.sum(list(labels.values()), axis=0).max() == 1


def test_one_split_decides_in_every_way_for_every_measure(reference_dir):
    values, fact = replication.run(reference_dir, "breast_cancer_wisconsin", 2)
    assert values.shape == (2, 4, 4)
    assert np.all((values > 0.8) & (values <= 1.0))
    assert fact == "683 rows, 16 incomplete rows left out, one problem"
    lines = list(replication.cells("letter", values))
    assert [line[3] for line in lines] == [".71", ".43", "", ""]
    assert lines[0][2].startswith(f"{values[:, 0, 0].mean():.4f} (")


def test_interval_allows_for_overlapping_splits():
    difference = np.random.default_rng(0).normal(size=20)
    mean, half = replication.interval(difference)
    naive = np.std(difference, ddof=1) / np.sqrt(20)
    assert mean == pytest.approx(difference.mean())
    assert half > 4 * naive
