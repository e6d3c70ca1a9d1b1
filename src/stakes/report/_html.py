"""Pieces of HTML: sections, tables that scroll on a phone, figures with their legend and their words."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from stakes.report._models import REFERENCE_DASHES, swatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stakes.report._figures import Figure
    from stakes.report._models import Model

# ready HTML, or that with the number it shows
Cell = str | tuple[str, float]

# so many bands can be told apart
_FEW = 3
_BUTTONS = {"near": "Plausible range", "whole": "Whole range"}


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
) -> str:
    """A table from ready HTML cells; the second cell of each row names it, or a cell is whole with its tags.

    With ``labels``, plain text for each column, the rows become cards on a narrow screen. The roles are spelled out
    because some browsers forget them when the layout changes. ``follow`` names what the scripts replace.
    """
    top = "".join(f'<th scope="col" role="columnheader">{head}</th>' for head in heads)
    body = "\n".join(f'<tr role="row">{_cells(row, labels or [""] * len(row))}</tr>' for row in rows)
    name = (f' id="{key}"' if key else "") + (' class="cards"' if labels else "")
    label = html.escape(caption)
    follower = f' data-follows="{follow}"' if follow else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"{follower}><table role="table"{name}>'
        f'<caption>{label}</caption><thead role="rowgroup"><tr role="row">{top}</tr></thead>\n'
        f'<tbody role="rowgroup">{body}</tbody></table></div>'
    )


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


def figure_html(figure: Figure, models: Sequence[Model]) -> str:
    """A figure: legend, buttons, the drawing itself, caption."""
    below = f'<div class="plot low" id="plot-{figure.below}" aria-hidden="true"></div>' if figure.below else ""
    label = html.escape(figure.label)
    return (
        f'<figure id="figure-{figure.key}">{_legend(figure, models)}'
        f'<div class="above"><p class="axis">{html.escape(figure.axis)}</p>{_tools(figure, models)}</div>'
        f'<div class="plot" id="plot-{figure.key}" role="img" aria-label="{label}" data-label="{label}"></div>{below}'
        "<noscript><p>The figure needs JavaScript; the tables do not.</p></noscript>"
        f"<figcaption>{figure.caption}</figcaption></figure>"
    )


def _legend(figure: Figure, models: Sequence[Model]) -> str:
    items = [
        f'<label><input type="checkbox" checked data-show="{model.rank - 1}"> '
        f'<span class="rank">{model.rank}</span> {model.sample}</label>'
        for model in models
    ]
    items += [
        f'<span class="reference">{swatch("--reference", REFERENCE_DASHES[name])} {html.escape(name)}</span>'
        for name in figure.references
    ]
    return f'<fieldset class="legend"><legend>Models shown</legend>{"".join(items)}</fieldset>'


def _bands(models: Sequence[Model]) -> str:
    """Which models have their band drawn."""
    options = [("best", "best model"), *((str(model.rank - 1), html.escape(model.short)) for model in models)]
    if 1 < len(models) <= _FEW:
        options.append(("all", "every model"))
    items = "".join(f'<option value="{value}">{words}</option>' for value, words in [*options, ("none", "none")])
    return f"<label>Band of <select data-band>{items}</select></label>"


def _tools(figure: Figure, models: Sequence[Model]) -> str:
    """Whose band to draw and which range to show, if there is a choice, and to save the picture."""
    buttons = [
        f'<button type="button" data-view="{view}" aria-pressed="{pressed}">{words}</button>'
        for (view, words), pressed in zip(_BUTTONS.items(), ("true", "false"), strict=True)
    ]
    choice = f'<span role="group" aria-label="Range shown">{"".join(buttons)}</span>' if figure.near else ""
    band = _bands(models) if figure.banded else ""
    return f'<p class="tools">{band}{choice}<button type="button" data-save>Save picture</button></p>'
