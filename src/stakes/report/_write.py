"""Write the report beside its place and rename it, so that no half-written file is ever there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stakes.report._report import render_report
from stakes.shown.files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable

_ENDINGS = (".html", ".htm")


def write_report(
    evaluation: Any, path: str | Path, *, title: str | None = None, render: Callable[..., str] | None = None
) -> Path:
    """Write the report of an evaluation: one HTML file that needs no network.

    Parameters
    ----------
    evaluation : Evaluation or ActionEvaluation
        What to report.
    path : str or Path
        The file to write; one that exists is replaced once the new one is complete.
    title : str, optional
        Heading of the page.
    render : callable, optional
        Makes the page: :func:`render_report` by default, :func:`render_actions` for many actions.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    ValueError
        If the path names a folder or a device, or does not end in .html or .htm.
    FileNotFoundError
        If its folder does not exist.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stakes import evaluate
    >>> from stakes.report import write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_report(evaluate([0, 1], [0.1, 0.8]), pathlib.Path(folder) / "report.html")
    >>> written.name
    'report.html'
    """
    target = Path(path)
    _check(target)
    page = (render or render_report)(evaluation, title=title)
    with replacing(target) as partial:
        partial.write_bytes(page.encode())
    return target


def _check(target: Path) -> None:
    if target.is_dir():
        raise ValueError(f"path must name the file to write, got the folder {str(target)!r}.")
    if target.exists() and not target.is_file():
        raise ValueError(f"path must name an ordinary file, got {str(target)!r}.")
    if target.suffix.lower() not in _ENDINGS:
        raise ValueError(
            f"path must end in .html or .htm, got {str(target)!r}: it is a page, which a browser prints to PDF."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"path must lie in a folder that exists, got {str(target)!r}: there is no {str(target.parent)!r}."
        )
