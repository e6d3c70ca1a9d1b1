"""The one error for data that cannot be used: which file, column, row and value, and the rule that was broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DataError(ValueError):
    """Data that cannot be evaluated as it is.

    Parameters
    ----------
    rule : str
        What the data must do, such as "must lie in [0, 1]".
    file : str, optional
        Name of the file.
    column : str, optional
        Name of the column.
    row : int, optional
        Number of the data row, counted from 1; a header is not counted.
    line : int, optional
        Number of the line in the file, counted from 1.
    value : object, optional
        The value that breaks the rule.
    count, total : int, optional
        How many of how many rows break it.
    hint : str, optional
        A sentence on what to do.

    Examples
    --------
    >>> from stakes.tables import DataError
    >>> print(DataError("must lie in [0, 1]", file="risks.csv", column="model_a", row=7, value=1.2, count=3, total=750))
    risks.csv: column 'model_a', row 7: must lie in [0, 1], got 1.2 (3 of 750 rows)
    """

    def __init__(
        self,
        rule: str,
        *,
        file: str | None = None,
        column: str | None = None,
        row: int | None = None,
        line: int | None = None,
        value: Any = None,
        count: int | None = None,
        total: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.rule, self.file, self.column, self.row, self.line = rule, file, column, row, line
        self.value = value.item() if isinstance(value, np.generic) else value
        self.count, self.total, self.hint = count, total, hint
        super().__init__(rule)

    def __str__(self) -> str:
        column = None if self.column is None else f"column {self.column!r}"
        row = None if self.row is None else f"row {self.row}"
        if self.line is not None:
            row = f"line {self.line}" if row is None else f"{row} (line {self.line})"
        place = [self.file, ", ".join(filter(None, [column, row]))]
        text = ": ".join([*filter(None, place), self.rule])
        if self.value is not None:
            text += f", got {self.value!r}"
        if self.count is not None:
            text += f" ({self.count} of {self.total} rows)"
        return text if self.hint is None else f"{text}. {self.hint}"


@dataclass(frozen=True, eq=False)
class Origin:
    """Where rows come from: the file, whether their order means anything, the line of row 0, the rows kept."""

    file: str | None = None
    ordered: bool = True
    first_line: int | None = None
    rows: NDArray[np.intp] | None = None

    def error(self, rule: str, *, row: int | None = None, **details: Any) -> DataError:
        """Build the error for a row counted from 0, numbered as far as that is certain."""
        if row is None or not self.ordered:
            return DataError(rule, file=self.file, **details)
        if self.rows is not None:
            row = int(self.rows[row])
        line = None if self.first_line is None else self.first_line + row
        return DataError(rule, file=self.file, row=row + 1, line=line, **details)

    def broken(self, rule: str, bad: NDArray[np.bool_], values: Any, **details: Any) -> DataError:
        """Build the error for all rows marked bad, the first of them named with its value."""
        first = int(np.argmax(bad))
        count = int(np.count_nonzero(bad))
        value = None if values is None else values[first]
        return self.error(rule, row=first, value=value, count=count, total=len(bad), **details)
