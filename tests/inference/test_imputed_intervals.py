"""Intervals pooled over completed data sets: those of one data set where all agree, and never narrower than these."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from stakes import RowCosts, TimeToEvent, evaluate, metric_interval
from stakes.inference import calibration_summary, confidence_band, metric_difference, pool, threshold_intervals
from stakes.metrics import METRICS
from stakes.outcomes import Imputed

RNG = np.random.default_rng(11)
NO_CLOSED_FORM = "must have a closed-form interval"
OPTIONS = {**{name: entry.parameters for name, entry in METRICS.items()}, "h_measure_score": {}, "hull_auc": {}}


def binary(n, rate, noise=0.5, seed=0):
    """Labels and calibrated scores."""
    rng = np.random.default_rng(seed)
    odds = math.log(rate / (1 - rate)) + rng.normal(size=n)
    return (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int), 1 / (1 + np.exp(-odds - noise * rng.normal(size=n)))


COMMON, RARE = binary(150, 0.4), binary(100, 0.028, seed=6)
PERFECT = np.repeat([0, 1], 30), np.repeat([0.2, 0.9], 30)
CENSORED = (
    TimeToEvent(event=COMMON[0], time=RNG.exponential(size=150), horizon=1.0),
    COMMON[1],
)
AMOUNTS = RowCosts(COMMON[0], false_positive=1.0, false_negative=RNG.uniform(1, 3, 150)), COMMON[1]
CASES = {
    "common": (COMMON, {}),
    "weighted": (COMMON, {"sample_weight": RNG.integers(0, 4, 150)}),
    "clusters": (COMMON, {"clusters": np.arange(150) // 3}),
    "lags": (COMMON, {"lags": "auto"}),
    "prevalence": (COMMON, {"prevalence": 0.1}),
    "90%": (COMMON, {"confidence_level": 0.9}),
    "rare": (RARE, {}),
    "perfect": (PERFECT, {}),
    "censored": (CENSORED, {}),
    "amounts": (AMOUNTS, {}),
}


def asked(name, case):
    rows, given = CASES[case]
    if name not in METRICS or METRICS[name].task == "binary":
        return rows, {**OPTIONS[name], **given}
    y = np.arange(len(rows[1])) % 3
    scores = np.column_stack([rows[1], 0.5 * (1 - rows[1]), 0.5 * (1 - rows[1])])
    return (y, scores), {**OPTIONS[name], **given}


def tried(call, *arguments, **options):
    """What a call returns as numbers, or the type and text of its error."""
    try:
        found = call(*arguments, **options)
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    (record,) = found._records()
    return {key: "nan" if isinstance(value, float) and math.isnan(value) else value for key, value in record.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", OPTIONS)
def test_data_sets_that_agree_have_the_interval_of_one(name, case):
    (y, p), options = asked(name, case)
    one = tried(metric_interval, y, p, name, **options)
    for m in (2, 3, 7):
        assert tried(metric_interval, y, Imputed([p] * m), name, **options) == one
    if case == "common" and isinstance(one, str):
        assert NO_CLOSED_FORM in one


def test_most_metrics_have_an_interval_to_pool():
    found = {
        name
        for name in OPTIONS
        if not isinstance(tried(metric_interval, *asked(name, "common")[0], name, **asked(name, "common")[1]), str)
    }
    assert {"net_benefit_score", "roc_auc_score", "auc_regret", "h_measure_score", "hull_auc"} <= found
    assert len(found) >= 19


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ["common", "weighted", "clusters", "rare", "perfect", "censored"])
@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in METRICS or METRICS[name].task == "binary"])
def test_differences_of_data_sets_that_agree_are_those_of_one(name, case):
    (y, p), options = asked(name, case)
    other = np.clip(p + np.where(np.arange(len(p)) % 5 == 0, 0.2, -0.01), 0.001, 0.999)
    one = tried(metric_difference, y, p, other, name, **options)
    assert tried(metric_difference, y, Imputed([p] * 3), other, name, **options) == one
    assert tried(metric_difference, y, Imputed([p] * 3), Imputed([other] * 3), name, **options) == one
    same = tried(metric_difference, y, p, p, name, **options)
    assert tried(metric_difference, y, Imputed([p] * 3), p, name, **options) == same


@pytest.mark.parametrize("rows", [COMMON, RARE], ids=["common", "rare"])
def test_delong_of_data_sets_that_agree_is_that_of_one(rows):
    y, p = rows
    one = tried(metric_interval, y, p, "roc_auc_score", method="delong")
    assert tried(metric_interval, y, Imputed([p] * 3), "roc_auc_score", method="delong") == one
    gap = tried(metric_difference, y, p, p[::-1], "roc_auc_score", method="delong")
    assert tried(metric_difference, y, Imputed([p] * 3), p[::-1], "roc_auc_score", method="delong") == gap


def test_delong_has_the_degrees_of_freedom_of_rubins_rules():
    y, p = COMMON
    rng = np.random.default_rng(7)
    columns = [np.clip(p + 0.3 * rng.normal(size=len(p)), 0, 1) for _ in range(3)]
    each = [metric_interval(y, column, "roc_auc_score") for column in columns]
    odds = [math.log(e.value / (1 - e.value)) for e in each]
    by_rubin = pool(odds, [e.standard_error / (e.value * (1 - e.value)) for e in each], n_rows=150)
    value = 1 / (1 + math.exp(-by_rubin.value))
    error = by_rubin.standard_error * value * (1 - value)
    found = metric_interval(y, Imputed(columns), "roc_auc_score", method="delong")
    assert (found.value, found.standard_error) == pytest.approx((value, error), rel=1e-12)
    half = stats.t.isf(0.025, by_rubin.degrees) * error
    assert found.interval == pytest.approx((value - half, value + half), rel=1e-9)
    gaps = [metric_difference(y, column, p, "roc_auc_score", method="delong") for column in columns]
    plain = pool([g.difference for g in gaps], [g.standard_error for g in gaps], n_rows=150)
    gap = metric_difference(y, Imputed(columns), p, "roc_auc_score", method="delong")
    assert (gap.difference, gap.standard_error) == pytest.approx((plain.value, plain.standard_error), rel=1e-12)
    assert gap.interval == pytest.approx(plain.interval(0.95), rel=1e-9)
    p_value = 2 * stats.t.sf(abs(plain.value) / plain.standard_error, plain.degrees)
    assert gap.p_value == pytest.approx(p_value, rel=1e-9)


def test_differences_that_few_rows_make_join_the_intervals_of_both_areas():
    """MOVER (Zou 2007), with the correlation that the three standard errors leave."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [40, 20])
    p = 0.7 * rng.random(60) + 0.3 * y
    columns = [np.where(np.arange(60) == 41, place, p) for place in (0.2, 0.5, 0.6)]  # one row tells the two apart
    gap = metric_difference(y, Imputed(columns), p, "roc_auc_score")
    first, second = (metric_interval(y, scores, "roc_auc_score") for scores in (Imputed(columns), p))
    errors = [each.standard_error for each in (first, second, gap)]
    r = (errors[0] ** 2 + errors[1] ** 2 - errors[2] ** 2) / (2 * errors[0] * errors[1])
    below, above = ([abs(each.value - each.interval[k]) for each in (first, second)] for k in (0, 1))
    ends = [
        gap.difference + sign * math.sqrt(x**2 + z**2 - 2 * r * x * z)
        for sign, x, z in ((-1, below[0], above[1]), (1, above[0], below[1]))
    ]
    # one area pools its data sets by their log-odds, a difference by the areas themselves
    assert gap.interval == pytest.approx(ends, rel=0.01)


