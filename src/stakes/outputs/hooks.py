"""What is imported when it is used, the displays and reports that register here, and who listens to progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import singledispatch
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

Listener = Callable[[int, int], object]


# Two dispatch functions at which the rooms that draw and report register themselves. Importing those rooms takes time,
# so the package registers a function that imports them when the first result is shown.

_deferred: dict[str, Callable[[], object]] = {}


def defer_import(name: str, load: Callable[[], object]) -> None:
    """Store the function that imports the room that registers itself at ``draw`` or ``report``."""
    _deferred[name] = load


def _import_deferred(name: str) -> bool:
    """Import the registering room on the first call; return whether it was imported now."""
    load = _deferred.pop(name, None)
    if load is not None:
        load()
    return load is not None


@singledispatch
def draw(result: Any, *args: Any, **options: Any) -> Any:
    """Draw a result with the display that is registered for its kind."""
    if _import_deferred("draw"):
        return draw(result, *args, **options)
    raise TypeError(f"no display is registered for {type(result).__name__}.")


@singledispatch
def report(result: Any, *args: Any, **options: Any) -> Any:
    """Return the report that is registered for a kind of result, and write it where a path is given."""
    if _import_deferred("report"):
        return report(result, *args, **options)
    raise TypeError(f"no report is registered for {type(result).__name__}.")


# Narwhals takes a twentieth of the start of a command, so it is imported when the first data frame arrives.

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
else:

    class _DeferredModule(ModuleType):
        """A module that is imported when one of its names is first used."""

        def __getattr__(self, name: str) -> Any:
            found = self.__dict__[name] = getattr(import_module(self.__name__), name)
            return found

    nw = _DeferredModule("narwhals.stable.v2")


def import_optional(name: str, remedy: str) -> Any:
    """Import a module, or raise an error that says what needs it and how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(remedy) from error


# Progress of long work: computations report it, and a listener shows it.

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report_progress(done: int, of: int) -> None:
    """Report that ``done`` of ``of`` steps are complete to the listener, if there is one."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(done, of)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Context in which a listener receives the reported progress."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def time_left(done: int, of: int, seconds: float) -> str:
    """Estimate the remaining time from the elapsed time; "" if it cannot be estimated.

    Examples
    --------
    >>> time_left(1, 4, 20.0)
    'about 60 s left'
    """
    return f"about {seconds / done * (of - done):,.0f} s left" if 0 < done < of else ""
