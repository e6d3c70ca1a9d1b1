"""A model's scores updated to new rows: fits against other libraries, tests by hand, gains, engines, what is kept."""

import dataclasses
import json
import math
import sqlite3

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.stats import chi2, poisson

from stakes import ScoreTable, TimeToEvent, costs
from stakes.correction import METHODS, ModelUpdate, update
from stakes.correction._update import UpdateTest, _level_after_rejection
from stakes.tables import sql_column

FITTED = ("intercept", "logistic", "beta", "isotonic")


def draw(n=1500, shift=0.4, slope=0.7, seed=1):
    """Rows whose log-odds are ``shift + slope * x`` where the model says x; two decimals, so that scores are tied."""
    rng = np.random.default_rng(seed)
    x = np.log(1.0 / np.clip(rng.beta(2, 5, n).round(2), 0.01, 0.99) - 1.0) * -1.0
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-shift - slope * x))
    return y.astype(int), 1.0 / (1.0 + np.exp(-x)), rng.integers(1, 4, n).astype(float)


Y, S, W = draw()
X = np.log(S / (1.0 - S))


def values(found):
    return {each.metric: each.value for each in found.coefficients}


def log_likelihood(p, y=Y, w=1.0):
    return float(np.sum(w * np.where(y == 1, np.log(p), np.log(1.0 - p))))


def inverse(eta):
    return 1.0 / (1.0 + np.exp(-eta))


def by_minimize(design, offset=0.0, bounds=None, w=1.0):
    """Coefficients of the largest likelihood by scipy's general minimiser."""

    def loss(beta):
        eta = design @ beta + offset
        return np.sum(w * (np.logaddexp(0.0, eta) - Y * eta)), design.T @ (w * (inverse(eta) - Y))

    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000}
    return minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x


@pytest.mark.parametrize("weight", [None, W], ids=["alone", "weighted"])
def test_the_intercept_makes_the_mean_score_the_event_rate(weight):
    root = brentq(lambda a: np.average(inverse(a + X) - Y, weights=weight), -5, 5, xtol=1e-14)
    found = update(Y, S, method="intercept", sample_weight=weight)
    assert values(found) == {"intercept": pytest.approx(root, abs=1e-9)}
    assert np.average(found.predict(S), weights=weight) == pytest.approx(np.average(Y, weights=weight), rel=1e-9)


@pytest.mark.parametrize("weight", [None, W], ids=["alone", "weighted"])
def test_the_logistic_update_is_a_logistic_regression_on_the_log_odds(weight):
    linear = pytest.importorskip("sklearn.linear_model")
    model = linear.LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X[:, None], Y, sample_weight=weight)
    found = update(Y, S, method="logistic", sample_weight=weight)
    expected = {"intercept": model.intercept_[0], "slope": model.coef_[0, 0]}
    assert values(found) == pytest.approx(expected, abs=1e-5)
    assert found.predict(S) == pytest.approx(model.predict_proba(X[:, None])[:, 1], abs=1e-5)


def test_standard_errors_are_those_of_the_inverse_information_and_with_weights_of_the_sandwich():
    design = np.column_stack([np.ones(len(X)), X])
    for weight in (np.ones(len(Y)), W):
        found = update(Y, S, method="logistic", sample_weight=weight)
        p = found.predict(S)
        bread = np.linalg.inv(design.T @ (design * (weight * p * (1 - p))[:, None]))
        meat = design.T @ (design * ((weight * (Y - p)) ** 2)[:, None])
        covariance = bread if weight.max() == 1.0 else bread @ meat @ bread
        assert [each.standard_error for each in found.coefficients] == pytest.approx(np.sqrt(np.diag(covariance)))
        low, high = found.coefficients[1].interval
        assert (high - low) / 2 == pytest.approx(1.959963984540054 * math.sqrt(covariance[1, 1]))


def test_isotonic_steps_are_those_of_scikit_learn():
    isotonic = pytest.importorskip("sklearn.isotonic")
    for weight in (None, W):
        found = update(Y, S, method="isotonic", sample_weight=weight)
        expected = isotonic.IsotonicRegression().fit(S, Y, sample_weight=weight).predict(S)
        assert found.predict(S) == pytest.approx(expected, abs=1e-12)
        assert len(found.values) == len(np.unique(expected.round(12)))


def test_a_score_between_two_steps_takes_the_nearer_one():
    found = update([0] * 20 + [1, 0] * 20 + [1] * 20, [0.2] * 20 + [0.4] * 40 + [0.8] * 20, method="isotonic")
    assert found.cuts.tolist() == pytest.approx([0.3, 0.6])
    assert found.predict([0.0, 0.29, 0.31, 0.59, 0.61, 1.0]).tolist() == [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]
    # a score at a cut takes the lower step, in every engine
    at, above = found.cuts.tolist(), np.nextafter(found.cuts, 1.0).tolist()
    assert found.predict(at + above).tolist() == [0.0, 0.5, 0.5, 1.0]
    for engine in ENGINES[2:4]:
        assert engine(found, at + above) == [0.0, 0.5, 0.5, 1.0]