SMOOTH = ["bounded_brier_loss", "bounded_log_skill_score", "regret_skill_score", "h_measure_score", "auc_regret"]


@pytest.mark.parametrize("name", [*SMOOTH, "roc_auc_score", "hull_auc", "net_benefit_score"])
def test_data_sets_that_nearly_agree_have_nearly_the_interval_of_one(name):
    """No step: the interval of one is not a case of its own."""
    (y, p), options = asked(name, "common")
    shifted = [np.clip(p + shift, 0, 1) for shift in (-1e-9, 0.0, 1e-9)]
    one, found = metric_interval(y, p, name, **options), metric_interval(y, Imputed(shifted), name, **options)
    assert found.value == pytest.approx(one.value, rel=1e-6)
    assert found.interval == pytest.approx(one.interval, rel=1e-3)


def worked_out(y, columns, threshold, level=0.95):
    """Net benefit pooled by the definitions: fourth moments, the rule of three, Rubin, Barnard and Rubin."""
    n, m, odds = len(y), len(columns), threshold / (1 - threshold)
    values, variances, degrees, rooms = [], [], [], []
    for p in columns:
        benefit = [(1.0 if label else -odds) if score >= threshold else 0.0 for label, score in zip(y, p, strict=True)]
        value = sum(benefit) / n
        errors = [(each - value) / n for each in benefit]
        q2, q4 = sum(e**2 for e in errors), sum(e**4 for e in errors)
        variance = n / (n - 1) * q2
        free = min(n - 1, 2 * q2**2 / (q4 - q2**2 / n))
        room = 0.0
        for label, best, most in ((0, 0.0, odds), (1, 1.0, 1.0)):
            lost = [each - best for each, mine in zip(benefit, y, strict=True) if mine == label and each != best]
            second, fourth = sum(d**2 for d in lost), sum(d**4 for d in lost)
            carrying = second**2 / fourth if lost else 0.0
            size = most if len(lost) < 5 else min(most, 3 * math.sqrt(fourth / second))
            if carrying < 5 and size / n > 0.1 * math.sqrt(variance):
                room += (size / n) ** 2
        values.append(value), variances.append(variance), degrees.append(free), rooms.append(room)
    value, within = sum(values) / m, sum(variances) / m
    between = (1 + 1 / m) * sum((each - value) ** 2 for each in values) / (m - 1)
    share = between / (within + between)
    rubin = 1 / (share**2 / (m - 1) + (n + 2) / (n * (n - 1) * (1 - share)))
    # by halving the tail itself: older versions of scipy invert it to nine digits only
    t = optimize.brentq(lambda x: stats.t.sf(x, min([rubin, *degrees])) - (1 - level) / 2, 0.0, 1e3, xtol=1e-14)
    half = math.sqrt(t**2 * (within + between) + math.log(1 - level) ** 2 * sum(rooms) / m)
    return value, max(value - half, METRICS["net_benefit_score"].low), min(value + half, 1.0)


