"""`stakes watch`: the alarm of the library from files, every file once, and a state that is whole whatever happens."""

import gzip
import hashlib
import json
import re
import shutil

import numpy as np
import pytest

from stakes import evaluate, expected_regret
from stakes.evaluation import KeptEvaluation
from stakes.monitoring import CostMonitors
from tests.cli.conftest import write_csv

pytest.importorskip("rich")

from stakes.cli import watch

pl = pytest.importorskip("polars")

COSTS = (0.05, 0.3)


def rows(n, seed, shift=0.0):
    """Return an outcome and two models, whose scores hold unless risks are shifted, and a group."""
    rng = np.random.default_rng(seed)
    score = rng.beta(1.0, 7.0, n)
    ill = (rng.random(n) < np.clip(score + shift, 0.0, 1.0)).astype(int)
    place = np.where(np.arange(n) % 3 == 0, "clinic", "home")
    return {"ill": ill, "new": score, "old": np.clip(score + 0.05, 0.0, 1.0), "place": place}


def keep(path, columns, groups=None):
    models = {name: columns[name] for name in ("new", "old")}
    KeptEvaluation.of(evaluate(columns["ill"], models, costs=COSTS, groups=groups)).to_json(path)
    return path


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """Write a kept evaluation and ten days in two Parquet files each, dearer from the fifth day on."""
    folder = tmp_path_factory.mktemp("bench")
    days = {f"2026-01-{day:02d}": rows(4000, day, 0.25 if day >= 5 else 0.0) for day in range(1, 11)}
    for name, columns in days.items():
        frame = pl.DataFrame(columns)
        (folder / f"day={name}").mkdir()
        frame[:1000].write_parquet(folder / f"day={name}" / "a.parquet")
        frame[1000:].write_parquet(folder / f"day={name}" / "b.parquet")
    keep(folder / "kept.json", rows(20_000, 0))
    return folder, days


@pytest.fixture
def bench(once, folder):
    """Return the days; their files and the kept evaluation are in the folder."""
    made, days = once
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return days


START = ["watch", "start", "kept.json", "--label", "ill", "--tolerance", "10%", "--unit", "row", "--state", "w.json"]


@pytest.mark.parametrize(("harm", "named"), [({"new": 0.01}, "new"), (0.01, "new, old"), ({"old": 0.01}, "")], ids=str)
def test_harm_of_the_kept_evaluation_is_said_to_be_left_out(cli, folder, harm, named):
    columns = rows(20_000, 0)
    models = {name: columns[name] for name in ("new", "old")}
    KeptEvaluation.of(evaluate(columns["ill"], models, costs=COSTS, harm=harm)).to_json(folder / "kept.json")
    outcome = cli(*START, *(["--models", "new"] if not named else []))
    assert outcome.code == 0, outcome.err
    plain = 1000 * expected_regret(columns["ill"], columns["new"], costs=COSTS)
    assert f"new cost {plain:.1f} per 1,000 decisions" in outcome.err
    assert (f"--harm of {named}, which no day changes, is left out" in outcome.err) == bool(named)


def test_the_alarm_is_that_of_the_library_and_the_exit_code_is_4_from_then_on(bench, cli, folder):
    begun = cli(*START)
    said = " ".join(begun.err.split())
    notes = re.findall(
        r"cost ([\d.]+) per 1,000 decisions; the budget is ([\d.]+): a rise of less than ([\d.]+)% is", said
    )
    assert (begun.code, len(notes)) == (0, 2)
    for cost, budget, rise in (map(float, each) for each in notes):
        assert rise == pytest.approx(100 * (budget / cost - 1), abs=0.2)
    kept = KeptEvaluation.from_json((folder / "kept.json").read_text(encoding="utf-8"))
    watch, codes, wanted = CostMonitors(COSTS, reference=kept, tolerance=0.1, unit="row", force=True), [], []
    for day, columns in bench.items():
        codes.append(cli("watch", "add", f"day={day}/*.parquet", "--state", "w.json").code)
        watch.update(day, columns["ill"], {name: columns[name] for name in ("new", "old")})
        wanted.append(4 if watch.alarm else 0)
    assert codes == wanted
    assert 0 in codes
    assert 4 in codes
    found = cli("watch", "show", "--state", "w.json", "--json")
    for record in json.loads(found.out)["monitors"]:
        monitor = watch.monitors[record["monitor"]]
        assert (record["alarm_day"], record["since"]) == (monitor.alarm_day, monitor.since)
        assert record["log_evidence"] == pytest.approx(monitor.log_evidence, rel=1e-9)
        assert record["promised"] == pytest.approx(monitor._records()[-1]["promised"], rel=1e-9)
        assert (record["n_days"], record["n_rows"]) == (10, 40_000)
    lines = [line.split() for line in cli("watch", "show", "--state", "w.json").out.splitlines()]
    for name, monitor in watch.monitors.items():  # each beside its days: per 1,000 decisions
        line = next(words for words in lines if words[:2] == [name, "10"])
        assert float(line[2]) == pytest.approx(1000.0 * monitor.budget, rel=0.01)


