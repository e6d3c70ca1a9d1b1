"""``stakes plan``: how many rows a question needs, before there are any."""

import re
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from stakes.cli import _options as opt
from stakes.cli._deliver import Delivery, deliver, plan_delivery
from stakes.cli._errors import UsageError
from stakes.cli._settings import read_amount, read_share
from stakes.cli._spread import spread
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from stakes.information import Plan

EPILOG = """\b
Example:
  stakes plan gain --prevalence 0.1 --sensitivity 0.7 --specificity 0.8 --threshold 0.1 --power 0.8
"""

# as in stakes.information, which help need not wait for
TARGETS = ("net_benefit", "standardized_net_benefit", "gain", "regret", "auc", "o_to_e", "slope", "certificate")
Target = StrEnum("Target", {target.upper(): target for target in TARGETS})  # type: ignore[misc]
_SHARES = ("power", "prevalence", "sensitivity", "specificity", "threshold", "auc", "max_error")


Typed = str | None


def _text(option: str, metavar: str, words: str) -> Any:
    return typer.Option(option, metavar=metavar, help=words)


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What is asked for and expected, as typed; the names are those of ``rows_needed``."""

    width: Annotated[Typed, _text("--width", "NUMBER", "Full width that the interval is to have.")] = None
    power: Annotated[Typed, _text("--power", "SHARE", "In place of a width: probability of showing it.")] = None
    prevalence: Annotated[Typed, _text("--prevalence", "SHARE", "Expected share of positives.")] = None
    sensitivity: Annotated[Typed, _text("--sensitivity", "SHARE", "Expected at the threshold.")] = None
    specificity: Annotated[Typed, _text("--specificity", "SHARE", "Expected at the threshold.")] = None
    threshold: Annotated[Typed, _text("--threshold", "T", "At which decisions are taken.")] = None
    standard_deviation: Annotated[Typed, _text("--standard-deviation", "NUMBER", "Of the rows' costs, for regret.")] = (
        None
    )
    difference: Annotated[Typed, _text("--difference", "NUMBER", "Of mean costs that is to be shown, for regret.")] = (
        None
    )
    auc: Annotated[Typed, _text("--auc", "SHARE", "Expected AUC.")] = None
    o_to_e: Annotated[
        Typed, _text("--o-to-e", "RATIO", "Expected ratio of observed to expected events; 1 by default.")
    ] = None
    linear_predictor: Annotated[
        Typed, _text("--linear-predictor", "MEAN,SD", "Of the scores' log-odds, for the slope.")
    ] = None
    error: Annotated[
        Typed, _text("--error", "SHARE", "True share of mistakes among the decided, for a certificate.")
    ] = None
    max_error: Annotated[Typed, _text("--max-error", "SHARE", "The limit that a certificate promises.")] = None


@spread()
def plan(
    target: Annotated[Target, typer.Argument(help="What is to be known.")],
    expected: Expected,
    *,
    confidence_level: opt.ConfidenceLevel = "0.95",
    as_json: opt.AsJson = False,
    output: opt.Output = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Say how many rows a validation needs: for an interval of some width, a difference, or a certificate.

    Needs no data. What a question needs besides is said where it is missing.
    """
    from stakes.information import check_asked, rows_needed

    delivery = plan_delivery(None, output, as_json=as_json)
    given: dict[str, Any] = {key: _read(key, text) for key, text in vars(expected).items() if text is not None}
    try:
        level = read_share("--confidence-level", confidence_level)
        check_asked(str(target), set(given), f"plan {target}", _option)
        found = rows_needed(for_=str(target), confidence_level=level, **given)
    except ValueError as problem:
        raise UsageError(_as_typed(str(problem).removesuffix("."))) from None
    return partial(run, found, delivery)


def _option(key: str) -> str:
    return "--" + key.replace("_", "-")


def _as_typed(message: str) -> str:
    """Write the library's arguments as options: width=0.1 as --width 0.1, and max_error as --max-error."""
    names = "|".join(field.name for field in fields(Expected))
    message = re.sub(rf"\b({names})=", lambda found: f"{_option(found[1])} ", message)
    return re.sub(r"^error\b|\bmax_error\b", lambda found: _option(found[0]), message)


def _read(key: str, text: str) -> float | tuple[float, ...]:
    option = _option(key)
    if key in _SHARES:
        return read_share(option, text)
    if key == "error" and text.strip() in {"0", "0.0"}:
        return 0.0
    if key != "linear_predictor":
        return read_amount(option, text)
    try:
        pair = tuple(float(part) for part in text.split(","))
    except ValueError:
        pair = ()
    if len(pair) != 2:
        raise UsageError(f"{option} must be two numbers, MEAN,SD, got {name(text)!r}")
    return pair


def run(found: "Plan", delivery: Delivery) -> None:
    """Print the plan."""
    deliver(found, delivery, partial(show, found=found))


def show(console: Console, found: "Plan") -> None:
    """Print one sentence."""
    console.print(Text(found.sentence + "."))
