"""Money over uncertain ratios and in groups, and what is drawn and written of amounts: against every decision."""

import json
import re
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import lognorm

from stakes import (
    PartlyVerified,
    RowCosts,
    ScoreTable,
    TimeToEvent,
    compare,
    costs,
    decompose,
    evaluate,
    evaluate_frame,
    expected_regret,
)
from stakes.curves import net_benefit_curve, regret_curve
from stakes.inference import (
    MoneySums,
    confidence_band,
    difference_band,
    law_of,
    metric_difference,
    metric_interval,
    money,
    select_best,
    to_expect,
)
from stakes.metrics import net_benefit_score
from stakes.outcomes import OutcomeColumns
from stakes.report import render_report

FAMILIES = [
    costs.Uniform(0.1, 0.6),
    costs.LogOddsUniform(1 / 3, 2 / 3),
    costs.Beta(2, 5),
    costs.Triangular(0.1, 0.3, 0.8),
    costs.Fixed(0.3),
    costs.Empirical([0.1, 0.5, 0.5, 0.7]),
    2 * costs.Uniform(0.2, 0.4) + costs.Fixed(0.5),
]
HELD = {"false_negative": lambda c: 1 - c, "false_positive": lambda c: c, "sum": lambda _: 0.5}


def priced(n=400, seed=17):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 4, n)
    y, amount = rng.random(n) < p, rng.lognormal(3, 0.5, n)
    models = {"a": p, "b": np.clip(p + rng.normal(0, 0.2, n), 0, 1)}
    return y, amount, models


def decided(y, amount, p, c, held):
    """Cost of every decision at one cost ratio, over what is held."""
    act = p * amount * (1 - c) >= c * (1 - p) * 7.0
    return float(np.where(y, ~act * amount * (1 - c), act * 7.0 * c).sum()) / held(c)


@pytest.mark.parametrize("scale", HELD)
@pytest.mark.parametrize("law", FAMILIES, ids=repr)
def test_money_over_ratios_is_the_mean_of_every_decision(law, scale):
    y, amount, models = priced(12)
    p, (at, weights) = models["a"], law.atoms
    cuts = np.unique((p * amount) / (p * amount + (1 - p) * 7.0))
    ends = sorted({law.low, law.high, 0.2, 0.3, 0.4, *cuts[(cuts > law.low) & (cuts < law.high)]})

    def weighed(c):
        return decided(y, amount, p, c, HELD[scale]) * float(law.density(c))

    smooth = sum(quad(weighed, a, b, epsabs=1e-11)[0] for a, b in pairwise(ends))
    single = sum(w * decided(y, amount, p, c, HELD[scale]) for c, w in zip(at, weights, strict=True))
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount)
    found = money(outcome, p, costs=law, scale=scale, per=12)
    assert found.cost.value == pytest.approx((smooth + single) / law.mass, rel=1e-7)
    assert found.scale == scale
    nobody = money(outcome, np.zeros(12), costs=law, scale=scale, per=12).cost.value
    assert found.gain.value == pytest.approx(nobody - found.cost.value, rel=1e-9)


def test_scales_of_money_agree_at_amounts_as_stated_and_a_factor_is_a_ratio():
    y, amount, models = priced()
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount)
    stated = money(outcome, models["a"])
    for scale in HELD:
        assert money(outcome, models["a"], costs=0.5, scale=scale).cost == stated.cost
    threefold, ratio = money(outcome, models["a"], factor=3), money(outcome, models["a"], costs=0.75)
    assert threefold.gain.value == pytest.approx(ratio.gain.value, rel=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"factor": 2, "costs": 0.4}, "factor= and costs= cannot both be given"),
        ({"costs": (0, 1)}, r'scale="false_negative" has no finite mean for Uniform.*towards a cost ratio of 1'),
        ({"costs": costs.Beta(1, 1)}, 'scale="false_negative" has no finite mean'),
        ({"costs": (0, 1), "scale": "false_positive"}, "false negatives cost infinitely more .* towards a cost ratio"),
        ({"costs": 1.0}, "has no finite mean"),
        ({"costs": costs.LogOddsUniform(0, 1)}, "costs must have a finite mass for a mean in money"),
        ({"scale": "regret"}, "scale must be"),
    ],
)
def test_ratios_without_a_mean_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        money(RowCosts([0, 1] * 20, false_positive=1, false_negative=2), [0.1, 0.5] * 20, **given)


