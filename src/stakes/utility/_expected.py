"""The decisions that maximise the expected value of a measure on a batch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.core.validation import check_choice, check_unit, check_weights
from stakes.utility._batch import Batch
from stakes.utility._certify import choose
from stakes.utility._decide import clean_probabilities
from stakes.utility._measures_by_name import ConfusionMeasure, get_measure
from stakes.utility._methods import METHODS, estimate_curve
from stakes.utility._ranking import RankingPrinciple, counted_ranking
from stakes.utility._result import ExpectedUtility
from stakes.utility._weighted import estimate_weighted_curve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.utility._certify import Choice
    from stakes.utility._decide import Correction
    from stakes.utility._estimate import Estimate
    from stakes.utility._measure import Measure

    Floats = NDArray[np.float64]


def expected_utility(
    y_prob: ArrayLike,
    measure: Measure | type[Measure] | str,
    *,
    zero_division: float = 0.0,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    correction: Correction | None = None,
) -> ExpectedUtility:
    """Expected value of a measure for every number of rows to act on, and the decisions that are best for this batch.

    The rows are taken to be independent, and positive with the given probabilities. The answer belongs to the batch: a
    row's decision depends on the other rows.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, 2)
        Calibrated probability of the positive class.
    measure : Measure or str
        For example ``F1()``, ``FBeta(2)``, ``MCC()``, or a name that :func:`get_measure` knows.
    zero_division : float, default 0
        Value of the measure in place of 0/0, in [0, 1].
    method : str, default "auto"
        "auto" takes the first of these that applies: "closed_form" (precision, accuracy, squared error in counting);
        "exponentials" (ratios of linear functions, recall, balanced accuracy, G-TP/PR, quadratic mean, kappa; O(n));
        "fourier" (MCC; O(n)); "exact", a sum over both counts, for any measure on a small batch and for measures that
        are not called smooth on any; "gauss" for smooth measures such as the G-mean (O(n), the error is estimated and
        not proved). To compare: "algorithm1" (O(n^3)) and "algorithm2" (O(n^2), ratios of linear functions) of
        arXiv:1505.01802, corrected.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, for F-beta, Jaccard, precision, accuracy and ratios with a positive denominator. The most probable
        rows are then not always the best ones, so nothing is certified.
    correction : callable, optional
        Function from probabilities to better ones, applied first, such as an undone class weight or a shifted prior.

    Returns
    -------
    ExpectedUtility

    Raises
    ------
    ValueError
        For invalid probabilities or weights, and for a method that does not apply to the measure.

    Notes
    -----
    Natarajan, Koyejo, Ravikumar, Dhillon (arXiv:1505.01802): by the probability ranking principle it is enough to look
    at the k most probable rows, k = 0..n. Its algorithms never evaluate k = 0. The expected utility is not unimodal in
    k, so the whole curve is computed. ``certified`` compares differences of neighbours, which are known to about
    1e-12 / n.

    Examples
    --------
    >>> from stakes.utility import F1, expected_utility
    >>> result = expected_utility([0.9, 0.39, 0.38], F1())
    >>> result.curve.round(5).tolist(), result.best_k, result.certified
    ([0.0, 0.69123, 0.67908, 0.6801], 1, True)
    """
    check_same_order(y_prob=y_prob, sample_weight=sample_weight)
    rule = get_measure(measure)
    fill = check_unit(zero_division, "zero_division")
    check_choice(method, "method", METHODS)
    prob = clean_probabilities(y_prob, correction)
    empty = len(prob) == 0 and (sample_weight is None or np.size(sample_weight) == 0)
    weight = None if empty else check_weights(sample_weight, len(prob))
    ranking = _ranking(rule, len(prob), fill)
    if weight is None:
        batch = Batch.of(prob)
        batch = batch if ranking.descending else batch.reversed()
        estimate = estimate_curve(batch, rule, fill, method)
    else:
        prob = np.where(weight > 0.0, prob, np.nan)
        ranking = RankingPrinciple(holds=False, descending=True, reason="with weights, a light row may be worth more.")
        batch, estimate = estimate_weighted_curve(prob, weight, rule, fill, method)
    choice = choose(estimate, 1.0 if rule.higher_is_better else -1.0)
    facts = _Facts(rule, ranking, fill, correction, weight is not None)
    return _result(facts, prob, batch, estimate, choice)


def optimal_decisions(
    y_prob: ArrayLike, measure: Measure | type[Measure] | str, *, zero_division: float = 0.0, method: str = "auto"
) -> NDArray[np.int64]:
    """Decisions that maximise the expected value of a measure on this batch: 1 to act, 0 not to.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, 2)
        Calibrated probability of the positive class.
    measure : Measure or str
        For example ``F1()`` or "f1".
    zero_division : float, default 0
        Value of the measure in place of 0/0.
    method : str, default "auto"
        See :func:`expected_utility`.

    Returns
    -------
    ndarray of int, shape (n,)

    Raises
    ------
    ValueError
        For invalid probabilities, and for a method that does not apply to the measure.

    Examples
    --------
    >>> from stakes.utility import optimal_decisions
    >>> optimal_decisions([0.2, 0.7, 0.4, 0.1], "f1").tolist()
    [0, 1, 1, 0]
    """
    return expected_utility(y_prob, measure, zero_division=zero_division, method=method).predict()


def _ranking(measure: Measure, n: int, zero_division: float) -> RankingPrinciple:
    stated = measure.ranking()
    if stated.holds is not None or not isinstance(measure, ConfusionMeasure):
        return stated
    value = partial(measure.value, zero_division=zero_division)
    return counted_ranking(value, n, 1.0 if measure.higher_is_better else -1.0)


class _Facts(NamedTuple):
    """What was asked."""

    measure: Measure
    ranking: RankingPrinciple
    zero_division: float
    correction: Correction | None
    weighted: bool


def _result(facts: _Facts, prob: Floats, batch: Batch, estimate: Estimate, choice: Choice) -> ExpectedUtility:
    best = int(choice.ties[0])
    threshold = float(batch.yes[best - 1]) if best else (np.inf if facts.ranking.descending else -np.inf)
    certificate = _certificate(facts, estimate, choice)
    return ExpectedUtility(
        measure=facts.measure,
        curve=estimate.values,
        best_k=best,
        threshold=threshold,
        utility=float(estimate.values[best]),
        error_bound=estimate.largest_bound(),
        proved=estimate.proved,
        certified=not certificate,
        certificate=certificate or "every other number of rows is proved to be worse.",
        ties=choice.ties,
        runner_up=choice.runner_up,
        gap=choice.gap,
        method=estimate.method,
        ranking=facts.ranking,
        zero_division=facts.zero_division,
        _prob=prob,
        _correction=facts.correction,
        _tied=int(np.count_nonzero(batch.yes[:best] == threshold)),
        _weighted=facts.weighted,
    )


def _certificate(facts: _Facts, estimate: Estimate, choice: Choice) -> str:
    """Why the choice is not certain, or nothing."""
    if len(choice.ties) > 1:
        return f"{len(choice.ties)} numbers of rows cannot be told apart."
    if not estimate.proved:
        return "the error of the curve is estimated, not proved."
    if facts.weighted or not facts.ranking.holds:
        taken = "most" if facts.ranking.descending else "least"
        return f"better decisions than the {taken} probable rows may exist: {facts.ranking.reason}"
    return ""
