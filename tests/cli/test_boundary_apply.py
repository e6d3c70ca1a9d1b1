"""`stakes boundary apply`: the decisions of the file's own thresholds, in every format, streamed and then renamed."""

import gzip
import json
import math
import os
import tempfile
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from stakes.boundary import fit_boundary
from tests.cli.conftest import ROLES
from tests.cli.test_files import end_while_writing

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

ASK = ["boundary", "apply"]


@pytest.fixture
def frame(scores):
    """Return rows without outcomes, with columns of text."""
    count = len(scores["risk"])
    texts = {"id": [f"{k:05d}" for k in range(count)], "note": [f'row "{k}", x' for k in range(count)]}
    return pl.DataFrame({**texts, "risk": scores["risk"], "spread": scores["spread"]})


@pytest.fixture
def new(frame, tmp_path):
    path = tmp_path / "new.csv"
    frame.write_csv(path)
    return path


@pytest.fixture
def bench(kept, new, frame, folder, tmp_path):
    """Return everything that a test needs at hand."""
    return SimpleNamespace(kept=kept, new=new, frame=frame, folder=folder, tmp_path=tmp_path)


def by_hand(kept, frame):
    """Decide row by row, from the numbers in the file of the boundary alone."""
    rule = json.loads(kept.read_text(encoding="utf-8"))["rule"]
    starts = [float(start) for start in rule["thresholds"]]
    return [
        int(score >= starts[sum(spread > cut for cut in rule["cuts"])])
        for score, spread in zip(frame["risk"], frame["spread"], strict=True)
    ]


READ = {
    ".csv": lambda path: pl.read_csv(path, schema_overrides={"id": pl.String}),
    ".parquet": pl.read_parquet,
    ".arrow": lambda path: pl.read_ipc(path.read_bytes()),
    ".jsonl": pl.read_ndjson,
}
WRITE = {".csv": "write_csv", ".parquet": "write_parquet", ".arrow": "write_ipc", ".jsonl": "write_ndjson"}


@pytest.mark.parametrize("formats", list(product(WRITE, READ)), ids="".join)
def test_every_format_is_read_and_written(formats, bench, cli):
    source, target = formats
    path = bench.tmp_path / f"in{source}"
    getattr(bench.frame, WRITE[source])(path)
    outcome = cli(*ASK, bench.kept, path, "-o", f"out{target}")
    assert outcome.code == 0, outcome.err
    found = READ[target](bench.folder / f"out{target}")
    assert found.drop("decision").equals(bench.frame)
    expected = by_hand(bench.kept, bench.frame)
    assert found["decision"].to_list() == expected
    assert 0 < sum(expected) < len(expected)
    assert [item.name for item in bench.folder.iterdir()] == [f"out{target}"]


@pytest.fixture
def counted():
    """Return rows of counted evidence, whose scores and uncertainties lie on the limits of what is fitted to them."""
    rng = np.random.default_rng(4)
    risk, spread = rng.integers(0, 11, 3000) / 10, np.round(1.0 / rng.integers(3, 14, 3000), 2)
    return pl.DataFrame({"outcome": (rng.random(3000) < risk).astype(int), "risk": risk, "spread": spread})


def test_rows_of_a_file_in_single_precision_are_decided_as_in_double_precision(counted, cli, tmp_path):
    boundary = fit_boundary(*(counted[name].to_numpy() for name in ("outcome", "risk", "spread")), min_precision=0.9)
    (tmp_path / "boundary.json").write_text(boundary.to_json(), encoding="utf-8")
    known = by_hand(tmp_path / "boundary.json", counted)
    counted.with_columns(pl.col("risk", "spread").cast(pl.Float32)).write_parquet(tmp_path / "single.parquet")
    roles = ["--score", "risk", "--uncertainty", "spread"]
    asked = [tmp_path / "boundary.json", tmp_path / "single.parquet", *roles, "--json"]
    page = json.loads(cli(*ASK, *asked, "-o", tmp_path / "decided.csv").out)
    assert 0 < sum(known) < len(known)
    assert pl.read_csv(tmp_path / "decided.csv")["decision"].to_list() == known
    assert sum(level["selected"] for level in page["levels"]) == page["selected"] == sum(known)
    level = np.searchsorted(boundary.cuts, counted["spread"].to_numpy())
    assert [each["rows"] for each in page["levels"]] == np.bincount(level).tolist()
    watched = json.loads(cli("boundary", "monitor", *asked, "--label", "outcome").out)
    assert watched["files"][0]["selected"] == sum(known)


