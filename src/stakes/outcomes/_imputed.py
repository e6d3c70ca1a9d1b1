"""Scores from several completed data sets, where what a model needs was imputed: every result is pooled over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.core.remedies import brief
from stakes.core.row_order import row_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class Imputed:
    """Scores of the same rows from each of several completed data sets; stands where ``y_prob`` stands.

    Parameters
    ----------
    scores : sequence of array_like of shape (n,)
        One column of scores for each completed data set, two or more.

    Raises
    ------
    ValueError
        For fewer than two columns.

    Notes
    -----
    :func:`stakes.metric_interval` and :func:`stakes.metric_difference` pool their results: variances within and between
    the columns by Rubin's rules, the smaller of Barnard and Rubin's degrees of freedom and those of the fourth moments,
    and the mean of the widenings for rows not yet seen. Columns that agree have the interval of one. Other functions
    refuse imputed scores: :func:`stakes.inference.pool` pools the values and standard errors of their results. The mean
    of the columns is another model: if that is the one in use, evaluate it alone.

    Examples
    --------
    >>> from stakes import metric_interval
    >>> from stakes.outcomes import Imputed
    >>> y_true = [0, 1, 0, 1] * 20
    >>> scores = Imputed([[0.1, 0.8, 0.3, 0.6] * 20, [0.2, 0.7, 0.3, 0.6] * 20])
    >>> metric_interval(y_true, scores, "bounded_brier_loss").value.__round__(4)
    0.085
    """

    def __init__(self, scores: Sequence[ArrayLike]) -> None:
        if not isinstance(scores, list | tuple) or len(scores) < 2:
            given = f"{len(scores)}" if isinstance(scores, list | tuple) else brief(scores)
            remedy = (
                ": of a column for each data set make a list by list(scores.T)"
                if getattr(scores, "ndim", 0) == 2
                else ""
            )
            raise ValueError(
                f"scores must be a list of two or more columns, one for each completed data set, got {given}{remedy}."
            )
        self.row_labels = row_labels(scores=scores)
        self.scores = tuple(scores)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001  (numpy's protocol)
        """Refuse to be read as one column: this also makes it what numpy calls array-like."""
        raise ValueError(
            "Imputed scores are pooled by metric_interval and metric_difference only: pass one column, or pool the "
            "values and standard errors of all columns by stakes.inference.pool."
        )