def beta_design():
    return np.column_stack([np.ones(len(S)), np.log(S), -np.log(1.0 - S)])


@pytest.mark.parametrize("weight", [None, W], ids=["alone", "weighted"])
def test_beta_calibration_maximises_the_likelihood_with_a_and_b_not_negative(weight):
    bounds = [(None, None), (0, None), (0, None)]
    c, a, b = by_minimize(beta_design(), bounds=bounds, w=1.0 if weight is None else weight)
    found = update(Y, S, method="beta", sample_weight=weight)
    assert values(found) == pytest.approx({"c": c, "a": a, "b": b}, abs=2e-4)
    assert found.predict(S) == pytest.approx(inverse(beta_design() @ [c, a, b]), abs=1e-4)
    w, p, design = np.ones(len(Y)) if weight is None else weight, found.predict(S), beta_design()
    covariance = bread = np.linalg.inv(design.T @ (design * (w * p * (1 - p))[:, None]))
    if weight is not None:
        covariance = bread @ (design.T @ (design * ((w * (Y - p)) ** 2)[:, None])) @ bread
    errors = [each.standard_error for each in found.coefficients]
    assert errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-6)


@pytest.mark.parametrize(("power", "bound"), [(1, "a"), (2, "b")])
def test_beta_calibration_stops_at_its_bounds(power, bound):
    """Events that do not become fewer where the score falls (or more, where it rises): one coefficient is 0."""
    rng = np.random.default_rng(5)
    s = rng.uniform(0.01, 0.99, 3000)
    lower = np.where(s < 0.5, 0.45 - 0.3 * (s < 0.1), 0.45 + 0.8 * (s - 0.5))
    p = lower[::1] + 0.3 * (s < 0.05) if power == 1 else 1.0 - (lower + 0.3 * (s < 0.05))[::1]
    s = s if power == 1 else 1.0 - s
    y = (
        rng.random(3000) < np.clip(p + (0.25 if power == 1 else -0.25) * (s < 0.2 if power == 1 else s > 0.8), 0, 1)
    ) * 1
    design = np.column_stack([np.ones(len(s)), np.log(s), -np.log(1.0 - s)])

    def loss(beta):
        eta = design @ beta
        return np.sum(np.logaddexp(0.0, eta) - y * eta), design.T @ (inverse(eta) - y)

    bounds = [(None, None), (0, None), (0, None)]
    known = minimize(loss, np.zeros(3), jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15}).x
    found = update(y, s, method="beta")
    assert list(values(found).values()) == pytest.approx(known, abs=1e-3)
    assert values(found)[bound] == 0.0
    at_bound = next(each for each in found.coefficients if each.metric == bound)
    assert np.isnan(at_bound.interval).all()
    assert "at its bound 0" in at_bound.note
    end = 0.0 if bound == "a" else 1.0
    assert found.predict([end])[0] == pytest.approx(inverse(values(found)["c"]))


def test_the_likelihood_ratios_are_those_computed_by_hand():
    alone = brentq(lambda a: np.sum(inverse(a + X) - Y), -5, 5, xtol=1e-14)
    both = by_minimize(np.column_stack([np.ones(len(X)), X]))
    full = log_likelihood(inverse(both[0] + both[1] * X))
    expected = 2 * (full - log_likelihood(S)), 2 * (full - log_likelihood(inverse(alone + X)))
    for method in METHODS:
        tests = update(Y, S, method=method).tests
        assert [(test.hypothesis, test.degrees) for test in tests] == [("original", 2), ("intercept", 1)]
        assert [test.statistic for test in tests] == pytest.approx(expected, abs=1e-6)
        assert [test.p_value for test in tests] == pytest.approx(
            [chi2.sf(v, k) for v, k in zip(expected, (2, 1), strict=True)]
        )


def test_weights_that_only_scale_change_no_test():
    first, second, alone = update(Y, S, sample_weight=W), update(Y, S, sample_weight=7.0 * W), update(Y, S)
    assert [t.statistic for t in first.tests] == pytest.approx([t.statistic for t in second.tests])
    # weights of one are those of rows without, and the design effect of 1, 2 and 3 is E w^2 / (E w)^2 = 7 / 6
    assert update(Y, S, sample_weight=np.ones(len(Y))).tests == alone.tests
    assert first.tests[0].statistic == pytest.approx(alone.tests[0].statistic * 6 / 7, rel=0.2)


