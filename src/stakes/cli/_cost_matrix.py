"""A cost matrix from a small text file: labelled rows and columns, of which either may be the classes."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.tables import DataError

# what the first cell may say of the rows: "class", or "true \ decision"
_CLASSES = {"class", "classes", "true", "truth", "actual", "label", "outcome"}
_ACTIONS = {"action", "actions", "decision", "decisions", "act", "assigned", "predicted", "do"}
_SAY = "Write class or action into the first cell to say which the rows are."


@dataclass(frozen=True)
class CostMatrix:
    """What each action (column) costs where each class (row) is true; ``turned`` where the file has actions as rows."""

    actions: tuple[str, ...]
    costs: list[list[float]]
    turned: bool

    def ordered(self, actions: Sequence[str]) -> list[list[float]]:
        """Costs with the actions in another order."""
        places = [self.actions.index(action) for action in actions]
        return [[row[k] for k in places] for row in self.costs]


def read_cost_matrix(path: str, classes: Sequence[str]) -> CostMatrix:
    """Read and orient a matrix; rows come in the order of the classes."""
    corner, heads, cells = _labelled(path)
    rows = list(cells)
    turned, stated = _rows_are_actions(corner, rows, heads, classes)
    mine, actions = (heads, rows) if turned else (rows, heads)
    _check_names(path, mine, classes, "columns" if turned else "rows")
    if turned:
        costs = [[cells[action][heads.index(each)] for action in actions] for each in classes]
    else:
        costs = [cells[each] for each in classes]
    if not stated and set(actions) == set(classes):
        _refuse_dear(path, classes, actions, costs)
    return CostMatrix(tuple(actions), costs, turned)


def _labelled(path: str) -> tuple[str, list[str], dict[str, list[float]]]:
    """First cell, heads of the columns, and numbers by the heads of the rows."""
    lines = [line for line in _lines(path) if any(cell.strip() for cell in line)]
    if len(lines) < 2 or len(lines[0]) < 2:
        raise _error(path, "must hold a row of names, and below it a name and costs in each row")
    corner, *heads = [cell.strip() for cell in lines[0]]
    cells: dict[str, list[float]] = {}
    for place, (head, *texts) in enumerate(lines[1:], start=1):
        if len(texts) != len(heads):
            raise _error(path, f"must have {len(heads)} costs in each row, got {len(texts)}", row=place)
        if head.strip() in cells or not head.strip():
            raise _error(path, "rows must have distinct names", row=place, value=head)
        cells[head.strip()] = [_number(path, text, place, column) for text, column in zip(texts, heads, strict=True)]
    if len(set(heads)) < len(heads) or "" in heads:
        raise _error(path, f"columns must have distinct names, got {', '.join(map(repr, heads))}")
    return corner.lower(), heads, cells


def _lines(path: str) -> list[list[str]]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise _error(path, f"cannot be read: {error.strerror}; --cost-matrix names a text file") from None
    except ValueError:
        raise _error(path, "must be text in UTF-8: names and numbers, separated by commas") from None
    first = text.partition("\n")[0]
    return list(csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count)))


def _number(path: str, text: str, row: int, column: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _error(path, "costs must be finite numbers", row=row, column=column, value=text)
    return value


def _rows_are_actions(
    corner: str, rows: Sequence[str], heads: Sequence[str], classes: Sequence[str]
) -> tuple[bool, bool]:
    """What the first cell says, or else which side has the names of the classes; and whether it was said."""
    word = next(iter(re.split(r"[^a-z]+", corner)), "")
    if word in _CLASSES or word in _ACTIONS:
        return word in _ACTIONS, True
    return set(rows) != set(classes) and set(heads) == set(classes), False


def _check_names(path: str, found: Sequence[str], classes: Sequence[str], side: str) -> None:
    missing = [each for each in classes if each not in found]
    unknown = [each for each in found if each not in classes]
    if missing:
        listed = ", ".join(map(name, found))
        hint = f"Its {side} are {listed}. Either rows or columns must be the classes. {_SAY}"
        raise _error(path, f"has no costs for the class {name(missing[0])!r}", hint=hint)
    if unknown:
        raise _error(path, f"has costs for {name(unknown[0])!r}, which is not among the classes of --classes")


def _refuse_dear(path: str, classes: Sequence[str], actions: Sequence[str], costs: list[list[float]]) -> None:
    """Where both sides have the same names, only costs can tell that the matrix is transposed."""
    for each, row in zip(classes, costs, strict=True):
        own, least = row[actions.index(each)], min(row)
        if own > least:
            other = actions[row.index(least)]
            said = f"for class {name(each)} the action {name(each)} costs {own:g}, the action {name(other)} {least:g}"
            raise _error(path, f"{said}: rows are read as true classes, and the matrix may be transposed", hint=_SAY)


def _error(path: str, rule: str, **details: object) -> DataError:
    from stakes.tables import DataError

    return DataError(rule, file=path, **details)  # type: ignore[arg-type]
