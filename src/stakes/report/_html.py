"""Pieces of HTML: sections, tables that scroll on a phone, figures with their legend and their words."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from stakes.report._models import swatch
from stakes.report._spec import REFERENCE_DASHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.report._models import Model
    from stakes.report._spec import Figure

_BUTTONS = {"plausible": "Plausible range", "whole": "Whole range"}


def section(key: str, heading: str, body: str) -> str:
    """A section of the page with its heading."""
    return f'<section id="{key}" aria-labelledby="{key}-h"><h2 id="{key}-h">{heading}</h2>\n{body}\n</section>'


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, key: str = "", labels: Sequence[str] = ()
) -> str:
    """A table from ready HTML cells; the second cell of each row names it.

    With ``labels``, plain text for each column, the rows become cards on a narrow screen. The roles are spelled out
    because some browsers forget them when the layout changes.
    """
    top = "".join(f'<th scope="col" role="columnheader">{head}</th>' for head in heads)
    body = "\n".join(f'<tr role="row">{_cells(row, labels or [""] * len(row))}</tr>' for row in rows)
    name = (f' id="{key}"' if key else "") + (' class="cards"' if labels else "")
    label = html.escape(caption)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table role="table"{name}>'
        f'<caption>{label}</caption><thead role="rowgroup"><tr role="row">{top}</tr></thead>\n'
        f'<tbody role="rowgroup">{body}</tbody></table></div>'
    )


def _cells(row: Sequence[str], labels: Sequence[str]) -> str:
    rank, name, *rest = row
    first = f'<td role="cell">{rank}</td><th scope="row" role="rowheader">{name}</th>'
    return first + "".join(
        f'<td role="cell"{_label(label)}>{cell}</td>' for cell, label in zip(rest, labels[2:], strict=True)
    )


def _label(label: str) -> str:
    return f' data-label="{html.escape(label)}"' if label else ""


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """A list of terms and what they are, from ready HTML."""
    return "<dl>" + "".join(f"<div><dt>{term}</dt><dd>{value}</dd></div>" for term, value in pairs) + "</dl>"


def figure_html(figure: Figure, models: Sequence[Model]) -> str:
    """A figure: legend, buttons, the drawing itself, caption and numbers."""
    if figure.spec is None:
        return f'<div class="no-figure">{figure.caption}</div>{figure.numbers}'
    numbers = (
        f"<details><summary>The numbers of this figure</summary>{figure.numbers}</details>" if figure.numbers else ""
    )
    return (
        f'<figure id="figure-{figure.key}">{_legend(figure, models)}'
        f'<div class="above"><p class="axis">{html.escape(figure.axis)}</p>{_tools(list(figure.spec["views"]))}</div>'
        f'<div class="plot" id="plot-{figure.key}" data-figure="{figure.key}" role="img" '
        f'aria-label="{html.escape(figure.label)}"></div>'
        "<noscript><p>The figure needs JavaScript; the tables do not.</p></noscript>"
        f"<figcaption>{figure.caption}</figcaption></figure>{numbers}"
    )


def _legend(figure: Figure, models: Sequence[Model]) -> str:
    items = [
        f'<label><input type="checkbox" checked data-model="{model.rank}"> '
        f'<span class="rank">{model.rank}</span> {model.sample}</label>'
        for model in models
    ]
    items += [
        f'<span class="reference">{swatch("--reference", REFERENCE_DASHES[name])} {html.escape(name)}</span>'
        for name in figure.references
    ]
    return f'<fieldset class="legend"><legend>Models shown</legend>{"".join(items)}</fieldset>'


def _tools(views: Sequence[str]) -> str:
    """Buttons: which range to show, if there is a choice, and to save the picture."""
    buttons = [
        f'<button type="button" data-view="{view}" aria-pressed="{"false" if k else "true"}">{_BUTTONS[view]}</button>'
        for k, view in enumerate(views)
    ]
    choice = f'<span role="group" aria-label="Range shown">{"".join(buttons)}</span>' if len(buttons) > 1 else ""
    return f'<p class="tools">{choice}<button type="button" data-save>Save picture</button></p>'
