"""riskRegression and survival in R: AUC and Brier score with censoring, competing causes, and binary outcomes."""

from conformance._r import run
from conformance._record import Record

# Nobody's time is a horizon, for packages differ in what they make of a row censored just then; 1.0 shows it.
FOLLOWED = ["survival", "competing", "df_surv"]
BINARY = ["calibrated", "rare", "tied", "df_binary", "flares"]
SCORE = """
take <- function(frame, where, column) frame[[column]][where]
told <- function(key, found, at = NULL) {
  for (kind in c("AUC", "Brier")) for (m in c("p", "q")) {
    s <- found[[kind]]$score
    put(paste(key, kind, m), unlist(s[s$model == m, ][, c(kind, "se"), with = FALSE]))
  }
}
for (name in c("survival", "competing", "df_surv")) for (several in c(FALSE, TRUE)) {
  d <- input(name)
  d$status <- if (several) d$cause else d$event
  if (several && max(d$cause) < 2) next
  formula <- if (several) Hist(time, status) ~ 1 else Surv(time, status) ~ 1
  for (t in if (name == "df_surv") c(1, 1.5) else c(0.505, 1, 2.005)) {
    found <- Score(list(p = d$p, q = d$q), formula = formula, data = d, times = t, cause = 1,
                   metrics = c("auc", "brier"), conf.int = TRUE, null.model = FALSE, cens.model = "km",
                   conservative = FALSE)
    told(paste(name, several, t), found)
    gap <- found$Brier$contrasts
    put(paste(name, several, t, "gap"), -gap$delta.Brier)
    fit <- if (several) survfit(Surv(time, factor(status)) ~ 1, data = d) else survfit(Surv(time, status) ~ 1, data = d)
    s <- summary(fit, times = t)
    put(paste(name, several, t, "prevalence"), if (several) s$pstate[, 2] else 1 - s$surv)
  }
}
for (name in c("calibrated", "rare", "tied", "df_binary", "flares")) {
  d <- input(name)
  told(name, Score(list(p = d$p, q = d$q), formula = y ~ 1, data = d, metrics = c("auc", "brier"), conf.int = TRUE,
                   null.model = FALSE))
}
"""
METRIC = {"AUC": "roc_auc_score", "Brier": "bounded_brier_loss"}


def _binary(record, found):
    for key, (value, error) in found.items():
        name, kind, model = key.split(" ")
        asked = {"name": METRIC[kind], "model": model}
        record.add("Score", name, "metric", value, **asked)
        read = {"read": ["se"], "metric": METRIC[kind], "model": model}
        record.add("Score, standard error", name, "interval", error, **read)


def _followed(records, found):
    scores, times = records
    for key, values in found.items():
        name, several, horizon, kind, *model = key.split(" ")
        asked = {"horizon": float(horizon), **({"cause": 1} if several == "TRUE" else {})}
        if kind == "prevalence":
            times.add("survfit", name, "followed", values, read="prevalence", **asked)
        elif kind == "gap":
            options = {"metric": "bounded_brier_loss", "read": ["value"], **asked}
            scores.add("Score, contrasts", name, "difference", values, **options)
        else:
            options = {"read": ["value", "se"], "metric": METRIC[kind], "model": model[0], **asked}
            scores.add("Score", name, "interval", values[:1], **{**options, "read": ["value"]})
            scores.add("Score, standard error", name, "interval", values[1:], **{**options, "read": ["se"]})


def main():
    """Write the values."""
    version, found = run("riskRegression", "suppressMessages(library(survival))\n" + SCORE, [*FOLLOWED, *BINARY])
    source = "computed, Debian 12's package"
    scores = Record("riskRegression", version=version, source=f"Score, {source}", language="R")
    times = Record("survival", version=run("survival", "", [])[0], source=f"survfit, {source}", language="R")
    _followed((scores, times), {key: value for key, value in found.items() if key.split(" ")[0] in FOLLOWED})
    _binary(scores, {key: value for key, value in found.items() if key.split(" ")[0] in BINARY})
    scores.write()
    times.write()


if __name__ == "__main__":
    main()
