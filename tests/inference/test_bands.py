"""Intervals and bands of curves: values, covariances and limits against definitions, and coverage by simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, stats

from replications import coverage_bands
from stakes import ScoreTable, net_benefit_curve, regret_curve
from stakes.core.options import evaluation_data
from stakes.curves import interventions_avoided_curve
from stakes.inference import PAIRED_NEEDS_ROWS, confidence_band, difference_band
from stakes.inference._simultaneous import (
    counts_of,
    critical_value,
    curve_pieces,
    difference_pieces,
    mid_p_limits,
    pair_counts_of,
)

CURVES = {
    "regret": regret_curve,
    "net_benefit": net_benefit_curve,
    "interventions_avoided": interventions_avoided_curve,
}
FIELDS = ("estimate", "standard_error", "low", "high", "simultaneous_low", "simultaneous_high")
THRESHOLDS = np.array([0.05, 0.1, 0.2, 0.3, 0.35, 0.6, 0.95])


def rows(n=300, seed=1):
    rng = np.random.default_rng(seed)
    q = rng.beta(1, 4, n)
    other = np.round(np.clip(q + 0.1 * rng.standard_normal(n), 0, 1), 2)
    return rng.random(n) < q, np.round(q, 2), other, rng.integers(1, 4, n).astype(float)


def row_values(kind, y, score, t):
    """Contribution of each row to the curve, (n, m), from the definition."""
    act = score[:, None] >= t
    up = y[:, None]
    if kind == "regret":
        return t * (~up & act) + (1 - t) * (up & ~act)
    if kind == "net_benefit":
        return 1.0 * (up & act) - t / (1 - t) * (~up & act)
    return 100 * (1.0 * (~up & ~act) - (1 - t) / t * (up & ~act))


def brute_covariance(y, values, weight, *, by_class):
    """Linearised covariance of weighted means: sums of squares of weighted, centred values of the rows."""
    if by_class:
        centre = np.where(
            y[:, None],
            np.average(values[y], axis=0, weights=weight[y]),
            np.average(values[~y], axis=0, weights=weight[~y]),
        )
    else:
        centre = np.average(values, axis=0, weights=weight)
    spread = weight[:, None] * (values - centre)
    return spread.T @ spread / weight.sum() ** 2 * len(y) / (len(y) - 1)


def stated(y, weight, prevalence):
    """Weights that give the classes stated shares."""
    up, down = weight[y].sum(), weight[~y].sum()
    return np.where(y, weight * prevalence / up, weight * (1 - prevalence) / down)


@pytest.mark.parametrize("kind", CURVES)
@pytest.mark.parametrize("options", [{}, {"sample_weight": rows()[3]}, {"prevalence": 0.1}])
def test_estimate_is_the_curve_also_where_scores_equal_thresholds(kind, options):
    y, a, b, _ = rows()
    band = confidence_band(y, a, kind, thresholds=THRESHOLDS, **options)
    curves = [CURVES[kind](y, score, **options).at(THRESHOLDS) for score in (a, b)]
    assert band.estimate == pytest.approx(curves[0], abs=1e-12)
    gap = difference_band(y, a, b, kind, thresholds=THRESHOLDS, **options)
    assert gap.estimate == pytest.approx(curves[0] - curves[1], abs=1e-11)


@pytest.mark.parametrize("kind", CURVES)
@pytest.mark.parametrize("prevalence", [None, 0.02])
@given(seed=st.integers(0, 10_000), n=st.integers(3, 40), weighted=st.booleans())
def test_covariances_are_those_of_the_rows(kind, prevalence, seed, n, weighted):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    a, b = rng.integers(0, 11, (2, n)) / 10
    weight = rng.uniform(0.5, 2, n) if weighted else np.ones(n)
    t = np.array([0.1, 0.25, 0.5, 0.9])
    data = [evaluation_data(y, s, sample_weight=weight if weighted else None, prevalence=prevalence) for s in (a, b)]
    fixed = prevalence is not None
    one = curve_pieces(kind, counts_of(data[0], t, fixed_prevalence=fixed), t, 100.0)
    counts = pair_counts_of(data[0].rows, data[1].rows.score, t, fixed_prevalence=fixed)
    two = difference_pieces(kind, counts, t, 100.0)
    used = stated(y, weight, prevalence) if fixed else weight
    for pieces, values in (
        (one, row_values(kind, y, a, t)),
        (two, row_values(kind, y, a, t) - row_values(kind, y, b, t)),
    ):
        expected = brute_covariance(y, values, used, by_class=fixed)
        assert pieces.estimate == pytest.approx(np.average(values, axis=0, weights=used), rel=1e-9, abs=1e-9)
        assert pieces.covariance == pytest.approx(expected, rel=1e-9, abs=1e-9 * (np.abs(expected).max() + 1e-3))


@pytest.mark.parametrize("prevalence", [None, 0.02])
def test_pieces_are_correlated_as_their_indicators_are(prevalence):
    y, a, b, w = rows(500)
    fixed = prevalence is not None
    data = [evaluation_data(y, s, sample_weight=w, prevalence=prevalence) for s in (a, b)]
    t = np.array([0.2])
    counts = pair_counts_of(data[0].rows, data[1].rows.score, t, fixed_prevalence=fixed)
    pieces = difference_pieces("regret", counts, t, 100.0)
    only = [(a >= 0.2) & (b < 0.2), (b >= 0.2) & (a < 0.2)]
    kinds = np.array([~y & only[0], y & only[0], ~y & only[1], y & only[1]], dtype=float).T
    used = stated(y, w, prevalence) if fixed else w
    covariance = brute_covariance(y, kinds, used, by_class=fixed)
    scale = np.sqrt(np.diag(covariance))
    assert pieces.correlation[:, :, 0] == pytest.approx(covariance / np.outer(scale, scale), abs=1e-10)


@pytest.mark.parametrize("options", [{}, {"sample_weight": rows()[3]}, {"prevalence": 0.1}])
@pytest.mark.parametrize("kind", [*CURVES, "reliability"])
def test_table_and_rows_have_the_same_band(kind, options):
    y, a, _, _ = rows()
    weights = {key: value for key, value in options.items() if key == "sample_weight"}
    table = ScoreTable.from_predictions(y, a, **weights)
    if "prevalence" in options:
        table = table.with_prevalence(options["prevalence"])
    t = None if kind == "reliability" else THRESHOLDS
    by_rows, by_table = (
        confidence_band(y, a, kind, thresholds=t, **options),
        confidence_band(table, kind=kind, thresholds=t),
    )
    for name in FIELDS:
        assert getattr(by_table, name) == pytest.approx(getattr(by_rows, name), rel=1e-9, abs=1e-12, nan_ok=True)
    assert by_table.critical_value == pytest.approx(by_rows.critical_value, rel=1e-5)
    assert (by_table.n_rows, by_table.n_positives) == pytest.approx((by_rows.n_rows, by_rows.n_positives))


def test_many_thresholds_between_two_scores_of_a_table():
    y, a, _, _ = rows()
    coarse = np.round(a, 1)
    by_rows, by_table = (
        confidence_band(y, coarse, "regret"),
        confidence_band(ScoreTable.from_predictions(y, coarse), kind="regret"),
    )
    assert by_table.estimate == pytest.approx(by_rows.estimate)
    assert by_table.simultaneous_low == pytest.approx(by_rows.simultaneous_low)


@pytest.mark.parametrize("z", [1.0, 1.96, 3.1, 4.5])
@pytest.mark.parametrize("n", [1, 2, 10, 300, 10_000])
def test_mid_p_limits_halve_the_probability_of_what_was_seen(n, z):
    tail = stats.norm.sf(z)
    for hits in sorted({0, 1, 2, n // 3, n // 2, n - 1, n} & set(range(n + 1))):
        low, high = (float(limit[0]) for limit in mid_p_limits(np.array([float(hits)]), np.array([float(n)]), z))
        half = 0.5 * stats.binom.pmf(hits, n, [low, high])
        assert low == 0 if hits == 0 else stats.binom.sf(hits, n, low) + half[0] == pytest.approx(tail, rel=1e-7)
        assert high == 1 if hits == n else stats.binom.cdf(hits - 1, n, high) + half[1] == pytest.approx(tail, rel=1e-7)


def test_net_benefit_at_zero_is_the_prevalence_with_its_interval():
    y, a, _, _ = rows()
    band = confidence_band(y, a, "net_benefit", thresholds=[0.0])
    n, ups = len(y), int(y.sum())

    def upper(p):
        return stats.binom.cdf(ups - 1, n, p) + 0.5 * stats.binom.pmf(ups, n, p) - 0.025

    assert band.estimate[0] == pytest.approx(y.mean())
    assert band.high[0] == pytest.approx(optimize.brentq(upper, 0.1, 0.9, xtol=1e-12), rel=1e-6)
    known = confidence_band(y, a, "net_benefit", thresholds=[0.0, 0.2], prevalence=0.1)
    assert (known.low[0], known.high[0], known.simultaneous_low[0], known.simultaneous_high[0]) == pytest.approx(
        (0.1,) * 4
    )


def test_acting_on_everyone_at_a_threshold_of_zero_is_certain():
    y, a, b, _ = rows()
    regret = confidence_band(y, a, "regret", thresholds=[0.0, 0.2])
    gap = difference_band(y, a, b, "net_benefit", thresholds=[0.0, 0.2])
    for band in (regret, gap):
        assert (band.estimate[0], band.simultaneous_low[0], band.simultaneous_high[0]) == (0.0, 0.0, 0.0)
        assert band.simultaneous_low[1] <= band.low[1] < band.high[1] <= band.simultaneous_high[1]


def test_threshold_that_no_score_reaches_is_not_certain():
    n = 400
    y, p = np.arange(n) < 40, np.full(n, 0.1)
    band = confidence_band(y, p, "net_benefit", thresholds=[0.05, 0.5])
    none_seen = 1 - 0.05 ** (1 / n)  # mid-p: half the probability of none is 2.5%
    assert (band.estimate[1], band.standard_error[1]) == (0.0, 0.0)
    assert (band.low[1], band.high[1]) == pytest.approx((-none_seen, none_seen))
    assert band.simultaneous_low[1] < band.low[1]


def test_a_band_of_differences_counts_where_it_lies_beyond_zero():
    rng = np.random.default_rng(5)
    risk = rng.beta(1, 3, 3000)
    y, worse = rng.random(3000) < risk, rng.beta(1, 3, 3000)
    band = difference_band(y, risk, worse, "net_benefit", thresholds=THRESHOLDS)
    above, below = np.sum(band.simultaneous_low > 0), np.sum(band.simultaneous_high < 0)
    assert above > 0
    assert f", below zero at {below}, above at {above}, 3000 rows" in repr(band)
    assert f", below zero at {above}, above at {below}, 3000 rows" in repr(
        difference_band(y, worse, risk, "net_benefit", thresholds=THRESHOLDS)
    )


def test_models_that_decide_alike_are_not_certainly_alike():
    y, a, _, _ = rows()
    band = difference_band(y, a, np.nextafter(a, 1.0), "regret", thresholds=THRESHOLDS)
    assert not band.estimate.any()
    assert not band.excludes().any()
    none_seen = 1 - 0.05 ** (1 / len(y))
    expected = math.sqrt(2) * none_seen * np.hypot(THRESHOLDS, 1 - THRESHOLDS)
    assert band.high == pytest.approx(np.sqrt(expected**2 / 2), rel=1e-6)
    assert band.low == pytest.approx(-band.high)


@pytest.mark.parametrize("kind", CURVES)
@pytest.mark.parametrize("options", [{}, {"sample_weight": rows()[3], "prevalence": 0.1}])
def test_difference_turns_its_sign_with_the_models(kind, options):
    y, a, b, _ = rows()
    one = difference_band(y, a, b, kind, thresholds=THRESHOLDS, **options)
    two = difference_band(y, b, a, kind, thresholds=THRESHOLDS, **options)
    assert two.estimate == pytest.approx(-one.estimate)
    assert two.low == pytest.approx(-one.high)
    assert two.simultaneous_high == pytest.approx(-one.simultaneous_low, rel=1e-4, abs=1e-4)


def test_rows_of_weight_zero_are_as_if_absent():
    y, a, b, w = rows()
    w[::3] = 0.0
    keep = w > 0
    for one, two in (
        (
            confidence_band(y, a, "regret", sample_weight=w),
            confidence_band(y[keep], a[keep], "regret", sample_weight=w[keep]),
        ),
        (
            difference_band(y, a, b, "regret", sample_weight=w),
            difference_band(y[keep], a[keep], b[keep], "regret", sample_weight=w[keep]),
        ),
    ):
        assert one.n_rows == keep.sum()
        assert np.array_equal(one.simultaneous_low, two.simultaneous_low)


@pytest.mark.parametrize("kind", CURVES)
@pytest.mark.parametrize("options", [{}, {"prevalence": 0.3}, {"sample_weight": np.resize([1.0, 2.0, 3.0], 60_000)}])
def test_with_many_rows_the_interval_is_the_normal_one(kind, options):
    y, a, b, _ = rows(60_000)
    t = [0.1, 0.3, 0.5]
    for band in (
        confidence_band(y, a, kind, thresholds=t, **options),
        difference_band(y, a, b, kind, thresholds=t, **options),
    ):
        half = 1.96 * band.standard_error
        assert band.low == pytest.approx(band.estimate - half, abs=0.04 * half.max())
        assert band.high == pytest.approx(band.estimate + half, abs=0.04 * half.max())
        far = band.critical_value * band.standard_error
        assert band.simultaneous_high == pytest.approx(band.estimate + far, abs=0.06 * far.max())


def test_a_constant_in_the_weights_changes_nothing():
    y, a, _, w = rows()
    one, two = (confidence_band(y, a, "regret", sample_weight=c * w, thresholds=THRESHOLDS) for c in (1, 1e6))
    for name in FIELDS:
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-8)
    assert confidence_band(y, a, "regret", sample_weight=np.full(len(y), 7.0)).low == pytest.approx(
        confidence_band(y, a, "regret").low
    )


@pytest.mark.simulation
def test_critical_value_is_that_of_a_multiplier_bootstrap_of_the_rows():
    rng = np.random.default_rng(5)
    n, t = 8_000, np.arange(1, 40) / 100
    q = rng.beta(1, 4, n)
    y, other = rng.random(n) < q, np.clip(q + 0.05 * rng.standard_normal(n), 0, 1)
    values = row_values("net_benefit", y, q, t) - row_values("net_benefit", y, other, t)
    centred = values - values.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    largest = [np.abs(rng.standard_normal(n) @ centred / scale).max() for _ in range(3000)]
    band = difference_band(y, q, other, "net_benefit", thresholds=t)
    assert band.critical_value == pytest.approx(np.quantile(largest, 0.95), abs=0.06)


def test_critical_value_of_one_threshold_is_that_of_its_interval():
    y, a, _, _ = rows()
    band = confidence_band(y, a, "regret", thresholds=[0.2], n_resamples=200_000)
    assert band.critical_value == pytest.approx(1.96, abs=0.02)
    assert band.simultaneous_low[0] == pytest.approx(band.low[0], rel=0.02)


def test_thresholds_that_no_row_lies_between_do_not_widen_the_band():
    y, a, _, _ = rows()
    few, many = np.array([0.2, 0.9]), np.concatenate([[0.2], np.linspace(0.9, 0.99, 60)])
    assert a.max() < 0.9
    one, two = (confidence_band(y, a, "regret", thresholds=t).critical_value for t in (few, many))
    assert one <= two <= one + 0.2  # 60 thresholds of their own would need 1.2 more


def test_unseen_rows_count_less_the_more_rows_there_are():
    def draws_of(size):
        return np.random.default_rng(0).standard_normal((20_000, size), dtype=np.float32)

    values = []
    for n in (100, 10_000):
        rng = np.random.default_rng(2)
        q = rng.beta(1, 4, n)
        t = np.arange(1, 50) / 100
        data = evaluation_data(rng.random(n) < q, q)
        pieces = curve_pieces("regret", counts_of(data, t, fixed_prevalence=False), t, 1.0)
        scale = np.sqrt(np.diag(pieces.covariance))
        draws = rng.multivariate_normal(np.zeros(49), pieces.covariance, 20_000, check_valid="ignore", method="eigh")
        seen = scale > 0
        plain = np.quantile(np.abs(draws[:, seen] / scale[seen]).max(axis=1), 0.95)
        values.append(critical_value(pieces, 0.95, draws_of) - plain)
    assert values[0] > values[1] + 0.05
    assert 0 <= values[1] < 0.1


@pytest.mark.parametrize("clusters", [None, np.arange(60) // 4], ids=["rows", "clusters"])
def test_a_band_of_the_same_scores_has_no_width(clusters):
    rng = np.random.default_rng(4)
    y, score = rng.random(60) < 0.2, rng.random(60)
    known = {"clusters": clusters, "n_resamples": 1000}
    same = difference_band(y, score, score.copy(), "regret", harm=(0.01, 0.0), **known)
    for end in (same.low, same.high, same.simultaneous_low, same.simultaneous_high):
        np.testing.assert_allclose(end, 0.01 * (1.0 - same.thresholds), rtol=1e-12)
    # no row seen is told apart at 0.1, but rows between the two scores would be
    near = difference_band(y, score, np.where(score > 0.5, score**1.1, score), "regret", thresholds=[0.1], **known)
    assert near.low[0] < near.estimate[0] == 0.0 < near.high[0]


def test_the_same_random_state_gives_the_same_band():
    y, a, b, _ = rows()
    one, two = (difference_band(y, a, b, "regret", random_state=3) for _ in range(2))
    assert np.array_equal(one.simultaneous_low, two.simultaneous_low)
    other = difference_band(y, a, b, "regret", random_state=np.random.default_rng(4))
    assert other.critical_value != one.critical_value
    assert other.critical_value == pytest.approx(one.critical_value, abs=0.1)


def test_wider_levels_hold_narrower_ones():
    y, a, _, _ = rows()
    bands = [confidence_band(y, a, "net_benefit", thresholds=THRESHOLDS, confidence_level=c) for c in (0.5, 0.9, 0.999)]
    for narrow, wide in pairwise(bands):
        assert np.all(wide.low < narrow.low)
        assert np.all(wide.simultaneous_high > narrow.simultaneous_high)


@pytest.mark.parametrize("y", [np.zeros(20), np.ones(20)])
def test_one_class_has_a_band(y):
    p = np.linspace(0, 1, 20)
    for kind in CURVES:
        band = confidence_band(y, p, kind, thresholds=[0.2, 0.6])
        assert np.isfinite(band.simultaneous_low).all()
        assert (band.low <= band.estimate).all()
        assert (band.estimate <= band.high).all()
        assert band.n_positives == y.sum()
    assert np.isfinite(confidence_band(y, p, "reliability").simultaneous_high).all()


def test_single_row_has_no_standard_error_but_honest_bounds():
    band = confidence_band([1], [0.3], "regret", thresholds=[0.2, 0.5])
    assert np.isnan(band.standard_error).all()
    assert np.isfinite(band.low).all()


def test_frame_and_repr_say_what_was_found():
    pytest.importorskip("pandas")
    y, a, b, _ = rows(2000)
    band = difference_band(y, a, b, "interventions_avoided", thresholds=[0.1, 0.2], names=("old", "new"))
    frame = band.frame("pandas")
    assert list(frame.columns) == ["threshold", *(f"ci_{name}" if name in {"low", "high"} else name for name in FIELDS)]
    assert frame["simultaneous_low"].tolist() == band.simultaneous_low.tolist()
    assert "interventions_avoided of old - new at 2 thresholds" in repr(band)
    assert band.per == 100.0
    assert difference_band(y, a, b, "interventions_avoided", thresholds=[0.1, 0.2], per=1000).low == pytest.approx(
        10 * band.low
    )


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("lift", {}, "kind must be one of"),
        ("net_benefit", {"thresholds": [0.5, 1.0]}, r"net_benefit must lie in \[0, 1\), got 1.0 at index 1"),
        ("interventions_avoided", {"thresholds": [0.0, 0.5]}, r"must lie in \(0, 1\), got 0.0 at index 0"),
        ("interventions_avoided", {"thresholds": [0.5, 1.0]}, r"must lie in \(0, 1\), got 1.0 at index 1"),
        ("regret", {"thresholds": [-0.1]}, r"must lie in \[0, 1\], got -0.1 at index 0"),
        ("regret", {"thresholds": [0.2, 0.2]}, "strictly ascending, got 0.2 at index 1 after 0.2"),
        ("regret", {"thresholds": [0.2, math.nan]}, "must be finite, got nan at index 1"),
        ("regret", {"thresholds": [[0.2]]}, "must be 1 to 1000 numbers"),
        ("regret", {"thresholds": []}, "must be 1 to 1000 numbers"),
        ("regret", {"confidence_level": 1.0}, "confidence_level must lie in"),
        ("regret", {"n_resamples": 10}, "n_resamples must be a whole number >= 1000, got 10"),
        ("interventions_avoided", {"per": 0}, "per must be a finite number > 0"),
    ],
)
def test_bad_settings_are_refused_by_name(kind, settings, message):
    y, a, b, _ = rows(40)
    with pytest.raises(ValueError, match=message):
        confidence_band(y, a, kind, **settings)
    with pytest.raises(ValueError, match=message):
        difference_band(y, a, b, kind, **settings)


def test_differences_need_rows_and_no_isotonic_curves():
    y, a, b, _ = rows(40)
    table = ScoreTable.from_predictions(y, a)
    for call in (
        lambda: difference_band(table, table, table, "regret"),
        lambda: difference_band(y, a, table, "regret"),
    ):
        with pytest.raises(ValueError, match=PAIRED_NEEDS_ROWS.split(":")[0]):
            call()
    with pytest.raises(ValueError, match="kind must be one of"):
        difference_band(y, a, b, "reliability")


@pytest.mark.simulation
@pytest.mark.parametrize("prevalence", [0.03, 0.3])
def test_bands_and_intervals_cover_the_truth(prevalence):
    # a cheap part of `python -m replications coverage_bands`, whose table is in docs/uncertainty.md
    found = coverage_bands.simulate(prevalence, 1000, 60, seed=11, kinds=("net_benefit", "regret", "difference"))
    assert len(found) == 7
    for row in found:
        assert row["band"] >= 0.88, row
        assert row["lowest"] >= 0.85, row
    assert np.mean([row["band"] for row in found]) <= 0.995


@pytest.mark.simulation
def test_case_control_bands_cover_the_truth_at_the_stated_prevalence():
    # equal numbers of cases and controls by design; the truth is the population's, with 5% cases
    rng = np.random.default_rng(8)
    a, b, t, n, rate = 1.0, 19.0, np.arange(1, 20) / 100, 150, 0.05
    hit, alarm = stats.beta.sf(t, a + 1, b), stats.beta.sf(t, a, b + 1)
    truth = rate * hit - (1 - rate) * alarm * t / (1 - t)
    y = np.arange(2 * n) < n
    whole, each = 0, np.zeros(len(t))
    for _ in range(400):
        score = np.concatenate([rng.beta(a + 1, b, n), rng.beta(a, b + 1, n)])
        band = confidence_band(y, score, "net_benefit", thresholds=t, prevalence=rate, n_resamples=2000)
        whole += bool(np.all((band.simultaneous_low <= truth) & (truth <= band.simultaneous_high)))
        each += (band.low <= truth) & (truth <= band.high)
    assert 0.92 <= whole / 400 <= 0.99
    assert np.all((each / 400 >= 0.91) & (each / 400 <= 0.99))


@pytest.mark.simulation
def test_weighted_bands_cover_the_truth_of_the_weighted_population():
    # rows with high q are sampled half as often and weigh twice as much
    rng = np.random.default_rng(9)
    t, n = np.arange(1, 16) / 20, 800
    truth_tp = 0.3 * stats.beta.sf(t, 2.2, 2.8)
    truth = truth_tp - 0.7 * stats.beta.sf(t, 1.2, 3.8) * t / (1 - t)
    whole = 0
    for _ in range(200):
        q = rng.beta(1.2, 2.8, n)
        y = rng.random(n) < q
        kept = (q < 0.4) | (rng.random(n) < 0.5)
        weight = np.where(q < 0.4, 1.0, 2.0)
        band = confidence_band(
            y[kept], q[kept], "net_benefit", sample_weight=weight[kept], thresholds=t, n_resamples=2000
        )
        whole += bool(np.all((band.simultaneous_low <= truth) & (truth <= band.simultaneous_high)))
    assert 0.9 <= whole / 200 <= 0.99
