"""The files beside this module: page, styles, scripts, words."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template

# in the order in which they build on each other
_SCRIPTS = (
    "costs",
    "table",
    "numbers",
    "chart",
    "figures",
    "ranking",
    "selection",
    "choice",
    "conclusion",
    "threshold",
    "range",
    "page",
)


def asset(name: str) -> str:
    """Text of a file of this room."""
    return resources.files("stakes.report").joinpath(name).read_text(encoding="utf-8")


def filled(name: str, **values: str) -> str:
    """A file of this room with its placeholders filled by ready HTML."""
    return Template(asset(name)).substitute(values)


@cache
def page_script() -> str:
    """The scripts of the page as one, with nothing of theirs in the names of the window."""
    parts = "\n".join(asset(f"script_{name}.js") for name in _SCRIPTS)
    # a browser reads every line end in a page as one character, and the policy's hash is taken of what it reads
    return f'(() => {{\n"use strict";\n{parts}\n}})();'.replace("\r\n", "\n").replace("\r", "\n")
