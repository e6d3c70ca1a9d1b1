"""`ResultTable`, `TableColumn`, `CellStyle`, `Tabular`; Markdown, LaTeX, Word, HTML, frame."""

from __future__ import annotations

import io
import json
import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from numbers import Integral
from typing import Any, ClassVar

from stakes.outputs.files import delivered, json_ready
from stakes.outputs.hooks import import_optional, nw
from stakes.outputs.text import decimals_needed, shorten, visible

# Tables leave the library as a data frame of the caller's library.

_BACKENDS = ("pandas", "polars", "pyarrow")


def build_frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """Build a data frame from columns, in the named library or the first one that is installed."""
    if backend is None:
        backend = next((name for name in _BACKENDS if find_spec(name)), None)
        if backend is None:
            raise ImportError("a table needs a data-frame library: pip install 'stakes[engines]'")
    if isinstance(backend, str):
        if backend not in _BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(_BACKENDS)}, got {backend!r}.")
        import_optional(backend, f"{backend} is not installed: pip install 'stakes[engines]'")
    elif getattr(backend, "__name__", None) not in _BACKENDS and not isinstance(backend, nw.Implementation):
        raise ValueError(f"backend must be one of {', '.join(_BACKENDS)}, got {backend!r}.")
    return nw.from_dict(columns, backend=backend).to_native()


def backend_of(*values: Any) -> Any:
    """Name the data-frame library that the first recognised value comes from, or None."""
    for value in values:
        native = nw.from_native(value, allow_series=True, pass_through=True)
        if isinstance(native, (nw.Series, nw.DataFrame, nw.LazyFrame)):
            name = str(nw.get_native_namespace(native).__name__)
            return name if name in _BACKENDS else None
    return None


