"""The arguments of evaluation functions: `Options` and `EvaluationData`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from stakes.base import validation
from stakes.base.outcome import Outcome, OutcomeFromColumns
from stakes.core.score_table import PREVALENCE_OF_AMOUNTS, Rule, ScoreTable, row_integral, row_losses, table_integral
from stakes.costs import CostDistribution, Uniform, check_scale
from stakes.outcomes import MONEY_PER
from stakes.outputs.text import stated

# Settings of an evaluation, each checked by itself.


def check_rule(rule: Any, *tables: ScoreTable) -> Rule:
    """Return "score", "optimal" or a threshold, or raise: one in [0, 1], unless scores of a table lie outside."""
    if isinstance(rule, str) and rule in {"score", "optimal"}:
        return cast("Rule", rule)
    if isinstance(rule, bool) or not isinstance(rule, Real | Decimal):
        raise ValueError(f'rule must be "score", "optimal" or a threshold, got {rule!r}.')
    if not math.isfinite(rule):
        raise ValueError(f"rule must be a finite threshold, got {rule}.")
    outside = any(table.scores[0] < 0.0 or table.scores[-1] > 1.0 for table in tables)
    return validation.check_number(rule, "rule") if outside else validation.check_unit(cast("float", rule), "rule")


def check_units(scale: str, unit_cost: float, per: float) -> float:
    """Factor from regret per decision to real units, or raise: only regret has a unit."""
    check_unit_cost(unit_cost)
    validation.check_size(per, "per")
    if scale != "regret" and (unit_cost != 1.0 or per != 1.0):
        raise ValueError(f'unit_cost and per give regret in real units and need scale="regret", got scale={scale!r}.')
    factor = float(unit_cost) * float(per)
    if not validation.SQUARED_WELL[0] <= factor <= validation.SQUARED_WELL[1]:
        low, high = validation.SQUARED_WELL
        raise ValueError(f"unit_cost times per must lie in [{low:g}, {high:g}], got {unit_cost} times {per}.")
    return factor


def check_unit_cost(unit_cost: Any) -> float:
    """Return what a false positive and a false negative cost together, a finite number > 0, or raise."""
    number = validation.check_number(unit_cost, "unit_cost")
    if 0.0 < number < math.inf:
        return number
    why = ""
    if number == 0.0:
        why = (
            ": every cost would be 0. It is what a false positive and a false negative cost together; leave it out "
            "where costs have no unit"
        )
    elif -math.inf < number < 0.0:
        why = (
            f": the dearest model would look best. If {-number:g} is lost by a false positive and a false negative "
            f"together, pass unit_cost={-number:g}; what is gained in a row goes into RowCosts(matrix=)"
        )
    raise ValueError(f"unit_cost must be a finite number > 0, got {unit_cost}{why}.")


def check_harm(harm: float) -> float:
    """Return the test harm, a number in [0, 1), or raise."""
    number = validation.check_size(harm, "harm", zero=True)
    if number >= 1.0:
        meant = (
            f" If finding one positive is worth obtaining {harm} scores, pass harm=1/{harm}." if number > 1.0 else ""
        )
        raise ValueError(
            f"harm must be < 1, got {harm}: it is what obtaining a score costs each case, in positives missed, and at "
            f"that price no score pays.{meant}"
        )
    return number


_LONGEST_WORD = 40


def check_word(word: Any, name: str) -> str:
    """Return what something is called in sentences, or raise."""
    if isinstance(word, str) and word.strip() and word.isprintable() and len(word) <= _LONGEST_WORD:
        return word.strip()
    example = "refuse" if "action" in name else "bad loan"
    raise ValueError(f'{name} must be a word such as "{example}", of at most {_LONGEST_WORD} characters, got {word!r}.')


# One entrance for evaluation functions: rows, a score table in their place, weights and a stated prevalence.


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationData:
    """Clean rows, or a score table instead; the table is built from rows on first use."""

    sample: validation.BinarySample | None
    given: ScoreTable | None

    @property
    def table(self) -> ScoreTable:
        """The table passed, or that of the rows."""
        if self.given is None:
            object.__setattr__(self, "given", ScoreTable.from_sample(self._weighted_rows()))
        return self.given  # type: ignore[return-value]

    @property
    def rows(self) -> validation.BinarySample:
        """The rows; an error if only a table was passed."""
        if self.sample is None:
            raise ValueError("per-row values need the rows: pass y_true and y_prob instead of a ScoreTable.")
        return self.sample

    @property
    def everyone(self) -> EvaluationData:
        """All rows, for what needs no outcome; the same where the class of each is known."""
        origin = None if self.sample is None else self.sample.origin
        if origin is None:
            return self
        use, weight = origin.outcome.present, origin.outcome.sample_weight
        rows = origin.outcome.y[use], origin.score[use], None if weight is None else weight[use]
        return EvaluationData(validation.BinarySample(*rows), None)

    def _weighted_rows(self) -> validation.BinarySample:
        rows = self.rows
        if rows.weight is None or np.all(rows.weight):
            return rows
        keep = rows.weight > 0.0
        return validation.BinarySample(rows.y[keep], rows.score[keep], rows.weight[keep], about=rows.about)

    @property
    def about(self) -> str:
        """A note for figures of the rows."""
        return self.table.about if self.sample is None else self.sample.about

    def integral(self, costs: CostDistribution, rule: Rule) -> float:
        """Integral of regret, without a sort where rows allow it."""
        if self.sample is not None and rule != "optimal":
            return row_integral(self.sample, costs, rule)
        return table_integral(self.table, costs, rule)

    def losses(self, costs: CostDistribution, rule: Rule) -> validation.Floats:
        """Integrated cost of each row."""
        rows = self.rows
        if rule == "optimal":
            # a row of weight zero may have a score that the table lacks: use the next higher score
            level = np.minimum(np.searchsorted(self.table.scores, rows.score), len(self.table.scores) - 1)
            return row_losses(rows.y, self.table.pav_by_score()[level], costs, "score")
        return row_losses(rows.y, rows.score, costs, rule)

    @property
    def prevalence(self) -> float:
        """Weighted share of positives."""
        return self.shares[1]

    @property
    def shares(self) -> tuple[float, float]:
        """Weighted shares of negatives and of positives; 1 - prevalence would lose the digits of a rare class."""
        if self.sample is None:
            return self.table.shares
        y, weight = self.sample.y, self.sample.weight
        if weight is None:
            ups = float(np.count_nonzero(y))
            return (len(y) - ups) / len(y), ups / len(y)
        ups, downs = float(weight[y].sum()), float(weight[~y].sum())
        return downs / (ups + downs), ups / (ups + downs)


def evaluation_data(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any = None,
    pos_label: object = None,
    prevalence: float | None = None,
    *,
    logits: bool = False,
    probability: bool = True,
    per_sample: bool = False,
    amounts: bool = False,
    name: str = "y_prob",
) -> EvaluationData:
    """Validate the data of an evaluation function; ``name`` is its argument for the scores.

    ``amounts`` says that it holds for scores that are no probabilities, which amounts by row make.
    """
    validation.check_flag(per_sample, "per_sample")
    if not amounts:
        refuse_amounts(y_true)
    if isinstance(y_true, validation.BinarySample):  # rows that were checked before
        return EvaluationData(y_true, None)
    if isinstance(y_true, ScoreTable):
        if y_prob is not None or sample_weight is not None or pos_label is not None or logits:
            raise ValueError("a ScoreTable stands for y_true, y_prob, sample_weight and pos_label: pass it alone.")
        if probability and not 0.0 <= y_true.scores[0] <= y_true.scores[-1] <= 1.0:
            raise ValueError(f"the scores of the table must lie in [0, 1], got {y_true!r}.")
        return EvaluationData(None, y_true if prevalence is None else y_true.with_prevalence(prevalence))
    if y_prob is None:
        raise ValueError(f"{name} is missing: pass y_true and {name}, or a ScoreTable alone.")
    how: dict[str, Any] = {"logits": logits, "probability": probability, "keep_zero_weight": per_sample, "name": name}
    sample = validation.check_sample(y_true, y_prob, sample_weight, pos_label, **how)
    return EvaluationData(sample if prevalence is None else reweighted(sample, prevalence), None)


def row_as_given(sample: validation.BinarySample | None, sample_weight: Any, place: int | None) -> int | None:
    """Number among all rows as they were passed of one among those that count."""
    if sample is None or place is None:
        return place
    if sample.origin is not None:
        return int(sample.origin.places[place])
    weight = sample_weight if sample.given_weight is None else sample.given_weight
    return place if weight is None else int(np.flatnonzero(validation.to_array(weight, "sample_weight"))[place])


def refuse_amounts(y_true: Any) -> None:
    """Refuse rows weighted by amounts, where scores are ranked or compared with event rates."""
    is_table = isinstance(y_true, ScoreTable | Outcome)
    if is_table and y_true.by_amount:
        raise ValueError(
            "amounts, not probabilities, order these rows: use the model's own scores. Costs, net benefit, their "
            "curves, decompositions and comparisons hold for amounts."
        )


def refuse_weighing(y_true: Any, what: str) -> None:
    """Refuse estimated weights of an outcome where the errors would ignore their estimation."""
    is_table = isinstance(y_true, ScoreTable)
    if (is_table and y_true.estimated_weights) or (isinstance(y_true, Outcome) and y_true.estimated):
        whose = "this table" if is_table else type(y_true).__name__
        raise ValueError(
            f"{what} takes weights as known, and those of {whose} are estimated: its errors would be wrong."
        )


def with_fixed_weights(table: ScoreTable) -> tuple[ScoreTable, str]:
    """Treat the table's estimated weights as fixed; also return the caveat ("" if they were fixed already)."""
    if not table.estimated_weights:
        return table, ""
    return replace(table, estimated_weights=False), "weights treated as known (errors a little too large)"


