"""scores: Murphy diagrams, Brier score, isotonic regression."""

import numpy as np
import xarray as xr
from scores import categorical, probability

from conformance._inputs import load
from conformance._record import BETWEEN, Record

CUTS = [0.1, 0.2, 0.35, 0.6]
COLUMNS = {
    "sensitivity": "probability_of_detection",
    "specificity": "specificity",
    "ppv": "success_ratio",
    "npv": "negative_predictive_value",
    "share_flagged": "forecast_rate",
}
MEASURES = {
    "jaccard": "critical_success_index",
    "kappa": "heidke_skill_score",
    "f1": "f1_score",
    "accuracy": "fraction_correct",
}


def _contingency(record, name, p, y):
    tables = [categorical.BinaryContingencyManager(p >= cut, y == 1) for cut in CUTS]
    for question, names in (("counted", COLUMNS), ("measured", MEASURES)):
        for ours, theirs in names.items():
            asked = {"at": CUTS, "column" if question == "counted" else "measure": ours}
            record.add(theirs, name, question, [getattr(table, theirs)().item() for table in tables], **asked)


def make():
    """Return the values."""
    record = Record("scores")
    for name in ("calibrated", "overconfident", "rare", "flares"):
        data = load(name)
        y, p = (xr.DataArray(data[key].astype(float), dims="row") for key in "yp")
        found = probability.murphy_score(p, y, BETWEEN, functional="expectile", alpha=0.5)["total"].to_numpy()
        # at alpha = 1/2 an expectile is a mean, and its score the half of the mean's
        record.add("murphy_score", name, "elementary", found, at=BETWEEN, share=0.5)
        record.add("brier_score", name, "metric", probability.brier_score(p, y).item(), name="bounded_brier_loss")
        record.add("roc_auc", name, "metric", probability.roc_auc(p, y).item(), name="roc_auc_score")
        value = probability.relative_economic_value(p, y, cost_loss_ratios=CUTS, probability_thresholds=CUTS)
        values = [value.sel(cost_loss_ratio=cut, probability_threshold=cut).item() for cut in CUTS]
        record.add("relative_economic_value", name, "skills", values, at=CUTS)
        _contingency(record, name, p, y)
        fitted = probability.isotonic_fit(data["p"], data["y"].astype(float))["regression_func"](data["p"])
        value = np.mean((fitted - data["y"]) ** 2)
        record.add("isotonic_fit", name, "metric", value, name="bounded_brier_loss", rule="optimal")
    return record


if __name__ == "__main__":
    make().write()
