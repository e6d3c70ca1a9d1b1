"""The files beside this module (page, styles, script, words), and plotly's script."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template


def asset(name: str) -> str:
    """Text of a file of this room."""
    return resources.files("stakes.report").joinpath(name).read_text(encoding="utf-8")


def filled(name: str, **values: str) -> str:
    """A file of this room with its placeholders filled by ready HTML."""
    return Template(asset(name)).substitute(values)


@cache
def plotly_script() -> str:
    """Plotly's own script, from its wheel."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("the report needs plotly: pip install 'stakes[report]'") from None
    # a browser reads every line end in a page as one character, and the policy's hash is taken of what it reads
    return str(get_plotlyjs()).replace("\r\n", "\n").replace("\r", "\n")
