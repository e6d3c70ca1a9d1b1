"""The rows themselves, for comparisons of models: labels, scores of every model, weights and groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from stakes.core.expressions import is_nan
from stakes.core.validation import check_choice, match_label
from stakes.shown.frames import backend_of
from stakes.tables._collect import collected
from stakes.tables._errors import Origin
from stakes.tables._roles import choose_roles, reject_duplicates
from stakes.tables._values import as_array, encode, encode_labels, positive_labels, to_floats

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from stakes.core.outcome import Columns as OutcomeColumns
    from stakes.core.outcome import Outcome
    from stakes.tables._roles import Roles

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

OnMissing = Literal["raise", "drop"]
ON_MISSING = ("raise", "drop")
PROBABILITY_HINT = "Pass the probability of the positive class."
INCOMPLETE_HINT = 'on_missing="drop" (command line: --on-missing drop) leaves incomplete rows out.'


class Columns(Protocol):
    """Columns of equal length by name, in memory or in a file."""

    def series(self, name: str) -> nw.Series[Any]:
        """Return a column as it is."""

    def floats(self, name: str, hint: str | None = None) -> Floats:
        """Return a column of numbers, nan where it is missing."""

    def labels(self, name: str) -> tuple[list[Any], NDArray[np.signedinteger[Any]]]:
        """Return the distinct values of the label and the index of each row's, -1 where it is missing."""


@dataclass(frozen=True)
class Held:
    """Columns of a frame in memory."""

    frame: nw.DataFrame[Any]
    origin: Origin

    def series(self, name: str) -> nw.Series[Any]:
        """Return a column as it is."""
        return self.frame[name]

    def floats(self, name: str, hint: str | None = None) -> Floats:
        """Return a column of numbers, nan where it is missing."""
        return to_floats(self.frame[name], self.origin, hint=hint)

    def labels(self, name: str) -> tuple[list[Any], NDArray[np.signedinteger[Any]]]:
        """Return the distinct values of the label and the index of each row's, -1 where it is missing."""
        return encode_labels(self.frame[name], self.origin)


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
    outcome: OutcomeColumns | None = None,
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
    chosen = native.select(*roles.used)
    ordered = not isinstance(chosen, nw.LazyFrame) or chosen.implementation.is_polars()
    eager = collected(chosen) if isinstance(chosen, nw.LazyFrame) else chosen
    origin = Origin(ordered=ordered)
    return clean_rows(
        Held(eager, origin), roles, origin, pos_label=pos_label, on_missing=on_missing, backend=backend_of(frame)
    )


def model_columns(
    frame: Any,
    *,
    label: str,
    models: Iterable[str] | None,
    weight: str | None,
    groups: Iterable[str] | None,
    outcome: OutcomeColumns | None = None,
) -> Roles:
    """Say which columns of a frame are the models, as :func:`frame_columns` takes them, and what the others are."""
    native = from_native(frame)
    numeric = [name for name, dtype in native.collect_schema().items() if dtype.is_numeric()]
    asked = {"label": label, "models": models, "weight": weight, "groups": groups, "outcome": outcome}
    return choose_roles(column_names(native), numeric, **asked)  # type: ignore[arg-type]


def complete_rows(frame: nw.LazyFrame[Any], roles: Roles, on_missing: OnMissing) -> tuple[nw.LazyFrame[Any], int]:
    """Leave out the incomplete rows of a lazy frame where that is asked for, and count those of positive weight."""
    if check_choice(on_missing, "on_missing", ON_MISSING) == "raise":
        return frame, 0
    schema, missing = frame.collect_schema(), nw.lit(value=False)
    for name in roles.used:
        missing = missing | is_missing(nw.col(name), schema[name])
    incomplete = missing if roles.weight is None else missing & ~(nw.col(roles.weight).fill_null(1.0) == 0.0)
    count = collected(frame.select(nw.when(incomplete).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias("count")))
    return frame.filter(~missing), int(count["count"][0] or 0)


def is_missing(value: nw.Expr, kind: Any) -> nw.Expr:
    """Whether a value of a column of some type is missing; NaN is."""
    return value.is_null() | is_nan(value) if kind.is_float() else value.is_null()


