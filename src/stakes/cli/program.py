"""Commands of click, options from a file, exit codes."""

from __future__ import annotations

import functools
import inspect
import io
import os
import re
import signal
import threading
import traceback
import warnings
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from stakes._version import __version__
from stakes.cli import console
from stakes.cli.memory import too_little
from stakes.cli.options import Argument, Job, parameters_of
from stakes.outputs.files import LIFTED, any_size
from stakes.outputs.text import guess, shorten, shown_name as name, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Commands = Mapping[str, Mapping[str, Any]]
    Tables = dict[str, dict[str, Any]]


# Options from a file: TOML whose keys are the names of the options, read only where it is named.
#
# Of a file called pyproject.toml the table ``[tool.stakes]`` is read, with those of commands within it.
#
# The table ``[stakes]`` is for every command that has the option; a table such as ``[evaluate]`` is for that command,
# and wins, as does ``[boundary.fit]`` over ``[boundary]``. The command line wins over all.

SHARED = "stakes"
VARIABLE = "STAKES_CONFIG"
PROJECT = "pyproject.toml"
# Which file, how the command line itself is treated, and what may take all memory, is said on the command line.
NOT_IN_FILES = {"any-size", "config", "debug", "help"}
# What is written is named by whoever types the command: a file of options may come from elsewhere.
WRITTEN = {"keep", "output", "plot", "report", "save", "state"}
_LARGEST, _MOST_POINTS = 1 << 16, 2000
# What an option takes is told by its metavar, so that a new one needs no line here.
NUMERIC = re.compile(r"\b(LOW:HIGH|K|N|T|SHARE|LEVEL|AMOUNT|NUMBER|VALUE|RATIO|BETA|SEED)\b(?!,)")
RANGE = re.compile(r"\bLOW:HIGH\b")
NAMES = re.compile(r"[A-Z]+,")
_FILE = re.compile(r"\b(FILE|OUT)\b|\.(json|html|png)$")
# One of these stands for all of its line: the nearest to the command line is taken.
RIVALS = (
    ("costs", "odds", "false-alarms-per-miss"),
    ("clusters", "lags"),
    ("label", "event"),
    ("positive-share", "scale-pos-weight", "class-weights"),
)
RIVALS_OF = {"advise": (("costs", "odds", "false-alarms-per-miss", "capacity"),)}  # a range of ratios, or a budget
# What these mean to the other commands is not what they mean here, so the table for all does not give them.
OWN = {
    "advise": {"capacity"},
    "boundary.fit": {"capacity", "costs", "odds", "false-alarms-per-miss"},
    "boundary.certify": {"confidence-level"},
    "boundary.monitor": {"confidence-level"},
    "decide": {"costs"},
    "plan": {"threshold"},
}


# Beside these arguments nothing is taken from the file: kept evaluations have their settings with them.
ALONE = {"compare": "later"}


