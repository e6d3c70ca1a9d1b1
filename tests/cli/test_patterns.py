"""Several Parquet files by a pattern are evaluated where they lie, and the answer is that of one file."""

import datetime as dt
import inspect
import json
import re

import numpy as np
import pytest

from stakes import evaluate_frame
from stakes.tables import DataError, frame_columns, group_scores, scan_parquet

pl = pytest.importorskip("polars")

RNG = np.random.default_rng(5)
RISK = RNG.random(3000)
FRAME = pl.DataFrame(
    {
        "cancer": (RNG.random(3000) < RISK).astype(int),
        "a": np.clip(RISK + RNG.normal(0, 0.1, 3000), 0, 1),
        "b": np.clip(RISK + RNG.normal(0, 0.3, 3000), 0, 1),
        "day": RNG.choice(["mon", "tue"], 3000),
        "patient": np.arange(3000) // 7,
    }
)
ASKED = ["--label", "cancer", "--models", "a,b", "--costs", "0.1:0.4"]


@pytest.fixture
def days(folder):
    for day in ("mon", "tue"):
        target = folder / f"day={day}"
        target.mkdir()
        FRAME.filter(pl.col("day") == day).drop("day").write_parquet(target / "part.parquet")
    FRAME.write_parquet(folder / "all.parquet")
    return folder


def near(one, two):
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(near(one[key], two[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(near, one, two))
    return one == two or (isinstance(one, float) and one == pytest.approx(two, rel=1e-9, abs=1e-13))


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--groups", "day"],
        ["--prevalence", "0.1", "--groups", "day"],
        ["--clusters", "patient", "--prevalence", "0.1"],
    ],
    ids=str,
)
def test_files_by_a_pattern_are_evaluated_as_one(cli, more):
    found = cli("evaluate", "day=*/*.parquet", *ASKED, *more, "--json")
    known = cli("evaluate", "all.parquet", *ASKED, *more, "--json")
    assert (found.code, known.code) == (0, 0), found.err
    assert "the rows are not kept in memory" in found.err
    assert ("and intervals of areas and of calibration over clusters need them" in found.err) == ("--clusters" in more)
    answers = [json.loads(outcome.out) for outcome in (found, known)]
    for name in ("data", "models", "ranking"):
        assert near(answers[0][name], answers[1][name]), name
    for mine, its in zip(answers[0]["groups"], answers[1]["groups"], strict=True):
        # miscalibration is cross-fitted over folds drawn in the order of the rows
        assert near(
            {k: v for k, v in mine.items() if "miscalibration" not in k},
            {k: v for k, v in its.items() if "miscalibration" not in k},
        )


