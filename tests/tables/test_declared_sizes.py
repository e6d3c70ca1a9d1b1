"""What a Parquet or Arrow file says of its own size is read as its format lays it out; pyarrow writes and counts."""

import io
from pathlib import Path

import numpy as np
import pytest

from stakes.outputs.serialization import Location
from stakes.tables import DataError, _columnar_files

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
from pyarrow import parquet  # noqa: E402

ORIGIN = Location("p.parquet")
ROWS = 5000
# bytes of a value in memory, by the physical type of Parquet
WIDTHS = {
    "bool": (pa.bool_(), 1),
    "int32": (pa.int32(), 4),
    "int64": (pa.int64(), 8),
    "float": (pa.float32(), 4),
    "double": (pa.float64(), 8),
    "text": (pa.string(), 16),
    "decimal": (pa.decimal128(30, 2), 16),
    "date": (pa.date32(), 4),
    "time": (pa.timestamp("us"), 8),
    "old time": (pa.timestamp("ns"), 8),  # of 96 bits in the file
}


def written(table, **options):
    stream = io.BytesIO()
    parquet.write_table(table, stream, store_schema=False, write_statistics=False, **options)
    return stream.getvalue()


@pytest.mark.parametrize("name", WIDTHS)
@pytest.mark.parametrize("groups", [1, 3])
def test_equal_values_take_their_width_times_the_rows(name, groups):
    dtype, width = WIDTHS[name]
    values = pa.nulls(ROWS, dtype)
    table, options = (
        pa.table({"x": values, "other": pa.nulls(ROWS, pa.int64())}),
        {"row_group_size": -(-ROWS // groups)},
    )
    data = written(table, use_deprecated_int96_timestamps=name == "old time", **options)
    found = _columnar_files.check_pages(data, ORIGIN)
    assert {key: column.size for key, column in found.items()} == {"x": ROWS * width, "other": ROWS * 8}
    assert all(column.most == 0 for column in found.values())


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
def test_long_texts_take_the_bytes_of_their_pages(version, compression):
    texts = [f"{k:06}" * 10 for k in range(ROWS)]
    data = written(
        pa.table({"x": texts}),
        use_dictionary=False,
        data_page_version=version,
        compression=compression,
        data_page_size=4000,
    )
    (column,) = _columnar_files.check_pages(data, ORIGIN).values()
    meta = parquet.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    pure = ROWS * (60 + 4)  # each text after its length
    assert pure <= column.size <= meta.total_uncompressed_size
    assert (column.most, column.repeated, column.begun) == (0, [], {})


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_texts_of_a_dictionary_are_counted_by_the_rows_that_name_them(version):
    texts = ["short", "a text that is somewhat longer"] * (ROWS // 2)
    data = written(pa.table({"x": texts}), data_page_version=version, compression="zstd")
    (column,) = _columnar_files.check_pages(data, ORIGIN).values()
    ((count, packed, codec, unpacked, rows),) = column.repeated
    held = sum(4 + len(text) for text in set(texts))
    assert (count, unpacked, rows) == (2, held, ROWS)
    assert column.most == held * ROWS
    assert _columnar_files._longest(count, packed, codec, unpacked) == 30


def test_rows_without_a_text_take_nothing_of_what_is_left_for_texts():
    data = written(pa.table({"x": [None] * 100 + ["abc", "defgh", "abc"]}), row_group_size=50)
    columns = _columnar_files.check_pages(data, ORIGIN)
    ((size, most),) = [(column.size, column.most) for column in columns.values()]
    assert most == 3 * (4 + 3 + 4 + 5)  # each text may be all that the dictionary holds
    longest = 3 * 5
    _columnar_files.check_texts(None, columns, size + longest, ORIGIN)
    with pytest.raises(DataError, match=r"p\.parquet: column 'x': unpacks to more than"):
        _columnar_files.check_texts(None, columns, size + longest - 1, ORIGIN)
    if not hasattr(pl.Series([b""]).bin, "size"):
        return  # this version of polars unpacks all rows to look at a few
    # where rows can be looked at, each text counts for the rows that have it
    lazy = pl.read_parquet(io.BytesIO(data)).lazy()
    _columnar_files.check_texts(lazy, columns, size + 3 + 5 + 3, ORIGIN)
    with pytest.raises(DataError, match=r"p\.parquet: column 'x': unpacks to more than"):
        _columnar_files.check_texts(lazy, columns, size + 3 + 5 + 2, ORIGIN)


def test_texts_that_may_begin_as_the_one_before_are_counted_by_their_page():
    data = written(
        pa.table({"x": [f"name {k}" for k in range(ROWS)]}),
        use_dictionary=False,
        column_encoding={"x": "DELTA_BYTE_ARRAY"},
        compression="none",
    )
    (column,) = _columnar_files.check_pages(data, ORIGIN).values()
    ((unpacked, rows),) = column.begun.items()
    assert rows == ROWS
    assert 0 < unpacked <= column.size
    assert column.most == unpacked * ROWS


# bytes of the head of a page in Thrift's compact protocol, and what to put there: a number n >= 0 is written as 2n
SPOILED = {
    "more values than are due": (b"\x15\xc8\x01", b"\x15\xca\x01"),
    "fewer values than none": (b"\x15\xc8\x01", b"\x15\xc7\x01"),
    "a dictionary of fewer than none": (b"\x4c\x15\x04", b"\x4c\x15\x03"),
    "packed in fewer bytes than none": (b"\x15\x1c\x15\x1c", b"\x15\x1c\x15\x1b"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_page_that_cannot_be_is_refused(name):
    data = written(pa.table({"x": ["one", "two"] * 50}), compression="none")  # a dictionary of 14 bytes, 100 values
    assert _columnar_files.check_pages(data, ORIGIN)["x"].size == 1600
    was, now = SPOILED[name]
    assert was in data
    with pytest.raises(DataError, match=r"cannot be read as Parquet: the head of a page is damaged"):
        _columnar_files.check_pages(data.replace(was, now, 1), ORIGIN)


def test_a_footer_that_begins_elsewhere_is_refused():
    data = bytearray(written(pa.table({"x": [1, 2]})))
    data[-8:-4] = (int.from_bytes(data[-8:-4], "little") - 3).to_bytes(4, "little")
    with pytest.raises(DataError, match=r"cannot be read as Parquet: .* is damaged"):
        _columnar_files.check_pages(bytes(data), ORIGIN)


@pytest.mark.parametrize(("begins", "is_text"), [(b"PAR1", False), (b"PAR2", True), (b"y,p\n", True), (b"PAR", True)])
def test_only_what_does_not_begin_as_parquet_may_be_text(begins, is_text):
    with pytest.raises(
        DataError, match=r"p\.parquet: cannot be read as Parquet: its end, which says .* damaged"
    ) as found:
        _columnar_files.check_pages(begins + b"\n1,0.5" * (20 if len(begins) == 4 else 0), ORIGIN)
    assert ('format="csv"' in str(found.value)) is is_text


def test_the_compact_protocol_is_read_as_it_is_laid_out():
    # kinds of Thrift: 1 true, 2 false, 3 byte, 4 to 6 whole numbers, 7 double, 8 bytes, 9 list, 10 set, 12 structure
    laid_out = bytes(
        [0x11, 0x12, 0x13, 7, 0x15, 0x03, 0x17, *bytes(8), 0x18, 2, 65, 66, 0x19, 0x25, 2, 4, 0x1A, 0x15, 1]
    )
    laid_out += bytes([0x1C, 0x15, 0xC8, 0x01, 0, 0x05, 0xC8, 0x01, 0x02, 0])
    fields, end = _columnar_files._struct(laid_out + b"rest", 0)
    assert end == len(laid_out)
    whole = {1: True, 2: False, 3: None, 4: -2, 5: None, 6: b"AB", 7: [1, 2], 8: [-1], 9: {1: 100}, 100: 1}
    assert fields == whole
    many, _ = _columnar_files._items(bytes([0xF5, 16, *[2] * 16]), 0)
    flags, at = _columnar_files._items(bytes([0x21, 1, 2]), 0)
    assert (many, flags, at) == ([1] * 16, [None, None], 3)
    with pytest.raises(TypeError):
        _columnar_files._value(b"\0", 0, 13)
    with pytest.raises(ValueError, match=str(2**20 + 1)):
        _columnar_files._items(bytes([0xF5, *_columnar_files._encode_varint(2**20 + 1)]), 0)


@pytest.mark.parametrize("number", [0, 1, 63, 64, 127, 128, 300, 2**31, 2**63 - 1])
def test_whole_numbers_of_variable_length_come_back(number):
    packed = _columnar_files._encode_varint(number)
    assert len(packed) == max(1, -(-number.bit_length() // 7))
    assert _columnar_files._varint(b"\xff" + packed, 1) == (number, 1 + len(packed))
    for signed in (number, -number):
        zigzag = 2 * signed if signed >= 0 else -2 * signed - 1
        assert _columnar_files._integer(_columnar_files._encode_varint(zigzag), 0)[0] == signed


def test_a_number_without_an_end_is_refused():
    assert _columnar_files._varint(b"\x80" * 9 + b"\x01", 0) == (2**63, 10)
    with pytest.raises(ValueError, match=r"^[0-9]+$"):
        _columnar_files._varint(b"\x80" * 11 + b"\x01", 0)


TABLE = {
    "y": np.arange(ROWS) % 2,
    "p": np.linspace(0.0, 1.0, ROWS),
    "text": [f"row {k}" for k in range(ROWS)],
    "flag": np.arange(ROWS) % 3 == 0,
}


@pytest.mark.parametrize("form", ["file", "stream"])
@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_an_arrow_file_declares_the_bytes_of_its_buffers(form, compression):
    columns = {**TABLE, "name": pa.array(["a", "bc"] * (ROWS // 2)).dictionary_encode()}
    # taken anew, so that each buffer holds its own rows only
    places = [np.arange(start, min(start + 2000, ROWS)) for start in range(0, ROWS, 2000)]
    batches = [pa.table(columns).take(pa.array(place)).combine_chunks().to_batches()[0] for place in places]
    stream = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with make(stream, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    rows = [len(batch) for batch in batches]
    texts = sum(len(text) for text in TABLE["text"])
    # labels and scores of 8 bytes, texts with places of 4, flags of a bit, places in the dictionary of 4, its two names
    wanted = 16 * ROWS + texts + sum(4 * (n + 1) + -(-n // 8) for n in rows) + 4 * ROWS + 4 * 3 + 3
    found = _columnar_files.declared_size(stream.getvalue(), Location("p.arrow"))
    assert wanted <= found <= wanted + 64 * 8 * (len(batches) + 1)  # padding


@pytest.mark.parametrize(
    ("values", "dtype", "texts"),
    [
        (["a", None, "bcd", "é"], pl.String, 1 + 3 + 2),
        ([b"a", None, b"bcd", b"\0\0"], pl.Binary, 1 + 3 + 2),
        (["a", None, "bcd", "a"], pl.Categorical, 1 + 3 + 1),
        ([None] * 4, pl.Categorical, 0),
        ([1, 2, 3, 4], pl.Int64, 0),
    ],
    ids=str,
)
@pytest.mark.parametrize("declared", [100, 5000])
def test_texts_of_an_arrow_file_count_for_each_row_beyond_what_it_declares(values, dtype, texts, declared):
    if not hasattr(pl.Series([b""]).bin, "size"):
        pytest.skip("this version of polars unpacks all rows to look at a few")
    lazy, origin = pl.LazyFrame({"n": range(5000), "x": pl.Series(values * 1250, dtype=dtype)}), Location("p.arrow")
    most = declared + 1250 * texts
    for enough in (most, most + 1, None):
        _columnar_files.check_views(lazy, declared, enough, origin)
    if texts:
        with pytest.raises(DataError, match=r"p\.arrow: column 'x': unpacks to more than"):
            _columnar_files.check_views(lazy, declared, most - 1, origin)


def test_the_bytes_of_a_cell_follow_its_type():
    widths = {
        pl.Int8: 1, pl.Int16: 2, pl.Int32: 4, pl.Int64: 8, pl.UInt8: 1, pl.UInt16: 2, pl.UInt32: 4, pl.UInt64: 8,
        pl.Float32: 4, pl.Float64: 8, pl.Boolean: 1, pl.Null: 1, pl.Date: 4, pl.Categorical: 4, pl.Enum(["a"]): 4,
        pl.String: 16, pl.Binary: 16, pl.Datetime("us"): 8, pl.Duration("us"): 8, pl.Time: 8,
        pl.Array(pl.Int16, 3): 6, pl.Struct({"a": pl.Int8, "b": pl.Float64}): 9, pl.List(pl.Int8): 8,
    }  # fmt: skip
    assert {dtype: _columnar_files._width(dtype() if isinstance(dtype, type) else dtype) for dtype in widths} == widths


def test_partitions_are_folders_below_the_one_that_all_files_share():
    assert _columnar_files._common_folder(["a/day=1/x.parquet", "a/day=1/y.parquet"]) == "a"
    assert _columnar_files._common_folder(["a/b/day=1/x.parquet", "a/b/day=2/x.parquet"]) == str(Path("a") / "b")
    assert _columnar_files._common_folder(["a/b/x.parquet", "a/c/x.parquet"]) == "a"
