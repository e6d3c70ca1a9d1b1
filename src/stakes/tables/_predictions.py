"""Rows of predictions from data frames and files, scores without labels, and copies of files with new columns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from stakes.base.formulas import is_nan
from stakes.base.multiclass import are_complements
from stakes.base.outcome import Outcome, OutcomeFromColumns
from stakes.base.validation import (
    SQUARED_WELL,
    TO_SCALE,
    WEIGHT_RULE,
    Bools,
    Floats,
    Integers,
    check_choice,
    match_label,
    plain_label,
)
from stakes.outputs.hooks import nw
from stakes.outputs.result_table import backend_of
from stakes.outputs.serialization import DataError, Location
from stakes.tables._columnar_files import TITLES, TypedFile
from stakes.tables._columns import (
    NAME_MODELS,
    Gathered,
    Numbers,
    Piece,
    Roles,
    Table,
    as_array,
    as_tuple,
    check_flat,
    choose_roles,
    collected,
    encode,
    encode_labels,
    named_once,
    positive_labels,
    refuse_hidden,
    refuse_patterns,
    reject_duplicates,
    require,
)
from stakes.tables._text_files import ENDINGS, Content, CsvFile, JsonFile

if TYPE_CHECKING:
    import polars as pl

    Added = tuple[Sequence[pl.Series], NDArray[np.bool_] | None]


# Rows for comparisons of models: labels, scores of every model, weights and groups.

OnMissing = Literal["raise", "drop"]
ON_MISSING = ("raise", "drop")
PROBABILITY_HINT = "Pass the probability of the positive class."
INCOMPLETE_HINT = 'on_missing="drop" (command line: --on-missing drop) leaves incomplete rows out.'


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Clean rows of one or many models, as comparisons need them.

    Parameters
    ----------
    y : ndarray of bool
        True for the positive class.
    models : tuple of str
        Names of the models.
    scores : tuple of ndarray
        Scores in [0, 1] of each model.
    weight : ndarray or None
        Weights > 0, or None where all count one.
    groups : dict of str to ndarray, or None
        Columns that say which group each row belongs to.
    n_rows : int
        Number of rows kept.
    n_dropped : int
        Number of incomplete rows dropped (rows of weight zero are not counted here).
    backend : str or None
        Data-frame library that the rows came from.
    source : str or None
        Name of the file that the rows came from.
    rows : ndarray of int, or None
        Places of the kept rows, from 0, or None where all were kept.
    outcome : Outcome or None
        What happened to the rows, where columns beside the label say that.
    neg_label : str, int, float or None
        The label beside the positive one, if a row has it and no outcome was asked for.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import frame_columns
    >>> frame = pl.DataFrame({"cancer": [0, 1], "a": [0.1, 0.8], "b": [0.2, 0.6]})
    >>> frame_columns(frame, label="cancer").models
    ('a', 'b')
    """

    y: Bools
    models: tuple[str, ...]
    scores: tuple[Floats, ...]
    weight: Floats | None
    groups: dict[str, NDArray[Any]] | None
    n_rows: int
    n_dropped: int
    backend: str | None = None
    source: str | None = None
    rows: NDArray[np.intp] | None = None
    outcome: Outcome | None = None
    neg_label: str | float | None = None

    def __repr__(self) -> str:
        return f"Predictions({self.n_rows} rows, models {', '.join(map(repr, self.models))})"


def frame_columns(
    frame: Any,
    *,
    label: str,
    models: Iterable[str] | None = None,
    weight: str | None = None,
    groups: Iterable[str] | None = None,
    pos_label: object = None,
    on_missing: OnMissing = "raise",
    outcome: OutcomeFromColumns | None = None,
) -> Predictions:
    """Take labels and scores of one or many models from a data frame.

    Parameters
    ----------
    frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
        Anything narwhals understands; of a lazy frame only the needed columns are collected.
    label : str
        Name of the column with the labels.
    models : iterable of str, optional
        Names of the columns with the models' probabilities; by default every other numeric column that has a name, if
        they are 100 at most.
    weight : str, optional
        Name of the column with weights >= 0; a row of weight zero is as if absent.
    groups : iterable of str, optional
        Names of the columns that divide the rows into groups.
    pos_label : object, optional
        The label of the positive class.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed value is missing.
    outcome : OutcomeColumns, optional
        Which columns say what happened beside the label; see :class:`stakes.outcomes.OutcomeColumns`.

    Returns
    -------
    Predictions

    Raises
    ------
    DataError
        For missing or duplicate columns, missing or out-of-range values, or labels with more than two values.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import frame_columns
    >>> frame = pl.DataFrame({"cancer": ["no", "yes", "no"], "a": [0.1, 0.8, None]})
    >>> rows = frame_columns(frame, label="cancer", pos_label="yes", on_missing="drop")
    >>> rows.y.tolist(), rows.n_dropped
    ([False, True], 1)
    """
    native = from_native(frame)
    roles = model_columns(native, label=label, models=models, weight=weight, groups=groups, outcome=outcome)
    ordered = not isinstance(native, nw.LazyFrame) or native.implementation.is_polars()
    eager = collected(native.select(*roles.used)) if isinstance(native, nw.LazyFrame) else native[list(roles.used)]
    rows = Gathered.from_frame(eager, roles, Location(ordered=ordered))
    return clean_rows(rows, roles, pos_label=pos_label, on_missing=on_missing, backend=backend_of(frame))