@pytest.mark.usefixtures("days")
def test_clusters_in_files_by_a_pattern(cli):
    for file in ("day=*/*.parquet", "all.parquet"):
        few = cli("evaluate", file, *ASKED, "--clusters", "day")
        assert few.code == 3
        assert f"{file}: column 'day': clusters must hold at least 5 clusters, got 2" in few.err
    FRAME.with_columns(cancer=0).write_parquet("none.parquet")
    none = cli("evaluate", "none*.parquet", *ASKED, "--clusters", "patient")
    assert (none.code, "must hold both classes, got 3,000 rows" in none.err) == (3, True)
    # what an engine cannot say of clusters is said of the rows
    both = cli("evaluate", "day=*/*.parquet", *ASKED, "--clusters", "patient", "--groups", "day")
    assert both.code == 0
    assert "the rows are not kept" not in both.err
    heads = [
        cli("evaluate", file, *ASKED, "--prevalence", "0.1", "--clusters", "patient").out.partition(" positive")[0]
        for file in ("day=*/*.parquet", "all.parquet")
    ]
    assert heads[0].partition(":")[2] == heads[1].partition(":")[2] == f" 3,000 rows, {FRAME['cancer'].sum():,}"


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize("file", ["day=*/*.parquet", "all.parquet"])
@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb", "spark"])
@pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas
def test_every_engine_gives_the_answer_of_the_file_read(cli, engine, file):
    pytest.importorskip("pyspark" if engine == "spark" else "duckdb")
    found = cli("evaluate", file, *ASKED, "--groups", "day", "--engine", engine, "--json")
    known = cli("evaluate", "all.parquet", *ASKED, "--groups", "day", "--json")
    assert (found.code, known.code) == (0, 0), found.err
    answers = [json.loads(outcome.out) for outcome in (found, known)]
    for name in ("data", "models", "ranking"):
        assert near(answers[0][name], answers[1][name]), name
    assert [row["group"] for row in answers[0]["groups"]] == [row["group"] for row in answers[1]["groups"]]
    assert ("the rows are not kept in memory" in found.err) == (engine != "memory")


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_an_engine_refuses_what_is_no_parquet_file(cli, folder, engine):
    pytest.importorskip(engine)
    (folder / "text.parquet").write_text("cancer,a\n0,0.1\n")
    (folder / "x.csv").write_text("cancer,a\n0,0.1\n")
    for file, message in [
        ("text.parquet", "text.parquet: cannot be read as Parquet"),
        ("none.parquet", "none.parquet: cannot be read as Parquet"),
        ("x.csv", "must be a Parquet file, as --engine looks at them"),
    ]:
        outcome = cli("evaluate", file, *ASKED, "--engine", engine)
        assert outcome.code == 3
        assert message in outcome.err
    outcome = cli("evaluate", "all.parquet", *ASKED, "--engine", engine, "--format", "parquet")
    assert outcome.code == 2
    assert "--engine is for Parquet files, and takes no --format" in outcome.err


@pytest.mark.usefixtures("days")
def test_duckdb_drops_the_rows_whose_scores_are_no_numbers(cli, folder):
    pytest.importorskip("duckdb")
    FRAME.with_columns(a=pl.when(pl.int_range(pl.len()) < 7).then(float("nan")).otherwise("a")).write_parquet(
        folder / "nan.parquet"
    )
    refused = cli("evaluate", "nan.parquet", *ASKED, "--engine", "duckdb")
    assert refused.code == 3
    assert "column 'a': must not be missing (7 of 3000 rows)" in refused.err.replace("3,000", "3000")
    found = cli("evaluate", "nan.parquet", *ASKED, "--engine", "duckdb", "--on-missing", "drop", "--json")
    assert json.loads(found.out)["data"]["dropped"] == 7


def test_a_report_and_a_comparison_are_made_from_a_pattern(cli, days):
    done = cli("evaluate", "day=*/*.parquet", *ASKED, "--report", "report.html")
    assert done.code == 0, done.err
    assert "day=*/*.parquet: 3,000 rows" in done.out
    assert "day=*" in (days / "report.html").read_text(encoding="utf-8")
    compared = cli("compare", "day=*/*.parquet", *ASKED)
    assert "a costs less than b." in compared.out