PROFITS = [(0, 10, 0, -100), (-5, 10, 3, -100), (-300, -200, -1, -50), (-5, 1, 20, -300), (5, 10, 60, 40)]


def by_hand(y, p, matrix):
    """What each row costs by the cell of the matrix that its decision falls into, and what it costs if left alone."""
    tn, fp, fn, tp = matrix
    own, nobody = [], []
    for label, risk in zip(y, p, strict=True):
        act = risk * tp + (1 - risk) * fp <= risk * fn + (1 - risk) * tn
        own.append((tp if act else fn) if label else (fp if act else tn))
        nobody.append(fn if label else tn)
    return np.array(own, float), np.array(nobody, float)


@pytest.mark.parametrize("matrix", PROFITS)
def test_cost_and_gain_of_any_sign_are_those_of_the_cells(matrix):
    y, _, models = priced()
    outcome = RowCosts(y, matrix=matrix, unit="EUR")
    found = evaluate(outcome, models).money["a"]
    own, nobody = by_hand(y, models["a"], matrix)
    for part, values in ((found.cost, 1000 * own), (found.gain, 1000 * (nobody - own))):
        assert part.value == pytest.approx(values.mean(), rel=1e-12)
        assert part.standard_error == pytest.approx(values.std(ddof=1) / 20, rel=1e-12)
        low, high = part.interval
        assert part.note or low < values.mean() < high
    everybody = by_hand(y, np.ones(400), matrix)[0].mean() if matrix[3] < matrix[2] else np.nan
    least, who = min((nobody.mean(), "nobody"), (everybody, "everybody"))
    if least > 0:
        assert found.savings.value == pytest.approx(1 - own.mean() / least, rel=1e-12)
    else:
        assert np.isnan([found.savings.value, found.savings.standard_error, *found.savings.interval]).all()
        assert found.savings.note == f"savings need a cost to save, but acting on {who} costs {least:.4g} a row"
    alone = money(outcome, models["a"])
    assert (alone.cost, alone.gain) == (found.cost, found.gain)


@pytest.mark.parametrize("shift", [-200.0, -30.0, 45.0])
def test_what_every_cell_costs_more_moves_the_cost_alone(shift):
    """A cost that no decision changes: gain and all errors stay, whatever sign the cost then has."""
    y, _, models = priced()
    plain = money(RowCosts(y, matrix=(0.0, 10.0, 60.0, 20.0)), models["b"], per=1.0)
    moved = money(RowCosts(y, matrix=(shift, 10.0 + shift, 60.0 + shift, 20.0 + shift)), models["b"], per=1.0)
    assert (moved.gain.value, *moved.gain.interval) == pytest.approx((plain.gain.value, *plain.gain.interval), rel=1e-9)
    ends = [end + shift for end in plain.cost.interval]
    assert (moved.cost.value, *moved.cost.interval) == pytest.approx((plain.cost.value + shift, *ends), rel=1e-9)


@pytest.mark.parametrize("n", [60, 300])
def test_a_profit_is_a_cost_below_zero_with_the_interval_of_the_gain(n):
    """Where leaving everybody alone costs nothing the two are the same number."""
    y, _, models = priced(n)
    found = money(RowCosts(y, matrix=(0, 10, 0, -100)), models["a"], per=1.0)
    assert found.cost.value == -found.gain.value
    mirrored = [-end for end in found.gain.interval[::-1]]
    assert found.cost.interval == pytest.approx(mirrored, rel=1e-12, nan_ok=True)
    assert np.isfinite(mirrored).all() == (n == 300)
    assert found.cost.note == found.gain.note


