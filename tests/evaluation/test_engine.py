"""Lazy frames: the engine groups and sums, and the answer is that of the rows in memory."""

from __future__ import annotations

import importlib
import json
import math
import tempfile
from itertools import combinations

import numpy as np
import pytest

from stakes import ScoreTable, costs, evaluate, evaluate_frame
from stakes.evaluation import KeptEvaluation
from stakes.inference import Decisions, PairedRows, PairSums
from stakes.tables import DataError

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.filterwarnings("ignore:Dask support is moving out of Narwhals:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the engines among themselves
]

RNG = np.random.default_rng(11)
ROWS = 4000
RISK = RNG.random(ROWS)
Y = RNG.random(ROWS) < RISK
COLUMNS = {
    "y": Y.astype(int),
    "a": np.clip(RISK + RNG.normal(0.0, 0.1, ROWS), 0.0, 1.0),
    "b": np.clip(RISK + RNG.normal(0.0, 0.3, ROWS), 0.0, 1.0).round(2),
    "c": (RISK > 0.4).astype(float),
    "w": RNG.choice([0.0, 1.0, 2.0, 0.5], ROWS),
    "site": RNG.choice(["north", "south", "west"], ROWS),
}
MODELS = ["a", "b", "c"]
COSTS = [
    costs.Uniform(0.1, 0.4),
    costs.Fixed(0.3),
    costs.Fixed(0.37, tie=0.25),
    costs.LogOddsUniform(0.05, 0.6),
    costs.Empirical([0.1, 0.2, 0.25], weights=[1, 3, 2]),
    costs.Mixture([costs.Uniform(0.02, 0.3), costs.Fixed(0.5, tie=0.5)], [2, 1]),
]


def polars_lazy(columns):
    return pl.DataFrame(columns).lazy()


def duckdb(columns):
    relations = pytest.importorskip("duckdb")
    return relations.from_arrow(pa.table(columns))


def dask(columns):
    frames = pytest.importorskip("dask.dataframe")
    return frames.from_pandas(importlib.import_module("pandas").DataFrame(columns), npartitions=3)


def ibis(columns):
    return pytest.importorskip("ibis").memtable(pa.table(columns))


def sqlframe(columns):
    session = pytest.importorskip("sqlframe.duckdb").DuckDBSession()
    with tempfile.NamedTemporaryFile(suffix=".parquet", delete=False) as file:
        pl.DataFrame(columns, strict=False).write_parquet(file.name)
    return session.read.parquet(file.name)


ENGINES = [polars_lazy, duckdb, dask, ibis, sqlframe]


@pytest.fixture(params=ENGINES, ids=lambda make: make.__name__)
def lazy(request):
    return request.param


