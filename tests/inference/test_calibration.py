"""The calibration summary against scikit-learn's unpenalised regression, definitions by hand, and simulated truth."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression

from stakes import ScoreTable, TimeToEvent
from stakes.inference import _calibration, calibration_summary
from stakes.inference._calibration import _weighted_quantiles

RNG = np.random.default_rng(7)
Q = RNG.beta(2, 6, 4000)
Y = (RNG.random(4000) < Q).astype(int)
DISTORTED = 1 / (1 + np.exp(-(0.7 + 1.6 * np.log(Q / (1 - Q)))))
W = RNG.integers(1, 4, 4000)


@pytest.mark.parametrize("weight", [None, W], ids=["plain", "weighted"])
def test_slope_and_intercept_are_those_of_an_unpenalised_logistic_regression(weight):
    x = np.log(DISTORTED / (1 - DISTORTED))
    model = LogisticRegression(C=1e14, tol=1e-12, solver="newton-cholesky").fit(x[:, None], Y, sample_weight=weight)
    summary = calibration_summary(Y, DISTORTED, sample_weight=weight)
    assert summary.slope == pytest.approx(model.coef_[0, 0], rel=1e-6)
    assert summary.joint_intercept == pytest.approx(model.intercept_[0], rel=1e-6)
    w = np.ones(len(Y)) if weight is None else weight
    intercept = brentq(lambda a: np.sum(w * (Y - 1 / (1 + np.exp(-(a + x))))), -5, 5, xtol=1e-13)
    assert summary.calibration_in_the_large == pytest.approx(intercept, abs=1e-9)
    assert summary.o_e_ratio == pytest.approx(np.average(Y, weights=w) / np.average(DISTORTED, weights=w))


@pytest.mark.parametrize("weight", [np.ones(400), W[:400]], ids=["equal", "unequal"])
def test_errors_do_not_depend_on_the_unit_of_weights(weight):
    plain = calibration_summary(Y[:400], DISTORTED[:400], sample_weight=weight)
    for unit in (1e-9, 2.0, 1e9):
        found = calibration_summary(Y[:400], DISTORTED[:400], sample_weight=unit * weight)
        for mine, its in zip(found.estimates[:4], plain.estimates[:4], strict=True):
            assert (mine.value, *mine.interval) == pytest.approx((its.value, *its.interval), rel=1e-6)


def test_calibrated_scores_have_slope_1_intercept_0_and_small_errors():
    summary = calibration_summary(Y, Q)
    assert summary.slope == pytest.approx(1, abs=0.1)
    assert summary.calibration_in_the_large == pytest.approx(0, abs=0.1)
    assert summary.ici < 0.02
    assert summary.ece < 0.03


def test_index_of_distorted_scores_is_their_true_mean_distance():
    summary = calibration_summary(Y, DISTORTED)
    gaps = np.abs(DISTORTED - Q)
    assert summary.ici == pytest.approx(gaps.mean(), abs=0.01)
    assert summary.e50 == pytest.approx(np.median(gaps), abs=0.02)
    assert summary.e90 == pytest.approx(np.quantile(gaps, 0.9), abs=0.02)


def test_expected_calibration_error_by_hand():
    y, s = np.array([0, 0, 1, 1, 0, 1]), np.array([0.1, 0.3, 0.4, 0.8, 0.6, 0.9])
    by_width = calibration_summary(y, s, n_bins=2, binning="uniform")  # [0, 0.5), [0.5, 1]
    assert by_width.ece == pytest.approx((3 * abs(1 / 3 - 0.8 / 3) + 3 * abs(2 / 3 - 2.3 / 3)) / 6)
    by_weight = calibration_summary(y, s, n_bins=3)
    assert by_weight.ece == pytest.approx((abs(0 - 0.2) + abs(0.5 - 0.5) + abs(1 - 0.85)) / 3)
    assert by_weight.n_bins == 3


def test_weights_are_repetition():
    table = ScoreTable.from_predictions(Y, np.clip(np.round(DISTORTED, 2), 0.01, 0.99), sample_weight=W)
    weighted, repeated = (
        calibration_summary(table),
        calibration_summary(np.repeat(Y, W), np.repeat(np.clip(np.round(DISTORTED, 2), 0.01, 0.99), W)),
    )
    for name in (
        "o_e_ratio",
        "calibration_in_the_large",
        "joint_intercept",
        "slope",
        "ece",
        "ici",
        "e50",
        "e90",
        "emax",
    ):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-8), name


@pytest.mark.parametrize(
    ("y", "s", "status"),
    [
        ([0, 1, 0], [0.0, 0.5, 0.6], "exactly 0 or 1"),
        ([1, 1, 1], [0.2, 0.5, 0.6], "only one class"),
        ([0, 1], [0.4, 0.4], "all scores are equal"),
    ],
)
def test_undefined_recalibration_is_nan_with_a_warning(y, s, status):
    with pytest.warns(Warning, match=status):
        summary = calibration_summary(y, s)
    assert math.isnan(summary.slope)
    assert math.isfinite(summary.ece)


def test_separated_classes_have_an_infinite_slope():
    with pytest.warns(Warning, match="separate the classes"):
        assert calibration_summary([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9]).slope == math.inf


@pytest.mark.parametrize("scores", [[0.9, 0.6, 0.2, 0.1], [0.9, 0.6, 0.6, 0.1]])
def test_scores_turned_round_that_separate_the_classes_have_a_slope_without_a_lower_limit(scores):
    y, x = np.array([0, 0, 1, 1]), np.log(scores) - np.log1p(-np.array(scores))
    middle = x - x[1]
    likelihoods = [-np.logaddexp(0.0, (1 - 2 * y) * slope * middle).sum() for slope in (10.0, 1.0, -1.0, -10.0, -100.0)]
    assert np.all(np.diff(likelihoods) > 0.0)  # it rises as the slope falls
    with pytest.warns(Warning, match="separate the classes"):
        assert calibration_summary(y, scores).slope == -math.inf


def test_number_of_bins_must_be_whole():
    with pytest.raises(ValueError, match=r"n_bins must be a whole number >= 1, got 0"):
        calibration_summary(Y, Q, n_bins=0)


NAMES = ("o_e_ratio", "calibration_in_the_large", "slope", "joint_intercept", "ici", "e50", "e90", "emax")
X = np.log(DISTORTED / (1 - DISTORTED))
T = 1.9605  # Student's quantile lies between this and the normal one for thousands of rows


def information_error(columns, p):
    return np.sqrt(np.diag(np.linalg.inv(columns.T @ (columns * (p * (1 - p))[:, None]))))


def test_errors_of_a_well_specified_fit_are_those_of_the_information_matrix():
    summary = calibration_summary(Y, DISTORTED)
    both = np.column_stack([np.ones(len(Y)), X])
    p = 1 / (1 + np.exp(-(summary.joint_intercept + summary.slope * X)))
    expected = information_error(both, p)
    found = {estimate.metric: estimate for estimate in summary.estimates}
    # the larger of the model's variance and the sandwich, which agree here but for noise
    for name, error in zip(("joint_intercept", "slope"), expected, strict=True):
        assert error <= found[name].standard_error * (1 + 1e-12) <= 1.06 * error
        low, high = found[name].interval
        assert (high - low) / 2 == pytest.approx(T * found[name].standard_error, rel=2e-3)


def test_clusters_that_are_the_rows_repeated_widen_the_intervals():
    y, s = Y[:400], DISTORTED[:400]
    alone = calibration_summary(y, s)
    copied = calibration_summary(np.repeat(y, 4), np.repeat(s, 4), clusters=np.repeat(np.arange(400), 4))
    for name in NAMES[:4]:
        assert getattr(copied, name) == pytest.approx(getattr(alone, name), rel=1e-9)
    for name in (*NAMES[:5], "e90"):
        widths = [high - low for low, high in (summary.interval(name) for summary in (copied, alone))]
        assert widths[0] == pytest.approx(widths[1], rel=0.25), name


def test_ratio_of_observed_to_expected_has_the_interval_of_a_ratio_of_means():
    found = calibration_summary(Y, DISTORTED)
    influence = Y / Y.mean() - DISTORTED / DISTORTED.mean()
    half = T * influence.std(ddof=1) / math.sqrt(len(Y))
    assert np.log(found.interval("o_e_ratio")) == pytest.approx(
        [math.log(found.o_e_ratio) - half, math.log(found.o_e_ratio) + half], abs=1e-4
    )


def test_distances_of_calibrated_scores_may_be_zero_and_those_of_distorted_ones_not():
    calibrated, distorted = calibration_summary(Y, Q), calibration_summary(Y, DISTORTED)
    for name in ("ici", "e90"):
        assert calibrated.interval(name)[0] == 0
        low, high = distorted.interval(name)
        assert 0 < low < getattr(distorted, name) < high
    gaps = np.abs(DISTORTED - Q)
    assert distorted.interval("ici")[0] < gaps.mean() < distorted.interval("ici")[1]


def test_intervals_of_distances_far_from_zero_are_as_wide_as_their_errors():
    far = 1 / (1 + np.exp(-(3.0 + np.log(Q / (1 - Q)))))
    found = {estimate.metric: estimate for estimate in calibration_summary(Y, far).estimates}
    for name, truth in (("ici", np.mean(far - Q)), ("e90", np.quantile(far - Q, 0.9))):
        each = found[name]
        low, high = each.interval
        assert 0.6 * T < (each.value - low) / each.standard_error < 3 * T
        assert 0.6 * T < (high - each.value) / each.standard_error < 3 * T
        assert low < truth < high


def test_distances_whose_intervals_cover_too_seldom_have_none():
    found = {estimate.metric: estimate for estimate in calibration_summary(Y, DISTORTED).estimates}
    for name in ("e50", "emax"):
        assert np.isnan(found[name].interval).all()
        assert found[name].note.startswith("no interval")


def local_parabola(y, s, at, span):
    """Weighted least squares of the nearest rows, by another solver."""
    distance = np.abs(s - at)
    reach = np.sort(distance)[math.ceil(span * len(s)) - 1]
    root = np.sqrt(np.clip(1 - (distance / reach) ** 3, 0, None) ** 3)
    return np.linalg.lstsq(np.vander(s - at, 3) * root[:, None], y * root, rcond=None)[0][-1]


def test_loess_is_a_local_parabola_over_three_quarters_of_the_rows():
    y, s = Y[:80], DISTORTED[:80]
    gaps = [abs(local_parabola(y, s, at, 0.75) - at) for at in s]
    summary = calibration_summary(y, s, smoother="loess")
    assert summary.ici == pytest.approx(np.mean(gaps), rel=1e-9)
    assert summary.emax == pytest.approx(np.max(gaps), rel=1e-9)
    assert summary.e50 == pytest.approx(np.median(gaps), rel=1e-9)


def test_loess_is_that_of_r():
    i = np.arange(120)
    s = (((i * 37) % 120 + 0.5) / 120) ** 1.5
    y = ((i * 7919) % 101) / 101 < s**0.8 * 0.9
    # R 4.2.2: d <- abs(s - predict(loess(y ~ s, control = loess.control(surface = "direct")))); mean(d); max(d)
    summary = calibration_summary(y, s, smoother="loess")
    assert (summary.ici, summary.emax) == pytest.approx((0.048227720601, 0.090107273986), abs=1e-12)


@pytest.mark.parametrize(
    ("y", "s", "names", "note"),
    [
        ([1] * 8, np.linspace(0.2, 0.8, 8), NAMES, "only 0 negatives|only one class|only 8 positives"),
        ([0] * 20 + [1] * 3, np.linspace(0.1, 0.8, 23) ** 2, ["o_e_ratio", "ici"], "only 3 positives: .* needs 5"),
        ([0] * 8 + [1] * 8, np.linspace(0.1, 0.8, 16), ["slope", "joint_intercept"], "separate the classes"),
    ],
)
@pytest.mark.filterwarnings("ignore:the recalibration intercept")
def test_intervals_are_refused_with_the_reason(y, s, names, note):
    import re

    found = {estimate.metric: estimate for estimate in calibration_summary(y, s).estimates}
    for name in names:
        assert all(map(math.isnan, found[name].interval)), name
        assert re.search(note, found[name].note), name


def test_same_draws_again_and_one_row_for_each_number():
    pytest.importorskip("pandas")
    one, two = (calibration_summary(Y[:500], Q[:500]) for _ in range(2))
    assert one.interval("e90") == two.interval("e90")
    frame = one.frame("pandas")
    assert list(frame["metric"]) == list(NAMES)
    assert {"value", "ci_low", "ci_high", "note"} <= set(frame.columns)
    with pytest.raises(ValueError, match="name must be"):
        one.interval("auc")


@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e200])
@pytest.mark.parametrize("kind", ["distinct", "tied", "zero", "one far away"])
def test_weighted_quantiles_are_those_of_all_values_in_order(kind, scale):
    rng = np.random.default_rng(3)
    for size in (1, 2, 7, 500, 50_000):
        values = {"distinct": rng.random(size), "tied": rng.integers(0, 4, size) / 4, "zero": np.zeros(size)}.get(
            kind, np.append(rng.random(size - 1) * 1e-9, 1.0)
        )
        values = values * scale
        weight = rng.integers(1, 4, size).astype(float)
        row_by_row = np.sort(np.repeat(values, weight.astype(int)))
        expected = [np.quantile(row_by_row, level, method="averaged_inverted_cdf") for level in (0.5, 0.9)]
        np.testing.assert_array_equal(_weighted_quantiles(values, weight, (0.5, 0.9)), expected)


def test_noise_of_calibrated_scores_is_that_of_their_own_rates(monkeypatch):
    seen, real = [], _calibration.Deviations
    monkeypatch.setattr(_calibration, "Deviations", lambda *a, **named: seen.append(real(*a, **named)) or seen[-1])
    score = np.tile([0.2, 0.4, 0.6, 0.8], 100)
    y = np.concatenate([np.arange(100) < 100 * share for share in (0.2, 0.4, 0.6, 0.8)]).reshape(4, 100).T.ravel()
    calibration_summary(y, score)  # of each score just such a share are positive
    (found,) = seen
    assert found.alone == pytest.approx(found.noise, rel=0.05, abs=0.01)


def followed_rows(n):
    """Scores, classes and who is censored at random."""
    rng = np.random.default_rng(7)
    score = rng.beta(2, 2, n)
    return score, rng.random(n) < score, rng.random(n) < 0.3, rng


def test_observed_to_expected_at_a_stated_prevalence_is_that_of_the_classes_mean_scores():
    score, y, cut, _ = followed_rows(4000)
    expected = 0.1 * score[y].mean() + 0.9 * score[~y].mean()
    for censored, tolerance in ((np.zeros(4000, dtype=bool), 1e-12), (cut, 0.02)):
        event, time = np.where(censored, 0, y), np.where(censored, 0.5, np.where(y, 1.0, 3.0))
        found = calibration_summary(TimeToEvent(event=event, time=time, horizon=2.0), score, prevalence=0.1)
        assert found.o_e_ratio == pytest.approx(0.1 / expected, rel=tolerance)
        assert found.observed / found.expected == pytest.approx(found.o_e_ratio)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_error_of_observed_to_expected_at_a_stated_prevalence_is_that_of_the_jackknife(weighted, clustered):
    n = 240
    score, y, cut, rng = followed_rows(n)
    groups = rng.integers(0, 40, n) if clustered else np.arange(n)
    weight = rng.gamma(3, 1 / 3, n) + 0.05 if weighted else np.ones(n)
    event, time = np.where(cut, 0, y), np.where(cut, 0.5 + score, np.where(y, 1.0, 3.0))

    def summary(rows, **options):
        outcome = TimeToEvent(event=event[rows], time=time[rows], horizon=2.0, sample_weight=weight[rows])
        return calibration_summary(outcome, score[rows], prevalence=0.2, **options)

    left_out = np.array([math.log(summary(groups != g).o_e_ratio) for g in np.unique(groups)])
    error = math.sqrt((len(left_out) - 1) * left_out.var())
    whole = summary(np.ones(n, dtype=bool), clusters=groups if clustered else None)
    estimate = next(e for e in whole.estimates if e.metric == "o_e_ratio")
    assert estimate.standard_error / estimate.value == pytest.approx(error, rel=0.04)


@pytest.mark.parametrize(("level", "has"), [(0.99, True), (0.998, True), (0.9985, False), (0.999999, False)])
def test_levels_that_no_draw_reaches_have_no_interval_of_the_smooth_distance(level, has):
    """500 draws have two ends of one draw each at most: an interval of a higher level would be that of a lower one."""
    summary = calibration_summary(Y[:600], DISTORTED[:600], confidence_level=level)
    for estimate in (e for e in summary.estimates if e.metric in {"ici", "e90"}):
        assert math.isfinite(estimate.interval[0]) == has
        assert ("500 draws" in estimate.note) != has
