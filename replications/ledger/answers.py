"""How often a sentence or a column of the answer is false: `python -m replications.ledger.answers`.

Every design has a population of which the truth is known, or makes rows of which it is. Samples are evaluated as a user
would; what is counted is what the answer prints, and what `group-not-as-promised` and its like say.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings

import numpy as np

from replications.ledger.populations import log_odds, sigmoid, simulated
from stakes import costs as families, evaluate
from stakes.evaluation import FINDINGS
from stakes.outcomes import RowCosts

REFERENCES = ("treat all", "treat none")
BY = 0.05  # another model costs less by more than this share: "USE" is then false
POPULATION, TIES, MOST_ROWS = 200_000, 1e-12, 50_000


class Truth:
    """A population with the true cost of every decision per 1,000."""

    def __init__(self, y, scores, bounds):
        self.y, self.scores, self.bounds = np.asarray(y, bool), scores, bounds
        measure = families.Uniform(*bounds)
        rows = {**scores, "treat all": np.ones(len(y)), "treat none": np.zeros(len(y))}
        self.cost = {}
        for name, s in rows.items():
            losses = np.where(self.y, measure.positive_loss(s), measure.negative_loss(s))
            self.cost[name] = 1000.0 * float(losses.mean()) / measure.mass

    def sample(self, rng, n):
        at = rng.integers(0, len(self.y), n)
        if not 0 < self.y[at].sum() < n:
            return self.sample(rng, n)
        return self.y[at].astype(int), {name: s[at] for name, s in self.scores.items()}


def _known(people, bounds):
    return Truth(people.y, dict(zip(people.names, people.risks.T, strict=True)), bounds)


def worlds():
    """Populations for the columns of the table: one model, two nearly equal, ten, with events of 2 to 37%."""
    for prevalence, bounds in ((0.2, (0.1, 0.3)), (0.05, (0.02, 0.1)), (0.02, (0.01, 0.05))):
        for count, kind in ((1, "equal"), (2, "equal"), (3, "spread"), (10, "equal")):
            people = simulated(prevalence, max(count, 2), 0.9 if count == 2 else 0.6, kind)
            truth = _known(people, bounds)
            truth.scores = dict(list(truth.scores.items())[:count])
            truth.cost = {name: truth.cost[name] for name in (*truth.scores, *REFERENCES)}
            yield f"{count} {kind}, {100 * prevalence:g}% positive", truth
    rng = np.random.default_rng(0)
    y = rng.random(POPULATION) < 0.2
    yield "useless model, 20% positive", Truth(y, {"a": rng.beta(2.0, 8.0, POPULATION)}, (0.1, 0.3))


def columns(samples):
    """Whether all intervals of a column hold, and whether USE names a model that another undercuts."""
    for name, truth in worlds():
        for n in (300, 1000):
            rng = np.random.default_rng(n)
            drawn = (evaluate(*truth.sample(rng, n), costs=truth.bounds) for _ in range(samples))
            found = [_table(result, truth.cost) for result in drawn]
            yield {"design": f"{name}; {n} rows", **_means(found)}


def _table(result, cost):
    """What the table of the answer and its advice say of one sample, by the numbers that it is made from."""
    choice, more, first = result.selection, result.more_than_first, result.ranking[0]
    held = {name: low - TIES <= 0.001 * cost[name] <= high + TIES for name, (low, high) in choice.intervals.items()}
    gaps = {name: 0.001 * (cost[name] - cost[first]) for name in cost}
    least = min(cost.values())
    use = choice.possible == (first,)
    shown = [name for name in cost if name != first and (use or more[name][1] > 0.0)]
    return {
        "cost": all(held.values()),
        "more": all(low - TIES <= gaps[name] <= high + TIES for name, (_, low, high) in more.items()),
        "headline": held[choice.chosen],
        "use": use,
        "use false": use and least < (1.0 - BY) * cost[first],
        "best excluded": all(cost[name] > least + TIES for name in choice.possible),
        "shown false": choice.chosen == first and any(gaps[name] <= TIES for name in shown),
    }


def _groups(rng, n, first, second, wrong=None):
    """Two groups of unlike prevalence, the true probability as score, or one of group B gone wrong."""
    half = n // 2
    base = np.repeat([first, second], [n - half, half])
    x = base + rng.normal(0.0, 1.0, n)
    p, where = sigmoid(x), np.repeat(["A", "B"], [n - half, half])
    score = p.copy()
    b = where == "B"
    if wrong == "noise":
        score[b] = sigmoid(x[b] + rng.normal(0.0, 1.2, b.sum()))
    elif wrong == "shift":
        score[b] = sigmoid(x[b] + 1.2)
    elif wrong == "uninformative":
        score[b] = p[b].mean()
    y = (rng.random(n) < p).astype(int)
    return y, score, where


def rows(samples):
    """Whether as many rows as the answer names show what is open, if differences are as there and as in truth."""
    truths = dict(worlds())
    for name in ("2 equal, 20% positive", "3 spread, 20% positive", "2 equal, 5% positive", "3 spread, 5% positive"):
        truth = truths[name]
        for n in (300, 1000):
            rng, found = np.random.default_rng(n), []
            for _ in range(samples):
                y, scores = truth.sample(rng, n)
                answer = evaluate(y, scores, costs=truth.bounds).answer
                named = re.search(r"about ([\d,]+) rows", " ".join(answer.not_shown))
                record = {"named": named is not None}
                more = int(named[1].replace(",", "")) if named else MOST_ROWS + 1
                if more <= MOST_ROWS:
                    at = rng.integers(0, n, more)
                    same = y[at], {name: s[at] for name, s in scores.items()}
                    record["if so"] = _shown(answer, *same, truth.bounds)
                    record["in truth"] = _shown(answer, *truth.sample(rng, more), truth.bounds)
                found.append(record)
            yield {"design": f"{name}; {n} rows", **_means(found)}


def _shown(answer, y, scores, bounds):
    """Whether other rows show that the first model of an answer costs less than those that it left open."""
    first, *others = answer.table.rows
    found = evaluate(y, scores, costs=bounds)
    ahead = (found.more_than_first[row["model"]][1] > 0.0 for row in others if not row["more_low"] > 0.0)
    return found.ranking[0] == first["model"] and all(ahead)


def groups(samples):
    """How often a group is said not to cost as promised, and an AUC to be lower."""
    for name, ends, bounds in (
        ("23 and 42% positive", (-1.5, -0.4), (0.1, 0.3)),
        ("2.6 and 8% positive", (-4.0, -2.8), (0.02, 0.1)),
    ):
        for wrong in (None, "noise", "shift", "uninformative"):
            if wrong and ends[0] < -3.0:
                continue
            for n in (300, 1000, 5000):
                rng, found = np.random.default_rng(n), []
                while len(found) < samples:
                    y, score, where = _groups(rng, n, *ends, wrong)
                    if not 0 < y.sum() < n:
                        continue
                    result = evaluate(y, {"a": score}, costs=bounds, groups=where)
                    codes = ("group-not-as-promised", "tells-less-in-group")
                    found.append({code: FINDINGS[code].run(result) is not None for code in codes})
                yield {"design": f"{wrong or 'true probabilities'}, {name}; {n} rows", **_means(found)}


CODES = ("inverted", "constant", "calibration-in-the-large", "worse-than-prevalence")


def causes(samples):
    """Findings for scores that are right, turned round, all the same, or exactly 1 on the wrong side once."""
    for name in ("right", "turned round", "label turned round", "constant", "useless", "one score of exactly 1"):
        for n in (300, 1000):
            rng, found = np.random.default_rng(n), []
            for _ in range(samples):
                p = sigmoid(-1.5 + rng.normal(0.0, 1.2, n))
                y = (rng.random(n) < p).astype(int)
                s = p
                if name == "turned round":
                    s = 1.0 - p
                elif name == "label turned round":
                    y = 1 - y
                elif name == "constant":
                    s = np.full(n, 0.2)
                elif name == "useless":
                    s = rng.permutation(p)
                elif name == "one score of exactly 1":
                    s = sigmoid(log_odds(p) + 1.0)
                    s[np.flatnonzero(y == 0)[0]] = 1.0
                result = evaluate(y, {"a": s}, costs=(0.1, 0.3))
                seen = {code: FINDINGS[code].run(result) for code in CODES}
                record = {code: each is not None for code, each in seen.items()}
                text = " ".join(each.sentence for each in seen.values() if each)
                record["overfitting said"] = "overfit" in text
                record["causes not distinguished"] = "do not distinguish the causes" in text
                found.append(record)
            yield {"design": f"{name}; {n} rows", **_means(found)}


def savings(samples):
    """Of answers that say recalibrating saves, how many get dearer on new rows by isotonic recalibration."""
    from stakes.core.score_table import ScoreTable

    for name, slope, shift in (("right", 1.0, 0.0), ("shifted", 1.0, 0.7), ("extreme", 2.0, 0.0), ("nearly", 1.2, 0.1)):
        for n in (300, 1000, 5000):
            rng, found = np.random.default_rng(n), []
            x = -1.5 + np.random.default_rng(7).normal(0.0, 1.2, POPULATION)
            new_y = np.random.default_rng(8).random(POPULATION) < sigmoid(x)
            new = sigmoid(slope * x + shift)
            plain = Truth(new_y, {"a": new}, (0.1, 0.3)).cost["a"]
            for _ in range(samples):
                own = -1.5 + rng.normal(0.0, 1.2, n)
                y, s = (rng.random(n) < sigmoid(own)).astype(int), sigmoid(slope * own + shift)
                answer = evaluate(y, {"a": s}, costs=(0.1, 0.3)).answer
                said = "would save about" in answer.calibration
                record = {"said": said}
                if said:
                    table = ScoreTable.from_predictions(y, s)
                    fitted = table.pav_by_score()
                    mended = np.interp(new, table.scores, fitted)
                    record["dearer"] = Truth(new_y, {"a": mended}, (0.1, 0.3)).cost["a"] > plain
                found.append(record)
            yield {"design": f"{name}; {n} rows", **_means(found)}


def promises(samples):
    """How often scores are said to break their promise, and an option to defer to harm: false where odds are right."""
    for count, n, rate in ((1, 300, 0.3), (20, 300, 0.3), (1, 1000, 0.05), (10, 1000, 0.05)):
        rng, found = np.random.default_rng(n), []
        for _ in range(samples):
            y = rng.random(n) < rate  # each model knows one feature, and gives the risk at its value
            p = sigmoid(log_odds(rate) + rng.normal(size=(n, count)) + y[:, None] - 0.5)
            models = {f"m{k}": column for k, column in enumerate(p.T)}
            found.append(_said(evaluate(y.astype(int), models, costs=rate).with_deferral(0.95 * rate * (1.0 - rate))))
        yield {"design": f"{count} equal, {100 * rate:g}% positive; {n} rows", **_means(found)}
    for odds in (1.0, 1.5):
        for weighed in ("sample_weight", "prevalence"):
            rng, found = np.random.default_rng(0), []
            for _ in range(samples):
                x = rng.normal(-3.4, 1.0, 8000)
                y = rng.random(8000) < sigmoid(x)
                kept = y | (rng.random(8000) < 0.1)
                options = {weighed: np.where(y, 1.0, 10.0)[kept] if weighed == "sample_weight" else sigmoid(x).mean()}
                scores, halves = sigmoid(x + np.log(odds))[kept], np.arange(kept.sum()) % 2
                found.append(_said(evaluate(y[kept], scores, costs=(0.03, 0.2), groups=halves, **options)))
            yield {
                "design": f"a tenth of the negatives, {weighed}; odds {odds:g} times the right ones",
                **_means(found),
            }


def _said(result):
    """What is said of promises and of an option to defer."""
    codes = {code: FINDINGS[code].run(result) is not None for code in ("group-not-as-promised", "deferral-harms")}
    return {"promise broken": "own scores promise" in result.answer.calibration} | codes


def amounts(samples):
    """Whether intervals of the gain of amounts hold, where they are not withheld."""
    for sigma, tied in ((0.7, False), (1.0, False), (1.5, False), (1.0, True)):
        for n in (300, 1000):
            rng, found = np.random.default_rng(n), []
            true = _true_gain(sigma, tied=tied)
            for _ in range(samples):
                y, s, amount = _orders(rng, n, sigma, tied=tied)
                if not 0 < y.sum() < n:
                    continue
                outcome = RowCosts(y, false_positive=10.0, false_negative=amount, unit="EUR")
                gain = evaluate(outcome, {"a": s}).money["a"].gain
                low, high = gain.interval
                withheld = np.isnan(low)
                found.append({"withheld": withheld} | ({} if withheld else {"covers": low <= true <= high}))
            kind = "correlated with risk" if tied else "independent of risk"
            yield {"design": f"amounts of sigma {sigma:g}, {kind}; {n} rows", **_means(found)}


def _orders(rng, n, sigma, *, tied):
    z = rng.normal(0.0, 1.0, n)
    s = sigmoid(-2.2 + z)
    amount = np.exp(4.0 + sigma * (0.6 * z + 0.8 * rng.normal(0.0, 1.0, n) if tied else rng.normal(0.0, 1.0, n)))
    return (rng.random(n) < s).astype(int), s, amount


def _true_gain(sigma, *, tied):
    y, s, amount = _orders(np.random.default_rng(99), 4_000_000, sigma, tied=tied)
    acts = s * amount >= (1.0 - s) * 10.0
    # the gain over acting on nobody: what is saved on positives less what false alarms cost; by probability, not draws
    del y
    return 1000.0 * float(np.where(acts, s * amount - (1.0 - s) * 10.0, 0.0).mean())


def _means(found):
    keys = dict.fromkeys(key for record in found for key in record)
    return {"samples": len(found)} | {
        key: float(np.mean([record[key] for record in found if key in record])) for key in keys
    }


PARTS = {each.__name__: each for each in (columns, rows, groups, promises, causes, savings, amounts)}


def main():
    """Print one line for each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--samples", type=int, default=300)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in asked.parts or PARTS:
        start, heads = time.perf_counter(), None
        for row in PARTS[part](asked.samples):
            numbers = {key: value for key, value in row.items() if key != "design"}
            if heads is None:
                heads = list(numbers)
                print(f"\n| {part} | {' | '.join(heads)} |\n| --- |{' --- |' * len(heads)}", flush=True)
            cells = [
                f"{numbers.get(key, float('nan')):.3f}" if key != "samples" else str(numbers[key]) for key in heads
            ]
            print(f"| {row['design']} | {' | '.join(cells)} |", flush=True)
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