def model_columns(
    frame: Any,
    *,
    label: str,
    models: Iterable[str] | None,
    weight: str | None,
    groups: Iterable[str] | None,
    outcome: OutcomeFromColumns | None = None,
) -> Roles:
    """Return which columns of a frame are models, as in :func:`frame_columns`, and the roles of the others."""
    native = from_native(frame)
    numeric = [name for name, dtype in native.collect_schema().items() if dtype.is_numeric()]
    asked: dict[str, Any] = {"label": label, "models": models, "weight": weight, "groups": groups, "outcome": outcome}
    return roles_in(native, numeric, **asked)


def roles_in(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], numeric: Collection[str] = (), **asked: Any) -> Roles:
    """Assign roles to the columns of a frame, whose engine must not read a name as a pattern."""
    roles = choose_roles(column_names(frame), numeric, **asked)
    if isinstance(frame, nw.LazyFrame):
        refuse_patterns(roles.used, frame.implementation.name.lower())
    if frame.implementation.is_duckdb():
        refuse_hidden(roles.used, column_names(frame))
    return roles


def complete_rows(frame: nw.LazyFrame[Any], roles: Roles, on_missing: OnMissing) -> tuple[nw.LazyFrame[Any], int]:
    """Drop incomplete rows of a lazy frame on request, and count those of positive weight."""
    if check_choice(on_missing, "on_missing", ON_MISSING) == "raise":
        return frame, 0
    schema, missing = frame.collect_schema(), nw.lit(value=False)
    for name in roles.used:
        missing = missing | is_missing(nw.col(name), schema[name])
    incomplete = missing if roles.weight is None else missing & ~(nw.col(roles.weight).fill_null(1.0) == 0.0)
    count = collected(frame.select(nw.when(incomplete).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias("count")))
    return frame.filter(~missing), int(count["count"][0] or 0)


def is_missing(value: nw.Expr, kind: Any) -> nw.Expr:
    """Build the expression that is true for missing values, NaN included."""
    return value.is_null() | is_nan(value) if kind.is_float() else value.is_null()