def test_every_day_and_file_counts_once_and_a_refused_run_leaves_the_state(bench, cli, folder):
    cli(*START)
    days = list(bench)
    assert cli("watch", "add", *(f"day={day}/*.parquet" for day in days[1:3]), "--state", "w.json").code == 0
    before = (folder / "w.json").read_bytes()
    (folder / "again-2026-03-01.parquet").write_bytes((folder / f"day={days[1]}" / "a.parquet").read_bytes())
    pl.DataFrame(bench[days[0]]).write_csv(folder / "2026-01-20.csv")
    pl.DataFrame({**bench[days[0]], "new": [2.0] * 4000}).write_csv(folder / "2026-01-21.csv")
    pl.DataFrame({"ill": [0, 1], "new": [0.1, 0.2]}).write_csv(folder / "2026-01-22.csv")
    pl.DataFrame({"ill": [0, None], "new": [0.1, 0.2], "old": [0.1, 0.2]}).write_csv(folder / "2026-01-23.csv")
    for files, message in {
        (f"day={days[2]}/*.parquet",): f"was counted already, on day {days[2]}",
        (f"day={days[0]}/*.parquet",): f"day must be later than the last, '{days[2]}', but '{days[0]}' is earlier",
        (f"day={days[3]}/*.parquet", f"day={days[3]}/*.parquet"): f"was counted already, on day {days[3]}",
        ("2026-01-20.csv", "2026-01-21.csv"): "column 'new', row 1",
        ("2026-01-22.csv",): "column 'old': there is no such column",
        ("2026-01-23.csv",): "A day enters when all its labels are known",
    }.items():
        outcome = cli("watch", "add", *files, "--state", "w.json")
        assert outcome.code == 3, outcome.err
        assert message in outcome.err
        assert (folder / "w.json").read_bytes() == before


@pytest.mark.parametrize(
    ("labels", "typed", "kept"), [((1, 2), "2", 2), ((1, 0), "0", 0), (("no", "yes"), "yes", "yes")]
)
def test_a_kept_file_and_a_watch_count_the_class_that_was_named(cli, folder, labels, typed, kept):
    day = rows(2000, 4)
    frame = pl.DataFrame({"ill": [labels[k] for k in day["ill"]], "new": day["new"]})
    frame.write_csv(folder / "2026-01-02.csv")
    frame.write_parquet(folder / "part_1.parquet")
    for n, source in enumerate(("2026-01-02.csv", "part_?.parquet")):
        asked = ["--label", "ill", "--pos-label", typed, "--models", "new", "--costs", "0.05:0.3"]
        assert cli("evaluate", source, *asked, "--keep", f"k{n}.json", "-o", "x.txt").code == 0
        assert json.loads((folder / f"k{n}.json").read_text(encoding="utf-8"))["pos_label"] == kept
        assert cli("watch", "start", f"k{n}.json", "--label", "ill", "--state", f"s{n}.json").code == 0
        added = cli("watch", "add", "2026-01-02.csv", "--state", f"s{n}.json", "--json")
        mean = json.loads(added.out)["monitors"][0]["mean"]
        assert mean == pytest.approx(expected_regret(day["ill"], day["new"], costs=COSTS), rel=1e-9)
    other = next(str(label) for label in labels if label != kept)
    asked[asked.index(typed)] = other
    assert cli("evaluate", "2026-01-02.csv", *asked, "--keep", "other.json", "-o", "x.txt").code == 0
    assert "pos_label" in cli("compare", "k0.json", "other.json").err


