"""CalibrationCurves in R: val.prob.ci.2, by its source, for the package needs a newer rms than Debian 12 has."""

from conformance._r import run
from conformance._record import Record

INPUTS = ["calibrated", "overconfident", "underconfident", "rare", "tied", "df_binary", "cells"]
FILES = ["helperFunctions", "auc.nonpara.mw", "ci.auc", "val.prob.ci.2"]
CODE = """
pdf(NULL)
for (name in inputs) {
  d <- input(name)
  for (column in intersect(c("p", "q"), names(d))) {
    p <- d[[column]]
    if (min(p) <= 0 | max(p) >= 1) next
    found <- suppressWarnings(val.prob.ci.2(p, d$y, method.ci = "delong"))
    put(paste(name, column, "Intercept"), found$Calibration$Intercept[1])
    put(paste(name, column, "Slope"), found$Calibration$Slope[1])
    put(paste(name, column, "Cindex"), found$Cindex[1])
    put(paste(name, column, "limits"), found$Cindex[2:3])
    put(paste(name, column, "Brier"), found$stats["Brier"])
    put(paste(name, column, "Eavg"), found$stats["Eavg"])
  }
}
"""
ASKED = {
    "Intercept": ("calibration", 1e-6, {"read": ["calibration_in_the_large:value"]}),
    "Slope": ("calibration", 1e-6, {"read": ["slope"]}),
    "Cindex": ("metric", 1e-10, {"name": "roc_auc_score"}),
    "limits": ("interval", 1e-9, {"metric": "roc_auc_score", "method": "delong", "read": ["low", "high"]}),
    "Brier": ("metric", 1e-10, {"name": "bounded_brier_loss"}),
    "Eavg": ("calibration", 1e-6, {"smoother": "loess", "read": ["ici:value"]}),
}


def main():
    """Write the values."""
    version, found = run("CalibrationCurves", CODE, INPUTS, files=FILES, uses=["rms", "ggplot2"])
    source = "val.prob.ci.2, computed by its source at 844935d"
    record = Record("CalibrationCurves", version=version, source=source, language="R")
    for key, value in found.items():
        name, column, shown = key.split(" ")
        question, tolerance, options = ASKED[shown]
        model = {"model": "q"} if column == "q" else {}
        record.add(
            "val.prob.ci.2", name, question, value, arguments={"shown": shown}, tolerance=tolerance, **options, **model
        )
    record.write()


if __name__ == "__main__":
    main()
