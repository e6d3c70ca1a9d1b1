"""Whether a Posterior Network's evidence is that of the data, and its bias and log loss what theory and softmax say.

The process is that of the second figure of the paper on boundaries over score and uncertainty, restored: each region of
the input space has its own true positivity, drawn from a Beta distribution, and its own number of training rows, from
2 to 500, uniform on the logarithmic scale. Its rows are a small cloud around a centre. Negatives may be thinned.

`order`: rank correlation of the mean evidence in a region with its number of rows, for the network and what it departs
from. `bias`: score less true positivity, by number of rows and by score, beside the formula. `adult`: log loss on adult
income beside the same encoder under a softmax layer.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr
from sklearn.model_selection import train_test_split

from replications._classification import data_folder, read_classification
from stakes.uncertainty import PosteriorNetwork

FEATURES, SPREAD = 4, 0.03
SETTINGS = {"latent_dim": FEATURES, "bandwidth": 0.1, "n_components": 256}
PAPER = {"density": "radial", "training": "joint", "residual": False, "certainty_budget": 1.0}
# what is changed, one thing after the other, between the paper's network and the one used here
STEPS = {
    "the paper: radial flows, joint training": {**PAPER, "latent_dim": 6},
    "radial flows by likelihood": {"density": "radial", "residual": False, "latent_dim": 6},
    "mixture, joint training": {"training": "joint", "residual": False, "latent_dim": 6, "n_components": 256},
    "mixture by likelihood": {"residual": False, "latent_dim": 6, "n_components": 256},
    "and as many latent dimensions as features": {**SETTINGS, "residual": False, "bandwidth": 0.0},
    "and residual": {**SETTINGS, "bandwidth": 0.0},
    "and bandwidth 0.1": SETTINGS,
}
TRUE_PRIORS = {(1.0, 4.0): ((1.0, 4.0), (1.0, 1.0), (0.5, 0.5)), (0.3, 0.7): ((0.3, 0.7), (0.1, 0.1))}


@dataclass(frozen=True)
class Regions:
    """Training rows, and fresh rows of every region."""

    X: np.ndarray
    y: np.ndarray
    sizes: np.ndarray
    positives: np.ndarray
    truth: np.ndarray
    fresh: np.ndarray

    def mean(self, values):
        """Mean of the values of the fresh rows of each region."""
        return values.reshape(len(self.sizes), -1).mean(axis=1)


def draw(regions, seed, *, prior=(1.0, 4.0), features=FEATURES, undersampling=1.0, largest=500, fresh=20):
    rng = np.random.default_rng(seed)
    truth = rng.beta(*prior, regions)
    sizes = np.round(np.exp(rng.uniform(np.log(2), np.log(largest), regions))).astype(int)
    centres = rng.normal(size=(regions, features))
    region = np.repeat(np.arange(regions), sizes)
    kept = truth / (truth + (1 - truth) / undersampling)
    y = (rng.random(len(region)) < kept[region]).astype(int)
    X = centres[region] + SPREAD * rng.normal(size=(len(region), features))
    new = np.repeat(centres, fresh, axis=0) + SPREAD * rng.normal(size=(regions * fresh, features))
    return Regions(X, y, sizes, np.bincount(region, weights=y, minlength=regions), truth, new)


def counts_seen(data, seed, **settings):
    """What the network counts in each region: of both classes, the prior taken off."""
    model = PosteriorNetwork(random_state=seed, **settings).fit(data.X, data.y)
    found = model.concentration(data.fresh) - 1.0
    return data.mean(found[:, 0]), data.mean(found[:, 1])


def order(numbers, seeds, others):
    print("| regions | network | data sets | rank correlation | lowest | highest | slope of log evidence | s each |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for regions in numbers:
        for name, settings in STEPS.items():
            show_order(regions, name, seeds if regions <= 12 or settings is SETTINGS else others, settings)
    last, most = "last line above", max(numbers)
    for features, bandwidth in ((2, 0.03), (8, 0.1)):
        settings = {**SETTINGS, "latent_dim": features, "bandwidth": bandwidth}
        show_order(most, f"{last}, {features} features, bandwidth {bandwidth}", others, settings, features=features)
    show_order(most, f"{last}, one in 5 negatives kept", others, SETTINGS, undersampling=5.0)
    show_order(most, "defaults", others, {})


def show_order(regions, name, seeds, settings, **process):
    start, ranks, slopes = time.perf_counter(), [], []
    for seed in range(seeds):
        data = draw(regions, seed, **process)
        seen = np.sum(counts_seen(data, seed, **settings), axis=0)
        ranks.append(spearmanr(seen, data.sizes).statistic)
        slopes.append(np.polyfit(np.log(data.sizes), np.log(np.maximum(seen, 1e-6)), 1)[0])
    shown = f"{np.mean(ranks):.2f} | {min(ranks):.2f} | {max(ranks):.2f} | {np.mean(slopes):.2f}"
    print(f"| {regions} | {name} | {seeds} | {shown} | {(time.perf_counter() - start) / seeds:.1f} |", flush=True)


def formula(score, n, true, model):
    """Bias without undersampling, as the paper's appendix has it once its symbols are restored."""
    nu, xi, omega = sum(true) / sum(model), model[0] / sum(model), true[0] / sum(true)
    gamma = sum(model) / n
    return (score * (nu - 1) + xi - nu * omega) * gamma / (1 + nu * gamma)


