"""How sure a whole curve is: pointwise intervals and simultaneous bands, for one model and for the difference of two.

At given thresholds a curve is linear in the shares of rows of each class above them, so its covariance has a closed
form; the bounds allow for few rows, and none, beyond a threshold. See docs/uncertainty.md for the coverage.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import as_known, evaluation_data, refuse_amounts, refuse_weighing
from stakes.core.random_state import generator
from stakes.core.regret import check_harm
from stakes.core.row_order import check_same_order
from stakes.core.score_table import ScoreTable
from stakes.core.validation import (
    check_choice,
    check_level,
    check_names,
    check_number,
    check_whole,
    to_array,
    to_floats,
)
from stakes.inference._band_counts import counts_of, pair_counts_of, reached
from stakes.inference._band_dependent import dependent_pieces
from stakes.inference._band_limits import critical_value
from stakes.inference._band_pieces import curve_pieces, difference_pieces
from stakes.inference._band_reliability import reliability_band
from stakes.inference._band_result import Band, band_of, shifted
from stakes.inference._comparison import check_paired
from stakes.inference._dependence import dependence_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from stakes.core.outcome import Origin
    from stakes.inference._band_counts import Totals

    Floats = NDArray[np.float64]
    Singles = NDArray[np.float32]

DIFFERENCE_KINDS = ("regret", "net_benefit", "interventions_avoided")
BAND_KINDS = (*DIFFERENCE_KINDS, "reliability")
_MOST_THRESHOLDS = 1000
_LEAST_DRAWS = 1000


def confidence_band(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    kind: str | None = None,
    *,
    thresholds: ArrayLike | None = None,
    per: float = 100.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    harm: float = 0.0,
    name: str = "model",
    confidence_level: float = 0.95,
    n_draws: int = 10_000,
    random_state: int | np.random.Generator | None = 0,
) -> Band:
    """Say how sure a curve is, at each threshold and at all of them at once.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    kind : {"regret", "net_benefit", "interventions_avoided", "reliability"}
        Which curve.
    thresholds : array_like of shape (m,), optional
        Where to read the curve, ascending, at most 1,000: in [0, 1] for regret, [0, 1) for net benefit, (0, 1) for
        interventions avoided, between the smallest and the largest score for reliability. By default 1%, 2%, ..., 99%,
        or 101 scores from the smallest to the largest.
    per : float, default 100
        Number of cases that avoided interventions are counted in.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Patients or whatever only differs independently: bounds then rest on the clusters.
    harm : float, default 0
        What obtaining the score costs each case, in true positives, as in :func:`net_benefit_curve`; not of
        reliability.
    name : str, default "model"
        What to call the model.
    confidence_level : float, default 0.95
        Of the intervals and of the band, in (0, 1).
    n_draws : int, default 10,000
        Draws of the Gaussian process whose largest error gives the critical value; reliability needs none.
    random_state : int, numpy Generator or None, default 0
        For these draws.

    Returns
    -------
    Band

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    The curve is a sum of two shares of rows, such as false positives and misses, times coefficients. Each share has
    mid-p binomial limits (Lancaster 1961), which stay honest where few rows or none lie beyond a threshold; the limits
    of the sum come from the method of variance estimates recovery (Zou and Donner 2008, doi:10.1002/sim.3095). The band
    does the same with the quantile of the largest studentised error, drawn from a Gaussian process that has the curve's
    covariance in closed form plus that of one unseen row in every stretch of thresholds (this mends small samples and
    vanishes with more rows). Both are approximate; docs/uncertainty.md has their coverage by simulation. The band is
    about the thresholds asked for, not those in between. Rows are taken as independent and thresholds as chosen without
    looking at the labels. In a table with binned scores each cell counts as its mean score.

    Reliability: at a score x, bounds of the event rates of groups of rows with scores up to x are lower bounds of the
    true rate at x, and of groups from x on upper bounds, *if the true event rate never falls as the score rises*. The
    bounds are Clopper-Pearson limits shared out among the groups (Bonferroni), as in Dimitriadis et al. (2023),
    doi:10.1093/biomet/asac068, here over groups of blocks of rows; so the band covers at least as often as stated,
    without large samples, and more often than stated. With unequal weights, effective numbers of rows make this
    approximate. The intervals at single scores are so too where scores are tied; elsewhere they are Jeffreys' of a
    local line over the log-odds, within the band, as in :func:`smooth_calibration_curve`.

    Examples
    --------
    >>> from stakes.inference import confidence_band
    >>> y, p = [0, 0, 1, 0, 1, 1] * 20, [0.1, 0.2, 0.3, 0.5, 0.7, 0.9] * 20
    >>> band = confidence_band(y, p, "net_benefit", thresholds=[0.1, 0.2, 0.4])
    >>> band.estimate.round(3).tolist()
    [0.444, 0.417, 0.222]
    >>> band.simultaneous_low.round(2).tolist(), band.simultaneous_high.round(2).tolist()
    ([0.33, 0.3, 0.1], [0.55, 0.53, 0.34])
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    kind, y_true, said = _with_known_weights(check_choice(kind, "kind", BAND_KINDS), y_true)
    level, draws = _check_level(confidence_level), _check_draws(n_draws)
    asked: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    data, fixed = evaluation_data(y_true, y_prob, **asked, logits=logits, amounts=True), prevalence is not None
    harm = _check_harm(harm, kind)
    if kind == "reliability":
        _check_plain(y_true, clusters)
        return reliability_band(data.table, check_scores_asked(thresholds, data.table), name, level)
    points = check_thresholds(thresholds, kind)
    counts = counts_of(data, points, fixed_prevalence=fixed)
    pieces = curve_pieces(kind, counts, points, _check_per(per))
    if data.sample is not None:
        codes, _ = dependence_of(data.sample, clusters, None, sample_weight)
        bins = [reached(data.sample.score, points)]
        pieces = dependent_pieces(pieces, kind, data.sample, bins, fixed_prevalence=fixed, codes=codes)
    elif clusters is not None:
        raise ValueError("clusters= need the rows: pass y_true and y_prob instead of a ScoreTable.")
    totals = _rows_of(counts.totals, None if data.sample is None else data.sample.origin)
    critical = critical_value(pieces, level, _normals(draws, random_state))
    told = {"name": name, "per": _unit(kind, per), "about": data.about + said}
    return _harmed(band_of(pieces, totals, critical, kind=kind, thresholds=points, level=level, **told), harm)


