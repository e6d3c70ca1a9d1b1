"""netcal: expected, average and maximum calibration error over bins of equal width and of equal size."""

from netcal.metrics import ACE, ECE, MCE

from conformance._inputs import load
from conformance._record import Record

INPUTS = ["calibrated", "overconfident", "underconfident", "rare", "small", "tied", "cells", "simulated"]
BINS = (5, 10, 15)


def make():
    """Return the values."""
    record = Record("netcal")
    for name in INPUTS:
        data = load(name)
        for bins in BINS:
            asked = {"n_bins": bins, "binning": "uniform"}
            for measure, of in ((ACE, "mean"), (MCE, "largest")):
                value = measure(bins).measure(data["p"], data["y"])
                record.add(measure.__name__, name, "gaps", value, arguments={"bins": bins}, of=of, **asked)
            value = ECE(bins).measure(data["p"], data["y"])
            read = "expected_calibration_error"
            record.add("ECE", name, "binned", value, arguments={"bins": bins}, read=read, **asked)
            if len(data["y"]) % bins or len(set(data["p"])) < len(data["y"]):
                continue  # bins of equal size need as many rows in each, and no ties
            arguments = {"bins": bins, "equal_intervals": False}
            value = ECE(**arguments).measure(data["p"], data["y"])
            record.add("ECE", name, "binned", value, arguments=arguments, read=read, n_bins=bins, binning="quantile")
    return record


if __name__ == "__main__":
    make().write()