def test_a_file_counts_once_alone_and_among_those_of_a_pattern(bench, cli, folder):
    cli(*START)
    day = next(iter(bench))
    late = next(day for day in reversed(bench))
    (folder / f"day={late}" / "old.parquet").write_bytes((folder / f"day={day}" / "b.parquet").read_bytes())
    before = (folder / "w.json").read_bytes()
    for files in ([f"day={day}/a.parquet", f"day={day}/*.parquet"], [f"day={day}/*.parquet", f"day={day}/b.parquet"]):
        refused = cli("watch", "add", *files, "--state", "w.json")
        assert (refused.code, f"was counted already, on day {day}" in refused.err) == (3, True), refused.err
        assert (folder / "w.json").read_bytes() == before
    assert cli("watch", "add", f"day={day}/*.parquet", "--state", "w.json").code == 0
    for file in (f"day={late}/*.parquet", f"day={late}/old.parquet"):
        refused = cli("watch", "add", file, "--state", "w.json")
        assert (refused.code, f"old.parquet: was counted already, on day {day}" in refused.err) == (3, True)


def test_a_copy_among_the_files_of_a_pattern_is_refused(bench, cli, folder):
    cli(*START)
    day = next(iter(bench))
    shutil.copy(folder / f"day={day}" / "a.parquet", folder / f"day={day}" / "c.parquet")
    empty = pl.DataFrame(bench[day])[:0]
    for name in ("d", "e"):  # parts without rows may be alike
        empty.write_parquet(folder / f"day={day}" / f"{name}.parquet")
    before = (folder / "w.json").read_bytes()
    refused = cli("watch", "add", f"day={day}/[ac]*.parquet", "--state", "w.json")
    assert (refused.code, f"c.parquet: is a copy of 'day={day}/a.parquet'" in refused.err) == (3, True), refused.err
    assert (folder / "w.json").read_bytes() == before
    added = cli("watch", "add", f"day={day}/[abde].parquet", "--state", "w.json", "--json")
    assert json.loads(added.out)["monitors"][0]["n_rows"] == 4000


def test_a_state_with_one_digest_for_a_pattern_still_knows_its_files(bench, cli, folder):
    cli(*START)
    day = next(iter(bench))
    assert cli("watch", "add", f"day={day}/*.parquet", "--state", "w.json").code == 0
    state = json.loads((folder / "w.json").read_text(encoding="utf-8"))
    each = sorted(hashlib.sha256((folder / f"day={day}" / f"{k}.parquet").read_bytes()).hexdigest() for k in "ab")
    state["files"][day] = [hashlib.sha256("".join(each).encode()).hexdigest()[:16]]  # one for all, as it was kept
    (folder / "w.json").write_text(json.dumps(state), encoding="utf-8")
    refused = cli("watch", "add", f"day={day}/*.parquet", "--day", "2026-02-01", "--state", "w.json")
    assert (refused.code, f"was counted already, on day {day}" in refused.err) == (3, True), refused.err


def test_parts_without_rows_may_be_alike_on_every_day(bench, cli, folder):
    cli(*START)
    for day in list(bench)[:2]:
        pl.DataFrame(bench[day])[:0].write_parquet(folder / f"day={day}" / "empty.parquet")
        assert cli("watch", "add", f"day={day}/*.parquet", "--state", "w.json").code == 0


def test_files_of_one_day_are_added_up_whatever_their_format(bench, cli, folder):
    day, columns = next(iter(bench.items()))
    found = []
    write_csv(folder / "1.csv", {name: values[:1000] for name, values in columns.items()})
    write_csv(folder / "2.csv", {name: values[1000:] for name, values in columns.items()})
    for files in ([f"day={day}/*.parquet"], ["1.csv", "2.csv"], [f"day={day}/a.parquet", "2.csv"]):
        cli(*START)
        outcome = cli("watch", "add", *files, "--day", day, "--state", "w.json", "--json")
        found.append([record["log_evidence"] for record in json.loads(outcome.out)["monitors"]])
        (folder / "w.json").unlink()
    assert found[1] == pytest.approx(found[0], rel=1e-12)
    assert found[2] == pytest.approx(found[0], rel=1e-12)


