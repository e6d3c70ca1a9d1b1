"""The base of the classifiers in the manner of scikit-learn: labels, inner estimator, held-out scores and tags."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config, model_selection
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics._scorer import _Scorer
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from stakes.base.multiclass import ordered_categories, refuse_mixed
from stakes.base.validation import Floats, one_is_positive, positive_label, refuse, refuse_missing, to_array
from stakes.outputs.text import shorten

_LONGEST = 80
_ROUNDING = 1e-6  # of probabilities in single precision
# what Python and scikit-learn say of a class whose `fit` takes no weights
_WITHOUT_WEIGHTS = re.compile(
    r"(\w+)(?:\.fit(?:\(\))?)? (?:got an unexpected keyword argument '|got unexpected argument\(s\) \{'|"
    r"does not support |doesn't support |does not accept the )sample[ _]weight"
)


class BinaryClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers around an estimator with ``predict_proba``; the dataclass fields are the parameters."""

    estimator: Any
    cv: Any
    classes_: NDArray[Any]
    pos_label_: object

    _multi_class: ClassVar[bool] = False
    _own_rule: ClassVar[bool] = True  # whether `predict` follows a rule other than the more probable class
    _expected_failed_checks: ClassVar[dict[str, str]] = {}  # failing checks of scikit-learn before 1.6, with reasons

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two classes, as the fitted estimator gives them.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, 2)

        Raises
        ------
        ValueError
            If what the estimator gives lies outside [0, 1].
        """
        check_is_fitted(self)
        return _probabilities(self.estimator_, X)

    def _positive_prob(self, X: Any) -> Floats:
        return positive_column(self, self.predict_proba(X))

    def _inner(self) -> Any:
        """Clone the wrapped estimator, or build the default one."""
        return LogisticRegression() if self.estimator is None else unfitted(self.estimator)

    def _model(self) -> Any:
        """Build the unfitted model: by default a clone of the wrapped estimator."""
        return self._inner()

    def _fit_inner(self, X: Any, y: NDArray[Any], sample_weight: Floats | None) -> None:
        self._store_fitted(self._fitted(self._model(), X, y, sample_weight))

    def _fitted(self, model: Any, X: Any, y: NDArray[Any], sample_weight: Floats | None) -> Any:
        """Fit a model to all rows, or to those of a fold."""
        return fit_weighted(model, X, y, sample_weight)

    def _store_fitted(self, fitted: Any) -> None:
        """Store the fitted estimator and copy its feature attributes."""
        self.estimator_ = fitted
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    def _held_out(self, X: Any, y: NDArray[Any], sample_weight: Floats | None = None) -> Floats:
        """Predict the positive class out of fold: each row by a model that was not fitted to it."""
        return self._out_of_fold(X, y, sample_weight, lambda fitted, rows: (self._positive_of(fitted, rows),))[0]

    def _positive_of(self, fitted: Any, X: Any) -> Floats:
        return positive_column(self, _probabilities(fitted, X))

    def _out_of_fold(
        self, X: Any, y: NDArray[Any], sample_weight: Floats | None, score: Callable[[Any, Any], tuple[Floats, ...]]
    ) -> Floats:
        """Apply ``score`` out of fold; the result has a row for each array it returns and a column for each sample."""
        (rows,), folds = indexable(X), check_cv(self.cv, y, classifier=True)
        columns: list[tuple[Any, tuple[Floats, ...]]] = []
        for train, test in self._splits(folds, rows, y, self._model()):
            weight = None if sample_weight is None else sample_weight[train]
            fitted = self._fitted(self._model(), _safe_indexing(rows, train), y[train], weight)
            columns.append((test, score(fitted, _safe_indexing(rows, test))))
        out = np.full((len(columns[0][1]), len(y)), np.nan)
        for test, found in columns:
            out[:, test] = found
        if np.any(np.isnan(out)):
            raise ValueError("cv must put every row into a test fold.")
        return out

    def _splits(self, folds: Any, X: Any, y: NDArray[Any], model: Any) -> Iterator[tuple[Any, Any]]:
        """Go through folds, of which there must be one, and each must leave the model rows of both classes."""
        fold = 0
        for fold, (train, test) in enumerate(_without_groups(folds, X, y), 1):
            self._refuse_one_class(model, y, train, fold)
            yield train, test
        if fold == 0:
            raise ValueError(
                "cv must give at least one fold, got none: a generator can be gone through once only, so pass a list "
                "of its folds."
            )

    def _refuse_one_class(self, model: Any, y: NDArray[Any], train: NDArray[Any], fold: int) -> None:
        """Refuse a fold whose model would not know both classes: its columns would stand for others, or be one."""
        known = np.ravel(getattr(model, "classes_", ())).tolist() or np.unique(y[train]).tolist()  # a frozen one's own
        for label in self.classes_.tolist():
            if label not in known:
                held = np.count_nonzero(y == label)
                divided = "pass stratified folds, such as StratifiedKFold(5), or another cv that divides each class"
                remedy = divided if held > 1 else "folds cannot divide a single row, so each class needs more"
                raise ValueError(
                    f"cv must leave rows of both classes to fit on, got none of {label!r} in the {len(train)} training "
                    f"rows of fold {fold} ({held} of {len(y)} rows): {remedy}."
                )

    def __sklearn_tags__(self) -> Any:
        """Set the scikit-learn tags: two classes only, and sparse rows if the wrapped estimator takes them."""
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multi_class
        tags.input_tags.sparse = get_tags(self._inner()).input_tags.sparse
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Set the same tags for scikit-learn before 1.6."""
        return {"binary_only": not self._multi_class, "_xfail_checks": self._expected_failed_checks}


