"""`stakes update`: what is written, what is said, what is refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from stakes.correction import METHODS, ModelUpdate, update

pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(4)
    risk = rng.beta(2, 6, 800)
    y = rng.random(800) < 1 / (1 + np.exp(-0.7 - np.log(risk / (1 - risk))))
    columns = {"name": [f'row "{i}", x' for i in range(800)], "outcome": y.astype(int), "risk": risk}
    return pl.DataFrame({**columns, "weight": rng.integers(1, 4, 800), "other": rng.beta(2, 6, 800)})


@pytest.fixture
def csv(tmp_path, frame):
    path = tmp_path / "scores.csv"
    frame.write_csv(path)
    return path


ONE = ["--label", "outcome", "--models", "risk"]


def expected(frame, **options):
    return update(frame["outcome"].to_numpy(), frame["risk"].to_numpy(), **options)


@pytest.mark.parametrize("method", METHODS)
def test_the_new_column_is_that_of_the_library(method, csv, frame, cli, folder):
    outcome = cli("update", csv, *ONE, "--method", method, "-o", "out.csv", "--save", "update.json")
    assert outcome.code == 0, outcome.err
    found, known = pl.read_csv(folder / "out.csv"), expected(frame, method=method)
    assert found.columns == [*frame.columns, "risk_updated"]
    assert found.drop("risk_updated").equals(frame)
    assert found["risk_updated"].to_list() == known.predict(frame["risk"].to_numpy()).tolist()
    assert (folder / "update.json").read_text(encoding="utf-8") == known.to_json()
    assert sorted(path.name for path in folder.iterdir()) == ["out.csv", "update.json"]
    assert "800 rows written to" in outcome.err
    assert "update written to" in outcome.err


def test_every_method_of_the_library_can_be_asked_for(cli):
    page = cli("update", "--help").out
    assert set(METHODS) == set(re.search(r"--method\s+\[([\w|]+)\]", page)[1].split("|"))


def test_tests_and_gain_are_printed_without_writing(csv, frame, cli, folder):
    outcome = cli("update", csv, *ONE, "--costs", "0.1:0.4")
    assert outcome.code == 0, outcome.err
    said = expected(frame, costs=(0.1, 0.4)).describe()
    assert " ".join(outcome.out.split()) == f"risk: {said}"
    assert "regret falls by" in said
    assert list(folder.iterdir()) == []


def test_several_models_weights_and_json(csv, frame, cli, folder):
    outcome = cli("update", csv, "--label", "outcome", "--weight", "weight", "-o", "out.parquet", "--json")
    assert outcome.code == 0, outcome.err
    assert "models taken: risk, other" in outcome.err
    page = json.loads(outcome.out)
    known = expected(frame, sample_weight=frame["weight"].to_numpy())
    assert page["models"]["risk"] == json.loads(known.to_json())
    assert (page["rows"], page["dropped"]) == (800, 0)
    assert pl.read_parquet(folder / "out.parquet").columns[-2:] == ["risk_updated", "other_updated"]
    assert ModelUpdate.from_json(json.dumps(page["models"]["risk"])).predict([0.3]) == known.predict([0.3])


def test_standard_input_is_enough_to_look(csv, cli):
    piped = cli("update", "-", *ONE, stdin=csv.read_bytes())
    assert piped.code == 0, piped.err
    assert piped.out == cli("update", csv, *ONE).out


def test_incomplete_rows_are_refused_or_dropped(frame, cli, folder, tmp_path):
    path = tmp_path / "gaps.csv"
    frame.with_columns(risk=pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise("risk")).write_csv(path)
    refused = cli("update", path, *ONE, "-o", "out.csv")
    assert refused.code == 3
    assert list(folder.iterdir()) == []
    dropped = cli("update", path, *ONE, "-o", "out.csv", "--on-missing", "drop")
    assert dropped.code == 0, dropped.err
    assert "1 of 800 rows dropped" in dropped.err
    assert pl.read_csv(folder / "out.csv").height == 799


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["--save", "a.json", *ONE, "--models", "other"],
            2,
            "--save is for one model, and there are 2: --models names it",
        ),
        ([*ONE, "--save", "a.csv"], 2, "--save must name a file that ends in .json"),
        ([*ONE, "--method", "platt"], 2, "--method"),
        ([*ONE, "--costs", "0.4:0.1"], 2, "--costs"),
        ([*ONE, "--suffix", ""], 3, "--suffix"),
        (["--label", "outcome", "--models", "nothing"], 3, "column 'nothing'"),
        (["--models", "risk"], 2, "--label"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_written(options, code, said, csv, cli):
    outcome = cli("update", csv, *options, "-o", "out.csv")
    assert outcome.code == code, outcome.err
    assert said in " ".join(outcome.err.split())
    assert list(Path.cwd().iterdir()) == []


def test_rows_that_determine_no_update_are_refused_by_file_and_column(frame, cli, folder, tmp_path):
    path = tmp_path / "ends.csv"
    frame.with_columns(risk=pl.when(pl.int_range(pl.len()) == 5).then(1.0).otherwise("risk")).write_csv(path)
    outcome = cli("update", path, *ONE, "-o", "out.csv", "--save", "a.json")
    assert outcome.code == 3
    assert "column 'risk': must lie strictly between 0 and 1 for --method auto, got 1" in outcome.err
    assert outcome.err.endswith("Pass --method isotonic\n")
    frame.head(30).write_csv(path)
    assert "column 'risk': --label must hold at least 20" in cli("update", path, *ONE, "-o", "out.csv").err
    assert list(folder.iterdir()) == []


def test_one_update_to_save_is_asked_for_before_the_file_is_read(cli):
    outcome = cli("update", "nowhere.csv", "--label", "outcome", "--models", "risk,other", "--save", "a.json")
    assert outcome.code == 2
    assert outcome.err == "error: --save is for one model, and there are 2: --models names it\n"
