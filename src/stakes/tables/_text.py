"""Columns of text become numbers, booleans or labels; what is neither is refused with its row, never guessed at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")
_NEARLY_A_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|[.,]\d+)\s*%?")  # in which no digit can be read in two ways


def looks_numeric(cells: Sequence[str]) -> bool:
    """Say whether at least half of the cells that are not missing are meant as numbers (12% and 0,5 too)."""
    if _all_numbers(cells):  # the usual case, without a look at each cell
        return True
    present = [c for cell in cells if (c := cell.strip()) and c not in MISSING]
    return 2 * sum(map(is_meant_as_number, present)) >= len(present)


def _all_numbers(cells: Sequence[str]) -> bool:
    try:
        list(map(float, cells))
    except ValueError:
        return False
    return True


def is_meant_as_number(cell: str) -> bool:
    """Say whether a cell is a number or nearly one, so that it is worth an error when it cannot be read."""
    return is_number(cell) or _NEARLY_A_NUMBER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Say whether a cell reads as a number."""
    return _all_numbers([cell])


def numbers_from_text(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Read numbers, spaces around them allowed, null where they are missing, and mark the cells that hold none."""
    import polars as pl

    cells = text.str.strip_chars()
    numbers = cells.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & cells.is_not_null() & ~cells.is_in(["", *MISSING])


def tidy_label(text: pl.Series) -> pl.Series:
    """Read labels that all spell numbers, or all true and false, as such; leave others as they are."""
    import polars as pl

    text = _without_empty(text)
    distinct = text.drop_nulls().unique()
    numbers = distinct.str.strip_chars().cast(pl.Float64, strict=False)
    if len(distinct) and not numbers.null_count():
        whole = (numbers == numbers.round()).all() and numbers.abs().max() < 2**53  # type: ignore[operator]
        return text.str.strip_chars().cast(pl.Float64).cast(pl.Int64 if whole else pl.Float64)
    if len(distinct) and distinct.str.to_lowercase().is_in(["true", "false"]).all():
        return text.str.to_lowercase() == "true"
    return text


def tidy_group(text: pl.Series) -> pl.Series:
    """Read groups that are all plain whole numbers as such, so that they sort; 007 stays text."""
    import polars as pl

    text = _without_empty(text)
    numbers = text.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(text) else text


def _without_empty(text: pl.Series) -> pl.Series:
    return text.set(text == "", None) if (text == "").any() else text