def _without_groups(folds: Any, X: Any, y: NDArray[Any]) -> Iterator[tuple[Any, Any]]:
    """Split rows, and say what to pass for a splitter that asks for groups of rows."""
    try:
        yield from folds.split(X, y)
    except ValueError as error:
        if "'groups'" not in str(error):
            raise
        raise ValueError(
            f"cv must split rows without groups, which fit does not take, got {folds!r}: pass the list of its folds, "
            "list(cv.split(X, y, groups))."
        ) from None


def fit_weighted(model: Any, X: Any, y: NDArray[Any], sample_weight: Floats | None) -> Any:
    """Fit a model; weights reach the last step of a pipeline, and an error says where they cannot."""
    if sample_weight is None:
        return model.fit(X, y)
    routed = get_config()["enable_metadata_routing"]
    named = {"sample_weight": sample_weight} if routed else _named_weights(model, sample_weight)
    if not named:
        raise _takes_no_weights(innermost(model))
    with warnings.catch_warnings():
        if len(named) > 1:  # calibration does not know that its pipeline has them too
            warnings.filterwarnings("ignore", "Since .* does not appear to accept sample_weight")
        try:
            return model.fit(X, y, **named)
        except (TypeError, ValueError) as error:
            for part in (model, *model.get_params(deep=True).values()):
                if _is_refused(part, str(error)):
                    raise _takes_no_weights(part) from error
            raise


def _takes_no_weights(estimator: Any) -> ValueError:
    return ValueError(
        f"estimator must take sample_weight in fit, which {shorten(repr(estimator), _LONGEST)} does not: leave "
        "sample_weight out, or pass one that does."
    )


def _is_refused(part: Any, message: str) -> bool:
    """Whether an error of ``fit`` names the class of an estimator that takes no weights, by its signature too."""
    if not hasattr(part, "fit") or "sample_weight" in signature(part.fit).parameters:
        return False
    names = {kind.__name__ for kind in type(part).__mro__}
    return any(match[1] in names for match in _WITHOUT_WEIGHTS.finditer(message))


