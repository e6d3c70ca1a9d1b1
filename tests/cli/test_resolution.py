"""Scores of large files are pooled into cells unless asked otherwise, and what needs all rows says so before."""

import json

import numpy as np
import pytest

from stakes import expected_regret
from stakes.costs import Uniform
from stakes.evaluation import KeptEvaluation

pl = pytest.importorskip("polars")
pytest.importorskip("rich")
task = pytest.importorskip("stakes.cli.task")

RNG = np.random.default_rng(8)
RISK = RNG.random(5000)
FRAME = pl.DataFrame(
    {
        "cancer": (RNG.random(5000) < RISK).astype(int),
        "a": np.clip(RISK + RNG.normal(0, 0.1, 5000), 0, 1),
        "b": np.clip(RISK + RNG.normal(0, 0.3, 5000), 0, 1),
        "age": RNG.integers(20, 90, 5000),
        "patient": np.arange(5000) // 5,
        "stake": RNG.lognormal(4, 1, 5000),
        "sex": RNG.choice(["f", "m"], 5000),
    }
)
AMOUNTS = ["--false-positive-cost", "15", "--false-negative-cost", "stake"]
PRICED = ["--label", "cancer", "--models", "a,b", *AMOUNTS, "--unit", "EUR"]
ASKED = ["--label", "cancer", "--models", "a,b", "--costs", "0.1:0.4"]


@pytest.fixture
def parts(folder, monkeypatch):
    monkeypatch.setattr(task, "_MANY", 4999)
    for place in range(2):
        FRAME[place * 2500 : place * 2500 + 2500].write_parquet(folder / f"{place}.parquet")
    return folder