def bias_table(seeds, true, regions=128):
    """Sizes, truths, positives and what the network counts, over all regions of all data sets, and which data set."""
    rows = []
    for seed in range(seeds):
        data = draw(regions, 1000 + seed, prior=true)
        negative, positive = counts_seen(data, seed, **SETTINGS)
        rows.append([data.sizes, data.truth, data.positives, negative, positive, np.full(regions, seed)])
    return np.concatenate(rows, axis=1)


def score_and_bias(table, true, model):
    """Score, its bias and the formula's, for a model prior: in sequential training it enters after training."""
    sizes, truth, _, negative, positive, _ = table
    score = (model[0] + positive) / (sum(model) + positive + negative)
    return score, score - truth, formula(score, sizes, true, model)


def slope_on(expected, found, group):
    """Least squares through the origin, with a standard error that treats each data set as one observation."""
    slope = found @ expected / (expected @ expected)
    parts = np.array([expected[group == g] @ (found - slope * expected)[group == g] for g in np.unique(group)])
    return slope, np.sqrt(np.sum(parts**2)) / (expected @ expected)


def bias(seeds):
    print("| true prior | model prior | nu | rows in region | score | regions | bias | formula | same, by counting |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    slopes = []
    for true, models in TRUE_PRIORS.items():
        table = bias_table(seeds, true)
        sizes, truth, positives = table[:3]
        for model in models:
            score, found, expected = score_and_bias(table, true, model)
            counted = (model[0] + positives) / (sum(model) + sizes)
            middle = true[0] / sum(true)
            for low, high in ((2, 6), (6, 20), (20, 80), (80, 501)):
                for name, side in (("low", score <= middle), ("high", score > middle)):
                    group = (sizes >= low) & (sizes < high) & side
                    error = found[group].std() / np.sqrt(group.sum())
                    shown = f"{found[group].mean():+.4f} +- {error:.4f} | {expected[group].mean():+.4f}"
                    same = (
                        (sizes >= low) & (sizes < high) & ((counted <= middle) if name == "low" else (counted > middle))
                    )
                    prior = f"{true} | {model} | {sum(true) / sum(model):g}"
                    print(
                        f"| {prior} | {low} to {high - 1} | {name} | {group.sum()} | {shown} | "
                        f"{(counted - truth)[same].mean():+.4f} |",
                        flush=True,
                    )
            overall = f"{found.mean():+.4f} +- {found.std() / np.sqrt(len(found)):.4f}"
            slope = "the formula is zero | "
            if np.any(np.abs(expected) > 1e-9):
                slope = "{:.2f} +- {:.2f}".format(*slope_on(expected, found, table[5]))
                slope += " | {:.2f} +- {:.2f}".format(
                    *slope_on(formula(counted, sizes, true, model), counted - truth, table[5])
                )
            slopes.append(f"| {true} | {model} | {sum(true) / sum(model):g} | {overall} | {slope} |")
    print("\n| true prior | model prior | nu | mean bias | bias on formula, slope | same, by counting |")
    print("| --- | --- | --- | --- | --- | --- |")
    print("\n".join(slopes))


def softmax_network(X, y, seed, latent_dim):
    """The encoder of the network under a softmax layer, trained as usual; returns its probabilities of new rows."""
    import torch
    from torch import nn

    from stakes.uncertainty._posterior_network import make_encoder, make_shortcut

    torch.manual_seed(seed)
    centre, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)

    def tensor(rows):
        return torch.as_tensor((rows - centre) / scale, dtype=torch.float32)

    x, target = tensor(X), torch.as_tensor(y)
    encoder, shortcut = make_encoder(X.shape[1], (64, 64), latent_dim, 0.0), make_shortcut(x, latent_dim)
    normalise, head = nn.BatchNorm1d(latent_dim), nn.Linear(latent_dim, 2)
    parts = nn.ModuleList([encoder, normalise, head])

    def logits(rows):
        return head(normalise(encoder(rows) + shortcut(rows)))

    train, held_out = (
        torch.as_tensor(p) for p in train_test_split(np.arange(len(y)), test_size=0.1, random_state=seed)
    )
    optimizer = torch.optim.Adam(parts.parameters(), lr=1e-3)
    best, since, weights = np.inf, 0, None
    while since <= 20:
        parts.train()
        for batch in train[torch.randperm(len(train))].split(256):
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits(x[batch]), target[batch]).backward()
            optimizer.step()
        parts.eval()
        with torch.no_grad():
            found = float(nn.functional.cross_entropy(logits(x[held_out]), target[held_out]))
        since += 1
        if found < best:
            best, since = found, 0
            weights = {name: value.clone() for name, value in parts.state_dict().items()}
    parts.load_state_dict(weights)
    with torch.no_grad():
        return lambda rows: logits(tensor(rows)).double().softmax(1).detach().numpy()


