"""A pytest plugin for a second run with more packages installed: what passed without them is not run again.

``PASSED_TESTS`` names a file. Where it is absent, the tests that pass are written to it; where it is there, they are
left out. A test that passed without a package did not need it; tests that need one were skipped and run now.

``CASES`` says how many cases of each parametrised test run, for runs on other versions of the same libraries: those
whose names have the smallest checksums, the same in every run. `WHOLE` has the tests of which each case is about what
versions change: the frames and engines that rows come in, the checks of scikit-learn's estimators, its metrics.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from pathlib import Path

import pytest

_FILE = Path(os.environ["PASSED_TESTS"])
_BEFORE = frozenset(_FILE.read_text(encoding="utf-8").splitlines()) if _FILE.exists() else frozenset()
_CASES = int(os.environ.get("CASES", "0"))
_PASSED: set[str] = set()
WHOLE = ("tests/tables/", "tests/evaluation/test_every_engine.py", "tests/metrics/test_common.py")
WHOLE += ("tests/test_classifiers.py",)


def some_cases(names: list[str], most: int) -> set[str]:
    """Return the tests of a list that run, where at most so many cases of each parametrised test do."""
    cases = defaultdict(list)
    for name in names:
        cases[name if name.startswith(WHOLE) else name.partition("[")[0]].append(name)
    return {name for each in cases.values() for name in sorted(each, key=lambda name: zlib.crc32(name.encode()))[:most]}


@pytest.hookimpl(trylast=True)  # after -m, or all cases that are kept might be among those that it leaves out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before, and all but some cases of each parametrised test."""
    names = [item.nodeid for item in items]
    kept = (some_cases(names, _CASES) if _CASES else set(names)) - _BEFORE
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    items[:] = [item for item in items if item.nodeid in kept]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what passes."""
    if report.when == "call" and report.passed:
        _PASSED.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write it down, once: workers have no list of their own."""
    if not _BEFORE and not hasattr(session.config, "workerinput"):
        _FILE.write_text("".join(f"{name}\n" for name in sorted(_PASSED)), encoding="utf-8")