@pytest.mark.parametrize("engine", ["auto", "memory", "duckdb"])
@pytest.mark.parametrize(
    "first",
    [
        pl.Series([2**53 - 1, 2**53]),
        pl.Series([1, 2**53 + 1]),
        pl.Series([-(2**53), -(2**53) - 1]),
        pl.Series([0, 2**53], dtype=pl.UInt64),
        pl.Series([0, 2**64 - 1], dtype=pl.UInt64),
        pl.Series([0, 2**31 - 1], dtype=pl.Int32),
    ],
    ids=["exact", "larger", "smaller", "unsigned", "larger and unsigned", "32 bits"],
)
@pytest.mark.parametrize("option", ["--groups", "--clusters"])
def test_identifiers_that_floats_of_another_file_make_alike_are_refused(cli, folder, option, first, engine):
    pytest.importorskip("duckdb")
    refused = any(int(float(value)) != value for value in first)
    rows = FRAME.drop("day")
    rows.with_columns(patient=pl.Series(first.to_list() * 1500, dtype=first.dtype)).write_parquet(folder / "a.parquet")
    gaps = rows.with_columns(patient=pl.col("patient").cast(pl.Float64) % 100.0)
    gaps.write_parquet(folder / "b.parquet")
    found = cli("evaluate", "[ab].parquet", *ASKED, option, "patient", "--engine", engine)
    assert found.code == (3 if refused else 0), found.err
    if refused:
        worst = max(first, key=abs)
        assert "a.parquet: column 'patient': must lie within 2^53" in found.err
        assert f"got {worst}" in found.err


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize("engine", ["auto", "polars", "duckdb"])
@pytest.mark.parametrize("asked", [["--deferral", "0.05"], ["--more-rows", "500"]], ids=lambda asked: asked[0])
def test_further_questions_take_the_rows_into_memory(cli, asked, engine):
    pytest.importorskip("duckdb")
    key = {"--deferral": "deferral", "--more-rows": "value_of_information"}[asked[0]]
    found = cli("evaluate", "day=*/*.parquet", *ASKED, *asked, "--engine", engine, "--json")
    known = cli("evaluate", "all.parquet", *ASKED, *asked, "--json")
    assert found.code == 0, found.err
    assert near(json.loads(found.out)[key], json.loads(known.out)[key])
    pooled = cli("evaluate", "day=*/*.parquet", *ASKED, *asked, "--resolution", "64")
    assert (pooled.code, f"{asked[0]} needs the rows in memory" in pooled.err) == (2, True)


@pytest.mark.usefixtures("days")
def test_check_looks_at_files_as_evaluate_does(cli):
    told = cli("evaluate", "day=*/*.parquet", *ASKED).out
    (command,) = (line for line in told.splitlines() if "stakes check" in line)
    assert "stakes check 'day=*/*.parquet' ..." in command
    known = json.loads(cli("check", "all.parquet", *ASKED, "--json").out)
    for engine in ("memory", "polars"):
        found = cli("check", "day=*/*.parquet", *ASKED, "--engine", engine, "--json")
        assert found.code == 0, found.err
        assert ("the rows are not kept in memory" in found.err) == (engine == "polars")
        assert json.loads(found.out)["data"] == known["data"]
        assert [each["code"] for each in json.loads(found.out)["findings"]] == [
            each["code"] for each in known["findings"]
        ]
    pooled = cli("check", "all.parquet", *ASKED, "--resolution", "64")
    assert "scores were pooled into 64 cells" in pooled.err
    FRAME.write_csv("all.csv")
    for option, message in [("--engine", "--engine looks at them"), ("--resolution", "pools the scores of Parquet")]:
        refused = cli("check", "all.csv", *ASKED, option, {"--engine": "polars"}.get(option, "64"))
        assert refused.code in {2, 3}
        assert message in refused.err


APART = {"auc-disagrees", "curves-cross", "neighbours-alike"}
CLUSTERED = {"auc-disagrees", "calibration-in-the-large", "inverted", "worse-than-prevalence"}


