"""What is typed becomes numbers, names and metrics, or an error that names the option."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from stakes.cli._errors import UsageError
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.core.regret import Rule

_COMMA = re.compile(r"(?<!\\),")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d*)?")


def read_lags(text: str | None) -> int | str | None:
    """Read "auto" or a number of lags."""
    if text is None or text == "auto":
        return text
    if not text.isdecimal():
        raise UsageError(f"--lags must be auto or a whole number, got {name(text)!r}")
    return int(text)


def read_rule(text: str) -> Rule:
    """Read "score", "optimal" or a deployed threshold."""
    if text == "score":
        return "score"
    if text == "optimal":
        return "optimal"
    try:
        threshold = float(text)
    except ValueError:
        raise UsageError(f"--rule must be score, optimal or a threshold, got {name(text)!r}") from None
    if not 0.0 <= threshold <= 1.0:
        raise UsageError(f"--rule must be score, optimal or a threshold in [0, 1], got {name(text)}")
    return threshold


def read_harm(text: str | None) -> float | dict[str, float]:
    """Read one number, or numbers for some of the models, as in ``a=0.01,b=0.002``."""
    if text is None:
        return 0.0
    if "=" not in text:
        return _harm(text)
    pairs = [part.rpartition("=") for part in split_names([text], "--harm") or ()]
    odd = next((part for part, _, _ in pairs if not part), None)
    if odd is not None:
        raise UsageError(f"--harm must be a number, or MODEL=NUMBER for some of the models, got {name(text)!r}")
    return {model: _harm(number) for model, _, number in pairs}


def _harm(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number < math.inf:
        raise UsageError(f"--harm must be a number >= 0, or MODEL=NUMBER for some of the models, got {name(text)!r}")
    if number >= 1.0:
        meant = f"; if one positive found is worth {number:g} scores, write {1.0 / number:.4g}" if number > 1.0 else ""
        raise UsageError(
            f"--harm must be below 1, got {name(text)!r}: it is what a score costs each case in missed positives, and "
            f"at that price none pays{meant}"
        )
    return number


def read_unit_cost(text: str) -> float:
    """Read what a miss and a false alarm cost together."""
    try:
        amount = float(text.replace(",", ""))
    except ValueError:
        amount = math.nan
    if amount == 0.0:
        raise UsageError("--unit-cost must be a number > 0, got 0: every cost would be 0; leave it out for no unit")
    if -math.inf < amount < 0.0:
        raise UsageError(
            f"--unit-cost must be a number > 0, got {name(text)!r}, by which the dearest model would look best: write "
            f"what is lost by one miss and one false alarm together as {-amount:g}"
        )
    return read_amount("--unit-cost", text)


def read_metrics(texts: Sequence[str] | None) -> dict[str, dict[str, float]]:
    """Read further metrics, with numbers for their arguments."""
    from stakes.metrics import METRICS, guess_metric

    binary = sorted(key for key, entry in METRICS.items() if entry.task == "binary")
    found: dict[str, dict[str, float]] = {}
    for text in texts or ():
        metric, _, arguments = text.partition(":")
        if metric not in binary:
            near = guess_metric(metric, binary, mark="")
            raise UsageError(f"--metric must be one of {', '.join(binary)}, got {name(metric)!r}{near}")
        options = {}
        for part in filter(None, arguments.split(",")):
            key, _, value = part.partition("=")
            try:
                options[key] = float(value)
            except ValueError:
                raise UsageError(f"--metric {metric} takes KEY=NUMBER after the colon, got {name(part)!r}") from None
        found[metric] = options
    _check_metrics(found)
    return found


_NEEDS = re.compile(r"(\w+) needs (\w+)=, for instance")


def _check_metrics(found: dict[str, dict[str, float]]) -> None:
    from stakes.core.score_table import ScoreTable
    from stakes.evaluation._request import check_request
    from stakes.metrics import METRICS

    try:
        asked = check_request(costs=(0.1, 0.2), metrics=found)
    except ValueError as error:
        found_missing = _NEEDS.match(str(error))
        if found_missing:
            metric, argument = found_missing.groups()
            raise UsageError(
                f"--metric {metric} needs {argument}=: write --metric {metric}:{argument}=NUMBER"
            ) from None
        raise UsageError(f"--metric: {error}") from None
    for metric, options in asked.metrics.items():
        try:
            METRICS[metric].function(ScoreTable.from_predictions([0, 1], [0.2, 0.8]), **options)
        except ValueError as error:
            raise UsageError(f"--metric {metric}: {error}") from None


def read_share(option: str, text: str) -> float:
    """Read a number between 0 and 1."""
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not (share > 0.0 and 0.5 + share / 2.0 < 1.0):  # half of it, for a level's quantile, is not rounded to all
        raise UsageError(f"{option} must be a number between 0 and 1, got {name(text)!r}{_in_percent(text)}")
    if option == "--confidence-level" and share < 0.5:
        meant = f": for intervals of {1.0 - share:.0%} write {1.0 - share:.12g}" if share >= 0.001 else ""
        raise UsageError(f"{option} must be at least 0.5, got {name(text)!r}{meant}")
    return share


def _in_percent(text: str) -> str:
    """Say how a share is written that was given in percent, with its sign or without."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        return ""
    return f"; {number:g}% is written {number / 100.0:g}" if "%" in text or 1.0 < number <= 100.0 else ""


def read_unit(option: str, text: str) -> float:
    """Read a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number <= 1.0:
        raise UsageError(f"{option} must be a number from 0 to 1, got {name(text)!r}")
    return number


def read_amount(option: str, text: str) -> float:
    """Read a number > 0."""
    try:
        amount = float(without_thousands(option, text))
    except ValueError:
        amount = math.nan
    if not 0.0 < amount < math.inf:
        raise UsageError(f"{option} must be a number > 0, got {name(text)!r}")
    return amount


def without_thousands(option: str, text: str) -> str:
    """Take the commas out of 1,000; those of 0,05 are decimal points in other countries and are refused."""
    if "," in text and not _THOUSANDS.fullmatch(text.strip()):
        raise UsageError(
            f"{option} got {name(text)!r}: decimals follow a point, as in 0.05; a comma stands before three digits, "
            "as in 1,000"
        )
    return text.replace(",", "")


def read_count(option: str, text: str | None) -> int | None:
    """Read a whole number > 0, where one is given."""
    if text is None:
        return None
    digits = without_thousands(option, text)
    if not digits.isdecimal() or int(digits) == 0:
        several = f"; several are separated by commas, {text.replace(':', ',')}" if ":" in text else ""
        raise UsageError(f"{option} must be a whole number > 0, got {name(text)!r}{several}")
    return int(digits)


def split_names(texts: Sequence[str] | None, option: str) -> list[str] | None:
    r"""Split names at commas, but not at ``\,``."""
    if not texts:
        return None
    names = [part.replace("\\,", ",") for text in texts for part in _COMMA.split(text)]
    if not all(names):
        raise UsageError(f"{option} must name columns, separated by commas, got {name(','.join(texts))!r}")
    return names
