"""Rows stream from engines on this machine in batches, are checked as they come, and give the sums of the rows."""

from __future__ import annotations

from itertools import combinations

import narwhals as nw
import numpy as np
import pytest

from stakes import costs, evaluate_frame
from stakes.inference import PairSums
from stakes.tables import _streams, stream_rows, streams

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
relations = pytest.importorskip("duckdb")

RNG = np.random.default_rng(31)
ROWS = 150_000
RISK = RNG.random(ROWS)
Y = RNG.random(ROWS) < RISK
GOOD = {"y": Y.astype(int), "a": RISK.round(3), "b": (RISK**2).round(2), "w": RNG.choice([0.0, 1.0, 2.0, 0.5], ROWS)}
ASKED = {"label": "y", "models": ["a", "b"], "weight": "w"}


def in_polars(columns):
    return pl.DataFrame(columns).lazy()


def in_duckdb(columns):
    return relations.from_arrow(pa.table(columns))


@pytest.fixture(params=[in_polars, in_duckdb], ids=lambda make: make.__name__)
def lazy(request):
    if request.param is in_polars and not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this version of polars does not stream batches.")
    return request.param


def batches(frame, **asked):
    return list(stream_rows(nw.from_native(frame), **asked))


def changed(name, value, at=ROWS - 5):
    column = GOOD[name].astype(type(value)).copy()
    column[at] = value
    return GOOD | {name: column, "w": np.ones(ROWS)}


def test_batches_are_short_and_hold_every_row_of_positive_weight(lazy):
    found = batches(lazy(GOOD), **ASKED)
    assert len(found) > 1
    assert max(len(y) for y, _, _ in found) <= 1 << 16
    counted = GOOD["w"] > 0.0
    for at, name in enumerate(("a", "b")):
        streamed = np.sort(np.concatenate([scores[at] + 10 * y + 100 * w for y, scores, w in found]))
        np.testing.assert_array_equal(streamed, np.sort((GOOD[name] + 10 * Y + 100 * GOOD["w"])[counted]))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("rule", ["score", 0.3])
def test_sums_are_those_written_out_by_pair(lazy, weight, rule):
    measure = costs.Uniform(0.1, 0.4)
    found = PairSums.from_frame(lazy(GOOD), label="y", models=["a", "b"], weight=weight, costs=measure, rule=rule)
    by = np.ones(ROWS) if weight is None else GOOD["w"]
    most = (0.4**2 - 0.1**2) / 2, (0.9**2 - 0.6**2) / 2
    used = [GOOD[name] if rule == "score" else np.where(GOOD[name] >= rule, 1.0, 0.0) for name in ("a", "b")]
    clipped = [np.clip(score, 0.1, 0.4) for score in used]
    losses = [np.where(Y, ((1 - t) ** 2 - 0.6**2) / 2, (t**2 - 0.1**2) / 2) for t in clipped]
    losses += [np.where(Y, 0.0, most[0]), np.where(Y, most[1], 0.0), np.zeros(ROWS)]
    heavy = {a: by**a for a in (1, 2, 4)}
    powers = [(1, 1), (2, 0), (2, 1), (2, 2), *((4, j) for j in range(5))]
    for at, (i, j) in enumerate(combinations(range(5), 2)):
        gap = losses[i] - losses[j]
        for k, mine in enumerate((~Y, Y)):
            to_the = np.cumprod([np.ones(mine.sum()), *[gap[mine]] * 4], axis=0)
            terms = [heavy[a][mine] * to_the[b] for a, b in powers]
            known, scale = np.sum(terms, axis=1), np.sum(np.abs(terms), axis=1)
            assert np.all(np.abs(found.powers[:, k, at] - known) <= 1e-12 * scale + 1e-18)
            assert found.rows[k] == np.sum(by[mine] > 0)
    differ = (GOOD["a"] != GOOD["b"]) & (by > 0)
    assert found.apart[:, 0].tolist() == [np.sum(differ & ~Y), np.sum(differ & Y)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (changed("y", 2), r"column 'y': labels must take two values, not 3 \(0, 1, 2\)"),
        (changed("y", float("nan")), r"column 'y': must not be missing \(1 of 150000 rows\)"),
        (changed("a", 1.5), r"column 'a': must lie in \[0, 1\], got 1.5 \(1 of 150000 rows\)"),
        (changed("b", float("nan")), r"column 'b': must not be missing \(1 of 150000 rows\)"),
        (changed("b", float("-inf")), r"column 'b': must lie in \[0, 1\], got -inf"),
        (changed("y", 2) | {"y": np.where(np.arange(ROWS) < 70_000, 1, GOOD["y"] * 2)}, "labels must take two values"),
    ],
    ids=["third label", "no label", "score", "missing", "infinite", "one label at first"],
)
def test_bad_values_of_late_rows_are_refused_in_the_words_of_the_engine(lazy, changes, message):
    with pytest.raises(ValueError, match=message):
        PairSums.from_frame(lazy(changes), costs=(0.1, 0.4), **ASKED)


@pytest.mark.parametrize("streaming", [True, False])
def test_text_is_no_score_even_where_it_says_one(lazy, streaming, monkeypatch):
    if not streaming:
        monkeypatch.setattr(_streams, "streams", lambda _: False)
    with pytest.raises(ValueError, match=r"column 'b': must hold numbers, got '0\.5'"):
        PairSums.from_frame(lazy(GOOD | {"b": ["0.5"] * ROWS}), costs=(0.1, 0.4), **ASKED)


