"""The table of metrics that the documentation shows, made from the registry."""

from __future__ import annotations

import math

from stakes.metrics._registry import METRICS
from stakes.shown.markdown import markdown_table

_PROPRIETY = {"strict": "strictly proper", "proper": "proper", "rank": "ranking only", "none": "no"}


def metrics_table() -> str:
    """Return the registered metrics as a Markdown table: direction, range, propriety, what it needs.

    Returns
    -------
    str
        One line for each metric, in alphabetical order.

    Examples
    --------
    >>> from stakes.metrics import metrics_table
    >>> print(metrics_table().splitlines()[0])
    | metric | what it answers | better | range | proper | task | needs | bounds | one class |
    """
    header = ["metric", "what it answers", "better", "range", "proper", "task", "needs", "bounds", "one class"]
    rows = []
    for name, metric in sorted(METRICS.items()):
        cells = [
            f"`{name}`",
            metric.summary,
            "higher" if metric.greater_is_better else "lower",
            _interval(metric.low, metric.high),
            _PROPRIETY[metric.propriety],
            "multi-class" if metric.task == "multiclass" else "binary",
            "probabilities" if metric.response == "probability" else "any ranking score",
            "yes" if metric.bounded else "",
            "defined" if metric.one_class else "nan",
        ]
        rows.append(cells)
    return markdown_table(header, rows)


def _interval(low: float, high: float) -> str:
    left, right = "(" if math.isinf(low) else "[", ")" if math.isinf(high) else "]"
    return f"{left}{low:g}, {high:g}{right}"