@pytest.mark.parametrize("matrix", [(0, 10, 60, 0), (0, 10, 0, -100), (0, 1, 400, 20)])
@pytest.mark.parametrize("shift", [-500.0, 25.0])
def test_what_all_rows_cost_alike_carries_no_estimate(matrix, shift):
    y, _, models = priced(60)
    plain, moved = (
        money(RowCosts(y, matrix=tuple(cell + more for cell in matrix)), models["a"], per=1.0) for more in (0.0, shift)
    )
    assert (moved.cost.note, moved.gain.note) == (plain.cost.note, plain.gain.note)
    assert np.isnan(moved.cost.interval).tolist() == np.isnan(plain.cost.interval).tolist()


@pytest.mark.parametrize("label", [0, 1])
def test_rows_of_one_class_cost_and_gain_as_they_do(label):
    scores = np.array([0.9, 0.05, 0.02, 0.3, 0.1] * 20)  # acted on from 7 / (7 + 25) on: two in five
    outcome = RowCosts([label] * 100, false_positive=7, false_negative=25)
    found = money(outcome, scores, per=1.0)
    acted = np.mean(scores >= 7 / 32)
    assert acted == 0.4
    assert found.cost.value == pytest.approx(7 * acted if label == 0 else 25 * (1 - acted), rel=1e-12)
    assert found.gain.value == pytest.approx(-7 * acted if label == 0 else 25 * acted, rel=1e-12)
    assert np.isfinite([*found.cost.interval, *found.gain.interval]).all()
    assert np.isnan(found.savings.value)
    who = "everybody" if label else "nobody"
    assert found.savings.note == f"savings need a cost to save, but acting on {who} costs 0 a row"


def test_groups_of_one_class_have_money():
    y, amount, models = priced()
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount)
    found = evaluate(outcome, models["a"], groups=np.where(y, "fraud", "honest"))
    costs_of = {row.group: row.money.cost.value for row in found.groups}
    wrong = (models["a"] * amount >= (1 - models["a"]) * 7.0) != y
    for group, mine in (("fraud", y), ("honest", ~y)):
        cost = np.where(y, amount, 7.0)[mine & wrong].sum() / mine.sum()
        assert costs_of[group] == pytest.approx(1000 * cost, rel=1e-12)


def test_rows_set_aside_have_no_common_factor():
    outcome = RowCosts([0, 1, 1], false_positive=[5, -2, 5], false_negative=50, on_dominated="set_aside")
    with pytest.raises(ValueError, match=r"factor must be 1 where rows are set aside \(1\), and costs 1/2"):
        money(outcome, [0.1, 0.2, 0.3], costs=(0.3, 0.6))


def test_amounts_missing_where_nothing_is_known_count_for_nothing():
    labels, amount = np.array([1, np.nan, 0, 1, 0, 1] * 20), np.array([30.0, np.nan, 1.0, 20.0, 2.0, 10.0] * 20)
    outcome = RowCosts(PartlyVerified(labels, groups=[0] * 120), false_positive=5, false_negative=amount)
    assert np.isfinite(outcome.at_stake)
    assert np.isfinite(money(outcome, np.tile([0.2, 0.3], 60)).cost.value)


def test_groups_have_costs_per_unit_at_stake_and_money():
    y, amount, models = priced()
    group = np.arange(len(y)) % 3
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount, unit="EUR")
    found = evaluate(outcome, models, groups={"third": group})
    stake = np.where(y, amount, 7.0)
    wrong = (models["a"] * amount >= (1 - models["a"]) * 7.0) != y
    for row in found.groups.of("a"):
        mine = group == int(row.group)
        cost = stake[mine & wrong].sum()
        assert row.score == pytest.approx(cost / stake[mine].sum(), rel=1e-12)
        assert row.prevalence == pytest.approx(amount[mine & y].sum() / stake[mine].sum(), rel=1e-12)
        assert row.money.cost.value == pytest.approx(1000 * cost / mine.sum(), rel=1e-12)
        spread = np.where(wrong & mine, stake, 0.0) - mine * cost / mine.sum()
        up = len(y) / (len(y) - 1)
        error = np.sqrt(up * (spread @ spread)) / mine.sum()
        assert row.money.cost.standard_error == pytest.approx(1000 * error, rel=1e-12)
        assert np.isnan(row.auc)
    record = found.groups._records()[0]
    assert (record["unit"], record["cost"]) == ("EUR", found.groups[0].money.cost.value)
    alone = evaluate(
        RowCosts(y[group == 0], false_positive=7.0, false_negative=amount[group == 0]), models["a"][group == 0]
    )
    assert found.groups.of("a")[0].score == pytest.approx(alone.results[0].score, rel=1e-12)


