"""What an evaluation says of an outcome: its data line, findings, the page and the JSON."""

import json
import re

import numpy as np
import pytest
from scipy.stats import rankdata

from stakes import RowCosts, TimeToEvent, evaluate
from stakes.curves import net_benefit_curve
from stakes.evaluation import _checks_data
from stakes.inference import metric_interval
from stakes.outcomes._time_to_event import OF_INTEREST


def stream(k, seed=1, n=1000):
    """Exponential times; censoring depends on the log-hazard of the event through k."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    time, left = rng.exponential(np.exp(-x) / 0.3), rng.exponential(np.exp(-k * x) / 0.35)
    outcome = TimeToEvent(event=time <= left, time=np.minimum(time, left), horizon=1.0)
    return outcome, 1.0 - np.exp(-0.3 * np.exp(x))


@pytest.fixture(scope="module")
def df_surv(load_data):
    return load_data("dcurves/df_surv")


def codes(outcome, score):
    return evaluate(outcome, {"a": score}, costs=(0.1, 0.3)).findings.codes


def test_censoring_that_follows_the_score_is_found():
    (found,) = [
        each for each in evaluate(*stream(0.8), costs=(0.1, 0.3)).findings if each.code == "censoring-follows-score"
    ]
    assert "left earlier than others" in found.sentence
    change = re.search(r"a difference of (\d+\.\d) of the difference's standard errors", found.sentence)
    assert float(change[1]) > 1.0
    assert found.evidence["trend_z"] > 5
    assert "censoring-follows-score" not in codes(*stream(0.0))


def test_censoring_that_follows_one_of_two_scores_needs_half_the_level():
    outcome, score = stream(0.14)
    other = np.random.default_rng(1).random(len(score))
    assert "censoring-follows-score" in codes(outcome, score)  # p = .0045
    assert "censoring-follows-score" not in evaluate(outcome, {"a": score, "b": other}, costs=(0.1, 0.3)).findings.codes


def test_groups_of_the_score_are_fifths_whoever_left_first():
    outcome, score = stream(0.8)
    others, known = np.arange(1000) != np.argmax(score), outcome.follow_up
    event = (known.ended == OF_INTEREST) & others
    outcome = TimeToEvent(time=np.where(others, known.time, 0.01), event=event, horizon=1.0)
    (found,) = [
        each for each in evaluate(outcome, score, costs=(0.1, 0.3)).findings if each.code == "censoring-follows-score"
    ]
    assert "with censoring estimated in five groups of the score" in found.sentence


def test_thresholds_fitted_to_these_rows_say_nothing_of_groups_of_the_score():
    found = evaluate(*stream(0.8), costs=(0.1, 0.3), rule="optimal").findings
    (sentence,) = [each.sentence for each in found if each.code == "censoring-follows-score"]
    assert sentence == "People with higher scores from model left earlier than others."


def test_change_through_groups_is_that_of_the_two_costs():
    outcome, score = stream(0.8)
    groups = np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score, side="right")
    plain, grouped = (
        evaluate(each, score, costs=(0.1, 0.3)).results[0].score for each in (outcome, outcome.within(groups))
    )
    (found,) = [
        each for each in evaluate(outcome, score, costs=(0.1, 0.3)).findings if each.code == "censoring-follows-score"
    ]
    assert f"{1e3 * plain:.1f} per 1,000 decisions as it stands and {1e3 * grouped:.1f} with" in found.sentence


def followed_in_clusters(copies, k=-0.5, n=400, seed=5):
    """People followed, each so many times in the rows, whose censoring follows the score; and who is who."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    time, left = rng.exponential(6.0 * np.exp(-0.8 * x)), rng.exponential(5.0 * np.exp(k * x))
    found = [np.repeat(values, copies) for values in (time <= left, np.minimum(time, left), x, np.arange(n))]
    outcome = TimeToEvent(event=found[0], time=found[1], horizon=4.0)
    return outcome, {"m": 1.0 / (1.0 + np.exp(0.5 - found[2]))}, found[3]


