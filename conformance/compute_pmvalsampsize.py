"""pmvalsampsize for Python: rows for O:E and for the c-statistic (its slope is simulated, its net benefit fails)."""

from pmvalsampsize.pmvalsampsize import pmvalsampsize

from conformance._record import Record

# prevalence, c-statistic, width of O:E, width of c
SETTINGS = [
    *((0.1, 0.8, 0.2, 0.1), (0.018, 0.8, 1.0, 0.1), (0.3, 0.7, 0.2, 0.1), (0.05, 0.75, 0.4, 0.08)),
    *((0.5, 0.65, 0.1, 0.05), (0.2, 0.9, 0.3, 0.06)),
]


def make():
    """Return the values."""
    record = Record("pmvalsampsize")
    for prevalence, auc, wide, narrow in SETTINGS:
        given = {"prevalence": prevalence, "cstatistic": auc, "oeciwidth": wide, "cstatciwidth": narrow}
        found = pmvalsampsize(type="b", lpnormal=(-2, 1), simobs=2000, noprint=True, **given)["results_table"]
        for line, asked in (
            (found[0], {"question": "o_to_e", "width": wide}),
            (found[2], {"question": "auc", "auc": auc, "width": narrow}),
        ):
            record.add(line[0], "none", "rows", line[1], arguments=given, prevalence=prevalence, **asked)
    return record


if __name__ == "__main__":
    make().write()
