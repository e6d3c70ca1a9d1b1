"""Models in several centres: each number is that of the centre's rows, and the pool that of its estimates."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from stakes import PartlyVerified, RowCosts, TimeToEvent, evaluate, metric_interval
from stakes.evaluation import evaluate_centres
from stakes.inference import random_effects

RNG = np.random.default_rng(12)
N = 900
CENTRE = RNG.choice(["Graz", "Lyon", "Oslo", "Turin"], N)
X = RNG.normal(size=N)
A, B = expit(X - 1.0), expit(0.6 * X - 0.8 + 0.3 * RNG.normal(size=N))
Y = RNG.random(N) < expit(X - 1.0 + 0.5 * (CENTRE == "Oslo"))
FOUND = evaluate_centres(Y, {"a": A, "b": B}, CENTRE, threshold=0.3, costs=(0.1, 0.4))


@pytest.mark.parametrize("centre", ["Graz", "Lyon", "Oslo", "Turin"])
@pytest.mark.parametrize(("model", "p"), [("a", A), ("b", B)])
def test_numbers_of_a_centre_are_those_of_its_rows(model, p, centre):
    mine = centre == CENTRE
    y, p = Y[mine], p[mine]
    found = {name: each.value for name, each in FOUND.estimates[model][centre].items()}
    assert list(found) == ["auc", "o_e_ratio", "calibration_in_the_large", "slope", "net_benefit", "regret"]
    assert found["auc"] == pytest.approx(roc_auc_score(y, p), abs=1e-12)
    assert found["o_e_ratio"] == pytest.approx(y.mean() / p.mean(), abs=1e-12)
    fit = LogisticRegression(C=1e9, tol=1e-10, max_iter=1000).fit(logit(p)[:, None], y)
    assert found["slope"] == pytest.approx(fit.coef_[0, 0], abs=1e-5)
    shifted = expit(logit(p) + found["calibration_in_the_large"])
    assert shifted.mean() == pytest.approx(y.mean(), abs=1e-9)  # the score equation of the intercept
    acted = p >= 0.3
    assert found["net_benefit"] == pytest.approx((acted & y).mean() - 3.0 / 7.0 * (acted & ~y).mean(), abs=1e-12)
    ratios = 0.1 + 0.3 * (np.arange(3000) + 0.5) / 3000.0
    costs = [np.where(p >= c, c * ~y, (1.0 - c) * y).mean() for c in ratios]
    assert found["regret"] == pytest.approx(np.mean(costs), abs=1e-4)
    record = next(r for r in FOUND._records() if (r["model"], r["centre"]) == (model, centre))
    assert (record["rows"], record["positives"]) == (mine.sum(), y.sum())
    assert record["auc_ci_low"] < record["auc"] < record["auc_ci_high"]


def test_differences_are_those_of_the_numbers():
    for centre in ("Graz", "Oslo"):
        for key in ("auc", "net_benefit", "regret"):
            first, second, gap = (FOUND.estimates[name][centre][key] for name in ("a", "b", "a - b"))
            assert gap.difference == pytest.approx(first.value - second.value, abs=1e-12)
    assert list(FOUND.estimates["a - b"]["Oslo"]) == ["auc", "net_benefit", "regret"]
    record = next(r for r in FOUND._records() if r["model"] == "a - b")
    assert math.isnan(record["slope"])
    assert FOUND.models == ("a", "b")


@pytest.mark.parametrize(("key", "there", "slope"), [
    ("auc", logit, lambda v: 1.0 / (v * (1.0 - v))),
    ("o_e_ratio", np.log, lambda v: 1.0 / v),
    ("slope", np.asarray, np.ones_like),
    ("regret", np.asarray, np.ones_like),
])  # fmt: skip
def test_centres_are_pooled_where_they_are_about_normal(key, there, slope):
    each = [of[key] for of in FOUND.estimates["a"].values()]
    values, errors = np.array([[e.value, e.standard_error] for e in each]).T
    expected, found = random_effects(there(values), slope(values) * errors), FOUND.pooled["a"][key]
    assert there(found.value) == pytest.approx(expected.value)
    assert tuple(map(there, found.interval)) == pytest.approx(expected.interval)
    assert tuple(map(there, found.prediction_interval)) == pytest.approx(expected.prediction_interval)
    assert found.standard_error == pytest.approx(expected.standard_error / slope(np.array(found.value)))
    over, another = (next(r for r in FOUND._records() if r["centre"] == t) for t in ("all centres", "another centre"))
    assert (over[f"{key}_ci_low"], over[f"{key}_ci_high"]) == found.interval
    assert (another[f"{key}_ci_low"], another[f"{key}_ci_high"]) == found.prediction_interval
    assert over["rows"] == N


def test_columns_of_a_frame_are_models_and_a_series_is_none():
    pd = pytest.importorskip("pandas")
    found = evaluate_centres(Y, pd.DataFrame({"a": A, "b": B}), CENTRE)
    assert found.models == ("a", "b")
    assert found.estimates["b"]["Oslo"]["auc"].value == FOUND.estimates["b"]["Oslo"]["auc"].value
    with pytest.raises(ValueError, match="y_prob must map the names of models"):
        evaluate_centres(Y, pd.Series(A), CENTRE)


def test_both_classes_of_one_model_are_no_two_models():
    both = pytest.importorskip("pandas").DataFrame({"no": 1.0 - A, "yes": A})
    with pytest.raises(ValueError, match=r"^y_prob must have a column for each model, got \['no', 'yes'\]"):
        evaluate_centres(Y, both, CENTRE, threshold=0.3)
    assert evaluate_centres(Y, dict(both), CENTRE, threshold=0.3).models == ("no", "yes")


def test_columns_of_a_frame_are_crossed():
    pd = pytest.importorskip("pandas")
    late = X > 0.0
    frame = pd.DataFrame({"site": CENTRE, "late": np.where(late, 1, 0)})
    crossed = evaluate_centres(Y, {"a": A}, frame)
    assert list(crossed.sizes)[:2] == ["Graz / 0", "Graz / 1"]
    mine = (CENTRE == "Oslo") & late
    assert crossed.sizes["Oslo / 1"] == (mine.sum(), Y[mine].sum())
    assert crossed.estimates["a"]["Oslo / 1"]["auc"].value == pytest.approx(roc_auc_score(Y[mine], A[mine]))


@pytest.mark.parametrize("unit", ["ns", "us", "s", "D"])
def test_times_are_centres_in_every_unit(unit):
    day = np.array(["2026-01-02", "2026-01-01"], f"M8[{unit}]")[np.arange(N) % 2]
    midnight = "" if unit == "D" else " 00:00:00"
    names = [f"2026-01-0{k}{midnight}" for k in (1, 2)]
    found = evaluate_centres(Y, {"a": A}, day)
    assert found.sizes == {name: (N // 2, int(Y[k::2].sum())) for name, k in zip(names, (1, 0), strict=True)}
    crossed = evaluate_centres(Y, {"a": A}, np.column_stack([day, day]))
    assert crossed.sizes == {f"{name} / {name}": size for name, size in found.sizes.items()}


def test_centres_that_are_numbers_are_in_their_order():
    place = np.array([10, 9, 2])[np.arange(N) % 3]
    for values in (place, place.astype(float), place.astype(object)):
        assert list(evaluate_centres(Y, {"a": A}, values).sizes) == ["2", "9", "10"]


def test_names_that_would_not_tell_centres_or_models_apart_are_refused():
    half = np.arange(N) % 2 == 0
    crossed = np.where(half[:, None], np.array([["a / b", "c"]]), np.array([["a", "b / c"]]))
    for centres, name in ((crossed, "a / b / c"), (np.array([1, "1", 2], dtype=object)[np.arange(N) % 3], "1")):
        with pytest.raises(ValueError, match=f"centres must have names that tell them apart, got {name!r} for two"):
            evaluate_centres(Y, {"a": A}, centres)
    with pytest.raises(ValueError, match="y_prob must have names that differ as text, got 1 and '1'"):
        evaluate_centres(Y, {1: A, "1": B}, CENTRE)
    with pytest.raises(ValueError, match="y_prob must have names that differ as text, got 1 and '1'"):
        evaluate(Y, {1: A, "1": B}, costs=0.3)
    with pytest.raises(ValueError, match="centres must not be missing, got 1 of 900 missing, the first at index 3"):
        evaluate_centres(Y, {"a": A}, np.where(np.arange(N) == 3, np.datetime64("NaT"), np.datetime64("2026-01-01")))


def test_weights_count_as_repeated_rows_do():
    times = 1 + np.arange(N) % 2
    weighted = evaluate_centres(Y, {"a": A}, CENTRE, sample_weight=times)
    repeated = evaluate_centres(np.repeat(Y, times), {"a": np.repeat(A, times)}, np.repeat(CENTRE, times))
    for centre in ("Graz", "Oslo"):
        for key in ("auc", "o_e_ratio", "slope"):
            pair = (found.estimates["a"][centre][key].value for found in (weighted, repeated))
            assert next(pair) == pytest.approx(next(pair), abs=1e-9)


def test_censoring_is_estimated_in_each_centre():
    time, left = RNG.exponential(np.exp(1.5 - X)), RNG.uniform(0.0, 9.0, N)
    follow_up = {"event": time <= left, "time": np.minimum(time, left)}
    outcome, risk = TimeToEvent(**follow_up, horizon=3.0), 1.0 - np.exp(-3.0 * np.exp(X - 1.5))
    found = evaluate_centres(outcome, {"a": risk}, CENTRE, threshold=0.3).estimates["a"]["Oslo"]
    mine = CENTRE == "Oslo"
    alone = TimeToEvent(**{key: values[mine] for key, values in follow_up.items()}, horizon=3.0)
    assert found["auc"].interval == pytest.approx(metric_interval(alone, risk[mine], "roc_auc_score").interval)
    assert found["o_e_ratio"].value == pytest.approx(alone.prevalence / risk[mine].mean())


def test_a_centre_without_an_error_is_left_out_and_said():
    y, p = Y.copy(), A.copy()
    small = np.flatnonzero(CENTRE == "Lyon")
    y[small], p[small] = np.arange(len(small)) < 40, np.where(np.arange(len(small)) < 40, 0.8, 0.3)
    found = evaluate_centres(y, {"a": p}, CENTRE)
    assert found.left_out["a"]["auc"] == ("Lyon",)
    assert found.pooled["a"]["auc"].centres == 3
    assert "Not pooled, for want of an error: AUC of a in Lyon." in found._footnotes()
    assert "Not pooled" not in " ".join(FOUND._footnotes())
    assert "Errors are rough where a class has fewer than 50 rows: Lyon." in found._footnotes()
    two = evaluate_centres(Y, {"a": A}, np.where(CENTRE == "Oslo", "Oslo", "rest"))
    assert two.pooled["a"] == {}
    assert two._records()[-1]["centre"] == "another centre"
    assert math.isnan(two._records()[-1]["auc"])


def test_rows_of_weight_0_do_not_count():
    weight = np.where(np.arange(N) % 4 == 0, 0.0, 2.0)
    found = evaluate_centres(Y, {"a": A}, CENTRE, sample_weight=weight)
    mine = (CENTRE == "Oslo") & (weight > 0.0)
    assert found.sizes["Oslo"] == (mine.sum(), Y[mine].sum())
    assert found.estimates["a"]["Oslo"]["auc"].value == pytest.approx(roc_auc_score(Y[mine], A[mine]))
    only = np.where(CENTRE == "Graz", (~Y) * 1.0, 1.0)
    with pytest.raises(ValueError, match="rows of Graz, none of them positive"):
        evaluate_centres(Y, {"a": A}, CENTRE, sample_weight=only)
    rest = CENTRE != "Graz"
    followed = TimeToEvent(event=Y, time=np.where(Y, 1, 3), horizon=2, sample_weight=rest * 1.0)
    for labels, given in ((Y, rest * 1.0), (followed, None)):  # a centre without any weight
        found = evaluate_centres(labels, {"a": A}, CENTRE, sample_weight=given)
        apart = evaluate_centres(Y[rest], {"a": A[rest]}, CENTRE[rest])
        assert found.sizes == apart.sizes
        for key, mean in apart.pooled["a"].items():  # weights of one round otherwise than none
            assert found.pooled["a"][key].interval == pytest.approx(mean.interval, rel=1e-9, abs=1e-12, nan_ok=True)
        assert found.pooled["a"].keys() == apart.pooled["a"].keys()
    with pytest.raises(ValueError, match=f"two or more centres of several rows each, got 1 in {np.sum(~rest)} rows"):
        evaluate_centres(Y, {"a": A}, CENTRE, sample_weight=1.0 - rest)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y_prob": {"a": A, "b": B, "a - b": A}}, "must not name a model 'a - b': that names the difference"),
        ({"centres": np.where(CENTRE == "Graz", "all centres", CENTRE)}, "must not be called 'all centres'"),
        ({"y_prob": A}, "y_prob must map the names of models"),
        ({"centres": CENTRE[:-1]}, "centres"),
        ({"centres": np.arange(N)}, "centres must name two or more centres of several rows each, got 900 in 900 rows"),
        ({"centres": np.zeros(N)}, "centres must name two or more centres of several rows each, got 1 in 900 rows"),
        ({"centres": np.where(X > 2.0, None, CENTRE)}, "centres"),
        ({"threshold": 1.0}, "threshold must lie strictly between 0 and 1, got 1"),
        ({"threshold": 20}, "threshold must lie strictly between 0 and 1, got 20"),
        ({"costs": (0.4, 0.1)}, "costs"),
        ({"y_true": RowCosts(Y, false_positive=1.0, false_negative=2.0)}, "RowCosts"),
        ({"y_true": Y & (CENTRE != "Graz")}, "every centre, got .* rows of Graz, none of them positive"),
        ({"y_true": Y | (CENTRE == "Graz")}, "every centre, got .* rows of Graz, all of them positive"),
    ],
)
def test_what_cannot_be_meant_is_refused(changed, message):
    given = {"y_true": Y, "y_prob": {"a": A}, "centres": CENTRE} | changed
    with pytest.raises(ValueError, match=message):
        evaluate_centres(given.pop("y_true"), given.pop("y_prob"), given.pop("centres"), **given)


@pytest.mark.parametrize(
    "outcome",
    [
        PartlyVerified([0, 1, np.nan] * 20, groups=[0, 1] * 30),
        RowCosts([0, 1, 1] * 20, false_positive=1.0, false_negative=5.0),
    ],
    ids=lambda outcome: type(outcome).__name__,
)
def test_outcomes_without_numbers_by_centre_are_refused_by_name(outcome):
    with pytest.raises(ValueError, match=f"y_true must be labels or a TimeToEvent, got a {type(outcome).__name__}"):
        evaluate_centres(outcome, {"a": np.linspace(0.1, 0.9, 60)}, np.arange(60) % 3, costs=(0.1, 0.4))


def test_a_centre_with_fifty_rows_of_a_class_is_not_rough():
    sizes = {"a": (200, 50), "b": (200, 49), "c": (200, 151)}
    y = np.concatenate([np.arange(rows) < events for rows, events in sizes.values()])
    p = np.random.default_rng(0).uniform(0.2, 0.6, 600)
    found = evaluate_centres(y, {"a": p}, np.repeat(list(sizes), 200), costs=(0.1, 0.4))
    assert "Errors are rough where a class has fewer than 50 rows: b, c." in found._footnotes()


def test_an_error_of_rounding_is_none():
    """Scores stretched and cut off rank rows alike but for ties within a class: areas differ by their last digit."""
    rng = np.random.default_rng(0)
    p = rng.beta(1.5, 3.0, 2000)
    y, centre = rng.random(2000) < p, rng.integers(0, 6, 2000)
    stretched = np.clip(1.2 * p + 0.02, 0.001, 0.999)
    found = evaluate_centres(y, {"a": p, "b": stretched}, centre)
    areas = {
        str(k): [roc_auc_score(y[centre == k], scores[centre == k]) for scores in (p, stretched)] for k in range(6)
    }
    alike = tuple(name for name, (first, second) in areas.items() if abs(first - second) < 1e-9)
    assert found.left_out["a - b"]["auc"] == alike
    assert len(alike) == 4
    assert "auc" not in found.pooled["a - b"]
    assert {"auc", "slope"} <= found.pooled["a"].keys()


def test_the_threshold_stands_at_the_head_of_net_benefit_alone():
    html = FOUND._repr_html_()
    assert html.count("at 30%") == html.count("Net benefit at 30%") > 0


def test_a_centre_not_followed_to_the_horizon_is_left_out_and_named():
    rng = np.random.default_rng(0)
    event, left = rng.exponential(np.exp(-X) / 0.4), rng.exponential(5.0, N)
    left = np.where(CENTRE == "Lyon", np.minimum(left, 0.9), left)
    outcome = TimeToEvent(event=event <= left, time=np.minimum(event, left), horizon=1.0)
    models, others = {"a": A, "b": B}, CENTRE != "Lyon"
    asked = {"threshold": 0.3, "costs": (0.1, 0.4)}
    found = evaluate_centres(outcome, models, CENTRE, **asked)
    without = evaluate_centres(outcome.take(others), {k: p[others] for k, p in models.items()}, CENTRE[others], **asked)
    assert found.not_followed == ("Lyon",)
    assert found.pooled == without.pooled
    assert all(of == ("Lyon",) for by in found.left_out.values() for of in by.values())
    assert found.sizes["Lyon"] == (np.sum(~others), np.sum((event <= left)[~others]))
    for name, by_centre in found.estimates.items():
        lyon = by_centre.pop("Lyon")
        assert by_centre == without.estimates[name]
        assert np.isnan([end for each in lyon.values() for end in (each.standard_error, *each.interval)]).all()
        assert {each.note for each in lyon.values()} == {"not followed to the horizon"}
    assert "Left out, as not followed to the horizon: Lyon." in found._footnotes()
    assert "Lyon" not in "".join(found._footnotes()).replace("horizon: Lyon", "")
    assert without.not_followed == FOUND.not_followed == ()


def test_a_centre_of_rows_of_unknown_status_is_left_out_where_censoring_is_given():
    time, known = np.where(CENTRE == "Lyon", 0.5, np.where(Y, 0.9, 3.0)), CENTRE != "Lyon"
    outcome = TimeToEvent(event=Y & known, time=time, horizon=1.0, censoring=np.full(N, 0.8))
    found = evaluate_centres(outcome, {"a": A}, CENTRE)
    assert found.not_followed == ("Lyon",)
    assert found.pooled == evaluate_centres(outcome.take(known), {"a": A[known]}, CENTRE[known]).pooled
