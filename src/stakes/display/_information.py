"""What further rows are expected to save, over their number, below what perfect information would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from stakes.core.validation import check_kind
from stakes.display._base import Display
from stakes.information import ValueOfInformation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stakes.display._axes import Legend


class ValueOfInformationDisplay(Display):
    """Expected saving of each number of further rows, and the value of perfect information as the line above.

    Parameters
    ----------
    value : ValueOfInformation
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        The saving, and the value of perfect information.

    Examples
    --------
    >>> from stakes import value_of_information
    >>> y_true, y_prob = [0] * 147 + [1] * 2 + [0] * 310 + [1] * 41, [0.01] * 149 + [0.03] * 351
    >>> found = value_of_information(y_true, y_prob, threshold=0.02, more_rows=(100, 1000, 10_000))
    >>> found.plot().ax_.get_ylabel()
    'Net benefit per decision'
    """

    def __init__(self, value: ValueOfInformation) -> None:
        check_kind(value, "value", ValueOfInformation, "what value_of_information returned")
        self.value = value

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes.

        Returns
        -------
        display
            This object, with ``ax_``, ``figure_`` and ``lines_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import value_of_information
        >>> from stakes.display import ValueOfInformationDisplay
        >>> found = value_of_information([0, 1] * 40, [0.3, 0.4] * 40, threshold=0.35)
        >>> len(ValueOfInformationDisplay(found).plot().lines_)
        2
        """
        with self._picture(ax, legend):
            sizes = sorted(self.value.evsi)
            saved = [self.value.evsi[m] for m in sizes]
            self.lines_ = self.ax_.plot(sizes, saved, marker="o", label="expected saving")
            line = self.ax_.axhline(self.value.evpi, color="0.5", linewidth=1.0, label="perfect information")
            self.lines_.append(line)
            self.ax_.set_xscale("log")
            self.ax_.xaxis.set_major_formatter("{x:,g}")
            self.ax_.xaxis.set_minor_formatter("")
            self.ax_.set_ylim(bottom=0.0)
            self.ax_.set(xlabel="Further rows", ylabel=f"{self.value.scale.capitalize()} per decision")
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        return self