def from_native(frame: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Wrap a frame of any supported library, its column names checked to be distinct."""
    try:
        native: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(frame)
    except TypeError:
        raise ValueError(f"frame must be a data frame, got {type(frame).__name__}.") from None
    except DuplicateError:
        reject_duplicates(getattr(frame, "column_names", None) or list(frame.columns))
        raise
    reject_duplicates(column_names(native))
    return native


def column_names(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> list[str]:
    """Name the columns, duplicates included (a schema cannot hold them, a DuckDB relation can)."""
    return list(frame.columns) if frame.implementation.is_duckdb() else frame.collect_schema().names()


def clean_rows(
    columns: Columns,
    roles: Roles,
    origin: Origin,
    *,
    pos_label: object = None,
    on_missing: OnMissing = "raise",
    backend: str | None = None,
) -> Predictions:
    """Check the columns and keep the rows that count."""
    check_choice(on_missing, "on_missing", ON_MISSING)
    weight = None if roles.weight is None else columns.floats(roles.weight)
    scores = {name: columns.floats(name, roles.hint) for name in roles.models}
    codes = {name: encode(columns.series(name)) for name in roles.groups}
    codes[roles.label] = columns.labels(roles.label)
    count = len(codes[roles.label][1])
    if count == 0:
        raise origin.error("there are no rows")

    keep = np.ones(count, dtype=bool) if weight is None else weight != 0.0
    if not keep.any():
        raise origin.error(f"must not be all zero, got {len(keep)} zeros", column=roles.weight)
    numbers = scores | {name: columns.floats(name) for name in roles.measured}
    missing = {name: np.isnan(values) for name, values in numbers.items()}
    missing |= {name: found < 0 for name, (_, found) in codes.items()}
    if roles.outcome is not None and roles.outcome.partly:
        missing[roles.label] = np.zeros(count, dtype=bool)
    if weight is not None and roles.weight is not None:
        missing[roles.weight] = np.isnan(weight)
    n_dropped = leave_out_incomplete(keep, {name: missing[name] for name in roles.used}, roles, origin, on_missing)
    if not keep.all():
        origin = replace(origin, rows=np.flatnonzero(keep))
        numbers = {name: values[keep] for name, values in numbers.items()}
        codes = {name: (values, found[keep]) for name, (values, found) in codes.items()}
        weight = None if weight is None else weight[keep]

    scores = {name: numbers.pop(name) for name in roles.models}
    check_numbers(scores, weight, roles, origin)
    by = {name: as_array(codes[name][0])[codes[name][1]] for name in roles.groups}
    outcome = _outcome(roles, origin, codes[roles.label], numbers | by, (weight, pos_label))
    y = positive_labels(*codes[roles.label], pos_label, origin, roles.label) if outcome is None else outcome.y
    kept = (backend, origin.file, origin.rows, outcome)
    return Predictions(y, roles.models, tuple(scores.values()), weight, by or None, len(y), n_dropped, *kept)


def _outcome(
    roles: Roles,
    origin: Origin,
    label: tuple[list[Any], NDArray[np.signedinteger[Any]]],
    cells: dict[str, NDArray[Any]],
    given: tuple[Floats | None, object],
) -> Outcome | None:
    """Make what columns beside the label say; what they cannot be is bad data. ``given``: weights, positive label."""
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
        raise origin.error(str(error).removesuffix(".")) from None


def leave_out_incomplete(
    keep: Bools, missing: dict[str, Bools], roles: Roles, origin: Origin, on_missing: OnMissing
) -> int:
    """Mark incomplete rows as not kept and count them, or raise at the first one."""
    incomplete = np.logical_or.reduce(list(missing.values())) & keep
    count = int(np.count_nonzero(incomplete))
    if not count:
        return 0
    first = int(np.argmax(incomplete))
    column = next(name for name, mask in missing.items() if mask[first])
    if on_missing == "raise" or count == np.count_nonzero(keep):
        hint = INCOMPLETE_HINT
        if on_missing == "drop":
            hint = "No complete row is left."
        if column in roles.models and roles.hint:
            hint = f"{hint} {roles.hint}"
        raise origin.error("must not be missing", column=column, row=first, count=count, total=len(keep), hint=hint)
    keep &= ~incomplete
    return count


def check_numbers(scores: dict[str, Floats], weight: Floats | None, roles: Roles, origin: Origin) -> None:
    if weight is not None:
        bad = ~((weight > 0.0) & (weight < np.inf))
        if bad.any():
            raise origin.broken("must be finite and >= 0", bad, weight, column=roles.weight)
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
