"""Pieces of HTML: sections, lists of facts, tables that scroll on a phone."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# ready HTML, or that with the number it shows
Cell = str | tuple[str, float]


def section(key: str, heading: str, body: str) -> str:
    """A section of the page with its heading."""
    return f'<section id="{key}" aria-labelledby="{key}-h"><h2 id="{key}-h">{heading}</h2>\n{body}\n</section>'


def follows(key: str, body: str, tag: str = "div") -> str:
    """A part of the page that the scripts replace when the reader changes the range."""
    return f'<{tag} data-follows="{key}">{body}</{tag}>'


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    key: str = "",
    labels: Sequence[str] = (),
    follow: str = "",
    kind: str = "",
) -> str:
    """A table from ready HTML cells; the second cell of each row names it, or a cell is whole with its tags.

    With ``labels``, plain text for each column, the rows become cards on a narrow screen. The roles are spelled out
    because some browsers forget them when the layout changes. ``follow`` names what the scripts replace, ``kind`` a
    class of its own in the style sheet.
    """
    top = "".join(f'<th scope="col" role="columnheader">{head}</th>' for head in heads)
    body = "\n".join(f'<tr role="row">{_cells(row, labels or [""] * len(row))}</tr>' for row in rows)
    name = (f' id="{key}"' if key else "") + _classes("cards" if labels else "", kind)
    label = html.escape(caption)
    follower = f' data-follows="{follow}"' if follow else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"{follower}><table role="table"{name}>'
        f'<caption>{label}</caption><thead role="rowgroup"><tr role="row">{top}</tr></thead>\n'
        f'<tbody role="rowgroup">{body}</tbody></table></div>'
    )


def _classes(*names: str) -> str:
    return f' class="{" ".join(filter(None, names))}"' if any(names) else ""


def _cells(row: Sequence[Cell], labels: Sequence[str]) -> str:
    rank, name, *rest = row
    head = name if str(name).startswith("<th") else f'<th scope="row" role="rowheader">{name}</th>'
    first = f'<td role="cell">{rank}</td>{head}'
    return first + "".join(_cell(cell, label) for cell, label in zip(rest, labels[2:], strict=True))


def _cell(cell: Cell, label: str) -> str:
    """A cell, with the number that it shows in full where it is given."""
    text, value = (cell, "") if isinstance(cell, str) else (cell[0], f' data-value="{cell[1]!r}"')
    return f'<td role="cell"{_label(label)}{value}>{text}</td>'


def _label(label: str) -> str:
    return f' data-label="{html.escape(label)}"' if label else ""


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """A list of terms and what they are, from ready HTML."""
    return "<dl>" + "".join(f"<div><dt>{term}</dt><dd>{value}</dd></div>" for term, value in pairs) + "</dl>"
