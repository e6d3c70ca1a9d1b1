"""The value of a metric with its standard error and interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stakes.shown.tabular import Tabular


@dataclass(frozen=True)
class Estimate(Tabular):
    """The value of a metric with its standard error and interval.

    Parameters
    ----------
    metric : str
        Name of the metric.
    value : float
        On these rows.
    standard_error : float
        Of the value; nan where it is infinite or undefined.
    interval : tuple of float
        Two-sided; nan where it is infinite or undefined.
    confidence_level : float
        Of the interval.
    note : str
        On how few rows of which class the value rests, and how many would do; empty where there are enough.

    Examples
    --------
    >>> from stakes.inference import metric_interval
    >>> y_true = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5
    >>> metric_interval(y_true, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5, "roc_auc_score")
    Estimate(roc_auc_score = 0.9, 95% interval [0.771, 0.9601])
    """

    metric: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence_level: float
    note: str = ""

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "metric": self.metric,
                "value": self.value,
                "standard_error": self.standard_error,
                "ci_low": self.interval[0],
                "ci_high": self.interval[1],
                "confidence_level": self.confidence_level,
                "note": self.note,
            }
        ]

    def __repr__(self) -> str:
        low, high = self.interval
        sure = f"{self.confidence_level:.0%} interval [{low:.4g}, {high:.4g}]"
        return f"Estimate({self.metric} = {self.value:.4g}, {sure}{', ' + self.note if self.note else ''})"