@pytest.mark.parametrize("rate", [0.028, 0.1, 0.4])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_within_between_room_and_degrees_are_those_of_the_definitions(rate, level):
    y, p = binary(100, rate, seed=6)
    rng = np.random.default_rng(2)
    columns = [np.clip(p * np.exp(0.3 * rng.normal(size=100)), 0, 1) for _ in range(5)]
    assert len({metric_interval(y, each, "net_benefit_score", threshold=0.1).value for each in columns}) > 1
    # at its own threshold net benefit has the limits of its curve; acting at the next number is a mean like any other
    acted = {"threshold": 0.1, "rule": math.nextafter(0.1, 1.0)}
    found = metric_interval(y, Imputed(columns), "net_benefit_score", **acted, confidence_level=level)
    assert (found.value, *found.interval) == pytest.approx(worked_out(y, columns, 0.1, level), rel=1e-9)


@pytest.mark.parametrize("case", sorted(CASES.keys() - {"lags"}))  # curves know of no order in time
def test_net_benefit_has_the_limits_of_its_curve(case):
    """A metric, a table over thresholds and a curve give one interval to one number."""
    (y, p), given = asked("net_benefit_score", case)
    limits = {key: value for key, value in given.items() if key != "threshold"}
    found = metric_interval(y, p, "net_benefit_score", **given)
    band = confidence_band(y, p, "net_benefit", thresholds=[given["threshold"]], **limits)
    assert (found.value, *found.interval) == pytest.approx((*band.estimate, *band.low, *band.high), rel=1e-12)
    if case not in {"amounts", "clusters"}:  # tables take neither
        table = threshold_intervals(y, p, thresholds=[given["threshold"]], **limits)
        limits = (*table.low["net_benefit"], *table.high["net_benefit"])
        assert found.interval == pytest.approx(limits, rel=1e-12)


def test_limits_of_curves_have_the_degrees_of_freedom_of_the_clusters():
    rng = np.random.default_rng(0)
    clusters, p = np.repeat(np.arange(8), 50), rng.beta(2, 4, 400)
    y = (rng.random(400) < np.clip(p + rng.normal(0, 0.12, 8)[clusters], 0, 1)).astype(int)
    columns = Imputed([np.clip(p + rng.normal(0, 0.12), 0.001, 0.999) for _ in range(10)])
    given = {"thresholds": [0.3], "clusters": clusters}
    each = [confidence_band(y, scores, "net_benefit", **given) for scores in columns.scores]
    values, within = (np.array([getattr(b, name)[0] for b in each]) for name in ("estimate", "standard_error"))
    extra = 1.1 * np.var(values, ddof=1)  # Barnard and Rubin 1999, of 8 independent units
    share = extra / (np.mean(within**2) + extra)
    degrees = 1 / (share**2 / 9 + 1 / (8 / 10 * 7 * (1 - share)))
    reach = stats.t.ppf(0.975, degrees) * math.sqrt(np.mean(within**2) + extra)
    band = confidence_band(y, columns, "net_benefit", **given)
    assert (band.high - band.low) / 2 == pytest.approx(reach, rel=1e-9)
    of_evaluation = evaluate(y, {"m": columns}, costs=(0.2, 0.6), clusters=clusters).bands("net_benefit", [0.3])["m"]
    assert (*of_evaluation.low, *of_evaluation.high) == pytest.approx((*band.low, *band.high), rel=1e-12)


