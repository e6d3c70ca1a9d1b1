"""Files that are either the old or the new one, never half of one, also when the process is killed in between."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PARTIAL = ".partial-"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside the target, with its suffix; what was written there takes the target's place at the end."""
    partial = path.with_name(_PARTIAL + path.name)
    try:
        yield partial
        flush(partial)
        partial.replace(path)
        flush(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def flush(path: Path) -> None:
    """Have the operating system write a file or a folder's entries to the disk."""
    if path.is_dir() and os.name == "nt":  # Windows opens no folder
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
