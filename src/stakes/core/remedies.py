"""What was probably meant by a value that is refused: the remedy at the end of a message."""

from __future__ import annotations


def in_percent(number: float) -> str:
    """Return "; 30% is 0.3" for a share that was probably written in percent, or nothing.

    Examples
    --------
    >>> in_percent(30)
    '; 30% is 0.3'
    >>> in_percent(-1)
    ''
    """
    return f"; {number:g}% is {number / 100.0:g}" if 1.0 < number <= 100.0 else ""
