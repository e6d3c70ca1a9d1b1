"""Labels and cells of CSV files that look like nothing, or like numbers: read alike however the rest of the file is."""

from __future__ import annotations

import pytest

from stakes.tables import DataError, read_predictions

pytest.importorskip("polars")

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
