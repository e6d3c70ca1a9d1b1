"""Rows of several models come out of any frame the same, or the error names column, row and value."""

import copy
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, strategies as st

from stakes import ScoreTable
from stakes.tables import DataError, frame_columns, group_scores_by, read_predictions

NAN = float("nan")


def as_lists(rows):
    return rows.y.tolist(), [scores.tolist() for scores in rows.scores]


def test_every_other_numeric_column_is_a_model_in_file_order(build):
    frame = build({"b": [0.2, 0.3], "y": [1, 0], "name": ["u", "v"], "a": [0.5, 0.25], "w": [1, 2], "site": [3, 4]})
    rows = frame_columns(frame, label="y", weight="w", groups=["site"])
    assert rows.models == ("b", "a")
    assert as_lists(rows) == ([True, False], [[0.2, 0.3], [0.5, 0.25]])
    assert rows.weight.tolist() == [1.0, 2.0]
    assert rows.groups["site"].tolist() == [3, 4]
    assert (rows.n_rows, rows.n_dropped, rows.source) == (2, 0, None)


def test_named_models_keep_the_order_asked_for(build):
    frame = build({"y": [1, 0], "a": [0.5, 0.25], "b": [0.2, 0.3], "age": [40, 50]})
    assert frame_columns(frame, label="y", models=["b", "a"]).models == ("b", "a")
    assert frame_columns(frame, label="y", models="b").models == ("b",)


def test_arrays_have_the_promised_types(build):
    frame = build({"y": [1, 0], "a": [1, 0], "w": [1, 2], "g": ["u", "v"]})
    rows = frame_columns(frame, label="y", models=["a"], weight="w", groups=["g"])
    assert rows.y.dtype == bool
    assert rows.scores[0].dtype == rows.weight.dtype == np.float64
    assert rows.groups["g"].tolist() == ["u", "v"]


def test_backend_names_the_library_of_the_caller(build, engine):
    expected = {"duckdb": None}.get(engine, engine.split("-")[0])
    assert frame_columns(build({"y": [1, 0], "a": [0.5, 0.25]}), label="y").backend == expected


ROW = st.tuples(
    st.one_of(st.none(), st.sampled_from([0, 1])),
    st.one_of(st.none(), st.just(NAN), st.floats(0, 1)),
    st.one_of(st.none(), st.floats(0, 1)),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.one_of(st.none(), st.sampled_from(["u", "v"])),
)


def is_complete(row):
    return all(value is not None and value == value for value in row)  # noqa: PLR0124  (NaN differs from itself)


PATTERNS = {"polars-lazy": ("*", "^w[0-9]$"), "duckdb": ("*",)}  # which these engines expand to several columns


@pytest.mark.parametrize("name", ["*", "^w[0-9]$", "^w", "w$"])
@pytest.mark.parametrize("role", ["label", "a", "weight", "group"])
def test_a_name_that_an_engine_reads_as_a_pattern_is_never_another_column(build, engine, name, role):
    """Not that of weights that the pattern finds beside it, nor of all."""
    columns = {"label": ["no", "yes", "no"], "a": [0.1, 0.4, 0.3], "weight": [1.0, 2.0, 3.0], "group": ["x", "y", "x"]}
    called = dict(zip(columns, columns, strict=True)) | {role: name}
    frame = build({called[each]: values for each, values in columns.items()} | {"w2": [5.0, 6.0, 7.0]})
    asked = {"label": called["label"], "models": [called["a"]], "weight": called["weight"], "groups": [called["group"]]}
    if name in PATTERNS.get(engine, ()):
        said = f"column {name!r}: {engine.split('-')[0]} reads this name as a pattern of several columns: rename"
        with pytest.raises(DataError, match=re.escape(said)):
            frame_columns(frame, **asked, pos_label="yes")
        with pytest.raises(DataError, match=re.escape(said)):
            group_scores_by(
                frame, label=called["label"], score=called["a"], weight=called["weight"], by=called["group"]
            )
        return
    rows = frame_columns(frame, **asked, pos_label="yes")
    found = [rows.y.tolist(), rows.scores[0].tolist(), rows.weight.tolist(), rows.groups[called["group"]].tolist()]
    assert found == [[False, True, False], *list(columns.values())[1:]]


