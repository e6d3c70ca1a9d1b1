"""Outcomes with labels verified for some rows only, and scores from multiple imputation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base import validation
from stakes.base.outcome import Outcome
from stakes.outcomes._time_to_event import check_groups

# Labels verified for some rows only: inverse-probability weights of the verified rows represent the others.
#
# With the share verified in each group of whatever verification depends on, sensitivity and specificity of a test
# are those of Begg and Greenes (1983). That verification depends on nothing else cannot be tested.


class PartlyVerified(Outcome):
    """Labels of which some are missing, and how likely each was to be seen; stands where ``y_true`` stands.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values; nan or None where they were not looked up.
    groups : array_like of shape (n,), optional
        What verification depends on, such as the result of a test or a band of the score: the share seen in each group
        is estimated from the rows.
    probability : array_like of shape (n,), optional
        In its place, the probability of each row to be verified, known by design.
    pos_label : object, optional
        The label of the positive class.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.

    Attributes
    ----------
    y, known : ndarray of shape (n,)
        Whether the row was seen to be positive, and whether it was seen.
    weight : ndarray of shape (n,)
        Sample weight over the probability of being seen; 0 where it was not.

    Raises
    ------
    ValueError
        For invalid data, missing labels without groups or probability, or a group in which no row was seen.

    Examples
    --------
    >>> from stakes import PartlyVerified
    >>> test = [1, 1, 1, 0, 0, 0, 0, 0]
    >>> outcome = PartlyVerified([1, 1, 0, 0, None, None, 1, None], groups=test)
    >>> outcome
    PartlyVerified(8 rows, 5 verified: 3 positives, 2 negatives, largest weight 2.5)
    >>> outcome.prevalence
    0.5625
    """

    def __init__(
        self,
        y_true: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self.row_labels = validation.row_labels(
            y_true=y_true, groups=groups, probability=probability, sample_weight=sample_weight
        )
        labels = validation.to_array(y_true, "y_true")
        if labels.ndim != 1:
            raise ValueError(f"y_true must be 1-D, got shape {labels.shape}.")
        n = len(labels)
        self.known, self.y = ~validation.absent(labels), np.zeros(n, dtype=bool)
        self.sample_weight = validation.check_weights(sample_weight, n)
        if not (self.known & self.present).any():
            raise ValueError(f"y_true must hold some labels, got {n} missing.")
        try:
            known = validation.to_array(labels[self.known].tolist(), "y_true")
            self.y[self.known] = validation.check_labels(known, pos_label)
            self.positive_first = validation.positive_is_first(known, self.y[self.known], pos_label)
            self.labels = validation.labels_seen(known, self.y[self.known], pos_label)
        except ValueError as error:
            raise ValueError(
                f"{str(error).removesuffix('.')}; a label that was not looked up is None or nan."
            ) from None
        self._codes: NDArray[np.intp] | None = None
        self._share = self._verification_probability(groups, probability)
        self.weight = np.where(self.known, self.units / self._share, 0.0)

    def _verification_probability(self, groups: Any, probability: Any) -> validation.Floats:
        """Probability of verification of each row, known or estimated by group."""
        unseen = int(np.count_nonzero(~self.known & self.present))
        if groups is not None and probability is not None:
            raise ValueError("groups= and probability= cannot both be given.")
        if probability is not None:
            return self._check_probability(probability)
        if groups is None:
            if unseen:
                raise ValueError(
                    f"{unseen:,} of {len(self.y):,} labels are missing: pass groups= or probability= to say what being "
                    "seen depends on. To drop them would assume that it depends on nothing."
                )
            return np.ones(len(self.y))
        names, codes = np.unique(check_groups(groups, len(self.y), self.sample_weight), return_inverse=True)
        self._codes = codes.reshape(-1)
        total, seen = (np.bincount(self._codes, self.units * part) for part in (1.0, self.known))
        if np.any((seen == 0.0) & (total > 0.0)):
            first = int(np.argmax((seen == 0.0) & (total > 0.0)))
            raise ValueError(
                f"groups must each have labels that were seen, but no row of group {str(names[first])!r} was seen: "
                "nothing is known of its labels."
            )
        return np.asarray(np.divide(seen, total, out=np.ones_like(total), where=total > 0.0)[self._codes])

    def _check_probability(self, probability: Any) -> validation.Floats:
        share = validation.to_floats(validation.to_array(probability, "probability"), "probability")
        if share.shape != self.y.shape:
            raise ValueError(f"probability must have one value for each of the {len(self.y)} rows, got {share.shape}.")
        fine = (share > 0.0) & (share <= 1.0)
        bad = self.known & self.present & ~fine
        if bad.any():
            first = int(np.argmax(bad))
            raise ValueError(f"probability must lie in (0, 1] where a label was seen, got {share[first]} at {first}.")
        return np.where(self.known & fine, share, 1.0)

    @property
    def plain(self) -> bool:
        """Whether every label was verified with probability one."""
        use = self.present
        return bool(np.all(self.known[use]) and np.all(self._share[use] == 1.0))

    @property
    def estimated(self) -> bool:
        """Whether the verification probabilities were estimated from the rows."""
        return self._codes is not None and not self.plain

    @property
    def prevalence(self) -> float:
        """Estimated share of positives."""
        return float(self.weight[self.y].sum() / self.weight.sum())

    def parts(self, parts: validation.Floats) -> validation.Floats:
        """Contributions of all rows to an error, including the estimation of the verification probabilities."""
        if self._codes is None:
            return parts
        total = np.bincount(self._codes, self.units)
        flat = parts.reshape(-1, parts.shape[-1])
        sums = np.stack([np.bincount(self._codes, line, len(total)) for line in flat])
        mean = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0.0)[:, self._codes]
        return np.asarray((flat - self.units * (self.known / self._share - 1.0) * mean).reshape(parts.shape))

    @property
    def summary(self) -> str:
        """One line that describes the rows."""
        use, seen = int(self.present.sum()), self.known & self.present
        ups = int((self.y & seen).sum())
        return (
            f"{use:,} rows, {int(seen.sum()):,} verified: {ups:,} positives, {int(seen.sum()) - ups:,} negatives, "
            f"largest weight {self.weight.max():.3g}"
        )

    @property
    def about(self) -> str:
        """A note for figures that rows are weighted; "" if all labels were verified."""
        return "" if self.plain else "rows weighted for labels not looked up"

    @property
    def methods(self) -> tuple[str, ...]:
        """Sentences on how cases whose labels were seen count for the others; [names] cite the papers."""
        if self.plain:
            return ()
        n, seen = int(self.present.sum()), int((self.known & self.present).sum())
        weighed = f"Labels were verified for {seen:,} of {n:,} cases, which were weighted by the inverse of"
        if self._codes is None:
            assumed = "That being verified depends on nothing else that bears on the label is assumed."
            return (
                f"{weighed} their probability of being verified [begg], which was given and is taken as known.",
                assumed,
            )
        count = len(np.unique(self._codes[self.present]))
        weighed = f"{weighed} the share verified in their group, one of {count:,} [begg]."
        assumed = "That being verified does not depend on the label within a group is assumed"
        return weighed, f"{assumed}; standard errors allow for the estimated shares."


# Scores from several completed data sets, where a model's inputs were imputed: every result is pooled over them.


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
    :func:`stakes.evaluate`, :func:`stakes.metric_interval` and :func:`stakes.inference.metric_difference` pool their
    results: variances within and between the columns by Rubin's rules, the smaller of Barnard and Rubin's degrees of
    freedom and those of the fourth moments, and the mean of the widenings for rows not yet seen. Columns that agree
    have the interval of one. :func:`stakes.inference.confidence_band` and
    :func:`stakes.inference.calibration_summary` square the distances to the limits and add the spread between the
    columns; the curves of regret, net benefit and interventions avoided are means. Distances from a smooth curve (ICI)
    have a mean and no interval, for there is no rule to pool it. Other functions refuse imputed scores:
    :func:`stakes.inference.pool` pools the values and standard errors of their results. The mean of the columns is
    another model: if that is the one in use, evaluate it alone.

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
            given = f"{len(scores)}" if isinstance(scores, list | tuple) else validation.brief(scores)
            raise ValueError(
                "scores must be a list of two or more columns, one for each completed data set, got "
                f"{given}{_as_list(scores)}."
            )
        self.row_labels = validation.row_labels(scores=scores)
        self.scores = tuple(scores)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001  (numpy's protocol)
        """Refuse conversion to one column; its presence makes this array-like for numpy's types."""
        raise ValueError(
            "Imputed scores are pooled by evaluate, metric_interval, metric_difference, confidence_band, "
            "calibration_summary and the curves of regret, net benefit and interventions avoided: elsewhere pass one "
            "column, or pool the values and standard errors of all columns by stakes.inference.pool."
        )


def _as_list(scores: Any) -> str:
    """Suggest how to make a list of the columns of a frame or an array."""
    if validation.frame_names(scores, counted=True):
        names = "column_names" if hasattr(scores, "column_names") else "columns"
        return f": of a frame make a list by [scores[name] for name in scores.{names}]"
    two = getattr(scores, "ndim", 0) == 2
    return ": of a column for each data set make a list by list(scores.T)" if two else ""