def _with_known_weights(kind: str, y_true: Any) -> tuple[str, Any, str]:
    """The same, and what to say where the rows are gone from which the weights of a table were estimated."""
    if not isinstance(y_true, ScoreTable) or kind == "reliability":
        return kind, y_true, ""
    table, said = as_known(y_true)
    return kind, table, f", {said}" if said else ""


def _check_plain(y_true: Any, clusters: Any) -> None:
    """Refuse what a band of a reliability curve cannot allow for."""
    if clusters is not None:
        raise ValueError("clusters must be None for reliability: its band takes the rows as independent.")
    refuse_amounts(y_true)
    refuse_weighing(y_true, "the band of a reliability curve")


def difference_band(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    kind: str,
    *,
    thresholds: ArrayLike | None = None,
    per: float = 100.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    harm: tuple[float, float] = (0.0, 0.0),
    names: tuple[str, str] = ("a", "b"),
    confidence_level: float = 0.95,
    n_draws: int = 10_000,
    random_state: int | np.random.Generator | None = 0,
) -> Band:
    """Say how sure the difference between the curves of two models on the same rows is.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values.
    a, b : array_like of shape (n,) or (n, 2)
        Probabilities of the positive class from the two models.
    kind : {"regret", "net_benefit", "interventions_avoided"}
        Which curve. Regret is better where it is lower, the others where they are higher.
    thresholds : array_like of shape (m,), optional
        Where to read the curves, ascending, at most 1,000. By default 1%, 2%, ..., 99%.
    per : float, default 100
        Number of cases that avoided interventions are counted in.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Patients or whatever only differs independently: bounds then rest on the clusters.
    harm : tuple of float, default (0, 0)
        What obtaining the score of each model costs each case, as in :func:`confidence_band`.
    names : tuple of str, default ("a", "b")
        What to call the models.
    confidence_level : float, default 0.95
        Of the intervals and of the band, in (0, 1).
    n_draws : int, default 10,000
        Draws of the Gaussian process whose largest error gives the critical value.
    random_state : int, numpy Generator or None, default 0
        For these draws.

    Returns
    -------
    Band
        Of a less b.

    Raises
    ------
    ValueError
        For invalid data or settings, and for score tables, which do not say which scores belong together.

    Notes
    -----
    As in :func:`confidence_band`, from the shares of rows of each class that only one of the models acts on. Where no
    row tells the models apart, the bounds are those of an event not seen in n rows, not zero.

    Examples
    --------
    >>> from stakes.inference import difference_band
    >>> y, a, b = [0, 1, 0, 1] * 30, [0.1, 0.8, 0.3, 0.6] * 30, [0.4, 0.6, 0.5, 0.4] * 30
    >>> difference_band(y, a, b, "regret", thresholds=[0.2, 0.35])
    Band(regret of a - b at 2 thresholds in [0.2, 0.35], 95%, below zero at 2, above at 0, 120 rows with 60 positives)
    """
    check_paired(y_true, a, b, sample_weight=sample_weight, clusters=clusters)
    check_choice(kind, "kind", DIFFERENCE_KINDS)
    less = _check_harms(harm, kind)
    level, draws = _check_level(confidence_level), _check_draws(n_draws)
    points = check_thresholds(thresholds, kind)
    asked: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    first, second = (
        evaluation_data(y_true, scores, **asked, logits=logits, amounts=True, name=argument).rows
        for argument, scores in (("a", a), ("b", b))
    )
    counts = pair_counts_of(first, second.score, points, fixed_prevalence=prevalence is not None)
    pieces = difference_pieces(kind, counts, points, _check_per(per))
    bins = [reached(sample.score, points) for sample in (first, second)]
    codes, _ = dependence_of(first, clusters, None, sample_weight)
    pieces = dependent_pieces(pieces, kind, first, bins, fixed_prevalence=prevalence is not None, codes=codes)
    totals, name = _rows_of(counts.totals, first.origin), " - ".join(check_names(names))
    critical = critical_value(pieces, level, _normals(draws, random_state))
    told = {"name": name, "per": _unit(kind, per), "is_difference": True, "about": first.about}
    found = band_of(pieces, totals, critical, kind=kind, thresholds=points, level=level, **told)
    return _harmed(found, less)


