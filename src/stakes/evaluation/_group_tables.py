"""Subgroups by the tables of their scores: from an engine, from rows that were evaluated, or kept and added up."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.score_table import ScoreTable
from stakes.core.table_parts import COLUMNS, class_factors, weigh_classes
from stakes.evaluation._group_labels import group_names
from stakes.evaluation._groups import Groups, groups_of_tables
from stakes.shown.entries import Entries
from stakes.tables import group_scores_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stakes.core.options import Options
    from stakes.inference import PairSums

    # a table and its number of positive rows, by column, group and model
    GroupTables = dict[tuple[str, str, str], tuple[ScoreTable, int]]

_ROUNDING = 1e-9  # of sums over many rows, in any order


def tables_in_engine(rows: Any, wholes: Mapping[str, ScoreTable], options: Options, **what: Any) -> GroupTables:
    """Tables of every group of a lazy frame; ``wholes`` are those of all rows, before they are weighted."""
    found = {}
    for column in options.groups or ():
        for model, whole in wholes.items():
            values, counted = group_scores_by(rows, score=model, by=column, resolution=whole.resolution, **what)
            names, place = group_names(values, column)
            for i in np.argsort(place).tolist():
                table = _as_asked(ScoreTable(**counted[i][0], resolution=whole.resolution), whole, options)
                found[column, names[place[i]], model] = table, counted[i][1]
    return found


def _as_asked(table: ScoreTable, whole: ScoreTable, options: Options) -> ScoreTable:
    """Weigh the classes of a group, and recalibrate its scores, as those of all rows are."""
    if options.prevalence is not None:
        by = class_factors(options.prevalence, whole.total_positives, whole.total_negatives)
        table, whole = replace(table, **weigh_classes(table, *by)), whole.with_prevalence(options.prevalence)
    if options.rule != "optimal":
        return table
    ends = whole.scores if whole.upper is None else whole.upper
    scores = whole.pav_by_score()[np.minimum(np.searchsorted(ends, table.scores), len(ends) - 1)]
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    return table.pooled(scores[starts], starts)


def groups_from(tables: GroupTables, options: Options) -> Groups:
    """Every model in every group, and against all other rows."""
    each: dict[tuple[str, str], dict[str, tuple[ScoreTable, int]]] = {}
    for (column, group, model), counted in tables.items():
        each.setdefault((column, model), {})[group] = counted
    found = [groups_of_tables(c, list(mine), m, list(mine.values()), options) for (c, m), mine in each.items()]
    return Groups(row for rows in found for row in rows)


def tables_of(groups: Groups) -> GroupTables:
    """What an evaluation's groups follow from."""
    return {(row.column, row.group, row.model): (row.count(), row.n_positives) for row in groups}


def columns_of(tables: GroupTables) -> list[str]:
    """The columns that divide the rows, in order."""
    return list(dict.fromkeys(column for column, _, _ in tables))


def merged(first: GroupTables, second: GroupTables, options: Options) -> GroupTables:
    """Add up what is known of the groups of two parts of the rows; a group may have rows in one of them only."""
    if first and options.rule == "optimal":
        raise ValueError('groups with rule="optimal" are fitted to their own rows: evaluate all rows at once.')
    columns, models = columns_of(first), list(dict.fromkeys(model for _, _, model in first))
    found: GroupTables = {}
    for key in sorted({*first, *second}, key=lambda key: (columns.index(key[0]), models.index(key[2]), key[1])):
        mine, its = (part.get(key) for part in (first, second))
        both = mine and its and (mine[0].merge(its[0]), mine[1] + its[1])
        found[key] = both or mine or second[key]
    return found


def kept_groups(tables: GroupTables) -> list[dict[str, Any]]:
    """What JSON holds of them."""
    return [
        {"column": c, "group": g, "model": m, "n_positives": ups, "table": json.loads(table.to_json())}
        for (c, g, m), (table, ups) in tables.items()
    ]


def read_groups(entries: Entries, models: tuple[str, ...]) -> GroupTables:
    """Read and check what :func:`kept_groups` gave, where it is there."""
    content, found = entries.content.get("groups", []), {}
    if not isinstance(content, list):
        raise entries.broken("groups", "a list of groups")
    for place, each in enumerate(content):
        mine = Entries(each, f"{entries.what} (group {place + 1})")
        key = mine.text("column"), mine.text("group"), mine.text("model")
        if key[2] not in models:
            raise mine.broken("the model", "among the tables")
        if key in found:
            raise mine.broken("the group", "named once")
        table = ScoreTable._from_entries(mine.inside("table", form=ScoreTable._form))
        _check_positives(mine, table)
        found[key] = table, mine.count("n_positives")
    return found


