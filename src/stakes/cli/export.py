"""``stakes export``: a saved rule as SQL, as a model of ONNX, or as JSON."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from stakes.cli import options
from stakes.cli.boundary_shared import read_boundary
from stakes.cli.console import Staged, UsageError, check_target, note, write_out
from stakes.cli.options import flag
from stakes.outputs.text import shown_name as name

EXPORT_EPILOG = """\b
Example:
  stakes export rule.json --to sql --dialect spark --score risk
"""


class To(StrEnum):
    """Languages of rules."""

    SQL = "sql"
    ONNX = "onnx"
    JSON = "json"


class Dialect(StrEnum):
    """Dialects of SQL."""

    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    SPARK = "spark"
    SQLITE = "sqlite"


class Missing(StrEnum):
    """Decisions about rows with a missing value."""

    REFUSE = "refuse"
    ACT = "act"
    WAIT = "wait"
    DEFER = "defer"


RuleFile = Annotated[str, typer.Argument(metavar="RULE.json", help="A rule that was saved.", show_default=False)]
ToOption = Annotated[To, flag("--to", "", "What it becomes.", show_default=False)]
DialectOption = Annotated[Dialect | None, flag("--dialect", "", "Of the SQL. Without it: duckdb.")]
Score = Annotated[
    str | None, flag("--score", "COLUMN", "Column with the score. Without it: as the file of a boundary says.")
]
Uncertainty = Annotated[str | None, flag("--uncertainty", "COLUMN", "Of a boundary: column with the uncertainty.")]
FalsePositive = Annotated[
    str | None, flag("--false-positive-cost", "COLUMN|AMOUNT", "Of decisions with amounts by row: what acting costs.")
]
FalseNegative = Annotated[str | None, flag("--false-negative-cost", "COLUMN|AMOUNT", "The same of not acting.")]
MissingOption = Annotated[
    Missing | None,
    flag("--missing", "", "What rows get where a value is missing. Without it: no decision, which is NULL in SQL."),
]
Target = Annotated[str | None, flag("--output -o", "OUT", "Write to this file and not to stdout; ONNX needs it.")]
_FLAGS = {
    "score": "--score",
    "uncertainty": "--uncertainty",
    "false_positive": "--false-positive-cost",
    "false_negative": "--false-negative-cost",
}


def export(
    file: RuleFile,
    *,
    to: ToOption,
    dialect: DialectOption = None,
    score: Score = None,
    uncertainty: Uncertainty = None,
    false_positive_cost: FalsePositive = None,
    false_negative_cost: FalseNegative = None,
    missing: MissingOption = None,
    output: Target = None,
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Write a saved rule for where the data are: as SQL, as a model of ONNX, or as JSON.

    Rules are a boundary, a threshold, a pair of thresholds between which cases are deferred, decisions with amounts by
    row, and an update of scores.
    """
    target = check_target("--output", output, (f".{to}",), file)
    typed = dict(zip(_FLAGS, (score, uncertainty, false_positive_cost, false_negative_cost), strict=True))
    if to == To.JSON:
        given = [_FLAGS[key] for key, text in typed.items() if text is not None] + ["--missing"] * (missing is not None)
        if given:
            raise UsageError(f"{given[0]} is of sql and onnx: JSON holds the rule without columns")
    if to != To.SQL and dialect is not None:
        raise UsageError("--dialect is of sql")
    if to == To.ONNX and target is None:
        raise UsageError("onnx needs -o OUT.onnx: a model is no text")
    about = {"dialect": dialect, "missing": missing}
    further = {key: str(value) for key, value in about.items() if value is not None}
    return partial(run_export, Export(file, to, typed, further), target)


@dataclass(frozen=True)
class Export:
    """Which rule becomes what, of which columns."""

    file: str
    to: To
    typed: dict[str, str | None]
    further: dict[str, str]

    def content(self) -> str | bytes:
        """Write the rule."""
        rule = self._rule()
        if self.to == To.JSON:
            return str(rule.to_json())
        write = getattr(rule, f"to_{self.to}")
        takes = signature(write).parameters
        if "missing" in self.further and "missing" not in takes:
            raise UsageError("--missing is of rules that decide: an update leaves missing scores missing")
        try:
            found: str | bytes = write(**self._columns(rule, list(takes)), **self.further)
        except ValueError as error:  # which names what was typed
            raise UsageError(str(error).removesuffix(".")) from None
        return found

    def _rule(self) -> Any:
        from stakes._load import load
        from stakes.tables import DataError

        try:
            rule = load(self.file)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=self.file) from None
        except ValueError as error:
            said = str(error).removesuffix(".").removeprefix(f"{Path(self.file).name}: ")
            raise DataError(said, file=self.file) from None
        if not hasattr(rule, "to_sql"):
            raise DataError(f"is no rule: it is a {type(rule).__name__}", file=self.file)
        return rule

    def _columns(self, rule: Any, takes: list[str]) -> dict[str, str | float]:
        """Names of columns, and amounts, by the arguments that they are."""
        from stakes.boundary import Boundary

        named = read_boundary(self.file)[1] if isinstance(rule, Boundary) else {}
        found: dict[str, str | float] = {}
        for key, option in _FLAGS.items():
            text = self.typed[key]
            if key not in takes and text is not None:
                raise UsageError(f"{option} is of other rules than a {type(rule).__name__}")
            if key in takes:
                text = named.get(key) if text is None else text
                if text is None:
                    raise UsageError(f"{option} COLUMN is needed for a {type(rule).__name__}")
                found[key] = _amount(text) if key.startswith("false_") else text
        return found


def _amount(text: str) -> str | float:
    """Read one amount for all rows, or the name of a column."""
    try:
        return float(text)
    except ValueError:
        return text


def run_export(request: Export, target: Path | None) -> None:
    """Write the rule, to a file as a whole."""
    content = request.content()
    if target is None:
        write_out(f"{content!s}\n")
        return
    with Staged() as staged:
        data = content if isinstance(content, bytes) else f"{content}\n".encode()
        staged.beside(target).write_bytes(data)
        staged.commit()
    note(f"rule written to {name(str(target), 200)}")
