"""Clusters and rows in order: an evaluation says what the pairwise comparison says, and groups allow for them too."""

import numpy as np
import pytest
from scipy import stats

from stakes import ScoreTable, compare, costs, evaluate, evaluate_frame
from stakes.base.numerics import order_of_codes
from stakes.inference import metric_interval

COSTS = costs.Uniform(0.05, 0.4)


def sample(n=400):
    rng = np.random.default_rng(5)
    q = rng.beta(1, 3, n)
    return rng.random(n) < q, {"a": q, "b": np.clip(q + 0.1 * rng.normal(size=n), 0, 1)}, np.arange(n) // 8


@pytest.mark.parametrize("how", ["clusters", "lags"])
def test_every_interval_allows_for_them(how):
    y, models, codes = sample()
    options = {"clusters": codes} if how == "clusters" else {"lags": "auto"}
    result = evaluate(y, models, costs=COSTS, **options)
    pair = compare(y, models["a"], models["b"], costs=COSTS, **options)
    assert result.compare("a", "b").interval == pytest.approx(pair.interval)
    assert result.compare("a", "b").p_value == pytest.approx(pair.p_value)
    for name, scores in models.items():
        alone = metric_interval(y, scores, "expected_regret", costs=COSTS, **options)
        assert result[name].interval == pytest.approx(alone.interval)
    against_all = compare(y, models["a"], np.ones(len(y)), costs=COSTS, **options)
    assert result.compare("a", "treat all").interval == pytest.approx(against_all.interval)


@pytest.mark.parametrize("how", ["clusters", "lags"])
def test_what_is_known_at_a_stated_prevalence_has_no_error(how):
    y, models, codes = sample()
    options = {"clusters": codes} if how == "clusters" else {"lags": "auto"}
    result = evaluate(y, models, costs=0.25, prevalence=0.3, **options)
    found = result.compare("treat all", "treat none")
    assert found.difference == pytest.approx(0.7 * 0.25 - 0.3 * 0.75)
    assert (found.standard_error, found.note) == (0.0, "")
    assert result.compare("a", "treat none").standard_error > 0.0


