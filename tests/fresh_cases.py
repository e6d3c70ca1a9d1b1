"""Cases of the oracle that a seed of the day makes and rounding decides."""

import os

import numpy as np


def costs_of_rows(case):
    """Return the expected costs of acting, of waiting and of deferring each row."""
    p, c = np.array(case["p"]), case["c"]
    deferred = case["fee"] + case["fpr"] * c * (1 - p) + case["fnr"] * (1 - c) * p
    return c * (1 - p), (1 - c) * p, deferred


def tied_in_fresh(case):
    """Whether a case from another seed than the kept one has a row about which two decisions cost the same."""
    if "STAKES_SEED" not in os.environ:
        return False
    least, second = np.sort(costs_of_rows(case), axis=0)[:2]
    return bool(np.any(second - least < 1e-12))


def gains_tied_in_fresh(case):
    """Whether such a case has two scores that gain the same by deferring, or one that gains nothing, but for rounding.

    The oracle takes a score for the binary fraction that it is, by which 0.13 and 0.45 gain unlike amounts at c = 0.25.
    """
    if "STAKES_SEED" not in os.environ:
        return False
    act, wait, deferred = (cost[np.unique(case["p"], return_index=True)[1]] for cost in costs_of_rows(case))
    gains = np.sort(np.append(np.minimum(act, wait) - deferred, 0.0))
    return bool(np.any(np.diff(gains) < 1e-12))
