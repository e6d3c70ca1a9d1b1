"""Write the page on which a file is dropped."""

from functools import partial
from pathlib import Path
from typing import Annotated

from stakes.cli import options
from stakes.cli.console import REPORT_ENDINGS, UsageError, check_target, note
from stakes.cli.options import flag

PAGE_EPILOG = "Example:  stakes page -o drop.html"

Target = Annotated[str | None, flag("--output -o", "OUT.html", "Where to write the page.")]
Example = Annotated[bool, flag("--example", "", "Open the page with the example that comes with stakes.")]


def page(
    *,
    output: Target = None,
    example: Example = False,
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Write a page on which a CSV file is dropped and evaluated in the browser; nothing leaves the machine.

    It is one file that needs neither Python nor a network: for colleagues who have only a browser, and for data that
    may not be sent anywhere.
    """
    target = check_target("--output", output, REPORT_ENDINGS)
    if target is None:
        raise UsageError("name the file to write, as in: stakes page -o drop.html")
    return partial(run_page, target, example=example)


def run_page(target: Path, *, example: bool) -> None:
    """Write the page beside its place and rename it."""
    from stakes.outputs.files import delivered
    from stakes.report import render_drop_page

    delivered(render_drop_page(example=example), target)
    note(f"page written to {target}")
