"""Copy a file of predictions with corrected scores added, without holding the file in memory."""

from __future__ import annotations

import io
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from stakes._validation import check_choice
from stakes.tables._content import Content, reject_other_encodings
from stakes.tables._csv import _peek
from stakes.tables._csv_shape import measure, rewrite
from stakes.tables._errors import Origin
from stakes.tables._roles import reject_duplicates, require
from stakes.tables._rows import ON_MISSING, PROBABILITY_HINT
from stakes.tables._text import MISSING, is_number

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from stakes.tables._rows import OnMissing

_FORMATS = {".csv": "csv", ".parquet": "parquet", ".arrow": "ipc", ".jsonl": "ndjson"}


@dataclass(frozen=True)
class Copied:
    """What was written.

    Parameters
    ----------
    source : str
        Name of the file read.
    n_rows, n_dropped : int
        Rows written, and incomplete rows left out.
    columns : dict of str to str
        Name of each corrected column by the name of the scores.
    """

    source: str
    n_rows: int
    n_dropped: int
    columns: dict[str, str]


def copy_with_shifted_odds(
    path: str | os.PathLike[str],
    target: Path,
    *,
    models: Sequence[str],
    factor: float,
    suffix: str = "_corrected",
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (as read_predictions has it)
) -> Copied:
    """Write every column of a file, and one more for each model with the odds of its scores multiplied.

    The engine passes twice: to check every score, and to write. CSV files keep the text of all other columns.
    """
    check_choice(on_missing, "on_missing", ON_MISSING)
    if not find_spec("polars"):
        raise ImportError("reading files needs polars: pip install 'stakes[cli]'")
    content = Content.of(path)
    lazy, origin = _scan(content, content.kind(format), models[0])
    schema = lazy.collect_schema()
    require(models, schema.names(), content.name)
    new = {model: f"{model}{suffix}" for model in models}
    taken = next((name for name in new.values() if name in schema), None)
    if taken is not None:
        raise origin.error("is there already: choose another --suffix", column=taken)
    columns = [_Column.of(model, schema, origin) for model in models]
    rows, dropped = _check(lazy, columns, origin, on_missing)
    kept = lazy.filter(~_any_missing(columns)) if dropped else lazy
    shifted = [column.shifted(factor).alias(new[column.name]) for column in columns]
    _write(kept.with_columns(shifted), target)
    return Copied(content.name, rows - dropped, dropped, new)


@dataclass(frozen=True)
class _Column:
    """Expressions for the numbers of one column, which may be text."""

    name: str
    dtype: Any
    probability: bool = True

    @classmethod
    def of(cls, name: str, schema: Mapping[str, Any], origin: Origin, *, probability: bool = True) -> _Column:
        column = cls(name, schema[name], probability)
        if not (column.is_text or column.dtype.is_numeric()):
            raise origin.error(f"must hold numbers, not {column.dtype}", column=name)
        return column

    @property
    def is_text(self) -> bool:
        return str(self.dtype) in {"String", "Utf8"}

    def score(self) -> pl.Expr:
        import polars as pl

        column = pl.col(self.name)
        return (column.str.strip_chars() if self.is_text else column).cast(pl.Float64, strict=False)

    def missing(self) -> pl.Expr:
        import polars as pl

        column = pl.col(self.name)
        if self.is_text:
            return column.is_null() | column.str.strip_chars().is_in(["", *MISSING])
        return column.is_null() | self.score().is_nan()

    def broken(self) -> pl.Expr:
        score = self.score()
        wrong = (score < 0.0) | (score > 1.0) if self.probability else score.is_infinite()
        return ~self.missing() & (score.is_null() | score.is_nan() | wrong)

    def shifted(self, factor: float) -> pl.Expr:
        score = self.score()
        return score / ((1.0 - score) * (1.0 / factor) + score)


def _any_missing(columns: Sequence[_Column]) -> pl.Expr:
    import polars as pl

    return pl.any_horizontal([column.missing() for column in columns])


