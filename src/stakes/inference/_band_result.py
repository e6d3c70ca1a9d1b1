"""A curve with its pointwise intervals and its simultaneous band."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.inference._band_limits import combined_limits, pointwise_value
from stakes.shown.faces import draw
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._band_counts import Totals
    from stakes.inference._band_pieces import Pieces

    Floats = NDArray[np.float64]

_COLUMNS = {"estimate": "estimate", "standard_error": "standard_error", "ci_low": "low", "ci_high": "high"}
_COLUMNS |= {"simultaneous_low": "simultaneous_low", "simultaneous_high": "simultaneous_high"}


@dataclass(frozen=True, eq=False, repr=False)
class Band(Tabular):
    """A curve at some thresholds, with an interval at each and a band around all of them.

    Parameters
    ----------
    kind : str
        "regret", "net_benefit", "interventions_avoided" or "reliability".
    thresholds : ndarray of shape (m,)
        Where the curve is read; scores for "reliability".
    estimate, standard_error : ndarray of shape (m,)
        Value of the curve, and its standard error (nan for isotonic event rates, which have none).
    low, high : ndarray of shape (m,)
        Pointwise interval: right about one threshold chosen beforehand.
    simultaneous_low, simultaneous_high : ndarray of shape (m,)
        Band: right about all the thresholds at once.
    critical_value : float
        How many standard errors the band reaches, as 1.96 is for a 95% interval.
    confidence_level : float
        Of the intervals and of the band.
    n_rows : int
        Number of rows.
    n_positives : float
        Number of positive rows; the effective number (squared total weight over total of squares) where weights differ.
    name : str, default "model"
        The model, or "a - b" for a difference.
    is_difference : bool, default False
        Whether this is the first model's curve less the second's.
    is_consistency : bool, default False
        Whether the band shows where the curve would lie if the scores were calibrated.
    per : float, optional
        Number of cases that avoided interventions are counted in.
    about : str, default ""
        What a picture must say of the rows: the horizon, what weighs them.

    Examples
    --------
    >>> from stakes.inference import confidence_band
    >>> band = confidence_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], "net_benefit", thresholds=[0.2, 0.5])
    >>> band
    Band(net_benefit of model at 2 thresholds in [0.2, 0.5], 95%, 4 rows with 2 positives)
    >>> band.low.round(2).tolist(), band.simultaneous_low.round(2).tolist()
    ([-0.05, -0.17], [-0.09, -0.24])
    """

    kind: str
    thresholds: Floats
    estimate: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    critical_value: float
    confidence_level: float
    n_rows: int
    n_positives: float
    name: str = "model"
    is_difference: bool = False
    is_consistency: bool = False
    per: float | None = None
    about: str = ""

    @property
    def x_label(self) -> str:
        """What the horizontal axis is: "threshold" or "score"."""
        return "score" if self.kind == "reliability" else "threshold"

    def excludes(self, value: float = 0.0) -> NDArray[np.bool_]:
        """Say at which thresholds the simultaneous band leaves a value out.

        Parameters
        ----------
        value : float, default 0
            Zero in a difference: no difference.

        Returns
        -------
        ndarray of bool of shape (m,)

        Examples
        --------
        >>> from stakes.inference import difference_band
        >>> y, a, b = [0, 1] * 50, [0.1, 0.9] * 50, [0.5, 0.5] * 50
        >>> difference_band(y, a, b, "regret", thresholds=[0.05, 0.3, 0.7]).excludes().tolist()
        [False, True, True]
        """
        return np.asarray((self.simultaneous_low > value) | (self.simultaneous_high < value))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve, the pointwise intervals and the band with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to :meth:`stakes.display.BandDisplay.plot`, such as ``bounds=(low, high)``.

        Returns
        -------
        BandDisplay
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.inference import confidence_band
        >>> display = confidence_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], "regret").plot()
        """
        return draw(self, ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        columns = {self.x_label: self.thresholds} | {name: getattr(self, of) for name, of in _COLUMNS.items()}
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def __repr__(self) -> str:
        span = f"[{self.thresholds[0]:g}, {self.thresholds[-1]:g}]"
        plural = "" if len(self.thresholds) == 1 else "s"
        what = f"consistency of {self.name}" if self.is_consistency else f"{self.kind} of {self.name}"
        where = f"at {len(self.thresholds)} {self.x_label}{plural} in {span}"
        found = ""
        if self.is_difference:
            below, above = (self.simultaneous_high < 0.0).sum(), (self.simultaneous_low > 0.0).sum()
            found = f", below zero at {below}, above at {above}"
        rows = f"{self.n_rows} rows with {self.n_positives:.6g} positives"
        return f"Band({what} {where}, {100.0 * self.confidence_level:.6g}%{found}, {rows})"


def band_of(
    pieces: Pieces, totals: Totals, critical: float, *, kind: str, thresholds: Floats, level: float, **told: Any
) -> Band:
    """Return the band of a curve: intervals at ``level``, and limits ``critical`` standard errors away.

    Parameters
    ----------
    pieces : Pieces
        The shares of rows that the curve is made of.
    totals : Totals
        Of the rows.
    critical : float
        Critical value of the band.
    kind, thresholds, level, **told
        What the band says of itself.

    Returns
    -------
    Band
    """
    squared = float(totals.squared[1])
    return Band(
        kind,
        thresholds,
        pieces.estimate,
        pieces.standard_error,
        *combined_limits(pieces, pointwise_value(pieces, level)),
        *combined_limits(pieces, critical),
        critical,
        level,
        totals.n_rows,
        float(totals.weight[1]) ** 2 / squared if squared > 0.0 else 0.0,
        **told,
    )


def shifted(band: Band, more: Floats | float) -> Band:
    """The band of a curve that lies higher by a known amount at each threshold."""
    names = ("estimate", "low", "high", "simultaneous_low", "simultaneous_high")
    return replace(band, **{name: getattr(band, name) + more for name in names})
