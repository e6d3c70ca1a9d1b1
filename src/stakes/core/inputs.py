"""One entrance for evaluation functions: rows, a score table in their place, weights and a stated prevalence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.outcome import Outcome
from stakes.core.regret import row_integral, row_losses, table_integral
from stakes.core.score_table import ScoreTable
from stakes.core.validation import BinarySample, check_flag, check_prevalence, check_sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.regret import Rule
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EvaluationData:
    """Clean rows, or the table that stands for them; the table is built when a method first needs it."""

    sample: BinarySample | None
    given: ScoreTable | None

    @property
    def table(self) -> ScoreTable:
        """The table that was given, or that of the rows."""
        if self.given is None:
            object.__setattr__(self, "given", ScoreTable.from_sample(self._weighted_rows()))
        return self.given  # type: ignore[return-value]

    @property
    def rows(self) -> BinarySample:
        """The rows, where they are at hand."""
        if self.sample is None:
            raise ValueError("per-row values need the rows: pass y_true and y_prob instead of a ScoreTable.")
        return self.sample

    def _weighted_rows(self) -> BinarySample:
        rows = self.rows
        if rows.weight is None or np.all(rows.weight):
            return rows
        keep = rows.weight > 0.0
        return BinarySample(rows.y[keep], rows.score[keep], rows.weight[keep], about=rows.about)

    @property
    def about(self) -> str:
        """What pictures of the rows must say."""
        return self.table.about if self.sample is None else self.sample.about

    def integral(self, costs: CostDistribution, rule: Rule) -> float:
        """Integral of regret, in one pass over the rows where no sort is needed."""
        if self.sample is not None and rule != "optimal":
            return row_integral(self.sample, costs, rule)
        return table_integral(self.table, costs, rule)

    def losses(self, costs: CostDistribution, rule: Rule) -> Floats:
        """Integrated cost of each row."""
        rows = self.rows
        if rule == "optimal":
            # a row of weight zero may carry a score that the table lacks: it takes the next higher level
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
    *,
    sample_weight: Any = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    probability: bool = True,
    per_sample: bool = False,
    amounts: bool = False,
    name: str = "y_prob",
) -> EvaluationData:
    """Validate whatever an evaluation function was given; ``name`` is what it calls the scores.

    ``amounts`` says that it holds for scores that are no probabilities, which amounts by row make.
    """
    check_flag(per_sample, "per_sample")
    if not amounts:
        refuse_amounts(y_true)
    if isinstance(y_true, BinarySample):  # rows that were checked before
        return EvaluationData(y_true, None)
    if isinstance(y_true, ScoreTable):
        if y_prob is not None or sample_weight is not None or pos_label is not None or logits:
            raise ValueError("a ScoreTable stands for y_true, y_prob, sample_weight and pos_label: pass it alone.")
        if probability and not 0.0 <= y_true.scores[0] <= y_true.scores[-1] <= 1.0:
            raise ValueError(f"the scores of the table must lie in [0, 1], got {y_true!r}.")
        return EvaluationData(None, y_true if prevalence is None else y_true.with_prevalence(prevalence))
    if y_prob is None:
        raise ValueError(f"{name} is missing: pass y_true and {name}, or a ScoreTable alone.")
    sample = check_sample(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        logits=logits,
        probability=probability,
        keep_zero_weight=per_sample,
        name=name,
    )
    return EvaluationData(sample if prevalence is None else reweighted(sample, prevalence), None)


def refuse_amounts(y_true: Any) -> None:
    """Refuse rows that count by what is at stake in them, where scores are ranked or held against event rates."""
    is_table = isinstance(y_true, ScoreTable | Outcome)
    if is_table and y_true.by_amount:
        raise ValueError(
            "amounts, not probabilities, order these rows: use the model's own scores. Costs, net benefit, their "
            "curves, decompositions and comparisons hold for amounts."
        )


def refuse_weighing(y_true: Any, what: str) -> None:
    """Refuse weights that an outcome estimated where the errors would not allow for it."""
    is_table = isinstance(y_true, ScoreTable)
    if (is_table and y_true.estimated_weights) or (isinstance(y_true, Outcome) and y_true.estimated):
        whose = "this table" if is_table else type(y_true).__name__
        raise ValueError(
            f"{what} takes weights as known, and those of {whose} are estimated: its errors would be wrong."
        )


def as_known(table: ScoreTable) -> tuple[ScoreTable, str]:
    """The table with its weights taken as known, and what is then to be said of errors; empty where they are."""
    if not table.estimated_weights:
        return table, ""
    return replace(table, estimated_weights=False), "weights treated as known (errors a little too large)"


def ranking_data(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: object = None, prevalence: float | None = None
) -> EvaluationData:
    """Validate the same for functions of any score that ranks."""
    return evaluation_data(
        y_true,
        y_score,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        probability=False,
        name="y_score",
    )


def reweighted(sample: BinarySample, prevalence: float) -> BinarySample:
    """Scale the weights of each class so that positives make up the stated share."""
    target = check_prevalence(prevalence)
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
