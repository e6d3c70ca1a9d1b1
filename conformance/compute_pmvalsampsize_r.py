"""pmvalsampsize in R, of which no system package is: all four criteria, by its source."""

from conformance._r import run
from conformance._record import Record

# prevalence, c-statistic, widths of O:E and of c; mean and standard deviation of the log-odds; sensitivity,
# specificity, threshold and width of standardised net benefit
SETTINGS = [
    (0.1, 0.8, 0.2, 0.1, -2, 1, 0.7, 0.8, 0.1, 0.2),
    (0.018, 0.8, 1.0, 0.1, -5, 2.5, 0.5, 0.9, 0.02, 0.4),
    (0.3, 0.7, 0.2, 0.1, -1, 1, 0.8, 0.6, 0.2, 0.2),
    (0.05, 0.75, 0.4, 0.08, -3, 0.8, 0.6, 0.85, 0.05, 0.3),
    (0.5, 0.65, 0.1, 0.05, 0, 1.5, 0.9, 0.5, 0.4, 0.1),
    (0.2, 0.9, 0.3, 0.06, -1.5, 2, 0.75, 0.9, 0.15, 0.15),
]
CODE = """
for (line in strsplit(settings, ";")[[1]]) {
  s <- as.numeric(strsplit(line, " ")[[1]])
  found <- suppressMessages(pmvalsampsize(type = "b", prevalence = s[1], cstatistic = s[2], oeciwidth = s[3],
    cstatciwidth = s[4], lpnormal = s[5:6], sensitivity = s[7], specificity = s[8], threshold = s[9],
    nbciwidth = s[10]))
  put(line, found$results_table[1:4, 1])
}
"""
CRITERIA = ("Criteria 1 - O/E", "Criteria 2 - C-slope", "Criteria 3 - C statistic", "Criteria 4 - St Net Benefit")
SIMULATED = 0.005  # its slope comes from a million draws
FILES = ["pmvalsampsize", "pmvalsampsize_bin", "pmvalsampsize_errorcheck"]


def main():
    """Write the values."""
    lines = {}
    for prevalence, auc, wide, narrow, mean, spread, *cells, width in SETTINGS:
        line = " ".join(map(str, (prevalence, auc, wide, narrow, mean, spread, *cells, width)))
        share = dict(zip(("sensitivity", "specificity", "threshold"), cells, strict=True))
        lines[line] = [
            {"question": "o_to_e", "prevalence": prevalence, "width": wide},
            {"question": "slope", "linear_predictor": (mean, spread), "width": 0.2, "tolerance": SIMULATED},
            {"question": "auc", "prevalence": prevalence, "auc": auc, "width": narrow},
            {"question": "standardized_net_benefit", "prevalence": prevalence, **share, "width": width},
        ]
    code = f'settings <- "{";".join(lines)}"\n{CODE}'
    version, found = run("pmvalsampsize", code, [], files=FILES, uses=["pROC"])
    source = "computed by its source at a6f867b"
    record = Record("pmvalsampsize", version=version, source=source, language="R", file="pmvalsampsize-r")
    for line, asked in lines.items():
        for function, value, options in zip(CRITERIA, found[line], asked, strict=True):
            record.add(function, "none", "rows", value, **options)
    record.write()


if __name__ == "__main__":
    main()
