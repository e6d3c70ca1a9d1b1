"""A scikit-learn classifier that defers uncertain rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from stakes.actions._deferral import DEFER, action_costs, at_capacity, best_pair, between, decided_at, ratio_of_costs
from stakes.base.estimators import BinaryClassifier, negative_and_positive, read_two_classes
from stakes.base.validation import BinarySample, check_capacity, check_choice, check_same_order, check_weights
from stakes.core.score_table import ScoreTable
from stakes.costs import Deferral, as_deferral

_NUMBER, _TEXT = -1, "defer"


@dataclass(eq=False, repr=False)
class DeferralClassifier(BinaryClassifier):
    """Act, do not act, or leave the row to someone else, whichever is expected to cost least.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression.
    costs : CostDistribution, tuple of float, or float, default 0.5
        The cost ratio c.
    deferral : Deferral or float, default 0.1
        What deferring costs, or its fee alone.
    capacity : int or float, optional
        How many rows are deferred at most, or which share of them in (0, 1): as on held-out folds of the training rows.
    method : {"score", "fit"}, default "score"
        Take the probabilities at face value, or fit both thresholds to held-out folds of the training rows.
    cv : int or splitter, optional
        Folds for the held-out probabilities; by default five.
    pos_label : object, optional
        The label of the positive class; by default 1 of 0 and 1 or of -1 and 1, and True. Texts need it; of other
        numbers the larger is taken, with a warning.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all rows.
    classes_ : ndarray of shape (2,)
        The labels, in ascending order.
    pos_label_ : object
        The label of the positive class.
    low_, high_ : float
        Defer where low <= p < high, act from high on.
    deferred_label_ : int or str
        What ``predict`` returns for a row deferred: -1, or "defer" where labels are text.

    Notes
    -----
    Its ``score``, and so ``GridSearchCV`` without ``scoring=``, is the mean cost, negated. Costs and fee are facts, not
    parameters to search: the best score would be that of the lowest fee.

    Of scikit-learn's ``check_estimator``, those that ask for a label of every row cannot pass where rows are deferred,
    nor ``check_classifiers_classes``, which fits to texts without ``pos_label``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from stakes.actions import DeferralClassifier
    >>> X, y = make_classification(200, weights=[0.8], random_state=0)
    >>> model = DeferralClassifier(costs=0.2, deferral=0.05).fit(X[:100], y[:100])
    >>> sorted(set(model.predict(X[100:]).tolist()))
    [-1, 0, 1]
    """

    estimator: Any = None
    _: KW_ONLY
    costs: Any = 0.5
    deferral: Deferral | float = 0.1
    capacity: float | None = None
    method: Literal["score", "fit"] = "score"
    cv: Any = None
    pos_label: object = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> DeferralClassifier:
        """Fit the estimator, and the thresholds where they are fitted.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.
        y : array_like of shape (n,)
            Labels with two values.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0, for the estimator (the last step of a pipeline) and for the thresholds.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For more than two classes, labels of which none is known to be positive, a label that means deferred, or
            invalid parameters.
        """
        check_same_order(X=X, y=y, sample_weight=sample_weight)
        check_choice(self.method, "method", ("score", "fit"))
        c = ratio_of_costs(self.costs)
        capacity = None if self.capacity is None else check_capacity(self.capacity)
        deferral = as_deferral(self.deferral)
        labels = read_two_classes(self, y)
        self.deferred_label_ = _TEXT if self.classes_.dtype.kind in "OUS" else _NUMBER
        if self.deferred_label_ in self.classes_.tolist():
            raise ValueError(f"y must not hold {self.deferred_label_!r}, which stands for rows that are deferred.")
        weight = check_weights(sample_weight, len(labels))
        self._fit_inner(X, labels, weight)
        table = None
        if self.method == "fit" or self.capacity is not None:
            held_out = self._held_out(X, labels, weight)
            used = slice(None) if weight is None else weight > 0.0
            rows = (labels == self.pos_label_)[used], held_out[used], None if weight is None else weight[used]
            table = ScoreTable.from_sample(BinarySample(*rows))
        self.low_, self.high_ = self._thresholds(table, c, deferral, capacity)
        return self

    def _thresholds(
        self, table: ScoreTable | None, c: float, deferral: Deferral, capacity: int | Fraction | None
    ) -> tuple[float, float]:
        if table is not None and self.method == "fit":
            pair = best_pair(table, c, deferral, capacity)
            return pair.low, pair.high
        if table is not None and capacity is not None:
            deferral = at_capacity(table, c, deferral, capacity)
        return decided_at(c, deferral)

    def predict(self, X: Any) -> NDArray[Any]:
        """Decide about rows.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels out of ``classes_``, and ``deferred_label_`` for the rows deferred.
        """
        actions = between(self._positive_prob(X), self.low_, self.high_)
        classes = negative_and_positive(self)
        if not np.any(actions == DEFER):
            return classes[actions]
        kind = object if self.deferred_label_ == _TEXT else np.result_type(classes, np.int8)
        found = classes[np.maximum(actions, 0)].astype(kind)
        found[actions == DEFER] = self.deferred_label_
        return found

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Mean cost of the decisions and of what is deferred, negated, so that higher is better.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.
        y : array_like of shape (n,)
            Labels out of ``classes_``.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.

        Returns
        -------
        float
            At most 0. A false positive costs the mean c of ``costs``, a false negative 1 - c, and a row deferred what
            ``deferral`` says.

        Raises
        ------
        ValueError
            For labels that were not fitted to.
        """
        check_same_order(X=X, y=y, sample_weight=sample_weight)
        check_is_fitted(self)
        labels, known = column_or_1d(y), self.classes_.tolist()
        unknown = [label for label in labels.tolist() if label not in known]
        if unknown:
            raise ValueError(
                f"y must hold labels of the training rows, {known[0]!r} and {known[1]!r}, got {unknown[0]!r}."
            )
        actions = between(self._positive_prob(X), self.low_, self.high_)
        c, deferral = ratio_of_costs(self.costs), as_deferral(self.deferral)
        cost = action_costs(labels == self.pos_label_, actions, c, deferral)
        return -float(np.average(cost, weights=check_weights(sample_weight, len(labels))))
