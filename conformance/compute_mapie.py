"""MAPIE: Spiegelhalter's statistic and the expected calibration error of its own bins."""

from mapie.metrics.calibration import expected_calibration_error, spiegelhalter_statistic

from conformance._inputs import load
from conformance._record import Record

INPUTS = ["calibrated", "overconfident", "underconfident", "rare", "tied", "small", "cells", "simulated"]
BINS = (5, 10, 20)


def main():
    """Write the values."""
    record = Record("MAPIE")
    for name in INPUTS:
        for column in [column for column in "pq" if column in load(name)]:
            y, p = load(name)["y"], load(name)[column]
            model = {"model": "q"} if column == "q" else {}
            value = spiegelhalter_statistic(y, p)
            record.add("spiegelhalter_statistic", name, "spiegelhalter", value, tolerance=1e-9, read="z", **model)
            for bins in BINS:
                # its num_bins are the edges, 0 and 1 among them
                arguments = {"num_bins": bins + 1, "split_strategy": "uniform"}
                value = expected_calibration_error(y, p, **arguments)
                asked = {"read": "expected_calibration_error", "n_bins": bins, "binning": "uniform", **model}
                record.add("expected_calibration_error", name, "binned", value, arguments=arguments, **asked)
    record.write()


if __name__ == "__main__":
    main()