@given(st.lists(ROW, min_size=1, max_size=15).filter(lambda rows: any(is_complete(r) and r[3] for r in rows)))
def test_drop_keeps_exactly_the_complete_rows_of_positive_weight(builders, table):
    counted = [row for row in table if row[3]]
    kept = [row for row in counted if is_complete(row)]
    columns = {name: [row[i] for row in table] for i, name in enumerate(["y", "a", "b", "w", "g"])}
    for name, make in builders.items():
        rows = frame_columns(make(columns), label="y", models=["a", "b"], weight="w", groups=["g"], on_missing="drop")
        assert rows.n_dropped == len(counted) - len(kept), name
        assert rows.n_rows == len(kept), name
        assert rows.y.tolist() == [bool(row[0]) for row in kept], name
        assert [s.tolist() for s in rows.scores] == [[row[1] for row in kept], [row[2] for row in kept]], name
        assert rows.weight.tolist() == [row[3] for row in kept], name
        assert rows.groups["g"].tolist() == [row[4] for row in kept], name


@pytest.mark.parametrize(
    ("changed", "column", "row"),
    [
        ({"a": [0.1, NAN, None, 0.3]}, "a", 2),
        ({"y": [1, 0, None, 1]}, "y", 3),
        ({"y": [True, False, True, None]}, "y", 4),
        ({"y": ["1", "0", None, "1"]}, "y", 3),
        ({"w": [1.0, 1.0, 1.0, None]}, "w", 4),
        ({"g": ["u", None, "v", "u"]}, "g", 2),
        ({"b": [0.1, 0.2, None, 0.4], "a": [0.1, 0.2, 0.3, NAN]}, "b", 3),
        ({"g": ["u", None, "v", "u"], "w": [1.0, None, 1.0, 1.0], "a": [0.1, None, 0.3, 0.4]}, "a", 2),
    ],
)
def test_missing_value_is_refused_with_its_first_row_and_column(build, engine, changed, column, row):
    columns = {"y": [1, 0, 1, 0], "a": [0.1] * 4, "b": [0.2] * 4, "w": [1.0] * 4, "g": ["u"] * 4} | changed
    with pytest.raises(DataError, match="must not be missing") as caught:
        frame_columns(build(columns), label="y", models=["a", "b"], weight="w", groups=["g"])
    assert caught.value.column == column
    assert caught.value.row == (None if engine == "duckdb" else row)
    assert caught.value.total == 4
    assert 'on_missing="drop"' in str(caught.value)


def test_nothing_left_after_dropping_is_an_error(build):
    frame = build({"y": [1, 0], "a": [NAN, 0.5], "b": [0.5, NAN]})
    with pytest.raises(DataError, match="No complete row is left"):
        frame_columns(frame, label="y", on_missing="drop")


def test_row_number_counts_every_row_of_the_frame():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"y": [1, None, 0, 0], "a": [0.1, 0.1, 9.0, 1.5], "w": [1, 1, 0, 1]})
    with pytest.raises(DataError, match=r"column 'a', row 4: must lie in \[0, 1\], got 1.5 \(1 of 2 rows\)"):
        frame_columns(frame, label="y", weight="w", on_missing="drop")


