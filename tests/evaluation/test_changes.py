"""What changed between two kept evaluations of independent rows, beside brute force and repeated samples."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stakes import TimeToEvent, costs, evaluate
from stakes.evaluation import KeptEvaluation
from stakes.evaluation._changes import dearer

LOW, HIGH = 0.1, 0.4
ASKED = {"costs": (LOW, HIGH)}
NAMES = ("a", "b")


def drawn(seed, n=900, shift=0.0, lift=0.0):
    """Risks, outcomes and the scores of two models; ``lift`` raises the log-odds of events, not the scores."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-1.5 + shift, 1.2, n)
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-x - lift))
    return y, {"a": 1.0 / (1.0 + np.exp(-x)), "b": 1.0 / (1.0 + np.exp(-x - rng.normal(0.0, 0.7, n)))}


def kept(seed, asked=None, **how):
    return KeptEvaluation.of(evaluate(*drawn(seed, **how), **(asked or ASKED)))


def losses(y, score):
    """Mean regret of each row over thresholds uniform on [LOW, HIGH], by the definition of the integral."""
    inside = np.clip(score, LOW, HIGH)
    false_alarm = (inside**2 - LOW**2) / 2.0  # thresholds below the score, each costing c
    miss = ((1.0 - inside) ** 2 - (1.0 - HIGH) ** 2) / 2.0  # those above, each costing 1 - c
    return np.where(y, miss, false_alarm) / (HIGH - LOW)


def row(changes, quantity, model=""):
    return next(each for each in changes if (each.quantity, each.model) == (quantity, model))


def test_the_variance_of_a_change_is_the_sum_of_those_of_two_means():
    days = drawn(1, n=700), drawn(2, n=1100, lift=0.5)
    changes = kept(2, n=1100, lift=0.5).compare(kept(1, n=700))
    each = {name: [losses(y, models[name]) for y, models in days] for name in NAMES}
    each["a - b"] = [losses(y, models["a"]) - losses(y, models["b"]) for y, models in days]
    for name, (before, after) in each.items():
        found = row(changes, "difference" if "-" in name else "cost", name)
        assert (found.before, found.after) == pytest.approx((before.mean(), after.mean()), rel=1e-12)
        assert found.change == pytest.approx(after.mean() - before.mean(), rel=1e-10)
        variance = sum(np.var(one, ddof=1) / len(one) for one in (before, after))
        assert found.standard_error**2 == pytest.approx(variance, rel=1e-12)


def test_pairs_of_models_whose_names_hold_a_minus_are_kept_apart():
    days, costs_of, names = [], [], ("a", "b - c", "a - b", "c")
    for day in (1, 2):
        y, models = drawn(day)
        noise = np.random.default_rng(day).uniform(0.8, 1.0, (4, len(y)))
        scores = dict(zip(names, models["a"] * noise, strict=True))
        days.append(KeptEvaluation.of(evaluate(y, scores, **ASKED)))
        costs_of.append({name: losses(y, score).mean() for name, score in scores.items()})
    found = {each.model: each for each in days[1].compare(days[0]) if each.quantity == "difference"}
    assert len(found) == 6
    for one, other in (("a", "b - c"), ("a - b", "c")):
        before, after = (day[one] - day[other] for day in costs_of)
        assert found[f"{one!r} - {other!r}"].change == pytest.approx(after - before, rel=1e-9)


def test_prevalence_and_calibration_have_the_errors_of_their_formulas():
    days = drawn(1, n=700), drawn(2, n=1100, lift=0.5)
    changes = kept(2, n=1100, lift=0.5).compare(kept(1, n=700))
    found = row(changes, "prevalence")
    shares = [y.mean() for y, _ in days]
    assert (found.before, found.after) == pytest.approx(shares, rel=1e-12)
    variance = sum(y.var(ddof=1) / len(y) for y, _ in days)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-12)
    found = row(changes, "o_e_ratio", "b")
    ratios = [y.sum() / models["b"].sum() for y, models in days]
    assert (found.before, found.after) == pytest.approx(ratios, rel=1e-12)
    assert found.change == pytest.approx(ratios[1] / ratios[0], rel=1e-12)
    terms = [y / y.mean() - models["b"] / models["b"].mean() for y, models in days]
    error = math.sqrt(sum(np.var(one, ddof=1) / len(one) for one in terms))
    assert found.standard_error == pytest.approx(error * ratios[1] / ratios[0], rel=1e-12)
    low, high = found.interval
    assert low * high == pytest.approx(found.change**2, rel=1e-9)  # symmetric on the log scale


