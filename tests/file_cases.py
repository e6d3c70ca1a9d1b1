"""Valid files, what may happen to them on the way, and what an independent reader finds in them."""

import csv
import gzip
import io
import json
import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ENDINGS = {"csv": ".csv", "gzip": ".csv.gz", "jsonl": ".jsonl", "parquet": ".parquet", "arrow": ".arrow"}
TEXTS = [
    "plain",
    "007",
    "",
    "a,b",
    'say "hi"',
    "two\nlines",
    "é☃",
    "NA",
    "0x1",
    "1e5",
    " space ",
    "=1+1",
    "\ttab",
    "x;y",
]
MARKS = b'0123456789,;"\n{}[]:.-eE '
WORDS = [
    b"NaN",
    b"null",
    b"inf",
    b'""',
    b"\r",
    b"\n\n",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"1e999",
    b"true",
    b"{}",
    b",",
]


@dataclass(frozen=True)
class Case:
    """A file that may have been damaged, and the command line that is to copy it."""

    kind: str
    data: bytes
    command: str


def make_case(rng, command):
    """Make a small valid file of any kind, and damage four of five."""
    kind = str(rng.choice(list(ENDINGS)))
    rows = int(rng.integers(1, 12))
    columns = {
        "id": [int(v) for v in rng.integers(-5, 10**12, rows)],
        "risk": [float(v) if rng.random() < 0.7 else float(round(v)) for v in rng.random(rows)],
        "spread": [float(v) for v in rng.random(rows).round(3)],
        "note": [str(rng.choice(TEXTS)) for _ in range(rows)],
    }
    data = {"csv": _csv, "gzip": _csv, "jsonl": _jsonl, "parquet": _parquet, "arrow": _arrow}[kind](columns, rng)
    packed = kind == "gzip"
    if rng.random() < 0.8 and not (packed and rng.random() < 0.3):
        data = _damaged(data, rng)
        if packed:
            return Case(kind, gzip.compress(data, mtime=0), command)
    if packed:
        data = gzip.compress(data, mtime=0)
        data = _damaged(data, rng) if rng.random() < 0.5 else data
    return Case(kind, data, command)


def _csv(columns, rng):
    stream = io.StringIO(newline="")
    options = {
        "delimiter": str(rng.choice([",", ";", "\t"])),
        "lineterminator": str(rng.choice(["\n", "\r\n"])),
        "quoting": int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
    }
    writer = csv.writer(stream, **options)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue().encode()


def _jsonl(columns, rng):
    lines = []
    for row in zip(*columns.values(), strict=True):
        record = dict(zip(columns, row, strict=True))
        if record["risk"] in (0.0, 1.0):
            record["risk"] = int(record["risk"])
        if rng.random() < 0.2:
            record[str(rng.choice(["late", "more", "ü"]))] = [7, "7", {"deep": [None, 1.50]}, True, 10**25][
                int(rng.integers(5))
            ]
        lines.append(json.dumps(record, ensure_ascii=bool(rng.random() < 0.5)))
    return ("\n".join(lines) + "\n").encode()


def _table(columns, rng):
    rows = len(columns["id"])
    days = pa.array(rng.integers(0, 20000, rows), pa.int32()).cast(pa.date32())
    lists = pa.array(
        [[int(v)] * int(v % 3) if v % 5 else None for v in rng.integers(0, 99, rows)], pa.list_(pa.int16())
    )
    flags = pa.array([None if v > 1 else bool(v) for v in rng.integers(0, 3, rows)])
    single = pa.array(rng.random(rows), pa.float32())
    moments = pa.array(rng.integers(0, 2**50, rows), pa.timestamp("us", tz="UTC"))
    more = {"day": days, "list": lists, "flag": flags, "single": single, "moment": moments}
    return pa.table({**columns, **more})


def _parquet(columns, rng):
    stream = io.BytesIO()
    pq.write_table(_table(columns, rng), stream, row_group_size=int(rng.integers(1, 9)))
    return stream.getvalue()


def _arrow(columns, rng):
    stream = io.BytesIO()
    table = _table(columns, rng)
    new = pa.ipc.new_file if rng.random() < 0.5 else pa.ipc.new_stream
    with new(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def _damaged(data, rng):
    """Change some bytes: other ones, none, twice, a word in between, the end cut off."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(0, len(data) + 1))
        size = int(rng.integers(1, 9))
        way = int(rng.integers(6))
        if way == 0:
            data[at : at + 1] = bytes([int(rng.integers(256))])
        elif way == 1:
            del data[at : at + size]
        elif way == 2:
            data[at:at] = data[at : at + size]
        elif way == 3:
            data[at:at] = WORDS[int(rng.integers(len(WORDS)))]
        elif way == 4 and rng.random() < 0.3:
            del data[at:]
        else:
            data[at : at + 1] = bytes([MARKS[int(rng.integers(len(MARKS)))]])
        if not data:
            break
    return bytes(data)


def read_back(data, kind):
    """Read records as an independent reader has them: names and cells by the csv module, json, or pyarrow."""
    if kind in ("csv", "gzip"):
        return _read_csv(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    if kind == "jsonl":
        lines = (line for line in io.BytesIO(data) if line.strip().removeprefix(b"\xef\xbb\xbf"))
        return [json.loads(line.strip().removeprefix(b"\xef\xbb\xbf"), parse_float=str) for line in lines]
    if kind == "parquet":
        table = pq.read_table(io.BytesIO(data))
    else:
        open_ = pa.ipc.open_file if data.startswith(b"ARROW1") else pa.ipc.open_stream
        table = open_(io.BytesIO(data)).read_all()
    table.validate(full=True)  # else it takes memory outside a damaged buffer for values, and for marks of missing ones
    return [(name, table.column(name).to_pylist()) for name in table.column_names]


def _read_csv(data):
    text = data.decode("utf-8-sig")
    readings = []
    for separator in ",;\t":
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        readings.append([r for r in records if r and not (len(r) == 1 and len(records[0]) > 1 and not r[0].strip())])
    return readings


def unchanged(before, after, kind, new):
    """Say whether the copy holds every field of the original, and the new columns besides."""
    if kind in ("csv", "gzip"):
        return any(
            [row[: -len(new)] for row in copy] == source and copy[0][-len(new) :] == new
            for source, copy in zip(before, after, strict=True)
            if len(copy[0]) > len(new)
        )
    if kind == "jsonl":
        return same([{**row} for row in before], [{k: v for k, v in row.items() if k not in new} for row in after])
    return same(before, [(name, cells) for name, cells in after if name not in new])


def same(left, right):
    """Compare, types included; nan is itself."""
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def random(seed):
    """Return a generator of random numbers."""
    return np.random.default_rng(seed)
