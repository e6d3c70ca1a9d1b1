"""The table of cliffs: measured in processes of their own, held against what was committed."""

import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import _whole, cliffs

HERE = cliffs.instructions()
MEASURED = _whole.Pair("compare", 100, 2.0, 1e6, "numpy sort", 1.0, 1e6, ratio=2.0)


def chosen(*names):
    return [replace(row, small=row.small[:1]) for row in cliffs.ROWS if row.name in names]


@pytest.mark.thorough
def test_a_call_and_a_command_are_measured_beside_their_limits():
    pairs, notes = _whole.run_rows("cliffs", chosen("compare", "import stakes"), small=True)
    assert notes == []
    assert {pair.name for pair in pairs} == {"compare", "import stakes"}
    assert all(pair.cpu > 0.0 and pair.limit_cpu > 0.0 and pair.limit_peak >= 0.0 for pair in pairs)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["two kept files compared, command", "two kept files compared, call"])
def test_two_kept_files_are_compared_beside_their_limit(name):
    pairs, notes = _whole.run_rows("cliffs", chosen(name), small=True)
    assert (notes, [pair.name for pair in pairs]) == ([], [name])


def test_a_kept_day_in_cells_above_its_size_fails_the_row(monkeypatch):
    day = cliffs.Inputs(10**5 + 1)
    cliffs.kept(day)
    monkeypatch.setattr(cliffs, "MOST_KEPT", 1000)
    with pytest.raises(ValueError, match=r"the kept day has [\d,]+ bytes, more than 1,000"):
        cliffs.kept(day)


def test_a_command_that_fails_is_noted():
    broken = replace(chosen("import stakes")[0], ours=_whole.Command("stakes", "x", lambda _: ["/bin/false"]))
    pairs, notes = _whole.run_rows("cliffs", [broken], small=True)
    assert (pairs, notes) == ([], ["'import stakes' failed at 1: x: exit status 1"])


@pytest.mark.parametrize("most", [(1e-9, 1e12), (1e9, 1.0)])
def test_a_row_above_the_most_that_it_may_take_is_noted(most):
    (row,) = chosen("import stakes")
    pairs, notes = _whole.run_rows("cliffs", [replace(row, most=most)], small=True)
    assert (len(pairs), len(notes)) == (1, 1)
    assert notes[0].startswith("'import stakes' took ")
    assert _whole.run_rows("cliffs", [replace(row, most=(1e9, 1e12))], small=True)[1] == []


@pytest.mark.parametrize(("ratio", "lost"), [(2.0, False), (2.6, False), (2.8, True), (1.0, False)])
def test_a_loss_of_more_than_a_third_is_told(ratio, lost):
    found = _whole.losses([replace(MEASURED, ratio=ratio)], _whole.records([MEASURED]))
    assert bool(found) == lost
    assert _whole.losses([MEASURED], []) == []


def test_growth_is_the_exponent_of_a_power():
    pairs = [replace(MEASURED, size=n, cpu=3e-6 * n**1.5) for n in (10, 100, 1000)]
    assert _whole.growth(pairs) == pytest.approx(1.5)
    assert _whole.to_table(pairs).splitlines()[-1].endswith("| 1.50 |")


def test_check_fails_on_a_loss_and_write_keeps_other_lines(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cliffs, "TABLE", tmp_path / "cliffs.json")
    monkeypatch.setattr(cliffs, "run_rows", lambda *_, **__: ([MEASURED], []))
    monkeypatch.setattr(cliffs, "ROWS", chosen("compare"))
    ask = {"only": "", "small": True, "check": False, "write": False}
    others = {"another": [1], HERE: _whole.records([replace(MEASURED, name="other")])}
    cliffs.TABLE.write_text(json.dumps(others), encoding="utf-8")
    cliffs.run(Namespace(**ask | {"write": True}))
    tables = json.loads(cliffs.TABLE.read_text(encoding="utf-8"))
    assert (tables["another"], [line["name"] for line in tables[HERE]]) == ([1], ["other", "compare"])
    cliffs.run(Namespace(**ask | {"check": True}))
    monkeypatch.setattr(cliffs, "run_rows", lambda *_, **__: ([replace(MEASURED, ratio=9.0)], []))
    with pytest.raises(SystemExit, match="compare at 100: 9 x its limit, 2 x committed"):
        cliffs.run(Namespace(**ask | {"check": True}))
    assert "| compare | 100 |" in capsys.readouterr().out


def test_a_loss_that_is_gone_when_measured_anew_is_not_told(tmp_path, monkeypatch):
    monkeypatch.setattr(cliffs, "TABLE", tmp_path / "cliffs.json")
    cliffs.TABLE.write_text(json.dumps({HERE: _whole.records([MEASURED])}), encoding="utf-8")
    ratios = iter([9.0, 2.1, 9.0])
    monkeypatch.setattr(cliffs, "run_rows", lambda *_, **__: ([replace(MEASURED, ratio=next(ratios))], []))
    monkeypatch.setattr(cliffs, "ROWS", chosen("compare"))
    cliffs.run(Namespace(only="", small=True, check=True, write=False))
    assert next(ratios) == 9.0


def test_ratios_of_another_kind_of_processor_are_no_check(tmp_path, monkeypatch):
    monkeypatch.setattr(cliffs, "TABLE", tmp_path / "cliffs.json")
    monkeypatch.setattr(cliffs, "instructions", lambda: "newer")
    cliffs.TABLE.write_text(json.dumps({"older": _whole.records([MEASURED])}), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"ratios of processors with older, none with newer: add --write\."):
        cliffs.run(Namespace(only="", small=True, check=True, write=False))


def test_the_ratio_is_the_middle_one_of_neighbouring_runs():
    ours, limit = [(2.0, 5), (9.0, 4), (3.0, 6)], [(1.0, 2), (3.0, 3), (1.0, 1)]
    assert _whole._summary(ours, limit) == (2.0, 4, 1.0, 1, 3.0)


def test_every_row_of_the_committed_table_exists():
    names = {row.name for row in (*cliffs.ROWS, cliffs.BOOSTED)}  # the last is in ROWS only beside XGBoost
    tables = json.loads(Path(cliffs.__file__).with_name("cliffs.json").read_text(encoding="utf-8"))
    assert {line["name"] for lines in tables.values() for line in lines} <= names
