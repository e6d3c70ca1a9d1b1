"""Subgroups by the tables of their scores: from an engine, from rows that were evaluated, or kept and added up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.score_table import ScoreTable
from stakes.core.table_parts import class_factors, weigh_classes
from stakes.evaluation._group_labels import group_names
from stakes.evaluation._groups import Groups, groups_of_tables
from stakes.shown.entries import Entries
from stakes.tables import group_scores_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stakes.core.options import Options

    # a table and its number of positive rows, by column, group and model
    GroupTables = dict[tuple[str, str, str], tuple[ScoreTable, int]]


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
        table, ups = ScoreTable.from_json(json.dumps(mine.at("table"))), mine.at("n_positives")
        if not isinstance(ups, int) or isinstance(ups, bool) or not 0 <= ups <= table.n_rows:
            raise mine.broken("n_positives", "a whole number of its rows")
        found[key] = table, ups
    return found