def _named_weights(model: Any, weight: Floats) -> dict[str, Any]:
    """Name weights as ``fit`` takes them for the last step of a pipeline, also within a search or a calibration."""
    if hasattr(model, "steps"):
        _refuse_sampler(model)
        name, last = model.steps[-1]
        return {f"{name}__{key}": value for key, value in _named_weights(last, weight).items()}
    inner = None if is_frozen(model) else getattr(model, "estimator", None)
    parameters = signature(model.fit).parameters
    if "sample_weight" in parameters:
        below = isinstance(model, CalibratedClassifierCV) and inner is not None
        return {"sample_weight": weight} | (_named_weights(inner, weight) if below else {})
    if all(parameter.kind is not Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return {}
    return {"sample_weight": weight} if inner is None else _named_weights(inner, weight)


def _refuse_sampler(pipeline: Any) -> None:
    for _, step in pipeline.steps[:-1]:
        if hasattr(step, "fit_resample"):
            raise ValueError(
                f"sample_weight cannot follow the rows that {type(step).__name__} drops or repeats: leave out one of "
                "the two."
            )


def _probabilities(estimator: Any, X: Any) -> Floats:
    """Predict probabilities, or raise where these are something else, as the log-odds of some boosters are."""
    prob = np.asarray(estimator.predict_proba(X), dtype=float)
    outside = prob[~((prob >= -_ROUNDING) & (prob <= 1.0 + _ROUNDING))]  # nan is neither
    if len(outside):
        raise ValueError(
            f"estimator must give probabilities in [0, 1], got {outside[0]:.6g} from predict_proba of "
            f"{type(estimator).__name__}: pass one that does, or CalibratedClassifierCV of scikit-learn around it."
        )
    return prob


def check_gives_probabilities(estimator: Any) -> None:
    """Raise unless the estimator has ``fit`` and ``predict_proba``."""
    if not _gives_probabilities(estimator):
        scored = not isinstance(estimator, type) and hasattr(estimator, "decision_function")
        remedy = "; CalibratedClassifierCV of scikit-learn makes probabilities of its scores" if scored else ""
        raise ValueError(
            "estimator must be a classifier with fit and predict_proba, such as LogisticRegression(), "
            f"got {shorten(repr(estimator), _LONGEST)}{remedy}."
        )


def _gives_probabilities(estimator: Any) -> bool:
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        return False
    stated = hasattr(estimator, "predict_proba") or not hasattr(estimator, "get_params")
    return hasattr(estimator if stated else unfitted(estimator), "predict_proba")


def unfitted(estimator: Any) -> Any:
    """Clone an estimator, and state the last estimator of stacking: left out, it shows no ``predict_proba``."""
    copy = clone(estimator)
    for part in (copy, *copy.get_params(deep=True).values()):
        if isinstance(part, StackingClassifier) and not hasattr(part, "classes_") and part.final_estimator is None:
            part.set_params(final_estimator=LogisticRegression())  # the one that it makes in fit
    return copy


def part_with_folds(estimator: Any) -> Any:
    """Return the first part of an unfitted estimator that divides the rows that it is fitted to by ``cv``, or None."""
    inside = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    for part in (estimator, *inside):
        fitted = is_frozen(getattr(part, "estimator", None))  # nothing is fitted to some rows but not to their copies
        if hasattr(part, "get_params") and not isinstance(part, type) and not fitted:
            own = part.get_params(deep=False)
            if "cv" in own and not isinstance(own["cv"], str):  # "prefit"
                return part
    return None


def read_two_classes(estimator: Any, y: Any) -> NDArray[Any]:
    """Return the labels as an array, and set ``classes_`` and ``pos_label_``, the label of the positive class."""
    if estimator.estimator is not None:
        check_gives_probabilities(estimator.estimator)
    labels = read_classes(estimator, y)
    kind = type_of_target(labels)
    estimator.classes_ = np.unique(labels)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    if len(estimator.classes_) < 2:
        raise ValueError(f"y must hold two classes, got one class only: {estimator.classes_[0]!r}.")
    estimator.pos_label_ = find_positive_label(estimator.classes_.tolist(), estimator.pos_label)
    return labels


def read_classes(estimator: Any, y: Any) -> NDArray[Any]:
    """Return the label of every row as an array, or raise."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    labels: NDArray[Any] = column_or_1d(to_array(y, "y"), warn=True)
    if len(labels) == 0:
        raise ValueError("y must hold at least one row, got none.")
    refuse_missing(labels, "y")
    if labels.dtype.kind == "f":
        refuse(~np.isfinite(labels), labels, "y must be finite")
    refuse_mixed(labels.tolist(), "y")
    check_classification_targets(labels)
    return labels


def find_positive_label(classes: list[Any], pos_label: object) -> Any:
    """Return ``pos_label``, or 1 where the labels are 0 and 1 or -1 and 1; of other numbers the larger, with a warning.

    Functions refuse such numbers; a classifier must accept 1 and 2 to pass ``check_estimator`` of scikit-learn.
    """
    if pos_label is None and not one_is_positive(classes) and all(isinstance(v, (int, float)) for v in classes):
        warnings.warn(
            f"y holds {classes[0]!r}, {classes[1]!r}: {classes[1]!r}, the larger, is taken as the positive class. "
            "Pass pos_label= to say which it is.",
            stacklevel=4,
        )
        return classes[1]
    return classes[classes.index(positive_label(classes, pos_label, "y holds"))]


class DecisionScorer(_Scorer):  # type: ignore[misc]
    """Score the decisions of a classifier that follows a rule of its own, and the probabilities of any other.

    The function that it scores with takes labels in place of probabilities.
    """

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> Any:
        inner = innermost(estimator)
        if not follows_own_rule(inner):
            return super()._score(method_caller, estimator, X, y_true, **kwargs)
        if hasattr(inner, "deferred_label_"):
            raise ValueError(
                f"money says nothing of rows that {type(inner).__name__} leaves to someone else: its own score, which "
                "scikit-learn takes without scoring=, counts what they cost."
            )
        decided = _Scorer(self._score_func, self._sign, self._kwargs, "predict")
        return decided._score(method_caller, estimator, X, y_true, **kwargs)


class ClassesScorer(_Scorer):  # type: ignore[misc]
    """Score the probabilities of all classes, with columns in the order in which the function takes the classes.

    That is the order of ``labels``, or of the categories of ordered labels, or else of the estimator's ``classes_``.
    """

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> Any:
        if (
            len(getattr(estimator, "classes_", ())) == 2
        ):  # of which the column that the first of several scorers asked for is kept
            method_caller = _predict
        prob = np.asarray(method_caller(estimator, self._response_method, X))
        order = self._order(estimator.classes_, y_true)
        if self._kwargs.get("labels") is None:
            kwargs = {"labels": order, **kwargs}
        columns = _columns_in_order(prob, estimator.classes_.tolist(), order)
        return super()._score(lambda *_, **__: columns, estimator, X, y_true, **kwargs)

    def _order(self, classes: NDArray[Any], y_true: Any) -> list[Any]:
        """Classes as stated, or the categories that rows or the estimator know, or else those of the estimator."""
        if (stated := self._kwargs.get("labels")) is not None:
            return list(to_array(stated, "labels").tolist())
        categories = ordered_categories(y_true)
        if categories is None:
            self._refuse_unstated(classes)
            return list(classes.tolist())
        known = {*classes.tolist(), *to_array(y_true, "y_true").ravel().tolist()}
        return [each for each in categories if each in known]

    def _refuse_unstated(self, classes: NDArray[Any]) -> None:
        """Refuse texts whose order matters to the function, for the sorted one is seldom meant."""
        if not any(isinstance(each, str) for each in classes.tolist()):
            return
        k = len(classes)
        rows = np.sqrt(np.arange(1.0, k * k + 1.0)).reshape(k, k)
        rows /= rows.sum(axis=1, keepdims=True)
        found = self._score_func(classes, rows, **self._kwargs)
        for order in (np.roll(range(k), 1), [1, 0, *range(2, k)]):  # by these two every order is reached
            turned = self._score_func(classes, rows[:, order], labels=classes[order], **self._kwargs)
            if not np.allclose(turned, found, equal_nan=True):
                raise ValueError(
                    f"{self._score_func.__name__} is given values by class, and the classes are the texts "
                    f"{classes.tolist()}: pass labels= in the order of these values."
                )


def _predict(estimator: Any, method: str, X: Any) -> Any:
    return getattr(estimator, method)(X)


def _columns_in_order(prob: NDArray[Any], classes: list[Any], order: list[Any]) -> NDArray[Any]:
    """Put the columns of the classes into an order; a class that the estimator does not know has probability 0."""
    if any(label not in order for label in classes):
        raise ValueError(f"labels must hold the classes of the estimator, {classes}, got {order}.")
    columns = np.zeros((len(prob), len(order)), dtype=prob.dtype)
    columns[:, [order.index(label) for label in classes]] = prob
    return columns


def innermost(estimator: Any) -> Any:
    """Return the estimator that decides within pipelines, searches (fitted or not) and frozen estimators."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, BaseSearchCV):
            estimator = estimator.estimator
        elif isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif is_frozen(estimator):
            estimator = estimator.estimator
        else:
            return estimator


def is_frozen(estimator: Any) -> bool:
    """Whether this is scikit-learn's FrozenEstimator, which came with version 1.6."""
    return type(estimator).__name__ == "FrozenEstimator" and hasattr(estimator, "estimator")


def follows_own_rule(estimator: Any) -> bool:
    """Whether an estimator decides by a rule of its own, as those with a fitted or fixed threshold do."""
    names = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")  # from scikit-learn 1.5 on
    own = tuple(getattr(model_selection, name) for name in names if hasattr(model_selection, name))
    return isinstance(estimator, own) or getattr(estimator, "_own_rule", False) is True


def positive_column(estimator: Any, prob: Any) -> Floats:
    """Select the column of the positive class from predicted probabilities."""
    return np.asarray(prob, dtype=float)[:, estimator.classes_.tolist().index(estimator.pos_label_)]


def negative_and_positive(estimator: Any) -> NDArray[Any]:
    """Return the two ``classes_``, the positive one last."""
    classes: NDArray[Any] = estimator.classes_
    return classes if classes.tolist()[1] == estimator.pos_label_ else classes[::-1]
