"""Deferral: how optimistic a fitted pair of thresholds is, and how often certificates and intervals are wrong.

`optimism`: in-sample cost of the best pair of thresholds and what that pair truly costs (c = 0.2, fee 0.05; true
probabilities from Beta(1, 4), scores one unit of log-odds too low). `certificate`: how often each way to choose the
cases decided breaks its limit where the error rate is the limit everywhere. `images`: certificates from random halves
of the 10,000 CIFAR-10 test images, held against all images and against the other half. `intervals`: how often the
interval of the value of the option, and that with fitted thresholds, misses the truth.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from pathlib import Path

import numpy as np
from scipy.stats import beta, binom

from stakes.actions import certify_decided, evaluate_deferral, fit_deferral

C, FEE = 0.2, 0.05
PARTS = ("optimism", "certificate", "images", "intervals")


def sample(rng, n):
    """Labels and scores that are one unit of log-odds too low."""
    q = rng.beta(1.0, 4.0, n)
    return rng.random(n) < q, shifted(q)


def shifted(q):
    return 1.0 / (1.0 + np.exp(1.0 - np.log(q / (1.0 - q))))


GRID = beta.ppf((np.arange(100_000) + 0.5) / 100_000, 1.0, 4.0)
GRID_SCORE = shifted(GRID)


def true_cost(low, high, c=C, fee=FEE):
    """Expected cost of a pair of thresholds on the scores."""
    act, wait = high <= GRID_SCORE, low > GRID_SCORE
    return float(np.where(act, c * (1.0 - GRID), np.where(wait, (1.0 - c) * GRID, fee)).mean())


def optimism(draws):
    yield ("rows", "in sample", "true", "gap", "excess over the best pair")
    best = true_cost(*np.nextafter(shifted(np.array([0.0625, 0.75])), (1.0, 0.0)))
    for n in (100, 200, 500, 1000, 5000):
        rng, found = np.random.default_rng(n), []
        for _ in range(draws):
            pair = fit_deferral(*sample(rng, n), costs=C, deferral=FEE)
            found.append((pair.cost, true_cost(pair.low, pair.high)))
        inside, true = np.mean(found, axis=0)
        yield (f"{n:,}", f"{inside:.4f}", f"{true:.4f}", f"{100 * (inside / true - 1):.1f}%", f"{true - best:.4f}")


def certificate(draws):
    """The error rate is just above the limit for every set decided: whatever is certified breaks it."""
    yield ("rows", "largest observed share below the limit", "best Clopper-Pearson limit", "fixed sequence")
    for n in (200, 1000):
        rng, limit = np.random.default_rng(n), 0.1
        broken = np.zeros(3)
        p = 0.5 * (np.arange(n) + 0.5) / n
        counts = np.arange(1, n + 1)
        least = 29  # so many rows the limit needs without a mistake
        for _ in range(draws):
            wrong = rng.random(n) < limit + 1e-9
            errors = np.cumsum(wrong)
            broken[0] += np.any((errors / counts <= limit)[least - 1 :])
            broken[1] += np.any((binom.cdf(errors, counts, limit) <= 0.05)[least - 1 :])
            broken[2] += certify_decided(wrong, p, threshold=0.5, max_error=limit).certified
        yield (f"{n:,}", *(f"{share:.3f}" for share in broken / draws))


def images(draws):
    yield ("network", "limit", "promise about", "decided", "broken on all images", "broken on the other half")
    folder = Path(os.environ["STAKES_REFERENCE_DIR"]) / "data" / "cifar10_probs"
    for network, limit in (("wideresnet16_4", 0.03), ("lenet5", 0.2)):
        (path,) = folder.glob(f"cifar10_{network}.csv*")
        with gzip.open(path, "rt") as lines:
            head = next(lines).strip().split(",")
            rows = np.loadtxt(lines, delimiter=",")
        prob = rows[:, [head.index(f"p{k}") for k in range(10)]]
        top, right = prob.max(axis=1), prob.argmax(axis=1) == rows[:, head.index("y")]
        for about in ("the population", "the other half"):
            rng, shares, broken = np.random.default_rng(0), [], np.zeros(2)
            for _ in range(draws):
                order = rng.permutation(len(top))
                half, other = order[: len(top) // 2], order[len(top) // 2 :]
                new = {} if about == "the population" else {"new_prob": top[other]}
                found = certify_decided(right[half], top[half], threshold=0.01, max_error=limit, **new)
                shares.append(found.coverage)
                if found.certified:
                    cut = found.zone[1]
                    broken += [np.mean(~right[rows][top[rows] >= cut]) > limit for rows in (order, other)]
            yield (network, f"{limit:.0%}", about, f"{np.mean(shares):.1%}", *(f"{b:.3f}" for b in broken / draws))


DESIGNS = ((C, FEE), (0.5, 0.1))


def intervals(draws):
    """Fitted thresholds are fitted anew to resamples of each sample: a quarter of the draws."""
    yield ("cost ratio, fee", "rows", "rule", "draws", "truth below", "truth above", "said to save where it does not")
    for c, fee in DESIGNS:
        for n in (200, 1000):
            for rule in ("score", "optimal"):
                many = draws if rule == "score" else draws // 4
                below, above, wrong = missed(many, n, rule, c, fee)
                yield (f"{c:g}, {fee:g}", f"{n:,}", rule, f"{many:,}", f"{below:.3f}", f"{above:.3f}", f"{wrong:.3f}")


def missed(draws, n, rule, c, fee):
    """How often the interval of the value lies above and below the truth, and shows a saving where there is none."""
    rng, miss, worth = np.random.default_rng(n), np.zeros(3), _value_at_face(c, fee)
    useless = 0.97 * c * (1.0 - c)  # at this fee deferring hardly ever pays, at face value it does harm
    most = max(_value_at_face(c, useless), 0.0)
    for k in range(draws):
        y, p = sample(rng, n)
        options = {"costs": c, "rule": rule, "random_state": k}
        low, high = evaluate_deferral(y, p, deferral=fee, **options).estimates["value"].interval
        truth = worth if rule == "score" else _value_of_fitted(y, p, c, fee)
        none = evaluate_deferral(y, p, deferral=useless, **options)
        miss += [truth < low, truth > high, none.estimates["value"].interval[0] > most]
    return miss / draws


def _value_at_face(c, fee):
    low, high = fee / (1.0 - c), 1.0 - fee / c
    alone = np.where(c <= GRID_SCORE, c * (1.0 - GRID), (1.0 - c) * GRID)
    defer = (low < GRID_SCORE) & (high > GRID_SCORE)
    return float((alone - np.where(defer, fee, alone)).mean())


def _value_of_fitted(y, p, c, fee):
    """What the pair that is best on these rows truly saves over the single threshold that is best on them."""
    pair = fit_deferral(y, p, costs=c, deferral=fee)
    alone = fit_deferral(y, p, costs=c, deferral=1.0)  # never pays
    return true_cost(alone.low, alone.high, c, fee) - true_cost(pair.low, pair.high, c, fee)


def table(part, draws, folder):
    """Print the table of one part; a file that is there already is not made again."""
    target = folder / f"deferral_{part}_{draws}.md"
    if not target.exists():
        start = time.process_time()
        heads, *rows = globals()[part](draws)
        lines = [heads, ["---"] * len(heads), *rows]
        text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        text += f"\n\n{draws:,} draws, {time.process_time() - start:.0f} CPU seconds\n"
        folder.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    print(f"## {part}\n\n{target.read_text(encoding='utf-8')}", flush=True)


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m replications deferral", description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--folder", type=Path, default=Path("results"), help="finished tables are kept and read here")
    chosen = parser.parse_args(options)
    for part in chosen.parts:
        table(part, chosen.draws, chosen.folder)
