"""Labels and cells of CSV files that look like nothing, or like numbers: read alike however the rest of the file is."""

from __future__ import annotations

import pytest

from stakes import costs
from stakes.evaluation import evaluate_frame
from stakes.tables import DataError, read_predictions

pl = pytest.importorskip("polars")

QUOTED = '0,0.1,"two\nlines"\n'  # such a record is read by another reader than plain lines are


def written(folder, text):
    path = folder / "risks.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("label", [" ", "\t", "\x0b", ""])
@pytest.mark.parametrize("more", ["", QUOTED])
def test_label_of_spaces_is_missing(tmp_path, label, more):
    path = written(tmp_path, f"y,a,note\n0,0.1,x\n1,0.2,x\n{label},0.3,x\n{more}")
    with pytest.raises(DataError, match=r"column 'y', row 3.*must not be missing") as raised:
        read_predictions(path, label="y", models=["a"])
    assert raised.value.row == 3


def test_nan_among_numeric_labels_is_missing(tmp_path):
    path = written(tmp_path, f"y,a,note\n0,0.1,x\nNAN,0.2,x\n1,0.3,x\n{QUOTED}")
    with pytest.raises(DataError, match=r"column 'y', row 2.*must not be missing"):
        read_predictions(path, label="y", models=["a"])


def test_byte_order_mark_within_a_file_is_part_of_its_cell(tmp_path):
    path = written(tmp_path, "y,a\n\ufeff0,0.1\n1,0.2\n0,0.3\n")
    with pytest.raises(DataError, match=r"labels must take two values, not 3"):
        read_predictions(path, label="y")


def test_percent_sign_after_what_is_no_number_gets_no_advice(tmp_path):
    path = written(tmp_path, "y,a\n0,0..15%\n1,0.2\n0,0.3\n")
    with pytest.raises(DataError, match=r"must be a number, got '0\.\.15%' \(1 of 3 rows\)"):
        read_predictions(path, label="y", models=["a"])


PAIRS = {  # two integers that are one float, and the type of a column that tells them apart
    "2^53": (2**53, 2**53 + 1, "Int64"),
    "2^60": (2**60, 2**60 + 1, "Int64"),
    "-2^60": (-(2**60) - 1, -(2**60), "Int64"),
    "2^64": (2**64 - 2, 2**64 - 1, "UInt64"),
}


def labelled(low, high, kind):
    """Return 90 rows, a third of them with the higher label, to which the model gives the higher score."""
    labels = pl.Series([low, high, low] * 30, dtype=getattr(pl, kind))
    return pl.DataFrame({"y": labels, "a": [0.1, 0.9, 0.1] * 30, "fp": [1.0] * 90, "fn": [3.0] * 90})


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "quoted.csv"])
def test_labels_that_are_one_float_are_told_apart_by_their_digits(tmp_path, pair, ending):
    low, high, kind = PAIRS[pair]
    path, frame = tmp_path / f"rows.{ending}", labelled(low, high, kind)
    if ending == "quoted.csv":
        frame.with_columns(note=pl.lit("two\nlines")).write_csv(path)
    else:
        {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[ending](path)
    for pos_label, positives in ((low, 60), (high, 30)):
        for said in (pos_label, str(pos_label)):
            assert read_predictions(path, label="y", models=["a"], pos_label=said).y.sum() == positives
    with pytest.raises(DataError, match=rf"pos_label must be one of the labels .*got '{high + 1}'"):
        read_predictions(path, label="y", models=["a"], pos_label=str(high + 1))


def test_third_label_that_is_one_float_with_another_is_refused(tmp_path):
    path = written(tmp_path, f"y,a\n0,0.1\n{2**64 - 1},0.2\n{2**64 - 2},0.3\n")
    with pytest.raises(DataError, match=r"labels must take two values, not 3"):
        read_predictions(path, label="y", pos_label="0")


COSTS, AMOUNTS = {"costs": costs.Uniform(0.2, 0.4)}, {"false_positive": "fp", "false_negative": "fn"}


def asked(frame, engine, more, pos_label):
    if engine == "polars" and more is AMOUNTS and not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this polars streams no rows")
    lazy = frame.lazy() if engine == "polars" else pytest.importorskip("duckdb").from_arrow(frame.to_arrow())
    return evaluate_frame(lazy, label="y", models=["a"], pos_label=pos_label, **more)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_engines_tell_such_labels_apart(pair, engine):
    low, high, kind = PAIRS[pair]
    for pos_label, positives in ((low, 60), (high, 30)):
        found = asked(labelled(low, high, kind), engine, COSTS, pos_label)
        assert (found.prevalence, found.auc("a").value) == (positives / 90, float(pos_label == high))


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_engines_tell_such_labels_apart_where_rows_have_amounts(pair, engine):
    low, high, kind = PAIRS[pair]
    for pos_label, positives in ((low, 60), (high, 30)):
        found = asked(labelled(low, high, kind), engine, AMOUNTS, pos_label)
        assert found.prevalence == pytest.approx(3 * positives / (3 * positives + 90 - positives))  # at stake


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("more", [COSTS, AMOUNTS], ids=["costs", "amounts"])
def test_engines_refuse_a_third_label_that_is_one_float_with_another(engine, more):
    frame = labelled(0, 2**60, "Int64").vstack(labelled(0, 2**60 + 1, "Int64"))
    with pytest.raises(DataError, match=r"labels must take two values, not 3"):
        asked(frame, engine, more, 0)
