"""Calibration in bins: event rates with their intervals against mean scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from stakes.curves import BinnedReliability, binned_reliability
from stakes.display._axes import draw_share_axis
from stakes.display._base import PredictionsDisplay
from stakes.display._lines import MODEL, draw_diagonal, drawn
from stakes.display._loss_calibration import draw_points
from stakes.display._models import named_predictions, renamed, several
from stakes.display._style import format_percent, model_style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from stakes.core.score_table import ScoreTable
    from stakes.display._axes import Legend


class BinnedReliabilityDisplay(PredictionsDisplay):
    """Observed event rate of each bin with its interval against the mean score; the diagonal is perfect calibration.

    Parameters
    ----------
    bins : BinnedReliability, sequence of BinnedReliability, or mapping of str to BinnedReliability
        One or several models.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    points_ : list of matplotlib containers
        Event rates with intervals, one for each model.
    diagonal_ : matplotlib line
        Perfect calibration.

    Examples
    --------
    >>> from stakes.curves import binned_reliability
    >>> binned_reliability([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.8], n_bins=2).plot().ax_.get_xlabel()
    'Mean score'
    """

    points_: list[ErrorbarContainer]
    diagonal_: Line2D

    def __init__(self, bins: BinnedReliability | Sequence[BinnedReliability] | Mapping[str, BinnedReliability]) -> None:
        found = several(bins, "bins", BinnedReliability, "BinnedReliability")
        if not all(isinstance(each, BinnedReliability) for each in found):
            raise ValueError(f"bins must hold at least one BinnedReliability and nothing else, got {bins!r}.")
        self.bins: list[BinnedReliability] = renamed(found, bins)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        legend: Legend = "auto",
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw from labels and predicted probabilities.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Probabilities of the positive class: one model, or several by name (the columns of a data frame).
        legend, ax
            As in :meth:`plot`.
        **options
            Arguments of :func:`binned_reliability`, such as ``n_bins=20``.

        Returns
        -------
        BinnedReliabilityDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import BinnedReliabilityDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> len(BinnedReliabilityDisplay.from_predictions([0, 1, 0, 1], models, n_bins=2).points_)
        2
        """
        named = named_predictions(y_true, y_prob, options.get("sample_weight")).items()
        return cls([binned_reliability(y_true, scores, name=name, **options) for name, scores in named]).plot(
            ax, legend=legend
        )

    def _results(self) -> Iterable[Any]:
        return self.bins

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw the bins and the diagonal.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes.

        Returns
        -------
        BinnedReliabilityDisplay
            This object, with ``ax_``, ``figure_``, ``points_`` and ``diagonal_``.

        Raises
        ------
        ValueError
            For an unknown legend.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.curves import binned_reliability
        >>> binned_reliability([0, 1], [0.3, 0.6], n_bins=1).plot().ax_.get_ylabel()
        'Observed event rate'
        """
        with self._picture(ax, legend):
            reach = max(max(bins.mean_score.max(), bins.ci_high.max()) for bins in self.bins)
            shown = -0.02 * reach, 1.02 * float(reach)
            before = len(drawn(self.ax_, MODEL))
            looks = [(bins, model_style(index)) for index, bins in enumerate(self.bins, start=before)]
            self.points_ = [draw_points(self.ax_, bins, (shown, shown), bins.name, look) for bins, look in looks]
            self.diagonal_ = draw_diagonal(self.ax_, [0.0, 1.0])
            self.ax_.set(xlim=shown, ylim=shown, xlabel="Mean score", ylabel="Observed event rate")
            draw_share_axis(self.ax_)
            self.ax_.yaxis.set_major_formatter(format_percent)
        return self
