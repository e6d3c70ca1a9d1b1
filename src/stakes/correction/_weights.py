"""Class weights, sampling and prior shift: undone, applied, and all three in one formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import to_array
from stakes.correction._inputs import (
    class_weights,
    one_of,
    per_class,
    read_columns,
    read_prior,
    read_scores,
    sampling_factors,
)
from stakes.correction._shift import shift_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def undo_class_weight(
    y_prob: ArrayLike,
    *,
    positive_share: float | None = None,
    class_weight: Mapping[Any, float] | ArrayLike | str | None = None,
    scale_pos_weight: float | None = None,
    pos_weight: float | ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Turn the scores of a model trained with class weights into probabilities of the data as they are.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Scores of the positive class, or of every class (rows that sum to 1).
        An expression of narwhals, polars or SQL (:func:`stakes.tables.sql_column`) gives an expression.
    positive_share : float, optional
        Relative weight of the positive class, w1 / (w0 + w1), in (0, 1).
    class_weight : mapping of label to weight, array_like of shape (K,) or "balanced", optional
        Weight of each class in the loss; classes that a mapping does not name have weight 1. "balanced" needs
        ``y_train``.
    scale_pos_weight : float, optional
        Ratio w1 / w0, as XGBoost, LightGBM and CatBoost have it; equally the r of r-fold oversampling.
    pos_weight : float or array_like of shape (K,), optional
        The same ratio, as PyTorch's ``BCEWithLogitsLoss`` has it. One for each of K columns means K separate
        yes-or-no questions (one-vs-rest or multi-label); rows then need not sum to 1.
    y_train : array_like of shape (m,), optional
        Labels of the training, for "balanced".
    labels : array_like of shape (K,), optional
        The classes in the order of the columns, the positive one last of two. Without it 0 to K - 1, -1 and 1, or of
        several columns the sorted keys. Scores of the positive class alone need it where classes have other names.
    logits : bool, default False
        Whether ``y_prob`` holds log-odds (n,) or logits (n, K); the result then holds the same. There the map is
        exact even where a probability would round to 1.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        Unless exactly one of the four ways to give the weight is used, and for invalid scores or weights.

    Notes
    -----
    Equation (12) of Caplin, Martin and Marx (2022): logit g = logit a - logit beta, for beta in (0, 1) only (the
    printed corollary includes 0 and 1, where nothing is left to invert); with K classes g_y is proportional to
    a_y / w_y. It undoes what weighting does to a fit that is otherwise right. Where the model is too stiff, penalised
    or stopped early, weighting also changes the fit, and no map of scores can undo that.

    Examples
    --------
    >>> from stakes.correction import undo_class_weight
    >>> undo_class_weight([0.0, 0.5, 0.9, 1.0], positive_share=0.9).round(6).tolist()
    [0.0, 0.1, 0.5, 1.0]
    >>> undo_class_weight([0.5], class_weight="balanced", y_train=[0, 0, 0, 1]).tolist()
    [0.25]
    >>> undo_class_weight([[0.2, 0.3, 0.5]], class_weight={0: 1, 1: 1, 2: 5}).round(6).tolist()
    [[0.333333, 0.5, 0.166667]]
    """
    given = {
        "positive_share": positive_share,
        "class_weight": class_weight,
        "scale_pos_weight": scale_pos_weight,
        "pos_weight": pos_weight,
    }
    return _weighted(y_prob, given, y_train, labels, logits=logits, undo=True)


