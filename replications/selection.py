"""What picking the best of k models does to its numbers, and whether `select_best` repairs it, by simulation.

Models score the same rows with the true log-odds plus noise of their own and a common noise, whose share sets how their
costs correlate. In the "equal" worlds all have the same expected cost; in "one better" the first has less noise. Truths
are means over a large independent sample of the same population.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from stakes import costs
from stakes.inference import Contest, CostRows, select

COSTS = {"average over 10 to 30%": costs.Uniform(0.1, 0.3), "at 20%": costs.Fixed(0.2)}
TRUTH_ROWS = 400_000


def scores(rng, n, count, common, noises):
    """Labels and one column of probabilities for each model."""
    q = rng.beta(1.0, 4.0, n)
    logit = np.log(q / (1.0 - q))[:, None]
    shared = np.sqrt(common) * rng.standard_normal((n, 1))
    noise = shared + np.sqrt(1.0 - common) * rng.standard_normal((n, count))
    return rng.random(n) < q, 1.0 / (1.0 + np.exp(-(logit + noise * noises)))


def losses_of(y, p, distribution):
    always, never = float(distribution.negative_loss(np.inf)), float(distribution.positive_loss(-np.inf))
    lines = np.where(y[:, None], distribution.positive_loss(p), distribution.negative_loss(p))
    ends = np.stack([np.where(y, 0.0, always), np.where(y, never, 0.0)], axis=1)
    largest = np.full((2, p.shape[1] + 2), [[always], [never]])
    largest[1, -2] = largest[0, -1] = 0.0
    return np.concatenate([lines, ends], axis=1) / distribution.mass, largest / distribution.mass


def truths(rng, common, noises, distribution):
    """Expected cost of each decision: models with the same noise have the same."""
    distinct, place = np.unique(noises, return_inverse=True)
    total = np.zeros(len(distinct) + 2)
    for _ in range(4):
        y, p = scores(rng, TRUTH_ROWS // 4, len(distinct), common, distinct)
        total += losses_of(y, p, distribution)[0].mean(axis=0) / 4
    return np.concatenate([total[place], total[-2:]])


def one(rng, n, common, noises, distribution, truth):  # noqa: PLR0917
    """One sample: what is claimed, and whether it is true."""
    count = len(noises)
    y, p = scores(rng, n, count, common, noises)
    lines, largest = losses_of(y, p, distribution)
    rows = CostRows(lines, y, np.ones(n), None, largest)
    names = (*(f"m{k}" for k in range(count)), "treat all", "treat none")
    contest = Contest(names, count, rows.means, rows.covariance(), n, rows.spread, float(largest.max()))
    incumbent = f"m{count - 1}"
    found = select(contest, incumbent=incumbent, random_state=int(rng.integers(1 << 31)))
    true = dict(zip(names, truth, strict=True))
    error = np.sqrt(np.diag(contest.covariance))
    place = names.index(found.chosen)
    gaps = contest.covariance[place, place] + contest.covariance[count - 1, count - 1]
    gap_error = np.sqrt(max(gaps - 2 * contest.covariance[place, count - 1], 1e-30))
    lead = contest.means[count - 1] - contest.means[place]
    worse = true[found.chosen] >= true[incumbent] - 1e-12 and found.chosen != incumbent
    low, high = found.interval
    best = [name for name, value in true.items() if value <= min(truth) + 1e-12]
    claims = [other.shown and true[found.chosen] >= true[name] - 1e-12 for name, other in found.against.items()]
    alone = len(found.possible) == 1 and found.possible[0] not in best
    return (
        (found.cost - true[found.chosen]) / error[place],
        (found.corrected_cost - true[found.chosen]) / error[place],
        abs(found.cost - true[found.chosen]) <= 1.959964 * error[place],
        low <= true[found.chosen] <= high,
        np.mean([name in found.possible for name in best]),
        len(found.possible),
        worse and lead > 1.959964 * gap_error,
        worse and incumbent in found.against and found.against[incumbent].shown,
        any(claims) or alone,
        true[found.chosen] - min(truth),
        found.expected_regret,
    )


COLUMNS = (
    *("world", "k", "n", "common", "costs", "bias", "bias corrected", "plain covers", "interval covers"),
    *("set holds", "set size", "plain false", "incumbent false", "any claim false", "regret", "expected"),
)


def run(draws, counts, sizes, commons, worlds, ranges, seed=1):  # noqa: PLR0917
    """Yield one row of the table for each setting."""
    for world in worlds:
        for count in counts:
            noises = np.full(count, 0.4)
            if world == "one better":
                noises[0] = 0.2
            for common in commons:
                for label in ranges:
                    rng = np.random.default_rng([seed, count, round(100 * common), len(label), len(world)])
                    truth = truths(rng, common, noises, COSTS[label])
                    for n in sizes:
                        found = np.array(
                            [one(rng, n, common, noises, COSTS[label], truth) for _ in range(draws)], float
                        )
                        yield (world, count, n, common, label, *found.mean(axis=0))


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m replications selection", description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--models", type=int, nargs="+", default=[2, 5, 10, 50])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--common", type=float, nargs="+", default=[0.0, 0.8])
    parser.add_argument("--worlds", nargs="+", default=["equal", "one better"])
    parser.add_argument("--costs", nargs="+", default=list(COSTS))
    chosen = parser.parse_args(options)
    start = time.perf_counter()
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS))
    settings = (chosen.models, chosen.rows, chosen.common, chosen.worlds, chosen.costs)
    for row in run(chosen.draws, *settings):
        cells = [str(value) if not isinstance(value, float) else f"{value:.4g}" for value in row]
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\n{chosen.draws} draws of each setting, {time.perf_counter() - start:.0f} s")
