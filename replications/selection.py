"""What picking the best of k models does to its numbers, and whether `select_best` repairs it, by simulation.

`best`: models score the same rows with the true log-odds plus noise of their own and a common noise, whose share sets
how their costs correlate. In the "equal" worlds all have the same expected cost; in "one better" the first has less
noise. Truths are means over a large independent sample of the same population. `thresholds`: of two models a is said to
cost less on average, at every one of 21 thresholds (each tested alone, no correction), or somewhere (a band), in worlds
where that is true and where it is not.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from replications._kept import kept, markdown, spent
from stakes import costs
from stakes.inference import CostRows, PairedRows, reached, select, shown_band

COSTS = {"average over 10 to 30%": costs.Uniform(0.1, 0.3), "at 20%": costs.Fixed(0.2)}
TRUTH_ROWS = 400_000
NORMAL = 1.959964
THRESHOLDS = np.linspace(0.1, 0.3, 21)
# the risk that no noise crosses, and the noise of a and of b in the log-odds of risks below it and above
WORLDS = {
    "a better everywhere": (0.0, (0.2, 1.2), (0.2, 1.2)),
    "equal": (0.125, (0.7, 0.7), (0.7, 0.7)),
    "equal below 12.5%, a better above": (0.125, (0.7, 0.7), (0.2, 1.2)),
    "b better below 17.5%, a better above": (0.175, (1.2, 0.2), (0.2, 1.2)),
}


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
    contest = rows.contest(names, count)
    found = select(contest, incumbent=names[count - 1], random_state=int(rng.integers(1 << 31)))
    return claims(contest, found, dict(zip(names, truth, strict=True)))


def claims(contest, found, true):
    """What is said of the chosen decision with and without the correction, and whether it is true."""
    count, covariance, names = contest.n_models, contest.covariance, contest.names
    error, chosen = np.sqrt(np.diag(covariance)), true[found.chosen]
    place, incumbent, lowest = names.index(found.chosen), names[count - 1], min(true.values())

    def plain(rival):
        """Whether the plain test says that the chosen one costs less than this other, and in truth it does not."""
        if rival == place:
            return False
        gap = covariance[place, place] + covariance[rival, rival] - 2.0 * covariance[place, rival]
        lead = contest.means[rival] - contest.means[place]
        return chosen >= true[names[rival]] - 1e-12 and lead > NORMAL * np.sqrt(max(gap, 1e-30))

    runner_up = int(np.argsort(contest.means[:count])[1])
    shown = {name for name, other in found.against.items() if other.shown}
    best = [name for name, value in true.items() if value <= lowest + 1e-12]
    alone = len(found.possible) == 1 and found.possible[0] not in best
    correlation = covariance[:count, :count] / np.outer(error[:count], error[:count])
    return {
        "correlation": correlation[np.triu_indices(count, 1)].mean(),
        "bias": (found.cost - chosen) / error[place],
        "corrected": (found.corrected_cost - chosen) / error[place],
        "plain": abs(found.cost - chosen) <= NORMAL * error[place],
        "dearer": chosen > found.cost + NORMAL * error[place],
        "interval": found.interval[0] <= chosen <= found.interval[1],
        "set": np.mean([name in found.possible for name in best]),
        "size": len(found.possible),
        "plain incumbent": plain(count - 1),
        "plain runner-up": plain(runner_up),
        "incumbent": incumbent in shown and chosen >= true[incumbent] - 1e-12,
        "any": alone or any(chosen >= true[name] - 1e-12 for name in shown),
        "regret": chosen - lowest,
        "expected": found.expected_regret,
    }


def expected_maximum(count):
    """Of so many independent normal values."""
    return quad(lambda x: x * count * norm.pdf(x) * norm.cdf(x) ** (count - 1), -10.0, 10.0)[0]


def best(world, count, n, common, label, draws):  # noqa: PLR0917
    """Means over the draws of one setting."""
    noises = np.full(count, 0.4)
    if world == "one better":
        noises[0] = 0.2
    rng = np.random.default_rng([1, count, n, round(100 * common), len(label), len(world)])
    truth = truths(rng, common, noises, COSTS[label])
    found = [one(rng, n, common, noises, COSTS[label], truth) for _ in range(draws)]
    means = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
    return means | {"expected bias": -np.sqrt(1.0 - means["correlation"]) * expected_maximum(count)}


def two_models(rng, n, edge, low, high):
    """Labels and two noisy scores, each on the true risk's side of the edge."""
    q = rng.beta(1.0, 4.0, n)
    rare = q < edge
    noise = np.where(rare, np.array(low)[:, None], np.array(high)[:, None]) * rng.standard_normal((2, n))
    score = 1.0 / (1.0 + np.exp(-(np.log(q / (1.0 - q)) + noise)))
    return rng.random(n) < q, np.where(rare, np.minimum(score, np.nextafter(edge, 0.0)), np.maximum(score, edge))