def apply_class_weight(
    y_prob: ArrayLike,
    *,
    positive_share: float | None = None,
    class_weight: Mapping[Any, float] | ArrayLike | str | None = None,
    scale_pos_weight: float | None = None,
    pos_weight: float | ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Say which score a model trained with class weights gives where the probability is known.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Probabilities.
    positive_share, class_weight, scale_pos_weight, pos_weight, y_train, labels, logits
        As in :func:`undo_class_weight`, whose inverse this is.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        As :func:`undo_class_weight`.

    Notes
    -----
    Proposition 1 of Caplin, Martin and Marx (2022): the best score is the same for every strictly proper loss.

    Examples
    --------
    >>> from stakes.correction import apply_class_weight
    >>> apply_class_weight([0.1, 0.5], scale_pos_weight=9).round(6).tolist()
    [0.5, 0.9]
    """
    given = {
        "positive_share": positive_share,
        "class_weight": class_weight,
        "scale_pos_weight": scale_pos_weight,
        "pos_weight": pos_weight,
    }
    return _weighted(y_prob, given, y_train, labels, logits=logits, undo=False)


def _weighted(
    y_prob: ArrayLike, given: dict[str, Any], y_train: Any, labels: Any, *, logits: bool, undo: bool
) -> Floats:
    """Multiply the odds of each class by its weight, or divide them by it."""
    pos_weight = given["pos_weight"]
    if np.ndim(to_array(pos_weight, "pos_weight")) != 1:
        scores = read_scores(y_prob, logits=logits)
        weights = class_weights(scores.n_classes, **given, y_train=y_train, labels=labels, one_column=scores.one_column)
        return scores.shifted(1.0 / weights if undo else weights)
    one_of(**given)
    shape = to_array(y_prob, "y_prob").shape
    if len(shape) != 2:
        raise ValueError(f"y_prob must have one column for each pos_weight, got shape {shape}.")
    columns = read_columns(y_prob, logits=logits)
    weights = per_class(pos_weight, columns.values.shape[1], None, "pos_weight")
    factors = 1.0 / weights if undo else weights
    return columns.values + np.log(factors) if logits else shift_columns(columns.values, factors)


def undo_sampling(
    y_prob: ArrayLike,
    *,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Turn the scores of a model trained on under- or oversampled classes into probabilities of the data as they are.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Scores of the positive class, or of every class (rows that sum to 1).
    keep : mapping of label to fraction, or array_like of shape (K,), optional
        Which fraction of each class's rows the model saw, in (0, 1]: ``{0: 0.1}`` if one negative in ten was kept.
        Classes that a mapping does not name were kept as they are.
    repeat : mapping of label to number, or array_like of shape (K,), optional
        How many times the model saw each row of a class, >= 1: ``{1: 10}`` if every positive stood there ten times.
        ``keep`` or ``repeat`` is needed, both may be given, and only their products' ratios count.
    labels, logits
        As in :func:`undo_class_weight`.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        For invalid scores or fractions, and for a fraction above 1.

    Notes
    -----
    Equation (13) of Caplin, Martin and Marx (2022), and of Elkan (2001): a kept fraction acts as a class weight does.
    Rows must be dropped or repeated at random within their class: SMOTE, NearMiss and their kin are not undone by it.

    Examples
    --------
    >>> from stakes.correction import undo_sampling
    >>> undo_sampling([0.5, 0.95], keep={0: 0.05, 1: 1}).round(6).tolist()
    [0.047619, 0.487179]
    >>> undo_sampling([0.5], repeat={1: 9}).round(6).tolist()
    [0.1]
    """
    scores = read_scores(y_prob, logits=logits)
    return scores.shifted(1.0 / _sampling(keep, repeat, scores, labels))


def apply_sampling(
    y_prob: ArrayLike,
    *,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Say which probability holds among sampled rows where it is known among all.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Probabilities.
    keep, repeat, labels, logits
        As in :func:`undo_sampling`, whose inverse this is.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        For invalid scores or fractions, and for a fraction above 1.

    Examples
    --------
    >>> from stakes.correction import apply_sampling
    >>> apply_sampling([0.1], keep={0: 0.1}).round(6).tolist()
    [0.526316]
    """
    scores = read_scores(y_prob, logits=logits)
    return scores.shifted(_sampling(keep, repeat, scores, labels))


def _sampling(keep: Any, repeat: Any, scores: Any, labels: ArrayLike | None) -> Floats:
    if keep is None and repeat is None:
        raise ValueError(
            "keep or repeat must be given: the fraction kept of a class, or how often its rows were repeated."
        )
    return sampling_factors(keep, repeat, scores.n_classes, labels, one_column=scores.one_column)


def shift_prior(
    y_prob: ArrayLike,
    *,
    old: float | Mapping[Any, float] | ArrayLike,
    new: float | Mapping[Any, float] | ArrayLike,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Move probabilities from a population with one share of each class to a population with another.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Probabilities that are right where the classes have the shares ``old``. Undo class weights first.
        An expression of narwhals, polars or SQL (:func:`stakes.tables.sql_column`) gives an expression.
    old, new : float, mapping of label to share, or array_like of shape (K,)
        Share of positives, or of every class, before and after.
    labels, logits
        As in :func:`undo_class_weight`.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        For invalid scores, and for shares outside (0, 1) or that do not sum to 1.

    Notes
    -----
    Saerens, Latinne and Decaestecker (2002), doi:10.1162/089976602753284446. Right where only the shares of the
    classes differ, and not the cases within a class. Its inverse is ``shift_prior`` with ``old`` and ``new`` swapped.

    Examples
    --------
    >>> from stakes.correction import shift_prior
    >>> shift_prior([0.5, 0.9], old=0.5, new=0.01).round(6).tolist()
    [0.01, 0.083333]
    """
    scores = read_scores(y_prob, logits=logits)
    before, after = (
        read_prior(value, scores.n_classes, labels, name, one_column=scores.one_column)
        for name, value in (("old", old), ("new", new))
    )
    return scores.shifted(after / before)


def correct_probabilities(
    y_prob: ArrayLike,
    *,
    class_weight: Mapping[Any, float] | ArrayLike | None = None,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    old: float | Mapping[Any, float] | ArrayLike | None = None,
    new: float | Mapping[Any, float] | ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Undo class weights and sampling and move to another population, all in one step.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Scores of the positive class, or of every class (rows that sum to 1).
    class_weight : mapping of label to weight, or array_like of shape (K,), optional
        Weight of each class in the loss.
    keep : mapping of label to fraction, or array_like of shape (K,), optional
        Which fraction of each class's rows the model saw, in (0, 1].
    repeat : mapping of label to number, or array_like of shape (K,), optional
        How many times the model saw each row of a class, >= 1.
    old, new : float, mapping of label to share, or array_like of shape (K,), optional
        Shares of the classes in the data before sampling, and in the population to move to; both or none.
    labels, logits
        As in :func:`undo_class_weight`.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        If nothing is to be corrected, if only one of ``old`` and ``new`` is given, and for invalid values.

    Notes
    -----
    g_y is proportional to a_y new_y / (w_y keep_y repeat_y old_y): equations (12) and (13) of Caplin, Martin and Marx
    (2022) with the prior shift of Saerens et al. (2002). The steps commute.

    Examples
    --------
    >>> from stakes.correction import correct_probabilities
    >>> p = correct_probabilities([0.5], class_weight={0: 1, 1: 3}, keep={0: 0.1}, old=0.01, new=0.02)
    >>> p.round(6).tolist()
    [0.063098]
    """
    if (old is None) != (new is None):
        raise ValueError("old and new must be given together: the shares of the classes before and after.")
    if class_weight is None and keep is None and repeat is None and old is None:
        raise ValueError("nothing to correct: pass class_weight=, keep=, repeat=, or old= and new=.")
    scores = read_scores(y_prob, logits=logits)
    factors = 1.0 / sampling_factors(keep, repeat, scores.n_classes, labels, one_column=scores.one_column)
    if class_weight is not None:
        factors /= per_class(class_weight, scores.n_classes, labels, "class_weight", one_column=scores.one_column)
    if old is not None:
        before, after = (
            read_prior(value, scores.n_classes, labels, name, one_column=scores.one_column)
            for name, value in (("old", old), ("new", new))
        )
        factors *= after / before
    return scores.shifted(factors)
