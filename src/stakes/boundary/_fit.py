"""`fit_boundary`, and the frontier of precision and recall."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.formulas import Missing
from stakes.base.validation import Floats, as_fraction, check_choice, check_level, generator, in_percent
from stakes.boundary import _problem
from stakes.boundary._boundary import COUNTS, Boundary
from stakes.boundary._certificate import Certificate, certify
from stakes.boundary._out_of_fold import FOLDS, SOLVERS, Settings, check_solver, choose_settings, split_rows
from stakes.boundary._problem import BoundaryProblem, BoundaryRows, FitOptions, Goal, Ints
from stakes.boundary._rules import LevelRule, Rule
from stakes.boundary._solvers import NEVER, Node, frontier_of, goal_value, scaled_value, trace
from stakes.costs import CostsLike
from stakes.outputs.result_table import Tabular

if TYPE_CHECKING:
    from numpy.random import Generator

Solver = Literal[
    "exact",
    "ranker",
    "cv",
    "single_threshold",
    "heuristic_recalibration",
    "greedy",
    "isotonic",
    "isotonic_completed",
    "equal_weight_dp",
    "variable_weight_dp",
]
Binning = Literal["equal_weight", "equal_span", "equal_positive", "unbinned"]


# Counts of a region by level, and the assembled result.


def describe_region(
    rows: BoundaryRows,
    settings: Settings,
    cuts: Floats,
    rule: Rule,
    single: LevelRule,
    *,
    bound: Fraction | None = None,
    tuned: Fraction | None = None,
    certificate: Certificate | None = None,
    data: BoundaryRows | None = None,
) -> Boundary:
    """Build the ``Boundary`` of a rule on these rows, with the best single threshold for comparison."""
    problem = settings.problem
    inside = rule.select(rows.score, rows.uncertainty)
    counts = [_by_level(rows, cuts, mask) for mask in (None, rows.y, inside, inside & rows.y)]
    total, ups, chosen, found = (int(count.sum()) for count in counts)
    value = goal_value(problem, found, chosen, ups)
    if bound is not None:  # a solution equal to its bound is optimal despite rounding
        bound = max(bound, value)
    shown, limit = (scaled_value(problem, one, ups, total) for one in (value, bound))
    return Boundary(
        goal=problem.describe(),
        solver=settings.solver if certificate is None else _certified_by(rule),
        value=math.nan if shown is None else shown,
        upper_bound=None if limit is None or math.isnan(limit) else limit,
        cuts=cuts,
        **dict(zip(COUNTS, counts, strict=True)),
        threshold=float(single.thresholds[0]),
        tuned_precision=None if tuned is None else float(tuned),
        certificate=certificate,
        _rule=rule,
        _problem=problem,
        _counts=_problem.count_cells(rows, cuts),
        _data=rows if data is None else data,
        _settings=settings,
    )


def _certified_by(rule: Rule) -> str:
    return "single_threshold" if isinstance(rule, LevelRule) else "ranker"


def _by_level(rows: BoundaryRows, cuts: Floats, mask: NDArray[np.bool_] | None) -> Ints:
    """Sum the weight of the rows of a mask by level."""
    some = rows if mask is None else rows.take(mask)
    weight = None if some.weight is None else some.weight.astype(np.float64)  # exact below 2^53
    level = _problem.level_of(cuts, some.uncertainty)
    return np.bincount(level, weights=weight, minlength=len(cuts) + 1).astype(np.int64)


# The public function: the best boundary for a goal, from rows with score and uncertainty.

_LEVEL_CHOICES = (1, 2, 3, 5, 11)


def fit_boundary(
    y_true: ArrayLike,
    y_score: ArrayLike,
    uncertainty: ArrayLike,
    *,
    goal: Goal = "recall",
    min_precision: float | Fraction | str | None = None,
    min_recall: float | Fraction | str | None = None,
    capacity: float | Fraction | None = None,
    f_beta: float | None = None,
    costs: CostsLike | None = None,
    solver: Solver = "exact",
    levels: int | ArrayLike | Literal["cv"] = 3,
    score_bins: int | None = None,
    binning: Binning = "equal_weight",
    tune: Literal["cv"] | None = None,
    confidence_level: float | None = None,
    random_state: Any = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> Boundary:
    """Find which scores to label positive, if the model also says how uncertain each score is.

    One threshold on the score for each level of uncertainty, chosen together so that the goal is reached exactly as
    well as these rows allow.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels of a hold-out set.
    y_score : array_like of shape (n,) or (n, 2)
        Scores, larger for positives; they need not be probabilities.
    uncertainty : array_like of shape (n,)
        Uncertainty of each score; larger is less certain.
    goal : {"recall", "precision", "false_positives", "f_beta", "cost"}, default "recall"
        "recall": the most, under ``min_precision``, ``capacity`` or both. "precision": the most, under
        ``min_recall``. "false_positives": the fewest, under ``min_recall``. "f_beta": the largest F-beta. "cost": the
        least expected cost. Further constraints combine with each.
    min_precision, min_recall : float, Fraction or str, optional
        Bounds in (0, 1], read as written: 0.9 is 9/10. Selecting nothing keeps every precision bound.
    capacity : int or float, optional
        Most rows that may be selected: a count of these rows, or a share of them in (0, 1). The number 1.0, which can
        mean either, is refused: 1 is one row.
    f_beta : float, optional
        beta of goal "f_beta".
    costs : CostDistribution, (low, high) or float, optional
        Cost ratios of goal "cost": a decision costs their mean if it is a false positive, and 1 less it if a miss.
    solver : str, default "exact"
        "exact" proves its answer. "ranker" puts one threshold on a smooth order of score and uncertainty that it
        learns (logistic, quadratic): less to overfit, better where the truth is smooth, worse where it is not. "cv"
        chooses between a single threshold, "exact" and "ranker" by recall out of fold (with ``tune="cv"``). The others
        are kept for comparison: "single_threshold" ignores the uncertainty, "heuristic_recalibration" adds it to the
        score, and "greedy", "isotonic", "isotonic_completed", "equal_weight_dp" and "variable_weight_dp" are for recall
        under ``min_precision`` alone.
    levels : int, array_like or "cv", default 3
        Number of uncertainty levels, the cuts between them (a level includes its upper cut), or a choice from 1, 2, 3,
        5 and 11 by recall out of fold (with ``tune="cv"``).
    score_bins : int, optional
        Bins of the score in each level; by default every distinct score is a possible threshold.
    binning : {"equal_weight", "equal_span", "equal_positive", "unbinned"}, default "equal_weight"
        Equal numbers of rows, equal intervals (scores: of [0, 1] where they lie in it), or equal numbers of positives
        (levels: of rows). Cuts are by value, so that ties stay together.
    tune : "cv", optional
        Aim at the precision with which ``min_precision`` is kept out of fold (five folds): thresholds fitted to the
        bound itself fall below it on new rows.
    confidence_level : float, optional
        Ask for a certificate: with this confidence the precision is at least ``min_precision``. Some rows, drawn at
        random and at most a fifth, teach an order: by the score alone, or by a smooth function of score and
        uncertainty where the uncertainty has a bearing on these rows by a test at 10% (``solver`` of the result:
        "single_threshold" or "ranker"). The others test regions along it, each half a per cent larger than the one
        before. If no region passes, nothing is selected and the certificate says how many rows would be needed.
        ``levels`` then arranges the table and the picture, and is what :meth:`Boundary.gain` compares with one
        threshold.
    random_state : int, numpy Generator or None, default 0
        For folds and for the split of the certificate, which go by the place of the rows.
    sample_weight : array_like of shape (n,), optional
        Whole numbers: weight k counts as k rows. Not with ``tune`` or ``confidence_level``, for these need independent
        rows.
    pos_label : optional
        The positive label.

    Returns
    -------
    Boundary
        ``predict`` for new rows; ``upper_bound`` is what no boundary of these levels and scores can exceed, if proved.

    Raises
    ------
    ValueError
        For invalid arguments, and where no boundary keeps all constraints.

    Notes
    -----
    With P and N the positives and rows above a threshold, precision >= A/B is sum(B P - A N) >= 0: a multiple-choice
    knapsack with integer data, solved by dominance, concave hulls, a Lagrangian bound, fixing and a core of two joined
    lists. The precision under ``min_recall`` and F-beta are ratios (Dinkelbach's method), the cost is a sum over
    levels, and any two constraints together are read off the exact frontier, whose time grows with the square of the
    number of positives at worst.

    The certificate is a fixed sequence of exact binomial tests. How many rows teach is decided by those rows alone, and
    the regions and their order are fixed before another row is looked at, so the number of positives among the N test
    rows in a region is binomial. A region that breaks the promise is certified only if the first such region in the
    sequence passes its test, which has probability at most 1 - ``confidence_level``, whatever the order learned.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.boundary import fit_boundary
    >>> rng = np.random.default_rng(0)
    >>> evidence = rng.choice([3, 300], size=20_000)  # few or many examples stand behind a score
    >>> truth = rng.beta(0.3, 0.7, size=20_000)
    >>> score = rng.binomial(evidence, truth) / evidence
    >>> y = rng.random(20_000) < truth
    >>> boundary = fit_boundary(y, score, 1 / evidence, min_precision=0.9, levels=2)
    >>> boundary.optimal, boundary.precision >= 0.9
    (True, True)
    >>> one = fit_boundary(y, score, 1 / evidence, min_precision=0.9, solver="single_threshold")
    >>> bool(boundary.recall > one.recall)
    True
    """
    problem = _problem.check_problem(
        goal, min_precision=min_precision, min_recall=min_recall, capacity=capacity, f_beta=f_beta, costs=costs
    )
    by_cv = isinstance(levels, str)
    settings = _read_settings(problem, solver, levels=levels, binning=binning, score_bins=score_bins, tune=tune)
    _check_tuning(tune, confidence_level, problem, solver, sample_weight)
    rows = _problem.check_rows(y_true, y_score, uncertainty, sample_weight=sample_weight, pos_label=pos_label)
    rng = generator(random_state)
    if confidence_level is not None:
        promise = float(problem.min_precision or 0), float(confidence_level)
        rule, certificate, tested = certify(rows, *promise, rng)
        cuts = _problem.level_cuts(rows, settings.levels, settings.binning)
        if isinstance(rule, LevelRule):  # one threshold, shown in each level
            rule = LevelRule(cuts, np.repeat(rule.thresholds, len(cuts) + 1))
        single = _single(rows, settings, None)
        return describe_region(tested, settings, cuts, rule, single, certificate=certificate, data=rows)
    if tune is not None:
        return _fit_tuned(rows, settings, rng, choose_levels=by_cv)
    return _plain(rows, settings)


def _read_settings(
    problem: BoundaryProblem, solver: str, *, levels: Any, binning: str, score_bins: int | None, tune: Any
) -> Settings:
    """Validate the settings of a fit; levels to be chosen by cross-validation start at the smallest number."""
    check_choice(solver, "solver", (*SOLVERS, "cv"))
    check_solver(solver, problem)
    score_bins = _problem.check_binning(binning, score_bins)
    by_cv = isinstance(levels, str)
    if by_cv and (levels != "cv" or tune is None):
        raise ValueError(f'levels must be a number, cuts, or "cv" with tune="cv", got {levels!r} with tune={tune!r}.')
    if solver == "cv" and tune is None:
        raise ValueError('solver="cv" goes with tune="cv", got tune=None.')
    clean = _LEVEL_CHOICES[0] if by_cv else _problem.check_levels(levels)
    return Settings(problem, solver, clean, binning, score_bins)


def _plain(rows: BoundaryRows, settings: Settings) -> Boundary:
    prepared = settings.prepare(rows)
    found = prepared.solve()
    if found is None and settings.problem.goal == "precision" and not rows.y.any():
        raise ValueError('goal="precision" needs positives in y_true, got none: every precision would be zero.')
    if found is None:
        raise ValueError(f"no boundary keeps every constraint: {settings.problem.describe()}.")
    rule, bound = found
    return describe_region(rows, settings, prepared.cuts, rule, _single(rows, settings, None), bound=bound)


def _single(rows: BoundaryRows, settings: Settings, target: Fraction | None) -> LevelRule:
    """Find the best single threshold for the same goal (select nothing if none is feasible)."""
    found = settings.alone().prepare(rows).solve(target)
    nothing = LevelRule(np.empty(0), np.array([np.inf]))
    return found[0] if found is not None and isinstance(found[0], LevelRule) else nothing


def _fit_tuned(rows: BoundaryRows, settings: Settings, rng: Generator, *, choose_levels: bool) -> Boundary:
    """Fit to the target precision that keeps the bound out of fold; select nothing if there is none."""
    if len(rows) < 2:
        raise ValueError('tune="cv" needs two rows or more, to leave some out, got 1.')
    bound = settings.problem.min_precision or Fraction(0)
    folds = split_rows(len(rows), min(FOLDS, len(rows)), rng)
    counts: list[int | Floats] = list(_LEVEL_CHOICES) if choose_levels else [settings.levels]
    choices = [replace(settings, levels=levels) for levels in counts]
    if settings.solver == "cv":
        exact = [replace(choice, solver="exact") for choice in choices]
        middle = replace(settings, levels=_LEVEL_CHOICES[2] if choose_levels else settings.levels)
        choices = [settings.alone(), *exact, replace(middle, solver="ranker")]
    chosen, tuned = choose_settings(rows, choices, folds, bound)
    settings = replace(chosen, rivals=tuple(choices) if len(choices) > 1 else ())
    prepared = settings.prepare(rows)
    found = None if tuned.target is None else prepared.solve(tuned.target)
    nothing = LevelRule(prepared.cuts, np.full(len(prepared.cuts) + 1, np.inf))
    rule, limit = (nothing, None) if found is None else found
    if tuned.target != bound:  # what is proved of a higher aim does not hold of the goal
        limit = None
    single = _single(rows, settings, tuned.target)
    return describe_region(rows, settings, prepared.cuts, rule, single, bound=limit, tuned=tuned.target)


def _check_tuning(tune: Any, confidence_level: Any, problem: BoundaryProblem, solver: str, sample_weight: Any) -> None:
    """Refuse weights and other goals where tuning or certificates need independent rows and a precision bound."""
    if tune is not None:
        check_choice(tune, "tune", ("cv",))
    if confidence_level is None and tune is None:
        return
    name = "tune" if confidence_level is None else "confidence_level"
    if confidence_level is not None:
        check_level(confidence_level)
        if tune is not None:
            raise ValueError("tune= and confidence_level= exclude each other: a certificate needs no tuning.")
        if solver != "exact":
            raise ValueError(f"confidence_level= learns its own regions and takes no solver, got solver={solver!r}.")
    if problem.goal != "recall" or problem.min_precision is None:
        raise ValueError(f'{name}= needs goal="recall" and min_precision=, got {problem.describe()!r}.')
    if confidence_level is not None and (problem.min_recall is not None or problem.capacity is not None):
        raise ValueError(f"confidence_level= promises precision alone, got {problem.describe()!r}.")
    if sample_weight is not None:
        raise ValueError(f"{name}= needs independent rows, so it takes no sample_weight=.")


# The exact trade-off between precision and recall over score and uncertainty.


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallFrontier(Tabular):
    """Every pair of true and false positives that no boundary of the same levels and cuts improves on.

    Made by :func:`precision_recall_frontier`.

    Parameters
    ----------
    true_positives, false_positives : ndarray of int
        Both strictly increasing, from (0, 0) on or from the first positives that cost nothing.
    total_positives, total : int
        Positives and rows in all.
    cuts : ndarray
        Between the uncertainty levels.

    Examples
    --------
    >>> from stakes.boundary import precision_recall_frontier
    >>> frontier = precision_recall_frontier([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6], [1, 1, 1, 2], levels=2)
    >>> frontier
    PrecisionRecallFrontier(1 undominated points, 3 positives among 4 rows)
    >>> frontier.max_recall(1)
    1.0
    """

    true_positives: Ints
    false_positives: Ints
    total_positives: int
    total: int
    cuts: Floats
    _node: Node
    _options: FitOptions

    @property
    def recall(self) -> Floats:
        """Recall at each point (nan without positives)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.true_positives / np.float64(self.total_positives))

    @property
    def precision(self) -> Floats:
        """Precision at each point (nan where nothing is selected)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.true_positives / (self.true_positives + self.false_positives))

    def max_recall(self, min_precision: float | Fraction | str) -> float:
        """Largest recall with at least this precision.

        Parameters
        ----------
        min_precision : float, Fraction or str
            In (0, 1], read as written.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            For a bound outside (0, 1].

        Examples
        --------
        >>> from stakes.boundary import precision_recall_frontier
        >>> precision_recall_frontier([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1, 1, 1, 1]).max_recall(0.6)
        1.0
        """
        return self._best(min_precision) / self.total_positives if self.total_positives else math.nan

    def predict(
        self,
        score: ArrayLike,
        uncertainty: ArrayLike,
        *,
        min_precision: float | Fraction | str,
        missing: Missing = "refuse",
    ) -> NDArray[np.int64]:
        """Label rows by the boundary of largest recall with at least this precision.

        Parameters
        ----------
        score, uncertainty : array_like of shape (n,)
            Rows to decide about. Expressions of narwhals, polars, SQL or ONNX give an expression.
        min_precision : float, Fraction or str
            In (0, 1], read as written.
        missing : {"refuse", "act", "wait"}, default "refuse"
            Raise where a score or an uncertainty is missing (nan), label such rows 1, or 0; an expression is NULL where
            this would raise.

        Returns
        -------
        ndarray of int, shape (n,)

        Raises
        ------
        ValueError
            For invalid rows, and a bound outside (0, 1].

        Examples
        --------
        >>> from stakes.boundary import precision_recall_frontier
        >>> frontier = precision_recall_frontier([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1, 1, 1, 1])
        >>> frontier.predict([0.65, 0.75], [1, 1], min_precision=0.6).tolist()
        [0, 1]
        """
        chosen = trace(self._node, self._best(min_precision), self._options)
        rule = LevelRule(self.cuts, self._options.cuts[self._options.starts[:-1] + chosen])
        return rule.decide(score, uncertainty, missing)

    def _best(self, min_precision: float | Fraction | str) -> int:
        bound = as_fraction(min_precision, "min_precision")
        if not 0 < bound <= 1:
            raise ValueError(f"min_precision must lie in (0, 1], got {min_precision}{in_percent(bound)}.")
        a, b = bound.numerator, bound.denominator
        for tp, fp in zip(self.true_positives[::-1].tolist(), self.false_positives[::-1].tolist(), strict=True):
            if b * tp >= a * (tp + fp):
                return int(tp)
        return 0

    def _records(self) -> list[dict[str, Any]]:
        names = ("true_positives", "false_positives", "precision", "recall")
        columns = [getattr(self, name).tolist() for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def __repr__(self) -> str:
        return (
            f"PrecisionRecallFrontier({len(self.true_positives)} undominated points, {self.total_positives} positives "
            f"among {self.total} rows)"
        )


def precision_recall_frontier(
    y_true: ArrayLike,
    y_score: ArrayLike,
    uncertainty: ArrayLike,
    *,
    levels: int | ArrayLike = 3,
    score_bins: int | None = None,
    binning: Literal["equal_weight", "equal_span", "equal_positive", "unbinned"] = "equal_weight",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> PrecisionRecallFrontier:
    """Find every precision and recall within reach of thresholds by uncertainty level.

    Parameters
    ----------
    y_true, y_score, uncertainty : array_like of shape (n,)
        As in :func:`fit_boundary`.
    levels, score_bins, binning, sample_weight, pos_label
        As in :func:`fit_boundary`.

    Returns
    -------
    PrecisionRecallFrontier
        Every undominated pair, not only those on the convex hull.

    Raises
    ------
    ValueError
        For invalid arguments.

    Notes
    -----
    The (min, +) convolution of the levels' own curves, merged pairwise; large merges walk from the minimiser of the
    convex minorants and stop where these leave no room for less. Time grows with the square of the number of positives
    at worst, a few per cent of that on real data.

    Examples
    --------
    >>> from stakes.boundary import precision_recall_frontier
    >>> y = [1, 1, 0, 1, 0, 0, 1, 0]
    >>> score = [0.9, 0.8, 0.7, 0.6, 0.9, 0.8, 0.7, 0.6]
    >>> precision_recall_frontier(y, score, [1, 1, 1, 1, 2, 2, 2, 2], levels=2).recall.tolist()
    [0.5, 0.75, 1.0]
    """
    score_bins = _problem.check_binning(binning, score_bins)
    cuts = _problem.check_levels(levels)
    rows = _problem.check_rows(y_true, y_score, uncertainty, sample_weight=sample_weight, pos_label=pos_label)
    cuts = _problem.level_cuts(rows, cuts, binning)
    options = _problem.rows_to_options(rows, cuts, binning, score_bins)
    node = frontier_of(options)
    later = np.minimum.accumulate(node.fewest[::-1])[::-1]
    kept = np.flatnonzero((node.fewest < NEVER) & np.append(node.fewest[:-1] < later[1:], True))
    return PrecisionRecallFrontier(kept, node.fewest[kept], options.total_positives, options.total, cuts, node, options)
