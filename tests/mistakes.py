"""What a mistaken call must end in: an error of ours that names the argument."""

from pathlib import Path

import pytest

import stakes

PACKAGE = Path(stakes.__file__).resolve().parent


def assert_named(argument, call):
    """The call is refused by a ValueError or TypeError that the package itself raises and that names the argument."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert argument in str(caught.value), str(caught.value)
    raised_in = Path(str(caught.traceback[-1].path)).resolve()
    assert raised_in.is_relative_to(PACKAGE), f"{raised_in}: {caught.value}"


def table(cases):
    """Parameters for a test from a mapping of an argument to the mistaken values of it."""
    return [
        pytest.param(name, value, id=f"{name}-{number}")
        for name, values in cases.items()
        for number, value in enumerate(values)
    ]
