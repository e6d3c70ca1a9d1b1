"""The tool that makes small changes to the code: its lists are true, and its changes run."""

import subprocess
import sys
from pathlib import Path

from mutated import ALIKE, SOURCE, mutants

from tests.mutants import ROOMS

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import numpy
from mutated import SOURCE, mutants, put_in_place
from stakes.core.sums import weighted_sum
change = next(each for each in mutants(SOURCE / "core" / "sums.py") if each.statement == "used = weights >= 0.0")
assert weighted_sum(numpy.array([0.0, 1.0]), numpy.array([numpy.inf, 2.0])) == 2.0
assert put_in_place(change)
with numpy.errstate(invalid="ignore"):
    assert numpy.isnan(weighted_sum(numpy.array([0.0, 1.0]), numpy.array([numpy.inf, 2.0])))
size = next(each for each in mutants(SOURCE / "core" / "sums.py") if each.now == "2")
assert not put_in_place(size)  # a default, which no function's code holds
"""


def test_every_change_that_is_said_to_mean_the_same_exists_and_has_a_reason():
    lines = [line for line in ALIKE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    known = {}
    for line in lines:
        path, statement, reason = line.split("  |  ")
        known.setdefault(path, {each.statement for each in mutants(SOURCE / path)})
        assert statement in known[path], line
        assert reason.strip()
    assert len(set(lines)) == len(lines) > 10


def test_every_room_names_files_and_tests_that_exist():
    for patterns, tests in ROOMS.values():
        assert all(list(SOURCE.glob(pattern)) for pattern in patterns)
        assert all((ROOT / test).exists() for test in tests)


def test_a_change_is_put_into_functions_that_other_modules_hold_already():
    path = ":".join(str(ROOT / part) for part in ("tests", "src"))
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env={"PYTHONPATH": path})
