"""At which thresholds which models may be the best, for many models and all thresholds at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.random_state import generator
from stakes.core.regret import regret_at
from stakes.core.row_order import check_same_order
from stakes.core.validation import check_flag, check_level, to_array
from stakes.inference._bands import check_thresholds, difference_band
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

CONSTANTS = {"treat all": 1.0, "treat none": 0.0}


@dataclass(frozen=True, eq=False, repr=False)
class BestModels(Tabular):
    """Which models may be the best at each threshold.

    Parameters
    ----------
    models : tuple of str
        Names, then "treat all" and "treat none" where they compete.
    thresholds : ndarray of shape (m,)
        Ascending cost ratios.
    regret : ndarray of shape (m, k)
        Of each model on these rows.
    possible : ndarray of bool of shape (m, k)
        Whether no other model is shown to be better: at all thresholds at once, the truly best model is among the
        possible ones with the stated confidence.
    confidence_level : float
        Of all these sets at once.

    Examples
    --------
    >>> from stakes.inference import best_models
    >>> y_true = [0, 1, 0, 1] * 30
    >>> found = best_models(
    ...     y_true, {"a": [0.1, 0.8, 0.3, 0.6] * 30, "b": [0.4, 0.6, 0.5, 0.4] * 30}, thresholds=[0.05, 0.45]
    ... )
    >>> found.sets()
    [('a', 'b'), ('a',)]
    """

    models: tuple[str, ...]
    thresholds: Floats
    regret: Floats
    possible: Bools
    confidence_level: float

    def sets(self) -> list[tuple[str, ...]]:
        """Return the models that may be the best at each threshold.

        Returns
        -------
        list of tuple of str

        Examples
        --------
        >>> from stakes.inference import best_models
        >>> best_models([0, 1] * 30, {"a": [0.1, 0.8] * 30}, thresholds=[0.5]).sets()
        [('a',)]
        """
        return [tuple(np.array(self.models, dtype=object)[row]) for row in self.possible]

    def surely(self, model: str) -> Floats:
        """Return the thresholds at which one model alone may be the best.

        Parameters
        ----------
        model : str
            Its name.

        Returns
        -------
        ndarray

        Raises
        ------
        ValueError
            For an unknown name.

        Examples
        --------
        >>> from stakes.inference import best_models
        >>> best_models([0, 1] * 30, {"a": [0.1, 0.8] * 30}, thresholds=[0.5]).surely("a").tolist()
        [0.5]
        """
        if model not in self.models:
            raise ValueError(f"model must be one of {', '.join(map(repr, self.models))}, got {model!r}.")
        alone = self.possible[:, self.models.index(model)] & (self.possible.sum(axis=1) == 1)
        return self.thresholds[alone]

    def _records(self) -> list[dict[str, Any]]:
        lowest = self.regret.argmin(axis=1)
        return [
            {"threshold": threshold, "lowest": self.models[best], "may_be_best": ", ".join(names)}
            for threshold, best, names in zip(self.thresholds.tolist(), lowest.tolist(), self.sets(), strict=True)
        ]

    def __repr__(self) -> str:
        settled = int((self.possible.sum(axis=1) == 1).sum())
        return f"BestModels({len(self.models)} models, settled at {settled} of {len(self.thresholds)} thresholds)"


def best_models(
    y_true: ArrayLike,
    y_probs: Mapping[str, ArrayLike],
    *,
    thresholds: ArrayLike | None = None,
    references: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> BestModels:
    """At each threshold, say which of several models may be the one with the lowest regret.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values.
    y_probs : mapping of str to array_like of shape (n,) or (n, 2)
        Probabilities of the positive class, by model.
    thresholds : array_like of shape (m,), optional
        Cost ratios, ascending in [0, 1], at most 2,000. By default 1%, 2%, ..., 99%.
    references : bool, default False
        Whether "treat all" and "treat none" compete too.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    confidence_level : float, default 0.95
        With which the best model is kept at all thresholds at once, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For the draws behind the bands.

    Returns
    -------
    BestModels

    Raises
    ------
    ValueError
        For invalid data or settings, or no model.

    Notes
    -----
    Every pair of models is compared by its simultaneous difference band, the error probability shared out equally among
    the pairs (Bonferroni). A model is left out where the band of some other model against it lies wholly below zero.

    Examples
    --------
    >>> from stakes.inference import best_models
    >>> y_true, a = [0, 1, 0, 1] * 30, [0.1, 0.8, 0.3, 0.6] * 30
    >>> best_models(y_true, {"a": a}, thresholds=[0.05, 0.5], references=True)
    BestModels(3 models, settled at 1 of 2 thresholds)
    """
    check_same_order(y_true=y_true, y_probs=y_probs, sample_weight=sample_weight)
    level = check_level(confidence_level)
    points = check_thresholds(thresholds, "regret")
    options: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    refuse_weighing(y_true, "best_models")
    scores = _scores(y_true, y_probs, logits=logits, **options)
    labels = to_array(y_true, "y_true")
    if sample_weight is not None:
        present = to_array(sample_weight, "sample_weight") > 0.0
        labels, options["sample_weight"] = labels[present], to_array(sample_weight, "sample_weight")[present]
    if check_flag(references, "references"):
        scores |= {name: np.full(len(labels), value) for name, value in CONSTANTS.items()}
    columns = list(scores.values())
    possible = _undefeated(labels, columns, points, level, options | {"random_state": generator(random_state)})
    regret = np.stack([_regret(labels, score, points, options) for score in columns], axis=1)
    return BestModels(tuple(scores), points, regret, possible, level)


def _scores(y_true: Any, y_probs: Any, **options: Any) -> dict[str, Floats]:
    """Clean scores of each model, or raise."""
    if not (hasattr(y_probs, "items") and len(y_probs)):
        raise ValueError(f"y_probs must map the names of models to probabilities, got {y_probs!r}.")
    taken = [name for name in y_probs if name in CONSTANTS]
    if taken:
        raise ValueError(f"a model cannot be called {taken[0]!r}: that names a reference.")
    return {
        str(name): evaluation_data(y_true, prob, name=f"y_probs[{name!r}]", **options).rows.score
        for name, prob in y_probs.items()
    }


def _undefeated(labels: Any, columns: list[Floats], points: Floats, level: float, options: dict[str, Any]) -> Bools:
    """At each threshold, the models that no band of a pair shows to be worse than another."""
    pairs = list(combinations(range(len(columns)), 2))
    shared = 1.0 - (1.0 - level) / max(len(pairs), 1)
    possible = np.ones((len(points), len(columns)), dtype=bool)
    for i, j in pairs:
        band = difference_band(
            labels, columns[i], columns[j], "regret", thresholds=points, confidence_level=shared, **options
        )
        possible[:, j] &= ~(band.simultaneous_high < 0.0)
        possible[:, i] &= ~(band.simultaneous_low > 0.0)
    return possible


def _regret(labels: Any, score: Floats, points: Floats, options: dict[str, Any]) -> Floats:
    return regret_at(evaluation_data(labels, score, **options).table, points, "score")
