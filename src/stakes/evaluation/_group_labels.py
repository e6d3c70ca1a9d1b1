"""Which group each row belongs to: the names of the groups, and the code of each row's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.remedies import as_column
from stakes.core.validation import is_missing, to_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.options import Options
    from stakes.core.outcome import Origin

    Bools = NDArray[np.bool_]

_MOST_GROUPS = 10_000


@dataclass(frozen=True)
class Grouping:
    """Names of the groups in order, and the place among them of each row that counts; the values of all rows."""

    names: list[str]
    codes: NDArray[np.intp]
    values: NDArray[Any]

    def of_all_rows(self) -> NDArray[np.intp] | None:
        """Codes of all rows, those of no known class too; None where one is in no group."""
        distinct, codes = _coded(self.values)
        return None if any(map(is_missing, distinct.tolist())) else codes


def check_groups(options: Options, n_rows: int, origin: Origin | None = None) -> dict[str, Grouping]:
    """Group of each row that counts, by what divides them; or raise."""
    groups, weight = options.groups, options.sample_weight
    if groups is None:
        return {}
    columns = groups if isinstance(groups, Mapping) else {"group": groups}
    if not columns:
        raise ValueError("groups must name at least one column, got none.")
    present = None if weight is None else to_array(weight, "sample_weight") > 0.0
    if origin is not None:  # the outcome knows the class of some of its rows
        present = np.isin(np.arange(len(origin.score)), origin.places)
    return {str(name): _grouping(values, str(name), n_rows, present) for name, values in columns.items()}


def _grouping(values: Any, name: str, n_rows: int, present: Bools | None) -> Grouping:
    found = to_array(values, "groups")
    given = n_rows if present is None else len(present)
    if found.shape != (given,):
        wrong = as_column(values, name) if isinstance(values, str) else f"shape {found.shape} ({name})"
        raise ValueError(f"groups must have one value for each of the {given} rows, got {wrong}.")
    distinct, codes = _coded(found if present is None else found[present])
    missing = np.array([is_missing(value) for value in distinct.tolist()])
    if missing.any():
        row = int(missing[codes].argmax())
        raise ValueError(f"groups must name the group of every row, got a missing one in row {row}.")
    names, merged = group_names(distinct, name)
    return Grouping(names, merged[codes], found)


def group_names(distinct: NDArray[Any], name: str) -> tuple[list[str], NDArray[np.intp]]:
    """Names of the groups in order, and the place of each distinct value: those of several types may share a name."""
    names, merged = np.unique(distinct.astype(str), return_inverse=True)
    if len(names) > _MOST_GROUPS:
        raise ValueError(
            f"groups must name at most {_MOST_GROUPS:,} groups, got {len(names):,} ({name}): bin numbers first."
        )
    return names.tolist(), merged.reshape(-1)


def _coded(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct values, and the code of each: texts by their hashes, since to sort them is slow."""
    if values.dtype.kind not in "OUS":
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct, codes.reshape(-1)
    rows = values.tolist()
    place = {value: code for code, value in enumerate(dict.fromkeys(rows))}
    distinct = np.empty(len(place), values.dtype)
    distinct[:] = list(place)
    return distinct, np.fromiter(map(place.__getitem__, rows), np.intp, len(rows))
