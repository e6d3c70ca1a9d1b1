"""Closed-form intervals against jackknives, an independent DeLong, published long-run variances and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import stakes
from stakes import ScoreTable, costs
from stakes.inference import Moments, metric_difference, metric_interval

METRICS = {
    "bounded_brier_loss": {"bounds": (0.05, 0.4)},
    "bounded_log_loss": {"bounds": (0.05, 0.4)},
    "beta_loss": {"a": 2.0, "b": 8.0},
    "shifted_brier_loss": {"median": 0.125},
    "expected_regret": {"costs": costs.Triangular(0.1, 0.2, 0.6)},
    "average_net_benefit_score": {"bounds": (0.05, 0.4)},
    "net_benefit_score": {"threshold": 0.2},
    "bounded_brier_skill_score": {"bounds": (0.05, 0.4)},
    "bounded_log_skill_score": {},
    "regret_skill_score": {"costs": costs.Beta(2, 8)},
    "roc_auc_score": {},
    "auc_regret": {},
}


def rows(n=160, seed=1):
    rng = np.random.default_rng(seed)
    q = np.clip(rng.beta(1, 3, n), 0.01, 0.99)
    y = rng.random(n) < q
    return y, np.round(q, 2), np.clip(np.round(q + 0.1 * rng.normal(size=n), 2), 0.01, 0.99), rng.integers(1, 4, n)


def jackknife(statistic, n):
    values = np.array([statistic(np.delete(np.arange(n), i)) for i in range(n)])
    return math.sqrt((n - 1) / n * np.sum((values - values.mean()) ** 2))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("weighted", [False, True])
def test_standard_error_is_that_of_the_jackknife(name, weighted):
    y, a, _, w = rows()
    w = w if weighted else np.ones(len(y))
    function = getattr(stakes, name)
    error = jackknife(lambda i: function(y[i], a[i], sample_weight=w[i], **METRICS[name]), len(y))
    result = metric_interval(name, y, a, sample_weight=w, **METRICS[name])
    assert result.value == pytest.approx(function(y, a, sample_weight=w, **METRICS[name]), rel=1e-12)
    assert result.standard_error == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("name", METRICS)
def test_difference_has_the_standard_error_of_the_jackknife(name):
    y, a, b, _ = rows()
    function, options = getattr(stakes, name), METRICS[name]
    error = jackknife(lambda i: function(y[i], a[i], **options) - function(y[i], b[i], **options), len(y))
    result = metric_difference(name, y, a, b, **options)
    assert result.difference == pytest.approx(function(y, a, **options) - function(y, b, **options), rel=1e-9)
    assert result.standard_error == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("name", METRICS)
def test_a_table_stands_for_its_rows(name):
    y, a, _, _ = rows()
    table = ScoreTable.from_predictions(y, a)
    by_rows = metric_interval(name, y, a, **METRICS[name])
    by_table = metric_interval(name, table, **METRICS[name])
    assert by_table.value == pytest.approx(by_rows.value, rel=1e-12)
    assert by_table.standard_error == pytest.approx(by_rows.standard_error, rel=1e-10)
    assert by_table.interval == pytest.approx(by_rows.interval, rel=1e-9)


@given(st.integers(0, 10**6))
def test_delong_from_its_definition(seed):
    """Placement values by comparing every positive with every negative: DeLong et al. (1988), equations 4 to 7."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    y = np.arange(n) < rng.integers(3, n - 3)
    scores = np.round(rng.random((2, n)), 1) + 0.3 * y
    placements = []
    for score in scores:
        wins = (score[y][:, None] > score[~y][None, :]) + 0.5 * (score[y][:, None] == score[~y][None, :])
        placements.append((wins.mean(axis=1), wins.mean(axis=0)))
    up = np.cov(np.array([p[0] for p in placements])) / y.sum()
    down = np.cov(np.array([p[1] for p in placements])) / (~y).sum()
    covariance = up + down
    single = metric_interval("roc_auc_score", y, scores[0])
    assert single.value == pytest.approx(placements[0][0].mean(), abs=1e-12)
    assert single.standard_error == pytest.approx(math.sqrt(covariance[0, 0]), abs=1e-12)
    pair = metric_difference("roc_auc_score", y, *scores)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert pair.standard_error == pytest.approx(math.sqrt(max(variance, 0.0)), abs=1e-8)
    assert pair.standard_error**2 == pytest.approx(max(variance, 0.0), abs=1e-12)


