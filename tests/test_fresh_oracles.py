"""The seed of the day, and which tests read what the oracles make of it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import fresh_oracles


def test_the_seed_is_the_day_unless_it_is_said():
    day = datetime(2026, 3, 5, 23, 59, tzinfo=UTC)
    assert fresh_oracles.seed_of({}, day) == 20260305
    assert fresh_oracles.seed_of({"STAKES_SEED": ""}, day) == 20260305
    assert fresh_oracles.seed_of({"STAKES_SEED": "17"}, day) == 17


@pytest.mark.parametrize("said", ["-1", "1.5", "today", str(2**31)])
def test_other_seeds_are_refused(said):
    with pytest.raises(ValueError, match="STAKES_SEED must be a whole number"):
        fresh_oracles.seed_of({"STAKES_SEED": said})


def test_some_of_the_oracles_can_be_named(monkeypatch):
    assert fresh_oracles.chosen({}) == fresh_oracles.chosen({"STAKES_ORACLES": " "}) == [*fresh_oracles.ORACLES]
    with pytest.raises(ValueError, match=r"must name some of actions, intervals, outcomes, got eval\."):
        fresh_oracles.chosen({"STAKES_ORACLES": "actions eval"})
    monkeypatch.setenv("STAKES_ORACLES", "outcomes")
    found = [path.name for path in fresh_oracles.readers(Path(__file__).parent)]
    assert "test_row_costs.py" in found
    assert "test_student.py" not in found


def test_every_test_file_that_reads_seeded_values_is_run_and_no_other():
    found = [path.name for path in fresh_oracles.readers(Path(__file__).parent)]
    assert {"test_student.py", "test_refit.py", "test_row_costs.py"} <= set(found)
    assert "test_ranking.py" not in found  # of another oracle, which takes no seed


def test_of_these_files_only_what_takes_such_values_is_run():
    tests = [SimpleNamespace(fixturenames=names) for names in (["a", "intervals_reference"], ["eval_reference"])]
    items = [*tests, SimpleNamespace(name="an example in a docstring")]
    left_out = []
    hook = SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))  # noqa: PLW0108  (by keyword)
    kept = [*items]
    fresh_oracles.pytest_collection_modifyitems(SimpleNamespace(hook=hook), kept)
    assert kept == items[:1]
    assert left_out == items[1:]


def test_values_are_made_by_the_oracles_of_the_folder(tmp_path, monkeypatch):
    reference, folder = tmp_path / "shared", tmp_path / "fresh"
    (reference / "reference").mkdir(parents=True)
    (reference / "data").mkdir()
    program = "import json, sys; json.dump(sys.argv[1:], open(sys.argv[-1], 'w'))"
    (reference / "reference" / "actions_oracle.py").write_text(program)
    monkeypatch.setattr(fresh_oracles, "ORACLES", {"actions": ("--seed", "{seed}", "--out", "{out}")})
    folder.mkdir()
    fresh_oracles.make(reference, 17, folder)
    made = folder / "reference" / "actions_reference.json"
    assert json.loads(made.read_text()) == ["--seed", "17", "--out", str(made)]
    assert (folder / "data").is_dir()
    (reference / "reference" / "actions_oracle.py").write_text("raise SystemExit(1)")
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(SystemExit, match="oracles failed at STAKES_SEED=17: actions"):
        fresh_oracles.make(reference, 17, other)
