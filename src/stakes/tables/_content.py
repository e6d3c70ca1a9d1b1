"""The bytes of a file or of standard input, unpacked if need be, and what kind of table they hold."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import mmap
import os
import stat
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stakes.core.validation import check_choice
from stakes.shown.sizes import LIFTED
from stakes.tables._errors import DataError

if TYPE_CHECKING:
    from stakes.tables._errors import Origin

STANDARD_INPUT = "-"
FORMATS = ("csv", "parquet", "arrow", "jsonl")
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
# the last is what the streaming form of Arrow begins with
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_GZIP = b"\x1f\x8b"
_HEAD = 64
# what unpacks to more, and to more than so many times its size, is no table but a trap for the memory
_MOST_UNPACKED, _MOST_TIMES = 1 << 28, 100
LIFT = "To read it all the same: --any-size, or in Python `with stakes.tables.any_size():`."
# polars would read these as patterns for several files
_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True)
class Content:
    """A readable file: its name for messages, and either its path or its unpacked bytes."""

    name: str
    path: Path | None
    data: bytes = b""

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Content:
        """Open a path or, for "-", standard input; what cannot be read is a ``DataError``."""
        if os.fspath(path) == STANDARD_INPUT:
            return cls("standard input", None, _unpacked(sys.stdin.buffer.read(), "standard input"))
        name, file = os.fspath(path), Path(path)
        with _readable(file, name) as stream:
            if is_pipe(name):  # what is read is gone: it is read once, as standard input is
                return cls(name, None, _unpacked(stream.read(), name))
            head = stream.read(len(_GZIP))
            if head != _GZIP and not _WILDCARDS & set(name) and _is_text(name):
                content = cls(name, file)
            else:
                content = cls(name, None, _unpacked(head + stream.read(), name))
        if not content.head():
            raise DataError("the file is empty", file=name)
        return content

    @property
    def size(self) -> int:
        """Bytes of the file, or of what was unpacked."""
        return len(self.data) if self.path is None else self.path.stat().st_size

    def open(self) -> io.BufferedReader | io.BytesIO:
        """Open the unpacked bytes for reading."""
        return io.BytesIO(self.data) if self.path is None else self.path.open("rb")

    def mapped(self) -> bytes | mmap.mmap:
        """Return the unpacked bytes as a sequence, of which a file gives what is looked at."""
        if self.path is None:
            return self.data
        with self.path.open("rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)

    def head(self) -> bytes:
        """Return the first bytes."""
        with self.open() as stream:
            return stream.read(_HEAD)

    @property
    def native(self) -> Path | io.BytesIO:
        """What polars reads from."""
        return io.BytesIO(self.data) if self.path is None else self.path

    def kind(self, stated: str | None) -> str:
        """Name the format: as stated, or by the first bytes, or by the file's name."""
        if stated is not None:
            return check_choice(stated, "format", FORMATS)
        head = self.head()
        for magic, kind in _MAGIC.items():
            if head.startswith(magic):
                return kind
        suffixes = [s.lower() for s in Path(self.name).suffixes if s.lower() != ".gz"]
        if suffixes and suffixes[-1] in _SUFFIXES:
            return _SUFFIXES[suffixes[-1]]
        return "jsonl" if head.removeprefix(codecs.BOM_UTF8).lstrip().startswith((b"{", b"[{")) else "csv"


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes as hexadecimal digits, without holding the file in memory.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    str

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import file_digest
    >>> len(file_digest(resources.files("stakes") / "py.typed"))
    64
    """
    with _readable(Path(path), os.fspath(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_pipe(name: str) -> bool:
    """Say whether a name is that of a pipe, as a shell makes it for <(...), of a terminal or of another device."""
    try:
        mode = os.stat(name).st_mode  # noqa: PTH116  (as it is named, for engines too)
    except (OSError, ValueError):  # which the reader will say
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _readable(file: Path, name: str) -> io.BufferedReader:
    try:
        return file.open("rb")
    except FileNotFoundError:
        refuse_address(name)
        raise DataError("there is no such file", file=name) from None
    except IsADirectoryError:
        pattern = os.path.join(name, "*.parquet")  # noqa: PTH118  (as the name is written)
        hint = f"Name a file in it; evaluate and compare take its Parquet files by a pattern in quotes: {pattern!r}."
        raise DataError("is a folder, not a file", file=name, hint=hint) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot be read: {reason}", file=name) from None


def refuse_address(name: str) -> None:
    """Refuse what names a file elsewhere, as s3://bucket/day.parquet does; a file of such a name was looked for."""
    scheme, sign, path = name.partition("://")
    if not (sign and scheme.isalnum()):
        return
    if scheme == "file":
        raise DataError(f"is an address: write the path alone, {path}", file=name)
    rule = "is an address, and only files of this machine are read"
    raise DataError(f"{rule}: copy it here first, or pipe it into this command with - as its file", file=name)


def _is_text(name: str) -> bool:
    """Say whether a name can be handed to an engine, which takes UTF-8 only."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unpacked(data: bytes, name: str) -> bytes:
    if not data:
        raise DataError("the file is empty", file=name)
    if not data.startswith(_GZIP):
        return data
    most = most_unpacked(len(data))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(-1 if most is None else most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot be unpacked as gzip: {error}", file=name) from None
    check_unpacked(len(unpacked), most, name)
    return unpacked


def most_unpacked(size: int) -> int | None:
    """The most bytes that a file of so many may unpack to; None where the limit is lifted."""
    return None if LIFTED.get() else max(_MOST_UNPACKED, _MOST_TIMES * size)


def check_unpacked(size: int, most: int | None, name: str, column: str | None = None) -> None:
    """Refuse a file that unpacks to more than it may."""
    if most is None or size <= most:
        return
    rule = f"unpacks to more than {_MOST_TIMES} times its size and {_MOST_UNPACKED >> 20} MiB"
    raise DataError(rule, file=name, column=column, hint=LIFT)


def reject_other_encodings(content: Content, origin: Origin) -> None:
    """Refuse text that is not UTF-8 where its first bytes already say so."""
    head = content.head()
    if head.startswith(b"PK\x03\x04"):
        raise origin.error("is a workbook of a spreadsheet or another zip archive, not text: save the sheet as CSV")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        rule = "must be UTF-8 text, this looks like UTF-16 or a binary format"
        raise origin.error(rule, hint="Save it as UTF-8, such as by iconv -f UTF-16 -t UTF-8.")
    if b"\x00" in head:
        raise origin.error("must be UTF-8 text, this looks like UTF-16 or a binary format")