# Markdown tables whose cells are one line of text each.


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a GitHub-flavoured table of ready cells.

    Examples
    --------
    >>> print(markdown_table(["a", "b"], [["1", "2"]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows))


# what begins or ends emphasis, code, a formula, a cell or the address of a link; an underscore in a word marks nothing
_MARKS = re.compile(r"[\\|*`$]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|\](?=[(\[])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_BEGINS_BLOCK = re.compile(r"^\d*(?=#+ |[-+.)] |>|\[[^\]]+\]:)")  # heading, list, quotation or address of a link


def markdown_cell(text: str) -> str:
    r"""Return text as one line that hides, ends, opens and marks nothing: no cell, tag, block, bold, code or link.

    Examples
    --------
    >>> print(markdown_cell("a|b <i>"), markdown_cell("**b** of model_1"), markdown_cell("1. b &lt; c"))
    a\|b &lt;i> \*\*b\*\* of model_1 1\. b &amp;lt; c
    """
    marked = _MARKS.sub(r"\\\g<0>", " ".join(visible(text).split()))
    return _BEGINS_BLOCK.sub(r"\g<0>\\", _ENTITY.sub("&amp;", marked).replace("<", "&lt;"))


# Tables and lists for notebooks. They have no colours of their own, so that light and dark themes both suit them.

LONGEST_CELL, MOST_ROWS = 400, 60
_LONG_WORD = re.compile(r"\S{61,}")  # it would make the page wider than the screen
_NUMBER = re.compile(r"-?(\d[\d.e+-]*|inf)|")
_LEFT = ' style="text-align: left"'


def plain(text: str, longest: int = LONGEST_CELL) -> str:
    """Return HTML that shows a text and does nothing else."""
    from html import escape

    bearable = _LONG_WORD.sub(lambda found: shorten(found[0]), shorten(text, longest))
    return escape(visible(bearable, keep="\n\t"))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a table of plain text; from a long one, rows at even distances, and how many there are."""
    shown = rows
    if len(rows) > MOST_ROWS:
        step = (len(rows) - 1) / (MOST_ROWS - 1)
        shown = [rows[round(step * i)] for i in range(MOST_ROWS)]
        caption = f"{caption} {MOST_ROWS} of {len(rows):,} rows".strip()
    sides = ["" if all(map(_NUMBER.fullmatch, column)) else _LEFT for column in zip(*shown, strict=True)]
    head = f"<thead>{_row('th', header, sides)}</thead>" if header else ""
    body = "".join(_row("td", row, sides) for row in shown)
    title = f"<caption{_LEFT}>{plain(caption)}</caption>" if caption else ""
    return f"<table>{title}{head}<tbody>{body}</tbody></table>"


def _row(tag: str, cells: Iterable[str], sides: Iterable[str]) -> str:
    """Columns with words are set to the left; numbers stay where the notebook puts them."""
    marked = [f"<{tag}{side}>{plain(cell)}</{tag}>" for cell, side in zip(cells, sides, strict=True)]
    return f"<tr>{''.join(marked)}</tr>"


def listed(items: Iterable[str]) -> str:
    """Return a list of ready HTML."""
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


# What every tabular result can do: Markdown, LaTeX, JSON and HTML from one data frame.

Columns = Sequence[str] | Mapping[str, str]
_OWN_INTERVAL = ("score", "value", "difference", "estimate")  # whose interval a record calls ci_low and ci_high
_HEADS = {"auc": "AUC", "p_value": "p", "p_adjusted": "p (Holm)", "n_rows": "rows", "n_positives": "positives"}
_MOST_DIGITS = 17  # of a double
# A single record of more columns stands upright in a notebook.
_WIDEST_RECORD = 6
_DIGITS = 3  # of a number in a table of a paper: decimals where each column has its own, else significant
_COUNTED = 9  # decimals up to which a sum of weights is a whole number
_SPANNED = 5  # units of the last decimal that every interval of a column spans at least
_EXACT = 1e-7  # an interval this narrow is one of rounding
_PORTRAIT = 80  # characters of a row that a page of Word takes upright


class Tabular(ABC):
    """A result whose content is a list of records."""

    # what a paper shows, and under which heads; all columns where it is empty
    _paper: ClassVar[Mapping[str, str]] = {}
    # which of its intervals that shows: "ci", of each number alone, or "simultaneous", of a column
    _paper_intervals: ClassVar[str] = "ci"
    # columns of counts: whole ones are written in full and without decimals, also where weights make them floats
    _count_columns: ClassVar[tuple[str, ...]] = ()
    # columns of code, whose lines stand in one
    _code_columns: ClassVar[tuple[str, ...]] = ()

    def _paper_cells(self, columns: Columns | None, digits: int | None) -> list[list[str]]:
        """Head and rows as a paper prints them."""
        return paper_cells(self, columns, digits)

    def _footnotes(self) -> tuple[str, ...]:
        """What a paper says below the table."""
        return ()

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Rows as plain Python values."""

    def _default_backend(self) -> Any:
        return getattr(self, "backend", None)

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
        records = self._records()
        columns = {key: [record[key] for record in records] for key in (records[0] if records else ())}
        return build_frame(columns, backend or self._default_backend())

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the table as GitHub-flavoured Markdown with its footnotes, and write it where a path is given."""
        header, *rows = self._cells()
        shown = markdown_table(header, [[markdown_cell(cell) for cell in row] for row in rows])
        return delivered("\n\n".join([shown, *map(markdown_cell, self._footnotes())]), path)

    def to_latex(
        self, path: str | os.PathLike[str] | None = None, *, columns: Columns | None = None, digits: int | None = None
    ) -> str:
        r"""Return the table as a LaTeX ``tabular``, each number with its interval in one cell.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        columns : sequence of str, or mapping of str to str, optional
            Columns of :meth:`frame`, or these and their heads; by default those that a paper shows. What has an
            interval brings it along: a simultaneous one in the ranking of an evaluation, which its heads then say.
        digits : int, optional
            Significant digits; of a table with decimals of its own, decimals. By default three significant digits, or
            three decimals and in a column of narrow intervals as many as they need.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            For an unknown column.
        """
        header, *rows = [[_latex(cell) for cell in row] for row in self._paper_cells(columns, digits)]
        body = [re.sub(r"^[*\[]", r"{\g<0>}", " & ".join(row)) + r" \\" for row in rows]  # else read as an option of \\
        columns_of = rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}"
        top = [columns_of, r"\hline", " & ".join(header) + r" \\", r"\hline"]
        wide = rf"\multicolumn{{{len(header)}}}{{l}}"
        notes = [rf"{wide}{{\footnotesize {_latex(note)}}} \\" for note in self._footnotes()]
        return delivered("\n".join([*top, *body, r"\hline", *notes, r"\end{tabular}"]), path)

    def to_word(
        self, path: str | os.PathLike[str] | None = None, *, columns: Columns | None = None, digits: int | None = None
    ) -> bytes:
        """Return the table as a Word document, as :meth:`to_latex` lays it out.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        columns : sequence of str, or mapping of str to str, optional
            As for :meth:`to_latex`.
        digits : int, optional
            Significant digits; of a table with decimals of its own, decimals. By default three significant digits, or
            three decimals and in a column of narrow intervals as many as they need.

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            For an unknown column.
        ImportError
            If python-docx is not installed (``pip install 'stakes[word]'``).
        """
        cells, remedy = self._paper_cells(columns, digits), "a Word table needs python-docx: pip install 'stakes[word]'"
        docx, layout = import_optional("docx", remedy), import_optional("docx.enum.text", remedy)
        document, buffer = docx.Document(), io.BytesIO()
        if sum(max(map(len, column)) for column in zip(*cells, strict=True)) > _PORTRAIT:
            page = document.sections[0]
            page.orientation = import_optional("docx.enum.section", remedy).WD_ORIENT.LANDSCAPE
            page.page_width, page.page_height = page.page_height, page.page_width
        table = document.add_table(rows=len(cells), cols=len(cells[0]), style="Light List")
        for row, texts in zip(table.rows, cells, strict=True):
            for place, (cell, text) in enumerate(zip(row.cells, texts, strict=True)):
                cell.text = text
                if place:
                    cell.paragraphs[0].alignment = layout.WD_ALIGN_PARAGRAPH.RIGHT
        for note in self._footnotes():
            document.add_paragraph(note)
        document.save(buffer)
        return delivered(buffer.getvalue(), path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the records as JSON, and write them where a path is given.

        Infinite and undefined numbers become the strings "inf", "-inf" and null.
        """
        return delivered(json.dumps(json_ready(self._content()), indent=2), path)

    def _content(self) -> Any:
        """What the JSON holds."""
        return self._records()

    def _repr_html_(self) -> str:
        header, *rows = self._cells()
        if not rows:
            return "<p>No rows.</p>"
        if len(rows) > 1 or len(header) <= _WIDEST_RECORD:
            return table(header, rows)
        return table([], [[key, cell] for key, cell in zip(header, rows[0], strict=True) if cell])

    def _cells(self) -> list[list[str]]:
        records = _shown_records(self)
        header = list(records[0]) if records else []
        return [header, *[[cell_text(value) for value in record.values()] for record in records]]


class PaperTable(Tabular):
    """A result that everywhere shows what a paper prints: chosen columns, each number with its interval in one cell.

    Its ``digits`` are decimals, by default three or as many more as tell the ends of a column's narrowest interval
    apart; of columns that the caller chooses they are significant, as elsewhere.
    """

    @abstractmethod
    def _heads(self) -> dict[str, str]:
        """Columns that are shown, and their heads."""

    def _paper_cells(self, columns: Columns | None, digits: int | None) -> list[list[str]]:
        if columns is not None:
            return paper_cells(self, columns, digits)
        _check_layout(columns, digits)
        heads, records = self._heads(), self._records()
        decimals = {key: _own_decimals(records, key) if digits is None else digits for key in heads}
        rows = ([_to_decimals(record, *column) for column in decimals.items()] for record in records)
        return [list(heads.values()), *rows]

    def _cells(self) -> list[list[str]]:
        return self._paper_cells(None, None)


def _own_decimals(records: Iterable[Mapping[str, Any]], key: str) -> int:
    """Three decimals, or as many as let the narrowest interval of a column span five units of the last."""
    ends = [(record.get(f"{key}_ci_low", math.nan), record.get(f"{key}_ci_high", math.nan)) for record in records]
    narrowest = min((high - low for low, high in ends if high - low > _EXACT), default=1.0)
    return max(_DIGITS, decimals_needed(narrowest / _SPANNED, 1))


def _to_decimals(record: Mapping[str, Any], key: str, decimals: int) -> str:
    """A number and the ends of its interval with as many decimals; texts, counts and times as they are."""
    value = record[key]
    if f"{key}_ci_low" not in record:
        return cell_text(value)
    ends = record[f"{key}_ci_low"], record[f"{key}_ci_high"]
    value, low, high = (
        "" if math.isnan(number) else f"{round(number, decimals) + 0.0:.{decimals}f}" for number in (value, *ends)
    )
    return f"{value} ({low} to {high})" if value and low else value


def paper_cells(result: Tabular, columns: Columns | None, digits: int | None) -> list[list[str]]:
    """Head and rows as a paper prints them."""
    records = _shown_records(result)
    known = list(records[0]) if records else []
    _check_layout(columns, digits)
    digits = _DIGITS if digits is None else digits
    chosen = (result._paper or known) if columns is None else columns
    heads = dict(chosen) if isinstance(chosen, Mapping) else {name: _HEADS.get(name, name) for name in chosen}
    unknown = [name for name in heads if records and name not in known]
    if unknown:
        raise ValueError(f"columns must be among {', '.join(known)}, got {unknown[0]!r}.")
    kind = result._paper_intervals
    if kind != "ci" and not isinstance(columns, Mapping):  # heads of the caller's own stay as they are
        heads |= {
            name: f"{head} ({kind} intervals)" for name, head in heads.items() if f"{_stem(name)}{kind}_low" in known
        }
    return [
        [head.replace("_", " ") for head in heads.values()],
        *([_with_ends(record, name, digits, kind) for name in heads] for record in records),
    ]


def _shown_records(result: Tabular) -> list[dict[str, Any]]:
    """The records, with whole numbers in place of counts that are floats, and code in one line."""
    records = result._records()
    ready: dict[str, Callable[[Any], Any]] = dict.fromkeys(result._count_columns, _whole)
    ready |= dict.fromkeys(result._code_columns, _in_one_line)
    return [record | {key: ready[key](record[key]) for key in ready if key in record} for record in records]


def _in_one_line(code: str) -> str:
    return "; ".join(filter(None, code.splitlines()))


def _whole(value: Any) -> Any:
    return round(value) if isinstance(value, float) and round(value, _COUNTED).is_integer() else value


def _check_layout(columns: Any, digits: Any) -> None:
    whole = isinstance(digits, Integral) and not isinstance(digits, bool)
    if digits is not None and not (whole and 1 <= int(digits) <= _MOST_DIGITS):
        raise ValueError(f"digits must be a whole number from 1 to {_MOST_DIGITS}, got {digits!r}.")
    if columns is not None and (isinstance(columns, str) or not isinstance(columns, (Mapping, Sequence))):
        raise ValueError(f"columns must be a list of names, or a mapping of names to heads, got {columns!r}.")


def _stem(name: str) -> str:
    """What the names of the ends of an interval begin with."""
    return "" if name in _OWN_INTERVAL else f"{name}_"


def _with_ends(record: Mapping[str, Any], name: str, digits: int, kind: str) -> str:
    """A cell with the ends of its interval, where the record has them."""
    text = _rounded(record[name], digits)
    ends = [record.get(f"{_stem(name)}{kind}_{side}", math.nan) for side in ("low", "high")]
    if not text or any(math.isnan(end) for end in ends):
        return text
    if record[name] == ends[0] == ends[1] == 0.0:  # the difference of something from itself
        return ""
    return f"{text} ({_rounded(ends[0], digits)} to {_rounded(ends[1], digits)})"


def _rounded(value: Any, digits: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isfinite(value) and value != 0.0:
        fits = abs(float(f"{value:.{digits}g}")) < 10.0**digits
        return f"{value:#.{digits}g}".rstrip(".") if fits else f"{value:.0f}"
    return cell_text(value)


def cell_text(value: Any) -> str:
    """Show a value in a table: numbers with four significant digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"
    return str(value)


def _latex(cell: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}  # others in OT1, LaTeX's own fonts
    special |= {char: "\\" + char for char in "&%$#_{}"}
    return "".join(special.get(char, char) for char in " ".join(cell.split()))


# A table of a result without layout: raw numbers, and what each column is. Terminal, report and notebook render it.


@dataclass(frozen=True, eq=False, repr=False)
class TableColumn:
    """One column of a :class:`ResultTable`.

    Parameters
    ----------
    key : str
        Name of its values in the records.
    head : str
        Short head.
    kind : str
        What its values are, unless numbers with fixed decimals: "text", "rank", "count",
        "difference", "skill", "share", "probability", "p", "metric", "significant" and the like.
    decimals : int, optional
        Of its numbers, where all renderers use the same.
    interval : str
        What the keys of the ends of its interval begin with: those of "ci" are "ci_low" and "ci_high"; empty without.
    p : str
        Key of the p-value that belongs to it; empty without.
    """

    key: str
    head: str
    kind: str = "number"
    decimals: int | None = None
    interval: str = ""
    p: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class ResultTable(Tabular):
    """A table of a result: raw numbers by key, and the columns that a renderer may show.

    Parameters
    ----------
    caption : str
        What it shows.
    columns : tuple of TableColumn
        What may be shown, and how it is written; records may hold more, such as the ends of intervals.
    compute : callable
        Computes the records at first use.

    Examples
    --------
    >>> from stakes import evaluate
    >>> table = evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6]}, costs=(0.2, 0.6)).tables()["ranking"]
    >>> [column.head for column in table.view(["rank", "model", "miscalibration"])]
    ['#', 'model', 'MCB']
    """

    caption: str
    columns: tuple[TableColumn, ...]
    compute: Callable[[], list[dict[str, Any]]]

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Raw values by key; None where a cell has no meaning, nan where a number is undefined."""
        return self.compute()

    def view(self, keys: Iterable[str], **changes: Any) -> list[TableColumn]:
        """Choose columns by key, with changed properties."""
        by_key = {column.key: column for column in self.columns}
        return [replace(by_key[key], **changes) for key in keys]

    def _records(self) -> list[dict[str, Any]]:
        keys = dict.fromkeys(key for row in self.rows for key in row)
        return [{key: row.get(key) for key in keys} for row in self.rows]

    def __repr__(self) -> str:
        return f"ResultTable({self.caption}: {len(self.rows)} rows)"


Format = Callable[[Any, int], str]
_BLANK = ("rank", "once", "threshold")  # None in their place shows nothing


@dataclass(frozen=True, eq=False, repr=False)
class CellStyle:
    """How a renderer writes the cells of a table.

    Parameters
    ----------
    number : callable
        Writes a value with a number of decimals.
    formats : mapping of str to callable
        The same by kind of column, for kinds that are written in another way.
    decimals : int
        Decimals where the column leaves them open.
    missing : str
        In the place of None.
    interval, unknown, p : str
        What shows a number with its interval, with an interval that is not known, and a p-value beside it.
    ends : mapping of str to str
        Kinds whose ends are written as another kind.
    """

    number: Format
    formats: Mapping[str, Format] = field(default_factory=dict)
    decimals: int = 0
    missing: str = ""
    interval: str = "{value} ({low} to {high})"
    unknown: str = "{value}"
    p: str = ""
    ends: Mapping[str, str] = field(default_factory=dict)

    def rows(self, records: Iterable[Mapping[str, Any]], columns: Sequence[TableColumn]) -> list[list[str]]:
        """Write every cell of some records."""
        return [[self.cell(record, column) for column in columns] for record in records]

    def cell(self, record: Mapping[str, Any], column: TableColumn) -> str:
        """Write a cell, with its interval and p-value where the column has them.

        Examples
        --------
        >>> column = TableColumn("gap", "difference", decimals=2, interval="gap")
        >>> style = CellStyle(lambda value, decimals: f"{value:.{decimals}f}")
        >>> style.cell({"gap": 0.125, "gap_low": 0.1, "gap_high": 0.15}, column)
        '0.12 (0.10 to 0.15)'
        """
        value, places = record[column.key], self.decimals if column.decimals is None else column.decimals
        if value is None:
            return "" if column.kind in _BLANK else self.missing
        text = self.formats.get(column.kind, self.number)(value, places)
        if column.interval:
            write = self.formats.get(self.ends.get(column.kind, column.kind), self.number)
            low, high = (record[f"{column.interval}_{side}"] for side in ("low", "high"))
            known = not (math.isnan(low) or math.isnan(high))
            ends = {"low": write(low, places), "high": write(high, places)} if known else {}
            text = (self.interval if known else self.unknown).format(value=text, **ends)
        if self.p and column.p and not math.isnan(record[column.p]):
            text += self.p.format(self.formats["p"](record[column.p], places))
        return text
