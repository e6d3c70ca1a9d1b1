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

# Without bytecode on disk each process, and each program that a test starts, would compile all that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish():
    """Take what was collected, which stays to the end, out of the rounds of the garbage collector."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown():
    """Close the pictures that a test or an example opened, where matplotlib was used at all."""
    try:
        return (yield)
    finally:
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
