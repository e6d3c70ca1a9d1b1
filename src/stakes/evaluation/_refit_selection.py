"""Which estimator is best, said so that having picked it by its cross-validated cost does not make it false."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.validation import check_flag, check_level
from stakes.evaluation._refit import Refit
from stakes.inference import Contest, check_contest, select
from stakes.shown.sentences import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stakes.inference import CostRows, Selection


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
    level = check_level(confidence_level)
    names = _checked(estimators)
    n_tried = check_contest(names, incumbent, n_tried)
    refits = list(estimators.values())
    rows = _together(refits, references=check_flag(references, "references"))
    costs = rows.means
    costs[: len(refits)] = [refit.cost for refit in refits]  # of all repeats; the rows are those of one
    everyone = (*names, *REFERENCES[: len(costs) - len(names)])
    contest = Contest(
        everyone, len(names), costs, rows.covariance(), len(rows.y), rows.spread, float(rows.largest.max())
    )
    return select(
        contest,
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
    return tuple(map(str, estimators))


def _together(refits: list[Refit], *, references: bool) -> CostRows:
    """Rows of all estimators, then of treating all and no one."""
    own = refits[0].rows
    always, never = own.largest[:, 0]
    ends = np.stack([np.where(own.y, 0.0, always), np.where(own.y, never, 0.0)], axis=1)
    most = np.array([[always, 0.0], [0.0, never]])
    kept = slice(2 if references else 0)
    columns = [*(refit.rows.costs for refit in refits), ends[:, kept]]
    largest = [*(refit.rows.largest for refit in refits), most[:, kept]]
    unsteady = max(refit.rows.unsteady for refit in refits)
    return replace(
        own, costs=np.concatenate(columns, axis=1), largest=np.concatenate(largest, axis=1), unsteady=unsteady
    )
