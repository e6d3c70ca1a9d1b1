"""Tables as Word documents, by python-docx."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stakes.shown.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence


def write_table(path: str | Path, cells: Sequence[Sequence[str]]) -> Path:
    """Write a table of plain text, the first row as its head, numbers to the right."""
    try:
        from docx import Document
        from docx.enum.text import WD_ALIGN_PARAGRAPH
    except ImportError as error:
        raise ImportError("a Word table needs python-docx: pip install 'stakes[word]'") from error
    document, target = Document(), Path(path)
    table = document.add_table(rows=len(cells), cols=len(cells[0]), style="Light List")
    for row, texts in zip(table.rows, cells, strict=True):
        for place, (cell, text) in enumerate(zip(row.cells, texts, strict=True)):
            cell.text = text
            if place:
                cell.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.RIGHT
    with replacing(target) as partial:
        document.save(str(partial))
    return target
