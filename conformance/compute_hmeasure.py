"""hmeasure for Python: Hand's H with its default severity ratio and two others."""

import hmeasure

from conformance._inputs import load
from conformance._record import Record


def make():
    """Return the values."""
    record = Record("hmeasure")
    for name in ("calibrated", "overconfident", "rare", "tied", "small", "cells", "flares", "bcsc"):
        data = load(name)
        for model in ("p", "q"):
            for ratio in (None, 0.5, 2.0):
                value = hmeasure.h_score(data["y"], data[model], severity_ratio=ratio)
                asked = {"severity_ratio": ratio} if ratio else {}
                record.add("h_score", name, "metric", value, name="h_measure_score", model=model, **asked)
    return record


if __name__ == "__main__":
    make().write()
