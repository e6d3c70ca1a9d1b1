"""Typed text to values."""

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from stakes.cli import options
from stakes.cli.console import UsageError, note
from stakes.cli.options import flag
from stakes.outputs.files import DataError
from stakes.outputs.text import level_name, shown_name as name, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from stakes.core.options import Options
    from stakes.core.score_table import Rule
    from stakes.costs import CostDistribution
    from stakes.evaluation import Evaluation
    from stakes.outcomes import OutcomeColumns


# What is typed becomes numbers, names and metrics, or an error that names the option.

_COMMA = re.compile(r"(?<!\\),")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")


def read_lags(text: str | None) -> int | str | None:
    """Read "auto" or a number of lags."""
    if text is None or text == "auto":
        return text
    if not text.isdecimal():
        raise UsageError(f"--lags must be auto or a whole number, got {name(text)!r}")
    return int(text)


def read_rule(text: str) -> "Rule":
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
    refuse_twice("--harm", [model for model, _, _ in pairs])
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


def read_metrics(texts: "Sequence[str] | None") -> dict[str, dict[str, float]]:
    """Read further metrics, with numbers for their arguments."""
    from stakes.metrics import METRICS, guess_metric

    binary = sorted(key for key, entry in METRICS.items() if entry.task == "binary")
    found: dict[str, dict[str, float]] = {}
    for text in texts or ():
        metric, _, arguments = text.partition(":")
        if metric not in binary:
            near = guess_metric(metric, binary, mark="")
            raise UsageError(f"--metric must be one of {', '.join(binary)}, got {name(metric)!r}{near}")
        options: dict[str, float] = {}
        for part in filter(None, arguments.split(",")):
            key, _, value = part.partition("=")
            refuse_twice(f"--metric {metric}", [*options, key])
            try:
                options[key] = float(value)
            except ValueError:
                raise UsageError(f"--metric {metric} takes KEY=NUMBER after the colon, got {name(part)!r}") from None
        refuse_twice("--metric", [*found, metric])
        found[metric] = options
    _check_metrics(found)
    return found


_NEEDS = re.compile(r"(\w+) needs (\w+)=, for instance")


def _check_metrics(found: dict[str, dict[str, float]]) -> None:
    from stakes.core.options import Options
    from stakes.core.score_table import ScoreTable
    from stakes.costs import Uniform
    from stakes.evaluation import check_request
    from stakes.metrics import METRICS

    try:
        asked = check_request(Options(costs=Uniform(0.1, 0.2)), found)
    except ValueError as error:
        found_missing = _NEEDS.match(str(error))
        if found_missing:
            metric, argument = found_missing.groups()
            raise UsageError(
                f"--metric {metric} needs {argument}=: write --metric {metric}:{argument}=NUMBER"
            ) from None
        raise UsageError(f"--metric: {error}") from None
    for metric, arguments in asked.metrics.items():
        try:
            METRICS[metric].function(ScoreTable.from_predictions([0, 1], [0.2, 0.8]), **arguments)
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
        meant = f": for intervals of {level_name(1.0 - share)} write {1.0 - share:.12g}" if share >= 0.001 else ""
        raise UsageError(f"{option} must be at least 0.5, got {name(text)!r}{meant}")
    return share


def read_priors(training_prior: str | None, prior: str | None) -> tuple[float, float] | None:
    """Read the shares of positives in training and where the model is used: both or none."""
    given = {"--training-prior": training_prior, "--prior": prior}
    stated = {option: text for option, text in given.items() if text is not None}
    if len(stated) == 1:
        ((said, text),) = stated.items()
        raise UsageError(
            f"--training-prior and --prior must be given together, got {said} {name(text)!r} alone: "
            "--training-prior is the share of positives in training, --prior that where the model is used"
        )
    shares = [read_share(option, text) for option, text in stated.items()]
    return (shares[0], shares[1]) if shares else None