@pytest.mark.parametrize(
    "file", ["day=2026-01-01.parquet", "day=2026-01-01.csv", "day=2026-01-01.csv.gz", "parts/day=2026-01-01.*"]
)
def test_a_day_in_the_name_of_a_file_ends_before_its_ending(file, bench, cli, folder):
    cli(*START)
    frame = pl.DataFrame(bench["2026-01-01"])
    (folder / "parts").mkdir()
    if file.endswith("parquet"):
        frame.write_parquet(folder / file)
    elif file.endswith("*"):
        frame.write_parquet(folder / "parts/day=2026-01-01.parquet")
    else:
        write = gzip.open if file.endswith("gz") else open
        with write(folder / file, "wt", encoding="utf-8") as out:
            out.write(frame.write_csv())
    added = cli("watch", "add", file, "--state", "w.json", "--json")
    assert added.code == 0, added.err
    assert {record["last_day"] for record in json.loads(added.out)["monitors"]} == {"2026-01-01"}


def test_groups_are_watched_too(bench, cli, folder):
    reference = rows(20_000, 0)
    keep(folder / "kept.json", reference, {"place": reference["place"]})
    cli(*START)
    day, columns = next(iter(bench.items()))
    outcome = cli("watch", "add", f"day={day}/*.parquet", "--state", "w.json", "--json")
    found = {record["monitor"]: record for record in json.loads(outcome.out)["monitors"]}
    assert found["new, place = clinic"]["n_rows"] == int((columns["place"] == "clinic").sum())
    assert found["new"]["log_alarm"] == pytest.approx(np.log(6 * 40))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64])
def test_whole_numbers_name_their_group_in_either_format(suffix, kind, cli, folder):
    reference = {**rows(4000, 0), "place": np.arange(4000) % 3}
    keep(folder / "kept.json", reference, {"place": reference["place"]})
    cli(*START)
    frame = pl.DataFrame(reference).with_columns(pl.col("place").cast(kind))
    getattr(frame, f"write_{suffix}")(folder / f"2026-01-01.{suffix}")
    found = cli("watch", "add", f"2026-01-01.{suffix}", "--state", "w.json", "--json")
    assert found.code == 0, found.err
    sizes = {record["monitor"]: record["n_rows"] for record in json.loads(found.out)["monitors"]}
    assert [sizes[f"old, place = {place}"] for place in range(3)] == np.bincount(reference["place"]).tolist()


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    "case",
    [
        ((0, 1), None, [(1, 2), (2, 2), (-1, 1)]),
        ((2, 1), "1", [(0, 1), (3, 1), (0, 0)]),
        (("no", "yes"), "yes", [("No", "yes"), ("Yes", "Yes"), ("maybe", "maybe")]),
    ],
)
def test_a_label_that_was_never_there_is_refused_and_leaves_the_state(suffix, case, cli, folder):
    (labels, typed, odd), day = case, rows(600, 4)

    def write(name, pair):
        frame = pl.DataFrame({"ill": [pair[k] for k in day["ill"]], "new": day["new"]})
        getattr(frame, f"write_{suffix}")(folder / f"{name}.{suffix}")
        return f"{name}.{suffix}"

    asked = ["--label", "ill", *([] if typed is None else ["--pos-label", typed]), "--models", "new"]
    right = write("2026-01-01", labels)
    assert cli("evaluate", right, *asked, "--costs", "0.05:0.3", "--keep", "k.json", "-o", "x.txt").code == 0
    kept = json.loads((folder / "k.json").read_text(encoding="utf-8"))
    assert kept.pop("neg_label") == labels[0]
    (folder / "old.json").write_text(json.dumps(kept), encoding="utf-8")  # as it was kept before
    for reference in ("k", "old"):
        state = f"{reference}.state.json"
        cli("watch", "start", f"{reference}.json", "--label", "ill", "--state", state)
        added = cli("watch", "add", right, "--state", state, "--json")
        if (reference, labels) == ("old", (2, 1)):
            assert "column 'ill': must hold the labels from before, 1 and 0 or -1, got 2" in added.err
            continue
        mean = json.loads(added.out)["monitors"][0]["mean"]
        assert mean == pytest.approx(expected_regret(day["ill"], day["new"], costs=COSTS), rel=1e-9)
        before = (folder / state).read_bytes()
        for place, pair in enumerate(odd):
            outcome = cli("watch", "add", write(f"2026-02-0{place + 1}", pair), "--state", state)
            assert outcome.code == 3
            assert re.search(r"column 'ill': must hold the labels from before, .* and .*, got ", outcome.err)
            assert (folder / state).read_bytes() == before


