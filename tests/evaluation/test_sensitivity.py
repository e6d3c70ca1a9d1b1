"""Which model is best at every cost and over every range: against brute force, quadrature and hand-made cases."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import GRID, scores, weights

from stakes import ScoreTable, costs, expected_regret, regret_curve
from stakes.curves._decision import lower_envelope
from stakes.evaluation import best_by_bounds, best_by_cost, lc_index
from stakes.evaluation._best_by_cost import _ranked

rules = st.sampled_from(["score", "optimal"])


@st.composite
def models(draw, most=4):
    """Labels, weights and the scores of several models on the same rows."""
    rows, count = draw(st.integers(1, 8)), draw(st.integers(1, most))
    y = draw(st.lists(st.sampled_from([0, 1]), min_size=rows, max_size=rows))
    w = draw(st.lists(weights(), min_size=rows, max_size=rows).filter(any))
    each = st.lists(st.one_of(GRID, scores()), min_size=rows, max_size=rows)
    columns = draw(st.lists(each, min_size=count, max_size=count))
    return {f"m{i}": ScoreTable.from_predictions(y, s, sample_weight=w) for i, s in enumerate(columns)}


@given(models(), rules, st.floats(0.0, 1.0), st.booleans())
def test_best_at_a_cost_has_the_lowest_regret(tables, rule, c, references):
    result = best_by_cost(tables, rule=rule, references=references)
    curves = {name: regret_curve(table, rule=rule) for name, table in tables.items()}
    if references:
        curves |= next(iter(curves.values())).references
    for at in {c, *result.knots.tolist()} - {0.0}:
        regrets = {name: float(curve.at(at)) for name, curve in curves.items()}
        piece = int(np.searchsorted(result.knots, at, side="left")) - 1
        winner = result.models[result.best[piece]]
        assert regrets[winner] <= min(regrets.values()) * (1 + 1e-9) + 1e-13
        assert result.at(at) == pytest.approx(regrets)
        assert list(result.at(at).values()) == sorted(result.at(at).values())


@given(models(), rules)
def test_stretches_cover_every_cost_once_and_change_the_model(tables, rule):
    result = best_by_cost(tables, rule=rule)
    assert (result.knots[0], result.knots[-1]) == (0.0, 1.0)
    assert np.all(np.diff(result.knots) > 0.0)
    assert np.all(result.best[1:] != result.best[:-1])
    assert sum(result.shares().values()) == pytest.approx(1.0)


@given(models(most=3), rules, st.sampled_from([(0.0, 1.0), (0.1, 0.4)]))
def test_shares_are_the_lengths_of_the_stretches(tables, rule, bounds):
    result = best_by_cost(tables, rule=rule)
    shares = result.shares(costs.Uniform(*bounds))
    lengths = np.diff(np.clip(result.knots, *bounds)) / (bounds[1] - bounds[0])
    for index, name in enumerate(tables):
        assert shares[name] == pytest.approx(lengths[result.best == index].sum(), abs=1e-12)


def test_crossings_between_knots_are_exact():
    # act on everyone costs 3/4 c, on no one 1/4 (1-c): they cross at the prevalence
    everyone, no_one = ([1.0] * 4, [0.0] * 4)
    y = [0, 0, 0, 1]
    tables = {name: ScoreTable.from_predictions(y, s) for name, s in {"all": everyone, "none": no_one}.items()}
    assert best_by_cost(tables).knots.tolist() == [0.0, 0.25, 1.0]
    assert repr(best_by_cost(tables)) == "BestByCost(all up to 0.25, none up to 1)"


def test_third_line_below_a_crossing_is_found():
    # three straight lines, by their false positives and false negatives
    whole = np.array([0.0, 1.0])
    lines = [(whole, np.array([fp]), np.array([fn])) for fp, fn in ((1.0, 0.0), (0.0, 1.0), (0.2, 0.2), (0.5, 0.05))]
    knots, best = lower_envelope(lines)
    probe = (knots[:-1] + knots[1:]) / 2
    heights = np.array([fp * probe + fn * (1 - probe) for _, fp, fn in lines])
    assert best.tolist() == np.argmin(heights, axis=0).tolist() == [0, 3, 2, 1]
    assert knots.tolist() == pytest.approx([0.0, 0.05 / 0.55, 1 / 3, 0.8, 1.0])


def test_curves_that_a_coarse_look_rules_out_are_nowhere_the_lowest(monkeypatch):
    monkeypatch.setattr("stakes.curves._decision._KNOTS", 50)  # many cells, few at once
    monkeypatch.setattr("stakes.curves._decision._CELLS", 3)
    rng = np.random.default_rng(0)
    n = 3000
    p = rng.random(n)
    y = rng.random(n) < p
    # four hardly apart, which cross often, and two that are never the best
    noise = [rng.normal(0, spread, n) for spread in (0.1, 0.1, 0.1, 0.1, 0.2, 0.4)]
    tables = {f"m{i}": ScoreTable.from_predictions(y, np.clip(p + e, 0, 1)) for i, e in enumerate(noise)}
    result = best_by_cost(tables)
    edges = np.unique(np.concatenate([result.knots, *(table.scores for table in tables.values())]))
    probe = np.concatenate([edges[1:], (edges[:-1] + edges[1:]) / 2])
    winner = result.best[np.searchsorted(result.knots, probe, side="left") - 1]
    heights = np.array([regret_curve(table).at(probe) for table in tables.values()])
    assert np.all(heights[winner, np.arange(len(probe))] <= heights.min(axis=0) * (1 + 1e-11))
    assert len(result.knots) > 100


def test_equal_models_keep_the_order_given():
    table = ScoreTable.from_predictions([0, 1, 1], [0.2, 0.4, 0.9])
    assert best_by_cost({"b": table, "a": table}).shares() == {"b": 1.0, "a": 0.0}
    bounds = best_by_bounds({"b": table, "a": table}, edges=5)
    assert bounds.shares() == {"b": 1.0, "a": 0.0}
    assert np.nanmax(bounds.margin) == 0.0


def test_lc_index_counts_where_each_is_better_and_not_where_they_are_equal():
    y = [0, 0, 0, 1]
    everyone, no_one = (ScoreTable.from_predictions(y, s) for s in ([1.0] * 4, [0.0] * 4))
    assert lc_index(everyone, no_one, rule="score") == pytest.approx(0.25 - 0.75)
    assert lc_index(no_one, everyone, rule="score") == pytest.approx(0.75 - 0.25)
    assert lc_index(everyone, everyone) == 0.0
    assert lc_index(everyone, no_one) == 0.0  # at the best threshold, both are the same constant
    triangular = costs.Triangular(0.0, 0.25, 0.5)
    assert lc_index(everyone, no_one, rule="score", costs=triangular) == pytest.approx(0.0, abs=1e-12)
    stated = costs.Empirical([0.1, 0.2, 0.25, 0.6])
    assert lc_index(everyone, no_one, rule="score", costs=stated) == pytest.approx(3 / 4 - 1 / 4)


@given(models(), rules, st.booleans(), st.sampled_from([costs.Uniform(0, 1), costs.LogOddsUniform(0.02, 0.9)]))
def test_best_over_a_range_has_the_lowest_mean_regret(tables, rule, references, measure):
    edges = np.array([0.02, 0.1, 0.25, 0.26, 0.5, 0.9])
    result = best_by_bounds(tables, edges=edges, rule=rule, costs=measure, references=references)
    competitors = {name: (table, rule) for name, table in tables.items()}
    if references:
        first = next(iter(tables.values()))
        weight = [first.negatives.sum(), first.positives.sum()]
        for name, score in (("treat all", 1.0), ("treat none", 0.0)):
            competitors[name] = ScoreTable.from_predictions([0, 1], [score, score], sample_weight=weight), "score"
    for i in range(len(edges)):
        for j in range(len(edges)):
            if i >= j:
                assert result.best[i, j] == result.runner_up[i, j] == -1
                assert np.isnan(result.margin[i, j])
                continue
            part = measure.restrict(edges[i], edges[j])
            regrets = {name: expected_regret(t, costs=part, rule=r) for name, (t, r) in competitors.items()}
            ordered = sorted(regrets.values())
            assert regrets[result.models[result.best[i, j]]] == pytest.approx(ordered[0], abs=1e-12)
            if len(competitors) > 1:
                assert regrets[result.models[result.runner_up[i, j]]] == pytest.approx(ordered[1], abs=1e-12)
                assert float(result.margin[i, j]) == pytest.approx(ordered[1] - ordered[0], abs=1e-12)
            assert result.at(edges[i], edges[j]) == pytest.approx(regrets, abs=1e-12)


def test_number_of_edges_is_even_on_the_axis_of_the_costs():
    table = {"a": ScoreTable.from_predictions([0, 1], [0.2, 0.7])}
    assert best_by_bounds(table, edges=5).edges.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    log = best_by_bounds(table, edges=5, costs=costs.LogOddsUniform(0.01, 0.99)).edges
    assert (log[0], log[-1]) == (0.01, 0.99)
    assert np.diff(np.log(log / (1 - log))) == pytest.approx(np.full(4, np.log(99) / 2))


def test_one_model_has_no_second():
    result = best_by_bounds({"a": ScoreTable.from_predictions([0, 1], [0.2, 0.7])}, edges=3)
    assert [record["runner_up"] for record in result._records()] == [None] * 3
    assert np.isnan(result.margin).all()
    assert repr(result) == "BestByBounds(3 ranges between 0 and 1; best in most: a, 100%)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": [0.5, 0.2]}, r"edges must ascend strictly within \[0, 1\], got \[0.5, 0.2\]"),
        ({"edges": [0.0, 0.4], "costs": costs.Uniform(0.1, 0.5)}, r"edges must ascend strictly within \[0.1, 0.5\]"),
        ({"edges": [0.2, 0.4, 0.6], "costs": costs.Uniform(0.1, 0.5)}, r"within \[0.1, 0.5\], got \[0.2, 0.4, 0.6\]"),
        ({"edges": [0.2, 0.2]}, r"edges must ascend strictly within \[0, 1\], got \[0.2, 0.2\]"),
        ({"edges": [0.2]}, r"edges must ascend strictly within \[0, 1\], got \[0.2\]"),
        ({"edges": []}, r"edges must ascend strictly within \[0, 1\], got \[\]"),
        ({"edges": [[0.2, 0.4]]}, "edges must"),
        ({"edges": 1}, "edges must be a whole number >= 2, got 1"),
        ({"costs": costs.Fixed(0.2)}, "costs must have no atoms"),
        ({"costs": costs.LogOddsUniform(0, 1)}, "a number of edges needs costs of finite mass"),
        ({"costs": costs.LogOddsUniform(0, 1), "edges": [0.0, 0.5]}, "edges must span a finite mass"),
    ],
)
def test_bad_edges_and_costs_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        best_by_bounds({"a": ScoreTable.from_predictions([0, 1], [0.2, 0.7])}, **options)


def test_no_model_and_infinite_mass_are_named():
    with pytest.raises(ValueError, match="tables must hold at least one model, got none"):
        best_by_cost({})
    with pytest.raises(ValueError, match="costs must have a finite mass"):
        best_by_cost({"a": ScoreTable.from_predictions([0, 1], [0.2, 0.7])}).shares(costs.LogOddsUniform(0, 1))


def test_only_the_improved_cancer_model_is_best_where_the_thresholds_are(load_data):
    # Flores et al., Table 2: over the plausible odds of 1.66% to 3%, xgboost_2pct is the best of the four
    data = load_data("bcsc_predictions/bcsc_predictions")
    names = ["logistic_minimal", "logistic_+_density", "xgboost", "xgboost_2pct"]
    tables = {name: ScoreTable.from_predictions(data["cancer"], data[name]) for name in names}
    bounds = (costs.from_odds(0.0166), costs.from_odds(0.03))
    result = best_by_bounds(tables, edges=[0.001, *bounds, 0.2])
    assert result.models[result.best[1, 2]] == "xgboost_2pct"
    at = result.at(*bounds)
    assert {name: round(2 * value * (bounds[1] - bounds[0]), 6) for name, value in at.items()} == {
        "xgboost_2pct": 0.000545,
        "logistic_minimal": 0.000662,
        "logistic_+_density": 0.000662,
        "xgboost": 0.000662,
    }


def test_frames_name_the_models():
    pytest.importorskip("polars")
    y = [0, 1, 0, 1]
    tables = {
        "a": ScoreTable.from_predictions(y, [0.1, 0.8, 0.3, 0.6]),
        "b": ScoreTable.from_predictions(y, [0.4, 0.6, 0.5, 0.4]),
    }
    ranges = best_by_bounds(tables, edges=[0.0, 0.5, 1.0]).frame("polars")
    assert ranges.columns == ["low", "high", "best", "runner_up", "margin"]
    assert ranges.rows()[0][:4] == (0.0, 0.5, "a", "b")
    assert best_by_cost(tables).frame("polars").columns == ["low", "high", "best"]


def test_of_models_that_differ_by_rounding_the_first_is_taken_in_a_single_range():
    sums = np.array([[0.0, 1.0 + 1e-15], [0.0, 1.0]])
    best, second, margin = _ranked(sums, np.array([0.0, 1.0]))
    assert (best[0, 1], second[0, 1], margin[0, 1]) == (0, 1, 0.0)
