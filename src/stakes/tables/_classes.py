"""Files whose models give a probability for each of many classes: one column for each class and model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import check_choice
from stakes.tables._errors import DataError, Origin
from stakes.tables._files import open_table
from stakes.tables._roles import Roles, named_once, reject_duplicates, require
from stakes.tables._rows import ON_MISSING, check_numbers, leave_out_incomplete
from stakes.tables._table import Gathered
from stakes.tables._values import as_array, encode

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stakes.tables._rows import OnMissing

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

ALONE = "model"  # the one whose columns are named by the classes and nothing else
_BETWEEN = ("_", ".", ":", "-", " ")
_ROUNDED = 0.01  # how far probabilities written with few digits may be from a sum of 1
_EXACT = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class ClassPredictions:
    """Clean rows of models that give a probability for each of many classes.

    Parameters
    ----------
    index : ndarray of int
        Place of each row's class among ``classes``.
    classes : tuple of str
        Their names.
    probs : dict of str to ndarray of shape (n, classes)
        By model; every row sums to 1.
    weight : ndarray or None
        Weights > 0.
    groups : dict of str to ndarray
        Columns that divide the rows.
    n_dropped : int
        Incomplete rows that were left out.
    n_rounded : int
        Rows whose probabilities were divided by their sum, which was 1 but for rounding.
    source : str
        Name of the file.
    """

    index: Integers
    classes: tuple[str, ...]
    probs: dict[str, Floats]
    weight: Floats | None
    groups: dict[str, NDArray[Any]]
    n_dropped: int
    n_rounded: int
    source: str

    def __repr__(self) -> str:
        return f"ClassPredictions({len(self.index)} rows, models {', '.join(map(repr, self.probs))})"


def read_class_predictions(
    path: str | os.PathLike[str],
    *,
    label: str,
    classes: Sequence[str],
    models: Sequence[str] | None = None,
    weight: str | None = None,
    groups: Sequence[str] = (),
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (the name that users of every data library know)
) -> ClassPredictions:
    r"""Read classes and their probabilities by one or many models from a file.

    Parameters
    ----------
    path : str or path
        A CSV, Parquet, Arrow or JSON lines file, or "-" for standard input.
    label : str
        Name of the column with the true classes.
    classes : sequence of str
        The classes, as the labels and the columns name them.
    models : sequence of str, optional
        A model's columns are named by it, one of ``_ . : -`` or a space, and the class: ``gbm_high``. Columns named by
        the classes alone are those of "model". By default every such set of columns that is complete.
    weight : str, optional
        Name of the column with weights >= 0.
    groups : sequence of str, optional
        Names of columns that divide the rows.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed value is missing.
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        What the file holds; by default its first bytes, then its name, tell.

    Returns
    -------
    ClassPredictions

    Raises
    ------
    DataError
        For anything in the file that cannot be evaluated, with the column, row and value.
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stakes.tables import read_class_predictions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "p.csv")
    ...     _ = file.write_text("truth,gbm_a,gbm_b,gbm_c\nb,0.2,0.5,0.3\n")
    ...     read_class_predictions(file, label="truth", classes=["a", "b", "c"]).probs["gbm"].tolist()
    [[0.2, 0.5, 0.3]]
    """
    check_choice(on_missing, "on_missing", ON_MISSING)
    table = open_table(path, format, label, survey=True)
    file = table.origin.file
    reject_duplicates(table.names, file)
    require([label, *([] if weight is None else [weight]), *groups], table.names, file)
    named_once(models or (), file)
    taken = {label, weight, *groups}
    found = _columns([name for name in table.names if name not in taken], tuple(classes), models, file)
    columns = [name for mine in found.values() for name in mine]
    numbers = dict.fromkeys([*columns, *([] if weight is None else [weight])])
    rows = Gathered.of(table, numbers, [label, *groups], None)
    roles = Roles(label, tuple(columns), weight, tuple(groups), automatic=False)
    return _clean(rows, roles, tuple(classes), found, on_missing)


def _columns(
    names: Sequence[str], classes: tuple[str, ...], models: Sequence[str] | None, file: str | None
) -> dict[str, tuple[str, ...]]:
    """Columns of each model in the order of the classes."""
    sets = _sets(names, classes)
    whole = {key: mine for key, mine in sets.items() if len(mine) == len(classes)}
    if models is None:
        part = [key for key, mine in sets.items() if 1 < len(mine) < len(classes)]
        if part or not whole:
            raise _no_columns(sets, part[0] if part else None, classes, file)
        chosen = list(whole)
    else:
        chosen = [_named(model, sets, whole, classes, file) for model in models]
    found = [model for model, _ in chosen]
    twice = next((model for model in found if found.count(model) > 1), None)
    if twice is not None:
        raise DataError(f"model {twice!r} has several sets of columns; name them alike", file=file)
    return {key[0]: tuple(whole[key][each] for each in classes) for key in chosen}


def _sets(names: Sequence[str], classes: tuple[str, ...]) -> dict[tuple[str, str], dict[str, str]]:
    """By name of a model and what stands after it: its columns by class."""
    sets: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        for each in classes:
            if name == each:
                sets.setdefault((ALONE, ""), {})[each] = name
            for between in _BETWEEN:
                model = name.removesuffix(between + each)
                if model != name and model:
                    sets.setdefault((model, between), {})[each] = name
    return sets


def _named(
    model: str,
    sets: Mapping[tuple[str, str], Mapping[str, str]],
    whole: Mapping[tuple[str, str], Any],
    classes: tuple[str, ...],
    file: str | None,
) -> tuple[str, str]:
    for key in whole:
        if key[0] == model:
            return key
    nearest = max((key for key in sets if key[0] == model), key=lambda key: len(sets[key]), default=(model, "_"))
    raise _no_columns(sets, nearest, classes, file)


def _no_columns(
    sets: Mapping[tuple[str, str], Mapping[str, str]],
    near: tuple[str, str] | None,
    classes: tuple[str, ...],
    file: str | None,
) -> DataError:
    rule = f"A model needs one column for each class, such as gbm_{classes[0]}, or {classes[0]} where there is only one"
    if near is None:
        listed = ", ".join(map(repr, classes))
        return DataError(f"no columns are named after the classes {listed}", file=file, hint=f"{rule}.")
    prefix = "" if near[1] == "" else "".join(near)
    missing = next(each for each in classes if each not in sets.get(near, {}))
    hint = f"{rule}; name the models to take with models= (command line: --models)."
    return DataError(f"model {near[0]!r} has no column {prefix + missing!r}", file=file, hint=hint)


def _clean(
    rows: Gathered, roles: Roles, classes: tuple[str, ...], found: Mapping[str, tuple[str, ...]], on_missing: OnMissing
) -> ClassPredictions:
    """Check the columns and keep the rows that count."""
    origin, weight = rows.origin, None if roles.weight is None else rows.floats(roles.weight)
    codes = {name: encode(rows.series(name)) for name in (roles.label, *roles.groups)}
    count = len(codes[roles.label][1])
    if count == 0:
        raise origin.error("there are no rows")
    keep = np.ones(count, dtype=bool) if weight is None else weight != 0.0
    if not keep.any():
        raise origin.error(f"must not be all zero, got {count} zeros", column=roles.weight)
    missing = {name: np.isnan(rows.floats(name)) for name in roles.numbers}
    missing |= {name: place < 0 for name, (_, place) in codes.items()}
    dropped = leave_out_incomplete(keep, missing, roles, origin, on_missing)
    origin, places = replace(origin, rows=np.flatnonzero(keep)), np.flatnonzero(keep)
    scores = {name: rows.floats(name)[places] for name in roles.models}
    weight = None if weight is None else weight[places]
    check_numbers(scores, weight, roles, origin)
    values, label = codes[roles.label]
    index = _index(values, label[places], classes, origin, roles.label)
    probs, rounded = {}, np.zeros(len(places), dtype=bool)
    for model, columns in found.items():
        prob = np.stack([scores[name] for name in columns], axis=1)
        probs[model], off = _summing_to_one(prob, model, origin)
        rounded |= off
    groups = {name: as_array(codes[name][0])[codes[name][1][places]] for name in roles.groups}
    return ClassPredictions(index, classes, probs, weight, groups, dropped, int(rounded.sum()), str(origin.file))


def _index(
    values: list[Any], codes: NDArray[np.int64], classes: tuple[str, ...], origin: Origin, label: str
) -> Integers:
    """Place of each label among the classes, which are named by text."""
    text = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    places = np.array([classes.index(each) if each in classes else -1 for each in text], dtype=np.intp)
    index = places[codes]
    if np.any(index < 0):
        given = [values[k] for k in codes]
        raise origin.broken(f"must be one of the classes {', '.join(classes)}", index < 0, given, column=label)
    return index


def _summing_to_one(prob: Floats, model: str, origin: Origin) -> tuple[Floats, NDArray[np.bool_]]:
    """Rows divided by their sums, and where these were 1 only but for rounding."""
    sums = prob.sum(axis=1)
    if np.any(np.abs(sums - 1.0) > _ROUNDED):
        bad = np.abs(sums - 1.0) > _ROUNDED
        raise origin.broken(f"the probabilities of model {model!r} must sum to 1 in each row", bad, np.round(sums, 6))
    return prob / sums[:, None], np.abs(sums - 1.0) > _EXACT
