"""Closed-form intervals against jackknives, an independent DeLong, published long-run variances and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

import stakes
from stakes import ScoreTable, TimeToEvent, costs
from stakes.actions import evaluate_deferral
from stakes.inference import (
    Moments,
    bootstrap,
    calibration_summary,
    confidence_band,
    metric_difference,
    metric_interval,
)
from stakes.metrics import partial_auc_score
from stakes.variance.dependence import waves

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
    "partial_auc_score": {"fpr_bounds": (0.0, 0.6), "tpr_bounds": (0.3, 1.0)},
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
    function = getattr(stakes.metrics, name)
    error = jackknife(lambda i: function(y[i], a[i], sample_weight=w[i], **METRICS[name]), len(y))
    result = metric_interval(y, a, name, sample_weight=w, **METRICS[name])
    assert result.value == pytest.approx(function(y, a, sample_weight=w, **METRICS[name]), rel=1e-12)
    assert result.standard_error == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("name", METRICS)
def test_difference_has_the_standard_error_of_the_jackknife(name):
    y, a, b, _ = rows()
    function, options = getattr(stakes.metrics, name), METRICS[name]
    error = jackknife(lambda i: function(y[i], a[i], **options) - function(y[i], b[i], **options), len(y))
    result = metric_difference(y, a, b, name, **options)
    assert result.difference == pytest.approx(function(y, a, **options) - function(y, b, **options), rel=1e-9)
    assert result.standard_error == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("name", METRICS)
def test_a_table_stands_for_its_rows(name):
    y, a, _, _ = rows()
    table = ScoreTable.from_predictions(y, a)
    by_rows = metric_interval(y, a, name, **METRICS[name])
    by_table = metric_interval(table, metric=name, **METRICS[name])
    assert by_table.value == pytest.approx(by_rows.value, rel=1e-12)
    assert by_table.standard_error == pytest.approx(by_rows.standard_error, rel=1e-10)
    assert by_table.interval == pytest.approx(by_rows.interval, rel=1e-9)


@pytest.mark.parametrize("pair", [(1.0, 1.0), (0.5, 0.5), (0.6, 0.8)])  # sums, or sums of squares, of one
def test_rows_of_one_score_count_as_rows_in_a_table(pair):
    y, a, _, _ = rows()
    y, a, weight = np.repeat(y, 2), np.repeat(a + 1e-9 * np.arange(len(a)), 2), np.tile(pair, len(y))
    by_rows = metric_interval(y, a, "roc_auc_score", sample_weight=weight)
    by_table = metric_interval(ScoreTable.from_predictions(y, a, sample_weight=weight), metric="roc_auc_score")
    # of unequal weights a table knows the effective number of rows only
    assert by_table.standard_error == pytest.approx(by_rows.standard_error, rel=1e-3)
    assert by_table.interval == pytest.approx(by_rows.interval, rel=1e-3)


@pytest.mark.parametrize("n_clusters", [10, 100, 1000])
def test_losses_that_differ_by_rounding_alone_have_no_error(n_clusters):
    rng = np.random.default_rng(n_clusters)
    codes = np.sort(rng.integers(0, n_clusters, 6 * n_clusters))
    y = rng.random(len(codes)) < 0.4
    p = np.where(y, 0.7, 0.3)  # 0.3 ** 2 of every row, but for the last digits
    for clusters in (None, codes):
        found = metric_interval(y, p, "bounded_brier_loss", bounds=(0, 1), clusters=clusters)
        assert found.value == pytest.approx(0.09)
        assert (found.standard_error, *found.interval) == (0.0, found.value, found.value)


def test_stated_prevalence_leaves_only_the_spread_within_the_classes():
    y, a, _, _ = rows(400)
    p, low, high = 0.05, 0.05, 0.4
    loss = (np.clip(a, low, high) - y) ** 2 - (np.clip(y, low, high) - y) ** 2
    variance = p**2 * loss[y].var(ddof=1) / y.sum() + (1 - p) ** 2 * loss[~y].var(ddof=1) / (~y).sum()
    result = metric_interval(y, a, "bounded_brier_loss", prevalence=p, bounds=(low, high))
    assert result.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)
    by_table = metric_interval(
        ScoreTable.from_predictions(y, a), metric="bounded_brier_loss", prevalence=p, bounds=(low, high)
    )
    assert by_table.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)
    through_evaluate = stakes.evaluate(y, a, costs=(low, high), scale="loss", prevalence=p).results[0]
    assert through_evaluate.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)


def test_multi_class_losses_have_intervals_too():
    rng = np.random.default_rng(3)
    prob = rng.dirichlet([1.0, 2.0, 1.0], 200)
    y = np.array([rng.choice(3, p=row) for row in prob])
    loss = stakes.metrics.penalized_brier_loss(y, prob, per_sample=True)
    result = metric_interval(y, prob, "penalized_brier_loss")
    assert result.standard_error == pytest.approx(stats.sem(loss), rel=1e-12)
    assert result.interval[0] < loss.mean() < result.interval[1]
    half = (result.interval[1] - result.interval[0]) / 2  # enough rows carry a loss: nothing is allowed for unseen ones
    assert half / stats.sem(loss) == pytest.approx(stats.t.ppf(0.975, 199), rel=0.02)
    right = metric_interval(y, np.eye(3)[y], "penalized_brier_loss")  # the rule of three, of rows that may cost 3
    assert right.interval == pytest.approx((0.0, 3 * 3 / 200), rel=0.02)
    few = metric_interval(y, prob, "penalized_brier_loss", clusters=np.arange(200) % 6)
    assert "of 6 clusters with rows" in few.note


def test_interval_of_a_skewed_mean_is_students_with_the_rows_that_carry_the_spread():
    rng = np.random.default_rng(8)
    y = np.repeat([False, True], 60)
    score = np.where(y, 1 - rng.beta(0.8, 4, 120), rng.beta(0.8, 4, 120))
    loss = (score - y) ** 2
    result = metric_interval(y, score, "bounded_brier_loss")
    d = loss - loss.mean()
    degrees = 2 * np.sum(d**2) ** 2 / (np.sum(d**4) - np.sum(d**2) ** 2 / 120)
    assert degrees < 60
    half = stats.t.ppf(0.975, degrees) * loss.std(ddof=1) / math.sqrt(120)
    assert result.interval == pytest.approx((loss.mean() - half, loss.mean() + half), rel=1e-10)


def test_evaluation_mirrors_the_interval_of_swapped_models():
    y, a, b, _ = rows(seed=9)
    result = stakes.evaluate(y, {"a": a, "b": b}, costs=(0.05, 0.4))
    low, high = result.compare("a", "b").interval
    assert result.compare("b", "a").interval == pytest.approx((-high, -low), rel=1e-9)
    pair = stakes.compare(y, b, a, costs=costs.Uniform(0.05, 0.4))
    assert result.compare("b", "a").interval == pytest.approx(pair.interval, rel=1e-9)


@pytest.mark.parametrize("count", [30, 60])
@pytest.mark.parametrize("scarce", [False, True])
def test_clusters_are_left_out_in_turn(count, scarce):
    """The variance is that of a jackknife of clusters; Student's t has the degrees of freedom of the larger ones.

    Where one of six clusters holds most of what the positives differ by, the next may hold three times as much.
    """
    y, a, b, _ = rows(6 * count, seed=4)
    codes = np.arange(6 * count) // 6
    if scarce:
        few = np.array([np.flatnonzero((codes == code) & (y == 1))[0] for code in np.unique(codes[y == 1])[:6]])
        b[y == 1] = a[y == 1]
        b[few] = 0.9
        a[few] = [0.5, *[0.8] * 5]
    gap = (a - y) ** 2 - (b - y) ** 2
    left = np.array([gap[codes != code].mean() for code in range(count)]) - gap.mean()
    error = math.sqrt((count - 1) / count * np.sum(left**2))
    shares = np.bincount(codes) / len(codes)
    by_kurtosis = 2 * np.sum(left**2) ** 2 / (np.sum(left**4) - np.sum(left**2) ** 2 / count)
    degrees = min(count - 1, by_kurtosis, np.sum(shares**2) ** 2 / np.sum(shares**4))
    held = np.bincount(codes, np.where(y == 1, gap, 0.0)) / len(y)
    unseen = scarce * 3.0 * math.sqrt(np.sum(held**4) / np.sum(held**2))
    result = metric_difference(y, a, b, "bounded_brier_loss", clusters=codes)
    half = math.hypot(stats.t.ppf(0.975, degrees) * error, unseen * math.log(0.05))
    assert result.standard_error == pytest.approx(error, rel=1e-10)
    assert result.interval == pytest.approx((gap.mean() - half, gap.mean() + half), abs=1e-9 * half)
    assert ("clusters with positives" in result.note) == scarce


def test_a_cluster_of_more_than_half_the_rows_has_no_interval():
    y, a, _, _ = rows(100)
    result = metric_interval(y, a, "bounded_brier_loss", clusters=np.maximum(np.arange(100) - 59, 0) // 5)
    assert math.isnan(result.interval[0])
    assert result.note == "one cluster holds 64% of all weight: an interval needs half at most"


@pytest.mark.parametrize("how", ["clusters", "lags"])
def test_costs_that_no_row_has_shown_widen_dependent_intervals_too(how):
    y = np.repeat([0, 1], [200, 100])
    s = np.repeat([0.05, 0.9], [200, 100])
    s[:30] = 0.4
    order = np.random.default_rng(0).permutation(300)
    y, s = y[order], s[order]
    options = {"clusters": np.arange(300) // 5} if how == "clusters" else {"lags": "auto"}
    for result in (
        metric_interval(y, s, "expected_regret", costs=costs.Fixed(0.1), **options),
        stakes.evaluate(y, s, costs=costs.Fixed(0.1), **options).results[0],
    ):
        assert result.note == "no positive carries a cost here: at least 5 must"
        assert result.interval[1] - result.interval[0] > 2 * 2.99 * 0.9 / 300


def test_difference_of_independent_estimates_has_welchs_degrees_of_freedom():
    few, many = (Moments(0.1, variance, degrees) for variance, degrees in ((0.01, 4), (0.02, 50)))
    gap = few.minus(many)
    half = stats.t.ppf(0.975, 0.03**2 / (0.01**2 / 4 + 0.02**2 / 50)) * math.sqrt(0.03)
    assert gap.interval(0.95) == pytest.approx((-half, half))


def test_p_value_and_interval_agree():
    y, a, b, _ = rows(seed=5)
    for level in (0.5, 0.9, 0.99):
        result = metric_difference(y, a, b, "bounded_brier_loss", confidence_level=level)
        assert result.significant == (result.p_value < 1 - level)
    p = metric_difference(y, a, b, "bounded_brier_loss").p_value
    ends = metric_difference(y, a, b, "bounded_brier_loss", confidence_level=1 - p).interval
    assert min(abs(end) for end in ends) == pytest.approx(0.0, abs=1e-12)


def test_swapping_the_models_mirrors_the_interval():
    y, a, b, _ = rows()
    for name, options in METRICS.items():
        one, two = (metric_difference(y, *pair, name, **options) for pair in ((a, b), (b, a)))
        assert one.interval == pytest.approx((-two.interval[1], -two.interval[0]), rel=1e-9)
        assert one.p_value == pytest.approx(two.p_value, rel=1e-9)


def test_clusters_that_repeat_a_row_count_once():
    y, a, b, _ = rows(90)
    times = 4
    codes = np.repeat(np.arange(90), times)
    once = metric_difference(y, a, b, "bounded_brier_loss")
    repeated = metric_difference(
        np.repeat(y, times), np.repeat(a, times), np.repeat(b, times), "bounded_brier_loss", clusters=codes
    )
    assert repeated.standard_error == pytest.approx(once.standard_error, rel=1e-10)
    assert repeated.interval == pytest.approx(once.interval, rel=1e-9)
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
    kept = metric_difference(y[w > 0], a[w > 0], b[w > 0], "roc_auc_score", clusters=codes[w > 0])
    weighted = metric_difference(y, a, b, "roc_auc_score", sample_weight=w, clusters=codes)
    assert weighted.interval == pytest.approx(kept.interval)


@pytest.mark.simulation
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
        low, high = metric_interval(y, s, "bounded_brier_loss", clusters=codes).interval
        clustered += low <= truth <= high
        low, high = metric_interval(y, s, "bounded_brier_loss").interval
        naive += low <= truth <= high
    assert clustered / 600 > 0.925
    assert naive / 600 < 0.8


def test_newey_west_of_its_definition():
    y, a, b, _ = rows(80)
    gap = (a - y) ** 2 - (b - y) ** 2
    d, lags = gap - gap.mean(), 5
    variance = sum((1 - abs(k) / (lags + 1)) * np.sum(d[abs(k) :] * d[: 80 - abs(k)]) for k in range(-lags, lags + 1))
    result = metric_difference(y, a, b, "bounded_brier_loss", lags=lags)
    assert result.standard_error == pytest.approx(math.sqrt(variance / (80 * 79)), rel=1e-10)
    half = stats.t.ppf(0.975, 79) * result.standard_error
    assert result.interval == pytest.approx((gap.mean() - half, gap.mean() + half), rel=1e-9)


@pytest.mark.parametrize(("n", "count"), [(2, 1), (4, 1), (12, 2), (999, 39)])
def test_number_of_cosines_is_that_of_lazarus_and_others_and_at_least_one(n, count):
    assert waves(n) == count


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


@pytest.mark.simulation
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
        low, high = metric_interval(y, s, "bounded_brier_loss", lags="auto").interval
        ordered += low <= truth <= high
        low, high = metric_interval(y, s, "bounded_brier_loss").interval
        naive += low <= truth <= high
    assert ordered / 600 > 0.92
    assert naive / 600 < 0.75


def test_few_rows_that_carry_a_cost_widen_the_interval():
    y = np.repeat([0, 1], [200, 100])
    s = np.repeat([0.05, 0.9], [200, 100])
    s[:30] = 0.4  # thirty false alarms, and no positive is ever missed
    result = metric_interval(y, s, "expected_regret", costs=costs.Fixed(0.1))
    assert result.note == "no positive carries a cost here: at least 5 must"
    # the rule of three: without one missed in 300, three per 300 remain possible
    assert result.interval[1] > result.value + 2.99 * 0.9 / 300
    s[-2:] = 0.05
    result = metric_interval(y, s, "expected_regret", costs=costs.Fixed(0.1))
    assert result.note == (
        "the estimate rests on about 2 of 100 positives: few, so the interval is widened; about 250 positives would do"
    )
    s[-20:] = 0.05
    assert metric_interval(y, s, "expected_regret", costs=costs.Fixed(0.1)).note == ""


@pytest.mark.parametrize("missed", [6, 8, 10, 12, 14, 20, 40])
def test_where_nothing_is_said_the_interval_is_hardly_wider_than_the_normal_one(missed):
    y = np.repeat([0, 1], [3000, 1000])
    s = np.repeat([0.05, 0.9], [3000, 1000])
    s[:10] = 0.4  # ten false alarms at a ninth of what a missed positive costs
    s[3000 : 3000 + missed] = 0.05
    result = metric_interval(y, s, "expected_regret", costs=costs.Fixed(0.1))
    wider = (result.interval[1] - result.value) / (1.959963984540054 * result.standard_error)
    few = "few rows carry the error of the estimate (about"
    assert result.note.startswith(few) == (wider > 1.049)
    assert wider <= 1.05 or result.note.endswith("degrees of freedom): the interval is wider than a normal one")
    assert (missed <= 10, missed >= 14) == (wider > 1.05, wider < 1.05) or missed == 12


def test_few_clusters_say_so():
    y, a, b, _ = rows(1200)
    clusters = np.arange(1200) // 60
    found = metric_difference(y, a, b, "bounded_brier_loss", clusters=clusters)
    assert found.note.startswith("few clusters carry the error of the difference (about 1")
    assert metric_difference(y, a, b, "bounded_brier_loss").note == ""


def test_skill_needs_five_of_each_class():
    y, a, _, _ = rows(400)
    few = np.flatnonzero(y)[:4]
    keep = np.concatenate([few, np.flatnonzero(~y)])
    result = metric_interval(y[keep], a[keep], "bounded_brier_skill_score")
    assert math.isnan(result.interval[0])
    assert result.note == "only 4 positives: an interval needs 5"


@pytest.mark.parametrize(("held", "said"), [([51], "1 cluster"), ([26, 25], "2 clusters")])
def test_skill_needs_five_clusters_of_each_class_and_says_so(held, said):
    y, a = np.repeat([1, 0], [51, 200]), np.random.default_rng(0).uniform(0.01, 0.99, 251)
    clusters = np.repeat(np.arange(len(held) + 20), [*held, *[10] * 20])
    result = metric_interval(y, a, "bounded_brier_skill_score", clusters=clusters)
    assert math.isnan(result.interval[0])
    assert result.note == f"only {said} with positives: an interval needs 5"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, a: metric_interval(y, a, "bounded_auc_score"), "closed-form interval"),
        (lambda y, a: metric_interval(y, a, "nonsense"), "closed-form interval"),
        (lambda y, a: metric_interval(y, a, "expected_regret", costs=costs.Uniform(0, 1), rule="optimal"), "optimal"),
        (lambda y, a: metric_interval(y, a, "net_benefit_score", threshold=1.0), "threshold must lie in"),
        (lambda y, a: metric_interval(y, a, "roc_auc_score", clusters=[1] * len(y)), "at least 5 clusters, got 1"),
        (lambda y, a: metric_interval(y, a, "roc_auc_score", clusters=[1, 2]), "clusters must have one value"),
        (lambda y, a: metric_interval(y, a, "roc_auc_score", lags=-1), "lags must be"),
        (lambda y, a: metric_interval(y, a, "roc_auc_score", lags=2, clusters=y), "cannot both be given"),
        (lambda y, a: metric_interval(y[:9], a[:9], "roc_auc_score", lags=2), "at least 20 rows"),
        (
            lambda y, a: metric_interval(ScoreTable.from_predictions(y, a), metric="roc_auc_score", lags=2),
            "need the rows",
        ),
        (lambda y, a: metric_difference(y, ScoreTable.from_predictions(y, a), a, "roc_auc_score"), "rows of both"),
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
        metric_interval(y, np.column_stack([1 - a, a]), name, **options)
    if name != "penalized_brier_loss":
        with pytest.raises(TypeError, match=message):
            metric_difference(y, a, b, name, **options)


def test_interval_of_a_mean_ranks_no_rows(monkeypatch):
    def refuse(*_):
        raise AssertionError("a mean needs no order of the rows")

    monkeypatch.setattr(stakes.ScoreTable, "from_sample", refuse)
    y, score = [0, 1, 0, 1, 1, 0] * 5, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5] * 5
    assert metric_interval(y, score, "bounded_brier_loss").value > 0.0
    assert metric_interval(y, score, "bounded_brier_skill_score").value < 1.0


@pytest.mark.parametrize("name", sorted(METRICS.keys() - {"partial_auc_score"}))
@pytest.mark.parametrize("asked", ["rows", "weights", "clusters", "lags", "prevalence", "follow-up"])
def test_the_same_scores_differ_in_nothing(name, asked):
    rng = np.random.default_rng(4)
    y, score = rng.random(200) < 0.3, rng.uniform(0.01, 0.99, 200).round(2)
    about = {"weights": {"sample_weight": rng.integers(0, 3, 200)}, "clusters": {"clusters": np.arange(200) // 4}}
    about |= {"lags": {"lags": "auto"}, "prevalence": {"prevalence": 0.1}}
    if asked == "follow-up":
        y = TimeToEvent(time=rng.exponential(2.0, 200), event=rng.random(200) < 0.6, horizon=1.0)
    found = metric_difference(y, score, score.copy(), name, **METRICS[name], **about.get(asked, {}))
    assert (found.difference, found.standard_error, found.p_value, found.note) == (0.0, 0.0, 1.0, "")
    assert found.interval == (0.0, 0.0)


def test_scores_of_the_same_order_or_the_same_costs_may_differ_in_unseen_rows():
    y, score = [0, 1] * 40, np.linspace(0.1, 0.9, 80)
    for other in (score**1.001, np.where(score > 0.8, 0.85, score)):
        found = metric_difference(y, score, other, "net_benefit_score", threshold=0.3)
        assert found.difference == 0.0
        assert found.interval[0] < 0.0 < found.interval[1]
        assert "tells the two apart" in found.note


@pytest.mark.parametrize("shared", [1.0, -1.0])  # scores of a case and its control rise together, or apart
@pytest.mark.parametrize("asked", [{"fpr_bounds": (0.1, 0.6)}, {"tpr_bounds": (0.3, 0.8)}, {}], ids=str)
def test_partial_areas_of_clusters_have_the_variance_of_the_jackknife(asked, shared):
    rng, m = np.random.default_rng(2), 250
    alike = rng.normal(size=m)
    scores = [
        np.concatenate([shared * alike + noise, alike + 1.0 + noise[::-1]]) for noise in 0.5 * rng.normal(size=(2, m))
    ]
    y, cluster = np.repeat([0, 1], m), np.tile(np.arange(m), 2)

    def deviation(value):
        return math.sqrt((m - 1) * np.var([value(cluster != k) for k in range(m)]))

    found = metric_interval(y, scores[0], "partial_auc_score", clusters=cluster, **asked)
    alone = deviation(lambda kept: partial_auc_score(y[kept], scores[0][kept], **asked))
    assert found.standard_error == pytest.approx(alone, rel=0.03)
    if not asked:
        whole = metric_interval(y, scores[0], "roc_auc_score", clusters=cluster)
        assert found.standard_error == pytest.approx(whole.standard_error, rel=1e-9)
    gap = metric_difference(y, *scores, "partial_auc_score", clusters=cluster, **asked)
    apart = deviation(lambda kept: np.subtract(*(partial_auc_score(y[kept], s[kept], **asked) for s in scores)))
    assert gap.standard_error == pytest.approx(apart, rel=0.05)


@pytest.mark.parametrize("given", [{"prevalence": 0.1}, {"pos_label": 1}, {"pos_label": False}, {"logits": True}])
def test_arguments_of_two_classes_are_refused_for_losses_of_several(given):
    y, a, _, _ = rows(60)
    name, value = next(iter(given.items()))
    with pytest.raises(ValueError, match=f"{name}= is for metrics of two classes.*got {value!r}"):
        metric_interval(y.astype(int), np.column_stack([1 - a, a]), "penalized_brier_loss", **given)


def test_net_benefit_has_its_value_and_the_note_where_clusters_or_follow_up_allow_no_interval():
    y, a, _, _ = rows(300)
    large = np.append(np.zeros(200, int), np.arange(100) + 1)
    outcome = stakes.TimeToEvent(event=y, time=np.append(np.full(297, 1.0), np.full(3, 3.0)), horizon=2.0)
    for outcome_or_labels, clusters, reason in (
        (y, large, "one cluster holds 66.7% of all weight"),
        (outcome, None, "only 3 rows were followed"),
    ):
        found = metric_interval(outcome_or_labels, a, "net_benefit_score", threshold=0.2, clusters=clusters)
        other = metric_interval(outcome_or_labels, a, "bounded_brier_loss", clusters=clusters)
        assert found.value == pytest.approx(stakes.metrics.net_benefit_score(outcome_or_labels, a, threshold=0.2))
        assert np.isnan([*found.interval, *other.interval]).all()
        assert found.note == other.note
        assert found.note.startswith(reason)


def cluster_of_positives(share, seed=4, count=20):
    """Labels, two scores and clusters of which the first has about this share of the positives, at lower scores."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(count), 30)
    y = rng.random(len(clusters)) < 0.05
    y[clusters == 0] = rng.random(30) < share
    a, b = (rng.normal(size=len(y)) + shift * y - 0.8 * (clusters == 0) for shift in (1.2, 0.4))
    return y, 1 / (1 + np.exp(-a)), 1 / (1 + np.exp(-b)), clusters


