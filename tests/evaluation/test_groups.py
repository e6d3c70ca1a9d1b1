"""Subgroups: their numbers are those of their rows alone, and differences hold their level."""

import math
from importlib import resources

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from stakes import RowCosts, costs, evaluate, evaluate_frame, metric_interval
from stakes.base.validation import BinarySample
from stakes.core.options import EvaluationData
from stakes.inference import PairedRows, area_estimate, decomposition_interval
from stakes.metrics import bounded_brier_skill_score, roc_auc_score
from stakes.variance import influence as _group_sums
from stakes.variance.influence import cells_of, influence_moments, loss_influence, skill_influence

COSTS = costs.Uniform(0.05, 0.4)
FREE = {"fixed_prevalence": False}


def sample(n=1500, seed=0, bent=1.0):
    """Three groups of unlike prevalence; in "c" the scores are bent."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    q = rng.beta(np.where(group == "a", 1.0, 2.0), 4)
    y = rng.random(n) < q
    return y, np.where(group == "c", q**bent, q), group


def test_a_group_has_the_numbers_of_its_rows_alone():
    y, s, group = sample()
    result = evaluate(y, {"m": s}, costs=COSTS, groups=group)
    for row in result.groups:
        mine = group == row.group
        alone = evaluate(y[mine], {"m": s[mine]}, costs=COSTS)["m"]
        assert (row.n_rows, row.n_positives) == (mine.sum(), y[mine].sum())
        assert row.prevalence == pytest.approx(y[mine].mean())
        assert (row.score, row.standard_error) == pytest.approx((alone.score, alone.standard_error))
        assert row.interval == pytest.approx(alone.interval)
        assert row.auc == pytest.approx(roc_auc_score(y[mine], s[mine]))
        assert row.skill == pytest.approx(bounded_brier_skill_score(y[mine], s[mine], bounds=(0.05, 0.4)))
        terms = decomposition_interval(y[mine], s[mine], costs=COSTS, random_state=0).miscalibration
        assert row.corrected_miscalibration == pytest.approx(max(terms.value, 0.0))
        assert row.corrected_miscalibration_interval == pytest.approx(terms.interval)
        rest = evaluate(y[~mine], {"m": s[~mine]}, costs=COSTS)["m"]
        assert row.difference == pytest.approx(alone.score - rest.score)
        z = row.difference / math.hypot(alone.standard_error, rest.standard_error)
        assert row.p_value == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), abs=0.02)


def brute(y, s, w, dist, rule):
    """Moments of the cost of decisions and of the skill of the scores of some rows, from the influence of each."""
    cells = cells_of(EvaluationData(BinarySample(y, s, w), None), fixed_prevalence=False)
    found = loss_influence(cells, dist, rule), skill_influence(cells, dist, "score", None)
    return [influence_moments(cells, influence) for influence in found]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("dist", "rule"), [(COSTS, "score"), (costs.Fixed(0.2), 0.3), (costs.LogOddsUniform(0.0, 1.0), "score")]
)
def test_sums_by_group_agree_with_the_rows_of_each_group_and_of_its_rest(dist, rule, weighted):
    """To 1e-12; group "d" is of one class, "e" small, and under the last costs some losses are infinite."""
    y, s, group = sample(4000)
    rng = np.random.default_rng(1)
    s, group[:30] = np.where(group == "b", np.maximum(s, 0.01), np.round(s, 2)), ["d"] * 22 + ["e"] * 8
    y = y & (group != "d")
    w = rng.gamma(1.0, size=len(y)) if weighted else None
    for row in evaluate(y, {"m": s}, costs=dist, rule=rule, scale="integral", groups=group, sample_weight=w).groups:
        parts = [(y[k], s[k], None if w is None else w[k]) for k in (group == row.group, group != row.group)]
        own, rest = (brute(*part, dist, rule) for part in parts)
        gaps = [a.minus(b) for a, b in zip(own, rest, strict=True)]
        ours = (row.score, row.standard_error, row.skill, row.difference, row.p_value, row.skill_difference)
        theirs = (own[0].value, own[0].standard_error, own[1].value, gaps[0].value, gaps[0].p_value(), gaps[1].value)
        assert (*ours, row.skill_p_value) == pytest.approx(
            (*theirs, gaps[1].p_value()), rel=1e-12, abs=1e-12, nan_ok=True
        )
        low, high = own[0].interval(0.95)
        assert row.interval == pytest.approx((max(low, 0.0), high), rel=1e-12, abs=1e-12, nan_ok=True)
        bounds = own[1].interval(0.95)
        assert row.skill_interval == pytest.approx((bounds[0], min(bounds[1], 1.0)), rel=1e-12, nan_ok=True)
        assert row.note == (own[0].note or own[1].note)


@pytest.mark.parametrize("long", [100, 10_000])
@pytest.mark.parametrize("weighted", ["", "by row", "by class"])
def test_areas_and_promises_of_groups_are_those_of_their_rows_alone(weighted, long, monkeypatch):
    """To 1e-12, with ties, in long and in short groups, and where a group is of one class or has two rows of one."""
    monkeypatch.setattr("stakes.evaluation._groups._LONG", long)
    y, s, group = sample(4000)
    s, group[:60] = np.round(s, 2), np.repeat(["d", "e"], 30)
    y = np.where(group == "e", np.arange(4000) < 32, y & (group != "d"))
    w = {"by row": np.random.default_rng(1).gamma(1.0, size=4000), "by class": np.where(y, 1.0, 7.0)}.get(weighted)
    for row in evaluate(y, {"m": s}, costs=COSTS, scale="integral", groups=group, sample_weight=w).groups:
        mine = group == row.group
        cells = cells_of(EvaluationData(BinarySample(y[mine], s[mine], w if w is None else w[mine]), None), **FREE)
        area, promise = area_estimate(cells), _group_sums.promise_moments(cells, COSTS)
        assert (row.auc, *row.auc_interval) == pytest.approx((area.value, *area.interval(0.95)), rel=1e-12, nan_ok=True)
        ours = (row.more_than_promised, *row.more_than_promised_interval)
        assert ours == pytest.approx((promise.value, *promise.interval(0.95)), rel=1e-12, abs=1e-15)
        assert math.isnan(row.auc_interval[0]) == (row.group in {"d", "e"})


@pytest.mark.parametrize("weighted", [False, True])
def test_clustered_groups_have_the_jackknife_of_their_clusters(weighted):
    """Clusters reach over groups; group "d" is of one class."""
    y, s, group = sample(2000)
    rng = np.random.default_rng(2)
    group[:30] = "d"
    y, codes = y & (group != "d"), rng.integers(0, 150, 2000)
    w = rng.gamma(1.0, size=2000) if weighted else np.ones(2000)
    given = {"sample_weight": w} if weighted else {}

    def mean(mine, leave=-1):
        """Cost of some rows, but those of a cluster."""
        keep = mine & (codes != leave)
        return np.average(np.where(y, COSTS.positive_loss(s), COSTS.negative_loss(s))[keep], weights=w[keep])

    rows = PairedRows(y, [s], w, clusters=codes)
    _, (gaps, _) = _group_sums.clustered_group_moments(rows, np.unique(group, return_inverse=True)[1], COSTS, "score")
    for row in evaluate(y, {"m": s}, costs=COSTS, scale="integral", groups=group, clusters=codes, **given).groups:
        mine = group == row.group
        cells = cells_of(EvaluationData(BinarySample(y[mine], s[mine], w[mine]), None), **FREE)
        found = loss_influence(cells, COSTS, "score"), skill_influence(cells, COSTS, "score", None)
        own = [influence_moments(cells, influence, codes[mine]) for influence in found]
        assert (row.score, row.standard_error) == pytest.approx((own[0].value, own[0].standard_error), rel=1e-12)
        assert row.interval == pytest.approx(own[0].within(0.0, 1.0).interval(0.95), rel=1e-12)
        assert row.skill_interval == pytest.approx(own[1].interval(0.95), rel=1e-11, nan_ok=True)
        assert row.note == (own[0].note or own[1].note)
    for g, name in enumerate("abcd"):
        mine = group == name
        change = [mean(mine, c) - mean(mine) - mean(~mine, c) + mean(~mine) for c in range(150)]
        assert gaps.variance[g] == pytest.approx(np.sum(np.square(change)) * 149 / 150, rel=1e-9)


def test_no_row_is_looked_at_once_per_group(monkeypatch):
    seen = []
    losses = _group_sums.row_losses

    def counted(y, *rest):
        seen.append(len(y))
        return losses(y, *rest)

    monkeypatch.setattr(_group_sums, "row_losses", counted)
    y, s, _ = sample(2000)
    result = evaluate(y, {"m": s, "n": s**2}, costs=COSTS, groups=np.arange(2000) % 100)
    assert len(result.groups) == 200
    assert sum(seen) == 2 * 2000


def test_sums_of_thousands_of_groups_are_those_of_their_rows():
    rng = np.random.default_rng(0)
    groups, n = 3000, 20_000
    codes, y, values = rng.integers(0, groups, n), rng.random(n) < 0.3, rng.random(n)
    grouped = _group_sums.GroupedRows.of(PairedRows(y, [], None), codes, groups)
    expected = np.zeros((2, groups))
    np.add.at(expected, (y.astype(int), codes), values)
    np.testing.assert_allclose(grouped.sums(values[grouped.order]).total, expected, rtol=1e-12)


def test_numbers_and_texts_of_one_name_are_one_group():
    y, s, _ = sample(100)
    mixed = np.array([1, "1", 2, "2"] * 25, dtype=object)
    assert [row.group for row in evaluate(y, {"m": s}, groups=mixed).groups] == ["1", "2"]


def test_p_values_are_adjusted_over_the_groups():
    y, s, group = sample()
    rows = sorted(evaluate(y, {"m": s}, costs=COSTS, groups=group).groups, key=lambda row: row.p_value)
    p = [row.p_value for row in rows]
    assert rows[0].p_adjusted == pytest.approx(min(1.0, 3 * p[0]))
    assert rows[1].p_adjusted == pytest.approx(min(1.0, max(3 * p[0], 2 * p[1])))


def test_two_groups_are_one_test():
    y, s, group = sample()
    rows = evaluate(y, {"m": s}, costs=COSTS, groups=np.where(group == "a", "a", "other")).groups
    assert rows[0].p_value == pytest.approx(rows[1].p_value)
    assert [row.p_adjusted for row in rows] == [row.p_value for row in rows]


@pytest.mark.simulation
def test_no_group_is_accused_where_all_are_served_alike():
    """Groups at random: Holm holds the level over all of them."""
    accused = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        q = rng.beta(1, 3, 800)
        y = rng.random(800) < q
        rows = evaluate(y, {"m": q}, costs=COSTS, groups=rng.integers(4, size=800)).groups
        accused += min(row.skill_p_adjusted for row in rows) < 0.05
    assert accused / 300 <= 0.08


def test_a_group_with_bent_scores_is_found():
    y, s, group = sample(6000, bent=4.0)
    worst = min(evaluate(y, {"m": s}, costs=COSTS, groups=group).groups, key=lambda row: row.skill)
    assert worst.group == "c"
    assert worst.skill_p_adjusted < 0.001
    assert worst.corrected_miscalibration_interval[0] > 0.0


def test_weights_stand_for_repeated_rows():
    y, s, group = sample(400)
    w = np.random.default_rng(1).integers(0, 4, 400)
    weighted = evaluate(y, {"m": s}, costs=COSTS, groups=group, sample_weight=w).groups
    repeated = evaluate(np.repeat(y, w), {"m": np.repeat(s, w)}, costs=COSTS, groups=np.repeat(group, w)).groups
    for ours, theirs in zip(weighted, repeated, strict=True):
        assert (ours.group, ours.score, ours.skill) == (
            theirs.group,
            pytest.approx(theirs.score),
            pytest.approx(theirs.skill),
        )


def test_several_columns_and_a_frame():
    pl = pytest.importorskip("polars")
    y, s, group = sample(600)
    site = np.arange(600) % 2
    frame = pl.DataFrame({"y": y, "m": s, "group": group, "site": site})
    by_frame = evaluate_frame(frame, label="y", groups=["group", "site"], costs=COSTS)
    by_array = evaluate(y, {"m": s}, groups={"group": group, "site": site}, costs=COSTS)
    assert by_frame.models == ("m",)
    assert by_frame.groups == by_array.groups
    assert [row.column for row in by_frame.groups] == ["group"] * 3 + ["site"] * 2
    assert by_frame.groups.frame("polars").columns[:3] == ["column", "group", "model"]
    assert evaluate_frame(frame, label="y", models=["m"], groups="site", costs=COSTS).groups[0].group == "0"


def test_a_small_group_says_what_it_lacks():
    y, s, group = sample()
    few = np.flatnonzero(group == "c")[:12]
    keep = np.concatenate([np.flatnonzero(group != "c"), few])
    row = evaluate(y[keep], {"m": s[keep]}, costs=COSTS, groups=group[keep]).groups[-1]
    assert math.isnan(row.corrected_miscalibration)
    assert math.isnan(row.skill_interval[0])
    assert row.note


def test_one_group_has_nothing_to_compare_with():
    y, s, _ = sample(100)
    (row,) = evaluate(y, {"m": s}, costs=COSTS, groups=["all"] * 100).groups
    assert math.isnan(row.difference)
    assert math.isnan(row.p_adjusted)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"], "one value for each of the 100 rows, got shape"),
        (["a"] * 99 + [None], "missing one in row 99"),
        (np.append(np.ones(99), np.nan), "missing one in row 99"),
        ({}, "at least one column"),
        (np.arange(100) / 7, None),
    ],
)
def test_bad_groups(groups, message):
    y, s, _ = sample(100)
    if message is None:
        assert len(evaluate(y, {"m": s}, groups=groups).groups) == 100
        return
    with pytest.raises(ValueError, match=message):
        evaluate(y, {"m": s}, groups=groups)


def test_every_number_of_a_group_lies_in_its_interval():
    """The shipped example, by halves, thirds and quarters: a cross-fitted miscalibration below zero is shown as 0."""
    path = resources.files("stakes") / "data" / "breast_cancer.csv"
    label, *models = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    columns = np.loadtxt(path.read_text(encoding="utf-8").splitlines()[1:], delimiter=",").T
    y, scores = columns[0].astype(int), dict(zip(models, columns[1:], strict=True))
    assert label == "malignant"
    groups = {f"by {k}": np.arange(len(y)) % k for k in (2, 3, 4)}
    found = evaluate(y, scores, costs=(0.05, 0.3), groups=groups).groups
    assert len(found) == 27
    for row in found:
        for value, name in (
            (row.score, "interval"),
            (row.skill, "skill_interval"),
            (row.auc, "auc_interval"),
            (row.corrected_miscalibration, "corrected_miscalibration_interval"),
        ):
            low, high = getattr(row, name)
            assert low <= value <= high, (row.column, row.group, row.model, name)
    assert any(row.corrected_miscalibration == 0.0 for row in found)
    records = found._records()
    stems = [key.removesuffix("_ci_low") for key in records[0] if key.endswith("_ci_low")]
    assert "corrected_miscalibration" in stems
    assert "miscalibration" not in records[0]
    for record in records:
        assert all(record[f"{stem}_ci_low"] <= record[stem] <= record[f"{stem}_ci_high"] for stem in stems)


def test_area_and_promise_of_a_group_in_time_are_those_of_its_rows_in_their_order():
    rng = np.random.default_rng(5)
    n, drift = 800, np.zeros(800)
    for i in range(1, n):
        drift[i] = 0.97 * drift[i - 1] + 0.4 * rng.standard_normal()
    p = np.clip(0.35 + 0.15 * rng.standard_normal(n), 0.02, 0.98)
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-np.log(p / (1.0 - p)) - drift))
    site = np.arange(n) // 400
    found = evaluate(y, {"p": p}, costs=(0.3, 0.4), groups=site, lags=20).groups
    for row in found:
        mine = site == int(row.group)
        area = metric_interval(y[mine], p[mine], "roc_auc_score", lags=20)
        assert (row.auc, row.auc_interval) == (pytest.approx(area.value), pytest.approx(area.interval))
        # Newey and West's variance of the mean loss beyond the promise, in the order of the rows
        loss = np.where(y, integral(p, 0.3, 0.4, positive=True), integral(p, 0.3, 0.4, positive=False))[mine]
        beyond = (
            loss - (p * integral(p, 0.3, 0.4, positive=True) + (1 - p) * integral(p, 0.3, 0.4, positive=False))[mine]
        )
        gap, size = beyond - beyond.mean(), len(beyond)
        squares = sum((1.0 if k == 0 else 2.0) * (1 - k / 21) * gap[k:] @ gap[: size - k] for k in range(21))
        low, high = row.more_than_promised_interval
        factor = row.more_than_promised / beyond.mean()
        plain = 2.0 * 1.96 * factor * np.sqrt(squares) / size
        assert high - low == pytest.approx(plain, rel=0.08)  # but for Student's t and the size of a sample


def integral(p, low, high, *, positive):
    """Regret of a row, integrated over the cost ratio from low to high with equal weight."""
    ends = np.clip(p, low, high)
    if positive:
        return (high - ends) - (high**2 - ends**2) / 2.0
    return (ends**2 - low**2) / 2.0


def test_money_of_a_group_counts_rows_whose_decision_is_given_or_makes_no_difference():
    rng = np.random.default_rng(1)
    n = 400
    y = rng.random(n) < 0.3
    p = np.clip(rng.normal(0.25 + 0.2 * y, 0.15, n), 0.01, 0.99)
    call, loss = np.where(np.arange(n) < 80, -1.0, 5.0), rng.lognormal(3, 1, n)
    call[80:120] = loss[80:120] = 0.0
    site = np.array(["a", "b"])[np.arange(n) % 2]
    amounts = {"false_positive": call, "false_negative": loss, "on_dominated": "set_aside"}
    act = p * loss >= (1.0 - p) * call
    found = evaluate(RowCosts(y, **amounts), {"m": p}, groups=site, costs=(0.4, 0.6))
    cost = np.where(act, np.where(y, 0.0, call), np.where(y, loss, 0.0))
    for row in found.groups:
        assert row.money.cost.value == pytest.approx(1000.0 * cost[site == row.group].mean(), rel=1e-12)
    at_stake = (call != 0.0) | (loss != 0.0)  # of the others any decision is as good
    assert found.money["m"].acted == pytest.approx((act & at_stake).mean())


@pytest.mark.parametrize("dependence", [{}, {"clusters": np.arange(1500) // 3}, {"lags": 2}], ids=str)
@pytest.mark.parametrize("asked", [{"rule": 0.3}, {"harm": 0.01}, {}], ids=str)
def test_one_group_of_all_rows_has_the_skill_of_the_evaluation(asked, dependence):
    y, s, _ = sample()
    found = evaluate(y, {"m": s}, costs=(0.1, 0.4), groups=["all"] * len(y), **asked, **dependence)
    (row,) = found.groups
    assert (row.score, row.skill) == pytest.approx((found["m"].score, found["m"].decomposition.skill))
    parts = found["m"].decomposition
    alone = parts.miscalibration - parts.discrimination + parts.uncertainty  # of the scores at face value
    cost = {"rule": "cost at face value", "harm": "cost without the harm"}.get(next(iter(asked), ""), "cost")
    assert any(f" {cost} = MCB - DSC + " in sentence for sentence in found.answer.details)
    assert (alone == pytest.approx(found["m"].score)) == (not asked)


def test_of_groups_of_recalibrated_scores_the_cost_alone_is_known():
    y, s, group = sample()
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit(s, y).predict(s)
    found = evaluate(y, {"m": s}, costs=COSTS, groups=group, rule="optimal")
    for row in found.groups:
        mine = group == row.group
        assert row.score == pytest.approx(evaluate(y[mine], {"m": fitted[mine]}, costs=COSTS)["m"].score)
        assert 'rule="optimal" is fitted to all rows' in row.note
        withheld = (row.auc, row.skill, row.skill_difference, row.p_value, row.p_adjusted, row.standard_error)
        assert np.isnan([*withheld, *row.interval, *row.skill_interval, *row.auc_interval]).all()
        assert np.isnan([row.corrected_miscalibration, *row.corrected_miscalibration_interval]).all()


@pytest.mark.parametrize("dependence", [{"clusters": np.repeat(np.arange(400), 20)}, {"lags": 19}])
def test_rows_that_depend_on_each_other_do_not_judge_each_other(dependence):
    """Every row twenty times tells no more than once, and folds that divide the copies judge rows by themselves."""
    y, s, group = sample(400)
    once = evaluate(y, {"m": s}, costs=COSTS, groups=group).groups
    y, s, group = (np.repeat(each, 20) for each in (y, s, group))
    taken_for_independent = evaluate(y, {"m": s}, costs=COSTS, groups=group).groups
    for row, more in zip(once, taken_for_independent, strict=True):
        assert np.ptp(more.corrected_miscalibration_interval) < 0.6 * np.ptp(row.corrected_miscalibration_interval)
    for row in evaluate(y, {"m": s}, costs=COSTS, groups=group, **dependence).groups:
        assert np.isnan([row.corrected_miscalibration, *row.corrected_miscalibration_interval]).all()
        assert not math.isnan(row.interval[0])
