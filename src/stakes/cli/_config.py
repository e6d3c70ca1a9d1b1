"""Options from a file: TOML whose keys are the names of the options, read only where it is named.

Of a file called pyproject.toml the table ``[tool.stakes]`` is read, with those of commands within it.

The table ``[stakes]`` is for every command that has the option; a table such as ``[evaluate]`` is for that command, and
wins, as does ``[boundary.fit]`` over ``[boundary]``. The command line wins over all.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stakes.cli._errors import UsageError
from stakes.shown.nearest import guess
from stakes.shown.text import shorten, visible
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    # For each command, its options by name without dashes.
    Commands = Mapping[str, Mapping[str, Any]]
    Tables = dict[str, dict[str, Any]]

SHARED = "stakes"
VARIABLE = "STAKES_CONFIG"
PROJECT = "pyproject.toml"
# Which file, how the command line itself is treated, and what may take all memory, is said on the command line.
NOT_IN_FILES = {"any-size", "config", "debug", "help"}
# What is written is named by whoever types the command: a file of options may come from elsewhere.
WRITTEN = {"output", "plot", "report", "state"}
_LARGEST, _MOST_POINTS = 1 << 16, 2000
# What an option takes is told by its metavar, so that a new one needs no line here.
NUMERIC = re.compile(r"\b(LOW:HIGH|K|N|T|SHARE|LEVEL|AMOUNT|NUMBER|VALUE|RATIO|BETA|SEED)\b(?!,)")
RANGE = re.compile(r"\bLOW:HIGH\b")
NAMES = re.compile(r"[A-Z]+,")
# One of these stands for all of its line: the nearest to the command line is taken.
RIVALS = (
    ("costs", "odds", "false-alarms-per-miss", "k"),
    ("clusters", "lags"),
    ("label", "event"),
    ("positive-share", "scale-pos-weight", "class-weights"),
)
# What these mean to the other commands is not what they mean here, so the table for all does not give them.
OWN = {
    "boundary.fit": {"costs", "odds", "false-alarms-per-miss"},
    "boundary.certify": {"confidence-level"},
    "boundary.monitor": {"confidence-level"},
    "decide": {"threshold"},
    "plan": {"threshold"},
}


def read_config(path: str, commands: Commands) -> Tables:
    """Return the tables of a file, every key known and every value as the command line would give it."""
    shown = name(path, 200)
    try:
        tables = tomllib.loads(_bearable(Path(path).read_bytes().decode("utf-8-sig")))
    except OSError as error:
        raise UsageError(f"--config: {shown!r} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise UsageError(f"--config: {shown!r} is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"--config: {shown!r} is not TOML: {shorten(visible(str(error)), 200)}") from None
    in_project = Path(path).name == PROJECT
    if in_project:
        tables = _of_project(tables, shown)
    found: Tables = {}
    for table, content in _unfolded(tables, commands):
        if table not in {SHARED, *commands, *_groups(commands)}:
            raise UsageError(f"{shown}: {_unknown_table(table, commands, in_project=in_project)}")
        if not isinstance(content, dict):
            raise UsageError(f"{shown}: {table} must be a table: write [{table}]")
        _refuse_nested(table, content, commands, shown)
        options = _options_of(table, commands)
        place = f"{shown}: {_heading(table, in_project=in_project)}"
        found[table] = {key: _checked(place, key, value, options) for key, value in content.items()}
    return found


def _of_project(tables: dict[str, Any], shown: str) -> dict[str, Any]:
    """Return [tool.stakes] and the tables within it as the tables of a file of their own."""
    tool = tables.get("tool")
    own = tool.get(SHARED) if isinstance(tool, dict) else None
    if not isinstance(own, dict):
        raise UsageError(f"{shown}: there is no table [tool.{SHARED}]")
    if SHARED in own:
        raise UsageError(f"{shown}: there is no table [tool.{SHARED}.{SHARED}]: write [tool.{SHARED}]")
    inner = {key: value for key, value in own.items() if isinstance(value, dict)}
    return {SHARED: {key: value for key, value in own.items() if key not in inner}, **inner}


def _heading(table: str, *, in_project: bool) -> str:
    """Return the line above a table."""
    if in_project:
        return f"[tool.{SHARED}]" if table == SHARED else f"[tool.{SHARED}.{table}]"
    return f"[{table}]"


def _refuse_nested(table: str, content: dict[str, Any], commands: Commands, shown: str) -> None:
    """Refuse [stakes.check], which is a table of its own."""
    key = next((key for key, value in content.items() if isinstance(value, dict)), None)
    if table != SHARED or key is None or key not in {*commands, *_groups(commands)}:
        return
    inner = next((f"{key}.{each}" for each in content[key] if f"{key}.{each}" in commands), key)
    raise UsageError(f"{shown}: there is no table [{SHARED}.{inner}]: write [{inner}] instead")


def _bearable(text: str) -> str:
    """Refuse what would take the parser's memory: a key of many parts costs it the square of their number."""
    if len(text) > _LARGEST or any(line.count(".") > _MOST_POINTS for line in text.splitlines()):
        raise ValueError(f"it may have {_LARGEST:,} characters, and {_MOST_POINTS:,} points in a line")
    return text