def test_people_who_stand_in_the_rows_ten_times_prove_no_more_of_censoring_than_once():
    alone, once, often = (
        {each.code: each for each in evaluate(outcome, models, costs=(0.2, 0.6), clusters=given).findings}
        for copies in (None, 1, 10)
        for outcome, models, clusters in [followed_in_clusters(copies or 1)]
        for given in [clusters if copies else None]
    )
    assert "censoring-reading" not in alone
    assert "censoring-reading" not in often
    for found in (once, often):
        assert found["censoring-follows-score"].sentence == alone["censoring-follows-score"].sentence
        trend = found["censoring-follows-score"].evidence["trend_z"]
        assert trend == pytest.approx(alone["censoring-follows-score"].evidence["trend_z"], rel=0.1)
    assert once["censoring-follows-score"].evidence["p_value"] == pytest.approx(
        often["censoring-follows-score"].evidence["p_value"], rel=1e-6
    )


def test_people_who_stand_in_the_rows_many_times_do_not_seem_to_leave_by_their_scores():
    """Of 100 samples in which nobody leaves by the score few are found where people are the clusters; else most."""
    raised = {"clusters": 0, "rows": 0}
    for seed in range(100):
        outcome, models, clusters = followed_in_clusters(10, k=0.0, n=100, seed=seed)
        rows = evaluate(outcome, models, costs=(0.2, 0.6), clusters=clusters).rows
        test = _checks_data._censoring_test(rows, outcome, models["m"])
        raised["clusters"] += test.p_value < 0.05
        raised["rows"] += outcome.censoring_test(models["m"]).p_value < 0.05
    assert raised["clusters"] <= 10  # 11 of 100 or more at a level of .05 have a probability of .01
    assert raised["rows"] > 40


@pytest.mark.parametrize("seed", range(3))
def test_what_rows_add_to_the_trend_of_censoring_is_that_of_its_definition(seed):
    """Each row's term less what it was at risk of at every time, in loops over rows and times, with many ties."""
    rng = np.random.default_rng(seed)
    n, horizon = 60, 8.0
    time, censored, score = rng.integers(1, 12, n).astype(float), rng.random(n) < 0.5, rng.integers(0, 9, n) / 9.0
    rank, leaves = rankdata(score) / n, censored & (time < horizon)
    wanted = np.zeros(n)
    for at in np.unique(time[leaves]):
        gone = leaves & (time == at)
        risk = (time > at) | gone
        mean = rank[risk].mean()
        wanted[gone] += rank[gone] - mean
        wanted[risk] -= gone.sum() / risk.sum() * (rank[risk] - mean)
    assert _checks_data.censoring_trend(time, censored, score, horizon) == pytest.approx(wanted, abs=1e-13)
    sign = np.sign(TimeToEvent(event=~censored, time=time, horizon=horizon).censoring_test(score).trend_z)
    assert np.sign(wanted.sum()) == sign


def test_harm_is_part_of_the_costs_and_net_benefits_that_findings_name():
    outcome, score = stream(2.0)
    plain, harmed = (
        {each.code: each for each in evaluate(outcome, score, costs=(0.1, 0.5), harm=harm).findings}
        for harm in (0.0, 0.02)
    )
    cost = evaluate(outcome, score, costs=(0.1, 0.5), harm=0.02)["model"].score
    assert (
        f"Its cost is {1e3 * cost:.0f} per 1,000 decisions as it stands" in harmed["censoring-follows-score"].sentence
    )
    for key in ("net_benefit", "acted"):
        before, after = (found["censoring-reading"].evidence[key] for found in (plain, harmed))
        assert after == pytest.approx(before - 0.02, abs=1e-12)


def test_other_estimate_of_dcurves_is_named_where_it_is_far_off(df_surv):
    outcome, score = stream(2.0)
    (found,) = [e for e in evaluate(outcome, score, costs=(0.1, 0.5)).findings if e.code == "censoring-reading"]
    seen = found.evidence
    assert seen["threshold"] == 0.5
    assert seen["net_benefit"] == pytest.approx(net_benefit_curve(outcome, score).at(0.5), rel=1e-12)
    acted = net_benefit_curve(outcome, score, censoring="acted", thresholds=[0.5]).at(0.5)
    assert seen["acted"] == pytest.approx(acted, rel=1e-12)
    error = metric_interval(outcome, score, "net_benefit_score", threshold=0.5).standard_error
    assert seen["errors"] == pytest.approx(abs(seen["net_benefit"] - acted) / error, rel=0.01)
    assert "as in dcurves: 2.9" in found.sentence or "as in dcurves: 3.0" in found.sentence
    assert "censoring-reading" not in evaluate(outcome, score, costs=(0.1, 0.5), rule=0.2).findings.codes
    # published for 1.5 and 20%: .136858 from all rows, .123606 from those acted on, 0.6 standard errors apart
    assert "censoring-reading" not in codes(
        TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, horizon=1.5), df_surv.cancerpredmarker
    )