def _in_percent(text: str) -> str:
    """Say how a share is written that was given in percent, with its sign or without."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        return ""
    return f"; {number:g}% is written {number / 100.0:g}" if "%" in text or 1.0 < number <= 100.0 else ""


def read_capacity(text: str) -> float:
    """Read a count of rows or a share of them, in per cent too."""
    from stakes.base.validation import check_capacity

    try:
        found = check_capacity(read_number(text))
    except ValueError as error:
        if "can mean one row" in str(error):
            raise UsageError(f"--{error}".replace("leave capacity", "leave --capacity").rstrip(".")) from None
        rule = "--capacity must be a count of rows >= 1 or a share of them in (0, 1)"
        raise UsageError(f"{rule}, got {name(text)!r}") from None
    return found if isinstance(found, int) else float(found)


def read_number(text: str | None) -> "str | Fraction | None":
    """Let a share be written in per cent; everything else is read, and refused, by the library."""
    if text is None or not text.endswith("%"):
        return text
    from stakes.base.validation import as_fraction

    try:
        return as_fraction(text[:-1], "the share") / 100
    except ValueError:
        return text


def read_unit(option: str, text: str) -> float:
    """Read a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number <= 1.0:
        raise UsageError(f"{option} must be a number from 0 to 1, got {name(text)!r}{_in_percent(text)}")
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


def split_names(texts: "Sequence[str] | None", option: str) -> list[str] | None:
    r"""Split names at commas, but not at ``\,``."""
    if not texts:
        return None
    names = [part.replace("\\,", ",") for text in texts for part in _COMMA.split(text)]
    if not all(names):
        raise UsageError(f"{option} must name columns, separated by commas, got {name(','.join(texts))!r}")
    return names


def refuse_twice(option: str, names: "Sequence[str]") -> None:
    """Refuse an option that gives one name twice, of which the last alone would count."""
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise UsageError(f"{option} names {name(twice)!r} more than once")


# Ranges of plausible thresholds, in the ways people write them, become cost distributions.
#
# A colon stands between the two ends of a range, a slash inside one odds: ``1/50:1/10``.

COSTS, ODDS, FALSE_ALARMS = "--costs", "--odds", "--false-alarms-per-miss"
_EXAMPLES = {COSTS: "0.02:0.10", ODDS: "1/50:1/10", FALSE_ALARMS: "10:50"}
# what people write between the ends of a range; the dash of 1e-3 stands after no digit
_QUOTIENT = re.compile(r"[0-9.]+/[0-9.]+(:[0-9.]+/[0-9.]+)?")
_BETWEEN = re.compile(r"(?<=[\d%)\]])\s*(?:[-\u2013\u2014;]|\.{2,}|to)\s*(?=[\d.(\[])")
_COMMAS = re.compile(r"(\d+),(\d+),\s*(\d+),(\d+)")
WEIGHTINGS = "uniform, log-odds, net-benefit, beta:A,B or shifted:MEDIAN"


def read_costs(
    costs: str | None, odds: str | None, false_alarms: str | None, weighting: str | None
) -> "CostDistribution":
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
        return _odds_as_costs(text.strip())
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


def _odds_as_costs(text: str) -> str:
    """Say which cost ratios odds are: some commands take no odds."""
    try:
        ends = sorted(set(_numbers(ODDS, text.split(":"))))
    except ValueError:
        return ""
    return f": write {COSTS} {':'.join(f'{end:.6g}' for end in ends)} for the odds {text}"


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


def _weighted(weighting: str, low: float, high: float) -> "CostDistribution":
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


def check_scale(scale: str | None, costs: "CostDistribution", *, in_units: bool) -> None:
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


# What predictions are read and judged by, as it is typed; a new option is a field here and a line in ``options``.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InputArguments:
    """Which file, and what its columns mean, as typed."""

    file: options.File
    label: options.Label = None
    models: options.Models = None
    weight: options.Weight = None
    pos_label: options.PosLabel = None
    on_missing: options.Missing = options.OnMissing.RAISE
    file_format: options.FileFormat = None
    any_size: options.AnySize = False
    engine: options.EngineOption = options.Engine.AUTO
    resolution: options.Resolution = "auto"


