"""Display of rates by threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.arrays import Floats
from stakes.base.validation import check_choice
from stakes.core.score_table import ScoreTable
from stakes.costs import CostsLike
from stakes.curves import ThresholdTable, threshold_table
from stakes.display import _axes
from stakes.display._axes import Legend, Range, XScale

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Points of the steps that rates and values make over the threshold, from the counts of a threshold table.

RATES = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "PPV",
    "npv": "NPV",
    "share_flagged": "share flagged",
}
VALUES = {"net_benefit": "net benefit", "regret": "regret"}

_MOST_POINTS = 2000
_ALMOST_ONE = 1.0 - 1e-9  # net benefit has no value at a threshold of 1
_COUNTS = ("tp", "fp", "fn", "tn")


def thinned(table: ThresholdTable) -> ThresholdTable:
    """About 2,000 thresholds, evenly by rank and by value, ascending."""
    order = np.argsort(table.threshold, kind="stable")
    at = table.threshold[order]
    if len(at) > _MOST_POINTS:
        by_rank = np.linspace(0, len(at) - 1, _MOST_POINTS // 2)
        by_value = np.searchsorted(at, np.linspace(at[0], at[-1], _MOST_POINTS // 2))
        order = order[np.unique(np.concatenate([by_rank, by_value]).astype(np.intp))]
    return ThresholdTable(*(getattr(table, name)[order] for name in ("threshold", *_COUNTS, "cost_ratio")))


def to_the_ends(table: ThresholdTable, *, upwards: bool) -> ThresholdTable:
    """The same up to the ends of [0, 1]: below the lowest score everyone is flagged, above the highest no one is."""
    low, high = float(table.threshold[0]), float(table.threshold[-1])
    same = bool(np.array_equal(table.cost_ratio, table.threshold))
    below = int(low > 0.0 and table.fn[0] == 0.0 and table.tn[0] == 0.0)
    above = int(upwards and high < _ALMOST_ONE)
    rows = np.concatenate([[0] * below, np.arange(len(table.threshold)), [-1] * above]).astype(np.intp)
    threshold, cost, tp, fp, fn, tn = (getattr(table, name)[rows] for name in ("threshold", "cost_ratio", *_COUNTS))
    if below:
        threshold[0] = 0.0
    if above:
        threshold[-1] = _ALMOST_ONE
        fn[-1], tn[-1] = fn[-1] + tp[-1], tn[-1] + fp[-1]
        tp[-1] = fp[-1] = 0.0
    return ThresholdTable(threshold, tp, fp, fn, tn, threshold if same else cost)


def ends(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each point of a line of steps, the row whose rates hold there and the row whose threshold it stands at."""
    doubled = np.repeat(np.arange(count), 2)
    return doubled[1:], doubled[:-1]


def value_points(table: ThresholdTable, value: str) -> tuple[Floats, Floats]:
    """Both ends of each piece: its counts are those of the higher threshold, its costs those along it."""
    piece, place = ends(len(table.threshold))
    tp, fp, fn, tn = (getattr(table, name)[piece] for name in _COUNTS)
    drawn = ThresholdTable(table.threshold[place], tp, fp, fn, tn, table.cost_ratio[place])
    return drawn.threshold, np.asarray(getattr(drawn, value))


# What acting at each threshold does: sensitivity, specificity, predictive values, share flagged, and its worth.

Value = Literal["net_benefit", "regret"] | None

_VALUE_COLOUR = _axes.PALETTE[-1]
_VALUE_AXIS = "stakes value"
_DASHES = ((), (5, 1.5), (1.5, 1), (6, 1.5, 1.5, 1.5), (3, 1))
_PANEL = (3.2, 2.4)  # inches


