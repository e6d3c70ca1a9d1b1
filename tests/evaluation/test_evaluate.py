"""evaluate answers: which model, by how much, how sure, and against treating everyone or no one."""

import json
import math
import posixpath
import re

import numpy as np
import pytest

from stakes import (
    ScoreTable,
    bounded_log_loss,
    compare,
    costs,
    decompose,
    evaluate,
    evaluate_frame,
    expected_regret,
    net_benefit_score,
)
from stakes.actions import evaluate_actions
from stakes.metrics import roc_auc_score

RNG = np.random.default_rng(3)
Q = RNG.beta(1, 6, 3000)
Y = (RNG.random(3000) < Q).astype(int)
MODELS = {
    "honest": Q,
    "shifted": 1 / (1 + (1 - Q) / Q / 4),
    "noise": RNG.permutation(Q),
    "copy": Q.copy(),
}
RANGE = (0.05, 0.3)


@pytest.fixture(scope="module")
def result():
    return evaluate(Y, MODELS, costs=RANGE)


def test_numbers_are_those_of_the_single_metrics(result):
    measure = costs.Uniform(*RANGE)
    for name, scores in MODELS.items():
        assert result[name].score == pytest.approx(expected_regret(Y, scores, costs=measure), rel=1e-12)
        assert result[name].auc == pytest.approx(roc_auc_score(Y, scores), rel=1e-12)
        assert result[name].decomposition == decompose(Y, scores, costs=measure)
        other = compare(Y, scores, MODELS["honest"], costs=measure)
        ours = result.compare(name, "honest")
        assert ours.difference == pytest.approx(other.difference, abs=1e-15)
        assert ours.p_value == pytest.approx(other.p_value, rel=1e-6)


def test_ranking_goes_from_lowest_cost_to_highest_and_ties_keep_their_order(result):
    assert result.ranking == ("honest", "copy", "shifted", "noise")
    assert result.best.name == "honest"


@pytest.mark.parametrize("unit", [1.0, 3.0, 0.1, 7.0, 1e-3])
@pytest.mark.parametrize("measure", [0.2, (0.1, 0.4)])
def test_models_that_cost_the_same_keep_the_order_given_in_any_unit_of_weights(measure, unit):
    rng = np.random.default_rng(2)
    y, weight = np.repeat([0, 1], [70, 30]), unit * np.repeat([1.0, 0.7, 1.3], [60, 20, 20])
    good, bad = np.linspace(0.05, 0.95, 70), np.linspace(0.15, 0.95, 30)
    sizes = [range(60), range(60, 70), range(70, 80), range(80, 100)]  # rows of one class and weight
    models = {}
    for name in ("e", "b", "f", "a", "d", "c"):
        score = np.concatenate([good, bad])
        for place in sizes:
            score[place] = rng.permutation(score[place])
        models[name] = score
    found = evaluate(y, models | {"best": np.where(y, 0.99, 0.01)}, costs=measure, sample_weight=weight)
    assert found.ranking == ("best", *models)
    assert [row.model for row in found.adjusted_ranking()] == ["best", *models]
    alone = evaluate(y, models, costs=measure, sample_weight=weight)
    assert (alone.best.name, alone.selection.chosen, alone.selection.best_model) == ("e", "e", "e")
    shown = [row["decision"] for row in alone.selection._records()]
    assert [name for name in shown if name in models] == list(models)
    kinds = {name: np.column_stack([1 - score, score]) for name, score in models.items()}
    actions = evaluate_actions(y, kinds, matrices=[[0.0, 0.2], [0.8, 0.0]], sample_weight=weight)
    assert actions.best.model == "e"
    assert [row["model"] for row in actions._ranking_rows()[:6]] == list(models)


