"""`stakes boundary monitor`: the evidence by its definition, the row of the alarm, and a state to go on from."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from stakes.boundary import PrecisionMonitor, fit_boundary
from tests.cli.conftest import scored, write_csv

pytest.importorskip("polars")
pytest.importorskip("rich")

from stakes.cli import boundary_monitor

ASK = ["boundary", "monitor"]
BETS = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.5]  # log-odds below the promise


def evidence(labels, promise):
    """Sum over starts s and bets of stake times likelihood ratio of rows s to t, plus what is not yet staked."""
    odds = promise / (1 - promise) * np.exp(-np.array(BETS))
    rival = odds / (1 + odds)
    capital, out = np.zeros(len(BETS)), []
    for t, label in enumerate(labels, start=1):
        stake = 0.5 if t == 1 else 0.5 / (t * (t - 1))
        capital = (capital + stake) * (rival / promise if label else (1 - rival) / (1 - promise))
        out.append(capital.mean() + 0.5 / t)
    return np.array(out)


def by_hand(columns, kept):
    """Return the rows that are selected, from the numbers in the file of the boundary alone."""
    rule = json.loads(kept.read_text(encoding="utf-8"))["rule"]
    level = np.searchsorted(rule["cuts"], columns["spread"])
    return np.flatnonzero(np.array(columns["risk"]) >= np.array(rule["thresholds"], dtype=float)[level])


@pytest.fixture
def bench(kept, tmp_path, folder):
    """Return labelled rows of two nights, the second one worse, and the boundary that selects from both."""
    nights = [scored(600, seed=1), scored(600, seed=2)]
    rng = np.random.default_rng(0)
    nights[1]["outcome"] = [int(y and rng.random() < 0.6) for y in nights[1]["outcome"]]
    files = [write_csv(tmp_path / f"night{k}.csv", night) for k, night in enumerate(nights)]
    chosen = [by_hand(night, kept) for night in nights]
    labels = [np.array(night["outcome"])[rows] for night, rows in zip(nights, chosen, strict=True)]
    return SimpleNamespace(kept=kept, nights=nights, files=files, chosen=chosen, labels=labels, folder=folder)


def page(outcome, code=0):
    assert outcome.code == code, outcome.err
    return json.loads(outcome.out)


def test_evidence_and_the_row_of_the_alarm_are_those_of_the_definition(bench, cli):
    found = page(cli(*ASK, bench.kept, *bench.files, "--json"), code=4)
    series = evidence(np.concatenate(bench.labels), 0.6)
    assert found["e_value"] == pytest.approx(series[-1], rel=1e-9)
    assert found["max_e_value"] == pytest.approx(max(series.max(), 1.0), rel=1e-9)
    first = int(np.argmax(series >= 20.0))
    assert series[first] >= 20.0
    within = first - len(bench.labels[0])
    assert within >= 0  # the first night keeps the promise
    alarm = found["alarm"]
    assert alarm == {
        "file": str(bench.files[1]),
        "row": int(bench.chosen[1][within]) + 1,
        "selected_row": first + 1,
        "e_value": pytest.approx(series[first], rel=1e-9),
    }
    ends = np.cumsum([len(labels) for labels in bench.labels])
    for record, end, labels in zip(found["files"], ends, bench.labels, strict=True):
        assert (record["rows"], record["selected"], record["true_positives"]) == (600, len(labels), labels.sum())
        assert record["e_value"] == pytest.approx(series[end - 1], rel=1e-9)
    assert [record["alarm"] for record in found["files"]] == [False, True]


def test_alarm_is_said_first_and_where(bench, cli):
    outcome = cli(*ASK, bench.kept, *bench.files)
    assert outcome.code == 4
    assert outcome.out.startswith("Alarm: precision >= 60% no longer holds.\n")
    alarm = page(cli(*ASK, bench.kept, *bench.files, "--json"), code=4)["alarm"]
    assert f"alarm at row {alarm['row']} of {bench.files[1]} (evidence {alarm['e_value']:.4g})" in outcome.err
    quiet = cli(*ASK, bench.kept, bench.files[0])
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out.startswith("No alarm: nothing speaks against precision >= 60% beyond chance.\n")


def test_state_goes_on_where_the_last_run_stopped(bench, cli):
    whole = page(cli(*ASK, bench.kept, *bench.files, "--json"), code=4)
    first = page(cli(*ASK, bench.kept, bench.files[0], "--state", "watch.json", "--json"))
    assert first["n_rows"] == len(bench.labels[0])
    second = page(cli(*ASK, bench.kept, bench.files[1], "--state", "watch.json", "--json"), code=4)
    for key in ("n_rows", "true_positives", "alarm_row", "alarm"):
        assert second[key] == whole[key]
    for key in ("e_value", "max_e_value", "p_value"):
        assert second[key] == pytest.approx(whole[key], rel=1e-12)
    (added,), expected = second["files"], whole["files"][1]
    assert added | {"e_value": 0} == expected | {"e_value": 0}
    assert [path.name for path in bench.folder.iterdir()] == ["watch.json"]


def test_alarm_stays_in_later_runs(bench, cli, tmp_path):
    assert cli(*ASK, bench.kept, *bench.files, "--state", "watch.json").code == 4
    good = write_csv(tmp_path / "good.csv", {**scored(400, seed=9), "outcome": [1] * 400})
    later = page(cli(*ASK, bench.kept, good, "--state", "watch.json", "--json"), code=4)
    assert later["alarm"]["file"] == str(bench.files[1])
    assert later["e_value"] < later["max_e_value"]


def test_file_that_was_counted_is_refused_and_the_state_is_as_it_was(bench, cli, tmp_path):
    assert cli(*ASK, bench.kept, bench.files[0], "--state", "watch.json").code == 0
    before = (bench.folder / "watch.json").read_bytes()
    copy = tmp_path / "copy.csv"
    copy.write_bytes(bench.files[0].read_bytes())
    for files in ([bench.files[0]], [bench.files[1], copy]):
        outcome = cli(*ASK, bench.kept, *files, "--state", "watch.json")
        assert (outcome.code, outcome.out) == (3, "")
        assert "was counted already, as '" in outcome.err
        assert (bench.folder / "watch.json").read_bytes() == before
    assert cli(*ASK, bench.kept, bench.files[0], bench.files[0]).code == 3


def test_decisions_that_were_made_may_stand_in_for_score_and_uncertainty(bench, cli, tmp_path):
    expected = page(cli(*ASK, bench.kept, bench.files[0], "--json"))
    acted = np.zeros(600, int)
    acted[bench.chosen[0]] = 1
    path = write_csv(tmp_path / "acted.csv", {"outcome": bench.nights[0]["outcome"], "acted": acted.tolist()})
    found = page(cli(*ASK, bench.kept, path, "--decision", "acted", "--json"))
    assert found["e_value"] == expected["e_value"]
    acted[7] = 3
    path = write_csv(tmp_path / "odd.csv", {"outcome": bench.nights[0]["outcome"], "acted": (acted / 4).tolist()})
    outcome = cli(*ASK, bench.kept, path, "--decision", "acted")
    first = min(7, int(bench.chosen[0][0])) + 1
    assert outcome.code == 3
    assert f"column 'acted', row {first}: must be 1 or 0" in outcome.err


def test_rows_without_outcomes_may_be_dropped_and_rows_keep_their_numbers(bench, cli, tmp_path):
    night = {**bench.nights[1], "outcome": ["" if k < 50 else y for k, y in enumerate(bench.nights[1]["outcome"])]}
    path = write_csv(tmp_path / "gaps.csv", night)
    assert cli(*ASK, bench.kept, path).code == 3
    outcome = cli(*ASK, bench.kept, path, "--on-missing", "drop", "--json")
    found = page(outcome, code=4)
    assert "50 of 600 rows dropped" in outcome.err
    left = bench.chosen[1] >= 50
    series = evidence(bench.labels[1][left], 0.6)
    assert found["alarm"]["row"] == int(bench.chosen[1][left][np.argmax(series >= 20.0)]) + 1


def test_rows_of_one_class_and_without_a_selected_one_are_taken(bench, cli, tmp_path):
    path = write_csv(tmp_path / "one.csv", {"outcome": [1, 1], "risk": [0.99, 0.0], "spread": [0.1, 0.1]})
    assert page(cli(*ASK, bench.kept, path, "--json"))["n_rows"] == 1
    path = write_csv(tmp_path / "none.csv", {"outcome": [0, 0], "risk": [0.0, 0.0], "spread": [0.1, 0.1]})
    outcome = cli(*ASK, bench.kept, path)
    assert outcome.code == 0
    assert "0 of 0 selected rows positive; evidence 1" in " ".join(outcome.out.split())


def test_promise_and_rate_of_false_alarms_may_be_others(bench, cli):
    options = ["--min-precision", "0.3", "--confidence-level", "0.8"]
    found = page(cli(*ASK, bench.kept, *bench.files, *options, "--json"))
    assert (found["min_precision"], found["confidence_level"]) == (0.3, 0.8)
    assert found["e_value"] == pytest.approx(evidence(np.concatenate(bench.labels), 0.3)[-1], rel=1e-9)


def test_result_is_written_in_every_format(bench, cli):
    for name in ("w.json", "w.csv", "w.md", "w.txt"):
        assert cli(*ASK, bench.kept, bench.files[0], "-o", name).code == 0
    assert json.loads(Path("w.json").read_text(encoding="utf-8"))["alarm"] is None
    assert Path("w.csv").read_text(encoding="utf-8").startswith("file,rows,selected,true_positives,precision,e_value")
    assert "No alarm" in Path("w.txt").read_text(encoding="utf-8")


def test_files_from_pipes_are_not_told_apart(bench, cli):
    text = bench.files[0].read_bytes()
    for total in (1, 2):
        found = page(cli(*ASK, bench.kept, "-", "--state", "watch.json", "--json", stdin=text))
        assert found["n_rows"] == total * len(bench.labels[0])


def test_state_of_another_promise_is_refused(bench, cli):
    assert cli(*ASK, bench.kept, bench.files[0], "--state", "watch.json").code == 0
    for option, value, kept in (("--confidence-level", "0.9", "0.95"), ("--min-precision", "0.5", "0.6")):
        outcome = cli(*ASK, bench.kept, bench.files[1], "--state", "watch.json", option, value)
        assert outcome.code == 2
        assert f"watches {option} {kept}, not {value}" in outcome.err


def test_state_of_another_boundary_or_of_decisions_is_refused(bench, cli, tmp_path):
    other, refit = json.loads(bench.kept.read_text(encoding="utf-8")), tmp_path / "refit.json"
    again = tmp_path / "again.json"
    again.write_text(json.dumps({**other, "columns": {**other["columns"], "weight": None}}), encoding="utf-8")
    other["rule"]["thresholds"] = [None if cut is None else cut * 0.999 for cut in other["rule"]["thresholds"]]
    refit.write_text(json.dumps(other), encoding="utf-8")
    assert cli(*ASK, bench.kept, bench.files[0], "--state", "watch.json").code == 0
    before = (bench.folder / "watch.json").read_bytes()
    acted = write_csv(tmp_path / "acted.csv", {"outcome": [1, 0], "acted": [1, 0]})
    for asked, part in (
        ([refit, bench.files[1]], "watches the rows that another boundary selects, not those of"),
        ([bench.kept, acted, "--decision", "acted"], "watches the rows that the boundary selects, not --decision"),
    ):
        outcome = cli(*ASK, *asked, "--state", "watch.json")
        assert (outcome.code, part in " ".join(outcome.err.split())) == (2, True), outcome.err
        assert (bench.folder / "watch.json").read_bytes() == before
    state = json.loads(before)
    for entry in ("boundary", "decision"):
        (bench.folder / "odd.json").write_text(json.dumps({**state, entry: 3}), encoding="utf-8")
        outcome = cli(*ASK, bench.kept, bench.files[1], "--state", "odd.json")
        assert (outcome.code, f"{entry} must be" in outcome.err) == (3, True), outcome.err
    assert cli(*ASK, bench.kept, acted, "--decision", "acted", "--state", "acted.json").code == 0
    outcome = cli(*ASK, bench.kept, bench.files[1], "--state", "acted.json")
    assert (outcome.code, "watches --decision, not the rows that the boundary" in outcome.err) == (2, True)
    assert cli(*ASK, again, bench.files[1], "--state", "watch.json").code == 4
    del state["boundary"], state["decision"]  # as it was written before
    (bench.folder / "old.json").write_text(json.dumps(state), encoding="utf-8")
    assert cli(*ASK, bench.kept, bench.files[1], "--state", "old.json").code == 4


@pytest.mark.parametrize(
    "case",
    [
        (("no", "yes"), ["--pos-label", "yes"], [("maybe", "maybe"), ("Yes", "yes"), ("no", "Yes")]),
        ((0, 1), [], [(2, 2), (-1, 1)]),
        ((2, 1), ["--pos-label", "1"], [(0, 1), (3, 3)]),
    ],
)
def test_a_label_that_was_never_there_is_refused(case, bench, cli, tmp_path):
    labels, typed, odd = case

    def write(name, pair):
        night = {**bench.nights[0], "outcome": [pair[y] for y in bench.nights[0]["outcome"]]}
        return write_csv(tmp_path / name, night)

    columns = ["--label", "outcome", "--score", "risk", "--uncertainty", "spread"]
    asked = [*columns, *typed, "--min-precision", "0.6", "-o", "b.json"]
    assert cli("boundary", "fit", write("fit.csv", labels), *asked).code == 0
    kept = json.loads(Path("b.json").read_text(encoding="utf-8"))
    assert kept["columns"].pop("neg_label") == str(labels[0])
    Path("old.json").write_text(json.dumps(kept), encoding="utf-8")  # as it was kept before
    good = write("good.csv", labels)
    expected = page(cli(*ASK, bench.kept, bench.files[0], "--json"))["true_positives"]
    for place, pair in enumerate(odd):
        bad = write(f"bad{place}.csv", pair)
        for boundary, before in (("b.json", []), ("b.json", [good]), ("old.json", [good])):
            if (boundary, labels) == ("old.json", (2, 1)):  # nothing says that 2 stands beside 1
                continue
            outcome = cli(*ASK, boundary, *before, bad)
            assert outcome.code == 3, outcome.err
            assert f"bad{place}.csv: column 'outcome': " in outcome.err
            assert "must hold the labels from before" in outcome.err or "--pos-label" in outcome.err
        state = f"s{place}.json"
        assert cli(*ASK, "b.json", good, "--state", state).code == 0
        text = Path(state).read_text(encoding="utf-8")
        assert cli(*ASK, "b.json", bad, "--state", state).code == 3
        assert Path(state).read_text(encoding="utf-8") == text
    found = page(cli(*ASK, "b.json", good, "--json"))
    assert found["files"][0]["selected"] > 0
    assert (found["files"][0]["rows"], expected > 0) == (600, True)
    # the other class may be the positive one from now on
    turned = cli(*ASK, "b.json", good, "--pos-label", labels[0], "--json")
    assert page(turned, 4)["true_positives"] == found["files"][0]["selected"] - found["true_positives"]


def test_evidence_at_the_alarm_above_the_highest_is_refused(bench, cli):
    assert cli(*ASK, bench.kept, *bench.files, "--state", "watch.json").code == 4
    state = json.loads((bench.folder / "watch.json").read_text(encoding="utf-8"))
    state["alarm"]["e_value"] = 1.01 * state["monitor"]["max_e_value"]
    (bench.folder / "watch.json").write_text(json.dumps(state), encoding="utf-8")
    outcome = cli(*ASK, bench.kept, bench.files[1], "--state", "watch.json")
    assert outcome.code == 3
    assert "evidence from 20 to " in outcome.err


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        (
            {"rows": 700, "selected": 600, "true_positives": 300, "precision": 0.5},
            r"selected must be \d+ up to here, as",
        ),
        ({"e_value": 2.0}, r"e_value must be [\d.]+, as monitor.history says, got 2.0"),
    ],
)
def test_files_that_the_monitor_has_not_seen_are_refused(changes, what, bench, cli):
    assert cli(*ASK, bench.kept, bench.files[0], "--state", "watch.json").code == 0
    state = json.loads((bench.folder / "watch.json").read_text(encoding="utf-8"))
    state["files"][0] |= changes
    (bench.folder / "watch.json").write_text(json.dumps(state), encoding="utf-8")
    outcome = cli(*ASK, bench.kept, bench.files[1], "--state", "watch.json")
    assert outcome.code == 3
    assert re.search(what, " ".join(outcome.err.split())), outcome.err


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: "nonsense",
        lambda _: "[]",
        lambda _: "{}",
        lambda text: text.replace("stakes-monitor-1", "stakes-monitor-9"),
        lambda text: text.replace('"n_rows"', '"rows"'),
        lambda text: text.replace('"true_positives":', '"true_positives": -1, "x":', 1),
        lambda text: text.replace('"sha256"', '"md5"'),
        lambda text: text.replace('"alarm": null', '"alarm": 3'),
        lambda text: text.replace('"alarm": null', '"alarm": {"file": "x", "row": "many", "e_value": 21}'),
        lambda text: text.replace('"alarm": null', '"alarm": {"file": "x", "row": 7, "e_value": 21}'),
        lambda text: text.replace('"alarm_row": null', '"alarm_row": 7'),
    ],
)
def test_damaged_state_is_refused_and_left_alone(damage, bench, cli):
    assert cli(*ASK, bench.kept, bench.files[0], "--state", "watch.json").code == 0
    text = damage((bench.folder / "watch.json").read_text(encoding="utf-8"))
    (bench.folder / "watch.json").write_text(text, encoding="utf-8")
    outcome = cli(*ASK, bench.kept, bench.files[1], "--state", "watch.json")
    assert (outcome.code, outcome.out) == (3, "")
    assert "watch.json: is " in outcome.err
    assert (bench.folder / "watch.json").read_text(encoding="utf-8") == text


def test_state_is_not_written_where_the_result_cannot_be(bench, cli, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stakes.cli.console.deliver", lambda *_: full(0))
    assert cli(*ASK, bench.kept, bench.files[0], "--state", "watch.json").code == 1
    assert list(bench.folder.iterdir()) == []


def test_boundary_that_promises_no_precision_needs_one_named(bench, scores, cli):
    boundary = fit_boundary(*scores.values(), capacity=300)
    Path("b.json").write_text(boundary.to_json(), encoding="utf-8")
    columns = ["--score", "risk", "--uncertainty", "spread", "--label", "outcome"]
    outcome = cli(*ASK, "b.json", bench.files[0], *columns)
    assert (outcome.code, "name one with --min-precision" in outcome.err) == (2, True)
    assert cli(*ASK, "b.json", bench.files[0], *columns, "--min-precision", "0.5").code == 0
    outcome = cli(*ASK, "b.json", bench.files[0], "--decision", "risk")
    assert (outcome.code, "give --label" in outcome.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--confidence-level", "1"], "--confidence-level must be a number between 0 and 1"),
        (["--min-precision", "1"], "--min-precision must be a share between 0 and 1, got '1'"),
        (["--min-precision", "x"], "--min-precision must be a share between 0 and 1, got 'x'"),
        (["--min-precision", "1/0"], "--min-precision must be a share between 0 and 1, got '1/0'"),
        (["--decision", "d", "--score", "risk"], "--decision stands in place of"),
        (["--state", "s.txt"], "--state must name a file that ends in .json"),
        (["--state", "w.json", "-o", "w.json"], "--state and --output name one file"),
        (["-o", "w.parquet"], "--output"),
    ],
)
def test_request_that_cannot_be_carried_out(options, part, bench, cli):
    outcome = cli(*ASK, bench.kept, bench.files[0], *options)
    assert (outcome.code, outcome.out) == (2, ""), outcome.err
    assert part in outcome.err
    assert list(bench.folder.iterdir()) == []


def test_nothing_that_was_read_is_overwritten(bench, cli):
    before = bench.kept.read_bytes()
    for options in (["--state", bench.kept], ["-o", bench.kept], ["-o", bench.files[1]]):
        outcome = cli(*ASK, bench.kept, *bench.files, *options)
        assert outcome.code == 2
        assert "overwrit" in outcome.err
    assert bench.kept.read_bytes() == before
    assert cli(*ASK, "-", "-", stdin=b"").code == 2


def test_monitor_of_the_library_goes_on_from_its_state():
    y = (np.random.default_rng(1).random(300) < 0.7).astype(int)
    whole, parts = PrecisionMonitor(0.8), PrecisionMonitor(0.8)
    for part in np.split(y, [1, 2, 50, 51, 200]):
        whole.update(part)
        parts = PrecisionMonitor.from_dict(json.loads(json.dumps(parts.to_dict()))).update(part)
    assert parts.to_dict() == whole.to_dict()
    assert parts.e_value == pytest.approx(evidence(y, 0.8)[-1], rel=1e-9)
    state = whole.to_dict()
    for key in state:
        for odd in (None, "x", -1, (), float("nan")):
            if (key, odd) not in {("alarm_row", None), ("history", ())}:
                with pytest.raises(ValueError, match=r"no whole state|must lie in"):
                    PrecisionMonitor.from_dict({**state, key: odd})


@pytest.mark.parametrize("begun", [True, False])
def test_a_run_that_another_one_overtakes_is_refused_and_what_that_one_counted_stays(begun, bench, cli, monkeypatch):
    state = [*ASK, bench.kept, "--state", "w.json"]
    night, other = bench.files[0], write_csv(bench.folder / "before.csv", scored(300, seed=9))
    if begun:
        page(cli(*state, other, "--json"))
    take_in = boundary_monitor.take_in

    def overtaken(*given):
        monkeypatch.setattr(boundary_monitor, "take_in", take_in)
        page(cli(*state, night, "--json"))
        return take_in(*given)

    monkeypatch.setattr(boundary_monitor, "take_in", overtaken)
    last = write_csv(bench.folder / "last.csv", scored(300, seed=8))
    outcome = cli(*state, last)
    assert outcome.code == 3
    assert "w.json: was changed by another run while this one worked: run it again" in outcome.err
    counted = json.loads((bench.folder / "w.json").read_text())["files"]
    assert [Path(each["file"]).name for each in counted] == ["before.csv"] * begun + ["night0.csv"]
