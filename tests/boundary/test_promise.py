"""The replication of the promise runs and keeps its bounds on a few data sets."""

from __future__ import annotations

import pytest

from replications import boundary_promise


@pytest.mark.parametrize("method", boundary_promise.METHODS)
def test_true_precision_is_near_the_promise(method):
    broken, abstained, recall, precision = boundary_promise.simulate("evidence", method, 3, seed=0)
    assert 0 <= broken <= 1
    assert abstained <= 1 / 3
    assert 0.05 < recall < 0.25
    assert abs(precision - 0.9) < (0.04 if method == "plain, 11 levels" else 0.03)
