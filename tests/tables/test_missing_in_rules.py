"""A rule decides about missing, infinite and tied values in every engine as it does here, or not at all."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pytest
from engines import _spark, duckdb_file

from stakes.actions import DeferralPair, apply_deferral, fit_deferral
from stakes.boundary import Boundary, fit_boundary, precision_recall_frontier
from stakes.correction import shift_prior, undo_class_weight
from stakes.outcomes import RowDecisions, decide_rows
from stakes.tables import onnx_column, sql_column
from stakes.utility import PopulationThreshold, population_threshold

duckdb = pytest.importorskip("duckdb")
nw = pytest.importorskip("narwhals.stable.v2")
pl = pytest.importorskip("polars")

SPECIAL = [None, np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -0.5, 1.5, 5e-324, 1.7976931348623157e308, -1e300]

AMOUNT = [-1.0, 20.0, *SPECIAL[:-2]]  # the sum of larger ones is no number


def learned(seed, **options):
    rng = np.random.default_rng(seed)
    n = 4000
    score, spread = rng.random(n).round(2) ** 2, rng.random(n)
    y = rng.random(n) < score ** (0.5 + 2.0 * spread)
    return fit_boundary(y, score, spread, random_state=0, **options)


def ratio_pair():
    rng = np.random.default_rng(3)
    score = rng.random(500).round(2)
    return fit_deferral(rng.random(500) < score, score, costs=0.3, deferral=0.1)


def best_threshold(measure="f1"):
    rng = np.random.default_rng(4)
    score = rng.random(300).round(2)
    return population_threshold(rng.random(300) < score, score, measure, n_resamples=20, random_state=0)


def amounts(**options):
    return decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20], **options)


BOUNDARIES = {
    "levels": lambda: learned(0, min_precision=0.7, levels=7),
    "shifted": lambda: learned(1, min_precision=0.7, solver="heuristic_recalibration"),
    "ranked": lambda: learned(2, min_precision=0.7, solver="ranker"),
    "certified": lambda: learned(2, min_precision=0.7, confidence_level=0.9),
    "abstained": lambda: learned(2, min_precision=0.999, confidence_level=0.999),
}
SCORES = {
    "threshold": best_threshold,
    "threshold from below": lambda: PopulationThreshold(
        best_threshold().measure, 0.4, 0.5, np.empty(0), np.empty(0), 0.95, _descending=False
    ),
    "pair": ratio_pair,
    "pair that acts on none": lambda: DeferralPair(0.25, np.inf, 0.1, 0.2, unique=True),
}
AMOUNTS = {
    "amounts": amounts,
    "amounts set aside": lambda: amounts(on_dominated="set_aside"),
    "amounts by a factor": lambda: amounts(factor=0.3, on_dominated="set_aside"),
}


def made(name):
    """The rule, and the columns that it decides by."""
    if name in BOUNDARIES:
        return BOUNDARIES[name](), ("a risk", "spread")
    if name in SCORES:
        return SCORES[name](), ("a risk",)
    return AMOUNTS[name](), ("a risk", "fp", "fn")


ALL = [*BOUNDARIES, *SCORES, *AMOUNTS]


def drawn(rule, names, rows=400):
    """Rows about the edges of a rule, and every pair of special values."""
    rng = np.random.default_rng(7)
    edges = [0.25, 0.3, 0.4, 0.5]
    if isinstance(rule, Boundary) and hasattr(rule._rule, "steps"):
        steps = rule._rule.steps
        edges += steps[np.isfinite(steps)][:60].tolist()
    elif isinstance(rule, Boundary):
        edges += [t for t in np.ravel(rule.thresholds if rule.thresholds is not None else []) if np.isfinite(t)]
    elif hasattr(rule, "low"):
        edges += [t for t in (rule.low, rule.high) if np.isfinite(t)]
    ties = [float(near) for edge in edges for near in (edge, np.nextafter(edge, -9.0), np.nextafter(edge, 9.0))]
    values = {"a risk": [*SPECIAL, *ties, *rng.random(rows).tolist()]}
    cuts = [0.5]
    if isinstance(rule, Boundary):
        cuts += getattr(rule._rule, "ranker", rule).knots.tolist() if hasattr(rule._rule, "ranker") else []
        cuts += rule.cuts.tolist()
    values["spread"] = [*SPECIAL, *cuts, *rng.random(rows).tolist()]
    for name in ("fp", "fn"):
        values[name] = [*AMOUNT, 5.0, 15.0, *rng.normal(10.0, 10.0, rows).tolist()]
    picked = {name: [values[name][i] for i in rng.integers(len(values[name]), size=2000)] for name in names}
    special = np.array(np.meshgrid(*[np.arange(len(SPECIAL))] * len(names))).reshape(len(names), -1)
    return {name: [*picked[name], *(values[name][i] for i in special[k])] for k, name in enumerate(names)}


def one_by_one(rule, columns, missing):
    """What predict says of each row alone; None where it raises."""
    arrays = {name: np.array(values, dtype=float) for name, values in columns.items()}
    found = []
    for row in zip(*arrays.values(), strict=True):
        one = [np.array([value]) for value in row]
        try:
            if isinstance(rule, RowDecisions):
                found += rule.predict(one[0], false_positive=one[1], false_negative=one[2], missing=missing).tolist()
            else:
                found += rule.predict(*one, missing=missing).tolist()
        except ValueError:
            found.append(None)
    return found


def in_sqlite(columns, text, kind="REAL"):
    with sqlite3.connect(":memory:") as connection:
        names = ", ".join(f'"{name}" {kind}' for name in columns)
        connection.execute(f"CREATE TABLE t (row INTEGER, {names})")
        marks = ", ".join("?" * (len(columns) + 1))
        rows = zip(range(len(next(iter(columns.values())))), *columns.values(), strict=True)
        connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)  # noqa: S608
        return [row[0] for row in connection.execute(f"SELECT {text} FROM t ORDER BY row")]  # noqa: S608


@pytest.mark.parametrize("missing", ["refuse", "act", "wait"])
@pytest.mark.parametrize("name", ALL)
def test_sqlite_reads_columns_of_texts_as_the_numbers_that_they_spell(name, missing):
    rule, names = made(name)
    rng = np.random.default_rng(4)
    spelt = {each: [0.6, 0.6, 0.6, 0.6, 5e-05, *rng.random(200).round(3).tolist(), np.inf, -np.inf] for each in names}
    texts = {
        each: ["0.6", ".6", "6e-1", " 0.6", "5e-05", *(f"{value:.3f}" for value in values[5:-2]), "9e999", "-9e999"]
        for each, values in spelt.items()
    }
    found = in_sqlite(texts, rule.to_sql(*names, dialect="sqlite", missing=missing), kind="TEXT")
    assert found == one_by_one(rule, spelt, missing)
    for no_number in ("", "n/a", "0.6 or so"):
        columns = {each: [no_number] for each in names}
        assert in_sqlite(columns, rule.to_sql(*names, dialect="sqlite", missing=missing), kind="TEXT") == [None]


def numbered(columns):
    return columns | {"row": list(range(len(next(iter(columns.values())))))}


@pytest.mark.parametrize("missing", ["refuse", "act", "wait"])
@pytest.mark.parametrize("name", ALL)
def test_sql_and_expressions_decide_about_missing_infinite_and_tied_values_as_predict(name, missing):
    rule, names = made(name)
    columns = drawn(rule, names)
    known = one_by_one(rule, columns, missing)
    assert known.count(None) > 10
    assert {0, 1} <= set(known) or name in {"abstained", "pair that acts on none"}
    assert in_sqlite(columns, rule.to_sql(*names, dialect="sqlite", missing=missing)) == known
    relation = duckdb_file(numbered(columns))
    # DuckDB reads the name of a double in Postgres, and its test of NaN, too
    for dialect in ("duckdb", "postgres"):
        text = rule.to_sql(*names, dialect=dialect, missing=missing)
        assert [row[0] for row in relation.order("row").project(text).fetchall()] == known
    expression = rule.to_expression(*names, missing=missing)
    for native in (pl.LazyFrame(numbered(columns), strict=False), relation):
        found = nw.from_native(native).select("row", found=expression).collect().sort("row")["found"].to_list()
        assert found == known
    polars = pl.DataFrame(columns, strict=False)
    assert polars.select(found=by_columns(rule, [pl.col(each) for each in names], missing))["found"].to_list() == known


def by_columns(rule, columns, missing):
    if isinstance(rule, RowDecisions):
        return rule.predict(columns[0], false_positive=columns[1], false_negative=columns[2], missing=missing)
    return rule.predict(*columns, missing=missing)


@pytest.mark.parametrize("name", ALL)
def test_columns_of_single_precision_are_decided_as_predict_decides_them(name):
    rule, names = made(name)
    with np.errstate(over="ignore"):
        columns = {key: np.array(values, dtype=float).astype(np.float32) for key, values in drawn(rule, names).items()}
    known = one_by_one(rule, columns, "refuse")
    frame, expression = pl.DataFrame(columns), rule.to_expression(*names)
    assert set(frame.dtypes) == {pl.Float32}
    found = [frame.select(found=by_columns(rule, [pl.col(each) for each in names], "refuse"))]
    for native in (frame, frame.lazy(), frame.to_arrow()):
        decided = nw.from_native(native).select(found=expression)
        found.append(decided.collect() if isinstance(decided, nw.LazyFrame) else decided)
    for each in found:
        assert each["found"].to_list() == known


@pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas
@pytest.mark.parametrize("missing", ["refuse", "wait"])
def test_spark_decides_about_missing_infinite_and_tied_values_as_predict(missing):
    pytest.importorskip("pyspark.sql")
    for name in ALL:
        rule, names = made(name)
        columns = drawn(rule, names)
        frame = _spark().createDataFrame(pl.DataFrame(numbered(columns), strict=False).to_arrow())
        found = frame.selectExpr("row", f"{rule.to_sql(*names, dialect='spark', missing=missing)} AS found").toArrow()
        assert found.sort_by("row")["found"].to_pylist() == one_by_one(rule, columns, missing), name


@pytest.mark.parametrize("missing", ["refuse", "act", "wait"])
@pytest.mark.parametrize("name", ALL)
def test_onnx_decides_about_nan_infinite_and_tied_values_as_predict(name, missing):
    runtime, checker = pytest.importorskip("onnxruntime"), pytest.importorskip("onnx").checker
    rule, names = made(name)
    columns = drawn(rule, names)
    model = rule.to_onnx(*names, missing=missing)
    checker.check_model(model, full_check=True)
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    arrays = {each: np.array(values, dtype=float) for each, values in columns.items()}
    found = session.run(None, {item.name: arrays[item.name] for item in session.get_inputs()})[0]
    nothing = np.nan if isinstance(rule, DeferralPair) else -1
    known = [nothing if each is None else each for each in one_by_one(rule, columns, missing)]
    np.testing.assert_array_equal(found, known)


def test_a_missing_value_is_refused_in_python_unless_something_is_said():
    pair, gone = ratio_pair(), [0.9, None, 0.01]
    with pytest.raises(
        ValueError, match=r'got nan at index 1 \(1 of 3 are missing\): say missing="act" or "wait" or "d'
    ):
        pair.predict(gone)
    assert pair.predict(gone, missing="defer").tolist() == [1, -1, 0]
    assert apply_deferral(gone, costs=0.2, deferral=0.05, missing="act").tolist() == [1, 1, 0]
    boundary = BOUNDARIES["levels"]()
    with pytest.raises(ValueError, match=r"uncertainty must be finite, got nan at index 2 \(1 of 3 are missing\)"):
        boundary.predict([0.9, 0.8, 0.7], [0.1, 0.1, np.nan])
    for rule in (pair, boundary, best_threshold()):
        columns = [[np.nan, np.nan]] * (2 if isinstance(rule, Boundary) else 1)
        assert rule.predict(*columns, missing="act").tolist() == [1, 1]
        with pytest.raises(ValueError, match="missing must be one of"):
            rule.predict(*columns, missing="drop")
        with pytest.raises(ValueError, match="missing must be one of"):
            rule.to_sql(*["a", "b"][: len(columns)], missing="drop")
    with pytest.raises(ValueError, match="score must be finite, got inf at index 1"):
        boundary.predict([np.nan, np.inf], [0.1, 0.1], missing="wait")
    frontier = precision_recall_frontier([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1, 1, 1, 1])
    assert frontier.predict([np.nan, 0.75], [1, 1], min_precision=0.6, missing="wait").tolist() == [0, 1]


def test_rows_with_missing_amounts_are_decided_as_said_and_cost_nothing():
    found = decide_rows([0.5, np.nan, 0.4], false_positive=5, false_negative=[15, 20, np.nan], missing="act")
    assert (found.act.tolist(), found.n_missing) == ([True, True, True], 2)
    alone = decide_rows([0.5], false_positive=5, false_negative=15)
    assert (found.expected_cost, found.none, found.all) == (alone.expected_cost, alone.none, alone.all)
    np.testing.assert_array_equal(found.threshold, [0.25, np.nan, np.nan])
    with pytest.raises(ValueError, match="y_prob must be finite, got nan at index 1"):
        decide_rows([0.5, np.nan], false_positive=5, false_negative=15)


@pytest.mark.parametrize(("missing", "acted"), [("act", True), ("wait", False)])
def test_rows_that_all_lack_something_are_decided_as_said_and_cost_nothing(missing, acted):
    given = {"false_positive": [5, 5, None], "false_negative": [15, np.nan, 20]}
    found = decide_rows([np.nan, 0.5, 0.4], **given, factor=2.0, on_dominated="set_aside", missing=missing)
    for each in (found, RowDecisions.from_json(found.to_json())):
        assert each.act.tolist() == [acted] * 3
        assert np.isnan(each.threshold).all()
        assert each.threshold.shape == (3,)
        assert (each.expected_cost, each.none, each.all) == (0.0, 0.0, 0.0)
        assert (each.n_set_aside, each.n_missing, each.factor, each.on_dominated) == (0, 3, 2.0, "set_aside")
        assert each.predict([0.5, 0.5], false_positive=[5, -5], false_negative=10).tolist() == [1, 1]


def test_scores_of_a_boundary_beside_missing_ones_need_be_no_probabilities():
    boundary = fit_boundary([0, 1, 0, 1], [-3.0, 5.0, -2.0, 7.0], [1, 1, 2, 2], capacity=2, levels=1)
    found = boundary.predict([9.0, np.nan, -9.0], [1, 1, 1], missing="wait")
    assert found.tolist() == boundary.predict([9.0, -9.0, -9.0], [1, 1, 1]).tolist() == [1, 0, 0]


def test_what_else_is_wrong_beside_a_missing_value_is_refused_as_without_it():
    amounts = {"false_positive": [5.0, np.nan], "false_negative": 15.0}
    with pytest.raises(ValueError, match=r"y_prob must lie in \[0, 1\], got 1\.5 at index 1"):
        decide_rows([0.5, 1.5], **amounts, missing="wait")
    assert decide_rows([0.5, 0.9], **amounts, missing="wait").act.tolist() == [True, False]
    boundary = BOUNDARIES["levels"]()
    for missing in ("refuse", "act", "wait"):
        with pytest.raises(ValueError, match="score and uncertainty must have the same length, got 3 and 2"):
            boundary.predict([0.9, 0.8, 0.7], [0.1, 0.1], missing=missing)
        with pytest.raises(ValueError, match="score and uncertainty must have the same length, got 3 and 2"):
            boundary.predict([0.9, np.nan, 0.7], [0.1, 0.1], missing=missing)


def test_a_kept_threshold_that_acts_on_none_is_read_back():
    text = population_threshold([0, 1], [0.2, 0.6], "f1", n_resamples=0).to_json()
    kept = PopulationThreshold.from_json(json.dumps({**json.loads(text), "threshold": "inf"}))
    assert (kept.threshold, kept.predict([0.1, 1.0]).tolist()) == (np.inf, [0, 0])


def test_what_is_to_be_decided_without_a_score_is_one_of_the_words_for_it():
    with pytest.raises(ValueError, match=r"missing must be one of 'refuse', 'act', 'wait', 'defer', got array"):
        apply_deferral([0.2], costs=0.1, deferral=0.1, missing=np.array([]))


def test_a_deferral_zone_is_written_as_a_pair_is():
    option = {"costs": 0.2, "deferral": 0.05}
    columns = {"a risk": [*SPECIAL, 0.0625, np.nextafter(0.0625, 1.0), 0.75, np.nextafter(0.75, 0.0), 0.3]}
    for missing in ("refuse", "defer"):
        known = []
        for value in columns["a risk"]:
            try:
                known += apply_deferral(np.array([value], dtype=float), **option, missing=missing).tolist()
            except ValueError:
                known.append(None)
        text = str(apply_deferral(sql_column("a risk", "sqlite"), **option, missing=missing))
        assert in_sqlite(columns, text) == known
        assert {-1, 0, 1} <= set(known)
    with pytest.raises(ValueError, match="capacity must be None for an expression"):
        apply_deferral(sql_column("p"), **option, capacity=0.1)


def test_a_comparison_has_no_decision_where_the_score_is_missing():
    columns = {"p": [None, np.nan, 0.1, 0.9]}
    relation = duckdb_file(columns)
    for formula in (sql_column("p") >= 0.5, shift_prior(sql_column("p"), training_prior=0.5, prior=0.4) >= 0.5):
        assert [row[0] for row in relation.project(str(formula)).fetchall()] == [None, None, False, True]
        assert len(relation.filter(str(formula)).fetchall()) == 1
    corrected = undo_class_weight(sql_column("p"), positive_share=0.9)
    found = [row[0] for row in relation.project(str(corrected)).fetchall()]
    assert found[0] is None
    assert np.isnan(found[1])
    runtime = pytest.importorskip("onnxruntime")
    model = (onnx_column("p") >= 0.5).model()
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    assert session.run(None, {"p": np.array([np.nan, np.inf, 0.1, 0.9])})[0].tolist() == [-1, -1, 0, 1]


@pytest.mark.parametrize("name", ALL)
def test_a_rule_that_was_kept_decides_as_before(name):
    rule, names = made(name)
    again = type(rule).from_json(rule.to_json())
    assert again.to_json() == rule.to_json()
    assert again.to_sql(*names) == rule.to_sql(*names)
    columns = drawn(rule, names)
    assert one_by_one(again, columns, "wait") == one_by_one(rule, columns, "wait")


def test_damaged_rules_are_refused_by_the_name_of_the_entry():
    pair, best, rows = ratio_pair(), best_threshold("mcc"), amounts()
    for rule, old, new, message in [
        (pair, '"low":', '"low": 0.999, "was":', "low must be at most high"),
        (pair, '"unique": ', '"unique": 1, "was": ', "unique must be true or false"),
        (best, '"mcc"', '"mcd"', "measure must be the name of one"),
        (best, '"descending": true', '"descending": null', "descending must be true or false"),
        (rows, '"factor": 1.0', '"factor": 0', "factor must be a number > 0"),
        (rows, '"act": [1, 0]', '"act": [1, 2]', "act must be made of 0 and 1"),
    ]:
        text = rule.to_json()
        assert old in text
        with pytest.raises(ValueError, match=message):
            type(rule).from_json(text.replace(old, new))


def test_numbers_of_sqlite_are_read_to_the_last_bit():
    rng = np.random.default_rng(0)
    values = [*rng.random(200), *np.ldexp(rng.random(200), rng.integers(-1070, 1020, 200)), 5e-324, 1e308, -0.1, 3.0]
    with sqlite3.connect(":memory:") as connection:
        for value in values:
            text = str(sql_column("x", "sqlite") + float(value)).removeprefix('("x" + ').removesuffix(")")
            assert connection.execute(f"SELECT {text}").fetchone()[0] == value


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
@pytest.mark.parametrize(("kind", "largest"), [("TINYINT", 127), ("INTEGER", 2**31 - 1), ("BIGINT", 2**63 - 1)])
@pytest.mark.parametrize("name", AMOUNTS)
def test_whole_amounts_whose_sum_their_type_does_not_hold_are_decided_as_predict_decides_them(
    name, kind, largest, dialect
):
    rule, names = made(name)
    amounts = [largest, largest // 2, largest // 3 * 2, 3]
    pairs = [(score, a, b) for score in (0.1, 0.4, 0.5, 0.6) for a in amounts for b in amounts]
    columns = dict(zip(names, map(list, zip(*pairs, strict=True)), strict=True))
    known = one_by_one(rule, columns, "refuse")
    text = rule.to_sql(*names, dialect=dialect)
    if dialect == "sqlite":
        assert in_sqlite(columns, text, kind="NUMERIC") == known
        return
    typed = ", ".join(f'"{each}"::{kind} AS "{each}"' for each in names[1:])
    rows = duckdb.from_arrow(pl.DataFrame(numbered(columns)).to_arrow())
    relation = rows.project(f'row, "{names[0]}", {typed}')
    assert [row[0] for row in relation.order("row").project(text).fetchall()] == known