def from_native(frame: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Wrap a frame of any supported library, its column names checked to be distinct."""
    try:
        native: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(frame)
    except TypeError:
        raise ValueError(f"frame must be a data frame, got {type(frame).__name__}.") from None
    except nw.exceptions.DuplicateError:
        reject_duplicates(getattr(frame, "column_names", None) or list(frame.columns))
        raise
    reject_duplicates(column_names(native))
    return native


def column_names(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> list[str]:
    """Return the column names, including duplicates, which DuckDB relations allow."""
    return list(frame.columns) if frame.implementation.is_duckdb() else frame.collect_schema().names()


def clean_rows(
    columns: Gathered,
    roles: Roles,
    *,
    pos_label: object = None,
    on_missing: OnMissing = "raise",
    backend: str | None = None,
) -> Predictions:
    """Check the columns and keep the rows of positive weight."""
    check_choice(on_missing, "on_missing", ON_MISSING)
    numbers, origin = dict(columns.numbers), columns.origin
    weight = None if roles.weight is None else numbers.pop(roles.weight)
    for name, series in columns.others.items():
        check_flat(name, series.dtype, origin)
    codes = {name: encode(columns.others[name]) for name in roles.groups}
    codes[roles.label] = encode_labels(columns.others[roles.label], origin)
    missing = {name: np.isnan(values) for name, values in numbers.items()}
    missing |= {name: found < 0 for name, (_, found) in codes.items()}
    if roles.outcome is not None and roles.outcome.partly:
        missing[roles.label] = np.zeros(len(missing[roles.label]), dtype=bool)
    if weight is not None and roles.weight is not None:
        missing[roles.weight] = np.isnan(weight)
    missing = {name: missing[name] for name in roles.used}
    keep, n_dropped = complete(missing, weight, roles, origin, on_missing)
    if not keep.all():
        origin = replace(origin, rows=np.flatnonzero(keep))
        numbers = {name: values[keep] for name, values in numbers.items()}
        codes = {name: (values, found[keep]) for name, (values, found) in codes.items()}
        weight = None if weight is None else weight[keep]

    scores = {name: numbers.pop(name) for name in roles.models}
    check_numbers(scores, weight, roles, origin)
    refuse_both_classes(scores, roles, origin)
    by = {name: as_array(codes[name][0])[codes[name][1]] for name in roles.groups}
    outcome = _outcome(roles, origin, codes[roles.label], numbers | by, (weight, pos_label))
    y = positive_labels(*codes[roles.label], pos_label, origin, roles.label) if outcome is None else outcome.y
    values, places = codes[roles.label]
    other = None if outcome is not None or y.all() else plain_label(values[places[np.argmin(y)]])
    kept = (backend, origin.file, origin.rows, outcome, other)
    return Predictions(y, roles.models, tuple(scores.values()), weight, by or None, len(y), n_dropped, *kept)


def _outcome(
    roles: Roles,
    origin: Location,
    label: tuple[list[Any], NDArray[np.signedinteger[Any]]],
    cells: dict[str, NDArray[Any]],
    given: tuple[Floats | None, object],
) -> Outcome | None:
    """Build the outcome from further columns; invalid values are a ``DataError``."""
    if roles.outcome is None:
        return None
    for name, least in roles.measured.items():
        bad = ~(np.isfinite(cells[name]) & (cells[name] >= least))
        if bad.any():
            rule = "must be finite" if least == -np.inf else f"must be finite and >= {least:g}"
            raise origin.broken(rule, bad, cells[name], column=name)
    values, places = label
    told = as_array(values)[places] if places.min() >= 0 else np.array([*values, None], dtype=object)[places]
    try:
        return roles.outcome.made(told, cells, given[0], match_label(given[1], values))
    except ValueError as error:
        raise origin.of_arrays(error) from None


def complete(
    missing: dict[str, Bools], weight: Floats | None, roles: Roles, origin: Location, on_missing: OnMissing
) -> tuple[Bools, int]:
    """Mark the complete rows of nonzero weight and count the incomplete ones, or raise at the first one."""
    absent = np.logical_or.reduce(list(missing.values()))
    if not len(absent):
        raise origin.error("there are no rows")
    keep = np.ones(len(absent), dtype=bool) if weight is None else weight != 0.0
    if not keep.any():
        raise origin.error(f"must not be all zero, got {len(keep)} zeros", column=roles.weight)
    incomplete = absent & keep
    count = int(np.count_nonzero(incomplete))
    if not count:
        return keep, 0
    first = int(np.argmax(incomplete))
    column = next(name for name, mask in missing.items() if mask[first])
    if on_missing == "raise" or count == np.count_nonzero(keep):
        hint = INCOMPLETE_HINT
        if on_missing == "drop":
            hint = "No complete row is left."
        if column in roles.models and roles.hint:
            hint = f"{hint} {roles.hint}"
        raise origin.error("must not be missing", column=column, row=first, count=count, total=len(keep), hint=hint)
    return keep & ~incomplete, count


def check_numbers(scores: dict[str, Floats], weight: Floats | None, roles: Roles, origin: Location) -> None:
    if weight is not None:
        bad = ~((weight > 0.0) & (weight < np.inf))
        if bad.any():
            raise origin.broken("must be finite and >= 0", bad, weight, column=roles.weight)
        extreme = (weight < SQUARED_WELL[0]) | (weight > SQUARED_WELL[1])
        if extreme.any():
            hint = f"{TO_SCALE.capitalize()}."
            raise origin.broken(WEIGHT_RULE, extreme, weight, column=roles.weight, hint=hint)
    for name, score in scores.items():
        if not roles.probability:
            if not np.all(np.isfinite(score)):
                raise origin.broken("must be finite", ~np.isfinite(score), score, column=name)
        elif score.min() < 0.0 or score.max() > 1.0:
            bad = (score < 0.0) | (score > 1.0)
            hint = roles.hint or PROBABILITY_HINT
            if score.min() >= 0.0 and 2.0 <= score.max() <= 100.0:
                hint += " If they are percentages, divide by 100."
            raise origin.broken("must lie in [0, 1]", bad, score, column=name, hint=hint)


def refuse_both_classes(scores: dict[str, Floats], roles: Roles, origin: Location) -> None:
    """Refuse two columns that nobody named and that are both classes of one model's predict_proba."""
    if roles.automatic and roles.probability and are_complements(list(scores.values())):
        one, other = scores
        rule = f"{one!r} and {other!r} add up to 1, as both classes of one model's predict_proba do"
        raise origin.error(rule, hint=NAME_MODELS)


# Files of predictions: CSV, Parquet, Arrow and JSON lines, from a path or from standard input.


def open_table(path: str | os.PathLike[str], stated: str | None, wanted: str, *, survey: bool = False) -> Table:
    """Open a file of rows in a stated or detected format; the name of one column helps the detection.

    A survey learns the names of columns that first appear in late rows.
    """
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must name a file, got {type(path).__name__}: frame_columns takes data frames.")
    if not find_spec("polars"):
        raise ImportError("reading files needs polars: pip install 'stakes[cli]'")
    content = Content.of(path)
    kind = content.kind(stated)
    if kind == "csv":
        return CsvFile.open(content, wanted)
    if kind != "jsonl":
        return TypedFile(content, kind)
    found = JsonFile(content)
    if survey:
        found.survey()
    return found


def read_predictions(
    path: str | os.PathLike[str],
    *,
    label: str,
    models: Iterable[str] | None = None,
    weight: str | None = None,
    groups: Iterable[str] | None = None,
    pos_label: object = None,
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (the name that users of every data library know)
    probability: bool = True,
    outcome: OutcomeFromColumns | None = None,
) -> Predictions:
    """Read labels and scores of one or many models from a file.

    Parameters
    ----------
    path : str or path
        A CSV (.csv, .tsv, .csv.gz; separated by commas, semicolons or tabs), Parquet, Arrow or JSON lines file,
        or "-" for standard input.
    label : str
        Name of the column with the labels.
    models : iterable of str, optional
        Names of the columns with the models' probabilities; by default every other numeric column that has a name, if
        they are 100 at most.
        In a CSV or JSON lines file a column is numeric if most of its first 1,000 values are.
    weight : str, optional
        Name of the column with weights >= 0; a row of weight zero is as if absent.
    groups : iterable of str, optional
        Names of the columns that divide the rows into groups.
    pos_label : object, optional
        The label of the positive class; text is matched to numeric labels by value.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed value is missing (empty, null, NA, N/A or NaN).
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        What the file holds; by default its first bytes, then its name, tell.
    probability : bool, default True
        Whether the models' columns must lie in [0, 1]; otherwise any finite numbers will do.
    outcome : OutcomeColumns, optional
        Which columns say what happened beside the label; see :class:`stakes.outcomes.OutcomeColumns`.

    Returns
    -------
    Predictions

    Raises
    ------
    DataError
        For anything in the file that cannot be evaluated, with the column, row and value.
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import read_predictions
    >>> rows = read_predictions(resources.files("stakes") / "data" / "breast_cancer.csv", label="malignant")
    >>> rows.n_rows, rows.models
    (569, ('logistic_regression', 'random_forest', 'naive_bayes'))
    """
    check_choice(on_missing, "on_missing", ON_MISSING)
    models = None if models is None else as_tuple(models)
    by = as_tuple(groups)
    wanted = {label, *(models or ()), *by, *(() if weight is None else (weight,))}
    wanted |= set() if outcome is None else {*outcome.numbers, *outcome.groups}
    table = open_table(path, format, label, survey=models is None)
    if isinstance(table, JsonFile) and not wanted <= set(table.names):
        table.survey()
    asked: dict[str, Any] = {"label": label, "models": models, "weight": weight, "groups": by, "outcome": outcome}
    roles = choose_roles(table.names, table.numeric, file=table.origin.file, probability=probability, **asked)
    rows = Gathered.of(table, roles.hints, roles.groups, label)
    return clean_rows(rows, roles, pos_label=pos_label, on_missing=on_missing)


# Files whose models give a probability for each of many classes: one column for each class and model.

ALONE = "model"  # the model whose columns are named by the classes alone
_BETWEEN = ("_", ".", ":", "-", " ")
_Sets = dict[tuple[str, str], dict[str, str]]  # columns by class, by model and what stands between the two
_ROUNDED = 0.01  # tolerance for sums of probabilities written with few digits
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
    """Return the columns of each model in the order of the classes."""
    sets = _sets(names, classes)
    whole = {key: mine for key, mine in sets.items() if len(mine) == len(classes)}
    if models is None:
        part = [key for key, mine in sets.items() if 1 < len(mine) < len(classes)]
        if part or not whole:
            raise _no_columns(sets, part[0] if part else None, classes, file)
        chosen = list(whole)
    else:
        chosen = []
        for model in models:
            mine = [key for key in sets if key[0] == model]
            named = [key for key in mine if key in whole]
            chosen += named
            if not named:
                nearest = max(mine, key=lambda key: len(sets[key]), default=(model, "_"))
                raise _no_columns(sets, nearest, classes, file)
    found = [model for model, _ in chosen]
    twice = next((model for model in found if found.count(model) > 1), None)
    if twice is not None:
        raise DataError(f"model {twice!r} has several sets of columns; name them alike", file=file)
    return {key[0]: tuple(whole[key][each] for each in classes) for key in chosen}


def _sets(names: Sequence[str], classes: tuple[str, ...]) -> _Sets:
    """Group columns by model prefix and suffix: its columns by class."""
    sets: _Sets = {}
    for name in names:
        for each in classes:
            if name == each:
                sets.setdefault((ALONE, ""), {})[each] = name
            for between in _BETWEEN:
                model = name.removesuffix(between + each)
                if model != name and model:
                    sets.setdefault((model, between), {})[each] = name
    return sets


def _no_columns(sets: _Sets, near: tuple[str, str] | None, classes: tuple[str, ...], file: str | None) -> DataError:
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
    """Check the columns and keep the rows of positive weight."""
    origin, weight = rows.origin, None if roles.weight is None else rows.numbers[roles.weight]
    codes = {name: encode(rows.others[name]) for name in (roles.label, *roles.groups)}
    missing = {name: np.isnan(rows.numbers[name]) for name in roles.numbers}
    missing |= {name: place < 0 for name, (_, place) in codes.items()}
    keep, dropped = complete(missing, weight, roles, origin, on_missing)
    places = np.flatnonzero(keep)
    origin = replace(origin, rows=places)
    scores = {name: rows.numbers[name][places] for name in roles.models}
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
    values: list[Any], codes: NDArray[np.int64], classes: tuple[str, ...], origin: Location, label: str
) -> Integers:
    """Return the index of each label among the classes, compared as text."""
    text = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    places = np.array([classes.index(each) if each in classes else -1 for each in text], dtype=np.intp)
    index = places[codes]
    if np.any(index < 0):
        given = [values[k] for k in codes]
        raise origin.broken(f"must be one of the classes {', '.join(classes)}", index < 0, given, column=label)
    return index


