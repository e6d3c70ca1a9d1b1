"""Models at several horizons of the same follow-up: one table, one figure, and concordance over all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.multiclass import models_by_name
from stakes.base.validation import Floats, check_level, check_number, check_same_order, in_percent, to_array, to_floats
from stakes.core.options import evaluation_data
from stakes.inference import Estimate, metric_difference, metric_interval, observed_to_expected
from stakes.outcomes import TimeToEvent
from stakes.outputs.hooks import draw, import_optional
from stakes.outputs.result_table import PaperTable, ResultTable, TableColumn
from stakes.outputs.text import level_name, percent
from stakes.variance.influence import cells_of

_METRICS = {"auc": "roc_auc_score", "brier_loss": "bounded_brier_loss", "ipa": "bounded_brier_skill_score"}
_HEADS = {"auc": "AUC", "brier_loss": "Brier loss", "ipa": "IPA", "o_e_ratio": "O:E", "net_benefit": "Net benefit"}
_ROUNDING = 1e-9
_NEEDS = "concordance needs scikit-survival: pip install scikit-survival"


@dataclass(frozen=True, eq=False, repr=False)
class HorizonEvaluation(PaperTable):
    """AUC, Brier loss, IPA, O:E and net benefit of each model at each horizon, each with its interval.

    Made by :func:`evaluate_horizons`.

    Parameters
    ----------
    outcome : TimeToEvent
        The follow-up.
    horizons : ndarray of shape (k,)
        Ascending times.
    y_prob : dict of str to ndarray of shape (n, k)
        Probability of the event by each horizon, by model.
    estimates : dict of str to tuple of dict of str to Estimate
        By model, one dictionary for each horizon: "auc", "brier_loss", "ipa" (index of prediction accuracy, the share
        of the Brier loss of the event rate that the model saves), "o_e_ratio" and, at a stated threshold,
        "net_benefit". Every interval is of the one number alone.
    threshold : float or None
        Of the net benefit.
    confidence_level : float
        Of each interval.

    Examples
    --------
    >>> from stakes import TimeToEvent
    >>> from stakes.evaluation import evaluate_horizons
    >>> outcome = TimeToEvent(event=[1, 0, 1, 0, 1] * 8, time=[1, 2, 3, 5, 6] * 8, horizon=4)
    >>> risk = [[0.6, 0.9], [0.2, 0.3], [0.3, 0.6], [0.1, 0.2], [0.2, 0.4]] * 8
    >>> evaluate_horizons(outcome, {"model": risk}, horizons=[2, 4]).estimates["model"][0]["o_e_ratio"]
    Estimate(o_e_ratio = 0.7143, 95% interval [0.4469, 1.142])
    """

    outcome: TimeToEvent
    horizons: Floats
    y_prob: dict[str, Floats]
    estimates: dict[str, tuple[dict[str, Estimate], ...]]
    threshold: float | None
    confidence_level: float

    def _heads(self) -> dict[str, str]:
        found = next(iter(self.estimates.values()))[0]
        at = "" if self.threshold is None else f" at {percent(self.threshold)}"
        heads = {name: head + at * (name == "net_benefit") for name, head in _HEADS.items() if name in found}
        return {"model": "Model", "horizon": "Horizon", "events": "Events"} | heads

    def _footnotes(self) -> tuple[str, ...]:
        level = level_name(self.confidence_level)
        rows = (
            f"{np.count_nonzero(self.outcome.present):,} rows. In brackets the {level} interval of each number alone."
        )
        return (rows, "IPA: index of prediction accuracy. O:E: observed over expected events.")

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"model": model, **_followed(self.outcome.at(time)), **_numbers(found)}
            for model, at in self.estimates.items()
            for time, found in zip(self.horizons.tolist(), at, strict=True)
        ]

    def differences(self) -> ResultTable:
        """Say by how much each two models differ at each horizon: AUC, Brier loss and net benefit, first less second.

        Returns
        -------
        ResultTable
            A row for each pair, horizon and measure, with the interval and the p-value of this difference alone.

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> from stakes.evaluation import evaluate_horizons
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0, 1] * 8, time=[1, 2, 3, 5, 6] * 8, horizon=4)
        >>> a, b = [[0.9], [0.3], [0.6], [0.2], [0.4]] * 8, [[0.5], [0.6], [0.2], [0.3], [0.3]] * 8
        >>> found = evaluate_horizons(outcome, {"a": a, "b": b}, horizons=[4]).differences()
        >>> [(row["measure"], round(row["difference"], 3)) for row in found.rows]
        [('auc', 0.571), ('brier_loss', -0.171)]
        """
        asked: dict[str, dict[str, Any]] = {name: {"metric": _METRICS[name]} for name in ("auc", "brier_loss")}
        if self.threshold is not None:
            asked["net_benefit"] = {"metric": "net_benefit_score", "threshold": self.threshold}

        def rows() -> list[dict[str, Any]]:
            return [
                {"models": f"{a} - {b}", "horizon": time, "measure": name, **self._difference(a, b, k, how)}
                for a, b in combinations(self.y_prob, 2)
                for k, time in enumerate(self.horizons.tolist())
                for name, how in asked.items()
            ]

        heads = {"models": "models", "horizon": "horizon", "measure": "measure"}
        columns = (
            *(TableColumn(key, head, "text") for key, head in heads.items()),
            TableColumn("difference", "difference", interval="ci"),
            TableColumn("p_value", "p", "p"),
        )
        return ResultTable("Differences between models by horizon", columns, rows)

    def _difference(self, a: str, b: str, place: int, how: dict[str, Any]) -> dict[str, Any]:
        at, level = self.outcome.at(float(self.horizons[place])), self.confidence_level
        first, second = (self.y_prob[name][:, place] for name in (a, b))
        found = metric_difference(at, first, second, names=(a, b), confidence_level=level, **how)
        ends = {"ci_low": found.interval[0], "ci_high": found.interval[1]}
        return {"difference": found.difference, **ends, "p_value": found.p_value}

    def concordance(self) -> ResultTable:
        """Harrell's and Uno's C of each model's risk by the last horizon.

        Either says how often, of two rows, the one with the event first had the higher risk, whatever the time between
        them. Harrell's depends on who was censored; Uno's weighs that away. Neither says whether the risks are right,
        nor how well they rank at one horizon: the AUC at that horizon does.

        Returns
        -------
        ResultTable
            "harrell_c", and "uno_c" with pairs whose first event came before the last horizon.

        Raises
        ------
        ValueError
            For competing events or weighted rows, which neither index knows.
        ImportError
            If scikit-survival is not installed (``pip install scikit-survival``).

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> from stakes.evaluation import evaluate_horizons
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0, 1] * 8, time=[1, 2, 3, 5, 6] * 8, horizon=4)
        >>> found = evaluate_horizons(outcome, {"a": [[0.9], [0.3], [0.6], [0.2], [0.4]] * 8}, horizons=[4])
        >>> found.concordance().rows[0]["harrell_c"]  # doctest: +SKIP
        1.0
        """
        follow = self.outcome.follow_up
        if np.any(follow.ended > 1):
            raise ValueError("concordance knows one kind of event, and events of other causes were seen.")
        if follow.weight is not None:
            raise ValueError("concordance counts every row once: it does not take sample_weight.")
        survival, last = import_optional("sksurv.metrics", _NEEDS), float(self.horizons[-1])
        ended = follow.ended != 0
        pairs = np.array(list(zip(ended, follow.time, strict=True)), dtype=[("event", bool), ("time", float)])

        def rows() -> list[dict[str, Any]]:
            return [
                {
                    "model": name,
                    "harrell_c": float(survival.concordance_index_censored(ended, follow.time, risk[:, -1])[0]),
                    "uno_c": float(survival.concordance_index_ipcw(pairs, pairs, risk[:, -1], tau=last)[0]),
                }
                for name, risk in self.y_prob.items()
            ]

        columns = (TableColumn("model", "model", "text"), TableColumn("harrell_c", "Harrell's C", "number", 3))
        return ResultTable("Concordance", (*columns, TableColumn("uno_c", "Uno's C", "number", 3)), rows)

    def plot(self, *args: Any, **options: Any) -> Any:
        """Draw every measure over the horizons; see :class:`stakes.display.HorizonDisplay`."""
        return draw(self, *args, **options)

    def __repr__(self) -> str:
        times = ", ".join(f"{time:g}" for time in self.horizons)
        return f"HorizonEvaluation({', '.join(self.y_prob)}; horizons {times})"


def evaluate_horizons(
    outcome: TimeToEvent,
    y_prob: Mapping[str, ArrayLike],
    *,
    horizons: ArrayLike,
    threshold: float | None = None,
    confidence_level: float = 0.95,
) -> HorizonEvaluation:
    """Say how well models predict an event by each of several horizons.

    Parameters
    ----------
    outcome : TimeToEvent
        Rows; its own horizon is not used, unless ``censoring=`` gave probabilities, which hold for that one alone.
    y_prob : mapping of str to array_like of shape (n, k)
        Probability of the event by each of the k horizons, 1 - S(t), by model. Columns stand in the order of
        ``horizons``, also in a frame, whose names of columns are not read.
    horizons : array_like of shape (k,)
        Times > 0, ascending, none beyond the follow-up.
    threshold : float, optional
        Risk in (0, 1) from which one acts, for the net benefit.
    confidence_level : float, default 0.95
        Of each interval, in (0, 1).

    Returns
    -------
    HorizonEvaluation

    Raises
    ------
    ValueError
        For invalid data, a single column for several horizons, or risks whose mean falls from one horizon to the next,
        as the chance of being free of the event does.

    Notes
    -----
    Rows of unknown status are weighted away at each horizon, as everywhere with :class:`stakes.TimeToEvent`, and every
    interval allows for the estimation of censoring. The Brier loss and its index of prediction accuracy (Kattan and
    Gerds 2018, doi:10.1186/s41512-018-0029-2) are those of ``Score`` in R's riskRegression.

    Examples
    --------
    >>> from stakes import TimeToEvent
    >>> from stakes.evaluation import evaluate_horizons
    >>> outcome = TimeToEvent(event=[1, 0, 1, 0, 1] * 8, time=[1, 2, 3, 5, 6] * 8, horizon=4)
    >>> risk = [[0.6, 0.9], [0.2, 0.3], [0.3, 0.6], [0.1, 0.2], [0.2, 0.4]] * 8
    >>> found = evaluate_horizons(outcome, {"model": risk}, horizons=[2, 4], threshold=0.25)
    >>> [(row["horizon"], round(row["brier_loss"], 3), round(row["net_benefit"], 3)) for row in found._records()]
    [(2.0, 0.068, 0.133), (4.0, 0.098, 0.378)]
    """
    check_same_order(outcome=outcome, y_prob=y_prob)
    level = check_level(confidence_level)
    if not isinstance(outcome, TimeToEvent):
        raise ValueError(f"outcome must be a TimeToEvent, got {type(outcome).__name__}.")
    times = to_floats(np.atleast_1d(to_array(horizons, "horizons")), "horizons")
    if times.ndim != 1 or not len(times) or not np.all(np.diff(times) > 0.0):
        raise ValueError(f"horizons must be one or more ascending times, got {horizons!r}.")
    if threshold is not None:
        threshold = check_number(threshold, "threshold")
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"threshold must lie strictly between 0 and 1, got {threshold:g}{in_percent(threshold)}.")
    models = models_by_name(y_prob, "their risks by each horizon")
    risks = {name: _risks(given, times, f"y_prob[{name!r}]", outcome) for name, given in models.items()}
    outcomes = [outcome.at(time) for time in times.tolist()]
    estimates = {
        name: tuple(_estimates(at, risk[:, k], name, threshold, level) for k, at in enumerate(outcomes))
        for name, risk in risks.items()
    }
    return HorizonEvaluation(outcome, times, risks, estimates, threshold, level)


def _risks(given: Any, times: Floats, name: str, outcome: TimeToEvent) -> Floats:
    """Check the risks of one model by each horizon, of the rows that count."""
    risk = to_floats(to_array(given, name), name)
    if risk.ndim != 2 or risk.shape[1] != len(times):
        raise ValueError(
            f"{name} must hold one column for each of the {len(times)} horizons, the risk by that time, got shape "
            f"{risk.shape}."
        )
    use = outcome.present
    if len(risk) != len(use):
        raise ValueError(f"{name} must hold one row for each of the {len(use)} rows of outcome, got {len(risk)}.")
    mean = np.average(risk[use], axis=0, weights=outcome.units[use])
    falls = np.flatnonzero(np.diff(mean) < -_ROUNDING)
    if len(falls):
        k = int(falls[0])
        raise ValueError(
            f"{name} must not fall with the horizon, got a mean of {mean[k]:.3g} by {times[k]:g} and {mean[k + 1]:.3g} "
            f"by {times[k + 1]:g}: pass risks of the event, 1 - S(t), with columns in the order of horizons."
        )
    return risk


def _estimates(at: TimeToEvent, risk: Floats, name: str, threshold: float | None, level: float) -> dict[str, Estimate]:
    data = evaluation_data(at, risk, name=f"y_prob[{name!r}]")
    found = {key: metric_interval(at, risk, metric, confidence_level=level) for key, metric in _METRICS.items()}
    cells = cells_of(data, fixed_prevalence=False)
    found["o_e_ratio"] = observed_to_expected(cells, cells.design(), level)
    if threshold is not None:
        found["net_benefit"] = metric_interval(
            at, risk, "net_benefit_score", threshold=threshold, confidence_level=level
        )
    return found


def _followed(at: TimeToEvent) -> dict[str, Any]:
    events = int(np.count_nonzero(at.y & at.present))
    return {"horizon": at.horizon, "at_risk": at.at_risk, "events": events, "event_rate": at.prevalence}


def _numbers(found: dict[str, Estimate]) -> dict[str, float]:
    return {
        key: value
        for name, each in found.items()
        for key, value in (
            (name, each.value),
            (f"{name}_ci_low", each.interval[0]),
            (f"{name}_ci_high", each.interval[1]),
        )
    }
