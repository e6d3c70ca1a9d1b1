"""Rows of an engine on this machine, streamed from it as arrays in batches that fit the cache."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.base.formulas import BELOW_HALF, LARGEST, choose
from stakes.base.outcome import OutcomeFromColumns
from stakes.base.validation import Bools, Floats, plain_label
from stakes.outputs.hooks import import_optional, nw
from stakes.outputs.serialization import Location
from stakes.tables._columns import NAME_MODELS, Roles, encode_labels, positive_labels, run, worked
from stakes.tables._engines import check_types, is_positive, labels_of, refuse, renamed, weighing
from stakes.tables._predictions import column_names, from_native, refuse_both_classes, roles_in

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

Batch = tuple[Bools, list[Floats], Floats | None]
AmountBatch = tuple[Bools, list[Floats], Floats | None, list[Floats | float]]

AT_ONCE = 1 << 16  # rows of a batch


def stream_rows(
    frame: nw.LazyFrame[Any],
    *,
    label: str,
    models: Iterable[str],
    weight: str | None = None,
    pos_label: object = None,
) -> Iterator[Batch] | None:
    """Stream the classes, scores and positive weights of a lazy frame's rows, checked batch by batch.

    Parameters
    ----------
    frame : narwhals LazyFrame
        The rows.
    label : str
        Column with the labels.
    models : iterable of str
        Columns with probabilities.
    weight : str, optional
        Column with weights; rows of weight zero are left out.
    pos_label : object, optional
        The label of the positive class.

    Returns
    -------
    iterator of tuple, or None
        Which rows are positive, the scores of each model, and the weights or None, in no order; None where the engine
        cannot stream (:func:`streams`).

    Raises
    ------
    DataError
        For invalid values, those of the scores and weights when their batch is due.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.tables import stream_rows
    >>> frame = nw.from_native(pl.LazyFrame({"y": [0, 1], "a": [0.1, 0.8]}))
    >>> [(y.tolist(), scores[0].tolist()) for y, scores, _ in stream_rows(frame, label="y", models=["a"])]
    [([False, True], [0.1, 0.8])]
    """
    if not streams(frame):
        return None
    roles = roles_in(frame, label=label, models=models, weight=weight, groups=None)
    return (batch for batch, _ in checked_batches(frame, roles, labels_in(frame, roles, pos_label), pos_label))


def stream_amounts(
    frame: nw.LazyFrame[Any], *, amounts: Sequence[str | float], outcome: OutcomeFromColumns, **what: Any
) -> Iterator[AmountBatch]:
    """Stream what :func:`stream_rows` does, and amounts of every row: columns, or one number for all rows.

    Parameters
    ----------
    frame : narwhals LazyFrame
        The rows, of an engine that can stream (:func:`streams`).
    amounts : sequence of str or float
        Which amounts.
    outcome : OutcomeColumns
        Names the columns among them.
    **what
        ``label``, ``models``, ``weight`` and ``pos_label`` of :func:`stream_rows`.

    Returns
    -------
    iterator of tuple
        As there, and last the amounts, unchecked: nan where one is missing.

    Raises
    ------
    DataError
        As there.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.outcomes import OutcomeColumns
    >>> from stakes.tables import stream_amounts
    >>> frame = nw.from_native(pl.LazyFrame({"y": [0, 1], "a": [0.1, 0.8], "eur": [20, 90]}))
    >>> outcome = OutcomeColumns(false_positive=5, false_negative="eur")
    >>> [batch[3] for batch in stream_amounts(frame, label="y", models=["a"], amounts=[5, "eur"], outcome=outcome)]
    [[5, array([20., 90.])]]
    """
    roles, pos_label = _amount_roles(frame, outcome, **what), what.get("pos_label")
    for batch, cells in checked_batches(frame, roles, labels_in(frame, roles, pos_label), pos_label):
        yield *batch, [cells[f"m_{amount}"] if isinstance(amount, str) else amount for amount in amounts]


def _amount_roles(
    frame: nw.LazyFrame[Any],
    outcome: OutcomeFromColumns,
    *,
    label: str,
    models: Iterable[str],
    weight: str | None = None,
    pos_label: object = None,  # noqa: ARG001  (which is no column)
) -> Roles:
    asked: dict[str, Any] = {"label": label, "models": models, "weight": weight, "groups": None, "outcome": outcome}
    return roles_in(frame, **asked)


def checked_batches(
    frame: nw.LazyFrame[Any], roles: Roles, labels: Labels, pos_label: object
) -> Generator[tuple[Batch, dict[str, Any]]]:
    """Classes, scores and weights of the rows, and all their cells."""
    batches = _batches(renamed(weighing(frame, roles), roles, labels.column))
    names = [f"s{i}" for i in range(len(roles.models))]

    def checked(batch: dict[str, Any]) -> Batch | None:
        y, scores, by = batch["y"], [batch[name] for name in names], batch.get("w")
        ups = y == labels.positive
        fine = np.count_nonzero(ups) + np.count_nonzero(y == labels.negative) == len(y)
        fine = fine and all(_within(score, 1.0) for score in scores) and (by is None or _within(by, LARGEST))
        return (ups, scores, by) if fine else None

    with closing(batches):  # an engine takes no other query while one has rows left
        while (batch := worked(frame, lambda: next(batches, None))) is not None:
            found = checked(batch)
            if found is None:
                break
            yield found, batch
        else:
            return
    refuse(frame, roles, pos_label)


def priced_rows(
    frame: nw.LazyFrame[Any], *, amounts: Sequence[str | float], outcome: OutcomeFromColumns, **what: Any
) -> tuple[nw.LazyFrame[Any], str]:
    """Let the engine map probabilities to the scores of rows with amounts, and weigh rows by what is at stake in them.

    Parameters
    ----------
    frame : narwhals LazyFrame
        Rows that :func:`stream_amounts` found to be fine.
    amounts : pair of str or float
        Of a false positive and of a false negative: a column, or one amount for all rows.
    outcome, **what
        As there.

    Returns
    -------
    tuple of LazyFrame and str
        Label, scores and stakes, and the name of the column of stakes; 0 where one decision is never worse.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.outcomes import OutcomeColumns
    >>> from stakes.tables import priced_rows
    >>> frame = nw.from_native(pl.LazyFrame({"y": [0, 1], "a": [0.5, 0.1], "eur": [15.0, 45.0]}))
    >>> outcome = OutcomeColumns(false_positive=5, false_negative="eur")
    >>> rows, stake = priced_rows(frame, label="y", models=["a"], amounts=[5, "eur"], outcome=outcome)
    >>> rows.collect()["a"].to_list(), rows.collect()[stake].to_list()
    ([0.75, 0.5], [5.0, 45.0])
    """
    roles = _amount_roles(frame, outcome, **what)
    labels = labels_in(frame, roles, what.get("pos_label"))
    a, b = (nw.col(x).cast(nw.Float64) if isinstance(x, str) else nw.lit(float(x)) for x in amounts)
    at_stake = choose(labels.column == labels.positive, b, a)
    if roles.weight is not None:
        at_stake = nw.col(roles.weight).cast(nw.Float64) * at_stake
    stake = "stake"
    while stake in (roles.label, *roles.models):
        stake += "_"
    scores = []
    for name in roles.models:
        p = nw.col(name).cast(nw.Float64)
        score, acted = p * b / ((1.0 - p) * a + p * b), p >= a / (a + b)
        # as RowCosts.scores: at amounts as stated a row is acted on from its threshold on
        low, high = (acted & (score < 0.5)), (~acted & (score >= 0.5))
        scores.append(choose(low, 0.5, choose(high, BELOW_HALF, score)).alias(name))
    # narwhals 2.0 refuses a condition without a column, as of two fixed amounts: the last one has it, and always holds
    weights = choose((a > 0.0) & (b > 0.0) & (at_stake >= 0.0), at_stake, 0.0).alias(stake)
    return weighing(frame, roles).select(nw.col(roles.label), *scores, weights), stake


class Labels(NamedTuple):
    """Numbers of the negative and the positive label, the column that holds them, and the label beside the positive."""

    negative: float
    positive: float
    column: nw.Expr
    other: str | float | None


def labels_in(frame: nw.LazyFrame[Any], roles: Roles, pos_label: object) -> Labels:
    """Check the types of the columns, and find the labels.

    The first rows usually show both labels; that no other follows is checked in each batch. Else, and where labels
    are no numbers, the engine looks for all.
    """
    check_types(frame, roles)
    label, rows = nw.col(roles.label), weighing(frame, roles)
    dtype = frame.collect_schema()[roles.label]
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        values, codes = encode_labels(run(rows.select(label).head(AT_ONCE))[roles.label], Location(ordered=False))
        # at 2**53 and beyond, several integers are one float
        if len(values) == 2 and codes.min() >= 0 and max(map(abs, values)) < 2**53:
            ups = positive_labels(values, codes, pos_label, Location(ordered=False), roles.label)
            negative, positive = (values[code] for code in (codes[np.argmin(ups)], codes[np.argmax(ups)]))
            return Labels(float(negative), float(positive), label.cast(nw.Float64), plain_label(negative))
    found = labels_of(rows, roles, pos_label, partial(refuse, frame, roles, pos_label))
    other = next((plain_label(value) for value, positive in found if not positive), None)
    column = nw.when(is_positive(rows, roles, found)).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    return Labels(0.0, 1.0, column, other)


def _within(values: Floats, most: float) -> bool:
    # of values among which is NaN, neither is
    return bool(values.min(initial=0.0) >= 0.0 and values.max(initial=0.0) <= most)


def as_lazy(frame: Any) -> Any:
    """Have polars or DuckDB look at the rows of a frame in memory.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import as_lazy
    >>> as_lazy(pl.DataFrame({"y": [0, 1]})).collect().height
    2
    """
    native: Any = from_native(frame)
    if not native.implementation.is_polars() and find_spec("polars") is None:
        import_optional("duckdb", "resolution= needs polars or DuckDB: pip install 'stakes[engines]'")
        return native.lazy(backend="duckdb").to_native()
    return native.lazy(backend="polars").to_native()


def count_rows(frame: Any) -> tuple[int, int]:
    """Count the rows and the columns of a lazy frame, whose files mostly say how many there are.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import count_rows
    >>> count_rows(pl.LazyFrame({"y": [0, 1, 1]}))
    (3, 1)
    """
    native: Any = from_native(frame)
    names = column_names(native)
    # counted by a column: polars 1.0 loses the name of a bare count over several files
    return int(run(native.lazy().select(nw.col(names[0]).len().alias("rows")))["rows"][0]), len(names)


def check_first_rows(frame: Any, roles: Roles) -> None:
    """Refuse columns that nobody named and that, by their first rows, are no scores or both classes of one model.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import check_first_rows, model_columns
    >>> frame = pl.LazyFrame({"y": [0, 1], "age": [41.0, 52.0]})
    >>> check_first_rows(frame, model_columns(frame, label="y", models=None, weight=None, groups=None))
    Traceback (most recent call last):
    stakes.outputs.files.DataError: column 'age': must lie in [0, 1], got 41.0. Every other numeric column ...
    """
    native: Any = from_native(frame)
    first = run(native.lazy().select(*(nw.col(name).cast(nw.Float64) for name in roles.models)).head(AT_ONCE))
    for name in roles.models:
        values = first[name].to_numpy()
        outside = (values < 0.0) | (values > 1.0)
        if outside.any():
            value = float(values[np.argmax(outside)])
            raise Location(ordered=False).error("must lie in [0, 1]", column=name, value=value, hint=NAME_MODELS)
    refuse_both_classes({name: first[name].to_numpy() for name in roles.models}, roles, Location(ordered=False))


def streams(frame: nw.LazyFrame[Any]) -> bool:
    """Whether the rows of a lazy frame can be streamed: those of DuckDB with pyarrow, and of polars since it can.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.tables import streams
    >>> streams(nw.from_native(pl.LazyFrame({"y": [0, 1]})))
    True
    """
    if frame.implementation.is_duckdb():
        return find_spec("pyarrow") is not None
    return frame.implementation.is_polars() and hasattr(frame.to_native(), "collect_batches")


def _batches(rows: nw.LazyFrame[Any]) -> Generator[dict[str, Any]]:
    native: Any = rows.to_native()
    if rows.implementation.is_polars():
        for batch in native.collect_batches(chunk_size=AT_ONCE, maintain_order=False, engine="streaming"):
            yield {name: batch[name].to_numpy() for name in batch.columns}
        return
    # a relation streams, where the result of execute() would be held whole; older versions name it otherwise
    read = native.to_arrow_reader if hasattr(native, "to_arrow_reader") else native.fetch_arrow_reader
    with closing(read(AT_ONCE)) as reader:
        for batch in reader:
            yield {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}