def _scan(content: Content, kind: str, needed: str) -> tuple[pl.LazyFrame, Origin]:
    """Open a file lazily; what is unpacked or piped is in memory already."""
    import polars as pl

    origin, native = Origin(content.name), content.native
    if kind == "csv":
        return _scan_csv(content, origin, needed)
    if kind == "arrow" and not content.head().startswith(b"ARROW1"):
        return pl.read_ipc_stream(native).lazy(), origin
    name = {"parquet": "parquet", "jsonl": "ndjson", "arrow": "ipc"}[kind]
    if content.path is not None:
        return getattr(pl, f"scan_{name}")(native), origin
    return getattr(pl, f"read_{name}")(native).lazy(), origin


def _scan_csv(content: Content, origin: Origin, needed: str) -> tuple[pl.LazyFrame, Origin]:
    """Open a CSV file, all columns as text, once its lines are known to have their fields."""
    import polars as pl

    reject_other_encodings(content, origin)
    layout = _peek(content, needed)
    reject_duplicates(layout.names, content.name)
    require([needed], layout.names, content.name)
    shape = measure(content, layout.separator, len(layout.names))
    source, separator = content.native, layout.separator
    if shape is None:
        plain, shape = rewrite(content, layout.separator, len(layout.names), origin)
        source, separator = io.BytesIO(plain), ","
    elif shape.line_per_row:
        origin = Origin(content.name, first_line=2)
    if shape.rows == 0:
        raise origin.error("there is a header and no rows")
    options: dict[str, Any] = {
        "separator": separator,
        "schema": dict.fromkeys(layout.names, pl.String),
        "n_rows": shape.rows if shape.blank_end else None,
    }
    if isinstance(source, io.BytesIO):
        return pl.read_csv(source, **options).lazy(), origin
    return pl.scan_csv(source, **options), origin


def _check(
    lazy: pl.LazyFrame,
    columns: Sequence[_Column],
    origin: Origin,
    on_missing: OnMissing,
    remedy: str = "--on-missing drop leaves incomplete rows out.",
) -> tuple[int, int]:
    """Count the rows and the incomplete ones, or refuse the first score that breaks a rule."""
    import polars as pl

    sums = [column.broken().sum().alias(f"broken {k}") for k, column in enumerate(columns)]
    tally = _collect(lazy.select(pl.len().alias("rows"), _any_missing(columns).sum().alias("missing"), *sums))
    rows, missing, *broken = tally.row(0)
    if rows == 0:
        raise origin.error("there are no rows")
    for column, count in zip(columns, broken, strict=True):
        if count:
            row, value = _first(lazy, column, column.broken())
            readable = not isinstance(value, str) or is_number(value)
            rule = "must lie in [0, 1]" if column.probability else "must be finite"
            rule = rule if readable else "must be a number"
            hint = PROBABILITY_HINT if column.probability else None
            details: dict[str, Any] = {"count": count, "total": rows, "hint": hint}
            raise origin.error(rule, row=row, column=column.name, value=value, **details)
    if missing and (on_missing == "raise" or missing == rows):
        column = next(c for c in columns if _collect(lazy.select(c.missing().any())).item())
        row, _ = _first(lazy, column, column.missing())
        hint = remedy if on_missing == "raise" else "No complete row is left."
        raise origin.error("must not be missing", row=row, column=column.name, count=missing, total=rows, hint=hint)
    return rows, missing


def _first(lazy: pl.LazyFrame, column: _Column, test: pl.Expr) -> tuple[int, Any]:
    """Row, counted from 0, and value of the first cell that a test marks."""
    import polars as pl

    marked = lazy.select(pl.col(column.name).alias("value"), test.alias("marked")).with_row_index("row")
    row, value, _ = _collect(marked.filter(pl.col("marked")).head(1)).row(0)
    return int(row), value


def _write(lazy: pl.LazyFrame, target: Path) -> None:
    import polars as pl

    name = _FORMATS[target.suffix.lower()]
    try:
        getattr(lazy, f"sink_{name}")(target)
    except pl.exceptions.InvalidOperationError:  # the oldest polars streams from CSV and Parquet only
        getattr(_collect(lazy), f"write_{name}")(target)


def _collect(lazy: pl.LazyFrame) -> pl.DataFrame:
    """Collect in pieces; the argument that asks for it was renamed in polars 1.25."""
    try:
        return lazy.collect(engine="streaming")
    except TypeError:
        return lazy.collect(streaming=True)  # type: ignore[call-overload]
