"""`stakes boundary fit`: the best thresholds by brute force, what is said of them, and the files that are left."""

import gzip
import json
import math
import re
import struct
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from stakes.boundary import Boundary, fit_boundary
from tests.cli.conftest import ROLES, scored, write_csv

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

CUT = 0.3


def page(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.fixture(scope="module")
def few():
    """Return few rows with ties, whose scores are no probabilities."""
    rng = np.random.default_rng(11)
    score = rng.integers(-3, 8, 40)
    return {
        "outcome": (rng.random(40) < (score + 4) / 13).astype(int).tolist(),
        "risk": score.tolist(),
        "spread": rng.choice([0.1, 0.2, 0.5, 3.0], 40).tolist(),
    }


@pytest.fixture
def small(few, tmp_path):
    return write_csv(tmp_path / "few.csv", few)


def every_choice(rows):
    """Yield true positives and selected rows of every pair of thresholds, one below the cut and one above."""
    y, score = np.array(rows["outcome"]), np.array(rows["risk"])
    low = np.array(rows["spread"]) <= CUT
    starts = [*sorted(set(score.tolist())), math.inf]
    for one, other in product(starts, repeat=2):
        inside = np.where(low, score >= one, score >= other)
        yield int(y[inside].sum()), int(inside.sum())


def best(rows, value, *keeps):
    return max(value(tp, n) for tp, n in every_choice(rows) if all(keep(tp, n) for keep in keeps))


def cases(rows):
    """Return options, and what the best value is by trying all thresholds."""
    total, size = sum(rows["outcome"]), len(rows["outcome"])

    def recall(tp, _):
        return Fraction(tp, total)

    def cost(tp, n):
        return -Fraction(n - tp + 3 * (total - tp), 4 * size)

    def precise(tp, n):
        return 3 * tp >= 2 * n

    def found(tp, _):
        return 5 * tp >= 2 * total

    def few_rows(_, n):
        return n <= 9

    return {
        "--min-precision 2/3": best(rows, recall, precise),
        "--capacity 9": best(rows, recall, few_rows),
        "--capacity 22.5%": best(rows, recall, few_rows),
        "--min-precision 2/3 --capacity 9": best(rows, recall, precise, few_rows),
        "--min-recall 40%": best(rows, Fraction, found),
        "--goal false_positives --min-recall 0.4": best(rows, lambda tp, n: tp - n, found),
        "--f-beta 2": best(rows, lambda tp, n: Fraction(5 * tp, n + 4 * total)),
        "--costs 0.25": best(rows, cost),
        "--false-alarms-per-miss 3 --capacity 9": best(rows, cost, few_rows),
    }


def test_every_goal_reaches_what_the_best_of_all_thresholds_does(few, small, cli):
    for options, value in cases(few).items():
        found = page(cli("boundary", "fit", small, *ROLES, "--levels", CUT, *options.split(), "--json"))
        assert found["value"] == pytest.approx(float(value), abs=1e-12), options
        assert found["optimal"], options


def test_table_counts_the_rows_that_the_thresholds_select(few, small, cli):
    found = page(cli("boundary", "fit", small, *ROLES, "--levels", "0.15,0.3", "--min-precision", "0.8", "--json"))
    y, score, spread = (np.array(few[name]) for name in ("outcome", "risk", "spread"))
    edges = [-math.inf, 0.15, 0.3, math.inf]
    for level, low, high in zip(found["levels"], edges[:-1], edges[1:], strict=True):
        inside = (spread > low) & (spread <= high)
        chosen = inside & (score >= float(level["threshold"]))
        counts = [inside.sum(), y[inside].sum(), chosen.sum(), y[chosen].sum()]
        assert [level[key] for key in ("rows", "positives", "selected", "true_positives")] == counts
    single = found["single_threshold"]
    alone = score >= single["threshold"]
    assert (single["selected"], single["true_positives"]) == (alone.sum(), y[alone].sum())
    assert y[alone].mean() >= 0.8
    assert 0 < y[alone].sum() < y.sum()
    deeper = score >= score[score < single["threshold"]].max()
    assert y[deeper].mean() < 0.8


def test_first_line_says_whether_uncertainty_helps(scores, cli, tmp_path):
    many = write_csv(tmp_path / "many.csv", scored(6_000))
    helps = cli("boundary", "fit", many, *ROLES, "--min-precision", "0.8")
    assert helps.out.startswith("Uncertainty helps on these data: ")
    noise = np.random.default_rng(0).random(len(scores["risk"])).tolist()
    path = write_csv(tmp_path / "noise.csv", {**scores, "spread": noise})
    outcome = cli("boundary", "fit", path, *ROLES, "--min-precision", "0.6")
    assert outcome.code == 0
    assert outcome.out.startswith("Uncertainty does not help on these data")
    told = page(cli("boundary", "fit", path, *ROLES, "--min-precision", "0.6", "--json"))
    assert told["helps"] is False
    assert told["verdict"] == " ".join(outcome.out.split("\n\n")[0].split())


@pytest.mark.parametrize(
    ("seed", "bound", "said"),
    [(3, "0.9", "What precision to expect on new rows is not known"), (1, "0.2", "A guess: few rows are selected.")],
)
def test_what_few_rows_of_one_level_keep_is_a_guess_or_unknown(tmp_path, cli, seed, bound, said):
    rng = np.random.default_rng(seed)
    risk = rng.normal(size=60).round(3)
    outcome = (rng.random(60) < 1 / (1 + np.exp(3 - 1.3 * risk))).astype(int)
    path = write_csv(
        tmp_path / "few.csv", {"outcome": outcome.tolist(), "risk": risk.tolist(), "spread": rng.random(60).tolist()}
    )
    told = cli("boundary", "fit", path, *ROLES, "--min-precision", bound, "--levels", "1")
    assert told.code == 0
    assert said in " ".join(told.out.split())


def test_gain_and_optimism_are_those_of_the_library(rows, scores, cli):
    options = ["--min-precision", "0.7", "--random-state", "3", "--confidence-level", "0.8"]
    found = page(cli("boundary", "fit", rows, *ROLES, *options, "--json"))
    fitted = fit_boundary(scores["outcome"], scores["risk"], scores["spread"], min_precision=0.7)
    gain = fitted.gain(confidence_level=0.8, random_state=3)
    assert found["gain"] == gain._records()[0]
    assert found["verdict"] == gain.verdict
    assert found["optimism"]["expected_precision"] == pytest.approx(fitted.optimism().expected_precision)
    text = " ".join(cli("boundary", "fit", rows, *ROLES, *options).out.split())
    assert "positive in 'outcome'; score 'risk', uncertainty 'spread'" in text
    assert f"precision of about {100 * fitted.optimism().expected_precision:.3g}%" in text
    parts = [f"precision {100 * gain.precision:.3g}% with uncertainty"]
    parts += [f"precision {100 * gain.single_precision:.3g}% by one threshold."]
    assert f"Out of fold: {', '.join(parts)}" in text


@pytest.mark.parametrize(
    "options",
    [
        ["--tune", "cv"],
        pytest.param(["--tune", "cv", "--levels", "cv"], marks=pytest.mark.thorough),
        pytest.param(["--tune", "cv", "--solver", "cv"], marks=pytest.mark.thorough),
    ],
)
def test_tuning_aims_higher_and_says_so(options, cli, tmp_path):
    rows = write_csv(tmp_path / "rows.csv", scored(500))
    arguments = ["boundary", "fit", rows, *ROLES, "--min-precision", "0.7", *options]
    found = page(cli(*arguments, "--json"))
    assert found["tuned_precision"] >= 0.7
    assert f"Aims at a precision of {100 * found['tuned_precision']:.3g}%" in " ".join(cli(*arguments).out.split())


def test_weights_count_as_repeated_rows(few, small, cli, tmp_path):
    weight = np.arange(40) % 3
    again = {name: np.repeat(values, weight).tolist() for name, values in few.items()}
    repeated = page(
        cli("boundary", "fit", write_csv(tmp_path / "r.csv", again), *ROLES, "--min-precision", "0.6", "--json")
    )
    path = write_csv(tmp_path / "w.csv", {**few, "times": weight.tolist()})
    weighted = page(cli("boundary", "fit", path, *ROLES, "--min-precision", "0.6", "--weight", "times", "--json"))
    for key in ("levels", "value", "single_threshold"):
        assert weighted[key] == repeated[key]
    assert weighted["helps"] is None
    assert weighted["verdict"].startswith("Whether uncertainty helps is not known: weighted rows")
    assert page(cli("boundary", "fit", small, *ROLES, "--min-precision", "0.7", "--json"))["helps"] is False


def test_weights_that_are_no_numbers_of_rows_are_refused_with_their_place(few, cli, tmp_path, folder):
    path = write_csv(tmp_path / "w.csv", {**few, "times": [0, 1.5, *[1] * 38]})
    outcome = cli("boundary", "fit", path, *ROLES, "--min-precision", "0.6", "--weight", "times", "-o", "b.json")
    assert (outcome.code, outcome.out) == (3, "")
    assert "column 'times', row 2: must be whole numbers, for a boundary counts rows, got 1.5 (1 of 39" in outcome.err
    assert list(folder.iterdir()) == []


def test_few_rows_cannot_tell(cli, tmp_path):
    path = write_csv(tmp_path / "t.csv", {"outcome": [0, 1, 1], "risk": [0.1, 0.5, 0.4], "spread": [1, 2, 3]})
    outcome = cli("boundary", "fit", path, *ROLES, "--min-precision", "0.6")
    assert outcome.code == 0
    assert outcome.out.startswith("Whether uncertainty helps is not known: 3 rows are too few to tell.")


def test_nothing_selected_out_of_fold_leaves_the_gain_unknown(cli, tmp_path):
    rng = np.random.default_rng(0)
    rows = {"outcome": (rng.random(60) < 0.1).astype(int), "risk": rng.random(60), "spread": rng.random(60)}
    path = write_csv(tmp_path / "t.csv", {name: values.tolist() for name, values in rows.items()})
    asked = ["boundary", "fit", path, *ROLES, "--min-precision", "0.99"]
    found = page(cli(*asked, "--json"))
    assert found["helps"] is None
    assert [found["gain"][key] for key in ("low", "high", "precision", "single_precision")] == [None] * 4
    text = " ".join(cli(*asked).out.split())
    assert text.startswith("Whether uncertainty helps is not known: out of fold neither it nor a single threshold")
    assert "Out of fold: no positive found with uncertainty, no positive found by one threshold." in text


def test_nothing_selected_is_said(cli, tmp_path):
    path = write_csv(tmp_path / "t.csv", {"outcome": [0, 1] * 20, "risk": [0.5] * 40, "spread": [1] * 40})
    outcome = cli("boundary", "fit", path, *ROLES, "--min-precision", "0.9")
    assert outcome.code == 0
    assert "this boundary selects nothing" in outcome.err
    assert re.search(r"one threshold +nothing", outcome.out)
    assert (
        "Out of fold: no positive found with uncertainty, no positive found by one threshold."
        in outcome.out.replace("\n", " ")
    )


def test_written_boundary_is_that_of_the_library_and_names_its_columns(rows, scores, cli, folder):
    outcome = cli("boundary", "fit", rows, *ROLES, "--min-precision", "0.7", "--pos-label", "1", "-o", "b.json")
    assert (outcome.code, [path.name for path in folder.iterdir()]) == (0, ["b.json"])
    text = (folder / "b.json").read_text(encoding="utf-8")
    fitted = fit_boundary(scores["outcome"], scores["risk"], scores["spread"], min_precision=0.7)
    assert Boundary.from_json(text).to_json() == fitted.to_json()
    columns = json.loads(text)["columns"]
    named = {"score": "risk", "uncertainty": "spread", "label": "outcome", "pos_label": "1", "neg_label": "0"}
    assert columns == named
    piped = cli("boundary", "fit", rows, *ROLES, "--min-precision", "0.7", "--pos-label", "1", "-o", "-")
    assert piped.out == text
    assert "precision >= 0.7" in piped.err
    assert "no file was written" in cli("boundary", "fit", rows, *ROLES, "--min-precision", "0.7").err


def test_every_kind_of_file_is_read(cli, tmp_path):
    few = scored(300)
    rows, frame = write_csv(tmp_path / "rows.csv", few), pl.DataFrame(few)
    frame.write_parquet(tmp_path / "b.parquet")
    frame.write_ipc(tmp_path / "b.arrow")
    frame.write_ndjson(tmp_path / "b.jsonl")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(rows.read_bytes()))
    fit = ["boundary", "fit", *ROLES, "--min-precision", "0.7", "--json"]
    expected = page(cli(*fit, rows)) | {"source": ""}
    for path in sorted(tmp_path.glob("b.*")):
        assert page(cli(*fit, path)) | {"source": ""} == expected, path
    assert page(cli(*fit, "-", stdin=rows.read_bytes())) | {"source": ""} == expected


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_after_writing_leaves_the_older_files(error, rows, cli, folder, monkeypatch):
    pytest.importorskip("matplotlib.pyplot")  # the import itself may warn

    def fail(_):
        raise error

    for name in ("b.json", "b.png"):
        (folder / name).write_text("old", encoding="utf-8")
    monkeypatch.setattr("stakes.cli.boundary_fit.for_terminal", fail)
    outcome = cli("boundary", "fit", rows, *ROLES, "--min-precision", "0.6", "-o", "b.json", "--plot", "b.png")
    assert outcome.code == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"b.json": b"old", "b.png": b"old"}


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_picture_is_drawn(ending, cli, folder, tmp_path):
    pytest.importorskip("matplotlib.pyplot")  # the import itself may warn
    rows = write_csv(tmp_path / "rows.csv", scored(300))
    outcome = cli("boundary", "fit", rows, *ROLES, "--min-precision", "0.6", "--plot", f"b.{ending}")
    assert outcome.code == 0, outcome.err
    assert "picture written to" in outcome.err
    (path,) = folder.iterdir()
    content = path.read_bytes()
    assert content[:5] == {"png": b"\x89PNG\r", "svg": b"<?xml", "pdf": b"%PDF-"}[ending]
    if ending == "png":  # 8 by 5 inches
        assert struct.unpack(">II", content[16:24]) == (1200, 750)


