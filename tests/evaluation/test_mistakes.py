"""The likeliest mistakes with every function that answers: each is refused by a message that names the argument."""

import numpy as np
import pytest

from stakes import ScoreTable, advise, costs, evaluate, evaluate_frame
from stakes.evaluation import best_by_bounds, best_by_cost, lc_index

pl = pytest.importorskip("polars")

RNG = np.random.default_rng(0)
RISK = RNG.uniform(0.01, 0.6, 60)
Y = (RNG.random(60) < RISK).astype(int)
MODELS = {"a": RISK, "b": RISK**2}
GAP = np.where(np.arange(60) == 7, np.nan, RISK)
TABLE = ScoreTable.from_predictions(Y, RISK)
FRAME = pl.DataFrame({"ill": Y, "a": RISK, "b": RISK**2, "site": ["x", "y"] * 30, "word": ["n"] * 60})

EVALUATE = {
    "labels and scores swapped": ((RISK, Y), {}, "y_true .*are y_true and y_prob swapped"),
    "no scores": ((Y,), {}, "y_prob is missing"),
    "scores in percent": ((Y, {"a": RISK, "b": 100 * RISK}), {}, r"y_prob\['b'\] must lie in \[0, 1\], got"),
    "a model with a gap": ((Y, {"a": RISK, "b": GAP}), {}, r"y_prob\['b'\] must be finite, got nan at index 7"),
    "a model that is one row short": ((Y, {"a": RISK, "b": RISK[1:]}), {}, r"y_prob\['b'\].*got 60 and 59"),
    "scores that are words": ((Y, {"a": ["low"] * 60}), {}, r"y_prob\['a'\] must be numeric, got 'low'"),
    "a frame with scores in percent": (
        (Y, pl.DataFrame({"a": RISK, "b": 100 * RISK})),
        {},
        r"y_prob\['b'\] must lie in \[0, 1\]",
    ),
    "a frame with a gap": (
        (Y, pl.DataFrame({"a": GAP, "b": RISK})),
        {},
        r"y_prob\['a'\] must be finite, got nan at index 7",
    ),
    "a frame with words": ((Y, FRAME.select("a", "word")), {}, r"y_prob\['word'\] must be numeric, got 'n' at index 0"),
    "a lazy frame of models": (
        (Y, FRAME.lazy().select("a", "b")),
        {},
        "y_prob must be in memory, got LazyFrame: .*evaluate_frame",
    ),
    "an array of three models": ((Y, np.column_stack([RISK] * 3)), {}, r"shape \(60, 3\).*as a mapping.*to evaluate"),
    "an array of two models": ((Y, np.column_stack([RISK] * 2)), {}, "must sum to 1 in every row.*as a mapping"),
    "no model": ((Y, {}), {}, "y_prob must hold at least one model"),
    "a word for the scores": ((Y, "risk"), {}, "y_prob must be"),
    "a name for the labels": (("ill", RISK), {}, "y_true must be"),
    "one class": ((np.zeros(60), RISK), {}, "y_true must hold both classes"),
    "three classes": ((np.arange(60) % 3, RISK), {}, "y_true must hold two values"),
    "costs as text": ((Y, RISK), {"costs": "0.1:0.3"}, "costs must be .*got '0.1:0.3'"),
    "costs reversed": ((Y, RISK), {"costs": (0.3, 0.1)}, "costs must satisfy 0 <= low < high <= 1"),
    "costs in percent": ((Y, RISK), {"costs": (2, 10)}, r"costs must satisfy.*2 to 10% is \(0.02, 0.1\)"),
    "three costs": ((Y, RISK), {"costs": (0.1, 0.2, 0.3)}, "costs must be"),
    "a family without its numbers": ((Y, RISK), {"costs": costs.Uniform}, "costs must be .*parameters"),
    "an unknown rule": ((Y, RISK), {"rule": "best"}, "rule must be .*'best'"),
    "a rule that is a pair": ((Y, RISK), {"rule": (0.1, 0.2)}, "rule must be"),
    "an unknown scale": ((Y, RISK), {"scale": "dollars"}, "scale must be one of .*'dollars'"),
    "regret of infinite mass": ((Y, RISK), {"costs": costs.LogOddsUniform(0, 1), "scale": "regret"}, "scale="),
    "confidence level in percent": ((Y, RISK), {"confidence_level": 95}, r"confidence_level must lie in \(0, 1\)"),
    "confidence level as text": ((Y, RISK), {"confidence_level": "95%"}, "confidence_level must .*'95%'"),
    "no confidence level": ((Y, RISK), {"confidence_level": None}, "confidence_level must"),
    "prevalence in percent": ((Y, RISK), {"prevalence": 10}, r"prevalence must lie in \(0, 1\)"),
    "prevalence as text": ((Y, RISK), {"prevalence": "10%"}, "prevalence must"),
    "negative weights": ((Y, RISK), {"sample_weight": -np.ones(60)}, "sample_weight must be finite and >= 0"),
    "weights of another length": ((Y, RISK), {"sample_weight": np.ones(59)}, "sample_weight must have one value per"),
    "one weight": ((Y, RISK), {"sample_weight": 2.0}, "sample_weight must have one value per row"),
    "groups of another length": ((Y, RISK), {"groups": ["x"] * 59}, "groups must have one value .*60 rows"),
    "more groups than anybody reads": (
        (np.tile(Y, 200), np.tile(RISK, 200)),
        {"groups": np.arange(12_000)},
        r"groups must name at most 10,000 groups, got 12,000 .*: bin numbers first",
    ),
    "the name of a column for groups": ((Y, RISK), {"groups": "site"}, "groups must have one value"),
    "clusters of another length": ((Y, RISK), {"clusters": np.arange(59)}, "clusters must have one value .*60 rows"),
    "lags as text": ((Y, RISK), {"lags": "12"}, "lags must be .*'12'"),
    "clusters and lags": ((Y, RISK), {"clusters": np.arange(60), "lags": 2}, "clusters= and lags="),
    "unit cost of nothing": (
        (Y, RISK),
        {"unit_cost": 0.0},
        r"unit_cost must be a finite number > 0, got 0\.0: every cost would be 0\..* leave it out",
    ),
    "unit cost below nothing": (
        (Y, RISK),
        {"unit_cost": -500},
        r"unit_cost must be a finite number > 0, got -500: the dearest .* pass unit_cost=500; .* RowCosts\(matrix=\)",
    ),
    "unit cost as text": ((Y, RISK), {"unit_cost": "250"}, "unit_cost must .*'250'"),
    "per as text": ((Y, RISK), {"per": "1,000"}, "per must .*'1,000'"),
    "metrics as one word": ((Y, RISK), {"metrics": "roc_auc_score"}, "metrics must be a list"),
    "metrics as a number": ((Y, RISK), {"metrics": 3}, "metrics must be a list"),
    "an unknown metric": ((Y, RISK), {"metrics": ["accuracy"]}, "metrics must be registered .*'accuracy'"),
    "arguments of a metric as a number": (
        (Y, RISK),
        {"metrics": {"net_benefit_score": 0.1}},
        "metrics must .*net_benefit_score.*0.1",
    ),
    "logits as text": ((Y, RISK), {"logits": "no"}, "logits must be True or False"),
    "scores beside a table": ((TABLE, RISK), {}, "ScoreTable"),
    "groups beside a table": ((TABLE,), {"groups": ["x"] * 60}, "groups=, clusters= and lags= need the rows"),
}
FRAMES = {
    "no such label": (FRAME, {"label": "outcome"}, "'outcome'"),
    "no such model": (FRAME, {"label": "ill", "models": ["c"]}, "'c'"),
    "models as one word": (FRAME, {"label": "ill", "models": "a,b"}, "'a,b': there is no such column"),
    "a model of words": (FRAME, {"label": "ill", "models": ["word"]}, "'word'"),
    "a model in percent": (FRAME.with_columns(pl.col("b") * 100), {"label": "ill"}, "'b'.*must lie in \\[0, 1\\]"),
    "a model with a gap": (FRAME.with_columns(b=pl.Series([None, *RISK[1:]])), {"label": "ill"}, "'b'.*missing"),
    "no such weight": (FRAME, {"label": "ill", "weight": "w"}, "'w'"),
    "no such group": (FRAME, {"label": "ill", "groups": "region"}, "'region'"),
    "an array for groups": (FRAME, {"label": "ill", "groups": np.arange(60)}, "groups must"),
    "no such cluster": (FRAME, {"label": "ill", "clusters": "patient"}, "'patient'"),
    "an array for clusters": (FRAME, {"label": "ill", "clusters": np.arange(60)}, "clusters must"),
    "an unknown way with gaps": (FRAME, {"label": "ill", "on_missing": "skip"}, "on_missing must be .*'skip'"),
    "costs as text": (FRAME, {"label": "ill", "costs": "0.1:0.3"}, "costs must be"),
    "confidence level in percent": (FRAME, {"label": "ill", "confidence_level": 95}, "confidence_level must lie"),
    "one class": (FRAME.filter(pl.col("ill") == 0), {"label": "ill"}, "must hold both classes"),
    "arrays for a frame": (RISK, {"label": "ill"}, "frame must"),
}
KNOWN, RANGE = {"knowledge": "known"}, {"knowledge": "range"}
ADVISE = {
    "an unknown kind of decision": ({"decisions": "triage", **KNOWN}, "decisions must be one of"),
    "an unknown threshold": ({"decisions": "budget", "knowledge": 0.1}, "knowledge must be one of"),
    "cost ratio in percent": ({"decisions": "independent", **KNOWN, "cost_ratio": 10}, "cost_ratio must lie"),
    "cost ratio as text": ({"decisions": "independent", **KNOWN, "cost_ratio": "10%"}, "cost_ratio must"),
    "cost ratio of a budget": ({"decisions": "budget", **KNOWN, "cost_ratio": 0.1}, "cost_ratio has no place"),
    "bounds reversed": ({"decisions": "independent", **RANGE, "bounds": (0.3, 0.1)}, "bounds must satisfy"),
    "bounds as text": ({"decisions": "independent", **RANGE, "bounds": "0.1:0.3"}, "bounds must be"),
    "bounds in percent": ({"decisions": "independent", **RANGE, "bounds": (2, 10)}, "bounds must"),
    "a budget of nothing": ({"decisions": "budget", **KNOWN, "capacity": 0}, "capacity must be a count of rows >= 1"),
    "a budget in per cent": ({"decisions": "budget", **KNOWN, "capacity": 2.5}, "capacity must be a count of rows"),
    "budgets reversed": ({"decisions": "budget", **RANGE, "capacity": (20, 5)}, "capacity must ascend"),
    "prevalence in percent": ({"decisions": "budget", **KNOWN, "prevalence": 10}, "prevalence must lie"),
    "probabilities as text": ({"decisions": "budget", **KNOWN, "probabilities": "yes"}, "probabilities must be"),
}
TABLES = {
    "no table by cost": (lambda: best_by_cost({}), "tables must hold at least one model"),
    "arrays by cost": (lambda: best_by_cost(MODELS), r"tables\['a'\] must be a ScoreTable"),
    "a table by cost": (lambda: best_by_cost(TABLE), "tables must be"),
    "an unknown rule by cost": (lambda: best_by_cost({"a": TABLE}, rule="best"), "rule must be"),
    "cost ratio in percent": (lambda: best_by_cost({"a": TABLE}).at(10), "c must lie"),
    "shares of text": (lambda: best_by_cost({"a": TABLE}).shares("0.1:0.3"), "costs must be"),
    "no table by bounds": (lambda: best_by_bounds({}), "tables must hold at least one model"),
    "a reference as a model by cost": (
        lambda: best_by_cost({"a": TABLE, "treat none": TABLE}, references=True),
        "tables must not call a model 'treat none': that names a reference",
    ),
    "a reference as a model by bounds": (
        lambda: best_by_bounds({"treat all": TABLE}, references=True),
        "tables must not call a model 'treat all': that names a reference",
    ),
    "arrays by bounds": (lambda: best_by_bounds(MODELS), r"tables\['a'\] must be a ScoreTable"),
    "costs as text by bounds": (lambda: best_by_bounds({"a": TABLE}, costs="0.1:0.3"), "costs must be"),
    "edges out of order": (lambda: best_by_bounds({"a": TABLE}, edges=[0.5, 0.1]), "edges must ascend"),
    "edges in percent": (lambda: best_by_bounds({"a": TABLE}, edges=[2, 10]), "edges must ascend"),
    "edges as text": (lambda: best_by_bounds({"a": TABLE}, edges="many"), "edges must"),
    "one edge": (lambda: best_by_bounds({"a": TABLE}, edges=1), "edges must be a whole number >= 2, got 1"),
    "arrays for an index": (lambda: lc_index(Y, RISK), r"must be a ScoreTable"),
    "an unknown model": (lambda: evaluate(Y, MODELS).compare("a", "c"), "model must be one of .*'c'"),
    "the table of an unknown model": (lambda: evaluate(Y, MODELS).score_table("c"), "model must be one of .*'c'"),
    "the table of a reference": (lambda: evaluate(Y, MODELS).score_table("treat all"), "one of 'a', .*'treat all'"),
    "an unknown curve": (lambda: evaluate(Y, MODELS).curves("roc"), "kind must be"),
    "an unknown finding": (lambda: evaluate(Y, MODELS).check(ignore=["few"]), "ignore must name findings"),
}


@pytest.mark.parametrize("mistake", EVALUATE)
def test_mistake_with_evaluate(mistake):
    arguments, options, message = EVALUATE[mistake]
    with pytest.raises(ValueError, match=message):
        evaluate(*arguments, **options)


@pytest.mark.parametrize("mistake", FRAMES)
def test_mistake_with_evaluate_frame(mistake):
    frame, options, message = FRAMES[mistake]
    with pytest.raises(ValueError, match=message):
        evaluate_frame(frame, **options)


@pytest.mark.parametrize("mistake", ADVISE)
def test_mistake_with_advise(mistake):
    options, message = ADVISE[mistake]
    with pytest.raises(ValueError, match=message):
        advise(**options)


@pytest.mark.parametrize("mistake", TABLES)
def test_mistake_with_what_an_evaluation_is_asked(mistake):
    ask, message = TABLES[mistake]
    with pytest.raises(ValueError, match=message):
        ask()
