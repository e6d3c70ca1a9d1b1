"""The rate of positives by score and by the evidence behind it, beside what the theorem says of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stakes.boundary import uncertainty_calibrate
from stakes.uncertainty import positivity_posterior

SLICES = (2, 8, 32, 128)
SCORES = (0.3, 0.6, 0.9)
ROWS = 200_000
FITTED = 4000
PRIORS = (0.01, 100.0)  # parameters that are tried


def slices(design, seed, sizes=SLICES):
    """For each size N of a region: scores, rows, observed and expected rate of positives at each; fresh rows."""
    rng = np.random.default_rng(seed)
    for n in sizes:
        sample = replace(design, fewest=n, most=n).draw(ROWS, rng)
        expected = positivity_posterior(
            np.arange(n + 1), n, prior=design.true_prior, undersampling=design.undersampling
        ).mean
        rows = np.bincount(sample.positives, minlength=n + 1)
        ups = np.bincount(sample.positives, weights=sample.y, minlength=n + 1)
        some = rows > 0
        score = (design.model_prior[0] + np.arange(n + 1)) / (sum(design.model_prior) + n)
        yield n, score[some], rows[some], ups[some] / rows[some], expected[some]


def curve(design, score, n):
    """Expected positivity at any score of a region of n examples, nan where no such region has it."""
    positives = np.asarray(score) * (sum(design.model_prior) + n) - design.model_prior[0]
    inside = (positives >= 0.0) & (positives <= n)
    out = np.full(len(positives), np.nan)
    prior, tau = design.true_prior, design.undersampling
    out[inside] = positivity_posterior(positives[inside], n, prior=prior, undersampling=tau).mean
    return out


def agreement(rows, observed, expected, fewest=20):
    """Cells with enough rows of both classes expected, chi-square over their number, and the largest deviation."""
    variance = expected * (1.0 - expected) / rows
    keep = rows * np.minimum(expected, 1.0 - expected) >= fewest
    z = (observed[keep] - expected[keep]) / np.sqrt(variance[keep])
    return int(keep.sum()), float(np.mean(z**2)), float(np.abs(z).max())


def cells(sample, expected, levels, edges):
    """By level of uncertainty (the surest first) and score bin: rows, mean score, observed and expected rate."""
    cuts = np.quantile(sample.uncertainty, np.arange(1, levels) / levels)
    level = np.searchsorted(cuts, sample.uncertainty, side="left")
    place = level * (len(edges) - 1) + np.clip(np.searchsorted(edges, sample.score, side="left") - 1, 0, len(edges) - 2)
    size = levels * (len(edges) - 1)
    rows = np.bincount(place, minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = [np.bincount(place, w, size) / rows for w in (sample.score, sample.y, expected)]
    return [part.reshape(levels, -1) for part in (rows, *means)]


def fit_prior(sample, tau, seed=0):
    """Beta prior of the truth under which the labels of these rows are most likely, by the theorem."""
    from scipy.optimize import minimize

    rows = np.random.default_rng(seed).permutation(len(sample.y))[:FITTED]
    y, seen, positives = sample.y[rows], sample.seen[rows], sample.positives[rows]

    def loss(log_prior):
        mean = positivity_posterior(positives, seen, prior=tuple(np.exp(log_prior)), undersampling=tau).mean
        return -np.mean(np.log(np.where(y, mean, 1.0 - mean)))

    box = [np.log(PRIORS)] * 2
    found = minimize(loss, np.log([0.5, 1.0]), method="Nelder-Mead", bounds=box, options={"xatol": 0.01, "fatol": 1e-6})
    return tuple(float(value) for value in np.exp(found.x))


def expected(sample, prior, tau):
    return positivity_posterior(sample.positives, sample.seen, prior=prior, undersampling=tau).mean


def losses(hold_out, test, prior, tau):
    """Log loss of isotonic regression on the score, of one in each of three levels, and of the theorem."""
    one, three = (
        uncertainty_calibrate(hold_out.y, hold_out.score, hold_out.uncertainty, levels=levels) for levels in (1, 3)
    )
    probs = {
        "isotonic": one.predict(test.score, test.uncertainty),
        "isotonic in 3 levels": three.predict(test.score, test.uncertainty),
        "the theorem": expected(test, prior, tau),
    }
    # isotonic fits reach 0 and 1: half a row is added to each side of a thousand
    return ", ".join(f"{name} {log_loss(test.y, 0.999 * prob + 0.0005):.4f}" for name, prob in probs.items())


def log_loss(y, prob):
    return float(-np.mean(np.log(np.where(y, prob, 1.0 - prob))))
