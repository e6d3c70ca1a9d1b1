"""Scores as a model gives them in training become probabilities: weights and sampling undone, logits transformed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import check_flag, check_scores, pick_positive_column, to_array
from stakes.correction import undo_class_weight, undo_sampling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_OF_WEIGHTS = ("positive_share", "class_weight", "scale_pos_weight", "pos_weight")
_OF_SAMPLING = ("keep", "repeat")
_BESIDE = ("y_train", "labels")


class TrainingScores:
    """What was done to the classes in training, and what kind of scores the model gives.

    Parameters
    ----------
    correct : mapping or None
        Settings of :func:`undo_class_weight` and :func:`undo_sampling`.
    logits : bool
        Whether scores are log-odds of the positive class (n,) or logits of all classes (n, K).
    labels : list or None
        Labels in the order of the columns, where ``correct`` does not name them.
    """

    def __init__(self, correct: Any = None, *, logits: bool = False, labels: Any = None) -> None:
        check_flag(logits, "logits")
        self.correct, self.logits, self.labels = _check_correct(correct), logits, labels

    @property
    def as_given(self) -> bool:
        """Whether scores are probabilities already."""
        return self.correct is None and not self.logits

    def of_classes(self, y_prob: Any) -> Floats:
        """Probabilities of all classes, or of the positive one of two, in the population."""
        scores = self._undone(_column(y_prob), logits=self.logits)
        return _probabilities(scores) if self.logits else scores

    def of_positive(self, y_prob: Any, y_true: Any, *, pos_label: object, probability: bool) -> Floats:
        """Probability of the positive class in the population; log-odds stay what they are where scores only rank."""
        scores, logits = _column(y_prob), self.logits
        if scores.ndim == 2:  # its columns follow the labels, so the positive one is found before anything is undone
            rows = _probabilities(self._checked(scores)) if logits else scores
            scores, logits = pick_positive_column(rows, to_array(y_true, "y_true"), pos_label), False
        scores = self._undone(scores, logits=logits)
        return _probabilities(scores) if logits and probability else scores

    def settings(self) -> dict[str, Any]:
        """What differs from plain probabilities, to tell whether two monitors measure the same."""
        given: dict[str, Any] = {}
        if self.correct is not None:
            given["correct"] = {name: np.asarray(v).tolist() if np.ndim(v) else v for name, v in self.correct.items()}
        return given | ({"logits": True} if self.logits else {})

    def _undone(self, scores: NDArray[Any], *, logits: bool) -> Floats:
        if self.correct is None:
            return self._checked(scores)
        given = {"labels": self.labels} | self.correct
        sampling = {name: given.pop(name, None) for name in _OF_SAMPLING}
        if any(name in given for name in _OF_WEIGHTS):
            scores = undo_class_weight(scores, **given, logits=logits)
        if sampling == dict.fromkeys(_OF_SAMPLING):
            return scores
        return undo_sampling(scores, **sampling, labels=given["labels"], logits=logits)

    def _checked(self, scores: NDArray[Any]) -> Floats:
        return check_scores(scores.ravel(), probability=not self.logits).reshape(scores.shape)


def _column(y_prob: Any) -> NDArray[Any]:
    """Scores as an array; a single column as a vector."""
    scores = to_array(y_prob, "y_prob")
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores


def _probabilities(logits: Floats) -> Floats:
    from scipy.special import expit, softmax

    return np.asarray(expit(logits) if logits.ndim == 1 else softmax(logits, axis=1))


def _check_correct(correct: Any) -> dict[str, Any] | None:
    """Refuse what neither function takes, and a mapping that corrects nothing."""
    if correct is None:
        return None
    known = (*_OF_WEIGHTS, *_OF_SAMPLING, *_BESIDE)
    if isinstance(correct, str) and correct == "auto":
        raise ValueError(
            'correct="auto" needs a booster that says its own class weight, which only lightgbm_metric can ask: '
            'state it, such as correct={"scale_pos_weight": 58}.'
        )
    if not isinstance(correct, Mapping):
        raise ValueError(
            'correct must be a mapping of what undo_class_weight and undo_sampling take, such as {"scale_pos_weight": '
            f'58}} or {{"keep": {{0: 0.1, 1: 1}}}}, got {correct!r}.'
        )
    unknown = [name for name in correct if name not in known]
    if unknown:
        raise ValueError(f"correct must hold some of {', '.join(known)}, got {unknown[0]!r}.")
    if all(correct.get(name) is None for name in (*_OF_WEIGHTS, *_OF_SAMPLING)):
        raise ValueError(f"correct must hold one of {', '.join((*_OF_WEIGHTS, *_OF_SAMPLING))}, got {dict(correct)!r}.")
    return {name: value for name, value in correct.items() if value is not None}