def test_out_of_range_column_taken_automatically_tells_how_to_name_models(build):
    frame = build({"y": [1, 0], "a": [0.5, 0.25], "age": [44, 61]})
    with pytest.raises(DataError, match=r"column 'age'.*got 44.0 \(2 of 2 rows\).*models=.*--models"):
        frame_columns(frame, label="y")
    with pytest.raises(DataError, match=r"column 'age'.*Pass the probability") as caught:
        frame_columns(frame, label="y", models=["age"])
    assert "--models" not in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "pos_label", "expected"),
    [
        ([1, 0, 1], None, [True, False, True]),
        ([1, 0, 1], "1", [True, False, True]),
        ([1, 0, 1], "0", [False, True, False]),
        ([1.0, 0.0, 1.0], "1", [True, False, True]),
        ([2, 1, 2], 2, [True, False, True]),
        ([-1, 1, 1], None, [False, True, True]),
        ([True, False, True], None, [True, False, True]),
        ([True, False, True], "True", [True, False, True]),
        ([True, False, True], "false", [False, True, False]),
        (["no", "yes", "no"], "yes", [False, True, False]),
        (["0", "1", "0"], "1", [False, True, False]),
        ([0, 0, 0], None, [False, False, False]),
    ],
)
def test_positive_label_is_matched_by_value(build, labels, pos_label, expected):
    rows = frame_columns(build({"y": labels, "a": [0.1, 0.2, 0.3]}), label="y", pos_label=pos_label)
    assert rows.y.tolist() == expected


def test_unknown_positive_label_is_refused_with_the_labels_there_are(build):
    with pytest.raises(DataError, match=r"column 'y': pos_label must be one of the labels \(0, 1\), got 'yes'"):
        frame_columns(build({"y": [0, 1], "a": [0.1, 0.2]}), label="y", pos_label="yes")


def test_third_label_is_named_with_its_row(build, engine):
    frame = build({"y": ["c", "b", "c", "a", "b"], "p": [0.1] * 5})
    with pytest.raises(DataError, match=r"labels must take two values, not 3 \('a', 'b', 'c'\)") as caught:
        frame_columns(frame, label="y", pos_label="c")
    assert caught.value.row == (None if engine == "duckdb" else 4)
    assert ("got 'a'" in str(caught.value)) == (engine != "duckdb")


def test_third_label_in_a_dropped_row_does_not_count(build):
    frame = build({"y": [0, 1, 2], "a": [0.1, 0.2, NAN]})
    assert frame_columns(frame, label="y", on_missing="drop").n_rows == 2


def test_column_of_scores_given_as_label_is_refused_briefly(build):
    scores = [i / 5000 for i in range(5000)]
    with pytest.raises(DataError, match=r"labels must take two values, not 5000 \(.*, \.\.\.\)") as caught:
        frame_columns(build({"y": scores, "a": scores}), label="y")
    assert len(str(caught.value)) < 200


def test_decimal_columns_are_numbers(build):
    frame = build({"y": [Decimal(1), Decimal(0)], "a": [Decimal("0.1"), Decimal("0.75")], "n": [0.5, 0.5]})
    rows = frame_columns(frame, label="y", models=["a"])
    assert as_lists(rows) == ([True, False], [[0.1, 0.75]])


def test_numbers_written_as_text_are_not_read_as_numbers(build):
    with pytest.raises(DataError, match=r"column 'a'.*must hold numbers, got '0.1'"):
        frame_columns(build({"y": [1, 0], "a": ["0.1", "0.2"]}), label="y", models=["a"])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": [1, 0, 1], "a": pandas.Series([0.1, None, "0.2"], dtype=object)})
    with pytest.raises(DataError, match=r"column 'a', row 3: must hold numbers, got '0.2' \(1 of 3 rows\)"):
        frame_columns(frame, label="y", models=["a"])


