"""Score tables that are kept and added up: nothing changes on the way, and a damaged file is refused by its entry."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import samples

from stakes import ScoreTable, costs, evaluate

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

KEPT = Path(__file__).parent / "kept"
COLUMNS = ("scores", "positives", "negatives", "positives_squared", "negatives_squared", "lower", "upper")
FACTS = ("n_rows", "fixed_prevalence", "resolution")


def drawn(rows=400, seed=0, weight=None):
    rng = np.random.default_rng(seed)
    score = rng.random(rows).round(3)
    y = rng.random(rows) < score
    return y, score, None if weight is None else rng.choice(weight, rows)


def counted(y, score, weight=None, resolution=None):
    frame = pl.DataFrame({"y": y, "p": score} | ({} if weight is None else {"w": weight})).lazy()
    weight = None if weight is None else "w"
    return ScoreTable.from_frame(frame, label="y", score="p", weight=weight, pos_label=True, resolution=resolution)


def assert_same(one, two):
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert [getattr(one, name) for name in FACTS] == [getattr(two, name) for name in FACTS]


@given(samples(weight=st.sampled_from([1.0, 1 / 3, 1e-140, 2.0**60])))
def test_a_table_comes_back_from_json_to_the_last_bit(sample):
    table = ScoreTable.from_predictions(sample.y, sample.score, sample_weight=sample.weight)
    assert_same(ScoreTable.from_json(table.to_json()), table)


@pytest.mark.parametrize(
    "made",
    [
        lambda: counted(*drawn(weight=[0.1, 3.0])),
        lambda: counted(*drawn(), resolution=20),
        lambda: ScoreTable.from_predictions(*drawn()[:2]).with_prevalence(0.01),
        lambda: counted(*drawn(), resolution=20).at_threshold(0.33),
        lambda: ScoreTable.from_predictions([0, 1, 1], [-3.0, 0.1, 1e300], probability=False),
    ],
    ids=["weighted", "binned", "prevalence", "threshold", "scores that rank"],
)
def test_a_table_of_every_kind_comes_back_from_both_forms(made, tmp_path):
    table = made()  # not while tests are collected: threads that polars starts then are lost to forks
    assert_same(ScoreTable.from_json(table.to_json()), table)
    written = table.to_parquet(tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").read_bytes() == written == table.to_parquet()
    assert_same(ScoreTable.from_parquet(tmp_path / "t.parquet"), table)
    assert [file.name for file in tmp_path.iterdir()] == ["t.parquet"]


def test_files_of_version_2_are_read():
    table = ScoreTable.from_predictions([0, 1, 0, 1, 1], [0.1, 0.4, 0.4, 0.8, 1 / 3], sample_weight=[1, 2, 0.5, 1, 3])
    assert_same(ScoreTable.from_json((KEPT / "table-2.json").read_text()), table)
    assert_same(ScoreTable.from_parquet(KEPT / "table-2.parquet"), table)


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 5.0]], ids=["rows", "weights"])
@pytest.mark.parametrize("resolution", [None, 1, 7, 100])
def test_tables_of_parts_add_up_to_the_table_of_all_rows(resolution, weight):
    y, score, w = drawn(900, seed=3, weight=weight)
    day = np.random.default_rng(4).integers(0, 5, 900)
    parts = [counted(y[day == d], score[day == d], None if w is None else w[day == d], resolution) for d in range(5)]
    merged = parts[0]
    for part in parts[1:]:
        merged = ScoreTable.from_json(merged.to_json()).merge(part)
    whole = counted(y, score, w, resolution)
    for name in ("positives", "negatives", "positives_squared", "negatives_squared", "lower", "upper"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name), err_msg=name)
    np.testing.assert_allclose(merged.scores, whole.scores, rtol=1e-14)
    assert merged.n_rows == whole.n_rows
    assert merged.error_bound(costs.Uniform(0, 1)) == whole.error_bound(costs.Uniform(0, 1))


def test_an_exact_table_joins_the_cells_of_a_binned_one():
    y, score, _ = drawn(600, seed=8)
    joined = counted(y[:300], score[:300]).merge(counted(y[300:], score[300:], resolution=10))
    whole = counted(y, score, resolution=10)
    np.testing.assert_array_equal(joined.positives, whole.positives)
    np.testing.assert_array_equal(joined.lower, whole.lower)
    assert joined.resolution == 10


@pytest.mark.parametrize("other", [np.array([0.1, 0.8]), {"a": 1}, None])
def test_only_a_table_is_added_to_a_table(other):
    y, score, _ = drawn()
    kind = type(other).__name__
    with pytest.raises(ValueError, match=f"^other must be a ScoreTable, got {kind}: build one by ScoreTable.from_pred"):
        counted(y, score).merge(other)


def test_what_cannot_be_added_up_is_refused():
    y, score, _ = drawn()
    plain, binned = counted(y, score), counted(y, score, resolution=10)
    with pytest.raises(ValueError, match="merge needs tables of one resolution, got 10 and 20"):
        binned.merge(counted(y, score, resolution=20))
    for other in (plain.with_prevalence(0.2), binned.recalibrated(), binned.at_threshold(0.35)):
        with pytest.raises(ValueError, match="merge needs tables as they were counted"):
            plain.merge(other)


def test_a_report_is_made_from_tables_of_two_days(tmp_path):
    y, score, _ = drawn(1000, seed=1)
    days = [ScoreTable.from_predictions(y[part], score[part]) for part in (slice(0, 400), slice(400, None))]
    files = [tmp_path / f"{i}.parquet" for i in range(2)]
    for day, file in zip(days, files, strict=True):
        day.to_parquet(file)
    merged = ScoreTable.from_parquet(files[0]).merge(ScoreTable.from_parquet(files[1]))
    kept, fresh = (evaluate(table, costs=(0.1, 0.4)) for table in (merged, ScoreTable.from_predictions(y, score)))
    assert kept.to_json() == fresh.to_json()
    assert len(kept.to_html()) > 10_000


def damaged(**changes):
    content = json.loads(counted(*drawn(50), resolution=5).to_json())
    return json.dumps({key: value for key, value in (content | changes).items() if value is not ...})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "stakes-boundary-1"}, "of format 'stakes-table-2', got format 'stakes-boundary-1'"),
        ({"format": "stakes-table-3"}, "got format 'stakes-table-3'"),
        ({"scores": ...}, "scores must be there"),
        ({"scores": [0.5, 0.4, 0.6, 0.7, 0.9]}, "scores must be one or more numbers, strictly increasing"),
        ({"scores": [0.4, 0.4, 0.6, 0.7, 0.9]}, "scores must be one or more numbers, strictly increasing"),
        ({"scores": [0.1, 0.3]}, "positives must be 2 numbers like scores, not 5"),
        ({"scores": [0.1, 0.3, None, 0.6, 0.9]}, "scores must be a list of numbers"),
        ({"scores": [0.1, 0.3, "inf", 0.6, 0.9]}, "scores must be a list of finite numbers"),
        ({"positives": [1, 1, 1, 1, -1]}, "positives must be made of numbers >= 0"),
        ({"positives": [9] * 5, "negatives": [0] * 5}, "negatives_squared must be zero where negatives is"),
        ({"lower": [0.9] * 5}, "lower must be at most scores"),
        ({"lower": ...}, "lower must be there, as resolution is"),
        ({"upper": [0.0] * 5}, "upper must be at least scores"),
        ({"resolution": 3}, "resolution must be the number of cells"),
        ({"resolution": 0}, "resolution must be the number of cells"),
        ({"resolution": "many"}, "resolution must be a whole number"),
        ({"n_rows": 2}, "n_rows must be at least 5"),
        ({"positives": [1e200] * 5, "positives_squared": [1.0] * 5}, "n_rows must be at least inf, as the weights"),
        ({"n_rows": -2}, "n_rows must be a whole number"),
        ({"fixed_prevalence": 0}, "fixed_prevalence must be true or false"),
    ],
)
def test_a_damaged_table_is_refused_by_its_first_wrong_entry(changes, message):
    with pytest.raises(ValueError, match=message):
        ScoreTable.from_json(damaged(**changes))


@pytest.mark.parametrize("rows", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_a_table_of_very_many_rows_is_kept_and_one_that_counts_too_few_of_them_is_refused(rows, weight):
    """Rows of equal weight w have the sums n w and n w^2, which no fewer rows can have."""
    each = np.array([rows // 5, rows // 2 - rows // 5])
    columns = (weight * each, weight * each[::-1], weight**2 * each, weight**2 * each[::-1])
    table = ScoreTable(np.array([0.2, 0.7]), *columns, n_rows=rows)
    assert_same(ScoreTable.from_json(table.to_json()), table)
    content = json.loads(table.to_json()) | {"n_rows": rows - max(rows // 10**8, 1)}
    with pytest.raises(ValueError, match=f"n_rows must be at least {rows:,}, as the weights and their squares need"):
        ScoreTable.from_json(json.dumps(content))


def test_weights_that_need_more_than_ten_rows_need_eleven():
    """(sum w)^2 / sum w^2 is 10.6 here, and at most the number of rows."""
    table = ScoreTable(np.array([0.2]), *np.array([[10.6], [0.0], [10.6], [0.0]]), n_rows=11)
    assert_same(ScoreTable.from_json(table.to_json()), table)
    with pytest.raises(ValueError, match="n_rows must be at least 11, as the weights and their squares need, got 10"):
        ScoreTable.from_json(json.dumps(json.loads(table.to_json()) | {"n_rows": 10}))


def test_rows_fewer_than_scores_are_said_to_be_so():
    content = json.loads(ScoreTable.from_predictions([0, 1, 1], [0.2, 0.5, 0.7]).to_json())
    with pytest.raises(ValueError, match="n_rows must be at least 3, the number of scores, got 2"):
        ScoreTable.from_json(json.dumps(content | {"n_rows": 2}))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", "[" * 100_000, '{"format": []}'])
def test_text_that_is_no_table_is_refused(text):
    with pytest.raises(ValueError, match="text must be a score table"):
        ScoreTable.from_json(text)


def test_a_foreign_or_damaged_parquet_file_is_refused(tmp_path):
    pl.DataFrame({"scores": [0.1]}).write_parquet(tmp_path / "foreign.parquet")
    whole = counted(*drawn()).to_parquet(tmp_path / "whole.parquet")
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    for name, message in [
        ("foreign", "must be a score table in Parquet, this file was not written as one"),
        ("half", "must be a score table in Parquet: "),
        ("absent", "there is no such file"),
    ]:
        with pytest.raises(ValueError, match=rf"{name}\.parquet: {message}"):
            ScoreTable.from_parquet(tmp_path / f"{name}.parquet")


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    table = counted(*drawn())
    old = table.to_parquet(tmp_path / "t.parquet")

    write = Path.write_bytes

    def full(path, _):
        write(path, b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        table.merge(table).to_parquet(tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").read_bytes() == old
    assert len(list(tmp_path.iterdir())) == 1


def test_numbers_are_written_as_they_are():
    table = ScoreTable.from_predictions([0, 1], [math.nextafter(0.1, 1.0), 0.8])
    assert ScoreTable.from_json(table.to_json()).scores[0] == math.nextafter(0.1, 1.0)
