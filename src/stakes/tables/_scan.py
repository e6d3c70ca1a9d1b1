"""Parquet files that are looked at where they lie: several by a pattern, one that is large, or as an engine is told."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
from narwhals.exceptions import NarwhalsError

from stakes.tables._collect import collected
from stakes.tables._content import is_pipe, refuse_address
from stakes.tables._errors import DataError
from stakes.tables._partitions import scan_alike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    _Scanner = tuple[Callable[[list[str], bool], Any], tuple[type[Exception], ...]]

_ENDINGS = (".parquet", ".pq")
_WILDCARDS = frozenset("*?[")
_LARGE = 1 << 30  # bytes, from which on a file is not read into memory


def scan_parquet(
    path: str,
    *,
    large: int = _LARGE,
    engine: str = "auto",
    columns: Iterable[str] = (),
    models: Iterable[str] | None = None,
) -> Any:
    """Scan the Parquet files that a pattern names, or a large one; None for a file that is to be read.

    Parameters
    ----------
    path : str
        A file, or a pattern such as "day=*/*.parquet": folders named ``column=value`` make columns.
    large : int, default 1 GiB
        From how many bytes on a single file is scanned.
    engine : {"auto", "memory", "polars", "duckdb", "spark"}, default "auto"
        What scans the files, large or not; "auto" is polars where one is to be scanned, and "memory" scans none but
        those of a pattern, by polars, to be collected.
    columns : iterable of str, optional
        Columns that every file of a pattern must have, in types that one type holds. The first file says which columns
        there are; what later ones have besides is left out, and so is what some lack or hold in another kind of type.
    models : iterable of str, optional
        Further columns that every file must have; by default every numeric one of the first file.

    Returns
    -------
    lazy frame or None
        Of the engine.

    Raises
    ------
    DataError
        If no file, or one that is not Parquet, has a name like the pattern, or a file lacks a column that it must have.
    ImportError
        If the engine is not installed.

    Examples
    --------
    >>> from stakes.tables import scan_parquet
    >>> scan_parquet("predictions.csv") is None
    True
    """
    file = Path(path)
    is_pattern = bool(_WILDCARDS & set(path)) and not file.exists()
    if not is_pattern and engine in {"auto", "memory"}:
        is_large = path.lower().endswith(_ENDINGS) and file.is_file() and file.stat().st_size >= large
        if engine == "memory" or not is_large:
            return None
    files = _files(path, is_pattern=is_pattern)
    scan, own = _SCANS.get(engine, _polars)()
    failures: tuple[type[Exception], ...] = (*own, NarwhalsError, OSError)
    try:
        frame = scan_alike(files, lambda group: scan(group, is_pattern), columns, models)
        nw.from_native(frame).lazy().collect_schema()
    except failures as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"cannot be read as Parquet: {reason}", file=path) from None
    return in_memory(frame) if engine == "memory" else frame


def in_memory(frame: Any) -> Any:
    """Take the rows of a lazy frame.

    Parameters
    ----------
    frame : lazy frame
        Of any engine.

    Returns
    -------
    frame
        In memory.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import in_memory
    >>> in_memory(pl.LazyFrame({"y": [0, 1]})).shape
    (2, 1)
    """
    return collected(nw.from_native(frame).lazy()).to_native()


def _files(path: str, *, is_pattern: bool) -> list[str]:
    files = sorted(glob.glob(path, recursive=True)) if is_pattern else [path]  # noqa: PTH207  (of any root)
    if not files:
        refuse_address(path)
        raise DataError("no file has a name like this", file=path)
    pipe = next((name for name in files if is_pipe(name)), None)
    if pipe is not None:
        remedy = "is a pipe, which can be read once and from its start only: name it alone, without --engine"
        raise DataError(remedy, file=pipe)
    other = next((name for name in files if not name.lower().endswith(_ENDINGS)), None)
    if other is not None:
        by = "as a pattern names them" if is_pattern else "as --engine looks at them"
        raise DataError(f"must be a Parquet file, {by}", file=other)
    return files


def _polars() -> _Scanner:
    import polars as pl

    def scan(files: list[str], partitioned: bool) -> Any:  # noqa: FBT001  (one signature for all)
        return pl.scan_parquet(files, hive_partitioning=partitioned, glob=False)

    return scan, (pl.exceptions.PolarsError,)


def _duckdb() -> _Scanner:
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise ImportError("--engine duckdb needs DuckDB: pip install 'stakes[engines]'") from error

    def scan(files: list[str], partitioned: bool) -> Any:  # noqa: FBT001
        return duckdb.read_parquet([glob.escape(name) for name in files], hive_partitioning=partitioned)

    return scan, (duckdb.Error,)


def _spark() -> _Scanner:
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise ImportError("--engine spark needs Spark: pip install 'stakes[spark]'") from error

    def scan(files: list[str], partitioned: bool) -> Any:  # noqa: FBT001
        reader = SparkSession.builder.appName("stakes").getOrCreate().read
        if partitioned:
            reader = reader.option("basePath", _common_folder(files))
        return reader.parquet(*files)

    return scan, (PySparkException,)


def _common_folder(files: list[str]) -> str:
    """The folder below which every name of a folder may be a column and its value."""
    parts = [Path(name).parent.parts for name in files]
    alike = [part for part, *others in zip(*parts, strict=False) if set(others) <= {part} and "=" not in part]
    return str(Path(*alike))


_SCANS: dict[str, Callable[[], _Scanner]] = {"duckdb": _duckdb, "spark": _spark}
