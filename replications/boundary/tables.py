"""Records of many runs as tables: means, paired differences from the single threshold and their tests."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy import stats

KEY = ("method", "levels", "binning", "bins")
MEASURED_ROWS = (
    *(("ST", 1, "", None), ("HR", 1, "", None), ("GMT", 3, "equal_weight", None), ("MIST", 3, "equal_weight", None)),
    *(("EW-DPMT", 3, "equal_weight", 500), ("exact", 3, "equal_weight", None), ("exact", 11, "equal_weight", None)),
    ("posterior mean", 1, "", None),
)
MEASURED_HEADS = ("ST", "HR", "GMT K3", "MIST K3", "EW-DPMT K3", "exact K3", "exact K11", "posterior mean")
WORDS = {"equal_weight": "weight", "equal_span": "span", "": ""}


def paired(values, baseline):
    """Mean difference, and p-values of the paired t test and of Wilcoxon's signed ranks (1 where all are equal)."""
    gap = np.asarray(values, float) - np.asarray(baseline, float)
    if len(gap) < 2 or not np.any(gap):
        return float(gap.mean()), 1.0, 1.0
    if np.ptp(gap) == 0.0:
        return float(gap.mean()), 0.0, float(stats.wilcoxon(gap).pvalue)
    return float(gap.mean()), float(stats.ttest_1samp(gap, 0.0).pvalue), float(stats.wilcoxon(gap).pvalue)


def by_method(records):
    """Columns of each method and bound, in the order of the seeds."""
    columns = defaultdict(lambda: defaultdict(list))
    for record in sorted(records, key=lambda record: record["seed"]):
        cell = columns[tuple(record[name] for name in KEY)][record["bound"]]
        cell.append(record)
    return columns


def mean_of(cell, name):
    values = np.array([record[name] for record in cell], float)
    return float(np.nanmean(values)) if np.any(np.isfinite(values)) else np.nan


def lines(records, baseline=("ST", 1, "", None)):
    """One line for each method; for each bound matched recall, its change with p-values, and what is deployed."""
    columns = by_method(records)
    bounds = sorted({record["bound"] for record in records})
    heads = [f"{bound:g}: matched recall | change (t, Wilcoxon) | deployed precision, recall" for bound in bounds]
    yield "| method | levels | cut by | bins | " + " | ".join(heads) + " |"
    yield "| --- " * (4 + 3 * len(bounds)) + "|"
    for key, cells in columns.items():
        name, levels, binning, bins = key
        texts = [cell_text(cells[bound], columns[baseline][bound]) for bound in bounds]
        yield f"| {name} | {levels} | {WORDS[binning]} | {bins or ''} | " + " | ".join(texts) + " |"


def cell_text(cell, single):
    values, base = ([record["matched"] for record in one] for one in (cell, single))
    mean, before = np.mean(values), np.mean(base)
    change = ""
    if cell is not single:
        _, p, q = paired(values, base)
        change = f"{relative(mean, before)} ({p:.2g}, {q:.2g})"
    return f"{mean:.4f} | {change} | {mean_of(cell, 'precision'):.3f}, {mean_of(cell, 'recall'):.4f}"


def relative(mean, before):
    return f"{mean / before - 1.0:+.1%}" if before > 0.0 else "from 0"


def against_measured(records, measured, design, name):
    """Ours beside the values measured apart from this library, and beside the population's."""
    columns = by_method(records)
    yield "| bound | " + " | ".join(MEASURED_HEADS) + " | ST, population | posterior mean, population |"
    yield "| --- " * (len(MEASURED_HEADS) + 3) + "|"
    for (of, bound), values in measured.items():
        if of != name:
            continue
        texts = [measured_text(columns[key][bound], value) for key, value in zip(MEASURED_ROWS, values, strict=True)]
        truth = " | ".join(f"{value:.4f}" for value in design.best_recalls(bound))
        yield f"| {bound:g} | " + " | ".join(texts) + f" | {truth} |"


def measured_text(cell, value):
    """Our mean and its standard error, and in brackets what was measured apart."""
    if not cell:
        return f"({value:.4g})"
    ours = np.array([record["matched"] for record in cell])
    error = ours.std(ddof=1) / np.sqrt(len(ours)) if len(ours) > 1 else np.nan
    return f"{ours.mean():.4f} +- {error:.4f} ({value:.4g})"


def calibration_lines(records):
    """Errors of one isotonic regression, and the change by one in each level with the p-value of the paired t test."""
    measures = [name for name in records[0] if name not in {"data", "levels", "calibrator", "seed"}]
    yield "| data | levels | " + " | ".join(f"{name}: isotonic | change (t)" for name in measures) + " |"
    yield "| --- " * (2 + 2 * len(measures)) + "|"
    cells = defaultdict(lambda: defaultdict(list))
    for record in sorted(records, key=lambda record: record["seed"]):
        cells[record["data"], record["levels"]][record["calibrator"]].append(record)
    for (data, levels), cell in cells.items():
        texts = []
        for name in measures:
            one, several = ([record[name] for record in cell[of]] for of in ("isotonic", "MIST"))
            _, p, _ = paired(several, one)
            texts.append(f"{np.mean(one):.5f} | {relative(np.mean(several), np.mean(one))} ({p:.2g})")
        yield f"| {data} | {levels} | " + " | ".join(texts) + " |"
