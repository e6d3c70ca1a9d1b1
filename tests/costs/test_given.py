"""What ``costs=`` and ``bounds=`` accept, and what they say to everything else."""

import numpy as np
import pytest

from stakes import costs
from stakes.costs import as_bounds, as_costs

BROKEN_PAIRS = {
    "text": ("0.1:0.3", r"got '0.1:0.3'; pass numbers, not text, such as \(0.02, 0.10\)"),
    "bytes": (b"ab", "got b'ab'"),
    "None": (None, "got None"),
    "three numbers": ((0.1, 0.2, 0.3), r"got \(0.1, 0.2, 0.3\)"),
    "pair of text": (("0.1", "0.3"), r"got \('0.1', '0.3'\)"),
    "pair of truth values": ((False, True), r"got \(False, True\)"),
    "percent": ((2, 10), r"0 <= low < high <= 1, got \(2, 10\); 2 to 10% is \(0.02, 0.1\)"),
    "reversed": ((0.3, 0.1), r"got \(0.3, 0.1\); the smaller one comes first"),
    "reversed from 0": ((1.0, 0.0), r"got \(1, 0\); the smaller one comes first"),
    "equal at 0": ((0.0, 0.0), "one threshold alone is no range"),
    "percent from 0 to 100": ((0, 100), r"got \(0, 100\); 0 to 100% is \(0, 1\)"),
    "beyond percents": ((0, 101), r"got \(0, 101\)\.$"),
    "equal": ((0.1, 0.1), "one threshold alone is no range"),
    "nan": ((float("nan"), 0.1), r"got \(nan, 0.1\)\.$"),
    "mapping": ({"low": 0.1, "high": 0.2}, "got {'low'"),
    "ragged": ([(0.1, 0.2), 0.3], r"got \[\(0.1"),
    "matrix": (np.zeros((2, 2)), "got array"),
}


@pytest.mark.parametrize(("given", "message"), BROKEN_PAIRS.values(), ids=BROKEN_PAIRS)
def test_what_is_no_pair_is_refused_by_name(given, message):
    with pytest.raises(ValueError, match=message) as error:
        as_bounds(given, "limits")
    assert str(error.value).startswith("limits must ")
    with pytest.raises(ValueError, match=message) as error:
        as_costs(given)
    assert str(error.value).startswith("costs must ")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (10, r"costs must lie in \[0, 1\], got 10; 10% is 0.1"),
        (-0.1, r"costs must lie in \[0, 1\], got -0.1"),
        (float("nan"), r"costs must lie in \[0, 1\], got nan"),
        (True, "costs must be a cost distribution, .* got True"),
        (costs.Uniform, "got <class .*; call it with its parameters"),
    ],
)
def test_what_is_no_cost_ratio_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        as_costs(given)


@pytest.mark.parametrize("given", [(0.1, 0.3), [0.1, 0.3], np.array([0.1, 0.3]), (np.float64(0.1), 0.3)])
def test_a_pair_is_a_uniform_range(given):
    assert as_costs(given) == costs.Uniform(0.1, 0.3)
    assert as_bounds(given) == (0.1, 0.3)
    assert all(type(end) is float for end in as_bounds(given))


@pytest.mark.parametrize("given", [0.25, np.float32(0.25), np.array(0.25)])
def test_a_number_is_a_fixed_cost_ratio(given):
    assert as_costs(given) == costs.Fixed(0.25)


def test_a_distribution_stays_as_it_is():
    measure = costs.Beta(2, 8)
    assert as_costs(measure) is measure