def test_delong_of_a_published_example():
    """The ratings of Hanley and McNeil (1982, table I): AUC 0.893, standard error about 0.032 by their formula."""
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    y = np.repeat([0, 1], [58, 51])
    score = np.concatenate([np.repeat(np.arange(5.0), normal), np.repeat(np.arange(5.0), abnormal)])
    result = metric_interval("roc_auc_score", y, score)
    assert result.value == pytest.approx(0.8932, abs=5e-5)
    assert result.standard_error == pytest.approx(0.032, abs=3e-3)


def test_stated_prevalence_leaves_only_the_spread_within_the_classes():
    y, a, _, _ = rows(400)
    p, low, high = 0.05, 0.05, 0.4
    loss = (np.clip(a, low, high) - y) ** 2 - (np.clip(y, low, high) - y) ** 2
    variance = p**2 * loss[y].var(ddof=1) / y.sum() + (1 - p) ** 2 * loss[~y].var(ddof=1) / (~y).sum()
    result = metric_interval("bounded_brier_loss", y, a, prevalence=p, bounds=(low, high))
    assert result.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)
    by_table = metric_interval(
        "bounded_brier_loss", ScoreTable.from_predictions(y, a), prevalence=p, bounds=(low, high)
    )
    assert by_table.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)
    through_evaluate = stakes.evaluate(y, a, costs=(low, high), scale="loss", prevalence=p).results[0]
    assert through_evaluate.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)


def test_multi_class_losses_have_intervals_too():
    rng = np.random.default_rng(3)
    prob = rng.dirichlet([1.0, 2.0, 1.0], 200)
    y = np.array([rng.choice(3, p=row) for row in prob])
    loss = stakes.penalized_brier_loss(y, prob, per_sample=True)
    result = metric_interval("penalized_brier_loss", y, prob)
    assert result.standard_error == pytest.approx(stats.sem(loss), rel=1e-12)
    assert result.interval[0] < loss.mean() < result.interval[1]


def test_interval_of_a_skewed_mean_follows_hall():
    """The transformed statistic of Hall (1992) is the normal quantile at both ends of the interval."""
    rng = np.random.default_rng(8)
    y = np.repeat([False, True], 60)
    score = np.where(y, 1 - rng.beta(0.3, 4, 120), rng.beta(0.3, 4, 120))
    loss = (score - y) ** 2
    result = metric_interval("bounded_brier_loss", y, score)
    n, mean, sd = 120, loss.mean(), loss.std(ddof=1)
    # third moment with the plain divisor, as in Hall's formula
    g = np.mean((loss - mean) ** 3) / sd**3 / math.sqrt(n)
    for end, z in zip(result.interval, stats.norm.ppf([0.975, 0.025]), strict=True):
        t = (mean - end) / (sd / math.sqrt(n))
        assert t + g * (t * t / 3 + 1 / 6) + g * g * t**3 / 27 == pytest.approx(z, abs=1e-9)
    assert result.interval[1] - mean > mean - result.interval[0]


def test_evaluation_mirrors_the_interval_of_swapped_models():
    y, a, b, _ = rows(seed=9)
    result = stakes.evaluate(y, {"a": a, "b": b}, costs=(0.05, 0.4))
    low, high = result.compare("a", "b").interval
    assert result.compare("b", "a").interval == pytest.approx((-high, -low), rel=1e-9)
    pair = stakes.compare(y, b, a, costs=costs.Uniform(0.05, 0.4))
    assert result.compare("b", "a").interval == pytest.approx(pair.interval, rel=1e-9)