def _summing_to_one(prob: Floats, model: str, origin: Location) -> tuple[Floats, NDArray[np.bool_]]:
    """Divide rows by their sums; also mark the rows whose sums were 1 only up to rounding."""
    sums = prob.sum(axis=1)
    if np.any(np.abs(sums - 1.0) > _ROUNDED):
        bad = np.abs(sums - 1.0) > _ROUNDED
        raise origin.broken(f"the probabilities of model {model!r} must sum to 1 in each row", bad, np.round(sums, 6))
    return prob / sums[:, None], np.abs(sums - 1.0) > _EXACT


# Copies of files of rows with new columns: records are unchanged, or the copy is refused with a reason.

_SINKS = {"csv": "csv", "parquet": "parquet", "arrow": "ipc", "jsonl": "ndjson"}
_ERRNO = re.compile(r"\(os error (\d+)\)")


def write_rows(
    table: Table, target: Path, add: Callable[[Piece], Added], needed: Sequence[str], new: Mapping[str, Any]
) -> None:
    """Copy a file in the format of the target's suffix, with new columns of these types.

    ``add`` gets pieces in order, with at least the columns needed.
    """
    kind = _kind(target)
    if kind != table.kind or kind not in {"csv", "jsonl"}:
        _sink(table, target, add, table.schema(needed), new)
        return
    with target.open("w", encoding="utf-8", newline="") as stream:
        stream.write(table.head(list(new)))
        for piece in table.pieces(needed, needed):
            series, keep = add(piece)
            assert piece.extended is not None  # noqa: S101  (both formats are text)
            stream.write(piece.extended(series, keep))