@pytest.mark.parametrize(
    ("rule", "more"),
    [
        ("score", {}),
        (0.25, {}),
        ("score", {"harm": {"a": 0.01}}),
        ("score", {"harm": 0.02, "unit_cost": 50.0, "per": 10}),
    ],
)
def test_a_change_of_cost_is_that_of_the_mix_and_that_of_the_promise(rule, more):
    asked = {**ASKED, "rule": rule, **more}
    changes = kept(4, asked, shift=0.4, lift=0.4).compare(kept(3, asked))
    for name in NAMES:
        parts = row(changes, "promised", name), row(changes, "more_than_promised", name)
        for each in ("change", "before", "after"):
            assert sum(getattr(part, each) for part in parts) == pytest.approx(
                getattr(row(changes, "cost", name), each), rel=1e-9
            )
    days = drawn(3), drawn(4, shift=0.4, lift=0.4)
    if rule == "score" and not more:
        scores = [models["a"] for _, models in days]
        promised = [s * losses(np.True_, s) + (1 - s) * losses(np.False_, s) for s in scores]
        found = row(changes, "promised", "a")
        assert found.change == pytest.approx(promised[1].mean() - promised[0].mean(), rel=1e-9)
        variance = sum(np.var(one, ddof=1) / len(one) for one in promised)
        assert found.standard_error**2 == pytest.approx(variance, rel=1e-12)


def test_the_error_of_what_is_more_than_promised_needs_no_right_score():
    rng, days = np.random.default_rng(7), []
    for _ in range(2):  # scores nearer to a half than the risks: what they promise varies more than what happens
        x = rng.normal(-1.0, 3.0, 600)
        days.append((rng.random(600) < 1.0 / (1.0 + np.exp(-x)), 1.0 / (1.0 + np.exp(-x / 4.0))))
    found = row(KeptEvaluation.of(evaluate(*days[1], **ASKED)).compare(KeptEvaluation.of(evaluate(*days[0], **ASKED))),
                "more_than_promised", "model")  # fmt: skip
    variance = 0.0
    for y, s in days:
        more = losses(y, s) - s * losses(np.True_, s) - (1.0 - s) * losses(np.False_, s)
        variance += np.var(more, ddof=1) / len(y)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-12)


def test_dearer_models_are_named_after_the_correction_for_all_of_them():
    same = kept(6).compare(kept(5))
    assert (same.dearer, same.cheaper) == ((), ())
    changes = kept(6, lift=1.2).compare(kept(5))
    assert changes.dearer == NAMES
    assert repr(changes) == "Changes(dearer: a, b; cheaper: none shown)"
    cost = row(changes, "cost", "b")
    low, high = (f"{1000 * end:.0f}" for end in cost.interval)
    said = f"b costs {1000 * cost.change:.0f} ({low} to {high}) more per 1,000 decisions than before (p "
    assert changes.sentences[1].startswith(said)
    assert changes.sentences[1].endswith(" after Holm over 2 models).")
    assert not any("= =" in sentence for sentence in changes.sentences)
    assert kept(5).compare(kept(6, lift=1.2)).cheaper == NAMES
    p_values = sorted(row(changes, "cost", name).p_value for name in NAMES)
    adjusted = sorted(row(changes, "cost", name).p_adjusted for name in NAMES)
    assert adjusted == pytest.approx([min(2 * p_values[0], 1.0), max(2 * p_values[0], p_values[1])])