def test_object_columns_of_pandas_are_understood():
    pandas = pytest.importorskip("pandas")
    columns = {"y": [True, False, None, True], "a": [0.5, 1, None, Decimal("0.25")], "g": ["u", None, 3, "v"]}
    frame = pandas.DataFrame({k: pandas.Series(v, dtype=object) for k, v in columns.items()})
    rows = frame_columns(frame, label="y", models=["a"], groups=["g"], on_missing="drop")
    assert as_lists(rows) == ([True, True], [[0.5, 0.25]])
    assert rows.groups["g"].tolist() == ["u", "v"]


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categorical_labels_and_groups_are_text(kind):
    polars = pytest.importorskip("polars")
    dtype = polars.Categorical if kind == "Categorical" else polars.Enum(["yes", "no", "maybe"])
    column = polars.Series(["no", "yes", None], dtype=dtype)
    frame = polars.DataFrame({"y": column, "g": column, "a": [0.1, 0.2, 0.3]})
    rows = frame_columns(frame, label="y", groups=["g"], pos_label="yes", on_missing="drop")
    assert rows.y.tolist() == [False, True]
    assert rows.groups["g"].tolist() == ["no", "yes"]


def test_pandas_categories_are_understood():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": pandas.Categorical(["no", "yes", "no"]), "a": [0.1, 0.2, 0.3]})
    assert frame_columns(frame, label="y", pos_label="yes").y.tolist() == [False, True, False]


@pytest.mark.parametrize("column", ["y", "a", "w", "g"])
def test_column_of_nulls_is_missing_throughout(build, column):
    columns = {"y": [1, 0], "a": [0.5, 0.25], "w": [1, 2], "g": ["u", "v"]} | {column: [None, None]}
    with pytest.raises(DataError, match=rf"column '{column}'.*must not be missing \(2 of 2 rows\)"):
        frame_columns(build(columns), label="y", models=["a"], weight="w", groups=["g"])


def test_label_that_is_not_there_is_an_error_with_the_closest_name_and_at_most_ten_others(build):
    columns = {"cancer": [0, 1]} | {f"model_{i}": [0.1, 0.2] for i in range(12)}
    with pytest.raises(DataError) as caught:
        frame_columns(build(columns), label="cancr")
    text = str(caught.value)
    assert "column 'cancr': there is no such column. Did you mean 'cancer'?" in text
    assert "'model_8'" in text
    assert "'model_9'" not in text
    assert "(13 in all)" in text
    some = {f"column_{k:02}": [0, 1] for k in range(10)}
    with pytest.raises(DataError, match=r"'column_08', 'column_09'\.$"):
        frame_columns(build(some), label="outcome")


@pytest.mark.parametrize("role", ["models", "weight", "groups"])
def test_other_columns_that_are_not_there_are_errors_too(build, role):
    value = "nowhere" if role == "weight" else ["nowhere"]
    with pytest.raises(DataError, match="column 'nowhere': there is no such column"):
        frame_columns(build({"y": [0, 1], "a": [0.1, 0.2]}), label="y", **{role: value})


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"models": ["a", "a"]}, "column 'a': must be named once"),
        ({"models": ["y"]}, "column 'y': is the label and can be nothing else"),
        ({"weight": "y"}, "column 'y': is the label and can be nothing else"),
        ({"models": ["a"], "weight": "a"}, "column 'a': is the weight and can be nothing else"),
        ({"models": []}, "no numeric column is left"),
        ({"weight": "a"}, r"no numeric column is left to be a model. Not numeric: 'name'"),
    ],
)
def test_columns_cannot_take_two_roles(build, roles, message):
    with pytest.raises(DataError, match=message):
        frame_columns(build({"y": [0, 1], "a": [0.1, 0.2], "name": ["u", "v"]}), label="y", **roles)


def test_duplicate_column_names_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="column 'a': column names must be distinct"):
        frame_columns(pandas.DataFrame([[1, 0.5, 0.6]], columns=["y", "a", "a"]), label="y")
    pyarrow = pytest.importorskip("pyarrow")
    arrays = [pyarrow.array([1]), pyarrow.array([0.5]), pyarrow.array([0.6])]
    with pytest.raises(DataError, match="column 'a': column names must be distinct"):
        frame_columns(pyarrow.Table.from_arrays(arrays, names=["y", "a", "a"]), label="y")
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(DataError, match="column 'a': column names must be distinct"):
        frame_columns(duckdb.sql("select 1 as y, 0.5 as a, 0.6 as a"), label="y")


