"""Intervals of the entries of a threshold table: root finding, the log method, and coverage by simulation."""

import numpy as np
import pytest
from scipy import optimize, stats

from stakes.curves import threshold_table
from stakes.inference import confidence_band, threshold_intervals
from stakes.inference._thresholds import MEASURES


def counts(tp, fp, fn, tn):
    """Labels and hard scores with these counts at a threshold of one half."""
    y = np.repeat([1, 0, 1, 0], [tp, fp, fn, tn])
    return y, np.repeat([0.9, 0.9, 0.1, 0.1], [tp, fp, fn, tn])


def mid_p(hits, n, tail=0.025):
    """Mid-p limits by root finding on binomial tail probabilities."""

    def upper(p):
        return stats.binom.cdf(hits, n, p) - stats.binom.pmf(hits, n, p) / 2 - tail

    def lower(p):
        return stats.binom.sf(hits, n, p) + stats.binom.pmf(hits, n, p) / 2 - tail

    low = 0.0 if hits == 0 else optimize.brentq(lower, 1e-12, hits / n)
    return low, 1.0 if hits == n else optimize.brentq(upper, hits / n, 1 - 1e-12)


def mid_p_of(share, n, tail=0.025):
    """The same of a share of a number of rows that need not be whole, by the beta distribution."""
    hits, rest = share * n, (1.0 - share) * n

    def upper(p):
        return (stats.beta.sf(p, hits + 1.0, rest) + stats.beta.sf(p, hits, rest + 1.0)) / 2.0 - tail

    def lower(p):
        return (stats.beta.cdf(p, hits, rest + 1.0) + stats.beta.cdf(p, hits + 1.0, rest)) / 2.0 - tail

    return optimize.brentq(lower, 1e-12, share), optimize.brentq(upper, share, 1.0 - 1e-12)


@pytest.mark.parametrize("cells", [(30, 20, 10, 140), (9, 0, 1, 90), (0, 3, 12, 85), (40, 60, 0, 0)])
def test_shares_have_mid_p_limits(cells):
    tp, fp, fn, tn = cells
    found = threshold_intervals(*counts(*cells), thresholds=[0.5])
    for name, hits, n in (
        ("sensitivity", tp, tp + fn),
        ("specificity", tn, tn + fp),
        ("ppv", tp, tp + fp),
        ("npv", tn, tn + fn),
        ("share_flagged", tp + fp, sum(cells)),
    ):
        if n:
            assert (found.low[name][0], found.high[name][0]) == pytest.approx(mid_p(hits, n), abs=1e-8)
        else:
            assert np.isnan(found.low[name][0])


@pytest.mark.parametrize(("positive", "negative"), [(10.0, 1.0), (1.0, 10.0)])
def test_weights_that_go_with_the_outcome_widen_shares_as_the_jackknife_does(positive, negative):
    """Binomial limits of as many rows as give the jackknife's variance of the weighted share."""
    rng = np.random.default_rng(3)
    score = rng.beta(1, 4, 2000)
    y = rng.random(2000) < score
    kept = rng.random(2000) < 1.0 / np.where(y, positive, negative)
    y, score = y[kept], score[kept]
    weight = np.where(y, positive, negative)
    acted, found = score >= 0.3, threshold_intervals(y, score, thresholds=[0.3], sample_weight=weight)
    for name, part, whole in (
        ("ppv", y & acted, acted),
        ("npv", ~(y | acted), ~acted),
        ("share_flagged", acted, np.ones(len(y), dtype=bool)),
        ("sensitivity", y & acted, y),
    ):
        above, below = float(weight @ part), float(weight @ whole)
        share, left = above / below, (above - weight * part) / (below - weight * whole)
        size = share * (1.0 - share) / np.sum((left - share) ** 2)
        expected = mid_p_of(share, size)
        assert (found.low[name][0], found.high[name][0]) == pytest.approx(expected, rel=0.01), name


