"""CSV: the few needed columns are read as numbers at full speed; only what fails is looked at as text.

That every line has its fields is checked first, in ``_csv_shape``.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from stakes.tables._content import Content, reject_other_encodings
from stakes.tables._csv_pieces import Pieced, read_pieces
from stakes.tables._csv_shape import Shape, is_blank, measure, open_text, rewrite
from stakes.tables._errors import DataError, Origin
from stakes.tables._roles import Roles, choose_roles, reject_duplicates
from stakes.tables._rows import Held
from stakes.tables._text import MISSING, is_number, looks_numeric, numbers_from_text, tidy_group, tidy_label

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from stakes.tables._rows import Columns

_SEPARATORS = ",;\t"
_SAMPLE = 1000


@dataclass(frozen=True)
class _Layout:
    """What the head of the file says: separator, column names and the first rows as text."""

    separator: str
    names: list[str]
    sample: list[list[str]]

    def cells(self, name: str) -> list[str]:
        """Return a column of the sample."""
        at = self.names.index(name)
        return [row[at] for row in self.sample]


def read_csv(content: Content, **columns: Any) -> tuple[Columns, Roles, Origin]:
    """Read the needed columns of a CSV file; ``columns`` are the names that ``choose_roles`` takes."""
    origin = Origin(content.name)
    reject_other_encodings(content, origin)
    try:
        layout = _peek(content, columns["label"])
        if not layout.names:
            raise origin.error("the file is empty")
        numeric = [name for name in layout.names if looks_numeric(layout.cells(name))]
        roles = choose_roles(layout.names, numeric, file=content.name, **columns)
        found, origin = _load(content, layout, roles, origin)
    except UnicodeDecodeError:
        raise _not_utf8(content) from None
    except csv.Error as error:
        raise DataError(f"is no CSV: {error}", file=content.name) from None
    return found, roles, origin


def read_csv_text(content: Content, column: str) -> tuple[pl.DataFrame, str, Origin]:
    """Read every column of a CSV file as the text that it is, and the separator; one column's name helps to tell it."""
    origin = Origin(content.name)
    reject_other_encodings(content, origin)
    try:
        layout = _peek(content, column)
        if not layout.names:
            raise origin.error("the file is empty")
        reject_duplicates(layout.names, content.name)
        shape = measure(content, layout.separator, len(layout.names))
        frame, used = None, set(layout.names)
        if shape is not None and shape.rows > 0:
            frame = _scan(content.native, layout, used, {}, shape, missing=())
        if frame is None or shape is None or len(frame) != shape.rows:
            plain, shape = rewrite(content, layout.separator, len(layout.names), origin)
            if shape.rows == 0:
                raise origin.error("there is a header and no rows")
            frame = _scan(io.BytesIO(plain), replace(layout, separator=","), used, {}, shape, missing=())
    except UnicodeDecodeError:
        raise _not_utf8(content) from None
    except csv.Error as error:
        raise DataError(f"is no CSV: {error}", file=content.name) from None
    return frame, layout.separator, replace(origin, first_line=2) if shape.line_per_row else origin


def _peek(content: Content, label: str) -> _Layout:
    with open_text(content) as stream:
        header = next((line for line in stream if line.strip()), "")
        separator = max(_SEPARATORS, key=lambda s: _promise(header, s, label))
    with open_text(content) as stream:
        records = (r for r in csv.reader(stream, delimiter=separator) if not is_blank(r))
        names = next(records, [])
        sample = [row for row in islice(records, _SAMPLE) if len(row) == len(names)]
    return _Layout(separator, names, sample)


def _promise(header: str, separator: str, label: str) -> tuple[bool, int]:
    fields = next(csv.reader([header], delimiter=separator), [])
    return label in fields, len(fields)


def _load(content: Content, layout: _Layout, roles: Roles, origin: Origin) -> tuple[Columns, Origin]:
    shape = measure(content, layout.separator, len(layout.names))
    if shape is not None:
        numbered = replace(origin, first_line=2) if shape.line_per_row else origin
        pieced = _read_pieces(content, layout, roles, numbered, shape) if shape.line_per_row else None
        if pieced is not None:
            return pieced, numbered
        frame = _read(content.native, layout, roles, numbered, shape)
        if frame is not None:
            return Held(nw.from_native(frame, eager_only=True), numbered), numbered
    plain, shape = rewrite(content, layout.separator, len(layout.names), origin)
    frame = _read(io.BytesIO(plain), replace(layout, separator=","), roles, origin, shape)
    if frame is None:
        raise origin.error("cannot be read as CSV")
    return Held(nw.from_native(frame, eager_only=True), origin), origin