def test_references_are_treating_everyone_and_no_one(result):
    measure = costs.Uniform(*RANGE)
    everyone = expected_regret(Y, np.ones(len(Y)), costs=measure)
    no_one = expected_regret(Y, np.zeros(len(Y)), costs=measure)
    assert result["treat all"].score == pytest.approx(everyone, rel=1e-12)
    assert result["treat none"].score == pytest.approx(no_one, rel=1e-12)
    expected = compare(Y, Q, np.ones(len(Y)), costs=measure)
    assert result.compare("honest", "treat all").standard_error == pytest.approx(expected.standard_error, rel=1e-8)


def test_share_acted_on_is_the_mean_over_the_range(result):
    grid = np.linspace(*RANGE, 20_001)
    assert result["honest"].share_acted_on == pytest.approx(np.mean([(c <= Q).mean() for c in grid[::20]]), abs=1e-4)


def test_frame_comes_in_the_library_of_the_data():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert isinstance(evaluate(Y, pd.DataFrame(MODELS), costs=RANGE).frame(), pd.DataFrame)
    assert isinstance(evaluate(Y, pl.DataFrame(MODELS), costs=RANGE).frame(), pl.DataFrame)
    assert isinstance(evaluate(pl.Series(Y), MODELS, costs=RANGE).frame(), pl.DataFrame)


def test_frame_has_a_row_for_each_model_in_rank_order_then_the_references(result):
    pytest.importorskip("polars")
    frame = result.frame("polars")
    assert frame["model"].to_list() == ["honest", "copy", "shifted", "noise", "treat all", "treat none"]
    assert frame["rank"].to_list() == [1, 2, 3, 4, None, None]
    assert frame["vs_best"][0] == 0.0


def test_data_frames_and_weights_by_column():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"y": Y, **MODELS, "w": RNG.integers(1, 4, len(Y))})
    by_frame = evaluate_frame(frame, label="y", models=["honest", "noise"], weight="w", costs=RANGE)
    by_array = evaluate(Y, {k: MODELS[k] for k in ("honest", "noise")}, sample_weight=frame["w"], costs=RANGE)
    assert by_frame.models == ("honest", "noise")
    assert by_frame["noise"].score == pytest.approx(by_array["noise"].score, rel=1e-13)
    assert by_frame["noise"].standard_error == pytest.approx(by_array["noise"].standard_error, rel=1e-10)


def test_conclusion_names_the_model_the_difference_its_interval_and_both_references(result):
    text = " ".join(result.conclusion)
    found = result.selection
    assert result.conclusion[0] == "honest and copy cost the same on each of these rows: either will do."
    low, high = (1000.0 * end for end in found.interval)
    assert f"honest costs {1000.0 * found.cost:.1f} per 1,000 decisions (95%: {low:.1f} to {high:.1f}), " in text
    assert "less than treating no one." in text
    shown = "honest costs less than shifted, noise and treating everyone or no one on average over the range"
    assert f"Shown (95%, all at once): {shown}" in text
    assert "beyond chance" not in text
    assert "probability" not in text


def test_conclusion_says_when_a_model_is_worse_than_no_decision():
    bad = evaluate(Y, {"inverted": 1 - Q}, costs=RANGE).conclusion
    assert bad[0] == "Decide nothing yet: the scores of inverted, or the labels, seem to be turned round."
    assert "while inverted costs " in bad[1]


def test_infinite_costs_of_a_deployed_threshold_are_compared_without_a_warning():
    rng = np.random.default_rng(0)
    score = rng.random(200)
    result = evaluate(rng.random(200) < score, score, costs=costs.LogOddsUniform(0, 1), rule=0.25)
    assert result.results[0].acts_like == ""
    assert "infinite" in " ".join(result.conclusion)


def test_conclusion_says_when_a_model_acts_like_a_constant():
    quiet = evaluate(Y, {"honest": Q, "quiet": Q / 1000}, costs=RANGE)
    assert quiet["quiet"].acts_like == "treat none"
    assert quiet["honest"].acts_like == ""
    (found,) = [each for each in quiet.answer.findings if each.code == "acts-like-constant"]
    assert found.sentence.startswith("quiet acts like treating no one")
    loud = evaluate(Y, {"loud": 1 - Q / 1000}, costs=RANGE)
    assert loud["loud"].acts_like == "treat all"