@pytest.mark.parametrize(
    ("shift", "slope", "method"), [(0.0, 1.0, "none"), (0.8, 1.0, "intercept"), (0.0, 0.4, "logistic")]
)
def test_auto_takes_the_smallest_update_that_is_not_rejected(shift, slope, method):
    y, s, _ = draw(4000, shift, slope, seed=3)
    found = update(y, s)
    assert (found.method, found.requested) == (method, "auto")
    first, second = found.tests
    wanted = "none" if first.p_value >= 0.05 else "intercept" if second.p_value >= 0.05 else "logistic"
    assert found.method == wanted
    if method == "none":
        assert [gain.value for gain in found.gains] == [0.0, 0.0]
        assert found.predict(s).tolist() == s.tolist()


def test_the_level_of_the_tests_is_one_less_the_confidence_level():
    y, s, _ = draw(400, 0.25, 1.0, seed=13)
    p = update(y, s).tests[0].p_value
    assert update(y, s, confidence_level=1.0 - 2.0 * p).method != "none"
    assert update(y, s, confidence_level=1.0 - p / 2.0).method == "none"


def test_the_gain_is_the_fall_of_each_loss_on_rows_that_were_left_out():
    """Leaving each row out in turn: with as many folds as rows the folds are known."""
    y, s = np.array([0, 1, 1, 0] * 5 * 2), np.array([0.3, 0.6, 0.2, 0.5] * 5 * 2)
    found = update(y, s, method="intercept", cv=20, costs=(0.1, 0.4), random_state=4)
    order = np.lexsort([y, s])
    y, s = y[order], s[order]
    fold = np.random.default_rng(4).permutation(40) % 20
    new = np.empty(40)
    x = np.log(s / (1 - s))
    for k in range(20):
        mine = fold == k
        a = brentq(lambda a, mine=mine: np.sum(inverse(a + x[~mine]) - y[~mine]), -9, 9, xtol=1e-14)
        new[mine] = inverse(a + x[mine])
    known = {
        "log_loss": (log_likelihood(new, y) - log_likelihood(s, y)) / 40,
        "brier_score": np.mean((y - s) ** 2 - (y - new) ** 2),
        "regret": np.mean(costs.Uniform(0.1, 0.4).row_loss(y == 1, s) - costs.Uniform(0.1, 0.4).row_loss(y == 1, new)),
    }
    known["regret"] /= costs.Uniform(0.1, 0.4).mass
    assert {gain.metric: gain.value for gain in found.gains} == pytest.approx(known, abs=1e-9)


@pytest.mark.parametrize("kind", ["alone", "weighted", "prevalence"])
def test_a_gain_has_the_error_of_its_rows_and_the_optimism(kind):
    w = {"alone": np.ones(len(Y)), "weighted": W, "prevalence": np.where(Y == 1, 0.1 / Y.mean(), 0.9 / (1 - Y.mean()))}[
        kind
    ]
    stated = {"alone": {}, "weighted": {"sample_weight": W}, "prevalence": {"prevalence": 0.1}}[kind]
    found = update(Y, S, method="intercept", random_state=0, **stated)
    order = np.lexsort([w, Y, S])
    y, s, w = Y[order], S[order], w[order]
    fold = np.random.default_rng(0).permutation(len(y)) % 10
    others = np.empty(len(y))
    for k in range(10):
        rest = update(y[fold != k], s[fold != k], method="intercept", sample_weight=w[fold != k])
        others[fold == k] = rest.predict(s[fold == k])
    before, after, own = ((y - p) ** 2 for p in (s, others, found.predict(s)))
    saved, share = before - after, w / w.sum()
    assert found.gains[1].value == pytest.approx(share @ saved, rel=1e-9)
    centre = np.full(len(y), share @ saved)
    if kind == "prevalence":  # the class totals are known
        for event in (0, 1):
            centre[y == event] = np.mean(saved[y == event])
    spread = len(y) / (len(y) - 1) * np.sum((share * (saved - centre)) ** 2)
    error = math.sqrt(spread + (share @ (after - own)) ** 2)
    assert found.gains[1].standard_error == pytest.approx(error, rel=1e-9)


def test_neither_the_order_of_rows_nor_a_table_in_their_place_changes_the_update():
    order = np.random.default_rng(0).permutation(len(Y))
    for method in METHODS:
        first = update(Y, S, method=method, costs=0.2)
        assert update(Y[order], S[order], method=method, costs=0.2).to_json() == first.to_json()
        table = update(ScoreTable.from_predictions(Y, S), method=method, costs=0.2)
        assert values(table) == pytest.approx(values(first))
        assert [gain.value for gain in table.gains] == pytest.approx([gain.value for gain in first.gains])


def test_prevalence_reweights_the_classes():
    w = np.where(Y == 1, 0.1 / Y.mean(), 0.9 / (1 - Y.mean()))
    a = brentq(lambda a: np.sum(w * (inverse(a + X) - Y)), -9, 9, xtol=1e-14)
    found = update(Y, S, method="intercept", prevalence=0.1)
    assert values(found)["intercept"] == pytest.approx(a, abs=1e-9)
    assert np.average(found.predict(S), weights=w) == pytest.approx(0.1)


