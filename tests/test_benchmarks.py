"""The benchmarks run, their table has its columns, and every peer in it answers the question that stakes answers."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks import boundary, core
from benchmarks.__main__ import write_json
from benchmarks._child import measure
from benchmarks._data import make_inputs
from benchmarks._plot import draw, races
from benchmarks._rows import Entry, Goal, Measured
from benchmarks._run import Line, run_rows
from benchmarks._table import AGREEMENT, COLUMNS, goal_records, largest_difference, to_markdown
from tools.every import version_of

ROOT = Path(__file__).resolve().parents[1]
ROWS = 2000
MEASURED = Measured(best=0.2, median=0.3, clock=0.2, runs=5, inputs=10**7, peak=3 * 10**7, answer=[1.0])
COLUMN = {name: index for index, name in enumerate(COLUMNS)}


def measure_here(row, entry):
    inputs = make_inputs(ROWS, tied=row.tied, weighted=row.weighted)
    return measure(entry, lambda: inputs, repeat=1, tiny=inputs, at_least=0.0)


def table_rows(markdown):
    lines = [line.strip("| ").split(" | ") for line in markdown.splitlines() if line.startswith("| ")]
    return lines[0], lines[2:]


def peer_cases():
    return [pytest.param(row, peer, id=f"{row.name}: {peer.library}") for row in core.ROWS for peer in row.peers]


def test_command_prints_a_table_and_writes_json(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "core", "--sizes", "1000", "--repeat", "1", "--no-peers"]
    options = ["--only", "bounded_brier_loss", "--json", str(tmp_path / "out.json")]
    run = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=True)
    header, rows = table_rows(run.stdout)
    assert tuple(header) == COLUMNS
    assert {row[COLUMN["library"]] for row in rows} == {"stakes"}
    assert all(row[COLUMN["rows"]] == "1,000" and float(row[COLUMN["best ms"]]) > 0.0 for row in rows)
    page = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [line["row"] for line in page["lines"]] == [row[COLUMN["row"]] for row in rows]


def test_list_names_every_row():
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--list"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert all(f"  {row.name}" in run.stdout for row in core.ROWS)


@pytest.mark.parametrize("row", core.ROWS, ids=lambda row: row.name)
def test_row_runs_and_is_measured(row):
    measured = measure_here(row, row.ours)
    assert 0.0 < measured.best <= measured.median
    assert measured.inputs == ROWS * 8 * (3 if row.weighted else 2)
    assert measured.answer is None or all(map(math.isfinite, measured.answer))


@pytest.mark.parametrize(("row", "peer"), peer_cases())
def test_peer_answers_the_same_question(row, peer):
    if version_of(peer.library) is None:
        pytest.skip(f"{peer.library} is not installed.")
    ours, theirs = measure_here(row, row.ours).answer, measure_here(row, peer).answer
    if peer.library == "numpy":  # a yardstick, not an answer
        assert theirs is None
    else:
        assert largest_difference(ours, theirs) <= AGREEMENT


def test_growth_is_the_exponent_since_the_next_smaller_size():
    row = core.ROWS[0]
    lines = [Line(row, rows, row.ours, replace(MEASURED, best=best)) for rows, best in ((1000, 0.5), (10, 0.05))]
    _, rows = table_rows(to_markdown("core", {}, lines, []))
    assert {row[COLUMN["rows"]]: row[COLUMN["growth"]] for row in rows} == {"1,000": "0.50", "10": ""}


def test_races_are_of_the_largest_size_with_a_peer_and_are_drawn(tmp_path):
    row = replace(core.ROWS[0], peers=(Entry("peer", "g", lambda _: None),))
    other = replace(MEASURED, best=0.5, median=0.6)
    peer = row.peers[0]
    kinds = ((10, row.ours, MEASURED), (10, peer, MEASURED), (20, row.ours, MEASURED), (20, peer, other))
    lines = [Line(row, *kind) for kind in (*kinds, (30, row.ours, MEASURED))]
    write_json(tmp_path / "suite.json", {}, lines, [])
    found = races(tmp_path)
    assert found == [("suite", row.name, 20, "peer", 2.5, pytest.approx(0.5 / 0.3), pytest.approx(3.0))]
    draw(found, tmp_path / "races.png")
    assert (tmp_path / "races.png").read_bytes().startswith(b"\x89PNG")


def test_absent_peer_is_left_out_with_a_note():
    absent = Entry("no-such-library", "f", lambda _: None)
    lines, notes = run_rows("core", [replace(core.ROWS[0], peers=(absent,))], [100], repeat=1)
    assert [line.entry.library for line in lines] == ["stakes"]
    assert notes == ["no-such-library is not installed: its lines are left out (see benchmarks/README.md)."]


def test_failing_row_is_noted_and_the_others_go_on():
    broken = replace(core.ROWS[0], name="no such row", peers=())
    lines, notes = run_rows("core", [broken, replace(core.ROWS[0], peers=())], [100], repeat=1)
    assert [line.row.name for line in lines] == [core.ROWS[0].name]
    assert len(notes) == 1
    assert notes[0].startswith("stakes failed on 'no such row' at 100 rows: ")


def test_differing_answer_and_missed_goal_are_shown():
    peer = Entry("peer", "g", lambda _: None)
    goal = Goal("at most 0.1 s", lambda by: by["stakes"].best, 0.1, "s", rows=100)
    row = replace(core.ROWS[0], peers=(peer,), goals=(goal,))
    other = replace(MEASURED, best=0.5, median=0.6, answer=[1.25])
    lines = [Line(row, 100, row.ours, MEASURED), Line(row, 100, peer, other)]
    _, rows = table_rows(to_markdown("core", {"date": "today"}, lines, []))
    assert rows[1][COLUMN["x stakes"]] == "2.5"
    assert rows[1][COLUMN["spread"]] == "1.67 to 3"  # .5 / .3 and .6 / .2
    assert rows[1][COLUMN["answer"]] == "DIFFERS by 0.25"
    assert rows[0][COLUMN["x inputs"]] == "3.00"
    assert [(record["value"], record["met"]) for record in goal_records(lines)] == [(0.2, False)]


def test_grids_of_the_boundary_benchmark_are_those_that_its_solvers_take():
    options = boundary.grid(20, 3)
    assert (options.n_levels, options.total) == (3, boundary.MILLION)
    assert boundary.most_recall(boundary.subset_sum(5, 50), Fraction(1, 2)) >= 0