def test_differences_are_per_unit_at_stake_and_say_so():
    y, amount, models = priced()
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount, unit="EUR")
    law = costs.LogOddsUniform(0.3, 0.6)
    found = evaluate(outcome, models, costs=law).compare("a", "b")
    assert found.scale == "regret per EUR at stake"
    alone = compare(outcome, models["a"], models["b"], costs=law)
    assert (alone.scale, alone.difference) == (found.scale, pytest.approx(found.difference, rel=1e-12))
    assert compare(y, models["a"], models["b"], costs=law).scale == "regret"
    with pytest.raises(ValueError, match="prevalence= does not fit amounts by row: weigh the rows instead"):
        compare(outcome, models["a"], models["b"], costs=law, prevalence=0.1)


def test_json_holds_money_on_every_scale():
    y, amount, models = priced()
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount, unit="EUR")
    found = evaluate(outcome, models, costs=costs.LogOddsUniform(0.3, 0.6))
    written = json.loads(found.to_json())
    assert {record["scale"] for record in written["money_over_costs"]} == set(HELD)
    by_scale = found.money_over_costs["sum"]["a"]
    mean = by_scale.cost.value / 1000 * len(y) / outcome.at_stake
    assert mean == pytest.approx(found["a"].score, rel=1e-12)  # the mean regret, in money
    assert not evaluate(outcome, models).money_over_costs


def test_picture_is_per_unit_at_stake_and_has_no_reliability():
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("matplotlib.pyplot")  # the import itself may warn
    y, amount, models = priced()
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount, unit="EUR")
    found = evaluate(outcome, models)
    figure = found.plot()
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == [
        "Regret per EUR at stake",
        "Gain over acting on nobody,\nper EUR at stake",
        "Discrimination (regret)",
    ]
    line = next(line for line in figure.axes[0].lines if line.get_label() == "a")
    assert np.interp(0.5, *line.get_data()) == pytest.approx(found["a"].score, rel=0.02)
    assert "EUR at stake" in figure.get_suptitle()


def test_evaluation_of_amounts_is_that_of_rows_with_these_weights():
    y, amount, models = priced()
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount)
    mapped = {name: outcome.scores(p) for name, p in models.items()}
    found = evaluate(outcome, models, costs=(0.3, 0.7), groups=np.arange(400) % 2)
    plain = evaluate(y, mapped, costs=(0.3, 0.7), sample_weight=outcome.weight, groups=np.arange(400) % 2)
    for ours, theirs in zip((*found.results, *found.groups), (*plain.results, *plain.groups), strict=True):
        assert ours.score == pytest.approx(2 * theirs.score, rel=1e-12)
        assert ours.standard_error == pytest.approx(2 * theirs.standard_error, rel=1e-12)
    gap, same = found.compare("a", "b"), plain.compare("a", "b")
    assert (gap.difference, gap.p_value) == pytest.approx((2 * same.difference, same.p_value), rel=1e-9)


def test_large_amounts_that_have_not_come_yet_decide_too():
    rng = np.random.default_rng(4)
    n = 1000
    y, p = np.arange(n) % 10 == 0, np.full(n, 0.1)
    even, huge = np.full(n, 20.0), np.full(n, 20.0)
    huge[rng.choice(np.flatnonzero(~y), 5, replace=False)] = 1e5  # none of them has been missed so far
    told = [money(RowCosts(y, false_positive=1, false_negative=amount), p) for amount in (even, huge)]
    assert [found.gain.value for found in told] == [pytest.approx(told[0].gain.value)] * 2
    assert np.isfinite(told[0].gain.interval).all()
    assert np.isnan(told[1].gain.interval).all()
    assert "rows decide: an interval needs 12" in told[1].gain.note
    missed = np.where(y, 0.05, 1e-6)  # nobody is acted on
    found = [evaluate(RowCosts(y, false_positive=9, false_negative=a), missed).findings for a in (even, huge)]
    said = [[each.sentence for each in one if each.code == "few-amounts-decide"] for one in found]
    assert said[0] == []
    assert said[1][0].startswith("A few large amounts, among mistakes made or still to come, decide")