def test_units_and_scale_are_those_of_the_evaluations():
    asked = {**ASKED, "unit_cost": 250.0, "per": 1000.0}
    plain, money = kept(6).compare(kept(5)), kept(6, asked).compare(kept(5, asked))
    for quantity in ("cost", "promised", "more_than_promised"):
        one, other = row(plain, quantity, "a"), row(money, quantity, "a")
        assert other.change == pytest.approx(250_000.0 * one.change, rel=1e-9)
        assert other.interval == pytest.approx([250_000.0 * end for end in one.interval], rel=1e-9)
    assert row(money, "o_e_ratio", "a") == row(plain, "o_e_ratio", "a")


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"costs": (0.1, 0.5)}, "costs"),
        ({"costs": costs.LogOddsUniform(LOW, HIGH)}, "costs"),
        ({"rule": 0.2}, "rule"),
        ({"confidence_level": 0.9}, "confidence_level"),
        ({"unit_cost": 2.0}, "unit_cost"),
        ({"harm": 0.01}, "harm"),
        ({"prevalence": 0.2}, "prevalence"),
    ],
)
def test_days_that_were_asked_otherwise_are_refused_by_name(asked, named):
    with pytest.raises(ValueError, match=rf"^compare needs evaluations of the same {named}, got "):
        kept(1, {**ASKED, **asked}).compare(kept(2))


def test_other_models_another_class_and_fitted_thresholds_are_refused():
    y, models = drawn(1)
    one = KeptEvaluation.of(evaluate(y, {"a": models["a"]}, **ASKED))
    with pytest.raises(
        ValueError,
        match=r"^compare needs evaluations of the same models, got 'a' and 'a, b': evaluate the rows of both alike",
    ):
        one.compare(kept(2))
    turned = KeptEvaluation.of(evaluate(~y, models, pos_label=False, **ASKED))
    with pytest.raises(ValueError, match="of the same pos_label"):
        turned.compare(kept(2))
    fitted = kept(1, {**ASKED, "rule": "optimal"})
    with pytest.raises(ValueError, match=r'^rule="optimal" fits the thresholds to the rows of each evaluation'):
        fitted.compare(fitted)
    with pytest.raises(ValueError, match="other must be a KeptEvaluation"):
        one.compare(evaluate(y, models, **ASKED))


def test_the_prevalence_does_not_change_where_it_is_stated():
    asked = {**ASKED, "prevalence": 0.2}
    changes = kept(2, asked).compare(kept(1, asked))
    assert "prevalence" not in {each.quantity for each in changes}
    assert row(changes, "cost", "a").standard_error > 0.0


def test_models_of_separate_tables_have_changes_but_no_error_of_their_difference():
    changes = replace(kept(2), pairs=None).compare(kept(1))
    assert row(changes, "cost", "a").interval[0] < row(changes, "cost", "a").interval[1]
    found = row(changes, "difference", "a - b")
    assert math.isnan(found.standard_error)
    assert "which scores belong together" in found.note


def test_few_events_widen_the_interval_and_are_said():
    rng = np.random.default_rng(3)
    score = rng.uniform(0.0, 0.3, 400)

    def day(events):
        return KeptEvaluation.of(evaluate(np.arange(400) < events, {"a": score}, **ASKED))

    found = row(day(3).compare(day(60)), "cost", "a")
    assert found.note
    y = np.arange(400) < 3
    naive = 2.0 * math.sqrt(sum(np.var(losses(np.arange(400) < k, score), ddof=1) / 400 for k in (3, 60)))
    assert y.sum() == 3
    assert found.interval[1] - found.interval[0] > 2.0 * naive


DESIGNS = {
    "nearly equal days": ({"n": 500}, {"n": 500, "lift": 0.05}),
    "few events": ({"n": 600, "shift": -2.3}, {"n": 300, "shift": -2.0}),
    "another mix": ({"n": 500}, {"n": 400, "shift": 0.8}),
}
POPULATION, SAMPLES = 1_000_000, 300


def truths(first, second):
    """Changes in the population."""
    large = [drawn(seed, **{**how, "n": POPULATION}) for seed, how in ((91, first), (92, second))]
    cost = {name: [losses(y, models[name]).mean() for y, models in large] for name in NAMES}
    ratio = {name: [y.mean() / models[name].mean() for y, models in large] for name in NAMES}
    true = {("cost", name): after - before for name, (before, after) in cost.items()}
    true["difference", "a - b"] = true["cost", "a"] - true["cost", "b"]
    true["prevalence", ""] = large[1][0].mean() - large[0][0].mean()
    return true | {("o_e_ratio", name): after / before for name, (before, after) in ratio.items()}