@pytest.fixture
def drifting(folder):
    """Write rows with a season that no score knows, and scores that are coarse, too steep and turned round."""
    rng, season = np.random.default_rng(3), 2.0 * np.sin(np.arange(6000) / 300)
    x = rng.normal(size=6000)
    ill = rng.random(6000) < 1.0 / (1.0 + np.exp(1.0 - x - season))
    steep, back = (1.0 / (1.0 + np.exp(-slope * (x - 1.0))) for slope in (5.0, -1.0))
    columns = {"cancer": ill.astype(int), "coarse": np.where(x > 0.0, 0.4, 0.2), "steep": steep, "back": back}
    rows = pl.DataFrame({**columns, "patient": np.arange(6000) // 3})
    for part in (0, 1):
        rows[3000 * part : 3000 * (part + 1)].write_parquet(folder / f"part-{part}.parquet")
    models = ("--label", "cancer", "--models", "coarse,steep,back", "--costs", "0.1:0.6")
    return "check", "part-*.parquet", *models


@pytest.mark.parametrize(
    ("more", "looking"), [((), APART), (("--clusters", "patient"), CLUSTERED)], ids=["", "clusters"]
)
def test_check_reads_the_rows_where_a_finding_that_may_fail_needs_them(more, looking, drifting, cli):
    def codes(*engine):
        found = cli(*drifting, *more, *engine, "--fail-on", "none", "--json")
        return {each["code"] for each in json.loads(found.out)["findings"]}, found.err

    (known, _), (found, note) = codes("--engine", "memory"), codes()
    assert known - found == looking  # what an engine that keeps no rows leaves out is what is declared
    assert found <= known
    assert all(code in note for code in looking)
    for code in looking:
        assert cli(*drifting, *more, "--fail-on", code).code == 4
        pooled = cli(*drifting, *more, "--fail-on", code, "--resolution", "64")
        assert (pooled.code, f"--fail-on of {code} needs the rows in memory" in pooled.err) == (2, True)
    assert cli(*drifting, *more).code == 4  # two errors, by themselves
    assert "not kept" in cli(*drifting, *more, "--ignore", ",".join(looking), "--fail-on", "warning").err


@pytest.mark.usefixtures("days")
def test_a_pattern_of_no_file_or_of_others_is_bad_data(cli, folder):
    (folder / "x.csv").write_text("cancer,a\n0,0.1\n")
    for pattern, message in [("week=*/*.parquet", "no file has a name like this"), ("*.csv", "must be a Parquet file")]:
        outcome = cli("evaluate", pattern, *ASKED)
        assert outcome.code == 3
        assert message in outcome.err
    for named in ("day=*", "day=*/"):
        outcome = cli("evaluate", named, *ASKED)
        assert outcome.code == 3
        assert "is a folder, not a file. Name the files in it: 'day=*/*.parquet'." in outcome.err
        (advised,) = re.findall(r"'(.*)'", outcome.err)
        assert cli("evaluate", advised, *ASKED).code == 0
    outcome = cli("evaluate", "day=*/*.parquet", *ASKED, "--lags", "3")
    assert (outcome.code, "rows of several files have no order" in outcome.err) == (3, True)


def test_bad_values_name_the_pattern_the_column_and_their_number(cli, days):
    FRAME.drop("day").with_columns(a=pl.lit(1.5)).write_parquet(days / "day=tue" / "part.parquet")
    outcome = cli("evaluate", "day=*/*.parquet", *ASKED)
    assert outcome.code == 3
    assert "day=*/*.parquet: column 'a': must lie in [0, 1], got 1.5 (3000 of " in outcome.err


def test_a_large_file_is_scanned_and_a_small_one_read(days):
    name = str(days / "all.parquet")
    assert scan_parquet(name) is None
    assert inspect.signature(scan_parquet).parameters["large"].default == 1024**3  # 1 GiB
    assert isinstance(scan_parquet(name, large=10), pl.LazyFrame)


# how a day is written: the types in the first and in the second file
WRITTEN = {
    "labels of 8 bits": ({}, {"cancer": pl.Int8}),
    "labels of 8 bits first": ({"cancer": pl.Int8}, {}),
    "labels without a sign": ({"cancer": pl.UInt8}, {}),
    "labels as truth values": ({}, {"cancer": pl.Boolean}),
    "labels as fractions": ({}, {"cancer": pl.Float64}),
    "scores of 32 bits": ({}, {"a": pl.Float32}),
    "scores of 32 bits first": ({"a": pl.Float32}, {}),
    "scores as decimals": ({}, {"a": pl.Decimal(10, 6)}),
    "groups as categories": ({"site": pl.String}, {"site": pl.Categorical}),
}


@pytest.mark.parametrize(
    ("written", "engine"),
    [
        *((written, "auto") for written in WRITTEN),
        ("scores of 32 bits first", "duckdb"),
        ("labels of 8 bits", "memory"),
    ],
)
def test_files_with_other_types_are_read_as_duckdb_unites_them(written, engine, cli, folder):
    duckdb = pytest.importorskip("duckdb")
    frame, days = FRAME.drop("day").with_columns(site=pl.Series(["x", "y", "z"] * 1000)), folder / "days"
    days.mkdir()
    for name, part, types in zip("12", (frame[:2000], frame[2000:]), WRITTEN[written], strict=True):
        part.cast(types).write_parquet(days / f"{name}.parquet")
    duckdb.read_parquet(f"{days}/*.parquet", union_by_name=True).write_parquet(f"{folder}/all.parquet")
    asked = [*ASKED, "--groups", "site", "--json"]
    found, known = cli("evaluate", "days/*.parquet", *asked, "--engine", engine), cli("evaluate", "all.parquet", *asked)
    assert (found.code, known.code) == (0, 0), found.err + known.err
    answers = [json.loads(outcome.out) for outcome in (found, known)]
    assert near(answers[0]["models"], answers[1]["models"])
    assert answers[0]["data"]["rows"] == 3000


@pytest.mark.parametrize("engine", ["auto", "duckdb"])
@pytest.mark.parametrize("where", ["first", "second"])
def test_column_that_is_not_asked_for_may_be_missing_or_of_another_type(where, engine, cli, folder):
    frame, days = FRAME.drop("day"), folder / "days"
    frame.write_parquet(folder / "all.parquet")
    days.mkdir()
    for name, part in {"first": frame[:2000], "second": frame[2000:]}.items():
        changed = part.with_columns(more=pl.lit(1.0), patient=pl.lit("p")) if name == where else part
        changed.write_parquet(days / f"{name}.parquet")
    found = cli("evaluate", "days/*.parquet", *ASKED, "--engine", engine, "--json")
    known = cli("evaluate", "all.parquet", *ASKED, "--json")
    assert (found.code, known.code) == (0, 0), found.err
    assert near(json.loads(found.out)["models"], json.loads(known.out)["models"])


KIND = "must hold one kind of values in all files, got "
CHANGED = {
    "no model": (lambda f: f.drop("b"), "column 'b': there is no such column in this file, but in '1.parquet'"),
    "no label": (lambda f: f.drop("cancer"), "column 'cancer': there is no such column in this file, but in '1.parq"),
    "no group": (lambda f: f.drop("site"), "column 'site': there is no such column in this file, but in '1.parquet'"),
    "scores as text": (
        lambda f: f.cast({"b": pl.String}),
        f"column 'b': {KIND}text, and numbers in '1.parquet'",
    ),
    "labels of 64 bits": (
        lambda f: f.cast({"cancer": pl.UInt64}),
        f"column 'cancer': {KIND}UInt64, and Int64 in '1.parquet'",
    ),
}


@pytest.mark.parametrize(
    ("change", "engine"),
    [*((change, "auto") for change in CHANGED), ("no model", "duckdb"), ("scores as text", "duckdb")],
)
def test_file_that_does_not_fit_is_named(change, engine, cli, folder):
    changed, message = CHANGED[change]
    frame = FRAME.rename({"day": "site"})
    frame[:2000].write_parquet(folder / "1.parquet")
    changed(frame[2000:]).write_parquet(folder / "2.parquet")
    more = ["--groups", "site", "--engine", engine, "--output", "found.json"]
    outcome = cli("evaluate", "*.parquet", *ASKED, *more)
    assert (outcome.code, outcome.out) == (3, "")
    assert f"error: 2.parquet: {message}" in outcome.err
    assert not (folder / "found.json").exists()


def test_numeric_column_of_the_first_file_is_a_model_and_must_be_in_all(cli, folder):
    frame = FRAME.drop("day", "patient")
    frame[:2000].write_parquet(folder / "1.parquet")
    frame[2000:].drop("b").write_parquet(folder / "2.parquet")
    outcome = cli("evaluate", "*.parquet", "--label", "cancer", "--costs", "0.1:0.4")
    assert outcome.code == 3
    assert "2.parquet: column 'b': there is no such column in this file" in outcome.err


@pytest.mark.parametrize("lacking", ["1", "2"])
def test_row_numbers_of_pandas_need_not_be_in_all_files(lacking, folder):
    numbered = FRAME["cancer", "a"].with_columns(pl.int_range(pl.len()).alias("__index_level_0__"))
    for part in "12":
        (numbered.drop("__index_level_0__") if part == lacking else numbered).write_parquet(folder / f"{part}.parquet")
    assert collected("*.parquet", "polars").columns == ["cancer", "a"]


def test_damaged_file_of_a_pattern_is_named(cli, folder):
    FRAME[:2000].write_parquet(folder / "1.parquet")
    (folder / "2.parquet").write_bytes((folder / "1.parquet").read_bytes()[:-30])
    outcome = cli("evaluate", "*.parquet", *ASKED)
    assert outcome.code == 3
    assert "error: 2.parquet: cannot be read as Parquet" in outcome.err


@pytest.mark.parametrize("engine", ["auto", "duckdb"])
def test_folders_name_columns_beside_other_types(engine, cli, days):
    part = days / "day=tue" / "part.parquet"
    pl.read_parquet(part, hive_partitioning=False).cast({"cancer": pl.Int8}).write_parquet(part)
    asked = [*ASKED, "--groups", "day", "--json"]
    found, known = (
        cli("evaluate", "day=*/*.parquet", *asked, "--engine", engine),
        cli("evaluate", "all.parquet", *asked),
    )
    assert (found.code, known.code) == (0, 0), found.err
    answers = [json.loads(outcome.out) for outcome in (found, known)]
    assert near(answers[0]["models"], answers[1]["models"])
    groups = [
        [{key: value for key, value in group.items() if "miscalibration" not in key} for group in answer["groups"]]
        for answer in answers
    ]
    assert near(*groups)


@pytest.mark.parametrize("engine", ["auto", "duckdb", "spark"])
@pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas
def test_folder_names_stay_as_they_are_written_where_schemas_differ(engine, cli, folder):
    pytest.importorskip({"auto": "polars", "spark": "pyspark"}.get(engine, engine))
    for n, hour in enumerate(("07", "7", "x"), 1):
        target = folder / f"site=4/hour={hour}"
        target.mkdir(parents=True)
        frame = FRAME[: 100 * n].drop("day")
        (frame.cast({"a": pl.Float32}) if hour == "x" else frame).write_parquet(target / "part.parquet")
    for column, rows in (("hour", {"07": 100, "7": 200, "x": 300}), ("site", {"4": 600})):
        asked = [*ASKED, "--groups", column, "--engine", engine, "--json"]
        found = cli("evaluate", "site=*/hour=*/*.parquet", *asked)
        assert found.code == 0, found.err
        groups = json.loads(found.out)["groups"]
        assert {group["group"]: group["n_rows"] for group in groups if group["model"] == "a"} == rows


ALIKE = [("07", "7"), ("1.0", "1"), ("True", "true"), ("1e3", "1000"), ("07",), ("0.50", "2")]
ALIKE_TO_DUCKDB = [("2026-1-3", "2026-01-03"), ("-0", "0")]


@pytest.mark.parametrize("engine", ["auto", "duckdb", "spark"])
@pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas
def test_folder_names_that_one_type_would_make_alike_stay_apart(engine, cli, folder):
    pytest.importorskip({"auto": "polars", "spark": "pyspark"}.get(engine, engine))
    for at, names in enumerate([*ALIKE, *ALIKE_TO_DUCKDB[: 0 if engine == "duckdb" else None]]):
        for n, name in enumerate(names, 1):
            target = folder / f"{at}/site={name}"
            target.mkdir(parents=True)
            FRAME[: 100 * n].drop("day").write_parquet(target / "part.parquet")
        found = cli("evaluate", f"{at}/site=*/*.parquet", *ASKED, "--groups", "site", "--engine", engine, "--json")
        assert found.code == 0, found.err
        rows = {group["group"]: group["n_rows"] for group in json.loads(found.out)["groups"] if group["model"] == "a"}
        assert rows == {name: 100 * n for n, name in enumerate(names, 1)}


@pytest.mark.parametrize("other", [{}, {"a": pl.Float32}], ids=["alike", "other types"])
@pytest.mark.parametrize("engine", ["auto", "memory", "duckdb", "spark"])
@pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas
def test_folders_whose_files_hold_the_folder_column_too(engine, other, cli, folder):
    pytest.importorskip({"auto": "polars", "memory": "polars", "spark": "pyspark"}.get(engine, engine))
    for branch, rows in (("north", 100), ("south", 200)):
        (folder / f"branch={branch}").mkdir()
        frame = FRAME[:rows].with_columns(pl.lit(branch).alias("branch"))
        frame.cast(other if branch == "south" else {}).write_parquet(folder / f"branch={branch}" / "part.parquet")
    found = cli("evaluate", "branch=*/*.parquet", *ASKED, "--groups", "branch", "--engine", engine, "--json")
    assert found.code == 0, found.err
    counts = {group["group"]: group["n_rows"] for group in json.loads(found.out)["groups"] if group["model"] == "a"}
    assert counts == {"north": 100, "south": 200}


@pytest.mark.usefixtures("days")
def test_an_engine_takes_the_names_of_action_and_event(cli):
    named = [*ASKED, "--action-name", "refuse", "--event-name", "bad loan"]
    found = cli("evaluate", "all.parquet", *named, "--engine", "polars")
    assert found.code == 0, found.err
    assert "refusing everyone" in found.out.replace("\n", " ")
    assert "bad loan" in found.out


DATES = ("2024-01-31", "2024-02-01")
VALUES = {
    "whole numbers": (("3", "20"), (3, 20)),
    "fractions": (("0.5", "1.5"), (0.5, 1.5)),
    "dates": (DATES, tuple(map(dt.date.fromisoformat, DATES))),
    "a zero before": (("07", "7"), ("07", "7")),
    "a zero after": (("0.50", "1.5"), ("0.50", "1.5")),
    "words": (("x", "7"), ("x", "7")),
    "whole numbers and fractions": (("1", "2.5"), ("1", "2.5")),
}


def collected(pattern, engine, **asked):
    pytest.importorskip(engine)
    found = scan_parquet(pattern, engine=engine, **asked)
    return found.collect() if engine == "polars" else found.pl()


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("score", [pl.Float64, pl.Float32])
@pytest.mark.parametrize("case", VALUES)
def test_column_of_folder_names_has_a_type_where_each_value_is_written_so(case, score, engine, folder):
    names, values = VALUES[case]
    for rows, name, kind in zip((3, 5), names, (pl.Float64, score), strict=True):
        (folder / f"from={name}").mkdir()
        FRAME["cancer", "a"][:rows].cast({"a": kind}).write_parquet(folder / f"from={name}" / "part.parquet")
    found = collected("from=*/*.parquet", engine)
    assert found.columns == ["cancer", "a", "from"]
    if (engine, case) == ("duckdb", "fractions"):  # which it makes no numbers
        values = names
    assert dict(found["from"].value_counts().iter_rows()) == dict(zip(values, (3, 5), strict=True))


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("score", [pl.Float64, pl.Float32])
@pytest.mark.parametrize(
    ("parts", "shared"),
    [
        (("day=1/p.parquet", "z.parquet"), {}),
        (("a.parquet", "day=1/p.parquet"), {}),
        (("Day=1/p.parquet", "day=1/p.parquet"), {}),
        (("site=1/day=2/p.parquet", "site=3/p.parquet"), {"site": [1, 3]}),
        (("site=1/day=2/p.parquet", "day=4/site=3/p.parquet"), {"site": [1, 3], "day": [2, 4]}),
    ],
    ids=" ".join,
)
def test_column_that_the_folders_of_some_files_name_is_left_out_or_missed(parts, shared, score, engine, folder):
    for part, kind in zip(parts, (pl.Float64, score), strict=True):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        FRAME["cancer", "a"][:4].cast({"a": kind}).write_parquet(folder / part)
    found = collected("**/*.parquet", engine)
    assert {name: sorted(set(found[name])) for name in found.columns if name not in {"cancer", "a"}} == shared
    assert len(found) == 8
    if "day" not in shared:
        here, there = sorted(parts, key=lambda part: "day=" in part)
        with pytest.raises(DataError, match=rf"^{here}: column 'day': there is no such .* file, but in '{there}'$"):
            scan_parquet("**/*.parquet", engine=engine, columns=["day"])


@pytest.mark.parametrize(
    ("name", "engine", "rule"),
    [
        ("^a$", "polars", "polars reads this name as a pattern of several columns: rename the column"),
        ("*", "duckdb", "duckdb reads this name as a pattern of several columns: rename the column"),
        ("A", "duckdb", "duckdb takes this name, in upper or lower case, for that of another column: rename the col"),
    ],
)
def test_name_that_an_engine_takes_for_others_is_refused_where_it_is_needed(name, engine, rule, folder):
    for part, kind in (("1", pl.Float64), ("2", pl.Float32)):
        named = FRAME["cancer", "a", "b"].cast({"a": kind}).rename({"b": name})
        named.write_parquet(folder / f"{part}.parquet")
    with pytest.raises(DataError, match=re.escape(f"column '{name}': {rule}")):
        collected("*.parquet", engine)
    found = collected("*.parquet", engine, models=["a"])
    assert name not in found.columns
    assert found["a"].sum() == pytest.approx(2.0 * FRAME["a"].sum())


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_columns_that_differ_in_case_alone_are_not_taken_for_each_other(engine, folder):
    columns = FRAME["cancer", "a"].with_columns(CANCER=1 - pl.col("cancer"), A=1.0 - pl.col("a"))
    columns.write_parquet(folder / "1.parquet")
    columns.select("A", "CANCER", "a", "cancer").write_parquet(folder / "2.parquet")
    if engine == "duckdb":  # which names the second one of a pair "cancer_1"
        with pytest.raises(
            DataError, match=r"^column 'a': duckdb takes this name, in upper or lower case, for that of"
        ):
            collected("*.parquet", engine, models=["a"])
        columns.write_parquet(folder / "2.parquet")
    found = collected("*.parquet", engine, models=["a"])
    for name in ("cancer", "a"):
        assert sorted(found[name]) == sorted(FRAME[name].to_list() * 2)
    assert found.filter(pl.col("cancer") == 1)["a"].sum() == pytest.approx(2.0 * FRAME.filter(cancer=1)["a"].sum())


@pytest.mark.parametrize("call", ["frame_columns", "group_scores", "evaluate_frame"])
def test_column_of_duckdb_behind_another_of_its_name_is_refused(call):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT i % 2 AS y, i // 2 % 2 AS Y, i / 40 AS s, 1 - i / 40 AS S FROM range(40) AS t(i)")
    calls = {
        "frame_columns": lambda label, score: frame_columns(relation, label=label, models=[score]).y.tolist(),
        "group_scores": lambda label, score: group_scores(relation, label=label, score=score, resolution=10)["n_rows"],
        "evaluate_frame": lambda label, score: evaluate_frame(relation, label=label, models=[score], costs=0.2).n_rows,
    }
    assert calls[call]("y", "s") in (40, [False, True] * 20)
    for label, score, named in (("Y", "s", "Y"), ("y", "S", "S")):
        with pytest.raises(DataError, match=f"^column '{named}': duckdb takes this name, in upper or lower case, for"):
            calls[call](label, score)