def _kind(target: Path) -> str:
    return next(kind for kind, endings in ENDINGS.items() if target.suffix.lower() in endings)


def _sink(
    table: Table, target: Path, add: Callable[[Piece], Added], schema: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    """Write piece by piece with the engine."""
    import polars as pl

    kind = _kind(target)
    never = {"csv": {"Binary", "Object"}, "jsonl": {"Binary", "Object", "Decimal", "Duration"}}.get(kind, {"Object"})
    for name, dtype in schema.items():
        if str(dtype.base_type()) in never or (kind == "csv" and dtype.is_nested()):
            raise table.origin.error(f"cannot stand in a {TITLES[kind]} file, its type is {dtype}", column=name)

    def frames(*_: Any) -> Iterator[pl.DataFrame]:
        row = 0
        for piece, frame in table.frames(schema):
            if kind == "jsonl":
                _check_finite(frame, row, table.origin)
            series, keep = add(piece)
            row += piece.n_rows
            extended = frame.with_columns(series)
            yield extended if keep is None else extended.filter(pl.Series(keep))

    try:
        _run(frames, {**schema, **new}, _SINKS[kind], target)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).strip().partition("\n")[0]
        if number := _ERRNO.search(reason):  # the disk is full, or gone
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from None
        raise table.origin.error(f"cannot be written as {TITLES[kind]}: {reason}") from None


