"""A record comes out of a copy exactly as it went in, with the new columns; or the reason is given, and no file."""

import gzip
import json
import math
import time
from itertools import product

import pytest

from stakes.outputs.files import replacing
from stakes.tables import DataError, NewColumns, copy_with_columns, read_predictions

pl = pytest.importorskip("polars")

NEW = NewColumns(["p"], ["q"], lambda p: [p / 2], option="--suffix", remedy="")


def copied(content, tmp_path, name="in.csv", target="out.csv", new=NEW, **options):
    """Return the text of the copy of a file."""
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    copy_with_columns(tmp_path / name, tmp_path / target, new, **options)
    return (tmp_path / target).read_bytes().decode()


AS_IT_IS = {
    "quotes that nobody needs": 'id,p\n"007",0.5\n008,"0.5"\n',
    "returns": "id,p\r\n1,0.5\r\n2,0.5\r\n",
    "semicolons and a mark": "\ufeffid;p\n1;0.5\n",
    "spaces and other spellings": "id,p\n x , 0.50 \n,5e-1\n",
    "line ends and quotes in cells": 'id,p\n"a\n""b""",0.5\n5" wide,0.5\n',
    "one column": 'p\n"0.5"\n.5\n',
}


@pytest.mark.parametrize("case", AS_IT_IS)
def test_text_of_every_record_is_kept_byte_for_byte(case, tmp_path):
    text = AS_IT_IS[case]
    separator, end = ";" if ";" in text else ",", "\r\n" if "\r" in text else "\n"
    lines, found = [], copied(text, tmp_path)
    for line in text.split(end)[:-1]:
        lines.append(line if line == '"a' else line + separator + ("0.25" if lines else "q"))
    assert found == end.join(lines) + end


def test_old_line_ends_and_a_last_line_without_one_are_kept(tmp_path):
    assert copied("id,p\r1,0.5\r2,1", tmp_path) == "id,p,q\r1,0.5,0.25\r2,1,0.5\r"


def test_name_of_a_new_column_is_quoted_where_it_must_be(tmp_path):
    new = NewColumns(["p"], ["q,r"], lambda p: [p / 2], option="", remedy="")
    assert copied("id,p\n1,0.5\n", tmp_path, new=new) == 'id,p,"q,r"\n1,0.5,0.25\n'


def test_json_lines_keep_types_and_late_fields(tmp_path):
    lines = [json.dumps({"p": k % 2, "n": 7}) for k in range(300)]
    lines += ['{"p": 0.25, "n": "7", "late": [1.50, 10000000000000000000000000]}', "{ }"]
    found = copied(
        "\n".join(lines),
        tmp_path,
        "in.jsonl",
        "out.jsonl",
        NewColumns(["p"], ["q"], NEW.compute, "", ""),
        on_missing="drop",
    ).splitlines()
    expected = [f'{line[:-1]}, "q": {json.loads(line)["p"] / 2}}}' for line in lines[:-1]] + ['{"q": null}']
    assert found == expected


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_json_lines_become_another_format_where_nothing_is_lost(ending, tmp_path):
    lines = '{"p": 1, "n": 7}\n{"p": 0.25, "t": "x", "f": true}\n'
    copied_to = tmp_path / f"out.{ending}"
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    copy_with_columns(tmp_path / "in.jsonl", copied_to, NEW)
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[ending]
    assert read(copied_to).to_dict(as_series=False) == {
        "p": [1.0, 0.25], "n": [7, None], "t": [None, "x"], "f": [None, True], "q": [0.5, 0.125]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "rule"),
    [("[1]", "all text"), ('"7"', "all text"), ("true", "all text"), ("12345678901234567890", "at most 18 digits")],
)
def test_json_that_no_column_holds_is_refused_by_name(value, rule, tmp_path):
    with pytest.raises(DataError, match=rule) as caught:
        copied(f'{{"p": 0.5, "n": 7}}\n{{"p": 0.5, "n": {value}}}\n', tmp_path, "in.jsonl", "out.csv")
    assert caught.value.column == "n"
    with pytest.raises(DataError, match="cannot stand in another format") as caught:
        copied('{"p": 0.5, "n": 0.5}\n{"p": 0.5, "n": 9007199254740993}\n', tmp_path, "in.jsonl", "out.csv")
    assert (caught.value.row, caught.value.value) == (2, 9007199254740993)
    with pytest.raises(DataError, match="all text, all true and false, or all numbers"):
        copied('{"p": 0.5, "n": 0.5}\n{"p": 0.5, "n": "7"}\n', tmp_path, "in.jsonl", "out.csv")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_types_are_kept(ending, tmp_path):
    frame = pl.DataFrame(
        {
            "p": pl.Series([0.5, 1.0], dtype=pl.Float32),
            "c": pl.Series(["a", None], dtype=pl.Categorical),
            "e": pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])),
            "l": [[1], None],
            "s": [{"x": 1, "y": "z"}, {"x": None, "y": ""}],
            "d": pl.Series([1, None], dtype=pl.Datetime("us", "Europe/Paris")),
            "m": pl.Series(["1.25", "3"]).cast(pl.Decimal(10, 2)),
            "b": [b"\xff", None],
            "u": pl.Series([2**64 - 1, 0], dtype=pl.UInt64),
        }
    )
    write = {"parquet": frame.write_parquet, "arrow": frame.write_ipc}[ending]
    write(tmp_path / f"in.{ending}")
    copy_with_columns(tmp_path / f"in.{ending}", tmp_path / f"out.{ending}", NEW)
    found = {"parquet": pl.read_parquet, "arrow": pl.read_ipc}[ending](tmp_path / f"out.{ending}")
    assert found.drop("q").schema == frame.schema
    assert found.drop("q").equals(frame)


