"""The same rows come out of every file format; what cannot be read is refused by file, column, row and value."""

import csv
import gzip
import hashlib
import io
import json
import re
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from stakes.outputs.serialization import Location
from stakes.tables import DataError, file_digest, read_class_predictions, read_predictions
from stakes.tables._predictions import _summing_to_one

polars = pytest.importorskip("polars")

COLUMNS = {
    "cancer": [1, 0, 0, 1],
    "model_a": [0.9, 0.125, 1e-12, 0.5],
    "site": ["north", "south", "north", "south"],
    "model_b": [0.75, 0.0, 0.25, 1.0],
    "weight": [1.0, 2.0, 0.5, 3.0],
}


def write_csv(frame, path):
    frame.write_csv(path)


def write_tsv(frame, path):
    frame.write_csv(path, separator="\t")


def write_gzip(frame, path):
    path.write_bytes(gzip.compress(frame.write_csv().encode()))


def write_stream(frame, path):
    frame.write_ipc_stream(path)


def write_jsonl(frame, path):
    path.write_text("\n".join(map(json.dumps, frame.to_dicts())) + "\n\n", encoding="utf-8")


WRITERS = {
    "risks.csv": write_csv,
    "risks.tsv": write_tsv,
    "risks.csv.gz": write_gzip,
    "risks.parquet": polars.DataFrame.write_parquet,
    "risks.arrow": polars.DataFrame.write_ipc,
    "risks.feather": polars.DataFrame.write_ipc,
    "risks.ipc": write_stream,
    "risks.jsonl": write_jsonl,
    "risks.ndjson": write_jsonl,
    # names that say nothing, so that the content must
    "risks.dat": write_csv,
    "risks": write_jsonl,
    "risks.txt": polars.DataFrame.write_parquet,
    "risks.bin": polars.DataFrame.write_ipc,
    # names that polars would take for patterns
    "ri[s]ks*.csv": write_csv,
    "ri[s]ks.parquet": polars.DataFrame.write_parquet,
}


