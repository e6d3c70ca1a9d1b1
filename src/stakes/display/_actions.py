"""What each model costs where there are many actions, and which classes the cost comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.actions import ActionEvaluation
from stakes.core.validation import check_kind
from stakes.display._base import Display
from stakes.display._style import EMPTY_COLOUR, REFERENCE_COLOUR, model_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stakes.display._axes import Legend

_HATCHES = ("", "//", "..", "xx")  # a colour that comes again has another pattern
_COLOURS = 7


class ActionCostsDisplay(Display):
    """Cost of each model beyond perfect knowledge, made of the parts of the classes, below the best single action.

    Parameters
    ----------
    evaluation : ActionEvaluation
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        The best single action.
    bars_ : list of matplotlib containers
        One for each class.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.6, 0.4]] * 9, matrices=[[0, 1], [1, 0]])
    >>> [round(float(bars[0].get_width()), 3) for bars in found.plot().bars_]
    [0.0, 0.5]
    """

    def __init__(self, evaluation: ActionEvaluation) -> None:
        check_kind(evaluation, "evaluation", ActionEvaluation, "what evaluate_actions returned")
        self.evaluation = evaluation

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
            This object, with ``ax_``, ``figure_``, ``lines_`` and ``bars_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.6, 0.4]] * 9, matrices=[[0, 1], [1, 0]])
        >>> found.plot(legend=None).ax_.get_legend() is None
        True
        """
        found, rows = self.evaluation, self.evaluation.rows
        ranked = sorted(found.models, key=lambda each: -each.cost.value)
        places = np.arange(len(ranked))
        parts = np.array([np.nan_to_num(each.class_costs - rows.best()) * rows.class_share for each in ranked])
        with self._picture(ax, legend):
            starts, self.bars_ = np.zeros(len(ranked)), []
            for k, name in enumerate(rows.classes):
                look: Any = {"color": model_style(k).color, "hatch": _HATCHES[k // _COLOURS % len(_HATCHES)]}
                bars = self.ax_.barh(
                    places, parts[:, k], left=starts, label=f"class {name}", edgecolor=EMPTY_COLOUR, **look
                )
                self.bars_.append(bars)
                starts = starts + parts[:, k]
            ends = np.array([each.regret.interval for each in ranked]).T
            reach = np.abs(ends - starts)
            told = f"pointwise {100.0 * ranked[0].regret.confidence_level:g}% interval"
            line: Any = {"fmt": "none", "ecolor": "0.15", "elinewidth": 1.2, "capsize": 3, "label": told}
            self.ax_.errorbar(starts, places, xerr=reach, **line)
            single = ranked[0].best_constant - ranked[0].oracle
            self.lines_ = [self.ax_.axvline(single, color=REFERENCE_COLOUR, linestyle="--", label="best single action")]
            self.ax_.set_yticks(places, [each.model for each in ranked])
            self.ax_.set_ylim(-0.6, len(ranked) - 0.4)
            self.ax_.set_xlim(left=0.0)
            known = "" if ranked[0].oracle == 0.0 else " beyond perfect knowledge"
            self.ax_.set_xlabel(f"Cost per decision{known}")
            self.ax_.xaxis.set_major_formatter("{x:.6g}")
        return self
