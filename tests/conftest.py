"""Fixtures that reach what lies outside the package: reference values, published data, a browser."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from forked import Forker
from hypothesis import settings
from slow import is_listed, listed

# They hold no tests, and need the libraries that read files.
collect_ignore = ["file_cases.py", "mutants.py", "mutated.py", "slow.py", "soak.py", "soak_files.py", "soak_texts.py"]

# No deadline: a busy machine is not a bug. On a build server the examples are the same in every run.
settings.register_profile("local", deadline=None, max_examples=50)
settings.register_profile("server", deadline=None, derandomize=True, max_examples=50)
# Old versions of libraries differ in what they offer, not in mathematics: fewer examples tell.
settings.register_profile("few", deadline=None, derandomize=True, max_examples=15)
settings.load_profile(os.environ.get("STAKES_EXAMPLES") or ("server" if os.environ.get("CI") else "local"))


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items):
    """Mark the tests that are listed as slow."""
    lines = listed()
    for item in items:
        if is_listed(item.nodeid, lines):
            item.add_marker("slow")


REFERENCE_VARIABLE = "STAKES_REFERENCE_DIR"
BROWSER_VARIABLE = "STAKES_REQUIRE_BROWSER"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def existing(path: Path) -> Path:
    """Return the path, or fail: where a reference folder is named, a missing file is no reason to skip."""
    if not path.exists():
        pytest.fail(f"{path} does not exist, though {REFERENCE_VARIABLE} names its folder.")
    return path


@pytest.fixture(scope="session")
def reference_dir():
    """Return the folder that holds `reference/` and `data/`."""
    named = os.environ.get(REFERENCE_VARIABLE)
    if not named:
        pytest.skip(f"needs the reference values and data: {REFERENCE_VARIABLE} names no folder.")
    return existing(Path(named))


@pytest.fixture(scope="session")
def eval_reference(reference_dir):
    """Return the values of the 34-digit oracle `reference/eval_oracle.py`."""
    path = existing(reference_dir / "reference" / "eval_reference.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def outcomes_reference(reference_dir):
    """Return the values of `reference/outcomes_oracle.py`: time to event, costs per row, partly verified labels."""
    path = existing(reference_dir / "reference" / "outcomes_reference.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def actions_reference(reference_dir):
    """Return the values of `reference/actions_oracle.py`: selection, value of information, many actions."""
    path = existing(reference_dir / "reference" / "actions_reference.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def intervals_reference(reference_dir):
    """Return the 20-digit values of `reference/intervals_oracle.py`."""
    path = existing(reference_dir / "reference" / "intervals_reference.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def load_data(reference_dir):
    """Return a function that reads a data file by name: `load_data("dcurves/df_binary")`."""

    def load(name):
        pandas = pytest.importorskip("pandas")
        return pandas.read_csv(existing(reference_dir / "data" / f"{name}.csv.gz"))

    return load


@pytest.fixture(scope="session")
def forker():
    """Return what starts programs in forks of one process that has imported what they need."""
    if not hasattr(os, "fork"):
        pytest.skip("needs a system that forks.")
    found = Forker()
    yield found
    found.close()


@pytest.fixture(scope="session")
def browser():
    """Return the path of a headless-capable Chromium."""
    for name in BROWSERS:
        path = shutil.which(name)
        if path is not None:
            return path
    message = f"needs a browser: none of {', '.join(BROWSERS)} is installed."
    if os.environ.get(BROWSER_VARIABLE) == "1":
        pytest.fail(message)
    return pytest.skip(message)