def answer(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.mark.usefixtures("parts")
def test_many_rows_are_pooled_and_the_bound_is_told(cli):
    found, known = (cli("evaluate", "*.parquet", *ASKED, *more, "--json") for more in ([], ["--resolution", "exact"]))
    assert "pooled" not in known.err
    assert "scores were pooled into 8,192 cells: costs, differences and their intervals do not change" in found.err
    for mine, its in zip(answer(found)["models"], answer(known)["models"], strict=True):
        assert mine["score"] == pytest.approx(its["score"], rel=1e-12)
        assert mine["ci_low"] == pytest.approx(its["ci_low"], rel=1e-10)


@pytest.mark.usefixtures("parts")
def test_the_bound_that_is_told_holds_for_every_row(cli):
    err = cli("evaluate", "*.parquet", *ASKED, "--resolution", "20").err
    told = float(err.partition("off by at most ")[2].partition(" (")[0])
    measure, worst = Uniform(0.1, 0.4), []
    y = FRAME["cancer"].to_numpy() == 1
    for name in ("a", "b"):
        score = FRAME[name].to_numpy()
        cell = np.minimum(np.floor(score * 20), 19)
        within = [np.array([score[cell == k].min() for k in range(20)])[cell.astype(int)]]
        within += [np.array([score[cell == k].max() for k in range(20)])[cell.astype(int)]]
        losses = [np.where(y, measure.positive_loss(s), measure.negative_loss(s)) for s in within]
        worst.append(np.abs(losses[0] - losses[1]).mean() / 0.3)
    assert told == pytest.approx(max(worst), rel=0.01)


def test_the_bound_that_is_told_holds_in_a_small_group(cli, folder, monkeypatch):
    monkeypatch.setattr(task, "_MANY", 4999)
    near = np.tile([0.29995, 0.30004], 20)  # in one cell of 8,192, on both sides of the cost ratio
    score = np.concatenate([near, RNG.random(5000)])
    ill = np.concatenate([np.tile([0, 1], 20), RNG.random(5000) < score[40:]]).astype(int)
    frame = pl.DataFrame({"ill": ill, "p": score, "g": np.repeat(["new", "rest"], [40, 5000])})
    frame.write_parquet(folder / "0.parquet")
    asked = ["--label", "ill", "--models", "p", "--costs", "0.3", "--groups", "g", "--json"]
    found = cli("evaluate", "?.parquet", *asked)
    said = " ".join(found.err.split())
    assert "over all rows do not change; costs and intervals of groups come from the cells" in said
    told = float(said.partition("off by at most ")[2].partition(" (")[0])
    off = [
        abs(group["score"] - expected_regret(ill[rows], score[rows], costs=0.3))
        for group in answer(found)["groups"]
        for rows in (np.repeat(["new", "rest"], [40, 5000]) == group["group"],)
    ]
    assert 0.05 < max(off) <= told


@pytest.mark.usefixtures("parts")
def test_few_rows_and_recalibrated_ones_are_exact(cli, monkeypatch):
    assert "pooled" not in cli("evaluate", "*.parquet", *ASKED, "--rule", "optimal").err
    monkeypatch.setattr(task, "_MANY", 5000)
    assert "pooled" not in cli("evaluate", "*.parquet", *ASKED).err


@pytest.mark.usefixtures("parts")
def test_cells_are_whole_numbers_of_parquet_files(cli, folder):
    FRAME.write_csv(folder / "p.csv")
    assert "pooled into 100 cells" in cli("evaluate", "0.parquet", *ASKED, "--resolution", "100").err
    for file, cells, said in [
        ("*.parquet", "0", "--resolution must be a whole number > 0, got '0'"),
        ("p.csv", "100", "--resolution pools the scores of Parquet files: all others are read and counted whole"),
    ]:
        refused = cli("evaluate", file, *ASKED, "--resolution", cells)
        assert (refused.code, said in refused.err) == (2, True), refused.err


@pytest.mark.usefixtures("parts")
def test_columns_that_cannot_be_scores_are_refused_by_the_first_rows(cli, monkeypatch):
    monkeypatch.setattr("stakes.evaluation._evaluate.ScoreTable", None)  # nothing is counted
    refused = cli("evaluate", "*.parquet", "--label", "cancer", "--costs", "0.1:0.4")
    assert refused.code == 3
    assert "column 'age': must lie in [0, 1], got" in refused.err
    assert "name the model columns with models= (command line: --models)" in refused.err


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("more", "what"),
    [
        ([*AMOUNTS, "--groups", "sex"], "amounts with --groups need the rows"),
        (["--clusters", "patient", "--groups", "sex"], "--clusters with --groups needs the rows"),
        (["--clusters", "patient", "--rule", "optimal"], '--clusters with rule="optimal" needs the rows'),
    ],
    ids=["amounts", "groups", "clusters"],
)
def test_what_needs_the_rows_says_so_before_and_is_refused_beyond_memory(cli, monkeypatch, more, what):
    monkeypatch.setattr(task, "_REPORTED", 10**6)  # bytes of 5,000 rows of 3 columns or more
    told = cli("evaluate", "*.parquet", *ASKED, *more)
    assert (told.code, f"{what} in memory: 5,000 rows take about" in told.err) == (0, True), told.err
    assert "; some of the files, or a sample of the rows, take less" in told.err
    pooled = cli("evaluate", "*.parquet", *ASKED, *more, "--resolution", "100")
    assert (pooled.code, f"rows that are not held, and {what} in memory" in pooled.err) == (2, True), pooled.err
    monkeypatch.setattr(task, "physical_memory", lambda: 1000)
    monkeypatch.setattr("stakes.tables.frame_columns", None)  # nothing is read
    refused = cli("evaluate", "*.parquet", *ASKED, *more)
    assert refused.code == 3
    assert "and this machine has 0.0 GB: some of the files, or a sample of the rows, take less" in refused.err


@pytest.mark.usefixtures("parts")
def test_follow_up_says_what_it_takes_before_it_is_read(cli, monkeypatch, folder):
    FRAME.with_columns(years=pl.int_range(pl.len()) % 9 + 0.5).write_parquet(folder / "p.parquet")
    asked = ["--event", "cancer", "--time", "years", "--horizon", "5", "--models", "a,b", "--costs", "0.1:0.4"]
    monkeypatch.setattr(task, "_REPORTED", 10**6)  # bytes of 5,000 rows of 3 columns or more
    monkeypatch.setattr(task, "physical_memory", lambda: 1000)
    monkeypatch.setattr("stakes.tables.frame_columns", None)  # nothing is read
    refused = cli("evaluate", "p.parquet", "--engine", "polars", *asked)
    assert refused.code == 3
    assert "an outcome other than a label or amounts needs the rows in memory: 5,000 rows take about" in refused.err