def test_summary_counts_by_level(kept, new, frame, cli):
    outcome = cli(*ASK, kept, new, "--json")
    assert outcome.code == 0, outcome.err
    assert "no file was written" in outcome.err
    found = json.loads(outcome.out)
    chosen = np.array(by_hand(kept, frame))
    assert (found["rows"], found["selected"], found["undecided"]) == (len(chosen), chosen.sum(), 0)
    spread = frame["spread"].to_numpy()
    for level in found["levels"]:
        inside = (spread > float(level["uncertainty_above"])) & (spread <= float(level["uncertainty_up_to"]))
        assert (level["rows"], level["selected"]) == (inside.sum(), chosen[inside].sum())
    text = cli(*ASK, kept, new).out
    assert f"1,500 rows, {chosen.sum()} selected" in " ".join(text.split())
    total = 100 * chosen.mean()
    assert text.splitlines()[-1].split() == ["all", "levels", "1,500", f"{chosen.sum()}", *[f"{total:.3g}%"] * 2]


@pytest.mark.parametrize("options", [{"confidence_level": 0.9}, {"solver": "heuristic_recalibration"}, {"levels": 1}])
def test_regions_of_every_kind_are_applied_as_the_library_does(options, scores, bench, cli):
    folder, frame = bench.folder, bench.frame
    boundary = fit_boundary(*scores.values(), min_precision=0.5, random_state=0, **options)
    (folder / "b.json").write_text(boundary.to_json(), encoding="utf-8")
    outcome = cli(
        *ASK, "b.json", bench.new, "--score", "risk", "--uncertainty", "spread", "-o", "d.csv", "--column", "act"
    )
    assert outcome.code == 0, outcome.err
    found = READ[".csv"](folder / "d.csv")["act"].to_list()
    assert found == boundary.predict(frame["risk"].to_numpy(), frame["spread"].to_numpy()).tolist()
    assert 0 < sum(found) < len(found)


def test_boundary_of_the_library_needs_its_columns_named(scores, new, cli, folder):
    boundary = fit_boundary(*scores.values(), min_precision=0.5)
    (folder / "b.json").write_text(boundary.to_json(), encoding="utf-8")
    outcome = cli(*ASK, "b.json", new, "--score", "risk")
    assert (outcome.code, outcome.out) == (2, "")
    assert "the boundary does not name its columns: give --uncertainty" in outcome.err


def test_columns_that_are_typed_win(kept, frame, cli, tmp_path):
    path = tmp_path / "other.csv"
    frame.rename({"risk": "p"}).write_csv(path)
    assert cli(*ASK, kept, path).code == 3
    assert cli(*ASK, kept, path, "--score", "p").code == 0


def test_boundary_that_selects_nothing_says_so(scores, new, cli, folder):
    some = [values[:60] for values in scores.values()]
    none = fit_boundary(*some, min_precision=0.99, confidence_level=0.99, random_state=0)
    (folder / "none.json").write_text(none.to_json(), encoding="utf-8")
    outcome = cli(*ASK, "none.json", new, "--score", "risk", "--uncertainty", "spread")
    assert outcome.code == 0
    assert "warning: this boundary selects nothing" in outcome.err
    assert "1,500 rows, 0 selected" in " ".join(outcome.out.split())


