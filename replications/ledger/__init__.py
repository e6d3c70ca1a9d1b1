"""How often what the product says is false: claims and printed intervals, in designs like real life.

Every design is a finite population, so the truth of claims is known. For each sample the ledger makes the statements
that `select_best` makes (which decisions may be best, what is shown to cost less than what, the chosen one's cost) and
the plain intervals that tables print, and counts those that are false. What is said of every threshold of a range is
counted in every fifth sample of independent rows. Resumable: what is done is kept in --out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from replications.ledger.designs import designs
from replications.ledger.thresholds import Curves
from stakes.costs import as_costs
from stakes.inference import FEW_DEGREES, CostRows, select
from stakes.outputs.hooks import time_left

Z = 1.959963984540054
SAMPLES = 1000
BY_THRESHOLD = 5  # in each so many samples the claims about every threshold are made too
TIES = 1e-12
AT_MOST_FALSE, AT_LEAST_COVERED = 0.05, 0.93
REFERENCES = ("treat all", "treat none")
AT_THRESHOLDS = ("false thresholds", "crossing", "every threshold")
PARTS = ("cost", "difference", "against all")


class Ground:
    """A population with the cost of every decision in every row, and the truth."""

    def __init__(self, design):
        people = design.population()
        costs = as_costs(design.costs)
        always, never = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
        y = people.y
        lines = np.where(y[:, None], costs.positive_loss(people.risks), costs.negative_loss(people.risks))
        ends = np.stack([np.where(y, 0.0, always), np.where(y, never, 0.0)], axis=1)
        self.lines = np.concatenate([lines, ends], axis=1) / costs.mass
        self.largest = np.full((2, self.lines.shape[1]), [[always], [never]]) / costs.mass
        self.largest[1, -2] = self.largest[0, -1] = 0.0
        self.y, self.names, self.count = y, (*people.names, *REFERENCES), len(people.names)
        self.weight = np.ones(len(y)) if people.weight is None else people.weight
        self.truth = self.weight @ self.lines / self.weight.sum()
        self.clusters = people.clusters
        if self.clusters is not None:
            self.starts = np.searchsorted(self.clusters, np.arange(self.clusters[-1] + 2))
        self.weighted = people.weight is not None
        self.curves = None
        if self.clusters is None and not np.isscalar(design.costs):
            self.curves = Curves(people, design.costs, self.weight)

    def draw(self, rng, rows):
        """Rows of a sample, and the clusters they belong to; whole clusters until there are enough rows."""
        if self.clusters is None:
            return rng.integers(0, len(self.y), rows), None
        picked = rng.integers(0, len(self.starts) - 1, rows)
        sizes = self.starts[picked + 1] - self.starts[picked]
        picked = picked[: int(np.searchsorted(np.cumsum(sizes), rows)) + 1]
        sizes = self.starts[picked + 1] - self.starts[picked]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(self.starts[picked], sizes) + within, np.repeat(np.arange(len(picked)), sizes)


def judge(ground, rng, rows, *, by_threshold=False):
    """One sample: which claims are false, which intervals cover, and what is flagged as scarce."""
    at, clusters = ground.draw(rng, rows)
    sample = CostRows(ground.lines[at], ground.y[at], ground.weight[at], clusters, ground.largest)
    names = ground.names
    contest = sample.contest(names, ground.count)
    found = select(contest, incumbent=names[ground.count - 1], random_state=0)
    said = {}
    if by_threshold and ground.curves is not None and not ground.weighted:
        said = ground.curves.judge(at, sample.y, None, names, found)
    return _claims(ground, found) | {"events": int(sample.y.sum())} | _intervals(ground, sample) | said


def _claims(ground, found):
    truth = dict(zip(ground.names, ground.truth, strict=True))
    best = ground.truth.min() + TIES
    false_set = all(truth[name] > best for name in found.possible)
    beaten = [name for name, other in found.against.items() if other.shown]
    false_lead = any(truth[found.chosen] >= truth[name] - TIES for name in beaten)
    low, high = found.interval
    return {
        "false set": false_set,
        "false lead": false_lead,
        "false": false_set or false_lead,
        "chosen": low - TIES <= truth[found.chosen] <= high + TIES,
        "size": len(found.possible),
        "claims": len(beaten),
        "regret": truth[found.chosen] - ground.truth.min(),
        "expected": found.expected_regret,
    }


def _intervals(ground, sample):
    record = {}
    first, second = np.zeros(3, np.intp), np.array([-1, 1, ground.count])
    spread = sample.spread(first, second)
    values = sample.means[0] - np.where(second < 0, 0.0, sample.means[second])
    true = ground.truth[0] - np.where(second < 0, 0.0, ground.truth[second])
    reach, scarce = spread.reach(Z), np.isfinite(spread.scarce)
    few = ~scarce & (spread.degrees < FEW_DEGREES)
    plain = Z * np.sqrt(spread.variance)
    for k, part in enumerate(PARTS):
        record[part] = abs(values[k] - true[k]) <= reach[k] + TIES
        record[f"{part} scarce"] = scarce[k]
        record[f"{part} few"] = few[k]
        record[f"{part} width"] = reach[k] / plain[k] if plain[k] > 0.0 and not (scarce[k] or few[k]) else np.nan
        record[f"{part} above"] = values[k] - reach[k] > true[k] + TIES
        record[f"{part} normal"] = abs(values[k] - true[k]) <= plain[k] + TIES
    return record


def label(design):
    costs = f"at {design.costs:g}" if np.isscalar(design.costs) else f"{design.costs[0]:g} to {design.costs[1]:g}"
    return f"{design.name}; {design.rows} rows; {costs}"


def run(design, samples, seed):
    """Return the means over samples of everything that is counted."""
    ground = Ground(design)
    rng = np.random.default_rng([seed, design.rows, len(design.name)])
    start = time.process_time()
    found = [judge(ground, rng, design.rows, by_threshold=k % BY_THRESHOLD == 0) for k in range(samples)]
    means = {key: _mean([record[key] for record in found if key in record]) for key in found[0]}
    return {"design": label(design), "samples": samples, "seconds": time.process_time() - start, **means}


def _mean(values):
    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else None


def table(records):
    """Return the ledger as a Markdown table, and the designs that fail."""
    header = [
        *("design", "events", "false claims", "set", "lead", "chosen covers", "set size"),
        *("false at thresholds", "curves cross", "every threshold"),
        *("cost covers", "difference covers", "against all covers"),
        *("scarce", "few", "width", "normal covers", "samples"),
    ]
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    for r in records:
        scarce, few = ([r[f"{part} {flag}"] for part in PARTS] for flag in ("scarce", "few"))
        widths = [r[f"{part} width"] for part in PARTS]
        cells = [
            *(
                r["design"],
                f"{r['events']:.0f}",
                f"{r['false']:.3f}",
                f"{r['false set']:.3f}",
                f"{r['false lead']:.3f}",
            ),
            *(f"{r['chosen']:.3f}", f"{r['size']:.1f}"),
            *(_share(r.get(part)) for part in AT_THRESHOLDS),
            *(f"{r[part]:.3f}" for part in PARTS),
            *(" ".join(f"{s:.2f}" for s in flagged) for flagged in (scarce, few)),
            " ".join("-" if w is None else f"{w:.2f}" for w in widths),
            " ".join(f"{r[f'{part} normal']:.3f}" for part in PARTS),
            str(r["samples"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _share(value):
    return "-" if value is None else f"{value:.3f}"


def failures(records):
    """Designs in which too much is false or too little covered; two standard errors allowed."""
    for r in records:
        error = np.sqrt(0.05 * 0.95 / r["samples"])
        if r["false"] > AT_MOST_FALSE + 2 * error:
            yield f"{r['design']}: {r['false']:.3f} of conclusions hold a false claim"
        at_thresholds = r.get("false thresholds") or 0.0
        if at_thresholds > AT_MOST_FALSE + 2 * error * np.sqrt(BY_THRESHOLD):
            yield f"{r['design']}: {at_thresholds:.3f} hold a false claim about every threshold"
        for part in ("chosen", *PARTS):
            if r[part] < AT_LEAST_COVERED - 2 * error:
                yield f"{r['design']}: the interval of {part} covers {r[part]:.3f}"


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m replications ledger", description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--out", type=Path, default=Path("ledger.jsonl"))
    parser.add_argument("--only", default="", help="designs whose name holds this text")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(options)
    done = {}
    if chosen.out.exists():
        records = [json.loads(line) for line in chosen.out.read_text(encoding="utf-8").splitlines()]
        done = {record["design"]: record for record in records if record["samples"] == chosen.samples}
    todo = [design for design in designs() if chosen.only in design.name]
    missing = [design for design in todo if label(design) not in done]
    begun = time.monotonic()
    for place, design in enumerate(missing, 1):
        record = run(design, chosen.samples, chosen.seed)
        done[label(design)] = record
        with chosen.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        left = time_left(place, len(missing), time.monotonic() - begun) or "done"
        said = f"{place} of {len(missing)}: {label(design)}, {record['seconds']:.0f} s, {left}"
        print(said, file=sys.stderr, flush=True)
    kept = [done[label(design)] for design in todo]
    print(table(kept))
    print(f"\n{len(kept)} designs, {chosen.samples} samples each, {sum(r['seconds'] for r in kept) / 60:.0f} minutes.")
    failed = list(failures(kept))
    print("\n".join(["Failures:", *failed]) if failed else "No design fails.")