@pytest.mark.parametrize(
    ("name", "options"), [("roc_auc_score", {}), ("partial_auc_score", {"fpr_bounds": (0.0, 0.6)})]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_error_of_an_area_is_the_jackknifes_where_one_cluster_has_nearly_half_of_a_class(name, options, weighted):
    y, a, b, clusters = cluster_of_positives(0.6)
    weight = np.random.default_rng(2).gamma(5, 0.2, len(y)) if weighted else np.ones(len(y))
    assert 0.35 < (weight * y)[clusters == 0].sum() / (weight @ y) < 0.5
    metric = getattr(stakes.metrics, name)
    left = [
        [metric(y[kept], s[kept], sample_weight=weight[kept], **options) for s in (a, b)]
        for kept in (clusters != code for code in range(20))
    ]
    error, gap_error = (math.sqrt(19 * np.var(each)) for each in (np.array(left)[:, 0], np.diff(left)[:, 0]))
    known = {"sample_weight": weight, "clusters": clusters, **options}
    assert metric_interval(y, a, name, **known).standard_error == pytest.approx(error, rel=0.03)
    assert metric_difference(y, a, b, name, **known).standard_error == pytest.approx(gap_error, rel=0.03)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("roc_auc_score", {}),
        ("partial_auc_score", {"fpr_bounds": (0.0, 0.6)}),
        ("bounded_brier_loss", {"prevalence": 0.1}),
        ("net_benefit_score", {"prevalence": 0.1, "threshold": 0.2}),
    ],
)
def test_a_cluster_of_more_than_half_of_a_class_has_no_interval_where_means_are_by_class(name, options):
    y, a, b, clusters = cluster_of_positives(1.0)
    share = f"{100 * y[:30].sum() / y.sum():.3g}%"
    reason = f"one cluster holds {share} of the weight of the positives: an interval needs half"
    found = metric_interval(y, a, name, clusters=clusters, **options)
    assert found.value == pytest.approx(getattr(stakes.metrics, name)(y, a, **options))
    assert found.note.startswith(reason)
    gap = metric_difference(y, a, b, name, clusters=clusters, **options)
    assert gap.note.startswith(reason)
    assert np.isnan([*found.interval, *gap.interval, gap.p_value]).all()
    assert metric_interval(~y, 1 - a, name, clusters=clusters, **options).note == found.note.replace("posi", "nega")
    # the mean over all rows rests on all clusters
    assert not np.isnan(metric_interval(y, a, "bounded_brier_loss", clusters=clusters).interval).any()


