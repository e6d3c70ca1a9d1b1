"""The tool that makes small changes to the code: its lists are true, and its changes run."""

import subprocess
import sys
from pathlib import Path

from mutated import ALIKE, SOURCE, Mutant, count, mutants

from tests.mutants import BESIDE, Kept, asked_of, drawn, files, room_of, run, table

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import numpy
from mutated import SOURCE, mutants, put_in_place
from stakes.base.numerics import weighted_sum
change = next(each for each in mutants(SOURCE / "base" / "numerics.py") if each.statement == "used = weights >= 0.0")
assert weighted_sum(numpy.array([0.0, 1.0]), numpy.array([numpy.inf, 2.0])) == 2.0
assert put_in_place(change)
with numpy.errstate(invalid="ignore"):
    assert numpy.isnan(weighted_sum(numpy.array([0.0, 1.0]), numpy.array([numpy.inf, 2.0])))
size = next(each for each in mutants(SOURCE / "base" / "validation.py") if each.statement.startswith("def blocks"))
assert not put_in_place(size)  # a default, which no function's code holds
"""
WATCHED = """
from mutated import SOURCE, changing, functions, mutants, put, watch
reached = watch()
from stakes.base.validation import blocks
from stakes.base.numerics import weighted_sum
every = mutants(SOURCE / "base" / "numerics.py")
change = next(each for each in every if each.statement == "used = weights >= 0.0")
size = next(each for each in mutants(SOURCE / "base" / "validation.py") if each.statement.startswith("def blocks"))
assert size.mark is None and reached.isdisjoint(size.using)
list(blocks(3))
assert not reached.isdisjoint(size.using)
import numpy
assert change.mark not in reached
numbers = numpy.array([0.0, 1.0]), numpy.array([numpy.inf, 2.0])
assert weighted_sum(*numbers) == 2.0
assert change.mark in reached
put(changing(change, functions(), watched=True))
reached.clear()
with numpy.errstate(invalid="ignore"):
    assert numpy.isnan(weighted_sum(*numbers))
assert change.mark in reached
"""
AT_IMPORT = """
import pathlib, sys
from mutated import SOURCE, mutants, watch
reached = watch()
import stakes.base.numerics
from tests.mutants import Tests
change = next(each for each in mutants(SOURCE / "base" / "numerics.py") if each.statement == "used = weights >= 0.0")
file = pathlib.Path(sys.argv[1]) / "test_once.py"
file.write_text('''
import numpy
from stakes.base.numerics import weighted_sum
FOUND = weighted_sum(numpy.array([0.0, 1.0]), numpy.array([numpy.inf, 2.0]))
def test_of_what_was_found():
    assert FOUND == 2.0
def test_of_its_type():
    assert isinstance(FOUND, float)
''')
found, _ = Tests(None, reached, until_one_fails=False).watched(str(file))
assert len(found) == 2 and all(change.mark in places for _, places in found.values()), found
"""


def test_every_change_that_is_said_to_mean_the_same_exists_and_has_a_reason():
    lines = [line for line in ALIKE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    paths = {line.partition("  |  ")[0] for line in lines}
    known = {path: {each.statement for each in mutants(SOURCE / path)} for path in paths}
    parts = [line.split("  |  ") for line in lines]
    assert [statement for path, statement, _ in parts if statement not in known[path]] == []
    assert all(reason.strip() for _, _, reason in parts)
    assert len(set(lines)) == len(lines) > 10


def test_a_change_is_put_into_functions_that_other_modules_hold_already():
    path = ":".join(str(ROOT / part) for part in ("tests", "src"))
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env={"PYTHONPATH": path})


def test_statements_say_that_they_were_reached_before_and_after_a_change():
    path = ":".join(str(ROOT / part) for part in ("tests", "src"))
    subprocess.run([sys.executable, "-c", WATCHED], check=True, env={"PYTHONPATH": path})


def test_what_a_file_of_tests_computes_as_it_is_imported_is_reached_by_all_of_its_tests(tmp_path):
    path = ":".join(str(ROOT / part) for part in (".", "tests", "src"))
    subprocess.run([sys.executable, "-c", AT_IMPORT, str(tmp_path)], check=True, env={"PYTHONPATH": path}, cwd=tmp_path)


def test_every_part_of_the_library_has_tests_that_exist():
    assert set(BESIDE) <= {room_of(path) for path in files()}
    for room in {room_of(path) for path in files()}:
        assert asked_of(room)
        assert all((ROOT / test).exists() for test in asked_of(room)), room


def test_sample_is_drawn_from_all_files_and_is_the_same_for_a_seed():
    chosen, total = drawn(400, 1)
    assert total == sum(count(path) for path in files())
    assert len({(each.path, each.index) for each in chosen}) == 400
    assert not any(each.alike for each in chosen)
    assert [str(each) for each in drawn(30, 1)[0]] == [str(each) for each in chosen[:30]]
    assert [str(each) for each in drawn(30, 2)[0]] != [str(each) for each in chosen[:30]]
    assert {room_of(each.path) for each in drawn(30, 2, ["costs", "boundary"])[0]} == {"costs", "boundary"}
    # each change is as likely as any other: parts have their share of the sample
    for room in {room_of(path) for path in files()}:
        share = sum(count(path) for path in files() if room_of(path) == room) / total
        found = sum(room_of(each.path) == room for each in chosen) / 400
        assert abs(found - share) <= 5 * (share / 400) ** 0.5 + 1 / 400


def test_one_change_is_that_of_the_list():
    path = SOURCE / "base" / "numerics.py"
    assert [Mutant.at_place(path, each.index) for each in mutants(path)] == mutants(path)


def test_what_became_of_changes_is_kept_and_counted(tmp_path):
    kept, some = Kept(tmp_path / "kept"), mutants(SOURCE / "base" / "numerics.py")[:3]
    assert kept.read() == {}
    kept.add(some[0], "")
    kept.add(some[1], "survived")
    assert kept.read() == {str(some[0]): "", str(some[1]): "survived"}
    with (tmp_path / "kept" / "changes.jsonl").open("a") as file:
        file.write('\n["cut')  # as a run that was killed leaves it
    kept.add(some[1], "survived")
    assert set(kept.read()) == {str(some[0]), str(some[1])}
    lines = table(some, kept.read())
    assert lines[0] == f"survived {some[1]}"
    assert lines[1:] == [f"{name:14}    3 drawn,    2 tried,    1 noticed (50.0%)" for name in ("base", "all")]
    assert table(some, {})[-1].endswith("0 tried,    0 noticed (none tried)")


def test_run_that_is_finished_prints_its_table_and_runs_no_test(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("STAKES_EXAMPLES", "few")
    chosen, _ = drawn(5, 3)
    for each in chosen:
        Kept(tmp_path).add(each, "")
    run(["--sample", "5", "--seed", "3", "--kept", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "5 drawn, 0 to try" in printed
    assert printed.rstrip().endswith("5 drawn,    5 tried,    5 noticed (100.0%)")