def test_decisions_without_an_error_cost_nothing_however_censoring_is_estimated():
    rng = np.random.default_rng(0)
    event, left = rng.exponential(2.0, 400), rng.exponential(1.0, 400)
    left += 0.5 * (event <= 1.0)  # those at a low risk leave earlier
    score = np.where(event <= 1.0, 0.8, 0.1) + 0.1 * rng.random(400)
    outcome = TimeToEvent(event=event <= left, time=np.minimum(event, left), horizon=1.0)
    found = {each.code: each.sentence for each in evaluate(outcome, score, costs=0.5).findings}
    told = (
        r"Its cost is 0 per 1,000 decisions as it stands and 0 with .*, a difference of 0\.0 of the difference's stand"
    )
    assert re.search(told, found["censoring-follows-score"])


def test_df_surv_raises_none_of_these(df_surv):
    outcome = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, horizon=1.5)
    raised = set(codes(outcome, df_surv.cancerpredmarker))
    assert not raised & {"censoring-follows-score", "thin-follow-up", "heavy-weights", "looks-like-survival"}


def test_probability_of_being_free_of_the_event_is_noticed():
    outcome, score = stream(0.0)
    assert "looks-like-survival" in codes(outcome, 1.0 - score)
    assert "looks-like-survival" not in codes(outcome, score)


@pytest.mark.parametrize("weight", [None, np.random.default_rng(2).integers(0, 3, 400)], ids=["alone", "weighted"])
def test_probability_of_being_free_of_the_event_is_noticed_where_nobody_is_censored(weight):
    rng = np.random.default_rng(1)
    risk = 1.0 - np.exp(-0.3 * np.exp(rng.normal(size=400)))
    time = rng.exponential(-1.0 / np.log1p(-risk))
    outcome = TimeToEvent(event=time <= 2.0, time=np.minimum(time, 2.0), horizon=1.0, sample_weight=weight)
    (found,) = [e for e in evaluate(outcome, 1.0 - risk, costs=(0.1, 0.3)).findings if e.code == "looks-like-survival"]
    assert list(found.evidence["mean_score"].values()) == [pytest.approx(np.average(1.0 - risk, weights=weight))]
    assert "looks-like-survival" not in codes(outcome, risk)


def test_scores_of_a_weak_model_with_class_weights_are_not_called_survival():
    below = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        hazard = 0.08 * np.exp(0.2 * rng.normal(size=250))
        time, left = rng.exponential(1.0 / hazard), rng.uniform(0.3, 3.0, 250)
        outcome = TimeToEvent(event=time <= left, time=np.minimum(time, left), horizon=1.0)
        odds = 12.5 * np.expm1(hazard)
        found = evaluate(outcome, odds / (1.0 + odds), costs=(0.05, 0.2))
        below += found.results[0].auc < 0.5
        assert "looks-like-survival" not in found.findings.codes
    assert below > 5


def test_few_people_at_the_horizon_and_heavy_weights_are_found():
    pytest.importorskip("polars")
    outcome, score = stream(0.0, n=100)
    late = outcome.at(float(np.sort(outcome.frame("polars")["time"].to_numpy())[-8]))
    found = codes(late, score)
    assert {"thin-follow-up", "heavy-weights"} <= set(found)
    assert late.at_risk == 8
    priced = RowCosts(late, false_positive=1.0, false_negative=np.linspace(5.0, 9.0, 100))
    assert {"thin-follow-up", "heavy-weights"} <= set(evaluate(priced, {"a": score}).findings.codes)


