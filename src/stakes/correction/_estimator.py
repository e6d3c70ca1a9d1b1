"""A classifier that corrects its scores for how it was trained."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.utils.validation import check_is_fitted

from stakes.base.estimators import (
    BinaryClassifier,
    check_gives_probabilities,
    find_positive_label,
    fit_weighted,
    is_frozen,
    read_classes,
    unfitted,
)
from stakes.base.validation import Floats, check_same_order, check_weights, positive_label
from stakes.correction._weights import FRACTIONS_BY_CLASS, UNBALANCED, Classes, shift_rows
from stakes.outcomes import decide_rows

# Weights and sampling of the training, read from a fitted classifier.
#
# If they cannot be determined, an error says what to pass: a wrong correction is worse than none.

_LIBRARIES = {"sklearn", "xgboost", "lightgbm", "catboost"}
_BY_OBJECTIVE = ("scale_pos_weight", *UNBALANCED)
_WEIGHT_NAMES = ("class_weight", "class_weights", "auto_class_weights", *_BY_OBJECTIVE)
# objectives under which the names above, and weights of rows, multiply the odds; and where an objective is stated
_OF_RATIO = {"lightgbm": ("binary",), "xgboost": ("binary:logistic",)}
_OF_ROWS = {
    "lightgbm": (
        *("binary", "cross_entropy", "xentropy", "multiclass", "softmax"),
        *("multiclassova", "multiclass_ova", "ova", "ovr"),
    ),
    "xgboost": ("binary:logistic", "reg:logistic", "multi:softprob", "multi:softmax"),
}
_STATED = {"lightgbm": ("objective", "objective_type", "app", "application", "loss"), "xgboost": ("objective",)}
_RANDOM_SAMPLERS = {"RandomUnderSampler", "RandomOverSampler"}
_PRIOR_NAMES = ("priors", "class_prior")
_CONSTANT = 1e-9
_SUSPICIOUS = 2.0
_INSTEAD = (
    "Pass class_weight={label: weight} (None if its probabilities carry none) and, for resampled rows, "
    "keep={label: fraction kept} or repeat={label: times}."
)


@dataclass
class Training:
    """Weights and sampling fractions of the classes, in the order of ``classes``, and their sources."""

    classes: list[Any]
    weights: Floats
    keep: Floats
    sources: list[str] = field(default_factory=list)

    def weigh(self, weights: Floats, source: str) -> None:
        """Multiply by the factors of another source."""
        self.weights = self.weights * weights
        if not np.all(weights == weights[0]):
            self.sources.append(source)


@dataclass
class _Fit:
    """The description of one fit; ``y`` are the labels that the classifier was fitted to."""

    y: NDArray[Any]
    sample_weight: Floats | None
    prefit: bool
    sampling_stated: bool
    counts_seen: bool = True


def read_training(
    model: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    sample_weight: Floats | None,
    *,
    prefit: bool = False,
    sampling_stated: bool = False,
) -> Training:
    """Read weights and sampling from a fitted model; ``y`` holds the labels that it was fitted to."""
    training = Training(classes.tolist(), np.ones(len(classes)), np.ones(len(classes)))
    fit = _Fit(y, sample_weight, prefit, sampling_stated, counts_seen=not prefit)
    final = _follow(model, fit, training)
    params = final.get_params(deep=False) if hasattr(final, "get_params") else {}
    _refuse_unknown(final, params, sampling_stated=sampling_stated)
    _read_params(final, params, fit, training)
    if sample_weight is not None:
        _read_sample_weight(final, y, sample_weight, training)
    if prefit and not training.sources and not sampling_stated:
        raise ValueError(f"how the prefit {_name(final)} was trained cannot be seen. {_INSTEAD}")
    return training


def _follow(model: Any, fit: _Fit, training: Training) -> Any:
    """Go through pipelines, searches and frozen estimators to the classifier, past the samplers on the way."""
    while True:
        if hasattr(model, "steps"):
            for _, step in model.steps[:-1]:
                if hasattr(step, "fit_resample"):
                    _read_sampler(step, fit, training)
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif is_frozen(model):
            model = model.estimator
        else:
            return model


def _read_sampler(sampler: Any, fit: _Fit, training: Training) -> None:
    name = _name(sampler)
    if fit.sampling_stated:
        fit.counts_seen = False
        return
    if fit.prefit:
        raise ValueError(f"what {name} did before the model was passed cannot be seen. {_INSTEAD}")
    smoothed = getattr(sampler, "shrinkage", None) is not None
    if name not in _RANDOM_SAMPLERS or smoothed or not hasattr(sampler, "sample_indices_"):
        raise ValueError(
            f"{name} does not drop or repeat rows at random within their class, so no map of scores undoes it "
            f"exactly. {_INSTEAD}"
        )
    seen = np.asarray(fit.y[sampler.sample_indices_])
    before, after = (class_totals(labels, training.classes, None) for labels in (fit.y, seen))
    if not np.all(after > 0.0):
        raise ValueError(f"{name} left no row of class {training.classes[int(np.argmin(after))]!r}.")
    training.keep = training.keep * (after / before)
    training.sources.append(name)
    fit.y = seen


def _refuse_unknown(model: Any, params: Mapping[str, Any], *, sampling_stated: bool) -> None:
    name, library = _name(model), type(model).__module__.partition(".")[0]
    if library == "imblearn":
        if not sampling_stated:
            raise ValueError(f"{name} resamples inside, which cannot be seen. {_INSTEAD}")
    elif library not in _LIBRARIES and not any(key in params for key in _WEIGHT_NAMES):
        raise ValueError(f"whether {name} weights or resamples the classes cannot be seen. {_INSTEAD}")
    deep = model.get_params(deep=True) if hasattr(model, "get_params") else {}
    for key, value in deep.items():
        if _sets_prior(key.rpartition("__")[2], value):
            raise ValueError(f"{name} was given {key}={value!r}, which is no class weight. {_INSTEAD}")
        if not sampling_stated and _resamples(key.rpartition("__")[2], value):
            raise ValueError(f"what {name} makes of the samples of {key}={value!r} cannot be seen. {_INSTEAD}")
    if any(_name(part) == "ComplementNB" for part in (model, *deep.values())):
        raise ValueError(f"ComplementNB in {name} takes no account of the shares of the classes. {_INSTEAD}")
    inner = [key for key, value in deep.items() if "__" in key and _is_weighting(key.rpartition("__")[2], value)]
    if inner:
        raise ValueError(f"what {name} makes of {inner[0]}={deep[inner[0]]!r} cannot be seen. {_INSTEAD}")


def _sets_prior(key: str, value: Any) -> bool:
    return (key in _PRIOR_NAMES and value is not None) or (key == "fit_prior" and not value)


def _resamples(key: str, value: Any) -> bool:
    if key in FRACTIONS_BY_CLASS:
        return value is not None and value != 1
    inside = type(value).__module__.startswith("imblearn.") and not hasattr(value, "steps")
    return inside or hasattr(value, "fit_resample")


def _refuse_objective(model: Any, source: str, known: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a weight of a booster under an objective that takes no notice of it, or another one."""
    library, params = type(model).__module__.partition(".")[0], model.get_params(deep=False)
    for name in _STATED.get(library, ()):
        if params.get(name) is not None and params[name] not in known[library]:
            raise ValueError(f"what {source} amounts to with {name}={params[name]!r} cannot be seen. {_INSTEAD}")


