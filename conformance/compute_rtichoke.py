"""rtichoke for Python: the performance table over probability thresholds."""

import polars as pl
import rtichoke

from conformance._inputs import load
from conformance._record import Record

COLUMNS = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "ppv",
    "npv": "npv",
    "net_benefit": "net_benefit",
}
STEP = 0.05


def make():
    """Return the values."""
    record = Record("rtichoke")
    for name in ("calibrated", "rare", "tied"):
        data = load(name)
        found = rtichoke.prepare_performance_data(probs={"m": data["p"]}, reals=data["y"], by=STEP)
        found = found.filter(pl.col("chosen_cutoff") > 0).sort("chosen_cutoff")
        for theirs, ours in COLUMNS.items():
            kept = found.filter(pl.col(theirs).is_not_null() & pl.col(theirs).is_not_nan())
            cuts = [round(cut, 2) for cut in kept["chosen_cutoff"].to_list()]
            pairs = [(cut, value) for cut, value in zip(cuts, kept[theirs].to_list(), strict=True) if 0 < cut < 1]
            at, values = zip(*pairs, strict=True)
            record.add(f"prepare_performance_data, {theirs}", name, "counted", values, column=ours, at=list(at))
    return record


if __name__ == "__main__":
    make().write()
