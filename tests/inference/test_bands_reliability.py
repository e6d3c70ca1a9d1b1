"""Bounds of isotonic event rates against brute force, and consistency bands against labels drawn independently."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression, isotonic_regression
from sklearn.linear_model import LogisticRegression

from replications import coverage_bands
from stakes import ScoreTable, TimeToEvent, reliability_curve
from stakes.core.score_table import class_ratio
from stakes.inference import confidence_band, consistency_band
from stakes.inference._bands import _CELLS, _cells, rank_envelope

SCORES = np.array([0.1, 0.2, 0.4, 0.6, 0.9])
HITS = np.array([4, 9, 20, 33, 58])
SIZE = 60


def few_levels(counts=HITS):
    """Five scores with sixty rows each, so that every score is a block of its own."""
    y = np.concatenate([np.arange(SIZE) < hits for hits in counts])
    return y, np.repeat(SCORES, SIZE)


def exact(hits, n, tail):
    interval = stats.binomtest(int(hits), int(n)).proportion_ci(1 - 2 * tail, method="exact")
    return interval.low, interval.high


def brute_bounds(hits, tail, lengths, *, everywhere):
    """Bounds at each score from runs of scores; those that end (start) there, or anywhere before (after)."""
    k = len(hits)
    low, high = np.zeros(k), np.ones(k)
    for i in range(k):
        for j in range(i, k):
            if j - i + 1 not in lengths:
                continue
            below, above = exact(hits[i : j + 1].sum(), SIZE * (j - i + 1), tail)
            for at in range(k):
                if at == j or (everywhere and at > j):
                    low[at] = max(low[at], below)
                if at == i or (everywhere and at < i):
                    high[at] = min(high[at], above)
    return low, high


def test_bounds_are_those_of_all_runs_of_scores():
    y, p = few_levels()
    band = confidence_band(y, p, "reliability", thresholds=SCORES)
    k = len(SCORES)
    alone = brute_bounds(HITS, 0.05 / (2 * 3), {1, 2, 4}, everywhere=False)
    together = brute_bounds(HITS, 0.05 / (k * (k + 1)), set(range(1, k + 1)), everywhere=True)
    assert (band.low, band.high) == (pytest.approx(alone[0], rel=1e-9), pytest.approx(alone[1], rel=1e-9))
    assert band.simultaneous_low == pytest.approx(np.minimum(together[0], alone[0]), rel=1e-9)
    assert band.simultaneous_high == pytest.approx(np.maximum(together[1], alone[1]), rel=1e-9)
    assert np.isnan(band.standard_error).all()
    assert band.estimate == pytest.approx(HITS / SIZE)


def test_between_scores_the_bounds_are_those_of_both_neighbours():
    y, p = few_levels()
    at, between = (confidence_band(y, p, "reliability", thresholds=t) for t in (SCORES, [0.3, 0.75]))
    assert between.low == pytest.approx(at.low[[1, 3]])
    assert between.high == pytest.approx(at.high[[2, 4]])
    assert between.simultaneous_high == pytest.approx(at.simultaneous_high[[2, 4]])


@pytest.mark.parametrize("counts", [HITS, [0, 9, 20, 33, 60]])  # also where a score has rows of one class only
def test_weights_of_whole_classes_move_the_odds(counts):
    # exact limits of the rows as sampled, their odds multiplied by what the stated prevalence does to them
    y, p = few_levels(counts)
    rate = 0.02
    factor = rate / (1 - rate) * (~y).sum() / y.sum()
    plain = confidence_band(y, p, "reliability", thresholds=SCORES)
    moved = confidence_band(y, p, "reliability", thresholds=SCORES, prevalence=rate)
    for name in ("low", "high", "simultaneous_low", "simultaneous_high"):
        limit = getattr(plain, name)
        assert getattr(moved, name) == pytest.approx(factor * limit / (1 - limit + factor * limit), rel=1e-9)
    assert moved.estimate == pytest.approx(reliability_curve(y, p, prevalence=rate).at(SCORES))


def test_groups_of_rows_do_not_depend_on_the_weights_of_the_classes():
    rng = np.random.default_rng(12)
    q = rng.beta(1, 3, 500)
    y, rate = rng.random(500) < q, 0.9
    factor = rate / (1 - rate) * (~y).sum() / y.sum()
    plain, moved = confidence_band(y, q, "reliability"), confidence_band(y, q, "reliability", prevalence=rate)
    odds = factor * plain.simultaneous_high / (1 - plain.simultaneous_high + 1e-300)
    assert moved.simultaneous_high == pytest.approx(odds / (1 + odds))
    odds = factor * plain.high / (1 - plain.high)
    assert moved.high == pytest.approx(odds / (1 + odds))


def test_equal_weights_change_nothing():
    y, p = few_levels()
    one, two = (confidence_band(y, p, "reliability", sample_weight=w) for w in (None, np.full(len(y), 3.0)))
    assert two.simultaneous_low == pytest.approx(one.simultaneous_low)
    assert (two.n_rows, two.n_positives) == (300, pytest.approx(HITS.sum()))


def test_bounds_never_fall_and_the_band_holds_the_intervals():
    rng = np.random.default_rng(3)
    q = rng.beta(1, 3, 2000)
    band = confidence_band(rng.random(2000) < q, q, "reliability")
    for name in ("simultaneous_low", "simultaneous_high"):
        assert np.all(np.diff(getattr(band, name)) >= 0)
    assert np.all(band.simultaneous_low <= band.low)
    assert np.all(band.high <= band.simultaneous_high)
    falling = confidence_band(rng.random(2000) < 1 - q, q, "reliability")  # where the true rate does fall
    assert np.all(falling.simultaneous_low <= falling.low)
    assert np.all(falling.high <= falling.simultaneous_high)
    assert band.high[50] - band.low[50] < 0.35


@pytest.mark.parametrize("asked", [[0.05], [0.5, 0.95]])
def test_scores_beyond_the_data_are_refused(asked):
    y, p = few_levels()
    for function in (
        lambda: confidence_band(y, p, "reliability", thresholds=asked),
        lambda: consistency_band(y, p, thresholds=asked),
    ):
        with pytest.raises(ValueError, match=r"between the smallest and the largest score, \[0.1, 0.9\]"):
            function()


@pytest.mark.simulation
@pytest.mark.parametrize("prevalence", [0.03, 0.3])
def test_isotonic_bounds_hold_at_least_as_often_as_stated(prevalence):
    for row in coverage_bands.simulate(prevalence, 300, 100, seed=4, kinds=("reliability",)):
        assert row["band"] >= 0.95, row
        assert row["lowest"] >= (0.95 if row["forecast"] == "tied" else 0.92), row


def straight_line(y, x, at, span):
    """Weighted least squares of the nearest rows, and the sum of squares of what each row counts in it."""
    distance = np.abs(x - at)
    pull = np.clip(1 - (distance / np.sort(distance)[math.ceil(span * len(x)) - 1]) ** 3, 0, None) ** 3
    design = np.vander(x - at, 2)
    hat = np.linalg.solve(design.T @ (design * pull[:, None]), design.T * pull)[-1]
    return hat @ y, (hat**2).sum()


def test_intervals_of_untied_scores_are_those_of_lines_over_a_fifth_of_the_rows():
    rng = np.random.default_rng(5)
    q = rng.beta(1, 3, 400)
    y = rng.random(400) < q
    at = np.quantile(q, [0.2, 0.5, 0.9])
    band = confidence_band(y, q, "reliability", thresholds=at)
    for k, score in enumerate(at):
        rate, squares = straight_line(y, np.log(q / (1 - q)), np.log(score / (1 - score)), 0.2)
        limits = stats.beta.ppf([0.025, 0.975], rate / squares + 0.5, (1 - rate) / squares + 0.5)
        assert (band.low[k], band.high[k]) == pytest.approx(limits, rel=1e-8)


def test_intervals_of_untied_scores_are_much_narrower_than_those_of_groups(monkeypatch):
    from stakes.inference import _bands as _band_reliability

    rng = np.random.default_rng(6)
    q = rng.beta(1, 3, 1000)
    y = rng.random(1000) < q
    narrow = confidence_band(y, q, "reliability")
    monkeypatch.setattr(_band_reliability, "_MOST_TIED", 0.0)
    wide = confidence_band(y, q, "reliability")
    assert np.mean(narrow.high - narrow.low) < 0.7 * np.mean(wide.high - wide.low)


@pytest.mark.simulation
def test_consistency_bounds_are_quantiles_of_isotonic_fits_to_drawn_labels():
    rng = np.random.default_rng(0)
    scores = np.repeat(np.sort(rng.beta(1, 3, 80)), rng.integers(1, 5, 80))
    y = rng.random(len(scores)) < scores
    points = np.array([0.1, 0.25, 0.5])
    band = consistency_band(y, scores, thresholds=points)
    fits = np.array(
        [
            IsotonicRegression(out_of_bounds="clip").fit(scores, rng.random(len(scores)) < scores).predict(points)
            for _ in range(2000)
        ]
    )
    assert (band.low, band.high) == (
        pytest.approx(np.quantile(fits, 0.025, axis=0), abs=0.02),
        pytest.approx(np.quantile(fits, 0.975, axis=0), abs=0.02),
    )
    assert band.standard_error == pytest.approx(fits.std(axis=0), rel=0.06)
    assert band.estimate == pytest.approx(reliability_curve(y, scores).at(points))
    assert math.isnan(band.critical_value)
    assert repr(band).startswith("Band(consistency of model at 3 scores")


@pytest.mark.simulation
def test_pooling_many_scores_changes_the_bounds_little(monkeypatch):
    rng = np.random.default_rng(2)
    scores = rng.beta(1, 3, 3000)
    y = rng.random(3000) < scores
    points = np.concatenate([np.sort(scores)[[0, 3, 30]], [0.1, 0.5], np.sort(scores)[[-30, -3, -1]]])
    pooled = consistency_band(y, scores, thresholds=points)
    monkeypatch.setattr("stakes.inference._bands._CELLS", 10_000)
    whole = consistency_band(y, scores, thresholds=points, random_state=1)
    spread = whole.high - whole.low
    assert np.all(np.abs(pooled.low - whole.low) <= 0.12 * spread + 1e-3)
    assert np.all(np.abs(pooled.high - whole.high) <= 0.12 * spread + 1e-3)


def test_weighted_rows_of_one_score_count_as_an_effective_number():
    # ten rows of weight 1 and ten of weight 3 at one score: (10 + 30)^2 / (10 + 90) = 16 equal rows
    y, p, w = np.zeros(20), np.full(20, 0.3), np.repeat([1.0, 3.0], 10)
    band = consistency_band(y, p, sample_weight=w)
    assert band.standard_error[0] == pytest.approx(math.sqrt(0.3 * 0.7 / 16), rel=0.04)


@pytest.mark.parametrize(("positive", "negative"), [(10.0, 1.0), (1.0, 10.0)])
def test_consistency_bounds_of_rows_sampled_by_the_outcome_are_those_of_such_samples(positive, negative):
    """Labels of calibrated scores, each class kept as often as one over its weight, and fitted with these weights."""
    rng = np.random.default_rng(4)
    levels = np.array([0.05, 0.1, 0.2, 0.4])

    def sample():
        ups = rng.binomial(rng.binomial(1500, levels), 1.0 / positive)
        return ups, rng.binomial(rng.binomial(1500, 1.0 - levels), 1.0 / negative)

    fits = []
    for _ in range(3000):
        hits, misses = (part * weight for part, weight in zip(sample(), (positive, negative), strict=True))
        fits.append(isotonic_regression(hits / (hits + misses), sample_weight=hits + misses))
    ups, downs = sample()
    y, score = np.repeat([1, 0], [ups.sum(), downs.sum()]), np.concatenate([np.repeat(levels, k) for k in (ups, downs)])
    weight = np.where(y == 1, positive, negative)
    band = consistency_band(y, score, thresholds=levels, sample_weight=weight, n_resamples=4000)
    assert band.standard_error == pytest.approx(np.std(fits, axis=0), rel=0.15)  # by the rows of one sample
    spread = np.std(fits, axis=0)
    assert np.all(np.abs(band.low - np.quantile(fits, 0.025, axis=0)) < 0.4 * spread)
    assert np.all(np.abs(band.high - np.quantile(fits, 0.975, axis=0)) < 0.4 * spread)


def test_weight_of_a_class_at_the_same_score_is_told_from_weights_that_go_with_the_score():
    rng = np.random.default_rng(5)
    score = rng.beta(1, 3, 20_000)
    y = rng.random(20_000) < score
    by_class, by_score = np.where(y, 10.0, 1.0), 1.0 + 9.0 * score
    for weight, expected in (
        (by_class, 10.0),
        (by_score, 1.0),
        (by_class * by_score, 10.0),
        (np.full(20_000, 3.0), 1.0),
    ):
        assert class_ratio(ScoreTable.from_predictions(y, score, sample_weight=weight)) == pytest.approx(
            expected, rel=0.03
        )
    alone = ScoreTable.from_predictions([0, 0, 1], [0.3] * 3, sample_weight=[1, 1, 5])
    assert class_ratio(alone) == pytest.approx(5.0)


def test_envelope_holds_a_new_curve_as_often_as_stated():
    rng = np.random.default_rng(6)
    mix = np.tril(np.ones((30, 30))) / np.sqrt(np.arange(1, 31))[:, None]
    held = []
    for _ in range(20):
        low, high = rank_envelope(np.round(rng.standard_normal((4000, 30)) @ mix.T, 1), 0.9)
        new = np.round(rng.standard_normal((2000, 30)) @ mix.T, 1)
        held.append(np.mean(np.all((low <= new) & (new <= high), axis=1)))
    assert 0.89 <= np.mean(held) <= 0.93


@pytest.mark.parametrize("level", [0.6, 0.75, 0.9])
def test_envelope_is_the_innermost_of_equal_rank_that_holds_enough_curves(level):
    curves = np.random.default_rng(4).integers(0, 300, (64, 3)).astype(float)
    below = (curves[None] <= curves[:, None]).sum(axis=1)  # how many of all curves are not beyond each, at each point
    above = (curves[None] >= curves[:, None]).sum(axis=1)
    least = np.minimum(below, above).min(axis=1)
    rank = max(r for r in range(1, 64) if np.mean(least > r) >= level)  # a curve counts itself, a new one does not
    ordered = np.sort(curves, axis=0)
    low, high = rank_envelope(curves, level)
    assert low.tolist() == ordered[rank - 1].tolist()
    assert high.tolist() == ordered[::-1][rank - 1].tolist()


def test_simultaneous_consistency_bounds_hold_whole_isotonic_fits_as_often_as_stated():
    y, p = few_levels()
    band = consistency_band(y, p, thresholds=SCORES, n_resamples=4000)
    rng = np.random.default_rng(8)
    fits = np.array([isotonic_regression(rng.binomial(SIZE, SCORES) / SIZE) for _ in range(3000)])
    held = np.all((band.simultaneous_low - 1e-9 <= fits) & (fits <= band.simultaneous_high + 1e-9), axis=1).mean()
    assert 0.945 <= held <= 0.97  # standard error 0.004; sixty rows have few shares, so that ties hold some curves more
    assert np.all((band.low - 1e-9 <= fits) & (fits <= band.high + 1e-9), axis=1).mean() < 0.9
    assert np.all(band.simultaneous_low <= band.low)
    assert np.all(band.simultaneous_high >= band.high)


def test_consistency_bounds_of_one_score_are_binomial():
    band = consistency_band(np.arange(10_000) < 3000, np.full(10_000, 0.3), thresholds=[0.3], n_resamples=5000)
    spread = np.sqrt(0.3 * 0.7 / 10_000)
    assert [(band.low[0] - 0.3) / spread, (band.high[0] - 0.3) / spread] == pytest.approx([-1.96, 1.96], abs=0.1)
    assert band.standard_error[0] == pytest.approx(spread, rel=0.03)


def test_too_few_curves_for_an_envelope_are_refused():
    curves = np.random.default_rng(0).standard_normal((1000, 200))
    with pytest.raises(ValueError, match=r"1000 are too few to tell a 0\.95 band over 200 thresholds"):
        rank_envelope(curves, 0.95)


def test_consistency_bands_refuse_what_they_cannot_draw():
    y, p = few_levels()
    with pytest.raises(ValueError, match="needs the rows as they were sampled"):
        consistency_band(ScoreTable.from_predictions(y, p).with_prevalence(0.1))
    with pytest.raises(ValueError, match="n_resamples must be a whole number >= 1000, got 10"):
        consistency_band(y, p, n_resamples=10)


def test_consistency_band_of_a_table_is_that_of_its_rows():
    y, p = few_levels()
    one, two = consistency_band(y, p), consistency_band(ScoreTable.from_predictions(y, p))
    assert np.array_equal(one.simultaneous_low, two.simultaneous_low)
    assert np.array_equal(one.estimate, two.estimate)


@pytest.mark.simulation
def test_calibrated_scores_stay_inside_and_others_leave():
    rng = np.random.default_rng(1)
    q = rng.beta(1, 3, 3000)
    y = rng.random(3000) < q
    inside = consistency_band(y, q)
    assert np.all((inside.simultaneous_low <= inside.estimate) & (inside.estimate <= inside.simultaneous_high))
    outside = consistency_band(y, q**2)
    assert np.mean(outside.estimate > outside.simultaneous_high) > 0.4


def followed(n, rng, shape=lambda x: x):
    """People with a risk by time 1 under random censoring, and a score that is bent by a shape on the log-odds."""
    x = rng.normal(-1.2, 1.0, n)
    time, left = rng.exponential(-1.0 / np.log1p(-expit(x))), rng.exponential(2.0, n)
    return TimeToEvent(event=time <= left, time=np.minimum(time, left), horizon=1.0), expit(shape(x))


def test_smooth_curve_is_a_logistic_regression_in_each_neighbourhood():
    rng = np.random.default_rng(0)
    outcome, score = followed(400, rng)
    at = np.quantile(score, [0.2, 0.5, 0.8])
    band = confidence_band(outcome, score, "smooth", thresholds=at)
    x, known = logit(score), outcome.weight > 0.0
    hits, misses = (outcome.weight[known & (outcome.y == one)] for one in (True, False))
    rarer = min(part.sum() ** 2 / (part**2).sum() for part in (hits, misses))
    share = max(0.2, 50.0 / rarer)
    for point, estimate in zip(logit(at), band.estimate, strict=True):
        near = np.argsort(np.abs(x[known] - point))
        inside = np.searchsorted(np.cumsum(outcome.weight[known][near]), share * outcome.weight.sum() * (1 - 1e-12))
        gap = (x[known] - point) / np.abs(x[known] - point)[near[inside]]
        kernel = np.where(np.abs(gap) < 1.0, (1.0 - np.abs(gap) ** 3) ** 3, 0.0) * outcome.weight[known]
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
        model.fit(gap[:, None], outcome.y[known], sample_weight=kernel)
        assert estimate == pytest.approx(expit(model.intercept_[0]), rel=2e-3)


def test_error_of_the_smooth_curve_is_that_of_the_bootstrap_with_censoring_estimated_anew():
    rng = np.random.default_rng(1)
    outcome, score = followed(1500, rng)
    at = np.quantile(score, [0.2, 0.5, 0.8])
    band = confidence_band(outcome, score, "smooth", thresholds=at)
    drawn = []
    for _ in range(150):
        rows = rng.integers(0, 1500, 1500)
        drawn.append(confidence_band(outcome.take(rows), score[rows], "smooth", thresholds=at).estimate)
    assert band.standard_error == pytest.approx(np.std(drawn, axis=0), rel=0.2)  # of 150 draws: 6%
    assert np.all(band.simultaneous_low < band.low)
    assert np.all(band.high < band.simultaneous_high)


@pytest.mark.simulation
def test_smooth_band_covers_the_true_rate():
    rng = np.random.default_rng(2)
    alone, together = [], []
    for _ in range(200):
        outcome, score = followed(700, rng, lambda x: 1.5 * x + 0.3)
        band = confidence_band(outcome, score, "smooth", n_resamples=1000)
        true = expit((logit(band.thresholds) - 0.3) / 1.5)
        alone.append(np.mean((band.low <= true) & (true <= band.high)))
        together.append(np.all((band.simultaneous_low <= true) & (true <= band.simultaneous_high)))
    assert np.mean(alone) > 0.93
    assert np.mean(together) > 0.91  # a standard error of .015


def test_smooth_band_says_how_wide_its_neighbourhoods_are_and_refuses_too_few_rows():
    outcome, score = followed(200, np.random.default_rng(3))
    assert "of the rows, for lack of others" in confidence_band(outcome, score, "smooth").about
    few, score = followed(60, np.random.default_rng(3))
    with pytest.raises(ValueError, match="at least 20 effective rows of each class for a smooth curve"):
        confidence_band(few, score, "smooth")
    y, score = np.repeat([1, 0], [20, 100]), np.linspace(0.05, 0.95, 120)
    assert np.isfinite(confidence_band(y, score, "smooth").estimate).all()
    with pytest.raises(
        ValueError, match=r"20 effective rows of each class for a smooth curve, got 19 of the rarer one"
    ):
        confidence_band(y[1:], score[1:], "smooth")
    with pytest.raises(ValueError, match="must be the rows for the band of a smooth curve"):
        confidence_band(ScoreTable.from_predictions([0, 1] * 50, [0.1, 0.6] * 50), kind="smooth")


def test_cells_of_many_scores_are_narrow_in_rank_and_in_score_and_single_at_the_ends():
    rng = np.random.default_rng(0)
    scores = np.sort(rng.beta(0.3, 6.0, 20_000))
    mean, each, size = _cells(ScoreTable.from_predictions(rng.random(len(scores)) < scores, scores), 1.0)
    weight = each * size
    ends = np.cumsum(weight).astype(int)
    starts = np.append(0, ends[:-1])
    assert weight.tolist() == size.tolist()
    assert ends[-1] == len(scores)
    assert mean == pytest.approx(np.add.reduceat(scores, starts) / weight, rel=1e-12)
    assert weight.max() <= len(scores) / _CELLS + 1
    assert np.max(scores[ends - 1] - scores[starts]) <= 1.001 * (scores[-1] - scores[0]) / _CELLS
    assert weight[:20].max() == weight[-20:].max() == 1
