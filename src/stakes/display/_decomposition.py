"""Miscalibration against discrimination: which of the two makes one model's score better than another's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.validation import check_kind
from stakes.core.score_table import ScoreTable
from stakes.costs import CostsLike, Scale, as_costs
from stakes.display._axes import (
    CHARACTER,
    GUIDE_COLOUR,
    MODEL,
    REFERENCE_COLOUR,
    SMALL,
    Legend,
    PredictionsDisplay,
    drawn,
    few_ticks,
    height_in_points,
    model_style,
    named_predictions,
    small_font,
    width_in_points,
)
from stakes.metrics import Decomposition, decompose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


_MARGIN = 0.12  # share of the width that holds the models of infinite miscalibration
_MARKER_SIZE = 7.0


class DecompositionDisplay(PredictionsDisplay):
    """Miscalibration (MCB) against discrimination (DSC), with lines of equal score; the best models lie upper left.

    Models of infinite miscalibration stand in the margin at the right, which says so.

    Parameters
    ----------
    decompositions : Decomposition or mapping of str to Decomposition
        Of models on the same rows and the same scale.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One point for each model.
    score_lines_ : list of matplotlib lines
        The lines of equal score.

    Examples
    --------
    >>> from stakes.display import DecompositionDisplay
    >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
    >>> display = DecompositionDisplay.from_predictions([0, 1, 0, 1], models, costs=(0.2, 0.5))
    >>> [line.get_label() for line in display.lines_]
    ['a', 'b']
    """

    score_lines_: list[Line2D]

    def __init__(self, decompositions: Decomposition | Mapping[str, Decomposition]) -> None:
        named = decompositions if isinstance(decompositions, Mapping) else {"model": decompositions}
        self.decompositions = dict(named)
        if not self.decompositions:
            raise ValueError("decompositions must hold at least one model, got none.")
        for parts in self.decompositions.values():
            check_kind(parts, "decompositions", Decomposition, "one Decomposition, or a mapping of names to them")
        scales = {parts.scale for parts in self.decompositions.values()}
        if len(scales) > 1:
            raise ValueError(f"decompositions must share one scale, got {sorted(scales)}.")
        uncertainties = [parts.uncertainty for parts in self.decompositions.values()]
        if not np.allclose(uncertainties, uncertainties[0], rtol=1e-6, atol=0.0, equal_nan=True):
            raise ValueError(
                f"decompositions must be of the same rows, got uncertainties {sorted(set(uncertainties))}."
            )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        costs: CostsLike | None = None,
        scale: Scale | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        logits: bool = False,
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Decompose and draw from labels and predicted probabilities.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Probabilities of the positive class: one model, or several by name (the columns of a data frame).
        costs : CostDistribution, tuple of float, or float, optional
            How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for
            ``costs.Fixed(c)``. By default the whole range [0, 1].
        scale : {"regret", "integral", "loss"}, optional
            By default "regret", or "loss" where the mass of ``costs`` is infinite.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        logits : bool, default False
            Whether the scores are log-odds.
        legend, ax
            As in :meth:`plot`.

        Returns
        -------
        DecompositionDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import DecompositionDisplay
        >>> display = DecompositionDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], scale="loss")
        >>> display.ax_.get_xlabel()
        'Miscalibration (loss)'
        """
        options = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence, "logits": logits}
        measure = as_costs((0.0, 1.0) if costs is None else costs)
        parts = {
            name: decompose(y_true, scores, costs=measure, scale=scale, **options)  # type: ignore[arg-type]
            for name, scores in named_predictions(y_true, y_prob, sample_weight).items()
        }
        return cls(parts).plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw a point for each model and the lines of equal score.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        DecompositionDisplay
            This object, with ``ax_``, ``figure_``, ``lines_`` and ``score_lines_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import costs, decompose
        >>> from stakes.display import DecompositionDisplay
        >>> parts = decompose([0, 1, 0, 1], [0.2, 0.1, 0.4, 0.9], costs=costs.Uniform(0, 1))
        >>> point = DecompositionDisplay(parts).plot().lines_[0]
        """
        with self._picture(ax, legend):
            self._draw(list(self.decompositions.values()))
        return self

    def _results(self) -> Iterable[Any]:
        return self.decompositions.values()

    def _draw(self, parts: list[Decomposition]) -> None:
        scale = parts[0].scale
        right = _limit([p.miscalibration for p in parts]) or _limit([p.discrimination for p in parts]) or 1.0
        top = _limit([p.discrimination for p in parts]) or 0.5 * right
        infinite = any(p.miscalibration == math.inf for p in parts)
        edge = right / (1.0 - _MARGIN) if infinite else right
        self.ax_.set(xlim=(-0.03 * right, edge), ylim=(-0.04 * top, top))
        self.ax_.set(xlabel=f"Miscalibration ({scale})", ylabel=f"Discrimination ({scale})")
        self.score_lines_ = self._draw_score_lines(parts[0].uncertainty, right, top)
        if infinite:
            self._draw_margin(right, edge)
        self.lines_ = self._draw_points(0.5 * (right + edge))
        if math.isnan(parts[0].uncertainty):
            self.ax_.text(0.5, 0.5, "undefined: infinite mass of costs", transform=self.ax_.transAxes, ha="center")
        self.ax_.xaxis.set_major_locator(few_ticks(self.ax_, room=45.0))
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            axis.set_major_formatter("{x:.6g}")

    def _draw_score_lines(self, uncertainty: float, right: float, top: float) -> list[Line2D]:
        if not math.isfinite(uncertainty):
            return []
        from matplotlib.ticker import MaxNLocator

        levels = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(uncertainty - top, uncertainty + right)
        # the lines next to that of no skill leave room for its name
        near = 1.5 * small_font() * math.hypot(right / width_in_points(self.ax_), top / height_in_points(self.ax_))
        others = [level for level in levels if level >= 0.0 and abs(level - uncertainty) > near]
        lines: list[Line2D] = []
        word = "score "  # on the first line long enough for it
        for level in [uncertainty, *others]:
            is_reference = level == uncertainty
            color = REFERENCE_COLOUR if is_reference else GUIDE_COLOUR
            start = uncertainty - level  # discrimination where miscalibration is zero
            lines.append(self.ax_.axline((0.0, start), slope=1.0, color=color, linewidth=0.8, zorder=1.0))
            if is_reference:
                self._label_score_line(start, right, top, "no skill")
            elif self._label_score_line(start, right, top, f"{word}{level:.4g}"):
                word = ""
        return lines

    def _label_score_line(self, start: float, right: float, top: float, text: str) -> bool:
        """Write a text at the upper end of a line and return True, if the line is long enough."""
        # points per unit along and up, and the reach of half the text's height around its end
        along, up = width_in_points(self.ax_) / right, height_in_points(self.ax_) / top
        points = math.hypot(along, up)
        reach = 0.7 * small_font() / points
        end = min(right - reach * up / along, top - reach * along / up - start) - 0.5 * reach
        if (end - max(0.0, -start)) * points < (len(text) + 2) * CHARACTER * small_font():
            return False
        box = {"facecolor": self.ax_.get_facecolor(), "edgecolor": "none", "pad": 0.5}
        turned: Any = {"rotation": 45.0, "transform_rotates_text": True, "rotation_mode": "anchor"}
        look: Any = {"ha": "right", "va": "center", "color": REFERENCE_COLOUR, "bbox": box, "zorder": 1.1}
        self.ax_.annotate(text, (end, end + start), fontsize=SMALL, **turned, **look)
        return True

    def _draw_margin(self, right: float, edge: float) -> None:
        self.ax_.axvspan(right, edge, facecolor=self.ax_.get_facecolor(), zorder=1.2)
        self.ax_.axvline(right, color=REFERENCE_COLOUR, linewidth=0.8, linestyle=":", zorder=1.3)
        place = (0.5 * (right + edge), 0.02)
        look: Any = {"rotation": 90.0, "ha": "center", "va": "bottom", "fontsize": SMALL, "color": REFERENCE_COLOUR}
        self.ax_.annotate("infinite", place, xycoords=("data", "axes fraction"), **look)

    def _draw_points(self, infinite_at: float) -> list[Line2D]:
        before = len(drawn(self.ax_, MODEL))
        look: Any = {"linestyle": "none", "markersize": _MARKER_SIZE, "clip_on": False, "gid": MODEL, "zorder": 3.0}
        look |= {"markeredgecolor": "white", "markeredgewidth": 0.8}
        lines = []
        for index, (name, parts) in enumerate(self.decompositions.items(), start=before):
            style = model_style(index)
            x = infinite_at if parts.miscalibration == math.inf else parts.miscalibration
            points = [x], [parts.discrimination]
            lines += self.ax_.plot(*points, color=style.color, marker=style.marker, label=name, **look)
        return lines


def _limit(values: list[float]) -> float:
    """End of an axis that holds the finite values with some room."""
    return 1.15 * max((value for value in values if math.isfinite(value)), default=0.0)
