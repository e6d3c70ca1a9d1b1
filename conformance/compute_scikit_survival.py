"""scikit-survival: Brier score at a horizon and over several, cumulative dynamic AUC, Kaplan-Meier estimates."""

import numpy as np
from sksurv.metrics import brier_score, cumulative_dynamic_auc, integrated_brier_score
from sksurv.nonparametric import kaplan_meier_estimator
from sksurv.util import Surv

from conformance._inputs import load
from conformance._record import Record

HORIZONS = {"survival": (0.505, 1.005, 1.505), "df_surv": (1.0, 1.5, 2.0)}
# its weights, beside ours, which sum to the number of rows: the chance of being followed beyond each row's end
BEYOND = {"followed": "beyond"}


def make():
    """Return the values."""
    record = Record("scikit-survival")
    for name, horizons in HORIZONS.items():
        data = load(name)
        followed = Surv.from_arrays(data["event"].astype(bool), data["time"])
        for model in ("p", "q"):
            for horizon in horizons:
                asked = {"horizon": horizon, "model": model}
                value = brier_score(followed, followed, 1 - data[model], [horizon])[1]
                for weights in ({}, {**BEYOND, "per_row": True}):
                    record.add("brier_score", name, "metric", value, name="bounded_brier_loss", **weights, **asked)
                value = cumulative_dynamic_auc(followed, followed, data[model], [horizon])[0]
                asked["name"] = "roc_auc_score"
                for weights in ({}, BEYOND):
                    record.add("cumulative_dynamic_auc", name, "metric", value, **weights, **asked)
            free = np.tile(1 - data[model], (len(horizons), 1)).T
            value = integrated_brier_score(followed, followed, free, horizons)
            asked = {"name": "bounded_brier_loss", "horizons": horizons, "model": model}
            record.add("integrated_brier_score", name, "integrated", value, **asked)
        times, free = kaplan_meier_estimator(data["event"].astype(bool), data["time"])
        for horizon in horizons:
            value = 1 - free[np.searchsorted(times, horizon, side="right") - 1]
            record.add("kaplan_meier_estimator", name, "followed", value, read="prevalence", horizon=horizon)
    return record


if __name__ == "__main__":
    make().write()
