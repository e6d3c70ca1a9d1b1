"""Files are checked before the work, written beside their target, and renamed when everything has gone well."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

from stakes.cli._errors import UsageError
from stakes.cli._text import name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

REPORT_ENDINGS = (".html", ".htm")
OUTPUT_ENDINGS = (".json", ".csv", ".md", ".txt")
STANDARD_OUTPUT = "-"
_BINARY = {".parquet", ".arrow", ".ipc", ".feather"}


def check_target(option: str, text: str | None, endings: Sequence[str], source: str | None = None) -> Path | None:
    """Return where a file is to go, or say why it cannot go there."""
    if text is None:
        return None
    path, shown = Path(text), repr(name(text, 200))
    if path.suffix.lower() not in endings:
        listed = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
        raise UsageError(f"{option} must name a file that ends in {listed}, got {shown}")
    if path.is_dir():
        raise UsageError(f"{option} must name a file, {shown} is a folder")
    target = path.resolve()
    if not target.parent.is_dir():
        raise UsageError(f"{option} {shown}: there is no folder {str(target.parent)!r}")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"{option} {shown}: the folder {str(target.parent)!r} cannot be written to")
    if source is not None and target == Path(source).resolve():
        raise UsageError(f"{option} {shown} would overwrite the predictions")
    return target


class Staged:
    """Files that appear all together under their names, or not at all."""

    def __init__(self) -> None:
        self._files: list[tuple[Path, Path]] = []
        self._folders: list[Path] = []

    def beside(self, target: Path) -> Path:
        """Return a free name in the folder of the target, under which to write it first."""
        temporary = target.with_name(f".stakes-{secrets.token_hex(6)}{target.suffix}")
        self._files.append((temporary, target))
        return temporary

    def aside(self, ending: str) -> Path:
        """Return a name that only this user can read, for what goes to stdout when it is complete."""
        if ending in _BINARY and sys.stdout.isatty():
            raise UsageError(f"--output -: a terminal cannot show {ending.removeprefix('.')}; name a file, or pipe it")
        self._folders.append(Path(tempfile.mkdtemp(prefix="stakes-")))
        return self._folders[-1] / f"rows{ending}"

    def commit(self) -> None:
        """Give every file its name, replacing older ones."""
        for temporary, target in self._files:
            temporary.replace(target)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for temporary, _ in self._files:
            temporary.unlink(missing_ok=True)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