def test_rare_but_valuable_actions_are_not_called_treating_no_one():
    # acts on 0.5% of the rows only, but these are half of the positives
    y = np.repeat([1, 1, 0], [5, 5, 990])
    s = np.repeat([0.9, 0.001, 0.001], [5, 5, 990])
    assert evaluate(y, s, costs=RANGE).results[0].acts_like == ""


def test_without_costs_the_whole_range_counts():
    assert evaluate(Y, Q).costs == costs.Uniform(0, 1)


def test_infinite_mass_switches_to_the_loss_scale():
    result = evaluate(Y, Q, costs=costs.LogOddsUniform(0, 1))
    assert result.scale == "loss"
    assert result.results[0].score == pytest.approx(bounded_log_loss(Y, Q))
    assert f"model costs {result.results[0].score:.3f} on the scale of the loss (95%: " in result.conclusion[1]


def test_infinite_losses_stay_visible():
    result = evaluate(
        [0, 1, 0, 1], {"a": [0.0, 0.0, 0.4, 0.6], "b": [0.2, 0.3, 0.4, 0.6]}, costs=costs.LogOddsUniform(0, 1)
    )
    assert result["a"].score == math.inf
    assert result.ranking == ("b", "a")
    record = json.loads(result.to_json())["models"][1]
    assert record["score"] == "inf"
    assert record["ci_low"] is None
    assert all(isinstance(sentence, str) for sentence in result.conclusion)


@pytest.mark.parametrize(("label", "kind"), [(0, "negative"), (1, "positive")])
@pytest.mark.parametrize("rule", ["score", "optimal", 0.3])
def test_one_class_alone_is_refused_as_the_command_refuses_it(label, kind, rule):
    message = f"y_true must hold both classes, got 200 rows that are all {kind}"
    scores = np.linspace(0.01, 0.9, 200)
    with pytest.raises(ValueError, match=message):
        evaluate(np.full(200, label), {"a": scores, "b": scores**2}, costs=RANGE, rule=rule)
    with pytest.raises(ValueError, match=message):
        evaluate(ScoreTable.from_predictions(np.full(200, label), scores), costs=RANGE, rule=rule)
    weight = np.r_[0.0, np.ones(200)]
    with pytest.raises(ValueError, match=message):
        evaluate(np.r_[1 - label, np.full(200, label)], np.r_[0.5, scores], sample_weight=weight, costs=RANGE)


def test_a_prevalence_that_rounds_to_1_is_not_one_class():
    assert evaluate([1, 1, 1, 0], [0.3, 0.4, 0.5, 0.6], prevalence=1.0 - 2.0**-53).n_rows == 4


def test_prevalence_moves_every_number():
    shifted = evaluate(Y, Q, costs=RANGE, prevalence=0.5)
    assert shifted.prevalence == pytest.approx(0.5)
    assert shifted.results[0].score == pytest.approx(expected_regret(Y, Q, costs=costs.Uniform(*RANGE), prevalence=0.5))


