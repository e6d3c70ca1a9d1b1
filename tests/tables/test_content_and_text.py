"""What a file is taken for before its rows are read: where its bytes come from, and which texts are numbers."""

import csv
import gzip
import io
from itertools import product

import pytest

from stakes.tables import DataError
from stakes.tables._columns import is_meant_as_number, looks_numeric, tidy_group, tidy_label, types_that_hold
from stakes.tables._text_files import _MOST_TIMES, _MOST_UNPACKED, Content, CsvFile, is_plain

pl = pytest.importorskip("polars")


@pytest.mark.parametrize(
    ("name", "packed", "stays"),
    [("p.csv", False, True), ("p.csv", True, False), ("p[1].csv", False, False), ("p*.csv", True, False)],
)
def test_plain_file_stays_where_it_is_and_others_are_held_in_memory(name, packed, stays, tmp_path):
    text = b"y,a\n0,0.5\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if packed else text)
    found = Content.of(tmp_path / name)
    assert (found.path == tmp_path / name, found.data) == (stays, b"" if stays else text)
    with found.open() as stream:
        assert stream.read() == found.head() == text
    assert found.mapped()[:] == text


def test_file_that_cannot_be_read_says_why_in_plain_words(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(DataError, match=r"cannot be read: Too many levels of symbolic links$"):
        Content.of(tmp_path / "loop")
    with pytest.raises(DataError, match=r"cannot be read: embedded null byte$"):
        Content.of("a\0b")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("predictions", "there is no such file"),
        ("my scores", "there is no such file"),
        ("a:b", "there is no such file"),
        ("s3:/bucket/day", "there is no such file"),
        ("://day", "there is no such file"),
        ("my folder://day", "there is no such file"),
        ("s3://bucket/day", "is an address, and only files of this machine are read"),
        ("file:///data/day", "is an address: write the path alone, /data/day"),
        ("file:///my%20data/day", "is an address: write the path alone, /my data/day"),
        ("file://localhost/data/day", "is an address: write the path alone, /data/day"),
    ],
)
def test_only_what_begins_like_an_address_is_called_one(name, rule, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=f"^{name}: {rule}(: copy it here first, .*)?$"):
        Content.of(name)


def test_file_may_unpack_to_so_much_or_to_so_many_times_its_size_whichever_is_more(tmp_path, monkeypatch):
    assert (_MOST_TIMES, _MOST_UNPACKED) == (100, 256 << 20)
    monkeypatch.setattr("stakes.tables._text_files._MOST_UNPACKED", 10)
    text = b"y,a\n" + b"0,0.5\n" * 50
    (tmp_path / "p.csv").write_bytes(gzip.compress(text))
    assert Content.of(tmp_path / "p.csv").data == text
    monkeypatch.setattr("stakes.tables._text_files._MOST_TIMES", 1)
    with pytest.raises(DataError, match="unpacks to more than 1 times its size and 0 MiB"):
        Content.of(tmp_path / "p.csv")
    # the very last byte that may come
    monkeypatch.setattr("stakes.tables._text_files._MOST_UNPACKED", len(text))
    assert Content.of(tmp_path / "p.csv").data == text
    monkeypatch.setattr("stakes.tables._text_files._MOST_UNPACKED", len(text) - 1)
    with pytest.raises(DataError, match="unpacks to more than"):
        Content.of(tmp_path / "p.csv")


def test_empty_cells_of_a_frame_are_null_and_no_other_text_is(tmp_path):
    (tmp_path / "p.csv").write_bytes(b'y,a,b\n0,,NA\n1,"","x"\n,0.5,null\n')
    file = CsvFile.open(Content.of(tmp_path / "p.csv"), "y")
    (_, frame), *more = file.frames(dict.fromkeys(file.names, pl.String))
    assert more == []
    assert frame.to_dict(as_series=False) == {"y": ["0", "1", None], "a": [None, None, "0.5"], "b": ["NA", "x", "null"]}


def test_lines_above_the_header_are_counted(tmp_path):
    for above in (b"", b"\n", b"\n  \n\n"):
        (tmp_path / "p.csv").write_bytes(above + b'y,a\n0,0.5\n1,"0.5\n')
        file = CsvFile.open(Content.of(tmp_path / "p.csv"), "y")
        with pytest.raises(DataError) as caught:
            list(file.frames({}))
        assert caught.value.line == above.count(b"\n") + 3
        (tmp_path / "h.csv").write_bytes(above + b'y,"a\n')
        with pytest.raises(DataError) as caught:
            CsvFile.open(Content.of(tmp_path / "h.csv"), "y")
        assert caught.value.line == above.count(b"\n") + 1


