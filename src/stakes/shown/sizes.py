"""How much a file may unpack to: one limit for every format, and the way to lift it."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LIFTED: ContextVar[bool] = ContextVar("LIFTED", default=False)


@contextmanager
def any_size(lifted: bool = True) -> Iterator[None]:  # noqa: FBT001, FBT002  (a switch, seldom named)
    """Read files however much they unpack to, for as long as this context lasts.

    Without it a file that unpacks to more than 100 times its size and 256 MiB is refused before it is read: gzip by
    what comes out, Parquet and Arrow by the sizes that they declare.

    Parameters
    ----------
    lifted : bool, default True
        Whether the limit is lifted; False sets it again.

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import any_size, read_predictions
    >>> with any_size():
    ...     read_predictions(resources.files("stakes") / "data" / "breast_cancer.csv", label="malignant").n_rows
    569
    """
    token = LIFTED.set(lifted)
    try:
        yield
    finally:
        LIFTED.reset(token)