@pytest.mark.skipif(not hasattr(pl.LazyFrame, "collect_batches"), reason="this polars streams no rows")
@pytest.mark.usefixtures("parts")
def test_amounts_of_a_pattern_are_streamed_and_pooled(cli, monkeypatch, folder):
    monkeypatch.setattr(task, "_MANY", 100)
    told = cli("evaluate", "*.parquet", *PRICED)
    assert told.code == 0, told.err
    assert "the rows are not kept in memory" in told.err
    assert "pooled into 8,192 cells" in told.err
    assert "EUR at stake" in told.out
    monkeypatch.setattr("stakes.cli.task.Task._gathered", None)
    pl.concat([pl.read_parquet(folder / f"{k}.parquet") for k in "01"]).write_csv(folder / "all.csv")
    for per in ([], ["--per", "total"]):
        found = answer(cli("evaluate", "*.parquet", *PRICED, *per, "--resolution", "100", "--json"))
        known = answer(cli("evaluate", "all.csv", *PRICED, *per, "--json"))
        for one, other in zip(found["money"], known["money"], strict=True):
            numbers = [key for key, value in other.items() if isinstance(value, float)]
            assert {"value", "standard_error", "ci_low", "ci_high", "per"} < set(numbers)
            assert [one[key] for key in numbers] == pytest.approx([other[key] for key in numbers], rel=1e-12)


@pytest.mark.usefixtures("parts")
def test_lags_follow_the_order_of_the_rows_of_one_file(cli, folder):
    found = answer(cli("evaluate", "0.parquet", *ASKED, "--lags", "3", "--engine", "polars", "--json"))
    assert found["models"] == answer(cli("evaluate", "0.parquet", *ASKED, "--lags", "3", "--json"))["models"]
    FRAME.write_parquet(folder / "p.parquet")
    pytest.importorskip("duckdb")
    refused = cli("evaluate", "p.parquet", *ASKED, "--lags", "3", "--engine", "duckdb")
    assert (refused.code, "rows read by duckdb have no order that lags could follow" in refused.err) == (3, True)


@pytest.mark.usefixtures("parts")
def test_what_is_kept_of_two_days_adds_up_to_both(cli, folder):
    for day in ("0", "1"):
        kept = cli("evaluate", f"{day}.parquet", *ASKED, "--keep", f"{day}.json")
        assert (kept.code, "kept evaluation written to" in kept.err) == (0, True), kept.err
    days = [KeptEvaluation.from_json((folder / f"{day}.json").read_text()) for day in "01"]
    total, known = days[0].merge(days[1]).evaluate(), cli("evaluate", "*.parquet", *ASKED, "--json")
    first = answer(known)["models"][0]
    assert (total.n_rows, total.ranking[0]) == (5000, first["model"])
    assert total[first["model"]].score == pytest.approx(first["score"], rel=1e-12)


@pytest.mark.usefixtures("parts")
def test_a_large_day_is_kept_in_coarse_cells(cli, folder):
    assert cli("evaluate", "*.parquet", *ASKED, "--keep", "day.json").code == 0
    tables = KeptEvaluation.from_json((folder / "day.json").read_text()).tables
    assert {table.resolution for table in tables.values()} == {2048}


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--clusters", "patient"], "--keep takes no --clusters and no --lags: their errors rest on the rows"),
        (["--false-positive-cost", "15"], "--keep is of two classes in a column"),
        (["--keep", "day.csv"], "--keep"),
        (["--keep", "0.parquet"], "--keep"),
    ],
    ids=str,
)
def test_what_cannot_be_kept_is_refused_before_the_rows_are_read(cli, folder, monkeypatch, more, said):
    monkeypatch.setattr("stakes.tables.read_predictions", None)
    refused = cli("evaluate", "0.parquet", *ASKED, *(["--keep", "day.json"] if "--keep" not in more else []), *more)
    assert (refused.code, said in refused.err) == (2, True), refused.err
    assert not (folder / "day.json").exists()