@pytest.mark.parametrize(
    ("values", "target", "rule"),
    [
        ([[1]], "csv", "cannot stand in a CSV file, its type is List"),
        ([b"x"], "csv", "cannot stand in a CSV file, its type is Binary"),
        ([b"x"], "jsonl", "cannot stand in a JSON lines file"),
        ([float("inf")], "jsonl", "must be finite to stand in a JSON lines file, got inf"),
        ([[float("nan")]], "jsonl", "must be finite to stand in a JSON lines file"),
        ([[1.0, float("nan")]], "jsonl", r"must be finite to stand in a JSON lines file, got \[1.0, nan\]"),
        ([{"x": float("nan")}], "jsonl", "must be finite to stand in a JSON lines file"),
    ],
)
def test_what_the_target_cannot_hold_is_refused_by_name(values, target, rule, tmp_path):
    pl.DataFrame({"p": [0.5], "n": values}).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(DataError, match=rule) as caught:
        copy_with_columns(tmp_path / "in.parquet", tmp_path / f"out.{target}", NEW)
    assert caught.value.column == "n"


@pytest.mark.parametrize("fixed", [False, True])
def test_a_list_that_json_cannot_hold_is_named_by_its_row(fixed, tmp_path):
    lists = [[1.0, 2.0], None, [3.0, 4.0], [5.0, 6.0] if fixed else [], [7.0, math.inf]]
    kind = pl.Array(pl.Float64, 2) if fixed else pl.List(pl.Float64)
    frame = pl.DataFrame({"p": [0.5] * 5, "n": pl.Series(lists, dtype=kind)})
    frame.write_parquet(tmp_path / "in.parquet")
    with pytest.raises(DataError, match=r"must be finite to stand in a JSON lines file, got \[7.0, inf\]") as caught:
        copy_with_columns(tmp_path / "in.parquet", tmp_path / "out.jsonl", NEW)
    assert (caught.value.column, caught.value.row) == ("n", 5)


