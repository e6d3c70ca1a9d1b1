"""A pytest plugin for a second run with more packages installed: what passed without them is not run again.

``PASSED_TESTS`` names a file. Where it is absent, the tests that pass are written to it; where it is there, they are
left out. A test that passed without a package did not need it; tests that need one were skipped and run now.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_FILE = Path(os.environ["PASSED_TESTS"])
_BEFORE = frozenset(_FILE.read_text(encoding="utf-8").splitlines()) if _FILE.exists() else frozenset()
_PASSED: set[str] = set()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before."""
    again = [item for item in items if item.nodeid in _BEFORE]
    if again:
        config.hook.pytest_deselected(items=again)
        items[:] = [item for item in items if item.nodeid not in _BEFORE]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what passes."""
    if report.when == "call" and report.passed:
        _PASSED.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write it down, once: workers have no list of their own."""
    if not _BEFORE and not hasattr(session.config, "workerinput"):
        _FILE.write_text("".join(f"{name}\n" for name in sorted(_PASSED)), encoding="utf-8")
