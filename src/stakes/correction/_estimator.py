"""A classifier in the manner of scikit-learn whose probabilities are corrected for how it was trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from stakes.core.estimators import find_positive_label, keep_arguments
from stakes.core.row_order import check_same_order
from stakes.core.validation import check_weights, positive_label
from stakes.correction._how_trained import Training, class_totals, is_frozen, read_training
from stakes.correction._inputs import balanced_weights, per_class, read_prior, sampling_factors
from stakes.correction._shift import shift_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


class LossCorrectedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Give the probabilities that a classifier would give without class weights or resampling.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression. It is fitted with its weights and samplers as they are.
    class_weight : "auto", "balanced", mapping of label to weight, array_like of shape (K,), or None, default "auto"
        What to undo. "auto" reads it from the estimator: ``class_weight``, ``scale_pos_weight``, CatBoost's and
        LightGBM's own names, random under- and oversamplers in an imbalanced-learn pipeline, and weights passed to
        ``fit`` that are constant within each class. Anything else is taken as stated, and nothing is read.
    sampling : mapping of label to fraction, or array_like of shape (K,), optional
        Which fraction of each class's rows the model sees, in (0, 1], where that is not read from a sampler.
    repeat : mapping of label to number, or array_like of shape (K,), optional
        How many times the model sees each row of a class, >= 1, where that is not read from a sampler.
    prior : float, mapping of label to share, or array_like of shape (K,), optional
        Shares of the classes in the population to predict for, where they differ from those of the training labels; a
        number is the share of the positive class, of two.
    prefit : bool, default False
        Whether the estimator is fitted already. ``fit`` then leaves it alone and reads the labels only: they must be
        those of its training where counts are needed ("balanced", ``prior``). A ``FrozenEstimator`` needs no
        ``prefit``.
    pos_label : object, optional
        The label of the positive class, of two; by default 1 of 0 and 1 or of -1 and 1, and True. Only a ``prior`` that
        is a number asks for it: everything else names its class.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    classes_ : ndarray of shape (K,)
        The labels.
    class_weight_, sampling_ : ndarray of shape (K,)
        What is undone.
    factors_ : ndarray of shape (K,)
        By what the estimator's probabilities are multiplied before they are made to sum to 1.
    sources_ : list of str
        Where "auto" found what it undoes.

    Notes
    -----
    g_y is proportional to a_y prior_y / (w_y keep_y pi_y), see :func:`correct_probabilities`: exact for a well
    specified model fitted without penalty, and monotone, so for two classes ranking and AUC stay what they are (up to
    scores that round to the same number). ``predict`` decides by the corrected probabilities. Weights passed to
    ``fit`` that vary within a class are taken to describe the population and are not undone. What cannot be known,
    such as balanced random forests, SMOTE, or a prefit model without visible weights, is refused with what to pass.

    Forests and boosted trees that are stopped early do not follow the formula closely: judge the result with
    :func:`loss_calibration_test` on rows that were held out. Of scikit-learn's ``check_estimator``,
    ``check_class_weight_classifiers`` cannot pass: it takes ``class_weight`` for a weight to fit with, here it says
    what to undo.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from stakes.correction import LossCorrectedClassifier
    >>> X, y = make_classification(2000, weights=[0.9], random_state=0)
    >>> weighted = LogisticRegression(class_weight="balanced").fit(X, y)
    >>> corrected = LossCorrectedClassifier(LogisticRegression(class_weight="balanced")).fit(X, y)
    >>> [round(float(p.predict_proba(X)[:, 1].mean()), 2) for p in (weighted, corrected)], round(float(y.mean()), 2)
    ([0.15, 0.1], 0.1)
    >>> corrected.sources_
    ["LogisticRegression: class_weight='balanced'"]
    """

    def __init__(
        self,
        estimator: Any = None,
        class_weight: Mapping[Any, float] | ArrayLike | str | None = "auto",
        *,
        sampling: Mapping[Any, float] | ArrayLike | None = None,
        repeat: Mapping[Any, float] | ArrayLike | None = None,
        prior: float | Mapping[Any, float] | ArrayLike | None = None,
        prefit: bool = False,
        pos_label: object = None,
    ) -> None:
        keep_arguments(self, locals())

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LossCorrectedClassifier:
        """Fit the estimator and work out what its probabilities must be multiplied by.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Passed to the estimator (to the last step of a pipeline), which must not be fitted already.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the weight cannot be known, with what to pass; and for invalid parameters.
        """
        check_same_order(X=X, y=y, sample_weight=sample_weight)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        weight = check_weights(sample_weight, len(labels))
        given = LogisticRegression() if self.estimator is None else self.estimator
        prefit = self.prefit or is_frozen(given)
        if prefit and weight is not None:
            raise ValueError("sample_weight cannot reach an estimator that is fitted already: state class_weight=.")
        if self.prefit:
            check_is_fitted(given)
            self.estimator_ = given
        else:
            self.estimator_ = _fitted(clone(given), X, labels, weight)
        self.classes_ = np.asarray(self.estimator_.classes_)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold two classes or more, got one class only: {self.classes_[0]!r}.")
        self._check_pos_label()
        self._read(labels, weight, prefit=prefit)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Corrected probabilities of the classes.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
        """
        check_is_fitted(self)
        return shift_rows(np.asarray(self.estimator_.predict_proba(X), dtype=np.float64), self.factors_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class by the corrected probabilities.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels out of ``classes_``.
        """
        prob = self.predict_proba(X)
        return self.classes_[np.argmax(prob, axis=1)]

    def _read(self, labels: NDArray[Any], weight: Floats | None, *, prefit: bool) -> None:
        training = self._training(labels, weight, prefit=prefit)
        self.class_weight_, self.sampling_, self.sources_ = training.weights, training.keep, training.sources
        self.factors_ = 1.0 / (training.weights * training.keep)
        if self.prior is not None:
            constant = weight is not None and any(source.startswith("sample_weight") for source in training.sources)
            totals = class_totals(labels, training.classes, None if constant else weight)
            if not np.all(totals > 0.0):
                raise ValueError("prior needs labels of every class in fit.")
            new = self._new_prior(len(totals))
            self.factors_ = self.factors_ * new / (totals / totals.sum())

    def _new_prior(self, n_classes: int) -> Floats:
        """Shares of the classes in their order; a number is the share of the positive one."""
        new = read_prior(self.prior, n_classes, self.classes_, "prior")
        if isinstance(self.prior, Mapping) or np.ndim(self.prior):
            return new
        classes = self.classes_.tolist()
        return new if classes[1] == find_positive_label(classes, self.pos_label) else new[::-1]

    def _check_pos_label(self) -> None:
        """Refuse a positive class that is not one of two."""
        if self.pos_label is None:
            return
        classes = self.classes_.tolist()
        if len(classes) != 2:
            shown = ", ".join(map(repr, classes))
            raise ValueError(f"pos_label is for two classes, y holds {len(classes)} ({shown}): leave it out.")
        positive_label(classes, self.pos_label)

    def _training(self, labels: NDArray[Any], weight: Floats | None, *, prefit: bool) -> Training:
        n_classes = len(self.classes_)
        if isinstance(self.class_weight, str) and self.class_weight == "auto":
            stated = self.sampling is not None or self.repeat is not None
            training = read_training(
                self.estimator_, labels, self.classes_, weight, prefit=prefit, sampling_stated=stated
            )
        else:
            training = Training(self.classes_.tolist(), np.ones(n_classes), np.ones(n_classes))
            if isinstance(self.class_weight, str):
                if self.class_weight != "balanced":
                    raise ValueError(
                        'class_weight must be "auto", "balanced", None, a mapping or an array, '
                        f"got {self.class_weight!r}."
                    )
                training.weights = balanced_weights(labels, n_classes, self.classes_)
            elif self.class_weight is not None:
                training.weights = per_class(self.class_weight, n_classes, self.classes_, "class_weight")
        if self.sampling is not None or self.repeat is not None:
            training.keep = sampling_factors(self.sampling, self.repeat, n_classes, self.classes_, keep_name="sampling")
        return training

    def __sklearn_tags__(self) -> Any:
        """Take sparse rows if the estimator does."""
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = LogisticRegression() if self.estimator is None else self.estimator
        tags.input_tags.sparse = get_tags(inner).input_tags.sparse
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Say to scikit-learn before 1.6 which of its checks speaks of another ``class_weight``."""
        return {"_xfail_checks": {"check_class_weight_classifiers": "class_weight says what to undo, not how to fit"}}


def _fitted(model: Any, X: Any, y: NDArray[Any], sample_weight: Floats | None) -> Any:
    if sample_weight is None:
        return model.fit(X, y)
    from sklearn import get_config

    name = "sample_weight"
    if hasattr(model, "steps") and not get_config().get("enable_metadata_routing", False):
        name = f"{model.steps[-1][0]}__sample_weight"
    return model.fit(X, y, **{name: sample_weight})
