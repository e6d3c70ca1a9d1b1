"""Atomic writing of files, values as JSON, and imports of libraries that need not be installed."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

# Files are replaced atomically: a killed process leaves either the old or the new one.


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a free path beside the target; what was written there takes the target's place and permissions at the end.

    Parameters
    ----------
    path : Path
        The file to write; a symbolic link is followed.

    Yields
    ------
    Path
        A hidden name in the same folder with the same suffix, of which no other writer knows.

    Raises
    ------
    ValueError
        If the path names a folder or a device.
    FileNotFoundError, PermissionError
        If its folder does not exist, or nothing can be written there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(pathlib.Path(folder) / "a.txt") as partial:
    ...         _ = partial.write_text("whole")
    ...     [file.name for file in pathlib.Path(folder).iterdir()]
    ['a.txt']
    """
    check_target(path)
    target = path.resolve()
    partial = beside(target)
    try:
        yield partial
        put(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def check_target(path: Path) -> None:
    """Raise where no file can be put: a folder or a device has that name, or its folder is not to be written to."""
    if path.is_dir():
        raise ValueError(f"path must name the file to write, got the folder {str(path)!r}.")
    if path.exists() and not path.is_file():
        raise ValueError(f"path must name an ordinary file, got {str(path)!r}.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"path must lie in a folder that exists, got {str(path)!r}: there is no {str(folder)!r}."
        )
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"path must lie in a folder that can be written to, got {str(path)!r}.")


Content = TypeVar("Content", bound=str | bytes)


def delivered(content: Content, path: str | os.PathLike[str] | None) -> Content:
    """Return a text or bytes, and write it first where a path is given.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     delivered("whole", pathlib.Path(folder) / "a.txt"), (pathlib.Path(folder) / "a.txt").read_text()
    ('whole', 'whole')
    """
    if path is not None:
        with replacing(Path(path)) as partial:
            partial.write_bytes(content if isinstance(content, bytes) else content.encode())
    return content


def beside(target: Path) -> Path:
    """Return an unused hidden name in the folder of the target, with its suffix."""
    return target.with_name(f".stakes-{os.urandom(8).hex()}{target.suffix}")


def is_partial(name: str) -> bool:
    """Whether a file is an unfinished one, by its name from :func:`beside`."""
    return re.fullmatch(r"\.stakes-[0-9a-f]{16}(\..*)?", name) is not None


def put(partial: Path, target: Path) -> None:
    """Rename a complete file to its final name, with the permissions of the file that it replaces."""
    flush(partial)
    if target.exists():
        partial.chmod(stat.S_IMODE(target.stat().st_mode))
    partial.replace(target)
    flush(target.parent)


def flush(path: Path) -> None:
    """Flush a file or a folder's entries to the disk."""
    if path.is_dir() and os.name == "nt":  # Windows cannot open folders
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# The limit on the unpacked size of a file, for every format, and how to lift it.

LIFTED: ContextVar[bool] = ContextVar("LIFTED", default=False)


@contextmanager
def any_size(lifted: bool = True) -> Iterator[None]:  # noqa: FBT001, FBT002  (a switch, seldom named)
    """Read files however much they unpack to, for as long as this context lasts.

    Without it a file that unpacks to more than 100 times its size and 256 MiB is refused before it is read: gzip by
    what comes out, Parquet and Arrow by the sizes that they declare.

    Parameters
    ----------
    lifted : bool, default True
        Whether the limit is lifted; False sets it again.

    Returns
    -------
    context manager

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import any_size, read_predictions
    >>> with any_size():
    ...     read_predictions(resources.files("stakes") / "data" / "breast_cancer.csv", label="malignant").n_rows
    569
    """
    token = LIFTED.set(lifted)
    try:
        yield
    finally:
        LIFTED.reset(token)


def json_ready(value: Any) -> Any:
    """Replace what JSON cannot hold: infinities by strings, nan by null, numpy numbers by Python's."""
    if isinstance(value, dict):
        return {key: json_ready(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


# The error for unusable data: file, column, row, value, and the broken rule.


class DataError(ValueError):
    """Data that cannot be evaluated as it is.

    Parameters
    ----------
    rule : str
        What the data must do, such as "must lie in [0, 1]".
    file : str, optional
        Name of the file.
    column : str, optional
        Name of the column.
    row : int, optional
        Number of the data row, counted from 1; a header is not counted.
    line : int, optional
        Number of the line in the file, counted from 1.
    value : object, optional
        The value that breaks the rule.
    count, total : int, optional
        How many of how many rows break it.
    hint : str, optional
        A sentence on what to do.

    Examples
    --------
    >>> from stakes.tables import DataError
    >>> print(DataError("must lie in [0, 1]", file="risks.csv", column="model_a", row=7, value=1.2, count=3, total=750))
    risks.csv: column 'model_a', row 7: must lie in [0, 1], got 1.2 (3 of 750 rows)
    """

    def __init__(
        self,
        rule: str,
        *,
        file: str | None = None,
        column: str | None = None,
        row: int | None = None,
        line: int | None = None,
        value: Any = None,
        count: int | None = None,
        total: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.rule, self.file, self.column, self.row, self.line = rule, file, column, row, line
        self.value = value.item() if getattr(value, "ndim", None) == 0 else value  # one of numpy's numbers
        self.count, self.total, self.hint = count, total, hint
        super().__init__(rule)

    def __str__(self) -> str:
        column = None if self.column is None else f"column {self.column!r}"
        row = None if self.row is None else f"row {self.row}"
        if self.line is not None:
            row = f"line {self.line}" if row is None else f"{row} (line {self.line})"
        place = [self.file, ", ".join(filter(None, [column, row]))]
        text = ": ".join([*filter(None, place), self.rule])
        if self.value is not None:
            text += f", got {self.value!r}"
        if self.count is not None:
            text += f" ({self.count} of {self.total} rows)"
        return text if self.hint is None else f"{text}. {self.hint}"