def test_log_odds_are_taken_and_probabilities_returned():
    for method in METHODS:
        first, second = update(Y, S, method=method), update(Y, X, method=method, logits=True)
        assert second.predict(X) == pytest.approx(first.predict(S), abs=1e-9)
        assert second.logits


def test_scores_of_0_and_1_become_what_their_neighbours_tend_to():
    for method in ("intercept", "logistic"):
        assert update(Y, S, method=method).predict([0.0, 1.0]).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="y_prob must lie in"):
        update(Y, S, method="logistic").predict([1.5])


# Other engines.


SCORES = np.array(
    [0.0, 1e-300, 1e-9, 0.01, 0.1, 0.25, 0.5, 0.75, 0.99, 1.0 - 1e-12, 1.0, *np.random.default_rng(2).random(500)]
)


def in_duckdb(found, column):
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    relation = duckdb.from_arrow(pa.table({"a risk": pa.array(column, pa.float64())}))
    return [row[0] for row in relation.project(found.to_sql("a risk")).fetchall()]


def in_sqlite(found, column):
    base = sqlite3.connect(":memory:")
    if not base.execute("SELECT 1 FROM pragma_function_list WHERE name = 'exp'").fetchall():
        pytest.skip("this SQLite has no mathematical functions")
    base.execute('CREATE TABLE t ("a risk" REAL)')
    base.executemany("INSERT INTO t VALUES (?)", [(value,) for value in column])
    query = f"SELECT {found.to_sql('a risk', dialect='sqlite')} FROM t"  # noqa: S608  (of our own text)
    return [row[0] for row in base.execute(query).fetchall()]


def in_polars(found, column):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a risk": pl.Series(column, dtype=pl.Float64)})
    return frame.select(found.predict(pl.col("a risk")).alias("new"))["new"].to_list()


def in_narwhals(found, column):
    nw, pl = pytest.importorskip("narwhals.stable.v2"), pytest.importorskip("polars")
    frame = nw.from_native(pl.LazyFrame({"a risk": pl.Series(column, dtype=pl.Float64)}))
    return frame.select(new=found.predict(nw.col("a risk"))).collect()["new"].to_list()


def in_onnx(found, column):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model = found.to_onnx("risk")
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    rows = np.array([math.nan if value is None else value for value in column])
    return [None if math.isnan(each) else each for each in session.run(None, {"risk": rows})[0].tolist()]


ENGINES = [in_duckdb, in_sqlite, in_polars, in_narwhals, in_onnx]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__[3:])
@pytest.mark.parametrize("method", ["none", *FITTED])
def test_an_update_computes_the_same_in_every_engine(method, engine):
    found = update(Y, S, method=method)
    here, there = found.predict(SCORES), engine(found, SCORES.tolist())
    if method in {"logistic", "beta"}:  # the last bits of exp and ln differ between engines
        assert there == pytest.approx(here, rel=1e-12, abs=1e-300)
    else:
        assert there == here.tolist()


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__[3:])
@pytest.mark.parametrize("method", FITTED)
def test_engines_say_nothing_where_arrays_are_refused(method, engine):
    wrong = [None, -0.1, 1.1, math.inf, -math.inf, math.nan, 0.5]
    found = update(Y, S, method=method)
    assert engine(found, wrong)[:-1] == [None] * 6
    for value in (-0.1, 1.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="y_prob must"):
            found.predict([value])


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__[3:])
def test_log_odds_are_taken_by_every_engine(engine):
    found = update(Y, X, method="beta", logits=True)
    rows = np.linspace(-8, 8, 30)
    assert engine(found, rows.tolist()) == pytest.approx(found.predict(rows), rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__[3:])
@pytest.mark.parametrize("method", ["none", *FITTED])
def test_engines_say_nothing_of_log_odds_that_arrays_refuse(method, engine):
    found = update(Y, X, method=method, logits=True)
    assert engine(found, [None, math.nan, math.inf, -math.inf]) == [None] * 4
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="y_prob must"):
            found.predict([value])
    assert engine(found, [0.5])[0] == pytest.approx(found.predict([0.5])[0], rel=1e-12)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"])
def test_every_dialect_has_its_text(dialect, tmp_path):
    found = update(Y, S, method="beta")
    text = found.to_sql("risk", tmp_path / "rule.sql", dialect=dialect)
    assert (
        (tmp_path / "rule.sql").read_text(encoding="utf-8") == text == str(found.predict(sql_column("risk", dialect)))
    )
    assert text.count("LN(") == 2
    with pytest.raises(ValueError, match="dialect must be one of"):
        found.to_sql("risk", dialect="oracle")