@pytest.mark.simulation
def test_intervals_of_changes_hold_as_often_as_they_say():
    held = {}
    for design, (first, second) in DESIGNS.items():
        true = truths(first, second)
        held[design] = dict.fromkeys(true, 0)
        for seed in range(SAMPLES):
            changes = kept(10_000 + seed, **second).compare(kept(20_000 + seed, **first))
            for (quantity, model), value in true.items():
                low, high = row(changes, quantity, model).interval
                held[design][quantity, model] += bool(low <= value <= high)
    over_designs = {key: sum(each[key] for each in held.values()) for key in true}
    assert min(over_designs.values()) >= 0.93 * SAMPLES * len(DESIGNS), held
    # of one design alone, three standard errors of 300 samples below 95%
    assert min(min(each.values()) for each in held.values()) >= 0.912 * SAMPLES, held


def several_days(seed, lifts, n=300):
    """Rows of several days, in each of which events are more likely by so much than the scores say."""
    each = [drawn(1000 * seed + place, n=n, lift=lift) for place, lift in enumerate(lifts)]
    models = {name: np.concatenate([found[name] for _, found in each]) for name in NAMES}
    return np.concatenate([y for y, _ in each]), models, np.repeat([f"d{k}" for k in range(len(lifts))], n)


def found(evaluation, against):
    return next((each for each in evaluation.check(against=against) if each.code == "dearer"), None)


def test_a_day_that_is_dearer_than_the_others_is_found():
    y, models, day = several_days(1, [0.0, 0.0, 0.0, 1.5])
    evaluation = evaluate(y, models, **ASKED, groups={"day": day})
    assert "dearer" not in evaluation.findings.codes  # it is looked for where it is asked for
    seen = found(evaluation, "groups")
    assert set(seen.groups) == {"day d3"}
    assert seen.evidence["comparisons"] == 8
    last = {name: losses(y, models[name])[day == "d3"].mean() for name in NAMES}
    rest = {name: losses(y, models[name])[day != "d3"].mean() for name in NAMES}
    assert seen.evidence["change"] == pytest.approx({f"{n}: day d3": last[n] - rest[n] for n in NAMES})
    p = {row.model: row.p_value for row in evaluation.groups if row.group == "d3"}
    first = min(p, key=p.get)
    assert seen.evidence["p_adjusted"][f"{first}: day d3"] == pytest.approx(8 * p[first])
    assert "after Holm over 8 comparisons" in seen.sentence
    level = evaluate(*several_days(1, [0.0] * 4)[:2], **ASKED, groups={"day": day})
    assert found(level, "groups") is None


def test_one_comparison_alone_is_corrected_for_nothing():
    (y, models), (later, raised) = drawn(1), drawn(2, lift=1.0)
    before = KeptEvaluation.of(evaluate(y, {"a": models["a"]}, **ASKED)).evaluate()
    seen = found(evaluate(later, {"a": raised["a"]}, **ASKED), before)
    assert seen.evidence["comparisons"] == 1
    assert "Holm" not in seen.sentence
    both = KeptEvaluation.of(evaluate(y, models, **ASKED)).evaluate()
    assert "after Holm over 2 comparisons" in found(evaluate(later, raised, **ASKED), both).sentence


def test_models_are_held_against_a_kept_evaluation_as_a_whole_and_day_by_day():
    before = kept(5).evaluate()
    y, models = drawn(6, lift=1.0)
    after = evaluate(y, models, **ASKED)
    seen = found(after, before)
    changes = kept(6, lift=1.0).compare(kept(5))
    assert seen.evidence["change"] == pytest.approx({each.model: each.change for each in changes.of("cost")})
    assert seen.evidence["p_adjusted"] == pytest.approx({each.model: each.p_adjusted for each in changes.of("cost")})
    assert found(evaluate(*drawn(7), **ASKED), before) is None
    y, models, day = several_days(2, [0.0, 1.8], n=900)
    seen = found(evaluate(y, models, **ASKED, groups={"day": day}), before)
    assert set(seen.groups) == {"day d1"}
    assert "in day d1 than all rows of what was kept (p " in seen.sentence
    assert seen.evidence["comparisons"] == 4
    alone = KeptEvaluation.of(evaluate(y[day == "d1"], {n: models[n][day == "d1"] for n in NAMES}, **ASKED))
    one = {each.model: each for each in alone.compare(kept(5)).of("cost")}
    assert seen.evidence["change"] == pytest.approx({f"{n}: day d1": one[n].change for n in NAMES})
    smallest = min(NAMES, key=lambda name: one[name].p_value)
    assert seen.evidence["p_adjusted"][f"{smallest}: day d1"] == pytest.approx(4 * one[smallest].p_value)


