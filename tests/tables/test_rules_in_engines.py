"""Rules as expressions and as SQL decide in the engine as they do here, to the last bit."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
import pytest
from engines import spark_file

from stakes import costs, expected_regret
from stakes.actions import apply_deferral
from stakes.boundary import fit_boundary
from stakes.boundary._rules import LevelRule, ShiftedRule
from stakes.correction import apply_class_weight, shift_prior, undo_class_weight, undo_sampling, update
from stakes.tables import _engines, loss_expression, onnx_column, sql_column
from stakes.utility import population_threshold

duckdb = pytest.importorskip("duckdb")
nw = pytest.importorskip("narwhals.stable.v2")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

ROWS = 10**6
DIALECTS = ["duckdb", "postgres", "bigquery", "snowflake", "spark"]
CORRECTIONS = {
    "class weight": lambda p: undo_class_weight(p, positive_share=0.9),
    "weights": lambda p: apply_class_weight(p, class_weight={0: 1.0, 1: 7.3}),
    "sampling": lambda p: undo_sampling(p, keep={0: 0.05, 1: 1}),
    "prior": lambda p: shift_prior(p, training_prior=0.3, prior=0.017),
    "log-odds": lambda p: shift_prior(p, training_prior=0.3, prior=0.017, logits=True),
}
RULES = {
    "levels": LevelRule(np.array([0.1, 0.25, 0.5]), np.array([0.31, 0.5, np.inf, -np.inf])),
    "one level": LevelRule(np.array([]), np.array([0.1])),
    "shifted": ShiftedRule(0.013, 0.77, -0.31, 0.4),
    "shifted by nothing": ShiftedRule(0.2, 0.2, 0.5, 0.4),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    columns = {"a risk": rng.random(ROWS), "spread": rng.random(ROWS).round(2)}
    columns["a risk"][:6] = [0.0, 1.0, 0.31, 0.5, np.nextafter(0.31, 0.0), np.nextafter(0.5, 1.0)]
    columns["spread"][:5] = [0.1, 0.25, 0.5, np.nextafter(0.1, 1.0), 0.0]
    return columns


def in_duckdb(rows, text):
    relation = duckdb.from_arrow(pa.table(rows))
    return relation.project(f"{text} AS found").to_arrow_table()["found"].to_numpy()


@pytest.mark.parametrize("name", RULES)
def test_a_boundary_decides_in_the_engine_as_here(rows, name):
    score, spread = rows["a risk"], rows["spread"]
    known = RULES[name].select(score, spread)
    text = str(RULES[name].expression(sql_column("a risk"), sql_column("spread")))
    np.testing.assert_array_equal(in_duckdb(rows, text), known)
    expression = RULES[name].expression(nw.col("a risk"), nw.col("spread"))
    for native in (pl.DataFrame(rows).lazy(), duckdb.from_arrow(pa.table(rows))):
        found = nw.from_native(native).select(found=expression)
        assert isinstance(found, nw.LazyFrame)
        np.testing.assert_array_equal(found.collect()["found"].to_numpy(), known)


@pytest.mark.parametrize("name", CORRECTIONS)
def test_a_correction_gives_the_same_bits_in_the_engine(rows, name):
    correct, known = CORRECTIONS[name], CORRECTIONS[name](rows["a risk"])
    np.testing.assert_array_equal(in_duckdb(rows, correct(sql_column("a risk"))), known)
    cut = float(np.median(known))
    np.testing.assert_array_equal(in_duckdb(rows, correct(sql_column("a risk")) >= cut), known >= cut)
    for native in (pl.DataFrame(rows).lazy(), duckdb.from_arrow(pa.table(rows))):
        found = nw.from_native(native).select(found=correct(nw.col("a risk")))
        np.testing.assert_array_equal(found.collect()["found"].to_numpy(), known)
    np.testing.assert_array_equal(pl.DataFrame(rows).select(correct(pl.col("a risk"))).to_series().to_numpy(), known)


@pytest.mark.parametrize("frame", [pl.DataFrame, pl.LazyFrame, pa.table, pd.DataFrame])
def test_columns_of_single_precision_are_corrected_and_priced_as_the_doubles_that_they_are(rows, frame):
    single = {name: values[2:1002].astype(np.float32) for name, values in rows.items()}
    risk, y = single["a risk"].astype(float), single["spread"] >= 0.5
    learned = {method: update(y, risk, method=method) for method in ("isotonic", "intercept")}
    corrected = CORRECTIONS | {method: each.predict for method, each in learned.items()}
    measure = costs.Uniform(0.1, 0.31)
    known = {name: correct(risk) for name, correct in corrected.items()} | {"cost": measure.row_loss(y, risk)}
    for col in (pl.col, nw.col) if frame in {pl.DataFrame, pl.LazyFrame} else (nw.col,):
        asked = {name: correct(col("a risk")) for name, correct in corrected.items()}
        asked |= {"cut": apply_deferral(col("a risk"), costs=0.31, deferral=0.05)}
        asked |= {"cost": loss_expression(col("a risk"), col("spread") >= 0.5, measure, scale="integral")}
        found = (frame(single) if col is pl.col else nw.from_native(frame(single))).select(**asked).lazy().collect()
        for name, values in known.items():
            np.testing.assert_array_equal(found[name].to_numpy(), values, err_msg=name)
        assert found["cut"].to_list() == apply_deferral(risk, costs=0.31, deferral=0.05).tolist()


def test_text_is_not_read_as_numbers():
    frame = pl.DataFrame({"risk": ["0.2", "0.4"]})
    for correct in CORRECTIONS.values():
        with pytest.raises(pl.exceptions.PolarsError):
            frame.select(correct(pl.col("risk")))
    with pytest.raises(pl.exceptions.PolarsError):
        frame.select(apply_deferral(pl.col("risk"), costs=0.3, deferral=0.05))


def test_a_fitted_boundary_is_written_in_every_dialect(rows):
    rng = np.random.default_rng(1)
    score, spread = rng.random(500), rng.random(500)
    boundary = fit_boundary(rng.random(500) < score, score, spread, min_precision=0.7)
    known = boundary.predict(rows["a risk"], rows["spread"])
    np.testing.assert_array_equal(in_duckdb(rows, boundary.to_sql("a risk", "spread")), known)
    texts = {dialect: boundary.to_sql("a risk", "spread", dialect=dialect) for dialect in DIALECTS}
    assert "`a risk`" in texts["spark"] and "`a risk`" in texts["bigquery"]  # noqa: PT018
    assert "AS FLOAT64)" in texts["bigquery"]
    # DuckDB reads the type's name in Postgres too
    np.testing.assert_array_equal(in_duckdb(rows, texts["postgres"]), known)
    assert texts["snowflake"] == texts["duckdb"]


@pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas
def test_rules_decide_in_spark_as_here(rows):
    rng = np.random.default_rng(1)
    score, spread = rng.random(500), rng.random(500)
    boundary = fit_boundary(rng.random(500) < score, score, spread, min_precision=0.7)
    texts = {"boundary": boundary.to_sql("a risk", "spread", dialect="spark")}
    known = {"boundary": boundary.predict(rows["a risk"], rows["spread"])}
    risk = sql_column("a risk", "spark")
    for name, rule in RULES.items():
        known[name] = rule.select(rows["a risk"], rows["spread"])
        texts[name] = str(rule.expression(risk, sql_column("spread", "spark")))
    for name, correct in CORRECTIONS.items():
        known[name] = correct(rows["a risk"])
        texts[name] = str(correct(risk))
    texts["cost"] = str(loss_expression(risk, sql_column("spread", "spark") >= 0.6, (0.1, 0.31), scale="integral"))
    known["cost"] = costs.Uniform(0.1, 0.31).row_loss(rows["spread"] >= 0.6, rows["a risk"])
    selected = [f"{text} AS `{name}`" for name, text in texts.items()]
    found = spark_file(rows | {"row": np.arange(ROWS)}).selectExpr("row", *selected).toArrow().sort_by("row")
    for name, values in known.items():
        np.testing.assert_array_equal(found[name].to_numpy(), values, err_msg=name)


def in_onnx(rows, model):
    import onnx
    import onnxruntime as runtime

    onnx.checker.check_model(model, full_check=True)
    content = model if isinstance(model, bytes) else model.SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(None, {item.name: rows[item.name] for item in session.get_inputs()})[0]


def test_rules_decide_in_onnx_as_here(rows):
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(1)
    score, spread = rng.random(500), rng.random(500)
    boundary = fit_boundary(rng.random(500) < score, score, spread, min_precision=0.7)
    found = in_onnx(rows, boundary.to_onnx("a risk", "spread"))
    np.testing.assert_array_equal(found, boundary.predict(rows["a risk"], rows["spread"]))
    for name, rule in RULES.items():
        found = in_onnx(rows, rule.expression(onnx_column("a risk"), onnx_column("spread")).model().SerializeToString())
        np.testing.assert_array_equal(found, rule.select(rows["a risk"], rows["spread"]), err_msg=name)
    for name, correct in CORRECTIONS.items():
        known, found = correct(rows["a risk"]), correct(onnx_column("a risk"))
        np.testing.assert_array_equal(in_onnx(rows, found.model().SerializeToString()), known, err_msg=name)
        cut = float(np.median(known))
        decided = in_onnx(rows, (found >= cut).model().SerializeToString())
        np.testing.assert_array_equal(decided, known >= cut, err_msg=name)


def test_a_formula_of_onnx_is_read_as_it_was_written():
    twice = (
        shift_prior(shift_prior(onnx_column("risk"), training_prior=0.5, prior=0.2), training_prior=0.2, prior=0.5)
        >= 0.25
    )
    values = {"risk": 0.3}
    known = shift_prior(shift_prior([0.3], training_prior=0.5, prior=0.2), training_prior=0.2, prior=0.5)[0] >= 0.25
    assert eval(str(twice), {"__builtins__": {}}, values) == known  # noqa: S307
    with pytest.raises(ValueError, match="name must be that of an input"):
        onnx_column("")
    with pytest.raises(ValueError, match="numbers in SQL and ONNX must be finite"):
        onnx_column("a") + np.nan


@pytest.mark.parametrize("name", [None, 5, "", "stakes.0"])
def test_names_that_cannot_stand_in_a_graph_of_onnx_are_refused(name):
    pytest.importorskip("onnx")
    for make in (onnx_column, (onnx_column("risk") * 2.0).model):
        with pytest.raises(ValueError, match=r"^name must be that of (an input|the output), "):
            make(name)


def test_an_input_is_not_named_as_the_output_of_onnx_is():
    pytest.importorskip("onnx")
    threshold = population_threshold([0, 1], [0.2, 0.6], "f1", n_resamples=0)
    for make in (lambda: threshold.to_onnx("decision"), lambda: (onnx_column("a") * onnx_column("b")).model("b")):
        with pytest.raises(
            ValueError, match=r"^the output of a model of ONNX needs another name .* got '(decision|b)'"
        ):
            make()


def test_columns_of_two_dialects_make_no_formula():
    for join in (lambda a, b: a * b, lambda a, b: a >= b):
        with pytest.raises(
            ValueError, match=r"^columns of one formula must be of one dialect, got 'duckdb' and 'spark'"
        ):
            join(sql_column("a"), sql_column("b", "spark"))


@pytest.mark.parametrize("scale", [None, "regret", "integral", "loss"])
@pytest.mark.parametrize(
    ("measure", "rule"),
    [
        (costs.Uniform(0.1, 0.31), "score"),
        (costs.Fixed(0.31, tie=0.25), "score"),
        (costs.Empirical([0.1, 0.31, 0.5], weights=[1, 3, 2]), "score"),
        (costs.Mixture([costs.Uniform(0.02, 0.3), costs.Fixed(0.5, tie=0.5)], [2, 1]), "score"),
        (costs.Uniform(0.1, 0.31), 0.31),
    ],
    ids=["uniform", "fixed", "empirical", "mixture", "rule"],
)
def test_what_a_row_costs_is_computed_in_the_engine(rows, measure, rule, scale):
    rows = {name: values[:50_000] for name, values in rows.items()}
    score, y = rows["a risk"], rows["spread"] > 0.6
    columns = rows | {"y": y.astype(float)}
    if scale == "loss" and measure.loss_factor is None:
        with pytest.raises(ValueError, match='scale="loss" is not defined'):
            loss_expression(sql_column("a risk"), sql_column("y") >= 1, measure, rule=rule, scale=scale)
        return
    known = expected_regret(y, score, costs=measure, rule=rule, scale=scale, per_sample=True)
    text = loss_expression(sql_column("a risk"), sql_column("y") >= 1, measure, rule=rule, scale=scale)
    found = [in_duckdb(columns, text)]
    whole = nw.from_native(pl.DataFrame(columns).lazy())
    expression = loss_expression(nw.col("a risk"), nw.col("y") == 1.0, measure, rule=rule, scale=scale)
    found.append(whole.select(found=expression).collect()["found"].to_numpy())
    if importlib.util.find_spec("onnxruntime"):
        given = onnx_column("a risk"), onnx_column("y") >= 1
        model = loss_expression(*given, measure, rule=rule, scale=scale).model("cost")
        found.append(in_onnx(columns, model))
    for values in found:
        np.testing.assert_allclose(values, known, rtol=1e-14, atol=1e-17)


@pytest.mark.parametrize("rule", ["score", 0.3])
def test_a_row_costs_nothing_known_where_its_score_or_label_is_missing(rule):
    columns = {"p": [0.1, None, np.nan, 1.2, np.inf, 0.9, 0.2], "y": [1.0, 1.0, 1.0, 0.0, 0.0, None, np.nan]}
    text = loss_expression(sql_column("p"), sql_column("y") >= 1, (0.2, 0.4), rule=rule)
    known = [expected_regret([1], [0.1], costs=(0.2, 0.4), rule=rule), *[None] * 6]
    assert in_duckdb_rows(columns, text) == pytest.approx(known)
    expression = loss_expression(nw.col("p"), nw.col("y") >= 1, (0.2, 0.4), rule=rule)
    frame = nw.from_native(pl.DataFrame(columns, strict=False).head(6))
    assert frame.select(found=expression)["found"].to_list() == pytest.approx(known[:6])
    if importlib.util.find_spec("onnxruntime"):
        model = loss_expression(onnx_column("p"), onnx_column("y") >= 1, (0.2, 0.4), rule=rule).model("cost")
        arrays = {name: np.array(values, dtype=float) for name, values in columns.items()}
        np.testing.assert_allclose(in_onnx(arrays, model), [known[0], *[np.nan] * 6])


def in_duckdb_rows(columns, text):
    return [row[0] for row in duckdb.from_arrow(pa.table(columns)).project(str(text)).fetchall()]


def test_costs_that_are_no_expression_are_refused():
    score, positive = sql_column("a"), sql_column("y") >= 1
    for measure, rule, message in [
        (costs.Beta(2, 5), "score", "have no losses that a data engine computes"),
        (costs.LogOddsUniform(0.1, 0.4), "score", "take logarithms"),
        (costs.Uniform(0.1, 0.4), "optimal", 'rule must be "score" or a threshold'),
        (costs.Uniform(0.1, 0.4), 20, r"rule must lie in \[0, 1\], got 20; 20% is 0\.2"),
    ]:
        with pytest.raises(ValueError, match=message):
            loss_expression(score, positive, measure, rule=rule)


def test_what_would_not_be_the_same_is_refused():
    rng = np.random.default_rng(1)
    score, spread = rng.random(500), rng.random(500)
    ranked = fit_boundary(rng.random(500) < score, score, spread, min_precision=0.7, solver="heuristic_recalibration")
    kinds = {type(ranked._rule).__name__}
    assert kinds <= {"ShiftedRule", "LevelRule"}
    with pytest.raises(ValueError, match="dialect must be one of"):
        ranked.to_sql("a", "b", dialect="oracle")
    with pytest.raises(ValueError, match="name must be that of a column in bigquery"):
        sql_column("a`b", "bigquery")
    with pytest.raises(ValueError, match="numbers in SQL and ONNX must be finite"):
        sql_column("a") + np.inf


def test_names_of_columns_cannot_leave_their_quotes():
    rows = {'x" OR 1=1 --': np.array([0.2, 0.8])}
    assert in_duckdb(rows, sql_column('x" OR 1=1 --') >= 0.5).tolist() == [False, True]


def test_logarithm_of_zero_is_taken_without_a_warning():
    frame = pytest.importorskip("pandas").DataFrame({"a": [0.0, 1.0, np.e]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = nw.from_native(frame).select(_engines._logarithm(nw.col("a"))).to_native()
    assert found["a"].tolist() == [-np.inf, 0.0, 1.0]
