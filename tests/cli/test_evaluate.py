"""`stakes evaluate` gives the library's numbers, from every kind of file."""

import gzip
import json
import math

import pytest

import stakes
from stakes import costs
from stakes.outputs.files import json_ready

pl = pytest.importorskip("polars")

RANGE = ["--label", "cancer", "--costs", "0.05:0.3"]
MODELS = ["--models", "sharp,blurred"]
MEASURE = costs.Uniform(0.05, 0.3)


@pytest.fixture
def frame(columns):
    return pl.DataFrame(columns)


def models_of(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["models"]


def expected(frame, **options):
    evaluation = stakes.evaluate_frame(
        frame, **{"label": "cancer", "models": ["sharp", "blurred"], "costs": MEASURE, **options}
    )
    return json_ready(evaluation.frame("polars").to_dicts())


WRITERS = {
    "p.csv": lambda frame, path: frame.write_csv(path),
    "p.csv.gz": lambda frame, path: path.write_bytes(gzip.compress(frame.write_csv().encode())),
    "p.parquet": lambda frame, path: frame.write_parquet(path),
    "p.arrow": lambda frame, path: frame.write_ipc(path),
    "p.jsonl": lambda frame, path: frame.write_ndjson(path),
}
SUFFIX_FORMATS = {"p.csv": "csv", "p.parquet": "parquet", "p.arrow": "arrow", "p.jsonl": "jsonl"}


@pytest.mark.parametrize("file", WRITERS)
def test_json_of_every_file_format_equals_the_library(file, frame, cli, tmp_path):
    WRITERS[file](frame, tmp_path / file)
    outcome = cli("evaluate", tmp_path / file, *RANGE, *MODELS, "--json")
    assert models_of(outcome) == expected(frame)
    assert outcome.err == ""


@pytest.mark.parametrize("file", SUFFIX_FORMATS)
@pytest.mark.parametrize("stated", [False, True])
def test_standard_input(file, stated, frame, cli, tmp_path):
    WRITERS[file](frame, tmp_path / file)
    named = ["--format", SUFFIX_FORMATS[file]] if stated else []
    outcome = cli("evaluate", "-", *RANGE, *MODELS, "--json", *named, stdin=(tmp_path / file).read_bytes())
    assert models_of(outcome) == expected(frame)
    assert json.loads(outcome.out)["source"] == "standard input"


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["--weight", "weight"], {"weight": "weight"}),
        (["--rule", "0.2"], {"rule": 0.2}),
        (["--rule", "optimal"], {"rule": "optimal"}),
        (["--harm", "0.01"], {"harm": 0.01}),
        (["--harm", "sharp=0.02,blurred=0"], {"harm": {"sharp": 0.02, "blurred": 0.0}}),
        (["--scale", "loss"], {"scale": "loss"}),
        (["--prevalence", "0.02"], {"prevalence": 0.02}),
        (["--confidence-level", "0.8"], {"confidence_level": 0.8}),
        (["--pos-label", "0"], {"pos_label": 0}),
        (["--unit-cost", "250", "--per", "1,000"], {"unit_cost": 250.0, "per": 1000.0}),
        (["--weighting", "log-odds"], {"costs": costs.LogOddsUniform(0.05, 0.3)}),
    ],
)
def test_options_mean_what_they_mean_in_the_library(options, same, frame, data, cli):
    assert models_of(cli("evaluate", data, *RANGE, *MODELS, "--json", *options)) == expected(frame, **same)


def test_printed_numbers_are_those_of_the_library(frame, data, cli):
    outcome = cli("evaluate", data, *RANGE, *MODELS)
    best = next(record for record in expected(frame) if record["rank"] == 1)
    line = next(line for line in outcome.out.splitlines() if line.startswith(f"1  {best['model']}"))
    assert float(line.split()[2]) == pytest.approx(1000.0 * best["score"], rel=5e-3)
    assert f"{best['auc']:.3f}".removeprefix("0") in line
    assert f"{best['skill']:.3f}" in cli("evaluate", data, *RANGE, *MODELS, "--details").out
    text = " ".join(outcome.out.split())
    assert all(" ".join(sentence.split()) in text for sentence in conclusion_of(frame))


def conclusion_of(frame):
    return stakes.evaluate_frame(frame, label="cancer", models=["sharp", "blurred"], costs=MEASURE).conclusion


def test_every_other_numeric_column_is_a_model_and_that_is_said(data, frame, cli, tmp_path):
    frame.drop("weight").write_csv(tmp_path / "two.csv")
    printed = cli("evaluate", tmp_path / "two.csv", *RANGE)
    assert "note: models taken: sharp, blurred (every other numeric column; --models names others)" in printed.err
    as_json = cli("evaluate", tmp_path / "two.csv", *RANGE, "--json")
    assert "note: models taken: sharp, blurred" in as_json.err
    too_many = cli("evaluate", data, *RANGE)
    assert too_many.code == 3
    assert "column 'weight'" in too_many.err
    assert "--models" in too_many.err