@pytest.mark.parametrize("kind", ["List", "Struct"])
@pytest.mark.parametrize("role", ["label", "groups", "clusters"])
def test_lists_and_structures_are_no_classes(lazy, role, kind):
    odd = [[i % 8] if kind == "List" else {"at": i % 8} for i in range(400)]
    frame = lazy({"y": [0, 1] * 200, "a": [0.1, 0.8, 0.3, 0.6] * 100, "odd": odd})
    asked = {"label": "y", "models": ["a"]} | {role: ["odd"] if role == "groups" else "odd"}
    with pytest.raises(ValueError, match=f"column 'odd': must hold text, numbers or true and false, not {kind}"):
        evaluate_frame(frame, costs=0.2, **asked)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [3.0, 7.0]], ids=str)
def test_labels_of_every_kind_stream(lazy, labels):
    columns = GOOD | {"y": np.array(labels)[Y.astype(int)]}
    found = batches(lazy(columns), label="y", models=["a"], pos_label=labels[1])
    assert sum(int(y.sum()) for y, _, _ in found) == Y.sum()


def test_one_label_in_the_first_batch_is_enough(lazy):
    order = np.argsort(Y, kind="stable")
    found = batches(lazy({name: values[order] for name, values in GOOD.items()}), label="y", models=["a"])
    assert sum(int(y.sum()) for y, _, _ in found) == Y.sum()


def test_engines_that_cannot_stream_sum_themselves(lazy, monkeypatch):
    asked = ASKED | {"costs": (0.1, 0.4)}
    streamed = PairSums.from_frame(lazy(GOOD), **asked)
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    monkeypatch.setattr(_streams, "find_spec", lambda _: None)
    frame = nw.from_native(lazy(GOOD))
    assert not streams(frame)
    assert stream_rows(frame, **ASKED) is None
    summed = PairSums.from_frame(lazy(GOOD), **asked)
    np.testing.assert_allclose(summed.powers, streamed.powers, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("weight", [None, "w"])
def test_one_look_counts_cells_of_every_model_and_sums_their_pairs(lazy, weight, monkeypatch):
    looks, batches_of = [], _streams._batches
    monkeypatch.setattr(_streams, "_batches", lambda rows: looks.append(rows) or batches_of(rows))
    ends = {"a": np.concatenate([[0.0, -0.0, 1.0, 1.0], GOOD["a"][4:]])}
    asked = {"label": "y", "models": ["a", "b"], "weight": weight, "costs": (0.1, 0.4)}
    found = evaluate_frame(lazy(GOOD | ends), **asked, resolution=64)
    assert len(looks) == 1
    exact = evaluate_frame(lazy(GOOD | ends), **asked)
    by = np.ones(ROWS) if weight is None else GOOD["w"]
    for name, score in {"a": ends["a"], "b": GOOD["b"]}.items():
        table, cell = found.score_table(name), np.minimum((score * 64).astype(int), 63)
        mine = [np.flatnonzero((cell == k) & (by > 0.0)) for k in range(64)]
        mine = [rows for rows in mine if len(rows)]
        assert table.n_rows == sum(map(len, mine))
        assert table.lower.tolist() == [score[rows].min() for rows in mine]
        assert table.upper.tolist() == [score[rows].max() for rows in mine]
        means = [np.average(score[rows], weights=by[rows]) for rows in mine]
        np.testing.assert_allclose(table.scores, means, rtol=1e-12, atol=0.0)
        for columns, power in (("", 1), ("_squared", 2)):
            sums = [[(by[rows] ** power)[Y[rows] == up].sum() for rows in mine] for up in (True, False)]
            assert getattr(table, f"positives{columns}").tolist() == sums[0]  # halves, whose sums are exact
            assert getattr(table, f"negatives{columns}").tolist() == sums[1]
        assert (table.pos_label, table.neg_label) == (1, 0)
    np.testing.assert_allclose(found.pairs.powers, exact.pairs.powers, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (changed("y", 2), r"column 'y': labels must take two values, not 3 \(0, 1, 2\)"),
        (changed("b", 1.5), r"column 'b': must lie in \[0, 1\], got 1.5 \(1 of 150000 rows\)"),
        (changed("a", float("nan")), r"column 'a': must not be missing \(1 of 150000 rows\)"),
        (GOOD | {"w": np.where(np.arange(ROWS) == ROWS - 5, -1.0, 1.0)}, "column 'w': must be finite and >= 0, got -1"),
        (GOOD | {"w": np.where(np.arange(ROWS) == ROWS - 5, 1e200, 1.0)}, r"column 'w': must be 0 or lie in \[1e-140,"),
        (GOOD | {"w": np.where(np.arange(ROWS) == ROWS - 5, 1e-150, 1.0)}, "column 'w': must be 0 or lie in"),
        (GOOD | {"w": np.zeros(ROWS)}, "column 'w': must not be all zero"),
    ],
    ids=["third label", "score", "missing", "weight", "heavy", "light", "no row"],
)
def test_bad_values_are_refused_where_cells_are_counted(lazy, changes, message):
    with pytest.raises(ValueError, match=message):
        evaluate_frame(lazy(changes), costs=(0.1, 0.4), resolution=64, **ASKED)


@pytest.mark.parametrize("resolution", [0, 10.5, "many"])
def test_the_number_of_cells_is_checked(lazy, resolution):
    with pytest.raises(ValueError, match="resolution must be a"):
        evaluate_frame(lazy(GOOD), costs=(0.1, 0.4), resolution=resolution, **ASKED)


def test_an_engine_that_fails_between_batches_says_so():
    def broken(_):
        raise RuntimeError("disk is full")

    rows = in_polars(GOOD).map_batches(lambda frame: frame)
    schema = rows.collect_schema()
    failing = rows.map_batches(broken, schema=schema)
    with pytest.raises(RuntimeError, match=r"polars failed while it worked on the rows: .*disk"):
        PairSums.from_frame(failing, costs=(0.1, 0.4), **ASKED)
