"""The page of the documentation: the table of the packages, and the differences that are understood."""

from pathlib import Path

from conformance._record import DAY

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
HEAD = """# Conformance

What `stakes` says, beside what other packages say of the same rows: {values} values from {packages} packages, of which
{agreed} agree within the tolerance written beside each (1e-10 for most; the printed digits where a paper is the
source), {explained} differ for a reason given below, and {failed} differ without one. Compared on {day} by

```console
STAKES_REFERENCE_DIR=FOLDER python -m conformance
```

which fails as soon as a value disagrees without an explanation, or an explanation explains nothing. Without the folder
of published data, only the values on made inputs are compared. Values and their source lie in `conformance/values/`,
one file for each package, with the function called, its arguments, the input by name and the question put to `stakes`;
`conformance/compute_*.py` made them, each in an environment of the package's own. No code of theirs is in this
repository.

{table}

"Computed" means that the package was run on that input; "as stored" and "as published" that its authors' own numbers
were taken. A difference counts against the tolerance absolutely below 1 and relatively above.

## Differences that are understood

| package | values | largest difference | reason |
| --- | --- | --- | --- |
{reasons}

## What is not compared

Not to be had where the values were computed, so without values here: timeROC, and the survival side of
CalibrationCurves, which needs packages that Debian 12 lacks. R packages of which Debian has none, or none new enough,
were read from their source at the commit that the table names (`STAKES_R_SOURCES` holds the folders): of
CalibrationCurves `val.prob.ci.2` with Debian's rms. Intervals of reliabilitydiag are asymptotic or by 100 resamples and
are not compared. Of MAPIE the measures of calibration are compared; its controller of risks chooses among given
thresholds by another test. dcurves for Python turns a marker into S(t) where a risk is meant (`models_to_prob` with a
time): only ready risks are compared.
"""


def table(tallies):
    """Return the table of the packages in Markdown, with a sum."""
    lines = [
        "| package | version | source | values | agreed | explained | failed |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for tally in tallies:
        counts = " | ".join(map(str, counts_of([tally])))
        lines.append(f"| {tally.package} ({tally.language}) | {tally.version} | {tally.source} | {counts} |")
    return "\n".join([*lines, f"| all | | | {' | '.join(map(str, counts_of(tallies)))} |"])


def counts_of(tallies):
    """Return how many values there are, agreed, were explained, failed."""
    parts = [(tally.values, tally.agreed, tally.explained, len(tally.failed)) for tally in tallies]
    return [sum(column) for column in zip(*parts, strict=True)]


def _reason(entry):
    largest = entry["largest"]
    size = "infinite, or not a number" if largest == float("inf") else f"{largest:.2g}"
    return f"| {entry['package']} | {entry['seen']} | {size} | {entry['reason']} |"


def write(tallies, known):
    """Write the page anew."""
    names = ("values", "agreed", "explained", "failed")
    text = HEAD.format(
        **dict(zip(names, (f"{count:,}" for count in counts_of(tallies)), strict=True)),
        packages=len(tallies),
        day=DAY,
        table=table(tallies),
        reasons="\n".join(_reason(entry) for entry in known),
    )
    PAGE.write_text(text, encoding="utf-8")
