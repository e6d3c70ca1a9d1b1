"""Estimators refitted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.base import validation
from stakes.core.options import Options
from stakes.core.score_table import ScoreTable
from stakes.costs import CostDistribution, CostsLike, Scale, as_costs
from stakes.evaluation._evaluate import evaluate
from stakes.inference import Comparison, CostRows, Selection, check_contest, check_dependence, select
from stakes.metrics import roc_auc_score
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import REFERENCES, level_name, number, shorten

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.evaluation._evaluation import Evaluation

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]


# What an estimator is judged by, checked before it is fitted: it, its rows and their labels.

_LONGEST = 80


def check_fittable(estimator: Any, X: Any, y: ArrayLike) -> NDArray[Any]:
    """Return the labels, or raise where the estimator cannot be fitted to the rows and them."""
    from stakes.base.estimators import check_gives_probabilities  # brings scikit-learn

    check_gives_probabilities(estimator)
    _refuse_own_rule(estimator)
    target = _check_target(y)
    _check_rows(X, len(target))
    return target


def _refuse_own_rule(estimator: Any) -> None:
    """Refuse a classifier whose decisions are not those that its probabilities and the costs lead to."""
    from stakes.base.estimators import follows_own_rule, innermost

    inner = innermost(estimator)
    if follows_own_rule(inner):
        raise ValueError(
            f"estimator must leave decisions to its probabilities and costs=, got {type(inner).__name__}, whose own "
            "rule would not be judged: pass the estimator in it, or give evaluate the decisions of cross_val_predict "
            "of scikit-learn, as scores of 0 and 1."
        )


def _check_target(y: ArrayLike) -> NDArray[Any]:
    """Labels, one for each row of X, or raise."""
    target = validation.to_array(y, "y")
    if target.ndim != 1:
        raise ValueError(f"y must be 1-D, one label per row of X, got shape {target.shape}.")
    return target


def both_classes(y: Bools) -> Bools:
    """Return the labels, or raise where one class is all there is."""
    if y.all() or not y.any():
        raise ValueError(f"y must hold both classes, got {len(y)} rows of one class: nothing can be fitted to them.")
    return y


def _check_rows(X: Any, length: int) -> None:
    """Refuse rows of which there is not one for each label."""
    shape = getattr(X, "shape", None)
    rows = None
    if isinstance(shape, tuple):
        rows = int(shape[0]) if shape else None
    elif isinstance(X, Sequence) and not isinstance(X, (str, bytes)):
        rows = len(X)
    if rows is None:
        shown = shorten(repr(X), _LONGEST)
        raise ValueError(f"X must hold one row per label, as an array or a data frame, got {shown}.")
    if rows != length:
        raise ValueError(f"X must hold one row per label of y, got {rows} rows for {length} labels.")


# What a model that is fitted to all rows will cost on new ones: estimates that fit it again and again.

METHODS = ("cv", "harrell", "632+")
_MOST_OVERFITTING = 0.5  # beyond, the bootstrap of Harrell removes half of the optimism at best
_FEW_EVENTS = 100
_TRIES = 1000


class Plus(NamedTuple):
    """The .632 and .632+ estimates, and what the second rests on."""

    plain: float
    overfitting: float
    weight: float
    estimate: float


def plus632(apparent: float, out_of_bag: float, no_information: float) -> Plus:
    """Efron and Tibshirani (1997): the more a model overfits, the more its out-of-bag loss counts."""
    capped, room = min(out_of_bag, no_information), no_information - apparent
    overfitting = 0.0
    if room > 0.0 and capped > apparent:  # two losses that are infinite are the same
        overfitting = 1.0 if capped == no_information else (capped - apparent) / room
    weight = 0.632 / (1.0 - 0.368 * overfitting)
    plain = 0.368 * apparent + 0.632 * out_of_bag
    return Plus(plain, overfitting, weight, (1.0 - weight) * apparent + weight * capped)


@dataclass(frozen=True, eq=False, repr=False)
class Refit(Tabular):
    """Answer of :func:`evaluate_estimator`.

    Parameters
    ----------
    cost : float
        Expected cost, on new rows, of the model fitted to all rows.
    interval : tuple of float
        From the spread of the rows' cross-validated costs.
    standard_error : float
        Of the same.
    apparent : float
        Cost of the model on the rows that it was fitted to.
    auc : float
        Averaged over the test folds of cross-validation; nan where no fold holds both classes.
    method : str
        "cv", "harrell" or "632+".
    overfitting : float
        Relative overfitting of the bootstrap, from 0 to 1; nan for "cv".
    rows : CostRows
        Cross-validated cost of each row, in one repeat, for comparisons.
    y_prob : ndarray of shape (n,)
        Its probability in that repeat, by a model fitted without it.
    confidence_level : float
        Of the interval.
    costs : CostDistribution
        How much each cost ratio counted.
    scale : str
        "regret", "integral" or "loss".
    note : str
        Why the interval is only approximate, or why there is none; empty otherwise.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from stakes.evaluation import evaluate_estimator
    >>> X, y = make_classification(300, weights=[0.5], random_state=0)
    >>> found = evaluate_estimator(LogisticRegression(), X, y, costs=(0.1, 0.5), repeats=1)
    >>> found.optimism > 0.0
    True
    """

    cost: float
    interval: tuple[float, float]
    standard_error: float
    apparent: float
    auc: float
    method: str
    overfitting: float
    rows: CostRows
    y_prob: Floats
    confidence_level: float
    costs: CostDistribution
    scale: Scale
    note: str = ""

    def evaluation(self, name: str = "model") -> Evaluation:
        """Evaluate the cross-validated probabilities: tables, curves, findings and the report.

        Parameters
        ----------
        name : str, default "model"
            What to call the estimator.

        Returns
        -------
        Evaluation
            Of one repeat of cross-validation, whatever ``method`` was asked for, so that its cost differs from
            :attr:`cost`; its rank statistics pool the scores of different fits, which rank a little too low together.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> from stakes.evaluation import evaluate_estimator
        >>> X, y = make_classification(300, weights=[0.5], random_state=0)
        >>> found = evaluate_estimator(LogisticRegression(), X, y, costs=(0.1, 0.5), repeats=1)
        >>> found.evaluation("logistic").models
        ('logistic',)
        """
        return evaluate(
            self.rows.y,
            {name: self.y_prob},
            costs=self.costs,
            scale=self.scale,
            clusters=self.rows.clusters,
            confidence_level=self.confidence_level,
        )

    @property
    def optimism(self) -> float:
        """How much better the model looks on its own rows."""
        return self.cost - self.apparent

    def compare(self, other: Refit, names: tuple[str, str] = ("a", "b")) -> Comparison:
        """Compare the cross-validated costs of two estimators on the same rows.

        Parameters
        ----------
        other : Refit
            Of another estimator, on the same rows.
        names : tuple of str, default ("a", "b")
            What to call the two.

        Returns
        -------
        Comparison
            This less the other: negative means that this costs less.

        Raises
        ------
        ValueError
            If the rows differ, or how costs count.

        Notes
        -----
        The error allows for fits to other rows, as of Nadeau and Bengio 2003, doi:10.1023/A:1024068626366: the variance
        that the rows show is multiplied by 1 + rows / rows of a fit. With that of the rows alone, pairs of estimators
        that cost the same on average were told apart in up to 10% of samples of 250 rows, and pairs of trees in up to
        16% of samples of 1,000 (nominal 5%).

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.dummy import DummyClassifier
        >>> from sklearn.linear_model import LogisticRegression
        >>> from stakes.evaluation import evaluate_estimator
        >>> X, y = make_classification(300, weights=[0.5], random_state=0)
        >>> models = LogisticRegression(), DummyClassifier()
        >>> a, b = (evaluate_estimator(model, X, y, costs=(0.1, 0.5), repeats=1) for model in models)
        >>> a.compare(b).significant
        True
        """
        self.check_alike(other, "other")
        both = np.concatenate([self.rows.costs, other.rows.costs], axis=1)
        largest = np.concatenate([self.rows.largest, other.rows.largest], axis=1)
        inflation = max(self.rows.inflation, other.rows.inflation)
        rows = replace(self.rows, costs=both, largest=largest, inflation=inflation)
        spread = rows.spread(np.array([0]), np.array([1]))
        gap, half = self.cost - other.cost, float(_reach(rows, 0, 1, self.confidence_level))
        if gap == 0.0 and np.array_equal(self.y_prob, other.y_prob):
            half = 0.0  # the same scores have no difference that other rows could show
        p_value = min(2.0 * float(spread.tail(np.array([abs(gap)]))[0]), 1.0)
        error, most = float(np.sqrt(spread.variance[0])), max(float(largest.max()), abs(gap))
        ends = max(gap - half, -most), min(gap + half, most)
        return Comparison(*names, gap, error, ends, p_value, "cost", self.confidence_level)

    def check_alike(self, other: Refit, name: str) -> None:
        """Refuse another estimator that was judged by other rows or other costs."""
        if not np.array_equal(self.rows.y, other.rows.y):
            raise ValueError(f"{name} must be of the same rows: the labels differ.")
        if not _same(self.rows.clusters, other.rows.clusters):
            raise ValueError(f"{name} must be of the same rows: the clusters differ.")
        if (self.costs, self.scale) != (other.costs, other.scale):
            theirs, ours = (f"{each.costs!r} on the scale {each.scale!r}" for each in (other, self))
            raise ValueError(f"{name} must be judged by the same costs, got {theirs} beside {ours}.")

    def _records(self) -> list[dict[str, Any]]:
        ends = {"ci_low": self.interval[0], "ci_high": self.interval[1]}
        own = {"method": self.method, "cost": self.cost, "standard_error": self.standard_error, **ends}
        rest = {"apparent": self.apparent, "optimism": self.optimism, "auc": self.auc, "note": self.note}
        return [own | rest | {"overfitting": self.overfitting}]

    def __repr__(self) -> str:
        low, high = (number(end) for end in self.interval)
        sure = f"{level_name(self.confidence_level)} interval {low} to {high}{', approximate' if self.note else ''}"
        sure = "no interval" if math.isnan(self.interval[0]) else sure
        return f"Refit(cost {number(self.cost)}, {sure}; apparent {number(self.apparent)}, AUC {self.auc:.3f})"


def evaluate_estimator(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    costs: CostsLike,
    method: str = "cv",
    cv: Any = 10,
    repeats: int = 5,
    n_resamples: int = 100,
    scale: Scale | None = None,
    pos_label: object = None,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: int | np.random.Generator | None = 0,
) -> Refit:
    """Say what an estimator, fitted to all these rows, will cost on new ones.

    Parameters
    ----------
    estimator : classifier or pipeline with ``predict_proba``
        Cloned and fitted anew each time; any selection or tuning belongs inside it. It is judged by the decisions that
        its probabilities and ``costs`` lead to, so that one with a threshold or rule of its own is refused.
    X : array_like of shape (n, n_features)
        Rows, as the estimator takes them.
    y : array_like of shape (n,)
        Labels with two values.
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts.
    method : {"cv", "harrell", "632+"}, default "cv"
        Repeated cross-validation, stratified; Harrell's bootstrap of the optimism; or the .632+ bootstrap. The two
        bootstraps refuse an estimator with folds inside, as searches and calibration have (a parameter ``cv``): these
        would divide the copies of a row.
    cv : int, splitter or its folds, default 10
        Of the cross-validation: folds are pairs of row numbers, to fit to and to judge, in a list or as they come. Any
        that divide ``clusters`` are refused.
    repeats : int, default 5
        Of the cross-validation.
    n_resamples : int, default 100
        Of the bootstrap.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    pos_label : object, optional
        The label of the positive class.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients: none is divided between fitting and judging, and errors are theirs.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).
    n_jobs : int, optional
        Fits at the same time, by joblib.
    verbose : int, default 0
        How much joblib tells of how far the fits are: 1 now and then, 11 and more each of them.
    random_state : int, numpy Generator or None, default 0
        For folds and resamples, which go by the place of the rows.

    Returns
    -------
    Refit

    Raises
    ------
    ValueError
        For invalid data or settings, a classifier that decides by a rule of its own, a bootstrap of an estimator that
        divides its rows into folds, and ``method="harrell"`` where the estimator overfits so much that half of the
        optimism or more would be left.

    Notes
    -----
    Costs are pooled over the rows, which for a mean is the same as averaging the folds by size; the AUC is averaged
    within folds, since pooled scores of different fits rank too low. The standard error is that of one repeat's rows:
    repeats do not make the rows more, nor hold how the fit varies: in simulations, of 95% intervals 92 to 94% held what
    the fitted model cost. What is estimated is the average model fitted to so many rows. Steyerberg et al. 2001,
    doi:10.1016/S0895-4356(01)00341-9; Efron and Tibshirani 1997, doi:10.1080/01621459.1997.10474007.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from stakes.evaluation import evaluate_estimator
    >>> X, y = make_classification(300, weights=[0.5], random_state=0)
    >>> evaluate_estimator(LogisticRegression(), X, y, costs=(0.1, 0.5), repeats=2)
    Refit(cost ..., 95% interval ... to ...; apparent ..., AUC ...)
    """
    validation.check_same_order(X=X, y=y, clusters=clusters)
    validation.check_choice(method, "method", METHODS)
    asked = Options(costs=as_costs(costs), confidence_level=confidence_level, scale=scale).checked()
    target = check_fittable(estimator, X, y)
    if method != "cv":
        _refuse_folds(estimator, method)
    task = _Task(estimator, X, target, both_classes(validation.check_labels(target, pos_label)), asked, n_jobs, verbose)
    codes, rng = check_dependence(clusters, None, len(target))[0], validation.generator(random_state)
    cv = list(cv) if isinstance(cv, Iterator) else cv
    splits = list(task.splits(cv, validation.check_whole(repeats, "repeats", 1), codes, rng))
    losses, y_prob, auc = task.cross_validated(splits, int(repeats))
    rows = task.rows(losses[0], codes, float(np.mean([len(fit) for fit, _ in splits])))
    apparent_prob = task.scores(np.arange(len(target)), np.arange(len(target)))
    apparent = task.mean_loss(apparent_prob, task.y)
    cost, overfitting = float(losses.mean()), math.nan
    if method != "cv":
        drawn = task.bootstrap(validation.check_whole(n_resamples, "n_resamples", 1), codes, rng)
        plus = plus632(apparent, drawn.out_of_bag, task.no_information(apparent_prob))
        cost, overfitting = plus.estimate, plus.overfitting
        if method == "harrell":
            _refuse_overfitting(overfitting)
            cost = apparent + drawn.optimism
    half, error = _reach(rows, 0, -1, asked.confidence_level), float(np.sqrt(rows.covariance()[0, 0]))
    half = half if math.isfinite(cost) else math.nan
    judged = (rows, y_prob, asked.confidence_level, asked.costs, asked.scale, _note(task.y, cost))
    ends = max(cost - half, 0.0), min(cost + half, max(float(rows.largest.max()), cost))
    return Refit(cost, ends, error, apparent, auc, method, overfitting, *judged)


def _are_folds(cv: Any) -> bool:
    """Whether this is a list of rows to fit and to judge, as ``list(splitter.split(X, y))`` gives."""
    pairs = isinstance(cv, list | tuple) and bool(cv)
    return pairs and all(isinstance(fold, list | tuple) and len(fold) == 2 for fold in cv)


def _same(first: Integers | None, second: Integers | None) -> bool:
    """Whether two sets of clusters are the same rows together."""
    if first is None or second is None or len(first) != len(second):
        return first is second
    pairs = np.unique(np.stack([first, second]), axis=1).shape[1]
    return bool(pairs == len(np.unique(first)) == len(np.unique(second)))


def _refuse_folds(estimator: Any, method: str) -> None:
    """Refuse to resample the rows of an estimator that divides them itself."""
    from stakes.base.estimators import part_with_folds

    part = part_with_folds(estimator)
    if part is not None:
        raise ValueError(
            f'method="{method}" is refused: resamples hold copies of rows, which folds within {type(part).__name__} '
            'would divide, so that what they judge was fitted to the same rows. Use method="cv".'
        )


def _refuse_overfitting(overfitting: float) -> None:
    if overfitting > _MOST_OVERFITTING:
        raise ValueError(
            f'method="harrell" is refused: the estimator overfits (relative overfitting {overfitting:.2f}, above '
            f'{_MOST_OVERFITTING:g}), and this bootstrap would leave much of its optimism. Use method="cv" or "632+".'
        )


def _note(y: Bools, cost: float) -> str:
    if math.isinf(cost):
        return "there is no interval: a probability of 0 or 1 was wrong, which costs infinitely much"
    events = int(min(np.count_nonzero(y), np.count_nonzero(~y)))
    return "" if events >= _FEW_EVENTS else f"the interval is approximate: the rarer class has {events} rows"


def _reach(rows: CostRows, first: int, second: int, level: float) -> float:
    spread = rows.spread(np.array([first]), np.array([second]))
    return float(spread.reach(NormalDist().inv_cdf(0.5 + level / 2.0))[0])


class _Drawn(NamedTuple):
    """What resamples tell."""

    optimism: float
    out_of_bag: float


@dataclass(frozen=True, eq=False, repr=False)
class _Task:
    """An estimator, its rows, and how their costs count."""

    estimator: Any
    X: Any
    labels: NDArray[Any]
    y: Bools
    asked: Options
    n_jobs: int | None
    verbose: int

    def scores(self, fit: Integers, judge: Integers) -> Floats:
        """Probabilities of some rows by a model fitted to others."""
        from sklearn.utils import _safe_indexing

        from stakes.base.estimators import unfitted

        model = unfitted(self.estimator).fit(_safe_indexing(self.X, fit), self.labels[fit])
        columns = np.asarray(model.predict_proba(_safe_indexing(self.X, judge)), dtype=np.float64)
        positive = self.labels[np.argmax(self.y)]
        return np.asarray(columns[:, int(np.flatnonzero(model.classes_ == positive)[0])])

    def all_scores(self, pairs: list[tuple[Integers, Integers]]) -> list[Floats]:
        """Scores for many pairs of rows to fit and to judge."""
        from sklearn.utils.parallel import Parallel, delayed

        found: list[Floats] = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
            delayed(self.scores)(*pair) for pair in pairs
        )
        return found

    def row_losses(self, prob: Floats, y: Bools) -> Floats:
        return np.asarray(self.asked.factor * self.asked.costs.row_loss(y, prob))

    def mean_loss(self, prob: Floats, y: Bools) -> float:
        return float(self.row_losses(prob, y).mean())

    def no_information(self, prob: Floats) -> float:
        """Mean loss of every score with every label."""
        both = [self.mean_loss(prob, np.full(len(prob), label)) for label in (False, True)]
        share = float(self.y.mean())
        return (1.0 - share) * both[0] + share * both[1]

    def splits(
        self, cv: Any, repeats: int, codes: Integers | None, rng: np.random.Generator
    ) -> Iterator[tuple[Integers, Integers]]:
        """Rows to fit and to judge, repeat after repeat."""
        from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

        for _ in range(repeats):
            splitter, seed = cv, int(rng.integers(2**31))
            if not (_are_folds(cv) or hasattr(cv, "split")) or isinstance(cv, str):
                kind = StratifiedKFold if codes is None else StratifiedGroupKFold
                splitter = kind(self.folds(cv, codes), shuffle=True, random_state=seed)
            for fit, judge in self.divided(splitter, codes):
                if self.y[fit].all() or not self.y[fit].any():
                    raise ValueError(
                        f"cv must leave both classes to fit on, got {len(fit)} rows of one class: some fold holds "
                        "all rows of the other; pass fewer folds or more rows."
                    )
                yield fit, judge

    def divided(self, splitter: Any, codes: Integers | None) -> list[tuple[Integers, Integers]]:
        """Places of the rows that each fold fits to and judges, or raise where some cluster has rows in both."""
        places, none = np.arange(len(self.y)), np.zeros((len(self.y), 1))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            folds = splitter if _are_folds(splitter) else splitter.split(none, self.y, codes)
            try:
                pairs = [(places[fit], places[judge]) for fit, judge in folds]
            except IndexError as error:
                raise ValueError(
                    f"cv must hold folds of row numbers from 0 to {len(places) - 1}, two lists of them each: {error}."
                ) from error
            except ValueError as error:
                if codes is None and "'groups' parameter" in str(error):
                    raise ValueError(f"clusters must be given for cv={splitter!r}, which divides by them.") from error
                raise
        for fit, judge in pairs:
            both = 0 if codes is None else len(np.intersect1d(codes[fit], codes[judge]))
            if both:
                raise ValueError(
                    f"cv must not divide clusters between fitting and judging, got a fold of {type(splitter).__name__} "
                    f"with rows of {both} in both: pass a number of folds, GroupKFold or StratifiedGroupKFold."
                )
        return pairs

    def folds(self, cv: Any, codes: Integers | None) -> int:
        """A number of folds that the rows, and the clusters, can be divided into, or raise."""
        count = validation.check_whole(cv, "cv", 2)
        most = int(max(np.count_nonzero(self.y), np.count_nonzero(~self.y)))
        if count > most:
            raise ValueError(f"cv must be at most the {most} rows of the commoner class, got {count}.")
        if codes is not None and count > (clusters := int(codes.max()) + 1):
            raise ValueError(f"cv must be at most the {clusters} clusters, none of which is divided, got {count}.")
        return count

    def cross_validated(self, pairs: list[tuple[Integers, Integers]], repeats: int) -> tuple[Floats, Floats, float]:
        """Loss of each row in each repeat, its probability in the first, and the AUC averaged over folds."""
        losses, per = np.full((repeats, len(self.y)), np.nan), len(pairs) // repeats
        areas, first = [], np.full(len(self.y), np.nan)
        for repeat in range(repeats):
            times = np.zeros(len(self.y), dtype=np.intp)
            for _, test in pairs[repeat * per : (repeat + 1) * per]:
                np.add.at(times, test, 1)
            if np.any(times != 1):
                none, several = int(np.count_nonzero(times == 0)), int(np.count_nonzero(times > 1))
                raise ValueError(
                    f"cv must put every row into a test fold once, got {none} rows in none and {several} in several: "
                    "with a number of folds, repeats= divides the rows anew."
                )
        for place, (prob, (_, test)) in enumerate(zip(self.all_scores(pairs), pairs, strict=True)):
            losses[place // per, test] = self.row_losses(prob, self.y[test])
            first[test] = prob if place < per else first[test]
            if self.y[test].any() and not self.y[test].all():
                areas.append(roc_auc_score(ScoreTable.from_sample(validation.BinarySample(self.y[test], prob, None))))
        return losses, first, float(np.mean(areas)) if areas else math.nan

    def bootstrap(self, n_resamples: int, codes: Integers | None, rng: np.random.Generator) -> _Drawn:
        """Mean optimism of models fitted to resamples, and mean loss of the rows left out."""
        drawn = [self._resample(codes, rng) for _ in range(n_resamples)]
        everyone = np.arange(len(self.y))
        gaps, sums, counts = [], np.zeros(len(self.y)), np.zeros(len(self.y))
        for rows, prob in zip(drawn, self.all_scores([(rows, everyone) for rows in drawn]), strict=True):
            losses = self.row_losses(prob, self.y)
            mean = float(losses.mean())
            gaps.append(mean - float(losses[rows].mean()) if math.isfinite(mean) else mean)
            out = np.setdiff1d(everyone, rows)
            sums[out] += losses[out]
            counts[out] += 1.0
        seen = counts > 0.0
        if not seen.any():
            raise ValueError(f"resamples must leave some rows out, and {n_resamples} left out none: ask for more.")
        return _Drawn(float(np.mean(gaps)), float((sums[seen] / counts[seen]).mean()))

    def _resample(self, codes: Integers | None, rng: np.random.Generator) -> Integers:
        """Rows drawn with replacement, whole clusters at once, until both classes are there."""
        for _ in range(_TRIES):
            if codes is None:
                rows = rng.integers(len(self.y), size=len(self.y))
            else:
                kinds = int(codes.max()) + 1
                members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
                rows = np.concatenate([members[k] for k in rng.integers(kinds, size=kinds)])
            if self.y[rows].any() and not self.y[rows].all():
                return np.asarray(rows)
        raise ValueError("y must hold enough rows of both classes to resample them.")

    def rows(self, losses: Floats, codes: Integers | None, fitted: float) -> CostRows:
        """Costs of the rows, as estimates of means take them, by fits to so many rows each on average."""
        measure, factor = self.asked.costs, self.asked.factor
        ends = [float(measure.negative_loss(np.inf)), float(measure.positive_loss(-np.inf))]
        largest = factor * np.array(ends)[:, None]
        n = len(self.y)
        return CostRows(losses[:, None], self.y, np.ones(n), codes, largest, inflation=1.0 + n / fitted)


# Which estimator is best, said so that having picked it by its cross-validated cost does not make it false.


def select_estimator(
    estimators: Mapping[str, Refit],
    *,
    incumbent: str | None = None,
    references: bool = True,
    n_tried: int | None = None,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Selection:
    """Pick the estimator with the lowest cross-validated cost, and say what may be said of it although it was picked.

    Parameters
    ----------
    estimators : mapping of str to Refit
        What :func:`evaluate_estimator` found for each, on the same rows and by the same costs.
    incumbent : str, optional
        An estimator that was named before these rows were seen.
    references : bool, default True
        Whether "treat all" and "treat none" compete too.
    n_tried : int, optional
        How many estimators were tried on these rows, those not shown included.
    confidence_level : float, default 0.95
        Of the set of possible best decisions and of the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For draws from the normal distribution of the errors.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        For estimators judged by other rows, by other costs, or not by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from stakes.evaluation import evaluate_estimator, select_estimator
    >>> X, y = make_classification(300, weights=[0.5], random_state=0)
    >>> models = {"logistic": LogisticRegression(), "prevalence": DummyClassifier()}
    >>> found = {name: evaluate_estimator(model, X, y, costs=(0.1, 0.5), repeats=1) for name, model in models.items()}
    >>> select_estimator(found).possible
    ('logistic',)
    """
    level = validation.check_level(confidence_level)
    names = _checked(estimators)
    n_tried = check_contest(names, incumbent, n_tried)
    refits = list(estimators.values())
    rows = _together(refits, references=validation.check_flag(references, "references"))
    costs = rows.means
    costs[: len(refits)] = [refit.cost for refit in refits]  # of all repeats; the rows are those of one
    everyone = (*names, *REFERENCES[: len(costs) - len(names)])
    return select(
        replace(rows.contest(everyone, len(names)), means=costs),
        incumbent=incumbent,
        n_tried=n_tried,
        confidence_level=level,
        random_state=random_state,
        scale=refits[0].scale,
        where="Fitted to all rows, as judged by cross-validation, ",
    )


def _checked(estimators: Mapping[str, Refit]) -> tuple[str, ...]:
    """Names of the estimators, or raise."""
    if not hasattr(estimators, "items") or not estimators:
        raise ValueError(f"estimators must map at least one name to a Refit, got {estimators!r}.")
    for name, refit in estimators.items():
        where = f"estimators[{name!r}]"
        if not isinstance(refit, Refit):
            raise ValueError(f"{where} must be what evaluate_estimator returns, got {type(refit).__name__}.")
        if name in REFERENCES:
            raise ValueError(f"estimators must not call one {name!r}: that names a reference.")
        if refit.method != "cv":
            raise ValueError(
                f'{where} must be judged by method="cv", whose errors are those of rows, got {refit.method!r}.'
            )
        next(iter(estimators.values())).check_alike(refit, where)
    return tuple(validation.by_name(estimators, "estimators"))


def _together(refits: list[Refit], *, references: bool) -> CostRows:
    """Rows of all estimators, then of treating all and no one."""
    own = refits[0].rows
    always, never = own.largest[:, 0]
    ends = np.stack([np.where(own.y, 0.0, always), np.where(own.y, never, 0.0)], axis=1)
    most = np.array([[always, 0.0], [0.0, never]])
    kept = slice(2 if references else 0)
    columns = [*(refit.rows.costs for refit in refits), ends[:, kept]]
    largest = [*(refit.rows.largest for refit in refits), most[:, kept]]
    inflation = max(refit.rows.inflation for refit in refits)
    return replace(
        own, costs=np.concatenate(columns, axis=1), largest=np.concatenate(largest, axis=1), inflation=inflation
    )
