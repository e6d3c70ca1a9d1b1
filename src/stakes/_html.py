"""Tables and lists for notebooks. They have no colours of their own, so that light and dark themes both suit them."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_NAME, LONGEST_CELL, MOST_ROWS = 40, 400, 60
# Controls, marks that reorder the text around them, and halves of characters that no encoding can hold.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LONG_WORD = re.compile(r"\S{61,}")  # it would make the page wider than the screen
_NUMBER = re.compile(r"-?(\d[\d.e+-]*|inf)|")
_LEFT = ' style="text-align: left"'


def short(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text, a long one without its middle."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def plain(text: str, longest: int = LONGEST_CELL) -> str:
    """Return HTML that shows a text and does nothing else."""
    bearable = _LONG_WORD.sub(lambda found: short(found[0]), short(text, longest))
    return html.escape(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", bearable))


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