@pytest.mark.parametrize("count", [10, 40])
def test_clusters_have_students_quantile(count):
    """The (transformed) statistic at both ends is the t quantile with one degree less than there are clusters."""
    y, a, b, _ = rows(6 * count, seed=4)
    codes = np.arange(6 * count) // 6
    gap = (a - y) ** 2 - (b - y) ** 2
    sums = np.bincount(codes, gap - gap.mean()) / len(y)
    error = math.sqrt(count / (count - 1) * np.sum(sums**2))
    g = np.sum(sums**3) / error**3 if count >= 30 else 0.0  # fewer say nothing of skewness
    result = metric_difference("bounded_brier_loss", y, a, b, clusters=codes)
    for end, quantile in zip(result.interval, stats.t.ppf([0.975, 0.025], count - 1), strict=True):
        t = (gap.mean() - end) / error
        assert t + g * (t * t / 3 + 1 / 6) + g * g * t**3 / 27 == pytest.approx(quantile, abs=1e-9)


@pytest.mark.parametrize("how", ["clusters", "lags"])
def test_costs_that_no_row_has_shown_widen_dependent_intervals_too(how):
    y = np.repeat([0, 1], [200, 100])
    s = np.repeat([0.05, 0.9], [200, 100])
    s[:30] = 0.4
    order = np.random.default_rng(0).permutation(300)
    y, s = y[order], s[order]
    options = {"clusters": np.arange(300) // 5} if how == "clusters" else {"lags": "auto"}
    for result in (
        metric_interval("expected_regret", y, s, costs=costs.Fixed(0.1), **options),
        stakes.evaluate(y, s, costs=costs.Fixed(0.1), **options).results[0],
    ):
        assert "only 0 of 100 positives carry a cost" in result.note
        assert result.interval[1] - result.interval[0] > 2 * 3.7 * 0.9 / 300


def test_difference_of_independent_estimates_keeps_the_fewer_degrees_of_freedom():
    few, many = (Moments(0.1, 0.01, 0.0, degrees=degrees) for degrees in (4, 50))
    gap = few.minus(many)
    half = stats.t.ppf(0.975, 4) * math.sqrt(0.02)
    assert gap.interval(0.95) == pytest.approx((-half, half))


def test_auc_of_a_rare_class_is_covered():
    """Nine positives in 300 on average; truth by integrating the ranks over q."""
    q = stats.beta.ppf((np.arange(20_000) + 0.5) / 20_000, 0.6, 19.4)
    downs = np.cumsum(1 - q) / np.sum(1 - q)
    truth = np.sum(q * downs) / q.sum()
    rng = np.random.default_rng(12)
    held = []
    for _ in range(1500):
        p = rng.beta(0.6, 19.4, 300)
        y = rng.random(300) < p
        if y.sum() > 1:
            low, high = metric_interval("roc_auc_score", y, p).interval
            held.append(low <= truth <= high)
    assert np.mean(held) > 0.925


def test_p_value_and_interval_agree():
    y, a, b, _ = rows(seed=5)
    for level in (0.5, 0.9, 0.99):
        result = metric_difference("bounded_brier_loss", y, a, b, confidence_level=level)
        assert result.significant == (result.p_value < 1 - level)
    p = metric_difference("bounded_brier_loss", y, a, b).p_value
    ends = metric_difference("bounded_brier_loss", y, a, b, confidence_level=1 - p).interval
    assert min(abs(end) for end in ends) == pytest.approx(0.0, abs=1e-12)


def test_swapping_the_models_mirrors_the_interval():
    y, a, b, _ = rows()
    for name, options in METRICS.items():
        one, two = (metric_difference(name, y, *pair, **options) for pair in ((a, b), (b, a)))
        assert one.interval == pytest.approx((-two.interval[1], -two.interval[0]), rel=1e-9)
        assert one.p_value == pytest.approx(two.p_value, rel=1e-9)


def test_clusters_that_repeat_a_row_count_once():
    y, a, b, _ = rows(90)
    times = 4
    codes = np.repeat(np.arange(90), times)
    once = metric_difference("bounded_brier_loss", y, a, b)
    repeated = metric_difference(
        "bounded_brier_loss", np.repeat(y, times), np.repeat(a, times), np.repeat(b, times), clusters=codes
    )
    assert repeated.standard_error == pytest.approx(once.standard_error, rel=1e-10)
    half = (repeated.interval[1] - repeated.interval[0]) / (once.interval[1] - once.interval[0])
    assert 1.0 < half < 1.05  # Student's t with 89 degrees of freedom
    compared = stakes.compare(
        np.repeat(y, times),
        np.repeat(a, times),
        np.repeat(b, times),
        costs=costs.Uniform(0, 1),
        scale="loss",
        clusters=[f"patient {code}" for code in codes],
    )
    assert compared.interval == pytest.approx(repeated.interval, rel=1e-9)


def test_clusters_of_zero_weight_are_absent():
    y, a, b, _ = rows(60)
    w = np.ones(60)
    w[::3] = 0.0
    codes = np.arange(60) // 4
    kept = metric_difference("roc_auc_score", y[w > 0], a[w > 0], b[w > 0], clusters=codes[w > 0])
    weighted = metric_difference("roc_auc_score", y, a, b, sample_weight=w, clusters=codes)
    assert weighted.interval == pytest.approx(kept.interval)


def test_clustered_interval_covers_where_the_naive_one_does_not():
    """Thirty clusters with a common shift of all event probabilities; truth by averaging the definition."""
    rng = np.random.default_rng(11)
    shifts, grid = np.array([-2.0, 2.0]), (np.arange(2000) + 0.5) / 2000

    def probability(u, shift):
        return 1 / (1 + np.exp(-(3 * u - 2 + shift)))

    truth = np.mean(
        [
            np.mean(q * (1 - s) ** 2 + (1 - q) * s**2)
            for shift in shifts
            for q, s in [(probability(grid, shift), probability(grid, 0.0))]
        ]
    )
    naive = clustered = 0
    for _ in range(600):
        shift = np.repeat(rng.choice(shifts, 30), 20)
        u = rng.random(600)
        y = rng.random(600) < probability(u, shift)
        s, codes = probability(u, 0.0), np.repeat(np.arange(30), 20)
        low, high = metric_interval("bounded_brier_loss", y, s, clusters=codes).interval
        clustered += low <= truth <= high
        low, high = metric_interval("bounded_brier_loss", y, s).interval
        naive += low <= truth <= high
    assert clustered / 600 > 0.925
    assert naive / 600 < 0.8


def test_newey_west_of_its_definition():
    y, a, b, _ = rows(80)
    gap = (a - y) ** 2 - (b - y) ** 2
    d, lags = gap - gap.mean(), 5
    variance = sum((1 - abs(k) / (lags + 1)) * np.sum(d[abs(k) :] * d[: 80 - abs(k)]) for k in range(-lags, lags + 1))
    result = metric_difference("bounded_brier_loss", y, a, b, lags=lags)
    assert result.standard_error == pytest.approx(math.sqrt(variance / (80 * 79)), rel=1e-10)
    half = stats.t.ppf(0.975, 79) * result.standard_error
    assert result.interval == pytest.approx((gap.mean() - half, gap.mean() + half), rel=1e-9)


def test_long_run_variance_by_cosines_of_its_definition():
    """Lazarus, Lewis, Stock and Watson (2018), equations 4 and 5, term by term."""
    y, a, b, _ = rows(100)
    gap = (a - y) ** 2 - (b - y) ** 2
    count = int(0.4 * 100 ** (2 / 3))
    t = np.arange(1, 101)
    waves = [math.sqrt(2 / 100) * np.sum(np.cos(math.pi * j * (t - 0.5) / 100) * gap) for j in range(1, count + 1)]
    error = math.sqrt(np.mean(np.square(waves)) / 100)
    result = stakes.compare(y, a, b, costs=costs.Uniform(0, 1), scale="loss", lags="auto")
    assert result.standard_error == pytest.approx(error, rel=1e-10)
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(gap.mean()) / error, count), rel=1e-8)