@pytest.mark.parametrize(
    ("cells", "numeric"),
    [
        (["1", "2.5"], True),
        (["1", "x"], True),  # half of them is enough
        (["1", "x", "y"], False),
        (["12%", "", " ", "NA"], True),  # what is missing does not count
        (["x", "", "NA"], False),
        (["", "NA"], True),
        (["x"], False),
        ([], True),
    ],
)
def test_column_is_of_numbers_where_half_of_what_is_there_is_meant_as_one(cells, numeric):
    assert looks_numeric(cells) is numeric


def test_texts_that_are_meant_as_numbers():
    assert all(map(is_meant_as_number, ["1", "-1e-3", "0,5", ".5", "12 %", "+12%", "inf"]))
    assert not any(map(is_meant_as_number, ["", "x", "1,2,3", "5 kg", "12%%", "0x1f", ","]))


def test_labels_are_whole_numbers_as_written_and_with_a_point_up_to_where_floats_hold_each():
    below, at = str(2**53 - 1), str(2**53)
    assert tidy_label(pl.Series(["0.0", below])).to_list() == [0, 2**53 - 1]
    assert tidy_label(pl.Series(["0.0", below])).dtype == pl.Int64
    assert tidy_label(pl.Series(["0.0", at])).dtype == pl.Float64
    assert tidy_label(pl.Series(["0.0", "-" + at])).dtype == pl.Float64
    for value in (2**53 + 1, -(2**63), 2**63 - 1, 2**64 - 1):
        assert tidy_label(pl.Series(["0", f" {value}", "NaN"])).to_list() == [0, value, None]
    assert tidy_label(pl.Series(["0", str(2**64)])).dtype == pl.Float64
    assert tidy_label(pl.Series(["0.5", "1"])).to_list() == [0.5, 1.0]
    assert tidy_label(pl.Series([" 1.0", "0 ", ""])).to_list() == [1, 0, None]
    assert tidy_label(pl.Series(["True", "FALSE"])).to_list() == [True, False]
    assert tidy_label(pl.Series(["True", "no", ""])).to_list() == ["True", "no", None]
    assert tidy_label(pl.Series(["", ""])).to_list() == [None, None]


def test_groups_are_whole_numbers_only_where_their_text_is_that_of_the_numbers():
    assert tidy_group(pl.Series(["2", "10", ""])).to_list() == [2, 10, None]
    assert tidy_group(pl.Series(["007", "10"])).to_list() == ["007", "10"]
    assert tidy_group(pl.Series(["1.0", "2"])).to_list() == ["1.0", "2"]
    for true, false in (("true", "false"), ("True", "False"), ("TRUE", "FALSE")):
        assert tidy_group(pl.Series([true, false, "", true])).to_list() == [True, False, None, True]
        assert tidy_group(pl.Series([true, "unknown"])).to_list() == [true, "unknown"]
    assert tidy_group(pl.Series(["true", "True"])).to_list() == ["true", "True"]
    assert tidy_group(pl.Series(["", ""])).to_list() == [None, None]


@pytest.mark.parametrize(
    ("cells", "kinds"),
    [
        (["1", "-2", "", "NA"], {pl.Int64, pl.Float64}),
        (["9007199254740992", "0.5"], {pl.Float64}),
        (["9007199254740993", "0.5"], set()),
        (["-9007199254740993", "0.5"], set()),
        (["-200", "0.5"], {pl.Float64}),
        (["9007199254740993", "1"], {pl.Int64}),
        (["9223372036854775808"], set()),
        (["007", "0.5"], set()),
        (["-01"], set()),
        (["0.50", "+1"], {pl.Float64}),
        (["1e999", "0.5"], set()),
        (["inf", "0.5"], set()),
        (["true", "FALSE"], {pl.Boolean}),
        (["true", "1"], set()),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else len(each),  # a set has no order
)
def test_a_type_holds_cells_if_it_gives_each_of_them_back(cells, kinds):
    assert types_that_hold(pl.Series(cells)) == kinds


@pytest.mark.parametrize("n_fields", [1, 2])
def test_lines_that_are_plain_are_the_records_of_the_csv_module(n_fields):
    found = 0
    for signs in product('a,"\r\n', repeat=4):
        text = "".join(signs)
        if is_plain(text.encode(), ",", n_fields):
            records = list(csv.reader(io.StringIO(text, newline=""), strict=True))
            assert [len(record) for record in records] == [n_fields] * len(text.removesuffix("\n").split("\n")), text
            found += 1
    assert found > 10
