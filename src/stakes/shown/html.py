"""Tables and lists for notebooks. They have no colours of their own, so that light and dark themes both suit them."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from stakes.shown.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_CELL, MOST_ROWS = 400, 60
_LONG_WORD = re.compile(r"\S{61,}")  # it would make the page wider than the screen
_NUMBER = re.compile(r"-?(\d[\d.e+-]*|inf)|")
_LEFT = ' style="text-align: left"'


def plain(text: str, longest: int = LONGEST_CELL) -> str:
    """Return HTML that shows a text and does nothing else."""
    bearable = _LONG_WORD.sub(lambda found: shorten(found[0]), shorten(text, longest))
    return html.escape(visible(bearable, keep="\n\t"))


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
