"""How far long work is: whoever does it tells, and whoever shows it listens."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Listener = Callable[[int, int], object]

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(done: int, of: int) -> None:
    """Say that so many of all parts of the work are done."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(done, of)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear of all work that is done inside."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def time_left(done: int, of: int, seconds: float) -> str:
    """Say how long the rest takes if it goes on like this; nothing where that is not known.

    Examples
    --------
    >>> time_left(1, 4, 20.0)
    'about 60 s left'
    """
    return f"about {seconds / done * (of - done):,.0f} s left" if 0 < done < of else ""
