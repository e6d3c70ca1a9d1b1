"""Values that others printed: dcurves in R, the tests of yardstick, papers by triptych's authors, predtools."""

import json
import math
import os
from pathlib import Path

from conformance._inputs import FOLDER, columns
from conformance._record import THRESHOLDS, Record

# Dimitriadis et al. 2024, Brier and log scores with their decompositions, misclassification, AUC: digits as printed
FLARES = {
    ("flares", "p"): (
        (0.144, 0.006, 0.073, 0.211),
        (0.449, 0.027, 0.191, 0.614),
        (0.205, 0.004, 0.102, 0.303),
        0.839,
        0.842,
    ),
    ("flares", "q"): (
        (0.172, 0.014, 0.053, 0.211),
        (0.515, 0.036, 0.135, 0.614),
        (0.263, 0.038, 0.078, 0.303),
        0.781,
        0.791,
    ),
    ("flares-MCSTAT-ASSA", "p"): (
        *((0.193, 0.034, 0.052, 0.211), (0.587, 0.101, 0.128, 0.614), (0.275, 0.042, 0.071, 0.303)),
        *(0.782, 0.790),
    ),
    ("flares-MCSTAT-ASSA", "q"): (
        *((0.184, 0.007, 0.035, 0.211), (math.inf, math.inf, 0.085, 0.614), (0.273, 0.006, 0.036, 0.303)),
        *(0.730, 0.739),
    ),
}
THIRD_DIGIT = 0.000500001
YARDSTICK = {"roc_auc": ("metric", "roc_auc_score"), "mn_log_loss": ("metric", "bounded_log_loss")}
MEASURES = {
    "accuracy": "accuracy",
    "bal_accuracy": "balanced_accuracy",
    "f_meas": "f1",
    "kap": "kappa",
    "mcc": "mcc",
    "ppv": "precision",
    "precision": "precision",
    "recall": "recall",
}


def _dcurves():
    source = "tables of R's dca stored in the tests of dcurves for Python at 168c8b6"
    record = Record("dcurves", version="as stored", source=source, language="R", file="dcurves-r")
    for file, name, given in (
        ("r_case1_results", "df_binary", {"model": "q"}),
        ("r_case2_results", "df_surv", {"model": "p", "horizon": 1.0, "censoring": "acted"}),
        ("r_simple_surv_dca_result_df", "df_surv", {"model": "q", "horizon": 1.5, "censoring": "acted"}),
    ):
        table = columns(f"dcurves/expected/{file}")
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        rows = [row for row in rows if row["variable"] in ("famhistory", "cancerpredmarker")]
        kept = [row for row in rows if round(float(row["threshold"]), 2) in {0.0, *THRESHOLDS}]
        for column, curve in (
            ("net_benefit", "net_benefit_curve"),
            ("net_intervention_avoided", "interventions_avoided_curve"),
        ):
            if column not in table or (column != "net_benefit" and "horizon" in given):
                continue
            told = [row for row in kept if column == "net_benefit" or float(row["threshold"]) > 0]
            told = [row for row in told if row[column] not in ("", "NA")]
            at = [round(float(row["threshold"]), 2) for row in told]
            asked = {**given, "at": at, **({"per": 1} if column != "net_benefit" else {})}
            values = [float(row[column]) for row in told]
            record.add(f"dca, {column}", name, "curve", values, name=curve, **asked)
    record.write()


def _yardstick():
    record = Record("yardstick", version="as stored", source="reference values in its tests at fa91f90", language="R")
    table = columns("tidymodels_predictions/expected/yardstick_reference_values")
    for metric, data, variant, weighted, value, _ in zip(*table.values(), strict=True):
        asked = {"weighted": True} if weighted == "1" else {}
        if data == "hpc_cv" and (metric, variant) == ("mn_log_loss", "multiclass"):
            asked |= {"name": "penalized_log_loss", "penalty": 0.0, "eps": 2.220446049250313e-16}
            record.add(metric, data, "classes", float(value), **asked)
        if metric == "brier_class":
            multi = {"name": "penalized_brier_loss", "penalty": 0.0, "share": 0.5}
            question, asked = ("classes", multi) if data == "hpc_cv" else ("metric", {"name": "bounded_brier_loss"})
            record.add(metric, data, question, float(value), tolerance=6e-9, **asked)
        if data == "hpc_cv" or variant != "binary":
            continue
        if metric in MEASURES:
            record.add(metric, data, "measured", float(value), measure=MEASURES[metric], at=[0.5], **asked)
        elif metric == "f_meas_beta_.5":
            record.add(metric, data, "measured", float(value), measure="fbeta", beta=0.5, at=[0.5], **asked)
        elif metric == "npv":
            record.add(metric, data, "counted", float(value), column="npv", at=[0.5], **asked)
        elif metric == "average_precision":
            asked |= {"name": "precision_recall_curve", "read": "average_precision"}
            record.add(metric, data, "of_curve", float(value), **asked)
        elif metric in YARDSTICK:
            question, name = YARDSTICK[metric]
            record.add(metric, data, question, float(value), name=name, **asked)
    record.write()


def _triptych():
    source = "printed in Dimitriadis et al. 2021 and 2024, to the third digit"
    record = Record("triptych", version="as published", source=source, language="R")
    for (name, model), (brier, log, error, auc, hull) in FLARES.items():
        for of, values in (("brier", brier), ("log", log), ("error", error)):
            record.add("triptych", name, "decomposed", values, of=of, model=model, tolerance=THIRD_DIGIT)
        for read, value in (("auc", auc), ("hull_auc", hull)):
            asked = {"name": "roc_curve", "read": read, "model": model, "tolerance": THIRD_DIGIT}
            record.add("triptych", name, "of_curve", value, **asked)
    record.write()


def _predtools():
    path = Path(os.environ[FOLDER]) / "reference" / "actions_reference.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["voi"]["predtools"]
    source = 'evpi_val(method = "asymptotic") in R'
    record = Record("predtools", version="0.0.3", source=source, language="R")
    for tp, fp, fn, tn, threshold, _, _, evpi, sd_model, sd_all, _ in rows:
        asked = {"cells": [tp, fp, fn, tn], "threshold": threshold, "tolerance": 1e-11}
        record.add("evpi_val", "none", "evpi_of_cells", [evpi, sd_model, sd_all], **asked)
    record.write()


def main():
    """Write the values."""
    for part in (_dcurves, _yardstick, _triptych, _predtools):
        part()


if __name__ == "__main__":
    main()