def test_probabilities_of_censoring_that_do_not_fit_the_rows_are_found():
    rng = np.random.default_rng(4)
    time, score = rng.exponential(1.0, 400), rng.random(400)
    left = rng.exponential(2.0, 400)
    rows = {"event": (time <= left).astype(int), "time": np.minimum(time, left), "horizon": 0.8}
    true = np.exp(-np.minimum(rows["time"], 0.8) / 2.0)
    assert "weights-off" not in codes(TimeToEvent(**rows, censoring=true), score)
    off = TimeToEvent(**rows, censoring=np.sqrt(true))
    assert "weights-off" in codes(off, score)
    known = np.where((rows["event"] == 1) | (rows["time"] >= 0.8), 1.0 / np.sqrt(true), 0.0)
    assert off.weight_share == pytest.approx(known.mean(), rel=1e-12)
    assert off.weight_share < 0.95
    few = {name: part[:40] if np.ndim(part) else part for name, part in rows.items()}
    chance = TimeToEvent(**few, censoring=true[:40])
    assert abs(chance.weight_share - 1.0) > 0.05
    assert "weights-off" not in codes(chance, score[:40])
    assert "weights-off" not in codes(TimeToEvent(**rows), score)


def uncensored(horizon=1.0, **change):
    """Times to the event that are all seen, and a score that ranks them."""
    rng = np.random.default_rng(2)
    time = rng.exponential(1.0, 200)
    rows = {"event": np.ones(200, int), "time": time, "horizon": horizon}
    return TimeToEvent(**rows | change), np.clip(1.0 - time / 3.0 + rng.normal(0.0, 0.3, 200), 0.02, 0.98)


def found_by(code, outcome, score):
    found = [each for each in evaluate(outcome, score, costs=(0.1, 0.5)).findings if each.code == code]
    return found[0] if found else None


def test_follow_up_that_differs_though_nobody_is_censored_is_a_finding():
    outcome, score = uncensored()
    found = found_by("nobody-censored", outcome, score)
    time = outcome.follow_up.time
    rest = np.sort(time[time > 1.0])
    assert found.severity == "info"
    assert found.evidence == {"rows": len(rest), "shortest": rest[0], "longest": rest[-1], "horizon": 1.0}
    assert f"the {len(rest)} rows without the event by then" in found.sentence
    priced = RowCosts(outcome, false_positive=1.0, false_negative=np.linspace(5.0, 9.0, 200))
    assert found_by("nobody-censored", priced, score)


def test_complete_follow_up_to_the_horizon_is_no_finding():
    time = uncensored()[0].follow_up.time
    for horizon in (1.0, 0.7):
        ended = {"event": (time <= horizon).astype(int), "time": np.minimum(time, horizon), "horizon": horizon}
        assert found_by("nobody-censored", *uncensored(**ended)) is None
    weight = np.where((time > 1.0) & (time < np.max(time)), 0.0, 1.0)  # of all who live longer, one is left
    assert found_by("nobody-censored", *uncensored(sample_weight=weight)) is None


def test_one_row_censored_before_the_horizon_ends_that_finding():
    time = uncensored()[0].follow_up.time
    early, late = np.argmin(time), np.argmax(time)
    for place, found in ((early, False), (late, True)):
        event = (np.arange(200) != place).astype(int)
        assert (found_by("nobody-censored", *uncensored(event=event)) is not None) is found


def test_competing_cause_of_most_events_by_the_horizon_is_a_finding():
    time = uncensored()[0].follow_up.time
    by_then = np.flatnonzero(time <= 1.0)
    half = len(by_then) // 2
    for others, raised in ((half, False), (half + 1, True)):
        code = np.ones(200, int)
        code[by_then[:others]] = 2
        code[time > 1.0] = 0
        outcome, score = uncensored(event=code, cause=1)
        found = found_by("competing-takes-most", outcome, score)
        assert (found is not None) is raised
    assert found.severity == "warning"
    assert found.evidence == {"events": float(len(by_then)), "competing": half + 1.0}
    assert f"Of the {len(by_then)} events by the horizon 1, {half + 1} (" in found.sentence