def _refuse_unweighted(model: Any, source: str) -> None:
    """Refuse weights of rows that the probabilities of a model never had, or had in another way."""
    for part in _sources_of_probability(model):
        if part.get_params(deep=False).get("probability") in (True, 1):  # not the text "deprecated"
            raise ValueError(f"{_name(part)} fits its probabilities afresh, without {source}. {_INSTEAD}")
        _refuse_objective(part, source, _OF_ROWS)


def _sources_of_probability(model: Any) -> list[Any]:
    """List a model and its members; of stacking what it fits last, of calibration nothing: its maps are weighted."""
    if isinstance(model, StackingClassifier):
        return _sources_of_probability(model.final_estimator)
    if isinstance(model, (type, CalibratedClassifierCV)) or not hasattr(model, "get_params"):
        return []
    members = [part for key, part in model.get_params(deep=True).items() if "__" not in key]
    return [model, *(source for part in members for source in _sources_of_probability(part))]


def _is_weighting(key: str, value: Any) -> bool:
    if key not in (*_WEIGHT_NAMES, "pos_weight", "weight"):
        return False
    return value is not None and value is not False and value != 1


def _read_params(model: Any, params: Mapping[str, Any], fit: _Fit, training: Training) -> None:
    name, n_classes = _name(model), len(training.classes)
    for key in _WEIGHT_NAMES:
        value = params.get(key)
        if value is None or value is False or (key == "scale_pos_weight" and value == 1):
            continue
        source = f"{name}: {key}={value!r}"
        if key in _BY_OBJECTIVE:
            _refuse_objective(model, source, _OF_RATIO)
        else:
            _refuse_unweighted(model, f"{key}={value!r}")
            _refuse_one_against_the_others(model, params, source, n_classes, balanced=isinstance(value, str))
            _refuse_place_for_label(model, value, source, training)
        if isinstance(value, str) or value is True:
            _refuse_unseen_counts(source, fit, training)
            weights = _from_counts(key, value, fit.y, training, source)
        elif key == "scale_pos_weight":
            if n_classes != 2:
                raise ValueError(f"{source} is for two classes, got {n_classes}.")
            weights = Classes(2).numbers([1.0, value], key)
        else:
            weights = Classes(n_classes, training.classes).numbers(value, f"the class weight of {name}")
        training.weigh(weights, source)


