"""The validation study of the documentation beside R: ``python -m conformance.validation_study FOLDER``.

FOLDER holds what ``Rscript conformance/validation_study.R FOLDER`` wrote: ``gbsg.csv``, the rows and their risks, and
``r.csv``, what riskRegression and survival say of them. Both columns of numbers are kept in ``validation_study.json``.
"""

import csv
import json
import math
import re
import sys
from pathlib import Path

import numpy as np

from stakes import TimeToEvent, evaluate
from stakes.evaluation import evaluate_horizons

KEPT = Path(__file__).with_suffix(".json")
HORIZONS = (1, 3, 5)
MODELS = ("clinical", "with_pgr")
VERSIONS = "survival 3.5.3 and riskRegression 2022.11.28 of R 4.2.2"
CLOSE = 1e-9  # relative, of every value; errors and concordance differ for reasons that the page gives


def read(path):
    """Return the records of a CSV file."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ours(rows):
    """Return our value and standard error by model, horizon and measure."""
    columns = {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}
    outcome = TimeToEvent(event=columns["event"] == 1.0, time=columns["years"], horizon=HORIZONS[-1])
    risks = {model: np.stack([columns[f"{model}_{h}"] for h in HORIZONS], axis=1) for model in MODELS}
    result = evaluate_horizons(outcome, risks, horizons=HORIZONS)
    found = {}
    for model, at in result.estimates.items():
        for horizon, estimates in zip(HORIZONS, at, strict=True):
            found |= {(model, horizon, key): (each.value, each.standard_error) for key, each in estimates.items()}
            found[model, horizon, "event_rate"] = (outcome.at(horizon).prevalence, math.nan)
    for row in result.differences().rows:
        found[row["models"], row["horizon"], row["measure"]] = (row["difference"], math.nan)
    for row in result.concordance().rows:
        found |= {(row["model"], None, key): (row[key], math.nan) for key in ("harrell_c", "uno_c")}
    models = {model: risk[:, -1] for model, risk in risks.items()}
    table = evaluate(outcome, models, costs=(0.2, 0.5)).clinical_table([0.2, 0.3, 0.4, 0.5])
    for record in table._records():
        benefits = {key: value for key, value in record.items() if re.fullmatch(r"net_benefit_at_[.\d]+", key)}
        found |= {(record["model"], HORIZONS[-1], key): (value, math.nan) for key, value in benefits.items()}
    return found


def compared(folder):
    """Return one record for each of R's values, with ours beside it."""
    mine = ours(read(Path(folder) / "gbsg.csv"))
    records = []
    for row in read(Path(folder) / "r.csv"):
        measure = row["measure"]
        horizon = None if measure.endswith("_c") else int(row["horizon"])
        value, error = mine[row["model"], horizon, measure]
        record = {"model": row["model"], "horizon": horizon, "measure": measure, "stakes": value}
        record["r"] = float(row["value"])
        if row["error"] != "NA" and not math.isnan(error):
            record |= {"stakes_error": error, "r_error": float(row["error"])}
        records.append(record)
    return records


def main(folder):
    """Compare, keep the numbers, and fail where a value that should be the same is not."""
    records = compared(folder)
    apart = [r for r in records if not math.isclose(r["stakes"], r["r"], rel_tol=CLOSE) and r["measure"] != "uno_c"]
    for record in records:
        print(json.dumps(record))
    if apart:
        sys.exit(f"not as R has it: {apart}")
    KEPT.write_text(json.dumps({"computed_by": VERSIONS, "values": records}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