class ThresholdDisplay(_axes.PredictionsDisplay):
    """Sensitivity, specificity, predictive values and share flagged over the threshold, and what acting there is worth.

    One model fills one picture; several get one small picture each.

    Parameters
    ----------
    tables : ThresholdTable or mapping of str to ThresholdTable
        Threshold tables. Between two thresholds the rates of the higher one are drawn: exact for the tables of every
        distinct score.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn; the first of several.
    axes_ : list of matplotlib axes
        One for each model.
    value_axes_ : list of matplotlib axes
        The axes at the right for net benefit or regret, one for each model unless ``value=None``.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        For each model the five rates, then net benefit or regret.
    bounds_ : matplotlib patch or None
        The shaded range, in the first axes.

    Examples
    --------
    >>> from stakes.display import ThresholdDisplay
    >>> display = ThresholdDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], bounds=(0.2, 0.5))
    >>> [line.get_label() for line in display.lines_]
    ['sensitivity', 'specificity', 'PPV', 'NPV', 'share flagged', 'net benefit (right)']
    """

    axes_: list[Axes]
    value_axes_: list[Axes]

    _every_score = False  # then it is known what happens above the highest threshold too

    def __init__(self, tables: ThresholdTable | Mapping[str, ThresholdTable]) -> None:
        named = tables if isinstance(tables, Mapping) else {"model": tables}
        self.tables = {str(name): table for name, table in named.items()}
        if not self.tables:
            raise ValueError("tables must hold at least one model, got none.")
        for table in self.tables.values():
            if not isinstance(table, ThresholdTable):
                raise ValueError(f"tables must be threshold tables, got {table!r}.")

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        bounds: Range | None = None,
        value: Value = "net_benefit",
        costs: CostsLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        logits: bool = False,
        x_scale: XScale = "linear",
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw from labels and predicted probabilities.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Probabilities of the positive class: one model, or several by name (the columns of a data frame).
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        value : {"net_benefit", "regret"} or None, default "net_benefit"
            What is drawn on the axis at the right.
        costs : CostDistribution, tuple of float, or float, optional
            The cost ratio of net benefit and regret; by default each threshold itself.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        logits : bool, default False
            Whether the scores are log-odds.
        x_scale, legend, ax
            As in :meth:`plot`.

        Returns
        -------
        ThresholdDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import ThresholdDisplay
        >>> display = ThresholdDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], value="regret")
        >>> display.value_axes_[0].get_ylabel()
        'Regret'
        """
        options: Any = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
        tables = {
            name: threshold_table(y_true, scores, costs=costs, logits=logits, **options)
            for name, scores in _axes.named_predictions(y_true, y_prob, sample_weight).items()
        }
        display = cls(tables)
        display._every_score = True
        return display.plot(ax, bounds=bounds, value=value, x_scale=x_scale, legend=legend)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bounds: Range | None = None,
        value: Value = "net_benefit",
        x_scale: XScale = "linear",
        legend: Legend = "auto",
    ) -> Self:
        """Draw the rates of each model, each jump where it is.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw one model; by default a new figure.
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        value : {"net_benefit", "regret"} or None, default "net_benefit"
            What is drawn on the axis at the right.
        x_scale : {"linear", "log-odds"}, default "linear"
            Scale of the threshold axis.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        ThresholdDisplay
            This object, with its attributes.

        Raises
        ------
        ValueError
            For invalid settings, and for axes given for several models.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.curves import threshold_table
        >>> from stakes.display import ThresholdDisplay
        >>> table = threshold_table([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6])
        >>> ThresholdDisplay(table).plot(value=None).value_axes_
        []
        """
        bounds = _axes.check_bounds(bounds)
        if value is not None:
            check_choice(value, "value", tuple(VALUES))
        check_choice(x_scale, "x_scale", ("linear", "log-odds"))
        if ax is not None and len(self.tables) > 1:
            raise ValueError(f"ax holds one model, got {len(self.tables)}: leave it out for one picture for each.")
        shown = self._shown(bounds, x_scale)
        self.axes_, new = ([ax], False) if ax is not None else self._new_axes()
        self.ax_, self.figure_ = self.axes_[0], _axes.figure_of(self.axes_[0])
        self.lines_, self.value_axes_ = [], []
        for panel, table in zip(self.axes_, self.tables.values(), strict=True):
            self._draw_axis(panel, shown, x_scale)
            drawn = thinned(table)
            if self._probabilities:
                drawn = to_the_ends(drawn, upwards=self._every_score)
            self._draw_rates(panel, drawn)
            if value is not None:
                self._draw_value(panel, drawn, value, shown)
        self.bounds_, *_ = (_axes.shade_bounds(panel, bounds) for panel in self.axes_)
        self._share_value_limits(shown)
        if len(self.tables) == 1:
            _axes.name_rows(self.ax_, self.tables.values())
            self._draw_legend(legend, new=new)
        else:
            self.figure_.suptitle(_axes.about_rows(self.tables.values()), fontsize="medium")
            self._tidy()
            if legend is not None:
                self._draw_common_legend()
        if new:
            _axes.settle(self.figure_)
        return self

    def _draw_common_legend(self) -> None:
        """One legend for all panels: the lines of the first, and the shaded range."""
        handles: list[Any] = self.lines_[: len(RATES) + bool(self.value_axes_)]
        if self.bounds_ is not None:
            handles = [*handles, self.bounds_]
        _axes.legend_under(self.figure_, handles, [str(handle.get_label()) for handle in handles])

    def _new_axes(self) -> tuple[list[Axes], bool]:
        count = len(self.tables)
        if count == 1:
            ax, new = _axes.axes_for(None)
            return [ax], new
        columns = min(math.ceil(math.sqrt(count)), 3)
        rows = math.ceil(count / columns)
        size = (_PANEL[0] * columns, _PANEL[1] * rows)
        figure, grid = _axes.pyplot().subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        panels = list(grid.ravel())
        for spare in panels[count:]:
            figure.delaxes(spare)
        for panel, name in zip(panels, self.tables, strict=False):
            panel.set_title(name, fontsize="medium")
        return panels[:count], True

    def _shown(self, bounds: Range | None, x_scale: XScale) -> Range:
        every = np.concatenate([table.threshold[np.isfinite(table.threshold)] for table in self.tables.values()])
        if self._probabilities or bounds not in {None, (0.0, 1.0)}:
            return _axes.shown_thresholds(every, bounds, x_scale)
        low, high = float(every.min()), float(every.max())
        return low, high if high > low else low + 1.0

    @property
    def _probabilities(self) -> bool:
        every = np.concatenate([table.threshold for table in self.tables.values()])
        return bool(np.all((every >= 0.0) & (every <= 1.0)))

    def _draw_axis(self, ax: Axes, shown: Range, x_scale: XScale) -> None:
        if self._probabilities:
            _axes.draw_cost_axis(ax, shown, x_scale)
        else:
            ax.set_xlim(shown)
            ax.xaxis.set_major_locator(_axes.few_ticks(ax))
        ax.set(xlabel="Threshold", ylabel="Rate", ylim=(-0.02, 1.02))
        ax.yaxis.set_major_formatter(_axes.format_percent)

    def _draw_rates(self, ax: Axes, table: ThresholdTable) -> None:
        piece, place = ends(len(table.threshold))
        x = table.threshold[place]
        for (name, label), color, dashes in zip(RATES.items(), _axes.PALETTE, _DASHES, strict=False):
            y = getattr(table, name)[piece]
            (line,) = ax.plot(x, y, color=color, linewidth=1.4, label=label, gid=f"rate {name}", zorder=2.5)
            if dashes:
                line.set_dashes(dashes)
            self.lines_.append(line)

    def _draw_value(self, ax: Axes, table: ThresholdTable, value: str, shown: Range) -> None:
        right = ax.twinx()
        right.set_label(_VALUE_AXIS)
        right.set_xlim(shown)
        x, y = value_points(table, value)
        name = VALUES[value]
        (line,) = right.plot(x, y, color=_VALUE_COLOUR, linewidth=1.8, label=f"{name} (right)", gid=f"value {value}")
        right.set_ylabel(name.capitalize())
        right.yaxis.set_major_formatter("{x:.6g}")
        self.lines_.append(line)
        self.value_axes_.append(right)

    def _share_value_limits(self, shown: Range) -> None:
        if not self.value_axes_:
            return
        heights = []
        for line in self.lines_:
            if str(line.get_gid()).startswith("value"):
                x, y = (np.asarray(column, dtype=float) for column in line.get_data())
                heights.append(y[(x >= shown[0]) & (x <= shown[1]) & np.isfinite(y)])
        found = np.concatenate(heights)
        top = float(found.max(initial=0.0))
        lowest, unit = _axes.shown_worth(float(found.min(initial=0.0)), top)
        for ax in self.value_axes_:
            ax.set_ylim(lowest - 0.02 * unit, top + 0.06 * unit)

    def _tidy(self) -> None:
        """Keep axis labels only at the edges of a grid of panels."""
        columns = self.ax_.get_subplotspec().get_gridspec().ncols  # type: ignore[union-attr]
        last = len(self.axes_) - 1
        for index, ax in enumerate(self.axes_):
            if index % columns:
                ax.set_ylabel("")
                ax.tick_params(labelleft=False)
            if index + columns <= last:
                ax.set_xlabel("")
            for child in ax.child_axes:
                child.xaxis.label.set_fontsize(0.9 * _axes.small_font())
                if index >= columns:
                    child.set_xlabel("")
        for index, right in enumerate(self.value_axes_):
            if index % columns != columns - 1 and index != last:
                right.set_ylabel("")
                right.tick_params(labelright=False)

    def _draw_legend(self, legend: Legend, *, new: bool) -> None:
        for right in self.value_axes_:  # its line is named with the others, in the axes at the left
            line = right.lines[0]
            self.ax_.plot([], [], color=line.get_color(), linewidth=line.get_linewidth(), label=line.get_label())
        _axes.draw_legend(self.ax_, legend, new=new)