def ranking_data(
    y_true: Any, y_score: Any, sample_weight: Any = None, pos_label: object = None, prevalence: float | None = None
) -> EvaluationData:
    """Validate the data of a function that uses only the ranking of scores."""
    return evaluation_data(y_true, y_score, sample_weight, pos_label, prevalence, probability=False, name="y_score")


def reweighted(sample: validation.BinarySample, prevalence: float) -> validation.BinarySample:
    """Scale the weights of each class to the stated prevalence."""
    target = validation.check_prevalence(prevalence)
    if sample.origin is not None and sample.origin.outcome.by_amount:
        raise ValueError(PREVALENCE_OF_AMOUNTS)
    weight = np.ones(len(sample.y)) if sample.weight is None else sample.weight
    ups = float(weight[sample.y].sum())
    downs = float(weight[~sample.y].sum())
    if not (ups > 0.0 and downs > 0.0):
        raise ValueError("prevalence= needs rows of both classes, got one class only.")
    factor = np.where(sample.y, target * (ups + downs) / ups, (1.0 - target) * (ups + downs) / downs)
    return replace(sample, weight=weight * factor)


def undefined(what: str, why: str) -> float:
    """Warn as scikit-learn does and return nan."""
    import warnings

    from sklearn.exceptions import UndefinedMetricWarning

    warnings.warn(f"{what} is undefined: {why}.", UndefinedMetricWarning, stacklevel=3)
    return float("nan")