def test_weights_must_be_finite_and_not_negative_nor_all_zero(build):
    for weights, message in [
        ([1.0, -2.0], "must be finite and >= 0, got -2.0"),
        ([1.0, float("inf")], "must be finite and >= 0, got inf"),
        ([0.0, 0.0], "must not be all zero"),
    ]:
        with pytest.raises(DataError, match=f"column 'w'.*{message}"):
            frame_columns(build({"y": [0, 1], "a": [0.1, 0.2], "w": weights}), label="y", weight="w")


def test_lazy_frame_reads_only_the_needed_columns():
    polars = pytest.importorskip("polars")

    def fail(_):
        raise AssertionError("an unneeded column was computed")

    frame = polars.LazyFrame({"y": [0, 1], "a": [0.1, 0.2]}).with_columns(
        polars.col("a").map_batches(fail, return_dtype=polars.String).alias("unneeded")
    )
    assert frame_columns(frame, label="y", models=["a"]).n_rows == 2


def test_on_missing_takes_two_values_only(build):
    with pytest.raises(ValueError, match="on_missing must be one of 'raise', 'drop', got 'ignore'"):
        frame_columns(build({"y": [0, 1], "a": [0.1, 0.2]}), label="y", on_missing="ignore")


def test_predictions_show_their_size_and_models():
    polars = pytest.importorskip("polars")
    rows = frame_columns(polars.DataFrame({"y": [0, 1], "a": [0.1, 0.2], "b": [0.3, 0.4]}), label="y")
    assert repr(rows) == "Predictions(2 rows, models 'a', 'b')"


def test_what_is_no_frame_is_refused_by_name():
    with pytest.raises(ValueError, match="frame must be a data frame, got dict"):
        frame_columns({"y": [0, 1], "a": [0.1, 0.2]}, label="y")


