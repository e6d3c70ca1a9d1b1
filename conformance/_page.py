"""The page of the documentation: the table of the packages, and the differences that are understood."""

import json
from pathlib import Path

from conformance._record import DAY

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
LIVE = Path(__file__).parent / "live.json"
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
`conformance/compute_*.py` made them, each in an environment of the package's own. Of four packages the expected values
of their own tests are compared too, on the rows of those tests (`conformance/given.json`). No code of theirs is in
this repository.

{table}

## Run at once

{live_values} values from {live_packages} packages, each installed and run on {live_day} on the same inputs:
{live_agreed} agree and {live_explained} differ for a reason given below. Of scikit-survival ten are printed in its own
tests: Brier scores of GBSG2, which it ships, and Uno's C.

```console
pip install empulse dcurves fairlearn hmeasure lifelines mapie model-diagnostics netcal pmvalsampsize \\
    rtichoke scikit-survival scores scoringrules statsmodels torchmetrics 'polars<1.36'
STAKES_REFERENCE_DIR=FOLDER python -m conformance --live [NAME ...] [--seed N]
```

says which are not installed, and fails as soon as a value disagrees without an explanation; `--seed` draws the made
inputs anew, and allows each difference five times its limit there. rtichoke 0.1.35 calls what later versions of polars
refuse.

{live}

"Computed" means that the package was run on that input; "as stored", "as published" and "of its own tests" that its
authors' own numbers were taken. A difference counts against the tolerance absolutely below 1 and relatively above.

## Differences that are understood

`python -m conformance --show NAME`, with a name of the last column, makes the change that the reason names, and fails
where that does not give the other package's value (or ours, where it says so).

| package | values | largest difference | reason | shown by |
| --- | --- | --- | --- | --- |
{reasons}

## What is not compared

The survival side of CalibrationCurves needs packages that Debian 12 lacks, so that it has no values here. R packages of
which Debian has none, or none new enough, were read from their source at the commit that the table names
(`STAKES_R_SOURCES` holds the folders): of CalibrationCurves `val.prob.ci.2` with Debian's rms, timeROC with Debian's
pec. Of timeROC, areas against those free of any event alone where causes compete, and weights by a model of censoring,
are not offered. Intervals of reliabilitydiag are asymptotic or by 100 resamples and are not compared. Of MAPIE's
controller of risks the test of each threshold is compared, not how it allows for several. Of the packages' own tests
those are taken whose rows are few: not empulse's on 221 rows, nor scikit-survival's on WHAS500. netcal and crepes have
none in their repositories (2a3db8d, 3f9c6b9).
Harrell's and Uno's C are those of scikit-survival itself, and so only held against what its tests print; calibration
of follow-up by a spline of the log-hazard (lifelines) and conformal p-values (crepes) are not offered. empulse's
expected cost acts by chance in proportion to the score, which is none of our rules. dcurves for Python turns a marker
into S(t) where a risk is meant (`models_to_prob` with a time): only ready risks are compared.
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
    return f"| {entry['package']} | {entry['seen']} | {size} | {entry['reason']} | `{entry['shown']}` |"


def keep_live(tallies, day):
    """Keep the counts of a live run for the page."""
    rows = [[tally.package, tally.version, *counts_of([tally])[:3]] for tally in tallies]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    LIVE.write_text(f'["{day}", [\n{lines}\n]]\n', encoding="utf-8")


def write(tallies, known):
    """Write the page anew."""
    names = ("values", "agreed", "explained", "failed")
    day, rows = json.loads(LIVE.read_text(encoding="utf-8"))
    sums = [sum(row[column] for row in rows) for column in (2, 3, 4)]
    lines = ["| package | version | values | agreed | explained |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    text = HEAD.format(
        **dict(zip(("live_values", "live_agreed", "live_explained"), (f"{count:,}" for count in sums), strict=True)),
        live_packages=len(rows),
        live_day=day,
        live="\n".join([*lines, f"| all | | {' | '.join(map(str, sums))} |"]),
        **dict(zip(names, (f"{count:,}" for count in counts_of(tallies)), strict=True)),
        packages=len({(tally.package, tally.language) for tally in tallies}),
        day=DAY,
        table=table(tallies),
        reasons="\n".join(_reason(entry) for entry in known),
    )
    PAGE.write_text(text, encoding="utf-8")