def streamed(outcome, p):
    """Money by sums over rows that are looked at twice."""
    law = law_of(outcome, costs.Fixed(0.5), "false_negative")
    sums = MoneySums([law], 1)
    sums.add(outcome, [outcome.scores(p)])
    sums.spread(outcome, [outcome.scores(p)], 1.0)
    return sums.money(0, 0, 1.0, outcome.unit, 0.95)


@pytest.mark.parametrize("unit", [1.0, 1e-3, 0.7, 1e6])
@pytest.mark.parametrize("total", [money, streamed])
def test_savings_are_over_nobody_where_acting_on_everybody_costs_the_same_in_any_unit(total, unit):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1], [70, 30]))  # 70 times 3 is 30 times 7
    p = np.clip(0.4 * y + 0.6 * rng.random(100), 0.0, 1.0)
    own, nobody = by_hand(y, p, (0, 3, 7, 0))
    share = own.mean() / nobody.mean()
    error = (own - share * nobody).std(ddof=1) / 10 / nobody.mean()
    found = total(RowCosts(y, false_positive=3 * unit, false_negative=7 * unit), p).savings
    assert (found.value, found.standard_error) == pytest.approx((1 - share, error), rel=1e-9)


@pytest.mark.parametrize("unit", [1.0, 0.1, 0.7, 3e-9])
@pytest.mark.parametrize("total", [money, streamed])
def test_gains_that_make_up_for_losses_leave_no_cost_to_save_in_any_unit(total, unit):
    y, p = np.arange(100) % 7 == 0, np.random.default_rng(0).random(100)
    for seed in range(4):
        nothing = np.random.default_rng(seed).permutation(np.repeat([-1, 3], [75, 25]))
        cells = [unit * (nothing + more) for more in (0, 1, 0, -2)]
        found = total(RowCosts(y, matrix=tuple(cells)), p).savings
        assert np.isnan([found.value, *found.interval]).all()
        assert found.note == "savings need a cost to save, but acting on nobody costs 0 a row"
    # a cost is one however much less it is than that of the other decision
    rare = np.arange(100) < 50
    found = total(RowCosts(rare, false_positive=unit, false_negative=unit * 1e15), np.full(100, 0.9)).savings
    assert found.value == pytest.approx(0.0)


def kish(sizes):
    """How many equal amounts are as uneven."""
    return np.abs(sizes).sum() ** 2 / (sizes**2).sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_decide_are_counted_by_what_each_would_cost_as_a_negative_and_as_a_positive(weighted):
    """Whatever right decisions cost: from the cells of each row, those seen and those to expect."""
    told = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y, p = rng.random(60) < 0.3, rng.random(60)
        tn, tp = rng.normal(0.0, 20.0, (2, 60)) * (rng.random((2, 60)) < 0.5)
        fp, fn = tn + rng.lognormal(1.0, 1.0, 60), tp + rng.lognormal(2.0, 1.0, 60)
        weight = rng.integers(1, 4, 60).astype(float) if weighted else np.ones(60)
        act, mean = p * (fn - tp) >= (1 - p) * (fp - tn), partial(np.average, weights=weight)
        own, nobody, everybody = (
            np.array([np.where(y, one, other), other, one])  # as it is, as a negative and as a positive
            for one, other in ((np.where(act, tp, fn), np.where(act, fp, tn)), (fn, tn), (tp, fp))
        )
        best = min((nobody, everybody), key=lambda cells: mean(cells[0]))
        values = {"cost": own - mean(tn), "gain": nobody - own}
        if mean(best[0]) > 0:
            values["savings"] = mean(own[0]) / mean(best[0]) * best - own
        found = money(RowCosts(y, matrix=(tn, fp, fn, tp), sample_weight=weight), p, per=1)
        for name, lines in values.items():
            borne, *either = lines * weight
            seen = max((borne[~y], borne[y]), key=lambda mine: (mine**2).sum())
            expected = []
            for mine, each in zip((~y, y), either, strict=True):
                share = (np.count_nonzero(each[mine]) + 1) / (np.count_nonzero(each) + 1)
                expected.append((share * (each**2).sum(), share * kish(each)))
            rows, part = (kish(seen), max(expected)[1]), getattr(found, name)
            decide = re.search(r"about (\d+) rows decide", part.note)
            told += decide is not None
            assert decide is None or int(decide[1]) == round(min(rows)), (seed, name)
            if rows[0] < 8 or rows[1] < 12:
                assert part.note == f"the amounts of about {min(rows):.0f} rows decide: an interval needs 12"
                assert np.isnan(part.interval).all()
            else:
                assert "rows decide: an interval" not in part.note
    assert told > 12