def _types(layout: _Layout, roles: Roles) -> dict[str, Any]:
    """What the needed columns hold if all is well; the others are text."""
    import polars as pl

    types: dict[str, Any] = dict.fromkeys(_numbers(roles), pl.Float64)
    if roles.label not in types:
        types[roles.label] = _label_type(layout.cells(roles.label))
    return types


def _numbers(roles: Roles) -> set[str]:
    return {*roles.models, *filter(None, [roles.weight])}


def _read_pieces(content: Content, layout: _Layout, roles: Roles, origin: Origin, shape: Shape) -> Pieced | None:
    """Read numbers that are written as such, beside a label of numbers; None for all else."""
    import polars as pl

    types, numbers = _types(layout, roles), _numbers(roles)
    others = set(roles.used) - numbers
    if shape.rows == 0 or any(types.get(name, pl.String) == pl.String for name in others):
        return None

    def parse(lines: io.BytesIO, rows: int) -> pl.DataFrame:
        return _scan(lines, layout, set(roles.used), types, replace(shape, rows=rows), header=False)

    try:
        found = read_pieces(content, parse, shape.rows, numbers, others)
    except pl.exceptions.PolarsError:
        return None
    return None if found is None else Pieced(*found, origin)


def _read(
    source: Path | io.BytesIO, layout: _Layout, roles: Roles, origin: Origin, shape: Shape
) -> pl.DataFrame | None:
    """Read the needed columns as numbers or, where that fails, as text; None where polars sees other rows."""
    if shape.rows == 0:
        raise origin.error("there is a header and no rows")
    import polars as pl

    types, numbers = _types(layout, roles), _numbers(roles)
    for wanted in (types, {}):
        try:
            frame = _scan(source, layout, set(roles.used), wanted, shape)
        except pl.exceptions.PolarsError:
            if isinstance(source, io.BytesIO):
                source.seek(0)
            continue
        if len(frame) != shape.rows:
            return None
        for name in roles.used:
            if frame[name].dtype == pl.String:
                frame = frame.with_columns(_tidied(frame[name], roles, numbers, origin))
        return frame
    return None


def _scan(
    source: Path | io.BytesIO,
    layout: _Layout,
    used: set[str],
    types: dict[str, Any],
    shape: Shape,
    *,
    missing: Sequence[str] = MISSING,
    header: bool = True,
) -> pl.DataFrame:
    import polars as pl

    # by position, under names of our own: polars has its own mind about repeated and empty names
    names = {f"c{i}": name for i, name in enumerate(layout.names)}
    frame = pl.read_csv(
        source,
        has_header=False,
        skip_rows=int(header),
        separator=layout.separator,
        columns=[i for i, name in enumerate(layout.names) if name in used],
        schema={short: types.get(name, pl.String) for short, name in names.items()},
        null_values=list(missing),
        n_rows=shape.rows if shape.blank_end else None,  # polars makes a row of nulls of a blank line
    )
    return frame.rename({short: names[short] for short in frame.columns})


def _label_type(cells: list[str]) -> Any:
    import polars as pl

    present = [c for cell in cells if (c := cell.strip()) and c not in MISSING]
    if not present or not all(map(is_number, present)):
        return pl.String
    return pl.Int64 if all(c.lstrip("+-").isdecimal() for c in present) else pl.Float64


def _tidied(text: pl.Series, roles: Roles, numbers: set[str], origin: Origin) -> pl.Series:
    if text.name in numbers:
        return numbers_from_text(text, origin, roles.hint if text.name in roles.models else None)
    return tidy_label(text) if text.name == roles.label else tidy_group(text)


def _not_utf8(content: Content) -> DataError:
    with content.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                rule = f"must be UTF-8 text, this line holds the byte 0x{line[error.start]:02x}"
                return DataError(rule, file=content.name, line=number)
    return DataError("must be UTF-8 text", file=content.name)
