"""dcurves for Python: net benefit and interventions avoided, with harm, stated prevalence, and censored follow-up."""

import warnings

import numpy as np
import pandas as pd
from dcurves import dca

from conformance._inputs import load
from conformance._record import THRESHOLDS, Record

HARM = 0.02


def _points(data, thresholds=THRESHOLDS, **options):
    """Return the rows of the model at the thresholds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dca(data=data, outcome="y", modelnames=["m"], thresholds=thresholds, nper=1, **options)
    return found[found["model"] == "m"].sort_values("threshold")


def _binary(record):
    for name, model in (("calibrated", "p"), ("overconfident", "p"), ("rare", "q"), ("tied", "p"), ("df_binary", "p")):
        data = pd.DataFrame({"y": load(name)["y"], "m": load(name)[model]})
        found = _points(data)
        asked = {"at": THRESHOLDS, "model": model}
        record.add("dca", name, "curve", found["net_benefit"], name="net_benefit_curve", **asked)
        avoided = found["net_intervention_avoided"]
        record.add("dca, avoided", name, "curve", avoided, name="interventions_avoided_curve", per=1, **asked)
    for name, model in (("tied", "p"), ("df_binary", "q")):
        data = pd.DataFrame({"y": load(name)["y"], "m": load(name)[model]})
        found = _points(data, [0.0, 0.1, 0.2])["net_benefit"]
        record.add("dca, from 0", name, "curve", found, name="net_benefit_curve", at=[0.0, 0.1, 0.2], model=model)
    data = pd.DataFrame({"y": load("calibrated")["y"], "m": load("calibrated")["p"]})
    found = _points(data, THRESHOLDS[::3], harm={"m": HARM})["net_benefit"]
    record.add("dca", "calibrated", "curve", found, name="net_benefit_curve", harm=HARM, at=THRESHOLDS[::3])
    data = pd.DataFrame({"y": load("df_case_control")["y"], "m": load("df_case_control")["p"]})
    found = _points(data, prevalence=0.15)["net_benefit"]
    record.add("dca", "df_case_control", "curve", found, name="net_benefit_curve", prevalence=0.15, at=THRESHOLDS)


def _followed(record):
    for name, horizon, model in (("survival", 1.005, "p"), ("df_surv", 1.0, "p"), ("df_surv", 1.5, "q")):
        data = load(name)
        frame = pd.DataFrame({"y": data["event"].astype(bool), "m": data[model], "time": data["time"]})
        thresholds = THRESHOLDS[:20]
        found = _points(frame, thresholds, time=horizon, time_to_outcome_col="time")["net_benefit"].to_numpy()
        known = np.flatnonzero(np.isfinite(found))
        asked = {"at": [thresholds[k] for k in known], "horizon": horizon, "model": model}
        record.add("dca", name, "curve", found[known], name="net_benefit_curve", censoring="acted", **asked)


def make():
    """Return the values."""
    record = Record("dcurves")
    _binary(record)
    _followed(record)
    return record


if __name__ == "__main__":
    make().write()
