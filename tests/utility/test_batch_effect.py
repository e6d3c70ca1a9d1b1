"""The replication of the batch effect: both sides of it, and what its parts say."""

from __future__ import annotations

import numpy as np
import pytest

from replications import batch_effect as replication
from stakes.utility import F1, Accuracy

BY_NAME = {setting.name: setting for setting in replication.SETTINGS}


@pytest.mark.parametrize(
    ("name", "winner"),
    [
        ("500 rows, batches differ, calibrated", "batch"),
        ("500 rows, threshold from 100 labels", "batch"),
        ("500 rows, log-odds too low by 2", "plug-in"),
        ("12 rows, log-odds too low by 2", "plug-in"),
    ],
)
def test_each_approach_wins_where_it_should(name, winner):
    _, (ours, theirs), mean, half = replication.run(BY_NAME[name], F1(), scale=0.2)
    assert mean == pytest.approx(ours - theirs)
    assert replication.verdict(mean, half) == winner


def test_nothing_is_gained_where_every_row_is_decided_for_itself():
    # accuracy is a sum over the rows: the best threshold is one half whatever the batch
    rng = np.random.default_rng(0)
    values = replication.simulate(BY_NAME["500 rows, calibrated"], Accuracy(), 40, rng)
    assert abs(values[:, 0].mean() - values[:, 1].mean()) < 2e-3


def test_interval_covers_a_known_mean():
    rng = np.random.default_rng(1)
    found = [replication.interval(rng.normal(0.3, 1.0, 50)) for _ in range(400)]
    assert 0.92 < np.mean([abs(mean - 0.3) <= half for mean, half in found]) < 0.98


def test_verdict_is_open_where_the_interval_holds_zero():
    assert [replication.verdict(m, 0.1) for m in (-0.2, -0.05, 0.05, 0.2)] == [
        "plug-in",
        "no difference seen",
        "no difference seen",
        "batch",
    ]


def test_table_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(replication, "SETTINGS", replication.SETTINGS[:1])
    replication.main(["--scale", "0.01", "--measure", "jaccard"])
    out = capsys.readouterr().out
    assert "Jaccard() of simulated batches" in out
    assert out.count("12 rows, calibrated") == 1