def test_a_data_set_without_an_interval_leaves_none_and_says_why():
    y, p = COMMON
    sure = np.where(np.arange(150) == np.argmax(y == 1), 1e-300, p)  # one row bears nearly all of the loss
    found = metric_interval(y, Imputed([p, sure]), "bounded_log_loss", bounds=(0.0, 1.0))
    alone = metric_interval(y, sure, "bounded_log_loss", bounds=(0.0, 1.0))
    assert np.isnan([*found.interval, *alone.interval]).all()
    assert found.note == alone.note
    assert "there is no interval" in found.note
    endless = metric_interval(y, Imputed([p, np.where(sure < 1e-200, 0.0, p)]), "bounded_log_loss", bounds=(0.0, 1.0))
    assert endless.value == math.inf
    assert np.isnan([*endless.interval, endless.standard_error]).all()


@pytest.mark.parametrize("gap", [False, True])
def test_the_note_of_data_sets_is_the_first_of_those_without_an_interval_or_else_the_first(gap):
    y = np.repeat([0, 1], [95, 55])
    plain = np.where(y == 1, 0.9, 0.1)
    few, more = (np.where(np.arange(150) < count, 0.9, plain) for count in (6, 7))  # rows that bear most of the loss
    one, four = np.where(np.arange(150) == 149, 1e-300, plain), np.where(np.arange(150) < 4, 0.9, plain)
    call, others = (metric_difference, [plain - 0.05]) if gap else (metric_interval, [])

    def told(scores):
        found = call(y, scores, *others, "bounded_log_loss", bounds=(0.0, 1.0))
        return found.note, math.isnan(found.interval[0])

    (of_few, _), (of_more, _), (of_one, _), (of_four, _) = alone = [told(scores) for scores in (few, more, one, four)]
    assert len({note for note, _ in alone} | {""}) == 5
    assert [unknown for _, unknown in alone] == [False, False, True, True]
    for columns, note in (
        ([plain, few, more], of_few),
        ([more, few, plain], of_more),
        ([few, one, four], of_one),
        ([four, more, one], of_four),
    ):
        assert told(Imputed(columns)) == (note, note in {of_one, of_four})


@pytest.mark.parametrize("name", ["net_benefit_score", "roc_auc_score", "hull_auc", "bounded_brier_loss"])
def test_pooled_intervals_stay_in_the_range_of_the_metric(name):
    y, p = binary(60, 0.35, noise=0.1, seed=3)
    rng = np.random.default_rng(4)
    columns = [np.clip(p + 0.4 * rng.normal(size=60), 0, 1) for _ in range(2)]
    options = {**OPTIONS[name], "threshold": 0.9} if name == "net_benefit_score" else OPTIONS[name]
    low, high = metric_interval(y, Imputed(columns), name, **options, confidence_level=0.999).interval
    least = 0.5 if name == "hull_auc" else METRICS[name].low
    most = 1.0 if name == "hull_auc" else METRICS[name].high
    assert least <= low < high <= most


@pytest.mark.parametrize("name", ["net_benefit_score", "roc_auc_score", "auc_regret", "bounded_brier_loss"])
def test_spread_between_data_sets_widens_intervals(name):
    y, p = COMMON
    rng = np.random.default_rng(5)
    noisy = [np.clip(p + 0.2 * rng.normal(size=len(p)), 0, 1) for _ in range(4)]
    each = [metric_interval(y, column, name, **OPTIONS[name]) for column in noisy]
    found = metric_interval(y, Imputed(noisy), name, **OPTIONS[name])
    assert np.diff(found.interval)[0] > np.mean([np.diff(e.interval)[0] for e in each])
    gaps = [metric_difference(y, column, p, name, **OPTIONS[name]) for column in noisy]
    gap = metric_difference(y, Imputed(noisy), p, name, **OPTIONS[name])
    assert gap.difference == pytest.approx(np.mean([g.difference for g in gaps]), rel=1e-12)
    assert np.diff(gap.interval)[0] > np.mean([np.diff(g.interval)[0] for g in gaps])