def test_error_survives_copying_so_that_worker_processes_can_report_it():
    error = DataError("must lie in [0, 1]", file="f.csv", column="a", row=3, line=4, value=1.5, count=1, total=9)
    again = copy.copy(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_many_columns_are_models_only_where_they_are_named():
    pl = pytest.importorskip("polars")
    names = [f"x{k}" for k in range(101)]
    frame = pl.DataFrame({"y": [0, 1], **{key: [0.1, 0.8] for key in names}})
    with pytest.raises(DataError, match=r"101 numeric columns would be models, from 'x0' to 'x100'") as caught:
        frame_columns(frame, label="y")
    assert "--models" in str(caught.value)
    assert frame_columns(frame, label="y", models=names).models == tuple(names)


LONG = [10**18 + 64 * (k // 2) for k in range(8)]  # as floats two neighbours are one


@pytest.mark.parametrize("kind", ["missing", "decimal", "beyond 64 bits", "128 bits"])
def test_long_ids_stay_distinct_whatever_the_type_of_their_column(kind):
    frames = pytest.importorskip("polars")
    if kind == "128 bits" and not hasattr(frames, "Int128"):
        pytest.skip("this polars has no integers of 128 bits")
    ids = [10**6 * each for each in LONG] if kind == "beyond 64 bits" else LONG
    kinds = {"missing": frames.Int64, "128 bits": getattr(frames, "Int128", None)}
    column = frames.Series([*map(str, ids), None]).cast(kinds.get(kind) or frames.Decimal(38, 0))
    frame = frames.DataFrame({"y": [0, 1, 0] * 3, "a": [0.5] * 9, "id": column})
    for each in (frame, frame.lazy()):
        rows = frame_columns(each, label="y", models=["a"], groups=["id"], on_missing="drop")
        assert list(map(str, rows.groups["id"])) == list(map(str, ids))


def test_long_ids_of_a_duckdb_relation_stay_distinct():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    ids = "1000000000000000000::HUGEINT + 64 * (range // 2) AS id"
    relation = duckdb.sql("FROM range(8)").project(f"range % 2 AS y, 0.5 AS a, {ids}")
    rows = frame_columns(relation, label="y", models=["a"], groups=["id"])
    assert sorted(map(int, rows.groups["id"])) == LONG


def test_decimals_with_a_fraction_are_groups_by_their_value():
    frames = pytest.importorskip("polars")
    column = frames.Series(["0.5", "0.25", "0.5"]).cast(frames.Decimal(4, 2))
    frame = frames.DataFrame({"y": [0, 1, 0], "a": [0.5] * 3, "g": column})
    assert frame_columns(frame, label="y", models=["a"], groups=["g"]).groups["g"].tolist() == [0.5, 0.25, 0.5]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("kind", ["Datetime", "Zoned", "Duration"])
@pytest.mark.parametrize("way", ["polars", "pandas", "pyarrow", "engine"])
def test_moments_and_durations_of_any_unit_are_groups(unit, kind, way):
    pl = pytest.importorskip("polars")
    units = 86_400_000 * {"ms": 1, "us": 10**3, "ns": 10**6}[unit]  # of a day
    days = [2, 0, None, -1, 0, 2]
    dtype = {"Datetime": pl.Datetime(unit), "Zoned": pl.Datetime(unit, "UTC"), "Duration": pl.Duration(unit)}[kind]
    column = pl.Series([None if day is None else day * units for day in days], dtype=pl.Int64).cast(dtype)
    frame = pl.DataFrame({"y": [0, 1, 0, 1, 0, 1], "a": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "g": column})
    start = timedelta(0) if kind == "Duration" else datetime(1970, 1, 1, tzinfo=UTC if kind == "Zoned" else None)
    expected = [start + timedelta(day) for day in days if day is not None]
    if way == "engine":
        groups, found = group_scores_by(frame.lazy().drop_nulls(), label="y", score="a", by="g")
        assert groups.tolist() == sorted(set(expected))
        assert [positives for _, positives in found] == [1, 1, 1]
        return
    if way != "polars":
        pytest.importorskip(way)
        frame = frame.to_arrow() if way == "pyarrow" else frame.to_pandas()
    rows = frame_columns(frame, label="y", models=["a"], groups=["g"], on_missing="drop")
    assert rows.groups["g"].tolist() == expected


@pytest.mark.parametrize("kind", ["Datetime", "Duration", "Time"])
def test_moments_within_a_microsecond_are_different_groups(kind):
    pl = pytest.importorskip("polars")
    dtype = {"Datetime": pl.Datetime("ns"), "Duration": pl.Duration("ns"), "Time": pl.Time}[kind]
    column = pl.Series([5, 0, 5, 4], dtype=pl.Int64).cast(dtype)
    frame = pl.DataFrame({"y": [0, 1, 0, 1], "a": [0.1, 0.2, 0.3, 0.4], "g": column})
    found = frame_columns(frame, label="y", models=["a"], groups=["g"]).groups["g"].tolist()
    assert found[0] == found[2]
    assert len(set(found)) == 3


def test_hour_that_clocks_show_twice_is_two_groups():
    pl = pytest.importorskip("polars")
    moments = [datetime(2020, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1, 0)]  # half past two, twice
    frame = pl.DataFrame({"y": [0, 1, 0], "a": [0.1, 0.2, 0.3], "g": moments})
    frame = frame.with_columns(pl.col("g").dt.convert_time_zone("Europe/Berlin"))
    found = frame_columns(frame, label="y", models=["a"], groups=["g"]).groups["g"].tolist()
    assert found == ["2020-10-25T00:30:00.000000Z", "2020-10-25T01:30:00.000000Z", "2020-10-25T00:30:00.000000Z"]


@pytest.mark.parametrize("role", ["label", "groups"])
@pytest.mark.parametrize("engine", ["polars", "pyarrow", "duckdb"])
def test_lists_as_labels_or_groups_are_refused_by_every_engine(engine, role):
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    held = pl.DataFrame({"y": [0, 1, 0, 1], "a": [0.1, 0.8, 0.3, 0.6], "odd": [[0], [1], [0], [1]]})
    table = held.to_arrow()
    frame = {"polars": held, "pyarrow": table, "duckdb": duckdb.from_arrow(table)}[engine]
    roles = {"label": "odd"} if role == "label" else {"label": "y", "groups": ["odd"]}
    with pytest.raises(DataError, match="column 'odd': must hold text, numbers or true and false, not List"):
        frame_columns(frame, models=["a"], **roles)


@pytest.mark.parametrize("kind", ["Int128", "Int64"])
def test_integers_of_128_bits_are_numbers(kind, tmp_path):
    polars = pytest.importorskip("polars")
    if not hasattr(polars, kind):
        pytest.skip(f"this version of polars has no {kind}")
    frame = polars.DataFrame({"y": [0, 1, 1], "a": [0, 1, 0], "w": [2, 3, 1]}).cast({"a": getattr(polars, kind)})
    frame = frame.cast({"w": getattr(polars, kind)})
    frame.write_parquet(tmp_path / "rows.parquet")
    asked = {"label": "y", "models": ["a"], "weight": "w"}
    for rows in (
        frame_columns(frame, **asked),
        frame_columns(frame.lazy(), **asked),
        read_predictions(tmp_path / "rows.parquet", **asked),
    ):
        assert (rows.scores[0].tolist(), rows.weight.tolist()) == ([0.0, 1.0, 0.0], [2.0, 3.0, 1.0])


def test_decimal_labels_of_pandas_are_the_numbers_that_they_are():
    pandas = pytest.importorskip("pandas")
    for labels, named in (("01", (0, 1)), ("12", (1, 2)), (("0.5", "1.5"), (0.5, 1.5))):
        column = [Decimal(labels[0]), Decimal(labels[1])] * 2
        frame = pandas.DataFrame({"y": column, "a": [0.1, 0.8, 0.3, 0.6]})
        asked = None if named[1] == 1 else named[1]
        rows = frame_columns(frame, label="y", models=["a"], pos_label=asked)
        assert (rows.y.tolist(), rows.neg_label) == ([False, True] * 2, named[0])
        table = ScoreTable.from_frame(frame, label="y", score="a", pos_label=column[1])
        assert (table.pos_label, table.neg_label) == named[::-1]


@pytest.mark.parametrize(("column", "hinted"), [("p", True), ("y", False), ("w", False)])
def test_a_missing_score_of_a_model_that_nobody_named_says_how_to_name_models(column, hinted):
    pl = pytest.importorskip("polars")
    columns = {"y": [0.0, 1.0, 1.0], "p": [0.1, 0.7, 0.4], "w": [1.0, 2.0, 1.0]}
    frame = pl.DataFrame(columns | {column: [*columns[column][:2], None]})
    with pytest.raises(DataError, match=rf"column '{column}', row 3: must not be missing") as caught:
        frame_columns(frame, label="y", models=None, weight="w")
    assert ("name the model columns with models=" in str(caught.value)) is hinted


@pytest.mark.parametrize("largest", [2**63 - 1, 2**63, 2**64 + 1])
def test_whole_numbers_that_name_groups_stay_as_large_as_they_are(largest):
    pd = pytest.importorskip("pandas")
    groups = pd.Series([largest, -1, largest], dtype=object)
    frame = pd.DataFrame({"y": [0, 1, 1], "p": [0.1, 0.7, 0.4], "g": groups})
    found = frame_columns(frame, label="y", models=["p"], groups=["g"]).groups["g"]
    assert [*map(repr, found.tolist())] == [str(largest), "-1", str(largest)]  # as a float it would be equal
