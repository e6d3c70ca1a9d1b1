"""reliabilitydiag in R, of which no system package is: the CORP curve at the scores and its decomposition."""

from conformance._inputs import load
from conformance._r import run
from conformance._record import Record

INPUTS = ["calibrated", "overconfident", "rare", "tied", "small", "df_binary", "niamey", "flares"]
FILES = ["coercion", "combine_extract", "reliabilitydiag", "summary", "utils"]
USES = ["magrittr", "dplyr", "tibble", "rlang", "purrr", "tidyr"]
POINTS = 30
CODE = """
for (name in inputs) {
  d <- input(name)
  for (column in intersect(c("p", "q"), names(d))) {
    r <- reliabilitydiag(m = d[[column]], y = d$y, region.level = NA)
    s <- summary(r)
    put(paste(name, column, "summary"), c(s$mean_score, s$miscalibration, s$discrimination, s$uncertainty))
    cases <- r$m$cases
    put(paste(name, column, "x"), cases$x)
    put(paste(name, column, "rate"), cases$CEP_pav)
  }
}
"""


def main():
    """Write the values."""
    version, found = run("reliabilitydiag", CODE, INPUTS, files=FILES, uses=USES)
    source = "computed by its source at a3d3572"
    record = Record("reliabilitydiag", version=version, source=source, language="R")
    for name in INPUTS:
        for column in [column for column in "pq" if column in load(name)]:
            model = {"model": "q"} if column == "q" else {}
            key = f"{name} {column}"
            record.add("summary", name, "decomposed", found[f"{key} summary"], of="brier", **model)
            rates = dict(zip(found[f"{key} x"], found[f"{key} rate"], strict=True))
            at = sorted(rates)[:: max(1, len(rates) // POINTS)]
            values = [rates[x] for x in at]
            record.add("reliabilitydiag", name, "curve", values, name="reliability_curve", at=at, **model)
    record.write()


if __name__ == "__main__":
    main()