def _harmed(band: Band, harm: float) -> Band:
    """The band of a curve less the known cost of obtaining the score."""
    if harm == 0.0:
        return band
    t, per = band.thresholds, band.per
    if band.kind == "regret":
        return shifted(band, harm * (1.0 - t))
    return shifted(band, -harm if per is None else -per * harm * (1.0 - t) / t)


def _check_harm(harm: Any, kind: str) -> float:
    number = check_harm(harm)
    if number and kind == "reliability":
        raise ValueError(f"harm must be 0 for {kind}, got {harm}: what obtaining a score costs is no matter of rates.")
    return number


def _check_harms(harm: Any, kind: str) -> float:
    if not isinstance(harm, tuple | list) or len(harm) != 2:
        raise ValueError(f"harm must be a pair, those of both models, got {harm!r}.")
    first, second = (_check_harm(value, kind) for value in harm)
    return first - second


def _rows_of(totals: Totals, origin: Origin | None) -> Totals:
    """Totals whose rows are all that count, those of unknown class too."""
    return totals if origin is None else totals._replace(n_rows=origin.n_rows)


def _normals(draws: int, random_state: int | np.random.Generator | None) -> Callable[[int], Singles]:
    rng = generator(random_state)
    return lambda size: rng.standard_normal((draws, size), dtype=np.float32)


def check_thresholds(thresholds: Any, kind: str) -> Floats:
    """Return ascending thresholds within the domain of the curve, or raise."""
    if thresholds is None:
        return np.arange(1, 100) / 100.0
    points = _check_ascending(thresholds)
    good = (points >= 0.0) & (points <= 1.0)
    span = "[0, 1]"
    if kind == "net_benefit":
        good, span = (points >= 0.0) & (points < 1.0), "[0, 1)"
    if kind == "interventions_avoided":
        good, span = (points > 0.0) & (points < 1.0), "(0, 1)"
    if not good.all():
        first = int(np.argmin(good))
        raise ValueError(f"thresholds of {kind} must lie in {span}, got {points[first]} at index {first}.")
    return points


def check_scores_asked(thresholds: Any, table: ScoreTable) -> Floats:
    """Return ascending scores within those of a table, or raise."""
    low, high = float(table.scores[0]), float(table.scores[-1])
    if thresholds is None:
        return np.unique(np.clip(np.linspace(low, high, 101), low, high))
    points = _check_ascending(thresholds)
    good = (points >= low) & (points <= high)
    if not good.all():
        first = int(np.argmin(good))
        raise ValueError(
            f"thresholds of reliability must lie between the smallest and the largest score, [{low:g}, {high:g}], "
            f"got {points[first]} at index {first}."
        )
    return points


def _check_ascending(thresholds: Any) -> Floats:
    points = to_floats(to_array(thresholds, "thresholds"), "thresholds")
    if points.ndim != 1 or not 1 <= len(points) <= _MOST_THRESHOLDS:
        raise ValueError(f"thresholds must be 1 to {_MOST_THRESHOLDS} numbers, got shape {points.shape}.")
    if not np.all(np.isfinite(points)):
        first = int(np.argmin(np.isfinite(points)))
        raise ValueError(f"thresholds must be finite, got {points[first]} at index {first}.")
    if np.any(np.diff(points) <= 0.0):
        first = int(np.argmax(np.diff(points) <= 0.0)) + 1
        raise ValueError(
            f"thresholds must be strictly ascending, got {points[first]} at index {first} after {points[first - 1]}."
        )
    return points + 0.0


def _check_level(confidence_level: float) -> float:
    return check_level(confidence_level)


def _check_draws(n_draws: int) -> int:
    return check_whole(n_draws, "n_draws", _LEAST_DRAWS)


def _unit(kind: str, per: float) -> float | None:
    return float(per) if kind == "interventions_avoided" else None


def _check_per(per: float) -> float:
    if not 0.0 < check_number(per, "per") < math.inf:
        raise ValueError(f"per must be a finite number > 0, got {per}.")
    return float(per)