def test_tables_in_other_formats_escape_names():
    result = evaluate(Y, {"a|b & <i>": Q}, costs=RANGE)
    assert "a\\|b & &lt;i>" in result.to_markdown()
    assert r"a\textbar{}b \& \textless{}i\textgreater{}" in result.to_latex()
    assert "a|b &amp; &lt;i&gt;" in result._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_prob": {}}, "at least one model"),
        ({"y_prob": {"treat all": Q}}, "names a reference"),
        ({"y_prob": None}, "y_prob is missing"),
        ({"y_prob": Q, "costs": (0.3, 0.1)}, r"0 <= low < high <= 1, got \(0.3, 0.1\)"),
        ({"y_prob": Q, "costs": "0.1"}, "costs must be a cost distribution"),
        ({"y_prob": Q, "scale": "brier"}, "scale must be one of"),
        ({"y_prob": Q, "rule": "best"}, "rule must be"),
        ({"y_prob": {"a": Q, "b": Q[:-1]}}, "same length"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(Y, **arguments)


@pytest.mark.parametrize("frame", ["risks.csv", 3, None, object(), Y, MODELS, [Y]])
def test_what_is_no_frame_is_refused_by_its_kind(frame):
    with pytest.raises(ValueError, match=f"frame must be a data frame, got {type(frame).__name__}"):
        evaluate_frame(frame, label="y", costs=RANGE)


def test_unknown_model_names_are_refused(result):
    with pytest.raises(ValueError, match="model must be one of 'honest'"):
        result.compare("honest", "dishonest")
    with pytest.raises(ValueError, match="kind must be"):
        result.curves("roc")


def test_real_units_scale_scores_intervals_differences_and_terms():
    plain = evaluate(Y, MODELS, costs=RANGE)
    money = evaluate(Y, MODELS, costs=RANGE, unit_cost=250, per=1000)
    factor = 250_000
    assert money["noise"].score == pytest.approx(factor * plain["noise"].score)
    assert money["noise"].standard_error == pytest.approx(factor * plain["noise"].standard_error)
    assert money["noise"].decomposition.uncertainty == pytest.approx(factor * plain["noise"].decomposition.uncertainty)
    assert money["noise"].decomposition.skill == pytest.approx(plain["noise"].decomposition.skill)
    ours = money.compare("noise", "honest")
    assert ours.difference == pytest.approx(factor * plain.compare("noise", "honest").difference)
    assert "per 1,000 decisions" in money.conclusion[1]
    with pytest.raises(ValueError, match='need scale="regret"'):
        evaluate(Y, Q, costs=RANGE, scale="loss", per=1000)


def test_further_metrics_become_columns():
    asked = {"net_benefit_score": {"threshold": 0.1}, "bounded_log_loss": {}, "h_measure_score": {}}
    record = json.loads(evaluate(Y, Q, costs=RANGE, metrics=asked).to_json())["models"][0]
    assert record["bounded_log_loss"] == pytest.approx(bounded_log_loss(Y, Q, bounds=RANGE))
    assert record["net_benefit_score"] == pytest.approx(net_benefit_score(Y, Q, threshold=0.1))
    assert evaluate(Y, Q, metrics=["roc_auc_score"]).results[0].metrics["roc_auc_score"] == roc_auc_score(Y, Q)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["brier"], "metrics must be registered for two classes .*got 'brier'"),
        (["penalized_brier_loss"], "two classes"),
        (["net_benefit_score"], "net_benefit_score needs threshold="),
        ({"roc_auc_score": {"bounds": (0, 1)}}, "takes no argument 'bounds'"),
        ("roc_auc_score", "a list of names or a mapping"),
    ],
)
def test_unknown_further_metrics_are_refused(metrics, message):
    with pytest.raises(ValueError, match=message):
        evaluate(Y, Q, metrics=metrics)


def test_share_acted_on_follows_the_rule():
    assert evaluate(Y, Q, costs=RANGE, rule=0.25).results[0].share_acted_on == pytest.approx((Q >= 0.25).mean())
    assert "optimistic" in evaluate(Y, Q, costs=RANGE, rule="optimal").conclusion[1]


def test_flat_metrics_are_the_numbers_of_the_table_under_names_that_mlflow_takes():
    y, p = [0, 1, 0, 1, 1] * 20, [0.1, 0.8, 0.3, 0.6, 0.2] * 20
    result = evaluate(y, {"../a (x)": p, "b": [0.4, 0.6, 0.5, 0.4, 0.7] * 20}, costs=(0.2, 0.6))
    flat = result.to_metrics()
    # mlflow 3: letters, digits and these signs, and a path that is its own normal form
    assert all(re.fullmatch(r"[/\w.\- :]+", name) and posixpath.normpath(name) == name for name in flat)
    assert all(type(value) is float for value in flat.values())
    for record in json.loads(result.to_json())["models"]:
        name = "__a _x_" if record["model"] == "../a (x)" else record["model"]
        assert flat[f"{name}/score"] == record["score"]
        assert flat[f"{name}/vs_best_ci_high"] == record["vs_best_ci_high"]
        assert flat[f"{name}/vs_best_simultaneous_high"] == record["vs_best_simultaneous_high"]
    with pytest.raises(ValueError, match="a second 'a_b'"):
        evaluate(y, {"a/b": p, "a(b": p}, costs=(0.2, 0.6)).to_metrics()


