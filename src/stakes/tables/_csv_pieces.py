"""A CSV file whose rows are one line each, read piece by piece: all at once it would stand in memory several times."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from stakes.tables._values import encode_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import polars as pl
    from numpy.typing import NDArray

    from stakes.tables._content import Content
    from stakes.tables._errors import Origin

    Floats = NDArray[np.float64]

_PIECE = 1 << 21


@dataclass(frozen=True)
class Pieced:
    """Columns of numbers as arrays, and the others as a frame."""

    numbers: dict[str, Floats]
    others: pl.DataFrame
    origin: Origin

    def series(self, name: str) -> nw.Series[Any]:
        """Return a column as it is."""
        if name in self.numbers:
            import polars as pl

            return nw.from_native(pl.Series(name, self.numbers[name]), series_only=True)
        return nw.from_native(self.others[name], series_only=True)

    def floats(self, name: str, hint: str | None = None) -> Floats:  # noqa: ARG002  (nothing here can be no number)
        """Return a column of numbers, nan where it is missing."""
        return self.numbers[name]

    def labels(self, name: str) -> tuple[list[Any], NDArray[np.int64]]:
        """Return the distinct values of the label and the index of each row's, -1 where it is missing."""
        return encode_labels(self.series(name), self.origin)


def read_pieces(
    content: Content,
    parse: Callable[[io.BytesIO, int], pl.DataFrame],
    rows: int,
    numbers: Collection[str],
    others: Collection[str],
) -> tuple[dict[str, Floats], pl.DataFrame] | None:
    """Read so many rows by a function that parses some lines; None where it finds another number of rows."""
    import polars as pl

    found = {name: np.empty(rows) for name in numbers}
    parts, at = [], 0
    for lines in _pieces(content):
        if at == rows:  # only blank lines are left
            break
        frame = parse(io.BytesIO(lines), rows - at)
        if len(frame) > rows - at:
            return None
        for name, values in found.items():
            values[at : at + len(frame)] = frame[name].to_numpy()
        parts.append(frame.select(list(others)))
        at += len(frame)
    return (found, pl.concat(parts)) if at == rows else None


def _pieces(content: Content) -> Iterator[bytes]:
    """Whole lines below the header, some at a time."""
    with content.open() as stream:
        stream.readline()
        while lines := stream.read(_PIECE):
            yield lines + stream.readline()
