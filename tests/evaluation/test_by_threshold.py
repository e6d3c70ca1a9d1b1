"""What costs least on average is said to do so at every threshold only where that is shown; else, where it does not."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from stakes import ScoreTable, costs, evaluate
from stakes.core.score_table import regret_at
from stakes.evaluation import _standings as _by_threshold
from stakes.evaluation._standings import _dominates, _stretches
from stakes.inference import PairedRows, difference_band, dominance, reached, shown_band, shown_less


def forecasts(n, seed=0):
    """A sharp calibrated model, a blunt calibrated one, and the labels."""
    known, hidden = np.random.default_rng(seed).normal(size=(2, n))
    y = np.random.default_rng(seed + 1).random(n) < expit(2.5 * known + 0.3 * hidden)
    nodes = expit(2.5 * known[:, None] + 0.3 * np.array([-1.7, 0.0, 1.7]))
    return y, nodes @ [1 / 6, 2 / 3, 1 / 6], np.full(n, 0.5) + 0.05 * np.sign(known)


def codes(evaluation):
    return evaluation.findings.codes


@pytest.fixture(scope="module")
def pair(load_data):
    data = load_data("bcsc_predictions/bcsc_predictions")
    return evaluate(data["cancer"], data[["xgboost_2pct", "logistic_+_density"]], costs=(0.02, 0.1))


def test_the_range_of_a_headline_is_an_average_and_says_where_another_model_costs_less(pair):
    # the band of these two at 95%: xgboost_2pct costs less from 2.0% to 2.3%, more from 3.3% on
    assert pair.conclusion[0] == "Treat no one: no model is shown to cost less."
    assert not any("at every threshold" in sentence for sentence in pair.conclusion)
    (found,) = [f for f in pair.findings if f.code == "curves-cross"]
    assert found.sentence == (
        "logistic_+_density and treating no one cost least on average over the range, not at every threshold: "
        "xgboost_2pct is shown to cost less from 2% to 2.27%, logistic_+_density and treating no one from 3.47% to 10%."
    )
    assert found.evidence["from"] == {"xgboost_2pct": 0.02}
    assert found.models == ("logistic_+_density", "xgboost_2pct")


def test_of_many_that_cost_less_somewhere_three_are_named_and_the_others_counted():
    rng = np.random.default_rng(0)
    p = expit(2.5 * rng.normal(size=20_000) - 0.5)
    y = rng.random(len(p)) < p
    # one model knows the high risks alone, five know the low ones
    models = {"a": np.where(p > 0.35, p, p[p <= 0.35].mean())}
    for k in range(5):
        low = np.clip(p + 0.002 * k * rng.normal(size=len(p)), 1e-4, 0.35)
        models[f"b{k}"] = np.where(p <= 0.35, low, p[p > 0.35].mean())
    result = evaluate(y, models, costs=(0.05, 0.8))
    assert result.best.name == "a"
    assert set(result.by_threshold.dearer) == {f"b{k}" for k in range(5)}
    assert list(result.by_threshold.bands) == list(result.by_threshold.dearer[:3])
    (found,) = [f for f in result.findings if f.code == "curves-cross"]
    assert found.sentence.endswith("; so are 2 others somewhere.")


def test_every_threshold_is_said_where_curves_and_band_agree():
    y, sharp, blunt = forecasts(4000)
    result = evaluate(y, {"sharp": sharp, "blunt": blunt}, costs=(0.3, 0.45))
    said = "sharp costs less than every other, at every threshold of the range."
    assert f"Shown (95%, all at once): {said}" in result.conclusion
    assert "curves-cross" not in codes(result)
    grid = np.linspace(0.3, 0.45, 1001)
    costs_at = [regret_at(table, grid, "score") for table in result.score_tables]
    assert np.all(costs_at[0] < costs_at[1])


def test_every_threshold_is_not_said_of_few_rows_or_where_the_decisions_are_the_same_somewhere():
    y, sharp, blunt = forecasts(60)
    few = evaluate(y, {"sharp": sharp, "blunt": blunt}, costs=(0.3, 0.45))
    assert few.best.name == "sharp"
    assert "blunt" not in few.by_threshold.everywhere
    y, sharp, _ = forecasts(4000)
    alike = np.where(sharp > 0.3, sharp, 0.01)  # the same decisions from 30% on
    same = evaluate(y, {"sharp": sharp, "alike": alike}, costs=(0.05, 0.35))
    assert same.by_threshold.less["alike"][:10].all()
    assert "alike" not in same.by_threshold.everywhere


def test_a_rule_that_beats_the_best_somewhere_is_named_with_its_stretch():
    y, sharp, _ = forecasts(4000)
    timid = np.where(sharp < 0.5, 0.01, sharp)
    result = evaluate(y, timid, costs=(0.05, 0.8))
    (found,) = [f for f in result.findings if f.code == "curves-cross"]
    assert found.sentence.startswith("model costs least on average over the range, not at every threshold: treating ")
    assert "everyone is shown to cost less from 5%" in found.sentence
    assert 0.1 < found.evidence["to"]["treat all"] < 0.5


@pytest.mark.parametrize(
    "options",
    [{"costs": 0.3}, {"costs": (0.1, 0.3), "rule": "optimal"}, {"costs": (0.1, 0.3), "clusters": np.arange(400) // 2}],
    ids=["one threshold", "fitted", "clusters"],
)
def test_where_no_band_can_be_given_nothing_is_said(options):
    y, sharp, blunt = forecasts(400)
    result = evaluate(y, {"sharp": sharp, "blunt": blunt}, **options)
    assert result.by_threshold is None
    assert not any("at every threshold" in sentence for sentence in result.conclusion)


def test_thresholds_follow_the_weighting():
    y, sharp, blunt = forecasts(400)
    result = evaluate(y, {"a": sharp, "b": blunt}, costs=costs.LogOddsUniform(0.001, 0.5))
    odds = result.by_threshold.thresholds / (1 - result.by_threshold.thresholds)
    assert np.allclose(odds[1:] / odds[:-1], (1.0 / (0.001 / 0.999)) ** (1 / 60))
    whole = evaluate(y, {"a": sharp, "b": blunt}).by_threshold.thresholds
    assert (whole[0], whole[-1]) == (1 / 60, 1.0)


def test_deployed_threshold_is_compared_as_it_decides():
    y, sharp, blunt = forecasts(4000)
    result = evaluate(y, {"sharp": sharp, "blunt": blunt}, costs=(0.3, 0.45), rule=0.4)
    acted = sharp >= 0.4
    for name, other in (("treat all", np.ones(4000)), ("treat none", np.zeros(4000))):
        band = difference_band(y, acted * 1.0, other, "regret", thresholds=result.by_threshold.thresholds)
        assert np.all(band.simultaneous_high[result.by_threshold.less[name]] < 0.0)


def test_shown_is_what_the_band_of_the_difference_leaves_beyond_zero():
    y, sharp, blunt = forecasts(1000)
    points = np.linspace(0.05, 0.9, 40)
    band = difference_band(y, sharp, blunt, "regret", thresholds=points, confidence_level=0.99)
    bins = reached(sharp, points), reached(blunt, points)
    (less,), (more,) = shown_less(PairedRows(y, [], None), bins, points, 0.99)
    assert less.tolist() == (band.simultaneous_high < 0.0).tolist()
    assert more.tolist() == (band.simultaneous_low > 0.0).tolist()
    assert less.any()


def test_thresholds_that_err_together_are_not_charged_as_if_they_erred_apart():
    y, sharp, blunt = forecasts(4000)
    points = np.linspace(0.3, 0.7, 40)
    rows, bins = PairedRows(y, [], None), (reached(sharp, points), reached(blunt, points))
    band = shown_band(rows, bins, points, 0.95, shared=0.95, name="sharp - blunt")
    # the largest of correlated normal errors, from the losses of the rows
    acts = [score[:, None] >= points for score in (sharp, blunt)]
    losses = [np.where(y[:, None], (1.0 - points) * ~act, points * act) for act in acts]
    correlation = np.corrcoef(losses[0] - losses[1], rowvar=False)
    drawn = np.random.default_rng(9).multivariate_normal(np.zeros(40), correlation, 50_000, method="eigh")
    expected = np.quantile(np.abs(drawn).max(axis=1), 0.95)
    assert expected < norm.isf(0.025 / 40) - 0.1
    assert band.critical_value == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("missed", [0.5, 0.05, 1e-4, 1e-6, 1e-9])
def test_bands_hold_at_thresholds_that_err_apart_also_at_levels_that_many_models_need(missed):
    """Each threshold is told by rows of its own: the largest of independent normal errors has a closed form."""
    points, each = np.linspace(0.1, 0.9, 5), 200
    of = np.repeat(np.arange(5), each)
    y = np.tile(np.arange(each), 5) < np.repeat(points * each, each).round()  # acting or not costs as much
    rows, bins = PairedRows(y, [], None), (of + 1, of)
    band = shown_band(rows, bins, points, 0.95, shared=1.0 - missed, name="a - b")
    assert band.critical_value == pytest.approx(norm.isf((1.0 - (1.0 - missed) ** 0.2) / 2.0), abs=0.02)
    assert band.estimate == pytest.approx(np.zeros(5), abs=1e-15)
    for beyond in (0.999, 1.001):  # a harm moves both limits
        (less,), _ = shown_less(rows, bins, points, 1.0 - missed, more=-beyond * band.simultaneous_high)
        _, (more,) = shown_less(rows, bins, points, 1.0 - missed, more=-beyond * band.simultaneous_low)
        assert less.tolist() == more.tolist() == [beyond > 1.0] * 5


def test_more_models_tried_make_fewer_claims():
    y, sharp, blunt = forecasts(600)
    models = {"sharp": sharp, "blunt": blunt}
    few, many = (evaluate(y, models, costs=(0.2, 0.7), n_tried=n).by_threshold for n in (2, 200))
    assert many.less["blunt"].sum() < few.less["blunt"].sum()


def two_kinds_of_rows(seed, low, high, n=3000):
    """Rows with risks below 12% and above 16%; (a, b) say how much two calibrated models know of each kind's risks."""
    rng = np.random.default_rng(seed)
    rare = rng.random(n) < 0.5
    own = rng.uniform(-1.0, 1.0, size=(2, n))
    centre, reach = np.where(rare, 0.06, 0.3), np.where(rare, 0.03, 0.06)
    known = np.where(rare[None], np.array(low)[:, None], np.array(high)[:, None])
    y = rng.random(n) < centre + reach * (known * own).sum(axis=0)
    models = centre + reach * known * own
    return y, {"a": models[0], "b": models[1]}


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("low", "high", "truth"),
    [
        ((1.0, 1.0), (2.0, 0.0), "equal below 12%"),
        ((0.0, 1.9), (2.0, 0.0), "crossing"),
        ((1.0, 1.0), (1.0, 1.0), "equal"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_claims_over_a_range_are_seldom_false(low, high, truth):
    every = somewhere = 0
    for seed in range(20):
        y, models = two_kinds_of_rows(seed, low, high)
        found = evaluate(y, models, costs=(0.02, 0.5)).by_threshold
        every += not {"a", "b"}.isdisjoint(found.everywhere)
        somewhere += truth != "crossing" and not {"a", "b"}.isdisjoint(found.dearer)
    assert every == 0
    assert somewhere <= 1


def test_curves_that_cross_are_found_on_enough_rows():
    y, models = two_kinds_of_rows(1, (0.0, 1.9), (2.0, 0.0), n=200_000)
    result = evaluate(y, models, costs=(0.02, 0.5))
    (found,) = [f for f in result.findings if f.code == "curves-cross"]
    assert found.sentence.startswith("a costs least on average over the range, not at every threshold: b is shown to ")
    assert 0.02 <= found.evidence["from"]["b"] < found.evidence["to"]["b"] <= 0.12


def test_difference_where_curves_cross_has_the_band_that_the_finding_speaks_of(pair):
    (band,) = pair.crossing.values()
    chosen, (rival,) = pair.selection.chosen, pair.crossing
    assert (chosen, rival) == ("treat none", "xgboost_2pct")
    t, table = band.thresholds, pair.score_tables[0]
    expected = (1 - t) * pair.prevalence - regret_at(table, t, "score")
    assert np.allclose(band.estimate, expected, atol=1e-15)
    assert (band.simultaneous_low > 0).tolist() == pair.by_threshold.more[rival].tolist()
    assert (band.simultaneous_high < 0).tolist() == pair.by_threshold.less[rival].tolist()
    assert np.all((band.simultaneous_low < band.low) & (band.high < band.simultaneous_high))


def test_no_difference_is_drawn_where_no_curves_cross():
    y, sharp, blunt = forecasts(400)
    assert evaluate(y, {"sharp": sharp, "blunt": blunt}, costs=(0.3, 0.45)).crossing == {}
    assert evaluate(y, sharp, costs=0.3).crossing == {}


def test_nothing_is_said_of_single_thresholds_where_rows_of_a_class_weigh_unalike():
    y, sharp, blunt = forecasts(4000)
    models, by_class = {"sharp": sharp, "blunt": blunt}, np.where(y, 3.0, 1.0)
    weighted = evaluate(y, models, costs=(0.3, 0.45), sample_weight=by_class * np.resize([1.0, 2.0], len(y)))
    assert weighted.by_threshold is None
    assert not any("at every threshold" in sentence for sentence in weighted.conclusion)
    assert evaluate(y, models, costs=(0.3, 0.45), sample_weight=by_class).by_threshold is not None


@pytest.mark.parametrize(
    "points",
    [
        np.linspace(0.02, 0.1, 61),
        np.linspace(0.0, 1.0, 61)[1:],
        np.sort(np.random.default_rng(1).random(30)),
        np.array([0.3]),
        np.array([0.3, 0.3, 0.5]),  # no cells: found by search
    ],
    ids=["narrow", "whole", "uneven", "one", "equal"],
)
def test_thresholds_are_counted_to_the_last_bit(points):
    near = [np.nextafter(points, end) for end in (-1.0, 2.0)]
    score = np.concatenate([np.random.default_rng(0).random(9000), points, *near, [0.0, -0.0, 1.0, -0.5, 1.5, 1e-300]])
    expected = (score[:, None] >= points).sum(axis=1)
    assert reached(score, points).tolist() == expected.tolist()
    assert reached(score, points, np.int8).tolist() == expected.tolist()


RANGES = [(0.2, 0.7), (0.0, 1.0), (0.001, 0.3), (0.9, 0.99)]


def test_dominance_over_a_range_needs_only_the_scores_within():
    y, sharp, blunt = forecasts(3000)
    tables = [ScoreTable.from_predictions(y, score) for score in (sharp.round(3), blunt)]
    for low, high in (*RANGES, (float(tables[0].scores[5]), 0.5)):
        inside = [next(_stretches(table, np.array([low, high]))) for table in tables]
        whole, part = (dominance(*some, low=low, high=high) for some in (tables, inside))
        assert len(whole.stretches) == len(part.stretches)
        for one, two in zip(whole.stretches, part.stretches, strict=True):
            assert one[2] == two[2]
            assert one[:2] == pytest.approx(two[:2], abs=1e-14)
        for cuts in ([low, high], [low, *np.linspace(low, high, 9)[2:-2], high]):
            for *ends, found in zip(cuts, cuts[1:], _stretches(tables[0], np.array(cuts)), strict=False):
                at = np.linspace(*ends, 50)
                assert np.allclose(*(regret_at(t, at, "score") for t in (tables[0], found)), atol=1e-15)


def test_dominance_is_the_same_looked_at_some_rows_at_a_time(monkeypatch):
    y, sharp, blunt = forecasts(100)
    worse = np.where(sharp < 0.5, 0.9 * sharp, sharp + 0.1 * (1.0 - sharp))
    shapes = [sharp, sharp.round(2), blunt, worse, np.zeros(100), np.ones(100), (sharp > 0.5) * 1.0]
    tables = [ScoreTable.from_predictions(y, score) for score in shapes]
    verdicts = []
    for rows in (1, 7, 10**9):
        monkeypatch.setattr(_by_threshold, "_ROWS", rows)
        verdicts.append(
            [_dominates(a, b, costs.Uniform(*ends)) for ends in RANGES for a in tables for b in tables if a is not b]
        )
    whole = [
        dominance(a, b, low=low, high=high).winner == "a"
        for low, high in RANGES
        for a in tables
        for b in tables
        if a is not b
    ]
    assert verdicts == [whole] * 3
    assert 0.1 < np.mean(whole) < 0.9


def test_weights_that_differ_among_negatives_alone_leave_nothing_said_by_threshold():
    y, sharp, blunt = forecasts(200)
    uneven = 1.0 + np.arange(200) % 2
    for weight, said in [(np.where(y, 2.0, 1.0), True), (np.where(y, 1.0, uneven), False)]:
        result = evaluate(y, {"a": sharp, "b": blunt}, costs=(0.2, 0.7), sample_weight=weight)
        assert (result.by_threshold is not None) == said


@pytest.mark.parametrize("models", [1, 2, 3, 4, 7])
def test_a_level_is_shared_by_every_pair_of_models_and_each_with_both_references(models):
    decisions = [*range(models), "treat all", "treat none"]
    pairs = [pair for pair in combinations(decisions, 2) if pair != ("treat all", "treat none")]
    assert _by_threshold.shared_level(0.95, models) == pytest.approx(1.0 - 0.05 / len(pairs), rel=1e-15)