def _run(frames: Callable[..., Iterator[pl.DataFrame]], schema: dict[str, Any], form: str, target: Path) -> None:
    import polars as pl

    # given a path, a thread of the engine might open it only after the copy has failed
    with target.open("wb") as stream:
        try:
            from polars.io.plugins import register_io_source

            getattr(register_io_source(frames, schema=schema), f"sink_{form}")(stream)
        except (ImportError, AttributeError, TypeError, pl.exceptions.InvalidOperationError):  # older polars
            getattr(pl.concat(frames()), f"write_{form}")(stream)


def _check_finite(frame: pl.DataFrame, row: int, origin: Location) -> None:
    """Refuse infinite numbers and NaN, which JSON cannot represent."""
    for series in frame:
        bad = _not_finite(series)
        if bad is not None and bad.any():
            first = bad.arg_max() or 0
            value = series[first : first + 1].to_list()[0]
            rule = "must be finite to stand in a JSON lines file"
            raise origin.error(rule, column=series.name, row=row + first, value=value)


def _not_finite(series: pl.Series) -> pl.Series | None:
    """Mark the rows with numbers that are not finite, also within lists and records."""
    import polars as pl

    if series.dtype.is_float():
        return (~series.is_finite()).fill_null(value=False)
    if isinstance(series.dtype, pl.Struct):
        parts = map(_not_finite, series.struct.unnest().get_columns())
        return next((found for found in parts if found is not None and found.any()), None)
    if not series.dtype.is_nested():
        return None
    lists = series.arr.to_list() if isinstance(series.dtype, pl.Array) else series
    # polars 1.0 gives missing arrays a length
    lengths = np.where(lists.is_null().to_numpy(), 0, lists.list.len().fill_null(0).to_numpy())
    inner = _not_finite(lists.filter(pl.Series(lengths > 0)).explode())
    if inner is None:
        return None
    rows = np.repeat(np.arange(len(lists)), lengths)
    return pl.Series(np.bincount(rows, inner.to_numpy(), len(lists)) > 0.0)


# Files with scores and without labels, copied with the values computed for each row.


@dataclass(frozen=True, eq=False, repr=False)
class ScoredFile:
    """Scores of the complete rows of a file, and the file itself.

    Parameters
    ----------
    models : tuple of str
        Names of the columns with scores.
    scores : tuple of ndarray
        Scores in [0, 1] of each model, complete rows only.
    groups : dict of str to ndarray
        Columns that say which group each complete row belongs to.
    rows : ndarray of int
        Places of the complete rows in the file.
    n_dropped : int
        Number of incomplete rows.
    source : str
        Name of the file.
    endings : tuple of str
        How the name of a file of this format may end.
    numbers : dict of str to ndarray
        Further columns of numbers, complete rows only.

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import read_scores
    >>> path = resources.files("stakes") / "data" / "breast_cancer.csv"
    >>> read_scores(path, models=["naive_bayes"])
    ScoredFile(569 rows, models 'naive_bayes')
    """

    models: tuple[str, ...]
    scores: tuple[Floats, ...]
    groups: dict[str, NDArray[Any]]
    rows: NDArray[np.intp]
    n_dropped: int
    source: str
    endings: tuple[str, ...]
    numbers: dict[str, Floats]
    _table: Table

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return list(self._table.names)

    def write(self, path: str | os.PathLike[str], columns: Mapping[str, NDArray[np.int64] | Floats]) -> None:
        """Copy the file with more columns at its end.

        Parameters
        ----------
        path : str or path
            Where to.
        columns : mapping of str to ndarray
            One value for each complete row; the others get a missing value, as nan does.
        """
        import polars as pl

        n_rows, start = len(self.rows) + self.n_dropped, 0
        whole, kinds = [], {}
        for name, values in columns.items():
            kinds[name] = pl.Float64 if values.dtype.kind == "f" else pl.Int64
            full, missing = np.zeros(n_rows, dtype=values.dtype), np.ones(n_rows, dtype=bool)
            full[self.rows], missing[self.rows] = values, np.isnan(values)
            whole.append(pl.Series(name, full).set(pl.Series(missing), None))

        def add(piece: Piece) -> Added:
            nonlocal start
            start += piece.n_rows
            return [series.slice(start - piece.n_rows, piece.n_rows) for series in whole], None

        write_rows(self._table, Path(path), add, (), kinds)

    def __repr__(self) -> str:
        return f"ScoredFile({len(self.rows)} rows, models {', '.join(map(repr, self.models))})"