def test_the_last_day_of_a_group_without_rows_on_it_is_left_empty(cli, folder):
    reference = rows(4000, 0)
    keep(folder / "kept.json", reference, {"place": reference["place"]})
    cli(*START)
    day = pl.DataFrame(rows(900, 1))
    day.write_parquet(folder / "2026-01-01.parquet")
    day.filter(pl.col("place") == "home").write_parquet(folder / "2026-01-02.parquet")
    files = ["2026-01-01.parquet", "2026-01-02.parquet"]
    lines = cli("watch", "add", *files, "--state", "w.json").out.splitlines()
    clinic = next(line.split() for line in lines if line.startswith("new, place = clinic"))
    home = next(line.split() for line in lines if line.startswith("new, place = home"))
    assert (clinic[4], clinic[7:9], len(clinic)) == ("1", ["-", "-"], len(home))
    today = expected_regret(*(day.filter(pl.col("place") == "home")[name] for name in ("ill", "new")), costs=COSTS)
    assert float(home[7]) == pytest.approx(1000.0 * today, rel=0.01)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_group_that_no_monitor_has_is_refused_in_either_format(cli, folder, suffix):
    reference = rows(4000, 0)
    keep(folder / "kept.json", reference, {"place": reference["place"]})
    cli(*START)
    day = pl.DataFrame({name: values[:200] for name, values in reference.items()} | {"place": ["home", "ward"] * 100})
    getattr(day, f"write_{suffix}")(folder / f"2026-01-01.{suffix}")
    outcome = cli("watch", "add", f"2026-01-01.{suffix}", "--state", "w.json")
    assert outcome.code == 3
    assert f"2026-01-01.{suffix}: groups['place'] must hold groups that are watched" in outcome.err
    assert "got 'ward'. Leave these rows out" in " ".join(outcome.err.split())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the oldest matplotlib, as it is imported
def test_the_page_holds_the_answer_and_asks_the_network_for_nothing(bench, cli, folder):
    pytest.importorskip("matplotlib")
    cli(*START)
    cli("watch", "add", *(f"day={day}/*.parquet" for day in bench), "--state", "w.json")
    assert cli("watch", "show", "--state", "w.json", "--report", "w.html").code == 0
    page = (folder / "w.html").read_text(encoding="utf-8")
    assert "Has the cost risen since the models were taken into use?" in page
    assert "Alarm on day 2026-01-" in page
    assert page.count("data:image/svg+xml;base64,") == 2
    assert not re.findall(r"(?:src|href)=\"https?:", page)


@pytest.mark.usefixtures("bench")
def test_a_plan_prints_days_and_a_larger_rise_takes_fewer(cli):
    outcome = cli("watch", "plan", "kept.json", "--rows-per-day", "500", "--unit", "row", "--json")
    records = json.loads(outcome.out)["records"]
    found = {(each["monitor"], each["rise"], each["begins"]): each["days"] for each in records}
    assert found["new", 0.5, 1] < found["new", 0.2, 1]
    printed = cli("watch", "plan", "kept.json", "--rows-per-day", "500", "--unit", "row").out
    assert "days to the alarm" in printed
    for each in records:
        cells = f"{each['monitor']} {each['rise']:.0%} {each['begins']} {each['days']}"
        assert cells in [" ".join(line.split()) for line in printed.splitlines()]


@pytest.mark.usefixtures("bench")
@pytest.mark.parametrize(("unit", "said"), [("day", True), ("row", False)])
def test_a_plan_of_days_says_that_they_are_taken_to_differ_by_chance_alone(cli, unit, said):
    out = cli("watch", "plan", "kept.json", "--rows-per-day", "500", "--unit", unit).out
    assert ("Days that differ by more than chance delay alarms" in out) is said