def test_text_of_a_csv_file_stays_as_it_is(kept, cli, folder, tmp_path):
    text = '﻿id,risk,spread,note\n007, 0.99 ,0.1,"a,b"\n008,1e-3,0.1,"two\nlines"\n'
    (tmp_path / "odd.csv").write_text(text, encoding="utf-8")
    assert cli(*ASK, kept, tmp_path / "odd.csv", "-o", "o.csv").code == 0
    found = pl.read_csv(folder / "o.csv", infer_schema_length=0)
    assert found["id"].to_list() == ["007", "008"]
    assert found["risk"].to_list() == [" 0.99 ", "1e-3"]
    assert found["note"].to_list() == ["a,b", "two\nlines"]
    assert found["decision"].to_list() == ["1", "0"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_incomplete_rows_are_refused_or_kept_without_a_decision(ending, bench, cli):
    kept, frame, folder = bench.kept, bench.frame, bench.folder
    gaps = frame.with_columns(
        pl.when(pl.arange(0, pl.len()) % 7 == 3).then(None).otherwise(pl.col("spread")).alias("spread")
    )
    path = bench.tmp_path / f"gaps{ending}"
    getattr(gaps, WRITE[ending])(path)
    outcome = cli(*ASK, kept, path, "-o", f"o{ending}")
    assert (outcome.code, outcome.out) == (3, "")
    assert "column 'spread', row 4" in outcome.err
    assert "(214 of 1500 rows). --on-missing drop leaves incomplete rows without a decision." in outcome.err
    assert list(folder.iterdir()) == []
    outcome = cli(*ASK, kept, path, "-o", f"o{ending}", "--on-missing", "drop")
    assert outcome.code == 0, outcome.err
    assert "214 of 1,500 rows get no decision" in outcome.err
    found = READ[ending](folder / f"o{ending}")["decision"].to_list()
    expected = [None if row % 7 == 3 else d for row, d in enumerate(by_hand(kept, frame))]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("risk,spread\n0.5,1\nhigh,0\n", ["column 'risk', row 2 (line 3): must be a number, got 'high'"]),
        ("risk,spread\n0.5,inf\n", ["column 'spread', row 1 (line 2): must be finite, got inf"]),
        ("risk,spread\n", ["there is a header and no rows"]),
        ("risk,spread\n0.5\n", ["has 1 field where the header has 2"]),
        ("risk,u\n0.5,1\n", ["column 'spread': there is no such column"]),
        ("risk,spread,decision\n0.5,1,1\n", ["column 'decision': is there already: choose another --column"]),
        ("risk,spread\nNA,1\n", ["column 'risk', row 1 (line 2): must not be missing"]),
    ],
)
def test_bad_data_are_refused_with_their_place(text, parts, bench, cli):
    (bench.tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    outcome = cli(*ASK, bench.kept, bench.tmp_path / "bad.csv", "-o", "o.csv")
    assert (outcome.code, outcome.out) == (3, ""), outcome.err
    assert [part for part in ["bad.csv", *parts] if part not in outcome.err] == [], outcome.err
    assert list(bench.folder.iterdir()) == []


def test_column_that_no_file_can_name_is_refused(bench, cli):
    (bench.tmp_path / "few.csv").write_text("risk,spread\n0.5,1\n", encoding="utf-8")
    outcome = cli(*ASK, bench.kept, bench.tmp_path / "few.csv", "-o", "o.csv", "--column", "\udcff")
    assert outcome.code == 3, outcome.err
    assert "cannot be written as UTF-8: choose another --column" in outcome.err
    assert list(bench.folder.iterdir()) == []


def test_file_that_is_no_table_is_refused(kept, cli, tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing of the kind")
    outcome = cli(*ASK, kept, tmp_path / "x.parquet")
    assert outcome.code == 3
    assert "x.parquet: cannot be read" in outcome.err


NO_BOUNDARY = {
    "nothing": ("", "the file is empty"),
    "no JSON": ("{", "must be a boundary in JSON"),
    "other JSON": ('{"format": "x"}', "format 'x'"),
    "a list": ("[]", "format None"),
    "bytes": ("\udcff", "is no boundary"),
}


@pytest.mark.parametrize("command", ["apply", "monitor"])
@pytest.mark.parametrize("case", NO_BOUNDARY)
def test_what_is_no_boundary_is_bad_data(case, command, new, cli, tmp_path):
    text, part = NO_BOUNDARY[case]
    (tmp_path / "b.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    outcome = cli("boundary", command, tmp_path / "b.json", new)
    assert (outcome.code, outcome.out) == (3, ""), outcome.err
    assert "b.json" in outcome.err
    assert part in outcome.err
    assert cli("boundary", command, tmp_path / "nowhere.json", new).code == 3


def test_names_of_columns_that_are_no_text_are_refused(kept, new, cli):
    content = json.loads(kept.read_text(encoding="utf-8"))
    for columns in ({"score": 3}, {"score": ["risk"], "uncertainty": "spread"}):
        kept.write_text(json.dumps({**content, "columns": columns}), encoding="utf-8")
        outcome = cli(*ASK, kept, new)
        assert (outcome.code, "the names of its columns must be text" in outcome.err) == (3, True)
    for columns in ([], "risk", 7, None):
        kept.write_text(json.dumps({**content, "columns": columns}), encoding="utf-8")
        assert cli(*ASK, kept, new).code == 2
        assert cli(*ASK, kept, new, "--score", "risk", "--uncertainty", "spread").code == 0


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["-o", "o.txt"], "--output must name a file that ends in .csv"),
        (["-o", "no/o.csv"], "there is no folder"),
        (["-o", "-", "--json"], "standard output"),
        (["--score", "spread"], "must name two columns, got 'spread' twice"),
        (["--on-missing", "guess"], "--on-missing"),
    ],
)
def test_request_that_cannot_be_carried_out(options, part, bench, cli):
    outcome = cli(*ASK, bench.kept, bench.new, *options)
    assert (outcome.code, outcome.out) == (2, ""), outcome.err
    assert part in outcome.err
    assert list(bench.folder.iterdir()) == []


