"""timeROC in R, by its source, and pec: AUC and what a cut gives with censoring, Brier score over several horizons."""

from conformance._r import run
from conformance._record import Record

# somebody's event of "survival" lies just at 1, nobody's time at another horizon
HORIZONS = {"survival": (0.505, 1.0, 2.005), "competing": (0.505, 1.005, 2.005), "df_surv": (1.0, 1.5)}
CUTS = (0.1500005, 0.4000005)  # between scores, for timeROC acts above its cut
ROC = """
for (name in inputs) for (several in c(FALSE, TRUE)) {
  d <- input(name)
  status <- if (several) d$cause else d$event
  if (several && max(d$cause) < 2) next
  times <- HORIZONS[[name]]
  for (m in c("p", "q")) {
    found <- timeROC(d$time, status, d[[m]], cause = 1, times = times, iid = TRUE)
    last <- if (several) "_2" else ""
    sd <- if (several) found$inference$vect_sd_2 else found$inference$vect_sd_1
    put(paste(name, several, m, "auc"), found[[paste0("AUC", last)]])
    put(paste(name, several, m, "se"), sd)
    put(paste(name, several, m, "prevalence"), found$CumulativeIncidence)
    for (cut in CUTS) {
      at <- SeSpPPVNPV(cut, d$time, status, d[[m]], cause = 1, times = times)
      put(paste(name, several, m, "sensitivity", cut), at$TP)
      put(paste(name, several, m, "specificity", cut), 1 - at[[paste0("FP", last)]])
      put(paste(name, several, m, "ppv", cut), at$PPV)
      put(paste(name, several, m, "npv", cut), at[[paste0("NPV", last)]])
    }
  }
}
"""
ERROR = """
for (name in inputs) for (several in c(FALSE, TRUE)) {
  d <- input(name)
  d$status <- if (several) d$cause else d$event
  if (several && max(d$cause) < 2) next
  times <- HORIZONS[[name]]
  risk <- function(m) { x <- matrix(d[[m]], nrow(d), length(times)); if (several) x else 1 - x }
  found <- pec(list(p = risk("p"), q = risk("q")), formula = Hist(time, status) ~ 1, data = d, times = times,
               exact = FALSE, cause = 1, cens.model = "marginal", reference = FALSE, verbose = FALSE, start = times[1])
  area <- crps(found, start = times[1], times = max(times))
  for (m in c("p", "q")) {
    put(paste(name, several, m, "brier"), found$AppErr[[m]])
    put(paste(name, several, m, "ibs"), area[m, ])
  }
}
"""
FILES = ("ComputeIIDKM", "SeSpPPVNPV", "compute_iid_ac_competing_risks", "compute_iid_rep_2")
FILES = (*FILES, "compute_iid_ss_competing_risks_2", "timeROC_3")


def _add(record, name, shown, values, asked):
    if shown in ("brier", "ibs"):
        asked["name"] = "bounded_brier_loss"
    if shown == "ibs":
        record.add("crps", name, "integrated", values, horizons=HORIZONS[name], **asked)
        return
    for value, horizon in zip(values, HORIZONS[name], strict=True):
        at = {**asked, "horizon": horizon}
        if shown == "brier":
            record.add("pec", name, "metric", value, **at)
        elif shown == "prevalence":
            record.add("timeROC, cumulative incidence", name, "followed", value, read=shown, **at)
        elif shown in ("auc", "se"):
            read = {"auc": "value", "se": "se"}[shown]
            said = "timeROC" if shown == "auc" else "timeROC, standard error"
            record.add(said, name, "interval", value, metric="roc_auc_score", read=[read], **at)
        else:
            record.add("SeSpPPVNPV", name, "counted", value, column=shown, **at)


def _write(package, code, source, **found):
    lists = ", ".join(f"{name} = c{times}" for name, times in HORIZONS.items())
    given = f"HORIZONS <- list({lists}); CUTS <- c{CUTS}\n"
    version, answers = run(package, given + code, list(HORIZONS), **found)
    record = Record(package, version=version, source=source, language="R")
    for key, values in answers.items():
        name, several, model, shown, *cut = key.split(" ")
        asked = {"model": model, **({"cause": 1} if several == "TRUE" else {})}
        _add(record, name, shown, values, asked | ({"at": [float(cut[0])]} if cut else {}))
    record.write()


def main():
    """Write the values."""
    source = "computed by its source at 2f39a17, on Debian 12's pec"
    _write("timeROC", ROC, source, files=FILES, uses=["survival", "pec"])
    _write("pec", ERROR, "pec and crps, computed, Debian 12's package")


if __name__ == "__main__":
    main()
