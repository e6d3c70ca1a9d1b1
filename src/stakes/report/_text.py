"""Text from outside, made harmless: names, titles and file names appear as text in HTML, in figures and in JSON."""

from __future__ import annotations

import html
import json
import unicodedata
from typing import Any

# controls, invisible formats (right-to-left overrides among them), surrogates, line and paragraph separators
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# joiners that Persian, Indic scripts and emoji need to be read
_JOINERS = {"\u200c", "\u200d"}
_NO_NAME = "(no name)"


def visible(text: str) -> str:
    r"""Write characters that hide or rearrange text as their escapes.

    Examples
    --------
    >>> print(visible("a\u202eb"))
    a\u202eb
    """
    if text.isprintable():
        return text if text.strip() else _NO_NAME
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in _JOINERS or unicodedata.category(char) not in _HIDDEN:
        return char
    return char.encode("ascii", "backslashreplace").decode() if ord(char) > 127 else repr(char)[1:-1]


def shorten(text: str, limit: int) -> str:
    """Cut the middle out of a text that is longer than the limit.

    Examples
    --------
    >>> shorten("logistic regression with density", 20)
    'logistic reg…density'
    """
    if len(text) <= limit:
        return text
    tail = (limit - 1) * 2 // 5
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def text_html(text: str, limit: int) -> str:
    """Text isolated from its neighbours, shortened; the full text is in the title attribute.

    Examples
    --------
    >>> text_html("a < b", 10)
    '<bdi>a &lt; b</bdi>'
    """
    full = visible(text)
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
