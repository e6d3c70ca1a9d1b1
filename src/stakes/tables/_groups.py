"""One group-by over label and score, in whatever engine the data live, is all that a score table needs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from stakes.core.counting import count_cells, count_groups, count_sample
from stakes.core.expressions import LARGEST, is_nan
from stakes.core.validation import BinarySample, check_number
from stakes.tables._collect import collected, run
from stakes.tables._errors import Origin
from stakes.tables._roles import choose_roles
from stakes.tables._rows import (
    INCOMPLETE_HINT,
    PROBABILITY_HINT,
    Held,
    clean_rows,
    column_names,
    frame_columns,
    from_native,
)
from stakes.tables._values import as_array, encode, encode_labels, positive_labels, to_floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.tables._roles import Roles

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_MOST_HELD = 1 << 24  # rows; more of them may hold few distinct scores, and leave the engine as these only


# what each entry of a group-by has
_COLUMNS = ("cell", "lower", "upper", "count", "weight", "squared", "moment")


def group_scores(
    frame: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    pos_label: object = None,
    resolution: int | None = None,
) -> dict[str, Any]:
    """Count classes at each distinct score and return the arguments that build a ``ScoreTable``.

    Parameters
    ----------
    frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
        Frames in memory, and lazy ones of polars and DuckDB that fit there, are sorted here; others do one group-by
        in their engine.
    label, score : str
        Names of the columns with the labels and the scores in [0, 1].
    weight : str, optional
        Name of the column with weights >= 0; a row of weight zero is as if absent.
    pos_label : object, optional
        The label of the positive class.
    resolution : int, optional
        Pool the scores into this many cells of equal width; None is exact.

    Returns
    -------
    dict

    Raises
    ------
    DataError
        For missing columns, missing or out-of-range values, or labels with more than two values.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import group_scores
    >>> frame = pl.LazyFrame({"cancer": [0, 1, 1], "risk": [0.1, 0.3, 0.3]})
    >>> group_scores(frame, label="cancer", score="risk")["positives"].tolist()
    [0.0, 2.0]
    """
    if resolution is not None and check_number(resolution, "resolution") < 1:
        raise ValueError(f"resolution must be a positive integer, got {resolution!r}.")
    native = from_native(frame)
    if isinstance(native, nw.LazyFrame):
        roles = choose_roles(column_names(native), (), label=label, models=[score], weight=weight, groups=None)
        held = None if resolution is not None else _held(native, roles)
        if held is None:
            return _Groups.collect(native, roles, resolution).table(pos_label, resolution)
        rows = clean_rows(held, roles, held.origin, pos_label=pos_label)
    else:
        rows = frame_columns(frame, label=label, models=[score], weight=weight, pos_label=pos_label)
    columns = count_sample(BinarySample(rows.y, rows.scores[0], rows.weight))
    return columns if resolution is None else _binned(columns, resolution)


def group_scores_by(
    frame: Any,
    *,
    label: str,
    score: str,
    by: str,
    weight: str | None = None,
    pos_label: object = None,
    resolution: int | None = None,
) -> tuple[NDArray[Any], list[tuple[dict[str, Any], int]]]:
    """Count classes at each distinct score of every group by one group-by in the engine of a lazy frame.

    Parameters
    ----------
    frame : polars, DuckDB, Dask or Spark frame
        A lazy frame.
    label, score, weight, pos_label, resolution
        As in :func:`group_scores`.
    by : str
        Name of the column that divides the rows.

    Returns
    -------
    tuple of ndarray and list
        Its distinct values, and for each the arguments that build a ``ScoreTable`` and the number of positive rows.

    Raises
    ------
    DataError
        As :func:`group_scores` does, and for rows without a group.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import group_scores_by
    >>> frame = pl.LazyFrame({"cancer": [0, 1, 1], "risk": [0.1, 0.3, 0.3], "sex": ["f", "f", "m"]})
    >>> values, tables = group_scores_by(frame, label="cancer", score="risk", by="sex")
    >>> values.tolist(), tables[0][0]["positives"].tolist(), tables[0][1]
    (['f', 'm'], [0.0, 1.0], 1)
    """
    native: Any = from_native(frame)
    roles = choose_roles(column_names(native), (), label=label, models=[score], weight=weight, groups=[by])
    return _Groups.collect(native, roles, resolution).tables_by_group(pos_label, resolution)


def _held(frame: nw.LazyFrame[Any], roles: Roles) -> Held | None:
    """The columns of an engine on this machine, if they are short: to sort them is faster than its group-by."""
    kind = frame.implementation
    if not (kind.is_polars() or kind.is_duckdb()):
        return None
    found = collected(frame.select(*roles.used).head(_MOST_HELD + 1))
    return Held(found, Origin(ordered=False)) if len(found) <= _MOST_HELD else None


@dataclass(frozen=True, eq=False)
class _Groups:
    """The result of the group-by: one entry for each label and score, or label and cell of scores."""

    roles: Roles
    origin: Origin
    labels: tuple[list[Any], NDArray[np.signedinteger[Any]]]
    cell: Floats
    lower: Floats
    upper: Floats
    count: NDArray[np.int64]
    weight: Floats
    squared: Floats
    moment: Floats
    bad_weights: NDArray[np.int64]
    missing_weights: NDArray[np.int64]
    groups: tuple[list[Any], NDArray[np.int64]] | None
    least_weight: Floats

    @classmethod
    def collect(cls, frame: nw.LazyFrame[Any], roles: Roles, resolution: int | None) -> _Groups:
        """Run the group-by in the engine; what cannot be evaluated comes out as groups of its own."""
        origin = Origin(ordered=False)
        found = run(_grouped(_rows(frame, roles, origin), resolution))
        column = {name: to_floats(found[name], origin) for name in found.columns if name not in {"label", "group"}}
        count = column["count"].astype(np.int64)
        return cls(
            roles=roles,
            origin=origin,
            labels=encode_labels(found["label"].alias(roles.label), origin),
            cell=column["cell"],
            lower=column.get("lower", column["cell"]) + 0.0,
            upper=column.get("upper", column["cell"]) + 0.0,
            count=count,
            weight=column.get("weight", column["count"]),
            squared=column.get("squared", column["count"]),
            moment=column.get("moment", column["cell"]),
            groups=encode(found["group"].alias(roles.groups[0])) if roles.groups else None,
            bad_weights=column.get("bad", np.zeros(len(count))).astype(np.int64),
            missing_weights=column.get("missing", np.zeros(len(count))).astype(np.int64),
            least_weight=column.get("least", column["count"]),
        )

    def table(self, pos_label: object, resolution: int | None) -> dict[str, Any]:
        """Check the groups and pool them into the columns of a score table."""
        return self._pooled(self._checked(pos_label, exact=resolution is None), resolution)

    def tables_by_group(
        self, pos_label: object, resolution: int | None
    ) -> tuple[NDArray[Any], list[tuple[dict[str, Any], int]]]:
        """Check the groups, and pool those of each value of the dividing column."""
        positive = self._checked(pos_label, exact=resolution is None)
        values, codes = self.groups or ([], np.empty(0, dtype=np.int64))
        self._refuse("must not be missing", codes < 0, column=self.roles.groups[0], hint=INCOMPLETE_HINT)
        order = np.argsort(codes, kind="stable")
        found = []
        for part in np.split(order, np.searchsorted(codes[order], np.arange(1, len(values)))):
            mine = {item.name: getattr(self, item.name)[part] for item in fields(self) if item.name in _COLUMNS}
            own = replace(self, **mine)._pooled(positive[part], resolution)
            found.append((own, int(self.count[part][positive[part]].sum())))
        return as_array(values), found

    def _pooled(self, positive: Bools, resolution: int | None) -> dict[str, Any]:
        n_rows = int(self.count.sum())
        if resolution is None:
            return count_groups(self.cell, positive, self.weight, self.squared, n_rows)
        sums = (
            np.where(positive, self.weight, 0.0),
            np.where(positive, 0.0, self.weight),
            np.where(positive, self.squared, 0.0),
            np.where(positive, 0.0, self.squared),
        )
        spans = (self.lower, self.upper, self.moment)
        return count_cells(self.cell, spans, sums, n_rows=n_rows, resolution=resolution)

    def _checked(self, pos_label: object, *, exact: bool) -> Bools:
        score = self.roles.models[0]
        values, codes = self.labels
        if not len(codes):
            rule = "there are no rows" if self.roles.weight is None else "there are no rows of positive weight"
            raise self.origin.error(rule, column=self.roles.weight)
        self._refuse("must not be missing", codes < 0, column=self.roles.label, hint=INCOMPLETE_HINT)
        self._refuse("must not be missing", np.isnan(self.cell), column=score, hint=INCOMPLETE_HINT)
        if self.bad_weights.any():
            self._refuse_weights()
        positive = positive_labels(values, codes, pos_label, self.origin, self.roles.label)
        outside = (self.lower < 0.0) | (self.upper > 1.0)
        if outside.any():
            first = int(np.argmax(outside))
            value = self.lower[first] if self.lower[first] < 0.0 else self.upper[first]
            # a cell may hold good rows too, so only distinct scores can be counted
            details = {"column": score, "value": value, "hint": PROBABILITY_HINT}
            if not exact:
                raise self.origin.error("must lie in [0, 1]", **details)
            self._refuse("must lie in [0, 1]", outside, **details)
        return positive

    def _refuse(self, rule: str, bad: Bools, **details: Any) -> None:
        if bad.any():
            count, total = int(self.count[bad].sum()), int(self.count.sum())
            raise self.origin.error(rule, count=count, total=total, **details)

    def _refuse_weights(self) -> None:
        details: dict[str, Any] = {"column": self.roles.weight, "total": int(self.count.sum())}
        missing = int(self.missing_weights.sum())
        if missing:
            raise self.origin.error("must not be missing", count=missing, hint=INCOMPLETE_HINT, **details)
        least = float(self.least_weight.min())
        value, count = least if least < 0.0 else np.inf, int(self.bad_weights.sum())
        raise self.origin.error("must be finite and >= 0", value=value, count=count, **details)


def _rows(frame: nw.LazyFrame[Any], roles: Roles, origin: Origin) -> nw.LazyFrame[Any]:
    """Select label, score and weight as float64, without the rows of weight zero."""
    schema = frame.collect_schema()
    numbers = {"score": roles.models[0]} | ({} if roles.weight is None else {"weight": roles.weight})
    for name in numbers.values():
        if not (schema[name].is_numeric() or schema[name] == nw.Boolean):
            raise origin.error(f"must hold numbers, its type is {schema[name]}", column=name)
    selected = frame.select(
        nw.col(roles.label).alias("label"),
        *(nw.col(name).alias("group") for name in roles.groups),
        *(nw.col(name).cast(nw.Float64).alias(role) for role, name in numbers.items()),
    )
    if roles.weight is None:
        return selected
    weight = nw.col("weight")
    missing = weight.is_null() | is_nan(weight)
    fine = (weight >= 0.0) & (weight <= LARGEST) & ~missing
    return selected.filter((weight != 0.0) | weight.is_null()).with_columns(
        (weight * weight).alias("squared"),
        nw.when(fine).then(nw.lit(0)).otherwise(nw.lit(1)).alias("bad"),
        nw.when(missing).then(nw.lit(1)).otherwise(nw.lit(0)).alias("missing"),
    )


def _grouped(rows: nw.LazyFrame[Any], resolution: int | None) -> nw.LazyFrame[Any]:
    score, sums = nw.col("score"), []
    names = rows.collect_schema().names()
    weighted = "weight" in names
    if weighted:
        sums = [nw.col(name).sum() for name in ("weight", "squared", "bad", "missing")] + [
            nw.col("weight").min().alias("least")
        ]
    if resolution is None:
        rows = rows.with_columns(score.alias("cell"))
    else:
        rounded = (score * resolution).round(0)
        # engines differ in how they cast and divide; rounding down from the nearest integer is the same everywhere
        below = nw.when(rounded > score * resolution).then(rounded - 1.0).otherwise(rounded)
        moment = score * nw.col("weight") if weighted else score
        rows = rows.with_columns(below.alias("cell"), moment.alias("moment"))
        sums += [nw.col("moment").sum(), score.min().alias("lower"), score.max().alias("upper")]
    keys = [name for name in ("label", "group", "cell") if name in [*names, "cell"]]
    return rows.group_by(*keys).agg(nw.len().alias("count"), *sums)


def _binned(columns: dict[str, Any], resolution: int) -> dict[str, Any]:
    scores, n_rows = columns["scores"], columns["n_rows"]
    sums = tuple(columns[name] for name in ("positives", "negatives", "positives_squared", "negatives_squared"))
    spans = (scores, scores, (sums[0] + sums[1]) * scores)
    return count_cells(np.floor(scores * resolution), spans, sums, n_rows=n_rows, resolution=resolution)
