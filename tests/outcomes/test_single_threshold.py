"""One threshold for rows with amounts of their own: its cost by definition, and how optimistic its choice is."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from stakes import RowCosts, TimeToEvent, money, threshold_table


def priced(n, seed, *, tied=False):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 6, n)
    y = rng.random(n) < p
    y[:2], p = [True, False], np.round(p, 1) if tied else p
    return y, p, rng.lognormal(4, 1, n), rng.uniform(5, 25, n), rng.integers(0, 4, n).astype(float)


def cost_at(threshold, y, p, loss, check, weight):  # noqa: PLR0917
    """Decide row by row, and add up what every decision costs."""
    total = 0.0
    for k in range(len(y)):
        act = p[k] >= threshold
        total += weight[k] * (loss[k] if y[k] and not act else check[k] if act and not y[k] else 0.0)
    return total


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_cost_of_every_threshold_is_that_of_every_decision(tied, weighted):
    y, p, loss, check, weight = priced(60, 3, tied=tied)
    weight = weight if weighted else np.ones(60)
    outcome = RowCosts(y, false_positive=check, false_negative=loss, sample_weight=weight if weighted else None)
    table = threshold_table(outcome, p)
    assert table.threshold.tolist() == sorted(set(p[weight > 0].tolist()))
    wanted = [cost_at(t, y, p, loss, check, weight) for t in table.threshold]
    assert table.cost == pytest.approx(wanted, rel=1e-12)
    chosen = threshold_table(outcome, p, thresholds=[0.3, 0.05], per=1000)
    wanted = [1000 / weight.sum() * cost_at(t, y, p, loss, check, weight) for t in (0.3, 0.05)]
    assert chosen.cost == pytest.approx(wanted, rel=1e-12)
    assert chosen.tp + chosen.fp + chosen.fn + chosen.tn == pytest.approx([1000, 1000])
    acted = p >= 0.3
    assert chosen.tp[0] == pytest.approx(1000 * weight[acted & y].sum() / weight.sum())


@pytest.mark.parametrize("seed", range(6))
def test_the_best_is_the_cheapest_of_all_thresholds_and_of_acting_on_nobody(seed):
    y, p, loss, check, _ = priced(40, seed, tied=seed % 2 == 1)
    outcome = RowCosts(y, false_positive=check * (30 if seed == 5 else 1), false_negative=loss, unit="EUR")
    best = threshold_table(outcome, p).best
    check = outcome.false_positive
    every = {t: cost_at(t, y, p, loss, check, np.ones(40)) for t in (*p.tolist(), np.inf)}
    assert best.cost == pytest.approx(min(every.values()), rel=1e-12)
    assert every[best.threshold] == pytest.approx(best.cost, rel=1e-12)
    assert best.none == pytest.approx(every[np.inf])
    assert best.every == pytest.approx(cost_at(-1.0, y, p, loss, check, np.ones(40)))
    assert best.unit == "EUR"
    assert best.optimism == best.held_out_cost - best.cost


def test_acting_on_nobody_is_the_best_where_every_alarm_is_dearer_than_every_miss():
    y = np.arange(40) % 2 == 0
    best = threshold_table(RowCosts(y, false_positive=100.0, false_negative=1.0), np.arange(40) / 40.0).best
    assert (best.threshold, best.cost, best.none) == (np.inf, 20.0, 20.0)


def test_right_decisions_that_cost_something_are_counted_as_in_money():
    y, p, loss, check, _ = priced(200, 8)
    outcome = RowCosts(y, matrix=(1.0, 1.0 + check, 2.0 + loss, 2.0))
    nobody = money(outcome, np.zeros(200), per=200).cost.value
    table = threshold_table(outcome, p)
    assert table.best.none == pytest.approx(nobody, rel=1e-12)
    assert table.cost[0] == pytest.approx(money(outcome, np.ones(200), per=200).cost.value, rel=1e-12)


def test_censored_rows_count_by_their_weight():
    _, p, loss, check, _ = priced(80, 4)
    rng = np.random.default_rng(4)
    time, event = rng.exponential(3, 80), rng.integers(0, 2, 80)
    inner = TimeToEvent(event=event, time=time, horizon=2.0)
    table = threshold_table(RowCosts(inner, false_positive=check, false_negative=loss), p, thresholds=[0.2])
    assert table.cost[0] == pytest.approx(cost_at(0.2, inner.y, p, loss, check, inner.weight), rel=1e-12)


def test_a_picture_of_rates_by_threshold_still_refuses_amounts():
    pytest.importorskip("matplotlib")
    from stakes.display import ThresholdDisplay

    y, p, loss, check, _ = priced(30, 1)
    with pytest.raises(ValueError, match="amounts, not probabilities"):
        ThresholdDisplay.from_predictions(RowCosts(y, false_positive=check, false_negative=loss), p)


def test_what_does_not_fit_amounts_is_refused():
    y, p, loss, check, _ = priced(30, 1)
    outcome = RowCosts(y, false_positive=check, false_negative=loss)
    for beside in ({"costs": 0.1}, {"prevalence": 0.1}, {"sample_weight": np.ones(30)}, {"pos_label": True}):
        with pytest.raises(ValueError, match=f"{next(iter(beside))}= does not fit amounts by row"):
            threshold_table(outcome, p, **beside)
    with pytest.raises(ValueError, match="same length"):
        threshold_table(outcome, p[:-1])
    loss[3] = -1.0
    aside = RowCosts(y, false_positive=check, false_negative=loss, on_dominated="set_aside")
    with pytest.raises(ValueError, match="1 rows are set aside"):
        threshold_table(aside, p)
    with pytest.raises(ValueError, match="best needs amounts by row"):
        _ = threshold_table(y, p).best


def test_with_one_row_of_a_class_nothing_is_held_out():
    outcome = RowCosts([0, 0, 1], false_positive=1, false_negative=9)
    assert np.isnan(threshold_table(outcome, [0.1, 0.2, 0.3]).best.held_out_cost)
    with pytest.warns(UndefinedMetricWarning):
        assert threshold_table(RowCosts([1, 1], false_positive=1, false_negative=9), [0.1, 0.2]).best.cost == 0.0


def test_the_frame_of_amounts_has_their_cost_and_no_cost_ratio():
    pytest.importorskip("polars")
    y, p, loss, check, _ = priced(300, 2)
    table = threshold_table(RowCosts(y, false_positive=check, false_negative=loss), p)
    columns = table.frame().columns
    assert "cost" in columns
    assert not {"cost_ratio", "regret", "net_benefit"} & set(columns)
    assert "60 of 300 thresholds" in table._repr_html_()
    assert "cost" in table._repr_html_()


@pytest.mark.simulation
def test_held_out_cost_is_that_of_new_rows_and_cost_in_sample_is_below_it():
    # y given p is Bernoulli(p) and amounts are independent of both: means of 15 and exp(4.5) say the true cost
    q = np.random.default_rng(10**6).beta(1, 6, 20_000)
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        p = rng.beta(1, 6, 200)
        y, loss, check = rng.random(200) < p, rng.lognormal(4, 1, 200), rng.uniform(5, 25, 200)
        best = threshold_table(RowCosts(y, false_positive=check, false_negative=loss), p, per=1).best
        true = np.where(q >= best.threshold, (1 - q) * 15.0, q * np.exp(4.5)).mean()
        found.append((best.cost - true, best.held_out_cost - true))
    inside, outside = np.array(found).T
    assert abs(outside.mean()) < 4 * outside.std() / 20
    assert inside.mean() < -8 * inside.std() / 20