@pytest.mark.parametrize(("size", "drop"), list(product([1, 40, 10_000], [False, True])))
def test_pieces_of_any_size_give_the_same_copy(size, drop, tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.tables._text_files._PIECE", size)
    rows = [f'"x\n{k}",{"" if k % 7 == 3 else k / 100}\n' if k % 5 else f"{k},{k / 100}\n" for k in range(100)]
    new = NewColumns(["p"], ["q"], lambda p: [2 * p], option="", remedy="", drop=drop)
    found = copied("id,p\n" + "".join(rows), tmp_path, new=new, on_missing="drop")
    whole = [not row.endswith(",\n") for row in rows]
    cells = [repr(2 * (k / 100)) if whole[k] else "" for k in range(100)]
    kept = [f"{row[:-1]},{cell}\n" for row, cell, full in zip(rows, cells, whole, strict=True) if full or not drop]
    assert found == "id,p,q\n" + "".join(kept)


def test_long_cell_of_digits_takes_no_time(tmp_path):
    (tmp_path / "p.csv").write_text(f"y,a,b\n0,0.5,{'5' * 60_000}x\n1,0.5,{'5' * 60_000}x\n", encoding="utf-8")
    began = time.perf_counter()
    assert read_predictions(tmp_path / "p.csv", label="y").models == ("a",)
    assert time.perf_counter() - began < 5.0


def test_very_wide_file_is_read(tmp_path):
    names = [f"a_column_of_a_long_name_{k}" for k in range(6000)]
    text = ",".join(["y", "a", *names]) + "\n" + "".join(f"{y},0.5" + ",x" * 6000 + "\n" for y in (0, 1))
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    assert read_predictions(tmp_path / "p.csv", label="y", models=["a"]).n_rows == 2


def test_trap_that_unpacks_to_very_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.tables._text_files._MOST_UNPACKED", 1 << 20)
    packed = gzip.compress(b"y,a\n" + b"0,0.5\n" * 1_000_000)
    (tmp_path / "p.csv.gz").write_bytes(packed)
    with pytest.raises(DataError, match="unpacks to more than 100 times its size and 1 MiB"):
        read_predictions(tmp_path / "p.csv.gz", label="y")


def test_nesting_without_end_is_refused_with_its_line(tmp_path):
    (tmp_path / "p.jsonl").write_text('{"p": 0.5}\n{"p": ' + "[" * 100_000 + "]" * 100_000 + "}\n", encoding="utf-8")
    with pytest.raises(DataError, match="nested too deeply") as caught:
        copy_with_columns(tmp_path / "p.jsonl", None, NEW)
    assert caught.value.line == 2


def test_list_as_label_is_refused(tmp_path):
    pl.DataFrame({"y": [[0], [1]], "a": [0.5, 0.5]}).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(DataError, match="must hold text, numbers or true and false, not List") as caught:
        read_predictions(tmp_path / "p.parquet", label="y")
    assert caught.value.column == "y"


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl"])
def test_full_disk_is_named_as_such(ending, tmp_path):
    full = tmp_path / f"full.{ending}"
    full.symlink_to("/dev/full")
    if not full.exists():
        pytest.skip("needs a device that is always full")
    (tmp_path / "in.csv").write_text("p\n0.5\n", encoding="utf-8")
    with pytest.raises(OSError, match="No space left on device"):
        copy_with_columns(tmp_path / "in.csv", full, NEW)


def test_refused_copy_leaves_no_file_behind_later(tmp_path):
    path = tmp_path / "in.parquet"
    pl.DataFrame({"p": [0.5], "n": [float("inf")]}).write_parquet(path)
    for _ in range(200):  # a thread of the engine that opens the target itself comes too late in one of 25
        with pytest.raises(DataError, match="must be finite"), replacing(tmp_path / "out.jsonl") as partial:
            copy_with_columns(path, partial, NEW)
    time.sleep(0.05)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("standard_input", [False, True])
def test_page_that_claims_a_negative_number_of_values_is_refused_by_column(standard_input, tmp_path, forker):
    path = tmp_path / "in.parquet"
    pl.DataFrame({"p": [0.5] * 6, "n": [1, 2, 3, 4, 5, None]}).write_parquet(path)
    data = path.read_bytes()
    at = data.rindex(b"\x2c\x15\x0c", 0, data.rindex(b"schema"))  # the head of a page that holds data: 6 values
    path.write_bytes(data[: at + 2] + b"\x01" + data[at + 3 :])
    argv = ["correct", "-" if standard_input else path, "--models", "p", "--scale-pos-weight", "3"]
    # polars itself would end the process
    run = forker.run(*argv, "-o", tmp_path / "out.parquet", given=path.read_bytes())
    assert (run.returncode, list(tmp_path.iterdir())) == (3, [path])
    assert b"column 'n': cannot be read as Parquet: the head of a page is damaged" in run.stderr