def options_for(command: str, tables: Tables, options: Iterable[str], typed: Iterable[str]) -> dict[str, Any]:
    """Return what the file adds to the options that were typed: the nearest word on each thing."""
    known, settled = set(options), _with_rivals(typed)
    found: dict[str, Any] = {}
    for table in dict.fromkeys((command, command.partition(".")[0], SHARED)):
        open_here = known - settled - (OWN.get(command, set()) if table == SHARED else set())
        new = {key: value for key, value in tables.get(table, {}).items() if key in open_here}
        found |= new
        settled |= _with_rivals(new)
    return found


def _with_rivals(options: Iterable[str]) -> set[str]:
    given = set(options)
    return given.union(*(rivals for rivals in RIVALS if given.intersection(rivals)))


def _groups(commands: Commands) -> dict[str, None]:
    """Return the first halves of names such as boundary.fit."""
    return dict.fromkeys(key.partition(".")[0] for key in commands if "." in key)


def _unfolded(tables: dict[str, Any], commands: Commands) -> Iterable[tuple[str, Any]]:
    """Yield every table, those within the table of a group on their own."""
    for table, content in tables.items():
        if table in _groups(commands) and isinstance(content, dict):
            inner = {key: value for key, value in content.items() if isinstance(value, dict)}
            yield table, {key: value for key, value in content.items() if key not in inner}
            yield from ((f"{table}.{key}", value) for key, value in inner.items())
        else:
            yield table, content


def _options_of(table: str, commands: Commands) -> Mapping[str, Any]:
    if table in commands:
        return commands[table]
    mine = [options for key, options in commands.items() if table in {SHARED, key.partition(".")[0]}]
    return {key: option for options in mine for key, option in options.items()}


def _unknown_table(table: str, commands: Commands, *, in_project: bool) -> str:
    options = _options_of(SHARED, commands)
    if table in options:
        return f"{name(table)} belongs in a table, such as [{SHARED}]"
    project = f" ([tool.{SHARED}] is read from {PROJECT} only)" if table == "tool" else ""
    listed = ", ".join(_heading(key, in_project=in_project) for key in (SHARED, *_groups(commands), *commands))
    return f"there is no table {_heading(name(table), in_project=in_project)}{project}; there are {listed}"


def _checked(place: str, key: str, value: Any, options: Mapping[str, Any]) -> Any:
    if key in NOT_IN_FILES:
        raise UsageError(f"{place} {key} belongs on the command line")
    if key not in options:
        raise UsageError(f"{place} has an unknown option {name(key)!r}{guess(key, options)}")
    if key in WRITTEN:
        raise UsageError(f"{place} {key} names a file that is written: give --{key} on the command line")
    option = options[key]
    takes = option.metavar or ""
    if option.is_flag:
        return _need(place, key, value, isinstance(value, bool), "true or false")
    if option.multiple:
        values = [value] if isinstance(value, str) else value
        good = isinstance(values, list) and all(isinstance(item, str) for item in values)
        _need(place, key, value, good, "a string or an array of strings")
        return [item.replace(",", "\\,") if isinstance(value, list) and NAMES.match(takes) else item for item in values]
    if RANGE.search(takes) and isinstance(value, list):
        good = len(value) == 2 and all(isinstance(end, str) or _is_number(end) for end in value)
        _need(place, key, value, good, "a string, a number or an array of two")
        return ":".join(map(str, value))
    if NUMERIC.search(takes):
        return str(_need(place, key, value, isinstance(value, str) or _is_number(value), "a string or a number"))
    return _need(place, key, value, isinstance(value, str), "a string")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _need(place: str, key: str, value: Any, good: bool, wanted: str) -> Any:  # noqa: FBT001  (a test's outcome)
    if not good:
        raise UsageError(f"{place} {key} must be {wanted}, got {name(str(value))!r}")
    return value