# What is kept, and what is said.


@pytest.mark.parametrize("method", METHODS)
def test_an_update_that_was_kept_is_read_back_whole(method, tmp_path):
    found = update(Y, S, method=method, costs=(0.1, 0.3))
    text = found.to_json(tmp_path / "update.json")
    again = ModelUpdate.from_json((tmp_path / "update.json").read_text(encoding="utf-8"))
    assert again.to_json() == text
    assert again.predict(S).tolist() == found.predict(S).tolist()
    assert again.describe() == found.describe()
    for field in dataclasses.fields(found):
        assert str(getattr(again, field.name)) == str(getattr(found, field.name))


@pytest.mark.parametrize(
    ("method", "scores"),
    [
        ("logistic", np.linspace(0.4999, 0.5001, 80)),
        ("beta", np.linspace(0.4999, 0.5001, 80)),
        ("intercept", np.linspace(1e-308, 2e-307, 80)),
    ],
)
def test_an_update_with_large_coefficients_is_read_back(method, scores):
    y = np.tile([0, 0, 1, 0], 20) | (np.arange(80) > 50)
    found = update(y, scores, method=method, cv=2)
    assert max(abs(each.value) for each in found.coefficients) > 700.0
    again = ModelUpdate.from_json(found.to_json())
    assert again.predict(scores).tolist() == found.predict(scores).tolist()
    every = [0.0, 5e-324, 0.1, 0.5, 0.9, math.nextafter(1.0, 0.0), 1.0]
    assert np.all(np.isfinite(again.predict(every)))


DAMAGE = {
    "method": ["auto", "platt", 3],
    "requested": ["logistic"],
    "confidence_level": [0.0, 95, None],
    "n_events": [0, 40, -1, 2.5],
    "cuts": [[0.5, 0.5], [0.6, 0.5], [-0.1, 0.5], ["a"], [None], None],
    "values": [[0.1], [0.1, 0.2, 0.3, 0.3], [0.2, 0.1], [-1.0, 0.5], [0.5, 2.0], "x"],
    "coefficients": [{"slope": {}}, [], None],
    "gains": [{}, {"log_loss": {}}, None],
    "tests": [{"original": {}}, {"intercept": {}}, []],
    "logits": [1, "no", None],
    "note": [None, 3],
    "format": ["stakes-update-0", None],
}


@pytest.mark.parametrize(("entry", "value"), [(key, value) for key, some in DAMAGE.items() for value in some])
def test_a_damaged_entry_is_named(entry, value):
    y, s = [0] * 20 + [1, 0] * 10 + [1] * 20, [0.2] * 20 + [0.4] * 20 + [0.8] * 20
    content = json.loads(update(y, s, method="isotonic").to_json())
    content["n_rows"] = 40
    with pytest.raises(ValueError, match=entry):
        ModelUpdate.from_json(json.dumps(content | {entry: value}))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("coefficients", "a", "value"), -1.0, "coefficients.a.value must be from 0 to 1e\\+100"),
        (("coefficients", "c", "value"), "inf", "coefficients.c.value must be from -1e\\+100"),
        (("coefficients", "c", "value"), None, "coefficients.c.value must be from -1e\\+100"),
        (("coefficients", "b", "standard_error"), "much", "standard_error must be a number"),
        (("gains", "log_loss", "note"), 1, "gains.log_loss.note must be a text"),
        (("tests", "original", "p_value"), 1.5, "tests.original.p_value must be in"),
        (("tests", "original", "degrees"), -2, "degrees must be a whole number"),
    ],
)
def test_a_damaged_number_is_named(path, value, said):
    content = json.loads(update(Y, S, method="beta").to_json())
    content[path[0]][path[1]][path[2]] = value
    with pytest.raises(ValueError, match=said):
        ModelUpdate.from_json(json.dumps(content))


