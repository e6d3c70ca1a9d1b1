"""Text from outside, made harmless: what hides, moves or reorders text is written as an escape, long text is cut."""

from __future__ import annotations

import unicodedata

LONGEST_NAME = 40
NO_NAME = "(no name)"
# Controls, invisible formats (right-to-left overrides among them), surrogates, private use and unassigned code points,
# line and paragraph separators.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = {"\u200c", "\u200d"}  # Persian, Indic scripts and emoji need them to be read


def visible(text: str, *, keep: str = "") -> str:
    r"""Write every character that hides, moves or reorders text as its escape, but those to be kept.

    Examples
    --------
    >>> print(visible("a\u202eb\n"))
    a\u202eb\n
    """
    if text.isprintable():
        return text
    return "".join(char if char in keep else _shown(char) for char in text)


def _shown(char: str) -> str:
    if char in _JOINERS or unicodedata.category(char) not in _HIDDEN:
        return char
    return char.encode("ascii", "backslashreplace").decode() if ord(char) > 127 else repr(char)[1:-1]


def shorten(text: str, longest: int = LONGEST_NAME) -> str:
    """Cut the middle out of a text that is too long to read.

    Examples
    --------
    >>> shorten("logistic regression with density", 20)
    'logistic reg…density'
    """
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def shown_name(text: str, longest: int = LONGEST_NAME) -> str:
    """Return the name of a column, model or file as it may be shown; a blank one is named so."""
    return shorten(visible(text), longest) if text.strip() else NO_NAME
