"""pROC in R: areas, DeLong's variance and test, partial areas, coordinates."""

from conformance._r import run
from conformance._record import Record

INPUTS = [
    "calibrated",
    "overconfident",
    "underconfident",
    "rare",
    "tied",
    "small",
    "df_binary",
    "cells",
    "flares",
    "bcsc",
]
PARTS = ["0 0.1", "0 0.3", "0.2 0.6"]
CUTS = [0.15, 0.4]
CODE = """
for (name in inputs) {
  d <- input(name)
  a <- roc(d$y, d$p, levels = c(0, 1), direction = "<", quiet = TRUE)
  b <- roc(d$y, d$q, levels = c(0, 1), direction = "<", quiet = TRUE)
  limits <- as.numeric(ci.auc(a, method = "delong"))
  put(paste(name, "interval"), c(auc(a), sqrt(var(a, method = "delong")), limits[1], limits[3]))
  put(paste(name, "auc q"), auc(b))
  test <- roc.test(a, b, method = "delong", paired = TRUE)
  put(paste(name, "difference"), c(auc(a) - auc(b), test$conf.int[1], test$conf.int[2], test$p.value))
  for (part in c("0 0.1", "0 0.3", "0.2 0.6")) {
    ends <- 1 - as.numeric(strsplit(part, " ")[[1]])
    put(paste(name, "raw", part), auc(a, partial.auc = ends))
    put(paste(name, "corrected", part), auc(a, partial.auc = ends, partial.auc.correct = TRUE))
  }
  for (column in c("sensitivity", "specificity", "ppv", "npv"))
    put(paste(name, column), coords(a, c(0.15, 0.4), input = "threshold", ret = column)[[column]])
}
"""


def main():
    """Write the values."""
    version, found = run("pROC", CODE, INPUTS)
    record = Record("pROC", version=version, source="computed, Debian 12's package", language="R")
    for name in INPUTS:
        delong = {"method": "delong", "metric": "roc_auc_score"}
        keys = ["value", "se", "low", "high"]
        record.add("ci.auc, var", name, "interval", found[f"{name} interval"], read=keys, **delong)
        record.add("auc", name, "metric", found[f"{name} auc q"], name="roc_auc_score", model="q")
        keys = ["value", "low", "high", "p"]
        record.add("roc.test", name, "difference", found[f"{name} difference"], read=keys, **delong)
        for part in PARTS:
            ours = {"name": "partial_auc_score", "fpr_bounds": [float(end) for end in part.split()]}
            arguments = {"partial.auc": [1 - end for end in ours["fpr_bounds"]]}
            record.add("auc", name, "metric", found[f"{name} raw {part}"], arguments=arguments, scale="raw", **ours)
            if part.startswith("0 "):
                arguments = {**arguments, "partial.auc.correct": True}
                record.add("auc", name, "metric", found[f"{name} corrected {part}"], arguments=arguments, **ours)
        for column in ("sensitivity", "specificity", "ppv", "npv"):
            record.add("coords", name, "counted", found[f"{name} {column}"], column=column, at=CUTS)
    record.write()


if __name__ == "__main__":
    main()
