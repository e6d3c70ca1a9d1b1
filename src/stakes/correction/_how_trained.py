"""What a fitted classifier lets us know of the weights and the sampling that it was trained with.

What cannot be known is refused with what to pass instead: a wrong correction is worse than none.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.correction._inputs import per_class

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_LIBRARIES = {"sklearn", "xgboost", "lightgbm", "catboost"}
_WEIGHT_NAMES = ("class_weight", "class_weights", "auto_class_weights", "scale_pos_weight", "is_unbalance", "unbalance")
_RANDOM_SAMPLERS = {"RandomUnderSampler", "RandomOverSampler"}
_PRIOR_NAMES = ("priors", "class_prior")
_CONSTANT = 1e-9
_SUSPICIOUS = 2.0
_INSTEAD = (
    "Pass class_weight={label: weight} (None if it was trained without weights) and, for resampled rows, "
    "sampling={label: fraction kept} or repeat={label: times}."
)


@dataclass
class Training:
    """Weights and kept fractions of the classes, in the order of ``classes``, and where they were read."""

    classes: list[Any]
    weights: Floats
    keep: Floats
    sources: list[str] = field(default_factory=list)

    def weigh(self, weights: Floats, source: str) -> None:
        """Multiply in what one source says."""
        self.weights = self.weights * weights
        if not np.all(weights == weights[0]):
            self.sources.append(source)


@dataclass
class _Fit:
    """One fit as its caller describes it; ``y`` are the labels that the classifier itself has seen."""

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
    """Read what a fitted model tells; ``y`` holds the labels that it was fitted to."""
    training = Training(classes.tolist(), np.ones(len(classes)), np.ones(len(classes)))
    fit = _Fit(y, sample_weight, prefit, sampling_stated, counts_seen=not prefit)
    final = _follow(model, fit, training)
    params = final.get_params(deep=False) if hasattr(final, "get_params") else {}
    _refuse_unknown(final, params, sampling_stated=sampling_stated)
    _read_params(final, params, fit, training)
    if sample_weight is not None:
        _read_sample_weight(y, sample_weight, training)
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


def is_frozen(model: Any) -> bool:
    """Whether this is scikit-learn's FrozenEstimator, which came with version 1.6."""
    return type(model).__name__ == "FrozenEstimator" and hasattr(model, "estimator")


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
    for key in _PRIOR_NAMES:
        if params.get(key) is not None:
            raise ValueError(f"{name} was given {key}, which is no class weight. {_INSTEAD}")
    if "probability" in params and params.get("class_weight") is not None:
        raise ValueError(f"{name} fits its probabilities afresh, without the class weights. {_INSTEAD}")
    deep = model.get_params(deep=True) if hasattr(model, "get_params") else {}
    inner = [key for key, value in deep.items() if "__" in key and _is_weighting(key.rpartition("__")[2], value)]
    if inner:
        raise ValueError(f"what {name} makes of {inner[0]}={deep[inner[0]]!r} cannot be seen. {_INSTEAD}")


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
        if isinstance(value, str) or value is True:
            _refuse_unseen_counts(source, fit, training)
            weights = _from_counts(key, value, fit.y, training, source)
        elif key == "scale_pos_weight":
            if n_classes != 2:
                raise ValueError(f"{source} is for two classes, got {n_classes}.")
            weights = per_class([1.0, value], 2, None, key)
        else:
            labels = training.classes if isinstance(value, Mapping) else None
            weights = per_class(value, n_classes, labels, f"the class weight of {name}")
        training.weigh(weights, source)


def _refuse_unseen_counts(source: str, fit: _Fit, training: Training) -> None:
    if not fit.counts_seen:
        raise ValueError(f"{source} depends on the labels of the training, which cannot be seen. {_INSTEAD}")
    if fit.sample_weight is None:
        return
    shares = [class_totals(fit.y, training.classes, weight) for weight in (None, fit.sample_weight)]
    if not np.allclose(shares[0] / shares[0].sum(), shares[1] / shares[1].sum(), rtol=_CONSTANT):
        raise ValueError(f"whether {source} counts rows or sample_weight cannot be seen. {_INSTEAD}")


def _from_counts(key: str, value: Any, y: NDArray[Any], training: Training, source: str) -> Floats:
    """Weights that a library makes from the counts of the labels."""
    counts = class_totals(y, training.classes, None)
    if value in ("balanced", "balanced_subsample", "Balanced"):
        return counts.sum() / (len(counts) * counts)
    if value is True and len(counts) == 2:
        return np.array([1.0, counts[0] / counts[1]])
    if key == "auto_class_weights" and value == "SqrtBalanced":
        return np.sqrt(counts.max() / counts)
    raise ValueError(f"{source} is not understood. {_INSTEAD}")


def class_totals(y: NDArray[Any], classes: list[Any], weight: Floats | None) -> Floats:
    """Number of rows, or total weight, of each class."""
    share = np.ones(len(y)) if weight is None else weight
    return np.array([share[y == label].sum() for label in classes], dtype=float)


def _read_sample_weight(y: NDArray[Any], weight: Floats, training: Training) -> None:
    """Weights that are constant within each class act as class weights; others describe the population."""
    values = [weight[(y == label) & (weight > 0.0)] for label in training.classes]
    if any(len(of_class) == 0 for of_class in values):
        return
    means = np.array([of_class.mean() for of_class in values])
    if all(np.ptp(of_class) <= _CONSTANT * mean for of_class, mean in zip(values, means, strict=True)):
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
