"""The experiments of the paper on decision boundaries over score and uncertainty, with paired tests over seeds.

Parts: "tables", recall of every method at four precision bounds on the simulated designs and on real models;
"positivity", the rate of positives by score and evidence against the theorem; "sweeps", the gain over one threshold
against bins, levels and undersampling; "calibration", isotonic regression by level against one; "times", Table 4.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from replications.boundary import methods, runs, sweeps, tables
from replications.boundary.designs import DESIGNS, MEASURED

DATA = ("adult", "bank_marketing", "credit_default")
SOURCES = ("forest", "dropout", "posterior_network")


def print_tables(options):
    """Tables 1 and 2 on the process of Figure 2, and on real models with undersampled training."""
    found, chosen = [], methods.methods(options.levels)
    most = f"{methods.MOST_CELLS:.0e}"
    print(f"VW-DPMT runs where levels x bins x rows <= {most}; it is optimal, as exact on the same bins is.")
    for name in options.designs:
        start = time.perf_counter()
        records = [r for seed in range(options.seeds) for r in runs.simulated(name, seed, chosen)]
        heading(f"Design {name}: {DESIGNS[name]}", start, options)
        print("\n".join(tables.lines(records)))
        print("\nOurs, with standard error (measured apart, before this library):\n")
        print("\n".join(tables.against_measured(records, MEASURED, DESIGNS[name], name)), flush=True)
        found += records
    for name in options.data:
        for source in options.sources:
            start = time.perf_counter()
            numbers = range(options.seeds)
            records = [r for seed in numbers for r in runs.real(name, source, options.undersampling, seed, chosen)]
            for what in dict.fromkeys(record["source"] for record in records):
                heading(f"{name}, {what}, one negative in {options.undersampling} trained on", start, options)
                print("\n".join(tables.lines([r for r in records if r["source"] == what])), flush=True)
            found += records
    return found


def print_positivity(options):
    """Figures 1a and 3: cells of score and evidence against the theorem."""
    heading("Rates of positives in regions of 2, 8, 32 and 128 examples, simulated", None, options)
    print("\n".join(runs.theory_lines(options.designs, options.figures)), flush=True)
    for name in options.data:
        for source in options.sources:
            start = time.perf_counter()
            lines = list(runs.evidence_lines(name, source, options.undersampling, options.figures))
            if lines:
                heading(f"{name}: the theorem with the prior that fits the held-out labels best", start, options)
                print("\n".join(lines), flush=True)
    return []


def print_sweeps(options):
    """Figure 5."""
    found = []
    named = [(name, lambda seed, name=name: sweeps.simulated(name, seed)) for name in options.sweep_designs]
    for name, source, what in sweeps.REAL:
        if name in options.data and source in options.sources:
            run = lambda seed, name=name, source=source, what=what: sweeps.real(name, source, what, seed)  # noqa: E731
            named.append((f"{name}, {what}", run))
    for name, run in named:
        start = time.perf_counter()
        records = [record for seed in range(options.seeds) for record in run(seed)]
        heading(f"Sweeps at precision 0.8: {name}", start, options)
        for sweep in sweeps.WHAT:
            print("\n".join(sweeps.lines(records, name, sweep)), end="\n\n", flush=True)
        if options.figures:
            from replications.boundary.figures import draw_sweeps

            draw_sweeps(records, name, options.figures)
        found += records
    return found


def print_calibration(options):
    """Appendix C.6."""
    found = []
    start = time.perf_counter()
    for name in options.designs:
        found += [r for seed in range(options.seeds) for r in runs.calibrations(runs.drawn(name, seed), name, seed)]
    for name in options.data:
        for source in options.sources:
            for seed in range(options.seeds):
                for what, *pair in runs.trained(name, source, options.undersampling, seed):
                    found += runs.calibrations(pair, f"{name}, {what}", seed)
    heading("Isotonic regression in 3 and 11 levels (MIST as a calibrator) against one", start, options)
    print("\n".join(tables.calibration_lines(found)), flush=True)
    return found


def print_times(options):
    """Table 4."""
    from replications.boundary.times import table

    heading("Processor seconds, a million rows, 5% positive, bound 0.7", None, options)
    for line in table(options.repeats):
        print(line, flush=True)
    return []


PARTS = {
    "tables": print_tables,
    "positivity": print_positivity,
    "sweeps": print_sweeps,
    "calibration": print_calibration,
    "times": print_times,
}


def heading(text, start, options):
    spent = "" if start is None else f"{time.perf_counter() - start:.0f} s, {options.seeds} seeds\n"
    print(f"\n## {text}\n\n{spent}")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m replications boundary", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=12, help="runs of everything random (default 12)")
    parser.add_argument("--designs", nargs="*", choices=DESIGNS, default=list(DESIGNS), help="simulated designs")
    parser.add_argument("--sweep-designs", nargs="*", choices=DESIGNS, default=["C", "E"], help="for the sweeps")
    parser.add_argument("--data", nargs="*", choices=DATA, default=list(DATA), help="real data")
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES), help="of uncertainty")
    parser.add_argument("--levels", nargs="+", type=int, default=list(methods.LEVELS), help="levels in the tables")
    parser.add_argument("--undersampling", type=int, default=5, help="one negative in so many trains (default 5)")
    parser.add_argument("--repeats", type=int, default=3, help="of each timing (default 3)")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="draw the figures there")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the records to a file as well")
    options = parser.parse_args(arguments)
    records = {part: PARTS[part](options) for part in options.parts}
    if options.json:
        options.json.write_text(json.dumps(records), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