def test_autocorrelated_days_are_covered():
    """Events with a persistent state: the interval for days in order holds, that for independent days fails."""
    rng = np.random.default_rng(4)
    levels, stay = np.array([0.1, 0.6]), 0.9
    truth = np.mean([q * (1 - 0.35) ** 2 + (1 - q) * 0.35**2 for q in levels])
    ordered = naive = 0
    for _ in range(600):
        switch = np.cumsum(rng.random(500) > stay) + rng.integers(2)
        y = rng.random(500) < levels[switch % 2]
        s = np.full(500, 0.35)
        low, high = metric_interval("bounded_brier_loss", y, s, lags="auto").interval
        ordered += low <= truth <= high
        low, high = metric_interval("bounded_brier_loss", y, s).interval
        naive += low <= truth <= high
    assert ordered / 600 > 0.92
    assert naive / 600 < 0.75


def test_few_rows_that_carry_a_cost_widen_the_interval():
    y = np.repeat([0, 1], [200, 100])
    s = np.repeat([0.05, 0.9], [200, 100])
    s[:30] = 0.4  # thirty false alarms, and no positive is ever missed
    result = metric_interval("expected_regret", y, s, costs=costs.Fixed(0.1))
    assert "only 0 of 100 positives carry a cost" in result.note
    assert "500 are needed" in result.note
    # the rule of three: without one missed in 300, nearly four per 300 remain possible
    assert result.interval[1] > result.value + 3.7 * 0.9 / 300
    s[-20:] = 0.05
    assert metric_interval("expected_regret", y, s, costs=costs.Fixed(0.1)).note == ""