def of_two_regions(seed, lift=0.0, n=4000, named=("1", "2"), weight=None):
    """An evaluation of rows of two regions, the second with more events; ``lift`` makes it dearer than its scores."""
    rng = np.random.default_rng(seed)
    second = rng.integers(0, 2, n)
    p = 1.0 / (1.0 + np.exp(-rng.normal(-2.5 + 1.2 * second, 1.0)))
    y, q = rng.random(n) < p, p / np.where(second == 1, np.exp(2.0 * lift), 1.0)
    asked = {"costs": (0.05, 0.3), "sample_weight": None if weight is None else weight(rng, n)}
    return evaluate(y, {"a": q}, groups={"region": np.array(named)[second]}, **asked)


def test_a_group_is_held_against_what_was_kept_of_it():
    for weight in (None, lambda rng, n: rng.choice([1.0, 3.0], n)):
        before, after, dear = (of_two_regions(*each, weight=weight) for each in ((1,), (2,), (3, 1.0)))
        back = KeptEvaluation.from_json(KeptEvaluation.of(before).to_json()).evaluate()
        assert found(after, back) is None  # region 2 costs more than all rows, today as before
        seen = found(dear, back)
        assert seen.groups == ("region 2",)
        assert "in region 2 than what was kept of it (p " in seen.sentence
        rows = [next(row for row in each.groups if row.group == "2") for each in (before, dear)]
        gap = rows[1].score - rows[0].score
        assert seen.evidence["change"] == pytest.approx({"a: region 2": gap}, rel=1e-9)
        z = gap / np.hypot(*(row.standard_error for row in rows))
        assert seen.evidence["p_adjusted"]["a: region 2"] == pytest.approx(4.0 * stats.norm.sf(z), rel=0.2, abs=1e-9)
    assert found(of_two_regions(2, named=("1.0", "2.0")), before) is None  # one group in two ways of writing
    new = found(of_two_regions(2, named=("3", "4")), before)
    assert "in region 4 than all rows of what was kept (p " in new.sentence


def test_groups_that_did_not_change_are_seldom_called_dearer():
    false = sum(
        dearer(replace(of_two_regions(2 * seed, n=2000), _against=of_two_regions(2 * seed + 1, n=2000))) is not None
        for seed in range(25)
    )
    assert false <= 4  # of 25; about 20 where a group is held against all rows


def test_what_a_score_costs_to_obtain_does_not_change_a_day():
    y, models, day = several_days(2, [0.0, 1.8], n=900)
    asked = [{**ASKED, "harm": harm} for harm in (0.0, 0.01)]
    seen = [found(evaluate(y, models, **one, groups={"day": day}), kept(5, one).evaluate()) for one in asked]
    assert seen[1].evidence["change"] == pytest.approx(seen[0].evidence["change"], rel=1e-9)


