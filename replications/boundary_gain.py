"""How often the report of a boundary says that uncertainty helps, where it does and where it cannot.

The designs of `boundary_promise`: "useful", "useless" and "evidence". "helps" and "harms" are shares of data sets whose
interval of the gain in recall lies above or below zero, with their standard errors (at 5%: .015 from 200 data sets,
.031 from 50), and "unknown" of those without an interval, where both decide alike about every row; of the others,
"error" is the mean standard error that the intervals claim, beside the spread of the gains over data sets.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from replications.boundary_promise import DESIGNS
from stakes.boundary import fit_boundary

SIZES = {"useless": (2_000, 4_000, 20_000), "useful": (4_000, 10_000, 40_000), "evidence": (4_000, 20_000, 80_000)}
Z = 1.959964


def gains(name, n, repeats, options):
    design, _, bound, _ = DESIGNS[name]
    rng = np.random.default_rng(11)
    found = []
    for turn in range(repeats):
        score, u, rate = design.draw(n, rng)
        boundary = fit_boundary(rng.random(n) < rate, score, u, min_precision=bound, random_state=turn, **options)
        found.append(boundary.gain(random_state=turn))
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m replications boundary_gain", description=__doc__)
    parser.add_argument("--repeats", type=int, default=200, help="data sets in each line (default 200)")
    parser.add_argument("--chosen", type=int, default=50, help="of these, with levels and solver chosen (default 50)")
    options = parser.parse_args(arguments)
    print("| design | rows | solver | data sets | helps | harms | unknown | mean gain | spread | error | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    ways = {"three levels": ({}, options.repeats)}
    ways["chosen"] = ({"solver": "cv", "levels": "cv", "tune": "cv"}, options.chosen)
    for name, sizes in SIZES.items():
        for n in sizes:
            for way, (settings, repeats) in ways.items():
                if not repeats or (way == "chosen" and n != 4_000):
                    continue
                start = time.perf_counter()
                found = gains(name, n, repeats, settings)
                helps = np.mean([gain.low > 0 for gain in found])
                harms = np.mean([gain.high < 0 for gain in found])
                unknown = np.mean([np.isnan(gain.low) for gain in found])
                known = [gain for gain in found if not np.isnan(gain.low)]
                difference = np.array([gain.difference for gain in known])
                error = np.mean([gain.high - gain.low for gain in known]) / (2 * Z)
                shares = " | ".join(f"{p:.3f} +- {np.sqrt(p * (1 - p) / repeats):.3f}" for p in (helps, harms, unknown))
                numbers = f"{shares} | {difference.mean():+.4f} | {difference.std():.4f} | {error:.4f}"
                spent = time.perf_counter() - start
                print(f"| {name} | {n:,} | {way} | {repeats} | {numbers} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
