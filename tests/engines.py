"""The same columns as a lazy frame of every engine that narwhals knows and this environment has."""

from __future__ import annotations

import functools
import importlib
import os
import tempfile

import pytest

PARTS = 3
# Spark keeps one kind of session in a process, so the other kind is a run of its own.
SPARK = os.environ.get("STAKES_SPARK", "classic")


def polars_lazy(columns):
    return importlib.import_module("polars").LazyFrame(columns, strict=False)


def polars_files(columns):
    """Files of polars, of which the second holds no row."""
    polars = importlib.import_module("polars")
    folder, rows = _folder(), polars.DataFrame(columns, strict=False)
    for name, part in (("a", rows.head(2)), ("b", rows.head(0)), ("c", rows.slice(2))):
        part.write_parquet(f"{folder}/{name}.parquet")
    return polars.scan_parquet(f"{folder}/*.parquet")


def duckdb(columns):
    return pytest.importorskip("duckdb").from_arrow(_arrow(columns))


def duckdb_file(columns):
    """A file whose statistics know nothing of NaN, which DuckDB believes."""
    return pytest.importorskip("duckdb").read_parquet(_parquet(columns))


def dask(columns):
    frames = pytest.importorskip("dask.dataframe")
    return frames.from_pandas(_pandas(columns), npartitions=PARTS)


def dask_cluster(columns):
    """A frame whose first partition holds every row and whose others are empty, on two workers."""
    _workers()
    whole = importlib.import_module("dask.dataframe").from_pandas(_pandas(columns), npartitions=1)
    return importlib.import_module("dask.dataframe").concat([whole, whole.loc[[]], whole.loc[[]]])


def ibis(columns):
    return pytest.importorskip("ibis").memtable(_arrow(columns))


def sqlframe(columns):
    session = pytest.importorskip("sqlframe.duckdb").DuckDBSession()
    return session.read.parquet(_parquet(columns))


def spark(columns):
    """All rows in one partition, and seven empty ones."""
    return spark_file(columns).repartition(8, importlib.import_module(_functions()).lit(1))


def spark_file(columns):
    """Rows as Spark reads them from a file."""
    return _spark().read.parquet(_parquet(columns))


ENGINES = [polars_lazy, polars_files, duckdb, duckdb_file, dask, dask_cluster, ibis, sqlframe, spark]


def _arrow(columns):
    return importlib.import_module("pyarrow").table(columns)


def _pandas(columns):
    return importlib.import_module("pandas").DataFrame(columns)


@functools.cache
def _root():
    return tempfile.TemporaryDirectory()


def _folder():
    return tempfile.mkdtemp(dir=_root().name)


def _parquet(columns):
    path = f"{_folder()}/rows.parquet"
    importlib.import_module("polars").DataFrame(columns, strict=False).write_parquet(path)
    return path


@functools.cache
def _workers():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    return distributed.Client(cluster)


def _functions():
    return "pyspark.sql.connect.functions" if SPARK == "connect" else "pyspark.sql.functions"


@functools.cache
def _spark():
    builder = pytest.importorskip("pyspark.sql").SparkSession.builder
    settings = {"spark.sql.shuffle.partitions": "2", "spark.log.level": "ERROR"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    if SPARK == "connect":
        return builder.remote("local[2]").getOrCreate()
    return builder.config("spark.ui.enabled", "false").master("local[2]").getOrCreate()