def read(content, tmp_path, name="risks.csv", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_predictions(path, **{"label": "y"} | options)


def refusal(content, tmp_path, name="risks.csv", **options):
    """Return the error and its text without the folder."""
    with pytest.raises(DataError) as caught:
        read(content, tmp_path, name, **options)
    text = str(caught.value)
    assert text.startswith(str(tmp_path / name) + ": ")
    assert caught.value.file == str(tmp_path / name)
    return caught.value, text.removeprefix(f"{tmp_path}/")


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_rows(tmp_path, name):
    WRITERS[name](polars.DataFrame(COLUMNS), tmp_path / name)
    rows = read_predictions(tmp_path / name, label="cancer", weight="weight", groups=["site"])
    assert rows.y.tolist() == [True, False, False, True]
    assert rows.models == ("model_a", "model_b")
    assert [s.tolist() for s in rows.scores] == [COLUMNS["model_a"], COLUMNS["model_b"]]
    assert rows.weight.tolist() == COLUMNS["weight"]
    assert rows.groups["site"].tolist() == COLUMNS["site"]
    assert (rows.n_rows, rows.n_dropped, rows.backend, rows.source) == (4, 0, None, str(tmp_path / name))


@pytest.mark.parametrize("name", WRITERS)
def test_standard_input_is_sniffed(tmp_path, monkeypatch, name):
    WRITERS[name](polars.DataFrame(COLUMNS), tmp_path / name)
    stream = io.BytesIO((tmp_path / name).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    rows = read_predictions("-", label="cancer", models=["model_b"])
    assert rows.scores[0].tolist() == COLUMNS["model_b"]
    assert rows.source == "standard input"


def test_stated_format_overrides_the_name(tmp_path):
    (tmp_path / "risks.csv").write_text('{"y": 1, "a": 0.5}\n{"y": 0, "a": 0.25}\n', encoding="utf-8")
    assert read_predictions(tmp_path / "risks.csv", label="y", format="jsonl").n_rows == 2
    with pytest.raises(ValueError, match="format must be one of 'csv', 'parquet', 'arrow', 'jsonl', got 'xlsx'"):
        read_predictions(tmp_path / "risks.csv", label="y", format="xlsx")


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=20))
def test_numbers_are_read_to_the_last_digit(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("digits") / "risks.csv"
    path.write_text("y,a\n" + "".join(f"{y:d},{a!r}\n" for y, a in rows), encoding="utf-8")
    found = read_predictions(path, label="y")
    assert found.y.tolist() == [y for y, _ in rows]
    assert found.scores[0].tolist() == [float(repr(a)) for _, a in rows]


ACCEPTED = {
    "no line end at the end": "y,a,b\n1,0.5,0.2\n0,0.1,0.3",
    "Windows line ends": "y,a,b\r\n1,0.5,0.2\r\n0,0.1,0.3\r\n",
    "old Macintosh line ends": "y,a,b\r1,0.5,0.2\r0,0.1,0.3\r",
    "byte order mark": "\ufeffy,a,b\n1,0.5,0.2\n0,0.1,0.3\n",
    "blank lines": "\n\ny,a,b\n\n1,0.5,0.2\n \n0,0.1,0.3\n\n\n",
    "semicolons": "y;a;b\n1;0.5;0.2\n0;0.1;0.3\n",
    "tabs": "y\ta\tb\n1\t0.5\t0.2\n0\t0.1\t0.3\n",
    "quotes": '"y","a","b"\n"1","0.5","0.2"\n"0","0.1","0.3"\n',
    "spaces around numbers": "y,a,b\n1, 0.5 ,0.2\n0 ,0.1, 0.3\n",
    "other spellings of numbers": "y,a,b\n1.0,5e-1,.2\n0,+0.1,3E-1\n",
    "true and false": "y,a,b\nTrue,0.5,0.2\nFalse,0.1,0.3\n",
    "row names as R writes them": '"","y","a","b"\n"1",1,0.5,0.2\n"2",0,0.1,0.3\n',
    "index as pandas writes it": ",y,a,b\n0,1,0.5,0.2\n1,0,0.1,0.3\n",
    "empty unnamed last column": "y,a,b,\n1,0.5,0.2,\n0,0.1,0.3,\n",
    "text with separators, quotes and line ends": 'y,a,b,note\n1,0.5,0.2,"x,""y""\nz"\n0,0.1,0.3,"5"" w"\n',
    "a quotation mark inside a cell": 'y,a,b,note\n1,0.5,0.2,5" wide\n0,0.1,0.3,plain\n',
    "a column of text with some numbers": "y,a,b,id\n1,0.5,0.2,A1\n0,0.1,0.3,B7\n",
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_csv_as_programs_write_it_is_accepted(tmp_path, case):
    rows = read(ACCEPTED[case], tmp_path)
    assert rows.models == ("a", "b")
    assert rows.y.tolist() == [True, False]
    assert [s.tolist() for s in rows.scores] == [[0.5, 0.1], [0.2, 0.3]]


@pytest.mark.parametrize(("separator", "other"), [(",", ";"), (";", ","), ("\t", ",")])
def test_separator_is_the_one_that_makes_the_label_a_column(tmp_path, separator, other):
    name = other.join("pqrs")
    assert read(f"y{separator}{name}\n1{separator}0.5\n0{separator}0.25\n", tmp_path).models == (name,)


def test_row_numbers_of_a_pandas_frame_are_no_model_unless_named(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": [0, 1, 1, 0, 1], "a": [0.1, 0.8, 0.9, 0.2, 0.7]})
    frame.iloc[[0, 1, 4]].to_parquet(tmp_path / "risks.parquet")
    found = read_predictions(tmp_path / "risks.parquet", label="y")
    assert (found.models, found.scores[0].tolist()) == (("a",), [0.1, 0.8, 0.7])
    with pytest.raises(DataError, match=r"column '__index_level_0__', row 3: must lie in \[0, 1\], got 4.0"):
        read_predictions(tmp_path / "risks.parquet", label="y", models=["a", "__index_level_0__"])


def test_column_names_are_matched_exactly(tmp_path):
    assert read("y, a,A\n1,0.5,0.2\n0,0.1,0.3\n", tmp_path).models == (" a", "A")
    error, _ = refusal("y, a,A\n1,0.5,0.2\n0,0.1,0.3\n", tmp_path, models=["a"])
    assert error.column == "a"


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "nan", "N/A", "null", " NA "])
def test_spellings_of_missing_are_dropped_only_when_asked(tmp_path, missing):
    text = f"y,a\n1,0.5\n0,{missing}\n0,0.25\n"
    error, _ = refusal(text, tmp_path)
    assert (error.rule, error.column, error.row, error.count) == ("must not be missing", "a", 2, 1)
    rows = read(text, tmp_path, on_missing="drop")
    assert (rows.n_rows, rows.n_dropped) == (2, 1)


def test_empty_text_is_missing_quoted_or_not(tmp_path):
    text = 'y,a,g\nyes,0.5,u\n"",0.25,v\nno,0.25,""\n,0.25,v\nno,0.125,v\n'
    rows = read(text, tmp_path, groups=["g"], pos_label="yes", on_missing="drop")
    assert (rows.scores[0].tolist(), rows.n_dropped) == ([0.5, 0.125], 3)


def test_groups_that_are_whole_numbers_sort_as_numbers_and_others_stay_text(tmp_path):
    text = "y,a,year,code\n1,0.5,2010,007\n0,0.5,999,08\n"
    rows = read(text, tmp_path, models=["a"], groups=["year", "code"])
    assert rows.groups["year"].tolist() == [2010, 999]
    assert rows.groups["code"].tolist() == ["007", "08"]


def test_text_labels_need_the_positive_one(tmp_path):
    text = 'y,a\nyes,0.5\n"n,o",0.25\n'
    assert read(text, tmp_path, pos_label="yes").y.tolist() == [True, False]
    _, shown = refusal(text, tmp_path)
    assert shown.startswith("risks.csv: column 'y': holds 'n,o', 'yes': pass pos_label=")


AUTOMATIC = (
    " Every other numeric column was taken as a model: name the model columns with models= (command line: --models)."
)
REFUSED = {
    "empty": ("", "the file is empty"),
    "only blank lines": ("\n\n", "the file is empty"),
    "header only": ("y,a,b\n", "there is a header and no rows"),
    "header without line end": ("y,a,b", "there is a header and no rows"),
    "short line": ("y,a,b\n1,0.5,0.2\n0,0.2\n", "row 2 (line 3): has 2 fields where the header has 3"),
    "long line": ("y,a,b\n1,0.5,0.2,3\n0,0.2,0.1\n", "row 1 (line 2): has 4 fields where the header has 3"),
    "one short and one long line": (
        "y,a,b\n1,0.5\n0,0.2,0.1,0.1\n",
        "row 1 (line 2): has 2 fields where the header has 3",
    ),
    "two short lines that make up one long line": (
        "y,a,b\n1,0.5\n0\n0,0.2,0.1\n",
        "row 1 (line 2): has 2 fields where the header has 3",
    ),
    "cut off": ("y,a,b\n1,0.5,0.2\n0", "row 2 (line 3): has 1 field where the header has 3"),
    "short line after a long cell": (
        'y,a,b\n1,0.5,"0.\n2"\n0,0.2\n',
        "row 2 (line 4): has 2 fields where the header has 3",
    ),
    "open quote": ('y,a,b\n1,0.5,0.2\n0,"0.2,0.1\n1,1,1\n', "line 3: has a quotation mark that is never closed"),
    "text": (
        "y,a,b\n1,0.5,0.2\n0,abc,0.1\n1,x,0\n0,1,1\n0,1,1\n",
        "column 'a', row 2 (line 3): must be a number, got 'abc' (2 of 5 rows)." + AUTOMATIC,
    ),
    "percent": (
        "y,a\n1,0.5%\n0,12%\n",
        "column 'a', row 1 (line 2): must be a number, got '0.5%' (2 of 2 rows)."
        + AUTOMATIC
        + " With its sign it is text; as a number 0.5% is 0.005.",
    ),
    "decimal comma": (
        "y;a\n1;0,5\n0;0,1\n",
        "column 'a', row 1 (line 2): must be a number, got '0,5' (2 of 2 rows)."
        + AUTOMATIC
        + " With a decimal comma it is text; as a number it is 0.5.",
    ),
    "thousands or decimals": (
        'y,a\n1,0.5\n0,"1,830"\n0,"12,345"\n1,"-999,000"\n',
        "column 'a', row 2 (line 3): must be a number, got '1,830' (3 of 4 rows)."
        + AUTOMATIC
        + " With a comma it is text; as a number it is 1.830, or 1830 where the comma separates thousands.",
    ),
    "three decimals": (
        "y;a\n1;0,125\n0;0,1\n",
        "column 'a', row 1 (line 2): must be a number, got '0,125' (2 of 2 rows)."
        + AUTOMATIC
        + " With a decimal comma it is text; as a number it is 0.125.",
    ),
    "a line for Excel": (
        "sep=;\r\ny;a\r\n1;0.5\r\n0;0.1\r\n",
        "begins with 'sep=;', a line for Excel alone: delete it",
    ),
    "a line for Excel, of tabs": (
        "\ufeffSEP=\t\ny\ta\n1\t0.5\n0\t0.1\n",
        "begins with 'SEP=', a line for Excel alone: delete it",
    ),
    "hexadecimal and underscores": (
        "y,a\n1,0x1\n0,0_1\n0,0\n1,1\n",
        "column 'a', row 1 (line 2): must be a number, got '0x1' (2 of 4 rows)." + AUTOMATIC,
    ),
    "probability 1.2": (
        "y,a\n1,0.5\n0,1.2\n",
        "column 'a', row 2 (line 3): must lie in [0, 1], got 1.2 (1 of 2 rows)." + AUTOMATIC,
    ),
    "infinity": (
        "y,a\n1,0.5\n0,-inf\n",
        "column 'a', row 2 (line 3): must lie in [0, 1], got -inf (1 of 2 rows)." + AUTOMATIC,
    ),
    "row after a blank line": (
        "y,a\n1,0.5\n\n0,1.2\n",
        "column 'a', row 2: must lie in [0, 1], got 1.2 (1 of 2 rows)." + AUTOMATIC,
    ),
    "three labels": (
        "y,a\n1,0.5\n0,0.2\n2,0.1\n",
        "column 'y', row 3 (line 4): labels must take two values, not 3 (0, 1, 2), got 2",
    ),
    "three labels with spaces": (
        "y,a\n1 ,0.5\n0,0.2\n2,0.1\n",
        "column 'y', row 3 (line 4): labels must take two values, not 3 (0, 1, 2), got 2",
    ),
    "duplicate names": (
        "y,a,a\n1,0.5,0.2\n",
        "column 'a': column names must be distinct, this one occurs more than once",
    ),
    "no label": (
        "x,cancer\n1,0.5\n",
        "column 'y': there is no such column. The columns are 'x', 'cancer'.",
    ),
    "no model": ("y,name\n1,bob\n0,eve\n", "no numeric column is left to be a model. Not numeric: 'name'."),
    "UTF-16": (
        "y,a\n1,0.5\n".encode("utf-16"),
        (
            "must be UTF-8 text, this looks like UTF-16 or a binary format. Save it as UTF-8, such as by "
            "iconv -f UTF-16 -t UTF-8."
        ),
    ),
    "UTF-16 without a mark": (
        "y,a\n1,0.5\n".encode("utf-16-le"),
        "must be UTF-8 text, this looks like UTF-16 or a binary format",
    ),
    "Latin-1": (
        "y,a,b\n1,0.5,é\n".encode("latin-1"),
        "line 2: must be UTF-8 text, this line holds the byte 0xe9",
    ),
    "Latin-1 further down": (
        "y,a,b\n1,0.5,x\n0,0.2,é\n".encode("latin-1"),
        "line 3: must be UTF-8 text, this line holds the byte 0xe9",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_csv_is_refused_with_one_clear_message(tmp_path, case):
    content, message = REFUSED[case]
    assert refusal(content, tmp_path)[1] == "risks.csv: " + message


@pytest.mark.parametrize("piece", [7, 16, 1 << 20])
def test_a_byte_that_is_no_text_is_named_by_its_line_where_a_cell_goes_on_too(piece, tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.tables._text_files._PIECE", piece)
    lines = "".join(f'{i % 2},0.5,"x\n{i}"\n' for i in range(10))
    content = f'y,a,b\n{lines}1,0.5,"one line\nand caf\xe9"\n'.encode("latin-1")
    assert "line 23: must be UTF-8 text, this line holds the byte 0xe9" in refusal(content, tmp_path)[1]


def test_error_far_down_the_file_is_found_like_one_at_the_top(tmp_path):
    good = "1,0.5,x\n0,0.25,x\n" * 300_000
    for bad, message in [
        ("1,oops,x\n", "column 'a', row 600001 (line 600002): must be a number, got 'oops' (1 of 600002 rows)"),
        ("1,7,x\n", "column 'a', row 600001 (line 600002): must lie in [0, 1], got 7.0 (1 of 600002 rows)"),
        ("1,0.5\n", "row 600001 (line 600002): has 2 fields where the header has 3"),
        (
            "maybe,0.5,x\n",
            "column 'y', row 600001 (line 600002): labels must take two values, not 3 ('0', '1', 'maybe')",
        ),
    ]:
        _, text = refusal("y,a,note\n" + good + bad + "0,0.5,x\n", tmp_path)
        assert text.startswith("risks.csv: " + message)


def test_lines_are_counted_right_across_pieces_of_the_file(tmp_path, monkeypatch):
    text = 'y,a,note\n1,0.5,"x,\n""y"""\n0,0.25,z\n1,1.5,"w"\n'
    for size in range(1, 12):
        monkeypatch.setattr("stakes.tables._text_files._PIECE", size)
        error, _ = refusal(text, tmp_path)
        # a cell spans two lines, so the number of the line is not claimed
        assert (error.row, error.line, error.value, error.total) == (3, None, 1.5, 3)
        assert read(text.replace("1.5", "0.75"), tmp_path).scores[0].tolist() == [0.5, 0.25, 0.75]


CELLS = st.text(st.sampled_from('01x.,;"\n\r \t'), max_size=6)


def write_text(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("csv") / "risks.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@given(
    st.lists(st.tuples(st.sampled_from("01"), CELLS, st.floats(0, 1)), min_size=1, max_size=8),
    st.sampled_from(",;\t"),
)
def test_what_the_csv_module_writes_is_read_back(tmp_path_factory, rows, separator):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(["y", "note, or; not", "a"])
    writer.writerows(rows)
    found = read_predictions(write_text(tmp_path_factory, text.getvalue()), label="y", models=["a"])
    assert found.y.tolist() == [y == "1" for y, _, _ in rows]
    assert found.scores[0].tolist() == [a for _, _, a in rows]


SCORE_CELLS = st.sampled_from(["0.5", "0.25", " 0.5", '"0.75"', "0.5 ", "x"])
NOTES = st.text(st.sampled_from('ab"" ,\n\r'), max_size=4)
QUOTED = NOTES.map(lambda cell: '"' + cell.replace('"', '""') + '"')
LINES = st.tuples(st.sampled_from(["0", "1", '"1"']), st.permutations([1, 0]), st.one_of(NOTES, QUOTED), SCORE_CELLS)


def meaning(text):
    """Say what the csv module makes of a file: labels and scores, or None where it cannot be read."""
    try:
        records = [
            # a blank line is no record; a line of two quotes, or of blanks between them, is one of a single field
            r
            for r in csv.reader(io.StringIO(text, newline=""), strict=True)
            if "".join(r).strip() or len(r) > 1 or r == [""] or (r and re.search(rf'[\r\n]"{re.escape(r[0])}"', text))
        ]
        header, *rows = records
        at = header.index("a")
        return [(float(y) == 1, float(rest[at - 1])) for y, *rest in rows if _has(3, [y, *rest])] or None
    except (csv.Error, ValueError):
        return None


def _has(count, record):
    if len(record) != count:
        raise ValueError
    return True


@settings(max_examples=400)
@given(
    st.sampled_from(["y,t,a", "y,a,t"]),
    st.lists(LINES, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n"]),
)
@example("y,a,t", [("0", [1, 0], '\r" "', "0.5")], "\n", "")
def test_quotes_of_every_kind_mean_what_the_csv_module_says_or_are_refused(tmp_path_factory, header, lines, end, last):
    rows = [",".join([y, *([note, score][i] for i in order)]) for y, order, note, score in lines]
    text = end.join([header, *rows]) + last
    path = write_text(tmp_path_factory, text)
    expected = meaning(text)
    if expected is None:
        with pytest.raises(DataError):
            read_predictions(path, label="y", models=["a"])
    else:
        found = read_predictions(path, label="y", models=["a"])
        assert list(zip(found.y.tolist(), found.scores[0].tolist(), strict=True)) == expected


def test_missing_file_folder_and_unreadable_name_are_data_errors(tmp_path):
    for path, message in [
        (tmp_path / "none.csv", "there is no such file"),
        (tmp_path, "is a folder, not a file"),
        ("bad\0name", "cannot be read"),
    ]:
        with pytest.raises(DataError, match=message):
            read_predictions(path, label="y")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("risks.parquet", b"PAR1 and then nothing of the kind", "cannot be read as Parquet"),
        ("risks.parquet", b"y,a\n1,0.5\n", "cannot be read as Parquet"),
        ("risks.arrow", b"ARROW1 and then nothing of the kind", "cannot be read as Arrow"),
        ("risks.arrow", b"y,a\n1,0.5\n", "cannot be read as Arrow"),
        ("risks.csv.gz", gzip.compress(b"y,a\n1,0.5\n" * 99, mtime=0)[:-9], "cannot be unpacked as gzip"),
        ("risks.csv.gz", gzip.compress(b"", mtime=0), "the file is empty"),
    ],
)
def test_broken_files_are_data_errors(tmp_path, name, content, message):
    assert message in refusal(content, tmp_path, name)[1]


def test_cut_parquet_file_is_a_data_error(tmp_path):
    path = tmp_path / "risks.parquet"
    polars.DataFrame(COLUMNS).write_parquet(path)
    whole = path.read_bytes()
    for size in (len(whole) - 4, len(whole) // 2, 12):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match="cannot be read as Parquet"):
            read_predictions(path, label="cancer")


def test_parquet_of_text_scores_is_refused(tmp_path):
    path = tmp_path / "risks.parquet"
    polars.DataFrame({"y": [1, 0], "a": ["0.5", "0.1"]}).write_parquet(path)
    with pytest.raises(DataError, match=r"column 'a', row 1: must hold numbers, got '0.5'"):
        read_predictions(path, label="y", models=["a"])


JSON_REFUSED = {
    "text": ('{"y":1,"a":0.5}\n{"y":0,"a":"0.5"}\n', "column 'a', row 2: must be a number, got '0.5'"),
    "true as a score": ('{"y":1,"a":0.5}\n{"y":0,"a":true}\n', "column 'a', row 2: must be a number, got True"),
    "null": ('{"y":1,"a":0.5}\n{"y":0,"a":null}\n', "column 'a', row 2: must not be missing (1 of 2 rows)"),
    "NaN": ('{"y":1,"a":0.5}\n{"y":0,"a":NaN}\n', "column 'a', row 2: must not be missing (1 of 2 rows)"),
    "no such name": ('{"y":1,"a":0.5}\n{"y":0}\n', "column 'a', row 2: must not be missing (1 of 2 rows)"),
    "range": ('{"y":1,"a":0.5}\n{"y":0,"a":1.2}\n', "column 'a', row 2: must lie in [0, 1], got 1.2 (1 of 2 rows)"),
    "broken": ('{"y":1,"a":0.5}\n\n{"y":0,"a"\n', "row 2 (line 3): must be one JSON object per line"),
    "array": ('[{"y":1,"a":0.5}]\n', "row 1 (line 1): must be one JSON object per line"),
    "name twice": ('{"y":1,"a":0.5,"a":1}\n', "row 1 (line 1): must be one JSON object per line: the name 'a'"),
    "mixed labels": ('{"y":1,"a":0.5}\n{"y":"1","a":0}\n', "column 'y', row 2: must be all text, all numbers"),
    "nested label": ('{"y":[1],"a":0.5}\n', "column 'y', row 1: must be all text, all numbers"),
    "three labels": (
        '{"y":1,"a":0.5}\n{"y":0,"a":0}\n{"y":0.5,"a":0}\n',
        "column 'y', row 3: labels must take two values, not 3 (0.0, 0.5, 1.0)",
    ),
    "blank": ("\n \n", "there are no rows"),
    "huge number": ('{"y":1,"a":1' + "0" * 400 + "}\n", "column 'a', row 1: must lie in [0, 1]"),
}


@pytest.mark.parametrize("case", JSON_REFUSED)
def test_bad_json_lines_are_refused_with_one_clear_message(tmp_path, case):
    content, message = JSON_REFUSED[case]
    assert refusal(content, tmp_path, "risks.jsonl")[1].startswith("risks.jsonl: " + message)


def test_json_array_is_recognised_under_any_name(tmp_path):
    _, shown = refusal('[{"y":1,"a":0.5}]\n', tmp_path, "risks")
    assert "must be one JSON object per line: this line holds something else" in shown


def test_json_lines_of_any_length_keep_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.tables._text_files._BLOCK", 3)
    lines = [json.dumps({"y": i % 2, "a": i / 10, "g": f"g{i}"}) for i in range(10)]
    rows = read("\n".join(lines), tmp_path, "risks.jsonl", groups=["g"])
    assert rows.scores[0].tolist() == [i / 10 for i in range(10)]
    assert rows.y.tolist() == [i % 2 == 1 for i in range(10)]
    lines[7] = '{"y": 1, "a": "x"}'
    assert refusal("\n".join(lines), tmp_path, "risks.jsonl")[0].row == 8


def test_whole_numbers_of_json_lines_stay_whole_unless_a_fraction_is_among_them(tmp_path):
    numbers = [2**53 + 1, 2**53 + 2, 2**53 + 3, 2**53 + 4]  # two floats for four integers
    lines = [json.dumps({"y": k % 2, "a": 0.5, "n": n, "x": 1 + 1.5 * (k % 2)}) for k, n in enumerate(numbers)]
    rows = read("\n".join(lines), tmp_path, "risks.jsonl", models=["a"], groups=["n", "x"])
    assert rows.groups["n"].tolist() == numbers
    assert rows.groups["x"].tolist() == [1.0, 2.5, 1.0, 2.5]


def test_digest_is_the_sha256_of_the_bytes(tmp_path):
    data = np.random.default_rng(0).bytes(300_000)
    (tmp_path / "data").write_bytes(data)
    assert file_digest(tmp_path / "data") == hashlib.sha256(data).hexdigest()
    with pytest.raises(DataError, match="there is no such file"):
        file_digest(tmp_path / "none")


def test_absence_of_polars_is_an_import_error_that_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.tables._predictions.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"pip install 'stakes\[cli\]'"):
        read("y,a\n1,0.5\n0,0.25\n", tmp_path)


@pytest.mark.parametrize(
    ("scores", "percent"),
    [("0 50 100", True), ("0.5 1 2", True), ("0.5 1 1.99", False), ("0 50 101", False), ("-1 50 99", False)],
)
def test_percentages_are_recognised_from_0_to_100(tmp_path, scores, percent):
    path = tmp_path / "p.csv"
    cells = [f"{y},{score}" for y, score in zip("101", scores.split(), strict=True)]
    path.write_text("\n".join(["y,a", *cells]), encoding="utf-8")
    with pytest.raises(DataError, match=r"must lie in \[0, 1\]") as refused:
        read_predictions(path, label="y", models=["a"])
    assert ("If they are percentages, divide by 100" in str(refused.value)) is percent


@pytest.mark.parametrize("models", [None, ["gbm"], ["rf", "gbm"], ["rf"]])
def test_two_sets_of_columns_of_one_model_are_refused(tmp_path, models):
    path = tmp_path / "p.csv"
    heads = [f"{model}{end}" for model in ("gbm_", "rf_", "gbm.") for end in ("ill", "well")]
    path.write_text("\n".join([",".join(["y", *heads]), "ill" + ",0.5" * 6, "well" + ",0.5" * 6]), encoding="utf-8")
    options = {"label": "y", "classes": ["ill", "well"], "models": models}
    if models == ["rf"]:
        assert list(read_class_predictions(path, **options).probs) == models
    else:
        with pytest.raises(DataError, match="model 'gbm' has several sets of columns; name them alike"):
            read_class_predictions(path, **options)


@pytest.mark.parametrize(
    ("heads", "models", "taken"),
    [
        (["gbm_a", "gbm_b", "gbm_c", "dose_a"], None, ["gbm"]),  # one class alone makes no model
        (["gbm_a", "gbm_b", "gbm_c", "dose_a", "dose.b"], None, ["gbm"]),
        (["a", "b", "c", "dose_c"], None, 1),
        (["gbm_a", "gbm_b", "gbm_c", "rf_c", "rf_a"], None, "model 'rf' has no column 'rf_b'"),
        (["gbm_a", "gbm_b", "gbm_c", "rf_c", "rf_a"], ["gbm"], ["gbm"]),
        (["gbm_a", "gbm_b", "gbm_c", "rf_c", "rf_a", "rf.b"], ["rf"], "model 'rf' has no column 'rf_b'"),
        (["gbm_a", "gbm_b", "gbm_c"], ["rf"], "model 'rf' has no column 'rf_a'"),
        (["a", "b"], None, "has no column 'c'"),
        (["gbm"], None, "no columns are named after the classes 'a', 'b', 'c'"),
    ],
    ids=str,
)
def test_columns_of_a_model_are_one_for_each_class_with_one_beginning(tmp_path, heads, models, taken):
    path = tmp_path / "p.csv"
    numbers = ["0.25" if "dose" in head else "0.5" if head.endswith("a") else "0.25" for head in heads]
    path.write_text("\n".join([",".join(["y", *heads]), *(",".join([y, *numbers]) for y in "abc")]), encoding="utf-8")
    options = {"label": "y", "classes": ["a", "b", "c"], "models": models}
    if isinstance(taken, str):
        with pytest.raises(DataError, match=taken):
            read_class_predictions(path, **options)
        return
    found = read_class_predictions(path, **options).probs
    assert len(found) == taken if isinstance(taken, int) else list(found) == taken
    assert [prob.tolist() for prob in found.values()] == [[[0.5, 0.25, 0.25]] * 3]


def test_probabilities_that_do_not_sum_to_one_are_named_by_row():
    prob = np.array([[0.5, 0.5], [0.25, 0.75], [0.5, 0.375], [0.75, 0.75]])
    with pytest.raises(DataError, match=r"row 3: .* must sum to 1 in each row, got .*0\.875.* \(2 of 4 rows\)"):
        _summing_to_one(prob, "a", Location())


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ((10**18, 10**18 + 64, 3), None),
        ((10**19, 10**19 + 640, 3), None),
        ((-(10**18) - 64, -(10**18), 3), None),
        ((0.5, 2.0, 10**18), None),
        ((-1, 10**19, 0), "row 2: must fit 64 bits: write it as text, got 10000000000000000000"),
        ((10**18 + 64, 0.5, 0), "row 1: must be exact as a float, for the column holds fractions"),
        ((0, 10**30, 0), "row 2: must fit 64 bits"),
    ],
)
def test_long_whole_numbers_in_json_tell_rows_apart_or_are_refused(tmp_path, cells, wanted):
    path = tmp_path / "ids.jsonl"
    path.write_text("".join(json.dumps({"y": k % 2, "a": 0.5, "id": cell}) + "\n" for k, cell in enumerate(cells)))
    if wanted is None:
        assert read_predictions(path, label="y", models=["a"], groups=["id"]).groups["id"].tolist() == list(cells)
        return
    with pytest.raises(DataError, match=f"column 'id', {wanted}"):
        read_predictions(path, label="y", models=["a"], groups=["id"])


@pytest.mark.parametrize(("json_cell", "csv_cell"), [("Infinity", "inf"), ("-Infinity", "-inf")])
@pytest.mark.parametrize(("column", "rule"), [("a", "must lie in"), ("w", "must be finite")])
def test_an_infinite_number_is_refused_in_json_as_in_csv(tmp_path, json_cell, csv_cell, column, rule):
    cells = {"y": "1", "a": "0.5", "w": "1"}
    for name, cell in (("p.jsonl", json_cell), ("p.csv", csv_cell)):
        rows = [{**cells, "y": "0"}, cells, {**cells, column: cell}]
        lines = ["{" + ", ".join(f'"{key}": {value}' for key, value in row.items()) + "}" for row in rows]
        text = lines if name == "p.jsonl" else [",".join(cells), *(",".join(row.values()) for row in rows)]
        (tmp_path / name).write_text("\n".join(text) + "\n")
        with pytest.raises(DataError, match=f"column '{column}', row 3.*: {rule}"):
            read_predictions(tmp_path / name, label="y", models=["a"], weight="w", on_missing="drop")


def test_columns_that_first_appear_in_late_rows_of_json_are_found(tmp_path):
    path, early, late = tmp_path / "late.jsonl", {"y": 0, "a": 0.25}, {"y": 1, "a": 0.75, "b": 0.5, "g": "x"}
    path.write_text("".join(json.dumps(row) + "\n" for row in [early] * 1500 + [late, {**late, "y": 0}]))
    for asked in ({"models": ["a"], "groups": ["g"]}, {"models": "b"}, {"models": ["a"], "weight": "b"}, {}):
        rows = read_predictions(path, label="y", **asked, on_missing="drop")
        assert (rows.n_rows, rows.n_dropped) == (2, 1500)
    assert rows.models == ("a", "b")
    with pytest.raises(DataError, match="column 'b', row 1: must not be missing"):
        read_predictions(path, label="y")
    assert read_predictions(path, label="y", models=["a"]).n_rows == 1502
