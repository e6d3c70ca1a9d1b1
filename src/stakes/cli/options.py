"""Shared options."""

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

import click

from stakes.outputs.files import LIFTED

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Command: "TypeAlias" = "Callable[..., Job]"
    MakesParameter: "TypeAlias" = "Callable[..., click.Parameter]"


# The options that commands share; their names are those of the library.


class Engine(StrEnum):
    """What looks at Parquet files."""

    AUTO = "auto"
    MEMORY = "memory"
    POLARS = "polars"
    DUCKDB = "duckdb"
    SPARK = "spark"


class OnMissing(StrEnum):
    """What to do with incomplete rows."""

    RAISE = "raise"
    DROP = "drop"


class Format(StrEnum):
    """Formats of prediction files."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    JSONL = "jsonl"


class Scale(StrEnum):
    """What the scores are divided by."""

    REGRET = "regret"
    INTEGRAL = "integral"
    LOSS = "loss"


def _lift_limit(_context: click.Context, _param: click.Parameter, lifted: bool) -> bool:  # noqa: FBT001  (click's)
    """Read what unpacks to any size until the program ends, which sets the limit again."""
    if lifted:
        LIFTED.set(True)
    return lifted


_FILES = re.compile(r"FILE|OUT|BOUNDARY|\.json")


def _completed(_context: click.Context, param: click.Parameter, begun: str) -> "list[CompletionItem]":
    """Let the shell complete names of files, where one is asked for; click knows choices itself."""
    from click.shell_completion import CompletionItem

    if param.metavar is not None and _FILES.search(param.metavar):
        return [CompletionItem(begun, type="file")]
    return param.type.shell_complete(_context, param, begun)


class Argument(click.Argument):
    """What is given by its place, with a line about it on the page of help."""

    about = ""

    def line(self) -> str:
        """Return its line."""
        return f"{self.about}  [required]" if self.required else self.about


def flag(flags: str, takes: str, about: str, **more: Any) -> "MakesParameter":
    """Describe an option: its flags, what stands after them ("" where the kind of its value says so), and its help."""

    def make(name: str, *, several: bool = False, **kind: Any) -> click.Parameter:
        kind |= {"metavar": takes or None, "help": about, "multiple": several, "shell_complete": _completed, **more}
        return click.Option([name, *flags.split()], **kind)

    return make


def argument(takes: str, about: str) -> "MakesParameter":
    """Describe what is given by its place: what it is called, and its help."""

    def make(name: str, *, several: bool = False, **kind: Any) -> click.Parameter:
        made = Argument([name], metavar=takes, nargs=-1 if several else 1, shell_complete=_completed, **kind)
        made.about = about
        return made

    return make


File = Annotated[str, argument("FILE", "Predictions: CSV, Parquet, Arrow or JSON lines; - is standard input.")]
Label = Annotated[str | None, flag("--label", "COLUMN", "Column with the outcome, of two values.")]
Models = Annotated[
    list[str] | None,
    flag(
        "--models",
        "COLUMN,...",
        "Columns with predicted probabilities; may be repeated. Without it: every other numeric column. "
        r"A comma inside a name is written \,",
    ),
]
Weight = Annotated[str | None, flag("--weight", "COLUMN", "Column with weights >= 0.")]
Prior = Annotated[
    str | None, flag("--prior", "SHARE", "Share of positives to correct for, where it is not --training-prior.")
]
TrainingPrior = Annotated[
    str | None, flag("--training-prior", "SHARE", "Share of positives in the training data, before any sampling.")
]
PosLabel = Annotated[
    str | None,
    flag(
        "--pos-label", "VALUE", "The outcome that counts as positive. Without it: 1 of 0 and 1, true of false and true."
    ),
]
Missing = Annotated[OnMissing, flag("--on-missing", "", "Rows with a missing value: an error, or dropped.")]
FileFormat = Annotated[Format | None, flag("--format", "", "Without it: as the file's content and name say.")]
AnySize = Annotated[
    bool,
    flag(
        "--any-size",
        "",
        "Read files that unpack to more than 100 times their size and 256 MiB, too.",
        callback=_lift_limit,
    ),
]
EngineOption = Annotated[
    Engine,
    flag(
        "--engine",
        "",
        "What looks at Parquet files where they lie, or memory to read them; auto: polars for a pattern and from "
        "1 GiB on.",
    ),
]
Resolution = Annotated[
    str,
    flag(
        "--resolution",
        "CELLS",
        "Pool the scores of files that are not read whole into so many cells of equal width, or exact; auto: 8,192 "
        "from a million rows on. Costs and differences do not change, and the rest by a bound that is reported.",
    ),
]
Costs = Annotated[
    str | None,
    flag(
        "--costs",
        "LOW:HIGH",
        "Range of plausible thresholds, such as 0.02:0.10 or 2%:10%; a single value is a known threshold.",
    ),
]
Odds = Annotated[
    str | None,
    flag(
        "--odds",
        "LOW:HIGH",
        "The same as odds of false-alarm to miss cost: 1/50:1/10 (a slash inside odds, a colon between the ends).",
    ),
]
FalseAlarms = Annotated[
    str | None,
    flag("--false-alarms-per-miss", "LOW:HIGH", "The same as how many false alarms are as bad as one miss: 10:50."),
]
Groups = Annotated[
    list[str] | None,
    flag("--groups", "COLUMN,...", "Columns of subgroups: the same numbers in each, and whether one is served worse."),
]
Clusters = Annotated[
    str | None,
    flag(
        "--clusters",
        "COLUMN",
        "Column of what only differs independently, such as patients: intervals then rest on the clusters.",
    ),
]
Lags = Annotated[
    str | None,
    flag(
        "--lags",
        "auto|N",
        "Rows are in order of time: intervals allow for autocorrelation, by slow cosines (auto) or N lags.",
    ),
]
Incumbent = Annotated[
    str | None, flag("--incumbent", "COLUMN", "The model named before these rows were seen, such as that in use.")
]
NTried = Annotated[
    str | None,
    flag(
        "--n-tried",
        "NUMBER",
        "How many models were tried on these rows, those not shown included: the more, the larger the correction.",
    ),
]
Harm = Annotated[
    str | None,
    flag(
        "--harm",
        "NUMBER|MODEL=NUMBER,...",
        "What obtaining a score costs each case, in missed positives (test harm), for all models or some by name: "
        "costs and net benefit count it.",
    ),
]
Weighting = Annotated[
    str | None,
    flag(
        "--weighting",
        "NAME",
        "How much each threshold in the range counts: uniform (the default), log-odds, net-benefit, beta:A,B or "
        "shifted:MEDIAN.",
    ),
]
Rule = Annotated[
    str,
    flag(
        "--rule",
        "score|optimal|T",
        "Act where the score reaches the threshold (score), at the best cut in hindsight (optimal), or always "
        "from the score T on; with amounts T is of the share that the expected cost of a miss has of both mistakes'.",
    ),
]
ScaleOption = Annotated[
    Scale | None,
    flag(
        "--scale",
        "",
        "Mean regret per decision, its integral, or the loss (Brier score, log loss at 0:1). Without it: regret "
        "where it is defined.",
    ),
]
Prevalence = Annotated[
    str | None,
    flag("--prevalence", "SHARE", "Reweight the classes to this share of positives, as for case-control data."),
]
ConfidenceLevel = Annotated[str, flag("--confidence-level", "LEVEL", "Of every interval.")]
UnitCost = Annotated[str, flag("--unit-cost", "AMOUNT", "What one miss and one false alarm cost together.")]
Per = Annotated[
    str | None,
    flag(
        "--per",
        "NUMBER",
        "Number of decisions that costs refer to, such as 1000. Of amounts by row: number of rows that money is for, "
        "1000 without it, or total.",
    ),
]
ActionName = Annotated[str, flag("--action-name", "WORD", "What acting on a case is called, such as refuse.")]
EventName = Annotated[str, flag("--event-name", "WORD", "What a positive case is called, such as 'bad loan'.")]
Unlabelled = Annotated[
    bool,
    flag(
        "--unlabelled",
        "",
        "Rows without outcomes: what acting on the scores of --models will cost, as the scores themselves say.",
    ),
]
Details = Annotated[
    bool,
    flag(
        "--details",
        "",
        "Also what the answer rests on: pointwise intervals, areas under the ROC curve, miscalibration and "
        "discrimination, skill, and shares acted on.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    flag(
        "--metric",
        "NAME[:KEY=VALUE,...]",
        "A further metric, such as h_measure_score or net_benefit_score:threshold=0.1; may be repeated.",
    ),
]
Classes = Annotated[
    list[str] | None,
    flag(
        "--classes",
        "NAME,...",
        "With --cost-matrix: the classes, as the label names them. A model has one column for each, named by the "
        "model, one of _ . : - or a space, and the class; columns named by the classes alone are one model.",
    ),
]
CostMatrices = Annotated[
    list[str] | None,
    flag(
        "--cost-matrix",
        "FILE",
        "CSV with what each action costs in each class: a row of names, then a name and costs in each row. Given "
        "twice: the two ends between which costs may lie, as far as --costs says.",
    ),
]
Report = Annotated[str | None, flag("--report", "OUT.html", "Also write the report, one HTML file.")]
Keep = Annotated[
    str | None,
    flag("--keep", "OUT.json", "Also keep what the evaluation rests on, to be added to that of other rows; no rows."),
]
Calibration = Annotated[
    bool,
    flag(
        "--calibration",
        "",
        "Also the calibration of every model, of all cases and of those scored within the range: O:E, calibration "
        "in the large, slope and ICI.",
    ),
]
AsJson = Annotated[bool, flag("--json", "", "Print JSON, and nothing else, on stdout.")]
Output = Annotated[
    str | None,
    flag(
        "--output -o", "OUT", "Write the result to this file and not to stdout: .txt, .json, .csv or .md; - is stdout."
    ),
]
RowsOutput = Annotated[
    str | None,
    flag(
        "--output -o",
        "OUT",
        "The file with its new columns: .csv, .parquet, .arrow or .jsonl; - is standard output, as CSV.",
    ),
]
Config = Annotated[
    str | None,
    flag(
        "--config",
        "FILE",
        'Take further options from this TOML file, as from the one that STAKES_CONFIG names: label = "cancer" in '
        "its table [stakes], or in one for this command.",
    ),
]
Debug = Annotated[bool, flag("--debug", "", "Show the traceback of an error.")]

# What a command returns: its request, checked and ready to run, which may return an exit code.
Job = Callable[[], int | None]


# A command takes whole sets of options: each field of a dataclass is an option, and the command gets the set made.


def spread(*without: str) -> "Callable[[Command], Command]":
    """Make options of the fields of the sets that a command takes, less those that mean nothing to it."""

    def decorate(command: "Command") -> "Command":
        hints = get_type_hints(command, include_extras=True)
        sets: dict[str, Any] = {name: kind for name, kind in hints.items() if name != "return" and is_dataclass(kind)}
        parameters: list[Parameter] = []
        for parameter in signature(command).parameters.values():
            kind = hints[parameter.name]
            parameters += _fields(kind, without) if is_dataclass(kind) else [parameter.replace(annotation=kind)]

        @wraps(command)
        def called(**given: Any) -> Job:
            made = {name: kind(**_taken(given, kind)) for name, kind in sets.items()}
            return command(**made, **given)

        vars(called)["__signature__"] = Signature(parameters)
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return called

    return decorate


def _fields(kind: Any, without: tuple[str, ...]) -> "Iterator[Parameter]":
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if field.name not in without:
            default = Parameter.empty if field.default is MISSING else field.default
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])


def _taken(given: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {field.name: given.pop(field.name) for field in fields(kind) if field.name in given}


# What click is to know of a command, from the function: the kind of each parameter, its flags, help and default.


def parameters_of(command: "Callable[..., Any]") -> list[click.Parameter]:
    """Return the options and arguments of a command."""
    hints = get_type_hints(command, include_extras=True)
    return [_parameter(hints[name], parameter) for name, parameter in signature(command).parameters.items()]


def _parameter(hint: Any, parameter: Parameter) -> click.Parameter:
    """Describe a parameter to click: a flag, a choice or text, which repeats where the function takes a list."""
    kind, make = get_args(hint)
    if isinstance(kind, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    needed = parameter.default is Parameter.empty
    how: dict[str, Any] = {"required": True} if needed else {"required": False, "default": parameter.default}
    if kind is bool:
        how["is_flag"] = True
    elif get_origin(kind) is list:
        how |= {"several": True, "callback": lambda _context, _param, given: list(given) or None}
    elif issubclass(kind, StrEnum):
        how["type"] = click.Choice([each.value for each in kind])
        if isinstance(parameter.default, kind):
            how["default"] = parameter.default.value  # or its name would be shown
        how["callback"] = lambda _context, _param, given: None if given is None else kind(given)
    return make(parameter.name, **how)