def test_picture_without_matplotlib_is_refused_before_any_work(cli, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("stakes.cli.boundary_fit.find_spec", lambda _: None)
    outcome = cli("boundary", "fit", "nowhere.csv", *ROLES, "--min-precision", "0.6", "--plot", "b.png")
    assert outcome.code == 1
    assert "pip install 'stakes[plot]'" in outcome.err
    assert list(folder.iterdir()) == []


BAD_REQUEST = {
    "no bound": ([], ["--goal recall needs --min-precision or --capacity"]),
    "precision of 2": (["--min-precision", "2"], ["--min-precision must lie in (0, 1], got 2"]),
    "precision in words": (["--min-precision", "high"], ["--min-precision", "'high'"]),
    "share of nothing": (["--min-precision", "%"], ["--min-precision", "'%'"]),
    "precision goal without recall": (["--goal", "precision"], ["--goal precision needs --min-recall"]),
    "f-beta without beta": (["--goal", "f_beta"], ["--f-beta and --goal f_beta go together", "no --f-beta"]),
    "beta whose square is no number": (
        ["--goal", "f_beta", "--f-beta", "1e300"],
        ["--f-beta must be at most 1e+140, got 1e+300: so large a beta asks for recall"],
    ),
    "beta for recall": (["--goal", "recall", "--f-beta", "2"], ["got --goal recall and --f-beta 2.0"]),
    "costs for recall": (
        ["--goal", "recall", "--costs", "0.1"],
        ["--costs and --goal cost go together, got --goal recall\n"],
    ),
    "costs and a beta": (["--costs", "0.1", "--f-beta", "2"], ["got --f-beta, which asks for another\n"]),
    "two kinds of costs": (["--costs", "0.1", "--odds", "1/9"], ["--costs and --odds", "one of them"]),
    "capacity of everything": (["--capacity", "100%"], ["--capacity", "all rows", "leave --capacity out"]),
    "capacity of one or all": (["--capacity", "1.0"], ["--capacity", "one row", "whole number 1"]),
    "capacity of 1.5": (["--capacity", "1.5"], ["--capacity must be a count of rows >= 1 or a share"]),
    "unknown goal": (["--goal", "accuracy"], ["--goal", "recall"]),
    "unknown solver": (["--min-precision", "0.5", "--solver", "magic"], ["--solver", "exact"]),
    "heuristic for another goal": (
        ["--f-beta", "1", "--solver", "greedy"],
        ["--solver greedy finds", "--solver exact"],
    ),
    "no levels": (["--min-precision", "0.5", "--levels", "0"], ["--levels must be a number from 1"]),
    "cuts in disorder": (["--min-precision", "0.5", "--levels", "2,1"], ["--levels", "increasing"]),
    "levels in words": (["--min-precision", "0.5", "--levels", "many"], ["--levels must be a number, cuts", "'many'"]),
    "levels by cv alone": (["--min-precision", "0.5", "--levels", "cv"], ["--levels", "--tune cv"]),
    "solver by cv alone": (["--min-precision", "0.5", "--solver", "cv"], ["--solver cv goes with --tune cv"]),
    "bins unbinned": (["--min-precision", "0.5", "--score-bins", "3", "--binning", "unbinned"], ["--score-bins"]),
    "no bins": (["--min-precision", "0.5", "--score-bins", "0"], ["--score-bins must be a whole number >= 1, got '0'"]),
    "tuning another goal": (["--f-beta", "1", "--tune", "cv"], ["--tune needs --goal recall and --min-precision"]),
    "tuning weighted rows": (["--min-precision", "0.5", "--tune", "cv", "--weight", "w"], ["takes no --weight"]),
    "seed of -1": (["--min-precision", "0.5", "--random-state", "-1"], ["--random-state must be a whole number"]),
    "score twice": (["--min-precision", "0.5", "--uncertainty", "risk"], ["must name two columns, got 'risk' twice"]),
    "output of another kind": (["--min-precision", "0.5", "-o", "b.csv"], ["--output", ".json"]),
    "picture of another kind": (["--min-precision", "0.5", "--plot", "b.gif"], ["--plot", ".png"]),
    "two answers on stdout": (["--min-precision", "0.5", "-o", "-", "--json"], ["standard output"]),
    "long": (["--min-precision", "9" * 5000], ["--min-precision must be a finite number"]),
}


@pytest.mark.parametrize("case", BAD_REQUEST)
def test_request_that_cannot_be_carried_out_is_refused_before_the_file_is_read(case, cli, folder):
    options, parts = BAD_REQUEST[case]
    outcome = cli("boundary", "fit", "nowhere.csv", *ROLES, *options)
    assert (outcome.code, outcome.out) == (2, ""), outcome.err
    assert [part for part in parts if part not in outcome.err] == [], outcome.err
    assert len(outcome.err) < 700
    assert list(folder.iterdir()) == []


BAD_DATA = {
    "no such score": ("outcome,p,spread\n1,1,1\n0,0,0\n", ["column 'risk'", "no such column"]),
    "score in words": ("outcome,risk,spread\n1,high,1\n0,0,0\n", ["column 'risk', row 1 (line 2)", "'high'"]),
    "infinite score": ("outcome,risk,spread\n1,0.5,1\n0,inf,0\n", ["column 'risk', row 2 (line 3)", "finite", "inf"]),
    "infinite uncertainty": ("outcome,risk,spread\n1,0.5,-inf\n0,0,0\n", ["column 'spread', row 1", "finite"]),
    "missing uncertainty": ("outcome,risk,spread\n1,0.5,\n0,0,0\n", ["column 'spread', row 1", "missing"]),
    "one class": ("outcome,risk,spread\n1,0.5,1\n1,0,0\n", ["column 'outcome'", "both classes"]),
    "label as score": ("risk,spread\n1,0.5\n", ["column 'outcome'", "no such column"]),
    "three labels": ("outcome,risk,spread\n1,0.5,1\n0,0,0\n2,0,0\n", ["column 'outcome'", "two values"]),
}


@pytest.mark.parametrize("command", ["fit", "certify"])
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_are_refused_with_their_place(case, command, cli, folder, tmp_path):
    text, parts = BAD_DATA[case]
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    outcome = cli("boundary", command, path, *ROLES, "--min-precision", "0.6", "-o", "b.json")
    assert (outcome.code, outcome.out) == (3, ""), outcome.err
    assert [part for part in ["bad.csv", *parts] if part not in outcome.err] == [], outcome.err
    assert list(folder.iterdir()) == []


def test_bounds_that_no_thresholds_keep_are_bad_data(small, cli, folder):
    outcome = cli("boundary", "fit", small, *ROLES, "--min-recall", "1", "--capacity", "1", "-o", "b.json")
    assert (outcome.code, outcome.out) == (3, "")
    assert "few.csv: no boundary keeps every constraint" in outcome.err
    assert list(folder.iterdir()) == []


def test_rows_with_gaps_may_be_dropped(few, cli, tmp_path):
    path = write_csv(tmp_path / "gaps.csv", {**few, "spread": ["", *few["spread"][1:]]})
    outcome = cli("boundary", "fit", path, *ROLES, "--min-precision", "0.6", "--on-missing", "drop", "--json")
    assert page(outcome)["data"] == {"rows": 39, "dropped": 1}
    assert "1 of 40 rows dropped" in outcome.err


def test_files_of_any_size_are_read_only_where_asked():
    pytest.importorskip("click")
    from stakes.cli.boundary_fit import BoundaryInput

    assert BoundaryInput().any_size is False
