"""How often what is said of many actions is false, and what further rows save beside what was said that they would.

Models are calibrated: each sees one part of what decides the class, and gives the mean probabilities over the rest.
Rows are drawn from a population of class probabilities, so that the true cost of every decision is known. Counted are
false claims about the choice (a set without the truly best decision, a lead that is not there), the finding
`cost-not-as-announced` and the words "beyond chance" of the chosen bill, all false here, and the intervals of its cost,
with how often a note says that few rows carry it or `unseen-costs` that a class may be dearer than seen, and how often
they miss without that finding. `--part information` compares the expected loss of a choice, and what further rows would
save of it, with what choices among models for two actions truly lose and save.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import softmax

from replications.ledger.populations import simulated
from stakes import value_of_information
from stakes.actions import evaluate_actions
from stakes.costs import as_costs
from stakes.evaluation import action_findings

ROWS, ATOMS, TIES = 20_000, 50, 1e-12
ANNOUNCED, UNSEEN, BEYOND = "cost-not-as-announced", "unseen-costs", "a difference beyond chance"
MATRICES = {
    "alike": [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]],
    "one dear": [[0.0, 0.5, 1.0], [1.0, 0.0, 1.0], [20.0, 20.0, 1.0]],
    "dear or not": [[0.0, 0.5, 1.0], [1.0, 0.0, 1.0], [20.0, 2.0, 0.0]],
}
FURTHER = 1000
COUNTED = ("set", "lead", "announced", "bill", "covers", "noted", "unseen", "unsaid")


@dataclass(frozen=True)
class Design:
    """How many models, how much each knows (log-odds), rows, costs, and the share of the third class."""

    models: int
    known: float
    rows: int
    costs: str
    rare: float

    def __str__(self) -> str:
        knows = "much" if self.known > 0.5 else "hardly anything"
        share = f"third class {100 * self.rare:.0f}%"
        who = "1 model that knows" if self.models == 1 else f"{self.models} equal models that know"
        return f"{who} {knows}; {self.rows:,} rows; costs {self.costs}; {share}"


def designs():
    """Yield few and many models that know much or next to nothing, few rows of a dear class."""
    for models, known, rows in product((1, 3, 10), (1.0, 0.1), (200, 1000)):
        yield Design(models, known, rows, "alike", 1.0 / 3.0)
        yield Design(models, known, rows, "one dear", 0.03)
        yield Design(models, known, rows, "dear or not", 0.03)


class Ground:
    """Class probabilities of a population, those that each model gives, and the true cost of every decision."""

    def __init__(self, design):
        rng = np.random.default_rng([design.models, round(10 * design.known), round(100 * design.rare)])
        atoms = design.known * rng.standard_normal((design.models, ATOMS, 3))
        seen = rng.integers(0, ATOMS, (design.models, ROWS))
        hidden = rng.standard_normal((ROWS, 3)) + sum(atoms[k, seen[k]] for k in range(design.models))
        share = 0.5 * (1.0 - design.rare)
        self.true = softmax(hidden + np.log([share, share, design.rare]), axis=1)
        self.matrix = np.array(MATRICES[design.costs])
        self.probs = {f"m{k}": _means(self.true, seen[k]) for k in range(design.models)}
        paid = self.true @ self.matrix
        self.cost = {name: _mean_of_taken(paid, prob @ self.matrix) for name, prob in self.probs.items()}
        self.cost |= {f"always {a}": float(cost) for a, cost in enumerate(paid.mean(axis=0))}

    def judge(self, rng, rows):
        """What is said of one sample, and whether it is false."""
        at = rng.integers(0, ROWS, rows)
        y = (rng.random((rows, 1)) > self.true[at].cumsum(axis=1)).sum(axis=1)
        given = {name: prob[at] for name, prob in self.probs.items()}
        found = evaluate_actions(y, given, matrices=self.matrix, labels=[0, 1, 2], actions=["0", "1", "2"])
        chosen, best = found.selection, min(self.cost.values())
        shown = [name for name, other in chosen.against.items() if other.shown]
        low, high = chosen.interval
        codes, covers = action_findings(found).codes, low - TIES <= self.cost[chosen.chosen] <= high + TIES
        return {
            "set": all(self.cost[name] > best + TIES for name in chosen.possible),
            "lead": any(self.cost[chosen.chosen] >= self.cost[name] - TIES for name in shown),
            "announced": ANNOUNCED in codes,
            "bill": any(BEYOND in sentence for sentence in found.conclusion),
            "covers": covers,
            "noted": bool(chosen.note),
            "unseen": UNSEEN in codes,
            "unsaid": not covers and UNSEEN not in codes,
            "said": chosen.expected_regret,
            "lost": self.cost[chosen.chosen] - best,
        }


def _means(true, group):
    """Mean probabilities of the rows that look alike."""
    counts = np.bincount(group, minlength=ATOMS)
    sums = np.stack([np.bincount(group, column, ATOMS) for column in true.T], axis=1)
    return (sums / counts[:, None])[group]


def _mean_of_taken(paid, announced):
    return float(np.take_along_axis(paid, announced.argmin(axis=1)[:, None], axis=1).mean())


def claims(runs):
    """Print how often each statement is false, by design."""
    heads = ("design", "set", "lead", "not as announced", "bill", "chosen covers", "noted", "unseen costs")
    heads += ("missed unsaid", "loss said / true")
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for design in designs():
        ground, rng = Ground(design), np.random.default_rng(2026)
        found = [ground.judge(rng, design.rows) for _ in range(runs)]
        mean = {key: np.mean([record[key] for record in found]) for key in found[0]}
        shares = " | ".join(f"{mean[key]:.3f}" for key in COUNTED)
        print(f"| {design} | {shares} | {mean['said']:.2g} / {mean['lost']:.2g} |", flush=True)


def information(runs):
    """Print the expected loss and what further rows save of it, as said and as it is, by design."""
    heads = ("models", "rows", "loss said", "true loss", f"{FURTHER:,} rows said to save", "truly save")
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for kind, rows in product(("equal", "one better", "spread", "useless"), (300, 1000)):
        people, measure = simulated(0.2, 4, 0.6, kind), as_costs((0.1, 0.3))
        names = [*people.names, "treat all", "treat none"]
        lines = _losses(people, measure)
        truth, rng = lines.mean(axis=0), np.random.default_rng(2026)
        found = []
        for _ in range(runs):
            at, more = rng.integers(0, len(people.y), rows), rng.integers(0, len(people.y), FURTHER)
            given = {name: people.risks[at, k] for k, name in enumerate(people.names)}
            said = value_of_information(people.y[at], given, costs=measure, more_rows=[FURTHER])
            first = truth[names.index(said.chosen)]
            later = truth[np.argmin(lines[at].sum(axis=0) + lines[more].sum(axis=0))]
            found.append((said.evpi, first - truth.min(), said.evsi[FURTHER], first - later))
        told = " | ".join(f"{value:.2g}" for value in np.mean(found, axis=0))
        print(f"| {kind} | {rows:,} | {told} |", flush=True)


def _losses(people, measure):
    """Cost of every row by every model, then by treating all and none."""
    y, risks = (
        people.y,
        np.column_stack([people.risks, np.full(len(people.y), np.inf), np.full(len(people.y), -np.inf)]),
    )
    return np.where(y[:, None], measure.positive_loss(risks), measure.negative_loss(risks)) / measure.mass


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications action_claims", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--part", choices=("claims", "information"), default="claims")
    asked = parser.parse_args(arguments)
    start = time.process_time()
    {"claims": claims, "information": information}[asked.part](asked.runs)
    print(f"\n{asked.runs:,} samples of each design, {time.process_time() - start:.0f} CPU seconds.")
