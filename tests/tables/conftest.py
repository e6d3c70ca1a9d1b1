"""The same small columns as a frame of every engine that is installed."""

import importlib
import importlib.util

import numpy as np
import pytest


def _pandas_nullable(columns):
    with np.errstate(invalid="ignore"):  # pandas 2.1 tries whether infinity is a whole number
        return importlib.import_module("pandas").DataFrame(columns).convert_dtypes()


def _duckdb(columns):
    duckdb, pyarrow = importlib.import_module("duckdb"), importlib.import_module("pyarrow")
    return duckdb.from_arrow(pyarrow.table(columns))


_BUILDERS = {
    "pandas": lambda columns: importlib.import_module("pandas").DataFrame(columns),
    "pandas-nullable": _pandas_nullable,
    "polars": lambda columns: importlib.import_module("polars").DataFrame(columns, strict=False),
    "polars-lazy": lambda columns: importlib.import_module("polars").LazyFrame(columns, strict=False),
    "pyarrow": lambda columns: importlib.import_module("pyarrow").table(columns),
    "duckdb": _duckdb,
}
LAZY = ("polars-lazy", "duckdb")


@pytest.fixture(params=list(_BUILDERS))
def engine(request):
    pytest.importorskip(request.param.split("-")[0])
    return request.param


@pytest.fixture
def build(engine):
    """Return a function that makes a frame of the engine from a dict of lists."""
    return _BUILDERS[engine]


@pytest.fixture
def is_lazy(engine):
    return engine in LAZY


@pytest.fixture(scope="session")
def builders():
    """Return the builders of all installed engines by name."""
    installed = {name for name in _BUILDERS if importlib.util.find_spec(name.split("-")[0])}
    return {name: make for name, make in _BUILDERS.items() if name in installed}
