"""Real models with undersampled negatives, and the uncertainty that each gives of its scores.

Two fifths of the rows train (one negative in tau is kept), three tenths are held out for the boundary, three tenths
test it. Rows that are held out and that test keep their prevalence.
"""

from __future__ import annotations

import numpy as np

from replications._classification import data_folder, read_classification
from replications.boundary.designs import Sample
from stakes.uncertainty import PosteriorNetwork, from_bagging, mc_dropout


class Parts:
    """Features scaled by the training rows, labels, and which rows train, are held out, and test."""

    def __init__(self, name, tau, seed):
        X, y, _ = read_classification(data_folder(), name)
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        two_fifths, seven_tenths = 2 * len(y) // 5, 7 * len(y) // 10
        train, self.held_out, self.test = np.split(order, (two_fifths, seven_tenths))
        self.train = train[(y[train] == 1) | (rng.random(len(train)) < 1.0 / tau)]
        spread = X[self.train].std(axis=0)
        self.X = (X - X[self.train].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        self.y, self.tau, self.seed = y == 1, tau, seed

    def sample(self, rows, score, uncertainty, **counts):
        return Sample(self.y[rows], score, uncertainty, **counts)


def forest(parts):
    """Spread of the trees, what they dispute, and how many rows their leaves hold; on held-out rows and out of bag."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(100, min_samples_leaf=3, oob_score=True, random_state=parts.seed)
    model.fit(parts.X[parts.train], parts.y[parts.train])
    held, test = (from_bagging(model, parts.X[rows]) for rows in (parts.held_out, parts.test))
    bag = from_bagging(model, parts.X[parts.train], out_of_bag=True)
    measures = {
        "forest, spread of trees": lambda found: np.sqrt(found.variance),
        "forest, mutual information": lambda found: found.mutual_information,
        "forest, rows in leaves": lambda found: 1.0 / found.evidence,
    }
    counts = [{"seen": found.evidence, "positives": found.score * found.evidence} for found in (held, test)]
    for name, measure in measures.items():
        more = counts if name == "forest, rows in leaves" else ({}, {})
        tested = parts.sample(parts.test, test.score, measure(test), **more[1])
        yield name, parts.sample(parts.held_out, held.score, measure(held), **more[0]), tested
    # each negative that was kept stands for tau of them
    weight = np.where(parts.y[parts.train], 1, parts.tau)
    fitted = parts.sample(parts.train, bag.score, 1.0 / bag.evidence, weight=weight)
    yield "forest, rows in leaves, out of bag", fitted, tested


def dropout(parts):
    """What thirty passes of a network with its dropout left on dispute."""
    import torch

    torch.manual_seed(parts.seed)
    width = parts.X.shape[1]
    layers = [torch.nn.Linear(width, 64), torch.nn.ReLU(), torch.nn.Dropout(0.2)]
    layers += [torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(64, 1)]
    net = torch.nn.Sequential(*layers)
    X = torch.tensor(parts.X[parts.train], dtype=torch.float32)
    y = torch.tensor(parts.y[parts.train], dtype=torch.float32)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-5)
    for _ in range(20):
        for rows in torch.randperm(len(y)).split(128):
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(net(X[rows])[:, 0], y[rows]).backward()
            optimizer.step()
    found = [mc_dropout(net, parts.X[rows], n_samples=30, random_state=parts.seed) for rows in both(parts)]
    pair = [parts.sample(r, f.score, f.mutual_information) for r, f in zip(both(parts), found, strict=True)]
    yield "dropout, mutual information", *pair


def posterior_network(parts):
    """One over the evidence of a Posterior Network."""
    model = PosteriorNetwork(random_state=parts.seed).fit(parts.X[parts.train], parts.y[parts.train])
    found = [model.concentration(parts.X[rows]) for rows in both(parts)]
    pair = []
    for rows, alpha in zip(both(parts), found, strict=True):
        total, counts = alpha.sum(axis=1), np.maximum(alpha - model.prior, 0.0)
        seen = {"seen": counts.sum(axis=1), "positives": counts[:, 1]}
        pair.append(parts.sample(rows, alpha[:, 1] / total, 1.0 / total, **seen))
    yield "Posterior Network, evidence", *pair


def both(parts):
    return parts.held_out, parts.test


SOURCES = {"forest": forest, "dropout": dropout, "posterior_network": posterior_network}
