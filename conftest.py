"""What every test and every docstring example has in common."""

import gc
import os
import sys

import pytest

# Before numpy is imported: as many processes run tests as there are processors, and threads of theirs would wait for
# each other. Programs that a test starts inherit it.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")


def pytest_collection_finish():
    """Take what was collected, which stays to the end, out of the rounds of the garbage collector."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def close_figures():
    """Close the pictures that a test or an example opened, where matplotlib was used at all."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
