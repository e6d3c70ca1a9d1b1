"""Who draws, reports, listens to progress."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import singledispatch
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Listener = Callable[[int, int], object]


# Who draws a result and who reports it: two functions that know nobody, at which the faces register themselves.
#
# A face costs time to import, so the package only says how to import it; that is done when the first result is shown.

_awaited: dict[str, Callable[[], object]] = {}


def await_face(name: str, load: Callable[[], object]) -> None:
    """Say how to import the face that registers itself at ``draw`` or ``report``, once it is needed."""
    _awaited[name] = load


def _arrived(name: str) -> bool:
    """Import the face that is still awaited, and say whether there was one."""
    load = _awaited.pop(name, None)
    if load is not None:
        load()
    return load is not None


@singledispatch
def draw(result: Any, *args: Any, **options: Any) -> Any:
    """Draw a result with the display that is registered for its kind."""
    if _arrived("draw"):
        return draw(result, *args, **options)
    raise TypeError(f"no display is registered for {type(result).__name__}.")


@singledispatch
def report(result: Any, *args: Any, **options: Any) -> Any:
    """Return the report that is registered for a kind of result, and write it where a path is given."""
    if _arrived("report"):
        return report(result, *args, **options)
    raise TypeError(f"no report is registered for {type(result).__name__}.")


# How far long work is: whoever does it tells, and whoever shows it listens.

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