def test_a_perfect_ranking_is_not_certain():
    y = np.repeat([0, 1], [30, 20])
    result = metric_interval("roc_auc_score", y, y + 0.0)
    assert result.value == 1.0
    assert result.interval[0] < 0.95
    assert result.interval[1] == 1.0
    assert "positives" in result.note


def test_skill_needs_fifteen_of_each_class():
    y, a, _, _ = rows(400)
    few = np.flatnonzero(y)[:14]
    keep = np.concatenate([few, np.flatnonzero(~y)])
    result = metric_interval("bounded_brier_skill_score", y[keep], a[keep])
    assert math.isnan(result.interval[0])
    assert result.note == "only 14 positives: an interval needs 15"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, a: metric_interval("h_measure_score", y, a), "closed-form interval"),
        (lambda y, a: metric_interval("nonsense", y, a), "closed-form interval"),
        (lambda y, a: metric_interval("expected_regret", y, a, costs=costs.Uniform(0, 1), rule="optimal"), "optimal"),
        (lambda y, a: metric_interval("net_benefit_score", y, a, threshold=1.0), "threshold must lie in"),
        (lambda y, a: metric_interval("roc_auc_score", y, a, clusters=[1] * len(y)), "at least 5 clusters, got 1"),
        (lambda y, a: metric_interval("roc_auc_score", y, a, clusters=[1, 2]), "clusters must have one value"),
        (lambda y, a: metric_interval("roc_auc_score", y, a, lags=-1), "lags must be"),
        (lambda y, a: metric_interval("roc_auc_score", y, a, lags=2, clusters=y), "cannot both be given"),
        (lambda y, a: metric_interval("roc_auc_score", y[:9], a[:9], lags=2), "at least 20 rows"),
        (lambda y, a: metric_interval("roc_auc_score", ScoreTable.from_predictions(y, a), lags=2), "need the rows"),
        (lambda y, a: metric_difference("roc_auc_score", y, ScoreTable.from_predictions(y, a), a), "rows of both"),
    ],
)
def test_what_cannot_be_answered_is_refused(call, message):
    y, a, _, _ = rows(60)
    with pytest.raises(ValueError, match=message):
        call(y, a)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("net_benefit_score", {}, "needs threshold="),
        ("regret_skill_score", {}, "needs costs="),
        ("roc_auc_score", {"bounds": (0.0, 0.5)}, "takes no parameter 'bounds'"),
        ("bounded_brier_loss", {"bound": (0.0, 0.5)}, "takes no parameter 'bound'"),
        ("penalized_brier_loss", {"tie": "first"}, "takes no parameter 'tie'"),
    ],
)
def test_arguments_of_the_metric_are_checked(name, options, message):
    y, a, b, _ = rows(60)
    with pytest.raises(TypeError, match=message):
        metric_interval(name, y, np.column_stack([1 - a, a]), **options)
    if name != "penalized_brier_loss":
        with pytest.raises(TypeError, match=message):
            metric_difference(name, y, a, b, **options)
