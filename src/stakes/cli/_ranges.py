"""Ranges of plausible thresholds, in the ways people write them, become cost distributions.

A colon stands between the two ends of a range, a slash inside one odds: ``1/50:1/10``.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from stakes.cli._errors import UsageError
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Callable

    from stakes.costs import CostDistribution

COSTS, ODDS, FALSE_ALARMS = "--costs", "--odds", "--false-alarms-per-miss"
_EXAMPLES = {COSTS: "0.02:0.10", ODDS: "1/50:1/10", FALSE_ALARMS: "10:50"}
# what people write between the ends of a range; the dash of 1e-3 stands after no digit
_QUOTIENT = re.compile(r"[0-9.]+/[0-9.]+(:[0-9.]+/[0-9.]+)?")
_BETWEEN = re.compile(r"(?<=[\d%)\]])\s*(?:[-\u2013\u2014;]|\.{2,}|to)\s*(?=[\d.(\[])")
_COMMAS = re.compile(r"(\d+),(\d+),\s*(\d+),(\d+)")
WEIGHTINGS = "uniform, log-odds, net-benefit, beta:A,B or shifted:MEDIAN"


def read_costs(
    costs: str | None, odds: str | None, false_alarms: str | None, weighting: str | None
) -> CostDistribution:
    """Build the cost distribution that the options ask for; without a range all of [0, 1] counts."""
    given = {COSTS: costs, ODDS: odds, FALSE_ALARMS: false_alarms}
    typed = {option: text for option, text in given.items() if text is not None}
    if len(typed) > 1:
        raise UsageError(f"{' and '.join(typed)} say the same thing in different words: give one of them")
    if not typed:
        return _weighted(weighting or "uniform", 0.0, 1.0)
    ((option, text),) = typed.items()
    from stakes.costs import Fixed

    ends = _read_ends(option, text)
    if len(ends) == 2:
        return _weighted(weighting or "uniform", *ends)
    if weighting is not None:
        raise UsageError(f"--weighting needs a range, and {option} {name(text)} is a single value")
    return Fixed(ends[0])


def _read_ends(option: str, text: str) -> list[float]:
    """Return one cost ratio, or two in ascending order."""
    parts = [part.strip() for part in text.split(":")]
    if option == ODDS:
        _reject_ambiguous_odds(text, parts)
    try:
        ends = _numbers(option, parts)
    except ValueError:
        raise _malformed(option, text) from None
    if len(ends) == 2:
        _check_order(option, text, parts, ends)
    return ends


def _numbers(option: str, parts: list[str]) -> list[float]:
    """Return the cost ratios of one or two numbers, or raise where one of them is none."""
    from stakes.costs import from_false_alarms_per_miss, from_odds

    if len(parts) > 2:
        raise ValueError(parts)
    readers: dict[str, Callable[[str], float]] = {
        COSTS: _cost_ratio,
        ODDS: from_odds,
        FALSE_ALARMS: lambda part: from_false_alarms_per_miss(float(part)),
    }
    ends = [readers[option](part) for part in parts]
    # many false alarms per miss are a low threshold: either order is natural
    return sorted(ends) if option == FALSE_ALARMS else ends


def _cost_ratio(text: str) -> float:
    value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    if not 0.0 <= value <= 1.0:
        advice = f"; {text} percent is written {text}%" if 1.0 < value <= 100.0 else ""
        raise UsageError(f"{COSTS} must lie in [0, 1], got {name(text)}{advice}")
    return value


def _malformed(option: str, text: str) -> UsageError:
    return UsageError(
        f"{option} must be LOW:HIGH, such as {_EXAMPLES[option]}, or a single value, of numbers >= 0, "
        f"got {name(text)!r}{_rewritten(option, text)}"
    )


def _rewritten(option: str, text: str) -> str:
    """Say how a range with a dash, a decimal comma, brackets or one percent sign for both ends is written."""
    if option == ODDS and "%" in text:
        return f": write {COSTS} {text.strip()}"
    if option != ODDS and _QUOTIENT.fullmatch(text.strip()):
        return f": write {ODDS} {text.strip()}"
    plain = _BETWEEN.sub(":", text.strip(" ()[]{}"))
    spelled = (plain, plain.replace(",", "."), plain.replace(",", ":"), _COMMAS.sub(r"\1.\2:\3.\4", plain))
    in_percent = [":".join(f"{part.strip(' %')}%" for part in each.split(":")) for each in reversed(spelled)]
    for written in (*spelled, *(in_percent if option == COSTS else ())):
        parts = [part.strip() for part in written.split(":")]
        try:
            ends = _numbers(option, parts)
        except (UsageError, ValueError):
            continue
        if ends == sorted(set(ends)):
            return f": write {option} {':'.join(parts)}"
    return ""


def _reject_ambiguous_odds(text: str, parts: list[str]) -> None:
    if len(parts) == 2 and all(part.isdigit() for part in parts):
        low, high = parts
        raise UsageError(
            f"{ODDS} {name(text)} could be one odds or a range: write {low}/{high} for the single odds "
            f"{low} to {high}, {low}/1:{high}/1 for the range"
        )


def _check_order(option: str, text: str, parts: list[str], ends: list[float]) -> None:
    if ends[0] == ends[1]:
        raise UsageError(f"{option} {name(text)} is no range: write {option} {name(parts[0])} for a single value")
    if ends[0] > ends[1]:
        turned = name(f"{parts[1]}:{parts[0]}")
        raise UsageError(f"{option} must run from low to high, got {name(text)}: write {option} {turned}")


def _weighted(weighting: str, low: float, high: float) -> CostDistribution:
    from stakes.costs import Beta, LogOddsUniform, NetBenefitUniform, Shifted, Uniform

    plain: dict[str, Callable[[float, float], CostDistribution]] = {
        "uniform": Uniform,
        "log-odds": LogOddsUniform,
        "net-benefit": NetBenefitUniform,
    }
    if weighting in plain:
        return plain[weighting](low, high)
    number = r"\s*([^,:]+?)\s*"
    try:
        if found := re.fullmatch(f"beta:{number},{number}", weighting):
            return Beta(float(found[1]), float(found[2]), low, high)
        if found := re.fullmatch(f"shifted:{number}", weighting):
            return Shifted(float(found[1]), low, high)
    except ValueError as error:
        raise UsageError(f"--weighting {name(weighting)}: {str(error).removesuffix('.')}") from None
    raise UsageError(f"--weighting must be {WEIGHTINGS}, got {name(weighting)!r}")


def check_scale(scale: str | None, costs: CostDistribution, *, in_units: bool) -> None:
    """Refuse mean regret where the weight of all thresholds together is infinite, and units of anything else."""
    finite = math.isfinite(costs.mass)
    if scale == "regret" and not finite:
        raise UsageError(
            f"--scale regret is undefined for {costs!r}, whose weight is infinite: take --scale loss or integral, or a "
            "range inside (0, 1)"
        )
    resolved = scale or ("regret" if finite else "loss")
    if in_units and resolved != "regret":
        raise UsageError(f"--unit-cost and --per need --scale regret, and the scale is {resolved}")
