"""Calibration in an evaluation: that of the summary, within the range too, with clusters, weights, order, tables."""

import json
import math
import re

import numpy as np
import pytest

from stakes import PartlyVerified, ScoreTable, TimeToEvent, costs, evaluate, evaluate_frame
from stakes.core import score_table
from stakes.core.score_table import in_cells, in_narrow_cells
from stakes.evaluation import KeptEvaluation
from stakes.evaluation._calibration import decomposition_of, promise_of
from stakes.inference import calibration_summary

RNG = np.random.default_rng(3)
Q = RNG.beta(1.2, 5, 1500)
Y = RNG.random(1500) < Q
MODELS = {"sharp": 1 / (1 + np.exp(-1.6 * np.log(Q / (1 - Q)))), "fair": Q}
RANGE = (0.1, 0.4)
CLUSTERS = np.arange(1500) // 3


def same(found, expected):
    for name in ("o_e_ratio", "calibration_in_the_large", "slope", "joint_intercept", "ici", "e90"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-9), name
        assert found.interval(name) == pytest.approx(expected.interval(name), rel=1e-6, nan_ok=True), name


@pytest.mark.parametrize(
    "options",
    [{}, {"sample_weight": RNG.integers(1, 4, 1500)}, {"clusters": CLUSTERS}, {"lags": "auto"}, {"prevalence": 0.3}],
    ids=lambda options: "".join(options) or "plain",
)
def test_calibration_of_an_evaluation_is_that_of_the_summary(options):
    found = evaluate(Y, MODELS, costs=RANGE, **options).calibration
    for name, scores in MODELS.items():
        same(found.of(name).overall, calibration_summary(Y, scores, **options))


@pytest.mark.parametrize("options", [{}, {"clusters": CLUSTERS}], ids=["rows", "clusters"])
def test_calibration_within_the_range_is_that_of_the_cases_scored_there(options):
    found = evaluate(Y, MODELS, costs=RANGE, **options).calibration
    for name, scores in MODELS.items():
        inside = (scores >= RANGE[0]) & (scores <= RANGE[1])
        mine = {key: value[inside] for key, value in options.items()}
        same(found.of(name).in_range, calibration_summary(Y[inside], scores[inside], **mine))
        assert found.of(name).in_range.n_rows == inside.sum()


def test_a_table_that_stands_for_the_rows_has_the_same_calibration():
    table = ScoreTable.from_predictions(Y, Q)
    found, expected = evaluate(table, costs=RANGE).calibration[0], evaluate(Y, Q, costs=RANGE).calibration[0]
    same(found.overall, expected.overall)
    same(found.in_range, expected.in_range)


def test_counts_of_tied_scores_with_weights_are_those_of_the_rows_or_left_out():
    p, w = np.round(Q, 2).clip(0.01, 0.99), RNG.choice([1.0, 9.0], 1500, p=[0.8, 0.2])
    inside = (p >= RANGE[0]) & (p <= RANGE[1])
    by_rows = evaluate(Y, {"a": p}, costs=RANGE, sample_weight=w)
    frame = pytest.importorskip("polars").LazyFrame({"y": Y, "a": p, "w": w})
    lazy = evaluate_frame(frame, label="y", models=["a"], weight="w", costs=RANGE)
    halves = [KeptEvaluation.of(evaluate(Y[k::2], {"a": p[k::2]}, costs=RANGE, sample_weight=w[k::2])) for k in (0, 1)]
    table = ScoreTable.from_predictions(Y, p, sample_weight=w)
    counts = [
        tuple((part.n_rows, part.n_positives) for part in found.calibration.of("a").parts().values())
        for found in (by_rows, lazy, halves[0].merge(halves[1]).evaluate(), evaluate({"a": table}, costs=RANGE))
    ]
    assert counts[0] == ((1500, Y.sum()), (inside.sum(), Y[inside].sum()))
    assert counts[1:] == [((1500, Y.sum()), (None, None))] * 2 + [((1500, None), (None, None))]
    assert (calibration_summary(table).n_rows, calibration_summary(table).n_positives) == (1500, None)
    wide = evaluate_frame(frame, label="y", models=["a"], weight="w", costs=(0.001, 0.999))
    assert wide.calibration.of("a").in_range.n_positives == Y.sum()  # all scores lie within the range
    share = w[Y].sum() / w.sum()
    assert evaluate({"a": table}, costs=RANGE).read == f"1,500 rows, {share:.1%} of the weight on positives; 1 model"
    page = re.sub(r"<.*?>", " ", lazy.to_html())
    assert f"1,500 {Y.sum()} positive" in " ".join(page.split())
    records = json.loads(lazy.to_json(calibration=True))["calibration"]
    assert [(record["n_rows"], record["n_positives"]) for record in records] == [(1500, Y.sum()), (None, None)]
    alike = evaluate({"a": ScoreTable.from_predictions(Y, p, sample_weight=np.where(Y, 2.0, 3.0))}, costs=RANGE)
    parts = alike.calibration.of("a").parts().values()
    assert tuple((part.n_rows, part.n_positives) for part in parts) == counts[0]


