"""MAPIE: Spiegelhalter's statistic, the expected calibration error of its own bins, control of precision."""

import warnings

import numpy as np
from mapie.metrics.calibration import expected_calibration_error, spiegelhalter_statistic
from mapie.risk_control import BinaryClassificationController, precision

from conformance._inputs import load
from conformance._record import Record

INPUTS = ["calibrated", "overconfident", "underconfident", "rare", "tied", "small", "cells", "simulated"]
BINS = (5, 10, 20)
CUTS = [0.2, 0.3, 0.4]
LEAST = 1e-9  # 1 less the level keeps seven digits


def _control_precision(record, name):
    """Ask for the p-value of a precision below a target: at its level the exact lower limit is that very target."""
    data, target = load(name), round(0.8 * float(np.mean(load(name)["y"][load(name)["p"] >= CUTS[0]])), 2)
    for cut in CUTS:
        given = {"target_level": target, "confidence_level": 0.9, "list_predict_params": np.array([cut])}
        found = BinaryClassificationController(lambda p: np.column_stack([1 - p, p]), precision, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where no threshold passes
            p_value = float(found.calibrate(data["p"], data["y"]).p_values[0, 0])
        if not LEAST < p_value <= 0.25:
            continue  # the level of two sides with that error on each is at least a half
        asked = {"arguments": {"list_predict_params": [cut]}, "threshold": cut, "confidence_level": 1 - 2 * p_value}
        function = "BinaryClassificationController, p-value"
        record.add(function, name, "precision_limit", target, tolerance=1e-6, **asked)


def make():
    """Return the values."""
    record = Record("MAPIE")
    for name in INPUTS:
        _control_precision(record, name)
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
    return record


if __name__ == "__main__":
    make().write()