@pytest.mark.usefixtures("bench")
def test_a_plan_of_few_rows_says_that_a_rise_is_not_seen_in_ten_years(cli):
    few = ("watch", "plan", "kept.json", "--rows-per-day", "1", "--unit", "row", "--tolerance", "15%")
    records = json.loads(cli(*few, "--json").out)["records"]
    never = [each for each in records if each["days"] is None]
    assert 0 < len(never) < len(records)
    assert cli(*few).out.count("not in ten years") == len(never)


def test_a_plan_tells_a_rise_that_is_not_seen_from_one_that_cannot_be_planned(cli, folder):
    # 70% of rows cost the most that one can, .5: all do at a rise of 43%, and one of 50% is none
    ill = np.resize([0, 1], 2000)
    score = 0.1 + 0.8 * np.where(np.arange(2000) < 1400, 1 - ill, ill)
    KeptEvaluation.of(evaluate(ill, {"a": score}, costs=0.5)).to_json(folder / "dear.json")
    asked = ("watch", "plan", "dear.json", "--rows-per-day", "200", "--tolerance", "12%")
    out = cli(*asked).out
    shown = [" ".join(line.split()) for line in out.splitlines() if line.strip().startswith("a ")]
    assert [line for line in shown if "not in ten years" in line] == [
        "a 10% 1 not in ten years",
        "a 10% 201 not in ten years",
    ]
    assert [line for line in shown if "cannot be planned" in line] == [
        "a 50% 1 cannot be planned",
        "a 50% 201 cannot be planned",
    ]
    assert "even if every row became dearer" in " ".join(out.split())