AT_A_PREVALENCE = {
    "metric_interval": lambda y, a, _, **of: metric_interval(y, a, "bounded_brier_loss", **of),
    "metric_difference": lambda y, a, b, **of: metric_difference(y, a, b, "net_benefit_score", threshold=0.3, **of),
    "evaluate": lambda y, a, _, **of: stakes.evaluate(y, a, costs=(0.1, 0.4), **of).results[0],
    "compare": lambda y, a, b, **of: stakes.compare(y, a, b, costs=0.3, **of),
    "confidence_band": lambda y, a, _, **of: confidence_band(y, a, "regret", thresholds=[0.3], **of),
    "evaluate_deferral": lambda y, a, _, **of: evaluate_deferral(y, a, costs=0.3, deferral=0.1, **of).estimates["cost"],
    "observed_to_expected": lambda y, a, _, **of: calibration_summary(y, a, **of).estimates[0],
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", AT_A_PREVALENCE)
def test_error_at_a_stated_prevalence_is_the_jackknifes_where_one_cluster_has_nearly_half_of_a_class(name, weighted):
    """Leaving out a cluster leaves the rest of each class, whose mean counts by the prevalence as before."""
    y, a, b, clusters = cluster_of_positives(0.6)
    weight = np.random.default_rng(2).gamma(5, 0.2, len(y)) if weighted else np.ones(len(y))

    def found(kept, **dependence):
        estimate = AT_A_PREVALENCE[name](
            y[kept], a[kept], b[kept], sample_weight=weight[kept], prevalence=0.3, **dependence
        )
        known = next(each for each in ("value", "difference", "score", "estimate") if hasattr(estimate, each))
        return float(np.ravel(getattr(estimate, known))[0]), float(np.ravel(estimate.standard_error)[0])

    left = np.array([found(clusters != code)[0] for code in range(20)])
    error, exact = found(slice(None), clusters=clusters)[1], name != "observed_to_expected"
    if exact:
        centre = found(slice(None))[0]
        assert error == pytest.approx(math.sqrt(19 / 20 * np.sum((left - centre) ** 2)), rel=1e-9)
    else:  # a ratio is no mean
        assert error == pytest.approx(math.sqrt(19 * np.var(left)), rel=0.05)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_error_of_the_regret_of_auc_counts_what_area_and_prevalence_share_within_clusters(sign, weighted):
    """Where clusters of many positives are ranked better or worse than others, by the jackknife over clusters."""
    rng = np.random.default_rng(3)
    clusters, level = np.repeat(np.arange(60), 20), rng.normal(size=60)[np.repeat(np.arange(60), 20)]
    y = rng.random(1200) < 1 / (1 + np.exp(2 - level))
    a, b = (1 / (1 + np.exp(-(y * shift * level + rng.normal(size=1200)))) for shift in (2.0 * sign, 0.5))
    weight = rng.gamma(5, 0.2, 1200) if weighted else np.ones(1200)
    metric = stakes.metrics.auc_regret
    left = [
        [metric(y[kept], s[kept], sample_weight=weight[kept]) for s in (a, b)]
        for kept in (clusters != code for code in range(60))
    ]
    error, gap_error = (math.sqrt(59 * np.var(each)) for each in (np.array(left)[:, 0], np.diff(left)[:, 0]))
    known = {"sample_weight": weight, "clusters": clusters}
    one, gap = metric_interval(y, a, "auc_regret", **known), metric_difference(y, a, b, "auc_regret", **known)
    assert one.standard_error == pytest.approx(error, rel=0.03)
    assert gap.standard_error == pytest.approx(gap_error, rel=0.03)
    for found in (one, gap):
        assert 1.9 < 0.5 * np.ptp(found.interval) / found.standard_error < 2.5  # a quantile of Student's t


def test_the_regret_of_auc_over_clusters_of_one_row_is_that_of_independent_rows():
    y, a, b, weight = rows(400)
    for known in ({}, {"sample_weight": weight}):
        for found in (
            [metric_interval(y, a, "auc_regret", **known, clusters=c) for c in (np.arange(400), None)],
            [metric_difference(y, a, b, "auc_regret", **known, clusters=c) for c in (np.arange(400), None)],
        ):
            assert found[0].standard_error == pytest.approx(found[1].standard_error, rel=0.03)


@pytest.mark.parametrize("options", [{"bounds": (0.2, 0.5)}, {"cost": "score"}], ids=str)
def test_the_regret_of_auc_within_bounds_or_by_the_score_is_left_to_the_bootstrap(options):
    y, a, b, _ = rows()
    value, whole = (stakes.metrics.auc_regret(y, a, **asked) for asked in (options, {}))
    assert value != pytest.approx(whole, rel=0.02)
    drawn = bootstrap(y, a, metric="auc_regret", n_resamples=20, **options)
    assert float(drawn.values.item()) == pytest.approx(value, rel=1e-12)
    for call in (
        lambda: metric_interval(y, a, "auc_regret", **options),
        lambda: metric_difference(y, a, b, "auc_regret", **options),
    ):
        with pytest.raises(ValueError, match=f"{next(iter(options))} of auc_regret has .* bootstrap serves the others"):
            call()
    stated = {"bounds": [0, 1], "cost": "event_rate"}
    assert metric_interval(y, a, "auc_regret", **stated) == metric_interval(y, a, "auc_regret")


@pytest.mark.parametrize("as_given", [list, np.array], ids=["list", "array"])
def test_clusters_of_a_table_need_its_rows(as_given):
    y, a, _, _ = rows()
    table = ScoreTable.from_predictions(y, a)
    with pytest.raises(ValueError, match="clusters= and lags= need the rows"):
        metric_interval(table, None, "roc_auc_score", clusters=as_given(range(len(y))))