@pytest.mark.parametrize("name", ["net_benefit_score", "roc_auc_score", "auc_regret", "bounded_brier_loss"])
def test_pooled_p_values_agree_with_their_intervals(name):
    y, p = COMMON
    rng = np.random.default_rng(6)
    noisy = [np.clip(p + 0.3 * rng.normal(size=len(p)), 0, 1) for _ in range(4)]
    p_value = metric_difference(y, Imputed(noisy), p, name, **OPTIONS[name]).p_value
    assert 0.0 < p_value < 1.0
    at = metric_difference(y, Imputed(noisy), p, name, **OPTIONS[name], confidence_level=1 - p_value)
    assert min(abs(end) for end in at.interval) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.simulation
@pytest.mark.parametrize("n", [100, 300])
def test_pooled_net_benefit_of_rare_events_covers(n):
    """Rubin's rules alone, without the rule of three, hold the truth too seldom: 70 and 92 in 100."""
    truth, n_samples = imputed_truth(), 1000
    held, by_rubin_alone = 0, 0
    for seed in range(n_samples):
        y, columns = imputed_sample(n, np.random.default_rng([n, seed]))
        low, high = metric_interval(y, Imputed(columns), "net_benefit_score", threshold=0.1).interval
        held += low <= truth <= high
        each = [metric_interval(y, column, "net_benefit_score", threshold=0.1) for column in columns]
        low, high = pool([e.value for e in each], [e.standard_error for e in each], n_rows=n).interval(0.95)
        by_rubin_alone += low <= truth <= high
    assert 0.94 * n_samples < held
    assert by_rubin_alone < 0.93 * n_samples


def imputed_sample(n, rng, m=5, missing=0.3):
    """Rows with 2.8% events; one of two predictors is missing in some, and drawn anew from its distribution there."""
    first, second = rng.normal(size=(2, n))
    y = rng.random(n) < risk_of(first, second)
    lost = rng.random(n) < missing
    # given the label, by Bayes: draws of the predictor are kept with the probability of the label
    columns = []
    for _ in range(m):
        filled = second.copy()
        filled[lost] = drawn(first[lost], y[lost], rng)
        columns.append(risk_of(first, filled))
    return y, columns


def risk_of(first, second):
    return 1 / (1 + np.exp(4.35 - 1.0 * first - 0.9 * second))


def drawn(first, y, rng):
    """Draws of the missing predictor given the other and the label, by rejection."""
    found = np.full(len(first), np.nan)
    while np.isnan(found).any():
        left = np.isnan(found)
        proposal = rng.normal(size=int(left.sum()))
        risk = risk_of(first[left], proposal)
        taken = rng.random(len(proposal)) < np.where(y[left], risk, 1 - risk)
        found[np.flatnonzero(left)[taken]] = proposal[taken]
    return found


def imputed_truth():
    """Net benefit of the population at 10%: the linear predictor is normal."""
    spread, start = math.sqrt(1.0 + 0.81), math.log(1 / 9)

    def gain(u):
        return stats.norm.pdf(u) * (10 / (1 + math.exp(4.35 - spread * u)) - 1) / 9

    return integrate.quad(gain, (start + 4.35) / spread, 12.0, epsabs=1e-12)[0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda y, p, **about: metric_interval(y, p, "bounded_brier_loss", **about).interval,
        lambda y, p, **about: metric_interval(y, p, "roc_auc_score", **about).interval,
        lambda y, p, **about: metric_difference(y, p, p.scores[0], "bounded_brier_loss", **about).interval,
        lambda y, p, **about: next(iter(calibration_summary(y, p, **about).estimates)).interval,
        lambda y, p, **about: confidence_band(y, p, "regret", thresholds=[0.2, 0.4], **about).high,
    ],
    ids=["mean", "area", "difference", "calibration", "band"],
)
def test_clusters_of_no_weight_are_absent(ask):
    """Rows of weight 0 in clusters of their own change nothing, the degrees of freedom of Rubin's rules included."""
    rng, (y, score) = np.random.default_rng(2), COMMON
    columns = [np.clip(score + 0.1 * rng.normal(size=150), 0.01, 0.99) for _ in range(4)]
    clusters, more = np.arange(150) // 6, 60
    alone = ask(y, Imputed(columns), clusters=clusters, sample_weight=np.ones(150))
    longer = Imputed([np.append(column, np.full(more, 0.5)) for column in columns])
    about = {
        "clusters": np.append(clusters, 1000 + np.arange(more)),
        "sample_weight": np.repeat([1.0, 0.0], [150, more]),
    }
    assert np.asarray(ask(np.append(y, np.zeros(more, dtype=int)), longer, **about)) == pytest.approx(alone, rel=1e-12)