def test_a_share_of_which_no_row_was_seen_counts_rows_of_the_weight_that_one_would_have():
    y, score = counts(0, 30, 10, 40)
    found = threshold_intervals(y, score, thresholds=[0.5], sample_weight=np.where(y, 10.0, 1.0))
    assert (found.low["ppv"][0], found.high["ppv"][0]) == pytest.approx(mid_p(0, 3), abs=1e-8)


def test_likelihood_ratios_of_a_large_table_are_near_the_log_method():
    """Katz' interval: the logarithm is normal with variance 1/a - 1/m + 1/b - 1/n."""
    found = threshold_intervals(*counts(4310, 300, 480, 1800), thresholds=[0.5])
    for name, a, m, b, n in (("lr_positive", 4310, 4790, 300, 2100), ("lr_negative", 480, 4790, 1800, 2100)):
        ratio, error = (a / m) / (b / n), np.sqrt(1 / a - 1 / m + 1 / b - 1 / n)
        assert found.estimate[name][0] == pytest.approx(ratio)
        assert found.low[name][0] == pytest.approx(ratio * np.exp(-1.96 * error), rel=0.01)
        assert found.high[name][0] == pytest.approx(ratio * np.exp(1.96 * error), rel=0.01)


def test_a_stated_prevalence_moves_predictive_values_and_the_share_flagged():
    """Donner and Zou (2012, equation 9) from mid-p limits; Bayes' rule; variances recovered for a sum of two shares."""
    found = threshold_intervals(*counts(30, 20, 10, 140), thresholds=[0.5], prevalence=0.2)
    (p, q), rate = (30 / 40, 20 / 160), 0.2
    of_p, of_q = np.array(mid_p(30, 40)), np.array(mid_p(20, 160))

    def odds_of_ratio(p, of_p, q, of_q):
        low = of_p[0] * (2 * p - of_p[0]), of_q[1] * (2 * q - of_q[1])
        high = of_p[1] * (2 * p - of_p[1]), of_q[0] * (2 * q - of_q[0])
        ends = (
            (p * q - np.sqrt((p * q) ** 2 - low[0] * low[1])) / low[1],
            (p * q + np.sqrt((p * q) ** 2 - high[0] * high[1])) / high[1],
        )
        return np.array(ends) * rate / (1 - rate)

    above, below = odds_of_ratio(p, of_p, q, of_q), odds_of_ratio(1 - p, 1 - of_p[::-1], 1 - q, 1 - of_q[::-1])
    share = rate * p + (1 - rate) * q
    reach = np.hypot(rate * (p - of_p), (1 - rate) * (q - of_q))
    expected = {
        "ppv": (rate * p / share, *above / (1 + above)),
        "npv": ((1 - rate) * (1 - q) / (1 - share), *(1 / (1 + below))[::-1]),
        "share_flagged": (share, share - reach[0], share + reach[1]),
    }
    for name, values in expected.items():
        ours = [part[name][0] for part in (found.estimate, found.low, found.high)]
        assert ours == pytest.approx(values, abs=1e-7), name


def test_a_ratio_without_false_positives_has_a_lower_limit():
    found = threshold_intervals(*counts(20, 0, 10, 100), thresholds=[0.5])
    assert found.estimate["lr_positive"][0] == np.inf
    assert 5.0 < found.low["lr_positive"][0] < 25.0
    assert found.high["lr_positive"][0] == np.inf


def test_estimates_are_those_of_the_threshold_table():
    pytest.importorskip("polars")
    rng = np.random.default_rng(1)
    q = rng.beta(1, 3, 500)
    y = rng.random(500) < q
    w = rng.integers(1, 4, 500)
    points = [0.1, 0.25, 0.6]
    for options in ({}, {"sample_weight": w}, {"prevalence": 0.1}, {"costs": 0.3}):
        table = threshold_table(y, q, thresholds=points, **options)
        found = threshold_intervals(y, q, thresholds=points, **options)
        for name in MEASURES:
            assert found.estimate[name] == pytest.approx(getattr(table, name)), name
            assert np.all(found.low[name] <= found.estimate[name]), name
            assert np.all(found.estimate[name] <= found.high[name]), name
    assert len(found.frame("polars").columns) == 1 + 3 * len(MEASURES)


