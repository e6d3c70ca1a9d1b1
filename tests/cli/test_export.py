"""`stakes export` writes a saved rule as the library does."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

from stakes.actions import fit_deferral
from stakes.boundary import fit_boundary
from stakes.correction import update
from stakes.outcomes import decide_rows
from stakes.utility import population_threshold

pytest.importorskip("rich")
RNG = np.random.default_rng(4)
SCORE = RNG.random(200)
Y = RNG.random(200) < SCORE
DOUBT = RNG.random(200).round(1)
RULES = {
    "threshold": lambda: population_threshold(Y, SCORE, "f1", n_resamples=0),
    "pair": lambda: fit_deferral(Y, SCORE, costs=0.5, deferral=0.1),
    "boundary": lambda: fit_boundary(Y, SCORE, DOUBT, min_precision=0.6),
    "rows": lambda: decide_rows(SCORE, false_positive=5, false_negative=15),
    "update": lambda: update(Y, SCORE),
}
TYPED = {
    "boundary": ["--uncertainty", "spread"],
    "rows": ["--false-positive-cost", "5", "--false-negative-cost", "loss"],
}
SAID = {"boundary": {"uncertainty": "spread"}, "rows": {"false_positive": 5.0, "false_negative": "loss"}}


def priced(false_positive, false_negative):
    amounts = ["--false-positive-cost", false_positive, "--false-negative-cost", false_negative]
    return ["rows.json", "--score", "risk", *amounts]


@pytest.fixture
def rules(folder):
    for name, make in RULES.items():
        make().to_json(folder / f"{name}.json")
    return folder


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_sql_is_that_of_the_library(name, dialect, cli):
    typed = ["--to", "sql", "--dialect", dialect, "--score", "risk", *TYPED.get(name, [])]
    outcome = cli("export", f"{name}.json", *typed)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == RULES[name]().to_sql("risk", **SAID.get(name, {}), dialect=dialect) + "\n"


@pytest.mark.usefixtures("rules")
def test_missing_scores_are_decided_as_asked(cli):
    typed = ["--to", "sql", "--score", "risk", "--missing"]
    assert cli("export", "pair.json", *typed, "defer").out == RULES["pair"]().to_sql("risk", missing="defer") + "\n"
    refused = cli("export", "threshold.json", *typed, "defer")
    assert refused.code == 2
    assert "missing must be" in refused.err
    assert "--missing is of rules that decide" in cli("export", "update.json", *typed, "act").err


def test_sql_decides_in_a_database_as_the_rule_does(rules, cli):
    duckdb = pytest.importorskip("duckdb")
    assert cli("export", "threshold.json", "--to", "sql", "--score", "risk", "-o", "rule.sql").code == 0
    sql, scores = (rules / "rule.sql").read_text(encoding="utf-8"), [0.0, 0.3, 0.5, 0.9]
    rows = duckdb.sql("SELECT unnest($scores)::DOUBLE AS risk", params={"scores": scores})
    found = rows.project(sql).fetchall()
    assert [decision for (decision,) in found] == RULES["threshold"]().predict(scores).tolist()


def test_a_boundary_knows_the_columns_that_it_was_fitted_to(rules, cli):
    content = json.loads((rules / "boundary.json").read_text(encoding="utf-8"))
    named = {**content, "columns": {"score": "risk", "uncertainty": "spread", "label": "ill", "pos_label": None}}
    (rules / "boundary.json").write_text(json.dumps(named), encoding="utf-8")
    assert cli("export", "boundary.json", "--to", "sql").out == RULES["boundary"]().to_sql("risk", "spread") + "\n"


def test_json_is_the_rule_alone(rules, cli):
    assert cli("export", "pair.json", "--to", "json", "-o", "out.json").code == 0
    assert (rules / "out.json").read_text(encoding="utf-8").strip() == RULES["pair"]().to_json().strip()


def test_onnx_decides_as_the_rule_does(rules, cli):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    assert cli("export", "threshold.json", "--to", "onnx", "--score", "risk", "-o", "rule.onnx").code == 0
    session = runtime.InferenceSession((rules / "rule.onnx").read_bytes())
    (found,) = session.run(None, {"risk": SCORE})
    assert found.tolist() == RULES["threshold"]().predict(SCORE).tolist()
    assert cli("export", "update.json", "--to", "onnx", "--score", "risk", "-o", "update.onnx").code == 0
    session = runtime.InferenceSession((rules / "update.onnx").read_bytes())
    (found,) = session.run(["updated"], {"risk": SCORE})
    assert found == pytest.approx(RULES["update"]().predict(SCORE), rel=1e-12)


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["threshold.json", "--to", "sql"], 2, "--score COLUMN is needed"),
        (["boundary.json", "--to", "sql", "--score", "risk"], 2, "--uncertainty COLUMN is needed"),
        (["rows.json", "--to", "sql", "--score", "risk"], 2, "--false-positive-cost COLUMN is needed"),
        ([*priced("0", "10"), "--to", "sql"], 2, "--false-positive-cost 0 and --false-negative-cost 10 leave no"),
        ([*priced("5", "0"), "--to", "onnx", "-o", "r.onnx"], 2, "the rule by decide_rows(on_dominated='set_aside')"),
        (["threshold.json", "--to", "sql", "--score", "a", "--uncertainty", "b"], 2, "--uncertainty is of other rules"),
        (["threshold.json", "--to", "json", "--score", "a"], 2, "--score is of sql and onnx"),
        (["threshold.json", "--to", "onnx", "--score", "a"], 2, "onnx needs -o OUT.onnx"),
        (["pair.json", "--to", "onnx", "--score", "a", "--dialect", "spark", "-o", "r.onnx"], 2, "--dialect is of sql"),
        (["pair.json", "--to", "sql", "--score", "a", "-o", "r.csv"], 2, "must name a file that ends in .sql"),
        (["threshold.json", "--to", "json", "-o", "threshold.json"], 2, "RULE.json and --output name one file"),
        (["absent.json", "--to", "sql", "--score", "a"], 3, "absent.json"),
        (["kept.json", "--to", "sql", "--score", "a"], 3, "is no rule: it is a ScoreTable"),
        (["other.json", "--to", "sql", "--score", "a"], 3, "other.json: it names no format of stakes"),
    ],
)  # fmt: skip
def test_what_cannot_be_exported_is_refused(words, code, says, cli, folder):
    from stakes import ScoreTable

    ScoreTable.from_predictions(Y, SCORE).to_json(folder / "kept.json")
    (folder / "other.json").write_text("{}", encoding="utf-8")
    outcome = cli("export", *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert says in " ".join(outcome.err.split())
    assert not list(folder.glob("*.onnx"))


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("amount", ["10%", "-5%", "5,50", "0,05", "€5", "$5", "5 000", "1.000.000", "5-", "inf"])
def test_mistyped_amounts_are_no_names_of_columns(amount, cli):
    outcome = cli("export", *priced("5", amount), "--to", "sql")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: --false-negative-cost")
    assert f"got '{amount}'" in outcome.err


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(
    ("typed", "meant"),
    [("1,000", 1000), ("-1,000.5", -1000.5), ("1e3", 1000), ("5_year_loss", "5_year_loss"), ("loss, 10%", "loss, 10%")],
)
def test_amounts_and_names_of_columns_are_read_as_meant(typed, meant, cli, folder):
    rule = decide_rows(SCORE, false_positive=5, false_negative=15, on_dominated="set_aside")
    rule.to_json(folder / "rows.json")
    outcome = cli("export", *priced("5", typed), "--to", "sql")
    assert outcome.out == rule.to_sql("risk", 5, meant) + "\n"


MISTAKEN = {
    "no file": (None, "cannot be read: No such file"),
    "rows": (b"risk,y\n0.5,1\n", "it is no JSON"),
    "nothing": (b"", "it is no JSON"),
    "another JSON": (b'{"a": 1}', "it names no format of stakes"),
    "damaged": (b'{"format": "stakes-update-1"}', "rule.json: "),
    "packed": (gzip.compress(b"{}"), "it is compressed by gzip: unpack it first"),
}


@pytest.mark.parametrize("case", MISTAKEN)
def test_mistake_about_the_file_is_no_bug_in_a_process_that_loaded_no_tables(case, folder):
    content, said = MISTAKEN[case]
    if content is not None:
        (folder / "rule.json").write_bytes(content)
    argv = [sys.executable, "-m", "stakes", "export", "rule.json", "--to", "sql", "--score", "risk"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("error: rule.json")
    assert said in done.stderr
    assert "bug" not in done.stderr
