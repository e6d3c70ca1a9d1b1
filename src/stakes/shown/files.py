"""Files that are either the old or the new one, never half of one, also when the process is killed in between."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(pathlib.Path(folder) / "a.txt") as partial:
    ...         _ = partial.write_text("whole")
    ...     [file.name for file in pathlib.Path(folder).iterdir()]
    ['a.txt']
    """
    target = path.resolve()
    partial = beside(target)
    try:
        yield partial
        put(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def beside(target: Path) -> Path:
    """Return a hidden, free name in the folder of the target, with its suffix."""
    return target.with_name(f".stakes-{secrets.token_hex(8)}{target.suffix}")


def is_partial(name: str) -> bool:
    """Whether a file has a name that :func:`beside` gave: a process was killed, or is writing."""
    return re.fullmatch(r"\.stakes-[0-9a-f]{16}(\..*)?", name) is not None


def put(partial: Path, target: Path) -> None:
    """Give a complete file its name, and the permissions of the file that it replaces."""
    flush(partial)
    if target.exists():
        partial.chmod(stat.S_IMODE(target.stat().st_mode))
    partial.replace(target)
    flush(target.parent)


def flush(path: Path) -> None:
    """Have the operating system write a file or a folder's entries to the disk."""
    if path.is_dir() and os.name == "nt":  # Windows opens no folder
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