def test_cost_has_the_limits_of_the_band():
    rng = np.random.default_rng(2)
    q = rng.beta(1, 3, 400)
    y = rng.random(400) < q
    found = threshold_intervals(y, q, thresholds=[0.1, 0.3])
    for kind in ("regret", "net_benefit"):
        band = confidence_band(y, q, kind, thresholds=[0.1, 0.3])
        assert found.low[kind] == pytest.approx(band.low)
        assert found.high[kind] == pytest.approx(band.high)


@pytest.mark.simulation
@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_every_entry_covers_its_truth(prevalence):
    """q ~ Beta(1.2, 2.8), 300 rows; half the runs sample each class by itself and state the prevalence."""
    grid = stats.beta.ppf((np.arange(20_000) + 0.5) / 20_000, 1.2, 2.8)
    t, act = 0.3, grid >= 0.3
    rates = [np.average(act, weights=weight) for weight in (grid, 1 - grid)]
    share = 0.3 if prevalence is None else prevalence
    tp, fp = share * rates[0], (1 - share) * rates[1]
    fn, tn = share - tp, 1 - share - fp
    truth = dict(
        zip(
            MEASURES,
            [
                tp / (tp + fn),
                tn / (tn + fp),
                tp / (tp + fp),
                tn / (tn + fn),
                rates[0] / rates[1],
                (1 - rates[0]) / (1 - rates[1]),
                tp + fp,
                t * fp + (1 - t) * fn,
                tp - t / (1 - t) * fp,
            ],
            strict=True,
        )
    )
    rng = np.random.default_rng(7)
    held = dict.fromkeys(MEASURES, 0)
    for _ in range(400):
        q = rng.beta(1.2, 2.8, 300)
        y = rng.random(300) < q
        found = threshold_intervals(y, q, thresholds=[t], prevalence=prevalence)
        for name in MEASURES:
            held[name] += found.low[name][0] <= truth[name] <= found.high[name][0]
    assert all(0.92 <= count / 400 <= 0.98 for count in held.values()), held


def test_regret_at_a_cost_of_zero_has_the_limits_of_the_share_of_misses():
    y, score = counts(30, 20, 10, 140)
    found = threshold_intervals(y, score, thresholds=[0.0, 0.5, 1.0], costs=0.0)
    assert found.estimate["regret"].tolist() == [0.0, 0.05, 0.2]
    # at a threshold of 0 nobody is missed, whatever the rows
    limits = [(0.0, 0.0), mid_p(10, 200), mid_p(40, 200)]
    assert list(zip(found.low["regret"], found.high["regret"], strict=True)) == [
        pytest.approx(x, abs=1e-8) for x in limits
    ]
    stated = threshold_intervals(y, score, thresholds=[0.0, 0.5], costs=0.0, prevalence=0.1)
    low, high = mid_p(10, 40)
    assert (stated.low["regret"][1], stated.high["regret"][1]) == pytest.approx((0.1 * low, 0.1 * high), abs=1e-8)
    assert (stated.low["regret"][0], stated.high["regret"][0]) == (0.0, 0.0)


@pytest.mark.parametrize("cost", [0.2, 1.0])
def test_regret_of_acting_on_all_has_the_limits_of_the_share_of_negatives(cost):
    found = threshold_intervals(*counts(30, 20, 10, 140), thresholds=[0.0], costs=cost)
    low, high = mid_p(160, 200)
    assert (found.low["regret"][0], found.high["regret"][0]) == pytest.approx((cost * low, cost * high), abs=1e-8)