def test_too_few_effective_positives_are_not_called_positives():
    y, p, w = np.tile([1, 0, 0], 60), np.repeat([0.2, 0.5, 0.6], 60), np.resize([1.0, 9.0], 180)
    found = calibration_summary(ScoreTable.from_predictions(y, p, sample_weight=w))
    note = next(each.note for each in found.estimates if each.metric == "ici")
    effective = sum(w[(y == 1) & (p == s)].sum() ** 2 / (w[(y == 1) & (p == s)] ** 2).sum() for s in (0.2, 0.5, 0.6))
    assert note == f"only {effective:.0f} effective positives: an interval needs 50"
    rng = np.random.default_rng(9)
    p = np.round(rng.beta(1, 12, 400), 2).clip(0.01, 0.99)
    y, w = rng.random(400) < p, rng.choice([1.0, 9.0], 400, p=[0.8, 0.2])
    some = KeptEvaluation.of(evaluate(y, {"a": p}, costs=(0.05, 0.3), sample_weight=w))
    (change,) = some.compare(some).of("more_than_promised")
    assert re.search(r"of \d+ effective positives: few, .* about \d+ effective positives would do", change.note)


def test_decisions_fitted_to_dependent_rows_leave_the_calibration_of_the_scores_without_intervals():
    found = evaluate(Y, MODELS, costs=RANGE, rule="optimal", clusters=CLUSTERS).calibration.of("fair").overall
    assert found.slope == pytest.approx(calibration_summary(Y, Q).slope)
    assert np.isnan(found.interval("slope")).all()
    assert "where decisions are fitted" in found.note


def outcomes():
    """Outcomes that estimate weights from all rows: followed up with censoring, and verified in part."""
    rng = np.random.default_rng(5)
    time, censored = rng.exponential(2 / Q), rng.exponential(12, len(Q))
    followed = TimeToEvent(event=time <= censored, time=np.minimum(time, censored), horizon=0.5)
    seen = np.where(rng.random(len(Q)) < 0.3 + 0.6 * Q, Y, np.nan)
    return {"followed": followed, "verified": PartlyVerified(seen, groups=np.digitize(Q, [0.1, 0.3]))}


@pytest.mark.parametrize("kind", ["followed", "verified"])
@pytest.mark.parametrize("clusters", [None, CLUSTERS], ids=["rows", "clusters"])
def test_scores_are_calibrated_the_same_whatever_decides_where_an_outcome_estimates_weights(kind, clusters):
    outcome, asked = outcomes()[kind], {"costs": RANGE, "clusters": clusters}
    models = {**MODELS, "turned": 1 - Q}
    fitted, plain = (evaluate(outcome, models, rule=rule, **asked) for rule in ("optimal", "score"))
    for name in models:
        for found, expected in zip(*(e.calibration.of(name).parts().values() for e in (fitted, plain)), strict=True):
            same(found, expected)
        assert fitted.auc(name) == plain.auc(name)
    assert not math.isnan(fitted.calibration.of("fair").overall.interval("slope")[0])
    assert "inverted" in {finding.code for finding in fitted.findings}


def test_no_finding_takes_copies_as_rows_of_their_own_where_decisions_are_fitted_to_them():
    rng = np.random.default_rng(0)
    q = rng.beta(2, 4, 40)
    y, score, copies = (np.repeat(column, 40) for column in (rng.random(40) < q / 2, q, np.arange(40)))
    plain, clustered = (evaluate(y, score, costs=RANGE, rule="optimal", clusters=c) for c in (None, copies))
    assert "calibration-in-the-large" in {finding.code for finding in plain.findings}
    assert "calibration-in-the-large" not in {finding.code for finding in clustered.findings}


@pytest.mark.parametrize("way", ["rows", "weights", "fitted", "followed", "followed, fitted"])
@pytest.mark.parametrize("end", RANGE)
def test_a_score_at_an_end_of_the_range_is_within_it_as_one_just_inside_is(way, end):
    labels = outcomes()["followed"] if "followed" in way else Y
    options = {"rule": "optimal"} if "fitted" in way else {}
    options |= {"weights": {"sample_weight": np.tile([1.0, 2.0, 2.0], 500)}, "fitted": {"clusters": CLUSTERS}}.get(
        way, {}
    )
    score = np.round(Q, 1).clip(*RANGE)
    inwards, outwards = (end + step * (1e-13 if end == RANGE[0] else -1e-13) for step in (1, -1))
    found, inside, outside = (
        evaluate(labels, np.where(score == end, place, score), costs=RANGE, **options).calibration[0].in_range
        for place in (end, inwards, outwards)
    )
    same(found, inside)
    assert found.n_rows == inside.n_rows > outside.n_rows
    assert found.o_e_ratio != pytest.approx(outside.o_e_ratio, rel=1e-3)