def read_scores(
    path: str | os.PathLike[str],
    *,
    models: Iterable[str],
    groups: Iterable[str] = (),
    numbers: Iterable[str] = (),
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (the name that users of every data library know)
) -> ScoredFile:
    """Read the scores of one or many models from a file that needs no labels.

    Parameters
    ----------
    path : str or path
        A CSV, Parquet, Arrow or JSON lines file, or "-" for standard input.
    models : iterable of str
        Names of the columns with the models' probabilities.
    groups : iterable of str, optional
        Names of the columns that divide the rows into groups.
    numbers : iterable of str, optional
        Names of further columns, of any finite numbers.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed value is missing; "drop" leaves them in the file.
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        What the file holds; by default its first bytes, then its name, tell.

    Returns
    -------
    ScoredFile

    Raises
    ------
    DataError
        For anything in the file that cannot be used, with the column, row and value.
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import read_scores
    >>> path = resources.files("stakes") / "data" / "breast_cancer.csv"
    >>> read_scores(path, models=["naive_bayes", "random_forest"]).scores[1][:2].tolist()
    [0.818, 0.984]
    """
    check_choice(on_missing, "on_missing", ON_MISSING)
    wanted, by, further = tuple(models), tuple(groups), tuple(numbers)
    table = _open(path, format, [*wanted, *by, *further])
    found = Gathered.of(table, dict.fromkeys([*wanted, *further]), by, None)
    origin, roles = found.origin, Roles("", wanted, None, by, automatic=False)  # there is no label
    codes = {name: encode(found.others[name]) for name in by}
    missing = {name: np.isnan(found.numbers[name]) for name in (*wanted, *further)}
    missing |= {name: values < 0 for name, (_, values) in codes.items()}
    keep, dropped = complete(missing, None, roles, origin, on_missing)
    rows = np.flatnonzero(keep)
    kept = {name: found.numbers[name][rows] for name in wanted}
    check_numbers(kept, None, roles, replace(origin, rows=rows))
    others = {name: found.numbers[name][rows] for name in further}
    check_numbers(others, None, replace(roles, probability=False), replace(origin, rows=rows))
    in_groups = {name: as_array(values)[places[rows]] for name, (values, places) in codes.items()}
    return ScoredFile(
        wanted, tuple(kept.values()), in_groups, rows, dropped, str(origin.file), ENDINGS[table.kind], others, table
    )


def _open(path: str | os.PathLike[str], stated: str | None, columns: Sequence[str]) -> Table:
    table = open_table(path, stated, columns[0], survey=True)
    named_once(columns, table.origin.file, "in all: as a model, a group, a weight or an amount")
    require(columns, table.names, table.origin.file)
    return table


@dataclass(frozen=True, eq=False, repr=False)
class Copied:
    """Counts of the rows read, and the target if one was written.

    Parameters
    ----------
    source : str
        Name of the file read.
    n_rows, n_incomplete : int
        Rows of the file, and those of them in which a needed number is missing.
    """

    source: str
    n_rows: int
    n_incomplete: int


@dataclass(frozen=True, eq=False, repr=False)
class NewColumns:
    """Columns to add: what they are computed from, their names, and by which function of arrays of complete rows.

    Parameters
    ----------
    needed : sequence of str
        Names of columns of numbers; ``compute`` takes one array for each.
    names : sequence of str
        Names of the new columns; ``compute`` returns one array for each, of whole numbers if ``whole``.
    compute : callable
    option : str
        What names the new columns on the command line.
    remedy : str
        What to say where a number is missing.
    probability : bool
        Whether the numbers must lie in [0, 1], and not only be finite.
    whole : bool
    drop : bool
        Whether incomplete rows are left out; else their new cells are missing.
    """

    needed: Sequence[str]
    names: Sequence[str]
    compute: Callable[..., Sequence[NDArray[Any]]]
    option: str
    remedy: str
    probability: bool = True
    whole: bool = False
    drop: bool = False


