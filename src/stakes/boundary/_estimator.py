"""A scikit-learn classifier that decides by score and uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from stakes.base.estimators import BinaryClassifier, negative_and_positive, read_two_classes, unfitted
from stakes.base.validation import Floats, check_same_order, check_scores, to_array
from stakes.boundary._boundary import Boundary
from stakes.boundary._fit import Solver, fit_boundary
from stakes.boundary._problem import Goal
from stakes.uncertainty import EnsembleUncertainty, from_bagging, from_ensemble

Uncertainty = Callable[[Any, Any], ArrayLike]


@dataclass(eq=False, repr=False)
class UncertaintyBoundaryClassifier(BinaryClassifier):
    """Label rows positive where score and uncertainty lie inside the best boundary.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a random forest.
    uncertainty : callable or "members", default "members"
        Function of the fitted estimator and rows that returns one uncertainty per row, larger for less certain;
        "members" is the standard deviation between the probabilities of ``estimator.estimators_``, at least two, by
        :func:`stakes.uncertainty.from_bagging` for forests and bagging classifiers and by
        :func:`stakes.uncertainty.from_ensemble` for others, such as a voting classifier.
    goal, min_precision, min_recall, capacity, f_beta, costs
        As in :func:`fit_boundary`.
    solver, levels, score_bins, binning, tune, confidence_level
        As in :func:`fit_boundary`. Where no goal is bounded, ``min_precision`` is one half.
    cv : int, splitter or "prefit", optional
        Folds for the scores that the boundary is fitted to; by default five. "prefit" takes ``estimator`` as it is and
        fits the boundary to the rows given to ``fit``, which it must not have been trained on.
    random_state : int, numpy Generator or None, default 0
        For tuning and certificates.
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
    boundary_ : Boundary
        Fitted to scores of rows that the scoring model did not see.

    Notes
    -----
    A certificate of a cross-fitted classifier is about the scores of the fold models, not of ``estimator_``, which saw
    more rows; with ``cv="prefit"`` it is about the classifier itself. Of scikit-learn's ``check_estimator``,
    two checks cannot pass: ``check_classifiers_classes``, which fits to texts without ``pos_label``, and
    ``check_classifiers_train``, which asks for decisions at probability one half.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from stakes.boundary import UncertaintyBoundaryClassifier
    >>> X, y = make_classification(600, weights=[0.7], flip_y=0.1, random_state=0)
    >>> model = UncertaintyBoundaryClassifier(min_precision=0.9, random_state=0).fit(X[:400], y[:400])
    >>> labels = model.predict(X[400:])
    >>> bool(y[400:][labels == 1].mean() > 0.8)
    True
    """

    estimator: Any = None
    uncertainty: Uncertainty | Literal["members"] = "members"
    _: KW_ONLY
    goal: Goal = "recall"
    min_precision: float | Fraction | str | None = None
    min_recall: float | Fraction | str | None = None
    capacity: float | None = None
    f_beta: float | None = None
    costs: Any = None
    solver: Solver = "exact"
    levels: Any = 3
    score_bins: int | None = None
    binning: Any = "equal_weight"
    tune: Literal["cv"] | None = None
    confidence_level: float | None = None
    cv: Any = None
    random_state: Any = 0
    pos_label: object = None

    def fit(self, X: Any, y: ArrayLike) -> UncertaintyBoundaryClassifier:
        """Fit the estimator, and the boundary to out-of-fold scores.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.
        y : array_like of shape (n,)
            Labels with two values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For more than two classes, labels of which none is known to be positive, or invalid parameters.
        """
        check_same_order(X=X, y=y)
        labels = read_two_classes(self, y)
        (rows,) = indexable(X)
        if isinstance(self.cv, str):
            if self.cv != "prefit":
                raise ValueError(f'cv must be a number of folds, a splitter or "prefit", got {self.cv!r}.')
            if self.estimator is None:
                raise ValueError("estimator must be fitted for cv='prefit', got None.")
            check_is_fitted(self.estimator)
            self._store_fitted(self.estimator)
            known = getattr(self.estimator, "classes_", self.classes_)
            if not np.array_equal(known, self.classes_):
                raise ValueError(
                    f"y must hold the classes that the estimator was fitted to, {np.asarray(known).tolist()}, got "
                    f"{self.classes_.tolist()}."
                )
            score, uncertainty = self._score(self.estimator_, rows)
        else:
            score, uncertainty = self._out_of_fold(rows, labels, None, self._score)
            self._fit_inner(X, labels, None)
        names = ("goal", "min_recall", "capacity", "f_beta", "costs", "solver", "levels", "score_bins", "binning")
        options = {name: getattr(self, name) for name in (*names, "tune", "confidence_level", "random_state")}
        unbounded = self.goal == "recall" and self.min_precision is None and self.capacity is None
        least = "1/2" if unbounded else self.min_precision
        self.boundary_: Boundary = fit_boundary(
            labels == self.pos_label_, score, uncertainty, min_precision=least, **options
        )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Label rows by the boundary.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels out of ``classes_``.
        """
        check_is_fitted(self)
        return np.asarray(negative_and_positive(self)[self.boundary_.predict(*self._score(self.estimator_, X))])

    def _inner(self) -> Any:
        return RandomForestClassifier(random_state=0) if self.estimator is None else unfitted(self.estimator)

    def _score(self, estimator: Any, X: Any) -> tuple[Floats, Floats]:
        score = self._positive_of(estimator, X)
        if callable(self.uncertainty):
            given = to_array(self.uncertainty(estimator, X), "uncertainty")
            values = check_scores(given, "uncertainty", probability=False)
            if len(values) != len(score):
                raise ValueError(f"uncertainty must give one value per row, got {len(values)} for {len(score)} rows.")
            return score, values
        if self.uncertainty != "members":
            raise ValueError(
                f'uncertainty must be a function of (estimator, X) or "members", got {self.uncertainty!r}.'
            )
        return score, np.sqrt(_members(estimator, X, self.pos_label_).variance)

    def __sklearn_tags__(self) -> Any:
        """Set the scikit-learn tags, with missing values allowed if the estimator allows them."""
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._inner()).input_tags.allow_nan
        return tags


def _members(estimator: Any, X: Any, pos_label: object) -> EnsembleUncertainty:
    """Disagreement among the members of an ensemble."""
    if isinstance(estimator, (BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier)):
        return from_bagging(estimator, X, pos_label=pos_label)
    members = getattr(estimator, "estimators_", [])
    members = list(members.ravel() if isinstance(members, np.ndarray) else members)  # a member may be an ensemble
    if len(members) < 2 or not all(hasattr(member, "predict_proba") for member in members):
        raise ValueError(
            'uncertainty="members" needs an ensemble of at least two classifiers with predict_proba in estimators_, '
            f"got {type(estimator).__name__}: pass a function of (estimator, X)."
        )
    # the members of some ensembles were fitted to arrays without column names, those of others to the frame
    rows = X if hasattr(members[0], "feature_names_in_") or not hasattr(X, "to_numpy") else X.to_numpy()
    return from_ensemble([member.predict_proba(rows) for member in members])
