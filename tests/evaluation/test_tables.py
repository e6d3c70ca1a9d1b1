"""An evaluation from tables: all that needs no pairs, and with the sums of pairs what the rows give."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from stakes import ScoreTable, evaluate, evaluate_frame
from stakes.inference import PairSums

RNG = np.random.default_rng(7)
RISK = RNG.random(3000)
Y = RNG.random(3000) < RISK
WEIGHT = RNG.choice([1.0, 2.0, 0.5], 3000)
MODELS = {name: np.clip(RISK + RNG.normal(0.0, by, 3000), 0.0, 1.0).round(3) for name, by in (("a", 0.1), ("b", 0.3))}
COSTS = (0.1, 0.4)


def tables(weight=None):
    return {name: ScoreTable.from_predictions(Y, score, sample_weight=weight) for name, score in MODELS.items()}


def near(one, two):
    """Compare two answers in JSON, numbers to rounding."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(near(one[key], two[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(near, one, two))
    return one == two or (isinstance(one, float) and math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-12))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["rows", "weights"])
@pytest.mark.parametrize("asked", [{}, {"prevalence": 0.03}, {"rule": 0.3}, {"incumbent": "b"}], ids=str)
def test_with_the_sums_of_pairs_tables_say_what_the_rows_say(weight, asked):
    rule = asked.get("rule", "score")
    pairs = PairSums.from_predictions(Y, MODELS, costs=COSTS, rule=rule, sample_weight=weight)
    found = json.loads(evaluate(tables(weight), costs=COSTS, pairs=pairs, **asked).to_json())
    known = json.loads(evaluate(Y, MODELS, costs=COSTS, sample_weight=weight, **asked).to_json())
    for answer in (found, known):  # what compares the models threshold by threshold, or their AUC, needs the rows
        answer["conclusion"] = [text for text in answer["conclusion"] if not text.startswith(("Shown", "Recalib"))]
        answer["findings"] = []
    assert near(found, known)


def test_without_pairs_each_model_has_its_numbers_and_no_difference():
    result, known = evaluate(tables(), costs=COSTS), evaluate(Y, MODELS, costs=COSTS)
    for name in (*MODELS, "treat all", "treat none"):
        mine, its = result[name], known[name]
        assert mine.score == pytest.approx(its.score, rel=1e-12)
        assert mine.interval == pytest.approx(its.interval, rel=1e-9)
        versus, its = (answer.compare(name, "treat all") for answer in (result, known))
        assert versus.interval == pytest.approx(its.interval, rel=1e-9, abs=1e-15)
    difference = result.compare("a", "b")
    assert difference.difference == pytest.approx(known.compare("a", "b").difference, rel=1e-9)
    assert math.isnan(difference.interval[0])
    assert math.isnan(difference.p_value)
    assert "separate score tables do not say which scores belong together" in difference.note
    assert result.ranking == known.ranking
    assert result.selection is None
    assert any("pass pairs=" in sentence for sentence in result.conclusion)
    assert {row.rank_low for row in result.adjusted_ranking()} == {1}


def test_every_answer_and_the_report_are_made_from_tables():
    pytest.importorskip("polars")
    pairs = PairSums.from_predictions(Y, MODELS, costs=COSTS)
    for given in (None, pairs):
        result = evaluate(tables(), costs=COSTS, pairs=given)
        assert len(result.frame("polars")) == 4
        assert result.curves("net_benefit").keys() == MODELS.keys()
        assert result.calibration.of("a").overall is not None
        assert result.best_by_cost().models
        assert isinstance(result.findings.codes, tuple)
        assert result._repr_html_()
        text = result.to_html()
        assert "They have no intervals, for they need the rows of the models." in text


def test_tables_of_other_rows_are_refused():
    odd = tables() | {"b": ScoreTable.from_predictions(Y[:100], MODELS["b"][:100])}
    with pytest.raises(ValueError, match=r"the table of 'b' must rest on the rows of the table of 'a', 3,000 rows"):
        evaluate(odd, costs=COSTS)
    flipped = tables() | {"b": ScoreTable.from_predictions(~Y, MODELS["b"])}
    with pytest.raises(ValueError, match="with a weight of positives of"):
        evaluate(flipped, costs=COSTS)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"costs": (0.1, 0.5)}, r"pairs must have the costs of the evaluation, Uniform\(low=0.1, high=0.5\)"),
        ({"costs": COSTS, "rule": 0.2}, "pairs must have the rule of the evaluation, 0.2, got 'score'"),
        ({"costs": COSTS, "groups": ["x"]}, "groups=, clusters= and lags= need the rows"),
        ({"costs": COSTS, "y_prob": MODELS["a"]}, "a paired difference needs the rows"),
    ],
)
def test_what_does_not_fit_the_tables_is_refused(asked, message):
    pairs = PairSums.from_predictions(Y, MODELS, costs=COSTS)
    with pytest.raises(ValueError, match=message):
        evaluate(tables(), pairs=pairs, **asked)


def test_pairs_of_other_models_or_rows_are_refused():
    fewer = PairSums.from_predictions(Y, {"a": MODELS["a"]}, costs=COSTS)
    with pytest.raises(ValueError, match=r"pairs must have the models of the evaluation, \('a', 'b'\)"):
        evaluate(tables(), costs=COSTS, pairs=fewer)
    other = PairSums.from_predictions(Y[:50], {name: score[:50] for name, score in MODELS.items()}, costs=COSTS)
    with pytest.raises(ValueError, match="pairs must rest on the rows of the table of 'a'"):
        evaluate(tables(), costs=COSTS, pairs=other)
    with pytest.raises(ValueError, match="pairs= belongs to tables"):
        evaluate(Y, MODELS, costs=COSTS, pairs=other)
    with pytest.raises(ValueError, match="y_true must be labels, a ScoreTable or tables by name, got ndarray for 'a'"):
        evaluate(MODELS, costs=COSTS)
    with pytest.raises(ValueError, match="a model cannot be called 'treat all'"):
        evaluate({"treat all": tables()["a"]}, costs=COSTS)


def test_sums_that_were_kept_count_the_rows_in_which_nothing_is_at_stake(tmp_path):
    pl, rng = pytest.importorskip("polars"), np.random.default_rng(4)
    if not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this polars streams no rows")
    p = 1.0 / (1.0 + np.exp(-rng.normal(-2.5, 1.0, 1500)))
    amount = np.where(rng.random(1500) < 0.98, 0.0, rng.lognormal(3.0, 1.0, 1500))
    columns = {"y": (rng.random(1500) < p) * 1, "a": p, "fn": amount, "fp": np.where(amount == 0.0, 0.0, 15.0)}
    about = {"label": "y", "models": ["a"], "false_positive": "fp", "false_negative": "fn"}
    sums = evaluate_frame(pl.LazyFrame(columns), **about).pairs
    assert sums.idle == np.sum(amount == 0.0)
    sums.to_parquet(tmp_path / "sums.parquet")
    for back in (PairSums.from_json(sums.to_json()), PairSums.from_parquet(tmp_path / "sums.parquet")):
        assert back.idle == sums.idle
        assert back.moments().of(0).standard_error == sums.moments().of(0).standard_error
    for bad in (-1, 0.5, "many", None):
        content = {**json.loads(sums.to_json()), "idle": bad}
        with pytest.raises(ValueError, match="idle must be"):
            PairSums.from_json(json.dumps(content))