def _refuse_one_against_the_others(
    model: Any, params: Mapping[str, Any], source: str, n_classes: int, *, balanced: bool
) -> None:
    """Refuse weights by class where each of several is fitted against the others, which are weighed as one class."""
    apart = isinstance(model, SGDClassifier) or params.get("solver") == "liblinear"
    if n_classes > 2 and (apart or (balanced and params.get("multi_class") == "ovr")):
        raise ValueError(
            f"{source} is not undone for {n_classes} classes: {_name(model)} fits each class against the others, and "
            f"does not weigh these by their own weights. Pass them to fit as sample_weight=. {_INSTEAD}"
        )


def _refuse_place_for_label(model: Any, value: Any, source: str, training: Training) -> None:
    """Refuse weights by label that scikit-learn's boosting takes for those of the places of the sorted labels."""
    if not isinstance(model, HistGradientBoostingClassifier) or not isinstance(value, Mapping):
        return
    if any(value.get(label, 1.0) != value.get(place, 1.0) for place, label in enumerate(training.classes)):
        raise ValueError(
            f"{source} may be taken for the weights of the places 0 to {len(training.classes) - 1} of the sorted "
            f"labels {training.classes}: {_name(model)} numbers these before it weighs them. Number them so before "
            f"fit, or pass the weights to fit as sample_weight=. {_INSTEAD}"
        )


def _refuse_unseen_counts(source: str, fit: _Fit, training: Training) -> None:
    if not fit.counts_seen:
        raise ValueError(f"{source} depends on the labels of the training, which cannot be seen. {_INSTEAD}")
    _refuse_unlike_counts(source, fit.y, training.classes, fit.sample_weight)


def _refuse_unlike_counts(source: str, y: NDArray[Any], classes: list[Any], sample_weight: Floats | None) -> None:
    """Refuse weights by which the classes have other shares than by their rows, for estimators count either."""
    if sample_weight is None:
        return
    shares = [class_totals(y, classes, weight) for weight in (None, sample_weight)]
    if not np.allclose(shares[0] / shares[0].sum(), shares[1] / shares[1].sum(), rtol=_CONSTANT):
        raise ValueError(f"whether {source} counts rows or sample_weight cannot be seen. {_INSTEAD}")