@pytest.mark.parametrize(
    "models", [["--models", "sharp", "--models", "blurred"], ["--models", "sharp,blurred"], ["--models=sharp,blurred"]]
)
def test_models_are_named_at_once_or_one_by_one(models, frame, data, cli):
    assert models_of(cli("evaluate", data, *RANGE, *models, "--json")) == expected(frame)


def test_comma_in_the_name_of_a_model(frame, cli, tmp_path):
    frame.rename({"sharp": "sharp, new"}).write_csv(tmp_path / "p.csv")
    outcome = cli("evaluate", tmp_path / "p.csv", *RANGE, "--models", r"sharp\, new,blurred", "--json")
    assert {"sharp, new", "blurred"} < {record["model"] for record in models_of(outcome)}


def test_dropped_rows_are_counted(frame, cli, tmp_path):
    gaps = frame.with_row_index().with_columns(pl.when(pl.col("index") >= 3).then("sharp")).drop("index")
    gaps.write_csv(tmp_path / "p.csv")
    outcome = cli("evaluate", tmp_path / "p.csv", *RANGE, *MODELS, "--on-missing", "drop", "--json")
    assert models_of(outcome) == expected(frame[3:])
    assert json.loads(outcome.out)["data"]["dropped"] == 3
    assert f"note: 3 of {len(frame)} rows dropped" in outcome.err


def test_whole_range_is_said_aloud(data, frame, cli):
    outcome = cli("evaluate", data, "--label", "cancer", *MODELS, "--json")
    assert models_of(outcome) == expected(frame, costs=None)
    assert "note: no range of thresholds was given" in outcome.err
    assert "--costs 0.02:0.10" in outcome.err


def test_real_units_are_named(data, cli):
    text = " ".join(cli("evaluate", data, *RANGE, *MODELS, "--per", "1000", "--unit-cost", "250").out.split())
    assert " per 1,000 decisions (95%: " in text
    assert "Costs are in money: one missed positive plus one false alarm cost 250." in text


def test_infinite_log_loss_is_printed_as_infinite(cli, tmp_path):
    rows = [(0, 0.1, 0.2), (1, 0.0, 0.7), (0, 0.3, 0.4), (1, 0.9, 0.6)] * 5
    pl.DataFrame(rows, schema=["cancer", "certain", "careful"], orient="row").write_csv(tmp_path / "p.csv")
    options = ["--label", "cancer", "--weighting", "log-odds"]
    assert " inf " in cli("evaluate", tmp_path / "p.csv", *options).out
    records = models_of(cli("evaluate", tmp_path / "p.csv", *options, "--json"))
    assert records[1]["score"] == "inf"
    assert json.loads(cli("evaluate", tmp_path / "p.csv", *options, "--json").out)["scale"] == "loss"


def test_optimal_rule_is_called_optimistic(data, cli):
    outcome = cli("evaluate", data, *RANGE, *MODELS, "--rule", "optimal")
    assert "optimistic" in outcome.err
    assert "which is optimistic" in " ".join(outcome.out.split())


def test_published_table_of_breast_cancer_risks(reference_dir, cli):
    file = reference_dir / "data" / "bcsc_predictions" / "bcsc_predictions.csv.gz"
    names = ["logistic_minimal", "logistic_+_density", "xgboost", "xgboost_2pct"]
    options = ["--label", "cancer", "--models", ",".join(names), "--odds", "0.0166:0.03", "--scale", "loss", "--json"]
    records = {record["model"]: record for record in models_of(cli("evaluate", file, *options))}
    # Flores et al., arXiv:2504.04528, Table 2: bounded Brier score and AUC.
    assert [f"{records[name]['score']:.6f}" for name in names] == ["0.000662"] * 3 + ["0.000545"]
    assert [f"{records[name]['auc']:.3f}" for name in names] == ["0.601", "0.606", "0.574", "0.591"]
    assert [records[name]["acts_like"] for name in names[:3]] == ["treat none"] * 3
    assert math.isclose(records["treat none"]["score"], records["xgboost"]["score"], rel_tol=0.01)


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("solar_flares_c1/solar_flares_c1", ["--label", "y"]),
        ("solar_flares_c1/solar_flares_c1", ["--label", "y", "--weighting", "log-odds"]),
        ("dcurves/df_binary", ["--label", "cancer", "--models", "cancerpredmarker,famhistory", "--costs", "5%:35%"]),
    ],
)
def test_published_data_sets_print(file, options, reference_dir, cli):
    outcome = cli("evaluate", reference_dir / "data" / f"{file}.csv.gz", *options)
    assert outcome.code == 0, outcome.err
    assert "treat no one" in outcome.out


def test_a_model_named_beforehand_and_those_tried_stand_in_the_answer(data, cli):
    outcome = cli("evaluate", data, *RANGE, "--weight", "weight", "--incumbent", "blurred", "--n-tried", "30")
    text = " ".join(outcome.out.split())
    assert outcome.code == 0
    assert "blurred, named beforehand" in text
    for option, value in (("--incumbent", "nobody"), ("--n-tried", "1")):
        refused = cli("evaluate", data, *RANGE, "--weight", "weight", option, value)
        assert refused.code == 3
        assert value in refused.err