def copy_with_columns(
    path: str | os.PathLike[str],
    target: Path | None,
    columns: NewColumns,
    *,
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (as read_predictions has it)
) -> Copied:
    r"""Write a file again with new columns, in bounded memory; without a target only compute them.

    The file is passed twice: to check every row, and to write.

    Parameters
    ----------
    path : str or path
        A CSV, Parquet, Arrow or JSON lines file, or "-" for standard input.
    target : path or None
        Where to; the ending names the format.
    columns : NewColumns
        The columns to add.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed number is missing.
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        What the file holds; by default its first bytes, then its name, tell.

    Returns
    -------
    Copied

    Raises
    ------
    DataError
        For anything in the file that cannot be used or cannot stand in the target, with the column, row and value.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stakes.tables import NewColumns, copy_with_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
    ...     _ = source.write_text("p\n0.25\n")
    ...     twice = NewColumns(["p"], ["q"], lambda p: [2 * p], "names=", "")
    ...     _ = copy_with_columns(source, target, twice)
    ...     target.read_text()
    'p,q\n0.25,0.5\n'
    """
    import polars as pl

    check_choice(on_missing, "on_missing", ON_MISSING)
    table = _open(path, format, columns.needed)
    taken = next((name for name in columns.names if name in table.names), None)
    if taken is not None:
        raise table.origin.error(f"is there already: choose another {columns.option}", column=taken)
    foreign = next((name for name in columns.names if any("\ud800" <= sign <= "\udfff" for sign in name)), None)
    if foreign is not None:
        raise table.origin.error(f"cannot be written as UTF-8: choose another {columns.option}", column=foreign)
    counts = _check(table, columns, on_missing)
    if target is None:
        for piece in table.pieces(columns.needed, columns.needed):
            _added(piece, table, columns)
    else:
        kinds = dict.fromkeys(columns.names, pl.Int64 if columns.whole else pl.Float64)
        write_rows(table, target, lambda piece: _added(piece, table, columns), columns.needed, kinds)
    return Copied(str(table.origin.file), *counts)


def _check(table: Table, new: NewColumns, on_missing: OnMissing) -> tuple[int, int]:
    """Count rows and incomplete rows, or raise for the first invalid number."""
    columns = [Numbers(name, from_text=True, probability=new.probability) for name in new.needed]
    n_rows, n_incomplete, first = 0, 0, (0, "")
    for piece in table.pieces(new.needed, new.needed):
        missing = {c.name: np.isnan(c.take(piece.cells[c.name], table.origin)) for c in columns}
        incomplete = np.logical_or.reduce(list(missing.values()))
        if incomplete.any() and not n_incomplete:
            at = int(np.argmax(incomplete))
            first = n_rows + at, next(name for name, gone in missing.items() if gone[at])
        n_incomplete += int(np.count_nonzero(incomplete))
        n_rows += piece.n_rows
    for column in columns:
        column.refuse(table.origin, PROBABILITY_HINT if new.probability else None)
    if n_incomplete and (on_missing == "raise" or n_incomplete == n_rows):
        hint = new.remedy if on_missing == "raise" else "No complete row is left."
        details: dict[str, Any] = {"row": first[0], "column": first[1], "count": n_incomplete, "total": n_rows}
        raise table.origin.error("must not be missing", **details, hint=hint)
    return n_rows, n_incomplete


def _added(piece: Piece, table: Table, new: NewColumns) -> Added:
    """Compute the new columns of a piece of rows; incomplete rows are dropped or get missing values."""
    import polars as pl

    values = [Numbers(name, from_text=True).take(piece.cells[name], table.origin) for name in new.needed]
    complete = ~np.logical_or.reduce([np.isnan(array) for array in values])
    found = new.compute(*(array[complete] for array in values)) if complete.any() else [np.empty(0)] * len(new.names)
    series = []
    for name, result in zip(new.names, found, strict=True):
        cells = np.zeros(piece.n_rows, dtype=np.int64 if new.whole else np.float64)
        cells[complete] = result
        column = pl.Series(name, cells)
        series.append(column if complete.all() else column.set(pl.Series(~complete), None))
    return series, complete if new.drop else None