@pytest.mark.parametrize("followed", [False, True])
def test_the_best_of_several_by_amount_is_that_of_the_evaluation_and_of_rows_with_these_weights(followed):
    y, amount, models = priced()
    rng = np.random.default_rng(5)
    time, left = np.where(y, 0.5, 2.0), rng.exponential(3.0, len(y))
    labels = TimeToEvent(event=time <= left, time=np.minimum(time, left), horizon=1.0) if followed else y
    outcome = RowCosts(labels, false_positive=7.0, false_negative=amount, unit="EUR")
    found = select_best(outcome, models, costs=0.5)
    evaluated = evaluate(outcome, models).selection
    assert found.unit == "EUR at stake"
    assert found.costs == pytest.approx(evaluated.costs, rel=1e-12)
    assert found.interval == pytest.approx(evaluated.interval, rel=1e-9)
    assert (found.chosen, found.possible) == (evaluated.chosen, evaluated.possible)
    if not followed:
        mapped = {name: p * amount / (p * amount + (1 - p) * 7.0) for name, p in models.items()}
        weighed = select_best(y, mapped, costs=0.5, unit_cost=2.0, sample_weight=np.where(y, amount, 7.0))
        assert found.costs == pytest.approx(weighed.costs, rel=1e-12)
        assert found.interval == pytest.approx(weighed.interval, rel=1e-9)
    with pytest.raises(ValueError, match="unit_cost= does not fit amounts by row"):
        select_best(outcome, models, costs=0.5, unit_cost=3.0)


def test_what_rows_count_by_is_said_after_what_weighs_them_already():
    rows = {"event": [1, 0, 1, 0], "time": [1.0, 3.0, 1.0, 1.0], "horizon": 2.0}
    amounts = {"false_positive": 1.0, "false_negative": [9.0, 9.0, 5.0, 5.0], "unit": "EUR"}
    plain, followed = RowCosts([0, 1, 0, 1], **amounts).about, RowCosts(TimeToEvent(**rows), **amounts).about
    assert plain == "rows weighted by EUR at stake"
    assert followed.endswith("rows weighted for censoring and by EUR at stake")


@pytest.mark.parametrize(("sigma", "given"), [(0.7, True), (1.5, False)])
def test_interval_of_amounts_is_withheld_where_their_spread_asks_for_more_rows(sigma, given):
    rng = np.random.default_rng(9)
    p = expit(-2.2 + rng.normal(0.0, 1.0, 1000))
    outcome = RowCosts(rng.random(1000) < p, false_positive=10.0, false_negative=rng.lognormal(4.0, sigma, 1000))
    gain = money(outcome, p).gain
    assert np.isfinite(gain.interval).all() == given
    assert (re.search(r"amounts as uneven as these need about [\d,]+ rows", gain.note) is None) == given


