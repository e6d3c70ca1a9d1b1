"""Files that are read part by part hold the same rows, and the same errors, as if they were read at once."""

import numpy as np
import pytest

from stakes.tables import (
    DataError,
    _columnar_files as _typed,
    _text_files as _csv,
    _text_files as _csv_blocks,
    frame_columns,
    read_predictions,
)

polars = pytest.importorskip("polars")

PARTS = {
    "floats": [0.25, 0.5, 0.125, 1.0, 0.0, 0.75, 0.1],
    "single precision": polars.Series([0.25, 0.1, 0.3, 1.0, 0.0, 0.75, 0.9], dtype=polars.Float32),
    "whole numbers": polars.Series([0, 1, 1, 0, 0, 1, 1], dtype=polars.Int8),
    "booleans": [True, False, True, True, False, False, True],
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("scores", PARTS)
@pytest.mark.parametrize("labels", [[0, 1, 1, 0, 1, 0, 0], [-1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0]])
def test_parquet_read_in_parts_is_the_frame_that_was_written(tmp_path, monkeypatch, scores, labels, missing):
    monkeypatch.setattr(_typed, "_PART", 3)
    monkeypatch.setattr(_typed, "_MOST_PARTS", 10)
    frame = polars.DataFrame({"y": labels, "a": PARTS[scores], "w": [1, 2, 3, 4, 5, 6, 7]})
    if missing:
        frame = frame.with_columns(
            polars.when(polars.col("w") == 5).then(None).otherwise(polars.col("a", "y")).name.keep()
        )
    path = tmp_path / "p.parquet"
    frame.write_parquet(path, row_group_size=2)
    options = {"label": "y", "models": ["a"], "weight": "w", "on_missing": "drop"}
    found, expected = read_predictions(path, **options), frame_columns(frame, **options)
    assert np.array_equal(found.y, expected.y)
    assert np.array_equal(found.scores[0], expected.scores[0])
    assert np.array_equal(found.weight, expected.weight)
    assert found.n_dropped == expected.n_dropped == int(missing)


def test_more_than_two_labels_in_a_later_part_are_refused_with_their_row(tmp_path, monkeypatch):
    monkeypatch.setattr(_typed, "_PART", 3)
    path = tmp_path / "p.parquet"
    polars.DataFrame({"y": [0, 1, 1, 0, 2], "a": [0.5] * 5}).write_parquet(path)
    with pytest.raises(DataError, match=r"labels must take two values, not 3 \(0, 1, 2\)") as caught:
        read_predictions(path, label="y")
    assert caught.value.row == 5


def test_column_that_is_damaged_is_a_data_error(tmp_path):
    path = tmp_path / "p.parquet"
    polars.DataFrame({"y": [0, 1] * 5000, "a": np.random.default_rng(0).random(10_000)}).write_parquet(path)
    data = bytearray(path.read_bytes())
    data[4:60] = b"\xff" * 56  # after the magic bytes stands the head of the first page
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_predictions(path, label="y")


CSV_PIECES = {
    "plain": "y,a,w\n0,0.1,1\n1,0.25,2\n1,NA,3\n0,1e-3,1\n0,,2\n1,1,5\n",
    "returns and blank end": "y,a,w\r\n0,0.1,1\r\n1,0.25,2\r\n1,NA,3\r\n0,1e-3,1\r\n0,,2\r\n1,1,5\r\n\r\n\r\n",
    "quotes and mark": '\ufeff"y","a","w"\n"0",0.1,"1"\n1,0.25,2\n1,NA,3\n0,1e-3,1\n0,,2\n1,"1",5',
    "text label": "y;a;w\nno;0.1;1\nyes;0.25;2\nyes;NA;3\nno;1e-3;1\nno;;2\nyes;1;5\n",
    "spaces": "y,a,w\n0, 0.1,1\n1,0.25 ,2\n1,NA,3\n0,1e-3,1\n0,,2\n1,1,5\n",
}


def only_at_full_speed(file, block, columns, types, missing=_csv.MISSING):
    """Read as the file does, and see that the numbers were never text."""
    frame = _csv.CsvFile.PARSED(file, block, columns, types, missing)
    assert polars.String not in frame.dtypes
    return frame


@pytest.mark.parametrize("case", CSV_PIECES)
@pytest.mark.parametrize("piece", [1, 9, 1000])
def test_csv_read_in_pieces_keeps_every_row_in_order(tmp_path, monkeypatch, case, piece):
    monkeypatch.setattr(_csv_blocks, "_PIECE", piece)
    monkeypatch.setattr(_csv.CsvFile, "PARSED", _csv.CsvFile._parsed, raising=False)
    if case not in {"text label", "spaces"}:  # which are looked at as text
        monkeypatch.setattr(_csv.CsvFile, "_parsed", only_at_full_speed)
    path = tmp_path / "p.csv"
    path.write_bytes(CSV_PIECES[case].encode())
    found = read_predictions(
        path, label="y", models=["a"], weight="w", pos_label="yes" if "text" in case else 1, on_missing="drop"
    )
    assert found.y.tolist() == [False, True, False, True]
    assert found.scores[0].tolist() == [0.1, 0.25, 1e-3, 1.0]
    assert found.weight.tolist() == [1.0, 2.0, 1.0, 5.0]
    assert found.n_dropped == 2


def test_bad_number_in_a_later_piece_is_refused_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv_blocks, "_PIECE", 10)
    path = tmp_path / "p.csv"
    path.write_text("y,a\n" + "0,0.1\n1,0.2\n" * 50 + "1,many\n")
    with pytest.raises(DataError, match="must be a number") as caught:
        read_predictions(path, label="y", models=["a"])
    assert (caught.value.row, caught.value.value) == (101, "many")
