"""`stakes decide --deferral` marks the rows as the library does, and refuses what does not fit."""

import json

import numpy as np
import pytest

from stakes.actions import apply_deferral

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

ASKED = ["--models", "sharp", "--costs", "0.2", "--deferral", "0.05"]


@pytest.fixture
def file(columns, tmp_path):
    path = tmp_path / "p.csv"
    pl.DataFrame(columns).drop("cancer", "weight").write_csv(path)
    return path


@pytest.mark.parametrize("capacity", [None, 0.1])
def test_rows_are_decided_as_by_the_library(file, columns, cli, folder, capacity):
    further = [] if capacity is None else ["--capacity", str(capacity)]
    outcome = cli("decide", file, *ASKED, *further, "-o", "out.csv")
    assert outcome.code == 0, outcome.err
    expected = apply_deferral(columns["sharp"], costs=0.2, deferral=0.05, capacity=capacity)
    assert np.array_equal(pl.read_csv(folder / "out.csv")["decision"].to_numpy(), expected)
    assert "Deferring pays between 0.0625 and 0.75, at threshold 0.2." in outcome.out
    assert f"{np.count_nonzero(expected == -1):,} deferred" in outcome.out
    counted = json.loads(cli("decide", file, *ASKED, *further, "--json").out)["columns"][0]
    assert counted["deferred"] == np.count_nonzero(expected == -1)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--models", "sharp"], "name what is maximised with --measure, what deferring costs with --deferral"),
        (["--models", "sharp", "--deferral", "0.1"], "--deferral needs --costs"),
        ([*ASKED, "--measure", "f1"], "--measure does not fit --deferral"),
        (["--models", "sharp", "--measure", "f1", "--capacity", "0.1"], "--capacity needs --deferral"),
        (["--models", "sharp", "--measure", "f1", "--on-dominated", "set_aside"], "--on-dominated needs amounts"),
        (["--models", "sharp", "--costs", "0.2", "--deferral", "-1"], "--deferral must be a number > 0"),
    ],
)
def test_refusals(file, cli, argv, message):
    outcome = cli("decide", file, *argv)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


def test_a_fee_that_never_pays_is_said(file, cli):
    outcome = cli("decide", file, "--models", "sharp", "--costs", "0.2", "--deferral", "0.3")
    assert "Deferring never pays: at threshold 0.2 the fee would have to be below 0.16" in outcome.out


@pytest.mark.parametrize(("scores", "share"), [("0.3", "100%"), ("0.3\n0.01\n0.02\n0.9", "25%")])
def test_the_share_of_deferred_rows_is_that_of_all(cli, folder, scores, share):
    (folder / "few.csv").write_text(f"sharp\n{scores}\n")
    outcome = cli("decide", "few.csv", *ASKED)
    assert f"1 deferred ({share})" in outcome.out, outcome.err