def near(one, two, rtol=1e-12):
    """Compare two answers in JSON, numbers to rounding."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(near(one[key], two[key], rtol) for key in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(near(a, b, rtol) for a, b in zip(one, two, strict=True))
    return one == two or (isinstance(one, float) and math.isclose(one, two, rel_tol=rtol, abs_tol=1e-13))


def numbers(result):
    """What needs no rows: the conclusion on single thresholds and some findings look at them."""
    answer = json.loads(result.to_json())
    return {key: answer[key] for key in ("data", "models", "ranking", "groups")}


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("measure", COSTS, ids=repr)
def test_sums_of_pairs_are_those_of_the_rows(lazy, measure, weight):
    sums = PairSums.from_frame(lazy(COLUMNS), label="y", models=MODELS, costs=measure, weight=weight)
    scores = {name: COLUMNS[name] for name in MODELS}
    by = None if weight is None else COLUMNS[weight]
    known = PairSums.from_predictions(Y, scores, costs=measure, sample_weight=by)
    for name in ("rows", "carriers", "apart"):
        np.testing.assert_array_equal(getattr(sums, name), getattr(known, name), err_msg=name)
    scale = np.abs(known.powers).max(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(sums.powers / scale, known.powers / scale, rtol=1e-12, atol=1e-14)
    for pair in combinations(range(4), 2):
        mine, its = (part.moments().difference(*pair) for part in (sums, known))
        assert mine.standard_error == pytest.approx(its.standard_error, rel=1e-11)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"weight": "w"},
        {"rule": 0.3},
        {"prevalence": 0.02, "costs": costs.LogOddsUniform(0.01, 0.2)},
        {"costs": costs.Fixed(0.25), "incumbent": "b"},
        {"rule": "optimal"},
    ],
    ids=str,
)
def test_an_evaluation_in_the_engine_is_that_of_the_rows(lazy, asked):
    asked = {"costs": (0.1, 0.4), "label": "y", "models": MODELS} | asked
    found = evaluate_frame(lazy(COLUMNS), **asked)
    known = evaluate_frame(pl.DataFrame(COLUMNS), **asked)
    assert near(numbers(found), numbers(known), rtol=1e-9)
    for name in MODELS:
        mine, its = found.score_table(name), known.score_table(name)
        for column in ("scores", "positives", "negatives"):
            np.testing.assert_allclose(getattr(mine, column), getattr(its, column), rtol=1e-14)
        assert found[name].score == pytest.approx(known[name].score, rel=1e-12)
    assert found.rows is None


@pytest.mark.parametrize(("score", "bad"), [(0.0, False), (1.0, False), (-1e-9, True), (1.0 + 1e-9, True)])
def test_first_rows_of_the_engine_tell_scores_from_other_numbers(score, bad):
    frame = pl.LazyFrame({"y": [0, 1, 0, 1], "a": [0.2, 0.7, score, 0.6]})
    if bad:
        with pytest.raises(ValueError, match=r"column 'a': must lie in \[0, 1\], got .* Every other numeric column"):
            evaluate_frame(frame, label="y", costs=(0.1, 0.4))
    else:
        assert evaluate_frame(frame, label="y", costs=(0.1, 0.4)).models == ("a",)


@pytest.mark.parametrize(
    "changes",
    [{}, {"weight": "w"}, {"rule": "optimal", "prevalence": 0.8}],
    ids=str,
)
def test_groups_in_the_engine_are_those_of_the_rows(lazy, changes):
    asked = {"label": "y", "models": ["a", "b"], "groups": "site", "costs": (0.1, 0.4), **changes}
    weight = changes.get("weight")
    found = evaluate_frame(lazy(COLUMNS), **asked)
    known = evaluate_frame(pl.DataFrame(COLUMNS), **asked)
    for mine, its in zip(found.groups, known.groups, strict=True):
        assert (mine.column, mine.group, mine.model) == (its.column, its.group, its.model)
        assert (mine.n_rows, mine.n_positives) == (its.n_rows, its.n_positives)
        for name in ("prevalence", "score", "standard_error", "skill", "auc", "difference", "skill_difference"):
            assert getattr(mine, name) == pytest.approx(getattr(its, name), rel=1e-9, nan_ok=True), name
        # degrees of freedom know no weights of single rows; the folds of the rows are not those of the table
        loose = 1e-9 if weight is None else 1e-3
        assert mine.interval == pytest.approx(its.interval, rel=loose, nan_ok=True)
        assert mine.p_value == pytest.approx(its.p_value, rel=100 * loose, nan_ok=True)
        if not changes:
            assert mine.corrected_miscalibration == pytest.approx(its.corrected_miscalibration, abs=1e-3)


@pytest.mark.parametrize("value", [True, False, "main"])
def test_a_group_column_with_one_value_in_the_engine_is_one_group(lazy, value):
    """A day or a site in which a flag never varies: the value that no row has is no group."""
    frame = lazy({name: COLUMNS[name] for name in ("y", "a")} | {"treated": [value] * ROWS})
    found = evaluate_frame(frame, label="y", models=["a"], groups="treated", costs=(0.1, 0.4))
    assert [(each.group, each.n_rows) for each in found.groups] == [(str(value), ROWS)]
    assert found.groups[0].score == pytest.approx(found["a"].score, rel=1e-12)


def _groups_by_table_and_rows(weigh, n, seed):
    rng = np.random.default_rng(seed)
    s = rng.choice([0.05, 0.1, 0.15, 0.25, 0.4, 0.6], n)
    columns = {"y": (rng.random(n) < s).astype(int), "a": s, "w": weigh(rng, s), "site": rng.choice(["x", "y"], n)}
    asked = {"label": "y", "models": ["a"], "weight": "w", "groups": "site", "costs": (0.1, 0.3)}
    rows = evaluate_frame(pl.DataFrame(columns), **asked)
    kept = KeptEvaluation.from_json(KeptEvaluation.of(rows).to_json()).evaluate()
    for found in (evaluate_frame(pl.LazyFrame(columns), **asked), kept):
        yield from zip(found.groups, rows.groups, strict=True)


@pytest.mark.parametrize("n", [300, 3000, 30_000])
@pytest.mark.parametrize(
    "weigh",
    [
        lambda rng, s: rng.lognormal(sigma=0.7, size=len(s)),
        lambda rng, s: rng.lognormal(size=len(s)),
        lambda rng, s: rng.choice([1.0, 20.0], len(s), p=[0.9, 0.1]),
        lambda rng, s: rng.uniform(0.5, 2.0, len(s)),
    ],
    ids=["lognormal .7", "lognormal 1", "1 or 20", "uniform"],
)
def test_groups_whose_table_makes_their_interval_too_narrow_say_so(weigh, n):
    """Sums of weights and of squares by score do not tell which rows are heavy: those of the rows are wider."""
    for seed in range(4):
        for mine, its in _groups_by_table_and_rows(weigh, n, seed):
            of_table, of_rows = (np.diff([each.interval, each.skill_interval]).ravel() for each in (mine, its))
            assert np.all(of_table <= of_rows * (1 + 1e-9))
            said = "evaluate the rows in memory" in mine.note
            assert said or np.all(of_table > 0.96 * of_rows)
            assert not mine.note.startswith("the estimate") or its.note.startswith("the estimate")
            assert "evaluate the rows" not in its.note


@pytest.mark.parametrize(
    "weigh", [lambda _, s: np.ones(len(s)), lambda _, s: 1.0 + 3.0 * s, lambda _, s: 0.1 + 0.0 * s]
)
def test_groups_whose_rows_weigh_the_same_at_each_score_have_the_interval_of_the_rows(weigh):
    for mine, its in _groups_by_table_and_rows(weigh, 300, 0):
        assert mine.interval == pytest.approx(its.interval, rel=1e-10)
        assert mine.skill_interval == pytest.approx(its.skill_interval, rel=1e-10)
        assert mine.note == its.note


def test_cells_change_the_tables_within_their_bound_and_no_difference(lazy):
    asked = {"label": "y", "models": MODELS, "costs": (0.1, 0.4)}
    exact, coarse = (evaluate_frame(lazy(COLUMNS), **asked, resolution=cells) for cells in (None, 50))
    for name in MODELS:
        assert len(coarse.score_table(name).scores) <= 50
        assert coarse[name].score == pytest.approx(exact[name].score, rel=1e-12)
        bound = coarse.score_table(name).error_bound(coarse.costs) * coarse.factor
        assert abs(coarse[name].decomposition.score - exact[name].decomposition.score) <= bound
    assert coarse.compare("a", "b").interval == pytest.approx(exact.compare("a", "b").interval, rel=1e-12)


def test_costs_without_a_short_form_are_those_of_the_rows_where_rows_stream(monkeypatch):
    asked = {"label": "y", "models": MODELS, "costs": costs.Beta(2, 5)}
    known, result = (evaluate_frame(make(COLUMNS), **asked) for make in (pl.DataFrame, polars_lazy))
    if hasattr(pl.LazyFrame, "collect_batches"):
        assert near(numbers(result), numbers(known), rtol=1e-9)
        assert result.compare("a", "b").interval == pytest.approx(known.compare("a", "b").interval, rel=1e-10)
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)  # as older polars, and as engines elsewhere
    result = evaluate_frame(polars_lazy(COLUMNS), **asked)
    assert result["a"].interval == pytest.approx(known["a"].interval, rel=1e-9)
    note = result.compare("a", "b").note
    assert note.startswith("costs=Beta(a=2.0, b=5.0, low=0.0, high=1.0) have no losses that a data engine computes")
    assert any(note in sentence for sentence in result.conclusion)


def test_incomplete_rows_are_dropped_and_counted_in_the_engine(lazy):
    columns = {name: values.astype(object if name == "site" else float) for name, values in COLUMNS.items()}
    columns["a"][:7] = np.nan
    columns["w"][:2], columns["w"][2:7] = 0.0, 1.0
    asked = {"label": "y", "models": ["a", "b"], "costs": (0.1, 0.4), "on_missing": "drop", "weight": "w"}
    found, known = (evaluate_frame(make(columns), **asked) for make in (lazy, pl.DataFrame))
    assert (found.n_dropped, found.n_rows) == (known.n_dropped, known.n_rows) == (5, int((columns["w"][7:] > 0).sum()))
    assert near(numbers(found), numbers(known), rtol=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": [0.1, 1.2, 0.3]}, r"column 'a': must lie in \[0, 1\], got 1.2 \(1 of 3 rows\)"),
        ({"b": [0.1, float("nan"), 0.3]}, r"column 'b': must not be missing \(1 of 3 rows\)"),
        ({"y": [0, 1, 2]}, r"column 'y': labels must take two values, not 3 \(0, 1, 2\)"),
        ({"w": [1.0, -1.0, 1.0]}, r"column 'w': must be finite and >= 0, got -1.0"),
    ],
)
def test_bad_values_are_refused_in_the_engine_by_column_and_count(lazy, changes, message):
    good = {"y": [0, 1, 1], "a": [0.1, 0.2, 0.3], "b": [0.4, 0.5, 0.6], "w": [1.0, 2.0, 1.0]}
    asked = {"label": "y", "models": ["a", "b"], "weight": "w", "costs": (0.1, 0.4)}
    for ask in (evaluate_frame, PairSums.from_frame):
        with pytest.raises(ValueError, match=message):
            ask(lazy(good | changes), **asked)


@pytest.mark.parametrize("asked", [{}, {"groups": "site"}, {"clusters": "site"}, {"prevalence": 0.02}], ids=str)
@pytest.mark.parametrize("weight", [1e61, 1e-61])
@pytest.mark.parametrize("make", [pl.DataFrame, polars_lazy])
def test_weights_beyond_what_errors_can_hold_are_refused_by_column(make, weight, asked):
    if make is polars_lazy and not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this polars streams no rows, of which errors are estimated otherwise")
    frame = make({**COLUMNS, "w": np.full(ROWS, weight)})
    said = r"column 'w': must have a largest value of each class within \[1e-60, 1e\+60\] .*divide all weights"
    with pytest.raises(DataError, match=said):
        evaluate_frame(frame, label="y", models=["a"], weight="w", costs=(0.1, 0.4), **asked)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [1.0, 2.0], [-1, 1]], ids=str)
def test_labels_of_every_kind_are_read_in_the_engine(lazy, labels):
    columns = {"y": np.array(labels)[Y.astype(int)], "a": COLUMNS["a"], "b": COLUMNS["b"]}
    asked = {"label": "y", "models": ["a", "b"], "costs": (0.1, 0.4), "pos_label": labels[1]}
    found, known = (evaluate_frame(make(columns), **asked) for make in (lazy, pl.DataFrame))
    assert near(numbers(found), numbers(known), rtol=1e-9)


@pytest.mark.parametrize("models", [["a"], ["a", "b"]], ids=str)
@pytest.mark.parametrize("money", [False, True])
@pytest.mark.parametrize("kind", ["share", "number", "order"])
def test_a_frame_that_gives_other_rows_at_every_query_is_refused_as_such(kind, money, models):
    if kind == "order":
        if money and not hasattr(pl.LazyFrame, "collect_batches"):
            pytest.skip("this polars streams no rows")
        drawn = polars_lazy(COLUMNS).filter(pl.int_range(pl.len()).shuffle() < 2000)
    else:
        part = {"share": "select * from t where random() < 0.5", "number": "select * from t using sample 2000 rows"}
        drawn = duckdb(COLUMNS).query("t", part[kind])
    amounts = {"false_positive": 3.0, "false_negative": 7.0} if money else {"costs": (0.1, 0.4)}
    with pytest.raises(DataError, match=r"the frame gave other rows when it was asked again.*collect it first"):
        evaluate_frame(drawn, label="y", models=models, **amounts)


def test_one_class_alone_is_still_called_so_where_an_engine_is_asked(lazy):
    with pytest.raises(ValueError, match="y_true must hold both classes, got 4,000 rows that are all positive"):
        evaluate_frame(lazy(COLUMNS | {"y": np.ones(ROWS, dtype=int)}), label="y", models=MODELS, costs=(0.1, 0.4))


def test_rows_of_two_days_add_up_from_their_engines(lazy):
    days = [{name: values[part] for name, values in COLUMNS.items()} for part in (slice(0, 900), slice(900, None))]
    tables, pairs = {}, None
    for day in days:
        sums = PairSums.from_frame(lazy(day), label="y", models=MODELS, costs=(0.1, 0.4))
        pairs = sums if pairs is None else pairs.merge(sums)
        for name in MODELS:
            table = ScoreTable.from_frame(lazy(day), label="y", score=name)
            tables[name] = tables[name].merge(table) if name in tables else table
    known = evaluate_frame(pl.DataFrame(COLUMNS), label="y", models=MODELS, costs=(0.1, 0.4))
    assert near(numbers(evaluate(tables, costs=(0.1, 0.4), pairs=pairs)), numbers(known) | {"groups": []}, rtol=1e-9)


def partitions(kind, columns, count, folder):
    """The same rows in so many files, or partitions of Dask."""
    if kind == "dask":
        frames = pytest.importorskip("dask.dataframe")
        return frames.from_pandas(importlib.import_module("pandas").DataFrame(columns), npartitions=count)
    for place, part in enumerate(np.array_split(np.arange(len(columns["y"])), count)):
        pl.DataFrame({name: values[part] for name, values in columns.items()}).write_parquet(
            folder / f"{place}.parquet"
        )
    if kind == "duckdb":
        return pytest.importorskip("duckdb").read_parquet(f"{folder}/*.parquet")
    return pl.scan_parquet(folder / "*.parquet")


@pytest.mark.parametrize("kind", ["polars", "duckdb", "dask"])
def test_partitions_change_no_count_and_sums_by_their_rounding(kind, tmp_path):
    columns = COLUMNS | {"w": np.random.default_rng(4).random(ROWS)}
    exact = ScoreTable.from_predictions(Y, COLUMNS["b"], sample_weight=COLUMNS["w"])
    sums = []
    for count in (1, 7, 64):
        folder = tmp_path / str(count)
        folder.mkdir()
        frame = partitions(kind, columns, count, folder)
        sums.append(PairSums.from_frame(frame, label="y", models=MODELS, costs=(0.1, 0.4), weight="w"))
        counted = ScoreTable.from_frame(partitions(kind, COLUMNS, count, folder), label="y", score="b", weight="w")
        for name in ("scores", "positives", "negatives"):  # sums of halves have no rounding
            np.testing.assert_array_equal(getattr(counted, name), getattr(exact, name))
    measure = costs.Uniform(0.1, 0.4)
    terms = columns["w"] * (measure.row_loss(Y, columns["a"]) - measure.row_loss(Y, columns["b"]))
    for found in sums:
        for name in ("rows", "carriers", "apart"):
            np.testing.assert_array_equal(getattr(found, name), getattr(sums[0], name))
        for k, mine in enumerate((~Y, Y)):  # adding n numbers in any order rounds n times at most
            off = abs(found.powers[0, k, 0] - math.fsum(terms[mine]))
            assert off <= mine.sum() * 2**-53 * np.abs(terms[mine]).sum()


CLUSTERED = COLUMNS | {"patient": np.floor(RNG.random(ROWS) ** 2 * 300)}
PATIENTS = {"label": "y", "models": MODELS, "costs": (0.1, 0.4), "clusters": "patient"}


@pytest.mark.parametrize(
    "asked",
    [
        {"rule": 0.3, "incumbent": "b"},
        {"prevalence": 0.02, "costs": costs.LogOddsUniform(0.01, 0.2)},
        {"prevalence": 0.3, "weight": "w", "costs": costs.Fixed(0.25), "on_missing": "drop"},
    ],
    ids=str,
)
def test_an_evaluation_over_clusters_in_the_engine_is_that_of_the_rows(lazy, asked):
    found = evaluate_frame(lazy(CLUSTERED), **PATIENTS | asked)
    known = evaluate_frame(pl.DataFrame(CLUSTERED), **PATIENTS | asked)
    assert near(numbers(found), numbers(known), rtol=1e-10)
    for pair in combinations([*MODELS, "treat all", "treat none"], 2):
        mine, its = (result.compare(*pair) for result in (found, known))
        assert (mine.difference, *mine.interval) == pytest.approx((its.difference, *its.interval), rel=1e-10, abs=1e-14)
        assert (mine.p_value, mine.note) == (pytest.approx(its.p_value, rel=1e-10), its.note)
    assert found.selection.possible == known.selection.possible
    assert found.conclusion[:2] == known.conclusion[:2]


@pytest.mark.parametrize(
    ("codes", "asked", "reason"),
    [
        (np.where(RNG.random(ROWS) < 0.6, 0, np.arange(ROWS)), {}, "one cluster holds 60.9% of all weight"),
        (np.where(Y, np.arange(ROWS) % 4, np.arange(ROWS)), {}, ""),  # four clusters have the positives
        (np.where(Y, 0, np.arange(ROWS)), {}, ""),
        (
            np.where(Y, 0, np.arange(ROWS)),
            {"prevalence": 0.02},
            "one cluster holds 100% of the weight of the positives",
        ),
        (np.where(Y & (np.arange(ROWS) % 9 < 4), 0, np.arange(ROWS)), {"prevalence": 0.3}, ""),
    ],
    ids=["one is large", "few with positives", "one with positives", "and at a prevalence", "nearly half of them"],
)
def test_uneven_clusters_get_what_they_get_in_memory(codes, asked, reason):
    frames = (make(COLUMNS | {"patient": codes}) for make in (duckdb, pl.DataFrame))
    found, known = (evaluate_frame(frame, **PATIENTS | asked) for frame in frames)
    assert reason in known["a"].note
    assert (found["a"].note, found.moments.rows) == (known["a"].note, known.moments.rows)
    assert found["a"].interval == pytest.approx(known["a"].interval, rel=1e-10, nan_ok=True)
    mine, its = (result.moments.difference(0, 1) for result in (found, known))
    assert (mine.carriers, mine.scarce) == (its.carriers, its.scarce)
    assert (mine.room, *mine.carrying) == pytest.approx((its.room, *its.carrying), rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prevalence", [None, 0.1])
@pytest.mark.parametrize(
    "of", [np.arange(60) // 3, np.where(Y[:60], np.arange(60) % 4, np.arange(60))], ids=["", "few"]
)
def test_moments_of_every_pair_over_clusters_are_those_of_the_rows(of, prevalence, weighted):
    models, weight = ("a", "all", "none"), np.where(np.arange(60) % 5, COLUMNS["w"][:60] + 0.1, 0.0)
    some = {"y": COLUMNS["y"][:60], "a": COLUMNS["a"][:60], "all": np.ones(60), "none": np.zeros(60)}
    some |= {"w": weight, "patient": of}
    asked = PATIENTS | {"models": models, "prevalence": prevalence, "weight": "w" if weighted else None}
    mine = PairSums.from_frame(polars_lazy(some), **asked).moments(prevalence)
    weight = weight if weighted else np.ones(60)
    shares = [1.0, 1.0] if prevalence is None else [0.9 / weight[~Y[:60]].sum(), 0.1 / weight[Y[:60]].sum()]
    kept = weight > 0.0
    rows = [column[kept] for column in (Y[:60], *(some[name] for name in models), weight * np.take(shares, Y[:60]), of)]
    paired = PairedRows(rows[0], rows[1:-2], rows[-2], prevalence is not None, rows[-1])
    its = Decisions.from_scores(paired, costs.Uniform(0.1, 0.4), "score", constants=True)
    for i, j in combinations(range(6), 2):
        pair = [vars(each.of(i) if j == 5 else each.difference(i, j)) for each in (mine, its)]
        words, (found, known) = zip(*map(parted, pair), strict=True)
        assert words[0] == words[1]
        assert found == pytest.approx(known, rel=1e-9, abs=1e-12, nan_ok=True)
    having = tuple(len(np.unique(rows[-1][rows[0] == k])) for k in (False, True))
    assert mine.difference(3, 4).carriers == having  # which of "treat all" and "treat none" costs each row
    assert (mine.of(3).carriers, mine.of(4).carriers) == ((having[0], 0.0), (0.0, having[1]))


def parted(fields):
    """Words and numbers of a record."""
    words = {name: value for name, value in fields.items() if isinstance(value, str) or name == "names"}
    return words, np.concatenate([np.ravel(value) for name, value in fields.items() if name not in words])


def test_one_row_leaves_the_engine_for_all_clusters(monkeypatch):
    taken = []

    def watched(frame):
        taken.append(collect(frame))
        return taken[-1]

    collect = importlib.import_module("stakes.tables._engines").run
    monkeypatch.setattr("stakes.tables._engines.run", watched)
    evaluate_frame(polars_lazy(CLUSTERED), **PATIENTS)
    assert [len(frame) for frame in taken if "gone" in frame.columns] == [1]  # the sums over clusters
    assert max(len(frame) for frame in taken) <= 2  # all others are one row, or one for each class


def test_no_interval_ignores_clusters_that_the_engine_knows(tmp_path):
    rows, asked = polars_lazy(CLUSTERED | {"off": COLUMNS["a"] / 9}), PATIENTS | {"models": ["a", "off"]}
    found, independent = evaluate_frame(rows, **asked), evaluate_frame(rows, **asked | {"clusters": None})
    codes = [{finding.code for finding in result.findings} for result in (found, independent)]
    assert codes[1] - codes[0] == {"worse-than-prevalence", "calibration-in-the-large"}
    area, summary = found.auc("a"), found.calibration.of("a").overall
    assert area.value == independent.auc("a").value
    for estimate in (area, *summary.estimates):
        assert np.isnan([estimate.standard_error, *estimate.interval]).all()
        assert "collect the columns into memory first" in estimate.note
    methods = found.methods()
    assert "leaving out clusters in turn" in methods
    assert "DeLong" not in methods
    alone = evaluate_frame(polars_lazy(CLUSTERED), **PATIENTS | {"models": ["a"]})
    alone.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"take only the {len(np.unique(CLUSTERED['patient']))} clusters as independent" in page
    assert "They have no intervals, for they need the rows of the models" in page
    assert "No band is drawn, for a band would take the rows as independent" in page
    assert "interval at each score" not in page


def test_sums_over_clusters_are_not_kept_or_merged_and_go_with_their_tables():
    found = evaluate_frame(polars_lazy(CLUSTERED), prevalence=0.2, **PATIENTS)
    for refused in (lambda: found.pairs.merge(found.pairs), found.pairs.to_json):
        with pytest.raises(ValueError, match=r"sums over clusters cannot be (merged|kept): a cluster may have rows"):
            refused()
    with pytest.raises(ValueError, match="cannot be kept without the rows"):
        KeptEvaluation.of(found)
    tables = dict(zip(found.models, found.score_tables, strict=True))
    again = evaluate(tables, costs=(0.1, 0.4), pairs=found.pairs)
    assert again["a"].interval == found["a"].interval
    with pytest.raises(ValueError, match=r"these sums over clusters are for prevalence=0.2, got None"):
        found.pairs.moments()


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars"])
def test_sums_over_clusters_of_rows_in_memory(kind, weight):
    make = {"pandas": "DataFrame", "pyarrow": "table", "polars": "DataFrame"}[kind]
    frame = getattr(pytest.importorskip(kind), make)(CLUSTERED)
    asked = {"label": "y", "models": MODELS, "costs": (0.1, 0.4), "clusters": "patient", "weight": weight}
    mine = PairSums.from_frame(frame, **asked).moments()
    its = evaluate_frame(pl.DataFrame(CLUSTERED), **asked).moments
    np.testing.assert_allclose(mine.covariance, its.covariance, rtol=1e-10, atol=1e-18)
    np.testing.assert_allclose(mine.means, its.means, rtol=1e-13)


@pytest.mark.parametrize(
    "asked",
    [
        {"lags": 3},
        {"clusters": "patient", "groups": "site"},
        {"clusters": "patient", "rule": "optimal"},
        {"clusters": "patient", "costs": costs.Beta(2, 5)},
    ],
    ids=str,
)
def test_what_needs_the_rows_says_so(asked):
    with pytest.raises(ValueError, match="collect the columns into memory first"):
        evaluate_frame(polars_lazy(CLUSTERED), **{"label": "y", "models": MODELS, "costs": (0.1, 0.4)} | asked)
    with pytest.raises(ValueError, match="collect the columns into memory first"):
        evaluate_frame(pl.DataFrame(CLUSTERED), label="y", models=MODELS, resolution=10, **asked)
