"""Runs on the oldest libraries take some cases of each parametrised test; the shares are all of them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = Path(__file__).resolve().parents[1] / ".ci"
TESTS = """
import pytest

@pytest.mark.parametrize("case", range(9))
def test_many(case):
    pass

@pytest.mark.parametrize("case", [pytest.param(k, marks=pytest.mark.slow if k < 8 else []) for k in range(9)])
def test_mostly_slow(case):
    pass

def test_alone():
    pass
"""


def load(name):
    spec = importlib.util.spec_from_file_location(f"{name}_here", CHECKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def only_new(tmp_path, monkeypatch):
    monkeypatch.setenv("PASSED_TESTS", str(tmp_path / "passed.txt"))
    return load("only_new")


def test_cases_are_the_same_whatever_else_runs(only_new):
    names = [f"tests/test_a.py::test_b[{k}-x]" for k in range(50)]
    kept = only_new.some_cases(["tests/test_a.py::test_c", *names], 2)
    assert len(kept) == 3
    assert only_new.some_cases([*reversed(names), "tests/test_a.py::test_c", "tests/test_d.py::test_b[1]"], 2) >= kept
    whole = [name.replace("test_a.py", "tables/test_a.py") for name in names]
    assert only_new.some_cases(whole, 2) == set(whole)


def test_every_file_that_runs_whole_is_there(only_new):
    assert all((CHECKS.parent / place).exists() for place in only_new.WHOLE)


def test_no_test_is_left_out_as_a_whole_and_none_runs_again(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n", encoding="utf-8")
    environment = {**os.environ, "CASES": "2", "PASSED_TESTS": str(tmp_path / "passed"), "PYTHONPATH": str(CHECKS)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "only_new", "-p", "no:xdist", "-m", "not slow", "."]

    def said():
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return run.stdout.splitlines()[-1]

    assert said().startswith("4 passed, 15 deselected")
    passed = {line.partition("[")[0] for line in (tmp_path / "passed").read_text(encoding="utf-8").splitlines()}
    assert passed == {f"test_it.py::test_{name}" for name in ("many", "mostly_slow", "alone")}
    assert said().startswith("19 deselected")


SOME = """
import pytest

@pytest.mark.parametrize("case", range(30))
def test_drawn(case):
    pass
"""


def test_each_test_is_in_one_share(tmp_path, monkeypatch):
    (tmp_path / "test_it.py").write_text(SOME, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "share_of_tests", "-p", "no:xdist", "-v", "."]
    environment = {**os.environ, "SHARE": "2/3", "PYTHONPATH": str(CHECKS)}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    ran = {line.split()[0] for line in run.stdout.splitlines() if " PASSED" in line}

    monkeypatch.setenv("SHARE", "1/1")
    in_share = load("share_of_tests").in_share
    names = [f"test_it.py::test_drawn[{case}]" for case in range(30)]
    shares = [{name for name in names if in_share(name, which, 3)} for which in (1, 2, 3)]
    assert ran == shares[1]
    assert 0 < len(ran) < 30
    assert sorted(name for share in shares for name in share) == sorted(names)


def test_a_share_of_few_tests_may_hold_none_of_them(tmp_path, monkeypatch):
    (tmp_path / "test_it.py").write_text("def test_alone():\n    pass\n", encoding="utf-8")
    monkeypatch.setenv("SHARE", "1/1")
    mine = next(which for which in (1, 2) if load("share_of_tests").in_share("test_it.py::test_alone", which, 2))
    for share, chosen, code in ((mine, "alone", 0), (3 - mine, "alone", 0), (1, "nothing", 5)):
        command = [sys.executable, "-m", "pytest", "-p", "share_of_tests", "-p", "no:xdist", "-k", chosen, "."]
        environment = {**os.environ, "SHARE": f"{share}/2", "PYTHONPATH": str(CHECKS), "PYTEST_ADDOPTS": ""}
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == code, run.stdout


@pytest.mark.parametrize("said", ["", "0/3", "4/3", "2", "2/", "a/b", "-1/3"])
def test_a_share_that_is_none_is_refused(monkeypatch, said):
    monkeypatch.setenv("SHARE", "1/1")
    share_of = load("share_of_tests").share_of
    assert share_of("2/3") == (2, 3)
    with pytest.raises(ValueError, match=r"^SHARE must name a share as 2/3 does, .* got '" + said):
        share_of(said)