@pytest.mark.parametrize(
    "names", [[0, 1], [1, 0], [-1, 1], [0.5, 1.5], [False, True], [("x", "1"), ("x", "2")], [3, "b"]], ids=str
)
def test_columns_of_pandas_with_any_names_are_models(names):
    pd = pytest.importorskip("pandas")
    columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    models = pd.DataFrame(np.column_stack([MODELS["noise"], Q]), columns=columns)
    found, expected = (
        evaluate(Y, models, costs=RANGE),
        evaluate(Y, {"noise": MODELS["noise"], "honest": Q}, costs=RANGE),
    )
    for name, known in zip(names, ("noise", "honest"), strict=True):
        assert found[str(name)].score == expected[known].score
    left_in = pd.DataFrame(np.column_stack([Y, Q]), columns=columns)
    with pytest.raises(ValueError, match=r"^y_prob must hold models only, got the labels themselves in column"):
        evaluate(pd.Series(Y, name=names[0]), left_in, costs=RANGE)


def test_a_relation_of_models_is_referred_to_the_function_that_takes_it():
    pa, duckdb = (pytest.importorskip(name) for name in ("pyarrow", "duckdb"))
    models = duckdb.from_arrow(pa.table({"a": Q, "b": Q**2}))
    with pytest.raises(ValueError, match=r"^y_prob must be in memory, got DuckDBPyRelation: .*evaluate_frame"):
        evaluate(Y, models, costs=RANGE)


@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"]])
def test_both_classes_of_one_model_are_no_two_models(names):
    p = np.array([0.2, 0.7, 0.4, 0.9])
    both = pytest.importorskip("pandas").DataFrame(np.column_stack([1.0 - p, p]), columns=names)
    with pytest.raises(ValueError, match=r"add up to 1 in every row .*: pass the column of the positive class"):
        evaluate([0, 1, 0, 1], both, costs=(0.1, 0.3))
    assert evaluate([0, 1, 0, 1], dict(both), costs=(0.1, 0.3)).models == tuple(map(str, names))


@pytest.mark.parametrize("kind", ["eager", "lazy", "relation"])
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_both_classes_that_nobody_named_are_no_two_models_of_a_frame(kind, precision):
    pl, duckdb = (pytest.importorskip(name) for name in ("polars", "duckdb"))
    pytest.importorskip("pyarrow")
    known = pl.DataFrame({"y": Y, "no": (1.0 - Q).astype(precision), "yes": Q.astype(precision)})

    def built(frame):
        return {"eager": lambda: frame, "lazy": frame.lazy, "relation": lambda: duckdb.from_arrow(frame.to_arrow())}[
            kind
        ]()

    with pytest.raises(ValueError, match=r"'no' and 'yes' add up to 1, as both classes .*name the model columns with"):
        evaluate_frame(built(known), label="y", costs=RANGE)
    assert evaluate_frame(built(known), label="y", models=["no", "yes"], costs=RANGE).models == ("no", "yes")
    third = known.with_columns(half=pl.lit(0.5))
    assert evaluate_frame(built(third), label="y", costs=RANGE).models == ("no", "yes", "half")
    nearly = known.with_columns(no=pl.col("no") * 0.999)
    assert evaluate_frame(built(nearly), label="y", costs=RANGE).models == ("no", "yes")


def test_columns_of_pandas_whose_names_are_one_text_are_refused():
    models = pytest.importorskip("pandas").DataFrame(np.column_stack([MODELS["noise"], Q]), columns=[1, "1"])
    with pytest.raises(ValueError, match=r"^y_prob must have names that differ as text, got 1 and '1'"):
        evaluate(Y, models, costs=RANGE)
