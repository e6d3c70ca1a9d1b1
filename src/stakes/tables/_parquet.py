"""Columns of numbers in a Parquet file, with a text beside them that says what they are."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

from stakes.tables._content import check_unpacked, most_unpacked
from stakes.tables._errors import DataError, Origin
from stakes.tables._pages import check_pages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_KEY = b"stakes"


def write_columns(path: Path, columns: Mapping[str, NDArray[np.float64]], text: str) -> None:
    """Write columns of one length, and a text among the file's metadata.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from stakes.tables import read_columns, write_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "a.parquet"
    ...     write_columns(file, {"x": np.array([0.5])}, "half")
    ...     read_columns(file, "column")
    ({'x': array([0.5])}, 'half')
    """
    pa, parquet = _pyarrow()
    parquet.write_table(pa.table(dict(columns)).replace_schema_metadata({_KEY: text.encode()}), path)


def read_columns(path: Path, what: str) -> tuple[dict[str, NDArray[np.float64]], str]:
    """Read the columns that :func:`write_columns` wrote, and the text beside them.

    Examples
    --------
    >>> import pathlib
    >>> from stakes.tables import read_columns
    >>> read_columns(pathlib.Path("none.parquet"), "score table")
    Traceback (most recent call last):
    stakes.tables._errors.DataError: none.parquet: there is no such file
    """
    pa, parquet = _pyarrow()
    try:
        _check_size(path)
        # one file, and not what a folder's name might add to it
        found = parquet.ParquetFile(path).read()
    except FileNotFoundError:
        raise DataError("there is no such file", file=str(path)) from None
    except ValueError as error:
        if isinstance(error, DataError) and "cannot be read as Parquet" not in error.rule:
            raise
        raise DataError(f"must be a {what} in Parquet: {error}", file=str(path)) from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"must be a {what} in Parquet: {reason}", file=str(path)) from None
    text = (found.schema.metadata or {}).get(_KEY)
    if text is None:
        raise DataError(f"must be a {what} in Parquet, this file was not written as one", file=str(path))
    columns = {name: found[name].to_numpy() for name in found.column_names}
    return columns, text.decode(errors="replace")


def _check_size(path: Path) -> None:
    """Refuse a file whose numbers take more than they may, or that holds texts, which no kept columns do."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        columns = check_pages(data, Origin(str(path)))
        size = sum(column.size + column.most for column in columns.values())
        check_unpacked(size, most_unpacked(len(data)), str(path))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'stakes[engines]'") from error
    return pa, parquet
