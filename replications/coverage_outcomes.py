"""Coverage of 95% intervals of outcomes by simulation, against the truth of a large sample without gaps.

Censored follow-up: times are exponential with a normal log-hazard; score A is calibrated, B noisy. A second cause,
where there is one, has a hazard of its own. Censoring is exponential, at a rate that leaves the stated share of
statuses unknown. Amounts: 10% positives, a false positive costs 1, a false negative a lognormal amount of median 10.
Partly verified: all rows scored 0.3 or more are looked up, and a share of the others.

For some designs also a mean over three horizons (`integrated_metric`) and, for a fifth of the samples, percentile
intervals of 400 bootstrap resamples of rows, each of which estimates censoring anew.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from stakes import PartlyVerified, RowCosts, TimeToEvent, metric_interval
from stakes.inference import bootstrap, integrated_metric, metric_difference, money
from stakes.metrics import METRICS

HORIZON, RATE, OTHER = 1.0, 0.2, 0.15
DESIGNS = [(causes, unknown, n) for causes in (1, 2) for unknown in (0.2, 0.4, 0.6) for n in (300, 1000, 3000)]
FURTHER = [(1, 0.4, 300), (1, 0.6, 300), (2, 0.4, 1000)]
HORIZONS, OVER_HORIZONS = (0.4, 0.7, 1.0), ("Brier", "NB(.1)")
RESAMPLES, EVERY = 400, 5  # one sample in so many is resampled
AMOUNTS = [(sigma, n) for sigma in (1.0, 1.5, 2.0) for n in (1000, 10_000)]
VERIFIED = [(share, 1000) for share in (0.3, 0.1, 0.05)]
ACTED = 0.3
SINGLE = {
    "prevalence": ("net_benefit_score", {"threshold": 0.0}),  # acting on everybody at no cost
    "regret(.1)": ("expected_regret", {"costs": 0.1}),
    "NB(.1)": ("net_benefit_score", {"threshold": 0.1}),
    "Brier": ("bounded_brier_loss", {}),
    "AUC": ("roc_auc_score", {}),
}
PAIRED = ("NB(.1)", "Brier", "AUC")
NAMES = [key for label in SINGLE for key in ((label, f"d{label}") if label in PAIRED else (label,))]
LARGE = 2_000_000
FEW_TERMS = 15
# an independent simulation of the same designs with normal intervals of plain formulas, none of them withheld
BESIDE = {
    ("1, 20%", 300): (94.8, 93.0, 94.4, 94.7, 94.4, 95.0, 94.2, 94.6),
    ("1, 20%", 3000): (94.6, 95.5, 94.9, 95.3, 95.5, 94.7, 94.8, 95.0),
    ("1, 40%", 1000): (95.0, 94.2, 94.3, 95.5, 95.4, 94.7, 94.2, 94.7),
    ("1, 60%", 300): (93.8, 91.2, 94.1, 94.7, 94.0, 94.8, 92.2, 94.7),
    ("1, 60%", 1000): (94.9, 94.2, 95.0, 94.7, 94.8, 94.7, 94.2, 95.0),
    ("1, 60%", 3000): (93.7, 94.7, 93.2, 95.3, 94.8, 94.8, 95.7, 95.7),
    ("2, 40%", 1000): (94.2, 93.7, 94.8, 94.7, 94.4, 94.8, 94.2, 95.3),
    ("2, 60%", 300): (94.4, 91.5, 94.2, 94.9, 94.0, 94.5, 92.2, 94.4),
    ("2, 60%", 3000): (94.6, 95.2, 94.2, 95.5, 94.8, 94.2, 95.0, 95.8),
    ("sigma 1", 1000): (93, 92),
    ("sigma 1.5", 1000): (93, 86),
    ("sigma 2", 1000): (91, 76),
    ("sigma 1", 10_000): (96, 92),
    ("sigma 1.5", 10_000): (96, 94),
    ("sigma 2", 10_000): (94, 85),
    ("30% of the others seen", 1000): (94.5, 94.5, 94.5),
    ("10% of the others seen", 1000): (92, 91, 89),
    ("5% of the others seen", 1000): (89, 89, 79),
}


def population(rng, n, causes):
    """Times, causes and both scores, without censoring."""
    x = rng.normal(size=n)
    own, other = RATE * np.exp(x), np.full(n, OTHER if causes == 2 else 0.0)
    hazard = own + other
    event_time = rng.exponential(1.0 / hazard)
    cause = np.where(rng.random(n) < own / hazard, 1, 2)
    risk = own / hazard * -np.expm1(-hazard * HORIZON)
    noisy = expit(logit(np.clip(risk, 1e-9, 1 - 1e-9)) + 0.7 * rng.normal(size=n))
    return event_time, cause, risk, noisy


def censoring_rate(event_time, unknown):
    """Rate at which this share of the statuses at the horizon is unknown."""
    end = np.minimum(event_time, HORIZON)
    return brentq(lambda rate: np.mean(-np.expm1(-rate * end)) - unknown, 1e-6, 100.0)


def truths(causes):
    event_time, cause, risk, noisy = population(np.random.default_rng(1), LARGE, causes)
    y = (event_time <= HORIZON) & (cause == 1)
    found = {}
    for label, (name, options) in SINGLE.items():
        a, b = (METRICS[name].function(y, score, **options) for score in (risk, noisy))
        found[label], found[f"d{label}"] = a, a - b
    return found, event_time[:200_000]


def covered(rng, n, causes, rate, true):
    """Whether each interval holds the truth; nan without one."""
    outcome, risk, noisy = followed(rng, n, causes, rate)
    found = []
    for label, (name, options) in SINGLE.items():
        found.append(inside(metric_interval(outcome, risk, name, **options), true[label]))
        if label in PAIRED:
            gap = metric_difference(outcome, risk, noisy, name, **options)
            found.append(inside(gap, true[f"d{label}"]))
    return found


def followed(rng, n, causes, rate):
    """Rows as they are seen, and both scores."""
    event_time, cause, risk, noisy = population(rng, n, causes)
    left = rng.exponential(1.0 / rate, n)
    event = np.where(event_time <= left, cause, 0)
    return TimeToEvent(event=event, time=np.minimum(event_time, left), horizon=HORIZON, cause=1), risk, noisy


def horizon_truths(causes):
    """Means over horizons of the Brier score and of net benefit at 0.1."""
    event_time, cause, risk, _ = population(np.random.default_rng(1), LARGE, causes)
    share = np.convolve(np.diff(HORIZONS), [0.5, 0.5]) / (HORIZONS[-1] - HORIZONS[0])
    y = [(event_time <= end) & (cause == 1) for end in HORIZONS]
    brier = share @ [np.mean((risk - row) ** 2) for row in y]
    return brier, share @ [np.mean((risk >= 0.1) * np.where(row, 1.0, -1.0 / 9.0)) for row in y]


def horizons_covered(rng, n, causes, rate, true):
    """Whether intervals of means over horizons hold the truth."""
    outcome, risk, _ = followed(rng, n, causes, rate)
    asked = [SINGLE[label] for label in OVER_HORIZONS]
    means = [integrated_metric(outcome, risk, name, horizons=HORIZONS, **options) for name, options in asked]
    return [inside(mean, value) for mean, value in zip(means, true, strict=True)]


def resamples_covered(rng, n, causes, rate, true):
    """The same of percentile intervals of resamples."""
    outcome, risk, noisy = followed(rng, n, causes, rate)
    found = []
    for label in PAIRED:
        name, options = SINGLE[label]
        drawn = bootstrap(outcome, {"a": risk, "b": noisy}, name, n_resamples=RESAMPLES, random_state=rng, **options)
        for one, value in ((drawn, true[label]), (drawn.difference("a", "b"), true[f"d{label}"])):
            low, high = one.intervals()[:, 0, 0]
            found.append(float(low <= value <= high))
    return found


def inside(estimate, true):
    """Whether an interval holds the truth; nan without one."""
    low, high = estimate.interval
    return float(low <= true <= high) if low <= high else np.nan


def payments(rng, n, sigma):
    """Probabilities, and what missing a positive costs."""
    return rng.beta(1.0, 9.0, n), 10.0 * rng.lognormal(0.0, sigma, n)


def money_truth(sigma):
    """Expected cost a row, and gain over acting on nobody."""
    p, amount = payments(np.random.default_rng(1), 10 * LARGE, sigma)
    miss, alarm = p * amount, 1.0 - p
    acted = miss >= alarm
    return float(np.where(acted, alarm, miss).mean()), float(np.where(acted, miss - alarm, 0.0).mean())


def money_covered(rng, n, sigma, true):
    """The same of the cost and the gain a row."""
    p, amount = payments(rng, n, sigma)
    y = rng.random(n) < p
    found = money(RowCosts(y, false_positive=1.0, false_negative=amount), p, per=1)
    acted = p * amount >= 1.0 - p
    terms = np.where(acted, ~y, y * amount), acted * np.where(y, amount, -1.0)
    ours = [inside(part, value) for part, value in zip((found.cost, found.gain), true, strict=True)]
    return ours + [by_terms(part, value) for part, value in zip(terms, true, strict=True)]


def by_terms(terms, true):
    """Whether the plain normal interval of a mean holds the truth; nan where its terms are as uneven as 15 equal ones.

    Counted by the terms that came, (sum x)^2 / sum x^2, and not by what may come.
    """
    if np.sum(terms) ** 2 < FEW_TERMS * np.sum(terms**2):
        return np.nan
    return float(abs(np.mean(terms) - true) <= 1.96 * np.std(terms, ddof=1) / np.sqrt(len(terms)))


def verified_truth():
    """Expected prevalence, Brier score and net benefit at 0.1."""
    p = np.random.default_rng(1).beta(1.0, 4.0, LARGE)
    return [p.mean(), (p * (1.0 - p)).mean(), np.where(p >= 0.1, p - (1.0 - p) / 9.0, 0.0).mean()]


def verified_covered(rng, n, share, true):
    """The same where some labels were looked up."""
    p = rng.beta(1.0, 4.0, n)
    acted = p >= ACTED
    y = np.where(acted | (rng.random(n) < share), (rng.random(n) < p).astype(float), np.nan)
    outcome = PartlyVerified(y, groups=acted)
    asked = [SINGLE[key] for key in ("prevalence", "Brier", "NB(.1)")]
    found = [metric_interval(outcome, p, name, **options) for name, options in asked]
    return [inside(part, value) for part, value in zip(found, true, strict=True)]


def table(what, names, designs, sample, options):
    """Print the share of intervals that hold the truth, beside that of another simulation, for each design."""
    print(f"| {what} | n | {' | '.join(names)} | no interval |")
    print("| --- " * (len(names) + 3) + "|")
    for label, n, *design in designs:
        rng = np.random.default_rng([options.seed, n, *label.encode()])
        hits = np.array([sample(rng, n, *design) for _ in range(options.samples)])
        held, given = np.nansum(hits, axis=0), np.count_nonzero(~np.isnan(hits), axis=0)
        shares = [f"{100 * a / b:.1f}" if b else "-" for a, b in zip(held, given, strict=True)]
        beside = BESIDE.get((label, n))
        if beside is not None:
            beside += ("",) * (len(shares) - len(beside))
            shares = [f"{share} ({other:g})" if other else share for share, other in zip(shares, beside, strict=True)]
        withheld = ", ".join(f"{share:.0%}" for share in np.isnan(hits).mean(axis=0)) if np.isnan(hits).any() else "0%"
        print(f"| {label} | {n:,} | {' | '.join(shares)} | {withheld} |", flush=True)
    print(flush=True)


def print_follow_up(options, fewer):
    """The tables of censored follow-up, the last with fewer samples."""
    known = {causes: truths(causes) for causes in (1, 2)}
    censored = [
        (f"{causes}, {unknown:.0%}", n, causes, censoring_rate(known[causes][1], unknown), known[causes][0])
        for causes, unknown, n in DESIGNS
    ]
    table("causes, unknown", NAMES, censored, covered, options)
    rates = {design[:2]: design[3] for design in censored}
    chosen = [(f"{causes}, {unknown:.0%}", n, causes) for causes, unknown, n in FURTHER]
    over = [(f"{label} unknown", n, causes, rates[label, n], horizon_truths(causes)) for label, n, causes in chosen]
    table("mean over horizons", OVER_HORIZONS, over, horizons_covered, options)
    drawn = [(f"{label} resampled", n, causes, rates[label, n], known[causes][0]) for label, n, causes in chosen]
    table("bootstrap", [key for key in NAMES if key.removeprefix("d") in PAIRED], drawn, resamples_covered, fewer)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m replications coverage_outcomes", description=__doc__)
    parser.add_argument("--samples", type=int, default=2000, help="of each design")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    started = time.process_time()
    fewer = argparse.Namespace(samples=max(options.samples // EVERY, 1), seed=options.seed)
    print_follow_up(options, fewer)
    amounts = [(f"sigma {sigma:g}", n, sigma, money_truth(sigma)) for sigma, n in AMOUNTS]
    table("amounts", ["cost", "gain", "cost, plain rule", "gain, plain rule"], amounts, money_covered, options)
    verified = [(f"{share:.0%} of the others seen", n, share, verified_truth()) for share, n in VERIFIED]
    table("verified", ["prevalence", "Brier", "NB(.1)"], verified, verified_covered, options)
    spent = time.process_time() - started
    print(f"{options.samples} samples of each design, {fewer.samples} where resampled; {spent:.0f} s of one core")


if __name__ == "__main__":
    main()