def test_what_cannot_be_held_against_each_other_is_refused():
    y, models = drawn(1)
    result = evaluate(y, models, **ASKED)
    with pytest.raises(ValueError, match=r"^check needs evaluations of the same costs"):
        result.check(against=kept(2, {"costs": (0.1, 0.5)}).evaluate())
    with pytest.raises(ValueError, match=r'^against must be an Evaluation or "groups", got str'):
        result.check(against="yesterday")
    with pytest.raises(ValueError, match=r'^against="groups" needs groups='):
        result.check(against="groups")
    grouped = evaluate(y, models, **ASKED, groups=np.arange(len(y)) % 2, clusters=np.arange(len(y)) // 2)
    with pytest.raises(ValueError, match="need independent rows"):
        grouped.check(against=kept(2).evaluate())
    with pytest.raises(ValueError, match="need independent rows"):
        evaluate(y, models, **ASKED, groups=np.arange(len(y)) % 2).check(against=grouped)


def test_events_by_other_times_are_not_held_against_each_other():
    rng = np.random.default_rng(2)
    event, censored = rng.exponential(20.0, 900), rng.uniform(3.0, 20.0, 900)
    known, time = event <= censored, np.minimum(event, censored)
    score = {"a": np.clip(0.22 + rng.uniform(-0.1, 0.1, 900), 0.0, 1.0)}
    by = {str(h): evaluate(TimeToEvent(event=known, time=time, horizon=h), score, costs=(0.1, 0.5)) for h in (5, 10)}
    by["labels"] = evaluate(known, score, costs=(0.1, 0.5))
    for one, two, names in (
        (by["10"], by["5"], "'event by horizon 10' and 'event by horizon 5'"),
        (by["5"], by["labels"], "'event by horizon 5' and 'labels'"),
    ):
        with pytest.raises(ValueError, match=f"^check needs evaluations of the same outcome, got {names}"):
            one.check(against=two)
    late = known | (time > 3.5)  # of whom nobody is censored before the horizon, and whose rows are not weighed
    every = TimeToEvent(event=known[late], time=time[late], horizon=3.5)
    some = TimeToEvent(event=known, time=time, horizon=3.5)
    whole = [evaluate(y, {"a": p}, costs=(0.1, 0.5)) for y, p in ((every, score["a"][late]), (some, score["a"]))]
    assert whole[0].score_tables[0].about != whole[1].score_tables[0].about
    whole[0].check(against=whole[1])


@pytest.mark.simulation
def test_equal_days_are_seldom_called_dearer():
    times, before, false = 1000, [kept(30_000 + seed, n=400).evaluate() for seed in range(1000)], [0, 0]
    for seed in range(times):
        after = evaluate(*drawn(40_000 + seed, n=400, shift=0.0), **ASKED)
        false[0] += dearer(replace(after, _against=before[seed])) is not None
        y, models, day = several_days(50 + seed, [0.0] * 5, n=120)
        false[1] += dearer(replace(evaluate(y, models, **ASKED, groups=day), _against="groups")) is not None
    assert max(false) <= 0.05 * times, false


def test_infinite_costs_and_days_of_one_class_have_no_change_that_is_sure():
    rng = np.random.default_rng(2)
    y, hard = rng.random(400) < 0.3, rng.choice([0.0, 1.0], 400)
    endless = KeptEvaluation.of(evaluate(y, {"a": hard}, costs=costs.LogOddsUniform(0, 1)))
    changes = endless.compare(endless)
    assert math.isinf(row(changes, "cost", "a").before)
    assert math.isnan(row(changes, "cost", "a").change)
    assert (changes.dearer, changes.sentences) == ((), ["No change of cost is shown."])
    silent = KeptEvaluation.of(evaluate(y, {"a": np.zeros(400)}, **ASKED))
    assert row(silent.compare(silent), "o_e_ratio", "a").note == "every score is 0"
    y, models, day = several_days(3, [0.0, 1.0])
    y = y & (day == "d1")  # of the first day no row is positive
    seen = found(evaluate(y, models, **ASKED, groups={"day": day}), kept(5).evaluate())
    assert set(seen.groups) == {"day d1"}


def test_only_an_evaluation_is_kept():
    kept = KeptEvaluation.of(evaluate([0, 1], {"a": [0.1, 0.8]}, costs=0.3))
    with pytest.raises(ValueError, match=r"^evaluation must be an Evaluation, got KeptEvaluation: see evaluate\.$"):
        KeptEvaluation.of(kept)


def test_a_prevalence_of_few_rows_changes_by_no_more_than_from_none_to_all():
    rare = KeptEvaluation.of(evaluate([0, 0, 0, 0, 1], {"a": np.linspace(0.1, 0.8, 5)}, **ASKED))
    common = KeptEvaluation.of(evaluate([1, 1, 1, 1, 0], {"a": np.linspace(0.1, 0.8, 5)}, **ASKED))
    rise, fall = (
        next(each for each in after.compare(before) if each.quantity == "prevalence")
        for before, after in ((rare, common), (common, rare))
    )
    assert rise.interval[1] == 1.0
    assert fall.interval == pytest.approx((-1.0, -rise.interval[0]))
