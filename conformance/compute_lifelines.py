"""lifelines: Kaplan-Meier estimates at horizons and in bins of the score, and pairs in the right order."""

import numpy as np
from lifelines import KaplanMeierFitter
from lifelines.utils import concordance_index

from conformance._inputs import load
from conformance._record import Record

HORIZONS = {"survival": (0.255, 0.505, 0.755, 1.005, 1.255, 1.505), "df_surv": (0.5, 1.0, 1.5, 2.0)}
BINS = 5


def _risk(time, event, horizon):
    return 1 - KaplanMeierFitter().fit(time, event).predict(horizon)


def _bins(data, model):
    """Rows of each bin of equal width that holds any."""
    place = np.ceil(data[model] * BINS).astype(int)
    return [place == part for part in np.unique(place)]


def make():
    """Return the values."""
    record = Record("lifelines")
    for name, horizons in HORIZONS.items():
        data = load(name)
        for horizon in horizons:
            value = _risk(data["time"], data["event"], horizon)
            record.add("KaplanMeierFitter", name, "followed", value, read="prevalence", horizon=horizon)
    for name, model, horizons in (("survival", "p", (0.505, 1.005)), ("survival", "q", (0.505, 1.005))):
        data = load(name)
        for horizon in horizons:
            values = [_risk(data["time"][rows], data["event"][rows], horizon) for rows in _bins(data, model)]
            asked = {"read": "event_rate", "n_bins": BINS, "binning": "uniform", "horizon": horizon, "model": model}
            record.add("KaplanMeierFitter, in bins", name, "binned", values, **asked)
    for name in ("calibrated", "overconfident", "underconfident", "rare", "tied", "small", "cells", "flares"):
        for model in ("p", "q"):
            data = load(name)
            value = concordance_index(data["y"], data[model])
            record.add("concordance_index, of labels", name, "metric", value, name="roc_auc_score", model=model)
    return record


if __name__ == "__main__":
    make().write()
