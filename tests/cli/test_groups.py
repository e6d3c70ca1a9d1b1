"""Subgroups, clusters and rows in order, as options of the commands."""

import json

import numpy as np
import pytest

import stakes
from stakes.outputs.files import json_ready
from tests.cli.conftest import write_csv

COLUMNS = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3"]


@pytest.fixture
def divided(columns, tmp_path):
    """Return a file with a column of sites and one of patients."""
    rows = len(columns["cancer"])
    sites = [f"site {i % 3}" for i in range(rows)]
    return write_csv(tmp_path / "divided.csv", {**columns, "site": sites, "patient": np.arange(rows) // 4})


def library(columns, **options):
    rows = len(columns["cancer"])
    known = {"groups": {"site": [f"site {i % 3}" for i in range(rows)]}, "clusters": np.arange(rows) // 4}
    models = {name: columns[name] for name in ("sharp", "blurred")}
    chosen = {name: known.get(name, value) for name, value in options.items()}
    return stakes.evaluate(columns["cancer"], models, costs=(0.05, 0.3), **chosen)


def test_groups_are_those_of_the_library(columns, divided, cli):
    outcome = cli("evaluate", divided, *COLUMNS, "--groups", "site", "--clusters", "patient", "--json")
    assert outcome.code == 0
    result = library(columns, groups=True, clusters=True)
    content = json.loads(outcome.out)
    assert content["groups"] == json_ready(result.groups._records())
    assert content["models"] == json_ready(result._records())
    text = cli("evaluate", divided, *COLUMNS, "--groups", "site").out
    assert all(f"site {i}" in text for i in range(3))
    assert "compare them by skill" in text


def test_beneath_groups_of_fitted_thresholds_only_what_is_shown_is_explained(divided, cli, tmp_path):
    text = cli(
        "evaluate", divided, *COLUMNS, "--groups", "site", "--rule", "optimal", "--report", tmp_path / "page.html"
    )
    words = " ".join(text.out[text.out.index("The best model by subgroup") :].split("More:")[0].split())
    assert words.endswith("of a group its cost alone is known, which depends on the share of positives.")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "of a group it alone is known" in page
    assert "p-values are adjusted" not in page


def test_columns_of_groups_are_not_models(divided, cli):
    outcome = cli("evaluate", divided, "--label", "cancer", "--clusters", "patient", "--groups", "site", "--json")
    assert outcome.code in {0, 3}
    if outcome.code == 0:
        assert "patient" not in {row["model"] for row in json.loads(outcome.out)["models"]}


@pytest.mark.parametrize("how", ["clusters", "lags"])
def test_compare_allows_for_dependence(columns, divided, cli, how):
    option = ["--clusters", "patient"] if how == "clusters" else ["--lags", "auto"]
    outcome = cli("compare", divided, *COLUMNS, *option, "--json")
    pair = library(columns, **{how: "auto"}).compare("sharp", "blurred")
    text = outcome.out
    assert json.dumps(json_ready(pair.interval[0])) in text
    assert json.dumps(json_ready(pair.p_value)) in text


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--lags", "soon"], 2, "--lags must be auto or a whole number, got 'soon'"),
        (["--lags", "auto", "--clusters", "patient"], 2, "--clusters and --lags cannot both be given"),
        (["--clusters", "nobody"], 3, "nobody"),
        (["--clusters", "site"], 3, "at least 5 clusters, got 3"),
        (["--lags", "100000"], 3, "lags must be"),
    ],
)
def test_bad_options(divided, cli, options, code, message):
    outcome = cli("evaluate", divided, *COLUMNS, *options)
    assert outcome.code == code
    assert message in " ".join(outcome.err.split())


def test_report_names_the_columns_and_the_file(divided, cli, folder):
    from stakes.tables import file_digest

    assert cli("evaluate", divided, *COLUMNS, "--report", "report.html").code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert file_digest(divided) in page
    assert "cancer" in page


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_clusters_of_long_ids_count_as_those_of_short_ids(columns, cli, folder, form):
    polars = pytest.importorskip("polars")
    rows, found = len(columns["cancer"]), []
    for first, step in ((0, 1), (10**18, 64)):
        ids = [first + step * (k // 4) for k in range(rows)]
        frame = polars.DataFrame({**columns, "patient": ids})
        frame = polars.concat([frame, frame[:1].with_columns(patient=polars.lit(None, polars.Int64))])
        write = {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}
        write[form](folder / f"{first}.{form}")
        options = [*COLUMNS, "--clusters", "patient", "--on-missing", "drop", "--json"]
        found.append(json.loads(cli("compare", f"{first}.{form}", *options).out))
    errors = [[each["standard_error"] for each in content["records"]] for content in found]
    assert errors[0] == errors[1]
