"""Parquet and Arrow: columns that have types, read some rows at a time."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stakes.core.sums import blocks
from stakes.tables._batches import declared_size
from stakes.tables._content import most_unpacked
from stakes.tables._errors import Origin
from stakes.tables._pages import Column, check_pages
from stakes.tables._sizes import check_declared, check_texts, check_views, check_widths
from stakes.tables._table import Piece

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import polars as pl

    from stakes.tables._content import Content
    from stakes.tables._table import Cells

TITLES = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow", "jsonl": "JSON lines"}
# rows read at once: few, for what a part is decoded from stays in memory, but not so few that parts are many
_PART, _MOST_PARTS = 1 << 17, 64


class TypedFile:
    """A file whose columns have types."""

    def __init__(self, content: Content, kind: str) -> None:
        import polars as pl

        self.kind, self.origin = kind, Origin(content.name)
        most, columns, declared = most_unpacked(content.size), dict[str, Column](), 0
        if kind == "parquet":
            columns = check_pages(content.mapped(), self.origin)
            check_declared(sum(column.size for column in columns.values()), most, self.origin)
            if content.path is None:  # polars reads it whole below
                with refused(self.origin, f"cannot be read as {TITLES[kind]}"):
                    check_texts(_scanned(content), columns, most, self.origin)
        else:
            declared = declared_size(content.mapped(), self.origin)
            check_declared(declared, most, self.origin)
        with refused(self.origin, f"cannot be read as {TITLES[kind]}"):
            if kind == "arrow" and not content.head().startswith(b"ARROW1"):
                # the streaming form of the format can only be read from end to end
                self._lazy = pl.read_ipc_stream(content.native).lazy()
            elif content.path is None:
                self._lazy = (pl.read_parquet if kind == "parquet" else pl.read_ipc)(content.native).lazy()
            else:
                self._lazy = (pl.scan_parquet if kind == "parquet" else pl.scan_ipc)(content.path)
            self._schema = dict(self._lazy.collect_schema())
            self.n_rows = int(self._lazy.select(pl.len()).collect().item())
        if self.n_rows == 0:
            raise self.origin.error("there are no rows")
        check_widths(self._schema, self.n_rows, most, self.origin)
        with refused(self.origin, f"cannot be read as {TITLES[kind]}"):
            if kind == "parquet":
                check_texts(self._lazy, columns, most, self.origin)
            else:
                check_views(self._lazy, declared, most, self.origin)
        self.names = list(self._schema)
        self.numeric = [name for name, dtype in self._schema.items() if dtype.is_numeric()]

    def pieces(
        self,
        columns: Collection[str],
        numbers: Collection[str] = (),  # noqa: ARG002  (the types say what is a number)
        label: str | None = None,  # noqa: ARG002
    ) -> Iterator[Piece]:
        """Pass through the rows."""
        chosen = self._lazy.select(list(dict.fromkeys(columns)))
        for part in blocks(self.n_rows, max(_PART, self.n_rows // _MOST_PARTS)):
            length = part.stop - part.start
            with refused(self.origin, f"cannot be read as {TITLES[self.kind]}"):
                frame = chosen.slice(part.start, length).collect()
            if columns and len(frame) != length:
                raise self.origin.error(f"cannot be read as {TITLES[self.kind]}: rows are missing")
            yield Piece(length, frame)

    def joined(self, name: str, parts: Sequence[Cells], *, label: bool) -> pl.Series:  # noqa: ARG002
        """Make a label or a group of all its cells."""
        import polars as pl

        dtype = self._schema[name]
        if dtype.is_nested():
            raise self.origin.error(f"must hold text, numbers or true and false, not {dtype}", column=name)
        return pl.concat(parts)

    def head(self, names: Sequence[str]) -> str:
        """There is no text."""
        raise NotImplementedError(names)

    def schema(self) -> dict[str, Any]:
        """Return the type of each column."""
        return dict(self._schema)

    def frames(self) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """Pass through the rows with every column."""
        for piece in self.pieces(self.names):
            yield piece, piece.cells


def _scanned(content: Content) -> pl.LazyFrame | None:
    """Bytes as a frame of which a few rows can be looked at, where polars is new enough to scan them."""
    import polars as pl

    try:
        return pl.scan_parquet(content.native)
    except TypeError:
        return None


@contextmanager
def refused(origin: Origin, what: str) -> Iterator[None]:
    """Turn what polars says of a broken file into the error of this room, its panics too, which are no exceptions."""
    import polars as pl

    try:
        yield
    except pl.exceptions.DuplicateError:
        raise origin.error("column names must be distinct, one occurs more than once") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise origin.error(f"{what}: {reason}") from None