def test_nothing_that_was_read_is_overwritten(kept, new, frame, cli, tmp_path):
    before = kept.read_bytes()
    assert cli(*ASK, kept, new, "-o", new).code == 2
    assert pl.read_csv(new).height == frame.height
    linked = tmp_path / "linked.csv"
    linked.symlink_to(kept)
    outcome = cli(*ASK, kept, new, "-o", linked)
    assert (outcome.code, "BOUNDARY and --output name one file" in outcome.err) == (2, True)
    assert kept.read_bytes() == before


def test_pipes_on_both_sides(rows, bench, cli, monkeypatch):
    kept, new, frame, folder, tmp_path = (vars(bench)[name] for name in ("kept", "new", "frame", "folder", "tmp_path"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    assert cli(*ASK, kept, new, "-o", "o.csv").code == 0
    written = (folder / "o.csv").read_text(encoding="utf-8")
    for argv, stdin in (
        ([kept, new], None),
        ([kept, "-"], new.read_bytes()),
        ([kept, "-"], gzip.compress(new.read_bytes())),
        (["-", new], kept.read_bytes()),
        (["-", new], gzip.compress(kept.read_bytes())),
    ):
        piped = cli(*ASK, *argv, "-o", "-", stdin=stdin)
        assert (piped.code, piped.out) == (0, written), piped.err
        assert "all levels" in piped.err
    assert list((tmp_path / "scratch").iterdir()) == []
    assert cli(*ASK, "-", "-", stdin=b"").code == 2
    through = cli("boundary", "fit", rows, *ROLES, "--min-precision", "0.6", "-o", "-")
    assert cli(*ASK, "-", new, "-o", "-", stdin=through.out.encode()).out == written
    assert sum(by_hand(kept, frame)) == written.count(",1\n")


def test_decisions_that_went_missing_are_an_error_and_leave_no_file(kept, new, cli, folder, monkeypatch):
    monkeypatch.setattr("stakes.cli.boundary_monitor.Tally.decide", lambda _, score, __: np.zeros(len(score), np.int64))
    outcome = cli(*ASK, kept, new, "-o", "o.csv")
    assert (outcome.code, outcome.out) == (1, "")
    assert "0 decisions about 1500 rows" in outcome.err
    assert list(folder.iterdir()) == []


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a file that takes a moment to write again, and a boundary for it."""
    path = tmp_path_factory.mktemp("large")
    row = pl.DataFrame({"name": ["x" * 40], "risk": [0.25], "spread": [1.0]})
    pl.concat([row] * 800_000, rechunk=True).write_csv(path / "large.csv")
    boundary = fit_boundary([0, 1, 1], [0.1, 0.5, 0.6], [1, 2, 3], min_precision=0.5)
    assert math.isfinite(boundary.threshold)
    (path / "b.json").write_text(boundary.to_json(), encoding="utf-8")
    return path


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals.")
@pytest.mark.parametrize(
    ("ending", "code"), [("SIGINT", 130), pytest.param("SIGTERM", 143, marks=pytest.mark.thorough)]
)
def test_signal_while_a_file_is_being_written_leaves_nothing(ending, code, large, folder, forker):
    columns = ["--score", "risk", "--uncertainty", "spread"]
    typed = [*ASK, large / "b.json", large / "large.csv", *columns, "-o", "out.csv"]
    found = end_while_writing(typed, ending, folder, forker)
    said = "interrupted" if ending == "SIGINT" else f"ended by {ending}"
    assert found == (code, f"{said}\n")
    assert list(folder.iterdir()) == []