@pytest.mark.parametrize("sigma", [0.3, 1.0, 1.5])
def test_skewness_by_quantiles_is_that_of_the_lognormal_distribution(sigma):
    law = lognorm(sigma, scale=50.0)
    amounts = law.ppf((np.arange(200_000) + 0.5) / 200_000)
    amount = np.tile(amounts[::100], 2)
    found = to_expect(np.repeat([0, 1], 2000), (np.zeros(4000), amount), (amount, amount))
    assert found.needed == pytest.approx(float(law.stats("s")) ** 2, rel=0.05)
    assert (found.rows, found.effective) == pytest.approx(
        (2000, 2000 * np.mean(amount) ** 2 / np.mean(amount**2)), rel=1e-3
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_expected_regret_of_amounts_without_costs_is_that_of_every_decision(weighted):
    y, amount, models = priced(50)
    p, weight = models["b"], np.arange(50) % 4 if weighted else np.ones(50)
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount, sample_weight=weight)
    wanted = 0.0
    for k in range(50):
        act = p[k] * amount[k] >= (1 - p[k]) * 7.0
        wanted += weight[k] * (7.0 if act and not y[k] else amount[k] if y[k] and not act else 0.0)
    assert expected_regret(outcome, p) == pytest.approx(wanted / weight.sum(), rel=1e-12)
    assert expected_regret(outcome, p, per=1000) == pytest.approx(money(outcome, p).cost.value, rel=1e-12)
    full = RowCosts(y, matrix=(1.0, 8.0, 2.0 + amount, 2.0), sample_weight=weight)
    assert expected_regret(full, p) == pytest.approx(wanted / weight.sum(), rel=1e-12)
    assert expected_regret(full, p) == pytest.approx(money(full, p, per=1).cost.value - full.base / weight.sum())


def test_expected_regret_without_costs_needs_amounts_and_takes_no_other_unit():
    y, amount, models = priced(50)
    with pytest.raises(TypeError, match="expected_regret needs costs="):
        expected_regret(y, models["a"])
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount)
    for beside in ({"scale": "loss"}, {"deferral": 0.1}, {"unit_cost": 5.0}):
        with pytest.raises(ValueError, match=f"{next(iter(beside))}= does not fit amounts as stated"):
            expected_regret(outcome, models["a"], **beside)


def test_columns_of_amounts_are_those_of_an_outcome():
    frame = pytest.importorskip("polars").DataFrame
    y, amount, models = priced(200)
    data = frame({"y": y, "amount": amount, "a": models["a"]})
    found = evaluate_frame(data, label="y", false_positive=15, false_negative="amount", unit="EUR")
    assert found.models == ("a",)
    outcome = RowCosts(y, false_positive=15, false_negative=amount, unit="EUR")
    assert found.money == {"a": money(outcome, models["a"])}
    told = OutcomeColumns(false_positive=15, false_negative="amount", unit="EUR")
    assert evaluate_frame(data, label="y", outcome=told).money == found.money
    with pytest.raises(ValueError, match="false_positive= and false_negative= belong together"):
        evaluate_frame(data, label="y", false_negative="amount")
    with pytest.raises(ValueError, match="false_negative= and outcome= cannot both be given"):
        evaluate_frame(data, label="y", false_negative="amount", outcome=told)
    with pytest.raises(ValueError, match="needs time="):
        evaluate_frame(data, label="y", unit="EUR")


def test_one_default_says_for_how_many_rows_money_is():
    y, amount, models = priced(200)
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount)
    per_row = money(outcome, models["a"], per=1).cost.value
    assert money(outcome, models["a"]).cost.value == pytest.approx(1000 * per_row)
    assert money(outcome, models["a"], per="total").cost.value == pytest.approx(200 * per_row)
    weighted = RowCosts(y, false_positive=7.0, false_negative=amount, sample_weight=np.full(200, 0.5))
    assert money(weighted, models["a"], per="total").cost.value == pytest.approx(100 * per_row)
    assert evaluate(outcome, models["a"]).money["model"] == money(outcome, models["a"])
    with pytest.raises(ValueError, match='per must be "total" or a finite number > 0'):
        money(outcome, models["a"], per="all")
    with pytest.raises(ValueError, match="per must be"):
        money(outcome, models["a"], per=np.array([[0.1, 0.2]]))


