"""What the models of an evaluation cost in money, where each row has amounts of its own: in all rows and in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stakes.costs import Fixed, NoMeanError
from stakes.inference import law_of, money_of
from stakes.outcomes import RowCosts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from stakes.core.options import Options
    from stakes.costs import CostDistribution
    from stakes.inference import Money, PairedRows

    Bools = NDArray[np.bool_]

AS_STATED = 0.5  # the cost ratio at which amounts count as they are


def money_by_model(
    models: Sequence[str],
    rows: PairedRows | None,
    options: Options,
    *,
    costs: CostDistribution | None = None,
    scale: str = "false_negative",
    among: Bools | None = None,
) -> dict[str, Money]:
    """Money per row of every model, or of some rows; empty where it has no mean or no row counts.

    ``costs`` says how sure the ratio of the amounts is; without, they count as stated.
    """
    outcome = None if rows is None or rows.origin is None else rows.origin.outcome
    if rows is None or not isinstance(outcome, RowCosts) or options.rule != "score":
        return {}
    if outcome.n_set_aside and costs is not None:
        return {}
    try:
        law = law_of(outcome, costs or Fixed(AS_STATED), scale)
    except NoMeanError:
        return {}
    counted = outcome.counted if among is None else outcome.counted * among
    if not counted.any():
        return {}
    level, codes = options.confidence_level, rows.clusters
    return {
        name: money_of(outcome, score, law, 1.0, level=level, codes=codes, among=among)
        for name, score in zip(models, rows.every_score, strict=True)
    }
