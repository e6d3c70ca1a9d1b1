"""scoringrules: the Brier score of each forecast, and its mean."""

import numpy as np
import scoringrules

from conformance._inputs import load
from conformance._record import Record

INPUTS = ["calibrated", "overconfident", "underconfident", "rare", "tied", "small", "no positives", "no negatives"]


def make():
    """Return the values."""
    record = Record("scoringrules")
    for name in INPUTS:
        for model in ("p", "q"):
            y, p = load(name)["y"], load(name)[model]
            for function, ours in ((scoringrules.brier_score, "brier"), (scoringrules.log_score, "log")):
                rows = function(y, p)
                asked = {"name": f"bounded_{ours}_loss", "model": model}
                record.add(function.__name__, name, "metric", np.mean(rows), **asked)
                if name == "small":
                    record.add(f"{function.__name__}, rows", name, "metric", rows, per_sample=True, **asked)
    return record


if __name__ == "__main__":
    make().write()