@pytest.mark.parametrize(("per", "rows"), [(None, 1000.0), (1, 1.0), (250, 250.0), ("total", None)])
def test_money_is_for_the_rows_asked_for_in_every_place(per, rows):
    y, amount, models = priced(200)
    weight = np.where(np.arange(200) % 4, 1.0, 3.0)
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount, sample_weight=weight, unit="EUR")
    asked = {} if per is None else {"per": per}
    wrong = (models["a"] * amount >= (1 - models["a"]) * 7.0) != y
    lost = weight * wrong * np.where(y, amount, 7.0)
    part = np.arange(200) % 2
    found = evaluate(outcome, models["a"], groups=part, costs=(0.4, 0.6), **asked)
    size = weight.sum() if rows is None else rows
    assert found.money["model"].per == size
    assert found.money["model"].cost.value == pytest.approx(size * lost.sum() / weight.sum(), rel=1e-12)
    assert found.money["model"] == money(outcome, models["a"], **asked)
    over = money(outcome, models["a"], costs=(0.4, 0.6), scale="sum", **asked)
    assert found.money_over_costs["sum"]["model"] == over
    for group in found.groups:
        mine = part == int(group.group)
        whole = weight[mine].sum()
        each = (whole if rows is None else rows) * lost[mine].sum() / whole
        assert group.money.cost.value == pytest.approx(each, rel=1e-12)
    words = {None: "per 1,000 rows", 1: "per row", 250: "per 250 rows", "total": "in total"}[per]
    page = render_report(found)
    assert f"Cost and gain of each model, EUR {words}" in page
    assert f"cost and gain {words} are with amounts as stated" in page
    assert f"Cost {words}" in page
    assert {record["per"] for record in json.loads(found.to_json())["money"]} == {size}


def test_the_total_is_for_amounts_alone():
    y, amount, models = priced(200)
    with pytest.raises(ValueError, match=r'per="total" is for amounts by row, whose costs are money'):
        evaluate(y, models["a"], per="total")
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount)
    with pytest.raises(ValueError, match='per must be "total" or a finite number > 0, got 0'):
        evaluate(outcome, models["a"], per=0)
    with pytest.raises(ValueError, match=r'per= of amounts by row needs rule="score", .* got 0.3'):
        evaluate(outcome, models["a"], per="total", rule=0.3)


def test_a_prevalence_beside_amounts_is_refused_everywhere():
    # reweighted by what is at stake, the prevalence is a share of money: 26.40 for .1, where 3.25 is due
    y, p = [0, 1, 0, 1], [0.02, 0.3, 0.2, 0.1]
    amounts = {"false_positive": 5, "false_negative": [100, 200, 50, 20]}
    outcome = RowCosts(y, **amounts)
    table, decision = ScoreTable.from_predictions(outcome, p), {"costs": (0.1, 0.3), "prevalence": 0.1}
    calls = [
        lambda: expected_regret(outcome, p, prevalence=0.1),
        lambda: expected_regret(table, **decision),
        lambda: net_benefit_score(outcome, p, threshold=0.3, prevalence=0.1),
        lambda: metric_interval(outcome, p, "expected_regret", **decision),
        lambda: metric_difference(outcome, p, p[::-1], "expected_regret", **decision),
        lambda: decompose(outcome, p, **decision),
        lambda: regret_curve(outcome, p, prevalence=0.1),
        lambda: net_benefit_curve(outcome, p, prevalence=0.1),
        lambda: confidence_band(outcome, p, "regret", prevalence=0.1),
        lambda: difference_band(outcome, p, p[::-1], "regret", prevalence=0.1),
        lambda: table.with_prevalence(0.1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="prevalence= does not fit amounts by row: weigh the rows instead"):
            call()
    # one false alarm of 5, one missed event of 20, weighed by hand to one event in ten
    weighed = RowCosts(y, **amounts, sample_weight=[1.8, 0.2, 1.8, 0.2])
    assert expected_regret(weighed, p) == pytest.approx((1.8 * 5 + 0.2 * 20) / 4)