def _from_counts(key: str, value: Any, y: NDArray[Any], training: Training, source: str) -> Floats:
    """Compute the class weights that a library derives from the label counts."""
    counts = class_totals(y, training.classes, None)
    if value in ("balanced", "balanced_subsample", "Balanced"):
        return counts.sum() / (len(counts) * counts)
    if value is True and len(counts) == 2:
        return np.array([1.0, counts[0] / counts[1]])
    if key == "auto_class_weights" and value == "SqrtBalanced":
        return np.sqrt(counts.max() / counts)
    raise ValueError(f"{source} is not understood. {_INSTEAD}")


def class_totals(y: NDArray[Any], classes: list[Any], weight: NDArray[Any] | None) -> Floats:
    """Number of rows, or total weight, of each class."""
    share = np.ones(len(y)) if weight is None else weight
    return np.array([share[y == label].sum() for label in classes], dtype=float)


def _read_sample_weight(model: Any, y: NDArray[Any], weight: Floats, training: Training) -> None:
    """Weights that are constant within each class act as class weights; others describe the population."""
    values = [weight[(y == label) & (weight > 0.0)] for label in training.classes]
    if any(len(of_class) == 0 for of_class in values):
        return
    means = np.array([of_class.mean() for of_class in values])
    if all(np.ptp(of_class) <= _CONSTANT * mean for of_class, mean in zip(values, means, strict=True)):
        if np.ptp(means) > _CONSTANT * means.max():
            _refuse_unweighted(model, "sample_weight")
            training.weigh(means, "sample_weight, constant within classes")
    elif means.max() > _SUSPICIOUS * means.min():
        warnings.warn(
            "sample_weight varies within classes, so it is taken to describe the population and not undone; yet its "
            f"mean differs between classes by a factor of {means.max() / means.min():.3g}. If it holds class weights "
            "as well, pass class_weight={label: weight}.",
            UserWarning,
            stacklevel=4,
        )


def _name(model: Any) -> str:
    return type(model).__name__


# A scikit-learn classifier whose probabilities are corrected for how it was trained.


