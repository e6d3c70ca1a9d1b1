"""The smooth calibration curve is Cleveland's lowess without robustness steps, with weights, on any amount of data."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import samples

from stakes import ScoreTable
from stakes.curves import smooth_calibration_curve
from stakes.curves._reliability import SPAN, Neighbourhoods, local_limits
from stakes.inference import calibration_summary

LABELS = [0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0]
# statsmodels 0.15.0: lowess(LABELS, numpy.arange(1, 31) / 31, frac=2 / 3, it=0, delta=0)[::4, 1]
LOWESS = [
    0.11479532804756704,
    0.23645228498818652,
    0.3596526261211678,
    0.4390320064457483,
    0.5682554989580147,
    0.6601389959570602,
    0.7145053872660033,
    0.7412916970215806,
]


def smoothed_rates(table, span=SPAN):
    return Neighbourhoods(table).rates(span)


def brute(y, s, w, span, every=1):
    """Local linear fit at the distinct scores, from the definition, and the spread of the scores that it rests on."""
    fits, spreads = [], []
    for x in np.unique(s)[::every]:
        distance = np.abs(s - x)
        order = np.argsort(distance, kind="stable")
        enough = np.searchsorted(np.cumsum(w[order]), span * w.sum() * (1 - 1e-12))
        reach = distance[order][enough]
        near = np.minimum(distance / reach, 1.0) if reach > 0 else (distance > 0).astype(float)
        pull = w * (1 - near**3) ** 3
        u = (s - x) / (reach or 1.0)
        spreads.append(np.average((u - np.average(u, weights=pull)) ** 2, weights=pull))
        design, root = np.column_stack([np.ones_like(u), u]), np.sqrt(pull)
        line = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0][0]
        fits.append(line if spreads[-1] > 1e-9 else np.average(y, weights=pull))
    return np.clip(fits, 0.0, 1.0), np.array(spreads)


def test_fit_is_that_of_statsmodels():
    s = np.arange(1, 31) / 31
    rates = smoothed_rates(ScoreTable.from_predictions(LABELS, s), span=2 / 3)
    np.testing.assert_allclose(rates[::4], LOWESS, atol=1e-12)


@given(samples(max_size=25), st.floats(0.2, 1.0))
def test_fit_is_least_squares_in_every_neighbourhood(sample, span):
    w = np.ones(len(sample.y)) if sample.weight is None else np.asarray(sample.weight, dtype=float)
    keep = w > 0
    y, s, w = np.asarray(sample.y)[keep].astype(float), np.asarray(sample.score)[keep].round(2) + 0.0, w[keep]
    table = ScoreTable.from_predictions(y.astype(int), s, sample_weight=w)
    shares = np.add.accumulate(w) / w.sum()
    if np.min(np.abs(np.append(shares, 2.0) - span)) > 1e-6:  # whether a neighbour is the last one must not be rounding
        fits, spreads = brute(y, s, w, span)
        clear = (spreads < 1e-11) | (spreads > 1e-6)  # in between, a line and a mean are both right
        np.testing.assert_allclose(smoothed_rates(table, span)[clear], fits[clear], atol=1e-6)


@given(samples(weight=st.integers(0, 3)), st.floats(0.1, 1.0))
def test_weight_k_equals_k_repeated_rows(sample, span):
    w = [1] * len(sample.y) if sample.weight is None else sample.weight
    weighted = ScoreTable.from_predictions(sample.y, sample.score, sample_weight=w)
    repeated = ScoreTable.from_predictions(np.repeat(sample.y, w), np.repeat(sample.score, w))
    np.testing.assert_allclose(smoothed_rates(weighted, span), smoothed_rates(repeated, span), atol=1e-9)


@pytest.mark.parametrize("rare", [False, True])
def test_pooling_of_many_scores_changes_little(rare):
    rng = np.random.default_rng(0)
    n = 6000
    s = rng.beta(0.5, 20, n) if rare else rng.random(n)
    y = (rng.random(n) < s**1.3).astype(float)
    pooled = smoothed_rates(ScoreTable.from_predictions(y.astype(int), s))
    exact, _ = brute(y, s, np.ones(n), 2 / 3, every=37)
    assert np.max(np.abs(pooled[::37] - exact)) < 3e-4
    assert np.mean(np.abs(pooled[::37] - exact)) < 2e-5


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("heavy", ["crowded", "even", "none"])
def test_no_cell_of_many_scores_holds_more_than_a_thousandth_of_the_weight_or_of_the_range(heavy, turned):
    # half of the scores are crowded at one end, and half are evenly spaced
    rng = np.random.default_rng(4)
    s, w = np.append(0.2 * rng.random(3000) ** 3, np.linspace(0.0, 1.0, 3000)), rng.exponential(size=6000)
    w[:3000] *= {"crowded": 20.0, "even": 0.05, "none": 1.0}[heavy]
    table = ScoreTable.from_predictions(rng.random(6000) < 0.3, 1.0 - s if turned else s, sample_weight=w)
    cells, score, weight = Neighbourhoods(table), table.scores, table.positives + table.negatives
    ends = np.append(cells.starts[1:], len(score)) - 1
    assert np.array_equal(cells.cell[cells.starts], np.arange(len(cells.starts)))
    assert np.all(score[ends] - score[cells.starts] < np.ptp(score) / 1000 * (1 + 1e-9))
    below_last = [weight[first:last].sum() for first, last in zip(cells.starts, ends, strict=True)]
    assert np.all(below_last < weight.sum() / 1000 * (1 + 1e-9))
    assert 1000 <= len(cells.starts) <= 2000


@pytest.mark.parametrize("n", [3009, 3010, 3031])
def test_many_rows_of_score_zero_beside_a_few_that_are_nearly_zero_have_their_own_rate(n):
    # n times the log-odds, divided by n, is not these log-odds: rounding must not put the n rows out of reach
    s = np.concatenate([np.zeros(n), [2e-7, 4e-7, 6e-7], np.linspace(0.1, 0.9, 3000)])
    curve = smooth_calibration_curve(np.arange(len(s)) % 4 == 0, s, axis="log-odds")
    assert float(curve.at(0.0)) == pytest.approx(0.25, abs=1e-3)
    assert curve.effective_n[0] == pytest.approx(n + 3)


@pytest.mark.parametrize("seed", range(4))
def test_weighted_mean_of_one_score_is_that_score(seed):
    rng = np.random.default_rng(seed)
    s, w = np.append(rng.random(2500) * 0.9, np.full(30, 0.9999)), rng.exponential(size=2530)
    found = calibration_summary(rng.random(2530) < s, s, sample_weight=w)
    assert 0.0 < found.ici < found.emax < 1.0


def test_calibrated_scores_lie_on_the_diagonal_within_the_band():
    rng = np.random.default_rng(3)
    s = rng.random(40_000)
    curve = smooth_calibration_curve(rng.random(40_000) < s, s)
    low, high = curve.band(0.999)
    inside = (curve.knots >= low) & (curve.knots <= high)
    assert inside.mean() > 0.97
    assert np.median(high - low) < 0.05


def test_standard_error_is_that_of_the_linear_smoother():
    # simulate labels again and again: the spread of the fits is the standard error
    rng = np.random.default_rng(4)
    s = np.sort(rng.uniform(0.2, 0.8, 150))
    fits = [smoothed_rates(ScoreTable.from_predictions(rng.random(150) < s, s)) for _ in range(400)]
    errors = [smooth_calibration_curve(rng.random(150) < s, s).standard_error for _ in range(20)]
    ratio = np.mean(errors, axis=0)[::15] / np.std(fits, axis=0)[::15]
    assert np.all((ratio > 0.85) & (ratio < 1.15))


def test_hard_labels_and_one_score_give_local_rates():
    two = smooth_calibration_curve([0, 0, 1, 1, 1, 0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    assert two.at([0.0, 1.0]).tolist() == pytest.approx([1 / 3, 2 / 3])
    one = smooth_calibration_curve([0, 1, 1, 1], [0.4] * 4)
    assert float(one.at(0.4)) == 0.75
    assert len(one.standard_error) == len(one.knots) == 2


def test_one_class_gives_a_flat_line():
    curve = smooth_calibration_curve([1, 1, 1], [0.2, 0.5, 0.9])
    assert curve.at([0.2, 0.4, 0.9]).tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert curve.standard_error.tolist() == pytest.approx([0.0] * 3, abs=1e-7)


def test_scores_too_close_to_tell_apart_do_no_harm():
    s = [0.5, np.nextafter(0.5, 1), 0.0, 5e-324, 1.0]
    rates = smoothed_rates(ScoreTable.from_predictions([0, 1, 0, 1, 1], s))
    assert np.all((rates >= 0) & (rates <= 1))


@pytest.mark.parametrize("span", [5e-324, 1e-17, 1e-3])
def test_span_of_less_than_a_row_looks_at_no_other_score(span):
    score, y = np.repeat([0.2, 0.4, 0.7, 0.9], 3), [0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1]
    rates = smoothed_rates(ScoreTable.from_predictions(y, score), span)
    np.testing.assert_allclose(rates, [1 / 3, 2 / 3, 1 / 3, 1.0], atol=1e-12)


@pytest.mark.parametrize("span", [0.0, 1.2, np.nan])
def test_span_is_a_share(span):
    with pytest.raises(ValueError, match=r"span must lie in \(0, 1\]"):
        smooth_calibration_curve([0, 1], [0.2, 0.7], span=span)


def test_frame_holds_the_band():
    pytest.importorskip("polars")
    frame = smooth_calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).frame("polars")
    assert frame.columns == ["score", "event_rate", "standard_error", "ci_low", "ci_high"]


def test_lines_over_the_log_odds_hold_the_true_rate_at_the_ends_too():
    # a model whose log-odds are 2.5 times too large: over the score its curve is vertical at both ends
    rng = np.random.default_rng(8)
    held = 0.0
    for _ in range(40):
        s = 1 / (1 + np.exp(2 - 3 * rng.standard_normal(2000)))
        truth = 1 / (1 + np.exp(1 - 0.4 * np.log(s / (1 - s))))
        curve = smooth_calibration_curve(rng.random(2000) < truth, s, axis="log-odds")
        at = np.quantile(s, np.linspace(0.01, 0.99, 25))
        low, high = (np.interp(at, curve.knots, end) for end in curve.band())
        right = 1 / (1 + np.exp(1 - 0.4 * np.log(at / (1 - at))))
        held += np.mean((low <= right) & (right <= high)) / 40
    assert 0.93 < held < 0.98


def test_stated_prevalence_multiplies_the_odds_of_curve_and_band():
    rng = np.random.default_rng(9)
    s = rng.beta(1, 3, 600)
    y = rng.random(600) < s
    plain, moved = (smooth_calibration_curve(y, s, axis="log-odds", prevalence=p) for p in (None, 0.02))
    factor = 0.02 / 0.98 * (~y).sum() / y.sum()
    for one, two in zip((plain.at(plain.knots), *plain.band()), (moved.at(plain.knots), *moved.band()), strict=True):
        assert two == pytest.approx(one * factor / (one * factor + 1 - one), rel=1e-6)


def test_axis_must_be_known():
    with pytest.raises(ValueError, match="axis must be"):
        smooth_calibration_curve([0, 1], [0.2, 0.7], axis="rank")


def test_lines_over_the_log_odds_of_two_scores_are_their_rates():
    y, s = [0, 0, 1, 1, 1, 0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    curve = smooth_calibration_curve(y, s, axis="log-odds")
    assert curve.at([0.0, 1.0]).tolist() == pytest.approx([1 / 3, 2 / 3])
    low, high = local_limits(ScoreTable.from_predictions(y, s), np.array([0.5]), 0.95)
    assert 0.0 < low[0] < 0.5 < high[0] < 1.0


@pytest.mark.parametrize("axis", ["score", "log-odds"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_band_holds_the_curve(axis, weighted):
    # few rows, so that lines end next to 0 and to 1: there Jeffreys' interval alone lies beside the rate
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(3, 11))
        y, s = rng.integers(0, 2, n), rng.integers(0, 11, n) / 10.0
        weight = rng.choice([1e-3, 1.0, 1e4], n) if weighted else None
        if len(set(y.tolist())) == 2:
            curve = smooth_calibration_curve(y, s, axis=axis, sample_weight=weight)
            rate, (low, high) = curve.at(curve.knots), curve.band()
            assert np.all((low <= rate + 1e-12) & (rate <= high + 1e-12))
            assert np.all((low >= 0.0) & (high <= 1.0))
