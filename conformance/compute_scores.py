"""scores: Murphy diagrams, Brier score, isotonic regression."""

import numpy as np
import xarray as xr
from scores import probability

from conformance._inputs import load
from conformance._record import BETWEEN, Record


def main():
    """Write the values."""
    record = Record("scores")
    for name in ("calibrated", "overconfident", "rare", "flares"):
        data = load(name)
        y, p = (xr.DataArray(data[key].astype(float), dims="row") for key in "yp")
        found = probability.murphy_score(p, y, BETWEEN, functional="expectile", alpha=0.5)["total"].to_numpy()
        # at alpha = 1/2 an expectile is a mean, and its score the half of the mean's
        record.add("murphy_score", name, "elementary", found, at=BETWEEN, share=0.5)
        record.add("brier_score", name, "metric", probability.brier_score(p, y).item(), name="bounded_brier_loss")
        fitted = probability.isotonic_fit(data["p"], data["y"].astype(float))["regression_func"](data["p"])
        value = np.mean((fitted - data["y"]) ** 2)
        record.add("isotonic_fit", name, "metric", value, name="bounded_brier_loss", rule="optimal")
    record.write()


if __name__ == "__main__":
    main()
