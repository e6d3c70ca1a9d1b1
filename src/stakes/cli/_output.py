"""Files are checked before the work, written beside their target, and renamed when everything has gone well."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from stakes.cli._errors import UsageError
from stakes.shown.files import beside, put
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

REPORT_ENDINGS = (".html", ".htm")
OUTPUT_ENDINGS = (".json", ".csv", ".md", ".txt")
STANDARD_OUTPUT = "-"
_NO_NAME = OSError, RuntimeError, ValueError  # a loop of links, a name too long, a NUL
_BINARY = {".parquet", ".arrow", ".ipc", ".feather"}


def check_target(option: str, text: str | None, endings: Sequence[str], source: str | None = None) -> Path | None:
    """Return where a file is to go, or say why it cannot go there."""
    if text is None:
        return None
    path, shown = Path(text), repr(name(text, 200))
    if path.suffix.lower() not in endings:
        listed = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
        raise UsageError(f"{option} must name a file that ends in {listed}, got {shown}")
    try:
        folder, target = path.is_dir(), path.resolve()
    except _NO_NAME as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{option} {shown} cannot be the name of a file: {reason}") from None
    if folder:
        raise UsageError(f"{option} must name a file, {shown} is a folder")
    if not target.parent.is_dir():
        raise UsageError(f"{option} {shown}: there is no folder {str(target.parent)!r}")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"{option} {shown}: the folder {str(target.parent)!r} cannot be written to")
    if source is not None and is_file(target, source):
        raise UsageError(f"{option} {shown} would overwrite the predictions")
    return target


def is_file(target: Path | None, given: str) -> bool:
    """Whether a file to write is the one that was given to be read."""
    try:
        return target is not None and target == Path(given).resolve()
    except _NO_NAME:  # which the reader will say
        return False


class Staged:
    """Files that appear all together under their names, or not at all."""

    def __init__(self) -> None:
        self._files: list[tuple[Path, Path]] = []
        self._undo = ExitStack()

    def beside(self, target: Path) -> Path:
        """Return a free name in the folder of the target, under which to write it first."""
        partial = beside(target)
        self._files.append((partial, target))
        self._undo.callback(partial.unlink, missing_ok=True)
        return partial

    def aside(self, ending: str) -> Path:
        """Return a name that only this user can read, for what goes to stdout when it is complete."""
        if ending in _BINARY and sys.stdout.isatty():
            raise UsageError(f"--output -: a terminal cannot show {ending.removeprefix('.')}; name a file, or pipe it")
        folder = tempfile.TemporaryDirectory(prefix="stakes-", ignore_cleanup_errors=True)
        return Path(self._undo.enter_context(folder)) / f"rows{ending}"

    def commit(self) -> None:
        """Give every file its name, replacing older ones."""
        for partial, target in self._files:
            put(partial, target)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()
