"""Rows are paired by position: arguments that carry an index, as columns of pandas do, must all carry the same one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

_SCALARS = (str, bytes, int, float, complex, np.generic)


def check_same_order(**given: Any) -> None:
    """Refuse arguments whose indexes differ: their positions would pair other rows than their labels do.

    Mappings and sequences of columns are looked into, and an outcome carries the index of what it was made from.
    Indexes of different lengths are left to the errors about lengths, which say more.
    """
    row_labels(**given)


def row_labels(**given: Any) -> tuple[str, Any] | None:
    """Name and index of the first argument that carries one, once all are found to agree; None where none does."""
    if "pandas" not in sys.modules:
        return None
    found = _indexed(given.items())
    first = next(found, None)
    if first is not None:
        for other in found:
            _compare(*first, *other)
    return first


def _indexed(given: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name, values in given:
        if values is None or isinstance(values, (np.ndarray, *_SCALARS)):
            continue
        if isinstance(values, Mapping):
            yield from _indexed((f"{name}[{key!r}]", column) for key, column in values.items())
        elif isinstance(values, list | tuple):
            if values and not isinstance(values[0], _SCALARS):
                yield from _indexed((f"{name}[{place}]", column) for place, column in enumerate(values))
        elif (index := _index_of(values)) is not None:
            yield name, index
        elif isinstance(kept := getattr(values, "row_labels", None), tuple):
            yield kept


def _index_of(values: Any) -> Any:
    import narwhals as nw

    found = getattr(nw.to_native(values, pass_through=True), "index", None)
    return found if isinstance(found, sys.modules["pandas"].Index) else None


def _compare(first: str, reference: Any, name: str, index: Any) -> None:
    if index is reference or len(index) != len(reference) or index.equals(reference):
        return
    row = _first_difference(reference, index)
    labels = [each[row : row + 1].tolist()[0] for each in (reference, index)]
    where = f"first at row {row} ({labels[0]!r} and {labels[1]!r})"
    if reference.is_unique and index.is_unique and set(index.tolist()) == set(reference.tolist()):
        raise ValueError(
            f"{first} and {name} hold the same index labels in another order, {where}: align them with "
            f"{name}.loc[{first}.index], or pass {name}.to_numpy() if the rows already correspond."
        )
    raise ValueError(
        f"{first} and {name} hold different index labels, {where}: pass {name}.to_numpy() if the rows already "
        "correspond, or select the same rows of both."
    )


def _first_difference(reference: Any, index: Any) -> int:
    """The first place at which unequal indexes of one length differ, by halving: for them missing labels are equal."""
    same, different = 0, len(index)
    while different - same > 1:
        middle = (same + different) // 2
        if index[same:middle].equals(reference[same:middle]):
            same = middle
        else:
            different = middle
    return same
