"""Small files that unpack to very much are refused before they are read, in every format, unless that is asked for."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from stakes import ScoreTable
from stakes.outputs.serialization import Location
from stakes.tables import (
    DataError,
    NewColumns,
    _columnar_files,
    any_size,
    copy_with_columns,
    read_predictions,
    read_scores,
)
from stakes.tables._columnar_files import Column

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
from pyarrow import feather, parquet  # noqa: E402

ROWS = 2000
NEW = NewColumns(["p"], ["q"], lambda p: [p], "names=", "")
REFUSED = "unpacks to more than 100 times its size and 256 MiB"
REMEDY = r"To read it all the same: --any-size, or in Python `with stakes.tables.any_size\(\):`"


def rows(text, n=ROWS):
    """Labels and scores, and one text that stands in every row but once in the memory."""
    named = pa.array([text]).dictionary_encode().take(pa.array(np.zeros(n, dtype=np.int32)))
    return pa.table({"y": [0, 1] * (n // 2), "p": [0.1, 0.8] * (n // 2), "note": named})


def text_in_a_dictionary(path):
    """2,000 rows of one text of 10 MB: 20 GB in a file of about a thousand bytes."""
    # without the schema of Arrow the column is one of texts
    parquet.write_table(rows("x" * 10_000_000), path, compression="zstd", write_statistics=False, store_schema=False)


def text_of_categories(path):
    parquet.write_table(rows("x" * 10_000_000), path, compression="zstd", write_statistics=False)


def text_that_begins_as_the_one_before(path):
    table = rows("x" * 5_000_000, 60)
    table = table.set_column(2, "note", table["note"].cast(pa.string()))
    options = {"use_dictionary": False, "column_encoding": {"note": "DELTA_BYTE_ARRAY"}, "store_schema": False}
    parquet.write_table(table, path, compression="zstd", data_page_size=1 << 30, **options)


def runs_of_one_number(path):
    """Two runs of equal numbers in 32 million rows: 288 MB in a file of a few kilobytes."""
    n = 32_000_000
    few = pa.array([0.1, 0.8]).dictionary_encode().dictionary
    half = np.repeat(np.array([0, 1], dtype=np.int32), n // 2)
    numbers = pa.DictionaryArray.from_arrays(pa.array(half), few)
    parquet.write_table(pa.table({"y": half.astype(bool), "p": numbers}), path, row_group_size=n, store_schema=False)


def packed_batches(path):
    feather.write_feather(
        rows("x" * 5_000_000, 60).set_column(2, "note", pa.array(["x" * 5_000_000] * 60)), path, compression="zstd"
    )


def named_by_batches(path):
    table = rows("x" * 10_000_000)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(path, table.schema, options=options) as writer:
        writer.write_table(table)


def stream_of_batches(path):
    table = rows("x" * 10_000_000)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(path, table.schema, options=options) as writer:
        writer.write_table(table)


def packed_lines(path):
    members = [b"y,p\n0,0.1\n", *[b"1,0.8\n" * 1_000_000] * 50]
    packed = {member: gzip.compress(member, compresslevel=1) for member in members}
    path.write_bytes(b"".join(packed[member] for member in members))


TRAPS = {
    "text.parquet": text_in_a_dictionary,
    "categories.parquet": text_of_categories,
    "prefixes.parquet": text_that_begins_as_the_one_before,
    "runs.parquet": runs_of_one_number,
    "packed.arrow": packed_batches,
    "named.arrow": named_by_batches,
    "stream.arrow": stream_of_batches,
    "lines.csv.gz": packed_lines,
}
# reads a file in a process that cannot take much memory, and prints the error
READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from stakes.tables import DataError, read_predictions
try:
    print(read_predictions(sys.argv[1], label="y", models=["p"]).n_rows)
except DataError as error:
    print(error)
"""


@pytest.mark.parametrize("name", TRAPS)
def test_small_file_that_unpacks_to_very_much_is_refused_in_little_memory(tmp_path, name, forker):
    path = tmp_path / name
    TRAPS[name](path)
    assert path.stat().st_size < 4_000_000
    run = forker.run(path, code=READ)
    assert REFUSED in run.stdout.decode(), run
    target = tmp_path / "out.csv"
    with pytest.raises(DataError, match=f"{name}.*{REFUSED}. {REMEDY}"):
        copy_with_columns(path, target, NEW)
    assert not target.exists()


