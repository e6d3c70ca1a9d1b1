"""Scores of little or much evidence whose truth is known: the process of the second figure of the paper on boundaries.

A region has a true positivity q ~ Beta, of N of its examples (negatives undersampled) S are positive, and the score is
the mean of the model's Beta posterior. The parameters are a reconstruction: the text of the paper has lost them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import betaln, gammaln

from stakes.uncertainty import positivity_posterior


@dataclass(frozen=True)
class Sample:
    """Rows of scores with their uncertainties; in a simulation also the counts behind them and the truth."""

    y: np.ndarray
    score: np.ndarray
    uncertainty: np.ndarray
    seen: np.ndarray | None = None
    positives: np.ndarray | None = None
    truth: np.ndarray | None = None
    weight: np.ndarray | None = None


@dataclass(frozen=True)
class Design:
    """Prior of the truth, undersampling, prior of the model, range of N (log-uniform), rows to fit and to test on."""

    true_prior: tuple[float, float]
    undersampling: float
    model_prior: tuple[float, float]
    fewest: int
    most: int
    hold_out: int

    @property
    def nu(self):
        """Strength of the true prior in that of the model's: above 1 the model shrinks too little."""
        return sum(self.true_prior) / sum(self.model_prior)

    def kept(self, truth):
        """Share of positives among the examples kept for training."""
        return self.undersampling * truth / (self.undersampling * truth + 1.0 - truth)

    def draw(self, n, rng):
        """Independent rows, each from a region of its own."""
        seen = np.exp(rng.uniform(np.log(self.fewest), np.log(self.most + 1), n)).astype(int)
        truth = rng.beta(*self.true_prior, n)
        positives = rng.binomial(seen, self.kept(truth))
        evidence = sum(self.model_prior) + seen
        score = (self.model_prior[0] + positives) / evidence
        return Sample(rng.random(n) < truth, score, 1.0 / evidence, seen, positives, truth)

    def posterior_mean(self, sample):
        """Expected positivity given all that was seen: no ranking is better."""
        pairs = sample.seen.astype(np.int64) * (self.most + 2) + sample.positives
        distinct, inverse = np.unique(pairs, return_inverse=True)
        seen, positives = np.divmod(distinct, self.most + 2)
        found = positivity_posterior(positives, seen, prior=self.true_prior, undersampling=self.undersampling)
        return found.mean[inverse]

    @cache  # noqa: B019  (designs are few and live as long as the program)
    def population(self):
        """Every N and S of a region: their probability, score, and expected positivity."""
        sizes = np.arange(self.fewest, self.most + 1)
        of_size = np.log1p(1.0 / sizes) / np.log((self.most + 1) / self.fewest)
        seen, positives = np.repeat(sizes, sizes + 1), np.concatenate([np.arange(n + 1) for n in sizes])
        found = positivity_posterior(positives, seen, prior=self.true_prior, undersampling=self.undersampling)
        ways = gammaln(seen + 1) - gammaln(positives + 1) - gammaln(seen - positives + 1)
        thinned = positives * np.log(self.undersampling) - betaln(*self.true_prior)
        share = np.repeat(of_size, sizes + 1) * np.exp(ways + thinned + found.log_normaliser)
        return share, (self.model_prior[0] + positives) / (sum(self.model_prior) + seen), found.mean

    def best_recalls(self, bound):
        """Largest recall with a precision in the population, ranking by the score and by the expected positivity."""
        share, score, rate = self.population()
        return tuple(recall_at(rank, share, rate, float(bound)) for rank in (score, rate))

    def with_undersampling(self, tau):
        """The same process with another share of negatives kept."""
        return replace(self, undersampling=float(tau))


def recall_at(rank, share, rate, bound):
    """Recall of the deepest threshold on a ranking that keeps a precision, where cells have shares and rates."""
    order = np.argsort(-rank, kind="stable")
    last = np.append(np.flatnonzero(np.diff(rank[order])), len(order) - 1)
    found, chosen = np.cumsum((share * rate)[order])[last], np.cumsum(share[order])[last]
    kept = np.flatnonzero(found >= bound * chosen)
    return float(found[kept[-1]] / found[-1]) if len(kept) else 0.0


DESIGNS = {
    "A": Design((0.1, 0.9), 1.0, (1.0, 1.0), 2, 200, 50_000),
    "B": Design((0.1, 0.9), 20.0, (1.0, 1.0), 2, 200, 50_000),
    "C": Design((0.2, 1.8), 5.0, (0.1, 0.1), 2, 500, 100_000),
    "D": Design((1.0, 4.0), 1.0, (1.0, 1.0), 1, 1000, 100_000),
    "E": Design((0.3, 0.7), 5.0, (0.1, 0.1), 1, 200, 100_000),
}
TEST_ROWS = 400_000

# Matched recall measured apart from this library: ST, HR, GMT, MIST, EW-DPMT (500 bins) and exact with 3 levels, exact
# with 11, and the ranking by the posterior mean; 12 seeds.
MEASURED = {
    ("A", 0.7): (0.534, 0.052, 0.537, 0.537, 0.542, 0.542, 0.539, 0.547),
    ("A", 0.8): (0.368, 0.0, 0.341, 0.357, 0.355, 0.361, 0.349, 0.364),
    ("A", 0.9): (0.154, 0.0, 0.146, 0.146, 0.143, 0.150, 0.138, 0.156),
    ("B", 0.7): (0.297, 0.0, 0.281, 0.305, 0.316, 0.315, 0.322, 0.334),
    ("B", 0.8): (0.136, 0.0, 0.130, 0.135, 0.144, 0.145, 0.139, 0.150),
    ("B", 0.9): (0.0125, 0.0, 0.0097, 0.0101, 0.0117, 0.0091, 0.0093, 0.0164),
    ("C", 0.7): (0.046, 0.0, 0.150, 0.149, 0.150, 0.153, 0.154, 0.158),
    ("C", 0.8): (0.013, 0.0, 0.048, 0.039, 0.047, 0.049, 0.050, 0.058),
    ("C", 0.9): (0.0027, 0.0, 0.0071, 0.0062, 0.0041, 0.0073, 0.0059, 0.0091),
    ("D", 0.7): (0.0065, 0.0, 0.0300, 0.0276, 0.0298, 0.0309, 0.0282, 0.0314),
    ("D", 0.8): (0.0007, 0.0, 0.0023, 0.0017, 0.0020, 0.0026, 0.0036, 0.0046),
    ("E", 0.7): (0.653, 0.0, 0.573, 0.585, 0.648, 0.649, 0.642, 0.585),
    ("E", 0.8): (0.353, 0.0, 0.380, 0.394, 0.409, 0.410, 0.406, 0.392),
    ("E", 0.9): (0.130, 0.0, 0.144, 0.160, 0.160, 0.159, 0.155, 0.163),
}