def log_loss(y, prob):
    return float(-np.log(prob[np.arange(len(y)), y]).mean())


def adult(seeds):
    X, y, excluded = read_classification(data_folder(), "adult")
    train = excluded["split"] == "train"
    print("| network | seed | log loss | softmax layer | difference | least evidence of 95 in 100 rows | s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    plain = [log_loss(y[~train], softmax_network(X[train], y[train], seed, 3)(X[~train])) for seed in range(seeds)]
    for name, settings in (("defaults", {}), ("the paper", PAPER)):
        differences = []
        for seed in range(seeds):
            start = time.perf_counter()
            model = PosteriorNetwork(random_state=seed, **settings).fit(X[train], y[train])
            found = log_loss(y[~train], model.predict_proba(X[~train]))
            differences.append(found - plain[seed])
            least = np.quantile(model.evidence(X[~train]), 0.05)
            spent = time.perf_counter() - start
            shown = f"{found:.4f} | {plain[seed]:.4f} | {differences[-1]:+.4f} | {least:.0f} | {spent:.0f}"
            print(f"| {name} | {seed} | {shown} |", flush=True)
        error = np.std(differences, ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan
        print(f"| {name} | mean | | | {np.mean(differences):+.4f} +- {error:.4f} | | |", flush=True)


def main(arguments=()):
    import torch

    parser = argparse.ArgumentParser(prog="python -m replications posterior_network", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=("order", "bias", "adult"), default=["order", "bias", "adult"])
    parser.add_argument("--seeds", type=int, default=10, help="data sets, or seeds on adult (default 10)")
    parser.add_argument("--others", type=int, default=2, help="data sets, many regions, of other networks (default 2)")
    parser.add_argument("--regions", type=int, nargs="+", default=[12, 128], help="in part `order` (default 12 128)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for part in options.parts:
        if part == "order":
            order(options.regions, options.seeds, options.others)
        else:
            {"bias": bias, "adult": adult}[part](options.seeds)
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
