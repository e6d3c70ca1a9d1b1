"""One entrance for evaluation functions: rows, a score table in their place, weights and a stated prevalence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._kernel import row_integral, row_losses, table_integral
from stakes._validation import BinarySample, check_sample, check_unit
from stakes.costs import CostDistribution, Uniform
from stakes.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes._kernel import Rule

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EvaluationData:
    """Clean rows, or the table that stands for them; the table is built when a method first needs it."""

    sample: BinarySample | None
    given: ScoreTable | None

    @property
    def table(self) -> ScoreTable:
        if self.given is None:
            object.__setattr__(self, "given", ScoreTable._from_sample(self._weighted_rows()))
        return self.given  # type: ignore[return-value]

    @property
    def rows(self) -> BinarySample:
        if self.sample is None:
            raise ValueError("per-row values need the rows: pass y_true and y_prob instead of a ScoreTable.")
        return self.sample

    def _weighted_rows(self) -> BinarySample:
        rows = self.rows
        if rows.weight is None or np.all(rows.weight):
            return rows
        keep = rows.weight > 0.0
        return BinarySample(rows.y[keep], rows.score[keep], rows.weight[keep])

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
) -> EvaluationData:
    """Validate whatever an evaluation function was given."""
    if isinstance(y_true, ScoreTable):
        if y_prob is not None or sample_weight is not None or pos_label is not None or logits:
            raise ValueError("a ScoreTable stands for y_true, y_prob, sample_weight and pos_label: pass it alone.")
        if probability and not 0.0 <= y_true.scores[0] <= y_true.scores[-1] <= 1.0:
            raise ValueError(f"the scores of the table must lie in [0, 1], got {y_true!r}.")
        return EvaluationData(None, y_true if prevalence is None else y_true.with_prevalence(prevalence))
    if y_prob is None:
        raise ValueError("y_prob is missing: pass y_true and y_prob, or a ScoreTable alone.")
    sample = check_sample(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        logits=logits,
        probability=probability,
        keep_zero_weight=per_sample,
    )
    return EvaluationData(sample if prevalence is None else reweighted(sample, prevalence), None)


def as_costs(costs: CostDistribution | tuple[float, float] | None) -> CostDistribution:
    """Accept (low, high) for a uniform distribution and None for the whole range."""
    if costs is None:
        return Uniform(0.0, 1.0)
    if isinstance(costs, CostDistribution):
        return costs
    try:
        low, high = costs
        return Uniform(float(low), float(high))
    except TypeError:
        raise ValueError(f"costs must be a cost distribution or (low, high), got {costs!r}.") from None


def reweighted(sample: BinarySample, prevalence: float) -> BinarySample:
    """Scale the weights of each class so that positives make up the stated share."""
    target = check_unit(prevalence, "prevalence", open_low=True, open_high=True)
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
