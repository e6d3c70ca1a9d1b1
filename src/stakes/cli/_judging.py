"""What predictions are read and judged by, as it is typed; a new option is a field here and a line in ``options``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stakes.cli import _options as opt
from stakes.cli._errors import UsageError
from stakes.cli._ranges import check_scale, read_costs
from stakes.cli._settings import (
    read_amount,
    read_count,
    read_harm,
    read_lags,
    read_metrics,
    read_rule,
    read_share,
    read_unit_cost,
    split_names,
)

if TYPE_CHECKING:
    from stakes.core.options import Options
    from stakes.costs import CostDistribution
    from stakes.outcomes import OutcomeColumns


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Which file, and what its columns mean, as typed."""

    file: opt.File
    label: opt.Label = None
    models: opt.Models = None
    weight: opt.Weight = None
    pos_label: opt.PosLabel = None
    on_missing: opt.Missing = opt.OnMissing.RAISE
    file_format: opt.FileFormat = None
    any_size: opt.AnySize = False
    engine: opt.EngineOption = opt.Engine.AUTO


@dataclass(frozen=True, kw_only=True)
class Judging:
    """What was typed; ``options`` is what the library takes."""

    costs: opt.Costs = None
    odds: opt.Odds = None
    false_alarms_per_miss: opt.FalseAlarms = None
    weighting: opt.Weighting = None
    groups: opt.Groups = None
    clusters: opt.Clusters = None
    lags: opt.Lags = None
    incumbent: opt.Incumbent = None
    tried: opt.Tried = None
    rule: opt.Rule = "score"
    harm: opt.Harm = None
    scale: opt.ScaleOption = None
    prevalence: opt.Prevalence = None
    confidence_level: opt.ConfidenceLevel = "0.95"
    unit_cost: opt.UnitCost = "1"
    per: opt.Per = "1"
    metric: opt.Metrics = None

    def options(self, outcome: "OutcomeColumns | None") -> "Options":
        """Check everything that can be known before any data are read."""
        from stakes.core.validation import SQUARED_WELL
        from stakes.evaluation._request import check_request

        costs = read_costs(self.costs, self.odds, self.false_alarms_per_miss, self.weighting)
        if outcome is not None and outcome.by_amount:
            costs = self._of_amounts(costs)
        unit_cost, per = read_unit_cost(self.unit_cost), read_amount("--per", self.per)
        if not SQUARED_WELL[0] <= unit_cost * per <= SQUARED_WELL[1]:
            raise UsageError(f"--unit-cost times --per must lie in [{SQUARED_WELL[0]:g}, {SQUARED_WELL[1]:g}]")
        check_scale(self.scale, costs, in_units=(unit_cost, per) != (1.0, 1.0))
        if self.clusters is not None and self.lags is not None:
            raise UsageError("--clusters and --lags cannot both be given")
        return check_request(
            costs=costs,
            rule=read_rule(self.rule),
            harm=read_harm(self.harm),
            scale=self.scale,
            prevalence=None if self.prevalence is None else read_share("--prevalence", self.prevalence),
            confidence_level=read_share("--confidence-level", self.confidence_level),
            unit_cost=unit_cost,
            per=per,
            metrics=read_metrics(self.metric),
            groups=split_names(self.groups, "--groups"),
            clusters=self.clusters,
            lags=read_lags(self.lags),
            incumbent=self.incumbent,
            n_tried=read_count("--tried", self.tried),
            outcome=outcome,
        )

    def _of_amounts(self, costs: "CostDistribution") -> "CostDistribution":
        """Refuse what means nothing for amounts by row, and take these as they are unless a range was given."""
        words: dict[str, object] = {"--prevalence": self.prevalence, "--metric": self.metric}
        words["--harm"] = self.harm
        words |= {"--unit-cost": self.unit_cost != "1" or None, "--per": self.per != "1" or None, "--scale": self.scale}
        given = [option for option, value in words.items() if value is not None]
        if given:
            raise UsageError(f"{given[0]} does not fit amounts by row")
        from stakes.costs import Fixed
        from stakes.evaluation import AS_STATED

        return Fixed(AS_STATED) if self.whole_range else costs

    @property
    def whole_range(self) -> bool:
        """Whether no range of thresholds was given."""
        return self.costs is self.odds is self.false_alarms_per_miss is None
