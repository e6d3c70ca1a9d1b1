"""Several models with the option to defer: what each costs with and without it, and which is best with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.actions._deferred_rows import deferred_rows
from stakes.actions._evaluate_deferral import check_capacity, check_finite, deferred_of
from stakes.core.regret import table_integral
from stakes.core.score_table import ScoreTable
from stakes.costs import Deferral, as_deferral
from stakes.inference import Contest, CostRows, select
from stakes.shown.sentences import REFERENCES
from stakes.shown.tabular import Tabular
from stakes.shown.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stakes.actions._evaluate_deferral import Deferred
    from stakes.core.options import Options
    from stakes.core.validation import BinarySample
    from stakes.inference import Selection

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

_FEES = 41
DEFER_ALL = "deferring all"


@dataclass(frozen=True, eq=False, repr=False)
class DeferredModels(Tabular):
    """What several models cost with the option to defer; made by :meth:`stakes.evaluation.Evaluation.with_deferral`.

    Parameters
    ----------
    models : dict of str to Deferred
        By name.
    deferral : Deferral
        What deferring costs.
    capacity : float or None
        Largest share of cases that may be deferred.
    selection : Selection
        Which decision is best with the option, on total cost: models, treating all, no one, and deferring all.
    fees : ndarray
        From 0 to where no case is worth its fee.
    over_fees : dict of str to ndarray
        Cost of each model at these fees, without a limit to the share.

    Examples
    --------
    >>> from stakes import evaluate
    >>> result = evaluate([0, 1, 0, 1] * 20, {"a": [0.1, 0.6, 0.3, 0.9] * 20}, costs=0.2).with_deferral(0.02)
    >>> result.deferral["a"].shares["deferred"]
    0.75
    """

    models: dict[str, Deferred]
    deferral: Deferral
    capacity: float | None
    selection: Selection
    fees: Floats
    over_fees: dict[str, Floats]

    def __getitem__(self, name: str) -> Deferred:
        return self.models[name]

    @property
    def conclusion(self) -> list[str]:
        """Which decision is best with the option, and what the option is worth for each model."""
        lead, *others = self.selection.sentences
        worth = [f"{name}: {found.sentence[0].lower()}{found.sentence[1:]}" for name, found in self.models.items()]
        return [lead, *worth, *others]

    def record(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "fee": self.deferral.fee,
            "false_positive_rate": self.deferral.false_positive_rate,
            "false_negative_rate": self.deferral.false_negative_rate,
            "capacity": self.capacity,
            "models": self._records(),
            "over_fees": {"fee": self.fees.tolist()} | {name: line.tolist() for name, line in self.over_fees.items()},
            "conclusion": self.conclusion,
        }

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "model": name,
                **{key: found.estimates[key].value for key in ("cost", "cost_without", "value")},
                "ci_low": found.estimates["value"].interval[0],
                "ci_high": found.estimates["value"].interval[1],
                **{key.replace(" ", "_"): share for key, share in found.shares.items()},
                "defer_from": None if found.zone is None else found.zone[0],
                "defer_to": None if found.zone is None else found.zone[1],
            }
            for name, found in self.models.items()
        ]

    def __repr__(self) -> str:
        parts = [
            f"{name} {found.cost:.4g}, {percent(found.shares['deferred'])} deferred"
            for name, found in self.models.items()
        ]
        return f"DeferredModels({'; '.join(parts)})"


def deferred_models(
    samples: Mapping[str, BinarySample],
    asked: Options,
    deferral: Deferral | float,
    capacity: float | None,
    codes: Integers | None,
) -> DeferredModels:
    """Judge clean rows of several models at face value."""
    option, measure = as_deferral(deferral), check_finite(asked.costs)
    cap = check_capacity(capacity, measure)
    found = {name: deferred_of(asked, sample, option, cap, codes=codes) for name, sample in samples.items()}
    factor = asked.factor * measure.mass
    totals = [factor * deferred_rows(sample, measure, option, cap).total for sample in samples.values()]
    fees = np.linspace(0.0, _highest_fee(asked, option), _FEES)
    tables = {name: ScoreTable.from_sample(sample) for name, sample in samples.items()}
    curves = {name: np.array([_at_fee(table, asked, option, fee) for fee in fees]) for name, table in tables.items()}
    chosen = _chosen(next(iter(samples.values())), totals, tuple(samples), asked, option, codes)
    return DeferredModels(found, option, cap, chosen, fees, curves)


def _at_fee(table: ScoreTable, asked: Options, option: Deferral, fee: float) -> float:
    at = Deferral(float(fee), option.false_positive_rate, option.false_negative_rate)
    return asked.factor * table_integral(table, at.applied_to(asked.costs), "score")


def _highest_fee(asked: Options, option: Deferral) -> float:
    """The fee from which on no case is deferred, at any cost ratio that counts."""
    low, high = asked.costs.low, asked.costs.high
    c = min(max(0.5, low), high)
    return c * (1.0 - c) * (1.0 - option.false_positive_rate - option.false_negative_rate)


def _chosen(  # noqa: PLR0917  (clean rows and what was asked of them)
    sample: BinarySample,
    totals: list[Floats],
    names: tuple[str, ...],
    asked: Options,
    option: Deferral,
    codes: Integers | None,
) -> Selection:
    """Choose among the models with the option, treating all, treating no one and deferring all."""
    measure, y = asked.costs, sample.y
    worst = asked.factor * np.array([float(measure.negative_loss(np.inf)), float(measure.positive_loss(-np.inf))])
    fee = asked.factor * measure.mass * option.fee
    deferred = fee + worst * (option.false_positive_rate, option.false_negative_rate)
    columns = [*totals, np.where(y, 0.0, worst[0]), np.where(y, worst[1], 0.0), np.where(y, deferred[1], deferred[0])]
    largest = np.tile(np.maximum(worst, deferred)[:, None], len(columns))
    weight = np.ones(len(y)) if sample.weight is None else sample.weight
    rows = CostRows(np.stack(columns, axis=1), y, weight, codes, largest, asked.prevalence is not None, sample.origin)
    every = (*names, *REFERENCES, DEFER_ALL)
    contest = Contest(every, len(names), rows.means, rows.covariance(), len(y), rows.spread, float(largest.max()))
    options = {"incumbent": asked.incumbent, "n_tried": asked.n_tried, "confidence_level": asked.confidence_level}
    return select(contest, scale=asked.scale, per=asked.per, where="With the option to defer, ", **options)  # type: ignore[arg-type]
