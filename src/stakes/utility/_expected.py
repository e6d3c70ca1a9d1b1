"""`expected_utility`: computation methods, the certificate of the choice, and its sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.numerics import logit, sigmoid
from stakes.base.validation import Floats, Integers, check_choice, check_same_order, check_unit, check_weights
from stakes.curves import Curve
from stakes.outputs.result_table import Tabular
from stakes.utility import _fourier, _measures, _summation
from stakes.utility._exponential import (
    UNIT,
    Batch,
    Correction,
    UtilityEstimate,
    clean_probabilities,
    decide,
    expected_fbeta,
    expected_jaccard,
    expected_kappa,
)
from stakes.utility._measures import Measure, RankingPrinciple

Way = Callable[[Batch], "UtilityEstimate | None"]


# Methods to compute a curve of expected utilities.
#
# The order of preference: a closed form; sums of exponentials; Fourier frequencies; the exact sum for small batches
# and for measures that nobody called smooth; Gauss rules. All but the last have a proved bound on their error, the
# exact sum of large batches only for measures that are known to be bounded.

METHODS = ("auto", "closed_form", "exponentials", "fourier", "exact", "gauss", "algorithm1", "algorithm2")


def estimate_curve(batch: Batch, measure: Measure, zero_division: float, method: str) -> UtilityEstimate:
    """Compute the curve by the requested method, or by the first one that applies."""
    if len(batch) == 0:
        empty = measure.value(0.0, 0.0, 0.0, 0.0, zero_division=zero_division)
        return UtilityEstimate(np.atleast_1d(empty), 0.0, 0.0, "closed_form")
    ways = _methods(batch, measure, zero_division)
    if method == "auto":
        for way in ways.values():
            found = way(batch)
            if found is not None:
                return found
    if method not in ways:
        choices = ", ".join(map(repr, ("auto", *ways)))
        raise ValueError(f"method must be one of {choices} for {measure!r}, got {method!r}.")
    estimate = ways[method](batch)
    if estimate is None:
        raise ValueError(
            f"method={method!r} needs a denominator that is positive at every table with k >= 1 and not near zero, "
            f"got {measure!r}."
        )
    return estimate


def _methods(batch: Batch, measure: Measure, zero_division: float) -> dict[str, Way]:
    """Methods for the curve of a measure, the preferred one first."""
    ways = _special_methods(measure, zero_division)
    value = partial(measure.value, zero_division=zero_division)
    bounded = not isinstance(measure, _measures.ConfusionMeasure | _measures.FractionalLinear)
    general: dict[str, Way] = {"exact": partial(_summation.expected_by_windows, value=value, bounded=bounded)}
    if not isinstance(measure, _measures.ConfusionMeasure) or measure.smooth:
        # up to so many rows the exact sum takes about as long as Gauss rules with their overhead
        smooth = {"gauss": partial(_summation.expected_by_gauss, value=value)}
        general = smooth | general if len(batch) > _summation.WHOLE_UP_TO else general | smooth
    ways |= general
    ways["algorithm1"] = partial(_summation.expected_by_algorithm1, value=value)
    if isinstance(measure, _measures.LinearRatio):
        c, d = measure.coefficients
        ways["algorithm2"] = partial(_summation.expected_by_recursion, c=c, d=d, zero_division=zero_division)
    return ways


def _special_methods(measure: Measure, zero_division: float) -> dict[str, Way]:
    """Methods made for one kind of measure, the preferred one first."""
    found: dict[str, Way] = {}
    match measure:
        case _measures.Precision():
            found = {"closed_form": partial(_summation.expected_precision, zero_division=zero_division)}
        case _measures.Accuracy():
            found = {"closed_form": _summation.expected_accuracy}
        case _measures.SquaredErrorInCounting():
            found = {"closed_form": _summation.expected_squared_counting_error}
        case _measures.FBeta():
            found = {"exponentials": partial(expected_fbeta, square=measure.beta**2, zero_division=zero_division)}
        case _measures.Jaccard():
            found = {"exponentials": partial(expected_jaccard, zero_division=zero_division)}
        case _measures.QMean():
            found = {"exponentials": partial(_fourier.quadratic_mean_curve, zero_division=zero_division)}
        case _measures.Kappa():
            found = {"exponentials": expected_kappa}
        case _measures.FractionalLinear():
            c, d = measure.coefficients
            found = {"exponentials": partial(_fourier.expected_linear, c=c, d=d, zero_division=zero_division)}
        case _measures.MCC():
            found = {"fourier": _fourier.expected_matthews}
    return found or _methods_by_rates(measure, zero_division)


def _methods_by_rates(measure: Measure, zero_division: float) -> dict[str, Way]:
    """Methods for measures that are sums of rates over the rows."""
    match measure:
        case _measures.Recall():
            curve = partial(_fourier.recall_curve, zero_division=zero_division)
        case _measures.FowlkesMallows():
            curve = partial(_fourier.fowlkes_mallows_curve, zero_division=zero_division)
        case _measures.BalancedAccuracy():
            curve = partial(
                _fourier.balanced_accuracy_curve, zero_division=zero_division, drop_absent=measure.absent == "drop"
            )
        case _:
            return {}
    makers = {"exponentials": _fourier.exponential_rates, "fourier": _fourier.fourier_rates}
    return {name: partial(curve, rates=rates) for name, rates in makers.items()}


# The best number of rows, and whether it is certain, by a comparison of differences and not of values.
#
# Near the best k, values differ by about 1/n^2, far less than what they are known to. Where the differences of
# neighbours are known (to about 1e-12 / n), they are summed from one candidate to the other.


_SAME_VALUE, _SAME_ZERO = 1e-12, 1e-13  # relative, absolute; bounds on errors may be far larger with unequal weights


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """Numbers of rows that are indistinguishable from the best, and the best of the others."""

    ties: Integers
    runner_up: int | None
    gap: float  # how much worse it is, nan without one

    def best(self, estimate: UtilityEstimate, sign: float) -> int:
        """Smallest of the ties whose value is that of the best of them up to rounding; sign = -1 minimises."""
        found, bound = sign * estimate.values[self.ties], float(np.max(estimate.bound(self.ties)))
        rounding = _SAME_VALUE * float(np.abs(found).max()) + min(bound, _SAME_ZERO)
        return int(self.ties[np.argmax(found >= found.max() - rounding)])


def choose(estimate: UtilityEstimate, sign: float) -> Choice:
    """Find the best k; sign = -1 minimises."""
    values = estimate.values if sign > 0.0 else -estimate.values
    max_error = estimate.largest_bound()
    near = np.flatnonzero(values >= float(values.max()) - 2.0 * max_error)
    bound = estimate.bound(near)
    rivals = values[near] + bound >= float(np.max(values[near] - bound))
    near = near[rivals]
    best = int(near[np.argmax(values[near])])
    hull = _hull(estimate, near, best)
    if hull is None:
        return _choice(values, near, float(values[best]))
    low, high = hull
    rise, error = estimate.steps(low, high) if estimate.steps is not None else (np.empty(0), np.empty(0))
    height = sign * np.append(0.0, np.cumsum(rise))
    # errors add up along the way from one k to another, and so does the rounding of this sum
    doubt = np.append(0.0, np.cumsum(error + (high - low + 1) * UNIT * np.abs(rise)))
    top = int(np.argmax(height))
    behind = height[top] - height
    level = np.abs(doubt - doubt[top]) + estimate.floor
    level[top] = 0.0
    inside = np.intersect1d(low + np.flatnonzero(behind <= level), near)  # values alone exclude the others
    if low + top not in inside:
        return _choice(values, near, float(values[best]))
    outside = near[(near < low) | (near > high)]
    if len(outside):
        best = low + top
        rivals = values[outside] + estimate.bound(outside) >= values[best] - estimate.bound(np.array([best]))
        inside = np.union1d(inside, outside[rivals])
        if np.any(values[outside] > values[best]):
            # the best k may be one without differences: then values decide among all
            return _choice(values, np.union1d(inside, near), float(values.max()))
    choice = _choice(values, inside, float(values[low + top]))
    return _with_exact_gap(choice, low, behind, 2.0 * max_error)


def _hull(estimate: UtilityEstimate, near: Integers, best: int) -> tuple[int, int] | None:
    """Range of k compared by differences: all candidates that have them, and the neighbours of the best."""
    first, last = estimate.steps_start, estimate.steps_end
    last = len(estimate.values) - 1 if last is None else last
    if estimate.steps is None or not first <= best <= last or last <= first:
        return None
    inside = near[(near >= first) & (near <= last)]
    return max(first, min(int(inside[0]), best - 1)), min(last, max(int(inside[-1]), best + 1))


def _choice(values: Floats, ties: Integers, best: float) -> Choice:
    """Rank the remaining candidates by value."""
    if len(ties) == len(values):
        return Choice(ties, None, float("nan"))
    others = values.copy()
    others[ties] = -np.inf
    runner_up = int(np.argmax(others))
    return Choice(ties, runner_up, best - float(others[runner_up]))


def _with_exact_gap(choice: Choice, low: int, behind: Floats, doubt: float) -> Choice:
    """Find the best k outside the ties, and its gap, from differences where available.

    ``doubt`` bounds the error of the gap between two values: beyond it, the runner-up has no differences.
    """
    rest = behind.copy()
    places = choice.ties - low
    rest[places[(places >= 0) & (places < len(rest))]] = np.inf
    place = int(np.argmin(rest))
    if not np.isfinite(rest[place]) or rest[place] > choice.gap + doubt:
        return choice
    return Choice(choice.ties, low + place, float(rest[place]))


# Sensitivity of a choice to errors of the probabilities.


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Tabular):
    """Best choice and loss of the actual one for each way in which the log-odds may be wrong.

    The true log-odds are taken to be ``slope * logit(p) + shift``. The order of the rows stays the same, so only the
    number of rows to act on can be wrong.

    Parameters
    ----------
    slope, shift : ndarray of shape (m,)
        The scenarios.
    best_k : ndarray of int, shape (m,)
        Best number of rows to act on if the scenario were true.
    best_utility : ndarray of shape (m,)
        What that is worth.
    utility : ndarray of shape (m,)
        What the actual choice is worth if the scenario were true.
    chosen_k : int
        The actual choice.

    Examples
    --------
    >>> from stakes.utility import F1, expected_utility
    >>> table = expected_utility([0.9, 0.2, 0.6, 0.1], F1()).sensitivity(shifts=(-1, 0, 1), slopes=(1,))
    >>> table.best_k.tolist(), table.loss.round(4).tolist()
    ([1, 2, 2], [0.0117, 0.0, 0.0])
    """

    slope: Floats
    shift: Floats
    best_k: NDArray[np.intp]
    best_utility: Floats
    utility: Floats
    chosen_k: int

    @property
    def loss(self) -> Floats:
        """Loss of the actual choice relative to the best one in each scenario."""
        return np.abs(self.best_utility - self.utility)

    def _records(self) -> list[dict[str, Any]]:
        names = ("slope", "shift", "best_k", "chosen_k", "best_utility", "utility", "loss")
        columns = [np.broadcast_to(getattr(self, name), self.slope.shape).tolist() for name in names]
        return [dict(zip(names, line, strict=True)) for line in zip(*columns, strict=True)]

    def __repr__(self) -> str:
        low, high = int(self.best_k.min()), int(self.best_k.max())
        return (
            f"Sensitivity({len(self.slope)} scenarios: best k from {low} to {high}, "
            f"acting on {self.chosen_k} loses at most {self.loss.max():.4g})"
        )


def tilted(prob: Floats, slope: float, shift: float) -> Floats:
    """Probabilities whose log-odds are slope * logit(p) + shift; 0 and 1 stay."""
    return np.asarray(sigmoid(slope * logit(prob) + shift))


# A curve of a measure with its best point and its close rivals, for figures.


@dataclass(frozen=True, eq=False, repr=False)
class UtilityCurve(Curve):
    """Value of a measure over the number of rows acted on, or over the threshold, with the best choice.

    Parameters
    ----------
    measure : str
        Name of the measure.
    best : float
        Where the curve is best: a number of rows, or a threshold (infinite where acting on no row is best).
    best_value : float
        The value there.
    ties : tuple of int
        Numbers of rows that cannot be told from the best one, that one included; empty over thresholds.
    runner_up : int or None
        Best number of rows outside ``ties``.
    gap : float
        By how much the runner-up is worse.
    threshold : float
        Probability of the last row acted on, or the best threshold itself.
    descending : bool
        Whether the rows that are acted on are those from the threshold up.

    Examples
    --------
    >>> from stakes.utility import F1, expected_utility
    >>> curve = expected_utility([0.9, 0.2, 0.6, 0.1], F1()).as_curve()
    >>> curve.kind, curve.best, round(curve.best_value, 4), curve.threshold
    ('expected utility', 2, 0.7679, 0.6)
    """

    measure: str = ""
    best: float = math.nan
    best_value: float = math.nan
    ties: tuple[int, ...] = ()
    runner_up: int | None = None
    gap: float = math.nan
    threshold: float = math.nan
    descending: bool = True


# The result of expected_utility: the rows to act on, their value, and its certificate.

_SHOW_SENSITIVITY_UP_TO = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedUtility(Tabular):
    """Expected value of a measure for every number k of rows to act on, and the best one.

    Parameters
    ----------
    measure : Measure
        What is maximised (minimised, if it is a loss).
    curve : ndarray of shape (n + 1,)
        Expected value of acting on the k most probable rows, k = 0..n.
    best_k : int
        How many rows to act on: of those ``ties`` whose values differ by rounding alone from the best, the smallest.
    threshold : float
        Probability of the last row that is acted on; infinite if there is none.
    utility : float
        ``curve[best_k]``.
    error_bound : float
        Bound on the absolute error of every value of the curve; an estimate where ``proved`` is False.
    proved : bool
        Whether the bound is proved.
    certified : bool
        Whether ``best_k`` is proved to be the only best choice, among all decisions.
    certificate : str
        Why, or why not.
    ties : ndarray of int
        Every k that cannot be told from the best one, ``best_k`` included.
    runner_up : int or None
        Best k outside ``ties``.
    gap : float
        By how much the runner-up is worse.
    method : str
        How the curve was computed.
    ranking : RankingPrinciple
        Whether the best k rows are the most probable ones.
    zero_division : float
        Value of the measure in place of 0/0.

    Examples
    --------
    >>> from stakes.utility import F1, expected_utility
    >>> result = expected_utility([0.9, 0.2, 0.6, 0.1], F1())
    >>> result
    ExpectedUtility(F1() on 4 rows: act on 2, from probability 0.6; 0.76788 +- 1.8e-13, certified)
    >>> result.predict().tolist()
    [1, 0, 1, 0]
    >>> result.curve.round(3).tolist()
    [0.0, 0.659, 0.768, 0.681, 0.596]
    """

    measure: Measure
    curve: Floats
    best_k: int
    threshold: float
    utility: float
    error_bound: float
    proved: bool
    certified: bool
    certificate: str
    ties: NDArray[np.intp]
    runner_up: int | None
    gap: float
    method: str
    ranking: RankingPrinciple
    zero_division: float
    _prob: Floats
    _correction: Correction | None = None
    _tied: int = 0
    _weight: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of the batch."""
        return len(self.curve) - 1

    def predict(self, y_prob: ArrayLike | None = None) -> NDArray[np.int64]:
        """Decide: 1 for the rows to act on, 0 for the others.

        Parameters
        ----------
        y_prob : array_like of shape (m,) or (m, 2), optional
            Probabilities; by default those of the batch, in their order. The same batch in another order gets exactly
            ``best_k`` decisions to act; other rows get the threshold that was best for the batch.

        Returns
        -------
        ndarray of int, shape (m,)
            Among rows that tie at the threshold, the first ones are acted on, as many as in the batch; of the batch
            itself with weights, the lightest ones.

        Raises
        ------
        ValueError
            For invalid probabilities.

        Examples
        --------
        >>> from stakes.utility import GMean, expected_utility
        >>> result = expected_utility([0.4, 0.9, 0.4, 0.4, 0.4], GMean())
        >>> result.predict().tolist(), result.predict([0.3, 0.8, 0.4, 0.4]).tolist()
        ([1, 1, 0, 0, 0], [0, 1, 1, 0])
        """
        prob, weight = self._prob, self._weight
        if y_prob is not None:
            prob, weight = clean_probabilities(y_prob, self._correction), None
        return decide(prob, self.threshold, self._tied, descending=self.ranking.descending, weight=weight)

    def sensitivity(
        self, *, shifts: Sequence[float] = (-1.0, -0.5, 0.0, 0.5, 1.0), slopes: Sequence[float] = (0.5, 1.0, 2.0)
    ) -> Sensitivity:
        """How the best k and the utility change if the probabilities are wrong.

        Parameters
        ----------
        shifts : sequence of float, default (-1, -0.5, 0, 0.5, 1)
            What is added to the log-odds: log 2 doubles the odds.
        slopes : sequence of float, default (0.5, 1, 2)
            What the log-odds are multiplied by first: 0.5 makes overconfident probabilities cautious.

        Returns
        -------
        Sensitivity
            For each pair: the best k if those were the true probabilities, and what acting on ``best_k`` rows loses.

        Raises
        ------
        ValueError
            With sample weights, or where a slope is not positive.

        Examples
        --------
        >>> from stakes.utility import F1, expected_utility
        >>> result = expected_utility([0.9, 0.2, 0.6, 0.1], F1())
        >>> result.sensitivity(shifts=(0, 1.5), slopes=(1,)).best_k.tolist()
        [2, 3]
        """
        if self._weight is not None:
            raise ValueError("sensitivity needs a result without sample_weight: its best k are not certain anyway.")
        pairs = np.array(
            list(product(_measures.read_numbers(slopes, "slopes"), _measures.read_numbers(shifts, "shifts")))
        ).reshape(-1, 2)
        if len(pairs) == 0 or not np.all(np.isfinite(pairs)) or not np.all(pairs[:, 0] > 0.0):
            raise ValueError(f"slopes must be > 0 and shifts finite, at least one of each, got {slopes} and {shifts}.")
        found, sign = [], 1.0 if self.measure.higher_is_better else -1.0
        for slope, shift in pairs:
            batch = Batch.of(tilted(self._prob, slope, shift))
            batch = batch if self.ranking.descending else batch.reversed()
            estimate = estimate_curve(batch, self.measure, self.zero_division, "auto")
            best_k = choose(estimate, sign).best(estimate, sign)
            found.append((best_k, estimate.values[best_k], estimate.values[self.best_k]))
        best, best_utility, utility = map(np.array, zip(*found, strict=True))
        return Sensitivity(pairs[:, 0], pairs[:, 1], best, best_utility, utility, self.best_k)

    def as_curve(self) -> UtilityCurve:
        """Return the expected utility as an exact curve over k, to look up, tabulate or plot.

        Returns
        -------
        UtilityCurve
            Straight between whole numbers of rows.

        Raises
        ------
        ValueError
            For an empty batch.

        Examples
        --------
        >>> from stakes.utility import F1, expected_utility
        >>> float(expected_utility([0.9, 0.2], F1()).as_curve().at(1).round(3))
        0.84
        """
        if self.n_rows == 0:
            raise ValueError("a curve needs at least one row, got none.")
        k = np.arange(self.n_rows + 1.0)
        return UtilityCurve(
            "expected utility",
            k,
            self.curve[:-1],
            np.diff(self.curve),
            float(self.curve[0]),
            name=repr(self.measure),
            x_label="rows acted on",
            origin=k[:-1],
            width=np.ones(self.n_rows),
            measure=repr(self.measure),
            best=self.best_k,
            best_value=self.utility,
            ties=tuple(self.ties.tolist()),
            runner_up=self.runner_up,
            gap=self.gap,
            threshold=self.threshold,
            descending=self.ranking.descending,
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the expected utility against the number of rows acted on, with the best number, ties and runner-up.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to the display.

        Returns
        -------
        Display
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ValueError
            For an empty batch.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.utility import F1, expected_utility
        >>> expected_utility([0.9, 0.2, 0.6, 0.1], F1()).plot().ax_.get_xlabel()
        'Rows acted on'
        """
        return self.as_curve().plot(ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        names = ("best_k", "threshold", "utility", "error_bound", "certified", "ties", "runner_up", "gap", "method")
        values = {name: getattr(self, name) for name in names}
        return [{"measure": repr(self.measure), "rows": self.n_rows, **values, "ties": len(self.ties)}]

    def _repr_html_(self) -> str:
        table = super()._repr_html_()
        if self._weight is not None:
            return table
        if self.n_rows > _SHOW_SENSITIVITY_UP_TO:
            return (
                f"{table}<p>More than {_SHOW_SENSITIVITY_UP_TO:,} rows: ask sensitivity() for wrong probabilities.</p>"
            )
        return f"{table}<p>If the probabilities are wrong:</p>{self.sensitivity()._repr_html_()}"

    def __repr__(self) -> str:
        side = "from" if self.ranking.descending else "up to"
        what = f"act on {self.best_k}" + (f", {side} probability {self.threshold:.6g}" if self.best_k else "")
        sure = "certified" if self.certified else "not certified"
        about = "+-" if self.proved else "+- about"
        return (
            f"ExpectedUtility({self.measure!r} on {self.n_rows} rows: {what}; "
            f"{self.utility:.6g} {about} {self.error_bound:.1e}, {sure})"
        )


# The decisions that maximise the expected value of a measure on a batch.


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
    rule = _measures.get_measure(measure)
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
        ranking = _measures.RankingPrinciple(
            holds=False, descending=ranking.descending, reason="with weights, a light row may be worth more."
        )
        batch, estimate = _fourier.estimate_weighted_curve(
            prob, weight, rule, fill, method, descending=ranking.descending
        )
    choice = choose(estimate, 1.0 if rule.higher_is_better else -1.0)
    asked = {"measure": rule, "ranking": ranking, "zero_division": fill, "_prob": prob, "_correction": correction}
    return _result(batch, estimate, choice, _weight=weight, **asked)


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
    if stated.holds is not None or not isinstance(measure, _measures.ConfusionMeasure):
        return stated
    value = partial(measure.value, zero_division=zero_division)
    return _measures.counted_ranking(value, n, 1.0 if measure.higher_is_better else -1.0)


def _result(batch: Batch, estimate: UtilityEstimate, choice: Choice, **asked: Any) -> ExpectedUtility:
    sign, ranking = 1.0 if asked["measure"].higher_is_better else -1.0, asked["ranking"]
    best = choice.best(estimate, sign)
    threshold = float(batch.yes[best - 1]) if best else (np.inf if ranking.descending else -np.inf)
    certificate = _certificate(estimate, choice, ranking, weighted=asked["_weight"] is not None)
    return ExpectedUtility(
        curve=estimate.values,
        best_k=best,
        threshold=threshold,
        utility=float(estimate.values[best]),
        error_bound=estimate.largest_bound(),
        proved=estimate.proved,
        certified=not certificate,
        certificate=certificate or "every other number of rows is proved to be worse.",
        method=estimate.method,
        _tied=int(np.count_nonzero(batch.yes[:best] == threshold)),
        **vars(choice),
        **asked,
    )


def _certificate(estimate: UtilityEstimate, choice: Choice, ranking: RankingPrinciple, *, weighted: bool) -> str:
    """Return why the choice is not certain, or ""."""
    if len(choice.ties) > 1:
        return f"{len(choice.ties)} numbers of rows cannot be distinguished."
    if not estimate.proved:
        return "the error of the curve is estimated, not proved."
    if weighted or not ranking.holds:
        taken = "most" if ranking.descending else "least"
        return f"better decisions than the {taken} probable rows may exist: {ranking.reason}"
    return ""