def test_a_range_without_scores_says_so():
    pytest.importorskip("pandas")
    record = evaluate(Y, Q / 10, costs=(0.5, 0.6)).calibration.frame("pandas").iloc[1]
    assert (record["cases"], record["n_rows"], record["note"]) == ("in range", 0, "no score in the range")
    assert math.isnan(record["slope"])


def test_table_has_two_rows_for_each_model_in_the_order_of_the_ranking():
    pytest.importorskip("pandas")
    evaluation = evaluate(Y, MODELS, costs=RANGE)
    frame = evaluation.calibration.frame("pandas")
    assert list(frame["model"]) == [name for name in evaluation.ranking for _ in range(2)]
    assert list(frame["cases"]) == ["all", "in range"] * 2
    assert {"o_e_ratio_ci_low", "slope_ci_high", "ici", "n_positives"} <= set(frame.columns)
    assert np.isnan(frame["emax_ci_low"]).all()
    assert (frame["note"] == "").all()


def test_json_holds_the_calibration_on_request():
    evaluation = evaluate(Y, MODELS, costs=RANGE)
    assert "calibration" not in json.loads(evaluation.to_json())
    found = json.loads(evaluation.to_json(calibration=True))["calibration"]
    assert found[0]["slope"] == evaluation.calibration[0].overall.slope


def test_part_of_a_table_is_the_table_of_its_rows():
    weight = RNG.integers(1, 4, 1500)
    score = np.round(Q, 2)
    inside = (score >= 0.1) & (score <= 0.4)
    found = ScoreTable.from_predictions(Y, score).within(0.1, 0.4)
    expected = ScoreTable.from_predictions(Y[inside], score[inside])
    assert found.n_rows == expected.n_rows
    assert np.array_equal(found.scores, expected.scores)
    assert np.array_equal(found.positives, expected.positives)
    weighted = ScoreTable.from_predictions(Y, score, sample_weight=weight).within(0.1, 0.4)
    assert weighted.prevalence == pytest.approx(np.average(Y[inside], weights=weight[inside]))
    with pytest.raises(ValueError, match=r"low and high must hold scores of the table, got \(0.995, 1\)"):
        ScoreTable.from_predictions(Y, score).within(0.995, 1)


@pytest.fixture(scope="module")
def many():
    """Rows of two models whose scores reach from 1e-14 to nearly 1."""
    rng = np.random.default_rng(8)
    log_odds = np.concatenate([rng.normal(-2, 2, 40_000), rng.normal(-6, 8, 4_000)])
    score = 1 / (1 + np.exp(-np.minimum(log_odds, 15)))
    return rng.random(len(score)) < score, {"right": score, "bent": score**1.3}


def test_scores_in_cells_of_log_odds_keep_sums_and_lie_within_their_cells(many, monkeypatch):
    y, score = np.append([False, True, True], many[0]), np.concatenate([[0.0, 1.0, 1.0], many[1]["right"]])
    table = ScoreTable.from_predictions(y, score)
    assert in_narrow_cells(table) is table  # few
    monkeypatch.setattr(score_table, "_MANY", 1000)
    coarse = in_cells(table, 4096)
    assert len(coarse.scores) > 1000
    assert in_narrow_cells(coarse) is coarse
    cells = in_narrow_cells(table)
    assert 2000 < len(cells.scores) < len(table.scores) / 4
    assert (cells.n_rows, cells.total_positives) == (table.n_rows, table.total_positives)
    assert np.all(np.diff(cells.scores) > 0)
    assert cells.scores[[0, -1]].tolist() == [0.0, 1.0]
    of = [(each.scores @ (each.positives + each.negatives), each.negatives_squared.sum()) for each in (cells, table)]
    assert of[0] == pytest.approx(of[1], rel=1e-14)
    # every score is as near to its cell's as the width says, in log-odds
    place = np.searchsorted(np.cumsum(cells.positives + cells.negatives), np.arange(table.n_rows), side="right")
    rows, mine = np.sort(score)[1:-2], cells.scores[place[1:-2]]
    apart = np.log(rows / (1 - rows)) - np.log(mine / (1 - mine))
    assert np.max(np.abs(apart)) <= 1.0001 / 512