def _check_positives(mine: Entries, table: ScoreTable) -> None:
    """Refuse a number of positive rows that the weights of the group's classes contradict."""
    ups = mine.at("n_positives")
    if type(ups) is not int or not 0 <= ups <= table.n_rows:
        raise mine.broken("n_positives", f"a whole number of its rows, {table.n_rows:,} at most, got {ups!r}")
    for kind, rows in (("positives", ups), ("negatives", table.n_rows - ups)):
        weight, squared = getattr(table, kind), getattr(table, f"{kind}_squared")
        fewest = float(np.sum(weight**2 / np.where(squared > 0.0, squared, np.inf)))
        if fewest > rows * (1.0 + _ROUNDING) or (rows > 0) != bool(weight.any()):
            raise mine.broken("n_positives", f"such that {rows:,} rows can have the weights of its {kind}, got {ups:,}")


def check_groups_add_up(
    groups: GroupTables, wholes: Mapping[str, ScoreTable], pairs: PairSums | None, entries: Entries
) -> None:
    """Refuse kept groups that do not divide the rows of the tables of all rows."""
    for column in columns_of(groups):
        mine = {key: each for key, each in groups.items() if key[0] == column}
        names = list(dict.fromkeys(group for _, group, _ in mine))
        known: dict[str, tuple[int, int]] = {}
        for model, whole in wholes.items():
            lost = [group for group in names if (column, group, model) not in mine]
            if lost:
                raise entries.broken("groups", f"one for each model, but {lost[0]!r} of {column!r} lacks {model!r}")
            each = [mine[column, group, model] for group in names]
            counts = dict(zip(names, [(table.n_rows, ups) for table, ups in each], strict=True))
            for group, (rows, ups) in counts.items():
                first = known.setdefault(group, (rows, ups))
                if first != (rows, ups):
                    what = f"of as many rows and positives for every model, {first} of {group!r}"
                    raise entries.broken(f"groups of {column!r}", f"{what}, got {(rows, ups)} for {model!r}")
            positives = None if pairs is None else float(pairs.rows[1])
            _check_sum(f"groups of {column!r}", each, (model, whole), positives, entries)


def _check_sum(
    what: str,
    each: list[tuple[ScoreTable, int]],
    model: tuple[str, ScoreTable],
    positives: float | None,
    entries: Entries,
) -> None:
    name, whole = model
    rows, ups = (sum(counts) for counts in zip(*((table.n_rows, ups) for table, ups in each), strict=True))
    if rows != whole.n_rows:
        raise entries.broken(what, f"of {whole.n_rows:,} rows together, as {name!r} is, got {rows:,}")
    if positives is not None and ups != positives:
        raise entries.broken(what, f"of {positives:,.0f} positives together, as the pairs are, got {ups:,}")
    tables = [table for table, _ in each]
    if any(table.pos_label != whole.pos_label for table in tables):
        raise entries.broken(what, f"of the pos_label of {name!r}, {whole.pos_label!r}")
    for kind in COLUMNS:
        wanted, found = (_by_score(some, kind) for some in ([whole], tables))
        places = sorted({*wanted, *found}) if whole.lower is None and tables[0].lower is None else [None]
        for place in places:
            one, other = (sum(by.values()) if place is None else by.get(place, 0.0) for by in (wanted, found))
            if not math.isclose(one, other, rel_tol=_ROUNDING):
                at = "" if place is None else f" at the score {place!r}"
                raise entries.broken(what, f"a division of the {kind} of {name!r}, {one:.10g}{at}, got {other:.10g}")


def _by_score(tables: list[ScoreTable], kind: str) -> dict[float, float]:
    """Weight at each score of some tables together."""
    scores = np.concatenate([table.scores for table in tables])
    distinct, place = np.unique(scores, return_inverse=True)
    sums = np.bincount(place.reshape(-1), weights=np.concatenate([getattr(table, kind) for table in tables]))
    return dict(zip(distinct.tolist(), sums.tolist(), strict=True))
