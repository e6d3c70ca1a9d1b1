"""What every test and every docstring example has in common."""

import sys

import pytest


@pytest.fixture(autouse=True)
def close_figures():
    """Close the pictures that a test or an example opened, where matplotlib was used at all."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
