"""rms in R: val.prob, with the smooth curve of lowess; and R's own glm, lowess, loess and isoreg beside it."""

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
    "niamey",
]
SHOWN = {
    "C (ROC)": ("metric", {"name": "roc_auc_score"}),
    "Brier": ("metric", {"name": "bounded_brier_loss"}),
    "Intercept": ("calibration", {"read": ["joint_intercept:value"]}),
    "Slope": ("calibration", {"read": ["slope"]}),
    "Eavg": ("calibration", {"read": ["ici:value"]}),
    "E90": ("calibration", {"read": ["e90:value"]}),
    "Emax": ("calibration", {"read": ["emax:value"]}),
    "S:z": ("spiegelhalter", {"read": "z"}),
    "S:p": ("spiegelhalter", {"read": "z_p_value"}),
}
VAL_PROB = """
for (name in inputs) {
  d <- input(name)
  for (column in intersect(c("p", "q"), names(d))) {
    p <- d[[column]]
    if (min(p) <= 0 | max(p) >= 1) next
    found <- val.prob(p, d$y, pl = FALSE)
    for (key in names(found)) put(paste(name, column, key), found[[key]])
  }
}
"""
STATS = """
for (name in inputs) {
  d <- input(name)
  if (min(d$p) <= 0 | max(d$p) >= 1) next
  large <- glm(d$y ~ offset(qlogis(d$p)), family = binomial, control = list(epsilon = 1e-14))
  put(paste(name, "large"), coef(large))
  both <- glm(d$y ~ qlogis(d$p), family = binomial, control = list(epsilon = 1e-14))
  put(paste(name, "both"), coef(both))
  exact <- lowess(d$p, d$y, iter = 0, delta = 0)
  rate <- pmin(pmax(approx(exact, xout = d$p, ties = mean)$y, 0), 1)
  error <- abs(d$p - rate)
  whole <- predict(loess(d$y ~ d$p, surface = "direct", statistics = "approximate"), d$p)
  put(paste(name, "loess"), mean(abs(d$p - whole)))
  put(paste(name, "lowess"), c(mean(error), quantile(error, 0.9, type = 2), max(error)))
  iso <- isoreg(d$p, d$y)
  put(paste(name, "brier"), mean((iso$yf - d$y[iso$ord])^2))
}
d <- input("weighted")
w <- glm(d$y ~ qlogis(d$p), family = binomial, weights = d$w, control = list(epsilon = 1e-14))
put("weighted both", coef(w))
"""
TOLERANCE = 1e-6  # lrm.fit stops when the likelihood moves by less


def main():
    """Write the values."""
    version, found = run("rms", VAL_PROB, INPUTS)
    record = Record("rms", version=version, source="val.prob, computed, Debian 12's package", language="R")
    for key, value in found.items():
        name, column, shown = key.split(" ", 2)
        if shown in SHOWN:
            question, options = SHOWN[shown]
            tolerance = TOLERANCE if shown in ("Intercept", "Slope") else 1e-9
            model = {"model": "q"} if column == "q" else {}
            function = "val.prob, smooth curve" if shown in ("Eavg", "E90", "Emax") else "val.prob"
            asked = {"arguments": {"shown": shown}, "tolerance": tolerance, **options, **model}
            record.add(function, name, question, value, **asked)
    record.write()
    version, found = run("stats", STATS, [*INPUTS, "weighted"])
    record = Record(
        "stats", version=version, source="glm, lowess, loess, isoreg, computed, Debian 12's package", language="R"
    )
    for key, value in found.items():
        name, shown = key.split(" ")
        weighted = {"weighted": True} if name == "weighted" else {}
        if shown == "large":
            record.add("glm", name, "calibration", value, tolerance=1e-9, read=["calibration_in_the_large:value"])
        elif shown == "both":
            asked = {"read": ["joint_intercept:value", "slope"], **weighted}
            record.add("glm", name, "calibration", value, tolerance=1e-8, **asked)
        elif shown == "loess":
            asked = {"smoother": "loess", "read": ["ici:value"]}
            record.add("loess, surface = direct", name, "calibration", value, tolerance=1e-9, **asked)
        elif shown == "lowess":
            asked = {"read": ["ici:value", "e90:value", "emax:value"]}
            record.add(
                "lowess, delta = 0, within 0 and 1; quantile, type = 2",
                name,
                "calibration",
                value,
                tolerance=1e-9,
                **asked,
            )
        else:
            record.add("isoreg", name, "metric", value, name="bounded_brier_loss", rule="optimal")
    record.write()


if __name__ == "__main__":
    main()
