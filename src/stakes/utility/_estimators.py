"""Scikit-learn classifiers that maximise a measure: on each batch, or by a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from stakes.base.estimators import BinaryClassifier, negative_and_positive, read_two_classes
from stakes.base.validation import Floats, check_choice, check_same_order, check_weights, check_whole
from stakes.outcomes import RowCosts
from stakes.utility._expected import ExpectedUtility, expected_utility
from stakes.utility._exponential import Correction, clean_probabilities, decide
from stakes.utility._measures import Measure, get_measure
from stakes.utility._population import PopulationThreshold, population_threshold


@dataclass(eq=False, repr=False)
class ExpectedUtilityClassifier(BinaryClassifier):
    """Decide for the batch at hand: maximise the expected value of a measure over the rows given to ``predict``.

    .. warning::
        With ``mode="batch"`` the decision for a row depends on the other rows of the call: ``predict`` on one row is
        not the same as on a thousand. Use ``batch_size`` to fix the batches, or ``mode="frozen"`` to decide row by row.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression.
    measure : Measure or str, default "f1"
        What to maximise.
    cv : int or splitter, optional
        Folds for calibration, and for the held-out probabilities of ``mode="frozen"``.
    calibrate : {"sigmoid", "isotonic"}, optional
        Calibrate the estimator by cross-validation first. The expectation is only as good as the probabilities.
    mode : {"batch", "frozen"}, default "batch"
        "frozen" takes the threshold that is best for the training rows, by held-out probabilities, and keeps it.
    batch_size : int, optional
        Decide for consecutive batches of so many rows; by default all rows are one batch.
    zero_division : float, default 0
        Value of the measure in place of 0/0.
    correction : callable, optional
        Function from the estimator's probabilities of the positive class to better ones, such as an undone class weight
        or a shifted prior.
    pos_label : object, optional
        The label of the positive class; by default 1 of 0 and 1 or of -1 and 1, and True. Texts need it; of other
        numbers the larger is taken, with a warning.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one, calibrated if asked.
    classes_ : ndarray of shape (2,)
        The labels, in ascending order.
    pos_label_ : object
        The label of the positive class.
    threshold_ : float
        With ``mode="frozen"``: act where the probability reaches it (for a measure that falls with the true positives:
        where it is at most that).

    Notes
    -----
    arXiv:1505.01802. Of scikit-learn's ``check_estimator``, three checks cannot pass: ``check_classifiers_classes``,
    which fits to texts without ``pos_label``; ``check_classifiers_train``, which asks for decisions at probability one
    half; and with ``mode="batch"`` ``check_methods_subset_invariance``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from stakes.utility import ExpectedUtilityClassifier, F1
    >>> X, y = make_classification(200, weights=[0.9], random_state=0)
    >>> model = ExpectedUtilityClassifier(measure=F1()).fit(X[:100], y[:100])
    >>> int(model.predict(X[100:]).sum())
    14
    """

    estimator: Any = None
    measure: Measure | str = "f1"
    _: KW_ONLY
    cv: Any = None
    calibrate: Literal["sigmoid", "isotonic"] | None = None
    mode: Literal["batch", "frozen"] = "batch"
    batch_size: int | None = None
    zero_division: float = 0.0
    correction: Correction | None = None
    pos_label: object = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ExpectedUtilityClassifier:
        """Fit the estimator, and the threshold with ``mode="frozen"``.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.
        y : array_like of shape (n,)
            Labels with two values.
        sample_weight : array_like of shape (n,), optional
            Passed to the estimator (to the last step of a pipeline). The expected utility counts every row once.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For more than two classes, labels of which none is known to be positive, or invalid parameters.
        """
        check_same_order(X=X, y=y, sample_weight=sample_weight)
        check_choice(self.mode, "mode", ("batch", "frozen"))
        if self.batch_size is not None:
            check_whole(self.batch_size, "batch_size", 1)
        get_measure(self.measure)
        labels = read_two_classes(self, y)
        weight = check_weights(sample_weight, len(labels))
        self._fit_inner(X, labels, weight)
        if self.mode == "frozen":
            solved = self._solve(self._held_out(X, labels, weight))
            self.threshold_, self._descending = solved.threshold, solved.ranking.descending
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Decide about these rows together (``mode="frozen"``: one by one).

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels out of ``classes_``.
        """
        prob, classes = self._positive_prob(X), negative_and_positive(self)
        if self.mode == "frozen":
            corrected = clean_probabilities(prob, self.correction)
            return classes[decide(corrected, self.threshold_, len(prob), descending=self._descending)]
        size = max(len(prob), 1) if self.batch_size is None else check_whole(self.batch_size, "batch_size", 1)
        parts = [self._solve(prob[start : start + size]).predict() for start in range(0, len(prob), size)]
        return classes[np.concatenate([*parts, np.empty(0, dtype=int)]).astype(int)]

    def expected_utility(self, X: Any) -> ExpectedUtility:
        """Result for these rows as one batch: the curve, the bound on its error, the certificate.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ExpectedUtility
        """
        return self._solve(self._positive_prob(X))

    def _model(self) -> Any:
        if self.calibrate is None:
            return self._inner()
        return CalibratedClassifierCV(self._inner(), method=self.calibrate, cv=self.cv)

    def _fitted(self, model: Any, X: Any, y: NDArray[Any], sample_weight: Floats | None) -> Any:
        if self.calibrate is not None:
            (rows,), folds = indexable(X), check_cv(self.cv, y, classifier=True)
            for _ in self._splits(folds, rows, y, self._inner()):
                pass
            if isinstance(self.cv, Iterator):  # which has now been gone through
                model.set_params(cv=folds)
        return super()._fitted(model, X, y, sample_weight)

    def _solve(self, prob: Floats) -> ExpectedUtility:
        return expected_utility(prob, self.measure, zero_division=self.zero_division, correction=self.correction)