EDGES = [  # method, entry, the values furthest out that are read, values just beyond
    ("logistic", ("confidence_level",), [1e-9, math.nextafter(1.0, 0.0)], [0.0, -0.5, 1.0, 1.2]),
    ("logistic", ("requested",), ["auto", "logistic"], ["intercept", "none", ""]),
    ("logistic", ("n_events",), [1, len(Y) - 1], [0, len(Y), len(Y) + 1]),
    ("logistic", ("n_rows",), [int(Y.sum()) + 1, 2**60], [int(Y.sum()), 0]),
    ("logistic", ("coefficients", "slope", "value"), [-1e100, 0.0, 1e100], [-1.001e100, 1.001e100]),
    ("intercept", ("coefficients", "intercept", "value"), [-709.78, 709.78], [-709.79, 709.79]),
    ("beta", ("coefficients", "a", "value"), [0.0, 1e100], [-1e-9, 1.001e100]),
    ("beta", ("coefficients", "b", "value"), [0.0, 1e100], [-1e-9, 1.001e100]),
    ("beta", ("coefficients", "c", "value"), [-1e100, 1e100], [-1.001e100, 1.001e100]),
    ("logistic", ("tests", "original", "statistic"), [0.0, 1e300], [-1e-9]),
    ("logistic", ("tests", "original", "p_value"), [0.0, 1.0], [-1e-9, 1.0 + 1e-9]),
    ("logistic", ("tests", "intercept", "degrees"), [0, 5], [-1, 1.5]),
    ("logistic", ("cuts",), [[]], [[0.5]]),
    ("logistic", ("values",), [[]], [[0.5]]),
    ("isotonic", ("cuts",), [[0.0, 1.0]], [[-1e-9, 1.0], [0.0, 1.0 + 1e-9], [0.3, 0.3], [0.3], [0.2, 0.3, 0.4]]),
    ("isotonic", ("values",), [[0.0, 0.5, 1.0]], [[-1e-9, 0.5, 1.0], [0.0, 0.5, 1.0 + 1e-9], [0.0, 0.5, 0.5]]),
]


@pytest.mark.parametrize(("method", "path", "inside", "beyond"), EDGES)
def test_an_entry_of_a_kept_update_is_read_up_to_its_ends_and_no_further(method, path, inside, beyond):
    content = json.loads(update(Y, S, method=method, cv=2).to_json())
    content |= {"cuts": [0.3, 0.6], "values": [0.1, 0.2, 0.3]} if method == "isotonic" else {}
    place = content
    for key in path[:-1]:
        place = place[key]
    for value in inside:
        place[path[-1]] = value
        again = json.loads(ModelUpdate.from_json(json.dumps(content)).to_json())
        for key in path:
            again = again[key]
        assert again == value
    for value in beyond:
        place[path[-1]] = value
        with pytest.raises(ValueError, match=r"^(text|model update)"):
            ModelUpdate.from_json(json.dumps(content))


def test_gains_of_a_kept_update_are_of_two_losses_and_at_most_one_range_of_costs():
    content = json.loads(update(Y, S, method="logistic", cv=2).to_json())
    log, brier = (content["gains"][name] for name in ("log_loss", "brier_score"))
    losses = {"log_loss": log, "brier_score": brier}
    for gains in (losses, losses | {"regret": log}):
        found = ModelUpdate.from_json(json.dumps(content | {"gains": gains}))
        assert [gain.metric for gain in found.gains] == list(gains)
    for gains in (
        {"log_loss": log},
        {"brier_score": brier, "log_loss": log},
        {"log_loss": log, "regret": log, "brier_score": brier},
        losses | {"regret": log, "cost": log},
    ):
        with pytest.raises(ValueError, match="gains must be of log_loss, brier_score and at most one of costs"):
            ModelUpdate.from_json(json.dumps(content | {"gains": gains}))


def test_the_description_is_understood_alone():
    found = update(Y, S, costs=(0.1, 0.3))
    said = found.describe()
    for part in (
        "A new intercept and slope of the log-odds were fitted to 1,500 rows with",
        "The original scores against a new intercept and slope: likelihood ratio",
        "2 df, p < 0.001",
        "The tests, at level 0.05, chose the method.",
        "On other rows, per row: log loss falls by",
        "Brier score falls by",
    ):
        assert part in said
    assert "nan" not in said
    assert "\n" not in repr(found)
    kept = update(*draw(4000, 0.0, 1.0, seed=3)[:2])
    assert kept.describe().startswith("The scores were kept as they are, after a look at 4,000 rows")
    assert "On other rows" not in kept.describe()
    assert "the scores are kept" in repr(kept)


def test_a_negative_slope_and_few_events_are_remarked():
    found = update(Y, 1.0 - S, method="logistic")
    assert values(found)["slope"] < 0.0
    assert "the slope is negative" in found.note
    assert found.predict([0.0, 1.0]).tolist() == [1.0, 0.0]
    few = update(Y[:100], S[:100], method="intercept")
    assert "fewer than the 100" in few.note
    assert few.note in few.describe()


def test_a_narrow_rejection_is_remarked():
    y, s, _ = draw(400, 0.25, 1.0, seed=13)
    found = update(y, s)
    assert 0.005 < found.tests[0].p_value < 0.05
    assert "rejected narrowly" in found.note
    assert "narrowly" not in update(y, s, method="intercept").note + update(Y, S).note