# The options of an evaluation, checked once and passed on as one object.


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What a caller asks for, ``checked`` before use; ``factor`` takes the integral of regret to the scale and unit.

    ``harm`` is what obtaining a score costs each case, in positives missed: one number, or one for some of the models.

    ``per`` is the number of decisions that costs refer to, ``money_per`` the number of rows that money is for where
    rows have amounts.

    ``per_stake`` names what costs are counted per where rows count by what is at stake in them, such as "EUR at stake".

    What belongs to the rows (weights, clusters, groups) stands for one value per row, or for the name of a column
    until the columns are read.

    ``neg_label`` is the label beside the positive one, where the rows that were read said it.

    ``action`` and ``event`` are what acting on a case and a positive case are called in sentences.
    """

    costs: CostDistribution = field(default_factory=lambda: Uniform(0.0, 1.0))
    rule: Rule = "score"
    harm: float | Mapping[str, float] = 0.0
    scale: Any = None  # a Scale after the check; by default that of the costs
    confidence_level: float = 0.95
    unit_cost: float = 1.0
    per: float = 1.0
    money_per: float | Literal["total"] = MONEY_PER
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prevalence: float | None = None
    sample_weight: Any = None
    groups: Any = None
    clusters: Any = None
    lags: Any = None
    incumbent: str | None = None
    n_tried: int | None = None
    pos_label: Any = None
    neg_label: str | float | None = None
    outcome: OutcomeFromColumns | None = None
    logits: bool = False
    factor: float = 1.0
    per_stake: str = ""
    action: str = "treat"
    event: str = "positive"

    def checked(self) -> Options:
        """Check the caller's options; a missing scale follows from the costs."""
        if self.clusters is not None and self.lags is not None:
            raise ValueError("clusters= and lags= (rows in order) cannot both be given.")
        if self.money_per != MONEY_PER and self.rule != "score":
            raise ValueError(f'per= of amounts by row needs rule="score", whose money it is, got {self.rule!r}.')
        costs = self.costs
        scale, factor = check_scale(self.scale, costs)
        if math.isnan(factor):
            raise ValueError(
                f'scale="regret" is undefined for {costs!r}, whose mass is {costs.mass:g}; use "loss" or "integral".'
            )
        return replace(
            self,
            rule=check_rule(self.rule),
            harm=_check_harms(self.harm, costs),
            scale=scale,
            prevalence=None if self.prevalence is None else validation.check_prevalence(self.prevalence),
            confidence_level=validation.check_level(self.confidence_level),
            factor=factor * check_units(scale, self.unit_cost, self.per),
            unit_cost=float(self.unit_cost),
            per=float(self.per),
            action=check_word(self.action, "action"),
            event=check_word(self.event, "event"),
        )

    @property
    def scale_words(self) -> str:
        """The unit of costs, and the denominator for amounts by row."""
        return f"{self.scale} per {self.per_stake}" if self.per_stake else self.scale

    @property
    def money_words(self) -> str:
        """For how many rows money is."""
        if self.money_per == "total":
            return "in total"
        return "per row" if self.money_per == 1.0 else f"per {stated(self.money_per)} rows"

    @property
    def plain_rule(self) -> Rule:
        """The rule to apply to recalibrated scores."""
        return "score" if self.rule == "optimal" else self.rule

    @property
    def dividing_columns(self) -> list[str]:
        """Names of the columns that define subgroups or clusters."""
        return list(dict.fromkeys([*(self.groups or ()), *([] if self.clusters is None else [self.clusters])]))

    def harm_of(self, name: str) -> float:
        """Harm of obtaining a model's score for each case, in missed positives; 0 for treat all and treat none."""
        return self.harm.get(name, 0.0) if isinstance(self.harm, Mapping) else float(self.harm)

    def harms(self, models: Iterable[str]) -> NDArray[np.float64]:
        """Harm of each model as a cost integrated over the cost distribution."""
        each = np.array([self.harm_of(name) for name in models])
        return each * float(self.costs.positive_loss(-np.inf)) if each.any() else each

    def renamed(self, names: Mapping[str, str]) -> Options:
        """Return the options with the models renamed."""
        harm = {names[name]: each for name, each in self.harm.items()} if isinstance(self.harm, Mapping) else self.harm
        return replace(self, incumbent=names.get(self.incumbent or ""), harm=harm)

    def check_harmed(self, models: Sequence[str]) -> None:
        """Raise unless the harm's names are these models."""
        unknown = [name for name in self.harm if name not in models] if isinstance(self.harm, Mapping) else []
        if unknown:
            raise ValueError(f"harm must name models among {', '.join(map(repr, models))}, got {unknown[0]!r}.")

    def of_amounts(self, outcome: object) -> Options:
        """Express costs per unit of money at stake for amounts by row; refuse incompatible options."""
        if not isinstance(outcome, Outcome) or not outcome.by_amount:
            return self
        return self.per_unit(getattr(outcome, "unit", ""))

    def per_unit(self, unit: str) -> Options:
        """Express costs per unit of money at stake; refuse incompatible options."""
        asked = {"metrics": self.metrics or None, "harm": self.harm or None, "prevalence": self.prevalence}
        given = [name for name, value in asked.items() if value is not None]
        given += [name for name in ("unit_cost", "per") if getattr(self, name) != 1.0]
        if given or self.scale != "regret":
            what = given[0] if given else "scale"
            raise ValueError(PREVALENCE_OF_AMOUNTS if what == "prevalence" else f"{what}= does not fit amounts by row.")
        # a wrong decision at the ratio 1/2 then has the stated cost
        return replace(self, factor=2.0 * self.factor, unit_cost=2.0, per_stake=f"{unit or 'unit'} at stake")

    def data(self, y_true: Any, y_prob: Any, name: str = "y_prob", *, amounts: bool = False) -> EvaluationData:
        """Validate the rows of one model, or its score table."""
        weighing = self.sample_weight, self.pos_label, self.prevalence
        return evaluation_data(y_true, y_prob, *weighing, logits=self.logits, amounts=amounts, name=name)


def _check_harms(harm: Any, costs: CostDistribution) -> float | dict[str, float]:
    """Return the harm of obtaining a score, one number or by model, or raise."""
    mapped = isinstance(harm, Mapping)
    found = (
        {name: check_harm(each) for name, each in validation.by_name(harm, "harm").items()}
        if mapped
        else check_harm(harm)
    )
    each = found.values() if isinstance(found, dict) else [found]
    if any(each) and not math.isfinite(float(costs.positive_loss(-np.inf))):
        raise ValueError(f"harm counts in positives missed, and missing one costs infinitely much under {costs!r}.")
    return found