WRONG = {
    "no state": (
        ["watch", "add", "2026-01-01.csv", "--state", "none.json"],
        2,
        "there is no such file; stakes watch st",
    ),
    "no day": (["watch", "add", "rows.csv", "--state", "w.json"], 2, "'rows.csv' names no day: give --day"),
    "two days": (["watch", "add", "2026-01-01-2026-01-02.csv", "--state", "w.json"], 2, "names several days"),
    "a day that is none": (
        ["watch", "add", "rows.csv", "--day", "monday", "--state", "w.json"],
        3,
        "day must be a date",
    ),
    "a state there": (START, 2, "is there already: it watches"),
    "a negative tolerance": ([*START[:5], "--tolerance", "-1", "--state", "x.json"], 2, "--tolerance must be a share"),
    "a unit": ([*START[:5], "--unit", "week", "--state", "x.json"], 2, "--unit must be day or row, got 'week'"),
    "another model": (
        [*START[:5], "--models", "nwe", "--state", "x.json"],
        3,
        "--models must each be one of 'new', 'old', got 'nwe'",
    ),
    "no evaluation": (["watch", "plan", "w.json", "--rows-per-day", "9"], 3, "is no kept evaluation"),
    "no rows": (["watch", "plan", "kept.json", "--rows-per-day", "0"], 2, "--rows-per-day"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_done_says_why(name, bench, cli, folder):
    cli(*START)
    write_csv(folder / "rows.csv", bench["2026-01-01"])
    command, code, message = WRONG[name]
    outcome = cli(*command)
    assert outcome.code == code, outcome.err
    assert message in outcome.err


@pytest.mark.usefixtures("bench")
def test_hostile_states_are_refused(cli, folder):
    cli(*START)
    cli("watch", "add", "day=2026-01-01/*.parquet", "--state", "w.json")
    good = json.loads((folder / "w.json").read_text(encoding="utf-8"))
    for spoil, message in [
        (lambda s: s.update(format="stakes-watch-0"), "format"),
        (lambda s: s.update(files=3), "files must be lists of digests"),
        (lambda s: s.update(label=3), "label must be a text"),
        (lambda s: s["watch"].update(monitors={}), "monitors must be states by name"),
        (lambda s: s["watch"]["monitors"]["new"]["total"].__setitem__(0, -1.0), "day 0 of days must be whole"),
    ]:
        state = json.loads(json.dumps(good))
        spoil(state)
        (folder / "w.json").write_text(json.dumps(state), encoding="utf-8")
        for command in (["show"], ["add", "day=2026-01-02/*.parquet"]):
            outcome = cli("watch", *command, "--state", "w.json")
            assert outcome.code == 3
            assert message in outcome.err


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.thorough
def test_four_hundred_days_of_credit_killed_at_a_hundred_moments_alarm_on_the_same_day(
    load_data, cli, folder, monkeypatch
):
    from stakes.cli import console

    linear = pytest.importorskip("sklearn.linear_model")
    selection = pytest.importorskip("sklearn.model_selection")
    data = load_data("german_credit/german_credit")
    numbers = data.drop(columns="bad").select_dtypes("number")
    model = linear.LogisticRegression(max_iter=5000)
    scaled = (numbers - numbers.mean()) / numbers.std()
    risk = selection.cross_val_predict(model, scaled, data["bad"], cv=5, method="predict_proba")[:, 1]
    bad, rng = data["bad"].to_numpy(), np.random.default_rng(0)

    def drawn(n, share):
        """Rows of the data, bad with another probability than its three tenths."""
        chosen = np.where(
            rng.random(n) < share, rng.choice(np.flatnonzero(bad == 1), n), rng.choice(np.flatnonzero(bad == 0), n)
        )
        return {"bad": bad[chosen], "risk": np.round(risk[chosen], 6)}

    reference = drawn(20_000, 0.3)
    kept = KeptEvaluation.of(evaluate(reference["bad"], {"risk": reference["risk"]}, costs=(0.3, 0.6)))
    kept.to_json(folder / "kept.json")
    for state in ("calm.json", "killed.json"):
        cli("watch", "start", "kept.json", "--label", "bad", "--unit", "row", "--tolerance", "0.05", "--state", state)
    killed = 0
    put = console.put

    def dying(partial, target):
        if rng.random() < 0.5:
            put(partial, target)
        raise Killed

    for day in range(1, 401):
        file = write_csv(folder / "today.csv", drawn(50, 0.3 if day < 200 else 0.45))
        add = ["watch", "add", file, "--day", day, "--state"]
        while killed < 100 and rng.random() < 0.3:
            monkeypatch.setattr(console, "put", dying)
            try:
                assert cli(*add, "killed.json").code == 3  # it was counted before the end
                break
            except Killed:
                killed += 1
            finally:
                monkeypatch.setattr(console, "put", put)
        codes = [cli(*add, state).code for state in ("calm.json", "killed.json")]
        assert codes[0] in {0, 4}
        assert codes[1] in {codes[0], 3}
    assert killed == 100
    (found,) = json.loads(cli("watch", "show", "--state", "killed.json", "--json").out)["monitors"]
    assert 200 <= found["alarm_day"] <= 300
    assert 180 <= found["since"] <= 220
    assert (folder / "calm.json").read_text(encoding="utf-8") == (folder / "killed.json").read_text(encoding="utf-8")


def test_days_as_the_unit_are_said_to_leave_a_budget_of_independent_rows(cli, folder):
    columns = rows(2_000, 0)
    KeptEvaluation.of(evaluate(columns["ill"], {"new": columns["new"]}, costs=COSTS)).to_json(folder / "kept.json")
    for unit, told in (("day", True), ("row", False)):
        outcome = cli("watch", "start", "kept.json", "--label", "ill", "--unit", unit, "--state", f"{unit}.json")
        assert outcome.code == 0, outcome.err
        said = "the budget takes the rows of the kept evaluation for independent: where its days differ by more, false"
        assert (said in " ".join(outcome.err.split())) == told


def test_a_run_that_another_one_overtakes_is_refused_and_what_that_one_counted_stays(bench, cli, folder, monkeypatch):
    cli(*START)
    first, second = list(bench)[:2]
    take_in = watch.take_in

    def overtaken(*given):
        monkeypatch.setattr(watch, "take_in", take_in)
        assert cli("watch", "add", f"day={first}/*.parquet", "--state", "w.json").code == 0
        take_in(*given)

    monkeypatch.setattr(watch, "take_in", overtaken)
    outcome = cli("watch", "add", f"day={second}/*.parquet", "--state", "w.json")
    assert outcome.code == 3
    assert outcome.err == "error: w.json: was changed by another run while this one worked: run it again\n"
    assert list(json.loads((folder / "w.json").read_text())["files"]) == [first]
    assert cli("watch", "add", f"day={second}/*.parquet", "--state", "w.json").code == 0
    assert list(json.loads((folder / "w.json").read_text())["files"]) == [first, second]
