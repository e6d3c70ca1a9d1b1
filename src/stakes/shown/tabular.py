"""What every tabular result can do: Markdown, LaTeX, JSON and HTML from one data frame."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from typing import Any

from stakes.shown.html import table
from stakes.shown.markdown import markdown_cell, markdown_table

# A single record of more columns stands upright in a notebook.
_WIDEST_RECORD = 6


class Tabular(ABC):
    """A result whose content is a list of records."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Rows as plain Python values."""

    def _default_backend(self) -> Any:
        return None

    def frame(self, backend: Any = None) -> Any:
        """Return the result as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the library the data came in, or the first that is installed.

        Returns
        -------
        DataFrame
        """
        from stakes.shown.frames import build_frame

        records = self._records()
        columns = {key: [record[key] for record in records] for key in (records[0] if records else ())}
        return build_frame(columns, backend or self._default_backend())

    def to_markdown(self) -> str:
        """Return the table as GitHub-flavoured Markdown."""
        header, *rows = self._cells()
        return markdown_table(header, [[markdown_cell(cell) for cell in row] for row in rows])

    def to_latex(self) -> str:
        r"""Return the table as a LaTeX ``tabular``."""
        header, *rows = [[_latex(cell) for cell in row] for row in self._cells()]
        body = [" & ".join(row) + r" \\" for row in rows]
        top = [
            rf"\begin{{tabular}}{{{'l' * len(header)}}}",
            r"\hline",
            " & ".join(header) + r" \\",
            r"\hline",
        ]
        return "\n".join([*top, *body, r"\hline", r"\end{tabular}"])

    def to_json(self) -> str:
        """Return the records as JSON; infinite and undefined numbers become the strings "inf", "-inf" and null."""
        return json.dumps(json_ready(self._records()), indent=2)

    def _repr_html_(self) -> str:
        header, *rows = self._cells()
        if not rows:
            return "<p>No rows.</p>"
        if len(rows) > 1 or len(header) <= _WIDEST_RECORD:
            return table(header, rows)
        return table([], [[key, cell] for key, cell in zip(header, rows[0], strict=True) if cell])

    def _cells(self) -> list[list[str]]:
        records = self._records()
        header = list(records[0]) if records else []
        return [header, *[[cell_text(value) for value in record.values()] for record in records]]


def cell_text(value: Any) -> str:
    """Show a value in a table: numbers with four significant digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def json_ready(value: Any) -> Any:
    """Replace what JSON cannot hold: infinities by strings, nan by null, numpy numbers by Python's."""
    if isinstance(value, dict):
        return {key: json_ready(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _one_line(cell: str) -> str:
    return " ".join(cell.split())


def _latex(cell: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {char: "\\" + char for char in "&%$#_{}"}
    return "".join(special.get(char, char) for char in _one_line(cell))