def read_resolution(text: str) -> "int | str":
    """Read "auto", "exact" or a number of cells."""
    return text if text in {"auto", "exact"} else read_count("--resolution", text) or text


def read_word(option: str, text: str) -> str:
    """What something is called in sentences."""
    from stakes.core.options import check_word

    try:
        return check_word(text, option)
    except ValueError as error:
        raise UsageError(str(error).removesuffix(".")) from None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EvaluationArguments:
    """What was typed; ``options`` is what the library takes."""

    costs: options.Costs = None
    odds: options.Odds = None
    false_alarms_per_miss: options.FalseAlarms = None
    weighting: options.Weighting = None
    groups: options.Groups = None
    clusters: options.Clusters = None
    lags: options.Lags = None
    incumbent: options.Incumbent = None
    n_tried: options.NTried = None
    rule: options.Rule = "score"
    harm: options.Harm = None
    scale: options.ScaleOption = None
    prevalence: options.Prevalence = None
    confidence_level: options.ConfidenceLevel = "0.95"
    unit_cost: options.UnitCost = "1"
    per: options.Per = None
    metric: options.Metrics = None
    action_name: options.ActionName = "treat"
    event_name: options.EventName = "positive"

    def options(self, outcome: "OutcomeColumns | None") -> "Options":
        """Check everything that can be known before any data are read."""
        from stakes.base.validation import SQUARED_WELL
        from stakes.core.options import Options
        from stakes.evaluation import check_request

        costs = read_costs(self.costs, self.odds, self.false_alarms_per_miss, self.weighting)
        by_amount = outcome is not None and outcome.by_amount
        if by_amount:
            costs = self._of_amounts(costs)
        counted = self._counted_per(by_amount=by_amount)
        unit_cost, per = read_unit_cost(self.unit_cost), counted.get("per", 1.0)
        if not SQUARED_WELL[0] <= unit_cost * per <= SQUARED_WELL[1]:
            raise UsageError(f"--unit-cost times --per must lie in [{SQUARED_WELL[0]:g}, {SQUARED_WELL[1]:g}]")
        check_scale(self.scale, costs, in_units=(unit_cost, per) != (1.0, 1.0))
        if self.clusters is not None and self.lags is not None:
            raise UsageError("--clusters and --lags cannot both be given")
        options = Options(
            costs=costs,
            rule=read_rule(self.rule),
            harm=read_harm(self.harm),
            scale=None if self.scale is None else str(self.scale),
            prevalence=None if self.prevalence is None else read_share("--prevalence", self.prevalence),
            confidence_level=read_share("--confidence-level", self.confidence_level),
            unit_cost=unit_cost,
            **counted,
            groups=split_names(self.groups, "--groups"),
            clusters=self.clusters,
            lags=read_lags(self.lags),
            incumbent=self.incumbent,
            n_tried=read_count("--n-tried", self.n_tried),
            outcome=outcome,
            action=read_word("--action-name", self.action_name),
            event=read_word("--event-name", self.event_name),
        )
        return check_request(options, read_metrics(self.metric))

    def _of_amounts(self, costs: "CostDistribution") -> "CostDistribution":
        """Refuse what means nothing for amounts by row, and take these as they are unless a range was given."""
        words: dict[str, object] = {"--prevalence": self.prevalence, "--metric": self.metric}
        words["--harm"] = self.harm
        words |= {"--unit-cost": self.unit_cost != "1" or None, "--scale": self.scale}
        given = [option for option, value in words.items() if value is not None]
        if given:
            raise UsageError(f"{given[0]} does not fit amounts by row")
        from stakes.costs import Fixed
        from stakes.evaluation import AS_STATED

        return Fixed(AS_STATED) if self.whole_range else costs

    def _counted_per(self, *, by_amount: bool) -> dict[str, Any]:
        """What was typed of the rows that money, or decisions that costs, refer to."""
        if self.per is None:
            return {}
        if by_amount and self.rule != "score":
            raise UsageError(f"--per with amounts by row needs --rule score, whose money it is, got {name(self.rule)}")
        if by_amount:
            return {"money_per": "total" if self.per == "total" else read_amount("--per", self.per)}
        return {"per": read_amount("--per", self.per)}

    @property
    def whole_range(self) -> bool:
        """Whether no range of thresholds was given."""
        return self.costs is self.odds is self.false_alarms_per_miss is None


