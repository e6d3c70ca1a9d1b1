"""Everything that is counted at a decision threshold, for every distinct score or for chosen thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data, undefined
from stakes.core.remedies import in_percent
from stakes.core.validation import check_number, to_array, to_floats
from stakes.costs import as_costs
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostsLike

    Floats = NDArray[np.float64]

_SHOWN_ROWS = 60
COLUMNS = (
    "threshold",
    "tp",
    "fp",
    "fn",
    "tn",
    "sensitivity",
    "specificity",
    "ppv",
    "npv",
    "lr_positive",
    "lr_negative",
    "share_flagged",
    "cost_ratio",
    "odds",
    "regret",
    "net_benefit",
)


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTable(Tabular):
    """Counts and rates of acting where score >= threshold, one row for each threshold.

    Every column of :meth:`frame` is an attribute too, computed from the four counts when it is asked for.

    Parameters
    ----------
    threshold : ndarray of shape (k,)
        Ascending, or as given.
    tp, fp, fn, tn : ndarray of shape (k,)
        Weight of true and false positives and negatives.
    cost_ratio : ndarray of shape (k,)
        What a false positive costs at each threshold, a false negative costing the rest of 1.
    about : str, default ""
        What a picture must say of the rows: the horizon, what weighs them.

    Examples
    --------
    >>> from stakes.curves import threshold_table
    >>> table = threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> table.sensitivity.tolist(), table.ppv.round(4).tolist()
    ([1.0, 1.0, 0.5, 0.5], [0.5, 0.6667, 0.5, 1.0])
    """

    threshold: Floats
    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats
    cost_ratio: Floats
    about: str = ""

    @property
    def sensitivity(self) -> Floats:
        """Share of positives flagged (recall); nan without positives."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> Floats:
        """Share of negatives not flagged; nan without negatives."""
        return _ratio(self.tn, self.tn + self.fp)

    @property
    def ppv(self) -> Floats:
        """Share of positives among the flagged (precision); nan where no one is."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def npv(self) -> Floats:
        """Share of negatives among the rest; nan where everyone is flagged."""
        return _ratio(self.tn, self.tn + self.fn)

    @property
    def lr_positive(self) -> Floats:
        """What being flagged multiplies the odds by: sensitivity / (1 - specificity); inf without false positives."""
        return _ratio(self.sensitivity, _ratio(self.fp, self.tn + self.fp))

    @property
    def lr_negative(self) -> Floats:
        """What not being flagged multiplies the odds by: (1 - sensitivity) / specificity."""
        return _ratio(_ratio(self.fn, self.tp + self.fn), self.specificity)

    @property
    def share_flagged(self) -> Floats:
        """Share of all weight that is flagged."""
        return (self.tp + self.fp) / self._total

    @property
    def odds(self) -> Floats:
        """Exchange rate of the cost ratio, c / (1 - c): true positives that one false positive is worth."""
        return _ratio(self.cost_ratio, 1.0 - self.cost_ratio)

    @property
    def regret(self) -> Floats:
        """Cost per decision: c for a false positive, 1 - c for a false negative."""
        return (self.cost_ratio * self.fp + (1.0 - self.cost_ratio) * self.fn) / self._total

    @property
    def net_benefit(self) -> Floats:
        """True positives per case less false positives at the exchange rate; nan at a cost ratio of 1."""
        odds = np.where(self.cost_ratio < 1.0, self.odds, np.nan)
        return (self.tp - odds * self.fp) / self._total

    @property
    def _total(self) -> Floats:
        return self.tp + self.fp + self.fn + self.tn

    def frame(self, backend: Any = None) -> Any:
        """Return every column as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from stakes.curves import threshold_table
        >>> threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).frame("polars").columns[:5]
        ['threshold', 'tp', 'fp', 'fn', 'tn']
        """
        from stakes.shown.frames import build_frame

        return build_frame({name: getattr(self, name) for name in COLUMNS}, backend)

    def _records(self) -> list[dict[str, Any]]:
        columns = [getattr(self, name).tolist() for name in COLUMNS]
        return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]

    def _repr_html_(self) -> str:
        if len(self.threshold) <= _SHOWN_ROWS:
            return super()._repr_html_()
        rows = np.linspace(0, len(self.threshold) - 1, _SHOWN_ROWS).astype(np.intp)
        kept = [getattr(self, name)[rows] for name in ("threshold", "tp", "fp", "fn", "tn", "cost_ratio")]
        return f"{ThresholdTable(*kept)._repr_html_()}<p>{_SHOWN_ROWS} of {len(self.threshold)} thresholds</p>"

    def __repr__(self) -> str:
        low, high = self.threshold.min(), self.threshold.max()
        return f"ThresholdTable({len(self.threshold)} thresholds in [{low:g}, {high:g}])"


def threshold_table(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    costs: CostsLike | None = None,
    per: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> ThresholdTable:
    """Sensitivity, specificity, predictive values, likelihood ratios, share flagged and cost at every threshold.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class; with ``costs`` given, any finite score that ranks.
    thresholds : array_like of shape (k,), optional
        By default every distinct score, ascending.
    costs : CostDistribution, tuple of float, or float, optional
        The cost ratio of regret and net benefit, or a range or distribution whose mean it is (both are linear in it).
        By default each threshold itself, as it would be chosen for a calibrated probability.
    per : float, optional
        Count per so many cases; by default the weights as they are.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    ThresholdTable
        nan stands where a rate is 0/0 (with a warning for one class only), inf where a likelihood ratio is infinite.

    Raises
    ------
    ValueError
        For invalid data, thresholds or costs.

    Notes
    -----
    Flagged means score >= threshold.

    Examples
    --------
    >>> from stakes.curves import threshold_table
    >>> table = threshold_table([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6], thresholds=[0.2], per=1000)
    >>> table.tp.tolist(), table.fp.tolist(), table.net_benefit.tolist()
    ([250.0], [250.0], [0.1875])
    """
    per = None if per is None else check_number(per, "per")
    if per is not None and not 0.0 < per < math.inf:
        raise ValueError(f"per must be a finite number > 0, got {per}.")
    table = evaluation_data(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        probability=costs is None,
    ).table
    chosen = None if thresholds is None else check_thresholds(thresholds, probability=costs is None)
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        undefined("sensitivity or specificity", "only one class is present")
    return threshold_table_of(table, chosen, None if costs is None else as_costs(costs).mean(), per)


def threshold_table_of(
    table: ScoreTable, thresholds: Floats | None = None, cost_ratio: float | None = None, per: float | None = None
) -> ThresholdTable:
    """Threshold table from a clean table."""
    missed = np.concatenate([[0.0], np.cumsum(table.positives)])
    spared = np.concatenate([[0.0], np.cumsum(table.negatives)])
    ups, downs = missed[-1], spared[-1]
    if thresholds is None:
        thresholds, fn, tn = table.scores, missed[:-1], spared[:-1]
    else:
        cut = np.searchsorted(table.scores, thresholds, side="left")
        fn, tn = missed[cut], spared[cut]
    unit = 1.0 if per is None else per / (ups + downs)
    c = thresholds if cost_ratio is None else np.full(len(thresholds), cost_ratio)
    return ThresholdTable(thresholds, (ups - fn) * unit, (downs - tn) * unit, fn * unit, tn * unit, c, table.about)


def check_thresholds(thresholds: ArrayLike, *, probability: bool) -> Floats:
    values = np.atleast_1d(to_floats(to_array(thresholds, "thresholds"), "thresholds"))
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"thresholds must be one or more numbers, got shape {values.shape}.")
    bad = np.isnan(values) | (probability & ~((values >= 0.0) & (values <= 1.0)))
    if np.any(bad):
        first = int(np.argmax(bad))
        rule = "lie in [0, 1] (for other scores pass costs=)" if probability else "not be nan"
        percent = in_percent(values[first]) if probability else ""
        raise ValueError(f"thresholds must {rule}, got {values[first]} at index {first}{percent}.")
    return values


def _ratio(top: Floats, bottom: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(top / bottom)
