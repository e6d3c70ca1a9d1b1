"""Reference values of the expected-utility oracle."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="session")
def utility_reference(reference_dir):
    """Return the values of `reference/expected_utility_oracle.py`; where the folder is named, they must be there."""
    path = reference_dir / "reference" / "expected_utility_reference.json"
    return json.loads(path.read_text(encoding="utf-8"))