# What happened to the rows where a label alone does not say it, as typed: follow-up, amounts, labels looked up.

Time = Annotated[str | None, flag("--time", "COLUMN", "Column with when follow-up ended; needs --event and --horizon.")]
Event = Annotated[
    str | None, flag("--event", "COLUMN", "In place of --label: column with what ended it, 0 for censored rows.")
]
Horizon = Annotated[
    str | None,
    flag("--horizon", "T[,T...]", "The scores are risks of the event by this time; with several, one answer for each."),
]
Cause = Annotated[
    list[str] | None, flag("--cause", "VALUE,...", "The event of interest, where there are several: others compete.")
]
Censored = Annotated[
    str | None, flag("--censored", "LABEL", "The value of --event in censored rows, where it is not 0.")
]
FalsePositiveCost = Annotated[
    str | None,
    flag(
        "--false-positive-cost",
        "COLUMN|AMOUNT",
        "What acting on a negative costs in each row; needs --false-negative-cost.",
    ),
]
FalseNegativeCost = Annotated[
    str | None, flag("--false-negative-cost", "COLUMN|AMOUNT", "What not acting on a positive costs in each row.")
]
Unit = Annotated[str | None, flag("--unit", "NAME", "What these are counted in, such as EUR.")]


class OnDominatedRows(StrEnum):
    """What to do with rows in which one decision is never worse."""

    RAISE = "raise"
    SET_ASIDE = "set_aside"


