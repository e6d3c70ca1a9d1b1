"""Markdown tables whose cells are one line of text each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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


def markdown_cell(text: str) -> str:
    r"""Return text as one line that ends no cell and opens no tag.

    Examples
    --------
    >>> print(markdown_cell("a|b <i>"))
    a\|b &lt;i>
    """
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
