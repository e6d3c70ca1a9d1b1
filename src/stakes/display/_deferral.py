"""Cost with the option to defer: over its fee, over the largest share deferred, or over the share decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.actions import deferral_curve
from stakes.display._curves import ShareCurvesDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from stakes.core.score_table import ScoreTable
    from stakes.costs import Deferral
    from stakes.curves import Curve
    from stakes.display._axes import Floats, Legend, Range


class DeferralDisplay(ShareCurvesDisplay):
    """What a case costs with the option to defer, over the fee, the largest share deferred or the share decided.

    Parameters
    ----------
    curves : Curve, sequence of Curve, or mapping of str to Curve
        ``deferral_curve(...)``, all over the same axis.

    Raises
    ------
    ValueError
        For curves of another kind, or over different axes.

    Examples
    --------
    >>> from stakes.actions import deferral_curve
    >>> from stakes.display import DeferralDisplay
    >>> DeferralDisplay(deferral_curve([0, 1, 0, 1], [0.1, 0.6, 0.3, 0.9], threshold=0.2)).plot().ax_.get_xlabel()
    'Fee'
    """

    kind = "cost with deferral"
    _curve = staticmethod(deferral_curve)

    def __init__(self, curves: Any) -> None:
        super().__init__(curves)
        axes = {curve.x_label for curve in self.curves}
        if len(axes) > 1:
            raise ValueError(f"curves must be over the same axis, got {' and '.join(sorted(axes))}.")
        self.x_label = axes.pop().capitalize()  # type: ignore[misc]
        self.y_label = "Cost per case decided" if self._percent_decided else "Cost per case"  # type: ignore[misc]

    @classmethod
    def from_predictions(  # type: ignore[override]
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        threshold: float,
        deferral: Deferral | float = 0.0,
        over: str = "fee",
        rule: str = "score",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        references: bool = True,
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
        threshold, deferral, over, rule
            As in :func:`stakes.actions.deferral_curve`.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        references, legend, ax
            As in :meth:`plot`.

        Returns
        -------
        display

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import DeferralDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> display = DeferralDisplay.from_predictions([0, 1, 0, 1], models, threshold=0.2, over="coverage")
        >>> [line.get_label() for line in display.lines_], display.ax_.get_ylabel()
        (['a', 'b'], 'Cost per case decided')
        """
        data = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
        display = cls._of(y_true, y_prob, threshold=threshold, deferral=deferral, over=over, rule=rule, **data)
        return display.plot(ax, references=references, legend=legend)

    @property
    def _percent_decided(self) -> bool:
        return bool(self.curves[0].x_label == "share decided")

    def _shown(self) -> Range:
        return 0.0, max(float(curve.knots[-1]) for curve in self.curves)

    def _y_limits(self, heights: Floats, shown: Range) -> Range:  # noqa: ARG002
        first: Curve = self.curves[0]
        alone = [float(line.at(0.0)) for name, line in first.references.items() if name == "decide all"]
        highest = float(np.max([*heights[np.isfinite(heights)], *alone], initial=0.0))
        return 0.0, 1.08 * highest or 1.0

    def _format_heights(self) -> None:
        self.ax_.yaxis.set_major_formatter("{x:.6g}")
        if self.x_label == "Fee":
            self.ax_.xaxis.set_major_formatter("{x:.6g}")
