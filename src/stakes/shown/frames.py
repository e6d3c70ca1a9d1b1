"""Tables leave the library as a data frame of the caller's library."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

_BACKENDS = ("pandas", "polars", "pyarrow")


def build_frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """Build a data frame from columns, in the named library or the first one that is installed."""
    import narwhals.stable.v2 as nw

    if backend is None:
        backend = next((name for name in _BACKENDS if find_spec(name)), None)
        if backend is None:
            raise ImportError("a table needs a data-frame library: pip install 'stakes[engines]'")
    if isinstance(backend, str):
        if backend not in _BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(_BACKENDS)}, got {backend!r}.")
        try:
            import_module(backend)
        except ImportError as error:
            raise ImportError(f"{backend} is not installed: pip install 'stakes[engines]'") from error
    elif getattr(backend, "__name__", None) not in _BACKENDS and not isinstance(backend, nw.Implementation):
        raise ValueError(f"backend must be one of {', '.join(_BACKENDS)}, got {backend!r}.")
    return nw.from_dict(columns, backend=backend).to_native()


def backend_of(*values: Any) -> Any:
    """Name the data-frame library that the first recognised value comes from, or None."""
    import narwhals.stable.v2 as nw

    for value in values:
        native = nw.from_native(value, allow_series=True, pass_through=True)
        if isinstance(native, (nw.Series, nw.DataFrame, nw.LazyFrame)):
            name = str(nw.get_native_namespace(native).__name__)
            return name if name in _BACKENDS else None
    return None
