"""Text from outside, made harmless: names, titles and file names appear as text in HTML, in figures and in JSON."""

from __future__ import annotations

import html
import json
from typing import Any

from stakes.shown.text import NO_NAME, shorten, visible


def named(text: str) -> str:
    r"""Write hidden characters as their escapes, and say of a blank name that it is none.

    Examples
    --------
    >>> print(named("a\u202eb"), named(" "))
    a\u202eb (no name)
    """
    return visible(text) if text.strip() else NO_NAME


def text_html(text: str, limit: int) -> str:
    """Text isolated from its neighbours, shortened; the full text is in the title attribute.

    Examples
    --------
    >>> text_html("a < b", 10)
    '<bdi>a &lt; b</bdi>'
    """
    full = named(text)
    return isolated(full, shorten(full, limit))


def isolated(full: str, short: str) -> str:
    """HTML of a visible text by its short form."""
    title = "" if short == full else f' title="{html.escape(full)}"'
    # a narrow column may break a name after an underscore
    return f"<bdi{title}>{html.escape(short).replace('_', '_<wbr>')}</bdi>"


def json_for_script(value: Any) -> str:
    r"""JSON that cannot end the script element it stands in.

    Examples
    --------
    >>> print(json_for_script("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