@dataclass(eq=False, repr=False)
class LossCorrectedClassifier(BinaryClassifier):
    """Give the probabilities that a classifier would give without class weights or resampling.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression. It is fitted with its weights and samplers as they are.
    class_weight : "auto", "balanced", mapping of label to weight, array_like of shape (K,), or None, default "auto"
        What to undo. "auto" reads it from the estimator: ``class_weight``, ``scale_pos_weight``, CatBoost's and
        LightGBM's own names, random under- and oversamplers in an imbalanced-learn pipeline, and weights passed to
        ``fit`` that are constant within each class. Anything else is taken as stated, and nothing is read.
    keep : mapping of label to fraction, or array_like of shape (K,), optional
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

    Decisions where a check costs 2, and a positive that is missed 10 or 40:

    >>> import numpy as np
    >>> amount = np.where(X[:, 0] > 0, 10, 40)
    >>> found = corrected.predict(X, false_positive=2, false_negative=amount)
    >>> threshold = np.where(amount == 10, 2 / (2 + 10), 2 / (2 + 40))
    >>> bool((found == (corrected.predict_proba(X)[:, 1] >= threshold)).all())
    True
    """

    estimator: Any = None
    class_weight: Mapping[Any, float] | ArrayLike | str | None = "auto"
    _: KW_ONLY
    keep: Mapping[Any, float] | ArrayLike | None = None
    repeat: Mapping[Any, float] | ArrayLike | None = None
    prior: float | Mapping[Any, float] | ArrayLike | None = None
    prefit: bool = False
    pos_label: object = None

    _multi_class: ClassVar[bool] = True
    _own_rule: ClassVar[bool] = False
    _expected_failed_checks: ClassVar[dict[str, str]] = {
        "check_class_weight_classifiers": "class_weight says what to undo, not how to fit"
    }

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
        labels = read_classes(self, y)
        weight = check_weights(sample_weight, len(labels))
        given = LogisticRegression() if self.estimator is None else self.estimator
        check_gives_probabilities(given)
        prefit = self.prefit or is_frozen(given)
        if not prefit and len(known := np.unique(labels)) < 2:
            raise ValueError(f"y must hold two classes or more, got one class only: {known[0]!r}.")
        if prefit and weight is not None:
            raise ValueError("sample_weight cannot reach an estimator that is fitted already: state class_weight=.")
        if self.prefit:
            check_is_fitted(given)
        self._store_fitted(given if self.prefit else fit_weighted(unfitted(given), X, labels, weight))
        self.classes_ = np.asarray(self.estimator_.classes_)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold two classes or more, got one class only: {self.classes_[0]!r}.")
        self._check_pos_label()
        self._read(labels, weight, prefit=prefit)
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

        Raises
        ------
        ValueError
            If what the estimator gives lies outside [0, 1].
        """
        return shift_rows(super().predict_proba(X), self.factors_)

    def predict(
        self, X: Any, *, false_positive: ArrayLike | None = None, false_negative: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Most probable class by the corrected probabilities, or of two classes the one that is expected to cost less.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Rows.
        false_positive, false_negative : float or array_like of shape (n,), optional
            What acting on a negative, and not acting on a positive, costs in each row, as in
            :func:`stakes.outcomes.decide_rows`.

        Returns
        -------
        ndarray of shape (n,)
            Labels out of ``classes_``.

        Raises
        ------
        ValueError
            For invalid amounts, and amounts of more than two classes.
        """
        check_same_order(X=X, false_positive=false_positive, false_negative=false_negative)
        prob = self.predict_proba(X)
        if false_positive is None and false_negative is None:
            return self.classes_[np.argmax(prob, axis=1)]
        if false_positive is None or false_negative is None:
            raise ValueError("false_positive= and false_negative= belong together, got one of them.")
        classes = self.classes_.tolist()
        if len(classes) != 2:
            raise ValueError(f"false_positive= and false_negative= are for two classes, got {len(classes)}.")
        place = classes.index(find_positive_label(classes, self.pos_label))
        act = decide_rows(prob[:, place], false_positive=false_positive, false_negative=false_negative).act
        return self.classes_[np.where(act, place, 1 - place)]

    def _read(self, labels: NDArray[Any], weight: Floats | None, *, prefit: bool) -> None:
        training = self._training(labels, weight, prefit=prefit)
        self.class_weight_, self.sampling_, self.sources_ = training.weights, training.keep, training.sources
        self.factors_ = 1.0 / (training.weights * training.keep)
        if self.prior is not None:
            constant = weight is not None and any(source.startswith("sample_weight") for source in training.sources)
            counted = weight > 0.0 if constant and weight is not None else weight
            totals = class_totals(labels, training.classes, counted)
            if not np.all(totals > 0.0):
                raise ValueError("prior needs labels of every class in fit.")
            new = self._new_prior(len(totals))
            self.factors_ = self.factors_ * new / (totals / totals.sum())

    def _new_prior(self, n_classes: int) -> Floats:
        """Read the new prior in the order of the classes; a number is the share of the positive class."""
        new = Classes(n_classes, self.classes_).prior(self.prior, "prior")
        if isinstance(self.prior, Mapping) or np.ndim(np.asarray(self.prior)):
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
        classes = Classes(n_classes, self.classes_)
        if isinstance(self.class_weight, str) and self.class_weight == "auto":
            stated = self.keep is not None or self.repeat is not None
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
                _refuse_unlike_counts('class_weight="balanced"', labels, training.classes, weight)
                training.weights = classes.balanced(labels)
            elif self.class_weight is not None:
                training.weights = classes.numbers(self.class_weight, "class_weight")
        if self.keep is not None or self.repeat is not None:
            training.keep = classes.sampling(self.keep, self.repeat)
        return training
