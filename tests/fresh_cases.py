"""Cases of the oracle that a seed of the day makes and rounding decides."""

import os

import numpy as np


def tied_in_fresh(case):
    """Whether a case from another seed than the kept one has a row about which two decisions cost the same."""
    if "STAKES_SEED" not in os.environ:
        return False
    p, c = np.array(case["p"]), case["c"]
    deferred = case["fee"] + case["fpr"] * c * (1 - p) + case["fnr"] * (1 - c) * p
    least, second = np.sort([(1 - c) * p, c * (1 - p), deferred], axis=0)[:2]
    return bool(np.any(second - least < 1e-12))