def test_trap_on_standard_input_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "text.parquet"
    text_in_a_dictionary(path)
    with path.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", type("Stream", (), {"buffer": stream}))
        with pytest.raises(DataError, match=f"standard input: column 'note': {REFUSED}"):
            read_scores("-", models=["p"])


def test_limit_can_be_lifted_and_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.tables._text_files._MOST_UNPACKED", 1000)
    monkeypatch.setattr("stakes.tables._text_files._MOST_TIMES", 1)
    path, packed = tmp_path / "rows.parquet", tmp_path / "rows.csv.gz"
    frame = pl.DataFrame({"y": [0, 1] * 50_000, "p": [0.1, 0.8] * 50_000})
    frame.write_parquet(path, compression="zstd")
    packed.write_bytes(gzip.compress(frame.write_csv().encode()))
    for file in (path, packed):
        with any_size():
            assert read_predictions(file, label="y").n_rows == 100_000
            with any_size(lifted=False), pytest.raises(DataError, match="unpacks to more than 1 times"):
                read_predictions(file, label="y")
        with pytest.raises(DataError, match="unpacks to more than 1 times its size and 0 MiB"):
            read_predictions(file, label="y")


@pytest.mark.parametrize("ending", ["parquet", "arrow", "ipc stream"])
def test_file_of_many_names_and_a_few_long_ones_is_read(tmp_path, ending):
    if not hasattr(pl.Series([b""]).bin, "size"):
        pytest.skip("this version of polars unpacks all rows to look at a few, so that such a file needs --any-size.")
    rng = np.random.default_rng(0)
    n = 200_000
    names = [f"customer {k}" for k in range(5000)]
    notes = [names[k] for k in rng.integers(0, 5000, n)]
    notes[-1] = "q" * 200_000  # as long in every row it would be 40 GB
    frame = pl.DataFrame({"y": rng.integers(0, 2, n), "p": rng.random(n), "note": notes})
    path = tmp_path / f"rows.{ending.partition(' ')[0].replace('ipc', 'arrow')}"
    write = {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "ipc stream": frame.write_ipc_stream}[ending]
    write(path)
    assert read_predictions(path, label="y", models=["p"]).n_rows == n
    frame.with_columns(pl.col("note").cast(pl.Categorical)).write_parquet(path := tmp_path / "names.parquet")
    assert read_predictions(path, label="y", models=["p"]).n_rows == n


def test_kept_table_that_unpacks_to_very_much_is_refused(tmp_path):
    path = tmp_path / "kept.parquet"
    runs_of_one_number(path)
    with pytest.raises(DataError, match=REFUSED):
        ScoreTable.from_parquet(path)


def test_texts_are_measured_within_what_is_left_of_the_limit(monkeypatch):
    asked = []
    monkeypatch.setattr(_columnar_files, "_measure", lambda *given: asked.append((given[1], given[3])) or 30)
    sizes = {"a": Column(40, begun={30: 2}), "b": Column(20, begun={100: 10}), "c": Column(0, begun={90: 5})}
    _columnar_files.check_texts(None, sizes, 200, Location("p.parquet"))
    # of 200 bytes 60 are taken by the cells, 60 by the texts of a, which fit, and then 30 by those of b
    assert asked == [("b", 80), ("c", 50)]


def test_texts_that_may_exceed_what_is_left_are_measured_and_pass(monkeypatch):
    asked = []
    monkeypatch.setattr(_columnar_files, "_measure", lambda *given: asked.append((given[1], given[3])) or 30)
    # of 200 bytes 60 are taken by cells: 150 for the longest texts would be too many, 30 as measured are not
    _columnar_files.check_texts(None, {"a": Column(60, begun={50: 3})}, 200, Location("p.parquet"))
    assert asked == [("a", 140)]


def test_only_texts_that_few_looks_can_measure_are_measured():
    if not hasattr(pl.Series([b""]).bin, "size"):
        pytest.skip("this version of polars unpacks all rows to look at a few, so that nothing is measured.")
    frame = pl.LazyFrame({"text": ["ab", None, "äö", "c"], "list": [["ab"], [], None, ["c"]]})
    measured = {name: _columnar_files._measure(frame, name, 4, 9) for name in ("text", "list", "not there")}
    assert measured == {"text": 7, "list": 10, "not there": 10}
    many = pl.LazyFrame({"text": ["ab"] * 5000})
    assert _columnar_files._measure(many, "text", 9, 9) == 10  # a look at each row