def test_intervals_after_a_narrow_rejection_miss_as_rarely_as_it_happens():
    """Where the original scores are right, one sample of twenty rejects them: of 95% the level becomes 99.75%."""
    y, s, _ = draw(400, 0.25, 1.0, seed=13)
    auto = update(y, s)
    chosen, strict = (update(y, s, method=auto.method, confidence_level=level) for level in (0.95, 0.9975))
    ends = [np.diff(found.gains[0].interval)[0] for found in (chosen, auto, strict)]
    # the folds of "auto" repeat the tests, so that its estimate is not that of the method which it chose
    assert ends[0] * 1.3 < ends[1]
    assert ends[1] / auto.gains[0].standard_error == pytest.approx(ends[2] / strict.gains[0].standard_error, rel=0.05)
    assert auto.gains[0].confidence_level == 0.95


@pytest.mark.parametrize(("statistic", "level"), [(9.0, 0.95), (20.0, 0.95), (15.0, 0.8), (200.0, 0.95)])
def test_level_after_a_rejection_follows_the_power_of_the_test(statistic, level):
    """Noncentral chi-squared as a Poisson mixture, at the effect that a tenth of the errors leaves plausible."""
    terms, error = np.arange(600), 1.0 - level

    def below(x, effect):
        return float(poisson.pmf(terms, effect / 2.0) @ chi2.cdf(x, 2 + 2 * terms))

    beyond = 1.0 - error / 10.0
    least = brentq(lambda e: below(statistic, e) - beyond, 0.0, 300.0) if below(statistic, 0.0) > beyond else 0.0
    power = 1.0 - below(chi2.isf(error, 2), least)
    test = UpdateTest("original", statistic, 2, float(chi2.sf(statistic, 2)))
    assert _level_after_rejection(test, level) == pytest.approx(1.0 - error * power, abs=1e-9)


def test_an_isotonic_update_may_have_no_finite_log_loss_and_says_so():
    y, s, _ = draw(300, seed=6)
    found = update(y, s, method="isotonic")
    gain = found.gains[0]
    assert gain.value == -math.inf
    assert np.isnan(gain.interval).all()
    assert "log loss is infinite with it" in found.describe()
    assert math.isfinite(found.gains[1].value)


def test_a_frame_lists_coefficients_and_gains():
    pytest.importorskip("polars")
    frame = update(Y, S, method="logistic").frame("polars")
    assert frame["quantity"].to_list() == ["intercept", "slope", "gain in log_loss", "gain in brier_score"]
    assert {"value", "ci_low", "ci_high"} < set(frame.columns)


# What is refused.


def test_too_few_events_are_refused():
    y = np.arange(200) < 19
    with pytest.raises(ValueError, match="y_true must hold at least 20 positives to update a model, got 19 of 200"):
        update(y, np.linspace(0.1, 0.9, 200))
    with pytest.raises(ValueError, match="at least 20 negatives"):
        update(~y, np.linspace(0.1, 0.9, 200))
    heavy = np.where(np.arange(200) == 0, 1000.0, 1.0)
    with pytest.raises(ValueError, match="at least 20 effective positives"):
        update(np.arange(200) < 60, np.linspace(0.1, 0.9, 200), sample_weight=heavy)


@pytest.mark.parametrize("method", ["auto", "intercept", "logistic", "beta"])
def test_scores_of_exactly_0_or_1_are_refused_with_what_to_do(method):
    for end in (0.0, 1.0):
        s = np.where(np.arange(len(S)) == 3, end, S)
        with pytest.raises(ValueError, match=f'got {end:g}: its log-odds are infinite. Pass method="isotonic"'):
            update(Y, s, method=method)
        assert update(Y, s, method="isotonic").tests == ()
        assert update(Y, s, method="none").predict([end]).tolist() == [end]


@pytest.mark.parametrize("method", ["auto", "logistic", "beta"])
def test_scores_that_separate_the_classes_or_are_all_equal_are_refused(method):
    y, s = np.arange(60) >= 30, np.linspace(0.1, 0.9, 60)
    with pytest.raises(
        ValueError, match=r"y_prob separates the classes of y_true, so that method='.*' has no finite slope"
    ):
        update(y, s, method=method)
    with pytest.raises(ValueError, match="y_prob must hold different scores"):
        update(y, np.full(60, 0.3), method=method)
    assert values(update(y, np.full(60, 0.5), method="intercept"))["intercept"] == pytest.approx(0.0, abs=1e-9)


def test_beta_calibration_needs_three_scores():
    with pytest.raises(ValueError, match="at least 3 different scores"):
        update([0, 1, 1, 0] * 20, [0.2, 0.2, 0.7, 0.7] * 20, method="beta")


def test_folds_that_determine_no_update_leave_the_gain_undefined():
    """Only two of the rows overlap: where they are left out together, the others are separated."""
    y = np.array([0] * 30 + [1] * 30)
    s = np.concatenate([np.linspace(0.1, 0.4, 29), [0.9], np.linspace(0.6, 0.8, 30)])
    found = update(y, s, method="logistic")
    assert math.isnan(found.gains[0].value)
    assert "some folds" in found.gains[0].note
    assert "log loss is undefined" in found.describe()
    assert ModelUpdate.from_json(found.to_json()).describe() == found.describe()


