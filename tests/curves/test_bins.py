"""Calibration by bins: scikit-learn's curve where it has one, weights included, textbook intervals."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.calibration import calibration_curve
from strategies import samples

from stakes.curves import binned_reliability
from stakes.curves._reliability import clopper_pearson, wilson


def make(n, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    s = rng.random(n) if decimals is None else rng.random(n).round(decimals)
    return (rng.random(n) < s**1.3).astype(int), s


@pytest.mark.parametrize("n_bins", [1, 3, 10, 25])
def test_bins_of_equal_width_are_those_of_scikit_learn(n_bins):
    y, s = make(1000, decimals=2)  # many scores lie on the edges
    rate, mean = calibration_curve(y, s, n_bins=n_bins, strategy="uniform")
    bins = binned_reliability(y, s, n_bins=n_bins, binning="uniform")
    np.testing.assert_allclose(bins.event_rate, rate, atol=1e-14)
    np.testing.assert_allclose(bins.mean_score, mean, atol=1e-14)


@pytest.mark.parametrize("n_bins", [1, 4, 10, 25])
def test_bins_of_equal_weight_are_those_of_scikit_learn_without_ties(n_bins):
    y, s = make(1000)
    rate, mean = calibration_curve(y, s, n_bins=n_bins, strategy="quantile")
    bins = binned_reliability(y, s, n_bins=n_bins)
    np.testing.assert_allclose(bins.event_rate, rate, atol=1e-14)
    np.testing.assert_allclose(bins.mean_score, mean, atol=1e-14)
    assert set(bins.weight.tolist()) == {1000 / n_bins}


@given(samples(), st.integers(1, 6), st.sampled_from(["quantile", "uniform"]))
def test_bins_divide_the_rows_by_score_and_hold_weighted_means(sample, n_bins, binning):
    y, s = np.asarray(sample.y), np.asarray(sample.score) + 0.0
    w = np.ones(len(y)) if sample.weight is None else np.asarray(sample.weight, dtype=float)
    bins = binned_reliability(y, s, sample_weight=sample.weight, n_bins=n_bins, binning=binning)
    assert 1 <= len(bins.weight) <= n_bins
    assert np.all(bins.score_low[1:] > bins.score_high[:-1])  # tied scores stay together
    for row in range(len(bins.weight)):
        inside = (s >= bins.score_low[row]) & (s <= bins.score_high[row])
        assert float(bins.weight[row]) == pytest.approx(w[inside].sum())
        assert float(bins.event_rate[row]) == pytest.approx(w[inside & (y == 1)].sum() / w[inside].sum(), abs=1e-12)
        assert float(bins.mean_score[row]) == pytest.approx(np.average(s[inside], weights=w[inside]), abs=1e-12)
        kish = w[inside].sum() ** 2 / (w[inside] ** 2).sum()
        assert float(bins.effective_n[row]) == pytest.approx(kish)
    assert bins.weight.sum() == pytest.approx(w.sum())


@given(samples(weight=st.integers(0, 3)), st.integers(1, 5), st.sampled_from(["quantile", "uniform"]))
def test_weight_k_makes_the_bins_of_k_repeated_rows(sample, n_bins, binning):
    w = [1] * len(sample.y) if sample.weight is None else sample.weight
    repeated = np.repeat(sample.y, w), np.repeat(sample.score, w)
    bins = binned_reliability(sample.y, sample.score, sample_weight=w, n_bins=n_bins, binning=binning)
    again = binned_reliability(*repeated, n_bins=n_bins, binning=binning)
    for name in ("score_low", "score_high", "mean_score", "event_rate", "weight"):
        np.testing.assert_allclose(getattr(bins, name), getattr(again, name), atol=1e-12)


def test_error_over_the_bins_is_the_weighted_mean_gap():
    bins = binned_reliability([0, 1, 1, 1], [0.1, 0.3, 0.8, 0.8], n_bins=2, binning="uniform")
    assert bins.expected_calibration_error == pytest.approx(0.5 * abs(0.5 - 0.2) + 0.5 * abs(1 - 0.8))
    assert repr(bins) == "BinnedReliability(2 uniform bins, expected calibration error 0.25)"


def test_wilson_interval_is_the_inverted_score_test():
    # Newcombe (1998), Statistics in Medicine 17:857, Table I, method 3: 81/263, 15/148, 0/20, 1/29
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (hits, size), (low, high) in published.items():
        found = wilson(np.array([hits / size]), np.array([float(size)]), 0.95)
        assert [round(float(end[0]), 4) for end in found] == [low, high]


def test_clopper_pearson_interval_is_the_inverted_binomial_test():
    from scipy.stats import binomtest

    sizes = np.array([1, 5, 20, 263])
    for share in (0.0, 0.2, 1.0):
        hits = np.round(share * sizes).astype(int)
        low, high = clopper_pearson(hits / sizes, sizes.astype(float), 0.9)
        for row, (k, n) in enumerate(zip(hits, sizes, strict=True)):
            exact = binomtest(int(k), int(n)).proportion_ci(0.9, method="exact")
            assert (float(low[row]), float(high[row])) == pytest.approx((exact.low, exact.high), abs=1e-12)
    # Newcombe (1998), method 5
    low, high = clopper_pearson(np.array([81 / 263]), np.array([263.0]), 0.95)
    assert (round(float(low[0]), 4), round(float(high[0]), 4)) == (0.2527, 0.3676)


def test_equal_weights_leave_the_intervals_as_they_are():
    y, s = make(300)
    plain, weighted = (binned_reliability(y, s, sample_weight=w) for w in (None, np.full(300, 7.0)))
    np.testing.assert_allclose(plain.ci_low, weighted.ci_low, atol=1e-14)
    np.testing.assert_allclose(plain.ci_high, weighted.ci_high, atol=1e-14)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number >= 1, got 0"),
        ({"n_bins": 2.5}, "n_bins must be a whole number >= 1, got 2.5"),
        ({"binning": "kmeans"}, "binning must be one of 'quantile', 'uniform', got 'kmeans'"),
        ({"interval": "wald"}, "interval must be one of 'wilson', 'clopper-pearson', got 'wald'"),
        ({"confidence_level": 1.0}, r"confidence_level must lie in \(0, 1\), got 1.0"),
    ],
)
def test_bad_settings_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        binned_reliability([0, 1], [0.2, 0.7], **options)


def test_frame_has_one_row_for_each_bin():
    pytest.importorskip("polars")
    frame = binned_reliability([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.8], n_bins=2).frame("polars")
    assert frame.columns[:5] == ["score_low", "score_high", "mean_score", "event_rate", "weight"]
    assert frame.shape == (2, 8)


@pytest.mark.parametrize("interval", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("stated", ["prevalence", "weights"])
def test_intervals_at_another_prevalence_are_those_of_the_rows_carried_through_the_odds(interval, stated):
    rng = np.random.default_rng(1)
    s = rng.beta(1, 9, 3000)
    y = (rng.random(3000) < s).astype(int)
    y[s > 0.4], y[s < 0.01] = 1, 0  # bins with one class only
    how = {"n_bins": 7, "binning": "uniform", "interval": interval}
    plain = binned_reliability(y, s, **how)
    factor = (0.35 / 0.65) / (y.mean() / (1 - y.mean()))
    weights = {"prevalence": 0.35} if stated == "prevalence" else {"sample_weight": np.where(y == 1, factor, 1.0)}
    found = binned_reliability(y, s, **how, **weights)
    assert {0.0, 1.0} & set(plain.event_rate)
    for name in ("event_rate", "ci_low", "ci_high"):
        with np.errstate(divide="ignore"):
            odds = factor * getattr(plain, name) / (1 - getattr(plain, name))
        np.testing.assert_allclose(getattr(found, name), 1 - 1 / (1 + odds), rtol=1e-9)


def test_intervals_hold_at_a_stated_prevalence_and_with_weights_unrelated_to_the_class():
    rng, n, factor = np.random.default_rng(0), 2000, (0.35 / 0.65) / (0.155 / 0.845)
    s, hit = np.repeat([0.01, 0.3], n // 2), []
    for _ in range(400):
        y = (rng.random(n) < s).astype(int)
        stated = binned_reliability(y, s, n_bins=4, binning="uniform", prevalence=0.35)
        weighted = binned_reliability(y, s, n_bins=4, binning="uniform", sample_weight=rng.exponential(size=n))
        true = factor * s[[0, -1]] / (factor * s[[0, -1]] + 1 - s[[0, -1]])
        hit.append([*((stated.ci_low <= true) & (true <= stated.ci_high)),
                    *((weighted.ci_low <= s[[0, -1]]) & (s[[0, -1]] <= weighted.ci_high))])  # fmt: skip
    assert np.all(np.mean(hit, axis=0) > 0.95 - 3 * (0.05 * 0.95 / 400) ** 0.5)
