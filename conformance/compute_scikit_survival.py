"""scikit-survival: Brier score and cumulative dynamic AUC at a horizon, weighted for censoring."""

from sksurv.metrics import brier_score, cumulative_dynamic_auc
from sksurv.util import Surv

from conformance._inputs import load
from conformance._record import Record

HORIZONS = {"survival": (0.505, 1.005, 1.505), "df_surv": (1.0, 1.5, 2.0)}


def main():
    """Write the values."""
    record = Record("scikit-survival")
    for name, horizons in HORIZONS.items():
        data = load(name)
        followed = Surv.from_arrays(data["event"].astype(bool), data["time"])
        for model in ("p", "q"):
            for horizon in horizons:
                asked = {"horizon": horizon, "model": model}
                value = brier_score(followed, followed, 1 - data[model], [horizon])[1]
                record.add("brier_score", name, "metric", value, name="bounded_brier_loss", **asked)
                value = cumulative_dynamic_auc(followed, followed, data[model], [horizon])[0]
                record.add("cumulative_dynamic_auc", name, "metric", value, name="roc_auc_score", **asked)
    record.write()


if __name__ == "__main__":
    main()