def test_outcomes_of_estimated_weights_are_refused_with_what_to_do():
    outcome = TimeToEvent(event=Y, time=np.arange(len(Y)) % 7 + 1.0, horizon=4.0)
    with pytest.raises(ValueError, match="update takes weights as known, and those of TimeToEvent are estimated"):
        update(outcome, S)
    with pytest.raises(ValueError, match=r"those of ScoreTable are estimated.*sample_weight"):
        update(ScoreTable.from_predictions(outcome, S))


def test_a_table_of_rows_that_weigh_differently_is_refused():
    with pytest.raises(ValueError, match="must weigh the same"):
        update(ScoreTable.from_predictions(Y, S, sample_weight=W), method="logistic")


# How often it is right.


@pytest.mark.simulation
def test_right_scores_are_kept_in_about_95_of_100_samples_and_a_shift_is_taken_for_one():
    kept = shifted = 0
    for seed in range(400):
        y, s, _ = draw(500, 0.0, 1.0, seed=seed)
        kept += update(y, s, cv=2).method == "none"
    for seed in range(100):
        y, s, _ = draw(3000, 0.6, 1.0, seed=seed)
        shifted += update(y, s, cv=2).method == "intercept"
    assert 0.92 <= kept / 400 <= 0.98
    assert shifted >= 88  # 95% of samples


@pytest.mark.parametrize("seed", range(3))
def test_an_update_with_an_infinite_log_loss_is_not_said_to_save_anything(seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.0, 4.0, 500)
    y = (rng.random(500) < p).astype(int)
    found = update(y, p**1.5 / (p**1.5 + (1.0 - p) ** 1.5), method="isotonic")
    assert found.gains[0].value == -math.inf  # a row of its own scores 0 or 1 in a fold that it was left out of
    assert "log loss is infinite with it" in repr(found)
    assert "saves" not in repr(found)


@pytest.mark.simulation
@pytest.mark.parametrize(("shift", "slope"), [(0.0, 1.0), (0.5, 1.0), (0.3, 0.7)])
@pytest.mark.parametrize("method", ["intercept", "logistic"])
def test_intervals_of_the_gain_hold_what_the_update_saves_on_new_rows(method, shift, slope):
    x = np.linspace(-7, 5, 20001)
    density = np.exp(-0.5 * ((x + 1.5) / 1.2) ** 2)
    s, p = inverse(x), inverse(shift + slope * x)
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        mine = rng.normal(-1.5, 1.2, 500)
        found = update(rng.random(500) < inverse(shift + slope * mine), inverse(mine), method=method, random_state=seed)
        q = found.predict(s)
        saved = p * np.log(q / s) + (1 - p) * np.log((1 - q) / (1 - s))
        low, high = found.gains[0].interval
        held += low <= np.average(saved, weights=density) <= high
    assert held / 200 >= 0.90


def test_a_stated_prevalence_does_not_make_rows_effective():
    y, p = [1] * 6 + [0] * 30, [0.4, 0.6] * 18
    with pytest.raises(ValueError, match="at least 20 positives to update a model, got 6 of 36 rows"):
        update(y, p, prevalence=0.1)


def test_a_rejection_that_is_clear_is_not_called_narrow_for_the_test_that_was_passed():
    found = update(*draw(2000, 0.8, 1.0, seed=4)[:2])
    assert found.method == "intercept"
    assert found.tests[0].p_value < 1e-6
    assert found.tests[1].p_value > 0.05
    assert "narrowly" not in found.note


@pytest.mark.parametrize(("lowest", "highest", "said"), [(0, 19, True), (1, 20, True), (1, 19, False)])
def test_a_step_of_exactly_0_or_1_is_said(lowest, highest, said):
    y = [*(np.arange(20) < lowest), *(np.arange(20) < 9), *(np.arange(20) < highest)]
    found = update(y, np.repeat([0.2, 0.5, 0.7], 20), method="isotonic")
    assert ("the lowest or highest step is exactly 0 or 1, which a log loss cannot forgive" in found.note) == said


@pytest.mark.parametrize("method", ["auto", "intercept"])
def test_scores_whose_odds_no_factor_mends_are_refused_in_words(method):
    y = np.arange(200) % 5 == 0
    # alike in both classes, so that a shift is all that is asked for
    for size in (1e-305, 1e-310):
        scores = size * (1 + np.arange(200) // 5 % 4 + np.where(y, 0.5, 0.0))
        if size > 1e-308:
            assert update(y, scores, method="intercept").predict(scores).mean() == pytest.approx(0.2, abs=1e-6)
        else:
            with pytest.raises(
                ValueError, match=r"^y_prob must lie nearer to .* exp\(71\d\) times too low: pass log-odds less"
            ):
                update(y, scores, method=method)
