"""torchmetrics: confusion matrices at thresholds, calibration error, ranking; in double precision where it takes it."""

import torch
from torchmetrics.functional import classification

from conformance._inputs import load
from conformance._record import Record

INPUTS = ["calibrated", "overconfident", "rare", "tied", "small", "cells"]
CUTS = [0.2, 0.35, 0.6]
MEASURES = {
    "f1": classification.binary_f1_score,
    "jaccard": classification.binary_jaccard_index,
    "mcc": classification.binary_matthews_corrcoef,
    "kappa": classification.binary_cohen_kappa,
    "precision": classification.binary_precision,
    "recall": classification.binary_recall,
    "accuracy": classification.binary_accuracy,
}
SINGLE = 1e-6  # counts are divided, and areas summed, in single precision
NORMS = {"l1": None, "max": "largest", "l2": "root mean square"}


def _at_thresholds(record, name, p, y):
    for measure, function in MEASURES.items():
        values = [function(p, y, threshold=cut).item() for cut in CUTS]
        asked = {"at": CUTS, "measure": measure, "tolerance": SINGLE}
        record.add(function.__name__, name, "measured", values, **asked)
    for column, function in (
        ("specificity", classification.binary_specificity),
        ("npv", classification.binary_negative_predictive_value),
    ):
        values = [function(p, y, threshold=cut).item() for cut in CUTS]
        record.add(function.__name__, name, "counted", values, at=CUTS, column=column, tolerance=SINGLE)


def make():
    """Return the values."""
    record = Record("torchmetrics")
    for name in INPUTS:
        p, y = torch.tensor(load(name)["p"]), torch.tensor(load(name)["y"])
        _at_thresholds(record, name, p, y)
        value = classification.binary_auroc(p, y).item()
        record.add("binary_auroc", name, "metric", value, name="roc_auc_score", tolerance=SINGLE)
        value = classification.binary_average_precision(p, y).item()
        asked = {"name": "precision_recall_curve", "read": "average_precision", "tolerance": SINGLE}
        record.add("binary_average_precision", name, "of_curve", value, **asked)
        for norm, of in NORMS.items():
            value = classification.binary_calibration_error(p, y, n_bins=10, norm=norm).item()
            asked = {"n_bins": 10, "binning": "uniform", "arguments": {"n_bins": 10, "norm": norm}}
            how = {"of": of} if of else {"read": "expected_calibration_error"}
            record.add("binary_calibration_error", name, "gaps" if of else "binned", value, **how, **asked)
    return record


if __name__ == "__main__":
    make().write()