def thresholds(world, n, draws):
    """How often each of three things is said of a, and the last of b too."""
    rng, told = np.random.default_rng([2, n, len(world)]), np.zeros(4)
    uniform = COSTS["average over 10 to 30%"]
    for _ in range(draws):
        y, models = two_models(rng, n, *WORLDS[world])
        bins = tuple(reached(score, THRESHOLDS) for score in models)
        rows = PairedRows(y, [], None)
        band = shown_band(rows, bins, THRESHOLDS, 0.95, shared=0.95, name="a - b")
        gap = np.subtract(*(uniform.row_loss(y, score) for score in models)) / uniform.mass
        told += [
            gap.mean() < -NORMAL * gap.std(ddof=1) / np.sqrt(n),
            bool(np.all(band.high < 0.0)),
            bool(np.any(band.simultaneous_high < 0.0)),
            bool(np.any(band.simultaneous_low > 0.0)),
        ]
    return dict(zip(("average", "everywhere", "a somewhere", "b somewhere"), (told / draws).tolist(), strict=True))


SHOWN = {
    "bias, in SE": "bias",
    "of normal errors": "expected bias",
    "after correction": "corrected",
    "plain interval covers": "plain",
    "dearer than it says": "dearer",
    "our interval covers": "interval",
    "set holds a best": "set",
    "plain test against incumbent false": "plain incumbent",
    "against runner-up": "plain runner-up",
    "ours against incumbent false": "incumbent",
    "any claim false": "any",
}


def summary(records):
    """One line for each world and number of models: least and most over the settings."""
    groups = {}
    for record in records:
        groups.setdefault(tuple(record["setting"][:2]), []).append(record)
    for (world, count), group in groups.items():
        ends = ((min(r[key] for r in group), max(r[key] for r in group)) for key in SHOWN.values())
        told = [f"{low:.3f}" if low == high else f"{low:.3f} to {high:.3f}" for low, high in ends]
        regret, said = (np.array([record[key] for record in group]) for key in ("regret", "expected"))
        ratio = f"{np.median(said / regret):.2f}" if np.all(regret > 0.0) else ""
        yield (world, str(count), *told, ratio)


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m replications selection", description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--parts", nargs="+", choices=("best", "thresholds"), default=["best", "thresholds"])
    parser.add_argument("--models", type=int, nargs="+", default=[2, 5, 10, 50])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--common", type=float, nargs="+", default=[0.0, 0.8])
    parser.add_argument("--worlds", nargs="+", default=["equal", "one better"])
    parser.add_argument("--costs", nargs="+", default=list(COSTS))
    parser.add_argument("--folder", type=Path, default=Path("results"), help="finished settings are kept and read here")
    chosen = parser.parse_args(options)
    if "best" in chosen.parts:
        grid = [
            (world, count, n, common, label, chosen.draws)
            for world in chosen.worlds
            for count in chosen.models
            for n in chosen.rows
            for common in chosen.common
            for label in chosen.costs
        ]
        records = list(kept(chosen.folder / "selection_best.jsonl", grid, best))
        heads = ("world", "models", *SHOWN, "expected regret of the choice / true, median")
        print(
            f"## best\n\n{markdown(heads, summary(records))}\n\n{chosen.draws:,} draws, {spent(records)}\n", flush=True
        )
    if "thresholds" in chosen.parts:
        grid = [(world, n, 2 * chosen.draws) for world in WORLDS for n in (1000, 5000)]
        records = list(kept(chosen.folder / "selection_thresholds.jsonl", grid, thresholds))
        heads = ("world", "rows", "lower on average", "at every threshold", "a lower somewhere", "b lower somewhere")
        keys = ("average", "everywhere", "a somewhere", "b somewhere")
        told = [(r["setting"][0], f"{r['setting'][1]:,}", *(f"{r[key]:.3f}" for key in keys)) for r in records]
        print(f"## thresholds\n\n{markdown(heads, told)}\n\n{2 * chosen.draws:,} draws, {spent(records)}")