def test_censored_rows_told_as_competing_are_noticed():
    """What codes 1 (censored) and 2 (event) say if nobody asks: the censored die of another cause."""
    rng = np.random.default_rng(3)
    event, left = rng.exponential(2.0, 300), rng.exponential(1.0, 300)
    rows = {"event": np.where(event <= left, 2, 1), "time": np.minimum(event, left), "horizon": 1.0}
    wrong = evaluate(TimeToEvent(**rows, cause=2, censored=0), np.exp(-event), costs=(0.1, 0.5)).findings.codes
    right = evaluate(TimeToEvent(**rows, cause=2, censored=1), np.exp(-event), costs=(0.1, 0.5)).findings.codes
    assert {"nobody-censored", "competing-takes-most"} <= set(wrong)
    assert not {"nobody-censored", "competing-takes-most"} & set(right)


@pytest.mark.parametrize("priced", [False, True])
def test_horizon_in_another_unit_than_the_times_is_asked_about(priced):
    outcome, score = uncensored()
    for horizon, kind in ((0.002, "negative"), (365.0, "positive")):
        wrong = outcome.at(horizon)
        wrong = RowCosts(wrong, false_positive=1.0, false_negative=9.0) if priced else wrong
        time = outcome.follow_up.time
        ends = (
            f"Times run from {time.min():.3g} to {time.max():.3g} and the horizon is {horizon:g}: are they in one unit"
        )
        with pytest.raises(ValueError, match=f"must hold both classes, got 200 rows that are all {kind}.*{ends}"):
            evaluate(wrong, score, costs=None if priced else (0.1, 0.5))


def test_data_line_says_what_is_known(df_surv, tmp_path):
    outcome = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, horizon=1.5)
    found = evaluate(outcome, df_surv.cancerpredmarker, costs=(0.1, 0.3))
    line = "750 rows, horizon 1.5: 91 events, 123 event-free, 536 of unknown status (71%), largest weight 4.8"
    assert found.data_line == line
    assert json.loads(found.to_json())["data"]["outcome"] == line
    text = found.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
    assert line in text
    assert "allow for it" in text
    assert evaluate([0, 1] * 20, [0.1, 0.8] * 20).data_line == ""


def test_methods_say_how_censoring_was_estimated_in_groups():
    outcome, score = stream(0.0)
    group = np.arange(len(score)) % 2
    few = np.arange(len(score)) < 12
    asked = {"costs": (0.1, 0.3), "groups": group}
    said = evaluate(outcome, score, **asked).methods()
    assert "Rows of subgroups by group were weighed by censoring estimated within each subgroup." in said
    assert "keep their weights" not in said
    both = evaluate(outcome, score, groups={"half": group, "few": few}).methods()
    assert "subgroups by half and few were weighed by censoring estimated within each subgroup." in both
    given = evaluate(outcome.within(group), score, **asked).methods()
    assert "censoring was estimated within the groups given to" in given
    assert "Rows of subgroups" not in evaluate(outcome.y, score, **asked).methods()
    assert "Rows of subgroups" not in evaluate(outcome, score, costs=(0.1, 0.3)).methods()


def test_subgroups_are_those_of_their_own_rows():
    outcome, score = stream(0.8)
    group, asked = np.where(score > np.median(score), "high", "low"), {"costs": (0.1, 0.3)}
    found = evaluate(outcome, score, groups=group, **asked)
    assert found.groups.within == ("group",)
    alone = {name: evaluate(outcome.take(group == name), score[group == name], **asked) for name in ("high", "low")}
    for row in found.groups:
        mine = alone[row.group]
        assert row.prevalence == pytest.approx(outcome.take(group == row.group).prevalence, rel=1e-12)
        assert row.score == pytest.approx(mine.results[0].score, rel=1e-12)
        assert row.auc == pytest.approx(mine.results[0].auc, rel=1e-12)
        assert row.standard_error == pytest.approx(mine.results[0].standard_error, rel=0.01)
    high, low = found.groups
    assert high.difference == pytest.approx(high.score - low.score, rel=1e-12)
    plain = evaluate(outcome, score, **asked)
    assert found.results[0].score == plain.results[0].score  # of all rows, as without groups