@pytest.mark.parametrize("codes", [None, np.arange(510) // 2])
def test_an_engine_sees_how_few_rows_cost_less_than_the_most(codes):
    pl = pytest.importorskip("polars")
    rng, y = np.random.default_rng(3), np.repeat([1, 0], [10, 500])
    hits = {"none": np.zeros(10), "all": np.ones(10), "one": np.arange(10) == 9}
    models = {n: np.r_[np.where(hit, 0.6, 0.1), np.where(rng.random(500) < 0.05, 0.5, 0.1)] for n, hit in hits.items()}
    options = {"costs": 0.3, "prevalence": 0.1}
    by_array = evaluate(y, models, clusters=codes, **options)
    frame = pl.LazyFrame({"y": y, **models} | ({} if codes is None else {"of": codes}))
    by_frame = evaluate_frame(
        frame, label="y", models=list(models), clusters=None if codes is None else "of", **options
    )
    assert by_array["none"].note == by_frame["none"].note == "every positive costs the most here: at least 5 must not"
    for one, other in (("none", "all"), ("one", "none"), ("one", "all"), ("one", "treat all"), ("none", "treat none")):
        found, streamed = by_array.compare(one, other), by_frame.compare(one, other)
        assert streamed.interval == pytest.approx(found.interval, rel=1e-9)
        assert streamed.note == found.note != ""
    for name in models:
        assert by_frame[name].interval == pytest.approx(by_array[name].interval, rel=1e-9)


def test_no_finding_takes_rows_of_clusters_that_an_engine_summed_as_independent():
    pl = pytest.importorskip("polars")
    y, models, codes = sample(1600)
    far = {"a": models["a"] ** 4, "b": models["b"] ** 4}  # risks that are far too low
    seen = evaluate(y, far, clusters=codes, costs=COSTS)
    unseen = evaluate_frame(
        pl.LazyFrame({"y": y, **far, "of": codes}), label="y", models=["a", "b"], clusters="of", costs=COSTS
    )
    assert "calibration-in-the-large" in {finding.code for finding in seen.findings}
    assert "calibration-in-the-large" not in {finding.code for finding in unseen.findings}
    for name in far:
        assert unseen[name].interval == pytest.approx(seen[name].interval, rel=1e-9)


def test_a_frame_names_the_column():
    pl = pytest.importorskip("polars")
    y, models, codes = sample()
    frame = pl.DataFrame({"y": y, **models, "patient": codes, "site": codes % 3})
    by_frame = evaluate_frame(frame, label="y", clusters="patient", groups="site", costs=COSTS)
    by_array = evaluate(y, models, clusters=codes, groups={"site": codes % 3}, costs=COSTS)
    assert by_frame.models == ("a", "b")
    assert by_frame.compare("a", "b") == by_array.compare("a", "b")
    assert by_frame.groups == by_array.groups


def test_a_group_that_shares_clusters_with_the_rest():
    """Every cluster lies half in the group: the difference is a mean over clusters."""
    y, models, codes = sample()
    inside = np.arange(len(y)) % 2 == 0
    result = evaluate(y, {"a": models["a"]}, costs=COSTS, clusters=codes, groups=inside)
    loss = np.where(y, COSTS.positive_loss(models["a"]), COSTS.negative_loss(models["a"])) / COSTS.mass
    per_cluster = np.array(
        [loss[(codes == c) & inside].mean() - loss[(codes == c) & ~inside].mean() for c in range(50)]
    )
    row = result.groups[1]
    assert (row.group, row.difference) == ("True", pytest.approx(per_cluster.mean()))
    t = per_cluster.mean() / (per_cluster.std(ddof=1) / np.sqrt(50))
    assert row.p_value == pytest.approx(2 * stats.t.sf(abs(t), 49), abs=0.05)


def test_what_a_group_and_the_rest_have_in_common_by_cluster_is_no_error_of_their_difference():
    rng = np.random.default_rng(4)
    codes, inside = np.repeat(np.arange(200), 2), np.tile([True, False], 200)
    y = np.repeat(rng.random(200) < 0.4, 2)
    score = np.clip(np.repeat(rng.random(200), 2) + np.where(inside, 0.01, 0.0) + 0.08 * rng.random(400), 0.0, 1.0)
    loss = np.where(y, COSTS.positive_loss(score), COSTS.negative_loss(score)) / COSTS.mass
    gaps = loss[inside] - loss[~inside]
    row = evaluate(y, {"a": score}, costs=COSTS, clusters=codes, groups=inside).groups[1]
    assert row.difference == pytest.approx(gaps.mean())
    t = gaps.mean() / (gaps.std(ddof=1) / np.sqrt(200))
    assert 0.02 < row.p_value < 0.7
    assert row.p_value == pytest.approx(2 * stats.t.sf(abs(t), 199), rel=0.1)
    apart = evaluate(y, {"a": score}, costs=COSTS, groups=inside).groups[1]  # as if each row stood alone
    assert apart.p_value > row.p_value + 0.1


def test_a_table_has_no_rows_to_cluster():
    y, models, codes = sample()
    with pytest.raises(ValueError, match="need the rows"):
        evaluate(ScoreTable.from_predictions(y, models["a"]), clusters=codes)


def test_a_group_in_few_clusters_has_no_interval():
    y, models, codes = sample()
    group = np.where(codes < 3, "few", np.where(codes < 10, "some", "many"))
    result = evaluate(y, {"a": models["a"]}, costs=COSTS, clusters=codes, groups=group)
    rows = {row.group: row for row in result.groups}
    assert np.isnan(rows["few"].interval[0])
    assert np.isnan(rows["few"].p_value)
    assert rows["few"].note == "only 3 clusters: an interval needs 5"
    assert np.isfinite(rows["many"].interval[0])
    # the difference rests on the seven clusters of the smaller side
    low, high = rows["some"].interval
    half = stats.t.ppf(0.975, 6) * rows["some"].standard_error
    # and has room for what so few have not shown
    assert high - low > 2 * half
    assert "of 7 clusters with positives" in rows["some"].note


def test_a_shift_that_clusters_explain_is_no_finding():
    """Sixty patients, each recorded twenty times: the rows look shifted, the patients do not prove it."""
    rng = np.random.default_rng(2)
    logit = rng.normal(-0.5, 1.5, 60)
    y = rng.random(60) < 1 / (1 + np.exp(-logit - 0.65))
    s, codes = 1 / (1 + np.exp(-logit)), np.repeat(np.arange(60), 20)
    y, s = np.repeat(y, 20), np.repeat(s, 20)
    assert "calibration-in-the-large" in evaluate(y, {"m": s}, costs=(0.05, 0.5)).findings.codes
    assert "calibration-in-the-large" not in evaluate(y, {"m": s}, costs=(0.05, 0.5), clusters=codes).findings.codes


def test_names_of_clusters_change_nothing():
    """Whole numbers that lie close, negative ones of one byte, numbers far apart and texts."""
    rng = np.random.default_rng(3)
    y, score = rng.random(600) < 0.3, rng.random(600)
    codes = rng.permutation(np.arange(600) % 200)
    known = evaluate(y, {"a": score, "b": score**2}, clusters=codes.astype(float))
    names = [codes, (codes - 100).astype(np.int8), codes * 10**9, codes.astype(np.uint64) + 2**63, codes.astype(str)]
    for clusters in names:
        found = evaluate(y, {"a": score, "b": score**2}, clusters=clusters)
        # in another order of the clusters
        assert found["a"].interval == pytest.approx(known["a"].interval, rel=1e-12)
        assert found.compare("a", "b").p_value == pytest.approx(known.compare("a", "b").p_value, rel=1e-10)


def test_codes_sort_stably_by_sixteen_bits_at_a_time():
    rng = np.random.default_rng(4)
    for most in (1, 7, 1 << 16, (1 << 16) + 1, 1 << 33):
        codes = rng.integers(0, most, 5000) // 3 * 3
        assert order_of_codes(codes).tolist() == np.argsort(codes, kind="stable").tolist()
