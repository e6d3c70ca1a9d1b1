"""Every rule decides in every engine as it does here on 10^6 rows: ties, NaN, NULL, infinities and hostile names."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile

import numpy as np
import pytest
from engines import duckdb_file, spark_file

for library in ("duckdb", "narwhals.stable.v2", "polars", "pyarrow"):
    pytest.importorskip(library)

from tests.tables.test_missing_in_rules import ALL, by_columns, drawn, made, one_by_one  # noqa: E402

pytestmark = pytest.mark.thorough

ROWS, ODD = 10**6, 10**5
NAMES = {"a risk": 'x" OR 1=1 --', "spread": "é'; DROP\tt\\", "fp": "%s :fp ? $1", "fn": "select"}
MISSING = ["refuse", "act", "wait"]
NONE = -9  # what stands for no decision
POSTGRES = ("initdb", "pg_ctl", "psql")


def ordinary(rng, count, edges):
    """Columns of rows that every rule decides: half of the scores tied, some at the edges of the rules."""
    score = rng.random(count)
    score[::2] = score[::2].round(2)
    score[::7] = rng.choice(edges, score[::7].size)
    spread = rng.random(count)
    spread[::3] = spread[::3].round(2)
    return {
        "a risk": score,
        "spread": spread,
        "fp": rng.gamma(2.0, 5.0, count).round(2) + 0.01,
        "fn": rng.gamma(2.0, 9.0, count).round(2) + 0.01,
    }


def without_none(values):
    """Numbers, and where they are NULL."""
    null = np.array([each is None for each in values])
    return np.array([np.nan if each is None else each for each in values]), null


@pytest.fixture(scope="module")
def million():
    """Columns by their plain names with masks of NULL, whose last rows hold the special values of each rule."""
    rng = np.random.default_rng(11)
    odd = {name: [] for name in NAMES}
    for name in ALL:
        rule, names = made(name)
        columns = drawn(rule, names)
        count = len(columns["a risk"])
        other = ordinary(rng, count, [0.5])
        for key in NAMES:
            odd[key] += list(columns.get(key, other[key]))
    parts = {key: without_none(values) for key, values in odd.items()}
    risk = parts["a risk"][0]
    edges = risk[(risk >= 0.0) & (risk <= 1.0)]
    rows, picked = ordinary(rng, ROWS - ODD, edges), rng.integers(risk.size, size=ODD)
    picked[: risk.size] = np.arange(risk.size)  # each of them at least once
    return {
        key: (np.append(rows[key], values[picked]), np.append(np.zeros(ROWS - ODD, bool), null[picked]))
        for key, (values, null) in parts.items()
    }


def decided(rule, names, million, missing):
    """What predict says of each row: of all that are ordinary at once, of others alone."""
    columns = [million[name][0] for name in names]
    plain = (columns[0] >= 0.0) & (columns[0] <= 1.0)
    for values in columns[1:]:
        plain &= np.isfinite(values) & (values > 0.0) & (values < 1e6)
    found = np.full(ROWS, NONE)
    found[plain] = by_columns(rule, [values[plain] for values in columns], missing)
    odd = np.stack(columns)[:, ~plain]
    distinct, where = np.unique(odd.view(np.int64), axis=1, return_inverse=True)
    told = one_by_one(rule, dict(zip(names, distinct.view(np.float64), strict=True)), missing)
    found[~plain] = np.array([NONE if each is None else each for each in told])[where.ravel()]
    return found


@pytest.fixture(scope="module")
def known(million):
    """The decisions of each rule, and the corrected scores of the rows that have one."""
    found = {}
    for name in ALL:
        rule, names = made(name)
        for missing in MISSING:
            found[name, missing] = decided(rule, names, million, missing)
            assert np.count_nonzero(found[name, missing] == NONE) > 100
    return found


def texts(dialect):
    """The rules as SQL that gives whole numbers, by the keys of what is known."""
    found = {}
    for name in ALL:
        rule, names = made(name)
        for missing in MISSING:
            text = rule.to_sql(*(NAMES[each] for each in names), dialect=dialect, missing=missing)
            found[name, missing] = f"COALESCE(CAST(({text}) AS INTEGER), {NONE})"
    return found


def assert_decided(found, known):
    """Name every rule that differs, with how many rows and the first."""
    wrong = {key: np.flatnonzero(np.asarray(found[key]) != known[key]) for key in known}
    assert {key: (rows.size, rows[0]) for key, rows in wrong.items() if rows.size} == {}


def table(million):
    """The rows by their hostile names, numbered."""
    import pyarrow as pa

    columns = {NAMES[key]: pa.array(values, mask=null) for key, (values, null) in million.items()}
    return {"row": np.arange(ROWS)} | columns


def selected(texts):
    return ", ".join(f"{text} AS r{place}" for place, text in enumerate(texts.values()))


def test_duckdb_decides_as_predict(million, known):
    rules = texts("duckdb")
    found = duckdb_file(table(million)).order("row").project(selected(rules)).to_arrow_table()
    assert_decided({key: column.to_numpy() for key, column in zip(rules, found.columns, strict=True)}, known)


@pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas
def test_spark_decides_as_predict(million, known):
    pytest.importorskip("pyspark.sql")
    rules = texts("spark")
    asked = [f"{text} AS r{place}" for place, text in enumerate(rules.values())]
    found = spark_file(table(million)).selectExpr("row", *asked).toArrow().sort_by("row").drop_columns("row")
    assert_decided({key: column.to_numpy() for key, column in zip(rules, found.columns, strict=True)}, known)


def test_sqlite_decides_as_predict(million, known):
    rules = texts("sqlite")
    columns = [np.where(null, None, values.astype(object)).tolist() for values, null in million.values()]
    names = ", ".join('"' + name.replace('"', '""') + '" REAL' for name in NAMES.values())
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE t ({names})")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", zip(*columns, strict=True))
        for key, text in rules.items():
            rows = connection.execute(f"SELECT {text} FROM t ORDER BY rowid")  # noqa: S608
            assert_decided({key: np.fromiter((row[0] for row in rows), int, ROWS)}, {key: known[key]})


@pytest.fixture(scope="module")
def postgres():
    """Return a function that runs psql on a server of its own, reached by a socket alone."""
    gone = [each for each in POSTGRES if shutil.which(each) is None]
    if gone:
        pytest.skip(f"PostgreSQL's {', '.join(gone)} is not on the path")

    owner = {"user": "postgres"} if os.geteuid() == 0 else {}  # its server does not run as root
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        if owner:
            shutil.chown(folder, "postgres")

        def run(*words, **more):
            done = subprocess.run(words, **owner, cwd=folder, capture_output=True, check=False, **more)
            if done.returncode:
                raise RuntimeError(done.stderr.decode()[-2000:])
            return done.stdout

        run("initdb", "-D", f"{folder}/data", "-U", "stakes", "-E", "UTF8", "--locale=C", "-A", "trust", "-N")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-D", f"{folder}/data", "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            psql = ("psql", "-X", "-q", "-h", folder, "-U", "stakes", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-f")
            yield lambda script: run(*psql, "-", input=script)
        finally:
            run("pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "stop")


def test_postgres_decides_as_predict(million, known, postgres):
    import polars as pl

    rules = texts("postgres")
    extreme = np.zeros(ROWS, bool)  # whose products and sums Postgres refuses to compute
    for values, _ in million.values():
        size = np.abs(values)
        extreme |= ((size > 0.0) & (size < 1e-150)) | (np.isfinite(size) & (size > 1e150))
    kept = np.flatnonzero(~extreme)
    assert kept.size > 0.95 * ROWS
    lines = pl.DataFrame(table(million))[kept].write_csv(include_header=False, null_value="").encode()
    names = ", ".join('"' + name.replace('"', '""') + '" double precision' for name in NAMES.values())
    postgres(f"CREATE TABLE t (row integer, {names});\nCOPY t FROM STDIN (FORMAT csv);\n".encode() + lines + b"\\.\n")
    for key, text in rules.items():
        found = postgres(f"COPY (SELECT {text} FROM t ORDER BY row) TO STDOUT;".encode())  # noqa: S608
        assert_decided({key: np.array(found.split(), dtype=int)}, {key: known[key][kept]})


def test_postgres_decides_where_a_product_of_score_and_amount_would_underflow(postgres):
    rule, _ = made("amounts")
    text = rule.to_sql("p", "a", "b", dialect="postgres")
    asked = f"COPY (SELECT {text} FROM (SELECT 5e-324::float8 p, 1.0::float8 a, {{}}::float8 b) t) TO STDOUT;"  # noqa: S608
    assert [postgres(asked.format(b).encode()).split() for b in (1.0, 0.3)] == [[b"0"], [b"0"]]
    assert by_columns(rule, [np.array([5e-324]), np.array([1.0]), np.array([0.3])], "refuse").tolist() == [0]


def test_onnx_decides_as_predict(million, known):
    runtime = pytest.importorskip("onnxruntime")
    for key, values in known.items():
        name, missing = key
        rule, names = made(name)
        model = rule.to_onnx(*(NAMES[each] for each in names), missing=missing)
        session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
        inputs = {NAMES[each]: million[each][0] for each in names}
        found = session.run(None, {item.name: inputs[item.name] for item in session.get_inputs()})[0]
        if name.startswith("pair"):
            found = np.where(np.isnan(found), NONE, found)
        else:
            found = np.where(found == -1, NONE, found)
        assert_decided({key: found}, {key: values})
