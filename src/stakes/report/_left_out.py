"""What the page leaves out, and why: intervals where decisions were fitted, bands where rows depend on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stakes.evaluation import Evaluation

# net benefit falls without bound towards a threshold of 1
LAST_THRESHOLD = 0.99


def no_intervals(evaluation: Evaluation) -> str:
    """Why the page can make no intervals, or nothing."""
    if evaluation.rule == "optimal":
        return "the decisions were fitted to these same rows"
    unpaired = evaluation.rows is None and len(evaluation.models) > 1
    return "they need the rows of the models" if unpaired or evaluation.clusters_unseen else ""


def no_plain_bands(evaluation: Evaluation) -> str:
    """Why no band may take the rows as independent and their weights as known, or nothing."""
    rows = evaluation.rows
    if rows is not None and rows.origin is not None:
        return "a band would take the weights as known"
    dependent = evaluation.clusters_unseen or (rows is not None and rows.dependent)
    return "a band would take the rows as independent" if dependent else ""


def no_bands(evaluation: Evaluation) -> str:
    """Why the page has no bands, or nothing."""
    rows = evaluation.rows
    if no_plain_bands(evaluation) and (rows is None or rows.clusters is None or rows.origin is not None):
        return no_plain_bands(evaluation)
    if evaluation.costs.low > LAST_THRESHOLD:
        return "the thresholds are too near to 1"
    return no_intervals(evaluation)
