"""Let a data engine work, and say in one sentence that it could not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.shown.text import shorten, visible
from stakes.tables._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    import narwhals.stable.v2 as nw


class EngineError(RuntimeError):
    """A data engine stopped in the middle of its work: its workers died, its disk is full, a file cannot be read.

    Examples
    --------
    >>> from stakes.tables import EngineError
    >>> issubclass(EngineError, RuntimeError)
    True
    """


def collected(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Take the rows of a lazy frame."""
    return _worked(frame, frame.collect)


def run(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Let the engine work, in a stream where it can, and take what it found."""
    if not frame.implementation.is_polars():
        return collected(frame)

    def stream() -> nw.DataFrame[Any]:
        try:
            return frame.collect(engine="streaming")
        except (TypeError, ValueError):  # older polars knows no streaming engine by this name
            return frame.collect()

    return _worked(frame, stream)


def _worked(frame: nw.LazyFrame[Any], work: Callable[[], nw.DataFrame[Any]]) -> nw.DataFrame[Any]:
    try:
        return work()
    except (DataError, MemoryError):
        raise
    # whatever else comes out of an engine, of which every one has errors of its own, is that it failed
    except BaseException as error:
        kind = type(error).__name__
        if kind == "InterruptException":  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from error
        if not isinstance(error, Exception) and kind != "PanicException":
            raise
        said = visible(str(error).strip().partition("\n")[0]) or kind
        raise EngineError(
            f"{frame.implementation.name.lower()} failed while it worked on the rows: {shorten(said, 300)}"
        ) from error
