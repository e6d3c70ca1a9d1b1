"""`stakes decide` marks the rows that the library chooses, in every kind of file, and says how sure that is."""

import gzip
import json
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pytest

from stakes.utility import expected_utility

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

F1 = ["--models", "sharp", "--measure", "f1"]


@pytest.fixture
def frame(columns):
    """Rows with two models and a group, without outcomes."""
    groups = np.where(np.arange(len(columns["sharp"])) % 3 == 0, "north", "south")
    return pl.DataFrame({"id": np.arange(len(groups)), "region": groups, **columns}).drop("cancer", "weight")


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "p.csv"
    frame.write_csv(path)
    return path


def expected(frame, model="sharp", measure="f1", **options):
    return expected_utility(frame[model].to_numpy(), measure, **options)


def batches(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["batches"]


def row_of(model, outcome):
    return next(line.split() for line in outcome.out.splitlines() if line.startswith(f"{model} "))


WRITERS = {
    "p.csv": (lambda f, path: f.write_csv(path), pl.read_csv),
    "p.tsv": (lambda f, path: f.write_csv(path, separator="\t"), lambda path: pl.read_csv(path, separator="\t")),
    "p.parquet": (lambda f, path: f.write_parquet(path), pl.read_parquet),
    "p.arrow": (lambda f, path: f.write_ipc(path), pl.read_ipc),
    "p.jsonl": (lambda f, path: f.write_ndjson(path), pl.read_ndjson),
}


@pytest.mark.parametrize("name", WRITERS)
def test_file_of_every_format_gets_the_decisions_of_the_library_and_keeps_the_rest(name, frame, cli, folder, tmp_path):
    write, read = WRITERS[name]
    write(frame, tmp_path / name)
    outcome = cli("decide", tmp_path / name, *F1, "-o", name)
    assert outcome.code == 0, outcome.err
    assert [path.name for path in folder.iterdir()] == [name]
    decided = read(folder / name)
    assert decided.drop("decision").equals(frame)
    assert decided["decision"].to_list() == expected(frame).predict().tolist()


def test_standard_input_and_packed_files_are_read(file, frame, cli, folder, tmp_path):
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert cli("decide", tmp_path / "p.csv.gz", *F1, "-o", "a.csv").code == 0
    assert cli("decide", "-", *F1, "-o", "b.csv", stdin=file.read_bytes()).code == 0
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert pl.read_csv(folder / "a.csv")["decision"].sum() == expected(frame).best_k


def test_text_of_a_csv_file_stays_as_it_is(cli, folder, tmp_path):
    rows = ["007;0,50;NA;0.90", '008;"a;b";;1e-1', "009;x; y ;.250"]
    (tmp_path / "p.csv").write_text("id;what;note;p\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert cli("decide", tmp_path / "p.csv", "--models", "p", "--measure", "accuracy", "-o", "o.csv").code == 0
    written = (folder / "o.csv").read_text(encoding="utf-8").splitlines()
    assert written == ["id;what;note;p;decision", *(f"{row};{d}" for row, d in zip(rows, (1, 0, 0), strict=True))]


def test_text_of_a_json_file_stays_as_it_is(cli, folder, tmp_path):
    lines = ['{"p": 0.90, "id": 12345678901234567890}', '{"id": 1.10, "p": 1e-1, "more": {"a": [NaN]}}']
    (tmp_path / "p.jsonl").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    assert cli("decide", tmp_path / "p.jsonl", "--models", "p", "--measure", "accuracy", "-o", "o.jsonl").code == 0
    written = (folder / "o.jsonl").read_text(encoding="utf-8").splitlines()
    assert written == [line[:-1] + f', "decision": {d}}}' for line, d in zip(lines, (1, 0), strict=True)]


def test_json_holds_what_the_library_found(file, frame, cli):
    outcome = cli("decide", file, *F1, "--json")
    result = expected(frame)
    (batch,) = batches(outcome)
    assert batch["best_k"] == result.best_k
    assert batch["threshold"] == result.threshold
    assert (batch["utility"], batch["error_bound"]) == (result.utility, result.error_bound)
    assert (batch["certified"], batch["certificate"]) == (True, result.certificate)
    assert batch["tied_numbers_of_rows"] == result.ties.tolist()
    assert (batch["runner_up"], batch["gap"], batch["method"]) == (result.runner_up, result.gap, "exponentials")
    assert json.loads(outcome.out)["columns"] == ["decision"]
    assert "no file was written" in outcome.err


def test_printed_table_says_how_many_rows_from_where_and_how_sure(file, frame, cli):
    result = expected(frame)
    outcome = cli("decide", file, *F1)
    assert row_of("sharp", outcome) == [
        "sharp",
        f"{result.n_rows}",
        f"{result.best_k}",
        f"{result.threshold:.6g}",
        f"{result.utility:.6g}",
        f"{result.error_bound:.1e}",
        "yes",
        f"{result.runner_up}",
        f"({-result.gap:+.1e})",
    ]
    assert "Maximises the expected value of F1()" in outcome.out
    assert "certified: every other number of rows is proved to be worse." in outcome.out


def test_uncertain_choice_gives_its_reason(cli, tmp_path):
    (tmp_path / "p.csv").write_text("p\n0.5\n0.5\n0.2\n", encoding="utf-8")
    outcome = cli("decide", tmp_path / "p.csv", "--models", "p", "--measure", "precision")
    assert "not certified: 2 numbers of rows cannot be distinguished." in outcome.out
    assert row_of("p", outcome)[6:8] == ["no", "3"]


def test_loss_is_minimised_and_acting_on_no_row_has_no_threshold(cli, tmp_path):
    (tmp_path / "p.csv").write_text("p\n0.1\n0.2\n", encoding="utf-8")
    outcome = cli("decide", tmp_path / "p.csv", "--models", "p", "--measure", "squared_error_in_counting")
    assert "Minimises" in outcome.out
    assert row_of("p", outcome)[2:4] == ["0", "-"]


def test_groups_are_batches_of_their_own(file, frame, cli, folder):
    outcome = cli("decide", file, *F1, "--groups", "region", "-o", "o.csv", "--json")
    decided = pl.read_csv(folder / "o.csv")
    for batch, region in zip(batches(outcome), ["north", "south"], strict=True):
        part = frame.filter(pl.col("region") == region)
        assert (batch["group"], batch["rows"]) == ({"region": region}, len(part))
        assert batch["best_k"] == expected(part).best_k
        acted = decided.filter(pl.col("region") == region)["decision"].to_list()
        assert acted == expected(part).predict().tolist()


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ([date(2020, 1, 1), date(2020, 1, 2)], ["2020-01-01", "2020-01-02"]),
        ([datetime(2020, 1, d, tzinfo=UTC) for d in (1, 2)], [f"2020-01-0{d} 00:00:00+00:00" for d in (1, 2)]),
        ([time(1), time(2)], ["01:00:00", "02:00:00"]),
        ([timedelta(hours=1), timedelta(hours=2)], ["1:00:00", "2:00:00"]),
        ([b"a", "é".encode()], ["a", "é"]),
        ([b"a", b"\xff"], ["\\xff", "a"]),
        ([1, 2], [1, 2]),
    ],
    ids=["date", "timestamp", "time", "duration", "UTF-8", "bytes", "integers"],
)
def test_groups_of_every_type_are_named_in_json_as_evaluate_names_them(values, named, frame, cli, tmp_path):
    rows = [values[i % 2] for i in range(len(frame))]
    path = tmp_path / "p.parquet"
    frame.with_columns(day=pl.Series(rows), y=np.arange(len(rows)) // 2 % 2).write_parquet(path)
    found = batches(cli("decide", path, *F1, "--groups", "day", "--json"))
    assert sorted((batch["group"]["day"] for batch in found), key=str) == named
    asked = ["--label", "y", "--models", "sharp", "--costs", "0.1:0.3", "--groups", "day", "--json"]
    judged = cli("evaluate", path, *asked)
    assert sorted({row["group"] for row in json.loads(judged.out)["groups"]}) == sorted(map(str, named))


def test_two_groupings_are_crossed(frame, cli, tmp_path):
    frame.with_columns(half=pl.col("id") % 2).write_csv(tmp_path / "p.csv")
    found = batches(cli("decide", tmp_path / "p.csv", *F1, "--groups", "region,half", "--json"))
    assert [batch["group"] for batch in found] == [
        {"region": region, "half": half} for region in ("north", "south") for half in (0, 1)
    ]
    assert sum(batch["rows"] for batch in found) == len(frame)


def test_many_groups_are_counted_and_not_all_printed(frame, cli, tmp_path):
    frame.with_columns(ward=pl.col("id") % 60).write_csv(tmp_path / "p.csv")
    text = cli("decide", tmp_path / "p.csv", *F1, "--groups", "ward").out
    assert sum(line.startswith("sharp") for line in text.splitlines()) == 50
    assert "and 10 more batches: --json prints all" in text
    assert len(batches(cli("decide", tmp_path / "p.csv", *F1, "--groups", "ward", "--json"))) == 60


def test_several_models_get_a_column_each(file, frame, cli, folder):
    models = ["--models", "sharp,blurred", "--measure", "jaccard", "--column", "act"]
    assert cli("decide", file, *models, "-o", "o.csv").code == 0
    decided = pl.read_csv(folder / "o.csv")
    for model in ("sharp", "blurred"):
        assert decided[f"act_{model}"].to_list() == expected(frame, model, "jaccard").predict().tolist()


@pytest.mark.parametrize(
    ("measure", "fill"), [("fbeta:2", 0.0), ("fbeta:0.5", 1.0), ("mcc", 0.0), ("g_mean", 1.0), ("kappa", 0.0)]
)
def test_measures_and_zero_division_are_those_of_the_library(measure, fill, file, frame, cli):
    (batch,) = batches(
        cli("decide", file, "--models", "blurred", "--measure", measure, "--zero-division", fill, "--json")
    )
    result = expected(frame, "blurred", measure, zero_division=fill)
    assert (batch["best_k"], batch["utility"]) == (result.best_k, result.utility)


def test_sensitivity_is_that_of_the_library(file, frame, cli):
    table = expected(frame).sensitivity()
    text = cli("decide", file, *F1, "--sensitivity").out
    assert f"the best number of rows moves from {table.best_k.min()} to {table.best_k.max()}" in text
    assert f"loses at most {table.loss.max():.3g}" in text
    (batch,) = batches(cli("decide", file, *F1, "--sensitivity", "--json"))
    assert [line["best_k"] for line in batch["sensitivity"]] == table.best_k.tolist()


def test_class_weights_and_prior_are_undone_first(file, frame, cli):
    def odds(p, factor):
        return factor * p / (1 - p + factor * p)

    p = frame["sharp"].to_numpy()
    weights = batches(cli("decide", file, *F1, "--positive-share", "0.8", "--json"))
    assert weights[0]["utility"] == pytest.approx(expected_utility(odds(p, 1 / 4), "f1").utility, abs=1e-12)
    prior = batches(cli("decide", file, *F1, "--training-prior", "0.5", "--prior", "0.1", "--json"))
    assert prior[0]["utility"] == pytest.approx(expected_utility(odds(p, 1 / 9), "f1").utility, abs=1e-12)
    both = batches(
        cli("decide", file, *F1, "--positive-share", "0.8", "--training-prior", "0.5", "--prior", "0.1", "--json")
    )
    assert both[0]["utility"] == pytest.approx(expected_utility(odds(p, 1 / 36), "f1").utility, abs=1e-12)


def test_incomplete_rows_stay_in_the_file_without_a_decision(cli, folder, tmp_path):
    (tmp_path / "p.csv").write_text("id,p\n1,0.9\n2,NA\n3,0.1\n4,\n", encoding="utf-8")
    options = [tmp_path / "p.csv", "--models", "p", "--measure", "f1"]
    refused = cli("decide", *options)
    assert (refused.code, "column 'p', row 2 (line 3): must not be missing" in refused.err) == (3, True)
    outcome = cli("decide", *options, "--on-missing", "drop", "-o", "o.csv")
    assert "2 rows get no decision" in outcome.err
    assert (folder / "o.csv").read_text(encoding="utf-8") == "id,p,decision\n1,0.9,1\n2,NA,\n3,0.1,0\n4,,\n"


BAD_DATA = {
    "no such column": ("a\n0.1\n", ["column 'p'", "no such column", "'a'"]),
    "no number": ("p\n0.1\nhigh\n", ["column 'p', row 2 (line 3)", "'high'", "number"]),
    "above one": ("p\n0.1\n1.2\n", ["row 2", "[0, 1]", "1.2", "1 of 2 rows"]),
    "all missing": ("p\nNA\n", ["must not be missing"]),
    "no rows": ("p\n", ["no rows"]),
    "empty": ("", ["empty"]),
    "ragged": ("p,a\n0.1,1\n0.2\n", ["row 2", "line 3"]),
    "twice": ("p,p\n0.1,1\n", ["column 'p'", "distinct"]),
}


@pytest.mark.parametrize("more", [["--measure", "f1", "--groups", "p"], ["--false-positive-cost", "p"]])
def test_a_column_of_two_uses_is_not_called_two_models(more, cli, tmp_path):
    (tmp_path / "p.csv").write_text("p,a\n0.1,1\n0.3,2\n", encoding="utf-8")
    asked = [*more, "--false-negative-cost", "a"] if "--measure" not in more else more
    outcome = cli("decide", tmp_path / "p.csv", "--models", "p", *asked)
    assert outcome.code == 3
    said = " ".join(outcome.err.split())
    assert "column 'p': must be named once in all: as a model, a group, a weight or an amount" in said


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_end_with_code_3_and_no_file(case, cli, folder, tmp_path):
    text, words = BAD_DATA[case]
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    outcome = cli("decide", tmp_path / "p.csv", "--models", "p", "--measure", "f1", "-o", "o.csv")
    assert (outcome.code, outcome.out, list(folder.iterdir())) == (3, "", [])
    for word in words:
        assert word in outcome.err


BAD_REQUEST = {
    "no model": (["--measure", "f1"], ["--models"]),
    "no measure": (["--models", "sharp"], ["--measure"]),
    "unknown measure": (["--models", "sharp", "--measure", "f9"], ["--measure", "'f1'", "'f9'"]),
    "beta in words": (["--models", "sharp", "--measure", "fbeta:x"], ["'fbeta:'", "'fbeta:x'"]),
    "beta of zero": (["--models", "sharp", "--measure", "fbeta:0"], ["beta must be finite and > 0"]),
    "0/0 of two": ([*F1, "--zero-division", "2"], ["--zero-division", "from 0 to 1"]),
    "share of one": ([*F1, "--positive-share", "1"], ["--positive-share", "between 0 and 1"]),
    "half a prior": ([*F1, "--prior", "0.5"], ["--training-prior and --prior must be given together"]),
    "prior in words": ([*F1, "--training-prior", "0.5", "--prior", "low"], ["--prior", "'low'"]),
    "column that is there": ([*F1, "--column", "region"], ["--column", "'region'", "already"]),
    "output of another format": ([*F1, "-o", "o.parquet"], ["--output", ".csv or .tsv", "'o.parquet'"]),
    "output of no format": ([*F1, "-o", "o.xlsx"], ["--output", ".parquet", "'o.xlsx'"]),
    "output in no folder": ([*F1, "-o", "no/o.csv"], ["--output", "no folder"]),
}


@pytest.mark.parametrize("case", BAD_REQUEST)
def test_bad_requests_end_with_code_2_and_no_file(case, file, cli, folder):
    options, words = BAD_REQUEST[case]
    outcome = cli("decide", file, *options)
    assert (outcome.code, outcome.out, list(folder.iterdir())) == (2, "", [])
    for word in words:
        assert word in outcome.err


@pytest.mark.parametrize("models", ["a,a_threshold", "a_threshold,b,a"])
def test_two_new_columns_of_one_name_are_refused(models, cli, folder):
    (folder / "rows.csv").write_text("a,b,a_threshold,fp,fn\n0.1,0.2,0.9,1,5\n0.8,0.7,0.3,2,9\n", encoding="utf-8")
    amounts = ["--false-positive-cost", "fp", "--false-negative-cost", "fn", "-o", "out.csv"]
    outcome = cli("decide", "rows.csv", "--models", models, *amounts)
    assert (outcome.code, outcome.out, (folder / "out.csv").exists()) == (2, "", False)
    assert "two new columns would be called 'decision_a_threshold'" in " ".join(outcome.err.split())
    for model in ("a", "a_threshold"):
        assert cli("decide", "rows.csv", "--models", model, *amounts).code == 0


def test_predictions_are_not_overwritten(file, cli):
    before = file.read_bytes()
    outcome = cli("decide", file, *F1, "-o", file)
    assert (outcome.code, "FILE and --output name one file" in outcome.err) == (2, True)
    assert file.read_bytes() == before


def test_failure_to_print_leaves_no_file(file, cli, folder, monkeypatch):
    def full(_text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stakes.cli.console.write_out", full)
    assert cli("decide", file, *F1, "-o", "o.csv").code == 1
    assert list(folder.iterdir()) == []


def test_text_of_the_file_cannot_steer_the_terminal(cli, tmp_path):
    (tmp_path / "p.csv").write_text("p\x1b[2J,g\n0.2,\x1b]0;x\x07\n0.8,b\n", encoding="utf-8")
    outcome = cli(
        "decide", tmp_path / "p.csv", "--models", "p\x1b[2J", "--measure", "f1", "--groups", "g", "--sensitivity"
    )
    assert outcome.code == 0, outcome.err
    assert "\x1b" not in outcome.out + outcome.err
    assert "\\x1b" in outcome.out


def test_help_has_an_example_that_is_a_valid_command(cli):
    text = cli("decide", "--help").out
    for example in filter(str.strip, text.partition("Example:\n")[2].splitlines()):
        outcome = cli(*example.split()[1:])
        assert (outcome.code, "predictions.csv: there is no such file" in outcome.err) == (3, True)
