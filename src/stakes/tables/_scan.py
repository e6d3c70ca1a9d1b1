"""Parquet files that are looked at where they lie: several by a pattern, or one that is large."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from stakes.tables._errors import DataError

if TYPE_CHECKING:
    import polars as pl

_ENDINGS = (".parquet", ".pq")
_WILDCARDS = frozenset("*?[")
_LARGE = 1 << 30  # bytes, from which on a file is not read into memory


def scan_parquet(path: str, *, large: int = _LARGE) -> pl.LazyFrame | None:
    """Scan the Parquet files that a pattern names, or a large one; None for a file that is to be read.

    Parameters
    ----------
    path : str
        A file, or a pattern such as "day=*/*.parquet": folders named ``column=value`` make columns.
    large : int, default 1 GiB
        From how many bytes on a single file is scanned.

    Returns
    -------
    polars.LazyFrame or None

    Raises
    ------
    DataError
        If no file, or one that is not Parquet, has a name like the pattern.

    Examples
    --------
    >>> from stakes.tables import scan_parquet
    >>> scan_parquet("predictions.csv") is None
    True
    """
    file = Path(path)
    is_pattern = bool(_WILDCARDS & set(path)) and not file.exists()
    if not is_pattern and not (path.lower().endswith(_ENDINGS) and file.is_file() and file.stat().st_size >= large):
        return None
    files = sorted(glob.glob(path, recursive=True)) if is_pattern else [path]  # noqa: PTH207  (of any root)
    if not files:
        raise DataError("no file has a name like this", file=path)
    other = next((name for name in files if not name.lower().endswith(_ENDINGS)), None)
    if other is not None:
        raise DataError("must be a Parquet file, as a pattern names them", file=other)
    import polars as pl

    frame = pl.scan_parquet(files, hive_partitioning=is_pattern, glob=False)
    try:
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"cannot be read as Parquet: {reason}", file=path) from None
    return frame