def test_fifty_equal_weights_are_not_heavy(monkeypatch):
    for n, heavy in [(50, False), (49, True)]:
        event = np.arange(n) % 2
        outcome = TimeToEvent(event=event, time=np.where(event == 1, 1.0, 3.0), horizon=2.0)
        assert outcome.effective_rows == n
        monkeypatch.setattr(_checks_data, "_outcome", lambda _, found=outcome: found)
        assert (_checks_data.heavy_weights(None) is not None) == heavy


def late_centre(seed, *, left=(0.3, 0.95), rates=(5.0, 5.0)):
    """Two centres of 600 and one of 300 that joined late; follow-up, the true risks, and the centres."""
    rng = np.random.default_rng(seed)
    centre = np.repeat(["a", "b", "late"], [600, 600, 300])
    hazard = 0.25 * np.exp(rng.normal(size=1500))
    event, lost = rng.exponential(1.0 / hazard), rng.exponential(np.where(centre == "a", *rates))
    lost = np.where(centre == "late", np.minimum(lost, rng.uniform(*left, 1500)), lost)
    outcome = TimeToEvent(event=event <= lost, time=np.minimum(event, lost), horizon=1.0)
    return outcome, 1.0 - np.exp(-hazard), centre


def test_a_group_that_nobody_was_followed_in_has_no_numbers():
    outcome, score, centre = late_centre(1)
    asked = {"costs": (0.3, 0.6), "groups": {"centre": centre}}
    found = evaluate(outcome, {"m": score}, **asked)
    *others, late = found.groups
    assert (late.group, late.n_rows) == ("late", 70)
    assert late.note == "no row was followed to the horizon: a group needs 5"
    numbers = {name: value for name, value in late.__dict__.items() if isinstance(value, float | tuple)}
    assert len(numbers) == 17
    assert np.isnan(np.hstack(list(numbers.values()))).all()
    assert np.isnan(late.corrected_miscalibration)
    assert late.count().prevalence == 1.0
    assert "group-not-as-promised" not in found.findings.codes
    said = (
        "Subgroups that lost cases and of which fewer than 5 were followed to the horizon have no numbers and are not"
    )
    assert said in found.methods()
    assert "no row was followed to the horizon" in found.to_html()
    fitted = evaluate(outcome, {"m": score}, rule="optimal", **asked).groups[2]
    assert (np.isnan(fitted.score), fitted.note) == (True, late.note)
    there = centre != "late"
    without = evaluate(outcome.take(there), {"m": score[there]}, costs=(0.3, 0.6), groups={"centre": centre[there]})
    for one, other in zip(without.groups, others, strict=True):
        assert (other.group, other.note) == (one.group, one.note)
        for name in ("prevalence", "score", "difference", "skill", "auc", "more_than_promised"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-12), name
        for name in ("standard_error", "p_value", "p_adjusted", "more_than_promised_p_adjusted"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-3), name


@pytest.mark.parametrize("left", [(0.3, 0.95), (0.3, 1.02), (0.3, 1.05)])
def test_true_risks_are_seldom_accused_in_a_centre_that_joined_late(left):
    accused = 0
    for seed in range(25):
        outcome, score, centre = late_centre(seed, left=left)
        found = evaluate(outcome, {"m": score}, costs=(0.3, 0.6), groups=centre)
        accused += any(row.more_than_promised_p_adjusted < 0.05 for row in found.groups)
    assert accused <= 4  # of 25 at .05: one of 140 true tests has more


def test_other_groups_keep_their_own_censoring_beside_one_with_few_followed():
    share = {"a": [], "b": []}
    for seed in range(40):
        outcome, score, centre = late_centre(seed, rates=(10.0, 1.0))
        for row in evaluate(outcome, {"m": score}, costs=(0.3, 0.6), groups=centre).groups[:2]:
            assert row.prevalence == pytest.approx(outcome.take(centre == row.group).prevalence, rel=1e-12)
            share[row.group].append(row.prevalence)
    truth = np.mean(1.0 - np.exp(-0.25 * np.exp(np.random.default_rng(0).normal(size=100_000))))
    for each in share.values():
        assert np.mean(each) == pytest.approx(truth, abs=4.0 * np.std(each) / 40**0.5)