OnDominated = Annotated[
    OnDominatedRows, flag("--on-dominated", "", "Rows in which one decision is never worse: an error, or set aside.")
]
VerifiedBy = Annotated[
    str | None,
    flag("--verified-by", "COLUMN", "Labels are missing where nobody looked, which depended on this column."),
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Amounts:
    """What wrong decisions cost in each row, as typed."""

    false_positive_cost: FalsePositiveCost = None
    false_negative_cost: FalseNegativeCost = None
    unit: Unit = None
    on_dominated: OnDominated = OnDominatedRows.RAISE

    @property
    def given(self) -> bool:
        """Whether there are amounts; half of them is an error."""
        amounts = {"--false-positive-cost": self.false_positive_cost, "--false-negative-cost": self.false_negative_cost}
        missing = [option for option, text in amounts.items() if text is None]
        if len(missing) == 1:
            raise UsageError(f"the amounts belong together: {missing[0]} is missing")
        if missing:
            set_aside = None if self.on_dominated == OnDominatedRows.RAISE else self.on_dominated
            refuse({"--unit": self.unit, "--on-dominated": set_aside}, "needs amounts")
        return not missing

    @property
    def stakes(self) -> tuple[str | float, ...]:
        """Of a false positive and of a false negative: a column, or one amount for all rows; empty without."""
        if not self.given:
            return ()
        amounts = {"--false-positive-cost": self.false_positive_cost, "--false-negative-cost": self.false_negative_cost}
        return tuple(read_stake(option, text) for option, text in amounts.items() if text is not None)

    @property
    def stake_columns(self) -> list[str]:
        """The columns among the stakes."""
        return [stake for stake in self.stakes if isinstance(stake, str)]


@dataclass(frozen=True, kw_only=True)
class OutcomeArguments(Amounts):
    """What happened, as typed."""

    time: Time = None
    event: Event = None
    horizon: Horizon = None
    cause: Cause = None
    censored: Censored = None
    verified_by: VerifiedBy = None

    def label(self, label: str | None) -> str:
        """The column that says what happened: that of the label, or that of the event."""
        follow_up = {"--time": self.time, "--event": self.event, "--horizon": self.horizon}
        missing = [option for option, text in follow_up.items() if text is None]
        if 0 < len(missing) < len(follow_up):
            raise UsageError(f"--time, --event and --horizon belong together: {missing[0]} is missing")
        if missing:
            refuse({"--cause": self.cause, "--censored": self.censored}, "needs --time, --event and --horizon")
        elif label is not None:
            raise UsageError("--event stands in place of --label: give one of them")
        found = label or self.event
        if found is None:
            raise UsageError("name the column of outcomes with --label, or with --event for a time to event")
        return found

    @property
    def horizons(self) -> tuple[float, ...]:
        """The times by which the event counts, in ascending order."""
        if self.horizon is None:
            return ()
        try:
            found = tuple(float(text) for text in self.horizon.split(","))
        except ValueError:
            found = ()
        if not found or not all(0.0 < time < math.inf for time in found) or found != tuple(sorted(set(found))):
            raise UsageError(f"--horizon must be one or more times > 0, in order, got {name(self.horizon)!r}")
        if len(found) > 1 and self.false_positive_cost is not None:
            raise UsageError("--horizon must be one time where there are amounts")
        return found

    def columns(self) -> "OutcomeColumns | None":
        """What the library takes, at the first horizon; None where labels say all."""
        if not self.given and self.time is self.verified_by is None:
            return None
        from stakes.outcomes import OutcomeColumns

        options: dict[str, Any] = {"cause": split_names(self.cause, "--cause"), "unit": self.unit or ""}
        options["on_dominated"] = str(self.on_dominated)
        if self.censored is not None:
            options["censored"] = self.censored
        if self.horizon is not None:
            options["horizon"] = self.horizons[0]
        options |= zip(("false_positive", "false_negative"), self.stakes, strict=False)
        if self.time is not None and self.verified_by is not None:
            raise UsageError("--time and --verified-by cannot both be given")
        try:
            return OutcomeColumns(time=self.time, verified_by=self.verified_by, **options)
        except ValueError as error:
            raise UsageError(visible(str(error).removesuffix("."))) from None


def read_stake(option: str, text: str) -> str | float:
    """Read one amount for all rows, or the name of a column of amounts: digits without a letter are no name."""
    named = not any(sign.isdigit() for sign in text) or any(sign.isalpha() for sign in text)
    try:
        amount = float(text if named else without_thousands(option, text))
    except ValueError:
        if named:
            return text
        amount = math.nan
    if not math.isfinite(amount):
        raise UsageError(f"{option} must be a column or a finite amount, got {name(text)!r}{_in_percent(text)}")
    return amount


def refuse(options: "Mapping[str, object]", why: str) -> None:
    """Refuse options that go with something else."""
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise UsageError(f"{given[0]} {why}")


# Further questions to an evaluation, as typed: what more rows are worth, what leaving cases to someone else saves.

DeferralFee = Annotated[
    str | None,
    flag(
        "--deferral",
        "AMOUNT",
        "Also what leaving cases to someone else saves, at this price, where a false positive and a false "
        "negative cost 1 together.",
    ),
]
Capacity = Annotated[
    str | None, flag("--capacity", "N|SHARE", "With --deferral: defer at most this number of rows, or share of them.")
]
MoreRows = Annotated[str | None, flag("--more-rows", "NUMBER,...", "Also what so many further rows would save.")]
Decisions = Annotated[
    str | None,
    flag("--decisions", "NUMBER,...", "With --more-rows: how many decisions the choice is for, in all or by year."),
]
Discount = Annotated[
    str | None, flag("--discount", "SHARE", "With --decisions by year: how much less each later year counts.")
]
RowCost = Annotated[
    str | None, flag("--row-cost", "AMOUNT", "With --decisions: price of a further row, in the unit of --unit-cost.")
]


@dataclass(frozen=True, kw_only=True)
class Further:
    """What was typed."""

    deferral: DeferralFee = None
    capacity: Capacity = None
    more_rows: MoreRows = None
    decisions: Decisions = None
    discount: Discount = None
    row_cost: RowCost = None

    def questions(self) -> "Questions":
        """Check everything that can be known before any data are read."""
        needs = {"--deferral": {"capacity"}, "--more-rows": {"decisions", "discount", "row_cost"}}
        for option, keys in needs.items():
            if getattr(self, option.removeprefix("--").replace("-", "_")) is None:
                given = next((key for key in sorted(keys) if getattr(self, key) is not None), None)
                if given is not None:
                    raise UsageError(f"--{given.replace('_', '-')} needs {option}")
        if self.row_cost is not None and self.decisions is None:
            raise UsageError("--row-cost needs --decisions: a price per row is weighed against what all of them save")
        study: dict[str, Any] = {}
        if self.more_rows is not None:
            study["more_rows"] = [read_count("--more-rows", text) for text in _split("--more-rows", self.more_rows)]
        if self.decisions is not None:
            years = [read_amount("--decisions", text) for text in _split("--decisions", self.decisions)]
            study["decisions"] = years if len(years) > 1 or self.discount is not None else years[0]
        if self.discount is not None:
            study["discount"] = read_share("--discount", self.discount)
        if self.row_cost is not None:
            study["row_cost"] = read_amount("--row-cost", self.row_cost)
        fee = None
        if self.deferral is not None:
            fee = 0.0 if self.deferral.strip() == "0" else read_amount("--deferral", self.deferral)
        capacity = None if self.capacity is None else read_capacity(self.capacity)
        return Questions(fee, capacity, study)


def _split(option: str, text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"{option} must be numbers, separated by commas, got {name(text)!r}")
    if _THOUSANDS.fullmatch(text):
        one = text.replace(",", "")
        note(f"{option} {text} is read as {len(parts)} numbers, {', '.join(parts)}: write {one} for a single one")
    return parts


@dataclass(frozen=True, eq=False, repr=False)
class Questions:
    """What is asked besides which model is best: the fee of deferral and its capacity, and a study of further rows."""

    fee: float | None
    capacity: float | None
    study: dict[str, Any]

    @property
    def needing(self) -> str:
        """Why the rows must be in memory; empty where nothing is asked."""
        return (
            "--more-rows needs the rows" if self.study else "--deferral needs the rows" if self.fee is not None else ""
        )

    def check(self, options: "Options") -> None:
        """Refuse options that do not fit what is asked, before any data are read."""
        if self.study:
            _refuse_unfit("--more-rows", options)
            if options.scale != "regret":
                raise UsageError(f"--more-rows needs --scale regret, got {options.scale}")
            dependent = {"--clusters": options.clusters, "--lags": options.lags, "--prevalence": options.prevalence}
            refuse(dependent, "does not fit --more-rows, which needs independent rows at their own prevalence")
        if self.fee is not None:
            _refuse_unfit("--deferral", options)
            refuse({"--lags": options.lags}, "does not fit --deferral, which needs independent rows or clusters")
        low, high = options.costs.low, options.costs.high
        if self.capacity is not None and low < high:
            raise UsageError(f"--capacity needs one cost ratio, such as --costs 0.2, got {low:g} to {high:g}")

    def answered(self, evaluation: "Evaluation") -> "Evaluation":
        """Answer them; what the rows do not bear is bad data."""
        try:
            if self.study:
                evaluation = evaluation.with_information(**self.study)
            if self.fee is not None:
                evaluation = evaluation.with_deferral(self.fee, capacity=self.capacity)
        except ValueError as error:
            raise DataError(str(error).rstrip("."), file=evaluation.source) from None
        return evaluation


def _refuse_unfit(option: str, options: "Options") -> None:
    """Refuse what neither further question takes."""
    if options.outcome is not None:
        raise UsageError(f"{option} needs plain labels: rows of another outcome are not worth one row each")
    if options.rule != "score":
        raise UsageError(f"{option} needs --rule score, got {options.rule}")
    if any(options.harm.values()) if isinstance(options.harm, dict) else options.harm:
        raise UsageError(f"{option} does not count --harm: leave it out")
    if not math.isfinite(options.costs.mass):
        raise UsageError(f"{option} needs a mean cost, and --weighting over this range leaves none")
