"""scikit-survival: Brier score at a horizon and over several, cumulative dynamic AUC, Kaplan-Meier estimates."""

import numpy as np
from sksurv.datasets import load_gbsg2
from sksurv.metrics import brier_score, cumulative_dynamic_auc, integrated_brier_score
from sksurv.nonparametric import kaplan_meier_estimator
from sksurv.util import Surv

from conformance._inputs import GIVEN, load
from conformance._record import Record

HORIZONS = {"survival": (0.505, 1.005, 1.505), "df_surv": (1.0, 1.5, 2.0)}
# its weights, beside ours, which sum to the number of rows: the chance of being followed beyond each row's end
BEYOND = {"followed": "beyond"}
# printed in its own tests (tests/test_metrics.py at 0d71616). Brier scores by days of GBSG2's Nottingham prognostic
# index in three groups, each with the Kaplan-Meier estimate of its rows
BRIER = {365: 0.0762922458520448, 730: 0.182536421174199, 1095: 0.220017747254941}
BRIER |= {1460: 0.234133800146671, 1825: 0.233822955042198}
# events, times, scores, a time beyond which no pair counts, and Uno's C
TIMES = (1, 5, 6, 10, 11, 34, 45, 46, 50, 56)
ENDS = ((0, 1, 1, 0, 1, 0, 1, 0, 0, 1), TIMES)
UNO = {
    "data_no_ties": (*ENDS, (5, 8, 11, 19, 34, 12, 3, 9, 12, 20), 55.9, 0.347890360332615),
    "data_tied_risk_1": (*ENDS, (5, 8, 11, 11, 34, 12, 3, 9, 12, 20), 55.9, 0.365629810028969),
    "data_tied_risk_2": (*ENDS, (5, 8, 11, 11, 34, 12, 11, 9, 12, 20), 55.9, 0.387865723332956),
    "data_truncated_2": (
        *((0, 1, 1, 0, 1, 0, 1, 1, 1, 1), TIMES),
        *((5, 8, 11, 19, 34, 12, 3, 9, 12, 18), 45.25, 0.347890361949191),
    ),
    "data_tied_event": (
        *((0, 1, 0, 1, 1, 0, 1, 0, 0, 1), (1, 5, 6, 11, 11, 34, 45, 45, 50, 55)),
        *((5, 8, 11, 19, 34, 12, 3, 9, 12, 18), 54.9, 0.4036321031048623),
    ),
}


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


def _nottingham():
    """Return ends and the index of GBSG2's rows, in three groups."""
    rows, ends = load_gbsg2()
    index = 0.2 * rows["tsize"] / 10 + 1 + rows["tgrade"].map({"I": 1, "II": 2, "III": 3}).astype(int)
    return ends, np.digitize(index, [3.4, np.nextafter(5.4, 6)])


def add_printed(record):
    """Add what its own tests print, on data of its own that are in no file here: only where it is installed."""
    ends, group = _nottingham()
    for days, value in BRIER.items():
        risk = np.zeros(len(group))
        for part in np.unique(group):
            times, free = kaplan_meier_estimator(ends["cens"][group == part], ends["time"][group == part])
            risk[group == part] = 1 - free[np.searchsorted(times, days, side="right") - 1]
        name = f"GBSG2, by {days} days"
        GIVEN[name] = {"event": ends["cens"].astype(int), "time": ends["time"], "p": risk}
        # just beyond: ours would know of a row censored that very day that it was free of an event by then
        asked = {"horizon": days + 1e-9, "per_row": True, "tolerance": 1e-6, "arguments": {"test": "test_brier"}}
        record.add("brier_score, printed", name, "metric", value, name="bounded_brier_loss", **asked, **BEYOND)
    for name, (event, time, score, horizon, value) in UNO.items():
        GIVEN[name] = {"event": event, "time": np.array(time, float), "p": np.array(score) / 100}
        asked = {"horizon": horizon, "read": "uno_c", "tolerance": 1e-7, "arguments": {"test": name}}
        record.add("concordance_index_ipcw, printed", name, "concordance", value, **asked)


if __name__ == "__main__":
    make().write()