@pytest.mark.parametrize("dependence", [{}, {"clusters": np.arange(1500) // 3}])
def test_where_one_group_has_enough_rows_followed_the_others_have_no_numbers(dependence):
    outcome, score, centre = late_centre(3)
    group = np.where(centre == "late", np.arange(1500) % 9, 9)
    *few, enough = evaluate(outcome, {"m": score}, costs=(0.3, 0.6), groups=group, **dependence).groups
    assert [(row.group, np.isnan(row.score), row.note[:6]) for row in few] == [
        (str(k), True, "no row") for k in range(9)
    ]
    assert enough.prevalence == pytest.approx(outcome.take(group == 9).prevalence, rel=1e-12)
    assert np.isnan(enough.difference)


def test_groups_of_few_people_have_numbers_only_where_five_were_followed_or_nobody_was_lost():
    outcome, score, _ = late_centre(0)
    some = np.arange(160)
    few, group = outcome.take(some), some // 8
    found = evaluate(few, {"m": score[some]}, costs=(0.3, 0.6), groups=group).groups
    reached = np.bincount(group, few.follow_up.time >= 1.0, 20)
    lost = np.bincount(group, ~few.known, 20)
    enough = {str(k): reached[k] >= 5 or not lost[k] for k in range(20)}
    assert {row.group: not np.isnan(row.score) for row in found} == enough
    assert 0 < sum(enough.values()) < 20
    every = evaluate(few, {"m": score[some]}, costs=(0.3, 0.6), groups=some // 4).groups
    assert {row.note for row in every if np.isnan(row.score)} >= {
        f"only {rows} followed to the horizon: a group needs 5" for rows in ("1 row was", "2 rows were")
    }
    pair = evaluate(few, {"m": score[some]}, costs=(0.3, 0.6), groups=np.where(few.known, "known", "lost")).groups
    assert [row.group for row in pair] == ["known"]


@pytest.mark.parametrize("set_aside", [False, True])
def test_amounts_in_subgroups_are_those_of_their_own_rows(set_aside):
    outcome, score = stream(0.8)
    group, rng = np.where(score > np.median(score), "high", "low"), np.random.default_rng(5)
    amounts = {"false_positive": rng.uniform(0.5, 2.0, 1000), "false_negative": rng.uniform(1.0, 9.0, 1000)}
    if set_aside:
        amounts["false_positive"][::50] = -0.1
    how = {"on_dominated": "set_aside"} if set_aside else {}
    found = evaluate(RowCosts(outcome, **amounts, **how), {"a": score}, groups=group)
    assert found.groups.within == ("group",)
    assert "Rows of subgroups by group were weighed by censoring estimated within each subgroup." in found.methods()
    for row in found.groups:
        mine = group == row.group
        part = RowCosts(outcome.take(mine), **{name: values[mine] for name, values in amounts.items()}, **how)
        alone = evaluate(part, {"a": score[mine]})
        assert row.score == pytest.approx(alone.results[0].score, rel=1e-12)
        assert row.prevalence == pytest.approx(alone.prevalence, rel=1e-12)
        for name in ("cost", "gain", "savings"):
            one, other = getattr(row.money, name), getattr(alone.money["a"], name)
            assert one.value == pytest.approx(other.value, rel=1e-12)
            assert one.standard_error == pytest.approx(other.standard_error, rel=0.01)


def test_amounts_of_a_group_with_few_followed_are_not_known():
    pytest.importorskip("pandas")
    outcome, score, centre = late_centre(1)
    found = evaluate(RowCosts(outcome, false_positive=1.0, false_negative=2.0), {"m": score}, groups=centre)
    alone = evaluate(outcome, {"m": score}, costs=1 / 3, groups=centre).groups
    for row, plain in zip(found.groups[:2], alone[:2], strict=True):
        assert row.money.cost.value == pytest.approx(3000.0 * plain.score, rel=1e-12)
    late = found.groups[2]
    assert (np.isnan(late.score), late.money, late.note) == (True, None, alone[2].note)
    cost = found.groups.frame("pandas")["cost"]
    assert cost.isna().tolist() == [False, False, True]
    assert "no row was followed to the horizon" in found.to_html()