@dataclass(eq=False, repr=False)
class PlugInThresholdClassifier(BinaryClassifier):
    """Decide by the threshold whose measure is best on held-out folds of the training rows.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression.
    measure : Measure or str, default "f1"
        What to maximise. "money" minimises what decisions cost, by the amounts of each row that :meth:`fit` is given.
    cv : int or splitter, optional
        Folds for the held-out probabilities; by default five.
    zero_division : float, default 0
        Value of the measure in place of 0/0.
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
    population_threshold_ : PopulationThreshold
        The scan of the held-out probabilities; for "money" its value is the share of what is at stake that decisions
        do not lose.
    threshold_ : float
        Act where the probability reaches it.

    Notes
    -----
    Koyejo, Natarajan, Ravikumar, Dhillon (NIPS 2014). Of scikit-learn's ``check_estimator`` it cannot pass
    ``check_classifiers_classes``, which fits to texts without ``pos_label``, and ``check_classifiers_train``, which
    asks for decisions at probability one half.

    Amounts reach it in a pipeline and in ``cross_validate`` by metadata routing:
    ``set_fit_request(false_positive=True, false_negative=True)``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from stakes.utility import PlugInThresholdClassifier
    >>> X, y = make_classification(200, weights=[0.9], random_state=0)
    >>> model = PlugInThresholdClassifier(measure="f1").fit(X, y)
    >>> 0 < model.threshold_ < 1
    True

    The cheapest threshold where a check costs 2, and a positive that is missed what its row has at stake:

    >>> amount = 1.0 + abs(X[:, 0])
    >>> cheap = PlugInThresholdClassifier(measure="money").fit(X, y, false_positive=2, false_negative=20 * amount)
    >>> cheap.threshold_ < model.threshold_
    True
    """

    estimator: Any = None
    measure: Measure | str = "f1"
    _: KW_ONLY
    cv: Any = None
    zero_division: float = 0.0
    pos_label: object = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        false_positive: ArrayLike | None = None,
        false_negative: ArrayLike | None = None,
    ) -> PlugInThresholdClassifier:
        """Find the threshold on held-out folds, then fit the estimator to all rows.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.
        y : array_like of shape (n,)
            Labels with two values.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0, for the estimator (the last step of a pipeline) and for the measure.
        false_positive, false_negative : float or array_like of shape (n,), optional
            For ``measure="money"``: what acting on a negative, and not acting on a positive, costs in each row. They
            choose the threshold; the estimator is fitted without them.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For more than two classes, labels of which none is known to be positive, invalid parameters, or amounts
            with another measure than "money", and the other way round.
        """
        check_same_order(
            X=X, y=y, sample_weight=sample_weight, false_positive=false_positive, false_negative=false_negative
        )
        labels = read_two_classes(self, y)
        weight = check_weights(sample_weight, len(labels))
        positive, measure, counted = labels == self.pos_label_, self.measure, weight
        if measure == "money":
            # a mistake loses the amount of its row: the weighted accuracy is best where the fewest are lost
            outcome = RowCosts(
                positive, false_positive=false_positive, false_negative=false_negative, sample_weight=weight
            )
            measure, counted = "accuracy", outcome.weight
        elif false_positive is not None or false_negative is not None:
            raise ValueError(f'false_positive= and false_negative= are for measure="money", got {measure!r}.')
        self._fit_inner(X, labels, weight)
        self.population_threshold_: PopulationThreshold = population_threshold(
            positive,
            self._held_out(X, labels, weight),
            measure,
            zero_division=self.zero_division,
            sample_weight=counted,
            n_resamples=0,
        )
        self.threshold_ = self.population_threshold_.threshold
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Label rows by the threshold.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels out of ``classes_``.
        """
        prob = self._positive_prob(X)
        return negative_and_positive(self)[self.population_threshold_.predict(prob)]
