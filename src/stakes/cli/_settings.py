"""The options of an evaluation, checked before any data are read."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from stakes.cli._errors import UsageError
from stakes.cli._ranges import check_scale
from stakes.cli._text import name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stakes._kernel import Rule, Scale
    from stakes.costs import CostDistribution
    from stakes.evaluation import Evaluation
    from stakes.tables import Predictions

_COMMA = re.compile(r"(?<!\\),")


@dataclass(frozen=True)
class Settings:
    """How predictions are to be judged."""

    costs: CostDistribution
    rule: Rule = "score"
    scale: str | None = None
    prevalence: float | None = None
    confidence_level: float = 0.95
    unit_cost: float = 1.0
    per: float = 1.0
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    whole_range: bool = False
    by: list[str] = field(default_factory=list)
    clusters: str | None = None
    lags: int | str | None = None

    def __post_init__(self) -> None:
        check_scale(self.scale, self.costs)
        scale = self.scale or ("regret" if math.isfinite(self.costs.mass) else "loss")
        if scale != "regret" and (self.unit_cost != 1.0 or self.per != 1.0):
            raise UsageError(f"--unit-cost and --per need --scale regret, and the scale is {scale}")
        if self.clusters is not None and self.lags is not None:
            raise UsageError("--clusters and --lags cannot both be given")

    def _check_division(self, predictions: Predictions) -> None:
        """Refuse columns and lags that the rows do not bear, as bad data."""
        from stakes.evaluation._groups import check_groups
        from stakes.inference._dependence import check_dependence
        from stakes.tables import DataError

        columns, rows = predictions.groups or {}, len(predictions.y)
        try:
            check_groups({name: columns[name] for name in self.by} or None, rows, None)
            check_dependence(None if self.clusters is None else columns[self.clusters], self.lags, rows)
        except ValueError as error:
            raise DataError(str(error).rstrip("."), file=predictions.source, column=self.clusters) from None

    @property
    def columns(self) -> list[str]:
        """Columns that divide the rows, into subgroups or clusters."""
        return list(dict.fromkeys([*self.by, *([] if self.clusters is None else [self.clusters])]))

    def evaluate(self, predictions: Predictions) -> Evaluation:
        """Let the library judge the predictions."""
        from stakes.evaluation._evaluate import evaluate_predictions

        self._check_division(predictions)
        return evaluate_predictions(
            predictions,
            groups=self.by,
            clusters=self.clusters,
            lags=self.lags,
            costs=self.costs,
            rule=self.rule,
            scale=cast("Scale | None", self.scale),
            prevalence=self.prevalence,
            confidence_level=self.confidence_level,
            unit_cost=self.unit_cost,
            per=self.per,
            metrics=self.metrics,
        )


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


def read_metrics(texts: Sequence[str] | None) -> dict[str, dict[str, float]]:
    """Read further metrics, with numbers for their arguments."""
    from stakes.metrics import METRICS

    binary = sorted(key for key, entry in METRICS.items() if entry.task == "binary")
    found: dict[str, dict[str, float]] = {}
    for text in texts or ():
        metric, _, arguments = text.partition(":")
        if metric not in binary:
            raise UsageError(f"--metric must be one of {', '.join(binary)}, got {name(metric)!r}")
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


def _check_metrics(found: dict[str, dict[str, float]]) -> None:
    from stakes.evaluation._settings import make_settings

    try:
        make_settings((0.1, 0.2), metrics=found)
    except ValueError as error:
        raise UsageError(f"--metric: {error}") from None


def read_share(option: str, text: str) -> float:
    """Read a number between 0 and 1."""
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0.0 < share < 1.0:
        raise UsageError(f"{option} must be a number between 0 and 1, got {name(text)!r}")
    return share


def read_amount(option: str, text: str) -> float:
    """Read a number > 0."""
    try:
        amount = float(text.replace(",", ""))
    except ValueError:
        amount = math.nan
    if not 0.0 < amount < math.inf:
        raise UsageError(f"{option} must be a number > 0, got {name(text)!r}")
    return amount


def split_names(texts: Sequence[str] | None, option: str) -> list[str] | None:
    r"""Split names at commas, but not at ``\,``."""
    if not texts:
        return None
    names = [part.replace("\\,", ",") for text in texts for part in _COMMA.split(text)]
    if not all(names):
        raise UsageError(f"{option} must name columns, separated by commas, got {name(','.join(texts))!r}")
    return names