def read_config(path: str, commands: Commands) -> Tables:
    """Return the tables of a file, every key known and every value as the command line would give it."""
    import tomllib

    shown = name(path, 200)
    try:
        tables = tomllib.loads(_bearable(Path(path).read_bytes().decode("utf-8-sig")))
    except OSError as error:
        raise console.UsageError(f"--config: {shown!r} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise console.UsageError(f"--config: {shown!r} is nested too deeply") from None
    except ValueError as error:
        raise console.UsageError(f"--config: {shown!r} is not TOML: {shorten(visible(str(error)), 200)}") from None
    in_project = Path(path).name == PROJECT
    if in_project:
        tables = _of_project(tables, shown)
    found: Tables = {}
    for table, content in _unfolded(tables, commands):
        if table not in {SHARED, *commands, *_groups(commands)}:
            raise console.UsageError(f"{shown}: {_unknown_table(table, commands, in_project=in_project)}")
        if not isinstance(content, dict):
            raise console.UsageError(f"{shown}: {table} must be a table: write [{table}]")
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
        raise console.UsageError(f"{shown}: there is no table [tool.{SHARED}]")
    if SHARED in own:
        raise console.UsageError(f"{shown}: there is no table [tool.{SHARED}.{SHARED}]: write [tool.{SHARED}]")
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
    raise console.UsageError(f"{shown}: there is no table [{SHARED}.{inner}]: write [{inner}] instead")


def _bearable(text: str) -> str:
    """Refuse what would take the parser's memory: a key of many parts costs it the square of their number."""
    if len(text) > _LARGEST or any(line.count(".") > _MOST_POINTS for line in text.splitlines()):
        raise ValueError(f"it may have {_LARGEST:,} characters, and {_MOST_POINTS:,} points in a line")
    return text


def options_for(command: str, tables: Tables, options: Iterable[str], typed: Iterable[str]) -> dict[str, Any]:
    """Return what the file adds to the options that were typed: the nearest word on each thing."""
    known, settled = set(options), _with_rivals(command, typed)
    found: dict[str, Any] = {}
    for table in dict.fromkeys((command, command.partition(".")[0], SHARED)):
        open_here = known - settled - (OWN.get(command, set()) if table == SHARED else set())
        new = {key: value for key, value in tables.get(table, {}).items() if key in open_here}
        found |= new
        settled |= _with_rivals(command, new)
    return found


def _with_rivals(command: str, options: Iterable[str]) -> set[str]:
    given, rivals = set(options), (*RIVALS, *RIVALS_OF.get(command, ()))
    return given.union(*(each for each in rivals if given.intersection(each)))


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
        raise console.UsageError(f"{place} {key} belongs on the command line")
    if key not in options:
        raise console.UsageError(f"{place} has an unknown option {name(key)!r}{guess(key, options)}")
    if key in WRITTEN:
        raise console.UsageError(f"{place} {key} names a file that is written: give --{key} on the command line")
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
        raise console.UsageError(f"{place} {key} must be {wanted}, got {_as_written(value)}")
    return value


def _as_written(value: Any) -> str:
    """Return a value of the file about as it stands there: a text in quotes, and a flag in small letters."""
    if isinstance(value, str):
        return repr(name(value))
    return str(value).lower() if isinstance(value, bool) else name(str(value))


# A command whose options may also come from a file that is named.


class Command(click.Command):
    """Parse the arguments; what they leave open is taken from the file that --config or STAKES_CONFIG names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name this command in every refusal: click does not where an option lacks its value."""
        try:
            return self._parsed(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def _parsed(self, ctx: Any, args: list[str]) -> list[str]:
        """Look at what was typed, add what the file says, let click do the rest, and refuse what is left over."""
        own = options_of(self)
        if "config" in own and not ctx.resilient_parsing:
            typed, _, _ = self.make_parser(ctx).parse_args(list(args))
            path = typed.get("config", os.environ.get(VARIABLE) or None)
            asks = self.get_help_option(ctx)
            if path is not None and not (asks is not None and typed.get(str(asks.name))):
                commands = ctx.find_root().command.options_of_all()
                tables = read_config(path, {key: options for key, options in commands.items() if "config" in options})
                known = {option.name: key for key, option in own.items()}
                command = _name_in_files(ctx)
                found = options_for(command, tables, own, (known[key] for key in typed if key in known))
                if isinstance(typed.get(ALONE.get(command, "")), str):
                    found = {}
                ctx.default_map = {own[key].name: value for key, value in found.items()}
                named = "" if "config" in typed else f" (named by {VARIABLE})"
                listed = ", ".join(found) or "none for this command"
                console.note(f"options taken from {name(path, 200)}{named}: {listed}")
        ctx.allow_extra_args = True  # click would refuse them without a remedy
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            ctx.fail(f"{ctx.command_path} {_left_over(self, [name(each, 200) for each in rest])}")
        if not ctx.resilient_parsing:
            config = ctx.params.get("config") or os.environ.get(VARIABLE)
            files = _files_named(self, {**ctx.params, "config": config})
            _refuse_overwriting(files)
            _refuse_reading_twice(files)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments above the options."""
        arguments = [param for param in self.params if isinstance(param, Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(str(param.metavar), param.line()) for param in arguments])
        super().format_options(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Carry out the command where the address space holds what it needs."""
        reason = too_little()
        if reason is not None:
            raise console.LimitError(reason)
        return super().invoke(ctx)


def _refuse_overwriting(found: Sequence[tuple[Any, str]]) -> None:
    """Refuse to write to a file that is read, or that is written besides."""
    for (first, one), (second, other) in combinations([(param, text) for param, text in found if text != "-"], 2):
        if first is not second and WRITTEN.intersection((first.name, second.name)) and console.is_one_file(one, other):
            both = " and ".join(
                str(each.metavar).strip("[].") if isinstance(each, Argument) else each.opts[0]
                for each in (first, second)
            )
            raise console.UsageError(f"{both} name one file, {name(other, 200)!r}, which would be overwritten")


def _refuse_reading_twice(found: Sequence[tuple[Any, str]]) -> None:
    """Refuse two names of one stream, of which the second reader would find nothing."""
    for one, other in combinations([text for param, text in found if param.name not in WRITTEN], 2):
        if _is_one_stream(one, other):
            both = f"{name(one, 200)!r} and {name(other, 200)!r}"
            raise console.UsageError(f"{both} name one stream, which is read once: name a file for one of them")


def _is_one_stream(one: str, other: str) -> bool:
    """Whether two names are of one pipe or device, or both are -."""
    first, second = ("/dev/stdin" if text == "-" else text for text in (one, other))
    if not console.is_one_file(first, second):
        return False
    from stakes.tables import is_pipe

    return one == other == "-" or is_pipe(first)


def _files_named(command: Command, given: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """Each name of a file that is read or written, with its parameter."""
    found: list[tuple[Any, str]] = []
    for param in command.params:
        if isinstance(param, Argument) or _FILE.search(getattr(param, "metavar", None) or ""):
            value = given[str(param.name)]
            found += [(param, text) for text in ([value] if isinstance(value, str) else value or ())]
    return found


def _left_over(command: Any, rest: list[str]) -> str:
    """Say which arguments are too many; files that a shell made of a pattern are the usual ones."""
    taken = [
        param.metavar or str(param.name).upper() for param in command.params if param.param_type_name == "argument"
    ]
    more = f" and {len(rest) - 1} more" if len(rest) > 1 else ""
    if "FILE" not in taken:
        return f"takes {' '.join(taken) or 'options only'}, got also {rest[0]!r}{more}"
    return (
        f"takes {'one FILE' if len(taken) == 1 else ' '.join(taken)}, got also {rest[0]!r}{more}: evaluate, check "
        "and compare take several Parquet files by a pattern in quotes, such as 'day=*/*.parquet'; join other files "
        "first"
    )


def _name_in_files(ctx: Any) -> str:
    names: list[str] = []
    while ctx.parent is not None:
        names.append(str(ctx.info_name))
        ctx = ctx.parent
    return ".".join(reversed(names))


def options_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by their long names."""
    named = {option: param for param in command.params for option in param.opts if option.startswith("--")}
    return {option.removeprefix("--"): param for option, param in named.items()}


# Commands whose modules are imported when one of them is called: a page that lists them needs their first lines.


class Group(click.Group):
    """Commands by name, each with the module that holds it, which is imported when it is called, and a line about it.

    The module holds the function ``name`` and its examples ``NAME_EPILOG``, or a `Group` of that name in ``GROUP``.
    """

    about: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def __init__(self, **given: Any) -> None:
        super().__init__(no_args_is_help=False, **given)
        self.commands = {name: click.Command(name, short_help=line) for name, (_, line) in self.about.items()}

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return their names in the order of `about`; click would sort them."""
        return list(self.about)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is called, as a whole."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and self.whole(str(name)), rest

    def whole(self, name: str) -> Any:
        """Import a command, or a group of them, with its options."""
        return _imported(self.about[name][0], name)

    def options_of_all(self) -> dict[str, dict[str, Any]]:
        """Return the options of every command; one in a group is called after both, such as boundary.fit."""
        found: dict[str, dict[str, Any]] = {}
        for key in self.commands:
            command = self.whole(key)
            if isinstance(command, Group):
                found |= {f"{key}.{inner}": options for inner, options in command.options_of_all().items()}
            else:
                found[key] = options_of(command)
        return found


@functools.cache
def _imported(room: str, name: str) -> Any:
    module = import_module(f"stakes.cli.{room}")
    group = getattr(module, "GROUP", None)
    if group is not None and group.name == name:
        return group
    function = getattr(module, name)
    return Command(
        name,
        params=parameters_of(function),
        callback=function,
        help=inspect.getdoc(function),
        epilog=getattr(module, f"{name.upper()}_EPILOG"),
        context_settings={"show_default": True},
    )


# The program: click reads the arguments, and what they ask for is run here, under one set of exit codes.
#
# Only the parsing is left to click. Errors, interruption and broken pipes are handled here, so that they do not
# change with its version.

# Their default is to end the program on the spot, whatever it is writing.
_ENDING = ("SIGTERM", "SIGHUP")


class _Program(Group):
    about: ClassVar = {
        "evaluate": (
            "evaluate",
            "Say which model to act on over the plausible thresholds, by how much it is better, and how sure that is.",
        ),
        "decide": (
            "decide",
            "Choose the rows whose selection maximises the expected value of a measure on this batch, and mark them.",
        ),
        "compare": (
            "evaluate",
            "Say whether one model costs less than another on the same rows, by how much, and how sure that is.",
        ),
        "check": (
            "evaluate",
            "Say what to know of the predictions before acting on them: coded findings, each with its remedy.",
        ),
        "advise": (
            "advise",
            "Say which metric fits the decision, why, how to call it, and what accuracy, F1 or AUC would get wrong.",
        ),
        "plan": (
            "advise",
            "Say how many rows a validation needs: for an interval of some width, a difference, or a certificate.",
        ),
        "correct": (
            "correct",
            "Undo class weights or sampling in a file of scores, and test with --label what that leaves.",
        ),
        "update": (
            "update",
            "Update scores to new outcomes, by no more than tests ask for, and say what that saves.",
        ),
        "export": ("decide", "Write a saved rule for where the data are: as SQL, as a model of ONNX, or as JSON."),
        "demo": ("evaluate", "Evaluate three models on the example that comes with stakes; no file is needed."),
        "page": (
            "page",
            "Write a page on which a CSV file is dropped and evaluated in the browser; nothing leaves the machine.",
        ),
        "boundary": ("boundary_fit", "Thresholds over score and uncertainty: fit, certify, apply and monitor them."),
        "watch": ("watch", "Say, day by day, whether the cost has risen since a model was taken into use."),
    }


_with_version = click.version_option(
    __version__, prog_name="stakes", message="%(prog)s %(version)s", help="Show the version."
)
PROGRAM = _with_version(
    _Program(name="stakes", help="Evaluate classifiers by the cost of the decisions made with their scores.")
)


class _Ended(BaseException):
    """A signal that ends the program."""


@console.open_streams()
def run(argv: Sequence[str]) -> int:
    """Carry out a command line and return its exit code."""
    try:
        with _signals_as_exceptions(), any_size(LIFTED.get()):  # which an option may lift for this run
            parsed = _parse(argv)
            return _run_job(parsed) if callable(parsed) else int(parsed or console.DONE)
    except (KeyboardInterrupt, click.Abort):
        console.say("", "interrupted")
        return console.INTERRUPTED
    except _Ended as ended:
        console.say("", f"ended by {signal.Signals(ended.args[0]).name}")
        return 128 + int(ended.args[0])
    except Exception as error:  # noqa: BLE001  (the one place where every error becomes a message)
        if "--debug" in argv:
            traceback.print_exc()
        problem = _problem(error)
        console.fail(problem.message, problem.hint)
        return problem.code


def _parse(argv: Sequence[str]) -> Any:
    """Let click read the arguments; the pages that it prints, such as help, leave as all other results do."""
    page = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")  # scripts of completion are printed as bytes
    try:
        with redirect_stdout(page):
            return PROGRAM(args=list(argv) or ["--help"], prog_name="stakes", standalone_mode=False)
    finally:
        page.seek(0)
        text = page.read()
        if text:
            console.write_out(text)


@contextmanager
def _signals_as_exceptions() -> Iterator[None]:
    """Let a signal that ends the program unwind it, so that files written so far are removed."""

    def end(number: int, _: object) -> None:
        raise _Ended(number)

    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield
        return
    numbers = [getattr(signal, key) for key in _ENDING if hasattr(signal, key)]
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _run_job(job: Job) -> int:
    """Run, and repeat what libraries warned of in plain words."""
    with warnings.catch_warnings(record=True) as caught:
        code = job()
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        console.warn(message)
    return console.DONE if code is None else code


def _problem(error: Exception) -> console.UsageProblem:
    if isinstance(getattr(error, "exit_code", None), int) and hasattr(error, "format_message"):
        return console.parsing_problem(error)
    return console.explain(error)