def test_calibration_of_very_many_scores_is_that_of_narrow_cells(many, monkeypatch):
    y, models = many

    def found():
        result = evaluate(y, models, costs=RANGE)
        return result, {name: result.calibration.of(name) for name in models}

    exact, by_row = found()
    exact_parts = {name: (decomposition_of(exact, name), promise_of(exact, name)) for name in models}
    areas = {name: exact.auc(name) for name in models}
    monkeypatch.setattr(score_table, "_MANY", 1000)
    pooled, by_cell = found()
    for name in models:
        for cases, known in by_row[name].parts().items():
            other = by_cell[name].parts()[cases]
            assert other.n_rows == known.n_rows
            for number in ("o_e_ratio", "calibration_in_the_large", "slope", "joint_intercept"):
                assert getattr(other, number) == pytest.approx(getattr(known, number), rel=2e-6, abs=2e-6), number
                assert other.interval(number) == pytest.approx(known.interval(number), rel=1e-5, abs=1e-5), number
            for number in ("ici", "e50", "e90"):
                assert getattr(other, number) == pytest.approx(getattr(known, number), abs=2e-5), number
        parts, promise = exact_parts[name]
        assert promise_of(pooled, name).value == pytest.approx(promise.value, abs=1e-3 * promise.variance**0.5)
        assert promise_of(pooled, name).variance == pytest.approx(promise.variance, rel=1e-4)
        cells = decomposition_of(pooled, name)
        for part in ("miscalibration", "discrimination", "uncertainty"):
            mine, its = getattr(cells, part), getattr(parts, part)
            width = its.interval[1] - its.interval[0]
            assert mine.value == pytest.approx(its.value, abs=0.25 * width), part  # the folds are drawn otherwise
            assert mine.interval == pytest.approx(its.interval, abs=0.25 * width), part  # the folds are drawn otherwise
        assert pooled[name].auc == exact[name].auc
        assert pooled.auc(name) == areas[name]  # pairs are counted among all scores
    alone = evaluate(y, models, costs=costs.Fixed(0.2))  # a threshold cuts cells: all scores count
    monkeypatch.setattr(score_table, "_MANY", 10**9)
    assert promise_of(evaluate(y, models, costs=costs.Fixed(0.2)), "bent") == promise_of(alone, "bent")


def test_cases_in_the_range_are_in_narrow_cells_where_all_cases_are(many, monkeypatch):
    y, score = many[0], many[1]["right"]

    def in_range():
        return evaluate(y, {"a": score}, costs=RANGE).calibration.of("a").in_range

    exact, distinct = in_range(), len(np.unique(score))
    monkeypatch.setattr(score_table, "_MANY", distinct)
    assert in_range().estimates == exact.estimates
    monkeypatch.setattr(score_table, "_MANY", distinct - 1)  # fewer than all, more than those in the range
    pooled = in_range()
    assert exact.n_rows < distinct - 1
    assert pooled.n_rows == exact.n_rows
    assert pooled.slope != exact.slope
    monkeypatch.setattr(score_table, "_MANY", 1000)
    assert in_range().estimates == pooled.estimates


@pytest.mark.parametrize("spread", [0.003, 0.0])
def test_cells_are_narrow_beside_scores_that_hardly_differ(spread, monkeypatch):
    rng = np.random.default_rng(6)
    log_odds = np.where(rng.random(40_000) < 0.5, -2.0, -2.0 if spread else 0.0) + (spread or 0.001) * rng.normal(
        size=40_000
    )
    score = 1 / (1 + np.exp(-log_odds))  # a shrunken model's, or in two clumps
    y = rng.random(len(score)) < score
    exact = evaluate(y, {"a": score}, costs=(0.05, 0.3)).calibration.of("a").overall
    monkeypatch.setattr(score_table, "_MANY", 1000)
    found = evaluate(y, {"a": score}, costs=(0.05, 0.3)).calibration.of("a").overall
    for name in ("o_e_ratio", "calibration_in_the_large", "slope", "joint_intercept"):
        low, high = exact.interval(name)
        assert getattr(found, name) == pytest.approx(getattr(exact, name), abs=1e-3 * (high - low)), name
    for name in ("ici", "e50", "e90"):
        assert getattr(found, name) == pytest.approx(getattr(exact, name), abs=2e-5), name


@pytest.mark.parametrize(("scarce", "known"), [(19, False), (20, True)])
@pytest.mark.parametrize("scarcer", [0, 1])
def test_a_decomposition_has_intervals_from_twenty_rows_of_the_scarcer_class(scarce, known, scarcer):
    rng, y = np.random.default_rng(3), np.arange(300) < 300 - scarce
    found = evaluate(y == (scarcer == 0), {"a": rng.random(300)}, costs=(0.1, 0.4))
    assert (decomposition_of(found, "a") is not None) == known
